//! In: what a disk must hold and do. Out: for every type of every vendor the least configuration
//! that does it for ever, as an address with its limits and its price, or why there is none.
//!
//! Each configuration carries its [`Resolved`], with which it can be simulated ([`Resolved::spec`]),
//! explained ([`Resolved::limits`], [`Resolved::assumptions`]) and priced ([`Resolved::costs`]).

use std::ops::RangeInclusive;

use blocklab_catalog::{Catalog, HostClass, Least, OnMachine, Place, PlaceRegion, Resolved, Sold};
use blocklab_units::Bytes;

use crate::need::Need;

/// A type of volume, and its least configuration that meets a need.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// `gp3`, `azure/PremiumV2_LRS`.
    pub kind: String,
    /// Who sells it.
    pub vendor: String,
    /// The region whose prices are taken.
    pub region: String,
    /// How many side by side; where nothing does, 1.
    pub volumes: u32,
    /// The group of disks in which a machine counts it, and how operations on it are counted: what a
    /// machine grants depends on nothing else of a type.
    pub on_machine: OnMachine,
    /// The least configuration, or what the largest one of this type lacks.
    pub found: Result<Fitting, String>,
}

/// A configuration that meets the need.
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

/// How many volumes side by side are tried where the question does not say.
const TRIED: [u32; 5] = [1, 2, 4, 8, 16];

/// For every type of the vendors of a place that is a volume of its own: the least
/// configuration that meets a need, with the prices of that place. The cheapest first, then
/// those without a price, then those of which nothing meets it. Options of a type that cost nothing by
/// themselves, such as a performance tier, are tried as well.
///
/// Least is: the fewest volumes side by side (1, 2, 4, 8, 16), of these the smallest size, of
/// that the fewest provisioned operations and bytes. No machine is part of it: attach one to
/// [`Fitting::address`] with `@MACHINE` and resolve it again.
pub fn offers(catalog: &Catalog, need: &Need, place: &Place) -> Vec<Offered> {
    let mut found = Vec::new();
    for PlaceRegion { vendor, region, .. } in &place.regions {
        for sold in catalog.sold(vendor, region, None) {
            let mut each = TRIED.iter().map(|volumes| least(&sold, need, *volumes));
            let first = each.next().expect("a number of volumes");
            // Striped volumes are a configuration only where a single one is not enough; if no number is,
            // the lack of the single one is reported.
            let more = match &first.found {
                Ok(_) => None,
                Err(_) => each.find(|more| more.found.is_ok()),
            };
            found.push(more.unwrap_or(first));
        }
    }
    ranked(found)
}

/// What one vendor sells that meets the need, for each number of volumes side by side, as they run
/// on the machines of a class; `None`: without a machine. The cheapest come first.
pub(crate) fn offers_side_by_side(
    catalog: &Catalog,
    need: &Need,
    vendor: &str,
    region: &str,
    volumes: RangeInclusive<u32>,
    class: Option<&HostClass>,
) -> Vec<Offered> {
    let mut found = Vec::new();
    for sold in catalog.sold(vendor, region, class) {
        found.extend(volumes.clone().map(|volumes| least(&sold, need, volumes)));
    }
    ranked(found)
}

impl Offered {
    /// What it costs a month; `None`: it does not exist, or a part has no price.
    pub fn per_month(&self) -> Option<f64> {
        self.found.as_ref().ok()?.per_month
    }
}

/// The cheapest first, then what has no price, then types of which nothing meets the need.
fn ranked(mut found: Vec<Offered>) -> Vec<Offered> {
    found.sort_by(|a, b| {
        let [(a_group, a_price), (b_group, b_price)] = [a, b].map(group_and_price);
        a_group.cmp(&b_group).then(a_price.total_cmp(&b_price))
    });
    found
}

/// The place of the offer's group in the order of [`ranked`], and its price, by which only the first
/// group is sorted.
fn group_and_price(offered: &Offered) -> (u8, f64) {
    match (&offered.found, offered.per_month()) {
        (Ok(_), Some(price)) => (0, price),
        (Ok(_), None) => (1, 0.0),
        (Err(_), _) => (2, 0.0),
    }
}

/// The least configuration of this many volumes of a type, or what the largest one lacks.
fn least(sold: &Sold<'_>, need: &Need, volumes: u32) -> Offered {
    let on_machine = sold.on_machine();
    let charge = need.counted(on_machine.accounting, volumes > 1);
    let capacity = need.capacity.0.div_ceil(Bytes::GIB.0);
    let each = Least {
        gib: capacity.div_ceil(u64::from(volumes)),
        iops: charge.ops / f64::from(volumes),
        bytes_per_s: charge.bytes / f64::from(volumes),
    };
    let found = sold.least(volumes, each, |spec| {
        need.lacks(spec).map(|margin| margin.lack())
    });
    Offered {
        kind: sold.name().to_owned(),
        vendor: sold.vendor.clone(),
        region: sold.region.clone(),
        volumes,
        on_machine,
        found: found.map(|resolved| Fitting::new(need, resolved)),
    }
}

impl Fitting {
    fn new(need: &Need, resolved: Resolved) -> Self {
        let [iops, bytes_per_s] = need.most(&resolved.spec);
        Self {
            address: resolved.address.to_string(),
            iops,
            bytes_per_s,
            per_month: resolved.per_month(),
            currency: resolved.currency(),
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
        let need = need.parse().expect("a need");
        super::offers(&catalog, &need, ireland.expect("a place"))
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

    /// The story: nothing of RDS was offered but Aurora and io1, "gp3 allows nothing": limits that depend
    /// on the database engine were those of none.
    #[test]
    fn types_whose_limits_depend_on_an_engine_are_offered_as_of_the_assumed_one() {
        let catalog = Catalog::embedded();
        let need = "100GiB,5000iops".parse().expect("a need");
        let found = offers_side_by_side(&catalog, &need, "rds", "us-east-1", 1..=1, None);
        let address = |kind: &str| {
            let one = found.iter().find(|one| one.kind == kind).expect(kind);
            let fitting = one.found.as_ref().expect(kind);
            fitting.address.replace(",region=us-east-1", "")
        };
        // From 400 GiB on, RDS joins four volumes, which have 12,000 IOPS; below, one has 3,000.
        assert_eq!(address("rds/gp3"), "rds/gp3:400GiB");
        assert_eq!(address("rds/gp2"), "rds/gp2:1667GiB");
    }

    /// The story: for 1 GiB with a throughput that no gp3 has, `price` gave "gp3: 64 TiB at most", the
    /// size at which that many operations could be bought.
    #[test]
    fn what_is_lacking_is_not_the_size_that_was_met() {
        for one in offers("1GiB,999999999MB/s") {
            let lack = one.found.expect_err("too much");
            assert!(!lack.contains("TiB at most"), "{}: {lack}", one.kind);
        }
    }

    /// The story: a need of 300 MB/s was refused as "gcp/hyperdisk-throughput allows at most 2,400 MiB/s",
    /// which its operations would have taken.
    #[test]
    fn operations_that_come_with_throughput_are_lacking_as_operations() {
        let all = offers("1TiB,1000000iops,300MB/s");
        let mut all = all.into_iter();
        let found = all.find(|one| one.kind == "gcp/hyperdisk-throughput");
        let lack = found.expect("the type").found.expect_err("too much");
        assert_eq!(lack, "9,600 IOPS at most");
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
                let lack = wanted.lacks(&fitting.resolved.spec);
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
}
