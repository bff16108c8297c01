use blocklab_catalog::{Address, Date, Offer, resolve};
use blocklab_device::{Binding, DeviceSpec, LimitKind, Load, Phase, Prediction, predict};
use blocklab_record::JobResult;
use blocklab_record::Measurement;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Direction;
use serde::Serialize;

use super::{CaseCheck, Expectation};
use crate::Finding;
use crate::rules::hit::{Hit, joined};
pub(crate) use crate::rules::limits::NEAR;
use crate::rules::processor;
use crate::view::{CaseView, Cases};

/// Above this the documents are exceeded.
pub(super) const ABOVE: f64 = 0.03;
/// Another explanation must fit so well: it has more freedom than the first.
const EXACT: f64 = 0.01;
/// Below this share of what is documented, nothing of the promise is kept.
pub(super) const LITTLE: f64 = 0.90;
/// Factors that a slip of units leaves: KiB for KB, MiB for MB, GiB for GB, bits for bytes.
const SLIPS: [(f64, &str); 4] = [
    (1.024, "KiB against KB"),
    (1.048_576, "MiB against MB"),
    (1.073_741_824, "GiB against GB"),
    (8.0, "bits against bytes"),
];

/// A shorter phase is a limiter's own bucket.
const MOMENT: Nanos = Nanos::from_secs(10);

/// Why a case delivered what it delivered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// As documents let one expect, within 2.5 %.
    AsExpected,
    /// As the type delivers with its default settings.
    DefaultSettings,
    /// As the limits of that day would have it.
    AnotherDay(Date),
    /// As expected, but for a factor that confused units leave.
    UnitSlip(&'static str),
    /// More than documents promise.
    Above,
    /// Less than documents promise, and a limit was to bind.
    Below,
    /// The medium's own latency bounds it, of which documents promise nothing.
    Latency,
    /// Cannot be held against documents: the page cache, a pace, our own processor, an unknown
    /// pattern, or a type without a contract.
    NotComparable,
}

/// A case with its load and its expectation.
pub(super) struct Seen<'a> {
    pub(super) case: &'a CaseView<'a>,
    pub(super) iops: f64,
    pub(super) load: Option<Load>,
    /// Measured time: from the end of the ramp, since the start of the load.
    pub(super) window: (Nanos, Nanos),
    pub(super) predicted: Option<Prediction>,
    pub(super) why: Why,
}

/// All that the rules look at.
pub(super) struct Bench<'a> {
    pub(super) cases: &'a Cases<'a>,
    pub(super) given: Expectation<'a>,
    pub(super) seen: Vec<Seen<'a>>,
    /// With the type's default settings, where others were bought.
    pub(super) default: Option<DeviceSpec>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(cases: &'a Cases<'a>, given: Expectation<'a>) -> Self {
        let spec = &given.resolved.spec;
        let seen = cases.list.iter().map(|case| Seen::of(cases, case, spec));
        let mut bench = Self {
            cases,
            given,
            seen: seen.collect(),
            default: None,
        };
        bench.default = bench.resolved(|offer| {
            (offer.iops, offer.throughput_mibps) = (None, None);
        });
        let mut days: Option<Vec<(Date, DeviceSpec)>> = None;
        for place in 0..bench.seen.len() {
            let why = bench.explain(place, &mut days);
            bench.seen[place].why = why;
        }
        bench
    }

    /// The device of the address with something changed; `None` where that changes nothing, or
    /// there is no such device.
    fn resolved(&self, edit: impl Fn(&mut Offer)) -> Option<DeviceSpec> {
        let Address::Sold(offer) = &self.given.resolved.address else {
            return None;
        };
        let mut other = offer.clone();
        edit(&mut other);
        if other == *offer {
            return None;
        }
        let found = resolve(&Address::Sold(other), self.given.catalog).ok()?;
        Some(found.spec)
    }

    /// The first explanation that fits.
    fn explain(&self, place: usize, days: &mut Option<Vec<(Date, DeviceSpec)>>) -> Why {
        let seen = &self.seen[place];
        let (Some(expected), Some(load)) = (seen.expected(), seen.load) else {
            return Why::NotComparable;
        };
        if seen.fits(expected, NEAR) || seen.predicted.iter().any(|it| seen.fits_limit(it, NEAR)) {
            return Why::AsExpected;
        }
        let documented = seen.phase().map_or(expected, |phase| phase.iops);
        if let Some(default) = &self.default
            && seen.iops < LITTLE * documented
            && seen.fits_device(default, load, NEAR)
        {
            return Why::DefaultSettings;
        }
        if seen.is_latency_bound() && seen.iops < expected * (1.0 + ABOVE) {
            return Why::Latency;
        }
        let days = days.get_or_insert_with(|| self.days());
        let fits = |(_, spec): &&(Date, DeviceSpec)| seen.fits_device(spec, load, EXACT);
        if let Some((day, _)) = days.iter().find(fits) {
            return Why::AnotherDay(*day);
        }
        let slip = |(factor, _): &&(f64, &str)| {
            let rates = [expected, documented].into_iter();
            let mut slipped = rates.flat_map(|rate| [rate * factor, rate / factor]);
            slipped.any(|rate| seen.fits(rate, EXACT / 4.0))
        };
        match SLIPS.iter().find(slip) {
            Some((_, words)) => Why::UnitSlip(words),
            None if seen.iops > expected * (1.0 + ABOVE) => Why::Above,
            None if seen.is_latency_bound() => Why::Latency,
            None => Why::Below,
        }
    }

    /// The devices that the address named on other days, each with the first day of its kind.
    fn days(&self) -> Vec<(Date, DeviceSpec)> {
        let mut found: Vec<(Date, DeviceSpec)> = Vec::new();
        let quarters = (2012..=2026).flat_map(|year| [1, 4, 7, 10].map(|month| (year, month)));
        for day in quarters.filter_map(|(year, month)| Date::new(year, month, 1)) {
            let Some(spec) = self.resolved(|offer| offer.as_of = Some(day)) else {
                continue;
            };
            let same = |known: &DeviceSpec| {
                known.volumes == spec.volumes && known.instance == spec.instance
            };
            if !found.iter().any(|(_, known)| same(known)) && !same(&self.given.resolved.spec) {
                found.push((day, spec));
            }
        }
        found
    }

    /// Asks a rule about these cases and joins what it finds.
    pub(super) fn joined<'s>(
        &self,
        rule: &'static str,
        advice: Option<&str>,
        seen: impl Iterator<Item = &'s Seen<'a>>,
        judge: impl Fn(&'s Seen<'a>) -> Option<Hit>,
    ) -> Vec<Finding>
    where
        'a: 's,
    {
        let hits = seen.filter_map(|seen| Some((seen.case.name, judge(seen)?)));
        joined(self.cases, rule, advice, hits)
    }

    /// The cases with this explanation.
    pub(super) fn because(&self, why: &Why) -> impl Iterator<Item = &Seen<'a>> {
        self.seen.iter().filter(move |seen| seen.why == *why)
    }
}

impl<'a> Seen<'a> {
    fn of(cases: &Cases<'_>, case: &'a CaseView<'a>, spec: &DeviceSpec) -> Self {
        let load = load(case).filter(|_| processor::shows_target(cases, case) && case.iops() > 0.0);
        Self {
            case,
            iops: case.iops(),
            load,
            window: window(case),
            predicted: load.and_then(|load| predict(spec, load).ok()),
            why: Why::NotComparable,
        }
    }

    /// Operations a second over the measured time, from a rested device.
    pub(super) fn expected(&self) -> Option<f64> {
        Some(
            self.predicted
                .as_ref()?
                .iops_mean(self.window.0, self.window.1),
        )
    }

    pub(super) fn fits(&self, rate: f64, within: f64) -> bool {
        (self.iops / rate - 1.0).abs() <= within
    }

    fn fits_device(&self, spec: &DeviceSpec, load: Load, within: f64) -> bool {
        predict(spec, load).is_ok_and(|predicted| self.fits_limit(&predicted, within))
    }

    /// Whether the rate is what a limit and not the latency makes of the load: over the measured
    /// time, or in any phase that lasts, since the device need not have been rested.
    fn fits_limit(&self, predicted: &Prediction, within: f64) -> bool {
        let limited = |phase: &Phase| phase.binding != Binding::Latency;
        let (from, until) = self.window;
        let over_window =
            limited(predicted.at(until)) && self.fits(predicted.iops_mean(from, until), within);
        over_window || lasting(predicted).any(|it| limited(it) && self.fits(it.iops, within))
    }

    /// The phase in which most of the measured time lies: the one at its middle.
    pub(super) fn phase(&self) -> Option<&Phase> {
        let middle = Nanos(u64::midpoint(self.window.0.0, self.window.1.0));
        Some(self.predicted.as_ref()?.at(middle))
    }

    pub(super) fn binding(&self) -> Option<&Binding> {
        Some(&self.phase()?.binding)
    }

    fn is_latency_bound(&self) -> bool {
        self.binding().is_some_and(|binding| {
            matches!(
                binding.kind(),
                None | Some(LimitKind::PhysicalMaximum { .. })
            )
        })
    }

    pub(super) fn check(&self) -> CaseCheck {
        CaseCheck {
            case: self.case.name.to_owned(),
            iops: self.iops,
            expected_iops: self.expected(),
            binding: self.binding().map(ToString::to_string),
            why: self.why.clone(),
        }
    }
}

/// The phases that are more than the first moments of a limiter.
pub(super) fn lasting(predicted: &Prediction) -> impl Iterator<Item = &Phase> {
    let ends = predicted.phases.iter().skip(1).map(|it| it.begins);
    let phases = predicted.phases.iter().zip(ends.chain([Nanos::MAX]));
    let long = phases.filter(|(phase, end)| end.since(phase.begins) >= MOMENT);
    long.map(|(phase, _)| phase)
}

/// The load of a case as the closed form takes it: one pattern, reads and writes of about one
/// size.
fn load(case: &CaseView<'_>) -> Option<Load> {
    let job = case.passes.first()?.jobs.first()?;
    let same = |it: &JobResult| (&it.pattern, it.runs) == (&job.pattern, job.runs);
    let moved = |direction| -> u64 {
        let results = case.jobs().filter_map(|job| job.directions.get(&direction));
        results.map(|result| result.ios).sum()
    };
    let (reads, writes) = (moved(Direction::Read), moved(Direction::Write));
    let streams = match job.is_random() {
        true => 0,
        false if job.is_sequential() => u32::try_from(case.threads()).ok()?,
        false => return None,
    };
    let other = moved(Direction::Trim) + moved(Direction::Sync);
    if !case.jobs().all(same) || other > 0 || reads + writes == 0 {
        return None;
    }
    Some(Load {
        read_percent: (reads as f64 / (reads + writes) as f64 * 100.0).round() as u8,
        block: Bytes(case.bytes_per_io().round() as u64),
        streams,
        in_flight: u32::try_from(case.slots()).ok()?,
    })
}

/// Of the first pass: the ramp, and what was measured after it.
fn window(case: &CaseView<'_>) -> (Nanos, Nanos) {
    let of = |pass: &Measurement| {
        let ramp: u64 = pass
            .series
            .iter()
            .filter(|it| it.ramp)
            .map(|it| it.length_ns)
            .sum();
        let measured = pass.jobs.iter().map(|job| job.elapsed_ns).max();
        (Nanos(ramp), Nanos(ramp + measured.unwrap_or(0).max(1)))
    };
    case.passes
        .first()
        .map_or((Nanos::ZERO, Nanos(1)), |pass| of(pass))
}
