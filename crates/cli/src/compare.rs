//! `blocklab compare`: compares runs with one of them or with the history, and judges conditions.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use blocklab_compare::compare::{Comparison, Margins, compare as compare_records};
use blocklab_compare::gate::{Condition, Evidence, Gate, LoadCondition, answer};
use blocklab_findings::{Assessment, assess};
use blocklab_record::Record;
use blocklab_report::document::Form;
use blocklab_report::{json, views};
use blocklab_store::Store;

use crate::answer::check_streams;
use crate::gate::{self as gate_args, GateCommand};
use crate::{against, chosen};
use blocklab_args::{CompareArgs, Output};
use blocklab_console::terminal;
use blocklab_results::gate;
use blocklab_results::output::{self, Over};
use blocklab_store::each;

/// Compares runs with one of them.
pub fn compare(args: &CompareArgs, store: &Store) -> Result<ExitCode> {
    check_streams(args.html.as_deref(), args.form)?;
    let conditions = conditions(args)?;
    if args.against_history {
        return against::compare(args, &conditions, store);
    }
    let loaded = each(&args.runs, |run| chosen::record(run, store));
    let mut records = loaded.into_iter().collect::<Result<Vec<_>, _>>()?;
    let baseline = baseline(args, store, &mut records)?;
    if records.len() < 2 {
        bail!("cannot compare a single run: name two or more, a --baseline, or --against-history");
    }
    let all: Vec<&Record> = records.iter().collect();
    chosen::all_different(&args.runs, &all)?;
    gate::check_cases(&conditions, &all)?;
    let comparison = compare_records(&all, baseline, margins(args, &conditions));
    let assessments: Vec<Assessment> = all.iter().map(|record| assess(record)).collect();
    let assessed: Vec<_> = all.iter().copied().zip(&assessments).collect();
    let gate = judge(&conditions, &assessed, &comparison);
    show(args, &assessed, &comparison, gate.as_ref())?;
    gate_args::conclude(&args.gate, all, gate.as_ref(), Over::forced(args.force))
}

/// The differences that matter: the one of the gate, or `--at-least`. The number of passes that would
/// show a difference is calculated for it.
fn margins(args: &CompareArgs, conditions: &[LoadCondition]) -> Margins {
    let defaults = Margins::default();
    let losses = conditions.iter().filter_map(|one| match one.condition {
        Condition::Slower { percent } => percent,
        _ => None,
    });
    let wanted = losses.chain(args.at_least).find(|percent| *percent > 0.0);
    Margins {
        at_least_percent: args.at_least.unwrap_or(defaults.at_least_percent),
        show_percent: wanted.map_or(defaults.show_percent, |percent| {
            percent.max(Margins::SAME_PERCENT)
        }),
    }
}

/// The conditions of the gate. `slower` without a percentage allows the smallest difference that matters.
fn conditions(args: &CompareArgs) -> Result<Vec<LoadCondition>> {
    let mut conditions = gate_args::conditions(&args.gate, GateCommand::Compare)?;
    let usual = args.at_least.unwrap_or(Condition::LOSS_PERCENT);
    for one in &mut conditions {
        if let Condition::Slower { percent } = &mut one.condition {
            percent.get_or_insert(usual);
        }
    }
    Ok(conditions)
}

/// The answers to the conditions; `None` without a condition.
fn judge(
    conditions: &[LoadCondition],
    assessed: &[(&Record, &Assessment)],
    comparison: &Comparison,
) -> Option<Gate> {
    let pairs = assessed.iter();
    let runs = pairs.map(|(record, assessment)| (*record, &assessment.findings[..]));
    let evidence = Evidence {
        runs: &runs.collect::<Vec<_>>(),
        comparison: Some(comparison),
        ..Evidence::default()
    };
    answer(conditions, evidence)
}

/// Prints the comparison in words or JSON, and writes its page.
fn show(
    args: &CompareArgs,
    assessed: &[(&Record, &Assessment)],
    comparison: &Comparison,
    gate: Option<&Gate>,
) -> Result<()> {
    let all: Vec<&Record> = assessed.iter().map(|(record, _)| *record).collect();
    let page = || blocklab_page::comparison(assessed, comparison, None);
    if let Some(path) = &args.html {
        output::write(path, page(), Over::forced(args.force))?;
    }
    let is_page_printed = args.html.as_deref() == Some(Path::new("-"));
    match args.form.output() {
        Output::Json => terminal::print_styled(json::comparison(&all, comparison, gate)),
        Output::Document(_) if is_page_printed => {
            gate::print_aside(gate, &[]);
            Ok(())
        }
        Output::Document(Form::Html) => {
            gate::print_aside(gate, &[]);
            terminal::print_data(page())
        }
        Output::Document(form) => {
            let words = views::comparison(&all, comparison).print(form);
            let written = match &args.html {
                Some(path) if form != Form::Markdown => format!("\nReport  {}\n", path.display()),
                _ => String::new(),
            };
            let gate = gate::words(gate, &[], form);
            terminal::print_styled(format!("{words}{written}{gate}"))
        }
    }
}

/// The index of the baseline among the Records. If it is not one of them, it is added at the front.
fn baseline(args: &CompareArgs, store: &Store, records: &mut Vec<Record>) -> Result<usize> {
    let Some(run) = &args.baseline else {
        return Ok(0);
    };
    let record = chosen::record(run, store)?;
    let place = records.iter().position(|known| known.id == record.id);
    Ok(place.unwrap_or_else(|| {
        records.insert(0, record);
        0
    }))
}
