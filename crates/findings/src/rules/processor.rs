//! Figures that are the processor's, or the tool's own.

use blocklab_record::Origin;
use blocklab_units::count;
use blocklab_workload::{Direction, EngineKind};

use crate::hit::{info, per_case, per_run, warning};
use crate::statement::{delay, number, percent as share_of, word};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// From here on a processor is full: the rest is the tick that the kernel accounts by.
const FULL_PERCENT: f64 = 95.0;
/// Share of a thread's time above which our own cost is part of the figure.
const OVERHEAD_PERCENT: f64 = 10.0;
/// A clock is synchronised to within this; beyond it, the error is worth a word.
const CLOCK_PPM: f64 = 100.0;

/// Whether our own use of the processor held the load back.
pub(crate) fn is_limited(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let processors = f64::from(cases.record.environment.processor.count);
    let all_ours = processors > 0.0 && case.own_processors() >= processors * FULL_PERCENT / 100.0;
    case.busiest_thread_percent() > FULL_PERCENT
        || all_ours
        || (is_full(case) && is_ours(cases, case))
}

fn is_full(case: &CaseView<'_>) -> bool {
    case.machine_busy_percent() > FULL_PERCENT
}

/// Whether other programs kept the processors of the machine busy.
pub(super) fn is_busy_by_others(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    // Nobody knows what the program itself took of an imported run.
    is_full(case) && !is_ours(cases, case) && cases.record.origin != Origin::Imported
}

/// Whether the process used most of the processors; never where their number is unknown.
fn is_ours(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    cases.record.environment.processor.count > 0
        && case.own_processors() * 2.0 >= f64::from(cases.record.environment.processor.count)
}

/// The program's own use of the processors held the load back: one of its threads was full, or all
/// processors were, mostly with its work.
pub(super) fn cpu_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Use more threads, larger blocks, direct access, or io_uring with a deeper queue \
                  to spend less processor time on each operation.";
    per_case(cases, "cpu-limit", Some(advice), |case| {
        // With the null target there is nothing else to measure. The model paces inside this process:
        // it polls for the moment at which an operation is due, and a thread that polls is always busy.
        // So it is on a target that answers nothing.
        let is_expected = case.is_null() || cases.is_emulated() || case.ios() == 0;
        if is_expected || !is_limited(cases, case) {
            return None;
        }
        let (busiest, cost) = (case.busiest_thread_percent(), case.row.cpu_ns_per_io);
        Some(
            warning(
                "the processor was the limit, not the target: the busiest thread used {} of a \
             processor, {} an operation",
                [share_of(busiest), delay(cost)],
            )
            // A thread that polls is busy without being in the way.
            .confidence(Confidence::Medium)
            .with("busiest thread", busiest, "%")
            .with("machine busy", case.machine_busy_percent(), "%")
            .with("own processors", case.own_processors(), "")
            .with("processor time per operation", cost, "ns")
            .with("of it blocklab's own", own_cost(cases, case), "ns"),
        )
    })
}

/// Somebody else used the processors.
pub(super) fn machine_busy(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Stop what else runs on the machine and measure again.";
    per_case(cases, "machine-busy", Some(advice), |case| {
        let busy = case.machine_busy_percent();
        // Without an operation there is no latency that includes a wait.
        (is_busy_by_others(cases, case) && case.ios() > 0).then(|| {
            warning(
                "other programs kept the machine {} busy, so latencies may include waits for a \
                 processor",
                [share_of(busy)],
            )
            .confidence(Confidence::Medium)
            .with("machine busy", busy, "%")
            .with("own processors", case.own_processors(), "")
        })
    })
}

/// Processor time that the tool itself takes for an operation, as measured with the null target.
fn own_cost(cases: &Cases<'_>, case: &CaseView<'_>) -> Option<f64> {
    let overhead = cases.record.overhead.as_ref()?;
    let deep = case.slots() > case.threads();
    Some(if deep {
        overhead.depth32_ns
    } else {
        overhead.depth1_ns
    })
}

/// Share of its threads' time that the tool itself takes, in per cent; `None` where its cost was
/// not measured.
pub(super) fn own_share_percent(cases: &Cases<'_>, case: &CaseView<'_>) -> Option<f64> {
    Some(own_cost(cases, case)? * iops_per_thread(case) / 1e9 * 100.0)
}

fn iops_per_thread(case: &CaseView<'_>) -> f64 {
    case.iops() / case.threads().max(1) as f64
}

/// The tool's own cost is a noticeable part of what was measured. At depth 1 it adds to the time
/// of every operation; deeper it is hidden behind the target until the thread is full.
pub(super) fn overhead(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Compare such figures only with others of this tool on this machine.";
    per_case(cases, "overhead", Some(advice), |case| {
        let own = own_cost(cases, case)?;
        let hidden = case.slots() > case.threads() && !is_limited(cases, case);
        let percent = own_share_percent(cases, case)?;
        let felt = percent > OVERHEAD_PERCENT && !hidden && !case.is_null();
        felt.then(|| {
            warning(
                "blocklab itself took {} of the time: {} of each operation",
                [share_of(percent), delay(own)],
            )
            .confidence(Confidence::Medium)
            .with("own cost per operation", own, "ns")
            .with("operations per thread", iops_per_thread(case), "IOPS")
            .with("share of the time", percent, "%")
        })
    })
}

const BLOCKS: &str = "io_uring handed operations to worker threads of the kernel, up to {} at \
                      once: the target does not take them without blocking";
const FLUSHES: &str = "io_uring handed operations to worker threads of the kernel, up to {} at \
                       once: flushes and trims always go there";

/// io_uring could not do the work without blocking. Flushes and hole punching always go to
/// workers, so with them in the mix the workers show little.
pub(super) fn uring_workers(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Compare with psync or libaio on this target: without the hand-over they may be \
                  quicker and cheaper.";
    per_case(cases, "uring-workers", Some(advice), |case| {
        let uses_uring = case.jobs().any(|job| job.engine.is(EngineKind::IoUring));
        let most = case
            .passes
            .iter()
            .map(|pass| pass.uring_workers_max)
            .max()?;
        let flushes = case.does(Direction::Sync) || case.does(Direction::Trim);
        let most = f64::from(most);
        let hit = if flushes {
            info(FLUSHES, [number(most)]).confidence(Confidence::Low)
        } else {
            warning(BLOCKS, [number(most)])
        };
        (uses_uring && most > 0.0).then(|| {
            hit.with("worker threads", most, "").with(
                "processor time per operation",
                case.row.cpu_ns_per_io,
                "ns",
            )
        })
    })
}

/// The clock of the run differs from the system's.
pub(super) fn clock(cases: &Cases<'_>) -> Vec<Finding> {
    per_run("clock", None, || {
        let clock = &cases.record.overhead.as_ref()?.clock;
        let ppm = clock.error_ppm.abs();
        let hit = info(
            "The {} clock went {} ppm off the system's clock: rates and latencies are that uncertain",
            [word(&clock.source), word(count(ppm))],
        );
        (ppm > CLOCK_PPM).then(|| hit.with("clock error", clock.error_ppm, "ppm"))
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::{ClockFacts, Measurement, Overhead, Record};

    use super::*;
    use crate::Severity;
    use crate::testing::{Sketch, record, silent, the};

    fn with(edit: impl Fn(&mut Measurement)) -> Record {
        let mut record = record(&[Sketch::default()]);
        record.measurements.iter_mut().for_each(edit);
        record
    }

    #[test]
    fn a_full_thread_is_the_limit() {
        let finding = the(&with(|m| m.cpu.busiest_thread_percent = 99), "cpu-limit");
        assert!(finding.statement.contains("used 99 % of a processor"));
        assert_eq!(finding.severity, Severity::Warning);
        silent(&with(|m| m.cpu.busiest_thread_percent = 90), "cpu-limit");
    }

    /// The story: a run on `emu:gp3` had the finding that the processor was the limit, because the thread
    /// that paces polls for the moment at which the next operation is due.
    #[test]
    fn a_thread_that_paces_a_model_is_no_limit() {
        let mut emulated = with(|m| m.cpu.busiest_thread_percent = 100);
        emulated.origin = blocklab_record::Origin::Emulated;
        silent(&emulated, "cpu-limit");
    }

    /// The story: a thread polled a device that never answered, and "the processor was the limit, not the
    /// target", with the time of the whole run for "an operation".
    #[test]
    fn a_thread_that_polls_for_nothing_is_no_limit() {
        let hung = with(|m| {
            m.cpu.busiest_thread_percent = 100;
            m.jobs[0].directions.clear();
            m.jobs[0].accounting.completed = 0;
        });
        silent(&hung, "cpu-limit");
    }

    #[test]
    fn the_null_engine_is_meant_to_be_limited_by_the_processor() {
        let mut record = record(&[Sketch {
            engine: "null",
            ..Sketch::default()
        }]);
        record.measurements[0].cpu.busiest_thread_percent = 100;
        silent(&record, "cpu-limit");
    }

    #[test]
    fn a_full_machine_is_ours_or_somebody_elses() {
        let busy = |own_seconds: u64| {
            with(|m| {
                m.cpu.machine_busy_percent = 98;
                m.cpu.user_ns = own_seconds * 1_000_000_000;
                m.cpu.system_ns = 0;
            })
        };
        // Four processors for ten seconds.
        the(&busy(30), "cpu-limit");
        silent(&busy(30), "machine-busy");
        the(&busy(5), "machine-busy");
        silent(&busy(5), "cpu-limit");
    }

    /// A run of DiskSpd on two processors that it kept 98 % busy itself read that "other
    /// programs kept the machine 98 % busy".
    #[test]
    fn of_another_programs_run_nobody_else_is_blamed() {
        let mut imported = with(|m| {
            m.cpu.machine_busy_percent = 98;
            (m.cpu.user_ns, m.cpu.system_ns) = (0, 0);
        });
        the(&imported, "machine-busy");
        imported.origin = Origin::Imported;
        silent(&imported, "machine-busy");
    }

    fn with_overhead(nanos: f64, ppm: f64) -> Record {
        let mut record = record(&[Sketch {
            engine: "psync",
            depth: 1,
            latency_ns: Some(1000.0),
            iops: vec![1e6],
            ..Sketch::default()
        }]);
        record.overhead = Some(Overhead {
            depth1_ns: nanos,
            depth32_ns: nanos,
            clock: ClockFacts {
                source: "tsc".to_owned(),
                read_ns: 20.0,
                error_ppm: ppm,
            },
        });
        record
    }

    #[test]
    fn our_own_cost_is_reported_where_it_is_felt() {
        let finding = the(&with_overhead(150.0, 0.0), "overhead");
        assert!(
            finding.statement.contains("15 % of the time"),
            "{finding:?}"
        );
        silent(&with_overhead(50.0, 0.0), "overhead");
    }

    #[test]
    fn a_clock_that_drifts_is_reported() {
        the(&with_overhead(1.0, -250.0), "clock");
        silent(&with_overhead(1.0, 20.0), "clock");
    }

    #[test]
    fn work_handed_to_threads() {
        let finding = the(&with(|m| m.uring_workers_max = 4), "uring-workers");
        assert!(finding.statement.contains("up to 4 at once"));
        assert_eq!(finding.severity, Severity::Warning);
        silent(&with(|_| {}), "uring-workers");
        let flushing = with(|m| {
            m.uring_workers_max = 1;
            let reads = m.jobs[0].directions[&Direction::Read].clone();
            m.jobs[0].directions.insert(Direction::Sync, reads);
        });
        assert_eq!(the(&flushing, "uring-workers").severity, Severity::Info);
    }
}
