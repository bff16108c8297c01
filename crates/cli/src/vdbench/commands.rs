//! Commands before and after runs.

use std::process::Command;

use anyhow::{Result, bail};
use blocklab_dialect::vdbench::Commands;

use super::folder::Folder;
use crate::terminal;

/// Runs them one after the other by the shell. Their output goes to the log, and with `cons`
/// among the words to the console too.
pub fn run(commands: &Commands, folder: &Folder) -> Result<()> {
    let to_console = commands.0.iter().any(|word| word == "cons");
    let own = ["cons", "log", "sum", "summary", "slave", "master"];
    for command in commands
        .0
        .iter()
        .filter(|word| !own.contains(&word.as_str()))
    {
        let output = Command::new("/bin/sh").arg("-c").arg(command).output()?;
        let mut text = format!("Command: {command}\n");
        text.push_str(&String::from_utf8_lossy(&output.stdout));
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        folder.append("logfile", &text)?;
        if to_console {
            terminal::print(&text)?;
        }
        if !output.status.success() {
            bail!("the command `{command}` failed: {}", output.status);
        }
    }
    Ok(())
}
