//! In: a run of several hosts. Out: the figures of each host, and how far the hosts ran at the same
//! time.

use blocklab_findings::fleet::host_rows;
use blocklab_findings::{Assessment, RowDirection};
use blocklab_record::{ClockOffset, Fleet, FleetPass, Record};
use blocklab_units::{Nanos, agreeing, plural};

use crate::document::{Column, Entry, Group, Layout, MARGIN, Part, Row};
use crate::words::facts;

/// What the common window is.
const WINDOW: &str = "The common window lies after the last ramp and before the first end; a slice that \
                      lies partly in it counts in that part.";

/// The hosts, case by case; empty for a run of one host.
pub fn fleet(record: &Record, assessment: &Assessment) -> Vec<Part> {
    let Some(fleet) = &record.fleet else {
        return Vec::new();
    };
    let rows = assessment
        .rows
        .iter()
        .flat_map(|row| hosts_of(record, fleet, &row.case));
    let layout = Layout::Narrow { margin: MARGIN + 2 };
    let columns = Column::named_and_words("", ["MB/s", "IOPS", "mean", "p50", "p99"], "run");
    let title = format!("{} that ran together", plural(fleet.hosts.len(), "host"));
    let lost = fleet
        .lost
        .iter()
        .map(|host| Entry::aside(MARGIN, format!("lost: {}: {}", host.name, host.why)));
    let mut entries: Vec<Entry> = lost.collect();
    // Simulated hosts have no time in common, and so no skews.
    if fleet.passes.iter().any(|pass| pass.start_skew_ns.is_some()) {
        entries.push(Entry::aside(MARGIN, clocks(fleet)));
        entries.push(Entry::aside(MARGIN, WINDOW));
    }
    let mut parts = vec![Part::whole_table(layout, columns, rows)];
    parts.extend((!entries.is_empty()).then_some(Part::Entries(entries)));
    vec![Part::section(title, parts)]
}

/// The rows of a case: a row for each host and direction, under the name of the case.
fn hosts_of(record: &Record, fleet: &Fleet, case: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for of_host in host_rows(record, case) {
        let run = fleet.hosts.iter().find(|host| host.name == of_host.host);
        for direction in &of_host.row.directions {
            let mut cells = vec![format!("{} {}", of_host.host, direction.direction)];
            cells.extend(figures(direction));
            cells.push(run.map_or_else(String::new, |host| host.run.clone()));
            rows.push(Row::from(cells));
        }
    }
    if let Some(first) = rows.first_mut() {
        first.group = Some(Group::titled(case));
    }
    if let Some(last) = rows.last_mut() {
        last.below = together(fleet, case).unwrap_or_default();
    }
    rows
}

fn figures(direction: &RowDirection) -> [String; 5] {
    [
        facts::mb_per_s(direction.bytes_per_s.value),
        facts::fine_rate(direction.iops.value),
        facts::mean(direction),
        facts::service_percentile(direction, "p50"),
        facts::service_percentile(direction, "p99"),
    ]
}

/// How far the hosts ran a case at the same time, in the worst pass; `None` if no times are known.
fn together(fleet: &Fleet, case: &str) -> Option<String> {
    let passes = fleet.whole_passes(case);
    let worst = |skew: fn(&FleetPass) -> Option<u64>| passes.clone().filter_map(skew).max();
    let start = Nanos(worst(|pass| pass.start_skew_ns)?);
    let end = Nanos(worst(|pass| pass.end_skew_ns)?);
    let window = passes
        .clone()
        .filter_map(|pass| pass.window_percent)
        .reduce(f64::min)?;
    let rates: Vec<f64> = passes.filter_map(|pass| pass.iops).collect();
    // Hosts that were never measured at once had no rate at once.
    let had = match rates.len() {
        0 => String::new(),
        known => {
            let mean = rates.iter().sum::<f64>() / known as f64;
            format!(", in which all had {} IOPS", facts::iops(mean))
        }
    };
    Some(format!(
        "together for {} of the time{had}; the starts lie {start} apart at most, the ends {end}",
        facts::percent(window)
    ))
}

/// How far the clocks of the hosts can be trusted.
fn clocks(fleet: &Fleet) -> String {
    // Clocks that were compared with each other tell more than what each kernel says of its own.
    let compared = fleet.hosts.iter().filter_map(|host| host.clock.as_ref());
    let befores = compared.clone().map(|clock| &clock.before);
    let afters = compared.filter_map(|clock| clock.after.as_ref());
    let apart = [farthest_apart(befores), farthest_apart(afters)];
    if let Some((apart, error)) = apart.into_iter().flatten().max() {
        return format!(
            "Skews are by one clock: those of the hosts were compared before and after the run. They \
             are at most {apart} apart, which is known to {error}."
        );
    }
    format!("Skews are by the clocks of the hosts. {}", estimates(fleet))
}

/// How far any two clocks are apart at most, and the error of that; `None`: none was compared. The
/// offsets are from the clock of the first host, which has none itself.
fn farthest_apart<'c>(offsets: impl Iterator<Item = &'c ClockOffset>) -> Option<(Nanos, Nanos)> {
    let others = offsets.map(|clock| (clock.offset_ns, clock.round_trip_ns));
    let mut clocks: Vec<(i64, u64)> = [(0, 0)].into_iter().chain(others).collect();
    clocks.sort_unstable();
    let [slowest, .., fastest] = clocks[..] else {
        return None;
    };
    // An answer may have come from any moment of the round trip.
    let error = slowest.1.saturating_add(fastest.1) / 2;
    Some((Nanos(fastest.0.abs_diff(slowest.0)), Nanos(error)))
}

/// What the kernels say about the error of their own clocks.
fn estimates(fleet: &Fleet) -> String {
    let known = fleet
        .hosts
        .iter()
        .filter_map(|host| host.environment.clock_quality);
    let worst = known.clone().map(|quality| quality.max_error_ns).max();
    let loose = known.filter(|quality| !quality.is_synchronised).count();
    match (worst, loose) {
        (None, _) => "Nothing is known of the clocks of the hosts.".to_owned(),
        (Some(worst), 0) => format!(
            "By the kernels' own estimate, no clock is off by more than {}.",
            Nanos(worst)
        ),
        (Some(_), loose) => format!(
            "{loose} of {} {} not kept in step by anything.",
            plural(fleet.hosts.len(), "clock"),
            agreeing(loose, "is", "are")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(offset_ns: i64, round_trip_ns: u64) -> ClockOffset {
        ClockOffset {
            offset_ns,
            monotonic_offset_ns: String::new(),
            round_trip_ns,
            at_unix_us: 0,
        }
    }

    /// The story: of three hosts, one 5 ms ahead of the first and one 3 ms behind it, the clocks were
    /// "at most 5.00 ms apart".
    #[test]
    fn two_clocks_are_apart_on_either_side_of_the_first() {
        let apart = |offsets: &[ClockOffset]| farthest_apart(offsets.iter());
        let both = [offset(5_000_000, 40_000), offset(-3_000_000, 60_000)];
        assert_eq!(apart(&both), Some((Nanos(8_000_000), Nanos(50_000))));
        assert_eq!(apart(&both[1..]), Some((Nanos(3_000_000), Nanos(30_000))));
        assert_eq!(apart(&[]), None);
    }
}
