//! EBS volume types: what may be bought on a day, and the device that comes of it.

use blocklab_device::class::Class;
use blocklab_device::{Cap, Covers, Credit, Limit, Origin, Rate, VolumeSpec};
use blocklab_units::{Bytes, count};

use crate::figure::Figure;
use crate::refusal::Refusal;
use crate::stand_in::BUCKET;
use crate::table::Table;

use crate::{Catalog, Date, Offer, Part};

mod limits;

use limits::{Limits, vendor_gib};

/// What a volume of this size and these settings is, on that day.
pub(crate) struct Volume {
    pub(crate) spec: VolumeSpec,
    pub(crate) size_gib: u64,
    /// As provisioned, where the type is sold so.
    pub(crate) iops: Option<u64>,
    pub(crate) throughput_mibps: Option<u64>,
    /// The name under which it is priced.
    pub(crate) priced_as: &'static str,
    /// Bounds of what may be bought, which are no limit of the device.
    pub(crate) bounds: Vec<Limit>,
    pub(crate) assumptions: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Where a volume is attached, as far as its limits depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Host<'h> {
    pub(crate) family: &'h str,
    pub(crate) nitro: bool,
}

/// The types, and the text behind each.
const TYPES: [&str; 8] = [
    "gp2",
    "gp3",
    "io1",
    "io2",
    BLOCK_EXPRESS,
    "st1",
    "sc1",
    "standard",
];
const BLOCK_EXPRESS: &str = "io2-block-express";

/// Whether EBS has a type of this name.
pub(crate) fn is_type(name: &str) -> bool {
    TYPES.contains(&name)
}

fn cap(name: &str, rate: Rate, figure: &Figure) -> Cap {
    Cap {
        name: name.to_owned(),
        covers: Covers::All,
        rate,
        bucket: BUCKET,
        peak: None,
        origin: figure.origin.clone(),
    }
}

/// The evidence of a setting that was asked for: the document that allows it.
fn provisioned_within(figure: Figure) -> Figure {
    let origin = match figure.origin {
        Origin::Documented { source, date } => {
            let source = format!("as provisioned, within what is documented: {source}");
            Origin::Documented { source, date }
        }
        other => other,
    };
    Figure { origin, ..figure }
}

fn no_key(offer: &Offer, kind: &str, instead: &str) -> Result<(), Refusal> {
    let keys = [
        ("iops", offer.iops.is_some()),
        ("throughput", offer.throughput_mibps.is_some()),
    ];
    match keys.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(Refusal::new(
            Part::Key(key),
            format!("{kind} has no provisioned {key}: {instead}"),
        )),
        None => Ok(()),
    }
}

/// The volume that an address asks for.
///
/// # Errors
/// When the vendor did not sell such a volume on that day.
pub(crate) fn volume(
    catalog: &Catalog,
    offer: &Offer,
    host: Option<Host<'_>>,
) -> Result<Volume, Refusal> {
    let kind = TYPES
        .into_iter()
        .find(|kind| *kind == offer.volume)
        .unwrap_or("gp3");
    let kind = match express(catalog, offer, kind, host)? {
        true => BLOCK_EXPRESS,
        false => kind,
    };
    let limits = Limits::of(catalog, kind, offer.as_of)?;
    let mut assumptions = Vec::new();
    let gib = limits.size(offer, &mut assumptions)?;
    let mut volume = Volume {
        spec: VolumeSpec {
            kind: kind.to_owned(),
            capacity: Bytes(gib << 30),
            accounting: class(kind).accounting(),
            caps: Vec::new(),
            credits: Vec::new(),
            service: Some(class(kind).service()),
            network: None,
            queue_depth: None,
        },
        size_gib: gib,
        iops: None,
        throughput_mibps: None,
        priced_as: if kind == BLOCK_EXPRESS { "io2" } else { kind },
        bounds: limits.all(),
        assumptions,
        notes: Vec::new(),
    };
    match kind {
        "gp2" => gp2(&limits, offer, &mut volume)?,
        "gp3" => gp3(&limits, offer, &mut volume)?,
        "st1" | "sc1" => hdd(&limits, offer, &mut volume)?,
        "standard" => standard(&limits, offer, &mut volume)?,
        _ => provisioned(&limits, offer, host, &mut volume)?,
    }
    Ok(volume)
}

fn class(kind: &str) -> Class {
    match kind {
        "gp3" => Class::Gp3,
        "st1" | "sc1" => Class::EbsHdd,
        BLOCK_EXPRESS => Class::BlockExpress,
        _ => Class::EbsSsd,
    }
}

/// Whether io2 runs on Block Express: always on an instance that supports it, and where more is
/// asked for than io2 gives elsewhere.
fn express(
    catalog: &Catalog,
    offer: &Offer,
    kind: &str,
    host: Option<Host<'_>>,
) -> Result<bool, Refusal> {
    if kind == BLOCK_EXPRESS {
        return Ok(true);
    }
    if kind != "io2" {
        return Ok(false);
    }
    let plain = Limits::of(catalog, "io2", offer.as_of)?;
    let beyond = offer
        .iops
        .is_some_and(|iops| iops as f64 > plain.value("max_iops"))
        || offer
            .size
            .is_some_and(|size| vendor_gib(size).0 as f64 > plain.value("size_max"));
    let day = offer.as_of.unwrap_or(Date::MAX);
    let since = |key: &str| {
        let row = Table::new(crate::embedded::BLOCK_EXPRESS)
            .rows_of(key)
            .next();
        row.and_then(|row| row.get::<Date>("from"))
            .is_some_and(|from| from <= day)
    };
    let supported = host.is_none_or(|host| since(host.family) || host.nitro && since("nitro"));
    match (beyond, supported, host) {
        (true, false, Some(_)) => Err(Refusal::new(
            Part::Instance,
            "this instance does not run io2 on Block Express: up to 16 TiB and 64,000 IOPS there",
        )),
        (beyond, supported, host) => Ok(supported && (beyond || host.is_some())),
    }
}

/// 3 IOPS per GiB; smaller volumes burst on credits. Without credits the throughput is the
/// baseline times 256 KiB, which follows from how operations are counted.
fn gp2(limits: &Limits, offer: &Offer, volume: &mut Volume) -> Result<(), Refusal> {
    let gib = volume.size_gib as f64;
    let figure = |name: &str| limits.get(name).unwrap_or_else(no_figure);
    let (per_gib, min, max) = (
        figure("baseline_iops_per_gib"),
        figure("min_iops"),
        figure("max_iops"),
    );
    let baseline = (gib * per_gib.value).max(min.value).min(max.value);
    let instead = format!(
        "{} IOPS per GiB, so {gib} GiB give {}; gp3 and io1 are provisioned",
        per_gib.value,
        count(baseline)
    );
    no_key(offer, "gp2", &instead)?;
    let burst = figure("burst_iops");
    if baseline < burst.value {
        volume.spec.credits.push(Credit {
            name: "burst credits".to_owned(),
            baseline: Rate::Iops(baseline),
            burst: Rate::Iops(burst.value),
            capacity: limits.value("burst_bucket"),
            initial_share: limits.value("initial_credits") / limits.value("burst_bucket"),
            full_again: None,
            origin: burst.origin,
        });
    } else {
        let from = if baseline < max.value { per_gib } else { max };
        volume
            .spec
            .caps
            .push(cap("volume IOPS", Rate::Iops(baseline), &from));
    }
    let throughput = match gib <= 170.0 {
        true => figure("max_throughput_le_170gib"),
        false => figure("max_throughput"),
    };
    volume.spec.caps.push(cap(
        "volume throughput",
        Rate::MibPerS(throughput.value),
        &throughput,
    ));
    Ok(())
}

fn gp3(limits: &Limits, offer: &Offer, volume: &mut Volume) -> Result<(), Refusal> {
    let figure = |name: &str| limits.get(name).unwrap_or_else(no_figure);
    let (base, most) = (figure("base_iops"), figure("max_iops"));
    let iops = limits.iops(offer, volume.size_gib, base.value, &most)?;
    let throughput = gp3_throughput(limits, offer, iops)?;
    let from = |asked: bool, included: Figure, most: Figure| {
        if asked {
            provisioned_within(most)
        } else {
            included
        }
    };
    let iops_from = from(offer.iops.is_some(), base, most);
    let included = figure("base_throughput");
    let through_from = from(
        offer.throughput_mibps.is_some(),
        included,
        figure("max_throughput"),
    );
    volume.spec.caps = vec![
        cap("volume IOPS", Rate::Iops(iops as f64), &iops_from),
        cap(
            "volume throughput",
            Rate::MibPerS(throughput as f64),
            &through_from,
        ),
    ];
    volume.iops = Some(iops);
    volume.throughput_mibps = Some(throughput);
    Ok(())
}

fn gp3_throughput(limits: &Limits, offer: &Offer, iops: u64) -> Result<u64, Refusal> {
    let included = limits.value("base_throughput");
    let Some(asked) = offer.throughput_mibps else {
        return Ok(included as u64);
    };
    let (most, per_iops) = (
        limits.value("max_throughput"),
        limits.value("max_mibps_per_iops"),
    );
    let allowed = most.min(iops as f64 * per_iops);
    let part = Part::Key("throughput");
    if (asked as f64) < included {
        let message = format!("gp3 includes {included} MiB/s; throughput= asks for more");
        return Err(Refusal::new(part, message));
    }
    if asked as f64 > allowed {
        let message = format!(
            "gp3 with {} IOPS allows at most {} MiB/s; {per_iops} per IOPS, {} at most ({})",
            count(iops as f64),
            count(allowed),
            count(most),
            limits.day()
        );
        return Err(Refusal::new(part, message));
    }
    Ok(asked)
}

/// io1, io2, io2 Block Express.
fn provisioned(
    limits: &Limits,
    offer: &Offer,
    host: Option<Host<'_>>,
    volume: &mut Volume,
) -> Result<(), Refusal> {
    let kind = limits.kind;
    if offer.throughput_mibps.is_some() {
        let message = format!("the throughput of {kind} follows from its IOPS; only gp3 sells it");
        return Err(Refusal::new(Part::Key("throughput"), message));
    }
    let most = limits.get("max_iops").unwrap_or_else(no_figure);
    let iops = limits.iops(offer, volume.size_gib, limits.value("min_iops"), &most)?;
    volume.iops = Some(iops);
    volume.spec.caps = vec![
        cap(
            "volume IOPS",
            Rate::Iops(iops as f64),
            &provisioned_within(most),
        ),
        throughput_of_iops(limits, iops),
    ];
    let elsewhere = limits.in_force("max_iops_not_nitro");
    if let (Some(elsewhere), Some(host)) = (elsewhere, host)
        && !host.nitro
        && iops as f64 > elsewhere.value
    {
        let rate = Rate::Iops(elsewhere.value);
        volume
            .spec
            .caps
            .push(cap("volume IOPS outside Nitro", rate, &elsewhere));
        volume.notes.push(format!(
            "{kind} delivers at most {} IOPS on an instance that is not built on Nitro",
            count(elsewhere.value)
        ));
    }
    Ok(())
}

/// Throughput that grows with the provisioned IOPS, in up to two steps.
fn throughput_of_iops(limits: &Limits, iops: u64) -> Cap {
    let most = limits.get("max_throughput").unwrap_or_else(no_figure);
    let iops = iops as f64;
    if let Some(per) = limits.in_force("mibps_per_iops") {
        let rate = Rate::MibPerS(most.value.min(iops * per.value));
        return cap("volume throughput", rate, &per);
    }
    let below = limits
        .in_force("throughput_to_32000_iops")
        .unwrap_or_else(|| most.clone());
    let per = limits.get("max_kib_per_iops").unwrap_or_else(no_figure);
    let first = below.value.min(iops * per.value / 1024.0);
    match limits.in_force("max_kib_per_iops_above_32000") {
        Some(per) if iops > 32_000.0 => {
            let mibps = (iops * per.value / 1024.0).min(most.value);
            cap("volume throughput", Rate::MibPerS(mibps.max(first)), &per)
        }
        _ => cap("volume throughput", Rate::MibPerS(first), &below),
    }
}

/// st1 and sc1: bytes by size, a bucket of one scan of the volume.
fn hdd(limits: &Limits, offer: &Offer, volume: &mut Volume) -> Result<(), Refusal> {
    let kind = limits.kind;
    let figure = |name: &str| limits.get(name).unwrap_or_else(no_figure);
    let tib = volume.size_gib as f64 / 1024.0;
    let (base, burst, most) = (
        figure("base_mibps_per_tib"),
        figure("burst_mibps_per_tib"),
        figure("max_throughput"),
    );
    let at = |per_tib: &Figure| (per_tib.value * tib).min(most.value);
    let (base_mibps, burst_mibps) = (at(&base), at(&burst));
    no_key(
        offer,
        kind,
        &format!("{} MiB/s per TiB, {} in bursts", base.value, burst.value),
    )?;
    if base_mibps < burst_mibps {
        volume.spec.credits.push(Credit {
            name: "throughput credits".to_owned(),
            baseline: Rate::MibPerS(base_mibps),
            burst: Rate::MibPerS(burst_mibps),
            capacity: limits.value("bucket") * volume.spec.capacity.as_f64(),
            initial_share: 1.0,
            full_again: None,
            origin: burst.origin,
        });
    } else {
        volume
            .spec
            .caps
            .push(cap("volume throughput", Rate::MibPerS(base_mibps), &most));
    }
    let ops = figure("max_iops_1mib");
    volume
        .spec
        .caps
        .push(cap("volume IOPS of 1 MiB", Rate::Iops(ops.value), &ops));
    Ok(())
}

/// Best effort: nobody promises anything, so nothing is predicted, unless the user asks for the
/// documented average to stand in.
fn standard(limits: &Limits, offer: &Offer, volume: &mut Volume) -> Result<(), Refusal> {
    no_key(offer, "standard", "it is best effort")?;
    volume.spec.service = None;
    if offer.profile.as_deref() != Some("average") {
        volume.notes.push(
            "standard is best effort, 40 to 200 IOPS and 40 to 90 MiB/s: no prediction is made. \
             profile=average lets the documented average stand in, profile=FILE.toml a device that \
             you measured"
                .to_owned(),
        );
        return Ok(());
    }
    let figure = |name: &str| limits.get(name).unwrap_or_else(no_figure);
    let (average, most) = (figure("iops_average"), figure("high_throughput"));
    volume.spec.caps = vec![
        cap("average IOPS", Rate::Iops(average.value), &average),
        cap("volume throughput", Rate::MibPerS(most.value), &most),
    ];
    let because = "one operation at a time at the documented average of 100 IOPS";
    volume.spec.service = Some(crate::stand_in::stand_in(
        &Class::EbsHdd.service(),
        10_000_000,
        because,
    ));
    volume
        .assumptions
        .push("the documented average stands in for a promise (profile=average)".to_owned());
    Ok(())
}

/// A limit that the tables must have; `every_type_has_its_limits` sees to it.
fn no_figure() -> Figure {
    Figure {
        value: 0.0,
        unit: "",
        origin: Origin::assumed("not documented"),
    }
}
