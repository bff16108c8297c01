//! A run next to what its address promises: the prediction for each case, and why the delivered
//! rate differs from it.

use blocklab_catalog::{PublishedLatency, TIMES_UNKNOWN};
use blocklab_device::{
    Binding, DeviceSpec, LimitKind, LimitName, LimitUnit, Load, Phase, Prediction, grants, predict,
};
use blocklab_units::Nanos;
use blocklab_workload::Address;

use super::load::{load, paced_load, requested_iops};
use super::others::Others;
use super::why::{EXACT, Why};
use super::{CaseCheck, Expectation};
use blocklab_findings::Finding;
pub(crate) use blocklab_findings::NEAR;
use blocklab_findings::hit::{Hit, joined};
use blocklab_findings::shares::{self, Share};
use blocklab_findings::undisturbed;
use blocklab_findings::view::{CaseView, Cases};
use blocklab_findings::{Obstacle, holding, is_held};

/// A rate that is above the documented one by more than this share exceeds it.
pub(super) const ABOVE: f64 = 0.03;
/// Vendors promise this share of a documented rate for most of the time: below it, the shortfall
/// needs an explanation.
pub(super) const LITTLE: f64 = 0.90;
/// From this many times the latency of the model on, it is not that of a healthy device. What is
/// published of one type differs by up to four times (a local NVMe disk: 43 to 165 µs, writes and reads).
const FAR_FROM_MODEL: f64 = 5.0;
/// The factors by which a rate is off after a mix-up of units, each with the units.
const SLIPS: [(f64, &str); 4] = [
    (1.024, "KiB against KB"),
    (1.048_576, "MiB against MB"),
    (1.073_741_824, "GiB against GB"),
    (8.0, "bits against bytes"),
];

/// A shorter phase comes from the limiter's own bucket, not from a limit that is documented.
const MOMENT: Nanos = Nanos::from_secs(10);

/// A time, counted from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Nanos,
    pub(super) until: Nanos,
}

/// A case with its load, the prediction for it, and why its rate differs.
pub(super) struct ExplainedCase<'a> {
    pub(super) view: &'a CaseView<'a>,
    /// Operations per second that the target delivered.
    pub(super) iops: f64,
    /// Operations per second that were requested of it; infinite: all that it has.
    requested: f64,
    /// Whether it was asked for less than it could give, and gave more than any limit all the same.
    exceeds_paced: bool,
    /// The share of the case's operations that went to the target.
    share: Share,
    /// Operations per second of all targets on the same instance together.
    pub(super) together_iops: f64,
    /// Whether these together run at a limit of the instance.
    pub(super) is_shared: bool,
    /// The load as the closed form takes it; `None`: the case cannot be compared.
    pub(super) load: Option<Load>,
    /// The measured time.
    pub(super) window: Window,
    pub(super) predicted: Option<Prediction>,
    /// Why nothing was predicted.
    obstacle: Option<Obstacle>,
    /// The end of a burst that began with fewer credits than a rested device has.
    pub(super) short_burst: Option<ShortBurst>,
    pub(super) why: Why,
}

/// A burst within the first pass that ended sooner than that of a rested device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShortBurst {
    /// Its last whole interval ends here, from the start of the load.
    pub(super) ends: Nanos,
    /// The first whole interval at the sustained rate begins here.
    baseline_begins: Nanos,
    /// Operations per second over the measured time with this end.
    expected: f64,
}

/// A run in which every case is explained: what the rules read.
pub(super) struct ExplainedRun<'a> {
    pub(super) view: &'a Cases<'a>,
    pub(super) given: Expectation<'a>,
    pub(super) cases: Vec<ExplainedCase<'a>>,
    /// The device with its type's default settings; `None`: it was bought with these.
    pub(super) default: Option<DeviceSpec>,
    /// Other devices that could explain a rate.
    pub(super) others: Others,
    /// The latencies that were published for its type; `None`: none were, or the device is
    /// described by a file, which has latencies of its own.
    pub(super) published: Option<PublishedLatency>,
    /// The quickest and the slowest healthy device that the address can name.
    healthy_range: Option<(DeviceSpec, DeviceSpec)>,
}

impl<'a> ExplainedRun<'a> {
    /// Predicts the rate of every case and then explains how the delivered one differs.
    pub(super) fn new(view: &'a Cases<'a>, given: Expectation<'a>) -> Self {
        let spec = &given.resolved.spec;
        let cases = view
            .list
            .iter()
            .map(|case| ExplainedCase::new(view, case, spec, &given));
        let mut run = Self {
            view,
            given,
            cases: cases.collect(),
            default: None,
            others: Others::default(),
            published: None,
            healthy_range: None,
        };
        if let (Address::Sold(_), [volume, ..]) = (&given.resolved.address, &*spec.volumes) {
            let known = PublishedLatency::of_type(&volume.kind);
            run.healthy_range = Some(match &known {
                Some(known) => (known.quickest(spec), known.slowest(spec)),
                None => PublishedLatency::unknown(spec),
            });
            run.published = known;
        }
        run.default = given.changed(|offer| {
            (offer.iops, offer.throughput) = (None, None);
        });
        // A record of several targets names the type of each, so no other type has to be tried.
        if given.target.is_none() || view.record.targets.len() == 1 {
            run.others = Others::new(given, view.record);
        }
        // An explanation may need all of the above, so it comes last.
        for place in 0..run.cases.len() {
            let why = run.explain(place);
            run.cases[place].why = why;
        }
        run
    }

    /// The first explanation that fits. The order matters, since several may fit the same figure.
    fn explain(&self, place: usize) -> Why {
        let case = &self.cases[place];
        let (Some(expected), Some(load), Some(predicted)) =
            (case.expected(), case.load, &case.predicted)
        else {
            return Why::NotComparable;
        };
        // Passes that start with less than a full bucket have a mean between both rates.
        let without_bucket = lasting(predicted).next().filter(|phase| limited(phase));
        let as_expected = |iops: f64| {
            is_near(iops, expected)
                || case.distance(predicted, iops) <= NEAR
                || without_bucket.is_some_and(|phase| (phase.iops..expected).contains(&iops))
        };
        let has_ended = case.used_up(predicted, expected) || case.short_burst.is_some();
        if as_expected(case.iops) || has_ended {
            // The sustained rate may by chance be that of a lower setting, which the record names.
            let by_chance = self
                .recorded_setting(case, load)
                .filter(|_| !case.fits(expected, NEAR));
            return by_chance.unwrap_or(Why::AsExpected);
        }
        if case.is_shared {
            return Why::SharedInstance;
        }
        if undisturbed(case.view).is_some_and(|iops| as_expected(iops * case.share.of_ios)) {
            return Why::Interrupted;
        }
        if let Some(why) = self.others.recorded(case.is_latency_bound()) {
            return why;
        }
        // The rate is the requested one, so that it shows no other limit.
        if case.exceeds_paced {
            return Why::Above;
        }
        let is_held = self.is_held_back(case, expected);
        let latency = self.by_latency(case, load).filter(|_| !is_held);
        if latency == Some(Why::Latency) {
            return Why::Latency;
        }
        let documented = case.phase().map_or(expected, |phase| phase.iops);
        if let Some(why) = self.bought_otherwise(case, load, documented, is_held) {
            return why;
        }
        // A device file has no published range of latencies: a lower rate needs no other cause.
        let is_by_latency = case.is_latency_bound() && !is_held;
        if self.healthy_range.is_none() && is_by_latency && case.iops < expected * (1.0 + ABOVE) {
            return Why::Latency;
        }
        // Before the verdict "slower than published": the lower limits of an earlier day look like
        // that.
        if let Some(day) = self
            .others
            .day(self.given, |spec| case.off(spec, load) <= EXACT)
        {
            return Why::AnotherDay(day);
        }
        if let Some(why) = latency {
            return why;
        }
        let slip = unit_slip(case, [expected, documented]);
        match slip.filter(|_| self.counts_bytes(case)) {
            Some(words) => Why::UnitSlip(words),
            None if case.iops > expected * (1.0 + ABOVE) => Why::Above,
            None if is_by_latency => Why::Latency,
            // A little less is what vendors allow themselves.
            None if case.iops >= LITTLE * documented => Why::Below,
            None => self.recorded_setting(case, load).unwrap_or(Why::Below),
        }
    }

    /// Whether the limit that binds a case counts bytes: operations have no binary prefix and no bits.
    fn counts_bytes(&self, case: &ExplainedCase<'_>) -> bool {
        let limits = self.given.resolved.spec.limits();
        let mut in_bytes = limits.iter().filter(|limit| limit.unit != LimitUnit::Iops);
        case.binding()
            .is_some_and(|binding| in_bytes.any(|limit| binding.is(&limit.name)))
    }

    /// Whether the record's own model shows that a limit held a case back: then latency does not explain
    /// its rate. Where latency was expected to bind, only a limiter that let less pass than the expected
    /// rate counts, because a device that is quicker than the model meets the limit that was sold.
    fn is_held_back(&self, case: &ExplainedCase<'_>, expected: f64) -> bool {
        if !case.is_latency_bound() {
            return is_held(self.view, case.view);
        }
        case.iops < expected
            && holding(self.view, case.view)
                .into_iter()
                .any(|limit| is_limiter(&limit.name.kind))
    }

    /// A limit that held the case back and that the record's own model sets lower than the address
    /// does.
    fn recorded_setting(&self, case: &ExplainedCase<'_>, load: Load) -> Option<Why> {
        // "Settings not in effect" is the better explanation for the rate of the default settings.
        let default = self.default.as_ref();
        if default.is_some_and(|spec| case.off(spec, load) <= NEAR) {
            return None;
        }
        let promised = self.given.resolved.spec.limits();
        holding(self.view, case.view)
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

    /// Whether latency explains the rate: it lies between the rates of the slowest and of the
    /// quickest healthy device of this type, or beyond one of them. `None`: a limit binds even the
    /// slowest, or latency does not decide.
    fn by_latency(&self, case: &ExplainedCase<'_>, load: Load) -> Option<Why> {
        let (quickest, slowest) = self.healthy_range.as_ref()?;
        let (quickest, slowest) = (predict(quickest, load).ok()?, predict(slowest, load).ok()?);
        let (most, slow) = (lasting(&quickest).next()?, lasting(&slowest).next()?);
        if !of_medium(&slow.binding) {
            return None;
        }
        let is_known = self.published.is_some();
        // A full bucket lets a short test run above the rate of the first lasting phase.
        let Window { from, until } = case.window;
        let top = most.iops.max(quickest.iops_mean(from, until));
        if case.iops > top * (1.0 + ABOVE) {
            let published = self.published.as_ref();
            let known = published.filter(|_| of_medium(&most.binding))?;
            let mean_ns = f64::from(load.in_flight) / case.iops * 1e9;
            // A higher rate at a usual latency means that the medium works on more operations at
            // once than documents say; that is no sign of another device.
            let is_quicker = mean_ns < known.least.0 as f64;
            return is_quicker.then_some(Why::Quicker);
        }
        // The sustained rate, since the credits may have been used up before the run.
        let least_iops = slowest.sustained().iops;
        if is_known {
            let is_slower = case.iops < least_iops * (1.0 - ABOVE);
            return Some(if is_slower { Why::Slower } else { Why::Latency });
        }
        // The slowest device has TIMES_UNKNOWN times the latency of the model.
        let modelled = least_iops * TIMES_UNKNOWN;
        let is_slower = case.iops * FAR_FROM_MODEL < modelled;
        Some(if is_slower {
            Why::SlowerThanModel
        } else {
            Why::Latency
        })
    }

    /// Whether the rate is that of something else than what the address names: the type with its
    /// default settings, another type, fewer or smaller volumes, another size of the instance. `is_held`: the
    /// record shows that a limit held it back, see [`Self::is_held_back`].
    fn bought_otherwise(
        &self,
        case: &ExplainedCase<'_>,
        load: Load,
        documented: f64,
        is_held: bool,
    ) -> Option<Why> {
        let off = |spec: &DeviceSpec| case.off(spec, load);
        let by_default = self.default.as_ref().map_or(f64::INFINITY, off);
        let little = case.iops < LITTLE * documented;
        // Another type must fit clearly better than the type itself with a setting that is not in
        // effect, which is the likelier mistake.
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
            // A limit of the default settings that held the case back is no shortfall of what latency gives.
            _ if by_default <= NEAR && (little || (is_held && case.is_latency_bound())) => {
                return Some(Why::DefaultSettings);
            }
            _ => {}
        }
        if little && let Some(why) = self.others.smaller(self.given, case.iops / documented, off) {
            return Some(why);
        }
        // A size of the instance explains a rate only if its own limit binds; where the volume
        // binds, every size gives the same rate.
        let siblings = self.others.siblings(self.given);
        let Window { from, until } = case.window;
        let middle = Nanos(u64::midpoint(from.0, until.0));
        let fitting = siblings.iter().filter(|(_, spec)| {
            predict(spec, load).is_ok_and(|predicted| {
                let phase = predicted.at(middle);
                of_instance(&phase.binding) && case.fits(phase.iops, EXACT)
            })
        });
        let names: Vec<String> = fitting.map(|(name, _)| name.clone()).collect();
        (little && !names.is_empty()).then_some(Why::OtherInstance(names))
    }

    /// The path of the target; `None` where the run has only one.
    pub(super) fn target(&self) -> Option<String> {
        let targets = &self.view.record.targets;
        let place = self.given.target.filter(|_| targets.len() > 1)?;
        Some(targets.get(place)?.path.clone())
    }

    /// How the figure of what binds a case is known: `documented`, `measured`, `assumed`, `given`.
    pub(super) fn how(&self, case: &ExplainedCase<'_>, binding: &Binding) -> &'static str {
        let spec = &self.given.resolved.spec;
        let known = match binding {
            Binding::Limit(name) => {
                let limits = spec.limits();
                let limit = limits.iter().find(|limit| limit.name == *name);
                limit.map(|limit| limit.origin.how())
            }
            // The first volume stands for all.
            Binding::Latency => {
                let mut volumes = spec.volumes.iter();
                let service = volumes.find_map(|volume| volume.service.as_ref());
                let is_write = case.load.is_some_and(|load| load.read_percent == 0);
                let latency = service.map(|service| {
                    if is_write {
                        &service.write
                    } else {
                        &service.read
                    }
                });
                latency.map(|latency| latency.origin.how())
            }
        };
        // The prediction is made from this specification, so that what binds is found in it.
        known.unwrap_or("documented")
    }

    /// Applies a rule to every case and joins its hits into findings.
    pub(super) fn per_case(
        &self,
        rule: &'static str,
        advice: Option<&str>,
        judge: impl Fn(&ExplainedCase<'a>) -> Option<Hit>,
    ) -> Vec<Finding> {
        self.joined(rule, advice, self.cases.iter(), judge)
    }

    /// Applies a rule to some cases and joins its hits into findings.
    pub(super) fn joined<'s>(
        &self,
        rule: &'static str,
        advice: Option<&str>,
        cases: impl Iterator<Item = &'s ExplainedCase<'a>>,
        judge: impl Fn(&'s ExplainedCase<'a>) -> Option<Hit>,
    ) -> Vec<Finding>
    where
        'a: 's,
    {
        let hits = cases.filter_map(|case| Some((case.view.name, judge(case)?)));
        joined(self.view, rule, advice, hits)
    }

    /// The cases with this explanation.
    pub(super) fn because(&self, why: &Why) -> impl Iterator<Item = &ExplainedCase<'a>> {
        self.cases.iter().filter(move |case| case.why == *why)
    }
}

impl<'a> ExplainedCase<'a> {
    /// The part of a case that went to the target of `given`, or all of it, and its prediction.
    fn new(
        run: &Cases<'_>,
        view: &'a CaseView<'a>,
        spec: &DeviceSpec,
        given: &Expectation<'_>,
    ) -> Self {
        let of_target = |target| shares::share(run.record, view, target);
        let counted = given.target.map_or(Some(Share::WHOLE), of_target);
        // Without a count the figures are those of the whole case. They are not compared then, because
        // `on_target` gives no load.
        let share = counted.unwrap_or(Share::WHOLE);
        let mut load = load(run, view, spec).and_then(|load| on_target(load, counted));
        let iops = view.iops() * share.of_ios;
        let requested = requested_iops(view).unwrap_or(f64::INFINITY) * share.of_ios;
        let mut predicted = load.and_then(|load| predict_unpaced(spec, load, iops, requested));
        let window = Window::new(view);
        let mut exceeds_paced = false;
        // A load that asked for less than the target can give is not compared, unless it got more than
        // any limit gives.
        if predicted == Err(Obstacle::Paced)
            && !run.keeps_shares(view)
            && let Ok(paced) = paced_load(view, spec).and_then(|load| on_target(load, counted))
            && let Some(exceeded) = exceeded(spec, paced, window, iops)
        {
            (load, predicted, exceeds_paced) = (Ok(paced), Ok(exceeded), true);
        }
        let together = given
            .together
            .iter()
            .filter_map(|target| of_target(*target))
            .map(|share| share.of_ios)
            .sum::<f64>();
        // Targets whose share nothing counted are missing in the sum.
        let together_iops = (view.iops() * together).max(iops);
        Self {
            view,
            iops,
            requested,
            exceeds_paced,
            share,
            together_iops,
            is_shared: given.together.len() > 1
                && load.is_ok_and(|load| is_at_instance(spec, load, together_iops)),
            load: load.ok().filter(|_| predicted.is_ok()),
            window,
            obstacle: predicted.as_ref().err().copied(),
            short_burst: predicted
                .as_ref()
                .ok()
                .and_then(|predicted| ShortBurst::find(view, share, window, predicted)),
            predicted: predicted.ok(),
            why: Why::NotComparable,
        }
    }

    /// Operations per second that a device gives over the measured time: a rested one, or one whose
    /// burst ended as soon as this one's.
    pub(super) fn expected(&self) -> Option<f64> {
        if let Some(burst) = self.short_burst {
            return Some(burst.expected);
        }
        let Window { from, until } = self.window;
        let given = self.predicted.as_ref()?.iops_mean(from, until);
        Some(given.min(self.requested))
    }

    /// Whether the delivered rate is this one, up to a share of it.
    pub(super) fn fits(&self, rate: f64, within: f64) -> bool {
        (self.iops / rate - 1.0).abs() <= within
    }

    /// How far the delivered rate is from what a limit of this device gives, as a share of it;
    /// infinite where no limit binds.
    fn off(&self, spec: &DeviceSpec, load: Load) -> f64 {
        predict(spec, load).map_or(f64::INFINITY, |predicted| {
            self.distance(&predicted, self.iops)
        })
    }

    /// How far a rate is from the nearest rate that a limit gives, as a share of it: on average
    /// over the measured time, or in any lasting phase, since the device need not have been rested.
    fn distance(&self, predicted: &Prediction, iops: f64) -> f64 {
        let Window { from, until } = self.window;
        let whole = limited(predicted.at(until)).then(|| predicted.iops_mean(from, until));
        let rates = lasting(predicted)
            .filter(|phase| limited(phase))
            .map(|lasting| lasting.iops)
            .chain(whole);
        rates.fold(f64::INFINITY, |least, rate| {
            least.min((iops / rate - 1.0).abs())
        })
    }

    /// Whether the burst ran out during the passes: the first passes have the rate of a rested
    /// device, the last ones the sustained rate, and at most one between them has a rate in
    /// between.
    fn used_up(&self, predicted: &Prediction, expected: f64) -> bool {
        let leaves = predicted.sustained();
        let Some(burst) = lasting(predicted).next().filter(|phase| limited(phase)) else {
            return false;
        };
        let passes = self.pass_iops();
        // How many passes ran at the full rate, and how many of the rest at the sustained one.
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

    /// The rate of the first pass, in operations per second, during the phase in which this limit
    /// was expected to bind; `None` where that phase is short or fills the measured time.
    pub(super) fn level(&self, limit: &LimitName) -> Option<f64> {
        let phases = &self.predicted.as_ref()?.phases;
        let place = phases.iter().position(|phase| phase.binding.is(limit))?;
        let mut from = phases[place].begins.max(self.window.from);
        let mut next = phases
            .get(place + 1)
            .map_or(Nanos::MAX, |phase| phase.begins);
        if let Some(burst) = self.short_burst {
            if place + 1 == phases.len() {
                from = burst.baseline_begins;
            } else {
                next = next.min(burst.ends);
            }
        }
        let until = next.min(self.window.until);
        // The rate of the case already is the rate of a phase that fills the whole time.
        if until.since(from) < MOMENT || (Window { from, until }) == self.window {
            return None;
        }
        let series = self.view.passes.first()?.series.iter();
        let inside = series.filter(|interval| {
            let begins = interval.end_ns.saturating_sub(interval.length_ns);
            begins >= from.0 && interval.end_ns <= until.0
        });
        let (ios, ns) = inside.fold((0, 0), |(ios, ns), interval| {
            (
                ios + interval.read.ios + interval.write.ios,
                ns + interval.length_ns,
            )
        });
        (ns > 0).then(|| ios as f64 * 1e9 / ns as f64 * self.share.of_ios)
    }

    /// Operations per second on the target, pass by pass.
    pub(super) fn pass_iops(&self) -> Vec<f64> {
        let passes = self.view.pass_iops.iter();
        passes.map(|iops| iops * self.share.of_ios).collect()
    }

    /// The phase at the middle of the measured time.
    pub(super) fn phase(&self) -> Option<&Phase> {
        let middle = Nanos(u64::midpoint(self.window.from.0, self.window.until.0));
        Some(self.predicted.as_ref()?.at(middle))
    }

    /// What binds in that phase.
    pub(super) fn binding(&self) -> Option<&Binding> {
        Some(&self.phase()?.binding)
    }

    pub(super) fn is_latency_bound(&self) -> bool {
        self.binding().is_some_and(of_medium)
    }

    /// What the report says of a case; `target` where the run has several.
    pub(super) fn check(&self, target: Option<String>) -> CaseCheck {
        CaseCheck {
            case: self.view.name.to_owned(),
            target,
            iops: self.iops,
            expected_iops: self.expected(),
            binding: self.binding().map(ToString::to_string),
            why: self.why.clone(),
            obstacle: self.obstacle,
        }
    }
}

/// Intervals at either rate that show a burst and its end.
const EACH_RATE: usize = 3;

impl ShortBurst {
    /// The burst of the first pass, if it ended before that of a rested device would: its intervals
    /// have the rate of the burst, then the sustained one, with at most one between them, and all
    /// later passes have the sustained rate.
    fn find(
        view: &CaseView<'_>,
        share: Share,
        window: Window,
        predicted: &Prediction,
    ) -> Option<Self> {
        let last = predicted.sustained();
        let burst = lasting(predicted).next().filter(|phase| limited(phase))?;
        let has_credits = matches!(last.binding.kind(), Some(LimitKind::Baseline { .. }));
        if !has_credits || last.iops >= burst.iops * (1.0 - 2.0 * NEAR) {
            return None;
        }
        let series = view.passes.first()?.series.iter();
        let measured: Vec<_> = series.filter(|interval| !interval.ramp).collect();
        let rates: Vec<f64> = measured
            .iter()
            .map(|interval| {
                let ios = interval.read.ios + interval.write.ios;
                ios as f64 * 1e9 / interval.length_ns.max(1) as f64 * share.of_ios
            })
            .collect();
        let from_start = rates.iter();
        let full = from_start
            .take_while(|rate| **rate >= burst.iops * (1.0 - NEAR))
            .count();
        let rest = rates[full..].iter().rev();
        let empty = rest.take_while(|rate| is_near(**rate, last.iops)).count();
        let mut later = view.pass_iops.iter().skip(1);
        let is_clear = full >= EACH_RATE
            && empty >= EACH_RATE
            && full + empty + 1 >= rates.len()
            && later.all(|iops| is_near(iops * share.of_ios, last.iops));
        let ends = Nanos(measured.get(full.checked_sub(1)?)?.end_ns);
        if !is_clear || ends >= last.begins {
            return None;
        }
        let first = rates.len().checked_sub(empty)?.checked_sub(1)?;
        let (at_burst, all) = (ends.since(window.from), window.until.since(window.from));
        let of_burst = at_burst.0 as f64 / all.0 as f64;
        let first_pass = burst.iops * of_burst + last.iops * (1.0 - of_burst);
        let passes = view.pass_iops.len().max(1) as f64;
        Some(Self {
            ends,
            baseline_begins: Nanos(measured[first].end_ns),
            expected: (first_pass + last.iops * (passes - 1.0)) / passes,
        })
    }
}

/// Whether this rate is what a limit of the instance grants to all of its volumes together, in a
/// burst or for ever.
fn is_at_instance(spec: &DeviceSpec, load: Load, iops: f64) -> bool {
    let granted = grants(spec, load).unwrap_or_default().into_iter();
    let of_instance = granted.filter(|grant| grant.name.volumes.is_none());
    let mut rates = of_instance.flat_map(|grant| [grant.iops, grant.burst_iops]);
    rates.any(|rate| is_near(iops, rate))
}

/// Whether a limit binds, and not the latency.
fn limited(phase: &Phase) -> bool {
    phase.binding != Binding::Latency
}

/// Whether the medium itself binds, by its latency or by its physical maximum, and no limiter.
fn of_medium(binding: &Binding) -> bool {
    let kind = binding.kind();
    matches!(kind, None | Some(LimitKind::PhysicalMaximum { .. }))
}

/// Whether a limit is that of a limiter or of a bucket of credits, and not of the medium or its queue.
const fn is_limiter(kind: &LimitKind) -> bool {
    matches!(
        kind,
        LimitKind::Rate { .. } | LimitKind::Baseline { .. } | LimitKind::Burst { .. }
    )
}

/// The part of a load that went to a target.
///
/// # Errors
/// [`Obstacle::NotCounted`] if nothing counted its share.
fn on_target(load: Load, share: Option<Share>) -> Result<Load, Obstacle> {
    let share = share.ok_or(Obstacle::NotCounted)?;
    let in_flight = f64::from(load.in_flight) * share.of_flight;
    Ok(Load {
        in_flight: in_flight.round().max(1.0) as u32,
        ..load
    })
}

/// The prediction for a load that delivered `iops` of the `requested` operations a second, if it asked
/// for all that the device gives.
///
/// # Errors
/// [`Obstacle::Paced`] if it asked for less, [`Obstacle::NothingPromised`] if nothing is documented.
fn predict_unpaced(
    spec: &DeviceSpec,
    load: Load,
    iops: f64,
    requested: f64,
) -> Result<Prediction, Obstacle> {
    let predicted = predict(spec, load).map_err(|_| Obstacle::NothingPromised)?;
    // A rate that a lasting phase would have carried does not ask for all there is. Where it was
    // clearly missed, the target gave less than that.
    let is_carried = lasting(&predicted).any(|phase| phase.iops > requested);
    if is_carried && iops >= requested * (1.0 - NEAR) {
        return Err(Obstacle::Paced);
    }
    Ok(predicted)
}

/// What is predicted for a load, if limits bind it and this rate is above all that the
/// limit gives: on average over the measured time, and in any phase.
fn exceeded(spec: &DeviceSpec, load: Load, window: Window, iops: f64) -> Option<Prediction> {
    let predicted = predict(spec, load).ok()?;
    let mean = predicted.iops_mean(window.from, window.until);
    let most = lasting(&predicted).fold(mean, |most, phase| most.max(phase.iops));
    let by_limits = lasting(&predicted).all(|phase| !of_medium(&phase.binding));
    (by_limits && iops > most * (1.0 + ABOVE)).then_some(predicted)
}

/// Whether a limit of the instance binds.
pub(super) fn of_instance(binding: &Binding) -> bool {
    matches!(binding, Binding::Limit(name) if name.volumes.is_none())
}

/// The phases that last longer than a limiter's own bucket.
pub(super) fn lasting(predicted: &Prediction) -> impl Iterator<Item = &Phase> {
    let ends = predicted.phases.iter().skip(1).map(|phase| phase.begins);
    let phases = predicted.phases.iter().zip(ends.chain([Nanos::MAX]));
    let long = phases.filter(|(phase, end)| end.since(phase.begins) >= MOMENT);
    long.map(|(phase, _)| phase)
}

/// The mix-up of units after which a case would have one of these rates.
fn unit_slip(case: &ExplainedCase<'_>, rates: [f64; 2]) -> Option<&'static str> {
    let slip = SLIPS.iter().find(|(factor, _)| {
        // Hardly anything but a mix-up of bits and bytes is off by a factor of 8. Many things are
        // off by a few per cent, so binary prefixes must match four times as closely.
        let within = if *factor > 2.0 { EXACT } else { EXACT / 4.0 };
        let mut slipped = (rates.into_iter()).flat_map(|rate| [rate * factor, rate / factor]);
        slipped.any(|rate| case.fits(rate, within))
    });
    slip.map(|(_, units)| *units)
}

/// Whether a rate is this one, within the tolerance of all comparisons with documents.
fn is_near(iops: f64, rate: f64) -> bool {
    (iops / rate - 1.0).abs() <= NEAR
}

impl Window {
    /// The measured time of the first pass; the ramp before it uses up credits, too. Never empty, as
    /// rates are divided by its length.
    fn new(case: &CaseView<'_>) -> Self {
        let Some(pass) = case.passes.first() else {
            return Self {
                from: Nanos::ZERO,
                until: Nanos(1),
            };
        };
        let ramp = pass.series.iter().filter(|interval| interval.ramp);
        let ramp_ns: u64 = ramp.map(|interval| interval.length_ns).sum();
        let measured = pass.jobs.iter().map(|job| job.elapsed_ns).max();
        Self {
            from: Nanos(ramp_ns),
            until: Nanos(ramp_ns + measured.unwrap_or(0).max(1)),
        }
    }
}
