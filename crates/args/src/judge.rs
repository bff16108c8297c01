//! Arguments of the commands that judge runs, and of `blocklab calibrate`.

use std::path::PathBuf;

use blocklab_advice::Need;
use blocklab_catalog::unit_price::Currency;
use blocklab_compare::gate::Condition;
use clap::{ArgGroup, Args, ValueEnum, ValueHint};

use super::{FormArgs, share};

const COMPARE_EXAMPLES: &str = "\
Examples:
  blocklab compare k3f 012                    the second against the first
  blocklab compare k3f 012 9ab --baseline 012
  blocklab compare old new --html change.html         names given with `run --name`
  blocklab compare k3f latest --json | jq '.against[].pairs[] | {case, direction, verdict}'
  blocklab compare k3f latest --format markdown       a table for an issue or a wiki
  blocklab compare before latest --at-least 2%        ignore smaller differences
  blocklab compare before latest --fail-on slower:5%  exits with 4 if a load lost more than 5 %
  blocklab compare before latest --fail-on 'slower:5%,p99>5ms' --gates gates.toml
  blocklab compare before latest --fail-on slower:5% --junit gate.xml    for the CI system
  blocklab compare latest --against-history --fail-on slower:5%
  blocklab compare latest --against-history --tag baseline
  blocklab compare tag:baseline latest                the newest run of that tag

Loads are paired by direction, block size, pattern, mix, depth, threads and pace; loads of only \
one run are listed. To call anything faster, each side needs at least two passes.

--fail-on slower:5% looks at the 95 % interval of each load's rate (of its mean latency, if the \
load has a given rate). It fails if the whole interval lies beyond a loss of 5 %, passes if the \
whole interval lies within, and is undecided otherwise; the output then shows how many passes \
would decide. Of several loads, one may lie beyond by chance: it fails only if Holm's rule over \
all of them excludes that it lost nothing. `slower` alone allows --at-least, else 5 %. Loads that only the baseline has, and \
runs that did not end as planned, are undecided. --fail-on warning fails if a finding of a run \
is a warning or worse. 'p99>5ms', 'iops<5000' and the like are asked of every run but the baseline.

--against-history compares each load with the runs since the last change of its series (three or \
more): the interval holds the scatter between runs. What has no history under the same conditions is refused with the reason, and undecided.

Exit status: 4 a condition fails, 5 with --strict if one is undecided.";

/// What must not be, for a pipeline.
#[derive(Debug, Clone, Default, Args)]
pub struct GateArgs {
    /// Exit with 4 if this holds: 'p99>5ms', 'iops<5000', 'mbps<200', slower:5%, missed, warning
    /// (repeatable)
    #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
    pub fail_on: Vec<Condition>,
    /// More conditions from a file, also for single cases
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub gates: Option<PathBuf>,
    /// Exit with 5 instead of 0 if the passes cannot decide a condition
    #[arg(long)]
    pub strict: bool,
    /// Write the answers as JUnit XML, which CI systems show as tests
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = file, group = "written")]
    pub junit: Option<PathBuf>,
}

/// The group of options that name a file to write: `--force` requires one of them.
pub(crate) fn written() -> ArgGroup {
    ArgGroup::new("written").multiple(true)
}

/// Parses the path of a file, and refuses `-`: standard output holds the result.
fn file(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "-" => Err("the result is printed there: name a file".to_owned()),
        name => Ok(PathBuf::from(name)),
    }
}

/// `blocklab compare`.
#[derive(Debug, Args)]
#[command(group = written())]
#[command(after_help = COMPARE_EXAMPLES, after_long_help = format!("{}\n\n{COMPARE_EXAMPLES}", super::RUNS))]
pub struct CompareArgs {
    /// The runs, two or more
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub runs: Vec<String>,
    /// The run to compare the others with (default: the first)
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<String>,
    /// Compare the run with those before it under the same conditions, as `blocklab history` has
    /// them
    #[arg(long, conflicts_with_all = ["baseline", "html"])]
    pub against_history: bool,
    /// Only with earlier runs of this tag
    #[arg(long, value_name = "TAG", requires = "against_history")]
    pub tag: Option<String>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
    /// Write an HTML page with the comparison and the charts of all runs (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, group = "written")]
    pub html: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "written")]
    pub force: bool,
    /// Smallest difference that matters, such as 2%; smaller ones are not called faster or slower
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub at_least: Option<f64>,
    /// When the command fails
    #[command(flatten)]
    pub gate: GateArgs,
}

const PRICE_EXAMPLES: &str = "\
Examples:
  blocklab price gp3:1TiB,iops=6000@r5d.xlarge io2:1TiB,iops=6000@r5d.xlarge
  blocklab price local@i3.xlarge local@im4gn.xlarge --by capacity --region eu-west-1
  blocklab price latest                                a simulated run knows its volume
  blocklab price k3f --as gp3:1TiB@r5d.xlarge          name the volume of a measured run
  blocklab price k3f 012 --currency EUR=0.92
  blocklab price --need 1TiB,10000iops,300MB/s         what does it cost where?

Every quotient is shown with its inputs, every price with its region, day and source. An address \
is priced by its sustained documented limits, a run by its best delivered rate. A month has 730 \
hours.";

/// `blocklab price`.
#[derive(Debug, Args)]
#[command(after_help = PRICE_EXAMPLES, after_long_help = format!("{}\n\n{PRICE_EXAMPLES}", super::RUNS))]
pub struct PriceArgs {
    /// Stored runs, or addresses of volumes and instances
    #[arg(
        required_unless_present = "need",
        conflicts_with = "need",
        value_name = "RUN|ADDRESS"
    )]
    pub what: Vec<String>,
    /// Find what does this instead, at every vendor: what it must hold and do for ever
    #[arg(long, value_name = "SIZE,IOPS,MB/s")]
    pub need: Option<Need>,
    /// Whose prices --need compares: ireland, netherlands, france, sweden, virginia, tokyo
    // Clap drops `requires` where the addresses conflict with what is required.
    #[arg(
        long,
        default_value = "ireland",
        requires = "need",
        conflicts_with = "what"
    )]
    pub place: String,
    /// Unit to sort by
    #[arg(long, value_enum, default_value = "iops", conflicts_with = "need")]
    pub by: PriceBy,
    /// The volume that the measured runs used
    #[arg(long = "as", value_name = "ADDRESS", conflicts_with = "need")]
    pub bought_as: Option<String>,
    /// Region of the prices (default: the address's own, else us-east-1)
    #[arg(long)]
    pub region: Option<String>,
    /// Show amounts in another currency, at your rate for one US dollar
    #[arg(long, value_name = "CODE=RATE", conflicts_with = "need")]
    pub currency: Option<Currency>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

/// The unit by which prices are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PriceBy {
    /// US dollars a month for one IOPS
    Iops,
    /// US dollars a month for one MB/s
    Throughput,
    /// US dollars a month for one GB
    Capacity,
}

const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  blocklab diagnose latest                          all findings, with their evidence
  blocklab diagnose k3f --expect 'gp3:1TiB,iops=6000@r5d.xlarge'
  blocklab diagnose k3f --expect local@i3.xlarge,as-of=2017-02-27 --html disk.html
  blocklab diagnose k3f --expect gp3:1TiB --json | jq '.expected.limits[] | {limit, state}'
  blocklab diagnose --expect gp3:1TiB --fail-on missed --strict
  blocklab diagnose --expect gp3:1TiB --fail-on missed --junit gate.xml

With --expect, each documented limit is met, exceeded, interrupted (met but for a stall or slow \
operations), missed, undecided, or not tested; for an untested one the output names the load that would test it.

--fail-on missed looks at the 95 % interval of the delivered rate. It fails if the interval lies \
below 97.5 % of a limit that a load tests, passes if it lies above, and is undecided otherwise; \
the output then shows how many passes would decide. --fail-on warning fails if a finding is a \
warning or worse.

Exit status: 4 a condition fails, 5 with --strict if one is undecided.";

/// `blocklab diagnose`.
#[derive(Debug, Args)]
#[command(group = written())]
#[command(after_help = DIAGNOSE_EXAMPLES, after_long_help = format!("{}\n\n{DIAGNOSE_EXAMPLES}", super::RUNS))]
pub struct DiagnoseArgs {
    /// One run or several; each is diagnosed separately
    #[arg(default_value = "latest", value_name = "RUN")]
    pub runs: Vec<String>,
    /// The volume you pay for: check the run against its documented limits
    ///
    /// A run of several targets takes one address for all of them, one for each in their order, or
    /// TARGET=ADDRESS for each.
    #[arg(long, value_name = "ADDRESS")]
    pub expect: Vec<String>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
    /// Write an HTML page (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, group = "written")]
    pub html: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "written")]
    pub force: bool,
    /// When the command fails
    #[command(flatten)]
    pub gate: GateArgs,
}

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  blocklab run calibrate --target /data            measure what a model needs: five minutes
  blocklab calibrate latest -o my-device.toml      ... and make it
  blocklab run quick --target sim:./my-device.toml ... and use it
  blocklab calibrate k3f 012                       from two runs of one disk, only shown
  blocklab calibrate latest --json | jq '.residuals.iops'

Latency and its spread come from depth 1, maxima from deep queues. Each load is then simulated on \
the new device, and its error is shown.";

/// `blocklab calibrate`.
#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_EXAMPLES, after_long_help = format!("{}\n\n{CALIBRATE_EXAMPLES}", super::RUNS))]
pub struct CalibrateArgs {
    /// Runs of one disk: a sweep over block size, depth and direction
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where to write the device (default: only show it)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Accept simulated and emulated runs too
    #[arg(long)]
    pub allow_simulated: bool,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}
