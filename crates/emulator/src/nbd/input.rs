//! What a client sent and nobody has used yet.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Room for sixty writes of 4 KiB with their requests. Longer data goes on to the volume in pieces.
const ROOM: usize = 256 << 10;

/// A buffer between the socket and the parsers.
#[derive(Debug)]
pub(super) struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

/// How a look at the socket ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    Some,
    Nothing,
    End,
}

impl Input {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; ROOM].into(),
            start: 0,
            end: 0,
        }
    }

    pub(super) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(super) fn use_up(&mut self, bytes: usize) {
        assert!(bytes <= self.end - self.start, "there were not so many");
        self.start += bytes;
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Takes what is there; with `wait`, until something is.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, wait: bool) -> io::Result<Received> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = &mut self.bytes[self.end..];
        if room.is_empty() {
            return Ok(Received::Nothing);
        }
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
            Ok(0) => Ok(Received::End),
            Ok(got) => {
                self.end += got;
                Ok(Received::Some)
            }
            Err(_) => {
                let error = io::Error::last_os_error();
                match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Received::Nothing),
                    _ => Err(error),
                }
            }
        }
    }
}
