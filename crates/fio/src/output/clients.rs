//! In: what several hosts did. Out: the reports of fio's `--client`: the jobs of each host, and all of
//! them together.
//!
//! A job is printed exactly as in the report of a single host; this module adds the host's name and
//! address, and the sum over all clients.

use blocklab_record::Measurement;

use super::super::VERSION;
use super::super::plan::{CloneFacts, Prepared};
use super::figures::{Figures, report_entries};
use super::tree::{Members, Tree, members};
use super::{Moment, disks, json, normal};

/// What one client did.
#[derive(Debug, Clone, Copy)]
pub struct ClientResult<'a> {
    /// Its host, as the user named it.
    pub host: &'a str,
    /// Its jobs.
    pub prepared: &'a Prepared,
    /// What they left.
    pub measurements: &'a [Measurement],
}

/// The name of the entry that holds all jobs of all clients.
const ALL: &str = "All clients";

/// The report as JSON. `bins`: with all buckets (`json+`).
pub fn json_of_clients(clients: &[ClientResult<'_>], moment: &Moment, bins: bool) -> String {
    let mut members = members! {
        "fio version": VERSION,
        "timestamp": moment.unix_ms / 1000,
        "time": &moment.text,
    };
    let mut globals = clients.iter().map(|client| &client.prepared.globals);
    if let Some(globals) = globals.find(|globals| !globals.is_empty()) {
        members.extend(members! { "global options": json::options(globals) });
    }
    let mut stats = Vec::new();
    let mut used = Vec::new();
    for client in clients {
        for figures in report_entries(&client.prepared.clones, client.measurements) {
            stats.push(on_host(json::job(&figures, moment, bins), client.host));
        }
        for disk in disks(client.measurements, client.prepared) {
            used.push(on_host(json::disk_members(&disk, moment), client.host));
        }
    }
    if let Some(clone) = entry_of_all(clients) {
        let sum = together(&clone, clients);
        stats.push(Tree::from(json::job(&sum, moment, bins)));
    }
    members.extend(members! { "client_stats": stats, "disk_util": used });
    Tree::from(members).print()
}

fn on_host(mut members: Members, host: &str) -> Tree {
    members.extend(members! { "hostname": host });
    Tree::from(members)
}

/// The report for people: each host by itself, then all of them.
pub fn normal_of_clients(clients: &[ClientResult<'_>], moment: &Moment) -> String {
    let mut text = String::new();
    for client in clients {
        text.push_str(&format!("<{}> ", client.host));
        text.push_str(&normal(client.measurements, client.prepared, moment));
    }
    if let Some(clone) = entry_of_all(clients) {
        // The processes are on other hosts.
        let moment = Moment {
            pid: 0,
            ..moment.clone()
        };
        text.push_str(&normal::job(&together(&clone, clients), &moment));
    }
    text
}

/// What the entry of all clients is called and how it is printed: as the first job is. `None`: there is
/// one client, or no job.
fn entry_of_all(clients: &[ClientResult<'_>]) -> Option<CloneFacts> {
    let first = clients
        .iter()
        .find_map(|client| client.prepared.clones.first())?;
    (clients.len() > 1).then(|| CloneFacts {
        name: ALL.to_owned(),
        group: 0,
        options: Vec::new(),
        failed: None,
        ..first.clone()
    })
}

/// The figures of all jobs of all clients: rates are added, histograms merged bucket by bucket.
fn together<'a>(clone: &'a CloneFacts, clients: &[ClientResult<'_>]) -> Figures<'a> {
    let mut sum = Figures::without_result(clone);
    sum.members = 0;
    for client in clients {
        for figures in report_entries(&client.prepared.clones, client.measurements) {
            sum.add(&figures);
        }
    }
    sum
}
