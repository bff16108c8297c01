//! Secrets: at least 128 random bits as text, and their comparison.

use std::fmt;

use sha2::{Digest, Sha256};

/// A secret that gives access to the pages.
#[derive(Clone)]
pub struct Token(String);

/// Fewest characters that can hold 128 bits, at six bits each.
const MIN_LENGTH: usize = 22;

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

    /// A token that the user has chosen; `None` when it has fewer than 22 characters, or one that is
    /// neither a letter, a digit, `-` nor `_` (others may not be possible in a header or a URL).
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        (is_plain && text.len() >= MIN_LENGTH).then(|| Self(text.to_owned()))
    }

    /// The secret itself.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `other` is this secret. The digests are compared bit by bit to the end, so that the
    /// time tells an attacker neither where the two differ nor how long the secret is.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (Sha256::digest(&self.0), Sha256::digest(other));
        let differing = own.iter().zip(&other).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

/// Hides the secret, so that it appears in no log or panic message.
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
