//! In: the arguments of the process. Out: the error about one that is empty, with what it takes.
//!
//! A file of its own: clap calls an empty value missing, and where it does not, the value gets as far as
//! the command, which then speaks of a target or a run without a name.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory};

use crate::Cli;

/// The error about the first empty argument; `None` where there is none. The imitated tools read
/// their arguments themselves.
pub(crate) fn empty_error(arguments: &[OsString]) -> Option<String> {
    let is_empty = |argument: &OsString| {
        argument.is_empty()
            || argument
                .to_str()
                .is_some_and(|text| is_option(text) && text.ends_with('='))
    };
    if !arguments.iter().skip(1).any(is_empty) {
        return None;
    }
    let mut cli = Cli::command();
    cli.build();
    let mut command = &cli;
    // The option whose value the next argument is.
    let mut open: Option<&Arg> = None;
    let mut places = 0;
    for argument in arguments.iter().skip(1) {
        let text = argument.to_str().unwrap_or("?");
        // A value that may be left out is none where another option follows.
        let value_of = open.take();
        if let Some(option) = value_of.filter(|option| takes_one(option) || !text.starts_with('-'))
        {
            if text.is_empty() && takes_one(option) {
                return Some(message(&option_name(option), option));
            }
        } else if let Some(name) = text.strip_prefix("--") {
            let (name, value) = name.split_once('=').unzip();
            let name = name.unwrap_or(&text[2..]);
            // A lone `--` is none. What follows it is taken for options, too, which changes no answer.
            let option = (!name.is_empty()).then(|| long(command, name)).flatten();
            match (option, value) {
                (Some(option), Some("")) if takes_one(option) => {
                    return Some(message(&option_name(option), option));
                }
                (Some(option), None) if option.get_action().takes_values() => open = Some(option),
                _ => {}
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            open = last_short(command, letters);
        } else if let Some(below) = command.find_subcommand(text) {
            command = below;
            places = 0;
            if blocklab_tools::NAMES.contains(&command.get_name()) {
                return None;
            }
        } else {
            if text.is_empty() {
                return positional(command, places).map(|place| message("an argument", place));
            }
            places += 1;
        }
    }
    None
}

fn is_option(text: &str) -> bool {
    text.starts_with("--") && text != "--"
}

/// Whether the option needs a value: `--example` does without.
fn takes_one(option: &Arg) -> bool {
    let values = option.get_num_args();
    option.get_action().takes_values() && values.is_none_or(|values| values.min_values() > 0)
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_opts().find(|option| {
        let aliases = option.get_all_aliases().unwrap_or_default();
        option.get_long() == Some(name) || aliases.contains(&name)
    })
}

/// Of several options of a letter each, the one whose value is the next argument. Letters behind an
/// option that takes a value are the value.
fn last_short<'c>(command: &'c Command, letters: &str) -> Option<&'c Arg> {
    letters.char_indices().find_map(|(place, letter)| {
        let mut options = command.get_opts();
        let option = options.find(|option| option.get_short() == Some(letter))?;
        let is_last = letters[place..].chars().count() == 1;
        takes_one(option).then(|| is_last.then_some(option))
    })?
}

/// The positional argument at this place. The text of a note may be empty as far as this goes: the
/// command has a better answer.
fn positional(command: &Command, place: usize) -> Option<&Arg> {
    let all: Vec<&Arg> = command.get_positionals().collect();
    let found = all.get(place).or(all.last())?;
    (found.get_id() != "text").then_some(*found)
}

fn option_name(option: &Arg) -> String {
    format!("--{}", option.get_long().unwrap_or_default())
}

/// What is empty, and what it takes.
fn message(what: &str, argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map_or("VALUE", |name| name.as_str());
    let help = argument.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let first = help.lines().next().unwrap_or_default().trim_end();
    format!("{what} is empty; perhaps a variable of the shell is not set. It takes {name}: {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = ["blocklab"]
            .iter()
            .chain(words)
            .map(OsString::from)
            .collect();
        empty_error(&words)
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
            (&["run", "--rw", "read", "--html", ""], "--html is empty"),
            (&["--store", "", "list"], "--store is empty"),
            (&["list", "--store="], "--store is empty"),
            (&["list", "--name", ""], "--name is empty"),
            (
                &["run", ""],
                "an argument is empty; perhaps a variable of the shell is not set. It takes STUDY",
            ),
            (&["run", "--", ""], "an argument is empty"),
            (&["compare", "a", ""], "It takes RUN"),
            (&["note", ""], "It takes RUN"),
            (&["trace", "show", ""], "It takes FILE"),
            (&["fleet", "run", "--hosts", ""], "--hosts is empty"),
        ] {
            let told = told(words).expect("an error");
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
        ] {
            assert_eq!(told(words), None, "{words:?}");
        }
    }
}
