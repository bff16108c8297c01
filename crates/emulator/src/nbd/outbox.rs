//! Replies on their way to a client: as much as a socket takes at a time, and never much more.

use std::io;
use std::ops::Range;

use super::transmission::{Request, put_data_header};
use super::wire::Wire;
use crate::{Failure, Volume};

/// Data of a read that is fetched at a time.
const PIECE: usize = 256 << 10;
/// With more than that unsent, no further reply is made.
const ENOUGH: usize = 1 << 20;

/// The replies of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// How many of the bytes are sent.
    sent: usize,
    /// The part of a long read that is still to be fetched from the volume.
    rest: Option<Range<u64>>,
    /// The wire has taken bytes that the socket has not.
    is_held: bool,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(PIECE),
            ..Self::default()
        }
    }

    /// Where parsers append what they answer.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.rest.is_none(), "a reply within another one");
        &mut self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len() && self.rest.is_none() && !self.is_held
    }

    /// Whether there is room for another reply.
    pub(super) fn has_room(&self) -> bool {
        self.rest.is_none() && self.bytes.len() - self.sent < ENOUGH
    }

    /// The reply of a read: its first data now, the others when these are sent.
    /// What was added before an error is to be taken back.
    pub(super) fn read(
        &mut self,
        volume: &Volume,
        structured: bool,
        request: Request,
    ) -> Result<(), Failure> {
        let Request { offset, len, .. } = request;
        put_data_header(&mut self.bytes, structured, request.cookie, offset, len);
        let first = (len as usize).min(PIECE);
        volume.read(offset, first, &mut self.bytes)?;
        let rest = u64::from(len) - first as u64;
        let at = offset + first as u64;
        self.rest = (rest > 0).then_some(at..at + rest);
        Ok(())
    }

    /// Takes back what was added since there were `len` bytes.
    pub(super) fn take_back(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.rest = None;
    }

    /// Sends what the socket takes without waiting.
    pub(super) fn send(&mut self, wire: &mut Wire<'_>, volume: &Volume) -> io::Result<()> {
        let sent = self.give(wire, volume);
        // Also records of TLS itself.
        self.is_held = !wire.flush()?;
        sent
    }

    /// Sends until the socket takes no more, and fetches the rest of a long read meanwhile.
    fn give(&mut self, wire: &mut Wire<'_>, volume: &Volume) -> io::Result<()> {
        loop {
            while self.sent < self.bytes.len() {
                match wire.send(&self.bytes[self.sent..])? {
                    None => return Ok(()),
                    Some(sent) => self.sent += sent,
                }
                // A client that reads more slowly than it asks never lets the buffer run empty.
                if self.sent >= ENOUGH {
                    self.bytes.drain(..self.sent);
                    self.sent = 0;
                }
            }
            self.bytes.clear();
            self.sent = 0;
            let Some(rest) = self.rest.take() else {
                return Ok(());
            };
            let (offset, piece) = (rest.start, (rest.end - rest.start).min(PIECE as u64));
            let rest = offset + piece..rest.end;
            self.rest = (!rest.is_empty()).then_some(rest);
            // The client has the header already: only the end of the connection can report it.
            let fetched = volume.read(offset, piece as usize, &mut self.bytes);
            fetched.map_err(|_| io::Error::other("the backing failed in the midst of a reply"))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VolumeSetup;
    use blocklab_units::Bytes;
    use std::io::Read as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    /// The story: a client that had more reads in flight than it took replies never let the buffer run
    /// empty, and only an empty buffer forgot what was sent: the server grew by every byte that it sent.
    #[test]
    fn what_is_sent_is_not_kept() {
        let (here, mut there) = UnixStream::pair().expect("two sockets");
        let volume = Volume::new(VolumeSetup::in_memory(Bytes::MIB));
        let mut wire = Wire::new(here.as_fd());
        let mut outbox = Outbox::new();
        let request = Request {
            flags: 0,
            command: 0,
            cookie: 0,
            offset: 0,
            len: 128 << 10,
        };
        let mut taken = vec![0; 64 << 10];
        for _ in 0..256 {
            while outbox.has_room() {
                outbox.read(&volume, false, request).expect("it is read");
            }
            outbox.send(&mut wire, &volume).expect("it is sent");
            there.read_exact(&mut taken).expect("it has come");
        }
        assert!(outbox.bytes.len() < 3 * ENOUGH, "{}", outbox.bytes.len());
    }
}
