//! Arguments of `blocklab cdm`.

use std::path::PathBuf;

use blocklab_units::{Bytes, Nanos};
use clap::{Args, ValueEnum, ValueHint};

const CDM_EXAMPLES: &str = "\
Examples:
  blocklab cdm                                   the four tests, here
  blocklab cdm --target /data --mix              another file system, and the mixed tests
  blocklab cdm --profile nvme --all-passes       what the best of the passes hides
  blocklab cdm --cdm-version 5 --size 16GiB --loops 3
  blocklab cdm --target sim:gp3:1TiB@r5d.xlarge  a volume you have not rented
  blocklab cdm --output result.txt               the report in a file, with Windows line ends

Each test runs once as a warm-up and then --loops times; the report shows the highest throughput \
and the lowest latency of these passes, taken separately, as CrystalDiskMark does.";

/// `blocklab cdm`.
#[derive(Debug, Args)]
#[command(after_help = CDM_EXAMPLES)]
pub struct CdmArgs {
    /// Tests to run
    #[arg(long, value_enum, default_value = "default")]
    pub profile: CdmProfile,
    /// CrystalDiskMark version to imitate: 5, 6, 7, 8 or 9
    #[arg(long, value_name = "N", default_value = "9", value_parser = clap::value_parser!(u32).range(5..=9))]
    pub cdm_version: u32,
    /// What to measure: a directory, file or device, or an address (default: the current directory)
    #[arg(short, long, value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub target: Option<String>,
    /// Size of the test file, 16MiB to 64GiB
    #[arg(long, default_value = "1GiB")]
    pub size: Bytes,
    /// Counted passes of each test (default: 3; versions up to 8: 5)
    #[arg(long, value_name = "N")]
    pub loops: Option<u32>,
    /// Time of each pass: seconds, or a time such as 500ms (default: 5, flash: 1)
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub measure: Option<Nanos>,
    /// Pause between two tests: seconds, or a time (default: 5, flash: 30)
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub interval: Option<Nanos>,
    /// Add mixed tests, with this percentage of reads
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "70")]
    pub mix: Option<u8>,
    /// Write zeros instead of random bytes
    #[arg(long)]
    pub zero_fill: bool,
    /// Report the mean of all passes instead of the best, as KDiskMark does
    #[arg(long)]
    pub average: bool,
    /// Print every pass after the report, with their median and spread
    #[arg(long)]
    pub all_passes: bool,
    /// Print the figures as JSON instead of the report
    #[arg(long, conflicts_with = "all_passes")]
    pub json: bool,
    /// Write the report to this file, with CR LF line ends
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// CR LF line ends on standard output too
    #[arg(long)]
    pub crlf: bool,
    /// A comment at the end of the report
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Skip everything that writes
    #[arg(long)]
    pub read_only: bool,
    /// Random seed; the same seed gives the same requests
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Create TARGET if it does not exist, and remove it after the run
    #[arg(long)]
    pub create: bool,
    /// Allow overwriting exactly this device (by name or serial number) or file (by path),
    /// whatever it holds
    #[arg(long, value_name = "NAME")]
    pub destroy_data: Vec<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
}

/// Which tests are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CdmProfile {
    /// SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1, RND4K Q1T1
    Default,
    /// SEQ1M Q8T1, RND4K Q32T1
    Peak,
    /// SEQ1M Q1T1, RND4K Q1T1
    Real,
    /// SEQ1M Q8T1, SEQ128K Q32T1, RND4K Q32T16, RND4K Q1T1
    Nvme,
    /// As the default, 1 second each with 30 between
    Flash,
    /// SEQ1M Q8T1
    Demo,
}

/// CrystalDiskMark counts in seconds; a unit is understood too.
fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Nanos::from_secs(seconds.into())),
        Err(_) => text.parse::<Nanos>().map_err(|error| error.to_string()),
    }
}
