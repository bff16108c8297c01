//! Files that a command writes: never over a device, and not over what somebody else wrote.

mod stand;

use std::fs;
use std::os::unix::fs::symlink;

use blocklab_proof::sample::record;
use blocklab_proof::{Lab, Printed, good};
use stand::kernel::Loop;
use stand::{MIB, tool};

const FIRST: &str = "20261120-190142-k3f";
const SECOND: &str = "20261120-190143-012";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.keep(&record(FIRST, "2026-11-20T19:01:42Z"));
    lab.keep(&record(SECOND, "2026-11-20T19:01:43Z"));
    lab
}

/// Every way to name a file for a result, of our own commands.
const OURS: [&str; 7] = [
    "report latest --html FILE",
    "diagnose latest --html FILE",
    "compare 20261120-190142-k3f latest --html FILE",
    "export latest --format csv -o FILE",
    "export latest --format json -o FILE",
    "export latest --format parquet -o FILE",
    "run --target null --runtime 10ms --repeat 1 --quiet --no-save --html FILE",
];

/// Of the tools whose languages are spoken.
const THEIRS: [&str; 4] = [
    "fio --no-save --name=a --rw=read --size=4k --filename=null --output=FILE",
    "fio --no-save --name=a --rw=read --size=4k --filename=null --write_iolog=FILE",
    "fio --no-save --name=a --rw=read --size=4k --filename=null --write_iops_log=log",
    "cdm --no-save --quiet --target null --measure 10ms --interval 0 --loops 1 --output FILE",
];

/// Runs `line` with this file, and `--force` where that is wanted.
fn run(lab: &Lab, line: &str, file: &str, force: bool) -> Printed {
    let line = line.replace("FILE", file);
    let force = force.then_some("--force");
    lab.blocklab(line.split(' ').chain(force))
}

/// The story: `report --html notes.html`, or only `report`, put a page over a user's own file.
#[test]
fn what_somebody_else_wrote_stays_until_it_is_forced() {
    let lab = lab();
    let path = lab.path().join("mine.html");
    fs::write(&path, "precious").expect("written");
    for line in OURS {
        let ran = run(&lab, line, "mine.html", false);
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{line}");
        assert!(ran.err.contains("mine.html"), "{line}: {}", ran.err);
        assert!(ran.err.contains("--force"), "{line}: {}", ran.err);
        assert_eq!(
            fs::read_to_string(&path).expect("text"),
            "precious",
            "{line}"
        );
    }
    let usual = format!("blocklab-report-{SECOND}.html");
    lab.write(&usual, "precious");
    lab.refused(["report", "latest"], &[&usual, "--force"]);
    for line in OURS {
        fs::write(&path, "precious").expect("written");
        good(run(&lab, line, "mine.html", true));
        assert!(fs::read(&path).expect("bytes").len() > 100, "{line}");
        // What is ours now is written over without a word.
        let page = line.contains("--html");
        assert!(!page || run(&lab, line, "mine.html", false).code == Some(0));
    }
}

/// The story: an export to a full disk left half a table. A reader took it for a whole one, and the
/// same command was refused when there was room again: blocklab had not marked the file as its own.
#[test]
fn a_table_that_had_no_room_is_gone_and_written_again() {
    let lab = lab();
    for format in ["csv", "json", "parquet", "prom"] {
        let line = format!("blocklab export latest --format {format} -o table.{format}");
        let full = lab.shell(&format!("ulimit -f 1; {line}"));
        assert_eq!(full.code, Some(2), "{format}: {}", full.err);
        assert!(full.err.contains("File too large"), "{}", full.err);
        let is_left = lab.path().join(format!("table.{format}")).exists();
        assert!(!is_left, "{format}");
        good(lab.shell(&line));
    }
}

/// The story: a page made by an older version, which carried no mark, was to be made anew.
#[test]
fn a_page_of_before_is_ours() {
    let lab = lab();
    good(lab.blocklab(["report", "latest", "--html", "page.html"]));
    let path = lab.path().join("page.html");
    let page = fs::read_to_string(&path).expect("text");
    let mark = "<meta name=\"generator\" content=\"blocklab 0.1.0\">";
    assert!(page.contains(mark));
    fs::write(&path, page.replace(mark, "")).expect("written");
    good(lab.blocklab(["report", "latest", "--html", "page.html"]));
    assert_eq!(fs::read_to_string(&path).expect("text"), page);
}

/// The story: `report --html /dev/sdb1`, a slip, destroyed a file system; so did a link to it.
#[test]
fn no_result_is_written_to_a_device() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    if tool("mkfs.ext4", &["-q", device.path()]).is_none() {
        return;
    }
    let lab = lab();
    let before = fs::read(device.path()).expect("readable");
    for name in ["link", "log_iops.1.log", "blocklab.1"] {
        symlink(device.path(), lab.path().join(name)).expect("a link");
    }
    for line in OURS.into_iter().chain(THEIRS) {
        let force = OURS.contains(&line);
        for file in [device.path(), "link"] {
            let ran = run(&lab, line, file, force);
            assert_ne!(ran.code, Some(0), "{line}");
            assert!(ran.err.contains("it is a device"), "{line}: {}", ran.err);
        }
    }
    let ran = lab.blocklab(["man", "--out", ".", "--force"]);
    assert!(ran.err.contains("it is a device"), "{}", ran.err);
    assert!(
        before == fs::read(device.path()).expect("readable"),
        "{}",
        device.path()
    );
}

/// The story: `vdbench -o site` removed every page in the directory, whoever had made it. Reports
/// of an earlier run go, but not those that somebody gave another name; and a report that is a link
/// to a disk is not written.
#[test]
fn an_output_directory_of_vdbench_keeps_what_is_not_its_own() {
    let lab = lab();
    let folder = lab.path().join("site");
    fs::create_dir(&folder).expect("a folder");
    let parameters = "sd=a,lun=null,size=1m\nwd=w,sd=a\nrd=r,wd=w,elapsed=2,interval=1,iorate=9\n";
    lab.write("p", parameters);
    let title = |name: &str| format!("<title>Vdbench {}/{name}</title><pre>\n", folder.display());
    for (name, text) in [
        ("index.html", "mine".to_owned()),
        ("baseline.html", title("summary.html")),
        ("old.html", title("old.html")),
        ("totals.html", "a backup".to_owned()),
    ] {
        fs::write(folder.join(name), text).expect("written");
    }
    // The original takes the names from these; to write through them destroyed what others had.
    fs::hard_link(folder.join("totals.html"), lab.path().join("backup")).expect("a second name");
    lab.write("notes", "mine");
    symlink("../notes", folder.join("status.html")).expect("a link");
    let vdbench = || lab.blocklab(["vdbench", "-s", "-f", "p", "-o", "site"]);
    assert_eq!(vdbench().code, Some(0));
    let there = |name: &str| folder.join(name).exists();
    assert!(there("index.html") && there("baseline.html") && there("logfile.html"));
    assert!(!there("old.html"));
    for (name, text) in [("backup", "a backup"), ("notes", "mine")] {
        let now = lab.read(name);
        assert_eq!(now, text, "{name}");
    }
    assert!(!folder.join("status.html").is_symlink());
    let Some(device) = Loop::attach(MIB, &[]) else {
        return;
    };
    let before = fs::read(device.path()).expect("readable");
    for name in ["logfile.html", "status.html"] {
        fs::remove_file(folder.join(name)).expect("removed");
        symlink(device.path(), folder.join(name)).expect("a link");
    }
    let ran = vdbench();
    assert!(ran.err.contains("it is a device"), "{}", ran.err);
    assert!(before == fs::read(device.path()).expect("readable"));
}

/// The story: `man run` made a directory `run` and 24 files in it.
#[test]
fn man_prints_the_page_of_a_command() {
    let lab = Lab::new();
    for (command, title) in [
        (&["man"][..], ".TH blocklab 1"),
        (&["man", "run"], ".TH blocklab-run 1"),
        (&["man", "catalog", "list"], ".TH blocklab-catalog-list 1"),
    ] {
        let page = good(lab.blocklab(command.iter().copied()));
        assert!(page.contains(title), "{command:?}: {page}");
    }
    lab.refused(["man", "rum"], &["did you mean run?"]);
    assert_eq!(fs::read_dir(lab.path()).expect("a folder").count(), 0);
    good(lab.blocklab(["man", "--out", "pages"]));
    assert!(lab.path().join("pages/blocklab-run.1").exists());
}

/// The story: with `--html - --json`, standard output had a page and then JSON, so that neither could be
/// read.
#[test]
fn a_page_and_json_are_not_printed_one_after_the_other() {
    let lab = Lab::new();
    let load = "--rw randread --runtime 1s --target sim:gp3:1TiB -q";
    for name in ["a", "b"] {
        good(lab.blocklab(format!("run {load} --name {name}").split(' ')));
    }
    let run = format!("run {load}");
    for line in [&*run, "compare a b", "diagnose a", "merge a b"] {
        let line = format!("{line} --html - --json");
        lab.refused(line.split(' '), &["both go to standard output"]);
    }
    // Here the JSON was dropped.
    let line = "trace import any.trace -o - --json";
    lab.refused(line.split(' '), &["both go to standard output"]);
}

/// The story: `calibrate -o -` printed the device and then its report, so that `> mine.toml` made no device
/// file; and a run that was named twice was fitted twice.
#[test]
fn a_device_on_standard_output_is_alone() {
    let lab = Lab::new();
    good(lab.blocklab("run -q calibrate --target sim:gp3:100GiB".split(' ')));
    let line = "calibrate latest latest --allow-simulated -o -";
    let device = good(lab.blocklab(line.split(' ')));
    assert!(device.contains("calibrated from run "), "{device}");
    lab.write("mine.toml", &device);
    good(lab.blocklab(["catalog", "show", "./mine.toml"]));
    let both = format!("{line} --json");
    lab.refused(both.split(' '), &["both go to standard output"]);
}
