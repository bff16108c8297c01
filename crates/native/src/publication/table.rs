//! Tables and curves: rows and columns are systems, cases, figures, or the values of a setting.

use blocklab_workload::publication::{Cell, Curve, Drawn, Figure, Scope, Table};

use super::super::value::{Value, fields};
use super::pick::{self, Known, Pick, figure};
use super::{missing, text_or_empty};
use blocklab_syntax::toml_tree::Complaint;

const DRAWN: [(&str, Drawn); 3] = [
    ("no", Drawn::No),
    ("lines", Drawn::Lines),
    ("bars", Drawn::Bars),
];

/// What the axes of a table choose from.
struct Choice {
    systems: Vec<String>,
    cases: Vec<String>,
    figures: Vec<Figure>,
}

/// A row or a column.
struct Position {
    /// Its heading.
    name: String,
    /// What it settles about its cells.
    pick: Pick,
}

/// Reads a section `[[table]]`, down to the cell of each row and column.
pub(super) fn table(section: Value<'_>, known: &Known) -> Result<Table, Complaint> {
    // The last ones hold for all of its cells.
    fields!(section; title, note, corner, draw, rows, columns, ratio, systems, cases, figures,
        system, case, figure);
    let title = title.ok_or_else(|| missing(section, "a title", "title = \"Random reads\""))?;
    let choice = choice(known, systems, cases.or(case), figures)?;
    let fixed = Pick {
        system: system.map(|system| known.system(system)).transpose()?,
        case: case.map(|case| known.case(case)).transpose()?,
        figure: figure.map(pick::figure).transpose()?,
        ..Pick::default()
    };
    let rows = rows.ok_or_else(|| missing(section, "`rows`", "rows = \"system\""))?;
    let row_axis = axis(rows, known, &choice)?;
    let columns = columns.ok_or_else(|| missing(section, "`columns`", "columns = \"system\""))?;
    let mut column_axis = axis(columns, known, &choice)?;
    if let Some(ratio) = ratio {
        column_axis.push(quotient(ratio, known)?);
    }
    let cells = cells(section, &row_axis, &column_axis, &fixed, known)?;
    Ok(Table {
        title: title.name()?,
        note: text_or_empty(note)?,
        corner: match corner {
            Some(corner) => corner.name()?,
            None => rows.text().unwrap_or_default().to_owned(),
        },
        rows: row_axis.into_iter().map(|position| position.name).collect(),
        columns: column_axis
            .into_iter()
            .map(|position| position.name)
            .collect(),
        cells,
        drawn: draw.map_or(Ok(Drawn::No), |value| {
            let drawn = value.word(&DRAWN);
            drawn.map_err(|wrong| wrong.hint("a table is drawn as \"lines\" or as \"bars\""))
        })?,
    })
}

/// What `systems`, `cases` and `figures` choose; without the first two, all that is measured.
fn choice(
    known: &Known,
    systems: Option<Value<'_>>,
    cases: Option<Value<'_>>,
    figures: Option<Value<'_>>,
) -> Result<Choice, Complaint> {
    let measured = known.systems.iter().filter(|system| system.measured);
    let all_systems = measured.map(|system| system.name.clone());
    let all_cases = known.families.iter().map(|family| family.name.clone());
    let systems = listed(systems, |name| known.system(name))?;
    let cases = listed(cases, |name| known.case(name))?;
    Ok(Choice {
        systems: systems.unwrap_or_else(|| all_systems.collect()),
        cases: cases.unwrap_or_else(|| all_cases.collect()),
        figures: listed(figures, figure)?.unwrap_or_default(),
    })
}

/// What a list or a single value names, each read by `read`.
fn listed<'v, T>(
    value: Option<Value<'v>>,
    read: impl Fn(Value<'v>) -> Result<T, Complaint>,
) -> Result<Option<Vec<T>>, Complaint> {
    let names = value.map(one_or_more).transpose()?;
    names
        .map(|names| names.into_iter().map(read).collect())
        .transpose()
}

/// The entries of a list, or a single value: a table of none would show nothing.
fn one_or_more(value: Value<'_>) -> Result<Vec<Value<'_>>, Complaint> {
    let entries = value.list_or_one();
    if entries.is_empty() {
        return Err(value.complaint("this list is empty, and at least one is needed"));
    }
    Ok(entries)
}

/// The rows or columns of a table, each with its name.
fn axis(value: Value<'_>, known: &Known, choice: &Choice) -> Result<Vec<Position>, Complaint> {
    if value.is_list() {
        let entries = one_or_more(value)?.into_iter();
        return entries.map(|entry| named(entry, known)).collect();
    }
    let mut found = Vec::new();
    match value.text()? {
        "system" => {
            for name in &choice.systems {
                let pick = Pick {
                    system: Some(name.clone()),
                    ..Pick::default()
                };
                found.push(Position {
                    name: name.clone(),
                    pick,
                });
            }
        }
        "case" => {
            for (_, name) in choice.cases.iter().flat_map(|case| known.cases_of(case)) {
                let pick = Pick {
                    case: Some(name.clone()),
                    ..Pick::default()
                };
                found.push(Position { name, pick });
            }
        }
        "figure" => {
            for figure in &choice.figures {
                let pick = Pick {
                    figure: Some(*figure),
                    ..Pick::default()
                };
                found.push(Position {
                    name: figure.title(),
                    pick,
                });
            }
        }
        setting => found = values(setting, known, choice),
    }
    if found.is_empty() {
        Err(value
            .complaint(format!("no case has a value for the axis `{}`", value.text()?))
            .hint("an axis is \"system\", \"case\", \"figure\" (with figures = [...]), a setting that the cases sweep, or a list of tables"))
    } else {
        Ok(found)
    }
}

/// The values of a setting, in the order of the sweep.
fn values(setting: &str, known: &Known, choice: &Choice) -> Vec<Position> {
    let made = choice.cases.iter().flat_map(|case| known.cases_of(case));
    let mut found = Vec::new();
    for (key, value) in made.flat_map(|(settings, _)| settings) {
        if key == setting && !found.iter().any(|known: &Position| known.name == value) {
            let pick = Pick {
                settings: vec![(key, value.clone())],
                ..Pick::default()
            };
            found.push(Position { name: value, pick });
        }
    }
    found
}

/// `{ title = "reads", case = "read", figure = "mb_per_s" }`.
fn named(entry: Value<'_>, known: &Known) -> Result<Position, Complaint> {
    fields!(entry; title, system, over, case, figure);
    let title = title.ok_or_else(|| missing(entry, "a title", "title = \"reads\""))?;
    let pick = Pick {
        system: system.map(|system| known.system(system)).transpose()?,
        over: over.map(|over| known.system(over)).transpose()?,
        case: case.map(|case| known.case(case)).transpose()?,
        figure: figure.map(pick::figure).transpose()?,
        ..Pick::default()
    };
    Ok(Position {
        name: title.name()?,
        pick,
    })
}

/// `ratio = ["i3.xlarge", "i2.xlarge"]`: the first over the second.
fn quotient(ratio: Value<'_>, known: &Known) -> Result<Position, Complaint> {
    let [above, below] = ratio.pair()?;
    let (above, below) = (known.system(above)?, known.system(below)?);
    let title = format!("{above} / {below}, %");
    let pick = Pick {
        system: Some(above),
        over: Some(below),
        ..Pick::default()
    };
    Ok(Position { name: title, pick })
}

/// The figures line by line; a row's choice comes before a column's, and that before `fixed`.
fn cells(
    section: Value<'_>,
    rows: &[Position],
    columns: &[Position],
    fixed: &Pick,
    known: &Known,
) -> Result<Vec<Vec<Option<Cell>>>, Complaint> {
    let mut lines = Vec::new();
    for row in rows {
        let mut line = Vec::new();
        for column in columns {
            let pick = row.pick.or(&column.pick).or(fixed);
            line.push(pick.cell(known).map_err(|wrong| {
                section.complaint(format!("row {}, column {}: {wrong}", row.name, column.name))
            })?);
        }
        lines.push(line);
    }
    Ok(lines)
}

/// A figure of each point of a curve.
fn figure_of_case(value: Value<'_>) -> Result<Figure, Complaint> {
    let figure = figure(value)?;
    if figure.scope() != Scope::Case {
        let wrong = format!("a curve has a point for each case, and `{figure}` is of no case");
        return Err(value.complaint(wrong));
    }
    Ok(figure)
}

/// Reads a section `[[curve]]`, which has a line for each sweep and system.
pub(super) fn curve(section: Value<'_>, known: &Known) -> Result<Curve, Complaint> {
    fields!(section; title, note, cases, systems, x, y, bound);
    let title = title.ok_or_else(|| missing(section, "a title", "title = \"4K random read\""))?;
    let cases =
        cases.ok_or_else(|| missing(section, "the sweeps", "cases = [\"rand-read-4k\"]"))?;
    let choice = choice(known, systems, Some(cases), None)?;
    if let Some(case) = choice.cases.iter().find(|case| !known.is_sweep(case)) {
        let wrong = format!("`{case}` is one case of a sweep, and a curve shows the whole");
        return Err(cases.complaint(wrong));
    }
    Ok(Curve {
        title: title.name()?,
        note: text_or_empty(note)?,
        families: choice.cases,
        systems: choice.systems,
        x: x.map_or(Ok(Figure::Iops), figure_of_case)?,
        y: y.map_or(Ok(Figure::MeanUs), figure_of_case)?,
        bound: bound.map(Value::number).transpose()?,
    })
}
