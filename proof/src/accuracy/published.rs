use std::fmt;

use blocklab_native::{self as native, studies};
use blocklab_publication::{Figure, System};
use blocklab_workload::Plan;

/// How near the model must come to a study: largest median and 90th percentile of the absolute
/// relative errors, in per cent.
const BARS: [(&str, (f64, f64)); 3] = [
    ("i3-vs-i2", (5.0, 20.0)),
    ("r5d-vs-gp3", (1.0, 10.0)),
    ("im4gn", (1.0, 1.0)),
];

/// A published study: what was measured, on what, and how near the model must come.
#[derive(Debug)]
pub struct Study {
    /// Its name, as `blocklab run` knows it.
    pub name: &'static str,
    /// Tool, place, date.
    pub source: String,
    /// The load, once.
    pub plan: Plan,
    /// What it was run on.
    pub systems: Vec<System>,
    /// Every measured rate.
    pub cells: Vec<Cell>,
    /// Largest median and 90th percentile of the absolute relative errors, in per cent.
    pub bars: (f64, f64),
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Operations a second.
    Iops,
    /// 2^20 bytes a second.
    MibPerS,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iops => "IOPS",
            Self::MibPerS => "MiB/s",
        })
    }
}

/// One published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Case of the study.
    pub case: String,
    /// System of the study.
    pub system: String,
    /// What is counted.
    pub unit: Unit,
    /// The figure.
    pub published: f64,
}

impl Study {
    /// The built-in studies whose rates were published for single cases.
    ///
    /// # Panics
    /// When one is not understood: they are part of the product.
    #[must_use]
    pub fn all() -> Vec<Self> {
        BARS.map(|(name, bars)| Self::of(name, bars)).into()
    }

    fn of(name: &'static str, bars: (f64, f64)) -> Self {
        let text = studies::builtin(name).expect("a built-in study");
        let parsed = native::parse(text, name).expect("a study");
        let publication = parsed.publication;
        let cells = publication.figures.into_iter().filter_map(|figure| {
            let unit = match figure.figure {
                Figure::Iops => Unit::Iops,
                Figure::MibPerS => Unit::MibPerS,
                _ => return None,
            };
            Some(Cell {
                case: figure.case?,
                system: figure.system,
                unit,
                published: figure.value,
            })
        });
        let systems = publication.systems.into_iter();
        Self {
            name,
            source: publication.source,
            plan: Plan {
                passes: 1,
                ..parsed.plan
            },
            systems: systems.filter(|system| system.measured).collect(),
            cells: cells.collect(),
            bars,
        }
    }
}
