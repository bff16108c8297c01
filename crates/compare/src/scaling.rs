//! In: the rates of one load on different numbers of hosts. Out: how far the rate grows, and where
//! it stops.
//!
//! The model has two lines: each host adds what one host gives, until something that they share is
//! exhausted.
//!
//! ```text
//!   rate │        ╭─────── the cap
//!        │      ╱ ↑ knee
//!        │    ╱
//!        │  ╱   each host as the first
//!        └───────────────── hosts
//! ```

use blocklab_findings::assess;
use blocklab_record::Record;

/// The rates of runs on different numbers of hosts, case by case.
#[derive(Debug, Default)]
pub struct Curves {
    cases: Vec<(String, Vec<Point>)>,
}

impl Curves {
    /// Adds the rates of a run on some hosts.
    pub fn add(&mut self, record: &Record) {
        let hosts = record.fleet.as_ref().map_or(1, |fleet| fleet.hosts.len());
        for row in assess(record).rows {
            let point = Point {
                hosts: u32::try_from(hosts).unwrap_or(u32::MAX),
                iops: row.moved().map(|direction| direction.iops.value).sum(),
            };
            match self.cases.iter_mut().find(|(case, _)| *case == row.case) {
                Some((_, points)) => points.push(point),
                None => self.cases.push((row.case, vec![point])),
            }
        }
    }

    /// The name and the scaling of each case that was run on at least two numbers of hosts.
    pub fn scalings(self) -> Vec<(String, Scaling)> {
        let scalings = self
            .cases
            .into_iter()
            .filter_map(|(case, points)| Some((case, Scaling::new(points)?)));
        scalings.collect()
    }
}

/// A rate on some hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Number of hosts.
    pub hosts: u32,
    /// Operations per second of all hosts together.
    pub iops: f64,
}

/// How a load grows with its hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Sorted by the number of hosts, each number once.
    pub points: Vec<Point>,
    /// Operations per second of each host in the point of the fewest hosts.
    pub iops_per_host: f64,
    /// Where the rate stops growing; `None`: it grew up to the last point.
    pub knee: Option<Knee>,
}

/// The point from which on more hosts add nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The rate beyond it, in operations per second: the mean of the points on the cap.
    pub cap_iops: f64,
    /// The number of hosts at which the two lines meet, usually between two points.
    pub hosts: f64,
}

/// A step from one point to the next is flat if it adds less than this share of what the additional
/// hosts should add.
const FLAT: f64 = 0.25;

impl Scaling {
    /// The scaling over these points; `None` for fewer than two numbers of hosts, or if the first
    /// rate is 0.
    pub fn new(mut points: Vec<Point>) -> Option<Self> {
        points.sort_by_key(|point| point.hosts);
        points.dedup_by_key(|point| point.hosts);
        let first = *points.first().filter(|point| point.iops > 0.0)?;
        if points.len() < 2 {
            return None;
        }
        let iops_per_host = first.iops / f64::from(first.hosts);
        Some(Self {
            knee: knee(&points, iops_per_host),
            iops_per_host,
            points,
        })
    }

    /// The rate of a point over that of perfect scaling from the fewest hosts, in per cent.
    pub fn efficiency(&self, point: Point) -> f64 {
        100.0 * point.iops / (self.iops_per_host * f64::from(point.hosts))
    }
}

/// Only flat steps at the end make a knee: growth after a flat step shows that nothing was
/// exhausted.
fn knee(points: &[Point], per_host: f64) -> Option<Knee> {
    let steps = points.windows(2).rev();
    let flat_steps = steps.take_while(|pair| {
        let further = f64::from(pair[1].hosts - pair[0].hosts) * per_host;
        pair[1].iops - pair[0].iops < FLAT * further
    });
    let flat = flat_steps.count();
    if flat == 0 {
        return None;
    }
    // A number of steps joins one point more.
    let capped = &points[points.len() - flat - 1..];
    let cap_iops = capped.iter().map(|point| point.iops).sum::<f64>() / capped.len() as f64;
    Some(Knee {
        cap_iops,
        hosts: cap_iops / per_host,
    })
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::run;

    /// The story: the curve of a load with an fsync after each write grew twice as fast as its writes,
    /// because flushes counted as operations.
    #[test]
    fn flushes_do_not_count() {
        let mut record = run(&[1000.0, 1000.0]);
        for pass in &mut record.measurements {
            let directions = &mut pass.jobs[0].directions;
            let reads = directions[&Direction::Read].clone();
            directions.insert(Direction::Sync, reads);
        }
        let mut curves = Curves::default();
        curves.add(&record);
        assert_eq!(
            curves.cases[0].1,
            [Point {
                hosts: 1,
                iops: 1000.0
            }]
        );
    }

    #[track_caller]
    fn check(points: &[(u32, f64)], expected: Option<(f64, f64)>) {
        let points = points.iter().map(|(hosts, iops)| Point {
            hosts: *hosts,
            iops: *iops,
        });
        let scaling = Scaling::new(points.collect()).expect("two points");
        let found = scaling.knee.map(|knee| (knee.cap_iops, knee.hosts));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_shared_limit_has_a_knee() {
        check(&[(1, 1000.0), (2, 2000.0), (4, 4000.0)], None);
        let capped = [(1, 1000.0), (2, 2000.0), (4, 2900.0), (8, 3100.0)];
        check(&capped, Some((3000.0, 3.0)));
        // The cap of one host is that of all.
        check(&[(1, 1000.0), (2, 1000.0)], Some((1000.0, 1.0)));
        // Scatter of a few per cent is no knee.
        check(&[(1, 1000.0), (2, 1900.0), (3, 2900.0)], None);
    }

    #[test]
    fn one_point_is_no_curve() {
        let one = Point {
            hosts: 2,
            iops: 10.0,
        };
        assert_eq!(Scaling::new(vec![one, one]), None);
        assert_eq!(Scaling::new(vec![Point { iops: 0.0, ..one }]), None);
    }

    #[test]
    fn efficiency_is_against_the_fewest_hosts() {
        let points = [(2, 2000.0), (4, 3000.0)].map(|(hosts, iops)| Point { hosts, iops });
        let scaling = Scaling::new(points.to_vec()).expect("two points");
        assert_eq!(scaling.efficiency(scaling.points[1]), 75.0);
    }
}
