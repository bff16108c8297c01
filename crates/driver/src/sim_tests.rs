//! The virtual driver with devices whose answers are known.

use std::sync::atomic::AtomicBool;

use blocklab_device::{
    Accounting, Cap, DeviceSpec, FaultKind, FaultSpec, Latency, Origin, Rate as Sold, Service,
    Spread as Scatter, VolumeSpec,
};
use blocklab_record::{ErrorKind, JobResult, Stopped};
use blocklab_units::Bytes;
use blocklab_workload::Direction;
use blocklab_workload::{
    Checksum, EndsOthers, Engine, Flow, Job, LatencyTarget, Limit, Log, Measure, MinRate, Mix,
    Pace, Pattern, Rate, Spread, Steady, SteadyVariable, Stop, UringOptions, Verify, Workload,
};

use super::*;
use blocklab_targets::Clock;

const SECOND: u64 = 1_000_000_000;

/// How long a network SSD takes: 600 µs and 2.2 µs a KiB, scattered.
fn network_ssd() -> Service {
    let latency = Latency {
        base: Nanos(600_000),
        per_kib_ns: 2_200.0,
        origin: Origin::Given,
    };
    let spread = Scatter {
        sigma: 0.295,
        tail: None,
        origin: Origin::Given,
    };
    Service::even(latency, spread)
}

/// A gp3-like volume of this many IOPS, with a bucket of 20 ms.
fn volume(iops: f64) -> DeviceSpec {
    let cap = Cap {
        bucket: Nanos::from_millis(20),
        ..Cap::new("operations", Sold::Iops(iops), Origin::Given)
    };
    let volume = VolumeSpec {
        accounting: Accounting::Merged {
            unit: Bytes(256 << 10),
        },
        caps: vec![cap],
        service: Some(network_ssd()),
        ..VolumeSpec::new("gp3", Bytes(1 << 40))
    };
    DeviceSpec::new("test", vec![volume])
}

fn target(spec: &DeviceSpec, simulated: bool) -> (Model, TargetFile) {
    let model = Model::new(Device::new(spec, 1).unwrap());
    let backing = if simulated {
        Backing::Simulated(model.clone())
    } else {
        Backing::Emulated(model.clone())
    };
    let file = TargetFile {
        backing,
        ..TargetFile::file("model".into(), 1 << 40, true)
    };
    (model, file)
}

fn outcome(jobs: Vec<Job>, spec: &DeviceSpec) -> Outcome {
    let never = AtomicBool::new(false);
    let (_, file) = target(spec, true);
    let targets = vec![vec![file]; jobs.len()];
    let workload = Workload { seed: 3, jobs };
    let run = Run {
        workload: &workload,
        targets: &targets,
        clock: Clock::start(),
    };
    simulate(run, Nanos::ZERO, Control::new(&never), &mut ()).unwrap()
}

fn result(job: Job, spec: &DeviceSpec) -> JobResult {
    outcome(vec![job], spec).measurement.jobs.remove(0)
}

fn job(depth: u32, seconds: u64) -> Job {
    let stop = Stop::after(Nanos::from_secs(seconds));
    let engine = Engine::IoUring(UringOptions::default());
    Job {
        depth,
        stop,
        engine,
        ramp: Nanos::from_secs(1),
        ..Job::new("job")
    }
}

/// The story: a load without a runtime had a slice for every second of it. Eleven days of a slow
/// volume filled a Record of 685 MB, and Ctrl-C had to wait until it was written.
#[test]
fn slices_of_a_load_without_a_runtime_grow_with_its_time() {
    let mut job = Job::new("days");
    job.pace = Pace::OpenFixed(Rate::Iops(0.01));
    job.stop = Stop::after_ios(1_000);
    let measured = outcome(vec![job], &volume(1_000.0)).measurement;
    let slices = &measured.series;
    assert!(
        measured.elapsed_ns > 99_000 * SECOND,
        "{}",
        measured.elapsed_ns
    );
    assert!((3_600..20_000).contains(&slices.len()), "{}", slices.len());
    assert_eq!(slices[0].length_ns, SECOND);
    let longest = slices.iter().map(|slice| slice.length_ns).max();
    assert_eq!(longest, Some(27 * SECOND));
    let ios: u64 = slices.iter().map(|slice| slice.read.ios).sum();
    assert_eq!(ios, 1_000);
}

#[test]
fn the_limit_binds_and_littles_law_holds() {
    let result = result(job(32, 60), &volume(3000.0));
    assert!((result.iops() - 3000.0).abs() < 3.0, "{}", result.iops());
    let mean = result.directions[&Direction::Read].service.mean_ns;
    let in_flight = result.iops() * mean / 1e9;
    assert!((in_flight - 32.0).abs() < 0.1, "{in_flight}");
}

#[test]
fn latency_binds_at_depth_one() {
    let result = result(job(1, 60), &volume(16_000.0));
    let mean = result.directions[&Direction::Read].service.mean_ns;
    assert!(
        (result.iops() - 1e9 / mean).abs() < 1.0,
        "X = 1 / L: {} of {mean}",
        result.iops()
    );
}

#[test]
fn a_synchronous_engine_has_one_in_flight_whatever_its_depth() {
    let sync = Job {
        engine: Engine::Psync,
        ..job(16, 10)
    };
    assert_eq!(
        result(sync, &volume(3000.0)).iops(),
        result(job(1, 10), &volume(3000.0)).iops()
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let play = || {
        let mix = Mix::reads(70);
        let pace = Pace::OpenPoisson(Rate::Iops(2500.0));
        let jobs = vec![
            Job { mix, ..job(8, 20) },
            Job {
                pace,
                threads: 4,
                ..Job::new("open")
            },
        ];
        format!("{:?}", outcome(jobs, &volume(3000.0)).measurement)
    };
    assert_eq!(play(), play());
}

#[test]
fn slices_are_whole_seconds_and_add_up() {
    let measurement = outcome(vec![job(4, 10)], &volume(3000.0)).measurement;
    let after: Vec<_> = measurement
        .series
        .iter()
        .filter(|slice| !slice.ramp)
        .collect();
    let (last, whole) = after.split_last().unwrap();
    assert_eq!(whole.len(), 9);
    assert!(whole.iter().all(|slice| slice.length_ns == 1_000_000_000));
    let with_the_rest = 1_000_000_000..1_100_000_000;
    assert!(with_the_rest.contains(&last.length_ns), "{last:?}");
    let ios: u64 = after.iter().map(|slice| slice.read.ios).sum();
    assert_eq!(ios, measurement.jobs[0].directions[&Direction::Read].ios);
}

#[test]
fn samples_are_taken_twice_a_second() {
    let sampled = Job {
        measure: Measure::ALL,
        ..job(32, 10)
    };
    let result = result(sampled, &volume(3000.0));
    let detail = result.directions[&Direction::Read].detail.as_ref().unwrap();
    assert_eq!((detail.iops.count, detail.bytes_per_s.count), (20, 20));
    assert!((detail.iops.mean - 3000.0).abs() < 5.0, "{:?}", detail.iops);
    assert!((detail.bytes_per_s.max - 3000.0 * 4096.0).abs() < 50_000.0);
    let depths = result.depths.unwrap();
    assert!(depths.in_flight[5] > 29_000, "{depths:?}");
    assert_eq!(result.threads_use, None, "no processor was used");
}

#[test]
fn flows_share_by_weight() {
    let flow = |weight| {
        let pause = Nanos(100_000);
        Some(Flow {
            group: 1,
            weight,
            pause,
        })
    };
    let jobs = vec![
        Job {
            flow: flow(3),
            name: "three".to_owned(),
            ..job(4, 10)
        },
        Job {
            flow: flow(1),
            name: "one".to_owned(),
            ..job(4, 10)
        },
    ];
    let measurement = outcome(jobs, &volume(3000.0)).measurement;
    let ios = |index: usize| measurement.jobs[index].directions[&Direction::Read].ios as f64;
    let ratio = ios(0) / ios(1);
    assert!((ratio - 3.0).abs() < 0.05, "{ratio}");
}

#[test]
fn the_depth_for_a_latency_is_found() {
    let mut seeking = job(64, 60);
    seeking.ramp = Nanos::ZERO;
    seeking.latency_target = Some(LatencyTarget {
        limit: Nanos::from_millis(4),
        window: Nanos::from_millis(500),
        percentile: 90.0,
        go_on: false,
    });
    let result = result(seeking, &volume(3000.0));
    assert_eq!(result.stopped, Stopped::Steady);
    // Little: 3000/s for 4 ms is a depth of 12.
    let found = result.found_depth.unwrap();
    assert!((10..=13).contains(&found), "{found}");
}

/// The story: the report of a search for a depth was that of all the depths it had tried, with a
/// quarter of its operations at depth 1 to 4; fio's is that of one more window at the depth it found.
#[test]
fn a_search_for_a_depth_reports_its_last_window() {
    let mut seeking = job(64, 60);
    seeking.measure.depths = true;
    seeking.latency_target = Some(LatencyTarget {
        limit: Nanos::from_millis(4),
        window: Nanos::from_millis(500),
        percentile: 90.0,
        go_on: false,
    });
    let run = |job: Job| {
        let mut measurement = outcome(vec![job], &volume(3000.0)).measurement;
        (measurement.jobs.remove(0), measurement.series)
    };
    let (last, series) = run(seeking.clone());
    assert_eq!(last.stopped, Stopped::Steady);
    assert_eq!(last.elapsed_ns / 10_000_000, 50, "one window of 500 ms");
    let reads = &last.directions[&Direction::Read];
    assert!((1_450..=1_550).contains(&reads.ios), "{}", reads.ios);
    let [below_8, at_8] = last.depths.map_or([0; 2], |depths| {
        let counts = depths.in_flight;
        [counts[..3].iter().sum(), counts[3]]
    });
    assert!(below_8 < 20 && at_8 > 1_400, "{below_8} and {at_8}");
    let accounting = &last.accounting;
    assert_eq!(
        accounting.completed,
        reads.ios + accounting.completed_in_ramp
    );
    let in_series = |ramp| -> u64 {
        let slices = series.iter().filter(|slice| slice.ramp == ramp);
        slices.map(|slice| slice.read.ios).sum()
    };
    assert_eq!(in_series(false), reads.ios);
    assert_eq!(in_series(true), accounting.completed_in_ramp);

    // Neither a search that goes on nor one that its runtime ends has a last window.
    let mut goes_on = seeking.clone();
    goes_on.latency_target.as_mut().unwrap().go_on = true;
    let mut cut_short = seeking;
    cut_short.stop.runtime = Some(Nanos::from_millis(1_200));
    for (whole, seconds) in [(run(goes_on).0, 60.0), (run(cut_short).0, 1.2)] {
        let elapsed = whole.elapsed_ns as f64 / 1e9;
        assert!((elapsed - seconds).abs() < 0.1, "{elapsed}");
    }
}

#[test]
fn threads_share_one_position() {
    let mut sharing = job(1, 10);
    sharing.threads = 4;
    sharing.ramp = Nanos::ZERO;
    sharing.pattern = Pattern::Sequential;
    sharing.region.spread = Spread::Shared;
    sharing.stop = Stop::after_ios(25);
    assert_eq!(
        result(sharing, &volume(3000.0)).directions[&Direction::Read].ios,
        100
    );
}

#[test]
fn jobs_on_the_same_part_share_one_position() {
    let spec = volume(3000.0);
    let part = |name: &str| {
        let mut job = job(1, 10);
        job.name = name.to_owned();
        job.ramp = Nanos::ZERO;
        job.pattern = Pattern::Sequential;
        job.region.spread = Spread::Shared;
        job.region.size = Some(Bytes(4096 * 50));
        job.stop.ios = Some(25);
        job.log = Some(Log {
            entries: true,
            ..Log::default()
        });
        job
    };
    let logs = outcome(vec![part("a"), part("b")], &spec).logs;
    let mut offsets: Vec<u64> = logs
        .iter()
        .flat_map(|(_, log)| log.entries.iter().map(|entry| entry.offset / 4096))
        .collect();
    offsets.sort_unstable();
    let all: Vec<u64> = (0..50).collect();
    assert_eq!(offsets, all, "each block once, by one of the two");
}

#[test]
fn what_is_done_after_the_measured_time_counts_nowhere() {
    let plain = outcome(vec![job(32, 10)], &volume(3000.0));
    let cooled = Job {
        cool_down: Nanos::from_secs(5),
        ..job(32, 10)
    };
    let cooled = outcome(vec![cooled], &volume(3000.0));
    let seconds_of = |outcome: &Outcome| {
        let job = &outcome.measurement.jobs[0];
        let seconds: u64 = outcome.measurement.series.iter().map(|s| s.length_ns).sum();
        (job.elapsed_ns / 1_000_000_000, seconds / 1_000_000_000)
    };
    assert_eq!(seconds_of(&plain), (10, 11));
    assert_eq!(seconds_of(&cooled), (10, 11));
    let ios = |outcome: &Outcome| outcome.measurement.jobs[0].directions[&Direction::Read].ios;
    let difference = ios(&plain).abs_diff(ios(&cooled));
    assert!(difference <= 32, "but for what was in flight: {difference}");
    let accounting = &cooled.measurement.jobs[0].accounting;
    assert_eq!(accounting.issued, accounting.completed, "nothing is lost");
}

/// A job with a minimum rate of writes failed when it read back what it had written: it wrote nothing then.
#[test]
fn what_is_read_back_has_no_rate_to_reach() {
    let writes = Job {
        mix: Mix::WRITE,
        ramp: Nanos::ZERO,
        stop: Stop::after_bytes(Bytes(300 * 4096)),
        min_rate: Some(MinRate {
            rates: [None, Some(Rate::Iops(50.0)), None],
            cycle: Nanos::from_secs(1),
            settle: Nanos::ZERO,
        }),
        verify: Some(Verify::new(Checksum::Crc32c)),
        ..job(4, 60)
    };
    let result = result(writes, &volume(100.0));
    assert_eq!(
        (result.stopped, result.errors),
        (Stopped::Bytes, Vec::new())
    );
    assert_eq!(result.directions[&Direction::Read].ios, 300);
}

#[test]
fn a_job_that_is_too_slow_ends_as_failed() {
    let mut slow = job(4, 60);
    let min_rate = |iops| {
        Some(MinRate {
            rates: [Some(Rate::Iops(iops)), None, None],
            cycle: Nanos::from_secs(1),
            settle: Nanos::ZERO,
        })
    };
    slow.min_rate = min_rate(2900.0);
    let in_time = result(
        Job {
            depth: 32,
            ..slow.clone()
        },
        &volume(3000.0),
    );
    assert_eq!(in_time.stopped, Stopped::Runtime);
    slow.min_rate = min_rate(3100.0);
    let late = result(slow, &volume(3000.0));
    assert_eq!(late.stopped, Stopped::Error);
    assert_eq!(
        (late.errors.len(), late.errors[0].kind),
        (1, ErrorKind::Rate)
    );
    assert!(late.accounting.balances() && late.accounting.failed == 0);
}

/// The story: a flush of a range came back from a model with the length of the range, where a device
/// gives 0, and counted as a short transfer that ended the job.
#[test]
fn a_flush_of_a_range_succeeds() {
    let mut flushing = job(4, 10);
    flushing.mix = Mix::WRITE;
    flushing.pattern = Pattern::Sequential;
    flushing.flush.range_every = 8;
    let result = result(flushing, &volume(3000.0));
    assert_eq!(
        (result.stopped, result.errors),
        (Stopped::Runtime, Vec::new())
    );
}

/// The story: the operations of a search for a depth were taken from those of its last window, which
/// was thus too slow for any rate.
#[test]
fn the_last_window_of_a_search_is_judged_by_its_own_operations() {
    let mut seeking = job(64, 60);
    seeking.latency_target = Some(LatencyTarget {
        limit: Nanos::from_millis(4),
        window: Nanos::from_secs(3),
        percentile: 90.0,
        go_on: false,
    });
    seeking.min_rate = Some(MinRate {
        rates: [Some(Rate::Iops(500.0)), None, None],
        cycle: Nanos::from_secs(1),
        settle: Nanos::ZERO,
    });
    let result = result(seeking, &volume(3000.0));
    assert_eq!(result.stopped, Stopped::Steady, "{:?}", result.errors);
}

#[test]
fn a_log_holds_every_operation_and_its_sums() {
    let mut logged = job(4, 2);
    logged.log = Some(Log {
        entries: true,
        average: Some(Nanos::from_millis(500)),
        histogram: Some(Nanos::from_secs(1)),
    });
    let outcome = outcome(vec![logged], &volume(3000.0));
    let read = &outcome.measurement.jobs[0].directions[&Direction::Read];
    let (name, log) = &outcome.logs[0];
    assert_eq!((name.as_str(), log.entries.len() as u64), ("job", read.ios));
    let spans: u64 = log.spans.iter().map(|span| span.operations).sum();
    let counted: u64 = log.histograms.iter().map(|(.., h)| h.count()).sum();
    assert_eq!((spans, counted), (read.ios, read.ios));
    let sum: u64 = log.entries.iter().map(|entry| entry.service.0).sum();
    assert!((sum as f64 / read.ios as f64 - read.service.mean_ns).abs() < 1.0);
}

#[test]
fn a_batch_of_completions_is_waited_for() {
    let mut batched = job(32, 10);
    batched.batch.complete = 16;
    let result = result(batched, &volume(3000.0));
    assert!(result.accounting.balances());
    assert!((result.iops() - 3000.0).abs() < 10.0, "{}", result.iops());
}

#[test]
fn an_open_loop_beyond_the_limit_leaves_a_backlog() {
    let pace = Pace::OpenFixed(Rate::Iops(4000.0));
    let result = result(
        Job {
            pace,
            ramp: Nanos::ZERO,
            ..job(64, 10)
        },
        &volume(3000.0),
    );
    assert!((result.iops() - 3000.0).abs() < 30.0, "{}", result.iops());
    assert!(
        (9_500..10_500).contains(&result.accounting.overdue),
        "{:?}",
        result.accounting
    );
    let response = result.directions[&Direction::Read]
        .response
        .as_ref()
        .unwrap();
    assert!(
        response.max_ns > 2_000_000_000,
        "the last ones waited for a quarter of the run"
    );
}

/// The story: 400 operations were requested, the device lagged behind their rate, and the response
/// latency counted 406: those beyond the 400th were taken for due.
#[test]
fn a_job_that_moved_all_it_was_to_move_owes_nothing() {
    let rate = Rate::Iops(4000.0);
    let poisson = true;
    for pace in [
        Pace::OpenFixed(rate),
        Pace::OpenPoisson(rate),
        Pace::ByDirection {
            rates: [Some(rate), None, None],
            poisson,
        },
    ] {
        let stop = Stop::after_ios(400);
        let job = Job {
            pace,
            stop,
            ramp: Nanos::ZERO,
            ..job(4, 10)
        };
        let result = result(job, &volume(3000.0));
        let read = &result.directions[&Direction::Read];
        let response = read.response.as_ref().unwrap();
        assert_eq!((read.ios, response.count), (400, 400), "{pace:?}");
        assert_eq!(result.accounting.overdue, 0, "{pace:?}");
    }
}

/// The story: a volume stopped answering halfway through a run of 500 IOPS and was still silent at
/// its end. 1,500 operations were due and never began. A closed loop reported a p99 of 2.94 s; fixed
/// and Poisson arrivals, which are chosen because they hide nothing, reported 610 µs.
#[test]
fn a_stall_that_outlasts_the_run_is_in_the_response_latency_of_every_pace() {
    let stall = FaultSpec {
        from: Nanos::from_secs(5),
        until: Nanos::from_secs(20),
        volume: None,
        kind: FaultKind::Stall,
    };
    let device = DeviceSpec {
        faults: vec![stall],
        ..volume(3000.0)
    };
    let rate = Rate::Iops(500.0);
    let rates = [Some(rate), None, None];
    for pace in [
        Pace::Capped(rate),
        Pace::OpenFixed(rate),
        Pace::OpenPoisson(rate),
        Pace::ByDirection {
            rates,
            poisson: true,
        },
    ] {
        let job = Job {
            pace,
            ramp: Nanos::ZERO,
            ..job(4, 10)
        };
        let result = result(job, &device);
        let overdue = result.accounting.overdue;
        assert!((2_200..2_800).contains(&overdue), "{pace:?}: {overdue}");
        let read = &result.directions[&Direction::Read];
        let response = read.response.as_ref().unwrap();
        assert_eq!(response.count, read.ios + overdue, "{pace:?}");
        // Half of the operations were due in the stall, at all moments of its five seconds.
        let p90 = response.p90_ns;
        assert!(
            (3_500_000_000..4_500_000_000).contains(&p90),
            "{pace:?}: {p90}"
        );
    }
}

#[test]
fn a_day_goes_by_in_an_instant() {
    // A schedule of one operation a minute: time jumps from one to the next.
    let pace = Pace::OpenFixed(Rate::Iops(1.0 / 60.0));
    let result = result(
        Job {
            pace,
            ramp: Nanos::ZERO,
            ..job(1, 86_400)
        },
        &volume(3000.0),
    );
    assert_eq!(result.directions[&Direction::Read].ios, 1440);
}

#[test]
fn one_job_cannot_live_in_two_times() {
    let (_, simulated) = target(&volume(3000.0), true);
    let workload = Workload {
        seed: 1,
        jobs: vec![job(1, 1)],
    };
    let targets = vec![vec![
        simulated.clone(),
        TargetFile::file("file".into(), 1 << 20, true),
    ]];
    let run = Run {
        workload: &workload,
        targets: &targets,
        clock: Clock::start(),
    };
    let never = AtomicBool::new(false);
    let error = simulate(run, Nanos::ZERO, Control::new(&never), &mut ()).unwrap_err();
    assert!(matches!(error, Error::MixedClocks(_)), "{error}");
}

/// The CSV of a simulated run had a processor time of 0 ns, and a machine that was busy for 0 %.
#[test]
fn a_simulation_knows_no_processor() {
    let cpu = outcome(vec![job(1, 1)], &volume(3000.0)).measurement.cpu;
    assert!(cpu.unknown.has(Statistic::Process) && cpu.unknown.has(Statistic::MachineBusy));
}

#[test]
fn a_job_may_end_those_beside_it() {
    let spec = volume(1000.0);
    let ended = |ends_others| {
        let short = Job {
            name: "short".to_owned(),
            ends_others,
            ..job(1, 1)
        };
        let outcome = outcome(vec![short, job(1, 10)], &spec);
        outcome.measurement.elapsed_ns / 1_000_000_000
    };
    let alone = ended(EndsOthers::Never);
    assert!(alone >= 10, "{alone}");
    assert_eq!(ended(EndsOthers::OnError), alone);
    let together = ended(EndsOthers::Always);
    assert!(together < 4, "{together}");
}

/// The rounds of a job went on after its runtime, beside a longer job or while its own load cooled down.
/// Three rounds of nothing are equal: it was steady, and its operations were divided by their time as
/// well. A sample that reached into the cool-down was too low.
#[test]
fn rounds_and_samples_end_with_the_measured_time() {
    let mut judged = job(1, 2);
    judged.stop.steady = Some(Steady::Deviation {
        variable: SteadyVariable::Iops,
        round: Nanos(SECOND),
        rounds: 3,
        limit: Limit::Absolute(0.5),
    });
    judged.measure.iops_every = Some(Nanos(SECOND * 19 / 10));
    let cools = Job {
        cool_down: Nanos(6 * SECOND),
        ..judged.clone()
    };
    for jobs in [vec![cools], vec![judged, job(1, 8)]] {
        let measurement = outcome(jobs, &volume(1000.0)).measurement;
        let result = &measurement.jobs[0];
        assert_eq!(result.stopped, Stopped::Runtime);
        assert_eq!(result.steady_rounds.len(), 2);
        assert!(result.elapsed_ns < 3 * SECOND, "{}", result.elapsed_ns);
        let detail = result.directions[&Direction::Read].detail.as_ref();
        assert_eq!(detail.expect("samples").iops.count, 1);
    }
}

#[test]
fn an_operation_may_not_take_longer_than_allowed() {
    let strict = Job {
        max_latency: Some(Nanos(1)),
        ..job(1, 10)
    };
    let result = result(strict, &volume(1000.0));
    assert_eq!(result.stopped, blocklab_record::Stopped::Error);
    assert_eq!(result.errors[0].kind, ErrorKind::Errno(libc::ETIMEDOUT));
}
