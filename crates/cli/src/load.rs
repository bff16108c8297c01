//! The load that `run --rw` describes by flags.

use anyhow::{Result, anyhow, bail};
use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos, count};
use blocklab_workload::{
    BlockSizes, Case, Invalid, Job, Mix, Order, Pattern, Plan, Stop, Workload,
};

use crate::args::{LoadArgs, OperationKind};

/// How long a pass lasts and how often it is repeated where the command line does not say.
const RAMP: Nanos = Nanos::from_secs(1);
const RUNTIME: Nanos = Nanos::from_secs(5);
const PASSES: u32 = 3;

/// Three passes of one case with one job.
pub fn plan(kind: OperationKind, load: &LoadArgs) -> Result<Plan> {
    let job = job(kind, load)?;
    job.check().map_err(|invalid| blamed(&invalid))?;
    let name = job.name.clone();
    let case = Case {
        name: name.clone(),
        settings: Vec::new(),
        workload: Workload {
            seed: 0,
            jobs: vec![job],
        },
    };
    Ok(Plan {
        order: Order::Interleaved,
        passes: PASSES,
        ..Plan::once(&name, "", vec![case])
    })
}

fn job(kind: OperationKind, load: &LoadArgs) -> Result<Job> {
    use OperationKind::{Randread, Randrw, Randwrite, Read, Rw, Write};
    let (mix, operations) = match kind {
        Read | Randread => (Mix::READ, "read".to_owned()),
        Write | Randwrite => (Mix::WRITE, "write".to_owned()),
        Rw | Randrw => (Mix::reads(load.reads), format!("mix{}", load.reads)),
    };
    if !matches!(kind, Rw | Randrw) && load.reads != 50 {
        bail!("--reads works only with --rw rw and --rw randrw: here all operations are alike");
    }
    let (pattern, order) = match kind {
        Read | Write | Rw => (Pattern::Sequential, "seq"),
        Randread | Randwrite | Randrw => (Pattern::RANDOM, "rand"),
    };
    let threads = match load.threads.get() {
        1 => String::new(),
        several => format!("-t{several}"),
    };
    let size = load.bs.exact().replace(' ', "");
    Ok(Job {
        pattern,
        mix,
        sizes: BlockSizes::fixed(load.bs),
        depth: load.depth.get(),
        threads: load.threads.get(),
        ramp: RAMP,
        stop: Stop {
            runtime: Some(RUNTIME),
            ..Stop::default()
        },
        ..Job::new(&format!(
            "{order}-{size}-q{}{threads}-{operations}",
            load.depth
        ))
    })
}

/// Whether a name is one that [`plan`] gives: `rand-4KiB-q1-read`, `seq-1MiB-q8-t4-mix70`.
pub fn is_of_flags(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let is_number = |text: Option<&str>| text.is_some_and(|it| it.parse::<u64>().is_ok());
    let [order, size, depth, threads @ .., word] = &parts[..] else {
        return false;
    };
    ["rand", "seq"].contains(order)
        && size.parse::<Bytes>().is_ok()
        && is_number(depth.strip_prefix('q'))
        && threads.len() <= 1
        && threads.iter().all(|it| is_number(it.strip_prefix('t')))
        && (["read", "write"].contains(word) || is_number(word.strip_prefix("mix")))
}

/// The flag that sets what a job cannot have.
fn blamed(invalid: &Invalid) -> anyhow::Error {
    let flag = match invalid.field {
        "block_size" => "--bs",
        "depth" => "--depth",
        "threads" => "--threads",
        other => other,
    };
    anyhow!("{flag}: {}", invalid.message)
}

/// A size in thousands that no sector divides was probably meant in units of 1,024.
pub fn binary_hint(size: Bytes) -> Option<Note> {
    const SECTOR: u64 = 512;
    let is_odd = size.0.is_multiple_of(1000) && !size.0.is_multiple_of(SECTOR);
    let text = format!(
        "{} bytes are measured, as written (KB is 1,000 bytes); {}KiB is {} bytes",
        count(size.as_f64()),
        size.0 / 1000,
        count((size.0 / 1000 * 1024) as f64)
    );
    is_odd.then(|| Note::new(NoteLevel::Assumed, "--bs", text))
}
