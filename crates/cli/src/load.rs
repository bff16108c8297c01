//! The load that `run --rw` describes by flags.

use std::num::NonZeroU32;

use anyhow::{Result, anyhow, bail};
use blocklab_native as native;
use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos, SECTOR, count};
use blocklab_workload::{
    Access, BlockSizes, Case, Flush, Invalid, Job, Mix, Order, Pace, Pattern, Plan, Rate, Stop,
    Workload,
};

use blocklab_args::{Arrivals, LoadArgs, OperationKind};

/// Warm-up, time and number of passes where the command line does not say.
const RAMP: Nanos = Nanos::from_secs(1);
const RUNTIME: Nanos = Nanos::from_secs(5);
const PASSES: u32 = 3;

/// Operations in flight in each thread where the command line does not say. Under a rate, the depth is
/// not the load but its upper bound: a slow target may queue that many before arrivals are late.
const DEPTH: NonZeroU32 = NonZeroU32::MIN;
const DEPTH_UNDER_RATE: NonZeroU32 = NonZeroU32::new(256).expect("above zero");

/// Three passes of each combination of the values that the flags list.
pub fn plan(load: &LoadArgs) -> Result<Plan> {
    refuse_contradictions(load)?;
    let combinations = combinations(load)?;
    let mut cases: Vec<Case> = Vec::new();
    for one in &combinations {
        let case = case(one, load)?;
        if cases.iter().any(|known| known.name == case.name) {
            bail!(
                "two loads would be called {}: each list names a value once",
                case.name
            );
        }
        cases.push(case);
    }
    let name = match &cases[..] {
        [only] => only.name.clone(),
        _ => "sweep".to_owned(),
    };
    Ok(Plan {
        order: Order::Interleaved,
        passes: PASSES,
        ..Plan::once(&name, "", cases)
    })
}

/// Refuses flags that would have no effect beside the others.
fn refuse_contradictions(load: &LoadArgs) -> Result<()> {
    let (mut is_mixed, mut has_writes) = (false, false);
    for kind in &load.rw {
        is_mixed |= matches!(kind, OperationKind::Rw | OperationKind::Randrw);
        has_writes |= !matches!(kind, OperationKind::Read | OperationKind::Randread);
    }
    // 50 is the default of --reads: given or not, it changes nothing here.
    if load.reads != 50 && !is_mixed {
        bail!(
            "--reads, or --mix, works only with --rw rw and --rw randrw: here all operations are alike"
        );
    }
    if load.arrivals.is_some() && load.rate.is_empty() {
        bail!("--arrivals says when operations of a given rate arrive: add --rate IOPS");
    }
    if load.fsync.is_some() && !has_writes {
        bail!("--fsync follows writes, and here all operations are reads");
    }
    Ok(())
}

/// One value of each flag that takes a list.
struct Combination {
    kind: OperationKind,
    size: Bytes,
    depth: NonZeroU32,
    threads: NonZeroU32,
    rate: Option<NonZeroU32>,
}

/// Every combination of the listed values; the last flag (`--rate`) varies fastest.
fn combinations(load: &LoadArgs) -> Result<Vec<Combination>> {
    let rates: Vec<Option<NonZeroU32>> = match &load.rate[..] {
        [] => vec![None],
        rates => rates.iter().copied().map(Some).collect(),
    };
    let depths = match &load.depth[..] {
        [] if load.rate.is_empty() => &[DEPTH],
        [] => &[DEPTH_UNDER_RATE],
        depths => depths,
    };
    let lengths = [
        load.rw.len(),
        load.bs.len(),
        depths.len(),
        load.threads.len(),
        rates.len(),
    ];
    // Counted before anything is allocated: a few long lists multiply to more than the memory holds.
    let number = lengths
        .iter()
        .fold(1_usize, |all, len| all.saturating_mul(*len));
    if number > native::MOST_CASES {
        bail!(
            "the lists make {number} loads, and {} are allowed: list fewer values",
            native::MOST_CASES
        );
    }
    let mut all = Vec::with_capacity(number);
    for kind in &load.rw {
        for size in &load.bs {
            for depth in depths {
                for threads in &load.threads {
                    for rate in &rates {
                        all.push(Combination {
                            kind: *kind,
                            size: *size,
                            depth: *depth,
                            threads: *threads,
                            rate: *rate,
                        });
                    }
                }
            }
        }
    }
    Ok(all)
}

/// The case of a combination. Its name has every value that varies, as the cases of a study's
/// matrix do.
fn case(one: &Combination, load: &LoadArgs) -> Result<Case> {
    let job = job(one, load);
    job.check().map_err(|invalid| flag_error(&invalid))?;
    let settings = settings(one, load);
    let swept: Vec<&str> = settings.iter().map(|(name, _)| &**name).collect();
    let base = name_without(&job, &swept).expect("one size, and a pattern that flags can name");
    let name = native::swept_name(&base, &settings);
    let job = Job {
        name: name.clone(),
        ..job
    };
    Ok(Case {
        name,
        settings,
        workload: Workload {
            seed: 0,
            jobs: vec![job],
        },
    })
}

/// The values of the flags that list several, under the keys that a study's `matrix` has for them.
fn settings(one: &Combination, load: &LoadArgs) -> Vec<(String, String)> {
    let size = one.size.exact().replace(' ', "");
    let rate = one.rate.map_or_else(String::new, |rate| rate.to_string());
    let all = [
        ("block_size", size, load.bs.len()),
        ("depth", one.depth.to_string(), load.depth.len()),
        ("threads", one.threads.to_string(), load.threads.len()),
        ("rate_iops", rate, load.rate.len()),
    ];
    let swept = all.into_iter().filter(|(.., values)| *values > 1);
    swept
        .map(|(name, value, _)| (name.to_owned(), value))
        .collect()
}

/// The job of a combination, still without a name.
fn job(one: &Combination, load: &LoadArgs) -> Job {
    use OperationKind::{Randread, Randrw, Randwrite, Read, Rw, Write};
    let defaults = Job::default();
    Job {
        pattern: match one.kind {
            Read | Write | Rw => Pattern::Sequential,
            Randread | Randwrite | Randrw => Pattern::RANDOM,
        },
        mix: match one.kind {
            Read | Randread => Mix::READ,
            Write | Randwrite => Mix::WRITE,
            Rw | Randrw => Mix::reads(load.reads),
        },
        sizes: BlockSizes::fixed(one.size),
        depth: one.depth.get(),
        threads: one.threads.get(),
        pace: one
            .rate
            .map_or(Pace::Closed, |rate| pace(rate, load.arrivals)),
        engine: load.engine.unwrap_or(defaults.engine),
        access: if load.is_buffered {
            Access::Buffered
        } else {
            defaults.access
        },
        flush: Flush {
            fsync_every: load.fsync.map_or(0, NonZeroU32::get),
            ..defaults.flush
        },
        ramp: RAMP,
        stop: Stop::after(RUNTIME),
        ..defaults
    }
}

fn pace(rate: NonZeroU32, arrivals: Option<Arrivals>) -> Pace {
    let rate = Rate::Iops(rate.get().into());
    match arrivals.unwrap_or(Arrivals::Poisson) {
        Arrivals::Closed => Pace::Capped(rate),
        Arrivals::Fixed => Pace::OpenFixed(rate),
        Arrivals::Poisson => Pace::OpenPoisson(rate),
    }
}

/// What a load is called that flags describe: `rand-4KiB-q1-read`, `seq-1MiB-q8-t4-mix70`,
/// `rand-8KiB-q256-mix70-r5000`. `None`: no flags describe it.
pub fn name_of(job: &Job) -> Option<String> {
    name_without(job, &[])
}

/// The name of a job without the parts whose keys are in `swept`: a sweep appends those itself.
fn name_without(job: &Job, swept: &[&str]) -> Option<String> {
    let order = match job.pattern {
        Pattern::Sequential => "seq",
        Pattern::RANDOM => "rand",
        _ => return None,
    };
    let sizes = job.sizes.common(job.mix)?;
    if sizes.smallest() != sizes.largest() || job.mix.trim > 0 {
        return None;
    }
    let size = sizes.largest().exact().replace(' ', "");
    let threads = match job.threads {
        1 => String::new(),
        several => format!("-t{several}"),
    };
    let operations = match job.mix {
        Mix::READ => "read".to_owned(),
        Mix::WRITE => "write".to_owned(),
        Mix { read, .. } => format!("mix{read}"),
    };
    let rate = match job.pace {
        Pace::Capped(Rate::Iops(rate))
        | Pace::OpenFixed(Rate::Iops(rate))
        | Pace::OpenPoisson(Rate::Iops(rate)) => format!("-r{rate}"),
        Pace::Closed => String::new(),
        _ => return None,
    };
    let parts = [
        ("", order.to_owned()),
        ("block_size", format!("-{size}")),
        ("depth", format!("-q{}", job.depth)),
        ("threads", threads),
        ("", format!("-{operations}")),
        ("rate_iops", rate),
    ];
    let kept = parts.iter().filter(|(key, _)| !swept.contains(key));
    Some(kept.map(|(_, text)| text.as_str()).collect())
}

/// The error of a job's check, under the flag that sets the field.
fn flag_error(invalid: &Invalid) -> anyhow::Error {
    let flag = match invalid.field {
        "block_size" => "--bs",
        "depth" => "--depth",
        "threads" => "--threads",
        "rate_iops" => "--rate",
        "engine" => "--engine",
        "access" => "--buffered",
        "fsync_every" => "--fsync",
        other => other,
    };
    anyhow!("{flag}: {}", invalid.message)
}

/// A note on a size such as `4KB`: a multiple of 1,000 that is not whole sectors was probably meant in
/// units of 1,024.
pub fn binary_hint(size: Bytes) -> Option<Note> {
    let is_odd = size.0.is_multiple_of(1000) && !size.0.is_multiple_of(SECTOR);
    let text = format!(
        "{} bytes are measured, as written (KB is 1,000 bytes); {}KiB is {} bytes",
        count(size.as_f64()),
        size.0 / 1000,
        count((size.0 / 1000 * 1024) as f64)
    );
    is_odd.then(|| Note::new(NoteLevel::Assumed, "--bs", text))
}
