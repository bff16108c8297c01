//! The list of all runs, the newest first, with filters and a choice of runs to compare.

use std::path::Path;

use blocklab_compare::history::{Course, Fastest, RunHead};
use blocklab_record::Origin;
use blocklab_report::document::html::prose;
use blocklab_report::fields;
use blocklab_report::words::facts;
use blocklab_store::{Damaged, Index, Indexed, Listed};
use blocklab_units::{agreeing, count, plural};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::Page;
use crate::layout::{navigation, page, query_text};

/// The filters and the page number that the query asks for. An empty filter matches every run.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Part of an id, a name or a target.
    text: String,
    study: String,
    target: String,
    machine: String,
    /// One of [`STATUSES`].
    status: String,
    /// From 1.
    page: usize,
}

/// Most runs on one page.
const PAGE: usize = 100;
/// What [`status`] can give, in the order of the form.
const STATUSES: [&str; 5] = [
    "complete",
    "interrupted",
    "failed",
    "incomplete",
    "unfinished",
];

/// A run of the page that is shown.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    run: &'a Listed,
    /// `None` when its Record cannot be read.
    #[serde(flatten)]
    known: Option<Known<'a>>,
}

/// What the Record of a run adds.
#[derive(Serialize)]
struct Known<'a> {
    /// `measured`, `simulated`, `emulated` or `imported`.
    origin: &'static str,
    /// Empty when it is unknown.
    machine: &'a str,
    fastest: Option<Shown<'a>>,
}

/// The load with the most IOPS, with its rate over time.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    load: &'a Fastest,
    #[serde(flatten)]
    course: Course,
}

/// The part of a run's line in the index that is read only when the run is shown.
#[derive(Deserialize)]
struct IndexText {
    origin: Origin,
    #[serde(flatten)]
    course: Course,
}

impl<'a> Line<'a> {
    /// The line of a run. What only lines show is read from the text of the index now.
    fn new(index: &Index<RunHead>, indexed: &'a Indexed<RunHead>) -> Self {
        let known = indexed.head.as_ref().and_then(|head| {
            let text = index.text(indexed, |text| serde_json::from_str::<IndexText>(text).ok())?;
            Some(Known {
                origin: text.origin.name(),
                machine: &head.machine,
                fastest: head.fastest.as_ref().map(|load| Shown {
                    load,
                    course: text.course,
                }),
            })
        });
        Self {
            run: &indexed.run,
            known,
        }
    }
}

impl Filter {
    /// Reads the query. Unknown names are ignored, and so is a page number that is none: an old link
    /// then still shows a list.
    pub fn new(query: &[(String, String)]) -> Self {
        let text = |name: &str| {
            // Of a repeated name, the last value counts.
            let last = query.iter().rev().find(|(key, _)| key == name);
            last.map_or_else(String::new, |(_, value)| value.trim().to_owned())
        };
        Self {
            text: text("q"),
            study: text("study"),
            target: text("target"),
            machine: text("machine"),
            status: text("status"),
            page: page_number(&text("page")),
        }
    }

    /// Whether a run fits every filter that is not empty. Any text contains an empty filter. Only two
    /// filters need a check for it: targets, of which a run may have none, and the status, which must be
    /// equal.
    fn matches(&self, indexed: &Indexed<RunHead>) -> bool {
        let run = &indexed.run;
        let head = indexed.head.as_ref();
        let machine = head.map_or("", |head| &head.machine);
        contains_ignoring_case(&run.study, &self.study)
            && (self.target.is_empty()
                || run
                    .targets
                    .iter()
                    .any(|target| contains_ignoring_case(target, &self.target)))
            && contains_ignoring_case(machine, &self.machine)
            && (self.status.is_empty() || self.status == status(run))
            && ([&run.id, &run.name]
                .into_iter()
                .chain(&run.targets)
                .any(|text| contains_ignoring_case(text, &self.text)))
    }

    /// The URL of another page of the same list.
    fn address(&self, page: usize) -> String {
        let fields = [
            ("q", &self.text),
            ("study", &self.study),
            ("target", &self.target),
            ("machine", &self.machine),
            ("status", &self.status),
        ];
        let given = fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}&", query_text(value)));
        format!("/?{}page={page}", given.collect::<String>())
    }
}

/// The number of a page from 1; 1 if it is none, and the largest number if it is larger than that.
fn page_number(text: &str) -> usize {
    let is_large = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let other = if is_large { usize::MAX } else { 1 };
    text.parse().unwrap_or(other).max(1)
}

/// Whether `text` contains `part`, ignoring case.
fn contains_ignoring_case(text: &str, part: &str) -> bool {
    part.is_empty() || text.to_lowercase().contains(&part.to_lowercase())
}

/// The status as the list names it. A run without a Record counts as interrupted elsewhere; here it
/// may also be one that is still running.
fn status(run: &Listed) -> &'static str {
    // Also one that runs, which its row shows: the filter has one word for both.
    if run.partial {
        "unfinished"
    } else {
        run.status.name()
    }
}

/// The list of the runs that match the filter. `is_running`: whether the unfinished run of this id is
/// going on; it reads a file, so it is called only for runs that are shown.
pub fn runs(
    store: &Path,
    index: &Index<RunHead>,
    filter: &Filter,
    is_running: &dyn Fn(&str) -> bool,
) -> Page {
    let fitting: Vec<_> = index
        .runs
        .iter()
        .rev()
        .filter(|run| filter.matches(run))
        .collect();
    let pages = fitting.len().div_ceil(PAGE).max(1);
    // A number beyond the end shows the last page.
    let at = filter.page.min(pages);
    let shown = fitting.iter().skip((at - 1) * PAGE).take(PAGE);
    let shown: Vec<Line<'_>> = shown.map(|indexed| Line::new(index, indexed)).collect();
    let form = fields! {
        runs_format: 1,
        // Number of runs that match the filter, on all pages.
        fitting: fitting.len(),
        page: at,
        pages: pages,
        runs: &shown,
        damaged: &index.damaged,
    };
    let json = serde_json::to_string_pretty(&form).expect("a form holds no exotic keys");
    let main = html! {
        h1 { "Runs" }
        (filters(filter))
        p class="hint" { (prose(&summary(store, fitting.len(), index.runs.len()))) }
        @if !shown.is_empty() { (table(&shown, is_running)) }
        @if pages > 1 {
            nav class="turn" aria-label="Pages of runs" {
                @if at > 1 { a href=(filter.address(at - 1)) { "Newer" } }
                span { "page " (at) " of " (pages) }
                @if at < pages { a href=(filter.address(at + 1)) { "Older" } }
            }
        }
        @if !index.damaged.is_empty() { (damaged(&index.damaged)) }
    };
    Page {
        html: page("Runs", &navigation("/", &[]), &main, None),
        json: json + "\n",
    }
}

/// How many runs are listed, in a sentence. Without any it names the store, which may be another one
/// than the reader thinks, or have been moved away.
fn summary(store: &Path, fitting: usize, all: usize) -> String {
    match (fitting, all) {
        (_, 0) => format!(
            "There are no runs in {} yet: `blocklab run` makes one.",
            store.display()
        ),
        (fitting, all) if fitting == all => plural(all, "run"),
        (fitting, all) => {
            let verb = agreeing(fitting, "fits", "fit");
            format!(
                "{} of {} {verb}.",
                count(fitting as f64),
                plural(all, "run")
            )
        }
    }
}

/// The form with the filters, filled in as they are now.
fn filters(filter: &Filter) -> Markup {
    let fields = [
        ("q", "Run, name or target", &filter.text),
        ("study", "Study", &filter.study),
        ("target", "Target", &filter.target),
        ("machine", "Machine", &filter.machine),
    ];
    html! {
        form class="filters" method="get" action="/" role="search" {
            @for (name, label, value) in fields {
                label { (label) input type="text" name=(name) value=(value) maxlength="200"; }
            }
            label {
                "Status"
                select name="status" {
                    option value="" { "any" }
                    @for name in STATUSES {
                        option value=(name) selected[filter.status == name] { (name) }
                    }
                }
            }
            button class="act" type="submit" { "Show" }
        }
    }
}

/// The table of runs. It is a form: the ticked runs are compared.
fn table(shown: &[Line<'_>], is_running: &dyn Fn(&str) -> bool) -> Markup {
    html! {
        form method="get" action="/compare" {
            div class="card flush" {
                div class="scroll" tabindex="0" role="region" aria-label="Runs" {
                    table class="numbers runs" {
                        thead { tr {
                            th scope="col" class="check" { span class="unseen" { "Compare" } }
                            th scope="col" { "Run" }
                            th scope="col" { "Name" }
                            th scope="col" { "Started" }
                            th scope="col" { "Status" }
                            th scope="col" class="number" { "Most IOPS" }
                            th scope="col" { "As it went" }
                            th scope="col" { "Target" }
                        } }
                        tbody { @for line in shown { (row(line, is_running)) } }
                    }
                }
            }
            p class="turn" {
                button class="act" type="submit" { "Compare" }
                span class="hint" { "the runs that are ticked, the oldest of them first" }
            }
        }
    }
}

/// The row of a run, with a link to its page or, while it is going on, to the live one.
fn row(line: &Line<'_>, is_running: &dyn Fn(&str) -> bool) -> Markup {
    let run = line.run;
    let fastest = line.known.as_ref().and_then(|known| known.fastest.as_ref());
    let is_running = run.partial && is_running(&run.id);
    let place = if is_running { "live" } else { "run" };
    let (tone, state) = match status(run) {
        _ if is_running => ("state running", "running"),
        "complete" => ("state", "complete"),
        other => ("state doubt", other),
    };
    html! {
        tr {
            td class="check" {
                input type="checkbox" name="run" value=(run.id) aria-label={ "Compare " (run.id) };
            }
            th scope="row" { a href={ "/" (place) "/" (run.id) } { (run.id) } }
            td class="name" { (run.name) }
            td { (facts::moment(&run.started_at)) }
            td { span class=(tone) { (state) } }
            td class="number" { (fastest.map_or_else(|| "–".to_owned(), |shown| facts::iops(shown.load.iops))) }
            td { @if let Some(shown) = fastest { (spark(shown)) } }
            td class="target" title=(run.targets.join(" ")) { (targets(&run.targets)) }
        }
    }
}

/// The first target and how many follow, to fit into a column of the table.
fn targets(all: &[String]) -> String {
    match all {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
        few => few.join(" "),
    }
}

/// Width of the small line chart, in pixels.
const SPARK_WIDTH: f64 = 132.0;
/// Its height.
const SPARK_HEIGHT: f64 = 28.0;

/// The rate over time as a small line chart, whose axis begins at 0 IOPS; nothing for a single value,
/// which makes no line.
fn spark(shown: &Shown<'_>) -> Markup {
    let course = &shown.course.course_iops;
    let most = course.iter().copied().fold(0.0, f64::max);
    let steps = course.len().saturating_sub(1).max(1) as f64;
    // A margin keeps the line's full width inside the picture: 1 px at the sides, 2 px above and below.
    let points = course.iter().enumerate().map(|(at, iops)| {
        let letter = if at == 0 { 'M' } else { 'L' };
        let x = 1.0 + at as f64 / steps * (SPARK_WIDTH - 2.0);
        let y = SPARK_HEIGHT - 2.0 - iops / most.max(f64::MIN_POSITIVE) * (SPARK_HEIGHT - 4.0);
        format!("{letter}{x:.1} {y:.1}")
    });
    let label = format!(
        "{} {}: up to {} IOPS",
        shown.load.case,
        shown.load.direction,
        facts::iops(most)
    );
    html! {
        @if course.len() > 1 {
            svg class="spark" viewBox={ "0 0 " (SPARK_WIDTH) " " (SPARK_HEIGHT) } role="img" aria-label=(label) {
                title { (label) }
                path d=(points.collect::<String>()) {}
            }
        }
    }
}

/// The folders that cannot be read, folded.
fn damaged(all: &[Damaged]) -> Markup {
    html! {
        details class="infos" {
            summary { (plural(all.len(), "folder")) " cannot be read" }
            ul class="entries" {
                @for one in all { li { (one.path.display()) ": " (one.why) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: page 99999999999999999999 was the first one, and page 9999999999 the last.
    #[test]
    fn a_page_beyond_the_end_is_beyond_it_however_large() {
        let numbers = ["", "x", "-3", "0", "7"].map(page_number);
        assert_eq!(numbers, [1, 1, 1, 1, 7]);
        assert_eq!(page_number("99999999999999999999"), usize::MAX);
    }

    /// The list said "1200 of 20,000 runs fit.": only one of the two numbers had separators.
    #[test]
    fn both_numbers_of_runs_have_separators() {
        let text = summary(Path::new("/store"), 1_200, 20_000);
        assert_eq!(text, "1,200 of 20,000 runs fit.");
    }
}
