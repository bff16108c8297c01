//! In: arguments, environment, signals.
//! Out: calls into the house, words to the user, an exit code.
//! Never: a rule about storage, a figure, a format.

mod advise;
mod again;
mod against;
mod answer;
mod calibrate;
mod catalog;
mod chosen;
mod compare;
mod complete;
mod devices;
mod diagnose;
mod dry_run;
mod emulate;
mod emulate_ctl;
mod fleet;
mod foreign;
mod gate;
mod history;
mod k8s;
mod list;
mod load;
mod manual;
mod merge;
mod note;
mod offers;
mod price;
mod request;
mod run;
mod serve;
mod stored;
mod study_list;
mod trace;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use blocklab_args::{Cli, Command};
use blocklab_console::{place, status, terminal};
use blocklab_store::Store;
use blocklab_tools::{cdm, diskspd, fio, vdbench};
use blocklab_units::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    // A file beyond `ulimit -f` is an error like a full disk, and no reason to be killed.
    // SAFETY: no handler is installed, and there is one thread.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let arguments = by_name(env::args_os());
    if let Some(words) = complete::requested(&arguments) {
        complete::print(&words);
        return ExitCode::SUCCESS;
    }
    if let Some(words) = arguments.iter().find_map(|argument| no_hyphen(argument)) {
        terminal::complain(&anyhow::Error::msg(words));
        return ExitCode::from(status::MISTAKE);
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            terminal::complain(&no_text(&arguments));
            return ExitCode::from(status::MISTAKE);
        }
        Err(error) => suggest(error).exit(),
    };
    dispatch(cli).unwrap_or_else(|error| {
        terminal::complain(&error);
        ExitCode::from(status::MISTAKE)
    })
}

/// The arguments, with the command that the program's own name stands for.
fn by_name(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let file = arguments
        .first()
        .and_then(|path| Path::new(path).file_name())
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let program = file.strip_suffix(".exe").unwrap_or(file);
    if let Some(name) = blocklab_tools::NAMES.iter().find(|name| **name == program) {
        arguments.insert(1, name.into());
    }
    arguments
}

/// What to say of an option whose hyphen became a dash, as word processors and web pages print it.
/// All languages would take it for the name of a file. A dash before a space opens a text.
fn no_hyphen(argument: &OsStr) -> Option<String> {
    let text = argument.to_str()?;
    let bare = text.trim_start_matches(|sign| matches!(sign, '\u{2010}'..='\u{2015}' | '\u{2212}'));
    let is_option =
        bare.len() < text.len() && bare.starts_with(|sign: char| sign.is_alphanumeric());
    is_option.then(|| {
        format!(
            "`{text}` begins with a dash that is no hyphen: type `-` or `--` before `{bare}`, or \
             `./{text}` for a file of that name"
        )
    })
}

/// Records are text, and so are the names in them.
fn no_text(arguments: &[OsString]) -> anyhow::Error {
    let culprit = arguments
        .iter()
        .find(|argument| argument.to_str().is_none());
    let shown = culprit
        .map(|culprit| culprit.to_string_lossy())
        .unwrap_or_default();
    anyhow::anyhow!(
        "`{shown}` is not UTF-8, and what is measured is kept by its name as text: give a link to it \
         that has another name (`ln -s`)"
    )
}

/// Adds the nearest command where clap finds none: it does not see swapped letters (`rnu`).
fn suggest(mut error: clap::Error) -> clap::Error {
    let written = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(written)) => written.clone(),
        _ => return error,
    };
    let cli = Cli::command();
    let known = cli.get_subcommands().map(clap::Command::get_name);
    if let Some(meant) = nearest(&written, known)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        let meant = ContextValue::Strings(vec![meant.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, meant);
    }
    error
}

/// What starts the loads of other tools on several hosts.
fn many_hosts<'a>(store: &'a Store, given: &Option<PathBuf>) -> fleet::OfTools<'a> {
    fleet::OfTools {
        store,
        given: given.clone(),
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    let store = || place::store(cli.store.clone());
    match &cli.command {
        Command::Run(args) => return run::run(args, &store()?),
        Command::Advise(args) => return advise::advise(args, &store()?),
        Command::Fleet(args) => return fleet::fleet(args, &store()?, cli.store.clone()),
        Command::Merge(args) => return Ok(merge::merge(args, &store()?)?.into()),
        Command::Cdm(args) => return cdm::run(args, &store()?),
        Command::Diskspd(args) => return diskspd::run(args, &store()?),
        Command::Fio(args) => {
            let store = store()?;
            return fio::run(args, &store, &many_hosts(&store, &cli.store));
        }
        Command::Vdbench(args) => {
            let store = store()?;
            return vdbench::run(args, &store, &many_hosts(&store, &cli.store));
        }
        Command::List(args) => list::list(args, &store()?)?,
        Command::Show(args) => stored::show(args, &store()?)?,
        Command::Report(args) => stored::report(args, &store()?)?,
        Command::Compare(args) => return compare::compare(args, &store()?),
        Command::History(args) => history::history(args, &store()?)?,
        Command::Diagnose(args) => return diagnose::diagnose(args, &store()?),
        Command::Price(args) => price::price(args, &store()?)?,
        Command::Convert(args) => foreign::convert(args)?,
        Command::Serve(args) => serve::serve(args, store()?)?,
        Command::Export(args) => stored::export(args, &store()?)?,
        Command::Import(args) => return foreign::import(args, &store()?),
        Command::Note(args) => note::note(args, &store()?)?,
        Command::Rm(args) => stored::rm(args, &store()?)?,
        Command::Calibrate(args) => return calibrate::calibrate(args, &store()?),
        Command::Emulate(args) => return emulate::emulate(args, &store()?),
        Command::EmulateCtl(args) => return emulate_ctl::emulate_ctl(args),
        Command::Catalog(args) => catalog::run(args)?,
        Command::Trace(args) => trace::run(args)?,
        Command::K8s(args) => k8s::k8s(args)?,
        Command::Devices(args) => devices::run(args, store().ok().as_ref())?,
        Command::Man(args) => manual::man(args)?,
        Command::Completions(args) => manual::completions(args)?,
    }
    Ok(ExitCode::SUCCESS)
}
