//! The requested rate.

use blocklab_units::stated;

use super::group;
use crate::Finding;
use crate::held::{Bound, UsedLimit, bound};
use crate::hit::{Hit, joined, warning};
use crate::requested::{RequestedRate, worst};
use crate::statement::{Slot, fixed, speed, sum};
use crate::view::Cases;

const SLOWER: &str = "{} {} were requested and {} delivered in the worst pass{}";
const LATE_TOO: &str = "{} {} were requested and {} delivered in the worst pass{}; {} due \
                        and never began";

const DEEPER: &str = "Request less, or give it more depth or threads. Service latency leaves out what \
                      never began; response latency counts it.";
/// Of a job that pauses: its pauses begin when all that is in flight is back, so that depth gives nothing.
const SHORTER_PAUSES: &str = "Request less, shorten the pauses of the job, or give it more threads: before \
                              a pause it waits for all that it has in flight. Service latency leaves out \
                              what never began; response latency counts it.";
const LARGER: &str = "Request less, or take a volume or an instance with a higher limit: more depth \
                      cannot help. Service latency leaves out what never began; response latency \
                      counts it.";

/// Less was delivered than requested, or many operations were due and never issued.
pub(super) fn rate_missed(cases: &Cases<'_>) -> Vec<Finding> {
    let (mut by_limit, mut by_pauses, mut by_depth) = (Vec::new(), Vec::new(), Vec::new());
    for case in &cases.list {
        let Some(worst) = worst(case) else { continue };
        match bound(cases, case) {
            Bound::Limits(held) => by_limit.push((case.name, worst.hit(because(&held)))),
            _ if group::reached(cases, case).is_some() => {
                by_limit.push((case.name, worst.hit(String::new())));
            }
            _ if worst.pauses => {
                by_pauses.push((case.name, worst.hit(": the job pauses".to_owned())));
            }
            _ => by_depth.push((case.name, worst.hit(String::new()))),
        }
    }
    [
        joined(cases, "rate-missed", Some(LARGER), by_limit),
        joined(cases, "rate-missed", Some(SHORTER_PAUSES), by_pauses),
        joined(cases, "rate-missed", Some(DEEPER), by_depth),
    ]
    .concat()
}

/// `: held back by gp3: volume IOPS, 3,000 IOPS (documented)`
fn because(held: &[UsedLimit<'_>]) -> String {
    let mut limits: Vec<String> = Vec::new();
    for used in held {
        let (name, value) = (&used.limit.name, stated(used.value()));
        let how = used.limit.origin.how();
        let words = format!("{name}, {value} {} ({how})", used.unit());
        if !limits.contains(&words) {
            limits.push(words);
        }
    }
    format!(": held back by {}", limits.join(" and "))
}

fn never_began(number: u64) -> Slot {
    sum(number as f64, "operation was", "operations were")
}

impl RequestedRate {
    /// The finding; `because` says what was in the way, where that is known.
    fn hit(&self, because: String) -> Hit {
        let because = fixed(because);
        let (requested, delivered) = (speed(self.requested), speed(self.delivered));
        let slots = [requested, fixed(self.unit), delivered, because];
        let hit = match self.overdue {
            0 => warning(SLOWER, slots),
            n => warning(LATE_TOO, [&slots[..], &[never_began(n)]].concat()),
        };
        hit.graded(1.0 - self.share())
            .with("requested", self.requested, self.unit)
            .with("delivered in the worst pass", self.delivered, self.unit)
            .with("never began", self.overdue as f64, "")
    }
}

#[cfg(test)]
mod tests {
    use blocklab_record::{JobResult, PaceKind, Record};

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

    /// The story: a job that wrote 500 times a second and read all of it back at 200 a second: "500 IOPS were
    /// requested and 350 delivered", which is the rate over both.
    #[test]
    fn a_job_that_reads_back_has_its_rate_over_both() {
        let wrote = |verified: bool| {
            let mut record = record(&[Sketch {
                direction: "write",
                ..Sketch::default()
            }]);
            for job in record.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
                job.requested_iops = Some(12_000.0);
                job.verified = verified.then(Default::default);
            }
            record
        };
        the(&wrote(false), "rate-missed");
        silent(&wrote(true), "rate-missed");
    }

    /// The story: 2 in flight that paused for 100 µs gave 3,969 of the 11,908 IOPS requested, and more depth or
    /// threads were advised. Twice the depth gave the same, and without its pauses the job had its rate.
    #[test]
    fn pauses_are_named_before_depth() {
        let requested = |pauses| {
            let finding = the(
                &paced(|job| (job.requested_iops, job.think) = (Some(12_000.0), pauses)),
                "rate-missed",
            );
            let advice = finding.advice.expect("an advice");
            (finding.statement.contains("the job pauses"), advice)
        };
        let (is_named, advice) = requested(true);
        assert!(
            is_named && advice.contains("shorten the pauses"),
            "{advice}"
        );
        let (is_named, advice) = requested(false);
        assert!(!is_named && advice.contains("more depth"), "{advice}");
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

    /// The story: 4.1 operations a second for three seconds were 12, and a healthy disk read that 4.1 had been
    /// requested and 4.0 delivered.
    #[test]
    fn the_operation_that_was_not_due_is_not_missed() {
        let lacks_three_percent = |issued| {
            paced(move |job| {
                job.requested_iops = Some(10_300.0);
                job.accounting.issued = issued;
            })
        };
        silent(&lacks_three_percent(12), "rate-missed");
        the(&lacks_three_percent(1000), "rate-missed");
    }

    /// The story: 64 threads that did 74 operations, a fifth of what was due, had no warning: the last operation
    /// of each was taken as a share of what they did.
    #[test]
    fn the_last_operations_are_a_share_of_what_was_due() {
        let slow = paced(|job| {
            (job.requested_iops, job.threads) = (Some(50_000.0), 64);
            job.accounting.issued = 74;
        });
        the(&slow, "rate-missed");
    }

    /// The story: 274 operations that arrived by chance after a ramp with three times as many were 89 % of their
    /// rate. All of them were taken for the number that scatters, and a limit for which some had waited now and
    /// then was named, as if the rate had been missed.
    #[test]
    fn arrivals_in_the_ramp_do_not_count_for_chance() {
        let after_ramp = |in_ramp| {
            paced(move |job| {
                job.requested_iops = Some(12_000.0);
                job.pace = PaceKind::OpenPoisson;
                (job.accounting.issued, job.accounting.completed_in_ramp) = (1000, in_ramp);
            })
        };
        silent(&after_ramp(900), "rate-missed");
        the(&after_ramp(0), "rate-missed");
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

    /// The story: a volume that had 5 % of its time to spare got 118 of the 118 IOPS requested, and 13 of
    /// 7,080 operations were due when the minute was over: a warning that the rate was missed.
    #[test]
    fn a_few_operations_that_are_due_at_the_end_are_no_missed_rate() {
        let late = |overdue| {
            paced(move |job| {
                job.requested_iops = Some(10_000.0);
                job.accounting.issued = 7080;
                job.accounting.overdue = overdue;
            })
        };
        silent(&late(13), "rate-missed");
        // On both sides of what a rate may lack.
        silent(&late(35), "rate-missed");
        the(&late(36), "rate-missed");
    }

    /// The story: 6 writes a second for ten seconds were 60 of 60, and the one that was due as the time ended
    /// made a warning that the rate was missed.
    #[test]
    fn the_last_operation_of_each_thread_is_no_missed_rate() {
        let late = |overdue| {
            paced(move |job| {
                job.requested_iops = Some(10_000.0);
                job.threads = 2;
                job.accounting.issued = 60;
                job.accounting.overdue = overdue;
            })
        };
        silent(&late(2), "rate-missed");
        the(&late(3), "rate-missed");
    }
}
