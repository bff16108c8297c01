//! The hosts of a merged run on its page: the same document as in a terminal.

use maud::{Markup, html};

use super::side::Side;
use blocklab_report::document::html::parts;
use blocklab_report::views;

/// The section; nothing of a run of one host.
pub fn section(side: &Side<'_>) -> Markup {
    let hosts = views::fleet(side.record, side.assessment);
    html! { @if !hosts.is_empty() { div id="hosts" { (parts(&hosts, "Hosts")) } } }
}
