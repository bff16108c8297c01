//! What the reports need to know of a clone besides its load.

use blocklab_workload::{Direction, IoPriority, Job, Steady};

use super::PlanBuilder;
use crate::engine::{self, Program};
use crate::load::is_asynchronous;
use crate::logs::LogRule;
use crate::output::Style;
use crate::pattern::{self, ReadWrite};
use crate::spec::Spec;
use crate::verify;
use blocklab_syntax::Mistake;

/// What the report and the run need to know of a clone, besides its load.
#[derive(Debug, Clone, PartialEq)]
pub struct CloneFacts {
    /// Index of the case.
    pub case: usize,
    /// Name of the job in the plan.
    pub job: String,
    /// Name of the job in the job file.
    pub name: String,
    /// From 0, at each `stonewall` and `new_group` one more.
    pub group: u32,
    /// Index of its section among all jobs.
    pub spec: usize,
    /// The job's options, as given.
    pub options: Vec<(String, String)>,
    /// `group_reporting`: whether it is reported with the clone before it, if that has the same group.
    pub grouped: bool,
    /// `rw`, without the part after `:`; `readwrite` is `rw`.
    pub rw: &'static str,
    /// Smallest and largest blocks of reads, writes, trims.
    pub blocks: [(u64, u64); 3],
    /// `ioengine`, as given.
    pub engine: String,
    /// `iodepth`.
    pub depth: u32,
    /// How many files it works on.
    pub file_count: usize,
    /// How its figures are printed.
    pub style: Style,
    /// Commands before and after the job.
    pub commands: [Option<String>; 2],
    /// The clock by which `job_start` is reported; `None`: it is not, as fio 3.33 has no such key.
    pub start_clock: Option<u32>,
    /// The program that runs alongside the jobs in its place.
    pub program: Option<Program>,
    /// Whether cached pages are dropped before the run.
    pub invalidate: bool,
    /// Whether the files are read before the run.
    pub pre_read: bool,
    /// Whether the report counts its flushes: only those of `fsync`.
    pub counts_flushes: bool,
    /// Whether the report has the latencies of its flushes.
    pub times_flushes: bool,
    /// What is logged, and how.
    pub logs: LogRule,
    /// The I/O priority of its threads.
    pub priority: Option<IoPriority>,
    /// Whether operations are submitted without waiting for them.
    pub is_asynchronous: bool,
    /// `verify`, as given.
    pub verify: String,
    /// When the job counts as steady.
    pub steady: Option<Steady>,
    /// Whether it reads what it wrote, and nothing else.
    pub reads_back: bool,
    /// Whether the jobs after it are not run when it has ended.
    pub ends_all: bool,
    /// Whether it requests a thread and not a process.
    pub thread: bool,
    /// Whether errors are counted and reported.
    pub counts_errors: bool,
    /// `verify_dump`: whether blocks that fail verification are left in files.
    pub dumps: bool,
    /// The state file in which it leaves how far its writes came, if it verifies them.
    pub state: Option<String>,
    /// The number of the error with which it could not begin, or its files could not be made. fio
    /// has none, 0, for some of them.
    pub failed: Option<i32>,
    /// Whether a job before it leaves the trace that it replays: it is read when that has ended.
    pub awaits_trace: bool,
    /// Why that trace cannot be replayed: as a rule it is not there yet.
    pub lacks_trace: Option<Mistake>,
    /// Whether missing files may be made.
    pub may_create: bool,
    /// Whether only the files are made, and nothing is run.
    pub create_only: bool,
    /// Whether each of its files is shorter than a block: nothing is run, and it has no error.
    pub holds_no_block: bool,
}

impl CloneFacts {
    /// Whether there is load to run: its files are not only made, it can begin, and it finds room for
    /// a block.
    pub const fn is_run(&self) -> bool {
        !self.create_only && !self.holds_no_block && self.failed.is_none()
    }

    /// The depth that the engine made of `iodepth`: rings have a power of two.
    pub(crate) fn engine_depth(&self) -> u32 {
        match &*self.engine {
            "io_uring" => self.depth.next_power_of_two(),
            _ => self.depth,
        }
    }
}

impl PlanBuilder<'_> {
    /// What the reports say of a clone, besides what is measured. `index`: its section among all.
    pub(super) fn facts(&self, spec: &Spec, rw: ReadWrite, job: &Job, index: usize) -> CloneFacts {
        let options = &spec.options;
        // As they are given: the job has only those that fit into its files.
        let sizes = match pattern::block_sizes(spec) {
            Ok(given) if job.replay.is_none() => given,
            _ => job.sizes.clone(),
        };
        let sizes = [&sizes.read, &sizes.write, &sizes.trim];
        let counts_flushes = options.fsync > 0 || replays_flushes(job);
        let style = Style::from_options(options);
        CloneFacts {
            case: self.prepared.plan.cases.len().saturating_sub(1),
            job: job.name.clone(),
            name: spec.name.clone(),
            group: self.group,
            spec: index,
            options: spec.own.clone(),
            grouped: options.group_reporting,
            rw: rw.word,
            blocks: match pattern::given_by_order(options) {
                Some(given) => given.map(|size| (size, size)),
                None => sizes.map(|mix| (mix.smallest().0, mix.largest().0)),
            },
            engine: options.ioengine.clone(),
            depth: job.depth,
            file_count: job.targets.len(),
            style: Style {
                // As fio, which looks for disks before it knows these files.
                disks: style.disks && job.replay.is_none() && !job.engine.makes_names(),
                ..style
            },
            commands: [options.exec_prerun.clone(), options.exec_postrun.clone()],
            start_clock: spec.is_of_later_fio().then_some(options.job_start_clock_id),
            program: engine::program(options, job, &spec.name),
            invalidate: options.invalidate,
            pre_read: options.pre_read,
            counts_flushes,
            times_flushes: counts_flushes
                || options.fdatasync > 0
                || options.sync_file_range.is_some(),
            logs: LogRule::for_job(spec, job),
            priority: job.priority.io,
            is_asynchronous: is_asynchronous(job.engine, job.depth),
            verify: verify::method(options)
                .map_or("pattern", |word| word.trim_end_matches("_hdr"))
                .to_owned(),
            steady: job.stop.steady,
            reads_back: !rw.reads
                && job
                    .verify
                    .as_ref()
                    .is_some_and(|verify| verify.pass.is_none()),
            ends_all: options.exitall && options.exit_what == "all",
            thread: options.thread,
            counts_errors: options.ignore_error.is_some()
                || !matches!(&*options.continue_on_error, "none" | "0"),
            dumps: options.verify_dump,
            state: None,
            awaits_trace: false,
            lacks_trace: None,
            failed: None,
            may_create: options.allow_file_create,
            create_only: options.create_only,
            holds_no_block: false,
        }
    }
}

fn replays_flushes(job: &Job) -> bool {
    let replay = job.replay.as_ref();
    replay.is_some_and(|replay| replay.goes(Direction::Sync))
}
