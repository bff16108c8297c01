//! Arguments of `blocklab history`.

use clap::Args;

use super::{FilterArgs, FormArgs};

const EXAMPLES: &str = "\
Examples:
  blocklab history                             every load that was measured again and again
  blocklab history 'rand4k*' --study nightly   some cases of one study
  blocklab history --target '/dev/nvme0n1' --since 30d
  blocklab history --format html > history.html
  blocklab history --json | jq '.series[] | select(.verdict == \"regressed\")'

Runs of the same load are neighbours if study, case, target, class of the machine (processor and \
instance type) and origin are the same. For each load the rate, the mean latency and the p99 are \
tested; shown are the one that is judged and those that changed. Runs that a finding doubts \
(other programs on the disk or processor, drift, used-up credits) are drawn as · and left out; \
`blocklab note RUN --tag history-out` leaves one out by hand, `--tag history-in` keeps one. A \
change has a size with its 95 % interval, the first run of the new level, and what else changed \
there: version, kernel, scheduler, firmware, limits. One or two runs beyond all before them are \
\"suspected\"; six runs are needed for any other verdict. Figures of `sim:` are compared exactly.";

/// `blocklab history`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HistoryArgs {
    /// Cases that fit (`*` stands for any text); default: all
    #[arg(value_name = "CASE")]
    pub case: Option<String>,
    /// Which runs
    #[command(flatten)]
    pub filter: FilterArgs,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}
