//! A run on a page, alone or side by side with others.

use blocklab_findings::Assessment;
use blocklab_findings::sweeps::Sweep;
use blocklab_record::Record;
use maud::{Markup, html};

use blocklab_report::words::versus;

/// A run on a page.
pub struct Side<'a> {
    /// What was measured.
    pub record: &'a Record,
    /// Its rows and findings.
    pub assessment: &'a Assessment,
    /// The label that tells it from the other runs: `quick 7f3a2c`.
    pub label: String,
    /// Its index among the runs of the page.
    pub index: usize,
    /// Whether it is the only run of the page.
    pub alone: bool,
    /// Whether it has a colour of its own on the whole page.
    pub has_color: bool,
    /// The sweeps that its cases make.
    pub sweeps: Vec<Sweep<'a>>,
    /// What it is a part of, if the page is about one study.
    pub part: Option<StudyPart<'a>>,
}

/// The run of a system as a part of a study.
#[derive(Clone, Copy)]
pub struct StudyPart<'a> {
    /// Name of the study.
    pub study: &'a str,
    /// Name of the system.
    pub system: &'a str,
}

impl Side<'_> {
    /// A swatch in its colour; empty if it has none.
    pub fn swatch(&self) -> Markup {
        html! {
            @if self.has_color {
                span class=(format!("swatch dye-{}", self.index % 8 + 1)) {}
            }
        }
    }

    /// Its name on the page: its system in a study, else its label.
    pub fn name(&self) -> &str {
        self.part.map_or(&self.label, |part| part.system)
    }

    /// What tables call it and the others of the page: systems of a study, or runs.
    pub const fn noun(&self) -> &'static str {
        if self.part.is_some() { "system" } else { "run" }
    }

    /// Its name in a narrow column: its letter in a comparison, else its name.
    pub fn brief(&self) -> String {
        if self.part.is_none() && self.has_color {
            versus::letter(self.index)
        } else {
            self.name().to_owned()
        }
    }

    /// A name for something that every run of the page has. It is unique on the page, as names of
    /// landmarks and of files must be.
    pub fn unique_name(&self, what: &str) -> String {
        if self.alone {
            what.to_owned()
        } else {
            format!("{what}, {}", self.name())
        }
    }

    /// The heading above a run's part of a section; empty if it is the only run.
    pub fn title(&self) -> Markup {
        html! { @if !self.alone { h3 class="run-title" { (self.swatch()) (self.label) } } }
    }
}

/// Up to this many runs are shown one by one.
const FEW: usize = 4;
/// The most names of runs that follow a statement.
const NAMES: usize = 6;

/// Whether the runs share tables, and are not shown one by one: if there are many of them, or if a
/// study compares them.
pub fn shown_together(sides: &[Side<'_>]) -> bool {
    is_many(sides.len()) || sides.iter().any(|side| side.part.is_some())
}

/// Whether this many runs are too many to be shown one by one.
pub const fn is_many(records: usize) -> bool {
    records > FEW
}

/// Groups values by key, in the order in which keys first occur.
pub fn by_key<K: PartialEq, T>(all: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// The names of the runs that something holds for; empty if it holds for all of them.
pub fn names_unless_all(members: &[&Side<'_>], all: usize) -> Markup {
    // One more takes no more room than the words "and 1 more".
    let shown = NAMES + usize::from(members.len() == NAMES + 1);
    html! {
        @if members.len() < all {
            @for side in members.iter().take(shown) { " " span class="case" { (side.name()) } }
            @if members.len() > shown { " " span class="more" { "and " (members.len() - shown) " more" } }
        }
    }
}
