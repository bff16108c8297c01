//! In: Records of a real disk.
//! Out: the description of a device that behaves like it, and what it is off by.
//! Never: a run, a file.
//!
//! ```text
//!   depth 1      ──▶ latency: base + slope · size, by direction and pattern; scatter
//!   deep cells   ──▶ levels that more depth does not lift: candidates for caps
//!   all cells    ──▶ which caps there are, and whether the medium has a maximum of its own:
//!                    each candidate is predicted, and the one with the least error stays
//! ```
//!
//! `docs/calibrate.md` describes the method and what each constant rests on.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod burst;
mod cells;
mod choice;
mod direction;
mod draft;
mod line;
mod plateau;
mod refusal;
mod residual;
mod scatter;
mod unknown;

#[cfg(test)]
mod tests;

use blocklab_device::DeviceSpec;
use blocklab_record::{Measurement, Record};
use serde::Serialize;

pub use refusal::CannotCalibrate;
pub use residual::{Compared, Errors, Quality, Residual, Residuals, Spot, residuals};

use cells::Sweep;

/// A device fitted to Records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The device: every figure names its evidence.
    pub device: DeviceSpec,
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Loads that were used, passes of one counted once.
    pub cells: usize,
    /// Measurements that were not used, by reason.
    pub left_out: Vec<LeftOut>,
    /// What these Records leave unknown, one sentence each.
    pub unknown: Vec<String>,
}

impl Calibration {
    /// `run a` or `runs a, b`: what the origins of the device begin with.
    pub fn measured_by(&self) -> String {
        runs_text(&self.runs)
    }
}

fn runs_text(ids: &[String]) -> String {
    match ids {
        [one] => format!("run {one}"),
        several => format!("runs {}", several.join(", ")),
    }
}

/// Measurements that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Why.
    pub reason: String,
    /// How many.
    pub measurements: usize,
}

/// Fits a device to Records of one target.
///
/// `allow_modelled` takes simulated and emulated Records too. Same Records, same device.
///
/// # Errors
/// When the Records do not support it, with what to measure.
pub fn calibrate(
    records: &[&Record],
    allow_modelled: bool,
) -> Result<Calibration, CannotCalibrate> {
    let sweep = Sweep::new(records, allow_modelled)?;
    let runs: Vec<String> = records.iter().map(|record| record.id.clone()).collect();
    for (index, run) in runs.iter().enumerate() {
        if runs[..index].contains(run) {
            return Err(CannotCalibrate::Repeated { run: run.clone() });
        }
    }
    let choice = choice::choose(&sweep)?;
    let disk = cells::disk(records[0]);
    let device = choice.device(&runs_text(&runs), disk);
    Ok(Calibration {
        unknown: unknown::sentences(&sweep, &choice),
        left_out: sweep.left_out,
        cells: sweep.cells.len(),
        device,
        runs,
    })
}

/// Whether a measurement is a load that a model can be fitted to and compared with.
pub fn is_usable(measurement: &Measurement) -> bool {
    measurement.pass > 0 && cells::usable(measurement)
}
