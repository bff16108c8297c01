use std::io::{self, IsTerminal};

use anyhow::{Result, bail};
use blocklab_store::Store;
use blocklab_store::export::{self, Rows};

use crate::args::{ExportArgs, Format};
use crate::output::{self, Over};
use crate::terminal;

/// Writes a run for other programs.
pub fn export(args: &ExportArgs, store: &Store) -> Result<()> {
    if args.series && args.format == Format::Json {
        bail!("--series goes with --format csv or parquet; json holds the series already");
    }
    if args.format == Format::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        bail!("a Parquet file is not for a terminal: name a file with -o FILE");
    }
    let record = store.load_unchanged(&args.run)?.record;
    let rows = match args.series {
        true => Rows::Series,
        false => Rows::Figures,
    };
    let bytes = match args.format {
        Format::Json => export::json(&record).into_bytes(),
        Format::Csv => export::csv(&record, rows).into_bytes(),
        Format::Parquet => export::parquet(&record, rows)?,
    };
    match &args.output {
        Some(path) => output::write(path, bytes, Over::forced(args.force)),
        None => terminal::print_data(bytes),
    }
}
