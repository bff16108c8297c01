//! The frame of the pages that only the server has, and the navigation bar above all pages.

use std::fmt::Write;

use blocklab_page as page;
use blocklab_report::document::head::{served_head, style};
use blocklab_report::document::html as printed;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of what only served pages have.
const OWN_STYLE: &str = include_str!("../assets/web.css");
/// The script of the page that opens a session: it sends the token and leaves for the next page. It
/// stores the token nowhere.
const ENTER: &str = include_str!("../assets/enter.js");
const LIVE: &str = include_str!("../assets/live.js");

fn own_style() -> String {
    [page::STYLE, OWN_STYLE].concat()
}

/// The script of the page that follows a running run.
pub fn live_script() -> String {
    page::lines_script(LIVE)
}

/// Every style element that a served page can have: the policy allows these and no others.
pub fn styles() -> Vec<String> {
    vec![
        style(page::STYLE),
        style(&own_style()),
        OWN_STYLE.to_owned(),
    ]
}

/// Every script element that a served page can have: the policy allows these and no others.
pub fn scripts() -> Vec<String> {
    vec![
        page::script(),
        page::history_script(),
        live_script(),
        ENTER.to_owned(),
    ]
}

/// The pages of the navigation bar: path and name.
const PLACES: [(&str, &str); 4] = [
    ("/", "Runs"),
    ("/history", "History"),
    ("/catalog", "Catalog"),
    ("/studies", "Simulate"),
];

/// The navigation bar. `at`: the path of the page that is shown, which is marked; `more`: further
/// links that this page has.
pub fn navigation(at: &str, more: &[(String, &str)]) -> Markup {
    let brand = html! { a class="brand" href="/" { "blocklab" } };
    bar(&brand, at, more)
}

/// The bar. `brand`: what comes before its links; `at` and `more` as in [`navigation`].
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

/// The navigation bar of a page that `page` lays out. It brings the bar's style, which that page
/// does not have.
pub fn run_navigation(more: &[(String, &str)]) -> Markup {
    html! {
        style { (PreEscaped(OWN_STYLE)) }
        // The page below already shows the name of the program.
        (bar(&Markup::default(), "", more))
    }
}

/// A whole page. `navigation` goes above its content `main`; `script` runs last.
pub fn page(title: &str, navigation: &Markup, main: &Markup, script: Option<String>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (served_head(&format!("{title} – blocklab"), &own_style()))
            body {
                a class="skip" href="#main" { "Skip to the page" }
                (navigation)
                main id="main" class="document" { (main) }
                @if let Some(script) = script { script { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// The page for a client without a session; its script reads the token from the address.
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

/// The page that is shown when the requested one cannot be: it gives the reason.
pub fn failure(title: &str, why: &str) -> String {
    let main = html! { h1 { (title) } p { (printed::prose(why)) } };
    page(title, &navigation("", &[]), &main, None)
}

/// Percent-encodes text for the query of a URL.
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
