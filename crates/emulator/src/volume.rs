//! One served volume: the model's answer to each request, the bytes, the faults, and the counters.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, Weak};

use blocklab_device::{Answer, Direction, Io};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};

use crate::backing::{Backing, Extent};
use crate::durability::Loss;
use crate::faults::{Fault, Faults};
use crate::observed::{Done, Observed};
use crate::stripes::Stripes;
use crate::{Failure, Instance, Waker};

/// The parts from which a volume is made.
#[derive(Debug)]
pub struct VolumeSetup {
    /// The name of the export and of its measurement.
    pub name: String,
    /// The size that clients see: at most that of the model's volume.
    pub size: Bytes,
    /// All writes fail.
    pub read_only: bool,
    /// Where its bytes are kept.
    pub backing: Backing,
    /// The model, and which of its volumes this is; `None`: requests complete at once.
    pub model: Option<(Arc<Instance>, usize)>,
    /// The clock where there is no model.
    pub clock: Clock,
}

/// A request that was admitted. Each is settled ([`Volume::settle`]) or abandoned
/// ([`Volume::abandon`]).
#[derive(Debug)]
#[must_use]
pub(crate) struct Ticket {
    /// The operation.
    pub io: Io,
    /// When it arrived.
    pub arrived: Nanos,
    /// When it completes.
    pub due: Nanos,
    /// When it would complete without a stall.
    planned: Nanos,
    /// The answer of the model and of the injected faults.
    result: Result<(), Failure>,
    /// For a flush, the generation of writes that it covers.
    mark: Option<u64>,
    /// Its data is durable on completion.
    forced: bool,
    /// How often the volume had been removed when it arrived; `None`: the volume was away.
    removals: Option<u64>,
    /// It began where the request before it ended.
    follows: bool,
    /// How many others were in flight when it arrived.
    others: u32,
}

impl Ticket {
    /// Whether neither the model nor a fault fails it.
    pub(crate) const fn is_sound(&self) -> bool {
        self.result.is_ok()
    }

    /// Whether it is due at the end of a stall.
    pub(crate) fn is_stalled(&self) -> bool {
        self.due > self.planned
    }

    /// Makes a write, trim or zeroing durable on completion.
    pub(crate) const fn forced(mut self, forced: bool) -> Self {
        self.forced = forced;
        self
    }

    /// The client sent the request this much earlier than the server read it, and the model's answer
    /// counts from then.
    pub(crate) fn sent_earlier(mut self, by: Nanos) -> Self {
        // At most the whole latency: no reply is due before the request was read.
        let by = by.min(self.planned.since(self.arrived)).min(self.arrived);
        if !self.is_stalled() {
            self.due = self.due - by;
        }
        self.planned = self.planned - by;
        self.arrived = self.arrived - by;
        self
    }
}

/// The outcome of a request at its moment.
#[derive(Debug)]
pub(crate) enum Settled {
    /// It has completed, or failed.
    Done(Result<(), Failure>),
    /// A stall holds it: it is due at a later moment.
    Later,
}

/// A volume's part of the model.
#[derive(Debug)]
struct Part {
    instance: Arc<Instance>,
    index: usize,
    /// Where the volume begins on the device.
    base: u64,
}

impl Part {
    /// The moment at which a request arrives, and the model's answer.
    #[inline]
    fn admit(&self, io: Io) -> (Nanos, Answer) {
        // Without bytes, the end of this volume would be the beginning of the next one.
        let within = if io.len == 0 { 0 } else { io.offset };
        let offset = self.base + within;
        self.instance.admit(self.index, Io { offset, ..io })
    }
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
    /// Where the last request ended; relaxed, as it only decides what counts as sequential.
    last_end: AtomicU64,
    observed: Mutex<Observed>,
    faults: Mutex<Faults>,
    /// Whether there are faults, so that requests need the lock only then. Stored after the fault is in
    /// the list (release), so a thread that reads it (acquire) finds the fault there.
    has_faults: AtomicBool,
    is_detached: AtomicBool,
    /// How often it was removed: requests from before the last removal fail.
    removals: AtomicU64,
    /// Held for reading while bytes change or become durable, for writing during a power cut.
    power: RwLock<()>,
    /// Of the threads that have requests in flight.
    wakers: Mutex<Vec<Weak<Waker>>>,
}

impl Volume {
    /// # Panics
    /// If the model has no such volume, or a smaller one: the caller has checked that.
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
            has_faults: AtomicBool::new(false),
            is_detached: AtomicBool::new(false),
            removals: AtomicU64::new(0),
            power: RwLock::new(()),
            wakers: Mutex::new(Vec::new()),
        })
    }

    /// The name of the export and of its measurement.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Whether writes fail.
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The model, and which of its volumes this is; `None`: requests complete at once.
    pub(crate) fn model(&self) -> Option<(&Instance, usize)> {
        let part = self.model.as_ref()?;
        Some((&part.instance, part.index))
    }

    /// The clock of tickets.
    pub(crate) const fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether a range lies within the volume.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.size)
    }

    /// A request arrives now. Reads, writes and trims must lie within the volume; a flush has no
    /// length.
    #[inline]
    pub(crate) fn admit(&self, direction: Direction, offset: u64, len: u32) -> Ticket {
        debug_assert!(
            self.holds(offset, len.into()),
            "a front end refuses what lies beyond its volume"
        );
        let io = Io {
            direction,
            offset,
            len,
        };
        // Noted before the model decides: what is written or removed meanwhile comes after this request.
        let mark = matches!(direction, Direction::Flush).then(|| self.bytes.flush_arrives());
        let end = offset + u64::from(len);
        let follows = !matches!(direction, Direction::Flush)
            && self.last_end.swap(end, Ordering::Relaxed) == offset;
        let others = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let removals = self.removals.load(Ordering::Acquire);
        let removals = self.is_attached().then_some(removals);
        let (arrived, answer) = match (removals, &self.model) {
            (Some(_), Some(part)) => part.admit(io),
            (Some(_), None) => self.at_once(Ok(())),
            (None, _) => self.at_once(Err(blocklab_device::Fault::Detached)),
        };
        let mut ticket = Ticket {
            io,
            arrived,
            due: answer.at,
            planned: answer.at,
            result: answer.result.map_err(Failure::from),
            mark,
            forced: false,
            removals,
            follows,
            others,
        };
        if removals.is_some() && self.has_faults.load(Ordering::Acquire) {
            self.apply_faults(&mut ticket);
        }
        ticket
    }

    /// An answer that takes no time, with the present moment.
    fn at_once(&self, result: Result<(), blocklab_device::Fault>) -> (Nanos, Answer) {
        let at = self.clock.now();
        (at, Answer { at, result })
    }

    /// Draws which faults hit a request that arrives, and delays or fails it.
    #[cold]
    fn apply_faults(&self, ticket: &mut Ticket) {
        let mut faults = self.faults();
        let effect = faults.hit(ticket.arrived, ticket.io);
        if let (Some(failure), Ok(())) = (effect.failure, ticket.result) {
            ticket.result = Err(failure);
        }
        ticket.planned = ticket.planned.saturating_add(effect.added);
        let stalled = faults.stalled_until(ticket.arrived);
        ticket.due = ticket.planned.max(stalled.unwrap_or(Nanos::ZERO));
        if !faults.forget_past(ticket.arrived) {
            self.has_faults.store(false, Ordering::Release);
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().expect("no panic under this lock")
    }

    /// Whether the volume was there when the request arrived, and was never removed since.
    #[inline]
    fn is_current(&self, ticket: &Ticket) -> bool {
        ticket.removals == Some(self.removals.load(Ordering::Acquire))
    }

    /// While this is held, no power cut happens.
    fn powered(&self) -> RwLockReadGuard<'_, ()> {
        self.power.read().expect("no panic under this lock")
    }

    /// A request is due: its outcome, which is counted. `own` is the outcome of its data transfer.
    #[inline]
    pub(crate) fn settle(
        &self,
        ticket: &mut Ticket,
        now: Nanos,
        own: Result<(), Failure>,
    ) -> Settled {
        // A request of a removed volume fails at once, even during a stall.
        if self.has_faults.load(Ordering::Acquire) && self.is_current(ticket) {
            let held = self.faults().hold(ticket.arrived, ticket.due, now);
            if let Some(until) = held {
                ticket.due = until;
                return Settled::Later;
            }
        }
        let result = ticket.result.and(own).and_then(|()| self.finish(ticket));
        self.count(ticket, now, result);
        Settled::Done(result)
    }

    /// Makes flushed and forced data durable, unless the volume was removed since the request arrived.
    #[inline]
    fn finish(&self, ticket: &Ticket) -> Result<(), Failure> {
        let durable = ticket.mark.is_some() || ticket.forced;
        // A power cut between this check and the durability would break the promise.
        let power = durable.then(|| self.powered());
        if !self.is_current(ticket) {
            return Err(Failure::Detached);
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

    /// The moment of a request in flight, after [`Volume::wake_all`] may have changed it.
    pub(crate) fn due(&self, ticket: &Ticket, now: Nanos) -> Nanos {
        if !self.is_current(ticket) {
            return now;
        }
        match self.faults().hold(ticket.arrived, ticket.due, now) {
            Some(until) => ticket.planned.max(until),
            // A stall that ended early held it back: it completes now, and does not count as late.
            None if ticket.is_stalled() => ticket.planned.max(now),
            None => ticket.planned,
        }
    }

    /// The client has gone: no reply is sent.
    pub(crate) fn abandon(&self, _: Ticket) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a request that has its reply.
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
            others: ticket.others,
        });
    }

    fn observing(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().expect("no panic under this lock")
    }

    /// The counters so far.
    pub fn observed(&self) -> Observed {
        self.observing().clone()
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Appends the bytes of a read that is due.
    #[inline]
    pub(crate) fn read(&self, offset: u64, len: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
        self.bytes.read(offset, len as u64, into)
    }

    /// Stores bytes of a write as they arrive; until a flush, a power cut may lose them.
    #[inline]
    pub(crate) fn write(&self, ticket: &Ticket, offset: u64, from: &[u8]) -> Result<(), Failure> {
        let _power = self.may_change(ticket)?;
        self.bytes.write(offset, from)
    }

    /// Makes a range zero; with `keep` its room stays allocated.
    pub(crate) fn zero(
        &self,
        ticket: &Ticket,
        offset: u64,
        len: u64,
        keep: bool,
    ) -> Result<(), Failure> {
        let _power = self.may_change(ticket)?;
        if keep {
            self.bytes.zero(offset, len)
        } else {
            self.bytes.free(offset, len)
        }
    }

    /// Refuses to change bytes for a request that fails, or came before the volume was removed. While
    /// the guard is held, no power cut happens.
    fn may_change(&self, ticket: &Ticket) -> Result<RwLockReadGuard<'_, ()>, Failure> {
        ticket.result?;
        if self.read_only {
            return Err(Failure::ReadOnly);
        }
        let power = self.powered();
        if !self.is_current(ticket) {
            return Err(Failure::Detached);
        }
        Ok(power)
    }

    /// The first extent of a range: what was never written, or was trimmed, is a hole.
    pub(crate) fn extent(&self, offset: u64, len: u64) -> Extent {
        self.bytes.extent(offset, len)
    }

    /// A power cut: unflushed data is lost, or torn by the seed, and the volume is detached. Returns
    /// how many pages of 4 KiB changed, also where some could not.
    pub(crate) fn cut_power(&self, loss: Loss, seed: u64) -> (u64, Result<(), Failure>) {
        self.remove(|| self.bytes.cut(loss, seed))
    }

    /// Until it is attached, requests in flight and new ones fail. Written data stays.
    pub(crate) fn detach(&self) {
        self.remove(|| ());
    }

    /// Detaches it and erases it, like the local disk of a stopped instance. A read-only volume keeps
    /// what it holds, which no client wrote.
    pub(crate) fn wipe(&self) -> Result<(), Failure> {
        self.remove(|| {
            if self.read_only {
                return Ok(());
            }
            self.bytes.wipe(&self.backing)
        })
    }

    /// Detaches the volume and does `meanwhile` before a request can change it again.
    fn remove<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        let power = self.power.write().expect("no panic under this lock");
        self.is_detached.store(true, Ordering::Release);
        self.removals.fetch_add(1, Ordering::AcqRel);
        let done = meanwhile();
        drop(power);
        self.wake_all();
        done
    }

    /// Ends a detachment.
    pub(crate) fn attach(&self) {
        self.is_detached.store(false, Ordering::Release);
    }

    /// Whether clients can use it.
    pub(crate) fn is_attached(&self) -> bool {
        !self.is_detached.load(Ordering::Acquire)
    }

    /// Adds a fault.
    pub(crate) fn inject(&self, fault: Fault, seed: u64) {
        self.faults().add(fault, seed);
        self.has_faults.store(true, Ordering::Release);
        self.wake_all();
    }

    /// Ends one fault, or all of them (`None`).
    pub(crate) fn clear(&self, number: Option<u64>) {
        let mut faults = self.faults();
        faults.clear(number);
        self.has_faults.store(!faults.is_empty(), Ordering::Release);
        drop(faults);
        self.wake_all();
    }

    /// The active and coming faults, and how many operations each has hit.
    pub(crate) fn faults_now(&self) -> Vec<(Fault, u64)> {
        let mut faults = self.faults();
        faults.forget_past(self.clock.now());
        faults.list()
    }

    /// How many operations a fault has hit, also after its end.
    pub(crate) fn hits(&self, fault: u64) -> u64 {
        self.faults().hits(fault)
    }

    /// Flips bits of written data within a range, chosen by the seed. Returns the offsets of their
    /// bytes, also where a later one could not be changed; none if nothing was written there.
    pub(crate) fn flip_bits(
        &self,
        count: u64,
        range: Range<u64>,
        seed: u64,
    ) -> (Vec<u64>, Result<(), Failure>) {
        let _power = self.powered();
        self.bytes.flip(count, range, seed)
    }

    /// Syncs the backing file to its disk.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&self) -> std::io::Result<()> {
        match (&self.backing, self.read_only) {
            (Backing::File(file), false) => file.sync_all(),
            _ => Ok(()),
        }
    }

    /// Registers a thread with requests in flight: [`Volume::wake_all`] wakes it when their moments may
    /// have changed.
    pub(crate) fn register(&self, waker: &Arc<Waker>) {
        let mut wakers = self.wakers.lock().expect("no panic under this lock");
        wakers.retain(|known| known.strong_count() > 0);
        wakers.push(Arc::downgrade(waker));
    }

    /// Wakes all threads with requests in flight.
    pub(crate) fn wake_all(&self) {
        let wakers = self.wakers.lock().expect("no panic under this lock");
        for waker in wakers.iter().filter_map(Weak::upgrade) {
            waker.wake();
        }
    }
}

#[cfg(test)]
impl VolumeSetup {
    /// A volume `v` in memory, of which all may be used, without a model: what most tests serve.
    pub(crate) fn in_memory(size: Bytes) -> Self {
        Self {
            name: "v".to_owned(),
            size,
            read_only: false,
            backing: Backing::Memory(crate::MemoryLimit::new(size)),
            model: None,
            clock: Clock::start(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use blocklab_device::{
        Cap, Device, DeviceSpec, Latency, Layout, Origin, Rate, Service, Spread, VolumeSpec,
    };

    use super::*;
    use crate::{FaultKind, MemoryLimit, open_file};

    const SIZE: u64 = 1 << 30;

    fn volume(model: Option<(Arc<Instance>, usize)>) -> Arc<Volume> {
        Volume::new(VolumeSetup {
            backing: Backing::Memory(MemoryLimit::new(Bytes(1 << 20))),
            model,
            ..VolumeSetup::in_memory(Bytes(SIZE))
        })
    }

    /// A request without bytes at the end of a volume went to the volume behind it, and waited for
    /// limits that its own volume does not have.
    #[test]
    fn a_request_without_bytes_at_the_end_stays_on_its_volume() {
        let latency = Latency {
            base: Nanos(1000),
            per_kib_ns: 0.0,
            origin: Origin::Given,
        };
        let plain = VolumeSpec {
            service: Some(Service::even(latency, Spread::NONE)),
            ..VolumeSpec::new("plain", Bytes(SIZE))
        };
        let limited = VolumeSpec {
            caps: vec![Cap::new("IOPS", Rate::Iops(1.0), Origin::Given)],
            ..plain.clone()
        };
        let device = DeviceSpec {
            layout: Layout::Joined,
            ..DeviceSpec::new("two", vec![plain, limited])
        };
        let device = Device::new(&device, 1).expect("sound");
        let instance = Instance::new(device, Clock::start());
        let first = volume(Some((instance, 0)));
        for _ in 0..3 {
            let ticket = first.admit(Direction::Trim, SIZE, 0);
            let taken = ticket.due.since(ticket.arrived);
            assert!(taken < Nanos::from_secs(1), "a limit of the other volume");
            first.abandon(ticket);
        }
    }

    /// A stall's end was moved forward for a request that its client had sent a moment before: the
    /// request was due during the stall, and could be counted twice.
    #[test]
    fn a_request_that_was_sent_earlier_waits_for_the_same_end_of_a_stall() {
        let volume = volume(None);
        let from = volume.clock().now();
        let until = from + Nanos::from_secs(1);
        let stall = Fault {
            number: 1,
            from,
            until,
            kind: FaultKind::Stall,
            percents: [100.0; 4],
            range: None,
        };
        volume.inject(stall, 1);
        let ticket = volume.admit(Direction::Read, 0, 4096);
        let mut ticket = ticket.sent_earlier(Nanos::from_millis(1));
        assert_eq!(ticket.due, until);
        let settled = volume.settle(&mut ticket, until, Ok(()));
        assert!(matches!(settled, Settled::Done(Ok(()))));
        assert_eq!(volume.hits(1), 1);
    }

    /// A request to a volume that was away waited for the end of a stall, and was counted as hit by
    /// it, where those that had been in flight failed at once.
    #[test]
    fn a_request_to_a_volume_that_is_away_fails_at_once_during_a_stall() {
        let volume = volume(None);
        let stall = Fault {
            number: 1,
            from: Nanos::ZERO,
            until: Nanos::MAX,
            kind: FaultKind::Stall,
            percents: [100.0; 4],
            range: None,
        };
        volume.inject(stall, 1);
        volume.detach();
        let mut ticket = volume.admit(Direction::Read, 0, 4096);
        assert_eq!(ticket.due, ticket.arrived);
        let due = ticket.due;
        let settled = volume.settle(&mut ticket, due, Ok(()));
        assert!(matches!(settled, Settled::Done(Err(Failure::Detached))));
        assert_eq!(volume.hits(1), 0);
    }

    /// `fault stop` detached a read-only local disk and then failed, as its file cannot be erased.
    #[test]
    fn a_read_only_file_is_not_erased() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&[7; 4096]).expect("written");
        let backing = open_file(file.path(), Bytes(4096), true).expect("a regular file");
        let volume = Volume::new(VolumeSetup {
            name: "v".to_owned(),
            size: Bytes(4096),
            read_only: true,
            backing,
            model: None,
            clock: Clock::start(),
        });
        assert_eq!(volume.wipe(), Ok(()));
        assert!(!volume.is_attached());
        let mut bytes = Vec::new();
        volume.read(0, 4096, &mut bytes).expect("a file");
        assert_eq!(bytes, [7; 4096]);
    }

    /// A log that is written in order, with a flush after each write, was reported as random.
    #[test]
    fn a_flush_has_no_place_and_leaves_the_order_as_it_is() {
        let volume = volume(None);
        for (direction, offset, len) in [
            (Direction::Write, 4096, 4096),
            (Direction::Flush, 0, 0),
            (Direction::Write, 8192, 4096),
            (Direction::Flush, 0, 0),
            (Direction::Flush, 0, 0),
        ] {
            let mut ticket = volume.admit(direction, offset, len);
            let due = ticket.due;
            volume.settle(&mut ticket, due, Ok(()));
        }
        let observed = volume.observed();
        let sequential = |direction| observed.direction(direction).sequential;
        assert_eq!(sequential(Direction::Write), 1);
        assert_eq!(sequential(Direction::Flush), 0);
    }
}
