//! `blocklab convert`: a job file of one tool in the language of another.

use std::path::Path;

use anyhow::{Result, bail};
use blocklab_fio as fio;
use blocklab_native as native;
use blocklab_workload::Plan;

use crate::args::{ConvertArgs, Language};
use blocklab_console::terminal;

/// Prints it, and says on standard error what was understood differently.
pub fn convert(args: &ConvertArgs) -> Result<()> {
    let ends_so = Path::new(&args.file)
        .extension()
        .is_some_and(|end| end == "fio");
    if args.from.is_none() && !ends_so {
        bail!(
            "{}: only job files of fio are converted; if this is one, --from fio says so",
            args.file
        );
    }
    let prepared = blocklab_tools::fio::prepared(&args.file)?;
    let text = match args.to {
        Language::Native => in_native(&prepared.plan)?,
        Language::Diskspd => fio::to_diskspd(&prepared)?,
        Language::Vdbench => fio::to_vdbench(&prepared)?,
    };
    for note in &prepared.notes {
        terminal::tell(&format!("note: {}: {}", note.subject, note.text));
    }
    terminal::print(text)
}

/// The text of a plan, if it has a key for all of it.
fn in_native(plan: &Plan) -> Result<String> {
    match native::left_out(plan).first() {
        None => Ok(native::render(plan)),
        Some((job, what)) => bail!("job {job}: the native format cannot say it: {what}"),
    }
}
