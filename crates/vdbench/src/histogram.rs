//! The response times of a run as a histogram, in the layout of Vdbench 5.04.07.

use blocklab_stats::Histogram;

use super::defs::Buckets;

/// What a histogram file holds of a run in which nothing was counted.
pub const NO_STATISTICS: &str = "No statistics generated for this run.\n";

/// One section of the histogram file; empty without operations.
pub fn histogram(title: &str, latencies: &Histogram, buckets: &Buckets) -> String {
    let total = latencies.count();
    if total == 0 {
        return String::new();
    }
    let edges = &buckets.edges;
    let mut counts = vec![0_u64; edges.len() + 1];
    for (middle, count) in latencies.bins() {
        counts[edges.partition_point(|edge| *edge <= middle / 1000)] += count;
    }
    let mut text = format!(
        "{title}\n{:>9} < {:>11} {:>13} {:>8} {:>8}  '+': Individual%; '+-': Cumulative%\n\n",
        "min(ms)", "max(ms)", "count", "%%", "cum%%"
    );
    let mut before = 0;
    let shown = shown(&counts, buckets.suppress);
    for (index, count) in counts.iter().enumerate() {
        let row = row(edges, index, before, *count, total);
        before += count;
        if shown.contains(&index) {
            text.push_str(&row);
        }
    }
    text + "\n"
}

/// Which rows are printed: all, or without the empty ones at both ends but one.
fn shown(counts: &[u64], suppress: bool) -> std::ops::RangeInclusive<usize> {
    let end = counts.len() - 1;
    if !suppress {
        return 0..=end;
    }
    let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(end);
    first.saturating_sub(1)..=(last + 1).min(end)
}

/// The row of the bucket `index` with `count` of the `total` operations; `before`: the operations of
/// the buckets before it. `edges`: as in [`Buckets`]; no index is above their number.
fn row(edges: &[u64], index: usize, before: u64, count: u64, total: u64) -> String {
    let min = index.checked_sub(1).map_or(0, |lower| edges[lower]);
    let max = edges
        .get(index)
        .map_or("max".to_owned(), |edge| millis(*edge));
    let [below, own, up_to] =
        [before, count, before + count].map(|part| part as f64 * 100.0 / total as f64);
    // A bar as Vdbench draws it, a sign for 2 %: `+` for this bucket, `-` for those before it.
    format!(
        "{:>9} < {max:>11} {:>13} {own:>8.4} {up_to:>8.4}  {}{}\n",
        millis(min),
        blocklab_units::count(count as f64),
        "+".repeat((own / 2.0) as usize),
        "-".repeat((below / 2.0) as usize),
    )
}

/// Microseconds as milliseconds: decimals as far as eight characters have room for them.
fn millis(micros: u64) -> String {
    let (whole, thousandths) = (micros / 1000, micros % 1000);
    let mut text = format!("{whole}.{thousandths:03}");
    text.truncate(whole.to_string().len().max(8));
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: &[(u64, u64)]) -> Histogram {
        let mut latencies = Histogram::new();
        for (nanos, count) in values {
            (0..*count).for_each(|_| latencies.record(*nanos));
        }
        latencies
    }

    /// A parser that counted on the rows of 5.04.07 found fewer: the empty ones at both ends and
    /// the one without an upper edge were left out, and the columns were a character narrower. The
    /// expected rows are those of a run of 5.04.07.
    #[test]
    fn all_rows_are_there_as_in_the_original() {
        let latencies = recorded(&[
            (10_000, 197),
            (30_000, 156),
            (50_000, 29),
            (70_000, 17),
            (90_000, 14),
            (150_000, 8),
        ]);
        let text = histogram("Reads and writes:", &latencies, &Buckets::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[30]), (31, ""));
        assert_eq!(lines[0], "Reads and writes:");
        assert_eq!(
            lines[1],
            "  min(ms) <     max(ms)         count       %%    cum%%  '+': Individual%; '+-': Cumulative%"
        );
        assert_eq!(lines[2], "");
        assert_eq!(
            lines[3],
            "    0.000 <       0.020           197  46.7933  46.7933  +++++++++++++++++++++++"
        );
        assert_eq!(
            lines[4],
            "    0.020 <       0.040           156  37.0546  83.8480  ++++++++++++++++++-----------------------"
        );
        assert_eq!(
            lines[8],
            "    0.100 <       0.200             8   1.9002 100.0000  -------------------------------------------------"
        );
        assert_eq!(
            lines[28],
            " 1000.000 <    2000.000             0   0.0000 100.0000  --------------------------------------------------"
        );
        assert_eq!(
            lines[29],
            " 2000.000 <         max             0   0.0000 100.0000  --------------------------------------------------"
        );
    }

    #[test]
    fn large_counts_have_separators() {
        let latencies = recorded(&[(3_000_000_000, 1_234_567)]);
        let text = histogram("Reads:", &latencies, &Buckets::default());
        let last = text.trim_end().lines().last().unwrap_or_default();
        assert!(
            last.starts_with(" 2000.000 <         max     1,234,567 100.0000 100.0000  ++++"),
            "{last}"
        );
    }

    /// The story: the edge `200000s` was printed as 20000000 ms, its last digit cut off.
    #[test]
    fn no_digit_of_an_edge_is_cut_off() {
        for (micros, text) in [
            (20, "0.020"),
            (1_234_567, "1234.567"),
            (12_345_678, "12345.67"),
            (1_234_567_890, "1234567"),
            (200_000_000_000, "200000000"),
        ] {
            assert_eq!(millis(micros), text);
        }
    }

    #[test]
    fn suppressed_ends_keep_one_empty_row() {
        let buckets = Buckets {
            edges: vec![10, 20, 30, 40, 50],
            suppress: true,
        };
        let text = histogram("Reads:", &recorded(&[(25_000, 5)]), &buckets);
        let rows: Vec<&str> = text.lines().skip(3).map(str::trim_start).collect();
        assert_eq!(rows.len(), 4, "{text}");
        assert!(rows[0].starts_with("0.010 <       0.020             0   0.0000   0.0000"));
        assert!(rows[1].starts_with("0.020 <       0.030             5 100.0000 100.0000"));
        assert!(rows[2].starts_with("0.030 <       0.040             0   0.0000 100.0000"));
    }
}
