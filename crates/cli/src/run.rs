//! `blocklab run`: which of its modes the arguments ask for, and what each does.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};
use blocklab_console::status::{INTERRUPTED, MISTAKE};
use blocklab_console::{listen, place, supervisor, terminal};
use blocklab_results::{View, answer, conclude_run};
use blocklab_runner::Setting;
use blocklab_store::Store;
use blocklab_tools::fio::{self, JobFile};

use crate::answer::check_streams;
use crate::dry_run;
use crate::gate::{self, GateCommand};
use crate::request::{example, request};
use crate::study_list;
use blocklab_args::RunArgs;

/// Prints an example, the studies or a forecast if asked to; else measures under a supervisor, which
/// returns the exit code even if a thread hangs in the kernel on a dead device.
pub fn run(args: &RunArgs, store: &Store) -> Result<ExitCode> {
    check_streams(args.html.as_deref(), args.form)?;
    if let Some(study) = &args.example {
        terminal::print(example(study)?)?;
    } else if is_job_file(args) {
        return supervisor::supervise(|| measure_job_file(args, store), |_| MISTAKE);
    } else if args.list {
        study_list::print(args, store)?;
    } else if args.dry_run {
        forecast(args, store)?;
    } else {
        return supervisor::supervise(|| measure(args, store), |_| MISTAKE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures a study. Returns the exit code.
fn measure(args: &RunArgs, store: &Store) -> Result<u8> {
    let wanted = args.wanted(gate::conditions(&args.gate, GateCommand::Run)?);
    // A store or a file that cannot be written is an error before anything is measured.
    wanted.try_out(store)?;
    let setting = Setting {
        store,
        guard: &place::guard(&args.destroy_data, store),
        catalog: &place::load_catalog()?,
        interrupted: &*listen()?,
    };
    let request = request(args, &wanted.conditions, store)?;
    answer(&request, &wanted, setting)
}

/// Prints what the run would do. It takes the conditions of the gate, so that a dry run refuses
/// what the run would refuse.
fn forecast(args: &RunArgs, store: &Store) -> Result<()> {
    let setting = Setting {
        store,
        guard: &place::guard(&args.destroy_data, store),
        catalog: &place::load_catalog()?,
        // No handler is installed: a forecast has nothing to close, so Ctrl-C may just end it.
        interrupted: &AtomicBool::new(false),
    };
    let conditions = gate::conditions(&args.gate, GateCommand::Run)?;
    dry_run::print(&request(args, &conditions, store)?, setting, args.form)
}

/// Whether the argument STUDY is a job file of fio.
fn is_job_file(args: &RunArgs) -> bool {
    Path::new(args.study()).extension() == Some("fio".as_ref())
}

/// Runs a job file of fio, keeps the run and shows it as any other.
fn measure_job_file(args: &RunArgs, store: &Store) -> Result<u8> {
    let of_studies = [
        ("--list", args.list),
        ("--dry-run", args.dry_run),
        ("--create", args.create),
        ("--case", !args.case.is_empty()),
        ("--repeat", args.repeat.is_some()),
        ("--repeat-until", args.repeat_until.is_some()),
        ("--seed", args.seed.is_some()),
        ("--start-at", args.start_at.is_some()),
        ("--system", !args.system.is_empty()),
        ("--with", !args.with_run.is_empty()),
        ("--fresh", args.fresh),
    ];
    if let Some((option, _)) = of_studies.iter().find(|(_, is_given)| *is_given) {
        bail!(
            "{option} works for studies only: `blocklab convert {} --to native` turns a job file into one",
            place::shell_word(args.study())
        );
    }
    let wanted = args.wanted(gate::conditions(&args.gate, GateCommand::Run)?);
    wanted.try_out(store)?;
    let file = JobFile {
        path: args.study(),
        is_reshaped: !args.target.is_empty()
            || args.size.is_some()
            || args.runtime.or(args.ramp).is_some(),
        read_only: args.read_only,
        destroy_data: &args.destroy_data,
        no_save: args.no_save,
        view: View {
            in_lines: args.json_lines,
            ..View::progress(!args.quiet)
        },
    };
    match fio::run_job_file(&file, store)? {
        Some(mut record) => {
            if let Some(name) = &args.name {
                record.requested.name.clone_from(name);
            }
            conclude_run(&mut record, &wanted, store)
        }
        None => Ok(INTERRUPTED),
    }
}
