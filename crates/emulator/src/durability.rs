//! The undo log of a power cut: pages as they were before writes that no flush has covered.
//!
//! ```text
//!   generation      1          2         now
//!   page 7     before A ── before B ──▶ C        a flush that came after generation 1 is done:
//!   page 9     before X ──────────────▶ Y        its images are dropped, so B and Y are durable
//! ```
//!
//! A flush that arrives begins a generation: earlier writes are in older ones, which are dropped when
//! the flush completes. At a power cut each 512-byte sector of a page comes back as it is in one
//! of the images or as it is now. The log is bounded, and when it is full, the oldest page becomes
//! durable: so does a drive's cache, which writes back what it has no room for.

use std::collections::VecDeque;

use blocklab_random::Stream;
use rustc_hash::FxHashMap;

use crate::pages::{PAGE, Page, ZERO_PAGE, new_page};

/// A power cut may tear a write at multiples of this many bytes.
const SECTOR: usize = 512;

/// A page before its first write of a generation; `None`: it had never been written.
pub(crate) type Before = Option<Box<Page>>;

#[derive(Debug)]
struct Generation {
    number: u64,
    /// By page number.
    before: FxHashMap<u64, Before>,
    /// The page numbers of `before`, in the order in which they came.
    order: VecDeque<u64>,
}

/// How much of the unflushed data a power cut loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All of it.
    All,
    /// Each sector at random.
    Torn,
}

/// The log of one stripe.
#[derive(Debug)]
pub(crate) struct UndoLog {
    generations: VecDeque<Generation>,
    pages: usize,
    most_pages: usize,
}

impl UndoLog {
    pub(crate) const fn new(most_pages: usize) -> Self {
        Self {
            generations: VecDeque::new(),
            pages: 0,
            most_pages,
        }
    }

    /// Whether a write of this generation to a page needs the page's image first.
    #[inline]
    pub(crate) fn needs(&self, generation: u64, page: u64) -> bool {
        let last = self.generations.back();
        // A number older than the last one is a write that a flush overtook: it may be lost or kept.
        !last.is_some_and(|last| last.number >= generation && last.before.contains_key(&page))
    }

    /// Keeps the image of a page before its first write of a generation.
    pub(crate) fn keep(&mut self, generation: u64, page: u64, before: Option<&Page>) {
        if self.pages >= self.most_pages {
            self.drop_oldest();
        }
        let last = self.generations.back();
        if last.is_none_or(|last| last.number < generation) {
            self.generations.push_back(Generation {
                number: generation,
                before: FxHashMap::default(),
                order: VecDeque::new(),
            });
        }
        let newest = self.generations.back_mut().expect("one of this number");
        newest.before.insert(page, before.map(new_page));
        newest.order.push_back(page);
        self.pages += 1;
    }

    /// Drops the image of the page that was kept first.
    fn drop_oldest(&mut self) {
        while let Some(oldest) = self.generations.front_mut() {
            if let Some(page) = oldest.order.pop_front() {
                oldest.before.remove(&page);
                self.pages -= 1;
                return;
            }
            // All of its pages have become durable.
            self.generations.pop_front();
        }
    }

    /// Writes up to a generation are durable.
    pub(crate) fn flushed(&mut self, generation: u64) {
        while let Some(oldest) = self.generations.front() {
            if oldest.number > generation {
                return;
            }
            self.pages -= oldest.before.len();
            self.generations.pop_front();
        }
    }

    /// A page is durable as it is.
    pub(crate) fn persist(&mut self, page: u64) {
        for generation in &mut self.generations {
            if generation.before.remove(&page).is_some() {
                // A forced write is mostly the last one.
                let place = generation.order.iter().rposition(|known| *known == page);
                generation
                    .order
                    .remove(place.expect("the order has all pages"));
                self.pages -= 1;
            }
        }
    }

    /// Empties the log, and returns the pages to restore. `now` reads a page's present content.
    pub(crate) fn cut(
        &mut self,
        loss: Loss,
        chance: &mut Stream,
        now: impl Fn(u64) -> Option<Page>,
    ) -> Vec<(u64, Before)> {
        // Page, generation, and image.
        let mut images: Vec<(u64, u64, Before)> = Vec::new();
        for generation in self.generations.drain(..) {
            let number = generation.number;
            let pages = generation.before.into_iter();
            images.extend(pages.map(|(page, before)| (page, number, before)));
        }
        self.pages = 0;
        // The images of a page one behind the other, oldest first. What is drawn for a page must not
        // depend on the order of a table.
        images.sort_unstable_by_key(|(page, number, _)| (*page, *number));
        let mut restored = Vec::new();
        for images in images.chunk_by_mut(|(one, ..), (next, ..)| one == next) {
            let page = images[0].0;
            let back = match loss {
                Loss::All => images[0].2.take(),
                Loss::Torn => {
                    let now = now(page).unwrap_or(ZERO_PAGE);
                    let before = images.iter().map(|(_, _, before)| before.as_deref());
                    let mut choice: Vec<&Page> =
                        before.map(|image| image.unwrap_or(&ZERO_PAGE)).collect();
                    choice.push(&now);
                    Some(torn(&choice, chance))
                }
            };
            restored.push((page, back));
        }
        restored
    }
}

/// A page whose sectors each come from one of these, by chance.
fn torn(choice: &[&Page], chance: &mut Stream) -> Box<Page> {
    let mut page = new_page(&ZERO_PAGE);
    for at in (0..PAGE).step_by(SECTOR) {
        let image = choice[chance.below(choice.len() as u64) as usize];
        page[at..at + SECTOR].copy_from_slice(&image[at..at + SECTOR]);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(byte: u8) -> Page {
        [byte; PAGE]
    }

    fn cut(log: &mut UndoLog, loss: Loss, now: u8) -> Vec<(u64, Option<u8>)> {
        let mut chance = Stream::new(1, "power cut", 0);
        let back = log.cut(loss, &mut chance, |_| Some(filled(now)));
        let first = |(page, before): (u64, Before)| (page, before.map(|bytes| bytes[0]));
        back.into_iter().map(first).collect()
    }

    #[test]
    fn what_was_flushed_stays_and_what_came_later_goes() {
        let mut log = UndoLog::new(10);
        log.keep(1, 7, None);
        assert!(!log.needs(1, 7) && log.needs(2, 7) && log.needs(1, 9));
        log.keep(2, 7, Some(&filled(1)));
        log.flushed(1);
        assert_eq!(cut(&mut log, Loss::All, 2), [(7, Some(1))]);
        assert_eq!(cut(&mut log, Loss::All, 2), []);
    }

    #[test]
    fn without_a_flush_the_first_image_comes_back() {
        let mut log = UndoLog::new(10);
        log.keep(1, 7, None);
        log.keep(2, 7, Some(&filled(1)));
        log.keep(2, 9, Some(&filled(4)));
        assert_eq!(cut(&mut log, Loss::All, 2), [(7, None), (9, Some(4))]);
    }

    #[test]
    fn a_full_log_makes_the_oldest_durable() {
        let mut log = UndoLog::new(2);
        for page in [3, 5, 8] {
            log.keep(1, page, Some(&filled(page as u8)));
        }
        assert_eq!(cut(&mut log, Loss::All, 0), [(5, Some(5)), (8, Some(8))]);
    }

    /// A page that was forced out left its number in the log's order. Forced writes alone, as to a
    /// file opened with `O_DSYNC`, let that order grow for ever, and a stale number made a younger
    /// page durable in place of the oldest one.
    #[test]
    fn a_forced_page_leaves_nothing_in_the_log() {
        let mut log = UndoLog::new(2);
        for _ in 0..100 {
            log.keep(1, 3, Some(&filled(3)));
            log.persist(3);
        }
        assert_eq!(log.generations[0].order.len(), 0);
        for page in [4, 3, 5] {
            log.keep(1, page, Some(&filled(page as u8)));
        }
        assert_eq!(cut(&mut log, Loss::All, 0), [(3, Some(3)), (5, Some(5))]);
    }

    #[test]
    fn a_forced_write_is_durable_on_its_own() {
        let mut log = UndoLog::new(9);
        log.keep(1, 3, None);
        log.keep(1, 4, None);
        log.persist(3);
        assert_eq!(cut(&mut log, Loss::All, 0), [(4, None)]);
    }

    #[test]
    fn torn_sectors_are_old_or_new_and_follow_the_seed() {
        let tear = || {
            let mut log = UndoLog::new(9);
            log.keep(1, 3, Some(&filled(1)));
            let mut chance = Stream::new(5, "power cut", 0);
            let back = log.cut(Loss::Torn, &mut chance, |_| Some(filled(2)));
            back[0].1.as_deref().copied().expect("a page")
        };
        let page = tear();
        for sector in page.chunks(SECTOR) {
            assert!(
                sector == [1; SECTOR] || sector == [2; SECTOR],
                "no other byte"
            );
        }
        assert!(page.contains(&1) && page.contains(&2), "some of each");
        assert_eq!(page, tear());
    }
}
