//! The skew report: what each storage definition and each workload did, and the shares that were
//! asked for, in the layout of Vdbench 5.04.07.

use super::figures::Figures;

/// A storage definition or a workload in the skew report.
#[derive(Debug, Clone, PartialEq)]
pub struct SkewRow {
    /// `sd1` or `wd1`.
    pub name: String,
    /// What it did.
    pub figures: Figures,
    /// The share that was asked for, in per cent; nothing where it has a rate of its own.
    pub asked: Option<f64>,
}

/// The report of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Skew {
    /// Characters of the longest name in the report.
    pub width: usize,
    /// Storage definitions.
    pub sds: Vec<SkewRow>,
    /// Workloads; compared where there are several.
    pub wds: Vec<SkewRow>,
    /// What all did together.
    pub total: Figures,
    /// Whether workloads kept shares.
    pub controlled: bool,
}

/// What stands above the first run.
pub const SKEW_HEAD: &str = "Storage definitions are compared in every run, workloads where a run \
                             has several.\n";
/// Behind the longest name.
const MARGIN: usize = 2;
/// A smaller difference is not shown, in per cent.
const SHOWN: f64 = 0.10;

impl Skew {
    /// Its lines; each gets the time of day in front.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        lines.extend(self.head("SD:", None));
        lines.extend(self.sds.iter().map(|row| self.row(&row.name, &row.figures)));
        lines.push(self.row("Total", &self.total));
        if self.wds.len() > 1 {
            lines.push(String::new());
            lines.extend(self.workloads());
        }
        lines
    }

    fn workloads(&self) -> Vec<String> {
        let control = match self.controlled {
            true => "Workloads kept their shares in this run.",
            false => "This run was an Uncontrolled MAX: no shares were kept.",
        };
        let mut lines = vec![
            format!("Requested and observed skew; a delta is shown from {SHOWN:.2} % on."),
            control.to_owned(),
            String::new(),
        ];
        lines.extend(self.head("WD:", Some(["skew", "requested", "observed", "delta"])));
        let all = self.total.both().ios.max(1) as f64;
        let mut sum = 0.0;
        for row in &self.wds {
            let observed = row.figures.both().ios as f64 * 100.0 / all;
            sum += observed;
            let asked = row
                .asked
                .map_or("n/a".to_owned(), |asked| format!("{asked:.2}%"));
            let delta = row.asked.map(|asked| asked - observed);
            let delta = delta.filter(|delta| delta.abs() >= SHOWN);
            let delta = delta.map_or(String::new(), |delta| format!("{delta:>6.2}%"));
            let figures = self.row(&row.name, &row.figures);
            lines.push(format!("{figures} {asked:>9} {observed:>7.2}% {delta}"));
        }
        let total = self.row("Total", &self.total);
        lines.push(format!("{total} {:>8.2}% {sum:>7.2}%", 100.0));
        lines
    }

    fn head(&self, what: &str, skew: Option<[&str; 4]>) -> [String; 2] {
        let line = |first: &str, [a, b, c, d, e, f, g, h, i, j]: [&str; 10]| {
            let width = self.width + MARGIN;
            format!(
                "{first:<width$} {a:>10} {b:>8} {c:>7} {d:>6} {e:>8} {f:>8} {g:>8} {h:>8} {i:>8} \
                 {j:>5} "
            )
        };
        let mut lines = [
            line(
                "",
                [
                    "i/o", "MB/sec", "bytes", "read", "resp", "read", "write", "resp", "resp",
                    "queue",
                ],
            ),
            line(
                what,
                [
                    "rate", "1024**2", "i/o", "pct", "time", "resp", "resp", "max", "stddev",
                    "depth",
                ],
            ),
        ];
        if let Some([skew, requested, observed, delta]) = skew {
            lines[0].push_str(&format!(" {skew:>9} {skew:>8} {skew:>7} "));
            lines[1].push_str(&format!(" {requested:>9} {observed:>8} {delta:>7} "));
        }
        lines
    }

    fn row(&self, name: &str, figures: &Figures) -> String {
        let (both, width) = (figures.both(), self.width + MARGIN);
        format!(
            "{name:<width$} {:>10.2} {:>8.2} {:>7} {:>6.2} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} \
             {:>5.1} ",
            figures.rate(),
            figures.mib(),
            figures.bytes_per_io() as u64,
            figures.read_percent(),
            both.resp(),
            figures.read.resp(),
            figures.write.resp(),
            both.max(),
            both.std(),
            figures.depth(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sum;

    fn figures(reads: u64, writes: u64) -> Figures {
        let sum = |ios: u64, mean: f64| Sum {
            ios,
            bytes: ios * 4096,
            sum_ns: mean * 1e6 * ios as f64,
            sum_squares: (mean * 1e6) * (mean * 1e6) * ios as f64,
            max_ns: 537_000,
        };
        Figures {
            seconds: 3.0,
            read: sum(reads, 0.012),
            write: sum(writes, 0.020),
            cpu: None,
        }
    }

    /// A parser of the original's tables found another table: no times, no depth, no total. The
    /// heads are those of a run of 5.04.07.
    #[test]
    fn the_tables_are_those_of_the_original() {
        let row = |name: &str, figures: Figures| SkewRow {
            name: name.to_owned(),
            figures,
            asked: Some(50.0),
        };
        let (first, second) = (figures(312, 155), figures(400, 115));
        let report = Skew {
            width: "localhost-0".len(),
            sds: vec![row("sd1", first)],
            wds: vec![row("wd1", first), row("wd2", second)],
            total: first.plus(Figures {
                seconds: 0.0,
                ..second
            }),
            controlled: true,
        };
        let lines = report.lines();
        let expected = [
            "",
            "                     i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue ",
            "SD:                 rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth ",
            "sd1               155.67     0.61    4096  66.81    0.015    0.012    0.020    0.537    0.004   0.0 ",
            "Total             327.33     1.28    4096  72.51    0.014    0.012    0.020    0.537    0.004   0.0 ",
            "",
        ];
        assert_eq!(lines[..6], expected);
        let expected = [
            "                     i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue       skew     skew    skew ",
            "WD:                 rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth  requested observed   delta ",
            "wd1               155.67     0.61    4096  66.81    0.015    0.012    0.020    0.537    0.004   0.0     50.00%   47.56%   2.44%",
            "wd2               171.67     0.67    4096  77.67    0.014    0.012    0.020    0.537    0.003   0.0     50.00%   52.44%  -2.44%",
            "Total             327.33     1.28    4096  72.51    0.014    0.012    0.020    0.537    0.004   0.0    100.00%  100.00%",
        ];
        assert_eq!(lines[9..], expected);
    }
}
