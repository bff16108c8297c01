//! From an address to a device: which limits and prices hold on that day in that region.

use std::path::Path;

use blocklab_device::{
    Cap, Credit, DeviceSpec, InstanceSpec, Layout, Limit, LimitUnit, Rate, VolumeSpec,
};
use blocklab_units::{Nanos, count, did_you_mean};

use crate::cost::{Cost, Purchase, purchase};
use crate::ebs::{self, IopsRule, Kind};
use crate::figure::Figure;
use crate::foreign::{self, Machine};
use crate::instance::{Ebs, Instance, common_limits, family};
use crate::price::{DEFAULT_REGION, Price};
use crate::refusal::Refusal;
use crate::stand_in::BUCKET;
use crate::{Address, Catalog, Error, Offer, Part, device_file, local, remarks};

/// A device, and everything that its figures rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// What was asked for.
    pub address: Address,
    /// The device.
    pub spec: DeviceSpec,
    /// Every limit that holds, with unit, source and date: those of the device first, then the
    /// bounds of what may be bought.
    pub limits: Vec<Limit>,
    /// Every price that holds. Empty for a device described by hand.
    pub prices: Vec<Price>,
    /// What a month of it costs, item by item.
    pub costs: Vec<Cost>,
    /// What nobody has shown of the device, one sentence each.
    pub assumptions: Vec<String>,
    /// What its cost rests on besides, one sentence each.
    pub cost_assumptions: Vec<String>,
    /// What else is good to know.
    pub notes: Vec<String>,
}

/// Finds the device that an address names.
///
/// # Errors
/// When there is no such thing on that day, with what there is; when a device file is wrong.
pub fn resolve(address: &Address, catalog: &Catalog) -> Result<Resolved, Error> {
    match address {
        Address::File(path) => file(address, path),
        Address::Sold(offer) => {
            let profile = profile(offer)?;
            sold(catalog, offer, profile).map_err(|refusal| Error::refused(address, refusal))
        }
    }
}

fn file(address: &Address, path: &str) -> Result<Resolved, Error> {
    let spec = device_file::load(Path::new(path))?;
    Ok(Resolved {
        address: address.clone(),
        limits: spec.limits(),
        assumptions: grouped(spec.assumptions()),
        cost_assumptions: Vec::new(),
        spec,
        prices: Vec::new(),
        costs: Vec::new(),
        notes: Vec::new(),
    })
}

/// A device file that stands in for a promise.
fn profile(offer: &Offer) -> Result<Option<DeviceSpec>, Error> {
    let path = offer
        .profile
        .as_deref()
        .filter(|profile| *profile != "average");
    path.map(|path| device_file::load(Path::new(path)))
        .transpose()
}

/// A device in the making.
struct Draft {
    volumes: Vec<VolumeSpec>,
    instance: Option<InstanceSpec>,
    bounds: Vec<Limit>,
    purchase: Purchase,
    assumptions: Vec<String>,
    notes: Vec<String>,
}

impl Draft {
    fn of(volumes: Vec<VolumeSpec>) -> Self {
        Self {
            volumes,
            instance: None,
            bounds: Vec::new(),
            purchase: Purchase::default(),
            assumptions: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn sold(
    catalog: &Catalog,
    offer: &Offer,
    profile: Option<DeviceSpec>,
) -> Result<Resolved, Refusal> {
    let region = region(catalog, offer)?;
    let mut draft = draft(catalog, offer)?;
    stand_in(catalog, offer, profile, &mut draft)?;
    let address = Address::Sold(offer.clone());
    let spec = DeviceSpec {
        name: address.to_string(),
        volumes: draft.volumes,
        layout: Layout::default(),
        instance: draft.instance,
        faults: Vec::new(),
    };
    let bill = purchase(catalog, offer, &region, &draft.purchase);
    let mut limits = spec.limits();
    limits.extend(draft.bounds);
    let mut assumptions = draft.assumptions;
    assumptions.extend(grouped(spec.assumptions()));
    let mut notes = draft.notes;
    notes.extend(bill.notes);
    notes.extend(remarks::of(offer));
    Ok(Resolved {
        address,
        spec,
        limits,
        prices: bill.prices,
        costs: bill.costs,
        assumptions,
        cost_assumptions: bill.assumptions,
        notes,
    })
}

/// One sentence for all that rests on the same reason: `gp2: read latency 1000 µs, …: assumed: …`.
fn grouped(assumptions: Vec<String>) -> Vec<String> {
    const SIGN: &str = ": assumed: ";
    let mut groups: Vec<(String, String)> = Vec::new();
    for sentence in assumptions {
        let (what, why) = sentence.split_once(SIGN).unwrap_or((&sentence, ""));
        let owner = what.split_once(": ").map_or("", |(owner, _)| owner);
        let same = |(known, reason): &&mut (String, String)| {
            reason == why && known.starts_with(owner) && !why.is_empty()
        };
        match groups.iter_mut().find(same) {
            Some((known, _)) => {
                let short = what.strip_prefix(owner).unwrap_or(what);
                known.push_str(", ");
                known.push_str(short.trim_start_matches(": "));
            }
            None => groups.push((what.to_owned(), why.to_owned())),
        }
    }
    let join = |(what, why): (String, String)| match why.as_str() {
        "" => what,
        why => format!("{what}: assumed: {why}"),
    };
    groups.into_iter().map(join).collect()
}

/// The region whose prices hold; a name that no list has is a mistake.
fn region(catalog: &Catalog, offer: &Offer) -> Result<String, Refusal> {
    let Some(region) = &offer.region else {
        return Ok(DEFAULT_REGION.to_owned());
    };
    let known = catalog.regions();
    if known.contains(region) {
        return Ok(region.clone());
    }
    let hint = did_you_mean(region, known.iter().map(String::as_str), || {
        "regions are named as in us-east-1 or ap-northeast-1".to_owned()
    });
    let message = format!("no price list of region {region} is known; {hint}");
    Err(Refusal::new(Part::Key("region"), message))
}

fn draft(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let instance = offer.instance.as_deref();
    match offer.volume.as_str() {
        local::NAME => match instance {
            None => Err(Refusal::new(
                Part::Volume,
                "the disks of which instance? For example local@i3.xlarge",
            )),
            Some(name) if foreign::is_foreign(name) => machine_disk(catalog, offer, name),
            Some(name) => local_disks(catalog, offer, name),
        },
        name => match catalog.ebs_type(name) {
            Some(kind) => volumes(catalog, kind, offer),
            None if foreign::is_foreign(name) => foreign_volumes(catalog, offer),
            None => Err(unknown_volume(catalog, name)),
        },
    }
}

fn unknown_volume(catalog: &Catalog, name: &str) -> Refusal {
    let types = catalog.volume_types();
    let message = if catalog.instance_types().iter().any(|known| known == name) {
        format!(
            "{name} is an instance type: local@{name} names its own disks, gp3:1TiB@{name} a volume \
             on it"
        )
    } else {
        let types = types.iter().map(String::as_str);
        let hint = did_you_mean(name, types.clone(), || {
            let own: Vec<&str> = types.filter(|name| !foreign::is_foreign(name)).collect();
            format!("the types are {}", own.join(", "))
        });
        format!("no volume type {name}; {hint}")
    };
    Refusal::new(Part::Volume, message)
}

fn find_instance(catalog: &Catalog, offer: &Offer, name: &str) -> Result<Instance, Refusal> {
    catalog.instance(name, offer.as_of).ok_or_else(|| {
        let types = catalog.instance_types();
        let hint = did_you_mean(name, types.iter().map(AsRef::as_ref), || {
            "`blocklab catalog list` shows them".to_owned()
        });
        Refusal::new(Part::Instance, format!("no instance type {name}; {hint}"))
    })
}

fn local_disks(catalog: &Catalog, offer: &Offer, name: &str) -> Result<Draft, Refusal> {
    let instance = find_instance(catalog, offer, name)?;
    let disks = local::disks(catalog, offer, &instance)?;
    let mut draft = Draft::of(disks.volumes);
    draft.assumptions = disks.assumptions;
    draft.notes = disks.notes;
    draft.notes.push(
        "what an instance's own disks hold is lost when it stops; they come with its price"
            .to_owned(),
    );
    draft.bounds = store_limits(&instance);
    draft.purchase.instance = Some(name.to_owned());
    Ok(draft)
}

/// The documented figures, which are those of all disks together.
fn store_limits(instance: &Instance) -> Vec<Limit> {
    let Some(store) = &instance.store else {
        return Vec::new();
    };
    let name = &instance.name;
    let figures = [
        ("reads of 4 KiB, all disks", &store.read_iops),
        ("writes of 4 KiB, all disks", &store.write_iops),
        ("read throughput, all disks", &store.read_mb),
    ];
    let told = figures.into_iter().filter_map(|(what, figure)| {
        figure
            .as_ref()
            .map(|figure| figure.clone().bound(name, what))
    });
    let size = Figure {
        value: store.disk_gb,
        unit: LimitUnit::Gb,
        origin: store.shape.clone(),
    };
    let size = size.bound(name, format!("size of each of {} disks", store.disks));
    std::iter::once(size).chain(told).collect()
}

fn machine_disk(catalog: &Catalog, offer: &Offer, name: &str) -> Result<Draft, Refusal> {
    let machine = Machine::find(catalog, name)?;
    let disk = machine.disk(catalog, offer)?;
    let mut draft = Draft::of(vec![disk.spec]);
    draft.notes = disk.notes;
    draft.assumptions = disk.assumptions;
    draft.purchase.machine_hour = machine.hour();
    Ok(draft)
}

fn foreign_volumes(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let volume = foreign::volume(catalog, offer)?;
    let mut draft = Draft::of(vec![volume.spec; volumes_asked(offer)]);
    draft.notes = volume.notes;
    draft.assumptions = volume.assumptions;
    draft
        .notes
        .push("no prices of these volumes are known".to_owned());
    if let Some(name) = &offer.instance {
        let vendor = offer.volume.split('/').next().unwrap_or_default();
        if name.split('/').next() != Some(vendor) {
            let message = format!("a volume of {vendor} cannot be attached to {name}");
            return Err(Refusal::new(Part::Instance, message));
        }
        let machine = Machine::find(catalog, name)?;
        draft.instance = Some(machine.limits());
        draft.purchase.machine_hour = machine.hour();
    }
    Ok(draft)
}

fn volumes_asked(offer: &Offer) -> usize {
    offer.count.map_or(1, |count| count.get() as usize)
}

fn volumes(catalog: &Catalog, kind: Kind, offer: &Offer) -> Result<Draft, Refusal> {
    let instance = match &offer.instance {
        Some(name) if foreign::is_foreign(name) => {
            let message = format!("{} is a volume of EBS: {name} takes none", offer.volume);
            return Err(Refusal::new(Part::Instance, message));
        }
        Some(name) => Some(find_instance(catalog, offer, name)?),
        None => None,
    };
    let host = instance.as_ref().map(|instance| ebs::Host {
        family: family(&instance.name),
        nitro: instance.nitro,
    });
    let volume = ebs::volume(catalog, kind, offer, host)?;
    let asked = volumes_asked(offer);
    let mut draft = Draft::of(vec![volume.spec; asked]);
    draft.bounds = volume.bounds;
    draft.assumptions = volume.assumptions;
    draft.notes = volume.notes;
    draft.purchase = Purchase {
        volume: Some(volume.priced_as),
        volumes: asked as f64,
        gib: volume.size_gib as f64,
        iops: volume.iops.map(|iops| iops as f64),
        mibps: volume.throughput_mibps.map(|mibps| mibps as f64),
        included_iops: volume.included_iops,
        included_mibps: volume.included_mibps,
        instance: offer.instance.clone(),
        machine_hour: None,
    };
    match &instance {
        Some(instance) => attach(catalog, offer, instance, asked, &mut draft)?,
        None => draft.notes.push(
            "no instance is named: @INSTANCE adds what the instance grants to its volumes"
                .to_owned(),
        ),
    }
    Ok(draft)
}

/// Puts the volumes on their instance.
fn attach(
    catalog: &Catalog,
    offer: &Offer,
    instance: &Instance,
    asked: usize,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let name = &instance.name;
    match &instance.attachments {
        Some(most) if asked as f64 > most.value => {
            let message = format!("{name} takes at most {} volumes", count(most.value));
            return Err(Refusal::new(Part::Count, message));
        }
        Some(most) => draft.bounds.push(most.clone().bound(name, "attachments")),
        None if asked > 1 => draft.notes.push(format!(
            "how many volumes {name} takes is not documented in the catalog; {asked} are assumed to fit"
        )),
        None => (),
    }
    draft.bounds.extend(common_limits(catalog, offer.as_of));
    match &instance.ebs {
        Some(ebs) => draft.instance = Some(grant(name, ebs)),
        None => draft.notes.push(format!(
            "no document gives the EBS limits of {name}: only those of the volume hold"
        )),
    }
    Ok(())
}

/// A type that bursts holds its maximum for 30 minutes at least once in 24 hours.
const BURST_SECONDS: f64 = 1800.0;
const BURST_AGAIN: Nanos = Nanos::from_secs(86_400);

fn grant(name: &str, ebs: &Ebs) -> InstanceSpec {
    let mut spec = InstanceSpec {
        name: name.to_owned(),
        caps: Vec::new(),
        credits: Vec::new(),
    };
    let mut add = |what: &str, base: &Figure, max: &Figure, rate: fn(f64) -> Rate| {
        let (base_rate, max_rate) = (rate(base.value), rate(max.value));
        if base.value < max.value {
            spec.credits.push(Credit {
                name: what.to_owned(),
                baseline: base_rate,
                burst: max_rate,
                capacity: (max_rate.per_second() - base_rate.per_second()) * BURST_SECONDS,
                initial_share: 1.0,
                full_again: Some(BURST_AGAIN),
                origin: max.origin.clone(),
            });
        } else {
            spec.caps.push(Cap {
                bucket: BUCKET,
                ..Cap::new(what, max_rate, max.origin.clone())
            });
        }
    };
    add("EBS IOPS", &ebs.base_iops, &ebs.max_iops, Rate::Iops);
    add("EBS throughput", &ebs.base_mb, &ebs.max_mb, Rate::MbPerS);
    spec
}

/// Lets a measured device stand in for what nobody promises.
fn stand_in(
    catalog: &Catalog,
    offer: &Offer,
    profile: Option<DeviceSpec>,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let Some(asked) = &offer.profile else {
        return Ok(());
    };
    let part = Part::Key("profile");
    if asked == "average" {
        let kind = catalog.ebs_type(&offer.volume);
        return match kind.is_some_and(|kind| kind.iops == IopsRule::BestEffort) {
            true => Ok(()),
            false => Err(Refusal::new(
                part,
                format!("no average of {} is documented", offer.volume),
            )),
        };
    }
    if draft.volumes.iter().any(|volume| volume.service.is_some()) {
        let message = format!(
            "{} has documented limits; a profile stands in only where nobody promises any",
            offer.volume
        );
        return Err(Refusal::new(part, message));
    }
    let Some(measured) = profile.and_then(|spec| spec.volumes.into_iter().next()) else {
        return Ok(());
    };
    for volume in &mut draft.volumes {
        *volume = VolumeSpec {
            kind: volume.kind.clone(),
            capacity: volume.capacity,
            ..measured.clone()
        };
    }
    draft.assumptions.push(format!(
        "{asked} stands in for {}, for which nobody promises anything",
        offer.volume
    ));
    Ok(())
}
