//! In: a specification (jobs, patterns, sizes, pace) as plain data.
//! Out: the stream of requests that it means: where, how big, when, with what content.
//! Never: a script, a file, a thread, a clock.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod content;
mod job;
mod place;
mod plan;
mod stream;

pub use content::ContentMaker;
pub use job::{
    Access, Batch, BlockSizes, Content, Direction, Durability, Engine, ErrorPolicy, Flush, Invalid,
    Job, Measure, Mix, Pace, Pattern, Rate, Region, SizeMix, Spread, Steady, SteadyVariable, Stop,
    TargetOrder, Think, UringOptions, Zone,
};
pub use place::{Extent, Places};
pub use plan::{Aggregate, Case, Order, PauseBefore, Plan, Workload};
pub use stream::{Request, Requests};
