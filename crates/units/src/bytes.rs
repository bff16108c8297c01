//! In: a size as text. Out: [`Bytes`], and its text in a rounded and in an exact form.

use std::fmt;
use std::ops::{Add, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{NotAQuantity, split};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// 2^10 bytes.
    pub const KIB: Self = Self(1 << 10);
    /// 2^20 bytes.
    pub const MIB: Self = Self(1 << 20);
    /// 2^30 bytes.
    pub const GIB: Self = Self(1 << 30);

    /// The size without rounding: `64 KiB` or `1.5 GiB` where that is exact, `1600 KB`, else
    /// `5001 B`. Up to 8 PiB, the text parses to the same size.
    pub fn exact(self) -> String {
        let short = self.to_string();
        if short.parse() == Ok(self) {
            return short;
        }
        if self.0.is_multiple_of(1000) {
            format!("{} KB", self.0 / 1000)
        } else {
            format!("{} B", self.0)
        }
    }

    /// The number of bytes as a float, for rates and shares.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

/// Bytes of a sector: the unit in which Linux and most formats of traces count sizes and offsets,
/// whatever the block size of the device is, and the least that a drive reads or writes as a whole.
pub const SECTOR: u64 = 512;

/// Binary suffixes are powers of 1024. A bare letter (`4k`, `1M`) is binary too, as in fio and
/// elsewhere in the field, and so is `Gi`, as Kubernetes writes it; `KB`, `MB`, `GB`, `TB` are
/// decimal.
const SUFFIXES: [(&str, u64); 19] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("ki", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mi", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gi", 1 << 30),
    ("gib", 1 << 30),
    ("t", 1 << 40),
    ("ti", 1 << 40),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("pib", 1 << 50),
];

impl FromStr for Bytes {
    type Err = NotAQuantity;

    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let (number, factor) = number_and_factor(text).ok_or_else(|| {
            let fault = "is not a size such as 4096, 64KiB, 1.5GiB or 10GB (k, M, G are binary)";
            NotAQuantity::new(text, fault)
        })?;
        let bytes = (number * factor).round();
        if bytes > 2f64.powi(63) {
            let fault = "is more than 8192 PiB, the most that Linux counts";
            return Err(NotAQuantity::new(text, fault));
        }
        // Not by a remainder of the product: most decimals are no binary fractions, and 4.1 times
        // 10^6 is 4,099,999.9999999995.
        if bytes / factor != number {
            return Err(NotAQuantity::new(text, "is not a whole number of bytes"));
        }
        Ok(Self(bytes as u64))
    }
}

/// The number, and the bytes of its unit.
fn number_and_factor(text: &str) -> Option<(f64, f64)> {
    let (number, suffix) = split(text)?;
    let (_, factor) = SUFFIXES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(suffix))?;
    Some((number, *factor as f64))
}

/// For people, to one decimal: `64 KiB`, `1.5 GiB`. See [`Bytes::exact`].
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (50, "PiB"),
            (40, "TiB"),
            (30, "GiB"),
            (20, "MiB"),
            (10, "KiB"),
        ];
        for (shift, name) in units {
            let unit = 1u64 << shift;
            // What would be rounded to 1024.0 of the smaller unit is 1.0 of this one.
            if self.as_f64() < unit as f64 * (1023.95 / 1024.0) {
                continue;
            }
            if self.0.is_multiple_of(unit) {
                return write!(f, "{} {name}", self.0 >> shift);
            }
            return write!(f, "{:.1} {name}", self.as_f64() / unit as f64);
        }
        write!(f, "{} B", self.0)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes: u64) {
        assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)));
    }

    #[test]
    fn sizes_as_people_write_them() {
        check("4096", 4096);
        check("4k", 4096);
        check("4 KiB", 4096);
        check("1.5GiB", 3 << 29);
        check("10GB", 10_000_000_000);
        for (text, unit) in [
            ("1KiB", Bytes::KIB),
            ("1MiB", Bytes::MIB),
            ("1GiB", Bytes::GIB),
        ] {
            check(text, unit.0);
            assert_eq!((unit * 3).exact(), format!("3 {}", &text[1..]));
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (text, fault) in [
            ("", "is not a size such as"),
            ("k", "is not a size such as"),
            ("4q", "is not a size such as"),
            ("-1", "is not a size such as"),
            ("1e400", "is not a size such as"),
            ("nan", "is not a size such as"),
            ("0.3", "is not a whole number of bytes"),
            ("8193PiB", "is more than 8192 PiB"),
        ] {
            let error = text.parse::<Bytes>().unwrap_err();
            assert!(error.to_string().contains(fault), "{text}: {error}");
        }
    }

    /// The story: `--size 4.1GB` was "not a whole number of bytes".
    #[test]
    fn a_decimal_of_a_unit_is_a_whole_number_of_bytes() {
        check("4.1GB", 4_100_000_000);
        check("4.1MB", 4_100_000);
        check("16.1KB", 16_100);
        check("0.017TB", 17_000_000_000);
        for thousandths in 1..10_000 {
            let text = format!("{}.{:03}KB", thousandths / 1000, thousandths % 1000);
            check(&text, thousandths);
        }
        for text in ["4.1GiB", "1.0001KB", "0.0005KB"] {
            let error = text.parse::<Bytes>().expect_err(text).to_string();
            assert!(error.contains("not a whole number"), "{error}");
        }
    }

    /// A file offset of Linux is a signed number of 64 bits.
    #[test]
    fn the_largest_size_is_the_largest_offset() {
        check("8192PiB", 1 << 63);
    }

    /// The story: 1,600,000 bytes were asked for and became `1.5MiB` on the way, which is 1,572,864.
    #[test]
    fn an_exact_text_is_read_back_as_the_same_size() {
        for (bytes, text) in [
            (4096, "4 KiB"),
            (3 << 19, "1.5 MiB"),
            (1_600_000, "1600 KB"),
            (16_000, "16 KB"),
            (5_001, "5001 B"),
            (512, "512 B"),
        ] {
            assert_eq!(Bytes(bytes).exact(), text);
            check(text, bytes);
        }
    }

    #[test]
    fn display_is_short() {
        assert_eq!(Bytes(65536).to_string(), "64 KiB");
        assert_eq!(Bytes(1 << 30).to_string(), "1 GiB");
        assert_eq!(Bytes(1536 << 20).to_string(), "1.5 GiB");
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        // The story: one byte less than a MiB was shown as "1024.0 KiB".
        assert_eq!(Bytes((1 << 20) - 1).to_string(), "1.0 MiB");
        assert_eq!(Bytes((1023 << 10) + 900).to_string(), "1023.9 KiB");
    }
}
