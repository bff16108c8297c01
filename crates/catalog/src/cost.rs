//! What a month costs: quantities times prices.

use blocklab_units::count;
use blocklab_workload::Offer;
use serde::Serialize;

use crate::Catalog;
use crate::price::{ASSUMED, HOURS_PER_MONTH, Per, Price, System};

#[derive(Debug, Clone, Default)]
pub(crate) struct Purchase {
    pub(crate) volume: Option<String>,
    pub(crate) volumes: f64,
    /// Of each volume.
    pub(crate) gib: f64,
    pub(crate) iops: Option<f64>,
    pub(crate) mibps: Option<f64>,
    /// Of these, what comes with the volume and costs nothing.
    pub(crate) included_iops: f64,
    pub(crate) included_mibps: f64,
    pub(crate) instance: Option<String>,
    /// US dollars an hour of a machine of another vendor, East US.
    pub(crate) machine_hour: Option<f64>,
}

/// One item of a month's bill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// `gp3 storage`.
    pub what: String,
    /// How many are paid for in a month, of all volumes together.
    pub quantity: f64,
    /// Of what.
    pub per: Per,
    /// For one, in `currency`.
    pub usd_each: f64,
    /// A month, in `currency`; `None`: it depends on the use.
    pub usd_per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
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

pub(crate) fn purchase(catalog: &Catalog, offer: &Offer, region: &str, what: &Purchase) -> Bill {
    let mut bill = Bill::default();
    if let Some(kind) = &what.volume {
        bill.volumes(catalog, offer, region, kind, what);
    }
    if let Some(instance) = &what.instance {
        bill.instance(catalog, offer, region, instance);
    }
    if let Some(usd) = what.machine_hour {
        bill.machine(offer, usd);
    }
    if !bill.prices.is_empty() && offer.region.is_none() && what.machine_hour.is_none() {
        bill.assumptions.push(format!(
            "no region is given: prices of {region} are assumed"
        ));
    }
    let later = bill
        .prices
        .iter()
        .filter(|price| price.assumed && bill.charges(price))
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
    /// Whether a cost was reckoned with this price.
    fn charges(&self, price: &Price) -> bool {
        let mut costs = self.costs.iter();
        costs.any(|cost| cost.what == price.what && cost.usd_each == price.usd)
    }

    fn volumes(
        &mut self,
        catalog: &Catalog,
        offer: &Offer,
        region: &str,
        kind: &str,
        what: &Purchase,
    ) {
        let prices = catalog.volume_prices_of(kind, region, offer.as_of);
        let iops = what.iops.unwrap_or(0.0);
        let mibps = what.mibps.unwrap_or(0.0);
        for (per, name, needed) in [
            (Per::GibMonth, "storage", true),
            (Per::IopsMonth, "IOPS", iops > what.included_iops),
            (Per::MibpsMonth, "throughput", mibps > what.included_mibps),
        ] {
            if needed && prices.iter().all(|price| price.per != per) {
                self.incomplete = true;
                self.notes
                    .push(format!("no price of {kind} {name} in {region} is known"));
            }
        }
        for price in prices {
            let each = match price.per {
                Per::GibMonth => Some(what.gib),
                Per::IopsMonth => Some(iops),
                Per::MibpsMonth => Some(mibps),
                Per::MillionIo | Per::Hour => None,
            };
            self.item(&price, each, what.volumes);
            self.prices.push(price);
        }
    }

    /// Adds what lies in the price's step.
    fn item(&mut self, price: &Price, each: Option<f64>, volumes: f64) {
        let quantity = each.map(|each| {
            let in_step = each.min(price.up_to.unwrap_or(f64::INFINITY)) - price.above;
            in_step.max(0.0) * volumes
        });
        if quantity == Some(0.0) {
            return;
        }
        self.costs.push(Cost {
            what: price.what.clone(),
            quantity: quantity.unwrap_or(1.0),
            per: price.per,
            usd_each: price.usd,
            usd_per_month: quantity.map(|quantity| quantity * price.usd),
            currency: price.currency,
        });
    }

    fn instance(&mut self, catalog: &Catalog, offer: &Offer, region: &str, instance: &str) {
        match catalog.hour_of(instance, System::Linux, region, offer.as_of) {
            Some(price) => {
                self.hours(&price);
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

    fn hours(&mut self, price: &Price) {
        self.item(price, Some(HOURS_PER_MONTH), 1.0);
        self.assumptions
            .push(format!("a month has {HOURS_PER_MONTH} hours"));
    }

    fn machine(&mut self, offer: &Offer, usd: f64) {
        let Ok(date) = "2025-05-28".parse() else {
            return;
        };
        let price = Price {
            what: format!("{}, Linux", offer.instance.as_deref().unwrap_or_default()),
            usd,
            per: Per::Hour,
            above: 0.0,
            up_to: None,
            currency: "USD",
            region: "East US".to_owned(),
            date,
            source: "ec2instances.info, Azure table".to_owned(),
            assumed: offer.as_of.is_some_and(|day| day < date),
        };
        self.hours(&price);
        self.prices.push(price);
    }
}

impl Catalog {
    /// The regions whose lists have an instance type, up to five.
    fn regions_selling(&self, instance: &str) -> Vec<String> {
        let lists = self.lists().filter(|list| list.row(instance).is_some());
        let mut regions: Vec<_> = lists.map(|list| list.region.to_owned()).collect();
        regions.dedup();
        regions.truncate(5);
        regions
    }
}
