//! In: operations with their completions. Out: for each operation, which completion it seems to have
//! waited for, and how long after that it came.
//!
//! ```text
//!   a ├──────────────┤
//!                     · think ·├───┤ b     b follows a: it came soon after the latest completion
//! ```
//!
//! A program that waits for its disk issues the next operation when the last one is done. So an
//! operation that came within [`WITHIN`] after the latest completion is taken to depend on it; others
//! keep their recorded times. This is a guess: a trace does not tell what truly depends on what.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use blocklab_units::Nanos;
use blocklab_workload::Dependency;

use crate::Operation;

/// An operation that comes later than this after a completion does not depend on it.
pub const WITHIN: Nanos = Nanos::from_millis(10);

/// The completions of one copy of a trace.
#[derive(Default)]
struct Completions {
    /// When the operations in flight end, and their numbers.
    ahead: BinaryHeap<Reverse<(u64, u32)>>,
    /// The latest completion that has passed.
    last: Option<(u64, u32)>,
}

/// The dependency of each operation; `operations` must be in order of time. Copies of a trace have
/// different targets, and do not depend on each other.
///
/// # Errors
/// When the trace has no completions.
pub fn dependencies(operations: &[Operation]) -> Result<Vec<Dependency>, String> {
    if operations.iter().all(|operation| operation.took.is_none()) {
        return Err(
            "the trace has no completions, so nobody knows which operation waited for which: \
             record it with them (`blocklab trace record`, blktrace, biosnoop and xperf have \
             them), or take --as open, which issues operations when they came"
                .to_owned(),
        );
    }
    let mut copies: HashMap<u32, Completions> = HashMap::new();
    let numbered = operations.iter().zip(0_u32..);
    let followed = numbered.map(|(operation, number)| {
        let copy = copies.entry(operation.target).or_default();
        let at = operation.at.0;
        while let Some(Reverse((done, after))) = copy.ahead.peek().copied()
            && done <= at
        {
            copy.ahead.pop();
            copy.last = Some((done, after));
        }
        if let Some(took) = operation.took {
            copy.ahead
                .push(Reverse((at.saturating_add(took.0), number)));
        }
        match copy.last {
            Some((done, after)) if at - done <= WITHIN.0 => Dependency {
                back: number - after,
                think_ns: (at - done) as u32,
            },
            _ => Dependency::default(),
        }
    });
    Ok(followed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn took(us: u64, took_us: u64) -> Operation {
        Operation {
            took: Some(Nanos(took_us * 1000)),
            ..at(us)
        }
    }

    #[test]
    fn an_operation_follows_the_latest_completion_before_it() {
        let follows = |back, think_us: u32| Dependency {
            back,
            think_ns: think_us * 1000,
        };
        let alone = Dependency::default();
        let recorded = [
            took(0, 100),
            took(50, 20),
            took(75, 500),
            took(105, 1),
            took(20_000, 1),
        ];
        let found = dependencies(&recorded).expect("completions");
        assert_eq!(found, [alone, alone, follows(1, 5), follows(3, 5), alone]);
    }

    #[test]
    fn without_completions_nothing_follows() {
        let refused = dependencies(&[at(0), at(1)]).expect_err("none known");
        assert!(refused.contains("no completions") && refused.contains("--as open"));
    }

    #[test]
    fn copies_do_not_wait_for_each_other() {
        let other = |operation| Operation {
            target: 1,
            ..operation
        };
        let recorded = [took(0, 10), other(took(11, 10)), took(12, 10)];
        let found = dependencies(&recorded).expect("completions");
        assert_eq!(found[1], Dependency::default());
        assert_eq!(found[2].back, 2);
    }
}
