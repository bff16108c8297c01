//! A Record on the page, beside others.

use blocklab_analysis::Assessment;
use blocklab_record::Record;
use maud::{Markup, html};

/// A Record on the page.
pub struct Side<'a> {
    /// What was measured.
    pub record: &'a Record,
    /// What is said of it.
    pub assessment: &'a Assessment,
    /// Tells it from its neighbours: `quick 7f3a2c`.
    pub label: String,
    /// Its place, from 0.
    pub index: usize,
    /// Whether it is the only one of the page.
    pub alone: bool,
    /// Of several that a study holds against each other: the study, and what this one is in it.
    pub part: Option<(&'a str, &'a str)>,
}

impl Side<'_> {
    /// A swatch in the colour of this Record; nothing when it is alone.
    pub fn swatch(&self) -> Markup {
        html! {
            @if !self.alone {
                span class="swatch" style=(format!("--dye:var(--s{})", self.index % 8 + 1)) {}
            }
        }
    }

    /// What the part of a section is of; nothing when it is alone.
    pub fn title(&self) -> Markup {
        html! { @if !self.alone { h3 class="run-title" { (self.swatch()) (self.label) } } }
    }
}
