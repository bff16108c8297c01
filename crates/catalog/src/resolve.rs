//! From an address to a device: which limits and prices hold on that day in that region.

use std::path::Path;

use blocklab_device::{
    Cap, Credit, DeviceSpec, InstanceSpec, Layout, Limit, LimitUnit, Rate, VolumeSpec,
};
use blocklab_units::{count, did_you_mean};
use blocklab_workload::{Address, Date, Offer, address::Part};

use crate::cost::{Cost, Purchase, purchase};
use crate::delivered::deliver;
use crate::draft::Draft;
use crate::ebs::{self, IopsRule, Kind};
use crate::error::Refusal;
use crate::figure::Figure;
use crate::foreign::{self, Machine};
use crate::instance::{Ebs, Instance, common_limits, family};
use crate::price::{DEFAULT_REGION, Price};
use crate::remarks::Remark;
use crate::stand_in::{BUCKET, REFILL};
use crate::{Catalog, Error, device_file, local, remarks};

/// A device, and everything that its figures rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The address, as typed.
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
    pub notes: Vec<Remark>,
    /// The same of its cost.
    pub cost_notes: Vec<String>,
    /// No price of a part is known: the costs have no sum.
    pub partly_unpriced: bool,
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

/// The device that a typed address names. What is refused is shown as it was typed.
///
/// # Errors
/// As [`Address::parse`] and [`resolve`].
pub fn resolve_text(text: &str, catalog: &Catalog) -> Result<Resolved, Error> {
    let address = Address::parse(text)?;
    resolve(&address, catalog).map_err(|error| error.echoing(text))
}

fn file(address: &Address, path: &str) -> Result<Resolved, Error> {
    let spec = device_file::load(Path::new(path))?;
    Ok(Resolved {
        address: address.clone(),
        limits: spec.limits(),
        assumptions: spec.assumptions(),
        cost_assumptions: Vec::new(),
        spec,
        prices: Vec::new(),
        costs: Vec::new(),
        notes: Vec::new(),
        cost_notes: Vec::new(),
        partly_unpriced: false,
    })
}

/// A device file that stands in for a promise.
fn profile(offer: &Offer) -> Result<Option<DeviceSpec>, Error> {
    let path = match offer.named_profile() {
        Some(_) => None,
        None => offer.profile.as_deref(),
    };
    path.map(|path| device_file::load(Path::new(path)))
        .transpose()
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
        volumes: vec![draft.volume; draft.volumes],
        layout: Layout::default(),
        instance: draft.instance,
        faults: Vec::new(),
    };
    let bill = purchase(catalog, offer, &region, &draft.purchase);
    let mut limits = spec.limits();
    limits.extend(draft.bounds);
    let mut assumptions = draft.assumptions;
    assumptions.extend(spec.assumptions());
    let mut notes = draft.notes;
    notes.extend(remarks::about(offer, &spec.volumes[0].kind));
    let mut cost_notes = draft.cost_notes;
    cost_notes.extend(bill.notes);
    cost_notes.extend(remarks::future(catalog, offer));
    Ok(Resolved {
        address,
        spec,
        limits,
        prices: bill.prices,
        costs: bill.costs,
        assumptions,
        cost_assumptions: bill.assumptions,
        notes,
        cost_notes,
        partly_unpriced: bill.incomplete,
    })
}

/// The region whose prices hold; a name that no list has is a mistake.
fn region(catalog: &Catalog, offer: &Offer) -> Result<String, Refusal> {
    let Some(region) = &offer.region else {
        return Ok(DEFAULT_REGION.to_owned());
    };
    let known = catalog.known_region(region);
    known.map_err(|message| Refusal::new(Part::Key("region"), message))?;
    Ok(region.clone())
}

fn draft(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let instance = offer.instance.as_deref();
    match offer.volume.as_str() {
        local::NAME => match instance {
            None => Err(Refusal::new(
                Part::Volume,
                "the disks of which instance? For example local@i3.xlarge",
            )),
            Some(name) if foreign::is_foreign(name) => {
                Machine::find(catalog, name)?.disk(catalog, offer)
            }
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
    if let (Some(since), Some(day)) = (catalog.sold_since(name), offer.as_of)
        && day < since
    {
        let message = format!("{name} is sold since {since}; {day} is earlier");
        return Err(Refusal::new(Part::Key("as-of"), message));
    }
    catalog.instance(name, offer.as_of).ok_or_else(|| {
        let types = catalog.instance_types();
        let names = types.iter().map(AsRef::<str>::as_ref);
        let mut sizes: Vec<_> = names.clone().collect();
        sizes.retain(|known| family(known) == name);
        sizes.sort_by_key(|size| {
            catalog
                .instance(size, None)
                .and_then(|instance| instance.vcpus)
        });
        let hint = match sizes.as_slice() {
            [] => did_you_mean(name, names, || {
                "`blocklab catalog list` shows them".to_owned()
            }),
            sizes => format!("{name} comes as {}", sizes.join(", ")),
        };
        Refusal::new(Part::Instance, format!("no instance type {name}; {hint}"))
    })
}

fn local_disks(catalog: &Catalog, offer: &Offer, name: &str) -> Result<Draft, Refusal> {
    let instance = find_instance(catalog, offer, name)?;
    let mut draft = local::disks(catalog, offer, &instance)?;
    let lost = "what an instance's own disks hold is lost when it stops; they come with its price";
    draft.cost_notes.push(lost.to_owned());
    draft.bounds = store_limits(&instance);
    Ok(draft)
}

/// The figures as they are documented or were measured: those of all disks together.
fn store_limits(instance: &Instance) -> Vec<Limit> {
    let Some(store) = &instance.store else {
        return Vec::new();
    };
    let name = &instance.name;
    let figures = [
        ("reads of 4 KiB, all disks", &store.read_iops),
        ("writes of 4 KiB, all disks", &store.write_iops),
        ("read throughput, all disks", &store.read_mb),
        ("write throughput, all disks", &store.write_mb),
    ];
    let known = figures.into_iter().filter_map(|(what, figure)| {
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
    std::iter::once(size).chain(known).collect()
}

fn foreign_volumes(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let mut draft = foreign::volume(catalog, offer)?;
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
    let mut draft = ebs::volume(catalog, kind, offer, host)?;
    match &instance {
        Some(instance) => attach(catalog, offer, instance, &mut draft)?,
        None => draft.notes.push(
            "no instance is named: @INSTANCE adds what the instance grants to its volumes"
                .to_owned()
                .into(),
        ),
    }
    Ok(draft)
}

/// Puts the volumes on their instance.
fn attach(
    catalog: &Catalog,
    offer: &Offer,
    instance: &Instance,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let (name, wanted) = (&instance.name, draft.volumes);
    match &instance.attachments {
        Some(most) if wanted as f64 > most.value => {
            let message = format!("{name} takes at most {} volumes", count(most.value));
            return Err(Refusal::new(Part::Count, message));
        }
        Some(most) => draft.bounds.push(most.clone().bound(name, "attachments")),
        None if wanted > 1 => draft.notes.push(
            format!(
                "how many volumes {name} takes is not documented in the catalog; {wanted} are \
                 assumed to fit"
            )
            .into(),
        ),
        None => (),
    }
    draft.bounds.extend(common_limits(catalog, offer.as_of));
    draft.instance = granted(instance, offer.as_of);
    if draft.instance.is_none() {
        let unknown = format!("{}: only those of the volume hold", undocumented(name));
        draft.notes.push(unknown.into());
    }
    Ok(())
}

fn undocumented(name: &str) -> String {
    format!("no document gives the EBS limits of {name}")
}

/// What the instance grants to all its volumes together.
fn granted(instance: &Instance, as_of: Option<Date>) -> Option<InstanceSpec> {
    let mut granted = grant(&instance.name, instance.ebs.as_ref()?);
    deliver("instance", as_of, &mut granted.caps, &mut granted.credits);
    Some(granted)
}

/// An instance type that nothing is attached to: a device without volumes, which knows what the
/// instance grants to those that come.
pub(crate) fn instance_alone(catalog: &Catalog, offer: &Offer) -> Result<Resolved, Refusal> {
    let name = &offer.volume;
    let region = region(catalog, offer)?;
    no_volume_is_described(offer)?;
    let instance = find_instance(catalog, offer, name)?;
    let address = Address::Sold(offer.clone());
    let spec = DeviceSpec {
        name: address.to_string(),
        volumes: Vec::new(),
        layout: Layout::default(),
        instance: granted(&instance, offer.as_of),
        faults: Vec::new(),
    };
    let purchase_of_it = Purchase {
        instance: Some(name.clone()),
        ..Purchase::default()
    };
    let bill = purchase(catalog, offer, &region, &purchase_of_it);
    let mut limits = spec.limits();
    let attachments = instance
        .attachments
        .map(|most| most.bound(name, "attachments"));
    limits.extend(attachments);
    let unknown = spec.instance.is_none().then(|| undocumented(name).into());
    let mut notes: Vec<Remark> = unknown.into_iter().collect();
    let attached = Offer {
        instance: Some(name.clone()),
        ..offer.clone()
    };
    notes.extend(remarks::of_studies(&attached));
    let mut cost_notes = bill.notes;
    cost_notes.extend(remarks::future(catalog, offer));
    Ok(Resolved {
        address,
        limits,
        prices: bill.prices,
        costs: bill.costs,
        assumptions: spec.assumptions(),
        cost_assumptions: bill.assumptions,
        spec,
        notes,
        cost_notes,
        partly_unpriced: bill.incomplete,
    })
}

/// What describes a volume says nothing of an instance.
fn no_volume_is_described(offer: &Offer) -> Result<(), Refusal> {
    let given = [
        (Part::Count, offer.count.is_some(), "no count"),
        (Part::Size, offer.size.is_some(), "no size"),
        (Part::Key("iops"), offer.iops.is_some(), "no IOPS"),
        (
            Part::Key("throughput"),
            offer.throughput_mibps.is_some(),
            "no throughput",
        ),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((part, _, nothing)) => Err(Refusal::new(
            part,
            format!(
                "{name} is an instance type and takes {nothing}: gp3:1TiB@{name} names a volume on it",
                name = offer.volume
            ),
        )),
        None => Ok(()),
    }
}

fn grant(name: &str, ebs: &Ebs) -> InstanceSpec {
    let mut spec = InstanceSpec {
        name: name.to_owned(),
        caps: Vec::new(),
        credits: Vec::new(),
    };
    let iops: fn(f64) -> Rate = Rate::Iops;
    let granted = [
        ("EBS IOPS", &ebs.base_iops, &ebs.max_iops, iops),
        ("EBS throughput", &ebs.base_mb, &ebs.max_mb, Rate::MbPerS),
    ];
    for (what, base, max, rate) in granted {
        let (most, origin) = (rate(max.value), max.origin.clone());
        if base.value < max.value {
            let credit = Credit::half_hour(what, rate(base.value), most, origin);
            spec.credits.push(credit);
        } else {
            spec.caps.push(Cap {
                bucket: BUCKET,
                refill_share: REFILL,
                ..Cap::new(what, most, origin)
            });
        }
    }
    spec
}

/// Lets a measured device stand in for what nobody promises.
fn stand_in(
    catalog: &Catalog,
    offer: &Offer,
    profile: Option<DeviceSpec>,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let Some(source) = &offer.profile else {
        return Ok(());
    };
    let part = Part::Key("profile");
    if offer.volume == local::NAME && offer.named_profile().is_some() {
        return Ok(());
    }
    if let Some(name) = offer.named_profile() {
        let kind = catalog.ebs_type(&offer.volume);
        let known = name == "average" && kind.is_some_and(|kind| kind.iops == IopsRule::BestEffort);
        return if known {
            Ok(())
        } else {
            Err(Refusal::new(
                part,
                format!("no {name} of {} is documented", offer.volume),
            ))
        };
    }
    if draft.volume.service.is_some() {
        let message = format!(
            "{} has documented limits; a profile stands in only where nobody promises any",
            offer.volume
        );
        return Err(Refusal::new(part, message));
    }
    let Some(measured) = profile.and_then(|spec| spec.volumes.into_iter().next()) else {
        return Ok(());
    };
    draft.volume = VolumeSpec {
        kind: draft.volume.kind.clone(),
        capacity: draft.volume.capacity,
        ..measured
    };
    draft.assumptions.push(format!(
        "{source} stands in for {}, for which nobody promises anything",
        offer.volume
    ));
    Ok(())
}
