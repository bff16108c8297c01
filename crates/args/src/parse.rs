//! In: the arguments of the process. Out: the parsed command line, or an error that names the mistake
//! where clap's own would mislead.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use blocklab_units::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::conflict::{suggest, with_reason, with_tip};
use crate::empty::{empty_error, empty_path_error};
use crate::{Cli, Command};

/// Why arguments are no command line.
#[derive(Debug)]
pub enum ParseError {
    /// A mistake that clap does not know, described for the user.
    Message(String),
    /// An error of clap, or the text of `--help` and `--version`.
    Clap(clap::Error),
}

/// The arguments; where the program is started under the name of an imitated tool (a link called
/// `fio`), that command is inserted before them.
pub fn by_name(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let file = arguments
        .first()
        .and_then(|path| Path::new(path).file_name())
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let program = file.strip_suffix(".exe").unwrap_or(file);
    if let Some(name) = blocklab_tools::NAMES.iter().find(|name| **name == program) {
        arguments.insert(1, name.into());
    }
    arguments
}

/// Parses the arguments, of which the first is the name of the program.
///
/// # Errors
/// The first mistake in them, and the text of `--help` and `--version`.
pub fn parse(arguments: &[OsString]) -> Result<Cli, ParseError> {
    // Before clap, which would take a dash for the name of a file.
    if let Some(message) = arguments.iter().find_map(|argument| dash_error(argument)) {
        return Err(ParseError::Message(message));
    }
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(arguments);
    let mut matches = matches.map_err(|error| match error.kind() {
        ErrorKind::InvalidUtf8 => ParseError::Message(utf8_error(arguments)),
        ErrorKind::InvalidValue => {
            empty_path_error(&error).map_or_else(|| ParseError::Clap(error), ParseError::Message)
        }
        ErrorKind::UnknownArgument => ParseError::Clap(with_owners(error, arguments)),
        ErrorKind::ArgumentConflict => ParseError::Clap(with_tip(error)),
        ErrorKind::MissingRequiredArgument => ParseError::Clap(with_reason(error)),
        _ => ParseError::Clap(with_nearest_command(error, arguments)),
    })?;
    if let Some(message) = empty_error(&command, &matches) {
        return Err(ParseError::Message(message));
    }
    let cli = Cli::from_arg_matches_mut(&mut matches)
        .map_err(|error| ParseError::Clap(error.format(&mut command)))?;
    if let Command::K8s(args) = &cli.command {
        args.check_pod().map_err(ParseError::Clap)?;
    }
    Ok(cli)
}

/// The error for an option whose hyphen became a dash, as word processors and web pages print it. A
/// dash before a space is allowed; it opens a note.
fn dash_error(argument: &OsStr) -> Option<String> {
    let text = argument.to_str()?;
    let bare = text.trim_start_matches(|sign| matches!(sign, '\u{2010}'..='\u{2015}' | '\u{2212}'));
    let is_option =
        bare.len() < text.len() && bare.starts_with(|sign: char| sign.is_alphanumeric());
    is_option.then(|| {
        format!(
            "`{text}` begins with a dash that is no hyphen: type `-` or `--` before `{bare}`, or \
             `./{text}` for a file of that name"
        )
    })
}

/// The error for an argument that is not UTF-8: records are text, and so are the paths in them.
fn utf8_error(arguments: &[OsString]) -> String {
    let culprit = arguments
        .iter()
        .find(|argument| argument.to_str().is_none());
    let shown = culprit
        .map(|culprit| culprit.to_string_lossy())
        .unwrap_or_default();
    format!(
        "`{shown}` is not UTF-8, and what is measured is kept by its name as text: give a link to it \
         that has another name (`ln -s`)"
    )
}

/// Words for what a command does, of habit or of other tools, and how it is typed here. What clap finds
/// nearest to them (`vdbench` for `benchmark`, `merge` for `remove`) does something else.
const MEANT: [(&[&str], &str); 6] = [
    (
        &["bench", "benchmark", "measure", "start", "test"],
        "blocklab run",
    ),
    (&["delete", "remove"], "blocklab rm"),
    (&["studies"], "blocklab run --list"),
    (&["replay", "trace replay"], "blocklab run --trace FILE"),
    (
        &["analyse", "analyze", "trace analyse", "trace analyze"],
        "blocklab trace show",
    ),
    (&["version"], "blocklab --version"),
];

/// Adds the nearest command where clap suggests none: it sees neither swapped letters (`rnu`) nor the
/// commands of another one (`trace advise`, `fit`).
fn with_nearest_command(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let written = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(written)) => written.clone(),
        _ => return error,
    };
    // Behind another command a word means something else: `fleet start` is no `run`.
    let meant = MEANT
        .iter()
        .find(|(typed, _)| typed.iter().any(|words| begins_with(arguments, words)));
    if let Some((_, line)) = meant {
        error.remove(ContextKind::SuggestedSubcommand);
        suggest(&mut error, format!("there is `{line}`"));
        return error;
    }
    let known = command_lines(&Cli::command());
    let names = known.iter().filter_map(|line| line.split(' ').next_back());
    // What clap finds among its own commands is nearer than what is misspelt of another one.
    let is_suggested = error.get(ContextKind::SuggestedSubcommand).is_some();
    let meant = nearest(&written, names).filter(|meant| !is_suggested || *meant == written);
    if let Some(meant) = meant {
        let lines = known
            .iter()
            .filter(|line| line.split(' ').next_back() == Some(meant));
        let lines: Vec<String> = lines.map(|line| format!("`{line}`")).collect();
        error.remove(ContextKind::SuggestedSubcommand);
        suggest(&mut error, format!("there is {}", lines.join(" or ")));
    }
    error
}

/// Whether the first words of a command line are these.
fn begins_with(arguments: &[OsString], words: &str) -> bool {
    let mut pairs = arguments.iter().skip(1).zip(words.split(' '));
    pairs.all(|(argument, word)| argument == word)
}

/// How each command is typed, those of commands included: `blocklab trace fit`.
fn command_lines(command: &clap::Command) -> Vec<String> {
    let name = command.get_name();
    let mut lines = Vec::new();
    for inner in command.get_subcommands() {
        lines.push(format!("{name} {}", inner.get_name()));
        let below = command_lines(inner).into_iter();
        lines.extend(below.map(|line| format!("{name} {line}")));
    }
    lines
}

/// Commands that take options alone, and what works in place of a word behind them.
const OPTIONS_ALONE: [(&str, &str); 4] = [
    (
        "catalog list",
        "--family m5 lists one family; `blocklab catalog show ADDRESS` shows a volume or a machine",
    ),
    (
        "list",
        "`blocklab show RUN` shows one run; --name and --target list some",
    ),
    (
        "advise",
        "a need stands behind --need, and a volume in use behind --migrate",
    ),
    ("serve", "--port 7411 chooses the port"),
];

/// The most commands that are named as those with an option: of more, none is likelier to be meant.
const OWNERS: usize = 5;

/// Names the commands that have the option, where another command was given it. Clap only knows the
/// options of that one, and suggests one that is spelled alike or to pass the option as a value.
fn with_owners(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let written = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(written)) => written.clone(),
        _ => return error,
    };
    without_advice_of_a_value(&mut error, &written);
    let Some(name) = written.strip_prefix("--") else {
        let tip = OPTIONS_ALONE
            .iter()
            .find(|(command, _)| !written.starts_with('-') && begins_with(arguments, command));
        if let Some((_, tip)) = tip {
            suggest(&mut error, (*tip).to_owned());
        }
        return error;
    };
    let mut owners = Vec::new();
    add_owners(&Cli::command(), "blocklab", name, &mut owners);
    let [first, others @ ..] = owners.as_slice() else {
        if begins_with(arguments, "run") && error.get(ContextKind::Suggested).is_none() {
            let tip = "`blocklab fio` takes the options of fio, and `blocklab run --help` lists those of run";
            suggest(&mut error, tip.to_owned());
        }
        return error;
    };
    if owners.len() > OWNERS {
        return error;
    }
    let commands = match others {
        [] => first.clone(),
        [middle @ .., last] => {
            let listed = [std::slice::from_ref(first), middle].concat().join(", ");
            format!("{listed} and {last}")
        }
    };
    let tip = format!("{written} is an option of {commands}");
    suggest(&mut error, tip);
    // If clap suggested an option, its usage shows how that one is written: both go.
    if error.remove(ContextKind::SuggestedArg).is_some() {
        error.remove(ContextKind::Usage);
    }
    error
}

/// Drops clap's advice to pass an option as a value, which nobody means; a negative number may be meant so.
fn without_advice_of_a_value(error: &mut clap::Error, written: &str) {
    if !written
        .trim_start_matches('-')
        .starts_with(char::is_alphabetic)
    {
        return;
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains(&format!("'-- {written}'")));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
}

/// Adds the commands below this one that have the option, each with its whole name.
fn add_owners(command: &clap::Command, path: &str, option: &str, owners: &mut Vec<String>) {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        let path = format!("{path} {}", below.get_name());
        if below
            .get_opts()
            .any(|known| known.get_long() == Some(option))
        {
            owners.push(format!("`{path}`"));
        }
        add_owners(below, &path, option, owners);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: &str, unexpected: &str) {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        let Err(ParseError::Clap(error)) = parse(&arguments) else {
            panic!("{words:?} is no command line");
        };
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains(unexpected), "{text}");
    }

    /// The story: `blocklab benchmark` was to be `vdbench`, and `blocklab remove` `merge` or `serve`.
    #[test]
    fn a_word_of_habit_is_answered_with_the_command() {
        check(&["blocklab", "benchmark"], "`blocklab run`", "vdbench");
        check(&["blocklab", "remove", "latest"], "`blocklab rm`", "merge");
        check(
            &["blocklab", "trace", "replay", "a"],
            "`blocklab run --trace FILE`",
            "similar",
        );
        // It was to be `blocklab run`, which measures one host.
        check(&["blocklab", "fleet", "start"], "'start'", "blocklab run`");
    }

    /// The story: `run --filename /data/x --direct=1`, as fio has it, was told to write `-- --direct`.
    #[test]
    fn an_option_of_fio_is_not_to_be_passed_as_a_value() {
        check(
            &["blocklab", "run", "--rw", "read", "--group_reporting"],
            "`blocklab fio` takes the options of fio",
            "-- --group_reporting",
        );
        check(
            &["blocklab", "report", "a", "--pdf", "x"],
            "--pdf",
            "-- --pdf",
        );
        check(&["blocklab", "run", "-o", "x"], "'-o'", "-- -o");
        check(
            &["blocklab", "show", "run", "--direct"],
            "--direct",
            "blocklab fio",
        );
    }

    /// The story: with the advice to pass an option as a value, all advice of clap was dropped, also that
    /// the option stands behind a command.
    #[test]
    fn an_option_before_its_command_is_placed() {
        for (words, expected) in [
            (
                &["blocklab", "--html", "x", "run"][..],
                "'run --html' exists",
            ),
            (
                &["blocklab", "fleet", "--hots", "a", "run"],
                "'run --hosts' exists",
            ),
            (&["blocklab", "fleet", "--", "run"], "remove the '--'"),
        ] {
            check(words, expected, "blocklab fio");
        }
    }

    /// The story: `catalog list m5` and `advise 1TiB,10000iops` had an "unexpected argument", and no word of
    /// the option that takes it.
    #[test]
    fn a_word_where_only_options_are_taken_is_answered_with_one() {
        let blocklab = |rest: &'static str| -> Vec<&str> {
            std::iter::once("blocklab").chain(rest.split(' ')).collect()
        };
        check(&blocklab("catalog list m5"), "--family m5", "--need");
        check(&blocklab("list latest"), "`blocklab show RUN`", "--need");
        check(&blocklab("advise 1TiB,9iops"), "behind --need", "--family");
        check(&blocklab("devices /dev/sda"), "/dev/sda", "tip");
    }

    /// The story: `blocklab completions` and `blocklab report` said that `<SHELL>` and `<RUN>` are missing,
    /// and not what to write there.
    #[test]
    fn a_missing_argument_is_answered_with_what_it_takes() {
        for (words, expected) in [
            (&["blocklab", "completions"][..], "bash, zsh, fish"),
            (&["blocklab", "report"], "`latest` is the newest run"),
            (&["blocklab", "run", "--depth", "32"], "--rw randread"),
        ] {
            check(words, expected, "--tls-certificates");
        }
    }

    /// The story: `show --fail-on warning` was told to write `-- --fail-on`, and `show --strict` to use
    /// `--store`. Both options are of other commands, which judge a stored run.
    #[test]
    fn an_option_of_other_commands_is_traced_to_them() {
        let show = ["blocklab", "show"];
        check(
            &[show[0], show[1], "--fail-on", "warning"],
            "tip: --fail-on is an option of `blocklab run`, `blocklab compare`, `blocklab diagnose`",
            "-- --fail-on",
        );
        check(
            &[show[0], show[1], "--strict"],
            "tip: --strict is an option of `blocklab run`",
            "--store",
        );
        check(
            &[show[0], show[1], "--findigs"],
            "'--findings'",
            "is an option of",
        );
    }

    /// The story: `k8s manifest --size 10Gi -- --runtime 30q` printed a manifest, and the mistake came to
    /// light in the log of a pod, when the volume was there and paid for.
    #[test]
    fn what_a_pod_is_to_run_is_a_command_line() {
        let manifest = "blocklab k8s manifest --size 10Gi";
        for (arguments, expected) in [
            ("-- --runtime 30q", "'30q' for '--runtime <TIME>'"),
            ("-- quick --target /elsewhere", "--target: the pod measures"),
            ("-- --rw randread --bps 4k", "'--bps'"),
            // The options of the manifest came after the second `--` and failed in the pod.
            ("-- quick --", "'--target'"),
            ("--size 0", "'--size <SIZE>'"),
            ("--memory 0", "above 0"),
            ("--deadline 0", "above 0"),
        ] {
            let line = match arguments {
                "--size 0" => "blocklab k8s manifest --size 0".to_owned(),
                _ => format!("{manifest} {arguments}"),
            };
            let words: Vec<&str> = line.split(' ').collect();
            check(&words, expected, "panic");
        }
        let sound = format!("{manifest} -- quick --runtime 30s --size 2GiB");
        let words: Vec<OsString> = sound.split(' ').map(OsString::from).collect();
        assert!(parse(&words).is_ok());
    }

    /// The story: `run quick --depth 8 --bs 64k --engine psync` measured the study as it is, in silence: what
    /// an option requires is not asked for where it conflicts with what is given.
    #[test]
    fn an_option_without_what_it_is_about_is_refused() {
        let given = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            parse(&words.collect::<Vec<_>>())
        };
        for line in [
            "blocklab run quick --depth 8",
            "blocklab run quick --bs 64k",
            "blocklab run quick --threads 2",
            "blocklab run quick --reads 70",
            "blocklab run quick --rate 100",
            "blocklab run quick --arrivals fixed",
            "blocklab run quick --fsync 1",
            "blocklab run quick --engine psync",
            "blocklab run quick --buffered",
            "blocklab run --again k3f --depth 8",
            "blocklab run --trace t --depth 8",
            // Each of these requires what the other one excludes, so that neither was asked for.
            "blocklab run --depth 8 --speed 50",
            "blocklab run --copies 2 --bs 64k",
            "blocklab run quick --as fast",
            "blocklab run quick --speed 50",
            "blocklab run --rw randread --copies 2",
            "blocklab run --rw randread --shift 1s",
            "blocklab run --rw randread --wrap",
            "blocklab run --rw randread --scale",
            "blocklab run --again k3f --trims",
            "blocklab price gp3:1TiB --place tokyo",
            "blocklab price --need 1TiB --by capacity",
        ] {
            assert!(given(line).is_err(), "{line}");
        }
        for (line, works) in [
            ("run quick --depth 8", "run --rw randread --depth <N>`"),
            (
                "run quick --depth 8 --bs 64k",
                "run --rw randread --depth <N> --bs <SIZE>`",
            ),
            ("run --depth 8 quick", "run --rw randread --depth <N>`"),
            ("run quick --rw randread", "run --rw randread`"),
            (
                "run quick --speed 50",
                "run --trace FILE --speed <PERCENT>`",
            ),
            ("run quick --trace t", "run --trace FILE`"),
        ] {
            let Err(ParseError::Clap(error)) = given(&format!("blocklab {line}")) else {
                panic!("{line} is refused by clap");
            };
            assert!(error.to_string().contains(works), "{line}: {error}");
        }
        for line in [
            "blocklab run --rw randread --depth 8 --bs 64k",
            "blocklab run --trace t --speed 50 --copies 2 --wrap",
            "blocklab price --need 1TiB --place tokyo",
        ] {
            assert!(given(line).is_ok(), "{line}");
        }
    }
}
