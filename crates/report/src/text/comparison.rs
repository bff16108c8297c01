use blocklab_compare::compare::{Against, Comparison, Pair, Verdict};
use blocklab_record::Record;

use super::grid;
use crate::versus;
use blocklab_units::{Ink, Style};

/// Runs side by side: who they are, what differs around them, every load that both have,
/// and what only one has. Ends with a newline.
///
/// # Panics
/// When the comparison is not of these records.
pub fn comparison(records: &[&Record], comparison: &Comparison, style: Style) -> String {
    let mut parts = vec![
        runs(records, comparison, style),
        differences(comparison, style),
    ];
    for against in &comparison.against {
        parts.push(table(comparison, against, style));
        parts.push(unmatched(against, style));
    }
    parts.push(style.aside(2, &versus::legend(comparison)));
    super::joined(parts)
}

fn runs(records: &[&Record], comparison: &Comparison, style: Style) -> String {
    let lines = records.iter().enumerate().map(|(place, record)| {
        let role = if place == comparison.baseline {
            " · the baseline"
        } else {
            ""
        };
        let text = format!(
            "{} · {} · {} · {}{role}",
            record.id,
            record.requested.name,
            record.origin.name(),
            versus::subject(record)
        );
        style.hang(Ink::Bold, &versus::letter(place), 4, &text)
    });
    lines.collect()
}

fn differences(comparison: &Comparison, style: Style) -> String {
    let lines = comparison.differences.iter().map(|difference| {
        let text = versus::difference(difference);
        match difference.warning {
            Some(_) => style.hang(Ink::Yellow, "!", 4, &text),
            None => style.hang(Ink::Dim, "-", 4, &text),
        }
    });
    lines.collect()
}

/// One block a load: a line a figure, and in what the sides differ.
fn table(comparison: &Comparison, against: &Against, style: Style) -> String {
    let head = versus::outcome(comparison, against);
    let mut out = format!("{}\n", style.paint(Ink::Bold, &head));
    if against.pairs.is_empty() {
        return out;
    }
    let contrasts = || against.pairs.iter().flat_map(|pair| &pair.contrasts);
    let mut rows = vec![[&[String::new()], &versus::titles(comparison, against)[..]].concat()];
    rows.extend(
        contrasts()
            .map(|contrast| [&[contrast.quantity.label()], &versus::cells(contrast)[..]].concat()),
    );
    let inks: Vec<Ink> = contrasts().map(|contrast| ink(contrast.verdict)).collect();
    let verdicts = rows[0].len() - 1;
    let paint = |row: usize, column: usize, text: &str| match row.checked_sub(1) {
        Some(contrast) if column == verdicts => style.paint(inks[contrast], text),
        _ => text.to_owned(),
    };
    let room = grid::room(style, 4);
    let lines = grid::painted(&rows, |column| column > 0, room, 2, paint);
    let mut lines = lines.iter().map(|line| grid::indented(line, 4));
    let titles = lines.next().unwrap_or_default();
    out.push_str(&format!("{}\n", style.paint(Ink::Dim, titles.trim_end())));
    for pair in &against.pairs {
        out.push_str(&opening(pair, style));
        out.extend(lines.by_ref().take(pair.contrasts.len()));
        if let Some(could) = versus::could_show(comparison, pair) {
            out.push_str(&style.aside(4, &could));
        }
    }
    out
}

fn opening(pair: &Pair, style: Style) -> String {
    let mut out = format!("  {}\n", versus::name_and_what(pair));
    if !pair.differs.is_empty() {
        let text = format!("although {}", pair.differs.join("; "));
        out.push_str(&style.hang(Ink::Yellow, "    !", 6, &text));
    }
    out
}

const fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Faster => Ink::Green,
        Verdict::Slower => Ink::Red,
        Verdict::NoDifference | Verdict::Negligible | Verdict::Unknown => Ink::Dim,
    }
}

fn unmatched(against: &Against, style: Style) -> String {
    let lines = against.unmatched.iter().map(|load| {
        let text = format!(
            "{} {}, of {}: {}",
            load.case,
            load.direction,
            versus::letter(load.run),
            load.why
        );
        style.hang(Ink::Dim, "  -", 4, &text)
    });
    super::titled("Not compared", lines, style)
}
