//! How far a fitted device is from the disk, cell by cell.

use blocklab_record::Record;
use blocklab_stats::median;
use serde::Serialize;

use super::CannotCalibrate;
use super::cells::{Cell, Sweep, pattern};

/// A figure of the disk and of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// The figure of the disk.
    pub measured: f64,
    /// The figure of the model.
    pub simulated: f64,
    /// Simulated against measured: above 0, the model promises too much.
    pub error_percent: f64,
}

/// One load on the disk and on the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residual {
    /// `4 KiB random read, depth 32`.
    pub load: String,
    /// `random` or `sequential`.
    pub pattern: &'static str,
    /// Share of reads.
    pub read_percent: u8,
    /// Size of an operation.
    pub block_bytes: u64,
    /// Operations in flight.
    pub depth: u32,
    /// Operations a second.
    pub iops: Compared,
    /// Mean service latency in nanoseconds.
    pub mean_ns: Compared,
    /// Median of it.
    pub p50_ns: Compared,
    /// 99th percentile; `None`: too few operations.
    pub p99_ns: Option<Compared>,
    /// A thread of blocklab used a whole processor: the cell had no part in the fit.
    pub cpu_bound: bool,
}

/// A cell and its error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spot {
    /// Its load.
    pub load: String,
    /// Its error.
    pub error_percent: f64,
}

/// Absolute errors of one figure over all cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// Half of the cells are nearer.
    pub median_percent: f64,
    /// Nine of ten are nearer.
    pub p90_percent: f64,
    /// The farthest.
    pub worst: Spot,
    /// Cells.
    pub cells: usize,
}

/// How far the model can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// IOPS: half of the cells within 5 %, nine of ten within 15 %, all within 30 %: an episode in
    /// which the disk did something else shows in a few cells.
    Good,
    /// IOPS: half of the cells within 10 %, nine of ten within 30 %.
    Fair,
    /// Farther off.
    Poor,
}

/// All cells, and what they come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residuals {
    /// By direction, pattern, size and depth; cells that only one side has are left out.
    pub cells: Vec<Residual>,
    /// Errors of the rates; `None` without cells, as the others.
    pub iops: Option<Errors>,
    /// Errors of the means.
    pub mean_ns: Option<Errors>,
    /// Errors of the medians.
    pub p50_ns: Option<Errors>,
    /// Errors of the 99th percentiles.
    pub p99_ns: Option<Errors>,
    /// By how much the rates of the disk's own passes differ, in half of the loads that were
    /// measured more than once; `None`: none was. No model can be nearer than half of it.
    pub passes_differ_percent: Option<f64>,
    /// By the rates.
    pub quality: Quality,
}

/// Operations from which a 99th percentile is one: ten lie beyond it.
const FOR_P99: u64 = 1000;

/// Compares the Records of a disk with those of the same loads on the model.
///
/// # Errors
/// When one of them has no cell that can be used.
pub fn residuals(
    measured: &[&Record],
    simulated: &[&Record],
) -> Result<Residuals, CannotCalibrate> {
    let disk = Sweep::new(measured, true)?;
    let model = Sweep::new(simulated, true).map_err(|error| match error {
        CannotCalibrate::Failed { why, .. } => CannotCalibrate::ModelFailed { why },
        other => other,
    })?;
    let pairs = disk.cells.iter().filter_map(|cell| {
        let twin = model.cells.iter().find(|twin| twin.load == cell.load)?;
        Some(residual(cell, twin))
    });
    let cells: Vec<Residual> = pairs.collect();
    let iops = errors(&cells, |cell| Some(cell.iops));
    let ranges: Vec<f64> = disk.cells.iter().filter_map(|cell| cell.range).collect();
    Ok(Residuals {
        passes_differ_percent: (!ranges.is_empty()).then(|| median(&ranges) * 100.0),
        quality: quality(iops.as_ref()),
        mean_ns: errors(&cells, |cell| Some(cell.mean_ns)),
        p50_ns: errors(&cells, |cell| Some(cell.p50_ns)),
        p99_ns: errors(&cells, |cell| cell.p99_ns),
        iops,
        cells,
    })
}

/// The figures of one load on the disk and on the model, and their errors.
fn residual(disk: &Cell, model: &Cell) -> Residual {
    let quantile = |share: f64| {
        let measured = disk.histogram.quantile(share) as f64;
        let simulated = model.histogram.quantile(share) as f64;
        compared(measured, simulated)
    };
    // A percentile needs enough operations on both sides.
    let has_p99 = disk.count.min(model.count) >= FOR_P99;
    let load = disk.load;
    Residual {
        load: load.text(),
        pattern: pattern(load.sequential),
        read_percent: load.read_percent(),
        block_bytes: load.block,
        depth: load.depth,
        iops: compared(disk.iops, model.iops),
        mean_ns: compared(disk.mean_ns, model.mean_ns),
        p50_ns: quantile(0.5),
        p99_ns: has_p99.then(|| quantile(0.99)),
        cpu_bound: disk.cpu_bound,
    }
}

fn compared(measured: f64, simulated: f64) -> Compared {
    Compared {
        measured,
        simulated,
        error_percent: (simulated / measured - 1.0) * 100.0,
    }
}

/// How far a figure of the model is off, over all cells that a processor did not limit; `None` if
/// no cell has the figure.
fn errors(cells: &[Residual], figure: impl Fn(&Residual) -> Option<Compared>) -> Option<Errors> {
    let fitted = cells.iter().filter(|cell| !cell.cpu_bound);
    let mut spots: Vec<Spot> = fitted
        .filter_map(|cell| {
            Some(Spot {
                load: cell.load.clone(),
                error_percent: figure(cell)?.error_percent,
            })
        })
        .collect();
    spots.sort_by(|a, b| a.error_percent.abs().total_cmp(&b.error_percent.abs()));
    let worst = spots.last()?.clone();
    let [median_percent, p90_percent] = [0.5, 0.9].map(|share| {
        // The nearest rank: an error that a cell really has.
        let rank = (share * spots.len() as f64).ceil() as usize;
        spots[rank.clamp(1, spots.len()) - 1].error_percent.abs()
    });
    Some(Errors {
        median_percent,
        p90_percent,
        worst,
        cells: spots.len(),
    })
}

/// The quality by the limits that [`Quality`] states; without any cell nothing can be trusted.
fn quality(iops: Option<&Errors>) -> Quality {
    let Some(iops) = iops else {
        return Quality::Poor;
    };
    let (median, p90) = (iops.median_percent, iops.p90_percent);
    if median <= 5.0 && p90 <= 15.0 && iops.worst.error_percent.abs() <= 30.0 {
        Quality::Good
    } else if median <= 10.0 && p90 <= 30.0 {
        Quality::Fair
    } else {
        Quality::Poor
    }
}
