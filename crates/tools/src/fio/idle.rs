//! `--idle-prof`: how idle the processors were. On each of them a thread that runs only where
//! nothing else does goes through units of work; how many it came through shows how much time was
//! left over.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use blocklab_fio::{Idleness, Profiled};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::clock::now;

/// Bytes that a unit of work goes over.
const UNIT: usize = 32 << 10;
/// Units by which their time is known.
const SAMPLES: usize = 10;

/// The threads at work.
pub struct Profiler {
    how: Profiled,
    begun: Instant,
    over: Arc<AtomicBool>,
    counters: Vec<(usize, Arc<AtomicU64>, JoinHandle<()>)>,
    mean: f64,
    deviation: f64,
}

impl Profiler {
    /// Learns how long a unit takes, and starts the threads, if there are to be any.
    pub fn start(how: Profiled) -> Self {
        let (mean, deviation) = calibrate();
        let over = Arc::new(AtomicBool::new(false));
        let processors = match how {
            Profiled::Calibration => Vec::new(),
            Profiled::System | Profiled::Each => allowed(),
        };
        let counters = processors.into_iter().map(|number| {
            let (units, over) = (Arc::new(AtomicU64::new(0)), Arc::clone(&over));
            let count = Arc::clone(&units);
            let thread = thread::spawn(move || work(number, &over, &count));
            (number, units, thread)
        });
        Self {
            how,
            counters: counters.collect(),
            begun: now(),
            over,
            mean,
            deviation,
        }
    }

    /// Ends the threads.
    pub fn finish(self) -> Idleness {
        self.over.store(true, Ordering::Relaxed);
        let passed = self.begun.elapsed().as_secs_f64() * 1e6;
        let counters = self.counters.into_iter().map(|(number, units, thread)| {
            let worked = units.load(Ordering::Relaxed) as f64 * self.mean;
            // One that panicked counts for what it did.
            let _ = thread.join();
            (number, (worked * 100.0 / passed.max(1.0)).min(100.0))
        });
        Idleness {
            how: self.how,
            processors: counters.collect(),
            unit_us_mean: self.mean,
            unit_us_deviation: self.deviation,
        }
    }
}

fn work(number: usize, over: &AtomicBool, units: &AtomicU64) {
    stay_on(number);
    run_when_idle();
    let mut page = vec![0; UNIT];
    while !over.load(Ordering::Relaxed) {
        unit(&mut page);
        units.fetch_add(1, Ordering::Relaxed);
    }
}

fn unit(page: &mut [u8]) {
    for (index, byte) in page.iter_mut().enumerate() {
        *byte = black_box(byte.wrapping_mul(3).wrapping_add(index as u8));
    }
}

/// Mean and standard deviation of a unit's time in microseconds. The shortest of several rounds
/// each, for others may be at work meanwhile.
fn calibrate() -> (f64, f64) {
    let mut page = vec![0; UNIT];
    for _warm_up in 0..SAMPLES {
        unit(&mut page);
    }
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        let rounds = (0..5).map(|_| {
            let begun = now();
            unit(&mut page);
            begun.elapsed()
        });
        let shortest = rounds.min().unwrap_or_default();
        times.push(shortest.as_secs_f64() * 1e6);
    }
    let mean = times.iter().sum::<f64>() / SAMPLES as f64;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    (mean, (squares / (SAMPLES - 1) as f64).sqrt())
}

/// The processors on which this may run, by number.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|number| set.is_set(*number)).collect()
}

/// The calling thread runs on this one and no other.
fn stay_on(number: usize) {
    let mut set = CpuSet::new();
    set.set(number);
    // Where it cannot be had, the thread runs anywhere.
    let _ = sched_setaffinity(None, &set);
}

/// The calling thread runs only while its processor has nothing else to do.
fn run_when_idle() {
    let least = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives through the call; 0 names the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const least) };
}
