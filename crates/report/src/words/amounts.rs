//! In: amounts. Out: their texts: shares, rates, money, and the figures of findings.

use blocklab_units::{Nanos, count, latency, rate, significant};

/// Below this, two decimals show no figure but 0.
const HUNDREDTH: f64 = 0.005;

/// A share in per cent with about two significant digits: `0.42 %`, `3.1 %`, `12 %`; a tiny one with
/// one: `0.0003 %`.
pub fn percent(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && v < HUNDREDTH => format!("{} %", significant(value, 1)),
        v if v < 0.995 => format!("{value:.2} %"),
        v if v < 9.95 => format!("{value:.1} %"),
        _ => format!("{} %", count(value)),
    }
}

/// A figure of a finding with its unit. The units `ns` and `s` are times, `p` is a percentile.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "ns" => latency(value),
        "%" => percent(value),
        "s" => Nanos::from_secs_f64(value).to_string(),
        "p" if value <= 0.0 => "none".to_owned(),
        "p" => format!("p{value}"),
        "" => plain(value),
        unit => format!("{} {unit}", rate_or_count(value)),
    }
}

/// An amount of money with two decimals: `1,234.50`.
pub fn cents(amount: f64) -> String {
    let cents = (amount.abs() * 100.0).round() as u64;
    let sign = if amount < 0.0 && cents > 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", count((cents / 100) as f64), cents % 100)
}

/// An amount with its currency: `1,234.50 USD`.
pub fn money(amount: f64, currency: &str) -> String {
    format!("{} {currency}", cents(amount))
}

/// A number without a unit.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1000.0 {
        return count(value);
    }
    if value.abs() < HUNDREDTH {
        return significant(value, 1);
    }
    format!("{value:.2}")
}

/// A rate as columns show it: `87.4`, `1,234`; of less than 0.05, which one decimal shows as 0.0, two
/// significant digits: `0.043`.
pub fn fine_rate(value: f64) -> String {
    if value > 0.0 && value < 0.05 {
        significant(value, 2)
    } else {
        rate(value)
    }
}

/// Megabytes per second without their unit.
pub fn mb_per_s(bytes_per_s: f64) -> String {
    fine_rate(bytes_per_s / 1e6)
}

/// Operations per second, whole from 10 on: `0.7`, `2,525`. Without decimals, a load of less than one
/// operation per second would show a rate of 0 or 1.
pub fn iops(value: f64) -> String {
    if value < 10.0 {
        fine_rate(value)
    } else {
        count(value)
    }
}

fn rate_or_count(value: f64) -> String {
    if value.fract() == 0.0 {
        return count(value);
    }
    rate(value)
}

/// A number such as `143.75` or `1,250`: at most three decimals, and none from 1,000 on.
pub fn trimmed(value: f64) -> String {
    if value.abs() < 1000.0 {
        blocklab_units::trimmed(value, 3)
    } else {
        count(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a disk of ten operations of 4 KiB per second had "0.0 MB/s".
    #[test]
    fn a_small_throughput_is_not_zero() {
        assert_eq!(mb_per_s(42_970.0), "0.043");
        assert_eq!(mb_per_s(87_440_000.0), "87.4");
        assert_eq!(mb_per_s(0.0), "0.0");
        assert_eq!(iops(0.02), "0.02");
    }

    #[track_caller]
    fn check(value: f64, unit: &str, expected: &str) {
        assert_eq!(quantity(value, unit), expected);
    }

    #[test]
    fn evidence_carries_its_unit() {
        check(97.4, "%", "97 %");
        check(3.12, "%", "3.1 %");
        check(0.4, "%", "0.40 %");
        // The story: of operations of which three in a million failed, "0.00 %" did.
        check(0.0003, "%", "0.0003 %");
        check(0.0, "%", "0.00 %");
        check(0.0021, "", "0.002");
        check(12_345.0, "ns", "12.3 µs");
        check(3000.0, "IOPS", "3,000 IOPS");
        check(87.44, "MB/s", "87.4 MB/s");
        check(32.0, "", "32");
        check(1.25, "", "1.25");
        check(6.0, "s", "6.00 s");
        // The story: a statement of 33 min 20 s had "2000 s" in its evidence.
        check(2000.0, "s", "33 min 20 s");
        check(99.9, "p", "p99.9");
        check(0.0, "p", "none");
    }

    #[test]
    fn numbers_without_idle_decimals() {
        assert_eq!(trimmed(143.75), "143.75");
        assert_eq!(trimmed(1250.0), "1,250");
        assert_eq!(trimmed(0.5), "0.5");
        assert_eq!(trimmed(1187.5), "1,188");
    }
}
