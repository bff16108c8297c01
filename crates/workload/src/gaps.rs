//! In: the pieces of a region that a pass takes. Out: the next free piece from anywhere on.
//!
//! ```text
//!   level 1   0 . . .      a bit for each word below: set where it has no 0
//!             |
//!   level 0   1 1 0 1 ...  a bit for each piece: set where it was taken
//! ```
//!
//! It costs one bit for each piece and 1/63 of that for the levels above: 32 MiB for a TiB in pieces
//! of 4 KiB. A free piece is found in as many steps as there are levels, six at most.

const BITS: u64 = 64;
const FULL: u64 = u64::MAX;

/// The pieces of a region, each of which can be taken once.
#[derive(Debug, Clone)]
pub(crate) struct Gaps {
    /// The finest first; the last one is a single word. Bits beyond the end are set.
    levels: Vec<Vec<u64>>,
    pieces: u64,
    /// Pieces that were not taken.
    left: u64,
}

impl Gaps {
    /// This many pieces, none taken.
    ///
    /// # Panics
    /// Without a piece: a region holds at least one operation.
    pub(crate) fn new(pieces: u64) -> Self {
        assert!(pieces > 0, "a region has a piece");
        let mut levels = Vec::new();
        let mut bits = pieces;
        loop {
            let mut words = vec![0; bits.div_ceil(BITS) as usize];
            if let (Some(last), rest @ 1..) = (words.last_mut(), bits % BITS) {
                *last = FULL << rest;
            }
            bits = words.len() as u64;
            levels.push(words);
            if bits == 1 {
                break;
            }
        }
        Self {
            levels,
            pieces,
            left: pieces,
        }
    }

    /// Whether all pieces were taken.
    pub(crate) const fn are_closed(&self) -> bool {
        self.left == 0
    }

    /// Takes at most `wanted` pieces in a row, up to the next taken one. They begin with the first
    /// free piece from `from` on, or else with the first free one of all. Gives the first piece and
    /// their number; `None` if none is left.
    pub(crate) fn take(&mut self, from: u64, wanted: u64) -> Option<(u64, u64)> {
        let first = self.first_free(from)?;
        let count = self.free_in_a_row(first, wanted.max(1));
        self.fill(first, count);
        self.left -= count;
        Some((first, count))
    }

    /// The first free piece from `from` on, or else the first free one of all; `None` if none is left.
    pub(crate) fn first_free(&self, from: u64) -> Option<u64> {
        self.free_from(from).or_else(|| self.free_from(0))
    }

    /// Takes all of these, whether or not some of them were taken before.
    pub(crate) fn take_all(&mut self, first: u64, count: u64) {
        let end = (first + count).min(self.pieces);
        let mut at = first;
        while let Some(free) = self.free_from(at).filter(|free| *free < end) {
            let run = self.free_in_a_row(free, end - free);
            self.fill(free, run);
            self.left -= run;
            at = free + run;
        }
    }

    /// The first free piece from `from` on; `None` if all of them are taken.
    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (level, words) in self.levels.iter().enumerate() {
            let free = !words.get((at / BITS) as usize)? >> (at % BITS);
            if free != 0 {
                return Some(self.lowest_below(level, at + u64::from(free.trailing_zeros())));
            }
            at = at / BITS + 1;
        }
        None
    }

    /// The first free piece below this bit of a level.
    fn lowest_below(&self, level: usize, bit: u64) -> u64 {
        let below = self.levels[..level].iter().rev();
        below.fold(bit, |at, words| {
            at * BITS + u64::from(words[at as usize].trailing_ones())
        })
    }

    /// How many pieces from `first` on are free in a row, at most `wanted`.
    fn free_in_a_row(&self, first: u64, wanted: u64) -> u64 {
        let words = &self.levels[0];
        let mut count = 0;
        while count < wanted && first + count < self.pieces {
            let at = first + count;
            let taken = words[(at / BITS) as usize] >> (at % BITS);
            let (free, rest) = (u64::from(taken.trailing_zeros()), BITS - at % BITS);
            count += free.min(rest);
            if free < rest {
                break;
            }
        }
        count.min(wanted)
    }

    /// Marks pieces as taken, up to 64 of them at a time.
    fn fill(&mut self, first: u64, count: u64) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let (word, bit) = (at / BITS, at % BITS);
            let bits = (end - at).min(BITS - bit);
            self.set(word, (FULL >> (BITS - bits)) << bit);
            at += bits;
        }
    }

    /// Sets these bits of a word, and in the levels above the bits of words that are full now.
    fn set(&mut self, mut word: u64, mut bits: u64) {
        for words in &mut self.levels {
            let changed = &mut words[word as usize];
            *changed |= bits;
            if *changed != FULL {
                return;
            }
            bits = 1 << (word % BITS);
            word /= BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_random::Stream;

    #[test]
    fn a_taken_piece_leads_to_the_next_free_one_and_a_taken_one_ends_the_row() {
        let mut gaps = Gaps::new(10);
        assert_eq!(gaps.take(4, 2), Some((4, 2)));
        assert_eq!(gaps.take(2, 8), Some((2, 2)), "up to the taken one");
        assert_eq!(gaps.take(3, 3), Some((6, 3)), "behind the taken ones");
        assert_eq!(gaps.take(7, 9), Some((9, 1)), "up to the end");
        assert_eq!(gaps.take(9, 1), Some((0, 1)), "from the beginning again");
        assert_eq!(gaps.take(0, 5), Some((1, 1)));
        assert!(gaps.are_closed());
        assert_eq!(gaps.take(0, 1), None);
    }

    #[test]
    fn a_stretch_is_taken_with_what_was_taken_of_it_before() {
        let mut gaps = Gaps::new(200);
        gaps.take(70, 3);
        gaps.take(75, 1);
        gaps.take_all(64, 64);
        assert_eq!(gaps.left, 136);
        assert_eq!(gaps.take(64, 1), Some((128, 1)));
        gaps.take_all(0, 300);
        assert!(gaps.are_closed());
    }

    /// Compared with a plain list of what was taken.
    #[test]
    fn each_piece_is_taken_once_whatever_is_wanted() {
        let mut chance = Stream::new(5, "gaps", 0);
        for pieces in [1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 262_145] {
            for longest in [1, 3, 64, 200, 5000] {
                let mut gaps = Gaps::new(pieces);
                let mut taken = vec![false; pieces as usize];
                while !gaps.are_closed() {
                    let (from, wanted) = (chance.below(pieces), 1 + chance.below(longest));
                    let (first, count) = gaps.take(from, wanted).expect("some are left");
                    assert!((1..=wanted).contains(&count));
                    let (first, end) = (first as usize, (first + count) as usize);
                    assert!(taken[first..end].iter().all(|taken| !taken));
                    let whole = count == wanted || end == taken.len() || taken[end];
                    assert!(whole, "{first} to {end} of {wanted} could be longer");
                    taken[first..end].fill(true);
                }
                assert!(taken.iter().all(|taken| *taken), "{pieces} {longest}");
                assert_eq!(gaps.take(0, 1), None);
            }
        }
    }
}
