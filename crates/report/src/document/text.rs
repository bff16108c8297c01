//! A document for a terminal.

use blocklab_units::{Ink, Style, width};

use super::{Document, Entry, Kind, Layout, Part, Table};
use crate::text::grid::{self, Cells};

/// Parts with an empty line between them.
pub(super) fn print(document: &Document, style: Style) -> String {
    let parts = document.parts.iter().filter(|part| !part.is_empty());
    let texts: Vec<String> = parts.map(|part| printed(part, style)).collect();
    texts.join("\n")
}

pub(crate) fn printed(part: &Part, style: Style) -> String {
    if part.is_empty() {
        return String::new();
    }
    match part {
        Part::Heading(text) => heading(text, style),
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
    }
}

/// A title that takes several lines goes on in a fainter colour.
fn heading(text: &str, style: Style) -> String {
    let mut out = String::new();
    for (index, line) in style.wrap(text, 0).iter().enumerate() {
        let ink = if index == 0 { Ink::Bold } else { Ink::Dim };
        out.push_str(&style.paint(ink, line));
        out.push('\n');
    }
    out
}

fn line(entry: &Entry, style: Style) -> String {
    let Entry {
        head,
        ink,
        indent,
        text,
        ..
    } = entry;
    if let Some(ink) = entry.text_ink {
        let blanks = " ".repeat(*indent);
        let lines = style.wrap(text, *indent).into_iter();
        return lines
            .map(|line| format!("{blanks}{}\n", style.paint(ink, &line)))
            .collect();
    }
    if entry.is_wrapped {
        return style.hang(*ink, head, *indent, text);
    }
    let gap = indent.saturating_sub(width(head)).max(1);
    format!("{}{}{text}\n", style.paint(*ink, head), " ".repeat(gap))
}

fn table_of(table: &Table, style: Style) -> String {
    let (margin, room) = match table.layout {
        Layout::Wide { margin } => (margin, usize::MAX),
        Layout::Fitted { margin } => (margin, grid::room(style, margin)),
        Layout::Narrow { margin } => (margin, style.columns().saturating_sub(margin)),
        Layout::Blocks { margin, title } => return in_blocks(table, margin, title, style),
    };
    let titles: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.title.clone())
        .collect();
    let titles = Some(titles).filter(|_| table.has_titles());
    let cells = table.rows.iter().map(|row| &row.cells);
    let rows: Vec<&[String]> = titles.iter().chain(cells).map(Vec::as_slice).collect();
    let is_figure = |column: usize| table.columns[column].kind == Kind::Figure;
    let mut lines = grid::lines(&rows, is_figure, room, grid::GAP).into_iter();
    let mut out = String::new();
    if titles.is_some()
        && let Some(line) = lines.next()
    {
        let line = grid::indented(&line, margin);
        out.push_str(&style.paint(Ink::Dim, line.trim_end()));
        out.push('\n');
    }
    for (row, line) in table.rows.iter().zip(lines) {
        if let Some(title) = &row.above {
            let margin = " ".repeat(margin.saturating_sub(2));
            out.push_str(&format!("{margin}{}\n", style.paint(Ink::Bold, title)));
        }
        let line = grid::indented(&line, margin);
        match row.ink {
            Some(ink) => out.push_str(&format!("{}\n", style.paint(ink, line.trim_end()))),
            None => out.push_str(&line),
        }
        if !row.below.is_empty() {
            out.push_str(&style.aside(margin + 4, &row.below));
        }
    }
    out
}

/// Columns that do not fit next to the others follow below.
fn in_blocks(table: &Table, margin: usize, title: usize, style: Style) -> String {
    let titles = table.columns.iter().skip(1);
    let rows = table.rows.iter().filter_map(|row| row.cells.split_first());
    let cells = Cells {
        titles: titles.map(|column| column.title.clone()).collect(),
        rows: rows
            .map(|(name, cells)| (name.clone(), cells.to_vec()))
            .collect(),
    };
    grid::blocks(&cells, margin, title, style)
}
