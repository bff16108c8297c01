//! In: a published study. Out: its figures next to those of the model, found with the calls that a user's command makes.

use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::thread;

use blocklab_catalog::{Catalog, Resolved, resolve};
use blocklab_compare::study::{Compared, SystemOutcome, outcome};
use blocklab_device::{Load, predict};
use blocklab_findings::{Assessment, assess};
use blocklab_record::{Measurement, Record, Status};
use blocklab_runner::{self as runner, Finished, Guard, Prepared, Request, Setting};
use blocklab_store::Store;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Address;
use blocklab_workload::publication::{Basis, System};
use blocklab_workload::{Job, Plan, SizeMix};

use super::published::{Kind, Study};

// It takes longer to read than most plans to simulate.
pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::embedded);

/// A study, and what the model makes of it.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// Which one.
    pub study: &'a Study,
    /// What was simulated, system by system.
    pub records: Vec<Record>,
    /// Every published figure of a case or a sweep, in the order in which they were published.
    pub cells: Vec<Cell>,
}

/// A published figure and ours.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Both of them.
    pub compared: Compared,
    /// What it tells.
    pub kind: Kind,
    /// On which type of volume or family of instances with disks of their own.
    pub volume: String,
    /// Which limit binds at the end of the measurement, by the closed form; empty where nothing is
    /// predicted.
    pub binding: String,
}

impl Cell {
    /// Ours over theirs, less one, in per cent, where it says something of the model.
    #[must_use]
    pub fn counted(&self) -> Option<f64> {
        let counts = self.compared.basis == Basis::Measured;
        self.compared.error_percent().filter(|_| counts)
    }
}

/// All studies, on all processors.
#[must_use]
pub fn repeat_all(studies: &[Study]) -> Vec<Outcome<'_>> {
    thread::scope(|scope| {
        let started = studies.iter().map(|study| scope.spawn(|| repeat(study)));
        let started: Vec<_> = started.collect();
        let ended = started.into_iter();
        ended.map(|ended| ended.join().expect("repeated")).collect()
    })
}

/// Repeats a study on all its systems in virtual time.
///
/// # Panics
/// When an address is not understood: all are ours.
#[must_use]
pub fn repeat(study: &Study) -> Outcome<'_> {
    let records = simulate_all(study);
    let assessed: Vec<Assessment> = records.iter().map(assess).collect();
    let bought: Vec<Resolved> = study.publication.systems.iter().map(buy).collect();
    let systems = study.publication.systems.iter().zip(&bought);
    let systems = systems.map(|(system, bought)| {
        let place = study
            .modelled()
            .position(|modelled| modelled.name == system.name);
        SystemOutcome {
            system,
            run: place.map(|place| (&records[place], &assessed[place])),
            bought: Some(bought),
            listed: None,
        }
    });
    let systems: Vec<SystemOutcome<'_>> = systems.collect();
    let compared = outcome(&study.publication, &systems).compared;
    let cell = |compared: Compared| {
        let mut all = systems.iter();
        let own = all.find(|outcome| outcome.system.name == compared.system);
        let own = own.expect("a system of the study");
        let binding = binding(study, own, &compared.case);
        Cell {
            kind: Kind::for_figure(compared.figure, &binding),
            volume: volume(own.system),
            binding,
            compared,
        }
    };
    let cells = compared.into_iter().map(cell).collect();
    Outcome {
        study,
        records,
        cells,
    }
}

fn simulate_all(study: &Study) -> Vec<Record> {
    let requested = runner::Study {
        publication: study.publication.clone(),
        ..runner::Study::of_plan(study.plan.clone())
    };
    let Finished::Systems { measured, .. } = finished(requested, Vec::new()) else {
        panic!("a study of several systems");
    };
    let records: Vec<Record> = measured.into_iter().map(|(_, record)| record).collect();
    for record in &records {
        assert_eq!(record.status, Status::Complete, "{:?}", record.failure);
    }
    records
}

fn buy(system: &System) -> Resolved {
    let address = Address::parse(&system.address).expect("an address");
    resolve(&address, &CATALOG).expect("it was sold")
}

/// `gp2`; `local disks of i3`.
fn volume(system: &System) -> String {
    match Address::parse(&system.address) {
        Ok(Address::Sold(offer)) => match (&*offer.volume, &offer.instance) {
            ("local", Some(name)) => {
                let family = name.split('.').next().unwrap_or(name);
                format!("local disks of {family}")
            }
            (volume, _) => volume.to_owned(),
        },
        _ => system.address.clone(),
    }
}

/// What binds at the end of the measurement of a case, or of a sweep at full speed.
fn binding(study: &Study, system: &SystemOutcome<'_>, case: &str) -> String {
    let (Some((record, _)), Some(bought)) = (system.run, system.bought) else {
        return String::new();
    };
    let mut cases = study.plan.cases.iter();
    let job = &cases
        .find(|other| other.name == case)
        .expect("a case of every cell")
        .workload
        .jobs[0];
    let mut all = record.measurements.iter();
    let measurement = all
        .find(|measurement| measurement.case == case)
        .expect("it was measured");
    let prediction = predict(&bought.spec, load(job, measurement)).expect("a sound device");
    let end = Nanos(measurement.elapsed_ns);
    prediction.at(end).binding.to_string()
}

fn load(job: &Job, measurement: &Measurement) -> Load {
    let result = &measurement.jobs[0];
    Load {
        read_percent: job.mix.read,
        block: mean(&job.sizes.read),
        streams: if job.pattern.is_sequential() {
            result.threads
        } else {
            0
        },
        in_flight: result.threads * result.effective_depth,
    }
}

/// Bytes of an operation in the mean.
fn mean(sizes: &SizeMix) -> Bytes {
    let weights: f64 = sizes.0.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let bytes = sizes
        .0
        .iter()
        .map(|(size, weight)| size.as_f64() * f64::from(*weight));
    Bytes((bytes.sum::<f64>() / weights).round() as u64)
}

/// A plan on a modelled device: an address, or the text of a device file.
///
/// # Panics
/// When it cannot be run to its end.
#[must_use]
pub fn simulate(plan: Plan, device: &str) -> Record {
    let requested = runner::Study::of_plan(plan);
    let file = device.contains("[[volume]]").then(|| {
        let file = tempfile::Builder::new().suffix(".toml").tempfile();
        let mut file = file.expect("a file");
        file.write_all(device.as_bytes()).expect("written");
        file
    });
    let address = file.as_ref().map_or_else(
        || device.to_owned(),
        |file| file.path().display().to_string(),
    );
    let Finished::Run(record) = finished(requested, vec![format!("sim:{address}")]) else {
        panic!("one load");
    };
    assert_eq!(record.status, Status::Complete, "{:?}", record.failure);
    *record
}

fn finished(study: runner::Study, targets: Vec<String>) -> Finished {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let request = Request {
        id: Some("accuracy".to_owned()),
        ..Request::once(study, targets)
    };
    let setting = Setting {
        // Nothing is kept.
        store: &Store::open("/nowhere"),
        guard: &Guard::default(),
        catalog: &CATALOG,
        interrupted: &INTERRUPTED,
    };
    let prepared = Prepared::new(&request, setting).expect("a sound request");
    prepared.run(&mut ()).expect("a run")
}
