//! In: the options of a job. Out: how its figures are printed: which latencies, percentiles and
//! units.
//!
//! The printers of all of fio's formats read a [`Style`]; none of them reads the options.

use super::super::options::Options;
use super::amount::Base;

/// How the figures of a job are printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// What `description` says.
    pub description: Option<String>,
    /// Per cent, ascending.
    pub percentiles: Vec<f64>,
    /// Percentiles of submission, completion and total latency; of one that is not printed, none.
    pub percentiles_of: [bool; 3],
    /// Which of them are printed at all.
    pub latencies: [bool; 3],
    /// Whether directions are reported together, separately, or both.
    pub unified: Unified,
    /// Digits in the normal output.
    pub figures: usize,
    /// Whether throughput is in bits.
    pub bits: bool,
    /// The factor of `k` in the normal output, 1024 or 1000; figures in parentheses have the other one.
    pub kilo: u32,
    /// Whether the job is printed at all.
    pub shown: bool,
    /// Whether disks are.
    pub disks: bool,
    /// Whether the two block sizes are those of sequential and random operations.
    pub by_order: bool,
    /// The latency for which a depth is searched.
    pub latency_goal: LatencyGoal,
}

/// `latency_target` and related options, as they are reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyGoal {
    /// 0: none.
    pub limit_ns: u64,
    /// For how long it must be kept.
    pub window_us: u64,
    /// Which share must keep it.
    pub percentile: f64,
}

/// Whether the directions are reported as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unified {
    /// Each by itself.
    Not,
    /// Only together.
    Mixed,
    /// Each, and together.
    Both,
}

/// Which latency is reported by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriorityLatency {
    Completion = 1,
    Total = 2,
}

impl PriorityLatency {
    /// `clat`, `lat`.
    pub(super) const fn name(self) -> &'static str {
        ["slat", "clat", "lat"][self.place()]
    }

    /// Its place among submission, completion and total latency.
    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

/// As many as fio takes.
const MOST_PERCENTILES: usize = 20;

impl Style {
    /// The units of amounts, and those in parentheses after them.
    pub(super) const fn bases(&self) -> [Base; 2] {
        match self.kilo {
            1000 => [Base::Decimal, Base::Binary],
            _ => [Base::Binary, Base::Decimal],
        }
    }

    /// The latency that is reported by priority: one of two, if it is taken.
    pub(super) const fn by_priority(&self) -> Option<PriorityLatency> {
        match (self.percentiles_of, self.latencies) {
            ([_, _, true], _) => Some(PriorityLatency::Total),
            (_, [_, true, _]) => Some(PriorityLatency::Completion),
            _ => None,
        }
    }

    pub(in super::super) fn from_options(options: &Options) -> Self {
        // The list ends where fio, which keeps it in an array of fixed length, finds a 0.
        let listed = options
            .percentile_list
            .iter()
            .take_while(|percentile| **percentile > 0.0);
        let mut percentiles: Vec<f64> = listed.copied().collect();
        percentiles.sort_by(f64::total_cmp);
        percentiles.truncate(MOST_PERCENTILES);
        let latencies = options.taken_latencies();
        let percentiles_of = [
            options.slat_percentiles,
            options.clat_percentiles,
            options.lat_percentiles,
        ];
        Self {
            description: options.description.clone(),
            percentiles,
            // What is not taken has none.
            percentiles_of: std::array::from_fn(|at| percentiles_of[at] && latencies[at]),
            latencies,
            unified: match options.unified_rw_reporting {
                "mixed" | "1" => Unified::Mixed,
                "both" | "2" => Unified::Both,
                _ => Unified::Not,
            },
            figures: options.significant_figures.clamp(1, 10) as usize,
            bits: options.unit_base == "1",
            kilo: if options.kb_base == "1000" {
                1000
            } else {
                1024
            },
            shown: options.stats,
            disks: options.disk_util,
            by_order: options.bs_is_seq_rand,
            latency_goal: LatencyGoal {
                limit_ns: options.latency_target.0,
                window_us: options.latency_window.0 / 1000,
                percentile: options.latency_percentile.first().copied().unwrap_or(100.0),
            },
        }
    }
}
