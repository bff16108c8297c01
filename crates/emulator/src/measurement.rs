//! What was observed, as the Record keeps it: a measurement for each volume.

use std::collections::BTreeMap;

use blocklab_device::{CreditBalance, Direction, LimitName};
use blocklab_record::{
    Accounting, BurstBalance, Carrier, ControlEvent, Cpu, DirectionResult, ErrorCount, ErrorKind,
    Interval, IntervalDirection, JobResult, Latency, LatencySum, Measurement, ObservedDirection,
    ObservedLoad, SizeCount, Statistic, Unknown, WaitedFor,
};
use blocklab_units::Nanos;
use blocklab_workload::{Direction as JobDirection, errno};

use crate::observed::{FailureCounter, Observed, OperationCounter};

/// The series and the balances of one volume, a slice at a time.
#[derive(Debug, Default)]
pub struct Sampler {
    /// The counters at the end of the last slice.
    counted: Observed,
    began: Nanos,
    ended: Nanos,
    /// What was in each burst bucket when the last slice began.
    levels_before: Vec<f64>,
    /// What was in each burst bucket when the last slice ended.
    levels: Vec<f64>,
    series: Vec<Interval>,
    balances: Vec<BurstBalance>,
}

/// Facts that the volume does not know.
#[derive(Debug)]
pub struct ServiceFacts<'a> {
    /// The volume's name.
    pub name: &'a str,
    /// The protocol of the clients, such as `nbd`.
    pub protocol: &'a str,
    /// How many clients came.
    pub clients: u64,
    /// The factor by which burst buckets were divided.
    pub speed: Option<f64>,
    /// Requests that have no reply.
    pub in_flight: u32,
    /// For each limit that held something back, for how long.
    pub waited: Vec<(LimitName, Nanos)>,
    /// Commands that were carried out on it.
    pub events: Vec<ControlEvent>,
}

/// Slices that are kept: two days of seconds. A longer run keeps the first two days and its totals.
const MOST_SLICES: usize = 172_800;

impl Sampler {
    /// The first slice begins now, with this in the burst buckets.
    pub fn begin(now: Nanos, balances: Vec<CreditBalance>) -> Self {
        let mut sampler = Self {
            began: now,
            ended: now,
            ..Self::default()
        };
        sampler.track_balances(balances);
        sampler
    }

    /// The levels of the burst buckets when the last slice began.
    pub fn levels_before(&self) -> &[f64] {
        &self.levels_before
    }

    /// A slice ends at `now`: what happened in it.
    pub fn slice(
        &mut self,
        now: Nanos,
        observed: Observed,
        balances: Vec<CreditBalance>,
    ) -> Interval {
        let [read, write, trim] =
            [Direction::Read, Direction::Write, Direction::Trim].map(|direction| {
                interval(
                    observed.direction(direction),
                    self.counted.direction(direction),
                )
            });
        let slice = Interval {
            end_ns: now.since(self.began).0,
            length_ns: now.since(self.ended).0,
            read,
            write,
            trim,
            ..Interval::default()
        };
        // Beyond the most that are kept, a slice is still returned and moves the totals on.
        if self.series.len() < MOST_SLICES {
            self.series.push(slice);
        }
        self.ended = now;
        self.counted = observed;
        self.track_balances(balances);
        slice
    }

    /// Keeps the levels of the burst buckets at the end of a slice, or at the beginning of the first.
    fn track_balances(&mut self, balances: Vec<CreditBalance>) {
        let levels = balances.iter().map(|balance| balance.left).collect();
        self.levels_before = std::mem::replace(&mut self.levels, levels);
        for (index, balance) in balances.into_iter().enumerate() {
            let CreditBalance {
                name, left: now, ..
            } = balance;
            match self.balances.get_mut(index) {
                Some(known) => {
                    known.at_end = now;
                    known.least = known.least.min(now);
                }
                None => self.balances.push(BurstBalance {
                    name,
                    at_start: now,
                    at_end: now,
                    least: now,
                }),
            }
        }
    }

    /// All slices so far, and totals.
    pub fn measurement(&self, facts: ServiceFacts<'_>) -> Measurement {
        let observed = &self.counted;
        let job = job(observed, &facts, self.began, self.ended);
        let load = load(observed, &facts, self.balances.clone());
        Measurement {
            case: facts.name.to_owned(),
            pass: 1,
            elapsed_ns: self.ended.since(self.began).0,
            jobs: vec![job],
            series: self.series.clone(),
            cpu: Cpu {
                unknown: Unknown::from_iter([Statistic::Process, Statistic::MachineBusy]),
                ..Cpu::default()
            },
            observed: Some(Box::new(load)),
            ..Measurement::default()
        }
    }
}

fn interval(later: &OperationCounter, earlier: &OperationCounter) -> IntervalDirection {
    let (ios, bytes) = (later.ios - earlier.ios, later.bytes - earlier.bytes);
    IntervalDirection::between(ios, bytes, &later.latency, &earlier.latency)
}

/// `None`: nothing was counted.
fn latency(sum: &LatencySum) -> Option<Latency> {
    (sum.histogram.count() > 0).then(|| sum.to_latency())
}

/// The directions of the model, in their order, each with that of a job.
const DIRECTIONS: [(Direction, JobDirection); 4] = [
    (Direction::Read, JobDirection::Read),
    (Direction::Write, JobDirection::Write),
    (Direction::Trim, JobDirection::Trim),
    (Direction::Flush, JobDirection::Sync),
];

/// A failure as the Record has it; `began` is the start of the measurement.
fn error_count(failed: &FailureCounter, began: Nanos) -> ErrorCount {
    let (_, of_job) = DIRECTIONS[failed.direction as usize];
    let number = failed.failure.errno();
    ErrorCount {
        kind: ErrorKind::Errno(number),
        message: errno::message(number),
        direction: of_job,
        count: failed.count,
        first_at_ns: failed.first_at.since(began).0,
        first_offset: failed.first_offset,
    }
}

/// The results of the clients' operations, in the form of a job.
fn job(observed: &Observed, facts: &ServiceFacts<'_>, began: Nanos, ended: Nanos) -> JobResult {
    let counted = DIRECTIONS.map(|(direction, of_job)| (of_job, observed.direction(direction)));
    let directions = counted.iter().filter_map(|(direction, counter)| {
        let result = DirectionResult::new(counter.ios, counter.bytes, latency(&counter.latency)?);
        Some((*direction, Box::new(result)))
    });
    let completed = counted.iter().map(|(_, counter)| counter.ios).sum();
    let failed = counted.iter().map(|(_, counter)| counter.failed).sum();
    let in_flight = u64::from(facts.in_flight);
    let failures = observed.failures.iter();
    JobResult {
        name: facts.name.to_owned(),
        engine: Carrier::named(facts.protocol),
        elapsed_ns: observed.active().unwrap_or(ended.since(began)).0,
        directions: directions.collect::<BTreeMap<_, _>>(),
        errors: failures.map(|failed| error_count(failed, began)).collect(),
        accounting: Accounting {
            issued: completed + failed + in_flight,
            completed,
            failed,
            in_flight,
            ..Accounting::default()
        },
        ..JobResult::default()
    }
}

/// What the load of the clients was like.
fn load(
    observed: &Observed,
    facts: &ServiceFacts<'_>,
    balances: Vec<BurstBalance>,
) -> ObservedLoad {
    let active = observed.active().unwrap_or(Nanos::ZERO);
    let counted = DIRECTIONS.map(|(direction, of_job)| (of_job, observed.direction(direction)));
    let occurred = counted.into_iter().filter(|(_, counter)| counter.ios > 0);
    let counters = observed.counters().iter();
    let latencies_ns: f64 = counters.map(|counter| counter.latency.sum).sum();
    let waited = facts.waited.iter().map(|(limit, waited)| WaitedFor {
        limit: limit.clone(),
        waited_ns: waited.0,
    });
    ObservedLoad {
        directions: occurred
            .map(|(direction, counter)| (direction, observed_direction(counter)))
            .collect(),
        active_ns: active.0,
        // Little's law: all latencies together, over the time in which they passed.
        in_flight_mean: latencies_ns / active.0.max(1) as f64,
        arrivals_by_depth: observed.depths,
        waited: waited.collect(),
        balances,
        lateness: latency(&observed.late),
        clients: facts.clients,
        speed: facts.speed,
        events: facts.events.clone(),
    }
}

/// The sizes and the order of operations of one direction.
fn observed_direction(counter: &OperationCounter) -> ObservedDirection {
    let sizes = counter
        .sizes
        .iter()
        .enumerate()
        .filter(|(_, ios)| **ios > 0);
    ObservedDirection {
        sequential_percent: counter.sequential as f64 / counter.ios.max(1) as f64 * 100.0,
        sizes: sizes
            .map(|(class, ios)| SizeCount {
                up_to_bytes: 512 << class,
                ios: *ios,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use blocklab_device::CreditUnit;

    use super::*;

    /// What a bucket held at the start of the run was what the first second had left in it.
    #[test]
    fn a_bucket_starts_with_what_it_held_before_the_first_slice() {
        let holding = |left| CreditBalance {
            name: "gp2: burst credits".to_owned(),
            left,
            capacity: 100.0,
            unit: CreditUnit::Operations,
        };
        let mut sampler = Sampler::begin(Nanos::ZERO, vec![holding(100.0)]);
        sampler.slice(
            Nanos::from_secs(1),
            Observed::default(),
            vec![holding(40.0)],
        );
        assert_eq!(sampler.levels_before(), [100.0]);
        let bucket = &sampler.balances[0];
        assert_eq!(
            (bucket.at_start, bucket.at_end, bucket.least),
            (100.0, 40.0, 40.0)
        );
    }
}
