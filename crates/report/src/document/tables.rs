//! Tables of the page: readable without a script, and never wider than the screen.

use maud::{Markup, html};

/// A table in a card of its own.
pub fn card(label: &str, class: &str, heads: Markup, rows: Markup) -> Markup {
    html! { div class="card flush" { (scrolling(label, class, heads, rows)) } }
}

/// A table that scrolls by itself where it is too wide. `label`: for the reader of the screen.
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

/// Titles of columns, each with the class of its cells. A column without a title has no head that a
/// reader of the screen would announce as empty.
pub fn heads(titles: &[(&str, &str)]) -> Markup {
    html! {
        @for (title, class) in titles {
            @if title.is_empty() { td {} } @else {
                th scope="col" class=[Some(class).filter(|name| !name.is_empty())] { (title) }
            }
        }
    }
}
