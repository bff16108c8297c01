//! Limits that the model knows: which of them hold a case back, or were passed by what they had
//! saved up.

use std::collections::BTreeSet;

use blocklab_device::{Covers, LimitKind, LimitName};
use blocklab_record::{LimitUse, Measurement, ModelUse, Record};
use blocklab_units::{Nanos, count, plural};
use blocklab_workload::Direction;

use super::slices;
use crate::held::{
    Bound, HELD, Level, NEAR, UsedLimit, bound, mean_served, most_share, seconds_of_a_pass,
    served_share, used_limits,
};
use crate::hit::{Hit, info, joined, per_case, warning};
use crate::requested::is_met;
use crate::statement::{Slot, fixed, in_unit, listed, number, percent, speed, time, word};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// This many times what fills the limit is more in flight than helps.
const OVER: f64 = 2.0;
/// A limit that counts this much more or less than there are operations splits or merges them, or
/// some do not come to it.
const OTHERWISE: f64 = 0.1;
/// A limit that is used to less than this holds for a part of the time only.
const PARTLY: f64 = 0.9;
/// A limit that is used to this share is next: more of another one gives hardly more.
const CLOSE: f64 = 0.9;
/// Providers that count operations in units have units of at most this: larger blocks are several.
const LARGEST_UNIT: f64 = 262_144.0;
/// Operations do not come back at even distances, so that it takes half a one more than are in service on
/// average to keep a limit busy: of 172 loads on nine volumes that are sold, 171 reach 95 % of it with that,
/// and 166 without.
const APART: f64 = 0.5;
/// Beyond this the saved-up second spoils the figure of a pass: it lasts less than ten seconds.
const SPOILED: f64 = 1.12;

const STEADY: &str = "{} is the limit{}, {} for {}; the rate is {} of it{}";
const FOR_A_WHILE: &str =
    "{} is the limit for a part of the time{}, {} for {}; the rate is {} of it{}";
const SERVED: &str = "{} in service at a time is the limit{}, {} for {}";
const BURST: &str = "{} is the limit{}, {} for {}; the rate is {} of it{}; a full bucket lasts {} at this \
                     limit and leaves {}";
const BURST_FOR_A_WHILE: &str = "{} is the limit for a part of the time{}, {} for {}; the rate is {} of \
                                 it{}; a full bucket lasts {} at this limit and leaves {}";

/// The limits for which the operations of a case waited.
pub(super) fn at_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let mut hits: [(&str, Vec<(&str, Hit)>); 9] = ADVICE.map(|advice| (advice, Vec::new()));
    for case in &cases.list {
        let Bound::Limits(mut held) = bound(cases, case) else {
            continue;
        };
        // What changed under way has a finding of its own, and no rate of the whole pass; so has what
        // a saved-up second spoils.
        held.retain(|limit| !changed_under_way(cases, case, limit) && !is_spoiled(case, limit));
        let names: Vec<&LimitName> = held.iter().map(|limit| &limit.limit.name).collect();
        for alike in alike(held) {
            let (advice, hit) = if waits_for_programs(case, &alike[0]) {
                (FEWER_WRITES, programs(cases.record, &alike))
            } else {
                advised_hit(cases, case, &alike, &names)
            };
            let mut of_advice = hits.iter_mut().filter(|(known, _)| *known == advice);
            let (_, hits) = of_advice.next().expect("ADVICE has every advice of a hit");
            hits.push((case.name, hit));
        }
    }
    hits.into_iter()
        .flat_map(|(advice, hits)| joined(cases, "at-limit", Some(advice), hits))
        .collect()
}

const ADVICE: [&str; 9] = [
    KEEP_FULL,
    MORE_AND_DEEPER,
    MORE_OPERATIONS,
    MORE_UNITS,
    MORE_BYTES,
    MORE_OF_BOTH,
    MORE_PLACES,
    MORE_EVENLY,
    FEWER_WRITES,
];
/// Of a load that lets its queue run down: between two fillings no limit holds it back.
const KEEP_FULL: &str = "The queue is filled again only when few operations are left in it \
    (`batch_low`, iodepth_low), so that the limit holds after each filling alone: a queue that is kept \
    full gives more.";
const MORE_OPERATIONS: &str = "More load only adds latency. Larger blocks move more bytes for the \
    same operations; more operations take a volume or an instance with a higher limit.";
/// Of a limit that splits or merges operations, or would split larger ones: these may only count for more.
const MORE_UNITS: &str = "More load only adds latency; more operations take a volume or an instance \
    with a higher limit.";
const MORE_BYTES: &str = "More load only adds latency; more bytes take a volume or an instance with \
    a higher limit.";
const MORE_OF_BOTH: &str = "More load only adds latency; more takes a volume or an instance in which \
    both limits are higher.";

/// Of a limit for which hardly anything waits: what is in flight gives hardly more without it.
const MORE_AND_DEEPER: &str = "More takes both: a volume or an instance with a higher limit, and more \
    operations in flight.";
const MORE_PLACES: &str = "More load only waits in its queue; more takes a device that serves more \
    operations at a time, or each in less time.";
const MORE_EVENLY: &str = "More load only adds latency; the same load spread over all volumes gets \
    more.";

const FEWER_WRITES: &str = "More load only adds latency; with fewer or smaller writes among them the same \
    reads take less time.";

/// Limits of the same name and figure, each of another target, together.
fn alike(held: Vec<UsedLimit<'_>>) -> Vec<Vec<UsedLimit<'_>>> {
    let mut groups: Vec<Vec<UsedLimit<'_>>> = Vec::new();
    for limit in held {
        match groups
            .iter_mut()
            .find(|group| *group[0].limit == *limit.limit)
        {
            Some(group) => group.push(limit),
            None => groups.push(vec![limit]),
        }
    }
    groups
}

/// A finding on equal limits of one case, and the advice on it. `held`: the limits that hold it back, each
/// of which has such a finding.
fn advised_hit(
    cases: &Cases<'_>,
    case: &CaseView<'_>,
    alike: &[UsedLimit<'_>],
    held: &[&LimitName],
) -> (&'static str, Hit) {
    let (limit, record) = (&alike[0], cases.record);
    let rate = alike.iter().map(|limit| limit.rate).sum::<f64>();
    let mut hit = held_back(record, case, alike);
    let operations = operations_of(case, alike);
    let counts_otherwise = limit.counts_operations() && (rate / operations - 1.0).abs() > OTHERWISE;
    if counts_otherwise {
        hit = hit.alone(
            "; it counts {} for {} operations a second",
            [number(rate), number(operations)],
        );
    }
    let close = next_limit(record, case, alike, held);
    if let Some(next) = &close {
        let name = next.limit.name.to_string();
        let percents = next.share() * 100.0;
        hit = hit
            .alone(
                "; next is {}, used to {}",
                [fixed(&*name), percent(percents)],
            )
            .with(&format!("{name}: used"), percents, "%");
    }
    let enough = (mean_served(case) + waits_elsewhere(case, limit) + APART).ceil();
    hit = hit.with("in flight that fill the limit", enough, "");
    let is_cut = counts_otherwise && rate > operations && limit.limit.times() > 1.0;
    let is_known = !waits_overlap(case, is_cut) && chooses_depth(cases, case, limit);
    if case.slots() as f64 > OVER * enough && is_known && is_filled_by(limit, enough) {
        hit = hit.alone(
            "; {} in flight would do, {} only wait longer",
            [number(enough), number(case.slots() as f64)],
        );
    }
    let served = served_share(case);
    // Of several jobs, those that wait for it may have hardly anything in service.
    let is_alone = case.only_job().is_some();
    let is_latency_next = served > CLOSE && is_alone && case.is_saturating() && !limit.is_queue();
    if close.is_none() && is_latency_next {
        let without = case.iops() / served;
        hit = hit
            .alone(
                "; without it, {} in flight would give {} IOPS at most",
                [number(case.slots() as f64), number(without)],
            )
            .with("at most without the limit", without, "IOPS");
    }
    let is_partly = limit.level == Level::Steady && limit.share() < PARTLY;
    let advice = match (close, counts_otherwise) {
        _ if is_partly && cases.lets_queue_run_down(case) => KEEP_FULL,
        _ if limit.is_queue() => MORE_PLACES,
        _ if limit.uneven_share().is_some() => MORE_EVENLY,
        (Some(_), _) => MORE_OF_BOTH,
        (None, _) if is_latency_next => MORE_AND_DEEPER,
        (None, true) => MORE_UNITS,
        (None, false) if limit.counts_operations() && case.bytes_per_io() < LARGEST_UNIT => {
            MORE_OPERATIONS
        }
        (None, false) if limit.counts_operations() => MORE_UNITS,
        (None, false) => MORE_BYTES,
    };
    (advice, hit)
}

/// Operations that wait for other limits on average: they do so with fewer in flight, too.
fn waits_elsewhere(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> f64 {
    let served = served_share(case);
    let share = (1.0 - served - limit.waited_share).max(0.0);
    mean_served(case) * share / served.max(f64::MIN_POSITIVE)
}

/// Whether as many in flight are enough for a limit: it holds all the time, and they fill its volumes, on which
/// they do not fall evenly. Of N at a time on k equal volumes the rest is idle so often that N / (N + k - 1) of
/// the rate is left (a balanced closed queueing network).
fn is_filled_by(limit: &UsedLimit<'_>, in_flight: f64) -> bool {
    let filled = in_flight / (in_flight + limit.limit.times() - 1.0);
    limit.share() >= 1.0 - NEAR && filled >= CLOSE
}

/// How many times as long as a medium was busy its reads may wait for it before that is no wait for its
/// own rate: it approaches its maximum gradually.
const PLAUSIBLE: f64 = 2.0;

/// Whether more reads wait for a medium than its load explains: all slots, for the share of its maximum that
/// is used. The others wait for flash that is being programmed, a wait that counts with the medium's.
fn waits_for_programs(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    let covers = Covers::Reads;
    let is_medium = limit.limit.name.kind == LimitKind::PhysicalMaximum { covers };
    let busiest = limit.busiest.map(|busiest| busiest / limit.limit.value);
    let waiting = limit.waited_share * case.mean_in_flight();
    let most = PLAUSIBLE * busiest.unwrap_or(limit.share()) * case.slots() as f64;
    is_medium && case.does(Direction::Write) && waiting > most
}

/// The finding that reads wait for flash under programs, of equal limits of what it reads.
fn programs(record: &Record, alike: &[UsedLimit<'_>]) -> Hit {
    let limit = &alike[0];
    let [value, how, name] = limit_words(limit);
    let (waited, used) = (limit.waited_share * 100.0, limit.share() * 100.0);
    let whose = fixed(whose_of(record, alike));
    info(
        "flash that programs what is written is the limit: reads wait for it for {} of the time in the \
         device, and use {} of {}{}, {} for {}",
        [percent(waited), percent(used), value, whose, how, name],
    )
    .with("share of the time spent waiting for it", waited, "%")
    .with("share of the limit", used, "%")
}

/// Whether the parts of an operation wait on several volumes at the same time. Their waits together may be
/// longer than the operation takes, and what is left of its time is not what it was in service. `is_cut`:
/// a limit of several volumes counts more than there are operations.
fn waits_overlap(case: &CaseView<'_>, is_cut: bool) -> bool {
    is_cut || served_share(case) == 0.0
}

/// Whether a load chooses how many operations are in flight, and those that a limit needs are known: a
/// medium approaches its maximum gradually, operations do not fall evenly on several queues, and what waits
/// for something else as well does so with fewer in flight, too.
fn chooses_depth(cases: &Cases<'_>, case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    use LimitKind::{PhysicalMaximum, QueueDepth};
    let is_known = !matches!(limit.limit.name.kind, PhysicalMaximum { .. } | QueueDepth);
    let waits_only_here = served_share(case) + limit.waited_share >= CLOSE;
    is_known && waits_only_here && !case.is_open() && !cases.holds_operations_back(case)
}

/// The statement that these equal limits hold a case back, with its figures.
fn held_back(record: &Record, case: &CaseView<'_>, alike: &[UsedLimit<'_>]) -> Hit {
    let limit = &alike[0];
    let share = alike.iter().map(UsedLimit::share).sum::<f64>() / alike.len() as f64;
    let rate = alike.iter().map(|limit| limit.rate).sum::<f64>();
    let waited = alike
        .iter()
        .map(|limit| limit.waited_share)
        .fold(0.0, f64::max);
    let hit = statement(record, case, alike, share)
        .with("rate", rate, limit.unit())
        .with("limit", limit.value(), limit.unit())
        .with("share of the limit", share * 100.0, "%")
        .with(
            "share of the time spent waiting for it",
            waited * 100.0,
            "%",
        )
        .with("in flight", case.slots() as f64, "");
    match limit.level {
        Level::Burst { lasts_s, leaves } => hit
            .with("what the burst leaves", leaves, limit.unit())
            .with("a full bucket lasts", lasts_s, "s"),
        Level::Steady | Level::Baseline => hit,
    }
}

/// The sentence that these equal limits hold a case back, of which it uses this share.
fn statement(record: &Record, case: &CaseView<'_>, alike: &[UsedLimit<'_>], share: f64) -> Hit {
    let limit = &alike[0];
    let [value, how, name] = limit_words(limit);
    let whose = fixed(whose_of(record, alike));
    if limit.is_queue() {
        let places = plural(limit.value() as usize, "operation");
        return info(SERVED, [fixed(places), whose, how, name]);
    }
    if let Some(busiest) = limit.uneven_share() {
        return uneven(limit, busiest);
    }
    let saved = match (share > 1.0 + NEAR, limit.emptied.is_empty()) {
        (true, false) => fixed(", by credits that were used up"),
        // A job that began late is counted for its own time only, and then more is no surplus.
        (true, true) if share <= most_share(case) => fixed(", by the second that it had saved up"),
        _ => fixed(""),
    };
    let slots = [value, whose, how, name, percent(share * 100.0), saved];
    match limit.level {
        Level::Burst { lasts_s, leaves } => {
            let lasting = time(Nanos((lasts_s * 1e9) as u64));
            let left = [lasting, in_unit(leaves, limit.unit())];
            let text = if share < PARTLY {
                BURST_FOR_A_WHILE
            } else {
                BURST
            };
            info(text, [&slots[..], &left].concat())
        }
        Level::Steady if share < PARTLY => info(FOR_A_WHILE, slots),
        Level::Steady | Level::Baseline => info(STEADY, slots),
    }
}

/// The sentence on a limit of several equal volumes of which one is at this share of its own, and the
/// others have room left.
fn uneven(limit: &UsedLimit<'_>, busiest: f64) -> Hit {
    let volumes = limit.limit.times();
    let one = LimitName {
        volumes: Some(1),
        ..limit.limit.name.clone()
    };
    info(
        "{} is the limit of the busiest of {} volumes, {} for {}; its rate is {} of it",
        [
            in_unit(limit.limit.value, limit.unit()),
            fixed(count(volumes)),
            fixed(limit.limit.origin.how()),
            fixed(one.to_string()),
            percent(busiest * 100.0),
        ],
    )
    .alone(
        ", and all together use {} of {}",
        [
            percent(limit.share() * 100.0),
            in_unit(limit.value(), limit.unit()),
        ],
    )
}

/// Operations a second of the case that equal limits may count: those of their directions on their
/// targets. Of several targets it is an estimate.
fn operations_of(case: &CaseView<'_>, alike: &[UsedLimit<'_>]) -> f64 {
    let covers = alike[0].limit.name.kind.covers();
    let covered = case.row.moved().filter(|moved| match moved.direction {
        Direction::Read => covers != Covers::Writes,
        _ => covers != Covers::Reads,
    });
    let iops = covered.map(|moved| moved.iops.value).sum::<f64>() * case.share_together();
    // The row counts each direction, and the model each target, but nothing counts both: so every target
    // is taken to have its share of each direction.
    let models = case.passes.iter().filter_map(|pass| pass.model.as_deref());
    let (mut all_ios, mut limited_ios) = (0, 0);
    for target in models.flat_map(|model| &model.targets) {
        all_ios += target.ios;
        if alike
            .iter()
            .any(|limit| limit.targets.contains(&target.target))
        {
            limited_ios += target.ios;
        }
    }
    iops * limited_ios as f64 / all_ios.max(1) as f64
}

/// The limit that holds the case back as soon as these are a little higher: of the same targets, nearly
/// used up, and none that holds already.
fn next_limit<'a>(
    record: &'a Record,
    case: &CaseView<'a>,
    alike: &[UsedLimit<'a>],
    held: &[&LimitName],
) -> Option<UsedLimit<'a>> {
    let used = used_limits(record, case).into_iter();
    let others = used.filter(|other| {
        let is_held = held.contains(&&other.limit.name);
        let mut same_targets = alike.iter().flat_map(|held| held.targets);
        other.lasts()
            && other.share() >= CLOSE
            && !is_held
            && same_targets.any(|target| other.targets.contains(target))
    });
    others.max_by(|a, b| a.share().total_cmp(&b.share()))
}

/// Which targets of several a limit and its equals bind, as [`whose_of`].
pub(super) fn whose(record: &Record, case: &CaseView<'_>, limit: &UsedLimit<'_>) -> String {
    let mut alike = used_limits(record, case);
    alike.retain(|other| *other.limit == *limit.limit);
    whose_of(record, &alike)
}

/// Which targets of several the limits hold back: ` of each of 2 targets`, ` of 2 targets together`,
/// ` of each of 2 groups of targets`, ` of gp3:1TiB`.
fn whose_of(record: &Record, alike: &[UsedLimit<'_>]) -> String {
    let concerned: BTreeSet<u32> = alike
        .iter()
        .flat_map(|limit| limit.targets)
        .copied()
        .collect();
    let all = record.targets.len();
    match (all, alike, concerned.len()) {
        (1, ..) => String::new(),
        (_, [one], 2..) => format!(" of {} targets together", one.targets.len()),
        // Machines of one type, each of which binds its own targets together.
        (_, [_, _, ..], _) if alike.iter().any(|limit| limit.targets.len() > 1) => {
            format!(" of each of {} groups of targets", alike.len())
        }
        (_, _, many) if many == all => format!(" of each of {many} targets"),
        _ => {
            let names: Vec<String> = concerned
                .iter()
                .filter_map(|place| record.targets.get(*place as usize))
                .map(|target| short(&target.path))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!(" of {}", listed(&names, "and"))
        }
    }
}

/// The volume of a modelled target, without its clock and its instance: `gp3:1TiB`; in a fleet with its
/// host before it, `h1:gp3:1TiB`.
fn short(path: &str) -> String {
    let mut clocks = ["sim:", "emu:"].iter();
    let (host, address) = clocks
        .find_map(|clock| path.split_once(clock))
        .unwrap_or(("", path));
    format!("{host}{}", address.split('@').next().unwrap_or(address))
}

/// A limit in words: its value, how that is known, and its name.
fn limit_words(limit: &UsedLimit<'_>) -> [Slot; 3] {
    [
        in_unit(limit.value(), limit.unit()),
        fixed(limit.limit.origin.how()),
        fixed(limit.limit.name.to_string()),
    ]
}

/// Credits that run empty in so small a share of a pass were none: it has one level only.
const SOON: f64 = 0.02;
/// Credits that run empty later than this share of a pass do so at its end.
const NEARLY_ALL: f64 = 1.0 - SOON;

/// The pass in the midst of which a bucket of credits ran empty, and when it first did so, since the
/// start of the pass. A bucket that is refilled each day runs empty again and again, and the first
/// time of a long run is near its start.
fn ran_empty<'a>(case: &CaseView<'a>, limit: &UsedLimit<'_>) -> Option<(&'a Measurement, Nanos)> {
    let first = *limit.emptied.first()?;
    let pass = case.passes.iter().find(|pass| {
        let uses = pass.model.iter().flat_map(|model| uses(model, limit));
        let mut moments = uses.flat_map(|used| &used.emptied_at_ns);
        moments.any(|at| *at == first.0)
    })?;
    let mut shares = limit
        .emptied
        .iter()
        .map(|at| at.0 as f64 / pass.elapsed_ns as f64);
    shares
        .any(|share| (SOON..NEARLY_ALL).contains(&share))
        .then_some((*pass, first))
}

/// The first pass for all of which a baseline held, where it did not hold the pass before: other cases
/// used the credits up between them.
fn found_empty<'a>(case: &CaseView<'a>, limit: &UsedLimit<'_>) -> Option<&'a Measurement> {
    let pair = case
        .passes
        .windows(2)
        .find(|pair| !is_held(pair[0], limit) && is_held(pair[1], limit))?;
    Some(pair[1])
}

fn is_held(pass: &Measurement, limit: &UsedLimit<'_>) -> bool {
    let model = pass.model.as_deref();
    model.is_some_and(|model| waited_share(model, limit) >= HELD)
}

/// What a limit counted in a pass.
fn uses<'m>(model: &'m ModelUse, limit: &UsedLimit<'_>) -> impl Iterator<Item = &'m LimitUse> {
    let all = model.limits.iter();
    all.filter(|used| used.limit == limit.limit.name && used.targets == limit.targets)
}

/// Share of the time in the device for which the operations of its targets waited for a limit.
fn waited_share(model: &ModelUse, limit: &UsedLimit<'_>) -> f64 {
    let waited = uses(model, limit).map(|used| used.waited_ns);
    let targets = model.targets.iter();
    let concerned = targets.filter(|target| limit.targets.contains(&target.target));
    let in_device: u64 = concerned.map(|concerned| concerned.in_device_ns).sum();
    waited.sum::<u64>() as f64 / in_device.max(1) as f64
}

/// Whether the burst of which this is a level ended in the midst of a pass, or between two.
fn changed_under_way(cases: &Cases<'_>, case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    match limit.level {
        Level::Baseline => ran_empty(case, limit).is_some() || found_empty(case, limit).is_some(),
        Level::Burst { .. } => {
            let mut used = used_limits(cases.record, case).into_iter();
            let baseline = used.find(|other| is_baseline_of(&other.limit.name, &limit.limit.name));
            baseline.is_some_and(|baseline| {
                !baseline.emptied.is_empty() || found_empty(case, &baseline).is_some()
            })
        }
        Level::Steady => false,
    }
}

/// Whether both are levels of the same limiter: what lasts, and the burst above it.
fn is_baseline_of(baseline: &LimitName, burst: &LimitName) -> bool {
    use blocklab_device::LimitKind::{Baseline, Burst};
    match (&baseline.kind, &burst.kind) {
        (Baseline { limiter }, Burst { limiter: other }) => {
            limiter == other && baseline.owner == burst.owner && baseline.volumes == burst.volumes
        }
        _ => false,
    }
}

/// Burst credits that a pass used up: which, when, and what was left.
pub(super) fn credits_used_up(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Use the level after the fall as the sustained figure. A rate that must last takes \
                  a volume or an instance whose baseline it is.";
    per_case(cases, "credits-used-up", Some(advice), |case| {
        // A load that got its rate had no fall.
        if is_met(case) {
            return None;
        }
        let used = used_limits(cases.record, case);
        let baselines = used.iter().filter(|limit| limit.level == Level::Baseline);
        let emptied = baselines
            .clone()
            .filter_map(|limit| Some((limit, ran_empty(case, limit)?)));
        // Of several, the one that held the case back is the one for which it waited longest.
        let longest = emptied.max_by(|(a, _), (b, _)| a.waited_share.total_cmp(&b.waited_share));
        if let Some((limit, (pass, at))) = longest {
            return Some(used_up_in(case, limit, pass, at));
        }
        let mut empty = baselines.filter_map(|limit| Some((limit, found_empty(case, limit)?)));
        let (limit, pass) = empty.next()?;
        Some(used_up_before(case, limit, pass))
    })
}

/// The finding about a pass whose credits were used up at its moment `at`.
fn used_up_in(case: &CaseView<'_>, limit: &UsedLimit<'_>, pass: &Measurement, at: Nanos) -> Hit {
    let [left, how, name] = limit_words(limit);
    let before = rate_until(pass, at).map(|iops| iops * units_per_operation(case, limit));
    let times = limit.emptied.len() as f64;
    let which = match case.passes.len() {
        1 => String::new(),
        _ => format!(" of pass {}", pass.pass),
    };
    let moment = [time(at), word(which)];
    let hit = match before {
        Some(before) => warning(
            "credits were used up after {}{}: {} {} before, and then {}, {} for {}",
            [
                &moment[..],
                &[speed(before), fixed(limit.unit()), left, how, name],
            ]
            .concat(),
        ),
        None => warning(
            "credits were used up after {}{}: {} since then, {} for {}",
            [&moment[..], &[left, how, name]].concat(),
        ),
    };
    let hit = match limit.emptied.get(1) {
        Some(again) => hit.alone(
            "; refilled, they were used up again after {}, {} times in all",
            [time(*again), number(times)],
        ),
        None => hit,
    };
    hit.with("used up after", at.as_secs_f64(), "s")
        .with("before", before, limit.unit())
        .with("left", limit.value(), limit.unit())
        .with("times", times, "")
}

/// What a limit counts for an operation of the case, in the unit of the limit: a rate before its
/// credits were used up can be compared with the limit only in that unit.
fn units_per_operation(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> f64 {
    limit.rate / case.iops().max(f64::MIN_POSITIVE)
}

/// The finding about a pass that began without credits, because earlier ones had used them up.
fn used_up_before(case: &CaseView<'_>, limit: &UsedLimit<'_>, pass: &Measurement) -> Hit {
    let [left, how, name] = limit_words(limit);
    let numbered = case.pass_numbers.iter().zip(&case.pass_iops);
    let mut earlier = numbered.filter(|(number, _)| **number < pass.pass);
    // There is one: `found_empty` gives the later pass of a pair.
    let iops_before = earlier.next_back().map_or(0.0, |(_, iops)| *iops);
    let before = iops_before * units_per_operation(case, limit);
    let pass_number = word(pass.pass.to_string());
    warning(
        "credits were used up before pass {}: {} {} in the pass before, and then {}, {} for {}",
        [
            pass_number,
            speed(before),
            fixed(limit.unit()),
            left,
            how,
            name,
        ],
    )
    .with("first pass without", f64::from(pass.pass), "")
    .with("before", before, limit.unit())
    .with("left", limit.value(), limit.unit())
}

/// Whether credits that ran empty explain a fall of the rate, within a pass or over the passes.
pub(super) fn fell_by_credits(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let used = used_limits(cases.record, case);
    let mut baselines = used.iter().filter(|limit| limit.level == Level::Baseline);
    baselines.any(|baseline| {
        ran_empty(case, baseline).is_some() || found_empty(case, baseline).is_some()
    })
}

/// Operations a second of a pass from its start to a moment since then; `None`: no slice of it ended
/// before that.
fn rate_until(pass: &Measurement, until: Nanos) -> Option<f64> {
    let slices = pass.series.iter();
    let (ios, ns) = slices
        .filter(|slice| slice.end_ns <= until.0)
        .fold((0, 0), |(ios, ns), slice| {
            (ios + slices::ios(slice), ns + slice.length_ns)
        });
    (ns > 0).then(|| ios as f64 * 1e9 / ns as f64)
}

/// The rate is above the limit that should bind it, by what a limiter saves up while idle.
pub(super) fn above_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = slices::advice_to_measure_longer(
        cases,
        "Run for at least a minute, or use a longer ramp, to see what is sustained.",
    );
    per_case(cases, "above-limit", Some(advice), |case| {
        let used = used_limits(cases.record, case);
        let lasting = used.iter().filter(|limit| limit.level != Level::Baseline);
        let limit = lasting.max_by(|a, b| a.share().total_cmp(&b.share()))?;
        is_spoiled(case, limit).then(|| saved_up(limit, seconds_of_a_pass(case)))
    })
}

/// Whether what the limiter had saved up makes a good part of the rate.
fn is_spoiled(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    limit.share() > SPOILED && limit.share() <= most_share(case)
}

/// The finding about passes that were too short to use up what a limiter saves while idle.
fn saved_up(limit: &UsedLimit<'_>, seconds: f64) -> Hit {
    let [value, how, name] = limit_words(limit);
    let share = limit.share();
    warning(
        "the rate is {} of a limit of {}, {} for {}: a limiter saves up about a second of its rate \
         while idle, and {} a pass are too short to spend it",
        [
            percent(share * 100.0),
            value,
            how,
            name,
            time(Nanos((seconds * 1e9) as u64)),
        ],
    )
    .graded(share)
    .confidence(Confidence::Medium)
    .with("rate", limit.rate, limit.unit())
    .with("limit", limit.value(), limit.unit())
    .with("share of the limit", share * 100.0, "%")
    .with("measured time of a pass", seconds, "s")
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "limits_reach_tests.rs"]
mod reach_tests;
