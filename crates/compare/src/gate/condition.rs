//! What a pipeline shall not let pass, as text: `slower:5%`.

use std::fmt;
use std::str::FromStr;

/// What a pipeline shall not let pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// A load that lost more than this share of its rate; `None`: the least difference that
    /// matters where one is given, else [`Condition::LOSS_PERCENT`].
    Slower {
        /// In per cent of the baseline.
        percent: Option<f64>,
    },
    /// A documented limit that was not reached.
    Missed,
    /// A finding that doubts a figure, or forbids it.
    Warning,
}

/// A text that is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no condition: slower, slower:5%, missed or warning is one")]
pub struct NoCondition {
    text: String,
}

impl Condition {
    /// What a load may lose where no other share is given.
    pub const LOSS_PERCENT: f64 = 5.0;
}

/// `5%`, `2.5`: from 0 to below 100.
pub fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let plain = number.starts_with(|c: char| c.is_ascii_digit());
    let value: f64 = number.parse().ok().filter(|_| plain)?;
    (0.0..100.0).contains(&value).then_some(value)
}

impl FromStr for Condition {
    type Err = NoCondition;

    fn from_str(text: &str) -> Result<Self, NoCondition> {
        let condition = match (text, text.strip_prefix("slower:")) {
            ("slower", _) => Some(Self::Slower { percent: None }),
            ("missed", _) => Some(Self::Missed),
            ("warning", _) => Some(Self::Warning),
            (_, Some(loss)) => percent(loss).map(|loss| Self::Slower {
                percent: Some(loss),
            }),
            _ => None,
        };
        condition.ok_or_else(|| NoCondition {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slower { percent: None } => f.write_str("slower"),
            Self::Slower {
                percent: Some(percent),
            } => write!(f, "slower:{percent}%"),
            Self::Missed => f.write_str("missed"),
            Self::Warning => f.write_str("warning"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_as_people_type_them() {
        for (text, shown) in [
            ("slower", "slower"),
            ("slower:5%", "slower:5%"),
            ("slower:2.5", "slower:2.5%"),
            ("slower:0%", "slower:0%"),
            ("missed", "missed"),
            ("warning", "warning"),
        ] {
            let found: Condition = text.parse().expect(text);
            assert_eq!(found.to_string(), shown);
        }
        for text in [
            "",
            "Slower",
            "slower:",
            "slower:%",
            "slower:-1%",
            "slower:100%",
            "slower:nan",
            "slower:inf",
            "slower:5%%",
            "faster",
            "missed:5%",
        ] {
            let error = text.parse::<Condition>().expect_err(text);
            assert!(error.to_string().contains("slower:5%"), "{error}");
        }
    }
}
