//! In: text such as `64KiB`, `1.5s`, `3000/s`, or numbers.
//! Out: typed quantities, the texts that people read, the word that was probably meant, and any
//! text made safe for a terminal.
//! Never: I/O, a clock.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bytes;
mod defaults;
mod format;
mod nanos;
mod nearest;
mod paper;
mod visible;

pub use bytes::{Bytes, SECTOR};
pub use format::{
    agreeing, count, decimals, latency, latency_and_unit, plural, rate, signed, significant,
    stated, trimmed,
};
pub use nanos::Nanos;
pub use nearest::{did_you_mean, nearest};
pub use paper::{Ink, Style, after_ink, unbroken_words, width, wrapped};
pub use visible::{shell_word, visible, visible_lines};

/// A text that is not a quantity of the expected kind, or a larger one than blocklab can count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {fault}")]
pub struct NotAQuantity {
    /// The text as it was given.
    pub text: String,
    /// The rest of the sentence: "is not a size such as 64KiB".
    pub fault: &'static str,
}

impl NotAQuantity {
    fn new(text: &str, fault: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            fault,
        }
    }
}

/// Splits `12.5MiB` into the number and the suffix, without surrounding blanks.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}
