//! In: a load of another tool for several hosts. Out: the run of each host, stored and merged.
//!
//! It connects two crates that do not know each other: `tools` has the loads, `fleet` starts hosts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use anyhow::Result;
use blocklab_console::{chance, listen, terminal};
use blocklab_fleet::{FleetPlan, ForeignLoad, Launcher, Launching, Line, Load, Outcome, program};
use blocklab_record::{Record, Status, merge, merge_parts};
use blocklab_results::keep;
use blocklab_store::Store;
use blocklab_tools::hosts::{HostEvent, HostsEnd, HostsLoad, ManyHosts};
use blocklab_units::Nanos;
use jiff::Timestamp;

use super::hosts::Hosts;
use super::keep_hosts;

/// Longest time for opening and laying out targets.
const PREPARE_WITHIN: Nanos = Nanos::from_secs(3600);

/// Starts the loads of other tools with `mpirun`, like those of `fleet run`.
#[derive(Debug)]
pub struct ToolFleet<'a> {
    /// The store of this machine.
    pub store: &'a Store,
    /// The store that the user named, for all hosts.
    pub given: Option<PathBuf>,
}

impl ManyHosts for ToolFleet<'_> {
    fn run(&self, load: &HostsLoad, observe: &mut dyn FnMut(usize, HostEvent)) -> Result<HostsEnd> {
        let names: Vec<String> = load.shares.iter().map(|share| share.host.clone()).collect();
        let mut hosts = Hosts::of_tool(&names, &load.destroy_data, self.given.clone())?;
        let program = program();
        let interrupted = listen()?;
        hosts.leave_out_failing(&program, None)?;
        let launching = Launching {
            launcher: Launcher::Mpirun,
            program,
            is_shown: !load.is_quiet,
            interrupted: &interrupted,
        };
        let places: BTreeMap<&str, usize> =
            hosts.names.iter().map(String::as_str).zip(0..).collect();
        let plan = self.plan(load, &hosts)?;
        let outcome = launching.run(&plan, &mut |line| forward(&places, line, observe))?;
        let mut is_kept = true;
        if load.is_kept {
            keep_hosts(&outcome, self.store);
            is_kept = self.keep_merged(&outcome, load)?;
        }
        Ok(hosts_end(
            &hosts.names,
            outcome,
            interrupted.load(Ordering::Relaxed),
            is_kept,
        ))
    }
}

impl ToolFleet<'_> {
    /// The task of each host: its share of the load, in the language of the tool.
    fn plan(&self, load: &HostsLoad, hosts: &Hosts) -> Result<FleetPlan> {
        let mut tasks = hosts.tasks(&hosts.names, self.store)?;
        for (task, share) in tasks.iter_mut().zip(&load.shares) {
            task.foreign = Some(ForeignLoad {
                tool: load.tool.to_owned(),
                text: share.text.clone(),
                is_followed: load.is_followed,
            });
        }
        let common = Load {
            plan: load.plan.clone(),
            notes: Vec::new(),
            may_replace_engine: true,
            creates_targets: false,
        };
        Ok(FleetPlan::new(common, tasks, PREPARE_WITHIN))
    }

    /// Stores the merged run of two or more hosts whose loads can be merged; false, if storing fails.
    fn keep_merged(&self, outcome: &Outcome, load: &HostsLoad) -> Result<bool> {
        if outcome.runs.len() + outcome.lost.len() < 2 || outcome.runs.is_empty() {
            return Ok(true);
        }
        let merged = if load.is_parted {
            merge_parts(&outcome.runs, &outcome.lost)
        } else {
            merge(&outcome.runs, &outcome.lost)
        };
        let mut record = match merged {
            Ok(record) => record,
            Err(error) => {
                terminal::inform(&format!(
                    "note: the run of each host is kept by itself: {error}"
                ));
                return Ok(true);
            }
        };
        if outcome.is_incomplete {
            record.status = Status::Incomplete;
        }
        record.id = self.store.new_id(Timestamp::now(), chance()?);
        Ok(keep(&mut record, self.store))
    }
}

/// Passes a message of a host on to the tool, with the index of the host.
fn forward(places: &BTreeMap<&str, usize>, line: &Line, observe: &mut dyn FnMut(usize, HostEvent)) {
    let (host, event) = match line {
        Line::Begins { host, .. } => (host, HostEvent::Begins),
        Line::Slice { host, interval } => (host, HostEvent::Slice(interval.clone())),
        Line::Measured { host, measurement } => (host, HostEvent::Measured(measurement.clone())),
        _ => return,
    };
    if let Some(place) = places.get(host.as_str()) {
        observe(*place, event);
    }
}

/// How each host has ended, in the order of the shares. `is_kept`: whether every run that was to be
/// stored is.
fn hosts_end(names: &[String], outcome: Outcome, is_interrupted: bool, is_kept: bool) -> HostsEnd {
    let mut ends: BTreeMap<String, Result<Box<Record>, String>> = BTreeMap::new();
    for run in outcome.runs {
        let name = run.name.unwrap_or_default();
        ends.insert(name, Ok(Box::new(run.record)));
    }
    let is_refused = !outcome.refused.is_empty();
    for gone in outcome.lost.into_iter().chain(outcome.refused) {
        ends.insert(gone.name, Err(gone.why));
    }
    let silent = if is_refused {
        "nothing was started: another host refused"
    } else {
        "it told nothing"
    };
    HostsEnd {
        ends: names
            .iter()
            .map(|name| ends.remove(name).unwrap_or_else(|| Err(silent.to_owned())))
            .collect(),
        is_refused,
        is_incomplete: outcome.is_incomplete,
        is_interrupted,
        is_kept,
    }
}
