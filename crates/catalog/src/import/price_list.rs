//! The AWS price list of AmazonEC2, as the bulk file and as `aws pricing get-products` give it.
//!
//! ```text
//! {"offerCode": "AmazonEC2", "publicationDate": "2026-11-18T…",
//!  "products": {SKU: {"productFamily": …, "attributes": {…}}},
//!  "terms": {"OnDemand": {SKU: {TERM: {"priceDimensions": {RATE: {"unit": …, "pricePerUnit": …}}}}}}}
//! ```

use std::collections::BTreeMap;

use blocklab_workload::Date;
use serde::Deserialize;
use serde_json::Value;

use super::{Found, Hour, VolumePrice, is_region, is_type};
use crate::Catalog;
use crate::price::{Per, System};

const KIND: &str = "an AWS price list";

#[derive(Deserialize)]
pub(super) struct Offer {
    #[serde(rename = "offerCode")]
    code: String,
    #[serde(rename = "publicationDate")]
    published: String,
    products: BTreeMap<String, Product>,
    terms: Terms,
}

#[derive(Deserialize)]
struct Product {
    #[serde(rename = "productFamily", default)]
    family: String,
    #[serde(default)]
    attributes: Attributes,
}

/// Names that a product of this list may carry; all others are of no use here.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    region_code: String,
    instance_type: String,
    tenancy: String,
    operating_system: String,
    pre_installed_sw: String,
    capacitystatus: String,
    license_model: String,
    volume_api_name: String,
    usagetype: String,
}

#[derive(Deserialize)]
struct Terms {
    #[serde(rename = "OnDemand", default)]
    on_demand: BTreeMap<String, BTreeMap<String, Term>>,
}

#[derive(Deserialize)]
struct Term {
    #[serde(rename = "priceDimensions", default)]
    dimensions: BTreeMap<String, Dimension>,
}

#[derive(Deserialize)]
struct Dimension {
    #[serde(default)]
    unit: String,
    #[serde(rename = "pricePerUnit", default)]
    price: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    #[serde(rename = "PriceList")]
    pub(super) products: Vec<Value>,
}

/// One product of `aws pricing get-products`.
#[derive(Deserialize)]
struct Single {
    product: Product,
    terms: SingleTerms,
    #[serde(rename = "publicationDate", default)]
    published: String,
}

#[derive(Deserialize)]
struct SingleTerms {
    #[serde(rename = "OnDemand", default)]
    on_demand: BTreeMap<String, Term>,
}

/// Reads a price list of EC2 for one region.
pub(super) fn read(catalog: &Catalog, offer: Offer) -> Result<Found, String> {
    if offer.code != "AmazonEC2" {
        return Err(format!(
            "it is the price list of {}; that of AmazonEC2 is needed",
            offer.code
        ));
    }
    let mut found = Found {
        kind: KIND,
        date: day(&offer.published),
        ..Found::default()
    };
    for (sku, product) in &offer.products {
        let terms = offer.terms.on_demand.get(sku).into_iter();
        found.take(catalog, product, terms.flat_map(BTreeMap::values));
    }
    found.sort_unique();
    Ok(found)
}

/// Each entry is a product, or a text that holds one.
pub(super) fn products(catalog: &Catalog, list: &[Value]) -> Result<Found, String> {
    let mut found = Found {
        kind: KIND,
        ..Found::default()
    };
    for (index, entry) in list.iter().enumerate() {
        let single: Result<Single, _> = match entry {
            Value::String(text) => serde_json::from_str(text),
            other => Single::deserialize(other),
        };
        let single =
            single.map_err(|why| format!("its product {} cannot be read: {why}", index + 1))?;
        found.date = found.date.max(day(&single.published));
        found.take(catalog, &single.product, single.terms.on_demand.values());
    }
    found.sort_unique();
    Ok(found)
}

/// `2026-11-18T21:04:05Z`.
fn day(published: &str) -> Option<Date> {
    published.get(..10)?.parse().ok()
}

impl Found {
    /// Takes the price of a product, or counts the product as skipped.
    fn take<'t>(
        &mut self,
        catalog: &Catalog,
        product: &Product,
        terms: impl Iterator<Item = &'t Term>,
    ) {
        let dimensions = terms.flat_map(|term| term.dimensions.values());
        // Price tiers are products of their own, so one dimension has a price; of several, the lowest
        // counts.
        let dimension = dimensions
            .filter(|d| usd(d) > 0.0)
            .min_by(|a, b| usd(a).total_cmp(&usd(b)));
        let taken = dimension.is_some_and(|dimension| match product.family.as_str() {
            "Compute Instance" | "Compute Instance (bare metal)" => self.hour(product, dimension),
            _ => self.volume(catalog, product, dimension),
        });
        self.skipped += usize::from(!taken);
    }

    /// Takes the plain price of an instance by the hour; false for other ways to buy one.
    fn hour(&mut self, product: &Product, dimension: &Dimension) -> bool {
        let has = &product.attributes;
        let system = match has.operating_system.as_str() {
            "Linux" => System::Linux,
            "Windows" => System::Windows,
            _ => return false,
        };
        let plain = has.tenancy == "Shared"
            && matches!(has.pre_installed_sw.as_str(), "NA" | "")
            && matches!(has.capacitystatus.as_str(), "Used" | "")
            && has.license_model != "Bring your own license"
            && dimension.unit == "Hrs";
        if !plain || !is_region(&has.region_code) || !is_type(&has.instance_type) {
            return false;
        }
        self.hours.push(Hour {
            region: has.region_code.clone(),
            name: has.instance_type.clone(),
            system,
            usd: usd(dimension),
        });
        true
    }

    /// Takes a price of a volume type that the catalog knows; false for another product.
    fn volume(&mut self, catalog: &Catalog, product: &Product, dimension: &Dimension) -> bool {
        let attributes = &product.attributes;
        let Some(kind) = catalog.volume_type(&attributes.volume_api_name) else {
            return false;
        };
        // A type with the prices of another type has none of its own in the catalog.
        if kind.priced_as != kind.name || !is_region(&attributes.region_code) {
            return false;
        }
        // The name of a region may precede it: `EU-EBS:VolumeP-IOPS.io2.tier2`.
        let Some((_, usage)) = attributes.usagetype.split_once("EBS:") else {
            return false;
        };
        let Some((per, scale)) = counted(usage, &dimension.unit) else {
            return false;
        };
        // The first tier of a price has no number in its usage, nor has a price without tiers.
        let tier = usage
            .rsplit_once("tier")
            .and_then(|(_, tier)| tier.parse().ok())
            .unwrap_or(1);
        let step = kind.price_step(catalog, per, tier);
        self.volumes.push(VolumePrice {
            region: attributes.region_code.clone(),
            kind: kind.name,
            per,
            above: step.above,
            up_to: step.up_to,
            usd: usd(dimension) * scale,
        });
        true
    }

    /// Sorts the prices, and keeps the first of several for the same thing.
    fn sort_unique(&mut self) {
        self.hours.sort_by(|a, b| {
            (&a.region, &a.name, a.system as u8).cmp(&(&b.region, &b.name, b.system as u8))
        });
        self.hours
            .dedup_by(|a, b| (&a.region, &a.name, a.system) == (&b.region, &b.name, b.system));
        self.volumes.sort_by(|a, b| a.key().cmp(&b.key()));
        self.volumes.dedup_by(|a, b| a.key() == b.key());
    }
}

fn usd(dimension: &Dimension) -> f64 {
    let text = dimension.price.get("USD").map_or("", String::as_str);
    text.parse()
        .ok()
        .filter(|usd: &f64| usd.is_finite())
        .unwrap_or(0.0)
}

/// What a usage type counts, and the factor that makes its price one of the catalog's unit.
fn counted(usage: &str, unit: &str) -> Option<(Per, f64)> {
    match unit.to_ascii_lowercase().as_str() {
        "gb-mo" if usage.starts_with("VolumeUsage") => Some((Per::GibMonth, 1.0)),
        "iops-mo" if usage.starts_with("VolumeP-IOPS") => Some((Per::IopsMonth, 1.0)),
        // Sold by the GiB/s.
        "gibps-mo" if usage.starts_with("VolumeP-Throughput") => {
            Some((Per::MibpsMonth, 1.0 / 1024.0))
        }
        "ios" if usage.starts_with("VolumeIOUsage") => Some((Per::MillionIo, 1e6)),
        _ => None,
    }
}
