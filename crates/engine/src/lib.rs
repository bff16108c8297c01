//! In: a Workload and opened targets.
//! Out: a Measurement, and intervals while it runs.
//! Never: prints, parses a script, judges a figure.

mod bounds;
mod buffers;
mod clock;
mod drive;
mod error;
mod favours;
mod flush;
mod journal;
mod lanes;
mod layout;
mod ledger;
mod load;
mod log;
mod missed;
mod model;
mod outstanding;
mod overhead;
mod pace;
mod pool;
mod recorder;
mod restraint;
mod script;
mod seek;
mod shares;
mod target;
mod trimmer;
mod validator;
mod verifier;
mod worker;

pub use clock::Clock;
pub use drive::{
    Backing, Control, DirectionSlice, FlawedBlock, Outcome, Run, Slice, Tap, TargetFile, run,
    simulate,
};
pub use error::Error;
pub use journal::{journal_path, map_path};
pub use layout::{Layout, lay_out};
pub use log::{JobLog, LogEntry, LogSpan};
pub use model::{Arrival, Model};
pub use overhead::measure as measure_overhead;
pub use target::io_uring_is_available;
pub use verifier::Progress;
