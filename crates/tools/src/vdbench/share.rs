//! In: parameter files as the launching machine read them, and which of their hosts this is. Out: the
//! run of this host: its own storage, with its part of the requested rates.

use std::collections::BTreeMap;
use std::io;

use anyhow::Result;
use blocklab_console::place;
use blocklab_record::Record;
use blocklab_runner::{Event, HostSetting, Missing, Observer, Questions, Request};
use blocklab_units::Nanos;
use blocklab_vdbench::{self as dialect, Inputs, ParameterFile, Prepared, Validation, prepare};
use blocklab_workload::{Case, Workload};
use serde::{Deserialize, Serialize};

use super::{leave_out_earlier_runs, luns};
use crate::hosts::Joined;
use crate::tool_run::{run_tool, tool_request};

/// What is sent to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Share {
    /// The command line.
    pub(super) arguments: Vec<String>,
    /// The texts of its files.
    pub(super) files: BTreeMap<String, String>,
    /// The index of this host among all.
    pub(super) host: usize,
    /// The seed from which those of all hosts are derived.
    pub(super) seed: u64,
}

/// Assumed size in bytes of another host's storage, which cannot be looked at.
const SUPPOSED: u64 = 1 << 40;

/// The sizes of all storage definitions: those of the parameters, or an assumed one.
pub(super) fn supposed(file: &ParameterFile) -> Vec<u64> {
    let sizes = file.sds.iter().map(|sd| sd.size);
    sizes
        .map(|size| if size > 0 { size } else { SUPPOSED })
        .collect()
}

/// Checks the storage of this host, asks whether all hosts may go on, and runs its part. `None`: a
/// host refused, or a signal came before the first measurement.
pub(crate) fn run(
    text: &str,
    host: &HostSetting<'_>,
    permitted: &mut dyn FnMut() -> bool,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    let share: Share = serde_json::from_str(text)?;
    let file = read(&share)?;
    let guard = place::guard(host.destroy_data, host.store).on_host(host.name);
    let found = luns::survey(&file, share.host, &guard)?;
    let mut sizes = supposed(&file);
    for lun in &found {
        sizes[lun.sd] = lun.size;
    }
    let inputs = Inputs {
        sizes,
        format: Vec::new(),
        // With one seed, hosts that share storage would all access the same offsets.
        seed: Workload::seed_of(share.seed, share.host as u64),
        validation: Validation::default(),
    };
    let prepared = prepare(&file, &inputs)?.of_host(share.host);
    luns::check_permitted(&prepared.plan, &guard)?;
    host.store.try_out()?;
    // Nothing is written on any host until all of them have passed their checks.
    if !permitted() {
        return Ok(None);
    }
    for lun in &found {
        if !luns::lay_out(&file.sds[lun.sd], lun, &guard, host.interrupted)? {
            return Ok(None);
        }
    }
    let request = Request {
        id: Some(host.run.to_owned()),
        ..tool_request(
            prepared.plan.clone(),
            prepared.notes.clone(),
            Missing::Scratch,
        )
    };
    let mut intervals = Intervals {
        prepared: &prepared,
        current: 0,
    };
    let mut both = Joined {
        tool: &mut intervals,
        fleet: observer,
    };
    run_tool(&request, &guard, host.interrupted, host.store, &mut both)
}

/// Parses the parameters from the texts that were sent; no file of this host is read.
fn read(share: &Share) -> Result<ParameterFile> {
    let command = dialect::command(&share.arguments)?;
    let mut file = dialect::parse(
        &command,
        &|path| {
            let known = share.files.get(&*path.to_string_lossy());
            known.cloned().ok_or(io::ErrorKind::NotFound.into())
        },
        // No address counts as local: which host is which was decided on the launching machine.
        &|_| false,
    )?;
    leave_out_earlier_runs(&mut file, &command)?;
    Ok(file)
}

/// The tool's observer on a host: it only gives the length of the intervals of the current run.
struct Intervals<'a> {
    prepared: &'a Prepared,
    /// Index of the current run.
    current: usize,
}

impl Questions for Intervals<'_> {
    fn interval_length(&self) -> Option<Nanos> {
        let run = &self.prepared.runs[self.current].run;
        Some(Nanos::from_secs(run.options.interval.max(1)))
    }

    fn adapt(&mut self, case: &mut Case, _: &Record) -> bool {
        let mut cases = self.prepared.plan.cases.iter();
        let found = cases.position(|planned| planned.name == case.name);
        self.current = found.unwrap_or(self.current);
        true
    }
}

impl Observer for Intervals<'_> {
    fn event(&mut self, _: Event<'_>) {}
}
