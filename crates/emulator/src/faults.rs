//! Injected faults of a volume.
//!
//! ```text
//!              from          until
//!   ────────────┼──────────────┼─────────▶ time
//!   error       │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            a share of the operations that arrive fails
//!   latency     │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            a share of them takes longer
//!   stall     ──┼──────────────┼▶ all: no reply leaves in between, also of earlier requests
//! ```
//!
//! A detached volume is no such fault: see `Volume::detach`.

use std::collections::BTreeMap;
use std::ops::Range;

use blocklab_device::{Direction, Io};
use blocklab_random::Stream;
use blocklab_units::Nanos;

use crate::Failure;

/// The effect on an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It fails, and changes nothing.
    Error(Failure),
    /// It takes this much longer.
    Latency(Nanos),
    /// Its reply waits for the end of the fault.
    Stall,
}

/// A fault between two moments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// The number of the command that brought it.
    pub number: u64,
    /// The first moment.
    pub from: Nanos,
    /// The first moment after it; [`Nanos::MAX`]: until it is ended.
    pub until: Nanos,
    /// Its effect.
    pub kind: FaultKind,
    /// The share of the operations that it hits, in per cent, by [`Direction`].
    pub percents: [f64; 4],
    /// Only operations that touch these bytes; `None`: all.
    pub range: Option<Range<u64>>,
}

impl Fault {
    fn concerns(&self, io: Io) -> bool {
        self.range.as_ref().is_none_or(|range| {
            let end = io.offset + u64::from(io.len).max(1);
            // A flush has no range.
            io.direction != Direction::Flush && io.offset < range.end && end > range.start
        })
    }

    fn lasts_at(&self, now: Nanos) -> bool {
        self.from <= now && now < self.until
    }
}

/// A fault with its random stream and its count.
#[derive(Debug)]
struct ActiveFault {
    fault: Fault,
    chance: Stream,
    hits: u64,
}

/// All faults of one volume.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    active: Vec<ActiveFault>,
    /// For each number of faults that are over, how many operations they hit.
    past_hits: BTreeMap<u64, u64>,
}

/// The effect of all faults on one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FaultEffect {
    pub(crate) failure: Option<Failure>,
    pub(crate) added: Nanos,
}

impl Faults {
    /// Each fault has a random stream of its own, so that other faults do not change which operations
    /// it hits.
    pub(crate) fn add(&mut self, fault: Fault, seed: u64) {
        self.active.push(ActiveFault {
            chance: Stream::new(seed, "injected fault", fault.number),
            fault,
            hits: 0,
        });
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Ends those whose time is over. Returns whether any is left.
    pub(crate) fn forget_past(&mut self, now: Nanos) -> bool {
        self.retire(|fault| fault.until <= now);
        !self.active.is_empty()
    }

    /// Ends all of them, or one.
    pub(crate) fn clear(&mut self, number: Option<u64>) {
        self.retire(|fault| number.is_none_or(|number| fault.number == number));
    }

    /// Ends the faults that are over, and keeps how many operations they hit.
    fn retire(&mut self, is_over: impl Fn(&Fault) -> bool) {
        for gone in self.active.extract_if(.., |active| is_over(&active.fault)) {
            *self.past_hits.entry(gone.fault.number).or_default() += gone.hits;
        }
    }

    /// Draws which faults hit an operation that arrives.
    pub(crate) fn hit(&mut self, now: Nanos, io: Io) -> FaultEffect {
        let mut effect = FaultEffect::default();
        for active in &mut self.active {
            if !active.fault.lasts_at(now) || !active.fault.concerns(io) {
                continue;
            }
            let percent = active.fault.percents[io.direction as usize];
            // Drawn also where the share is 100 %: what is drawn next does not depend on it.
            if active.chance.unit() * 100.0 >= percent {
                continue;
            }
            active.hits += 1;
            match active.fault.kind {
                FaultKind::Error(failure) => effect.failure = Some(failure),
                FaultKind::Latency(added) => effect.added = effect.added.saturating_add(added),
                FaultKind::Stall => {}
            }
        }
        effect
    }

    /// The end of the stall that lasts at `now`; `None` without one.
    pub(crate) fn stalled_until(&self, now: Nanos) -> Option<Nanos> {
        self.active
            .iter()
            .filter(|active| active.fault.kind == FaultKind::Stall && active.fault.lasts_at(now))
            .map(|stall| stall.fault.until)
            .max()
    }

    /// The end of the stall that holds, at `now`, an operation that arrived before and is due at
    /// `due`; `None` without one. The stall counts it, once: an operation that is held already is due
    /// at the end, and one that arrived while the stall lasted was counted then.
    pub(crate) fn hold(&mut self, arrived: Nanos, due: Nanos, now: Nanos) -> Option<Nanos> {
        for active in &mut self.active {
            let fault = &active.fault;
            let stalls = fault.kind == FaultKind::Stall && fault.lasts_at(now);
            let is_held = arrived < fault.from && due < fault.until;
            active.hits += u64::from(stalls && is_held);
        }
        self.stalled_until(now)
    }

    /// How many operations the faults of a number have hit.
    pub(crate) fn hits(&self, number: u64) -> u64 {
        let past = self.past_hits.get(&number).copied().unwrap_or(0);
        let active = self
            .active
            .iter()
            .filter(|active| active.fault.number == number);
        past + active.map(|active| active.hits).sum::<u64>()
    }

    /// The active and coming ones, and how many operations each has hit.
    pub(crate) fn list(&self) -> Vec<(Fault, u64)> {
        self.active
            .iter()
            .map(|active| (active.fault.clone(), active.hits))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, percent: f64) -> Fault {
        Fault {
            number: 1,
            from: Nanos::from_secs(10),
            until: Nanos::from_secs(20),
            kind,
            percents: [percent; 4],
            range: Some(4096..8192),
        }
    }

    const fn read(offset: u64, len: u32) -> Io {
        Io {
            direction: Direction::Read,
            offset,
            len,
        }
    }

    #[test]
    fn a_fault_hits_its_time_and_its_range_only() {
        let mut faults = Faults::default();
        faults.add(fault(FaultKind::Error(Failure::Io), 100.0), 1);
        let failed = |faults: &mut Faults, second, io| {
            let effect = faults.hit(Nanos::from_secs(second), io);
            effect.failure.is_some()
        };
        for (second, io, hit) in [
            (9, read(4096, 512), false),
            (10, read(4096, 512), true),
            (10, read(0, 4096), false),
            (10, read(0, 4097), true),
            (10, read(8192, 1), false),
            (20, read(4096, 512), false),
        ] {
            assert_eq!(failed(&mut faults, second, io), hit, "{second} s, {io:?}");
        }
        assert_eq!(faults.hits(1), 2);
        assert!(!faults.forget_past(Nanos::from_secs(20)));
        assert_eq!(faults.hits(1), 2, "also when it is over");
    }

    #[test]
    fn a_share_is_hit_and_the_same_ones_from_the_same_seed() {
        let run = |seed| {
            let mut faults = Faults::default();
            faults.add(fault(FaultKind::Latency(Nanos(5)), 1.0), seed);
            let hits = (0..100_000).map(|_| {
                let effect = faults.hit(Nanos::from_secs(12), read(4096, 1));
                effect.added == Nanos(5)
            });
            hits.collect::<Vec<_>>()
        };
        let hits = run(1).iter().filter(|hit| **hit).count();
        assert!((900..1100).contains(&hits), "{hits} of 100,000");
        assert!(run(1) == run(1) && run(1) != run(2));
    }

    /// The story: a stall of a second held sixteen requests in flight and said "0 hits", as only those
    /// were counted that arrived while it lasted.
    #[test]
    fn a_stall_counts_what_it_holds_once() {
        let mut faults = Faults::default();
        faults.add(fault(FaultKind::Stall, 100.0), 7);
        let second = Nanos::from_secs;
        let until = Some(second(20));
        for arrived in [8, 9] {
            let held = faults.hold(second(arrived), second(12), second(10));
            assert_eq!(held, until);
            // Looked at again, as when another fault begins, and due later than it ends.
            assert_eq!(faults.hold(second(arrived), second(20), second(11)), until);
        }
        let io = read(4096, 1);
        faults.hit(second(12), io);
        assert_eq!(faults.hold(second(12), second(13), second(13)), until);
        assert_eq!(faults.hold(second(8), second(20), second(20)), None);
        assert_eq!(faults.hits(1), 3);
    }

    #[test]
    fn a_stall_holds_until_its_end() {
        let mut faults = Faults::default();
        faults.add(fault(FaultKind::Stall, 100.0), 1);
        let until = |second| faults.stalled_until(Nanos::from_secs(second));
        assert_eq!(
            [until(9), until(10), until(20)],
            [None, Some(Nanos::from_secs(20)), None]
        );
    }
}
