//! Runs of modelled devices whose binding limit or fault is known because it was built in, and what
//! the diagnosis says of them.
//!
//! A label says which rules must speak; every other rule that is judged here must be silent.

mod altered;
mod blind;
mod described;
mod machine;
mod rules;
mod scenarios;
mod throttled;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;

use blocklab_catalog::{Catalog, resolve};
use blocklab_compare::expect::{Expectation, diagnose};
use blocklab_findings::Severity;
use blocklab_native as native;
use blocklab_record::Record;
use blocklab_workload::Address;

use crate::accuracy::simulate;

pub use rules::RULES;

/// All of them, in the same order every time.
#[must_use]
pub fn scenarios() -> Vec<Scenario> {
    let parts = [
        scenarios::sold(),
        described::all(),
        blind::all(),
        altered::all(),
        throttled::all(),
    ];
    parts.concat()
}

/// What is run, what it is compared with, and what must be said of it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The device that is simulated: an address, or the text of a device file.
    pub device: String,
    /// Keys of the only job, or all cases, in the native format.
    pub job: String,
    /// What somebody believes to have bought.
    pub expected: Option<String>,
    /// Rules that must speak.
    pub labels: Vec<&'static str>,
    /// Nothing is wrong: no finding is graver than information.
    pub healthy: bool,
    /// Whether the record is shown as one of a real disk: without limits, on a machine.
    pub blind: bool,
    /// What else happened to the run, which no model does.
    pub besides: Option<fn(&mut Record)>,
    /// The record of a real device, which is not run again.
    pub recorded: Option<&'static str>,
}

impl Scenario {
    /// Whether the device, or what happened to it, is none that the catalog knows.
    #[must_use]
    pub fn is_beyond(&self) -> bool {
        let is_described = self.device.contains("[[volume]]");
        is_described || self.blind || self.besides.is_some() || self.recorded.is_some()
    }

    /// Its device in a line.
    fn name(&self) -> String {
        let lines = self.device.lines().filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("; ")
    }
}

/// What was said of a scenario.
#[derive(Debug)]
pub struct Verdict {
    /// Which one.
    pub scenario: Scenario,
    /// Judged rules that spoke.
    pub found: Vec<&'static str>,
    /// Rules that warned.
    pub warned: Vec<&'static str>,
}

impl Verdict {
    /// Whether a healthy device got a warning.
    #[must_use]
    pub fn is_false_alarm(&self) -> bool {
        self.scenario.healthy && !self.warned.is_empty()
    }
}

/// Simulates and judges everything, on all processors.
#[must_use]
pub fn judge(scenarios: &[Scenario]) -> Vec<Verdict> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = scenarios.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let chunks = scenarios.chunks(share);
        let started: Vec<_> = chunks
            .map(|part| scope.spawn(|| part.iter().map(verdict).collect::<Vec<_>>()))
            .collect();
        let ended = started.into_iter();
        ended
            .flat_map(|thread| thread.join().expect("judged"))
            .collect()
    })
}

/// A run of the scenario, as the diagnosis gets it.
fn run(scenario: &Scenario) -> Record {
    if let Some(text) = scenario.recorded {
        return Record::from_json(text).expect("a record");
    }
    let head = "name = \"corpus\"\nseed = 7\n";
    let text = if scenario.job.contains("[[case]]") {
        format!("{head}{}", scenario.job)
    } else {
        format!("{head}[[case]]\nname = \"case\"\n{}", scenario.job)
    };
    let parsed = native::parse(&text, "corpus").unwrap_or_else(|error| panic!("{error}"));
    let mut record = simulate(parsed.plan, &scenario.device);
    if scenario.blind {
        machine::around(&mut record);
    }
    if let Some(edit) = scenario.besides {
        edit(&mut record);
    }
    record
}

fn verdict(scenario: &Scenario) -> Verdict {
    let record = run(scenario);
    let catalog = Catalog::embedded();
    let resolved = scenario.expected.as_ref().map(|text| {
        let address: Address = text.parse().expect("an address");
        resolve(&address, &catalog).expect("something sold")
    });
    let expectation = resolved.as_ref().map(|resolved| Expectation {
        resolved,
        catalog: &catalog,
        priced: None,
        target: None,
        together: &[],
    });
    let findings = diagnose(&record, expectation).assessment.findings;
    let spoke = |rule: &&str| findings.iter().any(|finding| finding.rule == *rule);
    let warned = findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info);
    let names: Vec<&str> = RULES.iter().map(|(rule, _)| *rule).collect();
    let unknown = findings
        .iter()
        .find(|finding| !names.contains(&finding.rule) && finding.rule != "sound");
    assert!(unknown.is_none(), "a rule that is not judged: {unknown:?}");
    Verdict {
        scenario: scenario.clone(),
        found: names.into_iter().filter(spoke).collect(),
        warned: warned.map(|warned| warned.rule).collect(),
    }
}

/// How often a rule was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// It spoke, and should.
    pub right: u32,
    /// It spoke, and should not.
    pub wrong: u32,
    /// It was silent, and should speak.
    pub missed: u32,
}

impl Score {
    /// Share of what it said that is right; 1 where it said nothing.
    #[must_use]
    pub fn precision(self) -> f64 {
        share(self.right, self.wrong)
    }

    /// Share of what it should say that it said; 1 where there was nothing to say.
    #[must_use]
    pub fn recall(self) -> f64 {
        share(self.right, self.missed)
    }
}

fn share(right: u32, other: u32) -> f64 {
    match right + other {
        0 => 1.0,
        all => f64::from(right) / f64::from(all),
    }
}

/// Of every rule.
#[must_use]
pub fn scores(verdicts: &[Verdict]) -> BTreeMap<&'static str, Score> {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for verdict in verdicts {
        for (rule, _) in RULES {
            let score = scores.entry(rule).or_default();
            match (
                verdict.found.contains(&rule),
                verdict.scenario.labels.contains(&rule),
            ) {
                (true, true) => score.right += 1,
                (true, false) => score.wrong += 1,
                (false, true) => score.missed += 1,
                (false, false) => {}
            }
        }
    }
    scores
}

/// The page `docs/diagnosis.md`.
#[must_use]
pub fn page(verdicts: &[Verdict]) -> String {
    let mut page = String::from(include_str!("../../data/corpus-head.md"));
    let healthy = verdicts
        .iter()
        .filter(|verdict| verdict.scenario.healthy)
        .count();
    let beyond = verdicts
        .iter()
        .filter(|verdict| verdict.scenario.is_beyond())
        .count();
    let alarms = verdicts
        .iter()
        .filter(|verdict| verdict.is_false_alarm())
        .count();
    let _ = writeln!(
        page,
        "{} runs, {beyond} of them of devices or events that the catalog does not know; {healthy} of \
         healthy devices, of which {alarms} got a warning.\n",
        verdicts.len()
    );
    page.push_str(
        "| rule | label rests on | runs with it | beyond the catalog | precision | recall |\n\
         |---|---|--:|--:|--:|--:|\n",
    );
    let scores = scores(verdicts);
    for (rule, why) in RULES {
        let score = scores[rule];
        let labelled = verdicts.iter().map(|verdict| &verdict.scenario);
        let beyond =
            labelled.filter(|labelled| labelled.labels.contains(&rule) && labelled.is_beyond());
        let beyond = beyond.count();
        let _ = writeln!(
            page,
            "| `{rule}` | {why} | {} | {beyond} | {:.3} | {:.3} |",
            score.right + score.missed,
            score.precision(),
            score.recall()
        );
    }
    let wrong: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.found != in_order(&verdict.scenario.labels))
        .collect();
    page.push_str("\n## Where label and finding differ\n\n");
    if wrong.is_empty() {
        page.push_str("Nowhere.\n");
    }
    for verdict in wrong {
        let scenario = &verdict.scenario;
        let _ = writeln!(
            page,
            "- `{}` compared with `{}`, `{}`: labelled {:?}, found {:?}",
            scenario.name(),
            scenario.expected.as_deref().unwrap_or("nothing"),
            scenario.job.replace('\n', "; "),
            scenario.labels,
            verdict.found
        );
    }
    page
}

fn in_order(labels: &[&'static str]) -> Vec<&'static str> {
    let all = RULES.iter().map(|(rule, _)| *rule);
    all.filter(|rule| labels.contains(rule)).collect()
}
