//! Which writes are read back, and how many of them are durable.

use blocklab_workload::{Checksum, Mix, Verify};

use super::*;

fn written(offset: u64, len: u32, generation: u64) -> Written {
    Written {
        target: 0,
        len,
        offset,
        generation,
        trimmed: false,
        gone: false,
    }
}

#[track_caller]
fn check(mut writes: Vec<Written>, generations: &[u64]) {
    assert!(forget_overwritten(&mut writes, || false));
    let left: Vec<u64> = writes.iter().map(|w| w.generation).collect();
    assert_eq!(left, generations);
}

/// Ctrl-C after a hundred million writes was not seen until those that a later one had overwritten were
/// dropped: the run failed with operations that did not come back.
#[test]
fn a_stop_is_seen_while_overwritten_writes_are_dropped() {
    let some = || -> Vec<Written> {
        (0..100_000)
            .map(|at| written(at % 1000 * 4, 4, at))
            .collect()
    };
    let looks = std::cell::Cell::new(0);
    let stops_at = |look| {
        looks.set(0);
        forget_overwritten(&mut some(), || {
            looks.set(looks.get() + 1);
            looks.get() >= look
        })
    };
    for look in [1, 2, 10] {
        assert!(!stops_at(look));
        assert_eq!(looks.get(), look, "it went on after the stop");
    }
    assert!(stops_at(usize::MAX));
    assert!(looks.get() > 20, "{looks:?}");
}

/// What was written at random was read back from the beginning of a file to its end, which is
/// another load, and a much quicker one on a disk; fio reads in the order of the writes.
#[test]
fn what_is_written_once_is_read_in_the_order_of_the_writes() {
    check(
        vec![written(8, 4, 2), written(4, 4, 3), written(0, 4, 1)],
        &[1, 2, 3],
    );
    // Of overlapping writes, the last one at each place is read in the order of the places.
    check(
        vec![written(8, 4, 1), written(4, 4, 2), written(4, 4, 3)],
        &[3, 1],
    );
}

/// Where a job goes on after errors, a failed write was durable after the next flush but one: by then its
/// slot had another operation. A later run read it back, and found a sound device wrong.
#[test]
fn what_failed_is_never_durable() {
    let job = Job {
        mix: Mix::WRITE,
        verify: Some(Verify::new(Checksum::Crc32c)),
        ..Job::new("failing")
    };
    let mut verifier = Verifier::for_job(&job, 1, 1, 0).expect("a job that verifies");
    let write = written(0, 4096, 0).request(Direction::Write);
    let mut durable_after = |writes: &[bool]| {
        for succeeds in writes {
            verifier.issued(0, &write);
            if *succeeds {
                verifier.completed(0);
            }
        }
        verifier.flush_issued(0, 0, SyncKind::Whole);
        verifier.completed(0);
        verifier.progress().map(|progress| progress.durable)
    };
    assert_eq!(durable_after(&[true, true]), Some(2));
    assert_eq!(durable_after(&[false]), Some(2));
    assert_eq!(durable_after(&[true]), Some(2));
}

/// The story: the flush of one file of a job counted as one of all its files, and a flush of a range as one
/// of the device. After a power cut, a later run read back what nothing had made durable, and found a
/// sound device wrong.
#[test]
fn a_flush_makes_only_the_writes_to_its_file_durable() {
    let job = Job {
        mix: Mix::WRITE,
        verify: Some(Verify::new(Checksum::Crc32c)),
        ..Job::new("two files")
    };
    let mut verifier = Verifier::for_job(&job, 2, 1, 0).expect("a job that verifies");
    let to = |target| Request {
        target,
        ..written(0, 4096, 0).request(Direction::Write)
    };
    for target in [0, 1] {
        verifier.issued(0, &to(target));
        verifier.completed(0);
    }
    // The last one is the second try after a flush that failed.
    let flushes = [
        (1, SyncKind::Whole, true, 0),
        (0, SyncKind::Range(0), true, 0),
        (0, SyncKind::Whole, false, 0),
        (0, SyncKind::DataOnly, true, 2),
    ];
    for (target, kind, succeeds, durable) in flushes {
        verifier.flush_issued(0, target, kind);
        if succeeds {
            verifier.completed(0);
        }
        let progress = verifier.progress().expect("a job that writes");
        assert_eq!(progress.durable, durable, "{target} {kind:?}");
    }
    // Both final flushes are in flight at once.
    for target in [0, 1] {
        verifier.issued(0, &to(target));
        verifier.completed(0);
    }
    verifier.flush_issued(0, 1, SyncKind::Whole);
    verifier.flush_issued(1, 0, SyncKind::Whole);
    verifier.completed(0);
    verifier.completed(1);
    assert_eq!(
        verifier.progress().map(|progress| progress.durable),
        Some(4)
    );
}

/// The story: a job that trims before it writes ended between the two, at a place that it had written
/// before. What was there had been trimmed, and was read back as flawed on a sound device.
#[test]
fn what_is_trimmed_for_a_write_is_gone_until_that_is_there() {
    let job = Job {
        mix: Mix::WRITE,
        trim_first: true,
        verify: Some(Verify::new(Checksum::Crc32c)),
        ..Job::new("trimming")
    };
    let mut verifier = Verifier::for_job(&job, 1, 1, 0).expect("a job that verifies");
    let [trim, write] =
        [Direction::Trim, Direction::Write].map(|direction| written(0, 4096, 0).request(direction));
    let mut left_after = |requests: &[Request]| {
        for request in requests {
            verifier.issued(0, request);
            verifier.completed(0);
        }
        verifier.begin_pass(Nanos::MAX, || false);
        let found = verifier.next_of_pass(Nanos::ZERO);
        found.map(|found| found.generation)
    };
    assert_eq!(left_after(&[trim, write, trim]), None);
    assert_eq!(left_after(&[write]), Some(2));
}

/// The numbers of the writes that a job reads back: while it writes, or at its end if `when` says so.
/// Each step is what is done, where, how long, and whether it succeeds.
fn read_back(when: When, steps: &[(Direction, u64, u32, bool)]) -> Vec<u64> {
    let verify = Verify {
        when,
        ..Verify::new(Checksum::Crc32c)
    };
    let job = Job {
        mix: Mix::WRITE,
        verify: Some(verify),
        ..Job::new("overwriting")
    };
    let mut verifier = Verifier::for_job(&job, 1, 1, 0).expect("a job that verifies");
    for &(direction, offset, len, succeeds) in steps {
        verifier.issued(0, &written(offset, len, 0).request(direction));
        if succeeds {
            verifier.completed(0);
        }
    }
    if when == When::AfterWrites {
        verifier.begin_pass(Nanos::MAX, || false);
    }
    let next = || match when {
        When::AfterWrites => verifier.next_of_pass(Nanos::ZERO),
        _ => verifier.next_of_batch(),
    };
    let all = std::iter::from_fn(next);
    all.map(|written| written.generation).collect()
}

/// The story: a job with blocks of several sizes read back, while it wrote, a block that a later one had
/// replaced in part, and found a sound device wrong. So did a job that trimmed at random, and one whose
/// second write to a place had failed.
#[test]
fn what_was_replaced_in_part_is_not_read_back_while_a_job_writes() {
    use Direction::{Trim, Write};
    let while_writing = |steps: &[_]| {
        let when = When::Backlog { every: 1, batch: 9 };
        read_back(when, steps)
    };
    let [first, again] = [(Write, 4, 4, true); 2];
    assert_eq!(while_writing(&[first, again]), [1, 2]);
    assert_eq!(while_writing(&[first, (Write, 4, 8, true)]), [2]);
    assert_eq!(while_writing(&[first, (Write, 2, 4, true), again]), [3]);
    assert_eq!(while_writing(&[first, (Write, 8, 4, true)]), [1, 2]);
    assert!(while_writing(&[first, (Trim, 0, 16, true)]).is_empty());
    assert_eq!(while_writing(&[first, (Trim, 0, 16, true), again]), [2]);
    // In flight, failed, and written again after the failure.
    assert!(while_writing(&[first, (Write, 4, 4, false)]).is_empty());
    let failed = [first, (Write, 4, 4, false), (Write, 0, 4, true), again];
    assert_eq!(while_writing(&failed[..3]), [3]);
    assert_eq!(while_writing(&failed), [3, 4]);
}

/// The story: a job that goes on after errors failed to overwrite a block, and read back at its end what
/// had been there before, which a part of the failed write had replaced.
#[test]
fn what_a_failed_write_may_have_replaced_is_not_read_back() {
    use Direction::Write;
    let at_the_end = |steps: &[_]| read_back(When::AfterWrites, steps);
    let (first, failed) = ((Write, 4, 4, true), (Write, 6, 4, false));
    assert!(at_the_end(&[first, failed]).is_empty());
    assert_eq!(at_the_end(&[first, failed, (Write, 16, 4, true)]), [3]);
    assert_eq!(at_the_end(&[first, failed, first]), [3]);
}

#[test]
fn only_what_nothing_later_touched_is_read_back() {
    check(vec![written(4, 8, 1), written(0, 8, 2)], &[2]);
    check(vec![written(0, 8, 1), written(4, 8, 2)], &[2]);
    check(vec![written(0, 4, 2), written(0, 4, 1)], &[2]);
    // The second is gone although the third touches it only in part, and it still hides the
    // first.
    check(
        vec![written(0, 16, 1), written(0, 8, 2), written(4, 2, 3)],
        &[3],
    );
    check(
        vec![
            written(0, 4, 1),
            written(8, 4, 2),
            written(2, 8, 3),
            written(12, 4, 4),
        ],
        &[3, 4],
    );
}

/// The stories: a job with `ramp` and `stop_ios` or `stop_bytes` wrote more than it names, and came a second
/// time to a place. A run with `when = "only"`, which knows the number alone, found later writes there
/// than it expected, and reported a sound disk.
#[test]
fn a_run_with_a_ramp_may_have_written_more_than_it_names() {
    let expected = |ramp: Nanos| {
        let job = Job {
            mix: Mix::WRITE,
            verify: Some(Verify {
                when: When::Only,
                ..Verify::new(Checksum::Crc32c)
            }),
            ramp,
            ..Job::new("w")
        };
        let mut verifier = Verifier::for_job(&job, 1, 1, 0).expect("it verifies");
        verifier.read_back_issued(0, &written(0, 4096, 3));
        verifier.expected(0).expect("a check").generation
    };
    assert_eq!(expected(Nanos::ZERO), Generation::Earlier(3));
    assert_eq!(expected(Nanos::from_secs(1)), Generation::EarlierAtLeast(3));
}
