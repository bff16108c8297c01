//! How far a fitted device is from the disk, cell by cell.

use blocklab_record::Record;
use blocklab_stats::median;
use serde::Serialize;

use super::CannotCalibrate;
use super::cells::{Cell, Sweep, pattern};

/// A figure of the disk and of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// Of the disk.
    pub measured: f64,
    /// Of the model.
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
    /// A thread of ours used a whole processor: the cell had no part in the fit.
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

/// Holds the Records of a disk against those of the same loads on the model.
///
/// # Errors
/// When one of them has no cell that can be used.
pub fn residuals(
    measured: &[&Record],
    simulated: &[&Record],
) -> Result<Residuals, CannotCalibrate> {
    let (disk, model) = (Sweep::of(measured, true)?, Sweep::of(simulated, true)?);
    let pairs = disk.cells.iter().filter_map(|cell| {
        let twin = model.cells.iter().find(|it| it.load == cell.load)?;
        Some(residual(cell, twin))
    });
    let cells: Vec<Residual> = pairs.collect();
    let of = |figure: fn(&Residual) -> Option<Compared>| errors(&cells, figure);
    let iops = of(|it| Some(it.iops));
    let ranges: Vec<f64> = disk.cells.iter().filter_map(|cell| cell.range).collect();
    Ok(Residuals {
        passes_differ_percent: (!ranges.is_empty()).then(|| median(&ranges) * 100.0),
        quality: quality(iops.as_ref()),
        mean_ns: of(|it| Some(it.mean_ns)),
        p50_ns: of(|it| Some(it.p50_ns)),
        p99_ns: of(|it| it.p99_ns),
        iops,
        cells,
    })
}

fn residual(disk: &Cell, model: &Cell) -> Residual {
    let at = |q| {
        let of = |cell: &Cell| cell.histogram.quantile(q) as f64;
        compared(of(disk), of(model))
    };
    let load = disk.load;
    Residual {
        load: load.text(),
        pattern: pattern(load.sequential),
        read_percent: load.read_percent(),
        block_bytes: load.block,
        depth: load.depth,
        iops: compared(disk.iops, model.iops),
        mean_ns: compared(disk.mean_ns, model.mean_ns),
        p50_ns: at(0.5),
        p99_ns: (disk.count.min(model.count) >= FOR_P99).then(|| at(0.99)),
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
    let at = |share: f64| {
        let rank = (share * spots.len() as f64).ceil() as usize;
        spots[rank.clamp(1, spots.len()) - 1].error_percent.abs()
    };
    let worst = spots.last()?.clone();
    Some(Errors {
        median_percent: at(0.5),
        p90_percent: at(0.9),
        worst,
        cells: spots.len(),
    })
}

fn quality(iops: Option<&Errors>) -> Quality {
    let within = |median, p90, worst| {
        iops.is_some_and(|iop| {
            let all = iop.worst.error_percent.abs() <= worst;
            iop.median_percent <= median && iop.p90_percent <= p90 && all
        })
    };
    match () {
        () if within(5.0, 15.0, 30.0) => Quality::Good,
        () if within(10.0, 30.0, f64::INFINITY) => Quality::Fair,
        () => Quality::Poor,
    }
}
