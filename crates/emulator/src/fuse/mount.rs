//! Mounting and unmounting: by the kernel's calls as root, by `fusermount3` otherwise.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use blocklab_host::{Mount, mounts, through};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::ioctl::{Opcode, Setter, ioctl};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::geteuid;

/// Why nothing can be mounted there.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The kernel has no FUSE.
    #[error(
        "this machine has no /dev/fuse; load the kernel's module (modprobe fuse), or serve with \
         --nbd"
    )]
    NoFuse,
    /// In a container that hides it behind another file.
    #[error(
        "/dev/fuse is not the kernel's device here; a container has to be given /dev/fuse and the \
         right to mount (CAP_SYS_ADMIN), or serve with --nbd"
    )]
    Masked,
    /// In a container without the right to do this.
    #[error(
        "this process may not {0}; a container has to be given /dev/fuse and the right to \
         mount (CAP_SYS_ADMIN), or serve with --nbd"
    )]
    NotAllowed(&'static str),
    /// No folder.
    #[error("{0} is not there; make it (mkdir), or name another folder")]
    Missing(PathBuf),
    /// Something else.
    #[error("{0} is no folder; name an empty one")]
    NoFolder(PathBuf),
    /// Files in it would be hidden.
    #[error("{0} is not empty; name an empty folder")]
    NotEmpty(PathBuf),
    /// A folder in use by a file system of this kind.
    #[error("{0} has {1} mounted on it; unmount it, or name another folder")]
    Mounted(PathBuf, String),
    /// A name that cannot be written down.
    #[error("{0} has bytes in its name that are no UTF-8; name another folder")]
    Name(PathBuf),
    /// Not root, and no helper installed.
    #[error(
        "only root may mount, and the program fusermount3 is not here; install it (package fuse3), \
         run as root, or serve with --nbd"
    )]
    NoHelper,
    /// Its refusal of a folder, in its words.
    #[error("fusermount3 does not mount {0}: {1}; run as root, or serve with --nbd")]
    Helper(PathBuf, String),
    /// The system's refusal of a folder.
    #[error("cannot mount {0}: {1}")]
    System(PathBuf, io::Error),
}

/// The type of our mounts in mountinfo.
const KIND: &str = "fuse.blocklab";

/// The mounts of blocklab with this source, wherever they are.
pub(super) fn ours(source: &str) -> Vec<Mount> {
    let mut all = mounts();
    all.retain(|mount| mount.kind == KIND && mount.source == source);
    all
}

/// A folder that may be mounted on, held open, so that no other one can take its place.
pub(super) struct MountPoint {
    held: File,
    pub(super) path: PathBuf,
}

impl MountPoint {
    /// A mount point at an empty folder, which is held open.
    ///
    /// # Errors
    /// When it is no empty folder.
    pub(super) fn new(path: &Path) -> Result<Self, MountError> {
        let system = |error| MountError::System(path.to_owned(), error);
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECTORY);
        let held = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => MountError::Missing(path.to_owned()),
            io::ErrorKind::NotADirectory => MountError::NoFolder(path.to_owned()),
            _ => system(error),
        })?;
        let whole = fs::read_link(through(&held)).map_err(system)?;
        if whole.to_str().is_none() {
            return Err(MountError::Name(whole));
        }
        // The last mount at a place is the one that is seen there.
        if let Some(mount) = mounts()
            .into_iter()
            .rev()
            .find(|mount| mount.point == whole)
        {
            return Err(MountError::Mounted(whole, mount.kind));
        }
        if fs::read_dir(through(&held))
            .map_err(system)?
            .next()
            .is_some()
        {
            return Err(MountError::NotEmpty(path.to_owned()));
        }
        Ok(Self { held, path: whole })
    }

    /// Mounts a file system there; gives the descriptor by which it is served.
    pub(super) fn mount(&self, source: &str, read_only: bool) -> Result<OwnedFd, MountError> {
        let (major, minor) = DEVICE_NUMBERS;
        let number = libc::makedev(major, minor);
        if fs::metadata(DEVICE).is_ok_and(|metadata| metadata.rdev() != number) {
            return Err(MountError::Masked);
        }
        if geteuid().is_root() {
            self.mount_as_root(source, read_only)
        } else {
            self.mount_by_helper(source, read_only)
        }
    }

    /// Mounts by the system call, which needs root, and gives the connection to the kernel.
    fn mount_as_root(&self, source: &str, read_only: bool) -> Result<OwnedFd, MountError> {
        let device = open_device().map_err(|error| match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => MountError::NoFuse,
            Some(libc::EPERM | libc::EACCES) => MountError::NotAllowed("open /dev/fuse"),
            _ => self.refused(error),
        })?;
        let fd = device.as_raw_fd();
        // 40000 is a folder, in octal. The kernel checks the permissions that `Folder` reports.
        let options = format!("fd={fd},rootmode=40000,user_id=0,group_id=0,default_permissions");
        let options = CString::new(options).expect("no zero byte is in it");
        let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
        flags.set(MountFlags::RDONLY, read_only);
        match rustix::mount::mount(source, through(&self.held), KIND, flags, &*options) {
            Ok(()) => Ok(device),
            Err(Errno::NODEV) => Err(MountError::NoFuse),
            Err(Errno::PERM | Errno::ACCESS) => Err(MountError::NotAllowed("mount")),
            Err(error) => Err(self.refused(error.into())),
        }
    }

    fn refused(&self, error: io::Error) -> MountError {
        MountError::System(self.path.clone(), error)
    }

    /// The helper mounts, and sends the descriptor over a socket whose number it finds in its
    /// environment.
    fn mount_by_helper(&self, source: &str, read_only: bool) -> Result<OwnedFd, MountError> {
        if !Path::new(DEVICE).exists() {
            return Err(MountError::NoFuse);
        }
        let (here, there) = UnixStream::pair().map_err(|error| self.refused(error))?;
        // The helper inherits its end.
        fcntl_setfd(&there, FdFlags::empty()).map_err(|error| self.refused(error.into()))?;
        let how = if read_only { "ro" } else { "rw" };
        let options = format!("{how},nosuid,nodev,fsname={source},subtype=blocklab");
        let mut command = Command::new(HELPER);
        command.args(["-o", &options, "--"]).arg(&self.path);
        command.env("_FUSE_COMMFD", there.as_raw_fd().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => MountError::NoHelper,
            _ => self.refused(error),
        })?;
        drop(there);
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(MountError::Helper(self.path.clone(), words));
        }
        receive_descriptor(&here).map_err(|error| self.refused(error))
    }
}

/// The program by which users other than root mount.
const HELPER: &str = "fusermount3";
const DEVICE: &str = "/dev/fuse";
/// Major and minor number of the kernel's device.
const DEVICE_NUMBERS: (u32, u32) = (10, 229);

fn open_device() -> io::Result<OwnedFd> {
    let mut options = OpenOptions::new();
    Ok(options.read(true).write(true).open(DEVICE)?.into())
}

/// Another descriptor for a mount, for another thread that serves it.
pub(super) fn clone_device(device: &OwnedFd) -> io::Result<OwnedFd> {
    /// `_IOR(229, 0, u32)`
    const FUSE_DEV_IOC_CLONE: Opcode = 0x8004_e500;
    let clone = open_device()?;
    // SAFETY: the kernel reads a descriptor's number for this code.
    unsafe {
        ioctl(
            &clone,
            Setter::<FUSE_DEV_IOC_CLONE, _>::new(device.as_raw_fd()),
        )
    }?;
    Ok(clone)
}

/// Receives one descriptor over a socket.
fn receive_descriptor(from: &UnixStream) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let into = &mut [IoSliceMut::new(&mut byte)];
    recvmsg(from, into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// How a mount is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmount {
    /// Only if no program uses it.
    Idle,
    /// Programs that use it get errors: from now on, or without root from the end of this process on.
    Forced,
}

/// Unmounts our mount of this source at a place. Returns whether it is no longer there.
pub(super) fn unmount(at: &Path, source: &str, how: Unmount) -> bool {
    if !ours(source).iter().any(|mount| mount.point == at) {
        return true;
    }
    if !is_uppermost(at, source) {
        return false;
    }
    if geteuid().is_root() {
        unmount_as_root(at, how)
    } else {
        unmount_by_helper(at, how)
    }
}

/// Whether what is seen at a place is our mount of this source, and nothing that lies over it.
fn is_uppermost(at: &Path, source: &str) -> bool {
    let all = mounts();
    let upper = all.iter().rev().find(|mount| mount.point == at);
    upper.is_some_and(|mount| mount.kind == KIND && mount.source == source)
}

/// Unmounts by the system call; whether it worked.
fn unmount_as_root(at: &Path, how: Unmount) -> bool {
    let attempts = match how {
        Unmount::Idle => vec![UnmountFlags::empty()],
        // The first one ends the connection even where it cannot unmount.
        Unmount::Forced => vec![UnmountFlags::FORCE, UnmountFlags::DETACH],
    };
    attempts
        .into_iter()
        .any(|flags| rustix::mount::unmount(at, flags | UnmountFlags::NOFOLLOW).is_ok())
}

/// Unmounts by `fusermount3`, which any user may call; whether it worked.
fn unmount_by_helper(at: &Path, how: Unmount) -> bool {
    let mut command = Command::new(HELPER);
    command.args(["-u", "-q"]);
    if how == Unmount::Forced {
        command.arg("-z");
    }
    command.arg("--").arg(at);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::io::{IoSlice, Read, Write};
    use std::os::fd::AsFd;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;

    #[test]
    fn the_helpers_descriptor_comes_over_the_socket() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let (mut read, mut write) = io::pipe().expect("a pipe");
        let descriptors = [read.as_fd()];
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let byte = &[IoSlice::new(&[0])];
        sendmsg(&there, byte, &mut control, SendFlags::empty()).expect("sent");
        let received = receive_descriptor(&here).expect("a descriptor");
        write.write_all(b"x").expect("written");
        let mut byte = [0];
        File::from(received)
            .read_exact(&mut byte)
            .expect("the pipe");
        assert_eq!(byte, *b"x");
        drop(there);
        let ended = receive_descriptor(&here).expect_err("the helper ended without one");
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
        drop(write);
        assert_eq!(read.read(&mut byte).expect("the end"), 0);
    }
}
