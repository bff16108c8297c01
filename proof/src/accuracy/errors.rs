/// Absolute relative errors in per cent, the least first.
#[derive(Debug, Clone)]
pub struct Errors(Vec<f64>);

impl Errors {
    /// # Panics
    /// When there is none, or one is not a number.
    #[must_use]
    pub fn of(relative: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<_> = relative.map(f64::abs).collect();
        assert!(!sorted.is_empty() && sorted.iter().all(|error| error.is_finite()));
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The middle one; of an even number, the mean of the two in the middle.
    #[must_use]
    pub fn median(&self) -> f64 {
        let above = self.0.len() / 2;
        let below = (self.0.len() - 1) / 2;
        f64::midpoint(self.0[below], self.0[above])
    }

    /// At least nine tenths of them are not larger.
    #[must_use]
    pub fn p90(&self) -> f64 {
        self.0[(self.0.len() * 9).div_ceil(10) - 1]
    }

    /// The largest.
    #[must_use]
    pub fn worst(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_few() {
        let check = |errors: &[f64], wanted: [f64; 3]| {
            let errors = Errors::of(errors.iter().copied());
            assert_eq!([errors.median(), errors.p90(), errors.worst()], wanted);
        };
        check(&[-3.0], [3.0, 3.0, 3.0]);
        check(&[4.0, -1.0], [2.5, 4.0, 4.0]);
        check(
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -10.0],
            [5.5, 9.0, 10.0],
        );
    }
}
