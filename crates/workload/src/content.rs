//! In: what a job writes. Out: buffers filled with it, reproducibly, before their first use and for
//! every further write.

use std::sync::Arc;

use blocklab_random::Stream;

use crate::{Content, Job};

/// Fills the buffers of one thread's writes.
#[derive(Debug, Clone)]
pub struct ContentMaker {
    content: Content,
    label: String,
    chance: Stream,
    seed: u64,
    /// The number of the last sector or write; its content depends on it. Threads count from numbers
    /// [`NUMBERS_OF_A_THREAD`] apart, so that no two of them use the same one.
    written: u64,
    /// Granularity of compression and repetition.
    unit: usize,
    /// Bytes that every write repeats instead of the content, or in what of it compresses away.
    fill: Option<Arc<[u8]>>,
    /// The buffer of which every write is a part; empty until the first one.
    window: Vec<u8>,
}

/// More writes than a thread can make.
const NUMBERS_OF_A_THREAD: u64 = 1 << 40;
/// Granularity in which devices compress and deduplicate.
const UNIT: usize = 4096;

impl ContentMaker {
    /// The content of thread `thread` of the named job.
    pub fn new(content: Content, seed: u64, job: &str, thread: u32) -> Self {
        let label = format!("{job}/content");
        let chance = Stream::new(seed, &label, u64::from(thread));
        Self {
            content,
            label,
            chance,
            seed,
            written: u64::from(thread) * NUMBERS_OF_A_THREAD,
            unit: UNIT,
            fill: None,
            window: Vec::new(),
        }
    }

    /// The content that a job requests.
    pub fn for_job(job: &Job, seed: u64, thread: u32) -> Self {
        Self {
            unit: job.content_unit.0 as usize,
            fill: job.fill.clone(),
            ..Self::new(job.content, seed, &job.name, thread)
        }
    }

    /// Fills a buffer before its first use.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        match self.content {
            Content::Window { size } => self.part(buffer, size.0),
            _ if self.fill.is_some() => self.fill_given(buffer),
            Content::Zero => buffer.fill(0),
            _ => self.chance.fill(buffer),
        }
    }

    /// Changes a prepared buffer for the next write.
    #[inline]
    pub fn refresh(&mut self, buffer: &mut [u8]) {
        match self.content {
            Content::Window { size } => self.part(buffer, size.0),
            Content::Shaped {
                compress_percent,
                dedupe_percent,
            } => {
                self.shape(buffer, compress_percent, dedupe_percent);
            }
            Content::Repeating {
                compress_percent,
                repeat_percent,
            } => {
                self.repeat_whole(buffer, compress_percent, repeat_percent);
            }
            _ if self.fill.is_some() => self.fill_given(buffer),
            Content::Zero | Content::Same => {}
            Content::Random => self.stamp(buffer),
            Content::Fresh => self.chance.fill(buffer),
        }
    }

    /// Fills the buffer with a part of the window that begins at a random multiple of 512 bytes, the
    /// smallest sector of devices.
    fn part(&mut self, buffer: &mut [u8], size: u64) {
        const ALIGN: u64 = 512;
        let beginnings = size.saturating_sub(buffer.len() as u64) / ALIGN + 1;
        let begin = (self.chance.below(beginnings) * ALIGN) as usize;
        if let Some(fill) = &self.fill {
            let mut at = begin % fill.len();
            let mut rest = buffer;
            while !rest.is_empty() {
                let (piece, later) = rest.split_at_mut(rest.len().min(fill.len() - at));
                piece.copy_from_slice(&fill[at..at + piece.len()]);
                (rest, at) = (later, 0);
            }
            return;
        }
        if self.window.is_empty() {
            // The same for all threads: a device that deduplicates does so across them.
            self.window = vec![0; size as usize];
            Stream::new(self.seed, "window", 0).fill(&mut self.window);
        }
        let len = buffer.len().min(self.window.len() - begin);
        buffer[..len].copy_from_slice(&self.window[begin..begin + len]);
    }

    /// Fills the buffer with `fill`, or with zeros if there is none.
    fn fill_given(&self, buffer: &mut [u8]) {
        let Some(fill) = &self.fill else {
            buffer.fill(0);
            return;
        };
        for piece in buffer.chunks_mut(fill.len()) {
            piece.copy_from_slice(&fill[..piece.len()]);
        }
    }

    /// Puts a counter into each sector, so that no two written sectors are equal, at the cost of one
    /// store.
    fn stamp(&mut self, buffer: &mut [u8]) {
        for sector in buffer.chunks_mut(UNIT) {
            self.written += 1;
            if let Some(head) = sector.first_chunk_mut::<8>() {
                *head = self.written.to_le_bytes();
            }
        }
    }

    /// Fills the buffer anew or with the same bytes as last time. The random numbers of a write depend
    /// on its number alone, so the last one can be made again.
    fn repeat_whole(&mut self, buffer: &mut [u8], compress_percent: u8, repeat_percent: u8) {
        if self.chance.below(100) >= u64::from(repeat_percent) {
            self.written += 1;
        }
        // The inverted number of the write is far from the numbers of threads, by which `chance` is
        // drawn under the same label: no write gets the random numbers of another thread's draws.
        let mut of_write = Stream::new(self.seed, &self.label, !self.written);
        for unit in buffer.chunks_mut(self.unit) {
            let entropy = unit.len() * usize::from(100 - compress_percent.min(100)) / 100;
            let (random, compressible) = unit.split_at_mut(entropy);
            of_write.fill(random);
            self.fill_given(compressible);
        }
    }

    /// Fills the buffer unit by unit. A repeated unit comes from a small set of seeds that all threads
    /// share; the compressible share of each unit is at its end.
    fn shape(&mut self, buffer: &mut [u8], compress_percent: u8, dedupe_percent: u8) {
        for sector in buffer.chunks_mut(self.unit) {
            let is_repeated = self.chance.below(100) < u64::from(dedupe_percent);
            let entropy = sector.len() * usize::from(100 - compress_percent.min(100)) / 100;
            let (random, compressible) = sector.split_at_mut(entropy);
            self.fill_given(compressible);
            if is_repeated {
                let which = self.chance.below(REPEATED);
                Stream::new(self.seed, "repeated", which).fill(random);
            } else {
                self.chance.fill(random);
            }
        }
    }
}

/// Number of different units from which the repeated ones are drawn.
const REPEATED: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_units::Bytes;
    use std::collections::HashSet;

    /// What the devices known to compress or deduplicate take as a unit.
    const BLOCK: usize = 4096;

    fn written(content: Content) -> Vec<u8> {
        let mut maker = ContentMaker::new(content, 1, "job", 0);
        let mut all = Vec::new();
        let mut buffer = vec![0; 8 * BLOCK];
        maker.prepare(&mut buffer);
        for _ in 0..64 {
            maker.refresh(&mut buffer);
            all.extend_from_slice(&buffer);
        }
        all
    }

    fn different_sectors(bytes: &[u8]) -> usize {
        bytes.chunks(BLOCK).collect::<HashSet<_>>().len()
    }

    #[test]
    fn zeros_are_zeros_and_random_sectors_all_differ() {
        assert!(written(Content::Zero).iter().all(|byte| *byte == 0));
        assert_eq!(different_sectors(&written(Content::Random)), 512);
        assert_eq!(different_sectors(&written(Content::Fresh)), 512);
    }

    /// A device that finds equal blocks finds none, and a write costs one store for each of them.
    #[test]
    fn a_random_write_changes_eight_bytes_of_each_block() {
        let mut maker = ContentMaker::new(Content::Random, 1, "job", 0);
        let mut before = vec![0; 8 * BLOCK];
        maker.prepare(&mut before);
        maker.refresh(&mut before);
        let mut after = before.clone();
        maker.refresh(&mut after);
        for (old, new) in before.chunks(BLOCK).zip(after.chunks(BLOCK)) {
            assert_ne!(old[..8], new[..8]);
            assert_eq!(old[8..], new[8..]);
        }
    }

    /// A device compresses each block by itself: half of each is zeros, and not the second half of a write.
    #[test]
    fn each_block_of_a_job_compresses_by_itself() {
        let mut job = Job::new("shaped");
        job.content = Content::Shaped {
            compress_percent: 50,
            dedupe_percent: 0,
        };
        let mut buffer = vec![0; 8 * BLOCK];
        ContentMaker::for_job(&job, 1, 0).refresh(&mut buffer);
        for block in buffer.chunks(BLOCK) {
            let (noise, zeros) = block.split_at(BLOCK / 2);
            assert!(zeros.iter().all(|byte| *byte == 0));
            assert!(
                noise
                    .chunks(64)
                    .all(|piece| piece.iter().any(|byte| *byte > 0))
            );
        }
    }

    /// Where all of it repeats, a device keeps 64 blocks, whichever threads wrote them and however much.
    #[test]
    fn all_that_repeats_are_sixty_four_blocks() {
        let shaped = Content::Shaped {
            compress_percent: 0,
            dedupe_percent: 100,
        };
        let mut all = Vec::new();
        for thread in 0..4 {
            let mut maker = ContentMaker::new(shaped, 1, "job", thread);
            let mut buffer = vec![0; 500 * BLOCK];
            maker.refresh(&mut buffer);
            all.extend(buffer);
        }
        assert_eq!(different_sectors(&all), 64);
    }

    #[test]
    fn given_bytes_are_repeated() {
        let mut job = Job::new("fill");
        job.fill = Some(Arc::from([1, 2, 3].as_slice()));
        let mut maker = ContentMaker::for_job(&job, 1, 0);
        let mut buffer = [0; 8];
        maker.refresh(&mut buffer);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1, 2]);
    }

    /// fio's `buffer_pattern` with `buffer_compress_percentage`: every write was the pattern alone, and
    /// compressed to nothing.
    #[test]
    fn given_bytes_are_what_compresses_away() {
        for content in [
            Content::Shaped {
                compress_percent: 75,
                dedupe_percent: 0,
            },
            Content::Repeating {
                compress_percent: 75,
                repeat_percent: 0,
            },
        ] {
            let mut job = Job::new("fill");
            job.content = content;
            job.fill = Some(Arc::from([7].as_slice()));
            let mut buffer = vec![0; 2 * BLOCK];
            ContentMaker::for_job(&job, 1, 0).refresh(&mut buffer);
            for block in buffer.chunks(BLOCK) {
                let (noise, given) = block.split_at(BLOCK / 4);
                assert!(given.iter().all(|byte| *byte == 7));
                assert!(noise.iter().any(|byte| *byte != 7));
            }
        }
    }

    #[test]
    fn parts_of_a_window_are_all_there_is() {
        let size = Bytes(3 * BLOCK as u64);
        let mut job = Job::new("window");
        job.content = Content::Window { size };
        let mut first = ContentMaker::for_job(&job, 1, 0);
        let mut second = ContentMaker::for_job(&job, 1, 1);
        let mut whole = vec![0; 3 * BLOCK];
        first.prepare(&mut whole);
        let mut beginnings = HashSet::new();
        let mut buffer = vec![0; BLOCK];
        for _ in 0..500 {
            second.refresh(&mut buffer);
            let begin = whole
                .windows(BLOCK)
                .step_by(512)
                .position(|known| known == buffer);
            beginnings.insert(begin.expect("a part of what the other thread writes from"));
        }
        assert_eq!(beginnings.len(), 2 * 8 + 1);

        job.fill = Some((0..=255).collect());
        let mut maker = ContentMaker::for_job(&job, 1, 0);
        maker.refresh(&mut buffer);
        assert!(
            buffer
                .iter()
                .enumerate()
                .all(|(at, byte)| *byte == at as u8)
        );
    }

    /// fio leaves one block where all writes repeat, and one where none is scrambled.
    #[test]
    fn writes_that_repeat_are_those_before_them() {
        assert_eq!(different_sectors(&written(Content::Same)), 8);
        let repeating = |repeat_percent| Content::Repeating {
            compress_percent: 0,
            repeat_percent,
        };
        assert_eq!(different_sectors(&written(repeating(100))), 8);
        assert_eq!(different_sectors(&written(repeating(0))), 512);
        let half = different_sectors(&written(repeating(50))) / 8;
        assert!((16..48).contains(&half), "{half} of 64 writes are new");
    }

    #[test]
    fn the_requested_share_compresses_and_repeats() {
        let shaped = Content::Shaped {
            compress_percent: 50,
            dedupe_percent: 40,
        };
        let bytes = written(shaped);
        let zeros = bytes.iter().filter(|byte| **byte == 0).count() as f64 / bytes.len() as f64;
        assert!((0.49..0.52).contains(&zeros), "{zeros}");
        let unique = different_sectors(&bytes);
        // 60 % of 512 are unique, and the 64 repeated ones are each there once.
        assert!((330..410).contains(&unique), "{unique}");
    }
}
