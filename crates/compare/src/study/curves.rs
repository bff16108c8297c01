//! In: a Record whose cases are points of curves. Out: the curves of latency over rate.

use blocklab_record::{Latency, Measurement, Record};
use blocklab_stats::Summary;
use blocklab_workload::publication::{Figure, Quantity};

use super::tables::{Line, Plot};
use blocklab_findings::sweeps::{add, number, without};
use blocklab_workload::{Aggregate, Direction};

/// Settings by which the load grows along a curve: a share of the full rate, as Vdbench's curves
/// and the native sweep have it, a rate, or the operations in flight. A case with several is placed
/// by the first of these.
const LOADS: [&str; 6] = [
    "curve",
    "rate_percent",
    "rate",
    "rate_iops",
    "depth",
    "threads",
];
/// The latency whose crossing is looked for, in microseconds.
const BOUND_US: f64 = 1000.0;

/// The curves of a Record, each with its knee and the rate at which it passes a millisecond; `None`
/// if no curve has two points.
///
/// Latency is the mean response time, counted from the moment an operation was due. If any point
/// has no response time, all points show the service time, which counts from submission. A
/// measurement at full rate is no point.
pub fn curves(record: &Record) -> Option<Plot> {
    let mut families: Vec<(String, Vec<Pass>)> = Vec::new();
    // Pass 0 was run before the passes that count.
    for measurement in record.measurements.iter().filter(|one| one.pass > 0) {
        let settings = &measurement.settings;
        let mut loads = LOADS.iter();
        let load = loads.find_map(|wanted| settings.iter().find(|(name, _)| name == wanted));
        let (Some(load), Some(mut pass)) = (load, pass(measurement)) else {
            continue;
        };
        // A setting that is no number, such as `max`, has no place on a curve.
        let Some(amount) = number(&load.1) else {
            continue;
        };
        pass.load = amount;
        // Cases that differ only in their load are one curve.
        let family = without(measurement.case.clone(), load);
        add(&mut families, family, pass);
    }
    let aggregate = Aggregate::named(&record.requested.aggregate);
    let (from, latency) = if choose_clock(&mut families) {
        ("the moment an operation was due", "mean response time")
    } else {
        ("submission", "mean service time")
    };
    let lines: Vec<Line> = families
        .iter()
        .filter_map(|family| line(family, aggregate))
        .collect();
    (!lines.is_empty()).then(|| Plot {
        title: "Latency over rate".to_owned(),
        note: format!(
            "Mean from {from} to its completion. At the knee the rate divided by the latency is \
             largest; between two points a straight line is assumed."
        ),
        x: Figure::Iops.quantity(),
        y: Quantity {
            what: latency.into(),
            ..Figure::MeanUs.quantity()
        },
        bound: Some(BOUND_US),
        lines,
    })
}

/// Sets the latency that each pass shows: the response time if all of them have one, else the
/// service time. Gives back whether it is the response time. The two must not be mixed: a curve
/// once showed a response time of 138 ms as "mean service time", where the table above it had 29.9
/// ms.
fn choose_clock(families: &mut [(String, Vec<Pass>)]) -> bool {
    let mut passes = families.iter().flat_map(|(_, passes)| passes);
    let all = passes.all(|pass| pass.response_us.is_some());
    for pass in families.iter_mut().flat_map(|(_, passes)| passes) {
        pass.shown_us = pass.response_us.filter(|_| all).unwrap_or(pass.service_us);
    }
    all
}

struct Pass {
    case: String,
    /// The value of the setting by which the load grows.
    load: f64,
    iops: f64,
    service_us: f64,
    /// `None` unless every operation was due at some moment.
    response_us: Option<f64>,
    /// The one of the two that the plot shows.
    shown_us: f64,
}

/// Rate and latencies of a pass over all jobs and directions, without flushes, which no rate counts;
/// `None` if nothing completed.
fn pass(measurement: &Measurement) -> Option<Pass> {
    let mut iops = 0.0;
    let (mut services, mut responses) = (Vec::new(), Some(Vec::new()));
    for job in &measurement.jobs {
        let moved = job.directions.iter();
        for (_, direction) in moved.filter(|(which, _)| **which != Direction::Sync) {
            iops += direction.ios as f64 * 1e9 / job.elapsed_ns.max(1) as f64;
            services.push(&direction.service);
            // One direction without response times leaves the pass without any.
            responses = responses
                .zip(direction.response.as_ref())
                .map(|(mut all, response)| {
                    all.push(response);
                    all
                });
        }
    }
    let service_us = mean_us(&services)?;
    Some(Pass {
        case: measurement.case.clone(),
        // Set by the caller, who knows which setting is the load.
        load: 0.0,
        iops,
        service_us,
        response_us: responses.and_then(|all| mean_us(&all)),
        shown_us: service_us,
    })
}

/// The mean over all operations, in microseconds; `None` without any.
fn mean_us(latencies: &[&Latency]) -> Option<f64> {
    let count: f64 = latencies.iter().map(|latency| latency.count as f64).sum();
    let sum_ns: f64 = latencies
        .iter()
        .map(|latency| latency.mean_ns * latency.count as f64)
        .sum();
    (count > 0.0).then(|| sum_ns / count / 1e3)
}

/// Rate and latency of a case, aggregated over its passes in the way that its row in the table is.
fn headline(passes: &[&Pass], aggregate: Aggregate) -> Option<(f64, f64)> {
    let rates: Vec<f64> = passes.iter().map(|pass| pass.iops).collect();
    let latencies: Vec<f64> = passes.iter().map(|pass| pass.shown_us).collect();
    let (rates, latencies) = (Summary::new(&rates)?, Summary::new(&latencies)?);
    Some(match aggregate {
        Aggregate::Mean => (rates.mean, latencies.mean),
        Aggregate::Median => (rates.median, latencies.median),
        // Rate and latency of one and the same pass: of equal ones the first, as in the row. `max_by`
        // gives the last.
        Aggregate::Best => {
            let from_last = passes.iter().rev();
            let best = from_last.max_by(|a, b| a.iops.total_cmp(&b.iops))?;
            (best.iops, best.shown_us)
        }
    })
}

/// The curve of a family; `None` for fewer than two points.
fn line((family, passes): &(String, Vec<Pass>), aggregate: Aggregate) -> Option<Line> {
    let mut cases: Vec<(f64, &str)> = passes.iter().map(|pass| (pass.load, &*pass.case)).collect();
    cases.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    cases.dedup();
    if cases.len() < 2 {
        return None;
    }
    let (rates, latencies): (Vec<f64>, Vec<f64>) = cases
        .iter()
        .filter_map(|(_, case)| {
            let mine: Vec<&Pass> = passes.iter().filter(|pass| pass.case == *case).collect();
            headline(&mine, aggregate)
        })
        .unzip();
    Some(Line::through(
        family,
        "",
        &rates,
        &latencies,
        Some(BOUND_US),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};

    /// The story: of two passes of the same rate the row took the first, and the curve the latency of the
    /// last.
    #[test]
    fn of_equal_passes_the_first_is_the_best() {
        let mut passes = [5.0, 9.0].map(|mean_us| {
            let run = record(&[Sketch::default()]);
            let mut found = pass(&run.measurements[0]).expect("reads");
            found.shown_us = mean_us;
            found
        });
        let first_best = headline(&passes.each_ref(), Aggregate::Best);
        assert_eq!(first_best.map(|(_, latency_us)| latency_us), Some(5.0));
        passes[1].iops += 1.0;
        let second_best = headline(&passes.each_ref(), Aggregate::Best);
        assert_eq!(second_best.map(|(_, latency_us)| latency_us), Some(9.0));
    }

    /// The story: a load that flushes after every second write had 13,181 IOPS on the curve and 8,787 in
    /// the table above it.
    #[test]
    fn flushes_are_in_no_point() {
        let mut run = record(&[Sketch::default()]);
        let measurement = &mut run.measurements[0];
        let without = pass(measurement).expect("reads");
        let directions = &mut measurement.jobs[0].directions;
        let mut flushes = directions[&Direction::Read].clone();
        flushes.service.mean_ns *= 3.0;
        directions.insert(Direction::Sync, flushes);
        let with = pass(measurement).expect("reads");
        assert_eq!(
            (with.iops, with.service_us),
            (without.iops, without.service_us)
        );
    }

    /// The story: a pass that was run to be thrown away was a part of each point of the curves.
    #[test]
    fn a_discarded_pass_is_in_no_point() {
        let point = |share: &str, iops: [f64; 2]| {
            let mut run = record(&[Sketch {
                iops: iops.to_vec(),
                ..Sketch::named(&format!("rd_({share})"))
            }]);
            for (number, measurement) in (0..).zip(&mut run.measurements) {
                measurement.pass = number;
                measurement.settings = vec![("curve".to_owned(), share.to_owned())];
            }
            run
        };
        let mut run = point("50%", [90_000.0, 1000.0]);
        run.measurements
            .extend(point("100%", [90_000.0, 2000.0]).measurements);
        let plot = curves(&run).expect("two points");
        let rates: Vec<f64> = plot.lines[0].points.iter().map(|point| point.x).collect();
        assert_eq!(rates, [1000.0, 2000.0]);
    }
}
