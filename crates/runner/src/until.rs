//! In: a Record and the requested precision. Out: the cases that need one more pass.

use blocklab_findings::{Estimate, assess};
use blocklab_record::{Note, NoteLevel, Record};
use blocklab_units::Nanos;

/// The precision until which passes are added, and a limit in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// Largest half width of a confidence interval that is precise enough, in per cent of its rate.
    pub percent: f64,
    /// Measured time after which no further pass begins.
    pub limit: Nanos,
}

impl Until {
    /// Fewest passes: two agree by chance too easily.
    pub const LEAST_PASSES: u32 = 3;

    /// The cases that need one more pass.
    pub(crate) fn wanting(&self, record: &Record) -> Vec<String> {
        let spent: u64 = record
            .measurements
            .iter()
            .map(|measurement| measurement.elapsed_ns)
            .sum();
        if spent >= self.limit.0 {
            return Vec::new();
        }
        self.imprecise_cases(record)
    }

    /// The cases with a rate whose interval is unknown or wider than requested.
    fn imprecise_cases(&self, record: &Record) -> Vec<String> {
        assess(record)
            .rows
            .into_iter()
            .filter(|row| {
                let mut rates = row.directions.iter().map(|direction| direction.iops);
                rates.any(|rate| !self.is_narrow(&rate))
            })
            .map(|row| row.case)
            .collect()
    }

    fn is_narrow(&self, rate: &Estimate) -> bool {
        rate.half_width_percent()
            .is_some_and(|half| half <= self.percent)
    }

    /// The note that warns how to read intervals which decided when to stop.
    pub fn note(&self) -> Note {
        let text = format!(
            "passes were added until the 95 % interval of every rate was within ±{} %, for at most \
             {}; an interval that decides when to stop is a little too narrow",
            self.percent, self.limit
        );
        Note::new(NoteLevel::Approximated, "passes", &*text)
    }

    /// The warning for a run whose time was over before it was precise enough.
    pub fn missed(&self, record: &Record) -> Option<String> {
        let imprecise = self.imprecise_cases(record);
        (!imprecise.is_empty()).then(|| {
            format!(
                "time ran out before every rate was within ±{} %: {}; a longer --repeat-for \
                 or --runtime would narrow it",
                self.percent,
                imprecise.join(", ")
            )
        })
    }
}
