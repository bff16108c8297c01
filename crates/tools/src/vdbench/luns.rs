//! What the storage definitions name: how large it is, and whether it must be written first.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use blocklab_catalog::resolve_text;
use blocklab_device::Device;
use blocklab_driver::{FileFiller, Layout};
use blocklab_host::guard::{Guard, mark};
use blocklab_host::{Handle, facts_of};
use blocklab_units::Bytes;
use blocklab_vdbench::{ParameterFile, Sd, Subject};
use blocklab_workload::{Plan, Target};

use super::context;

/// A lun of one host among several, as it is found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its index among the storage definitions.
    pub sd: usize,
    /// As large as it is to be.
    pub size: u64,
    /// Bytes that are there.
    pub there: u64,
    /// Whether it is written before the run.
    pub is_written: bool,
}

/// Looks at the luns that a host uses, and changes nothing.
pub fn survey(file: &ParameterFile, host: usize, guard: &Guard) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for (index, sd) in file.sds.iter().enumerate() {
        if !file.is_used_by(host, index) {
            continue;
        }
        let (there, is_file) = look_at(sd, guard)?;
        let size = if sd.size > 0 { sd.size } else { there };
        let message = format_args!("{} has no content, and size= names none", sd.lun);
        sd.check(size > 0, message)?;
        let message = format_args!("size={size} is more than the {there} bytes of {}", sd.lun);
        sd.check(is_file || size <= there, message)?;
        let again = file.general.formatsds == Some(true);
        let is_due = (there < size || again) && file.general.formatsds != Some(false);
        all.push(Found {
            sd: index,
            size,
            there,
            is_written: is_file && is_due,
        });
    }
    Ok(all)
}

/// Makes what is missing of a lun, and writes it once. Whether that was not interrupted.
pub fn lay_out(sd: &Sd, found: &Found, guard: &Guard, interrupted: &AtomicBool) -> Result<bool> {
    if found.there < found.size {
        make(sd, found.size, found.there, guard)?;
    }
    if !found.is_written {
        return Ok(true);
    }
    let path = Path::new(&sd.lun);
    let handle = context(guard.open(path), "open", path)?;
    guard.may_write(&handle)?;
    let file = context(handle.reopen(File::options().write(true)), "write to", path)?;
    let layout = Layout {
        file: &file,
        path,
        size: Bytes(found.size),
    };
    Ok(FileFiller::new(0).fill(layout, interrupted, |_| {})?)
}

/// Refuses, before anything is written, what the jobs of a plan may not write to.
pub fn permit(plan: &Plan, guard: &Guard) -> Result<()> {
    let jobs = plan.cases.iter().flat_map(|case| &case.workload.jobs);
    for path in jobs
        .filter(|job| job.changes())
        .flat_map(|job| &job.targets)
    {
        if Target::address_text(path).is_none()
            && let Ok(handle) = guard.open(Path::new(path))
        {
            guard.may_write(&handle)?;
        }
    }
    Ok(())
}

/// Looks at every lun that a run uses, and makes files that are missing. Those may be overwritten.
/// Returns the sizes of all storage definitions, and which of them are written first.
pub fn look(file: &ParameterFile, guard: &Guard, keep: bool) -> Result<(Vec<u64>, Vec<usize>)> {
    let uses = file.runs.iter().flat_map(|run| &run.uses);
    let used: HashSet<usize> = uses.flat_map(|one| one.sds.iter().copied()).collect();
    let (mut sizes, mut format) = (Vec::new(), Vec::new());
    for (index, sd) in file.sds.iter().enumerate() {
        if !used.contains(&index) {
            sizes.push(sd.size);
            continue;
        }
        let (bytes, is_file) = look_at(sd, guard)?;
        let size = if sd.size > 0 { sd.size } else { bytes };
        let message = format_args!("{} has no content, and size= names none", sd.lun);
        sd.check(size > 0, message)?;
        let lun = &sd.lun;
        let message = format_args!("size={size} is more than the {bytes} bytes of {lun}");
        sd.check(is_file || size <= bytes, message)?;
        let short = is_file && bytes < size;
        let again = file.general.formatsds == Some(true) && is_file;
        if (short || again) && file.general.formatsds != Some(false) && !keep {
            format.push(index);
        }
        if short {
            make(sd, size, bytes, guard)?;
        }
        sizes.push(size);
    }
    Ok((sizes, format))
}

/// How many bytes are there, and whether they are a file's.
fn look_at(sd: &Sd, guard: &Guard) -> Result<(u64, bool)> {
    if let Some(address) = Target::address_text(&sd.lun) {
        let bytes = capacity(address).map_err(|error| sd.error(error))?;
        return Ok((bytes, false));
    }
    let path = Path::new(&sd.lun);
    match guard.open(path) {
        Ok(handle) => there(sd, &handle),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            guard.new_path(path).map_err(|refusal| sd.error(refusal))?;
            Ok((0, true))
        }
        Err(error) => {
            let message = format_args!("cannot use {}: {error}", sd.lun);
            Err(sd.error(message).into())
        }
    }
}

/// The size of what is there, and whether it is a regular file.
fn there(sd: &Sd, handle: &Handle) -> Result<(u64, bool)> {
    let kind = handle.kind();
    let unfit = if kind.is_dir() {
        "a directory; a file in it would work"
    } else if kind.is_fifo() {
        "a pipe, which stores nothing; a file or a device would work"
    } else if kind.is_socket() {
        "a socket, which stores nothing; a file or a device would work"
    } else {
        return Ok((facts_of(handle)?.size_bytes.0, kind.is_file()));
    };
    Err(sd.error(format_args!("{} is {unfit}", sd.lun)).into())
}

fn capacity(address: &str) -> Result<u64> {
    let catalog = blocklab_console::place::load_catalog()?;
    let resolved = resolve_text(address, &catalog)?;
    Ok(Device::new(&resolved.spec, 0)?.capacity().0)
}

/// A new file is ours and may be overwritten; of one with content the user must have allowed it.
fn make(sd: &Sd, size: u64, there: u64, guard: &Guard) -> Result<()> {
    let path = Path::new(&sd.lun);
    let handle = match guard.open(path) {
        Ok(handle) => {
            guard.may_write(&handle)?;
            handle
        }
        Err(_) => context(guard.new_path(path)?.create(0o666), "make the file", path)?,
    };
    let opened = handle.reopen(File::options().write(true));
    context(
        opened.and_then(|file| file.set_len(size)),
        "make the file",
        path,
    )?;
    if there == 0 {
        mark(&handle);
    }
    guard.adopt(&handle);
    Ok(())
}
