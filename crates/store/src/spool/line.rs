//! The lines of a spool, as values and as JSON.
//!
//! A file of its own: what is written and what is read are the same types.

use std::borrow::Cow;

use blocklab_record::{Interval, Measurement};
use serde::{Deserialize, Serialize};

/// One line.
#[expect(
    clippy::large_enum_variant,
    reason = "a line is written or taken at once, never kept"
)]
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The run without its measurements; a later one replaces it.
    Head(Head<'a>),
    /// A measurement that has ended.
    Measured(Cow<'a, Measurement>),
    /// A measurement begins.
    Begins(Cow<'a, Begun>),
    /// A second of it.
    Frame(Cow<'a, Frame>),
}

/// What the first line holds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head<'a> {
    /// [`super::FORMAT`].
    pub(super) spool_format: u32,
    /// Whether the run holds a lock on the file: then its absence shows that the run was killed.
    pub(super) is_locked: bool,
    /// Read by [`blocklab_record::Record::from_json`], which knows formats and refuses some.
    pub(super) record: Cow<'a, serde_json::value::RawValue>,
}

impl Line<'_> {
    /// As JSON, with its line end.
    pub(super) fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line holds no exotic keys");
        text.push('\n');
        text
    }
}

/// A measurement that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Begun {
    /// Its case.
    pub case: String,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Its place in the plan, from 0.
    pub step: usize,
    /// Measurements of the plan, as far as they are known.
    pub steps: usize,
    /// The planned time of the measurement, its ramp included; `None`: another rule ends it.
    pub planned_ns: Option<u64>,
}

/// What happened in a measurement in about a second.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Frame {
    /// From 1 in each measurement.
    pub number: u64,
    /// Since the start of the measurement, the ramp included.
    pub elapsed_ns: u64,
    /// Operations in flight.
    pub in_flight: u64,
    /// The slices of the series that ended since the frame before.
    pub slices: Vec<Interval>,
    /// What is left in the burst buckets of devices that are paced in real time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<Credit>,
    /// The measurement so far, without its series; the last one is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<Box<Measurement>>,
}

/// What is left in a burst bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// The limit that it belongs to.
    pub name: String,
    /// Operations or bytes, as the limit counts them.
    pub left: f64,
    /// `operations` or `bytes`; empty in spools of earlier builds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}
