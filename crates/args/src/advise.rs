//! Arguments of `blocklab advise`.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use blocklab_units::{Bytes, Nanos};
use clap::{ArgGroup, Args, ValueHint};

use super::k8s::above_zero;
use super::{FormArgs, TraceInput, at_least_one, share};

const EXAMPLES: &str = "\
Examples:
  blocklab advise --need 1TiB,10000iops,300MB/s               the volume alone
  blocklab advise --need 1TiB,10000iops,300MB/s --vcpu 8 --memory 32GiB
  blocklab advise --need capacity=2TiB,iops=20000,throughput=800MiB/s,block=16KiB,read=70,p99=5ms --instance r5d.2xlarge
  blocklab advise --need 500GiB,5000iops,bs=8k,mix=70,p99=5ms
  blocklab advise --need 500GiB,3000iops --volumes 1..4 --vcpu 2
  blocklab advise --need 500GiB,3000iops --place ireland      every vendor there
  blocklab advise --run latest --vcpu 4
  blocklab advise --trace night.trace --instance m5.xlarge
  blocklab advise --migrate gp2:500GiB@m5.xlarge
  blocklab advise --need 1TiB,5000iops --vcpu 4 --json | jq '.chosen[] | {choice, address, per_month}'

A need: capacity; iops at random, of `block` bytes (16KiB), `read` per cent of them reads (without it: \
whichever is slower); throughput in large sequential operations; p99, below which 99 % of the \
latencies of the random operations lie. 1TiB,10000iops,300MB/s is short for the first three.

The cheapest is found among all that is sold there: one volume (--volumes lets several share the \
load), that is kept when the machine stops, by limits that hold for ever and not as long as credits \
last, on machines of the present generation. Then it is simulated with burst buckets full and empty, \
and the records of that decide.";

/// `blocklab advise`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("asked").required(true).multiple(true).args(["need", "run", "trace", "migrate"])))]
pub struct AdviseArgs {
    /// What the disk must hold and do; with --run, --trace or --migrate, the parts that are known better
    #[arg(long, value_name = "NEED")]
    pub need: Option<String>,
    /// The need of a stored run: at least what it got, where it asks for all that there is
    #[arg(long, value_name = "RUN", conflicts_with_all = ["trace", "migrate"])]
    pub run: Option<String>,
    /// The need of a recorded load, which is then played on the finalists (several are merged by time)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "migrate")]
    pub trace: Vec<PathBuf>,
    /// Longest time that an operation of a trace may wait for the limits of a volume
    #[arg(long, value_name = "TIME", default_value = "100ms", requires = "trace")]
    pub max_wait: Nanos,
    /// A volume in use: what it could become on its machine, and what would get worse
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["instance", "vcpu", "memory", "arch"])]
    pub migrate: Option<String>,
    /// The machine that you have: what would carry the need on it, and on the cheapest that has as many
    /// processors and as much memory
    #[arg(long, value_name = "TYPE", conflicts_with_all = ["vcpu", "memory", "arch"], help_heading = "Machine")]
    pub instance: Option<String>,
    /// The machine has at least so many virtual processors
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Machine")]
    pub vcpu: Option<NonZeroU32>,
    /// The machine has at least so much memory
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub memory: Option<Bytes>,
    /// Architecture of its processors, such as x86_64 or arm64 (default: any)
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    pub arch: Option<String>,
    /// Machines of previous generations as well
    #[arg(long, help_heading = "Machine")]
    pub previous: bool,
    /// Share of the list price of machines that you do not pay, such as 40%
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Machine")]
    pub instance_discount: Option<f64>,
    /// Whose offers (several are joined with commas; default: of the volume in use or the machine, else AWS)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Where"
    )]
    pub vendor: Vec<String>,
    /// The region whose prices hold (default: of the volume in use, else one for each vendor)
    #[arg(long, help_heading = "Where")]
    pub region: Option<String>,
    /// Every vendor near this place: ireland, netherlands, france, sweden, virginia, tokyo
    #[arg(long, conflicts_with = "region", help_heading = "Where")]
    pub place: Option<String>,
    /// How many volumes may share the load, such as 1..8; the loss of one is the loss of all
    #[arg(long, value_name = "FROM..TO", default_value = "1", value_parser = volume_range, help_heading = "What is accepted")]
    pub volumes: RangeInclusive<u32>,
    /// What is stored outlives the machine; `no` accepts a machine's own disks
    #[arg(long, value_name = "yes|no", default_value = "yes", default_missing_value = "yes", num_args = 0..=1, value_parser = yes_or_no, action = clap::ArgAction::Set, help_heading = "What is accepted")]
    pub durable: bool,
    /// Burst credits count if they last over the horizon from full buckets
    #[arg(long, help_heading = "What is accepted")]
    pub burst: bool,
    /// How long the load lasts
    #[arg(
        long,
        value_name = "TIME",
        default_value = "24h",
        value_parser = above_zero::<Nanos>,
        help_heading = "What is accepted"
    )]
    pub horizon: Nanos,
    /// Answer by documented limits alone, without simulating the finalists
    #[arg(long)]
    pub no_simulation: bool,
    /// What is read of a trace
    #[command(flatten)]
    pub read: TraceInput,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        other => Err(format!("`{other}` is neither yes nor no")),
    }
}

/// The most volumes that can be attached to any machine.
const MOST_VOLUMES: u32 = 128;

/// Parses a number of volumes or a range of them: `8`, `1..8`, and `1..=8` as Rust has it.
fn volume_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let [from, to] = [from, to.trim_start_matches('=')].map(|text| text.trim().parse::<u32>());
    match (from, to) {
        (Ok(from), Ok(to)) if 1 <= from && from <= to && to <= MOST_VOLUMES => Ok(from..=to),
        _ => Err(format!(
            "`{text}` is no number of volumes such as 4 or 1..8, {MOST_VOLUMES} at most"
        )),
    }
}
