//! `blocklab vdbench`: parameter files of Vdbench, run here.

mod commands;
mod cpu;
mod folder;
mod here;
mod house;
mod luns;
mod reporter;
mod simulated;
mod times;
mod watch;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context, Result};
use blocklab_record::{Note, NoteLevel, Record};
use blocklab_store::Store;
use blocklab_vdbench::{
    self as dialect, Command, Mistake, Repeat, Script, Terms, prepare, quick_test, validate,
};
use blocklab_workload::Workload;

use self::folder::Folder;
use self::house::House;
use self::reporter::Reporter;
use crate::args::VdbenchArgs;
use crate::keeping;
use crate::tool_run::{ToolRun, exit_code, hold, keep, seed, with_keeping};
use blocklab_console::listen;
use blocklab_console::{keeper, place, status, terminal};

/// Runs what the arguments ask for.
pub fn run(args: &VdbenchArgs, store: &Store) -> Result<ExitCode> {
    keeper::keep(|| {
        attempt(&args.args, store).unwrap_or_else(|error| {
            terminal::complain(&error);
            status::MISTAKE
        })
    })
}

fn attempt(arguments: &[String], store: &Store) -> Result<u8> {
    let house = House::split(arguments)?;
    let help = || terminal::print(dialect::usage()).map(|()| status::DONE);
    if house.help {
        return help();
    }
    let mut command = dialect::command(&house.rest)?;
    if command.help {
        return help();
    }
    let quick = std::env::temp_dir().join("quick_vdbench_test");
    if command.quick_test {
        command.files = vec![QUICK.to_owned()];
    }
    let read = |path: &Path| -> io::Result<String> {
        if command.quick_test && path == Path::new(QUICK) {
            return Ok(quick_test(&quick.to_string_lossy()));
        }
        fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut script = dialect::parse(&command, &read, &here::is_here)?;
    restart(&mut script, &command)?;
    script.notes.extend(ignored(&command));
    keeping::try_out(store, house.no_save || command.simulate)?;
    let folder = Folder::make(command.output.as_deref().unwrap_or("output"))?;
    let greeting = greeting(&command, &folder);
    folder.append("logfile", greeting.trim_start())?;
    terminal::print(greeting)?;
    folder.copy_parameters(&command.files, &read)?;
    if command.simulate {
        let (validation, _) = watch::asked(command.validation, &script, &folder);
        return simulated::simulate(&script, validation, &folder);
    }
    measure(&command, script, &house, &folder, store)
}

/// The name under which the built-in test is read.
const QUICK: &str = "quick_test";

fn greeting(command: &Command, folder: &Folder) -> String {
    let mut text = format!(
        "\n\n{}\nVdbench distribution: vdbench50407 (layout of its reports)\n\n",
        house::WRITTEN_BY
    );
    if folder.is_new() {
        text.push_str(&format!(
            "{} Created output directory '{}'\n",
            times::now().clock,
            folder.path().display()
        ));
    }
    for word in &command.scanned {
        text.push_str(&format!(
            "{} input argument scanned: '{word}'\n",
            times::now().clock
        ));
    }
    text
}

/// `-r RD`: what comes before it is left out.
fn restart(script: &mut Script, command: &Command) -> Result<()> {
    let Some(name) = &command.restart else {
        return Ok(());
    };
    match script.runs.iter().position(|run| run.name == *name) {
        Some(at) => {
            script.runs.drain(..at);
            Ok(())
        }
        None => Err(dialect::Mistake {
            place: dialect::Place::default(),
            about: "-r".to_owned(),
            message: format!("there is no run {name}"),
        }
        .into()),
    }
}

fn ignored(command: &Command) -> Vec<Note> {
    let note = |word: &String| Note {
        level: NoteLevel::Ignored,
        subject: word.clone(),
        text: "has no effect here".to_owned(),
    };
    command.ignored.iter().map(note).collect()
}

fn measure(
    command: &Command,
    script: Script,
    house: &House,
    folder: &Folder,
    store: &Store,
) -> Result<u8> {
    let (validation, journals) = watch::asked(command.validation, &script, folder);
    let interrupted = listen()?;
    let guard = place::guard(&house.destroy, store);
    let luns = luns::look(&script, &guard, validation.recover)?;
    let mut terms = Terms {
        sizes: luns.sizes,
        format: luns.format,
        seed: seed(house.seed)?,
        validation,
    };
    let root = terms.seed;
    let begun = Instant::now();
    let repeat = command.repeat.or(script.general.repeat);
    let mut rounds = 0;
    commands::run(&script.general.startcmd, folder)?;
    let mut prepared = prepare(&script, &terms)?;
    let watch = watch::watch(&script, &prepared, &terms, &journals)?;
    let code = loop {
        if terms.validation.validate {
            validate(&mut prepared, &script, &terms, &watch.watched);
        }
        let tool_run = ToolRun {
            plan: prepared.plan.clone(),
            notes: prepared.notes.clone(),
            targets: &[],
            guard: &guard,
            create: true,
        };
        let mut reporter = Reporter::new(
            &script,
            &prepared,
            &terms,
            folder,
            store,
            house,
            &watch.watched,
        )?;
        let held = hold(tool_run, &interrupted, store, &mut reporter);
        if let Some(error) = reporter.trouble.take() {
            if let (Ok(Some(mut record)), false) = (held, house.no_save) {
                keep(&mut record, store);
            }
            return Err(error);
        }
        let Some(mut record) = held? else {
            return Ok(status::INTERRUPTED);
        };
        watch::judge(&mut record, &watch.watched);
        let is_kept = finish(&mut record, &reporter, house, store)?;
        rounds += 1;
        let code = with_keeping(exit_code(&record), is_kept);
        let is_well = code == status::DONE && !validation.recover_only;
        if !is_well || !is_repeated(repeat, rounds, begun) {
            break code;
        }
        terms.format.clear();
        terms.seed = Workload::seed_of(root, rounds);
        terms.validation.recover = false;
        prepared = prepare(&script, &terms)?;
    };
    commands::run(&script.general.endcmd, folder)?;
    completed(folder, code)?;
    Ok(code)
}

/// Whether the script is run once more.
fn is_repeated(repeat: Option<Repeat>, rounds: u64, begun: Instant) -> bool {
    match repeat {
        None => false,
        Some(Repeat::Times(times)) => rounds < times,
        Some(Repeat::Seconds(seconds)) => begun.elapsed().as_secs() < seconds,
        Some(Repeat::Endless) => true,
    }
}

fn completed(folder: &Folder, code: u8) -> Result<()> {
    folder.status("Shutting down slaves", None)?;
    folder.status("Vdbench complete", None)?;
    if code != status::DONE {
        return Ok(());
    }
    let clock = times::now().clock;
    let done = format!("{clock} Vdbench execution completed successfully");
    folder.append("summary", &format!("{done}\n"))?;
    let done = format!("{done}. Output directory: {} \n\n", folder.path().display());
    folder.append("logfile", &done)?;
    terminal::print(done)
}

fn finish(
    record: &mut Record,
    reporter: &Reporter<'_>,
    house: &House,
    store: &Store,
) -> Result<bool> {
    let curves = reporter.curves();
    let mut curves: String = curves.map(|text| format!("\n{text}")).collect();
    curves.push_str(&blocklab_report::text::curves(record));
    // Printed first, so that a run that cannot be kept is seen.
    let printed = terminal::print(curves);
    let is_kept = house.no_save || keep(record, store);
    printed?;
    if let Some(failure) = &record.failure {
        terminal::warn(failure);
    }
    if house.quiet {
        return Ok(is_kept);
    }
    for note in &record.notes {
        terminal::tell(&format!("note: {}: {}", note.subject, note.text));
    }
    if !house.no_save && is_kept {
        terminal::tell(&format!("More    blocklab show {}", record.id));
    }
    Ok(is_kept)
}

/// A mistake that only the machine could show.
fn about(sd: &dialect::Sd, message: impl Into<String>) -> anyhow::Error {
    let mistake: Mistake = dialect::about_storage(sd, message.into());
    mistake.into()
}

/// Reads what a path holds, with the path in the error.
fn context<T>(result: io::Result<T>, what: &str, path: &Path) -> Result<T> {
    result.with_context(|| format!("cannot {what} {}", path.display()))
}
