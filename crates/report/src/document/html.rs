//! A document as a page of its own.

use maud::{DOCTYPE, Markup, html};

use super::{Column, Document, Entry, Kind, Part, Table};
use crate::html::frame::head;
use crate::html::tables::{card, heads};

/// The whole page.
pub(super) fn print(document: &Document) -> String {
    let has_heading = matches!(document.parts.first(), Some(Part::Heading(_)));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{} – blocklab", document.name)))
            body {
                main id="main" class="document" {
                    @if !has_heading { h1 { (document.name) } }
                    (parts(&document.parts, &document.name))
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// `title`: of the section that they are in.
fn parts(all: &[Part], title: &str) -> Markup {
    html! {
        @for part in all.iter().filter(|part| !part.is_empty()) {
            @match part {
                Part::Heading(text) => h1 { (text) },
                Part::Prose(text) => p { (text) },
                Part::Section { title, parts: inner } => section {
                    h2 { (title) }
                    (parts(inner, title))
                },
                Part::Entries(entries) => ul class="entries" {
                    @for entry in entries { (item(entry)) }
                },
                Part::Table(table) => (table_of(table, title)),
            }
        }
    }
}

fn item(entry: &Entry) -> Markup {
    html! {
        li {
            @if !entry.name().is_empty() { strong { (entry.name()) } " " }
            (entry.text)
        }
    }
}

fn table_of(table: &Table, title: &str) -> Markup {
    let class = |column: &Column| match column.kind {
        Kind::Words => "",
        Kind::Figure => "number",
    };
    let titles: Vec<(&str, &str)> = table
        .columns
        .iter()
        .map(|column| (&*column.title, class(column)))
        .collect();
    let rows = html! {
        @for (place, row) in table.rows.iter().enumerate() {
            @if let Some(title) = table.group(place) {
                tr { th scope="rowgroup" colspan=(table.columns.len()) { (title) } }
            }
            tr {
                @for (cell, column) in row.iter().zip(&table.columns) {
                    td class=[Some(class(column)).filter(|name| !name.is_empty())] { (cell) }
                }
            }
        }
    };
    card(title, "", heads(&titles), rows)
}
