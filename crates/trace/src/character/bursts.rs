//! In: when operations come, and how many bytes they move. Out: the busiest windows of time, and how
//! much the counts of windows vary.

use serde::Serialize;

/// Lengths of the windows in which operations are counted. A window begins at a multiple of its length.
const WINDOWS_NS: [u64; 3] = [100_000_000, 1_000_000_000, 60_000_000_000];

/// The busiest windows of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// The length of a window.
    pub window_ns: u64,
    /// Operations a second in the window with the most operations.
    pub iops_max: f64,
    /// Where that window begins.
    pub at_ns: u64,
    /// Bytes a second in the window with the most bytes.
    pub bytes_per_s_max: f64,
    /// Index of dispersion: variance of the counts divided by their mean. It is 1 if operations come
    /// independently of each other; `None` if the trace is shorter than two windows.
    pub dispersion: Option<f64>,
}

/// The current window of one length, and the sums over all windows before it.
#[derive(Debug, Default)]
struct Window {
    /// Number of the current window, counted from the beginning of the trace.
    index: u64,
    /// Operations and bytes in it.
    count: u64,
    bytes: u64,
    /// Most operations in a window, and the index of that window.
    most: u64,
    most_at: u64,
    /// Most bytes in a window.
    most_bytes: u64,
    /// Operations in all closed windows.
    total: u64,
    /// Sum of the squared counts.
    squares: u128,
}

impl Window {
    /// Ends the current window.
    fn close(&mut self) {
        if self.count > self.most {
            (self.most, self.most_at) = (self.count, self.index);
        }
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.total += self.count;
        self.squares += u128::from(self.count) * u128::from(self.count);
        (self.count, self.bytes) = (0, 0);
    }

    /// The result for a trace whose last operation comes at `last_ns`.
    fn peak(&mut self, window_ns: u64, last_ns: u64) -> Peak {
        // Where the trace ends a moment after a window has begun, the count of that window shows
        // where it ends and not how the load varies.
        let tail_ns = last_ns + 1 - self.index * window_ns;
        let mut windows = self.index;
        if tail_ns >= window_ns / 100 {
            self.close();
            windows += 1;
        }
        let dispersion = self.dispersion(windows);
        self.close();
        let seconds = window_ns as f64 / 1e9;
        Peak {
            window_ns,
            iops_max: self.most as f64 / seconds,
            at_ns: self.most_at * window_ns,
            bytes_per_s_max: self.most_bytes as f64 / seconds,
            dispersion,
        }
    }

    /// Variance of the counts of the closed windows, of which there are `windows`, over their mean.
    fn dispersion(&self, windows: u64) -> Option<f64> {
        // Windows without operations were never opened, but count for the mean and the variance.
        let mean = self.total as f64 / windows as f64;
        let variance = self.squares as f64 / windows as f64 - mean * mean;
        // Rounding can give a tiny negative difference when all counts are equal.
        (windows > 1 && mean > 0.0).then(|| variance.max(0.0) / mean)
    }
}

/// Windows of all lengths, and the times between operations.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    windows: [Window; 3],
    /// When the last operation was issued, in ns.
    last: Option<u64>,
    /// Number of times between two operations, their sum, and the sum of their squares.
    gaps: u64,
    sum: f64,
    squares: f64,
}

impl Bursts {
    /// Counts an operation in a window of each length. Operations come in the order of time.
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, bytes: u64) {
        for (window, length) in self.windows.iter_mut().zip(WINDOWS_NS) {
            // Most operations are in the window of the one before, which spares them the division,
            // the most expensive step here.
            if at_ns - window.index * length >= length {
                window.close();
                window.index = at_ns / length;
            }
            window.count += 1;
            window.bytes += bytes;
        }
        if let Some(last) = self.last {
            let gap = (at_ns - last) as f64;
            self.gaps += 1;
            self.sum += gap;
            self.squares += gap * gap;
        }
        self.last = Some(at_ns);
    }

    /// Coefficient of variation of the time between operations: standard deviation divided by mean.
    pub(super) fn interarrival_cv(&self) -> Option<f64> {
        let gaps = self.gaps as f64;
        let mean = self.sum / gaps;
        // Rounding can give a tiny negative difference when all gaps are equal.
        let variance = (self.squares / gaps - mean * mean).max(0.0);
        (mean > 0.0).then(|| variance.sqrt() / mean)
    }

    /// The busiest windows of each length. It ends the count.
    pub(super) fn peaks(&mut self) -> Vec<Peak> {
        let windows = self.windows.iter_mut().zip(WINDOWS_NS);
        let last_ns = self.last.unwrap_or(0);
        windows
            .map(|(window, length)| window.peak(length, last_ns))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation each millisecond, the last one exactly a minute after the first: the window of a
    /// minute that began with it counted one operation beside 60,000, and a load without any variation
    /// had an index of dispersion of 29,998.5.
    #[test]
    fn the_window_in_which_the_trace_ends_is_no_variation() {
        let mut bursts = Bursts::default();
        for milliseconds in 0..=60_000 {
            bursts.add(milliseconds * 1_000_000, 4096);
        }
        let peaks = bursts.peaks();
        let dispersions: Vec<_> = peaks.iter().map(|peak| peak.dispersion).collect();
        assert_eq!(dispersions, [Some(0.0), Some(0.0), None]);
        assert!(peaks.iter().all(|peak| peak.iops_max == 1000.0));
    }
}
