//! `blocklab trace record`: records the operations of a block device while other programs use it.
//!
//! ```text
//!   a new instance of tracefs ─▶ trace_pipe ─▶ Events ─▶ sorted by time ─▶ blocklab's format
//! ```
//!
//! The kernel's own events are read: no other program is needed, and other users of tracefs are not
//! disturbed. Where tracefs is not mounted, it is mounted in a new mount namespace, so that no other
//! process sees the mount.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use blocklab_console::{listen, place, terminal};
use blocklab_results::output::{self, Draft, Over};
use blocklab_trace::kernel_text::{Events, KernelText};
use blocklab_trace::stored::Writer;
use blocklab_trace::{Moment, Sorted, Source};
use blocklab_units::{Bytes, Nanos, agreeing, plural, trimmed};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::time::{ClockId, clock_gettime};

use blocklab_args::TraceRecordArgs;

const TRACEFS: &str = "/sys/kernel/tracing";
const EVENTS: [&str; 3] = ["block_rq_issue", "block_rq_requeue", "block_rq_complete"];
/// The buffer of each processor. It is read all the time, so it has to hold only what comes while this
/// process is not scheduled.
const BUFFER_KIB: &str = "8192";
const ELSEWHERE: &str = "on a machine where that is not possible, record with `perf record -e \
                         block:block_rq_issue,block:block_rq_complete -a` or with blktrace, and import \
                         what `perf script` or blkparse prints";

/// Records until the time is over or Ctrl-C.
pub fn record(args: &TraceRecordArgs) -> Result<()> {
    if args.output.as_os_str() == "-" {
        bail!(
            "a recording goes to a file: name one with -o; `blocklab trace import FILE -o -` prints it"
        );
    }
    let (device, is_part) = device(&args.device)?;
    if !rustix::process::geteuid().is_root() {
        bail!("recording needs root, to read the kernel's events in tracefs; {ELSEWHERE}");
    }
    output::try_out(&args.output, Over::forced(args.force))?;
    // Before the instance exists: a signal from here on ends the loop below, which removes it.
    let interrupted = listen()?;
    let instance = Instance::new(&tracefs()?, device)?;
    let mut draft = Draft::create(&args.output, Over::forced(args.force))?;
    // Events carry the monotonic clock; the header of the file has the same moment by the wall clock.
    let wall = jiff::Timestamp::now().as_nanosecond();
    let now = clock_gettime(ClockId::Monotonic);
    let zero = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    let began = Instant::now();
    let pipe = instance.begin(Duration::from_nanos(args.length.0), &interrupted)?;
    // Whoever reads this line may begin the load that is to be recorded.
    terminal::inform(&format!(
        "recording {} for {}; Ctrl-C ends it earlier",
        args.device.display(),
        args.length
    ));
    let events = Events::new(BufReader::new(pipe), KernelText::Events, Moment::Issue);
    let mut source = Sorted::new(events);
    let begins = u64::try_from(wall).ok();
    let written = write_recording(&mut source, &mut draft, (begins, zero), &instance, is_part);
    // A load does not come a second time, and a trace without its end can be read.
    draft.keep();
    let output = args.output.display();
    let (operations, bytes, remarks) = written.with_context(|| {
        format!("the recording broke off, and {output} has what was written until then")
    })?;
    let mut text = format!(
        "{output}: {} in {} s, {}; recording took {} % of one processor\n",
        plural(operations as usize, "operation"),
        trimmed(began.elapsed().as_secs_f64(), 1),
        Bytes(bytes),
        trimmed(
            100.0 * processor_time().as_secs_f64() / began.elapsed().as_secs_f64(),
            1
        )
    );
    for remark in &remarks {
        text.push_str(&format!("  - {remark}\n"));
    }
    terminal::print(text)
}

/// Writes the trace until the recording ends, and returns its operations, bytes and remarks. `begins`
/// and `zero`: its beginning by the wall clock and by the clock of the events, in nanoseconds.
fn write_recording(
    source: &mut impl Source,
    output: &mut Draft,
    (begins, zero): (Option<u64>, u64),
    instance: &Instance,
    is_part: bool,
) -> Result<(u64, u64, Vec<String>)> {
    let mut writer = Writer::new(BufWriter::new(output), begins)?;
    while let Some(mut operation) = source
        .next()
        .map_err(|error| anyhow::anyhow!("cannot read the events of tracefs: {error}"))?
    {
        // Times in the file count from the start of the recording.
        operation.at = Nanos(operation.at.0.saturating_sub(zero));
        writer.add(operation, source.targets())?;
    }
    let overrun = instance.overrun();
    let mut remarks = source.remarks();
    if overrun > 0 {
        remarks.push(overwritten(overrun as usize));
    }
    if is_part {
        remarks
            .push("offsets are those of the whole disk, of which a partition was named".to_owned());
    }
    for remark in &remarks {
        writer.remark(remark)?;
    }
    let (operations, bytes) = writer.end()?;
    Ok((operations, bytes, remarks))
}

/// Processor time of this process so far, in user and kernel mode.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// The device number of the disk that a path names, and whether the path is a partition of it. Events
/// carry the number of the whole disk.
fn device(path: &Path) -> Result<(u64, bool)> {
    let facts = fs::metadata(path).with_context(|| {
        format!(
            "cannot look at {}; `blocklab devices` lists what there is in /dev",
            path.display()
        )
    })?;
    if !facts.file_type().is_block_device() {
        bail!(
            "{} is no block device: name the one that holds it (`findmnt -no SOURCE -T {}`)",
            path.display(),
            place::shell_word(&path.display().to_string())
        );
    }
    let (major, minor) = (
        rustix::fs::major(facts.rdev()),
        rustix::fs::minor(facts.rdev()),
    );
    let node = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let is_part = node.join("partition").exists();
    let file = if is_part { "../dev" } else { "dev" };
    let node = node.canonicalize().unwrap_or(node);
    let number = fs::read_to_string(node.join(file)).context("sysfs does not know the device")?;
    let parts = number.trim().split_once(':');
    let (major, minor) = parts.context("sysfs does not know the device")?;
    // The filter of events compares the kernel's own encoding, with 20 bits for the minor number.
    Ok((major.parse::<u64>()? << 20 | minor.parse::<u64>()?, is_part))
}

/// The directory of tracefs. If it is not mounted, this mounts it for this process alone.
fn tracefs() -> Result<PathBuf> {
    let known = [TRACEFS, "/sys/kernel/debug/tracing"].map(PathBuf::from);
    if let Some(there) = known.iter().find(|path| path.join("instances").is_dir()) {
        return Ok(there.clone());
    }
    if !Path::new(TRACEFS).is_dir() {
        bail!("this kernel has no tracefs ({TRACEFS} is missing); {ELSEWHERE}");
    }
    mount_alone().with_context(|| format!("tracefs is not mounted and cannot be; {ELSEWHERE}"))?;
    Ok(PathBuf::from(TRACEFS))
}

/// Mounts tracefs in a mount namespace of this process.
fn mount_alone() -> io::Result<()> {
    // SAFETY: the call is unsafe where it unshares the table of file descriptors; NEWNS does not.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }?;
    // A copied namespace still propagates mounts to the old one until its mounts are private.
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags)?;
    mount(
        "tracefs",
        TRACEFS,
        "tracefs",
        MountFlags::empty(),
        None::<&std::ffi::CStr>,
    )?;
    Ok(())
}

/// An instance of tracefs, with its own buffer and events; it is removed when the value is dropped.
struct Instance {
    folder: PathBuf,
}

impl Instance {
    /// Creates the instance, with a filter for the events of one device. Nothing is recorded yet.
    fn new(tracefs: &Path, device: u64) -> Result<Self> {
        let name = format!("blocklab-{}", std::process::id());
        let folder = tracefs.join("instances").join(name);
        fs::create_dir(&folder).with_context(|| {
            format!(
                "cannot make an instance in {}; {ELSEWHERE}",
                tracefs.display()
            )
        })?;
        // From here on an error drops the value, which removes the folder.
        let instance = Self { folder };
        // The clock of `clock_gettime`, so that `record` can subtract the start.
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", BUFFER_KIB)?;
        for event in EVENTS {
            instance.set(
                &format!("events/block/{event}/filter"),
                &format!("dev == {device}"),
            )?;
        }
        Ok(instance)
    }

    /// Writes a value into one of the instance's control files.
    fn set(&self, file: &str, value: &str) -> Result<()> {
        let path = self.folder.join(file);
        let written = fs::write(&path, value);
        written.with_context(|| {
            format!(
                "cannot set {} of tracefs to {value}; {ELSEWHERE}",
                path.display()
            )
        })
    }

    /// Opens the pipe, then enables the events, so that none is missed.
    fn begin<'a>(&'a self, length: Duration, interrupted: &'a AtomicBool) -> Result<Pipe<'a>> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.folder.join("trace_pipe"))?;
        for event in EVENTS {
            self.set(&format!("events/block/{event}/enable"), "1")?;
        }
        Ok(Pipe {
            file,
            instance: self,
            until: Instant::now() + length,
            interrupted,
            is_over: false,
        })
    }

    /// Events that were overwritten on any processor.
    fn overrun(&self) -> u64 {
        let entries = fs::read_dir(self.folder.join("per_cpu"));
        let stats = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let text = fs::read_to_string(entry.path().join("stats")).ok()?;
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("overrun: "))?;
            line.trim().parse::<u64>().ok()
        });
        stats.sum()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("tracing_on"), "0");
        // This fails while a reader has the pipe open. Nothing can be done about it here, and the
        // instance costs no more than its buffer until the next boot.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Reads the events as they come, and ends at a given moment or a signal.
struct Pipe<'a> {
    file: File,
    instance: &'a Instance,
    until: Instant,
    interrupted: &'a AtomicBool,
    is_over: bool,
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let is_time = Instant::now() >= self.until || self.interrupted.load(Ordering::Relaxed);
            // What is in the buffer when recording stops is still read, up to the first empty read.
            if is_time && !self.is_over {
                self.is_over = true;
                fs::write(self.instance.folder.join("tracing_on"), "0")?;
            }
            match self.file.read(buffer) {
                Err(why) if why.kind() == ErrorKind::WouldBlock && self.is_over => return Ok(0),
                // A blocking read would not notice the end of the recording while the disk is idle.
                Err(why) if why.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => return other,
            }
        }
    }
}

/// What the kernel's buffer lost, as no one read it in time.
fn overwritten(events: usize) -> String {
    format!(
        "{} {} overwritten before {} read",
        plural(events, "event"),
        agreeing(events, "was", "were"),
        agreeing(events, "it was", "they were")
    )
}
