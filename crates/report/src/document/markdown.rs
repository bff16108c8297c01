//! Prints a document as Markdown.

use blocklab_units::visible;

use super::{Document, Entry, Kind, Part, Row, Table, split_at_code};

/// The whole document; parts have an empty line between them.
pub(super) fn print(document: &Document) -> String {
    let mut out = Vec::new();
    let is_titled = matches!(document.parts.first(), Some(Part::Heading(_)));
    if !is_titled && !document.name.is_empty() {
        out.push(format!("### {}\n", plain(&document.name)));
    }
    // One level below the document's own title.
    add(&document.parts, 4, &mut out);
    out.join("\n")
}

/// Adds parts; the titles of their sections are headings of this level.
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

/// Entries as a list, except asides, which are paragraphs of their own.
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
        // An item of the entry before it stays nested below it.
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

/// A table, followed by a list of its remarks.
fn table_of(table: &Table) -> String {
    let titles: Vec<&str> = table.columns.iter().map(|column| &*column.title).collect();
    let rulers = table.columns.iter().map(|column| match column.kind {
        Kind::Words => "---",
        Kind::Figure => "--:",
    });
    let mut out = row(&titles);
    out.push_str(&format!("| {} |\n", rulers.collect::<Vec<_>>().join(" | ")));
    for table_row in &table.rows {
        if let Some(group) = &table_row.group {
            let title = format!("**{}**", plain(&group.title));
            out.push_str(&format!(
                "| {title}{} |\n",
                " |".repeat(table.columns.len() - 1)
            ));
        }
        let mut cells = table_row.cells.clone();
        if table_row.is_doubted {
            cells[0].insert_str(0, "! ");
        }
        let cells = cells.iter().map(String::as_str);
        out.push_str(&row(&cells.collect::<Vec<_>>()));
    }
    // Markdown tables have no room below a row: what is said of rows follows the table.
    let remarks = remarks(&table.rows);
    if !remarks.is_empty() {
        out.push('\n');
    }
    for (name, text) in remarks {
        out.push_str(&format!("- **{}** {}\n", plain(name), plain(text)));
    }
    out
}

/// What is said about groups and rows, each with a name. A row in a group gets the name of the
/// group, since its own, such as `p99.9`, occurs in many groups.
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

/// A text as Markdown: what is between backticks is code, and nothing else is markup. Its lines, as
/// those of a note, become one, as on a terminal.
fn prose(text: &str) -> String {
    let text = text.lines().collect::<Vec<_>>().join(" ");
    let parts = split_at_code(&text).into_iter().enumerate();
    let parts = parts.map(|(place, part)| {
        if place % 2 == 0 {
            plain(part)
        } else {
            format!("`{}`", visible(part))
        }
    });
    parts.collect()
}

/// A text in which nothing is markup, on one line: [`visible`] escapes line ends.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let text = visible(text);
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        // An underscore within a word, as in `rand_read`, is no markup.
        let is_in_word =
            before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
        match letter {
            '_' if is_in_word => out.push('_'),
            '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' | '&' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use blocklab_units::Ink;

    use super::*;

    /// The story: the advice of a finding stood there as a finding of its own, without a severity.
    #[test]
    fn advice_hangs_below_its_finding() {
        let finding = Entry::new(Ink::Yellow, "  warning", 12, "a: too short.");
        let advice = Entry::item(Ink::Blue, "            →", "Measure longer.");
        let text = "- **warning** a: too short.\n  - Measure longer.\n";
        assert_eq!(list(&[finding, advice]), text);
    }

    /// The story: a note of two lines was "first line\\u000asecond".
    #[test]
    fn the_lines_of_a_note_become_one() {
        assert_eq!(prose("first line\nsecond `a`"), "first line second `a`");
        assert_eq!(plain("a\nb"), "a\\\\u000ab", "names keep what they hide");
    }

    /// The story: a case named `_warm_` came out in italics, and one named `a&lt;b` as `a<b`.
    #[test]
    fn underscores_and_entities_are_no_markup() {
        assert_eq!(plain("_warm_ a_b __c"), "\\_warm\\_ a_b \\_\\_c");
        assert_eq!(plain("a&lt;b"), "a\\&lt;b");
    }
}
