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
use super::wire::{self, Message, REQUEST_BUFFER, Reply, Request};
use crate::wait::{Interest, Timers, Waiter};
use crate::{Failure, Schedule, Settled, SleepPlan, Spin, Ticket, Volume};

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

/// The number by which a request is answered, and the file that it is for.
#[derive(Debug, Clone, Copy)]
struct Source {
    unique: u64,
    node: u64,
}

/// A request that was admitted.
#[derive(Debug)]
struct Pending {
    source: Source,
    ticket: Ticket,
    work: Work,
    /// The outcome of its data transfer.
    own: Result<(), Failure>,
}

/// `None`: it is done already. Or the error number to reply with.
type Admitted = Result<Option<Pending>, i32>;

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
    schedule: Schedule<Pending>,
    timers: Timers,
    waiter: Waiter,
    /// How long the request just read waits for threads to wake: for this one, and its program's.
    waking: Nanos,
    sleeps_in_read: bool,
}

impl Session {
    /// A session that answers the requests of the kernel on `device`.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    pub(super) fn new(device: OwnedFd, folder: &Arc<Folder>, spin: Spin) -> io::Result<Self> {
        let waiter = Waiter::new()?;
        for volume in folder.volumes() {
            volume.register(waiter.waker());
        }
        Ok(Self {
            device,
            folder: Arc::clone(folder),
            input: vec![0; REQUEST_BUFFER].into(),
            reply: Reply::default(),
            schedule: Schedule::default(),
            timers: Timers::new(SleepPlan::new(spin.is_on()), &waiter)?,
            waiter,
            waking: Nanos::ZERO,
            sleeps_in_read: true,
        })
    }

    /// The first request of a mount lists the kernel's features; the others follow its reply.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match self.receive()? {
            Received::Request(len) => self.answer(len),
            Received::Nothing | Received::End => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Serves until the mount is gone.
    pub(super) fn run(mut self) -> io::Result<()> {
        precise_timers();
        spare_reclaim();
        loop {
            let received = if self.schedule.is_empty() {
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
        let clock = self.clock();
        let began = clock.now();
        let received = self.receive()?;
        let waited = clock.now().since(began);
        self.waking = self.timers.plan().wake_ups(waited);
        Ok(received)
    }

    /// Takes a request that has come, or else sleeps until a reply is due.
    fn sleep_until_due(&mut self) -> io::Result<Received> {
        // The sleep was for another request: how long this one has waited is not known.
        self.waking = Nanos::ZERO;
        self.set_sleeps_in_read(false)?;
        let received = self.receive()?;
        if received != Received::Nothing {
            return Ok(received);
        }
        let now = self.clock().now();
        // What is due by the horizon is sent by the caller, without a sleep.
        match self.schedule.next() {
            Some(due) if due > self.timers.plan().horizon(now) => {
                if !self.timers.set(now, self.schedule.next_two())? {
                    std::hint::spin_loop();
                    return Ok(Received::Nothing);
                }
            }
            _ => return Ok(Received::Nothing),
        }
        let ready = self
            .waiter
            .wait(self.device.as_fd(), Interest::READ, None)?;
        if ready.due {
            self.timers.ended(self.clock().now());
        }
        if ready.woken {
            self.recompute_due();
        }
        if ready.read {
            self.receive()
        } else {
            Ok(Received::Nothing)
        }
    }

    fn clock(&self) -> blocklab_targets::Clock {
        let mut volumes = self.folder.volumes();
        volumes.next().expect("a mount serves a volume").clock()
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

    fn receive(&mut self) -> io::Result<Received> {
        match rustix::io::read(&self.device, &mut *self.input) {
            Ok(len) => Ok(Received::Request(len)),
            // NOENT: a request that its program gave up before it was read.
            Err(Errno::AGAIN | Errno::INTR | Errno::NOENT) => Ok(Received::Nothing),
            Err(Errno::NODEV | Errno::CONNABORTED) => Ok(Received::End),
            Err(error) => Err(error.into()),
        }
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
            Request::Read { node, offset, len } => {
                self.admit_read(Source { unique, node }, offset, len)
            }
            Request::Write {
                node,
                offset,
                data,
                forced,
            } => self.admit_write(Source { unique, node }, offset, data, forced),
            Request::Sync { node } => self.admit_sync(Source { unique, node }),
            Request::Allocate {
                node,
                offset,
                len,
                mode,
            } => self.admit_range(Source { unique, node }, offset, len, mode),
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

    fn volume(&self, node: u64) -> Result<Arc<Volume>, i32> {
        self.folder.volume(node).map(Arc::clone).ok_or(libc::EISDIR)
    }

    /// Reads end where the volume ends.
    fn admit_read(&self, source: Source, offset: u64, len: u32) -> Admitted {
        let volume = self.volume(source.node)?;
        let left = volume.size().saturating_sub(offset);
        let len = u64::from(len).min(left) as u32;
        if len == 0 {
            return Ok(None);
        }
        let ticket = volume.admit(Direction::Read, offset, len);
        Ok(Some(self.pending(source, ticket, Work::Read, Ok(()))))
    }

    /// The data goes to the volume as it comes.
    fn admit_write(&self, source: Source, offset: u64, data: &[u8], forced: bool) -> Admitted {
        let volume = self.volume(source.node)?;
        if volume.is_read_only() {
            return Err(libc::EROFS);
        }
        let left = volume.size().saturating_sub(offset);
        if left == 0 {
            return Err(libc::ENOSPC);
        }
        let data = &data[..data.len().min(left as usize)];
        let ticket = volume.admit(Direction::Write, offset, data.len() as u32);
        let own = if ticket.is_sound() {
            volume.write(&ticket, offset, data)
        } else {
            Ok(())
        };
        let ticket = ticket.forced(forced);
        Ok(Some(self.pending(source, ticket, Work::Write, own)))
    }

    fn admit_sync(&self, source: Source) -> Admitted {
        let ticket = self.volume(source.node)?.admit(Direction::Flush, 0, 0);
        Ok(Some(self.pending(source, ticket, Work::Sync, Ok(()))))
    }

    /// Admits a change of allocation: a punched hole or a range of zeros.
    fn admit_range(&self, source: Source, offset: u64, len: u64, mode: i32) -> Admitted {
        let volume = self.volume(source.node)?;
        let end = offset.checked_add(len).ok_or(libc::EFBIG)?;
        let keep = match mode & !libc::FALLOC_FL_KEEP_SIZE {
            libc::FALLOC_FL_PUNCH_HOLE => false,
            libc::FALLOC_FL_ZERO_RANGE => true,
            // A volume has all the room that it will ever have.
            0 if end <= volume.size() => return Ok(None),
            0 => return Err(libc::ENOSPC),
            _ => return Err(libc::EOPNOTSUPP),
        };
        if volume.is_read_only() {
            return Err(libc::EROFS);
        }
        let len = end.min(volume.size()).saturating_sub(offset);
        Ok(Some(self.part_of_range(source, offset, len, keep)))
    }

    /// Admits the first part of a range that becomes zero; `keep`: its room stays allocated. The others
    /// follow when it is settled.
    fn part_of_range(&self, source: Source, offset: u64, len: u64, keep: bool) -> Pending {
        /// What one operation of a device takes at most.
        const PART: u64 = 1 << 31;
        let volume = self.volume(source.node).expect("it was found before");
        let part = len.min(PART);
        let direction = if keep {
            Direction::Write
        } else {
            Direction::Trim
        };
        let ticket = volume.admit(direction, offset, part as u32);
        let own = if ticket.is_sound() {
            volume.zero(&ticket, offset, part, keep)
        } else {
            Ok(())
        };
        let rest = len - part;
        self.pending(source, ticket, Work::Zero { keep, rest }, own)
    }

    /// A request that was admitted. Its reply is due earlier by the time that threads took to wake.
    fn pending(
        &self,
        source: Source,
        ticket: Ticket,
        work: Work,
        own: Result<(), Failure>,
    ) -> Pending {
        Pending {
            source,
            ticket: ticket.sent_earlier(self.waking),
            work,
            own,
        }
    }

    /// Settles a request that is due at once, and schedules the others.
    fn admitted(&mut self, pending: Pending) {
        let Ticket { arrived, due, .. } = pending.ticket;
        if due <= arrived {
            self.settle(pending, due)
        } else {
            self.schedule.push(due, pending)
        }
    }

    /// Sends the replies that are due.
    fn send_due(&mut self) {
        if self.schedule.is_empty() {
            return;
        }
        let now = self.clock().now();
        let horizon = self.timers.plan().horizon(now);
        while let Some(pending) = self.schedule.pop(horizon) {
            self.settle(pending, now);
        }
    }

    /// The moments of all requests in flight may have changed.
    fn recompute_due(&mut self) {
        let now = self.clock().now();
        for mut pending in self.schedule.drain() {
            if let Ok(volume) = self.volume(pending.source.node) {
                pending.ticket.due = volume.due(&pending.ticket, now);
            }
            self.schedule.push(pending.ticket.due, pending);
        }
    }

    /// Sends the reply, unless a stall holds it.
    fn settle(&mut self, mut pending: Pending, now: Nanos) {
        let Pending { source, work, .. } = pending;
        let unique = source.unique;
        let volume = self.volume(source.node).expect("it was admitted there");
        let ticket = &mut pending.ticket;
        let (offset, len) = (ticket.io.offset, ticket.io.len);
        let out = self.reply.begin();
        if ticket.is_sound() && pending.own.is_ok() && matches!(work, Work::Read) {
            pending.own = volume.read(offset, len as usize, out);
        }
        match (volume.settle(ticket, now, pending.own), work) {
            (Settled::Later, _) => self.schedule.push(pending.ticket.due, pending),
            (Settled::Done(Err(failure)), _) => self.refuse(unique, error_number(failure)),
            (Settled::Done(Ok(())), Work::Zero { keep, rest }) if rest > 0 => {
                let next = self.part_of_range(source, offset + u64::from(len), rest, keep);
                self.schedule.push(next.ticket.due, next);
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

impl Drop for Session {
    fn drop(&mut self) {
        for pending in self.schedule.drain() {
            if let Ok(volume) = self.volume(pending.source.node) {
                volume.abandon(pending.ticket);
            }
        }
    }
}

/// A reply that the kernel does not take is one that nobody waits for any more: the program gave
/// up, or the mount is gone, which the next read reports.
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
