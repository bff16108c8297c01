//! Volume types of all vendors: what may be bought on a day, and the device that comes of it.

use std::ops::RangeInclusive;

use blocklab_device::{Cap, Credit, LimitUnit, Origin, Rate, VolumeSpec};
use blocklab_units::{Bytes, count};
use blocklab_workload::{
    Date, Offer,
    address::{ByteRate, Part},
};

use crate::Catalog;
use crate::cost::Purchase;
use crate::delivered::deliver;
use crate::draft::{Draft, cap};
use crate::embedded::SUCCESSORS;
use crate::error::Refusal;
use crate::figure::Figure;
use crate::remarks::Remark;
use crate::stand_in::stand_in;
use crate::table::Table;

mod kind;
mod least;
mod limits;
mod sum;
mod tiers;

pub(crate) use kind::{IopsRule, Kind, UnsoundRow};
pub use least::Least;
pub(crate) use limits::Tier;

use kind::ThroughputRule;
use limits::{Limits, vendor_gib};

/// Machines on which a type of volume is the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct HostClass {
    /// The family of an instance type; empty if no type of volume is another one on it.
    pub(crate) family: String,
    pub(crate) nitro: bool,
}

/// A throughput in the unit of its figure.
fn bytes_at(value: f64, figure: &Figure) -> Rate {
    match figure.unit {
        LimitUnit::MbPerS | LimitUnit::MbPerSPerIops => Rate::MbPerS(value),
        _ => Rate::MibPerS(value),
    }
}

/// The evidence of a provisioned setting: the document that allows it.
fn provisioned_within(figure: Figure) -> Figure {
    let origin = match figure.origin {
        Origin::Documented { source, date } => {
            let source = format!("as provisioned, within what is documented: {source}");
            Origin::Documented { source, date }
        }
        other => other,
    };
    Figure { origin, ..figure }
}

/// The volume that an address names.
///
/// # Errors
/// When the vendor did not sell such a volume on that day.
pub(crate) fn volume(
    catalog: &Catalog,
    kind: Kind,
    offer: &Offer,
    host: Option<&HostClass>,
) -> Result<Draft, Refusal> {
    let kind = successor(catalog, offer, &kind, host)?.unwrap_or(kind);
    let (draft, limits) = as_itself(catalog, &kind, offer, host)?;
    Ok(Draft {
        bounds: limits.all(),
        ..draft
    })
}

/// A volume as it is on machines of a class, with what it costs, and without the machine; also without
/// the bounds of what may be bought: they hold no load back.
///
/// # Errors
/// As [`volume`].
pub(crate) fn on_class(
    catalog: &Catalog,
    kind: &Kind,
    offer: &Offer,
    host: Option<&HostClass>,
) -> Result<Draft, Refusal> {
    if !kind.refused.is_empty() && (host.is_some() || kind.has_no_limits()) {
        return Err(Refusal::new(Part::Volume, kind.refused.clone()));
    }
    let runs_as = successor(catalog, offer, kind, host)?;
    let kind = runs_as.as_ref().unwrap_or(kind);
    as_itself(catalog, kind, offer, host).map(|(draft, _)| draft)
}

/// A volume of exactly this type, and its limits; a successor was looked for before.
fn as_itself<'k>(
    catalog: &'k Catalog,
    kind: &'k Kind,
    offer: &'k Offer,
    host: Option<&HostClass>,
) -> Result<(Draft, Limits<'k>), Refusal> {
    let mut assumptions = Vec::new();
    let engine = engine(catalog, kind, offer, &mut assumptions)?;
    let limits = Limits::find(catalog, kind.limits_of(), offer.as_of, engine.as_deref())?;
    let tiers = kind.tiers(catalog);
    let gib = limits.size(offer, &tiers, &mut assumptions)?;
    // The bounds of the size hold for all sizes; from here on the limits are those of this one.
    let limits = limits.at(gib as f64);
    if !kind.assumes.is_empty() {
        assumptions.push(kind.assumes.clone());
    }
    let spec = VolumeSpec {
        accounting: kind.accounting,
        service: Some(kind.service.clone()),
        ..VolumeSpec::new(&kind.name, Bytes(gib << 30))
    };
    let volumes = offer.count.map_or(1, |count| count.get() as usize);
    let mut draft = Draft {
        volumes,
        purchase: Purchase {
            volume: Some(kind.priced_as.clone()),
            volumes: volumes as f64,
            gib: gib as f64,
            instance: offer.instance.clone(),
            ..Purchase::default()
        },
        assumptions,
        ..Draft::new(spec)
    };
    let tier = tiers.into_iter().find(|tier| tier.gib == gib);
    if let Some(tier) = &tier {
        draft.purchase.volume = Some(format!("{}:{}", kind.priced_as, tier.name));
    }
    let terms = Terms {
        catalog,
        kind,
        limits,
        tier,
        offer,
    };
    terms.refuse_what_is_not_sold(gib as f64)?;
    if kind.iops == IopsRule::BestEffort {
        terms.best_effort(&mut draft);
        return Ok((draft, terms.limits));
    }
    let iops = terms.iops(&mut draft)?;
    terms.throughput(iops, &mut draft)?;
    terms.other_limits(iops, host, &mut draft);
    terms.note_if_unlimited(&mut draft);
    // After all limits of the whole, which are divided here.
    terms.stripe(&mut draft);
    let VolumeSpec { caps, credits, .. } = &mut draft.volume;
    deliver(&kind.name, offer.as_of, caps, credits);
    Ok((draft, terms.limits))
}

/// The database engine on which the limits of a type depend: the one in the address, else the first
/// known one as an assumption; `None` where they depend on none.
fn engine(
    catalog: &Catalog,
    kind: &Kind,
    offer: &Offer,
    assumptions: &mut Vec<String>,
) -> Result<Option<String>, Refusal> {
    let known = Limits::engines(catalog, kind.limits_of());
    let names: Vec<&str> = known.iter().flat_map(|one| one.split('|')).collect();
    let name = &kind.name;
    match &offer.engine {
        Some(wanted) if names.iter().any(|known| wanted.starts_with(known)) => {
            Ok(Some(wanted.clone()))
        }
        Some(wanted) => {
            let message = match names.as_slice() {
                [] => format!("{name} depends on no engine: leave engine={wanted} out"),
                names => format!("the engines are {}", names.join(", ")),
            };
            Err(Refusal::new(Part::Key("engine"), message))
        }
        None => {
            let Some(first) = known.first() else {
                return Ok(None);
            };
            let same = first.replace('|', ", ");
            assumptions.push(format!(
                "no engine is given: the limits of {same} are assumed"
            ));
            Ok(first.split('|').next().map(str::to_owned))
        }
    }
}

impl Catalog {
    /// Whether other types run as this one, which is sold under their name.
    pub(crate) fn is_successor(&self, name: &str) -> bool {
        let mut rows = Table::embedded(SUCCESSORS).rows();
        rows.any(|row| row.text("becomes") == name)
    }
}

/// The type that a volume really runs as: always on an instance that supports it, and where more
/// is provisioned than the type itself gives elsewhere.
fn successor(
    catalog: &Catalog,
    offer: &Offer,
    kind: &Kind,
    host: Option<&HostClass>,
) -> Result<Option<Kind>, Refusal> {
    let rows: Vec<_> = Table::embedded(SUCCESSORS).rows_of(&kind.name).collect();
    let Some(any) = rows.first() else {
        return Ok(None);
    };
    let plain = Limits::find(catalog, kind.limits_of(), offer.as_of, None)?;
    let (max_iops, size_max) = (plain.value("max_iops"), plain.value("size_max"));
    let beyond = offer.iops.is_some_and(|iops| iops as f64 > max_iops)
        || offer
            .size
            .is_some_and(|size| vendor_gib(size).0 as f64 > size_max);
    let day = offer.as_of.unwrap_or(Date::MAX);
    let first = host.and_then(|host| {
        let families = [Some(host.family.as_str()), host.nitro.then_some("nitro")];
        let days = families.into_iter().flatten().filter_map(|family| {
            let row = rows.iter().find(|row| row.text("family") == family)?;
            row.get::<Date>("from")
        });
        days.min()
    });
    // Without a machine, every one is possible.
    let supported = host.is_none() || first.is_some_and(|from| from <= day);
    if beyond && !supported {
        let begins = first.map_or_else(String::new, |from| format!(" before {from}"));
        let message = format!(
            "this instance does not run {} on {}{begins}: up to {} and {} IOPS there",
            kind.name,
            any.text("called"),
            Bytes((size_max as u64) << 30),
            count(max_iops)
        );
        let part = first.map_or(Part::Instance, |_| Part::Key("as-of"));
        return Err(Refusal::new(part, message));
    }
    if supported && (beyond || host.is_some()) {
        Ok(catalog.volume_type(any.text("becomes")))
    } else {
        Ok(None)
    }
}

/// The type by whose limits a type runs on a machine: most run as themselves.
pub(crate) fn runs_as(catalog: &Catalog, kind: &Kind, host: Option<&HostClass>) -> Kind {
    let found = successor(catalog, &Offer::default(), kind, host);
    found.ok().flatten().unwrap_or_else(|| kind.clone())
}

/// An offer, its type, and the limits that hold for it on that day.
struct Terms<'t> {
    catalog: &'t Catalog,
    kind: &'t Kind,
    limits: Limits<'t>,
    /// The size that it is sold in, where it comes in sizes.
    tier: Option<Tier>,
    offer: &'t Offer,
}

impl Terms<'_> {
    /// Operations a second that come with the size: not below the floor and not above the cap.
    fn baseline(&self, gib: f64) -> f64 {
        let by_size = gib * self.limits.value("baseline_iops_per_gib");
        by_size
            .max(self.limits.value("min_iops"))
            .min(self.limits.value("max_iops"))
    }

    /// Refuses settings that the type does not sell, and names what it has instead.
    fn refuse_what_is_not_sold(&self, gib: f64) -> Result<(), Refusal> {
        let kind = &self.kind.name;
        let sells_iops = matches!(self.kind.iops, IopsRule::Included | IopsRule::Provisioned);
        if self.offer.iops.is_some() && !sells_iops {
            let message = format!("{kind} has no provisioned iops: {}", self.instead(gib));
            return Err(Refusal::new(Part::Key("iops"), message));
        }
        if self.offer.performance.is_some() && self.kind.iops != IopsRule::ByTier {
            let message = format!("{kind} is sold in one way: leave performance= out");
            return Err(Refusal::new(Part::Key("performance"), message));
        }
        if self.offer.throughput.is_none() || self.kind.sells_throughput() {
            return self.refuse_another_unit();
        }
        let message = match self.kind.throughput {
            ThroughputRule::ByIops => {
                let mut sellers = self.catalog.kinds();
                let vendor = self.catalog.vendor_of(&self.kind.name);
                sellers.retain(|seller| {
                    let has_same_vendor = self.catalog.vendor_of(&seller.name) == vendor;
                    has_same_vendor && seller.sells_throughput()
                });
                let verb = if sellers.len() == 1 { "sells" } else { "sell" };
                let sellers: Vec<_> = sellers.into_iter().map(|seller| seller.name).collect();
                let sellers = sellers.join(" and ");
                format!("the throughput of {kind} follows from its IOPS; only {sellers} {verb} it")
            }
            _ => format!(
                "{kind} has no provisioned throughput: {}",
                self.instead(gib)
            ),
        };
        Err(Refusal::new(Part::Key("throughput"), message))
    }

    /// The vendor's unit is the only one: a conversion would not be a whole number of it.
    fn refuse_another_unit(&self) -> Result<(), Refusal> {
        let most = self.limits.get("max_throughput");
        let (Some(typed), Some(most)) = (self.offer.throughput_unit, most) else {
            return Ok(());
        };
        let sold = match most.unit {
            LimitUnit::MbPerS => ByteRate::MbPerS,
            _ => ByteRate::MibPerS,
        };
        if typed == sold {
            return Ok(());
        }
        let message = format!("{} is sold by {}", self.kind.name, sold.text());
        Err(Refusal::new(Part::Key("throughput"), message))
    }

    /// For a message: what decides a figure that cannot be bought.
    fn instead(&self, gib: f64) -> String {
        let look_at = match self.kind.instead.as_str() {
            "" => String::new(),
            others => format!("; {others}"),
        };
        match (self.kind.iops, self.kind.throughput) {
            (IopsRule::BestEffort, _) => "it is best effort".to_owned(),
            (IopsRule::ByTier | IopsRule::BySum, _) => {
                format!("its limits follow from its size{look_at}")
            }
            (IopsRule::BySize, _) => format!(
                "{} IOPS per GiB, so {gib} GiB give {}{look_at}",
                self.limits.value("baseline_iops_per_gib"),
                count(self.baseline(gib))
            ),
            (_, ThroughputRule::BySize) => format!(
                "{} MiB/s per TiB, {} in bursts{look_at}",
                self.limits.value("base_mibps_per_tib"),
                self.limits.value("burst_mibps_per_tib")
            ),
            (_, ThroughputRule::Fixed) => {
                format!(
                    "{} MiB/s come with it{look_at}",
                    self.limits.value("max_throughput")
                )
            }
            _ => format!("the vendor does not sell it{look_at}"),
        }
    }

    /// Limits the operations; returns how many the volume sustains.
    fn iops(&self, draft: &mut Draft) -> Result<f64, Refusal> {
        match self.kind.iops {
            IopsRule::BySize => Ok(self.iops_by_size(draft)),
            IopsRule::Included | IopsRule::Provisioned => self.iops_sold(draft),
            IopsRule::ByTier => self.iops_by_tier(draft),
            IopsRule::BySum => Ok(self.iops_by_sum(draft)),
            IopsRule::Fixed => Ok(self.iops_fixed(draft)),
            IopsRule::ByThroughput => Ok(self.iops_by_throughput(draft)),
            IopsRule::BestEffort | IopsRule::None => Ok(0.0),
        }
    }

    /// Larger volumes sustain their baseline; smaller ones burst on credits where there are any.
    fn iops_by_size(&self, draft: &mut Draft) -> f64 {
        let baseline = self.baseline(draft.purchase.gib);
        let burst = self.limits.get("burst_iops");
        if let Some(burst) = burst.filter(|burst| baseline < burst.value) {
            let bucket = self.limits.value("burst_bucket");
            draft.volume.credits.push(Credit {
                name: "burst credits".to_owned(),
                baseline: Rate::Iops(baseline),
                burst: Rate::Iops(burst.value),
                capacity: bucket,
                initial_share: (self.limits.value("initial_credits") / bucket).min(1.0),
                full_again: None,
                origin: burst.origin,
            });
            return baseline;
        }
        let most = self.limits.need("max_iops");
        let from = if baseline < most.value {
            self.limits.need("baseline_iops_per_gib")
        } else {
            most
        };
        draft.cap("volume IOPS", Rate::Iops(baseline), &from);
        baseline
    }

    fn iops_fixed(&self, draft: &mut Draft) -> f64 {
        let most = self.limits.need("max_iops");
        draft.cap("volume IOPS", Rate::Iops(most.value), &most);
        most.value
    }

    /// This many for every MiB/s that is sold.
    fn iops_by_throughput(&self, draft: &mut Draft) -> f64 {
        let per = self.limits.need("iops_per_mibps");
        let mibps = self.offer.throughput.map_or(0.0, |mibps| mibps as f64);
        if mibps > 0.0 {
            let rate = Rate::Iops(per.value * mibps);
            draft.cap("volume IOPS", rate, &per);
        }
        per.value * mibps
    }

    /// Limits the operations to those that are bought or included; returns how many.
    fn iops_sold(&self, draft: &mut Draft) -> Result<f64, Refusal> {
        let included = self.kind.iops == IopsRule::Included;
        let least = self
            .limits
            .need(if included { "base_iops" } else { "min_iops" });
        let most = self.limits.need("max_iops");
        let gib = draft.purchase.gib;
        let iops = self
            .limits
            .iops(included, self.offer, gib, least.value, &most)?;
        if included {
            draft.purchase.included_iops = least.value;
        }
        let from = if included && self.offer.iops.is_none() {
            least
        } else {
            provisioned_within(most)
        };
        draft.cap("volume IOPS", Rate::Iops(iops as f64), &from);
        draft.purchase.iops = Some(iops as f64);
        Ok(iops as f64)
    }

    /// Limits the bytes; `iops` are the operations that the volume sustains.
    fn throughput(&self, iops: f64, draft: &mut Draft) -> Result<(), Refusal> {
        match self.kind.throughput {
            ThroughputRule::Fixed => self.throughput_fixed(draft),
            ThroughputRule::Included => self.throughput_sold(iops, "base_throughput", draft)?,
            ThroughputRule::Provisioned => self.throughput_sold(iops, "min_throughput", draft)?,
            ThroughputRule::ByTier => self.throughput_by_tier(draft)?,
            ThroughputRule::BySum => self.throughput_by_sum(draft),
            ThroughputRule::ByIops => draft.volume.caps.push(self.throughput_of_iops(iops)),
            ThroughputRule::BySize => self.throughput_by_size(draft),
            ThroughputRule::None => (),
        }
        Ok(())
    }

    /// One figure for all sizes, less for the smallest ones.
    fn throughput_fixed(&self, draft: &mut Draft) {
        let gib = draft.purchase.gib;
        let steps = self.limits.numbered("max_throughput_le_", "gib");
        let step = steps.into_iter().find(|(up_to, _)| gib <= *up_to);
        let most = self
            .limits
            .need(step.map_or("max_throughput", |(_, name)| name));
        draft.cap("volume throughput", bytes_at(most.value, &most), &most);
    }

    /// The bytes that are bought or included. `least`: the limit that is included, or the least that is sold.
    fn throughput_sold(&self, iops: f64, least: &str, draft: &mut Draft) -> Result<(), Refusal> {
        let includes = self.kind.throughput == ThroughputRule::Included;
        let least = self.limits.need(least);
        let most = self.limits.need("max_throughput");
        if includes {
            draft.purchase.included_mibps = least.value;
        }
        let (mibps, from) = match self.offer.throughput {
            None if includes => (least.value, least),
            None => return Err(self.throughput_is_missing(iops, &least, &most)),
            Some(wanted) => {
                self.check_throughput(wanted as f64, iops, &least, &most)?;
                (wanted as f64, provisioned_within(most))
            }
        };
        draft.cap("volume throughput", bytes_at(mibps, &from), &from);
        draft.purchase.mibps = Some(mibps);
        Ok(())
    }

    /// What may be bought: at least what the size needs, at most what the size and the operations
    /// allow.
    fn throughput_range(&self, iops: f64, least: &Figure, most: &Figure) -> RangeInclusive<f64> {
        let gib = self.limits.gib();
        let (mut floor, mut ceiling) = (least.value, most.value);
        for (name, amount) in [("max_mibps_per_iops", iops), ("max_mibps_per_gib", gib)] {
            if let Some(per) = self.limits.get(name) {
                ceiling = ceiling.min(per.value * amount);
            }
        }
        for (name, amount) in [
            ("min_mibps_per_gib", gib),
            ("min_mibps_per_tib", gib / 1024.0),
        ] {
            if let Some(per) = self.limits.get(name) {
                floor = floor.max(per.value * amount);
            }
        }
        floor.ceil()..=ceiling.floor()
    }

    /// The refusal of a volume for which throughput has to be bought and is not named.
    fn throughput_is_missing(&self, iops: f64, least: &Figure, most: &Figure) -> Refusal {
        let (from, to) = self.throughput_range(iops, least, most).into_inner();
        let message = format!(
            "{} is sold by provisioned throughput: throughput={from} to {to} ({}) at {} GiB",
            self.kind.name,
            most.unit,
            self.limits.gib()
        );
        Refusal::new(Part::Volume, message)
    }

    /// Refuses throughput outside of what is sold.
    fn check_throughput(
        &self,
        wanted: f64,
        iops: f64,
        least: &Figure,
        most: &Figure,
    ) -> Result<(), Refusal> {
        let kind = &self.kind.name;
        let part = Part::Key("throughput");
        let unit = most.unit;
        let (from, to) = self.throughput_range(iops, least, most).into_inner();
        if wanted < from {
            let message = match self.kind.throughput {
                ThroughputRule::Included => {
                    format!("{kind} includes {from} {unit}; throughput= is for more")
                }
                _ => format!(
                    "{kind} of {} GiB starts at {from} {unit}",
                    self.limits.gib()
                ),
            };
            return Err(Refusal::new(part, message));
        }
        if wanted <= to {
            return Ok(());
        }
        let (allowed, day) = (count(to), self.limits.day());
        let message = match self.limits.get("max_mibps_per_iops") {
            Some(per_iops) => format!(
                "{kind} with {} IOPS allows at most {allowed} {unit}; {} per IOPS, {} at most \
                 ({day})",
                count(iops),
                per_iops.value,
                count(most.value)
            ),
            None => format!("{kind} allows at most {allowed} {unit} ({day})"),
        };
        Err(Refusal::new(part, message))
    }

    /// Throughput that grows with the IOPS, in up to two steps.
    fn throughput_of_iops(&self, iops: f64) -> Cap {
        let most = self.limits.need("max_throughput");
        // One step, in MiB/s for each; without that figure two steps, in KiB for each.
        if let Some(per) = self.limits.in_force("mibps_per_iops") {
            let rate = bytes_at(most.value.min(iops * per.value), &most);
            return cap("volume throughput", rate, &per.origin);
        }
        let below = self
            .first_in_force("throughput_to_", "_iops")
            .map_or_else(|| most.clone(), |(_, figure)| figure);
        let per = self.limits.need("max_kib_per_iops");
        let first = below.value.min(iops * per.value / 1024.0);
        match self.first_in_force("max_kib_per_iops_above_", "") {
            Some((above, per)) if iops > above => {
                let mibps = (iops * per.value / 1024.0).min(most.value);
                // The second step gives less for each operation, but never less than the first reached.
                cap(
                    "volume throughput",
                    Rate::MibPerS(mibps.max(first)),
                    &per.origin,
                )
            }
            _ => cap("volume throughput", Rate::MibPerS(first), &below.origin),
        }
    }

    /// The lowest of the numbered limits, if it is in force, with its number.
    fn first_in_force(&self, before: &str, after: &str) -> Option<(f64, Figure)> {
        let (number, name) = *self.limits.numbered(before, after).first()?;
        Some((number, self.limits.in_force(name)?))
    }

    /// Bytes by size, and a bucket that holds a number of scans of the volume.
    fn throughput_by_size(&self, draft: &mut Draft) {
        let tib = draft.purchase.gib / 1024.0;
        let most = self.limits.need("max_throughput");
        let burst = self.limits.need("burst_mibps_per_tib");
        let base = self.limits.value("base_mibps_per_tib");
        let [base_mibps, burst_mibps] =
            [base, burst.value].map(|per_tib| (per_tib * tib).min(most.value));
        if base_mibps < burst_mibps {
            draft.volume.credits.push(Credit {
                name: "throughput credits".to_owned(),
                baseline: Rate::MibPerS(base_mibps),
                burst: Rate::MibPerS(burst_mibps),
                capacity: self.limits.value("bucket") * draft.volume.capacity.as_f64(),
                initial_share: 1.0,
                full_again: None,
                origin: burst.origin,
            });
        } else {
            draft.cap("volume throughput", Rate::MibPerS(base_mibps), &most);
        }
    }

    /// Further limits: of operations of 1 MiB, and on instances that are not built on Nitro.
    fn other_limits(&self, iops: f64, host: Option<&HostClass>, draft: &mut Draft) {
        if let Some(ops) = self.limits.get("max_iops_1mib") {
            draft.cap("volume IOPS of 1 MiB", Rate::Iops(ops.value), &ops);
        }
        let elsewhere = self.limits.in_force("max_iops_not_nitro");
        if let (Some(elsewhere), Some(host)) = (elsewhere, host)
            && !host.nitro
            && iops > elsewhere.value
        {
            let rate = Rate::Iops(elsewhere.value);
            draft.cap("volume IOPS outside Nitro", rate, &elsewhere);
            if let Some(most) = self.limits.in_force("max_throughput_not_nitro") {
                let rate = Rate::MibPerS(most.value);
                draft.cap("volume throughput outside Nitro", rate, &most);
            }
            draft.notes.push(
                format!(
                    "{} delivers at most {} IOPS on an instance that is not built on Nitro",
                    self.kind.name,
                    count(elsewhere.value)
                )
                .into(),
            );
        }
    }

    /// Notes that nothing is predicted of a volume without known limits.
    fn note_if_unlimited(&self, draft: &mut Draft) {
        let of_machine = draft.instance.as_ref().map_or(0, |spec| spec.caps.len());
        if draft.volume.caps.len() + draft.volume.credits.len() + of_machine > 0 {
            return;
        }
        draft.volume.service = None;
        draft.notes.push(Remark::no_prediction(format!(
            "what {} delivers is not documented here: no prediction is made",
            self.kind.name
        )));
    }

    /// What is sold as one and is several volumes side by side: each has its part of all limits.
    fn stripe(&self, draft: &mut Draft) {
        let Some(volumes) = self.limits.get("volumes") else {
            return;
        };
        let parts = volumes.value.max(1.0);
        let volume = &mut draft.volume;
        volume.capacity = Bytes((volume.capacity.as_f64() / parts) as u64);
        for cap in &mut volume.caps {
            cap.rate = cap.rate.times(1.0 / parts);
        }
        for credit in &mut volume.credits {
            credit.baseline = credit.baseline.times(1.0 / parts);
            credit.burst = credit.burst.times(1.0 / parts);
            credit.capacity /= parts;
        }
        draft.volumes *= parts as usize;
        if parts > 1.0 {
            draft.notes.push(Remark::from(format!(
                "{} of this size is striped over {parts} volumes, each with its part of the limits",
                self.kind.name
            )));
        }
    }

    /// No rate is promised, so nothing is predicted, unless the user takes the documented average for
    /// one.
    fn best_effort(&self, draft: &mut Draft) {
        if self.offer.profile.as_deref() != Some("average") {
            draft.volume.service = None;
            let [low_iops, high_iops, low_mibps, high_mibps] =
                ["low_iops", "high_iops", "low_throughput", "high_throughput"]
                    .map(|name| count(self.limits.value(name)));
            draft.notes.push(Remark::no_prediction(format!(
                "{} is best effort, {low_iops} to {high_iops} IOPS and {low_mibps} to {high_mibps} MiB/s: no prediction is made. \
profile=average lets the documented average stand in, profile=FILE.toml a device \
                 that you measured",
                self.kind.name,
            )));
            return;
        }
        let average = self.limits.need("iops_average");
        let most = self.limits.need("high_throughput");
        draft.volume.caps = vec![
            cap("average IOPS", Rate::Iops(average.value), &average.origin),
            cap("volume throughput", Rate::MibPerS(most.value), &most.origin),
        ];
        let because = format!(
            "one operation at a time at the documented average of {} IOPS",
            count(average.value)
        );
        let mean_ns = (1e9 / average.value).round() as u64;
        let service = stand_in(&self.kind.service, mean_ns, &because);
        draft.volume.service = Some(service);
        draft
            .assumptions
            .push("the documented average stands in for a promise (profile=average)".to_owned());
    }
}
