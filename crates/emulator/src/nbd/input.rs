//! Received bytes that are not parsed yet.

use std::io;

use super::wire::Wire;

/// Room for sixty writes of 4 KiB with their requests. Longer data goes on to the volume in pieces.
const ROOM: usize = 256 << 10;

/// A buffer between the socket and the parsers.
#[derive(Debug)]
pub(super) struct Input {
    bytes: Box<[u8]>,
    /// Before it, all bytes are parsed.
    start: usize,
    /// Behind it, there is room.
    end: usize,
}

/// The result of reading from the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    Some,
    /// Nothing now.
    Nothing,
    /// The client sends nothing more.
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
        assert!(bytes <= self.end - self.start, "a parser saw no more");
        self.start += bytes;
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Takes what is there; with `wait`, until something is.
    pub(super) fn receive(&mut self, wire: &mut Wire<'_>, wait: bool) -> io::Result<Received> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = &mut self.bytes[self.end..];
        if room.is_empty() {
            return Ok(Received::Nothing);
        }
        Ok(match wire.receive(room, wait)? {
            None => Received::Nothing,
            Some(0) => Received::End,
            Some(got) => {
                self.end += got;
                Received::Some
            }
        })
    }
}
