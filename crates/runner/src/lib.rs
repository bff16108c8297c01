//! In: a Request: a study, and the targets it runs on.
//! Out: a Record for each system, complete up to the last measurement at any moment, and one stream of
//! events.
//! Never: judges a result, or writes to a target that it neither created nor was allowed to overwrite.

mod error;
mod forecast;
mod models;
mod observer;
mod opened_target;
mod opened_targets;
mod parallel;
mod planned;
mod prepared;
mod request;
mod resume_state;
mod run_plan;
mod schedule;
mod scratch;
mod system_run;
mod systems;
mod target_forecast;
mod until;

pub use blocklab_driver::{Event, Observer, Questions};
pub use blocklab_host::guard::Guard;
pub use error::Error;
pub use forecast::Forecast;
pub use opened_target::Missing;
pub use planned::{Written, pause_between, planned, planned_if_timed, planned_run};
pub use prepared::{Finished, Prepared};
pub use request::{HostSetting, Request, Setting, Study};
pub use resume_state::ResumeState;
pub use run_plan::plan_of;
pub use target_forecast::TargetForecast;
pub use until::Until;
