//! Bytes as DiskSpd writes them.

const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];

/// Bytes in the largest unit, with two decimals unless the number is whole:
/// `64KiB`, `1.95MiB`, `512B`.
pub(super) fn kmgt(bytes: u64) -> String {
    let Some((shift, unit)) = UNITS.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
        return format!("{bytes}B");
    };
    let decimals = format!("{:.2}", bytes as f64 / (1_u64 << shift) as f64);
    let number = decimals.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}

/// The size of a file as 2.0.21a writes it: in the largest unit of which there are more than ten,
/// truncated.
pub(super) fn old_file_size(bytes: u64) -> String {
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
