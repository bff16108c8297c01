//! `blocklab trace fit` of a table of rates: bounds of the time that operations would have waited.

use anyhow::{Context, Result, bail};
use blocklab_report::document::{Column, Document, Part, Row};
use blocklab_report::fields;
use blocklab_report::views::moment;
use blocklab_sizing::{DISPERSION, RatesOutcome, operations_in, play_rates};
use blocklab_trace::rates::RateTable;
use blocklab_units::{Ink, Nanos, count, latency, plural, trimmed};
use serde::Serialize;

use super::shown::{distinct, money};
use super::{Candidate, FEW_SIMULATED};
use crate::answer;
use crate::trace::opened;
use blocklab_args::TraceFitArgs;

/// Whether a volume would have carried the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RatesVerdict {
    /// No operation waits too long, even if operations come in bursts.
    Fits,
    /// No operation waits too long if they come evenly, but some do in bursts.
    FitsIfEven,
    /// Some operations wait too long even if they come evenly.
    DoesNotFit,
}

#[derive(Serialize)]
struct RatesAnswer {
    address: String,
    verdict: RatesVerdict,
    usd_per_month: Option<f64>,
    currency: &'static str,
    #[serde(flatten)]
    outcome: RatesOutcome,
    assumptions: Vec<String>,
}

#[derive(Serialize)]
struct RatesFit {
    name: String,
    began_at: Option<String>,
    intervals: usize,
    interval_ns: u64,
    tolerated_wait_ns: u64,
    assumed_dispersion: f64,
    answers: Vec<RatesAnswer>,
    remarks: Vec<String>,
}

/// Judges every volume, and prints the verdicts.
pub(super) fn fit(
    args: &TraceFitArgs,
    table: &RateTable,
    candidates: Vec<Candidate>,
) -> Result<()> {
    let operations = operations_in(table);
    // Each volume plays them twice: evenly, and in bursts. No bound answers in their place, so it may take
    // four times as long as a trace.
    if operations * 2.0 * candidates.len() as f64 > 4.0 * FEW_SIMULATED as f64 {
        bail!(
            "the table stands for {} operations, which would take long to play on {}: take \
             a part of it with --from and --until",
            count(operations),
            plural(candidates.len(), "volume")
        );
    }
    let answers = candidates
        .into_iter()
        .map(|candidate| judge(args, table, candidate));
    let fit = RatesFit {
        answers: answers.collect::<Result<_>>()?,
        name: opened::names(&args.files),
        began_at: table.begins_ns.and_then(opened::rfc_3339),
        intervals: table.intervals.len(),
        interval_ns: table.interval_ns,
        tolerated_wait_ns: args.max_wait.0,
        assumed_dispersion: DISPERSION,
        remarks: table.remarks.clone(),
    };
    let fields = fields! {
        trace_rates_fit_format: 1,
        #[serde(flatten)]
        fit: &fit,
    };
    answer::print(args.form, &fields, || document(&fit, table))
}

/// The answer about a volume, on which the table is played twice: with operations at even distances,
/// and in bursts.
fn judge(args: &TraceFitArgs, table: &RateTable, candidate: Candidate) -> Result<RatesAnswer> {
    let outcome = play_rates(table, &candidate.spec, args.max_wait)
        .with_context(|| format!("cannot simulate {}", candidate.address))?;
    let tolerated = args.max_wait.0;
    Ok(RatesAnswer {
        verdict: if outcome.even.wait_max_ns > tolerated {
            RatesVerdict::DoesNotFit
        } else if outcome.bursty.wait_max_ns > tolerated {
            RatesVerdict::FitsIfEven
        } else {
            RatesVerdict::Fits
        },
        address: candidate.address,
        usd_per_month: candidate.usd_per_month,
        currency: candidate.currency,
        outcome,
        assumptions: candidate.assumptions,
    })
}

/// A row for each volume, what the two figures mean, and what is assumed.
fn document(fit: &RatesFit, table: &RateTable) -> Document {
    let rows = fit.answers.iter().map(|answer| row(answer, table));
    let titles = ["LONGEST WAIT, EVEN", "IN BURSTS", "A MONTH"];
    let columns = Column::named_and_words("VOLUME", titles, "");
    let rule = format!(
        "A table of rates does not say how operations came within its intervals, so there are two \
         figures: spread evenly, and in bursts as dense as in recordings of servers (index of \
         dispersion {} at a second). A volume fits if no operation waits more than {} in bursts. \
         Operations are scattered, so none are merged.",
        count(fit.assumed_dispersion),
        Nanos(fit.tolerated_wait_ns)
    );
    let assumptions = fit.answers.iter().flat_map(|answer| &answer.assumptions);
    let about = distinct(fit.remarks.iter().chain(assumptions));
    let heading = format!(
        "{}: {} of {} s",
        fit.name,
        plural(fit.intervals, "interval"),
        trimmed(fit.interval_ns as f64 / 1e9, 1)
    );
    Document {
        name: fit.name.clone(),
        parts: vec![
            Part::Heading(heading),
            Part::table(columns, rows),
            Part::Prose(rule),
            Part::list("Assumed", about.into_iter().cloned()),
        ],
    }
}

/// The row of a volume. Below it: how far its credits fell in the model and in the table.
fn row(answer: &RatesAnswer, table: &RateTable) -> Row {
    let (verdict, ink) = match answer.verdict {
        RatesVerdict::Fits => ("fits", Ink::Green),
        RatesVerdict::FitsIfEven => ("fits only if operations come evenly", Ink::Yellow),
        RatesVerdict::DoesNotFit => ("does not fit", Ink::Red),
    };
    let below = answer.outcome.balance.map_or_else(String::new, |balance| {
        format!(
            "Credits fell to {} % in the model, and to {} % in the table; they differ most at {}, by \
             {} points.",
            trimmed(balance.model_min_percent, 1),
            trimmed(balance.table_min_percent, 1),
            moment(table.begins_ns, balance.at_ns),
            trimmed(balance.difference_max_points, 1)
        )
    });
    Row {
        ink: Some(ink),
        below,
        ..Row::from([
            answer.address.clone(),
            latency(answer.outcome.even.wait_max_ns as f64),
            latency(answer.outcome.bursty.wait_max_ns as f64),
            money(answer.usd_per_month, answer.currency),
            verdict.to_owned(),
        ])
    }
}
