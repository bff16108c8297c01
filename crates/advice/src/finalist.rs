//! A candidate by the road that everybody takes: its address is resolved, and the need is held against
//! the device that comes of it. What its simulations showed is put beside it.

use blocklab_catalog::{Catalog, Price, Resolved, SteadyLoad, resolve};
use blocklab_device::{LimitKind, Origin};
use blocklab_units::Nanos;
use blocklab_workload::{Address, Offer};
use serde::Serialize;

use crate::candidate::Candidate;
use crate::impossible::{named, unit};
use crate::need::{LARGE, Margin, Need, Wanted};
use crate::question::Question;

/// A candidate, and the device that its address names.
#[derive(Debug, Clone, PartialEq)]
pub struct Finalist {
    /// What is bought.
    pub candidate: Candidate,
    /// The device, its limits, prices and assumptions.
    pub resolved: Resolved,
    /// What the need takes of each of its limits, the tightest first.
    pub bounds: Vec<Bound>,
    /// What becomes of each load of the need from each start, in closed form; empty: nothing is
    /// predicted of it.
    pub courses: Vec<Course>,
    /// Assumed figures that decide, one sentence each.
    pub rests_on: Vec<String>,
}

/// What a need takes of a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// `gp3: volume IOPS`, `capacity`.
    pub limit: String,
    /// What is asked for: `iops`, `throughput`, `capacity`, `p99`.
    pub of: &'static str,
    /// What it allows for ever, in `unit`; `None`: no document gives it.
    pub allows: Option<f64>,
    /// What is needed.
    pub needs: f64,
    /// `IOPS`, `bytes/s`, `bytes`, `ns`.
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
    /// Nothing.
    Empty,
}

/// What the Record of a simulation says of the need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Simulated {
    /// What was simulated.
    pub address: String,
    /// How it began.
    pub start: Start,
    /// Whether it carried the need.
    pub verdict: Verdict,
    /// With the figures that it rests on.
    pub why: Vec<String>,
    /// The p99 of the random operations; `None`: the need names none.
    pub p99_ns: Option<f64>,
    /// Virtual time, all loads together.
    pub simulated_ns: u64,
    /// Operations that were simulated.
    pub operations: u64,
}

/// Whether a simulation carried a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// In all that was asked for.
    Carries,
    /// Not in something.
    Fails,
    /// Nothing can be simulated: no document says how long an operation takes.
    NotSimulated,
}

/// What becomes of a load of a need, by the closed form of the device, for as long as it lasts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Course {
    /// `iops` or `throughput`.
    pub of: &'static str,
    /// Share of reads in per cent.
    pub read_percent: u8,
    /// What burst buckets hold when it begins.
    pub start: Start,
    /// How long all that is asked for is done; `None`: for ever.
    pub lasts_s: Option<f64>,
    /// The part of what is asked for that is done at last, 0 to 1.
    pub share_at_last: f64,
}

impl Course {
    fn lasts_for(&self, horizon: Nanos) -> bool {
        let horizon = horizon.as_secs_f64();
        self.lasts_s.is_none_or(|seconds| seconds >= horizon)
    }
}

/// Rates that differ by less are the same: they were rounded.
const SAME: f64 = 1e-6;

/// The course of each load of a need from each state of the buckets.
fn courses(finalist: &Finalist, catalog: &Catalog, need: &Need) -> Vec<Course> {
    let mut found = Vec::new();
    for start in finalist.starts(need) {
        let address = Address::Sold(finalist.offer_begun(*start));
        let Ok(device) = resolve(&address, catalog) else {
            continue;
        };
        for (of, load) in steady(need) {
            let phases = match device.endure(&load) {
                Ok(endured) => endured.phases,
                Err(_) => Vec::new(),
            };
            let short = phases
                .iter()
                .find(|phase| phase.iops < load.iops * (1.0 - SAME));
            found.extend(phases.last().map(|last| Course {
                of,
                read_percent: load.read_percent,
                start: *start,
                lasts_s: short.map(|phase| phase.begins_s),
                share_at_last: (last.iops / load.iops).min(1.0),
            }));
        }
    }
    found
}

/// The loads of a need at the rates that it asks for.
fn steady(need: &Need) -> Vec<(&'static str, SteadyLoad)> {
    let random = need
        .random()
        .into_iter()
        .map(|load| ("iops", load, need.iops));
    let large = need.bytes_per_s / LARGE.as_f64();
    let large = need
        .streams()
        .into_iter()
        .map(|load| ("throughput", load, large));
    let asked = random.chain(large).filter(|(.., rate)| *rate > 0.0);
    let loads = asked.map(|(of, load, iops)| {
        let steady = SteadyLoad {
            iops,
            block: load.block,
            read_percent: load.read_percent,
            is_sequential: load.streams > 0,
        };
        (of, steady)
    });
    loads.collect()
}

impl Finalist {
    /// The device of a candidate; `None` where it does not meet the need after all.
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

    /// The limit of which the least is left, and the next one.
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

    /// Whether some bucket of it can be empty.
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

    /// The states of its buckets from which it is judged. Where credits may be spent, an empty
    /// bucket is not asked for.
    pub fn starts(&self, need: &Need) -> &'static [Start] {
        if self.has_credits() && need.lasts.is_none() {
            &[Start::Empty, Start::Full]
        } else {
            &[Start::Full]
        }
    }

    /// Its address with buckets as they are at such a start.
    pub fn begun(&self, start: Start) -> String {
        self.offer_begun(start).to_string()
    }

    fn offer_begun(&self, start: Start) -> Offer {
        let [of_volumes, of_machine] = self.credits();
        let share = match start {
            Start::Full => 100,
            Start::Empty => 0,
        };
        let mut offer = self.candidate.offer.clone();
        offer.credits = of_volumes.then_some(share);
        offer.instance_credits = of_machine.then_some(share);
        offer
    }
}

impl Bound {
    fn new(margin: &Margin, resolved: &Resolved) -> Self {
        let known = margin.limit.as_ref();
        let limit = known.and_then(|name| resolved.limits.iter().find(|limit| limit.name == *name));
        Self {
            limit: known.map_or_else(|| named(margin.wanted).to_owned(), ToString::to_string),
            of: named(margin.wanted),
            allows: margin.has,
            needs: margin.needs,
            unit: unit(margin.wanted),
            origin: limit.map(|limit| limit.origin.clone()),
        }
    }
}

/// The assumptions about a device that decide here: limits that count the need, the latency
/// where one is asked for, and prices that are paid.
fn rests_on(resolved: &Resolved, margins: &[Margin]) -> Vec<String> {
    let mut found = Vec::new();
    for limit in &resolved.limits {
        let counts = margins
            .iter()
            .any(|margin| margin.limit.as_ref() == Some(&limit.name));
        let is_latency = matches!(
            limit.name.kind,
            LimitKind::Latency { .. } | LimitKind::LatencyPerKib { .. }
        );
        let is_asked = margins.iter().any(|margin| margin.wanted == Wanted::P99);
        if let Origin::Assumed { because } = &limit.origin
            && (counts || is_latency && is_asked)
        {
            found.push(format!("{}: assumed: {because}", limit.name));
        }
    }
    let assumed = paid(resolved).filter(|price| price.assumed);
    found.extend(assumed.map(|price| format!("price of {}: {}", price.what, price.source)));
    found.dedup();
    found
}

/// The prices that costs were reckoned with.
fn paid(resolved: &Resolved) -> impl Iterator<Item = &Price> {
    resolved.prices.iter().filter(|price| {
        let mut costs = resolved.costs.iter();
        costs.any(|cost| cost.what == price.what && cost.usd_each == price.usd)
    })
}
