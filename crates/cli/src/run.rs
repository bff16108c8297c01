//! `blocklab run`: from arguments to a kept Record, its table and its page.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use blocklab_record::{Record, Status};
use blocklab_report::{html, json, text};
use blocklab_store::Store;
use blocklab_study::run_plans;
use jiff::Timestamp;

use crate::answer::{closing, gate_of, is_for_people, judged, last_lines, page_path, print};
use crate::args::RunArgs;
use crate::dry_run;
use crate::gate;
use crate::repeat::Repeat;
use crate::selected_study::{example, listed, study};
use crate::study;
use crate::watch::Watch;
use blocklab_console::status::{FAILED, INTERRUPTED, MISTAKE};
use blocklab_console::{chance, listen, place, supervisor, terminal};
use blocklab_tools::fio::{self, JobFile};
use blocklab_tools::keeping::{self, Keeping};
use blocklab_tools::output::{self, Over};

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
        Err(blocklab_study::Error::Interrupted) => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            return Ok(INTERRUPTED);
        }
        other => other?.pop().context("the run left no record")?,
    };
    let missed = Repeat::of(args).and_then(|it| it.missed(&record));
    if let Some(missed) = missed.filter(|_| record.status == Status::Complete) {
        terminal::warn(&missed);
    }
    present(args, store, &mut record)
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
        Some(mut record) => present(args, store, &mut record),
        None => Ok(INTERRUPTED),
    }
}

/// Prints the result, keeps the run, writes the page: in this order, so that a run that
/// cannot be kept is seen.
fn present(args: &RunArgs, store: &Store, record: &mut Record) -> Result<u8> {
    if !args.no_save {
        store.settle(record);
    }
    let assessment = blocklab_findings::assess(record);
    let gate = gate_of(args, &[(record, &assessment)]);
    let page = html::page(&[(record, &assessment)]);
    let result = || json::summary(record, &assessment, gate.as_ref());
    let printed = print(args, &page, || match args.json {
        true => result(),
        false if args.json_lines => last_lines("summary", &result(), [&*record]),
        false => text::summary(record, &assessment, terminal::style()),
    });
    let mut keeping = Keeping::new(store);
    let folder = match args.no_save {
        true => None,
        false => keeping.keep(record),
    };
    let kept = folder.is_some() && keeping.is_well;
    let is_printed = printed.is_ok();
    keeping.printed(printed);
    let again = format!("blocklab report {} --html FILE", record.id);
    let page_path = page_path(args, folder.as_deref().map(Store::page)).filter(|path| {
        let again = kept.then_some(&*again);
        keeping.page(path, &page, Over::forced(args.force), again)
    });
    let show = kept.then(|| format!("blocklab show {}", record.id));
    let closing = closing(page_path.as_deref(), show.as_deref());
    match is_printed {
        true if is_for_people(args) => terminal::print(closing)?,
        true => {}
        // Somebody who sees no result still learns where it is.
        false => terminal::inform(&closing),
    }
    match is_printed {
        true => judged(args, gate.as_ref())?,
        false => gate::aside(gate.as_ref()),
    }
    Ok(match record.status {
        Status::Complete if !keeping.is_well => FAILED,
        Status::Complete => gate::status(gate.as_ref(), args.strict),
        Status::Interrupted => INTERRUPTED,
        Status::Failed => FAILED,
    })
}
