//! `blocklab calibrate`: makes a device file that behaves like a measured disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, process};

use anyhow::{Context, Result, bail};
use blocklab_calibrate::{Calibration, Residuals, calibrate as fit, is_usable, residuals};
use blocklab_catalog::device_file;
use blocklab_record::{Record, Status};
use blocklab_report::calibration::calibration;
use blocklab_report::document::{Entry, Fit, Part};
use blocklab_report::fields;
use blocklab_report::live::Screen;
use blocklab_runner::{Finished, Guard, Prepared, Request, Setting, Study};
use blocklab_store::Store;
use blocklab_units::{Ink, Nanos};
use blocklab_workload::{Address, Case, Plan, Target};

use crate::again::plan_of;
use crate::answer;
use crate::chosen;
use blocklab_args::{CalibrateArgs, Output};
use blocklab_console::{listen, place, status, terminal};
use blocklab_results::output::{self, Over};

/// Fits a device, compares its simulated runs with those of the disk, and writes it.
pub fn calibrate(args: &CalibrateArgs, store: &Store) -> Result<ExitCode> {
    if let Some(path) = &args.output {
        if path.as_os_str() == "-" && args.form.output() == Output::Json {
            bail!("-o - and JSON would both go to standard output: name a file for the device");
        }
        output::try_out(path, Over::forced(args.force))?;
    }
    let mut records: Vec<Record> = Vec::new();
    for run in &args.runs {
        let record = chosen::record(run, store)?;
        // `latest` may be named by its id, too, and counts once.
        if records.iter().all(|known| known.id != record.id) {
            records.push(record);
        }
    }
    let measured: Vec<&Record> = records.iter().collect();
    let fitted = fit(&measured, args.allow_simulated)?;
    let bare = device_file::render(&fitted.device);
    let Some(simulated) = simulate_all(&measured, &bare, store)? else {
        terminal::warn("interrupted; nothing is written");
        return Ok(ExitCode::from(status::INTERRUPTED));
    };
    let simulated: Vec<&Record> = simulated.iter().collect();
    let residuals = residuals(&measured, &simulated)?;
    if let Some(path) = &args.output {
        let text = format!("{}{bare}", foreword(&fitted, &residuals));
        output::write(path, text, Over::forced(args.force))?;
        if path.as_os_str() == "-" {
            // The device is on standard output, where a report would break it.
            return Ok(ExitCode::SUCCESS);
        }
    }
    let mut document = calibration(&fitted, &residuals);
    document.parts.push(closing(args));
    terminal::print_styled(match args.form.output() {
        Output::Json => json(args, &fitted, &residuals)?,
        Output::Document(form) => document.print(form),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The terminal column in which the last lines begin, after their names.
const INDENT: usize = 9;

/// The last lines: where the device was written, and a command that uses it.
fn closing(args: &CalibrateArgs) -> Part {
    let Some(path) = &args.output else {
        let text = "Nothing is written; -o FILE keeps this device.";
        return Part::Prose(text.to_owned());
    };
    let target = place::shell_word(&format!("sim:{}", address(path)));
    let command = format!("blocklab run quick --target {target}");
    let lines = [("Written", path.display().to_string()), ("Try", command)];
    let entries = lines.map(|(head, text)| Entry {
        fit: Fit::Whole,
        ..Entry::new(Ink::Dim, head, INDENT, text)
    });
    Part::Entries(entries.into())
}

/// A path in the form of an address. `./` keeps a bare name from being read as that of an offer.
fn address(path: &Path) -> String {
    let bare = path.is_relative() && !path.starts_with(".") && !path.starts_with("..");
    let before = if bare { "./" } else { "" };
    format!("{before}{}", path.display())
}

fn json(args: &CalibrateArgs, fitted: &Calibration, residuals: &Residuals) -> Result<String> {
    let output = args.output.as_ref().map(|path| path.display().to_string());
    answer::json(&fields! {
        calibration_format: 1,
        calibration: fitted,
        residuals: residuals,
        written: output,
    })
}

/// The comment at the beginning of the device file.
fn foreword(fitted: &Calibration, residuals: &Residuals) -> String {
    let mut lines = vec![format!(
        "Made by `blocklab calibrate {}`.",
        fitted.runs.join(" ")
    )];
    if let Some(iops) = &residuals.iops {
        lines.push(format!(
            "IOPS of the model are off by at most {:.1} % in half of {} loads, {:.1} % in nine of ten.",
            iops.median_percent, iops.cells, iops.p90_percent
        ));
    }
    lines.push("Not known:".to_owned());
    lines.extend(
        fitted
            .unknown
            .iter()
            .map(|sentence| format!("- {sentence}")),
    );
    let comments = lines.iter().map(|line| format!("# {line}\n"));
    comments.collect::<String>() + "\n"
}

/// Runs the same loads on the fitted device in virtual time; `None`: a signal interrupted it.
fn simulate_all(measured: &[&Record], device: &str, store: &Store) -> Result<Option<Vec<Record>>> {
    let file = TemporaryFile::new(device)?;
    let target = Target::Sim(Address::File(file.0.display().to_string()));
    let setting = Setting {
        store,
        guard: &Guard::default(),
        catalog: &place::load_catalog()?,
        interrupted: &*listen()?,
    };
    let mut screen = Screen::new(true, terminal::size(), Nanos::ZERO);
    let simulated = measured.iter().map(|record| {
        screen.phase(&format!("simulating the loads of {}", record.id));
        simulate(record, &target, setting)
    });
    // Ends with the first one that fails or is interrupted.
    let simulated = simulated.collect();
    screen.finished();
    simulated
}

/// Runs the loads of a Record again on a target in virtual time; `None`: a signal interrupted it.
fn simulate(record: &Record, target: &Target, setting: Setting<'_>) -> Result<Option<Record>> {
    let request = Request {
        id: Some(format!("{}-model", record.id)),
        ..Request::once(
            Study::of_plan(plan_to_simulate(record)?),
            vec![target.to_string()],
        )
    };
    // A simulation takes seconds, so that only its name is shown.
    let finished = Prepared::new(&request, setting).and_then(|prepared| prepared.run(&mut ()));
    match finished.context("cannot simulate the fitted device")? {
        Finished::Run(record) if record.status != Status::Interrupted => Ok(Some(*record)),
        _ => Ok(None),
    }
}

/// Operations of a load that are enough for its rate and its 99th percentile: a fitted model has no
/// burst bucket that a longer run would empty.
const OPERATIONS: f64 = 100_000.0;

/// The plan of a run for the simulation: one pass without pauses, only the loads that can be compared,
/// each as short as possible.
fn plan_to_simulate(record: &Record) -> Result<Plan> {
    let mut plan = plan_of(record)?;
    (plan.passes, plan.discard, plan.pause) = (1, 0, Nanos::ZERO);
    plan.cases.retain_mut(|case| {
        let mut passes = record
            .measurements
            .iter()
            .filter(|measurement| measurement.case == case.name);
        let Some(measurement) = passes.find(|pass| is_usable(pass)) else {
            return false;
        };
        let iops = measurement.jobs.iter().map(|job| job.iops()).sum::<f64>();
        shorten(case, Nanos::from_secs_f64(OPERATIONS / iops));
        true
    });
    Ok(plan)
}

/// Lets the jobs of a case run on the only target, and no longer than for `enough`.
fn shorten(case: &mut Case, enough: Nanos) {
    for job in &mut case.workload.jobs {
        job.targets.clear();
        job.ramp = job.ramp.min(enough);
        job.stop.runtime = job.stop.runtime.map(|time| time.min(enough));
    }
}

/// A file that is removed when this is dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Writes a text to a new file in the system's directory for temporary files.
    fn new(text: &str) -> Result<Self> {
        let name = format!(
            "blocklab-calibrate-{}-{:016x}.toml",
            process::id(),
            blocklab_console::chance()?
        );
        let path = env::temp_dir().join(name);
        let mut file =
            File::create_new(&path).with_context(|| format!("cannot create {}", path.display()))?;
        // From here on, an error removes the file.
        let temporary = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(temporary)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // If that fails, the system cleans its directory for temporary files.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_never_taken_for_a_volume() {
        for (path, text) in [
            ("my.toml", "./my.toml"),
            ("./my.toml", "./my.toml"),
            ("../a/my", "../a/my"),
            ("/a/my", "/a/my"),
        ] {
            assert_eq!(address(Path::new(path)), text);
        }
    }
}
