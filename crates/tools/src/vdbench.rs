//! `blocklab vdbench`: parameter files of Vdbench, run here.

mod commands;
mod folder;
mod gathering;
mod journals;
mod luns;
mod machine;
mod many;
mod own_options;
mod reporter;
pub(crate) mod share;
mod times;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use blocklab_console::{listen, place, status, supervisor, terminal};
use blocklab_host::{LARGEST_REPORT, LARGEST_SCRIPT, read_input};
use blocklab_record::{Note, NoteLevel, Record};
use blocklab_report::document::{Document, Form};
use blocklab_report::views;
use blocklab_runner::Missing;
use blocklab_store::Store;
use blocklab_units::Style;
use blocklab_vdbench::{
    self as dialect, Command, Inputs, Mistake, ParameterFile, ParseFlat, Place, Repeat, Run,
    Validation, prepare, quick_test, recovery_run, validate,
};
use blocklab_workload::Workload;

use self::folder::Folder;
use self::journals::Journals;
use self::own_options::OwnOptions;
use self::reporter::Reporter;
use crate::args::VdbenchArgs;
use crate::hosts::ManyHosts;
use crate::tool_run::{
    exit_code, print_notes, print_outcome, run_tool, seed, tool_request, with_keeping,
};
use blocklab_results::output::{self, Over};
use blocklab_results::{Spooling, keep, keeping};

/// Runs what the arguments request.
pub fn run(args: &VdbenchArgs, store: &Store, hosts: &dyn ManyHosts) -> Result<ExitCode> {
    supervisor::supervise(|| attempt(&args.args, store, hosts), |_| status::MISTAKE)
}

fn attempt(arguments: &[String], store: &Store, hosts: &dyn ManyHosts) -> Result<u8> {
    let own = OwnOptions::split(arguments)?;
    if own.help {
        return print_usage();
    }
    if let Some(flat) = dialect::parse_flat(&own.rest)? {
        return print_flat(&flat);
    }
    let mut command = dialect::command(&own.rest)?;
    if command.help {
        return print_usage();
    }
    // `-t` runs a built-in test. It is read under a name in place of a file, so that everything after
    // treats it like one.
    let quick = std::env::temp_dir().join("quick_vdbench_test");
    let texts = RefCell::new(BTreeMap::new());
    if command.quick_test {
        command.files = vec![QUICK.to_owned()];
        let text = quick_test(&quick.to_string_lossy());
        texts.borrow_mut().insert(PathBuf::from(QUICK), text);
    }
    // Each file is read once, because a pipe such as `-f /dev/stdin` is empty the second time, and
    // `parmfile.html` and the hosts get its text, too.
    let read = |path: &Path| -> io::Result<String> {
        if let Some(text) = texts.borrow().get(path) {
            return Ok(text.clone());
        }
        let bytes = read_input(path, LARGEST_SCRIPT)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        texts.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    };
    let mut file = dialect::parse(&command, &read, &machine::is_here)?;
    leave_out_earlier_runs(&mut file, &command)?;
    file.notes.extend(ignored(&command));
    keeping::try_out(store, own.no_save || command.simulate)?;
    let folder = Folder::make(command.output.as_deref().unwrap_or("output"))?;
    let greeting = greeting(&command, &folder);
    folder.append("logfile", greeting.trim_start())?;
    terminal::print(greeting)?;
    folder.copy_parameters(&command.files, &read)?;
    if command.simulate {
        let (validation, _) = journals::requested(command.validation, &file, &folder);
        return simulate(&file, validation, &folder);
    }
    if !file.hosts.is_empty() {
        let read = many::Read {
            arguments: &own.rest,
            command: &command,
            text: &read,
        };
        return many::measure(file, &own, &folder, store, hosts, &read);
    }
    measure(&command, file, &own, &folder, store)
}

/// The name under which the built-in test is read.
const QUICK: &str = "quick_test";

/// The first lines on the console and in the log.
fn greeting(command: &Command, folder: &Folder) -> String {
    let mut text = format!(
        "\n\n{}\nVdbench distribution: vdbench50407 (layout of its reports)\n\n",
        own_options::WRITTEN_BY
    );
    let clock = times::now().clock;
    if folder.is_new {
        let path = folder.path.display();
        text.push_str(&format!("{clock} Created output directory '{path}'\n"));
    }
    for word in &command.scanned {
        text.push_str(&format!("{clock} input argument scanned: '{word}'\n"));
    }
    text
}

fn print_usage() -> Result<u8> {
    terminal::print(dialect::usage()).map(|()| status::DONE)
}

/// `parseflat`: columns of a flat file, to a file or to standard output.
fn print_flat(flat: &ParseFlat) -> Result<u8> {
    let mut path = PathBuf::from(&flat.input);
    if path.is_dir() {
        path.push("flatfile.html");
    }
    let text = read_input(&path, LARGEST_REPORT)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let table = flat.table(&String::from_utf8_lossy(&text))?;
    match &flat.output {
        Some(output) => output::write(Path::new(output), table, Over::Files)?,
        None => terminal::print(table)?,
    }
    let clock = times::now().clock;
    terminal::print(format!("{clock} ParseFlat completed successfully.\n"))?;
    Ok(status::DONE)
}

/// `-r RD`: leaves out the runs before the one of this name.
fn leave_out_earlier_runs(file: &mut ParameterFile, command: &Command) -> Result<()> {
    let Some(name) = &command.restart else {
        return Ok(());
    };
    let Some(first) = file.runs.iter().position(|run| run.name == *name) else {
        let missing = Mistake::new("-r", format!("there is no run {name}"));
        return Err(missing.at(&Place::COMMAND_LINE).into());
    };
    file.runs.drain(..first);
    Ok(())
}

/// A note for each option that has no effect.
fn ignored(command: &Command) -> Vec<Note> {
    let words = command.ignored.iter();
    words
        .map(|word| Note::new(NoteLevel::Ignored, &**word, "has no effect here"))
        .collect()
}

/// `-s`: prints the runs, their number and how long they take.
fn simulate(file: &ParameterFile, validation: Validation, folder: &Folder) -> Result<u8> {
    let recovery = validation.recover.then(recovery_run);
    let own: &[Run] = if validation.recover_only {
        &[]
    } else {
        &file.runs
    };
    let runs: Vec<&Run> = recovery.iter().chain(own).collect();
    let clock = times::now().clock;
    let lines = runs.iter().map(|run| run.simulated()).chain([total(&runs)]);
    let text: String = lines.map(|line| format!("{clock} {line}\n")).collect();
    print_notes(file.notes.iter());
    let end = format!(
        "{clock} Vdbench simulation completed successfully. Output directory: {} \n\n",
        folder.path.display()
    );
    folder.append("logfile", &text)?;
    terminal::print(text + &end)?;
    Ok(status::DONE)
}

/// The line with the number of runs and their total time, with warm-ups and the pauses between them. Runs
/// that last until an amount is done are not in the time.
fn total(runs: &[&Run]) -> String {
    let options = runs.iter().map(|run| &run.options);
    let lengths = options.enumerate().filter_map(|(index, option)| {
        let is_last = index + 1 == runs.len();
        let pause = if is_last { 0 } else { option.pause };
        Some(option.elapsed? + option.warmup + pause)
    });
    let seconds: u64 = lengths.sum();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!(
        "Total amount of Run Definitions: {}; total elapsed time {hours:02}:{minutes:02}:{:02}",
        runs.len(),
        seconds % 60
    )
}

/// Runs the load, and again as often as the parameters request, and gives the exit code.
fn measure(
    command: &Command,
    file: ParameterFile,
    own: &OwnOptions,
    folder: &Folder,
    store: &Store,
) -> Result<u8> {
    let (validation, directory) = journals::requested(command.validation, &file, folder);
    let interrupted = listen()?;
    let guard = place::guard(&own.destroy, store);
    let (sizes, format) = luns::make_ready(&file, &guard, validation.recover)?;
    let mut inputs = Inputs {
        sizes,
        format,
        seed: seed(own.seed)?,
        validation,
    };
    let first_seed = inputs.seed;
    let begun = Instant::now();
    let repeat = command.repeat.or(file.general.repeat);
    let (mut rounds, mut reported_runs) = (0, 0);
    commands::run(&file.general.startcmd, folder)?;
    let mut prepared = prepare(&file, &inputs)?;
    // The keys of data validation live through all repetitions: each checks what the one before wrote.
    let journals = Journals::open(&file, &prepared, &inputs, &directory)?;
    let validated = &journals.validated;
    let code = loop {
        if inputs.validation.validate {
            validate(&mut prepared, &file, &inputs, validated);
        }
        let (plan, notes) = (prepared.plan.clone(), prepared.notes.clone());
        let request = tool_request(plan, notes, Missing::Scratch);
        let mut reporter = Reporter::new(&file, &prepared, &inputs, folder, store, own, validated);
        reporter.begin_round(reported_runs)?;
        reported_runs += prepared.runs.len();
        let outcome = run_tool(&request, &guard, &interrupted, store, &mut reporter);
        // Dropping the old one ends its thread, which must not write once the run is stored.
        reporter.spooling = Spooling::new(None);
        // A report that cannot be written ends the command, but what was measured is stored.
        if let Some(error) = reporter.trouble.take() {
            if let (Ok(Some(mut record)), false) = (outcome, own.no_save) {
                keep(&mut record, store);
            }
            return Err(error);
        }
        let Some(mut record) = outcome? else {
            return Ok(status::INTERRUPTED);
        };
        journals::fail_on_miscompares(&mut record, validated);
        let is_kept = finish(&mut record, &reporter, own, store)?;
        rounds += 1;
        let code = with_keeping(exit_code(&record), is_kept);
        let is_well = code == status::DONE && !validation.recover_only;
        if !is_well || !is_repeated(repeat, rounds, begun) {
            break code;
        }
        reporter.rest();
        // Files are formatted and journals recovered only before the first round, and each round
        // draws other random numbers.
        inputs.format.clear();
        inputs.seed = Workload::seed_of(first_seed, rounds);
        inputs.validation.recover = false;
        prepared = prepare(&file, &inputs)?;
    };
    commands::run(&file.general.endcmd, folder)?;
    write_completed(folder, code)?;
    Ok(code)
}

/// Whether all runs are repeated once more, after `rounds` rounds.
fn is_repeated(repeat: Option<Repeat>, rounds: u64, begun: Instant) -> bool {
    match repeat {
        None => false,
        Some(Repeat::Times(times)) => rounds < times,
        Some(Repeat::Seconds(seconds)) => begun.elapsed().as_secs() < seconds,
        Some(Repeat::Endless) => true,
    }
}

/// Writes and prints the last lines of a command.
fn write_completed(folder: &Folder, code: u8) -> Result<()> {
    folder.status("Shutting down slaves", None)?;
    folder.status("Vdbench complete", None)?;
    if code != status::DONE {
        return Ok(());
    }
    let clock = times::now().clock;
    let done = format!("{clock} Vdbench execution completed successfully");
    folder.append("summary", &format!("{done}\n"))?;
    let done = format!("{done}. Output directory: {} \n\n", folder.path.display());
    folder.append("logfile", &done)?;
    terminal::print(done)
}

/// Prints the curves, stores the run and prints its notes. False, when it could not be stored.
fn finish(
    record: &mut Record,
    reporter: &Reporter<'_>,
    own: &OwnOptions,
    store: &Store,
) -> Result<bool> {
    let curves = reporter.curves();
    let mut curves: String = curves.map(|text| format!("\n{text}")).collect();
    let points = Document {
        name: String::new(),
        parts: views::curves(record).into_iter().collect(),
    };
    curves.push_str(&points.print(Form::Text(Style::default())));
    // Printed before it is stored, so that a run that cannot be stored has been seen.
    let printed = terminal::print(curves);
    let is_kept = own.no_save || keep(record, store);
    printed?;
    let kept_in = Some(store).filter(|_| is_kept && !own.no_save);
    print_outcome(record, record.notes.iter(), own.quiet, kept_in);
    Ok(is_kept)
}

/// Adds to an error what could not be done, and to which path.
fn context<T>(result: io::Result<T>, what: &str, path: &Path) -> Result<T> {
    result.with_context(|| format!("cannot {what} {}", path.display()))
}
