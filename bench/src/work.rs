//! The same work in both languages, and the bar.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Operations for a second of processor time.
    IosPerCpuSecond,
    /// Nanoseconds of processor time for an operation.
    CpuPerIo,
    /// Operations per second of wall time.
    Iops,
    /// Milliseconds from start to exit.
    WallMillis,
    /// Peak resident size.
    PeakKib,
}

/// What the columns mean.
pub const LEGEND: &str = "I/Os per CPU-second of the whole process, or CPU nanoseconds per I/O, \
or IOPS, or milliseconds, or KiB, as the name says; ratio blocklab / fio";

/// One piece of work.
#[derive(Debug, Clone)]
pub struct Bench {
    pub name: String,
    pub quantity: Quantity,
    pub bar: f64,
    pub less_is_better: bool,
    pub needs_device: bool,
    /// Its own length; there is one pair of it only.
    pub seconds: Option<u64>,
    target: Target,
    native: String,
    fio: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Null,
    Zero,
    Cached,
    Device,
    Disk,
    /// Files that the work makes and removes.
    Folder,
}

/// Where the work is done.
#[derive(Debug)]
pub struct Place {
    pub device: Option<PathBuf>,
    cached: PathBuf,
    disk: PathBuf,
    folder: PathBuf,
}

const CACHED_BYTES: usize = 256 << 20;
const DISK_BYTES: usize = 1 << 30;

impl Place {
    /// Makes the files.
    pub fn prepare(directory: &Path, device: Option<PathBuf>) -> Result<Self> {
        let file = |name: &str, size: usize| -> Result<PathBuf> {
            let path = directory.join(format!("blocklab-bench-{}-{name}", std::process::id()));
            let mut file = fs::File::create(&path)
                .with_context(|| format!("cannot make {}", path.display()))?;
            // Not zeros: a device may store those for free. In small pieces: a child begins with
            // our own resident size.
            let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8;
            let chunk: Vec<u8> = (0..1 << 20).map(noise).collect();
            for _ in 0..size >> 20 {
                file.write_all(&chunk)?;
            }
            file.sync_all()?;
            Ok(path)
        };
        let folder = directory.join(format!("blocklab-bench-{}-files", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self {
            device,
            folder,
            cached: file("cached", CACHED_BYTES)?,
            disk: file("disk", DISK_BYTES)?,
        })
    }

    fn path(&self, target: Target) -> String {
        match target {
            Target::Null => "null".to_owned(),
            Target::Zero => "/dev/zero".to_owned(),
            Target::Cached => self.cached.display().to_string(),
            Target::Disk => self.disk.display().to_string(),
            Target::Folder => self.folder.display().to_string(),
            Target::Device => self
                .device
                .as_ref()
                .map_or_else(String::new, |d| d.display().to_string()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.cached);
        let _ = fs::remove_file(&self.disk);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    /// Blocklab's study and further arguments.
    pub fn ours(&self, place: &Place, seconds: u64) -> (String, Vec<String>) {
        let path = place.path(self.target);
        let runtime = if self.native.contains("stop_bytes") {
            String::new()
        } else {
            format!("runtime = \"{seconds}s\"\n")
        };
        let study = format!(
            "name = \"bench\"\nseed = 1\npasses = 1\n[[case]]\nname = \"bench\"\n{runtime}{}",
            self.native
        );
        let mut arguments = vec!["--target".to_owned(), path.clone()];
        if self.native.contains("write") {
            arguments.push(format!("--destroy-data={path}"));
        }
        (study, arguments)
    }

    /// Work that blocklab is told in a parameter file of Vdbench: that file.
    pub fn parameters(&self, place: &Place, seconds: u64) -> Option<String> {
        let file = self.native.strip_prefix(VDBENCH)?;
        let file = file.replace("$lun", &place.path(self.target));
        // The first of its seconds is no part of the average.
        Some(file.replace("$elapsed", &(seconds + 1).to_string()))
    }

    /// The command line of DiskSpd, where the work is told in one.
    pub fn line(&self, place: &Place, seconds: u64) -> Option<String> {
        let line = self.native.strip_prefix(DISKSPD)?;
        let path = place.path(self.target);
        Some(format!(
            "{line} -W0 -d{seconds} --destroy-data={path} {path}"
        ))
    }

    /// Whether blocklab is told the same as fio, in fio's words.
    pub fn is_told_to_both(&self) -> bool {
        self.native == AS_FIO
    }

    /// fio's options.
    pub fn theirs(&self, place: &Place, seconds: u64) -> Vec<String> {
        let fio = self.fio.replace("$folder", &place.path(Target::Folder));
        let options = fio.split_whitespace().map(|option| format!("--{option}"));
        let mut options: Vec<String> = options.collect();
        match self.target {
            Target::Null => {}
            Target::Folder => options.push(format!("--directory={}", place.path(self.target))),
            _ => options.push(format!("--filename={}", place.path(self.target))),
        }
        if self.target != Target::Folder && !self.fio.contains("io_size") {
            options.extend(["--time_based=1".to_owned(), format!("--runtime={seconds}")]);
        }
        options.push("--randseed=1".to_owned());
        options
    }

    fn new(name: &str, bar: f64, target: Target, native: &str, fio: &str) -> Self {
        Self {
            name: name.to_owned(),
            quantity: Quantity::IosPerCpuSecond,
            bar,
            less_is_better: false,
            needs_device: target == Target::Device,
            seconds: None,
            target,
            native: native.replace("; ", "\n"),
            fio: fio.to_owned(),
        }
    }

    fn of(self, quantity: Quantity) -> Self {
        let less_is_better = !matches!(quantity, Quantity::Iops | Quantity::IosPerCpuSecond);
        Self {
            quantity,
            less_is_better,
            ..self
        }
    }
}

/// All work, in the order of the table.
pub fn all(memory_seconds: u64) -> Vec<Bench> {
    [
        null(),
        zero(),
        cached(),
        device(),
        many_jobs(memory_seconds),
        disk(),
        vdbench(),
        diskspd(),
        verify(),
        set_up(),
    ]
    .concat()
}

fn null() -> Vec<Bench> {
    let native = |depth| format!("engine = \"null\"; depth = {depth}");
    let fio =
        |depth| format!("ioengine=null rw=randread bs=4k size=1g norandommap=1 iodepth={depth}");
    let bench = |depth, bar| {
        Bench::new(
            &format!("null, 4 KiB random, depth {depth}"),
            bar,
            Target::Null,
            &native(depth),
            &fio(depth),
        )
    };
    vec![bench(1, 2.5), bench(32, 4.0)]
}

const BEST: &str = "fixedbufs=1 registerfiles=1 iodepth_batch=16 iodepth_batch_complete_min=1 iodepth_batch_complete_max=16";

fn zero() -> Vec<Bench> {
    let native = |engine: &str, depth, batch| {
        format!(
            "engine = \"{engine}\"; access = \"buffered\"; depth = {depth}; batch_submit = {batch}; size = \"1GiB\""
        )
    };
    let fio = |engine: &str, depth, more: &str| {
        format!("ioengine={engine} rw=randread bs=4k size=1g norandommap=1 iodepth={depth} {more}")
    };
    let mut benches = Vec::new();
    for depth in [32, 128] {
        let name = format!("io_uring on /dev/zero, depth {depth}");
        let ours = native("io_uring", depth, 16);
        benches.push(Bench::new(
            &format!("{name}, fio at its best"),
            1.25,
            Target::Zero,
            &ours,
            &fio("io_uring", depth, BEST),
        ));
        benches.push(Bench::new(
            &format!("{name}, fio's defaults"),
            2.2,
            Target::Zero,
            &ours,
            &fio("io_uring", depth, ""),
        ));
    }
    for (engine, bar) in [("psync", 1.5), ("pvsync2", 1.35)] {
        benches.push(Bench::new(
            &format!("{engine} on /dev/zero"),
            bar,
            Target::Zero,
            &native(engine, 1, 0),
            &fio(engine, 1, ""),
        ));
    }
    benches
}

fn cached() -> Vec<Bench> {
    let native = |depth| {
        format!("engine = \"io_uring\"; access = \"buffered\"; depth = {depth}; batch_submit = 16")
    };
    let fio = |depth, more: &str| {
        format!(
            "ioengine=io_uring rw=randread bs=4k norandommap=1 invalidate=0 iodepth={depth} {more}"
        )
    };
    let mut benches = Vec::new();
    for depth in [32, 128] {
        let name = format!("io_uring, cached file, depth {depth}");
        let bench = |name: String, bar, more| {
            Bench::new(
                &name,
                bar,
                Target::Cached,
                &native(depth),
                &fio(depth, more),
            )
        };
        benches.push(bench(format!("{name}, fio at its best"), 1.2, BEST));
        benches.push(bench(format!("{name}, fio's defaults"), 1.5, ""));
    }
    benches
}

/// A RAM disk completes from another thread: collecting 16 at a time halves the cost on both sides,
/// so that is fio at its best here.
fn device() -> Vec<Bench> {
    let native = |engine: &str, depth| {
        let batch = if depth > 1 { 16 } else { 1 };
        format!(
            "engine = \"{engine}\"; access = \"direct\"; depth = {depth}; \
             batch_submit = {batch}; batch_complete = {batch}"
        )
    };
    let fio = |engine: &str, depth, more: &str| {
        format!("ioengine={engine} rw=randread bs=4k direct=1 norandommap=1 iodepth={depth} {more}")
    };
    let batch = "iodepth_batch=16 iodepth_batch_complete_min=16 iodepth_batch_complete_max=16";
    let best = &format!("fixedbufs=1 registerfiles=1 {batch}");
    let bench = |engine: &str, depth, bar, more: &str| {
        let name = format!("{engine}, O_DIRECT on the device, depth {depth}");
        Bench::new(
            &name,
            bar,
            Target::Device,
            &native(engine, depth),
            &fio(engine, depth, more),
        )
    };
    vec![
        bench("io_uring", 32, 1.1, best),
        bench("io_uring", 128, 1.1, best),
        bench("libaio", 32, 1.0, batch),
        bench("psync", 1, 1.3, ""),
    ]
}

fn many_jobs(memory_seconds: u64) -> Vec<Bench> {
    let jobs = Bench::new(
        "128 sync jobs on the disk, IOPS",
        1.0,
        Target::Disk,
        "engine = \"psync\"; access = \"direct\"; threads = 128",
        "ioengine=psync rw=randread bs=4k direct=1 norandommap=1 numjobs=128 group_reporting=1",
    );
    let start = Bench::new(
        "128 jobs, one I/O each, ms start to exit",
        0.5,
        Target::Disk,
        "engine = \"psync\"; access = \"direct\"; threads = 128; stop_bytes = \"4KiB\"",
        "ioengine=psync rw=randread bs=4k direct=1 norandommap=1 numjobs=128 group_reporting=1 io_size=4k",
    );
    let memory = Bench::new(
        "128 jobs and a series of seconds, peak KiB",
        0.5,
        Target::Disk,
        "engine = \"psync\"; access = \"direct\"; threads = 128; mix = { read = 70, write = 30 }; rate_iops = 1000",
        "ioengine=psync rw=randrw rwmixread=70 bs=4k direct=1 norandommap=1 numjobs=128 thread=1 \
         group_reporting=1 rate_iops=5,3 write_lat_log=$folder/log log_avg_msec=1000",
    );
    let memory = Bench {
        seconds: Some(memory_seconds),
        ..memory
    };
    vec![
        jobs.of(Quantity::Iops),
        start.of(Quantity::WallMillis),
        memory.of(Quantity::PeakKib),
    ]
}

fn disk() -> Vec<Bench> {
    let patterns = [
        ("random read", "random", "read", "randread", "4k", 32),
        ("random write", "random", "write", "randwrite", "4k", 32),
        ("sequential read", "sequential", "read", "read", "128k", 8),
        ("random read", "random", "read", "randread", "4k", 1),
    ];
    let mut benches = Vec::new();
    for (what, pattern, mix, rw, bs, depth) in patterns {
        let size = bs.replace('k', "KiB");
        let native = format!(
            "engine = \"io_uring\"; access = \"direct\"; pattern = \"{pattern}\"; mix = \"{mix}\"; block_size = \"{size}\"; depth = {depth}"
        );
        let fio = format!(
            "ioengine=io_uring rw={rw} bs={bs} direct=1 norandommap=1 iodepth={depth} size=1g {BEST}"
        );
        let bench = |name: String, bar| Bench::new(&name, bar, Target::Disk, &native, &fio);
        let name = format!("ext4, {what} {bs} depth {depth}");
        benches.push(bench(format!("{name}, IOPS"), 0.95).of(Quantity::Iops));
        benches.push(bench(format!("{name}, CPU ns per I/O"), 0.9).of(Quantity::CpuPerIo));
    }
    benches
}

/// Marks work that is told in a command line.
const DISKSPD: &str = "diskspd ";

fn diskspd() -> Vec<Bench> {
    let mut benches = Vec::new();
    for (target, place) in [(Target::Disk, "ext4"), (Target::Device, "device")] {
        for (what, line, fio) in [
            (
                "4K random reads, -o32",
                "-b4K -r -o32 -t1 -w0 -Sh",
                "rw=randread bs=4k norandommap=1 iodepth=32",
            ),
            (
                "64K half writes, -o4 -t2",
                "-b64K -r -o4 -t2 -w50 -Sh",
                "rw=randrw rwmixread=50 bs=64k norandommap=1 iodepth=4 numjobs=2",
            ),
            (
                "4K random reads, -o1",
                "-b4K -r -o1 -t1 -w0 -Sh",
                "rw=randread bs=4k norandommap=1 iodepth=1",
            ),
        ] {
            let engine = if fio.contains("iodepth=1") {
                "psync".to_owned()
            } else {
                format!("io_uring {BEST}")
            };
            // -Sh writes through.
            let fio = format!("ioengine={engine} direct=1 sync=dsync {fio}");
            let bench = |figure: &str, bar| {
                let name = format!("diskspd, {place}, {what}, {figure}");
                Bench::new(&name, bar, target, &format!("{DISKSPD}{line}"), &fio)
            };
            benches.push(bench("IOPS", 0.95).of(Quantity::Iops));
            benches.push(bench("CPU ns per I/O", 1.0).of(Quantity::CpuPerIo));
        }
    }
    benches
}

/// Marks work that is told in a parameter file.
const VDBENCH: &str = "* vdbench\n";

fn vdbench() -> Vec<Bench> {
    let mut benches = Vec::new();
    for (target, flags, direct) in [
        (Target::Disk, ",openflags=o_direct", "direct=1"),
        (Target::Cached, "", "invalidate=0"),
    ] {
        for threads in [1, 32] {
            let native = format!(
                "{VDBENCH}sd=sd1,lun=$lun{flags}\nwd=wd1,sd=sd1,xfersize=4k\n\
                 rd=rd1,wd=wd1,iorate=max,elapsed=$elapsed,interval=1,threads={threads}\n"
            );
            let fio = format!(
                "ioengine=io_uring rw=randread bs=4k norandommap=1 iodepth={threads} {direct} {BEST}"
            );
            let bench = |what: &str, bar| {
                let place = match target {
                    Target::Disk => "ext4",
                    _ => "cached",
                };
                let name = format!("vdbench, {place}, 4k, {threads} threads, {what}");
                Bench::new(&name, bar, target, &native, &fio)
            };
            benches.push(bench("IOPS", 0.95).of(Quantity::Iops));
            benches.push(bench("CPU ns per I/O", 1.0).of(Quantity::CpuPerIo));
        }
    }
    benches
}

/// Marks work that both are told in fio's words.
const AS_FIO: &str = "fio";

/// Writes a cached file and reads it back, each block with its checksum.
fn verify() -> Vec<Bench> {
    let mut benches = Vec::new();
    for kind in ["crc32c", "xxhash", "md5"] {
        for bs in ["4k", "64k"] {
            let fio = format!(
                "ioengine=psync rw=write bs={bs} size=192m io_size=192m verify={kind} verify_state_save=0 invalidate=0"
            );
            let name = format!("fio, verify={kind}, {bs} written and read, ms");
            let bench = Bench::new(&name, 1.0, Target::Cached, AS_FIO, &fio);
            benches.push(bench.of(Quantity::WallMillis));
        }
    }
    benches
}

/// Makes files, opens each, reads its one block, removes them. More of them than a process may have
/// open are only laid out; those that the load itself makes are all open at once with fio.
fn set_up() -> Vec<Bench> {
    let bench = |(files, what, options): (u32, &str, &str)| {
        let name = format!("fio, {what} of {files} files of 4 KiB, ms");
        let fio = format!("rw=randread filesize=4k nrfiles={files} unlink=1 {options}");
        Bench::new(&name, 1.0, Target::Folder, AS_FIO, &fio).of(Quantity::WallMillis)
    };
    [
        (1, "set-up", ""),
        (100, "set-up", ""),
        (10_000, "set-up", ""),
        (31_250, "layout", "create_only=1"),
        (16_000, "creation", "ioengine=filecreate fallocate=none"),
    ]
    .map(bench)
    .to_vec()
}
