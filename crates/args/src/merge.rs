//! Arguments of `blocklab merge`.

use std::path::PathBuf;

use blocklab_compare::gate::LoadCondition;
use blocklab_results::Wanted;
use blocklab_results::output::Over;
use clap::{Args, ValueHint};

use super::run::run_name;
use super::{FormArgs, GateArgs};

const MERGE_EXAMPLES: &str = "\
Examples:
  blocklab run quick --target /data --start-at 2026-12-01T12:00:00Z   on every host, then
  blocklab export latest --format json -o $HOST.json                  ... on every host, and where they are collected
  blocklab import record h1.json h2.json h3.json
  blocklab merge k3f 012 9ab --name rack
  blocklab merge k3f 012 9ab c4d --name rack          later, with a host that was late
  blocklab show rack --format markdown

Every host leaves a run of its own. What is merged shows what all hosts did together: rates are \
added, percentiles come from the histograms of all operations, and a table shows each host, how far \
their starts and ends lie apart, and for how much of the time all of them were measured.";

/// `blocklab merge`.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES, after_long_help = format!("{}\n\n{MERGE_EXAMPLES}", super::RUNS))]
pub struct MergeArgs {
    /// The runs, one for each host
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub runs: Vec<String>,
    /// Name of the merged run; other commands accept it as RUN
    #[arg(long, value_name = "TEXT", value_parser = run_name)]
    pub name: Option<String>,
    /// How the result is printed
    #[command(flatten)]
    pub form: FormArgs,
    /// Write the HTML report to this file (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Let --html overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Do not keep the merged run
    #[arg(long)]
    pub no_save: bool,
    /// When the command fails
    #[command(flatten)]
    pub gate: GateArgs,
}

impl MergeArgs {
    /// Where and in which form the merged run is shown and kept, and by which conditions it is judged.
    pub fn wanted(&self, conditions: Vec<LoadCondition>) -> Wanted {
        Wanted {
            output: self.form.output(),
            in_lines: false,
            page: self.html.clone(),
            junit: self.gate.junit.clone(),
            over: Over::forced(self.force),
            is_kept: !self.no_save,
            is_quiet: true,
            conditions,
            is_strict: self.gate.strict,
        }
    }
}
