//! In: what a machine must have. Out: the machines of a vendor that have it, with what an hour of
//! each costs and what each grants to its volumes.
//!
//! A machine and its volumes limit a load each by itself, and are paid for each by itself. So whoever
//! looks for the cheapest pair of them needs the machines once and the volumes once, and not every
//! pair: only what a type of volume is on a machine depends on the machine, by its class.

use std::collections::HashMap;

use blocklab_device::InstanceSpec;
use blocklab_units::Bytes;
use blocklab_workload::Offer;

use crate::Catalog;
use crate::embedded::{SUCCESSORS, Section};
use crate::instance::family;
use crate::machine::Machine;
use crate::resolve::granted;
use crate::table::{Row, Table};
use crate::volumes::HostClass;

/// Which machines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hosts {
    /// At least so many virtual processors.
    pub vcpus: u32,
    /// At least so much memory.
    pub memory: Bytes,
    /// `x86_64`, `arm64`: only these; `None`: any.
    pub arch: Option<String>,
    /// Include instance types of previous generations.
    pub previous: bool,
}

/// A machine that volumes can be attached to.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// As an address writes it.
    pub name: String,
    /// Virtual processors; `None`: no list has them.
    pub vcpus: Option<u32>,
    /// `None`: no list has it.
    pub memory: Option<Bytes>,
    /// `x86_64`, `arm64`; `None`: no list has it.
    pub arch: Option<String>,
    /// US dollars an hour, Linux, on demand; `None`: no list has a price.
    pub per_hour: Option<f64>,
    /// Whether it is of the current generation, as far as a list says.
    pub is_current: bool,
    /// How many volumes it takes; `None`: no list has it.
    pub attachments: Option<u32>,
    /// Disks of its own: how many, and how large each is.
    pub disks: Option<(u32, Bytes)>,
    /// What volumes are on it.
    pub class: HostClass,
}

impl Catalog {
    /// The machines that volumes of a vendor are attached to, the cheapest first, those without a
    /// price last.
    pub fn hosts(&self, vendor: &str, region: &str, wanted: &Hosts) -> Vec<Host> {
        let vendor = self.vendor_of(&format!("{vendor}/"));
        let is_own = vendor.machines == self.own_vendor();
        let mut hosts = if is_own {
            self.instances(&vendor.prefix, wanted)
        } else {
            self.other_machines(&vendor.name, wanted)
        };
        if vendor.is_priced {
            let prices = self.hours_in(region);
            for host in &mut hosts {
                host.per_hour = prices.get(host.name.as_str()).copied();
            }
        }
        hosts.sort_by(|a, b| {
            let [cost, other] = [a, b].map(|host| host.per_hour.unwrap_or(f64::INFINITY));
            cost.total_cmp(&other).then_with(|| a.name.cmp(&b.name))
        });
        hosts
    }

    /// The machine of this name in addresses, of any generation; `None`: there is none.
    pub fn host(&self, vendor: &str, region: &str, name: &str) -> Option<Host> {
        let all = Hosts {
            previous: true,
            ..Hosts::default()
        };
        let hosts = self.hosts(vendor, region, &all).into_iter();
        hosts
            .into_iter()
            .find(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// The instance types of the vendor of the price lists, each by its newest row.
    fn instances(&self, prefix: &str, wanted: &Hosts) -> Vec<Host> {
        let mut newest: HashMap<String, (Option<blocklab_workload::Date>, Row<'_>)> =
            HashMap::new();
        for row in self.tables(Section::Instances).flat_map(Table::rows) {
            let date = self.source(row.text("source")).date;
            let name = row.text("type");
            if newest.get(name).is_none_or(|(known, _)| date > *known) {
                newest.insert(name.to_owned(), (date, row));
            }
        }
        let families: Vec<String> = Table::embedded(SUCCESSORS)
            .rows()
            .map(|row| row.text("family").to_owned())
            .collect();
        let rows = newest.into_values().map(|(_, row)| row);
        let hosts = rows.map(|row| {
            let name = row.text("type");
            let metal = row.text("metal") == "yes";
            let nitro = metal || row.text("hypervisor") == "nitro";
            let own = family(name).to_owned();
            Host {
                name: format!("{prefix}{name}"),
                vcpus: row.get("vcpu"),
                memory: row.get("memory_mib").map(|mib: u64| Bytes(mib << 20)),
                arch: Some(row.text("arch").to_owned()).filter(|arch| !arch.is_empty()),
                per_hour: None,
                is_current: row.text("current") != "no",
                attachments: row.get("attachments"),
                disks: row.get("disks").zip(row.get("disk_gb").map(gigabytes)),
                class: HostClass {
                    // On Nitro all families run a type alike today.
                    family: if nitro || !families.contains(&own) {
                        String::new()
                    } else {
                        own
                    },
                    nitro,
                },
            }
        });
        hosts.filter(|host| wanted.has(host)).collect()
    }

    /// The machines of a vendor that lists no instance types.
    fn other_machines(&self, vendor: &str, wanted: &Hosts) -> Vec<Host> {
        let tables = self.tables(Section::Machines);
        let mut known: Vec<String> = Vec::new();
        let mut hosts = Vec::new();
        for row in tables.flat_map(Table::rows) {
            let name = row.text("machine").to_owned();
            let is_of_vendor = name.split_once('/').is_some_and(|(own, _)| own == vendor);
            // A user's tables come first, so what follows of the same name is the embedded row.
            if !is_of_vendor || known.contains(&name) {
                continue;
            }
            known.push(name.clone());
            hosts.push(Host {
                name,
                vcpus: row.get("vcpu"),
                memory: row.get("memory_gib").map(gibibytes),
                arch: None,
                per_hour: None,
                is_current: true,
                attachments: row.get("attachments"),
                disks: row.get("disks").zip(row.get("disk_gib").map(gibibytes)),
                class: HostClass {
                    family: String::new(),
                    nitro: false,
                },
            });
        }
        hosts.retain(|host| wanted.has(host));
        hosts
    }

    /// What a machine grants to all its volumes of a type together; `None`: no document gives it.
    pub fn granted(&self, host: &Host, kind: &str) -> Option<InstanceSpec> {
        let vendor = self.vendor_of(kind);
        if vendor.machines == self.own_vendor() {
            let name = host.name.strip_prefix(vendor.prefix.as_str())?;
            return granted(&self.instance(name, None)?, None);
        }
        let kind = self.volume_type(kind)?;
        let machine = Machine::find(self, &host.name)?;
        let limits = machine.limits(&kind.group, &Offer::default(), &mut Vec::new());
        limits.ok().flatten()
    }
}

fn gigabytes(number: f64) -> Bytes {
    Bytes((number * 1e9) as u64)
}

fn gibibytes(number: f64) -> Bytes {
    Bytes((number * Bytes::GIB.as_f64()) as u64)
}

impl Hosts {
    /// What no list tells of a machine is not enough of it.
    fn has(&self, host: &Host) -> bool {
        let has_vcpus = self.vcpus == 0 || host.vcpus.is_some_and(|vcpus| vcpus >= self.vcpus);
        let has_memory =
            self.memory == Bytes::ZERO || host.memory.is_some_and(|memory| memory >= self.memory);
        let has_arch = self.arch.is_none() || host.arch.is_none() || self.arch == host.arch;
        let has_age = self.previous || host.is_current;
        has_vcpus && has_memory && has_arch && has_age
    }
}
