//! How long one operation takes, by size: base + slope · KiB.

/// A latency line in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// Nanoseconds of an operation without any bytes.
    pub base: f64,
    /// Nanoseconds for each KiB.
    pub per_kib: f64,
    /// The sizes that it rests on.
    pub sizes: Sizes,
}

/// Some sizes of operations, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sizes {
    pub smallest: u64,
    pub largest: u64,
    /// How many there are.
    pub count: usize,
}

impl Sizes {
    /// `None` without points.
    fn spanned_by(points: &[Point]) -> Option<Self> {
        Some(Self {
            smallest: points.iter().map(|point| point.block).min()?,
            largest: points.iter().map(|point| point.block).max()?,
            count: points.len(),
        })
    }
}

/// A mean latency at depth 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub block: u64,
    pub mean_ns: f64,
    /// Relative standard error of it.
    pub error: f64,
}

/// However many operations a mean rests on, another minute gives another one: 1 %.
const REPEATABILITY: f64 = 0.01;

impl Line {
    /// Weighted least squares on relative residuals: a point weighs as much as its mean can be
    /// believed. A slope or a base below zero is none. `None` without points; with one size the
    /// slope is 0.
    pub(super) fn through(points: &[Point]) -> Option<Self> {
        let sizes = Sizes::spanned_by(points)?;
        let weighted = points.iter().map(|point| {
            let error = point.error.hypot(REPEATABILITY) * point.mean_ns;
            (point.block as f64 / 1024.0, point.mean_ns, error.powi(-2))
        });
        let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (kib, ns, weight) in weighted {
            w += weight;
            x += weight * kib;
            y += weight * ns;
            xx += weight * kib * kib;
            xy += weight * kib * ns;
        }
        let spread = w * xx - x * x;
        let slope = if sizes.smallest < sizes.largest {
            ((w * xy - x * y) / spread).max(0.0)
        } else {
            0.0
        };
        let base = (y - slope * x) / w;
        // Without a base the line goes through the origin, with the slope that fits best there. A
        // device has at least a nanosecond.
        let (base, slope) = if base >= 1.0 {
            (base, slope)
        } else {
            (1.0, xy / xx)
        };
        Some(Self {
            base,
            per_kib: slope,
            sizes,
        })
    }

    /// A latency of every size that is this share of the shortest mean. `None` without points.
    pub(super) fn below(points: &[Point], share: f64) -> Option<Self> {
        let means = points.iter().map(|point| point.mean_ns);
        Some(Self {
            base: means.min_by(f64::total_cmp)? * share,
            per_kib: 0.0,
            sizes: Sizes::spanned_by(points)?,
        })
    }

    pub(super) fn at(self, block: u64) -> f64 {
        self.base + self.per_kib * block as f64 / 1024.0
    }

    /// The line of operations that take `factor` times as long.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            base: self.base * factor,
            per_kib: self.per_kib * factor,
            ..self
        }
    }

    /// Whether two lines are the same within a share, over the sizes of both.
    pub(super) fn agrees(self, other: Self, within: f64) -> bool {
        let ends = [
            self.sizes.smallest.min(other.sizes.smallest),
            self.sizes.largest.max(other.sizes.largest),
        ];
        ends.into_iter()
            .all(|block| (self.at(block) / other.at(block) - 1.0).abs() <= within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(at: &[(u64, f64, f64)]) -> Vec<Point> {
        let point = |(kib, mean_ns, error): &(u64, f64, f64)| Point {
            block: kib << 10,
            mean_ns: *mean_ns,
            error: *error,
        };
        at.iter().map(point).collect()
    }

    #[track_caller]
    fn check(at: &[(u64, f64, f64)], base: f64, per_kib: f64) {
        let line = Line::through(&points(at)).expect("points");
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.max(1.0);
        assert!(
            near(line.base, base) && near(line.per_kib, per_kib),
            "{line:?}"
        );
    }

    #[test]
    fn a_base_and_a_slope() {
        check(
            &[
                (4, 108_000.0, 0.0),
                (64, 228_000.0, 0.0),
                (1024, 2_148_000.0, 0.0),
            ],
            100_000.0,
            2000.0,
        );
    }

    #[test]
    fn a_mean_that_cannot_be_believed_hardly_weighs() {
        let line = Line::through(&points(&[
            (4, 108_000.0, 0.001),
            (16, 264_000.0, 1.0),
            (64, 228_000.0, 0.001),
        ]));
        assert!((line.expect("points").at(4 << 10) / 108_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn what_falls_with_size_is_flat_and_what_begins_below_zero_begins_at_nothing() {
        let falling = Line::through(&points(&[(4, 110_000.0, 0.0), (64, 100_000.0, 0.0)]));
        assert_eq!(falling.expect("points").per_kib, 0.0);
        let steep =
            Line::through(&points(&[(4, 1_000.0, 0.0), (64, 64_000.0, 0.0)])).expect("points");
        assert_eq!(steep.base, 1.0);
        assert!(steep.per_kib > 250.0, "{steep:?}");
    }

    #[test]
    fn one_size_has_no_slope_and_none_has_no_line() {
        check(&[(4, 50_000.0, 0.1), (4, 50_000.0, 0.2)], 50_000.0, 0.0);
        assert_eq!(Line::through(&[]), None);
    }
}
