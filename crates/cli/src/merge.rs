//! `blocklab merge`: the runs of several hosts as one.

use anyhow::{Result, anyhow};
use blocklab_console::chance;
use blocklab_console::status::{INCOMPLETE, INTERRUPTED};
use blocklab_record::{HostRun, Record, merge as merge_records};
use blocklab_results::conclude_run;
use blocklab_store::Store;
use jiff::Timestamp;

use crate::answer::check_streams;
use crate::chosen;
use crate::gate::{self, GateCommand};
use blocklab_args::MergeArgs;

/// Merges the runs, keeps the merged one, and shows it. Returns the exit code.
pub fn merge(args: &MergeArgs, store: &Store) -> Result<u8> {
    check_streams(args.html.as_deref(), args.form)?;
    let wanted = args.wanted(gate::conditions(&args.gate, GateCommand::Run)?);
    // An output that cannot be written is an error before the runs are read.
    wanted.try_out(store)?;
    let runs = args
        .runs
        .iter()
        // Unchanged: what is stored again must not have lost characters that only a terminal minds.
        .map(|run| chosen::record_unchanged(run, store).map(HostRun::unnamed));
    let runs: Vec<HostRun> = runs.collect::<Result<_>>()?;
    let merged =
        merge_records(&runs, &[]).map_err(|error| anyhow!("cannot merge these runs: {error}"))?;
    let mut record = Record {
        id: store.new_id(Timestamp::now(), chance()?),
        ..merged
    };
    if let Some(name) = &args.name {
        record.requested.name.clone_from(name);
    }
    Ok(match conclude_run(&mut record, &wanted, store)? {
        // The run of a host was interrupted, and not this command.
        INTERRUPTED => INCOMPLETE,
        status => status,
    })
}
