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
    /// independently of each other; `None` without operations.
    pub dispersion: Option<f64>,
}

/// The current window of one length, and the sums over all windows before it.
#[derive(Debug, Default)]
struct Window {
    index: u64,
    count: u64,
    bytes: u64,
    /// Most operations in a window, and the index of that window.
    most: u64,
    most_at: u64,
    /// Most bytes in a window.
    most_bytes: u64,
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

    fn peak(&mut self, window_ns: u64) -> Peak {
        self.close();
        let seconds = window_ns as f64 / 1e9;
        // Windows without operations were never opened, but count for the mean and the variance.
        let windows = (self.index + 1) as f64;
        let mean = self.total as f64 / windows;
        let variance = self.squares as f64 / windows - mean * mean;
        Peak {
            window_ns,
            iops_max: self.most as f64 / seconds,
            at_ns: self.most_at * window_ns,
            bytes_per_s_max: self.most_bytes as f64 / seconds,
            dispersion: (mean > 0.0).then(|| variance / mean),
        }
    }
}

/// Windows of all lengths, and the times between operations.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    windows: [Window; 3],
    /// When the last operation came.
    last: Option<u64>,
    /// Number of times between two operations, their sum, and the sum of their squares.
    gaps: u64,
    sum: f64,
    squares: f64,
}

impl Bursts {
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

    pub(super) fn peaks(&mut self) -> Vec<Peak> {
        let windows = self.windows.iter_mut().zip(WINDOWS_NS);
        windows
            .map(|(window, length)| window.peak(length))
            .collect()
    }
}
