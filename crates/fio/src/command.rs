//! fio's command line: its own options, jobs between them, job files.

use blocklab_syntax::{Mistake, Place};
use blocklab_units::{Nanos, with_defaults};

use super::engine;
use super::number::{Clock, time};
use super::options::{Kind, Opt, find, hint, options};
use super::source::{Section, Setting};
use super::value::nonzero;

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

with_defaults! {
    /// Options that belong to no job.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct General {
        /// In the order in which they were given; at least one.
        pub formats: Vec<Format> = vec![Format::Normal],
        /// 2 to 5.
        pub terse_version: u8 = 3,
        /// Where the results go; `None`: standard output.
        pub output: Option<String> = None,
        /// Time after which the results so far are printed, again and again.
        pub status_interval: Option<Nanos> = None,
        /// Whether the ETA line is shown; `None`: on a terminal.
        pub eta: Option<bool> = None,
        /// Whether that line is ended, and not written over by the next one.
        pub eta_newline: bool = false,
        /// Read everything, run nothing.
        pub parse_only: bool = false,
        /// Print the jobs as a command line.
        pub show_command: bool = false,
        /// Refuse what writes.
        pub read_only: bool = false,
        /// Names of the sections that are run; empty: all.
        pub sections: Vec<String> = Vec::new(),
        /// `--help`.
        pub help: bool = false,
        /// `--version`.
        pub version: bool = false,
        /// `--cmdhelp`, and of which option.
        pub command_help: Option<String> = None,
        /// `--enghelp`, and of which engine.
        pub engine_help: Option<String> = None,
        /// `--inflate-log`: the compressed log that is printed as text.
        pub inflate_log: Option<String> = None,
        /// `--cpuclock-test`: whether the processor's counter can be trusted.
        pub clock_test: bool = false,
        /// `--idle-prof`: whose idleness is reported.
        pub idle: Option<Profiled> = None,
        /// `--bandwidth-log`: throughput of all jobs in files.
        pub bandwidth_log: bool = false,
        /// How often the ETA line is renewed.
        pub eta_interval: Nanos = Nanos::from_secs(1),
        /// `--aux-path`: the directory of state files.
        pub aux_path: Option<String> = None,
        /// `--debug`: the subjects that are printed.
        pub debug: Vec<String> = Vec::new(),
        /// `--trigger-file`: the file whose appearance ends all jobs.
        pub trigger_file: Option<String> = None,
        /// `--trigger-timeout`: when they end.
        pub trigger_timeout: Option<Nanos> = None,
        /// `--trigger`: the command that is run then.
        pub trigger: Option<String> = None,
        /// `--client`: hosts, or files that name them, in the order in which they were given.
        pub clients: Vec<String> = Vec::new(),
        /// Options that change nothing here, with what was done.
        pub ignored: Vec<(String, &'static str)> = Vec::new(),
    }
}

/// Whose idleness `--idle-prof` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profiled {
    /// The idle time of all processors together.
    System,
    /// The idle time of each processor as well.
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
    /// Options that belong to no job.
    pub general: General,
    /// Jobs of the command line, then files; none where clients have them.
    pub inputs: Vec<Input>,
    /// The hosts of `--client`, each with what it runs.
    pub clients: Vec<Client>,
}

/// A host of `--client`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its name, or a file that names several.
    pub host: String,
    /// What it runs: the jobs before all clients, then those that follow this one.
    pub inputs: Vec<Input>,
}

impl Command {
    /// The list that the next jobs are added to.
    fn current(&mut self) -> &mut Vec<Input> {
        match self.clients.last_mut() {
            Some(client) => &mut client.inputs,
            None => &mut self.inputs,
        }
    }
}

/// Whether a value follows an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Perhaps,
    Always,
}
use Takes::{Always, Nothing, Perhaps};

/// The options that belong to no job, as `--help` lists them: their values and what they do.
pub fn general_options() -> impl Iterator<Item = (String, &'static str)> {
    OWN.iter().map(|option| {
        let value = if option.placeholder.is_empty() {
            String::new()
        } else {
            format!("={}", option.placeholder)
        };
        (format!("--{}{value}", option.name), option.meaning)
    })
}

/// An option that belongs to no job.
struct OwnOption {
    name: &'static str,
    takes: Takes,
    /// How the help writes the value.
    placeholder: &'static str,
    meaning: &'static str,
    set: Set,
}

/// Carries out an option: its name, and the value that it was given.
type Set = fn(&mut General, &str, String) -> Result<(), String>;

const fn own(
    name: &'static str,
    takes: Takes,
    placeholder: &'static str,
    meaning: &'static str,
    set: Set,
) -> OwnOption {
    OwnOption {
        name,
        takes,
        placeholder,
        meaning,
        set,
    }
}

/// The options that belong to no job.
#[rustfmt::skip]
const OWN: [OwnOption; 39] = [
    own("output", Always, "FILE", "Write the results to a file", |own, _, value| put(&mut own.output, Some(value))),
    own("latency-log", Always, "NAME", "Refused, as by fio: the latency logs of jobs are options of jobs", |_, _, _| Err("--latency-log is deprecated. Use per-job latency log options.".to_owned())),
    own("bandwidth-log", Nothing, "", "Leave the throughput of all jobs in agg-read_bw.log and its like", |own, _, _| put(&mut own.bandwidth_log, true)),
    own("minimal", Nothing, "", "Terse results", |own, _, _| put(&mut own.formats, vec![Format::Terse])),
    own("output-format", Always, "LIST", "normal, terse, json, json+; several with commas between", |own, _, value| put(&mut own.formats, formats(&value)?)),
    own("append-terse", Perhaps, "", "Terse results behind the others", |own, _, _| { own.formats.push(Format::Terse); Ok(()) }),
    own("version", Nothing, "", "Print the version whose language this is", |own, _, _| put(&mut own.version, true)),
    own("help", Nothing, "", "Print this page", |own, _, _| put(&mut own.help, true)),
    own("cmdhelp", Perhaps, "OPTION", "Explain an option of a job; `all` lists them", |own, _, value| put(&mut own.command_help, Some(value))),
    own("enghelp", Perhaps, "ENGINE", "List the engines, or the options that one has to itself", |own, _, value| put(&mut own.engine_help, Some(value))),
    own("showcmd", Nothing, "", "Print the jobs as a command line", |own, _, _| put(&mut own.show_command, true)),
    own("readonly", Nothing, "", "Refuse what writes", |own, _, _| put(&mut own.read_only, true)),
    own("eta", Always, "WHEN", "always, never or auto", |own, _, value| put(&mut own.eta, shows_eta(&value))),
    own("eta-interval", Always, "MS", "How often the ETA line is renewed; at least 500", |own, name, value| put(&mut own.eta_interval, time_given(name, &value, Clock::Millis)?.max(ETA_LEAST))),
    own("eta-newline", Always, "T", "End the ETA line, in place of writing it over", |own, _, _| put(&mut own.eta_newline, true)),
    own("debug", Always, "LIST", "Tell more: io, verify, random and others; `help` lists them", |own, _, value| put(&mut own.debug, debug(&value)?)),
    own("parse-only", Nothing, "", "Read everything, run nothing", |own, _, _| put(&mut own.parse_only, true)),
    own("merge-blktrace-only", Nothing, "", "Refused: traces are not merged", refuse),
    own("section", Always, "NAME", "Run this section of the job file; may be given several times", |own, _, value| { own.sections.push(value); Ok(()) }),
    own("alloc-size", Always, "KIB", "Ignored: memory is taken as it is needed", |own, name, value| ignore(own, name, &value, "memory is taken as it is needed")),
    own("warnings-fatal", Nothing, "", "Ignored: what fio warns of is an error or a note here", |own, name, value| ignore(own, name, &value, "what fio warns of is an error or a note here")),
    own("max-jobs", Always, "N", "Ignored: memory is taken as it is needed", |own, name, value| ignore(own, name, &value, "memory is taken as it is needed")),
    own("terse-version", Always, "N", "2 to 5 (default 3)", |own, _, value| put(&mut own.terse_version, terse_version(&value)?)),
    own("server", Perhaps, "ARGS", "Refused: --client needs no server, and `blocklab fleet run` measures many hosts", refuse_distribution),
    own("daemonize", Always, "FILE", "Refused, see --server", refuse_distribution),
    own("client", Always, "HOST", "Run the jobs that follow on this host, started there by mpirun; or on all hosts that a file names", |own, _, value| { own.clients.push(value); Ok(()) }),
    own("remote-config", Always, "FILE", "Refused, see --server", refuse_distribution),
    own("cpuclock-test", Nothing, "", "Tell which clock measures; nothing is tested", |own, _, _| put(&mut own.clock_test, true)),
    own("crctest", Perhaps, "TYPE", "Refused: it measures the processor", refuse_processor_test),
    own("memcpytest", Perhaps, "TYPE", "Refused: it measures the processor", refuse_processor_test),
    own("profile", Always, "NAME", "Refused: write its jobs out in a job file", |_, _, value| Err(format!("--profile={value} is not supported: write its jobs out in a job file"))),
    own("idle-prof", Always, "WHOSE", "system or percpu: report how idle the processors were; calibrate", |own, _, value| put(&mut own.idle, Some(profiled(&value)?))),
    own("status-interval", Always, "T", "Print the results so far every T seconds", |own, name, value| put(&mut own.status_interval, nonzero(time_given(name, &value, Clock::Seconds)?))),
    own("inflate-log", Always, "FILE", "Print a compressed log as text", |own, _, value| put(&mut own.inflate_log, Some(value))),
    own("trigger-file", Always, "FILE", "End all jobs when this file appears, and remove it", |own, _, value| put(&mut own.trigger_file, Some(value))),
    own("trigger-timeout", Always, "T", "End all jobs after this time", |own, name, value| put(&mut own.trigger_timeout, nonzero(time_given(name, &value, Clock::Seconds)?))),
    own("trigger", Always, "COMMAND", "Run this when one of the two has ended the jobs and their state files are left", |own, _, value| put(&mut own.trigger, Some(value))),
    own("trigger-remote", Always, "COMMAND", "Refused, see --server", refuse_distribution),
    own("aux-path", Always, "DIR", "Where state files of verify lie", |own, _, value| put(&mut own.aux_path, Some(value))),
];

/// Progress is measured twice a second, so no line is newer.
const ETA_LEAST: Nanos = Nanos::from_millis(500);

fn put<T>(field: &mut T, value: T) -> Result<(), String> {
    *field = value;
    Ok(())
}

fn time_given(name: &str, text: &str, clock: Clock) -> Result<Nanos, String> {
    time(text, clock).map_err(|why| format!("--{name}: {why}"))
}

fn ignore(own: &mut General, name: &str, value: &str, why: &'static str) -> Result<(), String> {
    own.ignored.push((format!("--{name}={value}"), why));
    Ok(())
}

fn refuse(_: &mut General, name: &str, _: String) -> Result<(), String> {
    Err(format!("--{name} is not supported"))
}

fn refuse_distribution(_: &mut General, name: &str, _: String) -> Result<(), String> {
    Err(format!(
        "--{name}: blocklab listens on no network, so it is no server of fio. Many hosts at once need \
         none: `blocklab fio --client=HOST --client=HOST job.fio` starts the jobs there by mpirun, and \
         `blocklab fleet run` runs a study on them"
    ))
}

fn refuse_processor_test(_: &mut General, name: &str, _: String) -> Result<(), String> {
    Err(format!(
        "--{name} is not supported: it measures the processor, not storage"
    ))
}

/// fio takes any other word, and it is as if none had been given.
fn shows_eta(word: &str) -> Option<bool> {
    match word {
        "always" => Some(true),
        "never" => Some(false),
        _ => None,
    }
}

fn terse_version(text: &str) -> Result<u8, String> {
    let version = text
        .parse()
        .ok()
        .filter(|version| (2..=5).contains(version));
    version.ok_or_else(|| "bad terse version format: it is 2, 3, 4 or 5".to_owned())
}

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
            let input = Input::File(argument.clone());
            // fio reads job files after all options of the command line; only after `--client` it matters
            // where they are: they belong to that client.
            match command.clients.last_mut() {
                Some(client) => client.inputs.push(input),
                None => files.push(input),
            }
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let name = full_name(name)?;
        // fio's own options come first; every other one belongs to the job that is being written.
        match OWN.iter().find(|own| own.name == name) {
            Some(own) => {
                let value = match (value, own.takes) {
                    (None, Always) => given.next().cloned(),
                    (value, _) => value,
                };
                let value = argument_of(name, value, own.takes);
                let done = value.and_then(|value| (own.set)(&mut command.general, name, value));
                done.map_err(|why| Mistake::here(&Place::COMMAND_LINE, why))?;
                add_clients(&mut command);
            }
            None => {
                // An unknown name takes a value as well: it is refused with its place when the jobs
                // are read.
                let is_flag = find(name).is_some_and(|option| option.value.kind == Kind::Flag);
                let value = match (value, is_flag) {
                    (None, false) => given.next().cloned(),
                    (value, _) => value,
                };
                job_option(command.current(), name, value);
            }
        }
    }
    command.inputs.append(&mut files);
    share_inputs(&mut command);
    Ok(command)
}

/// Clients without jobs between them run the jobs that follow the last of them; jobs before all clients
/// are run by each.
fn share_inputs(command: &mut Command) {
    if command.clients.is_empty() {
        return;
    }
    // From the last one back: a client without inputs takes those of the next one that has some.
    let mut following: Vec<Input> = Vec::new();
    for client in command.clients.iter_mut().rev() {
        if client.inputs.is_empty() {
            client.inputs.clone_from(&following);
        } else {
            following.clone_from(&client.inputs);
        }
    }
    let before = std::mem::take(&mut command.inputs);
    for client in &mut command.clients {
        client.inputs.splice(0..0, before.iter().cloned());
    }
}

/// Adds the clients whose `--client` has just been read; the jobs that follow are those of the last one.
fn add_clients(command: &mut Command) {
    for host in command.general.clients.iter().skip(command.clients.len()) {
        command.clients.push(Client {
            host: host.clone(),
            inputs: Vec::new(),
        });
    }
}

/// The option's text after `--` or `-`; `None` where the argument is a job file. A lone `-` is one:
/// the standard input.
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
    let own: Vec<&str> = OWN.iter().map(|own| own.name).collect();
    if find(name).is_some() || own.contains(&name) || engine::is_of_absent(name) {
        return Ok(name);
    }
    let all = own
        .iter()
        .copied()
        .chain(options().iter().flat_map(Opt::names));
    let mut fitting = all.filter(|full| !name.is_empty() && full.starts_with(name));
    if let (Some(only), None) = (fitting.next(), fitting.next()) {
        return Ok(only);
    }
    let near = match (name, blocklab_units::nearest(name, own)) {
        ("html", _) => "; `blocklab report latest --html FILE` makes the page of a run".to_owned(),
        ("json", _) => "; did you mean --output-format=json?".to_owned(),
        (_, Some(near)) => format!("; did you mean --{near}?"),
        (_, None) => hint(name),
    };
    let message = format!("unrecognized option '--{name}'{near}");
    Err(Mistake::here(&Place::COMMAND_LINE, message))
}

/// Adds an option of a job: to the job before it, to a new one for `--name`, or else to `[global]`.
fn job_option(inputs: &mut Vec<Input>, name: &str, value: Option<String>) {
    let at = Place::COMMAND_LINE;
    if name == "name" || !matches!(inputs.last(), Some(Input::Job(_))) {
        let section = match name {
            "name" => value.clone().unwrap_or_default(),
            _ => "global".to_owned(),
        };
        inputs.push(Input::Job(Section::new(section, at.clone())));
    }
    if let Some(Input::Job(section)) = inputs.last_mut() {
        section.settings.push(Setting {
            key: name.to_owned(),
            value,
            unset: Vec::new(),
            at,
        });
    }
}

/// What an option was given, where it takes that.
fn argument_of(name: &str, value: Option<String>, takes: Takes) -> Result<String, String> {
    match (takes, value.unwrap_or_default()) {
        (Always, value) if value.is_empty() => {
            Err(format!("option '--{name}' requires an argument"))
        }
        (Nothing, value) if !value.is_empty() => {
            Err(format!("option '--{name}' doesn't allow an argument"))
        }
        (_, value) => Ok(value),
    }
}

/// `--idle-prof`.
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

/// `--output-format=normal,json`.
fn formats(text: &str) -> Result<Vec<Format>, String> {
    let words = text.split(',').map(str::trim);
    words
        .map(|word| match word {
            "normal" => Ok(Format::Normal),
            "terse" | "minimal" => Ok(Format::Terse),
            "json" => Ok(Format::Json),
            "json+" => Ok(Format::JsonPlus),
            other => Err(format!(
                "output format {other} is none of normal, terse, json and json+"
            )),
        })
        .collect()
}

/// `--debug=io,verify` or `--debug=io:2`.
fn debug(text: &str) -> Result<Vec<String>, String> {
    for word in text.split(',') {
        let name = word.split(':').next().unwrap_or_default();
        if !DEBUG_WORDS.split(',').any(|known| known == name) && !["?", "help"].contains(&name) {
            return Err(format!(
                "debug mask {word} not found; there are {DEBUG_WORDS}"
            ));
        }
    }
    Ok(text.split(',').map(str::to_owned).collect())
}

/// The subjects of `--debug`.
pub const DEBUG_WORDS: &str = "process,file,io,mem,blktrace,verify,random,parse,diskutil,job,\
                               mutex,profile,time,net,rate,compress,steadystate,helperthread,zbd,\
                               sprandom,all";
