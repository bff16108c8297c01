//! In: pings to another host and its answers. Out: the difference between its clocks and ours, with its
//! uncertainty.
//!
//! ```text
//!   ours   sent ───────╮           ╭────── received
//!   theirs             ╰─▶ answer ─╯
//! ```
//!
//! The answer was given between the two, so `theirs - (sent + received) / 2` is wrong by at most half
//! of the round trip. Of many pings, the one with the shortest round trip is used: the others were
//! delayed on the way there or back.

use blocklab_record::ClockOffset;

/// A ping and its answer, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Our monotonic clock when it was sent.
    pub sent_ns: i64,
    /// The other's monotonic clock when it answered.
    pub theirs_ns: i64,
    /// The other's time of day when it answered.
    pub theirs_unix_ns: i64,
    /// Our monotonic clock when the answer came.
    pub received_ns: i64,
}

impl Sample {
    /// The time from sending the ping to receiving the answer.
    const fn round_trip(&self) -> i64 {
        self.received_ns - self.sent_ns
    }

    /// The other's monotonic clock minus ours.
    const fn offset(&self) -> i64 {
        self.theirs_ns - (self.sent_ns + self.round_trip() / 2)
    }
}

/// The pings to one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pings {
    /// The one with the shortest round trip.
    best: Option<Sample>,
    /// Number of answers.
    pub answered: u32,
}

impl Pings {
    /// Number of pings in one comparison.
    pub const COUNT: u32 = 64;

    /// Adds an answer.
    pub fn add(&mut self, sample: Sample) {
        self.answered += 1;
        let best = self.best.map_or(i64::MAX, |best| best.round_trip());
        if sample.round_trip() < best {
            self.best = Some(sample);
        }
    }

    /// The other's monotonic clock minus ours; `None` before the first answer.
    pub fn offset(&self) -> Option<i64> {
        self.best.map(|best| best.offset())
    }

    /// The result for the Record; `None` before the first answer. `unix_minus_monotonic`: our time of
    /// day minus our monotonic clock, in ns.
    pub fn clock(&self, unix_minus_monotonic: i64) -> Option<ClockOffset> {
        let best = self.best?;
        let middle = best.sent_ns + best.round_trip() / 2;
        let ours = middle.saturating_add(unix_minus_monotonic);
        Some(ClockOffset {
            offset_ns: best.theirs_unix_ns - ours,
            monotonic_offset_ns: best.offset().to_string(),
            round_trip_ns: best.round_trip().unsigned_abs(),
            at_unix_us: u64::try_from(ours / 1000).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways of different lengths: the estimate is off by half of the difference, and by half of the
    /// round trip at most.
    #[test]
    fn the_shortest_round_trip_counts() {
        let truth = 10_000_000_000;
        let mut pings = Pings::default();
        let ways = [(900_000, 20_000), (15_000, 25_000), (20_000, 4_000_000)];
        for (number, (there, back)) in ways.into_iter().enumerate() {
            let sent = 1_000_000_000 + number as i64 * 10_000_000;
            pings.add(Sample {
                sent_ns: sent,
                theirs_ns: sent + there + truth,
                theirs_unix_ns: sent + there + 1_700_000_000_000_000_000,
                received_ns: sent + there + back,
            });
        }
        assert_eq!(pings.offset(), Some(truth - 5_000));
        let clock = pings
            .clock(1_700_000_000_000_000_000 - 3_000_000)
            .expect("a clock");
        assert_eq!(clock.round_trip_ns, 40_000);
        assert_eq!(clock.offset_ns, 3_000_000 - 5_000);
        assert_eq!(clock.monotonic_offset_ns, "9999995000");
    }

    #[test]
    fn without_an_answer_nothing_is_known() {
        assert_eq!(Pings::default().offset(), None);
        assert_eq!(Pings::default().clock(0), None);
    }
}
