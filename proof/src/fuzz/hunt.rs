//! The hunt: mutations of known texts, the same ones every time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use blocklab_random::Stream;

use super::Target;

/// Numbers and marks at which parsers fail.
const TOKENS: [&[u8]; 22] = [
    b"0",
    b"1",
    b"-1",
    b"255",
    b"65536",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e308",
    b"0.0000001",
    b"nan",
    b"100%",
    b"1k",
    b"(",
    b")",
    b"\"",
    b"=",
    b",",
    b"\n",
    b"\0",
    "µ".as_bytes(),
];

/// Bytes of an input at most: what is longer tells nothing more and takes longer.
const MOST: usize = 64 << 10;

/// The first input on which the target panics, of the corpus itself and of this many mutations.
///
/// # Panics
/// When the corpus is empty.
#[must_use]
pub fn hunt(name: &str, target: Target, corpus: &[Vec<u8>], mutations: u32) -> Option<Vec<u8>> {
    assert!(!corpus.is_empty(), "{name}: there is nothing to begin from");
    let mut chance = Stream::new(1, name, 0);
    let drawn = (0..mutations).map(|_| mutated(corpus, &mut chance));
    let mut inputs = corpus.iter().cloned().chain(drawn);
    inputs.find(|input| catch_unwind(AssertUnwindSafe(|| target(input))).is_err())
}

/// One text of the corpus, changed in one to eight places.
fn mutated(corpus: &[Vec<u8>], chance: &mut Stream) -> Vec<u8> {
    let mut input = draw(corpus, chance).clone();
    for _ in 0..=chance.below(8) {
        change(&mut input, corpus, chance);
    }
    input.truncate(MOST);
    input
}

fn draw<'a, T>(all: &'a [T], chance: &mut Stream) -> &'a T {
    &all[chance.below(all.len() as u64) as usize]
}

/// A place within this many bytes, their end included.
fn place(length: usize, chance: &mut Stream) -> usize {
    chance.below(length as u64 + 1) as usize
}

/// Some bytes of a text: mostly few.
fn piece(length: usize, chance: &mut Stream) -> std::ops::Range<usize> {
    let begin = place(length, chance);
    let most = 1 << chance.below(9);
    let end = begin + place(most.min(length - begin), chance);
    begin..end
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut Stream) {
    let length = input.len();
    match chance.below(8) {
        0 if length > 0 => {
            let at = chance.below(length as u64) as usize;
            input[at] ^= 1 << chance.below(8);
        }
        1 if length > 0 => {
            let at = chance.below(length as u64) as usize;
            input[at] = *draw(&[0, 0x7f, 0x80, 0xff, b'0', b' '], chance);
        }
        2 => drop(input.drain(piece(length, chance))),
        3 => {
            let again = input[piece(length, chance)].to_vec();
            let at = place(length, chance);
            input.splice(at..at, again);
        }
        4 => {
            let token = *draw(&TOKENS, chance);
            let at = place(length, chance);
            input.splice(at..at, token.iter().copied());
        }
        5 => replace_number(input, chance),
        6 => {
            let other = draw(corpus, chance);
            let part = other[piece(other.len(), chance)].to_vec();
            let at = place(length, chance);
            input.splice(at..at, part);
        }
        _ => change_line(input, corpus, chance),
    }
}

/// A whole number of the text becomes another one.
fn replace_number(input: &mut Vec<u8>, chance: &mut Stream) {
    let is_digit = |at: usize| input.get(at).is_some_and(u8::is_ascii_digit);
    let begins = |at: &usize| is_digit(*at) && (*at == 0 || !is_digit(*at - 1));
    let numbers: Vec<usize> = (0..input.len()).filter(begins).collect();
    if numbers.is_empty() {
        return;
    }
    let begin = *draw(&numbers, chance);
    let digits = input[begin..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = begin + digits.count();
    let token = *draw(&TOKENS[..13], chance);
    input.splice(begin..end, token.iter().copied());
}

/// A line of some text of the corpus is added to this one, or takes the place of a line.
fn change_line(input: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut Stream) {
    let other = draw(corpus, chance);
    let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let line = draw(&lines, chance).to_vec();
    let is_end = |at: &usize| *at == 0 || input[*at - 1] == b'\n';
    let places: Vec<usize> = (0..=input.len()).filter(is_end).collect();
    let at = chance.below(places.len() as u64) as usize;
    let begin = places[at];
    let end = match chance.below(2) {
        0 => begin,
        _ => places.get(at + 1).copied().unwrap_or(input.len()),
    };
    input.splice(begin..end, line);
}
