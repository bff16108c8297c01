//! In: what is true of two runs, how their passes scatter, and a seed. Out: how a gate answers many
//! runs drawn so. A module of its own because the test holds the rule to a few of these draws, and
//! the example `gates` prints all of them.

use blocklab_compare::compare::{Margins, compare};
use blocklab_compare::gate::{Answer, Condition, Evidence, LoadCondition, answer};
use blocklab_findings::Finding;
use blocklab_random::Stream;
use blocklab_record::Record;

#[path = "../../../record/tests/sketch/mod.rs"]
#[allow(dead_code, reason = "no case here has its rates alone")]
mod sketch;
use sketch::{Sketch, record};

/// Rate of a load of which nothing changed, in operations a second.
pub const RATE: f64 = 10_000.0;

/// How the rates of passes lie around the truth, in logarithms.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noise {
    /// Standard deviation from pass to pass.
    pub pass: f64,
    /// Standard deviation from run to run: all passes of a run have it in common, so nothing in the
    /// run shows it.
    pub run: f64,
    /// Whether one pass in ten loses 5 to 40 % besides, as beside a neighbour.
    pub has_outliers: bool,
}

impl Noise {
    /// From pass to pass only, normal.
    pub const fn of_passes(pass: f64) -> Self {
        Self {
            pass,
            run: 0.0,
            has_outliers: false,
        }
    }
}

/// Runs of which a gate is asked.
#[derive(Debug, Clone)]
pub struct Draw {
    /// The rate of each load in the run that is judged, over that of the baseline.
    pub truths: Vec<f64>,
    /// Passes of either run.
    pub passes: usize,
    /// Of either run.
    pub noise: Noise,
    /// Which runs are drawn.
    pub seed: u64,
}

/// How often a gate gave each answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answers {
    pub passed: u32,
    pub undecided: u32,
    pub failed: u32,
}

impl Answers {
    fn add(&mut self, answer: Answer) {
        match answer {
            Answer::Pass => self.passed += 1,
            Answer::Undecided => self.undecided += 1,
            Answer::Fail => self.failed += 1,
        }
    }
}

/// The answers to a condition, of as many drawn pairs of a baseline and a run.
pub fn answers(draw: &Draw, condition: &str, pairs: u32) -> Answers {
    let condition: Condition = condition.parse().expect(condition);
    let condition = [LoadCondition::from(condition)];
    let unchanged = vec![1.0; draw.truths.len()];
    let mut counted = Answers::default();
    for pair in 0..pairs {
        let mut stream = Stream::new(draw.seed, "gates", u64::from(pair));
        let baseline = drawn(draw, &unchanged, &mut stream);
        let run = drawn(draw, &draw.truths, &mut stream);
        counted.add(answer_to(&condition, &baseline, &run));
    }
    counted
}

fn answer_to(conditions: &[LoadCondition], baseline: &Record, run: &Record) -> Answer {
    let comparison = compare(&[baseline, run], 0, Margins::default());
    let none: &[Finding] = &[];
    let evidence = Evidence {
        runs: &[(baseline, none), (run, none)],
        comparison: Some(&comparison),
        history: None,
        compared: None,
    };
    answer(conditions, evidence).expect("a condition").answer
}

/// A record of a load for each truth.
fn drawn(draw: &Draw, truths: &[f64], stream: &mut Stream) -> Record {
    let sketches: Vec<Sketch> = truths
        .iter()
        .enumerate()
        .map(|(place, truth)| {
            let of_run = draw.noise.run * stream.normal();
            let passes = 0..draw.passes;
            Sketch {
                iops: passes
                    .map(|_| RATE * truth * of_run.exp() * scatter(draw.noise, stream))
                    .collect(),
                ..Sketch::named(&format!("load-{place}"))
            }
        })
        .collect();
    record(&sketches)
}

/// What a pass has over the truth.
fn scatter(noise: Noise, stream: &mut Stream) -> f64 {
    let usual = (noise.pass * stream.normal()).exp();
    if noise.has_outliers && stream.unit() < 0.1 {
        usual * (0.6 + 0.35 * stream.unit())
    } else {
        usual
    }
}
