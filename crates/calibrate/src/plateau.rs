//! Where more depth brings nothing more: candidates for caps.

use blocklab_stats::median;

use super::cells::Cell;

/// A load that does not grow with depth any more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plateau {
    pub sequential: bool,
    pub block: u64,
    pub iops: f64,
}

impl Plateau {
    fn bytes_per_s(&self) -> f64 {
        self.iops * self.block as f64
    }
}

/// Twice the depth brought less than this: flat.
const GROWTH: f64 = 0.05;
/// Plateaus of one limiter are the same within this (rule of the published tables: ±2.5 %).
const SAME: f64 = 0.025;

/// Levels beyond these are of small operations, which bytes do not limit.
const MOST_LEVELS: usize = 5;

/// The plateau of cells of one load in order of depth; `None` while they still grow.
pub(super) fn plateau(cells: &[&Cell]) -> Option<Plateau> {
    let [.., before, deepest] = cells else {
        return None;
    };
    let deeper = deepest.load.depth >= 2 * before.load.depth;
    let flat = deepest.lasting_iops <= before.lasting_iops * (1.0 + GROWTH);
    if !deeper || !flat || deepest.cpu_bound || before.cpu_bound {
        return None;
    }
    // Cells just below a knee are near the level too, and would draw a mean down.
    let top = deepest.lasting_iops;
    let near = cells
        .iter()
        .map(|cell| cell.lasting_iops)
        .filter(|iops| near(*iops, top));
    let level: Vec<f64> = near.collect();
    Some(Plateau {
        sequential: deepest.load.sequential,
        block: deepest.load.block,
        iops: median(&level),
    })
}

fn near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= SAME
}

/// All plateaus of a direction, by pattern and size.
pub(super) fn plateaus<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<Plateau> {
    let cells: Vec<&Cell> = cells.collect();
    cells
        .chunk_by(|a, b| (a.load.sequential, a.load.block) == (b.load.sequential, b.load.block))
        .filter_map(plateau)
        .collect()
}

/// A value that a cap may have, and the loads that show it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    pub value: f64,
    pub shown_by: Vec<Plateau>,
}

/// Operations a second: what the smallest random operations reach, and those that reach the same.
pub(super) fn operations(plateaus: &[Plateau]) -> Option<Level> {
    let random = plateaus.iter().filter(|plateau| !plateau.sequential);
    let first = random.clone().min_by_key(|plateau| plateau.block)?;
    level(random, first.iops, |plateau| plateau.iops)
}

/// Bytes a second: what the largest operations reach at most and those that reach the same; then
/// what other sizes reach. A medium may keep its largest operations below a limiter that smaller
/// ones meet.
pub(super) fn bytes(plateaus: &[Plateau]) -> Vec<Level> {
    let mut sorted: Vec<&Plateau> = plateaus.iter().collect();
    sorted.sort_by(|a, b| {
        let by_rate = b.bytes_per_s().total_cmp(&a.bytes_per_s());
        b.block.cmp(&a.block).then(by_rate)
    });
    let mut levels: Vec<Level> = Vec::new();
    for plateau in sorted {
        let known = levels.iter().any(|level| level.shown_by.contains(plateau));
        if !known && levels.len() < MOST_LEVELS {
            let at = plateau.bytes_per_s();
            levels.extend(level(plateaus.iter(), at, Plateau::bytes_per_s));
        }
    }
    levels
}

/// The median of the plateaus near `at`, with those that show it; `None` if there are none.
fn level<'a>(
    plateaus: impl Iterator<Item = &'a Plateau>,
    at: f64,
    value: impl Fn(&Plateau) -> f64,
) -> Option<Level> {
    let shown_by: Vec<Plateau> = plateaus
        .filter(|plateau| near(value(plateau), at))
        .copied()
        .collect();
    let values: Vec<f64> = shown_by.iter().map(value).collect();
    (!shown_by.is_empty()).then(|| Level {
        value: median(&values),
        shown_by,
    })
}

#[cfg(test)]
mod tests {
    use blocklab_stats::Histogram;

    use super::*;
    use crate::cells::{Load, LoadDirection};

    fn cells(rates: &[(u32, f64)]) -> Vec<Cell> {
        let cell = |(depth, iops): &(u32, f64)| Cell {
            load: Load {
                direction: LoadDirection::Read,
                sequential: false,
                block: 4096,
                depth: *depth,
            },
            iops: *iops,
            lasting_iops: *iops,
            range: None,
            mean_ns: 1.0,
            read_mean_ns: 1.0,
            mean_error: 0.0,
            count: 1000,
            histogram: Histogram::new(),
            cpu_bound: false,
            busy: false,
        };
        rates.iter().map(cell).collect()
    }

    #[track_caller]
    fn check(rates: &[(u32, f64)], level: Option<f64>) {
        let cells = cells(rates);
        let found = plateau(&cells.iter().collect::<Vec<_>>());
        assert_eq!(found.map(|plateau| plateau.iops), level);
    }

    #[test]
    fn flat_is_what_twice_the_depth_does_not_lift() {
        check(&[(1, 1000.0), (64, 3000.0), (128, 3002.0)], Some(3001.0));
        check(
            &[(4, 2940.0), (16, 3000.0), (64, 3000.0), (128, 3000.0)],
            Some(3000.0),
        );
        check(&[(1, 1000.0), (64, 2000.0), (128, 3000.0)], None);
        check(&[(100, 3000.0), (128, 3000.0)], None);
        check(&[(128, 3000.0)], None);
        check(&[], None);
    }

    #[test]
    fn levels_of_operations_and_of_bytes() {
        let at = |kib: u64, iops| Plateau {
            sequential: false,
            block: kib << 10,
            iops,
        };
        // 3,000 operations, then 125 MiB/s.
        let all = [
            at(4, 3000.0),
            at(16, 3001.0),
            at(64, 2000.0),
            at(256, 500.0),
            at(1024, 125.0),
        ];
        let ops = operations(&all).expect("a level");
        assert_eq!((ops.value, ops.shown_by.len()), (3000.5, 2));
        let bytes = bytes(&all);
        assert_eq!(
            (bytes[0].value, bytes[0].shown_by.len()),
            (125.0 * 1_048_576.0, 3)
        );
        assert!(operations(&[]).is_none());
    }
}
