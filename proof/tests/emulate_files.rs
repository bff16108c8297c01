//! `blocklab emulate --fuse` and `--block`: programs and file systems use the volume, and nothing of
//! it is left afterwards, also when the server was killed.

mod stand;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use blocklab_proof::{Lab, good};
use blocklab_record::Record;
use blocklab_workload::Direction;
use stand::kernel::Mount;
use stand::serving::{Served, can_serve_files, empty_folder, traces};
use stand::{MIB, text, tool};

fn volume(folder: &Path) -> File {
    let mut options = File::options();
    options.read(true).write(true).truncate(true);
    options.open(folder.join("volume")).expect("it is served")
}

fn read(file: &File, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![9; len];
    file.read_exact_at(&mut bytes, offset).expect("read");
    bytes
}

#[test]
fn a_file_of_the_volumes_size_that_reads_writes_frees_and_flushes() {
    if !can_serve_files("a volume as a file", false) {
        return;
    }
    let lab = Lab::new();
    let folder = empty_folder(&lab, "d");
    let served = Served::start(&lab, &["gp3:1GiB", "--fuse", text(&folder), "--name", "db"]);
    let names = fs::read_dir(&folder).expect("served").flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["volume"]);
    // It was opened to be emptied, which a device does not heed.
    let file = volume(&folder);
    let facts = file.metadata().expect("served");
    let mode = facts.permissions().mode() & 0o777;
    assert_eq!((facts.len(), mode), (1 << 30, 0o600));

    file.write_all_at(&[7; 8192], MIB).expect("written");
    file.sync_all().expect("flushed");
    assert_eq!(read(&file, MIB + 4096, 4096), [7; 4096]);
    let range = ["--punch-hole", "--offset", "1MiB", "--length", "4KiB"];
    let path = folder.join("volume");
    tool("fallocate", &[&range[..], &[text(&path)]].concat()).expect("freed");
    assert_eq!(read(&file, MIB, 8192), [[0; 4096], [7; 4096]].concat());

    // The end of a device.
    let size = facts.len();
    let mut bytes = [0; 4096];
    assert_eq!(file.read_at(&mut bytes, size).expect("the end"), 0);
    let full = file.write_at(&bytes, size).expect_err("no room");
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    assert!(file.set_len(0).is_err(), "a volume has its size");
    assert!(File::create(folder.join("other")).is_err(), "one file");
    drop(file);
    assert_eq!(served.end(), Some(0));
    assert_eq!(traces(text(&folder)), [""; 0]);

    let record = lab.store().load("db").expect("found by its name").record;
    let ios = |direction| record.measurements[0].jobs[0].directions[&direction].ios;
    use blocklab_workload::Direction::{Read, Sync, Trim, Write};
    // `fallocate` flushes, too.
    assert_eq!([Read, Write, Trim, Sync].map(ios), [2, 1, 1, 2]);
}

/// The story: the file of a volume, which a loop device showed as a mounted disk, backed the volume a second
/// time. Both wrote to it.
#[test]
fn a_file_behind_a_loop_device_backs_no_volume() {
    if !can_serve_files("a volume's file behind a loop device", true) {
        return;
    }
    let lab = Lab::new();
    let arguments = [
        "null",
        "--size",
        "1MiB",
        "--backing",
        "f",
        "--nbd",
        "unix:s",
    ];
    let served = Served::start(&lab, &arguments);
    assert_eq!(served.end(), Some(0));
    let file = lab.path().join("f");
    let device = tool("losetup", &["--find", "--show", text(&file)]).expect("a loop device");
    let refused = lab.blocklab([&["emulate"][..], &arguments].concat());
    tool("losetup", &["--detach", device.trim()]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let words = format!("is the backing of the loop device {}", device.trim());
    assert!(refused.err.contains(&words), "{}", refused.err);
}

/// As the kernel numbers them.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// What is injected has to come through the kernel's file system as well: errors by their number, a
/// latency as a wait, and a power cut without the page cache making up for what was lost.
#[test]
fn faults_reach_those_who_use_the_file() {
    if !can_serve_files("faults of a volume as a file", false) {
        return;
    }
    let lab = Lab::new();
    let folder = empty_folder(&lab, "d");
    let arguments = ["gp3:1GiB", "--no-save", "--control", "unix:c", "--fuse"];
    let served = Served::start(&lab, &[&arguments[..], &[text(&folder)]].concat());
    let control = |command: &str| {
        let words = ["emulate-ctl", "unix:c"].into_iter();
        good(lab.blocklab(words.chain(command.split(' '))));
    };
    let file = volume(&folder);
    let errors = || {
        let mut page = [0; 4096];
        let read = file.read_at(&mut page, 0).map(drop);
        let written = file.write_at(&[2; 4096], 0).map(drop);
        [read, written, file.sync_all()].map(|done| done.err().and_then(|err| err.raw_os_error()))
    };
    file.write_all_at(&[1; 4096], 0).expect("written");
    assert_eq!(errors(), [None; 3]);
    control("fault error 100% --on read");
    assert_eq!(errors(), [Some(EIO), None, None]);
    control("fault clear");
    control("fault error 100% --on write --errno ENOSPC");
    assert_eq!(errors(), [None, Some(ENOSPC), Some(ENOSPC)]);
    control("fault clear");
    control("fault latency +200ms --on read");
    let begun = Instant::now();
    assert_eq!(read(&file, 0, 4096), [2; 4096]);
    assert!(begun.elapsed() >= Duration::from_millis(200));
    control("fault clear");

    file.write_all_at(&[3; 4096], 0).expect("written");
    control("fault power-cut");
    assert_eq!(errors(), [Some(EIO); 3]);
    control("fault attach");
    assert_eq!(read(&file, 0, 4096), [2; 4096], "what was flushed");
    control("fault bitflip 3");
    let flipped = read(&file, 0, 4096)
        .iter()
        .map(|byte| (byte ^ 2).count_ones())
        .sum::<u32>();
    assert_eq!(flipped, 3);
    drop(file);
    assert_eq!(served.end(), Some(0));
}

#[test]
fn file_systems_live_on_the_block_device_and_nothing_is_left_of_it() {
    if !can_serve_files("a volume as a block device", true) {
        return;
    }
    for (make, check) in [
        (["mkfs.ext4", "-q"], ["fsck.ext4", "-fn"]),
        (["mkfs.xfs", "-q"], ["xfs_repair", "-n"]),
    ] {
        let lab = Lab::new();
        let served = Served::start(&lab, &["null", "--size", "512MiB", "--block", "--no-save"]);
        let device = served.device().to_owned();
        let Some(_) = tool(make[0], &[make[1], &device]) else {
            continue;
        };
        let mount = Mount::new(&device).expect("a file system");
        let content: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        for name in ["a", "b"] {
            let mut file = File::create(mount.path().join(name)).expect("a file");
            file.write_all(&content).expect("written");
            file.sync_all().expect("flushed");
        }
        fs::remove_file(mount.path().join("b")).expect("ours");
        tool("fstrim", &[text(mount.path())]).expect("freed");
        drop(mount);
        tool(check[0], &[check[1], &device]).expect("a sound file system");
        let again = Mount::new(&device).expect("a file system");
        let kept = fs::read(again.path().join("a")).expect("there");
        assert!(kept == content, "{}: other bytes", make[0]);
        drop(again);
        assert_eq!(served.end(), Some(0), "{}", make[0]);
        assert_eq!(traces(&format!("{device} ")), [""; 0]);
    }
}

/// A server that is killed leaves a mount that gives errors, a device over it, its folder and its
/// sockets. The next one finds them by their own marks; what somebody else made stays. The socket of
/// `--control` was in no note and stayed for ever.
#[test]
fn the_next_server_undoes_what_a_killed_one_left() {
    if !can_serve_files("what a killed server left", true) {
        return;
    }
    let lab = Lab::new();
    let folder = empty_folder(&lab, "d");
    let sockets = ["s", "c"].map(|name| lab.path().join(name));
    let [nbd, control] = sockets
        .each_ref()
        .map(|path| format!("unix:{}", text(path)));
    let all = ["null", "--size", "64MiB", "--no-save", "--block", "--fuse"];
    let own = [text(&folder), "--nbd", &nbd, "--control", &control];
    let all = [&all[..], &own].concat();
    let killed = Served::start(&lab, &all);
    let device = killed.device().to_owned();
    let own = Served::start(&lab, &["null", "--size", "64MiB", "--no-save", "--block"]);
    killed.kill();

    let other = empty_folder(&lab, "e");
    let next = ["null", "--size", "64MiB", "--no-save", "--fuse"];
    let next = Served::start(&lab, &[&next[..], &[text(&other)]].concat());
    assert_eq!(traces(text(&folder)), [""; 0], "{}", next.printed);
    assert!(
        !sockets.iter().any(|socket| socket.exists()),
        "the sockets are gone"
    );
    assert!(folder.exists(), "the folder was there before");
    let behind = traces(own.device());
    assert!(
        !behind.is_empty(),
        "a server that lives keeps {device} and its own"
    );
    assert_eq!((own.end(), next.end()), (Some(0), Some(0)));
}

#[test]
fn who_still_uses_the_volume_is_named_and_waited_for() {
    if !can_serve_files("a volume in use", true) {
        return;
    }
    let lab = Lab::new();
    let folder = empty_folder(&lab, "d");
    let arguments = ["null", "--size", "1MiB", "--no-save", "--fuse"];
    let mut command = lab.command();
    command.arg("emulate").args(arguments).arg(&folder);
    command.stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut words = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    let served = Served::started(child);
    let mut line = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut words, &mut line).expect("text");
        line
    };
    assert!(line().starts_with("Serving"));
    assert!(line().contains("/d/volume"));
    let file = volume(&folder);
    tool("kill", &["-INT", &served.pid()]).expect("our child runs");
    let told = line();
    assert!(told.starts_with("Still in use: "), "{told}");
    assert!(
        told.contains(&format!("process {}", std::process::id())),
        "{told}"
    );
    // It serves until then.
    file.write_all_at(&[1; 512], 0).expect("written");
    drop(file);
    assert_eq!(served.ended(), Some(0));
}

#[test]
fn folders_that_cannot_be_mounted_on_are_refused_in_a_line() {
    let lab = Lab::new();
    let full = empty_folder(&lab, "full");
    fs::write(full.join("photo.jpg"), b"precious").expect("a file");
    let check = |folder: &str, words: &str| {
        let arguments = ["emulate", "null", "--size", "1MiB", "--no-save", "--fuse"];
        lab.refused([&arguments[..], &[folder]].concat(), &[words]);
    };
    check("nonesuch", "mkdir");
    check("full", "is not empty");
    check("full/photo.jpg", "is no folder");
    check("a\u{1b}[31m", r"a\u001b[31m is not there");
    let none = lab.blocklab(["emulate", "null", "--size", "1MiB"]);
    assert!(
        none.err.contains("--nbd <WHERE>|--fuse <DIR>|--block"),
        "{}",
        none.err
    );
    if can_serve_files("a folder that is served", false) {
        let folder = empty_folder(&lab, "d");
        let arguments = ["null", "--size", "1MiB", "--no-save", "--fuse", "d"];
        let served = Served::start(&lab, &arguments);
        check("d", "has fuse.blocklab mounted on it");
        assert_eq!(served.end(), Some(0));
        assert_eq!(traces(text(&folder)), [""; 0]);
    }
}

/// Half a second of its rate may be saved up. So a machine that holds up the server or the client
/// for less loses nothing in the end, and the rate of the whole does not depend on the machine.
const LIMITED: &str = r#"
    name = "1,000 IOPS"
    [[volume]]
    kind = "limited"
    capacity = "64MiB"
    [[volume.cap]]
    name = "volume IOPS"
    rate = "1000 IOPS"
    bucket = "500ms"
    [volume.service]
    read = { base = "1ms" }
    write = { base = "1ms" }
    spread = { sigma = 0.0 }
"#;

/// 2,048 operations, of which 500 are saved up: 1.55 s.
const LOAD: &str = r#"
    name = "clocks"
    [[case]]
    name = "clocks"
    engine = "libaio"
    access = "direct"
    depth = 8
    block_size = "4KiB"
    size = "64MiB"
    stop_bytes = "8MiB"
"#;

fn iops(record: &Record) -> f64 {
    let job = &record.measurements[0].jobs[0];
    let completed = job.accounting.completed as f64;
    completed / (job.elapsed_ns as f64 / 1e9)
}

/// Runs a load on a described device in virtual time, and on our own served volume in real time.
struct Clocks {
    lab: Lab,
    device: String,
}

impl Clocks {
    fn new(device: &str, load: &str) -> Self {
        let lab = Lab::new();
        lab.write("device.toml", device);
        lab.write("load.toml", load);
        empty_folder(&lab, "d");
        let device = device.to_owned();
        Self { lab, device }
    }

    fn run(&self, target: &str, name: &str) -> Record {
        let words = [
            "run",
            "load.toml",
            "--quiet",
            "--seed",
            "1",
            "--name",
            name,
            "--target",
        ];
        good(self.lab.blocklab(words.into_iter().chain([target])));
        self.lab.store().load(name).expect("kept").record
    }

    fn modelled(&self) -> Record {
        self.run("sim:./device.toml", "virtual")
    }

    fn real(&self, served: &[&str], name: &str) -> Record {
        let common = ["--no-save", "--fuse", "d"];
        let served = Served::start(&self.lab, &[served, &common[..]].concat());
        let found = self.run("d/volume", name);
        assert_eq!(served.end(), Some(0), "{}", self.device);
        found
    }
}

/// The proof of the house: the same load on the same device gives the same rate in real time, on
/// our own served volume, as in virtual time. Nothing can be faster than the limit, on whatever
/// machine: 1 % is for the first and the last operation. A machine that stands still for longer than
/// the bucket lasts makes it slower; then the best of three counts.
#[test]
fn real_and_virtual_time_give_the_same_rate() {
    if !can_serve_files("the same load in two clocks", false) {
        return;
    }
    let clocks = Clocks::new(LIMITED, LOAD);
    let expected = iops(&clocks.modelled());
    let mut best = 0.0f64;
    for number in 1..=3 {
        let found = clocks.real(&["./device.toml"], &format!("real{number}"));
        best = best.max(iops(&found) / expected);
        assert!(best < 1.01, "faster than the limit: {best}");
        if best > 0.99 {
            return;
        }
    }
    panic!("slower than the limit, three times: {best}");
}

/// Latencies of 17 ms in the middle and 55 ms at the 99th percentile, and no limit.
const SCATTERED: &str = r#"
    name = "scattered"
    [[volume]]
    kind = "scattered"
    capacity = "64MiB"
    [volume.service]
    read = { base = "20ms" }
    write = { base = "20ms" }
    spread = { sigma = 0.5 }
"#;

/// 4,096 operations, 2.6 s.
const DEEP: &str = r#"
    name = "clocks"
    [[case]]
    name = "clocks"
    engine = "libaio"
    access = "direct"
    depth = 32
    block_size = "4KiB"
    size = "64MiB"
    stop_bytes = "16MiB"
"#;

/// Median, 90th and 99th percentile.
fn latencies(record: &Record) -> [f64; 3] {
    let direction = &record.measurements[0].jobs[0].directions[&Direction::Read];
    let histogram = direction.service.histogram().expect("a histogram");
    [0.5, 0.9, 0.99].map(|q| histogram.quantile(q) as f64)
}

/// And the same percentiles, less what the way to a volume without delay takes in the middle. Two
/// draws of 4,096 such latencies differ by 1.4 % in the median and by 4.1 % in the 99th percentile
/// (standard deviations), so 10 % are allowed; the seeds are given. A machine that is busy adds to all; then the best of three counts.
#[test]
fn real_and_virtual_time_give_the_same_percentiles() {
    if !can_serve_files("the same latencies in two clocks", false) {
        return;
    }
    let clocks = Clocks::new(SCATTERED, DEEP);
    let expected = latencies(&clocks.modelled());
    let undelayed = ["null", "--size", "64MiB"];
    let mut found = Vec::new();
    for number in 1..=3 {
        let [way, ..] = latencies(&clocks.real(&undelayed, &format!("way{number}")));
        let real = latencies(&clocks.real(&["./device.toml"], &format!("real{number}")));
        let ratios = [0, 1, 2].map(|nth| (real[nth] - way) / expected[nth]);
        assert!(
            ratios.iter().all(|ratio| *ratio > 0.9),
            "too quick: {ratios:?}"
        );
        if ratios.iter().all(|ratio| *ratio < 1.1) {
            return;
        }
        found.push(ratios);
    }
    panic!("too slow, three times: {found:?}");
}

/// What the two tests above allow is less than a device differs that is 2 % faster, or 15 % slower.
#[test]
fn another_device_differs_by_more_than_is_allowed() {
    let other = |device: &str, from: &str, to: &str, load| {
        assert!(device.contains(from), "{device}");
        let modelled = |device: &str| Clocks::new(device, load).modelled();
        (modelled(device), modelled(&device.replace(from, to)))
    };
    let (this, faster) = other(LIMITED, "1000 IOPS", "1020 IOPS", LOAD);
    let ratio = iops(&faster) / iops(&this);
    assert!(ratio > 1.01, "{ratio}");
    let (this, slower) = other(SCATTERED, "20ms", "23ms", DEEP);
    let (this, slower) = (latencies(&this), latencies(&slower));
    let ratios = [0, 1, 2].map(|nth| slower[nth] / this[nth]);
    assert!(ratios.iter().all(|ratio| *ratio > 1.1), "{ratios:?}");
}
