use std::path::Path;

use anyhow::{Result, anyhow};
use blocklab_analysis::assess;
use blocklab_analysis::expect::{Diagnosis, Expectation, diagnose as judge};
use blocklab_analysis::price::{Bought, Output, Priced, price as priced};
use blocklab_catalog::{Address, Catalog, Resolved, resolve};
use blocklab_record::Record;
use blocklab_report::{html, json, text};
use blocklab_store::Store;

use crate::args::DiagnoseArgs;
use crate::terminal;

/// Says what holds a run back, and whether it got what was bought.
pub fn diagnose(args: &DiagnoseArgs, store: &Store) -> Result<()> {
    let record = store.load(&args.run)?.record;
    let catalog = crate::catalog::load()?;
    let bought = args
        .expect
        .as_deref()
        .map(|text| find(text, &record, &catalog));
    let bought = bought.transpose()?;
    let expectation = bought.as_ref().map(|(resolved, priced)| Expectation {
        resolved,
        catalog: &catalog,
        priced: Some(priced),
    });
    let diagnosis = judge(&record, expectation);
    if let Some(path) = &args.html {
        terminal::write(path, html::diagnosis(&record, &diagnosis))?;
    }
    if args.json {
        return terminal::print(json::diagnosis(&record, &diagnosis));
    }
    if args.html.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    terminal::print(words(args, &record, &diagnosis))
}

fn words(args: &DiagnoseArgs, record: &Record, diagnosis: &Diagnosis) -> String {
    let mut words = text::diagnosis(record, diagnosis, terminal::style());
    if let Some(path) = &args.html {
        words.push_str(&format!("\nReport  {}\n", path.display()));
    }
    words
}

/// The device of an address, and what the run cost if it is that.
fn find(text: &str, record: &Record, catalog: &Catalog) -> Result<(Resolved, Priced)> {
    let wrong = |error| anyhow!("this address cannot be used:\n{error}");
    let address: Address = text.parse().map_err(|error| anyhow!("{error}"))?;
    let resolved = resolve(&address, catalog).map_err(wrong)?;
    let origin = record.origin.name();
    let output = Output::of_run(&assess(record).rows, origin);
    let bought = Bought::find(text, None, catalog).map_err(wrong)?;
    let priced = priced(text, &[bought], Some(&output));
    Ok((resolved, priced))
}
