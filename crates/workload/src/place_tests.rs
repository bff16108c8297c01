//! Where operations go, law by law.

use super::*;
use crate::Zone;
use blocklab_units::Bytes;

const EXTENT: Extent = Extent {
    offset: 1 << 20,
    len: 1000 * 4096,
};

fn offsets(pattern: &Pattern, n: usize) -> Vec<u64> {
    let mut chance = Stream::new(1, "places", 0);
    let mut places = Places::new(pattern, EXTENT, 4096, 4096, 4096, 0.0, &mut chance);
    (0..n)
        .map(|_| (places.next(4096, &mut chance) - EXTENT.offset) / 4096)
        .collect()
}

#[test]
fn sequential_wraps_at_the_end() {
    let blocks = offsets(&Pattern::Sequential, 1001);
    assert_eq!(blocks[..3], [0, 1, 2]);
    assert_eq!(blocks[999..], [999, 0]);
}

#[test]
fn strided_leaves_gaps() {
    let blocks = offsets(
        &Pattern::Strided {
            stride: Bytes(16384),
        },
        252,
    );
    assert_eq!(blocks[..3], [0, 4, 8]);
    assert_eq!(blocks[249..], [996, 0, 4]);
}

#[test]
fn backward_begins_at_the_front_and_goes_on_from_the_end() {
    let back = |blocks: u64| Pattern::Backward {
        back: Bytes(blocks * 4096),
    };
    let blocks = offsets(&back(2), 1002);
    assert_eq!(blocks[..3], [0, 998, 997]);
    assert_eq!(blocks[998..], [1, 0, 998, 997]);
    assert_eq!(offsets(&back(1), 3), [0, 0, 0]);
}

#[test]
fn once_visits_every_block_each_pass() {
    let blocks = offsets(&Pattern::RANDOM_ONCE, 2000);
    for pass in blocks.chunks(1000) {
        let mut pass = pass.to_vec();
        pass.sort_unstable();
        assert!(pass.into_iter().eq(0..1000));
    }
    assert_ne!(
        blocks[..1000],
        blocks[1000..],
        "each pass has its own order"
    );
}

#[test]
fn percent_random_jumps_as_often_as_requested() {
    let blocks = offsets(&Pattern::PercentRandom(30), 20_000);
    let jumps = blocks
        .windows(2)
        .filter(|w| w[1] != (w[0] + 1) % 1000)
        .count();
    assert!((5600..6400).contains(&jumps), "{jumps}");
}

#[test]
fn the_hot_fifth_gets_four_fifths() {
    let blocks = offsets(&Pattern::Pareto { h: 0.2 }, 50_000);
    let mut hits = vec![0u32; 1000];
    blocks.iter().for_each(|block| hits[*block as usize] += 1);
    hits.sort_unstable_by(|a, b| b.cmp(a));
    let hot: u32 = hits[..200].iter().sum();
    assert!((39_000..41_500).contains(&hot), "{hot}");
}

#[test]
fn zones_get_their_shares() {
    let zones = vec![
        Zone {
            access_percent: 95.0,
            space_percent: 5.0,
        },
        Zone {
            access_percent: 5.0,
            space_percent: 95.0,
        },
    ];
    let blocks = offsets(&Pattern::Zones(zones), 20_000);
    let hot = blocks.iter().filter(|block| **block < 50).count();
    assert!((18_800..19_200).contains(&hot), "{hot}");
}

#[test]
fn normal_lies_around_the_middle() {
    let blocks = offsets(
        &Pattern::Normal {
            deviation_percent: 10.0,
        },
        20_000,
    );
    let near = blocks
        .iter()
        .filter(|block| block.abs_diff(500) < 100)
        .count();
    assert!(
        (13_300..14_000).contains(&near),
        "68.3 % within one deviation: {near}"
    );
}

#[test]
fn every_law_stays_inside_with_mixed_sizes() {
    for pattern in [
        Pattern::Sequential,
        Pattern::RANDOM,
        Pattern::RANDOM_ONCE,
        Pattern::PercentRandom(50),
        Pattern::Zipf { theta: 1.1 },
        Pattern::Normal {
            deviation_percent: 50.0,
        },
    ] {
        let mut chance = Stream::new(9, "mixed", 0);
        let extent = Extent {
            offset: 512,
            len: 100_000,
        };
        let mut places = Places::new(&pattern, extent, 512, 512, 65536, 0.4, &mut chance);
        for turn in 0..10_000 {
            let len = if turn % 3 == 0 { 65536 } else { 512 };
            let (offset, len) = places.fit(len, 512, &mut chance, |_| len);
            assert!(offset >= 512 && offset + len <= 100_512, "{pattern:?}");
            assert!(offset.is_multiple_of(512), "{pattern:?}");
        }
    }
}

#[test]
fn slices_and_increments_share_the_target() {
    let part = |spread, size, thread| {
        let region = Region {
            offset: Bytes(0),
            size,
            spread,
        };
        Extent::for_thread(region, 1 << 20, thread, 4, 4096)
    };
    assert_eq!(
        part(Spread::Sliced, None, 3),
        Ok(Extent {
            offset: 3 << 18,
            len: 1 << 18
        })
    );
    let step = Spread::Increment(Bytes(4096));
    assert_eq!(
        part(step, Some(Bytes(8192)), 2),
        Ok(Extent {
            offset: 8192,
            len: 8192
        })
    );
    assert!(
        part(Spread::Same, Some(Bytes(2 << 20)), 0).is_err(),
        "beyond the end"
    );
    assert!(
        part(Spread::Same, Some(Bytes(512)), 0).is_err(),
        "less than a block"
    );
}

/// `-T18446744073709551615` and `-s18446744073709551615` of DiskSpd overflowed, and the run panicked.
#[test]
fn what_cannot_be_counted_lies_beyond_every_target() {
    let region = Region {
        offset: Bytes(4096),
        size: Some(Bytes(4096)),
        spread: Spread::Increment(Bytes(u64::MAX)),
    };
    let beyond = Extent::for_thread(region, 1 << 20, 2, 4, 4096).expect_err("beyond the end");
    assert!(
        beyond.message.contains("ends beyond the target"),
        "{beyond}"
    );
    let stride = Bytes(u64::MAX);
    assert_eq!(offsets(&Pattern::Strided { stride }, 3), [0, 0, 0]);
}
