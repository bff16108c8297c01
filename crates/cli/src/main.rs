//! In: arguments, environment, signals.
//! Out: calls of the other crates, messages to the user, an exit code.
//! Never: a rule about storage, a figure, a format.

// `fields!` names the type parameter of a field after the field.
#![allow(non_camel_case_types)]

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
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Error, Result};
use blocklab_args::{Cli, Command, ParseError, by_name, parse};
use blocklab_console::{clock, place, status, terminal};
use blocklab_store::Store;
use blocklab_tools::{cdm, diskspd, fio, vdbench};

fn main() -> ExitCode {
    // A write beyond `ulimit -f` then fails with EFBIG, which is reported like a full disk; the signal
    // would kill the process instead.
    // SAFETY: no handler is installed, and there is one thread.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let arguments = by_name(env::args_os());
    // Before the parser: the words of an unfinished command line are not valid arguments.
    if let Some(words) = complete::requested(&arguments) {
        return complete::print(&words);
    }
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(ParseError::Message(message)) => return failed(Error::msg(message)),
        Err(ParseError::Clap(help)) => {
            let code = ExitCode::from(help.exit_code() as u8);
            return terminal::written(help.print()).map_or_else(failed, |()| code);
        }
    };
    if let Err(error) = clock::check(SystemTime::now()) {
        terminal::complain(&error);
        return ExitCode::from(status::FAILED);
    }
    dispatch(cli).unwrap_or_else(failed)
}

/// Reports a mistake of the user, or what could not be done.
fn failed(error: Error) -> ExitCode {
    terminal::complain(&error);
    ExitCode::from(status::MISTAKE)
}

/// How the imitated tools reach `fleet` when their arguments name several hosts.
fn many_hosts<'a>(store: &'a Store, given: &Option<PathBuf>) -> fleet::ToolFleet<'a> {
    fleet::ToolFleet {
        store,
        given: given.clone(),
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    // Opened only by the commands that need it: `blocklab man` works without a home directory.
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
