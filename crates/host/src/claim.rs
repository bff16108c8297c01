//! Opens a device exclusively, which the kernel refuses while anything has it in use, and finds
//! the programs that have it open.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// The outcome of an attempt to open a device exclusively.
#[derive(Debug)]
pub(crate) enum Claim {
    /// We have it as long as this file is open. Plain opens by our own threads still succeed.
    Ours(File),
    /// A claim that we have already serves for this one, or there is nothing to claim.
    Held,
    /// The kernel or another program has it.
    Taken,
    /// It cannot be opened at all.
    Failed(io::Error),
}

/// Opens a block device exclusively. Another program that merely looks whether a device is free
/// has it for microseconds: what is still claimed after a few tries is really in use.
pub(crate) fn claim(path: &Path) -> Claim {
    const TRIES: u32 = 5;
    const REST: Duration = Duration::from_millis(20);
    for attempt in 0..TRIES {
        match open_exclusively(path) {
            Ok(file) => return Claim::Ours(file),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Claim::Failed(error),
        }
        if attempt + 1 < TRIES {
            std::thread::sleep(REST);
        }
    }
    Claim::Taken
}

/// Whether another program has locked a file or device for itself: the server of a volume locks the file
/// behind it, QEMU the disk of a machine that runs.
pub(crate) fn is_locked(file: &File) -> bool {
    let is_whole = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    is_whole || has_record_lock(file)
}

/// Whether another process has locked bytes of the file. Locks of bytes and those of whole files do not
/// know each other.
fn has_record_lock(file: &File) -> bool {
    // SAFETY: the structure has numbers only. A length of 0 reaches to the end of the file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open, and the kernel writes into the structure only.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    result == 0 && lock.l_type != libc::F_UNLCK as libc::c_short
}

/// Opened for reading, which never touches the medium, or for writing where only that is allowed.
fn open_exclusively(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.custom_flags(libc::O_EXCL | libc::O_NONBLOCK);
    let opened = options.clone().read(true).open(path);
    opened.or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => options.write(true).open(path),
        _ => Err(error),
    })
}

/// Programs that have the block device of this number open, as `mkfs.ext4 (process 4711)`, as far
/// as this user may see them; this process is left out.
pub(crate) fn users(rdev: u64) -> Vec<String> {
    let users = programs(|process| has_open(process, rdev)).into_iter();
    // A program chooses its own name, which may hold any characters.
    users
        .map(|(number, name)| format!("{} (process {number})", name.escape_debug()))
        .collect()
}

/// Number and name of the processes whose folder in `/proc` is chosen, by number; this process is
/// left out.
pub fn programs(is_chosen: impl Fn(&Path) -> bool) -> Vec<(u32, String)> {
    let own = std::process::id();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let programs = processes.filter_map(|process| {
        let number: u32 = process.file_name().to_str()?.parse().ok()?;
        let folder = process.path();
        (number != own && is_chosen(&folder)).then(|| {
            let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            (number, name.trim_end().to_owned())
        })
    });
    let mut programs: Vec<_> = programs.collect();
    programs.sort_unstable();
    programs
}

fn has_open(process: &Path, rdev: u64) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else {
        return false;
    };
    files.flatten().any(|file| {
        fs::metadata(file.path())
            .is_ok_and(|metadata| metadata.file_type().is_block_device() && metadata.rdev() == rdev)
    })
}
