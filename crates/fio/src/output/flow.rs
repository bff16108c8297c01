//! The figures of one direction: what was moved, and how long it took.

use blocklab_record::{DirectionResult, Latency, Samples};
use blocklab_stats::Histogram;

use super::super::plan::CloneFacts;
use super::style::PriorityLatency;

/// The figures of one latency, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LatencySummary {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub stddev: f64,
    pub histogram: Histogram,
}

impl LatencySummary {
    pub(super) fn from_latency(latency: &Latency) -> Self {
        Self {
            count: latency.count,
            min: latency.min_ns,
            max: latency.max_ns,
            mean: latency.mean_ns,
            stddev: latency.stddev_ns,
            // The record is our own: a histogram that cannot be read has no buckets to show.
            histogram: latency.histogram().unwrap_or_default(),
        }
    }

    /// Both together. The variances are pooled about the common mean.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let mean = (self.mean * n + other.mean * m) / (n + m);
        let squares = self.squares_about(mean) + other.squares_about(mean);
        self.stddev = (squares / (n + m)).sqrt();
        self.mean = mean;
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    /// The sum of the squared distances of all values from `center`.
    fn squares_about(&self, center: f64) -> f64 {
        self.count as f64 * (self.stddev.powi(2) + (self.mean - center).powi(2))
    }
}

/// What was moved in one direction, and the latencies of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Flow {
    pub bytes: u64,
    pub ios: u64,
    pub short: u64,
    pub runtime_ms: u64,
    pub slat: LatencySummary,
    pub clat: LatencySummary,
    pub lat: LatencySummary,
    /// By priority, in the order in which they are named.
    pub priorities: Vec<LatencyOfPriority>,
    /// Bytes a second.
    pub bw: Samples,
    pub iops: Samples,
}

/// The operations of one priority.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LatencyOfPriority {
    pub class: u8,
    pub level: u8,
    pub latency: LatencySummary,
}

impl Flow {
    pub(super) fn new(result: &DirectionResult, runtime_ms: u64, clone: &CloneFacts) -> Self {
        let flow = Self::without_priorities(result, runtime_ms);
        Self {
            priorities: flow.by_priority(result, clone),
            ..flow
        }
    }

    /// The latencies by priority. Operations without one of their own have that of the job.
    fn by_priority(&self, result: &DirectionResult, clone: &CloneFacts) -> Vec<LatencyOfPriority> {
        let Some(kind) = clone.style.by_priority() else {
            return Vec::new();
        };
        let detail = result.detail.as_deref();
        let rows = detail.map_or(&[][..], |detail| &detail.by_priority);
        if rows.is_empty() {
            let all = match kind {
                PriorityLatency::Completion => &self.clat,
                PriorityLatency::Total => &self.lat,
            };
            return vec![LatencyOfPriority {
                class: clone.priority.map_or(0, |priority| priority.class),
                level: clone.priority.map_or(0, |priority| priority.level),
                latency: all.clone(),
            }];
        }
        let priorities = rows.iter().map(|row| LatencyOfPriority {
            class: row.class,
            level: row.level,
            latency: LatencySummary::from_latency(match (kind, &row.completion) {
                (PriorityLatency::Completion, Some(completion)) => completion,
                _ => &row.service,
            }),
        });
        priorities.collect()
    }

    /// The figures of a direction, without those of each priority.
    fn without_priorities(result: &DirectionResult, runtime_ms: u64) -> Self {
        let detail = result.detail.as_deref();
        let total = LatencySummary::from_latency(&result.service);
        let completion = detail.and_then(|detail| detail.completion.as_ref());
        Self {
            bytes: result.bytes,
            ios: result.ios,
            runtime_ms,
            slat: result
                .submit
                .as_ref()
                .map(LatencySummary::from_latency)
                .unwrap_or_default(),
            // An engine that waits for each operation has no submission: completion is the whole latency.
            clat: completion.map_or_else(|| total.clone(), LatencySummary::from_latency),
            lat: total,
            bw: detail.map(|detail| detail.bytes_per_s).unwrap_or_default(),
            iops: detail.map(|detail| detail.iops).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Clones run at the same time: the longest runtime is that of all.
    pub(super) fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.short += other.short;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        for more in &other.priorities {
            self.merge_priority(more);
        }
        add(&mut self.bw, &other.bw);
        add(&mut self.iops, &other.iops);
    }

    fn merge_priority(&mut self, more: &LatencyOfPriority) {
        let mut all = self.priorities.iter_mut();
        match all.find(|known| (known.class, known.level) == (more.class, more.level)) {
            Some(known) => known.latency.merge(&more.latency),
            None => self.priorities.push(more.clone()),
        }
    }

    /// The priorities that are reported: none if there is only one.
    pub(super) fn shown_priorities(&self) -> &[LatencyOfPriority] {
        match self.priorities.len() {
            0 | 1 => &[],
            _ => &self.priorities,
        }
    }

    pub(super) fn iops(&self) -> f64 {
        per_second(self.ios, self.runtime_ms)
    }

    /// The mean of the throughput samples, of the throughput over all its time, in per cent.
    pub(super) fn bw_share(&self) -> f64 {
        match self.bytes_per_second() {
            0 => 0.0,
            all => (self.bw.mean * 100.0 / all as f64).min(100.0),
        }
    }

    pub(super) fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms) as u64
    }
}

/// Rates of clones that run at the same time add up.
fn add(sum: &mut Samples, more: &Samples) {
    sum.count += more.count;
    sum.min += more.min;
    sum.max += more.max;
    sum.mean += more.mean;
    sum.stddev += more.stddev;
}

fn per_second(amount: u64, ms: u64) -> f64 {
    if ms == 0 {
        0.0
    } else {
        amount as f64 * 1000.0 / ms as f64
    }
}
