//! Runs to cases: each workload on each storage definition is a job, and the jobs of one storage
//! definition share its queue and its threads.

use std::collections::BTreeSet;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, BlockSizes, Case, Content, Durability, EndsOthers, ErrorPolicy, Flush, Job, Mix,
    MostErrors, Pattern, Plan, Pooled, Stop, Workload,
};

use super::ParameterFile;
use super::command::Validation;
use super::concat;
use super::defs::{General, LoopKind, OpenFlags, RunOptions, Sd, Seek, Wd, Xfersize};
use super::error::{Mistake, Subject};
use super::place::{Notes, ROUNDED, mean, place, sizes};
use super::rates::{PlannedJob, nominal, set_rate};
use super::run::{Loops, Rate, Run, Use};
use super::value::MAX_RATE;

/// What the plan depends on and the parameter files do not hold; the caller finds it out.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Bytes of each storage definition, in their order; above 0.
    pub sizes: Vec<u64>,
    /// Indices of the storage definitions that are written before the runs.
    pub format: Vec<usize>,
    /// The seed from which those of all runs are derived.
    pub seed: u64,
    /// Data validation.
    pub validation: Validation,
}

/// A run and its case.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The run. One that no definition requests, such as formatting, is described as if one did.
    pub run: Run,
    /// What each job is, in their order.
    pub planned_jobs: Vec<PlannedJob>,
}

/// Parameter files as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// A case for each run.
    pub plan: Plan,
    /// In the order of the cases.
    pub runs: Vec<Planned>,
    /// What is done differently.
    pub notes: Vec<Note>,
}

/// The run that writes files which are missing or too short.
pub(super) const FORMAT: &str = "SD_format";
/// Writes in flight while formatting.
const FORMAT_THREADS: u32 = 2;
/// Where formatting begins, in bytes: after block 0 of the usual size.
const FORMAT_BEGIN: u64 = 4096;
/// Bytes of one write while formatting, unless `formatxfersize=` is given.
const FORMAT_BLOCK: u64 = 128 << 10;
/// A smaller share in per cent is what rounding leaves of none.
const LEAST_SKEW: f64 = 1e-4;

/// Plans the runs of parameter files.
///
/// # Errors
/// Storage that holds no block, and devices without o_direct.
pub fn prepare(file: &ParameterFile, inputs: &Inputs) -> Result<Prepared, Mistake> {
    let mut planner = Planner {
        file,
        inputs,
        notes: file.notes.clone(),
    };
    let (mut runs, mut cases) = (Vec::new(), Vec::new());
    if !inputs.format.is_empty() {
        let (planned, case) = format(file, inputs);
        runs.push(planned);
        cases.push(case);
    }
    if let Some(first) = file.runs.first()
        && first.rate.is_relative()
    {
        let subject = format!("iorate=n% of rd={}", first.name);
        planner.note(
            subject,
            "no run comes before: it does one operation a second",
        );
    }
    for run in &file.runs {
        let (planned, case) = planner.case(run, &cases)?;
        runs.push(planned);
        cases.push(case);
    }
    limit_errors(file, &mut cases, &runs);
    Ok(Prepared {
        plan: Plan::once("vdbench", "Parameter files of Vdbench.", cases),
        runs,
        notes: planner.notes,
    })
}

/// Sets the limit of errors of the jobs of all runs. It counts all runs, and with `remove` each
/// storage definition by itself.
pub(super) fn limit_errors(file: &ParameterFile, cases: &mut [Case], runs: &[Planned]) {
    let requested = &file.general.data_errors;
    let all = MostErrors::new(requested.most, 0);
    // 0 is the counter of all together.
    let limits: Vec<MostErrors> = (1..)
        .zip(&file.sds)
        .map(|(counter, _)| {
            if requested.remove {
                MostErrors::new(requested.most, counter)
            } else {
                all.clone()
            }
        })
        .collect();
    for (case, planned) in cases.iter_mut().zip(runs) {
        for (job, planned_job) in case.workload.jobs.iter_mut().zip(&planned.planned_jobs) {
            if let Some(pool) = &mut job.pool {
                pool.most_errors = Some(limits[planned_job.sd].clone());
            }
            if !requested.remove {
                job.ends_others = EndsOthers::OnError;
            }
        }
    }
}

/// The run that writes files before all others.
fn format(file: &ParameterFile, inputs: &Inputs) -> (Planned, Case) {
    let block = file.general.formatxfersize.unwrap_or(FORMAT_BLOCK);
    let mut jobs = Vec::new();
    for index in &inputs.format {
        let (sd, size) = (&file.sds[*index], inputs.sizes[*index]);
        // Not even this run touches block 0.
        let begin = FORMAT_BEGIN.min(size / 2) / 512 * 512;
        let block = block.min(size - begin);
        let mut job = own_job("format", sd, Mix::WRITE, FORMAT_THREADS);
        job.sizes = BlockSizes::fixed(Bytes(block));
        job.region.offset = Bytes(begin);
        job.region.size = Some(Bytes((size - begin) / block * block));
        jobs.push((*index, job));
    }
    let uses = vec![own_use(FORMAT, block, Mix::WRITE, inputs.format.clone())];
    let run = Run {
        loops: Loops(vec![
            (LoopKind::Threads, f64::from(FORMAT_THREADS)),
            (LoopKind::Iorate, MAX_RATE),
        ]),
        ..own_run(FORMAT, FORMAT_THREADS, uses)
    };
    own_case(run, inputs.seed, jobs)
}

/// A run that no definition requests: as fast as can be, until it has done all.
pub(super) fn own_run(name: &str, threads: u32, uses: Vec<Use>) -> Run {
    Run {
        name: name.to_owned(),
        uses,
        threads: Some(threads),
        options: RunOptions {
            elapsed: None,
            ..RunOptions::default()
        },
        ..Run::default()
    }
}

/// What a run that no definition requests, such as formatting, does to storage: one sequential pass.
pub(super) fn own_use(name: &str, block: u64, mix: Mix, sds: Vec<usize>) -> Use {
    let wd = Wd {
        name: name.to_owned(),
        xfersize: Xfersize::Fixed(block),
        rdpct: f64::from(mix.read),
        seek: Seek::Eof,
        ..Wd::default()
    };
    Use { wd, sds }
}

/// A job of a run that no definition requests: once from the beginning to the end of its storage.
pub(super) fn own_job(what: &str, sd: &Sd, mix: Mix, threads: u32) -> Job {
    Job {
        mix,
        pattern: Pattern::Sequential,
        stop: Stop {
            loops: Some(1),
            ..Stop::default()
        },
        depth: threads,
        pool: Some(Pooled::new(&sd.name, threads)),
        ..storage_job(&format!("{what}/{}", sd.name), sd, sd.openflags)
    }
}

/// The case of a run that no definition requests. Each of its jobs comes with the index of its storage
/// definition.
pub(super) fn own_case(run: Run, seed: u64, jobs: Vec<(usize, Job)>) -> (Planned, Case) {
    let skew = 100.0 / jobs.len().max(1) as f64;
    let planned_jobs = jobs
        .iter()
        .map(|(sd, _)| PlannedJob {
            wd: String::new(),
            sd: *sd,
            host: 0,
            skew,
            fixed: None,
        })
        .collect();
    let jobs = jobs.into_iter().map(|(_, job)| job).collect();
    let case = Case::new(&*run.name, seed, jobs);
    (Planned { run, planned_jobs }, case)
}

struct Planner<'a> {
    file: &'a ParameterFile,
    inputs: &'a Inputs,
    notes: Vec<Note>,
}

impl Planner<'_> {
    fn note(&mut self, subject: String, text: &str) {
        Note::new(NoteLevel::Approximated, subject, text).add_to(&mut self.notes);
    }

    /// The case of a run, with a job for each workload, storage definition and host. `before`: the
    /// cases of the runs before it.
    fn case(&mut self, run: &Run, before: &[Case]) -> Result<(Planned, Case), Mistake> {
        let mut jobs = Vec::new();
        let mut planned_jobs = Vec::new();
        let skews = skews(run);
        for (workload, skew) in run.uses.iter().zip(skews) {
            if workload.wd.iorate == 0.0 && skew < LEAST_SKEW {
                self.note(
                    format!("skew of wd={}", workload.wd.name),
                    "those of the others add up to 100 and leave nothing for it",
                );
            }
            let jobs_before = jobs.len();
            let shared_threads = concat::concatenated_threads(self.file, run, workload);
            if shared_threads.is_some() {
                concat::check(self.file, self.inputs.validation.validate, workload)?;
            }
            for sd in &workload.sds {
                for host in self.file.hosts_of(&workload.wd, *sd) {
                    for job in self.jobs(run, workload, *sd)? {
                        jobs.push(job);
                        planned_jobs.push(PlannedJob {
                            wd: workload.wd.name.clone(),
                            sd: *sd,
                            host,
                            skew,
                            fixed: (workload.wd.iorate > 0.0).then_some(workload.wd.iorate),
                        });
                    }
                }
            }
            let (own, own_planned) = (&mut jobs[jobs_before..], &mut planned_jobs[jobs_before..]);
            if let Some(threads) = shared_threads {
                // Group 1 is that of controlled runs.
                let group = 2 + jobs_before as u32;
                concat::concatenate(own, own_planned, &self.inputs.sizes, threads, group);
            } else {
                let parts = own.len().max(1) as f64;
                for planned_job in own_planned {
                    planned_job.skew /= parts;
                    planned_job.fixed = planned_job.fixed.map(|rate| rate / parts);
                }
            }
        }
        if !run.bursts.is_empty() {
            let subject = format!("distribution=variable of rd={}", run.name);
            self.note(
                subject,
                "spike and variable both take turns through the rates",
            );
        }
        let mut settings: Vec<(String, String)> = run.loops.settings().collect();
        if let Rate::CurvePoint(percent) = run.rate {
            settings.push(("curve".to_owned(), format!("{percent}%")));
        }
        let seed = Workload::seed_of(self.inputs.seed, before.len() as u64);
        let mut case = Case {
            settings,
            ..Case::new(name(run, before), seed, jobs)
        };
        limit(&mut case, run, &planned_jobs, &self.inputs.sizes);
        set_rate(&mut case, run, &planned_jobs, nominal(run));
        let planned = Planned {
            run: run.clone(),
            planned_jobs,
        };
        Ok((planned, case))
    }

    /// A workload on one storage definition: one job, or one for each stream.
    fn jobs(&mut self, run: &Run, workload: &Use, sd: usize) -> Result<Vec<Job>, Mistake> {
        let (wd, size) = (&workload.wd, self.inputs.sizes[sd]);
        let definition = &self.file.sds[sd];
        // The run's flags go before the workload's, and those before the storage's.
        let own = run.options.openflags.or(wd.openflags);
        let flags = own.unwrap_or(definition.openflags);
        let is_direct = flags.direct || !definition.lun.starts_with("/dev/");
        definition.check(is_direct, "a lun in /dev needs openflags=o_direct")?;
        if flags.fsync {
            self.note(
                format!("openflags=fsync of sd={}", definition.name),
                "nothing is flushed when a run ends; o_sync or o_dsync stores every write",
            );
        }
        let threads = run.threads.unwrap_or(definition.threads);
        let mut notes = Notes::new();
        let sizes = sizes(&wd.xfersize, &mut notes);
        let placement = place(workload, definition, size, threads, &mut notes)?;
        // That of the workload is cut to a whole one where it is read, as in the original.
        if wd.rdpct.fract() != 0.0 {
            notes.push(("forrdpct", ROUNDED));
        }
        for (subject, text) in notes {
            self.note(format!("{subject} of wd={}", wd.name), text);
        }
        let read = wd.rdpct.round().clamp(0.0, 100.0) as u8;
        // Each stream has as many, as in Vdbench, which raises the threads for that.
        let depth = threads.div_ceil(placement.regions.len() as u32);
        let (ramp, runtime) = times(&run.options);
        let jobs = placement.regions.into_iter().map(|(suffix, region)| {
            let pool = format!("{}{suffix}", definition.name);
            Job {
                mix: Mix::reads(read),
                sizes: sizes.clone(),
                region,
                pattern: placement.pattern.clone(),
                runs: placement.runs,
                align: (definition.align > 0).then_some([Bytes(definition.align); 3]),
                content: content(&self.file.general, definition, run),
                stop: Stop {
                    loops: (wd.seek == Seek::Eof).then_some(1),
                    runtime,
                    ..Stop::default()
                },
                depth,
                ramp,
                pool: Some(Pooled {
                    rank: wd.priority.unwrap_or(0),
                    hits: placement.hits,
                    ..Pooled::new(&pool, depth)
                }),
                ..storage_job(&format!("{}/{pool}", wd.name), definition, flags)
            }
        });
        Ok(jobs.collect())
    }
}

/// A job on a storage definition.
pub(super) fn storage_job(name: &str, sd: &Sd, flags: OpenFlags) -> Job {
    Job {
        targets: vec![sd.lun.clone()],
        access: if flags.direct {
            Access::Direct
        } else {
            Access::Buffered
        },
        durability: match (flags.sync, flags.dsync) {
            (true, _) => Durability::Sync,
            (_, true) => Durability::Dsync,
            _ => Durability::None,
        },
        flush: Flush::default(),
        on_error: ErrorPolicy::Continue,
        ..Job::new(name)
    }
}

/// Without a warm-up the first interval is one: it enters no average.
fn times(options: &RunOptions) -> (Nanos, Option<Nanos>) {
    let seconds = Nanos::from_secs;
    let interval = options.interval;
    match (options.elapsed, options.warmup) {
        (None, warmup) => (seconds(warmup), None),
        (Some(elapsed), 0) => (seconds(interval), Some(seconds(elapsed - interval))),
        (Some(elapsed), warmup) => (seconds(warmup), Some(seconds(elapsed))),
    }
}

/// Shares of the workloads in per cent; those without one share what is left.
fn skews(run: &Run) -> Vec<f64> {
    let sharing = run.uses.iter().filter(|workload| workload.wd.iorate == 0.0);
    let skews: Vec<f64> = sharing.map(|workload| workload.wd.skew).collect();
    let open = skews.iter().filter(|skew| **skew == 0.0).count().max(1);
    let rest = (100.0 - skews.iter().sum::<f64>()).max(0.0) / open as f64;
    run.uses
        .iter()
        .map(|workload| match workload.wd.skew {
            _ if workload.wd.iorate > 0.0 => 0.0,
            0.0 => rest,
            skew => skew,
        })
        .collect()
}

/// Unique among the cases: the run, then its loops.
fn name(run: &Run, before: &[Case]) -> String {
    let name = if run.loops.0.is_empty() {
        run.name.clone()
    } else {
        format!("{} {}", run.name, run.loops.words())
    };
    let numbered = (2..).map(|number| format!("{name} #{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names
        .find(|name| before.iter().all(|case| case.name != *name))
        .unwrap_or(name)
}

/// What is written. Ratios become shares: of a ratio of 4 to 1, 75 per cent is compressible or a duplicate.
fn content(general: &General, sd: &Sd, run: &Run) -> Content {
    let compress = run.compratio.or(general.compratio).unwrap_or(1.0);
    let dedupe = sd.dedupratio.or(general.dedupratio).unwrap_or(1.0);
    match [compress, dedupe].map(|ratio| ((1.0 - 1.0 / ratio) * 100.0).round() as u8) {
        [0, 0] => Content::Random,
        [compress_percent, dedupe_percent] => Content::Shaped {
            compress_percent,
            dedupe_percent,
        },
    }
}

/// Below this, `maxdata` is no amount of bytes but a multiple of the size of the storage, as in Vdbench.
pub(super) const LEAST_MAXDATA_BYTES: f64 = 100.0;

/// `maxdata`: each job has the part of it that it does in the run.
fn limit(case: &mut Case, run: &Run, planned_jobs: &[PlannedJob], sizes: &[u64]) {
    let most = run.options.maxdata;
    let requested = [most.all, most.read, most.written];
    let Some(requested) = requested.into_iter().flatten().reduce(f64::min) else {
        return;
    };
    let used: BTreeSet<usize> = run
        .uses
        .iter()
        .flat_map(|workload| workload.sds.clone())
        .collect();
    let all: u64 = used.iter().map(|index| sizes[*index]).sum();
    let bytes = if requested < LEAST_MAXDATA_BYTES {
        requested * all as f64
    } else {
        requested
    };
    // Rates of single workloads are no known part of a maximum.
    let known = !run.rate.is_max() || planned_jobs.iter().all(|job| job.fixed.is_none());
    let jobs = &mut case.workload.jobs;
    let pairs = jobs.iter().zip(planned_jobs);
    let parts: Vec<f64> = pairs
        .map(|(job, planned_job)| {
            if known {
                planned_job.rate(nominal(run)) * mean(&job.sizes.read)
            } else {
                1.0
            }
        })
        .collect();
    let whole: f64 = parts.iter().sum();
    for (job, part) in jobs.iter_mut().zip(parts) {
        let own = (bytes * (part / whole.max(1e-9))).round() as u64;
        job.stop.bytes = Some(Bytes(own.max(1)));
    }
}

/// The built-in test of five seconds, on a file of this name.
pub fn quick_test(file: &str) -> String {
    format!(
        "* A file of 40 MiB is made; then 1 KiB, half of it reads, for five seconds.\n\
         sd=sd1,lun={file},size=40m\nwd=wd1,sd=sd1,xfersize=1k,rdpct=50\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=5,interval=1\n"
    )
}
