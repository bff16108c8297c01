//! In: values in nanoseconds. Out: their distribution in 64 buckets a power of two, and quantiles
//! with an error bound. This file alone knows where a bucket begins, and how the counts become
//! HdrHistogram's text and come back.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// A log-linear histogram of nanoseconds: 64 buckets for every power of two.
///
/// ```text
///  value    0 … 63 | 64 … 127 | 128 … 255 | 256 … 511 | … 2^40
///  width         1 |        1 |         2 |         4 | … 2^33
///  buckets      64 |       64 |        64 |        64 | …
/// ```
///
/// The layout is the one that fio prints in its `json+` output, so bins map one to one. A bucket
/// is at most 1/64 of its value wide and quantiles give its middle, so they are within
/// [`Histogram::ERROR_BOUND`] of the true value. Values of 2^40 ns (18 minutes) and more are
/// counted in the last bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

const SUB_BITS: u32 = 6;
const MAX_BITS: u32 = 40;
/// The largest count that HdrHistogram's text can hold.
const MOST_HDR_COUNT: u64 = i64::MAX as u64;
/// The most significant figures of a text that is read.
const MOST_HDR_FIGURES: u32 = 3;
/// All counts of so many figures take fewer bytes: 56,320 up to 2^63, of at most 9 bytes each.
const MOST_HDR_BYTES: u64 = 1 << 19;
/// The first bytes of a compressed text. The number of its bytes follows.
const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();

impl Histogram {
    /// Number of buckets.
    pub const BUCKETS: usize = ((MAX_BITS - SUB_BITS + 1) as usize) << SUB_BITS;
    /// Largest relative error of a quantile: half a bucket.
    pub const ERROR_BOUND: f64 = 1.0 / 128.0;

    /// No value yet.
    pub fn new() -> Self {
        Self {
            counts: vec![0; Self::BUCKETS],
        }
    }

    /// From the counts of all buckets; missing ones are zero.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Self {
        let mut histogram = Self::new();
        for (slot, count) in histogram.counts.iter_mut().zip(counts) {
            *slot = count;
        }
        histogram
    }

    /// The bucket of a value; always below [`Histogram::BUCKETS`].
    #[inline]
    pub const fn index(value: u64) -> usize {
        // Values below 128 are their own bucket; each further power of two shifts by one more.
        let shift = 57 - (value | 64).leading_zeros();
        let index = ((shift as usize) << SUB_BITS) + (value >> shift) as usize;
        if index < Self::BUCKETS {
            index
        } else {
            Self::BUCKETS - 1
        }
    }

    /// Smallest value of a bucket.
    pub const fn lowest(index: usize) -> u64 {
        let shift = (index >> SUB_BITS).saturating_sub(1);
        ((index - (shift << SUB_BITS)) as u64) << shift
    }

    /// Largest value of a bucket.
    pub const fn highest(index: usize) -> u64 {
        Self::lowest(index + 1) - 1
    }

    /// Middle of a bucket.
    pub const fn middle(index: usize) -> u64 {
        Self::lowest(index) + (Self::highest(index) - Self::lowest(index)) / 2
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        self.counts[Self::index(value)] += 1;
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// The values that came since `earlier`, an older state of the same histogram.
    pub fn since(&self, earlier: &Self) -> Self {
        let pairs = self.counts.iter().zip(&earlier.counts);
        Self {
            counts: pairs.map(|(now, then)| now.saturating_sub(*then)).collect(),
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        // A damaged text may hold counts whose sum overflows.
        self.counts
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The value below which the share `q` (0 to 1) of the values lies: the middle of the bucket
    /// that holds the value of rank ceil(q · count). 0 without values.
    pub fn quantile(&self, q: f64) -> u64 {
        self.quantiles(&[q])[0]
    }

    /// Several quantiles in one pass; `qs` must ascend.
    pub fn quantiles(&self, qs: &[f64]) -> Vec<u64> {
        let total = self.count();
        let mut answers = Vec::with_capacity(qs.len());
        let mut buckets = self.counts.iter().enumerate();
        let (mut seen, mut value) = (0u64, 0);
        for q in qs {
            let rank = ((q * total as f64).ceil() as u64).clamp(1.min(total), total);
            while seen < rank {
                let Some((index, count)) = buckets.next() else {
                    break;
                };
                seen = count.saturating_add(seen);
                value = Self::middle(index);
            }
            answers.push(value);
        }
        answers
    }

    /// The buckets that hold values: (middle in ns, count), ascending.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.hit()
            .map(|(index, count)| (Self::middle(index), count))
    }

    /// The buckets that hold values with their edges: (lowest ns, highest ns, count), ascending.
    pub fn edges(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.hit()
            .map(|(index, count)| (Self::lowest(index), Self::highest(index), count))
    }

    /// The buckets that hold values: (index, count), ascending.
    fn hit(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts = self.counts.iter().copied().enumerate();
        counts.filter(|(_, count)| *count > 0)
    }

    /// The lower edge of the lowest bucket that holds values, and the upper edge of the highest; 0
    /// without values.
    pub fn bounds(&self) -> (u64, u64) {
        let lowest = self.counts.iter().position(|count| *count > 0);
        let highest = self.counts.iter().rposition(|count| *count > 0);
        (
            lowest.map_or(0, Self::lowest),
            highest.map_or(0, Self::highest),
        )
    }

    /// The distribution as a curve: for each bucket that holds values, the share of all values
    /// that lie in it or below (above 0, the last one 1) and the bucket's middle in ns.
    pub fn curve(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let (total, mut seen) = (self.count(), 0u64);
        self.bins().map(move |(middle, count)| {
            seen = seen.saturating_add(count);
            (seen as f64 / total as f64, middle)
        })
    }

    /// Counts of all buckets.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// HdrHistogram V2, compressed, in base64: one line of a `.hlog`, as HdrHistogram's log readers
    /// expect it.
    ///
    /// With two significant figures it has 128 buckets a power of two, which nest in our 64, so
    /// reading it back loses nothing. Values below 64 ns keep their exact bucket. The format has signed
    /// counts: a larger one, as a damaged text may give, becomes the largest that it has.
    ///
    /// # Panics
    /// Never: the bounds hold every bucket, and no count is too large.
    pub fn to_hdr_base64(&self) -> String {
        let mut hdr = empty_hdr();
        for (middle, count) in self.bins() {
            hdr.record_n(middle, count.min(MOST_HDR_COUNT))
                .expect("buckets end at the bound");
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("memory takes every byte, and the format every such count");
        BASE64.encode(&bytes)
    }

    /// Reads what [`Histogram::to_hdr_base64`] or another HdrHistogram wrote.
    ///
    /// # Errors
    /// [`BadEncoding`] when the text is not such a histogram.
    pub fn from_hdr_base64(text: &str) -> Result<Self, BadEncoding> {
        let bytes = BASE64
            .decode(text)
            .map_err(|error| BadEncoding(error.to_string()))?;
        let bytes = checked(bytes)?;
        let hdr: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| BadEncoding(format!("{error:?}")))?;
        let mut histogram = Self::new();
        for bucket in hdr.iter_recorded() {
            let value = hdr.lowest_equivalent(bucket.value_iterated_to());
            let count = &mut histogram.counts[Self::index(value)];
            *count = count.saturating_add(bucket.count_at_value());
        }
        Ok(histogram)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// A text that is not an encoded histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an HdrHistogram V2 text: {0}")]
pub struct BadEncoding(String);

/// The bytes of a text, inflated. The decoder makes room for all that they claim before it reads on, so a
/// claim that they cannot bear out is refused.
///
/// ```text
///  cookie 4 │ bytes of the counts 4 │ offset 4 │ significant figures 4 │ bounds 16 │ ratio 8 │ counts …
/// ```
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, BadEncoding> {
    let mut inflated = Vec::new();
    let bytes = match bytes.strip_prefix(&COMPRESSED) {
        Some(stored) => {
            ZlibDecoder::new(stored.get(4..).unwrap_or_default())
                .take(MOST_HDR_BYTES)
                .read_to_end(&mut inflated)
                .map_err(|error| BadEncoding(error.to_string()))?;
            inflated
        }
        None => bytes,
    };
    let field = |at: usize| {
        let field = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(field))
    };
    // The decoder would inflate it once more, and the fields would be others.
    if bytes.starts_with(&COMPRESSED) {
        return Err(BadEncoding("it is compressed twice".to_owned()));
    }
    let (counts, figures) = field(4).zip(field(12)).unwrap_or_default();
    if counts as usize > bytes.len() || figures > MOST_HDR_FIGURES {
        let why = format!("{counts} bytes of counts with {figures} significant figures");
        return Err(BadEncoding(why));
    }
    Ok(bytes)
}

fn empty_hdr() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(1, 1 << MAX_BITS, 2).expect("the bounds are sound")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::ZlibEncoder;

    #[test]
    fn buckets_follow_the_drawing() {
        for (value, index) in [
            (0, 0),
            (63, 63),
            (64, 64),
            (127, 127),
            (128, 128),
            (129, 128),
            (255, 191),
            (256, 192),
        ] {
            assert_eq!(Histogram::index(value), index, "{value}");
        }
        assert_eq!(Histogram::index(u64::MAX), Histogram::BUCKETS - 1);
        assert_eq!(Histogram::index((1 << 40) - 1), Histogram::BUCKETS - 1);
    }

    /// An operation that takes a quarter of an hour is distinguished from one that takes ten minutes; one
    /// of more than 18 minutes hangs.
    #[test]
    fn eighteen_minutes_are_the_longest_that_are_distinguished() {
        let minutes = |minutes: u64| Histogram::index(minutes * 60_000_000_000);
        assert!(minutes(10) < minutes(15) && minutes(15) < minutes(18));
        assert_eq!(Histogram::index(1 << 40), minutes(20));
        assert_eq!(minutes(20), minutes(60));
    }

    /// A bound that no quantile comes near would make every comparison of percentiles too careful.
    #[test]
    fn the_first_value_of_an_octave_is_off_by_the_error_bound() {
        let mut histogram = Histogram::new();
        histogram.record(1 << 30);
        let error = histogram.quantile(0.5) as f64 / f64::from(1 << 30) - 1.0;
        assert!(error <= Histogram::ERROR_BOUND && error > Histogram::ERROR_BOUND * 0.99);
    }

    #[test]
    fn edges_and_index_agree_everywhere() {
        for index in 0..Histogram::BUCKETS {
            assert_eq!(Histogram::index(Histogram::lowest(index)), index);
            assert_eq!(Histogram::index(Histogram::highest(index)), index);
        }
    }

    #[test]
    fn quantiles_are_by_rank() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|value| histogram.record(value));
        assert_eq!(
            histogram.quantiles(&[0.0, 0.01, 0.5, 0.99, 1.0]),
            [1, 1, 50, 99, 100]
        );
        assert_eq!(Histogram::new().quantile(0.5), 0);
    }

    #[test]
    fn the_curve_ends_at_one_and_shares_add_up() {
        let mut histogram = Histogram::new();
        for value in [10, 10, 20, 1000] {
            histogram.record(value);
        }
        let curve: Vec<_> = histogram.curve().collect();
        assert_eq!(curve, [(0.5, 10), (0.75, 20), (1.0, 1003)]);
        let edges: Vec<_> = histogram.edges().collect();
        assert_eq!(edges, [(10, 10, 2), (20, 20, 1), (1000, 1007, 1)]);
    }

    #[test]
    fn the_hdr_text_comes_back_the_same() {
        let mut histogram = Histogram::new();
        for value in [0, 1, 77, 12_345, 999_999_999, (1 << 39) + 12_345] {
            histogram.record(value);
        }
        let text = histogram.to_hdr_base64();
        assert!(
            text.starts_with("HISTFAAA"),
            "the V2 cookie in base64: {text}"
        );
        assert_eq!(Histogram::from_hdr_base64(&text), Ok(histogram));
        assert!(Histogram::from_hdr_base64("HISTFAAA!").is_err());
    }

    /// The story: a text of 56 letters that claimed to hold 4 GiB of counts took as much memory, and one
    /// that claimed five significant figures 140 ms, in each list of the runs.
    #[test]
    fn a_claim_that_is_too_large_is_refused() {
        for (counts, figures, is_read) in [(0, 3, true), (u32::MAX, 2, false), (0, 5, false)] {
            let fields = [0x1c84_9313, counts, 0, figures];
            let bounds = [1, 1 << 40, 1.0_f64.to_bits()].map(u64::to_be_bytes);
            let bytes = [fields.map(u32::to_be_bytes).concat(), bounds.concat()].concat();
            let read = Histogram::from_hdr_base64(&BASE64.encode(bytes));
            let claim = format!("{counts} bytes of counts with {figures} significant figures");
            assert_eq!(read, is_read.then(Histogram::new).ok_or(BadEncoding(claim)));
        }
    }

    /// The story: the claims of a text that is compressed twice were read in its compressed bytes, which
    /// can be made to hold small ones.
    #[test]
    fn a_text_that_is_compressed_twice_is_refused() {
        let once = BASE64
            .decode(Histogram::new().to_hdr_base64())
            .expect("base64");
        let mut stored = Vec::new();
        ZlibEncoder::new(&once[..], Compression::default())
            .read_to_end(&mut stored)
            .expect("in memory");
        let length = (stored.len() as u32).to_be_bytes();
        let twice = [&COMPRESSED[..], &length, &stored].concat();
        let read = Histogram::from_hdr_base64(&BASE64.encode(twice));
        assert_eq!(read, Err(BadEncoding("it is compressed twice".to_owned())));
    }

    /// The story: counts of a damaged text are added up to more than the format can hold, and
    /// writing them again panicked.
    #[test]
    fn a_count_beyond_the_format_is_written_as_the_largest() {
        let text = Histogram::from_counts([3, u64::MAX]).to_hdr_base64();
        let expected = Histogram::from_counts([3, i64::MAX as u64]);
        assert_eq!(Histogram::from_hdr_base64(&text), Ok(expected));
    }
}
