//! Which requests follow one another.

use super::*;
use crate::{BlockSizes, Mix, Pattern, Region};
use blocklab_units::Bytes;

fn requests(job: &Job, n: usize) -> Vec<Request> {
    let mut stream = Requests::new(job, 42, 0, &[64 << 20, 64 << 20]).unwrap();
    (0..n).map(|_| stream.next_request()).collect()
}

#[test]
fn the_mix_and_the_sizes_are_met() {
    let mut job = Job::new("mix");
    job.mix = Mix {
        read: 70,
        write: 20,
        trim: 10,
    };
    job.sizes = BlockSizes {
        read: SizeMix(vec![(Bytes(4096), 3), (Bytes(65536), 1)]),
        ..BlockSizes::fixed(Bytes(8192))
    };
    let stream = requests(&job, 100_000);
    let share = |direction| stream.iter().filter(|r| r.direction == direction).count();
    assert!((69_500..70_500).contains(&share(Direction::Read)));
    assert!((19_600..20_400).contains(&share(Direction::Write)));
    let large = stream.iter().filter(|r| r.len == 65536).count();
    assert!(
        (17_000..18_000).contains(&large),
        "a quarter of the reads: {large}"
    );
}

#[test]
fn the_same_seed_gives_the_same_stream() {
    let job = Job::new("again");
    assert_eq!(requests(&job, 1000), requests(&job, 1000));
}

#[test]
fn mixed_sizes_in_sequence_meet_the_end() {
    let mut job = Job::new("to the end");
    job.pattern = Pattern::Sequential;
    job.sizes.read = SizeMix(vec![(Bytes(512), 1), (Bytes(4096), 3)]);
    let mut stream = Requests::new(&job, 42, 0, &[1 << 20]).unwrap();
    let mut end = 0;
    for _ in 0..10_000 {
        let request = stream.next_request();
        assert_eq!(request.offset, end % (1 << 20), "nothing is left out");
        end = request.offset + u64::from(request.len);
    }
}

#[test]
fn targets_take_turns() {
    let turns: Vec<u32> = requests(&Job::new("turns"), 4)
        .iter()
        .map(|r| r.target)
        .collect();
    assert_eq!(turns, [0, 1, 0, 1]);
}

#[test]
fn staggered_threads_begin_apart() {
    let mut job = Job {
        threads: 4,
        pattern: Pattern::Sequential,
        ..Job::new("far")
    };
    let begin = |job: &Job, thread| {
        Requests::new(job, 1, thread, &[64 << 20])
            .unwrap()
            .next_request()
            .offset
    };
    assert_eq!(begin(&job, 3), 48 << 20);
    job.region = Region {
        spread: Spread::Same,
        ..Region::default()
    };
    assert_eq!(begin(&job, 3), 0);
}

#[test]
fn threads_that_share_a_position_cover_the_target_once() {
    let mut job = Job {
        threads: 3,
        pattern: Pattern::Sequential,
        ..Job::new("together")
    };
    job.region.spread = Spread::Shared;
    let positions = Positions::new(1);
    let mut threads: Vec<Requests> = (0..3)
        .map(|thread| {
            let mut requests = Requests::new(&job, 1, thread, &[96 << 10]).unwrap();
            requests.share(&positions);
            requests
        })
        .collect();
    let offsets: Vec<u64> = (0..24)
        .map(|turn| threads[turn * 7 % 3].next_request().offset)
        .collect();
    assert!(offsets.into_iter().eq((0..24).map(|block| block * 4096)));

    job.pattern = Pattern::Strided {
        stride: Bytes(8192),
    };
    let positions = Positions::new(1);
    let mut pair = [0, 1].map(|thread| {
        let mut requests = Requests::new(&job, 1, thread, &[20 << 10]).unwrap();
        requests.share(&positions);
        requests
    });
    let offsets: Vec<u64> = (0..6)
        .map(|turn| pair[turn % 2].next_request().offset)
        .collect();
    assert_eq!(offsets, [0, 8192, 16384, 0, 8192, 16384]);
}
