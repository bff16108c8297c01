//! In: the jobs of one host of `--client`, as the launching machine read them. Out: their run on this
//! host.

use anyhow::{Result, anyhow};
use blocklab_console::place;
use blocklab_fio as dialect;
use blocklab_record::Record;
use blocklab_results::View;
use blocklab_runner::{HostSetting, Observer};
use serde::{Deserialize, Serialize};

use super::environment::{self, Presence, Texts};
use super::watch::Watcher;
use super::{artifacts, files, name, run_plan, sections};
use crate::hosts::Joined;

/// What is sent to a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Share {
    /// Jobs and job files, as arguments of a command line.
    pub(super) arguments: Vec<String>,
    /// The texts of these files, and the environment variables in them.
    pub(super) texts: Texts,
}

/// Checks everything on this host, asks whether all hosts may go on, and runs the jobs as `blocklab
/// fio` would. `None`: a host refused, or a signal came before the first measurement.
pub(crate) fn run(
    text: &str,
    host: &HostSetting<'_>,
    permitted: &mut dyn FnMut() -> bool,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    let mut share: Share = serde_json::from_str(text)?;
    let command = dialect::parse_command(&share.arguments)?;
    let general = &command.general;
    let sections = sections(&command.inputs, &mut share.texts)?;
    let resolved = dialect::resolve(&sections, &general.sections)?;
    let name = name(&command.inputs);
    let (aux, client) = (general.aux_path.as_deref(), Some(host.name));
    let prepare = || environment::prepare(&resolved, &name, aux, client, Presence::Looked);
    let mut prepared = prepare()?.whole()?;
    if prepared.plan.cases.is_empty() {
        return Err(anyhow!("No job(s) defined"));
    }
    if general.read_only {
        files::refuse_changes(&prepared)?;
    }
    artifacts::try_out(&prepared)?;
    let guard = place::guard(host.destroy_data, host.store).on_host(host.name);
    files::check_devices(&prepared, &guard)?;
    host.store.try_out()?;
    // Nothing is written on any host until all of them have passed their checks.
    if !permitted() || !files::make(&mut prepared, host.interrupted, &guard)? {
        return Ok(None);
    }
    let mut watcher = Watcher::for_other_report(&prepared, None, View::progress(false));
    watcher.replan = Some(&prepare);
    let mut both = Joined {
        tool: &mut watcher,
        fleet: observer,
    };
    let id = Some(host.run.to_owned());
    let record = run_plan(
        &prepared,
        &guard,
        host.interrupted,
        host.store,
        id,
        &mut both,
    );
    watcher.finished();
    files::remove(&prepared, &guard);
    Ok(record?.map(|record| watcher.judged(record)))
}
