//! The guard and the facts on real block devices: loop devices that each test attaches and
//! detaches. Without root or loop devices the tests report that and do nothing.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use blocklab_host::guard::{Guard, Refusal, file_use};
use blocklab_host::{Device, Handle, Memory, devices, target_facts};
use blocklab_record::TargetKind;
use blocklab_units::Bytes;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// A loop device over a sparse file; detached at the end, what is mounted on it unmounted before.
struct Loop {
    device: PathBuf,
    file: PathBuf,
    mounts: Vec<PathBuf>,
    swap: bool,
    folder: TempDir,
}

fn run(command: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new(command)
        .args(args)
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .output();
    match output {
        Ok(output) if output.status.success() => Some(output),
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            eprintln!("skipped: {command} {args:?} does not work here: {error}");
            None
        }
        Err(error) => {
            eprintln!("skipped: {command} is not to be had: {error}");
            None
        }
    }
}

impl Loop {
    /// A device of `size` bytes, or nothing where this machine gives none.
    fn attach(size: u64, options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("disk.img");
        File::create(&file).unwrap().set_len(size).unwrap();
        Self::attach_over(&file.clone(), folder, file, options)
    }

    fn attach_over(
        backing: &Path,
        folder: TempDir,
        file: PathBuf,
        options: &[&str],
    ) -> Option<Self> {
        let mut args = vec!["--find", "--show"];
        args.extend(options);
        args.push(backing.to_str().unwrap());
        let output = run("losetup", &args)?;
        let device = String::from_utf8(output.stdout).unwrap();
        Some(Self {
            device: PathBuf::from(device.trim()),
            file,
            mounts: Vec::new(),
            swap: false,
            folder,
        })
    }

    fn path(&self) -> &str {
        self.device.to_str().unwrap()
    }

    fn name(&self) -> &str {
        self.device.file_name().unwrap().to_str().unwrap()
    }

    fn mount(&mut self) -> Option<PathBuf> {
        let point = self.folder.path().join("mounted");
        fs::create_dir_all(&point).unwrap();
        run("mount", &[self.path(), point.to_str().unwrap()])?;
        self.mounts.push(point.clone());
        Some(point)
    }

    fn facts(&self) -> Device {
        let mut all = devices(None).into_iter();
        all.find(|device| device.node.path == self.device)
            .expect("an attached loop device is listed")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for point in &self.mounts {
            let _ = Command::new("umount").arg(point).status();
        }
        if self.swap {
            let _ = Command::new("/usr/sbin/swapoff").arg(&self.device).status();
        }
        let _ = Command::new("/usr/sbin/losetup")
            .arg("-d")
            .arg(&self.device)
            .status();
    }
}

fn may_write(path: &Path, destroy: &[&str]) -> Result<(), Refusal> {
    let destroy: Vec<String> = destroy.iter().map(|entry| (*entry).to_owned()).collect();
    Guard::new(&destroy).may_write(&Handle::open(path).unwrap())
}

/// The reasons of a refusal, with `DEVICE` for the device's path.
fn reasons(device: &Loop, path: &Path) -> Vec<String> {
    let refusal = may_write(path, &[]).expect_err("is refused");
    let texts = refusal.reasons.iter().map(ToString::to_string);
    texts
        .map(|text| text.replace(device.path(), "DEVICE"))
        .collect()
}

#[test]
fn a_blank_device_may_be_written_and_its_file_may_not() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    assert!(may_write(&device.device, &[]).is_ok());
    let facts = device.facts();
    assert!(facts.verdict.writes, "{:?}", facts.verdict);
    assert_eq!(
        facts.node.backing_file.as_deref(),
        Some(device.file.as_path())
    );
    assert_eq!(
        reasons(&device, &device.file),
        [format!(
            "{} is the backing of the loop device DEVICE",
            device.file.display()
        )]
    );
}

#[test]
fn a_file_system_is_given_up_by_the_name_of_its_device_only() {
    let Some(device) = Loop::attach(32 * MIB, &[]) else {
        return;
    };
    if run("mkfs.ext4", &["-q", device.path()]).is_none() {
        return;
    }
    let expected = ["DEVICE holds an ext4 file system (mark at byte 1024)"];
    assert_eq!(reasons(&device, &device.device), expected);
    assert!(may_write(&device.device, &["vda", "loop", "disk.img", "/dev"]).is_err());
    for name in [device.name(), device.path()] {
        may_write(&device.device, &[name]).unwrap();
    }
    assert!(!device.facts().verdict.writes);
}

#[test]
fn a_mounted_device_is_refused_by_every_path() {
    let Some(mut device) = Loop::attach(32 * MIB, &[]) else {
        return;
    };
    if run("mkfs.ext4", &["-q", device.path()]).is_none() {
        return;
    }
    let Some(point) = device.mount() else { return };
    let text = format!("holds a mounted ext4 file system (on {})", point.display());
    assert_eq!(reasons(&device, &device.device), [format!("DEVICE {text}")]);
    let refusal = may_write(&device.device, &[]).unwrap_err().to_string();
    assert_eq!(
        refusal,
        format!(
            "{} {text}; blocklab does not write to it. To free it: umount {} (--destroy-data \
             gives up content, never what others use). To measure reads only: --read-only, or with fio and Vdbench a load that does not write.",
            device.path(),
            point.display()
        )
    );
    let link = device.folder.path().join("link");
    std::os::unix::fs::symlink(&device.device, &link).unwrap();
    assert_eq!(may_write(&link, &[]).unwrap_err().reasons.len(), 1);
    // A second node of the same number is the same device.
    let copy = device.folder.path().join("copy");
    let number = fs::metadata(&device.device).unwrap().rdev();
    let (major, minor) = (
        libc::major(number).to_string(),
        libc::minor(number).to_string(),
    );
    if run("mknod", &[copy.to_str().unwrap(), "b", &major, &minor]).is_some() {
        let refusal = may_write(&copy, &[]).unwrap_err();
        assert_eq!(refusal.reasons.len(), 1);
        assert!(may_write(&copy, &[device.name()]).is_err());
    }
}

#[test]
fn a_device_that_another_program_has_for_itself() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let mut options = File::options();
    let owner = options
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&device.device)
        .unwrap();
    // A test beside this one may run losetup, which opens all loop devices for a moment and is named.
    let found = reasons(&device, &device.device);
    let is_named = |reason: &String| reason.starts_with("DEVICE is in exclusive use");
    assert!(found.len() == 1 && found.iter().all(is_named), "{found:?}");
    assert!(may_write(&device.device, &[device.name()]).is_err());
    drop(owner);
    assert!(may_write(&device.device, &[]).is_ok());
}

/// The guard looked once, before hours of load, and held nothing: a second run wrote to the same
/// device at once, and mkfs made a file system that was then overwritten.
#[test]
fn a_device_is_held_as_long_as_the_guard_lives() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let guard = Guard::default();
    let handle = guard.open(&device.device).unwrap();
    let exclusively = || {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_EXCL);
        options.open(&device.device).map_err(|error| error.kind())
    };
    assert!(exclusively().is_ok(), "a look claims nothing");
    guard.may_write(&handle).unwrap();
    assert_eq!(exclusively().unwrap_err(), ErrorKind::ResourceBusy);
    // Workers, and a second path of the same device, are served by the one claim.
    handle.reopen(File::options().write(true)).unwrap();
    let link = device.folder.path().join("link");
    std::os::unix::fs::symlink(&device.device, &link).unwrap();
    guard.may_write(&guard.open(&link).unwrap()).unwrap();
    drop((guard, handle));
    // A program that another test starts holds what this process held until its exec.
    let mut tries = std::iter::repeat_with(exclusively).take(100_000);
    assert!(
        tries.any(|attempt| attempt.is_ok()),
        "and nothing is left of it"
    );
}

#[test]
fn swap_in_use_is_reported() {
    let Some(mut device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let made = run("mkswap", &[device.path()]);
    if made.and_then(|_| run("swapon", &[device.path()])).is_none() {
        return;
    }
    device.swap = true;
    let expected = [
        "DEVICE is in use as swap",
        "DEVICE holds a swap area (mark at byte 4086)",
    ];
    assert_eq!(reasons(&device, &device.device), expected);
    assert!(device.facts().swap);
}

#[test]
fn a_disk_answers_for_its_partitions_and_they_for_themselves() {
    for (sector, table) in [("512", 512), ("4096", 4096)] {
        let Some(device) = Loop::attach(64 * MIB, &["--partscan", "--sector-size", sector]) else {
            return;
        };
        let script = format!(
            "printf ',16M\\n,16M\\n' | sfdisk -q --label gpt {}",
            device.path()
        );
        if run("sh", &["-c", &script]).is_none() {
            return;
        }
        let part = PathBuf::from(format!("{}p1", device.path()));
        // A kernel that reads no tables takes partitions from a program.
        let shown = part.exists() || run("partx", &["--add", device.path()]).is_some();
        if !shown || !part.exists() {
            eprintln!("skipped: the kernel shows no partitions of loop devices");
            return;
        }
        let name = device.name();
        let expected = [
            format!("DEVICE has partitions ({name}p1, {name}p2)"),
            format!("DEVICE holds a GPT partition table (mark at byte {table})"),
        ];
        assert_eq!(reasons(&device, &device.device), expected);
        // The second partition does not suffer from what is on the first.
        assert!(may_write(&part, &[]).is_ok());
        if run("mkfs.ext4", &["-q", part.to_str().unwrap()]).is_some() {
            assert_eq!(
                may_write(&part, &[]).unwrap_err().names,
                [format!("{name}p1")]
            );
            let sibling = PathBuf::from(format!("{}p2", device.path()));
            assert!(may_write(&sibling, &[]).is_ok());
            assert_eq!(reasons(&device, &device.device).len(), 3);
            // Giving up a partition does not give up the disk; the other way round it does not
            // either, for the partition was not named.
            assert!(may_write(&device.device, &[&format!("{name}p1")]).is_err());
            assert!(may_write(&part, &[name]).is_err());
            assert!(may_write(&device.device, &[name]).is_ok());
        }
        let facts = target_facts(&part).unwrap();
        assert_eq!(facts.devices[0].name, format!("{name}p1"));
        assert_eq!(facts.devices[1].name, name);
        assert_eq!(facts.size_bytes, Bytes(16 * MIB));
    }
}

#[test]
fn a_loop_over_a_loop() {
    let Some(lower) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(upper) = Loop::attach_over(&lower.device, folder, PathBuf::new(), &[]) else {
        return;
    };
    let expected = [format!(
        "DEVICE is the backing of the loop device {}",
        upper.path()
    )];
    assert_eq!(reasons(&lower, &lower.device), expected);
    let below = target_facts(&upper.device).unwrap().devices;
    let names: Vec<_> = below.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(&names[..2], [upper.name(), lower.name()]);
}

/// The story: `losetup` was given one image twice, and the first device was mounted. A run with
/// `--destroy-data=loop1` wrote over the mounted file system: the kernel claims nothing below a loop
/// device. The same with a loop device over the mounted one. A page written with `--force` emptied the
/// image itself.
#[test]
fn what_uses_the_bytes_below_a_loop_device_uses_the_device() {
    let Some(mut lower) = Loop::attach(32 * MIB, &[]) else {
        return;
    };
    let path = lower.path().to_owned();
    if run("mkfs.ext4", &["-q", &path]).is_none() || lower.mount().is_none() {
        return;
    }
    let file = lower.file.clone();
    let attach = |backing: &Path| {
        let folder = tempfile::tempdir().unwrap();
        Loop::attach_over(backing, folder, file.clone(), &[])
    };
    let image = format!("{} is the backing of the loop device", file.display());
    let Some(twin) = attach(&file) else {
        return;
    };
    let refused = |device: &Loop| {
        let names = [device.name(), &path, file.to_str().unwrap()];
        let refusal = may_write(&device.device, &names).expect_err("is in use");
        refusal.to_string()
    };
    let text = refused(&twin);
    assert!(text.contains(&format!("{image} {path};")), "{text}");
    assert!(text.contains(&format!("losetup -d {path} ")), "{text}");
    drop(twin);
    let Some(upper) = attach(&lower.device) else {
        return;
    };
    let text = refused(&upper);
    let expected = format!("{path} holds a mounted ext4 file system");
    assert!(text.contains(&expected), "{text}");
    let used = file_use(&fs::metadata(&file).unwrap()).expect("a loop device shows it");
    assert_eq!(
        used.to_string(),
        format!("is the backing of the loop device {path}")
    );
}

/// The story: the image of a mounted disk was removed under the name by which it was attached. Under its
/// other name, `--destroy-data` gave it up, because the path that the kernel shows led nowhere. The same in
/// a container, where that path is none.
#[test]
fn a_file_behind_a_loop_device_is_known_by_any_name() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let other = device.folder.path().join("other.img");
    fs::hard_link(&device.file, &other).unwrap();
    fs::remove_file(&device.file).unwrap();
    let name = other.to_str().unwrap();
    let refusal = may_write(&other, &[name]).expect_err("is in use");
    let expected = format!("is the backing of the loop device {}", device.path());
    assert!(refusal.to_string().contains(&expected), "{refusal}");
    assert!(may_write(&device.device, &[]).is_ok());
}

/// Two devices that show different parts of one image do not disturb each other.
#[test]
fn loop_devices_over_different_parts_of_a_file_are_free() {
    let part = ["--offset", "16777216", "--sizelimit", "16777216"];
    let Some(second) = Loop::attach(32 * MIB, &part) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let first = ["--sizelimit", "16777216"];
    let Some(first) = Loop::attach_over(&second.file, folder, PathBuf::new(), &first) else {
        return;
    };
    assert!(may_write(&first.device, &[]).is_ok());
    assert!(may_write(&second.device, &[]).is_ok());
}

/// The facts of a device were those of a look up to 200 ms old: a loop device that had been
/// attached again in between was reported with the backing and the size of before.
#[test]
fn a_device_is_reported_as_it_is_now() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let size = || target_facts(&device.device).unwrap().devices[0].size_bytes;
    assert_eq!(size(), Bytes(16 * MIB));
    let file = File::options().write(true).open(&device.file).unwrap();
    file.set_len(32 * MIB).unwrap();
    if run("losetup", &["--set-capacity", device.path()]).is_some() {
        assert_eq!(size(), Bytes(32 * MIB));
    }
}

#[test]
fn every_device_of_a_mounted_btrfs_is_refused() {
    let Some(mut first) = Loop::attach(256 * MIB, &[]) else {
        return;
    };
    let Some(second) = Loop::attach(256 * MIB, &[]) else {
        return;
    };
    if run("mkfs.btrfs", &["-q", first.path(), second.path()]).is_none() {
        return;
    }
    let scan = run("btrfs", &["device", "scan", first.path(), second.path()]);
    let Some(point) = scan.and_then(|_| first.mount()) else {
        return;
    };
    for device in [&first, &second] {
        let expected = format!(
            "DEVICE holds a mounted btrfs file system (on {})",
            point.display()
        );
        assert_eq!(reasons(device, &device.device), [expected]);
    }
    let facts = target_facts(&point).unwrap();
    assert_eq!(facts.file_system.unwrap().kind, "btrfs");
    let names: Vec<_> = facts
        .devices
        .iter()
        .map(|device| device.name.as_str())
        .collect();
    assert!(
        names.contains(&first.name()) && names.contains(&second.name()),
        "{names:?}"
    );
}

#[test]
fn a_physical_volume_that_no_group_uses() {
    let Some(device) = Loop::attach(32 * MIB, &[]) else {
        return;
    };
    let config = "devices{use_devicesfile=0} global{use_lvmlockd=0}";
    if run("pvcreate", &["-q", "-y", "--config", config, device.path()]).is_none() {
        return;
    }
    let expected = ["DEVICE holds an LVM2 physical volume (mark at byte 512)"];
    assert_eq!(reasons(&device, &device.device), expected);
}

#[test]
fn a_read_only_device_is_refused_whatever_is_named() {
    let Some(device) = Loop::attach(16 * MIB, &["--read-only"]) else {
        return;
    };
    let refusal = may_write(&device.device, &[device.name()]).unwrap_err();
    let expected = format!(
        "{} is read-only; blocklab does not write to it. To measure reads only: --read-only, or with fio and Vdbench a load that does not write.",
        device.path()
    );
    assert_eq!(refusal.to_string(), expected);
}

#[test]
fn the_facts_of_a_device_with_large_blocks() {
    let Some(device) = Loop::attach(16 * MIB, &["--sector-size", "4096"]) else {
        return;
    };
    let facts = target_facts(&device.device).unwrap();
    assert_eq!(facts.kind, TargetKind::BlockDevice);
    assert_eq!(facts.size_bytes, Bytes(16 * MIB));
    assert_eq!(facts.file_system, None);
    assert_eq!(facts.direct_offset_align, Some(4096));
    assert_eq!(facts.devices[0].transport, "loop");
    assert_eq!(facts.devices[0].logical_block_bytes, Bytes(4096));
}

/// Without rights the content of a device is unknown, so it is not written to.
#[test]
fn a_device_that_may_not_be_looked_at() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let path = device.device.clone();
    let requested = std::thread::spawn(move || {
        // SAFETY: the bare call changes the rights of this thread alone, which ends right after.
        let status = unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) };
        (status == 0).then(|| may_write(&path, &[]))
    });
    let Some(requested) = requested.join().unwrap() else {
        eprintln!("skipped: rights cannot be dropped here");
        return;
    };
    let text = requested
        .unwrap_err()
        .to_string()
        .replace(device.path(), "DEVICE");
    let expected = format!(
        "DEVICE cannot be read by this user, so what is on it is unknown; blocklab does not write \
         to it. To let blocklab look at it: run it as root, or as a member of the group that owns \
         it (usually `disk`). To measure reads only: --read-only, or with fio and Vdbench a load that does not write. To destroy what is on it: --destroy-data={}",
        device.name()
    );
    assert_eq!(text, expected);
}

/// Whatever no known mark explains was taken for blank. Now it is refused, unless it is what the
/// last run left; a run that was killed leaves nothing that is known.
#[test]
fn what_a_run_left_is_known_and_other_data_is_not() {
    let Some(device) = Loop::attach(16 * MIB, &[]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let put = |byte: u8| {
        let file = File::options().write(true).open(&device.device).unwrap();
        file.write_all_at(&[byte], 777).unwrap();
        file.sync_all().unwrap();
    };
    let guard = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let memory = Memory::at(folder.path().join("devices"));
        Guard::new(&names).with_memory(memory, |words| panic!("{words}"))
    };
    let handle = Handle::open(&device.device).unwrap();
    put(7);
    let refusal = guard(&[]).may_write(&handle).unwrap_err();
    let text = refusal.to_string();
    assert!(
        text.contains("of an unknown kind (the first was found at byte 777)"),
        "{text}"
    );
    assert_eq!(refusal.names, [device.name()]);

    let named = guard(&[device.name()]);
    assert!(named.may_write(&handle).is_ok());
    drop(named);
    assert!(
        guard(&[]).may_write(&handle).is_err(),
        "nothing was written"
    );

    let named = guard(&[device.name()]);
    assert!(named.may_write(&handle).is_ok());
    put(8);
    named.mark_written(&device.device);
    drop(named);
    assert!(guard(&[]).may_write(&handle).is_ok(), "as the run left it");
    assert!(
        guard(&[]).may_write(&handle).is_ok(),
        "and the next one, which wrote nothing"
    );
    put(9);
    assert!(
        guard(&[]).may_write(&handle).is_err(),
        "somebody wrote there"
    );
    put(8);

    let killed = guard(&[]);
    assert!(killed.may_write(&handle).is_ok());
    std::mem::forget(killed);
    let left = fs::read_dir(folder.path().join("devices")).unwrap().count();
    assert_eq!(left, 0, "nothing is known after a run that was killed");
}
