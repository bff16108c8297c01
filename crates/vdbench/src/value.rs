//! Values: numbers with units, words, lists, ranges.

use super::mistake::Mistake;
use super::parameter::{Parameter, Piece};

/// The numbers or the words of a parameter; the original does not mix them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl Parameter {
    /// The value or values in parentheses.
    pub(super) fn values(&self, full_keyword: &str) -> Result<Values, Mistake> {
        Values::of(self, full_keyword)
    }
}

/// More values than any list needs; a bound for ranges such as `(1-1t,1)`.
const MOST: usize = 10_240;

/// What `iorate=max` asks for, as a number that files and flat files carry.
pub(super) const MAX_RATE: f64 = 9_999_988.0;

/// How the values of a keyword are read.
#[derive(Debug, Clone, Copy, Default)]
struct Manner {
    /// `m` is minutes.
    time: bool,
    /// Never numbers.
    words: bool,
    /// A hyphen in parentheses is no range.
    hyphens: bool,
    /// The word `max` is a number.
    max: bool,
}

impl Manner {
    fn of(keyword: &str) -> Self {
        Self {
            time: matches!(keyword, "elapsed" | "interval" | "pause" | "warmup")
                || keyword.starts_with("reset"),
            words: matches!(
                keyword,
                "histogram"
                    | "data_errors"
                    | "dataerrors"
                    | "host"
                    | "hd"
                    | "system"
                    | "replay"
                    | "misc"
                    | "lun"
                    | "startcmd"
                    | "endcmd"
                    | "seekpct"
                    | "journal"
                    | "report"
                    | "monitor"
                    | "messagescan"
                    | "sd"
                    | "wd"
                    | "rd"
                    | "auxreport"
                    | "user"
                    | "pattern"
            ),
            hyphens: matches!(
                keyword,
                "host"
                    | "data_errors"
                    | "dataerrors"
                    | "hd"
                    | "misc"
                    | "replay"
                    | "lun"
                    | "startcmd"
                    | "endcmd"
                    | "monitor"
                    | "seekpct"
                    | "journal"
                    | "pattern"
                    | "messagescan"
            ),
            max: keyword == "iorate",
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

impl Values {
    pub(super) fn of(parameter: &Parameter, keyword: &str) -> Result<Self, Mistake> {
        let manner = Manner::of(keyword);
        let raw = &parameter.raw;
        let parenthesized = raw.first() == Some(&('(', false));
        if !parenthesized {
            return Ok(match token(&parameter.text(), manner) {
                Token::Number(number) => Self::Numbers(vec![number]),
                Token::Word(word) => Self::Words(vec![word]),
                Token::Hyphen => Self::Words(vec!["-".to_owned()]),
            });
        }
        let tokens = tokens(raw, manner);
        if tokens.is_empty() {
            return Err(parameter.wrong("the parentheses are empty; a value must stand in them"));
        }
        let first_is_number = matches!(tokens.first(), Some(Token::Number(_)));
        match first_is_number {
            true => numbers(&tokens, parameter).map(Self::Numbers),
            false => words(&tokens, parameter).map(Self::Words),
        }
    }

    /// The first number.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Numbers(numbers) => numbers.first().copied(),
            Self::Words(_) => None,
        }
    }

    /// The first word; a number as text would have lost its writing.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Words(words) => words.first().map(String::as_str),
            Self::Numbers(_) => None,
        }
    }
}

fn tokens(raw: &[Piece], manner: Manner) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    let finish = |text: &mut String, tokens: &mut Vec<Token>| {
        if !text.is_empty() {
            tokens.push(token(text, manner));
            text.clear();
        }
    };
    for (letter, quoted) in raw {
        match letter {
            '(' | ')' | ',' if !quoted => finish(&mut text, &mut tokens),
            '-' if !quoted && !manner.hyphens => {
                finish(&mut text, &mut tokens);
                tokens.push(Token::Hyphen);
            }
            letter => text.push(*letter),
        }
    }
    finish(&mut text, &mut tokens);
    tokens
}

fn token(text: &str, manner: Manner) -> Token {
    let word = || Token::Word(text.to_owned());
    if manner.words {
        return word();
    }
    if manner.max && text == "max" {
        return Token::Number(MAX_RATE);
    }
    number(text, manner.time).map_or_else(word, Token::Number)
}

/// A number, its unit multiplied in; `n%` is -n, as the original has it.
fn number(text: &str, time: bool) -> Option<f64> {
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
        'm' if time => 60.0,
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
    let numeric = |letter: u8| letter.is_ascii_digit() || b".+-eE".contains(&letter);
    let digits = text.bytes().any(|letter| letter.is_ascii_digit());
    if !digits || !text.bytes().all(numeric) || text.starts_with(['e', 'E']) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Lists of numbers with `a-b,step` and `a-b,d` written out.
fn numbers(tokens: &[Token], parameter: &Parameter) -> Result<Vec<f64>, Mistake> {
    let mut list: Vec<f64> = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Number(number) => list.push(*number),
            Token::Word(word) => {
                return Err(parameter.wrong(format!(
                    "`{word}` stands among numbers; a list is all numbers or all words"
                )));
            }
            Token::Hyphen => {
                let (end, step) = (tokens.next(), tokens.next());
                range(&mut list, end, step, parameter)?;
            }
        }
        if list.len() > MOST {
            return Err(parameter.wrong(format!("more than {MOST} values")));
        }
    }
    Ok(list)
}

fn range(
    list: &mut Vec<f64>,
    end: Option<&Token>,
    step: Option<&Token>,
    parameter: &Parameter,
) -> Result<(), Mistake> {
    const FORMS: &str = "a range is written (1-10,1) with a step, or (1-64,d) to double";
    let (Some(Token::Number(end)), Some(step)) = (end, step) else {
        return Err(parameter.wrong(FORMS));
    };
    let mut value = *list.last().ok_or_else(|| parameter.wrong(FORMS))?;
    let mut push = |value| {
        list.push(value);
        match list.len() > MOST {
            true => Err(parameter.wrong(format!("the range has more than {MOST} values"))),
            false => Ok(()),
        }
    };
    match step {
        Token::Word(d) if d == "d" => {
            if value <= 0.0 || *end <= 0.0 {
                return Err(parameter.wrong("only numbers above 0 can be doubled"));
            }
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
        Token::Number(_) => Err(parameter.wrong("the step of a range must be above 0")),
        _ => Err(parameter.wrong(FORMS)),
    }
}

/// Lists of names with `sd1-sd9` written out.
fn words(tokens: &[Token], parameter: &Parameter) -> Result<Vec<String>, Mistake> {
    let mut list: Vec<String> = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => list.push(word.clone()),
            // Of `iorate=(curve,max)`: elsewhere `max` is a word.
            Token::Number(number) if *number == MAX_RATE => list.push("max".to_owned()),
            Token::Number(number) => {
                return Err(parameter.wrong(format!(
                    "{number} stands among words; a list is all numbers or all words"
                )));
            }
            Token::Hyphen => {
                let (Some(first), Some(Token::Word(last))) = (list.last().cloned(), tokens.next())
                else {
                    return Err(parameter.wrong(NAMES));
                };
                names(&mut list, &first, last, parameter)?;
            }
        }
        if list.len() > MOST {
            return Err(parameter.wrong(format!("more than {MOST} values")));
        }
    }
    Ok(list)
}

const NAMES: &str = "a range of names is written (sd1-sd9); a name with a hyphen stands in quotes";

fn names(
    list: &mut Vec<String>,
    first: &str,
    last: &str,
    parameter: &Parameter,
) -> Result<(), Mistake> {
    let cut = |name: &str| {
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number: u32 = name[stem.len()..].parse().ok()?;
        Some((stem.to_owned(), number))
    };
    let (Some((stem, from)), Some((other, to))) = (cut(first), cut(last)) else {
        return Err(parameter.wrong(NAMES));
    };
    if stem != other {
        return Err(parameter.wrong(format!(
            "{first} and {last} differ in more than their number"
        )));
    }
    if from >= to {
        return Err(parameter.wrong(format!("{last} does not come after {first}")));
    }
    if (to - from) as usize > MOST {
        return Err(parameter.wrong(format!("the range has more than {MOST} names")));
    }
    list.extend((from + 1..=to).map(|number| format!("{stem}{number}")));
    Ok(())
}
