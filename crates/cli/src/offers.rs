//! `blocklab price --need`. In: what a disk must hold and do, and a place. Out: for every volume type
//! sold there, the least configuration that meets the need, with its cost.

use anyhow::{Result, bail};
use blocklab_advice::{Fitting, Need, Offered, offers as least_of_each};
use blocklab_catalog::{Catalog, Place};
use blocklab_report::document::{Column, Document, Part};
use blocklab_report::fields;
use blocklab_report::words::facts::money;
use blocklab_units::{count, did_you_mean};
use serde::Serialize;

use crate::answer::{self, JsonFormat};
use blocklab_args::PriceArgs;

/// Prints the least configuration of every type that meets the need.
pub fn offers(args: &PriceArgs, need: &Need, catalog: &Catalog) -> Result<()> {
    let place = place(catalog, &args.place)?;
    let offered = least_of_each(catalog, need, &place);
    let rows: Vec<_> = offered.iter().map(fields_of).collect();
    let fields = answer::one_field("offers", &rows);
    answer::print(args.form, JsonFormat("offers_format", 1), &fields, || {
        document(need, &place, &offered)
    })
}

/// Finds a place by its name.
pub fn place(catalog: &Catalog, name: &str) -> Result<Place> {
    let places = catalog.places();
    if let Some(place) = places.iter().find(|place| place.name == name) {
        return Ok(place.clone());
    }
    let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    let hint = did_you_mean(name, names.iter().copied(), || {
        format!("the places are {}", names.join(", "))
    });
    bail!("--place: no place {name}; {hint}")
}

/// A volume type in the JSON.
fn fields_of(offered: &Offered) -> impl Serialize {
    let fitting = offered.found.as_ref().ok();
    let resolved = fitting.iter().map(|fitting| &fitting.resolved);
    let assumed = resolved.flat_map(|resolved| {
        let assumptions = resolved.assumptions.iter();
        assumptions.chain(&resolved.cost_assumptions)
    });
    fields! {
        volume_type: &offered.kind,
        vendor: &offered.vendor,
        region: &offered.region,
        // The least configuration; `null` where no size or rate of this type meets the need.
        address: fitting.map(|fitting| &fitting.address),
        // What the largest configuration falls short of; `null` where there is an address.
        lacks: offered.found.as_ref().err(),
        iops: fitting.and_then(|fitting| fitting.iops),
        bytes_per_s: fitting.and_then(|fitting| fitting.bytes_per_s),
        per_month: fitting.and_then(|fitting| fitting.per_month),
        currency: fitting.map_or("USD", |fitting| fitting.currency),
        // What no document gives, so that the limits and the price rest on an assumption.
        assumed: assumed.collect::<Vec<_>>(),
    }
}

/// A table of the types that meet the need, and lists of what the others lack and what the prices
/// rest on.
fn document(need: &Need, place: &Place, offered: &[Offered]) -> Document {
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
            |month| money(month, fitting.currency),
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
