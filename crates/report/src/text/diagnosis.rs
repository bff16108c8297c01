use blocklab_analysis::expect::{Compared, Diagnosis, State};
use blocklab_record::Record;

use super::findings::findings;
use super::grid;
use super::header::header;
use crate::delivered::{CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_how, outcome};
use crate::evidence;
use blocklab_units::{Ink, Style};

/// What a run is worth: the verdict on what was bought, the limits and cases behind it, all findings
/// with their evidence, and last, by number, who documents the limits. Ends with a newline.
#[must_use]
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis, style: Style) -> String {
    let compared = diagnosis.expected.as_ref();
    let mut sources = Vec::new();
    let mut parts = Vec::new();
    parts.extend(compared.map(|it| style.hang(Ink::Bold, "", 0, &outcome(it))));
    parts.push(header(record, style));
    parts.extend(compared.map(|it| limits(it, &mut sources, style)));
    parts.extend(compared.map(|it| cases(it, style)));
    parts.push(match findings(&diagnosis.assessment, style) {
        none if none.is_empty() => "No findings.\n".to_owned(),
        some => some,
    });
    parts.push(super::numbered("Documented by", &sources, style));
    super::joined(parts)
}

/// A line a limit, its source by number.
fn limits(compared: &Compared, sources: &mut Vec<String>, style: Style) -> String {
    let mut out = String::new();
    let rows = compared.limits.iter().map(|it| {
        let mut cells = limit_cells(it);
        if !it.origin.is_empty() {
            let known = evidence::place(sources, |known| *known == it.origin, || it.origin.clone());
            cells[3].push_str(&format!(" [{}]", known + 1));
        }
        (&it.limit, cells)
    });
    let lines = table(LIMIT_TITLES, rows.collect(), style);
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
        let how = limit_how(limit);
        if !how.is_empty() {
            out.push_str(&style.aside(6, &how));
        }
    }
    out
}

fn cases(compared: &Compared, style: Style) -> String {
    let cases = compared.cases.iter();
    let rows = cases.map(|it| (&it.case, case_cells(it)));
    table(CASE_TITLES, rows.collect(), style).concat()
}

/// The titles, then the text of each row; nothing without one.
fn table(titles: [&str; 4], figures: Vec<(&String, [String; 4])>, style: Style) -> Vec<String> {
    if figures.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![[&[String::new()], &titles.map(str::to_owned)[..]].concat()];
    rows.extend(
        figures
            .iter()
            .map(|(name, cells)| [&[(*name).clone()], &cells[..]].concat()),
    );
    let room = style.columns().saturating_sub(2);
    let lines = grid::lines(&rows, |column| (1..4).contains(&column), room, 2);
    let mut lines: Vec<String> = lines.iter().map(|line| grid::indented(line, 2)).collect();
    lines[0] = format!("{}\n", style.paint(Ink::Dim, lines[0].trim_end()));
    lines
}
