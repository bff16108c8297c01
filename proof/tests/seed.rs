//! One seed: the same requests, the same bytes, in virtual time the same record.

mod stand;

use std::fs;

use blocklab_record::{JobResult, Origin, Record};
use stand::{KIB, Stand};

/// What two runs of the same seed must share.
fn requests(job: &JobResult) -> Vec<(String, u64, u64)> {
    let directions = job.directions.iter();
    directions
        .map(|(way, d)| (way.to_string(), d.ios, d.bytes))
        .collect()
}

#[test]
fn the_same_seed_asks_for_the_same() {
    let stand = Stand::new();
    let study = r#"
        name = "seeded"
        [[case]]
        name = "a"
        engine = "null"
        mix = { read = 60, write = 30, trim = 10 }
        block_size = [["4KiB", 60], ["64KiB", 40]]
        pattern = "zipf"
        theta = 1.1
        threads = 4
        stop_bytes = "8MiB"
    "#;
    let run = |seed| stand.record(study, &["--target", "null", "--seed", seed]);
    let (first, again, other) = (run("11"), run("11"), run("12"));
    assert_eq!(first.requested, again.requested);
    assert_ne!(first.requested.native, other.requested.native);
    let all = |record: &Record| record.jobs().flat_map(requests).collect::<Vec<_>>();
    assert_eq!(all(&first), all(&again));
    assert_ne!(all(&first), all(&other), "another draw of sizes");
    let drawn = stand.record(study, &["--target", "null"]);
    let drawn_again = stand.record(study, &["--target", "null"]);
    assert_ne!(drawn.requested.seed, drawn_again.requested.seed);
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let stand = Stand::new();
    let study = r#"
        name = "bytes"
        [[case]]
        name = "a"
        engine = "psync"
        mix = "write"
        pattern = "random-once"
        loops = 1
    "#;
    let written = |name, seed| {
        let file = stand.hole(name, 256 * KIB);
        stand.record(study, &["--target", &file, "--seed", seed]);
        fs::read(file).expect("the file")
    };
    let first = written("first", "5");
    assert!(first == written("again", "5"), "other bytes of one seed");
    assert!(
        first != written("other", "6"),
        "the same bytes of two seeds"
    );
}

/// Virtual time knows no noise: not a nanosecond differs.
#[test]
fn the_same_seed_simulates_the_same_record() {
    let stand = Stand::new();
    let target = ["--target", "sim:gp3:1TiB@r5d.xlarge", "--seed", "3"];
    let study = r#"
        name = "tiny"
        passes = 2
        [[case]]
        name = "both"
        size = "1MiB"
        stop_bytes = "256KiB"
        mix = { read = 50, write = 50 }
    "#;
    let first = stand.record(study, &target);
    let again = stand.record(study, &target);
    assert_eq!(first.origin, Origin::Simulated);
    assert_eq!(first.measurements, again.measurements);
    assert_eq!(first.targets, again.targets);
}
