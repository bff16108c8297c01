//! One option's value as meant, and the set of them that a job has.

use std::collections::BTreeMap;

use super::number::{Clock, Scale, amount, cut, time};
use super::options::{Kind, Opt, find};

/// Bytes, or a share of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Share {
    Bytes(u64),
    /// 0 to 100, or more.
    Percent(f64),
}

/// What an option was given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Share(Share),
    /// Of reads, writes and trims.
    Sizes([u64; 3]),
    /// Of reads, writes and trims: from and to.
    Ranges([(u64, u64); 3]),
    Floats(Vec<f64>),
    /// Nanoseconds.
    Time(u64),
}

impl Value {
    /// Reads what was written behind `=`.
    pub(super) fn read(option: &Opt, text: Option<&str>, scale: Scale) -> Result<Self, String> {
        let text = match text {
            Some(text) if !text.is_empty() => text,
            _ if option.kind == Kind::Name => return Ok(Self::Text(String::new())),
            _ if option.stands_alone() => return Ok(Self::Number(1)),
            _ => return Err(format!("option {} requires an argument", option.name)),
        };
        let number = |text: &str| amount(text, scale);
        let between = |low: i64, high: i64| match number(text)? {
            value if (low..=high).contains(&value) => Ok(Self::Number(value)),
            value if high == i64::MAX => Err(format!("{value} is out of range: at least {low}")),
            value => Err(format!("{value} is out of range: {low} to {high}")),
        };
        match option.kind {
            // The quotation marks of a pattern tell text from numbers.
            Kind::Text if option.name.ends_with("_pattern") => Ok(Self::Text(text.to_owned())),
            Kind::Text | Kind::Name => Ok(Self::Text(unquoted(text))),
            Kind::Flag => match number(text) {
                Ok(value) => Ok(Self::Number(i64::from(value != 0))),
                Err(_) => Err(format!("`{text}` is neither 0 nor 1")),
            },
            Kind::Bool => between(0, 1),
            Kind::Int(low, high) => between(low, high),
            Kind::Size => Ok(Self::Number(bytes(text, scale)? as i64)),
            Kind::Share => share(text, scale).map(Self::Share),
            Kind::Sizes => sizes(text, scale).map(Self::Sizes),
            Kind::Ranges if option.name == "bsrange" && is_single(text) => {
                Err(format!("`{text}` is no range such as 4k-16k"))
            }
            Kind::Ranges => ranges(text, scale).map(Self::Ranges),
            Kind::Floats => floats(text).map(Self::Floats),
            Kind::Percents => match floats(text)? {
                list if list.iter().all(|share| (0.0..=100.0).contains(share)) => {
                    Ok(Self::Floats(list))
                }
                _ => Err(format!("`{text}` is out of range: 0 to 100")),
            },
            Kind::Seconds => time(text, Clock::Seconds).map(Self::Time),
            Kind::Micros => time(text, Clock::Micros).map(Self::Time),
            Kind::Word(choices) => word(text, choices),
        }
    }
}

/// What fio takes of the first number that it does not take whole, in words.
pub(super) fn dropped(option: &Opt, text: &str) -> Option<String> {
    let of = |number: &str| {
        let number = number.trim();
        cut(number).map(|taken| format!("of `{number}`, `{taken}` counts, as with fio"))
    };
    let mut parts = text.split(',');
    match option.kind {
        Kind::Int(..) | Kind::Size | Kind::Share if !text.ends_with('%') => of(text),
        Kind::Sizes => parts.find_map(of),
        Kind::Ranges => parts.find_map(|part| match part.split_once(['-', ':']) {
            Some((low, high)) => of(low).or_else(|| of(high)),
            None => of(part),
        }),
        _ => None,
    }
}

fn unquoted(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(text).to_owned()
}

fn bytes(text: &str, scale: Scale) -> Result<u64, String> {
    u64::try_from(amount(text, scale)?).map_err(|_| format!("`{text}` is below 0"))
}

fn share(text: &str, scale: Scale) -> Result<Share, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return bytes(text, scale).map(Share::Bytes);
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if (0.0..=1e6).contains(&percent) => Ok(Share::Percent(percent)),
        _ => Err(format!("`{text}` is no share in per cent")),
    }
}

/// `4k`, `4k,8k`, `,8k`: one for all, or one for reads and one for all others, or all three. What
/// is left out keeps its default.
fn sizes(text: &str, scale: Scale) -> Result<[u64; 3], String> {
    by_direction(text, 0, |part| bytes(part, scale))
}

/// Whether a part of it is a size and no range.
fn is_single(text: &str) -> bool {
    let mut parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts.any(|part| !part.contains(['-', ':']))
}

fn ranges(text: &str, scale: Scale) -> Result<[(u64, u64); 3], String> {
    by_direction(text, (0, 0), |part| {
        let (low, high) = part.split_once(['-', ':']).unwrap_or((part, part));
        let (low, high) = (bytes(low, scale)?, bytes(high, scale)?);
        Ok((low.min(high), low.max(high)))
    })
}

/// Values with commas between them; what stands last holds for the directions after it.
fn by_direction<T: Copy>(
    text: &str,
    none: T,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut values = [none; 3];
    for (index, value) in values.iter_mut().enumerate() {
        let part = parts
            .get(index)
            .or(parts.last())
            .copied()
            .unwrap_or_default();
        if !part.is_empty() {
            *value = read(part)?;
        }
    }
    Ok(values)
}

fn floats(text: &str) -> Result<Vec<f64>, String> {
    let parts = text.split(':').map(|part| part.trim().parse::<f64>());
    let values: Result<Vec<f64>, _> = parts.collect();
    match values {
        Ok(values) if values.iter().all(|value| value.is_finite()) => Ok(values),
        _ => Err(format!(
            "`{text}` is no list of numbers with `:` between them"
        )),
    }
}

fn word(text: &str, choices: &str) -> Result<Value, String> {
    let known = choices.split(' ').any(|choice| choice == text);
    match known {
        true => Ok(Value::Text(text.to_owned())),
        false => {
            let choices = choices.split(' ').collect::<Vec<_>>().join(", ");
            Err(format!("`{text}` is none of {choices}"))
        }
    }
}

/// What two values of an option mean together. fio keeps a share beside bytes that follow it: an
/// `offset` remains that share, and a `size` is that share of the bytes.
fn joined(option: &str, new: Share, old: Share) -> Share {
    match (option, new, old) {
        ("size", Share::Bytes(bytes), Share::Percent(percent)) => {
            Share::Bytes((bytes as f64 * percent / 100.0) as u64)
        }
        ("offset" | "offset_increment", Share::Bytes(_), Share::Percent(_)) => old,
        _ => new,
    }
}

/// The options of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(super) fn set(&mut self, option: &'static Opt, value: Value) {
        // A direction that is left out keeps what it had.
        let value = match (value, self.0.get(option.name)) {
            (Value::Sizes(new), Some(Value::Sizes(old))) => Value::Sizes(kept(new, *old, 0)),
            (Value::Ranges(new), Some(Value::Ranges(old))) => {
                Value::Ranges(kept(new, *old, (0, 0)))
            }
            (Value::Share(new), Some(Value::Share(old))) => {
                Value::Share(joined(option.name, new, *old))
            }
            (value, _) => value,
        };
        self.0.insert(option.name, value);
    }

    pub(super) fn unset(&mut self, name: &'static str) {
        self.0.remove(name);
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.keys().copied()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        debug_assert!(find(name).is_some(), "{name} is no option");
        self.0.get(name)
    }

    pub(super) fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.number(name).is_some_and(|number| number != 0)
    }

    pub(super) fn share(&self, name: &str) -> Option<Share> {
        match self.get(name)? {
            Value::Share(share) => Some(*share),
            _ => None,
        }
    }

    pub(super) fn sizes(&self, name: &str) -> Option<[u64; 3]> {
        match self.get(name)? {
            Value::Sizes(sizes) => Some(*sizes),
            _ => None,
        }
    }

    pub(super) fn ranges(&self, name: &str) -> Option<[(u64, u64); 3]> {
        match self.get(name)? {
            Value::Ranges(ranges) => Some(*ranges),
            _ => None,
        }
    }

    pub(super) fn floats(&self, name: &str) -> Option<&[f64]> {
        match self.get(name)? {
            Value::Floats(floats) => Some(floats),
            _ => None,
        }
    }

    /// Nanoseconds.
    pub(super) fn time(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }
}

fn kept<T: Copy + PartialEq>(new: [T; 3], old: [T; 3], none: T) -> [T; 3] {
    std::array::from_fn(|index| {
        if new[index] == none {
            old[index]
        } else {
            new[index]
        }
    })
}
