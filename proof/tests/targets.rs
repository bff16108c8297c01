//! A target is what it was when it was judged, nobody else writes to it meanwhile, and nothing is
//! made where nobody requested it.

mod stand;

use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use blocklab_proof::Printed;
use stand::kernel::{Loop, Mount};
use stand::running::{PATIENCE, Running};
use stand::{KIB, MIB, READ, Stand, WRITE, is_root, skip, text, tool};

/// Writes until it is ended.
const LONG: &str = r#"
    name = "long"
    [[case]]
    name = "long"
    engine = "psync"
    mix = "write"
    block_size = "4KiB"
    size = "1MiB"
    rate_iops = 100
    runtime = "1h"
"#;

/// Of a block device: for nobody else.
const O_EXCL: i32 = 0o200;

fn is_claimed(device: &str) -> bool {
    let mut options = File::options();
    options.read(true).custom_flags(O_EXCL);
    options.open(device).is_err()
}

/// Writes that a loop device has served.
fn writes(device: &Loop) -> u64 {
    let name = Path::new(device.path()).file_name().expect("a name");
    let path = Path::new("/sys/block").join(name).join("stat");
    let counters = fs::read_to_string(path).expect("the kernel's counters");
    let writes = counters.split_whitespace().nth(4);
    writes
        .and_then(|count| count.parse().ok())
        .expect("a count")
}

/// The guard looked at a device once, before hours of load. A second run wrote to it at once, and
/// mkfs made a file system on it that the first run then overwrote.
#[test]
fn a_device_under_load_is_nobody_elses() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let stand = Stand::new();
    let mut command = stand.lab.command();
    command.args(["run", stand.study(LONG), "--no-save"]);
    command.args(["--target", device.path()]);
    let before = writes(&device);
    let run = Running::start(command);
    let began = Instant::now();
    // A claim alone may be that of somebody who only looks whether the device is free.
    while writes(&device) == before {
        assert!(began.elapsed() < PATIENCE, "nothing is written");
        thread::yield_now();
    }
    assert!(is_claimed(device.path()), "the device is not claimed");
    let other = Stand::new();
    let named = format!("--destroy-data={}", device.name());
    let words = [device.path(), "blocklab (process ", "gives up content"];
    other.refused(WRITE, &["--target", device.path()], &words);
    other.refused(WRITE, &["--target", device.path(), &named], &words);
    for line in [
        format!(
            "fio --name=a --rw=write --size=64k --filename={}",
            device.path()
        ),
        format!("diskspd -w100 -d1 {}", device.path()),
    ] {
        let said = other.lab.blocklab(line.split(' ').chain(["--no-save"]));
        assert_ne!(said.code, Some(0), "{line}");
        assert!(said.err.contains(words[1]), "{line}: {}", said.err);
    }
    let mkfs = Command::new("mkfs.ext4")
        .args(["-qF", device.path()])
        .output();
    assert!(!mkfs.is_ok_and(|output| output.status.success()), "mkfs");
    // Readers are in nobody's way.
    other.record(READ, &["--target", device.path()]);
    run.end_by("INT", true);
    let ended = Instant::now();
    while is_claimed(device.path()) {
        assert!(ended.elapsed() < PATIENCE, "the claim stays");
        thread::yield_now();
    }
}

/// A run that only reads must not keep others from the device.
#[test]
fn a_run_that_reads_claims_nothing() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let mut options = File::options();
    options.read(true).custom_flags(O_EXCL);
    let _owner = options.open(device.path()).expect("nobody else has it");
    Stand::new().record(READ, &["--target", device.path()]);
}

/// The guard followed a link, and the workers opened its text again: while another process swapped
/// it, 3 of 8 runs overwrote the file that nobody had judged.
#[test]
fn a_link_that_is_swapped_leads_nowhere_else() {
    let stand = Stand::new();
    let precious = vec![7; 64 * KIB as usize];
    let kept = stand.file("precious", &precious);
    let free = stand.hole("free", 64 * KIB);
    let (link, next) = (stand.disk().join("link"), stand.disk().join("next"));
    symlink(&free, &link).expect("a link");
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                for target in [&kept, &free] {
                    symlink(target, &next).expect("a link");
                    fs::rename(&next, &link).expect("in its place");
                }
            }
        });
        let (mut ran, mut refused) = (0, 0);
        while ran < 5 && refused < 100 {
            let said = stand.run(WRITE, &["--target", text(&link), "--no-save"]);
            match said.code {
                Some(0) => ran += 1,
                _ => refused += 1,
            }
            // Free again for the next run.
            fs::write(&free, b"").expect("mine");
            File::options()
                .write(true)
                .open(&free)
                .and_then(|file| file.set_len(64 * KIB))
                .expect("a hole");
        }
        ended.store(true, Ordering::Relaxed);
        assert!(ran > 0, "every run was refused");
    });
    assert!(fs::read(&kept).expect("there") == precious);
}

/// While a scratch file was filled its name was visible: the owner of the directory put a link in
/// its place, and root overwrote what that led to. A run that was killed meanwhile left the file.
#[test]
fn a_scratch_file_has_no_name_at_any_moment() {
    let stand = Stand::new();
    let mut command = stand.lab.command();
    command.args(["run", "--quiet", "--size", "2GiB", "--no-save"]);
    command.args(["--target", stand.disk_text()]);
    let run = Running::start(command);
    run.await_writes(16 * MIB);
    assert!(stand.left().is_empty(), "{:?}", stand.left());
    run.end_by("KILL", true);
    assert!(stand.left().is_empty(), "{:?}", stand.left());
}

/// `diskspd -c` took an empty file of the user, was interrupted while it filled it, and removed it as
/// if it had made it: its name, mode and owner were lost.
#[test]
fn a_file_that_was_there_outlives_a_layout_that_fails() {
    let stand = Stand::new();
    let file = stand.file("mine", b"");
    let line = format!("ulimit -f 1024; exec blocklab diskspd --no-save -c16M -d1 {file}");
    let ended = stand.lab.shell(&line);
    assert!(ended.err.contains("File too large"), "{}", ended.err);
    assert_eq!(fs::read(&file).expect("still there"), b"");
}

/// fio's rule that a job may overwrite the files it names once covered the file below a mounted
/// loop device, too.
#[test]
fn fio_spares_a_file_that_backs_a_loop_device() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let made = tool("mkfs.ext4", &["-q", device.path()]);
    let Some(_mount) = made.and_then(|_| Mount::read_only(device.path())) else {
        return;
    };
    let before = fs::read(device.backing()).expect("readable");
    let stand = Stand::new();
    let file = format!("--filename={}", device.backing());
    for (load, size) in [("write", "1m"), ("read", "32m"), ("write", "32m")] {
        let load = format!("--rw={load} --size={size} --name=a --no-save");
        let said = stand
            .lab
            .blocklab(["fio", &file].into_iter().chain(load.split(' ')));
        assert_eq!(said.code, Some(1), "{load}: {}", said.err);
        let words = format!("is the backing of the loop device {}", device.path());
        assert!(said.err.contains(&words), "{load}: {}", said.err);
    }
    assert!(fs::read(device.backing()).expect("readable") == before);
}

/// `ioengine=filecreate` removed a file of the user that has no blocks, such as the image of a blank
/// disk, or any file where the file system counts none, and left an empty one; a shorter file was
/// made longer. The engine opens what is there, and no more.
#[test]
fn files_that_are_there_stay_as_they_are_when_names_are_made() {
    let stand = Stand::new();
    let image = stand.lab.path().join("image");
    let made = File::create(&image).and_then(|file| file.set_len(MIB));
    made.expect("the image of a blank disk");
    let short = stand.lab.path().join("short");
    fs::write(&short, "precious").expect("written");
    for name in ["image", "short", "new"] {
        let file = format!("--filename={name}");
        let line = ["fio", "--no-save", "--name=a", "--ioengine=filecreate"];
        let said = stand
            .lab
            .blocklab(line.into_iter().chain([&*file, "--filesize=4k"]));
        assert_eq!(said.code, Some(0), "{name}: {}", said.err);
    }
    assert_eq!(fs::metadata(&image).expect("still there").len(), MIB);
    assert_eq!(fs::read(&short).expect("still there"), b"precious");
    assert_eq!(fs::metadata(stand.lab.path().join("new")).unwrap().len(), 0);
}

/// `ioengine=filedelete` took away the node of a device, and `unlink=1` a link to one, as those
/// below /dev/mapper are. Fio does neither.
#[test]
fn names_of_devices_are_not_removed() {
    let stand = Stand::new();
    let Some(device) = Loop::attach(MIB, &[]) else {
        return;
    };
    let link = stand.lab.path().join("link");
    symlink(device.path(), &link).expect("a link");
    let fio = |more: &[&str]| {
        let line = [
            "fio",
            "--no-save",
            "--name=a",
            "--filename=link",
            "--size=64k",
        ];
        stand.lab.blocklab(line.iter().chain(more).copied())
    };
    let said = fio(&["--rw=read", "--unlink=1"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(link.is_symlink());
    let said = fio(&["--ioengine=filedelete"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("support only files"), "{}", said.err);
    assert!(link.is_symlink());
}

/// What each command says of a target that it is to make or write to.
fn asked(stand: &Stand, path: &str) -> [Printed; 5] {
    stand.lab.write(
        "parm",
        format!(
            "sd=s,lun={path},size=64k\nwd=w,sd=s,rdpct=0,xfersize=4k\n\
             rd=r,wd=w,iorate=10,elapsed=2,interval=1\n"
        ),
    );
    let file = format!("--filename={path}");
    [
        stand.run(WRITE, &["--target", path, "--create"]),
        stand
            .lab
            .blocklab(["cdm", "--target", path, "--create", "--size", "16MiB"]),
        stand
            .lab
            .blocklab(["fio", "--name=a", "--rw=write", "--size=64k", &file]),
        stand
            .lab
            .blocklab(["diskspd", "-c64K", "-w100", "-d1", path]),
        stand.lab.blocklab(["vdbench", "-f", "parm", "-o", "out"]),
    ]
}

#[track_caller]
fn all_refuse(stand: &Stand, path: &str, words: &str) {
    for said in asked(stand, path) {
        assert!(matches!(said.code, Some(1 | 2)), "{path}: {said:?}");
        assert!(said.err.contains(words), "{path}: {said:?}");
    }
}

/// The guard of /dev compared text, so that other spellings made a file there, in memory, which
/// was then measured as a disk.
#[test]
fn no_file_is_made_below_dev_by_whatever_path() {
    if !is_root("a try to make files below /dev") {
        return;
    }
    let stand = Stand::new();
    let link = stand.disk().join("dev");
    symlink("/dev", &link).expect("a link");
    let name = "blocklab-no-such-disk";
    for folder in ["/dev", "//dev", "/tmp/../dev", text(&link)] {
        let path = format!("{folder}/{name}");
        all_refuse(&stand, &path, "/dev is no place for files");
        assert!(!Path::new("/dev").join(name).exists(), "{path}");
    }
}

/// Vdbench followed a link that leads nowhere, and made its target.
#[test]
fn no_file_is_made_where_a_link_leads_nowhere() {
    let stand = Stand::new();
    let (link, nowhere) = (stand.disk().join("link"), stand.disk().join("nowhere"));
    symlink(&nowhere, &link).expect("a link");
    all_refuse(&stand, text(&link), "is a link that leads nowhere");
    assert!(!nowhere.exists());
}

/// Vdbench waited in open for somebody at the other end of a pipe.
#[test]
fn a_pipe_is_refused_at_once() {
    let stand = Stand::new();
    let pipe = stand.disk().join("pipe");
    if tool("mkfifo", &[text(&pipe)]).is_some() {
        let [run, cdm, _, diskspd, vdbench] = asked(&stand, text(&pipe));
        for said in [run, cdm, diskspd, vdbench] {
            assert!(matches!(said.code, Some(1 | 2)), "{said:?}");
            assert!(said.err.contains("a pipe"), "{said:?}");
        }
    }
}

/// `--destroy-data f.db` gave up every file of that name, in whatever directory.
#[test]
fn a_bare_file_name_gives_up_the_file_that_lies_here() {
    let stand = Stand::new();
    let content = vec![7; 64 * KIB as usize];
    let here = stand.lab.path().join("f.db");
    fs::write(&here, &content).expect("written");
    let there = stand.file("f.db", &content);
    let named = "--destroy-data=f.db";
    stand.refused(WRITE, &["--target", &there, named], &["with content"]);
    assert!(fs::read(&there).expect("there") == content);
    for target in ["f.db", text(&here)] {
        fs::write(&here, &content).expect("written");
        stand.record(WRITE, &["--target", target, named]);
        assert!(fs::read(&here).expect("there") != content);
    }
}

/// The story: fio, and Vdbench without its format, made a file of blocklab's longer and only read it. Its
/// mark still held the old size, so that every later command refused the file as one that "other data was
/// copied over".
#[test]
fn a_file_that_is_made_longer_may_still_be_overwritten() {
    for tool in ["fio", "vdbench"] {
        let stand = Stand::new();
        let path = stand.disk().join("grown");
        for size in ["64k", "1m"] {
            let lun = format!("sd=s,lun={},size={size}", text(&path));
            let runs = "wd=w,sd=s,rdpct=100,xfersize=4k\nrd=r,wd=w,iorate=10,elapsed=2,interval=1";
            stand
                .lab
                .write("parm", format!("formatsds=no\n{lun}\n{runs}\n"));
            let line = match tool {
                "fio" => format!(
                    "fio --no-save --name=a --rw=read --size={size} --filename={}",
                    text(&path)
                ),
                _ => "vdbench --no-save -f parm -o out".to_owned(),
            };
            let said = stand.lab.blocklab(line.split(' '));
            assert_eq!(said.code, Some(0), "{line}: {}", said.err);
        }
        let ran = stand.run(WRITE, &["--target", text(&path)]);
        assert_eq!(ran.code, Some(0), "{tool}: {}", ran.err);
    }
}

/// Who may not open a device was told "Permission denied", and not what would work.
#[test]
fn a_device_that_may_not_be_opened_is_reported_with_what_would_work() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let stand = Stand::new();
    fs::set_permissions(stand.lab.path(), fs::Permissions::from_mode(0o777)).expect("mine");
    let mut command = stand.lab.command();
    command.env("HOME", stand.lab.path());
    command.args(["run", stand.study(READ), "--quiet", "--no-save"]);
    command
        .args(["--target", device.path()])
        .uid(65534)
        .gid(65534);
    let Ok(output) = command.output() else {
        skip("a run as another user", "it may not start the program here");
        return;
    };
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("Permission denied"), "{err}");
    assert!(err.contains("root") && err.contains("`disk`"), "{err}");
}

/// Targets are held open during the run: a job of more files than the usual soft limit of a
/// process must still run.
#[test]
fn more_files_than_the_soft_limit_of_open_ones() {
    let stand = Stand::new();
    let hard = stand.lab.shell("ulimit -H -n").out;
    if hard.trim().parse::<u64>().is_ok_and(|hard| hard < 1200) {
        skip("many files", "the hard limit of open files is low here");
        return;
    }
    let ended = stand.lab.shell(&format!(
        "ulimit -S -n 256; exec blocklab fio --no-save --name=a --rw=read --nrfiles=400 \
         --size=1600k --directory={}",
        stand.disk_text()
    ));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

/// `run --target /dev/null` measured nothing and called the target smaller than at its start, a terminal was
/// read until the run was killed, and writes to it were refused with `--read-only` as the remedy.
#[test]
fn targets_without_offsets_or_content_are_refused() {
    let stand = Stand::new();
    let words = [
        "a terminal",
        "a directory, a file or a block device would work",
    ];
    for study in [READ, WRITE] {
        stand.refused(study, &["--target", "/dev/tty"], &words);
        stand.refused(study, &["--target", "/dev/ptmx"], &words);
    }
    let words = ["nothing to read", "/dev/zero", "`null`"];
    stand.refused(READ, &["--target", "/dev/null"], &words);
}

/// The story: `run /dev/sdb`, where there is none, was answered with the built-in studies; and of a
/// path below a directory that is missing, `To measure .: --target ..` named the one above.
#[test]
fn a_path_that_is_not_there_is_answered_with_target() {
    let stand = Stand::new();
    let lab = &stand.lab;
    lab.refused(
        ["run", "/dev/none"],
        &["--target names a device or directory"],
    );
    lab.refused(["run", "--target", "none/here"], &["`--target .` ("]);
    lab.refused(
        ["trace", "record", "none", "-o", "a.trace"],
        &["`blocklab devices`"],
    );
}
