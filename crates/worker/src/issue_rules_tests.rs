//! Rules that only few jobs have: rates by direction, marks, overlaps, limits, pauses, replays.

use blocklab_workload::{BlockSizes, Completion, Pattern, Region, SizeMix};

use super::*;

fn writes(recorder: &Recorder) -> u64 {
    recorder.counters(Direction::Write).unwrap().ios.get()
}

fn half_and_half() -> Job {
    let mix = Mix::reads(50);
    Job { mix, ..job() }
}

#[test]
fn each_direction_keeps_its_own_rate() {
    let rates = [Some(Rate::Iops(2000.0)), Some(Rate::Iops(500.0)), None];
    let pace = Pace::ByDirection {
        rates,
        poisson: false,
    };
    let (mut worker, recorder, _) = employ(&Job {
        pace,
        depth: 8,
        ..half_and_half()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    // Arrivals of 0 to 100 ms, regardless of the mix.
    assert_eq!((reads(&recorder), writes(&recorder)), (200, 50));
}

#[test]
fn a_direction_without_a_rate_takes_what_is_left() {
    let pace = Pace::ByDirection {
        rates: [None, Some(Rate::Iops(100.0)), None],
        poisson: false,
    };
    let (mut worker, recorder, _) = employ(&Job {
        pace,
        ..half_and_half()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(reads(&recorder) + writes(&recorder), 100);
    assert_eq!(writes(&recorder), 10);
}

#[test]
fn a_count_of_operations_ends_a_job() {
    let stop = Stop::after_ios(17);
    let (mut worker, recorder, _) = employ(&Job {
        stop,
        depth: 4,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!((reads(&recorder), worker.stopped()), (17, Stopped::Bytes));
}

/// The operations of the ramp counted, against those of the bytes of a job, which do not: a job could end
/// before its measured time, with a result of zeros.
#[test]
fn operations_of_a_ramp_do_not_end_a_job() {
    let counted = Job {
        stop: Stop::after_ios(17),
        ramp: ms(30),
        ..job()
    };
    let in_pieces = Job {
        stop: Stop {
            loops: Some(1),
            ..Stop::default()
        },
        ramp: ms(3),
        pattern: Pattern::RANDOM_ONCE,
        sizes: BlockSizes {
            read: SizeMix(vec![(Bytes(4096), 1), (Bytes(8192), 1)]),
            ..BlockSizes::fixed(Bytes(4096))
        },
        region: Region {
            size: Some(Bytes(16 * 4096)),
            ..Region::default()
        },
        ..job()
    };
    let measured = |job: &Job| {
        let (mut worker, recorder, _) = employ(job);
        play(&mut worker, &mut Model::new(ms(1)));
        let bytes = recorder.counters(Direction::Read).unwrap().bytes.get();
        (recorder.issued.get(), bytes)
    };
    assert_eq!(measured(&counted).0, 30 + 17);
    assert!(measured(&in_pieces).1 >= 16 * 4096);
}

/// The story: in a job with verify, the writes of a ramp of 200 ms counted towards `number_ios=40`, so
/// that 20 were measured; fio measures 40.
#[test]
fn the_ramp_of_a_job_that_verifies_does_not_end_it() {
    let (mut worker, recorder, _) = employ(&Job {
        mix: Mix::WRITE,
        verify: Some(Verify {
            when: When::Never,
            ..Verify::new(Checksum::Crc32c)
        }),
        stop: Stop::after_ios(17),
        ramp: ms(10),
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(recorder.issued.get(), 10 + 17);
}

#[test]
fn a_delayed_job_begins_later_and_lasts_as_long() {
    let (mut worker, recorder, _) = employ(&Job {
        start_delay: ms(30),
        ..job()
    });
    let issues = play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!((issues[0], reads(&recorder)), (ms(30), 100));
}

#[test]
fn a_low_mark_lets_the_depth_run_down_before_it_is_filled_again() {
    let mut lazy = Job { depth: 4, ..job() };
    lazy.batch.low = 1;
    let (mut worker, ..) = employ(&lazy);
    worker.begin(Nanos::ZERO);
    let mut taken: Vec<Io> = Vec::new();
    let fill = |worker: &mut Worker, taken: &mut Vec<Io>| {
        let before = taken.len();
        while let Action::Issue(io) = worker.next(Nanos(1)) {
            taken.push(io);
        }
        taken.len() - before
    };
    assert_eq!(fill(&mut worker, &mut taken), 4);
    let mut refilled = Vec::new();
    for _ in 0..3 {
        let Io { slot, len, .. } = taken.pop().unwrap();
        let result = len as i32;
        worker.complete(Completion { slot, result }, Nanos(2));
        refilled.push(fill(&mut worker, &mut taken));
    }
    assert_eq!(refilled, [0, 0, 3]);
}

#[test]
fn overlapping_operations_wait_for_each_other() {
    let mut small = Job {
        depth: 8,
        no_overlap: true,
        ..half_and_half()
    };
    small.region.size = Some(Bytes(4096 * 3));
    let (mut worker, recorder, _) = employ(&small);
    play(&mut worker, &mut Model::new(ms(1)));
    let mut depths = Depths::default();
    recorder.depths().unwrap().add_to(&mut depths);
    assert_eq!(
        depths.in_flight[2..],
        [0; 5],
        "three blocks, so at most three at once"
    );
    assert!(reads(&recorder) > 50);
}

#[test]
fn errors_that_are_ignored_are_no_failures() {
    let ignoring = Job {
        ignored_errors: vec![(Direction::Read, errno::EIO)],
        ..job()
    };
    let (mut worker, recorder, stopper) = employ(&ignoring);
    let mut model = Model::new(ms(1));
    model.fail_from = Some(11);
    play(&mut worker, &mut model);
    assert_eq!((reads(&recorder), recorder.failed.get()), (100, 0));
    assert_eq!(stopper.reason(), None);
}

#[test]
fn one_kind_of_failure_may_be_allowed() {
    let on_error = ErrorPolicy::ContinueOn {
        read: true,
        write: false,
        verify: false,
    };
    let (mut worker, recorder, stopper) = employ(&Job {
        on_error,
        ..half_and_half()
    });
    let mut model = Model::new(ms(1));
    model.fail_from = Some(1);
    play(&mut worker, &mut model);
    assert_eq!((reads(&recorder), writes(&recorder)), (0, 0));
    let failures = recorder.failures();
    let writes_failed = failures.iter().find(|f| f.direction == Direction::Write);
    assert_eq!(writes_failed.map(|failure| failure.count), Some(1));
    assert_eq!(stopper.reason(), Some(Stopped::Error));
}

/// A full file system was written to a thousand times in vain.
#[test]
fn only_failures_of_the_medium_may_be_allowed_by_kind() {
    let (mut worker, recorder, stopper) = employ(&Job {
        on_error: ErrorPolicy::ContinueOn {
            read: true,
            write: true,
            verify: true,
        },
        ..job()
    });
    let mut model = Model::new(ms(1));
    (model.fail_from, model.errno) = (Some(11), errno::ENOSPC);
    play(&mut worker, &mut model);
    assert_eq!((reads(&recorder), recorder.failed.get()), (10, 1));
    assert_eq!(stopper.reason(), Some(Stopped::Error));
}

/// A job that fills its device ends well when it is full, by the room of the file system or by the
/// quota of its owner, which ended it with an error, as did the write that took the last room.
#[test]
fn a_job_that_fills_ends_when_there_is_no_more_room() {
    const SHORT: i32 = -512;
    for full in [errno::ENOSPC, errno::EDQUOT, SHORT] {
        let (mut worker, recorder, stopper) = employ(&Job {
            mix: Mix::WRITE,
            stop_on_enospc: true,
            ..job()
        });
        let mut model = Model::new(ms(1));
        (model.fail_from, model.errno) = (Some(11), full);
        play(&mut worker, &mut model);
        assert_eq!(writes(&recorder), 10, "{full}");
        assert_eq!(stopper.reason(), Some(Stopped::Bytes), "{full}");
    }
}

#[test]
fn pauses_may_burn_the_processor_and_come_after_work() {
    let mut thinking = job();
    thinking.think = Some(blocklab_workload::Think {
        pause: ms(10),
        every: u32::MAX,
    });
    thinking.think_style.work = Some(ms(10));
    thinking.think_style.spin = ms(4);
    let (mut worker, recorder, _) = employ(&thinking);
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(reads(&recorder), 50, "ten of work, ten of rest");
}

#[test]
fn a_trim_goes_before_each_write() {
    let (mut worker, recorder, _) = employ(&Job {
        mix: Mix::WRITE,
        trim_first: true,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    let trims = recorder.counters(Direction::Trim).unwrap().ios.get();
    assert_eq!((trims, writes(&recorder)), (50, 50));
}

#[test]
fn a_replay_keeps_its_moments_or_goes_at_once() {
    let operation =
        |at, direction, offset| blocklab_workload::Replayed::new(ms(at), direction, offset, 4096);
    let mut replaying = job();
    replaying.stop = Stop::default();
    replaying.replay = Some(Arc::new(blocklab_workload::Replay {
        operations: vec![
            operation(5, Direction::Read, 4096),
            operation(7, Direction::Write, 0),
            operation(7, Direction::Sync, 0),
            operation(40, Direction::Read, 8192),
        ],
        keeps_time: true,
        ..blocklab_workload::Replay::default()
    }));
    replaying.check().unwrap();
    let (mut worker, recorder, _) = employ(&replaying);
    let issues = play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(issues, [ms(5), ms(7), ms(8), ms(40)], "one at a time");
    let times = recorder.issue_times.as_ref().unwrap();
    assert_eq!(times.waited_for_room.get(), 1);
    assert_eq!((times.last_due.get(), times.drift.get()), (ms(40).0, 0));
    assert_eq!(times.counts(0), (4, 4));
    let ios = |direction| recorder.counters(direction).unwrap().ios.get();
    assert_eq!(
        [
            ios(Direction::Read),
            ios(Direction::Write),
            ios(Direction::Sync)
        ],
        [2, 1, 1]
    );

    let replay = replaying.replay.as_ref().unwrap();
    replaying.replay = Some(Arc::new(blocklab_workload::Replay {
        keeps_time: false,
        ..(**replay).clone()
    }));
    let (mut worker, ..) = employ(&replaying);
    let issues = play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(issues, [ms(0), ms(1), ms(2), ms(3)]);
}

/// A trace that keeps its times met a target that stood still for half of it: the operations that
/// were late showed the 0.1 ms of their service only.
/// The story: the directions of a job of fio had rates, and its trace a flush, which is of no direction that
/// can have one. The thread panicked, and the job ended because operations did not come back.
#[test]
fn a_replay_with_rates_of_its_directions_flushes() {
    let replayed = |at, direction| blocklab_workload::Replayed::new(at, direction, 0, 4096);
    let replay = blocklab_workload::Replay {
        operations: vec![
            replayed(ms(1), Direction::Read),
            replayed(ms(2), Direction::Sync),
        ],
        keeps_time: true,
        ..blocklab_workload::Replay::default()
    };
    let pace = Pace::ByDirection {
        rates: [Some(Rate::Iops(100.0)); 3],
        poisson: false,
    };
    let (mut worker, ..) = employ(&Job {
        pace,
        replay: Some(Arc::new(replay)),
        stop: Stop::default(),
        ..job()
    });
    let issues = play(&mut worker, &mut Model::new(Nanos(100_000)));
    assert_eq!(issues, [ms(1), ms(2)]);
}

#[test]
fn a_replay_counts_from_the_moments_of_its_trace() {
    let operations = (0..100)
        .map(|step| blocklab_workload::Replayed::new(ms(step), Direction::Read, step * 4096, 4096));
    let mut replaying = job();
    replaying.stop = Stop::default();
    replaying.replay = Some(Arc::new(blocklab_workload::Replay {
        operations: operations.collect(),
        keeps_time: true,
        ..blocklab_workload::Replay::default()
    }));
    let (mut worker, recorder, _) = employ(&Job {
        depth: 1,
        ..replaying
    });
    let mut model = Model::new(Nanos(100_000));
    model.stall = Some((ms(20), ms(70)));
    play(&mut worker, &mut model);
    let counters = recorder.counters(Direction::Read).unwrap();
    let quantile = |histogram| {
        let sum = latency_sum([histogram].into_iter());
        sum.histogram.quantile(0.75)
    };
    assert_eq!(counters.ios.get(), 100);
    assert!(quantile(&counters.service) < 110_000);
    let response = quantile(counters.response.as_ref().unwrap());
    assert!(
        response > 20_000_000,
        "a quarter was 20 ms late: {response}"
    );
}

/// A program reads twice in a row and thinks in between, another one writes at its own times. On a
/// slow device the reads come later, and the write overtakes them.
#[test]
fn what_followed_a_completion_follows_it_again() {
    let operation = |at, direction| blocklab_workload::Replayed::new(ms(at), direction, 0, 4096);
    let follows = |back| blocklab_workload::Dependency {
        back,
        think_ns: u32::from(back > 0) * 1_000_000,
    };
    let mut replaying = job();
    replaying.stop = Stop::default();
    replaying.depth = 4;
    replaying.replay = Some(Arc::new(blocklab_workload::Replay {
        operations: vec![
            operation(0, Direction::Read),
            operation(2, Direction::Read),
            operation(3, Direction::Write),
            operation(4, Direction::Read),
        ],
        dependencies: vec![follows(0), follows(1), follows(0), follows(2)],
        keeps_time: true,
        ..blocklab_workload::Replay::default()
    }));
    let (mut worker, recorder, _) = employ(&replaying);
    let issues = play(&mut worker, &mut Model::new(ms(10)));
    assert_eq!(issues, [ms(0), ms(3), ms(11), ms(22)]);
    let times = recorder.issue_times.as_ref().unwrap();
    assert_eq!((times.drift.get(), times.last_due.get()), (0, ms(22).0));
    assert_eq!(recorder.conflicts.get(), 2);
}
