//! `--repeat-until`: passes are added until the intervals are narrow enough.

use blocklab_findings::{Estimate, assess};
use blocklab_record::{Note, NoteLevel, Record};
use blocklab_units::Nanos;

use crate::args::RunArgs;

/// When no further pass is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Repeat {
    /// Half of the widest interval, in per cent of its rate.
    percent: f64,
    /// Measured time after which no pass is begun.
    limit: Nanos,
}

impl Repeat {
    /// Two passes agree by chance too easily.
    pub const LEAST: u32 = 3;

    /// What the command line asks for.
    pub fn of(args: &RunArgs) -> Option<Self> {
        let limit = args.repeat_for;
        args.repeat_until.map(|percent| Self { percent, limit })
    }

    /// Whether a case wants one more pass.
    pub fn wants(&self, case: &str, record: &Record) -> bool {
        let spent: u64 = record.measurements.iter().map(|it| it.elapsed_ns).sum();
        spent < self.limit.0 && self.open(record).iter().any(|it| it == case)
    }

    /// The cases with a rate whose interval is wider than requested.
    pub fn open(&self, record: &Record) -> Vec<String> {
        let rows = assess(record).rows.into_iter();
        let open = rows.filter(|row| {
            let mut rates = row.directions.iter().map(|it| it.iops);
            rates.any(|rate| !self.is_narrow(&rate))
        });
        open.map(|row| row.case).collect()
    }

    fn is_narrow(&self, rate: &Estimate) -> bool {
        rate.half_width_percent()
            .is_some_and(|half| half <= self.percent)
    }

    /// What a reader of the intervals has to know.
    pub fn note(&self) -> Note {
        let text = format!(
            "passes were added until the 95 % interval of every rate was within ±{} %, for at most \
             {}; an interval that decides when to stop is a little too narrow",
            self.percent, self.limit
        );
        Note::new(NoteLevel::Approximated, "passes", &*text)
    }

    /// The warning when the time was over first.
    pub fn missed(&self, record: &Record) -> Option<String> {
        let open = self.open(record);
        (!open.is_empty()).then(|| {
            format!(
                "time ran out before every rate was within ±{} %: {}; a longer --repeat-for \
                 or --runtime would narrow it",
                self.percent,
                open.join(", ")
            )
        })
    }
}
