//! In: the simulated systems of a study. Out: their measurements, made in parallel, which is possible
//! because in virtual time they do not share anything.

use std::panic::resume_unwind;
use std::thread;

use blocklab_driver::{Event, Observer, Questions};
use blocklab_record::{Interval, Origin, Record};
use blocklab_units::Nanos;
use blocklab_workload::Case;

use crate::Error;
use crate::system_run::SystemRun;

/// Whether all systems can run in parallel and this machine has the processors for it.
pub(crate) fn can_be(runs: &[SystemRun<'_>]) -> bool {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    runs.len() > 1
        && processors > 1
        && runs
            .iter()
            .all(|run| run.record().origin == Origin::Simulated)
}

/// Makes one measurement of each system in parallel. Their events are buffered, so that the observer
/// gets them system by system, as without threads.
pub(crate) fn step(
    runs: &mut [SystemRun<'_>],
    step: usize,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let events: Vec<Option<Result<BufferedEvents, Error>>> = thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter_mut()
            .map(|run| {
                run.has(step).then(|| {
                    scope.spawn(move || {
                        let mut events = BufferedEvents::default();
                        run.step(step, &mut events).map(|()| events)
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                let joined = thread?.join();
                Some(joined.unwrap_or_else(|panic| resume_unwind(panic)))
            })
            .collect()
    });
    for (number, (run, events)) in runs.iter().zip(events).enumerate() {
        if let Some(events) = events {
            observer.event(Event::Turn(number));
            events?.replay(run.record(), observer);
        }
    }
    Ok(())
}

/// The events of one measurement of one system, kept until its thread has ended.
#[derive(Default)]
struct BufferedEvents {
    begun: Option<Begun>,
    intervals: Vec<(Interval, Nanos)>,
    has_ended: bool,
}

/// As [`Event::Begins`].
struct Begun {
    case: Case,
    pass: u32,
    step: usize,
    steps: usize,
}

impl BufferedEvents {
    /// Gives the events to the observer in their order. `record` already has the measurement, and so
    /// has the `so_far` of its beginning. Only the spools of a run count what `so_far` has, and they
    /// leave out the simulated systems of a study.
    fn replay(self, record: &Record, observer: &mut dyn Observer) {
        if let Some(begun) = &self.begun {
            observer.event(Event::Begins {
                case: &begun.case,
                pass: begun.pass,
                step: begun.step,
                steps: begun.steps,
                so_far: record,
            });
        }
        for (interval, elapsed) in &self.intervals {
            // Only devices that are paced in real time report credits.
            observer.event(Event::Interval {
                interval,
                elapsed: *elapsed,
                credits: &[],
            });
        }
        if self.has_ended {
            observer.event(Event::Ended(record));
        }
    }
}

impl Questions for BufferedEvents {}

/// A simulated measurement has no other events.
impl Observer for BufferedEvents {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begins {
                case,
                pass,
                step,
                steps,
                ..
            } => {
                self.begun = Some(Begun {
                    case: case.clone(),
                    pass,
                    step,
                    steps,
                });
            }
            Event::Interval {
                interval, elapsed, ..
            } => self.intervals.push((*interval, elapsed)),
            Event::Ended(_) => self.has_ended = true,
            _ => {}
        }
    }
}
