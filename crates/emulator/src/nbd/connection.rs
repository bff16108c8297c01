//! One connection: a thread that reads requests, waits for what is due, and writes replies.
//!
//! ```text
//!   socket ─▶ input ─▶ request ─▶ admit ──due now──▶ settle ─▶ outbox ─▶ socket
//!                                   └─due later─▶ schedule ──────▲
//! ```
//!
//! The same thread does all of it, so an operation that the model does not delay costs one `recv` and
//! one `send`, and several that came together share both.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use blocklab_device::Direction;
use blocklab_targets::precise_timers;
use blocklab_units::{Nanos, SECTOR};

use super::entry::handshake_on;
use super::handshake::Session;
use super::input::{Input, Received};
use super::limits::Limits;
use super::outbox::Outbox;
use super::service::Service;
use super::transmission::{Command, MOST_DROPPED, MOST_EXTENTS, REQUEST, Request, extents, plain};
use super::wire::Wire;
use crate::wait::{Interest, Ready, Timers, Waiter, wake_in_batches};
use crate::{Extent, Failure, Schedule, Settled, SleepPlan, Ticket, Volume};

/// Serves one client until it leaves. `entered` is called when it has chosen an export.
pub(super) fn serve(service: &Service, socket: &OwnedFd, entered: &dyn Fn()) -> io::Result<()> {
    let mut wire = Wire::new(socket.as_fd());
    let served = serve_wire(service, &mut wire, entered);
    wire.close();
    served
}

/// Does the handshake, and then serves the export that the client has chosen. `entered` is called in
/// between.
fn serve_wire(service: &Service, wire: &mut Wire<'_>, entered: &dyn Fn()) -> io::Result<()> {
    let mut input = Input::new();
    let mut outbox = Outbox::new();
    let shaken = handshake_on(service, wire, &mut input, &mut outbox, entered)?;
    let Some(session) = shaken else {
        return Ok(());
    };
    precise_timers();
    let volume = Arc::clone(&service.volumes[session.export]);
    // With a model, a reply that is due would wait for the client.
    if volume.model().is_none() {
        wake_in_batches();
    }
    let waiter = Waiter::new()?;
    volume.register(waiter.waker());
    let connection = Connection {
        wire,
        limits: service.limits,
        session,
        volume: &volume,
        input,
        outbox,
        body: None,
        schedule: Schedule::default(),
        timers: Timers::new(SleepPlan::new(service.spin.is_on()), &waiter)?,
        waiter,
        ends: false,
        waking: Nanos::ZERO,
    };
    connection.run()
}

/// A request that was admitted, with what its reply needs.
#[derive(Debug)]
struct Pending {
    ticket: Ticket,
    request: Request,
    command: Command,
    /// The outcome of its data transfer.
    own: Result<(), Failure>,
}

impl Pending {
    /// Whether nothing has failed so far.
    const fn is_sound(&self) -> bool {
        self.ticket.is_sound() && self.own.is_ok()
    }
}

/// The request whose data arrives.
#[derive(Debug)]
enum Receiver {
    Write(Pending),
    /// A request that was refused, by its cookie: its data is dropped.
    Refused(u64, Failure),
}

impl Receiver {
    /// How many of the bytes that have arrived can be used, where `left` belong to the request: of a write
    /// whole sectors, because a drive writes a sector as a whole, until its last byte is there.
    fn takes(&self, arrived: &[u8], left: u32) -> usize {
        let there = arrived.len().min(left as usize);
        match self {
            Self::Write(pending) if there < left as usize => {
                let end =
                    pending.request.offset + u64::from(pending.request.len - left) + there as u64;
                there.saturating_sub((end % SECTOR) as usize)
            }
            _ => there,
        }
    }
}

struct Connection<'a, 'w> {
    wire: &'a mut Wire<'w>,
    limits: Limits,
    session: Session,
    volume: &'a Volume,
    input: Input,
    outbox: Outbox,
    /// Whose data comes next, and how many bytes of it; `None`: a request comes next.
    body: Option<(Receiver, u32)>,
    schedule: Schedule<Pending>,
    timers: Timers,
    waiter: Waiter,
    /// The client sends nothing more.
    ends: bool,
    /// How long the request just read waits for threads to wake: for this one, and for its client's.
    waking: Nanos,
}

/// The stream cannot be parsed any further.
fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Connection<'_, '_> {
    /// Serves until the client has left and all its requests have their replies.
    fn run(mut self) -> io::Result<()> {
        loop {
            self.use_input()?;
            self.send_due();
            self.outbox.send(self.wire, self.volume)?;
            if self.ends && self.schedule.is_empty() && self.outbox.is_empty() {
                return Ok(());
            }
            if self.must_use_input() {
                continue;
            }
            self.wait()?;
        }
    }

    /// Whether another request may be accepted: requests in flight and unsent replies are bounded.
    fn has_room(&self) -> bool {
        self.outbox.has_room() && self.schedule.len() < self.limits.in_flight
    }

    /// Whether requests that arrived while there was no room can now be used.
    fn must_use_input(&self) -> bool {
        let whole = match &self.body {
            None => self.input.unused().len() >= REQUEST,
            Some((receiver, left)) => receiver.takes(self.input.unused(), *left) > 0,
        };
        whole && self.has_room() && !self.ends
    }

    /// Uses as much of the input as there is room for: requests, and the data of writes.
    fn use_input(&mut self) -> io::Result<()> {
        while self.has_room() && !self.ends {
            let used = match self.body.take() {
                None => self.use_request()?,
                Some((receiver, left)) => self.use_data(receiver, left),
            };
            if !used {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes the next request of the input. Returns whether there was a whole one.
    fn use_request(&mut self) -> io::Result<bool> {
        let Some(bytes) = self.input.unused().first_chunk::<REQUEST>() else {
            return Ok(false);
        };
        let request = Request::parse(bytes).map_err(|_| broken("no request"))?;
        if u64::from(request.data_len()) > MOST_DROPPED {
            return Err(broken("more data than any client sends"));
        }
        self.input.use_up(REQUEST);
        let (volume, session) = (self.volume, self.session);
        match request.check(session, volume.size(), volume.is_read_only()) {
            Ok(Command::Disconnect) => self.ends = true,
            Ok(command) => self.admit(command, request),
            // The data of a refused write follows all the same, and the next request is behind it.
            Err(failure) if request.data_len() > 0 => {
                let receiver = Receiver::Refused(request.cookie, failure);
                self.body = Some((receiver, request.data_len()));
            }
            Err(failure) => self.reply(request.cookie, Err(failure)),
        }
        Ok(true)
    }

    /// Asks the model about a request, changes the range that it trims or zeroes, and waits for the
    /// data of a write.
    fn admit(&mut self, command: Command, request: Request) {
        let Request { offset, len, .. } = request;
        let volume = self.volume;
        let ticket = match command {
            Command::Read | Command::Cache => volume.admit(Direction::Read, offset, len),
            // The device looks up where the range lies: one sector.
            Command::Status { .. } => volume.admit(Direction::Read, offset, len.min(512)),
            Command::Write { .. } | Command::Zero { keep: true, .. } => {
                volume.admit(Direction::Write, offset, len)
            }
            Command::Trim { .. } | Command::Zero { .. } => {
                volume.admit(Direction::Trim, offset, len)
            }
            Command::Flush | Command::Disconnect => volume.admit(Direction::Flush, 0, 0),
        };
        // A range is changed on arrival, as the data of a write is: until the reply, a reader may see
        // either content.
        let own = match command {
            Command::Trim { .. } if ticket.is_sound() => {
                volume.zero(&ticket, offset, len.into(), false)
            }
            Command::Zero { keep, .. } if ticket.is_sound() => {
                volume.zero(&ticket, offset, len.into(), keep)
            }
            _ => Ok(()),
        };
        let ticket = ticket.forced(command.is_forced());
        let pending = Pending {
            ticket: ticket.sent_earlier(self.waking),
            request,
            command,
            own,
        };
        match command {
            Command::Write { .. } => self.body = Some((Receiver::Write(pending), len)),
            _ => self.admitted(pending),
        }
    }

    /// Settles a request that is due at once, and schedules the others.
    fn admitted(&mut self, pending: Pending) {
        let Ticket { arrived, due, .. } = pending.ticket;
        if due <= arrived && self.outbox.has_room() {
            self.settle(pending, due)
        } else {
            self.schedule.push(due, pending)
        }
    }

    /// Data of a write goes to the volume as its sectors arrive: a long one needs no buffer of its own, and
    /// one that a client does not finish leaves whole sectors, as a drive does.
    fn use_data(&mut self, mut receiver: Receiver, left: u32) -> bool {
        let data = self.input.unused();
        let data = &data[..receiver.takes(data, left)];
        let used = data.len() as u32;
        if used == 0 && left > 0 {
            self.body = Some((receiver, left));
            return false;
        }
        if let Receiver::Write(pending) = &mut receiver
            && pending.is_sound()
        {
            let at = pending.request.offset + u64::from(pending.request.len - left);
            pending.own = self.volume.write(&pending.ticket, at, data);
        }
        self.input.use_up(used as usize);
        match (left - used, receiver) {
            (0, Receiver::Write(pending)) => self.admitted(pending),
            (0, Receiver::Refused(cookie, failure)) => self.reply(cookie, Err(failure)),
            (left, receiver) => self.body = Some((receiver, left)),
        }
        true
    }

    /// Sends the replies that are due.
    fn send_due(&mut self) {
        if self.schedule.is_empty() {
            return;
        }
        let now = self.volume.clock().now();
        let horizon = self.timers.plan().horizon(now);
        while self.outbox.has_room() {
            match self.schedule.pop(horizon) {
                Some(pending) => self.settle(pending, now),
                None => return,
            }
        }
    }

    /// Sends the reply, unless a stall holds it.
    fn settle(&mut self, mut pending: Pending, now: Nanos) {
        let (request, command) = (pending.request, pending.command);
        // The reply is made first, because reading its data may fail; it is taken back where the request
        // fails or is held.
        let begin = self.outbox.bytes().len();
        if pending.is_sound() {
            match command {
                Command::Read => {
                    let structured = self.session.structured;
                    pending.own = self.outbox.read(self.volume, structured, request);
                }
                Command::Status { one } => self.report_extents(request, one),
                _ => {}
            }
        }
        match self.volume.settle(&mut pending.ticket, now, pending.own) {
            Settled::Later => {
                self.outbox.take_back(begin);
                self.schedule.push(pending.ticket.due, pending);
            }
            Settled::Done(Err(failure)) => {
                self.outbox.take_back(begin);
                self.reply(request.cookie, Err(failure));
            }
            Settled::Done(Ok(())) => match command {
                Command::Read | Command::Status { .. } => {}
                _ => self.reply(request.cookie, Ok(())),
            },
        }
    }

    fn reply(&mut self, cookie: u64, result: Result<(), Failure>) {
        plain(self.outbox.bytes(), self.session.structured, cookie, result);
    }

    /// Appends the reply to a request for extents, or for the first extent only (`one`).
    fn report_extents(&mut self, request: Request, one: bool) {
        let Request { offset, len, .. } = request;
        let most = if one { 1 } else { MOST_EXTENTS };
        let end = offset + u64::from(len);
        let mut found: Vec<Extent> = Vec::new();
        let mut at = offset;
        while at < end && found.len() < most {
            let extent = self.volume.extent(at, end - at);
            found.push(extent);
            at += extent.len;
        }
        extents(self.outbox.bytes(), request.cookie, &found);
    }

    /// Waits until bytes arrive, can be sent, or a reply is due.
    fn wait(&mut self) -> io::Result<()> {
        let is_within = self.body.is_some() || !self.input.is_empty();
        let may_read = self.has_room() && !self.ends;
        // Bytes that TLS has deciphered already do not make the socket readable.
        if may_read && self.wire.holds_some() {
            return self.receive(false);
        }
        // With nothing to do but read, one blocking call does what otherwise takes two.
        if self.schedule.is_empty() && self.outbox.is_empty() && !is_within && may_read {
            return self.receive(true);
        }
        let interest = Interest {
            read: may_read,
            write: !self.outbox.is_empty(),
        };
        let socket = self.wire.socket();
        let now = self.volume.clock().now();
        // While the outbox is full, replies wait for the client to read.
        let due = self.schedule.next().filter(|_| self.outbox.has_room());
        let ready = match due {
            Some(due) if due <= self.timers.plan().horizon(now) => return Ok(()),
            Some(_) if self.timers.set(now, self.schedule.next_two())? => {
                let ready = self.waiter.wait(socket, interest, None)?;
                if ready.due {
                    self.timers.ended(self.volume.clock().now());
                }
                ready
            }
            // It is due too soon for a sleep.
            Some(_) => {
                std::hint::spin_loop();
                return Ok(());
            }
            None => {
                // A client may be idle for ever, but not in the midst of a request or a reply.
                let stalled = (is_within && may_read) || interest.write;
                let limit = stalled.then(|| self.limits.within_request.into());
                let ready = self.waiter.wait(socket, interest, limit)?;
                if ready.timed_out {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                ready
            }
        };
        self.after_wait(ready)
    }

    /// Does what the end of a wait calls for: new due times, or bytes to receive.
    fn after_wait(&mut self, ready: Ready) -> io::Result<()> {
        if ready.woken {
            self.recompute_due();
        }
        if ready.read {
            self.receive(false)
        } else {
            Ok(())
        }
    }

    /// The moments of all requests in flight may have changed.
    fn recompute_due(&mut self) {
        let now = self.volume.clock().now();
        for mut pending in self.schedule.drain() {
            pending.ticket.due = self.volume.due(&pending.ticket, now);
            self.schedule.push(pending.ticket.due, pending);
        }
    }

    /// With nothing in flight it waits. Otherwise a sleep was for another request, and how long this
    /// one has waited is not known.
    fn receive(&mut self, wait: bool) -> io::Result<()> {
        let clock = self.volume.clock();
        let began = clock.now();
        let received = self.input.receive(self.wire, wait)?;
        let waited = clock.now().since(began);
        self.waking = if wait {
            self.timers.plan().wake_ups(waited)
        } else {
            Nanos::ZERO
        };
        if received == Received::End {
            self.ends = true;
        }
        Ok(())
    }
}

impl Drop for Connection<'_, '_> {
    fn drop(&mut self) {
        if let Some((Receiver::Write(pending), _)) = self.body.take() {
            self.volume.abandon(pending.ticket);
        }
        for pending in self.schedule.drain() {
            self.volume.abandon(pending.ticket);
        }
    }
}
