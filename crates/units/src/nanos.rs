//! In: a time as text, or a number of seconds. Out: [`Nanos`], the one type for durations and
//! moments, and its text for people.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{NotAQuantity, split};

/// Nanoseconds: a duration, or a moment counted from the start of a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than every moment: 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Seconds with a fraction, cut to whole nanoseconds. What is negative or no number becomes zero,
    /// what is too large [`Nanos::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9) as u64)
    }

    /// Seconds as a float, for rates.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to this, zero if that lies later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The sum, at most [`Nanos::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// The longest time that a text may ask for. The type holds twice as much, so that the sum of two
/// times does not overflow.
const LONGEST: Nanos = Nanos(u64::MAX / 2);

const SUFFIXES: [(&str, f64); 11] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("", 1e9),
    ("s", 1e9),
    ("sec", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

impl FromStr for Nanos {
    type Err = NotAQuantity;

    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let nanos = parse_nanos(text).ok_or_else(|| {
            let fault = "is not a time such as 250ms, 30s, 10min or 24h (a bare number is seconds)";
            NotAQuantity::new(text, fault)
        })?;
        if nanos > LONGEST.0 as f64 {
            let fault = "is longer than 292 years, the longest time that blocklab's clock holds";
            return Err(NotAQuantity::new(text, fault));
        }
        Ok(Self(nanos.round() as u64))
    }
}

fn parse_nanos(text: &str) -> Option<f64> {
    let (number, suffix) = split(text)?;
    let (_, factor) = SUFFIXES.iter().find(|(name, _)| *name == suffix)?;
    Some(number * factor)
}

/// From here on, minutes are easier to read than seconds.
const MINUTES_FROM: Nanos = Nanos::from_secs(120);

/// `850 ns`, `12.3 µs`, `4.56 ms`, `2.00 s` with three figures; from two minutes on `3 min 20 s` and
/// `1 h 5 min` in two units.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self >= &MINUTES_FROM {
            let total = self.as_secs_f64().round() as u64;
            let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
            return match (hours, seconds) {
                (0, 0) => write!(f, "{minutes} min"),
                (0, _) => write!(f, "{minutes} min {seconds} s"),
                _ if minutes == 0 => write!(f, "{hours} h"),
                _ => write!(f, "{hours} h {minutes} min"),
            };
        }
        f.write_str(&crate::latency(self.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        for (text, nanos) in [
            ("30", 30_000_000_000),
            ("30s", 30_000_000_000),
            ("250ms", 250_000_000),
            ("1.5 us", 1_500),
            ("10min", 600_000_000_000),
            ("24h", 86_400_000_000_000),
        ] {
            assert_eq!(text.parse::<Nanos>(), Ok(Nanos(nanos)));
        }
        assert!("ten".parse::<Nanos>().is_err());
        assert!("5 parsecs".parse::<Nanos>().is_err());
    }

    /// The story: `17179869184s` "is not a time such as 30s", which it is: it is 544 years.
    #[test]
    fn a_time_beyond_the_clock_is_called_too_long() {
        for text in ["17179869184s", "9999999h", "106752d"] {
            let error = text.parse::<Nanos>().expect_err(text).to_string();
            let fault = format!("`{text}` is longer than 292 years");
            assert!(error.starts_with(&fault), "{error}");
        }
        let longest = "106751d".parse::<Nanos>().expect("292 years");
        assert!(
            longest + longest > longest,
            "the sum of two times that texts ask for must not overflow"
        );
    }

    #[test]
    fn shown_with_three_figures() {
        for (nanos, text) in [
            (0, "0 ns"),
            (850, "850 ns"),
            (12_340, "12.3 µs"),
            (4_560_000, "4.56 ms"),
            (2_000_000_000, "2.00 s"),
            (119_000_000_000, "119 s"),
            (120_000_000_000, "2 min"),
            (200_000_000_000, "3 min 20 s"),
            (3_600_000_000_000, "1 h"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }
}
