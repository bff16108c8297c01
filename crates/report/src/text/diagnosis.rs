use blocklab_compare::expect::{Compared, Diagnosis, State};
use blocklab_findings::{Assessment, Severity};
use blocklab_record::Record;

use super::findings::findings;
use super::grid;
use super::header::header;
use crate::delivered::{
    CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_how, outcome, row_name,
};
use crate::document::{self, cited};
use crate::model;
use crate::verdict::{Trust, verdict};
use blocklab_units::{Ink, Style};

/// What a run is worth: first the verdict on what was bought and on the figures, then the limits and
/// cases behind it, all findings with their evidence, and last, by number, the source of each limit.
/// Ends with a newline.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis, style: Style) -> String {
    let compared = diagnosis.expected.as_ref();
    let mut sources = Vec::new();
    let mut parts = vec![
        verdicts(record, diagnosis, style),
        header(record, style),
        match compared {
            Some(compared) => limits(compared, &mut sources, style),
            None => limits_in_force(record, &mut sources, style),
        },
    ];
    parts.extend(compared.map(|compared| cases(compared, style)));
    parts.push(findings(&unsaid(&diagnosis.assessment), style));
    parts.push(document::text::printed(
        &document::numbered("Sources", &sources),
        style,
    ));
    super::joined(parts)
}

fn verdicts(record: &Record, diagnosis: &Diagnosis, style: Style) -> String {
    let (trust, sentence) = verdict(record, &diagnosis.assessment);
    let ink = match trust {
        Trust::Use => Ink::Green,
        Trust::Doubt => Ink::Yellow,
        Trust::Discard => Ink::Red,
    };
    let outcome = diagnosis.expected.as_ref().map(outcome);
    let outcome = outcome.map(|text| style.hang(Ink::Bold, "", 0, &text));
    let lines = style.wrap(&sentence, 0).into_iter();
    let lines = lines.map(|line| style.paint(ink, &line) + "\n");
    outcome.into_iter().chain(lines).collect()
}

/// The findings but for the one that the verdict has said already.
fn unsaid(assessment: &Assessment) -> Assessment {
    let mut rest = assessment.clone();
    rest.findings
        .retain(|finding| finding.severity != Severity::Good);
    rest
}

/// The limits that could hold back a run of a modelled device, which nobody compared.
fn limits_in_force(record: &Record, sources: &mut Vec<String>, style: Style) -> String {
    let limits = model::targets(record).flat_map(|target| &target.limits);
    let limits = limits.filter(|limit| !limit.is_bound());
    let pairs = limits.map(|limit| {
        let cited = cited(sources, &limit.origin.to_string());
        let value = format!("{} {cited}", model::value(limit));
        (limit.name.to_string(), value)
    });
    let lines = grid::pairs(&pairs.collect::<Vec<_>>(), 2, style);
    super::titled("Limits in force", [lines], style)
}

/// A line a limit, its source by number.
fn limits(compared: &Compared, sources: &mut Vec<String>, style: Style) -> String {
    let mut out = String::new();
    let rows = compared.limits.iter().map(|limit| {
        let mut cells = limit_cells(limit);
        if !limit.origin.is_empty() {
            cells[3] += &format!(" {}", cited(sources, &limit.origin));
        }
        (row_name(&limit.limit, limit.target.as_ref()), cells)
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
            State::Missed | State::Interrupted | State::Undecided => Ink::Yellow,
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
    let rows = cases.map(|case| (row_name(&case.case, case.target.as_ref()), case_cells(case)));
    table(CASE_TITLES, rows.collect(), style).concat()
}

/// The titles, then the text of each row; nothing without one.
fn table(titles: [&str; 4], figures: Vec<(String, [String; 4])>, style: Style) -> Vec<String> {
    if figures.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![[&[String::new()], &titles.map(str::to_owned)[..]].concat()];
    rows.extend(
        figures
            .iter()
            .map(|(name, cells)| [std::slice::from_ref(name), &cells[..]].concat()),
    );
    let room = style.columns().saturating_sub(2);
    let lines = grid::lines(&rows, |column| (1..4).contains(&column), room, 2);
    let mut lines: Vec<String> = lines.iter().map(|line| grid::indented(line, 2)).collect();
    lines[0] = format!("{}\n", style.paint(Ink::Dim, lines[0].trim_end()));
    lines
}
