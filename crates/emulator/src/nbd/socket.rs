//! Bytes from and to a socket, in the calls of the kernel.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Takes what is there; with `wait`, until something is. `None`: nothing; zero: the end.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    room: &mut [u8],
    wait: bool,
) -> io::Result<Option<usize>> {
    let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: the room lives through the call, and its length is given.
    let got = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            room.as_mut_ptr().cast(),
            room.len(),
            flags,
        )
    };
    match usize::try_from(got) {
        Ok(got) => Ok(Some(got)),
        Err(_) => {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            }
        }
    }
}

/// Takes what can be sent without waiting; `None`: nothing now.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<Option<usize>> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the bytes live through the call, and their length is given.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            flags,
        )
    };
    match usize::try_from(sent) {
        Ok(sent) => Ok(Some(sent)),
        Err(_) => {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                io::ErrorKind::Interrupted => Ok(Some(0)),
                _ => Err(error),
            }
        }
    }
}
