//! The credentials of the calling thread: its control group, user and group.

use std::fs;
use std::io;

use blocklab_workload::Job;

use crate::Error;

/// Gives the calling thread the credentials of its job. The C library would change all threads of
/// the process, so the system calls are made directly.
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
        set_id(libc::SYS_setgid, group)
            .map_err(|cause| failed(format!("run as group {group}"), cause))?;
    }
    if let Some(user) = credentials.user {
        set_id(libc::SYS_setuid, user)
            .map_err(|cause| failed(format!("run as user {user}"), cause))?;
    }
    Ok(())
}

fn join(folder: &str) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let thread = unsafe { libc::gettid() };
    fs::write(format!("{folder}/tasks"), thread.to_string())
}

fn set_id(call: libc::c_long, id: u32) -> io::Result<()> {
    // SAFETY: only a number is passed; the credentials of the calling thread change, of no other.
    match unsafe { libc::syscall(call, id) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
