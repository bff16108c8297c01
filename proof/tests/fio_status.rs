//! What fio tells next to the results: how far a run is, how idle the processors were, what all jobs
//! moved together. In its shape, next to Debian's fio where that is installed.

use std::fs;
use std::process::Command;

use blocklab_proof::{Lab, good};

/// Two seconds at a rate that any machine keeps.
const JOB: [&str; 7] = [
    "--name=a",
    "--ioengine=null",
    "--rw=read",
    "--size=1m",
    "--rate_iops=100",
    "--time_based",
    "--runtime=2",
];

fn ours(lab: &Lab, words: &[&str]) -> String {
    let all = ["fio", "--no-save"].iter().chain(&JOB).chain(words);
    good(lab.blocklab(all.copied()))
}

/// Nothing where fio is not installed.
fn theirs(lab: &Lab, words: &[&str]) -> Option<String> {
    let mut command = Command::new("fio");
    command.current_dir(lab.path()).args(JOB).args(words);
    let Ok(output) = command.output() else {
        println!("skipped: fio is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// The first line that tells how far it is.
fn first_eta(text: &str) -> Option<&str> {
    let mut lines = text.split(['\r', '\n']);
    lines.find(|line| line.starts_with("Jobs:"))
}

#[test]
fn a_young_run_tells_its_jobs_and_rates_alone() {
    let lab = Lab::new();
    let words = ["--eta=always"];
    let printed = ours(&lab, &words);
    assert_eq!(first_eta(&printed), Some("Jobs: 1 (f=1), 0-100 IOPS"));
    if let Some(theirs) = theirs(&lab, &words) {
        assert_eq!(first_eta(&printed), first_eta(&theirs));
    }
}

/// The words and keys of the last part of the results, without their figures.
fn idleness(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.contains("dleness"));
    let word = |line: &str| {
        line.split([':', '='])
            .next()
            .map(|word| word.trim().to_owned())
    };
    lines.filter_map(word).collect()
}

#[test]
fn idleness_is_reported_in_the_words_of_fio() {
    let lab = Lab::new();
    for words in [
        &["--idle-prof=percpu"][..],
        &["--idle-prof=system", "--output-format=json"],
    ] {
        let printed = idleness(&ours(&lab, words));
        assert!(printed.len() >= 3, "{words:?}: {printed:?}");
        if let Some(theirs) = theirs(&lab, words) {
            assert_eq!(printed, idleness(&theirs), "{words:?}");
        }
    }
}

#[test]
fn what_all_jobs_moved_is_in_a_file_for_each_direction() {
    let lab = Lab::new();
    ours(&lab, &["--bandwidth-log"]);
    let speeds = |direction: &str| -> Vec<u64> {
        let path = lab.path().join(format!("agg-{direction}_bw.log"));
        let text = fs::read_to_string(path).expect("it is left");
        let second = |line: &str| line.split(", ").nth(1)?.parse().ok();
        text.lines()
            .map(|line| second(line).expect("a number"))
            .collect()
    };
    assert!(speeds("read").iter().any(|speed| *speed > 0));
    assert!(!speeds("write").is_empty());
    assert!(speeds("write").iter().all(|speed| *speed == 0));
}

/// The story: the files of `--bandwidth-log` were opened after those of the jobs were laid out. Where one
/// could not be made, a file with `unlink=1` stayed.
#[test]
fn a_bandwidth_log_that_cannot_be_made_is_reported_before_files_are() {
    let lab = Lab::new();
    fs::create_dir(lab.path().join("agg-read_bw.log")).expect("a directory");
    let job = "fio --no-save --bandwidth-log --name=a --filename=f --size=64k --unlink=1";
    let ran = lab.blocklab(job.split(' '));
    assert!(
        ran.err.contains("agg-read_bw.log: it is a directory"),
        "{}",
        ran.err
    );
    assert!(!lab.path().join("f").exists());
}

/// Results so far once told nothing of the disks.
#[test]
fn results_so_far_tell_of_the_disks() {
    let folder = tempfile::TempDir::with_prefix_in("sides-", env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.expect("a folder on the disk");
    let lab = Lab::new();
    let place = format!("--directory={}", folder.path().display());
    let run = ours(&lab, &[&place, "--ioengine=psync", "--status-interval=1"]);
    let results = run.matches("Run status group").count();
    assert!(results >= 2, "{run}");
    let disks = run.matches("Disk stats").count();
    // A file system in memory has none.
    assert!(
        disks == results || disks == 0,
        "{disks} of {results}: {run}"
    );
}
