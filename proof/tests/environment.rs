//! What comes from outside of a run is reported: a host's page cache below a loop device, a second
//! run on the disk, a program that was stopped.

mod stand;

use std::fs;
use std::time::Duration;

use blocklab_findings::{Confidence, Finding, assess};
use blocklab_record::Record;
use stand::kernel::Loop;
use stand::running::Running;
use stand::{MIB, Stand, short_then_long};

/// Reads 16 MiB, each byte once.
const READ: &str = r#"
    name = "read"
    [[case]]
    name = "read"
    engine = "psync"
    pattern = "sequential"
    block_size = "64KiB"
    size = "16MiB"
    stop_bytes = "16MiB"
"#;

/// Reads without an end, one pass after the other.
const READ_ON: &str = r#"
    name = "on"
    passes = 100000
    [[case]]
    name = "on"
    engine = "psync"
    pattern = "sequential"
    block_size = "64KiB"
    size = "16MiB"
    runtime = "100ms"
"#;

fn found(record: &Record, rule: &str) -> Option<Finding> {
    let findings = assess(record).findings;
    findings.into_iter().find(|finding| finding.rule == rule)
}

/// A disk of 16 MiB of data, which the page cache holds.
fn disk(options: &[&str]) -> Option<Loop> {
    let disk = Loop::attach(16 * MIB, options)?;
    fs::write(disk.backing(), vec![7; 16 * MIB as usize]).expect("written");
    Some(disk)
}

/// A loop device over an image was read at 5.9 GB/s with O_DIRECT, out of the page cache of the
/// host, and the report had no word of doubt.
#[test]
fn a_loop_device_over_a_buffered_file() {
    let stand = Stand::new();
    let Some(disk) = disk(&[]) else { return };
    let record = stand.record(READ, &["--target", disk.path()]);
    let finding = found(&record, "buffered-loop").expect("a word of doubt");
    assert!(finding.statement.contains(disk.name()), "{finding:?}");
    let below = &record.measurements[0].backing_disks;
    let is_watched = record.targets[0].devices.len() > 1;
    assert_eq!(is_watched, !below.is_empty(), "{below:?}");
    // Nothing but the counters of the disk below tells for certain.
    assert!(is_watched || finding.confidence == Confidence::Medium);
}

#[test]
fn a_loop_device_past_the_page_cache() {
    let stand = Stand::new();
    let Some(disk) = disk(&["--direct-io=on"]) else {
        return;
    };
    let record = stand.record(READ, &["--target", disk.path()]);
    if record.targets[0].devices[0].loop_direct != Some(true) {
        stand::skip(
            "direct loop devices",
            "the file system below has no O_DIRECT",
        );
        return;
    }
    assert_eq!(found(&record, "buffered-loop"), None);
}

/// Two runs of one disk halved each other's figures, and neither knew of the other.
#[test]
fn a_second_run_on_the_same_disk() {
    let stand = Stand::new();
    let Some(disk) = disk(&[]) else { return };
    // Nobody else knows the device.
    let alone = stand.record(READ_ON_FOR_A_WHILE, &["--target", disk.path()]);
    assert_eq!(found(&alone, "disk-shared"), None);

    let other = Stand::new();
    let mut command = other.lab.command();
    command.args(["run", other.study(READ_ON), "--target", disk.path()]);
    let mut running = Running::start(command);
    running.await_measurement();
    let shared = stand.record(READ_ON_FOR_A_WHILE, &["--target", disk.path()]);
    running.end_by("INT", false);
    let finding = found(&shared, "disk-shared").expect("the other one is seen");
    assert!(finding.statement.contains(disk.name()), "{finding:?}");
}

/// At a rate that the other run is sure to pass.
const READ_ON_FOR_A_WHILE: &str = r#"
    name = "while"
    [[case]]
    name = "while"
    engine = "psync"
    pattern = "sequential"
    block_size = "64KiB"
    size = "16MiB"
    rate_iops = 20
    runtime = "1s"
"#;

/// SIGSTOP for three seconds showed as a latency of 3.5 s, as if the device had hung.
#[test]
fn a_program_that_was_stopped() {
    let stand = Stand::new();
    let study = short_then_long("engine = \"psync\"\nmix = \"write\"");
    let mut command = stand.lab.command();
    let words = ["run", stand.study(&study), "--target", stand.disk_text()];
    command.args(words);
    let mut running = Running::start(command);
    running.await_measurement();
    running.await_writes(MIB / 16);
    running.stand_still(Duration::from_millis(1500));
    running.end_by("INT", false);
    let record = stand.latest();
    let still = record.measurements[1].stood_still_ns.expect("it was seen");
    assert!(still >= 1_000_000_000, "{still}");
    assert!(found(&record, "stood-still").is_some());
}
