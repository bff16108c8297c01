//! A study with every inheritance and sweep resolved: its cases, and the order and number of their
//! passes. The languages make it, the runner runs it.

use std::collections::BTreeMap;

use blocklab_random::Stream;
use blocklab_units::{Nanos, with_defaults};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Job, MostErrors};

/// Jobs that run at the same time, all from one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The root seed of all random numbers in the run.
    #[serde(with = "crate::kept::text")]
    pub seed: u64,
    /// At least one.
    pub jobs: Vec<Job>,
}

impl Workload {
    /// The seed of one of several repetitions, counted from 0: the first keeps the root seed.
    ///
    /// If every repetition drew the same offsets, sizes and directions, the scatter of the passes
    /// would not contain the scatter between draws, and the confidence intervals would be far too
    /// narrow. The seed has 32 bits, which every format can hold and a person can copy.
    pub fn seed_of(root: u64, repetition: u64) -> u64 {
        match repetition {
            0 => root,
            _ => Stream::new(root, "repetition", repetition).next_u64() & 0xffff_ffff,
        }
    }

    /// The seed on one of several hosts that run this at the same time, counted from 0: the first keeps the
    /// root seed.
    ///
    /// From one seed, all hosts would issue the same offsets at the same moments. What they share would
    /// answer all but the first from a cache, and random arrivals would come in batches of one a host.
    /// What is verified must hold the same content on all hosts, as they may share it. The seed has 32
    /// bits, as that of [`Self::seed_of`].
    pub fn seed_on_host(&self, host: u64) -> u64 {
        match host {
            0 => self.seed,
            _ if self.verifies() => self.seed,
            _ => Stream::new(self.seed, "host", host).next_u64() & 0xffff_ffff,
        }
    }

    fn verifies(&self) -> bool {
        self.jobs.iter().any(|job| job.verify.is_some())
    }

    /// The seed of pass `number`, counted from 1; 0 is any discarded one, which enters no figure.
    ///
    /// A workload that verifies has the same seed in every pass, because a pass that reads back must
    /// find what an earlier one wrote.
    pub fn seed_in_pass(&self, number: u32) -> u64 {
        let repetition = match number {
            _ if self.verifies() => 0,
            0 => u64::MAX,
            number => u64::from(number) - 1,
        };
        Self::seed_of(self.seed, repetition)
    }
}

/// Whether a case has this name, or is one of the matrix of this name: `read-4k` is of `read`. The
/// names of the cases of a matrix are its own, followed by their settings.
pub fn is_case_of(case: &str, name: &str) -> bool {
    let rest = case.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// What a setting of a matrix adds to the name of its case: `-depth4`. A word that does not begin with a
/// digit has a dash before it, as has a negative number: `-engine-psync`, `-nice-5`. Each run of characters
/// other than letters, digits, `.` and `_` becomes one dash.
pub fn swept_part((setting, value): &(String, String)) -> String {
    let words = value.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let word = words.join("-");
    let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !value.starts_with('-');
    let dash = if is_number { "" } else { "-" };
    format!("-{setting}{dash}{word}")
}

/// A workload with a name and the settings that distinguish it from the others of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique in its plan: `seq1m-q8-read`.
    pub name: String,
    /// The matrix's settings for this case, in the order of its axes: `("depth", "32")`.
    pub settings: Vec<(String, String)>,
    /// The load.
    pub workload: Workload,
}

impl Case {
    /// A case without a matrix.
    pub fn new(name: impl Into<String>, seed: u64, jobs: Vec<Job>) -> Self {
        Self {
            name: name.into(),
            settings: Vec::new(),
            workload: Workload { seed, jobs },
        }
    }
}

/// How the passes of one case become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Arithmetic mean, with a confidence interval from Student's t.
    Mean,
    /// Median, with an interval from order statistics where there are enough passes.
    Median,
    /// The highest throughput of any pass, as CrystalDiskMark does.
    Best,
}

impl Aggregate {
    /// The name in a Record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Best => "best",
        }
    }

    /// The aggregate of this name in a Record; the mean for an unknown name.
    pub fn named(name: &str) -> Self {
        let known = [Self::Median, Self::Best];
        let found = known.into_iter().find(|known| known.name() == name);
        found.unwrap_or(Self::Mean)
    }
}

/// In which order cases and passes are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Every case once, then every case again: drift hits all cases alike.
    Interleaved,
    /// All passes of a case, then the next case.
    Grouped,
}

/// The measurements before which the run pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseBefore {
    /// Every measurement.
    #[default]
    Measurement,
    /// The first measurement of each case in a row.
    Case,
}

with_defaults! {
    /// The resolved form of a study: every inheritance and sweep is applied.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Plan {
        /// Short name: `quick`; [`Plan::on_system`] adds the system.
        pub name: String = String::new(),
        /// The system that this run measures, if the study has several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub system: Option<String> = None,
        /// One or two sentences for people.
        pub description: String = String::new(),
        /// The cases, in the order in which they are shown.
        #[serde(deserialize_with = "cases")]
        pub cases: Vec<Case> = Vec::new(),
        /// How often each case is run, at least once.
        pub passes: u32 = 1,
        /// Passes before the first one that counts: they are run and recorded as pass 0, and enter no
        /// figure.
        pub discard: u32 = 0,
        /// How the passes become one figure.
        pub aggregate: Aggregate = Aggregate::Mean,
        /// Order of cases and passes.
        pub order: Order = Order::Grouped,
        /// Rest between two measurements.
        pub pause: Nanos = Nanos::ZERO,
        /// The measurements before which it rests.
        pub pause_before: PauseBefore = PauseBefore::Measurement,
    }
}

impl Plan {
    /// A plan that runs each case once.
    pub fn once(name: &str, description: &str, cases: Vec<Case>) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            cases,
            ..Self::default()
        }
    }

    /// The plan for one system of the study, which is added to the name: `i3-vs-i2: i3.xlarge`.
    #[must_use]
    pub fn on_system(self, system: &str) -> Self {
        Self {
            name: format!("{}: {system}", self.name),
            system: Some(system.to_owned()),
            ..self
        }
    }

    /// The pairs (index of the case, pass from 1; 0: discarded) in the order in which they are
    /// run.
    pub fn steps(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let (cases, rounds) = (self.cases.len(), self.rounds() as usize);
        (0..cases * rounds).map(move |step| {
            let (case, round) = match self.order {
                Order::Interleaved => (step % cases, step / cases),
                Order::Grouped => (step / rounds, step % rounds),
            };
            (case, (round as u32 + 1).saturating_sub(self.discard))
        })
    }

    /// How often each case is run, discarded passes included.
    pub const fn rounds(&self) -> u32 {
        self.passes.saturating_add(self.discard)
    }

    /// The jobs of all cases, in order.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> + Clone {
        self.cases.iter().flat_map(|case| &case.workload.jobs)
    }

    /// The same, to change them.
    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut Job> {
        let cases = self.cases.iter_mut();
        cases.flat_map(|case| &mut case.workload.jobs)
    }

    /// Whether any job would change what is stored on its target.
    pub fn writes(&self) -> bool {
        self.jobs().any(Job::writes)
    }

    /// Why the plan's JSON is not the whole plan; `None` if it is.
    pub fn missing_in_json(&self) -> Option<&'static str> {
        self.jobs().find_map(|job| {
            let pool = job.pool.as_ref();
            if pool.is_some_and(|pool| pool.validation.is_some()) {
                return Some("data validation continues from what earlier runs wrote");
            }
            let replay = job.replay.as_ref()?;
            let unnamed = replay.source.is_none();
            unnamed.then_some("a job's operations are not from a file that could be read again")
        })
    }
}

/// Reads cases, and lets limits with the same counter count together again.
fn cases<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Case>, D::Error> {
    let mut cases = Vec::<Case>::deserialize(from)?;
    let mut counters: BTreeMap<(u32, u32), MostErrors> = BTreeMap::new();
    let jobs = cases.iter_mut().flat_map(|case| &mut case.workload.jobs);
    for limit in jobs.filter_map(|job| job.pool.as_mut()?.most_errors.as_mut()) {
        let known = counters.entry((limit.counter(), limit.most()));
        *limit = known.or_insert_with(|| limit.clone()).clone();
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(order: Order, passes: u32, discard: u32, expected: &[(usize, u32)]) {
        let case = |name: &str| Case::new(name, 0, Vec::new());
        let plan = Plan {
            passes,
            discard,
            order,
            ..Plan::once("", "", vec![case("a"), case("b")])
        };
        assert_eq!(plan.steps().collect::<Vec<_>>(), expected);
    }

    fn workload(jobs: Vec<Job>) -> Workload {
        Workload { seed: 7, jobs }
    }

    #[test]
    fn every_pass_draws_for_itself_and_the_first_from_the_root() {
        let plain = workload(vec![Job::new("a")]);
        let seeds = [0, 1, 2, 3, 4].map(|pass| plain.seed_in_pass(pass));
        assert_eq!(
            seeds[1], 7,
            "a single pass draws from the seed as it is given"
        );
        let different: std::collections::BTreeSet<_> = seeds.into_iter().collect();
        assert_eq!(different.len(), seeds.len());
        assert_eq!(seeds, [0, 1, 2, 3, 4].map(|pass| plain.seed_in_pass(pass)));
    }

    #[test]
    fn what_is_verified_is_drawn_alike_in_every_pass() {
        let mut job = Job::new("a");
        job.verify = Some(crate::Verify::new(crate::Checksum::Crc32c));
        let verified = workload(vec![job]);
        let seeds = [0, 1, 2, 3].map(|pass| verified.seed_in_pass(pass));
        assert_eq!(seeds, [7; 4]);
        assert_eq!([0, 1, 2].map(|host| verified.seed_on_host(host)), [7; 3]);
    }

    #[test]
    fn discarded_passes_come_first_and_are_called_zero() {
        let grouped = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        check(Order::Grouped, 2, 1, &grouped);
        let interleaved = [(0, 0), (1, 0), (0, 0), (1, 0), (0, 1), (1, 1)];
        check(Order::Interleaved, 1, 2, &interleaved);
        check(Order::Grouped, 1, 0, &[(0, 1), (1, 1)]);
    }
}
