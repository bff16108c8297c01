//! In: a trace, which is read twice. Out: the jobs of a study with similar statistics, as far as a study
//! can describe them: when they run, how fast, and with which directions, sizes and offsets.
//!
//! ```text
//!   first pass    Survey   character, operations of each second ─▶ phases, bursts
//!   second pass   Parts    phase × (steady | bursts) × (random | sequential): directions, sizes
//!                          random: heat of pages ─▶ zones     sequential: pages touched ─▶ its area
//!                  └─▶ Model ─▶ study(): TOML with the origin of each figure
//! ```

mod compare;
mod heat;
mod phases;
mod text;

use std::collections::BTreeMap;

use blocklab_units::count;
use blocklab_workload::{Direction, Extent};

use crate::character::{Character, Characterizer, PAGE, Space, Streams, page_key};
use crate::{Operation, SECOND, Source, TraceError};

pub use compare::{Compared, compared};
use heat::{Heat, Zone};
use phases::Phase;
pub use text::study;

/// Longest trace in seconds. Times beyond it usually come from a wrong column or unit.
const LONGEST_S: u64 = 400 * 86_400;
/// If random or sequential operations have at most this share of the operations of both, they are added
/// to the others instead of getting a job of their own.
const MIN_SHARE: f64 = 0.1;
/// Most bytes of an operation in a study. A longer trim is several of them.
const LONGEST: u32 = 1 << 30;
/// The region of random jobs holds at least this many of their largest operations. With one page that is
/// hit all the time, an operation of the largest size must still fit, and among few places many would
/// begin by chance where another one ended: here, about 3 in 100.
const MIN_PLACES: u64 = 32;
/// Most operations of a burst, because each needs a buffer.
const MAX_BURST: f64 = 1024.0;

/// The result of the first pass.
pub struct Survey {
    /// The statistics of the trace.
    pub character: Character,
    phases: Vec<Phase>,
    /// Number of operations in each second.
    seconds: Vec<u32>,
}

/// Operations that come together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ModelBurst {
    operations: u64,
    /// From the beginning of one burst to that of the next.
    every_s: f64,
    /// Whether the trace has larger ones, which are divided into several.
    is_divided: bool,
}

impl ModelBurst {
    /// The bursts of a phase of this length with `count` operations in `bursts` bursts.
    fn new(count: u64, bursts: u32, length_s: f64) -> Self {
        let each = (count as f64 / f64::from(bursts)).round().max(1.0);
        let operations = each.min(MAX_BURST);
        Self {
            operations: operations as u64,
            // Smaller bursts come more often, so that the rate stays.
            every_s: length_s / f64::from(bursts) * (operations / each),
            is_divided: operations < each,
        }
    }
}

/// A job of the study.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelJob {
    name: String,
    /// When it begins.
    from_s: u64,
    /// How long it lasts.
    length_s: u64,
    is_sequential: bool,
    /// `None`: operations come at random times.
    burst: Option<ModelBurst>,
    /// Reads, writes and trims a second.
    rates: [f64; 3],
    /// Sizes of reads, writes and trims in bytes, each with its weight.
    sizes: [Vec<(u64, u32)>; 3],
    /// Bytes of the trace's operations in it.
    bytes: u64,
    /// Its region of the volume.
    area: Extent,
}

/// A load with statistics like those of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    jobs: Vec<ModelJob>,
    /// The zones of all random jobs.
    zones: Vec<Zone>,
    /// Random offsets are multiples of this.
    align: u64,
    /// Number of writes between two flushes; 0: no flushes.
    fsync_every: u64,
    /// What a study cannot describe, one sentence each.
    pub left_out: Vec<String>,
}

impl Survey {
    /// The first pass over a trace.
    ///
    /// # Errors
    /// Those of the source, and when the trace is longer than 400 days.
    pub fn take(source: &mut dyn Source) -> Result<Self, TraceError> {
        let with_reuse = false;
        let mut all = Characterizer::new(with_reuse);
        let mut seconds: Vec<u32> = Vec::new();
        while let Some(operation) = source.next()? {
            let second = operation.at.0 / SECOND;
            if second > LONGEST_S {
                return Err(TraceError::Ask(format!(
                    "an operation comes {} days after the first one, and a study of so long cannot \
                     be run: take a part of the trace with --from and --until",
                    second / 86_400
                )));
            }
            seconds.resize(seconds.len().max(second as usize + 1), 0);
            seconds[second as usize] += 1;
            all.add(&operation);
        }
        Ok(Self {
            character: all.end(source.targets(), source.remarks()),
            phases: phases::phases(&seconds),
            seconds,
        })
    }

    /// The second pass over the same trace.
    ///
    /// # Errors
    /// Those of the source.
    pub fn model(&self, source: &mut dyn Source) -> Result<Model, TraceError> {
        let mut parts = Parts::new(self.phases.len());
        let mut phase = 0;
        while let Some(operation) = source.next()? {
            let second = (operation.at.0 / SECOND) as usize;
            while phase + 1 < self.phases.len() && second >= self.phases[phase].until {
                phase += 1;
            }
            let bursts = self.phases.get(phase).and_then(|phase| phase.bursts);
            let count = self.seconds.get(second).copied().unwrap_or(0);
            let is_burst = bursts.is_some_and(|bursts| count > bursts.above);
            parts.add(&operation, phase, is_burst);
        }
        Ok(parts.model(self))
    }
}

/// The operations of one part of a phase.
#[derive(Debug, Clone, Default)]
struct Part {
    /// For reads, writes and trims: the number of operations of each size.
    sizes: [BTreeMap<u32, u64>; 3],
}

impl Part {
    /// Number of operations of a direction, by its number.
    fn count(&self, direction: usize) -> u64 {
        self.sizes[direction].values().sum()
    }

    /// Number of all operations.
    fn all(&self) -> u64 {
        (0..3).map(|direction| self.count(direction)).sum()
    }

    /// Bytes of all operations.
    fn bytes(&self) -> u64 {
        let sizes = self.sizes.iter().flatten();
        sizes.map(|(size, count)| u64::from(*size) * count).sum()
    }

    /// Moves all operations of another part into this one.
    fn join(&mut self, other: &mut Self) {
        for (sizes, others) in self.sizes.iter_mut().zip(&mut other.sizes) {
            for (size, count) in std::mem::take(others) {
                *sizes.entry(size).or_default() += count;
            }
        }
    }
}

/// The counts of the second pass.
#[derive(Default)]
struct Parts {
    /// Indexed by phase, then by steady or burst, then by random or sequential.
    parts: Vec<[[Part; 2]; 2]>,
    streams: Streams,
    /// Accesses to pages by random operations.
    heat: Heat,
    /// Pages touched by sequential operations.
    sequential: Space,
    /// Number of flushes.
    syncs: u64,
}

impl Parts {
    fn new(phases: usize) -> Self {
        Self {
            parts: vec![Default::default(); phases],
            ..Self::default()
        }
    }

    /// Adds an operation to the job of its phase: sequential or random, and within a burst or not.
    fn add(&mut self, operation: &Operation, phase: usize, is_burst: bool) {
        if operation.direction == Direction::Sync {
            self.syncs += 1;
            return;
        }
        let is_sequential = self.streams.add(operation);
        let part = &mut self.parts[phase][usize::from(is_burst)][usize::from(is_sequential)];
        let sizes = &mut part.sizes[operation.direction as usize];
        for (len, count) in [
            (LONGEST, operation.len / LONGEST),
            (operation.len % LONGEST, 1),
        ] {
            if len > 0 && count > 0 {
                *sizes.entry(len).or_default() += u64::from(count);
            }
        }
        if operation.direction == Direction::Trim {
            return;
        }
        if is_sequential {
            return self.sequential.add(operation);
        }
        let pages = operation.offset / PAGE..=(operation.end() - 1) / PAGE;
        for page in pages {
            self.heat.add(page_key(operation.target, page));
        }
    }

    /// The model of all operations. A random or sequential part that is too small for a job of its
    /// own joins the other one.
    fn model(mut self, survey: &Survey) -> Model {
        for part in self.parts.iter_mut().flatten() {
            let [random, sequential] = part;
            let all = random.all() + sequential.all();
            let too_few = (all as f64 * MIN_SHARE) as u64;
            if sequential.all() <= too_few {
                random.join(sequential);
            } else if random.all() <= too_few {
                sequential.join(random);
            }
        }
        let jobs = jobs(&self.parts, &survey.phases);
        let character = &survey.character;
        let parts = self.parts.iter().flatten().flatten();
        let writes: u64 = parts
            .map(|part| part.count(Direction::Write as usize))
            .sum();
        let mut model = Model {
            jobs,
            zones: Vec::new(),
            align: match character.unaligned_percent {
                Some(most) if most > 50.0 => 512,
                _ => PAGE,
            },
            fsync_every: match self.syncs {
                0 => 0,
                syncs => (writes as f64 / syncs as f64).round().max(1.0) as u64,
            },
            left_out: Vec::new(),
        };
        model.place(&self, character.end_bytes.div_ceil(PAGE) * PAGE);
        model.left_out = left_out(character, self.syncs > 0 && writes == 0);
        let mut bursts = model.jobs.iter().filter_map(|job| job.burst);
        if bursts.any(|burst| burst.is_divided) {
            model.left_out.push(format!(
                "bursts of more than {} operations: smaller ones come more often",
                count(MAX_BURST)
            ));
        }
        model
    }
}

/// A job for each part that has operations.
fn jobs(parts: &[[[Part; 2]; 2]], phases: &[Phase]) -> Vec<ModelJob> {
    let mut jobs = Vec::new();
    for (number, (phase, kinds)) in phases.iter().zip(parts).enumerate() {
        let length = (phase.until - phase.from) as f64;
        for (is_burst, patterns) in [false, true].into_iter().zip(kinds) {
            for (is_sequential, part) in [false, true].into_iter().zip(patterns) {
                let count = part.all();
                if count == 0 {
                    continue;
                }
                let runs = phase.bursts.map_or(1, |bursts| bursts.runs);
                let burst = is_burst.then(|| ModelBurst::new(count, runs, length));
                let pattern = if is_sequential {
                    "sequential"
                } else {
                    "random"
                };
                let bursts = if is_burst { "-bursts" } else { "" };
                jobs.push(ModelJob {
                    name: format!("{}-{pattern}{bursts}", number + 1),
                    from_s: phase.from as u64,
                    length_s: (phase.until - phase.from) as u64,
                    is_sequential,
                    burst,
                    rates: [0, 1, 2].map(|direction| part.count(direction) as f64 / length),
                    sizes: [0, 1, 2].map(|direction| text::few_sizes(&part.sizes[direction])),
                    bytes: part.bytes(),
                    // `Model::place` sets it.
                    area: Extent { offset: 0, len: 0 },
                });
            }
        }
    }
    jobs
}

impl Model {
    /// Sets the areas: one for each sequential job, one after the other, and behind them one for all
    /// random jobs together. That one has the pages of their zones, which grow into what is left up to
    /// `end` and no further, and at least room for [`MIN_PLACES`] operations.
    fn place(&mut self, parts: &Parts, end: u64) {
        let sequential = self.jobs.iter().filter(|job| job.is_sequential);
        let moved: u64 = sequential.map(|job| job.bytes).sum();
        let touched = (parts.sequential.touched * PAGE).min(end);
        let mut next = 0;
        for job in self.jobs.iter_mut().filter(|job| job.is_sequential) {
            let share = touched as f64 * (job.bytes as f64 / moved.max(1) as f64);
            let block = job.largest();
            // At least two blocks: a sequential job must have a next one to go on to.
            let len = (share as u64).max(2 * block).div_ceil(PAGE) * PAGE;
            job.area = Extent { offset: next, len };
            next += len;
        }
        let left = end.saturating_sub(next) as f64 / PAGE as f64;
        self.zones = parts.heat.zones(left);
        let pages: f64 = self.zones.iter().map(|zone| zone.pages).sum();
        let random = self.jobs.iter().filter(|job| !job.is_sequential);
        let largest = random.map(ModelJob::largest).max().unwrap_or(PAGE);
        let room = (pages.ceil() as u64 * PAGE).max(MIN_PLACES * largest);
        for job in self.jobs.iter_mut().filter(|job| !job.is_sequential) {
            job.area = Extent {
                offset: next,
                len: room,
            };
        }
    }

    /// The size in bytes that a volume must have.
    pub fn end(&self) -> u64 {
        let ends = self.jobs.iter().map(|job| job.area.offset + job.area.len);
        ends.max().unwrap_or(0)
    }
}

impl ModelJob {
    /// The largest size of an operation in bytes.
    fn largest(&self) -> u64 {
        let sizes = self.sizes.iter().flatten().map(|(size, _)| *size);
        sizes.max().unwrap_or(PAGE)
    }
}

/// What a study cannot describe of a trace. `lone_syncs`: it has flushes and no writes.
fn left_out(character: &Character, lone_syncs: bool) -> Vec<String> {
    let mut left = vec![
        "the moments of the operations: in a phase they come at random, in bursts evenly spaced and \
         all at once"
            .to_owned(),
        "which operation follows which: a place is drawn anew each time, so hot pages are hot all the \
         time, not in turns"
            .to_owned(),
    ];
    let unaligned = character.unaligned_percent.unwrap_or(0.0);
    if unaligned > 0.5 && unaligned < 99.5 {
        left.push(format!(
            "{unaligned:.0} % of the operations do not keep to blocks of 4 KiB: a study has one alignment \
             for all"
        ));
    }
    let sizes = character.directions.iter().filter_map(|mix| mix.sizes);
    if sizes.map(|sizes| sizes.max_bytes).max() > Some(LONGEST.into()) {
        left.push("trims of more than 1 GiB: each is several".to_owned());
    }
    if character.in_flight.is_some() {
        left.push("think times: operations do not wait for earlier ones".to_owned());
    }
    if character.devices.len() > 1 {
        left.push(format!(
            "the {} devices: all is one",
            character.devices.len()
        ));
    }
    if lone_syncs {
        left.push("flushes: a study counts them by writes, and there are none".to_owned());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Listed, at};

    /// The story: the model of a trace with a trim of 2 GiB could not be played, because a block of a study
    /// has at most 1 GiB.
    #[test]
    fn a_trim_that_is_too_long_is_several() {
        let trim = Operation {
            direction: Direction::Trim,
            len: 5 << 29,
            ..at(0)
        };
        let survey = Survey::take(&mut Listed::new(vec![trim])).expect("a list");
        let model = survey.model(&mut Listed::new(vec![trim])).expect("a list");
        let [_, _, trims] = &model.jobs[0].sizes;
        assert_eq!(trims[..], [(1 << 29, 33_333), (1 << 30, 66_667)]);
        assert_eq!(model.jobs[0].rates, [0.0, 0.0, 3.0]);
        assert!(model.left_out.iter().any(|left| left.contains("1 GiB")));
    }

    /// The story: a burst of 3,000 operations became one of 1,024, and the model of a trace of bursts had a
    /// third of its operations.
    #[test]
    fn large_bursts_are_divided_and_keep_their_rate() {
        let bursts = (0..10_u64).flat_map(|burst| {
            let base = burst * 10_000_000;
            let quiet = (1..10).map(move |second| at(base + second * 1_000_000));
            (0..3000).map(move |us| at(base + us)).chain(quiet)
        });
        let trace: Vec<Operation> = bursts.collect();
        let survey = Survey::take(&mut Listed::new(trace.clone())).expect("a list");
        let model = survey.model(&mut Listed::new(trace)).expect("a list");
        let rates = model.jobs.iter().map(|job| match job.burst {
            Some(burst) => {
                assert_eq!(burst.operations, 1024);
                (job.length_s, 1024.0 / burst.every_s)
            }
            None => (job.length_s, job.rates.iter().sum()),
        });
        let modelled: f64 = rates.map(|(length_s, rate)| length_s as f64 * rate).sum();
        assert!((modelled - 30_090.0).abs() < 1.0, "{modelled}");
        let told = model.left_out.last().expect("some");
        assert!(told.contains("bursts of more than 1,024"), "{told}");
    }

    /// The story: the room for random operations was 16 of the largest of all jobs, so one sequential
    /// read of 1 MiB spread the hits of one hot page over 16 MiB.
    #[test]
    fn the_random_region_is_not_made_larger_by_sequential_operations() {
        const MIB: u64 = 1 << 20;
        let reads = (0..100_u64).flat_map(|count| {
            let long = Operation {
                offset: 500 * MIB + PAGE + count * MIB,
                len: MIB as u32,
                ..at(count * 10_000 + 1)
            };
            let hot = Operation {
                offset: 500 * MIB,
                len: 4096,
                ..at(count * 10_000 + 5)
            };
            [long, hot]
        });
        // The first operation of a sequence follows none, so it is a read of the hot page.
        let first = Operation {
            offset: 500 * MIB,
            ..at(0)
        };
        let trace: Vec<Operation> = std::iter::once(first).chain(reads).collect();
        let survey = Survey::take(&mut Listed::new(trace.clone())).expect("a list");
        let model = survey.model(&mut Listed::new(trace)).expect("a list");
        let random: Vec<&ModelJob> = (model.jobs.iter())
            .filter(|job| !job.is_sequential)
            .collect();
        assert_eq!((model.jobs.len(), random.len()), (2, 1));
        assert_eq!(random[0].area.len, MIN_PLACES * PAGE);
        // One page has no zones, and the text explains none.
        assert!(!study(&model, "one", &[]).contains("hottest first"));
    }
}
