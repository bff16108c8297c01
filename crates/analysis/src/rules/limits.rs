//! Limits that the record carries: which of them a case runs at, or above.

use std::collections::BTreeSet;

use blocklab_device::Covers;
use blocklab_units::{Nanos, stated};
use blocklab_workload::Direction;

use super::hit::{Hit, info, joined, per_case, warning};
use super::processor;
use super::sibling::{Axis, families, is_flat};
use super::statement::{Slot, fixed, number, percent, time};
use crate::known::{KnownLimits, KnownRate, Level};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// A rate is that of a limit within this share of it.
pub(crate) const NEAR: f64 = 0.025;
/// Within this, by itself, it is no other's.
const VERY_NEAR: f64 = 0.005;
/// A deeper sibling that gains so much shows that nothing held this one but its latency.
const GAIN: f64 = 1.25;
/// So many times what fills the limit is more in flight than helps.
const OVER: f64 = 2.0;
/// What a limiter saves up while idle, in seconds of its own rate. Providers document none;
/// published runs of a few seconds show it.
const SAVED: f64 = 1.0;

/// A case whose rate is that of a limit.
struct At<'a> {
    case: &'a CaseView<'a>,
    limit: &'a KnownRate<'a>,
    rate: f64,
}

impl At<'_> {
    fn share(&self) -> f64 {
        self.rate / self.limit.value
    }
}

const STEADY: &str = "{} is the limit, {} for {}; the rate is {} of it";
const BURST: &str = "{} is the limit, {} for {}; the rate is {} of it, which from a full bucket \
                     lasts {} and leaves {}";

/// The rate is that of a known limit, whatever else it depends on.
pub(super) fn at_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let limits = KnownLimits::of(cases.record);
    let depths = families(cases, Axis::InFlight);
    let found: Vec<At<'_>> = cases
        .list
        .iter()
        .filter_map(|case| at(cases, &limits, &depths, case))
        .collect();
    let finding = |limit: &KnownRate<'_>| {
        let here = found.iter().filter(|at| std::ptr::eq(at.limit, limit));
        let hits = here.map(|at| (at.case.name, hit(at, &limits, &depths)));
        joined(cases, "at-limit", Some(advice(limit)), hits)
    };
    limits.list.iter().flat_map(finding).collect()
}

/// The cases whose rate a known limit explains: of them nothing has to be guessed.
pub(super) fn explained<'a>(cases: &Cases<'a>) -> BTreeSet<&'a str> {
    let limits = KnownLimits::of(cases.record);
    let depths = families(cases, Axis::InFlight);
    let at_one = |case: &&CaseView<'a>| at(cases, &limits, &depths, case).is_some();
    cases
        .list
        .iter()
        .filter(at_one)
        .map(|case| case.name)
        .collect()
}

fn advice(limit: &KnownRate<'_>) -> &'static str {
    match limit.counts_operations() {
        true => {
            "More load only adds latency. Larger blocks move more bytes for the same operations; \
             more operations take a volume or an instance with a higher limit."
        }
        false => {
            "More load only adds latency; more bytes take a volume or an instance with a higher \
              limit."
        }
    }
}

/// The limit nearest to the rate. A baseline holds only once a bucket is empty, so it comes after
/// all others.
fn at<'a>(
    cases: &Cases<'_>,
    limits: &'a KnownLimits<'a>,
    depths: &[Vec<&CaseView<'_>>],
    case: &'a CaseView<'a>,
) -> Option<At<'a>> {
    if !processor::shows_target(cases, case) {
        return None;
    }
    let (grows, queues) = (grows(depths, case), queues(case, limits));
    let can = |limit: &KnownRate<'_>| !grows || (queues && limit.level == Level::Baseline);
    let all = limits.list.iter().map(|limit| At {
        case,
        limit,
        rate: rate(case, limit),
    });
    let near = all.filter(|at| (at.share() - 1.0).abs() <= NEAR && can(at.limit));
    near.min_by(|a, b| {
        order(a)
            .partial_cmp(&order(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}

fn order(at: &At<'_>) -> (bool, f64) {
    let baseline = at.limit.level == Level::Baseline;
    (baseline, (at.share() - 1.0).abs())
}

/// Whether more in flight gave clearly more.
fn grows(depths: &[Vec<&CaseView<'_>>], case: &CaseView<'_>) -> bool {
    let family = depths
        .iter()
        .find(|f| f.iter().any(|m| m.name == case.name));
    let mut deeper = family
        .into_iter()
        .flatten()
        .filter(|other| other.slots() > case.slots());
    deeper.any(|other| other.iops() >= GAIN * case.iops())
}

/// Whether more is in flight than the medium itself would hold at this rate: something keeps the
/// operations waiting, and a sibling that got more met it with its bucket fuller.
fn queues(case: &CaseView<'_>, limits: &KnownLimits<'_>) -> bool {
    in_service(case, limits).is_some_and(|busy| case.mean_in_flight() > GAIN * busy)
}

/// What a limit counts of a case, a second, in its own unit.
fn rate(case: &CaseView<'_>, limit: &KnownRate<'_>) -> f64 {
    let counts = |direction| match limit.covers {
        Covers::All => direction != Direction::Sync,
        Covers::Reads => direction == Direction::Read,
        Covers::Writes => [Direction::Write, Direction::Trim].contains(&direction),
    };
    let directions = case.row.directions.iter();
    let counted = directions.filter(|it| counts(it.direction));
    counted
        .map(|it| limit.counted(it.iops.value, it.bytes_per_s.value))
        .sum()
}

fn hit(at: &At<'_>, limits: &KnownLimits<'_>, depths: &[Vec<&CaseView<'_>>]) -> Hit {
    let (limit, case) = (at.limit, at.case);
    let share = at.share() * 100.0;
    let [value, how, name] = named(limit);
    let slots = [value, how, name, percent(share)];
    let evidence = |hit: Hit| {
        hit.confidence(confidence(at, depths))
            .with("rate", at.rate, limit.unit())
            .with("limit", limit.value, limit.unit())
            .with("share of the limit", share, "%")
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
    let Some(enough) = in_service(case, limits).map(f64::ceil) else {
        return hit;
    };
    let hit = hit.with("in flight that fill the limit", enough, "");
    match case.slots() as f64 > OVER * enough {
        true => hit.alone(
            "; {} in flight would do, {} only wait longer",
            [number(enough), number(case.slots() as f64)],
        ),
        false => hit,
    }
}

/// The figure of a limit, how it is known, and its name.
fn named(limit: &KnownRate<'_>) -> [Slot; 3] {
    let name = limit.limit.name.to_string();
    let how = limit.limit.origin.how();
    [in_unit(limit.value, limit.unit()), fixed(how), fixed(name)]
}

/// A single operation in flight may have that latency by chance, and a baseline needs an empty
/// bucket that nobody saw.
fn confidence(at: &At<'_>, depths: &[Vec<&CaseView<'_>>]) -> Confidence {
    let very_near = (at.share() - 1.0).abs() <= VERY_NEAR && at.case.slots() > 1;
    let sure = (very_near || is_flat(depths, at.case)) && at.limit.level != Level::Baseline;
    match sure {
        true => Confidence::High,
        false => Confidence::Medium,
    }
}

/// Operations in flight that reach this rate where nothing waits: rate times latency. Only for
/// random load, whose latency is known.
fn in_service(case: &CaseView<'_>, limits: &KnownLimits<'_>) -> Option<f64> {
    if !case.jobs().all(|job| job.is_random()) {
        return None;
    }
    let each = case.row.directions.iter().map(|it| {
        let bytes = it.bytes_per_s.value / it.iops.value;
        Some(it.iops.value * limits.latency_ns(it.direction, bytes)? / 1e9)
    });
    each.sum()
}

/// `125 MiB/s`
fn in_unit(value: f64, unit: &'static str) -> Slot {
    fixed(format!("{} {unit}", stated(value)))
}

/// The rate is above the limit that should bind it, by what a limiter saves up while idle.
pub(super) fn above_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let limits = KnownLimits::of(cases.record);
    let advice = "Run for at least a minute, or use a longer ramp, to see what is sustained.";
    per_case(cases, "above-limit", Some(advice), |case| {
        saved_up(cases, &limits, case)
    })
}

/// Merged operations count as fewer than the host sees, so sequential ones show nothing of a
/// limit on operations.
fn saved_up(cases: &Cases<'_>, limits: &KnownLimits<'_>, case: &CaseView<'_>) -> Option<Hit> {
    let random = case.jobs().all(|job| job.is_random());
    let counts = |limit: &&KnownRate<'_>| random || !limit.counts_operations();
    let above = limits.list.iter().filter(counts);
    let above = above.filter(|limit| limit.level != Level::Baseline);
    let share = |limit: &&KnownRate<'_>| rate(case, limit) / limit.value;
    let limit = above.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let over = share(&limit);
    let seconds = case.measured_ns() as f64 / case.passes.len() as f64 / 1e9;
    // What is in flight at the end lengthens the pass a little.
    let most = (1.0 + SAVED / seconds) * (1.0 + NEAR);
    let by_saving = over > 1.0 + NEAR && over <= most;
    let [value, how, name] = named(limit);
    (by_saving && processor::shows_target(cases, case)).then(|| {
        warning(
            "the rate is {} of a limit of {}, {} for {}: a limiter saves up about a second of its \
             rate while idle, and {} a pass are too short to spend it",
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
        .with("rate", rate(case, limit), limit.unit())
        .with("limit", limit.value, limit.unit())
        .with("share of the limit", over * 100.0, "%")
        .with("measured time of a pass", seconds, "s")
    })
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
