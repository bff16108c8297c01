//! In: a cell of a table. Out: its figure, from a run, from what was published, or from documents
//! and prices.

use std::collections::HashMap;

use blocklab_record::{Origin, Statistic};
use blocklab_workload::publication::{Cell, Conclusion, Figure, Publication, Scope};

use super::latencies::Latencies;
use super::value::Value;
use super::{SystemOutcome, documents, sweep, usage};
use blocklab_findings::{Estimate, Row};

/// Everything that the figures of a study are taken from.
pub(super) struct Sources<'a> {
    pub publication: &'a Publication,
    /// By the names of the system and the case.
    rows: HashMap<(&'a str, &'a str), &'a Row>,
    /// By name.
    systems: HashMap<&'a str, &'a SystemOutcome<'a>>,
}

impl<'a> Sources<'a> {
    /// The sources of a study. A system without a run has no rows.
    pub fn new(publication: &'a Publication, systems: &'a [SystemOutcome<'a>]) -> Self {
        let mut rows = HashMap::new();
        for outcome in systems {
            let Some((_, assessment)) = outcome.run else {
                continue;
            };
            for row in &assessment.rows {
                rows.insert((&*outcome.system.name, &*row.case), row);
            }
        }
        let named = systems
            .iter()
            .map(|outcome| (&*outcome.system.name, outcome));
        Self {
            publication,
            rows,
            systems: named.collect(),
        }
    }

    /// Whether any system that a conclusion speaks of was measured, and not modelled.
    pub fn any_measured(&self, conclusion: &Conclusion) -> bool {
        let cells = conclusion.checks.iter().flat_map(|check| &check.cells);
        let mut named = cells.flat_map(|cell| [Some(&cell.system), cell.over.as_ref()]);
        named.any(|name| {
            let run = name.and_then(|name| self.systems.get(&**name)?.run);
            run.is_some_and(|(record, _)| record.origin == Origin::Measured)
        })
    }

    /// Our figure of a cell, or its ratio to another. The cell names a case, or a sweep for a figure of
    /// a whole sweep.
    pub fn ours(&self, cell: &Cell) -> Option<Value> {
        cell_value(cell, |system, case| match (cell.figure.scope(), case) {
            (Scope::System, _) => documents::figure(self.systems.get(system)?, cell.figure),
            (Scope::Sweep, Some(name)) => {
                let family = self.publication.family_by_load(name)?;
                sweep::figure(&family, cell.figure, &|case, figure| {
                    Some(self.case(system, case, figure)?.value)
                })
            }
            (Scope::Case, Some(case)) => self.case(system, case, cell.figure),
            (_, None) => None,
        })
    }

    /// The author's figure of a cell: as published, or computed from the published figures of a
    /// sweep.
    pub fn published(&self, cell: &Cell) -> Option<f64> {
        let publication = self.publication;
        let value = cell_value(cell, |system, case| {
            let value = publication.published(system, case, cell.figure);
            value
                .map(Value::exact)
                .or_else(|| match (cell.figure.scope(), case) {
                    (Scope::Sweep, Some(name)) => {
                        let family = publication.family_by_load(name)?;
                        sweep::figure(&family, cell.figure, &|case, figure| {
                            publication.published(system, Some(case), figure)
                        })
                    }
                    _ => None,
                })
        })?;
        Some(value.value)
    }

    /// Our figure of a case; `None` where it was not measured, or does not exist for a case.
    pub fn case(&self, system: &str, case: &str, figure: Figure) -> Option<Value> {
        let row = *self.rows.get(&(system, case))?;
        match figure {
            _ if is_unknown(row, figure) => None,
            Figure::Iops => total(row, |direction| direction.iops),
            Figure::MbPerS => Some(total(row, |direction| direction.bytes_per_s)?.times(1e-6)),
            Figure::MibPerS => {
                Some(total(row, |direction| direction.bytes_per_s)?.times(1.0 / 1_048_576.0))
            }
            Figure::Operations => {
                let passes = total(row, |direction| direction.iops)?.passes.max(1);
                Some(Value::exact(operations(row) as f64 / f64::from(passes)))
            }
            Figure::MeanUs => Latencies::from_row(row).mean_us(row),
            Figure::StdevUs => Latencies::from_row(row).stdev_us().map(Value::exact),
            Figure::MinUs => Some(Value::exact(least_ns(row)? as f64 / 1e3)),
            Figure::MaxUs => Some(Value::exact(most_ns(row)? as f64 / 1e3)),
            Figure::QuantileUs(thousandths) => {
                // From thousandths of a per cent to a share.
                let quantile = f64::from(thousandths) / 1e5;
                Latencies::from_row(row)
                    .quantile_us(quantile)
                    .map(Value::exact)
            }
            Figure::WithinUs(us) => {
                let ns = u64::from(us) * 1000;
                Latencies::from_row(row)
                    .within_percent(ns)
                    .map(Value::exact)
            }
            Figure::CpuUserPercent
            | Figure::CpuSystemPercent
            | Figure::ContextSwitches
            | Figure::DiskIos
            | Figure::DiskBusyPercent => {
                let (record, _) = self.systems.get(system)?.run?;
                usage::figure(record, case, figure).map(Value::exact)
            }
            Figure::MbPerSPerUsd => {
                let speed = total(row, |direction| direction.bytes_per_s)?.times(1e-6);
                Some(speed.times(1.0 / self.month(system, row)?))
            }
            Figure::IopsPerUsd => {
                let speed = total(row, |direction| direction.iops)?;
                Some(speed.times(1.0 / self.month(system, row)?))
            }
            _ => None,
        }
    }

    /// The bill of a month in US dollars, including billed operations: the number that the study
    /// assumes, else the measured rate over the whole month.
    fn month(&self, system: &str, row: &Row) -> Option<f64> {
        let documented = self.systems.get(system)?;
        let month = documents::figure(documented, Figure::UsdPerMonth)?.value;
        let measured = match documented.system.billed_iops {
            // `UsdPerMonth` has them already.
            Some(_) => 0.0,
            None => total(row, |direction| direction.iops)?.value,
        };
        Some(month + documents::usd_for_use(documented.bought?, measured))
    }
}

/// The operations on data of all passes: like all other figures, without flushes.
fn operations(row: &Row) -> u64 {
    row.moved().map(|direction| direction.ios).sum()
}

/// The shortest latency of an operation on data.
fn least_ns(row: &Row) -> Option<u64> {
    row.moved().map(|direction| direction.min_ns).min()
}

/// The longest latency of an operation on data.
fn most_ns(row: &Row) -> Option<u64> {
    row.moved().map(|direction| direction.max_ns).max()
}

/// Whether the record does not have the figure, as another program measured and did not report it.
fn is_unknown(row: &Row, figure: Figure) -> bool {
    let needed = match figure {
        Figure::MeanUs => Statistic::Mean,
        Figure::MinUs => Statistic::Min,
        Figure::MaxUs => Statistic::Max,
        _ => return false,
    };
    row.moved().any(|direction| direction.unknown.has(needed))
}

/// The value of a cell: a figure, its ratio to another system, or the ratio of that to another
/// case.
fn cell_value(
    cell: &Cell,
    value_of: impl Fn(&str, Option<&str>) -> Option<Value>,
) -> Option<Value> {
    let above = system_ratio(cell, cell.case.as_deref(), &value_of)?;
    match &cell.than {
        None => Some(above),
        than => quotient(above, system_ratio(cell, than.as_deref(), &value_of)?),
    }
}

/// The figure of one case, or its ratio to that of another system.
fn system_ratio(
    cell: &Cell,
    case: Option<&str>,
    value_of: impl Fn(&str, Option<&str>) -> Option<Value>,
) -> Option<Value> {
    let above = value_of(&cell.system, case)?;
    match &cell.over {
        None => Some(above),
        Some(below) => quotient(above, value_of(below, case)?),
    }
}

/// The ratio of two figures, which are never negative, in per cent; `None` where it would divide by 0. Its
/// interval is the widest that those of both values allow: without an upper end where the lower value
/// may be 0, and without any where one of the values has none.
fn quotient(above: Value, below: Value) -> Option<Value> {
    let value = above.value * (100.0 / below.value);
    value.is_finite().then(|| Value {
        value,
        low: above
            .low
            .zip(below.high)
            .map(|(least, most)| least / most * 100.0),
        high: above
            .high
            .zip(below.low.filter(|low| *low > 0.0))
            .map(|(most, least)| most / least * 100.0),
        passes: above.passes.min(below.passes),
    })
}

/// The sum over all directions. Adding the ends of the intervals assumes that all err in the same
/// direction, so the result is rather too wide than too narrow.
fn total(row: &Row, what: impl Fn(&blocklab_findings::RowDirection) -> Estimate) -> Option<Value> {
    let each: Vec<Estimate> = row.moved().map(what).collect();
    Some(Value {
        value: each.iter().map(|each| each.value).sum(),
        low: each.iter().map(|each| each.low).sum(),
        high: each.iter().map(|each| each.high).sum(),
        passes: each.iter().map(|each| each.passes).max()?,
    })
}

#[cfg(test)]
mod tests {
    use blocklab_findings::assess;
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::run;

    /// The story: a table of a load with flushes had their latency as its longest and counted them as
    /// operations, beside a mean and a rate without them.
    #[test]
    fn flushes_are_no_operations_of_a_figure() {
        let mut record = run(&[1000.0, 1000.0]);
        let plain = assess(&record).rows.remove(0);
        for pass in &mut record.measurements {
            let directions = &mut pass.jobs[0].directions;
            let mut flushes = directions[&Direction::Read].clone();
            flushes.service.max_ns *= 2;
            directions.insert(Direction::Sync, flushes);
        }
        let flushed = assess(&record).rows.remove(0);
        assert_eq!(flushed.directions.len(), 2);
        assert_eq!(operations(&flushed), operations(&plain));
        assert_eq!(least_ns(&flushed), least_ns(&plain));
        assert_eq!(most_ns(&flushed), most_ns(&plain));
    }

    /// The story: a system of two passes far apart, whose interval begins below 0, had 50 % of another one,
    /// "30 to -500".
    #[test]
    fn a_ratio_to_what_may_be_nothing_has_no_upper_end() {
        let value = |value: f64, spread: f64| Value {
            value,
            low: Some(value - spread),
            high: Some(value + spread),
            passes: 2,
        };
        let found = quotient(value(50.0, 0.0), value(100.0, 110.0)).expect("a ratio");
        assert_eq!((found.value, found.high), (50.0, None));
        let sound = quotient(value(50.0, 0.0), value(100.0, 50.0)).expect("a ratio");
        assert_eq!(sound.high, Some(100.0));
    }
}
