use blocklab_findings::{Assessment, RowDirection};
use blocklab_record::{Percentile, Record};
use blocklab_units::{Ink, Style};

use super::grid;
use crate::facts;
use crate::figures::{self, Column};

/// In a terminal of 80 columns, longer words than these would put every name on a line of its own,
/// and the titles out of sight.
const FEW: &str = "few";

/// The short table: the interval of the IOPS comes last.
pub fn service() -> Vec<Column> {
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

/// One line a case and direction, with a legend. Empty when nothing was measured.
pub fn table(record: &Record, assessment: &Assessment, style: Style) -> String {
    let all = lines(assessment, |_| true);
    if all.is_empty() {
        return "nothing was measured\n".to_owned();
    }
    let mut out = shown("", &service(), &all, style);
    let paced = lines(assessment, |d| d.response_ns.is_some());
    if !paced.is_empty() {
        out.push('\n');
        let mut response = figures::response();
        response.retain(|column| column.is_brief);
        out.push_str(&shown("response latency", &response, &paced, style));
    }
    out.push('\n');
    out + &style.aside(2, &legend(record, assessment, &all))
}

/// A row of the table, before its cells are known.
struct Line<'a> {
    label: String,
    doubted: bool,
    direction: &'a RowDirection,
}

fn lines(assessment: &Assessment, wanted: fn(&RowDirection) -> bool) -> Vec<Line<'_>> {
    let directions = assessment.directions();
    directions
        .filter(|(_, direction)| wanted(direction))
        .map(|(row, direction)| Line {
            label: facts::label(row, direction),
            doubted: facts::is_doubted(&row.case, &assessment.findings),
            direction,
        })
        .collect()
}

fn shown(title: &str, columns: &[Column], lines: &[Line<'_>], style: Style) -> String {
    let titles = columns.iter().map(|column| column.title.to_owned());
    let mut rows: Vec<Vec<String>> = vec![[title.to_owned()].into_iter().chain(titles).collect()];
    rows.extend(lines.iter().map(|line| {
        let cells = columns.iter().map(|column| (column.text)(line.direction));
        [line.label.clone()].into_iter().chain(cells).collect()
    }));
    let room = style.columns().saturating_sub(2);
    let texts = grid::lines(&rows, |column| column > 0, room, 1).into_iter();
    let marks = [None].into_iter().chain(lines.iter().map(Some));
    let line = |(text, line): (String, Option<&Line<'_>>)| match line {
        None => format!("{}\n", style.paint(Ink::Bold, &format!("  {text}"))),
        Some(line) => {
            let mark = if line.doubted {
                style.paint(Ink::Yellow, "! ")
            } else {
                "  ".to_owned()
            };
            format!("{mark}{}\n", text.replace('\n', "\n  "))
        }
    };
    texts.zip(marks).map(line).collect()
}

/// What the figures of the table are.
pub fn explained(record: &Record, assessment: &Assessment) -> String {
    legend(record, assessment, &lines(assessment, |_| true))
}

fn legend(record: &Record, assessment: &Assessment, lines: &[Line<'_>]) -> String {
    let figures = facts::aggregate(record, &assessment.rows);
    let mut parts = vec![format!("Figures: {figures}.")];
    if lines.iter().any(|line| line.direction.iops.low.is_some()) {
        parts.push("± is half the 95 % confidence interval of the IOPS.".to_owned());
    }
    if lines
        .iter()
        .any(|line| facts::has_too_few_passes(&line.direction.iops))
    {
        parts.push(format!(
            "{FEW}: the interval is wider than the figure; more passes would narrow it."
        ));
    }
    parts.push(match assessment.quantile_error_percent {
        Some(error) => format!(
            "Latency is service time; its percentiles are of all passes and within {} of the truth.",
            facts::percent(error)
        ),
        None => format!("Latencies are as {} reports them.", record.tool),
    });
    if lines
        .iter()
        .any(|line| line.direction.response_ns.is_some())
    {
        parts.push("Response latency counts from the moment an operation was due.".to_owned());
    }
    let weak = |line: &Line<'_>| {
        let direction = line.direction;
        Percentile::brief().any(|percentile| {
            direction.knows(percentile.share) && !direction.supports(percentile.share)
        })
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
