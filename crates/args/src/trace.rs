//! Arguments of `blocklab trace`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use blocklab_native::WantedTrace;
use blocklab_units::Nanos;
use blocklab_workload::{ReplayPace, ReplayPlace};
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::FormArgs;

const EXAMPLES: &str = "\
Examples:
  blocklab trace record /dev/nvme1n1 --for 10min -o night.trace
  blocklab trace import night.blkparse -o night.trace
  blocklab trace show night.trace                     what the load is like
  blocklab trace fit night.trace --on gp3:100GiB      would this volume carry it?
  blocklab trace model night.trace > night.toml       a study like it";

/// `blocklab trace`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TraceArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// One verb of traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Record what a block device is asked to do (as root)
    Record(TraceRecordArgs),
    /// Read a trace of any format, and write it in blocklab's own: small, sorted, quick to read
    Import(TraceImportArgs),
    /// Show what a recorded load is like: mix, sizes, locality, bursts, pauses, the day's profile
    Show(TraceShowArgs),
    /// Say which volumes would have carried a recorded load, and what is the least that would
    Fit(TraceFitArgs),
    /// Print a study with the character of a recorded load, and how far it is from it
    Model(TraceModelArgs),
}

const FORMATS: &str = "\
Formats, detected by the first bytes where that is possible, else named with --input: blocklab, \
iolog (fio, versions 2 and 3), blktrace (binary), blkparse, perf (perf script and tracefs), biosnoop, \
xperf, cloudphysics (vscsiStats); tables: systor, msr, fiu, alibaba, tencent, blkreplay, and any \
other with --columns. What is compressed with gzip is unpacked. Tables of rates, for show and fit: \
iostat, sar -d, sadf -j, aws cloudwatch get-metric-statistics and get-metric-data, and the CSV of a \
graph in the CloudWatch console.";

/// What is read, and how.
#[derive(Debug, Clone, Args)]
pub struct TraceInput {
    /// Format of the files (default: detected)
    #[arg(long, value_name = "FORMAT", conflicts_with = "columns")]
    pub input: Option<String>,
    /// Columns of a table, such as time=Timestamp:us,op=Type,offset=LBA:sectors,length=Size,device=Disk
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// In traces of a kernel: which moment of an operation is its arrival
    #[arg(long, value_enum, default_value_t)]
    pub event: EventArg,
    /// Only operations of this device
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Length of an interval of a table of rates (iostat, sar, CloudWatch) that does not show it
    #[arg(long, value_name = "TIME")]
    pub every: Option<Nanos>,
    /// Leave out what comes earlier, since the beginning of the trace, such as 10min
    #[arg(long, value_name = "TIME")]
    pub from: Option<Nanos>,
    /// Leave out what comes then or later
    #[arg(long, value_name = "TIME")]
    pub until: Option<Nanos>,
}

impl TraceInput {
    /// The error where options of a trace are given without one.
    pub const NEEDS_A_TRACE: &str =
        "--input, --columns, --event, --device, --every, --from and --until are about a --trace";

    /// Whether any of these options is on the command line.
    pub fn is_given(&self) -> bool {
        let texts = [&self.input, &self.columns, &self.device];
        texts.into_iter().any(Option::is_some)
            || self.from.is_some()
            || self.until.is_some()
            || self.every.is_some()
            || self.event != EventArg::default()
    }
}

/// Which moment of an operation is its arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum EventArg {
    /// When the kernel gave it to the driver (D), with how long it took from there
    #[default]
    Issue,
    /// When the application queued it (Q)
    Queue,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  blocklab trace record /dev/nvme1n1 --for 10min -o night.trace

Issues and completions of the kernel are read from an instance of tracefs of its own, so no other \
program is needed, and none is disturbed. Names of processes are not recorded.";

/// `blocklab trace record`.
#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub struct TraceRecordArgs {
    /// The block device
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath)]
    pub device: PathBuf,
    /// How long; Ctrl-C ends it earlier
    #[arg(long = "for", value_name = "TIME", default_value = "1min")]
    pub length: Nanos,
    /// Where to write the trace; not on the recorded device
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long)]
    pub force: bool,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  blocklab trace import night.blkparse -o night.trace
  blocklab trace import sda.blktrace.0 sda.blktrace.1 -o sda.trace     a file for each processor
  blocklab trace import 2016022310-LUN3.csv.gz --input systor -o lun3.trace
  blocklab trace import io_traces.csv --device 17 -o disk17.trace
  blocklab trace import my.csv --columns time=When:ms,op=Type,offset=LBA:sectors,length=Bytes -o my.trace
  perf script | blocklab trace import - -o now.trace";

/// `blocklab trace import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES, after_long_help = format!("{FORMATS}\n\n{IMPORT_EXAMPLES}"))]
pub struct TraceImportArgs {
    /// The traces, which are merged by time (`-`: standard input)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Where to write the trace
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long)]
    pub force: bool,
    /// What is read
    #[command(flatten)]
    pub read: TraceInput,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  blocklab trace show night.trace
  blocklab trace show night.trace --from 3h --until 4h
  blocklab trace show src1_0.csv.gz --input msr --device src1_0
  blocklab trace show night.trace --format html --on gp3:100GiB --on st1:1TiB > night.html
  blocklab trace show night.trace --json | jq .rewritten_percent
  blocklab trace show iostat.txt --device nvme1n1     rates only: no operation is known";

/// `blocklab trace show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES, after_long_help = format!("{FORMATS}\n\n{SHOW_EXAMPLES}"))]
pub struct TraceShowArgs {
    /// The traces, which are merged by time (`-`: standard input)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// What is read
    #[command(flatten)]
    pub read: TraceInput,
    /// Leave out distances of reuse, which take half of the time
    #[arg(long)]
    pub no_reuse: bool,
    /// Show what this volume lets pass beside what comes at most in any window (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub on: Vec<String>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

const FIT_EXAMPLES: &str = "\
Examples:
  blocklab trace fit night.trace --on gp3:100GiB --on gp2:100GiB --on io2:100GiB,iops=2000
  blocklab trace fit night.trace --on gp3:1TiB@m5.xlarge --max-wait 20ms
  blocklab trace fit night.trace --on ./my-disk.toml --json | jq '.answers[].verdict'
  blocklab trace fit ops.json bytes.json --on gp3:1TiB   what CloudWatch printed, a file a metric";

/// `blocklab trace fit`.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES, after_long_help = format!("{FORMATS}\n\n{FIT_EXAMPLES}"))]
pub struct TraceFitArgs {
    /// The traces, which are merged by time
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// A volume: its address, or a device file (repeatable)
    #[arg(long, required = true, value_name = "ADDRESS")]
    pub on: Vec<String>,
    /// Longest time that an operation may wait for the limits of a volume that fits
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub max_wait: Nanos,
    /// Do not search for the smallest provision that would fit
    #[arg(long)]
    pub no_search: bool,
    /// What is read
    #[command(flatten)]
    pub read: TraceInput,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

const MODEL_EXAMPLES: &str = "\
Examples:
  blocklab trace model night.trace > night.toml
  blocklab run night.toml --target sim:gp3:100GiB
  blocklab trace model night.trace --from 1h --until 2h > hour.toml
  blocklab trace model night.trace --json | jq '.figures[]'       trace beside model

The study is not the trace: its comments say which figure comes from where, what a study cannot say, \
and how the operations that it generates differ from those of the trace.";

/// `blocklab trace model`.
#[derive(Debug, Args)]
#[command(after_help = MODEL_EXAMPLES, after_long_help = format!("{FORMATS}\n\n{MODEL_EXAMPLES}"))]
pub struct TraceModelArgs {
    /// The traces, which are merged by time
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// What is read
    #[command(flatten)]
    pub read: TraceInput,
    /// Print JSON: the study as text, and both loads figure by figure
    #[arg(long)]
    pub json: bool,
}

/// What takes the place of a trace. Clap drops `requires` where what is required conflicts with what is
/// given, so each option of a replay names these as well.
const NOT_A_TRACE: [&str; 3] = ["study", "rw", "again"];

/// The heading of the options of a replay.
pub(crate) const REPLAY_HEADING: &str = "A recorded load instead of a study";

/// A recorded load instead of a study.
#[derive(Debug, Args)]
#[command(next_help_heading = REPLAY_HEADING)]
pub struct ReplayArgs {
    /// Replay this trace, of any format that `blocklab trace` reads (several are merged)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["study", "rw", "again", "case", "runtime", "ramp", "size", "read_only"])]
    pub trace: Vec<PathBuf>,
    /// When operations are issued
    #[arg(
        long = "as",
        value_enum,
        value_name = "HOW",
        requires = "trace",
        conflicts_with_all = NOT_A_TRACE,
        default_value_t
    )]
    pub pace: PaceArg,
    /// Speed in per cent of the recorded one
    #[arg(long, value_name = "PERCENT", requires = "trace", conflicts_with_all = NOT_A_TRACE, default_value = "100", value_parser = speed)]
    pub speed: u64,
    /// Most operations in flight (default: 4194304 on sim:, else 1024 or fewer, 32 with --as fast)
    #[arg(long, value_name = "N", requires = "trace", conflicts_with_all = NOT_A_TRACE, value_parser = super::at_least_one)]
    pub max_in_flight: Option<NonZeroU32>,
    /// How often the load comes, as if there were as many users
    #[arg(long, value_name = "N", requires = "trace", conflicts_with_all = NOT_A_TRACE, default_value = "1", value_parser = super::at_least_one)]
    pub copies: NonZeroU32,
    /// How much later each copy begins than the one before
    #[arg(long, value_name = "TIME", requires = "copies", conflicts_with_all = NOT_A_TRACE, default_value = "37s")]
    pub shift: Nanos,
    /// Let an operation wait while another one on the same bytes is in flight
    #[arg(long, requires = "trace", conflicts_with_all = NOT_A_TRACE)]
    pub in_order: bool,
    /// Issue the trims of the trace on a real target, too
    #[arg(long, requires = "trace", conflicts_with_all = NOT_A_TRACE)]
    pub trims: bool,
    /// Offsets beyond the target begin anew at its start
    #[arg(long, requires = "trace", conflicts_with_all = ["scale", "compact", "study", "rw", "again"])]
    pub wrap: bool,
    /// Offsets are multiplied so that the trace fills the target
    #[arg(long, requires = "trace", conflicts_with_all = ["compact", "study", "rw", "again"])]
    pub scale: bool,
    /// Used extents of 1 MiB are put next to one another
    #[arg(long, requires = "trace", conflicts_with_all = NOT_A_TRACE)]
    pub compact: bool,
    /// What is read
    #[command(flatten)]
    pub read: TraceInput,
}

/// Parses a speed in per cent: `200`, `200%`.
fn speed(text: &str) -> Result<u64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let known = percent.filter(|percent| (1..=100_000).contains(percent));
    known.ok_or_else(|| {
        "it is in per cent of the recorded one, 1 to 100000: 200 is twice as fast".to_owned()
    })
}

impl ReplayArgs {
    /// The same choices as the key `trace` of a study names them.
    pub fn wanted(&self) -> WantedTrace {
        let files = self.trace.iter().map(|file| file.display().to_string());
        WantedTrace {
            files: files.collect(),
            pace: match self.pace {
                PaceArg::Open => ReplayPace::Open,
                PaceArg::Dependent => ReplayPace::Dependent,
                PaceArg::Fast => ReplayPace::Fast,
            },
            speed_percent: self.speed,
            copies: self.copies.get(),
            shift: self.shift,
            place: match (self.wrap, self.scale, self.compact) {
                (true, ..) => ReplayPlace::Wrap,
                (_, true, _) => ReplayPlace::Scale,
                (_, _, true) => ReplayPlace::Compact,
                _ => ReplayPlace::AsRecorded,
            },
            max_in_flight: self.max_in_flight.map(NonZeroU32::get),
            in_order: self.in_order,
            trims: self.trims,
            from: self.read.from,
            until: self.read.until,
            input: self.read.input.clone(),
            columns: self.read.columns.clone(),
            device: self.read.device.clone(),
        }
    }
}

/// When the operations of a trace are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PaceArg {
    /// At their recorded moments, whatever is in flight
    #[default]
    Open,
    /// After the completions that they followed when they were recorded, as long after as there
    Dependent,
    /// In their order, each as soon as there is room in flight
    Fast,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: `--speed 2x` was told of an "invalid digit", and not that the number is in per cent.
    #[test]
    fn a_speed_is_in_per_cent() {
        assert_eq!((speed("200"), speed("50%")), (Ok(200), Ok(50)));
        for wrong in ["2x", "0", "-1", "100001", ""] {
            let why = speed(wrong).expect_err(wrong);
            assert!(why.contains("200 is twice as fast"), "{why}");
        }
    }
}
