//! Caps that show in siblings: the same figure whatever the block size.

use blocklab_units::{Bytes, count};

use super::sibling::{Axis, SAME_PERCENT, families, is_flat, level};
use crate::held::explained;
use crate::hit::{Hit, info, joined};
use crate::obstacle::shows_target;
use crate::statement::{Slot, fixed};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// Without a sibling at another depth, at least this many in flight are needed for the same IOPS at two
/// sizes to be more than the same latency.
const MANY: u64 = 8;

const ADVICE: &str = "Compare it with the documented limits of the volume and of the machine.";

/// The same bytes per second over three or more block sizes.
pub(super) fn byte_cap(cases: &Cases<'_>) -> Vec<Finding> {
    let plateaus = plateaus(cases, 3, CaseView::bytes_per_s);
    let hits = plateaus.iter().filter_map(|plateau| {
        let slots = level_slots(plateau, |case| case.bytes_per_s() / 1e6)?;
        let text = "the rate is {} MB/s whatever the block size from {} to {}: a cap on bytes, or \
                    the full bandwidth of the target";
        Some(plateau.iter().map(move |case| {
            let hit = sized(info(text, slots.clone()), case).confidence(Confidence::Medium);
            (
                case.name,
                hit.with("bytes", case.bytes_per_s() / 1e6, "MB/s"),
            )
        }))
    });
    joined(cases, "byte-cap", Some(ADVICE), hits.flatten())
}

/// The same operations per second over two or more block sizes, the largest at least twice the smallest.
pub(super) fn iops_cap(cases: &Cases<'_>) -> Vec<Finding> {
    let plateaus = plateaus(cases, 2, CaseView::iops);
    let depths = families(cases, Axis::InFlight);
    let hits = plateaus.iter().filter_map(|plateau| {
        let [level, smallest, largest] = level_slots(plateau, CaseView::iops)?;
        let flat = plateau.iter().any(|case| is_flat(&depths, case));
        // With few in flight, the same latency alone gives the same rate at every small size.
        let (confidence, addition) = match (flat, plateau[0].slots() >= MANY) {
            (true, _) => (Confidence::Medium, ", and whatever the depth"),
            (false, true) => (Confidence::Low, ""),
            (false, false) => return None,
        };
        let [least, .., most] = plateau[..] else {
            return None;
        };
        let slots = [level, smallest, largest, fixed(addition)];
        let text =
            "the rate is {} IOPS whatever the block size from {} to {}{}: a cap on operations";
        let hits = plateau.iter().map(move |case| {
            let hit = sized(info(text, slots.clone()), case).confidence(confidence);
            (case.name, hit.with("IOPS", case.iops(), "IOPS"))
        });
        (size(most).0 >= 2 * size(least).0).then_some(hits)
    });
    joined(cases, "iops-cap", Some(ADVICE), hits.flatten())
}

/// Runs of neighbouring sizes with the same figure: the longest of each family, if it has at least
/// `fewest` cases.
fn plateaus<'a>(
    cases: &'a Cases<'a>,
    fewest: usize,
    figure: impl Fn(&CaseView<'a>) -> f64,
) -> Vec<Vec<&'a CaseView<'a>>> {
    let explained = explained(cases);
    families(cases, Axis::Size)
        .into_iter()
        .filter_map(|family| {
            let family: Vec<_> = family
                .into_iter()
                .filter(|case| shows_target(cases, case) && !explained.contains(case.name))
                .collect();
            let values: Vec<f64> = family.iter().map(|case| figure(case)).collect();
            // Of runs of the same length, the one of the smallest blocks.
            let lengths = (0..values.len()).map(|start| (start, same_from(&values[start..])));
            let (start, length) =
                lengths.max_by_key(|(start, length)| (*length, usize::MAX - start))?;
            (length >= fewest).then(|| family[start..start + length].to_vec())
        })
        .collect()
}

/// How many of the first values are the same.
fn same_from(values: &[f64]) -> usize {
    (1..=values.len())
        .take_while(|length| level(&values[..*length]).1 <= SAME_PERCENT)
        .last()
        .unwrap_or(0)
}

/// The figure that is the same for all, the smallest and the largest block; `None` where one size
/// is all there is, or nothing moved.
fn level_slots<'a>(
    plateau: &[&CaseView<'a>],
    what: impl Fn(&CaseView<'a>) -> f64,
) -> Option<[Slot; 3]> {
    let values: Vec<f64> = plateau.iter().map(|case| what(case)).collect();
    let (mean, _) = level(&values);
    let (smallest, largest) = (size(plateau.first()?), size(plateau.last()?));
    let slots = [count(mean), smallest.to_string(), largest.to_string()];
    (smallest < largest && mean > 0.0).then(|| slots.map(fixed))
}

fn size(case: &CaseView<'_>) -> Bytes {
    Bytes(case.bytes_per_io().round() as u64)
}

fn sized(hit: Hit, case: &CaseView<'_>) -> Hit {
    hit.with("block", case.bytes_per_io() / 1024.0, "KiB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn capped(kib: u64, iops: f64) -> Sketch {
        Sketch {
            case: format!("{kib}k"),
            block: kib * 1024,
            iops: vec![iops; 3],
            ..Sketch::default()
        }
    }

    /// The published figures of a local disk: 255 MiB/s from 8 to 128 KiB.
    #[test]
    fn the_same_bytes_over_many_sizes() {
        let sizes = [(8, 32_640.0), (16, 16_320.0), (64, 4080.0), (128, 2040.0)];
        let mut sketches = vec![capped(4, 50_000.0)];
        sketches.extend(sizes.map(|(kib, iops)| capped(kib, iops)));
        let finding = the(&record(&sketches), "byte-cap");
        assert_eq!(finding.subject, ["8k", "16k", "64k", "128k"]);
        assert!(
            finding
                .statement
                .contains("267 MB/s whatever the block size from 8 KiB to 128 KiB"),
            "{finding:?}"
        );
        assert_eq!(finding.confidence, Confidence::Medium);
        silent(&record(&sketches[..3]), "byte-cap");
    }

    #[test]
    fn bytes_that_grow_with_the_size_are_no_cap() {
        let sketches = [capped(4, 10_000.0), capped(8, 9000.0), capped(16, 8000.0)];
        silent(&record(&sketches), "byte-cap");
        silent(&record(&sketches), "iops-cap");
    }

    #[test]
    fn the_same_operations_over_two_sizes_and_two_depths() {
        let mut deeper = capped(4, 3000.0);
        (deeper.case, deeper.depth) = ("4k-q64".to_owned(), 64);
        let sketches = [capped(4, 3000.0), capped(16, 2995.0), deeper];
        let finding = the(&record(&sketches), "iops-cap");
        assert_eq!(finding.subject, ["4k", "16k"]);
        assert_eq!(finding.confidence, Confidence::Medium);
        let finding = the(&record(&sketches[..2]), "iops-cap");
        assert_eq!(finding.confidence, Confidence::Low);
    }

    /// The story: the same cap at two depths was the same finding twice.
    #[test]
    fn a_cap_at_two_depths_is_one_finding() {
        let shallow = [capped(4, 3000.0), capped(16, 2995.0)];
        let deep = shallow.clone().map(|sketch| Sketch {
            case: format!("{}-q64", sketch.case),
            depth: 64,
            ..sketch
        });
        let finding = the(&record(&[shallow, deep].concat()), "iops-cap");
        assert_eq!(finding.subject, ["4k", "16k", "4k-q64", "16k-q64"]);
    }

    /// One thread on a network volume: 600 µs and 609 µs. That is latency, not a cap.
    #[test]
    fn the_same_latency_at_depth_one_is_no_cap() {
        let mut sketches = [capped(4, 1666.0), capped(8, 1642.0)];
        sketches.iter_mut().for_each(|sketch| sketch.depth = 1);
        silent(&record(&sketches), "iops-cap");
    }

    #[test]
    fn a_full_processor_is_no_cap() {
        let mut record = record(&[capped(4, 3000.0), capped(16, 3000.0)]);
        for measurement in &mut record.measurements {
            measurement.cpu.busiest_thread_percent = 100;
        }
        silent(&record, "iops-cap");
    }
}
