//! The systems, tables, curves and conclusions of a study: read after its cases, so that every name in
//! them can be looked up.

mod conclusion;
mod pick;
mod system;
mod table;

use blocklab_workload::Plan;
use blocklab_workload::publication::Publication;

use super::value::{Node, Value};
use blocklab_syntax::toml_tree::Complaint;
use pick::Known;

/// Keys above the first section, and names of sections.
pub(super) const KEYS: [&str; 7] = [
    "preparation",
    "remarks",
    "system",
    "published",
    "table",
    "curve",
    "conclusion",
];

/// Reads what a study shows besides its cases, which are in `shown` already. The order matters: tables,
/// curves and conclusions name systems.
pub(super) fn read(
    document: &Node<'_>,
    plan: &Plan,
    shown: &mut Publication,
) -> Result<(), Complaint> {
    let found = |name: &str| -> Result<Option<Value<'_>>, Complaint> {
        let entries = Value(document).entries()?;
        let entry = entries.into_iter().find(|(key, ..)| *key == name);
        Ok(entry.map(|(_, _, value)| value))
    };
    if let Some(value) = found("preparation")? {
        shown.preparation = texts(value)?;
    }
    if let Some(value) = found("remarks")? {
        shown.remarks = texts(value)?;
    }
    if let Some(value) = found("system")? {
        let jobs = plan.jobs();
        let most_threads = jobs.map(|job| job.threads).max().unwrap_or(1);
        shown.systems = system::systems(sections("system", value)?, most_threads)?;
    }
    let known = Known {
        systems: shown.systems.clone(),
        families: shown.families.clone(),
    };
    if let Some(value) = found("published")? {
        (shown.source, shown.figures) = system::published(value, &known)?;
    }
    for value in repeated("table", found("table")?, &known)? {
        shown.tables.push(table::table(value, &known)?);
    }
    for value in repeated("curve", found("curve")?, &known)? {
        shown.curves.push(table::curve(value, &known)?);
    }
    for value in repeated("conclusion", found("conclusion")?, &known)? {
        let conclusion = conclusion::conclusion(value, &known)?;
        shown.conclusions.push(conclusion);
    }
    Ok(())
}

/// The sections `[[name]]`. They show systems, so the study must have some.
fn repeated<'v>(
    name: &str,
    value: Option<Value<'v>>,
    known: &Known,
) -> Result<Vec<Value<'v>>, Complaint> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if known.systems.is_empty() {
        let wrong = format!("[[{name}]] shows systems, and the study names none");
        return Err(value
            .complaint(wrong)
            .hint("example: [[system]]")
            .hint("         name = \"gp3\"")
            .hint("         address = \"gp3:1TiB@r5d.xlarge\""));
    }
    sections(name, value)
}

/// The sections of a name in double brackets.
fn sections<'v>(name: &str, value: Value<'v>) -> Result<Vec<Value<'v>>, Complaint> {
    value.tables(name, value.span(), &format!("[[{name}]]"))
}

fn texts(value: Value<'_>) -> Result<Vec<String>, Complaint> {
    let list = value.list_or_one().into_iter();
    list.map(|list| list.text().map(str::to_owned)).collect()
}

/// A text, or nothing where the key is not given.
fn text_or_empty(value: Option<Value<'_>>) -> Result<String, Complaint> {
    let text = value.map(Value::text).transpose()?;
    Ok(text.unwrap_or_default().to_owned())
}

fn missing(section: Value<'_>, what: &str, example: &str) -> Complaint {
    section
        .complaint(format!("this section needs {what}"))
        .hint(format!("example: {example}"))
}

#[cfg(test)]
mod tests;
