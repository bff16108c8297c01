//! In: the recorders of a job that replays a trace. Out: how closely it kept to the trace's times,
//! order and rates.

use blocklab_record::{Fidelity, Timing};
use blocklab_worker::{IssueTimes, latency_sum};
use blocklab_workload::Job;

use super::workers::WorkerStatus;

/// How closely a job kept to the trace that it replays; `None` for a job that replays nothing.
pub(crate) fn fidelity(job: &Job, members: &[&WorkerStatus]) -> Option<Box<Fidelity>> {
    let replay = job.replay.as_ref()?;
    let (mut issued, mut reordered, mut conflicts) = (0, 0, 0);
    let mut times: Vec<&IssueTimes> = Vec::new();
    for member in members {
        let recorder = &member.recorder;
        issued += recorder.issued.get();
        reordered += recorder.reordered.get();
        conflicts += recorder.conflicts.get();
        times.extend(recorder.issue_times.as_deref());
    }
    Some(Box::new(Fidelity {
        due: replay.operations.len() as u64 * members.len() as u64,
        issued,
        reordered,
        conflicts,
        adapted: replay.adapted,
        timing: timing(&times).map(Box::new),
    }))
}

/// How late operations were, and how far the rates were off; `None` if the trace keeps no time.
fn timing(times: &[&IssueTimes]) -> Option<Timing> {
    let last = times.iter().max_by_key(|times| times.last_due.get())?;
    let late = latency_sum(times.iter().map(|times| &times.late));
    let spans = times.iter().map(|times| times.spans()).max()?;
    let seconds = last.span as f64 / 1e9;
    let (mut due, mut wrong, mut most) = (0_u64, 0_u64, 0_u64);
    for span in 0..spans {
        let counts = times.iter().map(|times| times.counts(span));
        let (expected, issued) = counts.fold((0, 0), |sum, (expected, issued)| {
            (sum.0 + expected, sum.1 + issued)
        });
        due += expected;
        wrong += expected.abs_diff(issued);
        most = most.max(expected.abs_diff(issued));
    }
    Some(Timing {
        late: late.to_latency(),
        drift_ns: last.drift.get(),
        span_ns: last.last_due.get(),
        waited_for_room: times.iter().map(|times| times.waited_for_room.get()).sum(),
        rate_span_ns: last.span,
        rate_error_mean_iops: wrong as f64 / spans as f64 / seconds,
        rate_error_max_iops: most as f64 / seconds,
        // A late operation counts twice: it is missing in its span, and too many in the next.
        rate_error_percent: 50.0 * wrong as f64 / due.max(1) as f64,
    })
}
