//! Numbers as fio writes them: units by `kb_base`, hexadecimal, arithmetic in parentheses, times.

use blocklab_units::with_defaults;

with_defaults! {
    /// What a `k` is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Scale {
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

/// A number with an optional unit of amount: `4k`, `0x10`, `(2*4k)`. Only the part that [`cut`] leaves
/// counts.
pub(super) fn amount(text: &str, scale: Scale) -> Result<i64, String> {
    let text = text.trim();
    with_arithmetic(cut(text).unwrap_or(text), scale)
}

/// As [`amount`], with arithmetic anywhere: fio calculates so where a keyword is in the text.
pub(super) fn with_arithmetic(text: &str, scale: Scale) -> Result<i64, String> {
    let value = Expression::new(text, &|suffix| scale.factor(suffix)).value()?;
    whole(value, text)
}

/// The beginning of a number that fio reads, where it drops the rest: outside of parentheses it knows
/// no fractions, blanks or arithmetic. `None` if it reads the whole text.
pub(super) fn cut(text: &str) -> Option<&str> {
    let signed = text.strip_prefix('-').unwrap_or(text);
    if signed.starts_with('(') || signed.starts_with("0x") || signed.starts_with("0X") {
        return None;
    }
    let digits = signed.trim_start_matches(|c: char| c.is_ascii_digit());
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_fraction = digits.starts_with('.');
    // A fraction without a unit is rounded down later, which has the same effect as dropping it.
    let is_plain = is_fraction && digits[1..].chars().all(|c| c.is_ascii_digit());
    (!unit.is_empty() && !is_plain).then(|| &text[..text.len() - unit.len()])
}

/// A time in nanoseconds: `10`, `5m`, `250ms`.
pub(super) fn time(text: &str, clock: Clock) -> Result<u64, String> {
    let value = Expression::new(text, &|suffix| clock.factor(suffix)).value()?;
    if value < 0.0 {
        let time = "a time is one number with a unit, such as 10ms";
        return Err(format!("`{text}` is below 0: {time}"));
    }
    Ok((value * 1e9).round() as u64)
}

fn whole(value: f64, text: &str) -> Result<i64, String> {
    // Above 2^63 there is no device, and the cast would saturate in silence.
    if value.abs() > 9.2e18 {
        return Err(format!("`{text}` is too large"));
    }
    Ok(value as i64)
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
            "ib" => 2024 - self.kilo,
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

/// Sums of products of numbers and parentheses, read from left to right.
struct Expression<'a> {
    whole: &'a str,
    rest: &'a str,
    factor: &'a dyn Fn(&str) -> Option<f64>,
    depth: usize,
}

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
        self.blanks();
        if !self.rest.is_empty() {
            return Err(self.wrong());
        }
        value
            .is_finite()
            .then_some(value)
            .ok_or_else(|| self.wrong())
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
        let value = self.atom()?;
        match self.operator(&['^']) {
            Some(_) => Ok(value.powf(self.power()?)),
            None => Ok(value),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        self.blanks();
        self.depth += 1;
        if self.depth > 64 {
            return Err(self.wrong());
        }
        let value = if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.sum()?;
            self.blanks();
            self.rest = self.rest.strip_prefix(')').ok_or_else(|| self.wrong())?;
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

    fn number(&mut self) -> Result<f64, String> {
        let hexadecimal = self
            .rest
            .strip_prefix("0x")
            .or(self.rest.strip_prefix("0X"));
        if let Some(digits) = hexadecimal {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit());
            let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
            let value = u64::from_str_radix(digits, 16).map_err(|_| self.wrong())?;
            self.rest = rest;
            return Ok(value as f64);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value: f64 = digits.parse().map_err(|_| self.wrong())?;
        self.rest = rest;
        Ok(value * self.suffix()?)
    }

    fn suffix(&mut self) -> Result<f64, String> {
        self.blanks();
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic());
        let (suffix, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let factor = (self.factor)(suffix)
            .ok_or_else(|| format!("`{}`: there is no unit `{suffix}`", self.whole))?;
        self.rest = rest;
        Ok(factor)
    }

    fn operator(&mut self, which: &[char]) -> Option<char> {
        self.blanks();
        let first = self.rest.chars().next().filter(|c| which.contains(c))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn wrong(&self) -> String {
        format!("`{}` is no number", self.whole)
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
        ] {
            check(text, expected);
        }
        assert_eq!(amount("4k", Scale { kilo: 1000 }), Ok(4000));
        assert_eq!(amount("4kib", Scale { kilo: 1000 }), Ok(4096));
        assert_eq!(amount("4ki", Scale::default()), Ok(4096));
    }

    #[test]
    fn times_have_units_of_their_own() {
        assert_eq!(time("10", Clock::Seconds), Ok(10_000_000_000));
        // A range "lies in the past", a user read.
        let wrong = time("1s-2s", Clock::Micros).expect_err("below 0");
        assert!(
            wrong.contains("below 0") && wrong.contains("one number"),
            "{wrong}"
        );
        assert_eq!(time("10", Clock::Micros), Ok(10_000));
        assert_eq!(time("2m", Clock::Seconds), Ok(120_000_000_000));
        assert_eq!(time("250ms", Clock::Micros), Ok(250_000_000));
    }

    #[test]
    fn what_is_no_number_is_reported() {
        for (text, words) in [
            ("", "no number"),
            ("abc", "no number"),
            ("4x", "no unit `x`"),
            ("4kk", "no unit `kk`"),
            ("(2*4k", "no number"),
            ("(1/0)", "no number"),
            ("9e", "no unit `e`"),
            ("0x", "no number"),
        ] {
            let error = amount(text, Scale::default()).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
