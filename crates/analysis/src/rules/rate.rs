//! The requested rate.

use blocklab_record::{JobResult, PaceKind};

use blocklab_units::stated;

use super::hit::{Hit, joined, warning};
use super::statement::{Slot, fixed, speed};
use crate::Finding;
use crate::held::{Bound, UsedLimit, bound};
use crate::view::{CaseView, Cases};

/// Below this share the rate counts as missed; the last operations of a run cost the rest.
const REACHED: f64 = 0.98;
/// Share of the operations that may start late at the end of a run without a word.
const LATE: f64 = 0.001;

const SLOWER: &str = "{} {} were requested and {} delivered in the worst pass{}";
const LATE_TOO: &str = "{} {} were requested and {} delivered in the worst pass{}; {} operations \
                        were due and never began";

const DEEPER: &str = "Request less, or give it more depth or threads. Service latency leaves out what \
                      never began; response latency counts it.";
const LARGER: &str = "Request less, or take a volume or an instance with a higher limit: more depth \
                      cannot help. Service latency leaves out what never began; response latency \
                      counts it.";

/// Less was delivered than requested, or many operations were due and never issued.
pub(super) fn rate_missed(cases: &Cases<'_>) -> Vec<Finding> {
    let (mut by_limit, mut by_depth) = (Vec::new(), Vec::new());
    for case in &cases.list {
        let Some(worst) = worst(case) else { continue };
        match bound(cases, case) {
            Bound::Limits(held) => by_limit.push((case.name, worst.hit(because(&held)))),
            _ => by_depth.push((case.name, worst.hit(String::new()))),
        }
    }
    let finding = |advice, hits| joined(cases, "rate-missed", Some(advice), hits);
    [finding(LARGER, by_limit), finding(DEEPER, by_depth)].concat()
}

fn worst(case: &CaseView<'_>) -> Option<Missed> {
    let missed = case.jobs().filter_map(missed);
    missed.min_by(|a, b| a.share().total_cmp(&b.share()))
}

/// `: gp3: volume IOPS held it back, 3,000 IOPS (documented)`
fn because(held: &[UsedLimit<'_>]) -> String {
    let mut limits: Vec<String> = Vec::new();
    for it in held {
        let (name, value) = (&it.limit.name, stated(it.value()));
        let how = it.limit.origin.how();
        let words = format!("{name}, {value} {} ({how})", it.unit());
        if !limits.contains(&words) {
            limits.push(words);
        }
    }
    format!(": held back by {}", limits.join(" and "))
}

/// A rate that is met to within this share is met, though operations waited for a limit.
const MET: f64 = 0.995;

/// Whether every job has a rate, and got it.
pub(crate) fn is_met(case: &CaseView<'_>) -> bool {
    case.jobs().all(|job| {
        let delivered = delivered(job);
        delivered.is_some_and(|it| missed(job).is_none() && it.share() >= MET - scatter(job))
    })
}

/// Whether a job with a rate did not get it.
pub(crate) fn is_missed(case: &CaseView<'_>) -> bool {
    case.jobs().any(|job| missed(job).is_some())
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

    /// The finding; `because` says what was in the way, where that is known.
    fn hit(&self, because: String) -> Hit {
        let because = fixed(because);
        let (requested, delivered) = (speed(self.requested), speed(self.delivered));
        let slots = [requested, fixed(self.unit), delivered, because];
        let hit = match self.overdue {
            0 => warning(SLOWER, slots),
            n => warning(LATE_TOO, [&slots[..], &[Slot::Sum(n as f64)]].concat()),
        };
        hit.graded(1.0 - self.share())
            .with("requested", self.requested, self.unit)
            .with("delivered in the worst pass", self.delivered, self.unit)
            .with("never began", self.overdue as f64, "")
    }
}

/// What was requested of a job with a rate, and what it delivered.
fn delivered(job: &JobResult) -> Option<Missed> {
    let (requested, delivered, unit) = match (job.requested_iops, job.requested_bytes_per_s) {
        (Some(rate), _) => (rate, job.iops(), "IOPS"),
        (None, Some(rate)) => (rate / 1e6, job.bytes_per_s() / 1e6, "MB/s"),
        (None, None) => return None,
    };
    let found = Missed {
        requested,
        delivered,
        overdue: job.accounting.overdue,
        unit,
    };
    (requested > 0.0).then_some(found)
}

/// Random arrivals: their number scatters by its root, and the device did not choose it.
fn scatter(job: &JobResult) -> f64 {
    match job.pace {
        PaceKind::OpenPoisson => 3.0 / (job.accounting.issued.max(1) as f64).sqrt(),
        _ => 0.0,
    }
}

fn missed(job: &JobResult) -> Option<Missed> {
    let found = delivered(job)?;
    // More is missing than the end of a run and chance explain.
    let is_short = found.share() < REACHED - scatter(job);
    // What was due in the last moments had no time to begin.
    let late = found.overdue as f64 / job.accounting.issued.max(1) as f64;
    (is_short || late > LATE).then_some(found)
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
