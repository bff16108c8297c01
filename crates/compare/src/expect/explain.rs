//! What a run delivered next to what its address promises: of each case the prediction, and why the
//! rate differs.

use blocklab_catalog::PublishedLatency;
use blocklab_device::{
    Binding, DeviceSpec, LimitKind, LimitName, Load, Phase, Prediction, grants, predict,
};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Address;
use blocklab_workload::Direction;

use super::others::Others;
use super::why::{EXACT, Why};
use super::{CaseCheck, Expectation};
use blocklab_findings::Finding;
pub(crate) use blocklab_findings::NEAR;
use blocklab_findings::hit::{Hit, joined};
use blocklab_findings::shares::{self, Share};
use blocklab_findings::undisturbed;
use blocklab_findings::view::{CaseView, Cases};
use blocklab_findings::{holding, is_held};

/// Above this the documents are exceeded.
pub(super) const ABOVE: f64 = 0.03;
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

/// A case with its load and its expectation.
pub(super) struct Seen<'a> {
    pub(super) case: &'a CaseView<'a>,
    pub(super) iops: f64,
    /// The part of the case that fell on the target.
    share: Share,
    /// What all targets on its instance delivered together.
    pub(super) together_iops: f64,
    /// Whether the instance holds those together at a limit of it.
    pub(super) is_shared: bool,
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
    /// Everything else that could have been bought.
    pub(super) others: Others,
    /// The latencies that were published of its type; `None`: nothing, or a device file, which
    /// says itself how long an operation takes.
    pub(super) published: Option<PublishedLatency>,
    /// The quickest and the slowest healthy device of this address.
    edges: Option<(DeviceSpec, DeviceSpec)>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(cases: &'a Cases<'a>, given: Expectation<'a>) -> Self {
        let spec = &given.resolved.spec;
        let seen = cases
            .list
            .iter()
            .map(|case| Seen::new(cases, case, spec, &given));
        let mut bench = Self {
            cases,
            given,
            seen: seen.collect(),
            default: None,
            others: Others::default(),
            published: None,
            edges: None,
        };
        if let (Address::Sold(_), [volume, ..]) = (&given.resolved.address, &*spec.volumes) {
            let known = PublishedLatency::of_type(&volume.kind);
            bench.edges = Some(match &known {
                Some(known) => (known.quickest(spec), known.slowest(spec)),
                None => PublishedLatency::unknown(spec),
            });
            bench.published = known;
        }
        bench.default = given.changed(|offer| {
            (offer.iops, offer.throughput) = (None, None);
        });
        // The record of several targets names a type for each.
        if given.target.is_none() || cases.record.targets.len() == 1 {
            bench.others = Others::new(given, cases.record);
        }
        for place in 0..bench.seen.len() {
            let why = bench.explain(place);
            bench.seen[place].why = why;
        }
        bench
    }

    /// The first explanation that fits.
    fn explain(&self, place: usize) -> Why {
        let seen = &self.seen[place];
        let (Some(expected), Some(load), Some(predicted)) =
            (seen.expected(), seen.load, &seen.predicted)
        else {
            return Why::NotComparable;
        };
        // Not every pass finds a full bucket: the mean of them lies between both rates.
        let without_bucket = lasting(predicted).next().filter(|phase| limited(phase));
        let as_expected = |iops: f64| {
            (iops / expected - 1.0).abs() <= NEAR
                || seen.distance(predicted, iops) <= NEAR
                || without_bucket.is_some_and(|phase| (phase.iops..expected).contains(&iops))
        };
        if as_expected(seen.iops) || seen.used_up(predicted, expected) {
            // The rate of an empty bucket may be another limit's by chance.
            let by_chance = self
                .recorded_setting(seen, load)
                .filter(|_| !seen.fits(expected, NEAR));
            return by_chance.unwrap_or(Why::AsExpected);
        }
        if seen.is_shared {
            return Why::SharedInstance;
        }
        if undisturbed(seen.case).is_some_and(|iops| as_expected(iops * seen.share.of_ios)) {
            return Why::Interrupted;
        }
        if let Some(why) = self.others.recorded(seen.is_latency_bound()) {
            return why;
        }
        // A record that knows for what its operations waited leaves nothing to their latency.
        let is_held = !seen.is_latency_bound() && is_held(self.cases, seen.case);
        let latency = self.by_latency(seen, load).filter(|_| !is_held);
        if latency == Some(Why::Latency) {
            return Why::Latency;
        }
        let documented = seen.phase().map_or(expected, |phase| phase.iops);
        if let Some(why) = self.bought_otherwise(seen, load, documented) {
            return why;
        }
        if self.edges.is_none() && seen.is_latency_bound() && seen.iops < expected * (1.0 + ABOVE) {
            return Why::Latency;
        }
        if let Some(day) = self
            .others
            .day(self.given, |spec| seen.off(spec, load) <= EXACT)
        {
            return Why::AnotherDay(day);
        }
        if let Some(why) = latency {
            return why;
        }
        let slip = SLIPS.iter().find(|(factor, _)| {
            // Nothing else leaves an eighth, and much else a few per cent less.
            let within = if *factor > 2.0 { EXACT } else { EXACT / 4.0 };
            let rates = [expected, documented].into_iter();
            let mut slipped = rates.flat_map(|rate| [rate * factor, rate / factor]);
            slipped.any(|rate| seen.fits(rate, within))
        });
        match slip {
            Some((_, words)) => Why::UnitSlip(words),
            None if seen.iops > expected * (1.0 + ABOVE) => Why::Above,
            None if seen.is_latency_bound() => Why::Latency,
            None => Why::Below,
        }
    }

    /// A limit of the address that holds the case back with less than the address promises, as the
    /// record's own model knows.
    fn recorded_setting(&self, seen: &Seen<'_>, load: Load) -> Option<Why> {
        // The rate of the type without settings says why it is so little.
        let default = self.default.as_ref();
        if default.is_some_and(|spec| seen.off(spec, load) <= NEAR) {
            return None;
        }
        let promised = self.given.resolved.spec.limits();
        holding(self.cases, seen.case)
            .into_iter()
            .find_map(|recorded| {
                let same = promised.iter().find(|limit| limit.name == recorded.name)?;
                let is_less = recorded.value < same.value * (1.0 - NEAR);
                is_less.then(|| Why::OtherSetting {
                    limit: recorded.name.to_string(),
                    recorded: recorded.value,
                    promised: same.value,
                    unit: recorded.unit.text(),
                })
            })
    }

    /// What the latency explains, where no limit need have bound the case: the rate lies between
    /// those of the quickest and of the slowest healthy device of this type, or beyond them.
    fn by_latency(&self, seen: &Seen<'_>, load: Load) -> Option<Why> {
        let (quickest, slowest) = self.edges.as_ref()?;
        let (quickest, slowest) = (predict(quickest, load).ok()?, predict(slowest, load).ok()?);
        let (most, slow) = (lasting(&quickest).next()?, lasting(&slowest).next()?);
        if !of_medium(&slow.binding) {
            return None;
        }
        let is_known = self.published.is_some();
        // A limiter's saved-up second comes on top.
        let (from, until) = seen.window;
        let top = most.iops.max(quickest.iops_mean(from, until));
        if seen.iops > top * (1.0 + ABOVE) {
            let published = self.published.as_ref();
            let known = published.filter(|_| of_medium(&most.binding))?;
            let mean_ns = f64::from(load.in_flight) / seen.iops * 1e9;
            // Else a medium that answers several at once does more than documents say.
            let is_quicker = mean_ns < known.least.0 as f64;
            return is_quicker.then_some(Why::Quicker);
        }
        // The credits of a burst may have been used up before.
        if is_known && seen.iops < slowest.sustained().iops * (1.0 - ABOVE) {
            return Some(Why::Slower);
        }
        Some(Why::Latency)
    }

    /// Whether something else than what the address names explains the rate: the type without
    /// settings, another type, another instance.
    fn bought_otherwise(&self, seen: &Seen<'_>, load: Load, documented: f64) -> Option<Why> {
        let off = |spec: &DeviceSpec| seen.off(spec, load);
        let by_default = self.default.as_ref().map_or(f64::INFINITY, off);
        let little = seen.iops < LITTLE * documented;
        // The type itself, with a setting that is not in effect, is the likelier explanation.
        let types = self.others.types.iter();
        let nearest = types
            .map(|(kind, spec)| (kind, off(spec)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b));
        match nearest {
            Some((kind, off))
                if off <= EXACT && (by_default > NEAR || off + EXACT < by_default) =>
            {
                return Some(Why::OtherType(kind.clone()));
            }
            _ if little && by_default <= NEAR => return Some(Why::DefaultSettings),
            _ => {}
        }
        if little && let Some(why) = self.others.smaller(self.given, seen.iops / documented, off) {
            return Some(why);
        }
        let siblings = self.others.siblings(self.given);
        let (from, until) = seen.window;
        let middle = Nanos(u64::midpoint(from.0, until.0));
        let fitting = siblings.iter().filter(|(_, spec)| {
            predict(spec, load).is_ok_and(|predicted| {
                let phase = predicted.at(middle);
                of_instance(&phase.binding) && seen.fits(phase.iops, EXACT)
            })
        });
        let names: Vec<String> = fitting.map(|(name, _)| name.clone()).collect();
        (little && !names.is_empty()).then_some(Why::OtherInstance(names))
    }

    /// The target, where several have addresses of their own: its address without its clock.
    pub(super) fn target(&self) -> Option<String> {
        let targets = &self.cases.record.targets;
        let place = self.given.target.filter(|_| targets.len() > 1)?;
        Some(targets.get(place)?.path.clone())
    }

    /// How the limit that binds is known: `documented`, `measured`, `assumed`.
    pub(super) fn how(&self, binding: &Binding) -> &'static str {
        let limits = self.given.resolved.spec.limits();
        let found = limits.iter().find(|limit| binding.is(&limit.name));
        let volumes = self.given.resolved.spec.volumes.iter();
        let mut services = volumes.filter_map(|volume| volume.service.as_ref());
        match (found, services.next()) {
            (Some(limit), _) => limit.origin.how(),
            (None, Some(service)) if *binding == Binding::Latency => service.read.origin.how(),
            (None, _) => "documented",
        }
    }

    /// Asks a rule about every case and joins what it finds.
    pub(super) fn per_case(
        &self,
        rule: &'static str,
        advice: Option<&str>,
        judge: impl Fn(&Seen<'a>) -> Option<Hit>,
    ) -> Vec<Finding> {
        self.joined(rule, advice, self.seen.iter(), judge)
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
    fn new(
        cases: &Cases<'_>,
        case: &'a CaseView<'a>,
        spec: &DeviceSpec,
        given: &Expectation<'_>,
    ) -> Self {
        let of_target = |target| shares::share(cases.record, case, target);
        let share = given.target.map_or(Some(Share::WHOLE), of_target);
        let is_judged = blocklab_findings::shows_target(cases, case) && case.iops() > 0.0;
        let load = load(case)
            .filter(|_| is_judged)
            .zip(share)
            .map(|(load, share)| Load {
                in_flight: (f64::from(load.in_flight) * share.of_flight)
                    .round()
                    .max(1.0) as u32,
                ..load
            });
        let share = share.unwrap_or(Share::WHOLE);
        let iops = case.iops() * share.of_ios;
        let together = given
            .together
            .iter()
            .filter_map(|target| of_target(*target))
            .map(|share| share.of_ios)
            .sum::<f64>();
        let together_iops = (case.iops() * together).max(iops);
        Self {
            case,
            iops,
            share,
            together_iops,
            is_shared: given.together.len() > 1
                && load.is_some_and(|load| is_at_instance(spec, load, together_iops)),
            load,
            window: window(case),
            predicted: load.and_then(|load| predict(spec, load).ok()),
            why: Why::NotComparable,
        }
    }

    /// Operations a second over the measured time, from a rested device.
    pub(super) fn expected(&self) -> Option<f64> {
        let (from, until) = self.window;
        Some(self.predicted.as_ref()?.iops_mean(from, until))
    }

    pub(super) fn fits(&self, rate: f64, within: f64) -> bool {
        (self.iops / rate - 1.0).abs() <= within
    }

    /// How far the rate is from what a device makes of the load, by a limit.
    fn off(&self, spec: &DeviceSpec, load: Load) -> f64 {
        predict(spec, load).map_or(f64::INFINITY, |predicted| {
            self.distance(&predicted, self.iops)
        })
    }

    /// How far a rate is from what a limit and not the latency makes of the load: over the measured
    /// time, or in any phase that lasts, since the device need not have been rested.
    fn distance(&self, predicted: &Prediction, iops: f64) -> f64 {
        let (from, until) = self.window;
        let whole = limited(predicted.at(until)).then(|| predicted.iops_mean(from, until));
        let rates = lasting(predicted)
            .filter(|phase| limited(phase))
            .map(|lasting| lasting.iops)
            .chain(whole);
        rates.fold(f64::INFINITY, |least, rate| {
            least.min((iops / rate - 1.0).abs())
        })
    }

    /// Whether the passes used a burst up: the first had what is to be expected of a rested device, the
    /// last what the burst leaves, and the one between them both.
    fn used_up(&self, predicted: &Prediction, expected: f64) -> bool {
        let leaves = predicted.sustained();
        let Some(burst) = lasting(predicted).next().filter(|phase| limited(phase)) else {
            return false;
        };
        let passes = self.pass_iops();
        let full = passes
            .iter()
            .take_while(|iops| is_near(**iops, expected) || is_near(**iops, burst.iops))
            .count();
        let rest = passes[full..].iter().rev();
        let empty = rest.take_while(|iops| is_near(**iops, leaves.iops)).count();
        let between = &passes[full..passes.len() - empty];
        let is_between = between
            .iter()
            .all(|iops| (leaves.iops..burst.iops).contains(iops));
        full > 0 && between.len() <= 1 && is_between
    }

    /// The rate of the first pass while a limit was to bind that binds for a part of the time only.
    pub(super) fn level(&self, limit: &LimitName) -> Option<f64> {
        let phases = &self.predicted.as_ref()?.phases;
        let place = phases.iter().position(|phase| phase.binding.is(limit))?;
        let from = phases[place].begins.max(self.window.0);
        let next = phases
            .get(place + 1)
            .map_or(Nanos::MAX, |phase| phase.begins);
        let until = next.min(self.window.1);
        if until.since(from) < MOMENT || (from, until) == self.window {
            return None;
        }
        let series = self.case.passes.first()?.series.iter();
        let inside = series.filter(|series| {
            let begins = series.end_ns.saturating_sub(series.length_ns);
            begins >= from.0 && series.end_ns <= until.0
        });
        let (ios, ns) = inside.fold((0, 0), |(ios, ns), slice| {
            (ios + slice.read.ios + slice.write.ios, ns + slice.length_ns)
        });
        (ns > 0).then(|| ios as f64 * 1e9 / ns as f64 * self.share.of_ios)
    }

    /// Operations a second of the target in each pass.
    pub(super) fn pass_iops(&self) -> Vec<f64> {
        let passes = self.case.pass_iops.iter();
        passes.map(|iops| iops * self.share.of_ios).collect()
    }

    /// The phase in which most of the measured time lies: the one at its middle.
    pub(super) fn phase(&self) -> Option<&Phase> {
        let middle = Nanos(u64::midpoint(self.window.0.0, self.window.1.0));
        Some(self.predicted.as_ref()?.at(middle))
    }

    pub(super) fn binding(&self) -> Option<&Binding> {
        Some(&self.phase()?.binding)
    }

    pub(super) fn is_latency_bound(&self) -> bool {
        self.binding().is_some_and(of_medium)
    }

    pub(super) fn check(&self, target: Option<String>) -> CaseCheck {
        CaseCheck {
            case: self.case.name.to_owned(),
            target,
            iops: self.iops,
            expected_iops: self.expected(),
            binding: self.binding().map(ToString::to_string),
            why: self.why.clone(),
        }
    }
}

/// Whether a load at this rate moves what an instance lets pass for all its volumes.
fn is_at_instance(spec: &DeviceSpec, load: Load, iops: f64) -> bool {
    let granted = grants(spec, load).unwrap_or_default().into_iter();
    let of_instance = granted.filter(|grant| grant.name.volumes.is_none());
    let mut rates = of_instance.flat_map(|grant| [grant.iops, grant.burst_iops]);
    rates.any(|rate| (iops / rate - 1.0).abs() <= NEAR)
}

fn limited(phase: &Phase) -> bool {
    phase.binding != Binding::Latency
}

/// Whether the medium itself binds, and no limiter.
fn of_medium(binding: &Binding) -> bool {
    let kind = binding.kind();
    matches!(kind, None | Some(LimitKind::PhysicalMaximum { .. }))
}

/// Whether a limit of the instance binds.
pub(super) fn of_instance(binding: &Binding) -> bool {
    matches!(binding, Binding::Limit(name) if name.volumes.is_none())
}

/// The phases that are more than the first moments of a limiter.
pub(super) fn lasting(predicted: &Prediction) -> impl Iterator<Item = &Phase> {
    let ends = predicted.phases.iter().skip(1).map(|phase| phase.begins);
    let phases = predicted.phases.iter().zip(ends.chain([Nanos::MAX]));
    let long = phases.filter(|(phase, end)| end.since(phase.begins) >= MOMENT);
    long.map(|(phase, _)| phase)
}

/// The load of a case as the closed form takes it: one pattern, reads and writes of about one
/// size.
fn load(case: &CaseView<'_>) -> Option<Load> {
    let job = case.passes.first()?.jobs.first()?;
    let (reads, writes) = (ios(case, Direction::Read), ios(case, Direction::Write));
    let streams = if job.is_random() {
        0
    } else if job.is_sequential() {
        u32::try_from(case.threads()).ok()?
    } else {
        return None;
    };
    let others = ios(case, Direction::Trim) + ios(case, Direction::Sync);
    let mut jobs = case.jobs();
    let one_pattern = jobs.all(|other| (&other.pattern, other.runs) == (&job.pattern, job.runs));
    if !one_pattern || others > 0 || reads + writes == 0 {
        return None;
    }
    Some(Load {
        read_percent: (reads as f64 / (reads + writes) as f64 * 100.0).round() as u8,
        block: Bytes(case.bytes_per_io().round() as u64),
        streams,
        in_flight: u32::try_from(case.slots()).ok()?,
    })
}

fn ios(case: &CaseView<'_>, direction: Direction) -> u64 {
    let results = case.jobs().filter_map(|job| job.directions.get(&direction));
    results.map(|result| result.ios).sum()
}

fn is_near(iops: f64, rate: f64) -> bool {
    (iops / rate - 1.0).abs() <= NEAR
}

/// The measured time of the first pass: from the end of its ramp to its end.
fn window(case: &CaseView<'_>) -> (Nanos, Nanos) {
    let Some(pass) = case.passes.first() else {
        return (Nanos::ZERO, Nanos(1));
    };
    let ramp = pass.series.iter().filter(|interval| interval.ramp);
    let ramp_ns: u64 = ramp.map(|interval| interval.length_ns).sum();
    let measured = pass.jobs.iter().map(|job| job.elapsed_ns).max();
    (
        Nanos(ramp_ns),
        Nanos(ramp_ns + measured.unwrap_or(0).max(1)),
    )
}
