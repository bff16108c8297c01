//! Everything else that could have been bought: other types, other instances, other days.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

use blocklab_catalog::resolve;
use blocklab_device::DeviceSpec;
use blocklab_record::Record;
use blocklab_units::Bytes;
use blocklab_workload::{Address, Date, Offer};

use super::Expectation;
use super::why::{EXACT, Why};

/// An instance's own disks.
const LOCAL: &str = "local";

/// Devices to try where a rate is not as expected. Those that are many are resolved when first
/// requested.
#[derive(Default)]
pub(super) struct Others {
    /// The type of volume that the record's own limits name, where it is another one.
    pub(super) recorded_type: Option<String>,
    /// The instance that they name, where it is another one.
    pub(super) recorded_instance: Option<String>,
    /// Other types of volume of the same size, without settings.
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

    /// The device of the address with something changed; `None` where that changes nothing, or
    /// there is no such device.
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
    pub(super) fn new(given: Expectation<'_>, record: &Record) -> Self {
        let Some(offer) = given.offer() else {
            return Self::default();
        };
        let spec = &given.resolved.spec;
        let mut kinds = given.catalog.volume_types();
        kinds.retain(|kind| {
            let is_other = *kind != offer.volume && kind != LOCAL && offer.volume != LOCAL;
            is_other && vendor(kind) == vendor(&offer.volume)
        });
        let types = kinds.into_iter().filter_map(|kind| {
            let spec = given.changed(|other| {
                (other.iops, other.throughput, other.profile) = (None, None, None);
                other.volume.clone_from(&kind);
            })?;
            // Some types run as others where they are attached.
            let is_other = spec.volumes.first()?.kind == kind;
            is_other.then_some((kind, spec))
        });
        let (volume, instance) = (spec.volumes.first(), spec.instance.as_ref());
        Self {
            recorded_type: volume.and_then(|volume| {
                let own = owners(record, true);
                other(&own, &volume.kind, &given.catalog.volume_types())
            }),
            recorded_instance: instance.and_then(|instance| {
                let own = owners(record, false);
                other(&own, &instance.name, &given.catalog.instance_types())
            }),
            types: types.collect(),
            ..Self::default()
        }
    }

    /// What the record itself names of its target, where that is not what the address names.
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

    /// Whether fewer of the volumes, or smaller ones, explain a share of what is documented. The
    /// size of a volume tells only where its limits are by size.
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
        if let Some(fewer) = (1..all)
            .rev()
            .find(|fewer| fits(&|offer| offer.count = NonZeroU32::new(*fewer)))
        {
            return Some(Why::FewerVolumes(fewer));
        }
        let gib = (offer.size?.as_f64() * share / f64::from(1 << 30)).round();
        let gib = (gib as u64).max(1);
        fits(&|offer| offer.size = Some(Bytes(gib << 30))).then_some(Why::OtherSize(gib))
    }

    /// The other sizes of the instance, with the same volume.
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
                Some((name.into_owned(), spec))
            });
            resolved.collect()
        })
    }

    /// The first day of the limits that fit.
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

/// Figures that are assumed of a device: before the first document of a type nothing else is known.
fn assumed(spec: &DeviceSpec) -> usize {
    let rates = spec
        .limits()
        .into_iter()
        .filter(|rate| rate.unit.per_second().is_some());
    rates.filter(|rate| rate.origin.is_assumed()).count()
}

fn is_same(a: &DeviceSpec, b: &DeviceSpec) -> bool {
    a.volumes == b.volumes && a.instance == b.instance
}

/// The devices that the address named on other days, each with the first month of its kind. What is
/// only assumed of a day, because the type was not sold yet or no document speaks of it, explains
/// nothing.
fn days(given: Expectation<'_>) -> Vec<(Date, DeviceSpec)> {
    let today = &given.resolved.spec;
    let least = assumed(today);
    let on = |day: Date| {
        let spec = given.changed(|offer| offer.as_of = Some(day))?;
        (assumed(&spec) <= least).then_some(spec)
    };
    let mut found: Vec<(Date, DeviceSpec)> = Vec::new();
    for (year, month) in (2012..=2026).flat_map(|year| [1, 4, 7, 10].map(|month| (year, month))) {
        let Some((day, spec)) = Date::new(year, month, 1).and_then(|day| Some((day, on(day)?)))
        else {
            continue;
        };
        if is_same(&spec, today) || found.iter().any(|(_, known)| is_same(known, &spec)) {
            continue;
        }
        // The months of the quarter before.
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

fn vendor(kind: &str) -> Option<&str> {
    kind.split_once('/').map(|(vendor, _)| vendor)
}

/// The names that the limits of the only target carry: of its volumes, or of its instance.
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

/// The known name that is among these instead of the expected one: a record of a modelled
/// volume names it, and its instance, with every limit.
fn other(own: &BTreeSet<&str>, expected: &str, known: &[impl AsRef<str>]) -> Option<String> {
    own.iter()
        .find(|name| known.iter().any(|known| known.as_ref() == **name))
        .filter(|_| !own.contains(expected))
        .map(|name| (*name).to_owned())
}
