//! Arguments of `blocklab fio`: fio's own, which its dialect reads.

use clap::Args;

const FIO_EXAMPLES: &str = "\
Examples:
  blocklab fio job.fio
  blocklab fio --name=a --rw=randread --bs=4k --size=1g --iodepth=32 --ioengine=libaio
  blocklab fio --name=a --rw=read --size=1g --output-format=json --output=result.json
  blocklab fio --name=a --rw=randread --iodepth=16 --ioengine=libaio --runtime=60 --time_based \\
      --filename=sim:gp3:1TiB@r5d.xlarge
  blocklab fio --cmdhelp=bs                      an option, and what is done with it

A link to blocklab that is called `fio` needs no first word. Exit status: as fio's: 0 done, 1 a \
mistake or a failed job, 128 interrupted; 2 when the store for runs cannot be written to.";

/// `blocklab fio`.
#[derive(Debug, Args)]
#[command(after_help = FIO_EXAMPLES, disable_help_flag = true, disable_version_flag = true)]
pub struct FioArgs {
    /// Options and job files of fio 3.33
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub args: Vec<String>,
}
