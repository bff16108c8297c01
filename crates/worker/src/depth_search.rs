//! In: the latency of each operation. Out: the largest queue depth that meets a latency target.
//!
//! ```text
//!   1, 2, 4, 8 … while the target is met;  then bisection between the largest depth that met it
//!   and the smallest that did not
//! ```

use blocklab_units::Nanos;
use blocklab_workload::LatencyTarget;

/// A search in progress.
#[derive(Debug)]
pub(crate) struct DepthSearch {
    target: LatencyTarget,
    /// What the job does at the depth that is found.
    next: AfterSearch,
    most: u32,
    depth: u32,
    /// The largest depth that met the target; 0 so far.
    holds: u32,
    /// The smallest depth that did not; more than the most so far.
    fails: u32,
    settled: bool,
    window_end: Nanos,
    /// Operations of this window within the limit.
    quick: u64,
    /// All operations of this window.
    all: u64,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundDepth {
    /// The depth; 0 if even depth 1 misses the target.
    pub(crate) depth: u32,
    pub(crate) next: AfterSearch,
}

/// What a job does when its search has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterSearch {
    /// It continues at the depth that was found, and its result is that of all depths.
    GoOn,
    /// It runs for one more window, and its result is that of this window.
    LastWindow,
    End,
}

impl DepthSearch {
    /// A search up to the depth `most`. `has_last_window`: the result of the job is that of one more
    /// window.
    pub(crate) const fn new(target: LatencyTarget, most: u32, has_last_window: bool) -> Self {
        Self {
            target,
            next: if target.go_on {
                AfterSearch::GoOn
            } else if has_last_window {
                AfterSearch::LastWindow
            } else {
                AfterSearch::End
            },
            most,
            depth: 1,
            holds: 0,
            fails: most + 1,
            settled: false,
            window_end: Nanos::ZERO,
            quick: 0,
            all: 0,
        }
    }

    /// The search begins with the measured time.
    pub(crate) const fn begin(&mut self, measure_from: Nanos) {
        self.window_end = measure_from.saturating_add(self.target.window);
    }

    /// Operations that may be in flight.
    pub(crate) const fn depth(&self) -> usize {
        self.depth as usize
    }

    /// Counts a completed operation. Returns the depth if the search ends with it.
    pub(crate) fn completed(&mut self, service: Nanos, now: Nanos) -> Option<FoundDepth> {
        if self.settled {
            return None;
        }
        self.all += 1;
        self.quick += u64::from(service <= self.target.limit);
        if now < self.window_end {
            return None;
        }
        let met_target = self.quick as f64 * 100.0 >= self.target.percentile * self.all as f64;
        (self.quick, self.all) = (0, 0);
        self.window_end = now.saturating_add(self.target.window);
        self.end_window(met_target)
    }

    /// Ends a window in which the depth met the target or not: the search goes on with another depth,
    /// or ends and returns the depth.
    fn end_window(&mut self, met_target: bool) -> Option<FoundDepth> {
        if met_target {
            self.holds = self.depth;
        } else {
            self.fails = self.depth;
        }
        if self.fails <= self.holds + 1 {
            self.settled = true;
            // At depth 0 a job that goes on would never issue again.
            self.depth = self.holds.max(1);
            return Some(FoundDepth {
                depth: self.holds,
                // If no depth meets the target, the job goes on at depth 1, as in fio.
                next: if self.holds == 0 {
                    AfterSearch::GoOn
                } else {
                    self.next
                },
            });
        }
        let doubled = (self.depth * 2).min(self.most);
        self.depth = if self.fails > self.most {
            doubled
        } else {
            self.holds.midpoint(self.fails)
        };
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose latency grows by 100 µs with each operation in flight.
    fn search(limit_us: u64, most: u32) -> FoundDepth {
        let target = LatencyTarget {
            limit: Nanos(limit_us * 1000),
            window: Nanos::from_millis(10),
            percentile: 99.0,
            go_on: false,
        };
        let mut depth_search = DepthSearch::new(target, most, true);
        depth_search.begin(Nanos::ZERO);
        let mut now = Nanos::ZERO;
        for _ in 0..100_000 {
            let service = Nanos(depth_search.depth() as u64 * 100_000);
            now = now.saturating_add(service);
            if let Some(found) = depth_search.completed(service, now) {
                return found;
            }
        }
        panic!("no end");
    }

    #[test]
    fn the_largest_depth_that_holds_is_found() {
        for limit in [1, 2, 3, 5, 8, 21, 22, 63] {
            assert_eq!(search(limit * 100, 64).depth, limit as u32);
        }
        assert_eq!(
            search(100_000, 64).depth,
            64,
            "the job's own depth is the end"
        );
        let target = LatencyTarget {
            limit: Nanos(1),
            window: Nanos(10),
            percentile: 99.0,
            go_on: true,
        };
        let mut goes_on = DepthSearch::new(target, 64, false);
        goes_on.begin(Nanos::ZERO);
        let found = goes_on
            .completed(Nanos(100), Nanos(100))
            .expect("a window has ended");
        assert_eq!(
            (found.depth, goes_on.depth()),
            (0, 1),
            "a depth of 0 would issue nothing"
        );
        let none = search(50, 64);
        assert_eq!(none.depth, 0, "not even one at a time");
        assert_eq!(none.next, AfterSearch::GoOn, "at depth 1, as with fio");
        assert_eq!(search(300, 64).next, AfterSearch::LastWindow);
    }
}
