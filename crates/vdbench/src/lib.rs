//! In: Vdbench's parameter files; a Record.
//! Out: runs as meant and Notes, or a mistake with its place; Vdbench's own reports.
//! Never: a file, a run, an option dropped in silence.
//!
//! Vdbench: parameter files to runs, runs to workloads.
//!
//! ```text
//!  -f files ─▶ lines ─▶ scan ─▶ read ─▶ expand ─▶ Script ─▶ plan ─▶ one case a run
//!              include  a=b,c   sd wd rd  loops, curves        pools of jobs
//! ```
//!
//! The grammar is that of Vdbench 5.04.07 for raw I/O. Where its program and its guide differ,
//! the program is followed.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod buckets;
mod command;
mod concat;
mod curve;
mod data_errors;
mod defs;
mod error_limits;
mod expand;
mod figures;
mod heads;
mod histogram;
mod hosts;
mod keywords;
mod known;
mod lines;
mod mistake;
mod parameter;
mod place;
mod plan;
mod prepared;
mod rates;
mod read;
mod read_general;
mod read_run;
mod read_storage;
mod read_workload;
mod reference;
mod report;
mod run;
mod scan;
mod shuffle;
mod sizes;
mod skew;
mod validate;
mod value;
mod wrong;

#[cfg(test)]
mod tests;

use blocklab_record::Note;

pub use buckets::Buckets;
pub use command::{Command, Validation, command};
pub use concat::concatenated_threads;
pub use curve::{CurvePoint, curve_text};
pub use data_errors::DataErrors;
pub use defs::{
    Arrivals, Commands, General, LoopKind, MaxData, OpenFlags, Range, Repeat, Sd, Seek, Wd,
    Xfersize,
};
pub use figures::{Cpu, Figures, Sum};
pub use heads::{anchor, links, run_links};
pub use histogram::{NO_STATISTICS, histogram};
pub use lines::Reader;
pub use mistake::{Mistake, Place};
pub use plan::{FORMAT, about_storage, prepare, quick_test};
pub use prepared::{Planned, Prepared, Terms};
pub use rates::{PlannedJob, observed, set_rate};
pub use reference::{reference, usage};
pub use report::{FLAT_COLUMNS, FlatRow, flat_header, flat_row, heading, interval_row};
pub use run::{Bursts, Loops, Rate, Run, Use, share, size};
pub use skew::{SKEW_HEAD, Skew, SkewRow};
pub use validate::{RECOVERY, Watched, key_plans, recovery_run, validate};
pub use wrong::{settled_text, wrong_text};

/// Parameter files, as meant.
#[derive(Debug, Clone)]
pub struct Script {
    /// General parameters.
    pub general: General,
    /// The name that this host has in the parameters and in the names of reports.
    pub host: String,
    /// All storage, in order.
    pub sds: Vec<Sd>,
    /// All runs, in order.
    pub runs: Vec<Run>,
    /// What was understood differently from what was written.
    pub notes: Vec<Note>,
}

/// Reads what a command line names.
///
/// `is_here` says of a name or an address whether it is this machine's.
///
/// # Errors
/// [`Mistake`] says where and what, and what would work.
pub fn parse(
    command: &Command,
    read: Reader<'_>,
    is_here: &dyn Fn(&str) -> bool,
) -> Result<Script, Mistake> {
    let lines = lines::Lines::of(&command.files, &command.variables, read)?;
    let parameters = scan::scan(&lines, command.extra.as_deref())?;
    let all = read::definitions(&parameters, is_here)?;
    let over = expand::Override {
        elapsed: command.elapsed,
        interval: command.interval,
        warmup: command.warmup,
    };
    let runs = expand::runs(&all, over)?;
    Ok(Script {
        general: all.general,
        host: all.hosts.label().to_owned(),
        sds: all.sds,
        runs,
        notes: all.notes,
    })
}
