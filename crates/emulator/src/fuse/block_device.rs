//! A served file as a block device: the kernel's loop driver, with direct I/O.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Why there is no block device.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// The right to it.
    #[error(
        "only root can make a block device; run as root, or use --fuse DIR, whose file any program \
         can open"
    )]
    NotRoot,
    /// The kernel has no loop driver.
    #[error(
        "this machine has no /dev/loop-control; load the kernel's module (modprobe loop), or use \
         --fuse DIR or --nbd"
    )]
    NoLoop,
    /// A container whose root is not the machine's.
    #[error(
        "this process may not use loop devices; a container has to be given /dev/loop-control, \
         the devices /dev/loop* and CAP_SYS_ADMIN, or use --fuse DIR or --nbd"
    )]
    NotAllowed,
    /// In a container that does not see all devices.
    #[error(
        "{0} is not there; a container has to be given the devices /dev/loop*, or use --fuse DIR \
         or --nbd"
    )]
    NoNode(PathBuf),
    /// Through the page cache neither the sizes nor the times of operations would be a program's.
    #[error("the loop driver of this kernel does no direct I/O on {0}; use --fuse DIR or --nbd")]
    NotDirect(PathBuf),
    /// The driver's refusal of a served file.
    #[error("cannot make a block device of {0}: {1}")]
    System(PathBuf, io::Error),
}

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

const LOOP_CONFIGURE: libc::c_ulong = 0x4c0a;
const LOOP_CLR_FD: libc::c_ulong = 0x4c01;
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4c82;
const READ_ONLY: u32 = 1;
const DIRECT_IO: u32 = 16;

/// A loop device that was made here, with a volume's file behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlockDevice {
    number: u32,
    /// The kernel's number for what is behind the device, which it gives once only; `None`: a kernel
    /// before 5.15 has no such numbers.
    sequence: Option<u64>,
    file: PathBuf,
}

/// Whether this process can make one.
pub(super) fn may_make() -> Result<(), BlockError> {
    if !rustix::process::geteuid().is_root() {
        return Err(BlockError::NotRoot);
    }
    if Path::new("/dev/loop-control").exists() {
        Ok(())
    } else {
        Err(BlockError::NoLoop)
    }
}

/// Others look for free devices at the same time: one that is taken by then is no reason to stop.
const ATTEMPTS: usize = 64;

impl BlockDevice {
    /// Puts a file behind a free device.
    pub(super) fn new(file: &Path, read_only: bool) -> Result<Self, BlockError> {
        may_make()?;
        let system = |error: io::Error| match error.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => BlockError::NoLoop,
            // ENOTTY: a container hides /dev/loop-control behind another file.
            Some(libc::EPERM | libc::EACCES | libc::ENOTTY) => BlockError::NotAllowed,
            _ => BlockError::System(file.to_owned(), error),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(!read_only);
        options.custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW);
        let opened = options.open(file).map_err(system)?;
        let control = File::open("/dev/loop-control").map_err(system)?;
        let mut busy = io::Error::from_raw_os_error(libc::EBUSY);
        for _ in 0..ATTEMPTS {
            let number = free_number(&control).map_err(system)?;
            if !path(number).exists() {
                return Err(BlockError::NoNode(path(number)));
            }
            match configure(number, &opened, file, read_only) {
                Ok(()) => return Self::checked(number, file),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => busy = error,
                Err(error) => return Err(system(error)),
            }
        }
        Err(system(busy))
    }

    /// The device `number` with this file behind it, which is released again if the kernel does no
    /// direct I/O on the file.
    fn checked(number: u32, file: &Path) -> Result<Self, BlockError> {
        let device = Self {
            number,
            sequence: sequence(number),
            file: file.to_owned(),
        };
        let direct = fs::read_to_string(format!("/sys/block/loop{number}/loop/dio"));
        if direct.is_ok_and(|text| text.trim() == "1") {
            Ok(device)
        } else {
            device.release();
            Err(BlockError::NotDirect(device.file))
        }
    }

    /// `/dev/loop3`
    pub(super) fn path(&self) -> PathBuf {
        path(self.number)
    }

    /// Its major and minor number, as mountinfo writes them; `None` if the device is gone.
    pub(super) fn numbers(&self) -> Option<String> {
        let text = fs::read_to_string(format!("/sys/block/loop{}/dev", self.number));
        Some(text.ok()?.trim().to_owned())
    }

    /// Whether what is behind the device is still what we put there.
    pub(super) fn is_there(&self) -> bool {
        let Some(file) = behind(self.number) else {
            return false;
        };
        match self.sequence {
            Some(sequence) => self::sequence(self.number) == Some(sequence),
            None => file == self.file,
        }
    }

    /// Whether another, for example a mounted file system, has it open exclusively.
    pub(super) fn is_claimed(&self) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_EXCL);
        let opened = options.open(self.path());
        opened.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    }

    /// Detaches the file from the device. Where a program has the device open, the kernel does so when it
    /// is closed.
    pub(super) fn release(&self) {
        if !self.is_there() {
            return;
        }
        let Ok(device) = File::open(self.path()) else {
            return;
        };
        // Between the look above and the opening, another file could have come there.
        if self.is_there() {
            // SAFETY: only numbers are passed. What does not succeed is seen by `is_there`.
            unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD as _, 0) };
        }
    }
}

/// All devices with a file that lies directly in a folder.
pub(super) fn with_files_in(folder: &Path) -> Vec<BlockDevice> {
    let names = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("loop")?.parse().ok()
    });
    let devices = numbers.filter_map(|number| {
        let file = behind(number).filter(|file| file.parent() == Some(folder))?;
        Some(BlockDevice {
            number,
            sequence: sequence(number),
            file,
        })
    });
    devices.collect()
}

/// `/dev/loop3`
fn path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

/// The file behind a loop device; `None`: there is none.
fn behind(number: u32) -> Option<PathBuf> {
    let text = fs::read_to_string(format!("/sys/block/loop{number}/loop/backing_file")).ok()?;
    Some(PathBuf::from(text.strip_suffix('\n').unwrap_or(&text)))
}

/// See [`BlockDevice::sequence`].
fn sequence(number: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/block/loop{number}/diskseq")).ok()?;
    text.trim().parse().ok()
}

/// The number of a loop device that nothing is behind now; the kernel makes one if need be.
fn free_number(control: &File) -> io::Result<u32> {
    // SAFETY: only numbers are passed.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    u32::try_from(number).map_err(|_| io::Error::last_os_error())
}

/// Puts an open file behind a loop device, with direct I/O.
fn configure(number: u32, opened: &File, file: &Path, read_only: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let device = options.read(true).write(!read_only).open(path(number))?;
    // SAFETY: zeros are a valid configuration of integers.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.fd = opened.as_raw_fd() as u32;
    // As the provider's volumes have.
    config.block_size = 512;
    config.info.flags = DIRECT_IO | if read_only { READ_ONLY } else { 0 };
    let name = file.as_os_str().as_encoded_bytes();
    // What `losetup` shows; the last byte stays zero.
    let shown = name.len().min(config.info.file_name.len() - 1);
    config.info.file_name[..shown].copy_from_slice(&name[..shown]);
    // SAFETY: the configuration lives through the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, &raw const config) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

const _: () = assert!(size_of::<LoopInfo>() == 232 && size_of::<LoopConfig>() == 304);
