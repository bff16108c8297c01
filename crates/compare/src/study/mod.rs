//! In: a published study and our runs of its systems. Out: the author's tables and curves with our
//! figures next to the published ones, and whether the conclusions hold.

mod conclusions;
mod curves;
mod documents;
mod figures;
mod latencies;
mod sweep;
mod tables;
mod usage;
mod value;

use blocklab_catalog::{Listed, Resolved};
use blocklab_record::{Origin, Record};
use blocklab_stats::median;
use blocklab_workload::publication::{Basis, Cell, Figure, Publication, Scope, System};
pub use blocklab_workload::publication::{Drawn, Quantity};
use serde::Serialize;

pub use conclusions::{Judged, Verdict};
pub use curves::curves;
pub use sweep::{Crossing, REACHED, Saturation};
pub use tables::{Entry, Line, Plot, Point, Table};
pub use value::Value;

use figures::Sources;

use blocklab_findings::Assessment;

/// A system of a study, and what is known of it.
#[derive(Debug)]
pub struct SystemOutcome<'a> {
    /// The system.
    pub system: &'a System,
    /// The run on it, with its rows and findings; `None`: it was not run.
    pub run: Option<(&'a Record, &'a Assessment)>,
    /// Its documents and prices.
    pub bought: Option<&'a Resolved>,
    /// Its instance in the list of instances.
    pub listed: Option<&'a Listed>,
}

/// What a repeated study shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Outcome {
    /// Who published the figures.
    pub source: String,
    /// What the author did before measuring.
    pub preparation: Vec<String>,
    /// What a reader must know about the repetition.
    pub remarks: Vec<String>,
    /// Every system.
    pub systems: Vec<StudySystem>,
    /// The author's tables.
    pub tables: Vec<Table>,
    /// One figure over another.
    pub plots: Vec<Plot>,
    /// The conclusions.
    pub conclusions: Vec<Judged>,
    /// Every published figure of a case or a sweep, and ours.
    pub compared: Vec<Compared>,
    /// How far our figures are from published ones that were measured; `None` without any.
    pub nearness: Option<Nearness>,
}

/// A published figure and ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its system.
    pub system: String,
    /// Its case or sweep.
    pub case: String,
    /// Which figure.
    pub figure: Figure,
    /// The author's.
    pub published: f64,
    /// How the author came by it, and so what it can prove.
    pub basis: Basis,
    /// Ours; `None`: there is none.
    pub ours: Option<f64>,
}

impl Compared {
    /// Ours over the author's, less one, in per cent; `None` where one is missing or the author's
    /// is 0.
    pub fn error_percent(&self) -> Option<f64> {
        let error = (self.ours? / self.published - 1.0) * 100.0;
        error.is_finite().then_some(error)
    }
}

/// A system as the report shows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StudySystem {
    /// Its name in the tables.
    pub name: String,
    /// Its address in the catalog.
    pub address: String,
    /// Why the address differs from what the author wrote.
    pub because: String,
    /// The run; `None`: it is only in tables of documents and prices.
    pub run: Option<String>,
    /// Path of the target that the run used.
    pub target: Option<String>,
    /// Whether its figures were measured, simulated, emulated or imported.
    pub origin: Option<Origin>,
    /// US dollars per hour for all of it.
    pub usd_per_hour: Option<f64>,
    /// Region and date of the price lists.
    pub price_list: Option<String>,
    /// Whether a list is younger than the day that was requested.
    pub price_assumed: bool,
}

/// How far our figures are from published figures that were measured, in per cent of the published
/// ones. Figures from which a constant of the model was taken do not count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Nearness {
    /// Figures that both sides have.
    pub figures: usize,
    /// Median of the absolute differences.
    pub median_percent: f64,
    /// 90th percentile of the absolute differences.
    pub p90_percent: f64,
    /// The largest absolute difference.
    pub worst_percent: f64,
}

/// Puts the figures of all systems into the tables of the study and tests its conclusions.
///
/// Takes milliseconds; the time grows with the number of cells.
pub fn outcome(publication: &Publication, systems: &[SystemOutcome<'_>]) -> Outcome {
    let sources = Sources::new(publication, systems);
    let tables = publication.tables.iter();
    let tables: Vec<Table> = tables.map(|table| tables::table(table, &sources)).collect();
    let curves = publication.curves.iter();
    let judged = publication.conclusions.iter();
    let compared = compared(publication, &sources);
    Outcome {
        source: publication.source.clone(),
        preparation: publication.preparation.clone(),
        remarks: publication.remarks.clone(),
        systems: systems.iter().map(study_system).collect(),
        plots: curves.map(|curve| tables::plot(curve, &sources)).collect(),
        conclusions: judged
            .map(|judged| conclusions::judge(judged, &sources))
            .collect(),
        nearness: nearness(&compared),
        compared,
        tables,
    }
}

/// A system as the report shows it.
fn study_system(system: &SystemOutcome<'_>) -> StudySystem {
    let hour = system.bought.and_then(documents::hour);
    let record = system.run.map(|(record, _)| record);
    let target = record.and_then(|record| record.targets.first());
    StudySystem {
        name: system.system.name.clone(),
        address: system.system.address.clone(),
        because: system.system.because.clone(),
        run: record.map(|record| record.id.clone()),
        target: target.map(|target| target.path.clone()),
        origin: record.map(|record| record.origin),
        usd_per_hour: hour,
        price_list: system.bought.and_then(documents::price_list),
        price_assumed: system.bought.is_some_and(documents::price_is_assumed),
    }
}

/// Every published figure of a case or a sweep, next to ours.
fn compared(publication: &Publication, sources: &Sources<'_>) -> Vec<Compared> {
    let loaded = publication.figures.iter();
    loaded
        .filter(|loaded| loaded.figure.scope() != Scope::System)
        .filter_map(|loaded| {
            // As a cell of a table, so that both have the same figure.
            let cell = Cell {
                system: loaded.system.clone(),
                over: None,
                case: loaded.case.clone(),
                than: None,
                figure: loaded.figure,
            };
            Some(Compared {
                ours: sources.ours(&cell).map(|our| our.value),
                system: cell.system,
                case: cell.case?,
                figure: loaded.figure,
                published: loaded.value,
                basis: loaded.basis,
            })
        })
        .collect()
}

/// Statistics of the absolute differences; `None` if no figure can be compared.
fn nearness(compared: &[Compared]) -> Option<Nearness> {
    let measured = compared
        .iter()
        .filter(|figure| figure.basis == Basis::Measured);
    let errors = measured.filter_map(Compared::error_percent);
    let mut sorted: Vec<f64> = errors.map(f64::abs).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let last = sorted.last().copied()?;
    Some(Nearness {
        figures: count,
        median_percent: median(&sorted),
        p90_percent: sorted[(count * 9).div_ceil(10) - 1],
        worst_percent: last,
    })
}
