//! In: the Records of a command that has run something, and the options for its output.
//! Out: a printed result, a stored run, an HTML page, the answer of a gate, an exit code.
//! Never: measures, judges, or decides what a result looks like (`report` and `page` do).

mod answer;
mod conclusion;
pub mod gate;
pub mod history;
pub mod keeping;
mod live_view;
pub mod output;
mod spooling;
mod study_end;

pub use answer::{answer, conclude_run};
pub use conclusion::{Conclusion, Output, Run, Wanted, conclude, keep};
pub use live_view::{LiveView, View};
pub use spooling::Spooling;
