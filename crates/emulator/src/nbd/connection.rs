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

use blocklab_device::Direction;
use blocklab_targets::precise_timers;
use blocklab_units::{Nanos, SECTOR};

use super::entry::handshake_on;
use super::handshake::Session;
use super::input::{Input, Received};
use super::limits::Limits;
use super::outbox::Outbox;
use super::service::Service;
use super::transmission::{
    Command, MOST_DROPPED, MOST_EXTENTS, REQUEST, Request, put_extents, put_reply,
};
use super::wire::Wire;
use crate::wait::{Interest, wake_in_batches};
use crate::{Extent, Failure, InFlight, Settled, Volume};

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
    let volume = &service.volumes[session.export];
    // With a model, a reply that is due would wait for the client.
    if volume.model().is_none() {
        wake_in_batches();
    }
    let connection = Connection {
        wire,
        limits: service.limits,
        session,
        volume,
        input,
        outbox,
        body: None,
        in_flight: InFlight::new([volume], service.spin)?,
        ends: false,
    };
    connection.run()
}

type Work = (Request, Command);
type Pending<'a> = crate::Pending<&'a Volume, Work>;

/// The request whose data arrives.
#[derive(Debug)]
enum Receiver<'a> {
    Write(Pending<'a>),
    /// A request that was refused, by its cookie: its data is dropped.
    Refused(u64, Failure),
}

impl Receiver<'_> {
    /// How many of the bytes that have arrived can be used, where `left` belong to the request: of a write
    /// whole sectors, because a drive writes a sector as a whole, until its last byte is there.
    fn takes(&self, arrived: &[u8], left: u32) -> usize {
        let there = arrived.len().min(left as usize);
        match self {
            Self::Write(pending) if there < left as usize => {
                let Request { offset, len, .. } = pending.work.0;
                let end = offset + u64::from(len - left) + there as u64;
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
    body: Option<(Receiver<'a>, u32)>,
    in_flight: InFlight<&'a Volume, Work>,
    /// The client sends nothing more.
    ends: bool,
}

/// The stream cannot be parsed any further.
fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<'a> Connection<'a, '_> {
    /// Serves until the client has left and all its requests have their replies.
    fn run(mut self) -> io::Result<()> {
        loop {
            self.use_input()?;
            self.send_due();
            self.outbox.send(self.wire, self.volume)?;
            if self.ends && self.in_flight.is_empty() && self.outbox.is_empty() {
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
        self.outbox.has_room() && self.in_flight.len() < self.limits.in_flight
    }

    /// Whether requests that arrived while there was no room can now be used.
    fn must_use_input(&self) -> bool {
        let is_usable = match &self.body {
            None => self.input.unused().len() >= REQUEST,
            Some((receiver, left)) => receiver.takes(self.input.unused(), *left) > 0,
        };
        is_usable && self.has_room() && !self.ends
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
            Command::Status { .. } => volume.admit(Direction::Read, offset, len.min(SECTOR as u32)),
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
            Command::Trim { .. } => volume.zero(&ticket, offset, len.into(), false),
            Command::Zero { keep, .. } => volume.zero(&ticket, offset, len.into(), keep),
            _ => Ok(()),
        };
        let ticket = ticket.forced(command.is_forced());
        let work = (request, command);
        let pending = self.in_flight.pending(volume, ticket, own, work);
        match command {
            Command::Write { .. } => self.body = Some((Receiver::Write(pending), len)),
            _ => self.admitted(pending),
        }
    }

    /// Settles a request that is due at once, and holds the others.
    fn admitted(&mut self, pending: Pending<'a>) {
        let due = pending.ticket.due;
        if due <= pending.ticket.arrived && self.outbox.has_room() {
            self.settle(pending, due)
        } else {
            self.in_flight.hold(pending)
        }
    }

    /// Data of a write goes to the volume as its sectors arrive: a long one needs no buffer of its own, and
    /// one that a client does not finish leaves whole sectors, as a drive does.
    fn use_data(&mut self, mut receiver: Receiver<'a>, left: u32) -> bool {
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
            let Request { offset, len, .. } = pending.work.0;
            let at = offset + u64::from(len - left);
            pending.own = self.volume.write(&pending.ticket, at, data);
        }
        self.input.use_up(used as usize);
        match (left - used, receiver) {
            (0, Receiver::Write(mut pending)) => {
                // A stall may have ended while the data arrived.
                if pending.ticket.is_stalled() {
                    pending.ticket.due = self.volume.due(&pending.ticket, self.in_flight.now());
                }
                self.admitted(pending);
            }
            (0, Receiver::Refused(cookie, failure)) => self.reply(cookie, Err(failure)),
            (left, receiver) => self.body = Some((receiver, left)),
        }
        true
    }

    /// Sends the replies that are due.
    fn send_due(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        let now = self.in_flight.now();
        while self.outbox.has_room() {
            match self.in_flight.next_due(now) {
                Some(pending) => self.settle(pending, now),
                None => return,
            }
        }
    }

    /// Sends the reply, unless a stall holds it.
    fn settle(&mut self, mut pending: Pending<'a>, now: Nanos) {
        let (request, command) = pending.work;
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
        match pending.settle(now) {
            Settled::Later => {
                self.outbox.take_back(begin);
                self.in_flight.hold(pending);
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
        put_reply(self.outbox.bytes(), self.session.structured, cookie, result);
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
        put_extents(self.outbox.bytes(), request.cookie, &found);
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
        if self.in_flight.is_empty() && self.outbox.is_empty() && !is_within && may_read {
            return self.receive(true);
        }
        let interest = Interest {
            read: may_read,
            write: !self.outbox.is_empty(),
        };
        let socket = self.wire.socket();
        // While the outbox is full, replies wait for the client to read.
        let ready = if !self.in_flight.is_empty() && self.outbox.has_room() {
            match self.in_flight.sleep(socket, interest)? {
                Some(ready) => ready,
                None => return Ok(()),
            }
        } else {
            // A client may be idle for ever, but not in the midst of a request or a reply.
            let stalled = (is_within && may_read) || interest.write;
            let limit = stalled.then(|| self.limits.within_request.into());
            let ready = self.in_flight.wait(socket, interest, limit)?;
            if ready.timed_out {
                return Err(io::ErrorKind::TimedOut.into());
            }
            ready
        };
        if ready.read {
            self.receive(false)?;
        }
        Ok(())
    }

    /// Takes the bytes that have arrived; `wait`: nothing is in flight, and it waits for some.
    fn receive(&mut self, wait: bool) -> io::Result<()> {
        let (input, wire) = (&mut self.input, &mut *self.wire);
        let received = self.in_flight.read(wait, || input.receive(wire, wait))?;
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
    }
}
