//! Latency over rate, of a Record whose cases are points of curves.

use blocklab_publication::{Figure, Quantity};
use blocklab_record::{Measurement, Record};
use blocklab_stats::Summary;

use super::tables::{Line, Plot};
use crate::rows::Aggregate;
use crate::sweeps::{add, number, without};

/// Settings that change the load on a device: shares of a full rate, as Vdbench's curves
/// and the native sweep have them, rates, and operations in flight. Of several, the first here.
const LOADS: [&str; 5] = ["curve", "rate_percent", "rate", "depth", "threads"];
/// The bound of latency that is looked for, in microseconds.
const BOUND_US: f64 = 1000.0;

/// The curves of a Record, with knee and the rate at which a millisecond is passed; nothing where
/// there are none of two points and more.
///
/// Latency is the mean from the moment an operation was due to its completion; where nothing was
/// due at a moment, from submission. A full rate, in which nothing is due, is no point.
pub fn curves(record: &Record) -> Option<Plot> {
    let mut families: Vec<(String, Vec<Pass>)> = Vec::new();
    for measurement in &record.measurements {
        let settings = || measurement.settings.iter();
        let mut loads = LOADS.iter();
        let load = loads.find_map(|wanted| settings().find(|(name, _)| name == wanted));
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
    let lines = families.iter().filter_map(|it| line(it, aggregate));
    let lines: Vec<Line> = lines.collect();
    let mut all = families.iter().flat_map(|(_, passes)| passes);
    let (from, latency) = match all.all(|pass| pass.responds) {
        true => ("the moment an operation was due", "mean response time"),
        false => ("submission", "mean service time"),
    };
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

struct Pass {
    case: String,
    /// The setting: of all points of a curve in the same unit.
    load: f64,
    iops: f64,
    mean_us: f64,
    /// Whether every operation of it was due at some moment.
    responds: bool,
}

fn pass(measurement: &Measurement) -> Option<Pass> {
    let (mut iops, mut sum_ns, mut count) = (0.0, 0.0, 0.0);
    let mut responds = true;
    for job in &measurement.jobs {
        for direction in job.directions.values() {
            responds &= direction.response.is_some();
            let latency = direction.response.as_ref().unwrap_or(&direction.service);
            iops += direction.ios as f64 * 1e9 / job.elapsed_ns.max(1) as f64;
            sum_ns += latency.mean_ns * latency.count as f64;
            count += latency.count as f64;
        }
    }
    (count > 0.0).then(|| Pass {
        case: measurement.case.clone(),
        load: 0.0,
        iops,
        mean_us: sum_ns / count / 1e3,
        responds,
    })
}

/// The figures of a case as its row has them: by the record's own aggregate.
fn headline(passes: &[&Pass], aggregate: Aggregate) -> Option<(f64, f64)> {
    let each = |of: fn(&Pass) -> f64| passes.iter().map(|pass| of(pass)).collect::<Vec<_>>();
    let (rates, latencies) = (
        Summary::of(&each(|it| it.iops))?,
        Summary::of(&each(|it| it.mean_us))?,
    );
    Some(match aggregate {
        Aggregate::Mean => (rates.mean, latencies.mean),
        Aggregate::Median => (rates.median, latencies.median),
        Aggregate::Best => {
            let best = passes.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
            (best.iops, best.mean_us)
        }
    })
}

fn line((family, passes): &(String, Vec<Pass>), aggregate: Aggregate) -> Option<Line> {
    let mut cases: Vec<(f64, &str)> = passes.iter().map(|it| (it.load, &*it.case)).collect();
    cases.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    cases.dedup();
    if cases.len() < 2 {
        return None;
    }
    let of_case = |(_, case): &(f64, &str)| {
        let mine: Vec<&Pass> = passes.iter().filter(|it| it.case == *case).collect();
        headline(&mine, aggregate)
    };
    let (rates, latencies): (Vec<f64>, Vec<f64>) = cases.iter().filter_map(of_case).unzip();
    Some(Line::through(
        (family, ""),
        (&rates, &latencies),
        Some(BOUND_US),
    ))
}
