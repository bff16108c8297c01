//! In: digests of runs, the oldest first. Out: a series for each figure of each load that was
//! measured again and again under the same conditions, with the changes in it.

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
    /// What is known of it.
    pub digest: Digest,
    /// What the user decided.
    pub by_hand: Option<ByHand>,
}

/// What the user decided of a run, whatever findings say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ByHand {
    /// It enters the test.
    In,
    /// It is left out.
    Out,
}

impl ByHand {
    /// By the tags of the run; whoever gives both leaves it out.
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

/// What makes two figures neighbours in a history.
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
    /// What makes it the same load, by a number.
    #[serde(skip)]
    pub kind: String,
    /// The target, by what stays the same between two runs.
    pub target: String,
    /// The class of the machine.
    pub machine: String,
    /// Where the figures come from: `measured`, `simulated`.
    pub origin: &'static str,
    /// Of a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
}

/// One figure of the same load, run after run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Under which conditions.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The figure, with its unit.
    pub quantity: Quantity,
    /// Whether it is the one by which the load is judged: the rate, and of a given rate the mean
    /// latency.
    pub is_headline: bool,
    /// What the series shows.
    pub verdict: SeriesVerdict,
    /// Why there is no other verdict: how many runs are missing, what is suspected.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Rules that doubt three quarters of its runs or more: on a machine that is always busy, busy
    /// runs are compared with busy ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usual_doubts: Vec<String>,
    /// The oldest first.
    pub points: Vec<Point>,
    /// The oldest first.
    pub changes: Vec<ChangePoint>,
    /// The stretches between the changes and the suspicion; none where too few runs are comparable.
    pub levels: Vec<Level>,
    /// What the last one or two runs let one suspect.
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
    /// Chance explains all of it.
    NoChangeShown,
    /// One or two runs lie apart: two more will tell.
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
    /// As `show` prints it, in the unit of the quantity.
    pub value: f64,
    /// Its 95 % confidence interval within the run.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// The passes behind it.
    pub passes: u32,
    /// Whether it is left out of the test and drawn hollow: by hand, or as something doubts it that
    /// is not usual in its series.
    pub is_left_out: bool,
    /// What the user decided of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHand>,
    /// Rules that doubt it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What is not as it was at the run before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
}

/// Something around a load that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// `kernel`, `tool`, `scheduler`, `limits`.
    pub what: String,
    /// At the earlier run; empty where it was not known.
    pub before: String,
    /// At the later one.
    pub after: String,
}

/// A place since which a series is on another level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Worse or better.
    pub verdict: SeriesVerdict,
    /// The first run of the new level.
    pub run: String,
    /// When it began.
    pub started_at: String,
    /// Its place among the points.
    pub place: usize,
    /// The last run of the level before.
    pub last_before: String,
    /// Median of the level before.
    pub before: f64,
    /// Median of the new level.
    pub after: f64,
    /// From the one to the other, of the one before.
    pub change_percent: f64,
    /// Where the true change lies with 95 % probability (Hodges and Lehmann); of a simulation it
    /// is exact.
    pub ci95_low_percent: Option<f64>,
    /// Upper end of it.
    pub ci95_high_percent: Option<f64>,
    /// How probable it is that chance alone does that; `None` of a simulation, which knows none.
    pub probability: Option<f64>,
    /// Runs of the level before and of the new one.
    pub runs: [usize; 2],
    /// What else changed between the two runs.
    pub changed: Vec<Changed>,
}

/// What the last one or two runs let one suspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspected {
    /// Worse or better it would be.
    pub verdict: SeriesVerdict,
    /// The first of them.
    pub run: String,
    /// Its place among the points.
    pub place: usize,
    /// Median of the level that they leave.
    pub before: f64,
    /// Their own median.
    pub after: f64,
}

/// The history of a store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// In the order in which they first appear.
    pub series: Vec<Series>,
    /// Series with runs enough to be tested: so many chances to be wrong.
    pub tested: usize,
}

/// The fewest runs with two levels in them.
const FEWEST: usize = 6;

/// The series of these runs, the oldest first, and their changes.
///
/// All series count as tested together, whatever is shown of them later: who looks at many gets
/// the same answer for each as who looks at one.
pub fn history(runs: &[HistoryRun]) -> History {
    let mut drafts = drafts(runs);
    let found: Vec<Found> = drafts.iter().map(Found::new).collect();
    let tested = found.iter().filter(|found| found.is_tested).count();
    let chances: Vec<f64> = found
        .iter()
        .flat_map(|found| &found.changes)
        .filter_map(|(_, change)| change.as_ref().map(|change| change.probability))
        .collect();
    let mut shown = discoveries(&chances, tested).into_iter();
    for (draft, found) in drafts.iter_mut().zip(found) {
        found.tell(draft, || shown.next().unwrap_or(false));
    }
    let series = drafts.into_iter().map(|draft| draft.series).collect();
    History { series, tested }
}

/// A series that is not judged yet, and the runs behind its points.
struct Draft<'r> {
    series: Series,
    runs: Vec<&'r HistoryRun>,
}

fn drafts(runs: &[HistoryRun]) -> Vec<Draft<'_>> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut places: HashMap<(Conditions, String), usize> = HashMap::new();
    for run in runs {
        for load in &run.digest.loads {
            let conditions = Conditions::new(&run.digest, load);
            for figure in &load.figures {
                let Some(quantity) = Quantity::named(&figure.quantity) else {
                    continue;
                };
                let key = (conditions.clone(), figure.quantity.clone());
                let place = *places.entry(key).or_insert(drafts.len());
                if place == drafts.len() {
                    drafts.push(Draft::new(&conditions, quantity, load));
                }
                let draft = &mut drafts[place];
                let before = draft.runs.last().map(|run| &run.digest.surroundings[..]);
                let changed = before.map(|before| changed(before, &run.digest.surroundings));
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
                    changed: changed.unwrap_or_default(),
                });
            }
        }
    }
    for draft in &mut drafts {
        draft.series.leave_out();
    }
    drafts
}

impl Series {
    /// Decides which of its points enter the test.
    fn leave_out(&mut self) {
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

fn change_percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// What is not the same, in the order of the later run.
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

/// Empty where it is not known.
fn value_of(what: &str, surroundings: &[(String, String)]) -> String {
    let found = surroundings.iter().find(|(name, _)| name == what);
    found.map_or_else(String::new, |(_, value)| value.clone())
}

/// What was found in a series by itself.
struct Found {
    is_tested: bool,
    /// The places among the points that enter the test.
    sound: Vec<usize>,
    /// The place among `sound` at which a new level begins; with what chance says of it, where
    /// chance has a say.
    changes: Vec<(usize, Option<Change>)>,
}

impl Found {
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

    /// Puts it into the series. `is_shown` is asked for each change with a probability, in order.
    fn tell(self, draft: &mut Draft<'_>, mut is_shown: impl FnMut() -> bool) {
        let starts: Vec<usize> = self.changes.iter().map(|(at, _)| *at).collect();
        let mut open = None;
        for (which, (at, change)) in self.changes.iter().enumerate() {
            let from = which.checked_sub(1).map_or(0, |before| starts[before]);
            let end = starts.get(which + 1).copied().unwrap_or(self.sound.len());
            let levels = [&self.sound[from..*at], &self.sound[*at..end]];
            let found = draft.change_point(levels, change.as_ref());
            if change.is_none() || is_shown() {
                draft.series.changes.push(found);
            } else {
                open = Some((*at, found));
            }
        }
        let level = starts.last().copied().unwrap_or(0);
        draft.series.suspicion = match open {
            Some((at, open)) if at == level => Some(open.into()),
            _ if draft.is_exact() => None,
            _ => draft.suspicion(&self.sound[level..]),
        };
        self.judge(draft);
    }

    fn judge(&self, draft: &mut Draft<'_>) {
        let exact = draft.is_exact();
        let series = &mut draft.series;
        let runs = self.sound.len();
        let doubted = series
            .points
            .iter()
            .filter(|point| point.is_left_out)
            .count();
        let left_out = match doubted {
            0 => String::new(),
            doubted => format!("; {doubted} more are left out, by hand or as findings doubt them"),
        };
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
    /// Whether the figures are those of a calculation, in which chance has no part.
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

    fn change_point(&self, levels: [&[usize]; 2], change: Option<&Change>) -> ChangePoint {
        let points = &self.series.points;
        let [last, first] = [levels[0][levels[0].len() - 1], levels[1][0]];
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

    fn suspicion(&self, level: &[usize]) -> Option<Suspected> {
        let points = &self.series.points;
        let values: Vec<f64> = level.iter().map(|place| points[*place].value).collect();
        let found = suspected(&values)?;
        let place = level[found.at];
        Some(Suspected {
            verdict: self.verdict(found.before, found.after),
            run: points[place].run.clone(),
            place,
            before: found.before,
            after: found.after,
        })
    }
}

impl From<ChangePoint> for Suspected {
    /// A change that is too likely among so many series.
    fn from(change: ChangePoint) -> Self {
        Self {
            verdict: change.verdict,
            run: change.run,
            place: change.place,
            before: change.before,
            after: change.after,
        }
    }
}
