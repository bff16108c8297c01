//! Why a request failed.

use std::io;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// An input/output error.
    Io,
    /// No room.
    NoSpace,
    /// The volume is read-only.
    ReadOnly,
    /// Beyond the end, or not understood.
    Invalid,
    /// A valid request that this volume does not support.
    Unsupported,
    /// The volume is detached.
    Detached,
}

impl Failure {
    /// The kernel's number for it.
    pub const fn errno(self) -> i32 {
        match self {
            Self::Io => libc::EIO,
            Self::NoSpace => libc::ENOSPC,
            Self::ReadOnly => libc::EPERM,
            Self::Invalid => libc::EINVAL,
            Self::Unsupported => libc::EOPNOTSUPP,
            Self::Detached => libc::ESHUTDOWN,
        }
    }
}

impl From<blocklab_device::Fault> for Failure {
    fn from(fault: blocklab_device::Fault) -> Self {
        match fault {
            blocklab_device::Fault::Io => Self::Io,
            blocklab_device::Fault::Full => Self::NoSpace,
            blocklab_device::Fault::Detached => Self::Detached,
        }
    }
}

/// What the backing could not read or write.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            _ => Self::Io,
        }
    }
}
