//! Results of other programs as Records, so that they can be compared, diagnosed, priced, charted.
//!
//! In: what fio, DiskSpd, CrystalDiskMark and Vdbench printed; records of other machines.
//! Out: Records with what those texts hold, and Notes on what they lack.
//! Never: a figure that the text does not hold or that does not follow from it.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod cdm;
#[cfg(test)]
mod cdm_tests;
#[cfg(test)]
mod diskspd_tests;
mod diskspd_text;
mod diskspd_xml;
mod figures;
mod fio;
mod record;
mod runs;
mod scan;
#[cfg(test)]
mod shapes_tests;
mod stored;
#[cfg(test)]
mod tests;
mod vdbench;
#[cfg(test)]
mod vdbench_tests;

use blocklab_record::Record;
use blocklab_syntax::{Mistake, Place};

pub use stored::{Stored, decode_log, stored};

/// The program whose results are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// DiskSpd: text of 2.0.21a or 2.2, or XML.
    DiskSpd,
    /// CrystalDiskMark: the report of versions 3 to 9, or of KDiskMark.
    Cdm,
    /// fio: JSON, json+, terse or normal text, or logs.
    Fio,
    /// Vdbench: the files of its output directory.
    Vdbench,
}

/// Files of a Vdbench output directory that are read; only the first must be there.
pub const VDBENCH_FILES: [&str; 3] = ["flatfile.html", "histogram.html", "summary.html"];

/// A file of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path, for messages and Notes.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// A text that is no result of that program: what is wrong, and what would work.
fn not_a_result(message: impl Into<String>) -> Mistake {
    not_a_result_at(0, message)
}

/// An error at a line. A parser does not know the name of its file.
fn not_a_result_at(line: usize, message: impl Into<String>) -> Mistake {
    Mistake::here(&Place { file: None, line }, message)
}

/// Adds the name of the file, where none is known yet.
fn named(mistake: Mistake, file: &str) -> Mistake {
    if mistake
        .place
        .as_ref()
        .is_some_and(|place| place.file.is_some())
    {
        return mistake;
    }
    let line = mistake.place.as_ref().map_or(0, |place| place.line);
    let file = Some(file.into());
    mistake.at(&Place { file, line })
}

/// Bytes as text: see [`blocklab_syntax::encoding`].
///
/// # Errors
/// Other encodings.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<Source, Mistake> {
    let unknown = if name.ends_with(".log.fz") {
        "it is compressed (log_store_compressed): keep what `blocklab fio --inflate-log=FILE` prints \
         of it, under its name without .fz"
    } else {
        "neither UTF-8 nor UTF-16 text; save the report as UTF-8"
    };
    let text =
        blocklab_syntax::encoding::text(bytes).ok_or_else(|| named(not_a_result(unknown), name))?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

/// Which of these paths hold one result together, as indices: fio leaves a log for each quantity
/// and job of a run. Each of the others is a result by itself.
pub fn together(tool: Tool, paths: &[&str]) -> Vec<Vec<usize>> {
    match tool {
        Tool::Fio => fio::log::together(paths),
        Tool::DiskSpd | Tool::Cdm | Tool::Vdbench => (0..paths.len()).map(|at| vec![at]).collect(),
    }
}

/// What a program left, as Records without ids: several results in one text are several runs, and
/// repeats of one load are passes of one. `sources` is one text, for Vdbench the files of
/// [`VDBENCH_FILES`] that are there, and for fio also logs that belong [`together`].
///
/// # Errors
/// A text that is something else, that ends too early, or whose figures contradict themselves.
pub fn import(tool: Tool, sources: &[Source]) -> Result<Vec<Record>, Mistake> {
    let Some(first) = sources.first() else {
        return Err(not_a_result("no file was given"));
    };
    let name = match (tool, sources.len() - 1) {
        (Tool::Fio, more @ 1..) => format!("{} and {more} more", first.name),
        _ => first.name.clone(),
    };
    read_results(tool, first, sources)
        .and_then(|all| all.into_iter().map(record::Found::checked).collect())
        .map(|all: Vec<_>| all.into_iter().map(|found| found.record(&name)).collect())
        .map_err(|wrong| named(wrong, &first.name))
}

fn read_results(tool: Tool, first: &Source, all: &[Source]) -> Result<Vec<record::Found>, Mistake> {
    let text = &first.text;
    match tool {
        Tool::DiskSpd => Ok(vec![match diskspd_xml::begins(text) {
            Some(start) => diskspd_xml::read(&text[start..])?,
            None => diskspd_text::read(text)?,
        }]),
        Tool::Cdm => cdm::read(text),
        Tool::Fio => fio::read(all),
        Tool::Vdbench => Ok(vec![vdbench::read(all)?]),
    }
}
