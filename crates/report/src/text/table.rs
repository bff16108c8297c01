use blocklab_analysis::{Assessment, Finding, Row, RowDirection};
use blocklab_record::{Percentile, Percentiles, Record};
use blocklab_units::{latency, rate};

use super::grid::{padded, spaced};
use crate::facts;
use blocklab_units::{Ink, Style, width};

/// A column: its title and what it shows of a row.
type Column = (&'static str, Box<dyn Fn(&RowDirection) -> String>);

fn columns() -> Vec<Column> {
    let mut all: Vec<Column> = vec![
        ("MB/s", Box::new(|d| rate(d.bytes_per_s.value / 1e6))),
        ("IOPS", Box::new(|d| rate(d.iops.value))),
        ("mean", Box::new(facts::mean)),
    ];
    all.extend(percentiles(|d| Some(d.service_ns)));
    all.push(("±", Box::new(|d| facts::plus_minus(&d.iops))));
    all
}

/// The percentiles of the response latency, where there is one, and its maximum.
fn response() -> Vec<Column> {
    let mut all: Vec<Column> = percentiles(|d| Some(d.response_ns?.percentiles)).collect();
    let max = |d: &RowDirection| d.response_ns.map_or_else(dash, |ns| latency(ns.max as f64));
    all.push(("max", Box::new(max)));
    all
}

fn percentiles(of: fn(&RowDirection) -> Option<Percentiles>) -> impl Iterator<Item = Column> {
    Percentile::brief().map(move |it| -> Column {
        let cell = move |d: &RowDirection| {
            let shown = |all: Percentiles| facts::quantile(d, it.share, all.at(it.name));
            of(d).map_or_else(dash, shown)
        };
        (it.title, Box::new(cell))
    })
}

fn dash() -> String {
    "–".to_owned()
}

/// One line a case and direction, with a legend. Empty when nothing was measured.
#[must_use]
pub fn table(record: &Record, assessment: &Assessment, style: Style) -> String {
    let findings = &assessment.findings;
    let all = lines(&assessment.rows, findings, |_| true);
    if all.is_empty() {
        return "nothing was measured\n".to_owned();
    }
    let mut out = grid("", &columns(), &all, style);
    let paced = lines(&assessment.rows, findings, |d| d.response_ns.is_some());
    if !paced.is_empty() {
        out.push('\n');
        out.push_str(&grid("response latency", &response(), &paced, style));
    }
    out.push('\n');
    for line in style.wrap(&legend(record, assessment, &all), 2) {
        out.push_str(&style.paint(Ink::Dim, &format!("  {line}")));
        out.push('\n');
    }
    out
}

/// A row of the table, before its cells are known.
struct Line<'a> {
    label: String,
    doubted: bool,
    direction: &'a RowDirection,
}

fn lines<'a>(
    rows: &'a [Row],
    findings: &[Finding],
    wanted: fn(&RowDirection) -> bool,
) -> Vec<Line<'a>> {
    let pairs = rows
        .iter()
        .flat_map(|row| row.directions.iter().map(move |direction| (row, direction)));
    pairs
        .filter(|(_, direction)| wanted(direction))
        .map(|(row, direction)| Line {
            label: facts::label(row, direction),
            doubted: facts::is_doubted(&row.case, findings),
            direction,
        })
        .collect()
}

/// Aligned columns. Where they do not fit, the gaps shrink; where that does not help, the name
/// goes on a line of its own: no figure is left out.
fn grid(title: &str, columns: &[Column], lines: &[Line<'_>], style: Style) -> String {
    let cells: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            columns
                .iter()
                .map(|(_, cell)| cell(line.direction))
                .collect()
        })
        .collect();
    let titles: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|k| {
            cells
                .iter()
                .chain([&titles])
                .map(|row| width(&row[k]))
                .max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let name = lines.iter().map(|line| width(&line.label)).max();
    let name = name.unwrap_or_default().max(width(title));
    let numbers: usize = widths.iter().sum();
    let fits = |name: usize, gap: usize| 2 + name + numbers + gap * widths.len() <= style.columns();
    let stacked = !fits(name, 1);
    let gap = if fits(if stacked { 0 } else { name }, 2) {
        2
    } else {
        1
    };
    let name = if stacked { 0 } else { name };
    let right = |row: &[String]| spaced(row, widths.iter().copied(), gap);

    let head = format!(
        "  {}{}",
        padded(if stacked { "" } else { title }, name),
        right(&titles)
    );
    let mut out = style.paint(Ink::Bold, head.trim_end());
    out.push('\n');
    for (line, row) in lines.iter().zip(&cells) {
        let mark = if line.doubted {
            style.paint(Ink::Yellow, "! ")
        } else {
            "  ".to_owned()
        };
        if stacked {
            out.push_str(&format!("{mark}{}\n  {}\n", line.label, right(row)));
        } else {
            out.push_str(&format!(
                "{mark}{}{}\n",
                padded(&line.label, name),
                right(row)
            ));
        }
    }
    out
}

fn legend(record: &Record, assessment: &Assessment, lines: &[Line<'_>]) -> String {
    let figures = facts::aggregate(record, &assessment.rows);
    let mut parts = vec![format!("Figures: {figures}.")];
    if lines.iter().any(|line| line.direction.iops.low.is_some()) {
        parts.push("± is half the 95 % confidence interval of the IOPS.".to_owned());
    }
    parts.push(match assessment.quantile_error_percent {
        Some(error) => format!(
            "Latency is service time; its percentiles are of all passes and within {} of the truth.",
            facts::percent(error)
        ),
        None => format!("Latencies are as {} tells them.", record.tool),
    });
    if lines
        .iter()
        .any(|line| line.direction.response_ns.is_some())
    {
        parts.push("Response latency counts from the moment an operation was due.".to_owned());
    }
    let weak = |line: &Line<'_>| {
        let direction = line.direction;
        Percentile::brief().any(|it| direction.knows(it.share) && !direction.supports(it.share))
    };
    if lines.iter().any(weak) {
        parts.push("A percentile with ~ has fewer than ten operations beyond it.".to_owned());
    }
    parts.push("MB is 10^6 bytes.".to_owned());
    if lines.iter().any(|line| line.doubted) {
        parts.push("! marks a row that a finding doubts.".to_owned());
    }
    parts.join(" ")
}
