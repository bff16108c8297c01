//! In: a series. Out: the place that divides it best into two that are not alike, by the energy
//! statistic of E-divisive (Matteson and James, 2014) with exponent 1.

/// The fewest values of a part: a mean distance within fewer is no figure.
pub(crate) const SHORTEST: usize = 3;

/// The sums of the distances of all pairs, for any two stretches of a series in a fixed time.
///
/// ```text
///  table[i][j] = sum of |x_a - x_b| for a < i, b < j
/// ```
pub(crate) struct Distances {
    /// Row by row.
    table: Vec<f64>,
    /// Columns of a row.
    width: usize,
}

/// Where a stretch is divided, and where the second part of it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    pub(crate) at: usize,
    pub(crate) end: usize,
}

impl Distances {
    /// The distances within a series. Time and memory grow with the square of its length.
    pub(crate) fn new(values: &[f64]) -> Self {
        let width = values.len() + 1;
        let mut table = vec![0.0; width * width];
        for (row, a) in values.iter().enumerate() {
            // What this row adds to the one above it, up to the column.
            let mut row_sum = 0.0;
            for (column, b) in values.iter().enumerate() {
                row_sum += (a - b).abs();
                table[(row + 1) * width + column + 1] = table[row * width + column + 1] + row_sum;
            }
        }
        Self { table, width }
    }

    /// Between every value of one stretch and every value of the other.
    fn between(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> f64 {
        let at = |row: usize, column: usize| self.table[row * self.width + column];
        at(b, d) - at(a, d) - at(b, c) + at(a, c)
    }

    /// How far two neighbouring stretches are from being alike: twice the mean distance between
    /// them without the mean distances within them, weighted by their lengths.
    fn energy(&self, from: usize, at: usize, end: usize) -> f64 {
        let (before, after) = ((from, at), (at, end));
        let (n, m) = ((at - from) as f64, (end - at) as f64);
        let between = 2.0 * self.between(before, after) / (n * m);
        let within_before = self.between(before, before) / (n * (n - 1.0));
        let within_after = self.between(after, after) / (m * (m - 1.0));
        n * m / (n + m) * (between - within_before - within_after)
    }

    /// The split of `from..end` with the most energy, the first of several; `None` where it is too
    /// short for two parts. The second part may end before the stretch does, so that a level that
    /// comes and goes is found at once.
    pub(crate) fn best_split(&self, from: usize, end: usize) -> Option<Split> {
        let places = (from + SHORTEST..(end + 1).saturating_sub(SHORTEST))
            .flat_map(|at| (at + SHORTEST..=end).map(move |end| Split { at, end }));
        let mut best: Option<(f64, Split)> = None;
        for split in places {
            let energy = self.energy(from, split.at, split.end);
            if best.is_none_or(|(most, _)| energy > most) {
                best = Some((energy, split));
            }
        }
        best.map(|(_, split)| split)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_is_that_of_its_definition() {
        let values = [1.0, 2.0, 4.0, 11.0, 12.0, 15.0];
        let found = Distances::new(&values).energy(0, 3, 6);
        // Between: 10+11+14 + 9+10+13 + 7+8+11 = 93. Within: 1+3+2 = 6 and 1+4+3 = 8, each pair
        // once, of 3 pairs.
        let expected = 9.0 / 6.0 * (2.0 * 93.0 / 9.0 - 6.0 / 3.0 - 8.0 / 3.0);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn the_place_of_a_step_and_of_a_level_that_comes_and_goes() {
        let step = [1.0, 1.1, 0.9, 1.0, 2.0, 2.1, 1.9, 2.0];
        let split = Distances::new(&step).best_split(0, 8);
        assert_eq!(split, Some(Split { at: 4, end: 8 }));
        let short = [1.0, 1.1, 0.9, 1.0, 2.0, 2.1, 1.9, 1.0, 1.1, 0.9, 1.05];
        let split = Distances::new(&short).best_split(0, 11).expect("a split");
        assert_eq!((split.at, split.end), (4, 7));
        assert_eq!(Distances::new(&step).best_split(0, 5), None);
    }
}
