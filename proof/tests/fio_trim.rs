//! Trims, next to Debian's fio on a loop device: how many there are, and what is read back.

mod stand;

use std::process::Command;

use blocklab_proof::{Lab, fio_is_there, json};

use stand::kernel::Loop;

/// Reads, writes and trims of a job of 256 blocks, and whether all was as it should be.
fn counts(mut command: Command, device: &Loop, words: &[&str]) -> (bool, [u64; 3]) {
    command.args(["--name=a", "--bs=4k", "--size=1m", "--output-format=json"]);
    command.arg(format!("--filename={}", device.path()));
    let output = command.args(words).output().expect("it starts");
    let out = json(&String::from_utf8_lossy(&output.stdout));
    let count = |direction| out["jobs"][0][direction]["total_ios"].as_u64();
    let counts = ["read", "write", "trim"].map(|direction| count(direction).expect("a count"));
    (output.status.success(), counts)
}

fn fio(lab: &Lab) -> Command {
    let mut command = Command::new("fio");
    // Its state files go with the lab.
    command.current_dir(lab.path());
    command
}

fn ours(lab: &Lab, device: &Loop) -> Command {
    let mut command = lab.command();
    command.args(["fio", "--no-save"]);
    command.arg(format!("--destroy-data={}", device.path()));
    command
}

fn device() -> Option<Loop> {
    if !fio_is_there() {
        return None;
    }
    Loop::attach(4 << 20, &[])
}

/// Of a block that is trimmed and then written, fio counts the write alone.
#[test]
fn blocks_that_are_trimmed_and_written_are_counted_once() {
    let Some(device) = device() else { return };
    let lab = Lab::new();
    for words in [
        &["--rw=trimwrite"][..],
        &["--rw=randtrimwrite", "--io_size=512k"],
        &["--rw=trimwrite", "--number_ios=100"],
        &["--rw=trimwrite", "--verify=crc32c"],
        &["--rw=trimwrite", "--verify=crc32c", "--loops=2"],
        &["--rw=trimwrite", "--verify=crc32c", "--verify_backlog=16"],
    ] {
        let theirs = counts(fio(&lab), &device, words);
        assert_eq!(
            counts(ours(&lab, &device), &device, words),
            theirs,
            "{words:?}"
        );
    }
}

/// Each draws its own share of 256 writes, so the counts agree within four standard deviations.
#[test]
fn the_share_that_is_trimmed_is_that_of_fio() {
    let Some(device) = device() else { return };
    let lab = Lab::new();
    let words = [
        "--rw=trimwrite",
        "--verify=crc32c",
        "--trim_percentage=50",
        "--trim_backlog=16",
    ];
    let theirs = counts(fio(&lab), &device, &words);
    let ours = counts(ours(&lab, &device), &device, &words);
    assert!(theirs.0 && ours.0, "{theirs:?} {ours:?}");
    assert_eq!(ours.1[..2], theirs.1[..2]);
    let separate = ours.1[2].abs_diff(theirs.1[2]);
    assert!(separate <= 4 * 12, "{theirs:?} {ours:?}");
}

/// The job that the manual describes; fio 3.33 breaks down over it.
#[test]
fn a_job_that_only_writes_trims_what_it_wrote() {
    let Some(device) = Loop::attach(4 << 20, &[]) else {
        return;
    };
    let lab = Lab::new();
    let words = [
        "--rw=write",
        "--verify=crc32c",
        "--trim_percentage=100",
        "--trim_backlog=16",
    ];
    let (sound, counts) = counts(ours(&lab, &device), &device, &words);
    // Those of the last batch are trimmed before anything is read back.
    assert_eq!((sound, counts), (true, [256, 256, 256]));
    let zeros = device.bytes();
    let zeros = zeros[..1 << 20].chunks(4096);
    assert_eq!(
        zeros
            .filter(|block| block.iter().all(|byte| *byte == 0))
            .count(),
        256
    );
}
