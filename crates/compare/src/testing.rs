//! Sound records of sketched cases.

use blocklab_record::Record;

#[path = "../../record/tests/sketch/mod.rs"]
mod sketch;
pub(crate) use sketch::{Sketch, record};

/// A record of one healthy case, with a rate for each pass.
pub(crate) fn run(iops: &[f64]) -> Record {
    record(&[Sketch::of_rates(iops)])
}
