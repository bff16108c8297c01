//! `-rd` in the text: the ranges that were requested, and those that a target of its size got.

use super::distribution::zones;
use super::results::{Outcome, Row};
use super::spec::{Distribution, IoRange, Target};
use super::units::kmgt;

/// The lines of the profile.
pub(super) fn requested(target: &Target) -> Vec<String> {
    let Some(Distribution { absolute, ranges }) = &target.distribution else {
        return Vec::new();
    };
    let rest = rest(*absolute, ranges);
    let mut lines = vec!["IO Distribution:".to_owned()];
    let mut start = 0_u64;
    for IoRange { io_percent, width } in ranges.iter().copied().chain(rest) {
        let end = (width > 0).then(|| start.saturating_add(width));
        lines.push(match end {
            Some(end) if !absolute => {
                format!("    {io_percent:>2}% of IO => [{start:>2}% - {end:>3}%) of target")
            }
            _ => range(io_percent, start, end),
        });
        start = end.unwrap_or(start);
    }
    lines
}

/// What the ranges leave, if they leave anything. In bytes the width of the rest, 0, is not known.
fn rest(absolute: bool, ranges: &[IoRange]) -> Option<IoRange> {
    let percent = ranges.iter().map(|range| range.io_percent).sum();
    let width = if absolute {
        0
    } else {
        100_u64.saturating_sub(ranges.iter().map(|range| range.width).sum())
    };
    let rest = IoRange {
        io_percent: 100_u32.saturating_sub(percent),
        width,
    };
    (rest.io_percent > 0 || rest.width > 0).then_some(rest)
}

/// `    90% of IO => [     0    -     10GiB)`; `None` for an end is the target's own.
fn range(io: u32, start: u64, end: Option<u64>) -> String {
    let start = match start {
        0 => "     0   ".to_owned(),
        bytes => format!("{:>9}", kmgt(bytes)),
    };
    let end = end.map_or("end".to_owned(), kmgt);
    format!("    {io:>2}% of IO => [{start} - {end:>9})")
}

/// What the targets got, each with the threads that worked on it so; empty without `-rd`.
pub(super) fn effective(outcome: &Outcome<'_>) -> String {
    let mut text = String::new();
    for (index, target) in outcome.requested.targets.iter().enumerate() {
        let mut rows = outcome
            .rows
            .iter()
            .filter(|row| row.pair.target == index)
            .peekable();
        let lines = rows.peek().map(|row| in_use(target, row));
        let Some(lines) = lines.filter(|lines| !lines.is_empty()) else {
            continue;
        };
        let threads: Vec<u32> = rows.map(|row| row.pair.thread).collect();
        let (path, threads) = (&target.path, thread_ranges(&threads));
        text.push_str(&format!("target: {path} [thread:{threads}]\n"));
        let lines = lines.iter().map(|line| format!("{line}\n"));
        text.extend(lines);
    }
    if text.is_empty() {
        text
    } else {
        format!("\nEffective IO Distributions\n{}\n{text}", "-".repeat(26))
    }
}

/// The ranges that get operations, on multiples of the alignment.
fn in_use(target: &Target, row: &Row<'_>) -> Vec<String> {
    let end = match target.max_file_size {
        0 => row.file_size,
        limit => row.file_size.min(limit),
    };
    let len = end.saturating_sub(target.base);
    let distribution = target.distribution.as_ref();
    let Some(zones) = distribution.and_then(|distribution| zones(distribution, Some(len)).ok())
    else {
        return Vec::new();
    };
    let step = target.step().max(1);
    let (mut percent, mut start) = (0.0, target.base);
    let mut lines = Vec::new();
    for zone in zones {
        percent += zone.space_percent;
        let bytes = (len as f64 * percent / 100.0).round() as u64;
        // The last one ends with the target, of any size. Its sum may be rounded to below 100.
        let is_last = percent > 99.999_999;
        let end = target.base + if is_last { len } else { bytes / step * step };
        if zone.access_percent > 0.0 {
            let io_percent = zone.access_percent.round() as u32;
            lines.push(range(io_percent, start, Some(end)));
        }
        start = end;
    }
    lines
}

/// ` 0 - 3 7`: threads in order, three or more in a row by the first and the last.
fn thread_ranges(threads: &[u32]) -> String {
    let rows = threads.chunk_by(|one, next| one + 1 == *next);
    let shown = rows.map(|row| match row {
        [first, .., last] if row.len() > 2 => format!(" {first} - {last}"),
        short => short.iter().map(|thread| format!(" {thread}")).collect(),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(absolute: bool, percents_and_widths: &[(u32, u64)]) -> Vec<String> {
        let ranges = percents_and_widths.iter();
        let ranges = ranges.map(|&(io_percent, width)| IoRange { io_percent, width });
        let ranges = ranges.collect();
        requested(&Target {
            distribution: Some(Distribution { absolute, ranges }),
            ..Target::default()
        })
    }

    #[test]
    fn ranges_are_shown_with_both_ends() {
        let shown = lines(false, &[(10, 10), (10, 10), (0, 10)]);
        assert_eq!(
            shown,
            [
                "IO Distribution:",
                "    10% of IO => [ 0% -  10%) of target",
                "    10% of IO => [10% -  20%) of target",
                "     0% of IO => [20% -  30%) of target",
                "    80% of IO => [30% - 100%) of target",
            ]
        );
        let gib = 1_u64 << 30;
        let shown = lines(true, &[(10, gib), (10, gib), (0, 100 * gib)]);
        assert_eq!(
            shown[1..],
            [
                "    10% of IO => [     0    -      1GiB)",
                "    10% of IO => [     1GiB -      2GiB)",
                "     0% of IO => [     2GiB -    102GiB)",
                "    80% of IO => [   102GiB -       end)",
            ]
        );
    }

    #[test]
    fn threads_in_a_row_are_a_range() {
        assert_eq!(thread_ranges(&[0]), " 0");
        assert_eq!(thread_ranges(&[0, 1]), " 0 1");
        assert_eq!(thread_ranges(&[0, 1, 2, 3, 7]), " 0 - 3 7");
    }
}
