//! In: a command line that clap has read. Out: the error about an argument that is empty, with what it
//! takes.
//!
//! A file of its own: an empty value gets as far as the command, which then speaks of a target or a run
//! without a name.

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// The error about an empty argument; `None` where there is none. The imitated tools read their
/// arguments themselves, and the text of a note may be empty as far as this goes: the command has a
/// better answer.
pub(crate) fn empty_error(command: &Command, matches: &ArgMatches) -> Option<String> {
    if blocklab_tools::NAMES.contains(&command.get_name()) {
        return None;
    }
    if let Some((name, below)) = matches.subcommand()
        && let Some(error) = empty_error(command.find_subcommand(name)?, below)
    {
        return Some(error);
    }
    let mut arguments = command.get_arguments();
    let empty = arguments.find(|argument| {
        let id = argument.get_id().as_str();
        let is_given = matches.try_contains_id(id).unwrap_or_default()
            && matches.value_source(id) == Some(ValueSource::CommandLine);
        id != "text"
            && takes_one(argument)
            && is_given
            && matches
                .get_raw(id)
                .is_some_and(|mut values| values.any(|value| value.is_empty()))
    })?;
    Some(match empty.get_long() {
        Some(long) => message(&format!("--{long}"), empty),
        None => message("an argument", empty),
    })
}

/// The same of a path, which clap refuses by itself: "a value is required, but none was supplied".
pub(crate) fn empty_path_error(error: &clap::Error) -> Option<String> {
    let is_empty = matches!(
        error.get(ContextKind::InvalidValue),
        Some(ContextValue::String(value)) if value.is_empty()
    );
    // Where there are few values, clap lists them.
    let is_listed = matches!(
        error.get(ContextKind::ValidValue),
        Some(ContextValue::Strings(values)) if !values.is_empty()
    );
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) if is_empty && !is_listed => {
            Some(format!("{argument} {EMPTY}"))
        }
        _ => None,
    }
}

/// What is said of an empty argument.
const EMPTY: &str = "is empty; perhaps a variable of the shell is not set";

/// Whether the argument needs a value: `--example` does without.
fn takes_one(argument: &Arg) -> bool {
    let values = argument.get_num_args();
    argument.get_action().takes_values() && values.is_none_or(|values| values.min_values() > 0)
}

/// What is empty, and what it takes.
fn message(what: &str, argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map_or("VALUE", |name| name.as_str());
    let help = argument.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let first = help.lines().next().unwrap_or_default().trim_end();
    format!("{what} {EMPTY}. It takes {name}: {first}")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use crate::{ParseError, parse};

    fn told(words: &[&str]) -> Option<String> {
        let words = ["blocklab"].iter().chain(words).map(OsString::from);
        match parse(&words.collect::<Vec<_>>()) {
            Err(ParseError::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// The story: `run --target "$DISK"` without that variable ended in "cannot use the target : it does
    /// not exist. Is a mount missing?".
    #[test]
    fn an_empty_argument_is_named_with_what_it_takes() {
        for (words, expected) in [
            (
                &["run", "--target", ""][..],
                "--target is empty; perhaps a variable of the shell is not set. It takes TARGET: What to measure: a directory",
            ),
            (&["run", "--target="], "--target is empty"),
            (&["run", "-t", ""], "--target is empty"),
            (&["run", "-qt", ""], "--target is empty"),
            (
                &["run", "--rw", "read", "--html", ""],
                "--html <FILE> is empty",
            ),
            (&["--store", "", "list"], "--store <DIR> is empty"),
            (&["list", "--store="], "--store <DIR> is empty"),
            (&["list", "--name", ""], "--name is empty"),
            (
                &["run", ""],
                "an argument is empty; perhaps a variable of the shell is not set. It takes STUDY",
            ),
            (&["run", "--", ""], "an argument is empty"),
            (&["compare", "a", ""], "It takes RUN"),
            (&["note", ""], "It takes RUN"),
            (&["trace", "show", ""], "<FILE>... is empty"),
            (&["fleet", "run", "--hosts", ""], "--hosts is empty"),
        ] {
            let told = told(words).unwrap_or_default();
            assert!(told.contains(expected), "{words:?}: {told}");
        }
    }

    #[test]
    fn what_may_be_empty_is_left_to_its_command() {
        for words in [
            &["run", "quick"][..],
            &["run", "--example", ""],
            &["note", "latest", ""],
            &["note", "latest", "a", ""],
            &["fio", "--output", ""],
            &["diskspd", ""],
            &["run", "--size=1GiB"],
            &["run", "--rw", ""],
        ] {
            assert_eq!(told(words), None, "{words:?}");
        }
    }
}
