//! In: moments and bytes. Out: the busiest windows, and how much counts of windows vary.

use serde::Serialize;

/// Windows in which operations are counted, each beginning at a multiple of its length.
const WINDOWS_NS: [u64; 3] = [100_000_000, 1_000_000_000, 60_000_000_000];

/// The busiest window of a length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// Its length.
    pub window_ns: u64,
    /// Operations a second in the busiest one.
    pub iops_max: f64,
    /// Where that begins.
    pub at_ns: u64,
    /// Bytes a second in the one that moves most.
    pub bytes_per_s_max: f64,
    /// Index of dispersion: variance of the counts by their mean. 1 where operations come at random.
    pub dispersion: Option<f64>,
}

#[derive(Debug, Default)]
struct Window {
    index: u64,
    count: u64,
    bytes: u64,
    most: u64,
    most_at: u64,
    most_bytes: u64,
    total: u64,
    squares: u128,
}

impl Window {
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

#[derive(Debug, Default)]
pub(super) struct Bursts {
    windows: [Window; 3],
    last: Option<u64>,
    gaps: u64,
    sum: f64,
    squares: f64,
}

impl Bursts {
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, bytes: u64) {
        for (window, length) in self.windows.iter_mut().zip(WINDOWS_NS) {
            // A division is the dearest of it, and most operations fall into the window of the last.
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

    pub(super) fn interarrival_cv(&self) -> Option<f64> {
        let gaps = self.gaps as f64;
        let mean = self.sum / gaps;
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
