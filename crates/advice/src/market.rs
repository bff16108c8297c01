//! In: the catalog, and where to buy. Out: machines, and what each grants to its volumes, each looked
//! up once for all questions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use blocklab_catalog::{Catalog, Host, HostClass, Hosts};
use blocklab_device::{Accounting, DeviceSpec, InstanceSpec, Layout, LimitKind, VolumeSpec};
use blocklab_units::Bytes;

use crate::need::Need;
use crate::offer::{Offered, offers_side_by_side};
use crate::question::{Contradiction, Question, Seller};

/// For what the least volumes were looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) need: Need,
    pub(crate) volumes: RangeInclusive<u32>,
    pub(crate) seller: usize,
    pub(crate) class: Option<HostClass>,
}

/// A machine by its seller and its place among that seller's.
type Place = (usize, usize);

/// What can be bought, as far as a question needs it.
pub struct Market<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) sellers: Vec<Seller>,
    /// The machines of each seller, the cheapest first.
    hosts: Vec<Vec<Host>>,
    /// The least volumes for each need, by seller, number and class of machine.
    offered: RefCell<Vec<(Asked, Rc<Vec<Offered>>)>>,
    /// What a machine grants to a group of disks.
    granted: RefCell<HashMap<(Place, String), Option<InstanceSpec>>>,
}

/// Why a machine does not carry a need, in the words of its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// `EBS IOPS`.
    Limit(String),
    /// It takes fewer volumes.
    Attachments,
    /// No document gives what it grants.
    Undocumented,
}

impl<'c> Market<'c> {
    /// What the sellers of a question have.
    ///
    /// # Errors
    /// When a vendor has no list of its region, or no machine is as it must be.
    pub fn new(catalog: &'c Catalog, question: &Question) -> Result<Self, Contradiction> {
        for seller in &question.sellers {
            let known = catalog.known_region(&format!("{}/", seller.vendor), &seller.region);
            let is_priced = !catalog
                .regions_of(&format!("{}/", seller.vendor))
                .is_empty();
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

    /// The part of a wish for a machine that no machine meets even alone.
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
        let message = match (most_vcpus, most_memory) {
            (Some(most), _) if wanted.vcpus > most => {
                format!("no machine has {} vCPUs; {most} at most", wanted.vcpus)
            }
            (_, Some(most)) if wanted.memory > most => {
                format!("no machine has {} of memory; {most} at most", wanted.memory)
            }
            (None, _) => {
                "no list has machines of this vendor: leave --vcpu and --memory out".to_owned()
            }
            _ => format!(
                "no machine has {} vCPUs and {} of memory together, of the architecture and the \
                 generation that are asked for (--previous adds older ones)",
                wanted.vcpus, wanted.memory
            ),
        };
        Contradiction(message)
    }

    /// The market with this machine only.
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

    /// The least volumes for a need, looked up once.
    pub(crate) fn offered(&self, asked: Asked) -> Rc<Vec<Offered>> {
        let mut offered = self.offered.borrow_mut();
        if let Some((_, found)) = offered.iter().find(|(known, _)| *known == asked) {
            return Rc::clone(found);
        }
        let seller = &self.sellers[asked.seller];
        let found = Rc::new(offers_side_by_side(
            self.catalog,
            &asked.need,
            (&seller.vendor, &seller.region),
            asked.volumes.clone(),
            asked.class.as_ref(),
        ));
        offered.push((asked, Rc::clone(&found)));
        found
    }

    /// The machines of a seller, the cheapest first.
    pub(crate) fn hosts(&self, seller: usize) -> &[Host] {
        self.hosts.get(seller).map_or(&[], Vec::as_slice)
    }

    /// Whether a machine lets volumes do what is needed, by its own limits alone.
    pub(crate) fn holds_back(&self, place: Place, offered: &Offered, need: &Need) -> Option<Held> {
        let host = &self.hosts[place.0][place.1];
        if host.attachments.is_some_and(|most| offered.volumes > most) {
            return Some(Held::Attachments);
        }
        let Some(granted) = self.granted(place, offered) else {
            return Some(Held::Undocumented);
        };
        let spec = alone(granted, offered.on_machine.1, offered.volumes > 1);
        let margins = need.rates(&spec).into_iter();
        let tightest = margins
            .filter(|margin| margin.limit.is_some() && !margin.is_met())
            .max_by(|a, b| a.used().total_cmp(&b.used()))?;
        let limiter = match tightest.limit?.kind {
            LimitKind::Rate { limiter, .. } | LimitKind::Baseline { limiter } => limiter,
            other => format!("{other:?}"),
        };
        Some(Held::Limit(limiter))
    }

    fn granted(&self, place: Place, offered: &Offered) -> Option<InstanceSpec> {
        let key = (place, offered.on_machine.0.clone());
        let mut granted = self.granted.borrow_mut();
        let host = &self.hosts[place.0][place.1];
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
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Limit(limit) => format!("its {limit} is not enough"),
            Self::Attachments => "it takes fewer volumes".to_owned(),
            Self::Undocumented => "no document gives what it grants to volumes".to_owned(),
        }
    }
}

/// A machine with volumes that limit nothing.
fn alone(granted: InstanceSpec, accounting: Accounting, is_striped: bool) -> DeviceSpec {
    let volume = VolumeSpec {
        accounting,
        ..VolumeSpec::new("any", Bytes::GIB)
    };
    DeviceSpec {
        name: String::new(),
        volumes: vec![volume; if is_striped { 2 } else { 1 }],
        layout: Layout::default(),
        instance: Some(granted),
        faults: Vec::new(),
    }
}
