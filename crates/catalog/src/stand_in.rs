//! Assumptions about every volume of which nothing better is known: how much a limiter holds when it
//! rests, and how long an operation takes.

use blocklab_device::{Latency, Origin, Service, Spread};
use blocklab_units::Nanos;

/// Every limiter also holds about one second of its own rate when it rests
/// (r5d-vs-gp3: 3,059 IOPS of 3,000 over 30 s with two operations in flight).
pub(crate) const BUCKET: Nanos = Nanos::from_secs(1);

/// This share of the rate that an EBS limiter does not use refills its bucket: after 33 s of rest,
/// runs of 10 s on a gp3 volume of 4,000 IOPS gave 4,131 to 4,170 a second, six of six, and a fresh one
/// 4,395 (miztiik/ebs-gp3-perf, 2020-12-21). Runs on three other volumes judge it.
pub(crate) const REFILL: f64 = 0.0117;

/// A service of one mean latency for a device without measurements; it scatters as `like` does, without
/// its rare slow operations.
pub(crate) fn stand_in(like: &Service, mean_ns: u64, because: &str) -> Service {
    let origin = Origin::assumed(because);
    let latency = Latency {
        base: Nanos(mean_ns),
        per_kib_ns: 0.0,
        origin: origin.clone(),
    };
    let spread = Spread {
        sigma: like.spread.sigma,
        tail: None,
        origin,
    };
    Service::even(latency, spread)
}
