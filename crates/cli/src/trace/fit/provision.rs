//! In: a volume that does not carry a load. Out: the smallest provision of its kind that does.
//!
//! Where IOPS and throughput are provisioned, each is searched for by itself, on a volume without any
//! other limit; else sizes are tried. What is found is simulated again as it is sold, with all limits.

use anyhow::Result;
use blocklab_catalog::{Catalog, resolve};
use blocklab_device::DeviceSpec;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Address, Offer};

use super::{Answer, Demand, FEW_SIMULATED, Load, Smallest, candidate, simulate};

/// A round simulates this many steps between two bounds in one pass over the trace, and the next round
/// searches between the last step that fails and the first that carries the load.
const STEPS: i32 = 16;
/// Rates are searched over a factor of 2^18: after four rounds the steps are 0.02 % apart.
const ROUNDS: usize = 4;

/// The rate that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateKind {
    Iops,
    Bytes,
}

/// Adds the smallest provision to an answer, or why there is none.
pub(super) fn searched(
    answer: Answer,
    load: &Load<'_>,
    demand: Demand,
    catalog: &Catalog,
) -> Result<Answer> {
    let not_found = |why: &str| Answer {
        none_because: Some(why.to_owned()),
        ..answer.clone()
    };
    // `azure/P10` is a type with the name of a size: the catalog tells them apart.
    let address = Address::parse(&answer.address).ok();
    let resolved = address.and_then(|address| resolve(&address, catalog).ok());
    let Some(Address::Sold(offer)) = resolved.map(|resolved| resolved.address) else {
        return Ok(not_found(
            "a device that is described by hand is not sold in sizes",
        ));
    };
    // A round simulates this many models for each of the two rates.
    if demand.operations * 2 * STEPS as u64 > FEW_SIMULATED {
        return Ok(not_found(
            "the trace is too long to search for a provision: take its busiest hour with --from and --until",
        ));
    }
    let sized = large_enough(offer, demand.end_bytes, answer.capacity_bytes);
    let tries = Tries {
        load,
        tolerated: demand.tolerated,
        catalog,
    };
    let found = if takes_iops(&sized, catalog) {
        tries.provisioned(&sized)?
    } else {
        tries.larger(&sized, answer.capacity_bytes)?
    };
    Ok(match found {
        Ok(smallest) => Answer {
            smallest: Some(smallest),
            ..answer
        },
        Err(why) => not_found(&why),
    })
}

/// The offer with volumes that together hold this many bytes. `capacity_bytes`: what they hold as offered;
/// while that is enough, an offer without a size keeps the usual one.
fn large_enough(offer: Offer, end_bytes: u64, capacity_bytes: u64) -> Offer {
    let is_usual = offer.size.is_none() && end_bytes <= capacity_bytes;
    if is_usual || offer.size_name.is_some() {
        return offer;
    }
    let each = Bytes(end_bytes.div_ceil(volumes(&offer))).max(offer.size.unwrap_or(Bytes::ZERO));
    // Sizes are sold in whole GiB.
    let size = Some(Bytes(each.0.div_ceil(1 << 30) << 30));
    Offer { size, ..offer }
}

/// How many volumes share the load.
fn volumes(offer: &Offer) -> u64 {
    offer.count.map_or(1, |count| count.get().into())
}

/// Whether IOPS of this kind of volume are provisioned: the catalog refuses the key `iops` elsewhere,
/// also with the rate that the volume has anyway.
fn takes_iops(offer: &Offer, catalog: &Catalog) -> bool {
    let spec = spec_of(offer, catalog);
    let current = spec.and_then(|spec| rate(&spec, RateKind::Iops));
    current.is_some_and(|iops| {
        let same = Offer {
            iops: Some(iops as u64),
            ..offer.clone()
        };
        spec_of(&same, catalog).is_some()
    })
}

fn spec_of(offer: &Offer, catalog: &Catalog) -> Option<DeviceSpec> {
    let resolved = resolve(&Address::Sold(offer.clone()), catalog);
    resolved.ok().map(|resolved| resolved.spec)
}

/// The rate of the volume's own cap.
fn rate(spec: &DeviceSpec, kind: RateKind) -> Option<f64> {
    let mut caps = spec.volumes.first()?.caps.iter();
    let cap = caps.find(|cap| cap.rate.counts_bytes() == (kind == RateKind::Bytes));
    cap.map(|cap| cap.rate.value())
}

/// The device with one of its rates this many times as high, and without any other limit.
fn scaled(spec: &DeviceSpec, kind: RateKind, factor: f64) -> DeviceSpec {
    let mut spec = spec.clone();
    spec.instance = None;
    for volume in &mut spec.volumes {
        volume
            .caps
            .retain(|cap| cap.rate.counts_bytes() == (kind == RateKind::Bytes));
        for cap in &mut volume.caps {
            cap.rate = cap.rate.times(factor);
            cap.peak = cap.peak.map(|peak| peak.times(factor));
        }
        volume.credits.clear();
    }
    spec
}

/// A configuration is raised by this factor until it carries the load ...
const RAISE: f64 = 1.05;
/// ... at most this often, to a little more than three times the first one.
const RAISES: usize = 24;

/// The largest size that is tried, as a factor of the smallest.
const LARGEST: f64 = 2048.0;

/// Searches for a provision among what is sold.
struct Tries<'a> {
    load: &'a Load<'a>,
    tolerated: Nanos,
    catalog: &'a Catalog,
}

/// A provision, or why there is none.
type ProvisionResult = std::result::Result<Smallest, String>;

impl Tries<'_> {
    /// The smallest IOPS and throughput that carry the load.
    fn provisioned(&self, offer: &Offer) -> Result<ProvisionResult> {
        let Some(spec) = spec_of(offer, self.catalog) else {
            return Ok(Err(
                "it is not sold in the size that the trace needs".to_owned()
            ));
        };
        let mut needed = Vec::new();
        for kind in [RateKind::Iops, RateKind::Bytes] {
            let Some(own) = rate(&spec, kind) else {
                continue;
            };
            match self.smallest_factor(&spec, kind)? {
                Some(factor) => needed.push((kind, (own * factor).ceil() as u64)),
                None => return Ok(Err("no rate of a volume of this kind is enough".to_owned())),
            }
        }
        let [iops, throughput] = [RateKind::Iops, RateKind::Bytes].map(|kind| {
            let found = needed.iter().find(|(known, _)| *known == kind);
            found.map(|(_, value)| *value)
        });
        self.sold(offer, &spec, iops, throughput)
    }

    /// The smallest factor of the rate that carries the load; `None` if none up to 1,024 does.
    fn smallest_factor(&self, spec: &DeviceSpec, kind: RateKind) -> Result<Option<f64>> {
        let (mut low, mut high) = (2_f64.powi(-8), 2_f64.powi(10));
        for _ in 0..ROUNDS {
            let ratio = (high / low).powf(1.0 / f64::from(STEPS));
            let factors: Vec<f64> = (0..=STEPS).map(|step| low * ratio.powi(step)).collect();
            let specs: Vec<DeviceSpec> = factors
                .iter()
                .map(|factor| scaled(spec, kind, *factor))
                .collect();
            let outcomes = simulate(self.load, &specs.iter().collect::<Vec<_>>(), self.tolerated)?;
            let mut waits = outcomes.iter().map(|outcome| outcome.wait_max_ns);
            let Some(first) = waits.position(|wait| wait <= self.tolerated.0) else {
                return Ok(None);
            };
            high = factors[first];
            // The lower bound carries the load: there is nothing between two steps to search.
            if first == 0 {
                break;
            }
            low = factors[first - 1];
        }
        Ok(Some(high))
    }

    /// The first configuration that is sold, has at least these rates, and carries the load.
    fn sold(
        &self,
        offer: &Offer,
        spec: &DeviceSpec,
        iops: Option<u64>,
        throughput: Option<u64>,
    ) -> Result<ProvisionResult> {
        let included =
            [RateKind::Iops, RateKind::Bytes].map(|kind| rate(spec, kind).map(|rate| rate as u64));
        let mut refusal = String::new();
        let mut factor = 1.0;
        // Each rate was found alone. Limits one after the other add their waits up, and some rates are
        // sold only with enough of the other, so both grow together.
        for _ in 0..RAISES {
            let needed = [(iops, included[0]), (throughput, included[1])];
            let [iops, throughput] = needed.map(|(needed, included)| {
                let wanted = needed.map(|value| (value as f64 * factor).ceil() as u64);
                // What is included costs nothing, and less may not be sold.
                wanted.filter(|wanted| included.is_none_or(|included| *wanted > included))
            });
            let larger = Offer {
                iops: iops.or(offer.iops),
                throughput: throughput.or(offer.throughput),
                ..offer.clone()
            };
            let address = Address::Sold(larger).to_string();
            match candidate(&address, self.catalog) {
                Ok(found) => {
                    let outcome = simulate(self.load, &[&found.spec], self.tolerated)?.remove(0);
                    if outcome.wait_max_ns <= self.tolerated.0 {
                        return Ok(Ok(smallest(found, outcome.wait_max_ns)));
                    }
                    refusal = match outcome.held.first() {
                        Some(held) => format!("{} would still hold it back", held.limit),
                        None => String::new(),
                    };
                }
                Err(error) => {
                    // The reason is on the last line, below the address and its marks.
                    let text = error.to_string();
                    refusal = text.lines().last().unwrap_or_default().trim().to_owned();
                }
            }
            factor *= RAISE;
        }
        Ok(Err(refusal))
    }

    /// The smallest size whose volume carries the load. `capacity_bytes`: what the volumes hold as offered,
    /// which is the usual size where the offer has none.
    fn larger(&self, offer: &Offer, capacity_bytes: u64) -> Result<ProvisionResult> {
        if offer.size_name.is_some() {
            let why = "larger sizes that have names are not tried: name them with --on";
            return Ok(Err(why.to_owned()));
        }
        let size = offer.size.unwrap_or(Bytes(capacity_bytes / volumes(offer)));
        let (mut low, mut high) = (size.as_f64(), size.as_f64() * LARGEST);
        let mut best = None;
        for _ in 0..ROUNDS {
            let ratio = (high / low).powf(1.0 / f64::from(STEPS));
            let sizes = (0..=STEPS).map(|step| low * ratio.powi(step));
            let found: Vec<_> = sizes
                .filter_map(|bytes| {
                    let gib = (bytes / (1_u64 << 30) as f64).ceil() as u64;
                    let larger = Offer {
                        size: Some(Bytes(gib << 30)),
                        ..offer.clone()
                    };
                    let address = Address::Sold(larger).to_string();
                    candidate(&address, self.catalog)
                        .ok()
                        .map(|found| (bytes, found))
                })
                .collect();
            if found.is_empty() && offer.size.is_none() {
                return Ok(Err("its rates are not for sale by themselves".to_owned()));
            }
            let specs: Vec<&DeviceSpec> = found.iter().map(|(_, found)| &found.spec).collect();
            let outcomes = simulate(self.load, &specs, self.tolerated)?;
            let waits: Vec<u64> = outcomes.iter().map(|outcome| outcome.wait_max_ns).collect();
            let Some(first) = waits.iter().position(|wait| *wait <= self.tolerated.0) else {
                break;
            };
            high = found[first].0;
            low = if first > 0 { found[first - 1].0 } else { low };
            let chosen = found.into_iter().nth(first).map(|(_, found)| found);
            best = chosen.map(|found| smallest(found, waits[first]));
            if first == 0 {
                break;
            }
        }
        Ok(best.ok_or_else(|| "no size of this kind carries it".to_owned()))
    }
}

fn smallest(found: super::Candidate, wait_max_ns: u64) -> Smallest {
    Smallest {
        address: found.address,
        usd_per_month: found.usd_per_month,
        currency: found.currency,
        wait_max_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a trace that reaches 2 TiB was answered with a gp3 of the usual 1 TiB, and one that
    /// reaches 150 GiB with two volumes of 150 GiB each.
    #[test]
    fn what_is_found_holds_the_trace_and_no_more() {
        let sized = |address: &str, end_gib: u64, capacity_gib: u64| {
            let Ok(Address::Sold(offer)) = Address::parse(address) else {
                panic!("{address} is sold");
            };
            let size = large_enough(offer, end_gib << 30, capacity_gib << 30).size;
            size.map(|size| size.0 >> 30)
        };
        assert_eq!(sized("gp3", 2048, 1024), Some(2048));
        assert_eq!(sized("gp3", 512, 1024), None);
        assert_eq!(sized("2xgp3:100GiB", 150, 200), Some(100));
        assert_eq!(sized("2xgp3:100GiB", 300, 200), Some(150));
        assert_eq!(sized("gp3:100GiB", 150, 100), Some(150));
    }
}
