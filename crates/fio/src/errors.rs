//! The numbers of errors.

/// The kind of a block that verification found wrong.
pub(super) const VERIFY: &str = "verify";

/// What stands for an error without a number.
pub(super) const EIO: i32 = 5;

/// The number of an error by its name.
pub(super) fn error_number(kind: &str) -> Option<i32> {
    const NUMBERS: [(&str, i32); 42] = [
        (VERIFY, 84),
        ("EPERM", 1),
        ("EIO", EIO),
        ("ENXIO", 6),
        ("EBADF", 9),
        ("EAGAIN", 11),
        ("ENOMEM", 12),
        ("EACCES", 13),
        ("EFAULT", 14),
        ("EBUSY", 16),
        ("ENODEV", 19),
        ("EINVAL", 22),
        ("ENOTTY", 25),
        ("EFBIG", 27),
        ("ENOSPC", 28),
        ("EROFS", 30),
        ("EOPNOTSUPP", 95),
        ("EILSEQ", 84),
        ("ETIMEDOUT", 110),
        ("ENODATA", 61),
        ("EREMOTEIO", 121),
        ("EDQUOT", 122),
        ("ESTALE", 116),
        ("ENOENT", 2),
        ("ESRCH", 3),
        ("EINTR", 4),
        ("E2BIG", 7),
        ("ENOEXEC", 8),
        ("ECHILD", 10),
        ("ENOTBLK", 15),
        ("EEXIST", 17),
        ("EXDEV", 18),
        ("ENOTDIR", 20),
        ("EISDIR", 21),
        ("ENFILE", 23),
        ("EMFILE", 24),
        ("ETXTBSY", 26),
        ("ESPIPE", 29),
        ("EMLINK", 31),
        ("EPIPE", 32),
        ("EDOM", 33),
        ("ERANGE", 34),
    ];
    let known = NUMBERS
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, number)| *number);
    let written = || {
        kind.strip_prefix("errno ")
            .and_then(|number| number.parse().ok())
    };
    known.or_else(written)
}
