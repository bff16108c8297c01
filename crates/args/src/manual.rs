//! In: the definition of the command line. Out: its manual pages, as roff.

use std::io::{self, Write};

use blocklab_units::did_you_mean;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::Cli;

/// The manual page of a command.
#[derive(Debug)]
pub struct ManualPage {
    /// `blocklab-run`, and `blocklab` for the program itself.
    pub name: String,
    /// Its text as roff, for `man`.
    pub roff: Vec<u8>,
}

/// The page of the command that these words name, as at the command line: `catalog list`.
///
/// # Errors
/// When there is no such command; the text names the one that was probably meant.
pub fn manual_page(words: &[String]) -> Result<ManualPage, String> {
    let program = program();
    words
        .iter()
        .try_fold(&program, |command, word| subcommand(command, word))
        .map(page)
}

/// The pages of the program and of all its commands, each before those of its own commands.
#[must_use]
pub fn manual_pages() -> Vec<ManualPage> {
    let mut pages = Vec::new();
    add_pages(&program(), &mut pages);
    pages
}

/// The program with the names of all commands filled in; `blocklab help` explains itself and has no page.
fn program() -> Command {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

/// The command of this name below another one.
fn subcommand<'c>(above: &'c Command, word: &str) -> Result<&'c Command, String> {
    let below = above.get_subcommands();
    let below: Vec<&Command> = below.filter(|below| below.get_name() != "help").collect();
    let found = below.iter().find(|command| command.get_name() == word);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = below.iter().map(|command| command.get_name()).collect();
        let hint = did_you_mean(word, names.iter().copied(), || match &names[..] {
            [] => "it has no commands of its own.".to_owned(),
            names => format!("the commands are: {}.", names.join(", ")),
        });
        format!("there is no manual page for {word}; {hint} --out DIR writes all pages")
    })
}

/// Adds the page of a command and those of its visible subcommands.
fn add_pages(command: &Command, pages: &mut Vec<ManualPage>) {
    pages.push(page(command));
    for below in command.get_subcommands() {
        if below.get_name() != "help" && !below.is_hide_set() {
            add_pages(below, pages);
        }
    }
}

fn page(command: &Command) -> ManualPage {
    // `Command::build` names a command `blocklab-VERB`; the program itself has no such name.
    let name = command.get_display_name().unwrap_or("blocklab").to_owned();
    let roff = roff(command, &name).expect("memory takes every byte");
    ManualPage { name, roff }
}

/// The text of a page. The generator would run the lines of the examples together, so what follows the
/// options is written by [`closing`].
fn roff(command: &Command, name: &str) -> io::Result<Vec<u8>> {
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
    let closing_text = after.map(ToString::to_string).unwrap_or_default();
    closing(&mut roff, &closing_text)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_becomes_a_request() {
        assert_eq!(escaped(".SH x"), "\\&.SH x");
        assert_eq!(escaped("a --b 'c\\d'"), "a \\-\\-b 'c\\ed'");
    }
}
