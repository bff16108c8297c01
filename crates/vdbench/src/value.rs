//! Values: numbers with units, words, lists, ranges.

use super::error::{Mistake, Place, Subject};
use super::scan::{Parameter, Piece};

/// The numbers or the words of a parameter; the original does not mix them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

/// How the values of a keyword are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// `m` is minutes.
    Time,
    /// The word `max` is a number.
    Rate,
    /// Never numbers; a hyphen in parentheses is a range.
    Name,
    /// Never numbers, nor ranges.
    Word,
}

/// Values of a list, at most: the original has room for as many. A bound for ranges such as
/// `(1-1t,1)`.
const MOST: usize = 10_240;

/// What `iorate=max` requests, as a number that files and flat files carry.
pub(super) const MAX_RATE: f64 = 9_999_988.0;

/// The longest time that can be requested, in seconds: more than thirty years, since files for a load
/// without end ask for twenty. In nanoseconds, several such times together fit 64 bits.
pub(super) const LONGEST_S: u64 = 1_000_000_000;

/// A parameter whose keyword is known, and the ways to read its values.
pub(super) struct Argument<'a> {
    pub(super) parameter: &'a Parameter,
    /// The keyword in full.
    pub(super) name: &'static str,
}

impl Subject for Argument<'_> {
    fn subject(&self) -> (&Place, String) {
        (&self.parameter.place, format!("{}=", self.name))
    }
}

impl Argument<'_> {
    /// The value or values in parentheses.
    pub(super) fn values(&self, kind: Kind) -> Result<Values, Mistake> {
        let parameter = self.parameter;
        let tokens = match parameter.raw.first() {
            Some(('(', false)) => tokens(&parameter.raw, kind),
            _ => vec![token(&parameter.text(), kind)],
        };
        match tokens.first() {
            Some(Token::Number(_)) => numbers(&tokens, parameter).map(Values::Numbers),
            Some(Token::Hyphen) if kind != Kind::Name => Err(parameter.error(
                "a hyphen in parentheses makes a range and needs a value before it; eof is -1",
            )),
            Some(_) => words(&tokens, parameter).map(Values::Words),
            None => Err(parameter.error("the parentheses are empty; write a value between them")),
        }
    }

    pub(super) fn numbers(&self, kind: Kind) -> Result<Vec<f64>, Mistake> {
        match self.values(kind)? {
            Values::Numbers(numbers) => Ok(numbers),
            Values::Words(words) => Err(self.error(format_args!(
                "`{}` is no number; 4096, 4k or 1g would work where bytes are meant",
                words.first().map_or("", String::as_str)
            ))),
        }
    }

    /// All numbers, each as what `meant` makes of it.
    pub(super) fn each(
        &self,
        meant: impl Fn(&Self, f64) -> Result<f64, Mistake>,
    ) -> Result<Vec<f64>, Mistake> {
        let numbers = self.numbers(Kind::Number)?;
        numbers.iter().map(|number| meant(self, *number)).collect()
    }

    pub(super) fn number(&self) -> Result<f64, Mistake> {
        self.only(self.numbers(Kind::Number)?)
    }

    /// The value of a list of one.
    fn only<T>(&self, values: Vec<T>) -> Result<T, Mistake> {
        <[T; 1]>::try_from(values)
            .map(|[value]| value)
            .map_err(|values| {
                self.error(format_args!("one value is expected, not {}", values.len()))
            })
    }

    /// A number of bytes or things that is not negative, without its fraction.
    pub(super) fn whole(&self) -> Result<u64, Mistake> {
        self.as_whole(self.number()?)
    }

    /// `number`, which must not be negative, without its fraction.
    pub(super) fn as_whole(&self, number: f64) -> Result<u64, Mistake> {
        self.check(number >= 0.0, format_args!("{number} is below 0"))?;
        self.check(number < 9e18, format_args!("{number} is too large"))?;
        Ok(number as u64)
    }

    /// A duration in whole seconds.
    pub(super) fn seconds(&self) -> Result<u64, Mistake> {
        let seconds = self.as_whole(self.only(self.numbers(Kind::Time)?)?)?;
        let message = format_args!("{seconds} seconds are more than thirty years");
        self.checked(seconds, seconds <= LONGEST_S, message)
    }

    /// The values as words; a number as it is displayed.
    pub(super) fn words_of(&self, kind: Kind) -> Result<Vec<String>, Mistake> {
        Ok(match self.values(kind)? {
            Values::Words(words) => words,
            Values::Numbers(numbers) => numbers.iter().map(ToString::to_string).collect(),
        })
    }

    pub(super) fn words(&self) -> Result<Vec<String>, Mistake> {
        self.words_of(Kind::Word)
    }

    /// Words, with ranges such as `sd1-sd9` written out.
    pub(super) fn names(&self) -> Result<Vec<String>, Mistake> {
        self.words_of(Kind::Name)
    }

    /// The only word.
    pub(super) fn word(&self) -> Result<String, Mistake> {
        self.only(self.words()?)
    }

    /// The only name.
    pub(super) fn single_name(&self) -> Result<String, Mistake> {
        self.only(self.names()?)
    }

    pub(super) fn yes(&self) -> Result<bool, Mistake> {
        match self.word()?.to_lowercase() {
            word if word.starts_with('y') => Ok(true),
            word if word.starts_with('n') => Ok(false),
            word => Err(self.error(format_args!("`{word}` is neither yes nor no"))),
        }
    }
}

/// A token inside parentheses.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Word(String),
    Hyphen,
}

/// Whether a pattern names this: only a `*` at the end matches anything.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => pattern == name,
    }
}

/// The tokens of a value in parentheses. A hyphen makes a range, except among words.
fn tokens(raw: &[Piece], kind: Kind) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    for (letter, quoted) in raw {
        let is_hyphen = *letter == '-' && kind != Kind::Word;
        if *quoted || !(is_hyphen || matches!(letter, '(' | ')' | ',')) {
            text.push(*letter);
            continue;
        }
        if !text.is_empty() {
            tokens.push(token(&std::mem::take(&mut text), kind));
        }
        if is_hyphen {
            tokens.push(Token::Hyphen);
        }
    }
    if !text.is_empty() {
        tokens.push(token(&text, kind));
    }
    tokens
}

fn token(text: &str, kind: Kind) -> Token {
    let number = match kind {
        Kind::Name | Kind::Word => None,
        Kind::Rate if text == "max" => Some(MAX_RATE),
        _ => number(text, kind == Kind::Time),
    };
    number.map_or_else(|| Token::Word(text.to_owned()), Token::Number)
}

/// A number, its unit multiplied in; `n%` is -n, as in the original. In a time, `m` is minutes.
fn number(text: &str, is_time: bool) -> Option<f64> {
    if let Some(plain) = plain(text) {
        return Some(plain);
    }
    let lower = text.to_ascii_lowercase();
    let stem = match lower.strip_suffix('b') {
        Some(stem) if stem.len() > 1 => stem,
        _ => &lower,
    };
    let unit = match stem.chars().next_back()? {
        'k' => 1024.0,
        'm' if is_time => 60.0,
        'm' => 1_048_576.0,
        'g' => 1_073_741_824.0,
        't' => 1_099_511_627_776.0,
        'h' => 3600.0,
        '%' => -1.0,
        _ => return None,
    };
    plain(&stem[..stem.len() - 1]).map(|number| number * unit)
}

/// Digits and a point: `inf` and `nan` are words here.
fn plain(text: &str) -> Option<f64> {
    let digits = text.bytes().any(|letter| letter.is_ascii_digit());
    if !digits
        || !text
            .bytes()
            .all(|letter| letter.is_ascii_digit() || b".+-eE".contains(&letter))
        || text.starts_with(['e', 'E'])
    {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The numbers of a list, with `a-b,step` and `a-b,d` written out.
fn numbers(tokens: &[Token], parameter: &Parameter) -> Result<Vec<f64>, Mistake> {
    let mut list: Vec<f64> = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Number(number) => list.push(*number),
            Token::Word(word) => {
                return Err(parameter.error(format_args!(
                    "`{word}` stands among numbers; a list is all numbers or all words"
                )));
            }
            Token::Hyphen => {
                let (end, step) = (tokens.next(), tokens.next());
                range(&mut list, end, step, parameter)?;
            }
        }
        parameter.check(list.len() <= MOST, format_args!("more than {MOST} values"))?;
    }
    Ok(list)
}

/// Writes out a range whose first number is already the last one of the list: `end` and `step` are
/// the tokens after the hyphen.
fn range(
    list: &mut Vec<f64>,
    end: Option<&Token>,
    step: Option<&Token>,
    parameter: &Parameter,
) -> Result<(), Mistake> {
    const FORMS: &str = "a range is written (1-10,1) with a step, or (1-64,d) to double";
    let (Some(Token::Number(end)), Some(step)) = (end, step) else {
        return Err(parameter.error(FORMS));
    };
    let mut value = *list.last().ok_or_else(|| parameter.error(FORMS))?;
    let mut push = |value| {
        list.push(value);
        let message = format_args!("the range has more than {MOST} values");
        parameter.check(list.len() <= MOST, message)
    };
    match step {
        Token::Word(d) if d == "d" => {
            let is_above = value > 0.0 && *end > 0.0;
            parameter.check(is_above, "only numbers above 0 can be doubled")?;
            let upward = value < *end;
            loop {
                value = if upward { value * 2.0 } else { value / 2.0 };
                if (upward && value > *end) || (!upward && value < *end) {
                    return Ok(());
                }
                push(value)?;
            }
        }
        Token::Number(step) if *step > 0.0 => loop {
            value += step;
            if value > *end {
                return Ok(());
            }
            push(value)?;
        },
        Token::Number(_) => Err(parameter.error("the step of a range must be above 0")),
        _ => Err(parameter.error(FORMS)),
    }
}

/// Lists of names with `sd1-sd9` written out.
fn words(tokens: &[Token], parameter: &Parameter) -> Result<Vec<String>, Mistake> {
    let mut list: Vec<String> = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => list.push(word.clone()),
            // For `iorate=(curve,max)`; in other keywords `max` is a word.
            Token::Number(number) if *number == MAX_RATE => list.push("max".to_owned()),
            Token::Number(number) => {
                return Err(parameter.error(format_args!(
                    "{number} stands among words; a list is all numbers or all words"
                )));
            }
            Token::Hyphen => {
                let (Some(first), Some(Token::Word(last))) = (list.last().cloned(), tokens.next())
                else {
                    return Err(parameter.error(NAMES));
                };
                names(&mut list, &first, last, parameter)?;
            }
        }
        parameter.check(list.len() <= MOST, format_args!("more than {MOST} values"))?;
    }
    Ok(list)
}

const NAMES: &str =
    "a range of names is written (sd1-sd9); a name with a hyphen is written in quotes";

/// Adds the names after `first` of `(sd1-sd9)`.
fn names(
    list: &mut Vec<String>,
    first: &str,
    last: &str,
    parameter: &Parameter,
) -> Result<(), Mistake> {
    let (Some((stem, from)), Some((other, to))) = (numbered(first), numbered(last)) else {
        return Err(parameter.error(NAMES));
    };
    let differ = format_args!("{first} and {last} differ in more than their number");
    parameter.check(stem == other, differ)?;
    // Names of one length have the zeros before their numbers that make it so: `sd08-sd12`.
    let width = if first.len() == last.len() {
        first.len() - stem.len()
    } else {
        0
    };
    let message = format_args!("{last} comes before {first}");
    parameter.check(from <= to, message)?;
    let most = format_args!("the range has more than {MOST} names");
    parameter.check(((to - from) as usize) < MOST, most)?;
    // The first name is in the list already.
    let more = (from..=to).skip(1);
    list.extend(more.map(|number| format!("{stem}{number:0width$}")));
    Ok(())
}

/// `sd12` as `sd` and 12.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}
