//! In: the counts of a job, round by round. Out: whether it has reached its steady state.

use blocklab_record::SteadyRound;
use blocklab_stats::{SNIA_ROUNDS, slope, snia};
use blocklab_units::Nanos;
use blocklab_worker::Recorder;
use blocklab_workload::{Direction, Steady, SteadyVariable, Stop};

/// The rounds of a steady-state rule.
#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    rule: Steady,
    round: Nanos,
    variable: SteadyVariable,
    after: Nanos,
    /// When the last round was closed, and the counts at that moment. It is closed late on a busy
    /// machine, so rates are computed over the actual time.
    last: Nanos,
    before: [f64; 3],
    rounds: Vec<SteadyRound>,
    /// Nothing is judged from then on, so that the reported rounds are those that decided.
    is_steady: bool,
}

impl Rounds {
    /// The rounds of a job that ends when it is steady; `None` for any other job.
    pub(crate) fn for_stop(stop: &Stop) -> Option<Self> {
        let rule = stop.steady?;
        let (Steady::Snia { variable, round }
        | Steady::Slope {
            variable, round, ..
        }
        | Steady::Deviation {
            variable, round, ..
        }) = rule;
        Some(Self {
            rule,
            round,
            variable,
            after: stop.steady_after,
            last: Nanos::ZERO,
            before: [0.0; 3],
            rounds: Vec::new(),
            is_steady: false,
        })
    }

    /// Whether the last rounds were steady. `measured` is the time since the end of the ramp.
    pub(crate) fn check<'r>(
        &mut self,
        recorders: impl Iterator<Item = &'r Recorder>,
        measured: Nanos,
    ) -> bool {
        if !self.is_steady && self.is_due(measured) {
            self.close(totals(recorders), measured);
        }
        self.is_steady
    }

    /// Whether a round has ended since the last one that was closed, or the time that is not judged.
    fn is_due(&self, measured: Nanos) -> bool {
        // Rounds stay on their grid: one that is closed late does not move the next.
        let [reached, closed] =
            [measured, self.last].map(|moment| moment.since(self.after).0 / self.round.0.max(1));
        let begins = self.last < self.after;
        measured >= self.after && (begins || reached > closed)
    }

    /// `now`: operations, bytes and summed service time since the beginning.
    fn close(&mut self, now: [f64; 3], measured: Nanos) {
        let seconds = measured.since(self.last).0 as f64 / 1e9;
        // The first close ends the time that is not judged; it only sets the counts for the next one.
        let is_judged = self.last >= self.after;
        self.last = measured;
        let [ios, bytes, nanos] = [0, 1, 2].map(|index| now[index] - self.before[index]);
        self.before = now;
        if is_judged {
            self.rounds.push(SteadyRound {
                iops: ios / seconds,
                bytes_per_s: bytes / seconds,
                // 0 for a round without a completion: 0 / 0 would poison every mean of the window.
                latency_ns: nanos / ios.max(1.0),
            });
            self.is_steady = self.judge();
        }
    }

    /// When the last round was closed, since the end of the ramp.
    pub(crate) const fn closed(&self) -> Nanos {
        self.last
    }

    /// The last rounds, as many as are judged.
    pub(crate) fn window(&self) -> &[SteadyRound] {
        let count = match self.rule {
            Steady::Slope { rounds, .. } | Steady::Deviation { rounds, .. } => rounds as usize,
            Steady::Snia { .. } => SNIA_ROUNDS,
        };
        &self.rounds[self.rounds.len().saturating_sub(count)..]
    }

    /// Whether the last rounds are steady by the rule.
    fn judge(&self) -> bool {
        let rounds = self.window().iter();
        let window: Vec<f64> = rounds
            .map(|round| match self.variable {
                SteadyVariable::Iops => round.iops,
                SteadyVariable::Bandwidth => round.bytes_per_s,
                SteadyVariable::Latency => round.latency_ns,
            })
            .collect();
        let (Steady::Slope { rounds, limit, .. } | Steady::Deviation { rounds, limit, .. }) =
            self.rule
        else {
            return snia(&window).is_some_and(|verdict| verdict.steady);
        };
        if window.len() < rounds as usize {
            return false;
        }
        if matches!(self.rule, Steady::Deviation { .. }) {
            let mean = window.iter().sum::<f64>() / window.len() as f64;
            return window.iter().all(|value| limit.holds(value - mean, mean));
        }
        // Only the slope is needed: the limit may be absolute, and is applied below.
        let verdict = slope(&window, f64::INFINITY);
        verdict.is_some_and(|verdict| {
            limit.holds(verdict.slope_percent * verdict.mean / 100.0, verdict.mean)
        })
    }
}

/// Operations, bytes and summed service time of reads, writes and trims.
fn totals<'r>(recorders: impl Iterator<Item = &'r Recorder>) -> [f64; 3] {
    let mut totals = [0.0; 3];
    for recorder in recorders {
        for direction in Direction::MOVING {
            for counters in recorder.all_counters(direction) {
                totals[0] += counters.ios.get() as f64;
                totals[1] += counters.bytes.get() as f64;
                totals[2] += counters.service.sum();
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Limit;

    use super::*;

    /// Checks at these moments (ms), each with the operations since the beginning; gives the moment
    /// at which the state was steady.
    fn steady_at(after_ms: u64, checks: &[(u64, f64)]) -> (Option<u64>, Vec<f64>) {
        let stop = Stop {
            steady: Some(Steady::Deviation {
                variable: SteadyVariable::Iops,
                round: Nanos::from_secs(1),
                rounds: 2,
                limit: Limit::Percent(5.0),
            }),
            steady_after: Nanos::from_millis(after_ms),
            ..Stop::default()
        };
        let mut rounds = Rounds::for_stop(&stop).expect("a rule");
        let mut found = None;
        for (ms, ios) in checks {
            let moment = Nanos::from_millis(*ms);
            if !rounds.is_steady && rounds.is_due(moment) {
                rounds.close([*ios, 0.0, 0.0], moment);
            }
            found = found.or(rounds.is_steady.then_some(*ms));
        }
        let window = rounds.window().iter().map(|round| round.iops);
        (found, window.collect())
    }

    /// A check that came late on a busy machine counted as one round what was done in one and a
    /// half: a steady load was not recognised, and other rounds were reported than were judged.
    #[test]
    fn what_was_done_counts_for_the_time_that_it_took() {
        let checks = [(1000, 100.0), (2500, 250.0), (3000, 300.0), (4000, 900.0)];
        let (found, window) = steady_at(0, &checks);
        assert_eq!(found, Some(2500));
        assert_eq!(window, [100.0, 100.0], "nothing is judged after that");
    }

    #[test]
    fn what_comes_before_is_not_judged() {
        let even = [1000, 2000, 3000, 4000, 5000].map(|ms| (ms, ms as f64 / 10.0));
        assert_eq!(steady_at(0, &even).0, Some(2000));
        assert_eq!(steady_at(2000, &even).0, Some(4000));
        assert_eq!(steady_at(9000, &even), (None, Vec::new()));
    }
}
