//! A script as a plan, and what the caller must find out for it.

use blocklab_record::Note;
use blocklab_workload::Plan;

use super::command::Validation;
use super::rates::PlannedJob;
use super::run::Run;

/// What the caller found out.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Bytes of each storage definition, in their order.
    pub sizes: Vec<u64>,
    /// Which of them are written first.
    pub format: Vec<usize>,
    /// The root of all chance.
    pub seed: u64,
    /// Data validation.
    pub validation: Validation,
}

/// A run and its case.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The run; of the formatting one, made up.
    pub run: Run,
    /// Name of its case.
    pub case: String,
    /// What each job is, in their order.
    pub planned_jobs: Vec<PlannedJob>,
}

/// A script as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// A case for each run.
    pub plan: Plan,
    /// In the order of the cases.
    pub runs: Vec<Planned>,
    /// What is done differently.
    pub notes: Vec<Note>,
}
