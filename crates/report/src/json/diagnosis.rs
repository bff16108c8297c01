use blocklab_analysis::Finding;
use blocklab_analysis::expect::{Compared, Diagnosis};
use blocklab_analysis::gate::Gate;
use blocklab_record::Record;
use serde::Serialize;

use crate::facts;

/// Shape of what [`diagnosis`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct View<'a> {
    diagnosis_format: u32,
    id: &'a str,
    name: &'a str,
    origin: &'static str,
    status: &'static str,
    /// How it stands to what was bought; `null` without an address.
    expected: Option<&'a Compared>,
    /// Gravest first.
    findings: &'a [Finding],
    /// `null` without `--fail-on`.
    gate: Option<&'a Gate>,
}

/// One JSON object, indented, with a newline at the end.
///
/// # Panics
/// Never: every field is representable in JSON.
#[must_use]
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis, gate: Option<&Gate>) -> String {
    let view = View {
        diagnosis_format: FORMAT,
        id: &record.id,
        name: &record.asked.name,
        origin: record.origin.name(),
        status: facts::status(record.status),
        expected: diagnosis.expected.as_ref(),
        findings: &diagnosis.assessment.findings,
        gate,
    };
    let mut text = serde_json::to_string_pretty(&view).expect("views hold no exotic keys");
    text.push('\n');
    text
}
