//! In: Records. Out: cells, each a load with what it reached over all passes, and what was left out.

use std::collections::BTreeMap;

use blocklab_device::{Accounting, Charge, Load as Steady};
use blocklab_record::{JobResult, Measurement, Origin, PaceKind, Record, Status, TargetKind};
use blocklab_stats::{Histogram, largest_step, median};
use blocklab_units::{Bytes, plural};
use blocklab_workload::{Direction, Durability, EngineKind, Mix, Pattern};

use super::{CannotCalibrate, LeftOut};

/// What operations do: a direction, or a mixture of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LoadDirection {
    Read,
    Write,
    /// Share of reads in per cent; the rest are writes.
    Mixed(u8),
}

/// The load of a cell: two cells of one load are passes of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Load {
    pub direction: LoadDirection,
    /// One sequential stream; else uniformly random.
    pub sequential: bool,
    pub block: u64,
    pub depth: u32,
}

impl Load {
    /// `4 KiB random read, depth 32`.
    pub(super) fn text(self) -> String {
        let pattern = pattern(self.sequential);
        let operations = match self.direction {
            LoadDirection::Read => "read".to_owned(),
            LoadDirection::Write => "write".to_owned(),
            LoadDirection::Mixed(reads) => format!("{reads} % read"),
        };
        let (size, depth) = (Bytes(self.block), self.depth);
        format!("{size} {pattern} {operations}, depth {depth}")
    }

    /// The load in the terms of the closed form.
    pub(super) fn steady(self) -> Steady {
        Steady {
            read_percent: self.read_percent(),
            block: Bytes(self.block),
            streams: u32::from(self.sequential),
            in_flight: self.depth,
        }
    }

    /// What one operation is charged as.
    pub(super) fn charged(self, accounting: Accounting) -> Charge {
        accounting.charge(self.block as f64, self.sequential)
    }

    pub(super) const fn read_percent(self) -> u8 {
        match self.direction {
            LoadDirection::Read => 100,
            LoadDirection::Write => 0,
            LoadDirection::Mixed(reads) => reads,
        }
    }
}

pub(super) const fn pattern(sequential: bool) -> &'static str {
    if sequential { "sequential" } else { "random" }
}

/// A load and what it reached over all passes.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub load: Load,
    /// Mean over the passes.
    pub iops: f64,
    /// The same without the time in which a limiter let pass what it had saved up.
    pub lasting_iops: f64,
    /// From the slowest to the fastest pass, relative to the mean; `None`: one pass.
    pub range: Option<f64>,
    /// Mean latency of all operations.
    pub mean_ns: f64,
    /// Mean latency of the reads; 0 without any.
    pub read_mean_ns: f64,
    /// Standard error of the mean, relative to it.
    pub mean_error: f64,
    pub count: u64,
    pub histogram: Histogram,
    /// Whether a thread of blocklab used a whole processor: then the disk was not the limit.
    pub cpu_bound: bool,
    /// Whether the machine had no processor left: an operation may have waited for one.
    pub busy: bool,
}

/// Cells of all runs, each load once, and what was left out.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// By load.
    pub cells: Vec<Cell>,
    /// By reason.
    pub left_out: Vec<LeftOut>,
    /// Every usable measurement from its first operation on, in order of time.
    pub starts: Vec<Start>,
}

/// A measurement with its ramp: what a limiter saved up while it rested shows there.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub load: Load,
    /// Operations of the ramp and of what was measured.
    pub ops: f64,
    /// Time of both.
    pub seconds: f64,
    /// Seconds since the end of the last usable measurement before it; infinite where none is known.
    pub rest: f64,
}

impl Start {
    /// All passes of a run that can be used, each with its rest.
    fn all(record: &Record) -> Vec<Self> {
        let mut starts = Vec::new();
        let mut last_end_ns = None;
        for measurement in &record.measurements {
            // The clock of a resumed run begins again, so its next pass may start before this end.
            let rest_ns = last_end_ns.and_then(|end| measurement.started_ns.checked_sub(end));
            let rest = rest_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
            if let Some(start) = Self::new(measurement, rest) {
                starts.push(start);
                // A pass that cannot be used counts as rest: what a cap saved up is then found too small
                // rather than too large.
                last_end_ns = Some(measurement.started_ns + measurement.elapsed_ns);
            }
        }
        starts
    }

    /// A pass with the seconds of rest before it. `None` if it cannot be used or has no series.
    fn new(measurement: &Measurement, rest: f64) -> Option<Self> {
        let (load, _) = Pass::with_load(measurement).ok()?;
        let (mut ns, mut ops) = (0, 0);
        for slice in &measurement.series {
            ns += slice.length_ns;
            ops += slice.read.ios + slice.write.ios;
        }
        (ns > 0).then(|| Self {
            load,
            ops: ops as f64,
            seconds: ns as f64 / 1e9,
            rest,
        })
    }
}

/// Below this many operations a cell shows little of a rate and nothing of a distribution.
const FEWEST: u64 = 20;
/// From here on a thread uses a whole processor; the rest is the tick of the kernel's accounts.
const FULL_PERCENT: u32 = 95;

impl Sweep {
    /// Every cell that one queue of equal operations left on one target.
    pub(super) fn new(records: &[&Record], allow_modelled: bool) -> Result<Self, CannotCalibrate> {
        if records.is_empty() {
            return Err(CannotCalibrate::NoRun);
        }
        for record in records {
            sound(record, allow_modelled)?;
        }
        one_target(records)?;
        let mut groups: BTreeMap<Load, Vec<Pass>> = BTreeMap::new();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        let starts = records
            .iter()
            .flat_map(|record| Start::all(record))
            .collect();
        let measurements = records.iter().flat_map(|record| &record.measurements);
        // Pass 0 is one that the study itself discards.
        for measurement in measurements.filter(|measurement| measurement.pass > 0) {
            match Pass::with_load(measurement) {
                Ok((load, pass)) => groups.entry(load).or_default().push(pass),
                Err(reason) => *left_out.entry(reason).or_default() += 1,
            }
        }
        let cells = groups
            .into_iter()
            .map(|(load, passes)| merged(load, &passes));
        let left_out = left_out.into_iter().map(|(reason, measurements)| LeftOut {
            reason,
            measurements,
        });
        let sweep = Self {
            cells: cells.collect(),
            left_out: left_out.collect(),
            starts,
        };
        if sweep.cells.is_empty() {
            Err(sweep.nothing_usable())
        } else {
            Ok(sweep)
        }
    }

    /// The error if no cell is left: all reasons, each with the number of its measurements.
    fn nothing_usable(&self) -> CannotCalibrate {
        let (mut all, mut reasons) = (0, Vec::new());
        for left_out in &self.left_out {
            all += left_out.measurements;
            reasons.push(format!("{} ({})", left_out.reason, left_out.measurements));
        }
        CannotCalibrate::NothingUsable {
            cells: cells_text(all),
            reasons: reasons.join("; "),
        }
    }

    pub(super) fn mixed(&self) -> impl Iterator<Item = &Cell> {
        let cells = self.cells.iter();
        cells.filter(|cell| matches!(cell.load.direction, LoadDirection::Mixed(_)))
    }

    /// Cells of one direction and pattern, by size and depth.
    pub(super) fn series(
        &self,
        direction: LoadDirection,
        sequential: bool,
    ) -> impl Iterator<Item = &Cell> {
        let cells = self.cells.iter();
        cells.filter(move |cell| {
            cell.load.direction == direction && cell.load.sequential == sequential
        })
    }
}

/// `1 cell`, `12 cells`.
pub(super) fn cells_text(number: usize) -> String {
    plural(number, "cell")
}

/// Refuses a failed run, and a run of a model unless `allow_modelled`.
fn sound(record: &Record, allow_modelled: bool) -> Result<(), CannotCalibrate> {
    let run = record.id.clone();
    let how = match record.origin {
        Origin::Measured | Origin::Imported => None,
        Origin::Simulated => Some("simulated"),
        Origin::Emulated => Some("emulated"),
    };
    match (how, record.status) {
        (Some(how), _) if !allow_modelled => Err(CannotCalibrate::Modelled { run, how }),
        (_, Status::Failed) => Err(CannotCalibrate::Failed {
            run,
            why: record
                .failure
                .clone()
                .unwrap_or_else(|| "no reason kept".to_owned()),
        }),
        _ => Ok(()),
    }
}

/// Whether a measurement becomes a cell.
pub(super) fn usable(measurement: &Measurement) -> bool {
    Pass::with_load(measurement).is_ok()
}

/// The disk below a target: a scratch file has another name in every run, its disk has not.
pub(super) fn disk(record: &Record) -> Option<(&str, Bytes)> {
    let target = record.targets.first()?;
    Some(match target.devices.first() {
        Some(device) => (&device.name, device.size_bytes),
        None => (&target.path, target.size_bytes),
    })
}

/// Refuses runs of several targets or of different disks, and runs of the null target.
fn one_target(records: &[&Record]) -> Result<(), CannotCalibrate> {
    for record in records {
        if let [first, second, ..] = &record.targets[..] {
            return Err(CannotCalibrate::Targets {
                first: first.path.clone(),
                second: second.path.clone(),
            });
        }
    }
    // A Record without targets has no disk, and must not hide that the runs around it differ.
    let mut names = records
        .iter()
        .filter_map(|record| disk(record).map(|(name, _size)| name));
    if let Some(first) = names.next()
        && let Some(second) = names.find(|name| *name != first)
    {
        return Err(CannotCalibrate::Targets {
            first: first.to_owned(),
            second: second.to_owned(),
        });
    }
    let mut targets = records.iter().flat_map(|record| &record.targets);
    if targets.any(|target| target.kind == TargetKind::Null) {
        return Err(CannotCalibrate::NothingUsable {
            cells: "its cells".to_owned(),
            reasons: "the null target is no disk; it shows what blocklab itself costs".to_owned(),
        });
    }
    Ok(())
}

/// One measurement that can be used.
#[derive(Default)]
struct Pass {
    iops: f64,
    lasting_iops: f64,
    histogram: Histogram,
    count: u64,
    sum_ns: f64,
    /// `count` of the reads alone.
    read_count: u64,
    /// `sum_ns` of the reads alone.
    read_sum_ns: f64,
    sum_squares: f64,
    cpu_bound: bool,
    busy: bool,
}

/// Above this share of merged operations a cell shows the block layer and not the disk.
const MERGED: f64 = 0.05;

/// Slices on either side of a step.
const SIDE: usize = 2;
/// Share of the scatter that the two levels of a step explain.
const EXPLAINED: f64 = 0.85;
/// A rate that fell by less is the same.
const FELL: f64 = 0.1;

/// Operations a second after the moment at which they fell, where they did. A load that came to a stop
/// shows no rate that lasts.
fn lasting(measurement: &Measurement) -> Option<f64> {
    let slices = measurement
        .series
        .iter()
        .filter(|slice| !slice.ramp && slice.length_ns > 0);
    let rates: Vec<f64> = slices
        .map(|slice| (slice.read.ios + slice.write.ios) as f64 * 1e9 / slice.length_ns as f64)
        .collect();
    let step = largest_step(&rates, SIDE)?;
    let fell = step.after < step.before * (1.0 - FELL);
    // The slice in which it fell has a part of both levels.
    let after = rates
        .get(step.at + 1..)
        .filter(|_| fell && step.explained > EXPLAINED)?;
    Some(median(after)).filter(|rate| *rate > 0.0)
}

/// Whether the block layer joined operations on their way to the disk.
fn is_merged(measurement: &Measurement) -> bool {
    let merges = measurement
        .disks
        .iter()
        .map(|disk| disk.read_merges + disk.write_merges);
    let issued = measurement.jobs.iter().map(|job| job.accounting.issued);
    merges.max().unwrap_or(0) as f64 > MERGED * issued.sum::<u64>() as f64
}

impl Pass {
    /// A measurement and its load.
    ///
    /// # Errors
    /// Why it cannot be used.
    fn with_load(measurement: &Measurement) -> Result<(Load, Self), String> {
        let [job] = &measurement.jobs[..] else {
            return Err("several jobs at once".to_owned());
        };
        let load = load(job)?;
        if is_merged(measurement) {
            return Err(
                "the kernel merged operations, so that the disk saw fewer and larger ones"
                    .to_owned(),
            );
        }
        let mut pass = Self {
            iops: job.iops(),
            lasting_iops: lasting(measurement).unwrap_or(job.iops()),
            cpu_bound: measurement.cpu.busiest_thread_percent >= FULL_PERCENT,
            busy: measurement.cpu.machine_busy_percent >= FULL_PERCENT,
            ..Self::default()
        };
        let moved = job
            .directions
            .iter()
            .filter(|(name, _)| **name != Direction::Sync);
        for (direction, result) in moved {
            let service = &result.service;
            let histogram = service.histogram();
            pass.histogram
                .merge(&histogram.map_err(|_| "a damaged histogram".to_owned())?);
            let ops = service.count as f64;
            pass.count += service.count;
            pass.sum_ns += ops * service.mean_ns;
            if *direction == Direction::Read {
                (pass.read_count, pass.read_sum_ns) = (service.count, ops * service.mean_ns);
            }
            // E[x²] = mean² + variance: sums of it can be added up over directions and passes.
            pass.sum_squares += ops * (service.mean_ns.powi(2) + service.stddev_ns.powi(2));
        }
        if pass.count >= FEWEST && pass.iops > 0.0 && pass.sum_ns > 0.0 {
            Ok((load, pass))
        } else {
            Err(format!(
                "fewer than {FEWEST} operations: a longer --runtime helps"
            ))
        }
    }
}

/// The load on the disk, where it is one queue of equal operations.
fn load(job: &JobResult) -> Result<Load, String> {
    let sequential = match job.plain_pattern() {
        Some(Pattern::Sequential) => true,
        Some(Pattern::Random { .. }) => false,
        _ => return Err(format!("the pattern `{}`", job.pattern_name())),
    };
    // The first that holds is reported, so what makes the others meaningless comes first.
    let refusals = [
        (
            job.engine.is(EngineKind::Null),
            "the null engine reaches no disk",
        ),
        (
            job.direct != Some(true) && !job.engine.is(EngineKind::Null),
            "buffered: the page cache answered in the disk's place",
        ),
        (
            job.pace != PaceKind::Closed || job.think,
            "paced: the queue was not kept full",
        ),
        (
            job.durability != Durability::None,
            "O_SYNC or O_DSYNC: each write is more than one operation",
        ),
        (!job.errors.is_empty(), "operations failed"),
        (
            sequential && job.threads > 1,
            "several sequential streams at once",
        ),
        (has_mixed_sizes(job), "mixed block sizes"),
    ];
    if let Some((_, why)) = refusals.into_iter().find(|(holds, _)| *holds) {
        return Err(why.to_owned());
    }
    let (ios, bytes) = job
        .directions
        .values()
        .fold((0, 0), |(ios, bytes), result| {
            (ios + result.ios, bytes + result.bytes)
        });
    Ok(Load {
        direction: direction(job.mix).ok_or_else(|| format!("the mixture `{}`", job.mix_name()))?,
        sequential,
        block: bytes.checked_div(ios).unwrap_or(0),
        depth: job.threads.saturating_mul(job.effective_depth),
    })
}

/// Whether operations are of several sizes, as far as the record knows.
fn has_mixed_sizes(job: &JobResult) -> bool {
    let sizes = job.block_sizes.as_ref();
    sizes.is_some_and(|sizes| {
        let common = sizes.common(job.mix.unwrap_or(Mix::READ));
        common.is_none_or(|sizes| sizes.0.len() != 1)
    })
}

/// `None` for an unknown mix and for one with trims.
fn direction(mix: Option<Mix>) -> Option<LoadDirection> {
    match mix? {
        Mix::READ => Some(LoadDirection::Read),
        Mix::WRITE => Some(LoadDirection::Write),
        Mix { read, trim: 0, .. } => Some(LoadDirection::Mixed(read)),
        Mix { .. } => None,
    }
}

/// One cell of all passes of the same load.
fn merged(load: Load, passes: &[Pass]) -> Cell {
    let mut histogram = Histogram::new();
    let (mut count, mut iops, mut lasting_iops) = (0.0, 0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    let (mut sum_ns, mut sum_squares) = (0.0, 0.0);
    let (mut read_count, mut read_sum_ns) = (0.0, 0.0);
    for pass in passes {
        histogram.merge(&pass.histogram);
        count += pass.count as f64;
        iops += pass.iops;
        lasting_iops += pass.lasting_iops;
        (least, most) = (least.min(pass.iops), most.max(pass.iops));
        sum_ns += pass.sum_ns;
        sum_squares += pass.sum_squares;
        read_count += pass.read_count as f64;
        read_sum_ns += pass.read_sum_ns;
    }
    // Rates are averaged over passes; latencies are weighted by operations, as in one long pass.
    let number = passes.len() as f64;
    let iops = iops / number;
    let mean_ns = sum_ns / count;
    let variance = (sum_squares / count - mean_ns * mean_ns).max(0.0);
    Cell {
        load,
        iops,
        lasting_iops: lasting_iops / number,
        range: (passes.len() > 1).then_some((most - least) / iops),
        mean_ns,
        read_mean_ns: read_sum_ns / read_count.max(1.0),
        mean_error: (variance / count).sqrt() / mean_ns,
        count: count as u64,
        histogram,
        cpu_bound: passes.iter().any(|pass| pass.cpu_bound),
        busy: passes.iter().any(|pass| pass.busy),
    }
}
