//! Jobs that share the operations in flight of one worker.

use std::ops::Range;

use blocklab_units::Bytes;
use blocklab_verify::{DataCheck, KeyMap};
use blocklab_workload::{
    BlockSizes, Completion, Hits, Job, KeyPlan, Mix, Pace, Pattern, Pooled, Rate, Share, Stop,
    Validation,
};

use super::*;
use crate::recorder::{Recorder, RecorderSpec};
use crate::shares::Allowance;

fn job(name: &str, pooled: Pooled) -> Job {
    Job {
        pool: Some(pooled),
        stop: Stop::after(Nanos::from_secs(1)),
        ..Job::new(name)
    }
}

fn recorder() -> Arc<Recorder> {
    Arc::new(Recorder::new(RecorderSpec {
        directions: [true, true, false, false],
        response: true,
        ..RecorderSpec::default()
    }))
}

/// A pool of these jobs on a target of 1 GiB, and their recorders.
fn pool(jobs: Vec<Job>, depth: u32) -> (Worker, Vec<Arc<Recorder>>) {
    let files = vec![0..1; jobs.len()];
    pool_on(jobs, &files, &[1 << 30], depth, None)
}

/// One job whose data is compared by these keys.
fn verifying(job: Job, depth: u32, keys: &Arc<KeyMap>) -> (Worker, Vec<Arc<Recorder>>) {
    let keys = Some(Arc::clone(keys));
    pool_on(
        vec![job],
        std::slice::from_ref(&(0..1)),
        &[1 << 30],
        depth,
        keys,
    )
}

/// A pool of these jobs, each on its part of targets of these sizes.
fn pool_on(
    jobs: Vec<Job>,
    files: &[Range<usize>],
    sizes: &[u64],
    depth: u32,
    keys: Option<Arc<KeyMap>>,
) -> (Worker, Vec<Arc<Recorder>>) {
    let weights: Vec<f64> = jobs
        .iter()
        .filter_map(|job| job.pool.as_ref()?.share.map(|share| share.weight))
        .collect();
    let shares = crate::shares::Shares::new(&weights);
    let recorders: Vec<Arc<Recorder>> = jobs.iter().map(|_| recorder()).collect();
    let pool_jobs = jobs
        .into_iter()
        .zip(&recorders)
        .enumerate()
        .map(|(member, (job, recorder))| JobParts {
            allowance: (!weights.is_empty()).then(|| Allowance::new(Arc::clone(&shares), member)),
            files: files[member].clone(),
            job,
            recorder: Arc::clone(recorder),
        })
        .collect();
    let shared = Shared::new(&[], std::iter::empty());
    let parts = Parts {
        thread: 0,
        seed: 7,
        sizes,
        slots: (0..depth).map(Slot::returned).collect(),
        stopper: Arc::default(),
        shared: &shared,
        keys,
    };
    let mut pool = Worker::new(pool_jobs, parts).unwrap();
    pool.begin(Nanos::ZERO);
    (pool, recorders)
}

/// Drives it against a device that takes `service` for each operation, all at once.
fn drive(pool: &mut Worker, service: Nanos) -> Vec<Io> {
    let mut issued = Vec::new();
    let mut flying: std::collections::VecDeque<(Nanos, u32, u32)> = Default::default();
    let mut now = Nanos::ZERO;
    loop {
        match pool.next(now) {
            Action::Issue(io) => {
                flying.push_back((now + service, io.slot.index() as u32, io.len));
                issued.push(io);
            }
            Action::Wait(until) => {
                let back = flying.front().map(|(at, ..)| *at);
                now = [back, until].into_iter().flatten().min().unwrap().max(now);
                while flying.front().is_some_and(|(at, ..)| *at <= now) {
                    let (_, slot, len) = flying.pop_front().unwrap();
                    let slot = Slot::returned(slot);
                    pool.complete(
                        Completion {
                            slot,
                            result: len as i32,
                        },
                        now,
                    );
                }
            }
            Action::Spin(_) => unreachable!("no pool spins"),
            Action::Done => return issued,
        }
    }
}

const QUICK: Nanos = Nanos(1_000_000);

#[test]
fn free_lanes_take_turns_and_share_the_depth() {
    let jobs = ["a", "b", "c"]
        .map(|name| job(name, Pooled::new("p", 6)))
        .to_vec();
    let (mut pool, recorders) = pool(jobs, 6);
    let issued = drive(&mut pool, QUICK);
    assert_eq!(
        issued.len(),
        6000,
        "six at once, a millisecond each, a second"
    );
    for recorder in recorders {
        assert_eq!(recorder.issued.get(), 2000);
    }
}

#[test]
fn lanes_with_targets_of_their_own_stay_on_them() {
    let jobs = ["a", "b"]
        .map(|name| job(name, Pooled::new("p", 4)))
        .to_vec();
    let sizes = [1 << 20, 1 << 30];
    let (mut pool, recorders) = pool_on(jobs, &[0..1, 1..2], &sizes, 4, None);
    let issued = drive(&mut pool, QUICK);
    assert!(issued.iter().all(|io| io.offset < sizes[io.file as usize]));
    for (file, recorder) in recorders.iter().enumerate() {
        let own = issued.iter().filter(|io| io.file == file as u32);
        assert_eq!(own.count() as u64, recorder.issued.get());
        assert_eq!(recorder.issued.get(), 2000);
    }
}

#[test]
fn shares_are_kept() {
    let shared = |name, weight| {
        let mut pooled = Pooled::new("p", 8);
        pooled.share = Some(Share { group: 1, weight });
        job(name, pooled)
    };
    let (mut pool, recorders) = pool(vec![shared("a", 90.0), shared("b", 10.0)], 8);
    drive(&mut pool, QUICK);
    let [a, b] = [0, 1].map(|pool_job: usize| recorders[pool_job].issued.get() as f64);
    assert!((a / (a + b) - 0.9).abs() < 0.01, "{a} {b}");
    assert!(a + b > 7500.0, "{a} {b}");
}

/// A job that had done its bytes kept its place in the group until the whole pool ended: the others
/// waited for it, and did nothing to the end of their time.
#[test]
fn a_job_that_has_done_its_bytes_leaves_its_group() {
    let shared = |name| {
        let mut pooled = Pooled::new("p", 8);
        pooled.share = Some(Share {
            group: 1,
            weight: 1.0,
        });
        job(name, pooled)
    };
    let mut short = shared("short");
    short.stop.bytes = Some(Bytes(100 << 12));
    short.sizes = BlockSizes::fixed(Bytes(1 << 12));
    let (mut pool, recorders) = pool(vec![short, shared("long")], 8);
    drive(&mut pool, QUICK);
    let [short, long] = [0, 1].map(|pool_job: usize| recorders[pool_job].issued.get());
    assert_eq!(short, 100);
    // 8 at a time, each of a millisecond, for a second.
    assert!(long > 7500, "{long}");
}

/// The bytes of the ramp counted towards an amount as towards a pass. A run with a warm-up of six minutes
/// and an amount of bytes was over before anything was measured.
#[test]
fn an_amount_of_bytes_is_measured_and_a_pass_begins_with_the_ramp() {
    let issued = |stop: Stop| {
        let mut job = job("a", Pooled::new("p", 1));
        job.sizes = BlockSizes::fixed(Bytes(1 << 12));
        job.pattern = Pattern::Sequential;
        job.region.size = Some(Bytes(150 << 12));
        job.ramp = Nanos(100_000_000);
        job.stop = stop;
        let (mut pool, _) = pool(vec![job], 1);
        drive(&mut pool, QUICK).len()
    };
    // A hundred operations in the ramp, and a hundred behind it.
    let amount = Stop {
        bytes: Some(Bytes(100 << 12)),
        ..Stop::default()
    };
    assert_eq!(issued(amount), 200);
    let pass = Stop {
        loops: Some(1),
        ..Stop::default()
    };
    assert_eq!(issued(pass), 150);
}

#[test]
fn each_arrival_process_has_its_rate() {
    let paced = |name, pace| Job {
        pace,
        ..job(name, Pooled::new("p", 4))
    };
    let jobs = vec![
        paced("a", Pace::OpenPoisson(Rate::Iops(700.0))),
        paced("b", Pace::OpenFixed(Rate::Iops(300.0))),
    ];
    let (mut pool, recorders) = pool(jobs, 4);
    drive(&mut pool, QUICK);
    let done: Vec<u64> = recorders
        .iter()
        .map(|recorder| recorder.issued.get())
        .collect();
    assert!((620..780).contains(&done[0]), "{done:?}");
    assert!((299..=301).contains(&done[1]), "{done:?}");
}

#[test]
fn a_full_queue_turns_arrivals_away() {
    let usual = Pooled::new("p", 1).queue;
    // Ten arrivals at 100,000 a second wait a tenth of a millisecond in addition to the millisecond. The
    // usual two thousand wait 20 ms, and at the end as many are given up after 10 ms, two for each of
    // the thousand operations.
    for (queue, waits_ms) in [(10, 1.1), (usual, 1.0 + 20.0 + 2.0 * 10.0)] {
        let mut pooled = Pooled::new("p", 1);
        pooled.queue = queue;
        let mut job = job("a", pooled);
        job.pace = Pace::OpenFixed(Rate::Iops(100_000.0));
        check_queue(job, waits_ms);
    }
}

/// An open loop of 100,000 a second on a device that does 1,000: most is turned away, and what is not
/// waits as long as the full queue is.
fn check_queue(job: Job, waits_ms: f64) {
    let (mut pool, recorders) = pool(vec![job], 1);
    drive(&mut pool, QUICK);
    let counters = recorders[0].counters(Direction::Read).unwrap();
    let response = counters.response.as_ref().unwrap();
    let waits = response.sum() / counters.ios.get() as f64 / 1e6;
    assert!(
        (waits_ms * 0.93..waits_ms * 1.07).contains(&waits),
        "{waits}"
    );
    assert!(
        recorders[0].overdue.get() > 96_000,
        "{}",
        recorders[0].overdue.get()
    );
}

/// The story: at 1,500 a second on a device that does 1,000, each operation turned half an arrival
/// away, which counted as none.
#[test]
fn every_arrival_that_is_turned_away_is_counted() {
    let mut pooled = Pooled::new("p", 1);
    pooled.queue = 10;
    let mut job = job("a", pooled);
    job.pace = Pace::OpenFixed(Rate::Iops(1500.0));
    let (mut pool, recorders) = pool(vec![job], 1);
    drive(&mut pool, QUICK);
    let (issued, overdue) = (recorders[0].issued.get(), recorders[0].overdue.get());
    assert!(
        (1499..=1501).contains(&(issued + overdue)),
        "{issued} {overdue}"
    );
}

#[test]
fn better_ranks_come_first() {
    let ranked = |name, rank| {
        let mut pooled = Pooled::new("p", 1);
        pooled.rank = rank;
        job(name, pooled)
    };
    let mut first = ranked("log", 1);
    first.pace = Pace::OpenFixed(Rate::Iops(500.0));
    let (mut pool, recorders) = pool(vec![ranked("rest", 2), first], 1);
    drive(&mut pool, QUICK);
    let log = recorders[1].issued.get();
    assert!((498..=501).contains(&log), "{log}");
    assert_eq!(recorders[0].issued.get() + log, 1000);
}

#[test]
fn hits_go_to_their_part() {
    let mut pooled = Pooled::new("p", 1);
    pooled.hits = Some(Hits {
        read_percent: 80.0,
        write_percent: 0.0,
        offset: 4096,
        len: 1 << 20,
    });
    let mut job = job("a", pooled);
    job.mix = Mix::reads(50);
    job.sizes = BlockSizes::fixed(Bytes(4096));
    job.region.offset = Bytes(64 << 20);
    let (mut pool, _) = pool(vec![job], 1);
    let issued = drive(&mut pool, Nanos(100_000));
    let hit = |io: &&Io| io.offset < 64 << 20;
    let reads: Vec<&Io> = issued
        .iter()
        .filter(|io| io.direction == Direction::Read)
        .collect();
    let share = reads.iter().copied().filter(hit).count() as f64 / reads.len() as f64;
    assert!((0.78..0.82).contains(&share), "{share}");
    assert!(
        reads
            .iter()
            .all(|io| !hit(io) || (4096..(1 << 20) + 4096).contains(&io.offset))
    );
    assert!(
        !issued
            .iter()
            .any(|io| io.direction == Direction::Write && hit(&io))
    );
}

#[test]
fn rates_take_turns() {
    let mut pooled = Pooled::new("p", 4);
    pooled.bursts = vec![(100.0, 0.5), (1000.0, 0.5)];
    let mut job = job("a", pooled);
    job.pace = Pace::OpenFixed(Rate::Iops(100.0));
    let (mut pool, recorders) = pool(vec![job], 4);
    drive(&mut pool, QUICK);
    let issued = recorders[0].issued.get();
    assert!((540..=560).contains(&issued), "{issued}");
}

/// A rate of no time at all would change for ever: it lasts a millisecond, a quarter of the time beside
/// one of three.
#[test]
fn a_rate_of_no_time_lasts_a_millisecond() {
    let mut pooled = Pooled::new("p", 4);
    pooled.bursts = vec![(1000.0, 0.0), (100_000.0, 0.003)];
    let mut job = job("a", pooled);
    job.pace = Pace::OpenFixed(Rate::Iops(1000.0));
    let (mut pool, recorders) = pool(vec![job], 4);
    drive(&mut pool, Nanos(1000));
    let issued = recorders[0].issued.get();
    assert!((74_500..=76_000).contains(&issued), "{issued}");
}

fn validating(read_percent: u8, before: bool, after: bool) -> (Job, Arc<KeyMap>) {
    let plan = KeyPlan {
        name: "sd1".to_owned(),
        block: 4096,
        compress_percent: 0,
        times: false,
    };
    let keys = Arc::new(KeyMap::new(&plan, 16 << 12, Arc::default()));
    let validation = Validation {
        keys: plan,
        read_before_write: before,
        read_after_write: after,
        journal: None,
        most_wrong: 1,
    };
    let mut job = job(
        "a",
        Pooled {
            validation: Some(validation),
            ..Pooled::new("sd1", 4)
        },
    );
    job.mix = Mix::reads(read_percent);
    job.region.size = Some(Bytes(16 << 12));
    (job, keys)
}

/// The operations on one block, in their order.
fn of_block(issued: &[Io], offset: u64) -> Vec<Direction> {
    let mine = issued.iter().filter(|io| io.offset == offset);
    mine.map(|io| io.direction).collect()
}

#[test]
fn a_known_block_is_read_before_it_is_written_again() {
    use Direction::{Read, Write};
    let (job, keys) = validating(0, true, false);
    let (mut pool, recorders) = verifying(job, 4, &keys);
    let issued = drive(&mut pool, Nanos::from_millis(10));
    let first = of_block(&issued, issued[0].offset);
    assert_eq!(first[..5], [Write, Read, Write, Read, Write]);
    let recorder = &recorders[0];
    let done = |direction| {
        recorder
            .counters(direction)
            .map_or(0, |counters| counters.ios.get())
    };
    assert_eq!(recorder.issued.get(), done(Read) + done(Write));
    let mut claims = (0..16).map(|block| keys.claim(block << 12, 4096));
    assert!(claims.all(|claim| claim == Ok(true)), "known, and free");
}

#[test]
fn a_block_is_read_again_at_once() {
    use Direction::{Read, Write};
    let (job, keys) = validating(0, false, true);
    let (mut pool, _) = verifying(job, 4, &keys);
    let issued = drive(&mut pool, Nanos::from_millis(10));
    let first = of_block(&issued, issued[0].offset);
    assert_eq!(first[..4], [Write, Read, Write, Read]);
}

/// Sixteen blocks and four operations in flight: never two on one block.
#[test]
fn nobody_works_on_a_block_in_use() {
    let (job, keys) = validating(50, true, true);
    let (mut pool, _) = verifying(job, 4, &keys);
    let mut in_flight: Vec<Io> = Vec::new();
    let mut now = Nanos::ZERO;
    loop {
        match pool.next(now) {
            Action::Issue(io) => {
                assert!(in_flight.iter().all(|other| other.offset != io.offset));
                in_flight.push(io);
            }
            Action::Done => break,
            _ => {
                now = now + Nanos::from_millis(1);
                let io = in_flight.remove(0);
                let result = io.len as i32;
                let slot = io.slot;
                pool.complete(Completion { slot, result }, now);
            }
        }
    }
}

/// A job of reads in sequence, and the keys of its target, whose first blocks another worker reads.
fn behind_blocks_in_use(blocks: u64) -> (Worker, Arc<KeyMap>) {
    let (mut job, _) = validating(100, false, false);
    let validation = job
        .pool
        .as_ref()
        .and_then(|pooled| pooled.validation.as_ref());
    let plan = &validation.expect("keys").keys;
    let keys = Arc::new(KeyMap::new(plan, 2000 << 12, Arc::default()));
    keys.claim(0, blocks << 12).expect("they are free");
    job.pattern = Pattern::Sequential;
    job.region.size = Some(Bytes(2000 << 12));
    let (pool, _) = verifying(job, 4, &keys);
    (pool, keys)
}

/// Nothing tells an idle worker that another one is done with a block. It draws a thousand requests,
/// which miss one free block in a hundred once in 23,000 times, and again a millisecond later.
#[test]
fn a_worker_whose_blocks_are_all_in_use_draws_a_thousand_and_then_waits_a_millisecond() {
    let (mut pool, _) = behind_blocks_in_use(999);
    assert!(matches!(pool.next(Nanos(7)), Action::Issue(io) if io.offset == 999 << 12));
    let (mut pool, keys) = behind_blocks_in_use(1000);
    let Action::Wait(until) = pool.next(Nanos(7)) else {
        panic!("the thousand blocks that it drew are in use");
    };
    assert_eq!(until, Some(Nanos(1_000_007)));
    keys.release(0, 1000 << 12);
    assert!(matches!(pool.next(Nanos(1_000_007)), Action::Issue(io) if io.offset == 1000 << 12));
}

/// Nothing wakes a worker when a job of another worker catches up. It looks a tenth of a millisecond
/// later: the time of one operation of a fast device, so that the group does not wait for the look.
#[test]
fn a_job_ahead_of_its_share_looks_again_after_the_time_of_an_operation() {
    let shares = crate::shares::Shares::new(&[1.0, 1.0]);
    let mut other = Allowance::new(Arc::clone(&shares), 1);
    let own = JobParts {
        job: job("a", Pooled::new("p", 1)),
        files: 0..1,
        recorder: recorder(),
        allowance: Some(Allowance::new(shares, 0)),
    };
    let mut pool = Worker::new(
        vec![own],
        Parts {
            thread: 0,
            seed: 7,
            sizes: &[1 << 30],
            slots: vec![Slot::returned(0)],
            stopper: Arc::default(),
            shared: &Shared::new(&[], std::iter::empty()),
            keys: None,
        },
    )
    .expect("a worker");
    pool.begin(Nanos::ZERO);
    let mut step = |now: Nanos| match pool.next(now) {
        Action::Issue(io) => {
            let result = io.len as i32;
            pool.complete(
                Completion {
                    slot: io.slot,
                    result,
                },
                now,
            );
            None
        }
        Action::Wait(until) => until,
        _ => panic!("it goes on"),
    };
    let ahead = (0..1000).find_map(|number| step(Nanos(number)).map(|until| (number, until)));
    assert_eq!(ahead, Some((64, Nanos(100_064))));
    other.used();
    assert_eq!(step(Nanos(100_064)), None);
    assert_eq!(step(Nanos(100_065)), Some(Nanos(200_065)));
}

#[test]
fn the_first_wrong_block_ends_it_where_one_is_enough() {
    let (job, keys) = validating(100, true, false);
    let (mut pool, recorders) = verifying(job, 1, &keys);
    keys.claim(0, 16 << 12).expect("it is free");
    keys.written(0, 16 << 12, 1);
    keys.release(0, 16 << 12);
    let Action::Issue(io) = pool.next(Nanos::ZERO) else {
        panic!("a read is due");
    };
    let result = io.len as i32;
    let slot = io.slot;
    let completion = Completion { slot, result };
    let (expected, len) = pool.expected(&completion).expect("it is compared");
    let zeros = vec![0; len];
    let found = DataCheck::Keys(keys).compare(&zeros, expected, 1);
    pool.compared(&completion.slot, expected, found, &zeros, Nanos(1));
    pool.complete(completion, Nanos(1));
    assert!(matches!(pool.next(Nanos(2)), Action::Done));
    assert_eq!(pool.stopped(), Stopped::Error);
    assert_eq!(recorders[0].miscompares().count, 1);
}
