//! Prints a document for a terminal.

use blocklab_units::{Ink, Style, width};

use super::{Document, Entry, Fit, Group, Kind, Layout, Part, Table, grid};

/// Blanks between two columns on a narrow terminal.
const LEAST_GAP: usize = 1;

/// The whole document; parts have an empty line between them.
pub(super) fn print(document: &Document, style: Style) -> String {
    let parts = document.parts.iter().filter(|part| !part.is_empty());
    let texts: Vec<String> = parts.map(|part| printed(part, style)).collect();
    texts.join("\n")
}

/// A part as text; empty for one without content.
fn printed(part: &Part, style: Style) -> String {
    if part.is_empty() {
        return String::new();
    }
    match part {
        Part::Heading(text) => heading(text, style),
        // Only a head gets the ink, and prose has none.
        Part::Prose(text) => style.hang(Ink::Bold, "", 0, text),
        Part::Section { title, parts } => {
            let parts = parts.iter().map(|part| printed(part, style));
            format!(
                "{}\n{}",
                style.paint(Ink::Bold, title),
                parts.collect::<String>()
            )
        }
        Part::Entries(entries) => entries.iter().map(|entry| line(entry, style)).collect(),
        Part::Blocks(blocks) => {
            let blocks = blocks.iter().map(|parts| {
                let parts = parts.iter().map(|part| printed(part, style));
                parts.collect::<String>()
            });
            let blocks = blocks.filter(|block| !block.is_empty());
            blocks.collect::<Vec<_>>().join("\n")
        }
        Part::Table(table) => table_of(table, style),
        // A terminal has nothing to unfold.
        Part::Folded { .. } => String::new(),
    }
}

/// A heading; the lines after its first one are fainter.
fn heading(text: &str, style: Style) -> String {
    let mut out = String::new();
    for (index, line) in style.wrap(text, 0).iter().enumerate() {
        let ink = if index == 0 { Ink::Bold } else { Ink::Dim };
        out.push_str(&style.paint(ink, line));
        out.push('\n');
    }
    out
}

/// An entry as one or several lines.
fn line(entry: &Entry, style: Style) -> String {
    let (head, ink, indent) = (&entry.head, entry.ink, entry.indent);
    let text = cut_to_fit(entry, style);
    // A coloured text has no head: it is a sentence or a remark.
    if let Some(ink) = entry.text_ink {
        let blanks = " ".repeat(indent);
        let lines = style.wrap(&text, indent).into_iter();
        return lines
            .map(|line| format!("{blanks}{}\n", style.paint(ink, &line)))
            .collect();
    }
    if text.is_empty() && !head.is_empty() {
        return format!("{}\n", style.paint(ink, head));
    }
    let is_whole = match entry.fit {
        Fit::Whole => true,
        Fit::WholeElsewhere => style.width.is_none(),
        Fit::Wrapped | Fit::Cut => false,
    };
    if is_whole {
        let gap = indent.saturating_sub(width(head)).max(1);
        return format!("{}{}{text}\n", style.paint(ink, head), " ".repeat(gap));
    }
    style.hang(ink, head, indent, &text)
}

/// The text, or as much of it as fits on the line if it may be cut.
fn cut_to_fit(entry: &Entry, style: Style) -> String {
    if entry.fit != Fit::Cut || style.wrap(&entry.text, entry.indent).len() <= 1 {
        return entry.text.clone();
    }
    style.cut(&entry.text, entry.indent)
}

/// A table in its layout, with titles, groups, marks and remarks.
fn table_of(table: &Table, style: Style) -> String {
    let (margin, room) = match table.layout {
        Layout::Fitted { margin } => (margin, grid::room(style, margin)),
        Layout::Narrow { margin } => (margin, style.columns().saturating_sub(margin)),
        Layout::Blocks { margin, title } => return grid::blocks(table, margin, title, style),
    };
    let titles: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.title.clone())
        .collect();
    let titles = Some(titles).filter(|_| table.has_titles());
    let cells = table.rows.iter().map(|row| &row.cells);
    let rows: Vec<&[String]> = titles.iter().chain(cells).map(Vec::as_slice).collect();
    let last_column = table.columns.len().saturating_sub(1);
    let mut lines = grid::painted(
        &rows,
        |column| table.columns[column].kind == Kind::Figure,
        room,
        LEAST_GAP,
        |line, column, text| {
            // The titles, if there are any, are the first line.
            let row = line.checked_sub(usize::from(titles.is_some()));
            match row.and_then(|row| table.rows[row].ink) {
                Some(ink) if column == last_column => style.paint(ink, text).into(),
                _ => text.into(),
            }
        },
    );
    let mut out = String::new();
    if titles.is_some()
        && let Some(line) = lines.next()
    {
        let line = grid::indented(&line, margin);
        out.push_str(&style.paint(Ink::Dim, line.trim_end()));
        out.push('\n');
    }
    for (row, line) in table.rows.iter().zip(lines) {
        if let Some(group) = &row.group {
            out.push_str(&opening(group, margin.saturating_sub(2), style));
        }
        let line = grid::indented(&line, margin);
        if row.is_doubted {
            // The mark takes the place of two blanks of the margin.
            out.push_str(&line.replacen("  ", &style.paint(Ink::Yellow, "! "), 1));
        } else {
            out.push_str(&line);
        }
        if !row.below.is_empty() {
            out.push_str(&style.aside(margin + 4, &row.below));
        }
    }
    out
}

/// The heading of a group, and below it why the group is doubtful.
fn opening(group: &Group, margin: usize, style: Style) -> String {
    let blanks = " ".repeat(margin);
    let title = format!("{blanks}{}\n", style.paint(Ink::Bold, &group.title));
    if group.warning.is_empty() {
        return title;
    }
    let sign = format!("{blanks}  !");
    title + &style.hang(Ink::Yellow, &sign, margin + 4, &group.warning)
}
