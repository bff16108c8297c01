//! Arguments of `blocklab import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

const IMPORT_EXAMPLES: &str = "\
Examples:
  blocklab import diskspd result.txt result.xml   text of 2.0.21a or 2.2, or XML
  blocklab import fio result.json                 JSON, json+, or terse
  blocklab import cdm report.txt                  reports of versions 3 to 9, and of KDiskMark
  blocklab import vdbench output/                 an output directory
  blocklab import fio old.json --name before      ... and then:
  blocklab compare before latest                  against a run of today

Each file becomes a run like any other: it can be shown, compared, diagnosed, priced and charted. \
What a text does not contain stays empty. If one file is invalid, none is imported.";

/// `blocklab import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// The tool that wrote the results
    #[arg(value_enum)]
    pub tool: ImportTool,
    /// Result files; for Vdbench, output directories (`-`: standard input)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Name of the runs; other commands accept it as RUN
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
