//! In: numbers.
//! Out: histograms, quantiles with an error bound, confidence intervals, steady state, change points.
//! Never: storage, files, clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod change;
mod energy;
mod histogram;
mod littles;
mod outlier;
mod passes;
mod rank_test;
mod ratio;
mod steady;
mod student;
mod summary;
mod trend;

pub use change::{Change, Suspicion, TESTED, changes, discoveries, suspected};
pub use histogram::{BadEncoding, Histogram};
pub use littles::in_flight;
pub use outlier::{Outlier, outliers};
pub use passes::{log_variance, passes_for};
pub use rank_test::{rank_test, shift_ratio};
pub use ratio::{Ratio, ratio};
pub use steady::{SNIA_ROUNDS, Verdict, slope, snia};
pub use student::{critical, within};
pub use summary::{Interval, Summary, confidence, mean, median, median_confidence};
pub use trend::{Drift, Line, Step, drift, fit, largest_step};
