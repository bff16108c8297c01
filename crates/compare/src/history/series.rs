//! In: digests of runs, from the oldest on. Out: a series for each figure of each load that was
//! measured repeatedly under the same conditions, with the changes in it.

use std::collections::{BTreeSet, HashMap};

use blocklab_record::Origin;
use blocklab_stats::{Change, TESTED, changes, discoveries, suspected};
use blocklab_workload::Direction;
use serde::Serialize;

use super::levels::{Level, levels};
use super::{Digest, LoadDigest};
use crate::compare::Quantity;

/// A run of a history.
#[derive(Debug, Clone)]
pub struct HistoryRun {
    /// Its id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The digest of its Record.
    pub digest: Digest,
    /// What the user decided on it by a tag.
    pub by_hand: Option<ByHand>,
}

/// What the user decided on a run. It overrides what findings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ByHand {
    /// The run enters the test.
    In,
    /// The run is left out.
    Out,
}

impl ByHand {
    /// The decision that the tags of a run hold; a run with both tags is left out.
    pub fn of_tags(tags: &[String]) -> Option<Self> {
        if tags.iter().any(|tag| tag == "history-out") {
            Some(Self::Out)
        } else if tags.iter().any(|tag| tag == "history-in") {
            Some(Self::In)
        } else {
            None
        }
    }
}

/// What must be equal for two runs to belong to the same series.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Conditions {
    /// Name of the study.
    pub study: String,
    /// Name of the case.
    pub case: String,
    /// What the operations did.
    pub direction: Direction,
    /// `4 KiB random read, depth 32, 1 thread`.
    pub what: String,
    /// A fingerprint of the settings that make it the same load.
    #[serde(skip)]
    pub kind: String,
    /// The target, by what stays the same between two runs.
    pub target: String,
    /// The class of the machine.
    pub machine: String,
    /// How the figures came about: `measured`, `simulated`.
    pub origin: &'static str,
    /// The seed of a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// A fingerprint of the cases, passes and times of a simulated run.
    #[serde(skip)]
    pub schedule: Option<String>,
}

/// One figure of the same load, run after run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The conditions that all of its runs share.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The figure, with its unit.
    pub quantity: Quantity,
    /// Whether the load is judged by this figure: the rate, or the mean latency where a rate was
    /// requested.
    pub is_headline: bool,
    /// What the series shows.
    pub verdict: SeriesVerdict,
    /// Why the verdict is not a clearer one: how many runs are missing, or what would settle a
    /// suspicion.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Rules that doubt at least three quarters of its runs. They leave no run out: on a machine
    /// that is always busy, busy runs are compared with busy ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usual_doubts: Vec<String>,
    /// Its runs, from the oldest on.
    pub points: Vec<Point>,
    /// The changes that are shown, from the oldest on.
    pub changes: Vec<ChangePoint>,
    /// The levels between the changes and the suspicion; empty where too few runs are comparable.
    pub levels: Vec<Level>,
    /// A change that is suspected but not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<Suspected>,
}

/// What a series shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesVerdict {
    /// Its last change made it worse.
    Regressed,
    /// Its last change made it better.
    Improved,
    /// Chance can explain all differences.
    NoChangeShown,
    /// The last runs differ from their level, but too few of them to show a change.
    Suspected,
    /// Too few runs are comparable.
    NotComparable,
}

/// One run in a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Its id.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The figure that `show` prints, in the unit of the quantity.
    pub value: f64,
    /// Its 95 % confidence interval within the run.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// The passes behind it.
    pub passes: u32,
    /// Whether it is left out of the test and drawn hollow: by the user, or because a rule doubts
    /// it that does not doubt most of its series.
    pub is_left_out: bool,
    /// What the user decided on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHand>,
    /// Rules that doubt it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What differs from the run before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
}

/// An aspect of the surroundings that changed between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// `kernel`, `tool`, `scheduler`, `limits`.
    pub what: String,
    /// Its value at the earlier run; empty where it was not known.
    pub before: String,
    /// Its value at the later run.
    pub after: String,
}

/// A run from which on a series is at another level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Worse or better.
    pub verdict: SeriesVerdict,
    /// Id of the first run of the new level.
    pub run: String,
    /// When that run began: RFC 3339, UTC.
    pub started_at: String,
    /// Its index among the points.
    pub place: usize,
    /// Id of the last run of the level before.
    pub last_before: String,
    /// Median of the level before.
    pub before: f64,
    /// Median of the new level.
    pub after: f64,
    /// The change from the one level to the other, relative to the one before.
    pub change_percent: f64,
    /// Lower end of the 95 % confidence interval (Hodges and Lehmann); `None` for a simulation,
    /// whose change is exact.
    pub ci95_low_percent: Option<f64>,
    /// Upper end of it.
    pub ci95_high_percent: Option<f64>,
    /// The p-value of the change; `None` for a simulation, in which chance has no part.
    pub probability: Option<f64>,
    /// The numbers of runs of the level before and of the new one.
    pub runs: [usize; 2],
    /// What else changed between the last run before and the first one after.
    pub changed: Vec<Changed>,
}

/// A change that is suspected: of the last one or two runs, or one that is too likely to be chance
/// among all series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspected {
    /// Whether it would be for the worse or for the better.
    pub verdict: SeriesVerdict,
    /// Id of the first run after it.
    pub run: String,
    /// Index of that run among the points.
    pub place: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the runs after it.
    pub after: f64,
}

/// The history of a store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// In the order in which they first appear.
    pub series: Vec<Series>,
    /// How many series have enough runs to be tested; each of them is a chance of a false alarm.
    pub tested: usize,
}

/// The fewest runs in which a change can be found: two levels of three runs.
const FEWEST: usize = 6;

/// The series of these runs, which are given from the oldest on, and their changes.
///
/// The error is controlled over all series together, whichever are shown later. So a series has the
/// same verdict whether it is looked at alone or with others.
pub fn history(runs: &[HistoryRun]) -> History {
    let mut drafts = drafts(runs);
    // All series are tested before any is judged: what counts as shown depends on how many there
    // are.
    let found: Vec<Found> = drafts.iter().map(Found::new).collect();
    let tested = found.iter().filter(|found| found.is_tested).count();
    let chances: Vec<f64> = found
        .iter()
        .flat_map(|found| &found.changes)
        .filter_map(|(_, change)| change.as_ref().map(|change| change.probability))
        .collect();
    // `shown` has one answer for each change with a probability, in the order of `chances`.
    let mut shown = discoveries(&chances, tested).into_iter();
    for (draft, found) in drafts.iter_mut().zip(found) {
        found.write_into(draft, || shown.next().unwrap_or(false));
    }
    let series = drafts.into_iter().map(|draft| draft.series).collect();
    History { series, tested }
}

/// A series without a verdict, and the runs behind its points.
struct Draft<'r> {
    series: Series,
    runs: Vec<&'r HistoryRun>,
}

/// The series of these runs with their points, in the order in which they first appear.
fn drafts(runs: &[HistoryRun]) -> Vec<Draft<'_>> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut places: HashMap<(Conditions, String), usize> = HashMap::new();
    for run in runs {
        for load in &run.digest.loads {
            let conditions = Conditions::new(&run.digest, load);
            for figure in &load.figures {
                // The store's index holds names as text, so that one may be no quantity.
                let Some(quantity) = Quantity::named(&figure.quantity) else {
                    continue;
                };
                let key = (conditions.clone(), figure.quantity.clone());
                // A new series gets the place behind the last one.
                let place = *places.entry(key).or_insert(drafts.len());
                if place == drafts.len() {
                    drafts.push(Draft::new(&conditions, quantity, load));
                }
                let draft = &mut drafts[place];
                // The first run of a series has none before it, so nothing changed.
                let since_previous = match draft.runs.last() {
                    Some(previous) => {
                        changed(&previous.digest.surroundings, &run.digest.surroundings)
                    }
                    None => Vec::new(),
                };
                draft.runs.push(run);
                draft.series.points.push(Point {
                    run: run.id.clone(),
                    started_at: run.started_at.clone(),
                    value: figure.value,
                    ci95_low: figure.interval.map(|(low, _)| low),
                    ci95_high: figure.interval.map(|(_, high)| high),
                    passes: figure.passes,
                    is_left_out: false,
                    by_hand: run.by_hand,
                    doubts: load.doubts.clone(),
                    changed: since_previous,
                });
            }
        }
    }
    // What is usual in a series is known only when all of its points are there.
    for draft in &mut drafts {
        draft.series.leave_out_doubted();
    }
    drafts
}

impl Series {
    /// Decides which points are left out of the test.
    fn leave_out_doubted(&mut self) {
        let all = self.points.iter().flat_map(|point| &point.doubts);
        let all: BTreeSet<String> = all.cloned().collect();
        let usual = all.into_iter().filter(|rule| {
            let points = self.points.iter();
            let doubted = points.filter(|point| point.doubts.contains(rule)).count();
            4 * doubted >= 3 * self.points.len()
        });
        self.usual_doubts = usual.collect();
        for point in &mut self.points {
            let mut doubts = point.doubts.iter();
            point.is_left_out = match point.by_hand {
                Some(by_hand) => by_hand == ByHand::Out,
                None => doubts.any(|doubt| !self.usual_doubts.contains(doubt)),
            };
        }
    }
}

impl Conditions {
    pub(super) fn new(digest: &Digest, load: &LoadDigest) -> Self {
        Self {
            study: digest.study.clone(),
            case: load.case.clone(),
            direction: load.direction,
            what: load.what.clone(),
            kind: load.kind.clone(),
            target: digest.target.clone(),
            machine: digest.machine.clone(),
            origin: digest.origin.name(),
            seed: digest.seed.clone(),
            schedule: digest.schedule.clone(),
        }
    }
}

impl Draft<'_> {
    fn new(conditions: &Conditions, quantity: Quantity, load: &LoadDigest) -> Self {
        Self {
            series: Series {
                conditions: conditions.clone(),
                is_headline: load.headline() == quantity.name(),
                quantity,
                verdict: SeriesVerdict::NoChangeShown,
                why: String::new(),
                usual_doubts: Vec::new(),
                points: Vec::new(),
                changes: Vec::new(),
                levels: Vec::new(),
                suspicion: None,
            },
            runs: Vec::new(),
        }
    }
}

/// The change that a ratio means, in per cent.
fn change_percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// The aspects that differ, in the order of the later run; those that only the earlier one has come
/// last.
fn changed(before: &[(String, String)], after: &[(String, String)]) -> Vec<Changed> {
    let gone = before
        .iter()
        .filter(|(what, _)| !after.iter().any(|(other, _)| other == what));
    let names = after.iter().chain(gone).map(|(what, _)| what);
    let all = names.map(|what| Changed {
        what: what.clone(),
        before: value_of(what, before),
        after: value_of(what, after),
    });
    all.filter(|changed| changed.before != changed.after)
        .collect()
}

/// The value of an aspect; empty where it is not known.
fn value_of(what: &str, surroundings: &[(String, String)]) -> String {
    let found = surroundings.iter().find(|(name, _)| name == what);
    found.map_or_else(String::new, |(_, value)| value.clone())
}

/// The changes found in one series, before the other series are taken into account.
struct Found {
    /// Whether chance had to be excluded by a test; a simulation is compared exactly.
    is_tested: bool,
    /// The indexes among the points that enter the test.
    sound: Vec<usize>,
    /// The indexes into `sound` at which a new level begins, each with the result of the test;
    /// `None` for a simulation.
    changes: Vec<(usize, Option<Change>)>,
}

impl Found {
    /// Finds the changes of a series. Runs that repeat exactly need no test: every difference
    /// between them is a change.
    fn new(draft: &Draft<'_>) -> Self {
        let points = &draft.series.points;
        let mut sound: Vec<usize> = (0..points.len())
            .filter(|place| !points[*place].is_left_out)
            .collect();
        let values = |places: &[usize]| -> Vec<f64> {
            places.iter().map(|place| points[*place].value).collect()
        };
        if draft.is_exact() {
            let values = values(&sound);
            let steps = (1..values.len()).filter(|place| values[place - 1] != values[*place]);
            return Self {
                is_tested: false,
                changes: steps.map(|place| (place, None)).collect(),
                sound,
            };
        }
        // The time of the test grows with the square of the runs, so only the last ones enter it.
        sound.drain(..sound.len().saturating_sub(TESTED));
        let is_tested = sound.len() >= FEWEST;
        let found = changes(&values(&sound));
        Self {
            is_tested,
            changes: found
                .into_iter()
                .map(|change| (change.at, Some(change)))
                .collect(),
            sound,
        }
    }

    /// Writes changes, suspicion and verdict into the series. `is_shown` answers for each change
    /// that was tested, in their order, whether it is shown.
    fn write_into(self, draft: &mut Draft<'_>, mut is_shown: impl FnMut() -> bool) {
        let starts: Vec<usize> = self.changes.iter().map(|(at, _)| *at).collect();
        let mut unshown = None;
        for (which, (at, change)) in self.changes.iter().enumerate() {
            let from = which.checked_sub(1).map_or(0, |before| starts[before]);
            let end = starts.get(which + 1).copied().unwrap_or(self.sound.len());
            let levels = [&self.sound[from..*at], &self.sound[*at..end]];
            let found = draft.change_point(levels, change.as_ref());
            if change.is_none() || is_shown() {
                draft.series.changes.push(found);
            } else {
                unshown = Some((*at, found));
            }
        }
        // Only the newest level can be suspicious. A change that is too likely among all series
        // remains a suspicion; otherwise the last one or two runs may be one.
        let level = starts.last().copied().unwrap_or(0);
        draft.series.suspicion = match unshown {
            Some((at, change)) if at == level => {
                Some(draft.suspected_at(change.place, change.before, change.after))
            }
            _ if draft.is_exact() => None,
            _ => draft.suspicion(&self.sound[level..]),
        };
        self.judge(draft);
    }

    /// Sets the verdict of the series, and its levels.
    fn judge(&self, draft: &mut Draft<'_>) {
        let exact = draft.is_exact();
        let series = &mut draft.series;
        let runs = self.sound.len();
        let excluded = series
            .points
            .iter()
            .filter(|point| point.is_left_out)
            .count();
        let left_out = match excluded {
            0 => String::new(),
            1 => "; 1 more is left out, by hand or as findings doubt it".to_owned(),
            excluded => {
                format!("; {excluded} more are left out, by hand or as findings doubt them")
            }
        };
        // Two exact figures show a change; more are needed to tell one from scatter.
        let needed = if exact { 2 } else { FEWEST };
        (series.verdict, series.why) = match (series.changes.last(), &series.suspicion) {
            _ if runs < needed => {
                let why = format!("{runs} of the {needed} runs that are needed{left_out}");
                (SeriesVerdict::NotComparable, why)
            }
            (Some(change), _) => (change.verdict, String::new()),
            (None, Some(_)) => (
                SeriesVerdict::Suspected,
                "two more runs will tell".to_owned(),
            ),
            (None, None) => (SeriesVerdict::NoChangeShown, String::new()),
        };
        if series.verdict != SeriesVerdict::NotComparable {
            let starts = self.changes.iter().map(|(at, _)| self.sound[*at]);
            let suspected = series.suspicion.as_ref().map(|of| of.place);
            let sound = self.sound.iter();
            let sound: Vec<(usize, f64)> = sound
                .map(|place| (*place, series.points[*place].value))
                .collect();
            series.levels = levels(&sound, starts, suspected);
        }
    }
}

impl Draft<'_> {
    /// Whether the figures are calculated, so that chance has no part in them.
    fn is_exact(&self) -> bool {
        self.series.conditions.origin == Origin::Simulated.name()
    }

    fn verdict(&self, before: f64, after: f64) -> SeriesVerdict {
        if (after < before) == self.series.quantity.is_latency() {
            SeriesVerdict::Improved
        } else {
            SeriesVerdict::Regressed
        }
    }

    /// A change at which one level, given by the indexes of its points, follows another.
    fn change_point(&self, levels: [&[usize]; 2], change: Option<&Change>) -> ChangePoint {
        let points = &self.series.points;
        let [last, first] = [levels[0][levels[0].len() - 1], levels[1][0]];
        // In a simulation every step is a change, so the runs on both sides have the exact levels.
        let (before, after) = change.map_or((points[last].value, points[first].value), |change| {
            (change.before, change.after)
        });
        let interval = change.and_then(|change| change.interval);
        ChangePoint {
            verdict: self.verdict(before, after),
            run: points[first].run.clone(),
            started_at: points[first].started_at.clone(),
            place: first,
            last_before: points[last].run.clone(),
            before,
            after,
            change_percent: change_percent(change.map_or(after / before, |change| change.ratio)),
            ci95_low_percent: interval.map(|interval| change_percent(interval.low)),
            ci95_high_percent: interval.map(|interval| change_percent(interval.high)),
            probability: change.map(|change| change.probability),
            runs: levels.map(<[usize]>::len),
            changed: changed(
                &self.runs[last].digest.surroundings,
                &self.runs[first].digest.surroundings,
            ),
        }
    }

    /// What the last one or two runs of a level let one suspect; `None`: nothing.
    fn suspicion(&self, level: &[usize]) -> Option<Suspected> {
        let points = &self.series.points;
        let values: Vec<f64> = level.iter().map(|place| points[*place].value).collect();
        let found = suspected(&values)?;
        Some(self.suspected_at(level[found.at], found.before, found.after))
    }

    fn suspected_at(&self, place: usize, before: f64, after: f64) -> Suspected {
        Suspected {
            verdict: self.verdict(before, after),
            run: self.series.points[place].run.clone(),
            place,
            before,
            after,
        }
    }
}
