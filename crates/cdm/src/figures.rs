//! What the passes of each test delivered.

use blocklab_record::{JobResult, Measurement, Record};

use super::{Form, Taking, Test, Way, case_name};

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
    /// Read, written or mixed.
    pub way: Way,
    /// The passes that count, in their order.
    pub passes: Vec<Figures>,
    /// What is printed; nothing where no pass came to its end.
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
pub fn rows(record: &Record, form: &Form) -> Vec<Row> {
    let of_way = |way| {
        let row = move |test: &Test| row(record, form.wish.taking, *test, way);
        form.tests.iter().map(row)
    };
    form.ways.iter().copied().flat_map(of_way).collect()
}

fn row(record: &Record, taking: Taking, test: Test, way: Way) -> Row {
    let name = case_name(&test, way);
    let counted = |m: &&Measurement| m.pass > 0 && m.case == name;
    let passes: Vec<Figures> = record
        .measurements
        .iter()
        .filter(counted)
        .filter_map(figures)
        .collect();
    let shown = match taking {
        Taking::Best => best(&passes),
        Taking::Mean => mean(&passes),
    };
    Row {
        test,
        way,
        passes,
        shown,
    }
}

/// Nothing of a pass in which no operation came back.
fn figures(measurement: &Measurement) -> Option<Figures> {
    let directions = || measurement.jobs.iter().flat_map(|j| j.directions.values());
    let ios: u64 = directions().map(|direction| direction.ios).sum();
    let waited: f64 = directions()
        .map(|direction| direction.service.mean_ns * direction.ios as f64)
        .sum();
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
    let sum = |what: fn(&Figures) -> f64| passes.iter().map(what).sum::<f64>() / number;
    (!passes.is_empty()).then(|| Figures {
        mb_per_s: sum(|figures| figures.mb_per_s),
        latency_us: sum(|figures| figures.latency_us),
    })
}
