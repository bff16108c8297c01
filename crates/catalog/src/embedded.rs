//! The figures that the program carries, as they lie in its files.

macro_rules! data {
    ($path:literal) => {
        include_str!(concat!("../data/", $path))
    };
}

pub(crate) const SOURCES: &str = data!("sources.csv");
pub(crate) const INSTANCES: &str = data!("aws/instances.csv");
pub(crate) const DOCUMENTED: &str = data!("aws/documented-limits.csv");
pub(crate) const SNAPSHOTS: &str = data!("aws/instance-snapshots.csv");
pub(crate) const STORES: &str = data!("aws/instance-store.csv");
pub(crate) const VOLUME_LIMITS: &str = data!("aws/ebs-limits.csv");
pub(crate) const VOLUME_TYPES: &str = data!("aws/ebs-types.csv");
pub(crate) const VOLUME_LATENCIES: &str = data!("aws/ebs-latency.csv");
pub(crate) const SUCCESSORS: &str = data!("aws/ebs-successors.csv");
pub(crate) const VOLUME_PRICES: &str = data!("aws/ebs-prices.csv");
pub(crate) const ON_DEMAND: &str = data!("aws/on-demand.txt");
pub(crate) const ACCOUNTING: &str = data!("aws/io-accounting.csv");
pub(crate) const RULES: &str = data!("aws/rules-in-force.csv");
pub(crate) const LATENCIES: &str = data!("aws/latency.csv");
pub(crate) const AZURE_SIZES: &str = data!("azure/vm-disk-caps.csv");
pub(crate) const STORAGE_TYPES: &str = data!("storage-types/cloud-storage-types.csv");
