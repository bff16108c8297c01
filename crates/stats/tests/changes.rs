//! How often changes are found that are there, and how often ones that are not: on series drawn by
//! seed.

use blocklab_stats::changes;

/// Uniform numbers of a seed (splitmix64).
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of mean 0 and deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().max(f64::MIN_POSITIVE).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Normal, 3 %.
    Clean,
    /// And a run in twenty is a fifth to a half slower.
    Outliers,
    /// And three runs of ten are 6 % slower, as on shared hosts.
    TwoModes,
}

const RUNS: usize = 40;

/// 40 runs of 1,000 of which the last `since` are `step` times as fast.
fn series(seed: u64, noise: Noise, step: f64, since: usize) -> Vec<f64> {
    let mut draw = Draw(seed);
    let run = |place: usize| {
        let level = if place >= RUNS - since { step } else { 1.0 };
        let scatter = 1.0 + 0.03 * draw.normal();
        let (which, how_much) = (draw.uniform(), draw.uniform());
        let disturbed = match noise {
            Noise::Outliers if which < 0.05 => 0.8 - 0.3 * how_much,
            Noise::TwoModes if which < 0.3 => 0.94,
            _ => 1.0,
        };
        1000.0 * level * scatter * disturbed
    };
    (0..RUNS).map(run).collect()
}

/// Of `number` series, in per cent: those with any change, and those with one in the right direction
/// within two runs of its place.
fn found(number: u64, noise: Noise, step: f64, since: usize) -> (f64, f64) {
    let (mut any, mut right) = (0, 0);
    for seed in 0..number {
        let found = changes(&series(seed, noise, step, since));
        any += u64::from(!found.is_empty());
        let is_right = |change: &blocklab_stats::Change| {
            (change.after < change.before) == (step < 1.0) && change.at.abs_diff(RUNS - since) <= 2
        };
        right += u64::from(found.iter().any(is_right));
    }
    let percent = |count: u64| count as f64 * 100.0 / number as f64;
    (percent(any), percent(right))
}

#[test]
fn few_changes_are_found_where_there_are_none() {
    for (noise, most) in [
        (Noise::Clean, 0.5),
        (Noise::Outliers, 1.5),
        (Noise::TwoModes, 1.5),
    ] {
        let (any, _) = found(1000, noise, 1.0, 0);
        assert!(any <= most, "{noise:?}: {any} % of the series cry");
    }
}

#[test]
fn a_step_of_ten_per_cent_is_found_after_six_runs() {
    for (noise, least) in [
        (Noise::Clean, 99.0),
        (Noise::Outliers, 90.0),
        (Noise::TwoModes, 90.0),
    ] {
        let (any, right) = found(1000, noise, 0.9, 6);
        assert!(any >= least, "{noise:?}: {any} %");
        assert!(right >= least - 5.0, "{noise:?}: {right} % in their place");
    }
}
