//! In: the catalog, and where to buy. Out: machines, and what each grants to its volumes. A question is
//! searched many times under changed terms, so everything is looked up once and kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use blocklab_catalog::{Catalog, Host, HostClass, Hosts};
use blocklab_device::{Accounting, DeviceSpec, InstanceSpec, LimitKind, VolumeSpec};
use blocklab_units::Bytes;

use crate::need::Need;
use crate::offer::{Offered, offers_side_by_side};
use crate::question::{Contradiction, Question, Seller};

/// The key under which offers are kept: all that they depend on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferKey {
    pub(crate) need: Need,
    pub(crate) volumes: RangeInclusive<u32>,
    pub(crate) seller: usize,
    pub(crate) class: Option<HostClass>,
}

/// A machine of a [`Market`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HostIndex {
    pub(crate) seller: usize,
    /// Its index among the machines of the seller.
    pub(crate) host: usize,
}

/// What can be bought of the sellers of a question.
pub struct Market<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) sellers: Vec<Seller>,
    /// The machines of each seller, the cheapest first.
    hosts: Vec<Vec<Host>>,
    /// The least configurations that were looked up.
    offered: RefCell<Vec<(OfferKey, Rc<Vec<Offered>>)>>,
    /// What a machine grants to a group of disks, by its name; `None`: no document says it.
    granted: RefCell<HashMap<(HostIndex, String), Option<InstanceSpec>>>,
}

/// Why a machine does not let its volumes meet a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// A limit is too low, such as `EBS IOPS`.
    Limit(String),
    /// Fewer volumes can be attached.
    Attachments,
    /// No document gives its limits for volumes.
    Undocumented,
}

impl<'c> Market<'c> {
    /// Looks up the machines that a question allows.
    ///
    /// # Errors
    /// When a vendor has no price list of its region, or no machine has what the question asks for.
    pub fn new(catalog: &'c Catalog, question: &Question) -> Result<Self, Contradiction> {
        for seller in &question.sellers {
            let known = catalog.known_region(&format!("{}/", seller.vendor), &seller.region);
            let is_priced = !catalog
                .regions_of(&format!("{}/", seller.vendor))
                .is_empty();
            // A vendor without any price list has no regions to choose from: its offers lack a price.
            if let Err(message) = known
                && is_priced
            {
                return Err(Contradiction(format!("{}: {message}", seller.vendor)));
            }
        }
        let mut market = Self {
            catalog,
            sellers: question.sellers.clone(),
            hosts: Vec::new(),
            offered: RefCell::default(),
            granted: RefCell::default(),
        };
        if let Some(only) = &question.only {
            market.hosts = market.named(only);
        } else if let Some(wanted) = &question.machine {
            let hosts = question.sellers.iter();
            // Older machines are kept too, as `relaxed` searches them; `is_wanted` leaves them out.
            let all = Hosts {
                previous: true,
                ..wanted.clone()
            };
            let hosts = hosts.map(|seller| catalog.hosts(&seller.vendor, &seller.region, &all));
            market.hosts = hosts.collect();
            let known = market.hosts.iter().flatten();
            if known.filter(|host| is_wanted(host, wanted)).count() == 0 {
                return Err(market.no_machine(wanted));
            }
        }
        Ok(market)
    }

    /// The error that no machine meets the wishes: names the one that is too much by itself, if one is.
    fn no_machine(&self, wanted: &Hosts) -> Contradiction {
        let all = Hosts {
            previous: true,
            ..Hosts::default()
        };
        let sellers = self.sellers.iter();
        let known: Vec<Host> = sellers
            .flat_map(|seller| self.catalog.hosts(&seller.vendor, &seller.region, &all))
            .collect();
        let most_vcpus = known.iter().filter_map(|host| host.vcpus).max();
        let most_memory = known.iter().filter_map(|host| host.memory).max();
        let archs = known.iter().filter_map(|host| host.arch.as_deref());
        let mut archs: Vec<&str> = archs.flat_map(|several| several.split('|')).collect();
        archs.sort_unstable();
        archs.dedup();
        let arch = wanted.arch.as_deref();
        let unknown_arch = arch.filter(|arch| !archs.contains(arch));
        let message = match (most_vcpus, most_memory, unknown_arch) {
            (Some(most), ..) if wanted.vcpus > most => {
                format!("no machine has {} vCPUs; {most} at most", wanted.vcpus)
            }
            (_, Some(most), _) if wanted.memory > most => {
                format!("no machine has {} of memory; {most} at most", wanted.memory)
            }
            (None, ..) => {
                "no list has machines of this vendor: leave --vcpu and --memory out".to_owned()
            }
            (.., Some(arch)) => {
                let known = archs.join(", ");
                format!("no machine has the architecture {arch}; there are {known}")
            }
            _ => format!(
                "no machine has {} vCPUs and {} of memory together, of the architecture and the \
                 generation that are asked for (--previous adds older ones)",
                wanted.vcpus, wanted.memory
            ),
        };
        Contradiction(message)
    }

    /// A market that has this machine only.
    pub(crate) fn only(&self, name: &str) -> Self {
        Self {
            catalog: self.catalog,
            sellers: self.sellers.clone(),
            hosts: self.named(name),
            offered: RefCell::default(),
            granted: RefCell::default(),
        }
    }

    /// The machine of that name, for each seller.
    pub(crate) fn named(&self, name: &str) -> Vec<Vec<Host>> {
        let sellers = self.sellers.iter();
        let hosts = sellers.map(|seller| {
            let host = self.catalog.host(&seller.vendor, &seller.region, name);
            host.into_iter().collect()
        });
        hosts.collect()
    }

    /// The least configuration of every type, from the cache or looked up now.
    pub(crate) fn offered(&self, key: OfferKey) -> Rc<Vec<Offered>> {
        let mut offered = self.offered.borrow_mut();
        if let Some((_, found)) = offered.iter().find(|(known, _)| *known == key) {
            return Rc::clone(found);
        }
        let seller = &self.sellers[key.seller];
        let found = Rc::new(offers_side_by_side(
            self.catalog,
            &key.need,
            &seller.vendor,
            &seller.region,
            key.volumes.clone(),
            key.class.as_ref(),
        ));
        offered.push((key, Rc::clone(&found)));
        found
    }

    /// The machines of a seller, the cheapest first.
    pub(crate) fn hosts(&self, seller: usize) -> &[Host] {
        self.hosts.get(seller).map_or(&[], Vec::as_slice)
    }

    /// The limit of a machine that keeps volumes from meeting the need; `None`: none does. The limits of
    /// the volumes, and how many can be attached, are not looked at.
    pub(crate) fn holds_back(
        &self,
        place: HostIndex,
        offered: &Offered,
        need: &Need,
    ) -> Option<Held> {
        let Some(granted) = self.granted(place, offered) else {
            return Some(Held::Undocumented);
        };
        let spec = alone(granted, offered.on_machine.accounting, offered.volumes > 1);
        let margins = need.rates(&spec).into_iter();
        // The margin of a rate that the machine does not limit has no limit, and holds nothing back.
        let missed = margins.filter(|margin| margin.limit.is_some() && !margin.is_met());
        let tightest = missed.max_by(|a, b| a.used().total_cmp(&b.used()))?;
        // These by their name alone: `EBS IOPS is not enough` needs no direction and no "(baseline)".
        let limiter = match tightest.limit?.kind {
            LimitKind::Rate { limiter, .. }
            | LimitKind::Baseline { limiter }
            | LimitKind::Burst { limiter } => limiter,
            other => other.to_string(),
        };
        Some(Held::Limit(limiter))
    }

    /// The limits of a machine for disks of a type.
    fn granted(&self, place: HostIndex, offered: &Offered) -> Option<InstanceSpec> {
        let key = (place, offered.on_machine.group.clone());
        let mut granted = self.granted.borrow_mut();
        let host = &self.hosts[place.seller][place.host];
        let found = granted
            .entry(key)
            .or_insert_with(|| self.catalog.granted(host, &offered.kind));
        found.clone()
    }
}

/// Whether a machine is of a generation that is asked for.
pub(crate) fn is_wanted(host: &Host, wanted: &Hosts) -> bool {
    wanted.previous || host.is_current
}

impl Held {
    /// As a clause of a sentence about the machine.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Limit(limit) => format!("its {limit} is not enough"),
            Self::Attachments => "it takes fewer volumes".to_owned(),
            Self::Undocumented => "no document gives what it grants to volumes".to_owned(),
        }
    }
}

/// A device whose only limits are those of the machine. Two volumes are as good as any number of striped
/// ones: a machine counts the parts of an operation, which the stripe decides.
fn alone(granted: InstanceSpec, accounting: Accounting, is_striped: bool) -> DeviceSpec {
    let volume = VolumeSpec {
        accounting,
        ..VolumeSpec::new("any", Bytes::GIB)
    };
    let volumes = vec![volume; if is_striped { 2 } else { 1 }];
    DeviceSpec {
        instance: Some(granted),
        ..DeviceSpec::new("", volumes)
    }
}
