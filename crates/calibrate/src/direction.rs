//! One direction of the disk: candidates, and what each would have made of the cells.

use blocklab_device::{
    Accounting, Covers, DeviceSpec, Load as Steady, grants, predict, read_latency,
};

use super::cells::{Cell, Load};
use super::draft::{self, DirectionFit};
use super::line::{Line, Point};
use super::plateau::{Level, Plateau, bytes, operations, plateaus};
use super::scatter::LatencyDistribution;

/// The cells of a direction and what does not change between candidates.
pub(super) struct Evidence<'a> {
    pub random: Vec<&'a Cell>,
    pub sequential: Vec<&'a Cell>,
    pub scatter: &'a LatencyDistribution,
    /// An error of a rate up to this share is noise, and tells nothing about a candidate: at least
    /// [`REPEATABILITY`].
    pub noise: f64,
    /// Whether candidates with a maximum of the medium are tried. Without one, what a cap costs near the
    /// depth that reaches it counts as explained.
    pub seeks_maximum: bool,
}

/// A candidate, and how well it explains the cells.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub fit: DirectionFit,
    pub cost: f64,
    /// The median of what its rates are off by, as a share.
    pub typical: f64,
}

/// A depth-1 cell that comes so near a cap shows the cap, not the medium.
const CAPPED: f64 = 0.9;
/// Where all of them come so near, those that stay below this share of the cap have to do: it held only
/// the quickest of their operations back.
const NEARLY_CAPPED: f64 = 0.97;
/// The closed form is off by about this against a simulation, and hardly any disk repeats a figure
/// more closely.
pub(super) const REPEATABILITY: f64 = 0.02;
/// From this many times its noise on, an error counts by its size and no more by its square: a
/// mishap must not rule the rest (Huber).
const FAR: f64 = 3.0;
/// What a further constant must save: a cell that was off by three times its error. A constant
/// that only smooths the small errors of many cells is none of the disk's.
pub(super) const COST_OF_A_CONSTANT: f64 = 10.0;
/// Ratio of one number of channels that is tried to the one before, at first.
const STEP: f64 = 1.25;
/// The latency of a medium whose every cell of depth 1 lies at a cap, as a share of the shortest mean there:
/// it is anything from nothing to all of it, and half of it is off by the least.
pub(super) const BELOW_CAPS: f64 = 0.5;
/// A queue that uses every channel of a medium.
const DEEP: u32 = 1 << 16;
/// Error of a rate that a candidate does not reach, as a logarithm: ten times too slow.
const UNREACHED: f64 = std::f64::consts::LN_10;
/// Sequential latencies that differ from random ones by less than this are the same.
const AS_RANDOM: f64 = 0.02;

impl<'a> Evidence<'a> {
    fn cells(&self) -> impl Iterator<Item = &'a Cell> {
        let both = self.random.iter().chain(&self.sequential);
        both.copied()
    }

    pub(super) fn plateaus(&self) -> Vec<Plateau> {
        plateaus(self.cells())
    }

    /// The candidate that explains most with least, under this accounting. `None`: no cell of depth 1
    /// can be used.
    pub(super) fn best(&self, accounting: Accounting) -> Option<Judged> {
        let plateaus = self.plateaus();
        let mut best: Option<Judged> = None;
        for iops in with_none(operations(&plateaus)) {
            for bytes in with_none(bytes(&plateaus)) {
                let caps = Caps {
                    iops: iops.clone(),
                    bytes,
                    accounting,
                };
                for found in self.with_and_without_channels(&caps) {
                    if best.as_ref().is_none_or(|best| found.cost < best.cost) {
                        best = Some(found);
                    }
                }
            }
        }
        best
    }

    fn with_and_without_channels(&self, caps: &Caps) -> Vec<Judged> {
        let without = self.judged(caps, None);
        let tried = without.as_ref().filter(|_| self.seeks_maximum);
        let has_channels = tried.and_then(|_| self.with_channels(caps));
        without.into_iter().chain(has_channels).collect()
    }

    /// The number of channels that explains most: a coarse search, then a fine one around its best.
    fn with_channels(&self, caps: &Caps) -> Option<Judged> {
        let deepest = self.cells().map(|cell| cell.load.depth).max()?;
        // With far more channels than operations in flight none waits, as without channels.
        let most = 4.0 * f64::from(deepest);
        let coarse = std::iter::successors(Some(1.0), |channels| Some(channels * STEP));
        let mut best = self.cheapest(caps, coarse.take_while(|channels| *channels <= most))?;
        let mut around = best.fit.channels?;
        // Each round looks around the best of the round before, four times as finely.
        for finer in [
            STEP.powf(0.25),
            STEP.powf(1.0 / 16.0),
            STEP.powf(1.0 / 64.0),
        ] {
            let near = (-4..=4).map(|k| (around * finer.powi(k)).max(1.0));
            let found = self.cheapest(caps, near)?;
            around = found.fit.channels?;
            if found.cost < best.cost {
                best = found;
            }
        }
        Some(best)
    }

    fn cheapest(&self, caps: &Caps, channels: impl Iterator<Item = f64>) -> Option<Judged> {
        let judged = channels.filter_map(|channels| self.judged(caps, Some(channels)));
        judged.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// A candidate with its cost. `None` if no cell of depth 1 can be used.
    fn judged(&self, caps: &Caps, channels: Option<f64>) -> Option<Judged> {
        let slower = channels.map_or(1.0, |channels| alone(channels, self.scatter));
        let free = self.line(&self.random, caps);
        let is_bound = free.is_none();
        let random = free.or_else(|| self.bound())?.times(1.0 / slower);
        let stream = self
            .line(&self.sequential, caps)
            .map(|line| line.times(1.0 / slower))
            .filter(|stream| !stream.agrees(random, AS_RANDOM));
        // A latency that caps hide is none that was fitted: a cap that even one operation in flight reaches
        // explains the cells as well as a medium with one channel does, and with less.
        let fitted = [
            !is_bound,
            caps.iops.is_some(),
            caps.bytes.is_some(),
            channels.is_some(),
        ];
        let constants = fitted.into_iter().filter(|is_fitted| *is_fitted).count();
        let fit = DirectionFit {
            random,
            is_bound,
            stream,
            iops: caps.iops.clone(),
            bytes: caps.bytes.clone(),
            channels,
        };
        let spec = draft::trial_of_one(&fit, caps.accounting);
        let errors = Errors::of_rates(&spec, self.cells(), slower, |cell| {
            let line = fit.stream.filter(|_| cell.load.sequential);
            let service = line.unwrap_or(fit.random).at(cell.load.block) / 1e9;
            let held = 1.0 / caps.allow(cell.load);
            match cell.load.depth {
                1 => self.longest_wait(service * slower, held),
                _ if self.seeks_maximum => 1.0,
                depth => slowest_near_cap(service, held, f64::from(depth)),
            }
        })?;
        Some(Judged {
            cost: errors.cost(self.noise) + constants as f64 * COST_OF_A_CONSTANT,
            typical: errors.typical(),
            fit,
        })
    }

    /// The latency line through the cells of depth 1 that no cap holds back, else through those that
    /// one hardly does.
    fn line(&self, cells: &[&Cell], caps: &Caps) -> Option<Line> {
        let free = points_below(CAPPED, cells, caps);
        if free.is_empty() {
            Line::through(&points_below(NEARLY_CAPPED, cells, caps))
        } else {
            Line::through(&free)
        }
    }

    /// How many times longer than by its service and its caps alone a lone operation may take, which is
    /// served for `service` seconds on average, where a cap lets one pass in `held`: a limiter that saves
    /// nothing up loses what an operation quicker than `held` leaves.
    fn longest_wait(&self, service: f64, held: f64) -> f64 {
        let whole = service + service * self.scatter.left_of(held / service);
        whole / service.max(held)
    }

    /// A latency below that of every random cell of depth 1, where caps hide what it is.
    fn bound(&self) -> Option<Line> {
        let without_caps = Caps::default();
        Line::below(&points_below(1.0, &self.random, &without_caps), BELOW_CAPS)
    }
}

/// The cells of depth 1 whose rate is below this share of what the caps allow, and was not limited by a
/// processor.
fn points_below(share: f64, cells: &[&Cell], caps: &Caps) -> Vec<Point> {
    let alone = cells
        .iter()
        .filter(|cell| cell.load.depth == 1 && !cell.cpu_bound);
    let free = alone.filter(|cell| cell.lasting_iops < share * caps.allow(cell.load));
    free.map(|cell| Point {
        block: cell.load.block,
        mean_ns: cell.mean_ns,
        error: cell.mean_error,
    })
    .collect()
}

/// The caps of a candidate.
#[derive(Default)]
struct Caps {
    iops: Option<Level>,
    bytes: Option<Level>,
    accounting: Accounting,
}

impl Caps {
    /// Operations a second that they let pass.
    fn allow(&self, load: Load) -> f64 {
        let charge = load.charged(self.accounting);
        [(&self.iops, charge.ops), (&self.bytes, charge.bytes)]
            .iter()
            .filter_map(|(level, units)| Some(level.as_ref()?.value / units))
            .fold(f64::INFINITY, f64::min)
    }
}

/// How much longer than its own time an operation takes that is alone on a medium with a maximum:
/// where the one before it was quicker than usual, the medium is not yet ready for the next.
fn alone(channels: f64, scatter: &LatencyDistribution) -> f64 {
    1.0 + scatter.left_of(1.0 / channels)
}

/// The largest factor by which irregular arrivals lengthen the operations near a cap, compared with service
/// and cap alone. `depth` of them are in flight; each is served for `service` seconds, and the cap, which saves
/// nothing up, lets one pass in `held` seconds. They wait for each other at most as long as random arrivals do
/// (M/D/1), of which one in `depth` is the operation itself.
pub(super) fn slowest_near_cap(service: f64, held: f64, depth: f64) -> f64 {
    let most = (depth / service).min(1.0 / held);
    // The share of the cap that is used, by bisection: the more, the longer the wait.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let used = f64::midpoint(low, high);
        let wait = held * used / (2.0 * (1.0 - used)) * (depth - 1.0) / depth;
        if used / held * (service + wait) < depth {
            low = used;
        } else {
            high = used;
        }
    }
    if held > 0.0 { most * held / high } else { 1.0 }
}

/// By how much the predicted rates of cells differ from the measured ones.
pub(super) struct Errors(Vec<Error>);

struct Error {
    /// Logarithm of predicted over measured.
    ln: f64,
    /// How far the measured rate may be off by chance, with its number of operations.
    chance: f64,
}

impl Errors {
    /// The errors of the rates that the closed form predicts; `None` if it cannot predict one. It does not
    /// know that a lone operation takes `slower` times its own time, nor that an operation takes up to
    /// `longest_wait` times as long where a cap is near.
    pub(super) fn of_rates<'a>(
        spec: &DeviceSpec,
        cells: impl Iterator<Item = &'a Cell>,
        slower: f64,
        longest_wait: impl Fn(&Cell) -> f64,
    ) -> Option<Self> {
        let fitted = cells.filter(|cell| !cell.cpu_bound);
        let errors = fitted.map(|cell| {
            // Only a lone operation may find the medium not yet ready.
            let slower = if cell.load.depth == 1 { slower } else { 1.0 };
            let wait = longest_wait(cell).max(1.0);
            let most = (rate(spec, cell.load)? / slower / cell.lasting_iops).ln();
            Some(Error {
                // Any rate between the two is explained.
                ln: most - most.clamp(0.0, wait.ln()),
                chance: 1.0 / (cell.count as f64).sqrt(),
            })
        });
        errors.collect::<Option<_>>().map(Self)
    }

    /// How far off the mean reads of cells are that mix reads and writes: a limiter of the writes
    /// that holds the rate hides there what the reads wait for on the medium.
    pub(super) fn of_reads<'a>(spec: &DeviceSpec, mixed: impl Iterator<Item = &'a Cell>) -> Self {
        let errors = mixed.filter_map(|cell| {
            let seconds = read_latency(spec, cell.load.steady(), cell.lasting_iops).ok()?;
            Some(Error {
                ln: (seconds * 1e9 / cell.read_mean_ns).ln().min(UNREACHED),
                chance: 1.0 / (cell.count as f64 / 2.0).sqrt(),
            })
        });
        Self(errors.collect())
    }

    /// The sum over all errors of their squares, as multiples of the noise. Beyond [`FAR`] an error adds in
    /// proportion to itself (Huber's loss), so that a single cell does not decide.
    pub(super) fn cost(&self, noise: f64) -> f64 {
        let costs = self.0.iter().map(|error| {
            let times = (error.ln / (noise + error.chance)).abs();
            if times > FAR {
                FAR * (2.0 * times - FAR)
            } else {
                times * times
            }
        });
        costs.sum()
    }

    fn typical(&self) -> f64 {
        let mut sizes: Vec<f64> = self.0.iter().map(|error| error.ln.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(0.0)
    }
}

/// `None`, and then each level.
fn with_none(levels: impl IntoIterator<Item = Level>) -> impl Iterator<Item = Option<Level>> {
    std::iter::once(None).chain(levels.into_iter().map(Some))
}

/// Operations a second by the closed form.
fn rate(spec: &DeviceSpec, load: Load) -> Option<f64> {
    let predicted = predict(spec, load.steady()).ok()?;
    Some(predicted.sustained().iops)
}

/// Whether the mean read of a cell shows what reads wait for because of writes: their limiters and
/// their channels allow clearly more reads.
pub(super) fn shows_reads(spec: &DeviceSpec, cell: &Cell) -> bool {
    let mut of_reads = spec.clone();
    for volume in &mut of_reads.volumes {
        volume.caps.retain(|cap| cap.covers != Covers::Writes);
    }
    let load = cell.load.steady();
    let granted = grants(&of_reads, load).unwrap_or_default();
    let alone = Steady {
        read_percent: 100,
        in_flight: DEEP,
        ..load
    };
    let most = predict(&of_reads, alone).map_or(0.0, |most| most.sustained().iops);
    let reads = cell.lasting_iops * f64::from(load.read_percent) / 100.0;
    let has_reads = !cell.cpu_bound && cell.read_mean_ns > 0.0 && reads < CAPPED * most;
    let mut rates = granted.iter().map(|grant| grant.iops);
    has_reads && rates.all(|iops| cell.lasting_iops < CAPPED * iops)
}
