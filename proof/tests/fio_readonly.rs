//! `fio --readonly` leaves every file as it is.

use std::fs;
use std::process::Command;

use blocklab_proof::{Lab, Printed, fio_is_there};

const REFUSED: &str = "refusing extend of file due to read-only";

fn ours(lab: &Lab, words: &[&str]) -> Printed {
    lab.blocklab(["fio", "--no-save"].iter().chain(words).copied())
}

/// Whether fio itself refuses that, where it can be asked.
#[track_caller]
fn as_fio(lab: &Lab, words: &[&str]) {
    if !fio_is_there() {
        return;
    }
    let mut command = Command::new("fio");
    let run = command.current_dir(lab.path()).args(words).output();
    let run = run.expect("fio starts");
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{words:?}: {err}");
    assert!(err.contains(REFUSED), "{words:?}: {err}");
}

/// A user looked at a file of 2 MB with `--readonly` and `size=4m`, and it was 4 MiB long
/// afterwards: the job only read, but its layout filled the file up with random bytes.
#[test]
fn a_file_that_is_too_short_does_not_grow() {
    let lab = Lab::new();
    let file = lab.path().join("f");
    fs::write(&file, vec![7; 2_000_000]).expect("written");
    for more in [&[][..], &["--allow_file_create=0"], &["--fallocate=none"]] {
        let line = ["--readonly", "--name=a", "--filename=f", "--rw=read"];
        let line = [&line[..], &["--size=4m"], more].concat();
        let run = ours(&lab, &line);
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{more:?}");
        for word in [REFUSED, "f has", "4 MiB"] {
            assert!(run.err.contains(word), "{more:?}: {}", run.err);
        }
        as_fio(&lab, &line);
        let bytes = fs::read(&file).expect("the file");
        assert!(bytes == vec![7; 2_000_000], "{more:?}: it was changed");
    }
    // Without it, the file grows as fio's does.
    let line = ["--name=a", "--filename=f", "--rw=read", "--size=4m"];
    assert_eq!(ours(&lab, &line).code, Some(0));
    assert_eq!(fs::metadata(&file).expect("the file").len(), 4 << 20);
}

/// `allow_file_create=0` forbade to make a file, and a file that was too short grew all the same.
/// Fio refuses the one as the other (and then removes the file, which is not followed).
#[test]
fn a_file_does_not_grow_where_none_may_be_made() {
    let lab = Lab::new();
    let file = lab.path().join("f");
    fs::write(&file, "short").expect("written");
    let line = ["--name=a", "--filename=f", "--size=64k"];
    for rw in ["--rw=randread", "--rw=write"] {
        let run = ours(&lab, &[&line[..], &["--allow_file_create=0", rw]].concat());
        assert_eq!(run.code, Some(1), "{rw}: {}", run.err);
        assert!(run.err.contains("allow_file_create=0"), "{}", run.err);
        assert_eq!(fs::read(&file).expect("there"), b"short", "{rw}");
    }
}

/// The file that one job must not make refused the whole run; with fio, that job fails and the others
/// run.
#[test]
fn a_job_that_may_not_make_its_file_fails_alone() {
    let lab = Lab::new();
    let line = [
        "--output-format=json",
        "--name=a",
        "--filename=none",
        "--size=64k",
        "--allow_file_create=0",
        "--name=b",
        "--filename=made",
        "--size=64k",
    ];
    let run = ours(&lab, &line);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("none is not there"), "{}", run.err);
    let result: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let moved = [0, 1].map(|job| result["jobs"][job]["read"]["io_bytes"].as_u64());
    assert_eq!(moved, [Some(0), Some(64 << 10)]);
    assert!(!lab.path().join("none").exists());
}

#[test]
fn no_file_is_made() {
    let lab = Lab::new();
    let line = ["--readonly", "--name=a", "--filename=new", "--size=64k"];
    let run = ours(&lab, &line);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains(REFUSED), "{}", run.err);
    as_fio(&lab, &line);
    let making = [&line[..], &["--ioengine=filecreate"]].concat();
    let run = ours(&lab, &making);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("filecreate"), "{}", run.err);
    assert!(!lab.path().join("new").exists());
}

/// `--readonly` with `ioengine=filedelete` removed the file that was only to be read.
#[test]
fn no_file_is_removed_by_an_engine() {
    let lab = Lab::new();
    let file = lab.path().join("f");
    fs::write(&file, "precious").expect("written");
    let line = ["--readonly", "--name=a", "--filename=f", "--size=4k"];
    let run = ours(&lab, &[&line[..], &["--ioengine=filedelete"]].concat());
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("filedelete"), "{}", run.err);
    assert_eq!(fs::read(&file).expect("there"), b"precious");
}

#[test]
fn the_native_command_keeps_the_same_promise() {
    let lab = Lab::new();
    lab.write("f", "short");
    lab.write("a.fio", "[a]\nfilename=f\nsize=64k\nrw=read\n");
    lab.refused(["run", "a.fio", "--read-only", "--quiet"], &[REFUSED]);
    assert_eq!(fs::read(lab.path().join("f")).expect("there"), b"short");
}

/// As with fio: `unlink` is no write to a file.
#[test]
fn what_is_long_enough_is_read_and_removed_on_demand() {
    let lab = Lab::new();
    let file = lab.path().join("f");
    let line = ["--readonly", "--name=a", "--filename=f", "--size=64k"];
    for (unlink, stays) in [("--unlink=0", true), ("--unlink=1", false)] {
        fs::write(&file, vec![7; 64 << 10]).expect("written");
        let run = ours(&lab, &[&line[..], &[unlink]].concat());
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{unlink}");
        assert_eq!(file.exists(), stays, "{unlink}");
    }
}
