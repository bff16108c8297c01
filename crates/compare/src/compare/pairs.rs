//! Which loads of two runs are the same, and why the others are not.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{DirectionResult, JobResult, Measurement, PaceKind, Record};
use blocklab_workload::{Direction, Durability, Mix};

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
        let kind = self.kind(Agreement::Exact).into_iter();
        let parts = kind.map(|(name, value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(";")
    }

    /// The settings that two loads must share to be the same load, each with its name, in whatever order
    /// a study has its jobs.
    fn kind(&self, agreement: Agreement) -> Kind {
        let mut different = self.different_jobs(agreement);
        different.sort();
        self.kind_of(different)
    }

    /// The settings of [`Load::kind`] with the jobs in the order of the study, in which those of another
    /// run are most likely their counterparts.
    fn kind_in_order(&self) -> Kind {
        self.kind_of(self.different_jobs(Agreement::Exact))
    }

    /// The kind of the load whose `different` jobs are these, each with its threads.
    fn kind_of(&self, different: Vec<(Kind, u32)>) -> Kind {
        let mut kind = vec![
            ("direction", self.direction.to_string()),
            ("number of different jobs", different.len().to_string()),
        ];
        for (own, threads) in different {
            kind.extend(own);
            kind.push(("threads", threads.to_string()));
        }
        kind
    }

    /// The settings of each job that differs from those before it, and the threads of all that are alike.
    fn different_jobs(&self, agreement: Agreement) -> Vec<(Kind, u32)> {
        let mut different: Vec<(Kind, u32)> = Vec::new();
        for job in self.jobs {
            let own = agreement.settings(job);
            // Four jobs of one thread put the same load on a device as one job of four threads.
            match different.iter_mut().find(|(kind, _)| *kind == own) {
                Some((_, threads)) => *threads += job.threads,
                None => different.push((own, job.threads)),
            }
        }
        different
    }

    /// The jobs in an order that does not depend on that of the study.
    fn sorted_jobs(&self) -> Vec<&'a JobResult> {
        let mut jobs: Vec<&JobResult> = self.jobs.iter().collect();
        jobs.sort_by_cached_key(|job| Agreement::Near.settings(job));
        jobs
    }

    /// Settings that differ without making it another load: how the host issues the operations.
    pub(super) fn differs(&self, other: &Self) -> Vec<String> {
        let settings: [Setting; 4] = [
            ("pattern", JobResult::pattern_name),
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
        for (own, theirs) in self.sorted_jobs().into_iter().zip(other.sorted_jobs()) {
            for (name, value) in settings {
                let (own, theirs) = (value(own), value(theirs));
                let text = format!("{name}: {own} | {theirs}");
                if own != theirs && !found.contains(&text) {
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
    /// The loads, each with its kind.
    fn known(&self, kind: impl Fn(&Load<'a>) -> Kind) -> Vec<Known<'l, 'a>> {
        let loads = self.loads.iter();
        loads.map(|load| (load, kind(load))).collect()
    }

    /// Whether the run had this case to do, or nothing at all, and completed no operation of it.
    fn completed_nothing_of(&self, case: &str) -> bool {
        let mut passes = self.record.measurements.iter();
        let was_begun = passes.any(|pass| pass.case == case);
        let has_figures = self.loads.iter().any(|load| load.case == case);
        self.loads.is_empty() || (was_begun && !has_figures)
    }
}

/// A load and its kind.
type Known<'l, 'a> = (&'l Load<'a>, Kind);

type Kind = Vec<(&'static str, String)>;

/// How far two loads must agree to be the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Exact,
    /// Apart from what changes no figure of a device: whether random operations may hit a block
    /// twice, and how durable the writes of a load that only reads would be.
    Near,
}

impl Agreement {
    /// The settings in which two jobs must agree, each with its name.
    fn settings(self, job: &JobResult) -> Kind {
        vec![
            ("block size", job.block_size_name()),
            ("pattern", self.pattern(job)),
            ("mix", job.mix_name()),
            ("depth", job.depth.to_string()),
            ("durability", self.durability(job).name().to_owned()),
            ("pace", job.pace.name().to_owned()),
            ("requested IOPS", requested(job.requested_iops)),
            (
                "requested bytes per second",
                requested(job.requested_bytes_per_s),
            ),
            ("pauses", job.think.to_string()),
        ]
    }

    fn pattern(self, job: &JobResult) -> String {
        if self == Self::Near && job.is_random() {
            "random".to_owned()
        } else {
            job.pattern_name()
        }
    }

    fn durability(self, job: &JobResult) -> Durability {
        if self == Self::Near && job.mix == Some(Mix::READ) {
            Durability::None
        } else {
            job.durability
        }
    }
}

/// Pairs of loads, as indexes into those of the baseline and of the other run.
#[derive(Default)]
struct Pairs {
    /// By the index in the baseline, so that they come out in its order.
    there: BTreeMap<usize, usize>,
    /// The indexes in the other run.
    taken: BTreeSet<usize>,
}

impl Pairs {
    fn add(&mut self, here: usize, there: usize) {
        self.there.insert(here, there);
        self.taken.insert(there);
    }

    /// The loads without a partner: of the baseline and of the other run.
    fn alone(&self, base: usize, other: usize) -> (Vec<usize>, Vec<usize>) {
        let here = (0..base).filter(|at| !self.there.contains_key(at));
        let there = (0..other).filter(|at| !self.taken.contains(at));
        (here.collect(), there.collect())
    }

    /// Pairs loads of one name and kind.
    fn add_namesakes(&mut self, base: &[Known<'_, '_>], other: &[Known<'_, '_>]) {
        let (here, there) = self.alone(base.len(), other.len());
        for at in here {
            let (load, kind) = &base[at];
            let partner = there.iter().find(|place| {
                let (theirs, their_kind) = &other[**place];
                load.has_name_of(theirs) && kind == their_kind
            });
            if let Some(partner) = partner {
                self.add(at, *partner);
            }
        }
    }

    /// Pairs loads of one kind, whatever their names. With two candidates on either side, any
    /// pairing would be a guess.
    fn add_by_kind(&mut self, base: &[Known<'_, '_>], other: &[Known<'_, '_>]) {
        let (here, there) = self.alone(base.len(), other.len());
        for at in &here {
            let kind = &base[*at].1;
            let alike = here.iter().filter(|place| base[**place].1 == *kind);
            let mut candidates = there.iter().filter(|place| other[**place].1 == *kind);
            if let (1, Some(partner), None) = (alike.count(), candidates.next(), candidates.next())
            {
                self.add(*at, *partner);
            }
        }
    }
}

/// Pairs the loads of two runs: first those of one name, then by what they do where exactly one
/// candidate is left on each side. Loads that agree exactly come before those that nearly do.
pub(super) fn matched<'a>(base_side: Side<'_, 'a>, other_side: Side<'_, 'a>) -> Matched<'a> {
    let mut pairs = Pairs::default();
    for agreement in [Agreement::Exact, Agreement::Near] {
        let [base, other] =
            [base_side, other_side].map(|side| side.known(|load| load.kind(agreement)));
        pairs.add_namesakes(&base, &other);
        pairs.add_by_kind(&base, &other);
    }
    // What loads without a partner differ in is reported by all of their settings.
    let [base, other] = [base_side, other_side].map(|side| side.known(Load::kind_in_order));
    let (alone_in_base, alone_in_other) = pairs.alone(base.len(), other.len());
    // Where each side has only one, and both have the same direction, what they differ in says more than
    // that they have no partner.
    let only = match (&alone_in_base[..], &alone_in_other[..]) {
        ([here], [there]) => Some((&base[*here], &other[*there])),
        _ => None,
    };
    let only = only.filter(|(here, there)| here.0.direction == there.0.direction);
    let of_base = alone_in_base.iter().map(|at| {
        let (others, only) = ((other_side, &other[..]), only.map(|(_, theirs)| theirs));
        without_pair(base_side.run, &base[*at], others, only, Owner::Base)
    });
    let of_other = alone_in_other.iter().map(|at| {
        let (others, only) = ((base_side, &base[..]), only.map(|(theirs, _)| theirs));
        without_pair(other_side.run, &other[*at], others, only, Owner::Other)
    });
    Matched {
        unmatched: of_base.chain(of_other).collect(),
        pairs: (pairs.there.iter())
            .map(|(in_base, in_other)| (base[*in_base].0.clone(), other[*in_other].0.clone()))
            .collect(),
    }
}

/// The run that has a load.
#[derive(Clone, Copy)]
enum Owner {
    /// The baseline.
    Base,
    /// The run that is compared with it.
    Other,
}

/// A load without a partner, and why: it differs from its namesake or from the only other one, or
/// has none.
fn without_pair(
    run: usize,
    (load, kind): &Known<'_, '_>,
    (other_side, others): (Side<'_, '_>, &[Known<'_, '_>]),
    only: Option<&Known<'_, '_>>,
    owner: Owner,
) -> Unmatched {
    // A load of the same name that was not paired is another load: its settings say why.
    let namesake = others.iter().find(|(theirs, _)| load.has_name_of(theirs));
    Unmatched {
        run,
        case: load.case.to_owned(),
        direction: load.direction,
        why: match (namesake, only) {
            (Some((_, theirs)), _) => Lone::Differs(differing(kind, theirs, owner)),
            (None, _) if other_side.completed_nothing_of(load.case) => Lone::NothingCompleted,
            (None, Some((other, theirs))) => {
                let settings = differing(kind, theirs, owner);
                Lone::Differs(format!("not the same as {}: {settings}", other.case))
            }
            (None, None) => Lone::Absent,
        },
    }
}

/// `block size differs: 4 KiB | 8 KiB`, the baseline's first.
fn differing(mine: &Kind, theirs: &Kind, owner: Owner) -> String {
    let pairs = mine.iter().zip(theirs).filter(|(a, b)| a != b);
    let differing = pairs.map(|((name, a), (_, b))| match owner {
        Owner::Base => format!("{name} differs: {a} | {b}"),
        Owner::Other => format!("{name} differs: {b} | {a}"),
    });
    differing.collect::<Vec<String>>().join(", ")
}
