//! The offsets, sizes and directions of a job's operations: the values of `rw`, `bssplit`,
//! `random_distribution` and related options.

use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, Mix, Pattern, SizeDraw, SizeMix, Zone};

use super::number::{Scale, amount};
use super::options::Options;
use super::spec::Spec;
use super::value::{Sizes, bytes, in_order, numbers};
use blocklab_syntax::Mistake;

/// The kinds of operations that `rw` requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadWrite {
    /// The name that is printed, where there are two for the same.
    pub word: &'static str,
    pub random: bool,
    pub reads: bool,
    pub writes: bool,
    pub trims: bool,
    /// Behind the `:`, of sequential operations: bytes that are left out, or gone back, between
    /// two of them.
    pub gap: i64,
    /// Behind the `:`, of random operations: how many follow each random offset.
    pub run: Option<u32>,
}

/// The words of `rw`: whether they are random, and whether they read, write and trim.
const RW_WORDS: [(&str, bool, [bool; 3]); 11] = [
    ("read", false, [true, false, false]),
    ("write", false, [false, true, false]),
    ("trim", false, [false, false, true]),
    ("randread", true, [true, false, false]),
    ("randwrite", true, [false, true, false]),
    ("randtrim", true, [false, false, true]),
    ("rw", false, [true, true, false]),
    ("readwrite", false, [true, true, false]),
    ("randrw", true, [true, true, false]),
    ("trimwrite", false, [false, true, true]),
    ("randtrimwrite", true, [false, true, true]),
];

/// Reads `rw`.
pub(super) fn read_write(spec: &Spec) -> Result<ReadWrite, Mistake> {
    let text = &*spec.options.rw;
    let (word, behind) = text.split_once(':').unwrap_or((text, ""));
    let known = RW_WORDS.iter().find(|known| known.0 == word);
    let Some((word, random, [reads, writes, trims])) = known else {
        let known = RW_WORDS.map(|known| known.0).join(", ");
        return Err(spec.mistake("rw", format!("`{word}` is none of {known}")));
    };
    // For a sequential job, the bytes between two blocks; for a random one, the operations per offset.
    let number = match behind {
        "" => None,
        text => {
            let number = amount(text, spec.options.scale());
            Some(number.map_err(|why| spec.mistake("rw", why))?)
        }
    };
    Ok(ReadWrite {
        word: if *word == "readwrite" { "rw" } else { word },
        random: *random,
        reads: *reads,
        writes: *writes,
        trims: *trims,
        gap: if *random { 0 } else { number.unwrap_or(0) },
        run: number
            .filter(|number| *random && *number > 1)
            .map(|number| number.min(i64::from(u32::MAX)) as u32),
    })
}

/// Shares of the directions.
pub(super) fn mix(options: &Options, rw: ReadWrite) -> Mix {
    let read = match options.rwmixwrite {
        Some(write) => 100 - write.min(100) as u8,
        None => options.rwmixread.min(100) as u8,
    };
    match (rw.reads, rw.writes) {
        (true, true) => Mix::reads(read),
        (true, false) => Mix::READ,
        (false, true) => Mix::WRITE,
        (false, false) => Mix::TRIM,
    }
}

/// Block sizes of reads, writes and trims.
pub(super) fn block_sizes(spec: &Spec) -> Result<BlockSizes, Mistake> {
    let options = &spec.options;
    let fixed = match given_by_order(options) {
        Some([one, random, _]) if one != random && takes_second_size(spec)? => [random; 3],
        Some([sequential, ..]) => [sequential; 3],
        None => options.bs,
    };
    let mut mixes = fixed.map(|size| SizeMix::fixed(Bytes(size)));
    let ranges = options.bsrange.unwrap_or_default();
    let ranges = mixes.iter_mut().zip(ranges);
    // A direction without a range has 0 to 0. Of a range only the ends are listed: `size_draw` of the job
    // says that the sizes between them are drawn, too.
    for (mix, (low, high)) in ranges.filter(|(_, (_, high))| *high > 0) {
        // As in fio, a range from 0 begins at the block of `bs`.
        let low = if low == 0 { mix.smallest().0 } else { low };
        if low > high {
            let wrong = format!("from 0 means from bs={low}, which is above {high}");
            return Err(spec.mistake("bsrange", wrong));
        }
        *mix = if low == high {
            SizeMix::fixed(Bytes(low))
        } else {
            SizeMix(vec![(Bytes(low), 1), (Bytes(high), 1)])
        };
    }
    if let Some(text) = &options.bssplit {
        let rw = read_write(spec)?;
        let directions = mixes.iter_mut().zip([rw.reads, rw.writes, rw.trims]);
        for (index, (mix, occurs)) in directions.enumerate() {
            let part = split_part(text, index);
            if !part.is_empty() {
                *mix = split(part, options.scale(), options.bs_unaligned)
                    .map_err(|why| spec.mistake("bssplit", why))?;
            } else if occurs && mix.smallest() < mix.largest() && has_split(options, rw) {
                // `size_draw` is one for all directions, and only the ends of a range are listed.
                let wrong = "beside the bssplit of another direction no sizes of a range are \
                             drawn; bssplit can list them, as in 4k:8k:12k:16k";
                return Err(spec.mistake("bsrange", wrong));
            }
        }
    }
    let [read, write, trim] = mixes;
    Ok(BlockSizes { read, write, trim })
}

/// Whether `bssplit` lists the sizes of a direction that occurs.
pub(super) fn has_split(options: &Options, rw: ReadWrite) -> bool {
    let text = options.bssplit.as_deref().unwrap_or_default();
    let mut directions = [rw.reads, rw.writes, rw.trims].into_iter().enumerate();
    directions.any(|(index, occurs)| occurs && !split_part(text, index).is_empty())
}

/// The part of `bssplit` for a direction: the last one is that of all directions that have none of
/// their own.
fn split_part(text: &str, direction: usize) -> &str {
    let own = text.split(',').nth(direction);
    own.unwrap_or_else(|| text.rsplit(',').next().unwrap_or_default())
}

/// The sizes of sequential and random operations, where the two are given so.
pub(super) fn given_by_order(options: &Options) -> Option<Sizes> {
    options.bs_is_seq_rand.then_some(options.bs)
}

/// The largest block of the directions that occur.
pub(super) fn largest_block(sizes: &BlockSizes, rw: ReadWrite) -> u64 {
    let largest = occurring(sizes, rw).map(|mix| mix.largest().0).max();
    largest.unwrap_or_else(|| sizes.largest().0)
}

/// The smallest one.
pub(super) fn smallest_block(sizes: &BlockSizes, rw: ReadWrite) -> u64 {
    let smallest = occurring(sizes, rw).map(|mix| mix.smallest().0).min();
    smallest.unwrap_or_else(|| sizes.smallest().0)
}

/// The sizes of the directions that the job has.
fn occurring(sizes: &BlockSizes, rw: ReadWrite) -> impl Iterator<Item = &SizeMix> {
    let each = [
        (rw.reads, &sizes.read),
        (rw.writes, &sizes.write),
        // A block that is trimmed before it is written has the size of the write.
        (rw.trims && !rw.writes, &sizes.trim),
    ];
    let occurring = each.into_iter().filter(|(occurs, _)| *occurs);
    occurring.map(|(_, mix)| mix)
}

/// Whether a job with `bs_is_seq_rand` uses the second size, that of random operations.
///
/// # Errors
/// A mix of sequential and random operations, which would need both.
fn takes_second_size(spec: &Spec) -> Result<bool, Mistake> {
    let rw = read_write(spec)?;
    match (rw.random, percent_random(spec)) {
        (true, Ok(percent)) if rw.run.is_some() || percent.iter().any(|share| *share < 100) => {
            let wrong =
                "two sizes in one mix are not done: give the jobs of the two patterns separately";
            Err(spec.mistake("bs_is_seq_rand", wrong))
        }
        _ => Ok(rw.random),
    }
}

/// `4k/60:8k/40`; sizes without a share, or with a share of 0, have what is left, evenly. As in fio,
/// all are cut to multiples of the smallest, unless they may be `unaligned`.
fn split(text: &str, scale: Scale, unaligned: bool) -> Result<SizeMix, String> {
    let mut sizes: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let size = amount(size, scale)?;
        if size <= 0 {
            return Err(format!("`{part}`: a block has at least 1 byte"));
        }
        let share = match share.trim() {
            "" => None,
            share => match share.parse::<u32>() {
                Ok(0) => None,
                Ok(share) if share <= 100 => Some(share),
                _ => return Err(format!("`{share}` is no share from 0 to 100")),
            },
        };
        sizes.push((size as u64, share));
    }
    let given: u32 = sizes.iter().filter_map(|(_, share)| *share).sum();
    let open = sizes.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let rest = 100_u32.saturating_sub(given).checked_div(open).unwrap_or(0);
    let weights = sizes.iter().map(|(_, share)| share.unwrap_or(rest));
    let weights = effective_shares(weights.collect());
    let smallest = sizes.iter().map(|(size, _)| *size).min().unwrap_or(1);
    let piece = if unaligned { 1 } else { smallest };
    let sizes = sizes.iter().map(|(size, _)| Bytes(size / piece * piece));
    let weighted = sizes.zip(weights);
    let mix: Vec<(Bytes, u32)> = weighted.filter(|(_, weight)| *weight > 0).collect();
    if mix.is_empty() {
        Err(format!("`{text}` leaves no size a share"))
    } else {
        Ok(SizeMix(mix))
    }
}

/// The shares by which fio 3.33 draws, in per cent: it takes them from the smallest on, as they are
/// until there are 100, and the largest has what is left, the last one of several. So shares may add
/// up to less than 100, as in a load of a storage server that is in wide use (98), or to more.
fn effective_shares(mut shares: Vec<u32>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by_key(|place| shares[*place]);
    let mut left = 100;
    for (index, place) in order.iter().enumerate() {
        let is_last = index + 1 == order.len();
        let share = if is_last {
            left
        } else {
            shares[*place].min(left)
        };
        shares[*place] = share;
        left -= share;
    }
    shares
}

/// Where operations go, of these sizes, and the random shares of reads, writes and trims where the
/// pattern does not hold them. `space`: bytes of the part that is worked on.
pub(super) fn pattern(
    spec: &Spec,
    rw: ReadWrite,
    sizes: &BlockSizes,
    space: u64,
) -> Result<(Pattern, Option<[u8; 3]>), Mistake> {
    let options = &spec.options;
    if options.sprandom {
        return Ok((preconditioning(spec, rw, sizes, space)?, None));
    }
    let given = percent_random(spec)?;
    let once = keeps_a_map(options, rw, sizes);
    // Zones need room for their sizes only where places are drawn from them.
    let space = if rw.random { space } else { u64::MAX };
    let distribution = match options.random_distribution.strip_prefix("sequence:") {
        Some(list) => listed(list, options.random_sequence_stride),
        None => distribution(&options.random_distribution, once, space, options.scale()),
    }
    .map_err(|why| spec.mistake("random_distribution", why))?;
    let percent = occurring_shares(rw, given);
    let highest = percent.iter().max().copied().unwrap_or(100);
    let pattern = match percent.iter().min() {
        _ if !rw.random => sequential(rw, largest_block(sizes, rw)),
        Some(100) | None => distribution,
        Some(0) if highest == 0 => Pattern::Sequential,
        Some(_) if distribution.is_skewed() => distribution,
        Some(_) => Pattern::PercentRandom(highest),
    };
    // A pattern holds one share for all directions, and a skewed one none.
    let held = if pattern.is_skewed() { 100 } else { highest };
    let has_others = rw.random && percent.iter().any(|share| *share != held);
    Ok((pattern, has_others.then_some(given)))
}

/// The shares of the directions that occur.
fn occurring_shares(rw: ReadWrite, percent: [u8; 3]) -> Vec<u8> {
    let occurs = [rw.reads, rw.writes, rw.trims].into_iter();
    let shares = occurs.zip(percent).filter(|(occurs, _)| *occurs);
    shares.map(|(_, percent)| percent).collect()
}

/// `sprandom`, with the conditions of later fio. What it does of blocks of several sizes is not
/// said there, and would leave parts of the flash as they were.
fn preconditioning(
    spec: &Spec,
    rw: ReadWrite,
    sizes: &BlockSizes,
    space: u64,
) -> Result<Pattern, Mistake> {
    let options = &spec.options;
    let wrong = if !rw.random || !rw.writes || rw.reads || rw.trims {
        "it needs rw=randwrite"
    } else if spec.value("norandommap").is_some() && !options.norandommap {
        "it needs norandommap=1"
    } else if spec.value("random_generator").is_some() && options.random_generator != "lfsr" {
        "it needs random_generator=lfsr"
    } else if smallest_block(sizes, rw) < largest_block(sizes, rw) {
        "it needs blocks of one size"
    } else {
        let over_provisioning = options.spr_op.first().copied().unwrap_or(0.15);
        if !(over_provisioning > 0.0 && over_provisioning < 1.0) {
            let wrong = format!("{over_provisioning} is out of range: between 0 and 1");
            return Err(spec.mistake("spr_op", wrong));
        }
        let region = space as f64 * (1.0 + over_provisioning) / f64::from(options.spr_num_regions);
        if options.spr_cs as f64 > region {
            let wrong = "the cache of the device is larger than a region of its flash; a smaller \
                         spr_num_regions would work";
            return Err(spec.mistake("spr_cs", wrong));
        }
        return Ok(Pattern::Preconditioning {
            over_provisioning,
            regions: options.spr_num_regions,
        });
    };
    Err(spec.mistake("sprandom", wrong))
}

/// Whether no block is drawn twice: a map sees to it, or `lfsr`, which needs none for blocks of
/// one size and knows nothing of others.
pub(super) fn keeps_a_map(options: &Options, rw: ReadWrite, sizes: &BlockSizes) -> bool {
    match options.random_generator {
        _ if options.sprandom => false,
        "lfsr" => smallest_block(sizes, rw) == largest_block(sizes, rw),
        _ => !options.norandommap && !shifts_blocks(options, sizes),
    }
}

/// The sizes that fit into `room` bytes: fio draws again where a block is longer than that. A
/// direction of which no size fits keeps its sizes.
pub(super) fn fitting(sizes: BlockSizes, size_draw: SizeDraw, room: u64) -> BlockSizes {
    let fitting_mix = |mix: SizeMix| {
        let smallest = mix.smallest().0;
        if !(1..=room).contains(&smallest) || mix.largest().0 <= room {
            return mix;
        }
        let largest_in_range = match size_draw {
            SizeDraw::Listed => None,
            SizeDraw::Multiples => Some(room / smallest * smallest),
            SizeDraw::AnyByte => Some(room),
        };
        match largest_in_range {
            Some(largest) if largest == smallest => SizeMix::fixed(Bytes(smallest)),
            Some(largest) => SizeMix(vec![(Bytes(smallest), 1), (Bytes(largest), 1)]),
            None => SizeMix(
                mix.0
                    .into_iter()
                    .filter(|(size, _)| size.0 <= room)
                    .collect(),
            ),
        }
    };
    BlockSizes {
        read: fitting_mix(sizes.read),
        write: fitting_mix(sizes.write),
        trim: fitting_mix(sizes.trim),
    }
}

/// What random offsets are multiples of in a job without a map whose directions have different
/// blocks: in each direction its own smallest block, as in fio. `None`: it is the same for all.
pub(super) fn own_multiples(
    options: &Options,
    rw: ReadWrite,
    sizes: &BlockSizes,
) -> Option<[Bytes; 3]> {
    let mut smallest = occurring(sizes, rw).map(SizeMix::smallest);
    let first = smallest.next()?;
    let differ = smallest.any(|other| other != first);
    // With a map, blocks are cut where pieces were hit. Blocks of any length, which go on where the
    // last one ended, begin anywhere.
    let is_drawn = rw.random && !keeps_a_map(options, rw, sizes) && !options.bs_unaligned;
    let each = [&sizes.read, &sizes.write, &sizes.trim];
    (differ && is_drawn).then(|| each.map(SizeMix::smallest))
}

/// Whether `ba` allows offsets that are no multiples of the block size.
pub(super) fn shifts_blocks(options: &Options, sizes: &BlockSizes) -> bool {
    let sizes = [&sizes.read, &sizes.write, &sizes.trim];
    let mut pairs = options.ba.into_iter().zip(sizes);
    pairs.any(|(align, mix)| align > 0 && align != mix.smallest().0)
}

/// The pattern of sequential offsets; `rw=write:8k` leaves gaps, and a negative one goes backward.
const fn sequential(rw: ReadWrite, block: u64) -> Pattern {
    match rw.gap {
        0 => Pattern::Sequential,
        gap if gap > 0 => Pattern::Strided {
            stride: Bytes(block.saturating_add(gap as u64)),
        },
        gap => Pattern::Backward {
            back: Bytes(gap.unsigned_abs()),
        },
    }
}

/// Shares of reads, writes and trims. What is left out is random.
fn percent_random(spec: &Spec) -> Result<[u8; 3], Mistake> {
    let parts = numbers(&spec.options.percentage_random);
    let shares = in_order(&parts, |part| match amount(part, Scale::default())? {
        percent @ 0..=100 => Ok(Some(percent as u8)),
        other => Err(format!("{other} is out of range: 0 to 100")),
    })
    .map_err(|why| spec.mistake("percentage_random", why))?;
    Ok(shares.map(|share| share.unwrap_or(100)))
}

/// Blocks that a `sequence` names at most, as in fio.
const MOST_LISTED: usize = 64;

/// `2,0,1`: numbers of blocks.
fn listed(text: &str, moves_on: bool) -> Result<Pattern, String> {
    let blocks: Result<Vec<u64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match blocks {
        Ok(blocks) if blocks.len() <= MOST_LISTED => Ok(Pattern::Listed { blocks, moves_on }),
        Ok(blocks) => Err(format!(
            "{} blocks are more than {MOST_LISTED}",
            blocks.len()
        )),
        Err(_) => Err(format!(
            "`{text}` is no list of block numbers such as 2,0,1"
        )),
    }
}

/// The pattern of `random_distribution=`. `space`: the bytes over which `zoned_abs` spreads.
fn distribution(
    text: &str,
    every_block_once: bool,
    space: u64,
    scale: Scale,
) -> Result<Pattern, String> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let first = rest.split(':').next().unwrap_or_default();
    let number = |default: f64| match first {
        "" => Ok(default),
        text => text
            .parse::<f64>()
            .map_err(|_| format!("`{text}` is no number")),
    };
    match word {
        "random" => Ok(Pattern::Random { every_block_once }),
        "zipf" => match number(1.1)? {
            // All ranks alike.
            0.0 => Ok(Pattern::RANDOM),
            1.0 => Err("zipf theta must be different from 1.0".to_owned()),
            theta if theta > 0.0 && theta < 100.0 => Ok(Pattern::Zipf { theta }),
            theta => Err(format!(
                "zipf theta {theta} is out of range: above 0 and below 100"
            )),
        },
        "pareto" => match number(0.2)? {
            h if h > 0.0 && h < 1.0 => Ok(Pattern::Pareto { h }),
            h => Err(format!("pareto input {h} is out of range: between 0 and 1")),
        },
        "normal" => match number(0.0)? {
            deviation_percent if (0.0..=100.0).contains(&deviation_percent) => {
                Ok(Pattern::Normal {
                    // 0 would hit one block only.
                    deviation_percent: deviation_percent.max(0.01),
                })
            }
            deviation => Err(format!(
                "normal deviation {deviation} is out of range: 0 to 100"
            )),
        },
        "zoned" => zones(rest, None),
        "zoned_abs" => zones(rest, Some((space, scale))),
        other => Err(format!(
            "`{other}` is none of random, zipf, pareto, normal, zoned, zoned_abs"
        )),
    }
}

/// The part after the second `:` of `zipf:1.2:0.25`: the place that is accessed most, from 0 to 1.
pub(super) fn center(text: &str) -> Result<Option<f64>, String> {
    let mut parts = text.split(':');
    let is_skewed = parts
        .next()
        .is_some_and(|word| matches!(word, "zipf" | "pareto" | "normal" | "gauss"));
    let Some(text) = parts.nth(1).filter(|_| is_skewed) else {
        return Ok(None);
    };
    match text.parse::<f64>() {
        Ok(center) if (0.0..=1.0).contains(&center) => Ok(Some(center)),
        _ => Err(format!("the centre `{text}` is no number from 0 to 1")),
    }
}

/// `60/10:30/20:8/30:2/40`: shares of the operations over shares of the space. `space`: the second
/// ones are bytes, of this many, with what `k` means in them. Zones without a second number share
/// what is left of the space.
fn zones(text: &str, space: Option<(u64, Scale)>) -> Result<Pattern, String> {
    if text.contains(',') {
        return Err("zones of each direction are not done: fio 3.33 refuses them, too".to_owned());
    }
    let (mut access_percents, mut space_percents) = (Vec::new(), Vec::new());
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/').unwrap_or((zone, ""));
        access_percents.push(zone_percent(access, zone)?);
        space_percents.push(match (size, space) {
            ("", _) => None,
            (size, None) => Some(zone_percent(size, zone)?),
            (size, Some((space, scale))) => {
                Some(bytes(size, scale)? as f64 * 100.0 / space.max(1) as f64)
            }
        });
    }
    let given: f64 = space_percents.iter().flatten().sum();
    let open = space_percents
        .iter()
        .filter(|percent| percent.is_none())
        .count();
    let rest = (100.0 - given).max(0.0) / open.max(1) as f64;
    let mut zones: Vec<Zone> = access_percents
        .into_iter()
        .zip(space_percents)
        .map(|(access_percent, space_percent)| Zone {
            access_percent,
            space_percent: space_percent.unwrap_or(rest),
        })
        .collect();
    let accesses: f64 = zones.iter().map(|zone| zone.access_percent).sum();
    if (accesses - 100.0).abs() > 0.01 {
        return Err(format!(
            "access percentages add up to {accesses}, not to 100"
        ));
    }
    let spaces: f64 = zones.iter().map(|zone| zone.space_percent).sum();
    if space.is_none() && (spaces - 100.0).abs() > 0.01 {
        return Err(format!("sizes add up to {spaces} per cent, not to 100"));
    }
    if let Some((space, _)) = space.filter(|_| spaces > 100.01) {
        return Err(format!("zones of more than the {space} bytes worked on"));
    }
    if (zones.iter()).any(|zone| zone.access_percent > 0.0 && zone.space_percent <= 0.0) {
        return Err("a zone without space cannot have a share of the accesses".to_owned());
    }
    if spaces < 99.99 {
        // What no zone covers is never hit.
        zones.push(Zone {
            access_percent: 0.0,
            space_percent: 100.0 - spaces,
        });
    }
    Ok(Pattern::Zones(zones))
}

fn zone_percent(text: &str, zone: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!(
            "zone `{zone}` is not ACCESS/SIZE, two shares in per cent"
        )),
    }
}

#[cfg(test)]
mod tests {
    use blocklab_workload::{Pattern, SizeDraw};

    use crate::tests::planned;

    /// With `rwmixwrite` in `[global]`, the `rwmixread` of a job had no effect: the first always held,
    /// wherever it stood. fio takes the one that is given last.
    #[test]
    fn the_last_share_of_a_mix_holds() {
        #[track_caller]
        fn check(options: &str, read: u8) {
            let text = format!("[a]\nrw=randrw\nsize=1m\nioengine=null\n{options}\n");
            let prepared = planned(&text).unwrap();
            let mix = &prepared.plan.cases[0].workload.jobs[0].mix;
            assert_eq!(mix.read, read, "{options}");
        }
        check("rwmixwrite=10\nrwmixread=50", 50);
        check("rwmixread=50\nrwmixwrite=10", 90);
        check("rwmixread=20", 20);
    }

    /// A job whose files are shorter than its largest block failed, even where only writes have such
    /// blocks and the job reads; fio draws a size that fits.
    #[test]
    fn sizes_that_do_not_fit_into_the_file_are_not_drawn() {
        #[track_caller]
        fn check(options: &str, read: &[(u64, u32)]) {
            let text = format!("[a]\nsize=50k\nioengine=null\n{options}\n");
            let prepared = planned(&text).expect(options);
            let job = &prepared.plan.cases[0].workload.jobs[0];
            let sizes: Vec<(u64, u32)> = (job.sizes.read.0.iter())
                .map(|(size, weight)| (size.0, *weight))
                .collect();
            assert_eq!(sizes, read, "{options}");
            assert!(job.least_room().0 <= 50 << 10, "{options}");
        }
        check("bssplit=4k/10:16k/30:64k/60", &[(4096, 10), (16 << 10, 30)]);
        check("bsrange=4k-64k", &[(4096, 1), (48 << 10, 1)]);
        check("bsrange=32k-64k", &[(32 << 10, 1)]);
        check("bsrange=4k-64k\nbs_unaligned", &[(4096, 1), (50 << 10, 1)]);
        check("bs=4k,64k", &[(4096, 1)]);
        check("bs=4k,64k\nrw=randread\nnorandommap", &[(4096, 1)]);
        let prepared = planned("[a]\nsize=50k\nbsrange=4k-64k\n").expect("it fits");
        let printed = prepared.clones[0].blocks[0];
        assert_eq!(
            printed,
            (4096, 64 << 10),
            "the job's line has what is given"
        );
    }

    /// A distribution in `[global]` whose zones are larger than its file refused the whole command, by
    /// a sequential job that draws no place; fio complains of the random ones.
    #[test]
    fn zones_need_room_only_in_random_jobs() {
        let with = |rw: &str| {
            let zones = "random_distribution=zoned_abs:50/64k:50/64k";
            planned(&format!(
                "[a]\nsize=100k\nioengine=null\nrw={rw}\n{zones}\n"
            ))
        };
        assert!(with("write").is_ok());
        let wrong = with("randwrite").map(|_| ()).unwrap_err().to_string();
        assert!(wrong.contains("zones of more than the 102400"), "{wrong}");
    }

    /// Without a map, the reads of `bs=64k,4k` began at multiples of 4 KiB; with fio 3.33, at
    /// multiples of 64 KiB.
    #[test]
    fn each_direction_has_multiples_of_its_own_blocks() {
        #[track_caller]
        fn check(options: &str, expected: Option<[u64; 3]>) {
            let text = format!("[a]\nsize=1m\nioengine=null\n{options}\n");
            let prepared = planned(&text).expect(options);
            let align = prepared.plan.cases[0].workload.jobs[0].align;
            let align = align.map(|each| each.map(|bytes| bytes.0));
            assert_eq!(align, expected, "{options}");
        }
        let own = [64 << 10, 4096, 4096];
        check("rw=randrw\nbs=64k,4k\nnorandommap", Some(own));
        check("rw=randrw\nbs=64k,4k\nnorandommap\nba=512", Some([512; 3]));
        check("rw=randrw\nbs=64k,4k", None);
        check("rw=randread\nbs=64k,4k\nnorandommap", None);
        check("rw=randrw\nbs=4k\nnorandommap", None);
        check("rw=rw\nbs=64k,4k\nnorandommap", None);
    }

    /// Of `rw=randread:8` with two sizes by order, the reads that follow a random one had the second
    /// size; in fio 3.33 they are sequential and have the first.
    #[test]
    fn two_sizes_by_order_are_not_mixed() {
        let with = |bs: &str, rw: &str| {
            let text = format!("[a]\nsize=1m\nioengine=null\nbs={bs}\nbs_is_seq_rand=1\nrw={rw}\n");
            planned(&text)
                .map(|_| ())
                .map_err(|wrong| wrong.to_string())
        };
        let wrong = with("4k,16k", "randread:8").unwrap_err();
        assert!(wrong.contains("two sizes in one mix"), "{wrong}");
        for (bs, rw) in [("4k,16k", "randread"), ("4k,16k", "read:8k")] {
            assert_eq!(with(bs, rw), Ok(()), "{rw}");
        }
        // One size for both has no order, and was refused as well.
        for options in ["randread:8", "randread\npercentage_random=50"] {
            assert_eq!(with("4k", options), Ok(()), "{options}");
        }
    }

    /// A range from 0 was ignored, and all blocks had the size of `bs`; fio 3.33 prints these sizes. Where
    /// `bs` is above the range, it prints a range that ends before it begins.
    #[test]
    fn a_range_from_0_begins_at_the_block_size() {
        #[track_caller]
        fn check(options: &str, ends: [u64; 2]) {
            let text = format!("[a]\nrw=read\nsize=1m\nioengine=null\n{options}\n");
            let prepared = planned(&text).unwrap();
            let read = &prepared.plan.cases[0].workload.jobs[0].sizes.read;
            assert_eq!([read.smallest().0, read.largest().0], ends, "{options}");
        }
        check("bsrange=0-8k", [4096, 8192]);
        check("bs=2k\nbsrange=0-8k,1k-4k", [2048, 8192]);
        check("bsrange=0-0", [4096, 4096]);
        let above = "[a]\nrw=read\nsize=1m\nioengine=null\nbs=16k\nbsrange=0-8k\n";
        let wrong = planned(above).unwrap_err().to_string();
        assert!(wrong.contains("bsrange: from 0 means"), "{wrong}");
    }

    /// Of zones with a list for each direction the first held for all, without a word, and `nan` was
    /// a zone without a size. fio 3.33 refuses the list.
    #[test]
    fn zones_are_one_list_of_shares() {
        #[track_caller]
        fn refused(zones: &str, words: &str) {
            let text =
                format!("[a]\nrw=randrw\nsize=1m\nioengine=null\nrandom_distribution={zones}\n");
            let wrong = planned(&text).unwrap_err().to_string();
            assert!(wrong.contains(words), "{wrong}");
        }
        refused("zoned:50/50:50/50,90/10:10/90", "of each direction");
        refused("zoned_abs:50/64k:50/64k,90/8k:10/8k", "of each direction");
        refused("zoned:50/nan:50/50", "zone `50/nan` is not");
        refused("zoned:-50/50:150/50", "zone `-50/50` is not");
        refused("zoned:60/50:50/50", "add up to 110");
        // Their shares add up, and the error was that they do not.
        refused("zoned:50/0:50/100", "zone without space");
        refused("zoned_abs:50/0:50/8k", "zone without space");
        refused("zoned_abs:50/2m:50/8k", "more than the 1048576 bytes");
        refused("zoned_abs:50/-4k:50/8k", "`-4k` is below 0");
    }

    /// The test of disks that TiDB's manual gives has `percentage_random=100,0`: reads at random and
    /// writes in order. The first share held for all directions, so its writes were random, too.
    #[test]
    fn each_direction_has_its_random_share() {
        #[track_caller]
        fn check(options: &str, pattern: Pattern, shares: Option<[u8; 3]>) {
            let text = format!("[a]\nsize=1m\nioengine=null\n{options}\n");
            let prepared = planned(&text).unwrap();
            let job = &prepared.plan.cases[0].workload.jobs[0];
            assert_eq!(
                (&job.pattern, job.random_percent),
                (&pattern, shares),
                "{options}"
            );
        }
        let mixed = "rw=randrw\npercentage_random";
        let random = Pattern::PercentRandom;
        check(&format!("{mixed}=100,0"), random(100), Some([100, 0, 0]));
        check(&format!("{mixed}=100:0"), random(100), Some([100, 0, 0]));
        check(&format!("{mixed}=,30"), random(100), Some([100, 30, 30]));
        check(&format!("{mixed}=50"), random(50), None);
        check(&format!("{mixed}=0"), Pattern::Sequential, None);
        check(
            "rw=randwrite\npercentage_random=100,0",
            Pattern::Sequential,
            None,
        );
        let once = Pattern::RANDOM_ONCE;
        check("rw=randread\npercentage_random=100,0", once, None);
        // The story: beside it, `random_distribution` was dropped, and random offsets were even.
        let zipf = "rw=randrw\nrandom_distribution=zipf:2\npercentage_random";
        let skewed = || Pattern::Zipf { theta: 2.0 };
        check(&format!("{zipf}=50"), skewed(), Some([50; 3]));
        check(&format!("{zipf}=50,0"), skewed(), Some([50, 0, 0]));
        check(&format!("{zipf}=100"), skewed(), None);
        check(&format!("{zipf}=0"), Pattern::Sequential, None);
    }

    /// Of `rw=randrw:4`, a read went on where a write had ended; of `rw=randrw` with
    /// `percentage_random=0`, reads and writes went through the file together, and each read half of it.
    #[test]
    fn each_direction_goes_on_where_it_ended_itself() {
        for (options, has_own) in [
            ("rw=randrw:4", true),
            ("rw=randrw\npercentage_random=0", true),
            ("rw=randrw\npercentage_random=50", true),
            ("rw=randrw", false),
            ("rw=randread:4", false),
        ] {
            let text = format!("[a]\nsize=1m\nioengine=null\n{options}\n");
            let prepared = planned(&text).unwrap();
            let job = &prepared.plan.cases[0].workload.jobs[0];
            assert_eq!(job.per_direction_position, has_own, "{options}");
        }
    }

    /// A direction that has a range beside the `bssplit` of another one moved blocks of the two ends of
    /// its range alone; fio 3.33 draws all sizes between them.
    #[test]
    fn a_range_beside_the_split_of_another_direction_is_refused() {
        let with = |rw: &str, split: &str| {
            let text =
                format!("[a]\nsize=1m\nioengine=null\nbsrange=4k-16k\nrw={rw}\nbssplit={split}\n");
            planned(&text)
                .map(|_| ())
                .map_err(|wrong| wrong.to_string())
        };
        let wrong = with("randrw", "8k/50:32k/50,").unwrap_err();
        assert!(wrong.contains("bsrange: beside the bssplit"), "{wrong}");
        assert_eq!(with("randread", "8k/50:32k/50,"), Ok(()));
        assert_eq!(with("randrw", "8k/50:32k/50"), Ok(()));
        // A split of the writes is none of a job that only reads, which draws all sizes of its range.
        let text = "[a]\nioengine=null\nsize=1m\nbsrange=4k-16k\nrw=randread\nbssplit=,8k/100\n";
        let prepared = planned(text).expect("a plan");
        let job = &prepared.plan.cases[0].workload.jobs[0];
        assert_eq!(job.size_draw, SizeDraw::Multiples);
    }
}
