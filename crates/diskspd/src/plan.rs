//! From a profile to a plan: each pair of thread and target is a job of one thread.

mod notes;
mod pool;

use std::sync::Arc;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, BlockSizes, Case, Content, Durability, Engine, Flush, IoPriority, Job, Mix, Pace,
    Pattern, Plan, Priority, Rate, Region, Runs, Spread, Stop, Think, UringOptions,
};

use super::distribution;
use super::paths::Mapping;
use super::spec::{Buffers, Cache, Profile, Target, Throughput, TimeSpan};
use blocklab_syntax::Mistake;

/// What the plan depends on and the profile does not hold; the caller finds it out.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Paths that replace those of Windows.
    pub mappings: Vec<Mapping>,
    /// The size of files that are made, in place of that of `-c`.
    pub size: Option<Bytes>,
    /// What the files hold that `-Z` takes its bytes from, by their names.
    pub sources: Vec<(String, Arc<[u8]>)>,
    /// Paths and sizes of the targets that exist.
    pub sizes: Vec<(String, Bytes)>,
    /// Numbers of this machine's processors; none: not known.
    pub processors: Vec<u32>,
}

/// A profile as a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepared {
    /// What is run: a case for each time span.
    pub plan: Plan,
    /// What is done differently.
    pub notes: Vec<Note>,
    /// By time span, which jobs a row of the results sums up.
    pub spans: Vec<Span>,
    /// Files that are to be made: path on this machine, bytes.
    pub files: Vec<(String, Bytes)>,
    /// Paths on this machine that must exist.
    pub existing: Vec<String>,
}

/// The results of a time span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The case.
    pub case: String,
    /// Threads as DiskSpd counts them.
    pub threads: u32,
    /// Pairs of thread and target.
    pub pairs: Vec<Pair>,
}

/// A thread on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// Index of the target in its time span.
    pub target: usize,
    /// Path of the target on this machine.
    pub path: String,
    /// Bytes of the file that was to be made; 0: none.
    pub file_size: u64,
    /// The jobs whose results are its results.
    pub jobs: Vec<String>,
}

/// What is run for a profile.
///
/// # Errors
/// Paths of Windows that no mapping covers, and distributions without a size.
pub fn prepare(profile: &Profile, inputs: &Inputs) -> Result<Prepared, Mistake> {
    let mut planner = Planner {
        inputs,
        prepared: Prepared {
            plan: Plan::once("diskspd", "A profile of DiskSpd.", Vec::new()),
            ..Prepared::default()
        },
    };
    for (element, why) in &profile.ignored {
        planner.note(NoteLevel::Ignored, element, *why);
    }
    for (index, span) in profile.timespans.iter().enumerate() {
        let case = planner.case(span, index)?;
        planner.prepared.plan.cases.push(case);
    }
    Ok(planner.prepared)
}

struct Planner<'a> {
    inputs: &'a Inputs,
    prepared: Prepared,
}

/// A thread on a target with the jobs that it does there.
type Paired = (Pair, Vec<Job>);

impl Planner<'_> {
    /// The case of a time span, with the jobs of its targets or of its common threads.
    fn case(&mut self, span: &TimeSpan, index: usize) -> Result<Case, Mistake> {
        self.check_processors(span)?;
        let name = format!("timespan-{}", index + 1);
        let mut paths = Vec::new();
        for target in &span.targets {
            paths.push(self.add_path(target)?);
            self.note_differences(span, target);
        }
        let mut paired = match span.request_count {
            0 => self.by_target(span, &paths)?,
            _ => self.pooled(span, &paths)?,
        };
        let jobs = paired
            .iter_mut()
            .flat_map(|(_, jobs)| std::mem::take(jobs))
            .collect();
        let mut pairs: Vec<Pair> = paired.into_iter().map(|(pair, _)| pair).collect();
        // Jobs are planned target by target, but DiskSpd's tables list them thread by thread.
        pairs.sort_by_key(|pair| (pair.thread, pair.target));
        let threads = match span.thread_count {
            0 => span.targets.iter().map(|target| target.threads).sum(),
            all => all,
        };
        self.prepared.spans.push(Span {
            case: name.clone(),
            threads,
            pairs,
        });
        let seed = span.seed.unwrap_or(0).into();
        Ok(Case::new(name, seed, jobs))
    }

    fn check_processors(&self, span: &TimeSpan) -> Result<(), Mistake> {
        let there = &self.inputs.processors;
        let mut requested = span.affinity.iter().map(|(_, cpu)| cpu);
        let missing = requested.find(|cpu| !there.contains(cpu));
        let (Some(cpu), Some(last)) = (missing, there.iter().max()) else {
            return Ok(());
        };
        let wrong = format!("there is no processor {cpu} here; the last one is {last}");
        Err(Mistake::new("-a", wrong))
    }

    /// The path of a target on this machine. It is added to the files that must be created, or that must
    /// exist.
    fn add_path(&mut self, target: &Target) -> Result<String, Mistake> {
        let path = super::paths::local_name(&target.path, &self.inputs.mappings)?;
        let files = &mut self.prepared.files;
        let made = files.iter_mut().find(|(made, _)| *made == path);
        match (target.file_size, made) {
            // A target before this one, often of an earlier time span, has the file made.
            (0, Some(_)) => {}
            (0, None) => self.prepared.existing.push(path.clone()),
            (bytes, made) => {
                let bytes = self.inputs.size.unwrap_or(Bytes(bytes));
                match made {
                    Some((_, size)) => *size = bytes.max(*size),
                    None => files.push((path.clone(), bytes)),
                }
            }
        }
        Ok(path)
    }

    /// The pairs of a time span in which each thread works on one target, or all common threads on
    /// every one.
    fn by_target(&self, span: &TimeSpan, paths: &[String]) -> Result<Vec<Paired>, Mistake> {
        let mut paired = Vec::new();
        let mut first = 0;
        for (index, path) in paths.iter().enumerate() {
            let target = &span.targets[index];
            let threads = match span.thread_count {
                0 => target.threads,
                all => all,
            };
            for number in 0..threads {
                let thread = first + number;
                paired.push(self.pair(span, target, path, index, thread, number)?);
            }
            // Threads of its own are numbered on; common ones work on every target.
            first += if span.thread_count == 0 { threads } else { 0 };
        }
        Ok(paired)
    }

    /// The pair of a thread and a target. `thread` is the thread's number among all, `number` that among
    /// those of the target; `index` is the target's.
    fn pair(
        &self,
        span: &TimeSpan,
        target: &Target,
        path: &str,
        index: usize,
        thread: u32,
        number: u32,
    ) -> Result<Paired, Mistake> {
        let name = format!("thread{thread}-target{index}");
        let job = Job {
            targets: vec![path.to_owned()],
            region: self.region(target, number),
            pattern: self.pattern(target)?,
            pin: pin(span, thread, &self.inputs.processors),
            fill: self.fill(span, target)?,
            ..load(span, target, &name)
        };
        let jobs = if target.parallel && target.requests > 1 {
            parallel_jobs(&job)
        } else {
            vec![job]
        };
        let pair = Pair {
            thread,
            target: index,
            path: path.to_owned(),
            file_size: self.size_to_make(target).unwrap_or(0),
            jobs: jobs.iter().map(|job| job.name.clone()).collect(),
        };
        Ok((pair, jobs))
    }

    /// The bytes that writes carry, where they are neither random nor zeros.
    fn fill(&self, span: &TimeSpan, target: &Target) -> Result<Option<Arc<[u8]>>, Mistake> {
        if target.write_ratio == 0 {
            return Ok(None);
        }
        match &target.buffers {
            Buffers::Pattern if !span.random_write_data => Ok(Some((0..=255).collect())),
            Buffers::Source {
                file: Some(file), ..
            } => {
                let mut known = self.inputs.sources.iter();
                let bytes = known.find(|(name, bytes)| name == file && !bytes.is_empty());
                let (_, bytes) = bytes.ok_or_else(|| {
                    Mistake::new("-Z", format!("{file} cannot be read, or is empty"))
                })?;
                Ok(Some(Arc::clone(bytes)))
            }
            _ => Ok(None),
        }
    }

    /// What a thread works on; `number` is its own among those of the target.
    fn region(&self, target: &Target, number: u32) -> Region {
        let stride = target.thread_stride.saturating_mul(number.into());
        let offset = target.base.saturating_add(stride);
        let end = self.end(target);
        // Whether its threads take the next step of one sequence.
        let is_shared = target.interlocked && target.random_ratio == 0;
        Region {
            offset: Bytes(offset),
            size: end.map(|end| Bytes(end.saturating_sub(offset))),
            spread: if is_shared {
                Spread::Shared
            } else {
                Spread::Same
            },
        }
    }

    /// The size of the file that is made.
    fn size_to_make(&self, target: &Target) -> Option<u64> {
        let bytes = Some(target.file_size).filter(|bytes| *bytes > 0)?;
        Some(self.inputs.size.map_or(bytes, |size| size.0))
    }

    /// Where what is used ends, as far as the profile sets it: a limit beyond the end is none.
    fn end(&self, target: &Target) -> Option<u64> {
        let size = self
            .size_to_make(target)
            .or_else(|| self.known_size(target));
        match target.max_file_size {
            // A target that exists is used to its end, of any size.
            0 => self.size_to_make(target),
            limit => Some(size.map_or(limit, |size| size.min(limit))),
        }
    }

    /// The size of a target that exists, or that is made for a target before it.
    fn known_size(&self, target: &Target) -> Option<u64> {
        let path = super::paths::local_name(&target.path, &self.inputs.mappings).ok()?;
        let mut known = self.inputs.sizes.iter().chain(&self.prepared.files);
        known
            .find(|(name, _)| *name == path)
            .map(|(_, size)| size.0)
    }

    fn pattern(&self, target: &Target) -> Result<Pattern, Mistake> {
        if let Some(distribution) = &target.distribution {
            let end = self.end(target).or_else(|| self.known_size(target));
            let len = end.map(|end| end.saturating_sub(target.base));
            return distribution::zones(distribution, len).map(Pattern::Zones);
        }
        let stride = target.step();
        Ok(match target.random_ratio {
            0 if stride == target.block => Pattern::Sequential,
            0 => Pattern::Strided {
                stride: Bytes(stride),
            },
            _ => Pattern::RANDOM,
        })
    }
}

/// With `-rs`, the operations that are not random follow the one before, in the same direction.
fn runs(target: &Target) -> Option<Runs> {
    let mixed = (1..100).contains(&target.random_ratio);
    mixed.then(|| Runs {
        follow_percent: 100 - target.random_ratio as u8,
        step: target.align.map(Bytes),
        one_way: true,
        ..Runs::default()
    })
}

/// As large a buffer is kept in memory by each thread, and in each write a part of it.
const LARGEST_WINDOW: u64 = 16 << 20;

/// The buffer out of which writes are taken, where that can be distinguished from random bytes of which no
/// two blocks are equal.
pub(super) fn window(target: &Target) -> Option<Bytes> {
    match &target.buffers {
        Buffers::Source { size, file: None } if *size <= LARGEST_WINDOW => Some(Bytes(*size)),
        Buffers::Source {
            size,
            file: Some(_),
        } => Some(Bytes(*size).min(Bytes::GIB)),
        _ => None,
    }
}

/// Random offsets that are multiples of something else than the block.
fn alignment(target: &Target) -> Option<[Bytes; 3]> {
    let align = target.align.filter(|align| *align != target.block)?;
    (target.random_ratio > 0).then_some([Bytes(align); 3])
}

/// Very low (1) and low (2) are the last of their classes; normal (3) changes nothing.
fn priority(target: &Target) -> Priority {
    let class = match target.priority {
        1 => Some(IDLE),
        2 => Some(BEST_EFFORT),
        _ => None,
    };
    let io = class.map(|class| IoPriority { class, level: 7 });
    Priority { nice: 0, io }
}

/// Classes of [`IoPriority`].
const BEST_EFFORT: u8 = 2;
const IDLE: u8 = 3;

/// The processor of a thread, from those that are listed or from all.
fn pin(span: &TimeSpan, thread: u32, all: &[u32]) -> Vec<u32> {
    let listed: Vec<u32> = span.affinity.iter().map(|(_, cpu)| *cpu).collect();
    let among = if listed.is_empty() && span.round_robin {
        all
    } else {
        &listed[..]
    };
    let own = among.get(thread as usize % among.len().max(1));
    own.copied().into_iter().collect()
}

/// Under `-p`, the jobs that together do what `job` does: one for each operation in flight, which
/// passes the same offsets as the others and has an even part of the rate and of each burst.
fn parallel_jobs(job: &Job) -> Vec<Job> {
    // No more operations can be in flight than a burst has.
    let count = job
        .think
        .map_or(job.depth, |think| job.depth.min(think.every));
    let of_rate = |rate: f64| rate / f64::from(count);
    let lane = |number: u32| Job {
        name: format!("{}-lane{number}", job.name),
        engine: match job.engine {
            Engine::Mmap => Engine::Mmap,
            _ => Engine::Psync,
        },
        depth: 1,
        pace: match job.pace {
            Pace::Capped(Rate::Iops(iops)) => Pace::Capped(Rate::Iops(of_rate(iops))),
            Pace::Capped(Rate::Bytes(bytes)) => Pace::Capped(Rate::Bytes(of_rate(bytes))),
            other => other,
        },
        think: job.think.map(|think| Think {
            every: think.every / count + u32::from(number < think.every % count),
            ..think
        }),
        ..job.clone()
    };
    (0..count).map(lane).collect()
}

/// What does not depend on the thread.
fn load(span: &TimeSpan, target: &Target, name: &str) -> Job {
    let write = target.write_ratio as u8;
    let through = target.write_through;
    let flushes = target.mapped && (target.map_flush.is_some() || through);
    Job {
        engine: match (target.mapped, target.requests) {
            (true, _) => Engine::Mmap,
            (false, 1) => Engine::Psync,
            (false, _) => Engine::IoUring(UringOptions::default()),
        },
        access: match target.cache {
            Cache::Cached => Access::Buffered,
            Cache::NotLocal | Cache::None => Access::DirectIfPossible,
        },
        durability: if through && !target.mapped {
            Durability::Dsync
        } else {
            Durability::None
        },
        depth: target.requests,
        mix: Mix::reads(100 - write),
        sizes: BlockSizes::fixed(Bytes(target.block)),
        content: match (&target.buffers, window(target)) {
            (Buffers::Zero, _) => Content::Zero,
            // Only the common buffers of all operations are made anew.
            (Buffers::Pattern, _) if span.random_write_data => Content::Fresh,
            (_, Some(size)) if write > 0 => Content::Window { size },
            _ => Content::Random,
        },
        runs: runs(target),
        pace: match target.throughput {
            None => Pace::Closed,
            Some(Throughput::BytesPerMs(bytes)) => {
                Pace::Capped(Rate::Bytes(f64::from(bytes) * 1e3))
            }
            Some(Throughput::Iops(iops)) => Pace::Capped(Rate::Iops(iops.into())),
        },
        think: (target.burst > 0).then(|| Think {
            pause: Nanos::from_millis(target.think_ms.into()),
            every: target.burst,
        }),
        stop: Stop::after(Nanos::from_secs(span.duration.into())),
        ramp: Nanos::from_secs(span.warmup.into()),
        cool_down: Nanos::from_secs(span.cooldown.into()),
        align: alignment(target),
        priority: priority(target),
        flush: Flush {
            fsync_every: u32::from(flushes),
            ..Flush::default()
        },
        ..Job::new(name)
    }
}
