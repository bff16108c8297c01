//! The tables and curves of a study, filled with our figures and the published ones.

use blocklab_workload::publication::{self as publication, Cell, Curve, Drawn, Figure, Quantity};
use serde::Serialize;

use super::figures::Sources;
use super::sweep::{Crossing, Saturation, crossing, knee, ordered, peak, saturation};
use super::value::Value;
use blocklab_findings::sweeps::number;

/// A table of the author.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Title.
    pub title: String,
    /// Remark that follows the table.
    pub note: String,
    /// Title of the column of row names.
    pub corner: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Titles of the columns.
    pub columns: Vec<String>,
    /// Whether a column is a ratio in per cent.
    pub ratios: Vec<bool>,
    /// The cells, by row and column; `None`: an empty cell.
    pub cells: Vec<Vec<Option<Entry>>>,
    /// As which chart it is drawn, if at all.
    pub drawing: Drawn,
    /// The names of the rows as numbers, if all of them are numbers.
    pub places: Option<Vec<f64>>,
    /// For each column of rates in a table of lines: where our rates saturate, and the published
    /// ones.
    pub saturations: Vec<[Option<Saturation>; 2]>,
}

/// A cell: our figure and the published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Which figure: `mib_per_s`.
    pub figure: String,
    /// Its unit, as a chart names it: `MiB/s`.
    pub unit: String,
    /// Decimals with which it is shown.
    pub decimals: usize,
    /// Its case; `None` for a figure of the system.
    pub case: Option<String>,
    /// Its system.
    pub system: String,
    /// Our figure; `None`: there is none.
    pub ours: Option<Value>,
    /// The author's figure; `None`: none was published.
    pub published: Option<f64>,
    /// Ours over the author's, less one, in per cent.
    pub difference_percent: Option<f64>,
}

/// Fills a table of the author.
pub(super) fn table(published: &publication::Table, sources: &Sources<'_>) -> Table {
    let cells: Vec<Vec<Option<Entry>>> = published
        .cells
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| cell.as_ref().map(|cell| entry(cell, sources)))
                .collect()
        })
        .collect();
    let places: Option<Vec<f64>> = published.rows.iter().map(|row| number(row)).collect();
    let ratios: Vec<bool> = (0..published.columns.len())
        .map(|column| {
            let mut rows = published
                .cells
                .iter()
                .filter_map(|row| row[column].as_ref());
            rows.any(Cell::is_ratio)
        })
        .collect();
    // Only over rows that are numbers, and so drawn as lines, can a rate saturate; a ratio never does.
    let drawn_rates = published.drawn == Drawn::Lines;
    let saturations = (0..published.columns.len()).map(|column| match (&places, drawn_rates) {
        (Some(places), true) if !ratios[column] => saturations(places, &cells, column),
        _ => [None, None],
    });
    Table {
        title: published.title.clone(),
        note: published.note.clone(),
        corner: published.corner.clone(),
        rows: published.rows.clone(),
        columns: published.columns.clone(),
        saturations: saturations.collect(),
        drawing: published.drawn,
        places,
        ratios,
        cells,
    }
}

/// A cell with our figure, the published one and their difference.
fn entry(cell: &Cell, sources: &Sources<'_>) -> Entry {
    let ours = sources.ours(cell);
    let published = sources.published(cell);
    let difference = ours.zip(published).filter(|(_, theirs)| *theirs != 0.0);
    let (unit, decimals) = if cell.is_ratio() {
        ("%".to_owned(), 1)
    } else {
        (cell.figure.title(), cell.figure.decimals())
    };
    Entry {
        figure: cell.figure.name(),
        unit,
        decimals,
        case: cell.case.clone(),
        system: cell.system.clone(),
        difference_percent: difference
            .map(|(ours, theirs)| difference_percent(ours.value, theirs, decimals)),
        ours,
        published,
    }
}

/// Our figure over the published one, less one, in per cent. A figure that prints as the published
/// one is no different: 1.7745 is the published 1.77.
fn difference_percent(ours: f64, theirs: f64, decimals: usize) -> f64 {
    let scale = 10f64.powi(decimals as i32);
    if (ours * scale).round() == (theirs * scale).round() {
        0.0
    } else {
        (ours / theirs - 1.0) * 100.0
    }
}

/// The saturation of our rates and of the author's in a column; `None` where a cell is empty or its
/// figure is not in operations per second.
fn saturations(
    places: &[f64],
    cells: &[Vec<Option<Entry>>],
    column: usize,
) -> [Option<Saturation>; 2] {
    let values: [fn(&Entry) -> Option<f64>; 2] =
        [|entry| Some(entry.ours?.value), |entry| entry.published];
    values.map(|value| {
        let points: Option<Vec<_>> = places
            .iter()
            .zip(cells)
            .map(|(x, row)| {
                let entry = row[column]
                    .as_ref()
                    .filter(|entry| entry.figure == "iops")?;
                Some((*x, value(entry)?))
            })
            .collect();
        saturation(&points?)
    })
}

/// One figure over another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Remark that follows the plot.
    pub note: String,
    /// Horizontal axis: `IOPS`.
    pub x: Quantity,
    /// Vertical axis: `mean service time, µs`.
    pub y: Quantity,
    /// The value of `y` whose crossing is looked for.
    pub bound: Option<f64>,
    /// A line for each system and sweep.
    pub lines: Vec<Line>,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Its system.
    pub system: String,
    /// Its sweep, where there are several.
    pub family: String,
    /// The points up to the largest `x`, sorted by it, and then those of overload.
    pub points: Vec<Point>,
    /// The point at which `x` over `y` is largest.
    pub knee: Option<Point>,
    /// The point of the highest load: among the points within 1 % of the largest `x`, the one with
    /// the largest `y`.
    pub peak: Option<Point>,
    /// Where the line passes the bound; `None`: nowhere, or there is no bound.
    pub crossing: Option<Crossing>,
}

impl Line {
    /// A line through the points of a sweep, which are given in the order of the requested load.
    pub(super) fn through(
        system: &str,
        family: &str,
        x: &[f64],
        y: &[f64],
        bound: Option<f64>,
    ) -> Self {
        let (points, upto) = ordered(x, y);
        let drawn = points.iter().enumerate();
        Self {
            system: system.to_owned(),
            family: family.to_owned(),
            knee: knee(&points).map(|point| Point::new(point, false)),
            peak: peak(&points).map(|place| Point::new(points[place], false)),
            crossing: bound.and_then(|bound| crossing(&points, bound)),
            points: drawn
                .map(|(place, point)| Point::new(*point, place >= upto))
                .collect(),
        }
    }
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// On the horizontal axis.
    pub x: f64,
    /// On the vertical axis.
    pub y: f64,
    /// Whether it is overload: more was requested than at the largest `x`, and no more was done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub past_peak: bool,
}

impl Point {
    const fn new((x, y): (f64, f64), past_peak: bool) -> Self {
        Self { x, y, past_peak }
    }
}

/// Fills a curve of the author, with a line for each system and sweep.
pub(super) fn plot(curve: &Curve, sources: &Sources<'_>) -> Plot {
    let mut lines = Vec::new();
    for system in &curve.systems {
        for family in &curve.families {
            lines.extend(line(curve, system, family, sources));
        }
    }
    Plot {
        title: curve.title.clone(),
        note: curve.note.clone(),
        x: curve.x.quantity(),
        y: vertical(curve.y),
        bound: curve.bound,
        lines,
    }
}

/// The quantity of the vertical axis. It says which latency it is, as a page may draw response
/// times of the same load elsewhere.
fn vertical(figure: Figure) -> Quantity {
    let mut quantity = figure.quantity();
    if figure == Figure::MeanUs {
        quantity.what = "mean service time".into();
    }
    quantity
}

/// The line of a system and sweep, by our figures; `None` if we have none.
fn line(curve: &Curve, system: &str, family: &str, sources: &Sources<'_>) -> Option<Line> {
    let family_by_load = sources.publication.family_by_load(family)?;
    let cases = family_by_load.cases.iter();
    let (x, y): (Vec<f64>, Vec<f64>) = cases
        .filter_map(|(_, case)| {
            let x = sources.case(system, case, curve.x)?.value;
            Some((x, sources.case(system, case, curve.y)?.value))
        })
        .unzip();
    (!x.is_empty()).then(|| Line::through(system, family, &x, &y, curve.bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: ratios are printed with a decimal, and were compared with the decimals of their figure,
    /// which are none of IOPS: the difference of 95.0 % from 95.4 % was 0.
    #[test]
    fn figures_differ_as_far_as_they_are_printed() {
        assert_eq!(difference_percent(1.7745, 1.77, 2), 0.0);
        let ratio = difference_percent(94.96, 95.43, 1);
        assert!((ratio + 0.4925).abs() < 1e-3, "{ratio}");
    }

    /// The story: at 120 % of the full rate a disk did a little less than at 100 %, at twenty
    /// times the latency, and the line through all points by rate went up to it and down again.
    #[test]
    fn overload_is_no_part_of_the_line() {
        let rates = [50.0, 100.0, 98.5, 98.0];
        let waited = [400.0, 500.0, 9000.0, 20_000.0];
        let line = Line::through("disk", "", &rates, &waited, Some(1000.0));
        let found: Vec<_> = line
            .points
            .iter()
            .map(|point| (point.x, point.past_peak))
            .collect();
        assert_eq!(
            found,
            [(50.0, false), (100.0, false), (98.5, true), (98.0, true)]
        );
        let peak = line.peak.expect("a peak");
        assert_eq!((peak.x, peak.past_peak), (100.0, false));
        let crossing = line.crossing.expect("a millisecond is passed");
        assert_eq!((crossing.after, crossing.before), (100.0, 98.5));
    }
}
