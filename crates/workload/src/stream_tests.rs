//! Which requests follow one another.

use std::collections::BTreeSet;

use super::*;
use crate::{BlockSizes, Mix, Pattern, Region, TargetOrder};
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

/// Reads of 64 KiB began at multiples of 4 KiB, the blocks of writes that the job does not have.
#[test]
fn places_are_multiples_of_blocks_that_occur() {
    let mut job = Job::new("aligned");
    job.pattern = Pattern::RANDOM;
    job.mix = Mix::READ;
    job.sizes = BlockSizes {
        read: SizeMix::fixed(Bytes(65536)),
        ..BlockSizes::fixed(Bytes(4096))
    };
    let stream = requests(&job, 1000);
    assert!(stream.iter().all(|r| r.offset % 65536 == 0));
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

/// The story: in a region of few blocks, a large block that was drawn near the end began earlier, or
/// was cut to a size that no one had asked for. Half of all blocks were of 64 KiB; with fio, which
/// draws the size again, 38 %: one of 64 KiB has no room at the last 15 of 64 places.
#[test]
fn a_size_that_has_no_room_at_its_place_is_drawn_again() {
    const SIZE: u64 = 256 << 10;
    let mut job = Job::new("end");
    job.sizes.read = SizeMix(vec![(Bytes(4096), 1), (Bytes(65536), 1)]);
    let mut stream = Requests::new(&job, 42, 0, &[SIZE]).unwrap();
    let requests = (0..100_000).map(|_| stream.next_request());
    let large: Vec<u64> = requests
        .filter(|request| request.len == 65536)
        .map(|request| request.offset)
        .collect();
    assert!((37_800..38_800).contains(&large.len()), "{}", large.len());
    let at_last = large.iter().filter(|offset| **offset == SIZE - 65536);
    let at_last = at_last.count();
    assert!(
        (700..900).contains(&at_last),
        "as often as any other place: {at_last}"
    );

    job.pattern = once(&[4096, 65536]).pattern;
    for seed in 0..1000 {
        let mut stream = Requests::new(&job, seed, 0, &[SIZE]).unwrap();
        let first = stream.next_request();
        assert!(
            [4096, 65536].contains(&first.len),
            "nothing is taken yet that could cut it: {first:?}"
        );
    }
}

/// A bit for each piece: a map of 4 GiB is the largest that is made, for 16 TiB in pieces of 512 B.
#[test]
fn a_map_of_more_than_four_gibibytes_is_refused() {
    let job = once(&[512, 4096]);
    let of_len = |len: u64| check_pieces(&job, Extent { offset: 0, len });
    assert_eq!(of_len(16 << 40), Ok(()));
    let error = of_len((16 << 40) + 512).expect_err("a piece more");
    assert!(error.message.contains("a larger smallest block"), "{error}");
}

fn once(sizes: &[u64]) -> Job {
    let mut job = Job::new("pieces");
    job.pattern = Pattern::RANDOM_ONCE;
    let sizes: Vec<_> = sizes.iter().map(|size| (Bytes(*size), 1)).collect();
    job.sizes.read = SizeMix(sizes);
    job.sizes.write = job.sizes.read.clone();
    job
}

/// The requests of one pass over targets of these sizes, until all whole pieces were hit; asserts
/// that none is hit twice and that nothing lies beyond the end.
#[track_caller]
fn one_pass(job: &Job, stream: &mut Requests, targets: &[u64]) -> Vec<Request> {
    let piece = job.piece().unwrap().0;
    let pieces = |len: u64| len / piece;
    let mut hit: Vec<_> = targets
        .iter()
        .map(|len| vec![false; pieces(*len) as usize])
        .collect();
    let mut left: u64 = targets.iter().map(|len| pieces(*len)).sum();
    let mut pass = Vec::new();
    while left > 0 {
        let request = stream.next_request();
        assert!(request.offset.is_multiple_of(piece), "{request:?}");
        let (first, count) = (
            request.offset / piece,
            u64::from(request.len).div_ceil(piece),
        );
        let range = first as usize..(first + count) as usize;
        let range = &mut hit[request.target as usize][range];
        assert!(range.iter().all(|hit| !hit), "{request:?} once more");
        range.fill(true);
        left -= count;
        pass.push(request);
    }
    pass
}

/// Blocks of several sizes lay at multiples of the largest one, so that small ones left gaps.
#[test]
fn blocks_of_several_sizes_hit_everything_once() {
    let cases: [(&[u64], SizeDraw, &[u64]); 6] = [
        (&[4096, 65536], SizeDraw::Multiples, &[1 << 20]),
        (&[4096, 16384], SizeDraw::Listed, &[1_000_000]),
        (
            &[512, 12_288],
            SizeDraw::Multiples,
            &[1 << 20, 300_000, 65_536],
        ),
        (&[3072, 10_240], SizeDraw::Multiples, &[1 << 20]),
        (&[4096, 65536], SizeDraw::AnyByte, &[1 << 20, 1 << 19]),
        (&[4096, 16384], SizeDraw::Multiples, &[16384]),
    ];
    for (sizes, draw, targets) in cases {
        for order in [
            TargetOrder::RoundRobin,
            TargetOrder::Random,
            TargetOrder::OneByOne,
        ] {
            let mut job = once(sizes);
            (job.size_draw, job.target_order) = (draw, order);
            let mut stream = Requests::new(&job, 42, 0, targets).unwrap();
            let first = one_pass(&job, &mut stream, targets);
            let second = one_pass(&job, &mut stream, targets);
            assert_ne!(first, second, "each pass has its own order");
            if order == TargetOrder::OneByOne {
                assert!(first.is_sorted_by_key(|request| request.target));
            }
        }
    }
}

/// With `bs=4k,16k` writes of 8 and 12 KiB were seen: they were cut where a read had been. Later they
/// were cut at an end that is no multiple of theirs alone.
#[test]
fn directions_of_different_sizes_keep_them() {
    let mut job = once(&[4096]);
    job.sizes.write = SizeMix::fixed(Bytes(16384));
    job.mix = Mix::reads(50);
    for region in [1 << 20, 1_000_000] {
        let mut stream = Requests::new(&job, 42, 0, &[region]).unwrap();
        let mut written = BTreeSet::new();
        let mut moved = 0;
        while moved < region / 4096 * 4096 {
            let request = stream.next_request();
            let (offset, len) = (request.offset, u64::from(request.len));
            assert!(offset + len <= region, "{request:?}");
            let size = if request.direction == Direction::Write {
                16384
            } else {
                4096
            };
            assert!(offset.is_multiple_of(size), "{request:?}");
            assert_eq!(len, size, "{request:?}");
            if request.direction == Direction::Write {
                let is_last = offset == (region / size - 1) * size;
                assert!(written.insert(offset) || is_last, "{request:?} once more");
            }
            moved += len;
        }
        assert!(written.len() > 10, "{written:?}");
    }
    // Sizes of a direction that does not occur mean nothing.
    job.mix = Mix::READ;
    assert_eq!(job.piece(), None);
    let mut stream = Requests::new(&job, 42, 0, &[1 << 20]).unwrap();
    let mut offsets: Vec<_> = (0..256).map(|_| stream.next_request().offset).collect();
    offsets.sort_unstable();
    assert!(offsets.into_iter().eq((0..256).map(|block| block * 4096)));
}

#[test]
fn a_write_is_as_long_as_the_trim_before_it() {
    let mut job = once(&[4096, 65536]);
    (job.mix, job.trim_first) = (Mix::WRITE, true);
    let mut stream = Requests::new(&job, 42, 0, &[1 << 20]).unwrap();
    let mut left = 1 << 20;
    while left > 0 {
        let (trim, write) = (stream.next_request(), stream.next_request());
        assert_eq!(trim.direction, Direction::Trim);
        assert_eq!((trim.offset, trim.len), (write.offset, write.len));
        left -= write.len;
    }
}

#[test]
fn sizes_up_to_one_that_is_no_multiple_end_with_it() {
    let mut job = once(&[3072, 10_240]);
    (job.pattern, job.size_draw) = (Pattern::Sequential, SizeDraw::Multiples);
    let stream = requests(&job, 50_000);
    let share = |len| stream.iter().filter(|it| it.len == len).count();
    for len in [3072, 6144, 9216] {
        assert!((14_500..15_500).contains(&share(len)), "{}", share(len));
    }
    assert!((4700..5300).contains(&share(10_240)), "{}", share(10_240));
}

/// The story: the second multiple of 3 GiB was computed in 32 bits, and trims had 2 GiB.
#[test]
fn multiples_beyond_32_bits_end_at_the_largest_size() {
    let mut job = once(&[3 << 30, u64::from(u32::MAX)]);
    (job.pattern, job.size_draw) = (Pattern::Sequential, SizeDraw::Multiples);
    job.mix = Mix::TRIM;
    job.sizes.trim = job.sizes.read.clone();
    let mut stream = Requests::new(&job, 1, 0, &[1 << 40]).unwrap();
    let mut lens: Vec<u32> = (0..100).map(|_| stream.next_request().len).collect();
    lens.sort_unstable();
    lens.dedup();
    assert_eq!(lens, [3 << 30, u32::MAX]);
}

#[test]
fn a_map_that_no_memory_holds_is_refused() {
    let job = once(&[512, 4096]);
    let wrong = Requests::new(&job, 42, 0, &[1 << 50]).unwrap_err();
    assert_eq!(wrong.field, "pattern");
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
fn staggered_threads_begin_at_a_distance() {
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

/// The first offsets of threads that share the position in a target of `size` bytes, and take turns.
fn offsets_of_threads(job: &Job, threads: u32, size: u64, turns: usize) -> Vec<u64> {
    let positions = Positions::new(1);
    let mut sharing: Vec<Requests> = (0..threads)
        .map(|thread| {
            let mut requests = Requests::new(job, 1, thread, &[size]).unwrap();
            requests.share(&positions);
            requests
        })
        .collect();
    let mut offsets = Vec::new();
    for turn in 0..turns {
        let thread = turn % sharing.len();
        offsets.push(sharing[thread].next_request().offset);
    }
    offsets
}

#[test]
fn threads_that_share_a_position_cover_the_target_once() {
    let mut job = Job {
        threads: 3,
        pattern: Pattern::Sequential,
        ..Job::new("together")
    };
    job.region.spread = Spread::Shared;
    let offsets = offsets_of_threads(&job, 3, 96 << 10, 24);
    assert!(offsets.into_iter().eq((0..24).map(|block| block * 4096)));

    job.pattern = Pattern::Strided {
        stride: Bytes(8192),
    };
    assert_eq!(
        offsets_of_threads(&job, 2, 20 << 10, 6),
        [0, 8192, 16384, 0, 8192, 16384]
    );
}

/// The story: behind a block that did not fit at the end of the target, the position went on to
/// count from there, and all later passes were at offsets such as 2,288 that O_DIRECT refuses.
#[test]
fn a_shared_position_begins_again_at_the_start() {
    let mut job = Job {
        threads: 2,
        pattern: Pattern::Sequential,
        ..Job::new("together")
    };
    job.region.spread = Spread::Shared;
    assert_eq!(
        offsets_of_threads(&job, 2, 10_000, 5),
        [0, 4096, 0, 4096, 0]
    );
}

/// The story: a target that a pass was through with was named again, so that a job that fills its
/// files wrote some blocks twice and others never.
#[test]
fn a_target_that_is_done_waits_for_the_others() {
    for (target_order, target_turn) in [
        (TargetOrder::Random, 1),
        (TargetOrder::Random, 3),
        (TargetOrder::RoundRobin, 3),
    ] {
        for pattern in [Pattern::Sequential, Pattern::RANDOM_ONCE] {
            let mut job = Job {
                target_order,
                target_turn,
                pattern,
                ..Job::new("done")
            };
            job.region.spread = Spread::Same;
            job.stop.bytes = Some(Bytes(2 * 28 * 4096));
            let lengths = [4, 16, 8].map(|blocks| blocks * 4096);
            let mut stream = Requests::new(&job, 42, 0, &lengths).unwrap();
            for _ in 0..2 {
                let pass = (0..28).map(|_| stream.next_request());
                let hit: BTreeSet<(u32, u64)> = pass.map(|r| (r.target, r.offset)).collect();
                assert_eq!(hit.len(), 28, "{job:?}");
            }
        }
    }
}

/// The story: reads of two sizes cut writes that have only one, where each block is hit once.
#[test]
fn a_direction_of_one_size_keeps_it_beside_one_of_several() {
    let mut job = Job {
        pattern: Pattern::RANDOM_ONCE,
        mix: Mix::reads(50),
        ..Job::new("sizes")
    };
    job.sizes = BlockSizes {
        read: SizeMix(vec![(Bytes(4096), 1), (Bytes(8192), 1)]),
        ..BlockSizes::fixed(Bytes(16384))
    };
    for request in requests(&job, 5000) {
        let sizes: &[u32] = match request.direction {
            Direction::Read => &[4096, 8192],
            _ => &[16384],
        };
        assert!(sizes.contains(&request.len), "{request:?}");
    }
}

/// The story: the second number of `zipf:1.2:0.25` was dropped.
#[test]
fn a_skewed_pattern_has_its_centre_where_it_is_wanted() {
    for pattern in [Pattern::Zipf { theta: 1.2 }, Pattern::Pareto { h: 0.1 }] {
        for center in [0.25, 0.75] {
            let job = Job {
                pattern: pattern.clone(),
                center: Some(center),
                ..Job::new("centre")
            };
            let mut stream = Requests::new(&job, 42, 0, &[1 << 20]).unwrap();
            let mut hits = [0; 256];
            for _ in 0..20_000 {
                hits[(stream.next_request().offset >> 12) as usize] += 1;
            }
            let hottest = (0..256).max_by_key(|block| hits[*block]);
            assert_eq!(hottest, Some((center * 256.0) as usize), "{pattern:?}");
        }
    }
    let normal = Job {
        pattern: Pattern::Normal {
            deviation_percent: 5.0,
        },
        center: Some(0.25),
        ..Job::new("normal")
    };
    let mut stream = Requests::new(&normal, 42, 0, &[1 << 20]).unwrap();
    let sum: u64 = (0..10_000).map(|_| stream.next_request().offset).sum();
    assert!((61 << 12..67 << 12).contains(&(sum / 10_000)), "{sum}");
}
