//! `blocklab run` of a study of several systems: who plays which, the runs, and their report.

mod assignments;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow};
use blocklab_catalog::{Catalog, Listed, Resolved, resolve_text};
use blocklab_compare::gate::Gate;
use blocklab_compare::study::{Outcome, SystemOutcome, outcome};
use blocklab_console::status::INTERRUPTED;
use blocklab_console::{chance, listen, place, terminal};
use blocklab_findings::{Assessment, assess};
use blocklab_host::guard::Guard;
use blocklab_publication::System;
use blocklab_record::{Origin, Record, Status};
use blocklab_report::{html, json, text};
use blocklab_results::{Conclusion, conclude};
use blocklab_runner::{Assignment, Error, Missing, Part, ResumeState, plan_of, run_plans};
use blocklab_store::Store;
use blocklab_units::plural;
use blocklab_workload::Plan;
use blocklab_workload::{Address, Target};
use jiff::Timestamp;

pub use assignments::is_multi_system;
use assignments::{StandIn, SystemAssignment, assignments};

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
    finish(&shared, &bought, (&runs, earlier), &resume, store)
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
fn finish(
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
    let in_order: Vec<(&Record, &Assessment)> = systems.iter().filter_map(|it| it.run).collect();
    let fresh = runs[earlier..].iter().map(|(_, record)| record.clone());
    let mut concluded = StudyEnd {
        gate: gate::of_runs(&args.fail_on, &in_order),
        outcome: outcome(&study.publication, &systems),
        fresh: fresh.collect(),
        runs: in_order,
        shared,
        store,
    };
    let code = conclude(&mut concluded, &args.wanted(), store)?;
    if !args.no_save {
        let removed = resume.remove(store.root());
        removed.context("the study is finished, but its saved progress could not be removed")?;
    }
    Ok(code)
}

/// A study that has run on all its systems.
struct StudyEnd<'a> {
    shared: &'a Shared<'a>,
    outcome: Outcome,
    /// Of all systems, in the order of the study.
    runs: Vec<(&'a Record, &'a Assessment)>,
    /// Those that were measured now.
    fresh: Vec<Record>,
    gate: Option<Gate>,
    store: &'a Store,
}

impl Conclusion for StudyEnd<'_> {
    fn page(&self) -> String {
        html::study(&self.runs, &self.outcome)
    }

    fn words(&self) -> String {
        let Plan {
            name, description, ..
        } = &self.shared.study.plan;
        let style = terminal::style();
        text::study(name, description, &self.outcome, &self.runs, style)
    }

    fn json(&self) -> (&'static str, String) {
        let Plan {
            name, description, ..
        } = &self.shared.study.plan;
        let result = json::study(name, description, &self.outcome, self.gate.as_ref());
        ("study", result)
    }

    fn runs(&mut self) -> Vec<&mut Record> {
        self.fresh.iter_mut().collect()
    }

    /// With the first run that was measured, else with the first.
    fn usual_page(&self, kept: Option<&Path>, is_well: bool) -> Option<PathBuf> {
        if let Some(other) = kept.filter(|_| !is_well) {
            return Some(Store::study_page(other));
        }
        let mut runs = self.runs.iter().map(|(record, _)| record);
        let real = runs.clone().find(|it| it.origin != Origin::Simulated);
        let folder = self.store.root().join(&real.or(runs.next())?.id);
        folder.is_dir().then(|| Store::study_page(&folder))
    }

    fn again(&self) -> (String, String) {
        let with = self.runs.iter().map(|(it, _)| format!(" --with {}", it.id));
        let study = self.shared.args.study();
        let again = format!("blocklab run {study}{}", with.collect::<String>());
        (again.clone(), again)
    }

    fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
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
    if targets.iter().any(|text| Target::is_simulated(text)) {
        return None;
    }
    let stored = store.load(state.runs.get(&system.name)?).ok()?;
    let record = stored.record;
    (stored.partial && !record.measurements.is_empty()).then_some(record)
}
