//! `blocklab run --list`: the built-in studies; with a study in the arguments, its cases.

use anyhow::{Result, bail};
use blocklab_native::{self as native, studies};
use blocklab_report::document::{Column, Document, Entry, Part};
use blocklab_report::fields;
use blocklab_runner::planned_if_timed;
use blocklab_store::Store;
use blocklab_units::{Nanos, plural};
use blocklab_workload::{Case, Plan};
use serde::Serialize;

use crate::answer;
use crate::request::request;
use blocklab_args::RunArgs;

/// A built-in study.
#[derive(Serialize)]
struct StudyLine {
    name: &'static str,
    description: String,
    cases: usize,
    passes: u32,
    /// The names of the systems that it compares; empty where it measures one target.
    systems: Vec<String>,
}

/// Prints the built-in studies, or the cases of the one that is named.
pub fn print(args: &RunArgs, store: &Store) -> Result<()> {
    if args.study.is_none() && args.again.is_none() {
        if let Some(option) = args.about_cases() {
            bail!(
                "{option} is about the cases of one study: `blocklab run STUDY --list` lists those, and \
                 `blocklab run --list` all studies"
            );
        }
        let studies: Vec<_> = studies::builtin_names().map(study_line).collect();
        let fields = fields! { study_list_format: 1, studies: &studies };
        return answer::print(args.form, &fields, || studies_document(&studies));
    }
    let plan = request(args, &[], store)?.study.plan;
    let cases: Vec<_> = plan.cases.iter().map(fields_of).collect();
    let fields = fields! { case_list_format: 1, cases: &cases };
    answer::print(args.form, &fields, || cases_document(&plan))
}

fn built_in(name: &str) -> native::Parsed {
    let text = studies::builtin(name).expect("a built-in study");
    native::parse(text, name).expect("a built-in study is sound")
}

fn study_line(name: &'static str) -> StudyLine {
    let study = built_in(name);
    let compared = study.publication.systems.into_iter();
    StudyLine {
        name,
        cases: study.plan.cases.len(),
        passes: study.plan.passes,
        description: study.plan.description,
        systems: compared.map(|system| system.name).collect(),
    }
}

/// A case in the JSON.
fn fields_of(case: &Case) -> impl Serialize {
    fields! {
        name: &case.name,
        // Planned time of a pass; `null` where only the target decides how long it takes.
        pass_s: planned_if_timed(case).map(Nanos::as_secs_f64),
        settings: &case.settings,
    }
}

fn studies_document(studies: &[StudyLine]) -> Document {
    let pairs = studies.iter().map(|study| {
        let cases = plural(study.cases, "case");
        let passes = plural(study.passes as usize, "pass");
        let systems = match study.systems.len() {
            0 => String::new(),
            systems => format!(", {systems} systems"),
        };
        let text = format!("{} ({cases}, {passes}{systems})", study.description);
        (study.name.to_owned(), text)
    });
    let pairs: Vec<_> = pairs.collect();
    Document {
        name: "Built-in studies".to_owned(),
        parts: vec![Part::Entries(Entry::pairs(&pairs, 0))],
    }
}

/// The cases as a table, with a column of settings where a case has any.
fn cases_document(plan: &Plan) -> Document {
    let columns = Column::named_and_words("CASE", ["A PASS"], "SETTINGS");
    let rows = plan.cases.iter().map(|case| {
        let pass = planned_if_timed(case).map_or_else(String::new, |time| time.to_string());
        let settings: Vec<_> = (case.settings.iter())
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        [case.name.clone(), pass, settings.join(", ")]
    });
    Document {
        name: format!("Cases of {}", plan.name),
        parts: vec![Part::table(columns, rows)],
    }
}

#[cfg(test)]
mod tests {
    use blocklab_report::document::Form;
    use blocklab_units::Style;

    use super::*;

    /// The story: lines of `run calibrate --list` had 87 columns and wrapped on a terminal of 80.
    #[test]
    fn cases_fit_80_columns() {
        let plan = built_in("calibrate").plan;
        let plain = Form::Text(Style::default());
        let text = cases_document(&plan).print(plain);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
