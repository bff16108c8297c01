//! Whether a pipeline may go on: a condition put to a comparison, a diagnosis or a run, and one of
//! three answers.
//!
//! An answer rests on the 95 % confidence intervals that the pages show. The condition *fails*
//! where the whole interval lies beyond what is allowed, it *passes* where the whole interval lies
//! within, and anything else is *undecided*: more passes would make the interval narrower. What
//! was not measured never passes.

mod asked;
mod beyond;
mod condition;
mod history;
mod loads;
mod lost;
mod missed;
mod slower;
mod warning;

use serde::Serialize;

use beyond::beyond;
use history::slower_than_history;
use missed::missed;
use slower::slower;
use warning::warning;

pub use asked::{Asked, Evidence, NoSuchCase, answer, cases, check_cases};
pub use condition::{Bound, Condition, Figure, NoCondition, percent};
pub use loads::{Loads, fits};

/// The answer to a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What the condition forbids is excluded.
    Pass,
    /// It is neither shown nor excluded.
    Undecided,
    /// It is shown.
    Fail,
}

/// One load, limit, finding or run under a condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Place of the run among those given.
    pub run: usize,
    /// `rand4k-q32-read read`, `gp3: volume IOPS`, `rule drift`.
    pub subject: String,
    /// Pass, fail or undecided.
    pub answer: Answer,
    /// With the figures that it rests on.
    pub why: String,
    /// Where it is undecided: passes that would decide if ratio and scatter stay as they are;
    /// `None`: not known, or more than 1,000.
    pub passes_to_decide: Option<u32>,
}

impl Judged {
    /// Where it is undecided: how many passes would decide.
    fn decided_by(mut self, passes: Option<u32>) -> Self {
        if self.answer == Answer::Undecided {
            self.passes_to_decide = passes;
        }
        self
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
    /// Everything that was looked at.
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
    /// Without anything that was looked at, nothing is decided.
    fn new(asked: &Asked, judged: Vec<Judged>) -> Self {
        let worst = judged.iter().map(|judged| judged.answer).max();
        Self {
            condition: asked.to_string(),
            answer: worst.unwrap_or(Answer::Undecided),
            judged,
        }
    }
}
