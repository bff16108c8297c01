//! The systems of a study, and what was published of them: a text of lines
//! `system,case,figure,value`, with a fifth column where not all of them were measured.

use blocklab_units::Nanos;
use blocklab_workload::publication::{Basis, Figure, Published, Scope, System};

use super::super::keys::within;
use super::super::value::{Value, fields};
use super::pick::{Known, figure_hint};
use super::{missing, text_or_empty};
use blocklab_syntax::toml_tree::Complaint;

/// Most passes of a case.
const MOST_PASSES: u32 = 100_000;
/// Most threads of a job.
const MOST_THREADS: u32 = 4096;

/// Reads the sections `[[system]]`, whose names differ. `most_threads`: those of the job of the study
/// that has the most.
pub(super) fn systems(
    sections: Vec<Value<'_>>,
    most_threads: u32,
) -> Result<Vec<System>, Complaint> {
    let mut systems: Vec<System> = Vec::new();
    for section in sections {
        fields!(section; name, address, because, measured, predicted, passes, devices, runtime, billed_iops);
        let name = name.ok_or_else(|| missing(section, "a name", "name = \"i3.xlarge\""))?;
        let place = name;
        let name = name.name()?;
        if systems.iter().any(|system| system.name == name) {
            return Err(place.complaint(format!("two systems are called `{name}`")));
        }
        let address = address
            .ok_or_else(|| missing(section, "an address", "address = \"local@i3.xlarge\""))?
            .name()?;
        systems.push(System {
            name,
            address,
            because: text_or_empty(because)?,
            measured: measured.map(Value::flag).transpose()?.unwrap_or(true),
            passes: passes
                .map(|passes| within(passes, 1..=MOST_PASSES))
                .transpose()?,
            devices: devices
                .map(|devices| device_count(devices, most_threads))
                .transpose()?
                .unwrap_or(1),
            predicted: predicted.map(Value::flag).transpose()?.unwrap_or(true),
            runtime: runtime.map(above_zero).transpose()?,
            billed_iops: billed_iops.map(Value::number).transpose()?,
        });
    }
    Ok(systems)
}

/// Each device gets the threads of every job, which may not become too many.
fn device_count(value: Value<'_>, most_threads: u32) -> Result<u32, Complaint> {
    within(value, 1..=MOST_THREADS / most_threads.max(1)).map_err(|wrong| {
        wrong.hint(format!(
            "it multiplies the threads of every job, {most_threads} here, to at most {MOST_THREADS}"
        ))
    })
}

fn above_zero(value: Value<'_>) -> Result<Nanos, Complaint> {
    let time = value.time()?;
    if time == Nanos::ZERO {
        return Err(value.complaint("runtime must be above 0"));
    }
    Ok(time)
}

const HEAD: &str = "system,case,figure,value";
/// Where not every figure was measured, a last column names its basis.
const HEAD_WITH_BASIS: &str = "system,case,figure,value,basis";

/// Reads the section `[published]`: its source, and the figures in its text, none of which comes twice.
pub(super) fn published(
    value: Value<'_>,
    known: &Known,
) -> Result<(String, Vec<Published>), Complaint> {
    fields!(value; source, figures);
    let source = text_or_empty(source)?;
    let Some(figures) = figures else {
        return Ok((source, Vec::new()));
    };
    let text = figures.text()?;
    let wrong = |number: usize, what: String| {
        let line = text.lines().nth(number).unwrap_or_default();
        figures
            .complaint(format!("line {} of the figures: {what}", number + 1))
            .hint(format!("the error is: {line}"))
            .hint(format!(
                "the columns are {HEAD}, then `basis` where it is needed; a line that begins with # is a comment"
            ))
    };
    let mut found: Vec<Published> = Vec::new();
    let mut is_headed = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !is_headed {
            if line != HEAD && line != HEAD_WITH_BASIS {
                return Err(wrong(number, "the first line names the columns".to_owned()));
            }
            is_headed = true;
            continue;
        }
        let figure = figure(line, known).map_err(|what| wrong(number, what))?;
        if found.iter().any(|known| {
            (&known.system, &known.case, known.figure)
                == (&figure.system, &figure.case, figure.figure)
        }) {
            return Err(wrong(number, "this figure is given twice".to_owned()));
        }
        found.push(figure);
    }
    Ok((source, found))
}

/// Reads a line of published figures: `SYSTEM, CASE, FIGURE, VALUE[, BASIS]`.
fn figure(line: &str, known: &Known) -> Result<Published, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (system, case, figure, value, basis) = match fields[..] {
        [system, case, figure, value] => (system, case, figure, value, ""),
        [system, case, figure, value, basis] => (system, case, figure, value, basis),
        _ => {
            return Err(format!(
                "a line of figures has four or five columns, and this one has {}",
                fields.len()
            ));
        }
    };
    if !known.systems.iter().any(|known| known.name == system) {
        return Err(format!("no system is called `{system}`"));
    }
    let figure: Figure = figure.parse().map_err(|_| figure_hint(figure))?;
    let case = match figure.scope() {
        Scope::System if case.is_empty() => None,
        Scope::Sweep if known.is_sweep(case) => Some(case.to_owned()),
        Scope::Case if known.cases().any(|(_, name)| name == case) => Some(case.to_owned()),
        Scope::System => return Err(format!("a figure of a system is of no case: `{case}`")),
        Scope::Sweep => return Err(format!("no sweep is called `{case}`")),
        Scope::Case => return Err(format!("no case is called `{case}`")),
    };
    let value = value.parse().ok().filter(|number: &f64| number.is_finite());
    Ok(Published {
        system: system.to_owned(),
        case,
        figure,
        value: value.ok_or("the fourth column is a number")?,
        basis: named(basis)?,
    })
}

/// The basis of this name; none is the first.
fn named(name: &str) -> Result<Basis, String> {
    let mut all = Basis::ALL.into_iter();
    let found = all.find(|(known, _)| *known == name || name.is_empty());
    found.map(|(_, basis)| basis).ok_or_else(|| {
        let names = Basis::ALL.map(|(name, _)| name).join(", ");
        format!("`{name}` is no basis of a figure; known are {names}")
    })
}
