//! Simulated systems next to each other: virtual time knows no neighbour that could disturb.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use blocklab_record::{Interval, Origin, Record};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Case;

use crate::Error;
use crate::observer::Observer;
use crate::system_run::SystemRun;

/// Whether all of them can go on at once, and it pays.
pub(crate) fn can_be(sessions: &[SystemRun<'_>]) -> bool {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let simulated = |session: &SystemRun<'_>| session.record().origin == Origin::Simulated;
    sessions.len() > 1 && processors > 1 && sessions.iter().all(simulated)
}

/// One measurement of each, at once. The observer hears of them one after the other.
pub(crate) fn step(
    sessions: &mut [SystemRun<'_>],
    step: usize,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let heard: Vec<Option<Result<Heard, Error>>> = thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter_mut()
            .map(|session| {
                session.has(step).then(|| {
                    scope.spawn(move || {
                        let mut heard = Heard::default();
                        session.step(step, &mut heard).map(|()| heard)
                    })
                })
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(|thread| thread.map(join)).collect()
    });
    for (number, (session, heard)) in sessions.iter().zip(heard).enumerate() {
        if let Some(heard) = heard {
            observer.turns_to(number);
            heard?.tell(session.record(), observer);
        }
    }
    Ok(())
}

/// What one of them said meanwhile.
#[derive(Default)]
struct Heard {
    begun: Option<(Case, u32, usize, usize)>,
    intervals: Vec<(Interval, Nanos)>,
    ended: bool,
}

impl Heard {
    fn tell(self, record: &Record, observer: &mut dyn Observer) {
        if let Some((case, pass, step, steps)) = self.begun {
            observer.begins(&case, pass, step, steps);
        }
        for (interval, elapsed) in &self.intervals {
            observer.interval(interval, *elapsed);
        }
        if self.ended {
            observer.ended(record);
        }
    }
}

impl Observer for Heard {
    fn laying_out(&mut self, _: &Path, _: Bytes, _: Bytes) {}

    fn begins(&mut self, case: &Case, pass: u32, step: usize, steps: usize) {
        self.begun = Some((case.clone(), pass, step, steps));
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.intervals.push((*interval, elapsed));
    }

    fn ended(&mut self, _: &Record) {
        self.ended = true;
    }
}
