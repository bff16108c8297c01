use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use blocklab_analysis::expect::{Diagnosis, Expectation, diagnose as judge};
use blocklab_analysis::gate::{Check, Condition, Gate, missed, warning};
use blocklab_analysis::{assess, best_output};
use blocklab_catalog::unit_price::{Bought, Priced, price as priced};
use blocklab_catalog::{Catalog, Resolved, resolve_text};
use blocklab_record::Record;
use blocklab_report::{html, json, text};
use blocklab_store::Store;

use crate::args::DiagnoseArgs;
use crate::gate;
use crate::stored::each;
use blocklab_console::terminal;
use blocklab_tools::output::{self, Over};

/// Prints what holds runs back, and whether they got what was bought.
pub fn diagnose(args: &DiagnoseArgs, store: &Store) -> Result<ExitCode> {
    if args.html.is_some() && args.runs.len() > 1 {
        bail!(
            "--html writes the page of one run, and you named {}: run the command once for each",
            args.runs.len()
        );
    }
    if args.expect.is_none() && args.fail_on.contains(&Condition::Missed) {
        bail!("--fail-on missed needs --expect ADDRESS: without it no limit is known");
    }
    let catalog = blocklab_console::place::load_catalog()?;
    let page = |run: &String| one(args, &store.load(run)?.record, &catalog);
    let judged: Vec<(String, Option<Gate>)> =
        each(&args.runs, page).into_iter().collect::<Result<_>>()?;
    let (pages, gates): (Vec<String>, Vec<Option<Gate>>) = judged.into_iter().unzip();
    let worst = gates.iter().flatten().max_by_key(|gate| gate.answer);
    match args.html.as_deref() == Some(Path::new("-")) {
        true => gate::aside(worst),
        false => terminal::print_styled(match (&pages[..], args.json) {
            ([only], _) => only.clone(),
            (_, true) => format!("[{}]\n", pages.join(",")),
            (_, false) => pages.join("\n"),
        })?,
    }
    Ok(gate::status(worst, args.strict).into())
}

/// The diagnosis of one run, in words or in JSON; its page is written.
fn one(args: &DiagnoseArgs, record: &Record, catalog: &Catalog) -> Result<(String, Option<Gate>)> {
    let bought = args.expect.as_deref();
    let bought = bought.map(|text| find(text, record, catalog)).transpose()?;
    let expectation = bought.as_ref().map(|(resolved, priced)| Expectation {
        resolved,
        catalog,
        priced: Some(priced),
    });
    let mut diagnosis = judge(record, expectation);
    if let Some((compared, text)) = diagnosis.expected.as_mut().zip(args.expect.as_ref()) {
        compared.address.clone_from(text);
    }
    if let Some(path) = &args.html {
        let page = html::diagnosis(record, &diagnosis);
        output::write(path, page, Over::forced(args.force))?;
    }
    let gate = judge_all(args, record, &diagnosis);
    let text = match args.json {
        true => json::diagnosis(record, &diagnosis, gate.as_ref()),
        false => {
            let words = text::diagnosis(record, &diagnosis, terminal::style());
            let page = args.html.iter();
            let page = page.map(|path| format!("\nReport  {}\n", path.display()));
            words + &page.collect::<String>() + &gate::words(gate.as_ref())
        }
    };
    Ok((text, gate))
}

fn judge_all(args: &DiagnoseArgs, record: &Record, diagnosis: &Diagnosis) -> Option<Gate> {
    let check = |condition: &Condition| -> Option<Check> {
        match condition {
            Condition::Missed => Some(missed(0, diagnosis.expected.as_ref()?)),
            _ => Some(warning(&[(record, &diagnosis.assessment.findings)])),
        }
    };
    Gate::new(args.fail_on.iter().filter_map(check).collect())
}

/// The device of an address, and what the run cost if it is that.
fn find(text: &str, record: &Record, catalog: &Catalog) -> Result<(Resolved, Priced)> {
    let wrong = |error| anyhow!("cannot use this address:\n{error}");
    let resolved = resolve_text(text, catalog).map_err(wrong)?;
    let origin = record.origin.name();
    let output = best_output(&assess(record).rows, origin);
    let bought = Bought::find(text, None, catalog).map_err(wrong)?;
    let priced = priced(text, &[bought], Some(&output));
    Ok((resolved, priced))
}
