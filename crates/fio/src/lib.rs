//! In: fio's command lines and job files; a Record.
//! Out: a Plan as meant and Notes, or a mistake with its place; fio's own output.
//! Never: a file, a run, an option dropped in silence.
//!
//! fio 3.33: command lines and job files as plans, records as its JSON, terse and normal output.
//!
//! ```text
//!   arguments ──▶ command ──┐
//!                           ├──▶ Sections ──▶ jobs ──▶ Specs ──▶ plan ──▶ Plan, Notes, Clones
//!   job files ──▶ source ───┘      (as written)         (as meant)
//!   Record + Clones ──▶ output ──▶ JSON, terse, normal
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bytes;
mod command;
mod compressed;
mod context;
mod ending;
mod engine;
mod fault;
mod files;
mod flaws;
mod groups;
mod jobs;
mod load;
mod logs;
mod number;
mod option;
mod options;
mod output;
mod pass;
mod pattern;
mod plan;
mod priority;
mod reference;
mod replay;
mod source;
mod spec;
mod state;
#[cfg(test)]
mod tests;
mod value;
mod verify;

pub use blocklab_syntax::{Mistake, Place};
pub use command::{
    Client, Command, DEBUG_WORDS, Format, General, Input, Profiled, general_options,
    parse as parse_command,
};
pub use compressed::{InflateError, Packer, Sample, inflate};
pub use context::{ControlGroup, PlanContext};
pub use engine::{Program, engines};
pub use files::{Layout, Planned};
pub use flaws::Flawed;
pub use jobs::{Resolved, in_reading_order, resolve};
pub use logs::{Epoch, LogKind, LogRule, Logged, WindowValue, mean_speed, per_second, speed};
pub use number::{Scale, amount};
pub use options::{Kind, Opt, Support, find as find_option, hint as option_hint, options};
pub use output::{
    ClientResult, Idleness, Moment, Style, capped, eta_line, eta_rates, header, json,
    json_of_clients, normal, normal_of_clients, terse,
};
pub use plan::{CloneFacts, Prepared, prepare};
pub use reference::reference;
pub use source::{Reader, Section, Setting, parse as parse_jobs};
pub use spec::Spec;
pub use state::State;

/// What `--version` answers: the version whose language this is.
pub const VERSION: &str = "fio-3.33";
