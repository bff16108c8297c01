//! Who the calling thread is to the kernel: its control group, user and group.

use std::fs;
use std::io;

use blocklab_workload::Job;

use crate::Error;

/// Makes the calling thread what its job asks for. The C library would change all threads of the
/// process: the kernel knows credentials of single ones.
pub(super) fn take(job: &Job) -> Result<(), Error> {
    let credentials = &job.credentials;
    let failed = |deed: String, cause: io::Error| Error::Credentials {
        job: job.name.clone(),
        hint: match cause.kind() {
            io::ErrorKind::PermissionDenied => "; root may",
            _ => "",
        },
        deed,
        cause,
    };
    if let Some(folder) = &credentials.control_group {
        join(folder).map_err(|cause| failed(format!("join the control group {folder}"), cause))?;
    }
    if let Some(group) = credentials.group {
        become_one(libc::SYS_setgid, group)
            .map_err(|cause| failed(format!("run as group {group}"), cause))?;
    }
    if let Some(user) = credentials.user {
        become_one(libc::SYS_setuid, user)
            .map_err(|cause| failed(format!("run as user {user}"), cause))?;
    }
    Ok(())
}

fn join(folder: &str) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let thread = unsafe { libc::gettid() };
    fs::write(format!("{folder}/tasks"), thread.to_string())
}

fn become_one(call: libc::c_long, id: u32) -> io::Result<()> {
    // SAFETY: only a number is passed; the credentials of the calling thread change, of no other.
    match unsafe { libc::syscall(call, id) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
