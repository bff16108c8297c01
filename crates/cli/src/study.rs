//! `blocklab run` of a study of several systems: who plays which, the runs, and their report.

mod assignments;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow};
use blocklab_analysis::study::{SystemOutcome, outcome};
use blocklab_analysis::{Assessment, assess};
use blocklab_catalog::{Address, Catalog, Listed, Resolved, resolve_text};
use blocklab_console::status::{FAILED, INTERRUPTED};
use blocklab_console::{chance, listen, place, terminal};
use blocklab_host::guard::Guard;
use blocklab_publication::System;
use blocklab_record::{Origin, Record, Status};
use blocklab_report::{html, json, text};
use blocklab_store::Store;
use blocklab_study::{Assignment, Error, Missing, Part, ResumeState, plan_of, run_plans};
use blocklab_tools::keeping::Keeping;
use blocklab_tools::output::Over;
use blocklab_units::plural;
use blocklab_workload::Plan;
use jiff::Timestamp;

pub use assignments::is_multi_system;
use assignments::{StandIn, SystemAssignment, assignments};

use crate::answer::{closing, gate_of, is_for_people, judged, last_lines, page_path, print};
use crate::args::RunArgs;
use crate::gate;
use crate::selected_study::Study;
use crate::watch::Watch;

/// What all runs of one command share.
pub struct Shared<'a> {
    pub args: &'a RunArgs,
    pub study: &'a Study,
    pub guard: &'a Guard,
    pub catalog: &'a Catalog,
    pub interrupted: &'a AtomicBool,
}

impl<'a> Shared<'a> {
    /// One of them, from its beginning.
    pub fn part(&self, id: String, plan: Plan, targets: &'a [String]) -> Part<'a> {
        let assignment = Assignment {
            id,
            tool: concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned(),
            plan,
            notes: self.study.notes.clone(),
            targets,
            guard: self.guard,
            missing: Missing::scratch_if(self.args.create),
            may_replace_engine: self.study.may_replace_engine,
            fails_alone: false,
            catalog: self.catalog,
            interrupted: self.interrupted,
        };
        Part {
            assignment,
            shares: &self.study.publication.shares,
            before: None,
        }
    }
}

/// Runs a study on all its systems, keeps the runs, and shows what becomes of it.
pub fn hold(args: &RunArgs, study: &Study, store: &Store) -> Result<u8> {
    let catalog = place::load_catalog()?;
    let bought = bought(&study.publication.systems, &catalog)?;
    let assignments = assignments(args, study, store)?;
    let mut resume = resume(args, study, store, &assignments)?;
    let (interrupted, guard) = (listen()?, place::guard(&args.destroy_data, store));
    let shared = Shared {
        args,
        study,
        guard: &guard,
        catalog: &catalog,
        interrupted: &interrupted,
    };
    let mut runs: Vec<(String, Record)> = Vec::new();
    let mut fresh: Vec<(&str, Part<'_>)> = Vec::new();
    for SystemAssignment { system, stand_in } in &assignments {
        match stand_in {
            StandIn::Run(record) => runs.push((system.name.clone(), (**record).clone())),
            StandIn::Targets(targets) => {
                let part = part(&shared, system, targets, &mut resume, store)?;
                fresh.push((&system.name, part));
            }
        }
    }
    let lasting = assignments.iter().any(SystemAssignment::is_lasting) && !args.no_save;
    if lasting {
        let kept = resume.write(store.root());
        kept.context("cannot save the progress of the study")?;
    }
    let plans = fresh
        .iter()
        .map(|(name, part)| (Some(*name), &part.assignment.plan));
    let mut watch = Watch::new(args, &plans.collect::<Vec<_>>(), store);
    let (names, parts): (Vec<&str>, Vec<Part<'_>>) = fresh.into_iter().unzip();
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
    let earlier = runs.len();
    runs.extend(names.into_iter().map(str::to_owned).zip(measured));
    conclude(&shared, &bought, (&runs, earlier), &resume, store)
}

/// A plan with its targets, and the system of a study that they play.
pub struct SystemPlan {
    pub system: Option<String>,
    pub plan: Plan,
    pub targets: Vec<String>,
}

/// The plans of the systems that would be measured now.
pub fn system_plans(args: &RunArgs, study: &Study, store: &Store) -> Result<Vec<SystemPlan>> {
    let seed = study.plan.cases.first().map_or(0, |it| it.workload.seed);
    let fresh = assignments(args, study, store)?.into_iter();
    let fresh = fresh.filter_map(|SystemAssignment { system, stand_in }| match stand_in {
        StandIn::Targets(targets) => Some(SystemPlan {
            system: Some(system.name.clone()),
            plan: plan_of(&study.plan, system, seed),
            targets,
        }),
        StandIn::Run(_) => None,
    });
    Ok(fresh.collect())
}

/// A system that is measured now: from its beginning, or from where it was interrupted.
fn part<'a>(
    shared: &Shared<'a>,
    system: &System,
    targets: &'a [String],
    resume: &mut ResumeState,
    store: &Store,
) -> Result<Part<'a>> {
    let seed = resume.seed.parse();
    let seed = seed.context("the saved progress of the study is damaged; --fresh restarts it")?;
    let plan = plan_of(&shared.study.plan, system, seed);
    let before = before(resume, store, system, targets);
    let id = match &before {
        Some(record) => record.id.clone(),
        None => store.new_id(Timestamp::now(), chance()?),
    };
    resume.runs.insert(system.name.clone(), id.clone());
    Ok(Part {
        before,
        ..shared.part(id, plan, targets)
    })
}

/// Shows the runs of all systems, keeps those that were measured now, behind the `earlier` ones,
/// and judges them.
fn conclude(
    shared: &Shared<'_>,
    bought: &BTreeMap<String, Bought>,
    (runs, earlier): (&[(String, Record)], usize),
    resume: &ResumeState,
    store: &Store,
) -> Result<u8> {
    let Shared { args, study, .. } = *shared;
    let assessed: Vec<Assessment> = runs.iter().map(|(_, record)| assess(record)).collect();
    let systems = study.publication.systems.iter().map(|system| {
        let place = runs.iter().position(|(name, _)| *name == system.name);
        SystemOutcome {
            system,
            run: place.map(|it| (&runs[it].1, &assessed[it])),
            bought: bought.get(&system.name).map(|it| &it.resolved),
            listed: bought.get(&system.name).and_then(|it| it.listed.as_ref()),
        }
    });
    let systems: Vec<SystemOutcome<'_>> = systems.collect();
    let found = outcome(&study.publication, &systems);
    let in_order: Vec<(&Record, &Assessment)> = systems.iter().filter_map(|it| it.run).collect();
    let (name, words) = (&study.plan.name, &study.plan.description);
    let page = html::study(&in_order, &found);
    let gate = gate_of(args, &in_order);
    let mut keeping = Keeping::new(store);
    let result = || json::study(name, words, &found, gate.as_ref());
    keeping.printed(print(args, &page, || match args.json {
        true => result(),
        false if args.json_lines => {
            let fresh = runs[earlier..].iter().map(|(_, record)| record);
            last_lines("study", &result(), fresh)
        }
        false => text::study(name, words, &found, &in_order, terminal::style()),
    }));
    let mut other = None;
    if !args.no_save {
        let folders = runs[earlier..]
            .iter()
            .map(|(_, record)| keeping.keep(&mut record.clone()));
        let folders: Vec<_> = folders.collect();
        other = folders
            .into_iter()
            .flatten()
            .next_back()
            .filter(|_| !keeping.is_well);
        let removed = resume.remove(store.root());
        removed.context("the study is finished, but its saved progress could not be removed")?;
    }
    let folder = other.or_else(|| folder(&in_order, store));
    close(args, &in_order, &page, folder, &mut keeping)?;
    judged(args, gate.as_ref())?;
    let failed = runs.iter().any(|(_, run)| run.status == Status::Failed);
    Ok(match failed || !keeping.is_well {
        true => FAILED,
        false => gate::status(gate.as_ref(), args.strict),
    })
}

/// The folder of the first run that was measured, else of the first.
fn folder(runs: &[(&Record, &Assessment)], store: &Store) -> Option<PathBuf> {
    let real = runs.iter().find(|(it, _)| it.origin != Origin::Simulated);
    let (record, _) = real.or(runs.first())?;
    Some(store.root().join(&record.id)).filter(|folder| folder.is_dir())
}

/// The page where it belongs, and words about what is kept. `folder`: of a run that was kept.
fn close(
    args: &RunArgs,
    runs: &[(&Record, &Assessment)],
    page: &str,
    folder: Option<PathBuf>,
    keeping: &mut Keeping<'_>,
) -> Result<()> {
    let with = runs.iter().map(|(it, _)| format!(" --with {}", it.id));
    let again = format!("blocklab run {}{}", args.study(), with.collect::<String>());
    let again = Some(&*again).filter(|_| !args.no_save && keeping.is_well);
    let usual = folder.map(|folder| Store::study_page(&folder));
    let path = page_path(args, usual)
        .filter(|path| keeping.page(path, page, Over::forced(args.force), again));
    match is_for_people(args) {
        true => terminal::print(closing(path.as_deref(), again)),
        false => Ok(()),
    }
}

/// What a signal leaves.
fn stopped(lasting: bool, done: usize) -> u8 {
    terminal::warn(&match (lasting, done) {
        (true, 1..) => format!(
            "interrupted after {}; the same command continues it, --fresh restarts it",
            plural(done, "measurement")
        ),
        _ => "interrupted; nothing is kept".to_owned(),
    });
    INTERRUPTED
}

/// What an address comes to.
struct Bought {
    resolved: Resolved,
    /// What lists say of its instance.
    listed: Option<Listed>,
}

/// Every address, looked up before anything is measured.
fn bought(systems: &[System], catalog: &Catalog) -> Result<BTreeMap<String, Bought>> {
    let one = |system: &System| {
        let wrong = |error: String| anyhow!("cannot model the system {}:\n{error}", system.name);
        let address = Address::parse(&system.address).map_err(|it| wrong(it.to_string()))?;
        let resolved =
            resolve_text(&system.address, catalog).map_err(|it| wrong(it.to_string()))?;
        let listed = listed(&address, catalog);
        Ok((system.name.clone(), Bought { resolved, listed }))
    };
    systems.iter().map(one).collect()
}

fn listed(address: &Address, catalog: &Catalog) -> Option<Listed> {
    let Address::Sold(offer) = address else {
        return None;
    };
    catalog.listed(offer.instance.as_deref()?, offer.as_of)
}

/// What is known of the same study that was interrupted, or of none yet.
fn resume(
    args: &RunArgs,
    study: &Study,
    store: &Store,
    assignments: &[SystemAssignment<'_>],
) -> Result<ResumeState> {
    let described: Vec<String> = assignments
        .iter()
        .map(SystemAssignment::described)
        .collect();
    let identity = [&*study.source, &overridden(args), &described.join("; ")].join("\n");
    if let Some(state) = ResumeState::find(store.root(), &identity).filter(|_| !args.no_save) {
        if !args.fresh {
            return Ok(state);
        }
        let removed = state.remove(store.root());
        removed.context("cannot restart the study")?;
    }
    let seed = study.plan.cases.first().map_or(0, |it| it.workload.seed);
    Ok(ResumeState {
        requested: identity,
        seed: seed.to_string(),
        runs: BTreeMap::new(),
    })
}

/// The options that override a study.
fn overridden(args: &RunArgs) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {}",
        args.size, args.runtime, args.repeat, args.seed, args.read_only
    )
}

/// What was measured of a system before an interruption. Virtual time is cheap: what was simulated
/// is simulated again, so that its device begins where the record does.
fn before(
    state: &ResumeState,
    store: &Store,
    system: &System,
    targets: &[String],
) -> Option<Record> {
    if targets.iter().any(|it| it.starts_with("sim:")) {
        return None;
    }
    let stored = store.load(state.runs.get(&system.name)?).ok()?;
    let record = stored.record;
    (stored.partial && !record.measurements.is_empty()).then_some(record)
}
