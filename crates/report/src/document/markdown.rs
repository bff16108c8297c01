//! A document as Markdown.

use blocklab_units::visible;

use super::{Document, Entry, Kind, Part, Row, Table};

/// Parts with an empty line between them.
pub(super) fn print(document: &Document) -> String {
    let mut out = Vec::new();
    let is_titled = matches!(document.parts.first(), Some(Part::Heading(_)));
    if !is_titled && !document.name.is_empty() {
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
            Part::Prose(text) => out.push(format!("{}\n", prose(text))),
            Part::Section { title, parts } => {
                out.push(format!("{} {}\n", "#".repeat(level), plain(title)));
                add(parts, (level + 1).min(6), out);
            }
            Part::Entries(entries) => out.push(list(entries)),
            Part::Blocks(blocks) => {
                for parts in blocks {
                    add(parts, level, out);
                }
            }
            Part::Table(table) => out.push(table_of(table)),
            Part::Folded { title, parts } => {
                let title = plain(title);
                out.push(format!("<details><summary>{title}</summary>\n"));
                add(parts, level, out);
                out.push("</details>\n".to_owned());
            }
        }
    }
}

/// What may be overlooked is a paragraph of its own, all else a list.
fn list(entries: &[Entry]) -> String {
    let mut out = String::new();
    let mut was_aside = false;
    for (place, entry) in entries.iter().enumerate() {
        let is_aside = entry.is_aside();
        if place > 0 && (is_aside || was_aside) {
            out.push('\n');
        }
        was_aside = is_aside;
        let text = prose(&entry.text);
        // What hangs below the entry before stays below it.
        let margin = if entry.is_below() { "  " } else { "" };
        let line = match entry.name() {
            _ if is_aside => text,
            "" => format!("{margin}- {text}"),
            name => format!("- **{}** {text}", plain(name)),
        };
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    out
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
        if let Some(group) = &of_table.group {
            let title = format!("**{}**", plain(&group.title));
            out.push_str(&format!(
                "| {title}{} |\n",
                " |".repeat(table.columns.len() - 1)
            ));
        }
        let mut cells = of_table.cells.clone();
        if of_table.is_doubted {
            cells[0].insert_str(0, "! ");
        }
        let cells = cells.iter().map(String::as_str);
        out.push_str(&row(&cells.collect::<Vec<_>>()));
    }
    let remarks = remarks(&table.rows);
    if !remarks.is_empty() {
        out.push('\n');
    }
    for (name, text) in remarks {
        out.push_str(&format!("- **{}** {}\n", plain(name), plain(text)));
    }
    out
}

/// What is said of groups and rows, each behind its name. A row of a group has that of the group: its
/// own, such as `p99.9`, is that of many.
fn remarks(rows: &[Row]) -> Vec<(&str, &str)> {
    let mut group = None;
    let mut all = Vec::new();
    for row in rows {
        if let Some(begun) = &row.group {
            group = Some(&*begun.title);
            all.push((&*begun.title, &*begun.warning));
        }
        let own = row.cells.first().map_or("", String::as_str);
        all.push((group.unwrap_or(own), &*row.below));
    }
    all.retain(|(_, text)| !text.is_empty());
    all
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| plain(cell.trim_end())).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A text in which what stands between backticks is code, and nothing else is markup.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return plain(text);
    }
    let parts = parts.iter().enumerate().map(|(place, part)| {
        if place % 2 == 0 {
            plain(part)
        } else {
            format!("`{}`", visible(part).replace('\n', " "))
        }
    });
    parts.collect()
}

/// A text in which nothing is markup, on one line.
fn plain(text: &str) -> String {
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
