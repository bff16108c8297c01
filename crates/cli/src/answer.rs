//! Prints a view in the requested format.

use std::path::Path;

use anyhow::{Result, bail};
use blocklab_console::terminal;
use blocklab_report::document::Document;
use serde::Serialize;

use blocklab_args::{FormArgs, Output};

/// One indented JSON object with a newline at the end. Its first field is the number of its format, which
/// grows when a field changes its meaning, and not when one is added.
pub fn json(fields: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(fields)? + "\n")
}

/// Prints a view as JSON fields or as a document, as the options request.
pub fn print(
    form: FormArgs,
    fields: &impl Serialize,
    document: impl FnOnce() -> Document,
) -> Result<()> {
    terminal::print_styled(match form.output() {
        Output::Json => json(fields)?,
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
