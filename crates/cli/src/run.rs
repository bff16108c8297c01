//! `blocklab run`: from arguments to a kept Record, its table and its page.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use blocklab_record::{Record, Status};
use blocklab_runner::run_plans;
use blocklab_store::Store;
use jiff::Timestamp;

use crate::args::RunArgs;
use crate::dry_run;
use crate::gate;
use crate::repeat::Repeat;
use crate::selected_study::{example, listed, study};
use crate::study;
use crate::watch::Watch;
use blocklab_console::status::{INTERRUPTED, MISTAKE};
use blocklab_console::{chance, listen, place, supervisor, terminal};
use blocklab_results::conclude;
use blocklab_results::keeping;
use blocklab_results::output::{self, Over};
use blocklab_tools::fio::{self, JobFile};

/// Runs a study, keeps it, and shows it.
pub fn run(args: &RunArgs, store: &Store) -> Result<ExitCode> {
    if let Some(study) = &args.example {
        terminal::print(example(study)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.list {
        terminal::print_styled(listed(args, store, terminal::style())?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        dry_run(args, store)?;
        return Ok(ExitCode::SUCCESS);
    }
    supervisor::supervise(|| measure(args, store), |_| MISTAKE)
}

fn dry_run(args: &RunArgs, store: &Store) -> Result<()> {
    if is_job_file(args) {
        bail!(
            "--dry-run works for studies only: `blocklab convert {} --to native` turns a job file into one",
            args.study()
        );
    }
    let shared = study::Shared {
        args,
        study: &study(args, store)?,
        guard: &place::guard(&args.destroy_data, store),
        catalog: &place::load_catalog()?,
        interrupted: &AtomicBool::new(false),
    };
    dry_run::print(&shared, store)
}

/// Whether a job file of fio stands in the place of a study.
fn is_job_file(args: &RunArgs) -> bool {
    Path::new(args.study()).extension() == Some("fio".as_ref())
}

fn measure(args: &RunArgs, store: &Store) -> Result<u8> {
    keeping::try_out(store, args.no_save)?;
    if let Some(path) = &args.html {
        output::try_out(path, Over::forced(args.force))?;
    }
    if is_job_file(args) {
        return measure_job_file(args, store);
    }
    let mut study = study(args, store)?;
    if let Some(name) = &args.name {
        study.plan.name.clone_from(name);
    }
    if study::is_multi_system(args, &study)? {
        return study::hold(args, &study, store);
    }
    let (catalog, interrupted) = (place::load_catalog()?, listen()?);
    let shared = study::Shared {
        args,
        study: &study,
        guard: &place::guard(&args.destroy_data, store),
        catalog: &catalog,
        interrupted: &interrupted,
    };
    let id = store.new_id(Timestamp::now(), chance()?);
    let part = shared.part(id, study.plan.clone(), &study.targets);
    let mut watch = Watch::new(args, &[(None, &study.plan)], store);
    let conducted = run_plans(vec![part], &mut watch);
    watch.finished();
    let mut record = match conducted {
        Err(blocklab_runner::Error::Interrupted) => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            return Ok(INTERRUPTED);
        }
        other => other?.pop().context("the run left no record")?,
    };
    let missed = Repeat::of(args).and_then(|it| it.missed(&record));
    if let Some(missed) = missed.filter(|_| record.status == Status::Complete) {
        terminal::warn(&missed);
    }
    end(args, store, &mut record)
}

/// A job file of fio, kept and shown as any other run.
fn measure_job_file(args: &RunArgs, store: &Store) -> Result<u8> {
    if !args.case.is_empty() || args.repeat_until.is_some() {
        bail!("a fio job file has no cases or passes: `blocklab convert` turns it into a study");
    }
    let file = JobFile {
        path: args.study(),
        is_reshaped: !args.target.is_empty() || args.size.is_some() || args.runtime.is_some(),
        read_only: args.read_only,
        destroy_data: &args.destroy_data,
        no_save: args.no_save,
        quiet: args.quiet,
    };
    match fio::study(&file, store)? {
        Some(mut record) => end(args, store, &mut record),
        None => Ok(INTERRUPTED),
    }
}

/// Shows, keeps and judges a run.
fn end(args: &RunArgs, store: &Store, record: &mut Record) -> Result<u8> {
    if !args.no_save {
        store.settle(record);
    }
    let assessment = blocklab_findings::assess(record);
    let gate = gate::of_runs(&args.fail_on, &[(record, &assessment)]);
    let mut run = blocklab_results::Run {
        record,
        assessment,
        gate,
    };
    conclude(&mut run, &args.wanted(), store)
}
