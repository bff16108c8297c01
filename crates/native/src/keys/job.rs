//! Keys of a job: what it goes to, and by which road.

use blocklab_workload::{CallFlags, Engine, Job, Spread, UringOptions};

use super::super::value::Value;
use super::finer::{shown_skew, skewed_order};
use super::words::{
    ACCESSES, ADVICE, DURABILITIES, ENGINES, LIFETIMES, SPREADS, TARGET_ORDERS, URING, names, size,
    spoken,
};
use super::{Allowed, Key, Need, Section, put, quoted};

pub const TARGET: Section<Job> = Section {
    title: "What it goes to",
    keys: &[
        Key {
            name: "targets",
            kind: "list of texts",
            meaning: "Files, directories or devices of this job.",
            default: Some("what `--target` names"),
            example: "[\"/data/one\", \"/data/two\"]",
            elsewhere: &["filename", "directory", "target", "file", "lun"],
            set: |job, value| {
                let names = value.list_or_one().into_iter();
                put(&mut job.targets, names.map(Value::name).collect())
            },
            show: |job| {
                let names: Vec<_> = job.targets.iter().map(|target| quoted(target)).collect();
                (!names.is_empty()).then(|| format!("[{}]", names.join(", ")))
            },
            ..Key::ROW
        },
        Key {
            name: "target_order",
            kind: "word",
            meaning: "How a job goes over several targets: one operation on each in turn, one \
                      drawn for each operation, each thread on its own, one target after the \
                      other; or drawn with a skew, the first targets most often.",
            allowed: Allowed::WordsOr(
                &names(&TARGET_ORDERS),
                "{ zipf = theta }, { pareto = h }, { normal = deviation }",
            ),
            example: "\"round-robin\"",
            elsewhere: &["file_service_type"],
            set: |job, value| {
                let order = match value.is_table() {
                    true => skewed_order(value),
                    false => value.word(&TARGET_ORDERS),
                };
                put(&mut job.target_order, order)
            },
            show: |job| {
                let word = spoken(&TARGET_ORDERS, &job.target_order);
                word.or_else(|| shown_skew(job.target_order))
            },
            ..Key::ROW
        },
        Key {
            name: "target_turn",
            kind: "whole number",
            meaning: "Operations on a target before the order names the next one.",
            allowed: Allowed::Said("from 1"),
            default: Some("1"),
            example: "8",
            set: |job, value| put(&mut job.target_turn, value.count()),
            show: |job| (job.target_turn != 1).then(|| job.target_turn.to_string()),
            ..Key::ROW
        },
        Key {
            name: "offset",
            kind: "size",
            meaning: "Where the region that is worked on begins.",
            example: "\"1GiB\"",
            elsewhere: &["seekpos"],
            set: |job, value| put(&mut job.region.offset, value.size()),
            show: |job| Some(size(job.region.offset)),
            ..Key::ROW
        },
        Key {
            name: "size",
            kind: "size",
            meaning: "How long the region is.",
            allowed: Allowed::Said("a size, or \"none\": to the end of the target"),
            default: Some("to the end of the target; of a scratch file, what `--size` says"),
            example: "\"10GiB\"",
            elsewhere: &["filesize", "range"],
            set: |job, value| put(&mut job.region.size, value.unless_none(|size| size.size())),
            show: |job| job.region.size.map(size),
            ..Key::ROW
        },
        Key {
            name: "spread",
            kind: "word",
            meaning: "How the threads share the region: all of it, beginning evenly apart; all of \
                      it, beginning together; a slice for each; or one position that all advance \
                      (`shared`, sequential only).",
            allowed: Allowed::Words(&names(&SPREADS)),
            example: "\"sliced\"",
            group: Some("spread"),
            set: |job, value| put(&mut job.region.spread, value.word(&SPREADS)),
            show: |job| spoken(&SPREADS, &job.region.spread),
            ..Key::ROW
        },
        Key {
            name: "offset_increment",
            kind: "size",
            meaning: "Instead of `spread`: the region of each thread begins so much behind that \
                      of the thread before it.",
            default: Some("none"),
            example: "\"1GiB\"",
            group: Some("spread"),
            set: |job, value| put(&mut job.region.spread, value.size().map(Spread::Increment)),
            show: |job| match job.region.spread {
                Spread::Increment(bytes) => Some(size(bytes)),
                _ => None,
            },
            ..Key::ROW
        },
    ],
};

/// The io_uring options of a job; makes it an io_uring job where it is another.
fn uring(job: &mut Job) -> &mut UringOptions {
    if !matches!(job.engine, Engine::IoUring(_)) {
        job.engine = Engine::IoUring(URING);
    }
    match &mut job.engine {
        Engine::IoUring(options) => options,
        _ => unreachable!("was made one"),
    }
}

fn shown_uring(job: &Job, flag: impl Fn(&UringOptions) -> bool) -> Option<String> {
    match &job.engine {
        Engine::IoUring(options) => Some(flag(options).to_string()),
        _ => None,
    }
}

/// What an io_uring flag's row has in common with its siblings.
const URING_FLAG: Key<Job> = Key {
    kind: "true or false",
    need: Need::With("engine", "io_uring"),
    ..Key::ROW
};

/// What a pvsync2 flag's row has in common with its sibling.
const PVSYNC2_FLAG: Key<Job> = Key {
    kind: "true or false",
    default: Some("false"),
    need: Need::With("engine", "pvsync2"),
    ..Key::ROW
};

pub const ROAD: Section<Job> = Section {
    title: "Engine and access",
    keys: &[
        Key {
            name: "engine",
            kind: "word",
            meaning: "The system calls that are used.",
            allowed: Allowed::Words(&names(&ENGINES)),
            example: "\"io_uring\"",
            elsewhere: &["ioengine"],
            set: |job, value| put(&mut job.engine, value.word(&ENGINES)),
            show: |job| Some(quoted(job.engine.name())),
            ..Key::ROW
        },
        Key {
            name: "sqpoll",
            meaning: "A kernel thread polls for submissions: it costs a processor.",
            example: "true",
            elsewhere: &["sqthread_poll"],
            set: |job, value| put(&mut uring(job).sqpoll, value.flag()),
            show: |job| shown_uring(job, |options| options.sqpoll),
            ..URING_FLAG
        },
        Key {
            name: "iopoll",
            meaning: "Completions are polled for: needs direct access and a device with poll \
                      queues.",
            example: "true",
            set: |job, value| put(&mut uring(job).iopoll, value.flag()),
            show: |job| shown_uring(job, |options| options.iopoll),
            ..URING_FLAG
        },
        Key {
            name: "fixed_buffers",
            meaning: "Registers the buffers, so that their pages are pinned once.",
            example: "false",
            elsewhere: &["fixedbufs"],
            set: |job, value| put(&mut uring(job).fixed_buffers, value.flag()),
            show: |job| shown_uring(job, |options| options.fixed_buffers),
            ..URING_FLAG
        },
        Key {
            name: "fixed_files",
            meaning: "Registers the files.",
            example: "false",
            elsewhere: &["registerfiles"],
            set: |job, value| put(&mut uring(job).fixed_files, value.flag()),
            show: |job| shown_uring(job, |options| options.fixed_files),
            ..URING_FLAG
        },
        Key {
            name: "hipri",
            meaning: "Polls for the completion of each call (RWF_HIPRI).",
            example: "true",
            set: |job, value| put(&mut pvsync2(job).hipri, value.flag()),
            show: |job| shown_pvsync2(job, |flags| flags.hipri),
            ..PVSYNC2_FLAG
        },
        Key {
            name: "nowait",
            meaning: "A call that would block fails instead (RWF_NOWAIT).",
            example: "true",
            set: |job, value| put(&mut pvsync2(job).nowait, value.flag()),
            show: |job| shown_pvsync2(job, |flags| flags.nowait),
            ..PVSYNC2_FLAG
        },
        Key {
            name: "uncached",
            meaning: "Leaves nothing in the page cache (RWF_DONTCACHE, from Linux 6.14 on).",
            example: "true",
            set: |job, value| put(&mut pvsync2(job).uncached, value.flag()),
            show: |job| shown_pvsync2(job, |flags| flags.uncached),
            ..PVSYNC2_FLAG
        },
        Key {
            name: "access",
            kind: "word",
            meaning: "Whether the page cache may take part; `auto` goes around it where the file \
                      system allows.",
            allowed: Allowed::Words(&names(&ACCESSES)),
            example: "\"direct\"",
            elsewhere: &["direct", "buffered", "openflags", "o_direct"],
            set: |job, value| put(&mut job.access, value.word(&ACCESSES)),
            show: |job| spoken(&ACCESSES, &job.access),
            ..Key::ROW
        },
        Key {
            name: "durability",
            kind: "word",
            meaning: "What a completed write promises: nothing, that its data survives a power \
                      cut (O_DSYNC), or its data and metadata (O_SYNC).",
            allowed: Allowed::Words(&names(&DURABILITIES)),
            example: "\"dsync\"",
            elsewhere: &["sync", "write_through"],
            set: |job, value| put(&mut job.durability, value.word(&DURABILITIES)),
            show: |job| spoken(&DURABILITIES, &job.durability),
            ..Key::ROW
        },
        Key {
            name: "advice",
            kind: "word",
            meaning: "In which order the page cache is told that files will be read.",
            allowed: Allowed::Words(&names(&ADVICE)),
            example: "\"none\"",
            elsewhere: &["fadvise_hint"],
            set: |job, value| put(&mut job.hints.advice, value.word(&ADVICE)),
            show: |job| spoken(&ADVICE, &job.hints.advice),
            ..Key::ROW
        },
        Key {
            name: "lifetime",
            kind: "word",
            meaning: "How long the kernel is told that written data will live.",
            allowed: Allowed::Words(&names(&LIFETIMES)),
            example: "\"short\"",
            elsewhere: &["write_hint"],
            set: |job, value| put(&mut job.hints.lifetime, value.word(&LIFETIMES)),
            show: |job| spoken(&LIFETIMES, &job.hints.lifetime),
            ..Key::ROW
        },
        Key {
            name: "threads",
            kind: "whole number",
            meaning: "Identical threads of the job.",
            allowed: Allowed::Said("1 to 4096"),
            example: "4",
            elsewhere: &["numjobs", "jobs", "workers"],
            set: |job, value| put(&mut job.threads, value.count()),
            show: |job| Some(job.threads.to_string()),
            ..Key::ROW
        },
        Key {
            name: "depth",
            kind: "whole number",
            meaning: "Operations in flight per thread; sync, psync, pvsync2 and mmap have one.",
            allowed: Allowed::Said("1 to 32768"),
            example: "32",
            elsewhere: &["iodepth", "queue_depth", "qd", "outstanding"],
            set: |job, value| put(&mut job.depth, value.count()),
            show: |job| Some(job.depth.to_string()),
            ..Key::ROW
        },
        Key {
            name: "batch_submit",
            kind: "whole number",
            meaning: "At most so many operations are handed over in one call.",
            allowed: Allowed::Said("a number; 0: a quarter of the depth, 1 to 16"),
            example: "16",
            elsewhere: &["iodepth_batch", "iodepth_batch_submit"],
            set: |job, value| put(&mut job.batch.submit, value.count()),
            show: |job| Some(job.batch.submit.to_string()),
            ..Key::ROW
        },
        Key {
            name: "batch_complete",
            kind: "whole number",
            meaning: "A wait returns with at least so many completions.",
            allowed: Allowed::Said("1 to the depth"),
            example: "8",
            elsewhere: &["iodepth_batch_complete", "iodepth_batch_complete_min"],
            set: |job, value| put(&mut job.batch.complete, value.count()),
            show: |job| Some(job.batch.complete.to_string()),
            ..Key::ROW
        },
        Key {
            name: "batch_low",
            kind: "whole number",
            meaning: "Once the depth was full, nothing is issued before so few are in flight.",
            allowed: Allowed::Said("below the depth; 0: never waits"),
            default: Some("0"),
            example: "8",
            elsewhere: &["iodepth_low"],
            set: |job, value| put(&mut job.batch.low, value.count()),
            show: |job| (job.batch.low > 0).then(|| job.batch.low.to_string()),
            ..Key::ROW
        },
        Key {
            name: "cpus",
            kind: "list of whole numbers",
            meaning: "Processors: thread k runs on entry k, and from the start again where there \
                      are more threads.",
            allowed: Allowed::Said("a list, or a text of numbers and ranges"),
            default: Some("anywhere"),
            example: "\"0-3,7\"",
            elsewhere: &["cpus_allowed", "affinity", "cpumask"],
            set: |job, value| put(&mut job.pin, value.processors()),
            show: |job| (!job.pin.is_empty()).then(|| format!("{:?}", job.pin)),
            ..Key::ROW
        },
        Key {
            name: "submit_latency",
            kind: "true or false",
            meaning: "Measures the submitting call by itself: one more system call a batch.",
            example: "true",
            elsewhere: &["slat"],
            set: |job, value| put(&mut job.submit_latency, value.flag()),
            show: |job| Some(job.submit_latency.to_string()),
            ..Key::ROW
        },
    ],
};

/// The flags of a pvsync2 job; makes it one where it is another.
fn pvsync2(job: &mut Job) -> &mut CallFlags {
    if !matches!(job.engine, Engine::Pvsync2(_)) {
        job.engine = Engine::Pvsync2(CallFlags::default());
    }
    match &mut job.engine {
        Engine::Pvsync2(flags) => flags,
        _ => unreachable!("was made one"),
    }
}

fn shown_pvsync2(job: &Job, flag: impl Fn(&CallFlags) -> bool) -> Option<String> {
    match &job.engine {
        Engine::Pvsync2(flags) => Some(flag(flags).to_string()),
        _ => None,
    }
}
