use std::path::Path;

use anyhow::{Result, anyhow, bail};
use blocklab_analysis::assess;
use blocklab_analysis::expect::{Diagnosis, Expectation, diagnose as judge};
use blocklab_analysis::price::{Bought, Output, Priced, price as priced};
use blocklab_catalog::{Address, Catalog, Resolved, resolve};
use blocklab_record::Record;
use blocklab_report::{html, json, text};
use blocklab_store::Store;

use crate::abreast::each;
use crate::args::DiagnoseArgs;
use crate::output::{self, Over};
use crate::terminal;

/// Says what holds runs back, and whether they got what was bought.
pub fn diagnose(args: &DiagnoseArgs, store: &Store) -> Result<()> {
    if args.html.is_some() && args.runs.len() > 1 {
        bail!(
            "--html writes the page of one run, and {} are named; a page each would work",
            args.runs.len()
        );
    }
    let catalog = crate::catalog::load()?;
    let page = |run: &String| one(args, &store.load(run)?.record, &catalog);
    let pages: Vec<String> = each(&args.runs, page).into_iter().collect::<Result<_>>()?;
    if args.html.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    terminal::print_styled(match (&pages[..], args.json) {
        ([only], _) => only.clone(),
        (_, true) => format!("[{}]\n", pages.join(",")),
        (_, false) => pages.join("\n"),
    })
}

/// What is said of one run, in words or in JSON; its page is written.
fn one(args: &DiagnoseArgs, record: &Record, catalog: &Catalog) -> Result<String> {
    let bought = args.expect.as_deref();
    let bought = bought.map(|text| find(text, record, catalog)).transpose()?;
    let expectation = bought.as_ref().map(|(resolved, priced)| Expectation {
        resolved,
        catalog,
        priced: Some(priced),
    });
    let diagnosis = judge(record, expectation);
    if let Some(path) = &args.html {
        let page = html::diagnosis(record, &diagnosis);
        output::write(path, page, Over::forced(args.force))?;
    }
    Ok(match args.json {
        true => json::diagnosis(record, &diagnosis),
        false => words(args, record, &diagnosis),
    })
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
