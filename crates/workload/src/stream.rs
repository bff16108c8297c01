use blocklab_random::Stream;

use crate::{Direction, Extent, Invalid, Job, Places, SizeMix, Spread, TargetOrder};

/// One operation that a job asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Index of the target in the job's list.
    pub target: u32,
    /// Read, write or trim.
    pub direction: Direction,
    /// Bytes.
    pub len: u32,
    /// First byte.
    pub offset: u64,
}

/// The endless stream of requests of one thread of a job.
///
/// Offsets, directions and sizes come from streams of their own: asking for a different mix does
/// not move the offsets.
#[derive(Debug, Clone)]
pub struct Requests {
    places: Vec<Places>,
    order: TargetOrder,
    turn: usize,
    mix: Directions,
    sizes: [Sizes; 3],
    where_to: Stream,
    which_way: Stream,
    how_big: Stream,
    which_target: Stream,
}

impl Requests {
    /// The stream of thread `thread` over targets of these sizes in bytes.
    ///
    /// # Errors
    /// [`Invalid`] when the job's region does not fit a target.
    pub fn new(job: &Job, seed: u64, thread: u32, targets: &[u64]) -> Result<Self, Invalid> {
        let chance = |purpose: &str| {
            Stream::new(seed, &format!("{}/{purpose}", job.name), u64::from(thread))
        };
        let mut where_to = chance("offsets");
        let block = job.sizes.largest().0;
        let start = match job.region.spread {
            Spread::Staggered => f64::from(thread) / f64::from(job.threads),
            _ => 0.0,
        };
        let share = (thread, job.threads);
        let places = targets
            .iter()
            .map(|size| {
                let extent = Extent::of(job.region, *size, share, block)?;
                let grains = (job.sizes.smallest().0, block);
                Ok(Places::new(
                    &job.pattern,
                    extent,
                    grains,
                    start,
                    &mut where_to,
                ))
            })
            .collect::<Result<Vec<_>, Invalid>>()?;
        let first = match job.target_order {
            TargetOrder::PerThread => thread as usize % targets.len().max(1),
            _ => 0,
        };
        Ok(Self {
            places,
            order: job.target_order,
            turn: first,
            mix: Directions::new(job.mix),
            sizes: [&job.sizes.read, &job.sizes.write, &job.sizes.trim].map(Sizes::new),
            where_to,
            which_way: chance("directions"),
            how_big: chance("sizes"),
            which_target: chance("targets"),
        })
    }

    /// The next request.
    #[inline]
    pub fn next_request(&mut self) -> Request {
        let target = if self.places.len() == 1 {
            0
        } else {
            self.next_target()
        };
        let direction = self.mix.draw(&mut self.which_way);
        let len = self.sizes[direction as usize].draw(&mut self.how_big);
        let offset = self.places[target].next(u64::from(len), &mut self.where_to);
        Request {
            target: target as u32,
            direction,
            len,
            offset,
        }
    }

    fn next_target(&mut self) -> usize {
        match self.order {
            TargetOrder::PerThread => self.turn,
            TargetOrder::Random => self.which_target.below(self.places.len() as u64) as usize,
            TargetOrder::RoundRobin => {
                let target = self.turn;
                self.turn = (target + 1) % self.places.len();
                target
            }
        }
    }
}

/// A single direction costs no draw.
#[derive(Debug, Clone, Copy)]
enum Directions {
    Only(Direction),
    Mixed { read_below: u64, write_below: u64 },
}

impl Directions {
    fn new(mix: crate::Mix) -> Self {
        let threshold = |percent: u8| match percent {
            100.. => u64::MAX,
            _ => (u64::MAX / 100) * u64::from(percent),
        };
        match (mix.read, mix.write, mix.trim) {
            (100, ..) => Self::Only(Direction::Read),
            (_, 100, _) => Self::Only(Direction::Write),
            (_, _, 100) => Self::Only(Direction::Trim),
            (read, write, _) => Self::Mixed {
                read_below: threshold(read),
                write_below: threshold(read + write),
            },
        }
    }

    #[inline]
    fn draw(self, chance: &mut Stream) -> Direction {
        match self {
            Self::Only(direction) => direction,
            Self::Mixed {
                read_below,
                write_below,
            } => match chance.next_u64() {
                pick if pick < read_below => Direction::Read,
                pick if pick < write_below || write_below == u64::MAX => Direction::Write,
                _ => Direction::Trim,
            },
        }
    }
}

/// A single size costs no draw.
#[derive(Debug, Clone)]
enum Sizes {
    Fixed(u32),
    /// (accumulated weight, size), and the total weight.
    Weighted(Vec<(u64, u32)>, u64),
}

impl Sizes {
    fn new(mix: &SizeMix) -> Self {
        if let [(size, _)] = mix.0[..] {
            return Self::Fixed(size.0 as u32);
        }
        let mut total = 0;
        let steps = mix.0.iter().map(|(size, weight)| {
            total += u64::from(*weight);
            (total, size.0 as u32)
        });
        let steps: Vec<_> = steps.collect();
        Self::Weighted(steps, total)
    }

    #[inline]
    fn draw(&self, chance: &mut Stream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted(steps, total) => {
                let pick = chance.below(*total);
                let step = steps.iter().find(|(end, _)| pick < *end);
                step.map_or(0, |(_, size)| *size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockSizes, Mix, Pattern, Region};
    use blocklab_units::Bytes;

    fn requests(job: &Job, n: usize) -> Vec<Request> {
        let mut stream = Requests::new(job, 42, 0, &[64 << 20, 64 << 20]).unwrap();
        (0..n).map(|_| stream.next_request()).collect()
    }

    #[test]
    fn the_mix_and_the_sizes_are_met() {
        let mut job = Job::new("mix");
        job.mix = Mix {
            read: 70,
            write: 20,
            trim: 10,
        };
        job.sizes = BlockSizes {
            read: SizeMix(vec![(Bytes(4096), 3), (Bytes(65536), 1)]),
            ..BlockSizes::fixed(Bytes(8192))
        };
        let stream = requests(&job, 100_000);
        let share = |direction| stream.iter().filter(|r| r.direction == direction).count();
        assert!((69_500..70_500).contains(&share(Direction::Read)));
        assert!((19_600..20_400).contains(&share(Direction::Write)));
        let large = stream.iter().filter(|r| r.len == 65536).count();
        assert!(
            (17_000..18_000).contains(&large),
            "a quarter of the reads: {large}"
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        let job = Job::new("again");
        assert_eq!(requests(&job, 1000), requests(&job, 1000));
    }

    #[test]
    fn targets_take_turns() {
        let turns: Vec<u32> = requests(&Job::new("turns"), 4)
            .iter()
            .map(|r| r.target)
            .collect();
        assert_eq!(turns, [0, 1, 0, 1]);
    }

    #[test]
    fn staggered_threads_begin_apart() {
        let mut job = Job {
            threads: 4,
            pattern: Pattern::Sequential,
            ..Job::new("far")
        };
        let begin = |job: &Job, thread| {
            Requests::new(job, 1, thread, &[64 << 20])
                .unwrap()
                .next_request()
                .offset
        };
        assert_eq!(begin(&job, 3), 48 << 20);
        job.region = Region {
            spread: Spread::Same,
            ..Region::default()
        };
        assert_eq!(begin(&job, 3), 0);
    }
}
