//! What a run prints, and the answer to `--fail-on`.

use std::path::Path;

use anyhow::Result;
use blocklab_analysis::gate::{Gate, warning};
use blocklab_analysis::{Assessment, Finding};
use blocklab_console::terminal;
use blocklab_record::Record;

use crate::args::RunArgs;
use crate::gate;

/// What `--fail-on warning` says of these runs.
pub fn gate_of(args: &RunArgs, runs: &[(&Record, &Assessment)]) -> Option<Gate> {
    let runs = runs.iter().map(|(record, it)| (*record, &it.findings[..]));
    let runs: Vec<(&Record, &[Finding])> = runs.collect();
    Gate::new(args.fail_on.iter().map(|_| warning(&runs)).collect())
}

/// The answer to `--fail-on`, last; JSON holds it already.
pub fn judged(args: &RunArgs, gate: Option<&Gate>) -> Result<()> {
    if goes_to_output(args) {
        gate::aside(gate);
    }
    match is_for_people(args) {
        true => terminal::print_styled(gate::words(gate)),
        false => Ok(()),
    }
}

/// Prints the page where it goes to standard output, else the result.
pub fn print(args: &RunArgs, page: &str, result: impl FnOnce() -> String) -> Result<()> {
    if goes_to_output(args) {
        terminal::print_data(page)?;
    }
    match args.json || !goes_to_output(args) {
        true => terminal::print_styled(result()),
        false => Ok(()),
    }
}

/// Whether the page goes to standard output.
pub fn goes_to_output(args: &RunArgs) -> bool {
    args.html.as_deref() == Some(Path::new("-"))
}

/// Whether words about what is kept follow the result.
pub fn is_for_people(args: &RunArgs) -> bool {
    !args.json && !goes_to_output(args)
}
