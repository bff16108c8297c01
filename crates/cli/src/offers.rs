//! `blocklab price --need`. In: what a disk must hold and do, and a place. Out: for every volume type
//! sold there, the least configuration that meets the need, with its cost.

use anyhow::{Result, bail};
use blocklab_advice::{Need, Offered, offers as least_of_each};
use blocklab_catalog::{Catalog, Place};
use blocklab_report::{fields, views};
use blocklab_units::did_you_mean;
use serde::Serialize;

use crate::answer;
use blocklab_args::PriceArgs;

/// Prints the least configuration of every type that meets the need.
pub fn offers(args: &PriceArgs, need: &Need, catalog: &Catalog) -> Result<()> {
    let place = place(catalog, &args.place)?;
    let offered = least_of_each(catalog, need, &place);
    let rows: Vec<_> = offered.iter().map(fields_of).collect();
    let fields = fields! { offers_format: 1, offers: &rows };
    answer::print(args.form, &fields, || views::offers(need, &place, &offered))
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
