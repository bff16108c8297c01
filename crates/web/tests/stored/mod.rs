//! Runs of a store that the pages are tested with: two that have ended, and one that goes on.

#[path = "../../../report/tests/sample/mod.rs"]
pub mod sample;

use blocklab_record::Record;
use blocklab_store::Store;
use blocklab_store::spool::{Begun, Frame, Spool};

pub const FIRST: &str = "20261120-190142-k3f";
pub const SECOND: &str = "20261121-190142-k3f";
pub const GOES_ON: &str = "20261122-190142-k3f";

/// A run of this id, with rates this many times those of the sample.
pub fn run(id: &str, factor: f64) -> Record {
    let (mut record, _) = sample::run(id, factor);
    id.clone_into(&mut record.id);
    record
}

/// The run that goes on, in the first of three measurements.
pub fn begin(store: &Store) -> Spool {
    let mut record = run(GOES_ON, 1.0);
    record.measurements.clear();
    let mut spool = store.begin(&record).expect("begun");
    let begun = Begun {
        case: "randread".to_owned(),
        pass: 1,
        step: 0,
        steps: 3,
        planned_ns: Some(6_000_000_000),
    };
    spool.begins(&begun).expect("written");
    spool
}

/// A second of it.
pub fn frame(number: u64) -> Frame {
    let mut whole = run(GOES_ON, 1.0).measurements.remove(0);
    let mut slice = whole.series[0];
    slice.end_ns = number * 1_000_000_000;
    slice.length_ns = 1_000_000_000;
    whole.series.clear();
    Frame {
        number,
        elapsed_ns: number * 1_000_000_000,
        in_flight: 32,
        slices: vec![slice],
        credits: Vec::new(),
        so_far: Some(Box::new(whole)),
    }
}
