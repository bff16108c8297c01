//! Shell completion of names that clap does not know: runs, studies, addresses.
//!
//! The scripts of `blocklab completions` call `blocklab __complete WORD…` with the words of the line up
//! to the cursor, without the program's name. The name of the value that is expected there, such as
//! `RUN`, decides what is listed. If nothing is, the shell completes options and files as usual.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

use blocklab_catalog::{Catalog, resolve_text};
use blocklab_console::{place, terminal};
use blocklab_device::{Load, predict};
use blocklab_native::studies;
use blocklab_results::history::DERIVATION;
use blocklab_store::Store;
use blocklab_units::Bytes;
use blocklab_workload::Target;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

use blocklab_args::Cli;

/// The word with which the scripts call. It is hidden, so that it can change.
const COMPLETE: &str = "__complete";

/// The words to complete; `None`: this is no call of a completion script.
pub fn requested(arguments: &[OsString]) -> Option<Vec<String>> {
    let (word, rest) = arguments.get(1..)?.split_first()?;
    let words = rest.iter().map(|word| word.to_string_lossy().into_owned());
    (word == COMPLETE).then(|| words.collect())
}

/// Prints the names that fit, one a line; fails where no value is expected. Errors are ignored: they
/// would break the user's line.
pub fn print(words: &[String]) -> ExitCode {
    let Some(place) = expected(words) else {
        return ExitCode::FAILURE;
    };
    let (store, catalog) = (place::store(place.store).ok(), place::load_catalog().ok());
    let names = candidates(&place.kind, &place.begun, store.as_ref(), catalog.as_ref());
    let lines: String = names.into_iter().map(|name| name + "\n").collect();
    let _ = terminal::print(lines);
    ExitCode::SUCCESS
}

/// The value at the cursor.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The name of the value: `RUN`.
    kind: String,
    /// What is already typed of it.
    begun: String,
    /// The store that the line names.
    store: Option<std::path::PathBuf>,
}

/// The value at the cursor; `None` if an option or a command is expected, or the line is invalid.
fn expected(words: &[String]) -> Option<Place> {
    let mut cli = Cli::command();
    cli.build();
    let (last, before) = words.split_last()?;
    let (mut command, mut positionals) = (&cli, 0);
    let mut pending: Option<&Arg> = None;
    let mut store = None;
    for word in before {
        if let Some(option) = pending.take() {
            if option.get_id() == "store" {
                store = Some(word.into());
            }
        } else if word.starts_with('-') {
            pending = option(command, word);
            if let Some((_, value)) = word.split_once('=') {
                let is_store = pending.take().is_some_and(|arg| arg.get_id() == "store");
                store = is_store.then(|| value.into()).or(store);
            }
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
        } else {
            positionals += 1;
        }
    }
    let (arg, begun) = match (pending, last.split_once('=')) {
        (Some(arg), _) => (arg, &**last),
        (None, Some((name, begun))) if name.starts_with("--") => (option(command, name)?, begun),
        (None, _) if last.starts_with('-') => return None,
        (None, _) => {
            // The last one may take many words.
            let all: Vec<&Arg> = command.get_positionals().collect();
            let arg = all.get(positionals).or_else(|| {
                let last = all.last();
                last.filter(|last| last.get_num_args().is_some_and(|n| n.max_values() > 1))
            });
            (*arg?, &**last)
        }
    };
    Some(Place {
        kind: kind(command, arg),
        begun: begun.to_owned(),
        store,
    })
}

/// The kind of an address that must be one that can be simulated.
const MODEL: &str = "MODEL";

/// The kind of an argument: the name of its value.
fn kind(command: &Command, arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|names| names.first());
    match name {
        Some(name) if name == "ADDRESS" && command.get_name() == "emulate" => MODEL.to_owned(),
        Some(name) => name.to_string(),
        None => arg.get_id().as_str().to_uppercase(),
    }
}

/// The option of this spelling, if it takes a value.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.split('=').next().unwrap_or(word);
    let mut all = command.get_arguments();
    let found = all.find(|arg| match name.strip_prefix("--") {
        Some(long) => arg
            .get_long_and_visible_aliases()
            .is_some_and(|names| names.contains(&long)),
        None => arg.get_short().is_some_and(|c| name == format!("-{c}")),
    });
    found.filter(|arg| arg.get_action().takes_values())
}

/// The names of a kind that begin with `begun`; none of runs without a store, or of addresses without a
/// catalog.
fn candidates(
    kind: &str,
    begun: &str,
    store: Option<&Store>,
    catalog: Option<&Catalog>,
) -> Vec<String> {
    let addresses = || catalog.map_or_else(Vec::new, |catalog| addresses(begun, catalog));
    let mut all = match kind {
        "RUN" => runs(store),
        "RUN|ADDRESS" => [runs(store), addresses()].concat(),
        "STUDY" => studies::builtin_names().map(str::to_owned).collect(),
        "ADDRESS" => addresses(),
        "PLACE" => {
            let places = catalog.map_or_else(Vec::new, Catalog::places);
            places.into_iter().map(|place| place.name).collect()
        }
        MODEL => catalog.map_or_else(Vec::new, |catalog| models(begun, catalog)),
        "TARGET" => match Target::address_text(begun) {
            Some(rest) => {
                let model = &begun[..begun.len() - rest.len()];
                let own = catalog.map_or_else(Vec::new, |catalog| models(rest, catalog));
                let own = own.iter().map(|address| format!("{model}{address}"));
                own.collect()
            }
            // The shell completes files and devices: of nothing typed, and of what begins none of these.
            _ if begun.is_empty() => Vec::new(),
            _ => Target::BEGINNINGS.map(str::to_owned).to_vec(),
        },
        _ => Vec::new(),
    };
    all.retain(|word| word.starts_with(begun));
    all
}

fn runs(store: Option<&Store>) -> Vec<String> {
    // Nobody waits at a prompt for the records of hundreds of runs.
    let indexed = store.map(|store| store.index(&DERIVATION).runs);
    let newest_first = indexed.unwrap_or_default().into_iter().rev();
    let runs = newest_first.map(|indexed| (indexed.run.id, indexed.run.name));
    calls(&runs.collect::<Vec<_>>())
}

/// What these runs (id and name) can be called: `latest`, their ids in this order, and each name that only
/// one of them has.
fn calls(runs: &[(String, String)]) -> Vec<String> {
    let mut names = BTreeMap::<&str, u32>::new();
    for (_, name) in runs {
        *names.entry(name).or_default() += 1;
    }
    names.retain(|name, runs| *runs == 1 && name.chars().all(is_plain));
    let latest = (!runs.is_empty()).then_some("latest").into_iter();
    let ids = runs.iter().map(|(id, _)| id.as_str());
    let all = latest.chain(ids).chain(names.into_keys());
    all.map(str::to_owned).collect()
}

/// Whether a shell takes a character as it is. Bash puts what is listed into the line without quotes, so a
/// blank would end the word, and a `;` begin another command.
fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || "/._-+=:@%,".contains(sign)
}

/// The addresses that can be simulated.
fn models(begun: &str, catalog: &Catalog) -> Vec<String> {
    let mut all = addresses(begun, catalog);
    all.retain(|address| address.starts_with(begun) && can_be_modelled(address, catalog));
    all
}

/// Whether an address, or one that begins with it, can be simulated. Some types of volumes have no known
/// rate, some need a provisioned one, and some instances have no disks.
fn can_be_modelled(begun: &str, catalog: &Catalog) -> bool {
    let load = Load::random(100, Bytes(4096), 1);
    let rests: &[&str] = match begun.chars().last() {
        Some('@') => return true,
        Some(':') => &["1TiB", "1TiB,iops=3000"],
        _ => &[""],
    };
    rests.iter().any(|rest| {
        let resolved = resolve_text(&format!("{begun}{rest}"), catalog);
        resolved.is_ok_and(|resolved| predict(&resolved.spec, load).is_ok())
    })
}

/// Completions of an address: types of volumes, or instances after `@`.
fn addresses(begun: &str, catalog: &Catalog) -> Vec<String> {
    match begun.rsplit_once('@') {
        Some((volume, _)) => {
            let counted = volume.split(':').next().unwrap_or_default();
            // `2xgp3` is two volumes of the type gp3.
            let volume_type = match counted.split_once('x') {
                Some((count, rest)) if count.parse::<u32>().is_ok() => rest,
                _ => counted,
            };
            let names: Vec<String> = match volume_type.split_once('/') {
                Some((vendor, _)) => {
                    let mut machines = catalog.machines();
                    machines.retain(|name| name.starts_with(&format!("{vendor}/")));
                    machines
                }
                None => {
                    let types = catalog.instance_types().into_iter().map(String::from);
                    // Every vendor has machines with disks of their own, and volumes without a vendor's
                    // name are attached to EC2's alone.
                    if volume_type == "local" {
                        types.chain(catalog.machines()).collect()
                    } else {
                        types.collect()
                    }
                }
            };
            let on = names.iter().map(|name| format!("{volume}@{name}"));
            on.collect()
        }
        None => {
            let volumes = catalog.volume_types().into_iter();
            let volumes = volumes.map(|volume_type| volume_type + ":");
            volumes.chain(["local@".to_owned()]).collect()
        }
    }
}

/// Adds to clap's script what makes the shell ask for names, for the shells that can do that.
pub fn with_names(shell: Shell, words: &str) -> String {
    let asks = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => return fish(words),
        _ => "",
    };
    format!("{words}{asks}")
}

/// The script for fish. It completes the value of an option by the line of that option alone, so the
/// rule is added to each of these lines.
fn fish(words: &str) -> String {
    let mut text = String::new();
    for line in words.lines() {
        text.push_str(line);
        if line.ends_with(" -r") || line.ends_with(" -r -F") {
            text.push_str(" -k -a \"(__blocklab_names)\"");
        }
        text.push('\n');
    }
    text + FISH
}

const BASH: &str = include_str!("complete/names.bash");
const ZSH: &str = include_str!("complete/names.zsh");
const FISH: &str = include_str!("complete/names.fish");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, kind: Option<&str>, begun: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = expected(&words);
        let found = found
            .as_ref()
            .map(|address| (address.kind.as_str(), address.begun.as_str()));
        assert_eq!(found, kind.map(|kind| (kind, begun)), "{line}");
    }

    #[test]
    fn the_value_at_the_cursor_is_known() {
        check("show ", Some("RUN"), "");
        check("show 2026", Some("RUN"), "2026");
        check("--store /x show k", Some("RUN"), "k");
        check("compare a b ", Some("RUN"), "");
        check("compare a --baseline ", Some("RUN"), "");
        check("run ", Some("STUDY"), "");
        check("run quick --target sim:g", Some("TARGET"), "sim:g");
        check("run -t sim:g", Some("TARGET"), "sim:g");
        check("run --target=sim:g", Some("TARGET"), "sim:g");
        check("run --again ", Some("RUN"), "");
        check("run --target=x --again ", Some("RUN"), "");
        check("diagnose latest --expect gp", Some("ADDRESS"), "gp");
        check("catalog show i", Some("ADDRESS"), "i");
        check("price --place ire", Some("PLACE"), "ire");
        check("emulate gp", Some("MODEL"), "gp");
        check("note k3f --delete", None, "");
        check("show k3f ", None, "");
        check("nonsense --what", None, "");
    }

    /// The story: `--store=/x show ` completed the runs of the default store.
    #[test]
    fn the_store_of_the_line_is_known() {
        for line in [
            "--store=/x show k",
            "--store /x show k",
            "show --store=/x k",
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let store = expected(&words).and_then(|place| place.store);
            assert_eq!(store, Some("/x".into()), "{line}");
        }
    }

    /// The story: `show before` works, but Tab offered files for `show be`, as only ids were listed.
    #[test]
    fn runs_are_called_by_their_names_too() {
        let runs = [
            ("c3", "quick"),
            ("b2", "before"),
            ("a1", "quick"),
            ("a0", "b c"),
            // The story: Tab typed this name as it is, and Enter would have run its second half.
            ("99", "x;reboot"),
        ];
        let runs = runs.map(|(id, name)| (id.to_owned(), name.to_owned()));
        assert_eq!(
            calls(&runs),
            ["latest", "c3", "b2", "a1", "a0", "99", "before"]
        );
        assert!(calls(&[]).is_empty());
    }

    #[test]
    fn what_fits_is_listed() {
        let catalog = Catalog::embedded();
        let of = |kind, begun| candidates(kind, begun, None, Some(&catalog));
        assert_eq!(of("STUDY", "i3"), ["i3-vs-i2", "i3-metal"]);
        assert_eq!(of("PLACE", "ire"), ["ireland"]);
        assert_eq!(of("TARGET", "sim:gp3"), ["sim:gp3:"]);
        assert_eq!(of("TARGET", "s"), ["sim:"]);
        // The story: Tab offered `sim:hcloud/block:`, which is refused: nobody documents its rates.
        assert!(of("TARGET", "sim:hcloud/").is_empty());
        assert!(of("TARGET", "sim:gcp/").contains(&"sim:gcp/pd-ssd:".to_owned()));
        assert!(of("TARGET", "sim:azure/").contains(&"sim:azure/PremiumV2_LRS:".to_owned()));
        assert!(
            !of("ADDRESS", "hcloud/").is_empty(),
            "`catalog show` knows it"
        );
        let machine = "azure/Premium_LRS:P30@azure/Standard_D8s_v5";
        assert_eq!(of("ADDRESS", machine), [machine]);
        // The story: four of five instances that Tab offered after `sim:local@` were refused, as they
        // have no disks, and so was the magnetic volume, whose rate nobody knows.
        assert!(of("TARGET", "sim:local@t3.").is_empty());
        assert_eq!(of("TARGET", "sim:local@i3.met"), ["sim:local@i3.metal"]);
        assert_eq!(
            of("TARGET", "sim:gp3:1TiB@m5.la"),
            ["sim:gp3:1TiB@m5.large"]
        );
        assert!(of("TARGET", "sim:stand").is_empty() && of("MODEL", "stand").is_empty());
        assert_eq!(of("TARGET", "sim:loc"), ["sim:local@"]);
        assert_eq!(of("MODEL", "io1"), ["io1:"], "sold by its rate");
        assert!(of("TARGET", "/dev/").is_empty(), "the shell knows files");
        assert!(of("TARGET", "").is_empty());
        assert_eq!(of("ADDRESS", "local@i3.met"), ["local@i3.metal"]);
        // The story: Tab offered machines of Azure for a volume of AWS, which `catalog show` refuses.
        assert!(of("ADDRESS", "gp3:1TiB@azure/").is_empty());
        assert!(!of("ADDRESS", "local@azure/").is_empty());
        // The story: none was offered for two volumes of Google, whose vendor was read as `2xgcp`.
        assert!(!of("ADDRESS", "2xgcp/pd-ssd:1TiB@gcp/").is_empty());
        assert!(!of("ADDRESS", "2xlocal@azure/").is_empty());
        assert!(of("RUN", "").is_empty() && of("FILE", "").is_empty());
    }
}
