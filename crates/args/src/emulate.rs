//! Arguments of `blocklab emulate`.

use std::path::PathBuf;

use blocklab_emulator::control;
use blocklab_units::Bytes;
use clap::{ArgGroup, Args, ValueEnum};

use super::run_name;

const EMULATE_EXAMPLES: &str = "\
Examples:
  blocklab emulate gp3:100GiB@m5.large --nbd unix:/tmp/gp3     serve it, until Ctrl-C
  fio --ioengine=nbd '--uri=nbd+unix:///?socket=/tmp/gp3' ...  ... to fio
  nbdinfo 'nbd+unix:///?socket=/tmp/gp3'                       ... to libnbd's tools
  qemu-system-x86_64 -drive driver=nbd,server.type=unix,server.path=/tmp/gp3 ...
  nbd-client -unix /tmp/gp3 /dev/nbd0                          ... to the kernel
  blocklab emulate gp3:100GiB@m5.large --block                 /dev/loop0, for mkfs and mount
  blocklab emulate gp3:100GiB@m5.large --fuse /mnt/gp3         a file: /mnt/gp3/volume
  blocklab emulate gp2:100GiB --nbd localhost:10809 --speed 60  a burst of 30 minutes in 30 seconds
  blocklab emulate 4xst1:1TiB@m5.large --nbd unix:/tmp/st1     four volumes: exports 1 to 4
  blocklab emulate gp3:100GiB st1:1TiB --on m5.large --nbd unix:/tmp/two
  blocklab emulate gp3:100GiB --nbd 0.0.0.0:10809 --tls-certificates pki   to other machines
  blocklab emulate null --size 10GiB --nbd unix:/tmp/null      no delay at all
  blocklab diagnose latest                                     which limit bound, and for how long

Written data is kept in memory and lost at the end, or kept in the sparse file --backing FILE. A \
flush and a forced write (FUA) make data durable as on a drive with a write cache. The backing \
file holds all written data, flushed or not, and is synced to its own disk only at the end.

The first volume is also the export without a name. The volumes of one address share the limits \
of their instance. Only its owner can use a unix socket. An address that other machines reach \
needs --tls-certificates, or --insecure to send everything in clear text.

At the end the server removes the block device and the mount. If a file system on it is mounted or \
a program has it open, the server waits 10 seconds; then its users get errors. The next server \
removes what a killed one left behind.

Exit status: 0 ended by a signal and the run is kept, 1 the run could not be kept or the volume was \
still in use, 2 invalid request.";

/// When the clock is watched for the last microseconds before a reply is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpinArg {
    /// With more than two processors
    Auto,
    /// Always: replies are exact to a few microseconds, for a share of a processor
    On,
    /// Never
    Off,
}

/// `blocklab emulate`.
#[derive(Debug, Args)]
#[command(
    after_help = EMULATE_EXAMPLES,
    group(ArgGroup::new("place").args(["nbd", "fuse", "block"]).required(true).multiple(true))
)]
pub struct EmulateArgs {
    /// What to serve: an address such as gp3:100GiB@m5.large or ./device.toml, or `null`; several
    /// are volumes of one instance (--on)
    #[arg(required = true, value_name = "ADDRESS")]
    pub addresses: Vec<String>,
    /// The instance that the volumes share
    #[arg(long, value_name = "INSTANCE")]
    pub on: Option<String>,
    /// Serve NBD at unix:PATH or HOST:PORT (repeatable)
    #[arg(long, value_name = "WHERE")]
    pub nbd: Vec<String>,
    /// Serve a file in an empty folder: DIR/volume (with several, DIR/volume1 ...)
    #[arg(long, value_name = "DIR")]
    pub fuse: Option<PathBuf>,
    /// Make a block device (as root); the first line of the output is its name, such as /dev/loop0
    #[arg(long)]
    pub block: bool,
    /// Size that clients see, if smaller than the volume's; the size of `null`
    #[arg(long)]
    pub size: Option<Bytes>,
    /// Where written data is kept: `memory`, or a sparse FILE (further volumes: FILE.2 ...)
    #[arg(long, value_name = "memory|FILE", default_value = "memory", value_parser = backing)]
    pub backing: String,
    /// Memory limit for written data (default: half of the machine's, or a quarter of the control
    /// group's, if that is less); writes beyond it fail with ENOSPC
    #[arg(long, value_name = "SIZE", value_parser = memory_limit)]
    pub memory_limit: Option<Bytes>,
    /// Refuse everything that writes
    #[arg(long)]
    pub read_only: bool,
    /// Name of the run and of the export (with several: NAME1, NAME2 ...)
    #[arg(long, value_name = "TEXT", value_parser = run_name)]
    pub name: Option<String>,
    /// Serve NBD over TLS only, to clients with a certificate: DIR holds ca-cert.pem,
    /// server-cert.pem and server-key.pem
    #[arg(long, value_name = "DIR", requires = "nbd")]
    pub tls_certificates: Option<PathBuf>,
    /// Allow other machines to connect without encryption
    #[arg(long, conflicts_with = "tls_certificates")]
    pub insecure: bool,
    /// Divide the capacity of burst buckets by this; rates stay
    #[arg(long, value_name = "FACTOR", value_parser = speed, allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// Take commands of `blocklab emulate-ctl` at unix:PATH
    #[arg(long, value_name = "unix:PATH")]
    pub control: Option<String>,
    /// Carry out a command of `blocklab emulate-ctl` this long after the start (repeatable)
    #[arg(long, num_args = 2, value_names = ["TIME", "COMMAND"], allow_hyphen_values = true)]
    pub at: Vec<String>,
    /// Busy-wait for the last microseconds before a reply
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub spin: SpinArg,
    /// Random seed of latencies and faults
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Print a JSON object for each second and volume
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
}

const EMULATE_CTL_EXAMPLES: &str = "\
Examples:
  blocklab emulate gp3:100GiB@m5.large --nbd unix:/tmp/gp3 --control unix:/tmp/ctl &
  blocklab emulate-ctl unix:/tmp/ctl status
  blocklab emulate-ctl unix:/tmp/ctl set iops=16000 throughput=500MiB
  blocklab emulate-ctl unix:/tmp/ctl credits drain
  blocklab emulate-ctl unix:/tmp/ctl fault error 1% --on read --range 1GiB..2GiB --for 10s
  blocklab emulate-ctl unix:/tmp/ctl fault latency +20ms 5%
  blocklab emulate-ctl unix:/tmp/ctl fault template intermittent-latency
  blocklab emulate-ctl unix:/tmp/ctl fault power-cut --torn
  blocklab emulate-ctl unix:/tmp/ctl fault attach
  blocklab emulate-ctl unix:/tmp/ctl fault list --json
  blocklab emulate gp3:100GiB --nbd unix:/tmp/gp3 --at 10s 'fault stall 5s' --at 30s 'fault power-cut'

The same seed and the same requests meet the same faults. The run keeps each command; `show` and \
`diagnose` print them. A volume that was detached, cut off or stopped fails every request until \
`fault attach`.

Exit status: 0 done, 2 refused, or no server there takes commands.";

/// `blocklab emulate-ctl`.
#[derive(Debug, Args)]
#[command(after_help = EMULATE_CTL_EXAMPLES, subcommand_value_name = "COMMAND", subcommand_help_heading = "Commands")]
pub struct EmulateCtlArgs {
    /// The server's command socket: unix:PATH, as in its --control
    pub server: String,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// The command with its arguments
    #[command(subcommand)]
    pub command: control::Command,
}

/// Parses the divisor of burst buckets, of which even the largest leaves something.
fn speed(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    let sound = factor.filter(|factor: &f64| (1.0..=1e6).contains(factor));
    sound.ok_or_else(|| "it must be a number from 1 to 1,000,000".to_owned())
}

/// Parses a limit of memory: at least one page, without which no write could be kept.
fn memory_limit(text: &str) -> Result<Bytes, String> {
    let limit: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    match limit.0 {
        0..4096 => Err("it must be 4KiB at least; --read-only refuses all writes".to_owned()),
        _ => Ok(limit),
    }
}

/// Parses where the data is kept. An empty word is most likely an unset variable of a script.
fn backing(text: &str) -> Result<String, String> {
    match text {
        "" => Err("write `memory`, or the path of a file".to_owned()),
        text => Ok(text.to_owned()),
    }
}
