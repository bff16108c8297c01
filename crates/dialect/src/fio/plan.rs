//! From jobs to a plan: each clone is a job of one thread; what stands between two stonewalls is a
//! case.

use blocklab_record::{Note, NoteLevel};
use blocklab_workload::{Case, Direction, Engine, IoPriority, Job, Plan, Steady, Workload};

use super::files::{self, Files, Planned};
use super::iolog;
use super::jobs::{Resolved, Spec};
use super::load::{is_asynchronous, load};
use super::logs::LogRule;
use super::mistake::Mistake;
use super::number::{Scale, amount};
use super::options::{Support, find};
use super::output::Style;
use super::pattern::{self, Way};
use super::standing::{self, ControlGroup};
use super::state;
use super::turns::Turns;
use super::verify::leaves_no_time;

/// What the caller knows of the machine.
pub struct Terms<'a> {
    /// Size of an existing file or device.
    pub size_of: &'a dyn Fn(&str) -> Option<u64>,
    /// All files below a directory.
    pub files_below: &'a dyn Fn(&str) -> Vec<String>,
    /// How many processors there are.
    pub processors: u32,
    /// Processors of a NUMA node.
    pub node_processors: &'a dyn Fn(u32) -> Vec<u32>,
    /// What a file holds, or why it cannot be read.
    pub bytes_of: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// The path of a block device by its numbers.
    pub device_of: &'a dyn Fn(u32, u32) -> String,
    /// Where the block I/O controller of version 1 is mounted.
    pub control_groups: Option<&'a str>,
    /// Where files lie that a run leaves for a later one; nothing: where it runs.
    pub aux: Option<&'a str>,
    /// The seed of jobs that do not want the same offsets in every run.
    pub seed: u64,
}

/// A command line as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is run: a case for each stretch between stonewalls.
    pub plan: Plan,
    /// What is done differently.
    pub notes: Vec<Note>,
    /// What is odd in the jobs, for standard error.
    pub remarks: Vec<String>,
    /// What stands before the results, where people read them.
    pub forewords: Vec<String>,
    /// The clones, in the order of the plan's jobs.
    pub clones: Vec<CloneFacts>,
    /// Files that must be there before the run.
    pub files: Vec<Planned>,
    /// Directories that must be there.
    pub directories: Vec<String>,
    /// Control groups that must be there.
    pub control_groups: Vec<ControlGroup>,
    /// Options of the global sections, as given.
    pub globals: Vec<(String, String)>,
}

/// What the report and the run say and do of a clone, besides its load.
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
    /// Which job it is a clone of, from 0.
    pub spec: usize,
    /// The job's options, as given.
    pub options: Vec<(String, String)>,
    /// Whether the group is reported as one.
    pub grouped: bool,
    /// `rw`, as given, without what stands behind `:`.
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
    /// Whether cached pages are dropped before the run.
    pub invalidate: bool,
    /// Whether the files are read before the run.
    pub pre_read: bool,
    /// Whether flushes are counted in the report (only those of `fsync` are), and whether their
    /// latencies are told.
    pub flushes: [bool; 2],
    /// What is logged, and how.
    pub logs: LogRule,
    /// What its threads have with the block layer's scheduler.
    pub priority: Option<IoPriority>,
    /// Whether submitting and completing are two things.
    pub is_asynchronous: bool,
    /// `verify`, as given.
    pub verify: String,
    /// When the job counts as steady.
    pub steady: Option<Steady>,
    /// Whether it reads what it wrote, and nothing else.
    pub reads_back: bool,
    /// Whether its end is that of everything that follows.
    pub ends_all: bool,
    /// Whether it asks for a thread and not for a process.
    pub thread: bool,
    /// Whether errors are counted and told.
    pub counts_errors: bool,
    /// Whether flawed blocks are left in files.
    pub dumps: bool,
    /// Where it leaves how far its writes came, if it verifies them.
    pub state: Option<String>,
    /// Whether it cannot be run, for what it should go on from cannot be read.
    pub is_unfit: bool,
    /// Whether a job before it leaves the trace that it replays: it is read when that has ended.
    pub awaits_trace: bool,
    /// Whether missing files may be made.
    pub may_create: bool,
    /// Whether nothing but the files is wanted.
    pub create_only: bool,
}

impl CloneFacts {
    /// The depth that the engine made of `iodepth`: rings have a power of two.
    pub(super) fn depth_had(&self) -> u32 {
        match &*self.engine {
            "io_uring" => self.depth.next_power_of_two(),
            _ => self.depth,
        }
    }
}

/// What is run for these jobs.
///
/// # Errors
/// Values that make no sense together, and what is refused.
pub fn prepare(resolved: &Resolved, name: &str, terms: &Terms<'_>) -> Result<Prepared, Mistake> {
    let mut maker = Maker::new(terms);
    for (index, spec) in resolved.specs.iter().enumerate() {
        maker.add(spec, index)?;
    }
    let plan = Plan::once(name, "Jobs of fio.", maker.cases);
    Ok(Prepared {
        plan,
        notes: maker.notes,
        remarks: maker.remarks,
        forewords: maker.forewords,
        clones: maker.clones,
        files: maker.files.list,
        directories: maker.directories,
        control_groups: maker.control_groups,
        globals: resolved.globals.clone(),
    })
}

const WAITS: &str = "`wait` is microseconds, as fio's manual says; fio 3.33 itself waits a \
                     thousand times as long";

/// In which mapped files are flushed.
const PAGE: u64 = 4096;

/// Of one job.
const MOST_FILES: i64 = 1_000_000;

struct Maker<'a> {
    terms: &'a Terms<'a>,
    cases: Vec<Case>,
    clones: Vec<CloneFacts>,
    files: Files,
    directories: Vec<String>,
    control_groups: Vec<ControlGroup>,
    notes: Vec<Note>,
    remarks: Vec<String>,
    forewords: Vec<String>,
    group: u32,
    turns: Turns,
}

impl<'a> Maker<'a> {
    fn new(terms: &'a Terms<'a>) -> Self {
        Self {
            terms,
            cases: Vec::new(),
            clones: Vec::new(),
            files: Files::default(),
            directories: Vec::new(),
            control_groups: Vec::new(),
            notes: Vec::new(),
            remarks: Vec::new(),
            forewords: Vec::new(),
            group: 0,
            turns: Turns::default(),
        }
    }

    fn add(&mut self, spec: &Spec, index: usize) -> Result<(), Mistake> {
        self.judge(spec)?;
        let way = pattern::way(spec)?;
        self.begin(spec)?;
        self.directories.extend(files::directories(spec));
        let group = standing::control_group(spec, self.terms);
        let known = |group: &ControlGroup| self.control_groups.contains(group);
        self.control_groups
            .extend(group.filter(|group| !known(group)));
        let count = spec.values.number("numjobs").unwrap_or(1).max(1);
        if count > 4096 {
            return Err(spec.mistake("numjobs", format!("{count} is more than 4096")));
        }
        let files = spec.values.number("nrfiles").unwrap_or(1).max(1);
        if files.saturating_mul(count) > MOST_FILES {
            let wrong = format!("{files} files of {count} clones are more than {MOST_FILES}");
            return Err(spec.mistake("nrfiles", wrong));
        }
        for number in 0..count as u32 {
            let writer = self.writer(spec, number);
            let awaits = writer.is_some();
            let trace = match (iolog::read(spec, number, self.terms), writer) {
                (Err(_), Some(writer)) => Some(iolog::stand_in(writer)),
                (read, _) => read?,
            };
            let ground = match &trace {
                Some(trace) => iolog::ground(spec, trace, self.terms)?,
                None => files::ground(spec, way, number, self.terms, &self.files)?,
            };
            let unique = self.clones.len();
            let name = format!("{}.{unique}", spec.name);
            let mut job = load(spec, way, &ground, &name, number, self.terms)?;
            if let Some(trace) = trace {
                if trace.waits {
                    self.note(NoteLevel::Approximated, "read_iolog", WAITS);
                }
                iolog::apply(spec, &mut job, trace);
            }
            // A job that reads back another's writes draws the same places, whatever its name.
            job.draws = job.verify.is_some().then(|| unique.to_string());
            job.log = LogRule::of(spec, &job).kept();
            let state = state::path(self.terms.aux, &spec.name, unique);
            if job.verify.is_some() && number == 0 && !way.reads && leaves_no_time(spec, way) {
                let words = "verification read phase will never start because write phase uses \
                             all of runtime";
                self.forewords.push(words.to_owned());
            }
            let is_unfit = self.is_unfit(spec, &mut job, &state);
            job.check().map_err(|invalid| {
                Mistake::new(&spec.at, format!("job {}: {invalid}", spec.name))
            })?;
            let saves = job.verify.is_some() && job.writes();
            let saves = saves && spec.values.number("verify_state_save") != Some(0);
            self.clones.push(CloneFacts {
                state: saves.then_some(state),
                awaits_trace: awaits,
                is_unfit,
                ..self.facts(spec, way, &job, index)
            });
            for file in ground.planned {
                self.files.add(file);
            }
            if let Some(case) = self.cases.last_mut() {
                case.workload.jobs.push(job);
            }
        }
        Ok(())
    }

    /// Whether the state file that a job should go on from cannot be read. As with fio, the others
    /// are run.
    fn is_unfit(&mut self, spec: &Spec, job: &mut Job, state: &str) -> bool {
        if !spec.values.flag("verify_state_load") || job.verify.is_none() {
            return false;
        }
        let loaded = state::load(job, self.seed(), state, self.terms);
        if let Err(why) = &loaded {
            let name = &spec.name;
            let remark = format!("job {name} is not run: verify_state_load: {state}: {why}");
            self.remarks.push(remark);
        }
        loaded.is_err()
    }

    /// The job of an earlier case that writes the trace which this clone reads.
    fn writer(&self, spec: &Spec, number: u32) -> Option<&Job> {
        let path = iolog::path(spec, number)?;
        let (_, earlier) = self.cases.split_last()?;
        let mut clones = self
            .clones
            .iter()
            .filter(|clone| clone.case < earlier.len());
        let clone = clones.find(|clone| clone.logs.trace.as_deref() == Some(path))?;
        let mut jobs = earlier[clone.case].workload.jobs.iter();
        jobs.find(|job| job.name == clone.job)
    }

    /// Of the case at hand.
    fn seed(&self) -> u64 {
        self.cases.last().map_or(0, |case| case.workload.seed)
    }

    /// A new group or a new case, where the job asks for it.
    fn begin(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let turn = self.turns.next(spec, &self.clones)?;
        self.group = turn.group;
        for (option, text) in turn.notes {
            self.note(NoteLevel::Approximated, option, text);
        }
        let seed = seed(spec, self.terms.seed);
        if turn.walled {
            let number = self.cases.len() + 1;
            self.cases.push(Case {
                name: format!("{number}-{}", spec.name),
                settings: Vec::new(),
                workload: Workload {
                    seed,
                    jobs: Vec::new(),
                },
            });
        } else if self
            .cases
            .last()
            .is_some_and(|case| case.workload.seed != seed)
        {
            let text = "jobs that run together draw from one seed: that of the first";
            self.note(NoteLevel::Approximated, "randseed", text);
        }
        Ok(())
    }

    /// Notes what is not exact; refuses what cannot be done.
    fn judge(&mut self, spec: &Spec) -> Result<(), Mistake> {
        self.judge_together(spec)?;
        for (name, words) in &spec.dropped {
            self.note(NoteLevel::Approximated, name, words);
        }
        for name in spec.values.names() {
            let Some(option) = find(name) else { continue };
            if is_off(spec, name, option.default) {
                continue;
            }
            match option.support {
                // Where it is not, whoever carries it out says so.
                Support::Exact | Support::Mostly => {}
                Support::Nearly => self.note(NoteLevel::Approximated, name, option.here),
                Support::Ignored => self.note(NoteLevel::Ignored, name, option.here),
                Support::Refused => {
                    let message = format!("it is not done here: {}", option.here);
                    return Err(spec.mistake(name, message));
                }
            }
        }
        Ok(())
    }

    /// Values that make no sense together, or on this machine.
    fn judge_together(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let values = &spec.values;
        if values.flag("zonesize") && matches!(values.text("zonemode"), None | Some("none")) {
            let wrong = "--zonemode=none and --zonesize are not compatible; \
                         zonemode=strided works zone by zone";
            return Err(spec.mistake("zonesize", wrong));
        }
        if let Some(memory) = values.text("mem") {
            const KNOWN: [&str; 6] = ["malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared"];
            let word = memory.split(':').next().unwrap_or_default();
            if !KNOWN.contains(&word) {
                let wrong = format!("`{word}` is none of {}", KNOWN.join(", "));
                return Err(spec.mistake("mem", wrong));
            }
        }
        if values.text("cgroup").is_some() && self.terms.control_groups.is_none() {
            let text = "no block I/O controller of control groups of version 1 is mounted: the \
                        job runs outside of any, as with fio 3.33";
            self.note(NoteLevel::Ignored, "cgroup", text);
        }
        let stores = values.flag("direct") || values.flag("fsync") || values.flag("fdatasync");
        let smallest = pattern::block_sizes(spec)?.smallest().0;
        if values.text("ioengine") == Some("mmap") && stores && !smallest.is_multiple_of(PAGE) {
            let wrong = format!("mmap options dictate a minimum block size of {PAGE} bytes");
            return Err(spec.mistake("bs", wrong));
        }
        if values.text("profile") == Some("act") {
            return Err(spec.mistake(
                "profile",
                "act is not done: write its jobs out in a job file",
            ));
        }
        let shifts = pattern::shifts_blocks(spec, &pattern::block_sizes(spec)?);
        if shifts && pattern::way(spec)?.random && !values.flag("norandommap") {
            let words = "Any use of blockalign= turns off randommap";
            self.remarks.push(words.to_owned());
        }
        if values.flag("bs_unaligned") && values.flag("direct") {
            self.remarks
                .push("bs_unaligned may not work with raw io".to_owned());
        }
        if values.flag("time_based") && values.time("runtime").unwrap_or(0) == 0 {
            let words = "time_based requires a runtime/timeout setting";
            self.remarks.push(words.to_owned());
        }
        Ok(())
    }

    fn note(&mut self, level: NoteLevel, subject: &str, text: &str) {
        let note = Note {
            level,
            subject: subject.to_owned(),
            text: text.to_owned(),
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn facts(&self, spec: &Spec, way: Way, job: &Job, index: usize) -> CloneFacts {
        let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
        let text = |name| spec.values.text(name).map(str::to_owned);
        CloneFacts {
            case: self.cases.len().saturating_sub(1),
            job: job.name.clone(),
            name: spec.name.clone(),
            group: self.group,
            spec: index,
            options: spec.own.clone(),
            grouped: spec.values.flag("group_reporting"),
            rw: way.word,
            blocks: match pattern::given_by_order(spec) {
                Some(given) => given.map(|size| (size, size)),
                None => sizes.map(|mix| (mix.smallest().0, mix.largest().0)),
            },
            engine: text("ioengine").unwrap_or_else(|| "psync".to_owned()),
            depth: job.depth,
            file_count: job.targets.len(),
            style: Style {
                // As fio, which looks for disks before it knows these files.
                disks: Style::of(spec).disks
                    && job.replay.is_none()
                    && job.engine != Engine::FileCreate,
                ..Style::of(spec)
            },
            commands: [text("exec_prerun"), text("exec_postrun")],
            invalidate: spec.values.number("invalidate") != Some(0),
            pre_read: spec.values.flag("pre_read"),
            flushes: [
                spec.values.flag("fsync") || replays_flushes(job),
                spec.values.flag("fsync")
                    || replays_flushes(job)
                    || spec.values.flag("fdatasync")
                    || spec.values.is_given("sync_file_range"),
            ],
            logs: LogRule::of(spec, job),
            priority: job.priority.io,
            is_asynchronous: is_asynchronous(job.engine, job.depth),
            verify: text("verify").unwrap_or_else(|| "pattern".to_owned()),
            steady: job.stop.steady,
            reads_back: !way.reads && job.verify.as_ref().is_some_and(|it| it.pass.is_none()),
            ends_all: spec.values.flag("exitall") && spec.values.text("exit_what") == Some("all"),
            thread: spec.values.flag("thread"),
            counts_errors: spec.values.is_given("ignore_error")
                || !matches!(
                    spec.values.text("continue_on_error"),
                    None | Some("none" | "0")
                ),
            dumps: spec.values.flag("verify_dump"),
            state: None,
            awaits_trace: false,
            is_unfit: false,
            may_create: spec.values.number("allow_file_create") != Some(0),
            create_only: spec.values.flag("create_only"),
        }
    }
}

fn replays_flushes(job: &Job) -> bool {
    let replay = job.replay.as_ref();
    replay.is_some_and(|replay| replay.goes(Direction::Sync))
}

/// Whether the option was given what it has anyway.
fn is_off(spec: &Spec, name: &str, default: &str) -> bool {
    let values = &spec.values;
    if let Some(number) = values.number(name) {
        let default = amount(default, Scale::default()).unwrap_or(0);
        return number == default;
    }
    if let Some(text) = values.text(name) {
        return text == default;
    }
    values.time(name) == Some(0) || values.share(name) == Some(super::value::Share::Bytes(0))
}

/// `randseed` before `allrandrepeat` before `randrepeat`.
fn seed(spec: &Spec, chance: u64) -> u64 {
    let given = spec.values.text("randseed");
    if let Some(Ok(seed)) = given.map(|text| amount(text, Scale::default())) {
        return seed as u64;
    }
    let repeats = match spec.values.number("allrandrepeat") {
        Some(all) if all != 0 => true,
        _ => spec.values.number("randrepeat") != Some(0),
    };
    if repeats { 0x89 } else { chance }
}
