//! In: DiskSpd's command lines and XML profiles; a Record.
//! Out: a Plan as meant and Notes, or a mistake; DiskSpd's own text and XML.
//! Never: a file, a run, an option dropped in silence.
//!
//! DiskSpd 2.2: command lines and XML profiles as plans, records as its text and XML.
//!
//! ```text
//!   arguments ──▶ command ──┐
//!                           ├──▶ Profile ──▶ validate ──▶ plan ──▶ Plan, Notes, Spans
//!   XML ─────▶ profile_xml ─┘        │
//!                                    └──▶ profile text, profile XML
//!   Record + Spans ──▶ results ──▶ text, XML
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod command;
mod distribution;
mod options;
mod paths;
mod plan;
mod profile_text;
mod profile_xml;
mod ranges;
mod reference;
mod results;
mod sheet;
mod spec;
#[cfg(test)]
mod tests;
mod text;
mod units;
mod validate;
mod xml;

pub use blocklab_syntax::Mistake;
pub use command::{Overrides, Parsed, Requested, parse};
pub use paths::{Mapping, local_name};
pub use plan::{Inputs, Pair, Prepared, Span, prepare};
pub use profile_text::{Layout, profile_text};
pub use profile_xml::{profile_xml, read_xml};
pub use reference::{reference, usage};
pub use results::{Bucket, Processor, System, Usage};
pub use spec::{
    Buffers, Cache, Distribution, Format, IoRange, MapFlush, Profile, Target, Throughput, TimeSpan,
};
pub use text::text;
pub use validate::{validate, warnings};
pub use xml::xml;
