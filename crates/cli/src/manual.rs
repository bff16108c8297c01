//! `blocklab man` and `completions`: what is generated from the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::complete;
use blocklab_args::{Cli, CompletionsArgs, ManArgs};
use blocklab_console::terminal;
use blocklab_results::output::{self, Over};
use blocklab_units::did_you_mean;

/// Prints the page of a command, or writes all pages into a directory.
pub fn man(args: &ManArgs) -> Result<()> {
    // `blocklab help` explains itself and has no page.
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let Some(dir) = &args.out else {
        let command = find(&cli, &args.command)?;
        return terminal::print_data(page(command, name(command))?);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    pages(&cli, dir, Over::forced(args.force))
}

/// The command that these words name, as at the command line: `catalog list`.
fn find<'c>(cli: &'c Command, words: &[String]) -> Result<&'c Command> {
    words.iter().try_fold(cli, |above, word| {
        let below = above.get_subcommands();
        let below: Vec<&Command> = below.filter(|below| below.get_name() != "help").collect();
        let found = below.iter().find(|command| command.get_name() == word);
        found.copied().with_context(|| {
            let names: Vec<&str> = below.iter().map(|command| command.get_name()).collect();
            let hint = did_you_mean(word, names.iter().copied(), || match &names[..] {
                [] => "it has no commands of its own.".to_owned(),
                names => format!("the commands are: {}.", names.join(", ")),
            });
            format!("there is no manual page for {word}; {hint} --out DIR writes all pages")
        })
    })
}

/// `blocklab-VERB`, as `Command::build` names a command; the program itself has no such name.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or("blocklab")
}

/// Writes the pages of a command and of all its subcommands.
fn pages(command: &Command, dir: &Path, over: Over) -> Result<()> {
    let name = name(command);
    output::write(&dir.join(format!("{name}.1")), page(command, name)?, over)?;
    let below = command
        .get_subcommands()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set());
    below
        .into_iter()
        .try_for_each(|below| pages(below, dir, over))
}

/// The manual page of a command. The generator would run the lines of the examples together, so the
/// text after the options is written by [`closing`].
fn page(command: &Command, name: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .title(name)
        .source(concat!("blocklab ", env!("CARGO_PKG_VERSION")))
        .manual("Blocklab Manual");
    let mut roff = Vec::new();
    man.render_title(&mut roff)?;
    man.render_name_section(&mut roff)?;
    man.render_synopsis_section(&mut roff)?;
    man.render_description_section(&mut roff)?;
    man.render_options_section(&mut roff)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut roff)?;
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    let examples = after.map(ToString::to_string).unwrap_or_default();
    closing(&mut roff, &examples)?;
    Ok(roff)
}

/// The paragraphs of the closing text: lists of examples line by line, all else flowing.
fn closing(roff: &mut Vec<u8>, text: &str) -> io::Result<()> {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let Some(examples) = paragraph.strip_prefix("Examples:\n") else {
            writeln!(roff, ".SH NOTES\n{}", escaped(paragraph))?;
            continue;
        };
        writeln!(roff, ".SH EXAMPLES\n.nf")?;
        for line in examples.lines() {
            writeln!(roff, "{}", escaped(line.trim()))?;
        }
        writeln!(roff, ".fi")?;
    }
    Ok(())
}

/// Text that roff prints as it is. A leading dot or apostrophe would start a request, and `\-` stays an
/// ASCII hyphen that can be pasted into a shell.
fn escaped(text: &str) -> String {
    let plain = text.replace('\\', "\\e").replace('-', "\\-");
    if plain.starts_with(['.', '\'']) {
        format!("\\&{plain}")
    } else {
        plain
    }
}

/// Prints the script with which a shell completes blocklab's command line.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "blocklab", &mut script);
    let script = String::from_utf8_lossy(&script);
    terminal::print_data(complete::with_names(args.shell, &script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_becomes_a_request() {
        assert_eq!(escaped(".SH x"), "\\&.SH x");
        assert_eq!(escaped("a --b 'c\\d'"), "a \\-\\-b 'c\\ed'");
    }
}
