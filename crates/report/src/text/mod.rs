//! A Record and its Assessment as text for a terminal.

mod calibration;
mod comparison;
mod curves;
mod diagnosis;
mod findings;
mod gate;
mod grid;
mod header;
mod model;
mod price;
mod rows;
mod study;

use blocklab_analysis::Assessment;
use blocklab_record::Record;
use blocklab_units::Style;

pub use calibration::calibration;
pub use comparison::comparison;
pub use curves::curves;
pub use diagnosis::diagnosis;
pub use findings::findings;
pub use gate::gate;
pub use grid::{aligned, indented, lines};
pub use model::model;
pub use price::prices;
pub use rows::table;
pub use study::study;

/// What a person wants to see at the end of a run: what was measured, the table, the findings in
/// brief, the notes, the errors; of a modelled device its limits and what is assumed. Ends with a
/// newline. [`findings`] and [`model`](fn@model) tell the rest.
#[must_use]
pub fn summary(record: &Record, assessment: &Assessment, style: Style) -> String {
    let parts = [
        header::header(record, style),
        table(record, assessment, style),
        curves(record),
        model::brief(record, style),
        findings::brief(record, assessment, style),
        findings::notes(record, style),
        findings::errors(record, style),
    ];
    joined(parts)
}

/// Parts with an empty line between them; those that are empty are left out.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}
