//! In: the number of operations in each second. Out: phases with a steady rate, and the bursts in each.
//!
//! Within a phase, the counts shall look like a Poisson process with one rate. The time is cut where
//! two rates instead of one raise the likelihood of the counts most, again and again, until a cut
//! gains too little.

/// Most phases, so that people can read the study.
const MAX_PHASES: usize = 8;
/// Most steps of time between which cuts are tried.
const STEPS: usize = 240;
/// Least gain of a cut, as a share of what is left to gain with one rate for everything.
const MIN_GAIN_SHARE: f64 = 0.05;
/// Least gain of a cut in log-likelihood. 10 means 20,000 times as likely, which is no chance.
const MIN_GAIN: f64 = 10.0;
/// A second belongs to a burst if it has more operations than this many times the median of its phase,
/// plus [`BURST_FLOOR`].
const BURST_TIMES: u32 = 4;
const BURST_FLOOR: u32 = 8;
/// Bursts with a smaller share of their phase's operations are not modelled as bursts.
const BURST_SHARE: f64 = 0.1;

/// A span of time with a steady rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phase {
    /// Its first second.
    pub(super) from: usize,
    /// The second after its last one.
    pub(super) until: usize,
    /// Its bursts, if it has any.
    pub(super) bursts: Option<Bursts>,
}

/// Bursts of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bursts {
    /// Their number. Neighbouring seconds above the bound are one burst.
    pub(super) runs: u32,
    /// The bound: a second with more operations than this belongs to a burst.
    pub(super) above: u32,
}

/// The phases of these counts, in order and without a gap.
pub(super) fn phases(seconds: &[u32]) -> Vec<Phase> {
    let width = seconds.len().div_ceil(STEPS).max(1);
    // Cumulative sums, so that the count between any two cuts is one subtraction.
    let mut sums = vec![0_u64];
    for step in seconds.chunks(width) {
        let count: u64 = step.iter().map(|count| u64::from(*count)).sum();
        sums.push(sums[sums.len() - 1] + count);
    }
    let mut cuts = vec![0, sums.len() - 1];
    // The most that cuts could gain: with a rate for each step.
    let single = (0..sums.len() - 1).map(|step| fit(&sums, step, step + 1));
    let unexplained = single.sum::<f64>() - fit(&sums, 0, sums.len() - 1);
    while cuts.len() <= MAX_PHASES {
        let pairs = cuts.windows(2);
        let found = pairs.filter_map(|pair| best_cut(&sums, pair[0], pair[1]));
        let best = found.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((cut, _)) =
            best.filter(|(_, gain)| *gain > MIN_GAIN.max(MIN_GAIN_SHARE * unexplained))
        else {
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

/// How well one rate fits these steps: the log-likelihood of a Poisson process, without the terms that
/// are the same for all cuts.
fn fit(sums: &[u64], from: usize, until: usize) -> f64 {
    let count = (sums[until] - sums[from]) as f64;
    if count == 0.0 {
        return 0.0;
    }
    count * (count / (until - from) as f64).ln()
}

/// The cut between two others that gains most, and its gain.
fn best_cut(sums: &[u64], from: usize, until: usize) -> Option<(usize, f64)> {
    let whole = fit(sums, from, until);
    let cuts = (from + 1..until).map(|cut| {
        let gain = fit(sums, from, cut) + fit(sums, cut, until) - whole;
        (cut, gain)
    });
    cuts.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The bursts of a phase; `None` if there are fewer than two, or they have too few operations.
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
