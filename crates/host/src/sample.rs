//! Samples of what is on a device or in a file: what is looked at where no mark is known, and
//! what shows the next run whether anybody has written since.
//!
//! ```text
//!   |1 MiB| strip 1 | strip 2 |  …  | strip 254 |1 MiB|
//!   whole   4 KiB     4 KiB            4 KiB     whole
//! ```
//!
//! Within its strip a place is drawn from the seed, so that data at even distances is not missed
//! time and again, and the same device is always sampled at the same places. What lies between
//! the places is not seen.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{Advice, fadvise};
use sha2::{Digest, Sha256};

/// What is read whole at the beginning and at the end: where nearly everything that has a
/// structure begins, and where copies of it lie.
const EDGE: u64 = 1 << 20;
/// Places between the edges.
const STRIPS: u64 = 254;
/// Bytes of a place: the unit in which file systems and databases write.
const PLACE: u64 = 4096;

/// What the samples of a device showed: whether anything is written there, and their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Samples {
    /// Where the first byte is that is not zero.
    pub(crate) first_data: Option<u64>,
    /// SHA-256 of the places and of what is there.
    pub(crate) digest: String,
}

/// Reads the samples of a device or file of `size` bytes: 3 MiB at most. The kernel gets all
/// places first, so that a disk may take them in the order that suits it, and drops them from its
/// cache afterwards.
///
/// # Errors
/// The first one of reading.
pub(crate) fn sample(file: &File, size: u64, seed: u64) -> io::Result<Samples> {
    let places = places(size, seed);
    // What another descriptor of the same disk wrote may be on it and not in the cache.
    advise(file, &places, Advice::DontNeed);
    // What is read whole from its beginning has no order to choose.
    if places.len() as u64 > STRIPS {
        advise(file, &places, Advice::WillNeed);
    }
    let samples = read(file, size, &places);
    advise(file, &places, Advice::DontNeed);
    samples
}

fn advise(file: &File, places: &[(u64, u64)], advice: Advice) {
    for (offset, len) in places {
        // Where the advice is not taken, only time is lost.
        let _ = fadvise(file, *offset, NonZeroU64::new(*len), advice);
    }
}

/// Reads all places, each an offset and a length.
fn read(file: &File, size: u64, places: &[(u64, u64)]) -> io::Result<Samples> {
    let mut hash = Sha256::new();
    hash.update(size.to_le_bytes());
    let mut first_data = None;
    let mut buffer = Vec::new();
    for (offset, len) in places {
        buffer.resize(*len as usize, 0);
        file.read_exact_at(&mut buffer, *offset)?;
        hash.update(offset.to_le_bytes());
        hash.update(&buffer);
        if first_data.is_none() {
            let index = buffer.iter().position(|byte| *byte != 0);
            first_data = index.map(|index| offset + index as u64);
        }
    }
    Ok(Samples {
        first_data,
        digest: hex(&hash.finalize()),
    })
}

/// Offsets and lengths of all places, in order; none overlaps another.
fn places(size: u64, seed: u64) -> Vec<(u64, u64)> {
    let strip = size.saturating_sub(2 * EDGE) / STRIPS;
    if strip < PLACE {
        let whole = (0..size).step_by(EDGE as usize);
        return whole
            .map(|offset| (offset, EDGE.min(size - offset)))
            .collect();
    }
    let between = (0..STRIPS).map(|number| {
        let room = strip - PLACE + 1;
        let offset = EDGE + number * strip + mixed(seed, number) % room;
        // Whole sectors, of any size. The place before ends where this one may begin at
        // the earliest: it was rounded down as well.
        (offset / PLACE * PLACE, PLACE)
    });
    let edges = [(0, EDGE), (size - EDGE, EDGE)];
    let mut places: Vec<(u64, u64)> = edges.into_iter().chain(between).collect();
    places.sort_unstable();
    places
}

/// SplitMix64's finalizer: neighbouring numbers give unlike values.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut value = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// SHA-256 of a text, in hexadecimal digits.
pub(crate) fn digest_of(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The samples of a file that is marked as ours.
pub fn sample_file(file: &File) -> io::Result<Samples> {
    let metadata = file.metadata()?;
    sample(file, metadata.len(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        file
    }

    #[test]
    fn zeros_of_any_size_show_nothing() {
        for size in [0, 1, 511, 4096, (2 << 20) - 1, (3 << 20) + 512, 1 << 40] {
            let samples = sample(&file(size), size, 7).unwrap();
            assert_eq!(samples.first_data, None, "{size}");
        }
    }

    #[test]
    fn places_are_in_order_and_do_not_overlap() {
        for (size, seed) in [(4 << 20, 1), ((1 << 30) + 12_345, 2), (1 << 44, 3)] {
            let places = places(size, seed);
            assert_eq!(places.len(), 256);
            let whole = |pair: &[(u64, u64)]| pair[0].0 + pair[0].1 <= pair[1].0;
            assert!(places.windows(2).all(whole), "{size}");
            assert_eq!((places[0], places[255]), ((0, EDGE), (size - EDGE, EDGE)));
            let strip = (size - 2 * EDGE) / STRIPS;
            for (number, (offset, len)) in places[1..255].iter().enumerate() {
                assert_eq!((offset % PLACE, *len), (0, PLACE));
                let meant = EDGE + number as u64 * strip;
                assert!(offset.abs_diff(meant) < strip + PLACE, "{size}: {number}");
            }
        }
        assert_ne!(places(1 << 30, 1), places(1 << 30, 2));
        assert_eq!(places(1 << 30, 1), places(1 << 30, 1));
    }

    /// Below 3 MiB and a bit everything is read, so nothing can be missed.
    #[test]
    fn small_ones_are_read_whole() {
        for size in [1, 4096, 1 << 20, (1 << 20) + 1, 3_000_000] {
            let places = places(size, 9);
            assert_eq!(places.iter().map(|(_, len)| len).sum::<u64>(), size);
            let file = file(size);
            file.write_all_at(&[1], size - 1).unwrap();
            let samples = sample(&file, size, 9).unwrap();
            assert_eq!(samples.first_data, Some(size - 1));
        }
    }

    #[test]
    fn one_byte_in_a_place_is_found_and_changes_the_digest() {
        let size = 1 << 30;
        let file = file(size);
        let blank = sample(&file, size, 5).unwrap();
        for (offset, len) in [places(size, 5)[100], (0, EDGE), (size - EDGE, EDGE)] {
            let at = offset + len - 1;
            file.write_all_at(&[1], at).unwrap();
            let samples = sample(&file, size, 5).unwrap();
            assert_eq!(samples.first_data, Some(at));
            assert_ne!(samples.digest, blank.digest);
            file.write_all_at(&[0], at).unwrap();
            assert_eq!(sample(&file, size, 5).unwrap(), blank);
        }
    }

    #[test]
    fn an_end_that_is_not_there_is_an_error() {
        assert!(sample(&file(4096), 8192, 0).is_err());
    }
}
