//! In: what a view has to say, as a value.
//! Out: the same as a text for a terminal, as Markdown and as a page of its own.
//!
//! ```text
//!   builder ──▶ Document ──┬──▶ text      wrapped and coloured for the reader's terminal
//!                          ├──▶ markdown  for an issue, a wiki or a message
//!                          └──▶ html      without script, without network
//! ```
//!
//! JSON is not printed from it: forms for programs are typed and versioned by themselves.

mod grid;
pub mod head;
pub mod html;
pub(crate) mod markdown;
pub mod tables;
mod text;

use blocklab_units::{Ink, Style, width};

pub use grid::lines;

use crate::words::evidence;

/// A view that can be printed in any form.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// What it is about: the title of its page. Empty where it is only a part of one.
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

/// A part of a document. One without content is printed in no form.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// What the document is about, in its first line.
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
    /// Groups of parts, apart from one another.
    Blocks(Vec<Vec<Part>>),
    /// Figures in columns.
    Table(Table),
    /// What readers open where they want to know more. A terminal has nothing to open: a command
    /// shows it there.
    Folded {
        /// The title, which is always seen.
        title: String,
        /// What it hides.
        parts: Vec<Part>,
    },
}

/// What a terminal does with a text that is longer than its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It goes on below its first word.
    Wrapped,
    /// It stays whole: addresses of pages, and commands.
    Whole,
    /// It ends with a sign that there is more: another command shows it.
    Cut,
}

/// A line with something in front of it: a number, a name, a sign.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What stands in front.
    pub head: String,
    /// Its colour.
    pub ink: Ink,
    /// Column of a terminal in which the text begins.
    pub indent: usize,
    /// What happens to a text that is longer than the line.
    pub fit: Fit,
    /// What it says.
    pub text: String,
    /// The colour of that, where it has one.
    pub text_ink: Option<Ink>,
}

impl Entry {
    /// A line that a terminal breaks.
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

    /// What may be overlooked, behind a margin.
    pub fn aside(margin: usize, text: impl Into<String>) -> Self {
        Self {
            text_ink: Some(Ink::Dim),
            ..Self::new(Ink::Dim, "", margin, text)
        }
    }

    /// Names behind a margin, each with a text that hangs to its right.
    pub fn pairs(pairs: &[(String, String)], margin: usize) -> Vec<Self> {
        let names = pairs.iter().map(|(name, _)| width(name));
        let indent = margin + names.max().unwrap_or(0) + 2;
        let blanks = " ".repeat(margin);
        let pairs = pairs.iter();
        pairs
            .map(|(name, text)| Self::new(Ink::Bold, &format!("{blanks}{name}"), indent, text))
            .collect()
    }

    /// The same line, of which a terminal shows what fits.
    pub fn cut(self) -> Self {
        Self {
            fit: Fit::Cut,
            ..self
        }
    }

    /// A line of a list that a terminal leaves as it is.
    pub fn listed(head: &str, text: impl Into<String>) -> Self {
        let head = format!("  {head}");
        Self {
            fit: Fit::Whole,
            ..Self::new(Ink::Dim, &head, head.chars().count() + 1, text)
        }
    }

    /// Whether it may be overlooked.
    fn is_aside(&self) -> bool {
        self.text_ink == Some(Ink::Dim)
    }

    /// Whether it is an item below the entry before it.
    fn is_below(&self) -> bool {
        self.head.starts_with("    ") && self.head.trim() == "-"
    }

    /// What stands in front, without the blanks that place it and the signs of a list.
    fn name(&self) -> &str {
        self.head
            .trim_matches(|letter: char| letter.is_whitespace() || "-*=!→".contains(letter))
    }
}

/// What stands in a column.
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
    /// Its title; empty for names, and for units behind a figure.
    pub title: String,
    /// What stands in it.
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
}

/// How a terminal lays a table out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// As wide as it is, behind a margin: rows are looked up one by one.
    Wide {
        /// Blanks before each line.
        margin: usize,
    },
    /// Beside each other as long as they fit, with less between them on a narrow terminal.
    Fitted {
        /// Blanks before each line.
        margin: usize,
    },
    /// The same, but 80 columns wide where no terminal is the reader.
    Narrow {
        /// Blanks before each line.
        margin: usize,
    },
    /// Columns that do not fit follow in a block below, with the names again.
    Blocks {
        /// Blanks before each line.
        margin: usize,
        /// No column is narrower; a longer title takes several lines.
        title: usize,
    },
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// What they are of.
    pub title: String,
    /// What makes them doubtful; empty where nothing does.
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
    /// The group that begins with it.
    pub group: Option<Group>,
    /// Whether something doubts its figures: it is marked.
    pub is_doubted: bool,
    /// A cell for each column.
    pub cells: Vec<String>,
    /// The colour of its last cell, the verdict, where it has one.
    pub ink: Option<Ink>,
    /// What is said below it.
    pub below: String,
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Row {
    fn from(cells: [S; N]) -> Self {
        Self::from(cells.map(S::into).to_vec())
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
    /// A table without columns and rows, laid out as wide as it is.
    pub const fn wide(margin: usize) -> Self {
        Self {
            columns: Vec::new(),
            rows: Vec::new(),
            layout: Layout::Wide { margin },
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

    /// Sentences in a faint list under a title.
    pub fn list(title: impl Into<String>, sentences: impl IntoIterator<Item = String>) -> Self {
        let sentences = sentences.into_iter();
        let entries = sentences.map(|text| Entry::new(Ink::Dim, "  -", 4, text));
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

/// The number by which a text refers to a source: `[2]`.
pub fn cited(sources: &mut Vec<String>, source: &str) -> String {
    let place = evidence::place(sources, |known| known == source, || source.to_owned());
    format!("[{}]", place + 1)
}

/// Sources under a title, by their numbers.
pub fn numbered(title: &str, sources: &[String]) -> Part {
    let entries = sources.iter().enumerate().map(|(at, text)| {
        let head = format!("  [{}]", at + 1);
        let indent = head.len() + 1;
        Entry::new(Ink::Dim, &head, indent, text)
    });
    Part::section(title, vec![Part::Entries(entries.collect())])
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ..Table::wide(2)
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
