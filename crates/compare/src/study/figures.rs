//! Where a figure comes from: a run, the published ones, documents and prices.

use std::collections::HashMap;

use blocklab_record::{Origin, Statistic};
use blocklab_workload::publication::{Cell, Conclusion, Figure, Publication, Scope};

use super::latencies::Latencies;
use super::value::Value;
use super::{SystemOutcome, documents, sweep, usage};
use blocklab_findings::{Estimate, Row};

/// All figures of a study.
pub(super) struct Sources<'a> {
    pub publication: &'a Publication,
    rows: HashMap<(&'a str, &'a str), &'a Row>,
    systems: HashMap<&'a str, &'a SystemOutcome<'a>>,
}

impl<'a> Sources<'a> {
    pub fn of(publication: &'a Publication, systems: &'a [SystemOutcome<'a>]) -> Self {
        let mut rows = HashMap::new();
        for system in systems {
            for row in system
                .run
                .iter()
                .flat_map(|(_, assessment)| &assessment.rows)
            {
                rows.insert((&*system.system.name, &*row.case), row);
            }
        }
        let named = systems.iter().map(|system| (&*system.system.name, system));
        Self {
            publication,
            rows,
            systems: named.collect(),
        }
    }

    /// Whether any system that a conclusion speaks of was measured, and not modelled.
    pub fn any_measured(&self, of: &Conclusion) -> bool {
        let cells = of.checks.iter().flat_map(|check| &check.cells);
        let mut named = cells.flat_map(|cell| [Some(&cell.system), cell.over.as_ref()]);
        named.any(|name| {
            let run = name.and_then(|name| self.systems.get(&**name)?.run);
            run.is_some_and(|(record, _)| record.origin == Origin::Measured)
        })
    }

    pub fn ours(&self, cell: &Cell) -> Option<Value> {
        let of = |system: &str, case: Option<&str>| match (cell.figure.scope(), case) {
            (Scope::System, _) => documents::figure(self.systems.get(system)?, cell.figure),
            (Scope::Sweep, Some(family)) => {
                let point = |case: &str, figure| Some(self.case(system, case, figure)?.value);
                let family = self.publication.family_by_load(family)?;
                sweep::figure(&family, cell.figure, &point)
            }
            (Scope::Case, Some(case)) => self.case(system, case, cell.figure),
            (_, None) => None,
        };
        settled(cell, of)
    }

    /// The author's: as published, or computed from what is.
    pub fn published(&self, cell: &Cell) -> Option<f64> {
        let plain = |system: &str, case: Option<&str>, figure| {
            self.publication.published(system, case, figure)
        };
        let of = |system: &str, case: Option<&str>| {
            let value = plain(system, case, cell.figure).map(Value::exact);
            value.or_else(|| match (cell.figure.scope(), case) {
                (Scope::Sweep, Some(family)) => {
                    let point = |case: &str, figure| plain(system, Some(case), figure);
                    let family = self.publication.family_by_load(family)?;
                    sweep::figure(&family, cell.figure, &point)
                }
                _ => None,
            })
        };
        Some(settled(cell, of)?.value)
    }

    pub fn case(&self, system: &str, case: &str, figure: Figure) -> Option<Value> {
        let row = *self.rows.get(&(system, case))?;
        let latencies = || Latencies::of(row);
        let exact = |value: f64| Some(Value::exact(value));
        // Another program may not have reported it.
        let is_known = |statistic| {
            row.directions
                .iter()
                .all(|direction| !direction.unknown.has(statistic))
        };
        match figure {
            Figure::MeanUs if !is_known(Statistic::Mean) => None,
            Figure::MinUs if !is_known(Statistic::Min) => None,
            Figure::MaxUs if !is_known(Statistic::Max) => None,
            Figure::Iops => total(row, |it| it.iops),
            Figure::MbPerS => Some(total(row, |it| it.bytes_per_s)?.times(1e-6)),
            Figure::MibPerS => Some(total(row, |it| it.bytes_per_s)?.times(1.0 / 1_048_576.0)),
            Figure::Operations => {
                let passes = total(row, |it| it.iops)?.passes.max(1);
                let ios: u64 = row.directions.iter().map(|direction| direction.ios).sum();
                exact(ios as f64 / f64::from(passes))
            }
            Figure::MeanUs => latencies().mean_us(row),
            Figure::StdevUs => exact(latencies().stdev_us()?),
            Figure::MinUs => exact(
                row.directions
                    .iter()
                    .map(|direction| direction.min_ns)
                    .min()? as f64
                    / 1e3,
            ),
            Figure::MaxUs => exact(
                row.directions
                    .iter()
                    .map(|direction| direction.max_ns)
                    .max()? as f64
                    / 1e3,
            ),
            Figure::QuantileUs(thousandths) => {
                exact(latencies().quantile_us(f64::from(thousandths) / 1e5)?)
            }
            Figure::WithinUs(us) => exact(latencies().within_percent(u64::from(us) * 1000)?),
            Figure::CpuUserPercent
            | Figure::CpuSystemPercent
            | Figure::ContextSwitches
            | Figure::DiskIos
            | Figure::DiskBusyPercent => {
                let (record, _) = self.systems.get(system)?.run?;
                exact(usage::figure(record, case, figure)?)
            }
            Figure::MbPerSPerUsd => {
                let speed = total(row, |it| it.bytes_per_s)?.times(1e-6);
                Some(speed.times(1.0 / self.month(system, row)?))
            }
            Figure::IopsPerUsd => {
                let speed = total(row, |it| it.iops)?;
                Some(speed.times(1.0 / self.month(system, row)?))
            }
            _ => None,
        }
    }

    /// A month's bill, what the operations themselves cost included: those that the study bills, else
    /// those that were measured.
    fn month(&self, system: &str, row: &Row) -> Option<f64> {
        let of = self.systems.get(system)?;
        let month = documents::figure(of, Figure::UsdPerMonth)?.value;
        let measured = match of.system.billed_iops {
            Some(_) => 0.0,
            None => total(row, |it| it.iops)?.value,
        };
        Some(month + documents::usd_for_use(of.bought?, measured))
    }
}

/// The figure, or the ratio that the cell is.
fn settled(cell: &Cell, of: impl Fn(&str, Option<&str>) -> Option<Value>) -> Option<Value> {
    let ratio = |case: Option<&str>| {
        let above = of(&cell.system, case)?;
        match &cell.over {
            None => Some(above),
            Some(below) => quotient(above, of(below, case)?),
        }
    };
    let above = ratio(cell.case.as_deref())?;
    match &cell.than {
        None => Some(above),
        than => quotient(above, ratio(than.as_deref())?),
    }
}

/// In per cent.
fn quotient(above: Value, below: Value) -> Option<Value> {
    let percent = 100.0 / below.value;
    let bound = |a: Option<f64>, b: Option<f64>| Some(a? / b? * 100.0);
    Some(Value {
        value: above.value * percent,
        low: bound(above.low, below.high),
        high: bound(above.high, below.low),
        passes: above.passes.min(below.passes),
    })
    .filter(|it| it.value.is_finite())
}

/// All directions together. The ends of the intervals are added too: no narrower than the truth.
fn total(row: &Row, what: impl Fn(&blocklab_findings::RowDirection) -> Estimate) -> Option<Value> {
    let moved = row.moved();
    let each: Vec<Estimate> = moved.map(what).collect();
    let sum = |of: &dyn Fn(&Estimate) -> Option<f64>| each.iter().map(of).sum::<Option<f64>>();
    Some(Value {
        value: sum(&|it| Some(it.value))?,
        low: sum(&|it| it.low),
        high: sum(&|it| it.high),
        passes: each.iter().map(|it| it.passes).max()?,
    })
}
