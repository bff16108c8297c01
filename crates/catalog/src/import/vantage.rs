//! `instances.json` of ec2instances.info: a list of types, each with its prices in every region.

use serde_json::Value;

use super::{Found, Hour, InstanceRow, counted, is_region, is_type, number, text, words};
use crate::price::System;

/// The instance types of the list, and their prices by the hour.
pub(super) fn read(list: &[Value]) -> Found {
    let mut found = Found {
        kind: "instances.json of ec2instances.info",
        ..Found::default()
    };
    for item in list {
        let name = text(&item["instance_type"]);
        if !is_type(&name) || !item["pricing"].is_object() {
            found.skipped += 1;
            continue;
        }
        hours(&name, &item["pricing"], &mut found.hours);
        let row = row(name, item);
        if row.cell("vcpu").is_empty() {
            found.skipped += 1
        } else {
            found.instances.push(row)
        }
    }
    found
}

/// The row of an instance type.
fn row(name: String, item: &Value) -> InstanceRow {
    let store = &item["storage"];
    let memory: Option<f64> = number(&item["memory"]).parse().ok();
    let nvme = store["nvme_ssd"].as_bool().unwrap_or(false);
    let ssd = nvme || store["ssd"].as_bool().unwrap_or(false);
    let disks = counted(&store["devices"]);
    let (kind, needs_nvme) = match (disks.is_empty(), ssd, nvme) {
        (true, ..) => ("", ""),
        (false, true, true) => ("ssd", "req"),
        (false, true, false) => ("ssd", "no"),
        (false, false, _) => ("hdd", "no"),
    };
    let metal = if name.contains(".metal") { "yes" } else { "no" };
    let memory = memory.map_or(String::new(), |gib| (gib * 1024.0).round().to_string());
    let cells = vec![
        ("metal", metal.to_owned()),
        ("vcpu", counted(&item["vCPU"])),
        ("memory_mib", memory),
        ("arch", words(&item["arch"])),
        ("ebs_base_mbps", number(&item["ebs_baseline_bandwidth"])),
        ("ebs_max_mbps", number(&item["ebs_max_bandwidth"])),
        ("ebs_base_MBps", number(&item["ebs_baseline_throughput"])),
        ("ebs_max_MBps", number(&item["ebs_throughput"])),
        ("ebs_base_iops", number(&item["ebs_baseline_iops"])),
        ("ebs_max_iops", number(&item["ebs_iops"])),
        ("disk_gb", number(&store["size"])),
        ("disk_kind", kind.to_owned()),
        ("disk_nvme", needs_nvme.to_owned()),
        ("disks", disks),
    ];
    InstanceRow { name, cells }
}

/// Adds the prices on demand of all regions.
fn hours(name: &str, pricing: &Value, hours: &mut Vec<Hour>) {
    let regions = pricing.as_object().into_iter().flatten();
    for (region, systems) in regions.filter(|(region, _)| is_region(region)) {
        for (key, system) in [("linux", System::Linux), ("mswin", System::Windows)] {
            if let Ok(usd) = number(&systems[key]["ondemand"]).parse() {
                let (region, name) = (region.clone(), name.to_owned());
                hours.push(Hour {
                    region,
                    name,
                    system,
                    usd,
                });
            }
        }
    }
}
