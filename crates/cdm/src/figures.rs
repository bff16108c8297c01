//! What the passes of each test delivered.

use blocklab_record::{JobResult, Measurement, Record};
use blocklab_workload::Mix;

use super::{Settings, Test, case_name};

/// What one pass delivered, or a row's figures for all passes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// 10^6 bytes a second.
    pub mb_per_s: f64,
    /// Mean service latency in microseconds.
    pub latency_us: f64,
}

/// A row of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The test.
    pub test: Test,
    /// The shares of reads and writes.
    pub mix: Mix,
    /// The passes that count, in their order.
    pub passes: Vec<Figures>,
    /// What is printed; `None` where no pass came to its end.
    pub shown: Option<Figures>,
}

impl Row {
    /// Operations per second, as the original reckons them: from the throughput shown.
    pub fn iops(&self) -> f64 {
        let shown = self.shown.map_or(0.0, |figures| figures.mb_per_s);
        shown * 1e6 / self.test.block.as_f64()
    }
}

/// All rows, in the order in which they were measured.
pub fn rows(record: &Record, settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for mix in &settings.mixes {
        for test in &settings.tests {
            rows.push(row(record, settings.choices.average, *test, *mix));
        }
    }
    rows
}

/// The row of a test. It shows the mean of the passes with `average`, else the best of them.
fn row(record: &Record, average: bool, test: Test, mix: Mix) -> Row {
    let name = case_name(&test, mix);
    // Pass 0 is the one that is thrown away.
    let passes: Vec<Figures> = record
        .measurements
        .iter()
        .filter(|measured| measured.pass > 0 && measured.case == name)
        .filter_map(figures)
        .collect();
    let shown = if average {
        mean(&passes)
    } else {
        best(&passes)
    };
    Row {
        test,
        mix,
        passes,
        shown,
    }
}

/// The figures of a pass; `None` where no operation came back.
fn figures(measurement: &Measurement) -> Option<Figures> {
    let (mut ios, mut waited) = (0, 0.0);
    for direction in measurement
        .jobs
        .iter()
        .flat_map(|job| job.directions.values())
    {
        ios += direction.ios;
        waited += direction.service.mean_ns * direction.ios as f64;
    }
    let bytes: f64 = measurement.jobs.iter().map(JobResult::bytes_per_s).sum();
    (ios > 0).then(|| Figures {
        mb_per_s: bytes / 1e6,
        latency_us: waited / ios as f64 / 1e3,
    })
}

fn best(passes: &[Figures]) -> Option<Figures> {
    passes.iter().copied().reduce(|a, b| Figures {
        mb_per_s: a.mb_per_s.max(b.mb_per_s),
        latency_us: a.latency_us.min(b.latency_us),
    })
}

fn mean(passes: &[Figures]) -> Option<Figures> {
    let number = passes.len() as f64;
    let mb_per_s: f64 = passes.iter().map(|pass| pass.mb_per_s).sum();
    let latency_us: f64 = passes.iter().map(|pass| pass.latency_us).sum();
    (!passes.is_empty()).then(|| Figures {
        mb_per_s: mb_per_s / number,
        latency_us: latency_us / number,
    })
}
