//! In: the answers. Out: a document: a row for each volume, and below it what holds the load back.

use blocklab_report::document::{Column, Document, Part, Row};
use blocklab_report::views::moment;
use blocklab_report::words::facts;
use blocklab_units::{Bytes, Ink, Nanos, agreeing, latency, plural, trimmed};

use super::{Answer, Fit, Verdict};

/// `begins`: when the recording began, in nanoseconds since 1970, if that is known.
pub(super) fn document(fit: &Fit, begins: Option<u64>) -> Document {
    let titles = ["LONGEST WAIT", "> 10 ms", "P99", "A MONTH"];
    let columns = Column::named_and_words("VOLUME", titles, "");
    let rows = fit.answers.iter().map(|answer| row(answer, begins, fit));
    let rule = format!(
        "A volume fits if no operation waits more than {} for its limits (--max-wait). Operations come \
         when they came in the trace, whatever is in flight.",
        Nanos(fit.tolerated_wait_ns)
    );
    let assumptions = distinct(fit.answers.iter().flat_map(|answer| &answer.assumptions));
    Document {
        name: format!("What would carry {}", fit.name),
        parts: vec![
            Part::Heading(format!(
                "{}: {}, up to {}",
                fit.name,
                plural(fit.operations as usize, "operation"),
                Bytes(fit.end_bytes)
            )),
            Part::table(columns, rows),
            Part::Prose(rule),
            Part::list("Assumed", assumptions.into_iter().cloned()),
            Part::lines("About the recording", &fit.remarks),
        ],
    }
}

/// The texts without repetitions, in their order: volumes of one type share assumptions.
pub(super) fn distinct<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<&'t String> {
    let mut known = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    known
}

pub(super) fn money(amount: Option<f64>, currency: &str) -> String {
    amount.map_or_else(|| "-".to_owned(), |amount| facts::money(amount, currency))
}

/// The row of a volume; `-` for figures that only a simulation gives.
fn row(answer: &Answer, begins: Option<u64>, fit: &Fit) -> Row {
    let dash = || "-".to_owned();
    let outcome = answer
        .outcome
        .as_ref()
        .filter(|_| answer.verdict != Verdict::TooSmall);
    // A simulation gives the wait exactly; without one, the bound that decided the verdict is shown.
    let wait = match (outcome, answer.wait_least_ns, answer.wait_most_ns) {
        // What does not fit onto a volume has no wait on it.
        _ if answer.verdict == Verdict::TooSmall => dash(),
        (Some(outcome), ..) => latency(outcome.wait_max_ns as f64),
        (None, Some(least), Some(most)) if least == most => latency(most as f64),
        (None, _, Some(most)) if answer.verdict == Verdict::Fits => {
            format!("<= {}", latency(most as f64))
        }
        (None, Some(least), _) if answer.verdict == Verdict::DoesNotFit => {
            format!(">= {}", latency(least as f64))
        }
        _ => dash(),
    };
    let slow = outcome.map(|outcome| format!("{} %", trimmed(outcome.above_10_ms_percent, 2)));
    let p99 = outcome.map(|outcome| latency(outcome.latency_p99_ns as f64));
    let (verdict, ink) = match answer.verdict {
        Verdict::Fits => ("fits".to_owned(), Ink::Green),
        Verdict::FitsUntil => {
            let first = outcome.and_then(|outcome| outcome.first_late_ns);
            let until = first.map_or_else(dash, |first| moment(begins, first));
            (format!("fits until {until} (credits)"), Ink::Yellow)
        }
        Verdict::DoesNotFit => ("does not fit".to_owned(), Ink::Red),
        Verdict::TooSmall => ("too small".to_owned(), Ink::Red),
    };
    Row {
        ink: Some(ink),
        below: below(answer, begins, fit),
        ..Row::from([
            answer.address.clone(),
            wait,
            slow.unwrap_or_else(dash),
            p99.unwrap_or_else(dash),
            money(answer.usd_per_month, answer.currency),
            verdict,
        ])
    }
}

/// The sentences below a row: what holds the load back, and what would carry it.
fn below(answer: &Answer, begins: Option<u64>, fit: &Fit) -> String {
    let mut sentences = Vec::new();
    if answer.verdict == Verdict::TooSmall {
        sentences.push(format!(
            "The trace reaches {}, and the volume has {}.",
            Bytes(fit.end_bytes),
            Bytes(answer.capacity_bytes)
        ));
    } else if let Some(outcome) = &answer.outcome
        && let (Some(episode), Some(held)) = (&outcome.episode, outcome.held.first())
    {
        sentences.push(format!(
            "Bound by {} from {} to {}, longest wait {}; {} {} too long.",
            held.limit,
            moment(begins, episode.from_ns),
            moment(begins, episode.until_ns),
            latency(episode.wait_max_ns as f64),
            plural(outcome.late as usize, "operation"),
            agreeing(outcome.late as usize, "waits", "wait")
        ));
    } else if let (Verdict::DoesNotFit, Some(by)) = (answer.verdict, &answer.bound_by) {
        sentences.push(format!(
            "Bound by {} from {} on, longest wait at {}, by this limit alone {}; the trace is too \
             long to play it on every model.",
            by.limit,
            moment(begins, by.from_ns),
            moment(begins, by.at_ns),
            latency(by.wait_ns as f64)
        ));
    }
    if let Some(smallest) = &answer.smallest {
        let price = match smallest.usd_per_month {
            Some(amount) => format!("at {} a month", facts::money(amount, smallest.currency)),
            None => "at a price that is not known".to_owned(),
        };
        sentences.push(format!("Would fit: {} {price}.", smallest.address));
    }
    if let Some(why) = &answer.none_because {
        sentences.push(format!("No provision found: {why}."));
    }
    sentences.join(" ")
}
