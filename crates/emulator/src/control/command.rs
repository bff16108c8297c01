//! In: the words of a command, from a command line or a line of a socket. Out: what is to be done,
//! and the text that is kept of it.
//!
//! The commands are defined once, with clap: for the client's help, pages and completions, and for the
//! server that reads the client's line.

use std::ops::Range;
use std::str::FromStr;

use blocklab_record::ControlAction;
use blocklab_units::{Bytes, Nanos};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand, ValueEnum, value_parser};

use super::templates::{TEMPLATES, Template};
use crate::{Failure, FaultKind, Loss};

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show counters, burst buckets and active faults of the volumes
    Status(Selection),
    /// Change provisioned rates, within what the provider sells
    Set {
        /// iops=N, throughput=MiB/s, or both
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = setting)]
        settings: Vec<(String, String)>,
        #[command(flatten)]
        volumes: Selection,
    },
    /// Set the burst credits of the volumes and of their instance
    Credits {
        /// How full the buckets are then
        #[arg(value_name = "drain|fill|PERCENT", value_parser = level)]
        level: f64,
        #[command(flatten)]
        volumes: Selection,
    },
    /// Inject a fault, list faults, or end them; the word `fault` may be left out
    #[command(subcommand, arg_required_else_help = false)]
    Fault(FaultVerb),
}

#[derive(Debug, Subcommand)]
enum FaultVerb {
    /// Fail a share of the operations; failed writes change nothing
    Error {
        /// Share of the operations, such as 1%
        #[arg(value_name = "PERCENT", value_parser = share)]
        share: f64,
        /// The error that they fail with
        #[arg(long, value_name = "NAME", default_value = "EIO", value_parser = errno())]
        errno: Failure,
        #[command(flatten)]
        scope: Scope,
    },
    /// Delay a share of the operations
    Latency {
        /// How much longer they take, such as +20ms
        #[arg(value_name = "+TIME", value_parser = added_time)]
        added: Nanos,
        /// Share of the operations
        #[arg(value_name = "PERCENT", default_value = "100%", value_parser = share)]
        share: f64,
        #[command(flatten)]
        scope: Scope,
    },
    /// Play a latency course of the provider's fault service
    Template {
        /// With the times of the AWS Fault Injection Service
        #[arg(value_name = "NAME", value_parser = template())]
        course: &'static Template,
        #[command(flatten)]
        volumes: Selection,
    },
    /// Answer nothing for a time
    #[command(alias = "aws:ebs:pause-volume-io")]
    Stall {
        /// How long, such as 5s
        #[arg(value_name = "TIME", value_parser = time)]
        lasts: Nanos,
        #[command(flatten)]
        volumes: Selection,
    },
    /// Fail all requests, also those in flight, until `fault attach`; the data stays
    Detach(Selection),
    /// Like detach, and unflushed data is lost
    PowerCut {
        /// Lose each sector of 512 bytes by chance, separately
        #[arg(long)]
        torn: bool,
        #[command(flatten)]
        volumes: Selection,
    },
    /// Stop the instance: like detach, and local disks come back empty
    Stop,
    /// Bring back volumes that were detached, cut off or stopped
    Attach(Selection),
    /// Flip bits of stored data
    Bitflip {
        /// How many; the answer lists each
        #[arg(value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1000))]
        count: u64,
        #[command(flatten)]
        range: ByteRange,
        #[command(flatten)]
        volumes: Selection,
    },
    /// List active and future faults
    List(Selection),
    /// End all errors, latencies and stalls, or one of them
    Clear {
        /// The fault's number, as `fault list` shows it
        #[arg(value_name = "NUMBER")]
        number: Option<u64>,
        #[command(flatten)]
        volumes: Selection,
    },
}

#[derive(Debug, Default, Args)]
struct Selection {
    /// Only this one of several volumes
    // Names such as `-x` are allowed, and the text that is kept has a blank before them.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    volume: Option<String>,
}

#[derive(Debug, Args)]
struct ByteRange {
    /// Only these bytes, or operations that touch them, such as 1GiB..2GiB
    #[arg(long, value_name = "A..B", value_parser = range)]
    range: Option<Range<u64>>,
}

/// Which operations a fault hits, and how long.
#[derive(Debug, Args)]
struct Scope {
    /// Only reads, or only writes, trims and flushes
    #[arg(long)]
    on: Option<On>,
    #[command(flatten)]
    range: ByteRange,
    /// End it after TIME (default: at `fault clear`)
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    lasts: Option<Nanos>,
    #[command(flatten)]
    volumes: Selection,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum On {
    Read,
    Write,
}

/// A command in the terms of the controller.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    Status,
    Set(Vec<(String, String)>),
    /// A share from 0 to 1.
    Credits(f64),
    Inject {
        kind: FaultKind,
        percents: [f64; 4],
        range: Option<Range<u64>>,
        lasts: Option<Nanos>,
    },
    Template(&'static Template),
    Detach,
    PowerCut(Loss),
    Stop,
    Attach,
    Bitflip {
        count: u64,
        range: Range<u64>,
    },
    Clear(Option<u64>),
}

/// A command that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// As it can be given again.
    pub text: String,
    /// Under which name the Record keeps it; `None`: nothing is changed.
    pub(super) action: Option<ControlAction>,
    pub(super) volume: Option<String>,
    pub(super) order: Order,
}

/// A text that is no command: why, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCommand(String);

impl From<clap::Error> for BadCommand {
    /// An answer is one line: the paragraphs one behind the other, without the pointer to `--help`.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let paragraphs: Vec<String> = text
            .trim_start_matches("error: ")
            .split("\n\n")
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty() && !line.starts_with("For more information"))
            .collect();
        Self(paragraphs.join("; "))
    }
}

impl FromStr for Command {
    type Err = BadCommand;

    fn from_str(line: &str) -> Result<Self, BadCommand> {
        let matches = Self::augment_subcommands(clap::Command::new("emulate-ctl"))
            .no_binary_name(true)
            .subcommand_required(true)
            .disable_help_flag(true)
            .disable_help_subcommand(true)
            .try_get_matches_from(words(line)?)?;
        Ok(Self::from_arg_matches(&matches)?)
    }
}

/// The words of a line. Blanks within quotes (`"` or `'`) belong to a word, as in a shell.
fn words(line: &str) -> Result<Vec<String>, BadCommand> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => found.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(BadCommand(format!("a quote ({open}) is not closed")));
    }
    found.extend(word);
    Ok(found)
}

/// A word as [`words`] reads it; so does a shell, unless the word has `$`, `;` or the like.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| !letter.is_whitespace() && letter != '"' && letter != '\'';
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // A double quote ends the quotes, stands in single ones, and begins them again.
    format!("\"{}\"", word.replace('"', r#""'"'""#))
}

impl Subcommand for Command {
    /// The commands of a fault come after `fault`; without it they work as well, hidden from the
    /// help.
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let faults = FaultVerb::augment_subcommands(clap::Command::new("fault"));
        let bare = faults.get_subcommands().cloned();
        Verb::augment_subcommands(command).subcommands(bare.map(|fault| fault.hide(true)))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Verb::has_subcommand(name) || FaultVerb::has_subcommand(name)
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let bare = matches
            .subcommand_name()
            .is_some_and(FaultVerb::has_subcommand);
        let verb = if bare {
            Verb::Fault(FaultVerb::from_arg_matches(matches)?)
        } else {
            Verb::from_arg_matches(matches)?
        };
        let mut words = Vec::new();
        words.extend(bare.then(|| "fault".to_owned()));
        let commands = Self::augment_subcommands(clap::Command::new(""));
        add_words(&commands, matches, &mut words);
        let (action, volumes, order) = verb.meaning();
        Ok(Self {
            text: words.join(" "),
            action,
            volume: volumes.volume,
            order,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The words that were matched, by their names in the definition.
fn add_words(command: &clap::Command, matches: &ArgMatches, words: &mut Vec<String>) {
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        words.extend(arg.get_long().map(|long| format!("--{long}")));
        if arg.get_action().takes_values() {
            let values = matches.get_raw(id).into_iter().flatten();
            words.extend(values.map(|value| quoted(&value.to_string_lossy())));
        }
    }
    if let Some((name, below)) = matches.subcommand() {
        words.push(name.to_owned());
        if let Some(command) = command.find_subcommand(name) {
            add_words(command, below, words);
        }
    }
}

/// What the Record keeps (`None`: nothing), for which volumes, and what is done.
type Meaning = (Option<ControlAction>, Selection, Order);

impl Verb {
    /// What the command does.
    fn meaning(self) -> Meaning {
        match self {
            Self::Status(volumes) => (None, volumes, Order::Status),
            Self::Set { settings, volumes } => {
                (Some(ControlAction::Set), volumes, Order::Set(settings))
            }
            Self::Credits { level, volumes } => {
                (Some(ControlAction::Credits), volumes, Order::Credits(level))
            }
            Self::Fault(fault) => fault.meaning(),
        }
    }
}

impl FaultVerb {
    /// What the command does.
    fn meaning(self) -> Meaning {
        use ControlAction as Action;
        let (action, volumes, order) = match self {
            Self::Error {
                share,
                errno,
                scope,
            } => return scope.inject(Action::Error, FaultKind::Error(errno), share),
            Self::Latency {
                added,
                share,
                scope,
            } => return scope.inject(Action::Latency, FaultKind::Latency(added), share),
            Self::List(volumes) => return (None, volumes, Order::Status),
            Self::Template { course, volumes } => {
                (Action::Latency, volumes, Order::Template(course))
            }
            Self::Stall { lasts, volumes } => {
                let order = Order::Inject {
                    kind: FaultKind::Stall,
                    percents: [100.0; 4],
                    range: None,
                    lasts: Some(lasts),
                };
                (Action::Stall, volumes, order)
            }
            Self::Detach(volumes) => (Action::Detach, volumes, Order::Detach),
            Self::PowerCut { torn, volumes } => {
                let loss = if torn { Loss::Torn } else { Loss::All };
                (Action::PowerCut, volumes, Order::PowerCut(loss))
            }
            Self::Stop => (Action::Stop, Selection::default(), Order::Stop),
            Self::Attach(volumes) => (Action::Attach, volumes, Order::Attach),
            Self::Bitflip {
                count,
                range,
                volumes,
            } => {
                let range = range.range.unwrap_or(0..u64::MAX);
                (Action::Bitflip, volumes, Order::Bitflip { count, range })
            }
            Self::Clear { number, volumes } => (Action::Clear, volumes, Order::Clear(number)),
        };
        (Some(action), volumes, order)
    }
}

impl Scope {
    /// A fault of this kind that hits a share of the operations in the scope.
    fn inject(self, action: ControlAction, kind: FaultKind, percent: f64) -> Meaning {
        let order = Order::Inject {
            kind,
            // Reads first, then everything else.
            percents: match self.on {
                None => [percent; 4],
                Some(On::Read) => [percent, 0.0, 0.0, 0.0],
                Some(On::Write) => [0.0, percent, percent, percent],
            },
            range: self.range.range,
            lasts: self.lasts,
        };
        (Some(action), self.volumes, order)
    }
}

/// A range of bytes; either end may be missing.
fn range(text: &str) -> Result<Range<u64>, String> {
    let wrong = "it is no range such as 1GiB..2GiB, ..4KiB or 1GiB..";
    let (first, end) = text.split_once("..").ok_or(wrong)?;
    let first = match first {
        "" => 0,
        first => first.parse::<Bytes>().map_err(|_| wrong)?.0,
    };
    let end = match end {
        "" => u64::MAX,
        end => end.parse::<Bytes>().map_err(|_| wrong)?.0,
    };
    if first >= end {
        return Err("the range holds nothing".to_owned());
    }
    Ok(first..end)
}

fn time(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos::ZERO) => Err("a time of 0 does nothing".to_owned()),
        time => time.map_err(|error| error.to_string()),
    }
}

fn added_time(text: &str) -> Result<Nanos, String> {
    time(text.strip_prefix('+').unwrap_or(text))
}

/// A number from 0 to 100, with or without `%`. A sign would look like a change of the share.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let unsigned = Some(number).filter(|number| !number.starts_with(['+', '-']));
    let number = unsigned.and_then(|number| number.parse().ok());
    let sound = number.filter(|percent: &f64| (0.0..=100.0).contains(percent));
    sound.ok_or_else(|| "it is no share such as 1% or 0.1%, at most 100%".to_owned())
}

/// The share of the operations that a fault hits, in per cent.
fn share(text: &str) -> Result<f64, String> {
    match percent(text)? {
        0.0 => Err("a share of 0 hits nothing".to_owned()),
        percent => Ok(percent),
    }
}

/// How full a bucket is, from 0 to 1.
fn level(text: &str) -> Result<f64, String> {
    match text {
        "drain" => Ok(0.0),
        "fill" => Ok(1.0),
        share => percent(share).map(|percent| percent / 100.0),
    }
}

/// `KEY=VALUE`; the volumes decide what a key takes.
fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("it is no KEY=VALUE such as iops=16000")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Errors that can be injected.
const ERRORS: [(&str, Failure); 4] = [
    ("EIO", Failure::Io),
    ("ENOSPC", Failure::NoSpace),
    ("EPERM", Failure::ReadOnly),
    ("ESHUTDOWN", Failure::Detached),
];

fn errno() -> impl TypedValueParser<Value = Failure> {
    let names = PossibleValuesParser::new(ERRORS.map(|(name, _)| name));
    names.try_map(|name| {
        let known = ERRORS.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, failure)| *failure)
            .ok_or("it is no error that can be injected")
    })
}

fn template() -> impl TypedValueParser<Value = &'static Template> {
    let names = PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.name));
    names.try_map(|name| {
        let known = TEMPLATES.iter().find(|template| template.name == name);
        known.ok_or("it is no template")
    })
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
