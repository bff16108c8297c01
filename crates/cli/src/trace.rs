//! `blocklab trace`: reads recorded loads of any format, and calls the subcommand.

pub mod fit;
mod import;
mod model;
mod opened;
mod rates;
mod record;
pub mod replay;
mod show;

use anyhow::Result;

use blocklab_args::{TraceArgs, TraceCommand};

/// Runs the subcommand.
pub fn run(args: &TraceArgs) -> Result<()> {
    match &args.command {
        TraceCommand::Import(args) => import::import(args),
        TraceCommand::Record(args) => record::record(args),
        TraceCommand::Show(args) => show::show(args),
        TraceCommand::Fit(args) => fit::fit(args),
        TraceCommand::Model(args) => model::model(args),
    }
}
