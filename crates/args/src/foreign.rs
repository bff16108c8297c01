//! Arguments of the commands that read files of other tools.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

const CONVERT_EXAMPLES: &str = "\
Examples:
  blocklab convert job.fio > study.toml
  blocklab convert jobs.ini --from fio
  ssh lab cat job.fio | blocklab convert - --from fio

If a setting has no equivalent, the command names it and prints nothing.";

/// `blocklab convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct ConvertArgs {
    /// The job file (`-`: standard input)
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    /// Input format (default: by the file's extension)
    #[arg(long, value_enum)]
    pub from: Option<Source>,
    /// Output format
    #[arg(long, value_enum, default_value = "native")]
    pub to: Language,
}

/// What can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// fio's job files
    Fio,
}

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// The native format: a study of blocklab
    Native,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  blocklab import diskspd result.txt result.xml   text of 2.0.21a or 2.2, or XML
  blocklab import fio result.json result.txt      JSON, json+, terse, or normal text
  blocklab import cdm report.txt                  reports of versions 3 to 9, and of KDiskMark
  blocklab import vdbench output/                 an output directory
  kubectl logs job/blocklab | blocklab import record -
  blocklab import fio old.json --name before      ... and then:
  blocklab compare before latest                  against a run of today

Each result becomes an ordinary run, to show, compare, diagnose, price and chart: several results \
in one file are several runs, and repeats of one load are passes of a run. Figures that the file \
does not contain stay empty. If one file is invalid, none is imported.";

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
    /// fio's JSON, terse or normal output, or the logs of a job (bw, iops, lat, clat)
    Fio,
    /// Vdbench's output directory
    Vdbench,
    /// Blocklab's own record, from `export --format json` or a log of `run --json-lines`
    Record,
}
