//! In: the runs of one load on growing numbers of hosts. Out: the scaling curve of each case.

use anyhow::Result;
use blocklab_compare::scaling::{Point, Scaling};
use blocklab_console::terminal;
use blocklab_findings::assess;
use blocklab_record::Record;
use blocklab_report::views;

use blocklab_args::{FormArgs, Output};

/// The points so far, case by case.
#[derive(Debug, Default)]
pub(super) struct Curves {
    cases: Vec<(String, Vec<Point>)>,
}

impl Curves {
    /// Adds the rates of one launch.
    pub(super) fn add(&mut self, record: &Record) {
        let hosts = record.fleet.as_ref().map_or(1, |fleet| fleet.hosts.len());
        for row in assess(record).rows {
            let rates = row.directions.iter().map(|direction| direction.iops.value);
            let point = Point {
                hosts: u32::try_from(hosts).unwrap_or(u32::MAX),
                iops: rates.sum(),
            };
            match self.cases.iter_mut().find(|(case, _)| *case == row.case) {
                Some((_, points)) => points.push(point),
                None => self.cases.push((row.case, vec![point])),
            }
        }
    }

    /// Prints the curves that have at least two points.
    pub(super) fn print(self, name: &str, form: FormArgs) -> Result<()> {
        let curves = self.cases.into_iter().filter_map(|(case, points)| {
            let scaling = Scaling::new(points)?;
            Some((case, scaling))
        });
        let curves: Vec<(String, Scaling)> = curves.collect();
        // In JSON, only the runs of the launches are printed, one after the other.
        let Output::Document(form) = form.output() else {
            return Ok(());
        };
        let curve = views::scaling(name, &curves).print(form);
        terminal::print_styled(format!("\n{curve}"))
    }
}
