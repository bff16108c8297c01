use blocklab_analysis::gate::Gate;
use blocklab_analysis::study::Outcome;
use serde::Serialize;

/// Shape of what [`study`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct View<'a> {
    study_format: u32,
    name: &'a str,
    description: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
    /// `null` without `--fail-on`.
    gate: Option<&'a Gate>,
}

/// A repeated study as one JSON object, indented, with a newline at the end.
///
/// # Panics
/// Never: every field is representable in JSON.
#[must_use]
pub fn study(name: &str, description: &str, outcome: &Outcome, gate: Option<&Gate>) -> String {
    let view = View {
        study_format: FORMAT,
        name,
        description,
        outcome,
        gate,
    };
    let mut text = serde_json::to_string_pretty(&view).expect("views hold no exotic keys");
    text.push('\n');
    text
}
