//! A series and its totals are one truth in two places.

mod device;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use blocklab_driver::{Backing, Control, Run, TargetFile, run, simulate};
use blocklab_record::{Interval, IntervalDirection, Measurement, Stopped};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Direction, Engine, Job, LatencyTarget, Mix, Pace, Rate, SizedRamp, Stop, Workload,
};

const MIB: u64 = 1 << 20;
const HALF: Mix = Mix::reads(50);

fn measured(jobs: Vec<Job>, file: &TargetFile) -> Measurement {
    let targets = vec![vec![file.clone()]; jobs.len()];
    let workload = Workload { seed: 3, jobs };
    let run_on = Run {
        workload: &workload,
        targets: &targets,
        clock: Clock::start(),
    };
    let never = AtomicBool::new(false);
    let control = Control::new(&never);
    let outcome = match file.backing {
        Backing::Simulated(_) => simulate(run_on, Nanos::ZERO, control, &mut ()),
        _ => run(run_on, control, &mut ()),
    };
    outcome.expect("a measurement").measurement
}

/// A rested one: its time begins with each measurement.
fn simulated() -> TargetFile {
    device::target(Backing::Simulated(device::with(Vec::new())))
}

fn job(engine: Engine, ramp_ms: u64, runtime_ms: u64) -> Job {
    Job {
        engine,
        mix: HALF,
        depth: 8,
        access: Access::Buffered,
        ramp: Nanos::from_millis(ramp_ms),
        stop: Stop::after(Nanos::from_millis(runtime_ms)),
        ..Job::new("load")
    }
}

const QUEUED: Engine = Engine::Libaio;

type Of = fn(&Interval) -> IntervalDirection;
const WAYS: [(Direction, Of); 3] = [
    (Direction::Read, |slice| slice.read),
    (Direction::Write, |slice| slice.write),
    (Direction::Trim, |slice| slice.trim),
];

/// The slices after the ramp hold what the jobs hold, to the operation and to the byte; they lie
/// end to end.
#[track_caller]
fn assert_adds_up(measurement: &Measurement) {
    let series = &measurement.series;
    for (way, of) in WAYS {
        let slices = series.iter().filter(|slice| !slice.ramp).map(of);
        let sum = slices.fold((0, 0), |sum, moved| {
            (sum.0 + moved.ios, sum.1 + moved.bytes)
        });
        let total = measurement
            .jobs
            .iter()
            .filter_map(|job| job.directions.get(&way))
            .fold((0, 0), |sum, moved| {
                (sum.0 + moved.ios, sum.1 + moved.bytes)
            });
        assert_eq!(sum, total, "{way}: {series:#?}");
    }
    let mut end = 0;
    for slice in series {
        end += slice.length_ns;
        assert_eq!(slice.end_ns, end, "{series:#?}");
        assert!(slice.length_ns > 0, "{series:#?}");
    }
}

/// A pass with a ramp of 3 s showed three slices without an operation, where 94,045 had ended, and
/// 50 of the 2,417 writes after the ramp were in its last slice: no chart showed whether the ramp was
/// long enough, and no series added up to its totals.
#[track_caller]
fn assert_ramp_is_filled(measurement: &Measurement, ramp_ms: u64) {
    let ramp = || measurement.series.iter().filter(|slice| slice.ramp);
    let length: u64 = ramp().map(|slice| slice.length_ns).sum();
    assert_eq!(length, ramp_ms * 1_000_000, "{:#?}", measurement.series);
    let ended: u64 = ramp().map(|slice| slice.read.ios + slice.write.ios).sum();
    let counted: u64 = measurement
        .jobs
        .iter()
        .map(|job| job.accounting.completed_in_ramp)
        .sum();
    assert!(ended > 0 && ended <= counted, "{ended} of {counted}");
}

#[test]
fn of_a_simulation() {
    for (ramp, runtime) in [(0, 2000), (300, 1000), (1000, 20_000), (250, 450)] {
        let measurement = measured(vec![job(QUEUED, ramp, runtime)], &simulated());
        assert_adds_up(&measurement);
        if ramp > 0 {
            assert_ramp_is_filled(&measurement, ramp);
            // Time stands still while it is cut: nothing of the ramp is missing either.
            let ramp = measurement.series.iter().filter(|slice| slice.ramp);
            let ended: u64 = ramp.map(|slice| slice.read.ios + slice.write.ios).sum();
            let census = measurement.jobs[0].accounting;
            assert_eq!(ended, census.completed_in_ramp);
        }
    }
}

#[test]
fn of_jobs_that_differ() {
    let mut paced = job(QUEUED, 0, 1500);
    paced.pace = Pace::Capped(Rate::Iops(777.0));
    let mut cooling = job(QUEUED, 500, 1000);
    cooling.stop.bytes = Some(Bytes(3 * MIB));
    let mut late = job(QUEUED, 200, 1000);
    late.start_delay = Nanos::from_millis(300);
    let sets = [
        vec![job(QUEUED, 300, 2000), paced],
        vec![job(QUEUED, 100, 900), cooling.clone()],
        vec![late],
        vec![cooling],
    ];
    for jobs in sets {
        assert_adds_up(&measured(jobs, &simulated()));
    }
    let mut cools = job(QUEUED, 200, 800);
    cools.cool_down = Nanos::from_millis(700);
    assert_adds_up(&measured(vec![cools], &simulated()));
}

#[test]
fn of_the_null_target() {
    let null = TargetFile::file(Path::new("null").to_owned(), MIB, true);
    let jobs = vec![Job {
        threads: 3,
        ..job(Engine::Null, 250, 350)
    }];
    let measurement = measured(jobs, &null);
    assert_adds_up(&measurement);
    assert_ramp_is_filled(&measurement, 250);
    let mut cools = job(Engine::Null, 100, 250);
    cools.cool_down = Nanos::from_millis(150);
    assert_adds_up(&measured(vec![cools], &null));
}

#[test]
fn of_a_file() {
    let path = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    let file = File::create(path.path()).expect("a file");
    file.set_len(4 * MIB).expect("a hole");
    let file = TargetFile::file(path.path().to_owned(), 4 * MIB, true);
    let jobs = vec![Job {
        threads: 2,
        ..job(Engine::Psync, 250, 350)
    }];
    let measurement = measured(jobs, &file);
    assert_adds_up(&measurement);
    assert_ramp_is_filled(&measurement, 250);
}

/// The end of every ramp was a moment that was known when the run began, so a ramp by bytes was
/// refused. Its last byte ends it, of one job or of a group together, on either clock.
#[test]
fn of_ramps_by_bytes() {
    let null = || TargetFile::file(Path::new("null").to_owned(), MIB, true);
    let ramp = |group| {
        Some(SizedRamp {
            bytes: Bytes(MIB),
            group,
        })
    };
    let targets: [(fn() -> TargetFile, Engine); 2] = [(simulated, QUEUED), (null, Engine::Null)];
    for (target, engine) in targets {
        for group in [None, Some(7)] {
            let one = Job {
                sized_ramp: ramp(group),
                pace: Pace::Capped(Rate::Iops(20_000.0)),
                ..job(engine, 0, 150)
            };
            let mut other = one.clone();
            other.name = "other".to_owned();
            let measurement = measured(vec![one, other], &target());
            assert_adds_up(&measurement);
            let jobs = &measurement.jobs;
            let in_ramp = |index: usize| 4096 * jobs[index].accounting.completed_in_ramp;
            let moved = match group {
                // A member of the group sees the end when its next operation comes back.
                Some(_) => vec![in_ramp(0) + in_ramp(1)],
                None => vec![in_ramp(0), in_ramp(1)],
            };
            let late = 2 * 8 * 4096;
            for moved in moved {
                assert!((MIB..=MIB + late).contains(&moved), "{group:?}: {moved}");
            }
            for job in jobs {
                // What was in flight at the end comes back after it.
                assert!(job.elapsed_ns >= 150_000_000, "{}", job.elapsed_ns);
                assert_eq!(job.stopped, Stopped::Runtime);
            }
        }
    }
}

/// With a ramp by time beside it, both must be over.
#[test]
fn of_a_ramp_by_bytes_and_by_time() {
    let with = |bytes| {
        let sized_ramp = Some(SizedRamp { bytes, group: None });
        let job = Job {
            sized_ramp,
            ..job(QUEUED, 300, 1000)
        };
        let measurement = measured(vec![job], &simulated());
        assert_adds_up(&measurement);
        let ramp = measurement.series.iter().filter(|slice| slice.ramp);
        let length: u64 = ramp.map(|slice| slice.length_ns).sum();
        (length, measurement.jobs[0].accounting.completed_in_ramp)
    };
    let (length, moved) = with(Bytes(4096));
    assert!(length >= 300_000_000 && moved > 1, "{length}, {moved}");
    let (length, moved) = with(Bytes(64 * MIB));
    assert!(length > 300_000_000, "{length}");
    assert_eq!(moved, 64 * MIB / 4096);
}

/// The story: a search for a depth that ended in the first slice behind a ramp had the operations of the ramp
/// taken from its own, and the slice held nearly 2^64 of them.
#[test]
fn of_a_search_behind_a_ramp() {
    for depth in [1, 8] {
        let latency_target = Some(LatencyTarget {
            limit: Nanos::from_secs(1),
            window: Nanos::from_millis(100),
            percentile: 90.0,
            go_on: false,
        });
        let search = Job {
            depth,
            latency_target,
            ..job(QUEUED, 1000, 2000)
        };
        assert_adds_up(&measured(vec![search], &simulated()));
    }
}

/// Two slices of a second, one of them cut, were all that a pass of 2 s had to show.
#[test]
fn a_short_pass_has_ten_slices_and_no_stump() {
    let measurement = measured(vec![job(QUEUED, 0, 2000)], &simulated());
    let lengths: Vec<u64> = measurement
        .series
        .iter()
        .map(|slice| slice.length_ns)
        .collect();
    assert_eq!(lengths.len(), 10, "{lengths:?}");
    assert!(lengths[..9].iter().all(|length| *length == 200_000_000));
    assert!(
        (200_000_000..300_000_000).contains(&lengths[9]),
        "{lengths:?}"
    );
}
