//! Arguments of `blocklab import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

const IMPORT_EXAMPLES: &str = "\
Examples:
  blocklab import diskspd result.txt result.xml   text of 2.0.21a or 2.2, or XML
  blocklab import fio result.json                 JSON, json+, or terse
  blocklab import cdm report.txt                  the report of versions 5 to 9
  blocklab import vdbench output/                 an output directory
  blocklab import fio old.json --name before      ... and then:
  blocklab compare before latest                  against a run of today

Each file becomes a run like any other: it can be shown, compared, diagnosed, priced and charted. \
What a text does not tell is not made up. When one file is wrong, none is kept.";

/// `blocklab import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// Whose results
    #[arg(value_enum)]
    pub tool: ImportTool,
    /// Their files; of Vdbench, output directories (`-`: standard input)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// A name for the runs: other commands find them by it
    #[arg(long, value_name = "TEXT", value_parser = super::run_name)]
    pub name: Option<String>,
    /// Print the runs' ids as JSON
    #[arg(long)]
    pub json: bool,
}

/// Whose results are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportTool {
    /// DiskSpd's text or XML
    Diskspd,
    /// CrystalDiskMark's report
    Cdm,
    /// fio's JSON or terse output
    Fio,
    /// Vdbench's output directory
    Vdbench,
}
