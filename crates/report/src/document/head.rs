//! The frame of every page: its policy, its style, and the mark by which a later version
//! recognizes it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Content security policy of a page that is a file: no network at all, only what the file holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; img-src data:";

/// The mark by which a later version recognizes a page of blocklab, which it may overwrite.
const GENERATOR: &str = concat!("blocklab ", env!("CARGO_PKG_VERSION"));

/// How many bytes from its beginning [`is_page`] needs of a file.
pub const HEAD: u64 = 8192;

/// Whether a file that begins with these bytes is a page of blocklab.
pub fn is_page(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    // Older pages have no generator, but this policy and this end of the title.
    let is_older_page = text
        .contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src")
        && text.contains(" – blocklab</title>");
    text.starts_with("<!DOCTYPE html>")
        && (text.contains("<meta name=\"generator\" content=\"blocklab ") || is_older_page)
}

/// The style that all pages share: text, tables, findings.
const PLAIN: &str = include_str!("../../assets/report.css");

/// The dark colours: where the reader's system is dark or the button was pressed, but never on
/// paper.
const DARK: &str = concat!(
    "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=\"light\"]) {\n",
    include_str!("../../assets/dark.css"),
    "} }\n@media screen { :root[data-theme=\"dark\"] {\n",
    include_str!("../../assets/dark.css"),
    "} }\n",
);

/// The whole style of a page. `own`: the style of what only this page has.
pub fn style(own: &str) -> String {
    [PLAIN, own, DARK].concat()
}

/// A whole page that is a file. `own`: the style of what only this page has.
pub fn page(title: &str, own: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, own, Some(POLICY)))
            body { (body) }
        }
    }
}

/// The head of a page that a server sends. Its policy is an HTTP header, and need not be in the
/// page.
pub fn served_head(title: &str, own: &str) -> Markup {
    head(title, own, None)
}

/// `policy`: the content security policy of a page that no server sends with one.
fn head(title: &str, own: &str, policy: Option<&str>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            @if let Some(policy) = policy {
                meta http-equiv="Content-Security-Policy" content=(policy);
            }
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(GENERATOR);
            title { (title) }
            link rel="icon" href=(ICON);
            style { (PreEscaped(style(own))) }
        }
    }
}

/// The icon of a page, three bars, as a data URL: a page may load nothing.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
                    viewBox='0 0 16 16' fill='%231f6feb'%3E%3Cpath d='M1 9h3v6H1zM6.5 \
                    5h3v10h-3zM12 1h3v14h-3z'/%3E%3C/svg%3E";
