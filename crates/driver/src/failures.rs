//! In: the failed operations and miscompares of a job's threads. Out: its failed operations by kind, the
//! earliest first, and its miscompares.

use blocklab_record::{ErrorCount, ErrorKind};
use blocklab_verify::MiscompareKind;
use blocklab_worker::{Failure, KeptMiscompare};
use blocklab_workload::{Direction, errno};

use super::workers::WorkerStatus;

/// Operations that failed.
pub(super) fn errors(members: &[&WorkerStatus]) -> Vec<ErrorCount> {
    let mut merged: Vec<Failure> = Vec::new();
    for failure in members.iter().flat_map(|member| member.recorder.failures()) {
        failure.add_to(&mut merged);
    }
    merged.sort_by_key(|failure| failure.first_at);
    merged.iter().map(error_count).collect()
}

/// A failure as the Record has it.
fn error_count(failure: &Failure) -> ErrorCount {
    let (kind, message) = match failure.errno {
        0 => (
            ErrorKind::Short,
            "fewer bytes were moved than requested".to_owned(),
        ),
        number => (ErrorKind::Errno(number), errno::message(number)),
    };
    ErrorCount {
        kind,
        message,
        direction: failure.direction,
        count: failure.count,
        first_at_ns: failure.first_at.0,
        first_offset: failure.first_offset,
    }
}

/// Data that differs from what was written. Miscompares by headers are one kind of failure. Those by
/// keys are listed block by block, thread after thread; of very many of a thread, the last entry counts
/// the rest.
pub(super) fn miscompares(members: &[&WorkerStatus]) -> Vec<ErrorCount> {
    let all = members.iter().map(|member| member.recorder.miscompares());
    let found: Vec<_> = all.filter(|found| found.count > 0).collect();
    let (keys, headers): (Vec<_>, Vec<_>) = found.iter().partition(|found| {
        let first = found.kept.first();
        first.is_some_and(|kept| matches!(kept.miscompare.kind, MiscompareKind::Sectors(_)))
    });
    let first = headers
        .iter()
        .filter_map(|found| found.kept.first())
        .min_by_key(|kept| kept.at);
    let by_headers =
        first.map(|kept| miscompare(kept, headers.iter().map(|header| header.count).sum()));
    let by_keys = keys.iter().flat_map(|found| {
        // Not empty: the first of them has shown that these are keys.
        let last = found.kept.len() as u64 - 1;
        let kept = found.kept.iter().zip(0..);
        kept.map(move |(kept, index)| {
            let count = if index == last { found.count - last } else { 1 };
            miscompare(kept, count)
        })
    });
    by_headers.into_iter().chain(by_keys).collect()
}

/// A miscompare as the Record has it. `count`: how many miscompares it stands for.
fn miscompare(kept: &KeptMiscompare, count: u64) -> ErrorCount {
    let (kind, offset) = (&kept.miscompare.kind, kept.miscompare.offset);
    ErrorCount {
        kind: ErrorKind::Verify,
        message: match kind {
            MiscompareKind::Sectors(block) => block.to_string(),
            kind => format!("{kind} at offset {offset}"),
        },
        direction: Direction::Read,
        count,
        first_at_ns: kept.at.0,
        first_offset: offset,
    }
}
