//! The gate on a figure of a run without a comparison: `p99>5ms`, `iops<5000`.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{Latency, Measurement, Record, Statistic};
use blocklab_stats::{Histogram, Interval, Summary, confidence, passes_for};
use blocklab_workload::Direction;

use super::{Answer, Bound, Figure, Judged, Loads};
use crate::compare::{
    Clocked, LEVEL_PERCENT, Load, Quantity, clocked, latencies, loads as loads_of, supports, values,
};

/// Whether a figure of these loads lies beyond a bound. Rates are judged case by case, over all
/// directions that are asked for; latencies direction by direction, under an open-loop rate from
/// the moment an operation was due. The scatter between the passes decides. Undecided are a figure
/// of one pass, a run that did not end as planned, and a percentile with too few operations beyond
/// it.
pub(super) fn beyond(run: usize, record: &Record, bound: Bound, loads: &Loads) -> Vec<Judged> {
    let mut judged: Vec<Judged> = Judged::unfinished(run, record).into_iter().collect();
    if bound.figure.is_latency() {
        let all = loads_of(record);
        let wanted = all
            .iter()
            .filter(|load| loads.has(load.case, load.direction));
        judged.extend(wanted.map(|load| latency(run, load, bound)));
    } else {
        let rates = rates(record, bound.figure, loads);
        judged.extend(
            rates
                .into_iter()
                .map(|(case, passes)| verdict(run, case, bound.figure.name(), &passes, bound)),
        );
    }
    // What was not measured must not let a run through.
    judged.extend(without_completion(record, loads).map(|case| {
        let why = "it completed no operation, so it has no such figure".to_owned();
        Judged::new(run, case, Answer::Undecided, why)
    }));
    judged
}

/// The cases that were run in passes that count, and completed no operation in any of them.
fn without_completion<'a>(
    record: &'a Record,
    loads: &Loads,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let passes = record.measurements.iter().filter(|one| one.pass > 0);
    let mut cases: BTreeSet<&str> = passes.map(|pass| &*pass.case).collect();
    cases.retain(|case| loads.has_case(case));
    for load in loads_of(record) {
        cases.remove(load.case);
    }
    cases.into_iter()
}

/// The rate of each case in each pass, where anything moved in the directions that are asked for.
fn rates<'a>(record: &'a Record, figure: Figure, loads: &Loads) -> BTreeMap<&'a str, Vec<f64>> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // Pass 0 was run before the passes that count.
    for measurement in record.measurements.iter().filter(|one| one.pass > 0) {
        let counted = counted(measurement, figure, loads);
        if !counted.is_empty() {
            let rate = rate(measurement, figure, &counted);
            all.entry(&measurement.case).or_default().push(rate);
        }
    }
    all
}

/// The directions of a pass whose operations or bytes count, of those that are asked for and moved
/// something. As in the row of a case, flushes count where there is nothing else, and the bytes of trims
/// where nothing is transferred.
fn counted(measurement: &Measurement, figure: Figure, loads: &Loads) -> BTreeSet<Direction> {
    let all = measurement.jobs.iter().flat_map(|job| &job.directions);
    let moved = all.filter(|(_, result)| result.ios > 0);
    let mut counted: BTreeSet<Direction> = moved.map(|(direction, _)| *direction).collect();
    counted.retain(|direction| loads.has(&measurement.case, *direction));
    if counted.len() > 1 {
        counted.remove(&Direction::Sync);
    }
    if counted.len() > 1 && figure == Figure::MbPerS {
        counted.remove(&Direction::Trim);
    }
    counted
}

/// The rate of all jobs per second, in operations or MB, in the directions that count.
fn rate(measurement: &Measurement, figure: Figure, counted: &BTreeSet<Direction>) -> f64 {
    // Each job by its own time: jobs of a case need not end together.
    let jobs = measurement.jobs.iter().map(|job| {
        let moved = job.directions.iter();
        let moved = moved.filter(|(direction, _)| counted.contains(direction));
        let amounts = moved.map(|(_, result)| match figure {
            Figure::MbPerS => result.bytes as f64 / 1e6,
            _ => result.ios as f64,
        });
        amounts.sum::<f64>() * 1e9 / job.elapsed_ns.max(1) as f64
    });
    jobs.sum()
}

/// Judges a latency of a load: its mean or a percentile by the passes, its maximum by itself.
fn latency(run: usize, load: &Load<'_>, bound: Bound) -> Judged {
    let subject = format!("{} {}", load.case, load.direction);
    let clocked = clocked(load.results());
    let name = match clocked {
        Clocked::Service => bound.figure.name().to_owned(),
        Clocked::Response => format!("response {}", bound.figure.name()),
    };
    let quantity = match bound.figure {
        Figure::Percentile(percentile) => Quantity::Percentile(clocked, percentile),
        Figure::Mean => Quantity::Mean(clocked),
        // The maximum: a bound on a rate is judged by case.
        _ => return longest(run, subject, &name, load, bound),
    };
    if !supports(load, quantity) {
        let why = format!(
            "its {name} is not known, or fewer than ten operations lie beyond it: a longer run \
             would decide"
        );
        return Judged::new(run, subject, Answer::Undecided, why);
    }
    verdict(run, &subject, &name, &values(load, quantity), bound)
}

/// Judges the longest latency. It is a fact about these passes, not an estimate, so it has no
/// interval and is never undecided once it is known of all of them.
fn longest(run: usize, subject: String, name: &str, load: &Load<'_>, bound: Bound) -> Judged {
    assert!(bound.is_above, "no bound forbids a low latency");
    let clocked = clocked(load.results());
    let all: Vec<&Latency> = (load.passes.iter())
        .flat_map(|part| latencies(part, clocked))
        .collect();
    let known = (all.iter()).filter(|latency| !latency.unknown.has(Statistic::Max));
    let is_whole = known.clone().count() == all.len();
    let longest = known.map(|latency| latency.max_ns as f64).reduce(f64::max);
    // That one is longer than allowed is shown by any pass that knows its own.
    let Some(longest) = longest.filter(|longest| is_whole || *longest > bound.value) else {
        let why = format!("its {name} is not known");
        return Judged::new(run, subject, Answer::Undecided, why);
    };
    let answer = if longest > bound.value {
        Answer::Fail
    } else {
        Answer::Pass
    };
    let (longest, allowed) = (bound.figure.shown(longest), bound.allowed());
    let why = format!("{name} {longest} in all passes; allowed: {allowed}");
    Judged::new(run, subject, answer, why)
}

/// Judges the mean of the passes by its confidence interval.
fn verdict(run: usize, subject: &str, name: &str, passes: &[f64], bound: Bound) -> Judged {
    let value = passes.iter().sum::<f64>() / passes.len().max(1) as f64;
    let (figure, allowed) = (bound.figure, bound.allowed());
    let named = figure.named_value(name, value);
    let Some(interval) = confidence(passes, LEVEL_PERCENT / 100.0) else {
        let why = format!("{named} in one pass, which shows no scatter; allowed: {allowed}");
        return Judged::new(run, subject, Answer::Undecided, why);
    };
    let Interval { low, high } = widened(interval, bound.figure);
    let answer = match bound.is_above {
        true if low > bound.value => Answer::Fail,
        true if high <= bound.value => Answer::Pass,
        false if high < bound.value => Answer::Fail,
        false if low >= bound.value => Answer::Pass,
        _ => Answer::Undecided,
    };
    let why = format!(
        "{named}, the mean of {} passes ({} to {}); allowed: {allowed}",
        passes.len(),
        // Student's t may reach below 0, where no rate or latency lies.
        figure.shown(low.max(0.0)),
        figure.shown(high)
    );
    Judged::new(run, subject, answer, why).decided_by(passes_to_decide(passes, bound))
}

/// Widens the interval of a percentile by the error of its histogram bucket, which all passes
/// share.
fn widened(interval: Interval, figure: Figure) -> Interval {
    let error = bucket_error(figure);
    Interval {
        low: interval.low * (1.0 - error),
        high: interval.high * (1.0 + error),
    }
}

/// The largest relative error of a figure by its histogram bucket.
const fn bucket_error(figure: Figure) -> f64 {
    match figure {
        Figure::Percentile(_) => Histogram::ERROR_BOUND,
        _ => 0.0,
    }
}

/// How many passes would bring the widened interval clear of the bound. A bound has no scatter of its
/// own. `None`: not known, more than 1,000, or the figure is nearer to the bound than its error.
fn passes_to_decide(passes: &[f64], bound: Bound) -> Option<u32> {
    let summary = Summary::new(passes)?;
    let error = bucket_error(bound.figure);
    let clear_below = bound.value / (1.0 + error) - summary.mean;
    let clear_above = summary.mean - bound.value / (1.0 - error);
    let half = clear_below.max(clear_above);
    // The interval is Student's, so `half` and the variance are those of the values themselves.
    passes_for([summary.stddev.powi(2), 0.0], half, LEVEL_PERCENT / 100.0)
}

#[cfg(test)]
mod tests {
    use blocklab_record::Status;

    use super::*;
    use crate::testing::{Sketch, record};

    fn judged(record: &Record, bound: &str) -> Judged {
        let bound: Bound = bound.parse().expect(bound);
        let mut all = beyond(0, record, bound, &Loads::default());
        all.pop().expect("a load")
    }

    fn steady() -> Record {
        record(&[Sketch::of_rates(&[10_000.0, 10_010.0, 9_990.0])])
    }

    #[test]
    fn a_rate_fails_passes_or_is_open_by_its_interval() {
        // 10,000 ± 24.8: Student's t of two degrees of freedom, 4.303 · 10 / √3.
        for (bound, expected) in [
            ("iops<9900", Answer::Pass),
            ("iops<9980", Answer::Undecided),
            ("iops<10020", Answer::Undecided),
            ("iops<10030", Answer::Fail),
            ("iops>10030", Answer::Pass),
            ("iops>9900", Answer::Fail),
        ] {
            let found = judged(&steady(), bound);
            assert_eq!(found.answer, expected, "{bound}: {}", found.why);
        }
        // 3.182 · 10 / √4 is below the 20 that lie between.
        let open = judged(&steady(), "iops<9980");
        assert_eq!(open.passes_to_decide, Some(4));
    }

    /// The story: the passes to decide were computed from logarithms, and the interval is not: of a run
    /// of three passes "about 2 passes would decide".
    #[test]
    fn an_open_bound_takes_more_passes_than_there_are() {
        let scattered = record(&[Sketch::of_rates(&[5995.0, 3000.0, 3000.0])]);
        let open = judged(&scattered, "iops<100");
        assert_eq!(open.answer, Answer::Undecided, "{}", open.why);
        assert!(open.passes_to_decide > Some(3), "{open:?}");
    }

    /// The story: of two passes by another program one did not report its longest latency, and that of
    /// the other one let the run through.
    #[test]
    fn a_longest_latency_that_one_pass_lacks_decides_nothing() {
        let mut run = steady();
        let result = run.measurements[1].jobs[0].directions.values_mut().next();
        let service = &mut result.expect("reads").service;
        service.unknown = blocklab_record::Unknown::from_iter([Statistic::Max]);
        assert_eq!(judged(&run, "max>1s").answer, Answer::Undecided);
        // That it is longer than allowed is shown by any pass.
        assert_eq!(judged(&run, "max>1us").answer, Answer::Fail);
    }

    #[test]
    fn one_pass_and_a_broken_run_decide_nothing() {
        let single = record(&[Sketch::of_rates(&[10_000.0])]);
        assert_eq!(judged(&single, "iops<1").answer, Answer::Undecided);
        let mut broken = steady();
        broken.status = Status::Interrupted;
        let bound: Bound = "iops<1".parse().expect("a bound");
        let all = beyond(0, &broken, bound, &Loads::default());
        assert_eq!(all[0].answer, Answer::Undecided, "{all:#?}");
        assert_eq!(all[1].answer, Answer::Pass, "{all:#?}");
    }

    /// The story: writes with a flush after every second one had 8,809 IOPS in all tables, and
    /// `iops<10000` passed with 13,213.
    #[test]
    fn flushes_and_trims_count_as_in_the_row_of_a_case() {
        let mut run = steady();
        let shown = |run: &Record, bound: &str| judged(run, bound).why;
        let (iops, mbps) = (shown(&run, "iops<1"), shown(&run, "mbps<1"));
        for pass in &mut run.measurements {
            let directions = &mut pass.jobs[0].directions;
            let reads = directions[&Direction::Read].clone();
            directions.insert(Direction::Sync, reads);
        }
        assert_eq!(shown(&run, "iops<1"), iops);
        for pass in &mut run.measurements {
            let directions = &mut pass.jobs[0].directions;
            let reads = directions[&Direction::Read].clone();
            directions.insert(Direction::Trim, reads);
        }
        assert_eq!(shown(&run, "mbps<1"), mbps);
        let flushes = Loads {
            case: None,
            direction: Some(Direction::Sync),
        };
        let bound: Bound = "iops<1".parse().expect("a bound");
        assert_eq!(beyond(0, &run, bound, &flushes)[0].answer, Answer::Pass);
    }

    /// The story: of two cases one began no operation, as its first was due after its runtime. A
    /// bound on the rate passed by the other one alone, also with `--strict`.
    #[test]
    fn a_case_without_an_operation_decides_nothing() {
        let mut run = record(&[Sketch::named("a"), Sketch::named("b")]);
        let of_b = run.measurements.iter_mut().filter(|pass| pass.case == "b");
        for pass in of_b {
            pass.jobs[0].directions.clear();
        }
        for bound in ["iops<1", "max>1h"] {
            let found = judged(&run, bound);
            assert_eq!((&*found.subject, found.answer), ("b", Answer::Undecided));
        }
    }

    #[test]
    fn only_the_loads_that_are_meant_are_judged() {
        let both = record(&[Sketch::named("a-1"), Sketch::named("b-1")]);
        let bound: Bound = "iops<1".parse().expect("a bound");
        let loads = |case: &str, direction| Loads {
            case: Some(case.to_owned()),
            direction,
        };
        let of = |loads: &Loads| beyond(0, &both, bound, loads).len();
        assert_eq!(of(&loads("a-*", None)), 1);
        assert_eq!(of(&loads("*-1", Some(Direction::Read))), 2);
        assert_eq!(of(&loads("*-1", Some(Direction::Write))), 0);
    }
}
