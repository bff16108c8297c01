//! Small things that all parsers of printed figures need.

/// A number as people print it: `1,234.5`, `12.3%`, `4us` without the unit.
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

pub(super) fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim().strip_prefix(label).map(str::trim)
}

/// `2024/09/09 02:02:42 UTC` and its like as RFC 3339; empty where it is no such date.
pub(super) fn moment(text: &str) -> String {
    let mut parts: Vec<u32> = Vec::new();
    for part in text.split(|c: char| !c.is_ascii_digit()) {
        if !part.is_empty() {
            parts.extend(part.parse::<u32>());
        }
    }
    match parts[..] {
        [year, month, day, hour, minute, second, ..]
            if (1970..10_000).contains(&year)
                && (1..13).contains(&month)
                && (1..32).contains(&day)
                && hour < 24
                && minute < 60
                && second < 61 =>
        {
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
        }
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
        assert_eq!(moment("never"), "");
    }
}
