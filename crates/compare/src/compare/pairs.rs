use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{DirectionResult, JobResult, Measurement, PaceKind, Record};
use blocklab_workload::Direction;

use super::Unmatched;
use blocklab_findings::without_engine;

/// One direction of a case in all its passes.
#[derive(Clone)]
pub(super) struct Load<'a> {
    pub(super) case: &'a str,
    pub(super) settings: &'a [(String, String)],
    pub(super) direction: Direction,
    jobs: &'a [JobResult],
    /// Each pass that moved something: each job's elapsed time and result.
    pub(super) passes: Vec<Vec<(u64, &'a DirectionResult)>>,
}

/// The loads of a run, in the order in which they first appear.
pub(super) fn loads(record: &Record) -> Vec<Load<'_>> {
    let mut found: Vec<Load<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, Direction), usize> = BTreeMap::new();
    // A pass 0 was run before the others and enters no figure.
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
            found[place].passes.push(part(measurement, direction));
        }
    }
    found
}

fn directions(measurement: &Measurement) -> BTreeSet<Direction> {
    let all = measurement.jobs.iter().flat_map(|job| &job.directions);
    let moved = all.filter(|(_, result)| result.ios > 0);
    moved.map(|(direction, _)| *direction).collect()
}

fn part<'a>(measurement: &'a Measurement, direction: Direction) -> Vec<(u64, &'a DirectionResult)> {
    let jobs = measurement.jobs.iter();
    let of_job = |job: &'a JobResult| {
        let result: &DirectionResult = job
            .directions
            .get(&direction)
            .filter(|direction| direction.ios > 0)?;
        Some((job.elapsed_ns.max(1), result))
    };
    jobs.filter_map(of_job).collect()
}

impl<'a> Load<'a> {
    pub(super) fn results(&self) -> impl Iterator<Item = &'a DirectionResult> + '_ {
        self.passes.iter().flatten().map(|(_, result)| *result)
    }

    /// Whether a rate was requested: then the device can only show in latencies.
    pub(super) fn is_paced(&self) -> bool {
        self.jobs.iter().any(|job| job.pace != PaceKind::Closed)
    }

    pub(super) fn what(&self) -> String {
        without_engine(self.jobs)
    }

    /// What makes a load the same, each with its name.
    fn kind(&self) -> Vec<(&'static str, String)> {
        let rate = |rate: Option<f64>| rate.map_or_else(|| "none".to_owned(), |it| it.to_string());
        let mut kinds: Vec<(Kind, u32)> = Vec::new();
        for job in self.jobs {
            let own = vec![
                ("block size", job.block_size_name()),
                ("pattern", job.pattern_name()),
                ("mix", job.mix_name()),
                ("depth", job.depth.to_string()),
                ("durability", job.durability.name().to_owned()),
                ("pace", job.pace.name().to_owned()),
                ("requested IOPS", rate(job.requested_iops)),
                (
                    "requested bytes per second",
                    rate(job.requested_bytes_per_s),
                ),
                ("pauses", job.think.to_string()),
            ];
            // Four jobs of one thread request what one job of four threads does.
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

    /// In what the sides differ that does not make it another load.
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

/// A name, and what a job has of it.
type Setting = (&'static str, fn(&JobResult) -> String);

/// What two runs have in common.
pub(super) struct Matched<'a> {
    pub(super) pairs: Vec<(Load<'a>, Load<'a>)>,
    pub(super) unmatched: Vec<Unmatched>,
}

/// Pairs by name first, then by load where only one is left on each side.
pub(super) fn matched<'a>(
    (base_run, base): (usize, &[Load<'a>]),
    (other_run, other): (usize, &[Load<'a>]),
) -> Matched<'a> {
    let base: Vec<(&Load<'a>, _)> = base.iter().map(|load| (load, load.kind())).collect();
    let other: Vec<(&Load<'a>, _)> = other.iter().map(|load| (load, load.kind())).collect();
    let same_name = |a: &Load<'_>, b: &Load<'_>| {
        a.case == b.case && a.settings == b.settings && a.direction == b.direction
    };
    let mut taken = BTreeMap::new();
    for (place, (load, kind)) in base.iter().enumerate() {
        let named = |(it, its): &(&Load<'_>, _)| same_name(load, it) && kind == its;
        taken.extend(other.iter().position(named).map(|at| (place, at)));
    }
    let free = |taken: &BTreeMap<usize, usize>, at: usize| !taken.values().any(|it| *it == at);
    let left: Vec<usize> = (0..base.len())
        .filter(|at| !taken.contains_key(at))
        .collect();
    for place in &left {
        let alike = |at: &usize| free(&taken, *at) && other[*at].1 == base[*place].1;
        let mut there = (0..other.len()).filter(alike);
        let here = left.iter().filter(|at| base[**at].1 == base[*place].1);
        if let (Some(at), None, 1) = (there.next(), there.next(), here.count()) {
            taken.insert(*place, at);
        }
    }
    let why = |load: &Load<'_>, kind: &Kind, there: &[(&Load<'_>, Kind)], first: bool| {
        let namesake = there.iter().find(|(it, _)| same_name(load, it));
        namesake.map_or_else(
            || "only this run has this load".to_owned(),
            |(_, theirs)| differing(kind, theirs, first),
        )
    };
    let lone = |run, load: &Load<'_>, why| Unmatched {
        run,
        case: load.case.to_owned(),
        direction: load.direction,
        why,
    };
    let of_base = base
        .iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains_key(at));
    let of_base = of_base.map(|(_, (it, kind))| lone(base_run, it, why(it, kind, &other, true)));
    let of_other = other.iter().enumerate().filter(|(at, _)| free(&taken, *at));
    let of_other = of_other.map(|(_, (it, kind))| lone(other_run, it, why(it, kind, &base, false)));
    Matched {
        unmatched: of_base.chain(of_other).collect(),
        pairs: taken
            .iter()
            .map(|(a, b)| (base[*a].0.clone(), other[*b].0.clone()))
            .collect(),
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
    let differing: Vec<String> = differing.collect();
    if differing.is_empty() {
        "the load differs".to_owned()
    } else {
        differing.join(", ")
    }
}
