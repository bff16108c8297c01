//! Numbers with units, as command lines carry them.

use std::ops::RangeInclusive;

use crate::Mistake;

/// A number cut before its unit: `64`, `K`.
pub fn cut(text: &str) -> (&str, &str) {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    text.split_at(digits.len())
}

/// The power of 1000 or 1024 that a letter stands for: 1 for `k`, 2 for `M`, up to 6 for `E`.
pub fn power(letter: char) -> Option<u32> {
    let index = "kmgtpe".find(letter.to_ascii_lowercase())?;
    Some(index as u32 + 1)
}

/// A size: digits and at most one of K, M, G, T (binary) or b (blocks, where `block` is given).
///
/// # Errors
/// [`Mistake`] about this option: another text, or 2^64 bytes and more.
pub fn size(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    let wrong = |message: String| Mistake::new(option, message);
    let (digits, unit) = cut(text);
    let mut letters = unit.chars();
    let factor = match (letters.next(), letters.next(), block) {
        (None, ..) => Some(1),
        (Some('b' | 'B'), None, Some(block)) => Some(block),
        (Some(letter), None, _) => power(letter)
            .filter(|power| *power <= 4)
            .map(|power| 1 << (10 * power)),
        _ => None,
    };
    let Some(factor) = factor else {
        let blocks = block.map_or("", |_| ", or b for blocks");
        return Err(wrong(format!(
            "`{text}` is no size; digits and one of K, M, G, T{blocks} are wanted, such as 64K"
        )));
    };
    let whole: Option<u64> = digits.parse().ok();
    let whole = whole.ok_or_else(|| wrong(format!("`{text}` is no size such as 64K")))?;
    let too_much = || wrong(format!("`{text}` is more than 2^64 bytes"));
    whole.checked_mul(factor).ok_or_else(too_much)
}

/// A size above 0.
///
/// # Errors
/// As [`size`], and for 0.
pub fn some_size(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    match size(option, text, block)? {
        0 => Err(Mistake::new(option, "the size must be above 0")),
        size => Ok(size),
    }
}

/// A whole number within limits, without a sign.
///
/// # Errors
/// [`Mistake`] about this option, with its limits.
pub fn number(option: &str, text: &str, limits: RangeInclusive<u32>) -> Result<u32, Mistake> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit());
    let number = text.parse().ok();
    let number = number.filter(|number| is_plain && limits.contains(number));
    number.ok_or_else(|| {
        let within = match (limits.start(), limits.end()) {
            (least, &u32::MAX) => format!("from {least} on"),
            (least, most) => format!("from {least} to {most}"),
        };
        Mistake::new(option, format!("`{text}` is no whole number {within}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_and_may_count_blocks() {
        for (text, expected) in [
            ("512", 512),
            ("4k", 4096),
            ("64K", 65536),
            ("3M", 3 << 20),
            ("20G", 20 << 30),
            ("1t", 1 << 40),
            ("10b", 10 * 4096),
        ] {
            assert_eq!(size("-c", text, Some(4096)).unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "K",
            "4KB",
            "4Q",
            "4P",
            "-1",
            "1.5G",
            "4 K",
            "99999999999999999999",
            "9999999999T",
        ] {
            assert!(size("-c", text, Some(4096)).is_err(), "{text}");
        }
        assert!(size("-b", "1b", None).is_err());
    }

    #[test]
    fn a_mistake_names_the_limits() {
        let wrong = |text, limits| number("-t", text, limits).expect_err(text).to_string();
        let four = "-t: `5` is no whole number from 1 to 4";
        assert_eq!(wrong("5", 1..=4), four);
        let any = "-t: `+5` is no whole number from 0 on";
        assert_eq!(wrong("+5", 0..=u32::MAX), any);
        assert_eq!(number("-t", "4", 1..=4), Ok(4));
    }
}
