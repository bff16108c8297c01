use super::*;
use crate::recorder::Wanted;
use crate::worker::{Parts, Shared};
use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, Mix, Pace, Rate, Share, Stop};

fn job(name: &str, pooled: Pooled) -> Job {
    Job {
        pool: Some(pooled),
        stop: Stop {
            runtime: Some(Nanos::from_secs(1)),
            ..Stop::default()
        },
        ..Job::new(name)
    }
}

fn recorder() -> Arc<Recorder> {
    Arc::new(Recorder::new(Wanted {
        directions: [true, true, false, false],
        response: true,
        submit: false,
        depths: false,
        log: None,
    }))
}

/// A pool of these jobs on a target of 1 GiB, and their recorders.
fn pool(jobs: Vec<Job>, depth: u32) -> (Pool, Vec<Arc<Recorder>>) {
    let weights: Vec<f64> = jobs
        .iter()
        .filter_map(|job| job.pool.as_ref()?.share.map(|share| share.weight))
        .collect();
    let shares = crate::shares::Shares::new(&weights);
    let recorders: Vec<Arc<Recorder>> = jobs.iter().map(|_| recorder()).collect();
    let lanes = jobs
        .into_iter()
        .zip(&recorders)
        .enumerate()
        .map(|(member, (job, recorder))| LaneParts {
            allowance: (!weights.is_empty()).then(|| Allowance::new(Arc::clone(&shares), member)),
            job,
            recorder: Arc::clone(recorder),
            warm: self::recorder(),
        })
        .collect();
    let shared = Shared::of(&[], std::iter::empty());
    let parts = Parts {
        thread: 0,
        seed: 7,
        sizes: &[1 << 30],
        slots: (0..depth).map(Slot::returned).collect(),
        recorder: recorder(),
        stopper: Arc::default(),
        shared: &shared,
    };
    let mut pool = Pool::new(lanes, parts).unwrap();
    pool.begin(Nanos::ZERO);
    (pool, recorders)
}

/// Drives it against a device that takes `service` for each operation, all at once.
fn drive(pool: &mut Pool, service: Nanos) -> Vec<Io> {
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
fn shares_are_kept() {
    let shared = |name, weight| {
        let mut pooled = Pooled::new("p", 8);
        pooled.share = Some(Share { group: 1, weight });
        job(name, pooled)
    };
    let (mut pool, recorders) = pool(vec![shared("a", 90.0), shared("b", 10.0)], 8);
    drive(&mut pool, QUICK);
    let [a, b] = [0, 1].map(|lane: usize| recorders[lane].issued.get() as f64);
    assert!((a / (a + b) - 0.9).abs() < 0.01, "{a} {b}");
    assert!(a + b > 7500.0, "{a} {b}");
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
    let mut pooled = Pooled::new("p", 1);
    pooled.queue = 10;
    let mut job = job("a", pooled);
    job.pace = Pace::OpenFixed(Rate::Iops(100_000.0));
    let (mut pool, recorders) = pool(vec![job], 1);
    drive(&mut pool, QUICK);
    let tally = recorders[0].tally(Direction::Read).unwrap();
    let response = tally.response.as_ref().unwrap();
    let waits = response.sum() / tally.ios.get() as f64;
    // Ten arrivals at 100,000 a second wait a tenth of a millisecond, besides the millisecond.
    assert!((1.0e6..1.2e6).contains(&waits), "{waits}");
    assert!(
        recorders[0].overdue.get() > 98_000,
        "{}",
        recorders[0].overdue.get()
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
    job.mix = Mix {
        read: 50,
        write: 50,
        trim: 0,
    };
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
