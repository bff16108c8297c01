//! All that `catalog show` prints about an address, as data.

use blocklab_device::{
    Accounting, Credit, DeviceSpec, Limit, LimitKind, Load, Operation, Origin, Prediction, predict,
};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Address, Direction, Offer};
use serde::Serialize;

use crate::catalog::Catalog;
use crate::cost::{Cost, total};
use crate::endurance::{Endurance, SteadyLoad};
use crate::price::{Per, Price};
use crate::remarks::{RemarkKind, no_size};
use crate::resolve::instance_alone;
use crate::stretch::Stretch;
use crate::{Error, Resolved, local, resolve};

/// What is known of an address.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// In the shortest spelling.
    pub address: String,
    /// Every limit that holds.
    pub limits: Vec<Figure>,
    /// What random reads and writes of each size reach, and what binds them.
    pub reaches: Vec<Reach>,
    /// Every bucket: what it allows, for how long, and what remains.
    pub bursts: Vec<Burst>,
    /// Every price that holds.
    pub prices: Vec<Price>,
    /// A month's bill.
    pub costs: Vec<Cost>,
    /// Its sum in `currency`; `None` when nothing is priced, or a part of it is not.
    pub usd_per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// What a delivered unit costs.
    pub ratios: Vec<Ratio>,
    /// What is assumed.
    pub assumed: Vec<String>,
    /// What else is good to know.
    pub notes: Vec<String>,
    /// What becomes of a load, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endurance: Option<Endurance>,
    /// The assumptions and notes that concern the cost.
    #[serde(skip)]
    pub(crate) cost: CostBasis,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CostBasis {
    pub(crate) assumed: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) is_partial: bool,
}

/// A limit with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// `gp3: volume throughput`.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// `IOPS`, `MiB/s`, `MB/s`, …
    pub unit: &'static str,
    /// Where it comes from, and when.
    pub origin: Origin,
}

/// What one kind of load reaches with many operations in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reach {
    /// [`Direction::Read`] or [`Direction::Write`].
    pub direction: Direction,
    /// Where its operations go.
    pub pattern: AccessPattern,
    /// Size of an operation.
    pub block_bytes: u64,
    /// Operations in flight, on all volumes together.
    pub in_flight: u32,
    /// From the start on; the last one goes on for ever.
    pub phases: Vec<Stretch>,
}

/// Where the operations of a load go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessPattern {
    /// Anywhere.
    Random,
    /// One after the other.
    Sequential,
}

impl AccessPattern {
    /// Its name in texts, the same as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
        }
    }
}

/// A bucket.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Burst {
    /// `gp2: burst credits`.
    pub name: String,
    /// While it holds something.
    pub burst: f64,
    /// Afterwards.
    pub baseline: f64,
    /// The unit of both figures.
    pub unit: &'static str,
    /// How long what it holds at first lasts at the burst rate, in seconds.
    pub lasts_s: f64,
    /// How long an empty one takes to fill at rest, in seconds.
    pub refills_s: f64,
    /// The seconds after which it is full again, whatever was spent, where that is promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_again_s: Option<f64>,
}

/// A quotient with its inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// `US dollars a month per 1,000 IOPS`.
    pub name: String,
    /// US dollars a month.
    pub usd_per_month: f64,
    /// What the dollars buy: `volumes`, `volumes and instance`.
    pub of: &'static str,
    /// What is delivered.
    pub delivered: f64,
    /// In what.
    pub unit: &'static str,
    /// The quotient.
    pub value: f64,
}

/// The sizes that are shown, in KiB.
const BLOCKS: [u64; 6] = [4, 16, 64, 128, 256, 1024];

/// Operations in flight on each volume: enough that limits bind and not latencies.
const IN_FLIGHT: u32 = 256;

/// All that is known of an address, of a bare volume type, or of a bare instance type.
///
/// # Errors
/// As [`Address::parse`] and [`resolve`].
pub fn describe(text: &str, catalog: &Catalog) -> Result<Sheet, Error> {
    let mut address = Address::parse(text)?;
    let mut assumed = None;
    if let Address::Sold(offer) = &mut address {
        let own = catalog
            .instance(&offer.volume, None)
            .map(|known| known.name);
        let machine = own.or_else(|| catalog.machine_called(&offer.volume));
        if let Some(machine) = machine.filter(|_| offer.instance.is_none()) {
            offer.volume = machine;
            return instance(catalog, offer).map_err(|error| error.echoing(text));
        }
        assumed = assume_iops(catalog, offer);
    }
    let resolved = resolve(&address, catalog).map_err(|error| error.echoing(text))?;
    let mut sheet = Sheet::from_resolved(&resolved);
    // IOPS and size are what is paid for, so the cost rests on what was assumed of them, too.
    let of_cost = assumed
        .iter()
        .cloned()
        .chain(assumed_size(catalog, &resolved));
    sheet.cost.assumed.splice(0..0, of_cost.collect::<Vec<_>>());
    sheet.assumed.splice(0..0, assumed);
    Ok(sheet)
}

/// As [`describe`], with what becomes of a load.
///
/// # Errors
/// As [`describe`]; when nothing is predicted of the device.
pub fn describe_load(text: &str, load: &SteadyLoad, catalog: &Catalog) -> Result<Sheet, Error> {
    let mut sheet = describe(text, catalog)?;
    // The sheet's address names what was assumed of the one that was typed.
    let resolved =
        crate::resolve_text(&sheet.address, catalog).map_err(|error| error.echoing(text))?;
    sheet.endurance = Some(resolved.endure(load)?);
    Ok(sheet)
}

/// Sets the IOPS of a type that is sold by them, if none are named, so that it can be shown without
/// them. Gives the assumption in words; `None` if nothing had to be assumed.
fn assume_iops(catalog: &Catalog, offer: &mut Offer) -> Option<String> {
    if offer.iops.is_some() {
        return None;
    }
    let default = catalog.volume_type(&offer.volume)?.default_iops?;
    offer.iops = Some(default);
    Some(format!(
        "no IOPS are given: {} are assumed, the vendor's default for a volume changed to this type",
        count(default as f64)
    ))
}

/// That the size of a volume is assumed, where its address gives none.
fn assumed_size(catalog: &Catalog, resolved: &Resolved) -> Option<String> {
    let Address::Sold(offer) = &resolved.address else {
        return None;
    };
    let is_open = offer.size.is_none() && offer.size_name.is_none();
    catalog.volume_type(&offer.volume).filter(|_| is_open)?;
    Some(no_size(resolved.spec.volumes.first()?.capacity))
}

/// An instance type by itself: what it grants, its own disks, its price.
fn instance(catalog: &Catalog, offer: &Offer) -> Result<Sheet, Error> {
    let name = &offer.volume;
    let address = Address::Sold(offer.clone());
    let alone =
        instance_alone(catalog, offer).map_err(|refusal| Error::refused(&address, refusal))?;
    let mut sheet = Sheet::from_resolved(&alone);
    let known = catalog.instance(name, offer.as_of);
    if known.is_some_and(|instance| instance.store.is_some()) {
        let disks = Offer {
            volume: local::NAME.to_owned(),
            instance: Some(name.clone()),
            ..offer.clone()
        };
        sheet = sheet.with_own_disks(Sheet::from_resolved(&resolve(
            &Address::Sold(disks),
            catalog,
        )?));
    }
    Ok(sheet)
}

/// Adds the texts that are not there yet.
fn add_new(known: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !known.contains(&text) {
            known.push(text);
        }
    }
}

/// What a flush takes: no document and no published measurement gives it.
fn flushes(resolved: &Resolved) -> Vec<String> {
    let operation = Operation::Write;
    let latencies = resolved
        .limits
        .iter()
        .filter(|limit| limit.name.kind == LimitKind::Latency { operation });
    let assumed = latencies.map(|limit| {
        format!(
            "{}: a flush takes as long as a write of no bytes, {} {}, and nothing of IOPS and \
             throughput; no source gives its time",
            limit.name.owner,
            count(limit.value),
            limit.unit.text()
        )
    });
    assumed.collect()
}

impl Sheet {
    /// Puts what is known of an instance's disks behind what the instance grants. Both were priced,
    /// and the disks come with the instance.
    fn with_own_disks(self, mut disks: Sheet) -> Self {
        disks.limits.splice(0..0, self.limits);
        disks.bursts.extend(self.bursts);
        add_new(&mut disks.assumed, self.assumed);
        add_new(&mut disks.notes, self.notes);
        Self {
            address: self.address,
            ..disks
        }
    }

    /// All that is known of a resolved address.
    fn from_resolved(resolved: &Resolved) -> Self {
        let remarks = resolved.notes.iter().map(|remark| remark.text.clone());
        let mut notes: Vec<String> = remarks.chain(resolved.cost_notes.iter().cloned()).collect();
        // A note that already says why there is no prediction says it better than the error.
        let reaches = reaches(resolved).unwrap_or_else(|why| {
            let mut remarks = resolved.notes.iter();
            if remarks.all(|remark| remark.kind != RemarkKind::NoPrediction) {
                notes.push(why);
            }
            Vec::new()
        });
        Self {
            address: resolved.address.to_string(),
            limits: resolved.limits.iter().map(Figure::from_limit).collect(),
            bursts: bursts(&resolved.spec),
            prices: resolved.prices.clone(),
            usd_per_month: resolved.per_month(),
            currency: resolved.currency(),
            ratios: if resolved.partly_unpriced {
                Vec::new()
            } else {
                ratios(&resolved.costs, &reaches)
            },
            costs: resolved.costs.clone(),
            reaches,
            assumed: [
                &*resolved.assumptions,
                &*resolved.cost_assumptions,
                &flushes(resolved),
            ]
            .concat(),
            notes,
            endurance: None,
            cost: CostBasis {
                assumed: resolved.cost_assumptions.clone(),
                notes: resolved.cost_notes.clone(),
                is_partial: resolved.partly_unpriced,
            },
        }
    }
}

impl Figure {
    fn from_limit(limit: &Limit) -> Self {
        Self {
            name: limit.name.to_string(),
            value: limit.value,
            unit: limit.unit.text(),
            origin: limit.origin.clone(),
        }
    }
}

impl Burst {
    fn new(owner: &str, credit: &Credit) -> Self {
        let spent = credit.burst.per_second() - credit.baseline.per_second();
        Self {
            name: format!("{owner}: {}", credit.name),
            burst: credit.burst.value(),
            baseline: credit.baseline.value(),
            unit: credit.burst.unit().text(),
            lasts_s: credit.capacity * credit.initial_share / spent,
            refills_s: credit.capacity / credit.baseline.per_second(),
            full_again_s: credit.full_again.map(|time| time.as_secs_f64()),
        }
    }
}

/// The credits of volumes and instance. Equal volumes are listed once.
fn bursts(spec: &DeviceSpec) -> Vec<Burst> {
    let mut found: Vec<Burst> = Vec::new();
    for volume in &spec.volumes {
        for credit in &volume.credits {
            let burst = Burst::new(&volume.kind, credit);
            if !found.contains(&burst) {
                found.push(burst);
            }
        }
    }
    if let Some(instance) = &spec.instance {
        let cache = instance.cache.iter().flat_map(|cache| &cache.credits);
        let credits = instance.credits.iter().chain(cache);
        found.extend(credits.map(|credit| Burst::new(&instance.name, credit)));
    }
    found
}

/// Reads and writes of every size. Hard disks are shown in order too: a random operation of any
/// size costs them a whole MiB.
fn reaches(resolved: &Resolved) -> Result<Vec<Reach>, String> {
    let spec = &resolved.spec;
    if spec.volumes.is_empty() {
        return Ok(Vec::new());
    }
    let volumes = u32::try_from(spec.volumes.len()).unwrap_or(u32::MAX);
    let in_flight = IN_FLIGHT.saturating_mul(volumes);
    let counts_whole_units = spec
        .volumes
        .iter()
        .any(|volume| matches!(volume.accounting, Accounting::WholeUnits { .. }));
    let patterns: &[AccessPattern] = if counts_whole_units {
        &[AccessPattern::Random, AccessPattern::Sequential]
    } else {
        &[AccessPattern::Random]
    };
    let mut found = Vec::new();
    for pattern in patterns {
        for (direction, read_percent) in [(Direction::Read, 100), (Direction::Write, 0)] {
            for kib in BLOCKS {
                let block = Bytes(kib << 10);
                // As many sequential streams as there are volumes.
                let streams = match pattern {
                    AccessPattern::Random => 0,
                    AccessPattern::Sequential => volumes,
                };
                let load = Load {
                    read_percent,
                    block,
                    streams,
                    in_flight,
                };
                let prediction = predict(spec, load).map_err(|why| why.to_string())?;
                let phases = stretches(&prediction, &resolved.limits);
                found.push(Reach {
                    direction,
                    pattern: *pattern,
                    block_bytes: block.0,
                    in_flight,
                    phases,
                });
            }
        }
    }
    Ok(found)
}

/// The phases of a prediction, without the first seconds in which a limiter's own bucket drains: what users
/// look for is the rate.
fn stretches(prediction: &Prediction, limits: &[Limit]) -> Vec<Stretch> {
    let phases = prediction.phases.iter();
    let mut found: Vec<Stretch> = phases.map(|phase| Stretch::new(phase, limits)).collect();
    while found.len() > 1 && found[1].begins_s < SHORT_S {
        found.remove(0);
        found[0].begins_s = 0.0;
    }
    found
}

/// A phase that ends earlier is the bucket of a limiter, not a burst.
const SHORT_S: f64 = 30.0;

/// What random reads of `kib` KiB reach for as long as the load lasts.
pub(crate) fn sustained_random_reads(reaches: &[Reach], kib: u64) -> Option<&Stretch> {
    let wanted = (Direction::Read, AccessPattern::Random, kib << 10);
    reaches
        .iter()
        .find(|reach| (reach.direction, reach.pattern, reach.block_bytes) == wanted)?
        .phases
        .last()
}

/// What a month's dollars buy.
fn ratios(costs: &[Cost], reaches: &[Reach]) -> Vec<Ratio> {
    let (Some(small), Some(large)) = (
        sustained_random_reads(reaches, 4),
        sustained_random_reads(reaches, 1024),
    ) else {
        return Vec::new();
    };
    let units = [
        (
            "a month per 1,000 IOPS (random reads of 4 KiB, sustained)",
            small.iops,
            "IOPS",
            1000.0,
        ),
        (
            "a month per MiB/s (random reads of 1 MiB, sustained)",
            large.mib_per_s,
            "MiB/s",
            1.0,
        ),
    ];
    let volumes: Vec<Cost> = costs
        .iter()
        .filter(|cost| cost.per != Per::Hour)
        .cloned()
        .collect();
    let has_instance = volumes.len() < costs.len();
    let bought = [
        ("volumes", total(&volumes)),
        ("all of it", total(costs).filter(|_| has_instance)),
    ];
    let mut found = Vec::new();
    for (of, usd) in bought {
        let Some(usd_per_month) = usd else { continue };
        let currency = costs[0].currency;
        found.extend(units.map(|(name, delivered, unit, scale)| Ratio {
            name: format!("{currency} {name}"),
            usd_per_month,
            of,
            delivered,
            unit,
            value: usd_per_month / delivered * scale,
        }));
    }
    found
}
