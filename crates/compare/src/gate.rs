//! In: conditions on a comparison, a diagnosis or a run. Out: whether a pipeline may go on.
//!
//! An answer rests on the 95 % confidence intervals that the pages show. A condition *fails* if the
//! whole interval lies beyond what is allowed, and *passes* if the whole interval lies within.
//! Anything else is *undecided*: more passes would make the interval narrower. What was not
//! measured never passes.

mod answer;
mod beyond;
mod condition;
mod file;
mod history;
mod loads;
mod lost;
mod missed;
mod slower;
mod warning;

use blocklab_record::{Record, Status};
use blocklab_workload::Direction;
use serde::Serialize;

use beyond::beyond;
use history::slower_than_history;
use missed::missed;
use slower::slower;
use warning::warning;

pub use answer::{Evidence, LoadCondition, NoSuchCase, answer, cases, check_cases};
pub use condition::{Bound, Condition, Figure, NoCondition, percent};
pub use file::conditions_in;
pub use loads::{Loads, fits};

/// The answer to a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is shown that nothing is as the condition forbids.
    Pass,
    /// Neither is shown.
    Undecided,
    /// It is shown that something is as the condition forbids.
    Fail,
}

/// One load, limit, finding or run under a condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Index of the run among those given.
    pub run: usize,
    /// `rand4k-q32-read read`, `gp3: volume IOPS`, `rule drift`.
    pub subject: String,
    /// Pass, fail or undecided.
    pub answer: Answer,
    /// The reason, with the figures that the answer rests on.
    pub why: String,
    /// For an undecided answer: how many passes would decide it if ratio and scatter stay as they
    /// are; `None`: not known, or more than 1,000.
    pub passes_to_decide: Option<u32>,
}

impl Judged {
    /// Adds the number of passes that would decide, if the answer is undecided.
    fn decided_by(mut self, passes: Option<u32>) -> Self {
        if self.answer == Answer::Undecided {
            self.passes_to_decide = passes;
        }
        self
    }

    /// A run that did not end as planned: what it lacks could have failed the condition.
    fn unfinished(run: usize, record: &Record) -> Option<Self> {
        let why = "it did not end as planned, so cases or passes may be missing";
        (record.status != Status::Complete).then(|| {
            let subject = format!("run {}", record.id);
            Self::new(run, subject, Answer::Undecided, why.to_owned())
        })
    }

    /// A load that has no counterpart, with the reason.
    fn not_compared(run: usize, case: &str, direction: Direction, why: &str) -> Self {
        let subject = format!("{case} {direction}");
        let why = format!("it cannot be compared: {why}");
        Self::new(run, subject, Answer::Undecided, why)
    }

    fn new(run: usize, subject: impl Into<String>, answer: Answer, why: String) -> Self {
        Self {
            run,
            subject: subject.into(),
            answer,
            why,
            passes_to_decide: None,
        }
    }
}

/// A condition with its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// As it can be given on the command line: `slower:5%`.
    pub condition: String,
    /// The worst of `judged`.
    pub answer: Answer,
    /// Each load, limit, finding or run that was judged.
    pub judged: Vec<Judged>,
}

/// All conditions of a command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The worst of `checks`.
    pub answer: Answer,
    /// In the order given.
    pub checks: Vec<Check>,
}

impl Gate {
    /// The answers of several conditions as one; `None` without any.
    pub fn new(checks: Vec<Check>) -> Option<Self> {
        let answer = checks.iter().map(|check| check.answer).max()?;
        Some(Self { answer, checks })
    }
}

impl Check {
    /// The worst of the answers decides; where nothing was judged, nothing is decided.
    fn new(condition: &LoadCondition, judged: Vec<Judged>) -> Self {
        let worst = judged.iter().map(|judged| judged.answer).max();
        Self {
            condition: condition.to_string(),
            answer: worst.unwrap_or(Answer::Undecided),
            judged,
        }
    }
}
