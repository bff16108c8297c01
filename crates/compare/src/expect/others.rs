//! Other devices that could explain a rate: other types of volume, other sizes, other instances,
//! and the same address on other days.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

use blocklab_catalog::{Catalog, resolve};
use blocklab_device::DeviceSpec;
use blocklab_record::Record;
use blocklab_units::Bytes;
use blocklab_workload::{Address, Date, Offer};

use super::Expectation;
use super::why::{EXACT, Why};

/// The first year that is tried: the oldest documented limits of the catalog are of 2012.
const FIRST_YEAR: u16 = 2012;
/// The type name of an instance's own disks.
const LOCAL: &str = "local";

/// Devices to try where a rate is not as expected. The sizes of an instance and the days are many,
/// and are resolved only when a case asks for them.
#[derive(Default)]
pub(super) struct Others {
    /// The type of volume that the record's own limits name, if the address names another one.
    pub(super) recorded_type: Option<String>,
    /// The instance that they name, if the address names another one.
    pub(super) recorded_instance: Option<String>,
    /// Other types of volume of the same size with default settings, by name.
    pub(super) types: Vec<(String, DeviceSpec)>,
    siblings: OnceCell<Vec<(String, DeviceSpec)>>,
    days: OnceCell<Vec<(Date, DeviceSpec)>>,
}

impl<'a> Expectation<'a> {
    fn offer(&self) -> Option<&'a Offer> {
        match &self.resolved.address {
            Address::Sold(offer) => Some(offer),
            Address::File(_) => None,
        }
    }

    /// The device of the address after an edit; `None` where the edit changes nothing or gives an
    /// address that cannot be bought.
    pub(super) fn changed(&self, edit: impl Fn(&mut Offer)) -> Option<DeviceSpec> {
        let offer = self.offer()?;
        let mut other = offer.clone();
        edit(&mut other);
        if other == *offer {
            return None;
        }
        Some(resolve(&Address::Sold(other), self.catalog).ok()?.spec)
    }
}

impl Others {
    /// Resolves the other volume types of the vendor, one of which may have been measured instead.
    /// None for a device file.
    pub(super) fn new(given: Expectation<'_>, record: &Record) -> Self {
        let Some(offer) = given.offer() else {
            return Self::default();
        };
        let spec = &given.resolved.spec;
        let (volume, instance) = (spec.volumes.first(), spec.instance.as_ref());
        let (own_types, own_instances) = (owners(record, true), owners(record, false));
        // Where the record itself names what was bought, nothing else was.
        let is_bought_type = volume.is_some_and(|volume| own_types.contains(&*volume.kind));
        let is_bought_instance =
            instance.is_some_and(|instance| own_instances.contains(&*instance.name));
        let mut kinds = given.catalog.volume_types();
        kinds.retain(|kind| {
            // Local disks come with an instance: no volume was bought in their place.
            let is_other = *kind != offer.volume && kind != LOCAL && offer.volume != LOCAL;
            is_other && !is_bought_type && vendor(kind) == vendor(&offer.volume)
        });
        let types = kinds.into_iter().filter_map(|kind| {
            let spec = given.changed(|other| {
                (other.iops, other.throughput, other.profile) = (None, None, None);
                other.volume.clone_from(&kind);
            })?;
            // Attached to some instances, a type runs as another one, which has its own turn.
            let is_other = spec.volumes.first()?.kind == kind;
            is_other.then_some((kind, spec))
        });
        Self {
            recorded_type: volume.and_then(|volume| {
                unexpected_owner(&own_types, &volume.kind, &given.catalog.volume_types())
            }),
            recorded_instance: instance.and_then(|instance| {
                unexpected_owner(
                    &own_instances,
                    &instance.name,
                    &given.catalog.instance_types(),
                )
            }),
            types: types.collect(),
            siblings: if is_bought_instance {
                OnceCell::from(Vec::new())
            } else {
                OnceCell::new()
            },
            ..Self::default()
        }
    }

    /// The other type or instance that the record itself names. An instance does not explain a case
    /// that latency binds, as its limits are not what decides.
    pub(super) fn recorded(&self, is_latency_bound: bool) -> Option<Why> {
        let instance = self
            .recorded_instance
            .as_ref()
            .filter(|_| !is_latency_bound);
        match &self.recorded_type {
            Some(kind) => Some(Why::OtherType(kind.clone())),
            None => Some(Why::OtherInstance(vec![instance?.clone()])),
        }
    }

    /// Whether fewer of the volumes, or smaller ones, explain a rate that is this share of the
    /// documented one. `off` gives how far a device is from the rate.
    pub(super) fn smaller(
        &self,
        given: Expectation<'_>,
        share: f64,
        off: impl Fn(&DeviceSpec) -> f64,
    ) -> Option<Why> {
        let fits =
            |edit: &dyn Fn(&mut Offer)| given.changed(edit).is_some_and(|spec| off(&spec) <= EXACT);
        let offer = given.offer()?;
        let all = u32::try_from(given.resolved.spec.volumes.len()).ok()?;
        // Of several numbers that fit, the one nearest to what was bought.
        if let Some(fewer) = (1..all)
            .rev()
            .find(|fewer| fits(&|offer| offer.count = NonZeroU32::new(*fewer)))
        {
            return Some(Why::FewerVolumes(fewer));
        }
        // Where limits grow with the size, the size is off by the same share as the rate. Where
        // they do not, the smaller volume does not fit.
        let gib = (offer.size?.as_f64() * share / f64::from(1 << 30)).round();
        let gib = (gib as u64).max(1);
        fits(&|offer| offer.size = Some(Bytes(gib << 30))).then_some(Why::OtherSize(gib))
    }

    /// The other sizes of the instance's family, by name, each with the same volume.
    pub(super) fn siblings(&self, given: Expectation<'_>) -> &[(String, DeviceSpec)] {
        self.siblings.get_or_init(|| {
            let instance = given.offer().and_then(|offer| offer.instance.as_deref());
            let Some((family, _)) = instance.and_then(|instance| instance.split_once('.')) else {
                return Vec::new();
            };
            let all = given.catalog.instance_types().into_iter();
            let of_family = all.filter(|name| name.split('.').next() == Some(family));
            let resolved = of_family.filter_map(|name| {
                let spec = given.changed(|offer| offer.instance = Some(name.to_string()))?;
                Some((name.to_owned(), spec))
            });
            resolved.collect()
        })
    }

    /// The first day on which the limits of the address fit.
    pub(super) fn day(
        &self,
        given: Expectation<'_>,
        fits: impl Fn(&DeviceSpec) -> bool,
    ) -> Option<Date> {
        let days = self.days.get_or_init(|| days(given));
        let found = days.iter().find(|(_, spec)| fits(spec));
        found.map(|(day, _)| *day)
    }
}

/// How many rates of a device are only assumed.
fn assumed_rates(spec: &DeviceSpec) -> usize {
    let rates = spec
        .limits()
        .into_iter()
        .filter(|limit| limit.unit.per_second().is_some());
    rates.filter(|limit| limit.origin.is_assumed()).count()
}

fn is_same(a: &DeviceSpec, b: &DeviceSpec) -> bool {
    a.volumes == b.volumes && a.instance == b.instance
}

/// The devices that the address named on other days, each with the first month in which it had
/// these limits. A day for which more is assumed than for today, because the type was not sold yet
/// or no document covers it, explains nothing.
fn days(given: Expectation<'_>) -> Vec<(Date, DeviceSpec)> {
    let today = &given.resolved.spec;
    let assumed_today = assumed_rates(today);
    let on = |day: Date| {
        let spec = given.changed(|offer| offer.as_of = Some(day))?;
        (assumed_rates(&spec) <= assumed_today).then_some(spec)
    };
    let mut found: Vec<(Date, DeviceSpec)> = Vec::new();
    // A quarter at a time; only around a change the months between are resolved as well.
    for (year, month) in quarters(given.catalog) {
        let Some((day, spec)) = Date::new(year, month, 1).and_then(|day| Some((day, on(day)?)))
        else {
            continue;
        };
        if is_same(&spec, today) || found.iter().any(|(_, known)| is_same(known, &spec)) {
            continue;
        }
        // The change may have come in one of the two months since the last quarter that was tried.
        let (year, months) = match month {
            1 => (year - 1, [11, 12]),
            _ => (year, [month - 2, month - 1]),
        };
        let mut earlier = months
            .into_iter()
            .filter_map(|month| Date::new(year, month, 1));
        let first = earlier.find(|day| on(*day).is_some_and(|on| is_same(&on, &spec)));
        found.push((first.unwrap_or(day), spec));
    }
    found
}

/// The first months of the quarters in which a limit of the catalog may have changed. What changed in
/// the last months of a year shows in the first quarter of the next one.
fn quarters(catalog: &Catalog) -> impl Iterator<Item = (u16, u8)> + use<> {
    let newest = catalog.newest_change();
    let last = newest.map_or(FIRST_YEAR, |newest| newest.year() + 1);
    (FIRST_YEAR..=last).flat_map(|year| [1, 4, 7, 10].map(|month| (year, month)))
}

/// `azure` in `azure/premium-ssd`; `None` for a type of AWS, which has no prefix.
fn vendor(kind: &str) -> Option<&str> {
    kind.split_once('/').map(|(vendor, _)| vendor)
}

/// The owners of the rate limits in a record of one target: its types of volume, or its instance. A
/// record of several targets does not tell whose they are, and gives none.
fn owners(record: &Record, of_volumes: bool) -> BTreeSet<&str> {
    let [target] = &*record.targets else {
        return BTreeSet::new();
    };
    let limits = target
        .limits
        .iter()
        .filter(|limit| limit.unit.per_second().is_some());
    let owned = limits.filter(|limit| limit.name.volumes.is_some() == of_volumes);
    owned.map(|owned| &*owned.name.owner).collect()
}

/// The first owner with a known name, unless the expected one is an owner as well.
fn unexpected_owner(
    owners: &BTreeSet<&str>,
    expected: &str,
    known: &[impl AsRef<str>],
) -> Option<String> {
    owners
        .iter()
        .find(|name| known.iter().any(|known| known.as_ref() == **name))
        .filter(|_| !owners.contains(expected))
        .map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the days that were tried ended with 2026, so a limit that changes in 2027 would never
    /// have explained a rate.
    #[test]
    fn the_days_that_are_tried_go_as_far_as_the_catalog() {
        let catalog = Catalog::embedded();
        let newest = catalog.newest_change().expect("sources have days");
        let last = quarters(&catalog).last().expect("a quarter");
        assert_eq!(last, (newest.year() + 1, 10));
        assert_eq!(quarters(&catalog).next(), Some((2012, 1)));
    }
}
