//! A pair of volumes and a machine: what the search ranks, before the pair is resolved to a device.

use blocklab_catalog::{HOURS_PER_MONTH, Host, LOCAL};
use blocklab_workload::{Address, Offer};

use crate::offer::Offered;
use crate::question::{Question, Seller};

/// Volumes on a machine that meet the need by the limits of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The type of the volumes.
    pub kind: String,
    /// Who sells it.
    pub vendor: String,
    /// The region whose prices are taken.
    pub region: String,
    /// How many volumes share the load; of a machine's own disks, how many it has.
    pub volumes: u32,
    /// The machine; `None`: volumes alone.
    pub machine: Option<String>,
    /// What is bought.
    pub offer: Offer,
    /// The price of a month, machine included, in `currency`; `None`: a part has no price.
    pub per_month: Option<f64>,
    /// The part of the price that is for the volumes.
    pub volumes_per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// Whether its data is lost when the machine stops.
    pub is_lost_at_stop: bool,
}

impl Candidate {
    /// Volumes on a machine; `None` if nothing of their type meets the need.
    pub(crate) fn new(
        offered: &Offered,
        seller: &Seller,
        host: Option<&Host>,
        question: &Question,
    ) -> Option<Self> {
        let fitting = offered.found.as_ref().ok()?;
        let Address::Sold(offer) = &fitting.resolved.address else {
            return None;
        };
        let machine = host.map(|host| host.name.clone());
        let machine_per_month = match host {
            Some(host) => per_month(host, question),
            None => Some(0.0),
        };
        Some(Self {
            kind: offered.kind.clone(),
            vendor: offered.vendor.clone(),
            region: offered.region.clone(),
            volumes: offered.volumes,
            offer: Offer {
                instance: machine.clone(),
                region: seller.region_in_addresses(),
                ..offer.clone()
            },
            machine,
            per_month: fitting
                .per_month
                .zip(machine_per_month)
                .map(|(volumes, machine)| volumes + machine),
            volumes_per_month: fitting.per_month,
            currency: fitting.currency,
            is_lost_at_stop: false,
        })
    }

    /// A machine with its own disks.
    pub(crate) fn local(host: &Host, seller: &Seller, question: &Question) -> Self {
        let (disks, _) = host.disks.unwrap_or_default();
        Self {
            kind: LOCAL.to_owned(),
            vendor: seller.vendor.clone(),
            region: seller.region.clone(),
            volumes: disks,
            machine: Some(host.name.clone()),
            offer: Offer {
                volume: LOCAL.to_owned(),
                instance: Some(host.name.clone()),
                region: seller.region_in_addresses(),
                ..Offer::default()
            },
            per_month: per_month(host, question),
            volumes_per_month: Some(0.0),
            currency: blocklab_catalog::currency_of(&seller.region),
            is_lost_at_stop: true,
        }
    }

    /// A month's price to sort by: infinite where none is known, which sorts last.
    pub(crate) fn price(&self) -> f64 {
        self.per_month.unwrap_or(f64::INFINITY)
    }

    /// The address of its volumes without the machine; of a machine's own disks, with it.
    pub(crate) fn volumes_alone(&self) -> String {
        if self.is_lost_at_stop {
            return self.address();
        }
        let alone = Offer {
            instance: None,
            ..self.offer.clone()
        };
        alone.to_string()
    }

    /// The address as `run --target sim:` takes it.
    pub fn address(&self) -> String {
        self.offer.to_string()
    }
}

/// The price of a machine for a month, with the user's discount.
pub(crate) fn per_month(host: &Host, question: &Question) -> Option<f64> {
    let hour = host.per_hour?;
    Some(hour * HOURS_PER_MONTH * (1.0 - question.discount))
}
