use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use blocklab_console::terminal;

/// Prints what the shell needs to complete our words.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "blocklab", &mut script);
    terminal::print_data(script)
}
