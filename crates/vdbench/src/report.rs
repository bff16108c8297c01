//! Reports in the layout of Vdbench 5.04.07: the beginnings of files, and all tables of figures,
//! whose columns are rows of one table here.

use self::Value::{Figure, OfCpu, Setting};
use super::defs::Wd;
use super::figures::{Cpu, Figures};
use super::run::Run;

/// A column of figures.
struct Column {
    /// Its name in the flat file.
    name: &'static str,
    meaning: &'static str,
    value: Value,
    shown: Shown,
}

/// Where a column's number comes from.
enum Value {
    Setting(fn(&FlatRow) -> Option<f64>),
    Figure(fn(&Figures) -> f64),
    OfCpu(fn(&Cpu) -> f64),
}

/// Tables other than the flat file, which has all columns.
#[derive(Clone, Copy)]
enum Table {
    Summary,
    Skew,
}

/// How the tables other than the flat file show a column.
struct Shown {
    /// The two lines above it.
    heads: [&'static str; 2],
    /// Its characters and decimals in a summary; `None`: it is not there.
    summary: Option<(usize, usize)>,
    /// The same in the skew report.
    skew: Option<(usize, usize)>,
}

const NOWHERE: Shown = shown([""; 2], None, None);

/// Columns of a figure: its two lines of heading, and width and decimals in each table that has it.
const fn shown(
    heads: [&'static str; 2],
    summary: Option<(usize, usize)>,
    skew: Option<(usize, usize)>,
) -> Shown {
    Shown {
        heads,
        summary,
        skew,
    }
}

const fn column(name: &'static str, meaning: &'static str, value: Value, shown: Shown) -> Column {
    Column {
        name,
        meaning,
        value,
        shown,
    }
}

#[rustfmt::skip]
const COLUMNS: [Column; 30] = [
    column("reqrate", "I/O rate that was requested", Setting(|row| Some(row.reqrate)), NOWHERE),
    column("rate", "I/O rate that was observed", Figure(Figures::rate), shown(["i/o", "rate"], Some((11, 1)), Some((11, 2)))),
    column("MB/sec", "MiB a second", Figure(Figures::mib), shown(["MB/sec", "1024**2"], Some((9, 2)), Some((9, 2)))),
    column("bytes/io", "Mean size of an operation", Figure(Figures::bytes_per_io), shown(["bytes", "i/o"], Some((8, 0)), Some((8, 0)))),
    column("read%", "Share of reads", Figure(Figures::read_percent), shown(["read", "pct"], Some((7, 2)), Some((7, 2)))),
    column("resp", "Mean response time in ms", Figure(|figures| figures.both().mean_ms()), shown(["resp", "time"], Some((9, 3)), Some((9, 3)))),
    column("read_resp", "Mean response time of reads in ms", Figure(|figures| figures.read.mean_ms()), shown(["read", "resp"], Some((9, 3)), Some((9, 3)))),
    column("write_resp", "Mean response time of writes in ms", Figure(|figures| figures.write.mean_ms()), shown(["write", "resp"], Some((9, 3)), Some((9, 3)))),
    column("resp_max", "Longest response time in ms", Figure(|figures| figures.both().max_ms()), shown(["resp", "max"], None, Some((9, 3)))),
    column("read_max", "Longest response time of reads in ms", Figure(|figures| figures.read.max_ms()), shown(["read", "max"], Some((9, 2)), None)),
    column("write_max", "Longest response time of writes in ms", Figure(|figures| figures.write.max_ms()), shown(["write", "max"], Some((9, 2)), None)),
    column("resp_std", "Standard deviation of the response time in ms", Figure(|figures| figures.both().stddev_ms()), shown(["resp", "stddev"], Some((9, 3)), Some((9, 3)))),
    column("read_std", "Standard deviation of reads in ms", Figure(|figures| figures.read.stddev_ms()), NOWHERE),
    column("write_std", "Standard deviation of writes in ms", Figure(|figures| figures.write.stddev_ms()), NOWHERE),
    column("xfersize", "Size of an operation that was requested", Setting(|row| row.same(|wd| wd.xfersize.named() as f64)), NOWHERE),
    column("threads", "Threads that were requested", Setting(|row| row.threads), NOWHERE),
    column("rdpct", "Share of reads that was requested", Setting(|row| row.same(|wd| wd.rdpct)), NOWHERE),
    column("rhpct", "Share of read hits that was requested", Setting(|row| row.same(|wd| wd.rhpct)), NOWHERE),
    column("whpct", "Share of write hits that was requested", Setting(|row| row.same(|wd| wd.whpct)), NOWHERE),
    column("seekpct", "Share of seeks that was requested", Setting(FlatRow::seekpct), NOWHERE),
    column("lunsize", "Size of all storage in GiB", Setting(|row| row.lunsize), NOWHERE),
    column("version", "Not available", Setting(|_| None), NOWHERE),
    column("compratio", "Compression that was requested", Setting(|row| Some(row.compratio)), NOWHERE),
    column("dedupratio", "Duplicates that were requested", Setting(|row| row.dedupratio), NOWHERE),
    column("queue_depth", "Mean operations in flight", Figure(Figures::depth), shown(["queue", "depth"], Some((7, 1)), Some((6, 1)))),
    column("cpu_used", "Processors: user and system, in per cent", OfCpu(Cpu::used), shown(["cpu%", "sys+u"], Some((6, 1)), None)),
    column("cpu_user", "Processors: user, in per cent", OfCpu(|cpu| cpu.user), NOWHERE),
    column("cpu_kernel", "Processors: system, in per cent", OfCpu(|cpu| cpu.kernel), shown(["cpu%", "sys"], Some((6, 1)), None)),
    column("cpu_wait", "Processors: waiting, in per cent", OfCpu(|cpu| cpu.wait), NOWHERE),
    column("cpu_idle", "Processors: idle, in per cent", OfCpu(|cpu| cpu.idle), NOWHERE),
];

impl Column {
    fn number(&self, row: &FlatRow, figures: &Figures) -> Option<f64> {
        match self.value {
            Setting(value) => value(row),
            Figure(value) => Some(value(figures)),
            OfCpu(value) => figures.cpu.as_ref().map(value),
        }
    }
}

impl Table {
    /// Its columns with their characters and decimals.
    fn columns(self) -> impl Iterator<Item = (&'static Column, usize, usize)> {
        COLUMNS.iter().filter_map(move |column| {
            let (width, decimals) = match self {
                Self::Summary => column.shown.summary?,
                Self::Skew => column.shown.skew?,
            };
            Some((column, width, decimals))
        })
    }

    /// The two lines above its columns. Without `has_cpu` a blank takes the place of those of processors.
    fn heads(self, has_cpu: bool) -> [String; 2] {
        [0, 1].map(|line| {
            let columns = self.columns();
            let shown = columns.filter(|(column, ..)| has_cpu || !matches!(column.value, OfCpu(_)));
            let cells =
                shown.map(|(column, width, _)| format!("{:>width$}", column.shown.heads[line]));
            cells.collect::<String>() + if has_cpu { "" } else { " " }
        })
    }

    /// The cells of a row below [`Self::heads`], with the same blank for columns of processors.
    fn cells(self, figures: &Figures) -> String {
        let row = FlatRow::default();
        let mut text = String::new();
        for (column, width, decimals) in self.columns() {
            if let Some(number) = column.number(&row, figures) {
                // A part of a byte is not shown.
                let number = if decimals == 0 {
                    number.floor()
                } else {
                    number
                };
                text.push_str(&format!("{number:>width$.decimals$}"));
            }
        }
        if figures.cpu.is_none() {
            text.push(' ');
        }
        text
    }
}

/// The two lines above the rows of a summary; `date` is `Nov 20, 2026`. Without `has_cpu` there are
/// no columns of processors.
pub fn heading(date: &str, has_cpu: bool) -> String {
    let [above, below] = Table::Summary.heads(has_cpu);
    format!("{date:>12}{:>12}{above}\n{:24}{below}\n", "interval", "")
}

/// A row of a summary: `time` is `16:09:10.032`, `label` the interval or `avg_2-4`.
pub fn interval_row(time: &str, label: &str, figures: &Figures) -> String {
    format!("{time:>12}{label:>12}{}\n", Table::Summary.cells(figures))
}

/// Texts before the numbers of a flat file's row: names and meanings.
const TEXTS: [(&str, &str); 4] = [
    ("tod", "Time of day"),
    ("timestamp", "Date, time and zone"),
    ("Run", "Name of the run from rd="),
    ("Interval", "Number of the interval"),
];

/// The head of a flat file: what each column is, then their names.
pub fn flat_header() -> String {
    let mut text = String::from(
        "*\n* A row for each interval of each run, its columns separated by blanks.\n*\n",
    );
    let numbers = COLUMNS.iter().map(|column| (column.name, column.meaning));
    let columns: Vec<(&str, &str)> = TEXTS.into_iter().chain(numbers).collect();
    for (name, meaning) in &columns {
        text.push_str(&format!("* {name:<16}: {meaning}\n"));
    }
    text.push_str("* 'n/a'           : Not available, or different values\n* \n");
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let (time, stamp, rest) = (names[0], names[1], names[2..].join(" "));
    text + &format!("{time:>12} {stamp:>23} {rest} \n")
}

/// What a row of the flat file holds in addition to the figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlatRow {
    /// `16:09:12.040`.
    pub time: String,
    /// `11/20/2026-16:09:12-UTC`.
    pub timestamp: String,
    /// The run.
    pub run: Run,
    /// The interval, or `avg_2-4`.
    pub label: String,
    /// What was requested.
    pub reqrate: f64,
    /// The threads that were requested; `None` where storage definitions differ.
    pub threads: Option<f64>,
    /// Size of all storage in GiB; `None` where it is not known.
    pub lunsize: Option<f64>,
    /// 1: none.
    pub compratio: f64,
    /// The duplicates that were requested; `None` where none were.
    pub dedupratio: Option<f64>,
}

impl FlatRow {
    /// The original has no number of a run that ends at the end of its range.
    fn seekpct(&self) -> Option<f64> {
        self.same(|wd| wd.seek.number()).filter(|seek| *seek >= 0.0)
    }

    /// The value that all workloads of the run have; `None` where they differ.
    fn same(&self, value: fn(&Wd) -> f64) -> Option<f64> {
        let mut values = self.run.uses.iter().map(|workload| value(&workload.wd));
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

/// A row of the flat file.
pub fn flat_row(row: &FlatRow, figures: &Figures) -> String {
    // Two blanks come before an average.
    let label = if row.label.starts_with("avg_") {
        format!(" {}", row.label)
    } else {
        row.label.clone()
    };
    let numbers: Vec<String> = COLUMNS
        .iter()
        .map(|column| column.number(row, figures))
        .map(|value| value.map_or("n/a".to_owned(), number))
        .collect();
    format!(
        "{:>12} {} {} {label} {} \n",
        row.time,
        row.timestamp,
        row.run.name.replace(' ', "_"),
        numbers.join(" ")
    )
}

/// At most four decimals, no zeros after them.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let decimals = format!("{value:.4}");
    let text = decimals.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A storage definition or a workload in the skew report.
#[derive(Debug, Clone, PartialEq)]
pub struct SkewRow {
    /// `sd1` or `wd1`.
    pub name: String,
    /// What it did.
    pub figures: Figures,
    /// The share that was requested, in per cent; `None` where it has a rate of its own.
    pub requested: Option<f64>,
}

/// The report of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Skew {
    /// Characters of the longest name in the report.
    pub width: usize,
    /// The processes of several hosts; none where there is one.
    pub slaves: Vec<SkewRow>,
    /// Storage definitions.
    pub sds: Vec<SkewRow>,
    /// Workloads; compared where there are several.
    pub wds: Vec<SkewRow>,
    /// What all did together.
    pub total: Figures,
    /// Whether workloads kept shares.
    pub controlled: bool,
}

/// What comes above the first run.
pub const SKEW_HEAD: &str = "Storage definitions are compared in every run, workloads where a run \
                             has several.\n";
/// Blanks after the longest name.
const MARGIN: usize = 2;
/// The least difference of shares that is shown, in per cent of all operations.
const LEAST_DELTA: f64 = 0.10;

impl Skew {
    /// Its lines; each gets the time of day in front.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        if !self.slaves.is_empty() {
            lines.extend(self.heads("Slave:"));
            lines.extend(
                self.slaves
                    .iter()
                    .map(|row| self.row(&row.name, &row.figures)),
            );
            lines.push(self.row("Total", &self.total));
            lines.push(String::new());
        }
        lines.extend(self.heads("SD:"));
        lines.extend(self.sds.iter().map(|row| self.row(&row.name, &row.figures)));
        lines.push(self.row("Total", &self.total));
        if self.wds.len() > 1 {
            lines.push(String::new());
            lines.extend(self.workloads());
        }
        lines
    }

    /// The table of workloads in the skew report: requested and observed shares of the operations.
    fn workloads(&self) -> Vec<String> {
        let control = if self.controlled {
            "Workloads kept their shares in this run."
        } else {
            "This run was an Uncontrolled MAX: no shares were kept."
        };
        let mut lines = vec![
            format!("Requested and observed skew; a delta is shown from {LEAST_DELTA:.2} % on."),
            control.to_owned(),
            String::new(),
        ];
        let [above, below] = self.heads("WD:");
        lines.push(above + "      skew     skew    skew ");
        lines.push(below + " requested observed   delta ");
        let all = self.total.both().ios.max(1) as f64;
        let mut sum = 0.0;
        for row in &self.wds {
            let observed = row.figures.both().ios as f64 * 100.0 / all;
            sum += observed;
            let requested = row
                .requested
                .map_or("n/a".to_owned(), |requested| format!("{requested:.2}%"));
            let delta = row
                .requested
                .map(|requested| requested - observed)
                .filter(|delta| delta.abs() >= LEAST_DELTA)
                .map_or(String::new(), |delta| format!("{delta:>6.2}%"));
            let figures = self.row(&row.name, &row.figures);
            lines.push(format!("{figures} {requested:>9} {observed:>7.2}% {delta}"));
        }
        let total = self.row("Total", &self.total);
        lines.push(format!("{total} {:>8.2}% {sum:>7.2}%", 100.0));
        lines
    }

    fn heads(&self, what: &str) -> [String; 2] {
        let [above, below] = Table::Skew.heads(false);
        let width = self.width + MARGIN;
        [("", above), (what, below)].map(|(first, line)| format!("{first:<width$}{line}"))
    }

    fn row(&self, name: &str, figures: &Figures) -> String {
        let without_cpu = Figures {
            cpu: None,
            ..*figures
        };
        let width = self.width + MARGIN;
        format!("{name:<width$}{}", Table::Skew.cells(&without_cpu))
    }
}

/// A label, then links to files from column 34 on, eight a line. Each link is a file, without
/// `.html`, and its name.
pub fn links(label: &str, links: &[(&str, &str)]) -> String {
    let mut text = format!("{label:<33}");
    for (index, (file, name)) in links.iter().enumerate() {
        match index {
            0 => {}
            _ if index % 8 == 0 => text.push_str(&format!("\n{:<33}", "")),
            _ => text.push(' '),
        }
        text.push_str(&format!("<A HREF=\"{file}.html\">{name}</A>"));
        // Of several, each takes eight columns at least.
        if links.len() > 1 {
            text.push_str(&" ".repeat(8_usize.saturating_sub(name.len())));
        }
    }
    text + "\n"
}

/// Links to where each run begins, one a line. For a run that differs from the one before in its
/// last word alone, only that word is a link, below the last word of the line before.
pub fn run_links(runs: &[&Run]) -> String {
    let mut text = String::new();
    let mut before: Vec<String> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let label = format!("{} {}", run.name, run.loops.text());
        let words: Vec<String> = label.split(' ').map(str::to_owned).collect();
        let stem = &words[..words.len() - 1];
        let only_last_differs = words.len() == before.len() && before.starts_with(stem);
        let shown = if only_last_differs {
            words[words.len() - 1].clone()
        } else {
            label.clone()
        };
        let title = if index == 0 {
            "Link to Run Definitions:"
        } else {
            ""
        };
        let indent = " ".repeat(label.len() - shown.len());
        let line = format!("{title:<33}{indent}<A HREF=\"#_{index}\">{shown}</A>\n");
        text.push_str(&line);
        before = words;
    }
    text
}

/// Where a run begins.
pub fn anchor(index: usize, clock: &str, banner: &str) -> String {
    format!("\n<a name=\"_{index}\"></a><i><b>{clock} {banner}</b></i>\n\n")
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Name of the run.
    pub run: String,
    /// What was requested; `None` for a maximum.
    pub requested: Option<f64>,
    /// Operations a second that were done.
    pub rate: f64,
    /// Mean from submission to completion, in milliseconds.
    pub service_ms: f64,
    /// Mean from the intended start to completion, in milliseconds; `None` without a rate to start
    /// at.
    pub response_ms: Option<f64>,
}

/// A line for each point of a curve. The first is the maximum, which has no rate and so no response
/// time.
pub fn curve_text(name: &str, points: &[CurvePoint]) -> String {
    let mut text = format!(
        "Curve {name}: mean latency against rate\n{:<24}{:>12}{:>12}{:>14}{:>14}\n",
        "run", "requested", "rate", "service ms", "response ms"
    );
    for point in points {
        let requested = point
            .requested
            .map_or("max".to_owned(), |requested| format!("{requested:.0}"));
        let response = point
            .response_ms
            .map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        text.push_str(&format!(
            "{:<24}{requested:>12}{:>12.1}{:>14.3}{response:>14}\n",
            point.run, point.rate, point.service_ms
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_record::Served;
    use blocklab_workload::Mix;

    use crate::plan::{own_run, own_use};

    fn figures() -> Figures {
        let sum = |ios: u64, mean: f64, max: u64| Served {
            ios,
            bytes: ios * 8192,
            sum_ns: mean * 1e6 * ios as f64,
            sum_squares: (mean * 1e6) * (mean * 1e6) * ios as f64,
            max_ns: max,
            ..Served::default()
        };
        Figures {
            seconds: 1.0,
            read: sum(1364, 0.209, 4_230_000),
            write: sum(1302, 0.222, 8_050_000),
            cpu: Some(Cpu {
                user: 16.7,
                kernel: 67.6,
                wait: 0.0,
                idle: 15.7,
            }),
        }
    }

    #[test]
    fn rows_have_the_columns_of_the_original() {
        let head = heading("Nov 20, 2026", true);
        let lines: Vec<&str> = head.lines().collect();
        assert_eq!(
            lines[0],
            "Nov 20, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%"
        );
        assert_eq!(
            lines[1],
            "                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys"
        );
        let row = interval_row("16:09:10.032", "2", &figures());
        assert_eq!(
            row,
            "16:09:10.032           2     2666.0    20.83    8192  51.16    0.215    0.209    0.222     4.23     8.05    0.006    0.6  84.3  67.6\n"
        );
    }

    /// In virtual time no processor does the work, and the columns showed 0.0. The lines are those of
    /// a run of 5.04.07 on a host without figures of its processors.
    #[test]
    fn what_is_not_known_of_processors_has_no_columns() {
        let head = heading("May 10, 2023", false);
        let lines: Vec<&str> = head.lines().collect();
        assert_eq!(
            lines[0],
            "May 10, 2023    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue "
        );
        assert_eq!(
            lines[1],
            "                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth "
        );
        let unknown = Figures {
            cpu: None,
            ..figures()
        };
        let row = interval_row("16:09:10.032", "2", &unknown);
        assert!(row.ends_with("   0.6 \n"), "{row}");
    }

    /// The two blanks before `avg_` were at the beginning of the row, `version` and `dedupratio`
    /// were filled, and formatting carried the figures of the first workload. The rows are those
    /// of a run of 5.04.07, whose head has them in the same places.
    #[test]
    fn rows_of_the_flat_file_are_those_of_the_original() {
        let head = flat_header();
        let names = head.lines().last().unwrap_or_default();
        let begin = "         tod               timestamp Run Interval reqrate rate ";
        assert!(
            names.starts_with(begin) && names.ends_with(" cpu_idle "),
            "{names}"
        );
        let sum = Served {
            ios: 320,
            bytes: 320 * 131_072,
            sum_ns: 320.0 * 54_850.0,
            sum_squares: 320.0 * (54_850.0 * 54_850.0 + 59_520.0 * 59_520.0),
            max_ns: 537_000,
            ..Served::default()
        };
        let figures = Figures {
            seconds: 1.0,
            write: sum,
            ..Figures::default()
        };
        let mut row = FlatRow {
            time: "21:16:09.042".to_owned(),
            timestamp: "05/10/2023-21:16:09-CST".to_owned(),
            run: own_run(
                "SD_format",
                2,
                vec![own_use("SD_format", 131_072, Mix::WRITE, vec![0])],
            ),
            label: "1".to_owned(),
            reqrate: 9_999_988.0,
            threads: Some(2.0),
            lunsize: Some(0.0391),
            compratio: 1.0,
            dedupratio: None,
        };
        assert_eq!(
            flat_row(&row, &figures),
            "21:16:09.042 05/10/2023-21:16:09-CST SD_format 1 9999988 320 40 131072 0 0.0549 0 0.0549 0.537 0 0.537 0.0595 0 0.0595 131072 2 0 0 0 n/a 0.0391 n/a 1 n/a 0.0176 n/a n/a n/a n/a n/a \n"
        );
        row.label = "avg_2-1".to_owned();
        let begin = "21:16:09.042 05/10/2023-21:16:09-CST SD_format  avg_2-1 9999988 ";
        assert!(flat_row(&row, &figures).starts_with(begin));
    }

    #[test]
    fn the_flat_file_has_34_columns() {
        let names = flat_header().lines().last().unwrap().to_owned();
        assert_eq!(names.split_whitespace().count(), 34);
        let row = FlatRow {
            time: "16:09:12.040".to_owned(),
            timestamp: "11/20/2026-16:09:12-UTC".to_owned(),
            run: Run {
                name: "rd1_(10%)".to_owned(),
                ..Run::default()
            },
            label: "avg_2-4".to_owned(),
            reqrate: 2700.0,
            ..FlatRow::default()
        };
        let line = flat_row(&row, &figures());
        assert_eq!(line.split_whitespace().count(), 34);
        assert!(line.starts_with("16:09:12.040 11/20/2026-16:09:12-UTC rd1_(10%)  avg_2-4 2700 2666 20.8281 8192 51.1628 0.2153 "), "{line}");
    }

    fn shares(reads: u64, writes: u64) -> Figures {
        let sum = |ios: u64, mean: f64| Served {
            ios,
            bytes: ios * 4096,
            sum_ns: mean * 1e6 * ios as f64,
            sum_squares: (mean * 1e6) * (mean * 1e6) * ios as f64,
            max_ns: 537_000,
            ..Served::default()
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
            requested: Some(50.0),
        };
        let (first, second) = (shares(312, 155), shares(400, 115));
        let report = Skew {
            width: "localhost-0".len(),
            slaves: Vec::new(),
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

    #[test]
    fn links_begin_in_column_34() {
        assert_eq!(
            links("Link to logfile:", &[("logfile", "logfile")]),
            "Link to logfile:                 <A HREF=\"logfile.html\">logfile</A>\n"
        );
        assert_eq!(
            links("Link to SD reports:", &[("sd1", "sd1"), ("sd2", "sd2")]),
            "Link to SD reports:              <A HREF=\"sd1.html\">sd1</A>      \
             <A HREF=\"sd2.html\">sd2</A>     \n"
        );
        let nine = ["sd"; 9].map(|name| (name, name));
        let lines = links("Link to SD reports:", &nine);
        let [first, second] = lines.lines().collect::<Vec<_>>()[..] else {
            panic!("{lines}");
        };
        assert_eq!(first.matches("HREF").count(), 8, "{lines}");
        assert_eq!(second.find("<A HREF"), Some(33), "{lines}");
        assert_eq!(
            links("Link to SD reports:", &[]).trim_end(),
            "Link to SD reports:"
        );
    }

    fn point(rate: f64, ms: f64) -> CurvePoint {
        CurvePoint {
            run: format!("rd1_({rate}%)"),
            requested: Some(rate),
            rate,
            service_ms: ms / 2.0,
            response_ms: Some(ms),
        }
    }

    #[test]
    fn a_curve_is_a_table() {
        let mut points = vec![point(5000.0, 0.25), point(8000.0, 0.4)];
        points[0].requested = None;
        points[0].response_ms = None;
        assert_eq!(
            curve_text("rd1", &points),
            "Curve rd1: mean latency against rate\n\
             run                        requested        rate    service ms   response ms\n\
             rd1_(5000%)                      max      5000.0         0.125             -\n\
             rd1_(8000%)                     8000      8000.0         0.200         0.400\n"
        );
    }
}
