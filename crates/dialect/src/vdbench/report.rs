//! Reports in the layout of Vdbench 5.04.07.

use super::figures::Figures;

/// The two lines above the rows of a summary; `date` is `Nov 20, 2026`.
#[must_use]
pub fn heading(date: &str) -> String {
    let columns = |first: &str, second: &str, rest: [&str; 12]| {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = rest;
        format!(
            "{first:>12}{second:>12}{a:>11}{b:>9}{c:>8}{d:>7}{e:>9}{f:>9}{g:>9}{h:>9}{i:>9}{j:>9}{k:>7}{l:>12}\n"
        )
    };
    columns(
        date,
        "interval",
        [
            "i/o",
            "MB/sec",
            "bytes",
            "read",
            "resp",
            "read",
            "write",
            "read",
            "write",
            "resp",
            "queue",
            "cpu%  cpu%",
        ],
    ) + &columns(
        "",
        "",
        [
            "rate",
            "1024**2",
            "i/o",
            "pct",
            "time",
            "resp",
            "resp",
            "max",
            "max",
            "stddev",
            "depth",
            "sys+u   sys",
        ],
    )
}

/// A row of a summary: `time` is `16:09:10.032`, `label` the interval or `avg_2-4`.
#[must_use]
pub fn interval_row(time: &str, label: &str, figures: &Figures) -> String {
    let both = figures.both();
    let cpu = figures.cpu.unwrap_or_default();
    format!(
        "{time:>12}{label:>12}{:>11.1}{:>9.2}{:>8.0}{:>7.2}{:>9.3}{:>9.3}{:>9.3}{:>9.2}{:>9.2}{:>9.3}{:>7.1}{:>6.1}{:>6.1}\n",
        figures.rate(),
        figures.mib(),
        figures.bytes_per_io().floor(),
        figures.read_percent(),
        both.resp(),
        figures.read.resp(),
        figures.write.resp(),
        figures.read.max(),
        figures.write.max(),
        both.std(),
        figures.depth(),
        cpu.used(),
        cpu.kernel,
    )
}

/// Names and meanings of the flat file's columns.
pub const FLAT_COLUMNS: [(&str, &str); 34] = [
    ("tod", "Time of day"),
    ("timestamp", "Date, time and zone"),
    ("Run", "Name of the run from rd="),
    ("Interval", "Number of the interval"),
    ("reqrate", "I/O rate that was asked for"),
    ("rate", "I/O rate that was observed"),
    ("MB/sec", "MiB a second"),
    ("bytes/io", "Mean size of an operation"),
    ("read%", "Share of reads"),
    ("resp", "Mean response time in ms"),
    ("read_resp", "Mean response time of reads in ms"),
    ("write_resp", "Mean response time of writes in ms"),
    ("resp_max", "Longest response time in ms"),
    ("read_max", "Longest response time of reads in ms"),
    ("write_max", "Longest response time of writes in ms"),
    ("resp_std", "Standard deviation of the response time in ms"),
    ("read_std", "Standard deviation of reads in ms"),
    ("write_std", "Standard deviation of writes in ms"),
    ("xfersize", "Size of an operation that was asked for"),
    ("threads", "Threads that were asked for"),
    ("rdpct", "Share of reads that was asked for"),
    ("rhpct", "Share of read hits that was asked for"),
    ("whpct", "Share of write hits that was asked for"),
    ("seekpct", "Share of seeks that was asked for"),
    ("lunsize", "Size of all storage in GiB"),
    ("version", "Version of the layout"),
    ("compratio", "Compression that was asked for"),
    ("dedupratio", "Duplicates that were asked for"),
    ("queue_depth", "Mean operations in flight"),
    ("cpu_used", "Processors: user and system, in per cent"),
    ("cpu_user", "Processors: user, in per cent"),
    ("cpu_kernel", "Processors: system, in per cent"),
    ("cpu_wait", "Processors: waiting, in per cent"),
    ("cpu_idle", "Processors: idle, in per cent"),
];

/// The head of a flat file: what each column is, then their names.
#[must_use]
pub fn flat_header() -> String {
    let mut text = String::from(
        "*\n* A row for each interval of each run, its columns separated by blanks.\n*\n",
    );
    for (name, meaning) in FLAT_COLUMNS {
        text.push_str(&format!("* {name:<16}: {meaning}\n"));
    }
    text.push_str("* 'n/a'           : Not available, or different values\n* \n");
    let names: Vec<&str> = FLAT_COLUMNS.iter().skip(1).map(|(name, _)| *name).collect();
    text + &format!("{:>12} {}\n", FLAT_COLUMNS[0].0, names.join(" "))
}

/// What a row of the flat file holds besides the figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlatRow {
    /// `16:09:12.040`.
    pub time: String,
    /// `11/20/2026-16:09:12-UTC`.
    pub timestamp: String,
    /// Name of the run.
    pub run: String,
    /// The interval, or `avg_2-4`.
    pub label: String,
    /// What was asked for.
    pub reqrate: f64,
    /// Nothing where workloads differ.
    pub xfersize: Option<f64>,
    /// Nothing where storage definitions differ.
    pub threads: Option<f64>,
    /// Nothing where workloads differ.
    pub rdpct: Option<f64>,
    /// Nothing where workloads differ.
    pub rhpct: Option<f64>,
    /// Nothing where workloads differ.
    pub whpct: Option<f64>,
    /// Nothing where workloads differ.
    pub seekpct: Option<f64>,
    /// GiB.
    pub lunsize: f64,
    /// 1: none.
    pub compratio: f64,
    /// 1: none.
    pub dedupratio: f64,
}

/// A row of the flat file. That of an average is preceded by two blanks.
#[must_use]
pub fn flat_row(row: &FlatRow, figures: &Figures) -> String {
    let both = figures.both();
    let some = |value: Option<f64>| value.map_or("n/a".to_owned(), number);
    let cpu = |of: fn(&super::figures::Cpu) -> f64| some(figures.cpu.as_ref().map(of));
    let values = [
        row.timestamp.clone(),
        row.run.replace(' ', "_"),
        row.label.clone(),
        number(row.reqrate),
        number(figures.rate()),
        number(figures.mib()),
        number(figures.bytes_per_io()),
        number(figures.read_percent()),
        number(both.resp()),
        number(figures.read.resp()),
        number(figures.write.resp()),
        number(both.max()),
        number(figures.read.max()),
        number(figures.write.max()),
        number(both.std()),
        number(figures.read.std()),
        number(figures.write.std()),
        some(row.xfersize),
        some(row.threads),
        some(row.rdpct),
        some(row.rhpct),
        some(row.whpct),
        some(row.seekpct),
        number(row.lunsize),
        "vdbench50407".to_owned(),
        number(row.compratio),
        number(row.dedupratio),
        number(figures.depth()),
        cpu(super::figures::Cpu::used),
        cpu(|cpu| cpu.user),
        cpu(|cpu| cpu.kernel),
        cpu(|cpu| cpu.wait),
        cpu(|cpu| cpu.idle),
    ];
    let before = if row.label.starts_with("avg_") {
        "  "
    } else {
        ""
    };
    format!("{before}{:>12} {}\n", row.time, values.join(" "))
}

/// At most four decimals, no zeros behind them.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A workload or a storage definition in the skew report.
#[derive(Debug, Clone, PartialEq)]
pub struct SkewRow {
    /// `wd1` or `sd1`.
    pub name: String,
    /// What it did.
    pub figures: Figures,
    /// The share that was asked for, in per cent; nothing where none was.
    pub asked: Option<f64>,
}

/// Shares asked for and observed; a difference above 0.10 is marked.
#[must_use]
pub fn skew_table(what: &str, rows: &[SkewRow]) -> String {
    let all: u64 = rows.iter().map(|row| row.figures.both().ios).sum();
    let mut text = format!(
        "{:<12}{:>12}{:>12}{:>10}{:>10}{:>9}{:>12}{:>12}{:>10}\n",
        what, "i/o rate", "MB/sec", "bytes", "rdpct", "resp", "skew", "skew", "skew"
    );
    text.push_str(&format!(
        "{:<12}{:>12}{:>12}{:>10}{:>10}{:>9}{:>12}{:>12}{:>10}\n",
        "", "", "", "i/o", "", "time", "requested", "observed", "delta"
    ));
    for row in rows {
        let figures = &row.figures;
        let observed = figures.both().ios as f64 * 100.0 / all.max(1) as f64;
        let delta = row.asked.map(|asked| observed - asked);
        let shown =
            |value: Option<f64>| value.map_or("n/a".to_owned(), |value| format!("{value:.2}%"));
        let marked = delta.filter(|delta| delta.abs() > 0.10);
        text.push_str(&format!(
            "{:<12}{:>12.2}{:>12.2}{:>10.0}{:>10.2}{:>9.3}{:>12}{:>11.2}%{:>10}\n",
            row.name,
            figures.rate(),
            figures.mib(),
            figures.bytes_per_io(),
            figures.read_percent(),
            figures.both().resp(),
            shown(row.asked),
            observed,
            marked.map_or(String::new(), |delta| format!("{delta:.2}%")),
        ));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vdbench::{Cpu, Sum};

    fn figures() -> Figures {
        let sum = |ios: u64, mean: f64, max: u64| Sum {
            ios,
            bytes: ios * 8192,
            sum_ns: mean * 1e6 * ios as f64,
            sum_squares: (mean * 1e6) * (mean * 1e6) * ios as f64,
            max_ns: max,
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
        let head = heading("Nov 20, 2026");
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

    #[test]
    fn the_flat_file_has_34_columns() {
        let names = flat_header().lines().last().unwrap().to_owned();
        assert_eq!(names.split_whitespace().count(), 34);
        let row = FlatRow {
            time: "16:09:12.040".to_owned(),
            timestamp: "11/20/2026-16:09:12-UTC".to_owned(),
            run: "rd1_(10%)".to_owned(),
            label: "avg_2-4".to_owned(),
            reqrate: 2700.0,
            ..FlatRow::default()
        };
        let line = flat_row(&row, &figures());
        assert_eq!(line.split_whitespace().count(), 34);
        assert!(line.starts_with("  16:09:12.040 11/20/2026-16:09:12-UTC rd1_(10%) avg_2-4 2700 2666 20.8281 8192 51.1628 0.2153 "), "{line}");
    }

    #[test]
    fn skew_is_marked_when_it_is_off() {
        let row = |name: &str, asked| SkewRow {
            name: name.to_owned(),
            figures: figures(),
            asked: Some(asked),
        };
        let text = skew_table("wd", &[row("wd1", 50.0), row("wd2", 49.0)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].trim_end().ends_with("50.00%"), "{text}");
        assert!(lines[3].trim_end().ends_with("1.00%"), "{text}");
    }
}
