//! What the model knows of a case: for which limits its operations waited. A rate that happens to
//! be that of a limit proves nothing; a limit for which operations waited held them back.

use std::collections::BTreeSet;

use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit};
use blocklab_record::{LimitUse, Measurement, ModelUse, Record};
use blocklab_units::Nanos;

use crate::requested::{is_met, is_missed};
use crate::rules::{group, processor};
use crate::view::{CaseView, Cases};

/// What a limiter saves up while idle, in seconds of its own rate. Providers document none;
/// published runs of a few seconds show it.
pub(crate) const SAVED_S: f64 = 1.0;

/// A rate is that of a limit within this share of it.
pub const NEAR: f64 = 0.025;
/// A limit for which operations waited for this share of their time holds them back, whatever its
/// rate: it may have bound for a part of the time only.
pub(crate) const HELD: f64 = 0.25;
/// At the rate of a limit, this much shows that it holds: with just enough in flight to reach it,
/// hardly anything waits.
const TOUCHED: f64 = 0.01;
/// Where all equal volumes together use less than this of their limits, an even load gets visibly more.
const UNEVEN: f64 = 0.9;
/// Slots count as full when this share of them is in the device on average.
pub(crate) const FULL: f64 = 0.8;

/// What kind of limit it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// Holds always.
    Steady,
    /// Holds while something is saved up: for `lasts_s` seconds, and then `leaves` remains.
    Burst { lasts_s: f64, leaves: f64 },
    /// Holds when nothing is saved up any more.
    Baseline,
}

/// A limit that counted the operations of a case.
pub(crate) struct UsedLimit<'a> {
    /// As in the record; its value holds for each of equal volumes.
    pub(crate) limit: &'a Limit,
    /// The targets that it binds, together where they are several, by their places in the record.
    pub(crate) targets: &'a [u32],
    /// What it counted in the measured time, a second, in its own unit.
    pub(crate) rate: f64,
    /// Of this, what the busiest of several equal volumes counted.
    pub(crate) busiest: Option<f64>,
    /// Share of the time in the device for which the operations of its targets waited for it: of a
    /// queue, of all that time, and of any other limit, of the time after the queue.
    pub(crate) waited_share: f64,
    pub(crate) level: Level,
    /// When its bucket ran empty, since the start of the first pass in which it did.
    pub(crate) emptied: Vec<Nanos>,
}

impl UsedLimit<'_> {
    /// For all equal volumes together, in its unit.
    pub(crate) fn value(&self) -> f64 {
        self.limit.value * self.limit.times()
    }

    /// The rate as a share of the limit.
    pub(crate) fn share(&self) -> f64 {
        self.rate / self.value()
    }

    /// The share that the busiest of several equal volumes has of its own limit, where the load is so
    /// uneven that this volume is at its limit and all of them together have room for a good part more.
    pub(crate) fn uneven_share(&self) -> Option<f64> {
        let share = self.busiest? / self.limit.value;
        (share >= 1.0 - NEAR && self.share() < UNEVEN).then_some(share)
    }

    /// Whether more load would meet it: a baseline holds when its credits are spent. A load above it
    /// had credits for most of the time.
    pub(crate) fn lasts(&self) -> bool {
        let is_spent = !self.emptied.is_empty() && self.share() <= 1.0 + NEAR;
        self.level != Level::Baseline || is_spent
    }

    pub(crate) fn is_queue(&self) -> bool {
        self.limit.name.kind == LimitKind::QueueDepth
    }

    pub(crate) const fn unit(&self) -> &'static str {
        self.limit.unit.text()
    }

    pub(crate) fn counts_operations(&self) -> bool {
        self.limit.unit == LimitUnit::Iops
    }

    fn holds(&self) -> bool {
        let reached = self.waited_share >= TOUCHED && self.share() >= 1.0 - NEAR;
        reached || self.waited_share >= HELD
    }

    /// Whether it holds for all the time, or for that of its busiest volume.
    fn holds_throughout(&self) -> bool {
        let is_used_up = self.share() >= 1.0 - NEAR || self.uneven_share().is_some();
        self.holds() && self.lasts() && is_used_up
    }

    /// Whether the same operations pass it, and it holds throughout, and the other for a part of the time: a
    /// higher figure of the other gives no more.
    fn leaves_nothing_to(&self, other: &Self) -> bool {
        let (own, others) = (
            self.limit.name.kind.covers(),
            other.limit.name.kind.covers(),
        );
        let is_passed = own == others || own == Covers::All || others == Covers::All;
        let mut targets = other.targets.iter();
        is_passed
            && targets.all(|target| self.targets.contains(target))
            && self.holds_throughout()
            && !other.holds_throughout()
    }
}

/// What holds a case back.
pub(crate) enum Bound<'a> {
    /// These limits: of each target the one for which its operations waited longest, and others that held
    /// its other direction, or at another time.
    Limits(Vec<UsedLimit<'a>>),
    /// Too little is in flight to meet any limit. The limit that more would meet first.
    Latency(Option<UsedLimit<'a>>),
    /// Nothing: what was requested was delivered, or the load pauses by itself.
    Nothing,
    /// The record does not show it: no target is modelled.
    Unknown,
}

/// What holds a case back, as far as the model knows.
pub(crate) fn bound<'a>(cases: &Cases<'a>, case: &CaseView<'a>) -> Bound<'a> {
    if modelled(case).next().is_none() || case.is_null() {
        return Bound::Unknown;
    }
    // In a run that was stopped before its first completion, the model has seen operations begin, and
    // there is no rate and no latency that something could limit.
    if case.ios() == 0 {
        return Bound::Nothing;
    }
    let mut used = used_limits(cases.record, case);
    // What is in service holds its place while it waits for another limit, which so fills the queue.
    let rates = used
        .iter()
        .filter(|limit| limit.holds() && !limit.is_queue());
    let rates: Vec<&LimitName> = rates.map(|limit| &limit.limit.name).collect();
    used.retain(|limit| {
        let mut rates = rates.iter();
        !limit.is_queue() || rates.all(|rate| is_of_another_volume(rate, &limit.limit.name))
    });
    // A job that got its rate was not held back, and a full processor would be the first cause.
    if is_met(case) || processor::is_limited(cases, case) {
        return Bound::Nothing;
    }
    if used.iter().any(UsedLimit::holds) {
        return Bound::Limits(longest_waits(used));
    }
    // Only if its slots are full would more of them give more. A slot is full until its completion is
    // handled, which may be when a whole batch is back.
    let in_flight = mean_in_device(case).max(case.mean_in_flight());
    let full = in_flight >= FULL * case.slots() as f64;
    if !full || !(case.is_saturating() || is_missed(case)) {
        return Bound::Nothing;
    }
    let lasting = used.into_iter().filter(UsedLimit::lasts);
    let next = lasting.max_by(|a, b| a.share().total_cmp(&b.share()));
    Bound::Latency(next)
}

/// Whether a limit of the model holds a case back: then nothing has to be guessed.
pub fn is_held(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    matches!(bound(cases, case), Bound::Limits(_))
}

/// The limits of the model that hold a case back, as the record has them; empty where none does, or
/// the record does not show it.
pub fn holding<'a>(cases: &Cases<'a>, case: &CaseView<'a>) -> Vec<&'a Limit> {
    match bound(cases, case) {
        Bound::Limits(used) => used.iter().map(|used| used.limit).collect(),
        Bound::Latency(_) | Bound::Nothing | Bound::Unknown => Vec::new(),
    }
}

/// The cases that a limit of the model, or of a control group, holds back.
pub(crate) fn explained<'a>(cases: &Cases<'a>) -> BTreeSet<&'a str> {
    let held = cases
        .list
        .iter()
        .filter(|case| is_held(cases, case) || group::reached(cases, case).is_some());
    held.map(|case| case.name).collect()
}

/// Whether the operations of a case waited for limits of the model for a good part of their time,
/// though it may have got the rate that was requested.
pub(crate) fn waits(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let used = used_limits(cases.record, case);
    used.iter().any(|limit| limit.waited_share >= HELD)
}

/// For each target, of the limits that hold it back the one for which its operations waited longest, and any
/// other rate for which they waited for a good part of their time: it held back the other direction, or held
/// at another time.
fn longest_waits(used: Vec<UsedLimit<'_>>) -> Vec<UsedLimit<'_>> {
    let targets: BTreeSet<u32> = used
        .iter()
        .flat_map(|limit| limit.targets)
        .copied()
        .collect();
    let mut places = BTreeSet::new();
    for target in targets {
        let holding = used.iter().enumerate().filter(|(_, limit)| {
            let is_behind = used.iter().any(|other| other.leaves_nothing_to(limit));
            limit.holds() && limit.targets.contains(&target) && !is_behind
        });
        let longest = holding
            .clone()
            .max_by(|(_, a), (_, b)| a.waited_share.total_cmp(&b.waited_share));
        let others = holding.filter(|(_, limit)| {
            let is_rate = matches!(limit.limit.name.kind, LimitKind::Rate { .. });
            is_rate && limit.waited_share >= HELD
        });
        places.extend(longest.into_iter().chain(others).map(|(place, _)| place));
    }
    let all = used.into_iter().enumerate();
    all.filter(|(place, _)| places.contains(place))
        .map(|(_, limit)| limit)
        .collect()
}

/// Operations in the device on average that waited for no limit: this many in flight would reach the same
/// rate if none of them had to wait.
pub(crate) fn mean_served(case: &CaseView<'_>) -> f64 {
    mean_over_time(case, |model| {
        let waited_ns = model.limits.iter().map(|limit| limit.waited_ns).sum();
        in_device_ns(model).saturating_sub(waited_ns)
    })
}

/// The share of their time in the device for which operations waited for no limit. Without its limits a
/// device gives at most 1 / this share more with the same number in flight.
pub(crate) fn served_share(case: &CaseView<'_>) -> f64 {
    mean_served(case) / mean_in_device(case).max(f64::MIN_POSITIVE)
}

/// The mean time that a modelled target took for an operation, in ns; `None`: no target is modelled.
pub(crate) fn target_latency_ns(case: &CaseView<'_>) -> Option<f64> {
    let targets = modelled(case).flat_map(|(_, model)| &model.targets);
    let (ios, ns) = targets.fold((0, 0), |(ios, ns), target| {
        (ios + target.ios, ns + target.in_device_ns)
    });
    (ios > 0).then(|| ns as f64 / ios as f64)
}

fn mean_in_device(case: &CaseView<'_>) -> f64 {
    mean_over_time(case, in_device_ns)
}

fn in_device_ns(model: &ModelUse) -> u64 {
    model.targets.iter().map(|target| target.in_device_ns).sum()
}

/// Operations that spend these nanoseconds, of all passes, in a state: how many are in it on average.
fn mean_over_time(case: &CaseView<'_>, spent_ns: impl Fn(&ModelUse) -> u64) -> f64 {
    let (mut spent, mut elapsed) = (0, 0);
    for (pass, model) in modelled(case) {
        spent += spent_ns(model);
        elapsed += pass.elapsed_ns;
    }
    spent as f64 / elapsed.max(1) as f64
}

/// The passes whose targets are modelled, each with what the model counted.
fn modelled<'a, 'c>(
    case: &'c CaseView<'a>,
) -> impl Iterator<Item = (&'a Measurement, &'a ModelUse)> + 'c {
    let passes = case.passes.iter();
    passes.filter_map(|pass| Some((*pass, pass.model.as_deref()?)))
}

/// Every limit that counted operations of a case and may hold them back; empty where no target is modelled.
pub(crate) fn used_limits<'a>(record: &'a Record, case: &CaseView<'a>) -> Vec<UsedLimit<'a>> {
    let Some((_, first)) = modelled(case).next() else {
        return Vec::new();
    };
    let all = first.limits.iter();
    all.filter_map(|one| used_limit(record, case, one))
        .filter(|limit| !is_passed_later(case, limit))
        .collect()
}

/// The largest share of a limit that a pass can use by what the limiter had saved up. What is in flight at
/// the end lengthens the pass a little.
pub(crate) fn most_share(case: &CaseView<'_>) -> f64 {
    (1.0 + SAVED_S / seconds_of_a_pass(case)) * (1.0 + NEAR)
}

/// Mean length of a pass in seconds.
pub(crate) fn seconds_of_a_pass(case: &CaseView<'_>) -> f64 {
    case.measured_ns() as f64 / case.passes.len() as f64 / 1e9
}

/// Whether a limit counted more than it lets pass and nothing waited for it: what a cache of the host
/// writes in the background passes it later, and the limit says nothing of the rate of the case.
fn is_passed_later(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    // The share of a baseline is that of its burst.
    let lasts = limit.level != Level::Baseline;
    lasts && limit.waited_share == 0.0 && limit.share() > most_share(case)
}

/// Sums up over all passes with a device model how a limit was used. `None` if the target does not list
/// the limit, or if the limit is no rate.
fn used_limit<'a>(
    record: &'a Record,
    case: &CaseView<'a>,
    one: &'a LimitUse,
) -> Option<UsedLimit<'a>> {
    let target = record.targets.get(*one.targets.first()? as usize)?;
    let limit = target.limits.iter().find(|limit| limit.name == one.limit)?;
    let is_queue = limit.name.kind == LimitKind::QueueDepth;
    let unit = limit.unit.per_second().or(is_queue.then_some(1.0))?;
    let level = level(limit, &target.limits)?;
    let (mut units, mut waited_ns, mut in_device_ns, mut ios, mut elapsed_s) =
        (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut queued_ns, mut held_ns) = (0.0, 0.0);
    let mut busiest: Option<f64> = None;
    let mut emptied = Vec::new();
    for (pass, model) in modelled(case) {
        if let Some(counted) = model
            .limits
            .iter()
            .find(|other| other.limit == one.limit && other.targets == one.targets)
        {
            units += counted.units as f64;
            if let Some(units) = counted.busiest_units {
                *busiest.get_or_insert_default() += units as f64;
            }
            waited_ns += counted.waited_ns as f64;
            if emptied.is_empty() {
                emptied = counted.emptied_at_ns.iter().map(|ns| Nanos(*ns)).collect();
            }
        }
        let parts = parts_per_operation(model, one);
        for used in &model.targets {
            ios += used.ios as f64;
            if one.targets.contains(&used.target) {
                in_device_ns += used.in_device_ns as f64 * parts;
            }
        }
        let (in_queue, at_limits) = waits_ns(model, one);
        queued_ns += in_queue;
        held_ns += at_limits;
        elapsed_s += pass.elapsed_ns as f64 / 1e9;
    }
    // The model counts the ramp and the syncs, too. What it counted is scaled to the rate of the measured
    // time, syncs included, of all jobs together.
    let measured_over_all = case.row.iops_with_syncs() * case.share_together() / (ios / elapsed_s);
    let per_second = measured_over_all / elapsed_s / unit;
    // Of a queue, the rate is the mean number of operations in service.
    let (rate, could_wait_ns) = if is_queue {
        let served_ns = in_device_ns - queued_ns - held_ns;
        (served_ns / elapsed_s / 1e9, in_device_ns)
    } else {
        (units * per_second, in_device_ns - queued_ns)
    };
    // Credits may run empty for what is written in the background, for which nothing waited.
    if waited_ns == 0.0 {
        emptied.clear();
    }
    Some(UsedLimit {
        limit,
        targets: &one.targets,
        rate,
        busiest: busiest
            .filter(|_| !is_queue)
            .map(|units| units * per_second),
        waited_share: waited_ns / could_wait_ns.max(1.0),
        level,
        emptied,
    })
}

/// How long, in nanoseconds, the operations on the targets of a limit waited in queues, and for other
/// limits.
fn waits_ns(model: &ModelUse, limit: &LimitUse) -> (f64, f64) {
    let (mut in_queue, mut at_limits) = (0.0, 0.0);
    for one in &model.limits {
        let mut targets = one.targets.iter();
        if !targets.all(|target| limit.targets.contains(target)) {
            continue;
        }
        match one.limit.kind {
            // What waits in the queue of one volume never comes to the limits of another.
            LimitKind::QueueDepth if is_of_another_volume(&one.limit, &limit.limit) => {}
            LimitKind::QueueDepth => in_queue += one.waited_ns as f64,
            _ => at_limits += one.waited_ns as f64,
        }
    }
    (in_queue, at_limits)
}

/// Whether both are limits of volumes, and of unlike ones.
fn is_of_another_volume(one: &LimitName, other: &LimitName) -> bool {
    one.volumes.is_some() && other.volumes.is_some() && one.owner != other.owner
}

/// How many parts an operation on the targets of a limit has on average. Each part waits in the queue of
/// its volume, at the same time as the others; without queues nothing counts them, and it is one.
fn parts_per_operation(model: &ModelUse, limit: &LimitUse) -> f64 {
    let queues = model.limits.iter().filter(|other| {
        let mut targets = other.targets.iter();
        other.limit.kind == LimitKind::QueueDepth && targets.all(|one| limit.targets.contains(one))
    });
    let concerned = model.targets.iter();
    let concerned = concerned.filter(|used| limit.targets.contains(&used.target));
    let ios: u64 = concerned.map(|used| used.ios).sum();
    let parts: u64 = queues.map(|queue| queue.units).sum();
    (parts as f64 / ios.max(1) as f64).max(1.0)
}

/// The value of the limit of this kind that the same owner has for the same volumes.
fn sibling_value(limit: &Limit, all: &[Limit], kind: &LimitKind) -> Option<f64> {
    let sibling = all.iter().find(|other| {
        other.name.owner == limit.name.owner
            && other.name.volumes == limit.name.volumes
            && other.name.kind == *kind
    })?;
    Some(sibling.value)
}

/// `None` for a peak, which lasts for an unknown time, and for what binds no rate. `all`: the limits among
/// which those of its burst credits are.
fn level(limit: &Limit, all: &[Limit]) -> Option<Level> {
    match &limit.name.kind {
        LimitKind::QueueDepth | LimitKind::Rate { .. } | LimitKind::PhysicalMaximum { .. } => {
            Some(Level::Steady)
        }
        LimitKind::Baseline { .. } => Some(Level::Baseline),
        LimitKind::Burst { limiter } => {
            let limiter = limiter.clone();
            let baseline = LimitKind::Baseline {
                limiter: limiter.clone(),
            };
            let leaves = sibling_value(limit, all, &baseline)?;
            let bucket = sibling_value(limit, all, &LimitKind::Bucket { limiter })?;
            // A bucket holds operations or bytes, whatever the unit of the rate.
            let drained_per_s = (limit.value - leaves) * limit.unit.per_second()?;
            Some(Level::Burst {
                lasts_s: bucket / drained_per_s,
                leaves: leaves * limit.times(),
            })
        }
        LimitKind::Peak { .. }
        | LimitKind::Bucket { .. }
        | LimitKind::Latency { .. }
        | LimitKind::LatencyPerKib { .. }
        | LimitKind::Bound { .. } => None,
    }
}
