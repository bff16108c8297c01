//! The head of every page: its policy, its style, and by what a later version knows that it is ours.

use maud::{Markup, PreEscaped, html};

/// No network at all: only what stands in the file may be used.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; img-src data:";

/// By which a later version knows that it wrote the page.
const GENERATOR: &str = concat!("blocklab ", env!("CARGO_PKG_VERSION"));

/// Bytes at the beginning of a page that name the program that wrote it.
pub const HEAD: u64 = 8192;

/// Whether a file that begins so is a page of ours.
pub fn is_page(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    // Pages of before had no generator, but this policy and the name at the end of their title.
    let before = text
        .contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src")
        && text.contains(" – blocklab</title>");
    text.starts_with("<!DOCTYPE html>")
        && (text.contains("<meta name=\"generator\" content=\"blocklab ") || before)
}

/// What every page looks like: text, tables, findings.
const PLAIN: &str = include_str!("../../assets/report.css");

/// Dark where the reader's system is, or after a press of the button; never on paper.
const DARK: &str = concat!(
    "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=\"light\"]) {\n",
    include_str!("../../assets/dark.css"),
    "} }\n@media screen { :root[data-theme=\"dark\"] {\n",
    include_str!("../../assets/dark.css"),
    "} }\n",
);

/// The style of a page. `own`: of what only this page has.
pub fn style(own: &str) -> String {
    [PLAIN, own, DARK].concat()
}

/// The head of any page that is a file. `own`: the style of what only this page has.
pub fn head(title: &str, own: &str) -> Markup {
    head_under(title, own, Some(POLICY))
}

/// The head of a page that a server sends, with a policy in its own answer.
pub fn served_head(title: &str, own: &str) -> Markup {
    head_under(title, own, None)
}

fn head_under(title: &str, own: &str, policy: Option<&str>) -> Markup {
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

/// Three bars, as a picture in the address itself.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
                    viewBox='0 0 16 16' fill='%231f6feb'%3E%3Cpath d='M1 9h3v6H1zM6.5 \
                    5h3v10h-3zM12 1h3v14h-3z'/%3E%3C/svg%3E";
