//! The published studies, as the product itself carries them.

use std::fmt;

use blocklab_native::{self as native, studies};
use blocklab_workload::Plan;
use blocklab_workload::publication::{Figure, Publication, System};

const NAMES: [&str; 5] = ["i3-vs-i2", "ebs-hdd", "i3-metal", "r5d-vs-gp3", "im4gn"];

/// A published study: what was measured, on what, and what came out.
#[derive(Debug)]
pub struct Study {
    /// Its name, as `blocklab run` knows it.
    pub name: &'static str,
    /// The load, once.
    pub plan: Plan,
    /// What it shows, published figures included.
    pub publication: Publication,
}

/// What a figure tells of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A rate that a limit holds, by the closed form.
    Limit,
    /// A rate that the latency holds.
    Latency,
    /// A latency, a share of operations within one, or the rate at which one is passed.
    Time,
}

impl Kind {
    /// In the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Limit, Self::Latency, Self::Time];

    /// The kind of a figure. `binding`: what binds its rate.
    #[must_use]
    pub fn for_figure(figure: Figure, binding: &str) -> Self {
        match figure {
            Figure::Iops
            | Figure::MbPerS
            | Figure::MibPerS
            | Figure::Operations
            | Figure::PeakIops
            | Figure::PeakMbPerS
            | Figure::PeakThousandMibPerS => {
                if binding == "latency" {
                    Self::Latency
                } else {
                    Self::Limit
                }
            }
            _ => Self::Time,
        }
    }

    /// Largest median and 90th percentile of the absolute errors that are requested, in per cent.
    #[must_use]
    pub fn bar(self, study: &str) -> (f64, f64) {
        match (self, study) {
            (Self::Limit, _) => (1.0, 7.0),
            (Self::Latency, "i3-vs-i2") => (5.0, 10.0),
            (Self::Latency, _) => (5.0, 12.0),
            (Self::Time, _) => (5.0, 20.0),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "rates bound by a limit",
            Self::Latency => "rates bound by latency",
            Self::Time => "latencies and crossings",
        })
    }
}

impl Study {
    /// All five.
    ///
    /// # Panics
    /// When one is not understood: they are part of the product.
    #[must_use]
    pub fn all() -> Vec<Self> {
        NAMES.map(Self::builtin).into()
    }

    fn builtin(name: &'static str) -> Self {
        let text = studies::builtin(name).expect("a built-in study");
        let parsed = native::parse(text, name).expect("a study");
        Self {
            name,
            plan: Plan {
                passes: 1,
                ..parsed.plan
            },
            publication: parsed.publication,
        }
    }

    /// The systems that a model can play.
    pub fn modelled(&self) -> impl Iterator<Item = &System> {
        let all = self.publication.systems.iter();
        all.filter(|system| system.measured && system.predicted)
    }
}
