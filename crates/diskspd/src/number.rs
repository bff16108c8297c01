//! Numbers and sizes as DiskSpd writes them.

use blocklab_syntax::Mistake;

/// A size: digits and at most one of K, M, G, T (binary) or b (blocks, where `block` is given).
pub fn size(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    let wrong = |message: String| Mistake::new(option, message);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let suffix = &text[digits.len()..];
    let factor = match (suffix.to_ascii_uppercase().as_str(), block) {
        ("", _) => 1,
        ("K", _) => 1 << 10,
        ("M", _) => 1 << 20,
        ("G", _) => 1 << 30,
        ("T", _) => 1 << 40,
        ("B", Some(block)) => block,
        _ => {
            let blocks = if block.is_some() {
                ", or b for blocks"
            } else {
                ""
            };
            return Err(wrong(format!(
                "`{text}` is no size; digits and one of K, M, G, T{blocks} are wanted, such as 64K"
            )));
        }
    };
    let whole: Option<u64> = digits.parse().ok();
    let Some(whole) = whole else {
        return Err(wrong(format!("`{text}` is no size such as 64K")));
    };
    whole
        .checked_mul(factor)
        .ok_or_else(|| wrong(format!("`{text}` is more than 2^64 bytes")))
}

/// A size above 0.
pub fn some_size(option: &str, text: &str, block: Option<u64>) -> Result<u64, Mistake> {
    match size(option, text, block)? {
        0 => Err(Mistake::new(option, "the size must be above 0")),
        size => Ok(size),
    }
}

/// A whole number within limits.
pub fn number(option: &str, text: &str, least: u32, most: u32) -> Result<u32, Mistake> {
    let given = text
        .parse::<u32>()
        .ok()
        .filter(|n| text.starts_with(|c: char| c.is_ascii_digit()) && (least..=most).contains(n));
    given.ok_or_else(|| {
        let limits = match most {
            u32::MAX => format!("from {least} on"),
            _ => format!("from {least} to {most}"),
        };
        Mistake::new(option, format!("`{text}` is no whole number {limits}"))
    })
}

const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];

/// In the largest unit that it reaches, with two decimals where it is no whole number of them:
/// `64KiB`, `1.95MiB`, `512B`.
#[must_use]
pub fn kmgt(bytes: u64) -> String {
    let Some((shift, unit)) = UNITS.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
        return format!("{bytes}B");
    };
    let number = format!("{:.2}", bytes as f64 / (1_u64 << shift) as f64);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}

/// As 2.0.21a writes the size of a file: whole units, cut off, from more than ten of them on.
#[must_use]
pub fn old_file_size(bytes: u64) -> String {
    let fitting = UNITS[1..].iter().find(|(shift, _)| bytes > 10 << shift);
    match fitting {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => format!("{bytes}B"),
    }
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
    fn sizes_are_printed_in_the_largest_unit() {
        for (bytes, expected) in [
            (4096, "4KiB"),
            (10 << 20, "10MiB"),
            (1 << 30, "1GiB"),
            (1 << 40, "1TiB"),
            (1000, "1000B"),
            (1536, "1.5KiB"),
            (2000 << 10, "1.95MiB"),
            (12_341_234, "11.77MiB"),
            (0, "0B"),
        ] {
            assert_eq!(kmgt(bytes), expected);
        }
        for (bytes, expected) in [
            (1 << 30, "1024MiB"),
            (496 << 30, "496GiB"),
            (10 << 20, "10240KiB"),
            (512, "512B"),
        ] {
            assert_eq!(old_file_size(bytes), expected);
        }
    }
}
