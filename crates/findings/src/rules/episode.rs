//! What began and ended within a pass: nothing completed, or everything took longer.

use std::cell::LazyCell;

use blocklab_record::{Interval, Measurement, PaceKind};
use blocklab_stats::{largest_step, mean, median};
use blocklab_units::Nanos;
use blocklab_workload::Direction;

use super::slices::{ios, is_replay, levels, moving, whole};
use crate::hit::{per_case, warning};
use crate::requested::{missed, reads_back};
use crate::statement::{Slot, delay, number, time};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// A shorter pause is a matter of the highest percentiles.
const STILL_NS: f64 = 1e9;
/// At least this many operations must have been due in a pause: fewer stay out by chance.
const DUE: f64 = 20.0;
/// A pause is no longer than this many mean flushes where it is one of them.
const FLUSH: f64 = 2.0;
/// An episode has at least this many slices, and lasts at least [`SHORTEST_NS`].
const SLICES: usize = 2;
const SHORTEST_NS: f64 = 1e9;
/// Its operations take at least this many times as long as those of the pass.
const SLOWER: f64 = 1.5;
/// And longer by this many times the scatter of the slices of the pass.
const SCATTER: f64 = 5.0;
/// The standard deviation of a normal distribution over its median distance from the median.
const DEVIATION: f64 = 1.4826;
/// An episode that comes this often need not last for more than one slice each time.
const AGAIN: usize = 3;
/// It then takes this many times as long: an episode of half a second is half of a slice.
const SLOWER_AGAIN: f64 = 1.25;
/// At most this many slices of the pass may look slow by chance: a single one of two neighbours is no episode.
const CHANCE: f64 = 0.1;
/// On a real machine other programs and the own threads move the mean of a second now and then.
const SLOWER_AGAIN_REAL: f64 = 2.0;
/// An episode that touches an end of its pass may be a level, such as that of a device that warms up.
const SLOWER_AT_END: f64 = 2.0;
/// The standard deviation over the median distance, from its lower quartile, of the half of a
/// normal distribution that lies below the median.
const DEVIATION_BELOW: f64 = 2.5;
/// An episode that is longer than the rest of its pass has as many usual slices before and after it, and
/// the two levels explain this share of the scatter; those of one level, cut in two, explain 0.64 to 0.75.
const EACH_SIDE: usize = 3;
const EXPLAINED: f64 = 0.9;
/// The rate of a load that was kept up through an episode differs by less than this from that of the rest.
const KEPT: f64 = 0.15;
/// A recorded load that asks for this many times its usual rate has a burst, which takes longer by itself.
const DENSER: f64 = 1.1;
/// Fewer slices have no level.
const ENOUGH: usize = 6;

/// A part of the measured time of a pass.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Since the end of the ramp.
    from_ns: f64,
    length_ns: f64,
}

/// The slices of a pass in which episodes can be seen; `None` if the program itself stood still, if the
/// load pauses of its own accord, or if there are too few.
fn slices(pass: &Measurement) -> Option<Vec<&Interval>> {
    let rests = pass.observed.is_some() || pass.jobs.iter().any(|job| job.think);
    let slices = whole(pass).filter(|whole| whole.len() >= ENOUGH)?;
    (!rests && pass.stood_still_ns.is_none()).then_some(slices)
}

/// Nothing completed for a second and more.
pub(super) fn standstill(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_modelled(
        "Look into the kernel's log for timeouts and resets of the device, and at what its provider \
         is about that moment. The rate of the rest of the pass is in the evidence.",
        "The device is described with a fault at that moment. The rate of the rest of the pass \
         is in the evidence.",
    );
    per_case(cases, "standstill", Some(advice), |case| {
        let found = case
            .passes
            .iter()
            .filter_map(|pass| Some((pass.pass, still(pass)?)));
        let (pass, span) = found.max_by(|(_, a), (_, b)| a.length_ns.total_cmp(&b.length_ns))?;
        Some(
            warning("nothing completed for {}", [span.lasting()])
                .alone(
                    ", from {} of pass {} on",
                    [seconds(span.from_ns), number(f64::from(pass))],
                )
                .graded(span.length_ns)
                .with("nothing completed for", span.length_ns / 1e9, "s")
                .with("from", span.from_ns / 1e9, "s")
                .with("IOPS of the rest", undisturbed(case), "IOPS"),
        )
    })
}

/// The longest time in which nothing completed. The slices around it are filled in part, and the
/// operations that waited show how long it was at most.
fn still(pass: &Measurement) -> Option<Span> {
    let slices = slices(pass)?;
    let usual = usual(pass, &slices)?;
    let starts = starts(&slices);
    let flush_ns = mean_flush_ns(pass);
    let empty_from = empty_from(&slices);
    // A pause may also lie within two neighbours, none of them empty.
    let gaps = (0..slices.len()).filter_map(|first| {
        let (after, empty) = empty_from[first];
        let waited = slices.get(after).map_or(0.0, |slice| longest(slice));
        let before = first
            .checked_sub(1)
            .map_or(0.0, |place| unfilled_ns(slices[place], usual.iops));
        let behind = slices
            .get(after)
            .map_or(0.0, |slice| unfilled_ns(slice, usual.iops));
        // The neighbours' empty parts may belong to the pause, as far as an operation that came back
        // after it has waited. The empty slices belong to it in any case.
        let length_ns = (empty + before + behind).min(waited).max(empty);
        // Without an empty slice, only an operation that waited through nearly all of it, and twice as
        // long as usual, shows that the neighbours' empty parts are one pause.
        // So it does in a replay, where nothing may have been due.
        let is_reported = (empty > 0.0 && !is_replay(pass))
            || (waited >= 0.9 * length_ns && waited > 2.0 * usual.longest_ns);
        let due = usual.iops * length_ns / 1e9 >= DUE;
        // The pause began before the empty slices only as far as its length allows.
        let before = before.min(length_ns - empty);
        // A flush that takes as long is no pause: what was written before it needs that time.
        let is_flush = length_ns <= FLUSH * flush_ns;
        (is_reported && due && length_ns >= STILL_NS && !is_flush).then(|| Span {
            from_ns: starts[first] - before,
            length_ns,
        })
    });
    gaps.max_by(|a, b| a.length_ns.total_cmp(&b.length_ns))
}

/// For each slice, the index of the first from it on in which something completed, and the time in ns up to
/// that one. From the last to the first, as a long recording may have many thousands of empty ones.
fn empty_from(slices: &[&Interval]) -> Vec<(usize, f64)> {
    let mut found = vec![(slices.len(), 0.0); slices.len() + 1];
    for (place, slice) in slices.iter().enumerate().rev() {
        let (after, empty_ns) = found[place + 1];
        found[place] = if ios(slice) == 0 {
            (after, empty_ns + slice.length_ns as f64)
        } else {
            (place, 0.0)
        };
    }
    found
}

/// Mean time of a flush of the job whose flushes take longest; 0 without flushes.
fn mean_flush_ns(pass: &Measurement) -> f64 {
    let jobs = pass.jobs.iter();
    let flushes = jobs.filter_map(|job| job.directions.get(&Direction::Sync));
    flushes
        .map(|flush| flush.service.mean_ns)
        .fold(0.0, f64::max)
}

/// The part of a slice that the usual rate leaves empty.
fn unfilled_ns(slice: &Interval, usual_iops: f64) -> f64 {
    let filled = ios(slice) as f64 / (usual_iops * slice.length_ns as f64 / 1e9);
    (1.0 - filled).max(0.0) * slice.length_ns as f64
}

/// A slice as most of a pass are.
struct Usual {
    /// Operations a second.
    iops: f64,
    /// The longest latency.
    longest_ns: f64,
}

/// The medians over all slices; `None` where all are empty. Where most are, the median rate is 0, and the
/// mean replaces it: it is lower than the rate of the others, so that fewer operations count as due. A load
/// with flushes, which are in no slice, may spend most of its time in them.
fn usual(pass: &Measurement, slices: &[&Interval]) -> Option<Usual> {
    let waits: Vec<f64> = slices.iter().map(|slice| longest(slice)).collect();
    let rates = levels(slices);
    let mut iops = median(&rates);
    let mut jobs = pass.jobs.iter();
    if iops <= 0.0 && !jobs.any(|job| job.directions.contains_key(&Direction::Sync)) {
        iops = mean(&rates);
    }
    (iops > 0.0).then(|| Usual {
        iops,
        longest_ns: median(&waits),
    })
}

fn longest(slice: &Interval) -> f64 {
    let moving = moving(slice).into_iter();
    moving.map(|moving| moving.max_ns).max().unwrap_or(0) as f64
}

/// When each interval begins, in ns since the start of the first.
fn starts(slices: &[&Interval]) -> Vec<f64> {
    let lengths = slices.iter().map(|slice| slice.length_ns as f64);
    let ends = lengths.scan(0.0, |end, length| {
        *end += length;
        Some(*end - length)
    });
    ends.collect()
}

/// An episode, or several: where, and what operations took in them and in the rest of the pass.
struct Slow {
    /// From the beginning of the first to the end of the last one.
    span: Span,
    /// The lengths of the episodes together, without what lies between them.
    lasting_ns: f64,
    /// How many there are.
    times: usize,
    /// For each slice, whether an episode touches it.
    places: Vec<bool>,
    /// Mean latency in them and in the rest of the pass.
    inside_ns: f64,
    usual_ns: f64,
}

impl Slow {
    fn slower(&self) -> f64 {
        self.inside_ns / self.usual_ns
    }
}

/// All operations took longer for a while.
pub(super) fn slow_episode(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_simulated(
        "Look for what else used the machine or the device at that time, or for a device that \
         cleaned up; the rate of the rest of the pass is in the evidence.",
        "The device is described with a fault at that time, or its credits came and went; the rate \
         of the rest of the pass is in the evidence.",
    );
    per_case(cases, "slow-episode", Some(advice), |case| {
        let found = case
            .passes
            .iter()
            .filter_map(|pass| Some((pass.pass, slow(pass)?)))
            .filter(|(_, slow)| {
                cases.is_simulated() || slow.times < AGAIN || slow.slower() >= SLOWER_AGAIN_REAL
            });
        let (pass, slow) = found.max_by(|(_, a), (_, b)| a.slower().total_cmp(&b.slower()))?;
        let span = slow.span;
        let when = [
            seconds(span.from_ns),
            seconds(span.from_ns + span.length_ns),
            number(f64::from(pass)),
            delay(slow.inside_ns),
            delay(slow.usual_ns),
        ];
        let hit = warning(
            "operations took {} times as long as in the rest of the pass for {}",
            [
                Slot::Range(slow.slower(), |times| format!("{times:.1}")),
                time(Nanos(slow.lasting_ns as u64)),
            ],
        );
        let hit = match slow.times {
            1 => hit.alone(", from {} to {} of pass {}: {} instead of {}", when),
            times => hit.alone(
                " in all, {} times from {} to {} of pass {}: {} instead of {}",
                [vec![number(times as f64)], when.to_vec()].concat(),
            ),
        };
        Some(
            hit.graded(slow.slower())
                .confidence(Confidence::Medium)
                .with("times", slow.times as f64, "")
                .with("from", span.from_ns / 1e9, "s")
                .with("until", (span.from_ns + span.length_ns) / 1e9, "s")
                .with("mean latency in it", slow.inside_ns, "ns")
                .with("mean latency of the rest", slow.usual_ns, "ns")
                .with("IOPS of the rest", undisturbed(case), "IOPS"),
        )
    })
}

/// The longest run of slow slices with usual ones before and after it, or all of them where they
/// come again and again: what lasts from the beginning or to the end is a change of level, which the rates
/// show unless the load has a rate of its own.
fn slow(pass: &Measurement) -> Option<Slow> {
    // What is read back takes its own time.
    let slices = slices(pass).filter(|_| !pass.jobs.iter().any(reads_back))?;
    let latencies: Vec<Option<f64>> = slices.iter().map(|slice| latency(slice)).collect();
    let known: Vec<f64> = latencies.iter().copied().flatten().collect();
    if known.len() < ENOUGH {
        return None;
    }
    // A histogram is read only where the means of the slices look like an episode.
    let deviation_ns = LazyCell::new(|| latency_deviation_ns(pass));
    let many = slices.len() as f64;
    // A slice is slow if its mean exceeds what is usual by far, by the scatter of the slices, and by
    // what chance gives the mean of its operations: first by its deviation, then by a bound that holds
    // for any tail, for all slices together.
    let slow_from = |usual: f64, scatter: f64, times: f64, by_chance: f64| {
        let is_slow: Vec<bool> = slices
            .iter()
            .zip(&latencies)
            .map(|(slice, latency)| {
                latency.is_some_and(|ns| {
                    ns >= (usual * times).max(usual + SCATTER * scatter)
                        && ns >= usual + SCATTER * *deviation_ns / (ios(slice).max(1) as f64).sqrt()
                        && many * chance_of(slice, usual, ns - usual, *deviation_ns) <= by_chance
                })
            })
            .collect();
        let mut runs = runs(&is_slow);
        // What touches an end of the pass may have begun before it or last beyond it.
        runs.retain(|(first, last)| *first > 0 && last + 1 < slices.len());
        runs
    };
    let usual_ns = median(&known);
    let distances: Vec<f64> = known.iter().map(|ns| (ns - usual_ns).abs()).collect();
    let once = slow_from(
        usual_ns,
        DEVIATION * median(&distances),
        SLOWER,
        f64::INFINITY,
    );
    let starts = starts(&slices);
    if once.len() < AGAIN
        && let Some((first, last)) = once
            .iter()
            .copied()
            .max_by_key(|(first, last)| last - first)
        && last + 1 - first >= SLICES
        && starts[last] + slices[last].length_ns as f64 - starts[first] >= SHORTEST_NS
    {
        return episode_of(pass, &slices, &latencies, &[(first, last)], usual_ns);
    }
    // Slow slices may be as many as the others.
    let (usual_ns, scatter) = lower_half(&known);
    let again = slow_from(usual_ns, scatter, SLOWER_AGAIN, CHANCE);
    if again.len() >= AGAIN {
        return episode_of(pass, &slices, &latencies, &again, usual_ns);
    }
    let (run, usual_ns) =
        most_of_the_pass(&latencies).or_else(|| to_an_end(pass, &slices, &latencies))?;
    episode_of(pass, &slices, &latencies, &[run], usual_ns)
}

/// The first and the last of the slow slices of a pass, from its beginning to a moment or from a moment to
/// its end, and the mean latency of the others in nanoseconds. Only of a load with a rate that it kept: the
/// rates of others change with their latency, and a step of them has a finding of its own.
fn to_an_end(
    pass: &Measurement,
    slices: &[&Interval],
    latencies: &[Option<f64>],
) -> Option<((usize, usize), f64)> {
    use PaceKind::{Closed, Dependent, Recorded};
    let mut jobs = pass.jobs.iter();
    // The operations of a job that asks for more than it gets wait longer by themselves.
    if jobs.any(|job| matches!(job.pace, Closed | Recorded | Dependent) || missed(job).is_some()) {
        return None;
    }
    let known: Vec<f64> = latencies.iter().copied().collect::<Option<_>>()?;
    let step = largest_step(&known, EACH_SIDE).filter(|step| step.explained > EXPLAINED)?;
    let rates = levels(slices);
    let (before, after) = rates.split_at(step.at);
    let is_kept = (median(after) / median(before) - 1.0).abs() < KEPT;
    let lengths = slices.iter().map(|slice| slice.length_ns as f64);
    let first_part: f64 = lengths.clone().take(step.at).sum();
    let is_long = first_part.min(lengths.sum::<f64>() - first_part) >= SHORTEST_NS;
    if !is_kept || !is_long {
        None
    } else if step.after >= SLOWER_AT_END * step.before {
        Some(((step.at, slices.len() - 1), step.before))
    } else if step.before >= SLOWER_AT_END * step.after {
        Some(((0, step.at - 1), step.after))
    } else {
        None
    }
}

/// The only run of slow slices of a pass, where it is longer than the rest of it, and the mean latency
/// of that rest. The median is then that of the episode, and nothing exceeds it: there must be two
/// levels instead, which are far apart and explain nearly all of the scatter, as two halves of one
/// level do not.
fn most_of_the_pass(latencies: &[Option<f64>]) -> Option<((usize, usize), f64)> {
    let mut sorted: Vec<f64> = latencies.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    let levels = largest_step(&sorted, EACH_SIDE)?;
    let is_clear = levels.explained > EXPLAINED && levels.after >= SLOWER * levels.before;
    let threshold = f64::midpoint(sorted[levels.at - 1], sorted[levels.at]);
    let is_slow: Vec<bool> = latencies
        .iter()
        .map(|latency| latency.is_some_and(|ns| ns > threshold))
        .collect();
    let [(first, last)] = runs(&is_slow)[..] else {
        return None;
    };
    let is_within = first >= EACH_SIDE && last + EACH_SIDE < latencies.len();
    let is_most = (last + 1 - first) * 2 >= latencies.len();
    (is_clear && is_within && is_most).then_some(((first, last), levels.before))
}

/// What these runs of slices are together, unless nothing completed in them.
fn episode_of(
    pass: &Measurement,
    slices: &[&Interval],
    latencies: &[Option<f64>],
    runs: &[(usize, usize)],
    usual_ns: f64,
) -> Option<Slow> {
    let ((first, _), (_, last)) = (runs.first()?, runs.last()?);
    let inside: Vec<usize> = (0..slices.len())
        .filter(|place| runs.iter().any(|(a, b)| (a..=b).contains(&place)))
        .collect();
    let taken: Vec<f64> = inside
        .iter()
        .filter_map(|place| latencies[*place])
        .collect();
    let starts = starts(slices);
    let span = Span {
        from_ns: starts[*first],
        length_ns: starts[*last] + slices[*last].length_ns as f64 - starts[*first],
    };
    // An episode also slows a part of the slices before and after it.
    let around = usize::from(runs.len() == 1);
    let slow = Slow {
        span,
        lasting_ns: inside
            .iter()
            .map(|place| slices[*place].length_ns as f64)
            .sum(),
        times: runs.len(),
        places: (0..slices.len())
            .map(|place| {
                runs.iter()
                    .any(|(a, b)| (a.saturating_sub(around)..=b + around).contains(&place))
            })
            .collect(),
        inside_ns: median(&taken),
        usual_ns,
    };
    // A pause has a finding of its own, which explains the slow operations around it.
    let is_pause = still(pass).is_some_and(|still| still.overlaps(&span));
    let is_burst = is_replay(pass) && is_denser(slices, &inside);
    (!is_pause && !is_burst && usual_ns > 0.0).then_some(slow)
}

/// Whether more operations or more bytes a second completed in these slices than in most of the pass.
fn is_denser(slices: &[&Interval], inside: &[usize]) -> bool {
    let bytes: Vec<f64> = slices.iter().map(|slice| bytes_per_s(slice)).collect();
    [levels(slices), bytes].iter().any(|rates| {
        let within: f64 = inside.iter().map(|place| rates[*place]).sum();
        within / inside.len().max(1) as f64 > DENSER * median(rates)
    })
}

/// Bytes a second of a slice.
fn bytes_per_s(slice: &Interval) -> f64 {
    let bytes: u64 = moving(slice).iter().map(|moving| moving.bytes).sum();
    bytes as f64 * 1e9 / slice.length_ns as f64
}

/// What is usual and how much it scatters, by the lower half of the means, since the upper one may be
/// slow: their lower quartile, and the standard deviation of the normal distribution whose lower half
/// scatters as much as this one.
fn lower_half(means: &[f64]) -> (f64, f64) {
    let middle = median(means);
    let below: Vec<f64> = means
        .iter()
        .copied()
        .filter(|mean| *mean <= middle)
        .collect();
    let quartile = median(&below);
    let distances: Vec<f64> = below.iter().map(|ns| (ns - quartile).abs()).collect();
    (quartile, DEVIATION_BELOW * median(&distances))
}

/// Standard deviation of the latencies of single operations in the pass, without flushes, which are in no
/// slice. If they are independent, the mean of n of them has this deviation over the square root of n,
/// whatever their tail.
fn latency_deviation_ns(pass: &Measurement) -> f64 {
    let results = pass.jobs.iter().flat_map(|job| &job.directions);
    let moved = results.filter(|(direction, _)| **direction != Direction::Sync);
    let known = moved.filter_map(|(_, result)| result.service.histogram().ok());
    let bins = known
        .flat_map(|histogram| histogram.edges().collect::<Vec<_>>())
        .map(|(low, high, ios)| (f64::midpoint(low as f64, high as f64), ios as f64));
    let (count, sum, squares) = bins.fold((0.0, 0.0, 0.0), |(count, sum, squares), (ns, ios)| {
        (count + ios, sum + ns * ios, squares + ns * ns * ios)
    });
    // Without operations, mean and deviation are 0.
    let count = f64::max(count, 1.0);
    let mean: f64 = sum / count;
    // Rounding can leave a little less than 0 where all latencies are equal.
    (squares / count - mean * mean).max(0.0).sqrt()
}

/// Chance at most that independent latencies of this deviation, none longer than the longest of the
/// slice, make its mean exceed the usual one by `excess_ns`: Bennett's inequality, which holds for any tail.
fn chance_of(slice: &Interval, usual_ns: f64, excess_ns: f64, deviation_ns: f64) -> f64 {
    let (n, furthest) = (ios(slice) as f64, longest(slice) - usual_ns);
    // Some records have no longest of a slice.
    if furthest <= 0.0 || deviation_ns <= 0.0 {
        return 0.0;
    }
    let spread = (deviation_ns / furthest).powi(2);
    let by = excess_ns / furthest / spread;
    (-n * spread * ((1.0 + by) * by.ln_1p() - by)).exp()
}

/// First and last place of each run of what is true.
fn runs(all: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in (0..all.len()).filter(|place| all[*place]) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => runs.push((place, place)),
        }
    }
    runs
}

/// Mean latency of the operations of a slice, in ns; `None` without any, or if it is not known.
fn latency(slice: &Interval) -> Option<f64> {
    let sum: f64 = moving(slice)
        .iter()
        .map(|moving| moving.ios as f64 * moving.mean_ns as f64)
        .sum();
    (ios(slice) > 0 && sum > 0.0).then(|| sum / ios(slice) as f64)
}

/// Whether something began and ended within a pass.
pub(super) fn is_disturbed(pass: &Measurement) -> bool {
    still(pass).is_some() || slow(pass).is_some()
}

/// Operations a second outside of pauses and episodes; `None` where there were none of them.
pub fn undisturbed(case: &CaseView<'_>) -> Option<f64> {
    if !case.passes.iter().any(|pass| is_disturbed(pass)) {
        return None;
    }
    let rests: Vec<f64> = case.passes.iter().filter_map(|pass| rest(pass)).collect();
    (!rests.is_empty()).then(|| median(&rests))
}

/// The median rate, in operations a second, of the slices that no pause and no episode touches; `None`
/// without such slices.
fn rest(pass: &Measurement) -> Option<f64> {
    let slices = slices(pass)?;
    let (still, slow) = (still(pass), slow(pass));
    let starts = starts(&slices);
    let free: Vec<&Interval> = (0..slices.len())
        .filter(|place| {
            let span = Span {
                from_ns: starts[*place],
                length_ns: slices[*place].length_ns as f64,
            };
            let in_slow = slow.as_ref().is_some_and(|slow| slow.places[*place]);
            !in_slow && !still.is_some_and(|still| still.overlaps(&span))
        })
        .map(|place| slices[place])
        .collect();
    (!free.is_empty()).then(|| median(&levels(&free)))
}

impl Span {
    fn lasting(self) -> Slot {
        time(Nanos(self.length_ns as u64))
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.from_ns < other.from_ns + other.length_ns
            && other.from_ns < self.from_ns + self.length_ns
    }
}

fn seconds(ns: f64) -> Slot {
    Slot::Range(ns, |ns| format!("{:.1} s", ns / 1e9))
}

#[cfg(test)]
#[path = "episode_tests.rs"]
mod tests;
