//! `blocklab man` and `completions`: what is generated from the definition of the command line.

use std::fs;

use anyhow::{Context, Error, Result};
use clap::CommandFactory;

use crate::complete;
use blocklab_args::{Cli, CompletionsArgs, ManArgs, manual_page, manual_pages};
use blocklab_console::terminal;
use blocklab_results::output::{self, Over};

/// Prints the page of a command, or writes all pages into a directory.
pub fn man(args: &ManArgs) -> Result<()> {
    let Some(dir) = &args.out else {
        let page = manual_page(&args.command).map_err(Error::msg)?;
        return terminal::print_data(page.roff);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for page in manual_pages() {
        let path = dir.join(format!("{}.1", page.name));
        output::write(&path, page.roff, Over::forced(args.force))?;
    }
    Ok(())
}

/// Prints the script with which a shell completes blocklab's command line.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "blocklab", &mut script);
    let script = String::from_utf8_lossy(&script);
    terminal::print_data(complete::with_names(args.shell, &script))
}
