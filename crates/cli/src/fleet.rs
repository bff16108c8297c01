//! `blocklab fleet run`: runs one load on many hosts and merges their runs.

mod hosts;
mod tools;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow, bail};
use blocklab_compare::scaling::Curves;
use blocklab_console::status::{DONE, INCOMPLETE, INTERRUPTED, MISTAKE, graver};
use blocklab_console::{chance, listen, terminal};
use blocklab_fleet::{FleetPlan, Launcher, Launching, Load, Outcome};
use blocklab_record::{LostHost, Note, NoteLevel, Record, Status, merge};
use blocklab_report::views;
use blocklab_results::{Wanted, conclude_run};
use blocklab_store::Store;
use blocklab_units::plural;
use jiff::Timestamp;

use crate::answer::check_streams;
use crate::gate::{self, GateCommand};
use crate::request::request;
use blocklab_args::{FleetArgs, FleetCommand, FleetRunArgs, Output};
use hosts::Hosts;

pub use tools::ToolFleet;

/// Runs the command. `given`: the store that the user named.
pub fn fleet(args: &FleetArgs, store: &Store, given: Option<PathBuf>) -> Result<ExitCode> {
    let FleetCommand::Run(args) = &args.command;
    run(args, store, given).map(ExitCode::from)
}

/// Checks the arguments and the hosts, and launches the load. Returns the exit code.
fn run(args: &FleetRunArgs, store: &Store, given: Option<PathBuf>) -> Result<u8> {
    hosts::refuse_single_host_options(args)?;
    check_streams(args.run.html.as_deref(), args.run.form)?;
    let wanted = args
        .run
        .wanted(gate::conditions(&args.run.gate, GateCommand::Run)?);
    // A store or a file that cannot be written is an error before any host is started.
    wanted.try_out(store)?;
    let load = load(args, &wanted, store)?;
    let mut hosts = Hosts::new(args, given)?;
    let interrupted = listen()?;
    let unreachable = hosts.leave_out_unreachable(args)?;
    let fleet = Fleet {
        args,
        store,
        wanted: &wanted,
        load,
        hosts,
        unreachable,
        interrupted: &interrupted,
    };
    fleet.run()
}

/// The load of the arguments, as all hosts run it.
fn load(args: &FleetRunArgs, wanted: &Wanted, store: &Store) -> Result<Load> {
    let request = request(&args.run, &wanted.conditions, store)?;
    if !request.study.publication.systems.is_empty() {
        bail!(
            "the study {} compares systems, one after the other: a fleet runs studies without systems",
            request.study.plan.name
        );
    }
    if let Some(why) = request.study.plan.missing_in_json() {
        bail!("this load cannot be sent to other hosts: {why}");
    }
    Ok(Load {
        plan: request.study.plan,
        notes: request.study.notes,
        may_replace_engine: request.study.may_replace_engine,
        creates_targets: args.run.create,
    })
}

struct Fleet<'a> {
    args: &'a FleetRunArgs,
    store: &'a Store,
    wanted: &'a Wanted,
    load: Load,
    hosts: Hosts,
    unreachable: Vec<LostHost>,
    interrupted: &'a AtomicBool,
}

impl Fleet<'_> {
    fn run(&self) -> Result<u8> {
        if self.args.host_counts.is_empty() {
            let outcome = self.launch(&self.hosts.names)?;
            return self.conclude(outcome).map(|(code, _)| code);
        }
        self.scale()
    }

    /// Launches on the first hosts, once for each of `--host-counts`, and prints the scaling curves.
    fn scale(&self) -> Result<u8> {
        let requested = self.args.host_counts.iter();
        // Hosts may have been left out since the counts were checked.
        let most = self.hosts.names.len();
        let counts: BTreeSet<usize> = requested
            .map(|count| most.min(count.get() as usize))
            .collect();
        let (mut curves, mut worst) = (Curves::default(), DONE);
        for count in counts {
            let outcome = self.launch(&self.hosts.names[..count])?;
            let (code, record) = self.conclude(outcome)?;
            match record {
                Some(record) if code != INTERRUPTED && code != INCOMPLETE => curves.add(&record),
                // Without one of the points, the curve would not be the requested one.
                _ => return Ok(code),
            }
            worst = graver(worst, code);
        }
        // In JSON, only the runs of the launches are printed, one after the other.
        if let Output::Document(form) = self.args.run.form.output() {
            let curves = views::scaling(&self.load.plan.name, &curves.scalings()).print(form);
            terminal::print_styled(format!("\n{curves}"))?;
        }
        Ok(worst)
    }

    /// Launches the load on these hosts.
    fn launch(&self, names: &[String]) -> Result<Outcome> {
        let tasks = self.hosts.tasks(names, self.store)?;
        let plan = FleetPlan::new(self.load.clone(), tasks, self.args.prepare_within);
        let launcher = if self.args.slurm {
            Launcher::Srun
        } else {
            Launcher::Mpirun
        };
        let program = self.args.rank_program.clone();
        let launching = Launching {
            launcher,
            program: program.unwrap_or_else(blocklab_fleet::program),
            is_shown: !self.args.run.quiet,
            interrupted: self.interrupted,
        };
        launching.run(&plan, &mut |_| ())
    }

    /// Prints and stores the result of a launch; gives the exit code and the merged run.
    fn conclude(&self, outcome: Outcome) -> Result<(u8, Option<Record>)> {
        if !outcome.refused.is_empty() {
            for LostHost { name, why } in &outcome.refused {
                terminal::complain(&anyhow!("{name}: {why}"));
            }
            terminal::inform("nothing was written on any host");
            return Ok((MISTAKE, None));
        }
        if outcome.runs.is_empty() {
            for LostHost { name, why } in &outcome.lost {
                terminal::complain(&anyhow!("{name}: {why}"));
            }
            terminal::inform("nothing was measured");
            let is_wanted = self.interrupted.load(Ordering::Relaxed);
            return Ok((if is_wanted { INTERRUPTED } else { INCOMPLETE }, None));
        }
        // The runs of the hosts are stored here, too, so that they can be merged again.
        if self.wanted.is_kept {
            keep_hosts(&outcome, self.store);
        }
        let mut record = self.merged(&outcome)?;
        let code = conclude_run(&mut record, self.wanted, self.store)?;
        Ok((code, Some(record)))
    }

    /// The merged run of all hosts; with one host, its own run.
    fn merged(&self, outcome: &Outcome) -> Result<Record> {
        let mut record = match (&outcome.runs[..], &outcome.lost[..]) {
            ([only], []) => only.record.clone(),
            (runs, lost) => {
                merge(runs, lost).map_err(|error| anyhow!("cannot merge the runs: {error}"))?
            }
        };
        // A host that failed or was lost has figures up to that moment only.
        if outcome.is_incomplete && record.fleet.is_some() {
            record.status = Status::Incomplete;
        }
        record.id = self.store.new_id(Timestamp::now(), chance()?);
        if let Some(name) = &self.args.run.name {
            record.requested.name.clone_from(name);
        }
        let launched = outcome.runs.len() + outcome.lost.len();
        for LostHost { name, why } in &self.unreachable {
            record.notes.push(Note::new(
                NoteLevel::Approximated,
                "hosts",
                format!(
                    "{name} took no part ({why}): the run has {launched} of {}",
                    plural(self.hosts.names.len() + self.unreachable.len(), "host")
                ),
            ));
        }
        Ok(record)
    }
}

/// Stores the run of each host, unless it is in this store already: the hosts may share it.
fn keep_hosts(outcome: &Outcome, store: &Store) {
    for run in &outcome.runs {
        let is_here = store.load_unchanged(&run.record.id);
        if is_here.is_ok_and(|stored| !stored.partial) {
            continue;
        }
        if let Err(error) = store.save(&run.record) {
            terminal::warn(&format!("the run of a host cannot be kept here: {error}"));
        }
    }
}
