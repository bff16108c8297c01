//! Prints a view in the requested format.

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

/// One indented JSON object with a newline at the end. Its first field is the name of the format with
/// its version, which changes when the meaning of a field does, and not when one is added.
pub fn json(form: (&'static str, u32), fields: &impl Serialize) -> Result<String> {
    let whole = Envelope {
        form: BTreeMap::from([form]),
        fields,
    };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The fields of a format that has only one.
pub fn only<'a, T>(key: &'static str, value: &'a T) -> BTreeMap<&'static str, &'a T> {
    BTreeMap::from([(key, value)])
}

/// Prints a view as JSON fields or as a document, as the options request.
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
