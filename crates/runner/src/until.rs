//! In: a Record and the requested precision. Out: the cases that need one more pass.

use blocklab_findings::{Estimate, case_rates};
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

/// The last judgement of a run: which cases needed one more pass, and after how many passes.
#[derive(Debug, Default)]
pub(crate) struct LastJudgement {
    passes: u32,
    wanting: Vec<String>,
}

impl LastJudgement {
    /// A run is judged again when it has grown by this share, and at least by one pass. A judgement
    /// looks at all passes: after each of 20,000 they would take far longer than the passes, and by
    /// then the interval hardly changes from one pass to the next.
    const SHARE: u32 = 64;

    /// Whether a run with this number of passes must be judged.
    fn is_due(&self, passes: u32) -> bool {
        passes > self.passes + self.passes.saturating_sub(Self::SHARE) / Self::SHARE
    }
}

impl Until {
    /// Fewest passes: two agree by chance too easily.
    pub const LEAST_PASSES: u32 = 3;

    /// The cases that need one more pass after `passes` of them. If the run has hardly grown since the
    /// last judgement, they are those of that one.
    pub(crate) fn wanting<'a>(
        &self,
        record: &Record,
        passes: u32,
        last: &'a mut LastJudgement,
    ) -> &'a [String] {
        let measurements = record.measurements.iter();
        let spent: u64 = measurements.map(|measured| measured.elapsed_ns).sum();
        if spent >= self.limit.0 {
            return &[];
        }
        if last.is_due(passes) {
            *last = LastJudgement {
                passes,
                wanting: self.imprecise_cases(record),
            };
        }
        &last.wanting
    }

    /// The cases with a rate whose interval is unknown or wider than requested.
    fn imprecise_cases(&self, record: &Record) -> Vec<String> {
        case_rates(record)
            .into_iter()
            .filter(|(_, rates)| rates.iter().any(|rate| !self.is_narrow(rate)))
            .map(|(case, _)| case.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: every one of 20,000 passes of 1 ms was followed by a judgement of all of them, which
    /// kept a processor busy for 100 s.
    #[test]
    fn a_long_run_is_judged_seldom_and_a_short_one_after_every_pass() {
        let mut last = LastJudgement::default();
        let mut judged = Vec::new();
        for passes in 3..=20_000 {
            if last.is_due(passes) {
                last.passes = passes;
                judged.push(passes);
            }
        }
        assert!(judged.starts_with(&Vec::from_iter(3..=128)), "{judged:?}");
        assert!(judged.len() < 600, "{}", judged.len());
        // No more passes than a share are made in vain.
        let mut apart = judged.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
        assert!(apart.all(|(passes, of)| passes <= of / 64 + 1));
    }
}
