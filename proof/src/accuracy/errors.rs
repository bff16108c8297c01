//! In: relative errors. Out: their median, quantiles and bias.

/// Relative errors in per cent.
#[derive(Debug, Clone)]
pub struct Errors {
    /// Their absolute values, the least first.
    sorted: Vec<f64>,
    bias: f64,
}

impl Errors {
    /// The errors with these relative values; `None` where there is none.
    ///
    /// # Panics
    /// When one is not a number.
    #[must_use]
    pub fn from_relative(relative: impl Iterator<Item = f64>) -> Option<Self> {
        let all: Vec<f64> = relative.collect();
        assert!(all.iter().all(|error| error.is_finite()));
        let mut sorted: Vec<f64> = all.iter().map(|error| error.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        let bias = all.iter().sum::<f64>() / all.len() as f64;
        (!sorted.is_empty()).then_some(Self { sorted, bias })
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The middle one; of an even number, the mean of the two in the middle.
    #[must_use]
    pub fn median(&self) -> f64 {
        let above = self.sorted.len() / 2;
        let below = (self.sorted.len() - 1) / 2;
        f64::midpoint(self.sorted[below], self.sorted[above])
    }

    /// At least nine tenths of them are not larger.
    #[must_use]
    pub fn p90(&self) -> f64 {
        self.sorted[(self.sorted.len() * 9).div_ceil(10) - 1]
    }

    /// The largest.
    #[must_use]
    pub fn worst(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// The mean with its sign: above 0, the model promises too much.
    #[must_use]
    pub const fn bias(&self) -> f64 {
        self.bias
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_few() {
        let check = |errors: &[f64], wanted: [f64; 4]| {
            let errors = Errors::from_relative(errors.iter().copied()).expect("some");
            let seen = [errors.median(), errors.p90(), errors.worst(), errors.bias()];
            assert_eq!(seen, wanted);
        };
        check(&[-3.0], [3.0, 3.0, 3.0, -3.0]);
        check(&[4.0, -1.0], [2.5, 4.0, 4.0, 1.5]);
        check(
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -10.0],
            [5.5, 9.0, 10.0, 3.5],
        );
        assert!(Errors::from_relative([].into_iter()).is_none());
    }
}
