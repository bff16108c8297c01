//! `blocklab run`: from arguments to a kept Record, its table and its page.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use blocklab_record::{Interval, Record, Status};
use blocklab_report::live::Screen;
use blocklab_report::{html, json, text};
use blocklab_store::Store;
use blocklab_study::{Assignment, Observer, Part, run_plans};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};
use jiff::Timestamp;

use crate::answer::{gate_of, goes_to_output, is_for_people, judged, print};
use crate::args::RunArgs;
use crate::asked_study::{Study, example, planned, study};
use crate::{gate, study};
use blocklab_console::chance;
use blocklab_console::listen;
use blocklab_console::status::{FAILED, INTERRUPTED, MISTAKE};
use blocklab_console::{keeper, place, terminal};
use blocklab_tools::fio::{self, JobFile};
use blocklab_tools::keeping::{self, Checkpoints, Keeping};
use blocklab_tools::output::{self, Over};

/// Runs a study, keeps it, and shows it.
pub fn run(args: &RunArgs, store: &Store) -> Result<ExitCode> {
    if let Some(study) = &args.example {
        terminal::print(example(study)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    keeper::keep(|| {
        measure(args, store).unwrap_or_else(|error| {
            terminal::complain(&error);
            MISTAKE
        })
    })
}

fn measure(args: &RunArgs, store: &Store) -> Result<u8> {
    keeping::try_out(store, args.no_save)?;
    if let Some(path) = &args.html {
        output::try_out(path, Over::forced(args.force))?;
    }
    if Path::new(&args.study)
        .extension()
        .is_some_and(|end| end == "fio")
    {
        return measure_job_file(args, store);
    }
    let mut study = study(args, store)?;
    if let Some(name) = &args.name {
        study.plan.name.clone_from(name);
    }
    if study::takes_part(args, &study)? {
        return study::hold(args, study, store);
    }
    let Study {
        plan,
        notes,
        publication,
        built_in,
        targets,
        ..
    } = study;
    let interrupted = listen()?;
    let catalog = blocklab_console::place::load_catalog()?;
    let guard = place::guard(&args.destroy_data, store);
    let assignment = Assignment {
        id: store.new_id(Timestamp::now(), chance()?),
        tool: concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned(),
        notes,
        targets: &targets,
        guard: &guard,
        create: args.create,
        may_replace_engine: built_in,
        catalog: &catalog,
        interrupted: &interrupted,
        plan,
    };
    let mut watcher = Watcher::new(args, &assignment.plan, store);
    let part = Part {
        shares: &publication.shares,
        ..Part::from(assignment)
    };
    let conducted = run_plans(vec![part], &mut watcher);
    watcher.screen.finished();
    let mut record = match conducted {
        Err(blocklab_study::Error::Interrupted) => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            return Ok(INTERRUPTED);
        }
        other => other?.pop().context("the run left no record")?,
    };
    present(args, store, &mut record)
}

/// A job file of fio, kept and shown as any other run.
fn measure_job_file(args: &RunArgs, store: &Store) -> Result<u8> {
    let file = JobFile {
        path: &args.study,
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

/// Prints what was asked for, keeps the run, writes the page: in this order, so that a run that
/// cannot be kept is seen.
fn present(args: &RunArgs, store: &Store, record: &mut Record) -> Result<u8> {
    if !args.no_save {
        store.settle(record);
    }
    let assessment = blocklab_analysis::assess(record);
    let gate = gate_of(args, &[(record, &assessment)]);
    let page = html::page(&[(record, &assessment)]);
    let printed = print(args, &page, || match args.json {
        true => json::summary(record, &assessment, gate.as_ref()),
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
    let again = kept.then_some(&*again);
    let page = page_path(args, folder.as_deref())
        .filter(|path| keeping.page(path, &page, Over::forced(args.force), again));
    let closing = closing(record, page.as_deref(), kept);
    match is_printed {
        true if is_for_people(args) => terminal::print(closing)?,
        true => {}
        // Somebody who sees no result still learns where it is.
        false => terminal::tell(&closing),
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

/// The file of the page: where the user said, else beside the record.
fn page_path(args: &RunArgs, folder: Option<&Path>) -> Option<PathBuf> {
    match (&args.html, folder) {
        _ if goes_to_output(args) => None,
        (Some(path), _) => Some(path.clone()),
        (None, folder) => folder.map(Store::page),
    }
}

fn closing(record: &Record, page: Option<&Path>, kept: bool) -> String {
    let mut words = String::from("\n");
    if let Some(page) = page {
        words.push_str(&format!("Report  {}\n", page.display()));
    }
    if kept {
        words.push_str(&format!("Again   blocklab show {}\n", record.id));
    }
    words
}

/// Shows the run while it lasts, and keeps what is measured after every measurement.
struct Watcher<'a> {
    screen: Screen,
    checkpoints: Checkpoints<'a>,
    passes: u32,
    cases: Vec<String>,
    /// Planned time of the measurements before the current one.
    before: Nanos,
    current: Nanos,
    laying_out: Option<PathBuf>,
}

impl<'a> Watcher<'a> {
    fn new(args: &RunArgs, plan: &Plan, store: &'a Store) -> Self {
        let once = plan.cases.iter().map(|case| planned(case).0 + plan.pause.0);
        let total = Nanos(once.sum::<u64>() * u64::from(plan.rounds()));
        Self {
            screen: Screen::new(!args.quiet, io::stderr().is_terminal(), total),
            checkpoints: Checkpoints::new((!args.no_save).then_some(store)),
            passes: plan.passes,
            cases: plan.cases.iter().map(|case| case.name.clone()).collect(),
            before: Nanos::ZERO,
            current: Nanos::ZERO,
            laying_out: None,
        }
    }
}

impl Observer for Watcher<'_> {
    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if self.laying_out.as_deref() != Some(path) {
            self.screen
                .phase(&format!("laying out {} ({total})", path.display()));
            self.laying_out = Some(path.to_owned());
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, pass: u32, _step: usize, _steps: usize) {
        self.before = self.before + self.current;
        self.current = planned(case);
        let index = self
            .cases
            .iter()
            .position(|name| *name == case.name)
            .unwrap_or(0);
        self.screen
            .case(&case.name, pass, self.passes, index + 1, self.cases.len());
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.screen.interval(interval, self.before + elapsed);
    }

    fn ended(&mut self, record: &Record) {
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
        }
        self.checkpoints.keep(record);
    }
}
