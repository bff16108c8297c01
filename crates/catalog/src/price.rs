//! What things cost: by region and day, each price with its source.

use blocklab_units::did_you_mean;
use blocklab_workload::Date;
use serde::{Serialize, Serializer};

use crate::Catalog;
use crate::embedded::Section;
use crate::figure::{InForce, Statement, holds};
use crate::price_list::{List, lists};
use crate::table::Row;

/// How the remark of a price begins that no list has.
pub(crate) const ASSUMED: &str = "assumed: ";
const DEDUCED: &str = "deduced: ";

/// A month, as the vendor's calculators count it: 365 days × 24 hours / 12.
pub const HOURS_PER_MONTH: f64 = 730.0;

/// The currency of a region's price list: AWS sells in yuan in China, in US dollars elsewhere.
pub fn currency_of(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "CNY"
    } else {
        "USD"
    }
}

/// A price, in the money of its region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// `gp3 storage`, `r5d.xlarge, Linux`.
    pub what: String,
    /// The price of one `per`, in `currency`.
    pub usd: f64,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// What is counted.
    pub per: Per,
    /// What is free of charge or covered by the price before: the price holds above it.
    #[serde(skip_serializing_if = "is_zero")]
    pub above: f64,
    /// Where the price after this one begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<f64>,
    /// Whose list.
    pub region: String,
    /// The day of the list.
    pub date: Date,
    /// The list.
    pub source: String,
    /// How it is known. In JSON, `assumed` is set where no list of that day has the price.
    #[serde(
        rename = "assumed",
        serialize_with = "is_assumed",
        skip_serializing_if = "Evidence::is_listed"
    )]
    pub evidence: Evidence,
}

/// How a price is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A list of the day has it.
    Listed,
    /// The list is younger than the day of the address, no older one being known, or no list has the
    /// price at all.
    Assumed,
    /// No list has it, and it follows from other prices of the list by a rule that holds elsewhere.
    Deduced,
}

impl Evidence {
    /// Whether a list of the day has the price.
    pub const fn is_listed(&self) -> bool {
        matches!(self, Self::Listed)
    }

    /// What the remark of a row tells: `assumed: deduced: half of the GiB price`.
    fn from_remark(remark: &str) -> Self {
        match remark.strip_prefix(ASSUMED) {
            None => Self::Listed,
            Some(how) if how.starts_with(DEDUCED) => Self::Deduced,
            Some(_) => Self::Assumed,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_assumed<S: Serializer>(evidence: &Evidence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!evidence.is_listed())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// What a price is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// 2^30 bytes for a month. Vendors write GB.
    GibMonth,
    /// One provisioned operation a second for a month.
    IopsMonth,
    /// One provisioned MiB/s for a month.
    MibpsMonth,
    /// A million operations.
    MillionIo,
    /// An hour of an instance.
    Hour,
    /// 2^30 bytes for an hour.
    GibHour,
    /// One provisioned operation a second for an hour.
    IopsHour,
    /// One provisioned MB/s, 10^6 bytes a second, for an hour.
    MbpsHour,
    /// One provisioned MB/s for a month.
    MbpsMonth,
    /// A disk of a named size, or what is switched on for one, for a month.
    DiskMonth,
    /// Ten thousand operations.
    TenThousandIo,
}

/// What a price counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Storage,
    Iops,
    Throughput,
    /// Operations that are done, and not promised.
    Use,
    Machine,
}

impl Per {
    const NAMES: [(&'static str, Self); 10] = [
        ("gib_month", Self::GibMonth),
        ("iops_month", Self::IopsMonth),
        ("mibps_month", Self::MibpsMonth),
        ("million_io", Self::MillionIo),
        ("gib_hour", Self::GibHour),
        ("iops_hour", Self::IopsHour),
        ("mbps_hour", Self::MbpsHour),
        ("mbps_month", Self::MbpsMonth),
        ("disk_month", Self::DiskMonth),
        ("ten_thousand_io", Self::TenThousandIo),
    ];

    /// What a price of this kind counts.
    pub(crate) const fn counts(self) -> Counted {
        match self {
            Self::GibMonth | Self::GibHour | Self::DiskMonth => Counted::Storage,
            Self::IopsMonth | Self::IopsHour => Counted::Iops,
            Self::MibpsMonth | Self::MbpsHour | Self::MbpsMonth => Counted::Throughput,
            Self::MillionIo | Self::TenThousandIo => Counted::Use,
            Self::Hour => Counted::Machine,
        }
    }

    /// The number of operations that a price by use is for.
    pub(crate) const fn operations(self) -> f64 {
        match self {
            Self::TenThousandIo => 1e4,
            _ => 1e6,
        }
    }

    /// How many times it is paid in a month: once, or every hour.
    pub(crate) const fn times(self) -> f64 {
        match self {
            Self::GibHour | Self::IopsHour | Self::MbpsHour => HOURS_PER_MONTH,
            _ => 1.0,
        }
    }

    /// The text after an amount: `per GiB-month`.
    pub const fn text(self) -> &'static str {
        let texts = [
            "GiB-month",
            "IOPS-month",
            "MiB/s-month",
            "million I/O",
            "hour",
            "GiB-hour",
            "IOPS-hour",
            "MB/s-hour",
            "MB/s-month",
            "disk-month",
            "10,000 I/O",
        ];
        texts[self as usize]
    }

    /// Its name in the tables.
    pub(crate) fn key(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, per)| *per == self);
        found.map_or("hour", |(key, _)| key)
    }

    fn from_key(key: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == key);
        found.map(|(_, per)| *per)
    }
}

/// An operating system whose licence is in the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// No licence to pay.
    Linux,
    /// Windows, its licence included.
    Windows,
}

impl System {
    /// `Linux`, `Windows`.
    pub(crate) const fn name(self) -> &'static str {
        ["Linux", "Windows"][self as usize]
    }
}

impl Price {
    /// What a list stated of a thing, from its first edition on.
    fn held(held: InForce, what: String, per: Per, region: &str) -> Self {
        Self {
            what,
            usd: held.statement.value,
            currency: currency_of(region),
            per,
            above: 0.0,
            up_to: None,
            region: region.to_owned(),
            date: held.statement.from,
            source: held.statement.source,
            evidence: if held.is_later {
                Evidence::Assumed
            } else {
                Evidence::Listed
            },
        }
    }
}

impl Catalog {
    /// What a volume type costs in a region on a day: one entry for each thing that is counted
    /// and each step of its price. Empty: no list of that region is known.
    pub fn volume_prices_of(&self, kind: &str, region: &str, as_of: Option<Date>) -> Vec<Price> {
        let rows: Vec<Row<'_>> = self
            .rows_of(Section::VolumePrices, region)
            .filter(|row| row.text("type") == kind)
            .collect();
        let mut steps: Vec<(Per, String)> = Vec::new();
        for row in &rows {
            let step =
                Per::from_key(row.text("unit")).map(|per| (per, row.text("above").to_owned()));
            steps.extend(step.filter(|step| !steps.contains(step)));
        }
        let prices = steps.iter().filter_map(|(per, above)| {
            let of_step = rows
                .iter()
                .filter(|row| row.text("unit") == per.key() && row.text("above") == above);
            self.volume_price(kind, region, *per, &of_step.collect::<Vec<_>>(), as_of)
        });
        prices.collect()
    }

    /// The price of one step, out of the lists of several days.
    fn volume_price(
        &self,
        kind: &str,
        region: &str,
        per: Per,
        rows: &[&Row<'_>],
        as_of: Option<Date>,
    ) -> Option<Price> {
        let statements = rows.iter().filter_map(|row| self.statement(row));
        let statements = first_of_each_day(statements);
        let held = holds(&statements, as_of)?;
        let chosen = &held.statement;
        // Back from the statement that holds to its row, which has the step and the remark.
        let row = rows
            .iter()
            .find(|row| {
                row.get("date") == Some(chosen.from) && row.get("usd") == Some(chosen.value)
            })
            .or(rows.first())?;
        let what = match per.counts() {
            Counted::Storage => "storage",
            Counted::Iops => "provisioned IOPS",
            Counted::Throughput => "provisioned throughput",
            Counted::Use | Counted::Machine => "I/O",
        };
        let price = Price::held(held, format!("{kind} {what}"), per, region);
        let evidence = match Evidence::from_remark(row.text("remark")) {
            Evidence::Listed => price.evidence,
            unlisted => unlisted,
        };
        Some(Price {
            above: row.get("above").unwrap_or(0.0),
            up_to: row.get("up_to"),
            evidence,
            ..price
        })
    }

    /// The price of a row on its day; `None` without a day or a price.
    fn statement(&self, row: &Row<'_>) -> Option<Statement> {
        let date = row.get("date")?;
        let mut source = self.source(row.text("source")).text;
        if !row.text("remark").is_empty() {
            source = format!("{source} {}", row.text("remark"));
        }
        Some(Statement::over(date, date, row.get("usd")?, &source))
    }

    /// What an hour of an instance costs on demand.
    pub fn hour_of(
        &self,
        instance: &str,
        system: System,
        region: &str,
        as_of: Option<Date>,
    ) -> Option<Price> {
        let statements = self.lists().filter_map(|list| {
            let place = list.place(region)?;
            let usd = List::price(list.row(instance)?, system as usize, place)?;
            let source = self.source(list.source).text;
            Some(Statement::over(list.date, list.date, usd, &source))
        });
        let statements = first_of_each_day(statements);
        let what = format!("{instance}, {}, on demand", system.name());
        Some(Price::held(
            holds(&statements, as_of)?,
            what,
            Per::Hour,
            region,
        ))
    }

    /// Whether any list has a price of a volume type of this name.
    pub(crate) fn prices_volume(&self, kind: &str) -> bool {
        let mut rows = self.rows(Section::VolumePrices);
        rows.any(|row| row.text("type") == kind)
    }

    /// Whether the vendor of this name has a price list of this region.
    ///
    /// # Errors
    /// A message for the user if it has none, with the region that may be meant.
    pub fn known_region(&self, name: &str, region: &str) -> Result<(), String> {
        let mut lists = self.lists_of(name);
        if lists.any(|list| list.place(region).is_some()) {
            return Ok(());
        }
        let known = self.regions_of(name);
        let hint = did_you_mean(region, known.iter().map(String::as_str), || {
            if known.is_empty() {
                "no price of this vendor is known".to_owned()
            } else {
                format!("regions are named as in {}", self.usual_region(name))
            }
        });
        Err(format!("no price list of region {region} is known; {hint}"))
    }

    /// Every region of which the vendor of this name has a price list, sorted.
    pub fn regions_of(&self, name: &str) -> Vec<String> {
        let lists = self.lists_of(name).flat_map(|list| list.regions.split('|'));
        let mut regions: Vec<_> = lists.map(str::to_owned).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }

    /// The on-demand lists of the vendor of a name.
    fn lists_of(&self, name: &str) -> impl Iterator<Item = List<'_>> {
        let machines = self.vendor_of(name).machines;
        let own = self.own_vendor();
        self.lists().filter(move |list| {
            let first = list.rows.split(',').next().unwrap_or_default();
            let vendor = first
                .split_once('/')
                .map_or(own.as_str(), |(vendor, _)| vendor);
            vendor == machines
        })
    }

    /// The on-demand lists, the user's first.
    pub(crate) fn lists(&self) -> impl Iterator<Item = List<'_>> {
        self.texts(Section::OnDemand).flat_map(lists)
    }
}

/// Of several prices of one day the first: a user's come before those that the program carries.
fn first_of_each_day(prices: impl Iterator<Item = Statement>) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for price in prices {
        if found.iter().all(|known| known.from != price.from) {
            found.push(price);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<Date> {
        (!text.is_empty()).then(|| text.parse().expect("a day"))
    }

    #[track_caller]
    fn check_hour(what: (&str, System, &str), as_of: &str, usd: f64, list: &str) {
        let (instance, system, region) = what;
        let price = Catalog::embedded()
            .hour_of(instance, system, region, day(as_of))
            .expect(instance);
        assert_eq!(price.usd, usd, "{what:?} {as_of}");
        assert_eq!(price.date.to_string(), list, "{what:?} {as_of}");
        assert!(!price.source.is_empty());
    }

    /// The prices that the published studies name.
    #[test]
    fn a_price_that_no_list_has_says_how_it_was_found() {
        let evidence = |region: &str| {
            let prices = Catalog::embedded().volume_prices_of("gp3", region, None);
            let mut throughput = prices
                .into_iter()
                .filter(|price| price.per == Per::MibpsMonth);
            throughput.next().expect("a price").evidence
        };
        assert_eq!(evidence("us-east-2"), Evidence::Deduced);
        assert_eq!(evidence("us-east-1"), Evidence::Listed);
    }

    /// The story: of two prices of one day the lower one counted in a bill, so that a price of one's own had
    /// no effect there if it was higher, and `catalog list` showed it.
    #[test]
    fn a_price_of_ones_own_counts_on_the_day_of_a_built_in_one() {
        let mut catalog = Catalog::embedded();
        let newest = catalog.hour_of("m5.large", System::Linux, "us-east-1", None);
        let date = newest.expect("a price").date;
        let own = format!("@ us-east-1 {date} mine\nm5.large,9.5\n");
        *catalog.own.text_mut(Section::OnDemand) = own;
        let listed = catalog.hourly_prices_in("us-east-1")["m5.large"];
        let billed = catalog.hour_of("m5.large", System::Linux, "us-east-1", None);
        assert_eq!((listed, billed.expect("a price").usd), (9.5, 9.5));
    }

    #[test]
    fn hours_of_the_studies() {
        use System::{Linux, Windows};
        let tokyo = "ap-northeast-1";
        check_hour(
            ("i2.xlarge", Linux, tokyo),
            "2017-02-27",
            1.001,
            "2017-02-27",
        );
        check_hour(
            ("i3.xlarge", Linux, tokyo),
            "2017-02-27",
            0.366,
            "2017-02-27",
        );
        check_hour(
            ("m4.xlarge", Linux, tokyo),
            "2016-07-01",
            0.348,
            "2016-06-29",
        );
        check_hour(
            ("r5d.xlarge", Linux, tokyo),
            "2021-09-09",
            0.348,
            "2021-09-09",
        );
        check_hour(
            ("r5d.xlarge", Windows, tokyo),
            "2021-09-09",
            0.532,
            "2021-09-09",
        );
        check_hour(
            ("r5.xlarge", Windows, tokyo),
            "2022-01-01",
            0.488,
            "2021-09-09",
        );
        check_hour(
            ("i3.metal", Linux, "us-east-1"),
            "2021-09-09",
            4.992,
            "2021-09-09",
        );
        check_hour(
            ("im4gn.large", Linux, "us-east-1"),
            "2022-06-23",
            0.1819,
            "2022-06-23",
        );
        check_hour(("i3.metal", Linux, "us-east-1"), "", 4.992, "2026-07-06");
    }

    #[test]
    fn a_list_of_a_later_day_is_an_assumption() {
        let catalog = Catalog::embedded();
        let price = |day_| catalog.hour_of("m4.xlarge", System::Linux, "ap-northeast-1", day(day_));
        let evidence = |day| price(day).expect("a price").evidence;
        assert_eq!(evidence("2016-04-19"), Evidence::Assumed);
        assert_eq!(evidence("2016-06-29"), Evidence::Listed);
        assert_eq!(
            catalog.hour_of("m4.xlarge", System::Linux, "moon-1", None),
            None
        );
    }

    /// 256,000 IOPS of io2 were 2,080 USD a month where about 9,680 is right: outside Tokyo the
    /// lists end at 32,000, and what lies above cost nothing.
    #[test]
    fn every_io2_of_every_region_is_paid_for() {
        let catalog = Catalog::embedded();
        let mut regions = 0;
        for region in catalog.regions_of("io1") {
            for kind in ["io1", "io2"] {
                let prices = catalog.volume_prices_of(kind, &region, None);
                let mut iops = prices
                    .iter()
                    .filter(|price| price.per == Per::IopsMonth)
                    .peekable();
                let Some(first) = iops.peek() else { continue };
                regions += 1;
                assert_eq!(first.above, 0.0, "{kind} {region}");
                let mut end = Some(0.0);
                for step in iops {
                    assert_eq!(end, Some(step.above), "{kind} {region}: no gap");
                    assert!(step.usd > 0.0, "{kind} {region}");
                    end = step.up_to;
                }
                assert_eq!(end, None, "{kind} {region}: the last step has no end");
            }
        }
        assert!(regions > 30, "{regions}");
        let usd = |region: &str| {
            let prices = catalog.volume_prices_of("io2", region, None);
            let steps = prices.iter().filter(|price| price.per == Per::IopsMonth);
            let paid = |it: &Price| it.up_to.unwrap_or(256_000.0) - it.above;
            steps.map(|step| step.usd * paid(step)).sum::<f64>()
        };
        assert!(
            (usd("us-east-1") - 9680.0).abs() < 1.0,
            "{}",
            usd("us-east-1")
        );
    }

    #[test]
    fn china_is_paid_in_yuan() {
        let catalog = Catalog::embedded();
        let hour = |region| catalog.hour_of("r5.large", System::Linux, region, None);
        assert_eq!(hour("cn-north-1").expect("a price").currency, "CNY");
        assert_eq!(hour("us-east-1").expect("a price").currency, "USD");
    }

    #[track_caller]
    fn check_volume(kind: &str, as_of: &str, expected: &[(Per, f64, f64)]) {
        let prices = Catalog::embedded().volume_prices_of(kind, "ap-northeast-1", day(as_of));
        let got: Vec<_> = prices.iter().map(|p| (p.per, p.above, p.usd)).collect();
        assert_eq!(got, expected, "{kind} {as_of}");
    }

    /// Tokyo: the price list of 2026-09-13, and the list prices of April 2016.
    #[test]
    fn volumes_in_tokyo() {
        use Per::{GibMonth, IopsMonth, MibpsMonth, MillionIo};
        let gp3 = [
            (GibMonth, 0.0, 0.096),
            (IopsMonth, 3000.0, 0.006),
            (MibpsMonth, 125.0, 0.048),
        ];
        check_volume("gp3", "", &gp3);
        check_volume("gp2", "", &[(GibMonth, 0.0, 0.12)]);
        check_volume(
            "io1",
            "",
            &[(GibMonth, 0.0, 0.142), (IopsMonth, 0.0, 0.074)],
        );
        let io2 = [
            (GibMonth, 0.0, 0.142),
            (IopsMonth, 0.0, 0.074),
            (IopsMonth, 32_000.0, 0.0518),
            (IopsMonth, 64_000.0, 0.03626),
        ];
        check_volume("io2", "", &io2);
        check_volume("st1", "", &[(GibMonth, 0.0, 0.054)]);
        check_volume("sc1", "", &[(GibMonth, 0.0, 0.018)]);
        check_volume("sc1", "2016-04-19", &[(GibMonth, 0.0, 0.03)]);
        check_volume(
            "standard",
            "2016-04-19",
            &[(GibMonth, 0.0, 0.08), (MillionIo, 0.0, 0.08)],
        );
        check_volume("gp9", "", &[]);
    }

    #[test]
    fn every_list_can_be_read() {
        let catalog = Catalog::embedded();
        let mut rows = 0;
        for list in catalog.lists() {
            assert!(
                !list.regions.is_empty() && !list.rows.is_empty(),
                "{list:?}"
            );
            assert_ne!(
                catalog.source(list.source).text,
                list.source,
                "a known source"
            );
            for line in list.rows.lines() {
                let mut cells = line.split(',');
                assert!(
                    cells.next().is_some_and(|name| name.contains(['.', '/'])),
                    "{line}"
                );
                let mut prices = cells.flat_map(|cell| cell.split('|'));
                assert!(
                    prices.all(|usd| usd.is_empty() || usd.parse::<f64>().is_ok()),
                    "{line}"
                );
                rows += 1;
            }
        }
        // 19,519 of the newest lists of EC2, and 737 of the four older ones; 553 sizes of Azure and
        // 523 types of Google in all regions.
        assert_eq!(rows, 20_256 + 553 + 523);
        let of = |name| catalog.regions_of(name).len();
        assert_eq!(
            [of("gp3"), of("azure/P30"), of("gcp/pd-ssd")],
            [101, 57, 43]
        );
    }
}
