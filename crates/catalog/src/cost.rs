//! What a month costs: quantities times prices.

use std::collections::BTreeSet;

use blocklab_units::count;
use blocklab_workload::Offer;
use serde::Serialize;

use crate::Catalog;
use crate::price::{ASSUMED, Counted, HOURS_PER_MONTH, Per, Price, System};
use crate::price_list::List;

#[derive(Debug, Clone, Default)]
pub(crate) struct Purchase {
    pub(crate) volume: Option<String>,
    pub(crate) volumes: f64,
    /// The size of each volume.
    pub(crate) gib: f64,
    pub(crate) iops: Option<f64>,
    pub(crate) mibps: Option<f64>,
    /// The operations that come with the volume and cost nothing.
    pub(crate) included_iops: f64,
    pub(crate) included_mibps: f64,
    /// What is switched on besides and has a price of its own.
    pub(crate) switched_on: Option<(String, Above)>,
    pub(crate) instance: Option<String>,
}

/// What a bill by use counts: what lies above these rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Above {
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

impl Above {
    /// Bytes a second that count as one operation a second: 1/4 MB, as Azure counts bursts
    /// (managed-disks-bursting-2.md, 2025-01-14).
    const BYTES: f64 = 250_000.0;

    /// Billed operations a second at this rate.
    pub(crate) fn billed_iops(&self, iops: f64, bytes_per_s: f64) -> f64 {
        let by_bytes = (bytes_per_s - self.bytes_per_s) / Self::BYTES;
        (iops - self.iops).max(by_bytes).max(0.0)
    }
}

/// One item of a month's bill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// `gp3 storage`.
    pub what: String,
    /// How many are paid for in a month, of all volumes together.
    pub quantity: f64,
    /// What the price is paid for.
    pub per: Per,
    /// For one, in `currency`.
    pub usd_each: f64,
    /// A month, in `currency`; `None`: it depends on the use.
    pub usd_per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// What a price by use counts, where it is documented.
    #[serde(skip)]
    pub above: Option<Above>,
}

impl Cost {
    /// The price of a million operations, in `currency`, where every one is billed; `None`: none is,
    /// or only those above a rate.
    pub fn usd_per_million_operations(&self) -> Option<f64> {
        let is_by_use = self.usd_per_month.is_none() && self.above.is_none();
        is_by_use.then(|| self.usd_each * (1e6 / self.per.operations()))
    }
}

/// The sum of a month; `None` without a cost that has one.
pub(crate) fn total(costs: &[Cost]) -> Option<f64> {
    let known: Vec<f64> = costs.iter().filter_map(|cost| cost.usd_per_month).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

/// Prices, the bill, and what it rests on.
#[derive(Debug, Default)]
pub(crate) struct Bill {
    pub(crate) prices: Vec<Price>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) assumptions: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// A part has no price, so that there is no sum.
    pub(crate) incomplete: bool,
}

/// What a purchase costs, and which of its prices are assumed or missing.
pub(crate) fn purchase(catalog: &Catalog, offer: &Offer, region: &str, what: &Purchase) -> Bill {
    let mut bill = Bill::default();
    if let Some(kind) = &what.volume {
        bill.volumes(catalog, offer, region, kind, what);
    }
    if let Some(instance) = &what.instance {
        bill.instance(catalog, offer, region, instance);
    }
    if let Some((kind, above)) = &what.switched_on {
        let of_all = Above {
            iops: above.iops * what.volumes,
            bytes_per_s: above.bytes_per_s * what.volumes,
        };
        bill.switched_on(catalog, offer, region, kind, what.volumes, of_all);
    }
    if !bill.prices.is_empty() && offer.region.is_none() {
        bill.assumptions.push(format!(
            "no region is given: prices of {region} are assumed"
        ));
    }
    // Only of prices that are in the bill: others are shown, but no cost was computed from them.
    let later = bill
        .prices
        .iter()
        .filter(|price| !price.evidence.is_listed() && bill.charges(price))
        .map(|price| match price.source.split_once(ASSUMED) {
            Some((_, why)) => {
                let above = count(price.above);
                format!("price of {} above {above}: {why}", price.what)
            }
            None => format!(
                "{}: the oldest known price, of {}, is assumed",
                price.what, price.date
            ),
        });
    let later: Vec<String> = later.collect();
    bill.assumptions.extend(later);
    bill
}

impl Bill {
    /// Whether a cost was computed from this price.
    fn charges(&self, price: &Price) -> bool {
        let mut costs = self.costs.iter();
        costs.any(|cost| cost.what == price.what && cost.usd_each == price.usd)
    }

    /// Notes that something has no price, so that the bill has no sum.
    fn lacks_price(&mut self, what: &str) {
        self.incomplete = true;
        self.notes.push(format!("no price of {what} is known"));
    }

    /// Adds the prices of volumes, and notes those that are needed but not known.
    fn volumes(
        &mut self,
        catalog: &Catalog,
        offer: &Offer,
        region: &str,
        kind: &str,
        what: &Purchase,
    ) {
        if !catalog.vendor_of(kind).is_priced {
            self.lacks_price(kind);
            return;
        }
        let prices = catalog.volume_prices_of(kind, region, offer.as_of);
        let iops = what.iops.unwrap_or(0.0);
        let mibps = what.mibps.unwrap_or(0.0);
        for (counted, name, needed) in [
            (Counted::Storage, "storage", true),
            (Counted::Iops, "IOPS", iops > what.included_iops),
            (
                Counted::Throughput,
                "throughput",
                mibps > what.included_mibps,
            ),
        ] {
            // What comes with the volume needs no price of its own.
            if needed && prices.iter().all(|price| price.per.counts() != counted) {
                self.lacks_price(&format!("{kind} {name} in {region}"));
            }
        }
        for price in prices {
            let each = match (price.per.counts(), price.per) {
                (_, Per::DiskMonth) => Some(1.0),
                (Counted::Storage, _) => Some(what.gib),
                (Counted::Iops, _) => Some(iops),
                (Counted::Throughput, _) => Some(mibps),
                (Counted::Use | Counted::Machine, _) => None,
            };
            self.item(&price, each, what.volumes);
            self.prices.push(price);
        }
    }

    /// Adds what is switched on for each volume, such as bursts at a price of their own. `above` is what
    /// a price by use counts, of all volumes together.
    fn switched_on(
        &mut self,
        catalog: &Catalog,
        offer: &Offer,
        region: &str,
        kind: &str,
        volumes: f64,
        above: Above,
    ) {
        let prices = catalog.volume_prices_of(kind, region, offer.as_of);
        if prices.is_empty() {
            self.lacks_price(&format!("{kind} in {region}"));
        }
        for price in prices {
            // A price for each disk has the quantity 1; any other is a price by use, without one.
            let each = (price.per == Per::DiskMonth).then_some(1.0);
            self.item(&price, each, volumes);
            // A price by use is always added, and says what it counts.
            if each.is_none()
                && let Some(cost) = self.costs.last_mut()
            {
                cost.above = Some(above);
            }
            self.prices.push(price);
        }
    }

    /// Adds what the volumes cost by this price. `each`: the quantity of one volume, of which the part that
    /// lies in the price's step counts; `None`: it is a price by use.
    fn item(&mut self, price: &Price, each: Option<f64>, volumes: f64) {
        let quantity = each.map(|each| {
            let in_step = each.min(price.up_to.unwrap_or(f64::INFINITY)) - price.above;
            in_step.max(0.0) * volumes
        });
        // Nothing of it lies in this step of the price. Without a quantity the price is one by use, of
        // which the bill shows one unit.
        if quantity == Some(0.0) {
            return;
        }
        self.costs.push(Cost {
            what: price.what.clone(),
            quantity: quantity.unwrap_or(1.0),
            per: price.per,
            usd_each: price.usd,
            usd_per_month: quantity.map(|quantity| quantity * price.usd * price.per.times()),
            currency: price.currency,
            above: None,
        });
    }

    /// Adds the price of an instance by the hour with Linux, and shows the one with Windows.
    fn instance(&mut self, catalog: &Catalog, offer: &Offer, region: &str, instance: &str) {
        if !catalog.vendor_of(instance).is_priced {
            self.lacks_price(instance);
            return;
        }
        match catalog.hour_of(instance, System::Linux, region, offer.as_of) {
            Some(price) => {
                self.item(&price, Some(HOURS_PER_MONTH), 1.0);
                self.assumptions
                    .push(format!("a month has {HOURS_PER_MONTH} hours"));
                self.prices.push(price);
            }
            None => {
                self.incomplete = true;
                let elsewhere = catalog.regions_selling(instance);
                let hint = match elsewhere.as_slice() {
                    [] => String::new(),
                    some => format!("; it is in the lists of {}", some.join(", ")),
                };
                self.notes
                    .push(format!("no price of {instance} in {region} is known{hint}"));
            }
        }
        let windows = catalog.hour_of(instance, System::Windows, region, offer.as_of);
        self.prices.extend(windows);
    }
}

impl Catalog {
    /// The regions whose lists have an instance type, up to five.
    fn regions_selling(&self, instance: &str) -> Vec<String> {
        let lists = self.lists().filter_map(|list| {
            let row = list.row(instance)?;
            let regions = list.regions.split('|').enumerate();
            let linux = System::Linux as usize;
            let sold = regions.filter(move |(place, _)| List::price(row, linux, *place).is_some());
            Some(sold.map(|(_, region)| region.to_owned()))
        });
        // Several lists of a vendor may have one region.
        let regions: BTreeSet<String> = lists.flatten().collect();
        regions.into_iter().take(5).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: "it is in the lists of us-east-1, us-east-1, us-west-2", as the lists of several days
    /// have the price.
    #[test]
    fn a_region_with_several_lists_is_named_once() {
        let regions = Catalog::embedded().regions_selling("i2.xlarge");
        let unique: BTreeSet<&String> = regions.iter().collect();
        assert!(regions.len() > 1, "{regions:?}");
        assert_eq!(unique.len(), regions.len(), "{regions:?}");
    }
}
