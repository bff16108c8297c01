//! Operations in flight: Little's law and what follows from it.

use std::collections::BTreeSet;

use blocklab_record::{Origin, Stopped};
use blocklab_stats::{in_flight, ratio};
use blocklab_units::stated;
use blocklab_workload::Direction;

use super::group;
use super::job_latency;
use super::limits::whose;
use super::processor;
use super::sibling::{Axis, families};
use super::submission::blocks_on_submission;
use crate::held::{Bound, NEAR, UsedLimit, bound, used_limits};
use crate::hit::{Hit, info, joined, per_case, warning};
use crate::requested::worst;
use crate::statement::{Slot, delay, fixed, in_unit, number, percent as share, word};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// Little's law must hold within this, else the time is not where the figures say.
const LAW_PERCENT: f64 = 10.0;
/// Failed operations, as a share of the others, from which the law shows nothing.
const FAILED: f64 = 0.01;
/// A deeper sibling must gain at least this factor for depth to be what was missing.
const GAIN: f64 = 1.25;
/// A gain of this factor is no scatter, even in a single pass.
const PLAIN_GAIN: f64 = 2.0;
const LEVEL: f64 = 0.95;
/// Within this, two rates are the same.
const SAME: f64 = 0.95;
/// A deeper sibling that waits this many times as long for the same rate only queues.
const QUEUES: f64 = 1.5;

const TOO_MANY: &str = "IOPS × latency is {} above the queue depth (Little's law): the accounting of \
                        time was disturbed";
const TOO_FEW: &str = "IOPS × latency is {} below the queue depth (Little's law): the rest of the time \
                       went by outside the measured latency";

/// In a closed loop every slot is always full, so IOPS times latency must give the number of slots.
pub(super) fn littles_law(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Do not compare these latencies; measure again on a quiet machine.";
    per_case(cases, "littles-law", Some(advice), |case| {
        let (slots, found) = (case.slots() as f64, case.mean_in_flight());
        let percent = (found / slots - 1.0) * 100.0;
        if !must_hold(case) || percent.abs() <= LAW_PERCENT || is_explained(cases, case, percent) {
            return None;
        }
        // `is_explained` excludes only the causes of too few that a record shows.
        let (confidence, text) = if percent > 0.0 {
            (Confidence::High, TOO_MANY)
        } else {
            (Confidence::Medium, TOO_FEW)
        };
        let figures = [Slot::Range(found, |n| format!("{n:.2}")), number(slots)];
        let hit = warning(text, [share(percent.abs())])
            .graded(percent.abs())
            .alone(": {} instead of {}", figures);
        Some(with_figures_of(hit.confidence(confidence), case))
    })
}

/// Slots are full to the end, and there are enough operations that the first and the last do not matter.
fn must_hold(case: &CaseView<'_>) -> bool {
    case.is_saturating()
        && !case.is_null()
        // Some runs of other programs have no latency.
        && case.latency_ns() > 0.0
        && case.jobs().all(|job| job.stopped == Stopped::Runtime)
        && case.ios() >= 100 * case.slots() * case.passes.len() as u64
        && case.slots() > 0
        // What failed was in flight, and no latency shows for how long.
        && failed_share(case) < FAILED
}

fn failed_share(case: &CaseView<'_>) -> f64 {
    let failed: u64 = case.jobs().map(|job| job.accounting.failed).sum();
    failed as f64 / case.ios().max(1) as f64
}

/// Slots are empty while our own thread works (if that explains half of what is missing, the rest is
/// taken for it, too), while a flush waits for all others, while a job that is ahead of its share waits
/// for the others, and where the load itself issues fewer operations. A fleet has no plan that would show
/// the last two; the run of each host has.
fn is_explained(cases: &Cases<'_>, case: &CaseView<'_>, percent: f64) -> bool {
    let waits = case.does(Direction::Sync)
        || cases.record.fleet.is_some()
        || cases.keeps_shares(case)
        || cases.holds_operations_back(case);
    let own = processor::own_share_percent(cases, case).unwrap_or(0.0);
    let is_explained = waits || own >= -percent / 2.0 || processor::is_limited(cases, case);
    let blocks = case.jobs().any(|job| blocks_on_submission(cases, job));
    percent < 0.0 && (is_explained || blocks || is_work_of_another_tool(cases, case))
}

/// Another program takes up to this long for an operation of its own, and does not report it: fio 0.7 to 1.9 µs
/// at depth 1 on two processors.
const WORK_OF_ANOTHER_TOOL_NS: f64 = 5_000.0;

/// Whether an imported run spent no more time outside of the latencies than another program works for an
/// operation. The slots of a thread are empty for as long.
fn is_work_of_another_tool(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let empty = case.slots() as f64 - case.mean_in_flight();
    cases.record.origin == Origin::Imported && empty / case.iops() * 1e9 <= WORK_OF_ANOTHER_TOOL_NS
}

/// Adds the figures of a case that Little's law relates: rate, latency and operations in flight. It is
/// the case of the hit, or one that it is compared with.
fn with_figures_of(hit: Hit, case: &CaseView<'_>) -> Hit {
    hit.with_of(case.name, "IOPS", case.iops(), "IOPS")
        .with_of(case.name, "mean latency", case.latency_ns(), "ns")
        .with_of(
            case.name,
            "in flight, by Little's law",
            case.mean_in_flight(),
            "",
        )
        .with_of(case.name, "in flight", case.slots() as f64, "")
}

/// The rate is depth over latency, and more depth gives more. In a closed loop the law holds for
/// a saturated device too. The model knows for what operations waited. On a real disk only a deeper
/// sibling shows it; without one, a case with few operations in flight gets a finding of less
/// confidence.
pub(super) fn latency_bound(cases: &Cases<'_>) -> Vec<Finding> {
    let (mut hits, mut at_limit, mut flushing) = (Vec::new(), Vec::new(), Vec::new());
    let mut unknown = Vec::new();
    for case in &cases.list {
        match bound(cases, case) {
            Bound::Latency(Some(next)) if next.share() >= 1.0 - NEAR => {
                at_limit.push((case.name, reached(cases, case, &next)));
            }
            Bound::Latency(next) => hits.push((case.name, modelled(cases, case, next.as_ref()))),
            Bound::Unknown => {
                match job_latency::by_flushes(case).filter(|_| waits_freely(cases, case)) {
                    Some(hit) => flushing.push((case.name, hit)),
                    None => unknown.push(case),
                }
            }
            Bound::Nothing => {
                let found = job_latency::beside_rates(cases, case);
                hits.extend(found.map(|hit| (case.name, hit)));
            }
            Bound::Limits(_) => {}
        }
    }
    let families = families(cases, Axis::InFlight);
    let compared: BTreeSet<&str> = families.iter().flatten().map(|case| case.name).collect();
    let mut gained = among(&families, |family, case| gain(cases, family, case));
    // Where the model knows the reason, a comparison would only guess at it.
    gained.retain(|(name, _)| unknown.iter().any(|case| case.name == *name));
    hits.extend(gained);
    let deepest = cases.list.iter().map(CaseView::slots).max().unwrap_or(0);
    let alone = unknown.iter().filter(|case| {
        // Through the page cache, a single operation may cost more processor than waiting.
        let is_deepest = case.slots() == deepest;
        let few = case.slots() == 1 || (is_few(case) && is_deepest);
        let single = few && case.is_direct() && !compared.contains(case.name);
        single && case.is_saturating() && waits_freely(cases, case)
    });
    let (one, few): (Vec<&&CaseView<'_>>, Vec<_>) = alone.partition(|case| case.slots() == 1);
    hits.extend(one.into_iter().map(|case| (case.name, single(case))));
    let few = few.into_iter().map(|case| (case.name, single(case)));
    [
        joined(cases, "latency-bound", Some(MORE_IN_FLIGHT), hits),
        joined(cases, "latency-bound", Some(MORE_OF_BOTH), at_limit),
        joined(cases, "latency-bound", Some(FEWER_FLUSHES), flushing),
        joined(cases, "latency-bound", Some(TRY_DEEPER), few),
    ]
    .concat()
}

const MORE_IN_FLIGHT: &str = "More operations in flight give more, until the target is full.";
const TRY_DEEPER: &str = "Measure with twice as many in flight: if that gives more, latency is the limit, and \
    else the target is full.";
const FEWER_FLUSHES: &str = "Fewer flushes give more, one for several writes, as databases do that commit in \
    groups; so does a device that flushes sooner, as those that keep their cache through a loss of power.";
const MORE_OF_BOTH: &str = "More takes both: more operations in flight, and a volume or an instance \
    with a higher limit.";

/// With at most this many in flight, and nothing deeper in the run, latency may be all that bounds a rate.
const FEW: u64 = 16;
/// And with at most this many bytes: of loads with more, hardly one in five got more from twice as many in flight.
const FEW_BYTES: f64 = 1_048_576.0;

fn is_few(case: &CaseView<'_>) -> bool {
    case.slots() <= FEW && case.slots() as f64 * case.bytes_per_io() <= FEW_BYTES
}

/// Whether the case waits for its target, which no control group and no memory stands in for.
fn waits_freely(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    is_waiting(cases, case) && group::reached(cases, case).is_none() && !cases.in_memory()
}

/// The model knows that nothing but its latency holds the case back, and which limit is next.
fn modelled(cases: &Cases<'_>, case: &CaseView<'_>, next: Option<&UsedLimit<'_>>) -> Hit {
    let hit = with_longest_wait(info(LATENCY, latency_slots(case)), cases, case);
    // A flush waits for all that its thread has in flight, so that more does not give as much more.
    let is_in_proportion = !case.does(Direction::Sync) || case.slots() == case.threads();
    // Of jobs that run at different times, a limit counts the mean over all of it; and a load that holds
    // operations back does not have as many in flight as it may.
    let is_steady = case.share_together() >= 1.0 - NEAR && !cases.holds_operations_back(case);
    let is_known = is_in_proportion && is_steady;
    let hit = match next.filter(|limit| is_known && limit.share() > 0.0) {
        Some(limit) => would_reach(hit, cases, case, limit),
        None => hit,
    };
    with_figures_of(hit, case)
}

/// Share of its time in the device from which the wait of an operation for a limit is worth a figure.
const FELT: f64 = 0.1;

/// Adds the limit for which operations wait longest, and for which share of their time.
fn with_longest_wait(hit: Hit, cases: &Cases<'_>, case: &CaseView<'_>) -> Hit {
    let used = used_limits(cases.record, case).into_iter();
    let longest = used.max_by(|a, b| a.waited_share.total_cmp(&b.waited_share));
    match longest.filter(|limit| limit.waited_share >= FELT) {
        Some(limit) => hit.alone(
            "; {} of the latency is a wait for {}",
            [
                share(limit.waited_share * 100.0),
                fixed(limit.limit.name.to_string()),
            ],
        ),
        None => hit,
    }
}

/// How many operations in flight it takes to reach `next`, the next limit of the model, or the rate that was
/// requested, where that is less: at this latency each, and it grows on the way.
fn would_reach(hit: Hit, cases: &Cases<'_>, case: &CaseView<'_>, next: &UsedLimit<'_>) -> Hit {
    let slots = case.slots() as f64;
    let is_one_job = case.passes.iter().all(|pass| pass.jobs.len() == 1);
    if let Some(missed) = worst(case)
        && is_one_job
        && missed.share() > next.share()
    {
        let enough = (slots / missed.share()).ceil();
        let requested = in_unit(missed.requested, missed.unit);
        return hit
            .alone(
                "; it takes at least {} in flight to reach the {} requested",
                [number(enough), requested],
            )
            .with("in flight that reach the requested rate", enough, "");
    }
    let enough = (slots / next.share()).ceil();
    let limit = if next.is_queue() {
        fixed(format!("{} in service at a time", stated(next.value())))
    } else {
        in_unit(next.value(), next.unit())
    };
    hit.alone(
        "; it takes at least {} in flight to reach {}{}",
        [
            number(enough),
            limit,
            fixed(whose(cases.record, case, next)),
        ],
    )
    .with(
        &format!("in flight that reach {}", next.limit.name),
        enough,
        "",
    )
}

/// What is in flight gives just the rate of a limit: neither more in flight nor a higher limit gives
/// more by itself.
fn reached(cases: &Cases<'_>, case: &CaseView<'_>, limit: &UsedLimit<'_>) -> Hit {
    let hit = info(LATENCY, latency_slots(case)).alone(
        "; that is {} of {}{}, {} for {}, so more in flight gives no more",
        [
            share(limit.share() * 100.0),
            in_unit(limit.value(), limit.unit()),
            fixed(whose(cases.record, case, limit)),
            fixed(limit.limit.origin.how()),
            fixed(limit.limit.name.to_string()),
        ],
    );
    let name = format!("{}: used", limit.limit.name);
    with_figures_of(hit.with(&name, limit.share() * 100.0, "%"), case)
}

const LATENCY: &str = "latency is the limit: {} in flight, {} each, gives {} IOPS{}";

/// The operations in flight, the latency of each, and the rate. Flushes take a share of the time,
/// so with them the first two give more than the third.
fn latency_slots(case: &CaseView<'_>) -> Vec<Slot> {
    let beside = if case.does(Direction::Sync) {
        " beside its flushes"
    } else {
        ""
    };
    vec![
        number(case.slots() as f64),
        delay(case.latency_ns()),
        number(case.iops()),
        fixed(beside),
    ]
}

/// Whether the case waits for its target, not for its own processor, and it is known for how long.
fn is_waiting(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    // Some runs of other programs have no latency.
    let is_known = case.iops() > 0.0 && case.latency_ns() > 0.0;
    is_known && !case.is_null() && !processor::is_limited(cases, case)
}

/// The findings on the members of families.
fn among<'a>(
    families: &[Vec<&'a CaseView<'a>>],
    judge: impl Fn(&[&CaseView<'a>], &CaseView<'a>) -> Option<Hit>,
) -> Vec<(&'a str, Hit)> {
    let members = families
        .iter()
        .flat_map(|family| family.iter().map(move |case| (family, case)));
    members
        .filter_map(|(family, case)| Some((case.name, judge(family, case)?)))
        .collect()
}

/// The finding on a case with a deeper sibling that has a higher rate.
fn gain(cases: &Cases<'_>, family: &[&CaseView<'_>], case: &CaseView<'_>) -> Option<Hit> {
    let deeper = family.iter().filter(|other| other.slots() > case.slots());
    let best = deeper.max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
    let gain = best.iops() / case.iops();
    if gain < GAIN || !is_waiting(cases, case) {
        return None;
    }
    // The passes show a gain that is not their scatter.
    let found = ratio(&best.pass_iops, &case.pass_iops, LEVEL);
    let is_certain = found.is_some_and(|ratio| ratio.interval.low > 1.0);
    let hit = info(LATENCY, latency_slots(case))
        .alone(
            ", while {} reached {} with {}",
            [
                word(best.name),
                number(best.iops()),
                number(best.slots() as f64),
            ],
        )
        .confidence(Confidence::high_if(gain >= PLAIN_GAIN || is_certain));
    Some(with_figures_of(with_figures_of(hit, case), best))
}

/// The finding on a case that nothing can be compared with.
fn single(case: &CaseView<'_>) -> Hit {
    let figures = latency_slots(case);
    let hit = match case.slots() {
        1 => info(
            "latency is the limit: one operation in flight at {} each allows no more than {} IOPS{}",
            // Without the queue depth, which is in the text.
            &figures[1..],
        )
        .confidence(Confidence::Medium),
        _ => info(
            "latency may be the limit: {} in flight, {} each, gives {} IOPS{}, and no case went deeper",
            figures,
        )
        .confidence(Confidence::Low),
    };
    with_figures_of(hit, case)
}

/// More in flight than the target can use: the same rate, and only the queue is longer.
pub(super) fn over_driven(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Take latencies at the smaller number in flight; beyond it they are waiting time.";
    let families = families(cases, Axis::InFlight);
    joined(cases, "over-driven", Some(advice), among(&families, queues))
}

/// The finding on a case with a sibling of less depth that has the same rate.
fn queues(family: &[&CaseView<'_>], deep: &CaseView<'_>) -> Option<Hit> {
    let most = family.iter().map(|case| case.iops()).fold(0.0, f64::max);
    let enough = family.iter().find(|case| case.iops() >= SAME * most)?;
    // Some runs of other programs have no latency.
    let is_known = enough.latency_ns() > 0.0;
    let longer = deep.latency_ns() / enough.latency_ns();
    if !is_known || deep.slots() <= enough.slots() || longer < QUEUES {
        return None;
    }
    let deepest = family.last()?;
    // The passes exclude a gain of 10 % and more.
    let found = ratio(&deep.pass_iops, &enough.pass_iops, LEVEL);
    let is_certain = found.is_some_and(|ratio| ratio.interval.high < 1.1);
    // What fills the target: its rate times the latency of its least loaded sibling.
    let fill = in_flight(enough.iops(), family[0].latency_ns());
    let hit = info(
        "{} in flight deliver no more than {}, and each operation waits {} times as long",
        [
            number(deep.slots() as f64),
            number(enough.slots() as f64),
            Slot::Range(longer, |times| format!("{times:.1}")),
        ],
    )
    .alone(
        ": {} IOPS, against {} in {}",
        [
            number(deep.iops()),
            number(enough.iops()),
            word(enough.name),
        ],
    )
    .graded(longer)
    .confidence(Confidence::high_if(is_certain));
    let figures = [
        ("in flight", enough.slots() as f64, ""),
        ("IOPS", enough.iops(), "IOPS"),
        ("mean latency", enough.latency_ns(), "ns"),
        ("in flight that fill the target", fill.ceil(), ""),
        ("most in flight", deepest.slots() as f64, ""),
        ("its mean latency", deepest.latency_ns(), "ns"),
    ];
    Some(figures.iter().fold(hit, |hit, (name, value, unit)| {
        hit.with_of(enough.name, name, *value, unit)
    }))
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;
    use blocklab_workload::{Case, Job, Plan, Pooled, Share};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn at(depth: u32, iops: f64) -> Sketch {
        Sketch {
            case: format!("q{depth}"),
            depth,
            iops: vec![iops; 3],
            ..Sketch::default()
        }
    }

    /// The story: CrystalDiskMark of old reports no latency, and two depths with the same rate were said
    /// to wait "NaN times as long".
    #[test]
    fn without_latencies_no_depth_only_queues() {
        let mut sweep = record(&[at(8, 6000.0), at(64, 6000.0)]);
        for job in sweep.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            for direction in job.directions.values_mut() {
                direction.service.mean_ns = 0.0;
            }
        }
        silent(&sweep, "over-driven");
        let mut shallow = record(&[at(1, 6000.0)]);
        the(&shallow, "latency-bound");
        for job in shallow.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            for direction in job.directions.values_mut() {
                direction.service.mean_ns = 0.0;
            }
        }
        silent(&shallow, "latency-bound");
    }

    fn with_latency(share_of_law: f64) -> Record {
        record(&[Sketch {
            latency_ns: Some(32e9 / 10_000.0 * share_of_law),
            ..Sketch::default()
        }])
    }

    #[test]
    fn littles_law_is_checked() {
        let idle = the(&with_latency(0.8), "littles-law");
        assert!(
            idle.statement.ends_with("latency: 25.60 instead of 32."),
            "{idle:?}"
        );
        assert_eq!(idle.confidence, Confidence::Medium);
        let impossible = the(&with_latency(1.3), "littles-law");
        assert_eq!(impossible.confidence, Confidence::High);
        silent(&with_latency(0.95), "littles-law");
    }

    /// The story: two hosts whose queues run down before they are filled again broke no law, each by itself;
    /// of both together the user was told to measure again on a quiet machine.
    #[test]
    fn a_fleet_does_not_show_what_its_jobs_hold_back() {
        let mut record = with_latency(0.8);
        record.fleet = Some(Default::default());
        silent(&record, "littles-law");
    }

    /// The story: "IOPS times latency gives 5.11 to 21.24 operations in flight where there are
    /// always 8 to 32": two ranges of different cases, which hid what was missing. Later each depth of
    /// a sweep was a finding of its own.
    #[test]
    fn littles_law_is_one_finding_of_what_is_missing_and_the_worst_by_name() {
        let lagging = |case: &str, depth: u32, share: f64| Sketch {
            depth,
            latency_ns: Some(f64::from(depth) * 1e9 / 10_000.0 * share),
            ..Sketch::named(case)
        };
        let record = record(&[
            lagging("a", 32, 0.8),
            lagging("b", 8, 0.7),
            lagging("c", 32, 0.5),
        ]);
        assert_eq!(
            the(&record, "littles-law").statement,
            "In all 3 cases, IOPS × latency is 20 to 50 % below the queue depth (Little's law): the \
             rest of the time went by outside the measured latency; worst in c."
        );
    }

    /// The story: fio read 187,502 times a second from memory, 4.48 µs each: "16 % below the queue depth: measure
    /// again on a quiet machine". fio itself worked for 0.9 µs between two reads.
    #[test]
    fn another_tool_works_between_two_operations() {
        let imported = |latency_us: f64, origin| {
            let mut record = record(&[Sketch {
                depth: 1,
                latency_ns: Some(latency_us * 1e3),
                ..Sketch::default()
            }]);
            record.origin = origin;
            record
        };
        // 20 of 100 µs, and 4 of 20: on both sides of [`WORK_OF_ANOTHER_TOOL_NS`].
        the(&imported(80.0, Origin::Imported), "littles-law");
        let mut quick = imported(80.0, Origin::Imported);
        for job in quick.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            for moved in job.directions.values_mut() {
                moved.ios *= 5;
                moved.service.mean_ns /= 5.0;
            }
        }
        silent(&quick, "littles-law");
        quick.origin = Origin::Measured;
        the(&quick, "littles-law");
    }

    /// The story: two workloads with a skew on two volumes: the threads of one waited for the other, as
    /// requested, and the law was broken by 49 %: "measure again on a quiet machine".
    #[test]
    fn jobs_that_keep_shares_wait_for_one_another() {
        let of_pools = |pools: [&str; 2]| {
            let mut record = with_latency(0.5);
            let job = |pool: &&str| Job {
                pool: Some(Pooled {
                    share: Some(Share {
                        group: 1,
                        weight: 50.0,
                    }),
                    ..Pooled::new(pool, 32)
                }),
                ..Job::default()
            };
            let name = record.measurements[0].case.clone();
            let case = Case::new(name, 0, pools.iter().map(job).collect());
            record.requested.plan = Some(Plan::once("study", "", vec![case]));
            record
        };
        silent(&of_pools(["sd1", "sd2"]), "littles-law");
        // Those of one pool fill the same slots.
        the(&of_pools(["sd1", "sd1"]), "littles-law");
    }

    /// The story: a load that refilled its 32 slots when eight were left had 20 in flight, as requested:
    /// "measure again on a quiet machine".
    #[test]
    fn a_load_that_holds_its_own_operations_back_breaks_no_law() {
        let planned = |edit: fn(&mut Job)| {
            let mut record = with_latency(0.6);
            let mut job = Job::default();
            edit(&mut job);
            let name = record.measurements[0].case.clone();
            let case = Case::new(name, 0, vec![job]);
            record.requested.plan = Some(Plan::once("study", "", vec![case]));
            record
        };
        silent(&planned(|job| job.batch.low = 8), "littles-law");
        silent(&planned(|job| job.no_overlap = true), "littles-law");
        the(&planned(|_| {}), "littles-law");
    }

    /// Two jobs in a pool of 32: each has half of it in flight, and both once had to have 32.
    #[test]
    fn a_pool_is_counted_once() {
        let mut shared = record(&[Sketch {
            iops: vec![5000.0; 3],
            latency_ns: Some(32e9 / 10_000.0),
            ..Sketch::default()
        }]);
        for measurement in &mut shared.measurements {
            measurement.jobs[0].pool = Some("sd1".to_owned());
            let twin = measurement.jobs[0].clone();
            measurement.jobs.push(twin);
        }
        silent(&shared, "littles-law");
    }

    #[test]
    fn a_paced_load_leaves_slots_empty_and_that_is_fine() {
        let mut record = with_latency(0.1);
        for job in record.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            job.requested_iops = Some(10_000.0);
        }
        silent(&record, "littles-law");
        silent(&record, "latency-bound");
    }

    #[test]
    fn a_deeper_sibling_shows_that_latency_was_the_bound() {
        let record_of = |deep| record(&[at(1, 10_000.0), at(32, deep)]);
        let finding = the(&record_of(180_000.0), "latency-bound");
        assert_eq!(finding.subject, ["q1"]);
        assert_eq!(finding.confidence, Confidence::High);
        assert_eq!(
            finding.statement,
            "q1: latency is the limit: 1 in flight, 100 µs each, gives 10,000 IOPS, while q32 reached \
             180,000 with 32."
        );
        silent(&record_of(10_500.0), "latency-bound");
    }

    #[test]
    fn one_in_flight_without_a_sibling_is_less_certain() {
        let finding = the(&record(&[at(1, 10_000.0)]), "latency-bound");
        assert_eq!(finding.confidence, Confidence::Medium);
        // A few in flight may be too few, unless a case went deeper; on both sides of [`FEW`].
        let few = the(&record(&[at(16, 10_000.0)]), "latency-bound");
        assert_eq!(few.confidence, Confidence::Low);
        silent(&record(&[at(17, 10_000.0)]), "latency-bound");
        silent(
            &record(&[at(8, 10_000.0), at(32, 10_000.0)]),
            "latency-bound",
        );
        let mut cached = at(1, 10_000.0);
        cached.direct = false;
        silent(&record(&[cached]), "latency-bound");
    }

    /// The story: of 16 loads of a few blocks that had more than 1 MiB in flight, all were told that latency may be
    /// the limit. Twice as many in flight gave more in three.
    #[test]
    fn a_few_large_blocks_may_fill_a_target() {
        let of_size = |kib: u64| {
            record(&[Sketch {
                block: kib * 1024,
                ..at(16, 10_000.0)
            }])
        };
        // On both sides of [`FEW_BYTES`].
        let few = the(&of_size(64), "latency-bound");
        assert!(
            few.advice
                .is_some_and(|advice| advice.starts_with("Measure with twice as many"))
        );
        silent(&of_size(128), "latency-bound");
    }

    #[test]
    fn a_sibling_that_flushes_is_no_sibling() {
        let mut record = record(&[at(1, 1000.0), at(32, 26_000.0)]);
        for job in record
            .measurements
            .iter_mut()
            .step_by(2)
            .flat_map(|m| &mut m.jobs)
        {
            let mut sync = job.directions[&Direction::Read].clone();
            sync.service.mean_ns /= 4.0;
            job.directions.insert(Direction::Sync, sync);
        }
        assert_eq!(the(&record, "latency-bound").confidence, Confidence::Medium);
    }

    #[test]
    fn a_sibling_of_another_size_is_no_sibling() {
        let mut deep = at(32, 180_000.0);
        deep.block = 8192;
        let finding = the(&record(&[at(1, 10_000.0), deep]), "latency-bound");
        assert_eq!(finding.confidence, Confidence::Medium);
    }

    #[test]
    fn depth_beyond_saturation_only_queues() {
        let finding = the(
            &record(&[at(1, 1500.0), at(8, 3000.0), at(64, 3010.0)]),
            "over-driven",
        );
        assert_eq!(finding.subject, ["q64"]);
        assert_eq!(
            finding.statement,
            "q64: 64 in flight deliver no more than 8, and each operation waits 8.0 times as long: \
             3,010 IOPS, against 3,000 in q8."
        );
        // 3,000 a second times 667 µs: two in flight fill it.
        assert_eq!(
            figure(&finding, "q8", "in flight that fill the target"),
            2.0
        );
        silent(&record(&[at(8, 3000.0), at(64, 6000.0)]), "over-driven");
    }

    fn figure(finding: &Finding, case: &str, name: &str) -> f64 {
        let mut figures = finding.evidence.iter();
        let is =
            |figure: &&crate::Evidence| figure.case.as_deref() == Some(case) && figure.name == name;
        figures.find(is).expect("a figure of this name").value
    }

    /// The story: of a sweep of 500 cases, each of 25 depths was a finding of 20 cases, with the
    /// figures of the same shallow siblings in each.
    #[test]
    fn the_depths_of_a_sweep_are_one_finding() {
        let depths = [(1, 1500.0), (2, 2900.0), (8, 3000.0), (64, 3010.0)];
        let sweep = record(&depths.map(|(depth, iops)| at(depth, iops)));
        let finding = the(&sweep, "over-driven");
        assert_eq!(finding.subject, ["q8", "q64"]);
        assert_eq!(
            finding.statement,
            "q8 and q64: 8 to 64 in flight deliver no more than 2, and each operation waits 3.9 to \
             30.8 times as long; worst in q64."
        );
        assert!(
            finding
                .evidence
                .iter()
                .all(|figure| figure.case.as_deref() == Some("q2"))
        );
        assert_eq!(figure(&finding, "q2", "most in flight"), 64.0);
        let finding = the(&sweep, "latency-bound");
        assert_eq!(finding.subject, ["q1"]);
        assert_eq!(figure(&finding, "q64", "IOPS"), 3010.0);
    }

    #[test]
    fn scatter_takes_from_the_certainty() {
        let passes = |depth, iops: [f64; 3]| Sketch {
            iops: iops.to_vec(),
            ..at(depth, 1.0)
        };
        let wide = [passes(8, [3000.0, 2500.0, 3500.0]), at(64, 3010.0)];
        let finding = the(&record(&wide), "over-driven");
        assert_eq!(finding.confidence, Confidence::Medium);
        let wide = [passes(8, [3000.0, 2000.0, 4000.0]), at(32, 4000.0)];
        let finding = the(&record(&wide), "latency-bound");
        assert_eq!(finding.confidence, Confidence::Medium);
    }
}
