//! In: the runs of a page, and which of them is the run of each system of a study.
//! Out: for a figure of the study, its run, the directions that moved and the size of an operation,
//! so that a chart can draw the limits of that run.

use std::collections::BTreeSet;

use blocklab_compare::study::{Entry, Outcome};
use blocklab_findings::RowDirection;
use blocklab_workload::is_case_of;

use super::side::Side;

/// The runs of a study.
pub struct StudyRuns<'a> {
    /// All runs of the page.
    pub sides: &'a [Side<'a>],
    /// The study that they are runs of.
    pub outcome: &'a Outcome,
}

impl StudyRuns<'_> {
    /// Index of the run of a system.
    pub fn record(&self, system: &str) -> Option<usize> {
        let mut systems = self.outcome.systems.iter();
        let run = systems.find(|known| known.name == system)?.run.as_ref()?;
        self.sides.iter().position(|side| &side.record.id == run)
    }

    /// The directions of the case that a figure is of; for a figure of a sweep, those of all its
    /// cases.
    fn directions_of(&self, entry: &Entry) -> Vec<&RowDirection> {
        let known = entry.case.as_ref().zip(self.record(&entry.system));
        let Some((case, record)) = known else {
            return Vec::new();
        };
        let rows = self.sides[record].assessment.rows.iter();
        let own = rows.filter(|row| is_case_of(&row.case, case));
        own.flat_map(|row| &row.directions).collect()
    }

    /// Names of the directions that the figures are of; empty if they are not known.
    pub fn directions<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Vec<&'static str> {
        let moved = entries.flat_map(|entry| self.directions_of(entry));
        let names: BTreeSet<_> = moved.map(|moved| moved.direction.name()).collect();
        names.into_iter().collect()
    }

    /// Bytes of an operation; `None` if they differ within the case.
    pub fn size(&self, entry: &Entry) -> Option<f64> {
        let moved = self.directions_of(entry);
        let mut sizes = moved
            .iter()
            .filter(|moved| moved.iops.value > 0.0)
            .map(|moved| (moved.bytes_per_s.value / moved.iops.value).round());
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }
}
