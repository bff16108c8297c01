//! In: what carries a need in a place, by volume type. Out: its document.

use blocklab_advice::{Fitting, Need, Offered};
use blocklab_catalog::Place;
use blocklab_units::count;

use crate::document::{Column, Document, Part};
use crate::words::facts::money;

/// A table of the types that meet the need, and lists of what the others lack and what the prices
/// rest on.
pub fn offers(need: &Need, place: &Place, offered: &[Offered]) -> Document {
    let title = format!("What carries {need}");
    let fitting = offered.iter().filter_map(|one| one.found.as_ref().ok());
    let fitting: Vec<&Fitting> = fitting.collect();
    let rows = fitting.iter().map(|one| row(one));
    let columns = Column::named("ADDRESS", ["A MONTH", "IOPS", "MB/s"]);
    let lacking = offered.iter().filter_map(|one| {
        let why = one.found.as_ref().err()?;
        Some(format!("{}: {why}", one.kind))
    });
    let all_regions = place.regions.iter();
    let regions = all_regions.map(|at| format!("{}: {} ({})", at.vendor, at.region, at.location));
    let prices =
        "A month has 730 hours. A machine is not part of it; what is billed by use neither.";
    let sustained = "Rates are those that the limits allow for ever, at random and in large operations; \
                     bursts do not count.";
    let assumed = fitting
        .iter()
        .flat_map(|one| &one.resolved.cost_assumptions);
    Document {
        name: title.clone(),
        parts: vec![
            Part::table_section(&title, columns, rows),
            Part::lines("Nothing of these types does", lacking),
            Part::lines("Whose prices", regions),
            Part::lines("Without a price", unpriced(&fitting)),
            Part::lines("Assumed of prices", assumed),
            Part::lines("Notes", [prices, sustained]),
        ],
    }
}

fn row(fitting: &Fitting) -> [String; 4] {
    let mb_per_s = fitting.bytes_per_s.map(|bytes| bytes / 1e6);
    let [iops, mb_per_s] = [fitting.iops, mb_per_s].map(|rate| match rate {
        Some(rate) => count(rate.floor()),
        None => "-".to_owned(),
    });
    [
        fitting.address.clone(),
        fitting.per_month.map_or_else(
            || "not known".to_owned(),
            |price| money(price, fitting.currency),
        ),
        iops,
        mb_per_s,
    ]
}

/// For the offers without a total, which prices are missing.
fn unpriced(fitting: &[&Fitting]) -> Vec<String> {
    let without = fitting.iter().filter(|one| one.per_month.is_none());
    let notes = without.flat_map(|one| &one.resolved.cost_notes);
    // Other notes explain prices that are there.
    notes
        .filter(|note| note.starts_with("no price"))
        .cloned()
        .collect()
}
