use blocklab_analysis::compare::Comparison;
use blocklab_analysis::gate::Gate;
use blocklab_record::Record;
use serde::Serialize;

use crate::{facts, versus};

/// Shape of what [`comparison`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 2;

#[derive(Serialize)]
struct View<'a> {
    comparison_format: u32,
    /// In the order given: `run` and `baseline` are places in this list.
    runs: Vec<RunView<'a>>,
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// `null` without `--fail-on`.
    gate: Option<&'a Gate>,
}

#[derive(Serialize)]
struct RunView<'a> {
    id: &'a str,
    name: &'a str,
    origin: &'static str,
    status: &'static str,
    /// How its passes become the figures of its side: `median`.
    aggregate: &'a str,
    subject: String,
    started_at: &'a str,
}

/// One JSON object, indented, with a newline at the end.
///
/// # Panics
/// Never: every field is representable in JSON.
#[must_use]
pub fn comparison(records: &[&Record], comparison: &Comparison, gate: Option<&Gate>) -> String {
    let view = View {
        comparison_format: FORMAT,
        runs: records.iter().map(|record| run(record)).collect(),
        comparison,
        gate,
    };
    let mut text = serde_json::to_string_pretty(&view).expect("views hold no exotic keys");
    text.push('\n');
    text
}

fn run(record: &Record) -> RunView<'_> {
    RunView {
        id: &record.id,
        name: &record.asked.name,
        origin: record.origin.name(),
        status: facts::status(record.status),
        aggregate: &record.asked.aggregate,
        subject: versus::subject(record),
        started_at: &record.started_at,
    }
}
