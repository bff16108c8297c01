//! Numbers as fio writes them: units by `kb_base`, hexadecimal, arithmetic in parentheses, times.

use blocklab_units::{Nanos, with_defaults};

with_defaults! {
    /// What a `k` is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Scale {
        /// The factor of `k`, 1024 or 1000; `kib` has the other one.
        pub kilo: u64 = 1024,
    }
}

/// The unit of a time that is written without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Seconds,
    Millis,
    Micros,
}

/// Sums of several times, such as a delay, a ramp and a runtime, fit into 64 bits, and no run is longer.
pub(super) const LONGEST: Nanos = Nanos::from_secs(100 * 365 * 24 * 3600);

/// A number with an optional unit of amount: `4k`, `0x10`, `(2*4k)`. Only what [`read_prefix`] gives
/// counts.
///
/// # Errors
/// No such number, or one beyond 64 bits.
pub fn amount(text: &str, scale: Scale) -> Result<i64, String> {
    let text = text.trim();
    match read_prefix(text) {
        Some("" | "-") => Err(no_number(text)),
        // fio reads `10%` as -11, which is out of range, or no limit, or all blocks.
        Some(_) if text.ends_with('%') => Err(no_share(text)),
        Some(prefix) => with_arithmetic(prefix, scale),
        None => with_arithmetic(text, scale),
    }
}

/// As [`amount`], with arithmetic anywhere: fio calculates so where a keyword is in the text.
pub(super) fn with_arithmetic(text: &str, scale: Scale) -> Result<i64, String> {
    let value = Expression::new(text, &|suffix| scale.factor(suffix)).value()?;
    without_fraction(value, text)
}

/// The beginning of a number that fio reads, where it drops the rest: outside of parentheses it knows
/// no fractions, blanks or arithmetic. `None` if it reads the whole text.
pub(super) fn read_prefix(text: &str) -> Option<&str> {
    let signed = text.strip_prefix('-').unwrap_or(text);
    if signed.starts_with('(') || signed.starts_with("0x") || signed.starts_with("0X") {
        return None;
    }
    let behind_digits = signed.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind_unit = behind_digits.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    text.strip_suffix(behind_unit)
        .filter(|_| !behind_unit.is_empty())
}

/// As [`read_prefix`], of a time: `1` of `1.5ms`, whose unit is dropped, too. What follows a unit is
/// dropped nowhere: fio takes `1m30s` for a microsecond.
pub(super) fn read_prefix_of_time(text: &str) -> Option<&str> {
    read_prefix(text).filter(|prefix| prefix.ends_with(|c: char| c.is_ascii_digit()))
}

/// A time: `10`, `5m`, `250ms`. One beyond [`LONGEST`] counts as that.
pub(super) fn time(text: &str, clock: Clock) -> Result<Nanos, String> {
    if read_prefix(text.trim()).is_some() {
        return Err(no_time(text));
    }
    let seconds = Expression::new(text, &|suffix| clock.factor(suffix)).value()?;
    if seconds < 0.0 {
        return Err(no_time(text));
    }
    Ok(Nanos((seconds * 1e9).round() as u64).min(LONGEST))
}

/// The place of this number in an even spread over 0 to 1: multiples of the golden ratio are spread
/// evenly, however many there are.
pub(super) fn evenly_spread(number: u64) -> f64 {
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
    (number as f64 * GOLDEN_RATIO).fract()
}

/// Cuts off a fraction. Above 2^63 there is no device, and the cast would saturate in silence.
fn without_fraction(value: f64, text: &str) -> Result<i64, String> {
    if value.abs() > 9.2e18 {
        return Err(format!("`{text}` is too large"));
    }
    Ok(value as i64)
}

fn no_time(text: &str) -> String {
    format!("`{text}` is no time: it is one whole number with a unit, such as 1500ms")
}

/// The mistake of a share where an option has no whole that it could be of.
pub(super) fn no_share(text: &str) -> String {
    format!("`{text}` is no number: this option takes one without `%`")
}

fn no_number(text: &str) -> String {
    format!("`{text}` is no number")
}

impl Scale {
    fn factor(self, suffix: &str) -> Option<f64> {
        let suffix = suffix.to_ascii_lowercase();
        let power = match suffix.chars().next() {
            None => return Some(1.0),
            Some('b') if suffix == "b" => return Some(1.0),
            // fio has no exa: `1e5` is 1 to it, and a slip everywhere.
            Some(letter) => "kmgtp".find(letter)? + 1,
        };
        let base = match &suffix[1..] {
            // `ki` is `k`; only `kib` is the other one.
            "" | "b" | "i" => self.kilo,
            "ib" if self.kilo == 1000 => 1024,
            "ib" => 1000,
            _ => return None,
        };
        Some((base as f64).powi(power as i32))
    }
}

impl Clock {
    /// The seconds in one unit of this suffix.
    fn factor(self, suffix: &str) -> Option<f64> {
        Some(match suffix.to_ascii_lowercase().as_str() {
            "" => match self {
                Self::Seconds => 1.0,
                Self::Millis => 1e-3,
                Self::Micros => 1e-6,
            },
            "d" | "day" | "days" => 86_400.0,
            "h" | "hour" | "hours" => 3_600.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "ms" | "msec" | "milliseconds" => 1e-3,
            "us" | "usec" | "microseconds" => 1e-6,
            "ns" | "nsec" | "nanoseconds" => 1e-9,
            _ => return None,
        })
    }
}

/// An expression with `+ - * / % ^`, parentheses and numbers with units, of which `rest` is still to be
/// read.
struct Expression<'a> {
    whole: &'a str,
    rest: &'a str,
    /// How much one of a unit is; `None`: there is no such unit.
    factor: &'a dyn Fn(&str) -> Option<f64>,
    /// How many calls of [`Expression::atom`] and [`Expression::power`] are nested.
    depth: usize,
}

/// Deeper nesting is refused, before it overflows the stack.
const DEEPEST: usize = 64;

impl<'a> Expression<'a> {
    fn new(text: &'a str, factor: &'a dyn Fn(&str) -> Option<f64>) -> Self {
        Self {
            whole: text,
            rest: text.trim(),
            factor,
            depth: 0,
        }
    }

    fn value(mut self) -> Result<f64, String> {
        let value = self.sum()?;
        self.skip_blanks();
        if self.rest.is_empty() && value.is_finite() {
            Ok(value)
        } else {
            Err(no_number(self.whole))
        }
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            match self.operator(&['+', '-']) {
                Some('+') => value += self.product()?,
                Some(_) => value -= self.product()?,
                None => return Ok(value),
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        loop {
            match self.operator(&['*', '/', '%']) {
                Some('*') => value *= self.power()?,
                Some('/') => value /= self.power()?,
                Some(_) => value %= self.power()?,
                None => return Ok(value),
            }
        }
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        if self.operator(&['^']).is_none() {
            return Ok(base);
        }
        self.descend()?;
        let exponent = self.power()?;
        self.depth -= 1;
        Ok(base.powf(exponent))
    }

    fn atom(&mut self) -> Result<f64, String> {
        self.skip_blanks();
        self.descend()?;
        let value = if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.sum()?;
            self.skip_blanks();
            self.rest = self
                .rest
                .strip_prefix(')')
                .ok_or_else(|| no_number(self.whole))?;
            inner * self.suffix()?
        } else if let Some(rest) = self.rest.strip_prefix('-') {
            self.rest = rest;
            -self.atom()?
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn descend(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("`{}` is nested too deep", self.whole));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<f64, String> {
        let hexadecimal = self
            .rest
            .strip_prefix("0x")
            .or(self.rest.strip_prefix("0X"));
        if let Some(digits) = hexadecimal {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit());
            let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
            let value = u64::from_str_radix(digits, 16).map_err(|_| no_number(self.whole))?;
            self.rest = rest;
            return Ok(value as f64);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value: f64 = digits.parse().map_err(|_| no_number(self.whole))?;
        self.rest = rest;
        Ok(value * self.suffix()?)
    }

    fn suffix(&mut self) -> Result<f64, String> {
        self.skip_blanks();
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic());
        let (suffix, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let factor = (self.factor)(suffix)
            .ok_or_else(|| format!("`{}`: there is no unit `{suffix}`", self.whole))?;
        self.rest = rest;
        Ok(factor)
    }

    /// Reads one of these operators, if it is next.
    fn operator(&mut self, which: &[char]) -> Option<char> {
        self.skip_blanks();
        let first = self.rest.chars().next().filter(|c| which.contains(c))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: i64) {
        assert_eq!(amount(text, Scale::default()), Ok(expected), "{text}");
    }

    #[test]
    fn amounts_as_people_write_them() {
        for (text, expected) in [
            ("1", 1),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4KiB", 4000),
            ("(1.5m)", 3 << 19),
            ("(1 m)", 1 << 20),
            ("1.5", 1),
            ("2g", 2 << 30),
            ("0x10", 16),
            ("-1", -1),
            ("(2*4k)", 8192),
            ("(1k+1)*2", 2050),
            ("(2^10)", 1024),
            ("512b", 512),
            // fio takes what stands before, and drops the rest.
            ("1m/4", 1 << 20),
            ("65536)", 65536),
            ("2^10", 2),
            ("1.5m", 1),
            ("1 m", 1),
            ("-1.5", -1),
        ] {
            check(text, expected);
        }
        assert_eq!(amount("4k", Scale { kilo: 1000 }), Ok(4000));
        assert_eq!(amount("4kib", Scale { kilo: 1000 }), Ok(4096));
        assert_eq!(amount("4ki", Scale::default()), Ok(4096));
    }

    #[test]
    fn times_have_units_of_their_own() {
        #[track_caller]
        fn check(text: &str, clock: Clock, expected: Nanos) {
            assert_eq!(time(text, clock), Ok(expected), "{text}");
        }
        check("10", Clock::Seconds, Nanos::from_secs(10));
        check("10", Clock::Micros, Nanos(10_000));
        check("2m", Clock::Seconds, Nanos::from_secs(120));
        check("250ms", Clock::Micros, Nanos::from_millis(250));
        check("(1.5)", Clock::Seconds, Nanos::from_millis(1500));
        check("99999999999999", Clock::Seconds, LONGEST);
        // A range "lies in the past", a user read.
        for text in ["1s-2s", "1.5", "1m30s", "-1"] {
            let wrong = time(text, Clock::Micros).expect_err(text);
            assert!(wrong.contains("one whole number with a unit"), "{wrong}");
        }
        assert_eq!(read_prefix_of_time("1.5ms"), Some("1"));
        assert_eq!(read_prefix_of_time("1m30s"), None);
    }

    /// A right-hand side of `^` within one within one was read without a bound, until the stack
    /// overflowed.
    #[test]
    fn deep_nesting_is_refused() {
        for text in [
            format!("({}1)", "1^".repeat(200_000)),
            format!("{}1{}", "(".repeat(200_000), ")".repeat(200_000)),
        ] {
            let wrong = amount(&text, Scale::default()).expect_err("it is deep");
            assert!(wrong.ends_with("is nested too deep"));
        }
    }

    #[test]
    fn what_is_no_number_is_reported() {
        for (text, words) in [
            ("", "no number"),
            (".5", "`.5` is no number"),
            ("abc", "no number"),
            ("4x", "no unit `x`"),
            ("4kk", "no unit `kk`"),
            ("(2*4k", "no number"),
            ("(1/0)", "no number"),
            ("9e", "no unit `e`"),
            ("0x", "no number"),
            ("10%", "without `%`"),
        ] {
            let error = amount(text, Scale::default()).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
