//! `data_errors=`: what failed operations and wrong blocks lead to.

use super::known::Known;
use super::mistake::Mistake;

/// What failed operations and wrong blocks lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataErrors {
    /// All runs end at this one (50), or with `remove` the use of its storage definition.
    pub most: u32,
    /// The first error ends the run, then the shell runs this.
    pub command: Option<String>,
    /// The storage definition on which the errors happen is used no more; the others go on.
    pub remove: bool,
}

impl Default for DataErrors {
    fn default() -> Self {
        Self {
            most: 50,
            command: None,
            remove: false,
        }
    }
}

const FORMS: &str = "a number of errors, remove, (remove,n), stop or one command in quotes would \
                     work";

/// `5`, `stop`, `remove`, `(remove,5)` or `"script $lun"`.
pub(super) fn data_errors(known: &Known<'_>) -> Result<DataErrors, Mistake> {
    let words = known.words();
    let removes = |word: &str| word.len() > 2 && "remove_device".starts_with(word);
    let wrong = |word: &str| Err(known.wrong(format!("`{word}`: {FORMS}")));
    match &*words.iter().map(String::as_str).collect::<Vec<_>>() {
        [word] if removes(word) => Ok(DataErrors {
            most: 1,
            remove: true,
            ..DataErrors::default()
        }),
        [word, most] if removes(word) => Ok(DataErrors {
            most: number(known, most)?,
            remove: true,
            ..DataErrors::default()
        }),
        ["stop"] => Ok(DataErrors {
            most: 1,
            ..DataErrors::default()
        }),
        [word] if word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') => {
            Ok(DataErrors {
                most: number(known, word)?,
                ..DataErrors::default()
            })
        }
        [command] if !command.trim().is_empty() => Ok(DataErrors {
            most: 1,
            command: Some((*command).to_owned()),
            remove: false,
        }),
        other => wrong(&other.join(",")),
    }
}

/// The original ends at the first error with 0 as with 1.
fn number(known: &Known<'_>, word: &str) -> Result<u32, Mistake> {
    match word.parse::<u32>() {
        Ok(number) => Ok(number.max(1)),
        Err(_) => Err(known.wrong(format!("`{word}` is no number of errors; {FORMS}"))),
    }
}
