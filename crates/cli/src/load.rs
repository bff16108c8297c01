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
    if !matches!(kind, Rw | Randrw) && load.reads != 50 {
        bail!("--reads works only with --rw rw and --rw randrw: here all operations are alike");
    }
    let job = Job {
        pattern: match kind {
            Read | Write | Rw => Pattern::Sequential,
            Randread | Randwrite | Randrw => Pattern::RANDOM,
        },
        mix: match kind {
            Read | Randread => Mix::READ,
            Write | Randwrite => Mix::WRITE,
            Rw | Randrw => Mix::reads(load.reads),
        },
        sizes: BlockSizes::fixed(load.bs),
        depth: load.depth.get(),
        threads: load.threads.get(),
        ramp: RAMP,
        stop: Stop {
            runtime: Some(RUNTIME),
            ..Stop::default()
        },
        ..Job::default()
    };
    let name = name_of(&job).expect("one size, and a pattern that flags can name");
    Ok(Job { name, ..job })
}

/// What a load is called that flags describe: `rand-4KiB-q1-read`, `seq-1MiB-q8-t4-mix70`. `None`: no
/// flags describe it.
pub fn name_of(job: &Job) -> Option<String> {
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
    Some(format!(
        "{order}-{size}-q{}{threads}-{operations}",
        job.depth
    ))
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
