//! The frame of the pages that only a server has, and what stands above all of them.

use std::fmt::Write;

use blocklab_page as page;
use blocklab_report::document::head::{served_head, style};
use blocklab_report::document::html as printed;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What only served pages look like.
const OWN_STYLE: &str = include_str!("../assets/web.css");
/// Remembers nothing: it shows the token once and goes on.
const ENTER: &str = include_str!("../assets/enter.js");
const LIVE: &str = include_str!("../assets/live.js");

fn own_style() -> String {
    [page::STYLE, OWN_STYLE].concat()
}

/// The script of a page of a run that lasts.
pub fn live_script() -> String {
    page::lines_script(LIVE)
}

/// Every style that stands in a page of ours.
pub fn styles() -> Vec<String> {
    [
        style(page::STYLE),
        style(&own_style()),
        OWN_STYLE.to_owned(),
    ]
    .to_vec()
}

/// Every script that stands in a page of ours.
pub fn scripts() -> Vec<String> {
    vec![
        page::script(),
        page::history_script(),
        live_script(),
        ENTER.to_owned(),
    ]
}

/// The pages that lead to all others.
const PLACES: [(&str, &str); 4] = [
    ("/", "Runs"),
    ("/history", "History"),
    ("/catalog", "Catalog"),
    ("/studies", "Simulate"),
];

/// What leads to the other pages. `at`: the one that is shown; `more`: where else from here.
pub fn above(at: &str, more: &[(String, &str)]) -> Markup {
    let brand = html! { a class="brand" href="/" { "blocklab" } };
    bar(&brand, at, more)
}

fn bar(brand: &Markup, at: &str, more: &[(String, &str)]) -> Markup {
    html! {
        nav class="around" aria-label="Pages" {
            div class="inner" {
                (brand)
                @for (place, name) in PLACES {
                    a href=(place) aria-current=[(place == at).then_some("page")] { (name) }
                }
                @for (place, name) in more { a href=(place) { (name) } }
            }
        }
    }
}

/// The same on a page of a run, whose own style does not know it.
pub fn above_run(more: &[(String, &str)]) -> Markup {
    html! {
        style { (PreEscaped(OWN_STYLE)) }
        // The page below has the name of the program already.
        (bar(&Markup::default(), "", more))
    }
}

/// A page of ours.
pub fn page(title: &str, above: &Markup, main: &Markup, script: Option<String>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (served_head(&format!("{title} – blocklab"), &own_style()))
            body {
                a class="skip" href="#main" { "Skip to the page" }
                (above)
                main id="main" class="document" { (main) }
                @if let Some(script) = script { script { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// What is shown to whoever has not shown the token.
pub fn entrance() -> String {
    let main = html! {
        div class="enter" {
            h1 { "blocklab" }
            p id="words" {
                "These pages are for the user who started them. Open the address that "
                code { "blocklab serve" } " printed: it ends in the token."
            }
        }
    };
    page("Enter", &Markup::default(), &main, Some(ENTER.to_owned()))
}

/// A page that says why there is none.
pub fn failure(title: &str, why: &str) -> String {
    let main = html! { h1 { (title) } p { (printed::prose(why)) } };
    page(title, &above("", &[]), &main, None)
}

/// Text for a query of an address.
pub fn query_text(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            all.push(byte.into());
        } else {
            write!(all, "%{byte:02X}").expect("a text takes all");
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The story: the page of a run that lasts had a function of the name of one that every chart
    /// calls. So each of its charts opened a connection of its own for events, and neither pointer
    /// nor keys read a value.
    #[test]
    fn no_script_has_two_functions_of_one_name() {
        for script in scripts() {
            let mut names = BTreeSet::new();
            let functions = script
                .lines()
                .filter_map(|line| line.strip_prefix("function "));
            for name in functions.filter_map(|rest| rest.split('(').next()) {
                assert!(names.insert(name), "two functions are called {name}");
            }
        }
    }
}
