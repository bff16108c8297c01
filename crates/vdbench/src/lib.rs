//! In: Vdbench's parameter files; a Record.
//! Out: runs as meant and Notes, or an error with its place; Vdbench's own reports.
//! Never: a file, a run, an option dropped in silence.
//!
//! Vdbench: parameter files to runs, runs to workloads.
//!
//! ```text
//!  -f files ─▶ lines ─▶ scan ─▶ read ─▶ expand ─▶ ParameterFile ─▶ plan ─▶ one case a run
//!              include  a=b,c   sd wd rd  loops, curves        pools of jobs
//!                                 ▲
//!                     keywords: a row and a setter for each
//! ```
//!
//! The grammar is that of Vdbench 5.04.07 for raw I/O. Where its program and its guide differ,
//! the program is followed.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod command;
mod concat;
mod definitions;
mod defs;
mod error;
mod expand;
mod figures;
mod histogram;
mod hosts;
mod keywords;
mod lines;
mod miscompares;
mod parse_flat;
mod place;
mod plan;
mod rates;
mod read;
mod report;
mod run;
mod scan;
mod setters;
mod validate;
mod value;

#[cfg(test)]
mod tests;

use blocklab_record::Note;

use self::defs::General;

pub use command::{Command, Validation, command};
pub use concat::concatenated_threads;
pub use definitions::Host;
pub use defs::{Repeat, Sd};
pub use error::{Mistake, Place, Subject};
pub use figures::{Cpu, Figures};
pub use histogram::{NO_STATISTICS, histogram};
pub use keywords::{reference, usage};
pub use lines::Reader;
pub use miscompares::{miscompare_text, settled_text};
pub use parse_flat::{ParseFlat, parse_flat};
pub use plan::{Inputs, Planned, Prepared, prepare, quick_test};
pub use rates::{PlannedJob, observed, set_rate};
pub use report::{
    CurvePoint, FlatRow, SKEW_HEAD, Skew, SkewRow, anchor, curve_text, flat_header, flat_row,
    heading, interval_row, links, run_links,
};
pub use run::{Burst, Rate, Run, Use};
pub use validate::{RECOVERY, Validated, key_plans, recovery_run, validate};

/// Parameter files, as meant.
#[derive(Debug, Clone)]
pub struct ParameterFile {
    /// General parameters.
    pub general: General,
    /// The name that this host has in the parameters and in the names of reports.
    pub host: String,
    /// The hosts that share the load; none: this one runs all of it.
    pub hosts: Vec<Host>,
    /// All storage, in order.
    pub sds: Vec<Sd>,
    /// All runs, in order.
    pub runs: Vec<Run>,
    /// What was understood differently from what was written.
    pub notes: Vec<Note>,
}

/// Reads what a command line names.
///
/// `is_here` decides of a name or an address whether it is this machine's.
///
/// # Errors
/// [`Mistake`] names the place, what is wrong there and what would work.
pub fn parse(
    command: &Command,
    read: Reader<'_>,
    is_here: &dyn Fn(&str) -> bool,
) -> Result<ParameterFile, Mistake> {
    let lines = lines::Lines::read(&command.files, &command.variables, read)?;
    let scanned = scan::scan(&lines, command.extra.as_deref())?;
    let mut all = read::definitions(&scanned.parameters, is_here)?;
    all.notes.extend(scanned.notes);
    Ok(ParameterFile {
        runs: expand::runs(&all, command)?,
        host: all.hosts.label().to_owned(),
        hosts: all.hosts.several(),
        general: all.general,
        sds: all.sds.all,
        notes: all.notes,
    })
}
