//! A single run, all loops of its definition resolved, and the lines that announce it.

use super::defs::{LoopKind, RunOptions, Wd};
use super::value::MAX_RATE;

/// The number that the original writes for the rate of a curve's maximum.
const CURVE_RATE: f64 = 9_999_977.0;
/// What a simulation takes for the maximum of a curve, and for the rate of the run before.
const PRETENDED: f64 = 10_000.0;

/// What rate a run requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rate {
    /// As fast as it goes.
    #[default]
    Max,
    /// As fast as it goes, to know the maximum of a curve.
    CurveMax,
    /// This many operations a second.
    Fixed(f64),
    /// This many per cent of what the run before reached.
    PercentOfLast(f64),
    /// This many per cent of the curve's maximum.
    CurvePoint(f64),
}

impl Rate {
    /// A number as parameter files carry it: `max` is one, per cent are below 0.
    pub(super) fn from_number(number: f64) -> Self {
        if number == MAX_RATE {
            Self::Max
        } else if number < 0.0 {
            Self::PercentOfLast(-number)
        } else {
            Self::Fixed(number)
        }
    }

    /// Whether it depends on what an earlier run reached.
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::CurvePoint(_) | Self::PercentOfLast(_))
    }

    /// Whether it goes as fast as it can.
    pub const fn is_max(self) -> bool {
        matches!(self, Self::Max | Self::CurveMax)
    }

    /// The number that banners and flat files show, when the runs before reached `curve_max` and
    /// `last` operations a second.
    pub fn number(self, curve_max: f64, last: f64) -> f64 {
        match self {
            Self::Max => MAX_RATE,
            Self::CurveMax => CURVE_RATE,
            Self::Fixed(rate) => rate,
            Self::PercentOfLast(percent) => share(last, percent),
            Self::CurvePoint(percent) => share(curve_max, percent),
        }
    }
}

/// This many per cent of a rate, rounded as the original does: up to the next 100 above 1000, up
/// to the next 10 below.
pub(super) fn share(rate: f64, percent: f64) -> f64 {
    let share = (rate as i64).saturating_mul(percent as i64) / 100;
    let step = if share > 1000 { 100 } else { 10 };
    ((share + step - 1) / step * step) as f64
}

/// The loops of a run definition in their order, each with the value that it has in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loops(pub Vec<(LoopKind, f64)>);

impl Loops {
    pub(super) fn value(&self, kind: LoopKind) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| *known == kind);
        found.map(|(_, value)| *value)
    }

    /// Names and values as banners show them.
    pub(super) fn settings(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let all = self.0.iter();
        all.map(|(kind, value)| (kind.name().to_owned(), shown(*kind, *value)))
    }

    /// `threads=4 xfersize=4k`
    pub(super) fn words(&self) -> String {
        let settings = self.settings();
        let words = settings.map(|(name, value)| format!("{name}={value}"));
        words.collect::<Vec<_>>().join(" ")
    }

    /// `For loops: threads=4 xfersize=4k`, or `For loops: None`.
    pub fn text(&self) -> String {
        if self.0.is_empty() {
            "For loops: None".to_owned()
        } else {
            format!("For loops: {}", self.words())
        }
    }
}

fn shown(kind: LoopKind, value: f64) -> String {
    match kind {
        _ if value < 0.0 => format!("{}%", -value as i64),
        LoopKind::Iorate if value == MAX_RATE => "max".to_owned(),
        LoopKind::Iorate => (value as i64).to_string(),
        _ => size(value),
    }
}

/// A size with its unit and at most three decimals: `4k`, `1.500k`.
pub(super) fn size(value: f64) -> String {
    if value < 1024.0 {
        return (value as i64).to_string();
    }
    let (mut value, mut unit) = (value / 1024.0, 0);
    while value >= 1024.0 && unit < 4 {
        value /= 1024.0;
        unit += 1;
    }
    let unit = ["k", "m", "g", "t", "p"][unit];
    let text = format!("{value:.3}");
    format!("{}{unit}", text.strip_suffix(".000").unwrap_or(&text))
}

/// One of the rates that take turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Operations a second.
    pub rate: f64,
    /// How long it lasts.
    pub seconds: f64,
}

/// A workload in a run, its loops applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// What is done.
    pub wd: Wd,
    /// Indices of its storage in the parameters.
    pub sds: Vec<usize>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// `rd1`, `rd1_(10%)`.
    pub name: String,
    /// Workloads.
    pub uses: Vec<Use>,
    /// What loops have set.
    pub loops: Loops,
    /// Operations in flight for each storage definition, where a loop sets them.
    pub threads: Option<u32>,
    /// Compression, where a loop sets it.
    pub compratio: Option<f64>,
    /// What rate.
    pub rate: Rate,
    /// The first rate of a list: simulation shows it for all.
    pub first_rate: Rate,
    /// Whether workloads keep their shares, so that none runs ahead of the others.
    pub controlled: bool,
    /// Rates that take turns; empty: there is one rate.
    pub bursts: Vec<Burst>,
    /// What its definition sets.
    pub options: RunOptions,
}

impl Run {
    /// `Starting RD=rd1_(10%); I/O rate: 2700; elapsed=3 warmup=1; For loops: threads=4`.
    pub fn banner(&self, rate: f64) -> String {
        self.announcement("Starting", self.rate, rate)
    }

    /// The same of a simulation, which pretends maxima of 10,000 and, as the original, shows of
    /// a list always the first rate.
    pub fn simulated(&self) -> String {
        let rate = self.first_rate.number(PRETENDED, PRETENDED);
        self.announcement("Simulating", self.first_rate, rate)
    }

    /// The line about a run at a rate, which in operations a second is `number`.
    fn announcement(&self, verb: &str, rate: Rate, number: f64) -> String {
        let control = if self.controlled {
            "Controlled"
        } else {
            "Uncontrolled"
        };
        let rate = match rate {
            _ if !self.bursts.is_empty() => "Variable".to_owned(),
            Rate::Max => format!("{control} MAX"),
            Rate::CurveMax => format!("{control} curve"),
            _ => format!("{}", number.round() as i64),
        };
        let elapsed = match (self.options.elapsed, self.options.warmup) {
            (None, _) => "(none)".to_owned(),
            (Some(elapsed), 0) => elapsed.to_string(),
            (Some(elapsed), warmup) => format!("{elapsed} warmup={warmup}"),
        };
        format!(
            "{verb} RD={}; I/O rate: {rate}; elapsed={elapsed}; {}",
            self.name,
            self.loops.text()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{share, size};

    /// Seen in a run of Vdbench 5.04.07 with `curve=(10,50,100,110,120)`: 26,698.7 operations a
    /// second at the maximum, and these rates requested at the points of the curve.
    #[test]
    fn rates_are_rounded_up_as_in_the_original() {
        let curve = 26_698.7;
        for (percent, expected) in [
            (10.0, 2700.0),
            (50.0, 13_400.0),
            (100.0, 26_700.0),
            (110.0, 29_400.0),
            (120.0, 32_100.0),
        ] {
            assert_eq!(share(curve, percent), expected, "{percent}");
        }
        assert_eq!(
            share(10_000.0, 10.0),
            1000.0,
            "1000 itself is rounded to tens"
        );
        assert_eq!(share(10_010.0, 10.0), 1100.0);
        assert_eq!(share(905.0, 10.0), 90.0);
        assert_eq!(share(915.9, 10.0), 100.0);
    }

    #[test]
    fn sizes_are_shown_with_units() {
        for (value, expected) in [
            (512.0, "512"),
            (1536.0, "1.500k"),
            (4096.0, "4k"),
            (131_072.0, "128k"),
            (1_048_576.0, "1m"),
        ] {
            assert_eq!(size(value), expected);
        }
    }
}
