//! A view in the form that the user asks for.

use std::collections::BTreeMap;

use anyhow::Result;
use blocklab_console::terminal;
use blocklab_report::document::Document;
use serde::Serialize;

use blocklab_args::FormArgs;

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

/// Prints a view: as the fields that programs read, or as its document.
pub fn print(
    how: FormArgs,
    form: (&'static str, u32),
    fields: &impl Serialize,
    document: impl FnOnce() -> Document,
) -> Result<()> {
    terminal::print_styled(match how.form(terminal::style()) {
        None => json(form, fields)?,
        Some(form) => document().print(form),
    })
}
