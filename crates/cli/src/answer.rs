//! What commands print in addition to a report: JSON with its form, a page, and the answer to `--fail-on`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use blocklab_compare::gate::{Gate, warning};
use blocklab_console::terminal;
use blocklab_findings::{Assessment, Finding};
use blocklab_record::Record;
use blocklab_report::json as report;
use serde::Serialize;

use crate::args::RunArgs;
use crate::gate;

#[derive(Serialize)]
struct Envelope<'a, T> {
    #[serde(flatten)]
    form: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    fields: &'a T,
}

/// One JSON object, indented, with a newline at the end. Its first field names the form and gives
/// its number: fields are added without a new one, a change of meaning needs one.
pub fn json(form: (&'static str, u32), fields: &impl Serialize) -> Result<String> {
    let whole = Envelope {
        form: BTreeMap::from([form]),
        fields,
    };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The fields of a form that has one.
pub fn only<'a, T>(key: &'static str, value: &'a T) -> BTreeMap<&'static str, &'a T> {
    BTreeMap::from([(key, value)])
}

/// The answer of `--fail-on warning` on these runs.
pub fn gate_of(args: &RunArgs, runs: &[(&Record, &Assessment)]) -> Option<Gate> {
    let runs = runs.iter().map(|(record, it)| (*record, &it.findings[..]));
    let runs: Vec<(&Record, &[Finding])> = runs.collect();
    Gate::new(args.fail_on.iter().map(|_| warning(&runs)).collect())
}

/// The answer to `--fail-on`, last; JSON holds it already.
pub fn judged(args: &RunArgs, gate: Option<&Gate>) -> Result<()> {
    if goes_to_output(args) {
        gate::aside(gate);
    }
    match is_for_people(args) {
        true => terminal::print_styled(gate::words(gate)),
        false => Ok(()),
    }
}

/// Prints the page where it goes to standard output, else the result.
pub fn print(args: &RunArgs, page: &str, result: impl FnOnce() -> String) -> Result<()> {
    if goes_to_output(args) {
        terminal::print_data(page)?;
    }
    match args.json || !goes_to_output(args) {
        true => terminal::print_styled(result()),
        false => Ok(()),
    }
}

/// Whether the page goes to standard output.
pub fn goes_to_output(args: &RunArgs) -> bool {
    args.html.as_deref() == Some(Path::new("-"))
}

/// Whether words about what is kept follow the result.
pub fn is_for_people(args: &RunArgs) -> bool {
    !args.json && !args.json_lines && !goes_to_output(args)
}

/// The last lines of `--json-lines`: the result, and the records that it rests on.
pub fn last_lines<'a>(
    kind: &str,
    result: &str,
    records: impl IntoIterator<Item = &'a Record>,
) -> String {
    let records = records.into_iter();
    let records = records.map(|record| report::line("record", &record.to_json()));
    [report::line(kind, result)]
        .into_iter()
        .chain(records)
        .collect()
}

/// The file of the page: where the user chose, else in the folder of the record.
pub fn page_path(args: &RunArgs, usual: Option<PathBuf>) -> Option<PathBuf> {
    match goes_to_output(args) {
        true => None,
        false => args.html.clone().or(usual),
    }
}

/// The last words: where the page is, and the command that shows the result again.
pub fn closing(page: Option<&Path>, again: Option<&str>) -> String {
    let page = page.map(|page| format!("Report  {}\n", page.display()));
    let again = again.map(|again| format!("Again   {again}\n"));
    ["\n".to_owned()]
        .into_iter()
        .chain(page)
        .chain(again)
        .collect()
}
