//! `blocklab merge`: the runs of several hosts as one.

use anyhow::{Result, anyhow};
use blocklab_console::chance;
use blocklab_record::{HostRun, Record, merge as together};
use blocklab_results::conclude_run;
use blocklab_store::Store;
use jiff::Timestamp;

use crate::chosen;
use crate::gate::{self, Asking};
use blocklab_args::MergeArgs;

/// Shows and keeps what the hosts measured together. The exit code.
pub fn merge(args: &MergeArgs, store: &Store) -> Result<u8> {
    let wanted = args.wanted(gate::asked(&args.gate, Asking::Run)?);
    wanted.try_out(store)?;
    let runs = args
        .runs
        .iter()
        .map(|run| chosen::record_unchanged(run, store).map(HostRun::unnamed));
    let runs: Vec<HostRun> = runs.collect::<Result<_>>()?;
    let merged =
        together(&runs, &[]).map_err(|error| anyhow!("cannot merge these runs: {error}"))?;
    let mut record = Record {
        id: store.new_id(Timestamp::now(), chance()?),
        ..merged
    };
    if let Some(name) = &args.name {
        record.requested.name.clone_from(name);
    }
    conclude_run(&mut record, &wanted, store)
}
