//! `blocklab compare RUN --against-history`: a run compared with those before it.

use std::collections::HashSet;
use std::process::ExitCode;

use anyhow::{Result, bail};
use blocklab_compare::gate::{Evidence, Gate, LoadCondition, answer};
use blocklab_compare::history::{AgainstHistory, HistoryRun, against_history};
use blocklab_console::{place, terminal};
use blocklab_findings::assess;
use blocklab_record::Record;
use blocklab_report::document::Form;
use blocklab_report::{fields, views, words};
use blocklab_results::gate;
use blocklab_results::history::{DERIVATION, history_runs};
use blocklab_results::output::Over;
use blocklab_store::Store;

use crate::answer::json;
use crate::chosen;
use crate::gate::conclude;
use blocklab_args::{CompareArgs, Output};

/// Compares the named run with the earlier level of each of its loads.
pub fn compare(
    args: &CompareArgs,
    conditions: &[LoadCondition],
    store: &Store,
) -> Result<ExitCode> {
    let [run] = &args.runs[..] else {
        bail!("--against-history is about one run: its history is what it is compared with");
    };
    let record = chosen::record(run, store)?;
    gate::check_cases(conditions, &[&record])?;
    let (own, earlier) = runs(&record, args.tag.as_deref(), store)?;
    let against = against_history(&own, &earlier, args.at_least.unwrap_or(0.0));
    let gate = judge(conditions, &record, &against);
    let fields = fields! {
        history_comparison_format: 1,
        verdict: words::answer::against_history(&against).text,
        #[serde(flatten)]
        against: &against,
        gate: gate.as_ref(),
    };
    match args.form.output() {
        Output::Json => terminal::print_styled(json(&fields)?)?,
        Output::Document(form) => {
            let text = views::against_history(&against).print(form);
            let answers = match form {
                Form::Html => {
                    gate::print_aside(gate.as_ref(), &[]);
                    String::new()
                }
                form => gate::words(gate.as_ref(), &[], form),
            };
            terminal::print_styled(format!("{text}{answers}"))?;
        }
    }
    let over = Over::forced(args.force);
    conclude(&args.gate, vec![&record], gate.as_ref(), over)
}

/// The run, and the runs before it; with a tag, only those that have it.
fn runs(
    record: &Record,
    tag: Option<&str>,
    store: &Store,
) -> Result<(HistoryRun, Vec<HistoryRun>)> {
    let index = store.index(&DERIVATION);
    let position = index
        .runs
        .iter()
        .position(|indexed| indexed.run.id == record.id);
    let Some(position) = position else {
        bail!(
            "{} is not in the store {}, so it has no history there; `blocklab import record{} FILE` adds it",
            record.id,
            store.root().display(),
            place::store_option(store)
        );
    };
    let before: HashSet<&str> = index.runs[..position]
        .iter()
        .map(|indexed| &*indexed.run.id)
        .collect();
    let earlier = history_runs(store, &index, |run| {
        before.contains(&*run.id)
            && tag.is_none_or(|tag| store.tags(run).iter().any(|known| known == tag))
    });
    if let (Some(tag), true) = (tag, earlier.is_empty()) {
        bail!(
            "no run before {} has the tag `{tag}`; `blocklab note RUN --tag {tag}{}` gives it",
            record.id,
            place::store_option(store)
        );
    }
    let own = history_runs(store, &index, |run| run.id == record.id).pop();
    let Some(own) = own else {
        bail!("the Record of {} cannot be read whole", record.id);
    };
    Ok((own, earlier))
}

/// The answers to the conditions; `None` without a condition.
fn judge(conditions: &[LoadCondition], record: &Record, against: &AgainstHistory) -> Option<Gate> {
    let found = assess(record).findings;
    let evidence = Evidence {
        runs: &[(record, &found)],
        history: Some(against),
        ..Evidence::default()
    };
    answer(conditions, evidence)
}
