//! An operation of a worker that is under way.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Request};

/// An operation that was issued and has not come back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) submitted: Nanos,
    pub(crate) intended: Nanos,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) file: u32,
    pub(crate) direction: Direction,
    /// As [`Io::priority`].
    pub(crate) priority: u16,
}

impl InFlight {
    #[inline]
    pub(crate) const fn new(request: &Request, submitted: Nanos, intended: Nanos) -> Self {
        Self {
            submitted,
            intended,
            offset: request.offset,
            len: request.len,
            file: request.target,
            direction: request.direction,
            priority: 0,
        }
    }
}
