//! What can be bought, as a list.

use std::collections::HashMap;

use blocklab_device::Covers;
use blocklab_workload::Date;
use serde::Serialize;

use crate::Catalog;
use crate::embedded::Section;
use crate::instance::family;
use crate::machine::{Machine, covers};
use crate::price::System;
use crate::price_list::List;

/// Which instance types are listed; the default lists all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Whose machines; `None`: EC2 instance types.
    pub vendor: Option<String>,
    /// `i3`: only these. Of other vendors: those whose name begins so.
    pub family: Option<String>,
    /// Only those with disks of their own.
    pub has_local: bool,
    /// Only those that sustain this many EBS operations a second.
    pub min_ebs_iops: Option<u64>,
    /// Whose prices.
    pub region: String,
}

/// An instance type in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// `i3.xlarge`.
    pub name: String,
    /// Virtual processors.
    pub vcpus: Option<u32>,
    /// 2^20 bytes.
    pub memory_mib: Option<u64>,
    /// Network bandwidth, 10^9 bits a second, the most.
    pub network_gbps: Option<f64>,
    /// Throughput of EBS, 10^6 bytes a second: sustained. Of other vendors that of the group of
    /// disks that they are listed by, reads where those differ from writes.
    pub ebs_base_mb_per_s: Option<f64>,
    /// EBS throughput: most.
    pub ebs_max_mb_per_s: Option<f64>,
    /// EBS operations a second: sustained.
    pub ebs_base_iops: Option<f64>,
    /// EBS operations a second: most.
    pub ebs_max_iops: Option<f64>,
    /// Disks of its own.
    pub disks: u32,
    /// Size of each, 10^9 bytes.
    pub disk_gb: Option<f64>,
    /// Reads of 4 KiB a second, all disks together.
    pub disk_read_iops: Option<f64>,
    /// Writes of 4 KiB a second, all disks together.
    pub disk_write_iops: Option<f64>,
    /// An hour with Linux on demand, in the money of the region.
    pub usd_per_hour: Option<f64>,
}

impl Catalog {
    /// The instance types that pass a filter, by family and then by size. Those of Azure, whose names do not
    /// begin with a family, are in the order of their names.
    pub fn list(&self, filter: &Filter) -> Vec<Listed> {
        let wanted = filter.family.as_deref();
        // The first part of a name is its family: of `i3.xlarge`, and of `gcp/n1-standard-8`.
        let (mut listed, separator) = match &filter.vendor {
            None => (self.list_instances(wanted), '.'),
            Some(vendor) => (self.list_machines(vendor, wanted), '-'),
        };
        listed.retain(|one| passes(one, filter));
        let prices = self.hourly_prices_in(&filter.region);
        for one in &mut listed {
            one.usd_per_hour = prices.get(one.name.as_str()).copied();
        }
        listed.sort_by_cached_key(|one| {
            let family = one.name.split(separator).next().map(str::to_owned);
            (family, one.vcpus, one.memory_mib, one.name.clone())
        });
        listed
    }

    /// The EC2 instance types of a family, or all, without their prices.
    fn list_instances(&self, wanted: Option<&str>) -> Vec<Listed> {
        let names = self.instance_types().into_iter();
        let of_family = names.filter(|name| wanted.is_none_or(|wanted| family(name) == wanted));
        of_family
            .filter_map(|name| self.listed(name, None))
            .collect()
    }

    /// The machines of another vendor whose names begin so, without their prices.
    fn list_machines(&self, vendor: &str, begin: Option<&str>) -> Vec<Listed> {
        let vendor = self.vendor_of(&format!("{vendor}/"));
        let mut names = self.machines();
        let begin = format!("{}/{}", vendor.name, begin.unwrap_or_default());
        names.retain(|name| name.starts_with(&begin));
        let machines = names.iter().filter_map(|name| Machine::find(self, name));
        machines
            .map(|machine| machine.listed(&vendor.listed))
            .collect()
    }

    /// The families of instance types, sorted.
    pub fn families(&self) -> Vec<String> {
        let types = self.instance_types();
        let families = types.iter().map(|name| family(name).to_owned());
        let mut all: Vec<String> = families.collect();
        all.dedup();
        all
    }

    /// An instance type as it was on a day, without its price; `None`: it is in no list.
    pub fn listed(&self, name: &str, as_of: Option<Date>) -> Option<Listed> {
        let instance = self.instance(name, as_of)?;
        let ebs = instance.ebs.as_ref();
        let store = instance.store.as_ref();
        let read_iops = store.and_then(|store| store.read_iops.as_ref());
        let write_iops = store.and_then(|store| store.write_iops.as_ref());
        Some(Listed {
            name: name.to_owned(),
            vcpus: instance.vcpus,
            memory_mib: instance.memory_mib,
            network_gbps: instance.network_gbps,
            ebs_base_mb_per_s: ebs.map(|ebs| ebs.base_mb.value),
            ebs_max_mb_per_s: ebs.map(|ebs| ebs.max_mb.value),
            ebs_base_iops: ebs.map(|ebs| ebs.base_iops.value),
            ebs_max_iops: ebs.map(|ebs| ebs.max_iops.value),
            disks: store.map_or(0, |store| store.disks),
            disk_gb: store.map(|store| store.disk_gb),
            disk_read_iops: read_iops.map(|figure| figure.value),
            disk_write_iops: write_iops.map(|figure| figure.value),
            usd_per_hour: None,
        })
    }

    /// The newest price in USD an hour with Linux of every type in a region.
    pub(crate) fn hourly_prices_in(&self, region: &str) -> HashMap<&str, f64> {
        let mut newest: HashMap<&str, (Date, f64)> = HashMap::new();
        for list in self.lists() {
            let Some(place) = list.place(region) else {
                continue;
            };
            for line in list.rows.lines() {
                let name = line.split(',').next().unwrap_or_default();
                let Some(usd) = List::price(line, System::Linux as usize, place) else {
                    continue;
                };
                let known = newest.get(name).is_some_and(|(date, _)| *date >= list.date);
                if !known {
                    newest.insert(name, (list.date, usd));
                }
            }
        }
        newest
            .into_iter()
            .map(|(name, (_, usd))| (name, usd))
            .collect()
    }
}

impl Machine<'_> {
    /// The machine as a row of a list, with what it grants to a group.
    fn listed(&self, group: &str) -> Listed {
        let rows = self.granted(group);
        // A list has one figure for both directions: that of reads where they differ.
        let first = rows
            .iter()
            .find(|granted| covers(&granted.row) != Covers::Writes);
        let in_mb = |column: &str| {
            let row = &first?.row;
            let scale = if row.text("unit") == "MiB/s" {
                1.048_576
            } else {
                1.0
            };
            Some(row.get::<f64>(column)? * scale)
        };
        let iops = |column: &str| first?.row.get(column);
        let own_disk_iops = |covered: Covers| {
            let local = self.granted("local");
            let mut fits = local.iter().filter(|granted| {
                let by_number = granted.row.get::<u32>("disks");
                by_number.is_none_or(|disks| Some(disks) == self.row.get("disks"))
                    && [covered, Covers::All].contains(&covers(&granted.row))
            });
            fits.find_map(|granted| granted.row.get("iops"))
        };
        let disks = self.row.get::<u32>("disks");
        Listed {
            name: self.name.clone(),
            vcpus: self.vcpus(),
            memory_mib: self
                .row
                .get::<f64>("memory_gib")
                .map(|gib| (gib * 1024.0) as u64),
            network_gbps: None,
            ebs_base_mb_per_s: in_mb("throughput"),
            ebs_max_mb_per_s: in_mb("burst_throughput").or(in_mb("throughput")),
            ebs_base_iops: iops("iops"),
            ebs_max_iops: iops("burst_iops").or(iops("iops")),
            disks: disks.unwrap_or(0),
            disk_gb: disks.map(|_| self.disk_size().as_f64() / 1e9),
            disk_read_iops: disks.and_then(|_| own_disk_iops(Covers::Reads)),
            disk_write_iops: disks.and_then(|_| own_disk_iops(Covers::Writes)),
            usd_per_hour: None,
        }
    }
}

fn passes(one: &Listed, filter: &Filter) -> bool {
    let least = filter.min_ebs_iops.map_or(0.0, |iops| iops as f64);
    (!filter.has_local || one.disks > 0)
        && (least == 0.0 || one.ebs_base_iops.is_some_and(|iops| iops >= least))
}

impl Catalog {
    /// The names of all volume types that an address may carry, sorted; `local` among them.
    pub fn volume_types(&self) -> Vec<String> {
        let mut names = self.keys(Section::VolumeTypes);
        names.push(crate::local::NAME);
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(filter: Filter) -> Vec<String> {
        let filter = Filter {
            region: "us-east-1".to_owned(),
            ..filter
        };
        Catalog::embedded()
            .list(&filter)
            .into_iter()
            .map(|one| one.name)
            .collect()
    }

    #[test]
    fn a_family_from_small_to_large() {
        let family = Some("i3".to_owned());
        let i3 = names(Filter {
            family,
            ..Filter::default()
        });
        let sizes = [
            "large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge", "metal",
        ];
        assert_eq!(i3, sizes.map(|size| format!("i3.{size}")));
    }

    #[test]
    fn filters_add_up() {
        let all = names(Filter::default());
        assert_eq!(all.len(), 1430);
        let local = names(Filter {
            has_local: true,
            ..Filter::default()
        });
        assert_eq!(local.len(), 593);
        let fast = Filter {
            has_local: true,
            min_ebs_iops: Some(400_000),
            ..Filter::default()
        };
        let fast = names(fast);
        assert!(!fast.is_empty() && fast.len() < local.len());
    }
}
