//! Prints a document as a page without charts.

use maud::{Markup, html};

use super::tables::{card, class};
use super::{Document, Entry, Part, Table, head, split_at_code};

/// The whole page.
pub(super) fn print(document: &Document) -> String {
    let has_heading = matches!(document.parts.first(), Some(Part::Heading(_)));
    let body = html! {
        main id="main" class="document" {
            @if !has_heading { h1 { (document.name) } }
            (parts(&document.parts, &document.name))
        }
    };
    let title = format!("{} – blocklab", document.name);
    // Only charts need a style of their own.
    head::page(&title, "", &body).into_string() + "\n"
}

/// Parts of a document. `title` is that of the section they belong to. Every table is a landmark
/// for screen readers; several of one section are numbered, and those below one of several headings
/// have its name, so that no two have the same name.
pub fn parts(all: &[Part], title: &str) -> Markup {
    html! {
        @for (place, part) in all.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            @match part {
                Part::Heading(text) => h1 { (text) },
                Part::Prose(text) => p { (prose(text)) },
                Part::Section { title: own, parts: inner } => section {
                    // A section with the name of its page would repeat the heading.
                    @if own != title { h2 { (own) } }
                    (parts(inner, &below(own, all, place)))
                },
                Part::Entries(entries) => ul class="entries" {
                    @for entry in entries { (item(entry)) }
                },
                Part::Blocks(blocks) => {
                    @for (index, block) in blocks.iter().enumerate() {
                        div class="block" { (parts(block, &counted(title, index))) }
                    }
                },
                Part::Table(table) => {
                    @let before = all[..place].iter().filter(|part| matches!(part, Part::Table(_)));
                    (table_of(table, &counted(title, before.count())))
                },
                Part::Folded { title, parts: inner } => details class="infos" {
                    summary { (title) }
                    (parts(inner, title))
                },
            }
        }
    }
}

/// The name of a section at a place among parts: with its heading if there are several of them.
fn below(section: &str, all: &[Part], place: usize) -> String {
    let headings = |parts: &[Part]| {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Heading(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    };
    match headings(&all[..place]).last() {
        Some(heading) if headings(all).len() > 1 => format!("{section}, {heading}"),
        _ => section.to_owned(),
    }
}

/// The name of a table after `before` others: `Findings`, then `Findings 2`.
fn counted(title: &str, before: usize) -> String {
    if before == 0 {
        title.to_owned()
    } else {
        format!("{title} {}", before + 1)
    }
}

/// A text as markup: what is between backticks becomes code.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in split_at_code(text).into_iter().enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn item(entry: &Entry) -> Markup {
    html! {
        li class=[entry.is_aside().then_some("aside")] {
            @if !entry.name().is_empty() { strong { (entry.name()) } " " }
            (prose(&entry.text))
        }
    }
}

/// Row names of more bytes than this may wrap on a telephone, where they would fill the screen.
const LONG: usize = 24;

/// A table as a card. `title`: its name for screen readers.
fn table_of(table: &Table, title: &str) -> Markup {
    let rows = html! {
        @for row in &table.rows {
            @if let Some(group) = &row.group {
                tr {
                    th scope="rowgroup" colspan=(table.columns.len()) {
                        (group.title)
                        @if !group.warning.is_empty() {
                            br; span class="settings" { "! " (group.warning) }
                        }
                    }
                }
            }
            tr {
                // The first cell names the row.
                @for (cell, column) in row.cells.iter().zip(&table.columns).take(1) {
                    @let long = if cell.len() > LONG { "long" } else { "" };
                    @let classes = [class(column), long].join(" ");
                    th scope="row" class=[Some(classes.trim()).filter(|name| !name.is_empty())] {
                        @if row.is_doubted { "! " }
                        (cell)
                    }
                }
                @for (cell, column) in row.cells.iter().zip(&table.columns).skip(1) {
                    td class=[Some(class(column)).filter(|name| !name.is_empty())] { (cell) }
                }
            }
            @if !row.below.is_empty() {
                tr { td class="wrap" colspan=(table.columns.len()) { div { (row.below) } } }
            }
        }
    };
    let titled = if table.has_titles() {
        &table.columns[..]
    } else {
        &[]
    };
    card(title, titled, rows)
}
