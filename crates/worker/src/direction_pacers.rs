//! In: the time, and the direction that the mix draws. Out: the direction of the next operation and
//! when it is due, by a separate schedule for reads, writes and trims.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job, Mix, Pace, Requests};

use crate::missed::Missed;
use crate::pace::{Due, Pacer};

/// One pacer for each direction.
#[derive(Debug)]
pub(crate) struct DirectionPacers {
    /// By direction; `None` for a direction that the mix does not have.
    pacers: [Option<Pacer>; 3],
    /// The direction that the mix has drawn and that was not due yet.
    drawn: Option<Direction>,
    /// The direction of the next operation.
    chosen: Direction,
}

impl DirectionPacers {
    /// The pacers of a job whose directions have rates of their own; `None` for any other job, and for a
    /// replay: its trace alone says when operations begin, as with fio.
    pub(crate) fn for_job(job: &Job, seed: u64, thread: u32) -> Option<Self> {
        let Pace::ByDirection { rates, poisson } = job.pace else {
            return None;
        };
        if job.replay.is_some() {
            return None;
        }
        let shares = [job.mix.read, job.mix.write, job.mix.trim];
        let pacers = Direction::MOVING.map(|direction| {
            let pace = match rates[direction as usize] {
                None => Pace::Closed,
                Some(rate) if poisson => Pace::OpenPoisson(rate),
                Some(rate) => Pace::OpenFixed(rate),
            };
            // A label of its own gives each direction its own random arrivals, and a mix of its own only its
            // own sizes. Pauses are the job's.
            let label = job.rng_label.as_ref().unwrap_or(&job.name);
            let own = Job {
                pace,
                mix: [Mix::READ, Mix::WRITE, Mix::TRIM][direction as usize],
                think: None,
                rng_label: Some(format!("{label}/{}", direction.name())),
                ..job.clone()
            };
            (shares[direction as usize] > 0).then(|| Pacer::new(&own, seed, thread))
        });
        Some(Self {
            pacers,
            drawn: None,
            chosen: Direction::Read,
        })
    }

    pub(crate) fn begin(&mut self, start: Nanos) {
        for pacer in self.pacers.iter_mut().flatten() {
            pacer.begin(start);
        }
    }

    /// Delays the schedules by a pause that begins now.
    pub(crate) fn put_off(&mut self, pause: Nanos, now: Nanos) {
        for pacer in self.pacers.iter_mut().flatten() {
            pacer.put_off(pause, now);
        }
    }

    /// Whether an operation may begin: in the direction that the mix has drawn, else in another one
    /// that is due.
    pub(crate) fn due(&mut self, now: Nanos, requests: &mut Requests) -> Due {
        let drawn = *self.drawn.get_or_insert_with(|| requests.direction());
        let mut soonest = None::<Nanos>;
        for direction in [drawn].into_iter().chain(Direction::MOVING) {
            let Some(pacer) = &self.pacers[direction as usize] else {
                continue;
            };
            match pacer.due(now) {
                Due::At(moment) => {
                    soonest = Some(soonest.map_or(moment, |other| other.min(moment)));
                }
                due => {
                    self.chosen = direction;
                    return due;
                }
            }
        }
        soonest.map_or(Due::Now(now), Due::At)
    }

    /// The direction of the operation that was due.
    pub(crate) fn take(&mut self) -> Direction {
        if self.drawn == Some(self.chosen) {
            self.drawn = None;
        }
        self.chosen
    }

    pub(crate) fn begun(&mut self, direction: Direction, now: Nanos, len: u32) {
        if let Some(pacer) = &mut self.pacers[direction as usize] {
            // These paces are open or have no rate, and such give up nothing before the end.
            pacer.begun(now, len);
        }
    }

    /// Arrivals of each direction that were due by `end` and have not begun.
    pub(crate) fn overdue(&mut self, end: Nanos) -> [Missed; 3] {
        Direction::MOVING.map(|direction| {
            self.pacers[direction as usize]
                .as_mut()
                .map_or_else(Missed::default, |pacer| pacer.overdue(end))
        })
    }
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;
    use blocklab_workload::{BlockSizes, Rate, SizeMix};

    use super::*;

    /// The story: a job whose random numbers have a label of their own, as one of fio that verifies
    /// has, drew the same arrivals for reads and for writes.
    #[test]
    fn each_direction_has_its_own_arrivals() {
        let job = Job {
            rng_label: Some("1".to_owned()),
            mix: Mix::reads(50),
            pace: Pace::ByDirection {
                rates: [Some(Rate::Iops(100.0)), Some(Rate::Iops(100.0)), None],
                poisson: true,
            },
            ..Job::new("mixed")
        };
        let pacers = DirectionPacers::for_job(&job, 1, 0).expect("rates by direction");
        let first = pacers
            .pacers
            .map(|pacer| pacer.map(|pacer| pacer.due(Nanos::ZERO)));
        assert_ne!(first[0], first[1]);
    }

    /// The story: reads of 64 KiB under a rate in bytes were overdue sixteen times as often as they were,
    /// because the writes of their job had 4 KiB.
    #[test]
    fn what_is_overdue_has_the_sizes_of_its_direction() {
        let job = Job {
            mix: Mix::reads(50),
            sizes: BlockSizes {
                read: SizeMix::fixed(Bytes(65_536)),
                ..BlockSizes::fixed(Bytes(4096))
            },
            pace: Pace::ByDirection {
                rates: [
                    Some(Rate::Bytes(65_536e3)),
                    Some(Rate::Bytes(4_096e3)),
                    None,
                ],
                poisson: false,
            },
            ..Job::new("mixed")
        };
        let mut pacers = DirectionPacers::for_job(&job, 1, 0).expect("rates by direction");
        let overdue = pacers.overdue(Nanos::from_secs(1));
        assert_eq!(overdue.map(|missed| missed.count), [1001, 1001, 0]);
    }
}
