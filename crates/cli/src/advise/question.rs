//! In: the arguments of `blocklab advise`. Out: a valid question.

use anyhow::{Result, bail};
use blocklab_advice::{Question, Seller, unknown_architectures};
use blocklab_catalog::{Catalog, Host, Hosts};
use blocklab_units::{Bytes, did_you_mean};
use blocklab_workload::Offer;

use super::measured::DerivedNeed;
use crate::offers;
use blocklab_args::AdviseArgs;

/// The question for this need. `in_use`: the volume of `--migrate`.
pub fn question(
    args: &AdviseArgs,
    derived: DerivedNeed,
    in_use: Option<&Offer>,
    catalog: &Catalog,
) -> Result<Question> {
    let sellers = sellers(args, in_use, catalog)?;
    let own = match &args.instance {
        Some(name) => Some(machine_named(name, &sellers, catalog)?),
        None => None,
    };
    let mut remarks = derived.remarks;
    if args.arch.is_some() {
        remarks.extend(unknown_architectures(&sellers, catalog));
    }
    let mut need = derived.need;
    need.lasts = args.burst.then_some(args.horizon);
    Ok(Question {
        need,
        machine: machine(args, own.as_ref()),
        sellers,
        own: own.map(|host| host.name),
        volumes: args.volumes.clone(),
        durable: args.durable,
        horizon: args.horizon,
        discount: args.instance_discount.unwrap_or(0.0) / 100.0,
        // `keep_machine` sets it for a migration.
        only: None,
        at_least: derived.lower_bound.is_some(),
        remarks,
    })
}

/// What the machine must have: as much as `--instance` has, or what `--vcpu` and others request.
fn machine(args: &AdviseArgs, own: Option<&Host>) -> Option<Hosts> {
    if let Some(own) = own {
        return Some(Hosts {
            vcpus: own.vcpus.unwrap_or(0),
            memory: own.memory.unwrap_or(Bytes::ZERO),
            arch: own.arch.clone(),
            previous: args.previous,
        });
    }
    let is_requested = args.vcpu.is_some() || args.memory.is_some() || args.arch.is_some();
    is_requested.then(|| Hosts {
        vcpus: args.vcpu.map_or(0, std::num::NonZeroU32::get),
        memory: args.memory.unwrap_or(Bytes::ZERO),
        arch: args.arch.clone(),
        previous: args.previous,
    })
}

/// The machine of `--instance`, by the first seller who has it.
fn machine_named(name: &str, sellers: &[Seller], catalog: &Catalog) -> Result<Host> {
    let found = sellers
        .iter()
        .find_map(|seller| catalog.host(&seller.vendor, &seller.region, name));
    if let Some(host) = found {
        return Ok(host);
    }
    // Other vendors' machines are named with the vendor.
    let elsewhere = catalog
        .sellers_of_machines()
        .into_iter()
        .find_map(|vendor| {
            let region = catalog.usual_region(&format!("{vendor}/"));
            catalog.host(&vendor, &region, &format!("{vendor}/{name}"))
        });
    if let Some(host) = elsewhere {
        bail!("--instance: no machine {name}; did you mean {}?", host.name);
    }
    let all = Hosts {
        previous: true,
        ..Hosts::default()
    };
    let known = sellers
        .iter()
        .flat_map(|seller| catalog.hosts(&seller.vendor, &seller.region, &all));
    let known: Vec<String> = known.map(|host| host.name).collect();
    let hint = did_you_mean(name, known.iter().map(String::as_str), || {
        where_listed(sellers, catalog)
    });
    bail!("--instance: no machine {name}; {hint}")
}

/// Where the machines of sellers are listed. `catalog list` takes one vendor, and only those with machines
/// of their own.
fn where_listed(sellers: &[Seller], catalog: &Catalog) -> String {
    let listed = catalog.sellers_of_machines();
    let sellers = sellers.iter().map(|seller| seller.vendor.as_str());
    let commands: Vec<String> = sellers
        .clone()
        .filter(|vendor| listed.iter().any(|known| known == vendor))
        .map(|vendor| format!("`blocklab catalog list --vendor {vendor}`"))
        .collect();
    if commands.is_empty() {
        let vendors: Vec<&str> = sellers.collect();
        return format!("`catalog list` has none of {}", vendors.join(", "));
    }
    format!("{} shows them", commands.join(" or "))
}

/// The vendors whose offers are searched, each with its region.
fn sellers(args: &AdviseArgs, in_use: Option<&Offer>, catalog: &Catalog) -> Result<Vec<Seller>> {
    if let Some(name) = &args.place {
        let place = offers::place(catalog, name)?;
        let wanted = place
            .regions
            .into_iter()
            .filter(|at| args.vendor.is_empty() || args.vendor.contains(&at.vendor));
        let sellers: Vec<Seller> = wanted
            .map(|at| Seller {
                vendor: at.vendor,
                region: at.region,
                is_named: true,
            })
            .collect();
        if sellers.is_empty() {
            bail!("--vendor: none of {} is at {name}", args.vendor.join(", "));
        }
        return Ok(sellers);
    }
    let vendors = vendors(args, in_use, catalog)?;
    let sellers = vendors.into_iter().map(|vendor| {
        // The catalog finds a vendor by the beginning of its addresses.
        let prefix = format!("{vendor}/");
        let used_of_vendor = in_use.filter(|offer| vendor_of(offer, catalog) == vendor);
        let used_region = used_of_vendor.and_then(|offer| offer.region.as_ref());
        let Some(region) = args.region.as_ref().or(used_region) else {
            return Ok(Seller {
                region: catalog.usual_region(&prefix),
                vendor,
                is_named: false,
            });
        };
        if let Err(message) = catalog.known_region(&prefix, region) {
            bail!("--region: {vendor}: {message}");
        }
        Ok(Seller {
            region: region.clone(),
            vendor,
            is_named: true,
        })
    });
    sellers.collect()
}

/// Whose a volume is.
pub fn vendor_of(offer: &Offer, catalog: &Catalog) -> String {
    // `local` is a name of every vendor: the machine shows whose it is.
    let named = match (offer.volume.as_str(), &offer.instance) {
        ("local", Some(machine)) => machine,
        (volume, _) => volume,
    };
    match named.split_once('/') {
        Some((vendor, _)) => vendor.to_owned(),
        // Only names of the first vendor begin without it.
        None => catalog.vendor_names().swap_remove(0),
    }
}

/// The vendors of `--vendor`; else that of the volume in use, of the machine or of the region, or the
/// first one.
fn vendors(args: &AdviseArgs, in_use: Option<&Offer>, catalog: &Catalog) -> Result<Vec<String>> {
    let known = catalog.vendor_names();
    let mut wanted: Vec<String> = Vec::new();
    for vendor in &args.vendor {
        if !known.contains(vendor) {
            let hint = did_you_mean(vendor, known.iter().map(String::as_str), || {
                format!("the vendors are {}", known.join(", "))
            });
            bail!("--vendor: no vendor {vendor}; {hint}");
        }
        if !wanted.contains(vendor) {
            wanted.push(vendor.clone());
        }
    }
    if !wanted.is_empty() {
        return Ok(wanted);
    }
    if let Some(offer) = in_use {
        return Ok(vec![vendor_of(offer, catalog)]);
    }
    let named = args
        .instance
        .as_deref()
        .and_then(|name| name.split_once('/'));
    if let Some((vendor, _)) = named {
        return Ok(vec![vendor.to_owned()]);
    }
    let sellers = catalog.sellers_of_machines();
    let of_region = args.region.as_ref().and_then(|region| {
        let mut sellers = sellers.iter();
        sellers.find(|vendor| catalog.known_region(&format!("{vendor}/"), region).is_ok())
    });
    Ok(of_region.or(sellers.first()).into_iter().cloned().collect())
}
