use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::thread;

use blocklab_catalog::{Address, Catalog, resolve};
use blocklab_device::{DeviceSpec, Load, predict};
use blocklab_publication::System;
use blocklab_record::{Interval, Measurement, Record, Status};
use blocklab_study::{Assignment, Guard, Observer, run_plan};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Job, Plan};

use super::published::{Cell, Study, Unit};

/// A study, and what the model makes of it.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// Which one.
    pub study: &'a Study,
    /// Every cell, in the order in which they were published.
    pub cells: Vec<Compared>,
}

/// A published figure and ours.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Published.
    pub cell: Cell,
    /// Ours, in the unit of the cell.
    pub predicted: f64,
    /// Which limit binds at the end of the measurement, by the closed form.
    pub binding: String,
}

impl Compared {
    /// Ours over theirs, less one, in per cent.
    #[must_use]
    pub fn error_percent(&self) -> f64 {
        (self.predicted / self.cell.published - 1.0) * 100.0
    }
}

/// All studies, on all processors.
#[must_use]
pub fn repeat_all(studies: &[Study]) -> Vec<Outcome<'_>> {
    thread::scope(|scope| {
        let started = studies.iter().map(|study| scope.spawn(|| repeat(study)));
        let started: Vec<_> = started.collect();
        let ended = started.into_iter();
        ended.map(|it| it.join().expect("repeated")).collect()
    })
}

/// Repeats a study on all its systems in virtual time.
///
/// # Panics
/// When an address is not understood, or a cell has no case: all are ours.
#[must_use]
pub fn repeat(study: &Study) -> Outcome<'_> {
    let plan = &study.plan;
    let runs: Vec<SystemRun<'_>> = thread::scope(|scope| {
        let runs = study.systems.iter();
        let runs: Vec<_> = runs
            .map(|system| scope.spawn(|| SystemRun::of(plan, system)))
            .collect();
        let ended = runs.into_iter();
        ended.map(|it| it.join().expect("repeated")).collect()
    });
    let compared = |cell: &Cell| {
        let mut runs = runs.iter();
        let run = runs.find(|run| run.system.name == cell.system);
        run.expect("a system of the study")
            .compare(plan, cell.clone())
    };
    let cells = study.cells.iter().map(compared).collect();
    Outcome { study, cells }
}

/// A study on one system.
struct SystemRun<'a> {
    system: &'a System,
    spec: DeviceSpec,
    record: Record,
}

impl<'a> SystemRun<'a> {
    fn of(plan: &Plan, system: &'a System) -> Self {
        let catalog = Catalog::embedded();
        let address = Address::parse(&system.address).expect("an address");
        let resolved = resolve(&address, &catalog).expect("it was sold");
        let record = simulate(plan.clone(), &system.address);
        Self {
            system,
            spec: resolved.spec,
            record,
        }
    }

    fn compare(&self, plan: &Plan, cell: Cell) -> Compared {
        let mut all = self.record.measurements.iter();
        let measurement = all.find(|it| it.case == cell.case);
        let measurement = measurement.expect("a measurement of every cell");
        let result = &measurement.jobs[0];
        let predicted = match cell.unit {
            Unit::Iops => result.iops(),
            Unit::MibPerS => result.bytes_per_s() / 1_048_576.0,
        };
        let mut cases = plan.cases.iter();
        let case = cases.find(|case| case.name == cell.case);
        let job = &case.expect("a case of every cell").workload.jobs[0];
        Compared {
            binding: self.binding(job, measurement),
            cell,
            predicted,
        }
    }

    /// What binds at the end of the measurement.
    fn binding(&self, job: &Job, measurement: &Measurement) -> String {
        let load = Load {
            read_percent: job.mix.read,
            block: job.sizes.read.largest(),
            streams: if job.pattern.is_sequential() {
                job.threads
            } else {
                0
            },
            in_flight: job.threads * measurement.jobs[0].effective_depth,
        };
        let prediction = predict(&self.spec, load).expect("a sound device");
        let end = Nanos(measurement.elapsed_ns);
        prediction.at(end).binding.to_string()
    }
}

/// A plan on `sim:ADDRESS`.
///
/// # Panics
/// When it cannot be conducted to its end.
#[must_use]
pub fn simulate(plan: Plan, address: &str) -> Record {
    // It takes longer to read than most plans to simulate.
    static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::embedded);
    let assignment = Assignment {
        id: "accuracy".to_owned(),
        tool: "blocklab".to_owned(),
        plan,
        notes: Vec::new(),
        targets: &[format!("sim:{address}")],
        guard: &Guard::default(),
        create: false,
        may_replace_engine: false,
        catalog: &CATALOG,
        interrupted: &AtomicBool::new(false),
    };
    let record = run_plan(assignment, &mut Unwatched).expect("a run");
    assert_eq!(record.status, Status::Complete, "{:?}", record.failure);
    record
}

struct Unwatched;

impl Observer for Unwatched {
    fn laying_out(&mut self, _: &Path, _: Bytes, _: Bytes) {}
    fn begins(&mut self, _: &Case, _: u32, _: usize, _: usize) {}
    fn interval(&mut self, _: &Interval, _: Nanos) {}
    fn ended(&mut self, _: &Record) {}
}
