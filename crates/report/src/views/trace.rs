//! In: the character of a recorded load. Out: its Document, and the formats that views of traces
//! share.

use blocklab_trace::character::{Character, InFlight, Reuse, STREAMS, Sizes};
use blocklab_units::{count, latency, plural, significant, trimmed};

use crate::document::{Column, Document, Entry, MARGIN, Part};
use crate::words::facts::fine_rate;
use crate::words::shown::fixed;

const MIB: f64 = 1_048_576.0;
const SECOND: f64 = 1e9;

/// The document of a trace. `begins`: when it began, in nanoseconds since 1970, if that is known.
pub fn trace(name: &str, character: &Character, begins: Option<u64>) -> Document {
    let heading = format!(
        "{name}: {} in {} s",
        plural(character.operations as usize, "operation"),
        fixed(character.duration_ns as f64 / SECOND, 1)
    );
    let mut parts = vec![Part::Heading(heading)];
    parts.push(Part::Entries(Entry::pairs(&facts(character, begins), 0)));
    parts.push(mix(character));
    parts.push(peaks(character, begins));
    parts.extend(character.reuse.as_ref().map(reuse));
    parts.push(profile(character, begins));
    if character.devices.len() > 1 {
        parts.push(devices(character));
    }
    parts.push(Part::lines("About the recording", &character.remarks));
    Document {
        name: name.to_owned(),
        parts,
    }
}

/// The facts about the whole trace, by name.
fn facts(character: &Character, begins: Option<u64>) -> Vec<(&'static str, String)> {
    let mean = match (character.iops_mean, character.bytes_per_s_mean) {
        (Some(iops), Some(bytes)) => {
            format!("{} IOPS, {} MiB/s", fine_rate(iops), throughput(bytes))
        }
        _ => "-".to_owned(),
    };
    let mut facts = vec![
        ("mean", mean),
        (
            "working set",
            format!(
                "{} touched, {} written, the farthest byte at {}",
                size(character.working_set_bytes),
                size(character.written_set_bytes),
                size(character.end_bytes)
            ),
        ),
    ];
    // A trace without writes has no share of them.
    let shares = [
        (
            "rewritten",
            character.rewritten_percent,
            "of the written pages had been written before".to_owned(),
        ),
        (
            "sequential",
            character.sequential_percent,
            format!("begin where one of the last {STREAMS} ended"),
        ),
        (
            "unaligned",
            character.unaligned_percent,
            "do not keep to blocks of 4 KiB".to_owned(),
        ),
    ];
    facts.extend(shares.into_iter().filter_map(|(name, percent, what)| {
        Some((name, format!("{} % {what}", fixed(percent?, 0))))
    }));
    facts.extend([
        ("in flight", in_flight(character.in_flight.as_ref())),
        ("pauses", pauses(character, begins)),
    ]);
    if let Some(cv) = character.interarrival_cv {
        let text = format!(
            "coefficient of variation {} between operations (1: at random)",
            fixed(cv, 1)
        );
        facts.push(("arrivals", text));
    }
    if let Some(begins) = begins {
        facts.push(("began", format!("{} UTC", in_utc(begins, "%F %T"))));
    }
    facts
}

/// How many operations were in flight, and how long one took.
fn in_flight(in_flight: Option<&InFlight>) -> String {
    let Some(in_flight) = in_flight else {
        return "not known: the trace has no completions".to_owned();
    };
    let share = match in_flight.known_percent {
        // It would be shown as 100 %.
        all if all >= 99.5 => String::new(),
        part => format!("; completions of {} % are known", fixed(part, 0)),
    };
    format!(
        "{} in the mean, {} or fewer for 99 % of the time, {} at most; an operation took {} in the \
         mean, {} at most{share}",
        fixed(in_flight.mean, 1),
        in_flight.p99,
        in_flight.max,
        latency(in_flight.latency_mean_ns),
        latency(in_flight.latency_max_ns as f64)
    )
}

/// The pauses of a second or longer: how many, how long together, and the longest.
fn pauses(character: &Character, begins: Option<u64>) -> String {
    let idle = &character.idle;
    if idle.gaps == 0 {
        return "none of a second or longer".to_owned();
    }
    format!(
        "{} of a second or longer, {} s together; the longest {} s, from {}",
        count(idle.gaps as f64),
        fixed(idle.total_ns as f64 / SECOND, 1),
        fixed(idle.longest_ns as f64 / SECOND, 1),
        moment(begins, idle.longest_at_ns)
    )
}

/// Operations, bytes and sizes by direction, and of all directions together if there are several.
fn mix(character: &Character) -> Part {
    let mut rows = Vec::new();
    for mix in &character.directions {
        let mut row = vec![
            mix.direction.name().to_owned(),
            count(mix.operations as f64),
            format!("{} %", fixed(mix.operations_percent, 0)),
            size(mix.bytes),
        ];
        row.extend(sizes(mix.sizes));
        rows.push(row);
    }
    if character.directions.len() > 1 {
        let mut all = vec![
            "all".to_owned(),
            count(character.operations as f64),
            String::new(),
            size(character.bytes),
        ];
        all.extend(sizes(character.sizes));
        rows.push(all);
    }
    let titles = ["COUNT", "SHARE", "BYTES", "KiB P50", "P90", "MAX"];
    Part::table_section("Operations", Column::named("", titles), rows)
}

/// The median, the 90th percentile and the maximum, in KiB.
fn sizes(sizes: Option<Sizes>) -> [String; 3] {
    match sizes {
        Some(sizes) => [sizes.p50_bytes, sizes.p90_bytes, sizes.max_bytes]
            .map(|bytes| trimmed(bytes as f64 / 1024.0, 1)),
        None => ["-", "-", "-"].map(str::to_owned),
    }
}

/// For each length of a window, the busiest one.
fn peaks(character: &Character, begins: Option<u64>) -> Part {
    // A window that is longer than the trace has no peak: its rate would be below the mean.
    let shortest = character.peaks.iter().map(|peak| peak.window_ns).min();
    let peaks = character
        .peaks
        .iter()
        .filter(|peak| peak.window_ns <= character.duration_ns || Some(peak.window_ns) == shortest);
    let rows = peaks.map(|peak| {
        let times = character.iops_mean.map(|mean| peak.iops_max / mean);
        vec![
            format!("{} s", trimmed(peak.window_ns as f64 / SECOND, 1)),
            if peak.iops_max < 0.05 {
                fine_rate(peak.iops_max)
            } else {
                trimmed(peak.iops_max, 1)
            },
            moment(begins, peak.at_ns),
            times.map_or_else(|| "-".to_owned(), |times| fixed(times, 1)),
            throughput(peak.bytes_per_s_max),
            peak.dispersion
                .map_or_else(|| "-".to_owned(), |value| fixed(value, 1)),
        ]
    });
    let titles = ["IOPS", "AT", "x MEAN", "MiB/s", "DISPERSION"];
    Part::table_section("Busiest windows", Column::named("WINDOW", titles), rows)
}

/// Which share of accesses a cache of each size would hit.
fn reuse(reuse: &Reuse) -> Part {
    let rows = reuse.hits.iter().map(|hit| {
        vec![
            size(hit.cache_bytes),
            format!("{} %", fixed(hit.hit_percent, 1)),
        ]
    });
    let exactness = match reuse.sampled_one_in {
        1 => "every page is counted".to_owned(),
        many => format!(
            "one page in {} is counted, so shares are off by about {} points",
            count(many as f64),
            fixed(reuse.error_points, 1)
        ),
    };
    let text = format!(
        "What a cache that keeps what was used last would hit: {exactness}. {} % of the accesses \
         are the first to their page, and no cache hits them.",
        fixed(reuse.first_percent, 1)
    );
    let parts = vec![
        Part::Prose(text),
        Part::indented_table(Column::named("CACHE", ["HITS"]), rows),
    ];
    Part::section("Reuse", parts)
}

/// The course of the load, slot by slot.
fn profile(character: &Character, begins: Option<u64>) -> Part {
    let rows = character.profile.iter().map(|slot| {
        vec![
            moment(begins, slot.from_ns),
            fine_rate(slot.iops),
            count(slot.iops_max as f64),
            throughput(slot.bytes_per_s),
            size(slot.working_set_bytes),
        ]
    });
    let titles = ["IOPS", "BUSIEST 1 s", "MiB/s", "WORKING SET"];
    Part::table_section("Over time", Column::named("FROM", titles), rows)
}

/// The most devices that are listed.
const MOST_DEVICES: usize = 40;

/// The busiest devices, by operations.
fn devices(character: &Character) -> Part {
    let mut devices: Vec<_> = character.devices.iter().collect();
    devices.sort_by_key(|device| std::cmp::Reverse(device.operations));
    let rows = devices
        .iter()
        .take(MOST_DEVICES)
        .map(|device| vec![device.name.clone(), count(device.operations as f64)]);
    let mut parts = vec![Part::indented_table(
        Column::named("NAME", ["OPERATIONS"]),
        rows,
    )];
    let more = devices.len().saturating_sub(MOST_DEVICES);
    if more > 0 {
        let more = format!("and {} (--json shows all)", plural(more, "more device"));
        parts.push(Part::Entries(vec![Entry::aside(MARGIN, more)]));
    }
    Part::section("Devices", parts)
}

/// A throughput in MiB per second, with up to two decimals; a small one with two significant
/// digits.
pub(super) fn throughput(bytes_per_s: f64) -> String {
    match bytes_per_s / MIB {
        small if small < 0.1 => significant(small, 2),
        value => trimmed(value, 2),
    }
}

/// A size in its largest binary unit, with one decimal: `1.0 MiB`.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for larger in ["MiB", "GiB", "TiB"] {
        // With one decimal, a larger value would be shown as 1,024.0.
        if value < 1023.95 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", fixed(value, 1))
}

const DAY_NS: u64 = 86_400_000_000_000;

/// A moment of a trace, `ns` after its beginning: the time of day in UTC if that is known, on a later
/// day with month and day (`02-24 05:02:05`), else the time since the beginning.
pub fn moment(begins: Option<u64>, ns: u64) -> String {
    let Some(begins) = begins else {
        let seconds = ns / 1_000_000_000;
        let (hours, rest) = (seconds / 3600, seconds % 3600);
        return format!("{hours:02}:{:02}:{:02}", rest / 60, rest % 60);
    };
    let at = begins.saturating_add(ns);
    let is_first_day = at / DAY_NS == begins / DAY_NS;
    in_utc(at, if is_first_day { "%T" } else { "%m-%d %T" })
}

/// A moment in UTC, from nanoseconds since 1970, in a format of `strftime`.
fn in_utc(at: u64, format: &str) -> String {
    let at = jiff::Timestamp::from_nanosecond(at.into());
    let at = at.expect("64 bits of nanoseconds end before the year 2600");
    at.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use blocklab_trace::Operation;
    use blocklab_trace::character::Characterizer;
    use blocklab_units::Nanos;
    use blocklab_workload::Direction;

    use super::*;

    #[test]
    fn moments_are_those_of_the_day_where_it_is_known() {
        assert_eq!(moment(None, 3_725_000_000_000), "01:02:05");
        let begins = 1_456_200_000_000_000_000;
        assert_eq!(in_utc(begins, "%F %T"), "2016-02-23 04:00:00");
        assert_eq!(moment(Some(begins), 3_725_000_000_000), "05:02:05");
        // The story: of rates over two weeks, the busiest hour was "from 02:00:00".
        let next_day = 3_725_000_000_000 + DAY_NS;
        assert_eq!(moment(Some(begins), next_day), "02-24 05:02:05");
        assert_eq!(moment(None, next_day), "25:02:05");
    }

    /// The busiest minute of a recording of 21 s had 319 IOPS, "0.4 x MEAN".
    #[test]
    fn a_window_longer_than_the_trace_has_no_peak() {
        let mut characterizer = Characterizer::new(false);
        for second in 0..22 {
            let at = Nanos::from_secs(second);
            characterizer.add(&Operation::new(at, Direction::Write, 0, 4096));
        }
        let character = characterizer.end(&[], Vec::new());
        let shown = format!("{:?}", peaks(&character, None));
        assert!(
            shown.contains("\"1 s\"") && !shown.contains("\"60 s\""),
            "{shown}"
        );
    }

    /// The story: of a trace without writes, "- of the written pages had been written before".
    #[test]
    fn a_share_of_nothing_is_left_out() {
        let mut characterizer = Characterizer::new(false);
        characterizer.add(&Operation::new(Nanos::ZERO, Direction::Read, 0, 4096));
        let facts = facts(&characterizer.end(&[], Vec::new()), None);
        let names: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "mean",
                "working set",
                "sequential",
                "unaligned",
                "in flight",
                "pauses"
            ]
        );
    }

    /// The story: of 300 operations one had no completion: "completions of 100 % are known".
    #[test]
    fn completions_of_nearly_all_are_those_of_all() {
        let text = |known_percent| {
            in_flight(Some(&InFlight {
                mean: 1.0,
                p99: 1,
                max: 1,
                known_percent,
                latency_mean_ns: 1e6,
                latency_max_ns: 1_000_000,
            }))
        };
        assert!(text(99.4).ends_with("; completions of 99 % are known"));
        assert!(text(99.7).ends_with("1.00 ms at most"));
    }

    /// The story: of 45 devices, five were left out without a word.
    #[test]
    fn devices_that_are_not_listed_are_counted() {
        let mut characterizer = Characterizer::new(false);
        for target in 0..42 {
            characterizer.add(&Operation {
                at: Nanos::from_secs(1),
                took: None,
                offset: 0,
                len: 4096,
                target,
                direction: Direction::Read,
            });
        }
        let names: Vec<String> = (0..42).map(|target| format!("d{target}")).collect();
        let shown = format!("{:?}", devices(&characterizer.end(&names, Vec::new())));
        assert!(
            shown.contains("and 2 more devices (--json shows all)"),
            "{shown}"
        );
    }

    #[test]
    fn sizes_have_a_unit_and_one_decimal() {
        assert_eq!(size(1_089_536), "1.0 MiB");
        // The story: a working set of 36 bytes less than a MiB was "1,024.0 KiB".
        assert_eq!(size(1_048_540), "1.0 MiB");
        assert_eq!(size(5 << 50), "5,120.0 TiB");
    }
}
