//! Jobs of fio that are asked how far they are, and jobs that end because a place is full.

mod stand;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use blocklab_proof::{Lab, fio_is_there, good, json, send};
use serde_json::Value;
use stand::kernel::{Loop, Mount};
use stand::text;

#[test]
fn a_signal_asks_for_the_results_so_far() {
    let lab = Lab::new();
    let mut command = lab.command();
    command.args(["fio", "--no-save", "--name=a", "--size=64k", "--rw=read"]);
    command.args([
        "--ioengine=null",
        "--rate_iops=1000",
        "--time_based",
        "--runtime=1h",
    ]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let pid = child.id().to_string();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut read_to = |words: &str| {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let bytes = out.read_line(&mut line).expect("text");
            assert!(bytes > 0, "it ended before `{words}`");
        }
    };
    read_to("Starting 1 process");
    send("USR1", &pid);
    read_to("Run status group 0");
    send("INT", &pid);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert!(rest.contains("Run status group 0"), "{rest}");
    // Scripts tell a run that was ended from one that came to its end by this line.
    assert!(rest.contains("\nfio: terminating on signal 2\n"), "{rest}");
    assert_eq!(child.wait().expect("it ends").code(), Some(128));
}

/// The story: the normal output had a paragraph of zeros for each job that had not begun when a signal ended
/// the ones before it, in the results so far, and after a command that failed. fio 3.33 prints none.
#[test]
fn a_job_that_did_not_begin_has_no_paragraph() {
    let lab = Lab::new();
    let jobs = "[global]\nioengine=null\nsize=4k\n[a]\nexec_prerun=false\n[b]\n";
    lab.write("j.fio", jobs);
    let printed = good(lab.blocklab(["fio", "--no-save", "j.fio"]));
    assert!(printed.contains("\nb: (groupid=0, jobs=1)"), "{printed}");
    assert!(!printed.contains("\na: (groupid=0, jobs=1)"), "{printed}");
}

/// Every file was held open until the end, so that files which are only made, and names which jobs
/// make, ended at the limit of descriptors, where fio has none.
#[test]
fn files_that_no_job_opens_may_be_more_than_descriptors() {
    let lab = Lab::new();
    for (folder, options) in [
        ("made", "--create_only=1 --rw=read"),
        ("created", "--ioengine=filecreate"),
        ("directories", "--ioengine=dircreate"),
    ] {
        let line = format!(
            "mkdir {folder} && ulimit -n 128 && blocklab fio --no-save --name=a \
             --directory={folder} --nrfiles=200 --filesize=4k {options} && ls {folder} | wc -l"
        );
        let said = lab.shell(&line);
        assert_eq!(said.code, Some(0), "{options}: {}", said.err);
        assert_eq!(said.out.lines().last(), Some("200"), "{options}");
    }
}

/// `unlink` was not heeded where nothing is run, as it is with fio.
#[test]
fn files_that_are_only_made_go_with_unlink() {
    let lab = Lab::new();
    for (unlink, left) in [(0, "2"), (1, "0")] {
        let said = lab.shell(&format!(
            "mkdir {unlink} && blocklab fio --name=a --directory={unlink} --nrfiles=2 \
             --filesize=4k --create_only=1 --unlink={unlink} && ls {unlink} | wc -l"
        ));
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(said.out.lines().last(), Some(left), "unlink={unlink}");
    }
}

/// The story: a job that only read, with `unlink=1`, removed the image of a disk that was in use.
#[test]
fn a_file_behind_a_loop_device_is_not_unlinked() {
    let Some(device) = Loop::attach(1 << 20, &[]) else {
        return;
    };
    let lab = Lab::new();
    let file = device.backing();
    let line = format!("blocklab fio --name=a --filename={file} --rw=read --size=64k --unlink=1");
    let said = lab.shell(&line);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(fs::exists(file).expect("a folder"));
    let words = format!("{file} stays: it is the backing of the loop device");
    assert!(said.err.contains(&words), "{}", said.err);
}

/// The story: a file whose length could not be set stayed behind, empty.
#[test]
fn a_file_that_cannot_be_made_does_not_stay() {
    let lab = Lab::new();
    let said = lab
        .shell("ulimit -f 8 && blocklab fio --no-save --name=a --filename=f --size=1m --rw=write");
    assert!(said.err.contains("cannot make f"), "{}", said.err);
    assert!(!lab.path().join("f").exists());
    // The same with Vdbench.
    let lun = lab.path().join("lun");
    let sd = format!("sd=sd1,lun={},size=1m", lun.display());
    let rd = "rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1";
    lab.write("parm", format!("{sd}\nwd=wd1,sd=sd1\n{rd}\n"));
    let said = lab.shell("ulimit -f 40 && blocklab vdbench --no-save -f parm -o out");
    assert!(said.err.contains("cannot make the file"), "{}", said.err);
    assert!(!lun.exists());
}

/// Each file took two descriptors, so that 10,000 files did not run where 20,000 may be open, and
/// ran with fio.
#[test]
fn a_file_takes_one_descriptor_of_a_job() {
    let lab = Lab::new();
    let said = lab.shell(
        "mkdir files && ulimit -n 1000 && blocklab fio --no-save --name=a --directory=files \
         --nrfiles=700 --filesize=4k --rw=randwrite --output-format=json",
    );
    let job = &json(&good(said))["jobs"][0];
    assert_eq!(job["write"]["total_ios"], 700);
}

#[test]
fn a_full_file_system_ends_a_job_that_fills_it() {
    let Some(mount) = Mount::memory("1m") else {
        return;
    };
    let lab = Lab::new();
    let file = mount.path().join("file");
    for (more, code, error) in [("fill_device=1", 0, 0), ("fill_device=0", 1, 28)] {
        let line = format!(
            "fio --no-save --output-format=json --name=a --rw=write --size=4m --fallocate=none --{more}"
        );
        let filename = format!("--filename={}", text(&file));
        let run = lab.blocklab(line.split(' ').chain([&*filename]));
        assert_eq!(run.code, Some(code), "{more}: {}", run.err);
        let json: Value = serde_json::from_str(&run.out).expect("JSON");
        let job = &json["jobs"][0];
        assert_eq!(job["error"], error, "{more}");
        let written = job["write"]["io_bytes"].as_u64().expect("a number");
        assert!(
            (512 << 10..=1 << 20).contains(&written),
            "{more}: {written}"
        );
        fs::remove_file(&file).expect("it was made");
    }
}

/// fio ends this test with 0 where the processor's counter is steady. We measure by the kernel's
/// clock, so that there is nothing to fail.
#[test]
fn the_clock_test_prints_one_line_and_ends_well() {
    let run = Lab::new().blocklab(["fio", "--cpuclock-test"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 1));
    assert!(run.out.contains("CLOCK_MONOTONIC"), "{}", run.out);
}

#[test]
fn the_exit_code_counts_the_jobs_that_failed() {
    let lab = Lab::new();
    let file = lab.path().join("blank");
    fs::write(&file, vec![0; 64 << 10]).expect("a file");
    let target = format!("--filename={}", file.display());
    let arguments = ["--name=a", "--rw=read", "--size=64k", "--verify=crc32c"];
    let code = |command: &mut Command| {
        let ended = command.args(arguments).arg(&target).arg("--numjobs=3");
        let output = ended.current_dir(lab.path()).output();
        output.expect("it starts").status.code()
    };
    assert_eq!(code(lab.command().args(["fio", "--no-save"])), Some(3));
    if !fio_is_there() {
        return;
    }
    assert_eq!(code(&mut Command::new("fio")), Some(3));
}

/// A script for a zoned file system writes behind files that it may not make. They were refused as too
/// short.
#[test]
fn a_file_is_lengthened_where_none_may_be_made() {
    let lab = Lab::new();
    lab.write("f", "x".repeat(8192));
    let line =
        "fio --no-save --name=a --filename=f --rw=write --bs=4k --size=64k --allow_file_create=0";
    let ran = lab.blocklab(line.split(' ').chain(["--file_append=1"]));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let length = fs::metadata(lab.path().join("f"))
        .expect("it is there")
        .len();
    assert_eq!(length, 73_728);
}
