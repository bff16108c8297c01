//! JSON with its form.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<'a, T> {
    #[serde(flatten)]
    form: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    fields: &'a T,
}

/// One JSON object, indented, with a newline at the end. Its first field names the form and gives
/// its number: fields are added without a new one, a change of meaning needs one.
pub fn json(form: (&'static str, u32), fields: &impl Serialize) -> Result<String> {
    let whole = Envelope {
        form: BTreeMap::from([form]),
        fields,
    };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The fields of a form that has one.
pub fn only<'a, T>(key: &'static str, value: &'a T) -> BTreeMap<&'static str, &'a T> {
    BTreeMap::from([(key, value)])
}
