//! In: a day as text. Out: [`Date`], which orders days and needs no time zone: the days from which
//! limits and prices apply.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A day of the calendar. Limits and prices hold from one day to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is not a day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a day such as 2018-12-03, a month such as 2018-12 or a year such as 2018")]
pub struct NotADate(pub String);

impl Date {
    /// The year.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// Later than every day that a source names.
    pub const MAX: Self = Self {
        year: 9999,
        month: 12,
        day: 31,
    };

    /// The day, if the calendar has it; years from 1970 to 9999.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let sound = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days(year, month)).contains(&day);
        sound.then_some(Self { year, month, day })
    }

    /// Whole years until a later day; 0 until an earlier one.
    pub fn years_until(self, later: Self) -> u16 {
        let is_incomplete = (later.month, later.day) < (self.month, self.day);
        let years = later.year.saturating_sub(self.year);
        years.saturating_sub(u16::from(is_incomplete))
    }

    /// The day before; that of the first representable day is itself.
    #[must_use]
    pub fn day_before(self) -> Self {
        let Self { year, month, day } = self;
        let before = match (month, day) {
            (1, 1) => Self::new(year - 1, 12, 31),
            (_, 1) => Self::new(year, month - 1, days(year, month - 1)),
            _ => Self::new(year, month, day - 1),
        };
        before.unwrap_or(self)
    }
}

/// Days of a month.
fn days(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `2018-12-03`; `2018-12` and `2018` are the first day of that month or year.
impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        read(text).ok_or_else(|| NotADate(text.to_owned()))
    }
}

/// A date, a month (its first day) or a year (its first day).
fn read(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |part| number(part, 2))?;
    let day = parts.next().map_or(Some(1), |part| number(part, 2))?;
    if parts.next().is_some() {
        return None;
    }
    Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
}

/// A number of exactly this many digits, without a sign.
fn number(part: &str, digits: usize) -> Option<u16> {
    let is_plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    part.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let date = text.parse::<Date>().ok().map(|date| date.to_string());
        assert_eq!(date.as_deref(), expected, "{text}");
    }

    #[test]
    fn days_months_and_years() {
        check("2018-12-03", Some("2018-12-03"));
        check("2018-12", Some("2018-12-01"));
        check("2020", Some("2020-01-01"));
        check("2020-02-29", Some("2020-02-29"));
        check("2019-02-29", None);
        check("2018-13", None);
        check("2018-00-01", None);
        check("2018-1-1", None);
        check("18-12-03", None);
        check("2018-12-03-04", None);
        check("2018-12-", None);
        check("+018", None);
        check("", None);
    }

    #[test]
    fn the_day_before() {
        for (day, before) in [
            ("2018-12-03", "2018-12-02"),
            ("2020-03-01", "2020-02-29"),
            ("2021-01-01", "2020-12-31"),
            ("1970-01-01", "1970-01-01"),
        ] {
            let date: Date = day.parse().expect("a day");
            assert_eq!(date.day_before().to_string(), before);
        }
    }

    #[test]
    fn a_year_is_over_on_its_day() {
        let date = |text: &str| text.parse::<Date>().expect("a day");
        let years = |from, to| date(from).years_until(date(to));
        assert_eq!(years("2021-07-01", "2026-06-30"), 4);
        assert_eq!(years("2021-07-01", "2026-07-01"), 5);
        assert_eq!(years("2026-07-01", "2021-07-01"), 0);
    }

    #[test]
    fn days_follow_each_other() {
        let date = |text: &str| text.parse::<Date>().expect("a day");
        assert!(date("2018-12-02") < date("2018-12-03"));
        assert!(date("2018-12-31") < date("2019"));
    }
}
