//! The command lines of the four tools, as data. Those of DiskSpd, fio and Vdbench are words that
//! their dialects read.

use std::path::PathBuf;

use blocklab_units::{Bytes, Nanos};
use clap::{Args, ValueEnum, ValueHint};

/// Arguments that clap passes on as words, because the tool's own parser reads them.
macro_rules! words {
    ($(#[$about:meta])* $name:ident: $(#[$words:meta])*) => {
        #[derive(Debug, Args)]
        $(#[$about])*
        #[command(disable_help_flag = true)]
        pub struct $name {
            $(#[$words])*
            #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
            pub args: Vec<String>,
        }
    };
}

const DISKSPD_EXAMPLES: &str = "\
Examples:
  blocklab diskspd -b4K -d30 -o4 -t4 -Sh -r -w50 -L -c1G io.dat
  blocklab diskspd --map 'E:\\=/data/' -b64K -d30 -o2 -t1 -Sh -r -w50 -L -Z1G -c20G 'E:\\dummy.dat'
  blocklab diskspd -b64K -r -o32 -d60 -L sim:gp3:1TiB@r5d.xlarge
  blocklab diskspd -Rxml -b8K -r -d10 -L io.dat > result.xml
  blocklab diskspd -?                                every option, and what is done with it

A link to blocklab that is called `diskspd` needs no first word. Exit status: as of all commands, \
but 3 for a mistake in the command line.";

words! {
    /// `blocklab diskspd`.
    #[command(after_help = DISKSPD_EXAMPLES)]
    DiskspdArgs:
    /// Options of DiskSpd 2.2, then targets
}

const FIO_EXAMPLES: &str = "\
Examples:
  blocklab fio job.fio
  blocklab fio --name=a --rw=randread --bs=4k --size=1g --iodepth=32 --ioengine=libaio
  blocklab fio --name=a --rw=read --size=1g --output-format=json --output=result.json
  blocklab fio --name=a --rw=randread --iodepth=16 --ioengine=libaio --runtime=60 --time_based \\
      --filename=sim:gp3:1TiB@r5d.xlarge
  blocklab fio --cmdhelp=bs                      an option, and what is done with it

A link to blocklab that is called `fio` needs no first word. Exit status: as fio's: 0 done, 1 a \
mistake or a failed job, 128 interrupted; 2 when the store for runs cannot be written to.";

words! {
    /// `blocklab fio`.
    #[command(after_help = FIO_EXAMPLES, disable_version_flag = true)]
    FioArgs:
    /// Options and job files of fio 3.33
}

const VDBENCH_EXAMPLES: &str = "\
Examples:
  blocklab vdbench -f parmfile -o output
  blocklab vdbench -f parmfile -s                          what would be run
  blocklab vdbench -f parmfile lun=/data/f size=4g         for $lun and $size in the file
  blocklab vdbench -f parmfile -o out+ + iorate=curve,elapsed=60
  blocklab vdbench -t                                      a test of five seconds
  blocklab vdbench -h                                      every option

A link to blocklab that is called `vdbench` needs no first word.";

words! {
    /// `blocklab vdbench`.
    #[command(after_help = VDBENCH_EXAMPLES)]
    VdbenchArgs:
    /// Options of Vdbench 5.04.07
}

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

/// Reads a time: a plain number is in seconds, as in CrystalDiskMark; a unit may follow.
fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Nanos::from_secs(seconds.into())),
        Err(_) => text.parse::<Nanos>().map_err(|error| error.to_string()),
    }
}
