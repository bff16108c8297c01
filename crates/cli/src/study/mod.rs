//! `blocklab run` of a study of several systems: who plays which, the runs, and their report.

mod cast;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use blocklab_analysis::gate::Gate;
use blocklab_analysis::study::{SystemOutcome, outcome};
use blocklab_analysis::{Assessment, assess};
use blocklab_catalog::{Address, Catalog, Resolved, resolve};
use blocklab_publication::System;
use blocklab_record::{Origin, Record, Status};
use blocklab_report::{html, json, text};
use blocklab_store::Store;
use blocklab_study::{Assignment, Error, Part, ResumeState, run_plans};
use blocklab_workload::Plan;
use jiff::Timestamp;

pub use cast::takes_part;
use cast::{Role, SystemAssignment};
use watch::Watch;

use crate::answer::{gate_of, is_for_people, judged, print};
use crate::args::RunArgs;
use crate::asked_study::Study;
use crate::gate;
use blocklab_console::chance;
use blocklab_console::listen;
use blocklab_console::status::{FAILED, INTERRUPTED};
use blocklab_console::{place, terminal};
use blocklab_tools::keeping::Keeping;
use blocklab_tools::output::Over;

/// Runs a study on all its systems, keeps the runs, and shows what becomes of it.
pub fn hold(args: &RunArgs, study: Study, store: &Store) -> Result<u8> {
    let catalog = blocklab_console::place::load_catalog()?;
    let bought = bought(&study.publication.systems, &catalog)?;
    let cast = SystemAssignment::of(args, &study, store)?;
    let mut ledger = ledger(args, &study, store, &cast)?;
    let seed: u64 = ledger
        .seed
        .parse()
        .context("the ledger of the study is damaged; --fresh begins it anew")?;
    let interrupted = listen()?;
    let guard = place::guard(&args.destroy_data, store);
    let mut fresh: Vec<(&str, Part<'_>)> = Vec::new();
    for role in &cast.roles {
        if let Role::Target { system, targets } = role {
            let plan = plan_of(&study.plan, system, seed);
            let before = before(&ledger, store, system, targets);
            let id = match &before {
                Some(record) => record.id.clone(),
                None => store.new_id(Timestamp::now(), chance()?),
            };
            ledger.runs.insert(system.name.clone(), id.clone());
            let assignment = Assignment {
                id,
                tool: concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned(),
                plan,
                notes: study.notes.clone(),
                targets,
                guard: &guard,
                create: args.create,
                may_replace_engine: study.built_in,
                catalog: &catalog,
                interrupted: &interrupted,
            };
            fresh.push((
                &system.name,
                Part {
                    assignment,
                    shares: &study.publication.shares,
                    before,
                },
            ));
        }
    }
    let lasting = cast.is_lasting() && !args.no_save;
    if lasting {
        let kept = ledger.write(store.root());
        kept.context("cannot keep what the study needs to go on after an interruption")?;
    }
    let names: Vec<String> = fresh.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut watch = Watch::new(args, &fresh, store);
    let parts = fresh.into_iter().map(|(_, part)| part).collect();
    let conducted = run_plans(parts, &mut watch);
    watch.finished();
    let mut measured = match conducted {
        Err(Error::Interrupted) => return Ok(stopped(lasting, 0)),
        other => other?,
    };
    if measured.iter().any(|it| it.status == Status::Interrupted) {
        let done = measured.iter().map(|it| it.measurements.len()).sum();
        return Ok(stopped(lasting, done));
    }
    if !args.no_save {
        measured.iter_mut().for_each(|record| store.settle(record));
    }
    let mut runs = cast.played();
    let played = runs.len();
    runs.extend(names.into_iter().zip(measured));
    conclude(args, (&study, &bought), (runs, played), &ledger, store)
}

/// Shows the runs of all systems, keeps those that were measured now, behind the `played` ones that
/// were measured before, and judges them.
fn conclude(
    args: &RunArgs,
    (study, bought): (&Study, &BTreeMap<String, Resolved>),
    (mut runs, played): (Vec<(String, Record)>, usize),
    ledger: &ResumeState,
    store: &Store,
) -> Result<u8> {
    let mut keeping = Keeping::new(store);
    let shown = show(args, study, bought, &runs, &mut keeping);
    let mut other = None;
    if !args.no_save {
        other = keep(&mut runs[played..], &mut keeping).filter(|_| !keeping.is_well);
        ledger
            .remove(store.root())
            .context("the study is finished, but its ledger stays")?;
    }
    let folder = other.or_else(|| shown.folder(store));
    let is_well = close(args, &shown, folder.as_deref(), keeping)?;
    let failed = runs.iter().any(|(_, run)| run.status == Status::Failed);
    Ok(match failed || !is_well {
        true => FAILED,
        false => gate::status(shown.gate.as_ref(), args.strict),
    })
}

/// Keeps what was measured. A folder in which something is kept.
fn keep(runs: &mut [(String, Record)], keeping: &mut Keeping<'_>) -> Option<PathBuf> {
    let folders = runs.iter_mut().map(|(_, record)| keeping.keep(record));
    folders
        .collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .next_back()
}

/// What a signal leaves.
fn stopped(lasting: bool, done: usize) -> u8 {
    terminal::warn(&match (lasting, done) {
        (true, 1..) => format!(
            "interrupted after {done} measurement{}; the same command goes on from there, and \
             --fresh begins anew",
            if done == 1 { "" } else { "s" }
        ),
        _ => "interrupted; nothing is kept".to_owned(),
    });
    INTERRUPTED
}

/// Every address, looked up before anything is measured.
fn bought(systems: &[System], catalog: &Catalog) -> Result<BTreeMap<String, Resolved>> {
    let one = |system: &System| {
        let wrong = |error: String| anyhow!("the system {} cannot be had:\n{error}", system.name);
        let address = Address::parse(&system.address).map_err(|it| wrong(it.to_string()))?;
        let resolved = resolve(&address, catalog).map_err(|it| wrong(it.to_string()))?;
        Ok((system.name.clone(), resolved))
    };
    systems.iter().map(one).collect()
}

/// The load of one system: the name tells which.
fn plan_of(plan: &Plan, system: &System, seed: u64) -> Plan {
    let mut cases = plan.cases.clone();
    for case in &mut cases {
        case.workload.seed = seed;
        for job in &mut case.workload.jobs {
            job.threads = job.threads.saturating_mul(system.devices);
        }
    }
    Plan {
        cases,
        name: format!("{}: {}", plan.name, system.name),
        passes: system.passes.unwrap_or(plan.passes),
        ..plan.clone()
    }
}

/// The ledger of the same study that was interrupted, or a new one.
fn ledger(
    args: &RunArgs,
    study: &Study,
    store: &Store,
    cast: &SystemAssignment,
) -> Result<ResumeState> {
    let asked = format!(
        "{}\n{}\n{}",
        study.source,
        said_over(args),
        cast.described()
    );
    if let Some(ledger) = ResumeState::find(store.root(), &asked).filter(|_| !args.no_save) {
        if !args.fresh {
            return Ok(ledger);
        }
        ledger
            .remove(store.root())
            .context("cannot begin the study anew")?;
    }
    let seed = study
        .plan
        .cases
        .first()
        .map_or(0, |case| case.workload.seed);
    Ok(ResumeState {
        asked,
        seed: seed.to_string(),
        runs: BTreeMap::new(),
    })
}

/// What the command line says over a study.
fn said_over(args: &RunArgs) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {}",
        args.size, args.runtime, args.repeat, args.seed, args.read_only
    )
}

/// What was measured of a system before an interruption. Virtual time is cheap: what was simulated
/// is simulated again, so that its device begins where the record does.
fn before(
    ledger: &ResumeState,
    store: &Store,
    system: &System,
    targets: &[String],
) -> Option<Record> {
    if targets.iter().any(|it| it.starts_with("sim:")) {
        return None;
    }
    let stored = store.load(ledger.runs.get(&system.name)?).ok()?;
    let record = stored.record;
    (stored.partial && !record.measurements.is_empty()).then_some(record)
}

/// The result, printed, and its page.
struct Shown {
    page: String,
    gate: Option<Gate>,
    /// Ids in the order of the systems, and whether the run is of a real target.
    runs: Vec<(String, bool)>,
}

impl Shown {
    /// The folder of the first run that was measured, else of the first.
    fn folder(&self, store: &Store) -> Option<PathBuf> {
        let real = self.runs.iter().find(|(_, is_real)| *is_real);
        let (id, _) = real.or(self.runs.first())?;
        Some(store.root().join(id)).filter(|folder| folder.is_dir())
    }
}

fn show(
    args: &RunArgs,
    study: &Study,
    bought: &BTreeMap<String, Resolved>,
    runs: &[(String, Record)],
    keeping: &mut Keeping<'_>,
) -> Shown {
    let judged: Vec<(&String, &Record, Assessment)> = runs
        .iter()
        .map(|(name, record)| (name, record, assess(record)))
        .collect();
    let systems = study.publication.systems.iter().map(|system| {
        let run = judged.iter().find(|(played, ..)| **played == system.name);
        SystemOutcome {
            system,
            run: run.map(|(_, record, assessment)| (*record, assessment)),
            bought: bought.get(&system.name),
        }
    });
    let systems: Vec<SystemOutcome<'_>> = systems.collect();
    let found = outcome(&study.publication, &systems);
    let in_order: Vec<(&Record, &Assessment)> =
        systems.iter().filter_map(|system| system.run).collect();
    let (name, words) = (&study.plan.name, &study.plan.description);
    let page = html::study(&in_order, &found);
    let gate = gate_of(args, &in_order);
    keeping.printed(print(args, &page, || match args.json {
        true => json::study(name, words, &found, gate.as_ref()),
        false => text::study(name, words, &found, &in_order, terminal::style()),
    }));
    Shown {
        page,
        gate,
        runs: in_order
            .iter()
            .map(|(it, _)| (it.id.clone(), it.origin != Origin::Simulated))
            .collect(),
    }
}

/// The page where it belongs, and words about what is kept. `folder`: of a run that was kept.
fn close(
    args: &RunArgs,
    shown: &Shown,
    folder: Option<&Path>,
    mut keeping: Keeping<'_>,
) -> Result<bool> {
    let with = shown.runs.iter().map(|(id, _)| format!("--with {id}"));
    let with = with.collect::<Vec<_>>().join(" ");
    let again = format!("blocklab run {} {with}", args.study);
    let kept = !args.no_save && keeping.is_well;
    let path = page_path(args, folder).filter(|path| {
        let again = kept.then_some(&*again);
        keeping.page(path, &shown.page, Over::forced(args.force), again)
    });
    if is_for_people(args) {
        let page = path.map(|path| format!("Report  {}\n", path.display()));
        let again = kept.then(|| format!("Again   {again}\n"));
        let words = [page, again].into_iter().flatten().collect::<String>();
        terminal::print(format!("\n{words}"))?;
    }
    judged(args, shown.gate.as_ref())?;
    Ok(keeping.is_well)
}

/// The file of the page: where the user said, else beside the first run that was measured.
fn page_path(args: &RunArgs, folder: Option<&Path>) -> Option<PathBuf> {
    match &args.html {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None => folder.map(Store::study_page),
    }
}
