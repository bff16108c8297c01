//! Conclusions, and the bounds by which they are tested.

use blocklab_workload::publication::{Cell, Check, Conclusion, Figure, Scope};

use super::super::value::{Value, fields};
use super::pick::{self, Known, Pick};
use super::{missing, text_or_empty};
use blocklab_syntax::toml_tree::Complaint;

/// Reads a section `[[conclusion]]`. One without checks must say in `because` why it cannot be tested.
pub(super) fn conclusion(section: Value<'_>, known: &Known) -> Result<Conclusion, Complaint> {
    fields!(section; text, checks, because, promised);
    let text = text.ok_or_else(|| missing(section, "a text", "text = \"A is faster than B.\""))?;
    let checks = checks.map(Value::list).transpose()?.unwrap_or_default();
    let because = text_or_empty(because)?;
    if checks.is_empty() && because.is_empty() {
        return Err(missing(
            section,
            "checks, or because: why it cannot be tested",
            "checks = [{ systems = [\"i3.xlarge\"], cases = [\"read\"], figure = \"saturation\", max = 64 }]",
        ));
    }
    let checks = checks.into_iter().map(|value| read_check(value, known));
    Ok(Conclusion {
        text: text.name()?,
        checks: checks.collect::<Result<_, _>>()?,
        because,
        promised: promised.map(Value::flag).transpose()?.unwrap_or_default(),
    })
}

/// Reads an entry of `checks`.
fn read_check(entry: Value<'_>, known: &Known) -> Result<Check, Complaint> {
    fields!(entry; name, systems, over, cases, than, at, figure, min, max);
    let systems = systems.ok_or_else(|| missing(entry, "systems", "systems = [\"i3.xlarge\"]"))?;
    let figure = figure.ok_or_else(|| missing(entry, "a figure", "figure = \"iops\""))?;
    if min.is_none() && max.is_none() {
        return Err(missing(entry, "`min`, `max` or both", "min = 1.5"));
    }
    let min = min.map(Value::number).transpose()?;
    let max = max.map(Value::number).transpose()?;
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        return Err(entry.complaint("`min` is above `max`, and nothing lies between them"));
    }
    let all = Pick {
        over: over.map(|over| known.system(over)).transpose()?,
        than: than.map(|than| known.case(than)).transpose()?,
        figure: Some(pick::figure(figure)?),
        ..Pick::default()
    };
    let at = at.map_or_else(|| Ok(Vec::new()), settings)?;
    let mut cells = Vec::new();
    for system in systems.list_or_one() {
        let pick = Pick {
            system: Some(known.system(system)?),
            ..all.clone()
        };
        cells.extend(cells_of_system(entry, &pick, cases, &at, known)?);
    }
    if cells.is_empty() {
        return Err(entry.complaint("no case has these settings"));
    }
    Ok(Check {
        name: text_or_empty(name)?,
        cells,
        min,
        max,
    })
}

/// The cells of one system that a check is about: one, or one for each case. `at`: settings with the
/// values at which a case counts.
fn cells_of_system(
    entry: Value<'_>,
    pick: &Pick,
    cases: Option<Value<'_>>,
    at: &[(String, Vec<String>)],
    known: &Known,
) -> Result<Vec<Cell>, Complaint> {
    if pick
        .figure
        .is_some_and(|figure| figure.scope() == Scope::System)
    {
        let cell = pick.cell(known).map_err(|wrong| entry.complaint(wrong))?;
        return Ok(cell.into_iter().collect());
    }
    let cases = cases.ok_or_else(|| missing(entry, "cases", "cases = [\"read\"]"))?;
    let mut cells = Vec::new();
    for case in cases.list_or_one() {
        let name = known.case(case)?;
        let fitting = known.cases_of(&name).into_iter().filter(|(settings, _)| {
            at.iter().all(|(key, values)| {
                let mut own = settings.iter();
                own.any(|(known, value)| known == key && values.contains(value))
            })
        });
        // A figure of a sweep as a whole belongs to none of its cases.
        let named: Vec<_> = match pick.figure.map(Figure::scope) {
            Some(Scope::Sweep) => vec![(Vec::new(), name)],
            _ => fitting.collect(),
        };
        for (settings, case) in named {
            let pick = Pick {
                case: Some(case),
                than: matching_case(entry, pick, &settings, known)?,
                ..pick.clone()
            };
            cells.extend(pick.cell(known).map_err(|wrong| entry.complaint(wrong))?);
        }
    }
    Ok(cells)
}

/// The case that a figure is divided by: of the other sweep, the one with the same settings.
fn matching_case(
    entry: Value<'_>,
    pick: &Pick,
    settings: &[(String, String)],
    known: &Known,
) -> Result<Option<String>, Complaint> {
    let is_of_case = pick.figure.map(Figure::scope) == Some(Scope::Case);
    let Some(sweep) = pick.than.as_ref().filter(|_| is_of_case) else {
        return Ok(pick.than.clone());
    };
    let mut made = known.cases_of(sweep).into_iter();
    match made.find(|(own, _)| own == settings) {
        Some((_, case)) => Ok(Some(case)),
        None => Err(entry.complaint(format!("no case of `{sweep}` has the same settings"))),
    }
}

/// `{ threads = ["1", "2"], block_size = "4KiB" }`.
fn settings(value: Value<'_>) -> Result<Vec<(String, Vec<String>)>, Complaint> {
    let mut settings = Vec::new();
    for (key, _, value) in value.entries()? {
        let mut values = Vec::new();
        for value in value.list_or_one() {
            values.push(match value.whole() {
                Ok(number) => number.to_string(),
                Err(_) => value.text()?.to_owned(),
            });
        }
        settings.push((key.to_owned(), values));
    }
    Ok(settings)
}
