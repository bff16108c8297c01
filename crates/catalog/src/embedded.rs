//! The figures that the program carries, as they lie in its files.

use self::Section::{
    Instances, OnDemand, Sources, VolumeLatencies, VolumeLimits, VolumePrices, VolumeTypes,
};

macro_rules! data {
    ($path:literal) => {
        include_str!(concat!("../data/", $path))
    };
}

pub(crate) const DOCUMENTED: &str = data!("aws/documented-limits.csv");
pub(crate) const SNAPSHOTS: &str = data!("aws/instance-snapshots.csv");
pub(crate) const STORES: &str = data!("aws/instance-store.csv");
pub(crate) const LAUNCHES: &str = data!("aws/launches.csv");
pub(crate) const LOCAL_MEASURED: &str = data!("aws/local-measured.csv");
pub(crate) const LOCAL_PROFILES: &str = data!("aws/local-profiles.csv");
pub(crate) const TAILS: &str = data!("aws/ebs-tail.csv");
pub(crate) const DELIVERED: &str = data!("aws/delivered.csv");
pub(crate) const SUCCESSORS: &str = data!("aws/ebs-successors.csv");
pub(crate) const ACCOUNTING: &str = data!("aws/io-accounting.csv");
pub(crate) const RULES: &str = data!("aws/rules-in-force.csv");
pub(crate) const LATENCIES: &str = data!("aws/latency.csv");
pub(crate) const PUBLISHED: &str = data!("aws/published-latency.csv");
pub(crate) const AZURE_SIZES: &str = data!("azure/vm-disk-caps.csv");
pub(crate) const STORAGE_TYPES: &str = data!("storage-types/cloud-storage-types.csv");

/// The tables that a user's own file may add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Sources,
    Instances,
    OnDemand,
    VolumeTypes,
    VolumeLimits,
    VolumeLatencies,
    VolumePrices,
}

/// Each section, its name in a user's file, and what the program carries of it.
pub(crate) const SECTIONS: [(Section, &str, &str); 7] = [
    (Sources, "sources", data!("sources.csv")),
    (Instances, "instances", data!("aws/instances.csv")),
    (OnDemand, "on-demand", data!("aws/on-demand.txt")),
    (VolumeTypes, "ebs-types", data!("aws/ebs-types.csv")),
    (VolumeLimits, "ebs-limits", data!("aws/ebs-limits.csv")),
    (VolumeLatencies, "ebs-latency", data!("aws/ebs-latency.csv")),
    (VolumePrices, "ebs-prices", data!("aws/ebs-prices.csv")),
];

impl Section {
    pub(crate) const fn embedded(self) -> &'static str {
        SECTIONS[self as usize].2
    }

    pub(crate) fn head(self) -> &'static str {
        let mut lines = self.embedded().lines();
        lines
            .find(|line| !line.starts_with('#'))
            .unwrap_or_default()
    }
}
