//! `blocklab history`: every load in its place among the runs before it.

use anyhow::{Result, bail};
use blocklab_compare::gate::fits;
use blocklab_compare::history::{History, history as series};
use blocklab_console::terminal;
use blocklab_report::views;
use blocklab_results::history::{DERIVATION, history_runs};
use blocklab_store::Store;
use jiff::Timestamp;
use serde::Serialize;

use crate::answer;
use crate::args::HistoryArgs;
use crate::list::is_wanted;

/// As JSON.
#[derive(Serialize)]
struct Fields<'a> {
    verdict: String,
    runs: usize,
    #[serde(flatten)]
    history: &'a History,
}

/// Prints the series of the loads that fit, with their changes.
pub fn history(args: &HistoryArgs, store: &Store) -> Result<()> {
    let index = store.index(&DERIVATION);
    for damaged in &index.damaged {
        terminal::warn(&format!("{}: {}", damaged.path.display(), damaged.why));
    }
    let now = Timestamp::now();
    let runs = history_runs(&index, |run| is_wanted(store, run, &args.filter, now));
    if runs.is_empty() {
        bail!(
            "no run in {} fits; `blocklab list` shows what is there",
            store.root().display()
        );
    }
    let mut found = series(&runs);
    // All are tested, whatever is shown: nobody gets another answer by looking at less.
    if let Some(case) = &args.case {
        found
            .series
            .retain(|series| fits(case, &series.conditions.case));
        if found.series.is_empty() {
            bail!(
                "no case fits `{case}` in the {} runs that fit; * stands for any text",
                runs.len()
            );
        }
    }
    let fields = Fields {
        verdict: blocklab_report::words::answer::history(&found).text,
        runs: runs.len(),
        history: &found,
    };
    answer::print(args.form, ("history_format", 1), &fields, || {
        views::history(&found)
    })
}
