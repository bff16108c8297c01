//! Data that no known mark explains is anybody's: a device that holds it is not written to unless
//! it is named, or still shows what a run left there.

mod stand;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use blocklab_proof::Printed;
use stand::kernel::Loop;
use stand::running::Running;
use stand::{KIB, MIB, Stand, short_then_long};

/// Overwrites the first MiB.
const WRITE: &str = r#"
    name = "write"
    [[case]]
    name = "write"
    engine = "psync"
    mix = "write"
    pattern = "sequential"
    block_size = "64KiB"
    size = "1MiB"
    stop_bytes = "1MiB"
"#;

const UNKNOWN: &str = "holds data of an unknown kind";

/// 32 MiB of zeros, with `bytes` at `offset`.
fn disk(offset: u64, bytes: &[u8]) -> Option<Loop> {
    let disk = Loop::attach(32 * MIB, &[])?;
    put(&disk, offset, bytes);
    Some(disk)
}

fn put(disk: &Loop, offset: u64, bytes: &[u8]) {
    let device = File::options().write(true).open(disk.path());
    let device = device.expect("root writes");
    device.write_all_at(bytes, offset).expect("written");
    device.sync_all().expect("flushed");
}

fn write(stand: &Stand, disk: &Loop, more: &[&str]) -> Printed {
    stand.run(WRITE, &[&["--target", disk.path()], more].concat())
}

#[track_caller]
fn is_written(ran: &Printed) {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
}

#[track_caller]
fn is_refused(ran: &Printed) {
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains(UNKNOWN), "{}", ran.err);
}

/// The samples that a store remembers.
fn remembered(stand: &Stand) -> Vec<PathBuf> {
    let folder = stand.lab.store().root().join(".devices");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// A tar archive, SQLite, qcow2, text, random bytes, a lost superblock: "blank" meant that no
/// mark was known, and whole disks were overwritten without a word.
#[test]
fn data_of_an_unknown_kind_is_refused() {
    let noise: Vec<u8> = (0..4 * KIB).map(|n| (n * n % 251) as u8).collect();
    let archive = [&b"etc/passwd"[..], &[0; 247], b"ustar  \0"].concat();
    let kinds: [(u64, &[u8]); 5] = [
        (0, b"SQLite format 3\0"),
        (0, &archive),
        (0, b"QFI\xfb\0\0\0\x03"),
        (512 * KIB, &noise),
        (32 * MIB - 1, b"\n"),
    ];
    for (offset, bytes) in kinds {
        let Some(disk) = disk(offset, bytes) else {
            return;
        };
        let before = disk.bytes();
        let first = bytes.iter().position(|byte| *byte != 0).expect("data");
        let place = format!("at byte {})", offset + first as u64);
        let name = format!("--destroy-data={}", disk.name());
        let words = [disk.path(), UNKNOWN, &place, "--read-only", &name];
        let target = ["--target", disk.path()];
        Stand::new().refused(WRITE, &target, &words);
        Stand::new().refused(
            WRITE,
            &[&target[..], &["--destroy-data=sda"]].concat(),
            &words,
        );
        assert!(disk.bytes() == before, "{offset}: it was changed");
        is_written(&write(&Stand::new(), &disk, &[&name]));
        assert!(disk.bytes() != before, "{offset}: it was given up");
    }
}

/// The same in every language: none of them asks the guard by another way.
#[test]
fn no_language_takes_it_for_blank() {
    let Some(disk) = disk(777, b"mine") else {
        return;
    };
    let before = disk.bytes();
    let stand = Stand::new();
    let parameters = format!(
        "sd=sd1,lun={},size=16m,openflags=o_direct\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k\n\
         rd=r,wd=wd1,iorate=10,elapsed=2,interval=1\n",
        disk.path()
    );
    stand.lab.write("p", parameters);
    let file = format!("--filename={}", disk.path());
    let lines: [&[&str]; 4] = [
        &["cdm", "--target", disk.path()],
        &["diskspd", "-w100", "-d1", disk.path()],
        &["fio", "--name=a", "--rw=write", "--size=1m", &file],
        &["vdbench", "-f", "p", "-o", "out"],
    ];
    for line in lines {
        let ran = stand.lab.blocklab(line.iter().copied());
        assert!(
            ran.err.contains(UNKNOWN),
            "{line:?}: {} {}",
            ran.out,
            ran.err
        );
        assert_ne!(ran.code, Some(0), "{line:?}");
        assert!(disk.bytes() == before, "{line:?}: it was changed");
    }
    let devices = stand.lab.blocklab(["devices"]);
    let words = format!("{} {UNKNOWN}", disk.path());
    assert!(devices.out.contains(&words), "{}", devices.out);
    let named = format!("--destroy-data={}", disk.name());
    let line = ["fio", "--name=a", "--rw=write", "--size=1m", &file, &named];
    assert_eq!(stand.lab.blocklab(line).code, Some(0));
}

#[test]
fn what_a_run_left_is_known_to_the_next_one() {
    let Some(disk) = disk(0, b"old data") else {
        return;
    };
    let stand = Stand::new();
    let named = format!("--destroy-data={}", disk.name());
    is_written(&write(&stand, &disk, &[&named]));
    is_written(&write(&stand, &disk, &[]));
    is_written(&write(&stand, &disk, &["--no-save"]));
    is_written(&write(&stand, &disk, &[]));
    // Another store knows nothing of it.
    is_refused(&write(&Stand::new(), &disk, &[]));
    // One byte of somebody else's, and the same byte again.
    let byte = disk.bytes()[4711];
    put(&disk, 4711, &[byte ^ 1]);
    is_refused(&write(&stand, &disk, &[]));
    put(&disk, 4711, &[byte]);
    is_written(&write(&stand, &disk, &[]));
}

/// The blank device of a first run is as good as one that was named.
#[test]
fn a_blank_device_is_known_after_its_first_run() {
    for options in [&[][..], &["--sector-size=4096"]] {
        for size in [MIB, 3 * MIB + 64 * KIB, 64 * MIB] {
            let Some(disk) = Loop::attach(size, options) else {
                return;
            };
            let stand = Stand::new();
            is_written(&write(&stand, &disk, &[]));
            is_written(&write(&stand, &disk, &[]));
            is_refused(&write(&Stand::new(), &disk, &[]));
        }
    }
}

/// A name that was given up for a run that never began gives up nothing for the next one.
#[test]
fn what_was_not_written_to_stays_unknown() {
    let Some(disk) = disk(0, b"precious") else {
        return;
    };
    let stand = Stand::new();
    let named = format!("--destroy-data={}", disk.name());
    let ran = write(&stand, &disk, &[&named, "--size", "4KiB"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(remembered(&stand), Vec::<PathBuf>::new());
    is_refused(&write(&stand, &disk, &[]));
}

#[test]
fn an_interrupted_run_is_known_and_a_killed_one_is_not() {
    let Some(disk) = disk(0, &[]) else { return };
    let stand = Stand::new();
    let study = short_then_long("engine = \"psync\"\nmix = \"write\"");
    for signal in ["INT", "KILL"] {
        let mut command = stand.lab.command();
        command.args(["run", stand.study(&study), "--target", disk.path()]);
        let mut running = Running::start(command);
        running.await_measurement();
        running.await_writes(MIB);
        let ended = running.end_by(signal, signal == "KILL");
        drop(ended.last_words());
        let next = write(&stand, &disk, &[]);
        match signal {
            "INT" => is_written(&next),
            _ => is_refused(&next),
        }
    }
    assert_eq!(remembered(&stand), Vec::<PathBuf>::new());
}

#[test]
fn a_damaged_memory_knows_nothing() {
    let Some(disk) = disk(0, &[]) else { return };
    let stand = Stand::new();
    is_written(&write(&stand, &disk, &[]));
    let kept = remembered(&stand);
    let [file] = kept.as_slice() else {
        panic!("{kept:?}")
    };
    let whole = fs::read(file).expect("kept");
    for damaged in [&whole[..whole.len() / 2], b"", b"\xff\0"] {
        fs::write(file, damaged).expect("damaged");
        is_refused(&write(&stand, &disk, &[]));
    }
}

#[test]
fn a_memory_that_cannot_be_written_costs_no_figure() {
    let Some(disk) = disk(0, &[]) else { return };
    let stand = Stand::new();
    let folder = stand.lab.store().root().join(".devices");
    fs::create_dir_all(stand.lab.store().root()).expect("a store");
    fs::write(&folder, "a file in its place").expect("written");
    let ran = write(&stand, &disk, &["--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with('{'), "{}", ran.out);
    let words = [
        "warning: cannot keep what the run left on",
        "--destroy-data",
    ];
    for word in words {
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    is_refused(&write(&stand, &disk, &[]));
}

/// A file that blocklab had made kept its mark when data of the same size was copied over it in
/// place, and the next run overwrote that.
#[test]
fn the_mark_of_our_files_does_not_cover_what_was_copied_over_them() {
    let stand = Stand::new();
    let file = stand.disk().join("io.dat");
    let path = stand::text(&file).to_owned();
    let line = ["diskspd", "-c4M", "-b64K", "-w100", "-d1", "-W0", &path];
    let run = || stand.lab.blocklab(line);
    let first = run();
    assert_eq!(first.code, Some(0), "{}", first.err);
    let again = run();
    if again.err.contains("is a file with content") {
        stand::skip("marks on files", "this file system keeps none");
        return;
    }
    assert_eq!(again.code, Some(0), "{}", again.err);
    let mine = vec![b'x'; 4 * MIB as usize];
    let open = File::options().write(true).open(&file).expect("there");
    open.write_all_at(&mine, 0).expect("copied");
    let ran = run();
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("not as a run left it"), "{}", ran.err);
    assert!(fs::read(&file).expect("there") == mine, "it was changed");
}
