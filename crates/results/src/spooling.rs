//! In: the events of runs. Out: their spools in the store.
//!
//! A thread of its own writes them, so that a store on a slow, full or broken disk delays no
//! measurement. The observer's thread sends it orders and never waits for the disk, except for a
//! limited time at the end of a measurement.
//!
//! ```text
//!  event ──▶ Spooling ──orders──▶ thread: Spools ──▶ ID.partial/spool.ndjson
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use blocklab_console::{place, supervisor, terminal};
use blocklab_host::target_facts;
use blocklab_record::{Interval, Measurement, Origin, Record, TargetFacts};
use blocklab_runner::{Event, planned_if_timed};
use blocklab_store::Store;
use blocklab_store::spool::{Begun, Credit, Frame, Spool};
use blocklab_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Writes what runs have measured to their spools, second by second.
pub struct Spooling {
    /// `None`: nothing is written.
    store: Option<Store>,
    /// The thread, which starts with the first order.
    writer: Option<Writer>,
    /// The runs of this command, by their ids.
    runs: BTreeMap<String, Written>,
    /// The id of the run that is measured now.
    current: String,
    /// Number of frames of the current measurement.
    frames: u64,
    /// Intervals that are in no frame yet, because the writer was behind.
    pending: Vec<Interval>,
}

/// What the spool of a run has.
struct Written {
    /// The run without its measurements.
    head: Record,
    /// How many measurements.
    measured: usize,
}

/// The observer's end of the thread that writes.
struct Writer {
    /// Orders, each with the id of its run.
    orders: Sender<(String, Order)>,
    /// Number of orders that are not carried out yet.
    waiting: Arc<AtomicUsize>,
    /// Whether an order has failed since this was last read.
    has_failed: Arc<AtomicBool>,
    /// Processor time that the last order took.
    cost_ns: Arc<AtomicU64>,
    /// Disconnected when the thread ends.
    end: Receiver<()>,
    /// Whether the disk has once kept a measurement waiting for [`TIMEOUT`].
    is_slow: bool,
}

enum Order {
    /// Begins a spool, in place of an older one.
    Begin(Box<Record>),
    /// Replaces what the spool has of the run besides its measurements.
    Head(Box<Record>),
    /// A measurement begins.
    Begins(Begun),
    /// A second of it has passed.
    Frame(Box<Frame>),
    /// It has ended.
    Measured(Box<Measurement>),
    /// Asks for an answer, which comes when all orders before this one are carried out.
    Settled(Sender<()>),
}

/// Orders that may wait before frames are held back. A slow disk then gets fewer frames with more
/// intervals in each.
const MAX_WAITING: usize = 3;
/// How long the end of a measurement or of a run waits for the store's disk.
const TIMEOUT: Duration = Duration::from_secs(2);

impl Spooling {
    /// Without a store, every event is ignored.
    pub fn new(store: Option<&Store>) -> Self {
        Self {
            store: store.cloned(),
            writer: None,
            runs: BTreeMap::new(),
            current: String::new(),
            frames: 0,
            pending: Vec::new(),
        }
    }

    /// Whether spools are written: only then is [`Event::Frame`] needed.
    pub const fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Writes what the event reports.
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
                self.select(so_far);
                (self.frames, self.pending) = (0, Vec::new());
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
            } => {
                let left = credits.iter().map(|balance| Credit {
                    name: balance.name.clone(),
                    left: balance.left,
                    unit: balance.unit.text().to_owned(),
                });
                self.frame(so_far, elapsed.0, left.collect())
            }
            Event::Ended(record) => self.ended(record),
            _ => {}
        }
    }

    /// Makes this run the current one. Its spool is begun unless it is up to date.
    fn select(&mut self, record: &Record) {
        // After a failure, no spool is known to be whole: all are begun again, each from its Record,
        // which has everything measured so far.
        if self.writer.as_ref().is_some_and(Writer::take_failure) {
            self.runs.clear();
        }
        let measured = record.measurements.len();
        let written = self.runs.get(&record.id);
        if written.is_some_and(|written| written.measured == measured) {
            self.current.clone_from(&record.id);
        } else {
            self.begin(record);
        }
    }

    /// Begins the spool of a run with all that it has measured; an older spool is replaced.
    pub fn begin(&mut self, record: &Record) {
        let written = Written {
            head: without_measurements(record),
            measured: record.measurements.len(),
        };
        self.runs.insert(record.id.clone(), written);
        self.current.clone_from(&record.id);
        self.order(Order::Begin(Box::new(record.clone())));
    }

    /// The processor time that the writer took for its last order; `None` while orders wait.
    pub fn cost(&self) -> Option<Nanos> {
        let Some(writer) = &self.writer else {
            return Some(Nanos::ZERO);
        };
        let cost = Nanos(writer.cost_ns.load(Ordering::Relaxed));
        (writer.waiting.load(Ordering::Relaxed) == 0).then_some(cost)
    }

    /// Orders the figures so far to be written; drops them while the writer is behind.
    fn frame(&mut self, so_far: &Measurement, elapsed_ns: u64, credits: Vec<Credit>) {
        self.pending.extend(&so_far.series);
        // Without a writer no spool was begun, and a frame would have no place.
        if self.writer.as_ref().is_none_or(Writer::is_behind) {
            return;
        }
        self.frames += 1;
        let jobs = so_far.jobs.iter();
        let frame = Box::new(Frame {
            number: self.frames,
            elapsed_ns,
            in_flight: jobs.map(|job| job.accounting.in_flight).sum(),
            slices: std::mem::take(&mut self.pending),
            credits,
            // The intervals are in `slices`, and in the frames before this one.
            so_far: Some(Box::new(Measurement {
                series: Vec::new(),
                ..so_far.clone()
            })),
        });
        self.order(Order::Frame(frame));
    }

    /// Orders the measurements to be written that have come since the last call.
    fn ended(&mut self, record: &Record) {
        let Some(written) = self.runs.get_mut(&record.id) else {
            return;
        };
        let new = record.measurements.get(written.measured..);
        written.measured = record.measurements.len();
        let has_changed = written.head.requested != record.requested
            || written.head.notes != record.notes
            || written.head.failure != record.failure;
        if has_changed {
            written.head = without_measurements(record);
            let head = Box::new(written.head.clone());
            self.order(Order::Head(head));
        }
        for measured in new.unwrap_or_default() {
            self.order(Order::Measured(Box::new(measured.clone())));
        }
        self.settle();
    }

    /// Waits until all orders are carried out, so that what is shown as measured is stored. A disk that
    /// once took longer than [`TIMEOUT`] is not waited for again.
    fn settle(&mut self) {
        let (sender, settled) = channel();
        self.order(Order::Settled(sender));
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.is_slow) {
            let waited = settled.recv_timeout(TIMEOUT);
            writer.is_slow = waited == Err(RecvTimeoutError::Timeout);
        }
    }

    /// Sends an order to the writer, which is started by the first one.
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
            // Sending fails only when the thread has panicked, which printed a message.
            let _ = writer.orders.send((self.current.clone(), order));
        }
    }
}

/// Waits until the thread has ended. The run is stored next and its spool removed; a late order would
/// make the folder of the spool again.
impl Drop for Spooling {
    fn drop(&mut self) {
        if let Some(Writer { orders, end, .. }) = self.writer.take() {
            // The thread ends when there is no sender left. If its disk hangs, the program does not.
            drop(orders);
            let _ = end.recv_timeout(TIMEOUT);
        }
    }
}

impl Writer {
    /// Starts the thread that writes.
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
            spools.discard_empty();
            drop(at_end);
        })?;
        Ok(started)
    }

    fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= MAX_WAITING
    }

    /// Whether an order has failed since the last call.
    fn take_failure(&self) -> bool {
        self.has_failed.swap(false, Ordering::Relaxed)
    }
}

/// The thread's side: the open spools of a command's runs, by their ids.
struct Spools {
    store: Store,
    open: BTreeMap<String, Spool>,
    /// The ids of the runs whose spools have a measurement.
    measured: BTreeSet<String>,
    has_warned: bool,
}

impl Spools {
    const fn new(store: Store) -> Self {
        Self {
            store,
            open: BTreeMap::new(),
            measured: BTreeSet::new(),
            has_warned: false,
        }
    }

    /// Carries out an order; false, when that fails. Only the first failure is printed: a full disk
    /// would otherwise print one each second.
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

    /// Removes the spools of runs that ended without a measurement: the request was refused when the
    /// first one began, and a spool would be listed as a run that was killed.
    fn discard_empty(&mut self) {
        for (id, spool) in std::mem::take(&mut self.open) {
            if !self.measured.contains(&id) {
                // A spool that cannot be removed holds nothing that could be lost.
                let _ = spool.discard();
            }
        }
    }

    /// Carries out an order for the run `id`.
    fn carry_out(&mut self, id: &str, order: Order) -> anyhow::Result<()> {
        match order {
            Order::Begin(record) => self.begin(id, &record),
            Order::Head(record) => self.write(id, |spool| spool.head(&record)),
            Order::Begins(begun) => self.write(id, |spool| spool.begins(&begun)),
            Order::Frame(frame) => self.write(id, |spool| spool.frame(&frame)),
            Order::Measured(measured) => {
                self.measured.insert(id.to_owned());
                self.write(id, |spool| spool.measured(&measured))
            }
            Order::Settled(sender) => {
                // The receiver is gone if the wait timed out.
                let _ = sender.send(());
                Ok(())
            }
        }
    }

    /// Begins the spool of a run, in place of an older one.
    fn begin(&mut self, id: &str, record: &Record) -> anyhow::Result<()> {
        // Closes the old spool, which holds a lock on its file.
        self.open.remove(id);
        let mut spool = self.store.begin(record)?;
        // A flush each second would disturb a measurement of the disk that the store is on. A simulation
        // is over sooner than the disk has flushed its lines, and gives the same again.
        spool.flushes_each =
            record.origin != Origin::Simulated && !shares_a_disk(&self.store, &record.targets);
        self.open.insert(id.to_owned(), spool);
        if !record.measurements.is_empty() {
            self.measured.insert(id.to_owned());
        }
        // If this process is killed, its parent names the run of which something is kept.
        supervisor::note_kept(&format!("{id}{}", place::store_option(&self.store)));
        Ok(())
    }

    /// Writes a line to the spool of a run. There is none if it could not be begun; the next
    /// measurement begins it again, with all that the run has measured by then.
    fn write(
        &mut self,
        id: &str,
        line: impl FnOnce(&mut Spool) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        match self.open.get_mut(id) {
            Some(spool) => Ok(line(spool)?),
            None => Ok(()),
        }
    }
}

/// The processor time that this thread has used.
fn processor_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether the store is on a disk that is measured. A store whose disk is unknown counts as separate.
fn shares_a_disk(store: &Store, targets: &[TargetFacts]) -> bool {
    let Ok(facts) = target_facts(store.root()) else {
        return false;
    };
    let disks: Vec<&str> = facts.devices.iter().map(|device| &*device.name).collect();
    let mut devices = targets.iter().flat_map(|target| &target.devices);
    devices.any(|device| disks.contains(&&*device.name))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn record(measurements: Vec<Measurement>) -> Record {
        Record {
            id: "20261120-190142-k3f".to_owned(),
            started_at: "2026-11-20T19:01:42Z".to_owned(),
            finished_at: "2026-11-20T19:01:42Z".to_owned(),
            origin: Origin::Emulated,
            measurements,
            ..Record::default()
        }
    }

    /// The story: the store filled up during a run, which was kept in another place, and its spool was
    /// listed as an unfinished run for ever.
    #[test]
    fn the_spool_of_a_run_that_is_kept_elsewhere_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path());
        let mut record = record(vec![Measurement::default()]);
        drop(store.begin(&record).expect("a spool"));
        assert_eq!(store.list().runs.len(), 1);
        // Nothing can be made at the place of the run.
        let place = folder.path().join(&record.id);
        std::os::unix::fs::symlink(folder.path().join("nowhere"), place).expect("a link");
        let kept = crate::keeping::Keeping::new(&store).keep(&mut record);
        let kept = kept.expect("another place");
        assert!(!kept.starts_with(folder.path()));
        assert_eq!(store.list().runs.len(), 0);
        let other = kept.parent().expect("a store");
        std::fs::remove_dir_all(other).expect("it was made for this test");
    }

    /// The story: a simulation of 2,700 measurements took 36 s, of which it waited 30 for the disk.
    #[test]
    fn a_simulation_flushes_no_line_but_that_of_a_measurement() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut spools = Spools::new(Store::open(folder.path()));
        let mut record = record(Vec::new());
        for (origin, flushes) in [(Origin::Emulated, true), (Origin::Simulated, false)] {
            record.origin = origin;
            spools.begin(&record.id, &record).expect("a spool");
            assert_eq!(spools.open[&record.id].flushes_each, flushes, "{origin:?}");
        }
    }

    /// Whether the spool of a run with this many measurements is left when its command ends.
    fn is_left(measurements: usize) -> bool {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path());
        let mut spooling = Spooling::new(Some(&store));
        spooling.begin(&record(vec![Measurement::default(); measurements]));
        drop(spooling);
        folder.path().join("20261120-190142-k3f.partial").exists()
    }

    /// The story: a job with `null` and an emulated volume was refused when its first measurement
    /// began, and stayed in the list as "unfinished", "stopped by a signal after 0 measurements".
    #[test]
    fn a_run_that_was_refused_leaves_no_spool() {
        assert!(!is_left(0));
        assert!(is_left(1));
    }
}
