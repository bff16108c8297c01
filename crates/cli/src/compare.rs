use std::path::Path;

use anyhow::{Result, bail};
use blocklab_analysis::compare::{Comparison, compare as hold};
use blocklab_analysis::{Assessment, assess};
use blocklab_record::Record;
use blocklab_report::{html, json, text};
use blocklab_store::Store;

use crate::abreast::each;
use crate::args::CompareArgs;
use crate::output::{self, Over};
use crate::terminal;

/// Holds runs against one of them.
pub fn compare(args: &CompareArgs, store: &Store) -> Result<()> {
    let loaded = each(&args.runs, |run| {
        store.load(run).map(|stored| stored.record)
    });
    let mut records = loaded.into_iter().collect::<Result<Vec<_>, _>>()?;
    let baseline = baseline(args, store, &mut records)?;
    if records.len() < 2 {
        bail!("one run cannot be compared; name two or more, or a --baseline");
    }
    let all: Vec<&Record> = records.iter().collect();
    let comparison = hold(&all, baseline);
    if let Some(path) = &args.html {
        output::write(path, page(&all, &comparison), Over::forced(args.force))?;
    }
    if args.json {
        return terminal::print_styled(json::comparison(&all, &comparison));
    }
    match args.html.as_deref() {
        Some(path) if path == Path::new("-") => Ok(()),
        Some(path) => {
            let words = text::comparison(&all, &comparison, terminal::style());
            terminal::print_styled(format!("{words}\nReport  {}\n", path.display()))
        }
        None => terminal::print_styled(text::comparison(&all, &comparison, terminal::style())),
    }
}

/// Where the baseline stands; a run that was not named among the others comes first.
fn baseline(args: &CompareArgs, store: &Store, records: &mut Vec<Record>) -> Result<usize> {
    let Some(run) = &args.baseline else {
        return Ok(0);
    };
    let record = store.load(run)?.record;
    let place = records.iter().position(|known| known.id == record.id);
    Ok(place.unwrap_or_else(|| {
        records.insert(0, record);
        0
    }))
}

fn page(records: &[&Record], comparison: &Comparison) -> String {
    let judged: Vec<(&Record, Assessment)> = records.iter().map(|it| (*it, assess(it))).collect();
    let pairs: Vec<(&Record, &Assessment)> = judged.iter().map(|(r, a)| (*r, a)).collect();
    html::comparison(&pairs, comparison)
}
