//! In: the series of a history. Out: the words for each: what changed, since which run, by how much,
//! and what else changed there; and the line of blocks that shows it at a glance.

use std::collections::BTreeSet;

use blocklab_compare::compare::Quantity;
use blocklab_compare::history::{
    ChangePoint, Changed, Conditions, Series, SeriesVerdict, Suspected,
};
use blocklab_units::{Ink, count, latency, plural};

use crate::words::facts::word;

/// A value of this figure with its unit: `12,345 IOPS`, `1.20 ms`.
pub fn value(quantity: Quantity, value: f64) -> String {
    if quantity.is_latency() {
        latency(value)
    } else {
        format!("{} {}", count(value), quantity.label())
    }
}

/// `rand4k-q32-read read on nvme0n1`.
pub fn title(of: &Conditions) -> String {
    format!("{} {} on {}", of.case, of.direction, of.target)
}

/// The study, the load, and what the machine was.
pub fn conditions(of: &Conditions) -> String {
    let machine = [of.origin, &*of.machine];
    let parts = [&*of.study, &*of.what].into_iter().chain(machine);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// `IOPS: regressed`, `p99: not comparable, 3 of the 6 runs that are needed`.
pub fn verdict(series: &Series) -> String {
    let why = match &*series.why {
        "" => String::new(),
        why => format!(", {why}"),
    };
    format!("{}: {}{why}", series.quantity.label(), word(series.verdict))
}

/// Its colour.
pub const fn ink(of: SeriesVerdict) -> Ink {
    match of {
        SeriesVerdict::Regressed => Ink::Red,
        SeriesVerdict::Improved => Ink::Green,
        SeriesVerdict::Suspected => Ink::Yellow,
        SeriesVerdict::NoChangeShown | SeriesVerdict::NotComparable => Ink::Dim,
    }
}

/// `regressed by 12.5 % (12.1 to 12.9 %) since 20261120-190142-k3f (12 runs): 798 IOPS before, 700
/// IOPS now`.
pub fn change(quantity: Quantity, of: &ChangePoint) -> String {
    let interval = of.ci95_low_percent.zip(of.ci95_high_percent);
    let interval = interval.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", percent(low), percent(high))
    });
    let chance = match of.probability {
        Some(probability) => format!("chance does that once in {}", times(probability)),
        None => "simulated, so chance has no part in it".to_owned(),
    };
    format!(
        "{}, {}{interval}, since {} ({}): from {} to {} in the median; {chance}",
        word(of.verdict),
        percent(of.change_percent),
        of.run,
        plural(of.runs[1], "run"),
        value(quantity, of.before),
        value(quantity, of.after),
    )
}

fn percent(value: f64) -> String {
    format!("{value:+.1} %").replace('-', "−")
}

/// `5,000`, `2 million`: of so many tries one.
fn times(probability: f64) -> String {
    match 1.0 / probability.max(1e-15) {
        few if few < 1e6 => format!("{} tries", count(few.round())),
        many if many < 1e9 => format!("{} million tries", count((many / 1e6).round())),
        _ => "more than a billion tries".to_owned(),
    }
}

/// `kernel: 6.1 → 6.8; scheduler: none → mq-deadline`; of a value that is not known, "unknown".
pub fn changed(all: &[Changed]) -> String {
    let known = |text: &str| match text {
        "" => "unknown".to_owned(),
        text => text.to_owned(),
    };
    let each = all.iter().map(|one| {
        let (before, after) = (known(&one.before), known(&one.after));
        format!("{}: {before} → {after}", one.what)
    });
    each.collect::<Vec<_>>().join("; ")
}

/// `suspected since 20261120-190142-k3f: 700 IOPS, 798 IOPS before; two more runs will tell`.
pub fn suspicion(quantity: Quantity, of: &Suspected) -> String {
    format!(
        "suspected, {} since {}: from {} to {} in the median; two more runs will tell",
        word(of.verdict),
        of.run,
        value(quantity, of.before),
        value(quantity, of.after),
    )
}

/// How many of its runs are left out of the test, and why; and what doubts nearly all of them.
pub fn left_out(series: &Series) -> Vec<String> {
    let left_out = series.points.iter().filter(|point| point.is_left_out);
    let doubts = left_out.clone().flat_map(|point| &point.doubts);
    let rules: BTreeSet<&str> = doubts
        .filter(|doubt| !series.usual_doubts.contains(doubt))
        .map(|doubt| &**doubt)
        .collect();
    let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
    let number = left_out.count();
    let runs = plural(series.points.len(), "run");
    let left_out = (number > 0).then(|| {
        format!("{number} of {runs} are left out of the test (·), as findings doubt them: {rules}")
    });
    let usual = (!series.usual_doubts.is_empty()).then(|| {
        let rules = series.usual_doubts.join(", ");
        format!("findings doubt nearly all of the {runs} alike, so they are compared all the same: {rules}")
    });
    left_out.into_iter().chain(usual).collect()
}

/// So many runs, the last ones, have a block.
const BLOCKS: usize = 60;
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A range that is smaller, as a share of the middle, is drawn as if it were this large: scatter of
/// a per mille is no mountain.
const LEAST_RANGE: f64 = 0.1;

/// A block a run, `·` for one that is left out, and `|` before the first run of a new level.
pub fn sparkline(series: &Series) -> String {
    let skipped = series.points.len().saturating_sub(BLOCKS);
    let shown = &series.points[skipped..];
    let sound = || {
        shown
            .iter()
            .filter(|point| !point.is_left_out)
            .map(|point| point.value)
    };
    let (least, most) = (
        sound().fold(f64::MAX, f64::min),
        sound().fold(f64::MIN, f64::max),
    );
    let middle = f64::midpoint(least, most);
    let range = (most - least)
        .max(LEAST_RANGE * middle.abs())
        .max(f64::MIN_POSITIVE);
    let mut line = String::new();
    for (place, point) in (skipped..).zip(shown) {
        if series.changes.iter().any(|change| change.place == place) {
            line.push('|');
        }
        let height = (point.value - middle) / range + 0.5;
        let step = (height * HEIGHTS.len() as f64) as usize;
        line.push(if point.is_left_out {
            '·'
        } else {
            HEIGHTS[step.min(HEIGHTS.len() - 1)]
        });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_and_shares_in_words() {
        assert_eq!(percent(-12.54), "−12.5 %");
        assert_eq!(percent(3.0), "+3.0 %");
        assert_eq!(times(2e-4), "5,000 tries");
        assert_eq!(times(5e-7), "2 million tries");
        assert_eq!(times(0.0), "more than a billion tries");
    }

    #[test]
    fn what_is_not_known_is_called_so() {
        let kernel = Changed {
            what: "kernel".to_owned(),
            before: String::new(),
            after: "6.8".to_owned(),
        };
        assert_eq!(changed(&[kernel]), "kernel: unknown → 6.8");
    }
}
