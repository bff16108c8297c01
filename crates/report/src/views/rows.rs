//! In: the rows of a Record. Out: the table that a summary ends with, and its legend.

use blocklab_findings::{Assessment, OVERFLOW_NS, RowDirection};
use blocklab_record::{Percentile, Record, Statistic};

use crate::document::{self, Entry, Layout, MARGIN, Part};
use crate::words::facts;
use crate::words::figures::{self, Column};

/// Shown in place of an interval that is wider than its figure. A longer text would not fit into 80
/// columns: every name would get a line of its own.
const FEW: &str = "few";

/// A row for each case and direction, a second table with the response latency of those under a
/// requested rate, and a legend.
pub fn table(record: &Record, assessment: &Assessment) -> Vec<Part> {
    let all: Vec<Line<'_>> = lines(assessment).collect();
    if all.is_empty() {
        return vec![Part::Prose("nothing was measured".to_owned())];
    }
    let paced = lines(assessment).filter(|line| line.direction.response_ns.is_some());
    let paced: Vec<Line<'_>> = paced.collect();
    let legend = Entry::aside(MARGIN, legend(record, assessment, &all));
    vec![
        shown("", &service(), &all),
        // Without a requested rate it has no rows, and is not printed.
        shown("response latency", &response(), &paced),
        Part::Entries(vec![legend]),
    ]
}

/// The columns of the short table, with the interval of the IOPS at the end.
fn service() -> Vec<Column> {
    let mut brief = figures::service();
    brief.retain(|column| column.is_brief);
    if let Some(at) = brief.iter().position(|column| column.title == "±") {
        brief[at].text = Box::new(|direction| {
            if facts::has_too_few_passes(&direction.iops) {
                FEW.to_owned()
            } else {
                facts::plus_minus(&direction.iops)
            }
        });
        brief[at..].rotate_left(1);
    }
    brief
}

fn response() -> Vec<Column> {
    let mut brief = figures::response();
    brief.retain(|column| column.is_brief);
    brief
}

/// A row of either table, before its cells are made.
struct Line<'a> {
    label: String,
    is_doubted: bool,
    direction: &'a RowDirection,
}

fn lines(assessment: &Assessment) -> impl Iterator<Item = Line<'_>> {
    let directions = assessment.directions();
    directions.map(|(row, direction)| Line {
        label: facts::label(row, direction),
        is_doubted: facts::is_doubted(&row.case, &assessment.findings),
        direction,
    })
}

/// A table of these columns. `title`: the title of the column of names.
fn shown(title: &str, columns: &[Column], lines: &[Line<'_>]) -> Part {
    let rows = lines.iter().map(|line| {
        let cells = columns.iter().map(|column| (column.text)(line.direction));
        document::Row {
            is_doubted: line.is_doubted,
            ..document::Row::named(&line.label, cells)
        }
    });
    let columns = document::Column::named(title, columns.iter().map(|column| column.title));
    // A row that is doubted has its sign in the margin.
    Part::whole_table(Layout::Narrow { margin: MARGIN }, columns, rows)
}

/// The legend of the table; it explains only what occurs in it.
fn legend(record: &Record, assessment: &Assessment, lines: &[Line<'_>]) -> String {
    let has = |property: fn(&RowDirection) -> bool| lines.iter().any(|row| property(row.direction));
    let figures = facts::aggregate(record, &assessment.rows);
    let mut parts = vec![format!("Figures: {figures}.")];
    parts.extend(Some(facts::joint_cases(record)).filter(|cases| !cases.is_empty()));
    if has(|direction| direction.iops.low.is_some()) {
        parts.push("± is half the 95 % confidence interval of the IOPS.".to_owned());
    }
    if has(|direction| facts::has_too_few_passes(&direction.iops)) {
        parts.push(format!(
            "{FEW}: the interval is wider than the figure; more passes would narrow it."
        ));
    }
    let has_latency = has(|direction| {
        !direction.unknown.has(Statistic::Mean)
            || Percentile::brief().any(|percentile| direction.knows(percentile.share))
    });
    match assessment.quantile_error_percent {
        Some(error) => parts.push(format!(
            "Latency is service time; its percentiles are of all passes and within {} of the truth.",
            facts::percent(error)
        )),
        None if has_latency => parts.push(format!("Latencies are as {} reports them.", record.tool)),
        // The program was not asked for any.
        None => {}
    }
    if has(|direction| direction.response_ns.is_some()) {
        parts.push("Response latency counts from the moment an operation was due.".to_owned());
    }
    if has(is_weak) {
        parts.push("A percentile with ~ has fewer than ten operations beyond it.".to_owned());
    }
    if has(is_in_overflow) {
        parts.push("> marks a percentile that is longer than a histogram tells.".to_owned());
    }
    parts.push("MB is 10^6 bytes.".to_owned());
    if lines.iter().any(|line| line.is_doubted) {
        parts.push("! marks a row that a finding doubts.".to_owned());
    }
    parts.join(" ")
}

/// Whether a percentile of the tables lies in the overflow bucket of its histogram.
fn is_in_overflow(direction: &RowDirection) -> bool {
    let response = direction.response_ns.map(|response| response.percentiles);
    let mut shown = [Some(direction.service_ns), response].into_iter().flatten();
    shown.any(|all| Percentile::brief().any(|percentile| all.at(percentile.name) >= OVERFLOW_NS))
}

/// Whether a percentile of the table rests on too few operations.
fn is_weak(direction: &RowDirection) -> bool {
    Percentile::brief().any(|percentile| {
        direction.knows(percentile.share) && !direction.supports(percentile.share)
    })
}
