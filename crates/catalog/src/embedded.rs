//! The tables of figures that are compiled into the program, as text.

use self::Section::{
    Instances, MachineLimits, Machines, Names, OnDemand, Places, Sources, Vendors, VolumeLatencies,
    VolumeLimits, VolumePrices, VolumeSizes, VolumeTypes,
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
    VolumeSizes,
    Vendors,
    Machines,
    MachineLimits,
    Names,
    Places,
}

/// Each section, its name in a user's file, and what the program carries of it, by vendor.
pub(crate) const SECTIONS: [(Section, &str, &[&str]); 13] = [
    (Sources, "sources", &[data!("sources.csv")]),
    (Instances, "instances", &[data!("aws/instances.csv")]),
    (
        OnDemand,
        "on-demand",
        &[
            data!("aws/on-demand.txt"),
            data!("azure/on-demand.txt"),
            data!("gcp/on-demand.txt"),
        ],
    ),
    (
        VolumeTypes,
        "volume-types",
        &[
            data!("aws/ebs-types.csv"),
            data!("azure/volume-types.csv"),
            data!("gcp/volume-types.csv"),
            data!("rds/volume-types.csv"),
            data!("storage-types/volume-types.csv"),
        ],
    ),
    (
        VolumeLimits,
        "volume-limits",
        &[
            data!("aws/ebs-limits.csv"),
            data!("azure/volume-limits.csv"),
            data!("gcp/volume-limits.csv"),
            data!("rds/volume-limits.csv"),
            data!("storage-types/volume-limits.csv"),
        ],
    ),
    (
        VolumeLatencies,
        "volume-latency",
        &[
            data!("aws/ebs-latency.csv"),
            data!("azure/volume-latency.csv"),
            data!("gcp/volume-latency.csv"),
        ],
    ),
    (
        VolumePrices,
        "volume-prices",
        &[
            data!("aws/ebs-prices.csv"),
            data!("azure/volume-prices.csv"),
            data!("gcp/volume-prices.csv"),
        ],
    ),
    (
        VolumeSizes,
        "volume-sizes",
        &[data!("azure/volume-sizes.csv")],
    ),
    (Vendors, "vendors", &[data!("vendors.csv")]),
    (
        Machines,
        "machines",
        &[data!("azure/machines.csv"), data!("gcp/machines.csv")],
    ),
    (
        MachineLimits,
        "machine-limits",
        &[
            data!("azure/machine-limits.csv"),
            data!("gcp/machine-limits.csv"),
        ],
    ),
    (Names, "names", &[data!("names.csv")]),
    (Places, "places", &[data!("places.csv")]),
];

impl Section {
    /// The section that a user's file calls so. What is of volumes was of EBS alone once.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = SECTIONS.iter().find(|(_, known, _)| {
            let of_volumes = known.strip_prefix("volume-");
            *known == name || of_volumes.is_some_and(|part| name.strip_prefix("ebs-") == Some(part))
        });
        found.map(|(section, ..)| *section)
    }

    pub(crate) const fn embedded(self) -> &'static [&'static str] {
        SECTIONS[self as usize].2
    }

    /// The columns of the first table.
    pub(crate) fn head(self) -> &'static str {
        self.heads().next().unwrap_or_default()
    }

    /// The columns that its tables may have: later vendors needed more.
    pub(crate) fn heads(self) -> impl Iterator<Item = &'static str> {
        let texts = self.embedded().iter();
        texts.filter_map(|text| text.lines().find(|line| !line.starts_with('#')))
    }
}
