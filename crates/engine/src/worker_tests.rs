//! The worker against a target in virtual time: no clock, no kernel.

use std::collections::BinaryHeap;

use blocklab_record::Depths;
use blocklab_units::Bytes;
use blocklab_workload::{Flush, Mix, Pace, Rate, Stop};

use super::*;
use crate::recorder::{Recorder, Wanted};

/// Completes every operation after `service`, on as many servers as are asked for. `stall` is a
/// span in which nothing completes.
struct Model {
    now: Nanos,
    service: Nanos,
    stall: Option<(Nanos, Nanos)>,
    fail_from: Option<u64>,
    served: u64,
    pending: BinaryHeap<std::cmp::Reverse<(Nanos, u64, u32, i32)>>,
}

impl Model {
    fn new(service: Nanos) -> Self {
        Self {
            now: Nanos::ZERO,
            service,
            stall: None,
            fail_from: None,
            served: 0,
            pending: BinaryHeap::new(),
        }
    }

    fn take(&mut self, io: &Io) {
        let mut end = self.now.saturating_add(self.service);
        if let Some((from, to)) = self.stall
            && (from..to).contains(&end)
        {
            end = to;
        }
        self.served += 1;
        let fails = self.fail_from.is_some_and(|first| self.served >= first);
        let result = if fails { -libc::EIO } else { io.len as i32 };
        self.pending.push(std::cmp::Reverse((
            end,
            self.served,
            io.slot.index() as u32,
            result,
        )));
    }
}

/// Runs the worker to its end; returns every moment at which it issued something.
fn play(worker: &mut Worker, model: &mut Model) -> Vec<Nanos> {
    let mut issues = Vec::new();
    worker.begin(Nanos::ZERO);
    loop {
        match worker.next(model.now) {
            Action::Issue(io) => {
                issues.push(model.now);
                model.take(&io);
            }
            Action::Done => return issues,
            Action::Spin(until) => model.now = model.now.max(until),
            Action::Wait(until) => {
                worker.handed_over(model.now);
                let first = model.pending.peek().map(|entry| entry.0.0);
                let Some(moment) = [until, first].into_iter().flatten().min() else {
                    panic!("the worker waits for nothing");
                };
                model.now = model.now.max(moment);
                let due = model.pending.iter().filter(|entry| entry.0.0 <= model.now);
                worker.reaped(due.count());
                while model
                    .pending
                    .peek()
                    .is_some_and(|entry| entry.0.0 <= model.now)
                {
                    let std::cmp::Reverse((_, _, slot, result)) = model.pending.pop().unwrap();
                    let slot = Slot::returned(slot);
                    worker.complete(Completion { slot, result }, model.now);
                }
            }
        }
    }
}

fn employ(job: &Job) -> (Worker, Arc<Recorder>, Arc<Stopper>) {
    let wanted = Wanted {
        directions: [true; 4],
        response: true,
        submit: true,
        depths: true,
        log: None,
    };
    let (recorder, stopper) = (
        Arc::new(Recorder::new(wanted)),
        Arc::new(Stopper::default()),
    );
    let depth = job.effective_depth();
    let parts = Parts {
        thread: 0,
        seed: 1,
        sizes: &[1 << 30],
        slots: (0..depth).map(Slot::returned).collect(),
        recorder: Arc::clone(&recorder),
        stopper: Arc::clone(&stopper),
        shared: &Shared::default(),
    };
    (Worker::new(job, parts).unwrap(), recorder, stopper)
}

#[test]
fn depths_are_counted_in_powers_of_two() {
    let (mut worker, recorder, _) = employ(&Job { depth: 9, ..job() });
    play(&mut worker, &mut Model::new(ms(1)));
    let mut depths = Depths::default();
    recorder.depths.as_ref().unwrap().add_to(&mut depths);
    // Nine at a time: in company of 1, of 2 or 3, of 4 to 7, and of 8 and 9.
    assert_eq!(depths.in_flight[..4], [100, 200, 400, 200]);
    assert_eq!(depths.completed[3], 100, "nine a wait is 9 to 16");
    assert_eq!(depths.submitted[3], 100);
}

#[test]
fn submission_and_completion_add_up_to_the_service() {
    let (mut worker, recorder, _) = employ(&job());
    worker.begin(Nanos::ZERO);
    let Action::Issue(io) = worker.next(Nanos(1_000)) else {
        panic!("a closed loop begins at once");
    };
    worker.handed_over(Nanos(1_300));
    let (slot, result) = (io.slot, io.len as i32);
    worker.complete(Completion { slot, result }, Nanos(51_000));
    let tally = recorder.tally(Direction::Read).unwrap();
    let sum = |spectrum: &Option<_>| SpectrumSum::of(spectrum.iter()).sum;
    assert_eq!(
        (sum(&tally.submit), sum(&tally.completion)),
        (300.0, 49_700.0)
    );
    assert_eq!(tally.service.sum(), 50_000.0);
}

fn reads(recorder: &Recorder) -> u64 {
    recorder.tally(Direction::Read).unwrap().ios.get()
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn job() -> Job {
    Job {
        stop: Stop {
            runtime: Some(ms(100)),
            ..Stop::default()
        },
        ..Job::new("story")
    }
}

#[test]
fn a_closed_loop_keeps_its_depth_full() {
    let (mut worker, recorder, _) = employ(&Job { depth: 4, ..job() });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(reads(&recorder), 400, "four at a time, a hundred times");
    assert_eq!(recorder.issued.get(), 400);
    assert_eq!(worker.stopped(), Stopped::Runtime);
}

#[test]
fn the_ramp_is_in_no_figure() {
    let (mut worker, recorder, _) = employ(&Job {
        ramp: ms(50),
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    // The operation that ends with the ramp at 50 ms is already measured.
    assert_eq!(recorder.completed_in_ramp.get(), 49);
    assert_eq!(reads(&recorder), 101);
}

#[test]
fn bytes_end_a_job() {
    let stop = Stop {
        bytes: Some(Bytes(4096 * 10)),
        ..Stop::default()
    };
    let (mut worker, recorder, _) = employ(&Job {
        stop,
        depth: 3,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!((reads(&recorder), worker.stopped()), (10, Stopped::Bytes));
}

#[test]
fn loops_pass_over_the_region() {
    let mut looping = job();
    looping.region.size = Some(Bytes(4096 * 25));
    looping.stop = Stop {
        loops: Some(2),
        ..Stop::default()
    };
    let (mut worker, recorder, _) = employ(&looping);
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!((reads(&recorder), worker.stopped()), (50, Stopped::Loops));
}

/// A load generator that waits for the stalled target forgets the operations that should have
/// begun meanwhile: its percentiles look well. Here 1,000 arrivals a second meet a target that
/// stands still for half of the second.
#[test]
fn a_stall_shows_in_the_response_time() {
    let stop = Stop {
        runtime: Some(ms(1000)),
        ..Stop::default()
    };
    let pace = Pace::OpenFixed(Rate::Iops(1000.0));
    let (mut worker, recorder, _) = employ(&Job {
        stop,
        pace,
        depth: 1,
        ..job()
    });
    let mut model = Model::new(Nanos(100_000));
    model.stall = Some((ms(200), ms(700)));
    play(&mut worker, &mut model);
    let tally = recorder.tally(Direction::Read).unwrap();
    let quantile = |spectrum| {
        SpectrumSum::of([spectrum].into_iter())
            .histogram
            .quantile(0.9)
    };
    assert!(
        quantile(&tally.service) < 110_000,
        "all but one were served in 100 us"
    );
    let response = quantile(tally.response.as_ref().unwrap());
    assert!(
        response > 300_000_000,
        "a tenth had to wait for more than 300 ms: {response}"
    );
}

use crate::recorder::SpectrumSum;

#[test]
fn what_an_open_loop_could_not_begin_is_counted() {
    let pace = Pace::OpenFixed(Rate::Iops(1000.0));
    let (mut worker, recorder, _) = employ(&Job {
        pace,
        depth: 1,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(10)));
    assert_eq!(reads(&recorder), 10);
    assert_eq!(
        recorder.overdue.get(),
        101 - 10,
        "arrivals of 0 ms to 100 ms, less ten"
    );
}

#[test]
fn the_first_failure_ends_a_job_and_nothing_is_lost() {
    let (mut worker, recorder, stopper) = employ(&Job { depth: 8, ..job() });
    let mut model = Model::new(ms(1));
    model.fail_from = Some(20);
    play(&mut worker, &mut model);
    assert_eq!(stopper.reason(), Some(Stopped::Error));
    let failed = recorder.failed.get();
    assert_eq!(recorder.issued.get(), reads(&recorder) + failed);
    assert_eq!(
        (reads(&recorder), recorder.failures()[0].errno),
        (19, libc::EIO)
    );
}

#[test]
fn a_patient_job_counts_failures_and_gives_up_after_a_thousand_in_a_row() {
    let stop = Stop {
        runtime: Some(Nanos::from_secs(60)),
        ..Stop::default()
    };
    let patient = Job {
        on_error: ErrorPolicy::Continue,
        stop,
        ..job()
    };
    let (mut worker, recorder, _) = employ(&patient);
    let mut model = Model::new(ms(1));
    model.fail_from = Some(11);
    play(&mut worker, &mut model);
    assert_eq!((reads(&recorder), recorder.failed.get()), (10, 1000));
    assert_eq!(recorder.failures().len(), 1, "one kind of failure, counted");
}

#[test]
fn a_flush_follows_every_third_write_and_the_end() {
    let mut flushing = Job {
        mix: Mix::WRITE,
        ..job()
    };
    flushing.flush = Flush {
        fsync_every: 3,
        fdatasync_every: 0,
        at_end: true,
        ..Flush::default()
    };
    flushing.stop = Stop {
        bytes: Some(Bytes(4096 * 10)),
        ..Stop::default()
    };
    let (mut worker, recorder, _) = employ(&flushing);
    play(&mut worker, &mut Model::new(ms(1)));
    let ios = |direction| recorder.tally(direction).unwrap().ios.get();
    assert_eq!((ios(Direction::Write), ios(Direction::Sync)), (10, 4));
}

#[test]
fn asked_to_stop_it_drains_and_ends() {
    let (mut worker, recorder, stopper) = employ(&Job { depth: 2, ..job() });
    stopper.request(Stopped::Interrupted);
    stopper.request(Stopped::Error);
    assert!(play(&mut worker, &mut Model::new(ms(1))).is_empty());
    assert_eq!(
        (recorder.issued.get(), worker.stopped()),
        (0, Stopped::Interrupted)
    );
}

#[test]
fn the_same_seed_issues_at_the_same_moments() {
    let pace = Pace::OpenPoisson(Rate::Iops(5000.0));
    let moments = || {
        let (mut worker, ..) = employ(&Job {
            pace,
            depth: 16,
            ..job()
        });
        play(&mut worker, &mut Model::new(ms(1)))
    };
    assert_eq!(moments(), moments());
}

fn writes(recorder: &Recorder) -> u64 {
    recorder.tally(Direction::Write).unwrap().ios.get()
}

fn half_and_half() -> Job {
    let mix = Mix {
        read: 50,
        write: 50,
        trim: 0,
    };
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
    // Whatever the mix says: arrivals of 0 to 100 ms.
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
    let stop = Stop {
        ios: Some(17),
        ..Stop::default()
    };
    let (mut worker, recorder, _) = employ(&Job {
        stop,
        depth: 4,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!((reads(&recorder), worker.stopped()), (17, Stopped::Bytes));
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
    recorder.depths.as_ref().unwrap().add_to(&mut depths);
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
        ignored_errors: vec![(Direction::Read, libc::EIO)],
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
    let trims = recorder.tally(Direction::Trim).unwrap().ios.get();
    assert_eq!((trims, writes(&recorder)), (50, 50));
}

#[test]
fn a_replay_keeps_its_moments_or_goes_at_once() {
    let operation = |at, direction, offset| blocklab_workload::Replayed {
        at: ms(at),
        target: 0,
        direction,
        len: 4096,
        offset,
    };
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
    }));
    replaying.check().unwrap();
    let (mut worker, recorder, _) = employ(&replaying);
    let issues = play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(issues, [ms(5), ms(7), ms(8), ms(40)], "one at a time");
    let ios = |direction| recorder.tally(direction).unwrap().ios.get();
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
