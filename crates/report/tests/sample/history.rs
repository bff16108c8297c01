//! Runs of the same loads, one a day: the last eight are slower, under another kernel.

use blocklab_compare::history::{Digest, HistoryRun};
use blocklab_record::Status;

/// Runs before the change.
pub const BEFORE: usize = 20;
/// A run that somebody interrupted.
pub const INTERRUPTED: usize = 5;

/// The runs, the oldest first.
pub fn history_runs() -> Vec<HistoryRun> {
    (0..28).map(run).collect()
}

fn run(number: usize) -> HistoryRun {
    let level = if number < BEFORE { 1.0 } else { 0.85 };
    let scatter = 0.01 * ((number * 7 % 5) as f64 - 2.0);
    let (mut record, mut assessment) = super::run("7f3a2c", level + scatter);
    assessment.findings.clear();
    assessment.rows.drain(..6);
    if number == INTERRUPTED {
        record.status = Status::Interrupted;
    }
    record.environment.kernel = if number < BEFORE { "6.1" } else { "6.8" }.to_owned();
    HistoryRun {
        id: format!("202611{:02}-190142-k3f", number + 1),
        started_at: format!("2026-11-{:02}T19:01:42Z", number + 1),
        digest: Digest::new(&record, &assessment),
        by_hand: None,
    }
}
