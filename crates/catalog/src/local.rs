//! The instance's own disks: separate budgets for reads and writes, shared evenly by the disks.

use blocklab_device::{Cap, Covers, LimitUnit, Origin, Rate, Service, VolumeSpec, class::Class};
use blocklab_units::{Bytes, Nanos, count, plural};
use blocklab_workload::{Date, Offer, address::Part};

use crate::Catalog;
use crate::draft::Draft;
use crate::embedded::LOCAL_PROFILES;
use crate::error::{Refusal, refuse_settings};
use crate::figure::Figure;
use crate::instance::{Instance, Store, family};
use crate::remarks::Remark;
use crate::stand_in::BUCKET;
use crate::table::Table;

/// How an address names the instance's own disks.
pub const NAME: &str = "local";

/// A read limiter that rested lets a quarter of a second of its rate pass at once, a write limiter
/// nine tenths (i3-vs-i2: 64 and 128 jobs of reads, 16 to 128 jobs of writes, both patterns). One
/// of bytes holds about a second, as those of EBS do (im4gn: 1.2 s over a minute).
const READ_BUCKET: Nanos = Nanos::from_millis(250);
const WRITE_BUCKET: Nanos = Nanos::from_millis(900);

/// The disks that an address names.
///
/// # Errors
/// When the instance has none, or fewer, or a key makes no sense for them.
pub(crate) fn disks(
    catalog: &Catalog,
    offer: &Offer,
    instance: &Instance,
) -> Result<Draft, Refusal> {
    let Some(store) = &instance.store else {
        let message = format!(
            "{} has no disks of its own; `blocklab catalog list --has-local` lists those that have",
            instance.name
        );
        return Err(Refusal::new(Part::Instance, message));
    };
    no_settings(offer, instance, store)?;
    let wanted = offer.count.map_or(store.disks, std::num::NonZeroU32::get);
    if wanted > store.disks {
        let message = format!(
            "{} has {} of its own",
            instance.name,
            plural(store.disks as usize, "disk")
        );
        return Err(Refusal::new(Part::Count, message));
    }
    let kind = if store.nvme {
        "local NVMe"
    } else {
        "local disk"
    };
    let mut draft = Draft::new(VolumeSpec::new(kind, Bytes((store.disk_gb * 1e9) as u64)));
    draft.volumes = wanted as usize;
    draft.purchase.instance = Some(instance.name.clone());
    disk(catalog, instance, store, offer.as_of, &mut draft);
    profile(offer, instance, store, &mut draft)?;
    if wanted < store.disks {
        draft.notes.push(
            format!(
                "{wanted} of {}: each is taken to have its even share of the documented rates",
                plural(store.disks as usize, "disk")
            )
            .into(),
        );
    }
    Ok(draft)
}

/// Refuses settings that only volumes have.
fn no_settings(offer: &Offer, instance: &Instance, store: &Store) -> Result<(), Refusal> {
    let disks = plural(store.disks as usize, "disk");
    let shape = format!("{} has {disks} of {} GB", instance.name, store.disk_gb);
    refuse_settings(offer, &["credits", "instance-credits"], |what| {
        format!("local disks come with the instance and take no {what}: {shape}")
    })
}

/// Describes one of the disks: its limits and its service.
fn disk(
    catalog: &Catalog,
    instance: &Instance,
    store: &Store,
    as_of: Option<Date>,
    draft: &mut Draft,
) {
    let (Some(read), Some(write)) = (&store.read_iops, &store.write_iops) else {
        draft.notes.push(Remark::no_prediction(format!(
            "no document gives the IOPS of {}'s own disks, and nobody measured them: no prediction is made. profile=FILE.toml \
             lets a device stand in that you measured",
            instance.name
        )));
        return;
    };
    // Without caps on the operations: the documented figures are what the disks themselves do, so they
    // are the rate at which the medium saturates.
    if family(&instance.name) == "i2" {
        draft.volume.service = Some(i2(catalog, as_of, read));
        byte_caps(store, &mut draft.volume);
        draft.notes.push(
            format!(
                "the disks of I2 are limited by themselves, not by contract: {} and {} IOPS are \
             documented for all of them, and more is delivered",
                count(read.value),
                count(write.value)
            )
            .into(),
        );
        return;
    }
    draft.volume.caps = vec![
        store.disk_cap("disk IOPS", Covers::Reads, read),
        store.disk_cap("disk IOPS", Covers::Writes, write),
    ];
    byte_caps(store, &mut draft.volume);
    let service = service(instance, store, read, &mut draft.assumptions);
    draft.volume.service = Some(service);
    if family(&instance.name) == "i3" {
        first_writes(&mut draft.volume.caps[1], write);
    }
}

impl Store {
    /// A cap of one disk: its share of what is documented for all disks of the instance.
    fn disk_cap(&self, name: &str, covers: Covers, figure: &Figure) -> Cap {
        let value = figure.value / f64::from(self.disks);
        let rate = match figure.unit {
            LimitUnit::MbPerS => Rate::MbPerS(value),
            LimitUnit::MibPerS => Rate::MibPerS(value),
            _ => Rate::Iops(value),
        };
        let bucket = match covers {
            _ if rate.counts_bytes() => BUCKET,
            Covers::Reads => READ_BUCKET,
            _ => WRITE_BUCKET,
        };
        Cap {
            covers,
            bucket,
            ..Cap::new(name, rate, figure.origin.clone())
        }
    }
}

/// I3 passed up to 24,000 first writes a second for a moment where 18,750 were documented. Those
/// figures name the study i3-vs-i2 as their source; the ones of 2018 are no first writes, and no
/// measurement shows what lies above them.
fn first_writes(writes: &mut Cap, documented: &Figure) {
    const PEAK: f64 = 24_000.0 / 18_750.0;
    if let (
        Origin::Documented { source, .. } | Origin::Assumed { because: source },
        Rate::Iops(rate),
    ) = (&documented.origin, writes.rate)
        && source.contains("i3-vs-i2")
    {
        writes.peak = Some(Rate::Iops(rate * PEAK));
    }
}

/// Byte rates: documented, measured, or in proportion to the IOPS.
fn byte_caps(store: &Store, spec: &mut VolumeSpec) {
    let rates = [
        (Covers::Reads, &store.read_mb, &store.read_iops),
        (Covers::Writes, &store.write_mb, &store.write_iops),
    ];
    let caps = rates.into_iter().filter_map(|(covers, bytes, iops)| {
        let known = bytes.clone().or_else(|| iops.as_ref().map(bytes_of))?;
        Some(store.disk_cap("disk throughput", covers, &known))
    });
    spec.caps.extend(caps);
}

/// The byte rate of a disk whose IOPS are known and whose bytes are not, in proportion to the IOPS
/// as on r5d.xlarge.
fn bytes_of(iops: &Figure) -> Figure {
    const R5D_MB: f64 = 134.217_728;
    const R5D_IOPS: f64 = 29_000.0;
    Figure {
        value: iops.value * R5D_MB / R5D_IOPS,
        unit: LimitUnit::MbPerS,
        origin: Origin::assumed(
            "in proportion to the IOPS, as r5d.xlarge: 128 MiB/s measured with 29,000 writes",
        ),
    }
}

/// What a disk does in another state than new, by the table of profiles.
///
/// # Errors
/// When the family has no such profile; a path names a device file and is not looked up here.
fn profile(
    offer: &Offer,
    instance: &Instance,
    store: &Store,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let Some(name) = offer.named_profile() else {
        return Ok(());
    };
    let family = family(&instance.name);
    let rows: Vec<_> = Table::embedded(LOCAL_PROFILES).rows_of(family).collect();
    let Some(row) = rows.iter().find(|row| row.text("profile") == name) else {
        let known: Vec<_> = rows.iter().map(|row| row.text("profile")).collect();
        let message = match known.as_slice() {
            [] => format!(
                "the disks of {family} have no profile; a device file is named by its path, \
                 profile=./{name}.toml"
            ),
            known => format!(
                "the disks of {family} have the profile {}",
                known.join(", ")
            ),
        };
        return Err(Refusal::new(Part::Key("profile"), message));
    };
    let (mb, of_gb) = (row.get("write_MBps"), row.get("disk_gb"));
    let (Some::<f64>(mb), Some::<f64>(of_gb)) = (mb, of_gb) else {
        unreachable!("profile {name} of {family} has no rate");
    };
    let why = row.text("why");
    let (mb, origin) = if store.disk_gb >= of_gb {
        (mb, Origin::measured(why))
    } else {
        let because = format!("in proportion to the size of the disk: {why}");
        (mb * store.disk_gb / of_gb, Origin::assumed(&because))
    };
    let mut caps = draft.volume.caps.iter_mut();
    if let Some(cap) = caps.find(|cap| cap.covers == Covers::Writes && cap.rate.counts_bytes()) {
        let service = draft.volume.service.as_mut();
        if let Some(programs) = service.and_then(|service| service.programs.as_mut()) {
            // The rest of what the flash can program it spends on collecting garbage.
            programs.page = Bytes((programs.page.as_f64() * mb / cap.rate.value()) as u64);
        }
        cap.rate = Rate::MbPerS(mb);
        cap.origin = origin;
    }
    Ok(())
}

const WHOLE_I3_GB: f64 = 1900.0;

/// Service times of a disk, measured on its own family or assumed from a related one.
fn service(
    instance: &Instance,
    store: &Store,
    read: &Figure,
    assumptions: &mut Vec<String>,
) -> Service {
    let family = family(&instance.name);
    let (class, measured_on) = match family {
        "i3" => (Class::I3Nvme, "i3"),
        "i3en" => (Class::I3enNvme, "i3en"),
        "im4gn" => (Class::Im4gnNvme, "im4gn"),
        "is4gen" | "i4i" | "i4g" | "i7i" | "i7ie" | "i8g" | "i8ge" => (Class::NitroSsd, "is4gen"),
        "c5d" => (Class::R5dNvme, "r5d"),
        // Their xlarge has the same documented disk as r5d.xlarge.
        "r5d" | "r5dn" | "r5ad" | "m5d" | "m5dn" | "m5ad" | "z1d" => (Class::R5dNvme, "r5d"),
        _ => (Class::LocalSsd, family),
    };
    let mut service = class.service();
    if measured_on != family {
        let because = format!("measured on {measured_on}, not on {family}");
        assumptions.push(format!("latency of the local disks: {because}"));
        let origins = service.origins_mut();
        origins.for_each(|origin| *origin = Origin::assumed(&because));
    }
    if class == Class::I3enNvme {
        // The disk of i3en.3xlarge, of which smaller sizes have a share: its documented 250,000 and
        // a tenth, so that the limiter binds first; with it the measured reads are met.
        let origin = Origin::measured("i3en.3xlarge (ScyllaDB, diskplorer), 132 cells");
        // Writes never come near a million: their limiter holds them far below it.
        service = service.saturating_at(275_000.0, 1e6, origin);
    }
    if class == Class::I3Nvme {
        // A whole disk does what is documented for it and no more. Smaller sizes have a part of one,
        // and their limiter holds them below what that part can do: with 4 to 32 jobs of random reads
        // i3.xlarge came near its 206,250 as a medium that tends to 1.75 times that.
        let rate = read.value / f64::from(store.disks);
        let most = (1.75 * rate).min(rate * WHOLE_I3_GB / store.disk_gb);
        let origin = Origin::measured(
            "i3.2xlarge (ScyllaDB, diskplorer), 123 cells; i3.xlarge, study i3-vs-i2: random reads of 4 to 32 jobs",
        );
        service = service.saturating_at(most, most, origin);
    }
    service
}

/// I2 disks are alike: an eighth of i2.8xlarge is what one can do, and of writes a little more.
fn i2(catalog: &Catalog, as_of: Option<Date>, known: &Figure) -> Service {
    // 42,896, 42,668 and 42,769 random writes a second of 32, 64 and 128 jobs, over 39,375.
    const WRITTEN: f64 = 1.086;
    let largest = catalog.instance("i2.8xlarge", as_of).and_then(|i| i.store);
    let (read, write) = largest.map_or((None, None), |store| (store.read_iops, store.write_iops));
    let [read, write] =
        [read, write].map(|figure| figure.map_or(known.value, |figure| figure.value / 8.0));
    let origin = Origin::measured(
        "i2.xlarge, study i3-vs-i2: 64 jobs gave 0.995 of the 365,000 random reads and 32 to 128 jobs 1.086 of the 315,000 first writes that are documented for i2.8xlarge and its 8 disks (2017-02)",
    );
    Class::I2Sata
        .service()
        .saturating_at(read, write * WRITTEN, origin)
}
