use std::io::{self, IsTerminal};

use anyhow::{Context, Result, bail};
use blocklab_store::Store;
use blocklab_store::export::{self, Rows};
use clap::ValueEnum;

use crate::args::{ExportArgs, Format};
use blocklab_console::terminal;
use blocklab_tools::output::{self, Over};

/// Writes a run for other programs.
pub fn export(args: &ExportArgs, store: &Store) -> Result<()> {
    let format = format(args)?;
    if args.series && format == Format::Json {
        bail!("--series goes with --format csv or parquet; json holds the series already");
    }
    if format == Format::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        bail!("a Parquet file is not for a terminal: name a file with -o FILE");
    }
    let record = store.load_unchanged(&args.run)?.record;
    let rows = match args.series {
        true => Rows::Series,
        false => Rows::Figures,
    };
    let bytes = match format {
        Format::Json => export::json(&record).into_bytes(),
        Format::Csv => export::csv(&record, rows).into_bytes(),
        Format::Parquet => export::parquet(&record, rows)?,
    };
    match &args.output {
        Some(path) => output::write(path, bytes, Over::forced(args.force)),
        None => terminal::print_data(bytes),
    }
}

/// As asked for, else as the name of the output file ends.
fn format(args: &ExportArgs) -> Result<Format> {
    let end = args.output.as_ref().and_then(|path| path.extension());
    let of_name = end.and_then(|end| Format::from_str(&end.to_string_lossy(), true).ok());
    args.format.or(of_name).context(match &args.output {
        Some(path) => format!(
            "{} does not tell the format: end it with .json, .csv or .parquet, or give --format",
            path.display()
        ),
        None => "which format? --format json, csv or parquet".to_owned(),
    })
}
