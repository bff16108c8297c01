//! In: the words of a command line.
//! Out: the parsed arguments of every command; help texts, from which manual pages and completions are
//! generated.
//! Never: carries anything out or reads a file.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

use std::num::NonZeroU32;
use std::path::PathBuf;

use blocklab_compare::gate::percent;
use blocklab_console::terminal;
use blocklab_record::Status;
use blocklab_report::document::Form;
use blocklab_store::Listed;
use blocklab_tools::args::{CdmArgs, DiskspdArgs, FioArgs, VdbenchArgs};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

mod advise;
mod catalog;
mod conflict;
mod empty;
mod emulate;
mod fleet;
mod foreign;
mod history;
mod judge;
mod k8s;
mod manual;
mod merge;
mod parse;
mod run;
mod serve;
mod since;
mod trace;

pub use advise::AdviseArgs;
pub use blocklab_results::Output;
pub use catalog::{
    CatalogArgs, CatalogCommand, CatalogImportArgs, CatalogListArgs, CatalogShowArgs,
};
pub use emulate::{EmulateArgs, EmulateCtlArgs, SpinArg};
pub use fleet::{FleetArgs, FleetCommand, FleetRunArgs, REFUSED};
pub use foreign::{ConvertArgs, ImportArgs, ImportTool, Language};
pub use history::HistoryArgs;
pub(crate) use judge::written;
pub use judge::{CalibrateArgs, CompareArgs, DiagnoseArgs, GateArgs, PriceArgs, PriceBy};
pub use k8s::{K8sArgs, K8sCommand, K8sManifestArgs};
pub use manual::{ManualPage, manual_page, manual_pages};
pub use merge::MergeArgs;
pub use parse::{ParseError, by_name, parse};
pub(crate) use run::run_name;
pub use run::{Arrivals, LoadArgs, OperationKind, RunArgs};
pub use serve::ServeArgs;
pub use since::Since;
pub use trace::{
    EventArg, PaceArg, ReplayArgs, TraceArgs, TraceCommand, TraceFitArgs, TraceImportArgs,
    TraceInput, TraceModelArgs, TraceRecordArgs, TraceShowArgs,
};

const ABOUT: &str = "A lab bench for block storage: measures what a disk delivers";

const LONG_ABOUT: &str = "\
A lab bench for block storage: benchmarks disks and cloud volumes, and shows how far to trust \
each number.

Without a study, `blocklab run` measures the file system of the current directory with a scratch \
file, in about a minute. Blocklab never overwrites anything it did not create unless you name it.";

const RUNS: &str = "\
A RUN is an id from `blocklab list`, a unique beginning of one, its last part, the name of a run, \
`tag:` and a tag (its newest run), the path of a run's folder, or `latest`. If several runs match, the command lists their ids.";

const EXAMPLES: &str = "\
Examples:
  blocklab run                       how fast is the disk under this directory?
  blocklab run --target /data        and the disk under /data?
  blocklab devices                   list disks, and which blocklab would write to
  blocklab show latest               show the last result again
  blocklab report latest             ... as a page for the browser

Exit status: 0 done, 1 a run failed, 2 invalid request, 3 hosts of a fleet were lost, 4 --fail-on found what it forbids, \
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
    /// Show since which run a load is slower, and what changed there
    History(HistoryArgs),
    /// Name what limits a run, and check it against what you pay for
    Diagnose(DiagnoseArgs),
    /// Show the cost per IOPS, MB/s, GB and million I/Os
    Price(PriceArgs),
    /// Find the cheapest volume and machine that carry a load
    Advise(Box<AdviseArgs>),
    /// Translate a fio job file into a study in the native format
    Convert(ConvertArgs),
    /// Merge the runs of several hosts that ran one load at the same time
    Merge(MergeArgs),
    /// Show stored runs, and those that go on, as local pages for the browser
    Serve(ServeArgs),
    /// Run one load on many hosts at once, by Open MPI or Slurm
    Fleet(FleetArgs),
    /// Export a run as CSV, JSON or Parquet, or for Prometheus
    Export(ExportArgs),
    /// Keep a note with a run: what you changed, and why
    Note(NoteArgs),
    /// Delete runs from the store
    Rm(RmArgs),
    /// Import results of fio, DiskSpd, CrystalDiskMark or Vdbench
    Import(ImportArgs),
    /// Make a model of a disk from its runs, to simulate it
    Calibrate(CalibrateArgs),
    /// Recorded loads: import them, understand them, ask which volume would carry them
    Trace(TraceArgs),
    /// Serve a volume that nobody rented over NBD, to databases and other programs
    Emulate(Box<EmulateArgs>),
    /// Change a volume that is served, or let it fail
    EmulateCtl(EmulateCtlArgs),
    /// Show cloud volumes and instances: limits and prices, by day and region
    Catalog(CatalogArgs),
    /// Measure a storage class of Kubernetes: print the manifest, or what the class promises
    K8s(K8sArgs),
    /// List this machine's block devices, and whether blocklab would write to them
    Devices(DevicesArgs),
    /// Print the manual page of a command, or write all of them into a directory
    Man(ManArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
}

/// Parses a percentage from 0 to below 100, such as `2%`.
fn share(text: &str) -> Result<f64, String> {
    percent(text).ok_or_else(|| format!("`{text}` is not a percentage such as 2%"))
}

/// Parses a whole number above 0.
fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    from_one_to(text, u32::MAX)
}

/// Parses a whole number from 1 to `most`.
fn from_one_to(text: &str, most: u32) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().and_then(NonZeroU32::new);
    number
        .filter(|number| number.get() <= most)
        .ok_or_else(|| format!("it must be a whole number, at least 1 and at most {most}"))
}

const LIST_EXAMPLES: &str = "\
Examples:
  blocklab list                      the newest first
  blocklab list --limit 10
  blocklab list --reverse            the oldest first
  blocklab list --name 'nightly*' --since 7d
  blocklab list --target 'sim:gp3*' --status complete,interrupted
  blocklab list --study quick --since 2026-11-01 --limit 10
  blocklab list --json | jq -r '.runs[].id'
  blocklab list --store /mnt/shared/runs

In --name, --study and --target, `*` stands for any text, and without one the whole must be the same. A run \
is listed if it fits all that is given.";

/// `blocklab list`.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListArgs {
    /// Oldest first, so that the newest is next to the prompt
    #[arg(short, long)]
    pub reverse: bool,
    /// Which runs
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Show only the N newest runs
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroU32>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

/// Which runs are listed.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// Runs of this name
    #[arg(long, value_name = "PATTERN")]
    pub name: Option<String>,
    /// Runs of this study
    #[arg(long, value_name = "PATTERN")]
    pub study: Option<String>,
    /// Runs that ended so (repeatable)
    #[arg(long, value_enum, value_name = "STATUS", value_delimiter = ',')]
    pub status: Vec<Ended>,
    /// Runs of this target, or of a file in this directory
    #[arg(long, value_name = "PATTERN")]
    pub target: Option<String>,
    /// Runs of this tag, which `blocklab note RUN --tag TAG` gives
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Runs that began then or later: so long ago, such as 2d or 12h, or a day or moment in UTC, such
    /// as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
}

/// How a run ended, in the words of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ended {
    /// Everything that was planned was measured
    Complete,
    /// Stopped by a signal
    Interrupted,
    /// Stopped by an error
    Failed,
    /// Hosts of a fleet were lost
    Incomplete,
    /// It still runs
    Running,
    /// It still runs, or was killed
    Unfinished,
}

impl Ended {
    /// The word of the list for a run.
    pub const fn from_run(run: &Listed) -> Self {
        match run.status {
            Status::Running => Self::Running,
            _ if run.partial => Self::Unfinished,
            Status::Complete => Self::Complete,
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::Failed,
            Status::Incomplete => Self::Incomplete,
        }
    }
}

impl FilterArgs {
    /// Whether `--status` chooses this run.
    pub fn has_status(&self, run: &Listed) -> bool {
        let chosen = &self.status;
        chosen.is_empty()
            || chosen.contains(&Ended::from_run(run))
            || run.partial && chosen.contains(&Ended::Unfinished)
    }
}

const SHOW_EXAMPLES: &str = "\
Examples:
  blocklab show                      the latest run
  blocklab show k3f                  by the last part of its id
  blocklab show latest --findings    the findings with all evidence
  blocklab show latest --case rand4k-q1-read
  blocklab show latest --format markdown      a table for an issue or a wiki
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
    /// Show only this case (repeatable)
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum View {
    /// For a terminal
    #[default]
    Text,
    /// For an issue, a wiki or a message
    Markdown,
    /// A page for a browser
    Html,
    /// For other programs
    Json,
}

/// In which form a view is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FormArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    format: View,
}

impl FormArgs {
    /// How the result is printed; text in the style of the terminal at standard output.
    pub fn output(self) -> Output {
        match self.format {
            _ if self.json => Output::Json,
            View::Text => Output::Document(Form::Text(terminal::style())),
            View::Markdown => Output::Document(Form::Markdown),
            View::Html => Output::Document(Form::Html),
            View::Json => Output::Json,
        }
    }
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
  blocklab export latest --format json --anonymous > for-the-ticket.json
  blocklab export latest --format prom -o disk.prom
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
    /// Leave out what identifies the machine and its owner: paths, serial numbers, names and notes
    #[arg(long)]
    pub anonymous: bool,
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
    /// Gauges for the textfile collector of Prometheus' node_exporter
    Prom,
}

const NOTE_EXAMPLES: &str = "\
Examples:
  blocklab note latest 'firmware 3.1, after filling the disk'
  blocklab note latest               shows it
  blocklab note k3f --delete
  blocklab note latest --tag baseline     for `compare tag:baseline latest` and `list --tag baseline`
  blocklab note k3f --untag baseline

The note is a file next to the record, which does not change. `show`, the page, JSON and exports \
show the note.";

/// `blocklab note`.
#[derive(Debug, Args)]
#[command(after_help = NOTE_EXAMPLES, after_long_help = format!("{RUNS}\n\n{NOTE_EXAMPLES}"))]
pub struct NoteArgs {
    /// The run
    pub run: String,
    /// The note; it replaces an older one (default: show the note)
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Delete the note
    #[arg(long, conflicts_with = "text")]
    pub delete: bool,
    /// Give the run a tag, a word to choose runs by (repeatable)
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub tag: Vec<String>,
    /// Take a tag from it (repeatable)
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub untag: Vec<String>,
}

const RM_EXAMPLES: &str = "\
Examples:
  blocklab rm 20261120-190142-k3f
  blocklab rm k3f 012
  blocklab rm latest --dry-run     what would be removed

All runs are found before any is removed; when one is not there, none is. Only what blocklab wrote \
is removed: your own files in its folder stay.";

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
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
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
  blocklab completions fish > ~/.config/fish/completions/blocklab.fish

In bash, zsh and fish the stored runs, the studies and the addresses of volumes are completed, too.";

/// `blocklab completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

#[cfg(test)]
mod tests {
    use blocklab_units::Nanos;
    use clap::CommandFactory;

    use super::*;

    /// The story: `trace fit --on gp3:1TiB night.trace` said that the trace was missing, which had been taken
    /// for another address.
    #[test]
    fn a_trace_follows_an_address() {
        for command in ["show", "fit"] {
            let words = [
                "blocklab",
                "trace",
                command,
                "--on",
                "gp3:1TiB",
                "night.trace",
            ];
            assert!(Cli::try_parse_from(words).is_ok(), "{command}");
        }
    }

    /// The story: `advise --horizon 0s --burst` counted credits that last for no time at all.
    #[test]
    fn a_horizon_of_no_time_is_refused() {
        let asked = ["blocklab", "advise", "--need", "1TiB", "--horizon", "0s"];
        assert!(Cli::try_parse_from(asked).is_err());
    }

    /// The story: `run --duration 60s` was to be `--rate-iops`, and `run --filename` a word after `--`.
    #[test]
    fn the_names_that_other_tools_have_are_taken() {
        let words = [
            "blocklab",
            "run",
            "--filename",
            "/data",
            "--duration",
            "60s",
        ];
        let Command::Run(args) = Cli::try_parse_from(words).expect("known").command else {
            panic!("it is `run`");
        };
        assert_eq!(args.target, ["/data"]);
        assert_eq!(args.runtime, Some(Nanos::from_secs(60)));
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

    /// The words of an example, without its comment and what other programs make of the output.
    fn typed(example: &str) -> Vec<String> {
        let (mut words, mut word, mut quote, mut blanks) = (Vec::new(), None, None, 0);
        let example = example.split(" ... ").next().unwrap_or(example);
        for letter in example.chars() {
            match (letter, quote) {
                (' ', None) => {
                    words.extend(word.take());
                    blanks += 1;
                    continue;
                }
                ('|' | '>' | '&', None) => break,
                // A comment is separate.
                _ if blanks > 1 => break,
                ('\'', None) => quote = Some(letter),
                ('\'', Some(_)) => quote = None,
                _ => word.get_or_insert_with(String::new).push(letter),
            }
            blanks = 0;
        }
        words.extend(word);
        words
    }

    /// The story: the example in the help of `import` failed as it was written.
    #[test]
    fn every_example_is_a_command() {
        fn check(command: &clap::Command, seen: &mut usize) {
            let help = command.get_after_long_help().or(command.get_after_help());
            let help = help.map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
                // A job of Kubernetes may be called like the program.
                let mut places = line.match_indices("blocklab ").map(|(at, _)| at);
                let Some(at) = places
                    .find(|at| !line[..*at].ends_with('/'))
                    .filter(|at| *at == 0 || line.contains('|'))
                else {
                    continue;
                };
                let words = typed(&line[at..]);
                // A help text of another tool is no mistake.
                let mistake = Cli::try_parse_from(&words)
                    .err()
                    .filter(clap::Error::use_stderr);
                assert!(mistake.is_none(), "{line}\n{words:?}\n{mistake:?}");
                *seen += 1;
            }
            command
                .get_subcommands()
                .for_each(|below| check(below, seen));
        }
        let mut seen = 0;
        let mut cli = Cli::command();
        cli.build();
        check(&cli, &mut seen);
        assert!(seen > 60, "{seen} examples");
    }

    #[test]
    fn mistakes_are_reported_with_what_would_work() {
        for (line, words) in [
            ("blocklab run --size lots", "a size such as"),
            ("blocklab run --runtime soon", "a time such as"),
            ("blocklab run --repeat 0", "--repeat"),
            ("blocklab run --repeat 0", "at least 1"),
            // With a thousand million, a list of all passes took 16 GB, and the run was aborted.
            ("blocklab run --repeat 100001", "at most 100000"),
            ("blocklab run --name latest", "always the last run"),
            ("blocklab list --limit 0", "at least 1"),
            ("blocklab export latest --format xml", "json, csv, parquet"),
            ("blocklab ruin", "'run'"),
            ("blocklab run --bs 16k", "--rw"),
            ("blocklab run quick --rw read", "cannot be used with"),
            ("blocklab run --repeat-for 1min", "--repeat-until"),
            (
                "blocklab run --list --html page.html",
                "cannot be used with",
            ),
            ("blocklab run --list --json-lines", "cannot be used with"),
            ("blocklab run --repeat-until 0%", "above 0"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
            let text = error.to_string();
            assert!(text.contains(words), "{line}: {text}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
