//! Block storage of other vendors: `azure/PremiumV2_LRS:1TiB@azure/Standard_D4s_v3`.
//!
//! Their tables give a maximum of a whole type, not what a size is granted, so more is assumed
//! here than for EBS, and told.

use blocklab_device::{Cap, Covers, InstanceSpec, Origin, Rate, Service, VolumeSpec};
use blocklab_units::{Bytes, did_you_mean};
use blocklab_workload::{Offer, address::Part};

use crate::Catalog;
use crate::draft::Draft;
use crate::embedded::{AZURE_SIZES, STORAGE_TYPES};
use crate::error::Refusal;
use crate::remarks::Remark;
use crate::stand_in::{BUCKET, REFILL};
use crate::table::{Row, Table};

const AZURE: &str = "azure";

/// The names of the types of other vendors.
pub(crate) fn storage_types() -> impl Iterator<Item = String> {
    let rows = Table::new(STORAGE_TYPES)
        .rows()
        .filter(|row| row.text("vendor") != "aws");
    rows.map(|row| format!("{}/{}", row.text("vendor"), type_name(&row)))
}

/// Vendors that number their types name them too.
fn type_name(row: &Row<'_>) -> String {
    let (id, name) = (row.text("storage_id"), row.text("name"));
    let numbered = id.bytes().all(|b| b.is_ascii_digit());
    if numbered { name } else { id }.to_owned()
}

/// The sizes of Azure's virtual machines, as addresses name them.
pub(crate) fn azure_sizes() -> impl Iterator<Item = String> {
    let sizes = Table::new(AZURE_SIZES).keys().into_iter();
    sizes.map(|size| format!("{AZURE}/{size}"))
}

/// Whether a name belongs to another vendor.
pub(crate) fn is_foreign(name: &str) -> bool {
    name.contains('/')
}

fn origin(catalog: &Catalog, key: &str, date: &str) -> Origin {
    Origin::documented(&catalog.source(key).text, date)
}

fn cap(name: &str, covers: Covers, rate: Option<Rate>, origin: &Origin) -> Option<Cap> {
    Some(Cap {
        covers,
        bucket: BUCKET,
        refill_share: REFILL,
        ..Cap::new(name, rate?, origin.clone())
    })
}

/// No publication says how long these take: the tables assume a service in its place.
fn service(catalog: &Catalog, vendor: &str) -> Service {
    let mut service = match catalog.latency("other-vendors") {
        Ok(service) => service,
        // A user's rows are checked when they are loaded, and the embedded ones by a test.
        Err(why) => unreachable!("{why}"),
    };
    for origin in service.origins_mut() {
        if let Origin::Assumed { because } = origin {
            *because = because.replace("{vendor}", vendor);
        }
    }
    service
}

/// The volume that an address names.
///
/// # Errors
/// When there is no such type, or not in this size.
pub(crate) fn volume(catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
    let row = Table::new(STORAGE_TYPES).rows().find(|row| {
        let name = format!("{}/{}", row.text("vendor"), type_name(row));
        row.text("vendor") != "aws" && name == offer.volume
    });
    let Some(row) = row else {
        let names: Vec<String> = storage_types().collect();
        let known = names.iter().map(String::as_str);
        let hint = did_you_mean(&offer.volume, known, || names.join(", "));
        let message = format!("no volume type {}: {hint}", offer.volume);
        return Err(Refusal::new(Part::Volume, message));
    };
    let vendor = row.text("vendor");
    let mut draft = Draft::new(spec(catalog, offer, &row));
    draft.volumes = offer.count.map_or(1, |count| count.get() as usize);
    draft.volume.capacity = size(offer, &row, &mut draft.assumptions)?;
    settings(offer, &mut draft.volume)?;
    let name = &offer.volume;
    if draft.volume.caps.is_empty() {
        draft.volume.service = None;
        draft.notes.push(Remark::no_prediction(format!(
            "what {name} delivers depends on its size and on the machine; the catalog does not know \
             how: no prediction is made"
        )));
    } else {
        draft.assumptions.push(format!(
            "the figures are the most that {vendor} gives to any {name}; what a size is granted may \
             be less"
        ));
    }
    let unpriced = "no prices of these volumes are known".to_owned();
    draft.cost_notes.push(unpriced);
    Ok(draft)
}

fn spec(catalog: &Catalog, offer: &Offer, row: &Row<'_>) -> VolumeSpec {
    let origin = origin(catalog, "sparecores-0.3.4", row.text("observed_at"));
    let iops = row.get("max_iops").map(Rate::Iops);
    let bytes = row.get("max_throughput_MBps").map(Rate::MbPerS);
    let caps = [
        cap("volume IOPS", Covers::All, iops, &origin),
        cap("volume throughput", Covers::All, bytes, &origin),
    ];
    VolumeSpec {
        caps: caps.into_iter().flatten().collect(),
        service: Some(service(catalog, row.text("vendor"))),
        ..VolumeSpec::new(&offer.volume, Bytes::ZERO)
    }
}

/// GB of 10^9 bytes in the table, and sizes that people write in either unit.
fn size(offer: &Offer, row: &Row<'_>, assumptions: &mut Vec<String>) -> Result<Bytes, Refusal> {
    let (min, max): (u64, u64) = (
        row.get("min_gb").unwrap_or(1),
        row.get("max_gb").unwrap_or(u64::MAX >> 31),
    );
    let Some(size) = offer.size else {
        let assumed = 1024.clamp(min, max);
        assumptions.push(format!("no size is given: {assumed} GiB is assumed"));
        return Ok(Bytes(assumed << 30));
    };
    // Vendors write GB for either unit, so that a size passes when it fits in one of them.
    let fits = size.0 >= min * 1_000_000_000 && size.0 <= max << 30;
    if fits {
        Ok(size)
    } else {
        Err(Refusal::new(
            Part::Size,
            format!("{} comes in sizes of {min} to {max} GB", offer.volume),
        ))
    }
}

/// Provisioned values lie below the maximum of the type.
fn settings(offer: &Offer, spec: &mut VolumeSpec) -> Result<(), Refusal> {
    let requested_iops = offer.iops.map(|iops| iops as f64);
    let requested_mibps = offer.throughput_mibps.map(|mibps| mibps as f64);
    let settings = [
        ("iops", requested_iops, requested_iops.map(Rate::Iops)),
        (
            "throughput",
            requested_mibps,
            requested_mibps.map(Rate::MibPerS),
        ),
    ];
    for (key, value, rate) in settings {
        let (Some(value), Some(rate)) = (value, rate) else {
            continue;
        };
        let known = spec
            .caps
            .iter_mut()
            .find(|c| c.rate.counts_bytes() == rate.counts_bytes());
        let Some(cap) = known else {
            let message = format!("the catalog knows no {key} of {}", offer.volume);
            return Err(Refusal::new(Part::Key(key), message));
        };
        if rate.per_second() > cap.rate.per_second() {
            let (most, unit) = (cap.rate.value(), cap.rate.unit());
            let message = format!("{} allows at most {most} {unit}, not {value}", offer.volume);
            return Err(Refusal::new(Part::Key(key), message));
        }
        cap.rate = rate;
    }
    Ok(())
}

/// What an Azure virtual machine grants.
pub(crate) struct Machine<'t> {
    row: Row<'t>,
    name: String,
    origin: Origin,
}

impl<'t> Machine<'t> {
    /// # Errors
    /// When the catalog knows no such machine.
    pub(crate) fn find(catalog: &Catalog, name: &str) -> Result<Self, Refusal> {
        let size = name.strip_prefix("azure/");
        let row = size.and_then(|size| Table::new(AZURE_SIZES).rows_of(size).next());
        let origin = origin(catalog, "vantage-azure-2025-05", "2025-05-28");
        if let Some(row) = row {
            return Ok(Self {
                row,
                name: name.to_owned(),
                origin,
            });
        }
        let names: Vec<String> = azure_sizes().collect();
        let hint = did_you_mean(name, names.iter().map(String::as_str), || {
            "of other vendors the catalog knows azure/Standard_…".to_owned()
        });
        let message = format!("no machine {name}: {hint}");
        Err(Refusal::new(Part::Instance, message))
    }

    /// What it grants to its remote disks without cache.
    pub(crate) fn limits(&self) -> InstanceSpec {
        let iops = self.positive("uncached_iops").map(Rate::Iops);
        let bytes = self.throughput("uncached_MBps");
        InstanceSpec {
            name: self.name.clone(),
            caps: self.caps([
                ("uncached IOPS", Covers::All, iops),
                ("uncached throughput", Covers::All, bytes),
            ]),
            credits: Vec::new(),
        }
    }

    /// Some rows of the source repeat the IOPS where MB/s belong, or are a thousand times too
    /// large: no machine of this list moves 20 GB/s.
    fn throughput(&self, name: &str) -> Option<Rate> {
        let value = self.positive(name).filter(|value| *value < 20_000.0);
        value.map(Rate::MbPerS)
    }

    fn positive(&self, name: &str) -> Option<f64> {
        self.row.get(name).filter(|value: &f64| *value > 0.0)
    }

    /// US dollars an hour in East US, Linux.
    pub(crate) fn hour(&self) -> Option<f64> {
        self.positive("usd_hour")
    }

    /// Its local disk.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn disk(&self, catalog: &Catalog, offer: &Offer) -> Result<Draft, Refusal> {
        if offer.size.is_some() || offer.iops.is_some() || offer.throughput_mibps.is_some() {
            let message = "local disks come with the machine and take no settings";
            return Err(Refusal::new(Part::Whole, message));
        }
        let Some(gb) = self.positive("temp_disk_gb") else {
            let message = format!("{} has no disk of its own", self.name);
            return Err(Refusal::new(Part::Instance, message));
        };
        if offer.count.is_some_and(|count| count.get() > 1) {
            let message = format!("{} has 1 disk of its own", self.name);
            return Err(Refusal::new(Part::Count, message));
        }
        let mut draft = Draft::new(VolumeSpec {
            caps: self.disk_caps(),
            service: Some(service(catalog, AZURE)),
            ..VolumeSpec::new("local disk", Bytes((gb * 1e9) as u64))
        });
        let both = "the figures are those of local disk and cache together";
        draft.notes.push(both.to_owned().into());
        if draft.volume.caps.is_empty() {
            draft.volume.service = None;
            let unknown = "no document gives its IOPS: no prediction is made";
            draft.notes.push(Remark::no_prediction(unknown.to_owned()));
        }
        draft.purchase.machine_hour = self.hour();
        Ok(draft)
    }

    fn disk_caps(&self) -> Vec<Cap> {
        let iops = self.positive("local_iops").map(Rate::Iops);
        let (reads, writes) = ("local_read_MBps", "local_write_MBps");
        self.caps([
            ("disk IOPS", Covers::All, iops),
            (
                "disk read throughput",
                Covers::Reads,
                self.throughput(reads),
            ),
            (
                "disk write throughput",
                Covers::Writes,
                self.throughput(writes),
            ),
        ])
    }

    /// Those of which the table has a rate.
    fn caps<const N: usize>(&self, rates: [(&str, Covers, Option<Rate>); N]) -> Vec<Cap> {
        let rates = rates.into_iter();
        rates
            .filter_map(|(name, covers, rate)| cap(name, covers, rate, &self.origin))
            .collect()
    }
}
