use blocklab_analysis::expect::{Compared, Diagnosis, State};
use blocklab_record::Record;

use super::findings::findings;
use super::grid::{padded, spaced};
use super::header::header;
use crate::delivered::{CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_words, outcome};
use blocklab_units::{Ink, Style, width};

/// What a run is worth: how it stands to what was bought, then all findings with their evidence.
/// Ends with a newline.
#[must_use]
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis, style: Style) -> String {
    let compared = diagnosis.expected.as_ref();
    let mut parts = vec![header(record, style)];
    parts.extend(compared.map(|it| limits(it, style)));
    parts.extend(compared.map(|it| cases(it, style)));
    parts.push(match findings(&diagnosis.assessment, style) {
        none if none.is_empty() => "No findings.\n".to_owned(),
        some => some,
    });
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn limits(compared: &Compared, style: Style) -> String {
    let mut out = style.hang(Ink::Bold, "", 0, &outcome(compared));
    let rows = compared.limits.iter();
    let rows: Vec<_> = rows
        .map(|it| (it.limit.as_str(), limit_cells(it)))
        .collect();
    let lines = table(&LIMIT_TITLES, &rows, style);
    let Some((head, lines)) = lines.split_first() else {
        return out;
    };
    out.push_str(head);
    for (line, limit) in lines.iter().zip(&compared.limits) {
        let ink = match limit.state {
            State::Met => Ink::Green,
            State::Exceeded => Ink::Blue,
            State::Missed => Ink::Yellow,
            State::NotTested => Ink::Dim,
        };
        out.push_str(&style.paint(ink, line.trim_end()));
        out.push('\n');
        out.push_str(&style.aside(6, &limit_words(limit)));
    }
    out
}

fn cases(compared: &Compared, style: Style) -> String {
    let rows = compared.cases.iter();
    let rows: Vec<_> = rows.map(|it| (it.case.as_str(), case_cells(it))).collect();
    table(&CASE_TITLES, &rows, style).concat()
}

/// The titles, then a line a row; the last column begins level, the others end so.
fn table(titles: &[&str; 4], rows: &[(&str, [String; 4])], style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let titles = titles.map(str::to_owned);
    let name = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0) + 2;
    let widths: Vec<usize> = (0..3)
        .map(|column| {
            let all = rows.iter().map(|(_, cells)| cells).chain([&titles]);
            all.map(|cells| width(&cells[column])).max().unwrap_or(0)
        })
        .collect();
    let last = rows.iter().map(|(_, cells)| width(&cells[3])).max();
    let numbers: usize = widths.iter().map(|it| it + 2).sum();
    // Where a line does not fit, the name stands above its figures.
    let stacked = 4 + name + numbers + last.unwrap_or(0) > style.columns();
    let line = |label: &str, cells: &[String; 4]| {
        let figures = spaced(&cells[..3], widths.iter().copied(), 2);
        match (stacked, label.is_empty()) {
            (false, _) => format!("  {}{figures}  {}", padded(label, name), cells[3]),
            (true, true) => format!("  {figures}  {}", cells[3]),
            (true, false) => format!("  {label}\n  {figures}  {}", cells[3]),
        }
    };
    let head = style.paint(Ink::Dim, line("", &titles).trim_end());
    let mut out = vec![format!("{head}\n")];
    out.extend(
        rows.iter()
            .map(|(name, cells)| format!("{}\n", line(name, cells))),
    );
    out
}
