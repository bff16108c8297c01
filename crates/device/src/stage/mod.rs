//! The links of a device. Each one is a file: a drawing, a formula, the sentence that it
//! implements, and tests with literal times.
//!
//! ```text
//!            ┌ instance ┐ ┌──────────────────── volume ────────────────────┐
//!  arrival ─▶ caps, burst ─▶ tags ─▶ network ─▶ caps, credits ─▶ media ─▶ network ─▶ faults ─▶ answer
//!            └──────────┘ └────────────────────────────────────────────────┘
//!      accounting, before all: as how many operations and bytes do they count it?
//! ```
//!
//! A stage answers for an operation when it arrives and never takes it back. This is exact as
//! long as operations reach it in order of time; limiters that see everything therefore come
//! before those that see one direction, and media keep the two directions separate. What remains: a
//! write that its own budget keeps back has been counted by the common limiter when it passed
//! there, so that for a moment a little more than the common rate may leave.

use blocklab_units::Nanos;

use crate::{Cap, Covers, Credit, Direction, Io, LimitKind, Rate};

pub(crate) mod accounting;
pub(crate) mod cache;
pub(crate) mod chain;
pub(crate) mod credit;
pub(crate) mod fault;
pub(crate) mod instance;
pub(crate) mod layout;
pub(crate) mod limiter;
pub(crate) mod media;
pub(crate) mod meter;
pub(crate) mod programs;
pub(crate) mod spread;
pub(crate) mod streams;
pub(crate) mod tags;

use credit::Burst;
use limiter::Limiter;
pub(crate) use media::{PREFETCH_KEPT, STATED_AT, is_ahead};

/// How long the load may stand still without losing rate: every limiter makes up at once for this much
/// unused time at its rate.
///
/// Without it, a thread of a real-time run that comes late for a moment would lose that moment of the rate
/// for ever: with two busy processors a limiter then gives a fifth less, and at nine tenths of the rate
/// operations wait for one another. 20 ms give it back, and raise the rate of the first second by 2 %.
pub const FORGIVEN_STALL: Nanos = Nanos::from_millis(20);

/// Where an operation begins, seen from the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Nothing recent.
    Nothing,
    /// A recent operation, but others came between.
    Interleaved,
    /// One of the last operations: this many others came between, fewer than [`streams::RECENT`].
    Recent(u8),
    /// The very last one.
    Last,
}

/// An operation with what the accounting made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChargedIo {
    pub io: Io,
    /// Operations that it counts as; 0 when it was merged into one that is paid for.
    pub ops: u64,
    /// Bytes that the volume's limiters count.
    pub charged: u64,
    /// Bytes that cross the wire.
    pub moved: u64,
    pub follows: Follows,
}

#[cfg(test)]
impl ChargedIo {
    /// An operation at offset 0 that was neither split nor merged: it counts as one, with its own bytes.
    pub(crate) const fn plain(direction: Direction, len: u32) -> Self {
        Self {
            io: Io {
                direction,
                offset: 0,
                len,
            },
            ops: 1,
            charged: len as u64,
            moved: len as u64,
            follows: Follows::Nothing,
        }
    }
}

impl Covers {
    /// Whether a limiter of these operations counts one in this direction.
    pub const fn counts(self, direction: Direction) -> bool {
        match direction {
            Direction::Flush => false,
            Direction::Read => !matches!(self, Self::Writes),
            Direction::Write | Direction::Trim => !matches!(self, Self::Reads),
        }
    }
}

/// The unit in which a limiter counts operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    Operations,
    ChargedBytes,
    MovedBytes,
}

impl Counts {
    /// The units that an operation costs.
    pub(crate) const fn units(self, charged_io: &ChargedIo) -> u64 {
        match self {
            Self::Operations => charged_io.ops,
            Self::ChargedBytes => charged_io.charged,
            Self::MovedBytes => charged_io.moved,
        }
    }
}

/// Which of the two meters of a stage an operation waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhichMeter {
    /// The rate of a limiter, the baseline of credits, the channels for reads.
    First,
    /// The peak of a limiter, the burst rate of credits, the channels for writes.
    Second,
}

/// One link of a device. It decides when an operation that arrives `now` may go on, and sees only the
/// operations that it concerns.
pub(crate) trait Stage {
    /// `on_wait` is called with what it waited for, from when to when.
    fn explain(
        &mut self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(WhichMeter, Nanos, Nanos),
    ) -> Nanos;

    #[cfg(test)]
    fn admit(&mut self, now: Nanos, charged_io: &ChargedIo) -> Nanos {
        self.explain(now, charged_io, &mut |_, _, _| ())
    }
}

/// The stages that a chain can hold.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    Limiter(Limiter),
    Burst(Burst),
}

impl Link {
    /// Whether operations in this direction have to pass it.
    const fn concerns(&self, direction: Direction) -> bool {
        match self {
            Self::Limiter(stage) => stage.covers.counts(direction),
            Self::Burst(_) => Covers::All.counts(direction),
        }
    }
}

impl Stage for Link {
    #[inline(always)]
    fn explain(
        &mut self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(WhichMeter, Nanos, Nanos),
    ) -> Nanos {
        match self {
            Self::Limiter(stage) => stage.explain(now, charged_io, on_wait),
            Self::Burst(stage) => stage.explain(now, charged_io, on_wait),
        }
    }
}

/// Limiters in the order in which they stay exact: those that see everything come first.
pub(crate) fn limiters(caps: &[Cap], credits: &[Credit], bytes: Counts) -> Vec<Link> {
    let counts = |rate: Rate| {
        if rate.counts_bytes() {
            bytes
        } else {
            Counts::Operations
        }
    };
    let limiter = |cap: &Cap| Link::Limiter(Limiter::new(cap, counts(cap.rate)));
    let (all, directed): (Vec<_>, Vec<_>) = caps.iter().partition(|cap| cap.covers == Covers::All);
    let mut links: Vec<Link> = all.into_iter().map(limiter).collect();
    for credit in credits {
        links.push(Link::Burst(Burst::new(credit, counts(credit.baseline))));
    }
    links.extend(directed.into_iter().map(limiter));
    links
}

/// What the two meters of each of [`limiters`] are, in the same order.
pub(crate) fn limiter_kinds(caps: &[Cap], credits: &[Credit]) -> Vec<[LimitKind; 2]> {
    let (all, directed): (Vec<_>, Vec<_>) = caps.iter().partition(|cap| cap.covers == Covers::All);
    let mut kinds: Vec<_> = all
        .iter()
        .map(|cap| [cap.steady(), cap.at_peak()])
        .collect();
    kinds.extend(
        credits
            .iter()
            .map(|credit| [credit.at_baseline(), credit.in_burst()]),
    );
    kinds.extend(directed.iter().map(|cap| [cap.steady(), cap.at_peak()]));
    kinds
}
