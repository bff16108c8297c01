//! Tables of a page: readable without a script, and never wider than the screen.

use maud::{Markup, html};

/// A table in a card. Arguments are those of [`scrolling`].
pub fn card(label: &str, class: &str, heads: Markup, rows: Markup) -> Markup {
    html! { div class="card flush" { (scrolling(label, class, heads, rows)) } }
}

/// A table that scrolls sideways if it is too wide, in place of the page. `label` is its name for
/// screen readers, `class` the style classes of the table.
pub fn scrolling(label: &str, class: &str, heads: Markup, rows: Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(label) {
            table class=(["numbers", class].join(" ").trim_end()) {
                @if !heads.0.is_empty() { thead { tr { (heads) } } }
                tbody { (rows) }
            }
        }
    }
}

/// The titles of columns, each with the class of its cells. A column without a title gets a plain
/// cell, as a screen reader would announce an empty heading.
pub fn heads(titles: &[(&str, &str)]) -> Markup {
    html! {
        @for (title, class) in titles {
            @if title.is_empty() { td {} } @else {
                th scope="col" class=[Some(class).filter(|name| !name.is_empty())] { (title) }
            }
        }
    }
}
