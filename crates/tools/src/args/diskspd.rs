//! Arguments of `blocklab diskspd`: DiskSpd's own, which its dialect reads.

use clap::Args;

const DISKSPD_EXAMPLES: &str = "\
Examples:
  blocklab diskspd -b4K -d30 -o4 -t4 -Sh -r -w50 -L -c1G io.dat
  blocklab diskspd --map 'E:\\=/data/' -b64K -d30 -o2 -t1 -Sh -r -w50 -L -Z1G -c20G 'E:\\dummy.dat'
  blocklab diskspd -b64K -r -o32 -d60 -L sim:gp3:1TiB@r5d.xlarge
  blocklab diskspd -Rxml -b8K -r -d10 -L io.dat > result.xml
  blocklab diskspd -?                                every option, and what is done with it

A link to blocklab that is called `diskspd` needs no first word. Exit status: as of all commands, \
but 3 for a mistake in the command line.";

/// `blocklab diskspd`.
#[derive(Debug, Args)]
#[command(after_help = DISKSPD_EXAMPLES, disable_help_flag = true)]
pub struct DiskspdArgs {
    /// Options of DiskSpd 2.2, then targets
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub args: Vec<String>,
}
