//! `blocklab history`: how each load has changed from run to run.

use anyhow::{Result, bail};
use blocklab_compare::gate::fits;
use blocklab_compare::history::{History, RunHead, history as series};
use blocklab_console::{place, terminal};
use blocklab_page as page;
use blocklab_report::document::Form;
use blocklab_report::{fields, views, words};
use blocklab_results::history::{DERIVATION, history_runs};
use blocklab_store::{Index, Store};
use blocklab_units::{agreeing, plural};
use blocklab_web::Built;
use jiff::Timestamp;

use crate::answer;
use crate::list::{is_wanted, warn_of_damaged};
use blocklab_args::{HistoryArgs, Output};

/// Prints the series of the selected loads, with their changes.
pub fn history(args: &HistoryArgs, store: &Store) -> Result<()> {
    let index = store.index(&DERIVATION);
    warn_of_damaged(&index.damaged, store)?;
    let (runs, found) = selected_series(args, store, &index)?;
    terminal::print_styled(match args.form.output() {
        Output::Json => json(runs, &found)?,
        Output::Document(Form::Html) => page::history(&found),
        Output::Document(form) => views::history(&found).print(form),
    })
}

/// The history for a web page.
pub fn shown(args: &HistoryArgs, store: &Store) -> Result<Built> {
    let (runs, found) = selected_series(args, store, &store.index(&DERIVATION))?;
    Ok(Built {
        body: page::history_section(&found),
        script: Some(page::history_script()),
        json: json(runs, &found)?,
    })
}

/// The number of selected runs, and their series.
fn selected_series(
    args: &HistoryArgs,
    store: &Store,
    index: &Index<RunHead>,
) -> Result<(usize, History)> {
    let now = Timestamp::now();
    let runs = history_runs(store, index, |run| is_wanted(store, run, &args.filter, now));
    if runs.is_empty() {
        let root = store.root().display();
        if index.runs.is_empty() {
            bail!("there are no runs in {root} yet: `blocklab run` makes one");
        }
        bail!(
            "no run in {root} fits; `blocklab list{}` shows what is there",
            place::store_option(store)
        );
    }
    let mut found = series(&runs);
    // Filtered only now: the tests are about all cases, and must not change with what is shown.
    if let Some(case) = &args.case {
        found
            .series
            .retain(|series| fits(case, &series.conditions.case));
        if found.series.is_empty() {
            bail!(
                "no case fits `{case}` in the {} that {}; * stands for any text",
                plural(runs.len(), "run"),
                agreeing(runs.len(), "fits", "fit")
            );
        }
    }
    Ok((runs.len(), found))
}

/// The JSON output. `runs`: the number of selected runs.
fn json(runs: usize, history: &History) -> Result<String> {
    answer::json(&fields! {
        history_format: 1,
        verdict: words::answer::history(history).text,
        runs: runs,
        #[serde(flatten)]
        history: history,
    })
}
