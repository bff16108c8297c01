//! Prints a view in the requested format.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use blocklab_console::terminal;
use blocklab_report::document::Document;
use serde::Serialize;

use blocklab_args::{FormArgs, Output};

#[derive(Serialize)]
struct Envelope<'a, T> {
    #[serde(flatten)]
    format: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    fields: &'a T,
}

/// The name of a JSON format and its version, which changes when the meaning of a field does, and
/// not when one is added.
pub struct JsonFormat(pub &'static str, pub u32);

/// One indented JSON object with a newline at the end. Its first field is the format's.
pub fn json(format: JsonFormat, fields: &impl Serialize) -> Result<String> {
    let whole = Envelope {
        format: BTreeMap::from([(format.0, format.1)]),
        fields,
    };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The fields of a format that has only one.
pub fn one_field<'a, T>(key: &'static str, value: &'a T) -> BTreeMap<&'static str, &'a T> {
    BTreeMap::from([(key, value)])
}

/// Prints a view as JSON fields or as a document, as the options request.
pub fn print(
    form: FormArgs,
    format: JsonFormat,
    fields: &impl Serialize,
    document: impl FnOnce() -> Document,
) -> Result<()> {
    terminal::print_styled(match form.output() {
        Output::Json => json(format, fields)?,
        Output::Document(form) => document().print(form),
    })
}

/// Refuses a page and JSON that would both go to standard output, one after the other.
pub fn check_streams(html: Option<&Path>, form: FormArgs) -> Result<()> {
    if html == Some(Path::new("-")) && form.output() == Output::Json {
        bail!("--html - and JSON would both go to standard output: name a file for the page");
    }
    Ok(())
}
