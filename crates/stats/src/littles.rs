//! In: a rate and a latency. Out: the operations in flight by Little's law, in the one place where
//! the law is written down.

/// Little's law: how many operations are in flight on average, n = X · L, when `per_second` of
/// them complete and each takes `latency_ns`. Exact for any system whose number in flight is the
/// same at both ends of the time looked at.
pub fn in_flight(per_second: f64, latency_ns: f64) -> f64 {
    per_second * latency_ns / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_a_latency_give_what_is_in_flight() {
        assert_eq!(in_flight(10_000.0, 100_000.0), 1.0);
    }
}
