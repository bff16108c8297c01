/// Little's law: how many operations are in flight on average, n = X · L, when `per_second` of
/// them complete and each takes `latency_ns`. Exact for any system whose number in flight is the
/// same at both ends of the time looked at.
#[must_use]
pub fn in_flight(per_second: f64, latency_ns: f64) -> f64 {
    per_second * latency_ns / 1e9
}

/// Little's law the other way: operations per second, X = n / L; 0 without a latency.
#[must_use]
pub fn rate_for(in_flight: f64, latency_ns: f64) -> f64 {
    if latency_ns > 0.0 {
        in_flight * 1e9 / latency_ns
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        assert_eq!(in_flight(10_000.0, 100_000.0), 1.0);
        assert_eq!(rate_for(32.0, 2_000_000.0), 16_000.0);
        assert_eq!(rate_for(1.0, 0.0), 0.0);
    }
}
