use std::fs;
use std::os::fd::AsRawFd;

use super::ours::{is_hole, marked};
use blocklab_units::Bytes;

use super::*;
use crate::machine::tree::Tree;
use crate::signatures::Kind;

/// Decides as a run does: what exists is judged, and where nothing exists a file may be made.
fn may_write(path: &Path, destroy: &[String]) -> Result<(), Refusal> {
    let guard = Guard::new(destroy);
    match guard.open(path) {
        Ok(handle) => guard.may_write(&handle),
        Err(_) => guard.new_path(path).map(drop),
    }
}

/// The outcome as one line: `ok`, or the reasons.
fn outcome(path: &Path, destroy: &[&str]) -> String {
    let destroy: Vec<String> = destroy.iter().map(|entry| (*entry).to_owned()).collect();
    match may_write(path, &destroy) {
        Ok(()) => "ok".into(),
        Err(refusal) => refusal
            .reasons
            .iter()
            .map(|r| r.cause.to_string())
            .collect::<Vec<_>>()
            .join("; "),
    }
}

#[test]
fn files_that_hold_nothing_may_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    assert_eq!(outcome(&path, &[]), "ok");
    fs::write(&path, "").unwrap();
    assert_eq!(outcome(&path, &[]), "ok");
    assert_eq!(outcome(folder.path(), &[]), "ok");
}

#[test]
fn a_file_that_is_one_hole_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hole");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    if !File::open(&path).is_ok_and(|file| is_hole(&file)) {
        eprintln!(
            "skipped: the file system of {} does not report holes",
            path.display()
        );
        return;
    }
    assert_eq!(outcome(&path, &[]), "ok");
}

/// The story: a run wrote to the still empty file behind a volume that was being served, and the volume's
/// clients read what the run had left.
#[test]
fn a_file_that_somebody_has_locked_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backing");
    let file = File::create(&path).unwrap();
    file.set_len(1 << 20).unwrap();
    file.lock().unwrap();
    let name = path.display().to_string();
    assert_eq!(outcome(&path, &[]), LOCKED);
    assert_eq!(outcome(&path, &[&name]), LOCKED, "a name lifts no use");
    file.unlock().unwrap();
    assert_eq!(outcome(&path, &[]), "ok");
}

const LOCKED: &str = "is locked by another program, which uses it (QEMU, `blocklab emulate --backing` and another run do)";

/// The story: two runs wrote to one file at the same time, and the figures of both were of neither.
#[test]
fn a_file_that_a_run_may_write_to_is_locked_as_long_as_its_guard_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    File::create(&path).unwrap().set_len(1 << 20).unwrap();
    let guard = Guard::default();
    let handle = guard.open(&path).unwrap();
    for _ in 0..2 {
        assert!(guard.may_write(&handle).is_ok(), "it is ours");
    }
    assert_eq!(outcome(&path, &[]), LOCKED);
    drop(guard);
    assert_eq!(outcome(&path, &[]), "ok");
    // As other tools do, a job of another language shares the file that it names.
    let jobs = [Guard::default(), Guard::default()];
    for guard in &jobs {
        guard.give_up_content(&handle);
        assert!(guard.may_write(&handle).is_ok());
    }
}

/// The story: `--destroy-data=vm.img` wrote over the disk of a machine that ran. QEMU locks single bytes
/// of it, and only locks of whole files were looked for.
#[test]
fn a_file_of_which_somebody_has_locked_a_byte_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vm.img");
    fs::write(&path, "precious").unwrap();
    let file = File::open(&path).unwrap();
    // SAFETY: the structure has numbers only.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_RDLCK as libc::c_short;
    lock.l_start = 100;
    lock.l_len = 1;
    // A lock of an open file, as QEMU's are: that of a process does not count in the process itself.
    // SAFETY: the descriptor is open, and the structure is whole.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if locked != 0 {
        eprintln!(
            "skipped: the file system of {} has no locks",
            path.display()
        );
        return;
    }
    let name = path.display().to_string();
    assert_eq!(outcome(&path, &[&name]), LOCKED);
    drop(file);
    assert_eq!(outcome(&path, &[&name]), "ok");
}

#[test]
fn a_file_with_content_is_given_up_by_name_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.img");
    fs::write(&path, "precious").unwrap();
    let refused = "is a file with content (8 B)";
    assert_eq!(outcome(&path, &[]), refused);
    assert_eq!(
        outcome(&path, &["data", "data.img", "other.img", "", "/dev/null"]),
        refused
    );
    assert_eq!(outcome(&path, &[path.to_str().unwrap()]), "ok");
    // Through a link it is the same file.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(outcome(&link, &[]), refused);
    for name in [&path, &link] {
        assert_eq!(outcome(&link, &[name.to_str().unwrap()]), "ok");
    }
}

#[test]
fn what_stores_nothing_is_refused_whatever_is_named() {
    let refused = Cause::CharDevice.to_string();
    assert_eq!(
        outcome(Path::new("/dev/full"), &["full", "/dev/full"]),
        refused
    );
    assert_eq!(outcome(Path::new("/dev/null"), &[]), "ok");
    assert_eq!(outcome(Path::new("/dev/zero"), &[]), "ok");
    let proc = outcome(Path::new("/proc/self/comm"), &["comm"]);
    assert_eq!(outcome(Path::new("/proc/self"), &[]), proc);
    assert_eq!(proc, "belongs to the kernel (proc), not to a disk");
}

#[test]
fn a_mistyped_device_does_not_become_a_file() {
    let refusal = may_write(Path::new("/dev/no-such-disk"), &[]).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/dev/no-such-disk does not exist, and /dev is no place for files; blocklab does not \
         write to it. To see what there is: blocklab devices."
    );
}

#[test]
fn paths_that_lead_nowhere_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/file");
    assert!(outcome(&missing, &[]).contains("No such file or directory"));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    assert_eq!(outcome(&link, &[]), "is a link that leads nowhere");
}

#[test]
fn one_reason_makes_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my data");
    fs::write(&path, "precious").unwrap();
    let name = path.canonicalize().unwrap().display().to_string();
    assert_eq!(
        may_write(&path, &[]).unwrap_err().to_string(),
        format!(
            "{} is a file with content (8 B); blocklab does not write to it. \
             To measure reads only: --read-only, or with fio and Vdbench a load that does not write. \
             To destroy what is on it: --destroy-data='{name}'",
            path.display()
        )
    );
}

fn reason(subject: &str, cause: Cause) -> Reason {
    about(Path::new(subject), cause)
}

#[test]
fn several_reasons_make_a_list() {
    let refusal = Refusal {
        path: "/dev/sda".into(),
        reasons: vec![
            reason("/dev/sda", Cause::Partitions(vec!["sda1".into()])),
            reason("/dev/sda1", Cause::Forbidden),
        ],
        names: vec!["sda".into()],
    };
    assert_eq!(
        refusal.to_string(),
        "blocklab does not write to /dev/sda:\n  \
         - /dev/sda has partitions (sda1)\n  \
         - /dev/sda1 cannot be read by this user, so what is on it is unknown\n\
         To let blocklab look at it: run it as root, or as a member of the group that owns it \
         (usually `disk`).\n\
         To measure reads only: --read-only, or with fio and Vdbench a load that does not write.\n\
         To destroy what is on it: --destroy-data=sda"
    );
}

/// What `decide` answers for a partition and the disk around it, given the names that are given up.
fn partition(given_up: &[&str]) -> Result<(), Refusal> {
    let group = |name: &str, cause| Named {
        name: name.into(),
        given_up: given_up.contains(&name),
        reasons: vec![reason(&format!("/dev/{name}"), cause)],
    };
    let path = Path::new("/dev/sda1");
    let mark = |offset| Cause::Signature {
        kind: Kind::Lvm2,
        offset,
    };
    let groups = [group("sda1", mark(512)), group("sda", mark(0))];
    decide(path, groups.into_iter())
}

#[test]
fn a_partition_does_not_give_up_its_disk() {
    assert_eq!(partition(&[]).unwrap_err().names, ["sda1", "sda"]);
    assert_eq!(partition(&["sda1"]).unwrap_err().reasons.len(), 1);
    assert_eq!(partition(&["sda"]).unwrap_err().reasons.len(), 1);
    assert!(partition(&["sda1", "sda"]).is_ok());
}

#[test]
fn a_read_only_device_is_not_made_writable_by_a_name() {
    let path = Path::new("/dev/sda");
    let group = Named {
        name: "sda".into(),
        given_up: true,
        reasons: vec![reason("/dev/sda", Cause::ReadOnly)],
    };
    let refusal = decide(path, std::iter::once(group)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/dev/sda is read-only; blocklab does not write to it. \
         To measure reads only: --read-only, or with fio and Vdbench a load that does not write."
    );
}

/// A device that another run was writing to could be given up by its name, and both wrote.
#[test]
fn a_use_is_not_given_up_by_a_name() {
    let path = Path::new("/dev/sda");
    let claimed = Cause::Claimed(vec!["blocklab (process 7)".into()]);
    let group = Named {
        name: "sda".into(),
        given_up: true,
        reasons: vec![reason("/dev/sda", claimed)],
    };
    let refusal = decide(path, std::iter::once(group)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/dev/sda is in exclusive use; blocklab (process 7) has it open; blocklab does not write \
         to it. To free it: let the program that has it end (--destroy-data gives up content, \
         never what others use). To measure reads only: --read-only, or with fio and Vdbench a load that does not write."
    );
}

fn two_disks() -> Tree {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 20);
    tree.disk("sdb", "8:16", 1 << 20);
    tree.partition("sda", "sda1", "8:1", 4096, 1 << 19);
    tree
}

#[track_caller]
fn check_names(tree: &Tree, entry: &str, device: &str, expected: bool) {
    let machine = tree.machine();
    let node = machine.node(device).unwrap();
    assert_eq!(
        names_device(&machine, node, &[entry.to_owned()]),
        expected,
        "{entry} {device}"
    );
}

#[test]
fn an_entry_names_exactly_one_device() {
    let tree = two_disks();
    check_names(&tree, "sda", "sda", true);
    check_names(&tree, "/dev/sda", "sda", true);
    for entry in [
        "", " ", "sd", "sdb", "sda1", "SDA", "/dev/sdb", "/dev", "dev/sda",
    ] {
        check_names(&tree, entry, "sda", false);
    }
    check_names(&tree, "sda", "sda1", false);
    check_names(&tree, "sda1", "sda1", true);
}

#[test]
fn a_serial_names_the_disk_that_alone_has_it() {
    let tree = two_disks();
    tree.put("/sys/block/sda/device/serial", "S3Z8NB\n");
    check_names(&tree, "S3Z8NB", "sda", true);
    check_names(&tree, "S3Z8NB", "sda1", false);
    check_names(&tree, "S3Z8NB", "sdb", false);
    tree.put("/sys/block/sdb/device/serial", "S3Z8NB\n");
    check_names(&tree, "S3Z8NB", "sda", false);
}

#[test]
fn a_file_that_was_made_here_may_be_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.img");
    fs::write(&path, "made by a run").unwrap();
    let handle = Handle::open(&path).unwrap();
    mark(&handle);
    if marked(&handle).is_none() {
        println!("skipped: marks on files, which this file system does not keep");
        return;
    }
    assert_eq!(outcome(&path, &[]), "ok");
    let copy = folder.path().join("copy.img");
    fs::write(&copy, fs::read(&path).unwrap()).unwrap();
    assert_eq!(outcome(&copy, &[]), "is a file with content (13 B)");
    // Somebody's data in its place: another size, or something that is recognised.
    fs::write(&path, "somebody's own").unwrap();
    assert_eq!(outcome(&path, &[]), Cause::Changed(Bytes(14)).to_string());
    let mut disk = vec![0; 1 << 20];
    fs::write(&path, &disk).unwrap();
    mark(&handle);
    assert_eq!(outcome(&path, &[]), "ok");
    // A database of the same size was copied over the file that a run had made: the mark claimed
    // that it was ours, and the next run overwrote it.
    disk[0] = 1;
    fs::write(&path, &disk).unwrap();
    let changed = Cause::Changed(Bytes(1 << 20)).to_string();
    assert_eq!(outcome(&path, &[]), changed);
    mark(&handle);
    assert_eq!(outcome(&path, &[]), "ok");
    // The mark of ext4.
    disk[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
    disk[0x404..0x408].copy_from_slice(&256_u32.to_le_bytes());
    disk[0x44c..0x450].copy_from_slice(&1_u32.to_le_bytes());
    fs::write(&path, &disk).unwrap();
    mark(&handle);
    assert_eq!(outcome(&path, &[]), changed);
}

/// A guard that has opened one file more than it keeps open.
fn one_more_than_held(path: &impl Fn(usize) -> PathBuf) -> Guard {
    let guard = Guard::default();
    for number in 0..=HELD {
        fs::write(path(number), "data").unwrap();
        guard.open(&path(number)).unwrap();
    }
    guard
}

/// Every file of a run was kept open, so that half of the descriptors went to files that were
/// looked at: 10,000 files did not run where 20,000 may be open.
#[test]
fn of_many_files_only_some_stay_open_and_none_is_mistaken_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(number.to_string());
    let guard = one_more_than_held(&path);
    let (first, last) = (path(0), path(HELD));
    assert!(guard.holds(&first) && !guard.holds(&last));
    let known = guard.open(&last).unwrap().identity();
    assert_eq!(file_id(&last), Some(known));
    for path in [&first, &last] {
        fs::rename(path, path.with_extension("old")).unwrap();
        fs::write(path, "others").unwrap();
    }
    assert!(
        guard
            .open(&first)
            .unwrap()
            .is_at(&first.with_extension("old"))
    );
    let error = guard.open(&last).unwrap_err().to_string();
    assert!(error.contains("another file"), "{error}");
}

/// A file that is not kept open may go, and ext4 gives the number of its inode to the next one: that
/// was taken for it, and would have been written to.
#[test]
fn a_file_that_got_the_number_of_an_inode_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(number.to_string());
    let guard = one_more_than_held(&path);
    let last = path(HELD);
    if fs::metadata(&last).unwrap().created().is_err() {
        println!("skipped: no file says here when it was made");
        return;
    }
    fs::remove_file(&last).unwrap();
    fs::write(&last, "others").unwrap();
    let error = guard.open(&last).unwrap_err().to_string();
    assert!(error.contains("another file"), "{error}");
    assert!(!guard.is_unchanged(&last, &fs::metadata(&last).unwrap()));
}

#[test]
fn a_path_gives_up_the_content_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, "data").unwrap();
    let guard = Guard::default();
    let handle = guard.open(&path).unwrap();
    assert!(guard.may_write(&handle).is_err());
    guard.give_up_content_at(&path);
    assert!(guard.may_write(&handle).is_ok());
}

/// The story: a host of a fleet refused a file and suggested `--destroy-data=/data`, which the fleet
/// refuses: it takes only names with a host.
#[test]
fn a_host_of_a_fleet_suggests_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, "data").unwrap();
    let guard = Guard::default().on_host("h1#2");
    let refusal = guard.may_write(&guard.open(&path).unwrap()).unwrap_err();
    let suggested = format!("--destroy-data='h1#2:{}'", path.display());
    assert!(refusal.to_string().contains(&suggested), "{refusal}");
}
