//! In: a conclusion of the author and all figures. Out: whether our figures confirm it.

use blocklab_units::stated;
use blocklab_workload::publication::{Cell, Check, Conclusion};
use serde::Serialize;

use super::figures::Sources;

/// Whether our figures support a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every figure is within the bounds of the conclusion.
    Confirmed,
    /// At least one is outside.
    Contradicted,
    /// It is about what documents promise, and all figures come from models made of these
    /// documents.
    TrueByConstruction,
    /// A figure that it needs is missing.
    NotTestable,
}

/// A conclusion and the verdict on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The conclusion, as the author put it.
    pub text: String,
    /// The verdict by our figures.
    pub verdict: Verdict,
    /// The same test on the published figures; `None` where they do not allow it.
    pub by_published: Option<bool>,
    /// One sentence for each check, with its numbers.
    pub reasons: Vec<String>,
    /// What explains the verdict.
    pub because: String,
}

/// Tests a conclusion, and gives the same test on the published figures.
pub(super) fn judge(conclusion: &Conclusion, sources: &Sources<'_>) -> Judged {
    let tested: Vec<Tested> = conclusion
        .checks
        .iter()
        .map(|check| Tested::new(check, sources))
        .collect();
    let verdict = match &tested[..] {
        [] => Verdict::NotTestable,
        // One figure outside is enough, whatever else is missing.
        all if all.iter().any(|check| check.ours == Some(false)) => Verdict::Contradicted,
        all if all.iter().all(|check| check.ours == Some(true)) => {
            // A model is made from what documents promise, so it cannot fail to keep the promise.
            if conclusion.promised && !sources.any_measured(conclusion) {
                Verdict::TrueByConstruction
            } else {
                Verdict::Confirmed
            }
        }
        _ => Verdict::NotTestable,
    };
    let published: Option<Vec<bool>> = tested.iter().map(|check| check.published).collect();
    Judged {
        text: conclusion.text.clone(),
        verdict,
        by_published: published
            .filter(|all| !all.is_empty())
            .map(|all| all.into_iter().all(|holds| holds)),
        reasons: tested.into_iter().map(|check| check.reason).collect(),
        because: conclusion.because.clone(),
    }
}

/// Whether our figures and the published ones are within the bounds of a check; `None`: not known.
struct Tested {
    ours: Option<bool>,
    published: Option<bool>,
    reason: String,
}

impl Tested {
    /// Whether a statement of a publication holds in its own figures and in those that were
    /// measured again.
    fn new(check: &Check, sources: &Sources<'_>) -> Self {
        let cells = check.cells.iter();
        let ours: Vec<_> = cells
            .clone()
            .map(|cell| Some(sources.ours(cell)?.value))
            .collect();
        let theirs: Vec<_> = cells.map(|cell| sources.published(cell)).collect();
        Self {
            ours: holds(check, &ours),
            published: holds(check, &theirs),
            reason: reason(check, &ours, &theirs),
        }
    }
}

/// Whether all values are within the bounds. A value outside decides even if others are missing.
fn holds(check: &Check, values: &[Option<f64>]) -> Option<bool> {
    let mut known = values.iter().flatten();
    if !known.all(|value| within(check, *value)) {
        return Some(false);
    }
    values.iter().all(Option::is_some).then_some(true)
}

fn within(check: &Check, value: f64) -> bool {
    check.min.is_none_or(|min| value >= min) && check.max.is_none_or(|max| value <= max)
}

/// Up to this many of the figures outside are named.
const NAMED: usize = 4;

/// `IOPS of i3.xlarge over i2.xlarge: 191 % to 468 %, tested against at least 150 %; published 192 % to 472 %`.
fn reason(check: &Check, ours: &[Option<f64>], theirs: &[Option<f64>]) -> String {
    // A check without a name is called after its first figure.
    let name = match check.name.as_str() {
        "" => check.cells.first().map(described).unwrap_or_default(),
        name => name.to_owned(),
    };
    let is_ratio = check.cells.iter().any(Cell::is_ratio);
    let unit = if is_ratio { " %" } else { "" };
    let claimed = match (check.min, check.max) {
        (Some(min), Some(max)) => format!("{}{unit} to {}{unit}", stated(min), stated(max)),
        (Some(min), None) => format!("at least {}{unit}", stated(min)),
        (None, Some(max)) => format!("at most {}{unit}", stated(max)),
        (None, None) => String::new(),
    };
    let found = range(ours, unit).unwrap_or_else(|| "no figure".to_owned());
    let mut text = format!("{name}: {found}, tested against {claimed}");
    if let Some(theirs) = range(theirs, unit) {
        text.push_str(&format!("; published {theirs}"));
    }
    let outside = check
        .cells
        .iter()
        .zip(ours)
        .filter(|(_, value)| value.is_some_and(|value| !within(check, value)));
    let outside: Vec<String> = outside.map(|(cell, _)| place(cell)).collect();
    // With a single figure, it is plain which one is outside.
    if ours.len() > 1 && !outside.is_empty() {
        let shown = outside[..outside.len().min(NAMED)].join(", ");
        let more = match outside.len() {
            0..=NAMED => String::new(),
            all => format!(" and {} more", all - NAMED),
        };
        text.push_str(&format!(
            "; outside in {} of {}: {shown}{more}",
            outside.len(),
            ours.len()
        ));
    }
    text
}

fn described(cell: &Cell) -> String {
    let figure = format!("{} of {}", cell.figure.title(), cell.system);
    match &cell.over {
        Some(over) => format!("{figure} over {over}"),
        None => figure,
    }
}

fn place(cell: &Cell) -> String {
    match &cell.case {
        Some(case) => format!("{} {case}", cell.system),
        None => cell.system.clone(),
    }
}

/// `12` or `12 to 40`.
fn range(values: &[Option<f64>], unit: &str) -> Option<String> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let least = known.iter().copied().min_by(f64::total_cmp)?;
    let most = known.iter().copied().max_by(f64::total_cmp)?;
    let (least, most) = (shown(least), shown(most));
    Some(if least == most {
        format!("{least}{unit}")
    } else {
        format!("{least}{unit} to {most}{unit}")
    })
}

/// A whole number above 100, else about three significant digits.
fn shown(value: f64) -> String {
    // The bounds are where rounding would give a digit more.
    match value.abs() {
        large if large >= 99.95 => blocklab_units::count(value),
        medium if medium >= 9.995 => format!("{value:.1}"),
        _ => stated(value),
    }
}
