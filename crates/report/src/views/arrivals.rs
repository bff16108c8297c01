//! In: for windows of any length, the most that a load brings within one, and what volumes let pass.
//! Out: both as tables.

use blocklab_sizing::{Quantity, Window};
use blocklab_units::{latency, rate};
use serde::Serialize;

use super::trace::throughput;
use crate::document::{Column, Part};

/// The arrivals of a load next to what volumes let pass, window by window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadAndVolumes {
    /// The most that the load brings within each window.
    pub windows: Vec<Window>,
    /// What each volume lets pass, with an entry for each of `windows`.
    pub volumes: Vec<Passing>,
}

/// What a volume lets pass within each window after a rest, when its buckets are full.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passing {
    /// Its address.
    pub address: String,
    /// Operations; `None` where no limit counts them.
    pub operations: Vec<Option<f64>>,
    /// Bytes; `None` where no limit counts them.
    pub bytes: Vec<Option<f64>>,
}

impl LoadAndVolumes {
    /// The quantities with their titles.
    pub const QUANTITIES: [(Quantity, &'static str); 2] =
        [(Quantity::Operations, "IOPS"), (Quantity::Bytes, "MiB/s")];

    /// The rate of the load within a window, in operations or bytes per second.
    pub fn load(window: &Window, quantity: Quantity) -> f64 {
        let amount = match quantity {
            Quantity::Operations => window.operations,
            Quantity::Bytes => window.bytes,
        };
        amount / (window.window_ns as f64 / 1e9)
    }
}

impl Passing {
    /// The rate that it lets pass within the window of this index, in operations or bytes per
    /// second.
    pub fn rate(&self, window: &Window, index: usize, quantity: Quantity) -> Option<f64> {
        let amounts = match quantity {
            Quantity::Operations => &self.operations,
            Quantity::Bytes => &self.bytes,
        };
        let amount = amounts.get(index).copied().flatten()?;
        Some(amount / (window.window_ns as f64 / 1e9))
    }
}

/// A rate in operations or MiB per second.
pub fn shown(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Operations => rate(value),
        Quantity::Bytes => throughput(value),
    }
}

/// A table for operations and one for bytes.
pub fn arrivals(arrivals: &LoadAndVolumes) -> Part {
    let text = "The most that comes within any window, a second, and what each volume lets pass in it \
                after a rest: where the load is above a volume, operations wait there. Operations count \
                as recorded; a volume may merge or split them.";
    let mut parts = vec![Part::Prose(text.to_owned())];
    for (quantity, title) in LoadAndVolumes::QUANTITIES {
        let mut columns = vec![Column::figure("WINDOW"), Column::figure(title)];
        let volumes = arrivals.volumes.iter();
        columns.extend(volumes.map(|volume| Column::figure(&volume.address)));
        let rows = arrivals.windows.iter().enumerate().map(|(index, window)| {
            let mut row = vec![
                latency(window.window_ns as f64),
                shown(LoadAndVolumes::load(window, quantity), quantity),
            ];
            row.extend(arrivals.volumes.iter().map(|volume| {
                let passed = volume.rate(window, index, quantity);
                passed.map_or_else(|| "-".to_owned(), |passed| shown(passed, quantity))
            }));
            row
        });
        parts.push(Part::indented_table(columns, rows));
    }
    Part::section("Arrivals", parts)
}
