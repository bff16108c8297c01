//! In: the statistics of a trace and of its model. Out: a table with the figures of both.

use blocklab_workload::Direction;
use serde::Serialize;

use crate::character::{Character, Mix};

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The name of the figure, with its unit.
    pub figure: String,
    /// Its value for the trace; `None` if it has none.
    pub trace: Option<f64>,
    /// Its value for the model.
    pub model: Option<f64>,
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// The figures of both, except those that are 0 or missing in both.
pub fn compared(trace: &Character, model: &Character) -> Vec<Compared> {
    let mut rows = Vec::new();
    let mut add = |figure: &str, of: fn(&Character) -> Option<f64>| {
        rows.push(Compared {
            figure: figure.to_owned(),
            trace: of(trace),
            model: of(model),
        });
    };
    add("operations", |of| Some(of.operations as f64));
    add("mean IOPS", |of| of.iops_mean);
    add("mean MiB/s", |of| {
        of.bytes_per_s_mean.map(|bytes| bytes / MIB)
    });
    add("reads, %", |of| share(of, Direction::Read));
    add("writes, %", |of| share(of, Direction::Write));
    add("trims, %", |of| share(of, Direction::Trim));
    add("flushes, %", |of| share(of, Direction::Sync));
    add("size p50, KiB", |of| {
        of.sizes.map(|sizes| sizes.p50_bytes as f64 / KIB)
    });
    add("size p90, KiB", |of| {
        of.sizes.map(|sizes| sizes.p90_bytes as f64 / KIB)
    });
    add("size max, KiB", |of| {
        of.sizes.map(|sizes| sizes.max_bytes as f64 / KIB)
    });
    add("busiest 0.1 s, IOPS", |of| {
        of.peaks.first().map(|peak| peak.iops_max)
    });
    add("busiest 1 s, IOPS", |of| {
        of.peaks.get(1).map(|peak| peak.iops_max)
    });
    add("busiest 60 s, IOPS", |of| {
        of.peaks.get(2).map(|peak| peak.iops_max)
    });
    add("busiest 1 s, MiB/s", |of| {
        of.peaks.get(1).map(|peak| peak.bytes_per_s_max / MIB)
    });
    add("dispersion at 1 s", |of| {
        of.peaks.get(1).and_then(|peak| peak.dispersion)
    });
    add("dispersion at 60 s", |of| {
        of.peaks.get(2).and_then(|peak| peak.dispersion)
    });
    add("time between operations, CV", |of| of.interarrival_cv);
    add("sequential, %", |of| of.sequential_percent);
    add("unaligned, %", |of| of.unaligned_percent);
    add("working set, MiB", |of| {
        Some(of.working_set_bytes as f64 / MIB)
    });
    add("written set, MiB", |of| {
        Some(of.written_set_bytes as f64 / MIB)
    });
    add("rewritten, %", |of| of.rewritten_percent);
    add("pauses of 1 s or longer", |of| Some(of.idle.gaps as f64));
    rows.retain(|row| {
        row.trace.is_some_and(|value| value > 0.0) || row.model.is_some_and(|value| value > 0.0)
    });
    rows
}

/// Share of a direction in per cent of the operations; 0 if it does not occur.
fn share(character: &Character, direction: Direction) -> Option<f64> {
    let mut mixes = character.directions.iter();
    let found = mixes.find(|mix| mix.direction == direction);
    Some(found.map_or(0.0, |mix: &Mix| mix.operations_percent))
}
