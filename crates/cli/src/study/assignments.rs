//! What stands for each system of a study: a target, a model, or an earlier run.

use anyhow::{Result, bail};
use blocklab_publication::System;
use blocklab_record::Record;
use blocklab_store::Store;
use blocklab_units::did_you_mean;
use blocklab_workload::Target;

use crate::args::RunArgs;
use crate::chosen;
use crate::selected_study::Study;

/// Targets that stand for the model of every system.
const MODELS: [&str; 2] = ["sim", "emu"];

/// A system of a study, and what stands for it.
pub struct SystemAssignment<'a> {
    pub system: &'a System,
    pub stand_in: StandIn,
}

/// What stands for a system.
pub enum StandIn {
    /// What is measured now.
    Targets(Vec<String>),
    /// An earlier run.
    Run(Box<Record>),
}

/// Whether a study is to be run as one of several systems, and not as a load on a target.
pub fn is_multi_system(args: &RunArgs, study: &Study) -> Result<bool> {
    let systems: Vec<&System> = measured(study).collect();
    let is_selected = !args.system.is_empty() || !args.with_run.is_empty();
    if systems.is_empty() {
        if is_selected || models(&args.target) {
            bail!(
                "the study {} has no systems; --system, --with and the targets sim and emu work only \
                 for studies that have some, such as i3-vs-i2",
                study.plan.name
            );
        }
        return Ok(false);
    }
    let names: Vec<&str> = systems.iter().map(|it| &*it.name).collect();
    if is_selected || args.target.is_empty() || models(&args.target) || names.len() == 1 {
        return Ok(true);
    }
    bail!(
        "the study {} has {} systems; which one does {} stand for? Add --system with one of: {}",
        study.plan.name,
        names.len(),
        args.target.join(", "),
        names.join(", ")
    )
}

fn measured(study: &Study) -> impl Iterator<Item = &System> {
    study.publication.systems.iter().filter(|it| it.measured)
}

fn models(targets: &[String]) -> bool {
    matches!(targets, [only] if MODELS.contains(&only.as_str()))
}

/// What stands for each system, in the order of the study: as the command line has it; a system that
/// it does not name is simulated, or left out where it has no model.
pub fn assignments<'a>(
    args: &RunArgs,
    study: &'a Study,
    store: &Store,
) -> Result<Vec<SystemAssignment<'a>>> {
    for name in &args.system {
        find(study, name)?;
    }
    let mut earlier = Vec::new();
    for run in &args.with_run {
        let (system, record) = earlier_run(study, store, run)?;
        if earlier.iter().any(|(name, _)| *name == system) {
            bail!("two runs stand for {system}; name one");
        }
        earlier.push((system, record));
    }
    let is_named = |system: &System| args.system.contains(&system.name);
    let is_alone = measured(study).count() == 1;
    let has_stand_in = |system: &&System| {
        let has_run = earlier.iter().any(|(name, _)| *name == system.name);
        system.predicted || has_run || is_named(system) || is_alone
    };
    let systems: Vec<&System> = measured(study).filter(has_stand_in).collect();
    let assignment = |system: &'a System| {
        let run = earlier.iter().position(|(name, _)| *name == system.name);
        let stand_in = match run {
            Some(place) => StandIn::Run(Box::new(earlier.swap_remove(place).1)),
            None => StandIn::Targets(targets(args, study, system)?),
        };
        Ok(SystemAssignment { system, stand_in })
    };
    systems.into_iter().map(assignment).collect()
}

impl SystemAssignment<'_> {
    /// Whether it is measured in real time, so that an interruption costs something.
    pub fn is_lasting(&self) -> bool {
        match &self.stand_in {
            StandIn::Targets(targets) => targets.iter().any(|text| !Target::is_simulated(text)),
            StandIn::Run(_) => false,
        }
    }

    /// A text that is the same for the same stand-in.
    pub fn described(&self) -> String {
        match &self.stand_in {
            StandIn::Targets(targets) => format!("{} on {targets:?}", self.system.name),
            StandIn::Run(record) => format!("{} by {}", self.system.name, record.id),
        }
    }
}

/// The targets that stand for a system.
fn targets(args: &RunArgs, study: &Study, system: &System) -> Result<Vec<String>> {
    let model = |clock: &str| vec![format!("{clock}:{}", system.address)];
    let own = |text: &String| match MODELS.contains(&text.as_str()) {
        true => format!("{text}:{}", system.address),
        false => text.clone(),
    };
    let only = measured(study).count() == 1;
    let place = args.system.iter().position(|it| *it == system.name);
    Ok(match (place, &*args.system) {
        (None, []) if only && !args.target.is_empty() => args.target.iter().map(own).collect(),
        (None, []) if models(&args.target) => model(&args.target[0]),
        (None, _) => model("sim"),
        (Some(_), _) if args.target.is_empty() => vec![".".to_owned()],
        (Some(_), [_]) => args.target.iter().map(own).collect(),
        (Some(place), systems) if systems.len() == args.target.len() => {
            vec![own(&args.target[place])]
        }
        (Some(_), systems) => bail!(
            "you named {} systems and {} targets; each --system needs its --target, in the same \
             order",
            systems.len(),
            args.target.len()
        ),
    })
}

fn find<'s>(study: &'s Study, name: &str) -> Result<&'s System> {
    if let Some(found) = measured(study).find(|it| it.name == name) {
        return Ok(found);
    }
    let names: Vec<&str> = measured(study).map(|it| &*it.name).collect();
    let all = || format!("its systems are: {}", names.join(", "));
    let hint = did_you_mean(name, names.iter().copied(), all);
    bail!(
        "the study {} measures no system {name}; {hint}",
        study.plan.name
    )
}

/// The system that a run stands for: the one named before `=`, else the one of its own name.
fn earlier_run(study: &Study, store: &Store, text: &str) -> Result<(String, Record)> {
    let named = text.split_once('=');
    let named = named.filter(|(name, _)| measured(study).any(|it| it.name == *name));
    if let Some((name, run)) = named {
        return Ok((name.to_owned(), chosen::record(run, store)?));
    }
    let record = chosen::record(text, store)?;
    match record.requested.system.clone() {
        Some(name) if measured(study).any(|it| it.name == name) => Ok((name, record)),
        _ => bail!(
            "the run {} ({}) names no system of {}; choose one with --with NAME={text}",
            record.id,
            record.requested.name,
            study.plan.name
        ),
    }
}
