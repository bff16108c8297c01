//! `blocklab trace show`: what a recorded load is like.

use anyhow::{Result, bail};
use blocklab_report::views;
use blocklab_trace::Source;
use blocklab_trace::character::{Character, characterize};
use serde::Serialize;

use super::{opened, rates};
use crate::answer;
use blocklab_args::TraceShowArgs;

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    /// RFC 3339; `null` where the format does not say.
    began_at: Option<String>,
    #[serde(flatten)]
    character: &'a Character,
}

/// Reads the trace once, and prints its character.
pub fn show(args: &TraceShowArgs) -> Result<()> {
    if let Some(table) = rates::table(&args.files, &args.read)? {
        return rates::show(&args.files, &table, args.form);
    }
    let mut opened = opened::open(&args.files, &args.read, false)?;
    let character = characterize(&mut opened.source, !args.no_reuse);
    let character = character.map_err(|error| opened.named(error))?;
    if character.operations == 0 {
        bail!("{}: no operations in it", opened.name);
    }
    let begins = opened.source.begins();
    let shown = Shown {
        name: &opened.name,
        began_at: begins.and_then(opened::rfc_3339),
        character: &character,
    };
    answer::print(args.form, ("trace_format", 1), &shown, || {
        views::trace(&opened.name, &character, begins)
    })
}
