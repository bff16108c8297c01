//! In: a Plan, and the targets that it is run on.
//! Out: one Record of all its cases and passes, whole at every moment.
//! Never: a judgement; a write to what it did not make or was not allowed to touch.

mod error;
mod forecast;
mod models;
mod observer;
mod opened_target;
mod opened_targets;
mod parallel;
mod resume_state;
mod run_plan;
mod scratch;
mod system_run;
mod target_forecast;

pub use blocklab_driver::{Event, Observer, Questions};
pub use blocklab_host::guard::Guard;
pub use error::Error;
pub use forecast::{Forecast, Written, forecast, planned, planned_run};
pub use opened_target::Missing;
pub use resume_state::ResumeState;
pub use run_plan::{plan_of, run_plan, run_plans};
pub use system_run::{Assignment, Part};
pub use target_forecast::TargetForecast;
