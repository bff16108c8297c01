//! In: the credentials of a job. Out: the calling thread with that control group, user and group.

use std::fs;
use std::io;

use blocklab_workload::Job;
use rustix::fs::{Gid, Uid};
use rustix::thread::{gettid, set_thread_gid, set_thread_uid};

use crate::Error;

/// Gives the calling thread the credentials of its job. The C library would change all threads of
/// the process, so the system calls are made directly.
pub(super) fn take(job: &Job) -> Result<(), Error> {
    let credentials = &job.credentials;
    if let Some(folder) = &credentials.control_group {
        join(folder)
            .map_err(|cause| refused(job, format!("join the control group {folder}"), cause))?;
    }
    if let Some(group) = credentials.group {
        set_thread_gid(Gid::from_raw(group))
            .map_err(|cause| refused(job, format!("run as group {group}"), cause.into()))?;
    }
    if let Some(user) = credentials.user {
        set_thread_uid(Uid::from_raw(user))
            .map_err(|cause| refused(job, format!("run as user {user}"), cause.into()))?;
    }
    Ok(())
}

/// The error of a job whose threads cannot do a `deed`, such as `run as user 7`.
fn refused(job: &Job, deed: String, cause: io::Error) -> Error {
    Error::Credentials {
        job: job.name.clone(),
        hint: match cause.kind() {
            io::ErrorKind::PermissionDenied => "; root may",
            _ => "",
        },
        deed,
        cause,
    }
}

fn join(folder: &str) -> io::Result<()> {
    let thread = gettid().as_raw_nonzero();
    fs::write(format!("{folder}/tasks"), thread.to_string())
}
