//! Courses of latency that a provider's fault service offers by name.

/// Faults of latency, one after the other.
#[derive(Debug, PartialEq)]
pub struct Template {
    /// As it is called.
    pub name: &'static str,
    /// Share of reads that take longer, in per cent.
    pub read_percent: f64,
    /// Share of writes, trims and flushes in per cent.
    pub write_percent: f64,
    /// How much longer they take, in milliseconds, and for how many seconds; 0 ms: a pause.
    pub steps: &'static [(u64, u64)],
}

/// AWS Fault Injection Service, action `aws:ebs:volume-io-latency`: the shares, latencies and times
/// of its four templates.
pub const TEMPLATES: [Template; 4] = [
    Template {
        name: "sustained-latency",
        read_percent: 50.0,
        write_percent: 100.0,
        steps: &[(500, 900)],
    },
    Template {
        name: "increasing-latency",
        read_percent: 10.0,
        write_percent: 25.0,
        steps: &[
            (50, 180),
            (200, 180),
            (700, 180),
            (1_000, 180),
            (15_000, 180),
        ],
    },
    Template {
        name: "intermittent-latency",
        read_percent: 0.1,
        write_percent: 0.1,
        steps: &[
            (30_000, 60),
            (0, 300),
            (10_000, 120),
            (0, 300),
            (20_000, 120),
        ],
    },
    Template {
        name: "decreasing-latency",
        read_percent: 10.0,
        write_percent: 10.0,
        steps: &[
            (20_000, 180),
            (5_000, 180),
            (900, 180),
            (300, 180),
            (40, 180),
        ],
    },
];
