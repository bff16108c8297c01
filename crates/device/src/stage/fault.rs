//! What goes wrong, and when.
//!
//! ```text
//!            from          until
//!   ──────────┼──────────────┼─────────▶ time
//!   latency   │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            a share of those that arrive takes longer
//!   error     │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            a share of those that arrive fails, when it would be done
//!   stall   ──┼──────────────┼▶ all at once: nothing leaves in between
//!   detach  ──X X X X X X X X│            in flight: fails at `from`; arriving: fails at once
//! ```
//!
//! Latency has the parameters of the vendor's fault injection service (share of reads, share of
//! writes, added time), and stall is its pause of a volume.

use blocklab_random::Stream;
use blocklab_units::Nanos;

use crate::{Answer, Direction, Fault, FaultKind, FaultSpec};

/// The schedule at work.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    faults: Box<[FaultSpec]>,
    chance: Stream,
}

impl Schedule {
    pub(crate) fn new(faults: &[FaultSpec], seed: u64) -> Self {
        Self {
            faults: faults.into(),
            chance: Stream::new(seed, "faults", 0),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Whether `volume` is gone: then nothing reaches it.
    pub(crate) fn is_gone(&self, now: Nanos, volume: usize) -> bool {
        let mut all = self.faults.iter();
        all.any(|fault| {
            fault.kind == FaultKind::Detach && fault.hits(volume) && fault.lasts_at(now)
        })
    }

    /// What becomes of an operation that arrived `now` and would be done `at`. Faults apply in
    /// the order in which they are listed.
    pub(crate) fn apply(
        &mut self,
        now: Nanos,
        at: Nanos,
        volume: usize,
        direction: Direction,
    ) -> Answer {
        let sound = Answer { at, result: Ok(()) };
        let Self { faults, chance } = self;
        let hitting = faults.iter().filter(|fault| fault.hits(volume));
        hitting.fold(sound, |answer, fault| {
            fault.apply(now, answer, direction, chance)
        })
    }
}

impl FaultSpec {
    fn hits(&self, volume: usize) -> bool {
        self.volume.is_none_or(|only| only == volume)
    }

    fn lasts_at(&self, now: Nanos) -> bool {
        self.from <= now && now < self.until
    }

    /// The answer of an operation under this fault alone.
    fn apply(
        &self,
        now: Nanos,
        answer: Answer,
        direction: Direction,
        chance: &mut Stream,
    ) -> Answer {
        match self.kind {
            FaultKind::Latency {
                added,
                read_percent,
                write_percent,
            } if self.lasts_at(now) => {
                let hit = strikes(direction, read_percent, write_percent, chance);
                let added = if hit { added } else { Nanos::ZERO };
                Answer {
                    at: answer.at.saturating_add(added),
                    ..answer
                }
            }
            FaultKind::Error {
                fault,
                read_percent,
                write_percent,
            } if self.lasts_at(now) => {
                let hit = strikes(direction, read_percent, write_percent, chance);
                let result = if hit { Err(fault) } else { answer.result };
                Answer { result, ..answer }
            }
            // These two also hit what was in flight when they began: it arrived before, and would
            // leave after.
            FaultKind::Stall if now < self.until && answer.at >= self.from => Answer {
                at: answer.at.max(self.until),
                ..answer
            },
            FaultKind::Detach if now < self.from && answer.at >= self.from => Answer {
                at: self.from,
                result: Err(Fault::Detached),
            },
            _ => answer,
        }
    }
}

/// Whether this operation is among the share.
fn strikes(direction: Direction, reads: f64, writes: f64, chance: &mut Stream) -> bool {
    let percent = match direction {
        Direction::Read => reads,
        _ => writes,
    };
    chance.unit() * 100.0 < percent
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn schedule(kind: FaultKind) -> Schedule {
        let fault = FaultSpec {
            from: Nanos::from_secs(10),
            until: Nanos::from_secs(20),
            volume: Some(0),
            kind,
        };
        Schedule::new(&[fault], 1)
    }

    /// Arrival and planned answer in seconds, against what happens on volume 0.
    #[track_caller]
    fn check(kind: FaultKind, now: u64, planned: u64, at: u64, result: Result<(), Fault>) {
        let mut schedule = schedule(kind);
        let (now, planned) = (Nanos::from_secs(now), Nanos::from_secs(planned));
        let got = schedule.apply(now, planned, 0, Direction::Read);
        assert_eq!(
            got,
            Answer {
                at: Nanos(at * SECOND),
                result
            }
        );
        let elsewhere = schedule.apply(now, planned, 1, Direction::Read);
        assert_eq!(
            elsewhere,
            Answer {
                at: planned,
                result: Ok(())
            }
        );
    }

    #[test]
    fn a_stall_keeps_all_until_its_end() {
        check(FaultKind::Stall, 5, 6, 6, Ok(()));
        check(FaultKind::Stall, 9, 11, 20, Ok(()));
        check(FaultKind::Stall, 15, 16, 20, Ok(()));
        check(FaultKind::Stall, 15, 25, 25, Ok(()));
        check(FaultKind::Stall, 20, 21, 21, Ok(()));
    }

    #[test]
    fn a_detached_volume_fails_what_is_in_flight() {
        check(FaultKind::Detach, 5, 6, 6, Ok(()));
        check(FaultKind::Detach, 9, 11, 10, Err(Fault::Detached));
        let gone = schedule(FaultKind::Detach);
        for (seconds, is_gone) in [(9, false), (10, true), (19, true), (20, false)] {
            assert_eq!(gone.is_gone(Nanos::from_secs(seconds), 0), is_gone);
            assert!(!gone.is_gone(Nanos::from_secs(seconds), 1));
        }
    }

    #[test]
    fn all_reads_and_no_writes_take_half_a_second_longer() {
        let kind = FaultKind::Latency {
            added: Nanos::from_millis(500),
            read_percent: 100.0,
            write_percent: 0.0,
        };
        let mut schedule = schedule(kind);
        let (now, at) = (Nanos::from_secs(12), Nanos::from_secs(13));
        let read = schedule.apply(now, at, 0, Direction::Read);
        let write = schedule.apply(now, at, 0, Direction::Write);
        assert_eq!([read.at.0, write.at.0], [13_500_000_000, 13_000_000_000]);
    }

    #[test]
    fn one_in_a_hundred_fails() {
        let mut schedule = schedule(FaultKind::Error {
            fault: Fault::Io,
            read_percent: 1.0,
            write_percent: 0.0,
        });
        let (now, at) = (Nanos::from_secs(12), Nanos::from_secs(13));
        let failed = (0..100_000)
            .filter(|_| schedule.apply(now, at, 0, Direction::Read).result == Err(Fault::Io))
            .count();
        assert!((900..1100).contains(&failed), "{failed} of 100,000");
    }
}
