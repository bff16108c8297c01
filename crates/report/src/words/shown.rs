//! The words for a repeated study, the same in text and on a page.

use blocklab_compare::study::{
    Entry, Judged, Line, Nearness, Outcome, Plot, REACHED, Saturation, StudySystem, Table, Verdict,
};
use blocklab_record::Origin;
use blocklab_units::{Nanos, count, plural, signed, significant, stated};

use crate::words::facts;

/// A figure with a fixed number of decimals and separated thousands: `206,250`, `28.60`.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // What rounds to 0 has no sign.
    let sign = if value < 0.0 && text.contains(|c: char| ('1'..='9').contains(&c)) {
        "-"
    } else {
        ""
    };
    let whole = count(whole.parse().unwrap_or_default());
    match fraction {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// A printed column of a table of the author.
pub struct Column<'a> {
    /// Its title.
    pub title: &'a str,
    /// Index of the author's column that it belongs to.
    pub index: usize,
    /// Gives its text for a cell.
    pub text: fn(Option<&Entry>) -> String,
    /// Whether it shows our figures, and not the published ones or the difference.
    pub is_ours: bool,
}

/// The printed columns of a table: ours, and next to each the published one and the difference,
/// where there are any.
pub fn columns(table: &Table) -> Vec<Column<'_>> {
    let mut all = Vec::new();
    for (index, title) in table.columns.iter().enumerate() {
        let entries = || table.cells.iter().filter_map(|row| row[index].as_ref());
        let mut push = |title, text, is_ours| {
            all.push(Column {
                title,
                index,
                text,
                is_ours,
            });
        };
        push(title, ours, true);
        if entries().any(|entry| entry.published.is_some()) {
            push("published", published, false);
        }
        let mut differences = entries().filter_map(|entry| entry.difference_percent);
        // A column in which every difference rounds to 0 tells nothing.
        if differences.any(|percent| percent.abs() >= 0.05) {
            push("difference", difference, false);
        }
    }
    all
}

/// Our figure; a dash where there is none.
pub fn ours(entry: Option<&Entry>) -> String {
    let value = entry.and_then(|entry| Some(fixed(entry.ours?.value, entry.decimals)));
    value.unwrap_or_else(|| "–".to_owned())
}

/// The published figure; empty where there is none.
fn published(entry: Option<&Entry>) -> String {
    let value = entry.and_then(|entry| Some(fixed(entry.published?, entry.decimals)));
    value.unwrap_or_default()
}

/// The difference of our figure from the published one: `+3.2 %`.
fn difference(entry: Option<&Entry>) -> String {
    let value = entry.and_then(|entry| entry.difference_percent);
    value.map_or_else(String::new, |percent| format!("{} %", signed(percent, 1)))
}

/// The interval of our figure: `4,860 to 5,120, 5 passes`; `None` for a single pass.
pub fn interval(entry: &Entry) -> Option<String> {
    let value = entry.ours?;
    let [low, high] = [value.low?, value.high?].map(|end| fixed(end, entry.decimals));
    let passes = plural(value.passes as usize, "pass");
    Some(format!("{low} to {high}, {passes}"))
}

/// The interval with its name; empty for a single pass.
pub fn certainty(entry: &Entry) -> String {
    interval(entry).map_or_else(String::new, |ends| format!("95 % interval {ends}"))
}

/// Whether the published figures support a conclusion; empty if they do not tell.
pub fn by_published(judged: &Judged) -> &'static str {
    match (judged.verdict, judged.by_published) {
        (_, None) => "",
        (Verdict::Confirmed, Some(true)) => "The published figures agree.",
        (Verdict::Contradicted, Some(false)) => "The published figures do not support it either.",
        (Verdict::TrueByConstruction, Some(true)) => {
            "The model is made of what is promised; the published figures support it."
        }
        (Verdict::TrueByConstruction, Some(false)) => {
            "The model is made of what is promised; the published figures decide, and do not \
             support it."
        }
        (_, Some(true)) => "The published figures support it.",
        (_, Some(false)) => "The published figures do not support it.",
    }
}

/// Where the figures of a system come from: `simulated, sim:local@i3.xlarge`.
pub fn figures_from(system: &StudySystem) -> String {
    match (system.origin, &system.target) {
        (Some(origin), Some(target)) => format!("{}, {target}", origin.name()),
        _ => format!("documents and prices of {}", system.address),
    }
}

/// The price of a system: `0.366 USD an hour (ap-northeast-1, 2017-02-27)`; empty if none is known.
pub fn hourly_price(system: &StudySystem) -> String {
    let Some(usd) = system.usd_per_hour else {
        return String::new();
    };
    let list = system.price_list.as_deref().unwrap_or("no list");
    let assumed = if system.price_assumed {
        "; no older list is known"
    } else {
        ""
    };
    format!("{} USD an hour ({list}{assumed})", fixed(usd, 3))
}

/// Where a column saturates: `i3.xlarge: 95 % of 212,257 IOPS are reached at 53 (between 32 and
/// 64); published: at 31 …`.
pub fn saturation(table: &Table, column: usize) -> Option<String> {
    let [ours, published] = table.saturations[column];
    let ours = ours?;
    let mut text = format!(
        "{}: {:.0} % of {} IOPS are reached at {} {}",
        table.columns[column],
        REACHED * 100.0,
        count(ours.peak),
        place(&ours),
        table.corner
    );
    if let Some(published) = published {
        text.push_str(&format!("; published: at {}", place(&published)));
    }
    Some(text + ".")
}

/// `53 (between 32 and 64)`, as only these two were measured.
fn place(saturation: &Saturation) -> String {
    match saturation.after {
        Some(after) => format!(
            "{} (between {} and {})",
            rounded(saturation.at),
            stated(after),
            stated(saturation.by)
        ),
        None => format!("{} or less", stated(saturation.by)),
    }
}

/// A coordinate of a curve: whole from 10 on, below that with two significant digits, as most of a
/// disk's throughput in MB/s is: `12,345`, `0.043`.
pub fn coordinate(value: f64) -> String {
    if value < 10.0 {
        significant(value, 2)
    } else {
        count(value)
    }
}

fn rounded(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.1}")
    } else {
        count(value)
    }
}

/// The name of a line: its system, and its sweep if the plot has several.
pub fn line_name(plot: &Plot, line: &Line) -> String {
    if plot.lines.iter().any(|other| other.family != line.family) {
        format!("{}, {}", line.system, line.family)
    } else {
        line.system.clone()
    }
}

/// What a line shows: `NVMe: peak 3,300,000 IOPS at 310 µs mean service time; knee at …; 1.00 ms is
/// passed at … (between … and …)`.
pub fn line(plot: &Plot, line: &Line) -> String {
    let name = line_name(plot, line);
    let x_text = |value: f64| format!("{} {}", coordinate(value), plot.x.unit);
    let y_text = |value: f64| match plot.y.unit {
        "µs" => Nanos((value * 1e3).round() as u64).to_string(),
        unit => format!("{} {unit}", coordinate(value)),
    };
    let mut parts = Vec::new();
    if let Some(peak) = line.peak {
        // A load has a service time and a response time, which may be far apart: the words say
        // which. A quantity that its unit alone names has no words.
        let what = &plot.y.what;
        let text = format!("peak {} at {} {what}", x_text(peak.x), y_text(peak.y));
        parts.push(text.trim_end().to_owned());
    }
    if let Some(knee) = line.knee {
        parts.push(format!("knee at {}, {}", x_text(knee.x), y_text(knee.y)));
    }
    match (plot.bound, line.crossing) {
        (Some(bound), Some(crossing)) => {
            // In overload, the point of more load may have the lower rate.
            let low = coordinate(crossing.after.min(crossing.before));
            let high = coordinate(crossing.after.max(crossing.before));
            parts.push(format!(
                "{} is passed at {} (between {low} and {high})",
                y_text(bound),
                x_text(crossing.at)
            ));
        }
        (Some(bound), None) if line.points.iter().all(|point| point.y > bound) => {
            parts.push(format!("{} is exceeded at every point", y_text(bound)));
        }
        (Some(bound), None) => {
            // Without a crossing, only the first points can lie above the bound.
            let above = line.points.iter().rfind(|point| point.y > bound);
            parts.push(match above {
                Some(last) => format!(
                    "{} is exceeded up to {} only",
                    y_text(bound),
                    x_text(last.x)
                ),
                None => format!("{} is never passed", y_text(bound)),
            });
        }
        _ => {}
    }
    format!("{name}: {}.", parts.join("; "))
}

/// How far our figures are from the published ones.
pub fn nearness(nearness: &Nearness) -> String {
    format!(
        "Of {} published figures that no constant of the model was fitted to, half differ from the \
         figures here by at most {}, nine tenths by at most {}; the largest difference is {}.",
        nearness.figures,
        facts::percent(nearness.median_percent),
        facts::percent(nearness.p90_percent),
        facts::percent(nearness.worst_percent)
    )
}

/// How many conclusions have which verdict: `5 confirmed, 1 contradicted, 1 not testable`.
pub fn tally(outcome: &Outcome) -> String {
    let all = [
        Verdict::Confirmed,
        Verdict::Contradicted,
        Verdict::TrueByConstruction,
        Verdict::NotTestable,
    ];
    facts::tally(
        &all,
        outcome
            .conclusions
            .iter()
            .map(|conclusion| conclusion.verdict),
    )
}

/// Whether the figures of any system are those of a model.
pub fn is_modelled(outcome: &Outcome) -> bool {
    let mut origins = outcome.systems.iter().filter_map(|system| system.origin);
    origins.any(|origin| matches!(origin, Origin::Simulated | Origin::Emulated))
}

/// How to read verdicts on figures of a model.
pub const MODELLED: &str = "Where a system was simulated, \"confirmed\" and \"contradicted\" are what \
                            the model gives: documented limits and published latencies are in it. \
                            \"True by construction\" is what follows from a documented limit alone, \
                            so the model cannot contradict it. Only a run on the real system decides.";

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_compare::study::{Point, Quantity};

    /// The story: below conclusions on imported results stood what "confirmed" means of a simulation.
    #[test]
    fn imported_figures_are_those_of_no_model() {
        let with = |origin| {
            let system = StudySystem {
                origin,
                ..StudySystem::default()
            };
            is_modelled(&Outcome {
                systems: vec![system],
                ..Outcome::default()
            })
        };
        assert!(with(Some(Origin::Simulated)) && with(Some(Origin::Emulated)));
        assert!(!with(Some(Origin::Imported)) && !with(Some(Origin::Measured)) && !with(None));
    }

    /// The story: a first point of 2 ms and later ones below 1 ms were "1.00 ms is never passed".
    #[test]
    fn a_bound_that_only_the_first_point_exceeds() {
        let point = |x, y| Point {
            x,
            y,
            past_peak: false,
        };
        let latencies = Line {
            system: "NVMe".to_owned(),
            family: String::new(),
            points: vec![point(10.0, 2000.0), point(90.0, 500.0)],
            knee: None,
            peak: None,
            crossing: None,
        };
        let plot = Plot {
            title: String::new(),
            note: String::new(),
            x: Quantity {
                what: "".into(),
                unit: "IOPS",
            },
            y: Quantity {
                what: "".into(),
                unit: "µs",
            },
            bound: Some(1000.0),
            lines: vec![latencies],
        };
        let text = line(&plot, &plot.lines[0]);
        assert_eq!(text, "NVMe: 1.00 ms is exceeded up to 10 IOPS only.");
    }

    /// The story: the peak of a disk of 0.043 MB/s was "0 MB/s".
    #[test]
    fn a_small_throughput_is_not_zero() {
        let cases = [
            (0.042_97, "0.043"),
            (9.94, "9.9"),
            (12.49, "12"),
            (3e6, "3,000,000"),
        ];
        for (value, expected) in cases {
            assert_eq!(coordinate(value), expected);
        }
    }

    #[test]
    fn figures_to_the_cent() {
        for (value, decimals, expected) in [
            (28.6, 2, "28.60"),
            (1.7745, 2, "1.77"),
            (206_250.4, 0, "206,250"),
            (-1234.56, 1, "-1,234.6"),
            (-0.04, 1, "0.0"),
            (0.05, 1, "0.1"),
        ] {
            assert_eq!(fixed(value, decimals), expected);
        }
    }
}
