//! fio's command line: its own options, jobs between them, job files.

use super::mistake::{Mistake, Place};
use super::options::{find, hint, options};
use super::source::{Section, Setting};

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Paragraphs for people.
    Normal,
    /// One line a job, fields with `;` between them.
    Terse,
    /// JSON.
    Json,
    /// JSON with all buckets.
    JsonPlus,
}

/// Options that are of no job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct General {
    /// In the order in which they were given; at least one.
    pub formats: Vec<Format>,
    /// 2 to 5.
    pub terse_version: u8,
    /// Where the results go; nothing: standard output.
    pub output: Option<String>,
    /// Print results so often while running, in nanoseconds.
    pub status_interval: Option<u64>,
    /// Whether the ETA line is shown; nothing: on a terminal.
    pub eta: Option<bool>,
    /// Whether that line is ended, and not written over by the next one.
    pub eta_newline: bool,
    /// Read everything, run nothing.
    pub parse_only: bool,
    /// Print the jobs as a command line.
    pub show_command: bool,
    /// Refuse what writes.
    pub read_only: bool,
    /// Names of the sections that are run; empty: all.
    pub sections: Vec<String>,
    /// `--help`.
    pub help: bool,
    /// `--version`.
    pub version: bool,
    /// `--cmdhelp`, and of which option.
    pub command_help: Option<String>,
    /// `--enghelp`, and of which engine.
    pub engine_help: Option<String>,
    /// `--inflate-log`: the compressed log that is printed as text.
    pub inflate_log: Option<String>,
    /// `--cpuclock-test`: whether the processor's counter can be trusted.
    pub clock_test: bool,
    /// `--idle-prof`: whose idleness is told.
    pub idle: Option<Profiled>,
    /// `--bandwidth-log`: throughput of all jobs in files.
    pub bandwidth_log: bool,
    /// How often the ETA line is renewed, in nanoseconds.
    pub eta_interval: u64,
    /// `--aux-path`: where state files lie.
    pub aux_path: Option<String>,
    /// `--debug`: what is told while running.
    pub debug: Vec<String>,
    /// Options that change nothing here, with what was done.
    pub ignored: Vec<(String, &'static str)>,
}

impl Default for General {
    fn default() -> Self {
        Self {
            formats: vec![Format::Normal],
            terse_version: 3,
            output: None,
            status_interval: None,
            eta: None,
            eta_newline: false,
            parse_only: false,
            show_command: false,
            read_only: false,
            sections: Vec::new(),
            help: false,
            version: false,
            command_help: None,
            engine_help: None,
            inflate_log: None,
            clock_test: false,
            idle: None,
            bandwidth_log: false,
            eta_interval: 1_000_000_000,
            aux_path: None,
            debug: Vec::new(),
            ignored: Vec::new(),
        }
    }
}

/// Whose idleness `--idle-prof` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profiled {
    /// That of all processors together.
    System,
    /// That of each, too.
    Each,
    /// Nobody's: only how long a unit of work takes.
    Calibration,
}

/// Where jobs come from, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A job file; `-` is the standard input.
    File(String),
    /// A job given by options.
    Job(Section),
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Options that are of no job.
    pub general: General,
    /// Jobs of the command line, then files.
    pub inputs: Vec<Input>,
}

/// Whether an option takes something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Perhaps,
    Always,
}

/// Options that are of no job.
const OWN: [(&str, Takes); 39] = [
    ("output", Takes::Always),
    ("latency-log", Takes::Always),
    ("bandwidth-log", Takes::Nothing),
    ("minimal", Takes::Nothing),
    ("output-format", Takes::Always),
    ("append-terse", Takes::Perhaps),
    ("version", Takes::Nothing),
    ("help", Takes::Nothing),
    ("cmdhelp", Takes::Perhaps),
    ("enghelp", Takes::Perhaps),
    ("showcmd", Takes::Nothing),
    ("readonly", Takes::Nothing),
    ("eta", Takes::Always),
    ("eta-interval", Takes::Always),
    ("eta-newline", Takes::Always),
    ("debug", Takes::Always),
    ("parse-only", Takes::Nothing),
    ("merge-blktrace-only", Takes::Nothing),
    ("section", Takes::Always),
    ("alloc-size", Takes::Always),
    ("warnings-fatal", Takes::Nothing),
    ("max-jobs", Takes::Always),
    ("terse-version", Takes::Always),
    ("server", Takes::Perhaps),
    ("daemonize", Takes::Always),
    ("client", Takes::Always),
    ("remote-config", Takes::Always),
    ("cpuclock-test", Takes::Nothing),
    ("crctest", Takes::Perhaps),
    ("memcpytest", Takes::Perhaps),
    ("profile", Takes::Always),
    ("idle-prof", Takes::Always),
    ("status-interval", Takes::Always),
    ("inflate-log", Takes::Always),
    ("trigger-file", Takes::Always),
    ("trigger-timeout", Takes::Always),
    ("trigger", Takes::Always),
    ("trigger-remote", Takes::Always),
    ("aux-path", Takes::Always),
];

/// What a command line asks for.
///
/// # Errors
/// Unknown options, and options that lack what they take.
pub fn parse(arguments: &[String]) -> Result<Command, Mistake> {
    let mut command = Command::default();
    let mut files = Vec::new();
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        let Some(option) = long_option(argument) else {
            files.push(Input::File(argument.clone()));
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let name = full_name(name)?;
        match OWN.iter().find(|(own, _)| *own == name) {
            Some((_, takes)) => {
                let value = match (value, takes) {
                    (None, Takes::Always) => given.next().cloned(),
                    (value, _) => value,
                };
                set(&mut command.general, name, value, *takes)?;
            }
            None => {
                let is_flag = find(name).is_some_and(super::options::Opt::stands_alone);
                let value = match (value, is_flag) {
                    (None, false) => given.next().cloned(),
                    (value, _) => value,
                };
                job_option(&mut command.inputs, name, value);
            }
        }
    }
    command.inputs.append(&mut files);
    Ok(command)
}

/// Behind `--`, or behind the single `-` of the few short ones.
fn long_option(argument: &str) -> Option<&str> {
    match argument {
        "-" => None,
        "-h" => Some("help"),
        "-v" => Some("version"),
        _ => argument
            .strip_prefix("--")
            .or_else(|| argument.strip_prefix('-')),
    }
}

/// An option may be shortened as long as it is clear which one is meant.
fn full_name(name: &str) -> Result<&str, Mistake> {
    let own = || OWN.iter().map(|(own, _)| *own);
    if find(name).is_some() || own().any(|own| own == name) {
        return Ok(name);
    }
    let long = own().chain(
        options()
            .iter()
            .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied())),
    );
    let mut fitting = long.filter(|long| !name.is_empty() && long.starts_with(name));
    if let (Some(only), None) = (fitting.next(), fitting.next()) {
        return Ok(only);
    }
    let near = match blocklab_units::nearest(name, own()) {
        Some(near) => format!("; did you mean --{near}?"),
        None => hint(name),
    };
    let message = format!("unrecognized option '--{name}'{near}");
    Err(Mistake::new(&Place::COMMAND_LINE, message))
}

fn job_option(inputs: &mut Vec<Input>, name: &str, value: Option<String>) {
    let at = Place::COMMAND_LINE;
    let begins = name == "name" || inputs.is_empty();
    if begins {
        let section = match name {
            "name" => value.clone().unwrap_or_default(),
            _ => "global".to_owned(),
        };
        inputs.push(Input::Job(Section {
            name: section,
            settings: Vec::new(),
            at: at.clone(),
            begins_anew: false,
        }));
    }
    if let Some(Input::Job(section)) = inputs.last_mut() {
        section.settings.push(Setting {
            key: name.to_owned(),
            value,
            at,
        });
    }
}

fn set(
    general: &mut General,
    name: &str,
    value: Option<String>,
    takes: Takes,
) -> Result<(), Mistake> {
    let mistake = |message: String| Mistake::new(&Place::COMMAND_LINE, message);
    if takes == Takes::Always && value.as_deref().unwrap_or_default().is_empty() {
        return Err(mistake(format!("option '--{name}' requires an argument")));
    }
    if takes == Takes::Nothing && value.is_some() {
        return Err(mistake(format!(
            "option '--{name}' doesn't allow an argument"
        )));
    }
    let value = value.unwrap_or_default();
    match name {
        "output" => general.output = Some(value),
        "minimal" => general.formats = vec![Format::Terse],
        "output-format" => general.formats = formats(&value).map_err(mistake)?,
        "append-terse" => general.formats.push(Format::Terse),
        "version" => general.version = true,
        "help" => general.help = true,
        "cmdhelp" => general.command_help = Some(value),
        "enghelp" => general.engine_help = Some(value),
        "showcmd" => general.show_command = true,
        "readonly" => general.read_only = true,
        "parse-only" => general.parse_only = true,
        "section" => general.sections.push(value),
        "debug" => general.debug = debug(&value).map_err(mistake)?,
        "eta-newline" => general.eta_newline = true,
        "bandwidth-log" => general.bandwidth_log = true,
        "cpuclock-test" => general.clock_test = true,
        "idle-prof" => general.idle = Some(profiled(&value).map_err(mistake)?),
        "eta-interval" => {
            let interval = super::number::time(&value, super::number::Clock::Millis);
            // It is looked at twice a second.
            general.eta_interval = interval.map_err(mistake)?.max(500_000_000);
        }
        "inflate-log" => general.inflate_log = Some(value),
        "aux-path" => general.aux_path = Some(value),
        "eta" => {
            general.eta = match &*value {
                "always" => Some(true),
                "never" => Some(false),
                // fio takes any word, and so it is as if none had been given.
                _ => None,
            }
        }
        "terse-version" => {
            general.terse_version = match value.parse() {
                Ok(version @ 2..=5) => version,
                _ => {
                    return Err(mistake(
                        "bad terse version format: it is 2, 3, 4 or 5".to_owned(),
                    ));
                }
            }
        }
        "status-interval" => {
            let interval = super::number::time(&value, super::number::Clock::Seconds);
            general.status_interval = Some(interval.map_err(mistake)?).filter(|ns| *ns > 0);
        }
        _ => return other(general, name, value).map_err(mistake),
    }
    Ok(())
}

/// What is harmless, and what is refused.
fn other(general: &mut General, name: &str, value: String) -> Result<(), String> {
    let why = match name {
        "eta-interval" if super::number::time(&value, super::number::Clock::Seconds).is_err() => {
            return Err(format!("failed parsing eta interval {value}"));
        }
        "alloc-size" | "max-jobs" => "memory is taken as it is needed",
        "warnings-fatal" => "what fio warns of is an error or a note here",
        "latency-log" => {
            return Err("--latency-log is deprecated. Use per-job latency log options.".to_owned());
        }
        "server" | "client" | "daemonize" | "remote-config" => {
            return Err(format!(
                "--{name}: runs are not distributed; run blocklab on each machine and `blocklab compare` them"
            ));
        }
        "crctest" | "memcpytest" => {
            return Err(format!(
                "--{name} is not supported: it measures the processor, not storage"
            ));
        }
        "profile" => {
            return Err(format!(
                "--profile={value} is not supported: write its jobs out in a job file"
            ));
        }
        _ => return Err(format!("--{name} is not supported")),
    };
    general.ignored.push((format!("--{name}={value}"), why));
    Ok(())
}

fn profiled(word: &str) -> Result<Profiled, String> {
    match word {
        "system" => Ok(Profiled::System),
        "percpu" => Ok(Profiled::Each),
        "calibrate" => Ok(Profiled::Calibration),
        _ => Err(format!(
            "incorrect idle-prof option: {word}; there are system, percpu and calibrate"
        )),
    }
}

fn formats(text: &str) -> Result<Vec<Format>, String> {
    let format = |word: &str| match word.trim() {
        "normal" => Ok(Format::Normal),
        "terse" | "minimal" => Ok(Format::Terse),
        "json" => Ok(Format::Json),
        "json+" => Ok(Format::JsonPlus),
        other => Err(format!(
            "output format {other} is none of normal, terse, json and json+"
        )),
    };
    text.split(',').map(format).collect()
}

fn debug(text: &str) -> Result<Vec<String>, String> {
    let words: Vec<String> = text.split(',').map(str::to_owned).collect();
    let is_known = |word: &str| {
        let word = word.split(':').next().unwrap_or_default();
        DEBUG_WORDS.contains(&word) || ["?", "help"].contains(&word)
    };
    match words.iter().find(|word| !is_known(word)) {
        Some(word) => Err(format!(
            "debug mask {word} not found; there are {}",
            DEBUG_WORDS.join(",")
        )),
        None => Ok(words),
    }
}

/// What `--debug` can be asked to tell of.
pub const DEBUG_WORDS: [&str; 20] = [
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "all",
];
