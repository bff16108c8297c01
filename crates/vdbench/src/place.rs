//! Where the operations of a workload go on a storage definition.

use blocklab_units::Bytes;
use blocklab_workload::{Hits, Pattern, Region, Spread, Zone};

use super::defs::{Range, Sd, Seek};
use super::mistake::Mistake;
use super::run::Use;

/// One region with its pattern and its part of the threads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spot {
    /// Tells streams apart.
    pub(super) suffix: String,
    pub(super) region: Region,
    pub(super) pattern: Pattern,
    pub(super) hits: Option<Hits>,
    pub(super) depth: u32,
    /// Whether it ends at the end of the region.
    pub(super) once: bool,
    /// Offsets are multiples of it.
    pub(super) align: Option<u64>,
}

type Notes = Vec<(&'static str, &'static str)>;

/// The spots of a workload on storage of `size` bytes.
pub(super) fn spots(
    one: &Use,
    sd: &Sd,
    size: u64,
    threads: u32,
) -> Result<(Vec<Spot>, Notes), Mistake> {
    let wd = &one.wd;
    let mut notes = Notes::new();
    let block = wd.xfersize.largest();
    let (mut begin, end) = bounds(one, sd, size, block, &mut notes)?;
    let mut hits = None;
    if wd.rhpct > 0.0 || wd.whpct > 0.0 {
        let area = one.hitarea.unwrap_or(sd.hitarea).next_multiple_of(block);
        if begin + area + block > end {
            return Err(Mistake::new(
                &sd.place,
                format!("sd={}", sd.name),
                format!(
                    "a hit area of {area} bytes leaves no room for misses; a smaller hitarea= would"
                ),
            ));
        }
        hits = Some(Hits {
            read_percent: wd.rhpct,
            write_percent: wd.whpct,
            offset: begin,
            len: area,
        });
        begin += area;
    }
    let pattern = pattern(one, &mut notes);
    let once = matches!(wd.seek, Seek::Eof);
    let align = (sd.align > 0).then_some(sd.align);
    let streams = u64::from(wd.streams.max(1));
    if wd.streams > 0 && !threads.is_multiple_of(wd.streams) {
        return Err(Mistake::new(
            &wd.place,
            format!("wd={}", wd.name),
            format!(
                "{threads} threads are no multiple of {} streams",
                wd.streams
            ),
        ));
    }
    let each = (end - begin) / streams / block * block;
    if each == 0 {
        return Err(too_small(sd, size, block));
    }
    let spot = |stream: u64| Spot {
        suffix: match wd.streams {
            0 => String::new(),
            _ => format!("#{}", stream + 1),
        },
        region: Region {
            offset: Bytes(begin + each * stream),
            size: Some(Bytes(each)),
            spread: Spread::Same,
        },
        pattern: pattern.clone(),
        hits,
        depth: threads / wd.streams.max(1),
        once,
        align,
    };
    Ok(((0..streams).map(spot).collect(), notes))
}

/// The bytes that may be used: never block 0.
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

/// Up to 200 the ends are per cent, else bytes.
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
    let part = |percent: f64| (size as f64 * percent.min(100.0) / 100.0) as u64;
    (part(range.low), part(range.high))
}

fn too_small(sd: &Sd, size: u64, block: u64) -> Mistake {
    Mistake::new(
        &sd.place,
        format!("sd={}", sd.name),
        format!(
            "its {size} bytes, or the range of them, hold no block of {block} besides block 0, \
             which is never touched"
        ),
    )
}

fn pattern(one: &Use, notes: &mut Notes) -> Pattern {
    let wd = &one.wd;
    if let Some((min, max)) = wd.stride {
        if min != max {
            notes.push(("stride", "strides of different lengths: their mean is used"));
        }
        let mean = (min + max) / 2;
        let sector = mean.next_multiple_of(512).max(512);
        return Pattern::Strided {
            stride: Bytes(sector),
        };
    }
    if wd.hotband {
        notes.push((
            "hotband",
            "80 per cent of the operations go to 20 per cent of its blocks",
        ));
        return Pattern::Pareto { h: 0.2 };
    }
    let random = Pattern::Random {
        every_block_once: false,
    };
    match wd.seek {
        Seek::Percent(percent) if percent <= 0.0 => Pattern::Sequential,
        Seek::Percent(percent) if percent >= 100.0 => random,
        Seek::Percent(percent) => Pattern::PercentRandom(percent.round() as u8),
        Seek::Eof => Pattern::Sequential,
        Seek::SequentialAnywhere => {
            notes.push(("seekpct=seqnz", "it begins at the start of the range"));
            Pattern::Sequential
        }
        Seek::Poisson(middle) => {
            notes.push((
                "seekpct=poisson",
                "the range is cut into parts, four times as many as the midpoint, hit by Poisson's law",
            ));
            Pattern::Zones(poisson(middle))
        }
    }
}

/// Shares of the parts by Poisson's law with this mean.
fn poisson(middle: f64) -> Vec<Zone> {
    let parts = ((middle * 4.0).ceil() as usize).clamp(2, 64);
    // Each is the one before it times mean / k; the scale falls out below.
    let mut masses = vec![1.0_f64];
    for k in 1..parts {
        masses.push(masses[k - 1] * middle / k as f64);
    }
    let all: f64 = masses.iter().sum();
    let space_percent = 100.0 / parts as f64;
    let zone = |mass: &f64| Zone {
        access_percent: mass / all * 100.0,
        space_percent,
    };
    masses.iter().map(zone).collect()
}
