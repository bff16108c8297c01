//! `blocklab trace`: recorded loads, from files of any format to answers.

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

/// Carries a verb out.
pub fn run(args: &TraceArgs) -> Result<()> {
    match &args.command {
        TraceCommand::Import(args) => import::import(args),
        TraceCommand::Record(args) => record::record(args),
        TraceCommand::Show(args) => show::show(args),
        TraceCommand::Fit(args) => fit::fit(args),
        TraceCommand::Model(args) => model::model(args),
    }
}
