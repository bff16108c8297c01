//! In: what a disk must hold and do. Out: for every type of every vendor the least configuration
//! that does it for ever, as an address with its limits and its price, or why there is none.
//!
//! The interface for whatever advises: [`Catalog::offers`] makes the candidates, and each carries
//! its [`Resolved`], with which it can be simulated ([`Resolved::spec`]), explained
//! ([`Resolved::limits`], [`Resolved::assumptions`]) and priced ([`Resolved::costs`]). Nothing here
//! knows a vendor: a candidate is built from the kinds of rules of its type, and judged by the
//! device that the same tables make of it.

use std::num::NonZeroU32;
use std::str::FromStr;

use blocklab_device::{Accounting, Cap, Credit, DeviceSpec, Rate};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Address, Offer};

use crate::embedded::Section;
use crate::volumes::{Kind, Least};
use crate::{Catalog, Resolved, resolve};

/// What a disk must hold and do for as long as the load lasts: bursts do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Bytes that it holds.
    pub capacity: Bytes,
    /// Operations a second at random, of a size that the vendor counts as one (16 KiB is one
    /// everywhere but on hard disks of EBS), in whichever direction is slower; 0: any.
    pub iops: f64,
    /// Bytes a second in large operations, in whichever direction is slower; 0: any.
    pub bytes_per_s: f64,
}

/// A text that is no need.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no need: {why}; write what it must hold and do, such as 1TiB,10000iops,300MB/s"
)]
pub struct NotANeed {
    text: String,
    why: String,
}

impl FromStr for Need {
    type Err = NotANeed;

    fn from_str(text: &str) -> Result<Self, NotANeed> {
        let wrong = |why: String| NotANeed {
            text: text.to_owned(),
            why,
        };
        let (mut capacity, mut iops, mut bytes_per_s) = (None, 0.0, 0.0);
        for part in text.split(',').map(str::trim) {
            let lower = part.to_ascii_lowercase();
            let unreadable = || wrong(format!("`{part}` is neither a size nor a rate"));
            if let Some(digits) = lower.strip_suffix("iops") {
                let digits = digits.trim().replace('_', "");
                iops = digits.parse().map_err(|_| unreadable())?;
            } else if let Some(size) = part.strip_suffix("/s") {
                let bytes: Bytes = size.parse().map_err(|_| unreadable())?;
                bytes_per_s = bytes.as_f64();
            } else {
                let bytes: Bytes = part.parse().map_err(|_| unreadable())?;
                capacity = Some(bytes);
            }
        }
        let capacity = capacity.filter(|bytes| bytes.0 > 0);
        let capacity = capacity.ok_or_else(|| wrong("the size is missing".to_owned()))?;
        if !(0.0..=1e9).contains(&iops) {
            return Err(wrong(format!("{iops} operations a second")));
        }
        Ok(Self {
            capacity,
            iops,
            bytes_per_s,
        })
    }
}

/// A type of volume, and what it takes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// `gp3`, `azure/PremiumV2_LRS`.
    pub kind: String,
    /// Whose it is.
    pub vendor: String,
    /// Whose prices hold.
    pub region: String,
    /// The least that does it, or why nothing of this type does.
    pub found: Result<Fitting, String>,
}

/// A configuration that does what is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The address, in the shortest spelling, with its region.
    pub address: String,
    /// Operations a second that its limits allow for ever; `None`: no limit of them is documented.
    pub iops: Option<f64>,
    /// Bytes a second that its limits allow for ever; `None`: no limit of them is documented.
    pub bytes_per_s: Option<f64>,
    /// A month of 730 hours, in `currency`; `None`: a part has no price, which
    /// [`Resolved::cost_notes`] names. What is billed by use is not in it.
    pub per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// The device, its limits, prices and assumptions.
    pub resolved: Resolved,
}

/// A region of each of several vendors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `ireland`.
    pub name: String,
    /// Vendor, its region, and where that lies.
    pub regions: Vec<(String, String, String)>,
}

/// What the limits of a device allow for ever, of random operations that count as one each and of
/// large ones; `None`: no limit is documented.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sustained {
    pub(crate) iops: Option<f64>,
    pub(crate) bytes_per_s: Option<f64>,
}

/// The least rate of each kind, of reads and writes alike.
fn least_of(caps: &[Cap], credits: &[Credit]) -> Sustained {
    let rates = caps.iter().map(|cap| cap.rate);
    let rates = rates.chain(credits.iter().map(|credit| credit.baseline));
    let (bytes, ops): (Vec<Rate>, Vec<Rate>) = rates.partition(|rate| rate.counts_bytes());
    let least = |rates: Vec<Rate>| rates.into_iter().map(Rate::per_second).reduce(f64::min);
    Sustained {
        iops: least(ops),
        bytes_per_s: least(bytes),
    }
}

fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::min)
}

/// What a device does for as long as a load lasts, by its limits alone.
pub(crate) fn sustained(spec: &DeviceSpec) -> Sustained {
    let Some(volume) = spec.volumes.first() else {
        return Sustained {
            iops: None,
            bytes_per_s: None,
        };
    };
    let of_volume = least_of(&volume.caps, &volume.credits);
    let times = spec.volumes.len() as f64;
    let bytes = of_volume.bytes_per_s.map(|bytes| bytes * times);
    // A random operation of any size costs a whole unit there.
    let by_units = match volume.accounting {
        Accounting::WholeUnits { unit } => bytes.map(|bytes| bytes / unit.as_f64()),
        _ => None,
    };
    let ops = smaller(of_volume.iops.map(|iops| iops * times), by_units);
    // A cache of the host promises nothing: which reads it holds, no document says.
    let of_machine = spec.instance.as_ref();
    let of_machine = of_machine.map(|spec| least_of(&spec.caps, &spec.credits));
    Sustained {
        iops: smaller(ops, of_machine.and_then(|machine| machine.iops)),
        bytes_per_s: smaller(bytes, of_machine.and_then(|machine| machine.bytes_per_s)),
    }
}

impl Sustained {
    /// What it falls short of, in words; `None`: nothing.
    fn lacks(self, need: &Need) -> Option<String> {
        // Figures of tables are decimal fractions: a rounding error is no lack.
        let is_less = |has: Option<f64>, needed: f64| {
            needed > 0.0 && has.is_none_or(|has| has < needed * (1.0 - 1e-9))
        };
        let short = [
            (is_less(self.iops, need.iops), self.iops, 1.0, "IOPS"),
            (
                is_less(self.bytes_per_s, need.bytes_per_s),
                self.bytes_per_s,
                1e6,
                "MB/s",
            ),
        ];
        short.into_iter().find_map(|(is_short, has, unit, name)| {
            is_short.then(|| match has {
                Some(has) => format!("{} {name} at most", count((has / unit).floor())),
                None => format!("no document gives its {name}"),
            })
        })
    }
}

/// The most volumes side by side that are tried.
const MOST_VOLUMES: u32 = 16;

impl Catalog {
    /// All places of the tables.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for row in self
            .tables(Section::Places)
            .flat_map(crate::table::Table::rows)
        {
            let text = |column| row.text(column).to_owned();
            let region = (text("vendor"), text("region"), text("where"));
            match places
                .iter_mut()
                .find(|place| place.name == row.text("place"))
            {
                Some(place) => place.regions.push(region),
                None => places.push(Place {
                    name: text("place"),
                    regions: vec![region],
                }),
            }
        }
        places
    }

    /// For every type of the vendors of a place that is a volume of its own: the least
    /// configuration that meets a need, with the prices of that place. The cheapest first, then
    /// those without a price, then those of which nothing does. Of one type that is sold in sizes,
    /// the ways to buy it that cost nothing of themselves are tried too.
    ///
    /// Least is: the fewest volumes side by side (1, 2, 4, 8, 16), of these the smallest size, of
    /// that the fewest provisioned operations and bytes. No machine is part of it: attach one to
    /// [`Fitting::address`] with `@MACHINE` and resolve it again.
    pub fn offers(&self, need: &Need, place: &Place) -> Vec<Offered> {
        let mut found = Vec::new();
        for kind in self.kinds() {
            let vendor = self.vendor_of(&kind.name);
            let mut regions = place.regions.iter();
            let Some((_, region, _)) = regions.find(|(name, ..)| *name == vendor.name) else {
                continue;
            };
            if self.is_successor(&kind.name) {
                continue;
            }
            found.push(Offered {
                found: self.least(&kind, need, region),
                kind: kind.name,
                vendor: vendor.name,
                region: region.clone(),
            });
        }
        let rank = |offered: &Offered| match &offered.found {
            Ok(fitting) => (
                fitting.per_month.is_none(),
                fitting.per_month.unwrap_or(0.0),
            ),
            Err(_) => (true, f64::INFINITY),
        };
        found.sort_by(|a, b| {
            let (a_lacks, a_costs) = rank(a);
            let (b_lacks, b_costs) = rank(b);
            (a_lacks.cmp(&b_lacks)).then(a_costs.total_cmp(&b_costs))
        });
        found
    }

    /// The least configuration of a type, or why there is none: what the largest one lacks.
    fn least(&self, kind: &Kind, need: &Need, region: &str) -> Result<Fitting, String> {
        let mut why = String::new();
        let mut volumes = 1;
        while volumes <= MOST_VOLUMES {
            let mut best: Option<Fitting> = None;
            for performance in kind.free_choices(self) {
                match self.least_of(kind, need, volumes, performance, region) {
                    Ok(fitting) => {
                        let is_cheaper = best.as_ref().is_none_or(|best| {
                            let month = |one: &Fitting| one.per_month.unwrap_or(f64::INFINITY);
                            month(&fitting) < month(best)
                        });
                        best = if is_cheaper { Some(fitting) } else { best };
                    }
                    Err(lack) => why = if why.is_empty() { lack } else { why },
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
            volumes *= 2;
        }
        Err(why)
    }

    fn least_of(
        &self,
        kind: &Kind,
        need: &Need,
        volumes: u32,
        performance: Option<&str>,
        region: &str,
    ) -> Result<Fitting, String> {
        let times = f64::from(volumes);
        let each = Least {
            gib: need
                .capacity
                .0
                .div_ceil(Bytes::GIB.0)
                .div_ceil(u64::from(volumes)),
            iops: need.iops / times,
            bytes_per_s: need.bytes_per_s / times,
        };
        let tiers = kind.tiers(self);
        let judge = |gib: u64, iops: Option<u64>, throughput: Option<u64>| {
            let tier = tiers.iter().find(|tier| tier.gib >= gib);
            let offer = Offer {
                count: NonZeroU32::new(volumes).filter(|count| count.get() > 1),
                volume: kind.name.clone(),
                size: Some(Bytes(gib << 30)).filter(|_| tier.is_none()),
                size_name: tier.map(|tier| tier.name.clone()),
                iops,
                throughput,
                performance: performance.map(str::to_owned),
                ..Offer::default()
            };
            let resolved = resolve(&Address::Sold(offer.clone()), self);
            let resolved = resolved.map_err(|error| reason(&error.to_string()))?;
            match sustained(&resolved.spec).lacks(need) {
                None => Ok(offer),
                Some(lack) => Err(lack),
            }
        };
        // The region changes the price alone.
        let least = Offer {
            region: Some(region.to_owned()),
            ..kind.least(self, each, judge)?
        };
        let resolved = resolve(&Address::Sold(least), self);
        resolved
            .map(Fitting::new)
            .map_err(|error| reason(&error.to_string()))
    }
}

/// The last line of a refusal without the pointer.
fn reason(refusal: &str) -> String {
    let last = refusal.lines().last().unwrap_or_default();
    last.trim_start_matches([' ', '^']).to_owned()
}

impl Fitting {
    fn new(resolved: Resolved) -> Self {
        let known: Vec<f64> = resolved
            .costs
            .iter()
            .filter_map(|cost| cost.usd_per_month)
            .collect();
        let is_priced = !known.is_empty() && !resolved.partly_unpriced;
        let sustained = sustained(&resolved.spec);
        Self {
            address: resolved.address.to_string(),
            iops: sustained.iops,
            bytes_per_s: sustained.bytes_per_s,
            per_month: is_priced.then(|| known.iter().sum()),
            currency: resolved.costs.first().map_or("USD", |cost| cost.currency),
            resolved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(need: &str) -> Vec<Offered> {
        let catalog = Catalog::embedded();
        let places = catalog.places();
        let ireland = places.iter().find(|place| place.name == "ireland");
        catalog.offers(&need.parse().expect("a need"), ireland.expect("a place"))
    }

    #[track_caller]
    fn check(need: &str, kind: &str, address: &str, per_month: Option<f64>) {
        let all = offers(need);
        let one = all.iter().find(|one| one.kind == kind).expect(kind);
        let fitting = one
            .found
            .as_ref()
            .unwrap_or_else(|why| panic!("{kind}: {why}"));
        assert_eq!(fitting.address, address, "{need}");
        match (fitting.per_month, per_month) {
            (Some(got), Some(wanted)) => assert!((got - wanted).abs() < 0.005, "{address}: {got}"),
            (got, wanted) => assert_eq!(got, wanted, "{address}"),
        }
    }

    /// "1 TiB, 10,000 IOPS, 300 MB/s: what does it cost where?"
    #[test]
    fn the_least_of_every_type() {
        let need = "1TiB,10000iops,300MB/s";
        // 1,024 x .088 + 7,000 x .0055 + 162 x .044: 287 MiB/s are 300.9 MB/s.
        let gp3 = "gp3:1TiB,iops=10000,throughput=287,region=eu-west-1";
        check(
            need,
            "gp3",
            gp3,
            Some(1024.0 * 0.088 + 7000.0 * 0.0055 + 162.0 * 0.044),
        );
        let v2 = "azure/PremiumV2_LRS:1TiB,iops=10000,throughput=300,region=northeurope";
        let month = 730.0 * (1024.0 * 0.00011 + 7000.0 * 7e-6 + 175.0 * 5.5e-5);
        check(need, "azure/PremiumV2_LRS", v2, Some(month));
        // 16,000 IOPS and 600 MB/s of performance plus cost no more than 7,500 and 250.
        let premium = "azure/Premium_LRS:P40,performance=plus,region=northeurope";
        check(need, "azure/Premium_LRS", premium, Some(259.0457));
        // 3,000 + 6 x GiB, and 140 + .28 x GiB MiB/s.
        let balanced = "gcp/pd-balanced:1167GiB,region=europe-west1";
        check(need, "gcp/pd-balanced", balanced, Some(116.7));
        let gp2 = "2xgp2:1667GiB,region=eu-west-1";
        check(need, "gp2", gp2, Some(2.0 * 1667.0 * 0.11));
        let io1 = "io1:1TiB,iops=10000,region=eu-west-1";
        check(need, "io1", io1, Some(1024.0 * 0.138 + 10_000.0 * 0.072));
        let all = offers(need);
        let kinds: Vec<&str> = all.iter().map(|one| one.kind.as_str()).collect();
        assert!(!kinds.contains(&"io2-block-express") && !kinds.contains(&"rds/gp3"));
        let hdd = all.iter().find(|one| one.kind == "st1").expect("st1");
        assert_eq!(hdd.found, Err("536 IOPS at most".to_owned()));
    }

    /// What is found does what is needed, and one GiB, operation or byte less does not.
    #[test]
    fn the_least_is_enough_and_no_more() {
        for need in [
            "10GiB,100iops",
            "500GiB,20000iops,1GB/s",
            "4TiB,200MB/s",
            "1GiB",
        ] {
            let wanted: Need = need.parse().expect("a need");
            for one in offers(need) {
                let Ok(fitting) = one.found else { continue };
                let lack = sustained(&fitting.resolved.spec).lacks(&wanted);
                assert_eq!(lack, None, "{need}: {}", fitting.address);
                let holds: u64 = fitting
                    .resolved
                    .spec
                    .volumes
                    .iter()
                    .map(|v| v.capacity.0)
                    .sum();
                assert!(holds >= wanted.capacity.0, "{need}: {}", fitting.address);
            }
        }
    }

    #[test]
    fn a_need_is_read_as_people_write_it() {
        let need: Need = "1TiB, 10_000 IOPS, 300MB/s".parse().expect("a need");
        assert_eq!(
            (need.capacity, need.iops, need.bytes_per_s),
            (Bytes(1 << 40), 10_000.0, 3e8)
        );
        let refuse = |text: &str, why: &str| {
            let told = text.parse::<Need>().expect_err(text).to_string();
            assert!(told.contains(why), "{told}");
        };
        refuse("10000iops", "the size is missing");
        refuse("1TiB,many", "`many` is neither");
    }
}
