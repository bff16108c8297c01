//! From an address to a device: which limits and prices hold on that day in that region.

use std::path::Path;

use blocklab_device::{Credit, DeviceSpec, InstanceSpec, Limit, LimitUnit, Rate, VolumeSpec};
use blocklab_units::{count, did_you_mean, nearest};
use blocklab_workload::{Address, Date, Offer, address::Part};

use crate::cost::{Cost, purchase, total};
use crate::delivered::deliver;
use crate::draft::{Draft, cap};
use crate::error::{Refusal, refuse_settings};
use crate::figure::Figure;
use crate::instance::{Ebs, Instance, common_limits, family};
use crate::machine::Machine;
use crate::price::Price;
use crate::remarks::Remark;
use crate::vendor::{Vendor, vendor_in};
use crate::volumes::{self, HostClass, IopsRule, Kind};
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
    /// What is assumed of the device, one sentence each.
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

impl Resolved {
    /// A month of 730 hours, in [`Resolved::currency`]; `None`: a part has no price, which the notes
    /// name. What is billed by use is not in it.
    pub fn per_month(&self) -> Option<f64> {
        total(&self.costs).filter(|_| !self.partly_unpriced)
    }

    /// `USD`, or `CNY` in the regions of China.
    pub fn currency(&self) -> &'static str {
        self.costs.first().map_or("USD", |cost| cost.currency)
    }
}

/// Finds the device that an address names.
///
/// # Errors
/// When there is no such thing on that day, with what there is; when a device file is wrong.
pub fn resolve(address: &Address, catalog: &Catalog) -> Result<Resolved, Error> {
    match address {
        Address::File(path) => resolve_file(address, path),
        Address::Sold(offer) => {
            let profile = profile(offer)?;
            resolve_offer(catalog, offer, profile)
                .map_err(|refusal| Error::refused(address, refusal))
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

/// The device of a file, which has no prices.
fn resolve_file(address: &Address, path: &str) -> Result<Resolved, Error> {
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

/// The device file that the key `profile` names by its path; `None` where it is the name of a profile
/// in the tables.
fn profile(offer: &Offer) -> Result<Option<DeviceSpec>, Error> {
    let path = match offer.named_profile() {
        Some(_) => None,
        None => offer.profile.as_deref(),
    };
    path.map(Path::new).map(device_file::load).transpose()
}

/// The device of an offer, with the latencies of a measured profile if one is given.
fn resolve_offer(
    catalog: &Catalog,
    offer: &Offer,
    profile: Option<DeviceSpec>,
) -> Result<Resolved, Refusal> {
    let offer = &catalog.with_known_names(offer)?;
    let region = region(catalog, offer)?;
    let mut draft = draft(catalog, offer)?;
    // Before the credits are set: a measured device has its own, and they begin as the address says.
    apply_profile(catalog, offer, profile, &mut draft)?;
    begin_with_credits(offer, &mut draft)?;
    Ok(finished(catalog, offer, &region, draft))
}

/// The volumes of a draft, with their limits, their prices, and what they rest on.
pub(crate) fn finished(catalog: &Catalog, offer: &Offer, region: &str, draft: Draft) -> Resolved {
    let about = remarks::about(offer, &draft.volume.kind);
    let mut resolved = billed(catalog, offer, region, draft);
    resolved.notes.extend(about);
    resolved
}

/// A draft with what it costs; it need not have a volume.
fn billed(catalog: &Catalog, offer: &Offer, region: &str, draft: Draft) -> Resolved {
    let address = Address::Sold(offer.clone());
    let spec = DeviceSpec {
        name: address.to_string(),
        ..draft.spec()
    };
    let bill = purchase(catalog, offer, region, &draft.purchase);
    let mut limits = spec.limits();
    limits.extend(draft.bounds);
    let mut assumptions = draft.assumptions;
    assumptions.extend(spec.assumptions());
    let mut cost_notes = draft.cost_notes;
    cost_notes.extend(bill.notes);
    cost_notes.extend(remarks::future(catalog, offer));
    Resolved {
        address,
        spec,
        limits,
        prices: bill.prices,
        costs: bill.costs,
        assumptions,
        cost_assumptions: bill.assumptions,
        notes: draft.notes,
        cost_notes,
        partly_unpriced: bill.incomplete,
    }
}

/// What the burst buckets hold at first, where the address says so.
fn begin_with_credits(offer: &Offer, draft: &mut Draft) -> Result<(), Refusal> {
    let machine = draft.instance.as_ref();
    let has_credits = [
        !draft.volume.credits.is_empty(),
        machine.is_some_and(|spec| !spec.credits.is_empty()),
    ];
    let of_machine = draft.instance.as_mut().map(|spec| &mut spec.credits);
    let both = [
        ("credits", offer.credits, Some(&mut draft.volume.credits)),
        ("instance-credits", offer.instance_credits, of_machine),
    ];
    for (key, percent, credits) in both {
        let Some(percent) = percent else { continue };
        let credits = credits.map_or(&mut [][..], |credits| &mut credits[..]);
        if credits.is_empty() {
            let message = match has_credits {
                [true, _] => "only the volume has burst credits: `credits` sets them",
                [_, true] => "only the machine has burst credits: `instance-credits` sets them",
                _ => "nothing of it has burst credits: leave the key out",
            };
            return Err(Refusal::new(Part::Key(key), message));
        }
        for credit in credits {
            credit.initial_share = f64::from(percent) / 100.0;
        }
    }
    // The host's cache is part of the machine, so its buckets begin as those of the machine do.
    let cache = draft.instance.as_mut().and_then(|spec| spec.cache.as_mut());
    if let (Some(percent), Some(cache)) = (offer.instance_credits, cache) {
        for credit in &mut cache.credits {
            credit.initial_share = f64::from(percent) / 100.0;
        }
    }
    Ok(())
}

/// The region whose prices hold; a name that no list has is a mistake.
fn region(catalog: &Catalog, offer: &Offer) -> Result<String, Refusal> {
    // `local` is a name of every vendor: the machine tells whose it is.
    let named = match (offer.volume.as_str(), &offer.instance) {
        (local::NAME, Some(machine)) => machine,
        (volume, _) => volume,
    };
    let Some(region) = &offer.region else {
        return Ok(catalog.vendor_of(named).region);
    };
    let known = catalog.known_region(named, region);
    known.map_err(|message| Refusal::new(Part::Key("region"), message))?;
    Ok(region.clone())
}

/// The device of an offer before a profile and credits are applied to it.
fn draft(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let instance = offer.instance.as_deref();
    match offer.volume.as_str() {
        local::NAME => match instance {
            None => Err(Refusal::new(
                Part::Volume,
                "the disks of which instance? For example local@i3.xlarge",
            )),
            Some(name) => match Machine::find(catalog, name) {
                Some(machine) => machine.disks(offer),
                // A name with a slash has a vendor before it, so it is no EC2 instance type.
                None if name.contains('/') => Err(catalog.no_such_machine(name)),
                None => local_disks(catalog, offer, name),
            },
        },
        name => match catalog.volume_type(name) {
            Some(kind) => volumes(catalog, kind, offer),
            None => Err(unknown_volume(catalog, name)),
        },
    }
}

/// The refusal of a volume type, with the names that may have been meant.
fn unknown_volume(catalog: &Catalog, name: &str) -> Refusal {
    let types = catalog.volume_types();
    let instances = catalog.instance_types();
    let message = if let Some(instance) = catalog.instance(name, None) {
        let disks = instance.store.map_or_else(String::new, |_| {
            format!("local@{name} names its own disks, ")
        });
        format!("{name} is an instance type: {disks}gp3:1TiB@{name} names a volume on it")
    } else if name.contains('.')
        && let Some(near) = nearest(name, instances.iter().copied())
    {
        // Names of instance types have a dot, and those of volume types have none.
        format!("no volume or instance type {name}; did you mean {near}?")
    } else {
        let mut near: Vec<&str> = types.iter().map(String::as_str).collect();
        near.retain(|known| vendor_in(known) == vendor_in(name));
        let hint = did_you_mean(name, near.iter().copied(), || {
            if let Some(full) = other_vendor(catalog, name) {
                return format!("did you mean {full}?");
            }
            match (sizes_of(catalog, name).as_slice(), near.as_slice()) {
                ([], []) => format!("the vendors are {}", catalog.vendor_names().join(", ")),
                ([], near) => format!("the types are {}", near.join(", ")),
                (sizes, _) => format!("as a machine it comes as {}", sizes.join(", ")),
            }
        });
        format!("no volume type {name}; {hint}")
    };
    Refusal::new(Part::Volume, message)
}

/// The volume type of another vendor that has this name, which was written without the vendor.
fn other_vendor(catalog: &Catalog, name: &str) -> Option<String> {
    let mut full = catalog
        .vendor_names()
        .into_iter()
        .map(|vendor| format!("{vendor}/{name}"));
    full.find(|full| catalog.volume_type(full).is_some())
}

/// The instance types of the family of this name (`i3`, or with a size that it lacks), the smallest first.
fn sizes_of<'c>(catalog: &'c Catalog, name: &str) -> Vec<&'c str> {
    let mut sizes = catalog.instance_types();
    sizes.retain(|known| family(known) == family(name));
    sizes.sort_by_key(|size| {
        catalog
            .instance(size, None)
            .and_then(|instance| instance.vcpus)
    });
    sizes
}

/// The instance type on the day of the offer.
fn find_instance(catalog: &Catalog, offer: &Offer, name: &str) -> Result<Instance, Refusal> {
    if let (Some(since), Some(day)) = (catalog.sold_since(name), offer.as_of)
        && day < since
    {
        let message = format!("{name} is sold since {since}; {day} is earlier");
        return Err(Refusal::new(Part::Key("as-of"), message));
    }
    catalog.instance(name, offer.as_of).ok_or_else(|| {
        let hint = match sizes_of(catalog, name).as_slice() {
            [] => did_you_mean(name, catalog.instance_types(), || {
                "`blocklab catalog list` shows them".to_owned()
            }),
            sizes => did_you_mean(name, sizes.iter().copied(), || {
                format!("{} comes as {}", family(name), sizes.join(", "))
            }),
        };
        Refusal::new(Part::Instance, format!("no instance type {name}; {hint}"))
    })
}

/// The disks that an instance has itself.
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

/// A cache of the host, and a choice of interfaces, are those of machines of other vendors; the cache also
/// of types that may have one.
fn check_machine_keys(catalog: &Catalog, kind: &Kind, offer: &Offer) -> Result<(), Refusal> {
    let is_own = catalog.vendor_of(&kind.name).machines == catalog.own_vendor();
    let (key, lacking) = if offer.cache.as_deref().is_some_and(|cache| cache != "none") {
        let is_lacking = is_own || kind.is_uncached;
        ("cache", is_lacking.then_some("cache of the host"))
    } else if offer.hits.is_some() {
        let message = "hits of which cache? cache=readonly";
        return Err(Refusal::new(Part::Key("hits"), message));
    } else if offer.interface.is_some() {
        ("interface", is_own.then_some("choice of interfaces"))
    } else {
        return Ok(());
    };
    let message = match (lacking, &offer.instance) {
        (Some(what), _) => format!("{} has no {what}", kind.name),
        (None, None) => format!("the {key} is the machine's: name it with @MACHINE"),
        (None, Some(_)) => return Ok(()),
    };
    Err(Refusal::new(Part::Key(key), message))
}

/// Volumes, alone or attached to a machine.
fn volumes(catalog: &Catalog, kind: Kind, offer: &Offer) -> Result<Draft, Refusal> {
    check_machine_keys(catalog, &kind, offer)?;
    let vendor = catalog.vendor_of(&kind.name);
    // `refused` of a type with limits only says that it cannot be attached to a machine of choice.
    if !kind.refused.is_empty() && kind.has_no_limits() {
        return Err(Refusal::new(Part::Volume, kind.refused));
    }
    let Some(name) = &offer.instance else {
        let mut draft = volumes::volume(catalog, kind, offer, None)?;
        draft.notes.push(
            "no instance is named: @INSTANCE adds what the instance grants to its volumes"
                .to_owned()
                .into(),
        );
        return Ok(draft);
    };
    if !kind.refused.is_empty() {
        return Err(Refusal::new(Part::Instance, kind.refused));
    }
    // Services that run on EC2 instances (RDS) write a prefix before the name of the instance type.
    if vendor.machines == catalog.own_vendor() {
        let bare = bare_name(&vendor, name, &kind)?;
        let instance = find_instance(catalog, offer, bare)?;
        let host = HostClass {
            family: family(&instance.name).to_owned(),
            nitro: instance.nitro,
        };
        let mut draft = volumes::volume(catalog, kind, offer, Some(&host))?;
        attach(catalog, offer, &instance, &mut draft)?;
        rename_balances(&vendor, name, &mut draft);
        return Ok(draft);
    }
    if catalog.vendor_of(name) != vendor {
        let message = format!("a volume of {} cannot be attached to {name}", vendor.name);
        return Err(Refusal::new(Part::Instance, message));
    }
    let Some(machine) = Machine::find(catalog, name) else {
        return Err(catalog.no_such_machine(name));
    };
    on_machine(catalog, kind, offer, &machine)
}

/// The instance type behind what a service writes before it.
fn bare_name<'n>(vendor: &Vendor, name: &'n str, kind: &Kind) -> Result<&'n str, Refusal> {
    let message = match (
        name.contains('/'),
        name.strip_prefix(vendor.prefix.as_str()),
    ) {
        (false, Some(bare)) => return Ok(bare),
        (true, _) => format!("{} cannot be attached to {name}", kind.name),
        (false, None) => format!(
            "{} runs on machines that are called {}…, such as {}{name}",
            kind.name, vendor.prefix, vendor.prefix
        ),
    };
    Err(Refusal::new(Part::Instance, message))
}

/// The machine and its buckets by the names that the service gives them.
fn rename_balances(vendor: &Vendor, name: &str, draft: &mut Draft) {
    let [of_ops, of_bytes, of_volume] = &vendor.balances;
    for credit in &mut draft.volume.credits {
        add_balance(credit, of_volume);
    }
    let Some(spec) = &mut draft.instance else {
        return;
    };
    name.clone_into(&mut spec.name);
    for credit in &mut spec.credits {
        let balance = if credit.baseline.counts_bytes() {
            of_bytes
        } else {
            of_ops
        };
        add_balance(credit, balance);
    }
}

/// Adds the name that the service gives to a bucket, if it has one.
fn add_balance(credit: &mut Credit, balance: &str) {
    if !balance.is_empty() {
        credit.name = format!("{} ({balance})", credit.name);
    }
}

/// Volumes on a machine that the tables of all vendors describe.
fn on_machine(
    catalog: &Catalog,
    kind: Kind,
    offer: &Offer,
    machine: &Machine<'_>,
) -> Result<Draft, Refusal> {
    let (groups, volume) = (kind.group.clone(), kind.name.clone());
    let mut draft = volumes::volume(catalog, kind, offer, None)?;
    let (name, wanted) = (&machine.name, draft.volumes);
    if let Some(most) = machine.attachments() {
        if wanted as f64 > most.value {
            let message = format!("{name} takes at most {} volumes", count(most.value));
            return Err(Refusal::new(Part::Count, message));
        }
        draft.bounds.push(most.bound(name, "attachments"));
    }
    draft.purchase.instance = Some(name.clone());
    match machine.limits(&groups, offer, &mut draft.assumptions)? {
        Some(granted) => {
            let granted = machine.with_cache(offer, granted, &mut draft.assumptions)?;
            // Limits of all volumes of a type together lie on the machine already, and hold besides.
            let by_size = draft.instance.take();
            draft.instance = Some(InstanceSpec {
                cache: granted.cache,
                name: granted.name,
                caps: by_size
                    .into_iter()
                    .flat_map(|spec| spec.caps)
                    .chain(granted.caps)
                    .collect(),
                credits: granted.credits,
            });
        }
        None => draft.notes.push(
            format!("no document gives the limits of {volume} on {name}: only its own hold").into(),
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
pub(crate) fn granted(instance: &Instance, as_of: Option<Date>) -> Option<InstanceSpec> {
    let mut granted = ebs_limits(&instance.name, instance.ebs.as_ref()?);
    deliver("instance", as_of, &mut granted.caps, &mut granted.credits);
    Some(granted)
}

/// An instance type that nothing is attached to: a device without volumes, which knows what the
/// instance grants to those that come.
pub(crate) fn instance_alone(catalog: &Catalog, offer: &Offer) -> Result<Resolved, Refusal> {
    let name = &offer.volume;
    let region = region(catalog, offer)?;
    no_volume_is_described(offer)?;
    let mut draft = Draft::of_machine(name);
    let attachments = if let Some(machine) = Machine::find(catalog, name) {
        draft.bounds = machine.all_limits();
        machine.attachments()
    } else {
        let instance = find_instance(catalog, offer, name)?;
        draft.instance = granted(&instance, offer.as_of);
        if draft.instance.is_none() {
            draft.notes.push(undocumented(name).into());
        }
        let attached = Offer {
            instance: Some(name.clone()),
            ..offer.clone()
        };
        draft.notes.extend(remarks::of_studies(&attached));
        instance.attachments
    };
    let attachments = attachments.map(|most| most.bound(name, "attachments"));
    draft.bounds.extend(attachments);
    Ok(billed(catalog, offer, &region, draft))
}

/// What describes a volume says nothing of an instance. A profile is one of its own disks.
fn no_volume_is_described(offer: &Offer) -> Result<(), Refusal> {
    let name = &offer.volume;
    let volume = match vendor_in(name) {
        Some(vendor) => format!("{vendor}/TYPE:1TiB"),
        None => "gp3:1TiB".to_owned(),
    };
    let message = |what: &str| {
        format!(
            "{name} is an instance type and takes no {what}: {volume}@{name} names a volume on it"
        )
    };
    if offer.count.is_some() {
        return Err(Refusal::new(Part::Count, message("count")));
    }
    refuse_settings(offer, &[], message)
}

/// A figure with a maximum above its base is a burst bucket, one without is a cap.
fn ebs_limits(name: &str, ebs: &Ebs) -> InstanceSpec {
    let mut spec = InstanceSpec::new(name);
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
            spec.caps.push(cap(what, most, &origin));
        }
    }
    spec
}

/// Replaces what no document promises by a measured device.
fn apply_profile(
    catalog: &Catalog,
    offer: &Offer,
    profile: Option<DeviceSpec>,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let Some(source) = &offer.profile else {
        return Ok(());
    };
    let part = Part::Key("profile");
    // The profiles of an instance's own disks are applied where the disks are described.
    if offer.volume == local::NAME && offer.named_profile().is_some() {
        return Ok(());
    }
    if let Some(name) = offer.named_profile() {
        // `average` is applied where a best-effort type is described; here only its name is checked.
        let kind = catalog.volume_type(&offer.volume);
        let has_average = kind.is_some_and(|kind| kind.iops == IopsRule::BestEffort);
        if has_average && name == "average" {
            return Ok(());
        }
        let other = if has_average {
            "; there is average"
        } else {
            ""
        };
        let message = format!("no {name} of {} is documented{other}", offer.volume);
        return Err(Refusal::new(part, message));
    }
    if draft.volume.service.is_some() {
        let message = format!(
            "{} has documented limits; a profile replaces only limits that no document gives",
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
        "{source} is used for {}, for which no document promises anything",
        offer.volume
    ));
    Ok(())
}
