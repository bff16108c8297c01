//! The study as written: the keys of each level with their places, nothing resolved.

use std::ops::Range;

use blocklab_workload::Job;

use super::keys::{self, CASE, Case, Key, Need, STUDY, Study};
use super::left_out::foreign_key;
use super::publication::KEYS as PUBLICATION;
use super::value::{Node, Value};
use blocklab_syntax::toml_tree::Complaint;
use blocklab_units::nearest;

/// A job key with its value.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub key: &'static Key<Job>,
    pub place: Range<usize>,
    pub node: &'a Node<'a>,
}

impl<'a> Entry<'a> {
    pub const fn value(&self) -> Value<'a> {
        Value(self.node)
    }
}

/// A key that is swept.
pub(super) struct Axis<'a> {
    pub key: &'static Key<Job>,
    pub place: Range<usize>,
    /// Its values as they were written, at least one.
    pub values: Vec<&'a Node<'a>>,
}

/// A job of a case with several.
pub(super) struct RawJob<'a> {
    pub name: String,
    pub place: Range<usize>,
    pub entries: Vec<Entry<'a>>,
}

#[derive(Default)]
pub(super) struct RawCase<'a> {
    pub head: Case,
    pub place: Range<usize>,
    pub entries: Vec<Entry<'a>>,
    /// Empty: the entries of the case are those of its only job.
    pub jobs: Vec<RawJob<'a>>,
    pub axes: Vec<Axis<'a>>,
}

#[derive(Default)]
pub(super) struct Raw<'a> {
    pub study: Study,
    pub defaults: Vec<Entry<'a>>,
    pub axes: Vec<Axis<'a>>,
    pub cases: Vec<RawCase<'a>>,
}

impl Raw<'_> {
    /// Whether any key is that of the engine, or one that only some engine has.
    pub fn chooses_engine(&self) -> bool {
        let jobs = self.cases.iter().flat_map(|case| &case.jobs);
        let of_cases = self.cases.iter().map(|case| &case.entries);
        let of_jobs = jobs.map(|job| &job.entries);
        let entries = of_cases.chain(of_jobs).chain([&self.defaults]).flatten();
        let axes = self.cases.iter().flat_map(|case| &case.axes);
        let swept = axes.chain(&self.axes).map(|axis| axis.key);
        let mut keys = entries.map(|entry| entry.key).chain(swept);
        keys.any(|key| key.name == "engine" || matches!(key.need, Need::With("engine", _)))
    }
}

/// Sorts the keys of a document to their levels and reads those that are no job's.
pub(super) fn read<'a>(document: &'a Node<'a>) -> Result<Raw<'a>, Complaint> {
    let mut raw = Raw::default();
    for (name, place, value) in Value(document).entries()? {
        match name {
            "defaults" => raw.defaults = job_entries(section(name, &place, value)?, "[defaults]")?,
            "matrix" => raw.axes = axes(section(name, &place, value)?)?,
            "case" => {
                let cases = value.tables(name, place, REPEATED)?.into_iter().map(case);
                raw.cases = cases.collect::<Result<_, _>>()?;
            }
            // They are read by the module of publications.
            _ if PUBLICATION.contains(&name) => (),
            _ => match STUDY.iter().find(|key| key.name == name) {
                Some(key) => key.read(&mut raw.study, value)?,
                None => return Err(unknown_top_level_key(name, place)),
            },
        }
    }
    if raw.cases.is_empty() {
        let end = document.span().end;
        return Err(
            Complaint::new(end..end, "the study has no case: nothing to run")
                .hint("example: [[case]]")
                .hint("         name = \"rand4k\""),
        );
    }
    Ok(raw)
}

/// A section that is written once; other values are refused.
fn section<'a>(name: &str, place: &Range<usize>, value: Value<'a>) -> Result<Value<'a>, Complaint> {
    if value.is_table() {
        return Ok(value);
    }
    Err(
        Complaint::new(place.clone(), format!("`{name}` is a section of its own"))
            .hint(format!("write [{name}], and its keys below it")),
    )
}

/// How cases and jobs are written.
const REPEATED: &str = "[[case]], and [[case.job]] for the jobs of a case";

/// Reads a section `[[case]]`: its own keys, its jobs and its sweep; every other key is one of a job.
fn case(value: Value<'_>) -> Result<RawCase<'_>, Complaint> {
    let mut case = RawCase {
        place: value.span(),
        ..RawCase::default()
    };
    for (name, place, value) in value.entries()? {
        match name {
            "matrix" => case.axes = axes(section("case.matrix", &place, value)?)?,
            "job" => {
                let jobs = value
                    .tables("case.job", place, REPEATED)?
                    .into_iter()
                    .map(job);
                case.jobs = jobs.collect::<Result<_, _>>()?;
            }
            _ => {
                if let Some(key) = CASE.iter().find(|key| key.name == name) {
                    key.read(&mut case.head, value)?;
                    // Errors about the case as a whole point at its name.
                    if name == "name" {
                        case.place = value.span();
                    }
                } else {
                    let own = CASE.iter().map(|key| key.name).chain(["job", "matrix"]);
                    let own: Vec<_> = own.collect();
                    case.entries
                        .push(job_entry(name, place, value, "[[case]]", &own)?);
                }
            }
        }
    }
    if case.head.name.is_empty() {
        Err(Complaint::new(case.place.clone(), "a case needs a name")
            .hint("example: name = \"rand4k-read\""))
    } else {
        Ok(case)
    }
}

/// Reads a section `[[case.job]]`.
fn job(value: Value<'_>) -> Result<RawJob<'_>, Complaint> {
    let mut job = RawJob {
        name: String::new(),
        place: value.span(),
        entries: Vec::new(),
    };
    for (name, place, value) in value.entries()? {
        match name {
            "name" => {
                job.name = value.name()?;
                job.place = value.span();
            }
            _ => {
                let entry = job_entry(name, place, value, "[[case.job]]", &["name"])?;
                job.entries.push(entry);
            }
        }
    }
    if job.name.is_empty() {
        Err(
            Complaint::new(value.span(), "each of several jobs needs a name")
                .hint("example: name = \"reader\""),
        )
    } else {
        Ok(job)
    }
}

fn job_entries<'a>(table: Value<'a>, level: &str) -> Result<Vec<Entry<'a>>, Complaint> {
    let entries = table.entries()?.into_iter();
    entries
        .map(|(name, place, value)| job_entry(name, place, value, level, &[]))
        .collect()
}

/// Finds the row of a job key and tries its value, so that a wrong one is reported even where a more
/// specific level replaces it.
fn job_entry<'a>(
    name: &str,
    place: Range<usize>,
    value: Value<'a>,
    level: &str,
    also: &[&'static str],
) -> Result<Entry<'a>, Complaint> {
    let key = job_key(name, &place, level, also)?;
    key.read(&mut Job::new("trial"), value)?;
    Ok(Entry {
        key,
        place,
        node: value.0,
    })
}

/// The keys of a section `[matrix]`, with the values of each.
fn axes<'a>(table: Value<'a>) -> Result<Vec<Axis<'a>>, Complaint> {
    let mut axes = Vec::new();
    for (name, place, value) in table.entries()? {
        let key = job_key(name, &place, "[matrix]", &[])?;
        let values = axis_values(key, value)?;
        axes.push(Axis { key, place, values });
    }
    Ok(axes)
}

/// The values of a swept key: at least one, and the key takes each of them.
fn axis_values<'a>(key: &Key<Job>, value: Value<'a>) -> Result<Vec<&'a Node<'a>>, Complaint> {
    let example = format!("example: {} = [{}]", key.name, key.example);
    let Ok(list) = value.list() else {
        let wrong = format!("`{}` in a matrix needs the list of its values", key.name);
        return Err(value.complaint(wrong).hint(example));
    };
    if list.is_empty() {
        let wrong = format!(
            "`{}` has no values here, so no case would be left",
            key.name
        );
        return Err(value.complaint(wrong).hint(example));
    }
    for item in &list {
        key.read(&mut Job::new("trial"), *item)?;
    }
    Ok(list.into_iter().map(|item| item.0).collect())
}

/// The key of a job by its name, which is written at `place` in a section `level`. `also` are the names that
/// this section has besides keys of jobs, for the guess at what was meant.
fn job_key(
    name: &str,
    place: &Range<usize>,
    level: &str,
    also: &[&'static str],
) -> Result<&'static Key<Job>, Complaint> {
    keys::job_key(name).ok_or_else(|| {
        let wrong = Complaint::new(place.clone(), format!("unknown key `{name}` in {level}"));
        if STUDY.iter().any(|key| key.name == name) {
            return wrong.hint(format!(
                "`{name}` is set once for the study: above the first [section]"
            ));
        }
        let own = keys::job_keys().map(|key| key.name);
        with_known_keys(wrong, name, own.chain(also.iter().copied()))
    })
}

fn unknown_top_level_key(name: &str, place: Range<usize>) -> Complaint {
    let wrong = Complaint::new(place, format!("unknown key `{name}`"));
    if keys::job_key(name).is_some() {
        return wrong.hint(format!(
            "`{name}` is a key of a job: it stands below [defaults], [[case]] or [matrix]"
        ));
    }
    let own = STUDY.iter().map(|key| key.name);
    let sections = ["defaults", "matrix", "case"].into_iter();
    with_known_keys(wrong, name, own.chain(sections).chain(PUBLICATION))
}

/// The nearest known key, or what another tool's name is called here, or all keys that are allowed here.
fn with_known_keys(
    wrong: Complaint,
    name: &str,
    known: impl Iterator<Item = &'static str>,
) -> Complaint {
    if let Some(key) = keys::job_keys().find(|key| key.other_names.contains(&name)) {
        let wrong = wrong.hint(format!(
            "that is called `{}` here: {}",
            key.name, key.meaning
        ));
        return key.with_advice(wrong);
    }
    if let Some(key) = STUDY.iter().find(|key| key.other_names.contains(&name)) {
        return key.with_advice(wrong.hint(format!("that is called `{}` here", key.name)));
    }
    if let Some(hint) = foreign_key(name) {
        return wrong.hint(hint);
    }
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(guess) => wrong.guess(Some(guess)),
        None => wrap(&known).into_iter().fold(wrong, Complaint::hint),
    }
}

/// The known keys in lines of a bearable width.
fn wrap(known: &[&str]) -> Vec<String> {
    const WIDTH: usize = 90;
    let mut lines = vec![String::from("known here:")];
    for name in known {
        let last = lines.last_mut().expect("begins with one");
        if last.len() + name.len() > WIDTH {
            lines.push(format!("            {name}"));
        } else {
            last.push(' ');
            last.push_str(name);
        }
    }
    lines
}

/// Where the text of a study sets this key first, in any of its tables, such as
/// ``study.toml:3: `pause = "9h"` ``; without such a line, the name alone.
#[must_use]
pub fn place_of(key: &str, name: &str, source: &str) -> String {
    let mut lines = source.lines().zip(1..);
    match lines.find(|(line, _)| line.split('=').next().map(str::trim) == Some(key)) {
        Some((line, number)) => {
            let text = line.split('#').next().unwrap_or(line).trim();
            format!("{name}:{number}: `{text}`")
        }
        None => name.to_owned(),
    }
}
