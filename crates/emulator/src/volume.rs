//! One volume that is served: the model's answer to each request, its bytes, and what was done to
//! it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, Weak};

use blocklab_device::{Direction, Io};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};

use crate::backing::Backing;
use crate::durability::Loss;
use crate::faults::{Fault, Faults};
use crate::observed::{Done, Observed};
use crate::stripes::Stripes;
use crate::{Bell, Failure, Instance};

/// What a volume is made of.
#[derive(Debug)]
pub struct VolumeSetup {
    /// By which clients and people call it.
    pub name: String,
    /// What clients see: at most the size of the model's volume.
    pub size: Bytes,
    /// Writes fail.
    pub read_only: bool,
    /// Where its bytes are.
    pub backing: Backing,
    /// The model, and which of its volumes this is; `None`: everything is done at once.
    pub model: Option<(Arc<Instance>, usize)>,
    /// The clock where there is no model.
    pub clock: Clock,
}

/// A request that was admitted. Each ends in [`Volume::settle`] or [`Volume::abandon`].
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    /// What was asked for.
    pub io: Io,
    /// When it came.
    pub arrived: Nanos,
    /// When it is done.
    pub due: Nanos,
    /// When it would be done without a stall.
    planned: Nanos,
    result: Result<(), Failure>,
    /// Of a flush: what it covers.
    mark: Option<u64>,
    /// It is durable when it is done.
    forced: bool,
    /// How often the volume had been taken away when it came.
    absences: u64,
    follows: bool,
    among: u32,
}

impl Ticket {
    /// Whether it will succeed, as far as the model goes: a write that fails changes nothing.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.result.is_ok()
    }

    /// A write, trim or zeroing that is durable when it is done.
    pub const fn forced(mut self, forced: bool) -> Self {
        self.forced = forced;
        self
    }

    /// It was on its way for so long before anybody looked: the model's answer holds from then.
    pub fn sent_earlier(mut self, by: Nanos) -> Self {
        let by = by.min(self.due.since(self.arrived)).min(self.arrived);
        self.arrived = self.arrived - by;
        self.due = self.due - by;
        self.planned = self.planned.min(self.due);
        self
    }
}

/// What has become of a request when it was due.
#[derive(Debug)]
pub enum Settled {
    /// It is done, or has failed.
    Done(Result<(), Failure>),
    /// Not yet: it is due later.
    Later(Nanos, Ticket),
}

/// A volume's part of the model.
#[derive(Debug)]
struct Part {
    instance: Arc<Instance>,
    index: usize,
    /// Where the volume begins on the device.
    base: u64,
}

/// A volume at work. Everything here may be called from any thread.
#[derive(Debug)]
pub struct Volume {
    name: String,
    size: u64,
    read_only: bool,
    model: Option<Part>,
    clock: Clock,
    bytes: Stripes,
    backing: Backing,
    in_flight: AtomicU32,
    last_end: AtomicU64,
    observed: Mutex<Observed>,
    faults: Mutex<Faults>,
    /// Whether there are faults.
    is_troubled: AtomicBool,
    is_gone: AtomicBool,
    /// How often it was taken away: what came before the last time is never done.
    absences: AtomicU64,
    /// Held for reading while bytes change or become durable, for writing while the power goes.
    power: RwLock<()>,
    bells: Mutex<Vec<Weak<Bell>>>,
}

impl Volume {
    /// # Panics
    /// When the model has no such volume, or a smaller one: the caller looked.
    #[must_use]
    pub fn new(setup: VolumeSetup) -> Arc<Self> {
        let size = setup.size.0;
        let model = setup.model.map(|(instance, index)| {
            let (base, len) = instance.span(index).expect("the model has this volume");
            assert!(size <= len.0, "the model's volume is smaller");
            Part {
                instance,
                index,
                base,
            }
        });
        Arc::new(Self {
            name: setup.name,
            size,
            read_only: setup.read_only,
            clock: model
                .as_ref()
                .map_or(setup.clock, |part| part.instance.clock()),
            model,
            bytes: Stripes::new(&setup.backing, size),
            backing: setup.backing,
            in_flight: AtomicU32::new(0),
            last_end: AtomicU64::new(u64::MAX),
            observed: Mutex::new(Observed::default()),
            faults: Mutex::default(),
            is_troubled: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            absences: AtomicU64::new(0),
            power: RwLock::new(()),
            bells: Mutex::new(Vec::new()),
        })
    }

    /// By which clients and people call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Whether writes fail.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The model, and which of its volumes this is.
    #[must_use]
    pub fn model(&self) -> Option<(&Instance, usize)> {
        let part = self.model.as_ref()?;
        Some((&part.instance, part.index))
    }

    /// The clock of tickets.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether a range lies within the volume.
    #[must_use]
    pub fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.size)
    }

    /// A request arrives now. Reads, writes and trims must lie within the volume; a flush has no
    /// length.
    #[inline]
    pub fn admit(&self, direction: Direction, offset: u64, len: u32) -> Ticket {
        debug_assert!(self.holds(offset, len.into()), "the front end looked");
        let io = Io {
            direction,
            offset,
            len,
        };
        let mark = matches!(direction, Direction::Flush).then(|| self.bytes.flush_arrives());
        let end = offset + u64::from(len);
        let follows = self.last_end.swap(end, Ordering::Relaxed) == offset;
        let among = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let absences = self.absences.load(Ordering::Acquire);
        let (arrived, due, result) = self.ask(io);
        let mut ticket = Ticket {
            io,
            arrived,
            due,
            planned: due,
            result,
            mark,
            forced: false,
            absences,
            follows,
            among,
        };
        if self.is_troubled.load(Ordering::Acquire) {
            self.befall(&mut ticket);
        }
        ticket
    }

    /// What the model says.
    #[inline]
    fn ask(&self, io: Io) -> (Nanos, Nanos, Result<(), Failure>) {
        if self.is_gone.load(Ordering::Acquire) {
            let now = self.clock.now();
            return (now, now, Err(Failure::Gone));
        }
        match &self.model {
            None => {
                let now = self.clock.now();
                (now, now, Ok(()))
            }
            Some(part) => {
                let offset = part.base + io.offset;
                let (now, answer) = part.instance.admit(part.index, Io { offset, ..io });
                (now, answer.at, answer.result.map_err(Failure::from))
            }
        }
    }

    #[cold]
    fn befall(&self, ticket: &mut Ticket) {
        let mut faults = self.faults();
        let befallen = faults.befall(ticket.arrived, ticket.io);
        if let (Some(failure), Ok(())) = (befallen.failure, ticket.result) {
            ticket.result = Err(failure);
        }
        ticket.planned = ticket.planned.saturating_add(befallen.added);
        let stalled = faults.stalled_until(ticket.arrived);
        ticket.due = ticket.planned.max(stalled.unwrap_or(Nanos::ZERO));
        if !faults.forget_past(ticket.arrived) {
            self.is_troubled.store(false, Ordering::Release);
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().expect("no panic under this lock")
    }

    /// Whether a request that was admitted may still change something or be done.
    #[inline]
    fn still_holds(&self, ticket: &Ticket) -> bool {
        ticket.absences == self.absences.load(Ordering::Acquire)
    }

    /// The power stays on as long as this is held.
    fn powered(&self) -> RwLockReadGuard<'_, ()> {
        self.power.read().expect("no panic under this lock")
    }

    /// A request is due: what has become of it. `own` is what became of its bytes. A reply that is
    /// given is counted.
    #[inline]
    pub fn settle(&self, mut ticket: Ticket, now: Nanos, own: Result<(), Failure>) -> Settled {
        if self.is_troubled.load(Ordering::Acquire) && self.still_holds(&ticket) {
            let stalled = self.faults().stalled_until(now);
            if let Some(until) = stalled.filter(|until| *until > now) {
                ticket.due = until;
                return Settled::Later(until, ticket);
            }
        }
        let result = ticket.result.and(own).and_then(|()| self.finish(&ticket));
        self.count(&ticket, now, result);
        Settled::Done(result)
    }

    /// Makes durable what is to be, unless the volume was taken away since the request came.
    #[inline]
    fn finish(&self, ticket: &Ticket) -> Result<(), Failure> {
        let durable = ticket.mark.is_some() || ticket.forced;
        // A power cut between this look and the durability would break the promise.
        let power = durable.then(|| self.powered());
        if !self.still_holds(ticket) {
            return Err(Failure::Gone);
        }
        if let Some(mark) = ticket.mark {
            self.bytes.flushed(mark);
        }
        if ticket.forced {
            self.bytes.persist(ticket.io.offset, ticket.io.len.into());
        }
        drop(power);
        Ok(())
    }

    /// After [`Volume::ring`]: when a request that is in flight is due now.
    #[must_use]
    pub fn due(&self, ticket: &Ticket, now: Nanos) -> Nanos {
        if !self.still_holds(ticket) {
            return now;
        }
        match self.faults().stalled_until(now) {
            Some(until) => ticket.planned.max(until),
            // What a stall held back and would be done long ago is done now, and not late.
            None if ticket.due > ticket.planned => ticket.planned.max(now),
            None => ticket.planned,
        }
    }

    /// Nobody waits for the reply any more.
    pub fn abandon(&self, _: Ticket) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    fn count(&self, ticket: &Ticket, at: Nanos, result: Result<(), Failure>) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.observing().record(Done {
            direction: ticket.io.direction,
            len: ticket.io.len,
            arrived: ticket.arrived,
            due: ticket.due,
            at,
            failure: result.err(),
            offset: ticket.io.offset,
            follows: ticket.follows,
            among: ticket.among,
        });
    }

    fn observing(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().expect("no panic under this lock")
    }

    /// What was done so far.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.observing().clone()
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Appends the bytes of a read that is due.
    ///
    /// # Errors
    /// When the backing cannot give them; a part may have been appended.
    #[inline]
    pub fn read(&self, offset: u64, len: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(self.bytes.read(offset, len as u64, into)?)
    }

    /// Bytes of a write, when they arrive: a power cut until it is flushed may take them.
    ///
    /// # Errors
    /// When there is no room, the backing cannot take them, or the volume was taken away since the
    /// request came; a part may have been written.
    #[inline]
    pub fn write(&self, ticket: &Ticket, offset: u64, from: &[u8]) -> Result<(), Failure> {
        let _power = self.may_change(ticket)?;
        Ok(self.bytes.write(offset, from)?)
    }

    /// Makes a range zero; with `keep` it goes on using its room.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn zero(&self, ticket: &Ticket, offset: u64, len: u64, keep: bool) -> Result<(), Failure> {
        let _power = self.may_change(ticket)?;
        match keep {
            true => Ok(self.bytes.zero(offset, len)?),
            false => Ok(self.bytes.free(offset, len)?),
        }
    }

    fn may_change(&self, ticket: &Ticket) -> Result<RwLockReadGuard<'_, ()>, Failure> {
        let power = self.powered();
        match (self.read_only, self.still_holds(ticket)) {
            (true, _) => Err(Failure::ReadOnly),
            (false, false) => Err(Failure::Gone),
            (false, true) => Ok(power),
        }
    }

    /// Whether nothing was ever written at an offset (or it was trimmed), and for how many bytes
    /// that holds, at most `len`.
    #[must_use]
    pub fn extent(&self, offset: u64, len: u64) -> (bool, u64) {
        self.bytes.extent(offset, len)
    }

    /// The power goes: what nobody flushed is lost, or torn by the seed, and the volume is gone
    /// until it is attached. Gives how many pages of 4 KiB came back otherwise than they were.
    ///
    /// # Errors
    /// When the backing cannot be written to.
    pub fn cut_power(&self, loss: Loss, seed: u64) -> Result<u64, Failure> {
        let lost = self.take_away(|| self.bytes.cut(loss, seed))?;
        Ok(lost)
    }

    /// It is gone until it is attached: what is in flight and what comes fails. What was written
    /// stays.
    pub fn detach(&self) {
        self.take_away(|| ());
    }

    /// It is gone until it is attached, and comes back empty, as the local disk of an instance that
    /// was stopped.
    ///
    /// # Errors
    /// When the backing cannot be emptied.
    pub fn wipe(&self) -> Result<(), Failure> {
        Ok(self.take_away(|| self.bytes.wipe(&self.backing))?)
    }

    fn take_away<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        let power = self.power.write().expect("no panic under this lock");
        self.is_gone.store(true, Ordering::Release);
        self.absences.fetch_add(1, Ordering::AcqRel);
        let done = meanwhile();
        drop(power);
        self.ring();
        done
    }

    /// It is back.
    pub fn attach(&self) {
        self.is_gone.store(false, Ordering::Release);
    }

    /// Whether it is there.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        !self.is_gone.load(Ordering::Acquire)
    }

    /// From now on a fault befalls it.
    pub fn inject(&self, fault: Fault, seed: u64) {
        self.faults().add(fault, seed);
        self.is_troubled.store(true, Ordering::Release);
        self.ring();
    }

    /// Ends one fault, or all of them (`None`).
    pub fn clear(&self, number: Option<u64>) {
        let mut faults = self.faults();
        faults.clear(number);
        self.is_troubled
            .store(!faults.is_empty(), Ordering::Release);
        drop(faults);
        self.ring();
    }

    /// The faults that last or are still to come, and how many operations each has hit.
    #[must_use]
    pub fn faults_now(&self) -> Vec<(Fault, u64)> {
        let mut faults = self.faults();
        faults.forget_past(self.clock.now());
        faults.list()
    }

    /// How many operations a fault has hit, also one that is over.
    #[must_use]
    pub fn hits(&self, fault: u64) -> u64 {
        self.faults().hits(fault)
    }

    /// Changes so many bits that were written within a range, chosen by the seed: gives their
    /// bytes' offsets. None, where nothing was written.
    ///
    /// # Errors
    /// When the backing cannot take them.
    pub fn flip_bits(&self, count: u64, range: (u64, u64), seed: u64) -> Result<Vec<u64>, Failure> {
        let _power = self.powered();
        Ok(self.bytes.flip(count, range, seed)?)
    }

    /// The backing file reaches its own disk.
    ///
    /// # Errors
    /// When it cannot.
    pub fn sync(&self) -> std::io::Result<()> {
        match (&self.backing, self.read_only) {
            (Backing::File(file), false) => file.sync_all(),
            _ => Ok(()),
        }
    }

    /// A thread with requests in flight wants to be woken when [`Volume::ring`] says that they may
    /// be due otherwise than they were.
    pub fn wakes(&self, bell: &Arc<Bell>) {
        let mut bells = self.bells.lock().expect("no panic under this lock");
        bells.retain(|known| known.strong_count() > 0);
        bells.push(Arc::downgrade(bell));
    }

    /// Wakes all threads with requests in flight.
    pub fn ring(&self) {
        let bells = self.bells.lock().expect("no panic under this lock");
        for bell in bells.iter().filter_map(Weak::upgrade) {
            bell.ring();
        }
    }
}
