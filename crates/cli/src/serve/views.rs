//! In: what a page asks for. Out: the documents that other commands print, and simulated runs. No text
//! from a page is used as the name of a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use blocklab_console::place;
use blocklab_native as native;
use blocklab_native::studies::{builtin, builtin_names};
use blocklab_record::{Record, Status};
use blocklab_runner::{Finished, Guard, Prepared, Setting};
use blocklab_store::Store;
use blocklab_web::{Built, Field, More, Query, Simulator, View};
use blocklab_workload::Address;
use clap::Parser;

use crate::{catalog, history, request};
use blocklab_args::{Cli, Command};

/// The pages beside those of the runs.
pub(super) fn more() -> More {
    More {
        views: vec![HISTORY, CATALOG],
        simulator: Simulator { studies, simulate },
    }
}

/// The series of loads and their changes, as `history` shows them.
const HISTORY: View = View {
    path: "history",
    name: "History",
    lead: "Every load in its place among the runs before it, and since when it is slower or faster.",
    fields: &[
        Field {
            name: "case",
            label: "Case",
            example: "rand4k*",
            times: 1,
        },
        Field {
            name: "study",
            label: "Study",
            example: "quick",
            times: 1,
        },
        Field {
            name: "target",
            label: "Target",
            example: "/data*",
            times: 1,
        },
    ],
    build: show_history,
};

/// Builds the page of the history for a query.
fn show_history(store: &Store, query: &Query) -> Result<Vec<Built>, String> {
    // Through the parser of the command line, so that a page takes and refuses what the command does.
    let mut words = vec!["blocklab".to_owned(), "history".to_owned()];
    for (name, text) in query {
        if ["study", "target"].contains(&&**name) && !text.trim().is_empty() {
            words.push(format!("--{name}={}", text.trim()));
        }
    }
    let case = query
        .iter()
        .find(|(name, text)| name == "case" && !text.trim().is_empty());
    if let Some((_, case)) = case {
        // Behind `--`, a case that begins with a hyphen is not taken for an option.
        words.extend(["--".to_owned(), case.trim().to_owned()]);
    }
    let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
    let Command::History(args) = cli.command else {
        return Err("`history` is a command".to_owned());
    };
    let built = history::shown(&args, store).map_err(|error| format!("{error:#}"))?;
    Ok(vec![built])
}

/// Volumes and machines beside each other, as `catalog show` shows each.
const CATALOG: View = View {
    path: "catalog",
    name: "Catalog",
    lead: "What volumes and machines promise and cost, with sources and dates.",
    fields: &[Field {
        name: "address",
        label: "Volume or machine",
        example: "gp3:1TiB,iops=6000@r5d.xlarge",
        times: 3,
    }],
    build: show_addresses,
};

/// Builds a column for each address in a query.
fn show_addresses(_: &Store, query: &Query) -> Result<Vec<Built>, String> {
    let addresses = query
        .iter()
        .filter(|(name, text)| name == "address" && !text.trim().is_empty());
    let built = addresses.map(|(_, text)| {
        let (document, json) =
            catalog::shown(not_a_file(text)?).map_err(|error| format!("{error:#}"))?;
        Ok(Built::document(&document, json))
    });
    built.collect()
}

/// The trimmed text; an error if it names a file, which the catalog would read as a device or a profile.
fn not_a_file(text: &str) -> Result<&str, String> {
    let text = text.trim();
    let is_file =
        text.starts_with(['.', '/', '~']) || text.contains("..") || text.contains(".toml");
    let has_file = match text.parse() {
        Ok(Address::File(_)) => true,
        Ok(Address::Sold(offer)) => offer.profile.is_some() && offer.named_profile().is_none(),
        Err(_) => false,
    };
    if is_file || has_file {
        return Err(format!(
            "`{text}` looks like a file, and pages read none: `blocklab catalog show {}` does",
            place::shell_word(text)
        ));
    }
    Ok(text)
}

/// The built-in studies that measure one target, with their descriptions.
fn studies() -> Vec<(&'static str, String)> {
    let alone = builtin_names().filter_map(|name| {
        let study = native::parse(builtin(name)?, name).ok()?;
        let is_alone = study.publication.systems.is_empty();
        is_alone.then_some((name, study.plan.description))
    });
    alone.collect()
}

/// After this time a simulation is interrupted: somebody waits for the page.
const LONGEST_SIMULATION: Duration = Duration::from_secs(20);

fn simulate(study: &str, address: &str) -> Result<Record, String> {
    if !studies().iter().any(|(name, _)| *name == study) {
        return Err(format!(
            "no built-in study of one target is called `{study}`"
        ));
    }
    let target = format!("sim:{}", not_a_file(address)?);
    simulated(study, &target).map_err(|error| format!("{error:#}"))
}

/// Runs a study in virtual time, as `blocklab run STUDY --target TARGET` does, for at most
/// [`LONGEST_SIMULATION`].
fn simulated(study: &str, target: &str) -> Result<Record> {
    let target = format!("--target={target}");
    let words = ["blocklab", "run", study, &target, "--no-save", "--quiet"];
    let Command::Run(args) = Cli::try_parse_from(words)?.command else {
        bail!("`run` is a command");
    };
    // With --no-save the folder does not matter. `&[]`: no conditions (--fail-on) are asked for.
    let store = Store::open("");
    let request = request::request(&args, &[], &store)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    // Nothing is sent: dropping `done` ends the wait, so that no thread outlives a short simulation.
    let (done, ended) = channel::<()>();
    let late = Arc::clone(&interrupted);
    thread::spawn(move || {
        let ended = ended.recv_timeout(LONGEST_SIMULATION);
        late.store(ended == Err(RecvTimeoutError::Timeout), Ordering::Relaxed);
    });
    let setting = Setting {
        store: &store,
        guard: &Guard::new(&[]),
        catalog: &place::load_catalog()?,
        interrupted: &interrupted,
    };
    let finished = Prepared::new(&request, setting)?.run(&mut ())?;
    drop(done);
    match finished {
        Finished::Run(record) if record.status != Status::Interrupted => Ok(*record),
        _ => bail!(
            "it takes longer than {} s: `blocklab run {study} {}` takes its time",
            LONGEST_SIMULATION.as_secs(),
            place::shell_word(&target)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: &str) -> Result<Vec<Built>, String> {
        let query = [("address".to_owned(), address.to_owned())];
        show_addresses(&Store::open(""), &query)
    }

    #[test]
    fn what_is_sold_is_shown() {
        let built = asked("gp3:1TiB").expect("it is sold");
        assert!(built[0].json.contains("catalog_show_format"));
        assert!(asked(" ").expect("nothing is asked for").is_empty());
        assert!(asked("gp9:1TiB").is_err());
    }

    /// An address of a page is typed by anybody who can make the user follow a link.
    #[test]
    fn no_page_reads_a_file() {
        for text in [
            "./x.toml",
            "/etc/passwd",
            "../x",
            "~/x",
            "x.toml",
            "gp3:1TiB@../x",
            // The story: the page showed the first line of this file.
            "gp3:1TiB,profile=/etc/hostname",
            "gp3:1TiB,profile=x.y@m5.large",
            "a/../b",
        ] {
            let refused = asked(text).expect_err(text);
            assert!(refused.contains("pages read none"), "{refused}");
            let refused = simulate("quick", text).expect_err(text);
            assert!(refused.contains("pages read none"), "{refused}");
        }
        for study in ["/etc/passwd", "./study.toml", "-t", "nothing", ""] {
            let refused = simulate(study, "gp3:1TiB").expect_err(study);
            assert!(refused.contains("no built-in study"), "{refused}");
        }
    }

    #[test]
    fn what_is_asked_of_a_history_is_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path());
        let pairs = [
            ("case", "--json"),
            ("study", "--store=/"),
            ("target", ""),
            ("other", "x"),
        ];
        let query: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let refused = show_history(&store, &query).expect_err("an empty store");
        assert!(refused.starts_with("there are no runs in"), "{refused}");
    }

    #[test]
    fn a_study_is_simulated() {
        let record = simulate("quick", "gp3:100GiB").expect("a run");
        assert_eq!(record.origin, blocklab_record::Origin::Simulated);
        assert!(simulate("quick", "gp9:1TiB").is_err());
    }
}
