//! The worker against a target in virtual time: no clock, no kernel.

use std::collections::BinaryHeap;

use blocklab_record::Depths;
use blocklab_units::Bytes;
use blocklab_workload::{
    Checksum, Completion, Flush, Job, Mix, Pace, Pattern, Rate, Region, Replay, Replayed,
    SizedRamp, Stop, Trims, Verify, When, errno,
};

use super::*;
use crate::recorder::{Recorder, RecorderSpec};

/// Completes every operation after `service`, on as many servers as are requested. `stall` is a
/// span in which nothing completes.
struct Model {
    now: Nanos,
    service: Nanos,
    stall: Option<(Nanos, Nanos)>,
    fail_from: Option<u64>,
    errno: i32,
    /// This one never comes back.
    loses: Option<u64>,
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
            errno: errno::EIO,
            loses: None,
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
        if self.loses == Some(self.served) {
            return;
        }
        let fails = self.fail_from.is_some_and(|first| self.served >= first);
        let result = if fails { -self.errno } else { io.len as i32 };
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
                    assert!(model.loses.is_some(), "the worker waits for nothing");
                    return issues;
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
    let wanted = RecorderSpec {
        directions: [true; 4],
        response: true,
        submit: true,
        depths: true,
        replay: job.replay.clone(),
        ..RecorderSpec::default()
    };
    employ_with(job, Recorder::new(wanted))
}

fn employ_with(job: &Job, recorder: Recorder) -> (Worker, Arc<Recorder>, Arc<Stopper>) {
    let (recorder, stopper) = (Arc::new(recorder), Arc::new(Stopper::default()));
    let depth = job.effective_depth();
    let parts = Parts {
        thread: 0,
        seed: 1,
        sizes: &[1 << 30],
        slots: (0..depth).map(Slot::returned).collect(),
        stopper: Arc::clone(&stopper),
        shared: &Shared::default(),
        keys: None,
    };
    let own = JobParts {
        job: job.clone(),
        files: 0..1,
        recorder: Arc::clone(&recorder),
        allowance: None,
    };
    (Worker::new(vec![own], parts).unwrap(), recorder, stopper)
}

/// In flight was computed as issued less completed, so that the balance held whatever
/// happened, and no test of it could fail.
#[test]
fn an_operation_that_never_comes_back_is_in_flight() {
    let (mut worker, recorder, _) = employ(&Job { depth: 4, ..job() });
    let mut model = Model::new(ms(1));
    model.loses = Some(7);
    let issued = play(&mut worker, &mut model).len() as u64;
    let counted = recorder.accounting();
    assert_eq!((counted.issued, counted.completed), (issued, issued - 1));
    assert_eq!(counted.in_flight, 1);
    assert!(counted.balances(), "{counted:?}");
}

/// A direction that nobody expected had no counter, and what came back of it was in no sum.
#[test]
fn a_completion_that_no_counter_takes_breaks_the_balance() {
    let nothing = Recorder::new(RecorderSpec::default());
    let (mut worker, recorder, _) = employ_with(&job(), nothing);
    let issued = play(&mut worker, &mut Model::new(ms(1))).len() as u64;
    let counted = recorder.accounting();
    assert_eq!((counted.issued, counted.completed), (issued, 0));
    assert_eq!(counted.in_flight, 0, "all of them came back");
    assert!(!counted.balances(), "{counted:?}");
}

#[test]
fn depths_are_counted_in_powers_of_two() {
    let (mut worker, recorder, _) = employ(&Job { depth: 9, ..job() });
    play(&mut worker, &mut Model::new(ms(1)));
    let mut depths = Depths::default();
    recorder.depths().unwrap().add_to(&mut depths);
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
    let counters = recorder.counters(Direction::Read).unwrap();
    let sum = |histogram: &Option<_>| latency_sum(histogram.iter()).sum;
    assert_eq!(
        (sum(&counters.submit), sum(&counters.completion)),
        (300.0, 49_700.0)
    );
    assert_eq!(counters.service.sum(), 50_000.0);
}

fn reads(recorder: &Recorder) -> u64 {
    recorder.counters(Direction::Read).unwrap().ios.get()
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn job() -> Job {
    Job {
        stop: Stop::after(ms(100)),
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

/// Of a job only the name was given: it reads blocks of 4 KiB, one at a time, for ten seconds.
#[test]
fn a_job_of_which_nothing_is_given_ends() {
    let (mut worker, recorder, _) = employ(&Job::new("plain"));
    let mut model = Model::new(ms(1));
    play(&mut worker, &mut model);
    assert_eq!(
        (reads(&recorder), model.now),
        (10_000, Nanos::from_secs(10))
    );
    let bytes = recorder
        .counters(Direction::Read)
        .map(|counters| counters.bytes.get());
    assert_eq!(bytes, Some(10_000 * 4096));
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
    let stop = Stop::after_bytes(Bytes(4096 * 10));
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

/// A load generator that waits for the stalled target leaves out the operations that should have
/// begun meanwhile: its percentiles look well. Here 1,000 arrivals a second meet a target that
/// stands still for half of the second.
#[test]
fn a_stall_shows_in_the_response_time() {
    let stop = Stop::after(ms(1000));
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
    let counters = recorder.counters(Direction::Read).unwrap();
    let quantile = |histogram| latency_sum([histogram].into_iter()).histogram.quantile(0.9);
    assert!(
        quantile(&counters.service) < 110_000,
        "all but one were served in 100 us"
    );
    let response = quantile(counters.response.as_ref().unwrap());
    assert!(
        response > 300_000_000,
        "a tenth had to wait for more than 300 ms: {response}"
    );
}

use crate::latency::latency_sum;

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

/// Where reads and writes had rates of their own, a load after the measured time took over what was due in
/// it and was never issued: 9,000 reads a second of a volume that gives 1,700 missed nothing.
#[test]
fn what_a_direction_could_not_begin_is_counted_before_the_load_cools_down() {
    let (mut worker, recorder, _) = employ(&Job {
        pace: Pace::ByDirection {
            rates: [Some(Rate::Iops(1000.0)), None, None],
            poisson: false,
        },
        cool_down: ms(100),
        depth: 1,
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(10)));
    assert_eq!(recorder.overdue.get(), 101 - 10);
}

/// The story: a device failed while the load cooled down, and the run failed because "operations did not
/// come back": the failure that had ended the job was in no list.
#[test]
fn a_failure_after_the_measured_time_is_reported_and_counts_nowhere() {
    let cool_down = ms(100);
    let (mut worker, recorder, stopper) = employ(&Job { cool_down, ..job() });
    let mut model = Model::new(ms(1));
    model.fail_from = Some(150);
    play(&mut worker, &mut model);
    assert_eq!(stopper.reason(), Some(Stopped::Error));
    let failures = recorder.failures();
    assert_eq!((failures.len(), failures[0].errno), (1, errno::EIO));
    let counted = recorder.accounting();
    assert!(counted.failed == 0 && counted.balances(), "{counted:?}");
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
        (19, errno::EIO)
    );
}

#[test]
fn a_patient_job_counts_failures_and_gives_up_after_a_thousand_in_a_row() {
    let stop = Stop::after(Nanos::from_secs(60));
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
    flushing.stop = Stop::after_bytes(Bytes(4096 * 10));
    let (mut worker, recorder, _) = employ(&flushing);
    play(&mut worker, &mut Model::new(ms(1)));
    let ios = |direction| recorder.counters(direction).unwrap().ios.get();
    assert_eq!((ios(Direction::Write), ios(Direction::Sync)), (10, 4));
}

#[test]
fn requested_to_stop_it_drains_and_ends() {
    let (mut worker, recorder, stopper) = employ(&Job { depth: 2, ..job() });
    stopper.request(Stopped::Interrupted);
    stopper.request(Stopped::Error);
    assert!(play(&mut worker, &mut Model::new(ms(1))).is_empty());
    assert_eq!(
        (recorder.issued.get(), worker.stopped()),
        (0, Stopped::Interrupted)
    );
}

/// A job that only reads back drew all the writes of the earlier run in one call. It saw neither the end
/// of its runtime nor an interruption before the last of them, and after half a minute the run failed
/// with "operations did not come back; the target hangs".
#[test]
fn a_job_that_only_reads_back_can_be_stopped_while_it_draws() {
    let bytes = Bytes(4096 * 1_000_000);
    let reading_back = Job {
        mix: Mix::WRITE,
        verify: Some(Verify {
            when: When::Only,
            ..Verify::new(Checksum::Crc32c)
        }),
        stop: Stop {
            bytes: Some(bytes),
            runtime: Some(ms(10)),
            ..Stop::default()
        },
        ..job()
    };
    let (mut worker, recorder, stopper) = employ(&reading_back);
    worker.begin(Nanos::ZERO);
    assert!(matches!(worker.next(ms(1)), Action::Wait(Some(moment)) if moment == ms(1)));
    let drawn = recorder.assumed_bytes.get();
    assert!((1..bytes.0).contains(&drawn), "{drawn}");
    stopper.request(Stopped::Interrupted);
    assert!(matches!(worker.next(ms(2)), Action::Done));
    assert_eq!(worker.stopped(), Stopped::Interrupted);

    let (mut worker, recorder, _) = employ(&reading_back);
    worker.begin(Nanos::ZERO);
    assert!(matches!(worker.next(ms(1)), Action::Wait(_)));
    // What was drawn until then is read back.
    assert!(matches!(worker.next(ms(10)), Action::Issue(io) if io.direction == Direction::Read));
    assert_eq!(worker.stopped(), Stopped::Runtime);
    assert_eq!(recorder.assumed_bytes.get(), drawn);
}

/// A replay can end before the bytes of its ramp are moved. There was no time to read back then, and no result
/// told that nothing had been verified.
#[test]
fn what_a_job_wrote_in_a_ramp_by_bytes_is_read_back() {
    let write = |offset| Replayed::new(Nanos::ZERO, Direction::Write, offset, 4096);
    let (mut worker, recorder, _) = employ(&Job {
        mix: Mix::WRITE,
        verify: Some(Verify::new(Checksum::Crc32c)),
        sized_ramp: Some(SizedRamp {
            bytes: Bytes(1 << 20),
            group: None,
        }),
        replay: Some(Arc::new(Replay {
            operations: [0, 4096].map(write).to_vec(),
            ..Replay::default()
        })),
        stop: Stop::default(),
        ..job()
    });
    play(&mut worker, &mut Model::new(ms(1)));
    assert_eq!(recorder.issued.get(), 2 + 2, "writes and reads");
}

/// A write whose error was to be ignored counted as written: it was read back, and a place that had never
/// been written was a miscompare.
#[test]
fn a_write_whose_failure_is_ignored_is_not_read_back() {
    let (mut worker, ..) = employ(&Job {
        mix: Mix::WRITE,
        verify: Some(Verify::new(Checksum::Crc32c)),
        ignored_errors: vec![(Direction::Write, errno::EIO)],
        stop: Stop::after_bytes(Bytes(3 * 4096)),
        ..job()
    });
    worker.begin(Nanos::ZERO);
    let mut moved = Vec::new();
    loop {
        match worker.next(Nanos::ZERO) {
            Action::Issue(io) => {
                let result = if moved.is_empty() { -errno::EIO } else { 4096 };
                moved.push((io.direction, io.offset));
                worker.handed_over(Nanos::ZERO);
                let slot = io.slot;
                worker.complete(Completion { slot, result }, Nanos::ZERO);
            }
            Action::Done => break,
            Action::Wait(_) | Action::Spin(_) => {}
        }
    }
    let (written, read) = moved.split_at(3);
    let succeeded: Vec<_> = written[1..]
        .iter()
        .map(|(_, offset)| (Direction::Read, *offset))
        .collect();
    assert_eq!(read, succeeded);
}

/// The story: writes waited for what was in flight at their place, and trims of what was to be read back did
/// not. A block was trimmed while its next write was in flight, or an earlier one was being read back there,
/// and a sound device was found wrong.
#[test]
fn a_trim_waits_for_what_is_in_flight_at_its_place() {
    let (mut worker, ..) = employ(&Job {
        mix: Mix::WRITE,
        depth: 4,
        pattern: Pattern::Sequential,
        region: Region {
            size: Some(Bytes(4 * 4096)),
            ..Region::default()
        },
        verify: Some(Verify {
            trims: Some(Trims {
                percent: 100,
                every: 2,
                batch: 1,
            }),
            ..Verify::new(Checksum::Crc32c)
        }),
        stop: Stop::after_bytes(Bytes(8 * 4096)),
        ..job()
    });
    worker.begin(Nanos::ZERO);
    let mut in_flight: Vec<Io> = Vec::new();
    let mut trims = 0;
    loop {
        match worker.next(Nanos::ZERO) {
            Action::Issue(io) => {
                let is_alone = in_flight.iter().all(|other| other.offset != io.offset);
                assert!(is_alone, "{:?} at {}", io.direction, io.offset);
                trims += u32::from(io.direction == Direction::Trim);
                in_flight.push(io);
                worker.handed_over(Nanos::ZERO);
            }
            Action::Done => break,
            Action::Wait(_) | Action::Spin(_) => {
                let io = in_flight.remove(0);
                let (slot, result) = (io.slot, io.len as i32);
                worker.complete(Completion { slot, result }, Nanos::ZERO);
            }
        }
    }
    assert_eq!(trims, 8);
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

#[path = "issue_rules_tests.rs"]
mod restrained;
