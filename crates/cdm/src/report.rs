//! The block of text that people paste, in the layouts of the versions.

use blocklab_record::{Record, TargetFacts, TargetKind};
use blocklab_units::Bytes;
use serde_json::{Value, json};

use super::figures::{Row, rows};
use super::{Settings, Version, mix_title};

/// What the report states of the run and no record holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFacts {
    /// Whether the run had all rights.
    pub admin: bool,
    /// The processor architecture, as Rust names it: `x86_64`.
    pub arch: String,
    /// The user's own line, the last one of the report.
    pub comment: Option<String>,
}

/// The report block. Lines end with a line feed alone; the original's end with CR LF.
pub fn report(record: &Record, settings: &Settings, facts: &RunFacts) -> String {
    let rows = rows(record, settings);
    match settings.choices.version {
        Version::V5 | Version::V6 => older(record, settings, facts, &rows),
        Version::V8 | Version::V9 => newer(record, settings, facts, &rows),
    }
}

/// The processor architecture as Windows calls it.
fn arch(facts: &RunFacts) -> &str {
    match &*facts.arch {
        "x86_64" => "x64",
        "aarch64" => "ARM64",
        "x86" => "x86",
        other => other,
    }
}

/// Characters of a line of dashes in the layouts of versions 8 and 9.
const WIDTH: usize = 78;

/// Characters of a line of dashes in the layouts of versions 5 and 6.
const OLDER_WIDTH: usize = 71;

/// Dashes, the name, the original's own address right-aligned, dashes, units.
fn head(
    record: &Record,
    settings: &Settings,
    facts: &RunFacts,
    width: usize,
    home: &str,
) -> String {
    let dashes = "-".repeat(width);
    format!(
        "{dashes}\nCrystalDiskMark {} {} layout, measured by {}\n{home:>width$}\n{dashes}\n\
         * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n\
         * KB = 1000 bytes, KiB = 1024 bytes\n\n",
        settings.choices.version.release(),
        arch(facts),
        record.tool
    )
}

/// The report in the layouts of versions 8 and 9.
fn newer(record: &Record, settings: &Settings, facts: &RunFacts, rows: &[Row]) -> String {
    let home = "Crystal Dew World: https://crystalmark.info/";
    let mut text = head(record, settings, facts, WIDTH, home);
    for mix in &settings.mixes {
        text.push_str(&match mix.read {
            0 | 100 => format!("[{}]\n", mix_title(*mix)),
            read => format!("[Mix] Read {read}%/Write {}%\n", mix.write),
        });
        for row in rows.iter().filter(|row| row.mix == *mix) {
            text.push_str(&newer_row(row));
        }
        text.push('\n');
    }
    text.push_str(&newer_foot(record, settings, facts));
    text
}

/// `  SEQ    1MiB (Q=  8, T= 1):  4194.304 MB/s [   4000.0 IOPS] <    52.30 us>`.
fn newer_row(row: &Row) -> String {
    let test = row.test;
    let (number, unit) = test.size();
    // Zeros where nothing was measured, as the original shows.
    let shown = row.shown.unwrap_or_default();
    format!(
        "  {} {number:>4}{unit} (Q={:>3}, T={:>2}): {:>9.3} MB/s [{:>9.1} IOPS] <{:>9.2} us>\n",
        test.word(),
        test.queues,
        test.threads,
        shown.mb_per_s,
        row.iops(),
        shown.latency_us
    )
}

/// The lines below the results in the layouts of versions 8 and 9.
fn newer_foot(record: &Record, settings: &Settings, facts: &RunFacts) -> String {
    let zero = if settings.choices.zero_fill {
        " <0Fill>"
    } else {
        ""
    };
    let admin = if facts.admin { " [Admin]" } else { "" };
    let mut foot = format!(
        "Profile: {}\n   Test: {} (x{}) [{}]{zero}\n   Mode:{admin}\n   Time: Measure {} sec / \
         Interval {} sec \n   Date: {}\n     OS: {} [{}] ({})\n",
        settings.choices.profile.title(),
        test_size(settings.choices.size),
        settings.loops,
        drive_text(record, settings.choices.version),
        settings.measure.as_secs_f64(),
        settings.interval.as_secs_f64(),
        date(record),
        record.environment.os,
        record.environment.kernel,
        arch(facts)
    );
    if let Some(comment) = comment(facts) {
        foot.push_str(&format!("Comment: {comment}\n"));
    }
    foot
}

/// The user's own line, without line breaks in it.
fn comment(facts: &RunFacts) -> Option<String> {
    let comment = facts.comment.as_ref()?;
    Some(comment.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The report in the layouts of versions 5 and 6.
fn older(record: &Record, settings: &Settings, facts: &RunFacts, rows: &[Row]) -> String {
    let home = match settings.choices.version {
        Version::V5 => "Crystal Dew World : http://crystalmark.info/",
        _ => "Crystal Dew World : https://crystalmark.info/",
    };
    let mut text = head(record, settings, facts, OLDER_WIDTH, home);
    for test in &settings.tests {
        for row in rows.iter().filter(|row| row.test == *test) {
            text.push_str(&older_row(row, settings.choices.version));
        }
    }
    let zero = if settings.choices.zero_fill {
        " <0Fill>"
    } else {
        ""
    };
    text.push_str(&format!(
        "\n  Test : {} MiB [{}] (x{}){zero}  [Interval={} sec]\n  Date : {}\n    OS : {} [{}] ({})\n  {}\n",
        settings.choices.size.0 >> 20,
        drive_text(record, settings.choices.version),
        settings.loops,
        settings.interval.as_secs_f64(),
        date(record),
        record.environment.os,
        record.environment.kernel,
        arch(facts),
        comment(facts).unwrap_or_default()
    ));
    text
}

/// A row of a test in the layouts of versions 5 and 6.
fn older_row(row: &Row, version: Version) -> String {
    let test = row.test;
    let mix = mix_title(row.mix);
    let (queues, threads) = (test.queues, test.threads);
    let label = match (test.random, version, queues) {
        (false, Version::V5, 1) => format!("Sequential {mix} (T={threads:>2})"),
        (false, ..) => format!("Sequential {mix} (Q={queues:>3},T={threads:>2})"),
        (true, Version::V5, 1) => format!("Random {mix} 4KiB (Q={queues:>2},T={threads:>2})"),
        (true, ..) => format!("Random {mix} 4KiB (Q={queues:>3},T={threads:>2})"),
    };
    // Zeros where nothing was measured, as the original shows.
    let shown = row.shown.unwrap_or_default();
    let mut line = format!("{label:>31} : {:>9.3} MB/s", shown.mb_per_s);
    if test.random {
        let width = if version == Version::V5 { 8 } else { 9 };
        line.push_str(&format!(" [{:>width$.1} IOPS]", row.iops()));
    }
    line.push('\n');
    line
}

/// `1 GiB`, `512 MiB`.
fn test_size(size: Bytes) -> String {
    match size.0 % Bytes::GIB.0 {
        0 => format!("{} GiB", size.0 >> 30),
        _ => format!("{} MiB", size.0 >> 20),
    }
}

/// The drive that a report names, in bytes.
struct Drive<'a> {
    /// The mount point, in place of the drive's letter, or the path of the target.
    name: &'a str,
    used: u64,
    size: u64,
}

impl<'a> Drive<'a> {
    fn below(target: &'a TargetFacts) -> Self {
        let size = target.size_bytes.0;
        match &target.file_system {
            Some(fs) => Self {
                name: &fs.mount_point,
                used: fs.size_bytes.0.saturating_sub(fs.free_bytes.0),
                size: fs.size_bytes.0,
            },
            None => Self {
                name: &target.path,
                // A model stores nothing; a device without a file system may hold data anywhere.
                used: if target.kind == TargetKind::Model {
                    0
                } else {
                    size
                },
                size,
            },
        }
    }
}

/// `C: 96% (894/932GiB)`, or of the older versions `C: 26.4% (122.8/465.2 GiB)`.
fn drive_text(record: &Record, version: Version) -> String {
    let Some(drive) = record.targets.first().map(Drive::below) else {
        return String::new();
    };
    let Drive { name, used, size } = drive;
    let percent = 100.0 * used as f64 / size.max(1) as f64;
    if version.has_profiles() {
        let (used, size) = (used >> 30, size >> 30);
        return format!("{name}: {percent:.0}% ({used}/{size}GiB)");
    }
    let [used, size] = [used, size].map(|bytes| bytes as f64 / Bytes::GIB.as_f64());
    format!("{name}: {percent:.1}% ({used:.1}/{size:.1} GiB)")
}

/// `2024-05-25T19:26:52Z` as `2024/05/25 19:26:52`, the hour without a leading zero, in UTC.
fn date(record: &Record) -> String {
    let at = &record.finished_at;
    let (day, time) = at.split_once('T').unwrap_or((at, ""));
    let seconds = time.get(..8).unwrap_or(time);
    let short = seconds.strip_prefix('0').unwrap_or(seconds);
    format!("{} {short}", day.replace('-', "/"))
}

/// The statistic over its passes that a row shows.
const fn shown_statistic(settings: &Settings) -> &'static str {
    if settings.choices.average {
        "mean"
    } else {
        "best"
    }
}

/// Every pass of every test in MB/s, with what the best one hides: the median, and how far the
/// passes differ.
pub fn all_passes(record: &Record, settings: &Settings) -> String {
    let rows = rows(record, settings);
    let most = rows.iter().map(|row| row.passes.len()).max().unwrap_or(0);
    let shown = shown_statistic(settings);
    let mut text = format!("{:<22}", "MB/s of every pass");
    for pass in 1..=most {
        text.push_str(&format!("{:>11}", format!("pass {pass}")));
    }
    text.push_str(&format!("{shown:>11}{:>11}{:>9}\n", "median", "spread"));
    for row in &rows {
        text.push_str(&passes_row(row, most));
    }
    text.push_str("\nspread: from the slowest to the fastest pass, in per cent of the median.\n");
    if !settings.choices.average {
        text.push_str("The report shows the lowest latency of any pass of a test, not that of the fastest pass.\n");
    }
    text
}

/// The figures of each pass, in columns for `most` of them, and their statistics.
fn passes_row(row: &Row, most: usize) -> String {
    let (mix, test) = (mix_title(row.mix), row.test);
    let name = format!("{mix} {} {}", test.kind(), test.queue());
    let mut line = format!("{name:<22}");
    for pass in 0..most {
        let figure = row
            .passes
            .get(pass)
            .map(|pass| format!("{:.3}", pass.mb_per_s));
        line.push_str(&format!("{:>11}", figure.unwrap_or_default()));
    }
    let Some((median, spread)) = median_and_spread(row) else {
        return format!("{line}{:>11}\n", "none");
    };
    line.push_str(&format!(
        "{:>11.3}{median:>11.3}{spread:>7.1} %\n",
        row.shown.unwrap_or_default().mb_per_s
    ));
    line
}

/// Median of the passes in MB/s, and their range in per cent of it; `None` without a pass.
fn median_and_spread(row: &Row) -> Option<(f64, f64)> {
    let mut speeds: Vec<f64> = row.passes.iter().map(|pass| pass.mb_per_s).collect();
    speeds.sort_by(f64::total_cmp);
    let (first, last) = (speeds.first()?, speeds.last()?);
    let half = speeds.len() / 2;
    let median = match speeds.len() % 2 {
        0 => f64::midpoint(speeds[half - 1], speeds[half]),
        _ => speeds[half],
    };
    let range = (last - first) * 100.0;
    Some((median, if median > 0.0 { range / median } else { 0.0 }))
}

/// Shape of what [`json`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 1;

/// The figures of the report as JSON.
pub fn json(record: &Record, settings: &Settings) -> String {
    let rows: Vec<Value> = rows(record, settings).iter().map(json_row).collect();
    let value = json!({
        "cdm_format": FORMAT,
        "run": record.id,
        "layout": settings.choices.version.release(),
        "profile": settings.choices.profile.title(),
        "size_bytes": settings.choices.size.0,
        "loops": settings.loops,
        "measure_s": settings.measure.as_secs_f64(),
        "interval_s": settings.interval.as_secs_f64(),
        "taken": shown_statistic(settings),
        "status": record.status,
        "origin": record.origin,
        "rows": rows,
    });
    let mut text = serde_json::to_string_pretty(&value).expect("plain values");
    text.push('\n');
    text
}

fn json_row(row: &Row) -> Value {
    let mut passes = Vec::new();
    for pass in &row.passes {
        passes.push(json!({"mb_per_s": pass.mb_per_s, "latency_us": pass.latency_us}));
    }
    json!({
        "test": format!("{} {}", row.test.kind(), row.test.queue()),
        "direction": mix_title(row.mix).to_lowercase(),
        "read_percent": row.mix.read,
        "mb_per_s": row.shown.map(|shown| shown.mb_per_s),
        "iops": row.shown.map(|_| row.iops()),
        "latency_us": row.shown.map(|shown| shown.latency_us),
        "passes": passes,
    })
}
