//! In: a source whose operations are nearly in order of time. Out: the same operations in order, with a
//! limited number of them in memory.

use std::collections::VecDeque;

use blocklab_units::{Nanos, agreeing, count, plural};

use crate::{Clock, Operation, Source, TraceError};

/// Number of operations that are held back and sorted. Recorders that write at the completion of
/// operations, or a file for each processor, are out of order by a few hundred.
pub const WINDOW: usize = 1 << 17;

/// A source in order of time.
pub struct Sorted<S> {
    source: S,
    /// Operations that are held back, at most.
    window: usize,
    /// The operations that are held back, in order.
    held: VecDeque<Operation>,
    /// The time of the operation that was given last.
    given: Nanos,
    /// Number of operations read.
    came: u64,
    /// Number of those that were out of order.
    out_of_order: u64,
    /// Whether the source has ended.
    is_over: bool,
}

impl<S: Source> Sorted<S> {
    /// Sorts with the usual window.
    pub fn new(source: S) -> Self {
        Self::with_window(source, WINDOW)
    }

    /// Sorts with a window of this number of operations.
    pub(crate) const fn with_window(source: S, window: usize) -> Self {
        Self {
            source,
            window,
            held: VecDeque::new(),
            given: Nanos::ZERO,
            came: 0,
            out_of_order: 0,
            is_over: false,
        }
    }

    /// Holds an operation back. Nearly all belong at the end, which is the fast path.
    #[inline]
    fn hold(&mut self, operation: Operation) -> Result<(), TraceError> {
        self.came += 1;
        match self.held.back() {
            Some(last) if last.at > operation.at => self.insert(operation),
            None if operation.at < self.given => self.insert(operation),
            _ => {
                self.held.push_back(operation);
                Ok(())
            }
        }
    }

    /// Inserts an operation that came too late; operations with the same time stay in their order.
    ///
    /// # Errors
    /// When a later operation was given already.
    #[cold]
    fn insert(&mut self, operation: Operation) -> Result<(), TraceError> {
        if operation.at < self.given {
            return Err(TraceError::Unsorted {
                number: self.came,
                late: self.given.since(operation.at),
                window: self.window,
            });
        }
        self.out_of_order += 1;
        let place = self.held.partition_point(|held| held.at <= operation.at);
        self.held.insert(place, operation);
        Ok(())
    }
}

impl<S: Source> Source for Sorted<S> {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        while !self.is_over && self.held.len() < self.window {
            match self.source.next()? {
                Some(operation) => self.hold(operation)?,
                None => self.is_over = true,
            }
        }
        let next = self.held.pop_front();
        if let Some(next) = next {
            self.given = next.at;
        }
        Ok(next)
    }

    fn targets(&self) -> &[String] {
        self.source.targets()
    }

    fn clock(&self) -> Clock {
        self.source.clock()
    }

    fn begins(&self) -> Option<u64> {
        self.source.begins()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.source.remarks();
        if self.out_of_order > 0 {
            remarks.push(format!(
                "{} of {} {verb} out of order in the file and {verb} sorted by time",
                count(self.out_of_order as f64),
                plural(self.came as usize, "operation"),
                verb = agreeing(self.out_of_order as usize, "was", "were")
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Listed, at};

    fn moments(us: &[u64], window: usize) -> Result<Vec<u64>, TraceError> {
        let operations = us.iter().map(|us| at(*us)).collect();
        let mut sorted = Sorted::with_window(Listed::new(operations), window);
        let mut got = Vec::new();
        while let Some(operation) = sorted.next()? {
            got.push(operation.at.0 / 1000);
        }
        Ok(got)
    }

    #[test]
    fn what_is_nearly_in_order_comes_in_order() {
        let sorted = moments(&[5, 3, 9, 7, 8, 20, 1], 100);
        assert_eq!(sorted, Ok(vec![1, 3, 5, 7, 8, 9, 20]));
        assert_eq!(moments(&[2, 1, 3], 2), Ok(vec![1, 2, 3]));
    }

    /// The story: the remark of a trace with one such line was "1 of 3 operations were out of order".
    #[test]
    fn one_operation_out_of_order_is_counted_in_the_singular() {
        let operations = [2, 1, 3].map(at).to_vec();
        let mut sorted = Sorted::with_window(Listed::new(operations), 2);
        while let Ok(Some(_)) = sorted.next() {}
        assert_eq!(
            sorted.remarks(),
            ["1 of 3 operations was out of order in the file and was sorted by time"]
        );
    }

    #[test]
    fn what_is_far_out_of_order_is_refused_with_its_number() {
        let error = moments(&[5, 6, 7, 1], 2).expect_err("1 came after 5 was given");
        let text = error.to_string();
        assert!(text.starts_with("operation 4 "), "{text}");
        assert!(text.contains("sort"), "{text}");
    }
}
