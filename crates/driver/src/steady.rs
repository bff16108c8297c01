//! Looks for a steady state, round by round.

use blocklab_stats::{slope, snia};
use blocklab_units::Nanos;
use blocklab_worker::Recorder;
use blocklab_workload::{Steady, SteadyVariable};

use super::workers::MOVING;

/// The rounds of a steady-state rule.
pub(crate) struct Rounds {
    rule: Steady,
    round: Nanos,
    variable: SteadyVariable,
    closed: u64,
    before: [f64; 3],
    values: Vec<f64>,
}

impl Rounds {
    pub(crate) fn new(rule: Steady) -> Self {
        let (Steady::Snia { variable, round }
        | Steady::Slope {
            variable, round, ..
        }
        | Steady::Deviation {
            variable, round, ..
        }) = rule;
        Self {
            rule,
            round,
            variable,
            closed: 0,
            before: [0.0; 3],
            values: Vec::new(),
        }
    }

    /// Whether the last rounds were steady. `measured` is the time since the end of the ramp.
    pub(crate) fn look<'r>(
        &mut self,
        recorders: impl Iterator<Item = &'r Recorder>,
        measured: Nanos,
    ) -> bool {
        let reached = measured.0 / self.round.0.max(1);
        if reached <= self.closed {
            return false;
        }
        let rounds = (reached - self.closed) as f64;
        self.closed = reached;
        let now = totals(recorders);
        let [ios, bytes, nanos] = [0, 1, 2].map(|index| now[index] - self.before[index]);
        self.before = now;
        self.values.push(match self.variable {
            SteadyVariable::Iops => ios / rounds,
            SteadyVariable::Bandwidth => bytes / rounds,
            SteadyVariable::Latency => nanos / ios.max(1.0),
        });
        self.is_steady()
    }

    fn is_steady(&self) -> bool {
        let (Steady::Slope { rounds, limit, .. } | Steady::Deviation { rounds, limit, .. }) =
            self.rule
        else {
            return snia(&self.values).is_some_and(|verdict| verdict.steady);
        };
        let first = self.values.len().checked_sub(rounds as usize);
        let Some(window) = first.map(|first| &self.values[first..]) else {
            return false;
        };
        if matches!(self.rule, Steady::Deviation { .. }) {
            let mean = window.iter().sum::<f64>() / window.len() as f64;
            return window.iter().all(|value| limit.holds(value - mean, mean));
        }
        let verdict = slope(window, f64::INFINITY);
        verdict.is_some_and(|it| limit.holds(it.slope_percent * it.mean / 100.0, it.mean))
    }
}

/// Operations, bytes and summed service time of reads, writes and trims.
fn totals<'r>(recorders: impl Iterator<Item = &'r Recorder>) -> [f64; 3] {
    let mut totals = [0.0; 3];
    for recorder in recorders {
        for direction in MOVING {
            let Some(tally) = recorder.tally(direction) else {
                continue;
            };
            totals[0] += tally.ios.get() as f64;
            totals[1] += tally.bytes.get() as f64;
            totals[2] += tally.service.sum();
        }
    }
    totals
}
