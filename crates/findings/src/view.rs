//! What the rules look at: the cases of a record, each with its passes and their summary.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{
    DiskUse, JobResult, Measurement, Origin, PaceKind, Record, TargetFacts, TargetKind,
};
use blocklab_workload::{Address, Direction, EngineKind, Job, Target};

use crate::{Row, rows};

/// What the rules look at: the record and its cases.
pub struct Cases<'a> {
    /// The whole record.
    pub record: &'a Record,
    /// In the order in which they first appear.
    pub list: Vec<CaseView<'a>>,
}

impl<'a> Cases<'a> {
    /// The cases of a record, of which `rows` are the sums.
    pub(crate) fn new(record: &'a Record, rows: &'a [rows::Summed]) -> Self {
        let groups = rows::by_case(&record.measurements).into_iter();
        let views = groups.zip(rows);
        Self {
            record,
            list: views
                .map(|(group, summed)| CaseView::new(group, &summed.row, summed.damaged))
                .collect(),
        }
    }
}

impl Cases<'_> {
    /// Whether a real block device can lie below the load.
    pub fn on_storage(&self) -> bool {
        use TargetKind::{BlockDevice, File, Scratch};
        let mut kinds = self.record.targets.iter().map(|target| target.kind);
        self.record.origin == Origin::Measured
            && kinds.any(|kind| matches!(kind, File | Scratch | BlockDevice))
            && !self.in_memory()
    }

    /// Whether the device model answered in virtual time: no machine, no neighbour, no noise.
    pub fn is_simulated(&self) -> bool {
        self.record.origin == Origin::Simulated
    }

    /// Whether the device model answered in real time: what its pacing costs is no fault of a
    /// target, and its limits name what it holds back.
    pub fn is_emulated(&self) -> bool {
        self.record.origin == Origin::Emulated
    }

    /// Whether a modelled target lies behind a cache that some reads miss.
    pub fn has_hits_and_misses(&self) -> bool {
        self.record.targets.iter().any(|target| {
            let parsed = Target::parse(&target.path);
            let address = parsed.as_ref().ok().and_then(Target::address);
            matches!(address, Some(Address::Sold(offer)) if offer.has_hits_and_misses())
        })
    }

    /// `simulated` for a simulated run, else `real`.
    pub fn real_or_simulated<'w>(&self, real: &'w str, simulated: &'w str) -> &'w str {
        if self.is_simulated() { simulated } else { real }
    }

    /// `modelled` where the device model answered, in virtual or in real time, else `real`.
    pub(crate) fn real_or_modelled<'w>(&self, real: &'w str, modelled: &'w str) -> &'w str {
        if self.is_simulated() || self.is_emulated() {
            modelled
        } else {
            real
        }
    }

    /// Whether a target lies on a file system that keeps everything in memory.
    pub fn in_memory(&self) -> bool {
        self.record.targets.iter().any(lies_in_memory)
    }

    /// Whether jobs that do not fill the same slots keep shares of the load of a case: one that is ahead
    /// waits for the others, and its slots are empty.
    pub fn keeps_shares(&self, case: &CaseView<'_>) -> bool {
        let of_share = self.planned_jobs(case).filter_map(|job| {
            let pool = job.pool.as_ref();
            let has_share = job.flow.is_some() || pool.is_some_and(|pool| pool.share.is_some());
            has_share.then(|| pool.map_or(&job.name, |pool| &pool.pool))
        });
        of_share.collect::<BTreeSet<_>>().len() > 1
    }

    /// Whether a job of a case issues fewer operations than its depth allows: until a batch is done, while a
    /// search tries another depth, or where two would overlap.
    pub fn holds_operations_back(&self, case: &CaseView<'_>) -> bool {
        self.planned_jobs(case)
            .any(|job| job.batch.low > 0 || job.latency_target.is_some() || job.no_overlap)
    }

    /// Whether every job of a case fills its queue again only when few operations are left in it.
    pub(crate) fn lets_queue_run_down(&self, case: &CaseView<'_>) -> bool {
        let mut jobs = self.planned_jobs(case).peekable();
        jobs.peek().is_some() && jobs.all(|job| job.batch.low > 0)
    }

    /// The most completions that a job of a case waits for at a time; 1: it handles each as it comes.
    pub fn completions_at_a_time(&self, case: &CaseView<'_>) -> u32 {
        let batches = self
            .planned_jobs(case)
            .map(|job| job.batch.complete.min(job.effective_depth()));
        batches.max().unwrap_or(1)
    }

    /// The jobs of a case as they were requested; none where the record has no plan.
    pub(crate) fn planned_jobs(&self, case: &CaseView<'_>) -> impl Iterator<Item = &Job> {
        let plan = self.record.requested.plan.iter();
        let mut cases = plan.flat_map(|plan| &plan.cases);
        let planned = cases.find(|planned| planned.name == case.name);
        planned
            .into_iter()
            .flat_map(|planned| &planned.workload.jobs)
    }

    /// Bytes that the devices right below the targets moved in a measurement. Devices that lie
    /// below those in turn would count the same bytes again. `None` where no device was watched.
    pub fn device_bytes(&self, pass: &Measurement, direction: Direction) -> Option<u64> {
        let targets = self.record.targets.iter();
        let nearest: BTreeSet<&str> = targets
            .filter_map(|target| Some(&*target.devices.first()?.name))
            .collect();
        // Where none of the watched disks is one of these, all count.
        let any_nearest = pass.disks.iter().any(|disk| nearest.contains(&*disk.name));
        let bytes = pass
            .disks
            .iter()
            .filter(|disk| !any_nearest || nearest.contains(&*disk.name))
            .map(|disk| disk_bytes(disk, direction));
        (!pass.disks.is_empty()).then(|| bytes.sum())
    }
}

/// Whether a target lies on a file system that keeps everything in memory.
pub(crate) fn lies_in_memory(target: &TargetFacts) -> bool {
    let mut systems = target.file_system.iter();
    systems.any(|system| ["tmpfs", "ramfs"].contains(&&*system.kind))
}

/// What a disk moved: of reads, else of writes.
pub fn disk_bytes(disk: &DiskUse, direction: Direction) -> u64 {
    match direction {
        Direction::Read => disk.read_bytes,
        _ => disk.write_bytes,
    }
}

/// One case: its passes and what they come to.
pub struct CaseView<'a> {
    /// As the study names it.
    pub name: &'a str,
    /// By pass, at least one.
    pub passes: Vec<&'a Measurement>,
    /// Its summary.
    pub row: &'a Row,
    /// Histograms that could not be read.
    pub damaged: u32,
    /// Operations per second of each pass that moved anything: all jobs, without syncs.
    pub pass_iops: Vec<f64>,
    /// The numbers of those passes.
    pub pass_numbers: Vec<u32>,
}

impl<'a> CaseView<'a> {
    /// `passes` are at least one; `damaged`: histograms of them that could not be read.
    pub fn new(passes: Vec<&'a Measurement>, row: &'a Row, damaged: u32) -> Self {
        let (pass_numbers, pass_iops) = passes
            .iter()
            .map(|pass| {
                (
                    pass.pass,
                    pass.jobs.iter().map(JobResult::iops).sum::<f64>(),
                )
            })
            .filter(|(_, iops)| *iops > 0.0)
            .unzip();
        Self {
            name: &passes[0].case,
            pass_iops,
            pass_numbers,
            passes,
            row,
            damaged,
        }
    }

    /// Every job of every pass.
    pub fn jobs(&self) -> impl Iterator<Item = &'a JobResult> + '_ {
        self.passes.iter().flat_map(|pass| &pass.jobs)
    }

    /// Whether any job has operations of this direction.
    pub fn does(&self, direction: Direction) -> bool {
        self.jobs()
            .any(|job| job.directions.contains_key(&direction))
    }

    /// Its job, where it has one.
    pub fn only_job(&self) -> Option<&'a JobResult> {
        match &*self.passes[0].jobs {
            [job] => Some(job),
            _ => None,
        }
    }

    /// The IOPS as the tables show them: by the record's own aggregate of the passes, without
    /// syncs.
    pub fn iops(&self) -> f64 {
        self.row.moved().map(|moved| moved.iops.value).sum()
    }

    /// The rate of all jobs together, over all the measured time, as a share of the sum of their own rates,
    /// each of which is over the time of its job: 1, or less where jobs begin late or end early.
    pub(crate) fn share_together(&self) -> f64 {
        let (mut together, mut sum) = (0.0, 0.0);
        for pass in self.passes.iter().filter(|pass| pass.jobs.len() > 1) {
            let all_ns = span_ns(pass).max(1) as f64;
            for job in &pass.jobs {
                together += job.iops() * job.elapsed_ns as f64 / all_ns;
                sum += job.iops();
            }
        }
        if sum > 0.0 { together / sum } else { 1.0 }
    }

    /// The throughput as the tables show it.
    pub fn bytes_per_s(&self) -> f64 {
        let transferred = self.row.transferred();
        transferred.map(|moved| moved.bytes_per_s.value).sum()
    }

    /// Mean size of an operation that transfers data.
    pub fn bytes_per_io(&self) -> f64 {
        let iops: f64 = self.row.transferred().map(|moved| moved.iops.value).sum();
        self.bytes_per_s() / iops.max(f64::MIN_POSITIVE)
    }

    /// Operations, syncs included, over all passes.
    pub fn ios(&self) -> u64 {
        let directions = self.jobs().flat_map(|job| job.directions.values());
        directions.map(|direction| direction.ios).sum()
    }

    /// Mean service latency as the tables show it, of all directions by their share.
    pub fn latency_ns(&self) -> f64 {
        let directions = self.row.directions.iter();
        let sum = directions.map(|direction| direction.iops.value * direction.mean_ns.value);
        sum.sum::<f64>() / self.row.iops_with_syncs().max(f64::MIN_POSITIVE)
    }

    /// Operations in flight on average, by Little's law: sum of latencies over time.
    pub fn mean_in_flight(&self) -> f64 {
        let passes = self.passes.iter().map(|pass| {
            let jobs = pass.jobs.iter();
            jobs.map(|job| job_latency_sum_ns(job) / job.elapsed_ns.max(1) as f64)
                .sum()
        });
        mean(passes.filter(|in_flight| *in_flight > 0.0))
    }

    /// Operations that the engine may have in flight, all jobs and threads together.
    pub fn slots(&self) -> u64 {
        self.once_a_pool(&|job| u64::from(job.threads) * u64::from(job.effective_depth))
    }

    /// The number of threads that issue operations; those of a pool count once.
    pub fn threads(&self) -> u64 {
        self.once_a_pool(&|job| u64::from(job.threads))
    }

    /// The sum of a figure over the jobs of the first pass; the others run the same jobs. Of jobs that
    /// share a pool, only the largest counts.
    fn once_a_pool(&self, count: &dyn Fn(&JobResult) -> u64) -> u64 {
        let mut pools: BTreeMap<&str, u64> = BTreeMap::new();
        let mut sum = 0;
        for job in &self.passes[0].jobs {
            match &job.pool {
                Some(pool) => {
                    let largest = pools.entry(pool).or_default();
                    *largest = count(job).max(*largest);
                }
                None => sum += count(job),
            }
        }
        sum + pools.values().sum::<u64>()
    }

    /// Whether every slot is always meant to be full: no rate, no pauses.
    pub fn is_saturating(&self) -> bool {
        self.jobs().all(|job| {
            let unpaced = job.requested_iops.is_none() && job.requested_bytes_per_s.is_none();
            unpaced && job.pace == PaceKind::Closed && !job.think
        })
    }

    /// Whether operations of any job begin at moments of their own, whatever is in flight.
    pub fn is_open(&self) -> bool {
        use PaceKind::{Dependent, OpenFixed, OpenPoisson, Recorded};
        self.jobs()
            .any(|job| matches!(job.pace, OpenFixed | OpenPoisson | Recorded | Dependent))
    }

    /// Whether every job is known to go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.jobs().all(|job| job.direct == Some(true))
    }

    /// Whether any job does no I/O at all.
    pub fn is_null(&self) -> bool {
        self.jobs().any(|job| job.engine.is(EngineKind::Null))
    }

    /// Measured time of all passes: of the longest job in each.
    pub fn measured_ns(&self) -> u64 {
        self.passes
            .iter()
            .filter_map(|pass| pass.jobs.iter().map(|job| job.elapsed_ns).max())
            .sum()
    }

    /// The shortest load before the measured time of a pass.
    pub fn ramp_ns(&self) -> u64 {
        self.passes
            .iter()
            .map(|pass| {
                let ramp = pass.series.iter().filter(|interval| interval.ramp);
                ramp.map(|interval| interval.length_ns).sum::<u64>()
            })
            .min()
            .unwrap_or(0)
    }

    /// Bytes moved in a direction by a pass, the ramp included: the devices saw that too. The bytes of
    /// the ramp are estimated from its share of the operations.
    pub fn moved_bytes(pass: &Measurement, direction: Direction) -> f64 {
        pass.jobs
            .iter()
            .map(|job| {
                let counts = &job.accounting;
                let measured = counts
                    .completed
                    .saturating_sub(counts.completed_in_ramp)
                    .max(1);
                let stretch = counts.completed.max(measured) as f64 / measured as f64;
                let bytes = job
                    .directions
                    .get(&direction)
                    .map_or(0, |result| result.bytes);
                bytes as f64 * stretch
            })
            .sum()
    }

    /// Bytes moved in a direction by all passes, their ramps included.
    pub fn moved(&self, direction: Direction) -> f64 {
        let passes = self.passes.iter();
        passes.map(|pass| Self::moved_bytes(pass, direction)).sum()
    }

    /// Mean over the passes of the busiest thread, in per cent of a processor.
    pub fn busiest_thread_percent(&self) -> f64 {
        self.mean_of(|pass| f64::from(pass.cpu.busiest_thread_percent))
    }

    /// Mean over the passes of the machine's busy share, in per cent.
    pub fn machine_busy_percent(&self) -> f64 {
        self.mean_of(|pass| f64::from(pass.cpu.machine_busy_percent))
    }

    /// Processors that the process used on average.
    pub fn own_processors(&self) -> f64 {
        self.mean_of(|pass| {
            (pass.cpu.user_ns + pass.cpu.system_ns) as f64 / pass.elapsed_ns.max(1) as f64
        })
    }

    fn mean_of(&self, what: impl Fn(&Measurement) -> f64) -> f64 {
        mean(self.passes.iter().map(|pass| what(pass)))
    }

    /// Failed operations by kind and direction.
    pub(crate) fn failures(&self) -> Vec<rows::Failures<'a>> {
        rows::failures_by_kind(&self.passes)
    }
}

/// The measured time of a pass of several jobs: that of the longest, or more where one began before another
/// and ended before it, which the slices show.
fn span_ns(pass: &Measurement) -> u64 {
    let longest = pass.jobs.iter().map(|job| job.elapsed_ns).max();
    let measured = pass.series.iter().filter(|interval| !interval.ramp);
    let of_slices: u64 = measured.map(|interval| interval.length_ns).sum();
    of_slices.max(longest.unwrap_or(0))
}

/// The latencies of all operations of a job together, in ns.
pub(crate) fn job_latency_sum_ns(job: &JobResult) -> f64 {
    let directions = job.directions.values();
    directions.map(|d| d.ios as f64 * d.service.mean_ns).sum()
}

/// 0 without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(count.max(1))
}
