//! In: the content of a view, as a value.
//! Out: that content as text for a terminal, as Markdown or as an HTML page.
//!
//! ```text
//!   builder ──▶ Document ──┬──▶ text      wrapped and coloured for the reader's terminal
//!                          ├──▶ markdown  for an issue, a wiki or a message
//!                          └──▶ html      without script, without network
//! ```
//!
//! JSON is not printed from it: forms for programs have types and versions of their own.

mod grid;
pub mod head;
pub mod html;
pub(crate) mod markdown;
pub mod tables;
mod text;

use blocklab_units::{Ink, Style, width};

pub use grid::lines;

use crate::words::evidence;

/// Blanks before the lines of a section, below its heading.
pub const MARGIN: usize = 2;

/// The content of a view, which can be printed in any form.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Its name, which is the title of its page; empty for a document that is only a part of
    /// another.
    pub name: String,
    /// In reading order.
    pub parts: Vec<Part>,
}

/// A form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For this terminal.
    Text(Style),
    /// For an issue, a wiki or a message.
    Markdown,
    /// For a browser.
    Html,
}

/// A part of a document. A part without content is not printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The first line of a document, which says what it is about.
    Heading(String),
    /// Sentences.
    Prose(String),
    /// Parts under a title.
    Section {
        /// The title.
        title: String,
        /// What belongs to it.
        parts: Vec<Part>,
    },
    /// Lines that belong together.
    Entries(Vec<Entry>),
    /// Groups of parts, with an empty line between the groups.
    Blocks(Vec<Vec<Part>>),
    /// Figures in columns.
    Table(Table),
    /// Details that a reader of a page can unfold. A terminal leaves them out, and another command
    /// shows them.
    Folded {
        /// The title, which is always visible.
        title: String,
        /// The details.
        parts: Vec<Part>,
    },
}

/// What a terminal does with a text that is longer than its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It wraps, and goes on below its first word.
    Wrapped,
    /// It stays on one line, so that it can be copied: URLs and commands.
    Whole,
    /// It wraps on a terminal, and elsewhere stays on one line: sources.
    WholeElsewhere,
    /// It is cut, and ends with a sign that there is more.
    Cut,
}

/// A line that begins with a head: a number, a name or a sign.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its head, with the blanks that place it.
    pub head: String,
    /// The colour of the head.
    pub ink: Ink,
    /// The terminal column in which the text begins.
    pub indent: usize,
    /// What a terminal does with a text that is longer than the line.
    pub fit: Fit,
    /// The text after the head.
    pub text: String,
    /// The colour of the text, if it has one.
    pub text_ink: Option<Ink>,
}

impl Entry {
    /// An entry whose text wraps on a terminal.
    pub fn new(ink: Ink, head: &str, indent: usize, text: impl Into<String>) -> Self {
        Self {
            head: head.to_owned(),
            ink,
            indent,
            fit: Fit::Wrapped,
            text: text.into(),
            text_ink: None,
        }
    }

    /// A faint remark without a head, with a margin.
    pub fn aside(margin: usize, text: impl Into<String>) -> Self {
        Self {
            text_ink: Some(Ink::Dim),
            ..Self::new(Ink::Dim, "", margin, text)
        }
    }

    /// Names with a margin, with their texts aligned in a column to the right.
    pub fn pairs(pairs: &[(impl AsRef<str>, String)], margin: usize) -> Vec<Self> {
        let names = pairs.iter().map(|(name, _)| width(name.as_ref()));
        let indent = margin + names.max().unwrap_or(0) + 2;
        let blanks = " ".repeat(margin);
        let pairs = pairs.iter();
        pairs
            .map(|(name, text)| {
                let head = format!("{blanks}{}", name.as_ref());
                Self::new(Ink::Bold, &head, indent, text)
            })
            .collect()
    }

    /// The same entry, cut by a terminal to what fits.
    pub fn cut(self) -> Self {
        Self {
            fit: Fit::Cut,
            ..self
        }
    }

    /// An entry whose text begins one blank after its head: an item of a list after its sign.
    pub fn item(ink: Ink, head: &str, text: impl Into<String>) -> Self {
        Self::new(ink, head, width(head) + 1, text)
    }

    /// An item of a list that stays on one line, except on a terminal.
    pub fn listed(sign: &str, text: impl Into<String>) -> Self {
        Self {
            fit: Fit::WholeElsewhere,
            ..Self::item(Ink::Dim, &format!("  {sign}"), text)
        }
    }

    /// Whether it is a remark in a faint colour.
    fn is_aside(&self) -> bool {
        self.text_ink == Some(Ink::Dim)
    }

    /// Whether it is an item that belongs to the entry before it: by its sign and its deeper
    /// margin.
    fn is_below(&self) -> bool {
        self.head.starts_with("    ") && ["-", "→"].contains(&self.head.trim())
    }

    /// The head without the blanks that place it and the signs of a list, which only a terminal
    /// needs.
    fn name(&self) -> &str {
        self.head
            .trim_matches(|letter: char| letter.is_whitespace() || "-*=!→".contains(letter))
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words, flush left.
    Words,
    /// Figures, flush right.
    Figure,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its title; empty for names of rows, and for units that follow a figure.
    pub title: String,
    /// What its cells hold.
    pub kind: Kind,
}

impl Column {
    /// Words, flush left.
    pub fn words(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Words,
        }
    }

    /// Figures, flush right.
    pub fn figure(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Figure,
        }
    }

    /// The columns of a table whose first column names the rows: `names` is its title, and each of
    /// the others holds figures.
    pub fn named(
        names: impl Into<String>,
        figures: impl IntoIterator<Item: Into<String>>,
    ) -> Vec<Self> {
        let figures = figures.into_iter().map(Self::figure);
        [Self::words(names)].into_iter().chain(figures).collect()
    }

    /// The same, and a last column that holds words.
    pub fn named_and_words(
        names: impl Into<String>,
        figures: impl IntoIterator<Item: Into<String>>,
        words: impl Into<String>,
    ) -> Vec<Self> {
        let mut columns = Self::named(names, figures);
        columns.push(Self::words(words));
        columns
    }
}

/// How a terminal lays a table out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// With smaller gaps on a narrow terminal, and with names above their rows if that is not
    /// enough.
    Fitted {
        /// Blanks before each line.
        margin: usize,
    },
    /// As `Fitted`, but within 80 columns if the output is not a terminal.
    Narrow {
        /// Blanks before each line.
        margin: usize,
    },
    /// Columns that do not fit follow in a block below, with the names again.
    Blocks {
        /// Blanks before each line.
        margin: usize,
        /// A title that is no wider than this does not wrap.
        title: usize,
    },
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The heading of the group.
    pub title: String,
    /// Why its figures are doubtful; empty where they are not.
    pub warning: String,
}

impl Group {
    /// A group that nothing makes doubtful.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            warning: String::new(),
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The group that begins with this row.
    pub group: Option<Group>,
    /// Whether something doubts its figures; the row is marked then.
    pub is_doubted: bool,
    /// A cell for each column.
    pub cells: Vec<String>,
    /// The colour of its last cell, if that is a verdict.
    pub ink: Option<Ink>,
    /// A remark below the row; may be empty.
    pub below: String,
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Row {
    fn from(cells: [S; N]) -> Self {
        Self::from(cells.map(S::into).to_vec())
    }
}

impl Row {
    /// A row of this name.
    pub fn named(name: impl Into<String>, cells: impl IntoIterator<Item: Into<String>>) -> Self {
        let cells = cells.into_iter().map(Into::into);
        Self::from([name.into()].into_iter().chain(cells).collect::<Vec<_>>())
    }
}

impl From<Vec<String>> for Row {
    fn from(cells: Vec<String>) -> Self {
        Self {
            cells,
            ..Self::default()
        }
    }
}

/// Figures in columns; the first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// How a terminal lays it out.
    pub layout: Layout,
}

impl Table {
    /// A table without the columns in which no row has anything.
    fn new(
        mut columns: Vec<Column>,
        rows: impl IntoIterator<Item: Into<Row>>,
        layout: Layout,
    ) -> Self {
        let mut rows: Vec<Row> = rows.into_iter().map(Into::into).collect();
        for column in (0..columns.len()).rev() {
            let is_filled = |row: &Row| row.cells.get(column).is_some_and(|cell| !cell.is_empty());
            if rows.iter().any(is_filled) {
                continue;
            }
            columns.remove(column);
            for row in rows.iter_mut().filter(|row| column < row.cells.len()) {
                row.cells.remove(column);
            }
        }
        Self {
            columns,
            rows,
            layout,
        }
    }

    /// Whether any column has a title.
    fn has_titles(&self) -> bool {
        self.columns.iter().any(|column| !column.title.is_empty())
    }
}

impl Part {
    /// Parts under a title.
    pub fn section(title: impl Into<String>, parts: Vec<Self>) -> Self {
        Self::Section {
            title: title.into(),
            parts,
        }
    }

    /// A table with all its columns, also those in which no row has anything.
    pub fn whole_table(
        layout: Layout,
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item: Into<Row>>,
    ) -> Self {
        Self::Table(Table {
            columns: columns.into(),
            rows: rows.into_iter().map(Into::into).collect(),
            layout,
        })
    }

    /// A table that a narrow terminal lays out with smaller gaps, or with names above their rows.
    pub fn table(
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item: Into<Row>>,
    ) -> Self {
        let layout = Layout::Fitted { margin: 0 };
        Self::Table(Table::new(columns.into(), rows, layout))
    }

    /// The same with a margin, for a section.
    pub fn indented_table(
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item: Into<Row>>,
    ) -> Self {
        let layout = Layout::Fitted { margin: 2 };
        Self::Table(Table::new(columns.into(), rows, layout))
    }

    /// A section with nothing but a table.
    pub fn table_section(
        title: impl Into<String>,
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item: Into<Row>>,
    ) -> Self {
        Self::section(title, vec![Self::indented_table(columns, rows)])
    }

    /// Sentences in a faint list under a title.
    pub fn list(title: impl Into<String>, sentences: impl IntoIterator<Item = String>) -> Self {
        let sentences = sentences.into_iter();
        let entries = sentences.map(|text| Entry::item(Ink::Dim, "  -", text));
        Self::section(title, vec![Self::Entries(entries.collect())])
    }

    /// The same, but each sentence stays on one line, so that it can be copied.
    pub fn lines(
        title: impl Into<String>,
        sentences: impl IntoIterator<Item: Into<String>>,
    ) -> Self {
        let sentences = sentences.into_iter();
        let entries = sentences.map(|text| Entry::listed("-", text));
        Self::section(title, vec![Self::Entries(entries.collect())])
    }

    /// Whether there is nothing to print.
    fn is_empty(&self) -> bool {
        match self {
            Self::Heading(text) | Self::Prose(text) => text.is_empty(),
            Self::Section { parts, .. } | Self::Folded { parts, .. } => {
                parts.iter().all(Self::is_empty)
            }
            Self::Entries(entries) => entries.is_empty(),
            Self::Blocks(blocks) => blocks.iter().flatten().all(Self::is_empty),
            Self::Table(table) => table.rows.is_empty(),
        }
    }
}

impl Document {
    /// The document in a form. Ends with a newline.
    pub fn print(&self, form: Form) -> String {
        match form {
            Form::Text(style) => text::print(self, style),
            Form::Markdown => markdown::print(self),
            Form::Html => html::print(self),
        }
    }
}

/// A text in parts, every second of which stood between backticks and is code. An odd number of backticks
/// makes no pairs: then they are plain letters.
fn split_at_code(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        vec![text]
    } else {
        parts
    }
}

/// The reference to a source, such as `[2]`. A source that is not in the list yet is added.
pub fn cited(sources: &mut Vec<String>, source: &str) -> String {
    let place = evidence::place(sources, |known| known == source, || source.to_owned());
    format!("[{}]", place + 1)
}

/// The list of sources that [`cited`] refers to, under a title.
pub fn numbered(title: &str, sources: &[String]) -> Part {
    let entries = sources.iter().zip(1..);
    let entries =
        entries.map(|(text, number)| Entry::item(Ink::Dim, &format!("  [{number}]"), text));
    Part::section(title, vec![Part::Entries(entries.collect())])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the tables of `catalog show` had columns "UP TO" and "THEN" in which no row had
    /// anything, also in Markdown and on pages.
    #[test]
    fn a_column_that_no_row_fills_is_left_out() {
        let columns = Column::named_and_words("", ["ABOVE", "UP TO", "A MONTH"], "THEN");
        let rows = [["gp3", "0", "", "80", ""], ["io2", "", "", "125", ""]];
        let table = Part::table(columns, rows);
        let Part::Table(table) = table else {
            panic!("{table:?}");
        };
        let titles: Vec<&str> = table.columns.iter().map(|one| &*one.title).collect();
        assert_eq!(titles, ["", "ABOVE", "A MONTH"]);
        assert_eq!(table.rows[1].cells, ["io2", "", "125"]);
    }

    fn document() -> Document {
        let table = Table {
            columns: vec![Column::words(""), Column::figure("IOPS")],
            rows: vec![
                Row {
                    below: "by case a".to_owned(),
                    ..Row::from(["gp3", "16,000"])
                },
                Row::from(["a|b <i>", "7"]),
            ],
            layout: Layout::Fitted { margin: MARGIN },
        };
        let source = Entry::listed("[1]", "https://example.org");
        Document {
            name: "gp3".to_owned(),
            parts: vec![
                Part::Heading("gp3:1TiB".to_owned()),
                Part::section("Limits", vec![Part::Table(table)]),
                Part::section("Nothing", vec![Part::Entries(Vec::new())]),
                Part::section("Sources", vec![Part::Entries(vec![source])]),
            ],
        }
    }

    #[test]
    fn a_text_has_its_parts_apart_and_no_empty_ones() {
        let plain = Style::default();
        assert_eq!(
            document().print(Form::Text(plain)),
            "gp3:1TiB\n\nLimits\n             IOPS\n  gp3      16,000\n      by case a\n  a|b <i>       7\n\n\
             Sources\n  [1] https://example.org\n"
        );
    }

    #[test]
    fn nothing_is_markup_in_markdown_but_ours() {
        assert_eq!(
            document().print(Form::Markdown),
            "### gp3:1TiB\n\n#### Limits\n\n|  | IOPS |\n| --- | --: |\n| gp3 | 16,000 |\n\
             | a\\|b \\<i\\> | 7 |\n\n- **gp3** by case a\n\n#### Sources\n\n- **\\[1\\]** https://example.org\n"
        );
    }

    /// The story: a note with one backtick lost it on its page, and the rest of it was code.
    #[test]
    fn a_single_backtick_is_a_letter() {
        assert_eq!(html::prose("a`b").into_string(), "a`b");
        assert_eq!(html::prose("a `b` c").into_string(), "a <code>b</code> c");
    }

    #[test]
    fn a_page_escapes_what_is_no_markup_and_runs_no_script() {
        let page = document().print(Form::Html);
        assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
        assert!(page.contains("<h1>gp3:1TiB</h1>"), "{page}");
        assert!(page.contains("a|b &lt;i&gt;"), "{page}");
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("Nothing"), "{page}");
        assert!(head::is_page(page.as_bytes()), "known as ours");
    }
}
