//! In: the statistics of a trace and of its model. Out: a table with the figures of both.

use blocklab_workload::Direction;
use serde::Serialize;

use crate::character::{Character, Mix, Peak};

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

/// A figure of a load; `None` if it has none.
type Figure = fn(&Character) -> Option<f64>;

/// The figures that are compared, by the name that a row has.
const FIGURES: [(&str, Figure); 23] = [
    ("operations", |load| Some(load.operations as f64)),
    ("mean IOPS", |load| load.iops_mean),
    ("mean MiB/s", |load| {
        load.bytes_per_s_mean.map(|bytes| bytes / MIB)
    }),
    ("reads, %", |load| share(load, Direction::Read)),
    ("writes, %", |load| share(load, Direction::Write)),
    ("trims, %", |load| share(load, Direction::Trim)),
    ("flushes, %", |load| share(load, Direction::Sync)),
    ("size p50, KiB", |load| {
        load.sizes.map(|sizes| sizes.p50_bytes as f64 / KIB)
    }),
    ("size p90, KiB", |load| {
        load.sizes.map(|sizes| sizes.p90_bytes as f64 / KIB)
    }),
    ("size max, KiB", |load| {
        load.sizes.map(|sizes| sizes.max_bytes as f64 / KIB)
    }),
    ("busiest 0.1 s, IOPS", |load| {
        peak(load, 0).map(|peak| peak.iops_max)
    }),
    ("busiest 1 s, IOPS", |load| {
        peak(load, 1).map(|peak| peak.iops_max)
    }),
    ("busiest 60 s, IOPS", |load| {
        peak(load, 2).map(|peak| peak.iops_max)
    }),
    ("busiest 1 s, MiB/s", |load| {
        peak(load, 1).map(|peak| peak.bytes_per_s_max / MIB)
    }),
    ("dispersion at 1 s", |load| {
        load.peaks.get(1).and_then(|peak| peak.dispersion)
    }),
    ("dispersion at 60 s", |load| {
        load.peaks.get(2).and_then(|peak| peak.dispersion)
    }),
    ("time between operations, CV", |load| load.interarrival_cv),
    ("sequential, %", |load| load.sequential_percent),
    ("unaligned, %", |load| load.unaligned_percent),
    ("working set, MiB", |load| {
        Some(load.working_set_bytes as f64 / MIB)
    }),
    ("written set, MiB", |load| {
        Some(load.written_set_bytes as f64 / MIB)
    }),
    ("rewritten, %", |load| load.rewritten_percent),
    ("pauses of 1 s or longer", |load| {
        Some(load.idle.gaps as f64)
    }),
];

/// The figures of both, except those that are 0 or missing in both.
pub fn compared(trace: &Character, model: &Character) -> Vec<Compared> {
    let mut rows = Vec::new();
    for (figure, value) in FIGURES {
        let (trace, model) = (value(trace), value(model));
        if trace.is_some_and(|value| value > 0.0) || model.is_some_and(|value| value > 0.0) {
            rows.push(Compared {
                figure: figure.to_owned(),
                trace,
                model,
            });
        }
    }
    rows
}

/// The busiest window of the first, second or third length. One that is longer than the load has none: its
/// rate would be below the mean. A model may end a little before its trace.
fn peak(load: &Character, index: usize) -> Option<&Peak> {
    let peak = load.peaks.get(index)?;
    (index == 0 || peak.window_ns - peak.window_ns / 10 <= load.duration_ns).then_some(peak)
}

/// Share of a direction in per cent of the operations; 0 if it does not occur.
fn share(character: &Character, direction: Direction) -> Option<f64> {
    let mut mixes = character.directions.iter();
    let found = mixes.find(|mix| mix.direction == direction);
    Some(found.map_or(0.0, |mix: &Mix| mix.operations_percent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, character};

    /// The story: of a trace of two seconds with 500 operations a second, the busiest minute had 16.7.
    #[test]
    fn a_window_longer_than_the_trace_is_not_compared() {
        let operations: Vec<_> = (0..1000).map(|index| at(index * 2000)).collect();
        let load = character(&operations);
        let figures: Vec<String> = compared(&load, &load)
            .into_iter()
            .map(|row| row.figure)
            .collect();
        assert!(figures.contains(&"busiest 1 s, IOPS".to_owned()));
        assert!(!figures.contains(&"busiest 60 s, IOPS".to_owned()));
    }
}
