//! In: operations of each second. Out: phases of a steady rate, and in each the bursts that stand out of
//! it.
//!
//! A file of its own: it knows counts and no operation. Phases are found by cutting where a Poisson
//! process of one rate explains the counts worst, until a cut explains less than a twentieth of what
//! one rate for everything leaves unexplained.

/// Most phases: a study has to be read by people.
const MOST_PHASES: usize = 8;
/// Steps in which phases are sought, at most.
const STEPS: usize = 240;
/// A cut has to explain this share of what one rate leaves unexplained.
const WORTH: f64 = 0.05;
/// And so much at least, which chance alone does not: a likelihood 20,000 times as large.
const SURE: f64 = 10.0;
/// A second is in a burst if it has more than this many times the median of its phase, and
/// [`BURST_FLOOR`] more.
const BURST_TIMES: u32 = 4;
const BURST_FLOOR: u32 = 8;
/// Bursts with a smaller share of the operations of their phase are left to the mean rate.
const BURST_SHARE: f64 = 0.1;

/// A part of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phase {
    /// Its first second.
    pub(super) from: usize,
    /// The second behind its last one.
    pub(super) until: usize,
    /// What stands out of it.
    pub(super) bursts: Option<Bursts>,
}

/// Bursts of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bursts {
    /// Their number: runs of seconds above the bound.
    pub(super) runs: u32,
    /// A second with more operations than this belongs to one.
    pub(super) above: u32,
}

/// The phases of these counts, in order and without a gap.
pub(super) fn phases(seconds: &[u32]) -> Vec<Phase> {
    let width = seconds.len().div_ceil(STEPS).max(1);
    let mut sums = vec![0_u64];
    for step in seconds.chunks(width) {
        let count: u64 = step.iter().map(|count| u64::from(*count)).sum();
        sums.push(sums[sums.len() - 1] + count);
    }
    let mut cuts = vec![0, sums.len() - 1];
    let single = (0..sums.len() - 1).map(|step| fit(&sums, step, step + 1));
    let unexplained = single.sum::<f64>() - fit(&sums, 0, sums.len() - 1);
    while cuts.len() <= MOST_PHASES {
        let pairs = cuts.windows(2);
        let found = pairs.filter_map(|pair| best_cut(&sums, pair[0], pair[1]));
        let best = found.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((cut, _)) = best.filter(|(_, gain)| *gain > SURE.max(WORTH * unexplained)) else {
            break;
        };
        cuts.push(cut);
        cuts.sort_unstable();
    }
    let pairs = cuts.windows(2);
    pairs
        .map(|pair| {
            let (from, until) = (pair[0] * width, (pair[1] * width).min(seconds.len()));
            Phase {
                from,
                until,
                bursts: bursts(&seconds[from..until]),
            }
        })
        .collect()
}

/// How well one rate fits these steps: the logarithm of the likelihood, without what all cuts share.
fn fit(sums: &[u64], from: usize, until: usize) -> f64 {
    let count = (sums[until] - sums[from]) as f64;
    if count == 0.0 {
        return 0.0;
    }
    count * (count / (until - from) as f64).ln()
}

fn best_cut(sums: &[u64], from: usize, until: usize) -> Option<(usize, f64)> {
    let whole = fit(sums, from, until);
    let cuts = (from + 1..until).map(|cut| {
        let gain = fit(sums, from, cut) + fit(sums, cut, until) - whole;
        (cut, gain)
    });
    cuts.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn bursts(seconds: &[u32]) -> Option<Bursts> {
    let mut sorted = seconds.to_vec();
    sorted.sort_unstable();
    let above = sorted.get(sorted.len() / 2)?.saturating_mul(BURST_TIMES) + BURST_FLOOR;
    let all: u64 = seconds.iter().map(|count| u64::from(*count)).sum();
    let (mut runs, mut within, mut was_in) = (0, 0_u64, false);
    for count in seconds {
        let is_in = *count > above;
        runs += u32::from(is_in && !was_in);
        within += if is_in { u64::from(*count) } else { 0 };
        was_in = is_in;
    }
    let is_worth = within as f64 >= BURST_SHARE * all as f64;
    (runs >= 2 && is_worth).then_some(Bursts { runs, above })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_of_one_rate_is_one_phase() {
        let even = vec![20; 1000];
        let found = phases(&even);
        assert_eq!((found.len(), found[0].bursts), (1, None));
        assert_eq!((found[0].from, found[0].until), (0, 1000));
        assert!(phases(&[5]).len() == 1);
    }

    #[test]
    fn a_busy_minute_is_a_phase() {
        let mut seconds = vec![10; 600];
        seconds[240..300].fill(500);
        let found = phases(&seconds);
        let spans: Vec<_> = found
            .iter()
            .map(|phase| (phase.from, phase.until))
            .collect();
        assert_eq!(spans, [(0, 240), (240, 300), (300, 600)]);
    }

    #[test]
    fn what_comes_every_ten_seconds_is_a_burst() {
        let seconds: Vec<u32> = (0..200)
            .map(|second| if second % 10 == 0 { 90 } else { 1 })
            .collect();
        let found = phases(&seconds);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].bursts,
            Some(Bursts {
                runs: 20,
                above: 12
            })
        );
    }
}
