//! Latency over rate, of a Record whose cases are points of curves.

use blocklab_record::{Latency, Measurement, Record};
use blocklab_stats::Summary;
use blocklab_workload::publication::{Figure, Quantity};

use super::tables::{Line, Plot};
use blocklab_findings::Aggregate;
use blocklab_findings::sweeps::{add, number, without};

/// Settings that change the load on a device: shares of a full rate, as Vdbench's curves
/// and the native sweep have them, rates, and operations in flight. Of several, the first here.
const LOADS: [&str; 6] = [
    "curve",
    "rate_percent",
    "rate",
    "rate_iops",
    "depth",
    "threads",
];
/// The bound of latency that is looked for, in microseconds.
const BOUND_US: f64 = 1000.0;

/// The curves of a Record, with knee and the rate at which a millisecond is passed; nothing where
/// there are none of two points and more.
///
/// Latency is the mean from the moment an operation was due to its completion; where in any of the points
/// nothing was due at a moment, from submission in all of them. A full rate, in which nothing is due, is no point.
pub fn curves(record: &Record) -> Option<Plot> {
    let mut families: Vec<(String, Vec<Pass>)> = Vec::new();
    for measurement in &record.measurements {
        let settings = &measurement.settings;
        let mut loads = LOADS.iter();
        let load = loads.find_map(|wanted| settings.iter().find(|(name, _)| name == wanted));
        let (Some(load), Some(mut pass)) = (load, pass(measurement)) else {
            continue;
        };
        let Some(amount) = number(&load.1) else {
            continue;
        };
        pass.load = amount;
        let family = without(measurement.case.clone(), load);
        add(&mut families, family, pass);
    }
    let aggregate = Aggregate::named(&record.requested.aggregate);
    let (from, latency) = if respond(&mut families) {
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

/// Whether all passes have a response time, which is then shown of all of them. Else all show their
/// service time: a curve at a share of full speed, whose full speed was due at no moment, said "mean service
/// time" of 138 ms where the table above had 29.9.
fn respond(families: &mut [(String, Vec<Pass>)]) -> bool {
    let mut passes = families.iter().flat_map(|(_, passes)| passes);
    let all = passes.all(|pass| pass.response_us.is_some());
    for pass in families.iter_mut().flat_map(|(_, passes)| passes) {
        pass.shown_us = pass.response_us.filter(|_| all).unwrap_or(pass.service_us);
    }
    all
}

struct Pass {
    case: String,
    /// The setting: of all points of a curve in the same unit.
    load: f64,
    iops: f64,
    service_us: f64,
    /// Where every operation of it was due at some moment.
    response_us: Option<f64>,
    /// The one of both that the plot shows.
    shown_us: f64,
}

fn pass(measurement: &Measurement) -> Option<Pass> {
    let mut iops = 0.0;
    let (mut services, mut responses) = (Vec::new(), Some(Vec::new()));
    for job in &measurement.jobs {
        for direction in job.directions.values() {
            iops += direction.ios as f64 * 1e9 / job.elapsed_ns.max(1) as f64;
            services.push(&direction.service);
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
        load: 0.0,
        iops,
        service_us,
        response_us: responses.and_then(|all| mean_us(&all)),
        shown_us: service_us,
    })
}

/// Over all operations; `None` without any.
fn mean_us(latencies: &[&Latency]) -> Option<f64> {
    let count: f64 = latencies.iter().map(|latency| latency.count as f64).sum();
    let sum_ns: f64 = latencies
        .iter()
        .map(|latency| latency.mean_ns * latency.count as f64)
        .sum();
    (count > 0.0).then(|| sum_ns / count / 1e3)
}

/// The figures of a case as its row has them: by the record's own aggregate.
fn headline(passes: &[&Pass], aggregate: Aggregate) -> Option<(f64, f64)> {
    let rates: Vec<f64> = passes.iter().map(|pass| pass.iops).collect();
    let latencies: Vec<f64> = passes.iter().map(|pass| pass.shown_us).collect();
    let (rates, latencies) = (Summary::new(&rates)?, Summary::new(&latencies)?);
    Some(match aggregate {
        Aggregate::Mean => (rates.mean, latencies.mean),
        Aggregate::Median => (rates.median, latencies.median),
        Aggregate::Best => {
            let best = passes.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
            (best.iops, best.shown_us)
        }
    })
}

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
        (family, ""),
        (&rates, &latencies),
        Some(BOUND_US),
    ))
}
