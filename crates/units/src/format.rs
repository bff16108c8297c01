//! In: numbers. Out: the texts that people read: counts, rates, latencies, figures. All pages and
//! terminals print them alike because they are formatted here alone.

/// A whole number with thousands separated: `1,234,567`.
pub fn count(value: f64) -> String {
    let rounded = decimals(value, 0);
    let (sign, digits) = match rounded.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", &*rounded),
    };
    let mut grouped = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with this many decimals, and no sign if it rounds to 0: a sum of nothing is a negative 0.
pub fn decimals(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// A difference with its sign, and with none if it rounds to 0: `+3.2`, `-0.1`, `0.0`.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = self::decimals(value, decimals);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if is_zero || text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}

/// A number with its noun, given in the singular: `1 case`, `3,000 cases`, `2 passes`.
pub fn plural(number: usize, one: &str) -> String {
    let ending = match number {
        1 => "",
        _ if one.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", count(number as f64))
}

/// The word that agrees with a number: `is` for one, `are` for none and for several.
pub const fn agreeing<'w>(number: usize, one: &'w str, many: &'w str) -> &'w str {
    if number == 1 { one } else { many }
}

/// A figure as its source states it, with at most two decimals: `143.75`, `6,000`, `0.5`. From 10,000 on
/// it has none, because sources round there: a fraction is left over from a conversion.
pub fn stated(value: f64) -> String {
    let decimals = if value.abs() < 10_000.0 { 2 } else { 0 };
    trimmed(value, decimals)
}

/// At most `figures` significant figures, but never less than the whole number: `3,000.33`, `0.295`,
/// `12`.
pub fn significant(value: f64, figures: i32) -> String {
    // The power of ten of the first figure. Below 1e-9 no decimal would be shown.
    let first = value.abs().max(1e-9).log10().floor() as i32;
    trimmed(value, (figures - 1 - first).clamp(0, 9) as usize)
}

/// At most `decimals` decimals, without trailing zeros; thousands separated.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = self::decimals(value, decimals);
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = decimals.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    // `count` gives 0 no sign, so that of -0.5 is added here.
    let sign = if whole == "-0" { "-" } else { "" };
    let grouped = count(whole.parse().unwrap_or(value));
    format!("{sign}{grouped}{dot}{fraction}")
}

/// A rate for a column: one decimal below 100, whole and grouped above: `87.4`, `1,234`.
pub fn rate(value: f64) -> String {
    if value.abs() < 99.95 {
        decimals(value, 1)
    } else {
        count(value)
    }
}

/// A latency in nanoseconds, for people: `850 ns`, `12.3 µs`, `4.56 ms`, `2.00 s`.
pub fn latency(nanos: f64) -> String {
    let (number, unit) = latency_and_unit(nanos);
    format!("{number} {unit}")
}

/// The two parts of a [`latency`].
pub fn latency_and_unit(nanos: f64) -> (String, &'static str) {
    match nanos {
        n if n < 999.5 => (decimals(n, 0), "ns"),
        n if n < 999_500.0 => (three_figures(n / 1e3), "µs"),
        n if n < 999_500_000.0 => (three_figures(n / 1e6), "ms"),
        n => (three_figures(n / 1e9), "s"),
    }
}

fn three_figures(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(count(1_234_567.0), "1,234,567");
        assert_eq!(count(-1234.0), "-1,234");
        assert_eq!(count(999.0), "999");
        assert_eq!(stated(143.75), "143.75");
        assert_eq!(stated(1187.5), "1,187.5");
        assert_eq!(stated(9999.5), "9,999.5");
        assert_eq!(stated(42_761.25), "42,761");
        assert_eq!(stated(6000.0), "6,000");
        assert_eq!(stated(339.393_939), "339.39");
        assert_eq!(stated(-0.25), "-0.25");
        for (value, figures, expected) in [
            (6000.0, 6, "6,000"),
            (3000.3303, 6, "3,000.33"),
            (1_099.511_6, 6, "1,099.51"),
            (0.206_25, 6, "0.20625"),
            (1_234_567.8, 6, "1,234,568"),
            (0.295, 4, "0.295"),
            (12.0, 4, "12"),
            (583.27, 4, "583.3"),
        ] {
            assert_eq!(significant(value, figures), expected);
        }
        assert_eq!(rate(87.44), "87.4");
        // What would round to 100.0 is a whole number, and nothing is a negative 0.
        assert_eq!(rate(99.94), "99.9");
        assert_eq!(rate(99.96), "100");
        // A half rounds to the even number, here to 0, which has no sign.
        assert_eq!(count(-0.5), "0");
        assert_eq!(count(-0.4), "0");
        assert_eq!(rate(-0.0), "0.0");
        assert_eq!(rate(-0.04), "0.0");
        assert_eq!(trimmed(-0.004, 2), "0");
        assert_eq!(latency(-0.0), "0 ns");
        for (value, text) in [(0.3, "+0.3"), (-0.3, "-0.3"), (0.04, "0.0"), (-0.04, "0.0")] {
            assert_eq!(signed(value, 1), text);
        }
        assert_eq!(count(-0.6), "-1");
        assert_eq!(rate(1234.4), "1,234");
        assert_eq!(latency(12_345.0), "12.3 µs");
    }

    /// The story: a trace of one operation had "1 operations", and "1 of 32 runs are left out".
    #[test]
    fn one_is_singular() {
        assert_eq!(plural(1, "operation"), "1 operation");
        assert_eq!(plural(0, "operation"), "0 operations");
        assert_eq!(plural(12_345, "operation"), "12,345 operations");
        assert_eq!(plural(2, "pass"), "2 passes");
        assert_eq!(agreeing(0, "is", "are"), "are");
        assert_eq!(agreeing(1, "is", "are"), "is");
        assert_eq!(agreeing(2, "is", "are"), "are");
    }
}
