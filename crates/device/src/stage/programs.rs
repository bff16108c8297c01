//! Programs of a flash: what reads wait for alongside writes.
//!
//! ```text
//!   written bytes ─▶ page ▯▯▯ ─▶ die 1   [ program ]  ▯ ▯        one under way, others wait
//!                              ─▶ die 2   ◀── read, in whose way the one under way is
//!                              ─▶ die k
//! ```
//!
//! A write is answered from a cache; its bytes are programmed later, a page at a time, on one die
//! after the other, and there are as many dies as channels. A program under way is not interrupted:
//! a read finds one with the probability that its die is programming, and begins when its channel is
//! free and the program has ended. It keeps the channel from the reads that arrive later. It goes
//! before the programs that have not begun, unless more than [`MOST_WAITING`] of them wait: then what
//! the writes take, the reads lose.

use std::collections::VecDeque;

use blocklab_units::Nanos;

use crate::Programs;

/// Programs that a die puts off for reads; more would need a larger cache than disks have.
const MOST_WAITING: u32 = 64;

/// Writes that were admitted for a later moment than the reads have reached. Of more, the oldest are
/// forgotten: without reads it does not matter when each is programmed.
const MOST_AHEAD: usize = 4096;

/// The programs of all dies of one medium.
#[derive(Debug, Clone)]
pub(crate) struct ProgramQueue {
    time: Nanos,
    page: u64,
    /// Bytes of the page that is being filled.
    filled: u64,
    /// The die of the next page.
    next: usize,
    dies: Box<[Die]>,
    /// Writes in order of time that no read has come after: a limiter of writes alone lets them in
    /// later than reads that arrive after them.
    ahead: VecDeque<(Nanos, u64)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Die {
    free_at: Nanos,
    /// Programs that have not begun.
    waiting: u32,
}

impl ProgramQueue {
    pub(crate) fn new(spec: &Programs, dies: usize) -> Self {
        Self {
            time: spec.time,
            page: spec.page.0,
            filled: 0,
            next: 0,
            dies: vec![Die::default(); dies].into(),
            ahead: VecDeque::with_capacity(MOST_AHEAD),
        }
    }

    /// Takes a write that reaches the medium at `at`.
    #[inline]
    pub(crate) fn write(&mut self, at: Nanos, bytes: u64) {
        if self.ahead.len() == MOST_AHEAD {
            self.ahead.pop_front();
        }
        self.ahead.push_back((at, bytes));
    }

    /// When the die of a read that arrives `now` and has its channel at `start` lets it begin.
    #[inline]
    pub(crate) fn let_read(&mut self, now: Nanos, start: Nanos, offset: u64) -> Nanos {
        while let Some(&(at, bytes)) = self.ahead.front().filter(|(at, _)| *at <= now) {
            self.ahead.pop_front();
            self.fill(at, bytes);
        }
        // Not the bits that choose the channel: two reads of one channel rarely share a die.
        let die = place(offset.rotate_left(32), self.dies.len());
        self.dies[die].work(start, self.time);
        start.max(self.dies[die].free_at)
    }

    /// Begins or queues a program for every page that these bytes fill.
    fn fill(&mut self, at: Nanos, bytes: u64) {
        self.filled += bytes;
        while self.filled >= self.page {
            self.filled -= self.page;
            let dies = self.dies.len();
            let die = &mut self.dies[self.next];
            self.next = (self.next + 1) % dies;
            die.work(at, self.time);
            // Idle: it begins. Busy: it waits. With too many waiting, the die goes on without a pause.
            if die.free_at <= at {
                die.free_at = at.saturating_add(self.time);
            } else if die.waiting < MOST_WAITING {
                die.waiting += 1;
            } else {
                die.free_at = die.free_at.saturating_add(self.time);
            }
        }
    }
}

impl Die {
    /// Begins the queued programs for which the die had time before `now`.
    #[inline]
    fn work(&mut self, now: Nanos, time: Nanos) {
        if self.waiting == 0 || self.free_at > now {
            return;
        }
        // One begins at once, and one more for each whole program that has ended since.
        let begun = (now.since(self.free_at).0 / time.0 + 1).min(u64::from(self.waiting));
        self.waiting -= begun as u32;
        self.free_at = self.free_at.saturating_add(Nanos(begun * time.0));
    }
}

/// One of `count` places, as if drawn for each number.
#[inline]
pub(super) fn place(number: u64, count: usize) -> usize {
    // Neighbouring numbers must not get neighbouring places: two multiplications mix all bits.
    let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((u128::from(hash) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;
    use blocklab_units::Bytes;

    fn queue(dies: usize) -> ProgramQueue {
        let spec = Programs {
            time: Nanos(300),
            page: Bytes(1000),
            origin: Origin::Given,
        };
        ProgramQueue::new(&spec, dies)
    }

    /// Writes at these moments of this many bytes; then a read of the only die at `now`: when it
    /// starts.
    #[track_caller]
    fn check(writes: &[(u64, u64)], now: u64, starts: u64) {
        let mut programs = queue(1);
        for (at, bytes) in writes {
            programs.write(Nanos(*at), *bytes);
        }
        let seen = programs.let_read(Nanos(now), Nanos(now), 0);
        assert_eq!(seen, Nanos(starts), "{writes:?}, {now}");
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

    /// One program is under way and 64 wait for a read; what comes then is programmed first, as the
    /// cache of a disk holds no more.
    #[test]
    fn a_read_goes_before_sixty_four_programs() {
        check(&[(0, 65_000)], 100, 300);
        check(&[(0, 66_000)], 100, 600);
    }

    #[test]
    fn pages_take_turns() {
        let mut programs = queue(2);
        programs.write(Nanos(0), 2000);
        programs.let_read(Nanos(0), Nanos(0), 0);
        let free_at: Vec<_> = programs.dies.iter().map(|die| die.free_at).collect();
        assert_eq!(free_at, [Nanos(300), Nanos(300)]);
    }

    #[test]
    fn what_no_read_asks_for_does_not_grow() {
        let mut programs = queue(2);
        for at in 0..100_000 {
            programs.write(Nanos(at), 4096);
        }
        assert_eq!(programs.ahead.capacity(), queue(2).ahead.capacity());
        // Of 4,096 writes the read comes after the first, which filled a page; of one more it is forgotten.
        let page_and_others = |others: usize| [vec![(0, 1000)], vec![(50, 0); others]].concat();
        check(&page_and_others(4095), 100, 300);
        check(&page_and_others(4096), 100, 100);
    }
}
