//! Runs to cases: each workload on each storage definition is a job, and the jobs of one storage
//! definition share its queue and its threads.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Case, Content, Durability, ErrorPolicy, Flush, Job, Mix, Plan, Pooled, Stop, Workload,
};

use super::concat;
use super::defs::{Commands, OpenFlags, Sd, Seek, Wd, Xfersize};
use super::error_limits::limit_errors;
use super::mistake::{Mistake, Place};
use super::place::{Spot, spots};
use super::prepared::{Planned, Prepared, Terms};
use super::rates::{PlannedJob, nominal, set_rate};
use super::run::{Loops, Rate, Run, Use};
use super::sizes::sizes;
use super::{General, Script};

/// The run that writes files which are missing or too short.
pub const FORMAT: &str = "SD_format";

/// What is run for a script.
///
/// # Errors
/// Storage that holds no block, devices without o_direct, streams that do not divide the threads.
pub fn prepare(script: &Script, terms: &Terms) -> Result<Prepared, Mistake> {
    let mut maker = Maker {
        script,
        terms,
        notes: script.notes.clone(),
    };
    let mut runs: Vec<Planned> = Vec::new();
    let mut cases: Vec<Case> = Vec::new();
    if !terms.format.is_empty() {
        let (planned, case) = maker.format();
        runs.push(planned);
        cases.push(case);
    }
    for run in &script.runs {
        let (planned, case) = maker.case(run, &cases)?;
        runs.push(planned);
        cases.push(case);
    }
    limit_errors(script, &mut cases, &runs);
    Ok(Prepared {
        plan: Plan::once("vdbench", "Parameter files of Vdbench.", cases),
        runs,
        notes: maker.notes,
    })
}

struct Maker<'a> {
    script: &'a Script,
    terms: &'a Terms,
    notes: Vec<Note>,
}

/// Writes in flight while formatting.
const FORMAT_THREADS: u32 = 2;
/// Where formatting begins.
const FIRST: u64 = 4096;
/// Bytes of one of them, where nothing else is asked for.
const FORMAT_BLOCK: u64 = 128 << 10;

impl Maker<'_> {
    fn note(&mut self, subject: String, text: &str) {
        let note = Note {
            level: NoteLevel::Approximated,
            subject,
            text: text.to_owned(),
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The run that writes files before all others.
    fn format(&mut self) -> (Planned, Case) {
        let block = self.script.general.formatxfersize.unwrap_or(FORMAT_BLOCK);
        let mut jobs = Vec::new();
        let mut planned_jobs = Vec::new();
        for index in &self.terms.format {
            let sd = &self.script.sds[*index];
            let size = self.terms.sizes[*index];
            // Not even this run touches block 0.
            let begin = FIRST.min(size / 2) / 512 * 512;
            let block = block.min(size - begin);
            let mut job = storage_job(&format!("format/{}", sd.name), sd, sd.openflags);
            job.mix = Mix::WRITE;
            job.pattern = blocklab_workload::Pattern::Sequential;
            job.sizes = blocklab_workload::BlockSizes::fixed(Bytes(block));
            job.region.offset = Bytes(begin);
            job.region.size = Some(Bytes((size - begin) / block * block));
            job.stop = Stop {
                loops: Some(1),
                ..Stop::default()
            };
            job.pool = Some(Pooled::new(&sd.name, FORMAT_THREADS));
            job.depth = FORMAT_THREADS;
            jobs.push(job);
            planned_jobs.push(PlannedJob {
                wd: String::new(),
                sd: *index,
                skew: 100.0 / self.terms.format.len() as f64,
                fixed: None,
            });
        }
        let run = Run {
            loops: Loops(vec![
                (super::LoopKind::Threads, f64::from(FORMAT_THREADS)),
                (super::LoopKind::Iorate, Rate::Max.number(0.0, 0.0)),
            ]),
            threads: Some(FORMAT_THREADS),
            ..own_run(FORMAT, &self.script.runs[0], self.format_uses(block))
        };
        let planned = Planned {
            run,
            case: FORMAT.to_owned(),
            planned_jobs,
        };
        let case = Case {
            name: FORMAT.to_owned(),
            settings: Vec::new(),
            workload: Workload {
                seed: self.terms.seed,
                jobs,
            },
        };
        (planned, case)
    }

    /// What formatting does, for those who report it.
    fn format_uses(&self, block: u64) -> Vec<Use> {
        let wd = Wd {
            name: FORMAT.to_owned(),
            xfersize: Xfersize::Fixed(block),
            rdpct: 0.0,
            seek: Seek::Eof,
            ..Wd::default()
        };
        vec![Use {
            wd,
            sds: self.terms.format.clone(),
            hitarea: None,
        }]
    }

    fn case(&mut self, run: &Run, before: &[Case]) -> Result<(Planned, Case), Mistake> {
        let mut jobs = Vec::new();
        let mut planned_jobs = Vec::new();
        let skews = skews(run);
        for (one, skew) in run.uses.iter().zip(skews) {
            let jobs_before = jobs.len();
            let of_all = concat::concatenated_threads(self.script, run, one);
            if of_all.is_some() {
                concat::check(self.script, self.terms, one)?;
            }
            for sd in &one.sds {
                for job in self.jobs(run, one, *sd)? {
                    jobs.push(job);
                    planned_jobs.push(PlannedJob {
                        wd: one.wd.name.clone(),
                        sd: *sd,
                        skew,
                        fixed: (one.wd.iorate > 0.0).then_some(one.wd.iorate),
                    });
                }
            }
            let (own, own_lanes) = (&mut jobs[jobs_before..], &mut planned_jobs[jobs_before..]);
            if let Some(threads) = of_all {
                // Group 1 is that of controlled runs.
                let group = 2 + jobs_before as u32;
                concat::concatenate(own, own_lanes, &self.terms.sizes, threads, group);
            } else {
                let parts = own.len().max(1) as f64;
                for planned_job in own_lanes {
                    planned_job.skew /= parts;
                    planned_job.fixed = planned_job.fixed.map(|rate| rate / parts);
                }
            }
        }
        let mut settings: Vec<(String, String)> = Vec::new();
        settings.extend(
            run.loops
                .settings()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        if let Rate::CurvePoint(percent) = run.rate {
            settings.push(("curve".to_owned(), format!("{percent}%")));
        }
        let mut case = Case {
            name: name(run, before),
            settings,
            workload: Workload {
                seed: Workload::seed_of(self.terms.seed, before.len() as u64),
                jobs,
            },
        };
        limit(&mut case, run, &self.terms.sizes);
        set_rate(&mut case, run, &planned_jobs, nominal(run));
        let planned = Planned {
            run: run.clone(),
            case: case.name.clone(),
            planned_jobs,
        };
        Ok((planned, case))
    }

    /// A workload on one storage definition: one job, or one for each stream.
    fn jobs(&mut self, run: &Run, one: &Use, sd: usize) -> Result<Vec<Job>, Mistake> {
        let (wd, size) = (&one.wd, self.terms.sizes[sd]);
        let definition = &self.script.sds[sd];
        let flags = run
            .openflags
            .or(wd.openflags)
            .unwrap_or(definition.openflags);
        if definition.lun.starts_with("/dev/") && !flags.direct {
            return Err(Mistake::new(
                &definition.place,
                format!("sd={}", definition.name),
                "a lun in /dev needs openflags=o_direct",
            ));
        }
        if flags.fsync {
            self.note(
                format!("openflags=fsync of sd={}", definition.name),
                "nothing is flushed when a run ends; o_sync or o_dsync stores every write",
            );
        }
        let threads = run.threads.unwrap_or(definition.threads);
        let (sizes, draw, note) = sizes(&wd.xfersize);
        if let Some(note) = note {
            self.note(format!("xfersize of wd={}", wd.name), note);
        }
        let (spots, notes) = spots(one, definition, size, threads)?;
        for (subject, text) in notes {
            self.note(format!("{subject} of wd={}", wd.name), text);
        }
        let read = wd.rdpct.round().clamp(0.0, 100.0) as u8;
        let jobs = spots.into_iter().map(|spot| {
            let Spot {
                suffix,
                region,
                pattern,
                hits,
                depth,
                once,
                align,
            } = spot;
            let pool = format!("{}{suffix}", definition.name);
            let mut job = storage_job(&format!("{}/{pool}", wd.name), definition, flags);
            job.mix = Mix {
                read,
                write: 100 - read,
                trim: 0,
            };
            job.sizes = sizes.clone();
            job.size_draw = draw;
            job.region = region;
            job.pattern = pattern;
            job.align = align.map(|align| [Bytes(align); 3]);
            job.content = content(&self.script.general, definition, run);
            job.stop.loops = once.then_some(1);
            job.depth = depth;
            (job.ramp, job.stop.runtime) = times(run);
            job.pool = Some(Pooled {
                rank: wd.priority.unwrap_or(0),
                hits,
                ..Pooled::new(&pool, depth)
            });
            job
        });
        Ok(jobs.collect())
    }
}

/// A job on a storage definition.
pub(super) fn storage_job(name: &str, sd: &Sd, flags: OpenFlags) -> Job {
    Job {
        targets: vec![sd.lun.clone()],
        access: match flags.direct {
            true => Access::Direct,
            false => Access::Buffered,
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

/// A run that no definition asks for: as fast as can be, until it has done all.
pub(super) fn own_run(name: &str, like: &Run, uses: Vec<Use>) -> Run {
    Run {
        name: name.to_owned(),
        uses,
        bursts: None,
        compratio: None,
        startcmd: Commands::default(),
        endcmd: Commands::default(),
        pause: 0,
        controlled: false,
        rate: Rate::Max,
        first_rate: Rate::Max,
        elapsed: None,
        warmup: 0,
        interval: 1,
        ..like.clone()
    }
}

/// Without a warm-up the first interval is one: it enters no average.
fn times(run: &Run) -> (Nanos, Option<Nanos>) {
    let seconds = Nanos::from_secs;
    match (run.elapsed, run.warmup) {
        (None, warmup) => (seconds(warmup), None),
        (Some(elapsed), 0) => (seconds(run.interval), Some(seconds(elapsed - run.interval))),
        (Some(elapsed), warmup) => (seconds(warmup), Some(seconds(elapsed))),
    }
}

/// Shares of the workloads in per cent; those without one share what is left.
fn skews(run: &Run) -> Vec<f64> {
    let sharing = || run.uses.iter().filter(|one| one.wd.iorate == 0.0);
    let asked: f64 = sharing().map(|one| one.wd.skew).sum();
    let open = sharing().filter(|one| one.wd.skew == 0.0).count().max(1);
    let rest = (100.0 - asked).max(0.0) / open as f64;
    let skew = |one: &Use| match one.wd.skew {
        _ if one.wd.iorate > 0.0 => 0.0,
        0.0 => rest,
        skew => skew,
    };
    run.uses.iter().map(skew).collect()
}

/// Unique among the cases: the run, then its loops.
fn name(run: &Run, before: &[Case]) -> String {
    let loops: Vec<String> = run
        .loops
        .settings()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let name = match loops.is_empty() {
        true => run.name.clone(),
        false => format!("{} {}", run.name, loops.join(" ")),
    };
    let twin = |name: &str| before.iter().any(|case| case.name == name);
    if !twin(&name) {
        return name;
    }
    let mut numbers = (2..).map(|number| format!("{name} #{number}"));
    numbers.find(|name| !twin(name)).unwrap_or(name)
}

fn content(general: &General, sd: &Sd, run: &Run) -> Content {
    let compress = run.compratio.or(general.compratio).unwrap_or(1.0);
    let dedupe = sd.dedupratio.or(general.dedupratio).unwrap_or(1.0);
    let percent = |ratio: f64| ((1.0 - 1.0 / ratio) * 100.0).round() as u8;
    match (percent(compress), percent(dedupe)) {
        (0, 0) => Content::Random,
        (compress_percent, dedupe_percent) => Content::Shaped {
            compress_percent,
            dedupe_percent,
        },
    }
}

/// `maxdata`: each job has an even part of it.
fn limit(case: &mut Case, run: &Run, sizes: &[u64]) {
    let asked = [run.maxdata.all, run.maxdata.read, run.maxdata.written];
    let Some(asked) = asked.into_iter().flatten().reduce(f64::min) else {
        return;
    };
    let mut used: Vec<usize> = run.uses.iter().flat_map(|one| one.sds.clone()).collect();
    used.sort_unstable();
    used.dedup();
    let all: u64 = used.iter().map(|index| sizes[*index]).sum();
    let bytes = if asked < 100.0 {
        asked * all as f64
    } else {
        asked
    };
    let jobs = &mut case.workload.jobs;
    let each = (bytes / jobs.len().max(1) as f64) as u64;
    for job in jobs {
        job.stop.bytes = Some(Bytes(each.max(1)));
    }
}

/// The built-in test of five seconds, on a file of this name.
#[must_use]
pub fn quick_test(file: &str) -> String {
    format!(
        "* A file of 40 MiB is made; then 1 KiB, half of it reads, for five seconds.\n\
         sd=sd1,lun={file},size=40m\nwd=wd1,sd=sd1,xfersize=1k,rdpct=50\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=5,interval=1\n"
    )
}

/// A mistake about a storage definition that only the machine could show.
#[must_use]
pub fn about_storage(sd: &Sd, message: String) -> Mistake {
    let place: &Place = &sd.place;
    Mistake::new(place, format!("sd={}", sd.name), message)
}
