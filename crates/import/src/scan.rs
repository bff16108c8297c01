//! Numbers, sizes and dates as programs print them.

use jiff::civil::DateTime;

/// A number as people print it, such as `1,234.5` or `12.3%`; `None` for one that is not finite.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| *c != ',').collect();
    let value: f64 = plain.trim().trim_end_matches('%').trim_end().parse().ok()?;
    value.is_finite().then_some(value)
}

/// A whole number that is not negative.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `64KiB`, `4K`, `1.5GiB`, `4096`, with or without a blank.
pub(super) fn size(text: &str) -> Option<u64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.parse::<blocklab_units::Bytes>()
        .ok()
        .map(|bytes| bytes.0)
}

/// What follows a label at the beginning of a line; `None` if the line begins otherwise.
pub(super) fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim().strip_prefix(label).map(str::trim)
}

/// A date whose numbers come in this order, such as `2024/09/09 02:02:42 UTC`, as RFC 3339; empty if it is
/// none.
pub(super) fn moment(text: &str) -> String {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let six: Vec<&str> = numbers.filter(|part| !part.is_empty()).take(6).collect();
    rfc3339("%Y %m %d %H %M %S", &six.join(" "))
}

/// A date in this format of strptime as RFC 3339; empty if it is none since 1970.
pub(super) fn rfc3339(format: &str, text: &str) -> String {
    match DateTime::strptime(format, text) {
        Ok(date) if date.year() >= 1970 => format!("{date}Z"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sizes_and_moments() {
        assert_eq!(number(" 1,234.50 "), Some(1234.5));
        assert_eq!(number("12.5%"), Some(12.5));
        assert_eq!(number("N/A"), None);
        assert_eq!(number("1e999"), None);
        assert_eq!(size("64 KiB"), Some(65_536));
        assert_eq!(size("4K"), Some(4096));
        assert_eq!(moment("2024/09/09 02:02:42 UTC"), "2024-09-09T02:02:42Z");
        assert_eq!(moment("2016/4/21 8:03:09"), "2016-04-21T08:03:09Z");
        assert_eq!(moment("2016/14/21 8:03:09"), "");
        assert_eq!(moment("2023/02/29 8:03:09"), "");
        assert_eq!(moment("16/4/21 8:03:09"), "");
        assert_eq!(moment("never"), "");
    }
}
