//! `blocklab run`: from arguments to a kept Record, its table and its page.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::{Context, Result, anyhow};
use blocklab_analysis::gate::{Gate, warning};
use blocklab_analysis::{Assessment, Finding};
use blocklab_native::{self as native, studies};
use blocklab_publication::Publication;
use blocklab_record::{Interval, Note, Record, Status};
use blocklab_report::live::Screen;
use blocklab_report::{html, json, text};
use blocklab_store::Store;
use blocklab_study::{Assignment, Observer, Part, run_plans};
use blocklab_units::{Bytes, Nanos, nearest};
use blocklab_workload::{Case, Job, Plan};
use jiff::Timestamp;

use crate::args::RunArgs;
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
    let mut study = study(args)?;
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
        ..
    } = study;
    let interrupted = listen()?;
    let here = [".".to_owned()];
    let targets = if args.target.is_empty() {
        &here[..]
    } else {
        &args.target
    };
    let catalog = blocklab_console::place::load_catalog()?;
    let guard = place::guard(&args.destroy_data, store);
    let assignment = Assignment {
        id: store.new_id(Timestamp::now(), chance()?),
        tool: concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned(),
        notes,
        targets,
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

/// A study as it is to be run.
pub struct Study {
    /// Its text, as it was written.
    pub source: String,
    /// The load, with what the command line says over it.
    pub plan: Plan,
    /// What was made of the text.
    pub notes: Vec<Note>,
    /// What it shows besides.
    pub publication: Publication,
    /// Whether it comes with the program.
    pub built_in: bool,
}

fn study(args: &RunArgs) -> Result<Study> {
    let (source, name, built_in) = source(&args.study)?;
    let parsed = native::parse(&source, &name).map_err(|error| anyhow!("{error}"))?;
    let mut plan = parsed.plan;
    let seed = match (args.seed, parsed.seed_given) {
        (None, false) => Some(chance()? & 0xffff_ffff),
        (seed, _) => seed,
    };
    let overrides = native::Overrides {
        runtime: args.runtime,
        passes: args.repeat.map(Into::into),
        seed,
        size: args.size,
        read_only: args.read_only,
    };
    let mut notes = parsed.notes;
    notes.extend(native::apply(&mut plan, &overrides));
    for job in plan.cases.iter().flat_map(|case| &case.workload.jobs) {
        job.check()
            .map_err(|invalid| anyhow!("{name}: job `{}`: {invalid}", job.name))?;
        has_room(args, &name, job)?;
    }
    Ok(Study {
        source,
        plan,
        notes,
        publication: parsed.publication,
        built_in,
    })
}

/// A region without a single block cannot be worked on; it is better said before anything runs.
fn has_room(args: &RunArgs, name: &str, job: &Job) -> Result<()> {
    let (Some(size), block) = (job.region.size, job.least_room()) else {
        return Ok(());
    };
    if size >= block {
        return Ok(());
    }
    let (whose, way_out) = match args.size {
        Some(_) => ("--size", "give that size or more"),
        None => (name, "make `size` larger"),
    };
    Err(anyhow!(
        "{whose}: a size of {size} is smaller than one block of `{}`, which is {block}: {way_out}, \
         or run a study with smaller blocks",
        job.name
    ))
}

/// The text of a built-in study; without a name the commented one.
fn example(study: &str) -> Result<&'static str> {
    match study {
        "" => Ok(native::EXAMPLE),
        name => studies::builtin(name)
            .with_context(|| format!("no built-in study is called {name}; {}", meant(name))),
    }
}

/// The text of a study. A file comes before a built-in study of the same name only when it is
/// named as a path.
fn source(study: &str) -> Result<(String, String, bool)> {
    if let Some(text) = studies::builtin(study) {
        return Ok((text.to_owned(), study.to_owned(), true));
    }
    if study == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("cannot read the standard input")?;
        return Ok((text, "standard input".to_owned(), false));
    }
    let text = fs::read_to_string(study).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!(
            "there is no file {study} and no built-in study of that name; {}",
            meant(study)
        ),
        _ => anyhow!("cannot read the study {study}: {error}"),
    })?;
    Ok((text, study.to_owned(), false))
}

/// The built-in study that was meant, or all there are.
fn meant(name: &str) -> String {
    match nearest(name, studies::builtin_names()) {
        Some(near) => format!("did you mean {near}?"),
        None => {
            let known = studies::builtin_names().collect::<Vec<_>>().join(", ");
            format!("these are: {known}")
        }
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

/// What `--fail-on warning` says of these runs.
pub fn gate_of(args: &RunArgs, runs: &[(&Record, &Assessment)]) -> Option<Gate> {
    let runs = runs.iter().map(|(record, it)| (*record, &it.findings[..]));
    let runs: Vec<(&Record, &[Finding])> = runs.collect();
    Gate::new(args.fail_on.iter().map(|_| warning(&runs)).collect())
}

/// The answer to `--fail-on`, last; JSON holds it already.
pub fn judged(args: &RunArgs, gate: Option<&Gate>) -> Result<()> {
    if goes_to_output(args) {
        gate::aside(gate);
    }
    match is_for_people(args) {
        true => terminal::print_styled(gate::words(gate)),
        false => Ok(()),
    }
}

/// Prints the page where it goes to standard output, else the result.
pub fn print(args: &RunArgs, page: &str, result: impl FnOnce() -> String) -> Result<()> {
    if goes_to_output(args) {
        terminal::print_data(page)?;
    }
    match args.json || !goes_to_output(args) {
        true => terminal::print_styled(result()),
        false => Ok(()),
    }
}

fn goes_to_output(args: &RunArgs) -> bool {
    args.html.as_deref() == Some(Path::new("-"))
}

/// Whether words about what is kept follow the result.
pub fn is_for_people(args: &RunArgs) -> bool {
    !args.json && !goes_to_output(args)
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

/// Planned time of one pass: that of its longest job.
pub fn planned(case: &Case) -> Nanos {
    let jobs = case.workload.jobs.iter();
    let times = jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default());
    times.max().unwrap_or_default()
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
