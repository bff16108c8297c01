use std::sync::Arc;

use blocklab_random::Stream;

use crate::{Content, Job};

/// Makes what is written, reproducibly.
#[derive(Debug, Clone)]
pub struct ContentMaker {
    content: Content,
    chance: Stream,
    seed: u64,
    written: u64,
    /// Granularity of compression and repetition.
    unit: usize,
    /// Bytes that every write repeats, in place of the content.
    fill: Option<Arc<[u8]>>,
}

/// Granularity in which devices compress and deduplicate.
const SECTOR: usize = 4096;

impl ContentMaker {
    /// For thread `thread` of the named job.
    #[must_use]
    pub fn new(content: Content, seed: u64, job: &str, thread: u32) -> Self {
        let chance = Stream::new(seed, &format!("{job}/content"), u64::from(thread));
        Self {
            content,
            chance,
            seed,
            written: u64::from(thread) << 40,
            unit: SECTOR,
            fill: None,
        }
    }

    /// As a job asks for it.
    #[must_use]
    pub fn of(job: &Job, seed: u64, thread: u32) -> Self {
        Self {
            unit: job.content_unit.0 as usize,
            fill: job.fill.clone(),
            ..Self::new(job.content, seed, &job.name, thread)
        }
    }

    /// Fills a buffer before its first use.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        match self.content {
            _ if self.fill.is_some() => self.repeat(buffer),
            Content::Zero => buffer.fill(0),
            _ => self.chance.fill(buffer),
        }
    }

    /// Makes a prepared buffer fit for the next write.
    #[inline]
    pub fn refresh(&mut self, buffer: &mut [u8]) {
        match self.content {
            _ if self.fill.is_some() => self.repeat(buffer),
            Content::Zero => {}
            Content::Random => self.stamp(buffer),
            Content::Fresh => self.chance.fill(buffer),
            Content::Shaped {
                compress_percent,
                dedupe_percent,
            } => {
                self.shape(buffer, compress_percent, dedupe_percent);
            }
        }
    }

    fn repeat(&self, buffer: &mut [u8]) {
        let Some(fill) = &self.fill else { return };
        for piece in buffer.chunks_mut(fill.len()) {
            piece.copy_from_slice(&fill[..piece.len()]);
        }
    }

    /// A counter in each sector: no two written sectors are equal, at the cost of one store.
    fn stamp(&mut self, buffer: &mut [u8]) {
        for sector in buffer.chunks_mut(SECTOR) {
            self.written += 1;
            if let Some(head) = sector.first_chunk_mut::<8>() {
                *head = self.written.to_le_bytes();
            }
        }
    }

    /// Unit by unit: a repeated one comes from a small set of seeds that all threads share;
    /// the compressible share of each is zeros at its end.
    fn shape(&mut self, buffer: &mut [u8], compress_percent: u8, dedupe_percent: u8) {
        for sector in buffer.chunks_mut(self.unit) {
            let repeat = self.chance.below(100) < u64::from(dedupe_percent);
            let entropy = sector.len() * usize::from(100 - compress_percent.min(100)) / 100;
            let (noise, zeros) = sector.split_at_mut(entropy);
            zeros.fill(0);
            if repeat {
                let which = self.chance.below(REPEATED);
                Stream::new(self.seed, "repeated", which).fill(noise);
            } else {
                self.chance.fill(noise);
            }
        }
    }
}

/// How many different sectors the repeated ones are drawn from.
const REPEATED: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn written(content: Content) -> Vec<u8> {
        let mut maker = ContentMaker::new(content, 1, "job", 0);
        let mut all = Vec::new();
        let mut buffer = vec![0; 8 * SECTOR];
        maker.prepare(&mut buffer);
        for _ in 0..64 {
            maker.refresh(&mut buffer);
            all.extend_from_slice(&buffer);
        }
        all
    }

    fn different_sectors(bytes: &[u8]) -> usize {
        bytes.chunks(SECTOR).collect::<HashSet<_>>().len()
    }

    #[test]
    fn zeros_are_zeros_and_random_sectors_all_differ() {
        assert!(written(Content::Zero).iter().all(|byte| *byte == 0));
        assert_eq!(different_sectors(&written(Content::Random)), 512);
        assert_eq!(different_sectors(&written(Content::Fresh)), 512);
    }

    #[test]
    fn given_bytes_are_repeated() {
        let mut job = Job::new("fill");
        job.fill = Some(Arc::from([1, 2, 3].as_slice()));
        let mut maker = ContentMaker::of(&job, 1, 0);
        let mut buffer = [0; 8];
        maker.refresh(&mut buffer);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1, 2]);
    }

    #[test]
    fn the_asked_for_share_compresses_and_repeats() {
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
