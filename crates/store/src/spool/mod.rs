//! In: a run while it lasts, second by second. Out: a file that grows by a line at a time, and what
//! such a file shows of a run that has no end.
//!
//! ```text
//!  ROOT/ID.partial/spool.ndjson
//!
//!  {"head":{"spool_format":1,"is_locked":true,"record":{… without measurements …}}}
//!  {"measured":{…}}                          a measurement that has ended
//!  {"begins":{"case":"4k","pass":1,…}}       the next one begins
//!  {"frame":{"number":1,"elapsed_ns":…}}     a second of it, and the measurement so far
//! ```
//!
//! A line is written whole or not at all: what has no line end was torn by a kill or a full disk and
//! counts as not written. The file is held by a lock while its run lasts.

mod follow;
mod line;
mod progress;
mod unfinished;
mod writer;

pub use follow::Follower;
pub use line::{Begun, Credit, Frame};
pub use progress::{Current, Progress, SpoolError};
pub(crate) use unfinished::{is_running, unfinished};
pub use writer::Spool;

/// The file in the folder of a run that has no end.
pub(crate) const SPOOL: &str = "spool.ndjson";
/// A shorter one that takes its place.
pub(crate) const FRESH_SPOOL: &str = ".spool.ndjson.new";
/// The format of the lines. A change of meaning or shape needs a new number.
const FORMAT: u32 = 1;
