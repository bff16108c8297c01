//! In: the runs of a page, and what each system of a study was played by.
//! Out: of a figure of a study the run, the directions and the size of an operation that stand behind
//! it, so that its chart draws the limits of this run. A file of its own: tables and curves ask alike.

use std::collections::BTreeSet;

use blocklab_compare::study::{Entry, Outcome};
use blocklab_findings::RowDirection;

use super::side::Side;

/// The runs of a study.
pub struct Played<'a> {
    /// All runs of the page.
    pub sides: &'a [Side<'a>],
    /// What they show.
    pub outcome: &'a Outcome,
}

impl Played<'_> {
    /// The place of the run that stood for a system.
    pub fn record(&self, system: &str) -> Option<usize> {
        let mut systems = self.outcome.systems.iter();
        let run = systems.find(|party| party.name == system)?.run.as_ref()?;
        self.sides.iter().position(|side| &side.record.id == run)
    }

    /// What moved in the case of a figure; of a sweep in all of its cases.
    fn moved(&self, entry: &Entry) -> Vec<&RowDirection> {
        let known = entry.case.as_ref().zip(self.record(&entry.system));
        let Some((case, record)) = known else {
            return Vec::new();
        };
        let rows = self.sides[record].assessment.rows.iter();
        let own = rows.filter(|row| {
            let rest = row.case.strip_prefix(case.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        own.flat_map(|row| &row.directions).collect()
    }

    /// `read` and `write`, as far as the figures are of them. Empty: it is not known.
    pub fn ways<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Vec<&'static str> {
        let moved = entries.flat_map(|entry| self.moved(entry));
        let ways: BTreeSet<_> = moved.map(|moved| moved.direction.name()).collect();
        ways.into_iter().collect()
    }

    /// The bytes of an operation, where all of the case are alike.
    pub fn size(&self, entry: &Entry) -> Option<f64> {
        let moved = self.moved(entry);
        let mut sizes = moved
            .iter()
            .filter(|moved| moved.iops.value > 0.0)
            .map(|moved| (moved.bytes_per_s.value / moved.iops.value).round());
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }
}
