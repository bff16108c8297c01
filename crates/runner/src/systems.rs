//! In: a request for a study of several systems. Out: what is measured for each system (targets or its
//! model), or the earlier run that is used for it.

use blocklab_record::Record;
use blocklab_units::did_you_mean;
use blocklab_workload::Target;
use blocklab_workload::publication::System;

use crate::Error;
use crate::request::{Request, Study};

/// The target of a system without one: a scratch file in the current directory.
const HERE: &str = ".";

/// Targets that mean the models of all systems, in virtual time and in real time.
const MODELS: [&str; 2] = ["sim", "emu"];

/// A system of a study, and what is measured or shown for it.
pub(crate) struct SystemAssignment<'a> {
    pub(crate) system: &'a System,
    pub(crate) stand_in: Assigned<'a>,
}

/// What is measured or shown for a system.
pub(crate) enum Assigned<'a> {
    /// Targets that are measured now.
    Targets(Vec<String>),
    /// An earlier run.
    Run(&'a Record),
}

/// Whether the request is for a study of several systems. False: it is a load on its targets.
///
/// # Errors
/// When the request names systems and the study has none, or when it does not say which of several
/// systems its targets stand for.
pub(crate) fn is_multi_system(request: &Request) -> Result<bool, Error> {
    let study = &request.study;
    let names: Vec<&str> = study.measured().map(|system| &*system.name).collect();
    let is_selected = !request.systems.is_empty() || !request.earlier.is_empty();
    if names.is_empty() {
        if is_selected || names_models(request) {
            return Err(Error::NoSystems(study.plan.name.clone()));
        }
        return Ok(false);
    }
    // Without targets, every system has its model; with `sim` or `emu`, too.
    let is_clear = is_selected || request.targets.is_empty() || names_models(request);
    if is_clear || names.len() == 1 {
        return Ok(true);
    }
    Err(Error::WhichSystem {
        study: study.plan.name.clone(),
        count: names.len(),
        targets: request.targets.join(", "),
        names: names.join(", "),
    })
}

impl Study {
    /// The systems that are measured and not only in published tables.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &System> {
        let systems = self.publication.systems.iter();
        systems.filter(|system| system.measured)
    }

    /// A system that is measured.
    ///
    /// # Errors
    /// When there is none of this name; the error names the one that was probably meant, or all.
    pub fn system(&self, name: &str) -> Result<&System, Error> {
        if let Some(found) = self.measured().find(|system| system.name == name) {
            return Ok(found);
        }
        let names: Vec<&str> = self.measured().map(|system| &*system.name).collect();
        let hint = did_you_mean(name, names.iter().copied(), || {
            format!("its systems are: {}", names.join(", "))
        });
        Err(Error::UnknownSystem {
            study: self.plan.name.clone(),
            name: name.to_owned(),
            hint,
        })
    }
}

/// Whether the only target names the models of all systems.
fn names_models(request: &Request) -> bool {
    matches!(&*request.targets, [only] if MODELS.contains(&only.as_str()))
}

/// The assignment of each system, in the order of the study. A system that the request does not name
/// is simulated, or left out if it has no model.
pub(crate) fn assignments(request: &Request) -> Result<Vec<SystemAssignment<'_>>, Error> {
    let study = &request.study;
    for name in &request.systems {
        study.system(name)?;
    }
    for (index, (name, _)) in request.earlier.iter().enumerate() {
        let mut before = request.earlier[..index].iter();
        if before.any(|(known, _)| known == name) {
            return Err(Error::TwoRuns(name.clone()));
        }
    }
    let is_alone = study.measured().count() == 1;
    let mut assignments = Vec::new();
    for system in study.measured() {
        let mut earlier = request.earlier.iter();
        let run = earlier.find(|(name, _)| *name == system.name);
        let is_named = request.systems.contains(&system.name);
        let stand_in = match run {
            Some((_, record)) => Assigned::Run(record),
            None if system.predicted || is_named || is_alone => {
                Assigned::Targets(targets(request, system)?)
            }
            None => continue,
        };
        assignments.push(SystemAssignment { system, stand_in });
    }
    Ok(assignments)
}

impl SystemAssignment<'_> {
    /// Whether it is measured in real time, so that resuming it saves time.
    pub(crate) fn is_lasting(&self) -> bool {
        match &self.stand_in {
            Assigned::Targets(targets) => {
                let mut targets = targets.iter();
                targets.any(|text| !Target::is_simulated(text))
            }
            Assigned::Run(_) => false,
        }
    }

    /// A text that identifies the assignment: equal texts mean equal assignments.
    pub(crate) fn described(&self) -> String {
        match &self.stand_in {
            Assigned::Targets(targets) => {
                format!("{} on {targets:?}", self.system.name)
            }
            Assigned::Run(record) => format!("{} by {}", self.system.name, record.id),
        }
    }
}

/// The targets that a system is measured on.
///
/// # Errors
/// When the request names several systems and not one target for each.
fn targets(request: &Request, system: &System) -> Result<Vec<String>, Error> {
    let is_alone = request.study.measured().count() == 1;
    let mut systems = request.systems.iter();
    let index = systems.position(|name| *name == system.name);
    let named = match (index, &*request.systems) {
        // No system is named: the targets can only mean the only system, or the models of all.
        (None, []) if is_alone && !request.targets.is_empty() => &*request.targets,
        (None, []) if names_models(request) => &*request.targets,
        // Others are named, so this one is simulated.
        (None, _) => return Ok(vec![target_for("sim", system)]),
        (Some(_), _) if request.targets.is_empty() => return Ok(vec![HERE.to_owned()]),
        // The only named system has all targets; several have one each, in the same order.
        (Some(_), [_]) => &*request.targets,
        (Some(index), systems) if systems.len() == request.targets.len() => {
            &request.targets[index..=index]
        }
        (Some(_), systems) => {
            return Err(Error::SystemsAndTargets {
                systems: systems.len(),
                targets: request.targets.len(),
            });
        }
    };
    Ok(named.iter().map(|text| target_for(text, system)).collect())
}

/// The target that a text means for a system: its model, if the text means the models of all.
fn target_for(text: &str, system: &System) -> String {
    if MODELS.contains(&text) {
        format!("{text}:{}", system.address)
    } else {
        text.to_owned()
    }
}
