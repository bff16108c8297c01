//! Secrets: 128 random bits as text, and their comparison.

use std::fmt;

use sha2::{Digest, Sha256};

/// Who has it may read.
#[derive(Clone)]
pub struct Token(String);

/// Letters and digits that hold 128 bits, at six bits a letter.
const LEAST: usize = 22;

impl Token {
    /// A new one, of 32 hexadecimal digits.
    ///
    /// # Errors
    /// When the system has no random bits.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(Self(format!("{:032x}", u128::from_ne_bytes(bits))))
    }

    /// One that somebody else has drawn; `None` where it is too short to be one, or does not fit into
    /// a header.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        (is_plain && text.len() >= LEAST).then(|| Self(text.to_owned()))
    }

    /// As its user types it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// In a time that depends neither on where they differ, nor on their lengths.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (Sha256::digest(&self.0), Sha256::digest(other));
        let differing = own.iter().zip(&other).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

/// A secret is in no message.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_alone() {
        let token = Token::draw().expect("random bits");
        assert_eq!(token.text().len(), 32);
        assert!(token.is(token.text()));
        let upper = token.text().to_uppercase() + "A";
        for other in [
            "",
            "0",
            &token.text()[1..],
            &upper,
            &format!("{} ", token.text()),
        ] {
            assert!(!token.is(other), "{other}");
        }
        assert_ne!(token.text(), Token::draw().expect("random bits").text());
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_short_or_strange_text_is_no_token() {
        for text in [
            "",
            "secret",
            "0123456789012345678901 3",
            "012345678901234567890123\u{e9}",
        ] {
            assert!(Token::from_text(text).is_none(), "{text}");
        }
        assert!(Token::from_text(" 0123456789abcdef0123456789abcdef\n").is_some());
    }
}
