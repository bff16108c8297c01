//! Tables of a page: readable without a script, and never wider than the screen.

use maud::{Markup, html};

use super::{Column, Kind};

/// A table in a card. `label` is its name for screen readers.
pub fn card(label: &str, columns: &[Column], rows: Markup) -> Markup {
    card_of_class(label, "", heads(columns), rows)
}

/// The same with style classes of the table, and with titles of any kind.
pub fn card_of_class(label: &str, class: &str, titles: Markup, rows: Markup) -> Markup {
    html! { div class="card flush" { (scrolling_of_class(label, class, titles, rows)) } }
}

/// A table that scrolls sideways if it is too wide, in place of the page.
pub fn scrolling(label: &str, columns: &[Column], rows: Markup) -> Markup {
    scrolling_of_class(label, "", heads(columns), rows)
}

fn scrolling_of_class(label: &str, class: &str, titles: Markup, rows: Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(label) {
            table class=(["numbers", class].join(" ").trim_end()) {
                @if !titles.0.is_empty() { thead { tr { (titles) } } }
                tbody { (rows) }
            }
        }
    }
}

/// The titles of columns.
pub fn heads(columns: &[Column]) -> Markup {
    html! { @for column in columns { (head(&column.title, class(column))) } }
}

/// The title of a column, with the class of its cells. A column without a title gets a plain cell,
/// as a screen reader would announce an empty heading.
pub fn head(title: &str, class: &str) -> Markup {
    html! {
        @if title.is_empty() { td {} } @else {
            th scope="col" class=[Some(class).filter(|name| !name.is_empty())] { (title) }
        }
    }
}

/// The style class of the cells of a column; empty for words.
pub(super) const fn class(column: &Column) -> &'static str {
    match column.kind {
        Kind::Words => "",
        Kind::Figure => "number",
    }
}
