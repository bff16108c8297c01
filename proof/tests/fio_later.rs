//! Options and engines that fio got after 3.33, and engines that move no bytes.

use std::fs;
use std::path::Path;

use blocklab_proof::{Lab, good, json};
use serde_json::Value;

/// The first job of a run by this line.
fn first_job(lab: &Lab, line: &str) -> Value {
    let ours = ["fio", "--no-save", "--output-format=json"];
    let words = ours.into_iter().chain(line.split_whitespace());
    let result = json(&good(lab.blocklab(words)));
    result["jobs"][0].clone()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The three engines were unknown.
#[test]
fn directories_are_made_looked_up_and_removed() {
    let lab = Lab::new();
    let folder = lab.path().join("made");
    fs::create_dir(&folder).expect("a folder");
    let three = ["x.0.0", "x.0.1", "x.0.2"];
    let none: [&str; 0] = [];
    let left = [
        ("dircreate", &three[..]),
        ("dirstat", &three),
        ("dirdelete", &none),
    ];
    for (engine, left) in left {
        let line = format!(
            "--name=x --directory={} --nrfiles=3 --filesize=4k --ioengine={engine}",
            folder.display()
        );
        let job = first_job(&lab, &line);
        assert_eq!(job["read"]["total_ios"], 3, "{engine}: {job}");
        assert_eq!(names(&folder), left, "{engine}");
    }
}

/// A job that writes its file from end to end and verifies it wrote it once where `io_size` asked for
/// more passes; a saved state of such a job then did not fit to what a later fio writes. What is read
/// back is each block once.
#[test]
fn a_verifying_job_writes_all_of_its_io_size_and_reads_each_block_once() {
    for options in ["--rw=write", "--rw=write --nrfiles=2", "--rw=randwrite"] {
        let lab = Lab::new();
        let line = format!(
            "--name=x --directory={} --size=256k --io_size=512k --bs=16k --verify=crc32c {options}",
            lab.path().display()
        );
        let moved = |job: &Value, direction: &str| job[direction]["io_bytes"].as_u64();
        let job = first_job(&lab, &line);
        assert_eq!(moved(&job, "write"), Some(512 << 10), "{options}");
        assert_eq!(moved(&job, "read"), Some(256 << 10), "{options}");
        let again = first_job(&lab, &format!("{line} --verify_only"));
        assert_eq!(moved(&again, "read"), Some(256 << 10), "{options}");
    }
}

/// `ramp_size` was refused: the measured time began at a moment that was known before. Logs count
/// from the end of the ramp, and what is moved in it is in no result.
#[test]
fn a_ramp_ends_with_its_last_byte() {
    let lab = Lab::new();
    let log = lab.path().join("log");
    let line = format!(
        "--name=x --filename=sim:gp3:100GiB --rw=randread --bs=16k --ioengine=libaio --iodepth=4 \
         --size=16m --ramp_size=32m --write_lat_log={}",
        log.display()
    );
    let job = first_job(&lab, &line);
    let (reads, runtime) = (&job["read"]["total_ios"], &job["read"]["runtime"]);
    let reads = reads.as_u64().expect("a number");
    // What is in flight when the ramp ends comes back later.
    assert!((1024..1028).contains(&reads), "{job}");
    assert!(job["job_start"].as_u64().is_some(), "{job}");
    let log = lab.read("log_lat.1.log");
    let moments = log
        .lines()
        .map(|line| line.split(',').next().expect("a moment"));
    let moments: Vec<u64> = moments
        .map(|moment| moment.parse().expect("a number"))
        .collect();
    assert_eq!(moments.len() as u64, reads);
    assert!(
        moments[0] <= 2 && moments.last() <= runtime.as_u64().as_ref(),
        "{moments:?}"
    );
}

/// Traces trim in pieces of 2 GiB. Without a device such a trim was larger than the place for it.
#[test]
fn large_trims_of_a_trace_are_replayed_without_a_device() {
    let lab = Lab::new();
    let trace = "fio version 3 iolog\n1 /dev/null add\n2 /dev/null open\n\
                 3 /dev/null trim 0 2147483648\n4 /dev/null write 0 4096\n\
                 5 /dev/null trim 4096 2147483648\n6 /dev/null close\n";
    let path = lab.path().join("trace");
    fs::write(&path, trace).expect("a file");
    let line = format!(
        "--name=a --ioengine=null --iodepth=8 --read_iolog={}",
        path.display()
    );
    let job = first_job(&lab, &line);
    assert_eq!(job["trim"]["total_ios"], 2, "{job}");
    assert_eq!(job["write"]["total_ios"], 1, "{job}");
}

/// A directory with something in it is neither emptied nor removed, and a run that only reads
/// removes none.
#[test]
fn a_directory_that_holds_something_stays() {
    let lab = Lab::new();
    let kept = lab.path().join("x.0.0/kept");
    fs::create_dir(lab.path().join("x.0.0")).expect("a folder");
    fs::write(&kept, "mine").expect("a file");
    for (engine, more, why) in [
        ("dirdelete", "", "Directory not empty"),
        ("dircreate", "", "File exists"),
        ("dirdelete", "--readonly", "the run is read-only"),
    ] {
        let line = format!("fio --no-save --name=x --filesize=4k --ioengine={engine} {more}");
        let run = lab.blocklab(line.split_whitespace());
        assert_eq!(run.code, Some(1), "{engine} {more}: {}{}", run.out, run.err);
        assert!(run.err.contains(why), "{engine} {more}: {}", run.err);
        assert!(kept.is_file(), "{engine} {more}");
    }
}

#[test]
fn a_program_runs_alongside_the_jobs_and_ends_with_its_time() {
    let lab = Lab::new();
    lab.write("jobs.fio", "[says]\nioengine=exec\nprogram=/usr/bin/env\narguments=printf %s. %n %r \"a b\"\nruntime=1\n\
         [sleeps]\nioengine=exec\nprogram=/bin/sleep\narguments=1000\nruntime=1\n");
    let job = first_job(&lab, "jobs.fio");
    assert_eq!(
        (&job["jobname"], &job["error"]),
        (&"says".into(), &0.into())
    );
    assert_eq!(job["read"]["io_bytes"], 0);
    let printed = lab.read("says.stdout");
    assert_eq!(printed, "says.1.\"a.b\".");
    // The story: the delay of a program counted from the begin of its case, also where that of its job was
    // over by then, and the case ended before the program began.
    lab.write("jobs.fio", "[first]\nioengine=exec\nprogram=/bin/sleep\narguments=1000\nruntime=1\n\
         [late]\nstonewall\nstartdelay=1\nioengine=exec\nprogram=/usr/bin/touch\narguments=came\nruntime=500ms\n");
    first_job(&lab, "jobs.fio");
    assert!(lab.path().join("came").exists());
    for line in ["--program=/bin/true", "--runtime=1"] {
        let run = lab.blocklab(["fio", "--no-save", "--name=x", "--ioengine=exec", line]);
        assert_eq!(run.code, Some(1), "{}", run.out);
        assert!(run.err.contains("exec needs"), "{}", run.err);
    }
}

#[test]
fn listed_blocks_are_hit_in_their_order() {
    let lab = Lab::new();
    let line = "--name=s --rw=randread --random_distribution=sequence:2,0,1 --bs=4k --size=48k \
                --io_size=24k --ioengine=null --write_iops_log=q --log_offset=1";
    for (stride, expected) in [(0, [2, 0, 1, 2, 0, 1]), (1, [2, 0, 1, 5, 3, 4])] {
        first_job(&lab, &format!("{line} --random_sequence_stride={stride}"));
        let log = lab.read("q_iops.1.log");
        let offset = |line: &str| line.split(", ").nth(4).map(str::to_owned);
        let offsets: Vec<u64> = log
            .lines()
            .map(|line| {
                offset(line)
                    .and_then(|text| text.parse().ok())
                    .expect("an offset")
            })
            .collect();
        assert_eq!(offsets, expected.map(|block: u64| block * 4096), "{stride}");
    }
}

/// Three names of generators gave one sequence.
#[test]
fn each_generator_draws_its_own_places() {
    let lab = Lab::new();
    let traces = ["tausworthe", "lfsr", "tausworthe64"].map(|generator| {
        let line = format!(
            "--name=x --rw=randread --size=256k --ioengine=null --write_iolog=trace \
             --random_generator={generator}"
        );
        first_job(&lab, &line);
        lab.read("trace")
    });
    assert!(traces[0] != traces[1] && traces[1] != traces[2] && traces[0] != traces[2]);
}

#[test]
fn only_what_a_flush_made_durable_is_checked() {
    let lab = Lab::new();
    let line = "--name=v --filename=f --size=64k --verify=md5";
    first_job(&lab, &format!("{line} --rw=write --fsync=5 --do_verify=0"));
    let load = format!("{line} --rw=read --verify_state_load=1");
    assert_eq!(first_job(&lab, &load)["read"]["total_ios"], 16);
    let durable = first_job(&lab, &format!("{load} --verify_policy=fsynced"));
    assert_eq!(durable["read"]["total_ios"], 15);
    // Who asks for what a later fio has gets the keys that it has.
    assert!(
        durable["job_start"].as_u64() > Some(1_700_000_000_000),
        "{durable}"
    );
}

/// Half of 256 writes were to be trimmed: with `verify_backlog` 8 were, and one with a backlog of
/// 1, for what was read back was not trimmed any more.
#[test]
fn the_share_that_is_trimmed_holds_whatever_is_read_back() {
    let lab = Lab::new();
    for (backlog, every) in [(16, 1), (16, 16), (1, 16), (64, 16), (16, 64)] {
        let line = format!(
            "--name=t --rw=randwrite --size=1m --verify=md5 --trim_percentage=50 \
             --verify_backlog={backlog} --trim_backlog={every}"
        );
        let job = first_job(&lab, &line);
        assert_eq!(job["trim"]["total_ios"], 128, "{backlog} {every}");
        assert_eq!(job["error"], 0, "{backlog} {every}");
    }
}
