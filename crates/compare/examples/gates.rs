//! How often a gate fails by chance, and how often it finds what is there: runs drawn by seed, asked
//! by the code that `--fail-on` asks. `bench/gates` builds and calls it; docs/pipelines.md has the
//! table that it prints.

use std::env;

#[path = "../tests/drawn/mod.rs"]
mod drawn;
use drawn::{Draw, Noise, answers};

/// The bounds lie where a truth of 1 does: latencies are what Little's law makes of depth 32, and the
/// p99 of the drawn shape is 1.4 times that.
const BOUNDS: [&str; 2] = ["iops<10000", "p99>4.48ms"];

/// A row of the table.
struct Row {
    condition: String,
    truth: &'static str,
    truths: Vec<f64>,
    scatter: (&'static str, Noise),
    passes: usize,
}

fn main() {
    let pairs = env::args().nth(1).map(|text| text.parse());
    let pairs: u32 = pairs.transpose().expect("a number of pairs").unwrap_or(500);
    println!(
        "| condition | truth | a pass scatters by | loads | passes | pass | undecided | fail |"
    );
    println!("|---|---|---|--:|--:|--:|--:|--:|");
    for row in comparisons().into_iter().chain(bounds()) {
        let draw = Draw {
            truths: row.truths,
            passes: row.passes,
            noise: row.scatter.1,
            seed: 1,
        };
        let found = answers(&draw, &row.condition, pairs);
        let [passed, undecided, failed] = [found.passed, found.undecided, found.failed]
            .map(|count| format!("{:.1} %", f64::from(count) / f64::from(pairs) * 100.0));
        println!(
            "| `{}` | {} | {} | {} | {} | {passed} | {undecided} | {failed} |",
            row.condition,
            row.truth,
            row.scatter.0,
            draw.truths.len(),
            row.passes
        );
    }
}

fn comparisons() -> Vec<Row> {
    const THREE: (&str, Noise) = ("3 %", Noise::of_passes(0.03));
    const TEN: (&str, Noise) = ("10 %", Noise::of_passes(0.1));
    const THIRTY: (&str, Noise) = ("30 %", Noise::of_passes(0.3));
    let outliers = Noise {
        has_outliers: true,
        ..THREE.1
    };
    let outliers = ("3 %, one in ten loses 5 to 40 %", outliers);
    let between = Noise {
        run: 0.02,
        ..THREE.1
    };
    let between = ("3 %, and a run by 2 %", between);
    const SAME: &str = "nothing lost";
    const AT: &str = "5 % lost";
    const TWICE: &str = "10 % lost";
    const ONE: &str = "one load of them lost 10 %";
    let one_of_eight = [[1.0; 7].as_slice(), &[0.9]].concat();
    let rows = [
        (5, SAME, vec![1.0], THREE, 6),
        (5, AT, vec![0.95], THREE, 6),
        (5, TWICE, vec![0.9], THREE, 6),
        (5, TWICE, vec![0.9], THREE, 8),
        (5, SAME, vec![1.0], outliers, 6),
        (5, TWICE, vec![0.9], outliers, 6),
        (5, TWICE, vec![0.9], outliers, 20),
        (5, SAME, vec![1.0], between, 6),
        (5, TWICE, vec![0.9], between, 6),
        (5, SAME, vec![1.0], THIRTY, 6),
        (0, SAME, vec![1.0], THREE, 6),
        (5, SAME, vec![1.0; 8], THREE, 6),
        (5, SAME, vec![1.0; 8], TEN, 6),
        (5, SAME, vec![1.0; 8], THIRTY, 6),
        (0, SAME, vec![1.0; 8], THREE, 6),
        (5, AT, vec![0.95; 8], THREE, 6),
        (5, ONE, one_of_eight.clone(), THREE, 6),
        (5, ONE, one_of_eight, THREE, 8),
        (5, TWICE, vec![0.9; 8], THREE, 6),
    ];
    let rows = rows.map(|(percent, truth, truths, scatter, passes)| Row {
        condition: format!("slower:{percent}%"),
        truth,
        truths,
        scatter,
        passes,
    });
    rows.into()
}

fn bounds() -> Vec<Row> {
    let truths = [
        ("10 % better", vec![1.1]),
        ("at the bound", vec![1.0]),
        ("10 % worse", vec![0.9]),
        ("at the bound", vec![1.0; 8]),
    ];
    let rows = BOUNDS.into_iter().flat_map(|condition| {
        truths.clone().map(|(truth, truths)| Row {
            condition: condition.to_owned(),
            truth,
            truths,
            scatter: ("3 %", Noise::of_passes(0.03)),
            passes: 6,
        })
    });
    rows.collect()
}
