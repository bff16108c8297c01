use std::path::PathBuf;

use clap::{Args, ValueHint};

const EXAMPLES: &str = "\
Examples:
  blocklab run calibrate --target /data            measure what a model needs: five minutes
  blocklab calibrate latest -o my-device.toml      ... and make it
  blocklab run quick --target sim:./my-device.toml ... and use it
  blocklab calibrate k3f 012                       from two runs of one disk, to look at
  blocklab calibrate latest --json | jq '.residuals.iops'

Latency and its spread come from depth 1, maxima from deep queues. Each load is then simulated on \
the new device, and its error is shown.";

/// `blocklab calibrate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n\n{EXAMPLES}", super::RUNS))]
pub struct CalibrateArgs {
    /// Runs of one disk: a sweep over block size, depth and direction
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where to write the device (default: only show it)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that blocklab did not write (never a device)
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Accept simulated and emulated runs too
    #[arg(long)]
    pub allow_simulated: bool,
    /// Print the device and the error of every load as JSON
    #[arg(long)]
    pub json: bool,
}
