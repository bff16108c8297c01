//! Programs of a flash: what reads wait for beside writes.
//!
//! ```text
//!   written bytes ─▶ page ▯▯▯ ─▶ channel 1   [ program ]  ▯ ▯      one under way, others wait
//!                              ─▶ channel 2       read ─▶ ▯        a read goes before those that wait
//!                              ─▶ channel k
//! ```
//!
//! A write is answered from a cache; its bytes are programmed later, a page at a time, on one channel
//! after the other. A channel works on programs while no read is there, and a program under way is
//! not broken off: a read finds it with the probability that the channel is programming, and waits
//! for half of it on average. Where more than [`MOST_WAITING`] programs wait on a channel they go
//! before the reads: what the writes take, the reads lose.

use std::collections::VecDeque;

use blocklab_units::Nanos;

use crate::Programs;

/// Programs that a channel puts off for reads; more would need a larger cache than disks have.
const MOST_WAITING: u32 = 64;

/// Writes that were admitted for a later moment than the reads have reached. More are taken as
/// having come.
const MOST_AHEAD: usize = 4096;

/// The programs of all channels of one medium.
#[derive(Debug, Clone)]
pub(crate) struct ProgramQueue {
    time: Nanos,
    page: u64,
    /// Bytes of the page that is being filled.
    filled: u64,
    /// The channel of the next page.
    next: usize,
    /// By channel: programs that wait.
    waiting: Box<[u32]>,
    /// Writes in order of time that no read has come after: a limiter of writes alone lets them in
    /// later than reads that arrive after them.
    ahead: VecDeque<(Nanos, u64)>,
}

impl ProgramQueue {
    pub(crate) fn new(spec: &Programs, channels: usize) -> Self {
        Self {
            time: spec.time,
            page: spec.page.0,
            filled: 0,
            next: 0,
            waiting: vec![0; channels].into(),
            ahead: VecDeque::with_capacity(MOST_AHEAD),
        }
    }

    /// Takes a write that reaches the medium at `at`.
    #[inline]
    pub(crate) fn write(&mut self, at: Nanos, bytes: u64) {
        if self.ahead.len() == MOST_AHEAD {
            // Without reads nobody asks when each is programmed.
            self.ahead.pop_front();
        }
        self.ahead.push_back((at, bytes));
    }

    /// Brings a channel to the moment at which a read reaches it.
    #[inline]
    pub(crate) fn before_read(&mut self, now: Nanos, channel: usize, free_at: &mut [Nanos]) {
        while let Some(&(at, bytes)) = self.ahead.front().filter(|(at, _)| *at <= now) {
            self.ahead.pop_front();
            self.fill(at, bytes, free_at);
        }
        self.work(now, channel, free_at);
    }

    /// Begins or queues a program for every page that these bytes fill.
    fn fill(&mut self, at: Nanos, bytes: u64, free_at: &mut [Nanos]) {
        self.filled += bytes;
        while self.filled >= self.page {
            self.filled -= self.page;
            let channel = self.next;
            self.next = (channel + 1) % free_at.len();
            self.work(at, channel, free_at);
            match free_at[channel] <= at {
                true => free_at[channel] = at + self.time,
                false if self.waiting[channel] < MOST_WAITING => self.waiting[channel] += 1,
                false => free_at[channel] = free_at[channel].saturating_add(self.time),
            }
        }
    }

    /// Lets a channel work on what waits, as far as it is idle before `now`.
    #[inline]
    fn work(&mut self, now: Nanos, channel: usize, free_at: &mut [Nanos]) {
        let (waiting, free_at) = (&mut self.waiting[channel], &mut free_at[channel]);
        if *waiting == 0 || *free_at > now {
            return;
        }
        let begun = (now.since(*free_at).0 / self.time.0 + 1).min(u64::from(*waiting));
        *waiting -= begun as u32;
        *free_at = *free_at + Nanos(begun * self.time.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;
    use blocklab_units::Bytes;

    fn queue(channels: usize) -> ProgramQueue {
        let spec = Programs {
            time: Nanos(300),
            page: Bytes(1000),
            origin: Origin::Given,
        };
        ProgramQueue::new(&spec, channels)
    }

    /// Writes at these moments of so many bytes; then a read of channel 0 at `now`: when it starts.
    #[track_caller]
    fn check(writes: &[(u64, u64)], now: u64, starts: u64) {
        let mut programs = queue(1);
        let mut free_at = [Nanos::ZERO];
        for (at, bytes) in writes {
            programs.write(Nanos(*at), *bytes);
        }
        programs.before_read(Nanos(now), 0, &mut free_at);
        assert_eq!(
            free_at[0].max(Nanos(now)),
            Nanos(starts),
            "{writes:?}, {now}"
        );
    }

    #[test]
    fn a_read_waits_for_the_program_under_way_and_for_no_other() {
        check(&[], 100, 100);
        check(&[(0, 999)], 100, 100);
        check(&[(0, 1000)], 100, 300);
        check(&[(0, 1000)], 300, 300);
        check(&[(0, 3000)], 100, 300);
        // The second of them runs from 300 to 600.
        check(&[(0, 3000)], 400, 600);
        check(&[(0, 3000)], 1000, 1000);
    }

    #[test]
    fn a_write_of_the_future_does_not_hold_a_read_of_today() {
        check(&[(500, 1000)], 100, 100);
        check(&[(500, 1000)], 600, 800);
    }

    #[test]
    fn pages_take_turns() {
        let mut programs = queue(2);
        let mut free_at = [Nanos::ZERO; 2];
        programs.write(Nanos(0), 2000);
        programs.before_read(Nanos(0), 0, &mut free_at);
        assert_eq!(free_at, [Nanos(300), Nanos(300)]);
    }

    #[test]
    fn what_no_read_asks_for_does_not_grow() {
        let mut programs = queue(2);
        for at in 0..100_000 {
            programs.write(Nanos(at), 4096);
        }
        assert_eq!(programs.ahead.len(), MOST_AHEAD);
        assert_eq!(programs.ahead.capacity(), queue(2).ahead.capacity());
    }
}
