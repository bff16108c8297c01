//! A limiter that paces shows in the shape of the latencies.

use super::series;
use super::sibling::{Axis, families, is_flat};
use crate::held::explained;
use crate::hit::{info, per_case};
use crate::obstacle::shows_target;
use crate::statement::{Slot, delay, number, percent};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding, RowDirection};

/// Share of the latencies that must lie in the spike.
const IN_SPIKE: f64 = 0.8;
/// Half the width of the spike.
const WIDTH: f64 = 0.1;
/// The quickest 1 % must stay below this share of the spike: they met a full bucket.
const QUICK: f64 = 0.6;
/// Coefficient of variation of the seconds, at most.
const EVEN: f64 = 0.02;
/// With fewer operations, the quickest 1 % are fewer than a hundred.
const ENOUGH_IOS: f64 = 10_000.0;

/// Most latencies are one value, some are far quicker, and the rate is even: something releases
/// operations at fixed distances. Alone it may also be a medium with a small quick cache; the
/// same rate at another depth makes the limiter the likelier explanation.
pub(super) fn paced(cases: &Cases<'_>) -> Vec<Finding> {
    let depths = families(cases, Axis::InFlight);
    let explained = explained(cases);
    let advice = "Compare the rate with the documented limits of the volume and of the machine.";
    per_case(cases, "limiter-pacing", Some(advice), |case| {
        let eligible = shows_target(cases, case) && !explained.contains(case.name) && is_even(case);
        let direction = case.row.moved().max_by_key(|direction| direction.ios)?;
        let spike = spike(direction).filter(|_| eligible)?;
        let first_percent = direction.curve.iter().find(|(share, _)| *share >= 0.01);
        let quick = first_percent.map_or(0.0, |(_, ns)| *ns as f64);
        let clear = spike.share > IN_SPIKE && quick < QUICK * spike.ns;
        clear.then(|| {
            info(
                "{} of the latencies lie within 10 % of {} while the quickest 1 % take {} or \
                 less: as if a limiter paces at {} IOPS ({})",
                [
                    percent(spike.share * 100.0),
                    delay(spike.ns),
                    delay(quick),
                    number(case.iops()),
                    Slot::Range(case.bytes_per_s() / 1e6, |mb| format!("{mb:.1} MB/s")),
                ],
            )
            .confidence(Confidence::medium_if(is_flat(&depths, case)))
            .with("latencies in the spike", spike.share * 100.0, "%")
            .with("spike", spike.ns, "ns")
            .with("first percentile", quick, "ns")
            .with("IOPS", case.iops(), "IOPS")
            .with("bytes", case.bytes_per_s() / 1e6, "MB/s")
        })
    })
}

/// Whether the rate hardly changes from second to second, in every pass that shows it.
fn is_even(case: &CaseView<'_>) -> bool {
    let passes = case.passes.iter();
    let spreads: Vec<f64> = passes.filter_map(|pass| series::unevenness(pass)).collect();
    !spreads.is_empty() && spreads.iter().all(|uneven| *uneven < EVEN)
}

struct Spike {
    ns: f64,
    share: f64,
}

/// The latency with the most others within [`WIDTH`] of it, found by a window that slides over the
/// buckets; `None` with fewer than [`ENOUGH_IOS`] operations.
fn spike(direction: &RowDirection) -> Option<Spike> {
    let bins = &direction.bins;
    let middles: Vec<f64> = bins
        .iter()
        .map(|(low, high, _)| (*low + *high) as f64 / 2.0)
        .collect();
    // In floats: a damaged histogram may hold counts whose sum no integer takes.
    let counts: Vec<f64> = bins.iter().map(|(_, _, n)| *n as f64).collect();
    let total: f64 = counts.iter().sum();
    // The buckets ascend, so both ends of the window only move up. `from` stops at the bucket in the
    // centre at the latest. `inside` counts what lies in the window.
    let (mut from, mut to, mut inside) = (0, 0, 0.0);
    let mut best = None;
    for &centre in &middles {
        while to < middles.len() && middles[to] <= centre * (1.0 + WIDTH) {
            inside += counts[to];
            to += 1;
        }
        while middles[from] < centre * (1.0 - WIDTH) {
            inside -= counts[from];
            from += 1;
        }
        if best.is_none_or(|(_, most)| inside > most) {
            best = Some((centre, inside));
        }
    }
    let (ns, most) = best.filter(|_| total >= ENOUGH_IOS)?;
    Some(Spike {
        ns,
        share: most / total,
    })
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// The published shape of a paced local disk: 93 % around 524 µs, the quick ones at 205 µs.
    const PACED: &[(f64, f64)] = &[(0.4, 0.04), (1.0, 0.93), (1.6, 0.03)];

    fn sketch(spread: &'static [(f64, f64)]) -> Sketch {
        Sketch {
            case: "q1".to_owned(),
            depth: 1,
            iops: vec![1908.0; 3],
            latency_ns: Some(524_000.0),
            block: 131_072,
            spread,
            ..Sketch::default()
        }
    }

    #[test]
    fn a_spike_with_quick_ones_before_it() {
        let finding = the(&record(&[sketch(PACED)]), "limiter-pacing");
        assert!(
            finding
                .statement
                .contains("paces at 1,908 IOPS (250.1 MB/s)"),
            "{finding:?}"
        );
        assert_eq!(finding.confidence, Confidence::Low);
        let deeper = Sketch {
            case: "q4".to_owned(),
            depth: 4,
            latency_ns: None,
            ..sketch(PACED)
        };
        let finding = the(&record(&[sketch(PACED), deeper]), "limiter-pacing");
        assert_eq!(finding.confidence, Confidence::Medium);
    }

    #[test]
    fn broad_or_purely_regular_latencies_are_no_limiter() {
        silent(&record(&[Sketch::default()]), "limiter-pacing");
        let regular = &[(0.95, 0.1), (1.0, 0.8), (1.05, 0.1)];
        silent(&record(&[sketch(regular)]), "limiter-pacing");
    }

    /// The story: with a flush after each operation, the latencies of the flushes were judged.
    #[test]
    fn flushes_show_no_limiter() {
        let mut flushing = record(&[sketch(&[(0.95, 0.1), (1.0, 0.8), (1.05, 0.1)])]);
        let paced = record(&[sketch(PACED)]);
        for (pass, paced) in flushing.measurements.iter_mut().zip(paced.measurements) {
            let flushes = paced.jobs[0].directions[&Direction::Read].clone();
            pass.jobs[0].directions.insert(Direction::Sync, flushes);
        }
        silent(&flushing, "limiter-pacing");
    }

    #[test]
    fn an_uneven_rate_is_no_limiter() {
        let mut record = record(&[sketch(PACED)]);
        record.measurements[0].series[3].read.ios = 1000;
        silent(&record, "limiter-pacing");
    }
}
