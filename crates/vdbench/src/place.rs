//! Where the operations of a workload go on a storage definition, and how large they are.

use blocklab_units::{Bytes, SECTOR};
use blocklab_workload::{BlockSizes, Hits, Pattern, Region, Runs, SizeMix, Spread, Zone};

use super::defs::{Range, Sd, Seek, Wd, Xfersize};
use super::error::{Mistake, Subject};
use super::run::Use;

/// Where the operations of a workload go on a storage definition.
pub(super) struct Placement {
    /// One region, or one for each stream; each with the suffix of its job's name, empty without streams.
    pub(super) regions: Vec<(String, Region)>,
    pub(super) pattern: Pattern,
    pub(super) runs: Option<Runs>,
    pub(super) hits: Option<Hits>,
}

/// Keywords that work otherwise than in the original, each with the difference.
pub(super) type Notes = Vec<(&'static str, &'static str)>;

/// Places a workload on storage of `size` bytes.
pub(super) fn place(
    one: &Use,
    sd: &Sd,
    size: u64,
    threads: u32,
    notes: &mut Notes,
) -> Result<Placement, Mistake> {
    let wd = &one.wd;
    let block = wd.xfersize.largest();
    let (mut begin, end) = bounds(one, sd, size, block, notes)?;
    // The hit area is at the front; misses must not touch it, so they begin after it.
    let mut hits = None;
    let has_hits = wd.rhpct > 0.0 || wd.whpct > 0.0;
    if has_hits && wd.streams > 0 {
        notes.push(("streams", "rhpct= and whpct= have no effect on them"));
    } else if has_hits {
        let area = wd.hitarea.unwrap_or(sd.hitarea).next_multiple_of(block);
        sd.check(
            area > 0,
            "a hit area of 0 bytes holds no block; a larger hitarea= would",
        )?;
        let message = format_args!(
            "a hit area of {area} bytes leaves no room for misses; a smaller hitarea= would"
        );
        sd.check(begin + area + block <= end, message)?;
        hits = Some(Hits {
            read_percent: wd.rhpct,
            write_percent: wd.whpct,
            offset: begin,
            len: area,
        });
        begin += area;
    }
    let streams = u64::from(wd.streams.max(1));
    if !u64::from(threads).is_multiple_of(streams) {
        notes.push((
            "streams",
            "the threads are raised to a multiple of them, so that all have as many",
        ));
    }
    // Streams read sequentially, each in a region of its own of whole blocks.
    let each = (end - begin) / streams / block * block;
    if each == 0 {
        return Err(too_small(sd, size, block));
    }
    let region = |stream: u64| Region {
        offset: Bytes(begin + each * stream),
        size: Some(Bytes(each)),
        spread: Spread::Same,
    };
    let regions = match wd.streams {
        0 => vec![(String::new(), region(0))],
        _ => (0..streams)
            .map(|number| (format!("#{}", number + 1), region(number)))
            .collect(),
    };
    let skips = wd.stride.and_then(|ends| strided(wd, ends, notes));
    let (pattern, runs) = skips.unwrap_or_else(|| (pattern(wd, each, notes), None));
    Ok(Placement {
        regions,
        pattern,
        runs,
        hits,
    })
}

/// The pattern of `stride=` with these ends, in bytes: a seek skips as many behind the operation before
/// it. `None`: without seeks, nothing is skipped.
fn strided(wd: &Wd, (min, max): (u64, u64), notes: &mut Notes) -> Option<(Pattern, Option<Runs>)> {
    let percent = match wd.seek {
        Seek::Percent(percent) if percent > 0.0 => percent.round().clamp(1.0, 100.0),
        Seek::Poisson(_) => 100.0,
        _ => {
            notes.push((
                "stride",
                "nothing is skipped, as nothing seeks; with seekpct=100, each operation would",
            ));
            return None;
        }
    };
    let sizes = sizes(&wd.xfersize, &mut Notes::new()).read;
    let unit = sizes.smallest().0.max(SECTOR);
    let block = (mean(&sizes) as u64).next_multiple_of(unit);
    // In Vdbench, a seek skips the shortest stride and a random number of blocks, this one at most.
    let blocks = ((max - min) / block).saturating_sub(1);
    let between_seeks = ((block as f64 * 100.0 / percent) as u64).next_multiple_of(unit);
    // In whole sectors, as O_DIRECT needs them.
    let stride = (between_seeks + min + blocks / 2 * block).next_multiple_of(SECTOR);
    let runs = (percent < 100.0).then(|| Runs {
        follow_percent: 100 - percent as u8,
        ..Runs::default()
    });
    if blocks > 0 || runs.is_some() || sizes.0.len() > 1 {
        notes.push((
            "stride",
            "of strides, block sizes and blocks between two seeks that differ, the mean is used",
        ));
    }
    let pattern = Pattern::Strided {
        stride: Bytes(stride),
    };
    Some((pattern, runs))
}

/// Begin and end of the bytes that may be used: never block 0.
fn bounds(
    one: &Use,
    sd: &Sd,
    size: u64,
    block: u64,
    notes: &mut Notes,
) -> Result<(u64, u64), Mistake> {
    let (low, high) = match one.wd.range.or(sd.range) {
        None => (0, size),
        Some(range) => ends(range, size, notes),
    };
    let shift = sd.offset;
    let begin = (low.next_multiple_of(block)).max(block) + shift;
    let end = high.min(size);
    if begin.saturating_add(block) > end {
        return Err(too_small(sd, size, block));
    }
    Ok((begin, end))
}

/// The ends of a range in bytes. As written, they are per cent up to 200, and bytes above that: in the
/// original, a range beyond 100 per cent goes on at the beginning.
fn ends(range: Range, size: u64, notes: &mut Notes) -> (u64, u64) {
    if range.high > 200.0 {
        return (range.low as u64, range.high as u64);
    }
    if range.high > 100.0 {
        notes.push((
            "range",
            "what lies beyond the end does not go on at the beginning",
        ));
    }
    let [low, high] =
        [range.low, range.high].map(|percent| (size as f64 * percent.min(100.0) / 100.0) as u64);
    (low, high)
}

fn too_small(sd: &Sd, size: u64, block: u64) -> Mistake {
    sd.error(format_args!(
        "its {size} bytes, or the range of them, hold no block of {block} except block 0, which \
         is never touched"
    ))
}

/// What a share in per cent that has decimals comes to: the mixes of a job are whole per cent.
pub(super) const ROUNDED: &str = "a share is rounded to a whole per cent";

/// The order of the operations of a workload in a region of `len` bytes. Where it differs from
/// Vdbench's, a note says so.
fn pattern(wd: &Wd, len: u64, notes: &mut Notes) -> Pattern {
    if wd.hotband {
        notes.push((
            "hotband",
            "Vdbench's curve by zones that double from 16 KiB on, and writes begin where reads do",
        ));
        return Pattern::Zones(hot_band(len));
    }
    match wd.seek {
        Seek::Percent(percent) if percent <= 0.0 => Pattern::Sequential,
        Seek::Percent(percent) if percent >= 100.0 => Pattern::RANDOM,
        Seek::Percent(percent) => {
            if percent.fract() != 0.0 {
                notes.push(("seekpct", ROUNDED));
            }
            Pattern::PercentRandom(percent.round() as u8)
        }
        Seek::Eof => Pattern::Sequential,
        Seek::SequentialAnywhere => {
            notes.push(("seekpct=seqnz", "it begins at the start of the range"));
            Pattern::Sequential
        }
        Seek::Poisson(midpoint) => {
            notes.push((
                "seekpct=poisson",
                "the range is cut into parts, four times as many as the midpoint, hit by Poisson's law",
            ));
            Pattern::Zones(poisson(midpoint))
        }
    }
}

/// The zones of a hot band of `len` bytes, the hottest first.
fn hot_band(len: u64) -> Vec<Zone> {
    // In Vdbench, the operations that the curve puts beyond the band wrap around to its beginning, as
    // often as it takes: they are spread over the whole band evenly.
    let beyond = 1.0 - share_of_first(len);
    let mut zones = Vec::new();
    let mut begin = 0;
    while begin < len {
        let end = (begin * 2).max(HOTTEST).min(len);
        let space = (end - begin) as f64 / len as f64;
        let access = share_of_first(end) - share_of_first(begin) + beyond * space;
        zones.push(Zone {
            access_percent: access * 100.0,
            space_percent: space * 100.0,
        });
        begin = end;
    }
    zones
}

/// Bytes of the hottest zone of a hot band.
const HOTTEST: u64 = 16 << 10;

/// The share of the operations of a hot band that goes to this many bytes at its front: Vdbench's curve,
/// which is the same for bands of any size, within four hundredths.
fn share_of_first(bytes: u64) -> f64 {
    let times = bytes as f64 / HOTTEST as f64;
    let doublings = times.log2();
    if doublings < 0.0 {
        0.09 * times
    } else if doublings < 8.0 {
        0.09 + 0.037 * doublings
    } else {
        // Each further doubling leaves 93 % of what was left.
        1.0 - 0.614 * 0.93_f64.powf(doublings - 8.0)
    }
}

/// Zones of a law at most: smaller ones would get few operations of a run.
const MOST_ZONES: usize = 64;

/// Four times as many parts of equal size as the midpoint, hit by Poisson's law with the midpoint as
/// its mean. Neighbours share a zone where there are more parts than zones.
fn poisson(midpoint: f64) -> Vec<Zone> {
    let parts = ((midpoint * 4.0).ceil() as usize).max(2);
    // The law by its recursion, p(k) = p(k - 1) · mean / k. The common factor e^-mean is left out: the
    // division by the sum makes up for it. It begins so low that the largest one, e^1000 times as
    // much for the largest midpoint, is not beyond a float.
    let mut masses = vec![2_f64.powi(-600)];
    for k in 1..parts {
        masses.push(masses[k - 1] * midpoint / k as f64);
    }
    let all: f64 = masses.iter().sum();
    masses
        .chunks(parts.div_ceil(MOST_ZONES))
        .map(|zone| Zone {
            access_percent: zone.iter().sum::<f64>() / all * 100.0,
            space_percent: zone.len() as f64 * 100.0 / parts as f64,
        })
        .collect()
}

/// Most sizes of a range that are listed; of more, every n-th is.
const MOST_SIZES: u64 = 1024;

/// The sizes of `xfersize=`; a range is a list of its multiples of `align`.
pub(super) fn sizes(requested: &Xfersize, notes: &mut Notes) -> BlockSizes {
    match requested {
        Xfersize::Fixed(size) => BlockSizes::fixed(Bytes(*size)),
        Xfersize::Mix(mix) => {
            // Shares are decimals, weights are integers: to a thousandth of a per cent.
            let listed = mix
                .iter()
                .map(|(size, share)| (Bytes(*size), (share * 1000.0).round() as u32))
                .filter(|(_, weight)| *weight > 0);
            BlockSizes::same(SizeMix(listed.collect()))
        }
        Xfersize::Between { min, max, align } => {
            let first = min.next_multiple_of(*align);
            // Where no multiple lies between the two, the largest size is left.
            if first > *max {
                return BlockSizes::fixed(Bytes(*max));
            }
            let count = (max - first) / align + 1;
            if count > MOST_SIZES {
                notes.push(("xfersize", "of that many sizes, every n-th is used"));
            }
            let step = align * count.div_ceil(MOST_SIZES);
            // All sizes have the same weight.
            let listed = (first..=*max)
                .step_by(step as usize)
                .map(|size| (Bytes(size), 1));
            BlockSizes::same(SizeMix(listed.collect()))
        }
    }
}

/// The mean size of an operation in bytes.
pub(super) fn mean(sizes: &SizeMix) -> f64 {
    let weights: f64 = sizes.0.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let weighted = sizes
        .0
        .iter()
        .map(|(size, weight)| size.0 as f64 * f64::from(*weight));
    weighted.sum::<f64>() / weights.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stride was the distance between two beginnings, so stride=(64k,64k) of blocks of 64 KiB read
    /// one after the other; and it held for every operation, also where few or none of them seek.
    #[test]
    fn a_seek_skips_a_stride_behind_the_operation_before_it() {
        let found = |xfersize, seek, ends| {
            let wd = Wd {
                xfersize,
                seek,
                ..Wd::default()
            };
            let mut notes = Notes::new();
            let found = strided(&wd, ends, &mut notes);
            let kib = found.map(|(pattern, runs)| match pattern {
                Pattern::Strided { stride } => {
                    (stride.0 >> 10, runs.map_or(0, |runs| runs.follow_percent))
                }
                _ => panic!("{pattern:?}"),
            });
            (kib, notes.len())
        };
        let fixed = |kib: u64| Xfersize::Fixed(kib << 10);
        let kib = |min: u64, max: u64| (min << 10, max << 10);
        let always = Seek::Percent(100.0);
        assert_eq!(found(fixed(64), always, kib(64, 64)), (Some((128, 0)), 0));
        assert_eq!(found(fixed(4), always, kib(64, 64)), (Some((68, 0)), 0));
        // A stride from 64 KiB to 124 KiB, in blocks of 4 KiB: 7 or 8 of them in the mean.
        assert_eq!(found(fixed(4), always, kib(64, 128)), (Some((96, 0)), 1));
        // Five blocks, then a skip of a megabyte.
        let some = Seek::Percent(20.0);
        assert_eq!(
            found(fixed(8), some, kib(1024, 1024)),
            (Some((1064, 80)), 1)
        );
        let mix = Xfersize::Mix(vec![(4 << 10, 50.0), (12 << 10, 50.0)]);
        assert_eq!(found(mix, always, kib(64, 64)), (Some((72, 0)), 1));
        for never in [Seek::Percent(0.0), Seek::Eof, Seek::SequentialAnywhere] {
            assert_eq!(found(fixed(4), never, kib(64, 64)), (None, 1));
        }
    }

    /// Where the operations are on average, in per cent of the range.
    fn mean_place(zones: &[Zone]) -> f64 {
        let mut begin = 0.0;
        let mut sum = 0.0;
        for zone in zones {
            sum += zone.access_percent / 100.0 * (begin + zone.space_percent / 2.0);
            begin += zone.space_percent;
        }
        sum
    }

    /// One block of a hot band had a third of its operations, or an eighth of those of a large band: the
    /// law was that of a fifth of the blocks with four fifths of the operations. In Vdbench, a block of
    /// 4 KiB has a fiftieth at most.
    #[test]
    fn no_block_of_a_hot_band_is_much_hotter_than_its_neighbours() {
        for len in [4 << 10, 1 << 20, 20_000_000, 8 << 30, 1_u64 << 40] {
            let zones = hot_band(len);
            let sums = zones.iter().fold((0.0, 0.0), |(access, space), zone| {
                (access + zone.access_percent, space + zone.space_percent)
            });
            assert!((sums.0 - 100.0_f64).abs() < 1e-6, "{len}: {sums:?}");
            assert!((sums.1 - 100.0_f64).abs() < 1e-6, "{len}: {sums:?}");
            let heat = |zone: &Zone| zone.access_percent / zone.space_percent;
            assert!(
                zones.windows(2).all(|pair| heat(&pair[0]) > heat(&pair[1])),
                "{len}: {zones:?}"
            );
        }
        // Of 8 GiB, the first 16 KiB have 9 % of the operations, and the first eighth has 69 %: 66 % by
        // the curve, and an eighth of the 28 % that the curve puts beyond the band.
        let zones = hot_band(8 << 30);
        assert!((zones[0].access_percent - 9.0).abs() < 0.01, "{zones:?}");
        let eighth: f64 = zones
            .iter()
            .rev()
            .skip(3)
            .map(|zone| zone.access_percent)
            .sum();
        assert!((eighth - 69.0).abs() < 0.5, "{eighth}");
    }

    /// The story: of a midpoint above 16 there were 64 parts, and not four times as many. The
    /// operations of `seekpct=(poisson,100)` went to the end of the range.
    #[test]
    fn operations_gather_in_the_first_quarter_for_any_midpoint() {
        for midpoint in [3.0, 16.0, 17.0, 100.0, 999.0] {
            let zones = poisson(midpoint);
            assert!(zones.len() <= MOST_ZONES, "{midpoint}: {}", zones.len());
            let sums = zones.iter().fold((0.0, 0.0), |(access, space), zone| {
                (access + zone.access_percent, space + zone.space_percent)
            });
            assert!((sums.0 - 100.0_f64).abs() < 1e-9, "{midpoint}: {sums:?}");
            assert!((sums.1 - 100.0_f64).abs() < 1e-9, "{midpoint}: {sums:?}");
            // Part number `midpoint` of four times as many, counted from 0, by its middle.
            let expected = (midpoint + 0.5) * 25.0 / midpoint;
            let found = mean_place(&zones);
            assert!(
                (found - expected).abs() < 1.0,
                "{midpoint}: {found}, not {expected}"
            );
        }
        assert_eq!(poisson(0.1).len(), 2);
    }
}
