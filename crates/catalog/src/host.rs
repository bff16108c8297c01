//! In: what a machine must have. Out: the machines of a vendor that have it, with what an hour of
//! each costs and what each grants to its volumes.
//!
//! A machine and its volumes limit a load each by itself, and are paid for each by itself. So whoever
//! looks for the cheapest pair of them needs the machines once and the volumes once, and not every
//! pair: only what a type of volume is on a machine depends on the machine, by its class.

use blocklab_device::InstanceSpec;
use blocklab_units::Bytes;
use blocklab_workload::Offer;

use crate::Catalog;
use crate::embedded::SUCCESSORS;
use crate::instance::{family, is_nitro};
use crate::machine::{Machine, gibibytes, own_disk_size};
use crate::resolve::granted;
use crate::table::Table;
use crate::vendor::vendor_in;
use crate::volumes::HostClass;

/// Which machines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hosts {
    /// The fewest virtual processors; 0: any.
    pub vcpus: u32,
    /// The least memory; 0: any.
    pub memory: Bytes,
    /// `arm64`, or several such as `i386|x86_64`: only machines that have one of them; `None`: any.
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
    /// `arm64`, or several such as `i386|x86_64`; `None`: no list has it.
    pub arch: Option<String>,
    /// An hour in the money of its region, Linux, on demand; `None`: no list has a price.
    pub per_hour: Option<f64>,
    /// Whether it is of the current generation, as far as a list says.
    pub is_current: bool,
    /// How many volumes it takes; `None`: no list has it.
    pub attachments: Option<u32>,
    /// Disks of its own: how many, and how large each is.
    pub disks: Option<(u32, Bytes)>,
    /// By which it runs volumes as other machines do.
    pub class: HostClass,
}

impl Catalog {
    /// The machines that volumes of a vendor are attached to, the cheapest first, those without a
    /// price last.
    pub fn hosts(&self, vendor: &str, region: &str, wanted: &Hosts) -> Vec<Host> {
        let vendor = self.vendor_of(&format!("{vendor}/"));
        let is_own = vendor.machines == self.own_vendor();
        let mut hosts = if is_own {
            self.instance_hosts(&vendor.prefix)
        } else {
            self.machine_hosts(&vendor.name)
        };
        hosts.retain(|host| wanted.has(host));
        if vendor.is_priced {
            let prices = self.hourly_prices_in(region);
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
        let mut hosts = self.hosts(vendor, region, &all).into_iter();
        hosts.find(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// EC2 instance types, each by its newest row. `prefix` is what a service writes before their names.
    fn instance_hosts(&self, prefix: &str) -> Vec<Host> {
        let families: Vec<String> = Table::embedded(SUCCESSORS)
            .rows()
            .map(|row| row.text("family").to_owned())
            .collect();
        let types = self.instance_types().into_iter();
        let newest = types.filter_map(|name| self.instance_rows(name).into_iter().next());
        let hosts = newest.map(|row| {
            let name = row.text("type");
            let nitro = is_nitro(&row);
            let own = family(name).to_owned();
            Host {
                name: format!("{prefix}{name}"),
                vcpus: row.get("vcpu"),
                memory: row.get("memory_mib").map(|mib: u64| Bytes(mib << 20)),
                arch: Some(row.text("arch").to_owned()).filter(|arch| !arch.is_empty()),
                per_hour: None,
                is_current: row.text("current") != "no",
                attachments: row.get("attachments"),
                disks: row.get("disks").zip(own_disk_size(&row)),
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
        hosts.collect()
    }

    /// The machines of a vendor that has no EC2 instance types.
    fn machine_hosts(&self, vendor: &str) -> Vec<Host> {
        let names = self.machines().into_iter();
        let of_vendor = names.filter(|name| vendor_in(name) == Some(vendor));
        let machines = of_vendor.filter_map(|name| Machine::find(self, &name));
        let hosts = machines.map(|machine| Host {
            vcpus: machine.vcpus(),
            memory: machine.row.get("memory_gib").map(gibibytes),
            arch: None,
            per_hour: None,
            is_current: true,
            attachments: machine.row.get("attachments"),
            disks: machine.row.get("disks").zip(own_disk_size(&machine.row)),
            class: HostClass::default(),
            name: machine.name,
        });
        hosts.collect()
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

impl Hosts {
    /// Processors or memory that no list tells are not enough; an unknown architecture may be any.
    fn has(&self, host: &Host) -> bool {
        let has_vcpus = self.vcpus == 0 || host.vcpus.is_some_and(|vcpus| vcpus >= self.vcpus);
        let has_memory =
            self.memory == Bytes::ZERO || host.memory.is_some_and(|memory| memory >= self.memory);
        let archs = self.arch.as_deref().zip(host.arch.as_deref());
        let has_arch = archs.is_none_or(|(wanted, has)| {
            let mut wanted = wanted.split('|');
            wanted.any(|one| has.split('|').any(|other| other == one))
        });
        let has_age = self.previous || host.is_current;
        has_vcpus && has_memory && has_arch && has_age
    }
}
