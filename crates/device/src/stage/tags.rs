//! The places of a device: this many operations at a time, the others wait in line.
//!
//! ```text
//!   arrivals ─▶ ▯▯▯▯▯ ─▶ [ place 1 .. place k ] ─▶     a place is held until the answer
//! ```
//!
//! k servers and one line: with exponential times this is M/M/k.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklab_units::Nanos;

use super::meter::MeterUse;

/// When each place becomes free.
#[derive(Debug, Clone)]
pub(crate) struct QueueTags {
    free_at: BinaryHeap<Reverse<Nanos>>,
    use_so_far: MeterUse,
}

impl QueueTags {
    pub(crate) fn new(places: u32) -> Self {
        assert!(places > 0, "a device without a place serves nothing");
        Self {
            free_at: (0..places).map(|_| Reverse(Nanos::ZERO)).collect(),
            use_so_far: MeterUse::default(),
        }
    }

    /// When an operation that arrives `now` gets a place.
    pub(crate) fn admit(&mut self, now: Nanos) -> Nanos {
        let at = self.free_at.peek().map_or(now, |first| now.max(first.0));
        self.use_so_far.add(1, at.since(now));
        at
    }

    /// The operations that got a place, and how long they waited for it.
    pub(crate) const fn use_so_far(&self) -> MeterUse {
        self.use_so_far
    }

    /// What [`Self::use_so_far`] gives, to correct it.
    pub(crate) const fn use_mut(&mut self) -> &mut MeterUse {
        &mut self.use_so_far
    }

    /// Holds the place that was given last until `until`.
    pub(crate) fn hold(&mut self, until: Nanos) {
        if let Some(mut first) = self.free_at.peek_mut() {
            debug_assert!(until >= first.0, "a place is free before it was taken");
            *first = Reverse(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_random::Stream;

    #[test]
    fn the_third_waits_for_the_first_of_two_to_leave() {
        let mut tags = QueueTags::new(2);
        for (arrival, time, start) in [(0, 100, 0), (10, 20, 10), (20, 50, 30), (40, 50, 80)] {
            let got = tags.admit(Nanos(arrival));
            tags.hold(got + Nanos(time));
            assert_eq!(got, Nanos(start));
        }
    }

    /// Erlang's C: the share of arrivals that wait, of `load` erlangs at k places.
    fn waiting_share(load: f64, places: u32) -> f64 {
        let mut blocked = 1.0;
        for k in 1..=places {
            blocked = load * blocked / (f64::from(k) + load * blocked);
        }
        let used = load / f64::from(places);
        blocked / (1.0 - used + used * blocked)
    }

    #[test]
    fn waits_of_m_m_k() {
        for (places, load) in [(1, 0.5), (4, 3.0), (16, 14.0)] {
            let mut tags = QueueTags::new(places);
            let mut chance = Stream::new(7, "m/m/k", u64::from(places));
            let (mut now, mut waited) = (0.0, 0.0);
            let count = 2_000_000;
            for _ in 0..count {
                now += chance.exponential() * 1e6 / load;
                let start = tags.admit(Nanos(now as u64));
                tags.hold(start + Nanos((chance.exponential() * 1e6) as u64));
                waited += start.since(Nanos(now as u64)).0 as f64;
            }
            let mean = waited / f64::from(count);
            let wanted = waiting_share(load, places) * 1e6 / (f64::from(places) - load);
            let error = (mean / wanted - 1.0).abs();
            assert!(
                error < 0.02,
                "k = {places}: {mean:.0} ns, closed form {wanted:.0} ns"
            );
        }
    }
}
