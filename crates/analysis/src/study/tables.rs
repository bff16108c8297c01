//! Tables and curves with their figures in them.

use blocklab_publication::{self as publication, Cell, Curve, Drawn, Figure};
use serde::Serialize;

use super::figures::Sources;
use super::sweep::{Crossing, Saturation, crossing, curve, knee, number, saturation};
use super::value::Value;

/// How a table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawing {
    /// Not at all.
    No,
    /// Lines.
    Lines,
    /// Bars.
    Bars,
}

/// A table of the author.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Above it.
    pub title: String,
    /// Below it.
    pub note: String,
    /// Above the names of the rows.
    pub corner: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Titles of the columns.
    pub columns: Vec<String>,
    /// Whether a column is a ratio in per cent.
    pub ratios: Vec<bool>,
    /// By row and column.
    pub cells: Vec<Vec<Option<Entry>>>,
    /// Whether it is a chart too.
    pub drawing: Drawing,
    /// The rows as numbers, where they are.
    pub places: Option<Vec<f64>>,
    /// Of a column over rows that are numbers: where its rates saturate, ours and published.
    pub saturations: Vec<[Option<Saturation>; 2]>,
}

/// A figure and the published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Which figure: `mib_per_s`.
    pub figure: String,
    /// What it is called in a chart: `MiB/s`.
    pub unit: String,
    /// Decimals that it deserves.
    pub decimals: usize,
    /// Of which case; `None`: of the system.
    pub case: Option<String>,
    /// Of which system.
    pub system: String,
    /// Ours.
    pub ours: Option<Value>,
    /// The author's.
    pub published: Option<f64>,
    /// Ours over the author's, less one, in per cent.
    pub difference_percent: Option<f64>,
}

pub(super) fn table(of: &publication::Table, sources: &Sources<'_>) -> Table {
    let entry = |cell: &Option<Cell>| cell.as_ref().map(|cell| entry(cell, sources));
    let line = |row: &Vec<Option<Cell>>| row.iter().map(entry).collect();
    let cells: Vec<Vec<Option<Entry>>> = of.cells.iter().map(line).collect();
    let places: Option<Vec<f64>> = of.rows.iter().map(|it| number(it)).collect();
    let is_ratio = |column: usize| {
        let mut rows = of.cells.iter().filter_map(|row| row[column].as_ref());
        rows.any(|cell| cell.over.is_some())
    };
    let ratios: Vec<bool> = (0..of.columns.len()).map(is_ratio).collect();
    let drawn_rates = of.drawn == Drawn::Lines;
    let saturations = (0..of.columns.len()).map(|column| match (&places, drawn_rates) {
        (Some(places), true) if !ratios[column] => saturations(places, &cells, column),
        _ => [None, None],
    });
    Table {
        title: of.title.clone(),
        note: of.note.clone(),
        corner: of.corner.clone(),
        rows: of.rows.clone(),
        columns: of.columns.clone(),
        saturations: saturations.collect(),
        drawing: match of.drawn {
            Drawn::No => Drawing::No,
            Drawn::Lines => Drawing::Lines,
            Drawn::Bars => Drawing::Bars,
        },
        places,
        ratios,
        cells,
    }
}

fn entry(cell: &Cell, sources: &Sources<'_>) -> Entry {
    let ours = sources.ours(cell);
    let published = sources.published(cell);
    let difference = ours.zip(published).filter(|(_, theirs)| *theirs != 0.0);
    Entry {
        figure: cell.figure.name(),
        unit: match &cell.over {
            Some(_) => "%".to_owned(),
            None => cell.figure.title(),
        },
        decimals: match &cell.over {
            Some(_) => 1,
            None => cell.figure.decimals(),
        },
        case: cell.case.clone(),
        system: cell.system.clone(),
        difference_percent: difference.map(|(ours, theirs)| {
            // As many decimals as the author printed: 1.7745 is the published 1.77.
            let scale = 10f64.powi(cell.figure.decimals() as i32);
            match (ours.value * scale).round() == (theirs * scale).round() {
                true => 0.0,
                false => (ours.value / theirs - 1.0) * 100.0,
            }
        }),
        ours,
        published,
    }
}

/// Ours, and the author's; only of operations a second.
fn saturations(
    places: &[f64],
    cells: &[Vec<Option<Entry>>],
    column: usize,
) -> [Option<Saturation>; 2] {
    let of = |value: &dyn Fn(&Entry) -> Option<f64>| -> Option<Saturation> {
        let pair = |(x, row): (&f64, &Vec<Option<Entry>>)| {
            let entry = row[column].as_ref().filter(|it| it.figure == "iops")?;
            Some((*x, value(entry)?))
        };
        let points: Option<Vec<_>> = places.iter().zip(cells).map(pair).collect();
        saturation(&points?)
    };
    [of(&|it| Some(it.ours?.value)), of(&|it| it.published)]
}

/// One figure over another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Below it.
    pub note: String,
    /// To the right: `IOPS`.
    pub x: String,
    /// Upwards: `mean, µs`.
    pub y: String,
    /// A bound of `y`.
    pub bound: Option<f64>,
    /// A line a system and sweep.
    pub lines: Vec<Line>,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Of which system.
    pub system: String,
    /// Of which sweep, where there are several.
    pub family: String,
    /// By `x`.
    pub points: Vec<Point>,
    /// Where `x` over `y` is largest.
    pub knee: Option<Point>,
    /// The largest `x`.
    pub peak: Option<Point>,
    /// Where the bound is passed; `None`: nowhere, or there is none.
    pub crossing: Option<Crossing>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

pub(super) fn plot(of: &Curve, sources: &Sources<'_>) -> Plot {
    let mut lines = Vec::new();
    for system in &of.systems {
        for family in &of.families {
            lines.extend(line(of, system, family, sources));
        }
    }
    Plot {
        title: of.title.clone(),
        note: of.note.clone(),
        x: of.x.title(),
        y: latency_title(of.y),
        bound: of.bound,
        lines,
    }
}

/// A page may draw response times of the same load elsewhere.
fn latency_title(of: Figure) -> String {
    match of {
        Figure::MeanUs => "mean service time, µs".to_owned(),
        other => other.title(),
    }
}

fn line(of: &Curve, system: &str, family: &str, sources: &Sources<'_>) -> Option<Line> {
    let cases = sources.publication.family(family).map(|it| it.cases.iter());
    let value = |case: &str, figure: Figure| Some(sources.case(system, case, figure)?.value);
    let pair = |(_, case): &(_, String)| Some((value(case, of.x)?, value(case, of.y)?));
    let (x, y): (Vec<f64>, Vec<f64>) = cases?.filter_map(pair).unzip();
    if x.is_empty() {
        return None;
    }
    let points = curve(&x, &y);
    let point = |(x, y): (f64, f64)| Point { x, y };
    Some(Line {
        system: system.to_owned(),
        family: family.to_owned(),
        knee: knee(&points).map(point),
        peak: points.last().copied().map(point),
        crossing: of.bound.and_then(|bound| crossing(&points, bound)),
        points: points.into_iter().map(point).collect(),
    })
}
