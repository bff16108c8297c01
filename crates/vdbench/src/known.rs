//! A parameter whose keyword is known, and its values as what they are asked for.

use super::mistake::Mistake;
use super::parameter::Parameter;
use super::value::Values;

/// A parameter whose keyword is known.
pub(super) struct Known<'a> {
    pub(super) parameter: &'a Parameter,
    pub(super) name: &'static str,
    pub(super) values: Values,
}

impl Known<'_> {
    pub(super) fn wrong(&self, message: impl Into<String>) -> Mistake {
        let mut mistake = self.parameter.wrong(message);
        mistake.about = format!("{}=", self.name);
        mistake
    }

    pub(super) fn numbers(&self) -> Result<&[f64], Mistake> {
        match &self.values {
            Values::Numbers(numbers) => Ok(numbers),
            Values::Words(words) => {
                let word = words.first().map_or("", String::as_str);
                Err(self.wrong(format!(
                    "`{word}` is no number; 4096, 4k or 1g would work where bytes are meant"
                )))
            }
        }
    }

    pub(super) fn number(&self) -> Result<f64, Mistake> {
        self.numbers()?;
        self.values
            .number()
            .ok_or_else(|| self.wrong("a number must follow"))
    }

    /// A number of bytes, seconds or things: whole, not negative.
    pub(super) fn whole(&self) -> Result<u64, Mistake> {
        let number = self.number()?;
        self.as_whole(number)
    }

    pub(super) fn as_whole(&self, number: f64) -> Result<u64, Mistake> {
        if number < 0.0 {
            return Err(self.wrong(format!("{number} is below 0")));
        }
        if number >= 9e18 {
            return Err(self.wrong(format!("{number} is too large")));
        }
        Ok(number as u64)
    }

    pub(super) fn threads(&self) -> Result<u32, Mistake> {
        let whole = self.whole()?;
        match u32::try_from(whole) {
            Ok(threads @ 1..=32_768) => Ok(threads),
            _ => Err(self.wrong(format!("{whole} threads; 1 to 32768 would work"))),
        }
    }

    pub(super) fn words(&self) -> Vec<String> {
        match &self.values {
            Values::Words(words) => words.clone(),
            Values::Numbers(numbers) => numbers.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn word(&self) -> String {
        match self.values.word() {
            Some(word) => word.to_owned(),
            None => self.parameter.text(),
        }
    }

    pub(super) fn yes(&self) -> Result<bool, Mistake> {
        match self.word().to_lowercase() {
            word if word.starts_with('y') => Ok(true),
            word if word.starts_with('n') => Ok(false),
            word => Err(self.wrong(format!("`{word}` is neither yes nor no"))),
        }
    }
}
