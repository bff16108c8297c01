//! `--client`: jobs on other hosts that begin together, reported as fio's client does.
//!
//! Nothing is measured on this machine. Each host parses its jobs, runs them and stores its run; here
//! the results are collected and printed.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use blocklab_console::{status, terminal};
use blocklab_fio::{self as dialect, Client, ClientResult, Command, General, Input, Prepared};
use blocklab_host::{LARGEST_SCRIPT, read_input};
use blocklab_results::keeping;
use blocklab_store::Store;
use blocklab_units::Nanos;
use blocklab_workload::Plan;

use super::environment::{self, Presence, Texts};
use super::share::Share;
use super::{
    INTERRUPTED, OwnOptions, WRITES_IN_READ_ONLY, exit_code, name, output, print_failures, sections,
};
use crate::hosts::{HostShare, HostsEnd, HostsLoad, ManyHosts};
use crate::tool_run::with_keeping;

/// Runs the jobs of all clients.
pub(super) fn run(
    command: &Command,
    own: &OwnOptions,
    store: &Store,
    hosts: &dyn ManyHosts,
) -> Result<u8> {
    let general = &command.general;
    refuse_options_of_one_machine(general)?;
    let parts = parts(command)?;
    if general.read_only && parts.iter().any(|part| part.prepared.plan.writes()) {
        return Err(anyhow!(WRITES_IN_READ_ONLY));
    }
    if general.parse_only {
        return Ok(status::DONE);
    }
    keeping::try_out(store, own.no_save)?;
    let mut out = output::Out::open(general)?;
    for part in &parts {
        out.print(&on_host(&part.host, &dialect::header(&part.prepared)))?;
    }
    let begun = Instant::now();
    let end = hosts.run(&load(&parts, own)?, &mut |_host, _event| ())?;
    conclude(&mut out, &parts, &end, begun)
}

/// A host, and what it runs.
struct Part {
    host: String,
    /// What is sent to the host.
    share: Share,
    /// The plan as far as it is known here; the host plans again, with its own files.
    prepared: Prepared,
}

/// Refuses options that concern one machine, or that print while a run lasts.
fn refuse_options_of_one_machine(general: &General) -> Result<()> {
    let given = [
        ("status-interval", general.status_interval.is_some()),
        ("bandwidth-log", general.bandwidth_log),
        ("idle-prof", general.idle.is_some()),
        ("trigger-file", general.trigger_file.is_some()),
        ("trigger-timeout", general.trigger_timeout.is_some()),
        ("debug", !general.debug.is_empty()),
        ("showcmd", general.show_command),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(anyhow!(
            "--{option} is of one machine and does not go with --client; without it, or without --client, \
             it would work"
        )),
        None => Ok(()),
    }
}

/// The hosts of all clients, each with its jobs.
fn parts(command: &Command) -> Result<Vec<Part>> {
    let mut texts = Texts::default();
    let mut parts = Vec::new();
    for client in &command.clients {
        let sections = sections(&client.inputs, &mut texts)?;
        let resolved = dialect::resolve(&sections, &command.general.sections)?;
        let host_names = host_names(client)?;
        let first = &host_names[0];
        if resolved.specs.is_empty() {
            return Err(anyhow!("client {first}: No job(s) defined"));
        }
        let name = name(&client.inputs);
        for host in host_names {
            let prepared =
                environment::prepare(&resolved, &name, None, Some(&host), Presence::Supposed)?;
            parts.push(Part {
                host,
                share: Share {
                    arguments: arguments(&command.general, &client.inputs),
                    texts: Texts::default(),
                },
                prepared: prepared.whole()?,
            });
        }
    }
    // Only now, when all job files are read: every host gets the same collection.
    for part in &mut parts {
        part.share.texts = texts.for_another_host();
    }
    Ok(parts)
}

/// The hosts of a client, at least one: the one that is named, or those in the file of this name.
fn host_names(client: &Client) -> Result<Vec<String>> {
    let path = Path::new(&client.host);
    if !path.is_file() {
        return Ok(vec![host_name(&client.host)?]);
    }
    let bytes =
        read_input(path, LARGEST_SCRIPT).with_context(|| format!("--client={}", client.host))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let words = text.lines().filter_map(|line| {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        line.split_whitespace().next().map(host_name)
    });
    let names: Vec<String> = words.collect::<Result<_>>()?;
    if names.is_empty() {
        return Err(anyhow!("--client={}: the file names no host", client.host));
    }
    Ok(names)
}

/// The name or address of a host in fio's notation `[ip:|ip4:|ip6:]HOST[,PORT]`. The port is dropped: it is
/// that of fio's server, which is not used here.
fn host_name(text: &str) -> Result<String> {
    if text.starts_with("sock:") {
        return Err(anyhow!(
            "--client={text}: no server is asked, so there is no socket of one; the name of a host would \
             work"
        ));
    }
    let address = ["ip:", "ip4:", "ip6:"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    Ok(address.split(',').next().unwrap_or(address).to_owned())
}

/// The inputs as arguments of a fio command line, with the options that also apply on the host.
fn arguments(general: &General, inputs: &[Input]) -> Vec<String> {
    let mut words = Vec::new();
    for section in &general.sections {
        words.push(format!("--section={section}"));
    }
    if general.read_only {
        words.push("--readonly".to_owned());
    }
    if let Some(path) = &general.aux_path {
        words.push(format!("--aux-path={path}"));
    }
    for input in inputs {
        match input {
            Input::File(path) => words.push(path.clone()),
            Input::Job(section) => {
                words.push(format!("--name={}", section.name));
                for setting in &section.settings {
                    match &setting.value {
                        // Already written above: a second one would begin another job.
                        _ if setting.key == "name" => {}
                        Some(value) => words.push(format!("--{}={value}", setting.key)),
                        None => words.push(format!("--{}", setting.key)),
                    }
                }
            }
        }
    }
    words
}

/// The load for several hosts: the share of each, and the plan of the first one, for the live view.
fn load(parts: &[Part], own: &OwnOptions) -> Result<HostsLoad> {
    let mut shares = Vec::new();
    for part in parts {
        shares.push(HostShare {
            host: part.host.clone(),
            text: serde_json::to_string(&part.share)?,
        });
    }
    let first: &Plan = &parts[0].prepared.plan;
    Ok(HostsLoad {
        tool: "fio",
        plan: first.clone(),
        shares,
        // On hosts, permissions have the form HOST:NAME, which the environment variable has not.
        destroy_data: own
            .destroy
            .iter()
            .filter(|name| !own.by_environment.contains(name))
            .cloned()
            .collect(),
        is_followed: false,
        is_parted: false,
        is_kept: !own.no_save,
        is_quiet: !(io::stderr().is_terminal() && io::stdout().is_terminal()),
    })
}

/// A text with the name of its host before each line, as fio's client prints it.
fn on_host(host: &str, text: &str) -> String {
    text.lines()
        .map(|line| format!("<{host}> {line}\n"))
        .collect()
}

/// Prints the results of all hosts and gives the exit code: the number of failed jobs and hosts.
fn conclude(
    out: &mut output::Out<'_>,
    parts: &[Part],
    end: &HostsEnd,
    begun: Instant,
) -> Result<u8> {
    let mut failed: u8 = 0;
    let mut results = Vec::new();
    for (part, end) in parts.iter().zip(&end.ends) {
        match end {
            Ok(record) => {
                results.push(ClientResult {
                    host: &part.host,
                    prepared: &part.prepared,
                    measurements: &record.measurements,
                });
                print_failures(record);
                failed = failed.saturating_add(match exit_code(record) {
                    // Counted once for all hosts, below.
                    INTERRUPTED => 0,
                    code => code,
                });
            }
            Err(why) => {
                terminal::complain(&anyhow!("client {}: {why}", part.host));
                failed = failed.saturating_add(1);
            }
        }
    }
    let elapsed = Nanos(begun.elapsed().as_nanos() as u64);
    if !results.is_empty() {
        out.end_of_clients(&results, elapsed)?;
    }
    Ok(match (end.is_interrupted, failed) {
        (true, _) => INTERRUPTED,
        (_, failed) => with_keeping(failed, end.is_kept),
    })
}

#[cfg(test)]
mod tests {
    use super::host_name;

    #[test]
    fn hosts_are_named_as_for_fio() {
        for (text, expected) in [
            ("node1", "node1"),
            ("ip:node1", "node1"),
            ("ip4:10.0.0.1,8765", "10.0.0.1"),
            // Its prefix was taken for a part of the address.
            ("ip6:fe80::1,8765", "fe80::1"),
        ] {
            assert_eq!(host_name(text).ok().as_deref(), Some(expected));
        }
        assert!(host_name("sock:/tmp/fio.sock").is_err());
    }
}
