//! In: the text of a number. Out: the exact number. Floating point would lose nanoseconds of times
//! since 1970.

use crate::lines::shown;

/// A whole number, decimal or hexadecimal with `0x`.
pub(crate) fn whole(text: &[u8], what: &str) -> Result<u64, String> {
    let text = text.trim_ascii();
    if let Some(digits) = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X")) {
        let digits = std::str::from_utf8(digits).ok();
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        return number.ok_or_else(|| refused(text, what));
    }
    digits(text).ok_or_else(|| refused(text, what))
}

/// The message for a text that is no whole number.
fn refused(text: &[u8], what: &str) -> String {
    format!("the {what} `{}` is not a whole number", shown(text))
}

/// A number of decimal digits only; `None` also if it does not fit.
#[inline]
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

/// A time: a number with or without a fraction, in units of this many nanoseconds. What is finer than
/// a nanosecond is cut off.
pub(crate) fn time(text: &[u8], unit_ns: u64, what: &str) -> Result<u64, String> {
    let text = text.trim_ascii();
    parse_time(text, unit_ns)
        .ok_or_else(|| format!("the {what} `{}` is not a time such as 12.345", shown(text)))
}

/// Nanoseconds of a decimal number of units, without floating point. `None` if it is no number or
/// too large.
fn parse_time(text: &[u8], unit_ns: u64) -> Option<u64> {
    let Some(point) = text.iter().position(|byte| *byte == b'.') else {
        return digits(text)?.checked_mul(unit_ns);
    };
    let (before, after) = (&text[..point], &text[point + 1..]);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let before = match before {
        b"" => 0,
        before => digits(before)?,
    };
    // Twelve digits are enough for picoseconds of a second, and their product with the unit fits.
    let fine = &after[..after.len().min(12)];
    if !after.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut fraction = 0_u128;
    let mut scale = 1_u128;
    for digit in fine {
        fraction = fraction * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    let fraction = (fraction * u128::from(unit_ns) / scale) as u64;
    before.checked_mul(unit_ns)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_traces() {
        assert_eq!(time(b" 0.250137 ", 1_000_000_000, "time"), Ok(250_137_000));
        assert_eq!(
            time(b"1456200000.250000001", 1_000_000_000, "t"),
            Ok(1_456_200_000_250_000_001)
        );
        assert_eq!(time(b"0.42", 1_000_000, "t"), Ok(420_000));
        assert_eq!(time(b".5", 10, "t"), Ok(5));
        assert_eq!(whole(b"0x1F", "offset"), Ok(31));
        for bad in ["", ".", "1e3", "-1", "1.2.3", "99999999999999999999"] {
            assert!(time(bad.as_bytes(), 1000, "time").is_err(), "{bad}");
            assert!(whole(bad.as_bytes(), "offset").is_err(), "{bad}");
        }
    }
}
