//! What holds data is not written to, unless it is named; reading it is always allowed.

mod stand;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::symlink;

use blocklab_record::{Status, Stopped};
use stand::kernel::{Loop, Mount};
use stand::{KIB, MIB, READ, Stand, WRITE, ios, skip, text, tool};

/// The first 4 MiB of a file or device, far more than the loads here reach.
fn head(target: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = File::open(target).expect("readable");
    file.take(4 * MIB).read_to_end(&mut bytes).expect("read");
    bytes
}

/// Is not written to, with these reasons, not even when `others` are named; what is on it stays
/// as it is and can be read.
#[track_caller]
fn is_spared(target: &str, reasons: &[&str], others: &[&str]) {
    let stand = Stand::new();
    let before = head(target);
    let mut words = vec![target, "--read-only"];
    words.extend(reasons);
    stand.refused(WRITE, &["--target", target], &words);
    for other in others {
        let named = format!("--destroy-data={other}");
        stand.refused(WRITE, &["--target", target, &named], reasons);
    }
    let record = stand.record(READ, &["--target", target]);
    let read = record.jobs().map(|job| ios(job, "read")).sum::<u64>();
    assert_eq!(read, 4, "{target}");
    let after = head(target);
    assert!(before == after, "{target} was changed");
}

/// Is written to when `name` is given up.
#[track_caller]
fn is_given_up(target: &str, name: &str) {
    let stand = Stand::new();
    let before = head(target);
    let named = format!("--destroy-data={name}");
    let record = stand.record(WRITE, &["--target", target, &named]);
    let written = record.jobs().map(|job| ios(job, "write")).sum::<u64>();
    assert_eq!(written, 4, "{target}");
    let after = head(target);
    let (load, beyond) = before.split_at(64 * KIB as usize);
    let (new_load, new_beyond) = after.split_at(load.len());
    let mut blocks = load.chunks(512).zip(new_load.chunks(512));
    assert!(blocks.all(|(old, new)| old != new), "{target}");
    assert!(beyond == new_beyond, "{target}: beyond the load");
}

#[test]
fn a_file_with_content() {
    let stand = Stand::new();
    let file = stand.file("mine.db", &vec![7; 256 * KIB as usize]);
    let folder = stand.disk_text();
    let reason = ["is a file with content (256 KiB)"];
    is_spared(
        &file,
        &reason,
        &["mine", "mine.db", "other.db", folder, "*"],
    );
    let emptied = ["--target", &file, "--destroy-data="];
    stand.refused(WRITE, &emptied, &["--destroy-data is empty"]);
    let link = stand.disk().join("link");
    symlink(&file, &link).expect("a link");
    is_spared(text(&link), &reason, &["other"]);

    is_given_up(&file, &file);
    fs::write(&file, vec![7; 256 * KIB as usize]).expect("written");
    is_given_up(text(&link), &file);
}

/// One of two targets is given up: nothing is written to either.
#[test]
fn a_name_lifts_the_refusal_of_one_thing_only() {
    let stand = Stand::new();
    let content = vec![7; 64 * KIB as usize];
    let files = ["given", "kept"].map(|name| stand.file(name, &content));
    let args = ["--target", &files[0], "--target", &files[1]];
    let names = files
        .each_ref()
        .map(|file| format!("--destroy-data={file}"));
    let given = [&args[..], &[&*names[0]]].concat();
    stand.refused(WRITE, &given, &["kept is a file with content"]);
    for file in &files {
        assert!(fs::read(file).expect("the file") == content, "{file}");
    }
    let both = [&given[..], &[&*names[1]]].concat();
    let record = stand.record(WRITE, &both);
    assert_eq!(record.jobs().map(|job| ios(job, "write")).sum::<u64>(), 4);
}

#[test]
fn what_is_no_storage_is_never_written_to() {
    let stand = Stand::new();
    let named = ["--destroy-data=full", "--destroy-data=/dev/full"];
    let full = ["--target", "/dev/full", named[0], named[1]];
    stand.refused(WRITE, &full, &["/dev/full is a character device"]);
    // A mistyped device name does not become a file.
    let wrong = "/dev/blocklab-no-such-device";
    stand.refused(WRITE, &["--target", wrong], &[wrong, "blocklab devices"]);
    stand.refused(READ, &["--target", wrong], &[wrong, "blocklab devices"]);
    assert!(!fs::exists(wrong).expect("/dev can be looked at"));
    stand.refused(WRITE, &["--target", "/proc"], &["/proc"]);
    stand.refused(
        WRITE,
        &["--target", "/proc/self/comm"],
        &["/proc/self/comm"],
    );
}

/// A blank device is written to without a word; what programs leave on it forbids that.
#[test]
fn marks_on_a_device() {
    let Some(blank) = Loop::attach(MIB, &[]) else {
        return;
    };
    Stand::new().record(WRITE, &["--target", blank.path()]);
    for (command, size, reason) in [
        ("mkfs.ext4 -q DEVICE", 8 * MIB, "holds an ext4 file system"),
        ("mkfs.xfs -q DEVICE", 320 * MIB, "holds an XFS file system"),
        ("mkswap DEVICE", MIB, "holds a swap area"),
        (
            "printf ',1M\\n' | sfdisk -q --label gpt DEVICE",
            8 * MIB,
            "GPT partition table",
        ),
        (
            "printf ',1M\\n' | sfdisk -q --label dos DEVICE",
            8 * MIB,
            "MBR partition table",
        ),
    ] {
        let Some(device) = Loop::attach(size, &[]) else {
            return;
        };
        let command = command.replace("DEVICE", device.path());
        if tool("sh", &["-c", &command]).is_none() {
            continue;
        }
        is_spared(
            device.path(),
            &[reason],
            &["loop", "sda", blank.name(), "/dev"],
        );
        is_given_up(device.path(), device.name());
    }
}

#[test]
fn a_device_in_use() {
    let Some(device) = Loop::attach(8 * MIB, &[]) else {
        return;
    };
    is_spared_as_backing(&device);
    let made = tool("mkfs.ext4", &["-q", device.path()]);
    let Some(mount) = made.and_then(|_| Mount::read_only(device.path())) else {
        return;
    };
    let point = text(mount.path());
    is_spared(
        device.path(),
        &["mounted ext4 file system", point],
        &[point],
    );
    is_spared_as_backing(&device);
    // The file system itself is a place like others: what is made there is ours.
    if mount.allow_writes().is_some() {
        Stand::new().record(WRITE, &["--target", point]);
        let left = fs::read_dir(mount.path()).expect("readable").count();
        assert_eq!(left, 1, "only lost+found");
    }
}

/// The file below a loop device holds what the device holds.
fn is_spared_as_backing(device: &Loop) {
    let reason = format!("is the backing of the loop device {}", device.path());
    is_spared(
        device.backing(),
        &[&reason],
        &[device.name(), device.path()],
    );
}

/// A disk answers for its partitions; a free one next to a mounted one is free.
#[test]
fn a_partition_of_a_mounted_disk() {
    let Some(disk) = Loop::attach(64 * MIB, &["--partscan"]) else {
        return;
    };
    let table = format!(
        "printf ',16M\\n,16M\\n' | sfdisk -q --label gpt {}",
        disk.path()
    );
    if tool("sh", &["-c", &table]).is_none() {
        return;
    }
    let parts = [1, 2].map(|number| format!("{}p{number}", disk.path()));
    // A kernel that reads no tables of loop devices takes partitions from a program.
    let shown = fs::exists(&parts[0]).is_ok_and(|there| there)
        || tool("partx", &["--add", disk.path()]).is_some();
    if !shown || !fs::exists(&parts[1]).is_ok_and(|there| there) {
        skip("partitions", "the kernel shows none of loop devices");
        return;
    }
    let made = tool("mkfs.ext4", &["-q", &parts[0]]);
    let Some(mount) = made.and_then(|_| Mount::read_only(&parts[0])) else {
        return;
    };
    let mounted = ["mounted ext4 file system", text(mount.path())];
    let whole = [&mounted[..], &["has partitions", "GPT partition table"]].concat();
    let part_name = parts[0].trim_start_matches("/dev/");
    is_spared(disk.path(), &whole, &[part_name]);
    is_spared(&parts[0], &mounted, &[disk.name(), &parts[1]]);
    Stand::new().record(WRITE, &["--target", &parts[1]]);
}

/// The advice that comes with the refusal is followed, and works.
#[test]
fn a_scratch_file_that_does_not_fit() {
    let Some(mount) = Mount::memory("8m") else {
        return;
    };
    let stand = Stand::new();
    let target = ["--target", text(mount.path())];
    let study = "name = \"s\"\n[[case]]\nname = \"a\"\nstop_bytes = \"64KiB\"\n";
    for size in ["1TiB", "64MiB", "9MiB"] {
        let args = [&target[..], &["--size", size]].concat();
        stand.refused(
            study,
            &args,
            &["does not fit", "8 MiB are free", "--size 4MiB"],
        );
        assert_eq!(fs::read_dir(mount.path()).expect("a folder").count(), 0);
    }
    // Without a size, the usual one is too large as well.
    stand.refused(study, &target, &["1 GiB does not fit", "--size 4MiB"]);
    stand.record(study, &[&target[..], &["--size", "4MiB"]].concat());
    assert_eq!(fs::read_dir(mount.path()).expect("a folder").count(), 0);
}

/// Thin volumes and sparse files promise more than there is.
#[test]
fn a_target_that_fills_up_during_the_run() {
    let Some(mount) = Mount::memory("8m") else {
        return;
    };
    for engine in ["sync", "psync", "pvsync2", "libaio", "io_uring"] {
        let stand = Stand::new();
        let file = mount.path().join("sparse");
        let made = File::create(&file).and_then(|file| file.set_len(64 * MIB));
        made.expect("a hole");
        let study = format!(
            r#"
            name = "fill"
            [[case]]
            name = "fill"
            engine = "{engine}"
            mix = "write"
            pattern = "sequential"
            block_size = "64KiB"
            depth = {depth}
            stop_bytes = "64MiB"
            "#,
            depth = if engine.starts_with("p") || engine == "sync" {
                1
            } else {
                8
            },
        );
        let given_up = format!("--destroy-data={}", text(&file));
        let named = ["--target", text(&file), &given_up];
        let ran = stand.run(&study, &named);
        if ran.err.contains("engine io_uring cannot be used here") {
            skip("io_uring", "this machine does not offer it");
            continue;
        }
        assert_eq!(ran.code, Some(1), "{engine}: {}", ran.err);
        assert!(ran.out.contains("ENOSPC"), "{engine}: {}", ran.out);
        let record = stand.latest();
        stand::assert_sound(&record);
        assert_eq!(record.status, Status::Failed, "{engine}");
        let why = record.failure.as_deref().unwrap_or_default();
        assert!(
            why.contains("No space left on device (ENOSPC) on write"),
            "{engine}: {why}"
        );
        let job = record.jobs().next().expect("a job");
        assert_eq!(job.stopped, Stopped::Error, "{engine}");
        let written = ios(job, "write") * 64 * KIB;
        assert!((1..=8 * MIB).contains(&written), "{engine}: {written}");
        assert_eq!(job.errors[0].kind.to_string(), "ENOSPC", "{engine}");
        assert!(job.accounting.failed > 0, "{engine}");
    }
}
