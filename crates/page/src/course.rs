//! The section on the course of a run: what became of its operations, what failed, its notes, and
//! the overhead of blocklab itself.

use blocklab_record::{Overhead, Record};
use blocklab_units::{Nanos, count, latency, significant};
use maud::{Markup, html};

use super::origin::{Facts, known_facts, list};
use super::side::{self, Side, by_key, names_unless_all};
use blocklab_report::document::Column;
use blocklab_report::document::html::prose;
use blocklab_report::document::tables::{card, scrolling};
use blocklab_report::words::facts;

/// The section. Many runs, and those of a study, share tables; each of a few has lists of its own.
pub fn course(sides: &[Side<'_>]) -> Markup {
    html! {
        section id="course" {
            h2 { (if sides.len() == 1 { "How the run went" } else { "How the runs went" }) }
            @if side::shown_together(sides) {
                (of_many(sides))
            } @else {
                @for side in sides {
                    (side.title())
                    (errors(side))
                    div class="columns" {
                        (list("Operations", operations(side.record)))
                        @if let Some(overhead) = &side.record.overhead {
                            (list("Blocklab's overhead", own_cost(overhead)))
                        }
                        (notes(side.record))
                    }
                }
            }
        }
    }
}

/// What became of the operations.
fn operations(record: &Record) -> Facts {
    let all = facts::accounting(record).known(record.origin);
    let mean = facts::mean_in_flight(record);
    let oldest = all.oldest_in_flight_ns.map(|age| latency(age as f64));
    known_facts(vec![
        ("Issued", all.issued.map(number)),
        ("Completed", Some(number(all.completed))),
        ("In the ramp", above_zero(all.completed_in_ramp).map(number)),
        ("Failed", all.failed.map(number)),
        ("In flight", all.in_flight.map(number)),
        ("Oldest in flight", oldest),
        ("Mean in flight", mean.by_latency.map(one_decimal)),
        (
            "Mean in the device's queue",
            mean.in_device_queue.map(one_decimal),
        ),
        ("Due, never issued", above_zero(all.overdue).map(number)),
        ("Finished", Some(facts::moment(&record.finished_at))),
    ])
}

fn number(n: u64) -> String {
    count(n as f64)
}

/// A number that is worth a line only if it is not 0.
fn above_zero(n: Option<u64>) -> Option<u64> {
    n.filter(|n| *n > 0)
}

/// A mean with one decimal, or with one significant digit where that would show 0.
fn one_decimal(mean: f64) -> String {
    if mean < 0.05 {
        significant(mean, 1)
    } else {
        format!("{mean:.1}")
    }
}

/// What blocklab itself costs an operation, and how exact its clock is.
fn own_cost(overhead: &Overhead) -> Facts {
    let clock = &overhead.clock;
    let [depth1, depth32] = [overhead.depth1_ns, overhead.depth32_ns]
        .map(|ns| Some(format!("{ns:.0} ns per operation")));
    known_facts(vec![
        ("CPU at depth 1", depth1),
        ("CPU at depth 32", depth32),
        ("Clock", Some(clock.source.clone())),
        ("One reading", Some(format!("{:.1} ns", clock.read_ns))),
        ("Clock error", Some(ppm(clock.error_ppm))),
    ])
}

/// The error of a clock. One that rounds to 0 is not exact.
fn ppm(error: f64) -> String {
    if error < 0.05 {
        "below 0.1 ppm".to_owned()
    } else {
        format!("{error:.1} ppm")
    }
}

/// The notes of a run; empty without one.
fn notes(record: &Record) -> Markup {
    html! {
        @if !record.notes.is_empty() {
            div class="card facts notes" {
                h3 { "Notes" }
                ul {
                    @for note in facts::notes(record) {
                        li {
                            b { (note.subject()) } " " span class="level" { (facts::word(note.level)) }
                            br;
                            (prose(note.text))
                        }
                    }
                }
            }
        }
    }
}

/// The table of failed operations; empty if none failed.
fn errors(side: &Side<'_>) -> Markup {
    let failures = facts::failures(side.record);
    let words = ["case", "error", "direction"].map(Column::words);
    let figures = ["count", "first after", "first at byte"].map(Column::figure);
    let columns = [words, figures].concat();
    let rows = html! {
        @for failure in &failures {
            tr {
                th scope="row" { (failure.case) }
                td { b { (failure.error.kind) } " " (failure.error.message) }
                td { (failure.error.direction) }
                td class="number" { (count(failure.error.count as f64)) }
                td class="number" { (Nanos(failure.error.first_at_ns)) }
                td class="number" { (count(failure.error.first_offset as f64)) }
            }
        }
    };
    html! {
        @if !failures.is_empty() {
            div class="card flush bad" {
                (scrolling(&side.unique_name("Errors"), &columns, rows))
            }
        }
    }
}

fn number_or_dash(n: Option<u64>) -> String {
    n.map_or_else(|| "–".to_owned(), number)
}

/// All runs together: their errors one by one, then a table of a row for each, and each note once.
fn of_many(sides: &[Side<'_>]) -> Markup {
    let noun = sides.first().map_or("run", Side::noun);
    let mut columns = vec![Column::words(noun), Column::words("finished")];
    columns.extend(["issued", "completed", "failed"].map(Column::figure));
    let rows = html! {
        @for side in sides {
            @let all = facts::accounting(side.record).known(side.record.origin);
            tr {
                th scope="row" { (side.name()) }
                td { (facts::moment(&side.record.finished_at)) }
                td class="number" { (number_or_dash(all.issued)) }
                td class="number" { (number(all.completed)) }
                td class="number" { (number_or_dash(all.failed)) }
            }
        }
    };
    let notes = sides.iter().flat_map(|side| {
        let notes = side.record.notes.iter();
        notes.map(move |note| ((note.level, &note.subject, &note.text), side))
    });
    html! {
        @for side in sides {
            @let errors = errors(side);
            @if !errors.0.is_empty() { (side.title()) (errors) }
        }
        details class="infos" {
            summary { "Operations and notes of every run" }
            (card("Operations", &columns, rows))
            @let notes = by_key(notes);
            @if !notes.is_empty() {
                ul class="card assumptions" {
                    @for ((level, subject, text), members) in &notes {
                        li {
                            b { (subject) } " " span class="level" { (facts::word(level)) } ": "
                            (prose(text)) (names_unless_all(members, sides.len()))
                        }
                    }
                }
            }
        }
    }
}
