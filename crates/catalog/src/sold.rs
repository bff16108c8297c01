//! In: where volumes are bought and on which machines they are. Out: the types that are sold there, and
//! the least configuration of each that does what it must.
//!
//! Whoever looks for a volume begins here. Nothing here knows a vendor: a configuration is built from
//! the kinds of rules of its type, and judged by the caller from the device that the same tables make of
//! it, so that one judgement serves all.

use std::num::NonZeroU32;

use blocklab_device::{Accounting, DeviceSpec};
use blocklab_units::Bytes;
use blocklab_workload::Offer;

use crate::embedded::Section;
use crate::resolve::finished;
use crate::volumes::{HostClass, Kind, Least, Tier, on_class, runs_as};
use crate::{Catalog, Resolved};

/// A region of each of several vendors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `ireland`.
    pub name: String,
    /// The regions there.
    pub regions: Vec<PlaceRegion>,
}

/// A region of a vendor at a [`Place`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRegion {
    /// `aws`.
    pub vendor: String,
    /// `eu-west-1`.
    pub region: String,
    /// The vendor's words for where it lies.
    pub location: String,
}

/// All of a type of volume that the limits of a machine depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct OnMachine {
    /// The group of disks to which the machine counts it.
    pub group: String,
    /// How operations on it are counted.
    pub accounting: Accounting,
}

/// A type of volume, where it is bought and attached.
#[derive(Debug, Clone)]
pub struct Sold<'c> {
    catalog: &'c Catalog,
    kind: Kind,
    /// Whose it is.
    pub vendor: String,
    /// Whose prices hold.
    pub region: String,
    host: Option<&'c HostClass>,
    /// The type by whose limits it runs there.
    runs_as: Kind,
    tiers: Vec<Tier>,
}

impl Catalog {
    /// All places of the tables.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for row in self.rows(Section::Places) {
            let [name, vendor, region, location] =
                ["place", "vendor", "region", "where"].map(|column| row.text(column).to_owned());
            let region = PlaceRegion {
                vendor,
                region,
                location,
            };
            match places.iter_mut().find(|place| place.name == name) {
                Some(place) => place.regions.push(region),
                None => places.push(Place {
                    name,
                    regions: vec![region],
                }),
            }
        }
        places
    }

    /// The types of a vendor that are bought under their own names, as they are on the machines of a
    /// class; without one, on none.
    pub fn sold<'c>(
        &'c self,
        vendor: &str,
        region: &str,
        class: Option<&'c HostClass>,
    ) -> Vec<Sold<'c>> {
        let mut kinds = self.kinds();
        kinds.retain(|kind| {
            self.vendor_of(&kind.name).name == vendor && !self.is_successor(&kind.name)
        });
        let sold = kinds.into_iter().map(|kind| Sold {
            catalog: self,
            vendor: vendor.to_owned(),
            region: region.to_owned(),
            host: class,
            runs_as: runs_as(self, &kind, class),
            tiers: kind.tiers(self),
            kind,
        });
        sold.collect()
    }
}

impl Sold<'_> {
    /// `gp3`, `azure/PremiumV2_LRS`.
    pub fn name(&self) -> &str {
        &self.kind.name
    }

    /// What a machine grants to it depends on.
    pub fn on_machine(&self) -> OnMachine {
        OnMachine {
            group: self.kind.group.clone(),
            accounting: self.kind.accounting,
        }
    }

    /// Volumes of the type side by side, each of which must do its share: the smallest size, of that the
    /// fewest provisioned operations and bytes, and the cheapest of the ways to buy it that cost nothing
    /// of themselves. `lack` says what is missing of a device; a larger one never lacks more.
    ///
    /// # Errors
    /// What the largest one lacks.
    pub fn least(
        &self,
        volumes: u32,
        each: Least,
        lack: impl Fn(&DeviceSpec) -> Option<String>,
    ) -> Result<Resolved, String> {
        let mut found: Result<Resolved, String> = Err(String::new());
        for performance in self.kind.free_performance(self.catalog) {
            let month = |one: &Resolved| one.per_month().unwrap_or(f64::INFINITY);
            found = match (found, self.least_in(volumes, each, performance, &lack)) {
                (Ok(best), Ok(other)) if month(&other) < month(&best) => Ok(other),
                (Err(_), Ok(only)) => Ok(only),
                (Err(none), Err(lack)) if none.is_empty() => Err(lack),
                (found, _) => found,
            };
        }
        found
    }

    /// As [`Sold::least`], of volumes that are bought with one way of `performance`.
    fn least_in(
        &self,
        volumes: u32,
        each: Least,
        performance: Option<&str>,
        lack: impl Fn(&DeviceSpec) -> Option<String>,
    ) -> Result<Resolved, String> {
        let judge = |gib: u64, iops: Option<u64>, throughput: Option<u64>| {
            let tier = self.tiers.iter().find(|tier| tier.gib >= gib);
            let offer = Offer {
                count: NonZeroU32::new(volumes).filter(|count| count.get() > 1),
                volume: self.kind.name.clone(),
                size: Some(Bytes(gib << 30)).filter(|_| tier.is_none()),
                size_name: tier.map(|tier| tier.name.clone()),
                iops,
                throughput,
                performance: performance.map(str::to_owned),
                // The region changes the price alone.
                region: Some(self.region.clone()),
                ..Offer::default()
            };
            let draft = on_class(self.catalog, &self.kind, &offer, self.host)
                .map_err(|refusal| refusal.message)?;
            match lack(&draft.spec()) {
                None => Ok((offer, draft)),
                Some(lack) => Err(lack),
            }
        };
        let (offer, draft) = self.runs_as.least(self.catalog, each, judge)?;
        Ok(finished(self.catalog, &offer, &self.region, draft))
    }
}
