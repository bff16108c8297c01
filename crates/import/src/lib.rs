//! Results of other programs as Records, so that they can be compared, diagnosed, priced, charted.
//!
//! In: what fio, DiskSpd, CrystalDiskMark and Vdbench printed; records of other machines.
//! Out: Records with what those texts tell, and Notes on what they do not.
//! Never: a figure that the text does not hold or that does not follow from it.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod cdm;
mod diskspd_text;
mod diskspd_xml;
mod figures;
mod fio;
mod record;
mod scan;
mod stored;
mod terse;
#[cfg(test)]
mod tests;
mod vdbench;

use blocklab_record::Record;

pub use stored::stored;

/// Whose results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// DiskSpd: text of 2.0.21a or 2.2, or XML.
    DiskSpd,
    /// CrystalDiskMark: the report of versions 5 to 9.
    Cdm,
    /// fio: JSON, json+ or terse.
    Fio,
    /// Vdbench: the files of its output directory.
    Vdbench,
}

/// Files of a Vdbench output directory that are read; only the first must be there.
pub const VDBENCH_FILES: [&str; 3] = ["flatfile.html", "histogram.html", "summary.html"];

/// A text as it came: its name and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// For messages and Notes: the path.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A text that is no result of that program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}{}: {message}", place(*line))]
pub struct NotAResult {
    /// The file.
    pub source_name: String,
    /// From 1; 0: the whole text.
    pub line: usize,
    /// What is wrong, and what would work.
    pub message: String,
}

fn place(line: usize) -> String {
    match line {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}

impl NotAResult {
    fn whole(message: impl Into<String>) -> Self {
        Self::at(0, message)
    }

    /// The file's name is not known to its parser.
    fn at(line: usize, message: impl Into<String>) -> Self {
        Self {
            source_name: String::new(),
            line,
            message: message.into(),
        }
    }

    fn of(self, source_name: &str) -> Self {
        Self {
            source_name: source_name.to_owned(),
            ..self
        }
    }
}

/// Bytes as text: see [`blocklab_syntax::encoding`].
///
/// # Errors
/// Other encodings.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Source, NotAResult> {
    let unknown = "neither UTF-8 nor UTF-16 text; save the report as UTF-8";
    let text = blocklab_syntax::encoding::text(bytes);
    let text = text.ok_or_else(|| NotAResult::whole(unknown).of(name))?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

/// What a program left, as one Record without an id. `sources` is one text, or for Vdbench the
/// files of [`VDBENCH_FILES`] that are there.
///
/// # Errors
/// A text that is something else, that ends too early, or whose figures contradict themselves.
pub fn import(tool: Tool, sources: &[Source]) -> Result<Record, NotAResult> {
    let Some(first) = sources.first() else {
        return Err(NotAResult::whole("no file was given").of("nothing"));
    };
    let text = &first.text;
    let found = match tool {
        Tool::DiskSpd => match diskspd_xml::begins(text) {
            Some(start) => diskspd_xml::read(&text[start..]),
            None => diskspd_text::read(text),
        },
        Tool::Cdm => cdm::read(text),
        Tool::Fio if terse::is_terse(text) => terse::read(text),
        Tool::Fio => fio::read(text),
        Tool::Vdbench => vdbench::read(sources),
    };
    let found = found.and_then(record::Found::checked);
    let found = found.map_err(|wrong| wrong.of(&first.name))?;
    Ok(found.record(&first.name))
}
