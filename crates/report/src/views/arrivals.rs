//! In: for windows of any length, the most that a load brings within one, and what volumes let pass.
//! Out: both as tables.

use blocklab_sizing::{Quantity, Window};
use blocklab_units::{count, latency};
use serde::Serialize;

use super::trace::throughput;
use crate::document::{Column, Part};
use crate::words::facts::fine_rate;

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
        Quantity::Operations => fine_rate(value),
        Quantity::Bytes => throughput(value),
    }
}

/// The length of a window: `20.0 ms`, `100,000 s`.
pub fn length(window: &Window) -> String {
    let ns = window.window_ns as f64;
    if ns < 1e12 {
        return latency(ns);
    }
    format!("{} s", count(ns / 1e9))
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
                length(window),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of an operation every 50 s, the rows of the longest windows were "100000 s" and
    /// "0.0" operations per second.
    #[test]
    fn long_windows_of_little_load_have_figures() {
        let window = Window {
            window_ns: 100_000_000_000_000,
            operations: 2_000.0,
            bytes: 0.0,
        };
        let rate = LoadAndVolumes::load(&window, Quantity::Operations);
        assert_eq!(length(&window), "100,000 s");
        assert_eq!(shown(rate, Quantity::Operations), "0.02");
    }
}
