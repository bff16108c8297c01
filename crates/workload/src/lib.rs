//! In: a specification (jobs, patterns, sizes, pace) as plain data; what a study shows.
//! Out: the stream of requests that a job means: where, how big, when, with what content.
//! Never: a script, a file, a thread, a clock.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod address;
mod content;
mod date;
pub mod errno;
mod few;
mod gaps;
mod io;
mod job;
mod kept;
pub mod numbered;
mod place;
mod plan;
mod pool;
mod preconditioning;
pub mod publication;
mod route;
mod skew;
mod stream;
mod target;
mod targets;
mod verify;

pub use address::{Address, Offer};
pub use content::ContentMaker;
pub use date::Date;
pub use io::{Completion, Io, Slot, SyncKind};
pub use job::{
    Access, Adapted, Advice, Batch, BlockSizes, CallFlags, Content, Credentials, Dependency,
    Direction, Durability, EndsOthers, Engine, EngineKind, ErrorPolicy, Flow, Flush, Hints,
    Invalid, IoPriority, Job, LatencyTarget, Lifetime, Limit, Log, Measure, MinRate, Mix,
    MovingWindow, OperationFlags, Pace, Pattern, Priority, PriorityShare, Rate, Region, Replay,
    ReplayPace, ReplayPlace, Replayed, Runs, SizeDraw, SizeMix, SizedRamp, Spread, Steady,
    SteadyVariable, Stop, TargetOrder, Think, ThinkStyle, TraceChanges, TraceFile, UringOptions,
    Zone,
};
pub use kept::PLAN_FORMAT;
pub use place::{Extent, Places};
pub use plan::{Aggregate, Case, Order, PauseBefore, Plan, Workload, is_case_of, swept_part};
pub use pool::{Hits, Journal, MostErrors, Pooled, Share, Validation};
pub use stream::{Positions, Request, Requests};
pub use target::Target;
pub use verify::{Checksum, HEADER_LEN, KeyPlan, PatternPart, Trims, Verify, When};
