//! In: the text or JSON of iostat, `sar -d` and `sadf -j`. Out: the figures of one device per second.
//!
//! Columns are found by their titles, which have changed over the years; a kB is 1,024 bytes, a sector
//! 512. A report is about the interval that ends with it. The first report of iostat is the mean since
//! the boot of the machine.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use blocklab_units::{Nanos, agreeing, plural};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::SECOND;

use super::{Metric, Sample, Samples, WantedRates, figure, interval_length};

/// The most that a clock is taken to have been set back between two reports: an hour of daylight saving
/// time, and as much for reports that are missing.
const FARTHEST_STEP_BACK_NS: u64 = 2 * 3600 * SECOND;

/// Titles of columns, with their metric and their unit (in bytes, or 1).
const COLUMNS: [(&str, Metric, f64); 21] = [
    ("r/s", Metric::Reads, 1.0),
    ("w/s", Metric::Writes, 1.0),
    ("tps", Metric::Operations, 1.0),
    ("rkB/s", Metric::ReadBytes, 1024.0),
    ("wkB/s", Metric::WriteBytes, 1024.0),
    ("rMB/s", Metric::ReadBytes, 1_048_576.0),
    ("wMB/s", Metric::WriteBytes, 1_048_576.0),
    ("rsec/s", Metric::ReadBytes, 512.0),
    ("wsec/s", Metric::WriteBytes, 512.0),
    ("rd_sec/s", Metric::ReadBytes, 512.0),
    ("wr_sec/s", Metric::WriteBytes, 512.0),
    ("kB_read/s", Metric::ReadBytes, 1024.0),
    ("kB_wrtn/s", Metric::WriteBytes, 1024.0),
    ("MB_read/s", Metric::ReadBytes, 1_048_576.0),
    ("MB_wrtn/s", Metric::WriteBytes, 1_048_576.0),
    ("rkB", Metric::ReadBytes, 1024.0),
    ("wkB", Metric::WriteBytes, 1024.0),
    ("rd_sec", Metric::ReadBytes, 512.0),
    ("wr_sec", Metric::WriteBytes, 512.0),
    ("aqu-sz", Metric::QueueLength, 1.0),
    ("avgqu-sz", Metric::QueueLength, 1.0),
];

pub(super) fn is_known(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') && text.contains("\"sysstat\"")
        || text.lines().take(40).any(|line| header(line).is_some())
}

/// The titles in a line, and which of them is that of the device; `None` for another line.
fn header(line: &str) -> Option<(Vec<&str>, usize)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let device = words
        .iter()
        .position(|word| ["Device", "Device:", "DEV"].contains(word))?;
    let has_rates = COLUMNS.iter().any(|(title, ..)| words.contains(title));
    has_rates.then_some((words, device))
}

/// The figures of a device in a report.
struct Row {
    device: String,
    report: Report,
    figures: Vec<(Metric, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Report {
    /// Its number, from 0.
    number: u64,
    /// When it was made; `None` if it does not say.
    at_ns: Option<u64>,
    /// Number of the call of iostat or sar that made it, from 0: the output of several may be in one file.
    call: u64,
}

/// All reports of a file.
struct Reports {
    rows: Vec<Row>,
    has_dates: bool,
    /// Length of an interval, which only sadf prints.
    length_ns: Option<u64>,
    /// Whether iostat printed them, whose first report is the mean since the boot of the machine.
    is_iostat: bool,
    /// The reports of iostat, also those without a row.
    printed: Vec<Report>,
}

impl Reports {
    /// Numbers of the reports that are the first of a call.
    fn first_reports(&self) -> HashSet<u64> {
        let mut first_reports: Vec<Report> = self.printed.clone();
        first_reports.dedup_by_key(|report| report.call);
        first_reports
            .into_iter()
            .map(|report| report.number)
            .collect()
    }
}

/// Reads what iostat and sadf print, as text or JSON, and takes one device from it.
pub(super) fn read(text: &str, wanted: WantedRates<'_>) -> Result<Samples, String> {
    let reports = if text.trim_start().starts_with('{') {
        json(text)?
    } else {
        lines(text)?
    };
    let first_reports = reports.first_reports();
    let Reports {
        mut rows,
        has_dates,
        length_ns,
        is_iostat,
        printed,
    } = reports;
    let devices = devices(&rows);
    let device = chosen(&devices, wanted.device)?;
    rows.retain(|row| row.device == device);
    let mut remarks = Vec::new();
    if is_iostat {
        // First, as a device that was idle all the time may have a row in the first report alone.
        let idle = add_idle_reports(&mut rows, &printed, &first_reports);
        remarks.extend(without_means_since_boot(&mut rows, &first_reports));
        remarks.extend(idle);
    }
    let shown = usual_gap(&rows).or(length_ns);
    let Some(length) = interval_length(shown, wanted.every_ns)? else {
        return Err(
            "how long an interval is, is not in it: add --every 10s (`iostat -t` prints times)"
                .to_owned(),
        );
    };
    remarks.extend(undo_steps_back(&mut rows, length));
    let mut all = Vec::new();
    for row in &rows {
        // Without times, reports follow each other without a gap.
        let end = row
            .report
            .at_ns
            .unwrap_or_else(|| (row.report.number + 1).saturating_mul(length));
        all.extend(row.figures.iter().map(|(metric, value)| Sample {
            from_ns: end.saturating_sub(length),
            metric: *metric,
            value: *value,
        }));
    }
    Ok(Samples {
        all,
        length_ns: Some(length),
        has_dates,
        remarks,
    })
}

/// The names of all devices, in the order in which they come.
fn devices(rows: &[Row]) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for row in rows {
        if !devices.contains(&row.device) {
            devices.push(row.device.clone());
        }
    }
    devices
}

/// The requested device, or the only one.
fn chosen(devices: &[String], wanted: Option<&str>) -> Result<String, String> {
    match (wanted, devices) {
        (_, []) => Err("no device in it".to_owned()),
        (Some(name), _) if devices.iter().any(|known| known == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(format!(
            "no device is called `{name}`; there are {}",
            devices.join(", ")
        )),
        (None, [one]) => Ok(one.clone()),
        (None, _) => Err(format!(
            "several devices: name one of {} with --device",
            devices.join(", ")
        )),
    }
}

/// Removes the reports that are means since the boot of the machine, and returns the remark about it.
fn without_means_since_boot(rows: &mut Vec<Row>, first_reports: &HashSet<u64>) -> Option<String> {
    // With -z, a device without operations has no row in the first report.
    let means = rows
        .iter()
        .filter(|row| first_reports.contains(&row.report.number));
    let what = match (means.count(), rows.len()) {
        (0, _) => return None,
        (1, 1) => "the only report is kept",
        (kept, all) if kept == all => "all reports are kept, each the only one of a call",
        (1, _) => "the first report is left out",
        _ => "the first report of each call is left out",
    };
    if what.ends_with("left out") {
        rows.retain(|row| !first_reports.contains(&row.report.number));
    }
    Some(format!(
        "{what}: without -y, iostat shows the mean since the boot in it"
    ))
}

/// Adds a row of zeros for each report in which the device has none: with -z, iostat leaves out a device
/// without operations. Returns the remark about it.
fn add_idle_reports(
    rows: &mut Vec<Row>,
    printed: &[Report],
    first_reports: &HashSet<u64>,
) -> Option<String> {
    let nothing: Vec<(Metric, f64)> = rows
        .first()?
        .figures
        .iter()
        .map(|(metric, _)| (*metric, 0.0))
        .collect();
    let device = rows.first()?.device.clone();
    let known: HashSet<u64> = rows.iter().map(|row| row.report.number).collect();
    let idle = printed.iter().filter(|report| {
        !known.contains(&report.number) && !first_reports.contains(&report.number)
    });
    let before = rows.len();
    rows.extend(idle.map(|report| Row {
        device: device.clone(),
        report: *report,
        figures: nothing.clone(),
    }));
    let added = rows.len() - before;
    rows.sort_by_key(|row| row.report.number);
    (added > 0).then(|| {
        format!(
            "{} without a row of {device} {} for no operations: with -z, iostat leaves out a device that \
             has none",
            plural(added, "report"),
            agreeing(added, "stands", "stand")
        )
    })
}

/// The most common distance between a report and the next; of several, the smallest. A timer is a little
/// early or late at times, so neither the first nor the smallest one is the interval.
fn usual_gap(rows: &[Row]) -> Option<u64> {
    let moments: Vec<u64> = rows.iter().filter_map(|row| row.report.at_ns).collect();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for pair in moments.windows(2).filter(|pair| pair[1] > pair[0]) {
        *counts.entry(pair[1] - pair[0]).or_default() += 1;
    }
    let usual = counts
        .into_iter()
        .max_by_key(|(gap, count)| (*count, Reverse(*gap)));
    usual.map(|(gap, _)| gap)
}

/// Lets reports after a clock that was set back go on one interval after those before, and returns the
/// remark about it. Local times go back by an hour at the end of daylight saving time.
fn undo_steps_back(rows: &mut [Row], interval_ns: u64) -> Option<String> {
    let (mut call, mut before, mut added, mut steps) = (0, None, 0, Vec::new());
    for row in rows {
        let Some(at) = row.report.at_ns else { continue };
        // The output of another call may be of any day.
        if row.report.call != call {
            (call, before, added) = (row.report.call, None, 0);
        }
        let mut shown = at.saturating_add(added);
        if let Some(before) = before.filter(|before| shown < *before)
            && before - shown <= FARTHEST_STEP_BACK_NS
        {
            let step = before + interval_ns - shown;
            (shown, added) = (shown + step, added + step);
            steps.push(Nanos(step).to_string());
        }
        (before, row.report.at_ns) = (Some(shown), Some(shown));
    }
    (!steps.is_empty()).then(|| {
        format!(
            "the clock was set back by {}, as at the end of daylight saving time: later times go on as \
             if it was not",
            steps.join(" and ")
        )
    })
}

fn column(title: &str) -> Option<(Metric, f64)> {
    let mut known = COLUMNS.iter();
    let found = known.find(|(own, ..)| *own == title);
    found.map(|(_, metric, unit)| (*metric, *unit))
}

/// Reads a text. sar prints only the time of day before each row, and a word such as `Average:` before the
/// means at its end; the date is then counted in days from the first midnight.
fn lines(text: &str) -> Result<Reports, String> {
    let mut rows = Vec::new();
    let mut titles: Option<(Vec<&str>, usize)> = None;
    let (mut at_ns, mut has_dates, mut is_iostat) = (None, false, false);
    let (mut last_clock, mut midnights) = (0_u64, 0);
    let mut call = 0;
    let mut printed: Vec<Report> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(found) = header(line) {
            if found.1 > 0 && found.0[found.1] != "DEV" {
                return Err(format!(
                    "line {number}: iostat has printed the names of devices behind their figures; \
                     print them without -h and --pretty"
                ));
            }
            printed.push(Report {
                number: printed.len() as u64,
                at_ns,
                call,
            });
            // sar has the time of day before the name of the device.
            is_iostat |= found.1 == 0;
            titles = Some(found);
        } else if words.first() == Some(&"Linux") {
            // A text that was cut off begins behind this line of its first call.
            call = printed.last().map_or(0, |report| report.call + 1);
        } else if words.is_empty() {
            // A table ends with a blank line: what follows, such as the rows of avg-cpu, is another one.
            titles = None;
        } else if let Some(moment) = date(line) {
            (at_ns, has_dates) = (Some(moment), true);
        } else if let Some((titles, device)) = &titles
            && words.len() == titles.len()
            && !words[0].ends_with(':')
        {
            if *device > 0 {
                let clock = clock(&words[..*device])
                    .ok_or_else(|| format!("line {number}: `{}` is no time of day", words[0]))?;
                // The time of day went back, so a midnight has passed, or the clock was set back.
                let back = last_clock.saturating_sub(clock);
                let is_midnight = back > FARTHEST_STEP_BACK_NS / SECOND
                    || back > 0 && rows.last().is_some_and(|row: &Row| row.report.call != call);
                midnights += u64::from(is_midnight);
                last_clock = clock;
                at_ns = Some((midnights * 86_400 + clock) * SECOND);
            }
            let report = Report {
                number: printed.len() as u64 - 1,
                at_ns,
                call,
            };
            rows.push(Row {
                device: words[*device].to_owned(),
                report,
                figures: figures(titles, &words, number)?,
            });
        }
    }
    Ok(Reports {
        rows,
        has_dates,
        length_ns: None,
        is_iostat,
        printed,
    })
}

/// The figures of one line of a report; `number` is that of the line, for errors.
fn figures(titles: &[&str], words: &[&str], number: usize) -> Result<Vec<(Metric, f64)>, String> {
    let mut figures = Vec::new();
    for (title, word) in titles.iter().zip(words) {
        let Some((metric, unit)) = column(title) else {
            continue;
        };
        // In some locales, sysstat prints a decimal comma.
        let value: Option<f64> = word.replace(',', ".").parse().ok();
        let value = value.and_then(figure).ok_or_else(|| {
            format!("line {number}: `{word}` in the column {title} is not a number")
        })?;
        set(&mut figures, metric, value * unit);
    }
    Ok(figures)
}

/// Sets a figure of a row. sadf prints some in two units, of which the last one counts.
fn set(figures: &mut Vec<(Metric, f64)>, metric: Metric, value: f64) {
    figures.retain(|(known, _)| *known != metric);
    figures.push((metric, value));
}

/// Reads `10:00:01` or `10:00:01 PM` as seconds of the day.
fn clock(words: &[&str]) -> Option<u64> {
    let mut parts = words
        .first()?
        .split(':')
        .map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let hours = match words.get(1) {
        Some(&"AM") => hours % 12,
        Some(&"PM") => hours % 12 + 12,
        _ => hours,
    };
    (hours < 24 && minutes < 60 && seconds < 61).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Reads a line that is only a date and time, in one of the formats of `iostat -t`; ns since 1970.
/// Without a time zone, UTC is assumed.
fn date(line: &str) -> Option<u64> {
    let text = line.trim();
    if !(text.starts_with(|first: char| first.is_ascii_digit()) && text.len() < 40) {
        return None;
    }
    let zoned = text.parse::<Timestamp>().ok().or_else(|| {
        // sysstat prints no colon in the offset from UTC.
        Timestamp::strptime("%Y-%m-%dT%H:%M:%S%z", text).ok()
    });
    let forms = [
        "%m/%d/%Y %I:%M:%S %p",
        "%m/%d/%y %H:%M:%S",
        "%m/%d/%Y %H:%M:%S",
        "%d.%m.%Y %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S",
    ];
    let moment = zoned.or_else(|| {
        let mut civil = forms
            .iter()
            .filter_map(|form| DateTime::strptime(form, text).ok());
        let zoned = civil.next()?.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp())
    });
    u64::try_from(moment?.as_nanosecond()).ok()
}

/// Reads what `iostat -o JSON` and `sadf -j` print.
fn json(text: &str) -> Result<Reports, String> {
    let json: Value = serde_json::from_str(text).map_err(|why| format!("no sound JSON: {why}"))?;
    let statistics = json
        .pointer("/sysstat/hosts/0/statistics")
        .and_then(Value::as_array)
        .ok_or("no statistics of a host in it")?;
    let (mut rows, mut has_dates, mut length_ns) = (Vec::new(), true, None);
    let mut is_iostat = false;
    let mut printed = Vec::new();
    for (found, number) in statistics.iter().zip(0_u64..) {
        let moment = found.get("timestamp");
        let at_ns = match moment {
            Some(Value::String(text)) => date(text),
            Some(moment) => {
                let interval = moment.get("interval").and_then(Value::as_u64);
                let length = interval.map(|seconds| seconds.saturating_mul(SECOND));
                length_ns = length_ns.or(length.filter(|length| *length > 0));
                let [day, time] =
                    ["date", "time"].map(|name| moment.get(name).and_then(Value::as_str));
                day.zip(time)
                    .and_then(|(day, time)| date(&format!("{day}T{time}")))
            }
            None => None,
        };
        has_dates &= at_ns.is_some();
        let report = Report {
            number,
            at_ns,
            call: 0,
        };
        printed.push(report);
        let disks = found.get("disk").and_then(Value::as_array);
        for disk in disks.into_iter().flatten() {
            // iostat and sadf have a key of their own for it.
            let iostat_name = disk.get("disk_device");
            is_iostat |= iostat_name.is_some();
            let name = iostat_name.or_else(|| disk.get("disk-device"));
            let Some(name) = name.and_then(Value::as_str) else {
                return Err("a disk has no name".to_owned());
            };
            let mut figures = Vec::new();
            for (title, value) in disk.as_object().into_iter().flatten() {
                if let Some((metric, unit)) = column(title)
                    && let Some(value) = value.as_f64().and_then(|value| figure(value * unit))
                {
                    set(&mut figures, metric, value);
                }
            }
            rows.push(Row {
                device: name.to_owned(),
                report,
                figures,
            });
        }
    }
    Ok(Reports {
        rows,
        has_dates,
        length_ns,
        is_iostat,
        printed,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{RateTable, read_rates};
    use super::*;

    fn table(text: &str, wanted: WantedRates<'_>) -> Result<RateTable, String> {
        assert!(super::super::is_rate_table(text.as_bytes()), "{text}");
        read_rates(&[("iostat.txt".to_owned(), text.to_owned())], wanted)
    }

    const IOSTAT: &str = "Linux 6.1.0 (host)  11/27/2026  _x86_64_  (2 CPU)\r\n\
        11/27/2026 10:00:00 AM\r\n\
        Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s aqu-sz\r\n\
        sda             99.00    999.00     0.00   0.00    0.10    10.09   99.00    999.00   9.00\r\n\
        \r\n11/27/2026 10:00:10 AM\r\n\
        Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s aqu-sz\r\n\
        sda              5.00     40.00     0.00   0.00    0.10     8.00   20.00     80.00   0.50\r\n\
        sdb              1.00      4.00     0.00   0.00    0.10     8.00    0.00      0.00   0.00\r\n\
        \r\n11/27/2026 10:00:20 AM\r\n\
        Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s aqu-sz\r\n\
        sda              7.00     28.00     0.00   0.00    0.10     4.00    0.00      0.00   0.10\r\n";

    #[test]
    fn iostat_is_read_by_its_titles_without_the_mean_since_the_boot() {
        let wanted = WantedRates {
            device: Some("sda"),
            every_ns: None,
        };
        let found = table(IOSTAT, wanted).expect("a sound table");
        assert_eq!(found.interval_ns, 10 * SECOND);
        assert_eq!(found.begins_ns, Some(1_795_773_600 * SECOND));
        let first = found.intervals[0];
        assert_eq!((first.iops, first.read_iops), (Some(25.0), Some(5.0)));
        assert_eq!(first.bytes_per_s(), Some(120.0 * 1024.0));
        assert_eq!(first.queue_length, Some(0.5));
        assert_eq!(found.intervals.len(), 2);
        assert!(found.remarks[0].contains("since the boot"), "{found:?}");
        let several = table(IOSTAT, WantedRates::default()).expect_err("two devices");
        assert!(several.contains("sda, sdb") && several.contains("--device"));
        let damaged = IOSTAT.replace("20.00     80.00", "20.00     8x.00");
        let refused = table(&damaged, wanted).expect_err("no number");
        assert!(
            refused.contains("line 8: `8x.00` in the column wkB/s"),
            "{refused}"
        );
    }

    /// The story: with -z a device without operations has no row, so the first row of sdb was not of the
    /// first report, and was left out all the same.
    #[test]
    fn a_device_that_comes_later_keeps_its_first_report() {
        let row = "sdb              3.00      4.00     0.00   0.00    0.10     8.00    0.00      0.00   0.00";
        let wanted = WantedRates {
            device: Some("sdb"),
            every_ns: None,
        };
        let found = table(&format!("{IOSTAT}{row}\n"), wanted).expect("a sound table");
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [1.0, 3.0].map(Some));
        assert_eq!(found.remarks, [""; 0]);
    }

    /// The mean since the boot was shown as the rates of an interval, without a word.
    #[test]
    fn the_only_report_may_be_the_mean_since_the_boot() {
        let wanted = WantedRates {
            device: None,
            every_ns: Some(SECOND),
        };
        let found = table("Device r/s w/s\nsda 1 2\n", wanted).expect("a sound table");
        assert_eq!(found.intervals[0].iops, Some(3.0));
        assert!(
            found.remarks[0].starts_with("the only report is kept"),
            "{found:?}"
        );
    }

    /// The story: of a log to which three calls of iostat were appended, the means since the boot of the
    /// second and third were shown as the busiest intervals.
    #[test]
    fn a_log_of_several_calls_has_a_mean_since_the_boot_in_each() {
        let report = |time: &str, reads: f64| {
            format!("11/27/2026 {time} AM\nDevice r/s w/s\nsda {reads} 0.00\n\n")
        };
        let call = |hour: u64| {
            let first = report(&format!("0{hour}:00:00"), 9000.0);
            let [second, third] =
                ["01", "02"].map(|minute| report(&format!("0{hour}:{minute}:00"), 200.0));
            format!("Linux 6.1.0 (host)  11/27/2026  _x86_64_  (2 CPU)\n\n{first}{second}{third}")
        };
        let text = [1, 2, 3].map(call).concat();
        let found = table(&text, WantedRates::default()).expect("one device");
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [Some(200.0); 6]);
        assert!(
            found.remarks[0].starts_with("the first report of each call is left out"),
            "{found:?}"
        );
    }

    /// The story: with -z, four reports of five had no row of a device, so its interval was five minutes
    /// instead of one, and its load five times as large as it was.
    #[test]
    fn a_report_without_a_row_is_one_without_operations() {
        let report = |(minute, row): (usize, &str)| {
            format!("11/27/2026 10:0{minute}:00 AM\nDevice r/s w/s aqu-sz\n{row}\n")
        };
        let busy = "sda 300.00 0.00 0.50\n";
        let text = [busy, busy, "", "", busy, ""];
        let text: String = text.into_iter().enumerate().map(report).collect();
        let found = table(&text, WantedRates::default()).expect("one device");
        assert_eq!(found.interval_ns, 60 * SECOND);
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [300.0, 0.0, 0.0, 300.0, 0.0].map(Some));
        assert!(
            found.remarks[1].starts_with("3 reports without a row of sda stand for no operations"),
            "{found:?}"
        );
    }

    /// The story: in a night at whose end of daylight saving time the clock was set back, the reports
    /// of the second half came before those of the first, and 40 intervals were missing.
    #[test]
    fn reports_keep_their_order_when_the_clock_is_set_back() {
        let times = ["01:59:00", "02:59:00", "02:00:00", "02:01:00"];
        let report = |(time, reads): (&str, u64)| {
            format!("10/25/2026 {time} AM\nDevice r/s w/s\nsda {reads}.00 0.00\n\n")
        };
        let iostat = [
            ("02:57:00", 9),
            ("02:58:00", 1),
            ("02:59:00", 2),
            ("02:00:00", 3),
            ("02:01:00", 4),
        ]
        .map(report)
        .concat();
        let rates = |text: &str| {
            let found = table(text, WantedRates::default()).expect("a sound table");
            let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
            (rates, found.remarks)
        };
        let (found, remarks) = rates(&iostat);
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0].map(Some));
        assert!(remarks[1].contains("set back by 1 h,"), "{remarks:?}");
        // sar has no dates: such a step was taken for a midnight.
        let row = |time: &str| format!("{time}  vda  3.00   12.00    0.00\n");
        let sar = format!(
            "Linux 6.1.0 (host)  10/25/26  _x86_64_ (2 CPU)\n\n01:00:00  DEV   tps   rkB/s   wkB/s\n{}",
            times.map(row).concat()
        );
        let (found, remarks) = rates(&sar);
        assert_eq!(found, [Some(3.0); 4], "{remarks:?}");
    }

    /// The story: before sysstat 12, a table has six columns, as the row of avg-cpu between two tables, and
    /// that row was one of a device called `1.00`.
    #[test]
    fn the_row_of_the_processor_is_no_device() {
        let report = |time: &str| {
            format!(
                "11/27/2026 10:00:{time} AM\n\
                 avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           \
                           1.00    0.00    0.50    0.25    0.00   98.25\n\n\
                 Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
                 sda               5.00        40.00        80.00        400        800\n\n"
            )
        };
        let text = ["00", "10", "20"].map(report).concat();
        let found = table(&text, WantedRates::default()).expect("one device");
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [Some(5.0), Some(5.0)]);
    }

    /// The story: a report that came a second early was about the interval of the one before, which it
    /// replaced, and its own was missing. The first one was taken for iostat's mean since the boot.
    #[test]
    fn reports_come_a_little_early_and_late() {
        let report = |time: &str, seconds: u64, tps: f64| {
            format!(
                r#"{{"timestamp": {{"date": "2026-11-27", "time": "{time}", "interval": {seconds}}},
                "disk": [{{"disk-device": "sda", "tps": {tps}, "rd_sec": 0.33, "rkB": 0.17}}]}}"#
            )
        };
        let reports = [
            report("10:10:00", 600, 1.0),
            report("10:19:59", 599, 2.0),
            report("10:30:00", 601, 3.0),
            report("10:40:00", 600, 4.0),
            report("10:50:00", 600, 5.0),
        ];
        let sadf = format!(
            r#"{{"sysstat": {{"hosts": [{{"statistics": [{}]}}]}}}}"#,
            reports.join(",")
        );
        let found = table(&sadf, WantedRates::default()).expect("a sound table");
        assert_eq!(found.interval_ns, 600 * SECOND);
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
        assert_eq!(found.remarks, [""; 0]);
    }

    #[test]
    fn names_behind_the_figures_are_refused_with_what_would_work() {
        let text =
            "      tps    kB_read/s    kB_wrtn/s Device\n     1.00         4.00         0.00 sda\n";
        let error = table(text, WantedRates::default()).expect_err("names at the end");
        assert!(
            error.contains("line 1: ") && error.contains("--pretty"),
            "{error}"
        );
    }

    #[test]
    fn sar_has_times_of_day_and_means_at_its_end() {
        let sar = "Linux 6.1.0 (host)  11/27/26  _x86_64_ (2 CPU)\n\n\
            11:59:00 PM  DEV   tps   rkB/s   wkB/s   dkB/s areq-sz aqu-sz\n\
            11:59:30 PM  vda  3.00   12.00    0.00    0.00    4.00   0.01\n\
            12:00:00 AM  vda  5.00   20.00    0.00    0.00    4.00   0.01\n\
            Average:     vda  4.00   16.00    0.00    0.00    4.00   0.01\n";
        let found = table(sar, WantedRates::default()).expect("a sound table");
        assert_eq!((found.interval_ns, found.begins_ns), (30 * SECOND, None));
        let rates: Vec<_> = found.intervals.iter().map(|slot| slot.iops).collect();
        assert_eq!(rates, [Some(3.0), Some(5.0)]);
    }

    #[test]
    fn json_of_both_tools_is_read() {
        let iostat = r#"{"sysstat": {"hosts": [{"statistics": [
            {"disk": [{"disk_device": "sda", "r/s": 9.0, "w/s": 9.0}]},
            {"disk": [{"disk_device": "sda", "r/s": 1.0, "w/s": 2.5, "wkB/s": 10.0}]}]}]}}"#;
        let wanted = WantedRates {
            device: None,
            every_ns: Some(5 * SECOND),
        };
        let found = table(iostat, wanted).expect("a sound table");
        assert_eq!(found.intervals.len(), 1);
        assert_eq!(found.intervals[0].iops, Some(3.5));
        assert!(
            table(iostat, WantedRates::default())
                .expect_err("no times")
                .contains("--every")
        );
        let sadf = r#"{"sysstat": {"hosts": [{"statistics": [
            {"timestamp": {"date": "2026-11-27", "time": "10:10:00", "utc": 1, "interval": 600},
             "disk": [{"disk-device": "sda", "tps": 12.5, "rkB": 2.0}]}]}]}}"#;
        let found = table(sadf, WantedRates::default()).expect("a sound table");
        assert_eq!(found.interval_ns, 600 * SECOND);
        assert_eq!(found.begins_ns, Some(1_795_773_600 * SECOND));
        assert_eq!(found.intervals[0].read_bytes_per_s, Some(2048.0));
    }
}
