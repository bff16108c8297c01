//! In: the text of a TOML file.
//! Out: its values with their places, each read as the quantity that is wanted, or a complaint.
//!
//! Studies and device files are both read with it, so that the same quantity is written the same way
//! in both, and errors look alike.

mod error;

use std::ops::Range;

use blocklab_units::{Bytes, Nanos, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use error::{Complaint, Error, line_of};

/// A value of the tree and its place.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A word of a format and its value.
pub type Word<T> = (&'static str, T);

/// What reading a value gives.
pub type Read<T> = Result<T, Complaint>;

/// Reads a text as a table; `twice` is what would work where a key is given twice.
///
/// # Errors
/// Text that is no TOML.
pub fn parse<'t>(text: &'t str, twice: &str) -> Read<Node<'t>> {
    let table = DeTable::parse(text).map_err(|error| no_toml(text, &error, twice))?;
    let span = table.span();
    Ok(Spanned::new(span, DeValue::Table(table.into_inner())))
}

/// The TOML parser's message, or a clearer one for the most frequent slips.
fn no_toml(text: &str, error: &toml::de::Error, twice: &str) -> Complaint {
    let span = error.span().unwrap_or(0..0);
    if error.message() == "duplicate key" {
        let key = text.get(span.clone()).unwrap_or_default().trim();
        let wrong = format!("`{key}` is given twice in this place");
        let hint = section(error::line_at(text, span.start)).map(|name| {
            let repeated = format!("[[{name}]]");
            let keep = "keep one of the two";
            if text.contains(&repeated) {
                format!("{keep}; a section that can be repeated has double brackets each time: {repeated}")
            } else {
                format!("{keep}; only a section that can be repeated has double brackets, each time")
            }
        });
        return Complaint::new(span, wrong).hint(hint.unwrap_or_else(|| twice.to_owned()));
    }
    match bare_text(error::line_at(text, span.start)) {
        Some((key, value)) => Complaint::new(span, "a text without quotes")
            .hint(format!("texts are written in quotes: {key} = \"{value}\"")),
        None => Complaint::new(span, error.message()),
    }
}

/// The name in a line that begins a section, such as `[case]` or `[[case]]`.
fn section(line: &str) -> Option<&str> {
    let (name, _) = line.trim().strip_prefix('[')?.split_once(']')?;
    Some(name.trim_start_matches('[').trim())
}

/// The key and the value of a line such as `engine = io_uring` or `size = 4KiB`.
fn bare_text(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next().unwrap_or(value).trim();
    let mut chars = value.chars();
    let is_bare = chars.all(|c| c.is_alphanumeric() || "_-./%:".contains(c))
        && value.contains(char::is_alphabetic);
    (is_bare && !["true", "false"].contains(&value)).then_some((key.trim(), value))
}

/// A text in quotes, as TOML writes it.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A value with its place in the text.
#[derive(Clone, Copy)]
pub struct Value<'v>(pub &'v Node<'v>);

/// Each reader complains of a value that is of another kind, or not in its range.
impl<'v> Value<'v> {
    /// Its bytes in the text.
    pub fn span(self) -> Range<usize> {
        self.0.span()
    }

    /// What is wrong with it.
    pub fn complaint(self, message: impl Into<String>) -> Complaint {
        Complaint::new(self.span(), message)
    }

    /// Always the complaint that a value is of another kind than `wanted`, as the result of a reader
    /// of any type.
    pub fn unlike<T>(self, wanted: &str) -> Read<T> {
        let is = match self.0.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        Err(self.complaint(format!("{wanted} is wanted here, and this is {is}")))
    }

    /// `true` or `false`.
    pub fn flag(self) -> Read<bool> {
        match self.0.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => self.unlike("true or false"),
        }
    }

    /// A whole number, from 0.
    pub fn whole(self) -> Read<u64> {
        let DeValue::Integer(number) = self.0.get_ref() else {
            return self.unlike("a whole number");
        };
        u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let wrong = if number.as_str().starts_with('-') {
                "cannot be below 0"
            } else {
                "is too large"
            };
            self.complaint(format!("`{number}` {wrong}"))
        })
    }

    /// A whole number of things, from 0 to 2^32 - 1.
    pub fn count(self) -> Read<u32> {
        let whole = self.whole()?;
        u32::try_from(whole)
            .map_err(|_| self.complaint(format!("`{whole}` is too large: at most {}", u32::MAX)))
    }

    /// A whole number from -2^31 to 2^31 - 1.
    pub fn signed(self) -> Read<i32> {
        let DeValue::Integer(number) = self.0.get_ref() else {
            return self.unlike("a whole number");
        };
        i32::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let (least, most) = (i32::MIN, i32::MAX);
            self.complaint(format!("`{number}` is not from {least} to {most}"))
        })
    }

    /// A whole number, or its digits as a text: TOML's own numbers end at 2^63.
    pub fn seed(self) -> Read<u64> {
        match self.0.get_ref() {
            DeValue::String(text) => text
                .parse()
                .map_err(|_| self.complaint(format!("`{text}` is not a whole number below 2^64"))),
            _ => self.whole(),
        }
    }

    /// Per cent, whole.
    pub fn percent(self) -> Read<u8> {
        match self.whole()? {
            whole @ 0..=100 => Ok(whole as u8),
            whole => Err(self.complaint(format!("`{whole}` is not from 0 to 100 per cent"))),
        }
    }

    /// A finite number from 0, with or without a fraction.
    pub fn number(self) -> Read<f64> {
        let number = match self.0.get_ref() {
            DeValue::Integer(_) => return Ok(self.whole()? as f64),
            DeValue::Float(number) => number,
            _ => return self.unlike("a number"),
        };
        match number.as_str().parse::<f64>() {
            Ok(parsed) if parsed.is_finite() && parsed >= 0.0 => Ok(parsed),
            Ok(parsed) if parsed.is_finite() => {
                Err(self.complaint(format!("`{number}` cannot be below 0")))
            }
            _ => Err(self.complaint("a finite number is wanted here")),
        }
    }

    /// A text.
    pub fn text(self) -> Read<&'v str> {
        match self.0.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => self.unlike("a text in quotes"),
        }
    }

    /// A name: not empty, and nothing that would break a line or a terminal.
    pub fn name(self) -> Read<String> {
        let text = self.text()?;
        if text.trim().is_empty() {
            return Err(self.complaint("a name cannot be empty"));
        }
        if text.chars().any(char::is_control) {
            return Err(
                self.complaint("a name cannot hold line breaks or other control characters")
            );
        }
        Ok(text.to_owned())
    }

    /// Bytes: a text with a unit, or a whole number below 2^63.
    pub fn size(self) -> Read<Bytes> {
        match self.0.get_ref() {
            DeValue::Integer(number) => match self.whole()? {
                // The kernel's offsets are signed.
                whole if whole > i64::MAX as u64 => {
                    Err(self.complaint(format!("`{number}` is too large")))
                }
                whole => Ok(Bytes(whole)),
            },
            DeValue::String(text) => text
                .parse()
                .map_err(|wrong| self.complaint(format!("{wrong}"))),
            _ => self.unlike("a size such as \"4KiB\""),
        }
    }

    /// A duration: a text with a unit, or a number of seconds.
    pub fn time(self) -> Read<Nanos> {
        let text = match self.0.get_ref() {
            DeValue::String(text) => text.to_string(),
            // Numbers by their values, as texts have neither a base nor an exponent: the digits of `0x10`
            // alone are 10, and `1e-3` would be a unit `e-3`.
            DeValue::Integer(_) => self.whole()?.to_string(),
            DeValue::Float(_) => self.number()?.to_string(),
            _ => return self.unlike("a time such as \"30s\""),
        };
        text.parse()
            .map_err(|wrong| self.complaint(format!("{wrong}")))
    }

    /// Bytes per second: a number, or a size as a text, with or without `/s` after it.
    pub fn bytes_per_second(self) -> Read<f64> {
        let DeValue::String(text) = self.0.get_ref() else {
            return self.number();
        };
        let trimmed = text.trim_end();
        let size = trimmed.strip_suffix("/s").unwrap_or(trimmed);
        size.parse::<Bytes>().map(Bytes::as_f64).map_err(|_| {
            self.complaint(format!(
                "`{text}` is not a rate such as 100MB or 64MiB (a second)"
            ))
        })
    }

    /// `read`, unless the text is `none`.
    pub fn unless_none<T>(self, read: impl Fn(Self) -> Read<T>) -> Read<Option<T>> {
        match self.0.get_ref() {
            DeValue::String(text) if text == "none" => Ok(None),
            _ => read(self).map(Some),
        }
    }

    /// One of these words.
    pub fn word<T: Clone>(self, words: &[Word<T>]) -> Read<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meant)| meant.clone()).ok_or_else(|| {
            let guess = nearest(text, words.iter().map(|(word, _)| *word));
            self.complaint(format!("`{text}` is not known here"))
                .guess(guess)
        })
    }

    /// The values of a list.
    pub fn list(self) -> Read<Vec<Self>> {
        match self.0.get_ref() {
            DeValue::Array(list) => Ok(list.iter().map(Value).collect()),
            _ => self.unlike("a list in brackets"),
        }
    }

    /// The tables of a name in double brackets; a complaint about it points to `place`.
    pub fn tables(self, name: &str, place: Range<usize>, written: &str) -> Read<Vec<Self>> {
        match self.list() {
            Ok(list) if list.iter().all(|item| item.is_table()) => Ok(list),
            _ => {
                let wrong = format!("`{name}` is a section that can be repeated");
                let hint = format!("write it in double brackets: {written}");
                Err(Complaint::new(place, wrong).hint(hint))
            }
        }
    }

    /// The elements of a list; a single value counts as a list of one.
    pub fn list_or_one(self) -> Vec<Self> {
        self.list().unwrap_or_else(|_| vec![self])
    }

    /// A pair in brackets.
    pub fn pair(self) -> Read<[Self; 2]> {
        let list = self.list()?;
        <[Self; 2]>::try_from(list).map_err(|list| {
            let count = list.len();
            self.complaint(format!(
                "a pair is wanted here, and this is a list of {count}"
            ))
        })
    }

    /// Whether it is a table.
    pub fn is_table(self) -> bool {
        matches!(self.0.get_ref(), DeValue::Table(_))
    }

    /// Whether it is a list.
    pub fn is_list(self) -> bool {
        matches!(self.0.get_ref(), DeValue::Array(_))
    }

    /// The key-value pairs of a table in the order of the text.
    pub fn entries(self) -> Read<Vec<(&'v str, Range<usize>, Self)>> {
        let DeValue::Table(table) = self.0.get_ref() else {
            return self.unlike("a table");
        };
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), Value(value)))
            .collect();
        // The parser orders them by name.
        entries.sort_by_key(|(_, span, _)| span.start);
        Ok(entries)
    }

    /// The values of a small table with exactly these keys, each optional; `elsewhere` says of
    /// another key where it would work.
    pub fn fields<const N: usize>(
        self,
        names: [&'static str; N],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Read<[Option<Self>; N]> {
        let mut fields = [None; N];
        for (key, span, value) in self.entries()? {
            let Some(index) = names.iter().position(|name| *name == key) else {
                let wrong = Complaint::new(span, format!("unknown key `{key}`"));
                return Err(match elsewhere(key) {
                    Some(hint) => wrong.hint(hint),
                    None => wrong.guess(nearest(key, names)),
                });
            };
            fields[index] = Some(value);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `read` gives for the value of a key, or what it complains about.
    fn value<T>(text: &str, read: fn(Value<'_>) -> Read<T>) -> Result<T, String> {
        let text = format!("key = {text}");
        let table = parse(&text, "").expect("TOML");
        let entries = Value(&table).entries().expect("a table");
        read(entries[0].2).map_err(|complaint| complaint.message)
    }

    /// The story: `runtime = 0x10` lasted 10 seconds.
    #[test]
    fn a_time_is_read_in_the_base_that_it_is_written_in() {
        for (text, seconds) in [("16", 16), ("0x10", 16), ("0o17", 15), ("0b11", 3)] {
            assert_eq!(
                value(text, |value| value.time()),
                Ok(Nanos::from_secs(seconds))
            );
        }
        assert_eq!(
            value("1.5", |value| value.time()),
            Ok(Nanos::from_millis(1500))
        );
        assert_eq!(
            value("\"2min\"", |value| value.time()),
            Ok(Nanos::from_secs(120))
        );
        let below = value("-1", |value| value.time());
        assert_eq!(below, Err("`-1` cannot be below 0".to_owned()));
    }

    /// The story: `runtime = 1e3` was refused, as a number with the unit `e3`.
    #[test]
    fn a_time_may_have_an_exponent_or_a_sign() {
        for (text, millis) in [
            ("1e3", 1_000_000),
            ("1e-3", 1),
            ("+1.5", 1500),
            ("0.5", 500),
        ] {
            assert_eq!(
                value(text, |value| value.time()),
                Ok(Nanos::from_millis(millis))
            );
        }
        let below = value("-1.5", |value| value.time());
        assert_eq!(below, Err("`-1.5` cannot be below 0".to_owned()));
    }

    /// The story: `100MB/s/s` was taken for a rate.
    #[test]
    fn a_rate_is_by_one_second() {
        for text in ["\"100MB\"", "\"100MB/s \"", "100e6"] {
            assert_eq!(value(text, |value| value.bytes_per_second()), Ok(1e8));
        }
        let twice = value("\"100MB/s/s\"", |value| value.bytes_per_second());
        assert!(twice.is_err_and(|message| message.contains("is not a rate")));
    }

    /// The story: `-5` was refused here, and `-5.0` given to callers that had to refuse it, each in
    /// other words.
    #[test]
    fn numbers_are_finite_and_not_below_zero() {
        assert_eq!(value("5", |value| value.number()), Ok(5.0));
        assert_eq!(value("0.5", |value| value.number()), Ok(0.5));
        for (text, message) in [
            ("-5", "`-5` cannot be below 0"),
            ("-5.0", "`-5.0` cannot be below 0"),
            ("inf", "a finite number is wanted here"),
            ("nan", "a finite number is wanted here"),
        ] {
            assert_eq!(value(text, |value| value.number()), Err(message.to_owned()));
        }
        let far_below = value("-3000000000", |value| value.signed());
        let message = "`-3000000000` is not from -2147483648 to 2147483647";
        assert_eq!(far_below, Err(message.to_owned()));
    }
}
