//! A thread that serves a mount: it takes a request, waits for what is due, and replies.
//!
//! ```text
//!   /dev/fuse ─▶ request ─▶ admit ──due now──▶ settle ─▶ /dev/fuse
//!                              └─due later─▶ schedule ──▲
//! ```
//!
//! Each thread has a descriptor of its own on the same mount, and answers what it has read. With
//! nothing in flight it sleeps in `read`, of which the kernel wakes one thread a request; otherwise
//! in `epoll_wait`, up to the moment when something is due.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use blocklab_device::Direction;
use blocklab_targets::precise_timers;
use blocklab_units::Nanos;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::configure_io_flusher_behavior;

use super::folder::Folder;
use super::wire::{self, Io, Message, REQUEST_BUFFER, Reply, Request};
use crate::wait::Interest;
use crate::{Failure, InFlight, Settled, Spin, Ticket, Volume};

/// What the reply to a request needs.
#[derive(Debug, Clone, Copy)]
enum Work {
    Read,
    Write,
    /// A range that becomes zero: freed, or kept.
    Zero {
        keep: bool,
        /// The bytes after this part: what a device takes at once is bounded.
        rest: u64,
    },
    Sync,
}

/// What is known of a request once it is admitted: the model's answer, the outcome of its data transfer,
/// and what its reply needs.
type Admitted = (Ticket, Result<(), Failure>, Work);

/// With the number by which it is answered.
type Pending = crate::Pending<Arc<Volume>, (u64, Work)>;

/// The result of reading a request.
#[derive(Debug, PartialEq, Eq)]
enum Received {
    Request(usize),
    Nothing,
    /// The mount is gone.
    End,
}

pub(super) struct Session {
    device: OwnedFd,
    folder: Arc<Folder>,
    input: Box<[u8]>,
    reply: Reply,
    in_flight: InFlight<Arc<Volume>, (u64, Work)>,
    /// Whether `read` waits for a request: the device has no `O_NONBLOCK` now.
    sleeps_in_read: bool,
}

impl Session {
    /// A session that answers the requests of the kernel on `device`.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    pub(super) fn new(device: OwnedFd, folder: &Arc<Folder>, spin: Spin) -> io::Result<Self> {
        Ok(Self {
            device,
            folder: Arc::clone(folder),
            input: vec![0; REQUEST_BUFFER].into(),
            reply: Reply::default(),
            in_flight: InFlight::new(folder.volumes(), spin)?,
            sleeps_in_read: true,
        })
    }

    /// The first request of a mount lists the kernel's features; the others follow its reply.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match self.receive(false)? {
            Received::Request(len) => self.answer(len),
            Received::Nothing | Received::End => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Serves until the mount is gone.
    pub(super) fn run(mut self) -> io::Result<()> {
        precise_timers();
        spare_reclaim();
        loop {
            let received = if self.in_flight.is_empty() {
                self.sleep_in_read()?
            } else {
                self.sleep_until_due()?
            };
            match received {
                Received::Request(len) => self.answer(len)?,
                Received::Nothing => {}
                Received::End => return Ok(()),
            }
            self.send_due();
        }
    }

    fn sleep_in_read(&mut self) -> io::Result<Received> {
        self.set_sleeps_in_read(true)?;
        self.receive(true)
    }

    /// Takes a request that has come, or else sleeps until a reply is due.
    fn sleep_until_due(&mut self) -> io::Result<Received> {
        self.set_sleeps_in_read(false)?;
        let received = self.receive(false)?;
        if received != Received::Nothing {
            return Ok(received);
        }
        // What is due already is sent by the caller.
        match self.in_flight.sleep(self.device.as_fd(), Interest::READ)? {
            Some(ready) if ready.read => self.receive(false),
            _ => Ok(Received::Nothing),
        }
    }

    /// Makes `read` wait for a request, or not. The flag is set only when that changes: it is a system
    /// call.
    fn set_sleeps_in_read(&mut self, sleeps: bool) -> io::Result<()> {
        if sleeps != self.sleeps_in_read {
            let mut flags = OFlags::RDWR;
            flags.set(OFlags::NONBLOCK, !sleeps);
            fcntl_setfl(&self.device, flags)?;
            self.sleeps_in_read = sleeps;
        }
        Ok(())
    }

    fn receive(&mut self, asleep: bool) -> io::Result<Received> {
        let (device, input) = (&self.device, &mut *self.input);
        self.in_flight.read(asleep, || receive(device, input))
    }

    /// Answers the request in the first `len` bytes of the input.
    fn answer(&mut self, len: usize) -> io::Result<()> {
        // Taken out, so that the data of a write need not be copied.
        let input = std::mem::take(&mut self.input);
        let answered = match Message::parse(&input[..len]) {
            Some(message) => {
                self.take(message);
                Ok(())
            }
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "no request")),
        };
        self.input = input;
        answered
    }

    /// Admits what moves bytes of a volume, and answers everything else at once.
    fn take(&mut self, message: Message<'_>) {
        let Message { unique, request } = message;
        let admitted = match request {
            Request::Io { node, io } => self.admit(unique, node, io),
            other => match self.folder.answer(other, &mut self.reply) {
                Ok(true) => return self.send(unique),
                Ok(false) => return,
                Err(number) => Err(number),
            },
        };
        match admitted {
            Ok(Some(pending)) => self.admitted(pending),
            Ok(None) => {
                self.reply.begin();
                self.send(unique);
            }
            Err(number) => self.refuse(unique, number),
        }
    }

    /// Admits a request to its volume; `None`: it is done already.
    ///
    /// # Errors
    /// The error number to reply with.
    fn admit(&self, unique: u64, node: u64, io: Io<'_>) -> Result<Option<Pending>, i32> {
        let volume = self.folder.volume(node).ok_or(libc::EISDIR)?;
        let Some((ticket, own, work)) = admit(volume, io)? else {
            return Ok(None);
        };
        let volume = Arc::clone(volume);
        Ok(Some(self.in_flight.pending(
            volume,
            ticket,
            own,
            (unique, work),
        )))
    }

    /// Settles a request that is due at once, and holds the others.
    fn admitted(&mut self, pending: Pending) {
        let due = pending.ticket.due;
        if due <= pending.ticket.arrived {
            self.settle(pending, due)
        } else {
            self.in_flight.hold(pending)
        }
    }

    /// Sends the replies that are due.
    fn send_due(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        let now = self.in_flight.now();
        while let Some(pending) = self.in_flight.next_due(now) {
            self.settle(pending, now);
        }
    }

    /// Sends the reply, unless a stall holds it.
    fn settle(&mut self, mut pending: Pending, now: Nanos) {
        let (unique, work) = pending.work;
        let (offset, len) = (pending.ticket.io.offset, pending.ticket.io.len);
        let out = self.reply.begin();
        if pending.is_sound() && matches!(work, Work::Read) {
            pending.own = pending.volume.read(offset, len as usize, out);
        }
        match (pending.settle(now), work) {
            (Settled::Later, _) => self.in_flight.hold(pending),
            (Settled::Done(Err(failure)), _) => self.refuse(unique, error_number(failure)),
            (Settled::Done(Ok(())), Work::Zero { keep, rest }) if rest > 0 => {
                let (ticket, own, work) =
                    part_of_range(&pending.volume, offset + u64::from(len), rest, keep);
                // Not by `InFlight::pending`: no thread had to wake for this part.
                self.in_flight.hold(Pending {
                    volume: pending.volume,
                    ticket,
                    own,
                    work: (unique, work),
                });
            }
            (Settled::Done(Ok(())), Work::Write) => {
                wire::written(out, len);
                self.send(unique);
            }
            (Settled::Done(Ok(())), _) => self.send(unique),
        }
    }

    fn send(&mut self, unique: u64) {
        write(&self.device, self.reply.done(unique));
    }

    fn refuse(&mut self, unique: u64, number: i32) {
        write(&self.device, self.reply.failed(unique, number));
    }
}

/// Admits a request to its volume. `None`: it is done already.
///
/// # Errors
/// The error number to reply with.
fn admit(volume: &Volume, io: Io<'_>) -> Result<Option<Admitted>, i32> {
    Ok(Some(match io {
        // Reads end where the volume ends.
        Io::Read { offset, len } => {
            let left = volume.size().saturating_sub(offset);
            let len = u64::from(len).min(left) as u32;
            if len == 0 {
                return Ok(None);
            }
            let ticket = volume.admit(Direction::Read, offset, len);
            (ticket, Ok(()), Work::Read)
        }
        Io::Write { .. } if volume.is_read_only() => return Err(libc::EROFS),
        // The data goes to the volume as it comes.
        Io::Write {
            offset,
            data,
            forced,
        } => {
            let left = volume.size().saturating_sub(offset);
            if left == 0 {
                return Err(libc::ENOSPC);
            }
            let data = &data[..data.len().min(left as usize)];
            let ticket = volume.admit(Direction::Write, offset, data.len() as u32);
            let own = volume.write(&ticket, offset, data);
            (ticket.forced(forced), own, Work::Write)
        }
        Io::Sync => (volume.admit(Direction::Flush, 0, 0), Ok(()), Work::Sync),
        Io::Allocate { offset, len, mode } => return allocate(volume, offset, len, mode),
    }))
}

/// Admits a change of allocation: a punched hole or a range of zeros, as far as it lies within the
/// volume. `None`: there is nothing to do.
///
/// # Errors
/// The error number to reply with.
fn allocate(volume: &Volume, offset: u64, len: u64, mode: i32) -> Result<Option<Admitted>, i32> {
    use libc::{FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE};

    let end = offset.checked_add(len).ok_or(libc::EFBIG)?;
    let is_beyond = end > volume.size();
    let keep = match mode & !FALLOC_FL_KEEP_SIZE {
        FALLOC_FL_PUNCH_HOLE => false,
        // It would make the file longer, and a volume has all the room that it will ever have.
        FALLOC_FL_ZERO_RANGE if is_beyond && mode & FALLOC_FL_KEEP_SIZE == 0 => {
            return Err(libc::ENOSPC);
        }
        FALLOC_FL_ZERO_RANGE => true,
        0 if is_beyond => return Err(libc::ENOSPC),
        0 => return Ok(None),
        _ => return Err(libc::EOPNOTSUPP),
    };
    if volume.is_read_only() {
        return Err(libc::EROFS);
    }
    match end.min(volume.size()).saturating_sub(offset) {
        0 => Ok(None),
        len => Ok(Some(part_of_range(volume, offset, len, keep))),
    }
}

/// Admits the first part of a range that becomes zero; `keep`: its room stays allocated. The others
/// follow when it is settled.
fn part_of_range(volume: &Volume, offset: u64, len: u64, keep: bool) -> Admitted {
    /// What one operation of a device takes at most.
    const PART: u64 = 1 << 31;
    let part = len.min(PART);
    let direction = if keep {
        Direction::Write
    } else {
        Direction::Trim
    };
    let ticket = volume.admit(direction, offset, part as u32);
    let own = volume.zero(&ticket, offset, part, keep);
    let rest = len - part;
    (ticket, own, Work::Zero { keep, rest })
}

fn receive(device: &OwnedFd, input: &mut [u8]) -> io::Result<Received> {
    match rustix::io::read(device, input) {
        Ok(len) => Ok(Received::Request(len)),
        // NOENT: a request that its program gave up before it was read.
        Err(Errno::AGAIN | Errno::INTR | Errno::NOENT) => Ok(Received::Nothing),
        Err(Errno::NODEV | Errno::CONNABORTED) => Ok(Received::End),
        Err(error) => Err(error.into()),
    }
}

/// A reply that the kernel does not take has no receiver any more: the program gave up, or the mount is
/// gone, which the next read reports.
fn write(device: &OwnedFd, reply: &[u8]) {
    let _ = rustix::io::write(device, reply);
}

const fn error_number(failure: Failure) -> i32 {
    match failure {
        // Programs that have a removed device open get EIO.
        Failure::Detached => libc::EIO,
        Failure::ReadOnly => libc::EROFS,
        other => other.errno(),
    }
}

/// Keeps the kernel from reclaiming memory for this thread by writing to a file system on its own
/// volume: that would wait for this thread.
fn spare_reclaim() {
    // Without the right to it, the usual rules hold.
    let _ = configure_io_flusher_behavior(true);
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;
    use libc::{FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE};

    use super::*;
    use crate::VolumeSetup;

    const SIZE: u64 = 1 << 20;

    /// `fallocate --punch-hole` behind the end of the file gave the model a range outside of the
    /// device, and its assertion ended the server.
    #[test]
    fn a_range_behind_the_end_is_no_request_to_the_device() {
        let volume = Volume::new(VolumeSetup::in_memory(Bytes(SIZE)));
        let len = |offset, mode| {
            let admitted = allocate(&volume, offset, 8192, mode)?;
            Ok(admitted.map(|(ticket, ..)| ticket.io.len))
        };
        let zero_within = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE;
        for mode in [FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, zero_within] {
            assert_eq!(len(SIZE - 8192, mode), Ok(Some(8192)));
            assert_eq!(len(SIZE - 4096, mode), Ok(Some(4096)));
            assert_eq!(len(SIZE, mode), Ok(None));
            assert_eq!(len(2 * SIZE, mode), Ok(None));
        }
        // These would make the file longer.
        assert_eq!(len(SIZE - 4096, FALLOC_FL_ZERO_RANGE), Err(libc::ENOSPC));
        assert_eq!(len(SIZE - 4096, 0), Err(libc::ENOSPC));
    }
}
