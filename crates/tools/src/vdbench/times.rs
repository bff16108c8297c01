//! Times of day in the formats of Vdbench's reports.

use blocklab_units::Nanos;
use jiff::Zoned;

/// One moment in each format.
#[derive(Debug, Clone)]
pub struct Moment {
    /// `16:09:10.032`.
    pub clock: String,
    /// `11/20/2026-16:09:10-UTC`.
    pub stamp: String,
    /// `Nov 20, 2026`.
    pub date: String,
}

/// The current time.
pub fn now() -> Moment {
    moment_at(&Zoned::now())
}

/// The current time for the heading of a report: in local time and in UTC.
pub fn created() -> String {
    const FORM: &str = "%H:%M:%S %b %d %Y %Z";
    let now = Zoned::now();
    let utc = now.with_time_zone(jiff::tz::TimeZone::UTC);
    format!("{} ({})", now.strftime(FORM), utc.strftime(FORM))
}

/// The moment `elapsed` after `start`, for runs in virtual time.
pub fn after(start: &Zoned, elapsed: Nanos) -> Moment {
    let later = start.saturating_add(jiff::SignedDuration::from_nanos(elapsed.0 as i64));
    moment_at(&later)
}

/// Date and time, in local time, of a number of microseconds since 1970.
pub fn at_micros(micros: u64) -> String {
    let moment = jiff::Timestamp::from_microsecond(micros as i64).unwrap_or_default();
    let zoned = moment.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%m/%d/%Y-%H:%M:%S%.3f").to_string()
}

fn moment_at(moment: &Zoned) -> Moment {
    Moment {
        clock: moment.strftime("%H:%M:%S%.3f").to_string(),
        stamp: moment.strftime("%m/%d/%Y-%H:%M:%S-%Z").to_string(),
        date: moment.strftime("%b %d, %Y").to_string(),
    }
}
