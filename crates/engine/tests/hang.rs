//! A target that stops answering, and a signal that comes then.

use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_device::class::Class;
use blocklab_device::{Device, DeviceSpec, FaultKind, FaultSpec, Layout, VolumeSpec};
use blocklab_engine::{Backing, Clock, Control, Model, Run, Tap, TargetFile, run};
use blocklab_record::{Interval, Measurement, Stopped};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Engine, Job, Stop, UringOptions, Workload};

const HOUR: Nanos = Nanos::from_secs(3600);

/// A volume on which one read in fifty takes an hour: sooner or later a queue holds nothing else.
fn forgetful() -> DeviceSpec {
    let fault = FaultSpec {
        from: Nanos::ZERO,
        until: Nanos::MAX,
        volume: None,
        kind: FaultKind::Latency {
            added: HOUR,
            read_percent: 2.0,
            write_percent: 0.0,
        },
    };
    let volume = VolumeSpec {
        kind: "gp3".to_owned(),
        capacity: Bytes(1 << 30),
        accounting: Class::Gp3.accounting(),
        caps: Vec::new(),
        credits: Vec::new(),
        service: Some(Class::Gp3.service()),
        queue_depth: None,
        network: None,
    };
    DeviceSpec {
        name: "forgetful".to_owned(),
        volumes: vec![volume],
        layout: Layout::default(),
        instance: None,
        faults: vec![fault],
    }
}

/// Sends the signal at the first interval, and remembers when that was.
struct Signal<'a> {
    interrupted: &'a AtomicBool,
    at: Nanos,
}

impl Tap for Signal<'_> {
    fn interval(&mut self, _: &Interval, elapsed: Nanos) {
        if !self.interrupted.swap(true, Ordering::Relaxed) {
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
    let device = Device::new(&forgetful(), 1).expect("a device");
    let file = TargetFile {
        path: "model".into(),
        size: 1 << 30,
        may_write: true,
        backing: Backing::Emulated(Model::new(device)),
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
        stop: Stop {
            runtime: Some(HOUR),
            ..Stop::default()
        },
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
    let read = &job.directions["read"];
    assert_eq!(read.service.max_ns, oldest);
    let counted = read.service.histogram().expect("a histogram").count();
    assert_eq!(
        counted, read.ios,
        "no histogram holds what did not complete"
    );
}
