//! In: degrees of freedom and a level. Out: Student's t, computed instead of read from a table,
//! because intervals of few passes need every number of degrees and any level.

/// More degrees of freedom than this are taken for this many: t differs from the normal
/// distribution by less than 1e-4 there.
const MOST: u32 = 10_000;

/// The share of Student's t distribution with `freedom` degrees that lies between -t and t.
///
/// For whole degrees of freedom this is a finite sum in the angle atan(t / sqrt(freedom))
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4), so it is exact but for rounding of about 1e-14. It
/// costs freedom / 2 multiplications. 0 for `freedom` 0.
pub fn within(t: f64, freedom: u32) -> f64 {
    let freedom = freedom.min(MOST);
    if freedom == 0 {
        return 0.0;
    }
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // Both sums grow by cos^2 and a ratio of neighbouring numbers: 1/2, 3/4, … or 2/3, 4/5, …
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut numerator = if odd { 2.0 } else { 1.0 };
    while numerator + 2.0 < f64::from(freedom) {
        term *= cosine * cosine * numerator / (numerator + 1.0);
        sum += term;
        numerator += 2.0;
    }
    if odd {
        (angle + sine * sum) * std::f64::consts::FRAC_2_PI
    } else {
        sine * sum
    }
}

/// The t between whose negative and positive the share `level` (above 0, below 1) lies.
///
/// Bisects [`within`] to the last bits. Infinite for `freedom` 0: one value shows no scatter.
pub fn critical(level: f64, freedom: u32) -> f64 {
    if freedom == 0 || level >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, freedom) < level && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the printed t tables (two-sided).
    #[test]
    fn the_printed_table_comes_out() {
        for (level, freedom, t) in [
            (0.95, 1, 12.706),
            (0.95, 2, 4.303),
            (0.95, 3, 3.182),
            (0.95, 4, 2.776),
            (0.95, 9, 2.262),
            (0.95, 30, 2.042),
            (0.95, 120, 1.980),
            (0.99, 1, 63.657),
            (0.99, 5, 4.032),
            (0.90, 2, 2.920),
            (0.95, u32::MAX, 1.960),
        ] {
            let found = critical(level, freedom);
            assert!((found - t).abs() < 6e-4, "{level} {freedom}: {found}");
        }
    }

    /// Beyond 10,000 degrees the normal law is as good (erf(2 / sqrt 2) is 0.954499736), and the sum would
    /// go on with a term for every two of them.
    #[test]
    fn ten_thousand_degrees_are_distinguished() {
        let shares = [9_998, 10_000, 10_002, u32::MAX].map(|freedom| within(2.0, freedom));
        assert!(shares[0] < shares[1] && shares[1] == shares[2] && shares[2] == shares[3]);
        assert!((shares[3] - 0.954_499_736).abs() < 1e-4, "{shares:?}");
    }

    #[test]
    fn one_and_two_degrees_have_closed_forms() {
        for t in [0.1, 1.0, 3.0, 50.0] {
            let one = 2.0 / std::f64::consts::PI * f64::atan(t);
            let two = t / (2.0 + t * t).sqrt();
            assert!((within(t, 1) - one).abs() < 1e-14);
            assert!((within(-t, 2) - two).abs() < 1e-14);
        }
        assert_eq!(within(1.0, 0), 0.0);
        assert!(critical(0.95, 0).is_infinite());
    }
}
