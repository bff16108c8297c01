//! One of our figures, with its interval.

use serde::Serialize;

/// A figure, and how certain it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Value {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % confidence interval; `None`: one pass, or a figure without scatter.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// The number of passes that it is made of.
    pub passes: u32,
}

impl Value {
    /// A figure without an interval.
    pub(super) const fn exact(value: f64) -> Self {
        Self {
            value,
            low: None,
            high: None,
            passes: 1,
        }
    }

    /// The figure in another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
            ..self
        }
    }
}
