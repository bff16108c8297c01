//! A Record on the page, alone or side by side with others.

use blocklab_findings::Assessment;
use blocklab_findings::sweeps::Sweep;
use blocklab_record::Record;
use maud::{Markup, html};

use blocklab_report::words::versus;

/// A Record on the page.
pub struct Side<'a> {
    /// What was measured.
    pub record: &'a Record,
    /// Its rows and findings.
    pub assessment: &'a Assessment,
    /// Tells it from its neighbours: `quick 7f3a2c`.
    pub label: String,
    /// Its place, from 0.
    pub index: usize,
    /// Whether it is the only one of the page.
    pub alone: bool,
    /// Whether it has a colour that is the same all over the page.
    pub has_color: bool,
    /// Its cases that one matrix made.
    pub sweeps: Vec<Sweep<'a>>,
    /// The study that compares it with the other records, and its system in that study.
    pub part: Option<(&'a str, &'a str)>,
}

impl Side<'_> {
    /// A swatch in the colour of this Record; nothing when it is alone.
    pub fn swatch(&self) -> Markup {
        html! {
            @if self.has_color {
                span class=(format!("swatch dye-{}", self.index % 8 + 1)) {}
            }
        }
    }

    /// As it is called on this page: of a study the system.
    pub fn name(&self) -> &str {
        self.part.map_or(&self.label, |(_, system)| system)
    }

    /// In a narrow column: of a comparison the letter that stands before its heading.
    pub fn brief(&self) -> String {
        match (self.part, self.has_color) {
            (None, true) => versus::letter(self.index),
            _ => self.name().to_owned(),
        }
    }

    /// A name for what each Record of the page has, as a landmark and as a file: no two are equal.
    pub fn own(&self, what: &str) -> String {
        if self.alone {
            what.to_owned()
        } else {
            format!("{what}, {}", self.name())
        }
    }

    /// What the part of a section is of; nothing when it is alone.
    pub fn title(&self) -> Markup {
        html! { @if !self.alone { h3 class="run-title" { (self.swatch()) (self.label) } } }
    }
}

/// Up to this many Records each have a head, figures, a model and a plan of their own.
const FEW: usize = 4;
/// Up to this many names follow what they have in common.
const NAMES: usize = 6;

/// Whether each Record by itself would bury what they show together: there are many, or a study
/// holds them against each other.
pub fn many(sides: &[Side<'_>]) -> bool {
    is_many(sides.len()) || sides.iter().any(|side| side.part.is_some())
}

/// Whether that many Records are.
pub const fn is_many(records: usize) -> bool {
    records > FEW
}

/// Those that are alike, in the order in which each first occurs.
pub fn alike<K: PartialEq, T>(all: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// Whose it is: nothing of all, else the names.
pub fn whose(members: &[&Side<'_>], all: usize) -> Markup {
    let shown = NAMES + usize::from(members.len() == NAMES + 1);
    html! {
        @if members.len() < all {
            @for side in members.iter().take(shown) { " " span class="case" { (side.name()) } }
            @if members.len() > shown { " " span class="more" { "and " (members.len() - shown) " more" } }
        }
    }
}
