//! In: `2d`, `2026-11-01`, `2026-11-01T18:00:00Z`. Out: a moment; for `2d`, given the time.

use std::str::FromStr;

use blocklab_units::Nanos;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A moment, absolute or relative to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// This long before now.
    Ago(SignedDuration),
    /// This moment.
    Moment(Timestamp),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The length is checked because jiff parses `2026-11-01T18:00:00Z` as a date, too, and drops the
        // time.
        if text.len() == "2026-11-01".len()
            && let Ok(day) = text.parse::<Date>()
            && let Ok(midnight) = day.to_zoned(TimeZone::UTC)
        {
            return Ok(Self::Moment(midnight.timestamp()));
        }
        if let Ok(moment) = text.parse() {
            return Ok(Self::Moment(moment));
        }
        // A number without a unit is refused: it could be days or hours.
        if text.ends_with(char::is_alphabetic)
            && let Ok(ago) = text.parse::<Nanos>()
            && let Ok(ns) = i64::try_from(ago.0)
        {
            return Ok(Self::Ago(SignedDuration::from_nanos(ns)));
        }
        Err(
            "2d, 12h and 30min ago would be understood, and 2026-11-01 or 2026-11-01T18:00:00Z"
                .to_owned(),
        )
    }
}

impl Since {
    /// The moment, given what time it is.
    pub fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            // Longer ago than any timestamp: all runs are younger.
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
            Self::Moment(moment) => moment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_ago_and_days_are_moments() {
        let now: Timestamp = "2026-11-27T06:00:00Z".parse().expect("a moment");
        for (text, expected) in [
            ("2d", "2026-11-25T06:00:00Z"),
            ("90min", "2026-11-27T04:30:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T18:00:00Z", "2026-11-01T18:00:00Z"),
            ("2026-11-01T18:00:00+02:00", "2026-11-01T16:00:00Z"),
        ] {
            let since: Since = text.parse().expect(text);
            assert_eq!(since.moment(now).to_string(), expected, "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2",
            "2026",
            "2026-11-01T18:00",
        ] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
