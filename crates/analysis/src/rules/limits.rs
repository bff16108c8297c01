//! Limits that the model knows: which of them hold a case back, or were passed by what they had
//! saved up.

use std::collections::BTreeSet;

use blocklab_device::LimitName;
use blocklab_record::{Measurement, Record};
use blocklab_units::{Nanos, stated};

use super::hit::{Hit, info, joined, per_case, warning};
use super::statement::{Slot, fixed, number, percent, speed, time, word};
use crate::held::{Bound, Level, NEAR, UsedLimit, bound, mean_served, used_limits};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// So many times what fills the limit is more in flight than helps.
const OVER: f64 = 2.0;
/// What a limiter saves up while idle, in seconds of its own rate. Providers document none;
/// published runs of a few seconds show it.
pub(crate) const SAVED: f64 = 1.0;
/// Beyond this the saved-up second spoils the figure of a pass: it lasts less than ten seconds.
const SPOILED: f64 = 1.12;

const STEADY: &str = "{} is the limit{}, {} for {}; the rate is {} of it{}";
const BURST: &str = "{} is the limit{}, {} for {}; the rate is {} of it{}, which from a full bucket \
                     lasts {} and leaves {}";

/// The limits for which the operations of a case waited.
pub(super) fn at_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let (mut of_operations, mut of_bytes) = (Vec::new(), Vec::new());
    for case in &cases.list {
        let Bound::Limits(mut held) = bound(cases, case) else {
            continue;
        };
        // What changed under way has a finding of its own, and no rate of the whole pass.
        held.retain(|limit| !changed_under_way(case, limit));
        for alike in alike(held) {
            let hits = match alike[0].counts_operations() {
                true => &mut of_operations,
                false => &mut of_bytes,
            };
            hits.push((case.name, hit(cases.record, case, &alike)));
        }
    }
    let finding = |advice, hits| joined(cases, "at-limit", Some(advice), hits);
    [
        finding(MORE_OPERATIONS, of_operations),
        finding(MORE_BYTES, of_bytes),
    ]
    .concat()
}

const MORE_OPERATIONS: &str = "More load only adds latency. Larger blocks move more bytes for the \
    same operations; more operations take a volume or an instance with a higher limit.";
const MORE_BYTES: &str = "More load only adds latency; more bytes take a volume or an instance with \
    a higher limit.";

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

/// A finding on equal limits of one case.
fn hit(record: &Record, case: &CaseView<'_>, alike: &[UsedLimit<'_>]) -> Hit {
    let limit = &alike[0];
    let share = alike.iter().map(UsedLimit::share).sum::<f64>() / alike.len() as f64;
    let [value, how, name] = named(limit);
    let whose = fixed(whose(record, alike));
    let saved = match share > 1.0 + NEAR {
        true => fixed(", by the second that it had saved up"),
        false => fixed(""),
    };
    let slots = [value, whose, how, name, percent(share * 100.0), saved];
    let rate = alike.iter().map(|it| it.rate).sum::<f64>();
    let waited = alike.iter().map(|it| it.waited).fold(0.0, f64::max);
    let evidence = |hit: Hit| {
        hit.with("rate", rate, limit.unit())
            .with("limit", limit.value(), limit.unit())
            .with("share of the limit", share * 100.0, "%")
            .with(
                "share of the time spent waiting for it",
                waited * 100.0,
                "%",
            )
            .with("in flight", case.slots() as f64, "")
    };
    let hit = match limit.level {
        Level::Burst { lasts, leaves } => {
            let lasting = time(Nanos((lasts * 1e9) as u64));
            let left = [lasting, in_unit(leaves, limit.unit())];
            evidence(info(BURST, [&slots[..], &left].concat()))
                .with("what the burst leaves", leaves, limit.unit())
                .with("a full bucket lasts", lasts, "s")
        }
        Level::Steady | Level::Baseline => evidence(info(STEADY, slots)),
    };
    let enough = mean_served(case).ceil().max(1.0);
    let hit = hit.with("in flight that fill the limit", enough, "");
    match case.slots() as f64 > OVER * enough {
        true => hit.alone(
            "; {} in flight would do, {} only wait longer",
            [number(enough), number(case.slots() as f64)],
        ),
        false => hit,
    }
}

/// Which targets of several the limits hold back: ` of each of 2 targets`, ` of gp3:1TiB`.
fn whose(record: &Record, alike: &[UsedLimit<'_>]) -> String {
    let concerned: BTreeSet<u32> = alike.iter().flat_map(|it| it.targets).copied().collect();
    let all = record.targets.len();
    match (all, alike, concerned.len()) {
        (1, ..) => String::new(),
        (_, [one], 2..) => format!(" of {} targets together", one.targets.len()),
        (_, _, many) if many == all => format!(" of each of {many} targets"),
        _ => {
            let names = concerned
                .iter()
                .filter_map(|place| record.targets.get(*place as usize));
            let names: Vec<_> = names.map(|target| short(&target.path)).collect();
            format!(" of {}", names.join(" and "))
        }
    }
}

/// The volume of a modelled target, without its clock and its instance: `gp3:1TiB`.
fn short(path: &str) -> &str {
    let address = path.split_once(':').map_or(path, |(_, address)| address);
    address.split('@').next().unwrap_or(address)
}

/// The figure of a limit, how it is known, and its name.
pub(super) fn named(limit: &UsedLimit<'_>) -> [Slot; 3] {
    let name = limit.limit.name.to_string();
    let how = limit.limit.origin.how();
    [
        in_unit(limit.value(), limit.unit()),
        fixed(how),
        fixed(name),
    ]
}

/// `125 MiB/s`
pub(super) fn in_unit(value: f64, unit: &'static str) -> Slot {
    fixed(format!("{} {unit}", stated(value)))
}

/// Credits that run empty so soon after the start of a pass were none: it has one level only.
const SOON: Nanos = Nanos::from_secs(10);
/// The same near its end, as a share of it.
const NEARLY_ALL: f64 = 0.98;

/// A bucket of credits that ran empty in the midst of a pass: when, and in which pass.
fn ran_empty<'a>(case: &CaseView<'a>, limit: &UsedLimit<'_>) -> Option<(&'a Measurement, Nanos)> {
    let first = *limit.emptied.first()?;
    let is_it = |pass: &&&Measurement| {
        let model = pass.model.iter();
        let mut moments = model
            .flat_map(|it| &it.limits)
            .flat_map(|it| &it.emptied_at_ns);
        moments.any(|at| *at == first.0)
    };
    let pass = case.passes.iter().find(is_it)?;
    let within = first > SOON && (first.0 as f64) < NEARLY_ALL * pass.elapsed_ns as f64;
    within.then_some((*pass, first))
}

/// Whether the burst of which this is a level ended in the midst of a pass.
fn changed_under_way(case: &CaseView<'_>, limit: &UsedLimit<'_>) -> bool {
    match limit.level {
        Level::Baseline => ran_empty(case, limit).is_some(),
        Level::Burst { .. } => {
            let passes = case.passes.iter().filter_map(|pass| pass.model.as_ref());
            let mut all = passes.flat_map(|model| &model.limits);
            all.any(|it| {
                is_baseline_of(&it.limit, &limit.limit.name) && !it.emptied_at_ns.is_empty()
            })
        }
        Level::Steady => false,
    }
}

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
        let used = used_limits(cases.record, case);
        let emptied = used.iter().filter(|it| it.level == Level::Baseline);
        let found = emptied.filter_map(|limit| Some((limit, ran_empty(case, limit)?)));
        let (limit, (pass, at)) = found.min_by_key(|(_, (_, at))| *at)?;
        let [left, how, name] = named(limit);
        let before = rate_between(pass, Nanos::ZERO, at);
        let times = limit.emptied.len() as f64;
        let which = match case.passes.len() {
            1 => String::new(),
            _ => format!(" of pass {}", pass.pass),
        };
        let hit = warning(
            "credits were used up after {}{}: {} IOPS before, and then {}, {} for {}",
            [time(at), word(which), speed(before), left, how, name],
        );
        let hit = match limit.emptied.get(1) {
            Some(again) => hit.alone(
                "; refilled, they were used up again after {}, {} times in all",
                [time(*again), number(times)],
            ),
            None => hit,
        };
        Some(
            hit.with("used up after", at.as_secs_f64(), "s")
                .with("before", before, "IOPS")
                .with("left", limit.value(), limit.unit())
                .with("times", times, ""),
        )
    })
}

/// Whether credits that ran empty explain a fall of the rate.
pub(super) fn fell_by_credits(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let used = used_limits(cases.record, case);
    let mut emptied = used.iter().filter(|it| it.level == Level::Baseline);
    emptied.any(|limit| ran_empty(case, limit).is_some())
}

/// Operations a second of a pass between two moments since its start.
fn rate_between(pass: &Measurement, from: Nanos, until: Nanos) -> f64 {
    let begins = |end: u64, length: u64| end.saturating_sub(length);
    let inside = pass
        .series
        .iter()
        .filter(|it| begins(it.end_ns, it.length_ns) >= from.0 && it.end_ns <= until.0);
    let (ios, ns) = inside.fold((0, 0), |(ios, ns), it| {
        (ios + it.read.ios + it.write.ios, ns + it.length_ns)
    });
    ios as f64 * 1e9 / ns.max(1) as f64
}

/// The rate is above the limit that should bind it, by what a limiter saves up while idle.
pub(super) fn above_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Run for at least a minute, or use a longer ramp, to see what is sustained.";
    per_case(cases, "above-limit", Some(advice), |case| {
        let used = used_limits(cases.record, case);
        let lasting = used.iter().filter(|limit| limit.level != Level::Baseline);
        let limit = lasting.max_by(|a, b| a.share().total_cmp(&b.share()))?;
        let over = limit.share();
        let seconds = case.measured_ns() as f64 / case.passes.len() as f64 / 1e9;
        // What is in flight at the end lengthens the pass a little.
        let most = (1.0 + SAVED / seconds) * (1.0 + NEAR);
        (over > SPOILED && over <= most).then(|| saved_up(limit, seconds))
    })
}

fn saved_up(limit: &UsedLimit<'_>, seconds: f64) -> Hit {
    let [value, how, name] = named(limit);
    let over = limit.share();
    warning(
        "the rate is {} of a limit of {}, {} for {}: a limiter saves up about a second of its rate \
         while idle, and {} a pass are too short to spend it",
        [
            percent(over * 100.0),
            value,
            how,
            name,
            time(Nanos((seconds * 1e9) as u64)),
        ],
    )
    .graded(over)
    .confidence(Confidence::Medium)
    .with("rate", limit.rate, limit.unit())
    .with("limit", limit.value(), limit.unit())
    .with("share of the limit", over * 100.0, "%")
    .with("measured time of a pass", seconds, "s")
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Limit, LimitKind, LimitName, LimitUnit, Operation, Origin};
    use blocklab_record::Record;

    use super::*;
    use crate::testing::{Sketch, found, record, silent, the};

    fn limit(owner: &str, kind: LimitKind, value: f64, unit: LimitUnit, origin: Origin) -> Limit {
        Limit {
            name: LimitName {
                owner: owner.to_owned(),
                volumes: Some(1),
                kind,
            },
            value,
            unit,
            origin,
        }
    }

    fn rate(limiter: &str) -> LimitKind {
        LimitKind::Rate {
            limiter: limiter.to_owned(),
            covers: Covers::All,
        }
    }

    /// Baseline, burst and bucket of credits.
    fn credits(owner: &str, limiter: &str, values: [f64; 3], unit: LimitUnit) -> [Limit; 3] {
        let limiter = || limiter.to_owned();
        let held = match unit {
            LimitUnit::Iops => LimitUnit::Operations,
            _ => LimitUnit::Bytes,
        };
        let of = |kind, value, unit| {
            let origin = Origin::documented("guide", "2024");
            limit(owner, kind, value, unit, origin)
        };
        let [baseline, burst, bucket] = values;
        [
            of(LimitKind::Baseline { limiter: limiter() }, baseline, unit),
            of(LimitKind::Burst { limiter: limiter() }, burst, unit),
            of(LimitKind::Bucket { limiter: limiter() }, bucket, held),
        ]
    }

    /// `gp3:1TiB,iops=6000,throughput=500@r5d.xlarge`, as its record has it.
    fn gp3() -> Vec<Limit> {
        let documented = |kind, value, unit| {
            let origin = Origin::documented("guide", "2024");
            limit("gp3", kind, value, unit, origin)
        };
        let measured =
            |kind, value, unit| limit("gp3", kind, value, unit, Origin::measured("r5d.xlarge"));
        let what = "base IOPS".to_owned();
        let operation = Operation::Read;
        let mut all = vec![
            documented(rate("volume IOPS"), 6000.0, LimitUnit::Iops),
            documented(rate("volume throughput"), 500.0, LimitUnit::MibPerS),
            measured(LimitKind::Latency { operation }, 600.0, LimitUnit::Micros),
            measured(
                LimitKind::LatencyPerKib { operation },
                2.2,
                LimitUnit::MicrosPerKib,
            ),
        ];
        let instance = "r5d.xlarge";
        let (iops, bytes) = ([6000.0, 18_750.0, 22_950_000.0], [143.75, 593.75, 810e9]);
        all.extend(credits(instance, "EBS IOPS", iops, LimitUnit::Iops));
        all.extend(credits(
            instance,
            "EBS throughput",
            bytes,
            LimitUnit::MbPerS,
        ));
        all.push(documented(
            LimitKind::Bound { what },
            3000.0,
            LimitUnit::Iops,
        ));
        all
    }

    fn with(limits: Vec<Limit>, sketches: &[Sketch]) -> Record {
        let mut record = record(sketches);
        record.targets[0].limits = limits;
        record
    }

    fn reads(case: &str, iops: f64, kib: u64, depth: u32) -> Sketch {
        Sketch {
            iops: vec![iops; 3],
            block: kib * 1024,
            depth,
            ..Sketch::named(case)
        }
    }

    #[track_caller]
    fn check(sketch: Sketch, expected: &str, confidence: Confidence) {
        let finding = the(&with(gp3(), &[sketch]), "at-limit");
        assert_eq!(finding.statement, expected);
        assert_eq!(finding.confidence, confidence);
    }

    #[test]
    fn the_limit_has_a_name_and_an_origin() {
        check(
            reads("rand4k-q32", 5990.0, 4, 32),
            "rand4k-q32: 6,000 IOPS is the limit, documented for gp3: volume IOPS; the rate is \
             100 % of it; 4 in flight would do, 32 only wait longer.",
            Confidence::High,
        );
        check(
            reads("rand4k-q5", 5880.0, 4, 5),
            "rand4k-q5: 6,000 IOPS is the limit, documented for gp3: volume IOPS; the rate is \
             98 % of it.",
            Confidence::Medium,
        );
        check(
            reads("rand128k-q5", 4000.0, 128, 5),
            "rand128k-q5: 500 MiB/s is the limit, documented for gp3: volume throughput; the \
             rate is 100 % of it.",
            Confidence::High,
        );
    }

    /// 2,000 reads of 4 KiB, one at a time, are 500 µs each and no limit of anybody's.
    #[test]
    fn far_from_every_limit_there_is_no_finding() {
        silent(&with(gp3(), &[reads("q1", 2000.0, 4, 1)]), "at-limit");
        let missed = 6000.0 * (1.0 - NEAR) - 10.0;
        silent(&with(gp3(), &[reads("q4", missed, 4, 4)]), "at-limit");
        silent(&record(&[reads("q32", 6000.0, 4, 32)]), "at-limit");
    }

    /// 3,000 is what a gp3 without a setting gets: here it is a bound of the type, and chance.
    #[test]
    fn bounds_of_what_may_be_bought_hold_nothing_back() {
        silent(&with(gp3(), &[reads("q2", 3000.0, 4, 2)]), "at-limit");
    }

    #[test]
    fn what_grows_with_depth_is_at_no_limit() {
        let sketches = [reads("q4", 6000.0, 4, 4), reads("q32", 18_000.0, 4, 32)];
        silent(&with(gp3(), &sketches), "at-limit");
    }

    /// 3.33 ms where the medium takes 0.61 ms: the baseline holds it, and the deeper sibling that
    /// got more had credits left.
    #[test]
    fn what_waits_at_its_baseline_is_not_held_by_latency() {
        let mut limits = gp3().split_off(2);
        limits.truncate(2);
        let values = [300.0, 3000.0, 5.4e6];
        limits.extend(credits("gp2", "burst credits", values, LimitUnit::Iops));
        let sketches = [reads("q1", 300.0, 4, 1), reads("q32", 3000.0, 4, 32)];
        let record = with(limits, &sketches);
        let subjects = found(&record, "at-limit").into_iter().map(|f| f.subject);
        assert_eq!(subjects.collect::<Vec<_>>(), [["q1"], ["q32"]]);
        silent(&record, "latency-bound");
    }

    /// The published r5d.xlarge: 593.75 MB/s for half an hour, 143.75 MB/s after it.
    #[test]
    fn a_burst_tells_what_it_leaves_and_when() {
        let mut limits = gp3();
        limits[1].value = 1000.0;
        let record = with(limits, &[reads("rand128k", 593.75e6 / 131_072.0, 128, 4)]);
        let finding = the(&record, "at-limit");
        assert_eq!(
            finding.statement,
            "rand128k: 593.75 MB/s is the limit, documented for r5d.xlarge: EBS throughput (burst); \
             the rate is 100 % of it, which from a full bucket lasts 30 min and leaves \
             143.75 MB/s."
        );
        let lasts = finding.evidence.iter().find(|e| e.unit == "s").unwrap();
        assert_eq!(lasts.value, 1800.0);
    }

    #[test]
    fn equal_volumes_add_up_and_directions_have_their_own() {
        let mut thirty = gp3();
        thirty.truncate(1);
        thirty[0].name.volumes = Some(30);
        thirty[0].value = 3000.0;
        let finding = the(&with(thirty, &[reads("a", 90_000.0, 4, 256)]), "at-limit");
        assert!(
            finding.statement.contains("90,000 IOPS is the limit"),
            "{}",
            finding.statement
        );
        let kind = LimitKind::Rate {
            limiter: "disk IOPS".to_owned(),
            covers: Covers::Writes,
        };
        let writes = vec![limit("local", kind, 1e4, LimitUnit::Iops, Origin::Given)];
        let record = with(writes.clone(), &[reads("a", 10_000.0, 4, 32)]);
        silent(&record, "at-limit");
        let written = Sketch {
            direction: "write",
            ..reads("a", 10_000.0, 4, 32)
        };
        let finding = the(&with(writes, &[written]), "at-limit");
        assert!(
            finding
                .statement
                .contains("10,000 IOPS is the limit, given for local"),
            "{}",
            finding.statement
        );
    }

    /// The story: a described volume was called `2 x ssd`, and its 3,000 IOPS were taken for those
    /// of two volumes; a cap was called `volume IOPS (peak)`, and was taken for no limit at all.
    /// The finding vanished both times, because names for people were read back.
    #[test]
    fn no_name_changes_what_a_limit_is() {
        let named = [
            ("2 x ssd", "volume IOPS"),
            ("ssd", "volume IOPS (peak)"),
            ("ssd", "volume IOPS (writes)"),
            ("ssd", "volume IOPS (burst)"),
        ];
        for (owner, limiter) in named {
            let kind = rate(limiter);
            let limits = vec![limit(owner, kind, 3e3, LimitUnit::Iops, Origin::Given)];
            let finding = the(&with(limits, &[reads("a", 3000.0, 4, 32)]), "at-limit");
            let start = format!("a: 3,000 IOPS is the limit, given for {owner}: {limiter};");
            assert!(
                finding.statement.starts_with(&start),
                "{}",
                finding.statement
            );
        }
    }

    #[test]
    fn cases_at_the_same_limit_share_a_finding() {
        let sketches = [
            reads("a", 6000.0, 4, 32),
            reads("b", 6000.0, 16, 32),
            reads("c", 4000.0, 128, 32),
        ];
        let record = with(gp3(), &sketches);
        let subjects = found(&record, "at-limit").into_iter().map(|f| f.subject);
        let subjects: Vec<_> = subjects.collect();
        assert_eq!(subjects, [vec!["a", "b"], vec!["c"]]);
        // What is known is not guessed as well.
        silent(&record, "iops-cap");
    }

    /// 6,902 reads a second on a volume of 6,000 that had rested: two seconds do not spend what
    /// it had saved up; ten seconds at that rate would be something else.
    #[test]
    fn a_short_run_spends_what_the_limiter_saved_up() {
        let lasting = |seconds| Sketch {
            seconds,
            ..reads("rand4k", 6900.0, 4, 32)
        };
        let finding = the(&with(gp3(), &[lasting(2)]), "above-limit");
        assert!(
            finding.statement.starts_with(
                "rand4k: the rate is 115 % of a limit of 6,000 IOPS, documented for gp3: volume IOPS"
            ),
            "{}",
            finding.statement
        );
        silent(&with(gp3(), &[lasting(10)]), "above-limit");
        silent(&with(gp3(), &[reads("a", 6000.0, 4, 32)]), "above-limit");
    }

    /// The story: "In 13 of 28 cases, the rate is 105 to 150 % of a limit of 125 to 6,000 MiB/s":
    /// the 6,000 were operations a second of another limit.
    #[test]
    fn only_cases_above_the_same_limit_share_a_finding() {
        let lasting = |case: &str, iops, kib| Sketch {
            seconds: 2,
            ..reads(case, iops, kib, 32)
        };
        let sketches = [
            lasting("small", 6900.0, 4),
            lasting("smaller", 7500.0, 4),
            lasting("large", 700.0, 1024),
        ];
        let mut findings = found(&with(gp3(), &sketches), "above-limit").into_iter();
        let mut statement = || {
            findings
                .next()
                .map(|finding| finding.statement)
                .unwrap_or_default()
        };
        let (one, other) = (statement(), statement());
        assert!(
            one.starts_with("large: the rate is 140 % of a limit of 500 MiB/s,"),
            "{one}"
        );
        assert!(
            other.starts_with(
                "small and smaller: the rate is 115 to 125 % of a limit of 6,000 IOPS,"
            ) && other.ends_with("; worst in smaller."),
            "{other}"
        );
        assert_eq!(statement(), "");
    }

    #[test]
    fn several_targets_are_not_judged() {
        let mut record = with(gp3(), &[reads("a", 6000.0, 4, 32)]);
        record.targets.push(record.targets[0].clone());
        silent(&record, "at-limit");
    }
}
