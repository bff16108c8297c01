//! One volume that is served: the model's answer to each request, its bytes, and what was done to
//! it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use blocklab_device::{Direction, Fault, Io};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};

use crate::backing::{Backing, StoreError};
use crate::durability::Loss;
use crate::observed::{Done, Observed};
use crate::stripes::Stripes;
use crate::{Bell, Instance};

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

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// An input/output error.
    Io,
    /// No room.
    NoSpace,
    /// The volume may not be written to.
    ReadOnly,
    /// Beyond the end, or not understood.
    Invalid,
    /// The request is sound and this volume cannot do it.
    Unsupported,
    /// The volume is gone.
    Gone,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Io => Self::Io,
            Fault::Full => Self::NoSpace,
            Fault::Detached => Self::Gone,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::NoSpace,
            StoreError::Io => Self::Io,
        }
    }
}

/// A request that was admitted. Each ends in [`Volume::settle`] or [`Volume::abandon`].
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    /// What was asked for.
    pub io: Io,
    /// When it came.
    pub arrived: Nanos,
    /// When the model says that it is done.
    pub due: Nanos,
    result: Result<(), Fault>,
    /// Of a flush: what it covers.
    mark: Option<u64>,
    follows: bool,
    among: u32,
}

impl Ticket {
    /// Whether it will succeed, as far as the model goes: a write that fails changes nothing.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.result.is_ok()
    }

    /// It was on its way for so long before anybody looked: the model's answer holds from then.
    pub fn sent_earlier(mut self, by: Nanos) -> Self {
        let by = by.min(self.due.since(self.arrived)).min(self.arrived);
        self.arrived = self.arrived - by;
        self.due = self.due - by;
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
        let (arrived, due, result) = match &self.model {
            None => {
                let now = self.clock.now();
                (now, now, Ok(()))
            }
            Some(part) => {
                let offset = part.base + offset;
                let (now, answer) = part.instance.admit(part.index, Io { offset, ..io });
                (now, answer.at, answer.result)
            }
        };
        Ticket {
            io,
            arrived,
            due,
            result,
            mark,
            follows,
            among,
        }
    }

    /// A request is due: what has become of it. `own` is what became of its bytes. A reply that is
    /// given is counted.
    #[inline]
    pub fn settle(&self, ticket: Ticket, now: Nanos, own: Result<(), Failure>) -> Settled {
        let result = ticket.result.map_err(Failure::from).and(own);
        if let (Some(mark), Ok(())) = (ticket.mark, result) {
            self.bytes.flushed(mark);
        }
        self.count(&ticket, now, result.is_err());
        Settled::Done(result)
    }

    /// After [`Volume::ring`]: when a request that is in flight is due now.
    #[must_use]
    pub const fn due(&self, ticket: &Ticket, _now: Nanos) -> Nanos {
        ticket.due
    }

    /// Nobody waits for the reply any more.
    pub fn abandon(&self, _: Ticket) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    fn count(&self, ticket: &Ticket, at: Nanos, failed: bool) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.observing().record(Done {
            direction: ticket.io.direction,
            len: ticket.io.len,
            arrived: ticket.arrived,
            due: ticket.due,
            at,
            failed,
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

    /// The bytes of a write, when they arrive: a power cut until it is flushed may take them.
    ///
    /// # Errors
    /// When there is no room, or the backing cannot take them; a part may have been written.
    #[inline]
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), Failure> {
        match self.read_only {
            true => Err(Failure::ReadOnly),
            false => Ok(self.bytes.write(offset, from)?),
        }
    }

    /// Makes a range zero; with `keep` it goes on using its room.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn zero(&self, offset: u64, len: u64, keep: bool) -> Result<(), Failure> {
        match (self.read_only, keep) {
            (true, _) => Err(Failure::ReadOnly),
            (false, true) => Ok(self.bytes.zero(offset, len)?),
            (false, false) => Ok(self.bytes.free(offset, len)?),
        }
    }

    /// A write that asked for it is durable when it is done.
    pub fn persist(&self, offset: u64, len: u64) {
        self.bytes.persist(offset, len);
    }

    /// Whether nothing was ever written at an offset (or it was trimmed), and for how many bytes
    /// that holds, at most `len`.
    #[must_use]
    pub fn extent(&self, offset: u64, len: u64) -> (bool, u64) {
        self.bytes.extent(offset, len)
    }

    /// The power goes: what nobody flushed is lost, or torn by the seed. Gives how many pages of
    /// 4 KiB came back otherwise than they were.
    ///
    /// # Errors
    /// When the backing cannot be written to.
    pub fn cut_power(&self, loss: Loss, seed: u64) -> Result<u64, Failure> {
        Ok(self.bytes.cut(loss, seed)?)
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
