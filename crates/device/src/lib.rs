//! In: a device as plain data; then, in order of time, requests and the moment of each.
//! Out: when each request leaves the device, and whether it failed; predictions; limits.
//! Never: a clock, who asks, real time.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod device;
mod invalid;
mod io;
mod limit;
mod limits;
mod origin;
mod predict;
mod spec;
mod stage;
mod usage;

pub mod class;

pub use device::{Device, Wait};
pub use invalid::Invalid;
pub use io::{Answer, Direction, Fault, Io};
pub use limit::{Binding, Limit, LimitKind, LimitName, LimitUnit, Operation};
pub use origin::Origin;
pub use predict::{
    Drain, Grant, Load, Phase, Prediction, WritingTime, drains, grants, most_written, predict,
    predict_rate, read_latency, service_quantile,
};
pub use spec::{
    Accounting, Cap, Charge, Covers, Credit, CreditBalance, CreditUnit, DeviceSpec, FaultKind,
    FaultSpec, HostCache, InstanceSpec, Latency, Layout, Network, Programs, Rate, Saturation,
    Service, Spread, Tail, VolumeSpec,
};
pub use stage::FORGIVEN_STALL;
pub use stage::accounting::Charges;
pub use stage::instance::SharedInstance;
pub use usage::{DeviceUse, LimitUse};
