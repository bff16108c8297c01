//! The command line as data. Help, man pages and completions are derived from it.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::PathBuf;

use blocklab_analysis::gate::Condition;
use blocklab_store::is_id;
use blocklab_tools::args::{CdmArgs, DiskspdArgs, FioArgs, VdbenchArgs};
use blocklab_units::{Bytes, Nanos, visible};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

mod catalog;
mod foreign;
mod judge;

pub use catalog::{
    CatalogArgs, CatalogCommand, CatalogImportArgs, CatalogListArgs, CatalogShowArgs,
};
pub use foreign::{ConvertArgs, ImportArgs, ImportTool, Language};
pub use judge::{CalibrateArgs, CompareArgs, DiagnoseArgs, PriceArgs, PriceBy};

const ABOUT: &str = "A lab bench for block storage: measures what a disk delivers";

const LONG_ABOUT: &str = "\
A lab bench for block storage: benchmarks disks and cloud volumes, and tells you how far \
to trust each number.

Without a study, `blocklab run` measures the file system of the current directory with a scratch \
file, in about a minute. Blocklab never overwrites anything it did not create unless you name it.";

const RUNS: &str = "\
A RUN is an id from `blocklab list`, a unique beginning of one, its last part, the name of a run, \
the path of a run's folder, or `latest`. If several runs match, the command lists their ids.";

const EXAMPLES: &str = "\
Examples:
  blocklab run                       how fast is the disk under this directory?
  blocklab run --target /data        and that one?
  blocklab devices                   which disks are there, and which may be written to?
  blocklab show latest               the last result again
  blocklab report latest             ... as a page for the browser

Exit status: 0 done, 1 a run failed, 2 invalid request, 4 --fail-on found what it forbids, \
5 with --strict if the passes cannot decide, 130 interrupted.";

/// What the user typed.
#[derive(Debug, Parser)]
#[command(
    name = "blocklab", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES,
    max_term_width = 100, subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// Where runs are kept (default: $BLOCKLAB_STORE, else the user's data directory)
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// One verb.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure: run a study against one or more targets
    Run(Box<RunArgs>),
    /// Measure as CrystalDiskMark does, and print its report
    Cdm(Box<CdmArgs>),
    /// Run a command line of DiskSpd, and print its result
    Diskspd(DiskspdArgs),
    /// Run a command line or job file of fio, and print its result
    Fio(FioArgs),
    /// Run parameter files of Vdbench, and write its reports
    Vdbench(VdbenchArgs),
    /// List stored runs
    List(ListArgs),
    /// Show the result of a run
    Show(ShowArgs),
    /// Make an HTML report of one or more runs
    Report(ReportArgs),
    /// Compare runs load by load: faster, slower, or no difference shown
    Compare(CompareArgs),
    /// Name what limits a run, and check it against what you pay for
    Diagnose(DiagnoseArgs),
    /// Show the cost per IOPS, MB/s, GB and million I/Os
    Price(PriceArgs),
    /// Translate a fio job file into the native format, or that of DiskSpd or Vdbench
    Convert(ConvertArgs),
    /// Export a run as CSV, JSON or Parquet
    Export(ExportArgs),
    /// Delete runs from the store
    Rm(RmArgs),
    /// Import results of fio, DiskSpd, CrystalDiskMark or Vdbench
    Import(ImportArgs),
    /// Make a model of a disk from its runs, to simulate it
    Calibrate(CalibrateArgs),
    /// Show cloud volumes and instances: limits and prices, by day and region
    Catalog(CatalogArgs),
    /// List this machine's block devices, and whether blocklab would write to them
    Devices(DevicesArgs),
    /// Print the manual page of a command, or write all of them into a directory
    Man(ManArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  blocklab run                                    the built-in study `quick`, here
  blocklab run --target /data --html report.html  another file system, and a page for the browser
  blocklab run --target /dev/nvme1n1 --read-only  a whole device, reads only
  blocklab run --target null                      blocklab's own overhead
  blocklab run --example > my-study.toml          a commented study to start from
  blocklab run my-study.toml --target /data       ... and to run
  blocklab run --example i3-vs-i2 > mine.toml     the text of a built-in study, to change it
  blocklab run --runtime 60s --repeat 5           longer, and more passes
  blocklab run --again latest                     a kept run, with the same seed
  blocklab run i3-vs-i2                           a published study, all systems simulated
  blocklab run i3-vs-i2 --target emu              ... emulated in real time
  blocklab run i3-vs-i2 --system i3.xlarge --target /data
                                                  ... with this disk as i3.xlarge

A target is a directory (a scratch file is made there and removed), a file, a device, `null`, or \
a model: sim:ADDRESS in virtual time, emu:ADDRESS in real time. A path that does \
not exist is refused unless --create makes it. A target that holds data is refused for writing; \
`blocklab devices` shows why. If a multi-system study is interrupted, the same command \
continues it.

Built-in studies: quick, calibrate, and of published ones i3-vs-i2, ebs-hdd, i3-metal, r5d-vs-gp3, \
im4gn.";

/// `blocklab run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A built-in study, or a file in the native format
    #[arg(default_value = "quick", value_hint = ValueHint::FilePath)]
    pub study: String,
    /// Repeat this stored run: its load, its seed and its targets, unless options say otherwise.
    /// Relative paths begin in the current directory
    #[arg(long, value_name = "RUN", conflicts_with_all = ["study", "system", "with_run", "fresh"])]
    pub again: Option<String>,
    /// What to measure: a directory, file or device, or `null` (default: the current directory)
    #[arg(short, long, value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub target: Vec<String>,
    /// In a multi-system study: the system that --target stands for; the others are simulated
    #[arg(long, value_name = "NAME")]
    pub system: Vec<String>,
    /// Use this stored run for its system instead of measuring it again (`NAME=RUN`: which system)
    #[arg(long = "with", value_name = "RUN")]
    pub with_run: Vec<String>,
    /// Restart an interrupted study instead of continuing it
    #[arg(long)]
    pub fresh: bool,
    /// Size of the scratch file or tested region, such as 1GiB
    #[arg(long)]
    pub size: Option<Bytes>,
    /// Measured time of each pass, such as 5s or 2min
    #[arg(long, value_name = "TIME")]
    pub runtime: Option<Nanos>,
    /// Passes of each case
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub repeat: Option<NonZeroU32>,
    /// Random seed; the same seed gives the same requests
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the HTML report to this file (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Let --html overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "html")]
    pub force: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Skip everything that writes
    #[arg(long)]
    pub read_only: bool,
    /// Create TARGET if it does not exist, and remove it after the run
    #[arg(long)]
    pub create: bool,
    /// Allow overwriting exactly this device (by name or serial number) or file (by path),
    /// whatever it holds
    #[arg(long, value_name = "NAME")]
    pub destroy_data: Vec<String>,
    /// Print a commented example, or the text of a built-in study, and exit
    #[arg(long, exclusive = true, value_name = "STUDY", num_args = 0..=1, default_missing_value = "")]
    pub example: Option<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
    /// Exit with 4 if this holds: warning: a finding is a warning or worse (repeatable)
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = crate::gate::of_run)]
    pub fail_on: Vec<Condition>,
    /// Exit with 5 instead of 0 if the passes cannot decide --fail-on
    #[arg(long, requires = "fail_on")]
    pub strict: bool,
    /// Name of the run, instead of the study's; other commands accept it as RUN
    #[arg(long, value_name = "TEXT", value_parser = run_name)]
    pub name: Option<String>,
}

/// More would push everything else off a line of `list`.
const LONGEST_NAME: usize = 100;

/// A name by which a run can be found again: one that can be typed, and that is no id.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    let wrong = match text.trim() {
        "" => "a name has a letter at least",
        "latest" => "`latest` is always the last run; take another name",
        name if is_id(name) => "it has the form of a run's id; take another name",
        name if matches!(visible(name), Cow::Owned(_)) => {
            "it has characters that no terminal shows, so nobody could type it; leave them out"
        }
        name if name.chars().count() > LONGEST_NAME => "a name has at most 100 characters",
        name => return Ok(name.to_owned()),
    };
    Err(wrong.to_owned())
}

/// A count that is not 0.
fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().and_then(NonZeroU32::new);
    number.ok_or_else(|| {
        format!(
            "it must be a whole number, at least 1 and at most {}",
            u32::MAX
        )
    })
}

const LIST_EXAMPLES: &str = "\
Examples:
  blocklab list                      the newest first
  blocklab list --limit 10
  blocklab list --reverse            the oldest first
  blocklab list --json | jq -r '.runs[].id'
  blocklab list --store /mnt/shared/runs";

/// `blocklab list`.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListArgs {
    /// Oldest first, so that the newest is next to the prompt
    #[arg(short, long)]
    pub reverse: bool,
    /// Show only the N newest runs
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroU32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  blocklab show                      the latest run
  blocklab show k3f                  by the last part of its id
  blocklab show latest --findings    the findings with all evidence
  blocklab show latest --json | jq '.rows[] | {case, direction, iops: .iops.value}'";

/// `blocklab show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES, after_long_help = format!("{RUNS}\n\n{SHOW_EXAMPLES}"))]
pub struct ShowArgs {
    /// The run
    #[arg(default_value = "latest")]
    pub run: String,
    /// Print the findings with the figures of every case behind them
    #[arg(long, conflicts_with = "json")]
    pub findings: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  blocklab report latest                     writes blocklab-report-ID.html here
  blocklab report latest --html disk.html
  blocklab report k3f 012 --html both.html   two runs on one page
  blocklab report latest --html - | ssh web 'cat > disk.html'";

/// `blocklab report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES, after_long_help = format!("{RUNS}\n\n{REPORT_EXAMPLES}"))]
pub struct ReportArgs {
    /// Runs, in the order to show them
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where to write the page (default: blocklab-report-ID.html here; `-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long)]
    pub force: bool,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  blocklab export latest --format csv > disk.csv
  blocklab export latest --format csv --series -o disk-by-second.csv
  blocklab export latest -o disk.parquet
  duckdb -c \"select direction, avg(iops) from 'disk.parquet' group by direction\"";

/// `blocklab export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES, after_long_help = format!("{RUNS}\n\n{EXPORT_EXAMPLES}"))]
pub struct ExportArgs {
    /// The run
    pub run: String,
    /// Output format (default: by the extension of the output file)
    #[arg(short, long, value_enum)]
    pub format: Option<Format>,
    /// Where to write it (default: standard output)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Export the intervals instead of the totals (csv and parquet)
    #[arg(long)]
    pub series: bool,
}

/// How figures leave for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The whole record as it is stored
    Json,
    /// One row for each measurement, job and direction
    Csv,
    /// The same rows with their types
    Parquet,
}

const RM_EXAMPLES: &str = "\
Examples:
  blocklab rm 20261120-190142-k3f
  blocklab rm k3f 012
  blocklab rm latest --dry-run     what would be removed

All runs are found before any is removed; when one is not there, none is. Only what a run wrote is \
removed: your own files in its folder stay.";

/// `blocklab rm`.
#[derive(Debug, Args)]
#[command(after_help = RM_EXAMPLES, after_long_help = format!("{RUNS}\n\n{RM_EXAMPLES}"))]
pub struct RmArgs {
    /// The runs
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Show what would be removed, and remove nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

const DEVICES_EXAMPLES: &str = "\
Examples:
  blocklab devices
  blocklab devices --json | jq -r '.devices[].name'";

/// `blocklab devices`.
#[derive(Debug, Args)]
#[command(after_help = DEVICES_EXAMPLES)]
pub struct DevicesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const MAN_EXAMPLES: &str = "\
Examples:
  blocklab man | man -l -
  blocklab man run | man -l -
  blocklab man catalog list | man -l -
  blocklab man --out ~/.local/share/man/man1";

/// `blocklab man`.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The command whose page is printed (default: blocklab itself)
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write blocklab.1 and a page for each command into this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "command")]
    pub out: Option<PathBuf>,
    /// Overwrite files that blocklab did not write (never a device)
    #[arg(long, requires = "out")]
    pub force: bool,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(blocklab completions bash)
  blocklab completions zsh > ~/.zfunc/_blocklab
  blocklab completions fish > ~/.config/fish/completions/blocklab.fish";

/// `blocklab completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The story: a run was named with an escape character in it, and no command found it again,
    /// because names are compared as they are shown. Another was named like the id of a run, so
    /// its name always meant that other run; a third had a name of 3,000 letters, and `list` a
    /// line of 3,079.
    #[test]
    fn a_name_can_be_typed_and_is_no_id() {
        let long = "a".repeat(LONGEST_NAME + 1);
        for bad in [
            "",
            " \t",
            "latest",
            "20261122-185558-q9w",
            "e\u{1b}[31mvil",
            "\u{202e}txt",
            "two\nlines",
            &long,
        ] {
            assert!(run_name(bad).is_err(), "{bad:?}");
        }
        for good in [
            "before",
            " two words ",
            "nightly/q9w",
            "größer",
            &long[1..],
            "2026",
        ] {
            assert_eq!(run_name(good).as_deref(), Ok(good.trim()));
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_text_has_examples() {
        let cli = Cli::command();
        for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(help.contains("Examples:\n  "), "{}", command.get_name());
        }
    }

    #[test]
    fn the_help_names_every_built_in_study() {
        let told = RUN_EXAMPLES.rsplit("Built-in studies: ").next();
        let told = told.unwrap_or_default();
        for name in blocklab_native::studies::builtin_names() {
            assert!(told.contains(name), "{name}: {told}");
        }
    }

    #[track_caller]
    fn check(line: &str, expected: impl Fn(&RunArgs) -> bool) {
        let cli = Cli::try_parse_from(line.split(' ')).expect("a sound command line");
        let Command::Run(args) = cli.command else {
            panic!("{line} is a run");
        };
        assert!(expected(&args), "{line}: {args:?}");
    }

    #[test]
    fn runs_as_people_type_them() {
        check("blocklab run", |a| {
            a.study == "quick" && a.target.is_empty()
        });
        check("blocklab run x.toml -t /a --target /b", |a| {
            a.study == "x.toml" && a.target == ["/a", "/b"]
        });
        check("blocklab run --size 1GiB --runtime 2min", |a| {
            a.size == Some(Bytes::GIB) && a.runtime == Some(Nanos::from_secs(120))
        });
        check("blocklab run --destroy-data=sdb --destroy-data=X1", |a| {
            a.destroy_data == ["sdb", "X1"]
        });
    }

    #[test]
    fn mistakes_are_told_with_what_would_work() {
        for (line, words) in [
            ("blocklab run --size lots", "a size such as"),
            ("blocklab run --runtime soon", "a time such as"),
            ("blocklab run --repeat 0", "--repeat"),
            ("blocklab run --repeat 0", "at least 1"),
            ("blocklab run --name latest", "always the last run"),
            ("blocklab list --limit 0", "at least 1"),
            ("blocklab export latest --format xml", "json, csv, parquet"),
            ("blocklab ruin", "'run'"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
            let text = error.to_string();
            assert!(text.contains(words), "{line}: {text}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
