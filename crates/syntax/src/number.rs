//! In: the value of an option. Out: the number, size or list that it means, or the mistake with what
//! would work.

use std::ops::RangeInclusive;

use crate::Mistake;

/// The power of 1000 or 1024 that a letter means: 1 for `k`, 2 for `M`, up to 6 for `E`, in either
/// case.
pub fn power(letter: char) -> Option<u32> {
    let index = "kmgtpe".find(letter.to_ascii_lowercase())?;
    Some(index as u32 + 1)
}

/// A size in bytes: digits and at most one of K, M, G, T (binary), or b for blocks of `block` bytes;
/// `None`: blocks are not counted here.
///
/// # Errors
/// [`Mistake`] about this option: another text, or 2^64 bytes and more.
pub fn size(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    read_size(text, block).map_err(|message| Mistake::new(option, message))
}

fn read_size(text: &str, block: Option<u64>) -> Result<u64, String> {
    let (digits, unit) = split_unit(text);
    let factor = unit_bytes(unit, block).ok_or_else(|| {
        let blocks = block.map_or("", |_| ", or b for blocks");
        format!("`{text}` is not a size: write digits and one of K, M, G, T{blocks}, such as 64K")
    })?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{text}` is not a size such as 64K"));
    }
    // Digits alone fail to parse only where they are too many.
    let number = digits.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("`{text}` is 2^64 bytes or more"))
}

/// Splits `64K` into `64` and `K`: the unit is what follows the last digit.
fn split_unit(text: &str) -> (&str, &str) {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    text.split_at(digits.len())
}

/// The bytes of a unit; `None` for a text that is none.
fn unit_bytes(unit: &str, block: Option<u64>) -> Option<u64> {
    let mut letters = unit.chars();
    match (letters.next(), letters.next(), block) {
        (None, ..) => Some(1),
        (Some('b' | 'B'), None, Some(block)) => Some(block),
        (Some(letter), None, _) => power(letter)
            .filter(|power| *power <= 4)
            .map(|power| 1 << (10 * power)),
        _ => None,
    }
}

/// A size above 0, as [`size`] reads it.
///
/// # Errors
/// As [`size`], and for 0.
pub fn size_above_zero(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    match size(option, text, block)? {
        0 => Err(Mistake::new(option, "the size must be above 0")),
        size => Ok(size),
    }
}

/// A whole number within `limits`, without a sign; a limit of [`u32::MAX`] is none.
///
/// # Errors
/// [`Mistake`] about this option, with its limits.
pub fn number(option: &str, text: &str, limits: RangeInclusive<u32>) -> Result<u32, Mistake> {
    // Rust would read `+5`.
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| is_plain && limits.contains(number))
        .ok_or_else(|| {
            let within = match (limits.start(), limits.end()) {
                (least, &u32::MAX) => format!("of at least {least}"),
                (least, most) => format!("from {least} to {most}"),
            };
            Mistake::new(option, format!("`{text}` is not a whole number {within}"))
        })
}

/// The most that Linux can be built for (`NR_CPUS` on x86-64). A slip such as `0-99999999` must not
/// fill the memory.
const MOST_PROCESSORS: u32 = 8192;

/// The processor numbers of a list such as `0-3,7`, as written: neither sorted nor without
/// duplicates. `None` for another text, and for numbers from 8192 on.
pub fn processor_list(text: &str) -> Option<Vec<u32>> {
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        if first > last || last >= MOST_PROCESSORS {
            return None;
        }
        list.extend(first..=last);
    }
    Some(list)
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
        for text in ["", "K", "4KB", "4Q", "4P", "-1", "1.5G", "4 K"] {
            let error = size("-c", text, Some(4096)).expect_err(text).to_string();
            assert!(error.contains("is not a size"), "{error}");
        }
        for text in ["99999999999999999999", "16777216T"] {
            let error = size("-c", text, None).expect_err(text).to_string();
            assert_eq!(error, format!("-c: `{text}` is 2^64 bytes or more"));
        }
        assert_eq!(size("-c", "18446744073709551615", None), Ok(u64::MAX));
        assert!(size("-b", "1b", None).is_err());
    }

    #[test]
    fn a_mistake_names_the_limits() {
        let wrong = |text, limits| number("-t", text, limits).expect_err(text).to_string();
        let four = "-t: `5` is not a whole number from 1 to 4";
        assert_eq!(wrong("5", 1..=4), four);
        let any = "-t: `+5` is not a whole number of at least 0";
        assert_eq!(wrong("+5", 0..=u32::MAX), any);
        assert_eq!(number("-t", "4", 1..=4), Ok(4));
    }

    #[test]
    fn processor_lists_as_taskset_writes_them() {
        assert_eq!(processor_list("0-3,7"), Some(vec![0, 1, 2, 3, 7]));
        assert_eq!(processor_list(" 5 , 1 "), Some(vec![5, 1]));
        for wrong in ["", "3-1", "a", "0-99999999", "1,,2", "-1"] {
            assert_eq!(processor_list(wrong), None, "{wrong}");
        }
    }
}
