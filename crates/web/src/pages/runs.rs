//! All runs, the newest first: what each came to, how it went, and which are to be compared.

use blocklab_compare::history::{Course, Fastest, RunHead};
use blocklab_record::{Origin, Status};
use blocklab_report::words::facts;
use blocklab_store::{Damaged, Index, Indexed, Listed};
use blocklab_units::{count, plural};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::Page;
use crate::layout::{above, page, query_text};

/// What is looked for; an empty text fits all.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    text: String,
    study: String,
    target: String,
    machine: String,
    status: String,
    /// From 1.
    page: usize,
}

/// Runs on a page.
const PAGE: usize = 100;
const STATUSES: [&str; 5] = [
    "complete",
    "interrupted",
    "failed",
    "incomplete",
    "unfinished",
];

#[derive(Serialize)]
struct Form<'a> {
    runs_format: u32,
    /// How many fit.
    fitting: usize,
    page: usize,
    pages: usize,
    runs: &'a [Line<'a>],
    damaged: &'a [Damaged],
}

/// A run that is shown.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    run: &'a Listed,
    /// Nothing where its Record cannot be read.
    #[serde(flatten)]
    known: Option<Known<'a>>,
}

#[derive(Serialize)]
struct Known<'a> {
    /// `measured`, `simulated`, `emulated`, `imported`.
    origin: &'static str,
    /// Empty where it is unknown.
    machine: &'a str,
    fastest: Option<Shown<'a>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    load: &'a Fastest,
    #[serde(flatten)]
    course: Course,
}

/// What the index remembers run by run, as far as it is shown.
#[derive(Deserialize)]
struct More {
    origin: Origin,
    #[serde(flatten)]
    course: Course,
}

impl<'a> Line<'a> {
    fn new(index: &Index<RunHead>, indexed: &'a Indexed<RunHead>) -> Self {
        let known = indexed.head.as_ref().and_then(|head| {
            let more = index.text(indexed, |text| serde_json::from_str::<More>(text).ok())?;
            Some(Known {
                origin: more.origin.name(),
                machine: &head.machine,
                fastest: head.fastest.as_ref().map(|load| Shown {
                    load,
                    course: more.course,
                }),
            })
        });
        Self {
            run: &indexed.run,
            known,
        }
    }
}

impl Wanted {
    /// As the address has it; what it does not know it ignores.
    pub fn new(query: &[(String, String)]) -> Self {
        let text = |name: &str| {
            let last = query.iter().rev().find(|(key, _)| key == name);
            last.map_or_else(String::new, |(_, value)| value.trim().to_owned())
        };
        Self {
            text: text("q"),
            study: text("study"),
            target: text("target"),
            machine: text("machine"),
            status: text("status"),
            page: text("page").parse().unwrap_or(1).max(1),
        }
    }

    fn fits(&self, indexed: &Indexed<RunHead>) -> bool {
        let run = &indexed.run;
        let head = indexed.head.as_ref();
        let machine = head.map_or("", |head| &head.machine);
        has(&run.study, &self.study)
            && (self.target.is_empty()
                || run.targets.iter().any(|target| has(target, &self.target)))
            && has(machine, &self.machine)
            && (self.status.is_empty() || self.status == status(run))
            && ([&run.id, &run.name]
                .into_iter()
                .chain(&run.targets)
                .any(|text| has(text, &self.text)))
    }

    /// The address of another page of the same.
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

/// Whether a text has a part, whatever the size of its letters.
fn has(text: &str, part: &str) -> bool {
    part.is_empty() || text.to_lowercase().contains(&part.to_lowercase())
}

fn status(run: &Listed) -> &'static str {
    match run.status {
        _ if run.partial => "unfinished",
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
        Status::Incomplete => "incomplete",
    }
}

/// The page of those that fit.
pub fn runs(index: &Index<RunHead>, wanted: &Wanted, is_running: &dyn Fn(&str) -> bool) -> Page {
    let fitting: Vec<_> = index
        .runs
        .iter()
        .rev()
        .filter(|run| wanted.fits(run))
        .collect();
    let pages = fitting.len().div_ceil(PAGE).max(1);
    let at = wanted.page.min(pages);
    let shown = fitting.iter().skip((at - 1) * PAGE).take(PAGE);
    let shown: Vec<Line<'_>> = shown.map(|indexed| Line::new(index, indexed)).collect();
    let form = Form {
        runs_format: 1,
        fitting: fitting.len(),
        page: at,
        pages,
        runs: &shown,
        damaged: &index.damaged,
    };
    let json = serde_json::to_string_pretty(&form).expect("a form holds no exotic keys");
    let main = html! {
        h1 { "Runs" }
        (filters(wanted))
        p class="hint" { (words(fitting.len(), index.runs.len())) }
        @if !shown.is_empty() { (table(&shown, is_running)) }
        @if pages > 1 {
            nav class="turn" aria-label="Pages of runs" {
                @if at > 1 { a href=(wanted.address(at - 1)) { "Newer" } }
                span { "page " (at) " of " (pages) }
                @if at < pages { a href=(wanted.address(at + 1)) { "Older" } }
            }
        }
        @if !index.damaged.is_empty() { (damaged(&index.damaged)) }
    };
    Page {
        html: page("Runs", &above("/", &[]), &main, None),
        json: json + "\n",
    }
}

fn words(fitting: usize, all: usize) -> String {
    match (fitting, all) {
        (_, 0) => "There are no runs yet: `blocklab run` makes one.".to_owned(),
        (fitting, all) if fitting == all => plural(all, "run"),
        (fitting, all) => format!("{fitting} of {} fit.", plural(all, "run")),
    }
}

fn filters(wanted: &Wanted) -> Markup {
    let fields = [
        ("q", "Run, name or target", &wanted.text),
        ("study", "Study", &wanted.study),
        ("target", "Target", &wanted.target),
        ("machine", "Machine", &wanted.machine),
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
                        option value=(name) selected[wanted.status == name] { (name) }
                    }
                }
            }
            button class="act" type="submit" { "Show" }
        }
    }
}

fn table(shown: &[Line<'_>], is_running: &dyn Fn(&str) -> bool) -> Markup {
    html! {
        form method="get" action="/compare" {
            div class="card flush" {
                div class="scroll" tabindex="0" role="region" aria-label="Runs" {
                    table class="numbers runs" {
                        thead { tr {
                            th scope="col" class="check" { span class="unseen" { "Compare" } }
                            th scope="col" { "Run" }
                            th scope="col" { "Started (UTC)" }
                            th scope="col" { "Status" }
                            th scope="col" class="number" { "Most IOPS" }
                            th scope="col" { "As it went" }
                            th scope="col" { "Name" }
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
            td { (facts::moment(&run.started_at)) }
            td { span class=(tone) { (state) } }
            td class="number" { (fastest.map_or_else(|| "–".to_owned(), |shown| count(shown.load.iops))) }
            td { @if let Some(shown) = fastest { (spark(shown)) } }
            td { (run.name) }
            td class="target" title=(run.targets.join(" ")) { (targets(&run.targets)) }
        }
    }
}

/// The first of many, and how many follow.
fn targets(all: &[String]) -> String {
    match all {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
        few => few.join(" "),
    }
}

const SPARK: (f64, f64) = (132.0, 28.0);

/// The rate from zero, as a line.
fn spark(shown: &Shown<'_>) -> Markup {
    let course = &shown.course.course_iops;
    let most = course.iter().copied().fold(0.0, f64::max);
    let steps = course.len().saturating_sub(1).max(1) as f64;
    let (width, height) = SPARK;
    let points = course.iter().enumerate().map(|(at, iops)| {
        let letter = if at == 0 { 'M' } else { 'L' };
        let x = 1.0 + at as f64 / steps * (width - 2.0);
        let y = height - 2.0 - iops / most.max(1.0) * (height - 4.0);
        format!("{letter}{x:.1} {y:.1}")
    });
    let label = format!(
        "{} {}: up to {} IOPS",
        shown.load.case,
        shown.load.direction,
        count(most)
    );
    html! {
        @if course.len() > 1 {
            svg class="spark" viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(label) {
                title { (label) }
                path d=(points.collect::<String>()) {}
            }
        }
    }
}

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
