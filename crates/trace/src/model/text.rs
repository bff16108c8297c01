//! In: a model. Out: the text of a study, with comments about where its figures come from.
//!
//! The keys are those of the language of studies, see docs/native.md.

use std::collections::BTreeMap;

use blocklab_units::SECTOR;

use super::{Compared, Model, ModelBurst, ModelJob};

/// Sizes with at least this share of the operations are kept as they are.
const OWN_ROW: f64 = 0.02;
/// Number of groups for all other sizes.
const JOINT_ROWS: usize = 4;
/// Most operations in flight of a job whose operations come at random times.
const DEPTH: u64 = 64;
/// Most bytes of the buffers of all jobs.
const BUFFERS: u64 = 256 << 20;

/// The sizes of a study, with their weights, for the number of operations of each size. Frequent sizes
/// are kept; the others are divided into groups of neighbours and replaced by the mean of their group.
/// Sizes are rounded up to sectors.
pub(super) fn few_sizes(counts: &BTreeMap<u32, u64>) -> Vec<(u64, u32)> {
    let all: u64 = counts.values().sum();
    let is_own = |count: u64| count as f64 >= OWN_ROW * all as f64 || counts.len() <= JOINT_ROWS;
    let others: u64 = counts.values().filter(|count| !is_own(**count)).sum();
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut group, mut sum) = (0_u64, 0_u64);
    for (size, count) in counts {
        if is_own(*count) {
            *rows.entry(sectors(u64::from(*size))).or_default() += count;
            continue;
        }
        (group, sum) = (group + count, sum + count * u64::from(*size));
        if group >= others.div_ceil(JOINT_ROWS as u64) {
            *rows.entry(sectors(sum / group)).or_default() += group;
            (group, sum) = (0, 0);
        }
    }
    if group > 0 {
        *rows.entry(sectors(sum / group)).or_default() += group;
    }
    // Weights are parts of 100,000: short to read, and they fit into 32 bits.
    let rows = rows.into_iter().map(|(size, count)| {
        let weight = (count as f64 / all as f64 * 1e5).round().max(1.0);
        (size, weight as u32)
    });
    rows.collect()
}

fn sectors(bytes: u64) -> u64 {
    bytes.div_ceil(SECTOR).max(1) * SECTOR
}

/// The text of the study. `name`: of the trace; `rows`: the comparison of the model with the trace.
pub fn study(model: &Model, name: &str, rows: &[Compared]) -> String {
    let mut text = format!(
        "# A load with the character of {}, made by `blocklab trace model`.\n\
         # It is not the trace: the table says how far it is from it. `blocklab run --trace` replays\n\
         # the trace itself. Jobs are phases of the trace: a run adds up their rates, also of those that\n\
         # do not go on at the same time, so look at its latencies and at its series.\n#\n",
        one_line(name)
    );
    text.push_str(&table(rows));
    text.push_str("#\n# What a study cannot say:\n");
    for sentence in &model.left_out {
        text.push_str(&format!("#   - {sentence}\n"));
    }
    text.push_str(&format!(
        "#\n# It needs a target of at least {} bytes.\n\nname = {}\ndescription = {}\nseed = 1\n",
        model.end(),
        quoted(&format!("model-of-{}", short(name))),
        quoted("A load with the character of a recorded one.")
    ));
    defaults(&mut text, model);
    text.push_str("\n[[case]]\nname = \"model\"\n");
    let depth = open_depth(model);
    for job in &model.jobs {
        job_text(&mut text, job, depth);
    }
    text
}

/// The depth of jobs with random arrivals, such that the buffers of all jobs fit into [`BUFFERS`].
fn open_depth(model: &Model) -> u64 {
    let largest = model.jobs.iter().map(ModelJob::largest).max().unwrap_or(1);
    (BUFFERS / (largest * model.jobs.len().max(1) as u64)).clamp(1, DEPTH)
}

/// Adds the settings that all jobs share: those of random jobs, and flushes.
fn defaults(text: &mut String, model: &Model) {
    text.push_str("\n[defaults]\n");
    if let Some(random) = model.jobs.iter().find(|job| !job.is_sequential) {
        let accesses: f64 = model.zones.iter().map(|zone| zone.accesses).sum();
        let pages: f64 = model.zones.iter().map(|zone| zone.pages).sum();
        if model.zones.len() > 1 && pages > 0.0 {
            let zones = model.zones.iter();
            let shares = zones.map(|zone| [zone.accesses / accesses, zone.pages / pages]);
            let shares = percentages(shares.collect());
            let pairs: Vec<String> = shares
                .iter()
                .map(|[access, space]| format!("[{access:.4}, {space:.4}]"))
                .collect();
            text.push_str(&format!(
                "# Operations that follow no other one. Zones, hottest first, from how often each page was\n\
                 # accessed: share of the accesses, share of the region, in per cent.\n\
                 pattern = \"zones\"\nzones = [{}]\n",
                pairs.join(", ")
            ));
        } else {
            text.push_str("# Operations that follow no other one.\npattern = \"random\"\n");
        }
        text.push_str(&format!(
            "align = {}                    # most operations begin at multiples of it\n\
             offset = {}\nsize = {}             # evenly spread accesses to it touch as much as the working set\n",
            model.align, random.area.offset, random.area.len
        ));
    }
    if model.fsync_every > 0 {
        text.push_str(&format!(
            "fsync_every = {}                # writes by flushes of the trace\n",
            model.fsync_every
        ));
    }
}

/// Adds a job.
fn job_text(text: &mut String, job: &ModelJob, depth: u64) {
    let total: f64 = job.rates.iter().sum();
    text.push_str(&format!("\n[[case.job]]\nname = {}\n", quoted(&job.name)));
    if job.is_sequential {
        text.push_str(&format!(
            "pattern = \"sequential\"        # operations that begin where one of the 32 before ended\n\
             offset = {}\nsize = {}\n",
            job.area.offset, job.area.len
        ));
    }
    text.push_str(&format!(
        "mix = {}\nblock_size = {}\n",
        mix(job.rates.map(|rate| rate / total)),
        sizes(job)
    ));
    let (mut start, mut length) = (job.from_s as f64, job.length_s as f64);
    match job.burst {
        None => text.push_str(&format!(
            "arrivals = \"poisson\"\nrate_iops = {}             # the mean of this phase\ndepth = {depth}\n",
            rates(job.rates)
        )),
        Some(ModelBurst {
            operations,
            every_s,
            ..
        }) => {
            // The bursts are centred in the phase: the first one comes half a distance after its
            // beginning, the last one half a distance before its end.
            start += every_s / 2.0;
            length = (length - every_s / 2.0).max(SHORTEST_S);
            text.push_str(&format!(
                "depth = {operations}                     # operations of a burst in the mean\n\
                 think_every = {operations}\nthink = \"{}ms\"               # from burst to burst in the mean\n",
                (every_s * 1000.0).round()
            ));
        }
    }
    if start > 0.0 {
        text.push_str(&format!(
            "start_delay = \"{}ms\"\n",
            (start * 1000.0).round()
        ));
    }
    text.push_str(&format!(
        "runtime = \"{}ms\"\n",
        (length * 1000.0).round().max(1.0)
    ));
}

/// Turns shares into per cent with four decimals that add up to exactly 100, as a study requires. What
/// rounding leaves over goes to the largest.
fn percentages(mut shares: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    for side in [0, 1] {
        let mut left = 100.0;
        for share in &mut shares {
            share[side] = (share[side] * 1e6).round().max(1.0) / 1e4;
            left -= share[side];
        }
        let largest = shares
            .iter_mut()
            .max_by(|one, other| one[side].total_cmp(&other[side]));
        if let Some(largest) = largest {
            largest[side] = ((largest[side] + left) * 1e4).round() / 1e4;
        }
    }
    shares
}

/// The shortest runtime that the text of a study can have, in seconds.
const SHORTEST_S: f64 = 0.001;
const NAMES: [&str; 3] = ["read", "write", "trim"];

/// The mix in whole per cent that add up to 100. A direction that occurs gets at least 1.
fn mix(shares: [f64; 3]) -> String {
    let mut percent = shares.map(|share| match share {
        0.0 => 0,
        share => ((share * 100.0).round() as u32).max(1),
    });
    let sum: u32 = percent.iter().sum();
    if let Some(largest) = percent.iter_mut().max() {
        *largest = *largest + 100 - sum;
    }
    let present: Vec<_> = NAMES
        .iter()
        .zip(percent)
        .filter(|(_, part)| *part > 0)
        .collect();
    match &present[..] {
        [(only, _)] => quoted(only),
        several => table_of(
            several
                .iter()
                .map(|(name, part)| format!("{name} = {part}")),
        ),
    }
}

/// The rates of a job.
fn rates(rates: [f64; 3]) -> String {
    by_direction(rates.map(|rate| match rate {
        0.0 => None,
        // An operation in months: a study refuses a rate of 0.
        ..1e-5 => Some(format!("{rate:.12}")),
        _ => Some(format!("{rate:.6}")),
    }))
}

/// The sizes of a job.
fn sizes(job: &ModelJob) -> String {
    let lists = job.sizes.each_ref();
    let [read, write, trim] = lists.map(|sizes| (!sizes.is_empty()).then(|| size_list(sizes)));
    // A table with trims must have reads and writes, too: the one that the job lacks repeats the other.
    let moving = read.clone().or_else(|| write.clone());
    let moving = moving.filter(|_| trim.is_some());
    by_direction([read.or_else(|| moving.clone()), write.or(moving), trim])
}

/// A value if there is a single direction, else a table; `None`: the job lacks the direction.
fn by_direction(values: [Option<String>; 3]) -> String {
    let present: Vec<(&str, String)> = NAMES
        .into_iter()
        .zip(values)
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    match &present[..] {
        [(_, only)] => only.clone(),
        several => table_of(
            several
                .iter()
                .map(|(name, value)| format!("{name} = {value}")),
        ),
    }
}

/// `4096`, or `[[4096, 70], [8192, 30]]` with the weight of each.
fn size_list(sizes: &[(u64, u32)]) -> String {
    if let [(only, _)] = sizes {
        return only.to_string();
    }
    let rows: Vec<String> = sizes
        .iter()
        .map(|(size, weight)| format!("[{size}, {weight}]"))
        .collect();
    format!("[{}]", rows.join(", "))
}

fn table_of(fields: impl Iterator<Item = String>) -> String {
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// The comparison of the model with the trace, as comments.
fn table(rows: &[Compared]) -> String {
    let mut text = format!("# {:<32} {:>12} {:>12}\n", "", "TRACE", "MODEL");
    for row in rows {
        text.push_str(&format!(
            "# {:<32} {:>12} {:>12}\n",
            row.figure,
            shown(row.trace),
            shown(row.model)
        ));
    }
    text
}

/// A figure with the decimals that its size deserves; `-` if it is unknown.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.fract() == 0.0 || value.abs() >= 1000.0 => format!("{value:.0}"),
        Some(value) if value.abs() < 1.0 => format!("{value:.3}"),
        Some(value) => format!("{value:.1}"),
    }
}

/// A name without control characters: a line break would end the comment that it is in.
fn one_line(name: &str) -> String {
    let shown = name.chars();
    shown
        .map(|char| if char.is_control() { '?' } else { char })
        .collect()
}

/// The last part of a path, without what follows its first dot.
fn short(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    let stem = base.split('.').next().unwrap_or(base);
    let kept = stem
        .chars()
        .filter(|char| char.is_ascii_alphanumeric() || "-_".contains(*char));
    kept.collect()
}

/// A string of TOML. `text` must have neither quotes nor control characters.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_sizes_are_taken_together() {
        let mut counts = BTreeMap::from([(4096, 900), (65_536, 90)]);
        counts.extend((1..=10).map(|step| (100_000 + step * 512, 1)));
        let rows = few_sizes(&counts);
        assert!(rows.len() <= 6, "{rows:?}");
        assert_eq!(rows[0], (4096, 90_000));
        let weights: u32 = rows.iter().map(|(_, weight)| weight).sum();
        assert!((99_990..=100_010).contains(&weights), "{rows:?}");
        assert!(rows.iter().all(|(size, _)| size % 512 == 0));
    }

    /// The story: the only write in a month had a rate of 0.000000, and the model could not be run.
    #[test]
    fn a_rare_direction_has_a_rate() {
        assert_eq!(
            rates([0.001, 3.9e-7, 0.0]),
            "{ read = 0.001000, write = 0.000000390000 }"
        );
    }

    /// The story: the model of reads and trims could not be run, as its sizes lacked those of writes.
    #[test]
    fn sizes_of_trims_come_with_those_of_reads_and_writes() {
        let check = |directions: [u64; 3], expected: &str| {
            let job = ModelJob {
                name: "1-random".to_owned(),
                from_s: 0,
                length_s: 1,
                is_sequential: false,
                burst: None,
                rates: [1.0; 3],
                sizes: directions.map(|size| {
                    if size > 0 {
                        vec![(size, 1)]
                    } else {
                        Vec::new()
                    }
                }),
                bytes: 0,
                area: blocklab_workload::Extent { offset: 0, len: 0 },
            };
            assert_eq!(sizes(&job), expected);
        };
        check([512, 0, 0], "512");
        check([0, 0, 512], "512");
        check([512, 1024, 0], "{ read = 512, write = 1024 }");
        check([512, 0, 1024], "{ read = 512, write = 512, trim = 1024 }");
        check([0, 512, 1024], "{ read = 512, write = 512, trim = 1024 }");
    }

    #[test]
    fn shares_are_a_hundred_together() {
        assert_eq!(mix([0.001, 0.999, 0.0]), "{ read = 1, write = 99 }");
        assert_eq!(mix([0.0, 1.0, 0.0]), "\"write\"");
        let shares = percentages(vec![[1.0 / 3.0; 2]; 3]);
        let sum: f64 = shares.iter().map(|share| share[0]).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{shares:?}");
    }
}
