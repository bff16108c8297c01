//! Files of other programs: stores their results as runs, and converts fio's job files.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use blocklab_host::{LARGEST_REPORT, read_at_most, read_input};
use blocklab_import::{self as read, Source, Tool, VDBENCH_FILES};
use blocklab_native as native;
use blocklab_record::Record;
use blocklab_report::document::Form;
use blocklab_report::{fields, views};
use blocklab_store::{Store, as_visible};
use blocklab_workload::Plan;
use jiff::Timestamp;

use crate::answer;
use blocklab_args::{ConvertArgs, ImportArgs, ImportTool, Language};
use blocklab_console::chance;
use blocklab_console::{place, status, terminal};
use blocklab_results::keeping;
use blocklab_tools::tool_run;

/// Reads all files and then stores their runs; if one file is invalid, nothing is stored.
pub fn import(args: &ImportArgs, store: &Store) -> Result<ExitCode> {
    keeping::try_out(store, false)?;
    let (mut records, damaged) = runs_in(args.tool, &args.files)?;
    if let Some(name) = &args.name {
        records
            .iter_mut()
            .for_each(|record| record.requested.name.clone_from(name));
    }
    // Printed only when all are stored, because an id may still change if another run takes it.
    let mut is_well = true;
    let mut last = String::new();
    for record in &mut records {
        let (now, salt) = (Timestamp::now(), chance()?);
        record.id = match &*last {
            "" => store.new_id(now, salt),
            last => Store::id_after(last, now, salt),
        };
        is_well &= blocklab_results::keep(record, store);
        last.clone_from(&record.id);
    }
    terminal::print_styled(in_words(records, args.json, store)?)?;
    for mistake in &damaged {
        terminal::warn(&format!("a run was left out: {mistake}"));
    }
    Ok(ExitCode::from(tool_run::with_keeping(
        status::DONE,
        is_well && damaged.is_empty(),
    )))
}

/// The runs in these files, and what is wrong with those that are damaged.
fn runs_in(tool: ImportTool, files: &[PathBuf]) -> Result<(Vec<Record>, Vec<String>)> {
    let tool = match tool {
        ImportTool::Record => return stored_in(files),
        ImportTool::Diskspd => Tool::DiskSpd,
        ImportTool::Cdm => Tool::Cdm,
        ImportTool::Fio => Tool::Fio,
        ImportTool::Vdbench => Tool::Vdbench,
    };
    let names: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut records = Vec::new();
    for group in read::together(tool, &names) {
        let mut all = Vec::new();
        for at in group {
            all.extend(sources(tool, &files[at])?);
        }
        records.extend(read::import(tool, &all)?);
    }
    Ok((records, Vec::new()))
}

/// The runs in files of blocklab itself, and what is wrong with those that are damaged.
fn stored_in(files: &[PathBuf]) -> Result<(Vec<Record>, Vec<String>)> {
    let (mut records, mut damaged) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.display().to_string();
        let found = read::stored(&read::decode_log(&name, bytes(path)?))?;
        records.extend(found.runs);
        damaged.extend(found.damaged.iter().map(ToString::to_string));
    }
    Ok((records, damaged))
}

/// The ids of the stored runs in JSON, or the summary of each.
fn in_words(records: Vec<Record>, json: bool, store: &Store) -> Result<String> {
    let ids: Vec<&str> = records.iter().map(|record| &*record.id).collect();
    if json {
        return answer::json(&fields! { import_format: 1, runs: &ids });
    }
    let (form, option) = (Form::Text(terminal::style()), place::store_option(store));
    let shown = records.into_iter().map(|record| {
        let record = as_visible(record);
        let assessment = blocklab_findings::assess(&record);
        views::summary(&record, &assessment, Some(&option)).print(form)
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

/// The files of one result: a file, or the files of an output directory of Vdbench.
fn sources(tool: Tool, path: &Path) -> Result<Vec<Source>> {
    // Vdbench's flat file has everything that is needed; a directory may have more.
    if tool != Tool::Vdbench || !path.is_dir() {
        return Ok(vec![source(path)?]);
    }
    let there = VDBENCH_FILES.iter().map(|name| path.join(name));
    let there: Vec<_> = there.filter(|path| path.is_file()).collect();
    if there
        .first()
        .is_none_or(|path| !path.ends_with(VDBENCH_FILES[0]))
    {
        bail!(
            "{} is not an output directory of Vdbench: it has no {}",
            path.display(),
            VDBENCH_FILES[0]
        );
    }
    there.iter().map(|path| source(path)).collect()
}

fn source(path: &Path) -> Result<Source> {
    Ok(read::decode(&path.display().to_string(), bytes(path)?)?)
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        read_at_most(io::stdin().lock(), LARGEST_REPORT).context("cannot read the standard input")
    } else {
        read_input(path, LARGEST_REPORT).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// Prints a job file of fio as a study, and notes on standard error what was approximated.
pub fn convert(args: &ConvertArgs) -> Result<()> {
    let is_job_file = Path::new(&args.file).extension() == Some("fio".as_ref());
    if args.from.is_none() && !is_job_file {
        bail!(
            "the name of {} does not show its format: only fio job files can be converted; if it is one, \
             add --from fio",
            args.file
        );
    }
    let prepared = blocklab_tools::fio::prepared(&args.file)?;
    blocklab_tools::fio::print_remarks(&prepared);
    let text = match args.to {
        Language::Native => in_native(&prepared.plan)?,
    };
    for note in &prepared.notes {
        terminal::inform(&format!("note: {}: {}", note.subject, note.text));
    }
    terminal::print(text)
}

/// A plan in the native format, if that has a key for everything in it.
fn in_native(plan: &Plan) -> Result<String> {
    match native::left_out(plan).first() {
        None => Ok(native::render(plan)),
        Some((job, what)) => bail!("job {job}: the native format has no key for {what}"),
    }
}
