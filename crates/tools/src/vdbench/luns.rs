//! The files and devices of storage definitions: how large they are, and whether they must be written
//! before the runs.

use std::collections::HashSet;
use std::fs::{self, File};
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

/// A lun as it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its index among the storage definitions.
    pub sd: usize,
    /// Bytes that the runs use of it.
    pub size: u64,
    /// Bytes that it has now.
    pub current: u64,
    /// Whether it is a file that must be written before the runs: because it is too short, or because
    /// `formatsds=yes` requests it.
    pub is_written: bool,
}

impl Found {
    /// Looks at the lun of a storage definition, and changes nothing.
    ///
    /// # Errors
    /// When it has no size, or is a device that is smaller than requested.
    fn look(file: &ParameterFile, index: usize, guard: &Guard) -> Result<Self> {
        let sd = &file.sds[index];
        let Lun { bytes, is_file } = Lun::look_at(sd, guard)?;
        let size = if sd.size > 0 { sd.size } else { bytes };
        let message = format_args!("{} has no content, and size= names none", sd.lun);
        sd.check(size > 0, message)?;
        let message = format_args!("size={size} is more than the {bytes} bytes of {}", sd.lun);
        sd.check(is_file || size <= bytes, message)?;
        let again = file.general.formatsds == Some(true);
        let is_due = (bytes < size || again) && file.general.formatsds != Some(false);
        Ok(Self {
            sd: index,
            size,
            current: bytes,
            is_written: is_file && is_due,
        })
    }
}

/// Looks at the luns that one of several hosts uses, and changes nothing.
pub fn survey(file: &ParameterFile, host: usize, guard: &Guard) -> Result<Vec<Found>> {
    let used = (0..file.sds.len()).filter(|sd| file.is_used_by(host, *sd));
    used.map(|sd| Found::look(file, sd, guard)).collect()
}

/// Creates or lengthens a lun and writes it once, if it needs that. False, when a signal interrupts it.
pub fn lay_out(sd: &Sd, found: &Found, guard: &Guard, interrupted: &AtomicBool) -> Result<bool> {
    if found.current < found.size {
        create_or_lengthen(sd, found.size, found.current, guard)?;
    }
    if !found.is_written {
        return Ok(true);
    }
    let path = Path::new(&sd.lun);
    let handle = context(guard.open(path), "open", path)?;
    guard.may_write(&handle)?;
    guard.mark_written(handle.path());
    let file = context(handle.reopen(File::options().write(true)), "write to", path)?;
    let layout = Layout {
        file: &file,
        path,
        size: Bytes(found.size),
    };
    Ok(FileFiller::new(0).fill(layout, interrupted, |_| {})?)
}

/// Refuses a plan if the guard does not permit what its jobs write to.
pub fn check_permitted(plan: &Plan, guard: &Guard) -> Result<()> {
    let jobs = plan.jobs();
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

/// Looks at every lun that a run uses, and creates or lengthens files. Returns the sizes of all storage
/// definitions, and which of them the runs write first. With `keeps_data`, for a recovery, the runs write
/// none first, and no file is created.
pub fn make_ready(
    file: &ParameterFile,
    guard: &Guard,
    keeps_data: bool,
) -> Result<(Vec<u64>, Vec<usize>)> {
    let uses = file.runs.iter().flat_map(|run| &run.uses);
    let used: HashSet<usize> = uses
        .flat_map(|workload| workload.sds.iter().copied())
        .collect();
    let (mut sizes, mut format) = (Vec::new(), Vec::new());
    for (index, sd) in file.sds.iter().enumerate() {
        if !used.contains(&index) {
            sizes.push(sd.size);
            continue;
        }
        let found = Found::look(file, index, guard)?;
        if found.is_written && !keeps_data {
            format.push(index);
        }
        // Only a file can be too short: a device that is has been refused. A recovery makes none: the
        // journal reports the one that it misses.
        let may_make = !keeps_data || Path::new(&sd.lun).exists();
        if found.current < found.size && may_make {
            create_or_lengthen(sd, found.size, found.current, guard)?;
        }
        sizes.push(found.size);
    }
    Ok((sizes, format))
}

/// A file, a device or a model that a storage definition names.
struct Lun {
    bytes: u64,
    /// Whether it is a regular file; a missing one counts as an empty file.
    is_file: bool,
}

impl Lun {
    /// Looks at a lun: its size, and whether it is a file. One that is missing must be possible to
    /// create.
    fn look_at(sd: &Sd, guard: &Guard) -> Result<Self> {
        if let Some(address) = Target::address_text(&sd.lun) {
            let bytes = capacity(address).map_err(|error| sd.error(error))?;
            return Ok(Self {
                bytes,
                is_file: false,
            });
        }
        let path = Path::new(&sd.lun);
        match guard.open(path) {
            Ok(handle) => Self::existing(sd, &handle),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let message = format_args!(
                    "{} is a name of Windows; a file or device of Linux would work, such as \
                     lun=/dev/sdb",
                    sd.lun
                );
                sd.check(!is_of_windows(&sd.lun), message)?;
                // Checks that a file may be created there.
                guard.new_path(path).map_err(|refusal| sd.error(refusal))?;
                Ok(Self {
                    bytes: 0,
                    is_file: true,
                })
            }
            Err(error) => {
                let message = format_args!("cannot use {}: {error}", sd.lun);
                Err(sd.error(message).into())
            }
        }
    }

    /// A lun that exists: a file or a device.
    fn existing(sd: &Sd, handle: &Handle) -> Result<Self> {
        let kind = handle.kind();
        let unfit = if kind.is_dir() {
            "a directory; a file in it would work"
        } else if kind.is_fifo() {
            "a pipe, which stores nothing; a file or a device would work"
        } else if kind.is_socket() {
            "a socket, which stores nothing; a file or a device would work"
        } else {
            return Ok(Self {
                bytes: facts_of(handle)?.size_bytes.0,
                is_file: kind.is_file(),
            });
        };
        Err(sd.error(format_args!("{} is {unfit}", sd.lun)).into())
    }
}

/// Whether a file is named as on Windows: `\\.\PhysicalDrive1`, `\\server\share\file`, `d:\file`. Linux
/// would make a file of that name in the current directory.
fn is_of_windows(name: &str) -> bool {
    let mut letters = name.chars();
    let (first, second) = (letters.next(), letters.next());
    let is_drive = first.is_some_and(|letter| letter.is_ascii_alphabetic()) && second == Some(':');
    is_drive || first == Some('\\')
}

/// Bytes of a modelled volume.
fn capacity(address: &str) -> Result<u64> {
    let catalog = blocklab_console::place::load_catalog()?;
    let resolved = resolve_text(address, &catalog)?;
    Ok(Device::new(&resolved.spec, 0)?.capacity().0)
}

/// Creates a file of `size` bytes, or lengthens one that has `current`. The guard must permit that for a file
/// with content; a new or empty one is marked as blocklab's, so that later runs may overwrite it.
fn create_or_lengthen(sd: &Sd, size: u64, current: u64, guard: &Guard) -> Result<()> {
    let path = Path::new(&sd.lun);
    let (handle, is_new) = match guard.open(path) {
        Ok(handle) => {
            guard.may_write(&handle)?;
            (handle, false)
        }
        Err(_) => {
            let made = guard.new_path(path)?.create(0o666);
            (context(made, "make the file", path)?, true)
        }
    };
    let opened = handle.reopen(File::options().write(true));
    let lengthened = opened.and_then(|file| file.set_len(size));
    if lengthened.is_err() && is_new && handle.is_at(path) {
        // The error of the length is reported; that the removal fails, too, would tell nothing new.
        let _ = fs::remove_file(path);
    }
    context(lengthened, "make the file", path)?;
    if current == 0 {
        mark(&handle);
    }
    guard.adopt(&handle);
    // A file that blocklab made stays one, although its runs may only read it.
    guard.mark_written(handle.path());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_of_windows;

    /// The story: a parameter file that came from Windows measured a file `\\.\PhysicalDrive1` which
    /// was made in the current directory.
    #[test]
    fn names_of_windows_are_known() {
        for name in [
            r"\\.\PhysicalDrive1",
            r"\\.\d:",
            r"\\server\share\f",
            r"c:\temp\f",
            "D:",
        ] {
            assert!(is_of_windows(name), "{name}");
        }
        for name in ["/dev/sdb", "f", "./c:", "/data/a\\b", "raw:1", ""] {
            assert!(!is_of_windows(name), "{name}");
        }
    }
}
