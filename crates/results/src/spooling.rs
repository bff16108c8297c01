//! In: the events of runs. Out: their spools in the store, written by a thread of its own, so that a
//! store whose disk is slow, full or dead holds up no run.
//!
//! A file of its own: what is kept of a run while it lasts, for all commands that measure.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use blocklab_console::{supervisor, terminal};
use blocklab_host::target_facts;
use blocklab_record::{Interval, Measurement, Record, TargetFacts};
use blocklab_runner::{Event, planned_if_timed};
use blocklab_store::Store;
use blocklab_store::spool::{Begun, Credit, Frame, Spool};
use blocklab_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Keeps what runs have measured, second by second.
pub struct Spooling {
    /// `None`: nothing is kept.
    store: Option<Store>,
    writer: Option<Writer>,
    /// The runs of this command, by their ids.
    runs: BTreeMap<String, Known>,
    /// The one that goes on.
    current: String,
    frames: u64,
    /// Slices that ended while the writer was behind.
    held: Vec<Interval>,
}

/// What was written of a run.
struct Known {
    /// The run without its measurements.
    head: Record,
    /// How many of them.
    measured: usize,
}

/// The thread that writes, as others see it.
struct Writer {
    orders: Sender<(String, Order)>,
    /// Orders that it has not carried out.
    waiting: Arc<AtomicUsize>,
    /// Whether a spool is to be begun again, since its last order failed.
    has_failed: Arc<AtomicBool>,
    /// Processor time of its last order.
    cost_ns: Arc<AtomicU64>,
    /// Ends when the writer does.
    end: Receiver<()>,
    /// Whether its disk has kept a measurement waiting for too long.
    is_slow: bool,
}

enum Order {
    Begin(Box<Record>),
    Head(Box<Record>),
    Begins(Begun),
    Frame(Box<Frame>),
    Measured(Box<Measurement>),
    /// All before it is carried out.
    Settled(Sender<()>),
}

/// Frames that may wait. A disk that is behind gets fewer and longer ones.
const WAITING: usize = 3;
/// How long the end of a run waits for the disk of the store.
const PATIENCE: Duration = Duration::from_secs(2);

impl Spooling {
    /// Nothing is kept without a store.
    pub fn new(store: Option<&Store>) -> Self {
        Self {
            store: store.cloned(),
            writer: None,
            runs: BTreeMap::new(),
            current: String::new(),
            frames: 0,
            held: Vec::new(),
        }
    }

    /// Whether it wants [`Event::Frame`].
    pub const fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Keeps what the event reports.
    pub fn event(&mut self, event: Event<'_>) {
        if self.store.is_none() {
            return;
        }
        match event {
            Event::Begins {
                case,
                pass,
                step,
                steps,
                so_far,
            } => {
                self.turn_to(so_far);
                (self.frames, self.held) = (0, Vec::new());
                self.order(Order::Begins(Begun {
                    case: case.name.clone(),
                    pass,
                    step,
                    steps,
                    planned_ns: planned_if_timed(case).map(|planned| planned.0),
                }));
            }
            Event::Frame {
                so_far,
                elapsed,
                credits,
            } => self.frame(so_far, elapsed.0, credits),
            Event::Ended(record) => self.ended(record),
            _ => {}
        }
    }

    /// What follows is of this run.
    fn turn_to(&mut self, record: &Record) {
        let measured = record.measurements.len();
        let known = self.runs.get(&record.id);
        let is_known = known.is_some_and(|known| known.measured == measured);
        if self.writer.as_ref().is_some_and(Writer::take_failure) {
            self.runs.clear();
        }
        if is_known && self.runs.contains_key(&record.id) {
            self.current.clone_from(&record.id);
        } else {
            self.begin(record);
        }
    }

    /// Begins the spool of a run, in the place of an older one, with all that it has measured.
    pub fn begin(&mut self, record: &Record) {
        let known = Known {
            head: without_measurements(record),
            measured: record.measurements.len(),
        };
        self.runs.insert(record.id.clone(), known);
        self.current.clone_from(&record.id);
        self.order(Order::Begin(Box::new(record.clone())));
    }

    /// The processor time that the writer took for its last order; `None` while it is behind.
    pub fn cost(&self) -> Option<Nanos> {
        let Some(writer) = &self.writer else {
            return Some(Nanos::ZERO);
        };
        let cost = Nanos(writer.cost_ns.load(Ordering::Relaxed));
        (writer.waiting.load(Ordering::Relaxed) == 0).then_some(cost)
    }

    fn frame(&mut self, so_far: &Measurement, elapsed_ns: u64, credits: &[(String, f64)]) {
        self.held.extend(&so_far.series);
        if self.writer.as_ref().is_none_or(Writer::is_behind) {
            return;
        }
        self.frames += 1;
        let jobs = so_far.jobs.iter();
        let frame = Box::new(Frame {
            number: self.frames,
            elapsed_ns,
            in_flight: jobs.map(|job| job.accounting.in_flight).sum(),
            slices: std::mem::take(&mut self.held),
            credits: credits
                .iter()
                .map(|(name, left)| Credit {
                    name: name.clone(),
                    left: *left,
                })
                .collect(),
            so_far: Some(Box::new(Measurement {
                series: Vec::new(),
                ..so_far.clone()
            })),
        });
        self.order(Order::Frame(frame));
    }

    fn ended(&mut self, record: &Record) {
        let Some(known) = self.runs.get_mut(&record.id) else {
            return;
        };
        let new = record.measurements.get(known.measured..);
        known.measured = record.measurements.len();
        let is_another = known.head.requested != record.requested
            || known.head.notes != record.notes
            || known.head.failure != record.failure;
        if is_another {
            known.head = without_measurements(record);
            let head = Box::new(known.head.clone());
            self.order(Order::Head(head));
        }
        for measured in new.unwrap_or_default() {
            self.order(Order::Measured(Box::new(measured.clone())));
        }
        self.settle();
    }

    /// What is shown as measured is kept by then, unless the disk of the store hangs.
    fn settle(&mut self) {
        let (sender, settled) = channel();
        self.order(Order::Settled(sender));
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.is_slow) {
            let waited = settled.recv_timeout(PATIENCE);
            writer.is_slow = waited == Err(RecvTimeoutError::Timeout);
        }
    }

    fn order(&mut self, order: Order) {
        let Some(store) = &self.store else { return };
        if self.writer.is_none() {
            match Writer::start(store.clone()) {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => {
                    warn(&error);
                    self.store = None;
                    return;
                }
            }
        }
        if let Some(writer) = &self.writer {
            writer.waiting.fetch_add(1, Ordering::Relaxed);
            // It is gone only where it has panicked, and that was reported.
            let _ = writer.orders.send((self.current.clone(), order));
        }
    }
}

/// The run is kept after this: a line that came later would make its folder again.
impl Drop for Spooling {
    fn drop(&mut self) {
        if let Some(Writer { orders, end, .. }) = self.writer.take() {
            drop(orders);
            let _ = end.recv_timeout(PATIENCE);
        }
    }
}

impl Writer {
    fn start(store: Store) -> io::Result<Self> {
        let (orders, received) = channel();
        let (at_end, end) = channel();
        let started = Self {
            orders,
            waiting: Arc::default(),
            has_failed: Arc::default(),
            cost_ns: Arc::default(),
            end,
            is_slow: false,
        };
        let waiting = Arc::clone(&started.waiting);
        let has_failed = Arc::clone(&started.has_failed);
        let cost_ns = Arc::clone(&started.cost_ns);
        Builder::new().name("spool".to_owned()).spawn(move || {
            let mut spools = Spools::new(store);
            for (id, order) in received {
                let before = processor_time();
                has_failed.fetch_or(!spools.keep(&id, order), Ordering::Relaxed);
                let took = processor_time().since(before);
                cost_ns.store(took.0, Ordering::Relaxed);
                waiting.fetch_sub(1, Ordering::Relaxed);
            }
            drop(at_end);
        })?;
        Ok(started)
    }

    fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= WAITING
    }

    fn take_failure(&self) -> bool {
        self.has_failed.swap(false, Ordering::Relaxed)
    }
}

/// The spools of the runs of a command.
struct Spools {
    store: Store,
    open: BTreeMap<String, Spool>,
    has_warned: bool,
}

impl Spools {
    const fn new(store: Store) -> Self {
        Self {
            store,
            open: BTreeMap::new(),
            has_warned: false,
        }
    }

    /// Whether the order was carried out. Trouble is reported once, and stops nothing.
    fn keep(&mut self, id: &str, order: Order) -> bool {
        let Err(error) = self.carry_out(id, order) else {
            return true;
        };
        if !self.has_warned {
            warn(&error);
        }
        self.has_warned = true;
        false
    }

    fn carry_out(&mut self, id: &str, order: Order) -> anyhow::Result<()> {
        if let Order::Begin(record) = order {
            self.open.remove(id);
            let mut spool = self.store.begin(&record)?;
            spool.flushes_each = !shares_a_disk(&self.store, &record.targets);
            self.open.insert(id.to_owned(), spool);
            supervisor::note_kept(id);
            return Ok(());
        }
        // Without one, the next measurement begins it again.
        let Some(spool) = self.open.get_mut(id) else {
            return Ok(());
        };
        match order {
            Order::Begin(_) => Ok(()),
            Order::Head(record) => Ok(spool.head(&record)?),
            Order::Begins(begun) => Ok(spool.begins(&begun)?),
            Order::Frame(frame) => Ok(spool.frame(&frame)?),
            Order::Measured(measured) => Ok(spool.measured(&measured)?),
            // Who waited may have lost patience.
            Order::Settled(sender) => {
                let _ = sender.send(());
                Ok(())
            }
        }
    }
}

/// The processor time of this thread.
fn processor_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether a flush of the store each second would disturb the disk that is measured.
fn shares_a_disk(store: &Store, targets: &[TargetFacts]) -> bool {
    let Ok(below) = target_facts(store.root()) else {
        return false;
    };
    let below: Vec<&str> = below.devices.iter().map(|device| &*device.name).collect();
    let mut devices = targets.iter().flat_map(|target| &target.devices);
    devices.any(|device| below.contains(&&*device.name))
}

fn without_measurements(record: &Record) -> Record {
    Record {
        measurements: Vec::new(),
        ..record.clone()
    }
}

fn warn(error: &dyn std::fmt::Display) {
    terminal::warn(&format!("cannot keep what is measured so far: {error}"));
}
