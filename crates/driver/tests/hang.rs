//! A target that stops answering: for a while, or until a signal comes.

mod device;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use blocklab_device::{FaultKind, FaultSpec};
use blocklab_driver::{Backing, Control, Event, Observer, Questions, Run, run, simulate};
use blocklab_record::{Measurement, Stopped};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Direction;
use blocklab_workload::{Content, Engine, Job, Mix, Pace, Rate, Stop, UringOptions, Workload};

const HOUR: Nanos = Nanos::from_secs(3600);

/// One read in fifty takes an hour: sooner or later a queue holds nothing else.
fn forgetful() -> FaultSpec {
    FaultSpec {
        from: Nanos::ZERO,
        until: Nanos::MAX,
        volume: None,
        kind: FaultKind::Latency {
            added: HOUR,
            read_percent: 2.0,
            write_percent: 0.0,
        },
    }
}

/// Sends the signal at the first interval, and remembers when that was.
struct Signal<'a> {
    interrupted: &'a AtomicBool,
    at: Nanos,
}

impl Questions for Signal<'_> {}

impl Observer for Signal<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Interval { elapsed, .. } = event
            && !self.interrupted.swap(true, Ordering::Relaxed)
        {
            self.at = elapsed;
        }
    }
}

fn interrupted(job: Job) -> (Measurement, Nanos) {
    let flag = AtomicBool::new(false);
    let mut signal = Signal {
        interrupted: &flag,
        at: Nanos::ZERO,
    };
    let model = device::with(vec![forgetful()]);
    let file = device::target(Backing::Emulated(model));
    let workload = Workload {
        seed: 1,
        jobs: vec![job],
    };
    let run_on = Run {
        workload: &workload,
        targets: &[vec![file]],
        clock: Clock::start(),
    };
    let outcome = run(run_on, Control::new(&flag), &mut signal).expect("a measurement");
    assert!(outcome.abandoned, "the device answers in an hour");
    (outcome.measurement, signal.at)
}

/// A target stopped answering after 2 s, and the user pressed Ctrl-C at 20 s. The time of the job
/// ended with its last completion: "17,887 IOPS, only 2.0 s were measured", where 1,900 IOPS were
/// true, and the 8 operations that had waited for 18 s were in no latency.
#[test]
fn the_wait_for_what_is_not_answered_counts_to_the_signal() {
    let (measurement, signal) = interrupted(Job {
        engine: Engine::IoUring(UringOptions::default()),
        depth: 8,
        stop: Stop::after(HOUR),
        ..Job::new("hung")
    });
    let job = &measurement.jobs[0];
    assert_eq!(job.stopped, Stopped::Interrupted);
    assert!(signal > Nanos::ZERO);
    assert!(
        job.elapsed_ns >= signal.0,
        "{} ns were measured, and the signal came at {signal}",
        job.elapsed_ns
    );
    let census = job.accounting;
    assert!(census.balances(), "{census:?}");
    assert_eq!(census.in_flight, 8);
    // What hung when the signal came hung for as long as it was waited for after that, too.
    let oldest = census.oldest_in_flight_ns.expect("an age");
    assert!(
        oldest
            >= Control::new(&AtomicBool::new(false))
                .drain_limit_interrupted
                .0
    );
    let read = &job.directions[&Direction::Read];
    assert_eq!(read.service.max_ns, oldest);
    let counted = read.service.histogram().expect("a histogram").count();
    assert_eq!(
        counted, read.ios,
        "no histogram holds what did not complete"
    );
}

/// Stands still for two seconds at the first interval, as everything does after Ctrl-Z, and the thread
/// that draws a live view after Ctrl-S.
struct Pause {
    is_over: bool,
}

impl Questions for Pause {}

impl Observer for Pause {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Interval { .. }) && !self.is_over {
            self.is_over = true;
            std::thread::sleep(Duration::from_secs(2));
        }
    }
}

/// The story: a run that was stopped with Ctrl-Z before its end and resumed more than 30 s after it
/// failed at once: "8 operations did not come back; the target hangs".
#[test]
fn a_pause_over_the_end_is_no_hang_of_the_target() {
    let model = device::with(Vec::new());
    let job = Job {
        threads: 4,
        stop: Stop::after(Nanos::from_millis(1500)),
        ..Job::new("paused")
    };
    let workload = Workload {
        seed: 1,
        jobs: vec![job],
    };
    let run_on = Run {
        workload: &workload,
        targets: &[vec![device::target(Backing::Emulated(model))]],
        clock: Clock::start(),
    };
    let never = AtomicBool::new(false);
    let control = Control {
        drain_limit: Nanos::from_millis(500),
        ..Control::new(&never)
    };
    let mut pause = Pause { is_over: false };
    let outcome = run(run_on, control, &mut pause).expect("a measurement");
    assert!(pause.is_over);
    assert!(!outcome.abandoned);
    assert_eq!(outcome.measurement.jobs[0].stopped, Stopped::Runtime);
}

/// Of 1,000 operations a second, requested without arrivals, a third never happened while
/// the target stood still for 2 s of 6, and the percentiles looked well: service p99.9 15 ms, of the
/// one operation that waited a single sample, and no response latency at all.
#[test]
fn a_stall_shows_under_every_rate() {
    let stall = FaultSpec {
        from: Nanos::from_secs(2),
        until: Nanos::from_secs(4),
        volume: None,
        kind: FaultKind::Stall,
    };
    let mix = Mix::reads(75);
    let paces = [
        Pace::Capped(Rate::Iops(1000.0)),
        Pace::Capped(Rate::Bytes(4096.0 * 1000.0)),
        Pace::OpenFixed(Rate::Iops(1000.0)),
    ];
    for pace in paces {
        let model = device::with(vec![stall.clone()]);
        let file = device::target(Backing::Simulated(model));
        let job = Job {
            pace,
            mix,
            depth: 4,
            engine: Engine::IoUring(UringOptions::default()),
            stop: Stop::after(Nanos::from_secs(6)),
            ..Job::new("stalled")
        };
        let workload = Workload {
            seed: 1,
            jobs: vec![job],
        };
        let run_on = Run {
            workload: &workload,
            targets: &[vec![file]],
            clock: Clock::start(),
        };
        let never = AtomicBool::new(false);
        let outcome = simulate(run_on, Nanos::ZERO, Control::new(&never), &mut ());
        let job = outcome.expect("a measurement").measurement.jobs.remove(0);
        let census = job.accounting;
        let responses = |way| job.directions[&way].response.clone().expect("a response");
        let (read, write) = (responses(Direction::Read), responses(Direction::Write));
        // A third of what was due waited for 1 s on average, and a twelfth for 1.5 s or more.
        for response in [&read, &write] {
            assert!(response.p90_ns > 1_000_000_000, "{pace:?}: {response:?}");
            assert!(response.p99_ns > 1_800_000_000, "{pace:?}: {response:?}");
        }
        let service = &job.directions[&Direction::Read].service;
        assert!(service.p99_ns < 100_000_000, "{pace:?}: {service:?}");
        if matches!(pace, Pace::Capped(_)) {
            // What was due was either issued or missed; the last arrival may be that of the end.
            let due = census.issued + census.overdue;
            assert!((6000..=6001).contains(&due), "{pace:?}: {census:?}");
            assert!(
                (1900..2000).contains(&census.overdue),
                "{pace:?}: {census:?}"
            );
            let counted = read.count + write.count;
            assert_eq!(counted, census.completed + census.overdue, "{pace:?}");
            let share = write.count as f64 / counted as f64;
            assert!((0.23..0.27).contains(&share), "{pace:?}: {share}");
        }
    }
}

/// A thread panicked while it was prepared. The others had reported that they were ready and kept their
/// senders at the gate, so the run waited for ever for a report that could not come.
#[test]
fn a_thread_that_panics_before_the_gate_ends_the_run() {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let job = |name| Job {
            mix: Mix::WRITE,
            stop: Stop::after(HOUR),
            ..Job::new(name)
        };
        let broken = Job {
            // A rule of jobs forbids a pattern without bytes; nothing has checked this job.
            content: Content::Window { size: Bytes::MIB },
            fill: Some(Vec::new().into()),
            ..job("broken")
        };
        let workload = Workload {
            seed: 1,
            jobs: vec![job("whole"), broken],
        };
        let file = || device::target(Backing::Emulated(device::with(Vec::new())));
        let run_on = Run {
            workload: &workload,
            targets: &[vec![file()], vec![file()]],
            clock: Clock::start(),
        };
        let never = AtomicBool::new(false);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            run(run_on, Control::new(&never), &mut ()).map(drop)
        }));
        let _ = done.send(ended.is_err());
    });
    let panicked = ended.recv_timeout(Duration::from_secs(20));
    assert_eq!(panicked, Ok(true), "the panic is that of the run");
}
