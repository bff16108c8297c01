//! The commands on single stored runs: `show`, `report`, `export`, `rm`.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use blocklab_console::{place, terminal};
use blocklab_findings::{Assessment, assess};
use blocklab_native::{self as native, studies};
use blocklab_record::Record;
use blocklab_report::document::Form;
use blocklab_report::prometheus::prometheus;
use blocklab_report::{json, views};
use blocklab_results::output::{self, Over};
use blocklab_store::export::{self as figures, Rows};
use blocklab_store::{Removal, Store};
use blocklab_units::did_you_mean;
use clap::ValueEnum;

use crate::{chosen, load};
use blocklab_args::{ExportArgs, Format, Output, ReportArgs, RmArgs, ShowArgs};

/// Prints the result of a stored run.
pub fn show(args: &ShowArgs, store: &Store) -> Result<()> {
    let mut record = chosen::record(&args.run, store)?;
    let mut assessment = assess(&record);
    if !args.case.is_empty() {
        keep_cases(&args.case, &mut record, &mut assessment)?;
    }
    terminal::print_styled(match args.form.output() {
        Output::Json => json::summary(&record, &assessment, None),
        Output::Document(form) if args.findings => {
            views::evidence(&record, &assessment).print(form)
        }
        Output::Document(Form::Html) => blocklab_page::runs(&[(&record, &assessment)]),
        Output::Document(form) => {
            // A run that is named by its path may be elsewhere.
            let is_there = store.load(&record.id).is_ok();
            let store = is_there.then(|| place::store_option(store));
            views::summary(&record, &assessment, store.as_deref()).print(form)
        }
    })
}

/// Drops all cases but those of these names, and the findings about the others. The findings are made
/// before, because some compare a case with the rest of the run.
fn keep_cases(names: &[String], record: &mut Record, assessment: &mut Assessment) -> Result<()> {
    let known: Vec<&str> = assessment.rows.iter().map(|row| &*row.case).collect();
    for name in names {
        if !known.contains(&&**name) {
            let hint = did_you_mean(name, known.iter().copied(), || {
                format!("its cases are: {}", known.join(", "))
            });
            bail!("{} has no case {name}; {hint}", record.id);
        }
    }
    record
        .measurements
        .retain(|measurement| names.contains(&measurement.case));
    assessment.rows.retain(|row| names.contains(&row.case));
    assessment.findings.retain_mut(|finding| {
        // A finding without a subject is about the whole run.
        let is_of_all = finding.subject.is_empty();
        finding.subject.retain(|case| names.contains(case));
        is_of_all || !finding.subject.is_empty()
    });
    Ok(())
}

/// Writes a page of one or more runs, and prints its path.
pub fn report(args: &ReportArgs, store: &Store) -> Result<()> {
    // An output that cannot be written is an error before the runs are read.
    if let Some(path) = &args.html {
        output::try_out(path, Over::forced(args.force))?;
    }
    let mut runs = Vec::new();
    for run in &args.runs {
        let record = chosen::record(run, store)?;
        let assessment = assess(&record);
        runs.push((record, assessment));
    }
    let all: Vec<&Record> = runs.iter().map(|(record, _)| record).collect();
    chosen::all_different(&args.runs, &all)?;
    let path = args.html.clone().unwrap_or_else(|| usual_name(&runs));
    let pairs: Vec<(&Record, &Assessment)> = runs.iter().map(|(r, a)| (r, a)).collect();
    output::write(&path, blocklab_page::runs(&pairs), Over::forced(args.force))?;
    if path == Path::new("-") {
        Ok(())
    } else {
        terminal::print(format!("{}\n", path.display()))
    }
}

/// The default name, `blocklab-report-ID.html`; of several runs, the ID is that of the first.
fn usual_name(runs: &[(Record, Assessment)]) -> PathBuf {
    let id = runs.first().map_or("empty", |(record, _)| &record.id);
    let more = match runs.len() {
        0 | 1 => String::new(),
        all => format!("-and-{}-more", all - 1),
    };
    PathBuf::from(format!("blocklab-report-{id}{more}.html"))
}

/// Writes a run for other programs.
pub fn export(args: &ExportArgs, store: &Store) -> Result<()> {
    let format = format(args)?;
    if args.series && format == Format::Json {
        bail!("--series works with --format csv or parquet; json contains the series already");
    }
    if args.series && format == Format::Prom {
        bail!(
            "--series works with --format csv or parquet: a collector reads one value of each gauge"
        );
    }
    let is_printed = args
        .output
        .as_ref()
        .is_none_or(|path| path.as_os_str() == "-");
    if format == Format::Parquet && is_printed && io::stdout().is_terminal() {
        bail!("Parquet is binary and would garble the terminal: name a file with -o FILE");
    }
    let mut record = match format {
        // These are read by lines, so control characters in names are removed; JSON and Parquet quote
        // them, and give the record as it is stored.
        Format::Csv | Format::Prom => chosen::record(&args.run, store)?,
        Format::Json | Format::Parquet => chosen::record_unchanged(&args.run, store)?,
    };
    if args.anonymous {
        let is_builtin = studies::builtin(record.requested.study()).is_some();
        let mut public = public_cases();
        // `run --rw` makes a name of the load's own settings, which reveals nothing about the user.
        let plan = record.requested.plan.iter();
        let cases = plan.flat_map(|plan| &plan.cases);
        let jobs = cases.flat_map(|case| &case.workload.jobs);
        public.extend(jobs.filter_map(load::name_of));
        record = record.anonymous(is_builtin, |name| public.contains(name));
        if let Some(plan) = record.requested.plan.as_ref().filter(|_| !is_builtin) {
            // The user's text has names and comments; the renamed plan says the same without them.
            record.requested.native = native::render(plan);
        }
    }
    let rows = if args.series {
        Rows::Series
    } else {
        Rows::Figures
    };
    let bytes = match format {
        Format::Json => record.to_json().into_bytes(),
        Format::Csv => figures::csv(&record, rows).into_bytes(),
        Format::Parquet => figures::parquet(&record, rows)?,
        Format::Prom => prometheus(&record, &assess(&record))?.into_bytes(),
    };
    match &args.output {
        Some(path) => output::write(path, bytes, Over::forced(args.force)),
        None => terminal::print_data(bytes),
    }
}

/// The names of the cases of all built-in studies.
fn public_cases() -> BTreeSet<String> {
    let texts = studies::builtin_names().filter_map(studies::builtin);
    let plans = texts.filter_map(|text| Some(native::parse(text, "").ok()?.plan));
    plans
        .flat_map(|plan| plan.cases)
        .map(|case| case.name)
        .collect()
}

/// The requested format, else that of the output file's extension.
fn format(args: &ExportArgs) -> Result<Format> {
    let end = args.output.as_ref().and_then(|path| path.extension());
    let of_name = end.and_then(|end| Format::from_str(&end.to_string_lossy(), true).ok());
    args.format.or(of_name).context(match &args.output {
        Some(path) => format!(
            "{} has no extension that names a format: use .json, .csv, .parquet or .prom, or add --format",
            path.display()
        ),
        None => "which format? --format json, csv, parquet or prom".to_owned(),
    })
}

/// Removes the named runs, none if one of them is not found; prints what is gone and what stays.
pub fn rm(args: &RmArgs, store: &Store) -> Result<()> {
    // All are found before any is removed: `latest latest` is one run.
    let removals = store.removals(&args.runs)?;
    if !args.dry_run {
        store.sweep();
    }
    for removal in &removals {
        let gone = if args.dry_run {
            removal.stays().is_empty()
        } else {
            store.remove(removal)?
        };
        terminal::print(removed(removal, gone, args.dry_run))?;
    }
    Ok(())
}

/// What is printed about a removal. `gone`: nothing of the folder stays; `dry_run`: nothing was
/// removed.
fn removed(removal: &Removal, gone: bool, dry_run: bool) -> String {
    let folder = removal.path().display();
    let word = if dry_run { "would remove" } else { "removed" };
    if gone {
        return format!("{word} {folder}\n");
    }
    let names = removal.stays().iter();
    let stays: Vec<String> = names.map(|name| name.display().to_string()).collect();
    format!(
        "{word} the run in {folder}; the folder stays, because blocklab did not write: {}\n",
        stays.join(", ")
    )
}
