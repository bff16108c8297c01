//! The pace that was asked for.

use blocklab_record::JobResult;

use super::hit::{Hit, figure, per_case};
use super::says::{Slot, fixed, says, speed};
use crate::view::Cases;
use crate::{Confidence, Finding, Severity};

/// Below this share the rate counts as missed; the last operations of a run cost the rest.
const REACHED: f64 = 0.98;
/// Share of the operations that may start late at the end of a run without a word.
const LATE: f64 = 0.001;

const SLOWER: &str = "{} {} were asked for and {} delivered in the worst pass";
const LATE_TOO: &str = "{} {} were asked for and {} delivered in the worst pass; {} operations \
                        were due and never began";

/// Less was delivered than asked for, or operations were due and never issued.
pub(super) fn rate_missed(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Ask for less, or give it more depth or threads. Service latency leaves out what \
                  never began; response latency counts it.";
    per_case(cases, "rate-missed", Some(advice), |case| {
        let worst = case.jobs().filter_map(missed);
        let worst = worst.min_by(|a, b| a.share().total_cmp(&b.share()))?;
        let Missed {
            asked,
            delivered,
            overdue,
            unit,
            ..
        } = worst;
        let severity = match worst.share() < REACHED || worst.late > LATE {
            true => Severity::Warning,
            false => Severity::Info,
        };
        let (wanted, unit_of) = (speed(asked), fixed(unit));
        let never = Slot::Sum(overdue as f64);
        let says = match overdue {
            0 => says(SLOWER, [wanted, unit_of, speed(delivered)]),
            _ => says(LATE_TOO, [wanted, unit_of, speed(delivered), never]),
        }
        .graded(1.0 - worst.share());
        Some(Hit {
            case: case.name,
            severity,
            confidence: Confidence::High,
            says,
            evidence: vec![
                figure("asked for", asked, unit),
                figure("delivered in the worst pass", delivered, unit),
                figure("never began", overdue as f64, ""),
            ],
        })
    })
}

struct Missed {
    asked: f64,
    delivered: f64,
    overdue: u64,
    /// Operations that never began, as a share of all that were issued.
    late: f64,
    unit: &'static str,
}

impl Missed {
    fn share(&self) -> f64 {
        self.delivered / self.asked
    }
}

fn missed(job: &JobResult) -> Option<Missed> {
    let (asked, delivered, unit) = match (job.asked_iops, job.asked_bytes_per_s) {
        (Some(asked), _) => (asked, job.iops(), "IOPS"),
        (None, Some(asked)) => (asked / 1e6, job.bytes_per_s() / 1e6, "MB/s"),
        (None, None) => return None,
    };
    let census = &job.accounting;
    let found = Missed {
        asked,
        delivered,
        overdue: census.overdue,
        late: census.overdue as f64 / census.issued.max(1) as f64,
        unit,
    };
    (asked > 0.0 && (found.share() < REACHED || census.overdue > 0)).then_some(found)
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn asked(edit: impl Fn(&mut JobResult)) -> Record {
        let mut record = record(&[Sketch::default()]);
        let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
        jobs.for_each(edit);
        record
    }

    #[test]
    fn a_rate_that_was_not_reached() {
        let finding = the(&asked(|job| job.asked_iops = Some(12_000.0)), "rate-missed");
        assert!(
            finding
                .statement
                .contains("12,000 IOPS were asked for and 10,000 delivered"),
            "{finding:?}"
        );
        silent(&asked(|job| job.asked_iops = Some(10_100.0)), "rate-missed");
        silent(&asked(|_| {}), "rate-missed");
    }

    #[test]
    fn a_rate_in_bytes() {
        let finding = the(
            &asked(|job| job.asked_bytes_per_s = Some(100e6)),
            "rate-missed",
        );
        assert!(
            finding
                .statement
                .contains("100 MB/s were asked for and 41.0")
        );
    }

    #[test]
    fn operations_that_never_began() {
        let late = |overdue| {
            asked(move |job| {
                job.asked_iops = Some(10_000.0);
                job.accounting.overdue = overdue;
            })
        };
        assert_eq!(the(&late(5000), "rate-missed").severity, Severity::Warning);
        assert_eq!(the(&late(3), "rate-missed").severity, Severity::Info);
    }
}
