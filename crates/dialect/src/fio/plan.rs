//! From jobs to a plan: each clone is a job of one thread; what stands between two stonewalls is a
//! case.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Aggregate, Batch, Case, Content, Durability, Engine, ErrorPolicy, Flush, Job, Measure,
    Order, Pace, PauseBefore, Plan, Rate, Region, Spread, Steady, SteadyVariable, Stop,
    TargetOrder, Think, UringOptions, Workload,
};

use super::files::{self, Ground, Planned};
use super::jobs::{Resolved, Spec};
use super::mistake::Mistake;
use super::number::{Scale, amount};
use super::options::{Support, find};
use super::output::Style;
use super::pattern::{self, Way};

/// What the caller knows of the machine.
pub struct Terms<'a> {
    /// Size of an existing file or device.
    pub size_of: &'a dyn Fn(&str) -> Option<u64>,
    /// All files below a directory.
    pub files_below: &'a dyn Fn(&str) -> Vec<String>,
    /// Processors of a NUMA node.
    pub node_processors: &'a dyn Fn(u32) -> Vec<u32>,
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
    /// The clones, in the order of the plan's jobs.
    pub clones: Vec<CloneFacts>,
    /// Files that must be there before the run.
    pub files: Vec<Planned>,
    /// Directories that must be there.
    pub directories: Vec<String>,
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
    /// How its figures are printed.
    pub style: Style,
    /// Commands before and after the job.
    pub commands: [Option<String>; 2],
    /// Whether cached pages are dropped before the run.
    pub invalidate: bool,
    /// Whether the files are read before the run.
    pub pre_read: bool,
    /// Whether missing files may be made.
    pub may_create: bool,
    /// Whether nothing but the files is wanted.
    pub create_only: bool,
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
    let plan = Plan {
        name: name.to_owned(),
        description: "Jobs of fio.".to_owned(),
        cases: maker.cases,
        passes: 1,
        discard: 0,
        aggregate: Aggregate::Mean,
        order: Order::Grouped,
        pause: Nanos::ZERO,
        pause_before: PauseBefore::Measurement,
    };
    Ok(Prepared {
        plan,
        notes: maker.notes,
        clones: maker.clones,
        files: maker.files,
        directories: maker.directories,
        globals: resolved.globals.clone(),
    })
}

struct Maker<'a> {
    terms: &'a Terms<'a>,
    cases: Vec<Case>,
    clones: Vec<CloneFacts>,
    files: Vec<Planned>,
    directories: Vec<String>,
    notes: Vec<Note>,
    group: u32,
}

impl<'a> Maker<'a> {
    const fn new(terms: &'a Terms<'a>) -> Self {
        Self {
            terms,
            cases: Vec::new(),
            clones: Vec::new(),
            files: Vec::new(),
            directories: Vec::new(),
            notes: Vec::new(),
            group: 0,
        }
    }

    fn add(&mut self, spec: &Spec, index: usize) -> Result<(), Mistake> {
        self.judge(spec)?;
        let way = pattern::way(spec)?;
        self.begin(spec);
        self.directories.extend(files::directories(spec));
        let count = spec.values.number("numjobs").unwrap_or(1).max(1);
        if count > 4096 {
            return Err(spec.mistake("numjobs", format!("{count} is more than 4096")));
        }
        for number in 0..count as u32 {
            let ground = files::ground(spec, way, number, self.terms)?;
            let unique = self.clones.len();
            let name = format!("{}.{unique}", spec.name);
            let job = load(spec, way, &ground, &name, number, self.terms)?;
            job.check().map_err(|invalid| {
                Mistake::new(&spec.at, format!("job {}: {invalid}", spec.name))
            })?;
            self.clones.push(self.facts(spec, way, &job, index));
            for file in ground.planned {
                plan_file(&mut self.files, file);
            }
            if let Some(case) = self.cases.last_mut() {
                case.workload.jobs.push(job);
            }
        }
        Ok(())
    }

    /// A new group or a new case, where the job asks for it.
    fn begin(&mut self, spec: &Spec) {
        let is_first = self.clones.is_empty();
        let walled = spec.values.flag("stonewall") || spec.values.is_given("wait_for");
        if !is_first && (walled || spec.values.flag("new_group")) {
            self.group += 1;
        }
        let seed = seed(spec, self.terms.seed);
        if is_first || walled {
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
    }

    /// Notes what is not exact; refuses what cannot be done.
    fn judge(&mut self, spec: &Spec) -> Result<(), Mistake> {
        for name in spec.values.names() {
            let Some(option) = find(name) else { continue };
            if is_off(spec, name, option.default) {
                continue;
            }
            match option.support {
                Support::Exact => {}
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
            blocks: sizes.map(|mix| (mix.smallest().0, mix.largest().0)),
            engine: text("ioengine").unwrap_or_else(|| "psync".to_owned()),
            depth: job.depth,
            style: Style::of(spec),
            commands: [text("exec_prerun"), text("exec_postrun")],
            invalidate: spec.values.number("invalidate") != Some(0),
            pre_read: spec.values.flag("pre_read"),
            may_create: spec.values.number("allow_file_create") != Some(0),
            create_only: spec.values.flag("create_only"),
        }
    }
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

/// Several jobs may share a file: the longest wish and the most thorough layout hold.
fn plan_file(files: &mut Vec<Planned>, file: Planned) {
    match files.iter_mut().find(|known| known.path == file.path) {
        Some(known) => {
            known.length = known.length.max(file.length);
            known.layout = known.layout.max(file.layout);
            known.unlink |= file.unlink;
        }
        None => files.push(file),
    }
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

fn load(
    spec: &Spec,
    way: Way,
    ground: &Ground,
    name: &str,
    number: u32,
    terms: &Terms<'_>,
) -> Result<Job, Mistake> {
    let sizes = pattern::block_sizes(spec)?;
    let block = sizes.largest().0;
    let engine = engine(spec)?;
    let depth = spec.values.number("iodepth").unwrap_or(1).clamp(1, 32768) as u32;
    let job = Job {
        targets: match engine {
            // No device is opened.
            Engine::Null => vec!["null".to_owned()],
            _ => ground.targets.clone(),
        },
        target_order: order(spec)?,
        engine,
        access: access(spec),
        durability: match spec.values.text("sync") {
            Some("1" | "sync") => Durability::Sync,
            Some("dsync") => Durability::Dsync,
            _ => Durability::None,
        },
        depth,
        batch: batch(spec, depth),
        pin: processors(spec, number, terms)?,
        region: Region {
            offset: Bytes(ground.offset),
            size: ground.size.map(Bytes),
            spread: Spread::Same,
        },
        pattern: pattern::pattern(spec, way, block, ground.space)?,
        mix: pattern::mix(spec, way),
        content: content(spec),
        pace: pace(spec, way, block)?,
        think: think(spec),
        stop: stop(spec, way, ground, block)?,
        ramp: Nanos(
            spec.values
                .time("ramp_time")
                .unwrap_or(0)
                .saturating_add(spec.values.time("steadystate_ramp_time").unwrap_or(0)),
        ),
        flush: Flush {
            fsync_every: count(spec, "fsync"),
            fdatasync_every: count(spec, "fdatasync"),
            at_end: spec.values.flag("end_fsync") || spec.values.flag("fsync_on_close"),
            ..Flush::default()
        },
        on_error: match spec.values.text("continue_on_error") {
            None | Some("none" | "0") => ErrorPolicy::Stop,
            Some(_) => ErrorPolicy::Continue,
        },
        measure: Measure {
            depths: true,
            bandwidth_every: sample(spec, "bwavgtime"),
            iops_every: sample(spec, "iopsavgtime"),
        },
        submit_latency: engine.is_asynchronous()
            && !spec.values.flag("disable_slat")
            && !spec.values.flag("gtod_reduce"),
        sizes,
        ..Job::new(name)
    };
    Ok(job)
}

/// Milliseconds between samples.
fn sample(spec: &Spec, name: &str) -> Option<Nanos> {
    let ms = spec.values.number(name).unwrap_or(500).max(0) as u64;
    (ms > 0).then(|| Nanos::from_millis(ms))
}

fn count(spec: &Spec, name: &str) -> u32 {
    spec.values
        .number(name)
        .unwrap_or(0)
        .clamp(0, u32::MAX.into()) as u32
}

fn engine(spec: &Spec) -> Result<Engine, Mistake> {
    let name = spec.values.text("ioengine").unwrap_or("psync");
    Ok(match name {
        "sync" => Engine::Sync,
        "psync" => Engine::Psync,
        "vsync" => Engine::Vsync,
        "pvsync" => Engine::Pvsync,
        "posixaio" => Engine::PosixAio,
        "splice" => Engine::Splice,
        "falloc" => Engine::Falloc,
        "ftruncate" => Engine::Ftruncate,
        "filecreate" => Engine::FileCreate,
        "filestat" => Engine::FileStat,
        "filedelete" => Engine::FileDelete,
        "pvsync2" => Engine::Pvsync2 {
            hipri: spec.values.flag("hipri"),
            nowait: spec.values.flag("nowait"),
        },
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring(UringOptions {
            sqpoll: spec.values.flag("sqthread_poll"),
            iopoll: spec.values.flag("hipri"),
            fixed_buffers: spec.values.flag("fixedbufs"),
            fixed_files: spec.values.flag("registerfiles"),
        }),
        "mmap" => Engine::Mmap,
        "null" => Engine::Null,
        other => {
            let instead = match other {
                "netsplice" => "splice",
                "solarisaio" | "windowsaio" | "io_uring_cmd" => "io_uring",
                "nbd" => "io_uring on the device of `nbd-client`",
                "rbd" | "rados" | "gfapi" | "gfapi_async" | "libiscsi" | "sg" => {
                    "io_uring on the block device that the kernel makes of it"
                }
                _ => "sync, psync, pvsync2, libaio, io_uring, mmap or null",
            };
            return Err(spec.mistake(
                "ioengine",
                format!("engine {other} is not there; use {instead}"),
            ));
        }
    })
}

fn access(spec: &Spec) -> Access {
    let direct = spec.values.flag("direct") || spec.values.number("buffered") == Some(0);
    if direct {
        Access::Direct
    } else {
        Access::Buffered
    }
}

fn order(spec: &Spec) -> Result<TargetOrder, Mistake> {
    let text = spec
        .values
        .text("file_service_type")
        .unwrap_or("roundrobin");
    match text.split(':').next().unwrap_or_default() {
        "roundrobin" | "sequential" => Ok(TargetOrder::RoundRobin),
        "random" | "zipf" | "pareto" | "normal" | "gauss" => Ok(TargetOrder::Random),
        other => {
            let wrong = format!(
                "`{other}` is none of random, zipf, pareto, normal, roundrobin, sequential"
            );
            Err(spec.mistake("file_service_type", wrong))
        }
    }
}

fn batch(spec: &Spec, depth: u32) -> Batch {
    let submit = spec
        .values
        .number("iodepth_batch")
        .map(|batch| match batch {
            0 => depth,
            batch => batch.clamp(1, depth.into()) as u32,
        });
    let complete = spec
        .values
        .number("iodepth_batch_complete_min")
        .unwrap_or(1);
    Batch {
        submit: submit.unwrap_or(0),
        complete: complete.clamp(1, depth.into()) as u32,
        low: count(spec, "iodepth_low").min(depth),
    }
}

fn processors(spec: &Spec, number: u32, terms: &Terms<'_>) -> Result<Vec<u32>, Mistake> {
    let mut allowed = Vec::new();
    if let Some(mask) = spec.values.number("cpumask") {
        allowed.extend((0..63u32).filter(|bit| mask >> bit & 1 == 1));
    }
    if let Some(list) = spec.values.text("cpus_allowed") {
        allowed = list_of(list).map_err(|why| spec.mistake("cpus_allowed", why))?;
    }
    if let Some(list) = spec
        .values
        .text("numa_cpu_nodes")
        .filter(|list| *list != "all")
    {
        let nodes = list_of(list).map_err(|why| spec.mistake("numa_cpu_nodes", why))?;
        allowed = nodes.into_iter().flat_map(terms.node_processors).collect();
    }
    let turn = number as usize % allowed.len().max(1);
    Ok(allowed.get(turn).copied().into_iter().collect())
}

/// `0,2-4`.
fn list_of(text: &str) -> Result<Vec<u32>, String> {
    let mut list = Vec::new();
    for part in text.split([',', ':']).filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let parsed = text
                .trim()
                .parse::<u32>()
                .ok()
                .filter(|number| *number < 4096);
            parsed.ok_or_else(|| format!("`{text}` is no processor's or node's number"))
        };
        list.extend(number(low)?..=number(high)?);
    }
    Ok(list)
}

fn content(spec: &Spec) -> Content {
    let percent = |name| spec.values.number(name).unwrap_or(0).clamp(0, 100) as u8;
    let (compress_percent, dedupe_percent) = (
        percent("buffer_compress_percentage"),
        percent("dedupe_percentage"),
    );
    if spec.values.flag("zero_buffers") {
        Content::Zero
    } else if compress_percent > 0 || dedupe_percent > 0 {
        Content::Shaped {
            compress_percent,
            dedupe_percent,
        }
    } else if spec.values.flag("refill_buffers") {
        Content::Fresh
    } else {
        Content::Random
    }
}

/// The rates of the directions that occur, added up.
fn pace(spec: &Spec, way: Way, block: u64) -> Result<Pace, Mistake> {
    let occurs = [way.reads, way.writes, way.trims];
    let sum = |name: &str| -> Option<f64> {
        let rates = spec.values.sizes(name)?;
        let rates = rates.iter().zip(occurs).filter(|(_, occurs)| *occurs);
        Some(rates.map(|(rate, _)| *rate as f64).sum::<f64>()).filter(|sum| *sum > 0.0)
    };
    let rate = match (sum("rate_iops"), sum("rate")) {
        (Some(iops), _) => Rate::Iops(iops),
        (None, Some(bytes)) => Rate::Bytes(bytes),
        (None, None) => return Ok(Pace::Closed),
    };
    if let Rate::Bytes(bytes) = rate
        && bytes < block as f64 / 3600.0
    {
        return Err(spec.mistake(
            "rate",
            "not one block in an hour: the unit may be missing, as in rate=10m",
        ));
    }
    Ok(match spec.values.text("rate_process") {
        Some("poisson") => Pace::OpenPoisson(rate),
        _ => Pace::Capped(rate),
    })
}

fn think(spec: &Spec) -> Option<Think> {
    let pause = Nanos(spec.values.time("thinktime").filter(|pause| *pause > 0)?);
    let every = count(spec, "thinktime_blocks").max(1);
    Some(Think { pause, every })
}

fn stop(spec: &Spec, way: Way, ground: &Ground, block: u64) -> Result<Stop, Mistake> {
    let runtime = spec
        .values
        .time("runtime")
        .filter(|time| *time > 0)
        .map(Nanos);
    let steady = steady(spec)?;
    let in_time = spec.values.flag("time_based") && runtime.is_some();
    let loops = spec.values.number("loops").unwrap_or(1).max(1) as u64;
    let once = match spec.values.share("io_size") {
        Some(super::value::Share::Bytes(bytes)) if bytes > 0 => bytes,
        Some(super::value::Share::Percent(percent)) => {
            (ground.space as f64 * percent / 100.0) as u64
        }
        _ => pass(spec, way, ground, block),
    };
    let bytes = (!in_time && once > 0).then(|| Bytes(once.saturating_mul(loops)));
    if runtime.is_none() && bytes.is_none() {
        let wrong = format!(
            "job {}: it would never end; runtime=30 or size=1g would end it",
            spec.name
        );
        return Err(Mistake::new(&spec.at, wrong));
    }
    Ok(Stop {
        runtime,
        bytes,
        ios: Some(u64::from(count(spec, "number_ios"))).filter(|ios| *ios > 0),
        loops: None,
        steady,
    })
}

/// Bytes of one pass: what of a file is no whole block is left out, where blocks are of one size.
fn pass(spec: &Spec, way: Way, ground: &Ground, block: u64) -> u64 {
    let Some(size) = ground.size else {
        return ground.space / block * block;
    };
    if spec.values.is_given("bssplit") || spec.values.is_given("bsrange") {
        return ground.space;
    }
    let files = ground.targets.len() as u64;
    let draws_freely = way.random && spec.values.flag("norandommap");
    let blocks = if draws_freely {
        size.div_ceil(block)
    } else {
        size / block
    };
    blocks.max(1) * block * files
}

/// `iops:10%`, `iops_slope:0.3%`, `bw:…`.
fn steady(spec: &Spec) -> Result<Option<Steady>, Mistake> {
    let over = spec.values.time("steadystate_duration").unwrap_or(0);
    let Some(text) = spec.values.text("steadystate") else {
        return Ok(None);
    };
    let (word, limit) = text.split_once(':').unwrap_or((text, "0.01%"));
    let variable = match word {
        "iops" | "iops_slope" => SteadyVariable::Iops,
        "bw" | "bw_slope" => SteadyVariable::Bandwidth,
        "lat" | "lat_slope" => SteadyVariable::Latency,
        _ => {
            let wrong = format!("`{word}` is none of iops, iops_slope, bw, bw_slope");
            return Err(spec.mistake("steadystate", wrong));
        }
    };
    let limit = limit.trim_end_matches('%').parse::<f64>();
    let limit_percent = limit.map_err(|_| spec.mistake("steadystate", "the limit is no number"))?;
    if over == 0 {
        return Err(spec.mistake(
            "steadystate",
            "steadystate_duration= must say over what time",
        ));
    }
    Ok(Some(Steady::Slope {
        variable,
        round: Nanos::from_secs(1),
        rounds: (over / 1_000_000_000).clamp(3, 86_400) as u32,
        limit_percent,
    }))
}
