//! In: the most that a load brings within windows of any length, and what volumes let pass in the same.
//! Out: both as a table.

use blocklab_sizing::{Quantity, Window};
use blocklab_units::{latency, rate};
use serde::Serialize;

use super::trace::{table, throughput};
use crate::document::Part;

/// A load beside volumes, window by window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// The load.
    pub windows: Vec<Window>,
    /// The volumes.
    pub volumes: Vec<Passing>,
}

/// What a volume lets pass within each window, from a rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passing {
    /// Its address.
    pub address: String,
    /// Operations; `null` where no limit counts them.
    pub operations: Vec<Option<f64>>,
    /// Bytes.
    pub bytes: Vec<Option<f64>>,
}

impl Beside {
    /// The quantities with their titles.
    pub const QUANTITIES: [(Quantity, &'static str); 2] =
        [(Quantity::Operations, "IOPS"), (Quantity::Bytes, "MiB/s")];

    /// What the load brings a second within a window.
    pub fn load(window: &Window, quantity: Quantity) -> f64 {
        let amount = match quantity {
            Quantity::Operations => window.operations,
            Quantity::Bytes => window.bytes,
        };
        amount / (window.window_ns as f64 / 1e9)
    }
}

impl Passing {
    /// What it lets pass a second in the window of this index.
    pub fn rate(&self, window: &Window, index: usize, quantity: Quantity) -> Option<f64> {
        let amounts = match quantity {
            Quantity::Operations => &self.operations,
            Quantity::Bytes => &self.bytes,
        };
        let amount = amounts.get(index).copied().flatten()?;
        Some(amount / (window.window_ns as f64 / 1e9))
    }
}

/// A rate as people read it.
pub fn shown(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Operations => rate(value),
        Quantity::Bytes => throughput(value),
    }
}

/// Both as tables.
pub fn arrivals(of: &Beside) -> Part {
    let text = "The most that comes within any window, a second, and what each volume lets pass in it \
                after a rest: where the load is above a volume, operations wait there. Operations count \
                as recorded; a volume may merge or split them.";
    let mut parts = vec![Part::Prose(text.to_owned())];
    for (quantity, title) in Beside::QUANTITIES {
        let mut columns = vec!["WINDOW", title];
        columns.extend(of.volumes.iter().map(|volume| &*volume.address));
        let rows = of.windows.iter().enumerate().map(|(index, window)| {
            let mut row = vec![
                latency(window.window_ns as f64),
                shown(Beside::load(window, quantity), quantity),
            ];
            row.extend(of.volumes.iter().map(|volume| {
                let passed = volume.rate(window, index, quantity);
                passed.map_or_else(|| "-".to_owned(), |passed| shown(passed, quantity))
            }));
            row
        });
        parts.push(table(&columns, 0, rows.collect()));
    }
    Part::section("Arrivals", parts)
}
