//! Reports in the layout of Vdbench 5.04.07.

use super::figures::Figures;

/// The two lines above the rows of a summary; `date` is `Nov 20, 2026`. Without `has_cpu` there are
/// no columns of processors.
#[must_use]
pub fn heading(date: &str, has_cpu: bool) -> String {
    let line = |first: &str, second: &str, rest: [&str; 11], cpu: &str| {
        let [a, b, c, d, e, f, g, h, i, j, k] = rest;
        let cpu = if has_cpu { cpu } else { "" };
        format!(
            "{first:>12}{second:>12}{a:>11}{b:>9}{c:>8}{d:>7}{e:>9}{f:>9}{g:>9}{h:>9}{i:>9}{j:>9}{k:>7} {cpu}\n"
        )
    };
    let above = [
        "i/o", "MB/sec", "bytes", "read", "resp", "read", "write", "read", "write", "resp", "queue",
    ];
    let below = [
        "rate", "1024**2", "i/o", "pct", "time", "resp", "resp", "max", "max", "stddev", "depth",
    ];
    line(date, "interval", above, " cpu%  cpu%") + &line("", "", below, "sys+u   sys")
}

/// A row of a summary: `time` is `16:09:10.032`, `label` the interval or `avg_2-4`.
#[must_use]
pub fn interval_row(time: &str, label: &str, figures: &Figures) -> String {
    let both = figures.both();
    let cpu = figures.cpu.map_or(String::new(), |cpu| {
        format!("{:>5.1} {:>5.1}", cpu.used(), cpu.kernel)
    });
    format!(
        "{time:>12}{label:>12}{:>11.1}{:>9.2}{:>8.0}{:>7.2}{:>9.3}{:>9.3}{:>9.3}{:>9.2}{:>9.2}{:>9.3}{:>7.1} {cpu}\n",
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
    ("version", "Not available"),
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
    text + &format!(
        "{:>12} {:>23} {} \n",
        FLAT_COLUMNS[0].0,
        names[0],
        names[1..].join(" ")
    )
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
    /// Nothing where none was asked for.
    pub dedupratio: Option<f64>,
}

/// A row of the flat file.
#[must_use]
pub fn flat_row(row: &FlatRow, figures: &Figures) -> String {
    let both = figures.both();
    let some = |value: Option<f64>| value.map_or("n/a".to_owned(), number);
    // Before an average stand two blanks.
    let label = match row.label.starts_with("avg_") {
        true => format!(" {}", row.label),
        false => row.label.clone(),
    };
    let cpu = |of: fn(&super::figures::Cpu) -> f64| some(figures.cpu.as_ref().map(of));
    let values = [
        row.timestamp.clone(),
        row.run.replace(' ', "_"),
        label,
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
        "n/a".to_owned(),
        number(row.compratio),
        some(row.dedupratio),
        number(figures.depth()),
        cpu(super::figures::Cpu::used),
        cpu(|cpu| cpu.user),
        cpu(|cpu| cpu.kernel),
        cpu(|cpu| cpu.wait),
        cpu(|cpu| cpu.idle),
    ];
    format!("{:>12} {} \n", row.time, values.join(" "))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cpu, Sum};

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

    /// In virtual time no processor does the work, and the columns said 0.0. The lines are those of
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

    /// The two blanks before `avg_` stood at the beginning of the row, `version` and `dedupratio`
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
        let sum = Sum {
            ios: 320,
            bytes: 320 * 131_072,
            sum_ns: 320.0 * 54_850.0,
            sum_squares: 320.0 * (54_850.0 * 54_850.0 + 59_520.0 * 59_520.0),
            max_ns: 537_000,
        };
        let figures = Figures {
            seconds: 1.0,
            write: sum,
            ..Figures::default()
        };
        let mut row = FlatRow {
            time: "21:16:09.042".to_owned(),
            timestamp: "05/10/2023-21:16:09-CST".to_owned(),
            run: "SD_format".to_owned(),
            label: "1".to_owned(),
            reqrate: 9_999_988.0,
            xfersize: Some(131_072.0),
            threads: Some(2.0),
            rdpct: Some(0.0),
            rhpct: Some(0.0),
            whpct: Some(0.0),
            seekpct: None,
            lunsize: 0.0391,
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
            run: "rd1_(10%)".to_owned(),
            label: "avg_2-4".to_owned(),
            reqrate: 2700.0,
            ..FlatRow::default()
        };
        let line = flat_row(&row, &figures());
        assert_eq!(line.split_whitespace().count(), 34);
        assert!(line.starts_with("16:09:12.040 11/20/2026-16:09:12-UTC rd1_(10%)  avg_2-4 2700 2666 20.8281 8192 51.1628 0.2153 "), "{line}");
    }
}
