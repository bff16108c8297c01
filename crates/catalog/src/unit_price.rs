//! What a delivered unit costs: every quotient with its inputs, every price with region and day.

use std::str::FromStr;

use serde::Serialize;

use crate::catalog::Catalog;
use crate::cost::{Cost, total};
use crate::error::Error;
use crate::price::{HOURS_PER_MONTH, Per, Price};
use crate::resolve::resolve;
use crate::sheet::{Sheet, describe, sustained_random_reads};
use blocklab_workload::Address;
use blocklab_workload::Date;

/// By what offers are put in order, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// US dollars a month for one IOPS.
    Iops,
    /// US dollars a month for one MB/s.
    Throughput,
    /// US dollars a month for one GB.
    Capacity,
}

/// Another currency, at a rate that the user gives: rates change by the minute, and none is kept
/// here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Currency {
    /// `EUR`.
    pub code: String,
    /// How much of it one US dollar is.
    pub per_usd: f64,
}

/// A text that is no currency with a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no currency with its rate for one US dollar, such as EUR=0.92")]
pub struct NotACurrency(String);

impl FromStr for Currency {
    type Err = NotACurrency;

    fn from_str(text: &str) -> Result<Self, NotACurrency> {
        let (code, rate) = text.split_once('=').unwrap_or((text, ""));
        let is_code = code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase());
        match rate.parse::<f64>() {
            Ok(per_usd) if is_code && per_usd > 0.0 && per_usd.is_finite() => Ok(Self {
                code: code.to_owned(),
                per_usd,
            }),
            _ => Err(NotACurrency(text.to_owned())),
        }
    }
}

/// A unit that is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// One operation a second, for a month.
    Iops,
    /// 10^6 bytes a second, for a month.
    MbPerS,
    /// 10^9 bytes, for a month.
    Gb,
    /// A million operations at the delivered rate, without a pause.
    MillionIo,
    /// A million operations a second, for an hour.
    MillionIopsHour,
}

impl Unit {
    /// The text after "per".
    pub const fn text(self) -> &'static str {
        match self {
            Self::Iops => "IOPS and month",
            Self::MbPerS => "MB/s and month",
            Self::Gb => "GB and month",
            Self::MillionIo => "million I/Os",
            Self::MillionIopsHour => "1,000,000 IOPS and hour",
        }
    }

    /// The time for which a price of it is paid.
    const fn paid_for(self) -> PaidFor {
        match self {
            Self::Iops | Self::MbPerS | Self::Gb => PaidFor::Month,
            Self::MillionIo | Self::MillionIopsHour => PaidFor::Hour,
        }
    }

    /// What is counted of what is delivered in that time.
    const fn delivered_unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::MbPerS => "MB/s",
            Self::Gb => "GB",
            Self::MillionIo => "million I/Os",
            Self::MillionIopsHour => "million IOPS",
        }
    }
}

/// The time for which a price is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaidFor {
    /// A month of 730 hours.
    Month,
    /// An hour.
    Hour,
}

impl PaidFor {
    /// `a month`, `an hour`.
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Month => "a month",
            Self::Hour => "an hour",
        }
    }
}

/// A quotient: `usd` = `paid_usd` / `delivered`, and what the use itself costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitPrice {
    /// What the price is for.
    pub unit: Unit,
    /// US dollars for one.
    pub usd: f64,
    /// US dollars for the time `paid_for`.
    pub paid_usd: f64,
    /// For how long.
    pub paid_for: PaidFor,
    /// What is delivered for that.
    pub delivered: f64,
    /// In what: `IOPS`, `MB/s`, `GB`, `million I/Os`, `million IOPS`.
    pub delivered_unit: &'static str,
    /// Which figure that is: `documented, sustained: random reads of 4 KiB`.
    pub delivered_by: String,
    /// The part of `usd` that every million operations cost in addition.
    pub by_use_usd: f64,
}

/// What something costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Priced {
    /// The address, or the run that delivered.
    pub name: String,
    /// What is paid for.
    pub addresses: Vec<String>,
    /// Whose price lists.
    pub regions: Vec<String>,
    /// Their days, the oldest first.
    pub dates: Vec<Date>,
    /// In which money all of it is: `USD`, or `CNY` in the regions of China; `mixed`: a part in each.
    pub money: &'static str,
    /// All that does not depend on the use; `None`: no price is known, or there is no common money.
    pub usd_per_month: Option<f64>,
    /// The same by the hour.
    pub usd_per_hour: Option<f64>,
    /// Quantities times prices.
    pub costs: Vec<Cost>,
    /// Every price that was used.
    pub prices: Vec<Price>,
    /// What a delivered unit costs.
    pub units: Vec<UnitPrice>,
    /// On what this rests without evidence.
    pub assumed: Vec<String>,
    /// What else is good to know.
    pub notes: Vec<String>,
}

impl Priced {
    /// The day whose prices are wanted: the last that an address names (`as-of`), today where one names none.
    fn wanted_day(&self, today: Date) -> Date {
        let days = self.addresses.iter().map(|text| match text.parse() {
            Ok(Address::Sold(offer)) => offer.as_of.unwrap_or(today),
            _ => today,
        });
        days.max().unwrap_or(today)
    }

    /// US dollars for one of these; `None`: not known.
    pub fn per(&self, unit: Unit) -> Option<f64> {
        let found = self.units.iter().find(|price| price.unit == unit);
        found.map(|price| price.usd)
    }
}

/// Something delivered, and by what.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivered {
    /// Operations or bytes a second.
    pub value: f64,
    /// Which figure that is: `measured: rand4k-q32-read`.
    pub by: String,
}

/// What an address or a run delivers at best.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// Operations a second.
    pub iops: Option<Delivered>,
    /// Bytes a second.
    pub bytes_per_s: Option<Delivered>,
}

/// An address with its documented limits and prices.
#[derive(Debug, Clone, PartialEq)]
pub struct Bought {
    sheet: Sheet,
    capacity_bytes: Option<f64>,
}

impl Bought {
    /// Finds the limits and prices of an address; `region` takes the place of the one it names.
    ///
    /// # Errors
    /// As [`describe`].
    pub fn find(text: &str, region: Option<&str>, catalog: &Catalog) -> Result<Self, Error> {
        let mut address = Address::from_str(text)?;
        if let (Address::Sold(offer), Some(region)) = (&mut address, region) {
            offer.region = Some(region.to_owned());
        }
        let sheet = describe(&address.to_string(), catalog).map_err(|error| error.echoing(text))?;
        // The sheet's address names the IOPS that are assumed where the typed one has none.
        let whole = Address::from_str(&sheet.address)?;
        let spec = resolve(&whole, catalog).ok().or_else(|| {
            let own = own_disks(&address)?;
            resolve(&own, catalog).ok()
        });
        let capacity_bytes = spec.map(|found| found.spec.capacity().as_f64());
        Ok(Self {
            sheet,
            capacity_bytes,
        })
    }

    /// What documents promise for as long as the load lasts.
    fn promised(&self) -> Output {
        let reaches = &self.sheet.reaches;
        Output {
            iops: sustained_random_reads(reaches, 4).map(|stretch| Delivered {
                value: stretch.iops,
                by: format!("{}, sustained: random reads of 4 KiB", stretch.evidence),
            }),
            bytes_per_s: sustained_random_reads(reaches, 1024).map(|stretch| Delivered {
                value: stretch.mib_per_s * 1_048_576.0,
                by: format!("{}, sustained: random reads of 1 MiB", stretch.evidence),
            }),
        }
    }
}

/// `local@i3.xlarge` of `i3.xlarge`.
fn own_disks(address: &Address) -> Option<Address> {
    let Address::Sold(offer) = address else {
        return None;
    };
    let mut own = offer.clone();
    own.instance = Some(std::mem::replace(&mut own.volume, "local".to_owned()));
    Some(Address::Sold(own))
}

/// What all of `bought` costs together and by unit: of `output`, or of what documents promise.
pub fn price(name: &str, bought: &[Bought], output: Option<&Output>) -> Priced {
    let mut priced = Priced {
        name: name.to_owned(),
        addresses: bought.iter().map(|one| one.sheet.address.clone()).collect(),
        money: bought.first().map_or("USD", |one| one.sheet.currency),
        ..Priced::default()
    };
    for one in bought {
        priced.add(&one.sheet);
    }
    let first = priced.costs.first().map(|cost| cost.currency);
    if (priced.costs.iter()).any(|cost| Some(cost.currency) != first) {
        priced.money = "mixed";
        let no_total = "there is no total: its parts are sold in different currencies";
        priced.notes.push(no_total.to_owned());
        return priced;
    }
    let is_partial = bought.iter().any(|one| one.sheet.cost.is_partial);
    if let Some(usd_per_month) = total(&priced.costs).filter(|_| !is_partial) {
        priced.usd_per_month = Some(usd_per_month);
        priced.usd_per_hour = Some(usd_per_month / HOURS_PER_MONTH);
        let promised = match bought {
            [one] => one.promised(),
            _ => Output::default(),
        };
        priced.units = units(usd_per_month, bought, output.unwrap_or(&promised));
    }
    priced
}

impl Priced {
    /// Adds what one device costs, and from which lists.
    fn add(&mut self, sheet: &Sheet) {
        for cost in &sheet.costs {
            // Volumes on one instance share it.
            if cost.per != Per::Hour || !self.costs.contains(cost) {
                self.costs.push(cost.clone());
            }
        }
        let paid = sheet.prices.iter();
        for price in paid.filter(|price| price.is_in(&sheet.costs)) {
            insert(&mut self.prices, price.clone());
            insert(&mut self.regions, price.region.clone());
            insert(&mut self.dates, price.date);
        }
        self.dates.sort_unstable();
        for text in &sheet.cost.assumed {
            insert(&mut self.assumed, text.clone());
        }
        for text in &sheet.cost.notes {
            insert(&mut self.notes, text.clone());
        }
    }
}

/// A price list that is so old that it may no longer hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OldList {
    /// Its day.
    pub date: Date,
    /// Whole years since then.
    pub years: u16,
    /// What was priced by it, at least in part.
    pub names: Vec<String>,
}

/// The lists that are a year old or more, the oldest first.
pub fn old_lists(priced: &[Priced], today: Date) -> Vec<OldList> {
    let mut dates: Vec<Date> = priced.iter().flat_map(|one| one.dates.clone()).collect();
    dates.sort_unstable();
    dates.dedup();
    let lists = dates.into_iter().map(|date| {
        let of_list = priced
            .iter()
            .filter(|one| one.dates.contains(&date) && date.years_until(one.wanted_day(today)) > 0);
        OldList {
            date,
            years: date.years_until(today),
            names: of_list.map(|one| one.name.clone()).collect(),
        }
    });
    lists.filter(|list| !list.names.is_empty()).collect()
}

fn insert<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

/// The price of each unit that a bill can be divided by.
fn units(usd_per_month: f64, bought: &[Bought], output: &Output) -> Vec<UnitPrice> {
    // Added up from 0.0: the sum of no price would be -0.0. Several volumes share the operations evenly.
    let costs = bought.iter().flat_map(|one| &one.sheet.costs);
    let by_use = costs.filter_map(Cost::usd_per_million_operations);
    let by_use = by_use.fold(0.0, |sum, usd| sum + usd) / bought.len() as f64;
    let unit = |unit: Unit, delivered: f64, by: &str| {
        let paid_usd = match unit.paid_for() {
            PaidFor::Month => usd_per_month,
            PaidFor::Hour => usd_per_month / HOURS_PER_MONTH,
        };
        // A bill by use depends on the number of operations, so only their price can hold it.
        let by_use_usd = if unit == Unit::MillionIo { by_use } else { 0.0 };
        UnitPrice {
            unit,
            usd: paid_usd / delivered + by_use_usd,
            paid_usd,
            paid_for: unit.paid_for(),
            delivered,
            delivered_unit: unit.delivered_unit(),
            delivered_by: by.to_owned(),
            by_use_usd,
        }
    };
    let mut found = Vec::new();
    if let Some(iops) = &output.iops {
        found.push(unit(Unit::Iops, iops.value, &iops.by));
    }
    if let Some(bytes) = &output.bytes_per_s {
        found.push(unit(Unit::MbPerS, bytes.value / 1e6, &bytes.by));
    }
    let sizes: Option<Vec<f64>> = bought.iter().map(|one| one.capacity_bytes).collect();
    let bytes: f64 = sizes.map_or(0.0, |sizes| sizes.iter().sum());
    if bytes > 0.0 {
        found.push(unit(Unit::Gb, bytes / 1e9, "capacity"));
    }
    if let Some(iops) = &output.iops {
        found.push(unit(Unit::MillionIo, iops.value * 3600.0 / 1e6, &iops.by));
        found.push(unit(Unit::MillionIopsHour, iops.value / 1e6, &iops.by));
    }
    found
}

/// Cheapest first; what has no such price comes last, in the order given.
pub fn sort(priced: &mut [Priced], by: By) {
    let unit = match by {
        By::Iops => Unit::Iops,
        By::Throughput => Unit::MbPerS,
        By::Capacity => Unit::Gb,
    };
    // Amounts of different money cannot be compared: each kind by itself, US dollars first.
    priced.sort_by(|a, b| {
        let [a_usd, b_usd] = [a, b].map(|one| one.per(unit).unwrap_or(f64::INFINITY));
        let [a_money, b_money] = [a, b].map(|one| (one.money != "USD", one.money));
        a_money.cmp(&b_money).then_with(|| a_usd.total_cmp(&b_usd))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prices of China were shown and ranked as if a yuan were a dollar.
    #[test]
    fn yuan_are_no_dollars() {
        let mut all = ["cn-north-1", "us-east-1"].map(|region| {
            let bought = find("r5.large", Some(region));
            price(region, &[bought], None)
        });
        assert_eq!(all[0].money, "CNY");
        sort(&mut all, By::Iops);
        assert_eq!(all.map(|one| one.money), ["USD", "CNY"]);
    }

    /// The story: of a run on disks in Virginia and in Beijing, `price` added dollars and yuan.
    #[test]
    fn dollars_and_yuan_have_no_sum() {
        let in_dollars = find("local@r5d.large", Some("us-east-1"));
        let in_yuan = find("local@r5d.large", Some("cn-north-1"));
        let priced = price("run", &[in_dollars, in_yuan], None);
        assert_eq!(priced.money, "mixed");
        assert_eq!((priced.usd_per_month, priced.units.len()), (None, 0));
        assert!(priced.notes[1].starts_with("there is no total"));
    }

    /// The story: the steps of a price that begin above the bought operations were among those used.
    #[test]
    fn a_step_that_is_not_reached_is_no_price_that_was_used() {
        let bought = find("io2:100GiB,iops=3000", Some("us-east-1"));
        let used = price("io2", &[bought], None).prices;
        let begins: Vec<f64> = used.iter().map(|price| price.above).collect();
        assert_eq!(begins, [0.0, 0.0]);
    }

    /// The story: a volume that was priced with assumed IOPS had no price for a GB.
    #[test]
    fn assumed_operations_leave_the_capacity_known() {
        let bought = find("io2:100GiB", Some("us-east-1"));
        let per_gb = price("io2", &[bought], None).per(Unit::Gb);
        assert!(per_gb.is_some_and(|usd| usd > 0.0), "{per_gb:?}");
    }

    /// `price` picked notes by the word "price", so that it kept silent where `catalog show` said that
    /// a day is in the future.
    #[test]
    fn a_day_in_the_future_is_noted() {
        let priced = price("gp3", &[find("gp3:100GiB,as-of=2099-01-01", None)], None);
        assert!(priced.notes[0].starts_with("2099-01-01 lies after the newest source"));
    }

    /// The story: `price io2` was 323 USD a month for a volume whose size and IOPS nobody had named, and
    /// only `catalog show` told that both are assumed.
    #[test]
    fn an_amount_names_the_size_and_the_rate_that_it_assumes() {
        let assumed =
            |address: &str| price("one", &[find(address, Some("us-east-1"))], None).assumed;
        assert_eq!(
            assumed("io2"),
            [
                "no IOPS are given: 3,000 are assumed, the vendor's default for a volume changed to this type",
                "no size is given: 1 TiB is assumed",
            ]
        );
        assert_eq!(assumed("io2:1TiB,iops=3000"), [""; 0]);
    }

    fn find(text: &str, region: Option<&str>) -> Bought {
        Bought::find(text, region, &Catalog::embedded()).expect(text)
    }

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a price");
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    /// 1,024 GiB x .096 + 3,000 IOPS x .006 + 730 h x .348, by hand.
    #[test]
    fn every_quotient_follows_from_its_inputs() {
        let gp3 = find("gp3:1TiB,iops=6000@r5d.xlarge", Some("ap-northeast-1"));
        let priced = price("gp3", &[gp3], None);
        let month = 98.304 + 18.0 + 254.04;
        near(priced.usd_per_month, month);
        near(priced.usd_per_hour, month / 730.0);
        near(priced.per(Unit::Iops), month / 6000.0);
        near(priced.per(Unit::MbPerS), month / (125.0 * 1.048_576));
        near(
            priced.per(Unit::Gb),
            month / (f64::from(1 << 20) * 1.048_576e6 / 1e9),
        );
        near(priced.per(Unit::MillionIo), month / 730.0 / 21.6);
        near(priced.per(Unit::MillionIopsHour), month / 730.0 / 0.006);
        assert_eq!(priced.regions, ["ap-northeast-1"]);
        assert!(!priced.dates.is_empty() && !priced.prices.is_empty());
        for unit in &priced.units {
            let again = unit.paid_usd / unit.delivered + unit.by_use_usd;
            assert!((again - unit.usd).abs() < 1e-12, "{unit:?}");
        }
    }

    /// Azure bills each ten thousand operations of a Standard SSD at 0.002 USD: 0.2 USD for a million.
    /// The price of a million I/Os was a seventh of that, as only prices by the million were added.
    #[test]
    fn what_is_billed_by_use_is_in_the_price_of_a_million_operations() {
        let by_use = |address: &str| {
            let priced = price("it", &[find(address, None)], None);
            let mut units = priced.units.into_iter();
            let million = units.rfind(|unit| unit.unit == Unit::MillionIo);
            let million = million.expect("a price of a million operations");
            near(Some(million.usd), million.paid_usd / 1.8 + 0.2);
            million.by_use_usd
        };
        near(Some(by_use("azure/StandardSSD_LRS:500GiB")), 0.2);
        // Both disks have the price, and each operation is one of theirs.
        let disks = [
            find("azure/StandardSSD_LRS:500GiB", None),
            find("azure/StandardSSD_LRS:500GiB", None),
        ];
        let output = Output {
            iops: Some(Delivered {
                value: 1000.0,
                by: "measured: both".to_owned(),
            }),
            bytes_per_s: None,
        };
        let both = price("both", &disks, Some(&output));
        assert!(
            both.units
                .iter()
                .any(|unit| (unit.by_use_usd - 0.2).abs() < 1e-9)
        );
        // Above the target of a P40 operations are billed, and below it none.
        let bursting = "azure/P40,performance=on-demand,region=northeurope";
        let on_demand = price("on demand", &[find(bursting, None)], None);
        assert!(
            on_demand
                .units
                .iter()
                .all(|unit| unit.by_use_usd.to_bits() == 0)
        );
    }

    /// The story: a study of 2017 gave the price of 1,000,000 IOPS for an hour, in Tokyo.
    #[test]
    fn a_run_is_priced_by_what_it_delivered() {
        let fast = Delivered {
            value: 206_250.0,
            by: "measured: fast".to_owned(),
        };
        let output = Output {
            iops: Some(fast),
            bytes_per_s: None,
        };
        let i3 = find(
            "local,as-of=2017-02-27,region=ap-northeast-1@i3.xlarge",
            None,
        );
        let priced = price("run", &[i3], Some(&output));
        near(priced.per(Unit::MillionIopsHour), 0.366 / 0.206_25);
        assert_eq!(priced.units[0].delivered_by, "measured: fast");
    }

    #[test]
    fn a_currency_needs_its_rate() {
        let euro = "EUR=0.92".parse::<Currency>().expect("a currency");
        assert_eq!((euro.code.as_str(), euro.per_usd), ("EUR", 0.92));
        for wrong in [
            "EUR", "EUR=", "EUR=0", "EUR=-1", "eur=1", "EURO=1", "EUR=inf", "=1",
        ] {
            assert!(wrong.parse::<Currency>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_has_no_price_comes_last() {
        let unknown = price("standard", &[find("standard:100GiB", None)], None);
        assert_eq!(
            (unknown.usd_per_month, unknown.per(Unit::Iops)),
            (None, None)
        );
        let mut all = [
            unknown,
            price("io2", &[find("io2:1TiB,iops=6000", None)], None),
            price("gp3", &[find("gp3:1TiB,iops=6000", None)], None),
        ];
        sort(&mut all, By::Iops);
        let names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["gp3", "io2", "standard"]);
    }

    #[test]
    fn volumes_of_one_instance_share_its_price() {
        let (a, b) = (
            find("gp3:1TiB@r5d.xlarge", None),
            find("gp2:1TiB@r5d.xlarge", None),
        );
        let both = price("both", &[a.clone(), b], None);
        let hours = both.costs.iter().filter(|cost| cost.per == Per::Hour);
        assert_eq!(hours.count(), 1);
        assert!(both.usd_per_month > price("a", &[a], None).usd_per_month);
    }

    #[test]
    fn an_instance_by_itself_is_priced_with_its_disks() {
        let priced = price("i3.xlarge", &[find("i3.xlarge", None)], None);
        near(
            priced.per(Unit::Gb),
            priced.usd_per_month.expect("a sum") / 950.0,
        );
    }
}
