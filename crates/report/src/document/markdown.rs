//! A document as Markdown.

use blocklab_units::visible;

use super::{Document, Entry, Kind, Part, Row, Table};

/// Parts with an empty line between them.
pub(super) fn print(document: &Document) -> String {
    let mut out = Vec::new();
    if !matches!(document.parts.first(), Some(Part::Heading(_))) {
        out.push(format!("### {}\n", plain(&document.name)));
    }
    add(&document.parts, 4, &mut out);
    out.join("\n")
}

/// `level`: of the titles of sections.
fn add(parts: &[Part], level: usize, out: &mut Vec<String>) {
    for part in parts.iter().filter(|part| !part.is_empty()) {
        match part {
            Part::Heading(text) => out.push(format!("### {}\n", plain(text))),
            Part::Prose(text) => out.push(format!("{}\n", plain(text))),
            Part::Section { title, parts } => {
                out.push(format!("{} {}\n", "#".repeat(level), plain(title)));
                add(parts, (level + 1).min(6), out);
            }
            Part::Entries(entries) => out.push(entries.iter().map(item).collect()),
            Part::Blocks(blocks) => {
                for parts in blocks {
                    add(parts, level, out);
                }
            }
            Part::Table(table) => out.push(table_of(table)),
        }
    }
}

fn item(entry: &Entry) -> String {
    let text = plain(&entry.text);
    match entry.name() {
        "" => format!("- {text}\n"),
        name => format!("- **{}** {text}\n", plain(name)),
    }
}

fn table_of(table: &Table) -> String {
    let titles: Vec<&str> = table.columns.iter().map(|column| &*column.title).collect();
    let rulers = table.columns.iter().map(|column| match column.kind {
        Kind::Words => "---",
        Kind::Figure => "--:",
    });
    let mut out = row(&titles);
    out.push_str(&format!("| {} |\n", rulers.collect::<Vec<_>>().join(" | ")));
    for of_table in &table.rows {
        if let Some(title) = &of_table.above {
            let mut cells = vec![""; table.columns.len()];
            cells[0] = title;
            out.push_str(&row(&cells));
        }
        let cells = of_table.cells.iter().map(String::as_str);
        out.push_str(&row(&cells.collect::<Vec<_>>()));
    }
    let explained: Vec<&Row> = table
        .rows
        .iter()
        .filter(|row| !row.below.is_empty())
        .collect();
    if !explained.is_empty() {
        out.push('\n');
    }
    for of_table in explained {
        let name = of_table.cells.first().map_or("", String::as_str);
        out.push_str(&format!(
            "- **{}** {}\n",
            plain(name),
            plain(&of_table.below)
        ));
    }
    out
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| plain(cell.trim_end())).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A text in which nothing is markup, on one line.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    for letter in visible(text).chars() {
        match letter {
            '\n' => out.push(' '),
            '|' | '<' | '>' | '*' | '`' | '[' | ']' | '\\' | '~' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}
