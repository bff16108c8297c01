//! In: the points of a sweep. Out: the figures of the sweep as a whole.
//!
//! **Saturation.** The smallest setting at which the rate reaches [`REACHED`] of the largest rate
//! of the sweep. It is interpolated in the logarithm of the setting between two measured points;
//! where between them the true value lies was not measured.
//!
//! **Peak.** The point of the highest load: among the points within 1 % of the largest rate, the
//! one with the highest latency. The point with the largest rate itself is a matter of chance, and
//! its latency says nothing. A rate does not count if it is more than 5 % above the largest rate of
//! the points with the most operations in flight (at least half of the maximum, by Little's law as
//! rate times latency): credits of a limiter gave that rate for a moment.
//!
//! **Knee.** The point at which rate over latency is largest (Kleinrock's power). Before it, more
//! load mostly adds work; after it, more load mostly adds waiting.
//!
//! **Crossing.** The rate at which the mean latency passes a bound, interpolated between the two
//! points around it.

use blocklab_workload::publication::{Family, Figure};
use serde::Serialize;

use super::value::Value;
use blocklab_findings::sweeps::number;

/// Share of the largest rate that counts as reached.
pub const REACHED: f64 = 0.95;
/// Share of the largest rate from which on a point may be the peak.
const AT_PEAK: f64 = 0.99;
/// Share of the most operations in flight from which on a point is among the busiest.
const BUSY: f64 = 0.5;

/// Where a sweep saturates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    /// The setting, interpolated.
    pub at: f64,
    /// The last point before it; `None`: the first point reaches it already.
    pub after: Option<f64>,
    /// The first point that reaches it.
    pub by: f64,
    /// The largest rate.
    pub peak: f64,
}

/// Where a curve passes a bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crossing {
    /// The rate, interpolated.
    pub at: f64,
    /// The last point below the bound.
    pub after: f64,
    /// The first point above it.
    pub before: f64,
}

/// Gives the value of a figure of a case, if it is known.
type Lookup<'a> = dyn Fn(&str, Figure) -> Option<f64> + 'a;

/// A figure of a whole sweep; `None` where points are missing.
pub(super) fn figure(family: &Family, figure: Figure, lookup: &Lookup<'_>) -> Option<Value> {
    let value = match figure {
        Figure::Saturation => saturation(&swept(family, lookup)?)?.at,
        Figure::FallPercent => {
            let points = swept(family, lookup)?;
            let found = saturation(&points)?;
            // Before saturation a lower rate is no fall.
            let later = points.iter().filter(|(x, _)| *x >= found.by);
            let least = later.map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
            (1.0 - least / found.peak) * 100.0
        }
        Figure::PeakIops => at_peak(family, Figure::Iops, lookup)?,
        Figure::PeakMbPerS => at_peak(family, Figure::MbPerS, lookup)?,
        Figure::PeakThousandMibPerS => at_peak(family, Figure::MibPerS, lookup)? / 1000.0,
        Figure::LatencyAtPeakUs => at_peak(family, Figure::MeanUs, lookup)?,
        Figure::IopsAt1Ms => crossing(&curve(family, lookup)?, 1000.0)?.at,
        Figure::IopsAtKnee => knee(&curve(family, lookup)?)?.0,
        _ => return None,
    };
    Some(Value::exact(value))
}

/// A figure of each case, in their order; `None` if one is missing.
fn each(family: &Family, figure: Figure, lookup: &Lookup<'_>) -> Option<Vec<f64>> {
    let cases = family.cases.iter();
    cases.map(|(_, case)| lookup(case, figure)).collect()
}

/// Rates and latencies, in the order in which the curve is drawn.
fn curve(family: &Family, lookup: &Lookup<'_>) -> Option<Vec<(f64, f64)>> {
    let rates = each(family, Figure::Iops, lookup)?;
    let (curve, _) = ordered(&rates, &each(family, Figure::MeanUs, lookup)?);
    Some(curve)
}

/// A figure at the peak of the sweep.
fn at_peak(family: &Family, figure: Figure, lookup: &Lookup<'_>) -> Option<f64> {
    let rates = each(family, Figure::Iops, lookup)?;
    let latencies = each(family, Figure::MeanUs, lookup)?;
    let points: Vec<_> = rates.into_iter().zip(latencies).collect();
    each(family, figure, lookup)?.get(peak(&points)?).copied()
}

/// The index of the peak among points of rate and latency.
pub(super) fn peak(points: &[(f64, f64)]) -> Option<usize> {
    let in_flight = points.iter().map(|(rate, latency)| rate * latency);
    let most = in_flight.max_by(f64::total_cmp)?;
    // Points of little load may be fed by credits: those of the highest load tell what lasts.
    let busiest = points
        .iter()
        .filter(|(rate, latency)| rate * latency >= most * BUSY);
    let sustained = busiest.map(|(rate, _)| *rate).max_by(f64::total_cmp)?;
    let rates = points.iter().map(|(rate, _)| *rate);
    let lasting = rates.filter(|rate| *rate <= sustained / REACHED);
    let largest = lasting.max_by(f64::total_cmp)?;
    let at_peak = largest * AT_PEAK..=largest;
    let all = points.iter().enumerate();
    let loaded = all.filter(|(_, (rate, _))| at_peak.contains(rate));
    let highest = loaded.max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
    highest.map(|(place, _)| place)
}

/// The points of a sweep: the setting as a number, and the rate; `None` if one is missing.
fn swept(family: &Family, lookup: &Lookup<'_>) -> Option<Vec<(f64, f64)>> {
    let cases = family.cases.iter();
    cases
        .map(|(settings, case)| {
            let (_, value) = settings.last()?;
            Some((number(value)?, lookup(case, Figure::Iops)?))
        })
        .collect()
}

/// The saturation of points of setting and rate, which may come in any order; `None` without a
/// point.
pub(super) fn saturation(points: &[(f64, f64)]) -> Option<Saturation> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let peak = points.iter().map(|(_, y)| *y).max_by(f64::total_cmp)?;
    let wanted = peak * REACHED;
    let first = points.iter().position(|(_, y)| *y >= wanted)?;
    let (by, reached) = points[first];
    let Some((after, below)) = first.checked_sub(1).map(|before| points[before]) else {
        return Some(Saturation {
            at: by,
            after: None,
            by,
            peak,
        });
    };
    let share = (wanted - below) / (reached - below);
    // A setting of 0 has no logarithm: there the interpolation is linear.
    let at = if after > 0.0 {
        after * (by / after).powf(share)
    } else {
        after + (by - after) * share
    };
    Some(Saturation {
        at,
        after: Some(after),
        by,
        peak,
    })
}

/// Sorts the points of a curve, given in the order of the requested load, into the order in which
/// the curve is drawn. Gives back how many of them belong to the line up to the highest rate,
/// sorted by rate. Beyond it more load only adds waiting: those points follow, sorted by latency.
pub(super) fn ordered(rates: &[f64], latencies: &[f64]) -> (Vec<(f64, f64)>, usize) {
    let mut points: Vec<(f64, f64)> = rates
        .iter()
        .copied()
        .zip(latencies.iter().copied())
        .collect();
    let peak = rates.iter().copied().max_by(f64::total_cmp);
    let upto = rates
        .iter()
        .position(|rate| Some(*rate) == peak)
        .map_or(0, |place| place + 1);
    let (line, past) = points.split_at_mut(upto);
    line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    past.sort_by(|a, b| a.1.total_cmp(&b.1));
    (points, upto)
}

/// The point of the largest rate over latency.
pub(super) fn knee(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let sound = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
    sound
        .copied()
        .max_by(|(x, y), (other_x, other_y)| (x / y).total_cmp(&(other_x / other_y)))
}

/// The first place at which a curve, in the order in which it is drawn, passes a bound.
pub(super) fn crossing(points: &[(f64, f64)], bound: f64) -> Option<Crossing> {
    let pairs = points.windows(2).map(|pair| (pair[0], pair[1]));
    let mut passing = pairs.filter(|(a, b)| a.1 <= bound && b.1 > bound);
    let ((x0, y0), (x1, y1)) = passing.next()?;
    Some(Crossing {
        at: x0 + (x1 - x0) * (bound - y0) / (y1 - y0),
        after: x0,
        before: x1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random reads of i3.xlarge as published in 2017: "at about 32 jobs".
    #[test]
    fn saturation_lies_between_two_points() {
        let jobs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let reads = [
            10_428.4, 20_425.0, 39_708.4, 74_461.2, 130_996.4, 207_918.8, 214_318.2, 209_299.4,
        ];
        let points: Vec<_> = jobs.into_iter().zip(reads).collect();
        let found = saturation(&points).expect("a point");
        assert_eq!((found.after, found.by), (Some(16.0), 32.0));
        assert!(found.at > 30.0 && found.at < 32.0, "{}", found.at);
        let writes = [23_167.2, 24_027.4, 22_089.0, 20_180.4];
        let points: Vec<_> = jobs.into_iter().zip(writes).collect();
        let found = saturation(&points).expect("a point");
        assert_eq!((found.at, found.after), (1.0, None));
        assert_eq!(saturation(&[]), None);
    }

    #[test]
    fn the_knee_and_the_bound_of_a_curve() {
        let rates = [100.0, 50.0, 90.0, 101.0];
        let latencies = [2000.0, 400.0, 500.0, 9000.0];
        let (points, _) = ordered(&rates, &latencies);
        assert_eq!(knee(&points), Some((90.0, 500.0)));
        let found = crossing(&points, 1000.0).expect("it is passed");
        assert_eq!((found.after, found.before), (90.0, 100.0));
        assert!((found.at - 93.333).abs() < 1e-3);
        assert_eq!(crossing(&points, 1e6), None);
        assert_eq!(knee(&[]), None);
    }

    /// A point at 100 % of the rate chanced on half a per cent more than the one at 120 %, and its
    /// latency of 1.1 ms was shown next to the published 59 ms.
    #[test]
    fn the_peak_is_the_point_of_the_highest_load() {
        let points = [
            (64_320.0, 1_117.0),
            (64_000.0, 59_900.0),
            (63_900.0, 60_100.0),
            (51_200.0, 700.0),
        ];
        assert_eq!(peak(&points), Some(2));
        assert_eq!(peak(&[]), None);
    }

    /// What a limiter had saved up fed one point of 300 ms: 117,640 a second at 301 µs, 35 in flight
    /// of 128, was taken for the peak, next to the published 1,100 µs.
    #[test]
    fn what_was_saved_up_is_no_peak() {
        let points = [
            (108_358.0, 1_174.0),
            (117_640.0, 301.0),
            (108_903.0, 1_020.0),
            (87_000.0, 260.0),
        ];
        assert_eq!(peak(&points), Some(0));
    }
}
