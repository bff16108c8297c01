//! Courses of latency that a provider's fault service offers by name.

use blocklab_units::Nanos;

/// Faults of latency, one after the other.
#[derive(Debug, PartialEq)]
pub struct Template {
    /// As it is called.
    pub name: &'static str,
    /// In the order of time.
    pub steps: &'static [Step],
}

/// A stretch of time in which a share of the operations takes longer.
#[derive(Debug, PartialEq)]
pub struct Step {
    /// Share of reads in per cent; 0: a pause.
    pub read_percent: f64,
    /// Share of writes, trims and flushes in per cent.
    pub write_percent: f64,
    /// How much longer they take.
    pub added: Nanos,
    /// How long the stretch is.
    pub lasts: Nanos,
}

const fn step(read_percent: f64, write_percent: f64, added_ms: u64, seconds: u64) -> Step {
    Step {
        read_percent,
        write_percent,
        added: Nanos::from_millis(added_ms),
        lasts: Nanos::from_secs(seconds),
    }
}

const RECOVERY: Step = step(0.0, 0.0, 0, 300);

/// AWS Fault Injection Service, action `aws:ebs:volume-io-latency`: the shares, latencies and times
/// of its four templates.
pub const TEMPLATES: [Template; 4] = [
    Template {
        name: "sustained-latency",
        steps: &[step(50.0, 100.0, 500, 900)],
    },
    Template {
        name: "increasing-latency",
        steps: &[
            step(10.0, 25.0, 50, 180),
            step(10.0, 25.0, 200, 180),
            step(10.0, 25.0, 700, 180),
            step(10.0, 25.0, 1_000, 180),
            step(10.0, 25.0, 15_000, 180),
        ],
    },
    Template {
        name: "intermittent-latency",
        steps: &[
            step(0.1, 0.1, 30_000, 60),
            RECOVERY,
            step(0.1, 0.1, 10_000, 120),
            RECOVERY,
            step(0.1, 0.1, 20_000, 120),
        ],
    },
    Template {
        name: "decreasing-latency",
        steps: &[
            step(10.0, 10.0, 20_000, 180),
            step(10.0, 10.0, 5_000, 180),
            step(10.0, 10.0, 900, 180),
            step(10.0, 10.0, 300, 180),
            step(10.0, 10.0, 40, 180),
        ],
    },
];
