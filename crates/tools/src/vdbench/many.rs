//! Parameter files with several hosts: each host runs its own storage, and one set of reports shows
//! all of them.
//!
//! Nothing is measured on this machine. It starts the hosts and reports what they send.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Result, anyhow};
use blocklab_console::{status, terminal};
use blocklab_record::{Note, NoteLevel};
use blocklab_store::Store;
use blocklab_vdbench::{Command, Inputs, ParameterFile, prepare};

use super::folder::Folder;
use super::gathering::Gathering;
use super::own_options::OwnOptions;
use super::reporter::Reporter;
use super::share::{self, Share};
use super::{commands, context, journals, write_completed};
use crate::hosts::{HostShare, HostsEnd, HostsLoad, ManyHosts};
use crate::tool_run::{exit_code, print_notes, seed, with_keeping};

/// The command line and a function that reads its files, so that hosts get the same texts.
pub(super) struct Read<'a> {
    /// The command line, without blocklab's own options.
    pub(super) arguments: &'a [String],
    /// What it requests.
    pub(super) command: &'a Command,
    /// Reads the text of a file.
    pub(super) text: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// Runs the load on all hosts, writes the reports and gives the exit code.
pub(super) fn measure(
    mut file: ParameterFile,
    own: &OwnOptions,
    folder: &Folder,
    store: &Store,
    hosts: &dyn ManyHosts,
    read: &Read<'_>,
) -> Result<u8> {
    file.general.repeat = read.command.repeat.or(file.general.repeat);
    let (validation, _) = journals::requested(read.command.validation, &file, folder);
    let inputs = Inputs {
        sizes: share::supposed(&file),
        format: Vec::new(),
        seed: seed(own.seed)?,
        validation,
    };
    file.refuse_for_several(&inputs)?;
    file.notes.push(Note::new(
        NoteLevel::Approximated,
        "SD_format",
        "files that are missing are written on their hosts before all begin, and not in a run of its own",
    ));
    let prepared = prepare(&file, &inputs)?;
    print_notes(prepared.notes.iter());
    let load = HostsLoad {
        tool: "vdbench",
        plan: prepared.plan.clone(),
        shares: shares(&file, inputs.seed, read)?,
        destroy_data: own.destroy.clone(),
        is_followed: true,
        is_parted: true,
        is_kept: !own.no_save,
        // On a terminal, the rows of the reports show the progress.
        is_quiet: own.quiet || !io::stderr().is_terminal() || io::stdout().is_terminal(),
    };
    commands::run(&file.general.startcmd, folder)?;
    // Each host stores its own run, so the reporter of this machine stores none.
    let not_kept = OwnOptions {
        no_save: true,
        ..OwnOptions::default()
    };
    let mut reporter = Reporter::new(&file, &prepared, &inputs, folder, store, &not_kept, &[]);
    reporter.begin_round(0)?;
    let mut gathering = Gathering::new(&prepared, file.hosts.len());
    let end = hosts.run(&load, &mut |host, event| {
        for gathered in gathering.take(host, event) {
            reporter.gathered(gathered);
        }
    })?;
    if let Some(error) = reporter.trouble.take() {
        return Err(error);
    }
    conclude(&file, &end, folder)
}

/// The share of each host: the command line, all files, and which host it is.
fn shares(file: &ParameterFile, seed: u64, read: &Read<'_>) -> Result<Vec<HostShare>> {
    let mut files = BTreeMap::new();
    for name in &read.command.files {
        let path = Path::new(name);
        files.insert(name.clone(), context((read.text)(path), "read", path)?);
    }
    let mut shares = Vec::new();
    for (place, host) in file.hosts.iter().enumerate() {
        shares.push(HostShare {
            host: host.address.clone(),
            text: serde_json::to_string(&Share {
                arguments: read.arguments.to_vec(),
                files: files.clone(),
                host: place,
                seed,
            })?,
        });
    }
    Ok(shares)
}

/// Reports the hosts without a run, and gives the exit code: the most severe of all hosts.
fn conclude(file: &ParameterFile, end: &HostsEnd, folder: &Folder) -> Result<u8> {
    let mut code = status::DONE;
    // A lost host counts for more than a failed run, as it does for a run of one host.
    for (host, run) in file.hosts.iter().zip(&end.ends) {
        match run {
            Ok(record) => code = code.max(exit_code(record)),
            Err(why) => {
                let words = format!("hd={}: {why}", host.name);
                terminal::complain(&anyhow!("{words}"));
                folder.append("errorlog", &format!("{words}\n"))?;
                code = code.max(status::INCOMPLETE);
            }
        }
    }
    code = if end.is_interrupted {
        status::INTERRUPTED
    } else if end.is_refused {
        status::MISTAKE
    } else if end.is_incomplete {
        code.max(status::INCOMPLETE)
    } else {
        with_keeping(code, end.is_kept)
    };
    if code == status::DONE {
        commands::run(&file.general.endcmd, folder)?;
    }
    write_completed(folder, code)?;
    Ok(code)
}
