//! A volume that was served to other programs: which limit held them back, and what the next one
//! would be. The model knows for what each operation waited, so this is no inference.

use blocklab_device::{Covers, Limit, LimitKind, LimitName};
use blocklab_record::{ControlAction, ControlEvent, DirectionResult, Measurement, ObservedLoad};
use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::Finding;
use crate::hit::{Hit, info, per_case, warning};
use crate::statement::{Slot, delay, fixed, percent, time};
use crate::view::{CaseView, Cases};

/// Share of the time from which a limit is worth a word.
const MENTIONED: f64 = 0.01;
/// Late replies distort the median from this share of it on.
const DISTORTED: f64 = 0.1;
/// A tail is heavy from this multiple of the median on.
const HEAVY: f64 = 10.0;

/// The load of a served volume. It has one pass.
fn observed<'a>(case: &CaseView<'a>) -> Option<&'a ObservedLoad> {
    case.passes[0].observed.as_deref()
}

/// Share of the active time in which an operation waited for a limit.
fn share(load: &ObservedLoad, waited_ns: u64) -> f64 {
    (waited_ns as f64 / load.active_ns.max(1) as f64).min(1.0)
}

/// Commands named in one sentence.
const NAMED: usize = 3;

/// Faults were injected by a command: the failures and delays of them are no property of the volume.
pub(super) fn injected_faults(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look at the seconds before and after, or serve the volume without faults.";
    per_case(cases, "injected-faults", Some(advice), |case| {
        let faults = events(observed(case)?, ControlAction::is_fault);
        let mut hit = warning("faults were injected on purpose: {}", [listed(&faults)?]);
        for fault in faults {
            hit = hit.with(&fault.command, fault.hits as f64, "hits");
        }
        Some(hit)
    })
}

/// Rates or credits were changed under way: figures of the whole run are a mixture.
pub(super) fn changed(cases: &Cases<'_>) -> Vec<Finding> {
    per_case(cases, "changed-under-way", None, |case| {
        let changes = listed(&events(observed(case)?, |action| {
            matches!(action, ControlAction::Set | ControlAction::Credits)
        }))?;
        let text = "what it grants was changed under way, so its figures are a mixture: {}";
        Some(info(text, [changes]))
    })
}

/// The commands that the volume got while it was served, of the actions that are selected.
fn events(load: &ObservedLoad, is_selected: impl Fn(ControlAction) -> bool) -> Vec<&ControlEvent> {
    load.events
        .iter()
        .filter(|event| is_selected(event.action))
        .collect()
}

/// `fault stall 5s` at 10.0 s; `None` without any. If there are more than a sentence holds, the evidence
/// still names all of them.
fn listed(events: &[&ControlEvent]) -> Option<Slot> {
    let named: Vec<_> = events
        .iter()
        .take(NAMED)
        .map(|event| format!("`{}` at {}", event.command, Nanos(event.at_ns)))
        .collect();
    let more = if events.len() > NAMED { ", …" } else { "" };
    (!named.is_empty()).then(|| fixed(named.join(", ") + more))
}

/// The limit for which operations waited longest, and the one that they would meet next.
pub(super) fn bound_by(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Serve the volume with a higher limit and run the same load again: the difference \
                  is what the limit cost.";
    per_case(cases, "bound-by", Some(advice), |case| {
        let load = observed(case)?;
        let longest = load.waited.iter().max_by_key(|limit| limit.waited_ns)?;
        let most = share(load, longest.waited_ns);
        if most < MENTIONED {
            return None;
        }
        let bound = fixed(longest.limit.to_string());
        let hit = info(
            "{} held operations back for {} of the time",
            [bound, percent(most * 100.0)],
        );
        let hit = load.waited.iter().fold(hit, |hit, waited| {
            let share = share(load, waited.waited_ns) * 100.0;
            hit.with(&waited.limit.to_string(), share, "% of the time")
        });
        Some(match next_limit(cases, case, load) {
            Some((limit, used)) => nearest(hit, limit, used * 100.0),
            None => hit,
        })
    })
}

fn nearest(hit: Hit, limit: &LimitName, used_percent: f64) -> Hit {
    let slots = [fixed(limit.to_string()), percent(used_percent)];
    hit.alone("; next is {}, used to {}", slots)
        .with(&format!("{limit}: used"), used_percent, "%")
}

/// The limit nearest to the load among those for which no operation waited, and the share of it that was used.
fn next_limit<'a>(
    cases: &Cases<'a>,
    case: &CaseView<'_>,
    load: &ObservedLoad,
) -> Option<(&'a LimitName, f64)> {
    let known = cases
        .record
        .targets
        .iter()
        .flat_map(|target| &target.limits);
    let free = known.filter(|limit| {
        let is_met = load.waited.iter().any(|waited| waited.limit == limit.name);
        holds_steadily(&limit.name.kind) && !is_met
    });
    let used = free
        .filter_map(|limit| Some((&limit.name, used_share(cases, case, limit)?)))
        .filter(|(_, share)| *share > 0.0 && *share < 1.0);
    used.max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Whether a limit may hold back a load that goes on: a peak is over when its bucket is empty, and
/// a baseline begins to matter when credits are spent.
const fn holds_steadily(kind: &LimitKind) -> bool {
    matches!(
        kind,
        LimitKind::Rate { .. } | LimitKind::Burst { .. } | LimitKind::PhysicalMaximum { .. }
    )
}

/// The share of a limit that was used: of one volume, or of all together.
fn used_share(cases: &Cases<'_>, case: &CaseView<'_>, limit: &Limit) -> Option<f64> {
    let unit = limit.unit.per_second()?;
    // A unit of operations is one of them; one of bytes is many.
    let counted: fn(&DirectionResult) -> u64 = if unit > 1.0 {
        |result| result.bytes
    } else {
        |result| result.ios
    };
    let covers = limit.name.kind.covers();
    let rate = match limit.name.volumes {
        // Of unlike volumes, the Record does not say which has the limit.
        Some(equal) if equal as usize != cases.list.len() => return None,
        Some(_) => rate(case.passes[0], covers, counted),
        None => {
            let passes = cases.list.iter().map(|case| case.passes[0]);
            passes.map(|pass| rate(pass, covers, counted)).sum()
        }
    };
    Some(rate / (limit.value * unit))
}

/// What is `counted` of the operations, a second over the active time.
fn rate(pass: &Measurement, covers: Covers, counted: fn(&DirectionResult) -> u64) -> f64 {
    let Some(job) = pass.jobs.first() else {
        return 0.0;
    };
    let done = job
        .directions
        .iter()
        .filter(|(direction, _)| match direction {
            Direction::Read => covers != Covers::Writes,
            Direction::Write | Direction::Trim => covers != Covers::Reads,
            _ => false,
        });
    let sum: u64 = done.map(|(_, result)| counted(result)).sum();
    sum as f64 * 1e9 / job.elapsed_ns.max(1) as f64
}

/// No limit held anything back: what the programs saw was the latency of the medium.
pub(super) fn never_bound(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "A faster volume of the same latency brings these programs nothing; more \
                  operations in flight, or a volume of lower latency, would.";
    per_case(cases, "never-bound", Some(advice), |case| {
        let load = observed(case)?;
        let longest = load.waited.iter().map(|limit| limit.waited_ns).max();
        let most = share(load, longest.unwrap_or(0));
        (most < MENTIONED && case.ios() > 0).then(|| {
            info(
                "no limit of the volume held operations back for as much as 1 % of {}",
                [time(Nanos(load.active_ns))],
            )
            .with("in flight on average", load.in_flight_mean, "operations")
        })
    })
}

/// Replies came so late that the machine, and not the model, made a figure by which the volume is judged:
/// its median, or a tail that would be called heavy.
pub(super) fn late_replies(cases: &Cases<'_>) -> Vec<Finding> {
    let advice =
        "Give the server a processor of its own (and `emulate --spin on`), or the clients fewer.";
    per_case(cases, "late-replies", Some(advice), |case| {
        let late = observed(case)?.lateness.as_ref()?;
        let job = case.only_job()?;
        let served = job.directions.values();
        let slowest = served
            .clone()
            .map(|direction| direction.service.p99_ns)
            .max()? as f64;
        let most = served.max_by_key(|direction| direction.ios)?;
        // The measured latency contains the lateness; what is left was the model's decision.
        let median = most.service.p50_ns;
        let modelled = median.checked_sub(late.p50_ns).filter(|ns| *ns > 0)? as f64;
        let is_heavy = slowest > HEAVY * modelled;
        let hit = if late.p50_ns as f64 > DISTORTED * modelled {
            warning(
                "half of the replies were sent {} or more after the model's moment, whose median \
                 latency is {}: the latencies are this machine's",
                [delay(late.p50_ns as f64), delay(modelled)],
            )
        } else if is_heavy && late.p99_ns as f64 > slowest / 2.0 {
            warning(
                "1 % of the replies were sent {} or more after the model's moment, whose median \
                 latency is {}: the tail is this machine's",
                [delay(late.p99_ns as f64), delay(modelled)],
            )
        } else {
            return None;
        };
        Some(
            hit.with("late by, p50", late.p50_ns as f64, "ns")
                .with("late by, p99", late.p99_ns as f64, "ns")
                .with("late by, max", late.max_ns as f64, "ns"),
        )
    })
}

#[cfg(test)]
mod tests {
    use blocklab_device::{LimitUnit, Origin};
    use blocklab_record::{Record, WaitedFor};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn limit(owner: &str, volumes: Option<u32>, value: f64) -> Limit {
        Limit {
            name: LimitName {
                owner: owner.to_owned(),
                volumes,
                kind: LimitKind::Rate {
                    limiter: "IOPS".to_owned(),
                    covers: Covers::All,
                },
            },
            value,
            unit: LimitUnit::Iops,
            origin: Origin::Given,
        }
    }

    /// Ten seconds of 10,000 IOPS, which waited so long for the volume.
    fn served(waited_ns: u64) -> Record {
        let sketch = Sketch::of_rates(&[10_000.0]);
        let mut record = record(&[sketch]);
        let (volume, instance) = (limit("gp3", Some(1), 10_000.0), limit("m5", None, 40_000.0));
        let late = record.measurements[0].jobs[0].directions[&Direction::Read]
            .service
            .clone();
        record.measurements[0].observed = Some(Box::new(ObservedLoad {
            waited: vec![WaitedFor {
                limit: volume.name.clone(),
                waited_ns,
            }],
            lateness: Some(late),
            ..crate::testing::observed()
        }));
        record.targets[0].limits = vec![volume, instance];
        record
    }

    #[test]
    fn the_limit_that_bound_and_the_next_one() {
        let finding = the(&served(7_100_000_000), "bound-by");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: gp3: IOPS held operations back for 71 % of the time; next is m5: IOPS, \
             used to 25 %."
        );
        // The story: of two unlike volumes, the limit of the one was said to be the next of the other.
        let mut unlike = served(7_100_000_000);
        unlike.targets[0].limits = vec![limit("gp2", Some(2), 20_000.0)];
        let finding = the(&unlike, "bound-by");
        assert!(
            !finding.statement.contains("next is"),
            "{}",
            finding.statement
        );
        silent(&served(7_100_000_000), "never-bound");
        silent(&served(1_000), "bound-by");
        the(&served(1_000), "never-bound");
    }

    #[test]
    fn what_was_done_on_purpose_is_named_with_its_time() {
        let mut record = served(0);
        let load = record.measurements[0].observed.as_mut().expect("served");
        let event = |action, command: &str, hits| ControlEvent {
            at_ns: 10_000_000_000,
            action,
            command: command.to_owned(),
            until_ns: None,
            hits,
        };
        load.events = vec![
            event(ControlAction::Set, "set iops=16000", 0),
            event(ControlAction::Error, "fault error 1%", 31),
            event(ControlAction::Attach, "fault attach", 0),
        ];
        let finding = the(&record, "injected-faults");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: faults were injected on purpose: `fault error 1%` at 10.0 s."
        );
        assert_eq!(finding.evidence[0].value, 31.0);
        let finding = the(&record, "changed-under-way");
        assert!(finding.statement.contains("`set iops=16000` at 10.0 s"));
        silent(&served(0), "injected-faults");
        silent(&served(0), "changed-under-way");
    }

    #[test]
    fn a_run_of_our_own_has_no_observed_load() {
        let record = record(&[Sketch::default()]);
        for rule in ["bound-by", "never-bound", "late-replies", "injected-faults"] {
            silent(&record, rule);
        }
    }

    /// The story: every served run was to be treated with caution, as 1 % of its replies came a millisecond
    /// late, though no figure that anybody judges by was another one for that.
    #[test]
    fn late_replies_are_reported_where_they_change_a_verdict() {
        let late_by = |median, p99, served| {
            let mut record = served_p99(served);
            let load = record.measurements[0].observed.as_mut().expect("served");
            let late = load.lateness.as_mut().expect("known");
            (late.p50_ns, late.p99_ns) = (median, p99);
            record
        };
        silent(&late_by(20_000, 30_000, 900_000), "late-replies");
        silent(&late_by(20_000, 850_000, 900_000), "late-replies");
        silent(&late_by(20_000, 850_000, 9_000_000), "late-replies");
        let tail = the(&late_by(20_000, 8_500_000, 9_000_000), "late-replies");
        assert!(tail.statement.contains("the tail is this machine's"));
        let mut record = late_by(200_000, 210_000, 900_000);
        let all = the(&record, "late-replies");
        assert!(all.statement.contains("half of the replies"));
        // The story: the lateness of all replies was taken off the median of the quickest direction, here a
        // single flush of 150 µs, which left nothing, and the finding was gone.
        let directions = &mut record.measurements[0].jobs[0].directions;
        let mut flush = directions[&Direction::Read].clone();
        (flush.ios, flush.service.p50_ns) = (1, 150_000);
        directions.insert(Direction::Sync, flush);
        the(&record, "late-replies");
    }

    fn served_p99(nanos: u64) -> Record {
        let mut record = served(0);
        let job = &mut record.measurements[0].jobs[0];
        let service = &mut job
            .directions
            .get_mut(&Direction::Read)
            .expect("it reads")
            .service;
        (service.p50_ns, service.p99_ns) = (500_000, nanos);
        record
    }
}
