use super::super::spec::Spec;

/// How the figures of a job are printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// What `description` says.
    pub description: Option<String>,
    /// Per cent, ascending.
    pub percentiles: Vec<f64>,
    /// Percentiles of submission, completion and total latency.
    pub percentiles_of: [bool; 3],
    /// Which of them are printed at all.
    pub latencies: [bool; 3],
    /// Whether the directions are one, and whether they are there besides.
    pub unified: Unified,
    /// Digits in the normal output.
    pub figures: usize,
    /// Whether throughput is in bits.
    pub bits: bool,
    /// Whether the job is printed at all.
    pub shown: bool,
    /// Whether disks are.
    pub disks: bool,
    /// Whether the two block sizes are those of sequential and random operations.
    pub by_order: bool,
    /// What the depth is sought for.
    pub sought: Sought,
}

/// `latency_target` and its kin, as they are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sought {
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

/// Which latency is told by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByPriority {
    Completion,
    Total,
}

impl ByPriority {
    /// `clat`, `lat`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Completion => "clat",
            Self::Total => "lat",
        }
    }

    /// Its place among submission, completion and total latency.
    pub(super) const fn place(self) -> usize {
        match self {
            Self::Completion => 1,
            Self::Total => 2,
        }
    }
}

const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// As many as fio takes.
const MOST_PERCENTILES: usize = 20;

impl Style {
    /// The latency that is told by priority: one of two, if it is taken.
    pub(super) const fn by_priority(&self) -> Option<ByPriority> {
        match (self.percentiles_of, self.latencies) {
            ([_, _, true], [_, _, true]) => Some(ByPriority::Total),
            (_, [_, true, _]) => Some(ByPriority::Completion),
            _ => None,
        }
    }

    pub(in super::super) fn of(spec: &Spec) -> Self {
        let values = &spec.values;
        let is = |name| values.flag(name);
        let reduced = is("gtod_reduce");
        let mut percentiles = values
            .floats("percentile_list")
            .unwrap_or(&PERCENTILES)
            .to_vec();
        percentiles.sort_by(f64::total_cmp);
        percentiles.truncate(MOST_PERCENTILES);
        Self {
            description: values.text("description").map(str::to_owned),
            percentiles,
            percentiles_of: [
                is("slat_percentiles"),
                values.number("clat_percentiles") != Some(0),
                is("lat_percentiles"),
            ],
            latencies: [
                !(is("disable_slat") || reduced),
                !(is("disable_clat") || reduced),
                !(is("disable_lat") || reduced),
            ],
            unified: match values.text("unified_rw_reporting") {
                Some("mixed" | "1") => Unified::Mixed,
                Some("both" | "2") => Unified::Both,
                _ => Unified::Not,
            },
            figures: values
                .number("significant_figures")
                .unwrap_or(4)
                .clamp(1, 10) as usize,
            bits: values.text("unit_base") == Some("1"),
            shown: values.number("stats") != Some(0),
            disks: values.number("disk_util") != Some(0),
            by_order: is("bs_is_seq_rand"),
            sought: Sought {
                limit_ns: values.time("latency_target").unwrap_or(0),
                window_us: values.time("latency_window").unwrap_or(0) / 1000,
                percentile: values
                    .floats("latency_percentile")
                    .and_then(|list| list.first().copied())
                    .unwrap_or(100.0),
            },
        }
    }
}
