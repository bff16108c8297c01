//! The words for a comparison, the same in text and on a page.

use blocklab_compare::compare::{
    Against, Comparison, Contrast, Difference, LEVEL_PERCENT, Lone, Pair, Unmatched, Verdict,
};
use blocklab_record::Record;
use blocklab_units::{Ink, agreeing, latency, plural, rate, significant};

use crate::words::facts;

/// Titles of [`cells`], with the letters of both runs: `A`, `B`, `B / A`, …
pub fn titles(comparison: &Comparison, against: &Against) -> [String; 5] {
    let (base, other) = (letter(comparison.baseline), letter(against.run));
    [
        base.clone(),
        other.clone(),
        format!("{other} / {base}"),
        "95 % interval".to_owned(),
        format!("{other} is"),
    ]
}

/// The letter of a run by its index: `A`, `B`, …, `Z`, `A1`, …
pub fn letter(place: usize) -> String {
    let letter = char::from(b'A' + (place % 26) as u8);
    match place / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// What was measured: the device of the first target by name and model, else its path.
pub fn subject(record: &Record) -> String {
    let Some(target) = record.targets.first() else {
        return "no target".to_owned();
    };
    let more = match record.targets.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    match target.devices.first() {
        Some(device) => {
            let model = device.model.as_deref().map_or("", str::trim);
            format!("{} {model}", device.name).trim_end().to_owned() + &more
        }
        None => format!("{}{more}", target.path),
    }
}

/// What differs between the runs: `origin differs: measured | simulated: a difference may be that of a
/// model or of another tool.`
pub fn difference(difference: &Difference) -> String {
    let values: Vec<&str> = difference
        .values
        .iter()
        .map(|value| match value.as_str() {
            "" => "not known",
            known => known,
        })
        .collect();
    let text = format!("{} differs: {}", difference.what, values.join(" | "));
    match difference.warning {
        Some(warning) => format!("{text}: {warning}"),
        None => text,
    }
}

/// The name of a load, and its name in the other run if that differs: `seq1m-write = big-write`.
pub fn name(pair: &Pair) -> String {
    let both = pair.other_case.as_ref();
    let case = both.map_or_else(
        || pair.case.clone(),
        |other| format!("{} = {other}", pair.case),
    );
    facts::load(&case, pair.direction)
}

/// For a load without a shown difference, what its passes could have shown: `could have shown ± 38
/// %; 61 passes on each side would show 5 %`. `None` if they could have shown what was asked for.
pub fn could_show(comparison: &Comparison, pair: &Pair) -> Option<String> {
    let contrast = pair.headline()?;
    let could = contrast.could_show_percent?;
    let open = contrast.verdict == Verdict::NoDifference && could > comparison.show_percent;
    let wanted = comparison.show_percent;
    let more = match contrast.passes_to_show {
        Some(passes) => format!("about {passes} passes on each side would show {wanted} %"),
        None => format!("more than 1,000 passes on each side would be needed to show {wanted} %"),
    };
    let name = contrast.quantity.label();
    let could = match could {
        c if c < 1.0 => format!("{c:.2}"),
        c if c < 10.0 => format!("{c:.1}"),
        c => rate(c),
    };
    open.then(|| format!("{name}: could have shown ± {could} %; {more}"))
}

/// Shown in place of an interval that holds 1 and is wider than the ratio.
const WIDER_THAN_RATIO: &str = "over ± 100 %";

/// A cell for each of [`titles`].
pub fn cells(contrast: &Contrast) -> [String; 5] {
    let figure = |value: f64| {
        if contrast.quantity.is_latency() {
            latency(value)
        } else {
            facts::fine_rate(value)
        }
    };
    let ratio = contrast.ratio.map_or_else(|| "–".to_owned(), times);
    let interval = match (contrast.ci95_low, contrast.ci95_high) {
        _ if tells_nothing(contrast) => WIDER_THAN_RATIO.to_owned(),
        (Some(low), Some(high)) => format!("{} to {}", times(low), times(high)),
        _ => why_no_interval(contrast).to_owned(),
    };
    [
        figure(contrast.baseline),
        figure(contrast.other),
        ratio,
        interval,
        verdict(contrast.verdict).to_owned(),
    ]
}

/// Whether the interval holds 1 and is wider than the ratio itself.
fn tells_nothing(contrast: &Contrast) -> bool {
    let known = (contrast.ci95_low, contrast.ci95_high, contrast.ratio);
    matches!(known, (Some(low), Some(high), Some(ratio)) if (high - low) / 2.0 > ratio)
        && contrast.verdict == Verdict::NoDifference
}

/// Why there is no interval.
const fn why_no_interval(contrast: &Contrast) -> &'static str {
    match contrast.passes {
        [1, 1] => "one pass each",
        [0, _] | [_, 0] => "nothing moved",
        [1, _] | [_, 1] => "one pass",
        // Of enough passes only a figure of 0, such as the latency of a device without one, has no ratio.
        _ => "a figure of 0",
    }
}

/// Whether a load has no verdict because of a single pass. The others have none because a pass lacks the
/// figure, or has one of 0.
fn is_single(pair: &Pair) -> bool {
    let headline = pair.headline();
    headline.is_some_and(|contrast| contrast.passes.contains(&1))
}

/// The loads, those with the largest change first; loads without a change follow in the order of
/// the run.
pub fn changed_first(against: &Against) -> Vec<&Pair> {
    let mut pairs: Vec<&Pair> = against.pairs.iter().collect();
    pairs.sort_by(|a, b| change(b).total_cmp(&change(a)));
    pairs
}

/// The size of a change as a factor in either direction, in logarithms; below 0 if none is shown.
fn change(pair: &Pair) -> f64 {
    match pair.verdict {
        Verdict::Faster | Verdict::Slower => {
            let ratio = pair.headline().and_then(|headline| headline.ratio);
            ratio.map_or(0.0, |ratio| ratio.ln().abs())
        }
        _ => -1.0,
    }
}

/// A ratio with three decimals below 10, a small one with two significant digits: `0.997`, `2.006`,
/// `14.3`, `0.00024`.
pub fn times(ratio: f64) -> String {
    match ratio {
        r if r > 0.0 && r < 0.01 => significant(r, 2),
        r if r < 9.9995 => format!("{r:.3}"),
        r => rate(r),
    }
}

/// A verdict in words.
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference shown",
        Verdict::Negligible => "negligible",
        Verdict::Unknown => "not certain",
    }
}

/// The colour of a verdict on a terminal.
pub const fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Faster => Ink::Green,
        Verdict::Slower => Ink::Red,
        Verdict::NoDifference | Verdict::Negligible | Verdict::Unknown => Ink::Dim,
    }
}

/// Which runs are compared: `B against A`.
pub fn title(comparison: &Comparison, against: &Against) -> String {
    let (base, other) = (letter(comparison.baseline), letter(against.run));
    format!("{other} against {base}")
}

/// The outcome in one sentence: `B against A, 8 loads: faster in 5, slower in 1, no difference
/// shown in 2.`
pub fn outcome(comparison: &Comparison, against: &Against) -> String {
    let opening = title(comparison, against);
    let number = against.pairs.len();
    if number == 0 {
        return match completed_nothing(comparison, against) {
            Some(text) => format!("{opening}: {text}, so nothing can be compared."),
            None => format!("{opening}: no load is the same, so nothing can be compared."),
        };
    }
    let loads = plural(number, "load");
    if against.count(Verdict::Unknown) == number {
        return format!("{opening}, {loads}: {}", uncertain(against));
    }
    let all = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Negligible,
        Verdict::NoDifference,
        Verdict::Unknown,
    ];
    let counts: Vec<String> = all
        .iter()
        .map(|of_kind| (against.count(*of_kind), verdict(*of_kind)))
        .filter(|(count, _)| *count > 0)
        .map(|(n, word)| format!("{word} in {n}"))
        .collect();
    format!("{opening}, {loads}: {}.", counts.join(", "))
}

/// `B completed nothing`: which of the two runs has no figure of any load, if one of them has none.
pub(super) fn completed_nothing(comparison: &Comparison, against: &Against) -> Option<String> {
    let is_without = |run: usize| comparison.without_completion.contains(&run);
    let (baseline, other) = (letter(comparison.baseline), letter(against.run));
    match (is_without(comparison.baseline), is_without(against.run)) {
        (true, true) => Some(format!("neither {baseline} nor {other} completed anything")),
        (true, false) => Some(format!("{baseline}, the baseline, completed nothing")),
        (false, true) => Some(format!("{other} completed nothing")),
        (false, false) => None,
    }
}

/// The loads that were not compared, each in one line. One that several runs lack has one line.
pub fn not_compared(comparison: &Comparison) -> Vec<String> {
    let mut known: Vec<(&Unmatched, Vec<usize>)> = Vec::new();
    for against in &comparison.against {
        for load in &against.unmatched {
            match known.iter_mut().find(|(one, _)| *one == load) {
                Some((_, others)) => others.push(against.run),
                None => known.push((load, vec![against.run])),
            }
        }
    }
    let lines = known.iter().map(|(load, others)| {
        let of = letter(load.run);
        let why = why_not_compared(comparison, load, others);
        format!("{} {}, of {of}: {why}", load.case, load.direction)
    });
    lines.collect()
}

/// Why a load is not compared. One of the baseline is not compared with all of `others`, and may be
/// with further runs.
fn why_not_compared(comparison: &Comparison, load: &Unmatched, others: &[usize]) -> String {
    if load.run != comparison.baseline || comparison.against.len() == 1 {
        return load.why.to_string();
    }
    let letters: Vec<String> = others.iter().map(|run| letter(*run)).collect();
    let runs = letters.join(" and ");
    match &load.why {
        Lone::Absent if others.len() == comparison.against.len() => load.why.to_string(),
        Lone::Absent => {
            let verb = agreeing(others.len(), "does", "do");
            format!("{runs} {verb} not have this load")
        }
        Lone::NothingCompleted => format!("{runs} completed nothing of it"),
        Lone::Differs(settings) => format!("beside {runs}, {settings}"),
    }
}

/// Why no load has a verdict.
fn uncertain(against: &Against) -> &'static str {
    // The rate is the first figure of each load, and is known of every pass.
    let mut rates = against
        .pairs
        .iter()
        .filter_map(|pair| pair.contrasts.first());
    if rates.all(|rate| rate.passes == [1, 1]) {
        "one pass each: no certainty can be stated."
    } else if !against.pairs.iter().any(is_single) {
        "a pass has no figure, or one of 0: no certainty can be stated."
    } else {
        "one pass on a side: no certainty can be stated."
    }
}

/// How to read the table of a comparison.
pub fn legend(comparison: &Comparison) -> String {
    let pairs = || comparison.against.iter().flat_map(|against| &against.pairs);
    let judged = pairs()
        .filter(|pair| pair.verdict != Verdict::Unknown)
        .count();
    let mut parts = vec![
        "Each figure is the geometric mean of the passes, whose ratio has an interval; a run's own \
         table shows their mean or median, and percentiles of all passes together."
            .to_owned(),
        format!(
            "The interval holds the true ratio with {LEVEL_PERCENT} % probability. \"Faster\" or \
             \"slower\" is stated only if it excludes 1; for latency, lower is faster."
        ),
    ];
    if comparison.at_least_percent > 0.0 {
        parts.push(format!(
            "A difference of less than {} % is called negligible, however certain it is.",
            comparison.at_least_percent
        ));
    }
    if judged > 0 {
        // Each interval misses the truth with this probability. Some of the differences by chance are
        // smaller than the least that matters.
        let by_chance = judged as f64 * (1.0 - LEVEL_PERCENT / 100.0);
        let at_most = if comparison.at_least_percent > 0.0 {
            "at most "
        } else {
            ""
        };
        parts.push(format!(
            "Were both sides the same, {at_most}about {} of {} would be called different by chance.",
            significant(by_chance, 2),
            plural(judged, "load")
        ));
    }
    let unknown = || pairs().filter(|pair| pair.verdict == Verdict::Unknown);
    if unknown().any(is_single) {
        parts
            .push("A single pass has no scatter: nothing is called faster or slower by it.".into());
    }
    if !unknown().all(is_single) {
        parts.push("Where a pass has no figure, or one of 0, there is no ratio.".into());
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use blocklab_compare::compare::Quantity;
    use blocklab_workload::Direction;

    use super::*;

    /// The story: a disk of 14 ms beside one of 30 µs had the ratio 0.002, and beside one without
    /// latency 0.000, in an interval from 0.000 to 0.000.
    #[test]
    fn ratios_have_the_figures_that_they_deserve() {
        let cases = [
            (0.99721, "0.997"),
            (2.0061, "2.006"),
            (14.31, "14.3"),
            (0.01, "0.010"),
            (0.002_14, "0.0021"),
            (0.000_131, "0.00013"),
            (0.0, "0.000"),
        ];
        for (ratio, expected) in cases {
            assert_eq!(times(ratio), expected);
        }
    }

    #[test]
    fn runs_have_letters() {
        for (place, expected) in [(0, "A"), (25, "Z"), (26, "A1"), (53, "B2")] {
            assert_eq!(letter(place), expected);
        }
    }

    /// A comparison of two runs with one load, with these numbers of passes.
    fn with_passes(passes: [usize; 2], verdict: Verdict, at_least_percent: f64) -> Comparison {
        let contrast = Contrast {
            quantity: Quantity::Iops,
            baseline: 100.0,
            other: 100.0,
            ratio: Some(1.0),
            ci95_low: None,
            ci95_high: None,
            passes,
            could_show_percent: None,
            passes_to_show: None,
            scatter: None,
            estimate: None,
            verdict,
        };
        let pair = Pair {
            case: "a".to_owned(),
            other_case: None,
            direction: Direction::Read,
            settings: Vec::new(),
            what: "4 KiB random read".to_owned(),
            differs: Vec::new(),
            is_paced: false,
            verdict,
            contrasts: vec![contrast],
        };
        Comparison {
            baseline: 0,
            at_least_percent,
            show_percent: 5.0,
            without_completion: Vec::new(),
            differences: Vec::new(),
            against: vec![Against {
                run: 1,
                pairs: vec![pair],
                unmatched: Vec::new(),
            }],
        }
    }

    /// The story: three passes on each side, of a device whose latency was 0, were said to be one pass,
    /// in the cell, in the outcome and below the table.
    #[test]
    fn a_figure_of_zero_is_no_single_pass() {
        let stuck = with_passes([3, 3], Verdict::Unknown, 0.0);
        let against = &stuck.against[0];
        assert_eq!(
            why_no_interval(&against.pairs[0].contrasts[0]),
            "a figure of 0"
        );
        assert!(outcome(&stuck, against).contains("or one of 0"));
        let below = legend(&stuck);
        assert!(
            !below.contains("single pass") && below.contains("no ratio"),
            "{below}"
        );
        let single = with_passes([1, 3], Verdict::Unknown, 0.0);
        let cell = why_no_interval(&single.against[0].pairs[0].contrasts[0]);
        assert_eq!(cell, "one pass");
        let below = legend(&single);
        assert!(
            below.contains("single pass") && !below.contains("no ratio"),
            "{below}"
        );
    }

    /// The story: with --at-least 50, chance was said to make about 5 of 100 loads differ, and made none.
    #[test]
    fn chance_makes_fewer_loads_differ_where_small_differences_do_not_count() {
        for (at_least_percent, expected) in [
            (0.0, "same, about 0.05"),
            (50.0, "same, at most about 0.05"),
        ] {
            let text = legend(&with_passes(
                [3, 3],
                Verdict::NoDifference,
                at_least_percent,
            ));
            assert!(text.contains(expected), "{text}");
        }
    }
}
