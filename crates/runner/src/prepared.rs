//! In: a Request, and the setting it runs in.
//! Out: first what will be measured, checked before anything begins; then its Records.

use std::collections::BTreeMap;

use blocklab_driver::Observer;
use blocklab_record::{Origin, Record, Status};
use blocklab_store::Store;
use blocklab_workload::publication::System;
use blocklab_workload::{Plan, Target};
use jiff::Timestamp;

use crate::forecast::{Forecast, forecast};
use crate::request::{Request, Setting};
use crate::run_plan::{plan_of, run_parts};
use crate::system_run::{Part, whole_measurements};
use crate::systems::{Assigned, SystemAssignment, assignments, is_multi_system};
use crate::{Error, ResumeState};

/// A request whose systems and plans are resolved. Its targets are not opened yet.
pub struct Prepared<'a> {
    request: &'a Request,
    setting: Setting<'a>,
    /// What is measured: a part for each system, or one for the whole load.
    parts: Vec<Part<'a>>,
    /// The systems to which an earlier run is assigned.
    earlier: Vec<(String, Record)>,
    /// `None`: the request is not a study of several systems.
    progress: Option<Progress>,
}

/// The progress of a study of several systems.
struct Progress {
    state: ResumeState,
    /// Whether it is saved: something is measured in real time, so that resuming saves time.
    is_saved: bool,
}

/// How a request has ended.
#[derive(Debug)]
pub enum Finished {
    /// The only run.
    Run(Box<Record>),
    /// All systems of a study have been run.
    Systems {
        /// Earlier runs that are assigned to a system, by its name.
        earlier: Vec<(String, Record)>,
        /// The runs that were measured now, by system.
        measured: Vec<(String, Record)>,
        /// The saved progress, to be removed once the runs are kept.
        progress: ResumeState,
    },
    /// A signal came before the end.
    Stopped {
        /// Number of measurements with which the study can be resumed; 0: it cannot.
        resumable: usize,
    },
}

impl<'a> Prepared<'a> {
    /// Resolves what is to be measured. Changes nothing.
    ///
    /// # Errors
    /// When the request contradicts itself or its study.
    pub fn new(request: &'a Request, setting: Setting<'a>) -> Result<Self, Error> {
        let mut prepared = Self {
            request,
            setting,
            parts: Vec::new(),
            earlier: Vec::new(),
            progress: None,
        };
        if is_multi_system(request)? {
            prepared.add_systems()?;
        } else {
            let plan = request.study.plan.clone();
            let id = prepared.id()?;
            let part = prepared.part(id, plan, request.targets.clone());
            prepared.parts.push(part);
        }
        Ok(prepared)
    }

    /// The plans that are measured now, each with the name of its system if there are several.
    pub fn plans(&self) -> Vec<(Option<&str>, &Plan)> {
        let parts = self.parts.iter();
        parts
            .map(|part| (part.system.as_deref(), &part.plan))
            .collect()
    }

    /// What each of [`Self::plans`] would do, from its beginning.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn forecasts(&self) -> Result<Vec<Forecast>, Error> {
        self.parts.iter().map(forecast).collect()
    }

    /// Measures the request. Systems take turns, measurement by measurement, so that drift affects all
    /// of them alike; if all are simulated, they run in parallel.
    ///
    /// # Errors
    /// When nothing can be measured at all: see [`Error`].
    pub fn run(self, observer: &mut dyn Observer) -> Result<Finished, Error> {
        let Self {
            setting,
            parts,
            earlier,
            progress,
            ..
        } = self;
        // Written before the first measurement: after a crash in it, the study finds its seed and the
        // ids of its runs again.
        if let Some(progress) = progress.as_ref().filter(|progress| progress.is_saved) {
            progress
                .state
                .write(setting.store.root())
                .map_err(Error::Progress)?;
        }
        let names: Vec<_> = parts.iter().map(|part| part.system.clone()).collect();
        let before = resumable(parts.iter().filter_map(|part| part.before.as_ref()));
        let records = match run_parts(parts, setting.guard, observer) {
            // A signal while targets were prepared: nothing was added to what was measured before.
            Err(Error::Interrupted) => return Ok(Finished::Stopped { resumable: before }),
            records => records?,
        };
        let Some(progress) = progress else {
            let record = records
                .into_iter()
                .next()
                .expect("the load has a part, and each part a record");
            return Ok(Finished::Run(Box::new(record)));
        };
        if records
            .iter()
            .any(|record| record.status == Status::Interrupted)
        {
            let resumable = if progress.is_saved {
                resumable(&records)
            } else {
                0
            };
            return Ok(Finished::Stopped { resumable });
        }
        Ok(Finished::Systems {
            earlier,
            measured: names.into_iter().flatten().zip(records).collect(),
            progress: progress.state,
        })
    }

    /// Adds a part for each system that is measured, and the earlier runs of the others.
    fn add_systems(&mut self) -> Result<(), Error> {
        let request = self.request;
        let assignments = assignments(request)?;
        let mut state = self.find_progress(&assignments);
        let is_saved = request.is_resumable && assignments.iter().any(SystemAssignment::is_lasting);
        for SystemAssignment { system, stand_in } in assignments {
            match stand_in {
                Assigned::Run(record) => {
                    self.earlier.push((system.name.clone(), record.clone()));
                }
                Assigned::Targets(targets) => {
                    let part = self.system_part(system, targets, &mut state)?;
                    self.parts.push(part);
                }
            }
        }
        self.progress = Some(Progress { state, is_saved });
        Ok(())
    }

    /// The saved progress of the same request if it was interrupted, or a new one.
    fn find_progress(&self, assignments: &[SystemAssignment<'_>]) -> ResumeState {
        let Request {
            study, overrides, ..
        } = self.request;
        let described: Vec<String> = assignments
            .iter()
            .map(SystemAssignment::described)
            .collect();
        let overridden = format!("{overrides:?}");
        // Another text of the study, other overrides or other targets make another request.
        let identity = [&*study.source, &overridden, &described.join("; ")].join("\n");
        if self.request.is_resumable
            && !self.request.is_fresh
            && let Some(found) = ResumeState::find(self.setting.store.root(), &identity)
        {
            return found;
        }
        let first = study.plan.cases.first();
        ResumeState {
            requested: identity,
            seed: first.map_or(0, |case| case.workload.seed).to_string(),
            runs: BTreeMap::new(),
        }
    }

    /// A system that is measured now: from its beginning, or from where it was interrupted.
    fn system_part(
        &self,
        system: &System,
        targets: Vec<String>,
        state: &mut ResumeState,
    ) -> Result<Part<'a>, Error> {
        let seed = state.seed.parse().map_err(|_| Error::DamagedProgress)?;
        let plan = plan_of(&self.request.study.plan, system, seed);
        let before = before(state, self.setting.store, system, &targets)?;
        let id = match &before {
            Some(record) => record.id.clone(),
            None => self.id()?,
        };
        state.runs.insert(system.name.clone(), id.clone());
        Ok(Part {
            system: Some(system.name.clone()),
            before,
            ..self.part(id, plan, targets)
        })
    }

    /// A part of the request that begins anew and belongs to no system.
    fn part(&self, id: String, plan: Plan, targets: Vec<String>) -> Part<'a> {
        Part {
            system: None,
            id,
            plan,
            targets,
            before: None,
            request: self.request,
            setting: self.setting,
        }
    }

    /// The id of a run that begins: one that no run of the store has, and no other system of the study.
    fn id(&self) -> Result<String, Error> {
        // Only requests for one run come with an id.
        if let Some(id) = &self.request.id {
            return Ok(id.clone());
        }
        let salt = getrandom::u64().map_err(Error::Chance)?;
        let now = Timestamp::now();
        let mut id = self.setting.store.new_id(now, salt);
        // The store does not know the runs of this study before they begin, and all of its systems are
        // prepared within a few milliseconds.
        // Of the same moment, `id_after` counts up, so that this ends.
        while self.parts.iter().any(|part| part.id == id) {
            id = Store::id_after(&id, now, salt);
        }
        Ok(id)
    }
}

/// The number of measurements that are not made again when an interrupted study is resumed: the whole
/// ones of all systems but simulated ones.
pub(crate) fn resumable<'r>(records: impl IntoIterator<Item = &'r Record>) -> usize {
    let records = records.into_iter();
    let kept = records.filter(|record| record.origin != Origin::Simulated);
    kept.map(whole_measurements).sum()
}

/// The stored measurements of a system from before an interruption; `None` if there are none. A run
/// that goes on is not continued: two processes would write one spool, and the second would pass
/// off the measurements of the first as its own.
///
/// Simulated measurements are made again. Virtual time costs little, and only so does the model have
/// the state (such as its burst credits) that the next measurement begins with.
fn before(
    state: &ResumeState,
    store: &Store,
    system: &System,
    targets: &[String],
) -> Result<Option<Record>, Error> {
    let Some(id) = state.runs.get(&system.name) else {
        return Ok(None);
    };
    if targets.iter().any(|text| Target::is_simulated(text)) {
        return Ok(None);
    }
    if store.follow(id).is_ok_and(|run| run.is_held()) {
        return Err(Error::StudyRuns { id: id.clone() });
    }
    let Ok(stored) = store.load(id) else {
        return Ok(None);
    };
    let record = stored.record;
    Ok((stored.partial && !record.measurements.is_empty()).then_some(record))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use blocklab_catalog::Catalog;
    use blocklab_record::Measurement;
    use blocklab_workload::{Case, Job};

    use super::*;
    use crate::{Guard, Study};

    /// The story: a study was interrupted, resumed, and interrupted again while its files were laid out.
    /// It said "nothing is kept", although the same command still continued all that it had measured.
    #[test]
    fn what_was_measured_before_is_kept_when_nothing_is_added() {
        let root = tempfile::tempdir().expect("a folder");
        let plan = Plan::once("a", "", vec![Case::new("a", 1, vec![Job::new("a")])]);
        let request = Request::once(Study::of_plan(plan.clone()), vec!["null".to_owned()]);
        let setting = Setting {
            store: &Store::open(root.path()),
            guard: &Guard::default(),
            catalog: &Catalog::embedded(),
            interrupted: &AtomicBool::new(true),
        };
        let before = Record {
            measurements: vec![Measurement::default()],
            ..Record::default()
        };
        let mut prepared = Prepared::new(&request, setting).expect("a request");
        prepared.parts[0].before = Some(before);
        let finished = prepared.run(&mut ()).expect("stopped");
        assert!(matches!(finished, Finished::Stopped { resumable: 1 }));
    }
}
