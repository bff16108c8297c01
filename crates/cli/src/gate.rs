//! In: `--fail-on` and `--gates`. Out: the conditions on the runs of a command, each of which it can
//! answer.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use blocklab_compare::gate::{Condition, Gate, LoadCondition, Loads, conditions_in};
use blocklab_host::{LARGEST_SCRIPT, read_input};
use blocklab_record::Record;
use blocklab_report::junit::Answered;
use blocklab_results::gate;
use blocklab_results::output::Over;

use blocklab_args::GateArgs;

/// The command that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateCommand {
    /// `blocklab run`.
    Run,
    /// `blocklab compare`.
    Compare,
    /// `blocklab diagnose`, with something that was expected.
    DiagnoseExpected,
    /// The same without.
    Diagnose,
}

impl GateCommand {
    /// What would answer a condition that this command cannot answer.
    fn refused(self, condition: Condition) -> Option<&'static str> {
        match (condition, self) {
            (Condition::Warning | Condition::Beyond(_), _)
            | (Condition::Slower { .. }, Self::Compare)
            | (Condition::Missed, Self::DiagnoseExpected) => None,
            (Condition::Slower { .. }, _) => {
                Some("`blocklab compare RUN RUN --fail-on slower` compares two runs")
            }
            (Condition::Missed, Self::Diagnose) => {
                Some("add --expect ADDRESS: without it no limit is known")
            }
            (Condition::Missed, _) => Some(
                "`blocklab diagnose RUN --expect ADDRESS --fail-on missed` looks for missed limits",
            ),
        }
    }
}

/// All conditions, in the order of the command line, then of the file.
pub fn conditions(args: &GateArgs, command: GateCommand) -> Result<Vec<LoadCondition>> {
    let mut conditions: Vec<LoadCondition> = args
        .fail_on
        .iter()
        .map(|one| LoadCondition::from(*one))
        .collect();
    if let Some(path) = &args.gates {
        conditions.extend(read(path)?);
    }
    if args.strict && conditions.is_empty() {
        bail!("--strict is about a condition: add --fail-on CONDITION or --gates FILE");
    }
    if args.junit.is_some() && conditions.is_empty() {
        bail!("--junit writes answers to conditions: add --fail-on CONDITION or --gates FILE");
    }
    for one in &conditions {
        if let Some(way_out) = command.refused(one.condition) {
            bail!("`{}` cannot be answered here: {way_out}", one.condition);
        }
        if one.condition == Condition::Missed && one.loads != Loads::default() {
            bail!("`missed` is about limits and not about loads: ask it outside of a [[gate]]");
        }
        if one.condition == Condition::Warning && one.loads.direction.is_some() {
            bail!("`warning` is about all that a load does: ask it without a direction");
        }
    }
    Ok(conditions)
}

/// Writes the answers about these runs where `--junit` wants them, and gives the exit code.
pub fn conclude(
    args: &GateArgs,
    runs: Vec<&Record>,
    gate: Option<&Gate>,
    over: Over,
) -> Result<ExitCode> {
    if let Some(gate) = gate {
        gate::write(args.junit.as_deref(), &[Answered { runs, gate }], over)?;
    }
    Ok(gate::status(gate, args.strict).into())
}

/// The conditions in a TOML file of gates.
fn read(path: &Path) -> Result<Vec<LoadCondition>> {
    let wrong = |why: String| anyhow!("cannot use the gates in {}: {why}", path.display());
    let bytes = read_input(path, LARGEST_SCRIPT).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| wrong("it is no text in UTF-8: save it as UTF-8".to_owned()))?;
    conditions_in(&text).map_err(wrong)
}
