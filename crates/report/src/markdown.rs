//! A run or a comparison as Markdown: a table that survives an issue, a wiki or a message.

use blocklab_compare::compare::Comparison;
use blocklab_findings::{Assessment, Severity};
use blocklab_record::Record;

use crate::document::markdown::plain;
use crate::figures::{self, Column};
use crate::text::{header, rows};
use crate::{facts, versus};

/// Up to so many names of cases stand behind a statement.
const FEW: usize = 5;

/// What was measured, the table, and what was found. Ends with a newline.
pub fn summary(record: &Record, assessment: &Assessment) -> String {
    let mut out = format!("### {}\n\n", plain(&record.requested.name));
    for (name, text) in header::lines(record) {
        out.push_str(&format!("- {name}: {}\n", plain(&text)));
    }
    if let Some(ending) = facts::ending(record) {
        out.push_str(&format!("\n**{}**\n", plain(&ending)));
    }
    out.push('\n');
    out.push_str(&figures_of(assessment, "case", &rows::service(), |_| true));
    let mut response = figures::response();
    response.retain(|column| column.is_brief);
    let paced = figures_of(assessment, "response latency", &response, |has| has);
    if !paced.is_empty() {
        out.push_str(&format!("\n{paced}"));
    }
    out.push_str(&format!("\n{}\n", rows::explained(record, assessment)));
    let findings = assessment.findings.iter();
    for (index, finding) in findings
        .filter(|finding| finding.severity != Severity::Good)
        .enumerate()
    {
        let gap = if index == 0 { "\n" } else { "" };
        let (word, statement) = (facts::word(finding.severity), plain(&finding.statement));
        let cases = cases(facts::unnamed(finding, assessment.rows.len()));
        out.push_str(&format!("{gap}- **{word}**: {statement}{cases}\n"));
    }
    out
}

/// The cases of a finding behind its statement: a few in brackets, many folded.
fn cases(names: &[String]) -> String {
    let list = plain(&names.join(", "));
    match names.len() {
        0 => String::new(),
        1..=FEW => format!(" ({list})"),
        n => format!("\n  <details><summary>{n} cases</summary>{list}</details>"),
    }
}

/// A row for each direction; `wanted` gets whether it has a response latency. Empty without
/// rows.
fn figures_of(
    assessment: &Assessment,
    first: &str,
    columns: &[Column],
    wanted: fn(bool) -> bool,
) -> String {
    let directions = assessment.directions();
    let wanted = directions.filter(|(_, it)| wanted(it.response_ns.is_some()));
    let lines = wanted.map(|(row, direction)| {
        let label = facts::label(row, direction);
        let cells = columns.iter().map(|column| (column.text)(direction));
        [label].into_iter().chain(cells).collect()
    });
    let titles = columns.iter().map(|column| column.title);
    table(
        &[first].into_iter().chain(titles).collect::<Vec<_>>(),
        lines.collect(),
    )
}

/// The runs, in what they differ, and every load that both sides have. Ends with a newline.
///
/// # Panics
/// When the comparison is not of these records.
pub fn comparison(records: &[&Record], comparison: &Comparison) -> String {
    let mut out = String::new();
    for (place, record) in records.iter().enumerate() {
        let role = if place == comparison.baseline {
            ", the baseline"
        } else {
            ""
        };
        let (name, subject) = (&record.requested.name, versus::subject(record));
        out.push_str(&format!(
            "- {}: {} {} on {}{role}\n",
            versus::letter(place),
            record.id,
            plain(name),
            plain(&subject)
        ));
    }
    for difference in &comparison.differences {
        out.push_str(&format!("- {}\n", plain(&versus::difference(difference))));
    }
    for against in &comparison.against {
        out.push_str(&format!(
            "\n**{}**\n\n",
            plain(&versus::outcome(comparison, against))
        ));
        let lines = against.pairs.iter().flat_map(|pair| {
            pair.contrasts.iter().map(|contrast| {
                let named = [versus::name_and_what(pair), contrast.quantity.label()];
                named.into_iter().chain(versus::cells(contrast)).collect()
            })
        });
        let titles = versus::titles(comparison, against);
        let named = ["load", "figure"].into_iter();
        let titles = named.chain(titles.iter().map(String::as_str));
        out.push_str(&table(&titles.collect::<Vec<_>>(), lines.collect()));
        for it in &against.unmatched {
            let text = format!("{} {}: {}", it.case, it.direction, it.why);
            out.push_str(&format!("\n- not compared: {}", plain(&text)));
        }
    }
    out.push_str(&format!("\n{}\n", plain(&versus::legend(comparison))));
    out
}

/// The first column is of names, the others are of figures; empty without rows.
fn table(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let ruler = std::iter::once("---").chain(titles.iter().skip(1).map(|_| "--:"));
    let mut out = line(titles.iter().map(|title| plain(title)).collect());
    out.push_str(&line(ruler.map(str::to_owned).collect()));
    for row in rows {
        out.push_str(&line(row.iter().map(|cell| plain(cell)).collect()));
    }
    out
}
