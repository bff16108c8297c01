//! Failures as Linux numbers them, for crates that name no kernel.
//!
//! The numbers are those of `asm-generic/errno.h`, which x86-64, ARM and RISC-V share; the targets
//! hold them against the C library's in a test.

/// The medium failed.
pub const EIO: i32 = 5;
/// No space is left.
pub const ENOSPC: i32 = 28;
/// Data that cannot be right.
pub const EILSEQ: i32 = 84;
/// It took too long.
pub const ETIMEDOUT: i32 = 110;

/// From 1 on, without a gap; every Unix shares them.
const FIRST: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

/// Others that storage fails with.
const OTHERS: [(&str, i32); 9] = [
    ("ENODATA", 61),
    ("ENOLINK", 67),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EUCLEAN", 117),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
];

/// `EIO`, where the number has a name here.
#[must_use]
pub fn name(number: i32) -> Option<&'static str> {
    all().find(|(_, its)| *its == number).map(|(name, _)| name)
}

/// The number of `EIO`.
#[must_use]
pub fn number(name: &str) -> Option<i32> {
    let row = all().find(|(its, _)| *its == name);
    row.map(|(_, number)| number)
}

fn all() -> impl Iterator<Item = (&'static str, i32)> {
    FIRST.into_iter().zip(1..).chain(OTHERS)
}
