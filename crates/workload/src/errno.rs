//! In: an error number of Linux, or its name. Out: the other one, and the text; for crates that do
//! not use libc.
//!
//! The numbers are those of `asm-generic/errno.h`, which x86-64, ARM and RISC-V share; a test
//! compares them and the texts with the C library's.

use std::io::{self, ErrorKind};

/// There is no such file.
pub const ENOENT: i32 = 2;
/// The medium failed.
pub const EIO: i32 = 5;
/// An invalid argument.
pub const EINVAL: i32 = 22;
/// No space left.
pub const ENOSPC: i32 = 28;
/// Data that is not what was written.
pub const EILSEQ: i32 = 84;
/// An operation took too long.
pub const ETIMEDOUT: i32 = 110;
/// The quota of a user or project is used up.
pub const EDQUOT: i32 = 122;

/// Name, number and text of the errors that storage fails with; the texts are those of the GNU C
/// library.
const ERRORS: [(&str, i32, &str); 65] = [
    ("EPERM", 1, "Operation not permitted"),
    ("ENOENT", 2, "No such file or directory"),
    ("ESRCH", 3, "No such process"),
    ("EINTR", 4, "Interrupted system call"),
    ("EIO", EIO, "Input/output error"),
    ("ENXIO", 6, "No such device or address"),
    ("E2BIG", 7, "Argument list too long"),
    ("ENOEXEC", 8, "Exec format error"),
    ("EBADF", 9, "Bad file descriptor"),
    ("ECHILD", 10, "No child processes"),
    ("EAGAIN", 11, "Resource temporarily unavailable"),
    ("ENOMEM", 12, "Cannot allocate memory"),
    ("EACCES", 13, "Permission denied"),
    ("EFAULT", 14, "Bad address"),
    ("ENOTBLK", 15, "Block device required"),
    ("EBUSY", 16, "Device or resource busy"),
    ("EEXIST", 17, "File exists"),
    ("EXDEV", 18, "Invalid cross-device link"),
    ("ENODEV", 19, "No such device"),
    ("ENOTDIR", 20, "Not a directory"),
    ("EISDIR", 21, "Is a directory"),
    ("EINVAL", 22, "Invalid argument"),
    ("ENFILE", 23, "Too many open files in system"),
    ("EMFILE", 24, "Too many open files"),
    ("ENOTTY", 25, "Inappropriate ioctl for device"),
    ("ETXTBSY", 26, "Text file busy"),
    ("EFBIG", 27, "File too large"),
    ("ENOSPC", ENOSPC, "No space left on device"),
    ("ESPIPE", 29, "Illegal seek"),
    ("EROFS", 30, "Read-only file system"),
    ("EMLINK", 31, "Too many links"),
    ("EPIPE", 32, "Broken pipe"),
    ("EDOM", 33, "Numerical argument out of domain"),
    ("ERANGE", 34, "Numerical result out of range"),
    ("ENAMETOOLONG", 36, "File name too long"),
    ("ENOSYS", 38, "Function not implemented"),
    ("ENOTEMPTY", 39, "Directory not empty"),
    ("ELOOP", 40, "Too many levels of symbolic links"),
    // A reservation of another host.
    ("EBADE", 52, "Invalid exchange"),
    ("ENODATA", 61, "No data available"),
    ("ETIME", 62, "Timer expired"),
    ("ENOLINK", 67, "Link has been severed"),
    ("EPROTO", 71, "Protocol error"),
    ("EBADMSG", 74, "Bad message"),
    ("EOVERFLOW", 75, "Value too large for defined data type"),
    (
        "EILSEQ",
        EILSEQ,
        "Invalid or incomplete multibyte or wide character",
    ),
    ("EOPNOTSUPP", 95, "Operation not supported"),
    ("ENETUNREACH", 101, "Network is unreachable"),
    ("ECONNABORTED", 103, "Software caused connection abort"),
    ("ECONNRESET", 104, "Connection reset by peer"),
    ("ENOTCONN", 107, "Transport endpoint is not connected"),
    (
        "ESHUTDOWN",
        108,
        "Cannot send after transport endpoint shutdown",
    ),
    // More zones of a disk than may be open.
    ("ETOOMANYREFS", 109, "Too many references: cannot splice"),
    ("ETIMEDOUT", ETIMEDOUT, "Connection timed out"),
    ("ECONNREFUSED", 111, "Connection refused"),
    ("EHOSTDOWN", 112, "Host is down"),
    ("EHOSTUNREACH", 113, "No route to host"),
    ("ESTALE", 116, "Stale file handle"),
    ("EUCLEAN", 117, "Structure needs cleaning"),
    ("EREMOTEIO", 121, "Remote I/O error"),
    ("EDQUOT", EDQUOT, "Disk quota exceeded"),
    ("ENOMEDIUM", 123, "No medium found"),
    ("ECANCELED", 125, "Operation canceled"),
    ("ENOKEY", 126, "Required key not available"),
    ("EHWPOISON", 133, "Memory page has hardware error"),
];

/// `EIO`, if the number is in the table.
pub fn name(number: i32) -> Option<&'static str> {
    let row = ERRORS.iter().find(|(_, its, _)| *its == number);
    row.map(|(name, ..)| *name)
}

/// The number of `EIO`.
pub fn number(name: &str) -> Option<i32> {
    let row = ERRORS.iter().find(|(its, ..)| *its == name);
    row.map(|(_, number, _)| *number)
}

/// The text of an error: `Input/output error`.
pub fn message(number: i32) -> String {
    let row = ERRORS.iter().find(|(_, its, _)| *its == number);
    row.map_or_else(
        || format!("Unknown error {number}"),
        |(.., text)| (*text).to_owned(),
    )
}

/// A hint for a file that could not be written, as the end of a message; may be empty.
pub fn remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        // The kernel does not report which of the two limits it was.
        ErrorKind::FileTooLarge => {
            "; `ulimit -f` limits the size of files, or the file system does"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a FUSE server that died was reported as "errno 103 (Unknown error 103)".
    #[test]
    fn the_errors_of_a_server_that_is_gone_have_names() {
        for (number, expected) in [
            (101, "ENETUNREACH"),
            (103, "ECONNABORTED"),
            (107, "ENOTCONN"),
            (108, "ESHUTDOWN"),
            (111, "ECONNREFUSED"),
            (112, "EHOSTDOWN"),
        ] {
            assert_eq!(name(number), Some(expected));
        }
    }

    #[test]
    fn numbers_and_texts_are_those_of_the_c_library() {
        for (name, number, text) in ERRORS {
            let system = std::io::Error::from_raw_os_error(number).to_string();
            assert_eq!(system, format!("{text} (os error {number})"), "{name}");
        }
    }
}
