//! `--idle-prof`: how idle the processors were.
//!
//! On each processor, a thread of the lowest priority (SCHED_IDLE) repeats a unit of work whose
//! duration is known. The number of units that it got done shows how much time the others left.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use blocklab_fio::{Idleness, Profiled};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Bytes that a unit of work touches.
const UNIT: usize = 32 << 10;
/// Number of units from which the duration of one is calculated.
const SAMPLES: usize = 10;

/// The running threads.
pub struct Profiler {
    how: Profiled,
    begun: Instant,
    /// Ends the threads.
    over: Arc<AtomicBool>,
    counters: Vec<Counter>,
    unit: UnitTime,
}

/// The thread that counts on one processor.
struct Counter {
    /// The processor's number.
    processor: usize,
    /// Returns the units of work that it got done.
    thread: JoinHandle<u64>,
}

/// Duration of a unit of work, in µs.
struct UnitTime {
    mean: f64,
    /// Standard deviation.
    deviation: f64,
}

impl Profiler {
    /// Measures how long a unit takes and starts a thread on each processor; none, if only the
    /// calibration is requested.
    pub fn start(how: Profiled) -> Self {
        let unit = calibrate();
        let over = Arc::new(AtomicBool::new(false));
        let processors = match how {
            Profiled::Calibration => Vec::new(),
            Profiled::System | Profiled::Each => allowed(),
        };
        let counters = processors.into_iter().map(|number| {
            let over = Arc::clone(&over);
            Counter {
                processor: number,
                thread: thread::spawn(move || work(number, &over)),
            }
        });
        Self {
            how,
            unit,
            counters: counters.collect(),
            begun: Instant::now(),
            over,
        }
    }

    /// Ends the threads and gives the idle time of each processor in per cent.
    pub fn finish(self) -> Idleness {
        self.over.store(true, Ordering::Relaxed);
        let passed = self.begun.elapsed().as_secs_f64() * 1e6;
        let counters = self.counters.into_iter().map(|counter| {
            let units = counter.thread.join().unwrap_or(0);
            let worked = units as f64 * self.unit.mean;
            // A unit can take less time than in the calibration, which would give over 100 %.
            let idle_percent = (worked * 100.0 / passed.max(1.0)).min(100.0);
            (counter.processor, idle_percent)
        });
        Idleness {
            how: self.how,
            processors: counters.collect(),
            unit_us_mean: self.unit.mean,
            unit_us_deviation: self.unit.deviation,
        }
    }
}

/// Works on a processor until it is `over`, and returns the number of units.
fn work(number: usize, over: &AtomicBool) -> u64 {
    stay_on(number);
    run_when_idle();
    let mut page = vec![0; UNIT];
    let mut units = 0;
    while !over.load(Ordering::Relaxed) {
        unit(&mut page);
        units += 1;
    }
    units
}

/// One unit of work. `black_box` keeps the compiler from leaving it out.
fn unit(page: &mut [u8]) {
    for (index, byte) in page.iter_mut().enumerate() {
        *byte = black_box(byte.wrapping_mul(3).wrapping_add(index as u8));
    }
}

/// Measures how long a unit takes. Each sample is the shortest of five rounds, because other programs may
/// interrupt a round.
fn calibrate() -> UnitTime {
    let mut page = vec![0; UNIT];
    for _warm_up in 0..SAMPLES {
        unit(&mut page);
    }
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        let rounds = (0..5).map(|_| {
            let begun = Instant::now();
            unit(&mut page);
            begun.elapsed()
        });
        let shortest = rounds.min().unwrap_or_default();
        times.push(shortest.as_secs_f64() * 1e6);
    }
    let mean = times.iter().sum::<f64>() / SAMPLES as f64;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    UnitTime {
        mean,
        deviation: (squares / (SAMPLES - 1) as f64).sqrt(),
    }
}

/// The numbers of the processors on which this process may run.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|number| set.is_set(*number)).collect()
}

/// Binds the calling thread to a processor.
fn stay_on(number: usize) {
    let mut set = CpuSet::new();
    set.set(number);
    // If the processor is not available any longer, the thread runs on any.
    let _ = sched_setaffinity(None, &set);
}

/// Lets the calling thread run only while its processor has nothing else to do.
fn run_when_idle() {
    let least = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives through the call; 0 names the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const least) };
}
