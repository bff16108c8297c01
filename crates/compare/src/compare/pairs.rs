//! Which loads of two runs are the same, and why the others are not.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{DirectionResult, JobResult, Measurement, PaceKind, Record};
use blocklab_workload::Direction;

use super::{Lone, Unmatched};
use blocklab_findings::without_engine;

/// One direction of a case in all its passes.
#[derive(Clone)]
pub(crate) struct Load<'a> {
    pub(crate) case: &'a str,
    pub(super) settings: &'a [(String, String)],
    pub(crate) direction: Direction,
    jobs: &'a [JobResult],
    /// For each pass in which this direction moved something: the elapsed time, in nanoseconds, and
    /// the result of every job that took part.
    pub(crate) passes: Vec<Vec<(u64, &'a DirectionResult)>>,
}

/// The loads of a run, in the order in which they first appear.
pub(crate) fn loads(record: &Record) -> Vec<Load<'_>> {
    let mut found: Vec<Load<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, Direction), usize> = BTreeMap::new();
    // Pass 0 was run before the passes that count.
    for measurement in record
        .measurements
        .iter()
        .filter(|measurement| measurement.pass > 0)
    {
        for direction in directions(measurement) {
            let place = *places
                .entry((&measurement.case, direction))
                .or_insert(found.len());
            if place == found.len() {
                found.push(Load {
                    case: &measurement.case,
                    settings: &measurement.settings,
                    direction,
                    jobs: &measurement.jobs,
                    passes: Vec::new(),
                });
            }
            found[place]
                .passes
                .push(jobs_that_moved(measurement, direction));
        }
    }
    found
}

fn directions(measurement: &Measurement) -> BTreeSet<Direction> {
    let all = measurement.jobs.iter().flat_map(|job| &job.directions);
    let moved = all.filter(|(_, result)| result.ios > 0);
    moved.map(|(direction, _)| *direction).collect()
}

/// The jobs of a pass that moved something in this direction: elapsed time and result.
fn jobs_that_moved(
    measurement: &Measurement,
    direction: Direction,
) -> Vec<(u64, &DirectionResult)> {
    let jobs = measurement.jobs.iter();
    jobs.filter_map(|job| {
        let result: &DirectionResult = job
            .directions
            .get(&direction)
            .filter(|direction| direction.ios > 0)?;
        // A time of 0, as in a damaged record, must not make the rate infinite.
        Some((job.elapsed_ns.max(1), result))
    })
    .collect()
}

impl<'a> Load<'a> {
    pub(crate) fn results(&self) -> impl Iterator<Item = &'a DirectionResult> + '_ {
        self.passes.iter().flatten().map(|(_, result)| *result)
    }

    fn has_name_of(&self, other: &Load<'_>) -> bool {
        self.case == other.case
            && self.settings == other.settings
            && self.direction == other.direction
    }

    /// Whether a rate was requested, so that only latencies can show a difference.
    pub(crate) fn is_paced(&self) -> bool {
        self.jobs.iter().any(|job| job.pace != PaceKind::Closed)
    }

    pub(crate) fn what(&self) -> String {
        without_engine(self.jobs)
    }

    /// A text that is equal for two loads exactly if they are the same load.
    pub(crate) fn kind_text(&self) -> String {
        let kind = self.kind().into_iter();
        let parts = kind.map(|(name, value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(";")
    }

    /// The settings that two loads must share to be the same load, each with its name.
    fn kind(&self) -> Vec<(&'static str, String)> {
        let mut kinds: Vec<(Kind, u32)> = Vec::new();
        for job in self.jobs {
            let own = vec![
                ("block size", job.block_size_name()),
                ("pattern", job.pattern_name()),
                ("mix", job.mix_name()),
                ("depth", job.depth.to_string()),
                ("durability", job.durability.name().to_owned()),
                ("pace", job.pace.name().to_owned()),
                ("requested IOPS", requested(job.requested_iops)),
                (
                    "requested bytes per second",
                    requested(job.requested_bytes_per_s),
                ),
                ("pauses", job.think.to_string()),
            ];
            // Four jobs of one thread put the same load on a device as one job of four threads.
            match kinds.iter_mut().find(|(kind, _)| *kind == own) {
                Some((_, threads)) => *threads += job.threads,
                None => kinds.push((own, job.threads)),
            }
        }
        let mut kind = vec![
            ("direction", self.direction.to_string()),
            ("number of different jobs", kinds.len().to_string()),
        ];
        for (own, threads) in kinds {
            kind.extend(own);
            kind.push(("threads", threads.to_string()));
        }
        kind
    }

    /// Settings that differ without making it another load: how the host issues the operations.
    pub(super) fn differs(&self, other: &Self) -> Vec<String> {
        let settings: [Setting; 3] = [
            ("engine", |job| job.engine.to_string()),
            ("really in flight", |job| {
                (u64::from(job.threads) * u64::from(job.effective_depth)).to_string()
            }),
            ("page cache", |job| match job.direct {
                Some(true) => "not used".to_owned(),
                Some(false) => "used".to_owned(),
                None => "not known".to_owned(),
            }),
        ];
        let mut found: Vec<String> = Vec::new();
        for (one, other) in self.jobs.iter().zip(other.jobs) {
            for (name, of) in settings {
                let text = format!("{name}: {} | {}", of(one), of(other));
                if of(one) != of(other) && !found.contains(&text) {
                    found.push(text);
                }
            }
        }
        found
    }
}

fn requested(rate: Option<f64>) -> String {
    rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string())
}

/// The name of a setting, and a function that gives its value for a job.
type Setting = (&'static str, fn(&JobResult) -> String);

/// The loads of two runs in pairs, and those that are left over.
pub(super) struct Matched<'a> {
    pub(super) pairs: Vec<(Load<'a>, Load<'a>)>,
    pub(super) unmatched: Vec<Unmatched>,
}

/// A run and its loads.
#[derive(Clone, Copy)]
pub(super) struct Side<'l, 'a> {
    /// Index among the runs.
    pub(super) run: usize,
    pub(super) record: &'a Record,
    pub(super) loads: &'l [Load<'a>],
}

impl<'l, 'a> Side<'l, 'a> {
    fn known(&self) -> Vec<Known<'l, 'a>> {
        self.loads.iter().map(|load| (load, load.kind())).collect()
    }

    /// Whether the run had this case to do, or nothing at all, and completed no operation of it.
    fn completed_nothing_of(&self, case: &str) -> bool {
        let mut passes = self.record.measurements.iter();
        let was_begun = passes.any(|pass| pass.case == case);
        let has_figures = self.loads.iter().any(|load| load.case == case);
        self.loads.is_empty() || (was_begun && !has_figures)
    }
}

/// Pairs the loads of two runs: first by name, then by what they do where exactly one candidate is
/// left on each side.
pub(super) fn matched<'a>(base_side: Side<'_, 'a>, other_side: Side<'_, 'a>) -> Matched<'a> {
    let (base, other) = (base_side.known(), other_side.known());
    // `taken` maps the index of a paired base load to that of its partner in `other`; `given` has
    // the latter. Both are sorted, so pairs come out in the order of the baseline.
    let mut taken = BTreeMap::new();
    let mut given = BTreeSet::new();
    for (place, (load, kind)) in base.iter().enumerate() {
        let same = other
            .iter()
            .position(|(theirs, their_kind)| load.has_name_of(theirs) && kind == their_kind);
        if let Some(at) = same {
            taken.insert(place, at);
            given.insert(at);
        }
    }
    let left: Vec<usize> = (0..base.len())
        .filter(|at| !taken.contains_key(at))
        .collect();
    for place in &left {
        // With two candidates on either side, any pairing would be a guess.
        let kind = &base[*place].1;
        let mut there = (0..other.len()).filter(|at| !given.contains(at) && other[*at].1 == *kind);
        let here = left.iter().filter(|at| base[**at].1 == *kind);
        if let (Some(at), None, 1) = (there.next(), there.next(), here.count()) {
            taken.insert(*place, at);
            given.insert(at);
        }
    }
    let mut unmatched = Vec::new();
    for (_, lone) in base
        .iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains_key(at))
    {
        unmatched.push(without_pair(
            base_side.run,
            lone,
            (other_side, &other),
            true,
        ));
    }
    for (_, lone) in other
        .iter()
        .enumerate()
        .filter(|(at, _)| !given.contains(at))
    {
        unmatched.push(without_pair(
            other_side.run,
            lone,
            (base_side, &base),
            false,
        ));
    }
    Matched {
        unmatched,
        pairs: taken
            .iter()
            .map(|(a, b)| (base[*a].0.clone(), other[*b].0.clone()))
            .collect(),
    }
}

/// A load and its kind.
type Known<'l, 'a> = (&'l Load<'a>, Kind);

/// A load without a partner, and why: it differs from its namesake, or has none.
fn without_pair(
    run: usize,
    (load, kind): &Known<'_, '_>,
    (other_side, others): (Side<'_, '_>, &[Known<'_, '_>]),
    is_base: bool,
) -> Unmatched {
    // A load of the same name that was not paired is another load: its settings say why.
    let namesake = others.iter().find(|(theirs, _)| load.has_name_of(theirs));
    Unmatched {
        run,
        case: load.case.to_owned(),
        direction: load.direction,
        why: match namesake {
            Some((_, theirs)) => Lone::Differs(differing(kind, theirs, is_base)),
            None if other_side.completed_nothing_of(load.case) => Lone::NothingCompleted,
            None => Lone::Absent,
        },
    }
}

type Kind = Vec<(&'static str, String)>;

/// `block size differs: 4 KiB | 8 KiB`, the baseline's first.
fn differing(mine: &Kind, theirs: &Kind, mine_first: bool) -> String {
    let pairs = mine.iter().zip(theirs).filter(|(a, b)| a != b);
    let differing = pairs.map(|((name, a), (_, b))| {
        if mine_first {
            format!("{name} differs: {a} | {b}")
        } else {
            format!("{name} differs: {b} | {a}")
        }
    });
    differing.collect::<Vec<String>>().join(", ")
}
