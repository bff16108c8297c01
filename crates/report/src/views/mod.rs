//! In: Records with their findings, comparisons, diagnoses, studies, histories, traces, an advice,
//! the data sheet of an address, machines and offers of the catalog.
//! Out: a Document for each, which prints in every form that people read.

mod advice;
mod against;
mod arrivals;
mod comparison;
mod diagnosis;
mod findings;
mod fleet;
mod gate;
mod header;
mod history;
mod machines;
mod model;
mod offers;
mod rates;
mod rows;
mod scaling;
mod sheet;
mod study;
mod trace;

use blocklab_findings::Assessment;
use blocklab_record::Record;

use crate::document::{Document, Part};
use crate::words::answer;
use crate::words::facts;

pub use advice::{advice, advice_verdict, money};
pub use against::against_history;
pub use arrivals::{
    LoadAndVolumes, Passing, arrivals, length as window_length, shown as shown_rate,
};
pub use comparison::comparison;
pub use diagnosis::diagnosis;
pub use findings::findings;
pub use fleet::fleet;
pub use gate::gate;
pub use history::history;
pub use machines::machines;
pub use model::model;
pub use offers::offers;
pub use rates::rates;
pub use rows::table;
pub use scaling::scaling;
pub use sheet::sheet;
pub use study::{curves, study};
pub use trace::{moment, trace};

/// The summary at the end of a run: what was measured, the limits and assumptions of a modelled
/// device, notes, errors, findings in brief, and the table. The table comes last, where a terminal
/// of 24 lines still shows it. [`evidence`] has the rest. `store`: what a command that shows the run needs
/// in addition, such as ` --store DIR`; `None`: the run is not stored.
pub fn summary(record: &Record, assessment: &Assessment, store: Option<&str>) -> Document {
    let mut parts = header::header(record);
    // The header says how an unfinished run ended, and the table says if nothing was measured: the
    // answer would repeat them.
    if facts::ending(record).is_none() && !assessment.rows.is_empty() {
        let answer = header::answered(&answer::run(record, assessment));
        parts.push(Part::Entries(vec![answer]));
    }
    parts.extend(curves(record));
    parts.extend(model::brief(record));
    parts.push(findings::notes(record));
    parts.push(findings::errors(record));
    parts.push(findings::brief(record, assessment, store));
    parts.extend(fleet(record, assessment));
    parts.extend(table(record, assessment));
    Document {
        name: record.requested.name.clone(),
        parts,
    }
}

/// The findings with all evidence, and what a modelled device rests on.
pub fn evidence(record: &Record, assessment: &Assessment) -> Document {
    let mut parts = vec![findings(assessment)];
    if assessment.findings.is_empty() {
        parts.push(Part::Prose("no findings".to_owned()));
    }
    parts.extend(model(record));
    Document {
        name: format!("Findings of {}", record.id),
        parts,
    }
}
