//! Run definitions to runs: loops and curves written out, workloads and storage found.

use std::collections::BTreeSet;

use super::defs::{AskedRate, LoopKind, Rd, Sd, Seek, Wd, Xfersize};
use super::mistake::Mistake;
use super::read::Definitions;
use super::run::{Bursts, Loops, Rate, Run, Use};
use super::shuffle::shuffled;

/// What the command line sets for all runs; 0: as the file says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Override {
    pub(super) elapsed: u64,
    pub(super) interval: u64,
    pub(super) warmup: u64,
}

/// More runs than any night holds; a bound for loops in loops.
const MOST_RUNS: usize = 100_000;
/// The points of a curve whose run definition names none.
const CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

pub(super) fn runs(all: &Definitions, over: Override) -> Result<Vec<Run>, Mistake> {
    if all.rds.is_empty() {
        let place = super::mistake::Place::default();
        let message = "no parameter file defines a run; rd=rd1,wd=wd1,iorate=max would";
        return Err(Mistake::new(&place, "rd=", message));
    }
    let mut rds = Vec::new();
    for rd in &all.rds {
        let mut rd = rd.clone();
        over.apply(&mut rd);
        check_times(&mut rd)?;
        rds.extend(repeat_for_storage(rd, &all.sds)?);
    }
    let mut runs = Vec::new();
    for rd in &rds {
        expand(rd, all, &mut runs)?;
        if runs.len() > MOST_RUNS {
            return Err(wrong(
                rd,
                format!("its loops make more than {MOST_RUNS} runs"),
            ));
        }
    }
    Ok(runs)
}

impl Override {
    fn apply(self, rd: &mut Rd) {
        for (value, of) in [
            (self.elapsed, &mut rd.elapsed),
            (self.interval, &mut rd.interval),
            (self.warmup, &mut rd.warmup),
        ] {
            if value > 0 {
                *of = value;
            }
        }
    }
}

fn wrong(rd: &Rd, message: impl Into<String>) -> Mistake {
    Mistake::new(&rd.place, format!("rd={}", rd.name), message)
}

fn check_times(rd: &mut Rd) -> Result<(), Mistake> {
    if rd.interval == 0 {
        rd.interval = (rd.elapsed / 2).clamp(1, 60);
    }
    let (elapsed, interval, warmup) = (rd.elapsed, rd.interval, rd.warmup);
    if elapsed / interval < 2 {
        return Err(wrong(
            rd,
            format!(
                "elapsed={elapsed} is not twice interval={interval}; a shorter interval would work"
            ),
        ));
    }
    if elapsed % interval != 0 {
        return Err(wrong(
            rd,
            format!("elapsed={elapsed} is no multiple of interval={interval}"),
        ));
    }
    if warmup % interval != 0 {
        return Err(wrong(
            rd,
            format!("warmup={warmup} is no multiple of interval={interval}"),
        ));
    }
    Ok(())
}

/// `sd=single`, `sd=range` and `sd=setsofN` make a run definition for each of them.
fn repeat_for_storage(rd: Rd, sds: &[Sd]) -> Result<Vec<Rd>, Mistake> {
    let word = match rd.sds.as_deref() {
        Some([word]) => word.as_str(),
        _ => return Ok(vec![rd]),
    };
    let names = |sds: &[&Sd]| Some(sds.iter().map(|sd| sd.name.clone()).collect());
    if word == "range" {
        let all: Vec<&Sd> = sds.iter().collect();
        let one = |n: usize| Rd {
            name: format!("{}_{}-{}", rd.name, all[0].name, all[n - 1].name),
            sds: names(&all[..n]),
            ..rd.clone()
        };
        return Ok((1..=all.len()).map(one).collect());
    }
    let set = match word {
        "single" => 1,
        _ => match word.strip_prefix("setsof") {
            None => return Ok(vec![rd]),
            Some(number) => match number.parse::<usize>() {
                Ok(set @ 1..) => set,
                _ => {
                    return Err(wrong(
                        &rd,
                        format!("sd={word}: a number must follow setsof"),
                    ));
                }
            },
        },
    };
    let order: Vec<&Sd> = match set {
        1 => sds.iter().collect(),
        _ => shuffled(sds.len())
            .into_iter()
            .map(|index| &sds[index])
            .collect(),
    };
    let one = |set: &[&Sd]| {
        let suffix: String = set.iter().map(|sd| format!("_{}", sd.name)).collect();
        Rd {
            name: format!("{}{suffix}", rd.name),
            sds: names(set),
            ..rd.clone()
        }
    };
    Ok(order.chunks(set).map(one).collect())
}

/// All runs of one definition: loops outermost first, the rate innermost.
fn expand(rd: &Rd, all: &Definitions, runs: &mut Vec<Run>) -> Result<(), Mistake> {
    let uses = uses(rd, all)?;
    let asked = rd
        .iorate
        .clone()
        .ok_or_else(|| wrong(rd, "it has no iorate=; a number, max or curve would work"))?;
    check_shares(rd, &uses)?;
    let mut loops = rd.loops.clone();
    let mut bursts = None;
    let has_rate = asked.has_rate();
    let first = match &asked {
        AskedRate::Max => Rate::Max,
        AskedRate::Curve => Rate::CurveMax,
        AskedRate::Rates(rates) => {
            if let Some(spike) = rd.variable {
                bursts = Some(Bursts {
                    rates: rates.clone(),
                    spike,
                });
            } else if rates.len() > 1 {
                loops.push((LoopKind::Iorate, rates.clone()));
            }
            Rate::of(rates[0])
        }
    };
    if rd.variable.is_some() && bursts.is_none() {
        return Err(wrong(
            rd,
            "distribution=variable takes turns through a list of rates: iorate=(100,10,500,2)",
        ));
    }
    for values in Combinations::of(&loops) {
        let set: Vec<(LoopKind, f64)> = loops
            .iter()
            .zip(values)
            .map(|((kind, _), value)| (*kind, value))
            .collect();
        let rate = set
            .iter()
            .find(|(kind, _)| *kind == LoopKind::Iorate)
            .map_or(first, |(_, rate)| Rate::of(*rate));
        let run = run(rd, &uses, set, [rate, first], has_rate, bursts.clone());
        let curve = (asked == AskedRate::Curve).then(|| run.clone());
        runs.push(run);
        if runs.len() > MOST_RUNS {
            return Ok(());
        }
        if let Some(maximum) = curve {
            let points = rd.curve.clone().unwrap_or_else(|| CURVE.to_vec());
            runs.extend(points.into_iter().map(|point| Run {
                name: format!("{}_({point}%)", maximum.name),
                rate: Rate::CurvePoint(point),
                first_rate: Rate::CurvePoint(point),
                ..maximum.clone()
            }));
        }
    }
    Ok(())
}

fn run(
    rd: &Rd,
    uses: &[Use],
    loops: Vec<(LoopKind, f64)>,
    [rate, first_rate]: [Rate; 2],
    has_rate: bool,
    bursts: Option<Bursts>,
) -> Run {
    let loops = Loops(loops);
    let controlled = uses
        .iter()
        .any(|one| one.wd.skew != 0.0 || one.wd.iorate != 0.0 || one.wd.priority.is_some())
        || has_rate;
    Run {
        place: rd.place.clone(),
        name: rd.name.clone(),
        uses: uses.iter().map(|one| overridden(one, &loops)).collect(),
        threads: loops
            .value(LoopKind::Threads)
            .map(|threads| (threads as u32).max(1)),
        compratio: loops.value(LoopKind::Comp),
        loops,
        rate,
        first_rate,
        controlled,
        bursts,
        elapsed: Some(rd.elapsed),
        interval: rd.interval,
        warmup: rd.warmup,
        pause: rd.pause,
        maxdata: rd.maxdata,
        arrivals: rd.arrivals,
        stopcurve: rd.stopcurve,
        openflags: rd.openflags,
        startcmd: rd.startcmd.clone(),
        endcmd: rd.endcmd.clone(),
    }
}

fn overridden(one: &Use, loops: &Loops) -> Use {
    let mut one = one.clone();
    let wd = &mut one.wd;
    for (kind, value) in &loops.0 {
        match kind {
            LoopKind::Xfersize => wd.xfersize = Xfersize::Fixed(*value as u64),
            LoopKind::Rdpct => wd.rdpct = *value,
            LoopKind::Rhpct => wd.rhpct = *value,
            LoopKind::Whpct => wd.whpct = *value,
            LoopKind::Seekpct if *value < 0.0 => wd.seek = Seek::Eof,
            LoopKind::Seekpct => wd.seek = Seek::Percent(*value),
            LoopKind::Hitarea => one.hitarea = Some(*value as u64),
            LoopKind::Threads | LoopKind::Comp | LoopKind::Iorate => {}
        }
    }
    one
}

/// The workloads of a run definition, each with its storage.
fn uses(rd: &Rd, all: &Definitions) -> Result<Vec<Use>, Mistake> {
    let mut wds: Vec<Wd> = Vec::new();
    if rd.wds.is_empty() && rd.sds.is_some() {
        wds.push(Wd {
            name: format!("rd={}", rd.name),
            place: rd.place.clone(),
            ..all.wd_default.clone()
        });
    }
    if rd.wds.is_empty() && rd.sds.is_none() {
        return Err(wrong(rd, "it has no wd=; wd=* would take all workloads"));
    }
    for name in &rd.wds {
        let before = wds.len();
        wds.extend(
            all.wds
                .iter()
                .filter(|wd| stands_for(name, &wd.name))
                .cloned(),
        );
        if wds.len() == before {
            let near = blocklab_units::nearest(name, all.wds.iter().map(|wd| &*wd.name));
            return Err(wrong(rd, missing("wd", name, near)));
        }
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = wds.iter().find(|wd| !names.insert(&wd.name)) {
        return Err(wrong(rd, format!("wd={} is named twice", twice.name)));
    }
    let streaming = wds.iter().any(|wd| wd.streams > 0);
    if streaming && wds.len() > 1 {
        return Err(wrong(rd, "with streams= a run has one workload"));
    }
    let wds: Vec<Use> = wds
        .into_iter()
        .map(|wd| {
            let sds = storage(rd, &wd, &all.sds)?;
            Ok(Use {
                wd,
                sds,
                hitarea: None,
            })
        })
        .collect::<Result<_, Mistake>>()?;
    check_priorities(rd, &wds)?;
    Ok(wds)
}

fn missing(what: &str, name: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{what}={name} is defined nowhere; perhaps {near}"),
        None => format!("{what}={name} is defined nowhere"),
    }
}

/// Only a `*` at the end stands for anything.
fn stands_for(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => pattern == name,
    }
}

fn storage(rd: &Rd, wd: &Wd, sds: &[Sd]) -> Result<Vec<usize>, Mistake> {
    let patterns = rd.sds.as_ref().or(wd.sds.as_ref()).ok_or_else(|| {
        Mistake::new(
            &wd.place,
            format!("wd={}", wd.name),
            "it has no sd=; sd=* would take all storage",
        )
    })?;
    let about = match &rd.sds {
        Some(_) => (&rd.place, format!("rd={}", rd.name)),
        None => (&wd.place, format!("wd={}", wd.name)),
    };
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for pattern in patterns {
        let before = found.len();
        for (index, sd) in sds.iter().enumerate() {
            if !stands_for(pattern, &sd.name) {
                continue;
            }
            if !taken.insert(index) {
                return Err(Mistake::new(
                    about.0,
                    about.1,
                    format!("sd={} is named twice", sd.name),
                ));
            }
            found.push(index);
        }
        if found.len() == before {
            let near = blocklab_units::nearest(pattern, sds.iter().map(|sd| &*sd.name));
            return Err(Mistake::new(about.0, about.1, missing("sd", pattern, near)));
        }
    }
    Ok(found)
}

/// Workloads without a skew share what the others leave; together they are the whole.
fn check_shares(rd: &Rd, uses: &[Use]) -> Result<(), Mistake> {
    if let Some(both) = uses
        .iter()
        .find(|one| one.wd.skew != 0.0 && one.wd.iorate != 0.0)
    {
        return Err(wrong(
            rd,
            format!(
                "wd={} has both skew= and iorate=; one of them would work",
                both.wd.name
            ),
        ));
    }
    let sharing = || uses.iter().filter(|one| one.wd.iorate == 0.0);
    let asked: f64 = sharing().map(|one| one.wd.skew).sum();
    let open = sharing().any(|one| one.wd.skew == 0.0);
    if sharing().next().is_none() || (open && asked < 99.9999) || (asked - 100.0).abs() < 1e-4 {
        return Ok(());
    }
    Err(wrong(
        rd,
        format!("the skews of its workloads add up to {asked:.2}, not to 100"),
    ))
}

/// With a rate or a priority of its own in one workload, each has a priority, those with a rate
/// the better ones.
fn check_priorities(rd: &Rd, uses: &[Use]) -> Result<(), Mistake> {
    let wds = || uses.iter().map(|one| &one.wd);
    if !wds().any(|wd| wd.iorate != 0.0 || wd.priority.is_some()) {
        return Ok(());
    }
    if let Some(wd) = wds().find(|wd| wd.iorate != 0.0 && wd.priority.is_none()) {
        return Err(wrong(
            rd,
            format!("wd={} has iorate= and needs priority= too", wd.name),
        ));
    }
    let different: BTreeSet<u32> = wds().filter_map(|wd| wd.priority).collect();
    if different.len() != uses.len() {
        return Err(wrong(
            rd,
            "one of its workloads has priority= or iorate=, so each needs a priority of its own",
        ));
    }
    let last_fixed = wds()
        .filter(|wd| wd.iorate != 0.0)
        .filter_map(|wd| wd.priority)
        .max();
    let first_free = wds()
        .filter(|wd| wd.iorate == 0.0)
        .filter_map(|wd| wd.priority)
        .min();
    match (last_fixed, first_free) {
        (Some(fixed), Some(free)) if fixed >= free => Err(wrong(
            rd,
            "workloads with iorate= need a better priority (a lower number) than those without",
        )),
        _ => Ok(()),
    }
}

/// All combinations of loop values, the last loop turning fastest.
struct Combinations<'a> {
    loops: &'a [(LoopKind, Vec<f64>)],
    at: Option<Vec<usize>>,
}

impl<'a> Combinations<'a> {
    fn of(loops: &'a [(LoopKind, Vec<f64>)]) -> Self {
        Self {
            loops,
            at: Some(vec![0; loops.len()]),
        }
    }
}

impl Iterator for Combinations<'_> {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        let at = self.at.as_mut()?;
        let values = self
            .loops
            .iter()
            .zip(&*at)
            .map(|((_, values), index)| values[*index]);
        let values = values.collect();
        for place in (0..at.len()).rev() {
            at[place] += 1;
            if at[place] < self.loops[place].1.len() {
                return Some(values);
            }
            at[place] = 0;
        }
        self.at = None;
        Some(values)
    }
}
