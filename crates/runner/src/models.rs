//! In: the addresses of a run's modelled targets. Out: their devices, one for each volume and shared
//! by the volumes of an instance; and what the devices counted during a measurement.
//!
//! ```text
//!   sim:gp3:1TiB@m5.large            one volume ┐
//!   sim:gp3:1024GiB@m5.large         the same   ├─ one instance
//!   sim:gp2:1TiB@m5.large            another    ┘
//!   sim:gp2:1TiB,host=b@m5.large     another, on another instance
//! ```

use std::collections::{BTreeMap, BTreeSet};

use blocklab_catalog::{Catalog, Resolved, resolve};
use blocklab_device::{Device, DeviceUse, Invalid, LimitName, SharedInstance};
use blocklab_driver::{Backing, Reopen, TargetFile};
use blocklab_record::{LimitUse, ModelUse, Note, NoteLevel, TargetFacts, TargetKind, TargetUse};
use blocklab_targets::Model;
use blocklab_units::Nanos;
use blocklab_workload::Plan;
use blocklab_workload::{Address, Target};

use crate::Error;
use crate::opened_target::OpenedTarget;

/// The clock of a modelled target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Clock {
    Virtual,
    Real,
}

/// The clock and the address of a modelled target.
fn modelled(target: Target) -> Option<(Clock, Address)> {
    match target {
        Target::Sim(address) => Some((Clock::Virtual, address)),
        Target::Emu(address) => Some((Clock::Real, address)),
        Target::Path(_) | Target::Null => None,
    }
}

/// A machine.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Host {
    clock: Clock,
    /// Its type.
    instance: String,
    /// Its name, if a run has several of that type.
    name: Option<String>,
}

/// The machine of a volume; `None` for a device from a file, and for a volume without an instance.
fn host(clock: Clock, address: &Address) -> Option<Host> {
    let Address::Sold(offer) = address else {
        return None;
    };
    Some(Host {
        clock,
        instance: offer.instance.clone()?,
        name: offer.host.clone(),
    })
}

/// A device that was opened.
struct Opened {
    clock: Clock,
    /// The first target that named it, as the user wrote it.
    text: String,
    model: Model,
    /// Its address is in the normal form.
    resolved: Resolved,
    /// The first index of its machine in [`Models::shared`].
    instance: Option<usize>,
}

/// Opens the devices of a run, each volume and each instance once.
pub(crate) struct Models {
    /// Machines with more than one volume; a volume that is alone needs no shared instance.
    crowded: BTreeSet<Host>,
    /// Their limits, which the volumes on one machine share: an entry for each way in which it is reached,
    /// with a cache or without.
    shared: Vec<(Host, SharedInstance)>,
    opened: Vec<Opened>,
    seed: u64,
    pub(crate) notes: Vec<Note>,
}

impl Models {
    /// `texts` are all targets of the run, each once.
    pub(crate) fn new<'t>(
        texts: impl Iterator<Item = &'t str>,
        catalog: &Catalog,
        seed: u64,
    ) -> Self {
        let mut attached: BTreeMap<Host, Vec<Address>> = BTreeMap::new();
        // A text that is not an address is refused when it is opened.
        let targets = texts.filter_map(|text| Target::parse(text).ok());
        for (clock, typed) in targets.filter_map(modelled) {
            // A machine has several names; the normal form of the address has one.
            let Ok(Resolved { address, .. }) = resolve(&typed, catalog) else {
                continue;
            };
            if let Some(host) = host(clock, &address) {
                let volumes = attached.entry(host).or_default();
                if !volumes.contains(&address) {
                    volumes.push(address);
                }
            }
        }
        attached.retain(|_, volumes| volumes.len() > 1);
        Self {
            crowded: attached.into_keys().collect(),
            shared: Vec::new(),
            opened: Vec::new(),
            seed,
            notes: Vec::new(),
        }
    }

    /// The device behind `sim:ADDRESS` or `emu:ADDRESS`, with full burst buckets; `None` for any
    /// other text.
    pub(crate) fn open(
        &mut self,
        text: &str,
        catalog: &Catalog,
    ) -> Result<Option<OpenedTarget>, Error> {
        let target = Target::parse(text).map_err(|error| wrong_address(text, &error))?;
        let Some((clock, address)) = modelled(target) else {
            return Ok(None);
        };
        // The error repeats the address as the user wrote it and not in its normal form.
        let typed = Target::address_text(text).unwrap_or_default();
        let resolved = resolve(&address, catalog)
            .map_err(|error| wrong_address(text, &error.echoing(typed)))?;
        let same = self
            .opened
            .iter()
            .find(|known| known.clock == clock && known.resolved.address == resolved.address);
        // Two names of one volume must share its state: its limits count for both together.
        if let Some(known) = same {
            self.notes.push(same_volume(&known.text, text));
            return Ok(Some(known.target(text)));
        }
        let (device, instance) = self
            .device(clock, &resolved)
            .map_err(|error| wrong_address(text, &error))?;
        let opened = Opened {
            clock,
            text: text.to_owned(),
            model: Model::new(device),
            resolved,
            instance,
        };
        let target = opened.target(text);
        self.opened.push(opened);
        Ok(Some(target))
    }

    /// Makes a device, and gives the index in `shared` of the machine whose limits it shares; `None`: it
    /// shares none.
    fn device(
        &mut self,
        clock: Clock,
        resolved: &Resolved,
    ) -> Result<(Device, Option<usize>), Invalid> {
        let spec = &resolved.spec;
        let host = host(clock, &resolved.address).filter(|host| self.crowded.contains(host));
        let (Some(host), Some(instance)) = (host, &spec.instance) else {
            return Ok((Device::new(spec, self.seed)?, None));
        };
        // The limits are compared, too: the same type as it was sold on another day is another machine.
        let known = self
            .shared
            .iter()
            .position(|(known, shared)| *known == host && shared.spec() == instance);
        let index = known.unwrap_or_else(|| {
            let same_host = self.shared.iter().filter(|(known, _)| *known == host);
            // One machine can be reached with a cache and without. The limits that both ways pass
            // are one device, so they are shared. A way through the same cache comes first, since that
            // shares the limits of the cache as well.
            let (same_cache, others): (Vec<&SharedInstance>, Vec<&SharedInstance>) = same_host
                .map(|(_, shared)| shared)
                .partition(|shared| shared.has_cache_limits_of(instance));
            let partly_shared = same_cache
                .into_iter()
                .chain(others)
                .find_map(|shared| shared.share_limiters_with(instance));
            let added = partly_shared.unwrap_or_else(|| SharedInstance::new(instance));
            self.shared.push((host, added));
            self.shared.len() - 1
        });
        let (_, shared) = &self.shared[index];
        let device = Device::on_shared(spec, self.seed, shared)?;
        let machine = self
            .shared
            .iter()
            .position(|(_, other)| other.is_same_machine(shared));
        Ok((device, machine))
    }
}

impl Opened {
    /// The target of this name on the device; several names of one volume share its state.
    fn target(&self, text: &str) -> OpenedTarget {
        let size = self.model.lock().device.capacity();
        let facts = TargetFacts {
            path: text.to_owned(),
            kind: TargetKind::Model,
            size_bytes: size,
            limits: self.resolved.limits.clone(),
            assumptions: self.resolved.assumptions.clone(),
            ..TargetFacts::default()
        };
        let file = TargetFile {
            path: text.into(),
            reopen: Reopen::Name,
            size: size.0,
            may_write: true,
            backing: match self.clock {
                Clock::Virtual => Backing::Simulated(self.model.clone()),
                Clock::Real => Backing::Emulated(self.model.clone()),
            },
        };
        OpenedTarget {
            instance: self.instance,
            ..OpenedTarget::new(file, facts)
        }
    }
}

fn wrong_address(text: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Address {
        text: text.to_owned(),
        message: error.to_string(),
    }
}

fn same_volume(first: &str, second: &str) -> Note {
    let text = format!(
        "{first} and {second} are one volume; volume=a and volume=b in the addresses make two"
    );
    Note::new(NoteLevel::Approximated, "target", text)
}

/// A note for each modelled target that a job names more than once.
pub(crate) fn named_twice(plan: &Plan, default: &[String]) -> Vec<Note> {
    let jobs = plan.jobs();
    let mut lists: Vec<&[String]> = jobs.map(|job| &*job.targets).collect();
    lists.push(default);
    let mut found = BTreeSet::new();
    for list in lists {
        for (place, text) in list.iter().enumerate() {
            if Target::is_model(text) && list[..place].contains(text) {
                found.insert(text);
            }
        }
    }
    found
        .into_iter()
        .map(|text| same_volume(text, text))
        .collect()
}

/// What a target's device has counted so far.
pub(crate) struct Counted {
    target: u32,
    /// The index of its machine, if it shares that.
    instance: Option<usize>,
    model: Model,
    so_far: DeviceUse,
}

impl Counted {
    /// `None` for a target that is not a model.
    pub(crate) fn read(place: usize, target: &OpenedTarget) -> Option<Self> {
        let (Backing::Simulated(model) | Backing::Emulated(model)) = &target.file.backing else {
            return None;
        };
        Some(Self {
            target: place as u32,
            instance: target.instance,
            so_far: model.lock().device.use_so_far(),
            model: model.clone(),
        })
    }
}

/// What the devices counted since `before`; `start` is the start of the measurement. `None` without a
/// model. A volume that two targets name is in it once.
pub(crate) fn since(before: &[Counted], start: Nanos) -> Option<ModelUse> {
    let mut found = ModelUse::default();
    for (place, counted) in before.iter().enumerate() {
        if is_known(counted, &before[..place]) {
            continue;
        }
        let used = counted
            .model
            .lock()
            .device
            .use_so_far()
            .since(&counted.so_far);
        found.targets.push(TargetUse {
            target: counted.target,
            ios: used.ios,
            bytes: used.bytes,
            in_device_ns: used.in_device_ns,
        });
        // A limit that nothing was charged to, such as one of writes in a run that only reads, would
        // be a row of zeros.
        for limit in used.limits.into_iter().filter(|limit| limit.units > 0) {
            let targets = match counted.instance {
                // A limit without volumes is one of the instance.
                Some(instance) if limit.limit.volumes.is_none() => {
                    attached(before, instance, &limit.limit)
                }
                _ => vec![counted.target],
            };
            // All targets that share a limit have its counts, so only the first reports it.
            if targets.first() == Some(&counted.target) {
                let emptied = limit.emptied.into_iter();
                let busiest = limit.by_volume.iter().copied().max();
                found.limits.push(LimitUse {
                    targets,
                    limit: limit.limit,
                    units: limit.units,
                    busiest_units: busiest.filter(|_| limit.by_volume.len() > 1),
                    waited_ns: limit.waited_ns,
                    emptied_at_ns: emptied.map(|at| at.since(start).0).collect(),
                });
            }
        }
    }
    (!found.targets.is_empty()).then_some(found)
}

/// The targets that share a limit of one instance, each volume once. The limits of its cache are only
/// for volumes that are reached through it.
fn attached(all: &[Counted], instance: usize, limit: &LimitName) -> Vec<u32> {
    all.iter()
        .enumerate()
        .filter(|(place, counted)| {
            let mut limits = counted.so_far.limits.iter();
            counted.instance == Some(instance)
                && limits.any(|known| known.limit == *limit)
                && !is_known(counted, &all[..*place])
        })
        .map(|(_, counted)| counted.target)
        .collect()
}

/// Whether an earlier target is the same volume.
fn is_known(counted: &Counted, earlier: &[Counted]) -> bool {
    earlier.iter().any(|known| known.model.is(&counted.model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_device::{Direction, Io};

    /// The stories: volumes on a machine that was named without its vendor shared none of its limits; and
    /// of three volumes on one machine, one without its cache and two with different shares
    /// of hits, the two had a cache each with all its limits, and the limits of the machine were reported
    /// three times with the counts of all.
    #[test]
    fn volumes_of_one_machine_share_its_limits_in_whichever_way_they_reach_it() {
        let texts = [
            "sim:azure/P30@D8s_v3",
            "sim:azure/P30,cache=readonly,hits=80%@D8s_v3",
            "sim:azure/P30,cache=readonly,hits=50%@D8s_v3",
        ];
        let catalog = Catalog::embedded();
        let mut models = Models::new(texts.into_iter(), &catalog, 1);
        let targets = texts.map(|text| {
            let opened = models.open(text, &catalog).expect("it is sold");
            opened.expect("it is a model")
        });
        let counted = targets.iter().enumerate();
        let before: Vec<Counted> = counted
            .filter_map(|(place, target)| Counted::read(place, target))
            .collect();
        for counted in &before {
            let io = Io {
                direction: Direction::Read,
                offset: 0,
                len: 4096,
            };
            let _ = counted.model.lock().device.admit(Nanos(0), io);
        }
        let found = since(&before, Nanos(0)).expect("they are models");
        let limits = found.limits.iter();
        let shared: Vec<&LimitUse> = limits.filter(|used| used.limit.volumes.is_none()).collect();
        for used in &shared {
            let same = shared.iter().filter(|other| other.limit == used.limit);
            assert_eq!(same.count(), 1, "{}", used.limit);
        }
        let all = shared.iter().any(|used| used.targets == [0, 1, 2]);
        let cached = shared.iter().any(|used| used.targets == [1, 2]);
        assert!(all && cached, "{shared:?}");
    }
}
