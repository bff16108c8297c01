//! `blocklab trace model`: a study that resembles a trace, and how far its figures differ.
//!
//! ```text
//!   trace ─▶ Survey ─▶ Model ─▶ text of a study ─▶ run in virtual time on a volume without limits
//!              │                                                         │
//!              └──▶ character ──▶ compared ◀── character ◀── operations ─┘
//! ```

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_console::terminal;
use blocklab_device::{Device, DeviceSpec, Service, VolumeSpec};
use blocklab_driver::{Backing, Control, Run, TargetFile, simulate};
use blocklab_native as native;
use blocklab_report::fields;
use blocklab_targets::{Clock, Model as Volume};
use blocklab_trace::Operation;
use blocklab_trace::character::{Character, Characterizer};
use blocklab_trace::model::{Survey, compared, study};
use blocklab_units::{Bytes, Nanos, count, plural};
use blocklab_workload::{Log, Workload};

use super::opened::{self, Devices};
use crate::answer::json;
use blocklab_args::TraceModelArgs;

/// The longest trace. The run of its model keeps each operation in memory, in 64 bytes.
const MOST_OPERATIONS: u64 = 20_000_000;
/// The time of every operation on the volume on which the model is run.
const LATENCY: Nanos = Nanos(100_000);

/// Reads the trace twice, and prints the study.
pub fn model(args: &TraceModelArgs) -> Result<()> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        bail!(
            "a trace is read twice here, and standard input only once: write it to a file first \
             (`blocklab trace import - -o night.trace`)"
        );
    }
    let mut opened = opened::open(&args.files, &args.read, Devices::Any)?;
    let survey = Survey::take(&mut opened.source).map_err(|error| opened.named(error))?;
    let operations = survey.character.operations;
    if operations == 0 {
        return Err(opened.empty());
    }
    // Flushes go with the writes of a model, and have no place and no size of their own.
    let mut mixes = survey.character.directions.iter();
    if mixes.all(|mix| mix.sizes.is_none()) {
        bail!(
            "{}: no read, write or trim among its {}, so there is nothing to fit a model from; \
             `blocklab run --trace` replays it as it is",
            opened.name,
            plural(operations as usize, "operation")
        );
    }
    if operations > MOST_OPERATIONS {
        bail!(
            "{}: {} operations, and those of the model are held in memory to compare them, at most \
             {}: take a part with --from and --until",
            opened.name,
            count(operations as f64),
            count(MOST_OPERATIONS as f64)
        );
    }
    let mut again = opened::open(&args.files, &args.read, Devices::Any)?;
    let model = survey
        .model(&mut again.source)
        .map_err(|error| again.named(error))?;
    // First without figures: they come from a run of this very text, and go into its comments.
    let text = study(&model, &opened.name, &[]);
    let modelled = run_study(&text, model.end()).context("the model cannot be played")?;
    let figures = compared(&survey.character, &modelled);
    let text = study(&model, &opened.name, &figures);
    if !args.json {
        return terminal::print(text);
    }
    let fields = fields! {
        trace_model_format: 1,
        name: &opened.name,
        // The text of the study.
        study: &text,
        // The size that a target of the study needs.
        target_bytes: model.end(),
        // The trace's figures beside those of the model.
        figures: &figures,
        // Properties of the trace that a study cannot express.
        left_out: &model.left_out,
    };
    terminal::print(json(&fields)?)
}

/// Runs a study in virtual time on a volume without limits, and characterizes its operations.
fn run_study(text: &str, bytes: u64) -> Result<Character> {
    let parsed = native::parse(text, "model").map_err(|error| anyhow!("{error}"))?;
    let cases = parsed.plan.cases.into_iter();
    let mut workload: Workload = cases.map(|case| case.workload).next().context("no case")?;
    for job in &mut workload.jobs {
        job.log = Some(Log {
            entries: true,
            ..Log::default()
        });
    }
    let device = Device::new(&unlimited(bytes), workload.seed)?;
    let file = TargetFile {
        backing: Backing::Simulated(Volume::new(device)),
        ..TargetFile::file("model".into(), bytes, true)
    };
    let run = Run {
        workload: &workload,
        targets: &vec![vec![file]; workload.jobs.len()],
        clock: Clock::start(),
    };
    let never = AtomicBool::new(false);
    let outcome = simulate(run, Nanos::ZERO, Control::new(&never), &mut ())?;
    let mut operations = Vec::new();
    for (name, log) in outcome.logs {
        let job = workload.jobs.iter().find(|job| job.name == name);
        // A log counts from the start of its job, the trace from the start of the run.
        let start = job.map_or(Nanos::ZERO, |job| job.start_delay);
        operations.extend(log.entries.iter().map(|entry| {
            let at = start.saturating_add(entry.begin);
            Operation::new(at, entry.direction, entry.offset, entry.len)
        }));
    }
    // The logs of the jobs come one after the other.
    operations.sort_by_key(|operation| operation.at);
    let mut all = Characterizer::new(false);
    for operation in &operations {
        all.add(operation);
    }
    Ok(all.end(&[], Vec::new()))
}

/// A volume of this size that always takes the same time.
fn unlimited(bytes: u64) -> DeviceSpec {
    let volume = VolumeSpec {
        service: Some(Service::constant(LATENCY)),
        ..VolumeSpec::new("unlimited", Bytes(bytes))
    };
    DeviceSpec::new("without limits", vec![volume])
}
