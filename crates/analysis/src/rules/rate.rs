//! The requested rate.

use blocklab_record::{JobResult, PaceKind};

use super::hit::{per_case, warning};
use super::statement::{Slot, fixed, speed};
use crate::Finding;
use crate::view::Cases;

/// Below this share the rate counts as missed; the last operations of a run cost the rest.
const REACHED: f64 = 0.98;
/// Share of the operations that may start late at the end of a run without a word.
const LATE: f64 = 0.001;

const SLOWER: &str = "{} {} were requested and {} delivered in the worst pass";
const LATE_TOO: &str = "{} {} were requested and {} delivered in the worst pass; {} operations \
                        were due and never began";

/// Less was delivered than requested, or many operations were due and never issued.
pub(super) fn rate_missed(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Request less, or give it more depth or threads. Service latency leaves out what \
                  never began; response latency counts it.";
    per_case(cases, "rate-missed", Some(advice), |case| {
        let worst = case.jobs().filter_map(missed);
        let worst = worst.min_by(|a, b| a.share().total_cmp(&b.share()))?;
        let unit = worst.unit;
        let slots = [speed(worst.requested), fixed(unit), speed(worst.delivered)];
        let hit = match worst.overdue {
            0 => warning(SLOWER, slots),
            n => warning(LATE_TOO, [&slots[..], &[Slot::Sum(n as f64)]].concat()),
        };
        Some(
            hit.graded(1.0 - worst.share())
                .with("requested", worst.requested, unit)
                .with("delivered in the worst pass", worst.delivered, unit)
                .with("never began", worst.overdue as f64, ""),
        )
    })
}

struct Missed {
    requested: f64,
    delivered: f64,
    overdue: u64,
    unit: &'static str,
}

impl Missed {
    fn share(&self) -> f64 {
        self.delivered / self.requested
    }
}

fn missed(job: &JobResult) -> Option<Missed> {
    let (requested, delivered, unit) = match (job.requested_iops, job.requested_bytes_per_s) {
        (Some(rate), _) => (rate, job.iops(), "IOPS"),
        (None, Some(rate)) => (rate / 1e6, job.bytes_per_s() / 1e6, "MB/s"),
        (None, None) => return None,
    };
    let census = &job.accounting;
    // Random arrivals: their number scatters by its root, and the device did not choose it.
    let scatter = match job.pace {
        PaceKind::OpenPoisson => 3.0 / (census.issued.max(1) as f64).sqrt(),
        _ => 0.0,
    };
    // More is missing than the end of a run and chance explain.
    let is_short = delivered / requested < REACHED - scatter;
    let found = Missed {
        requested,
        delivered,
        overdue: census.overdue,
        unit,
    };
    // What was due in the last moments had no time to begin.
    let late = census.overdue as f64 / census.issued.max(1) as f64;
    (requested > 0.0 && (is_short || late > LATE)).then_some(found)
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn paced(edit: impl Fn(&mut JobResult)) -> Record {
        let mut record = record(&[Sketch::default()]);
        let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
        jobs.for_each(edit);
        record
    }

    #[test]
    fn a_rate_that_was_not_reached() {
        let finding = the(
            &paced(|job| job.requested_iops = Some(12_000.0)),
            "rate-missed",
        );
        assert!(
            finding
                .statement
                .contains("12,000 IOPS were requested and 10,000 delivered"),
            "{finding:?}"
        );
        silent(
            &paced(|job| job.requested_iops = Some(10_100.0)),
            "rate-missed",
        );
        silent(&paced(|_| {}), "rate-missed");
    }

    /// The story: of operations that arrive by chance fewer came in a short run than the rate is on
    /// average, and a healthy disk read that it missed its rate.
    #[test]
    fn arrivals_by_chance_scatter() {
        let few = |requested_iops| {
            paced(move |job| {
                job.requested_iops = Some(requested_iops);
                job.pace = PaceKind::OpenPoisson;
                job.accounting.issued = 100;
            })
        };
        silent(&few(12_000.0), "rate-missed");
        the(&few(20_000.0), "rate-missed");
    }

    #[test]
    fn a_rate_in_bytes() {
        let finding = the(
            &paced(|job| job.requested_bytes_per_s = Some(100e6)),
            "rate-missed",
        );
        assert!(
            finding
                .statement
                .contains("100 MB/s were requested and 41.0")
        );
    }

    #[test]
    fn operations_that_never_began() {
        let late = |overdue| {
            paced(move |job| {
                job.requested_iops = Some(10_000.0);
                job.accounting.overdue = overdue;
            })
        };
        the(&late(5000), "rate-missed");
        silent(&late(3), "rate-missed");
    }
}
