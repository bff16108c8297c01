//! Arguments of `blocklab convert`.

use clap::{Args, ValueEnum, ValueHint};

const CONVERT_EXAMPLES: &str = "\
Examples:
  blocklab convert job.fio --to native > study.toml
  blocklab convert job.fio --to diskspd
  blocklab convert job.fio --to vdbench > parmfile
  blocklab convert jobs.ini --from fio --to native
  ssh lab cat job.fio | blocklab convert - --from fio --to diskspd

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
    #[arg(long, value_enum)]
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
    /// A DiskSpd command line for each stage of the job file
    Diskspd,
    /// A parameter file of Vdbench
    Vdbench,
}
