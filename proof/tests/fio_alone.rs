//! A job that cannot begin, and the jobs beside it.

use std::process::Command;

use blocklab_proof::{Lab, json};

/// The story: one job with a directory in the place of its file, and nothing ran. fio fails that job
/// and runs the others. But what may not be written to stops all, before anything is made.
#[test]
fn a_job_that_is_refused_stops_all_before_a_file_is_made() {
    let lab = Lab::new();
    let run = lab.blocklab([
        "fio",
        "--no-save",
        "--name=a",
        "--filename=f",
        "--rw=write",
        "--size=64k",
        "--name=b",
        "--filename=/dev/tty",
        "--rw=write",
        "--size=4k",
    ]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("does not write to it"), "{}", run.err);
    assert!(!lab.path().join("f").exists(), "{}", run.out);
}

#[test]
fn a_job_that_cannot_begin_is_told_with_its_cause() {
    let lab = Lab::new();
    let run = lab.blocklab([
        "fio",
        "--no-save",
        "--output-format=json",
        "--name=a",
        "--filename=f",
        "--size=64k",
        "--name=b",
        "--filename=/dev/null",
        "--size=4k",
        "--ioengine=mmap",
    ]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("it did not run"), "{}", run.err);
    assert!(run.err.contains("can be mapped"), "{}", run.err);
    let jobs = &json(&run.out)["jobs"];
    assert_eq!(jobs[0]["read"]["total_ios"], 16);
    assert_eq!(jobs[1]["error"], 19);
}

/// The story: `atomic=1` was called a flag that no Linux has, and a test of torn writes passed for
/// nothing.
#[test]
fn atomic_writes_are_requested_of_the_kernel() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    let lab = Lab::new();
    let ours = lab.command();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-e", "trace=pwritev2,preadv2", "-o", "calls"]);
    traced.arg(ours.get_program()).current_dir(lab.path());
    traced.args(["fio", "--no-save", "--name=a", "--filename=f"]);
    traced.args(["--ioengine=pvsync2", "--size=4k", "--atomic=1"]);
    let calls = |traced: &mut Command| {
        traced.output().expect("strace starts");
        std::fs::read_to_string(lab.path().join("calls")).expect("a trace")
    };
    assert!(!calls(traced.arg("--rw=read")).contains("0x40"));
    let writes = calls(traced.arg("--rw=write"));
    assert!(
        writes.contains("0x40") || writes.contains("RWF_ATOMIC"),
        "{writes}"
    );
}

/// An engine that cannot request it would have passed the test as well.
#[test]
fn atomic_writes_of_other_engines_are_refused() {
    let lab = Lab::new();
    let line = ["fio", "--no-save", "--name=a", "--filename=f", "--size=4k"];
    let run = lab.blocklab(line.into_iter().chain(["--rw=write", "--atomic=1"]));
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(run.err.contains("libaio and io_uring"), "{}", run.err);
}

/// "Invalid argument" alone says nothing of what to change.
#[test]
fn direct_io_of_odd_blocks_is_failed_with_a_hint() {
    let lab = Lab::new();
    let line = ["fio", "--no-save", "--name=a", "--filename=f", "--size=64k"];
    let run = lab.blocklab(line.into_iter().chain(["--bs=1000", "--direct=1"]));
    if run.err.contains("Invalid argument") {
        assert!(run.err.contains("direct=0, would work"), "{}", run.err);
    } else {
        println!("skipped: this file system takes direct I/O of any block, or none");
    }
}
