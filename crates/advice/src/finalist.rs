//! A candidate that is checked as any address is: it is resolved to a device by the catalog, and the
//! need is compared with all limits of that device. [`Simulated`] holds what its simulations showed.

use std::collections::BTreeSet;

use blocklab_catalog::{Catalog, Evidence, Price, Resolved, SteadyLoad, resolve};
use blocklab_device::{LimitKind, Origin};
use blocklab_units::Nanos;
use blocklab_workload::{Address, Offer};
use serde::Serialize;

use crate::candidate::Candidate;
use crate::need::{LARGE, Margin, Need, Wanted};
use crate::question::Question;

/// A candidate, and the device that its address names.
#[derive(Debug, Clone, PartialEq)]
pub struct Finalist {
    /// What is bought.
    pub candidate: Candidate,
    /// The device, its limits, prices and assumptions.
    pub resolved: Resolved,
    /// How much of each limit the need uses, the tightest first.
    pub bounds: Vec<Bound>,
    /// How long each load of the need is sustained from each start, in closed form; empty if no load
    /// can be predicted.
    pub courses: Vec<Course>,
    /// Assumed figures on which the answer depends.
    pub rests_on: Vec<Premise>,
}

/// An assumed figure on which an answer depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Premise {
    /// What it is, and why it is assumed.
    pub text: String,
    /// Whether it follows from documented figures by a rule that holds elsewhere.
    pub is_deduced: bool,
}

/// A limit, and what a need asks of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// `gp3: volume IOPS`, `capacity`.
    pub limit: String,
    /// The part of the need that it limits.
    #[serde(rename = "of")]
    pub part: Wanted,
    /// What it allows for as long as the need lasts, in `unit`; `None`: no document gives it.
    pub allows: Option<f64>,
    /// What is needed.
    pub needs: f64,
    /// The unit of `allows` and `needs`: `IOPS`, `bytes/s`, `bytes`, `ns`.
    pub unit: &'static str,
    /// Where the limit comes from.
    pub origin: Option<Origin>,
}

/// What burst buckets hold when a simulation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// As the vendor gives them to a new device.
    Full,
    /// No credits.
    Empty,
}

/// What the Record of a simulation says of the need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Simulated {
    /// What was simulated.
    pub address: String,
    /// What burst buckets held at first.
    pub start: Start,
    /// Whether it met the need.
    pub verdict: Verdict,
    /// The reasons of the verdict, with figures.
    pub why: Vec<String>,
    /// The p99 of the random operations; `None`: the need names none.
    pub p99_ns: Option<f64>,
    /// Virtual time, all loads together.
    pub simulated_ns: u64,
    /// Operations that were simulated.
    pub operations: u64,
}

/// Whether a need was met in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All parts of the need were met.
    Carries,
    /// Some part was not met.
    Fails,
    /// Nothing can be simulated: no document says how long an operation takes.
    NotSimulated,
}

/// How long a device sustains a load of a need, by the closed form of its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Course {
    /// The part of the need that asks for the load: [`Wanted::Iops`] or [`Wanted::Throughput`].
    #[serde(rename = "of")]
    pub part: Wanted,
    /// Share of reads in per cent.
    pub read_percent: u8,
    /// What burst buckets hold when it begins.
    pub start: Start,
    /// Seconds until the rate falls below the needed one; `None`: never.
    pub lasts_s: Option<f64>,
    /// The rate that is left in the end, as a part of the needed one, 0 to 1.
    pub share_at_last: f64,
}

impl Course {
    fn lasts_for(&self, horizon: Nanos) -> bool {
        let horizon = horizon.as_secs_f64();
        self.lasts_s.is_none_or(|seconds| seconds >= horizon)
    }
}

/// Rates whose relative difference is less are equal: the rest is rounding.
const SAME: f64 = 1e-6;

/// The course of each load of a need from each state of the buckets.
fn courses(finalist: &Finalist, catalog: &Catalog, need: &Need) -> Vec<Course> {
    let mut found = Vec::new();
    for start in finalist.starts(need) {
        let address = Address::Sold(finalist.offer_at(*start));
        let Ok(device) = resolve(&address, catalog) else {
            continue;
        };
        for (part, load) in steady(need) {
            // A load that the closed form does not cover has no course: the simulation decides.
            let phases = match device.endure(&load) {
                Ok(endured) => endured.phases,
                Err(_) => Vec::new(),
            };
            let short = phases
                .iter()
                .find(|phase| phase.iops < load.iops * (1.0 - SAME));
            found.extend(phases.last().map(|last| Course {
                part,
                read_percent: load.read_percent,
                start: *start,
                lasts_s: short.map(|phase| phase.begins_s),
                share_at_last: (last.iops / load.iops).min(1.0),
            }));
        }
    }
    found
}

/// The loads of a need at the rates that it asks for, each with the part that asks for it.
fn steady(need: &Need) -> Vec<(Wanted, SteadyLoad)> {
    let random = need
        .random()
        .into_iter()
        .map(|load| (Wanted::Iops, load, need.iops));
    let large = need.bytes_per_s / LARGE.as_f64();
    let large = need
        .streams()
        .into_iter()
        .map(|load| (Wanted::Throughput, load, large));
    let wanted = random.chain(large).filter(|(.., rate)| *rate > 0.0);
    let loads = wanted.map(|(part, load, iops)| {
        let steady = SteadyLoad {
            iops,
            block: load.block,
            read_percent: load.read_percent,
            is_sequential: load.streams > 0,
        };
        (part, steady)
    });
    loads.collect()
}

impl Finalist {
    /// Resolves a candidate; `None` if the device does not meet the need after all.
    pub(crate) fn new(
        candidate: Candidate,
        catalog: &Catalog,
        question: &Question,
    ) -> Option<Self> {
        let need = &question.need;
        let address = Address::Sold(candidate.offer.clone());
        let resolved = resolve(&address, catalog).ok()?;
        let margins = need.margins(&resolved.spec);
        if margins.iter().any(|margin| !margin.is_met()) {
            return None;
        }
        let bounds = margins.iter().map(|margin| Bound::new(margin, &resolved));
        let mut finalist = Self {
            bounds: bounds.collect(),
            rests_on: rests_on(&resolved, &margins),
            courses: Vec::new(),
            candidate,
            resolved,
        };
        finalist.courses = courses(&finalist, catalog, need);
        let mut courses = finalist.courses.iter();
        courses
            .all(|course| course.lasts_for(question.horizon))
            .then_some(finalist)
    }

    /// The limit of which the need uses most, and the next one with another name.
    pub fn tightest(&self) -> impl Iterator<Item = &Bound> {
        let first = self.bounds.first();
        let limit = first.map(|bound| &bound.limit);
        let mut others = self.bounds.iter();
        let next = others.find(|bound| Some(&bound.limit) != limit);
        first.into_iter().chain(next)
    }

    /// The prices that are paid for it.
    pub fn paid(&self) -> impl Iterator<Item = &Price> {
        paid(&self.resolved)
    }

    /// Whether the volumes or the machine have burst buckets.
    pub fn has_credits(&self) -> bool {
        self.credits() != [false, false]
    }

    /// Whether its volumes have burst buckets, and whether its machine has.
    pub fn credits(&self) -> [bool; 2] {
        let spec = &self.resolved.spec;
        let of_volumes = spec.volumes.first();
        let of_machine = spec.instance.as_ref();
        [
            of_volumes.is_some_and(|volume| !volume.credits.is_empty()),
            of_machine.is_some_and(|machine| !machine.credits.is_empty()),
        ]
    }

    /// The states of its buckets from which it is judged. A steady load leaves a bucket somewhere between
    /// empty and full, and a fuller one never gives less, so both ends are enough for any duration. Where the
    /// user accepts that burst credits carry the load, only full buckets are tried.
    pub fn starts(&self, need: &Need) -> &'static [Start] {
        if self.has_credits() && need.lasts.is_none() {
            &[Start::Empty, Start::Full]
        } else {
            &[Start::Full]
        }
    }

    /// Its address, with burst buckets as full as at such a start.
    pub fn address_at(&self, start: Start) -> String {
        self.offer_at(start).to_string()
    }

    /// The offer with full or empty credits at the start, wherever it has credits.
    fn offer_at(&self, start: Start) -> Offer {
        let [of_volumes, of_machine] = self.credits();
        let share = match start {
            Start::Full => 100,
            Start::Empty => 0,
        };
        let mut offer = self.candidate.offer.clone();
        // An address may name credits only where there are some.
        offer.credits = of_volumes.then_some(share);
        offer.instance_credits = of_machine.then_some(share);
        offer
    }
}

impl Bound {
    /// The limit of a margin, with where the resolved device says it comes from.
    fn new(margin: &Margin, resolved: &Resolved) -> Self {
        let known = margin.limit.as_ref();
        let limit = known.and_then(|name| resolved.limits.iter().find(|limit| limit.name == *name));
        Self {
            limit: known.map_or_else(|| margin.wanted.name().to_owned(), ToString::to_string),
            part: margin.wanted,
            allows: margin.has,
            needs: margin.needs,
            unit: margin.wanted.unit(),
            origin: limit.map(|limit| limit.origin.clone()),
        }
    }
}

/// The assumptions on which the answer depends: those of limits that the need uses, of the latency if
/// the need has a p99, and of prices that are paid.
fn rests_on(resolved: &Resolved, margins: &[Margin]) -> Vec<Premise> {
    let mut found = Vec::new();
    for limit in &resolved.limits {
        let counts = margins
            .iter()
            .any(|margin| margin.limit.as_ref() == Some(&limit.name));
        let is_latency = matches!(
            limit.name.kind,
            LimitKind::Latency { .. } | LimitKind::LatencyPerKib { .. }
        );
        let bounds_p99 = margins.iter().any(|margin| margin.wanted == Wanted::P99);
        if let Origin::Assumed { because } = &limit.origin
            && (counts || is_latency && bounds_p99)
        {
            found.push(Premise {
                text: format!("{}: assumed: {because}", limit.name),
                is_deduced: false,
            });
        }
    }
    let unlisted = paid(resolved).filter(|price| !price.evidence.is_listed());
    found.extend(unlisted.map(|price| Premise {
        text: format!("price of {}: {}", price.what, price.source),
        is_deduced: price.evidence == Evidence::Deduced,
    }));
    named_once(found)
}

/// Each premise once, where it comes first: two volumes of one type rest on the same, and other limits lie
/// between theirs.
fn named_once(mut premises: Vec<Premise>) -> Vec<Premise> {
    let mut known = BTreeSet::new();
    premises.retain(|premise| known.insert(premise.text.clone()));
    premises
}

/// The prices that the costs were computed from. A list may have others for the same thing, such as
/// steps for larger amounts.
fn paid(resolved: &Resolved) -> impl Iterator<Item = &Price> {
    let prices = resolved.prices.iter();
    prices.filter(|price| price.is_in(&resolved.costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: an advice of two volumes of a type named each assumption about that type twice.
    #[test]
    fn an_assumption_about_two_volumes_is_named_once() {
        let [latency, price] = ["read latency: assumed", "price: assumed"].map(|text| Premise {
            text: text.to_owned(),
            is_deduced: false,
        });
        let twice = vec![latency.clone(), price.clone(), latency.clone()];
        assert_eq!(named_once(twice), [latency, price]);
    }
}
