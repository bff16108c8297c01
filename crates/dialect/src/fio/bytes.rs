//! Patterns of bytes: `0xdeadbeef`, `"text"`, `-10`, several in a row, `'FILE'` not.

/// The bytes that a pattern stands for, at most 512.
pub(super) fn pattern(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (inside, behind) = quoted
                    .split_once('"')
                    .ok_or_else(|| format!("`{text}`: a quotation mark is missing"))?;
                bytes.extend_from_slice(inside.as_bytes());
                behind
            }
            None => {
                let end = rest.find('"').unwrap_or(rest.len());
                let (number, behind) = rest.split_at(end);
                bytes.extend(numbers(number).ok_or_else(|| wrong(text))?);
                behind
            }
        };
    }
    match bytes.len() {
        1..=512 => Ok(bytes),
        _ => Err(wrong(text)),
    }
}

/// Hexadecimal digits are bytes from the left; a decimal number is one of 32 bits, low byte first.
fn numbers(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        if digits.is_empty() || !digits.is_ascii() {
            return None;
        }
        let even = if digits.len() % 2 == 0 {
            digits.to_owned()
        } else {
            format!("0{digits}")
        };
        let pairs = (0..even.len()).step_by(2);
        return pairs
            .map(|at| u8::from_str_radix(&even[at..at + 2], 16).ok())
            .collect();
    }
    let number: i64 = text.trim().parse().ok()?;
    let bytes = (number as i32).to_le_bytes();
    let used = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(1, |last| last + 1);
    i32::try_from(number).ok().map(|_| bytes[..used].to_vec())
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no pattern: 0xdeadbeef, \"text\" or a number would be one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_as_people_write_them() {
        for (text, expected) in [
            ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef][..]),
            ("0xfff", &[0x0f, 0xff]),
            ("\"ab\"", b"ab"),
            ("\"a\"0xff\"b\"", b"a\xffb"),
            ("10", &[10]),
            ("0", &[0]),
        ] {
            assert_eq!(pattern(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "0x", "abc", "\"a", "0xgg", "99999999999"] {
            assert!(pattern(text).is_err(), "{text}");
        }
    }
}
