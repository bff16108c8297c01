//! In: clap's error about arguments that exclude each other, or of which one needs another. Out: the
//! same with what would work.
//!
//! A file of its own: clap names the two arguments, and the reason and the way out are a row here.

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};

use crate::Cli;
use crate::run::LOAD_HEADING;
use crate::trace::REPLAY_HEADING;

/// What works where arguments exclude each other.
struct Tip {
    /// One of them has one of these names, an option without its hyphens or a positional one in
    /// capitals, or is listed under this heading of the help of `run`.
    one: &'static [&'static str],
    /// So has another one; empty: any other.
    other: &'static [&'static str],
    text: &'static str,
}

/// The options of a load by flags, and those of a replay: they are found by their headings.
const LOAD: &str = LOAD_HEADING;
const REPLAY: &str = REPLAY_HEADING;

/// The first row that fits counts.
const TIPS: [Tip; 21] = [
    Tip {
        one: &["list"],
        other: &[],
        text: "--list measures nothing, so the other has no effect: leave one of them out; `blocklab \
               run STUDY --list` lists the cases of a study",
    },
    Tip {
        one: &["example"],
        other: &[],
        text: "--example only prints a study: `blocklab run --example quick > mine.toml`, then \
               `blocklab run mine.toml` with the other options",
    },
    Tip {
        one: &["again"],
        other: &[],
        text: "--again repeats the load of a stored run: leave out what describes another one; --target, \
               --runtime, --ramp, --repeat and --seed replace those of the run",
    },
    Tip {
        one: &["rw"],
        other: &["case"],
        text: "a load by flags has no cases to choose from: leave out --case, and shorten the lists of \
               the load",
    },
    Tip {
        one: &["trace"],
        other: &[LOAD],
        text: "a trace has operations of its own: leave out --trace for a load by flags, or the options \
               of that for a replay, whose pace --as, --speed and --copies change",
    },
    Tip {
        one: &["rw"],
        other: &[REPLAY],
        text: "this option changes a recorded load, and --rw makes a new one: use `blocklab run --trace \
               FILE` instead of --rw; the rate of a load by flags is set with --rate",
    },
    Tip {
        one: &[LOAD],
        other: &[REPLAY],
        text: "one of these options makes a load by flags and the other changes a recorded one: use \
               `blocklab run --rw randread` with the first, or `blocklab run --trace FILE` with the other",
    },
    Tip {
        one: &["trace"],
        other: &["case", "runtime", "ramp", "size", "read-only"],
        text: "a replay takes its length and its operations from the trace: --from and --until choose a \
               part of it, --wrap, --scale and --compact fit it into the target",
    },
    Tip {
        one: &["wrap", "scale", "compact"],
        other: &["wrap", "scale", "compact"],
        text: "each of --wrap, --scale and --compact fits the trace into the target: choose one",
    },
    Tip {
        one: &["json-lines"],
        other: &[],
        text: "--json-lines prints the result and the whole record, too, as its last lines: leave the \
               other one out; `blocklab report latest` makes the page afterwards",
    },
    Tip {
        one: &["dry-run"],
        other: &[],
        text: "--dry-run measures nothing that could be written: leave the other one out; --format html \
               or --json prints the forecast in that form",
    },
    Tip {
        one: &["findings"],
        other: &["json"],
        text: "the JSON has all findings with their evidence: leave out --findings",
    },
    Tip {
        one: &["json"],
        other: &["format"],
        text: "--json is the same as --format json: give one of them",
    },
    Tip {
        one: &["against-history"],
        other: &["baseline"],
        text: "the earlier runs are the baseline: leave out --baseline; --tag TAG chooses among them",
    },
    Tip {
        one: &["against-history"],
        other: &["html"],
        text: "`blocklab compare RUN --against-history --format html > page.html` writes the page",
    },
    Tip {
        one: &["hosts", "hostfile", "slurm"],
        other: &["hosts", "hostfile", "slurm"],
        text: "each of --hosts, --hostfile and --slurm names the hosts: give one of them",
    },
    Tip {
        one: &["insecure"],
        other: &["tls-certificates"],
        text: "--tls-certificates encrypts what --insecure would serve in the clear: give one of them",
    },
    Tip {
        one: &["instance"],
        other: &["vcpu", "memory", "arch"],
        text: "--instance already asks for as many processors and as much memory as that machine has: \
               leave one of them out",
    },
    Tip {
        one: &["migrate"],
        other: &["instance", "vcpu", "memory", "arch"],
        text: "a migration keeps the machine of the volume, which its address names: --migrate \
               gp2:500GiB@m5.xlarge",
    },
    Tip {
        one: &["place"],
        other: &["RUN|ADDRESS"],
        text: "--place is where --need compares the vendors; --region chooses the prices of an address",
    },
    Tip {
        one: &["input"],
        other: &["columns"],
        text: "--columns describes a table, which needs no --input: leave one of them out",
    },
];

/// What works where an argument of this name is missing.
const MISSING: [(&str, &str); 4] = [
    (
        "nbd",
        "--tls-certificates encrypts the connections of NBD, and a file or a block device of this \
         machine has none: add --nbd HOST:PORT, or leave --tls-certificates out",
    ),
    (
        "rw",
        "the option is part of a load by flags, of which --rw names the kind, such as --rw randread",
    ),
    (
        "RUN",
        "`latest` is the newest run, and `blocklab list` lists all of them",
    ),
    (
        "SHELL",
        "name one of bash, zsh, fish, elvish and powershell",
    ),
];

/// An argument that clap names in an error.
struct Named {
    /// As clap writes it: `--depth <N>`, `[STUDY]`.
    written: String,
    /// `depth`, `STUDY`.
    name: String,
    /// Its heading in the help of `run`; empty where it has none there.
    heading: String,
}

impl Named {
    fn new(written: String, run: &clap::Command) -> Self {
        let bare = written.trim_start_matches(['-', '<', '[']);
        let end = bare.find([' ', '>', ']', '=', '.']).unwrap_or(bare.len());
        let name = bare[..end].to_owned();
        let known = run
            .get_opts()
            .find(|known| known.get_long() == Some(&*name));
        let heading = known.and_then(|known| known.get_help_heading());
        Self {
            heading: heading.unwrap_or_default().to_owned(),
            name,
            written,
        }
    }

    fn is_option(&self) -> bool {
        self.written.starts_with('-')
    }

    fn is_any_of(&self, names: &[&str]) -> bool {
        names.contains(&&*self.name) || names.contains(&&*self.heading)
    }
}

/// Adds what would work, where a row of [`TIPS`] knows it.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").expect("a command");
    let named = named(&error, run);
    if let Some(tip) = own_load(&named).or_else(|| tip(&named)) {
        suggest(&mut error, tip);
    }
    error
}

/// Adds what would work, where [`MISSING`] knows it of the only argument that is missing.
pub(crate) fn with_reason(mut error: clap::Error) -> clap::Error {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").expect("a command");
    if let [missing] = &named(&error, run)[..]
        // Of a group of options, any would do.
        && !missing.written.starts_with("<--")
        && let Some((_, tip)) = MISSING.iter().find(|(name, _)| *name == missing.name)
    {
        suggest(&mut error, (*tip).to_owned());
    }
    error
}

pub(crate) fn suggest(error: &mut clap::Error, tip: String) {
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
}

/// The arguments that an error names: clap has the one that came first in one place and the others in
/// another.
fn named(error: &clap::Error, run: &clap::Command) -> Vec<Named> {
    let mut named = Vec::new();
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        match error.get(kind) {
            Some(ContextValue::String(one)) => named.push(Named::new(one.clone(), run)),
            Some(ContextValue::Strings(several)) => {
                named.extend(several.iter().map(|one| Named::new(one.clone(), run)));
            }
            _ => {}
        }
    }
    named
}

/// The first row that fits two of these arguments.
fn tip(named: &[Named]) -> Option<String> {
    if named.len() > 1 && named.iter().all(|one| one.name == named[0].name) {
        return Some("give it once".to_owned());
    }
    let found = TIPS.iter().find(|tip| {
        named.iter().enumerate().any(|(place, one)| {
            let mut others = named
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            one.is_any_of(tip.one)
                && (tip.other.is_empty() || others.any(|(_, other)| other.is_any_of(tip.other)))
        })
    });
    found.map(|tip| tip.text.to_owned())
}

/// What would work where options of a load by flags or of a replay were given to a study, which has
/// loads of its own: `run quick --depth 8`.
fn own_load(named: &[Named]) -> Option<String> {
    let options: Vec<&Named> = named.iter().filter(|one| one.is_option()).collect();
    let first = options.first()?;
    // A study is a positional argument: without one, the options conflict with each other.
    if options.len() == named.len() {
        return None;
    }
    let subject = match &*first.heading {
        LOAD => "--rw randread",
        REPLAY => "--trace FILE",
        _ => return None,
    };
    let others = options
        .iter()
        .filter(|one| !one.is_any_of(&["rw", "trace"]));
    let words: Vec<&str> = ["blocklab run", subject]
        .into_iter()
        .chain(others.map(|one| &*one.written))
        .collect();
    Some(format!(
        "a study has loads of its own: leave it out, as in `{}`, or change one that `blocklab run \
         --example quick` prints",
        words.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    /// The story: `run --rw randread --speed 50` was refused without a reason and without a way out, as
    /// most arguments were that exclude each other.
    #[test]
    fn arguments_that_exclude_each_other_are_answered_with_what_works() {
        for (line, works) in [
            (
                "run --rw randread --speed 50",
                "--trace FILE` instead of --rw",
            ),
            (
                "run --speed 50 --rw=randread",
                "--trace FILE` instead of --rw",
            ),
            ("run --depth 4 --speed 50", "blocklab run --trace FILE"),
            (
                "run --rw read --trace t",
                "a trace has operations of its own",
            ),
            ("run --trace t --runtime 5s", "--from and --until"),
            ("run --trace t --wrap --scale", "choose one"),
            ("run --rw read --case a", "leave out --case"),
            ("run --again a quick", "repeats the load of a stored run"),
            (
                "run --again a --rw read",
                "repeats the load of a stored run",
            ),
            ("run --again a --fresh", "repeats the load of a stored run"),
            ("run --list --repeat 3", "--list measures nothing"),
            ("run quick --list --seed 1", "--list measures nothing"),
            ("run --list --fail-on missed", "--list measures nothing"),
            ("run --list --rw read", "--list measures nothing"),
            ("run --json-lines --html x", "blocklab report latest"),
            ("run --dry-run --html x", "--format html"),
            ("run --json --format text", "--format json"),
            ("run --example --quiet", "only prints a study"),
            ("run --runtime 1s --runtime 2s", "give it once"),
            ("show --findings --json", "leave out --findings"),
            ("compare a --against-history --baseline b", "--tag TAG"),
            ("compare a --against-history --html x", "--format html"),
            ("history --json --format text", "--format json"),
            ("fleet run --hosts a --slurm", "give one of them"),
            ("trace show t --input msr --columns x", "leave one of them"),
            (
                "advise --need 1TiB --vcpu 8 --instance m5.large",
                "--instance already asks",
            ),
            ("advise --migrate gp2 --vcpu 4", "keeps the machine"),
            ("price gp3 --place ireland", "--region chooses"),
        ] {
            let words = std::iter::once("blocklab").chain(line.split(' '));
            let error = Cli::try_parse_from(words).expect_err(line);
            let text = with_tip(error).to_string();
            assert!(text.contains(works), "{line}: {text}");
        }
    }

    /// The story: `emulate --block --tls-certificates d` said that `--nbd <WHERE>` is missing, and not
    /// what for.
    #[test]
    fn an_argument_that_another_one_needs_comes_with_the_reason() {
        for line in [
            "emulate gp3:1TiB --block --tls-certificates d",
            "emulate --tls-certificates=d gp3:1TiB --fuse f",
        ] {
            let words = std::iter::once("blocklab").chain(line.split(' '));
            let error = Cli::try_parse_from(words).expect_err(line);
            let text = with_reason(error).to_string();
            assert!(text.contains("--nbd <WHERE>"), "{line}: {text}");
            assert!(
                text.contains("tip: --tls-certificates encrypts"),
                "{line}: {text}"
            );
        }
        // None of the three places is given: the choice is the user's.
        let line = ["blocklab", "emulate", "gp3:1TiB"];
        let error = Cli::try_parse_from(line).expect_err("nowhere to serve");
        assert!(!with_reason(error).to_string().contains("tip"));
    }
}
