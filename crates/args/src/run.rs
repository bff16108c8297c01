//! Arguments of `blocklab run`.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::PathBuf;

use blocklab_compare::gate::LoadCondition;
use blocklab_results::Wanted;
use blocklab_results::output::Over;
use blocklab_store::is_id;
use blocklab_units::{Bytes, Nanos, visible};
use blocklab_workload::Engine;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use jiff::Timestamp;

use super::{FormArgs, GateArgs, Output, ReplayArgs, at_least_one, from_one_to, share, written};

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
  blocklab run --repeat-until 2%                  passes until every rate is within 2 %
  blocklab run --rw randread --bs 16k --depth 4 --runtime 30s
                                                  a single load, without a file
  blocklab run --rw randread --bs 4k,64k --depth 1,4,16,64
                                                  ... and every combination of lists
  blocklab run --rw randrw --mix 70 --bs 8k --rate 5000 --target sim:gp3:500GiB@m5.xlarge --fail-on 'p99>5ms'
                                                  a given rate, on a volume that is not rented,
                                                  which fails if a percentile is too long
  blocklab run --fail-on warning --junit ci.xml   the answers for a CI system, as tests
  blocklab run --list                             the built-in studies
  blocklab run quick --list                       ... and the cases of one
  blocklab run --list --json | jq -r '.studies[].name'
  blocklab run --case rand4k-q1-read              only that case
  blocklab run --dry-run                          what it would write, and how long it takes
  blocklab run --trace night.trace --target sim:gp3:100GiB
                                                  a recorded load, on a volume that is not rented
  blocklab run --again latest                     a stored run, with the same seed
  blocklab run i3-vs-i2                           a published study, all systems simulated
  blocklab run i3-vs-i2 --target emu              ... emulated in real time
  blocklab run i3-vs-i2 --system i3.xlarge --target /data
                                                  ... with this disk as i3.xlarge

A target is a directory (a scratch file is made there and removed), a file, a device, `null`, or \
a model: sim:ADDRESS in virtual time, emu:ADDRESS in real time. A path that does \
not exist is refused unless --create makes it. A run refuses to write to a target that holds data; \
`blocklab devices` shows why. If a multi-system study is interrupted, the same command \
continues it.

Built-in studies: quick, calibrate, and the published ones i3-vs-i2, ebs-hdd, i3-metal, r5d-vs-gp3, \
im4gn.";

/// `blocklab run`.
#[derive(Debug, Args)]
#[command(group = written())]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A built-in study, or a file in the native format (default: quick)
    #[arg(value_hint = ValueHint::FilePath)]
    pub study: Option<String>,
    /// Repeat this stored run: its load, seed and targets, unless other options replace them.
    /// Relative paths begin in the current directory
    #[arg(long, value_name = "RUN", conflicts_with_all = ["study", "system", "with_run", "fresh"])]
    pub again: Option<String>,
    /// Run only this case of the study, or all cases of this matrix (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "rw")]
    pub case: Vec<String>,
    /// List the built-in studies, or the cases of STUDY, and exit
    #[arg(long, conflicts_with_all = NOT_LISTED)]
    pub list: bool,
    /// What to measure: a directory, file or device, or `null` (default: the current directory)
    #[arg(short, long, alias = "filename", value_name = "TARGET", value_hint = ValueHint::AnyPath)]
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
    #[arg(long, aliases = ["duration", "time"], value_name = "TIME")]
    pub runtime: Option<Nanos>,
    /// Time before each pass that is not counted, such as 30s or 0s, until the target is warm
    #[arg(long, value_name = "TIME")]
    pub ramp: Option<Nanos>,
    /// Passes of each case
    #[arg(long, alias = "passes", value_name = "N", value_parser = passes)]
    pub repeat: Option<NonZeroU32>,
    /// Add passes until the 95 % interval of every rate is this narrow, such as 2% (at least three)
    #[arg(long, value_name = "PERCENT", value_parser = above_nothing)]
    pub repeat_until: Option<f64>,
    /// Start no added pass after this measured time
    #[arg(
        long,
        value_name = "TIME",
        requires = "repeat_until",
        default_value = "10min"
    )]
    pub repeat_for: Nanos,
    /// Random seed; the same seed gives the same requests
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// How the result is printed
    #[command(flatten)]
    pub form: FormArgs,
    /// Print a JSON line as each measurement ends, then the result and the whole record
    #[arg(long, conflicts_with_all = ["json", "format", "html", "dry_run"])]
    pub json_lines: bool,
    /// Write the HTML report to this file (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, group = "written")]
    pub html: Option<PathBuf>,
    /// Let --html and --junit overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "written")]
    pub force: bool,
    /// Begin the first pass at this moment, as other hosts do, such as 2026-12-01T12:00:00Z; each later
    /// pass has a moment of its own
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub start_at: Option<Timestamp>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what the run would write and where, how long it takes and what it costs, and exit
    #[arg(long, conflicts_with_all = ["list", "html", "junit"])]
    pub dry_run: bool,
    /// Skip everything that writes
    #[arg(long)]
    pub read_only: bool,
    /// Create TARGET if it does not exist, and remove it after the run
    #[arg(long)]
    pub create: bool,
    /// Allow overwriting this device (by name or serial number) or file (by path), whatever it
    /// holds
    #[arg(long, value_name = "NAME")]
    pub destroy_data: Vec<String>,
    /// Print a commented example, or the text of a built-in study, and exit
    #[arg(long, exclusive = true, value_name = "STUDY", num_args = 0..=1, default_missing_value = "")]
    pub example: Option<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
    /// When the run fails
    #[command(flatten)]
    pub gate: GateArgs,
    /// Name of the run, instead of the study's; other commands accept it as RUN
    #[arg(long, value_name = "TEXT", value_parser = run_name)]
    pub name: Option<String>,
    // At the end, because the heading of a group is that of all options after it.
    /// One load instead of a study
    #[command(flatten)]
    pub load: LoadArgs,
    /// A recorded load instead of a study
    #[command(flatten)]
    pub replay: ReplayArgs,
}

impl RunArgs {
    /// Where and in which form the run is shown and kept, and by which conditions it is judged.
    pub fn wanted(&self, conditions: Vec<LoadCondition>) -> Wanted {
        let (output, in_lines) = (self.form.output(), self.json_lines);
        Wanted {
            output: if in_lines { Output::Json } else { output },
            in_lines,
            page: self.html.clone(),
            junit: self.gate.junit.clone(),
            over: Over::forced(self.force),
            is_kept: !self.no_save,
            is_quiet: self.quiet,
            conditions,
            is_strict: self.gate.strict,
        }
    }

    /// The first option that changes the cases of a study, as a list of them shows.
    pub fn about_cases(&self) -> Option<&'static str> {
        let options = [
            ("--case", !self.case.is_empty()),
            ("--target", !self.target.is_empty()),
            ("--size", self.size.is_some()),
            ("--runtime", self.runtime.is_some()),
            ("--ramp", self.ramp.is_some()),
            ("--read-only", self.read_only),
        ];
        let given = options.iter().find(|(_, is_given)| *is_given);
        given.map(|(option, _)| *option)
    }

    /// The study, by default `quick`.
    pub fn study(&self) -> &str {
        self.study.as_deref().unwrap_or("quick")
    }
}

/// Options that would have no effect on `--list`.
const NOT_LISTED: [&str; 18] = [
    "rw",
    "trace",
    "system",
    "with_run",
    "fresh",
    "repeat",
    "repeat_until",
    "seed",
    "json_lines",
    "html",
    "start_at",
    "create",
    "destroy_data",
    "fail_on",
    "gates",
    "strict",
    "junit",
    "name",
];

/// What takes the place of a load. Clap drops `requires` where what is required conflicts with what is
/// given, so each option of a load names these as well, with the options of a replay.
const NOT_A_LOAD: [&str; 13] = [
    "study",
    "trace",
    "again",
    "pace",
    "speed",
    "max_in_flight",
    "copies",
    "shift",
    "in_order",
    "trims",
    "wrap",
    "scale",
    "compact",
];

/// The heading of the options of a load by flags.
pub(crate) const LOAD_HEADING: &str = "Loads instead of a study (lists such as 1,4,16 are swept)";

/// One load, or several from lists, in the words of fio, which most people have in their fingers.
#[derive(Debug, Args)]
#[command(next_help_heading = LOAD_HEADING)]
pub struct LoadArgs {
    /// Kind of operations; three passes of 5s by default (--repeat, --runtime), each after 1s that is
    /// not counted (--ramp)
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',', conflicts_with_all = ["study", "again"])]
    pub rw: Vec<OperationKind>,
    /// Size of an operation
    #[arg(
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        requires = "rw",
        conflicts_with_all = NOT_A_LOAD,
        default_value = "4KiB"
    )]
    pub bs: Vec<Bytes>,
    /// Operations in flight in each thread (default: 1; with --rate at most 256)
    #[arg(long, aliases = ["iodepth", "qd"], value_name = "N", value_delimiter = ',', requires = "rw", conflicts_with_all = NOT_A_LOAD, value_parser = in_a_list)]
    pub depth: Vec<NonZeroU32>,
    /// Threads, each with its own operations in flight
    #[arg(long, alias = "numjobs", value_name = "N", value_delimiter = ',', requires = "rw", conflicts_with_all = NOT_A_LOAD, default_value = "1", value_parser = in_a_list)]
    pub threads: Vec<NonZeroU32>,
    /// Share of reads of `rw` and `randrw`, in per cent
    #[arg(long, visible_alias = "mix", alias = "rwmixread", value_name = "PERCENT", requires = "rw", conflicts_with_all = NOT_A_LOAD, default_value = "50", value_parser = reads)]
    pub reads: u8,
    /// Operations that arrive a second, whatever the target does; latency counts from the arrival
    #[arg(long, alias = "rate-iops", value_name = "IOPS", value_delimiter = ',', requires = "rw", conflicts_with_all = NOT_A_LOAD, value_parser = rate)]
    pub rate: Vec<NonZeroU32>,
    /// When operations of a --rate arrive (default: poisson)
    #[arg(long, value_enum, value_name = "HOW", requires = "rw", conflicts_with_all = NOT_A_LOAD)]
    pub arrivals: Option<Arrivals>,
    /// An fsync after every N writes of a thread
    #[arg(long, value_name = "N", requires = "rw", conflicts_with_all = NOT_A_LOAD, value_parser = at_least_one)]
    pub fsync: Option<NonZeroU32>,
    /// System calls to use, such as psync or libaio (default: io_uring, or what replaces it here)
    #[arg(long, alias = "ioengine", value_name = "NAME", requires = "rw", conflicts_with_all = NOT_A_LOAD, value_parser = engine())]
    pub engine: Option<Engine>,
    /// Through the page cache, instead of around it
    #[arg(long = "buffered", requires = "rw", conflicts_with_all = NOT_A_LOAD)]
    pub is_buffered: bool,
}

/// When operations of a given rate arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// At random, as those of many users do
    Poisson,
    /// At even distances
    Fixed,
    /// When the one before has ended, and no faster than the rate: what a stall delays is not made up for
    Closed,
}

/// Parses a number of passes, as many as the key `passes` of a study allows. A run lists them all
/// before the first one.
fn passes(text: &str) -> Result<NonZeroU32, String> {
    const MOST_PASSES: u32 = 100_000;
    from_one_to(text, MOST_PASSES)
}

/// Parses one number of a list; clap has split the list at its commas.
fn in_a_list(text: &str) -> Result<NonZeroU32, String> {
    at_least_one(text.trim()).map_err(|why| format!("{why}; a list is written as 1,4,16"))
}

/// Parses a moment in UTC.
fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no moment: write it as 2026-12-01T12:00:00Z"))
}

/// Parses the share of reads: `70`, `70%`, or `70/30` with that of writes behind the slash.
fn reads(text: &str) -> Result<u8, String> {
    let (reads, writes) = text.split_once('/').unzip();
    let reads = reads.unwrap_or(text).trim_end_matches('%');
    let percent = reads
        .parse()
        .ok()
        .filter(|percent| (1..=99).contains(percent));
    let is_whole = |percent: &u8| {
        let rest = writes.map(|writes| writes.trim_end_matches('%').parse());
        rest.is_none_or(|rest| rest == Ok(100 - percent))
    };
    percent.filter(is_whole).ok_or_else(|| {
        format!("`{text}` is no share of reads: 1 to 99 per cent are, such as 70 or 70/30")
    })
}

/// Parses a rate in operations a second, such as `5000`. `5,000` is a list of two, of which `000` is
/// refused here.
fn rate(text: &str) -> Result<NonZeroU32, String> {
    let number = text.trim();
    number
        .parse()
        .map_err(|_| format!("`{text}` is not a rate: whole operations a second are, such as 5000"))
}

/// Parses the name of an engine that moves data: one that does not measures no disk.
fn engine() -> impl TypedValueParser<Value = Engine> {
    let names = PossibleValuesParser::new([
        "io_uring", "libaio", "psync", "pvsync2", "pvsync", "sync", "vsync", "posixaio", "mmap",
    ]);
    names.map(|name| {
        let known = Engine::ALL.iter().find(|(known, _)| *known == name);
        known.expect("each name is an engine's").1
    })
}

/// Where the operations go, and what they do there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OperationKind {
    /// Sequential reads
    Read,
    /// Sequential writes
    Write,
    /// Sequential reads and writes
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads
    Randread,
    /// Random writes
    Randwrite,
    /// Random reads and writes
    Randrw,
}

/// The most characters of a name: a longer one would push all other columns of `list` off the line.
const LONGEST_NAME: usize = 100;

/// Parses the name of a run: a word by which it can be found again, so it can be typed and is no id.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    let wrong = match text.trim() {
        "" => "a name needs at least one character",
        "latest" => "`latest` is always the last run; take another name",
        name if is_id(name) => "it has the form of a run's id; take another name",
        name if name.starts_with("tag:") => "`tag:` stands before a tag; take another name",
        name if matches!(visible(name), Cow::Owned(_)) => {
            "it has characters that no terminal shows, so it could not be typed; remove them"
        }
        name if name.chars().count() > LONGEST_NAME => "a name has at most 100 characters",
        name => return Ok(name.to_owned()),
    };
    Err(wrong.to_owned())
}

/// Parses a percentage above 0, such as the width of a confidence interval.
fn above_nothing(text: &str) -> Result<f64, String> {
    match share(text)? {
        percent if percent > 0.0 => Ok(percent),
        _ => Err("it must be above 0, such as 2%: no interval is narrower".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::{Cli, Command};

    /// The story: Tab behind `--engine` offered files, as only the parser knew the names of the engines.
    #[test]
    fn the_engines_are_known_to_completions() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("a command");
        let mut options = run.get_opts();
        let option = options.find(|option| option.get_id() == "engine");
        let values = option.expect("an option").get_possible_values();
        let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        assert!(names.contains(&"libaio") && !names.contains(&"null"));
    }

    /// All options of `run` but three stood below "A recorded load instead of a study" in its help:
    /// the heading of a flattened group is that of whatever follows it.
    #[test]
    fn a_heading_is_that_of_its_own_options() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("a command");
        let heading = |id: &str| {
            let mut options = run.get_opts();
            let option = options.find(|option| option.get_id() == id);
            option.expect(id).get_help_heading().map(str::to_owned)
        };
        for id in ["again", "case", "target", "repeat", "html", "gates", "name"] {
            assert_eq!(heading(id), None, "{id}");
        }
        assert_eq!(heading("depth").as_deref(), Some(LOAD_HEADING));
        let replay = crate::trace::REPLAY_HEADING;
        assert_eq!(heading("copies").as_deref(), Some(replay));
    }

    /// The story: a run was named with an escape character in it, and no command found it again,
    /// because names are compared as they are shown. Another was named like the id of a run, so
    /// its name always meant that other run; a third had a name of 3,000 letters, and `list` a
    /// line of 3,079. Of a run called `tag:x`, `show tag:x` found no tag.
    #[test]
    fn a_name_can_be_typed_and_is_no_id() {
        let long = "a".repeat(LONGEST_NAME + 1);
        for bad in [
            "",
            " \t",
            "latest",
            "20261122-185558-q9w",
            "tag:x",
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
    fn the_help_names_every_built_in_study() {
        let listed = RUN_EXAMPLES.rsplit("Built-in studies: ").next();
        let listed = listed.unwrap_or_default();
        for name in blocklab_native::studies::builtin_names() {
            assert!(listed.contains(name), "{name}: {listed}");
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
            a.study() == "quick" && a.target.is_empty()
        });
        check("blocklab run x.toml -t /a --target /b", |a| {
            a.study() == "x.toml" && a.target == ["/a", "/b"]
        });
        check("blocklab run --size 1GiB --runtime 2min --ramp 0s", |a| {
            a.size == Some(Bytes::GIB)
                && a.runtime == Some(Nanos::from_secs(120))
                && a.ramp == Some(Nanos::ZERO)
        });
        check("blocklab run --destroy-data=sdb --destroy-data=X1", |a| {
            a.destroy_data == ["sdb", "X1"]
        });
        check("blocklab run --rw randread --bs 16k --iodepth 4", |a| {
            a.load.rw == [OperationKind::Randread]
                && a.load.bs == [Bytes(16 << 10)]
                && a.load.depth == [NonZeroU32::new(4).expect("four")]
        });
        check(
            "blocklab run --rw randrw --mix 70 --bs 4k,64k --depth 1,4 --rate 5000",
            |a| {
                a.load.bs.len() == 2
                    && a.load.depth.len() == 2
                    && a.load.reads == 70
                    && a.load.rate.len() == 1
            },
        );
        for share in ["70", "70%", "70/30"] {
            check(&format!("blocklab run --rw randrw --mix {share}"), |a| {
                a.load.reads == 70
            });
        }
        check("blocklab run --repeat-until 2%", |a| {
            a.repeat_until == Some(2.0) && a.repeat_for == Nanos::from_secs(600)
        });
    }
}
