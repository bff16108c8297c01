//! A job that cannot begin, and the jobs beside it; what ends all of them.

use std::collections::BTreeMap;

use blocklab_proof::{Lab, good, json, strace_is_there};

/// The story: one job with a directory in the place of its file, and nothing ran. fio fails that job
/// and runs the others. But what may not be written to stops all, before anything is made.
#[test]
fn a_job_that_is_refused_stops_all_before_a_file_is_made() {
    let lab = Lab::new();
    let run = lab.blocklab(
        "fio --no-save --name=a --filename=f --rw=write --size=64k --name=b --filename=/dev/tty \
         --rw=write --size=4k"
            .split(' '),
    );
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("does not write to it"), "{}", run.err);
    assert!(!lab.path().join("f").exists(), "{}", run.out);
}

/// The story: a job without a size, without its trace, or of an engine that is not there stopped all
/// of a file before anything ran, where fio fails that job, counts it in its exit code, and runs the
/// others. An engine that fio cannot load, or a wrong word, stops all with fio, too.
#[test]
fn a_job_that_cannot_begin_fails_alone_as_with_fio() {
    #[track_caller]
    fn check(options: &str, expected: Option<(u64, i32)>) {
        let lab = Lab::new();
        let text = format!(
            "[global]\nrw=write\n[a]\nsize=64k\n[b]\nfilename=b\n{options}\n[c]\nsize=64k\n\
             [d]\nstonewall\nsize=32k\n"
        );
        lab.write("j.fio", text);
        let run = lab.blocklab(["fio", "--no-save", "--output-format=json", "j.fio"]);
        assert!(!lab.path().join("b").exists(), "{options}");
        let Some((error, code)) = expected else {
            assert_eq!(run.code, Some(1), "{options}: {}", run.err);
            assert!(!lab.path().join("a.0.0").exists(), "{options}");
            return;
        };
        assert_eq!(run.code, Some(code), "{options}: {}", run.err);
        assert!(run.err.contains("j.fio:"), "{options}: {}", run.err);
        let report = json(&run.out);
        let jobs = report["jobs"].as_array().expect("jobs").iter();
        let facts = |job: &serde_json::Value| {
            let written = job["write"]["io_bytes"].as_u64();
            (job["error"].as_u64(), written.expect("bytes") >> 10)
        };
        let mut wanted = vec![(Some(0), 64)];
        wanted.extend(vec![(Some(error), 0); code as usize]);
        wanted.extend([(Some(0), 64), (Some(0), 32)]);
        assert_eq!(jobs.map(facts).collect::<Vec<_>>(), wanted, "{options}");
    }
    check("", Some((22, 1)));
    check("size=64k\nread_iolog=absent\nnumjobs=2", Some((22, 2)));
    check("size=64k\nread_iolog=j.fio", Some((22, 1)));
    check("size=64k\nioengine=rdma\nnumjobs=3", Some((1, 3)));
    check("size=64k\nioengine=cpuio", Some((22, 1)));
    check("filesize=4k\noffset=8k", Some((0, 1)));
    check("size=64k\nverify=crc32c\nverify_state_load=1", Some((0, 1)));
    check("size=64k\nioengine=nosuch", None);
    check("size=64k\nreplay_align=3\nread_iolog=absent", None);
}

/// The delay of a job behind a stonewall began when the jobs before had ended, and the idle time filled
/// the burst credits of a volume. In fio all delays count from the begin of the run.
#[test]
fn a_delay_counts_from_the_begin_of_the_run() {
    let lab = Lab::new();
    let text = "[global]\nfilename=sim:gp3:1TiB@m5.4xlarge\nrw=randread\ntime_based\nruntime=5\n\
                [a]\nruntime=20\n[b]\nstonewall\nstartdelay=30\n[c]\nstonewall\nstartdelay=30\n";
    lab.write("j.fio", text);
    good(lab.blocklab(["fio", "j.fio"]));
    let record = json(&good(
        lab.blocklab(["export", "latest", "--format", "json"]),
    ));
    let measurements = record["measurements"].as_array().expect("three").iter();
    let seconds = measurements.map(|measured| {
        let nanos = measured["elapsed_ns"].as_u64().expect("nanoseconds");
        (nanos + 500_000_000) / 1_000_000_000
    });
    assert_eq!(seconds.collect::<Vec<_>>(), [20, 15, 5]);
}

/// The story: a job whose trace an earlier job had written, but with nothing in it to replay, wrote
/// 512 bytes of its own.
#[test]
fn a_trace_of_no_use_is_not_replaced_by_another_load() {
    let lab = Lab::new();
    let text = "[a]\nrw=write\nfilename=f\nsize=64k\nwrite_iolog=t\n\
                [b]\nstonewall\nfilename=g\nread_iolog=t\nreplay_skip=write\n";
    lab.write("j.fio", text);
    let run = lab.blocklab(["fio", "--no-save", "--output-format=json", "j.fio"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("nothing is left"), "{}", run.err);
    assert_eq!(json(&run.out)["jobs"][1]["write"]["io_bytes"], 0);
}

#[test]
fn a_job_that_cannot_begin_is_told_with_its_cause() {
    let lab = Lab::new();
    let run = lab.blocklab(
        "fio --no-save --output-format=json --name=a --filename=f --size=64k --name=b \
         --filename=/dev/null --size=4k --ioengine=mmap"
            .split(' '),
    );
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
    if !strace_is_there() {
        return;
    }
    let lab = Lab::new();
    let calls = |rw: &str| {
        let _any_code = lab.shell(&format!(
            "strace -f -e trace=pwritev2,preadv2 -o calls blocklab fio --no-save --name=a \
             --filename=f --ioengine=pvsync2 --size=4k --atomic=1 --rw={rw}"
        ));
        lab.read("calls")
    };
    assert!(!calls("read").contains("0x40"));
    let writes = calls("write");
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

/// The story: triggers were refused, so nobody could cut the power under a verifying job and check
/// afterwards what it had completed.
#[test]
fn a_trigger_ends_the_jobs_leaves_their_state_and_runs_its_command() {
    let lab = Lab::new();
    let write = [
        "fio",
        "--no-save",
        "--name=a",
        "--filename=f",
        "--size=64m",
        "--verify=crc32c",
    ];
    let slow = ["--rw=write", "--rate=4m", "--trigger-timeout=100ms"];
    let run = lab.blocklab(write.into_iter().chain(slow).chain(["--trigger=ls > seen"]));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let seen = lab.read("seen");
    assert!(seen.contains("local-a-0-verify.state"), "{seen}");
    let check = ["--rw=write", "--verify_only", "--verify_state_load=1"];
    let run = lab.blocklab(write.into_iter().chain(check));
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn the_file_of_a_trigger_is_removed() {
    let lab = Lab::new();
    lab.write("now", "");
    let run = lab.blocklab([
        "fio",
        "--no-save",
        "--name=a",
        "--ioengine=null",
        "--size=1m",
        "--time_based",
        "--runtime=600",
        "--rate_iops=10",
        "--trigger-file=now",
        "--trigger=exit 3",
    ]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.err.contains("failed executing exit 3 trigger"),
        "{}",
        run.err
    );
    assert!(!lab.path().join("now").exists());
}

/// A shell command may be given on the command line alone.
#[test]
fn a_job_file_has_no_trigger() {
    let lab = Lab::new();
    lab.write("j.fio", "[a]\ntrigger=touch x\n");
    let run = lab.blocklab(["fio", "--no-save", "j.fio"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(!lab.path().join("x").exists());
}

/// The story: each directory was looked at with 2,400 system calls, all disks of the machine among
/// them. Later it was opened twice, and asked three times what it is. fio's `filestat` and
/// `filedelete`, in whose likeness these are made, take 12 and 13.
#[test]
fn a_directory_costs_a_handful_of_system_calls() {
    if !strace_is_there() {
        return;
    }
    let calls = |engine: &str| {
        let lab = Lab::new();
        let _any_code = lab.shell(&format!(
            "strace -f -qq -o calls blocklab fio --no-save --name=x --filesize=4k \
             --ioengine={engine} --nrfiles=101"
        ));
        each(&lab.read("calls"))
    };
    // With the checks of descriptors that the standard library makes in debug builds. Before a directory is
    // removed, one call asks whether a device has come since the last one.
    for (engine, most) in [("dircreate", 4), ("dirstat", 10), ("dirdelete", 14)] {
        let each = calls(engine);
        assert!(each <= most, "{engine}: {each} system calls a directory");
    }
}

/// How many calls follow the names of a directory, in the middle of all: the disks are looked at
/// once, and again after a while on a slow machine, behind the name of one directory.
fn each(trace: &str) -> usize {
    let mut of_each = BTreeMap::new();
    let mut last = None;
    for line in trace.lines() {
        if let Some((_, rest)) = line.split_once("x.0.") {
            last = rest.split('"').next();
        }
        if let Some(directory) = last {
            *of_each.entry(directory).or_insert(0) += 1;
        }
    }
    let mut counts: Vec<usize> = of_each.into_values().collect();
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// The story: without a `size`, whose lack is what `fill_device` is for, the job was refused.
#[test]
fn a_file_system_is_filled_without_a_size() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path().join("full")).expect("a folder");
    let ran = lab.shell(
        "unshare -rm sh -c 'mount -t tmpfs -o size=4m none full || exit 99; \
         blocklab fio --no-save --name=a --directory=full --fill_device=1 --rw=write --bs=64k \
         --nrfiles=2 --output-format=json && stat -c %s full/*'",
    );
    if ran.code != Some(0) {
        let why = ran.err;
        assert!(why.contains("unshare") || why.contains("mount"), "{why}");
        println!("skipped: {why}");
        return;
    }
    let (report, sizes) = ran.out.rsplit_once("}\n").expect("JSON, then sizes");
    let report = json(&format!("{report}}}"));
    assert_eq!(report["jobs"][0]["error"], 0);
    let written = report["jobs"][0]["write"]["io_bytes"].as_u64();
    let written = written.expect("a number");
    assert!((3 << 20..=4 << 20).contains(&written), "{written}");
    let lengths = sizes
        .lines()
        .map(|line| line.parse::<u64>().expect("a size"));
    let all: u64 = lengths.sum();
    assert!(all >= written && all <= 4 << 20, "{sizes} of {written}");
}

/// The story: a job that only made its file printed figures of zeros.
#[test]
fn a_job_that_only_makes_its_files_has_no_paragraph() {
    let lab = Lab::new();
    let line = ["fio", "--no-save", "--name=made", "--filename=f"];
    let made = line.into_iter().chain(["--size=64k", "--create_only=1"]);
    let then = ["--name=read", "--filename=f", "--size=64k", "--stonewall"];
    let run = lab.blocklab(made.chain(then));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.out.contains("made: (groupid"), "{}", run.out);
    assert!(run.out.contains("read: (groupid=1"), "{}", run.out);
}
