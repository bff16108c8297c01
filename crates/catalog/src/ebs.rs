//! EBS volume types: what may be bought on a day, and the device that comes of it.

use blocklab_device::{Cap, Credit, Origin, Rate, VolumeSpec};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Date, Offer, address::Part};

use crate::Catalog;
use crate::cost::Purchase;
use crate::delivered::deliver;
use crate::draft::Draft;
use crate::embedded::SUCCESSORS;
use crate::error::Refusal;
use crate::figure::Figure;
use crate::remarks::Remark;
use crate::stand_in::{BUCKET, REFILL, stand_in};
use crate::table::Table;

mod kind;
mod limits;

pub(crate) use kind::{IopsRule, Kind, UnsoundRow};

use kind::ThroughputRule;
use limits::{Limits, vendor_gib};

/// Where a volume is attached, as far as its limits depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Host<'h> {
    pub(crate) family: &'h str,
    pub(crate) nitro: bool,
}

fn cap(name: &str, rate: Rate, figure: &Figure) -> Cap {
    Cap {
        bucket: BUCKET,
        refill_share: REFILL,
        ..Cap::new(name, rate, figure.origin.clone())
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
    host: Option<Host<'_>>,
) -> Result<Draft, Refusal> {
    let kind = successor(catalog, offer, &kind, host)?.unwrap_or(kind);
    let limits = Limits::find(catalog, &kind.name, offer.as_of)?;
    let mut assumptions = Vec::new();
    let gib = limits.size(offer, &mut assumptions)?;
    let spec = VolumeSpec {
        accounting: kind.accounting,
        service: Some(kind.service.clone()),
        ..VolumeSpec::new(&kind.name, Bytes(gib << 30))
    };
    let volumes = offer.count.map_or(1, |count| count.get() as usize);
    let mut draft = Draft {
        volumes,
        bounds: limits.all(),
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
    let terms = Terms {
        catalog,
        kind: &kind,
        limits,
        offer,
    };
    terms.refuse_what_is_not_sold(gib as f64)?;
    if kind.iops == IopsRule::BestEffort {
        terms.best_effort(&mut draft);
        return Ok(draft);
    }
    let iops = terms.iops(&mut draft)?;
    terms.throughput(iops, &mut draft)?;
    terms.elsewhere(iops, host, &mut draft);
    let VolumeSpec { caps, credits, .. } = &mut draft.volume;
    deliver(&kind.name, offer.as_of, caps, credits);
    Ok(draft)
}

/// The type that a volume really runs as: always on an instance that supports it, and where more
/// is provisioned than the type itself gives elsewhere.
fn successor(
    catalog: &Catalog,
    offer: &Offer,
    kind: &Kind,
    host: Option<Host<'_>>,
) -> Result<Option<Kind>, Refusal> {
    let rows: Vec<_> = Table::new(SUCCESSORS).rows_of(&kind.name).collect();
    let Some(any) = rows.first() else {
        return Ok(None);
    };
    let plain = Limits::find(catalog, &kind.name, offer.as_of)?;
    let (max_iops, size_max) = (plain.value("max_iops"), plain.value("size_max"));
    let beyond = offer.iops.is_some_and(|iops| iops as f64 > max_iops)
        || offer
            .size
            .is_some_and(|size| vendor_gib(size).0 as f64 > size_max);
    let day = offer.as_of.unwrap_or(Date::MAX);
    let first = host.and_then(|host| {
        let families = [Some(host.family), host.nitro.then_some("nitro")];
        let days = families.into_iter().flatten().filter_map(|family| {
            let row = rows.iter().find(|row| row.text("family") == family)?;
            row.get::<Date>("from")
        });
        days.min()
    });
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
        Ok(catalog.ebs_type(any.text("becomes")))
    } else {
        Ok(None)
    }
}

/// An offer, its type, and the limits that hold for it on that day.
struct Terms<'t> {
    catalog: &'t Catalog,
    kind: &'t Kind,
    limits: Limits<'t>,
    offer: &'t Offer,
}

impl Terms<'_> {
    /// So many per GiB, not below the floor and not above the cap.
    fn baseline(&self, gib: f64) -> f64 {
        let by_size = gib * self.limits.value("baseline_iops_per_gib");
        by_size
            .max(self.limits.value("min_iops"))
            .min(self.limits.value("max_iops"))
    }

    fn refuse_what_is_not_sold(&self, gib: f64) -> Result<(), Refusal> {
        let kind = &self.kind.name;
        let sells_iops = matches!(self.kind.iops, IopsRule::Included | IopsRule::Provisioned);
        if self.offer.iops.is_some() && !sells_iops {
            let message = format!("{kind} has no provisioned iops: {}", self.instead(gib));
            return Err(Refusal::new(Part::Key("iops"), message));
        }
        if self.offer.throughput_mibps.is_none() || self.kind.sells_throughput() {
            return Ok(());
        }
        let message = match self.kind.throughput {
            ThroughputRule::ByIops => {
                let mut sellers = self.catalog.ebs_types();
                sellers.retain(Kind::sells_throughput);
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

    /// What decides where nothing is sold.
    fn instead(&self, gib: f64) -> String {
        let look_at = match self.kind.instead.as_str() {
            "" => String::new(),
            others => format!("; {others}"),
        };
        match (self.kind.iops, self.kind.throughput) {
            (IopsRule::BestEffort, _) => "it is best effort".to_owned(),
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
                initial_share: self.limits.value("initial_credits") / bucket,
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
        let cap = cap("volume IOPS", Rate::Iops(baseline), &from);
        draft.volume.caps.push(cap);
        baseline
    }

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
        let cap = cap("volume IOPS", Rate::Iops(iops as f64), &from);
        draft.volume.caps.push(cap);
        draft.purchase.iops = Some(iops as f64);
        Ok(iops as f64)
    }

    fn throughput(&self, iops: f64, draft: &mut Draft) -> Result<(), Refusal> {
        match self.kind.throughput {
            ThroughputRule::Fixed => self.throughput_fixed(draft),
            ThroughputRule::Included => self.throughput_sold(iops, draft)?,
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
        let cap = cap("volume throughput", Rate::MibPerS(most.value), &most);
        draft.volume.caps.push(cap);
    }

    fn throughput_sold(&self, iops: f64, draft: &mut Draft) -> Result<(), Refusal> {
        let included = self.limits.need("base_throughput");
        let most = self.limits.need("max_throughput");
        draft.purchase.included_mibps = included.value;
        let (mibps, from) = match self.offer.throughput_mibps {
            None => (included.value as u64, included),
            Some(wanted) => {
                self.check_throughput(wanted as f64, iops, included.value, most.value)?;
                (wanted, provisioned_within(most))
            }
        };
        let cap = cap("volume throughput", Rate::MibPerS(mibps as f64), &from);
        draft.volume.caps.push(cap);
        draft.purchase.mibps = Some(mibps as f64);
        Ok(())
    }

    fn check_throughput(
        &self,
        wanted: f64,
        iops: f64,
        included: f64,
        most: f64,
    ) -> Result<(), Refusal> {
        let kind = &self.kind.name;
        let part = Part::Key("throughput");
        if wanted < included {
            let message = format!("{kind} includes {included} MiB/s; throughput= is for more");
            return Err(Refusal::new(part, message));
        }
        let per_iops = self.limits.get("max_mibps_per_iops").map(|per| per.value);
        let allowed = per_iops.map_or(most, |per_iops| most.min(iops * per_iops));
        if wanted <= allowed {
            return Ok(());
        }
        let (allowed, day) = (count(allowed), self.limits.day());
        let message = match per_iops {
            Some(per_iops) => format!(
                "{kind} with {} IOPS allows at most {allowed} MiB/s; {per_iops} per IOPS, {} at \
                 most ({day})",
                count(iops),
                count(most)
            ),
            None => format!("{kind} allows at most {allowed} MiB/s ({day})"),
        };
        Err(Refusal::new(part, message))
    }

    /// Throughput that grows with the IOPS, in up to two steps.
    fn throughput_of_iops(&self, iops: f64) -> Cap {
        let most = self.limits.need("max_throughput");
        if let Some(per) = self.limits.in_force("mibps_per_iops") {
            let rate = Rate::MibPerS(most.value.min(iops * per.value));
            return cap("volume throughput", rate, &per);
        }
        let below = self.first_in_force("throughput_to_", "_iops");
        let below = below.map_or_else(|| most.clone(), |(_, figure)| figure);
        let per = self.limits.need("max_kib_per_iops");
        let first = below.value.min(iops * per.value / 1024.0);
        match self.first_in_force("max_kib_per_iops_above_", "") {
            Some((above, per)) if iops > above => {
                let mibps = (iops * per.value / 1024.0).min(most.value);
                cap("volume throughput", Rate::MibPerS(mibps.max(first)), &per)
            }
            _ => cap("volume throughput", Rate::MibPerS(first), &below),
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
            let cap = cap("volume throughput", Rate::MibPerS(base_mibps), &most);
            draft.volume.caps.push(cap);
        }
    }

    /// Limits on operations besides: of a whole unit, and on older instances.
    fn elsewhere(&self, iops: f64, host: Option<Host<'_>>, draft: &mut Draft) {
        if let Some(ops) = self.limits.get("max_iops_1mib") {
            let cap = cap("volume IOPS of 1 MiB", Rate::Iops(ops.value), &ops);
            draft.volume.caps.push(cap);
        }
        let elsewhere = self.limits.in_force("max_iops_not_nitro");
        if let (Some(elsewhere), Some(host)) = (elsewhere, host)
            && !host.nitro
            && iops > elsewhere.value
        {
            let rate = Rate::Iops(elsewhere.value);
            let iops = cap("volume IOPS outside Nitro", rate, &elsewhere);
            draft.volume.caps.push(iops);
            if let Some(most) = self.limits.in_force("max_throughput_not_nitro") {
                let rate = Rate::MibPerS(most.value);
                let bytes = cap("volume throughput outside Nitro", rate, &most);
                draft.volume.caps.push(bytes);
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

    /// Nobody promises anything, so nothing is predicted, unless the user wants the documented
    /// average to stand in.
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
            cap("average IOPS", Rate::Iops(average.value), &average),
            cap("volume throughput", Rate::MibPerS(most.value), &most),
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
