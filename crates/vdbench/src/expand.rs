//! Run definitions to runs: loops and curves written out, workloads and storage found.

use std::collections::BTreeSet;

use super::command::Command;
use super::definitions::Definitions;
use super::defs::{LoopKind, Rd, RequestedRate, RunOptions, Sd, Seek, Wd, Xfersize};
use super::error::{Mistake, Place, Subject};
use super::run::{Burst, Loops, Rate, Run, Use};
use super::value::{MAX_RATE, matches_pattern};

/// More runs than any night holds; a bound for loops in loops.
const MOST_RUNS: usize = 100_000;
const TOO_MANY: &str = "its loops make more than 100000 runs";
/// The points of a curve whose run definition names none.
const CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

/// All runs, with the times that the command line sets instead of those of the file.
pub(super) fn runs(all: &Definitions<'_>, command: &Command) -> Result<Vec<Run>, Mistake> {
    if all.rds.all.is_empty() {
        let message = "no parameter file defines a run; rd=rd1,wd=wd1,iorate=max would";
        return Err(Mistake::new("rd=", message).at(&Place::COMMAND_LINE));
    }
    let mut rds = Vec::new();
    for rd in &all.rds.all {
        let mut rd = rd.clone();
        override_times(&mut rd.options, command);
        check_times(&mut rd)?;
        rds.extend(repeat_for_storage(rd, &all.sds.all)?);
    }
    let mut runs = Vec::new();
    for rd in &rds {
        expand(rd, all, &mut runs)?;
    }
    Ok(runs)
}

/// Sets the times that the command line gives.
fn override_times(options: &mut RunOptions, command: &Command) {
    if command.elapsed > 0 {
        options.elapsed = Some(command.elapsed);
    }
    if command.interval > 0 {
        options.interval = command.interval;
    }
    if command.warmup > 0 {
        options.warmup = command.warmup;
    }
}

/// Chooses an interval where 0 is given, and refuses times that are no multiples of it.
fn check_times(rd: &mut Rd) -> Result<(), Mistake> {
    let (elapsed, warmup) = (rd.options.elapsed.unwrap_or_default(), rd.options.warmup);
    if rd.options.interval == 0 {
        // The longest of at most a minute that both times are multiples of.
        let mut shorter = (1..=(elapsed / 2).clamp(1, 60)).rev();
        rd.options.interval = shorter
            .find(|interval| elapsed % interval == 0 && warmup % interval == 0)
            .unwrap_or(1);
    }
    let interval = rd.options.interval;
    let instead = if interval > 1 {
        "a shorter interval"
    } else {
        "a longer elapsed"
    };
    let message =
        format_args!("elapsed={elapsed} is not twice interval={interval}; {instead} would work");
    rd.check(elapsed / interval >= 2, message)?;
    for (name, time) in [("elapsed", elapsed), ("warmup", warmup)] {
        let message = format_args!("{name}={time} is no multiple of interval={interval}");
        rd.check(time % interval == 0, message)?;
    }
    Ok(())
}

/// `sd=single`, `sd=range` and `sd=setsofN` make a run definition for each of them.
fn repeat_for_storage(rd: Rd, sds: &[Sd]) -> Result<Vec<Rd>, Mistake> {
    let word = match rd.sds.as_deref() {
        Some([word]) => word.as_str(),
        _ => return Ok(vec![rd]),
    };
    let names: Vec<String> = sds.iter().map(|sd| sd.name.clone()).collect();
    let rds: Vec<Rd> = match (word, word.strip_prefix("setsof").map(str::parse::<usize>)) {
        ("range", _) => (1..=names.len())
            .map(|n| {
                let suffix = format!("{}-{}", names[0], names[n - 1]);
                on_storage(&rd, &suffix, &names[..n])
            })
            .collect(),
        ("single", _) | (_, Some(Ok(1))) => sets(&rd, &names, 1),
        (_, Some(Ok(n @ 2..))) => {
            let order = shuffled(names.len());
            let names: Vec<String> = order.iter().map(|index| names[*index].clone()).collect();
            sets(&rd, &names, n)
        }
        (_, Some(_)) => {
            return Err(rd.error(format_args!("sd={word}: a number must follow setsof")));
        }
        _ => return Ok(vec![rd]),
    };
    let message =
        format_args!("sd={word}: no parameter file defines storage; sd=sd1,lun=FILE would");
    rd.checked(rds, !names.is_empty(), message)
}

fn sets(rd: &Rd, names: &[String], n: usize) -> Vec<Rd> {
    let sets = names.chunks(n);
    sets.map(|set| on_storage(rd, &set.join("_"), set))
        .collect()
}

fn on_storage(rd: &Rd, suffix: &str, names: &[String]) -> Rd {
    Rd {
        name: format!("{}_{suffix}", rd.name),
        sds: Some(names.to_vec()),
        ..rd.clone()
    }
}

/// Adds all runs of one definition: the loops in the order they are written, the first one outermost,
/// and the list of rates innermost.
fn expand(rd: &Rd, all: &Definitions<'_>, runs: &mut Vec<Run>) -> Result<(), Mistake> {
    let uses = uses(rd, all)?;
    let Some(requested) = rd.iorate.clone() else {
        return Err(rd.error("it has no iorate=; a number, max or curve would work"));
    };
    check_shares(rd, &uses)?;
    let mut loops = rd.loops.clone();
    let mut bursts = Vec::new();
    let mut has_rate = false;
    // Pushed last, the rates become the innermost loop. A single rate is no loop: the run's line
    // would name it.
    let first = match &requested {
        RequestedRate::Max => Rate::Max,
        RequestedRate::Curve => Rate::CurveMax,
        RequestedRate::Rates(rates) => {
            if rd.variable {
                bursts = pairs(rates);
            } else if rates.len() > 1 {
                loops.push((LoopKind::Iorate, rates.clone()));
            }
            has_rate = rates.iter().any(|rate| *rate != MAX_RATE);
            Rate::from_number(rates[0])
        }
    };
    rd.check(
        !rd.variable || !bursts.is_empty(),
        "distribution=variable takes turns through a list of rates, each with its seconds: \
         iorate=(100,10,500,2)",
    )?;
    let mut wds = uses.iter().map(|workload| &workload.wd);
    let controlled =
        has_rate || wds.any(|wd| wd.skew != 0.0 || wd.iorate != 0.0 || wd.priority.is_some());
    let lengths = loops.iter().map(|(_, values)| values.len());
    // Saturating: a product too large is refused by the check after it.
    let sets = lengths.fold(1, usize::saturating_mul);
    rd.check(sets <= MOST_RUNS, TOO_MANY)?;
    for set in (0..sets).map(|index| loop_values(&loops, sets, index)) {
        let run = Run {
            name: rd.name.clone(),
            uses: uses
                .iter()
                .map(|workload| overridden(workload, &set))
                .collect(),
            threads: set
                .value(LoopKind::Threads)
                .map(|value| (value as u32).max(1)),
            compratio: set.value(LoopKind::Comp),
            rate: set.value(LoopKind::Iorate).map_or(first, Rate::from_number),
            first_rate: first,
            controlled,
            bursts: bursts.clone(),
            options: rd.options.clone(),
            loops: set,
        };
        // The run itself measures the maximum that the points of the curve are shares of.
        runs.push(run.clone());
        if requested == RequestedRate::Curve {
            let points = rd.curve.as_deref().unwrap_or(&CURVE);
            runs.extend(points.iter().map(|point| Run {
                name: format!("{}_({point}%)", run.name),
                rate: Rate::CurvePoint(*point),
                first_rate: Rate::CurvePoint(*point),
                ..run.clone()
            }));
        }
        rd.check(runs.len() <= MOST_RUNS, TOO_MANY)?;
    }
    Ok(())
}

/// The rates that take turns, from a list of pairs, a rate and its seconds; empty where the list does not
/// consist of such pairs.
fn pairs(rates: &[f64]) -> Vec<Burst> {
    let (pairs, rest) = rates.as_chunks::<2>();
    // A percentage is below 0, and the seconds of a maximum cannot be one.
    let are_numbers = rates.iter().all(|rate| *rate > 0.0 && *rate != MAX_RATE);
    if !rest.is_empty() || !are_numbers {
        return Vec::new();
    }
    pairs
        .iter()
        .map(|&[rate, seconds]| Burst { rate, seconds })
        .collect()
}

/// The values of all loops in the combination with this index, of `sets` combinations. The last loop
/// changes with each combination.
fn loop_values(loops: &[(LoopKind, Vec<f64>)], sets: usize, index: usize) -> Loops {
    let mut stride = sets;
    Loops(
        loops
            .iter()
            .map(|(kind, values)| {
                stride /= values.len();
                (*kind, values[index / stride % values.len()])
            })
            .collect(),
    )
}

/// A workload with the values that a run's loops give its own keywords.
fn overridden(workload: &Use, loops: &Loops) -> Use {
    let mut workload = workload.clone();
    let wd = &mut workload.wd;
    for (kind, value) in &loops.0 {
        match kind {
            LoopKind::Xfersize => wd.xfersize = Xfersize::Fixed(*value as u64),
            LoopKind::Rdpct => wd.rdpct = *value,
            LoopKind::Rhpct => wd.rhpct = *value,
            LoopKind::Whpct => wd.whpct = *value,
            // `Seek::number` has made -1 of `eof`.
            LoopKind::Seekpct if *value < 0.0 => wd.seek = Seek::Eof,
            LoopKind::Seekpct => wd.seek = Seek::Percent(*value),
            LoopKind::Hitarea => wd.hitarea = Some(*value as u64),
            // These are settings of the run.
            LoopKind::Threads | LoopKind::Comp | LoopKind::Iorate => {}
        }
    }
    workload
}

/// The workloads of a run definition, each with its storage.
fn uses(rd: &Rd, all: &Definitions<'_>) -> Result<Vec<Use>, Mistake> {
    let mut wds: Vec<Wd> = Vec::new();
    // A run with storage but no workload definition takes the place of one itself.
    if rd.wds.is_empty() {
        let message = "it has no wd=; wd=* would take all workloads";
        rd.check(rd.sds.is_some(), message)?;
        wds.push(Wd {
            name: format!("rd={}", rd.name),
            place: rd.place.clone(),
            ..all.wds.default.clone()
        });
    }
    for name in &rd.wds {
        let names = all.wds.all.iter().map(|wd| &*wd.name);
        let found = matching(rd, "wd", name, names)?;
        wds.extend(found.into_iter().map(|index| all.wds.all[index].clone()));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = wds.iter().find(|wd| !names.insert(&wd.name)) {
        return Err(rd.error(format_args!("wd={} is named twice", twice.name)));
    }
    let streaming = wds.iter().any(|wd| wd.streams > 0);
    let message = "with streams= a run has one workload";
    rd.check(!streaming || wds.len() == 1, message)?;
    let uses: Result<Vec<Use>, Mistake> = wds
        .into_iter()
        .map(|wd| {
            let sds = storage(rd, &wd, &all.sds.all)?;
            Ok(Use { wd, sds })
        })
        .collect();
    let uses = uses?;
    check_priorities(rd, &uses)?;
    Ok(uses)
}

/// The places of the names that a pattern matches; one at least.
fn matching<'n>(
    subject: &impl Subject,
    keyword: &str,
    pattern: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<Vec<usize>, Mistake> {
    let found: Vec<usize> = names
        .clone()
        .enumerate()
        .filter(|(_, name)| matches_pattern(pattern, name))
        .map(|(index, _)| index)
        .collect();
    if found.is_empty() {
        let near = blocklab_units::nearest(pattern, names)
            .map_or(String::new(), |near| format!("; perhaps {near}"));
        Err(subject.error(format_args!("{keyword}={pattern} is defined nowhere{near}")))
    } else {
        Ok(found)
    }
}

/// The storage of a workload: what the run names, or what the workload does.
fn storage(rd: &Rd, wd: &Wd, sds: &[Sd]) -> Result<Vec<usize>, Mistake> {
    match (&rd.sds, &wd.sds) {
        (Some(patterns), _) => find_storage(rd, patterns, sds),
        (None, Some(patterns)) => find_storage(wd, patterns, sds),
        (None, None) => Err(wd.error("it has no sd=; sd=* would take all storage")),
    }
}

/// The indices of the storage definitions that the patterns name, in the order of the patterns.
fn find_storage(
    subject: &impl Subject,
    patterns: &[String],
    sds: &[Sd],
) -> Result<Vec<usize>, Mistake> {
    let mut found = Vec::new();
    let mut taken = vec![false; sds.len()];
    for pattern in patterns {
        for index in matching(subject, "sd", pattern, sds.iter().map(|sd| &*sd.name))? {
            let is_twice = std::mem::replace(&mut taken[index], true);
            let message = format_args!("sd={} is named twice", sds[index].name);
            subject.check(!is_twice, message)?;
            found.push(index);
        }
    }
    Ok(found)
}

/// Workloads without a skew share what the others leave; together they are the whole.
fn check_shares(rd: &Rd, uses: &[Use]) -> Result<(), Mistake> {
    let mut wds = uses.iter().map(|workload| &workload.wd);
    if let Some(both) = wds.find(|wd| wd.skew != 0.0 && wd.iorate != 0.0) {
        let name = &both.name;
        return Err(rd.error(format_args!(
            "wd={name} has both skew= and iorate=; one of them would work"
        )));
    }
    let sharing = uses.iter().filter(|workload| workload.wd.iorate == 0.0);
    let skews: Vec<f64> = sharing.map(|workload| workload.wd.skew).collect();
    let requested: f64 = skews.iter().sum();
    let is_open = skews.contains(&0.0);
    let is_whole = (is_open && requested < 99.9999) || (requested - 100.0).abs() < 1e-4;
    let message = format_args!("the skews of its workloads add up to {requested:.2}, not to 100");
    rd.check(skews.is_empty() || is_whole, message)
}

/// With a rate or a priority of its own in one workload, each has a priority, those with a rate
/// the better ones.
fn check_priorities(rd: &Rd, uses: &[Use]) -> Result<(), Mistake> {
    let wds: Vec<&Wd> = uses.iter().map(|workload| &workload.wd).collect();
    let (with_rate, without): (Vec<&Wd>, Vec<&Wd>) =
        wds.iter().copied().partition(|wd| wd.iorate != 0.0);
    if with_rate.is_empty() && wds.iter().all(|wd| wd.priority.is_none()) {
        return Ok(());
    }
    if let Some(wd) = wds
        .iter()
        .find(|wd| wd.iorate != 0.0 && wd.priority.is_none())
    {
        let name = &wd.name;
        return Err(rd.error(format_args!(
            "wd={name} has iorate= and needs priority= too"
        )));
    }
    let different: BTreeSet<u32> = wds.iter().filter_map(|wd| wd.priority).collect();
    rd.check(
        different.len() == uses.len(),
        "one of its workloads has priority= or iorate=, so each needs a priority of its own",
    )?;
    let last_fixed = with_rate.iter().filter_map(|wd| wd.priority).max();
    let first_free = without.iter().filter_map(|wd| wd.priority).min();
    rd.check(
        last_fixed.is_none() || first_free.is_none() || last_fixed < first_free,
        "workloads with iorate= need a better priority (a lower number) than those without",
    )
}

/// Draws the order in which `sd=setsofN` takes storage: the original shuffles with a fixed seed of
/// its language's generator, a linear congruential one of 48 bits.
struct Generator(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl Generator {
    const fn new(seed: u64) -> Self {
        Self((seed ^ MULTIPLIER) & MASK)
    }

    const fn next_31(&mut self) -> i64 {
        self.0 = (self.0.wrapping_mul(MULTIPLIER).wrapping_add(0xB)) & MASK;
        (self.0 >> 17) as i64
    }

    /// From 0 to `bound` - 1, without bias.
    const fn below(&mut self, bound: i64) -> i64 {
        if bound & (bound - 1) == 0 {
            return (bound * self.next_31()) >> 31;
        }
        loop {
            let bits = self.next_31();
            let value = bits % bound;
            if bits - value + (bound - 1) < 1 << 31 {
                return value;
            }
        }
    }
}

/// Indices 0 to n-1 in the original's order.
pub(super) fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut chance = Generator::new(0);
    for _ in 0..n * 8 {
        let (a, b) = (chance.below(n as i64), chance.below(n as i64));
        order.swap(a as usize, b as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::Generator;

    /// The documented first values of the generator for seed 0.
    #[test]
    fn the_generator_is_the_known_one() {
        let mut chance = Generator::new(0);
        let first: Vec<i64> = (0..5).map(|_| chance.below(100)).collect();
        assert_eq!(first, [60, 48, 29, 47, 15]);
    }
}
