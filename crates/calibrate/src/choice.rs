//! The candidate that explains all cells best, over both directions.

use blocklab_device::{Accounting, DeviceSpec, grants};
use blocklab_units::{Bytes, Nanos};

use super::CannotCalibrate;
use super::cells::{Cell, LoadDirection, Start, Sweep, pattern};
use super::direction::{
    COST_OF_A_CONSTANT, Errors, Evidence, Judged, REPEATABILITY, shows_reads, slowest_near_cap,
};
use super::draft::{DirectionFit, Draft, Provenance};
use super::plateau::Level;
use super::scatter::LatencyDistribution;

/// The candidate that was chosen, for both directions.
pub(super) struct Choice {
    pub read: Option<DirectionFit>,
    pub write: Option<DirectionFit>,
    pub accounting: Accounting,
    pub scatter: LatencyDistribution,
    /// The sigma of reads alone and of writes alone, where both were measured.
    pub sigmas: Option<[f64; 2]>,
    pub scatter_cells: usize,
    /// An error of a rate up to this share is noise, and tells nothing about a candidate.
    noise: f64,
    pub shares: Shares,
    /// What reads wait for alongside writes: how long a program takes, and what it writes.
    pub programs: Option<(Nanos, Bytes)>,
    starts: Vec<Start>,
}

/// What reads and writes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shares {
    pub iops: bool,
    pub bytes: bool,
    /// Whether cells that mix both have shown it; else it is assumed from equal levels.
    pub shown: bool,
}

/// How providers count: as it is; SSD volumes of EBS; HDD volumes of EBS.
const ACCOUNTINGS: [Accounting; 3] = [
    Accounting::Plain,
    Accounting::Merged {
        unit: Bytes(256 << 10),
    },
    Accounting::WholeUnits { unit: Bytes::MIB },
];
/// Levels of one limiter agree within this in both directions.
const EQUAL: f64 = 0.05;
/// The standard deviation of a normal distribution over its median deviation.
const NORMAL: f64 = 1.4826;
/// A cell of depth 1 was not at a cap if the fastest depth of its load has at least this many times its rate.
const GAINED: f64 = 1.25;

/// Programs of flash: from a quick page of one bit a cell to a slow one of several.
const SHORTEST_NS: f64 = 50e3;
const LONGEST_NS: f64 = 10e6;
/// Ratio of one length that is tried to the one before.
const FINENESS: f64 = 1.1;
const PAGES_KIB: [u64; 8] = [4, 8, 16, 24, 32, 48, 64, 128];
/// What programs must save: they are two constants, their length and their page.
const COST_OF_PROGRAMS: f64 = 2.0 * COST_OF_A_CONSTANT;

/// Chooses how the disk counts operations and how long it serves them, so that the random and
/// sequential cells of both directions are explained best.
pub(super) fn choose(sweep: &Sweep) -> Result<Choice, CannotCalibrate> {
    let directions =
        [LoadDirection::Read, LoadDirection::Write].map(|direction| measured(sweep, direction));
    let [reads, writes] = directions;
    let (reads, writes) = (reads?, writes?);
    if reads.is_none() && writes.is_none() {
        return Err(CannotCalibrate::NoDepthOne {
            pattern: "random",
            direction: "read",
            depths: "no random cell at all".to_owned(),
        });
    }
    let depth_one = cells_for_scatter(sweep);
    let scatter = LatencyDistribution::fit(&depth_one).unwrap_or_default();
    let mut evidence = [(reads, LoadDirection::Read), (writes, LoadDirection::Write)].map(
        |(random, direction)| {
            Some(Evidence {
                random: random?,
                sequential: sweep.series(direction, true).collect(),
                scatter: &scatter,
                noise: REPEATABILITY,
                seeks_maximum: true,
            })
        },
    );
    // Once with the least noise, to see what the best candidate leaves, and again with that.
    let first = best(&evidence);
    // Where the figures of a disk scatter, no constant of the model must be fitted to that scatter.
    let noise = (first.typical() * NORMAL).max(REPEATABILITY);
    for evidence in evidence.iter_mut().flatten() {
        evidence.noise = noise;
    }
    let (choice, cost) = chosen(&evidence, sweep, &depth_one, noise)?;
    // Channels are what gives a medium its maximum.
    if choice.fits().iter().all(|fit| fit.channels.is_none()) {
        return Ok(choice);
    }
    // A maximum of the medium may stand in for what caps do near the depth that reaches them, or for one
    // cap that reads and writes share. Without a maximum more errors count as explained, so that this
    // choice must be better by a whole constant.
    for evidence in evidence.iter_mut().flatten() {
        evidence.seeks_maximum = false;
    }
    match chosen(&evidence, sweep, &depth_one, noise) {
        Ok((plain, plain_cost)) if plain_cost + COST_OF_A_CONSTANT < cost => Ok(plain),
        _ => Ok(choice),
    }
}

/// The best choice by this evidence, and its cost over the cells of one direction and those that mix
/// reads and writes. `depth_one`: the cells of depth 1 from which the scatter is fitted.
///
/// # Errors
/// When a direction was measured that no candidate explains.
fn chosen(
    evidence: &[Option<Evidence<'_>>; 2],
    sweep: &Sweep,
    depth_one: &[&Cell],
    noise: f64,
) -> Result<(Choice, f64), CannotCalibrate> {
    let best = best(evidence);
    let unmixed_cost = best.cost();
    let Best { accounting, fits } = best;
    for ((evidence, fit), direction) in evidence.iter().zip(&fits).zip(["read", "write"]) {
        if evidence.is_some() && fit.is_none() {
            return Err(CannotCalibrate::OutOfReach { direction });
        }
    }
    let [read, write] = fits.map(|fit| fit.map(|judged| judged.fit));
    let mut choice = Choice {
        read,
        write,
        accounting,
        sigmas: sigmas(depth_one),
        scatter_cells: depth_one.len(),
        scatter: LatencyDistribution::fit(depth_one).unwrap_or_default(),
        noise,
        shares: Shares::default(),
        programs: None,
        starts: sweep.starts.clone(),
    };
    choice.shares = choice.best_shares(sweep);
    choice.programs = choice.best_programs(sweep);
    let mixed: Vec<&Cell> = sweep.mixed().collect();
    let programs_cost = if choice.programs.is_some() {
        COST_OF_PROGRAMS
    } else {
        0.0
    };
    // By the rates alone: which cells show the mean reads depends on the choice, and costs over different
    // cells could not be compared.
    let mixed_cost = choice.cost(&choice.trial_with(choice.programs), &mixed, &[]);
    Ok((choice, unmixed_cost + programs_cost + mixed_cost))
}

/// The random cells of a direction, where they support a line. `Ok(None)`: it was not measured.
fn measured(
    sweep: &Sweep,
    direction: LoadDirection,
) -> Result<Option<Vec<&Cell>>, CannotCalibrate> {
    let cells: Vec<&Cell> = sweep.series(direction, false).collect();
    if cells.is_empty() {
        return Ok(None);
    }
    let direction = if direction == LoadDirection::Read {
        "read"
    } else {
        "write"
    };
    let mut alone = cells.iter().filter(|cell| cell.load.depth == 1);
    let Some(first) = alone.next() else {
        let mut depths: Vec<u32> = cells.iter().map(|cell| cell.load.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
        return Err(CannotCalibrate::NoDepthOne {
            pattern: pattern(false),
            direction,
            depths: depths.join(", "),
        });
    };
    if alone.next().is_none() {
        return Err(CannotCalibrate::OneSize {
            pattern: pattern(false),
            direction,
            size: Bytes(first.load.block).to_string(),
            other: if first.load.block < 64 << 10 {
                "64KiB"
            } else {
                "4KiB"
            },
        });
    }
    let mut of_disk = cells
        .iter()
        .filter(|cell| cell.load.depth == 1 && !cell.cpu_bound);
    if of_disk.next().is_none() {
        return Err(CannotCalibrate::ProcessorBound { direction });
    }
    Ok(Some(cells))
}

/// The cells of depth 1 from which the scatter of the medium is fitted: those whose load was faster
/// at a larger depth, so that no limit held depth 1 back. If no load was faster, as on a medium that
/// works on one operation at a time, all cells of depth 1.
fn cells_for_scatter(sweep: &Sweep) -> Vec<&Cell> {
    let alone = sweep.cells.iter().filter(|cell| {
        cell.load.depth == 1
            && !cell.cpu_bound
            && !matches!(cell.load.direction, LoadDirection::Mixed(_))
    });
    let gained = alone.clone().filter(|cell| {
        // Of all depths. Depth 1 itself does no harm: it is not `GAINED` times its own rate.
        let most = sweep
            .series(cell.load.direction, cell.load.sequential)
            .filter(|same_load| same_load.load.block == cell.load.block)
            .map(|same_load| same_load.iops)
            .fold(0.0, f64::max);
        most >= GAINED * cell.iops
    });
    let free: Vec<&Cell> = gained.collect();
    if free.is_empty() {
        alone.collect()
    } else {
        free
    }
}

/// The sigma of reads alone and of writes alone.
fn sigmas(alone: &[&Cell]) -> Option<[f64; 2]> {
    let [reads, writes] = [LoadDirection::Read, LoadDirection::Write].map(|direction| {
        let cells = alone
            .iter()
            .copied()
            .filter(|cell| cell.load.direction == direction);
        LatencyDistribution::fit(&cells.collect::<Vec<_>>())
    });
    Some([reads?.sigma, writes?.sigma])
}

/// The accounting under which both directions together are explained best.
struct Best {
    accounting: Accounting,
    fits: [Option<Judged>; 2],
}

impl Best {
    /// How badly reads and writes are explained together. An accounting other than plain costs as
    /// much as one more constant, so that it has to earn it.
    fn cost(&self) -> f64 {
        let more = if self.accounting == Accounting::Plain {
            0.0
        } else {
            COST_OF_A_CONSTANT
        };
        more + self.fits.iter().flatten().map(|fit| fit.cost).sum::<f64>()
    }

    fn typical(&self) -> f64 {
        let fits = self.fits.iter().flatten();
        fits.map(|fit| fit.typical).fold(0.0, f64::max)
    }
}

/// The accounting that explains reads and writes together best.
fn best(evidence: &[Option<Evidence<'_>>; 2]) -> Best {
    let judged = ACCOUNTINGS.map(|accounting| Best {
        accounting,
        fits: evidence
            .each_ref()
            .map(|evidence| evidence.as_ref()?.best(accounting)),
    });
    let best = judged
        .into_iter()
        .min_by(|a, b| a.cost().total_cmp(&b.cost()));
    best.expect("there are three")
}

impl Choice {
    /// Both directions; one that was not measured is as the other.
    fn fits(&self) -> [&DirectionFit; 2] {
        let measured = self.read.as_ref().or(self.write.as_ref());
        let any = measured.expect("one direction was measured, and what was measured has a fit");
        [
            self.read.as_ref().unwrap_or(any),
            self.write.as_ref().unwrap_or(any),
        ]
    }

    pub(super) fn device(&self, runs: &str, disk: Option<(&str, Bytes)>) -> DeviceSpec {
        let (kind, capacity) = disk.unwrap_or(("disk", Bytes(1 << 40)));
        let name = format!("{kind}, calibrated from {runs}");
        let draft = self.draft(runs, self.shares);
        draft.device(name, kind.to_owned(), Bytes(capacity.0.max(512)))
    }

    /// The device of this candidate, as a draft with its origins.
    fn draft<'a>(&'a self, runs: &'a str, shares: Shares) -> Draft<'a> {
        let [read, write] = self.fits();
        Draft {
            read,
            write,
            accounting: self.accounting,
            scatter: &self.scatter,
            shares_iops: shares.iops,
            shares_bytes: shares.bytes,
            programs: self.programs,
            starts: &self.starts,
            provenance: Provenance {
                runs,
                measured: [self.read.is_some(), self.write.is_some()],
                scatter_cells: self.scatter_cells,
            },
        }
    }

    /// Equal levels may be one limiter or two of the same size: cells that mix reads and writes
    /// show which. Without such cells they count as one.
    fn best_shares(&self, sweep: &Sweep) -> Shares {
        let [read, write] = self.fits();
        let (iops, bytes) = (
            equal(&read.iops, &write.iops),
            equal(&read.bytes, &write.bytes),
        );
        let mixed: Vec<&Cell> = sweep.mixed().collect();
        let shown = !mixed.is_empty();
        let options = [(iops, bytes), (iops, false), (false, bytes), (false, false)]
            .map(|(iops, bytes)| Shares { iops, bytes, shown });
        let costs = options.map(|shares| {
            let spec = self.draft("", shares).trial();
            let errors = Errors::of_rates(&spec, mixed.iter().copied(), 1.0, |_| 1.0);
            let cost = errors.map_or(f64::INFINITY, |errors| errors.cost(self.noise));
            (cost, shares)
        });
        // The first of equals: what is equal is one.
        let best = costs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(options[0], |(_, shares)| shares)
    }

    /// Programs of a flash, where they explain the rates of loads that mix reads and writes, and how
    /// long their reads take. They are sought over all lengths and pages that flash has.
    fn best_programs(&self, sweep: &Sweep) -> Option<(Nanos, Bytes)> {
        // Reads wait on the channels that a maximum of them shows.
        self.read.as_ref()?.channels?;
        self.write.as_ref()?;
        let mixed: Vec<&Cell> = sweep.mixed().collect();
        let without = self.trial_with(None);
        let shown = mixed.iter().copied();
        let shown: Vec<&Cell> = shown.filter(|cell| shows_reads(&without, cell)).collect();
        let mut best: Option<(f64, (Nanos, Bytes))> = None;
        for kib in PAGES_KIB {
            let mut ns = SHORTEST_NS;
            while ns <= LONGEST_NS {
                let programs = (Nanos(ns.round() as u64), Bytes(kib << 10));
                let cost = self.cost(&self.trial_with(Some(programs)), &mixed, &shown);
                // The first of equals, so that the same record gives the same model.
                if best.is_none_or(|(least, _)| cost.total_cmp(&least).is_lt()) {
                    best = Some((cost, programs));
                }
                ns *= FINENESS;
            }
        }
        let (least, programs) = best?;
        let saves = least + COST_OF_PROGRAMS < self.cost(&without, &mixed, &shown);
        saves.then_some(programs)
    }

    fn trial_with(&self, programs: Option<(Nanos, Bytes)>) -> DeviceSpec {
        let draft = Draft {
            programs,
            ..self.draft("", self.shares)
        };
        draft.trial()
    }

    /// How far a device is off the rates of the mixed cells, and off the mean reads of those that
    /// show them.
    fn cost(&self, spec: &DeviceSpec, mixed: &[&Cell], shown: &[&Cell]) -> f64 {
        let rates = Errors::of_rates(spec, mixed.iter().copied(), 1.0, |cell| {
            self.longest_wait(spec, cell)
        });
        rates.map_or(f64::INFINITY, |errors| errors.cost(self.noise))
            + Errors::of_reads(spec, shown.iter().copied()).cost(self.noise)
    }

    /// How many times longer the operations of a mixed cell may take than the closed form says, where no
    /// medium has a maximum that could explain it.
    fn longest_wait(&self, spec: &DeviceSpec, cell: &Cell) -> f64 {
        let has_maximum = self.fits().iter().any(|fit| fit.channels.is_some());
        let depth = f64::from(cell.load.depth);
        if has_maximum || depth < 2.0 {
            return 1.0;
        }
        let granted = grants(spec, cell.load.steady()).unwrap_or_default();
        let most = granted.iter().map(|grant| grant.iops);
        let most = most.fold(f64::INFINITY, f64::min);
        let service = depth / self.draft("", self.shares).medium(cell.load);
        slowest_near_cap(service, 1.0 / most, depth)
    }
}

fn equal(read: &Option<Level>, write: &Option<Level>) -> bool {
    let pair = read.as_ref().zip(write.as_ref());
    pair.is_some_and(|(read, write)| (read.value / write.value - 1.0).abs() <= EQUAL)
}
