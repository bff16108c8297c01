//! Latency as other programs report it: moments, and a few percentiles or buckets.

use blocklab_record::{DirectionResult, Latency, Percentile, Statistic, Unknown};
use blocklab_stats::Histogram;

/// What is known of one direction. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Figures {
    pub ios: u64,
    pub bytes: u64,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub shape: Shape,
}

/// How the distribution is reported.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Shape {
    #[default]
    Unknown,
    /// Shares from 0 to 1 and the time that they do not exceed; at least one.
    Percentiles(Vec<(f64, f64)>),
    /// Times and how many operations took them.
    Counts(Vec<(f64, u64)>),
}

impl Shape {
    /// The shape that these percentiles give; unknown without any.
    pub fn percentiles(list: Vec<(f64, f64)>) -> Self {
        if list.is_empty() {
            Self::Unknown
        } else {
            Self::Percentiles(list)
        }
    }

    /// Whether it holds the quantile of this share.
    fn holds(&self, share: f64) -> bool {
        match self {
            Self::Unknown => false,
            Self::Percentiles(list) => list.iter().any(|(known, _)| (known - share).abs() < 1e-9),
            Self::Counts(list) => !list.is_empty(),
        }
    }

    /// The operations of all buckets; 0 where it has none.
    pub fn counted(&self) -> f64 {
        match self {
            Self::Counts(list) => list.iter().map(|(_, count)| *count as f64).sum(),
            Self::Unknown | Self::Percentiles(_) => 0.0,
        }
    }

    pub fn is_known(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Percentiles(_) => true,
            Self::Counts(list) => !list.is_empty(),
        }
    }
}

impl Figures {
    /// Sets the shape to percentiles: pairs of a share from 0 to 1 and nanoseconds. Those of 0 and 1 are
    /// the minimum and the maximum.
    pub fn set_percentiles(&mut self, percentiles: impl IntoIterator<Item = (f64, f64)>) {
        let mut list = Vec::new();
        for (share, ns) in percentiles {
            match share {
                ..=0.0 => self.min = Some(ns),
                1.0.. => self.max = Some(ns),
                _ => list.push((share, ns)),
            }
        }
        self.shape = Shape::percentiles(list);
    }

    /// A share, from 0 to 1, of the operations; their latencies stay those of all.
    pub fn part(&self, share: f64) -> Self {
        let mut part = self.clone();
        let counts = match &mut part.shape {
            Shape::Counts(list) => &mut list[..],
            _ => &mut [],
        };
        let counts = counts.iter_mut().map(|(_, count)| count);
        for count in counts.chain([&mut part.ios, &mut part.bytes]) {
            *count = (*count as f64 * share).round() as u64;
        }
        part
    }

    pub fn result(&self) -> DirectionResult {
        DirectionResult::new(self.ios, self.bytes, self.latency())
    }

    /// Percentiles of the text come out of the histogram again: between two of them, every
    /// operation counts as slow as the slower one.
    fn histogram(&self) -> Histogram {
        let mut at: Vec<(f64, u64)> = Vec::new();
        match &self.shape {
            Shape::Unknown => {}
            Shape::Counts(list) => at.clone_from(list),
            Shape::Percentiles(list) => {
                let mut done = 0;
                for (share, ns) in list {
                    let rank = (share * self.ios as f64).ceil() as u64;
                    at.push((*ns, rank.clamp(done, self.ios) - done));
                    done = done.max(rank.min(self.ios));
                }
                let last = list.last().map(|(_, ns)| *ns);
                at.extend(self.max.or(last).map(|ns| (ns, self.ios - done)));
            }
        }
        let mut counts = vec![0u64; Histogram::BUCKETS];
        for (ns, count) in at {
            let slot = &mut counts[Histogram::index(ns.max(0.0).round() as u64)];
            *slot = slot.saturating_add(count);
        }
        Histogram::from_counts(counts)
    }

    /// What the text does not hold.
    fn unknown(&self) -> Unknown {
        let single = [
            (self.min, Statistic::Min),
            (self.max, Statistic::Max),
            (self.mean, Statistic::Mean),
            (self.stddev, Statistic::Stddev),
        ];
        let single = single.iter().filter(|(figure, _)| figure.is_none());
        let quantiles = Percentile::kept().filter(|(kept, _)| !self.shape.holds(kept.share));
        single
            .map(|single| single.1)
            .chain(quantiles.map(|quantile| quantile.1))
            .collect()
    }

    fn latency(&self) -> Latency {
        let histogram = self.histogram();
        // Where the text has none, the edges of the histogram are the nearest that is known.
        let [min, max] = [(self.min, 0.0), (self.max, 1.0)].map(|(given, share)| match given {
            Some(ns) => ns.max(0.0).round() as u64,
            None => histogram.quantile(share),
        });
        let max = max.max(min);
        Latency {
            // The moments cover all operations, also those that the histogram lacks.
            count: self.ios,
            mean_ns: self.mean.unwrap_or(0.0),
            stddev_ns: self.stddev.unwrap_or(0.0),
            unknown: self.unknown(),
            ..Latency::new(&histogram, min, max, 0.0, 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_percentiles_come_out_again() {
        let figures = Figures {
            ios: 10_000,
            mean: Some(120_000.0),
            min: Some(50_000.0),
            max: Some(900_000.0),
            shape: Shape::Percentiles(vec![(0.5, 100_000.0), (0.9, 200_000.0), (0.99, 400_000.0)]),
            ..Figures::default()
        };
        let latency = figures.latency();
        let near = |found: u64, wanted: f64| (found as f64 / wanted - 1.0).abs() < 1.0 / 128.0;
        assert!(near(latency.p50_ns, 100_000.0), "{latency:?}");
        assert!(near(latency.p90_ns, 200_000.0), "{latency:?}");
        assert!(near(latency.p99_ns, 400_000.0), "{latency:?}");
        assert_eq!((latency.min_ns, latency.max_ns), (50_000, 900_000));
        assert_eq!(latency.count, 10_000);
        assert!((latency.mean_ns - 120_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_mean_alone_has_no_distribution() {
        let figures = Figures {
            ios: 10,
            mean: Some(5_000.0),
            ..Figures::default()
        };
        let latency = figures.latency();
        assert_eq!(latency.histogram().expect("readable").count(), 0);
        assert!((latency.mean_ns - 5_000.0).abs() < 1e-9);
        assert_eq!(latency.count, 10);
        let text = serde_json::to_value(&latency).expect("JSON");
        for name in [
            "min_ns",
            "max_ns",
            "stddev_ns",
            "p50_ns",
            "p90_ns",
            "p99_ns",
            "p999_ns",
        ] {
            assert!(text[name].is_null(), "{name}: {text}");
        }
        assert_eq!(text["mean_ns"], 5_000.0);
        let read: Latency = serde_json::from_value(text).expect("a latency");
        assert_eq!(read, latency);
    }
}
