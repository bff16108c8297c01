//! Runs the user's commands before and after runs (`startcmd=`, `endcmd=`) and after an error.

use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use blocklab_console::terminal;

use super::folder::Folder;

/// Runs commands one after the other with the shell. Their output goes to the log; with the word `cons`
/// among them also to the console, and with `sum` to the summary.
///
/// # Errors
/// When a command fails; those after it are not run.
pub fn run(words: &[String], folder: &Folder) -> Result<()> {
    // `slave` and `master` name the process that runs the command; here it is the same one. `abort`
    // ends everything when a command fails, as it always does here.
    let keywords = [
        "cons", "console", "log", "sum", "summary", "slave", "master", "abort",
    ];
    let (outputs, commands): (Vec<&String>, Vec<&String>) = words
        .iter()
        .partition(|word| keywords.contains(&word.as_str()));
    let to_console = outputs.iter().any(|word| word.starts_with("cons"));
    let to_summary = outputs.iter().any(|word| word.starts_with("sum"));
    for command in commands {
        let output = shell(command, folder, &[])?;
        let text = format!("Command: {command}\n{}", printed(&output));
        folder.append("logfile", &text)?;
        if to_summary {
            folder.append("summary", &text)?;
        }
        if to_console {
            terminal::print(&text)?;
        }
        if !output.status.success() {
            bail!("the command `{command}` failed: {}", output.status);
        }
    }
    Ok(())
}

/// Where the first failed operation or wrong block was.
#[derive(Debug, Clone)]
pub struct ErrorPlace {
    pub lun: String,
    /// Offset of the first byte: Vdbench calls it so, although it is in bytes and not in blocks.
    pub lba: u64,
    /// Number of bytes, if it is known.
    pub size: Option<u64>,
}

/// Runs the command of `data_errors=`. The place of the error is passed in environment variables,
/// which the shell substitutes itself, so that no file name can be read as a command.
pub fn after_error(command: &str, place: &ErrorPlace, folder: &Folder) -> Result<()> {
    let size = place.size.map_or(String::new(), |size| size.to_string());
    let variables = [
        ("lun", place.lun.clone()),
        ("lba", place.lba.to_string()),
        ("size", size),
    ];
    let output = shell(command, folder, &variables)?;
    let text = format!("data_errors: {command}\n{}", printed(&output));
    terminal::print(&text)?;
    folder.append("logfile", &text)?;
    if !output.status.success() {
        terminal::warn(&format!("data_errors=\"{command}\": {}", output.status));
    }
    Ok(())
}

/// Runs a command with the shell; `$output` is the output directory.
fn shell(command: &str, folder: &Folder, variables: &[(&str, String)]) -> Result<Output> {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env("output", &folder.path);
    shell.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = shell.output();
    output.with_context(|| format!("cannot run the command `{command}`"))
}

/// What a command printed: its standard output, and then its standard error.
fn printed(output: &Output) -> String {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{stdout}{stderr}")
}
