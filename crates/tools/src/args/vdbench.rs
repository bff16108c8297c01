//! Arguments of `blocklab vdbench`: Vdbench's own, which its dialect reads.

use clap::Args;

const VDBENCH_EXAMPLES: &str = "\
Examples:
  blocklab vdbench -f parmfile -o output
  blocklab vdbench -f parmfile -s                          what would be run
  blocklab vdbench -f parmfile lun=/data/f size=4g         for $lun and $size in the file
  blocklab vdbench -f parmfile -o out+ + iorate=curve,elapsed=60
  blocklab vdbench -t                                      a test of five seconds
  blocklab vdbench -h                                      every option

A link to blocklab that is called `vdbench` needs no first word.";

/// `blocklab vdbench`.
#[derive(Debug, Args)]
#[command(after_help = VDBENCH_EXAMPLES, disable_help_flag = true)]
pub struct VdbenchArgs {
    /// Options of Vdbench 5.04.07
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub args: Vec<String>,
}
