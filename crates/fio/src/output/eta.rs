//! The line that shows the progress of a run.

use blocklab_record::Interval;
use blocklab_units::Nanos;
use blocklab_workload::{Job, Pace, Rate};

use super::super::plan::CloneFacts;
use super::amount::{Base, short};

/// Before this time the line shows no progress.
const YOUNG: Nanos = Nanos::from_millis(2500);

/// `, 0-1000 IOPS` or `, 0B/s-6144KiB/s`: between which rates the jobs are to stay, if they are.
pub fn eta_rates(jobs: &[Job]) -> String {
    let (min_bytes, min_iops) = sums(jobs.iter().filter_map(|job| Some(job.min_rate?.rates)));
    let (max_bytes, max_iops) = sums(jobs.iter().filter_map(|job| match job.pace {
        Pace::ByDirection { rates, .. } => Some(rates),
        _ => None,
    }));
    if min_bytes + max_bytes > 0.0 {
        let [min, max] = [min_bytes, max_bytes].map(|bytes| short(bytes, 4, Base::Binary));
        return format!(", {min}B/s-{max}B/s");
    }
    if min_iops + max_iops > 0.0 {
        return format!(", {min_iops:.0}-{max_iops:.0} IOPS");
    }
    String::new()
}

/// The rates in bytes per second added up, and those in operations per second.
fn sums(rates: impl Iterator<Item = [Option<Rate>; 3]>) -> (f64, f64) {
    let (mut bytes, mut iops) = (0.0, 0.0);
    for rate in rates.flatten().flatten() {
        match rate {
            Rate::Bytes(rate) => bytes += rate,
            Rate::Iops(rate) => iops += rate,
        }
    }
    (bytes, iops)
}

/// `Jobs: 1 (f=1): [r(1)][75.0%][r=97.1MiB/s][r=24.9k IOPS][eta 00m:01s]`, without an end of line.
/// At the beginning of a run it ends before the second colon.
/// `rates`: those of [`eta_rates`]. `total`: the planned time; zero where it is unknown.
pub fn eta_line(
    clones: &[&CloneFacts],
    rates: &str,
    interval: &Interval,
    elapsed: Nanos,
    total: Nanos,
) -> String {
    let files: usize = clones.iter().map(|clone| clone.file_count).sum();
    let mut line = format!("Jobs: {} (f={files}){rates}", clones.len());
    if elapsed < YOUNG {
        return line;
    }
    let seconds = interval.length_ns.max(1) as f64 / 1e9;
    let flows = [
        ("r", &interval.read),
        ("w", &interval.write),
        ("t", &interval.trim),
    ];
    let (mut speeds, mut iops) = (Vec::new(), Vec::new());
    for (letter, flow) in flows.into_iter().filter(|(_, flow)| flow.ios > 0) {
        let speed = short(flow.bytes as f64 / seconds, 4, Base::Binary);
        speeds.push(format!("{letter}={speed}B/s"));
        let rate = short(flow.ios as f64 / seconds, 4, Base::Decimal);
        iops.push(format!("{letter}={rate}"));
    }
    let (share, left) = match total {
        Nanos::ZERO => ("-.-%".to_owned(), 0),
        total => {
            let share = elapsed.0.min(total.0) as f64 * 100.0 / total.0 as f64;
            let left = total.since(elapsed).0.div_ceil(1_000_000_000);
            (format!("{share:.1}%"), left)
        }
    };
    line.push_str(&format!(": [{}][{share}]", letters(clones)));
    if !speeds.is_empty() {
        line.push_str(&format!("[{}][{} IOPS]", speeds.join(","), iops.join(",")));
    }
    line.push_str(&format!("[eta {}]", clock(left)));
    line
}

/// `r(2),W(1)`: the letter of each job, equal neighbours counted.
fn letters(clones: &[&CloneFacts]) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for clone in clones {
        let letter = letter(clone.rw);
        match runs.last_mut() {
            Some((known, count)) if *known == letter => *count += 1,
            _ => runs.push((letter, 1)),
        }
    }
    let runs = runs
        .iter()
        .map(|(letter, count)| format!("{letter}({count})"));
    runs.collect::<Vec<_>>().join(",")
}

/// The letter of a running job, by its `rw`.
fn letter(rw: &str) -> char {
    match rw {
        "read" => 'R',
        "randread" => 'r',
        "write" => 'W',
        "randwrite" => 'w',
        "randrw" => 'm',
        "trim" => 'D',
        "randtrim" => 'd',
        _ => 'M',
    }
}

/// `00m:01s`, with hours and days if there are any.
fn clock(seconds: u64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes / 60, minutes / 1440) {
        (0, _) => format!("{minutes:02}m:{rest:02}s"),
        (hours, 0) => format!("{hours:02}h:{:02}m:{rest:02}s", minutes % 60),
        (hours, days) => format!(
            "{days:02}d:{:02}h:{:02}m:{rest:02}s",
            hours % 24,
            minutes % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_record::IntervalDirection;

    #[test]
    fn rates_of_all_jobs_are_summed() {
        let paced = |rates| Job {
            pace: Pace::ByDirection {
                rates,
                poisson: false,
            },
            ..Job::new("a")
        };
        let bytes = |bytes: f64| Some(Rate::Bytes(bytes));
        let megabytes = paced([bytes(4_194_304.0), bytes(2_097_152.0), None]);
        assert_eq!(eta_rates(&[megabytes]), ", 0B/s-6144KiB/s");
        let iops = paced([Some(Rate::Iops(400.0)), Some(Rate::Iops(200.0)), None]);
        assert_eq!(eta_rates(&[iops.clone(), iops]), ", 0-1200 IOPS");
        assert_eq!(eta_rates(&[Job::new("a")]), "");
    }

    #[test]
    fn the_line_is_that_of_fio() {
        let interval = Interval {
            length_ns: 500_000_000,
            read: IntervalDirection {
                ios: 12_450,
                bytes: 12_450 * 4096,
                ..IntervalDirection::default()
            },
            ..Interval::default()
        };
        let elapsed = Nanos::from_secs(3);
        let line = eta_line(&[], "", &interval, elapsed, Nanos::from_secs(4));
        let expected = "Jobs: 0 (f=0): [][75.0%][r=97.3MiB/s][r=24.9k IOPS][eta 00m:01s]";
        assert_eq!(line, expected);
        let line = eta_line(&[], "", &Interval::default(), elapsed, Nanos::ZERO);
        assert_eq!(line, "Jobs: 0 (f=0): [][-.-%][eta 00m:00s]");
        let (young, total) = (Nanos::from_secs(2), Nanos::from_secs(4));
        let line = eta_line(&[], ", 0-1000 IOPS", &interval, young, total);
        assert_eq!(line, "Jobs: 0 (f=0), 0-1000 IOPS");
        assert_eq!(clock(3_725), "01h:02m:05s");
        assert_eq!(clock(90_061), "01d:01h:01m:01s");
    }
}
