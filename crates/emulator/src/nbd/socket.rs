//! Bytes from and to a socket, in the calls of the kernel.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// Takes what is there; with `wait`, until something is. `None`: nothing; zero: the end.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    room: &mut [u8],
    wait: bool,
) -> io::Result<Option<usize>> {
    let mut flags = RecvFlags::empty();
    flags.set(RecvFlags::DONTWAIT, !wait);
    match rustix::net::recv(socket, room, flags) {
        Ok((got, _)) => Ok(Some(got)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes what can be sent without waiting; `None`: nothing now.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<Option<usize>> {
    match rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) => Ok(Some(sent)),
        Err(Errno::AGAIN) => Ok(None),
        Err(Errno::INTR) => Ok(Some(0)),
        Err(error) => Err(error.into()),
    }
}
