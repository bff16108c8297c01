use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};

/// Which figures a job keeps beyond those that are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Count how many operations were in flight at each issue, and how many each submitting call
    /// and each wait moved. One counter more an operation.
    pub depths: bool,
    /// Sample the bandwidth of each direction at this distance. Costs an operation nothing.
    pub bandwidth_every: Option<Nanos>,
    /// The same of operations per second.
    pub iops_every: Option<Nanos>,
}

impl Measure {
    /// Everything, sampled twice a second.
    pub const ALL: Self = Self {
        depths: true,
        bandwidth_every: Some(Nanos::from_millis(500)),
        iops_every: Some(Nanos::from_millis(500)),
    };
}
