//! In: what a run came to, in the forms that it has; how the user wants it.
//! Out: a printed result, a kept run, a page, the answer of a gate, an exit code.
//! Never: measures, judges, or lays out a result.

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
pub use conclusion::{Conclusion, Form, Run, Wanted, conclude, keep};
pub use live_view::{LiveView, View};
pub use spooling::Spooling;
