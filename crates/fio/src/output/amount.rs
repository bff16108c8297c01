//! Numbers as the normal output writes them: a few digits and a letter.

/// The factor of a unit letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// k, M, G: 1000.
    Decimal,
    /// Ki, Mi, Gi: 1024.
    Binary,
}

const LETTERS: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// `digits` wide at most, the point counted: `13.8k`, `930k`, `3631`. As with fio, what rounds up to a
/// digit more is one wider: `100.0k`.
pub(super) fn short(value: f64, digits: usize, base: Base) -> String {
    let (step, infix) = match base {
        Base::Decimal => (1000.0, ""),
        Base::Binary => (1024.0, "i"),
    };
    let mut value = value.max(0.0);
    let mut power = 0;
    while whole_digits(value) > digits && power + 1 < LETTERS.len() {
        value /= step;
        power += 1;
    }
    if power == 0 {
        return (value as u64).to_string();
    }
    let letter = match base {
        Base::Binary => LETTERS[power].to_uppercase(),
        Base::Decimal => LETTERS[power].to_owned(),
    };
    let decimals = digits.saturating_sub(whole_digits(value) + 1);
    format!("{value:.decimals$}{letter}{infix}")
}

/// The number of digits before the decimal point.
fn whole_digits(value: f64) -> usize {
    (value as u64).to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_fio_writes_them() {
        for (value, digits, base, expected) in [
            (13_800.0, 4, Base::Decimal, "13.8k"),
            (929_577.0, 4, Base::Decimal, "930k"),
            (16_000.0, 4, Base::Decimal, "16.0k"),
            (3_718_000.0, 4, Base::Decimal, "3718k"),
            (3_631.0 * 1024.0, 4, Base::Binary, "3631Ki"),
            (65_536.0, 4, Base::Binary, "64.0Ki"),
            (56_400_000.0, 4, Base::Decimal, "56.4M"),
            (374_210.0, 6, Base::Decimal, "374210"),
            (4_050_970.0, 6, Base::Decimal, "4051.0k"),
            (0.0, 4, Base::Binary, "0"),
            (99_999.0, 4, Base::Decimal, "100.0k"),
            (10_235.0, 4, Base::Binary, "10.00Ki"),
        ] {
            assert_eq!(short(value, digits, base), expected, "{value}");
        }
    }
}
