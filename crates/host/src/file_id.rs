//! What identifies a file: of a path, and of the file behind a loop device.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Device and inode number: the same for every path of a file.
pub(crate) type FileId = (u64, u64);

/// The identity of what `path` leads to; `None` if it leads nowhere.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// `LOOP_GET_STATUS64`.
const STATUS: u32 = 0x4c05;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    /// Offset, limit, flags, names and keys, which sysfs has, or which are out of use.
    _rest: [u64; 27],
}

/// The identity of the file behind the loop device at `path`. Nothing where the device cannot be opened,
/// which takes root, or shows no file.
///
/// The path in sysfs is that of the process that attached the device: here it may lead to another file or
/// nowhere, and a removed file can have another name.
pub(crate) fn loop_file(path: &Path) -> Option<FileId> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    let device = options.open(path).ok()?;
    let mut info = LoopInfo {
        device: 0,
        inode: 0,
        _rest: [0; 27],
    };
    // SAFETY: the structure has the kernel's size, and all its bits are numbers.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), STATUS as _, &raw mut info) };
    (result == 0).then_some((info.device, info.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_has_the_size_that_the_kernel_writes() {
        assert_eq!(size_of::<LoopInfo>(), 232);
    }

    #[test]
    fn what_is_no_loop_device_shows_no_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(loop_file(file.path()), None);
        assert_eq!(loop_file(Path::new("/dev/no-such-loop")), None);
    }
}
