//! Keys of a job: what it goes to, and by which engine.

use blocklab_workload::{CallFlags, Engine, Job, Lifetime, Spread, TargetOrder, UringOptions};

use super::super::value::{Value, optional, processors};
use super::words::{
    self, ACCESSES, ADVICE, DURABILITIES, ENGINES, LIFETIMES, SPREADS, TARGET_ORDERS, URING, list,
    names, number, shown_table, word_for,
};
use super::{Allowed, Key, Need, Section, called, keys, put, quoted, row, text};
use blocklab_syntax::toml_tree::Complaint;

pub const TARGET: Section<Job> = Section {
    title: "Targets",
    keys: keys! { Job:
        "targets" = "[\"/data/one\", \"/data/two\"]",
            (own "list of texts",
                |job, value| put(&mut job.targets, value.list_or_one().into_iter().map(Value::name).collect()),
                |job| list(&job.targets, |target| quoted(target))),
            "Files, directories or devices of this job.",
            default: Some("what `--target` names"), other_names: &["filename", "directory", "target", "file", "lun"];
        "target_order" = "\"round-robin\"",
            (own "word",
                |job, value| put(&mut job.target_order, target_order(value)),
                |job| word_for(&TARGET_ORDERS, &job.target_order).or_else(|| shown_skew(job.target_order))),
            "How a job uses several targets: in turn for each operation, at random for each operation, one for each thread, or one after the other; or at random with a skew, the first targets most often.",
            allowed: Allowed::WordsOr(&names(&TARGET_ORDERS), "{ zipf = theta }, { pareto = h }, { normal = deviation }"),
            other_names: &["file_service_type"];
        "offset" = "\"1GiB\"", (size region.offset),
            "Start of the tested region.",
            other_names: &["seekpos"];
        "size" = "\"10GiB\"", (maybe size region.size),
            "Length of the region.",
            allowed: Allowed::Text("a size, or \"none\": to the end of the target"),
            default: Some("to the end of the target; of a scratch file, that of `--size`"), other_names: &["filesize", "range"];
        "spread" = "\"sliced\"", (word SPREADS region.spread),
            "How the threads share the region: all of it, from evenly spaced starts (`staggered`); all of it, from the same start (`same`); a slice each (`sliced`); or one common position (`shared`, sequential only).",
            group: Some("spread");
        "offset_increment" = "\"1GiB\"",
            (own "size",
                |job, value| put(&mut job.region.spread, value.size().map(Spread::Increment)),
                |job| match job.region.spread {
                    Spread::Increment(bytes) => Some(words::size(bytes)),
                    _ => None,
                }),
            "Instead of `spread`: the region of each thread starts this much after that of the previous thread.",
            default: Some("none"), group: Some("spread");
    },
};

pub const IO_PATH: Section<Job> = Section {
    title: "Engine and access",
    keys: keys! { Job:
        "engine" = "\"io_uring\"",
            (own "word",
                |job, value| put(&mut job.engine, value.word(&ENGINES)),
                |job| Some(quoted(job.engine.name()))),
            "The system calls to use.",
            allowed: Allowed::Words(&names(&ENGINES)), other_names: &["ioengine"];
        "sqpoll" = "true", (flag sqpoll of uring, shown_uring),
            "A kernel thread polls for submissions; it uses a processor.",
            need: Need::With("engine", "io_uring"), other_names: &["sqthread_poll"];
        "iopoll" = "true", (flag iopoll of uring, shown_uring),
            "Polls for completions; needs direct access and a device with poll queues.",
            need: Need::With("engine", "io_uring");
        "fixed_buffers" = "false", (flag fixed_buffers of uring, shown_uring),
            "Registers the buffers, so that their pages are pinned once.",
            need: Need::With("engine", "io_uring"), other_names: &["fixedbufs"];
        "fixed_files" = "false", (flag fixed_files of uring, shown_uring),
            "Registers the files.",
            need: Need::With("engine", "io_uring"), other_names: &["registerfiles"];
        "hipri" = "true", (flag hipri of pvsync2, shown_pvsync2),
            "Polls for the completion of each call (RWF_HIPRI).",
            default: Some("false"), need: Need::With("engine", "pvsync2");
        "nowait" = "true", (flag nowait of pvsync2, shown_pvsync2),
            "A call that would block fails instead (RWF_NOWAIT).",
            default: Some("false"), need: Need::With("engine", "pvsync2");
        "uncached" = "true", (flag uncached of pvsync2, shown_pvsync2),
            "Leaves nothing in the page cache (RWF_DONTCACHE, from Linux 6.14 on).",
            default: Some("false"), need: Need::With("engine", "pvsync2");
        "access" = "\"direct\"", (word ACCESSES access),
            "Whether to use the page cache; `auto` bypasses it if the file system allows.",
            other_names: &["direct", "buffered", "openflags", "o_direct"];
        "durability" = "\"dsync\"", (word DURABILITIES durability),
            "What survives a power cut after a completed write: nothing is promised, its data (O_DSYNC), or its data and metadata (O_SYNC).",
            other_names: &["sync", "write_through"];
        "advice" = "\"none\"", (word ADVICE hints.advice),
            "The access pattern that the kernel is advised of.",
            other_names: &["fadvise_hint"];
        "lifetime" = "\"short\"",
            (own "word",
                |job, value| put(&mut job.hints.lifetime, lifetime(value)),
                |job| word_for(&LIFETIMES, &job.hints.lifetime)),
            "The write lifetime hint for the kernel.",
            allowed: Allowed::Words(&names(&LIFETIMES)), other_names: &["write_hint"];
        "threads" = "4", (count threads),
            "Identical threads of the job.",
            allowed: Allowed::Text("1 to 4096"), other_names: &["numjobs", "jobs", "workers"];
        "depth" = "32", (count depth),
            "Operations in flight per thread; only io_uring, libaio, posixaio and null have more than one.",
            allowed: Allowed::Text("1 to 32768"), other_names: &["iodepth", "queue_depth", "qd", "outstanding"];
        "batch_submit" = "16", (count batch.submit),
            "Most operations submitted in one call.",
            allowed: Allowed::Text("a number; 0: a quarter of the depth, 1 to 16"), other_names: &["iodepth_batch", "iodepth_batch_submit"];
        "batch_take" = "1", (count batch.take),
            "Most completions handled before the queue is filled again.",
            allowed: Allowed::Text("a number; 0: all that are there"), other_names: &["iodepth_batch_complete_max"];
        "batch_complete" = "8", (count batch.complete),
            "Least completions that a wait returns with.",
            allowed: Allowed::Text("1 to the depth"), other_names: &["iodepth_batch_complete", "iodepth_batch_complete_min"];
        "batch_low" = "8", (rare count batch.low),
            "After the queue was full, nothing is issued until this few operations are in flight.",
            allowed: Allowed::Text("below the depth; 0: never waits"), other_names: &["iodepth_low"];
        "cpus" = "\"0-3,7\"",
            (own "list of whole numbers",
                |job, value| put(&mut job.pin, processors(value)),
                |job| list(&job.pin, u32::to_string)),
            "Processors: thread k runs on entry k, starting over if there are more threads.",
            allowed: Allowed::Text("a list, or a text of numbers and ranges"),
            default: Some("anywhere"), other_names: &["cpus_allowed", "affinity", "cpumask"];
        "submit_latency" = "true", (flag submit_latency),
            "Measures the submitting call separately; costs a system call a batch.",
            other_names: &["slat"];
    },
};

/// A hint that is not set was called `unsaid` before.
fn lifetime(value: Value<'_>) -> Result<Option<Lifetime>, Complaint> {
    match value.text()? {
        "unsaid" => Ok(None),
        _ => value.word(&LIFETIMES),
    }
}

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

const fn shown_uring(job: &Job) -> Option<&UringOptions> {
    match &job.engine {
        Engine::IoUring(options) => Some(options),
        _ => None,
    }
}

const fn shown_pvsync2(job: &Job) -> Option<&CallFlags> {
    match &job.engine {
        Engine::Pvsync2(flags) => Some(flags),
        _ => None,
    }
}

/// A word, or an order with a skew: a table of one, such as `{ zipf = 1.2 }`.
fn target_order(value: Value<'_>) -> Result<TargetOrder, Complaint> {
    if !value.is_table() {
        return value.word(&TARGET_ORDERS);
    }
    match optional(value, ["zipf", "pareto", "normal"])? {
        [Some(theta), None, None] => theta.number().map(|theta| TargetOrder::Zipf { theta }),
        [None, Some(h), None] => h.number().map(|h| TargetOrder::Pareto { h }),
        [None, None, Some(deviation)] => deviation
            .number()
            .map(|deviation_percent| TargetOrder::Normal { deviation_percent }),
        _ => Err(value.complaint("one of `zipf`, `pareto` and `normal` is wanted here")),
    }
}

fn shown_skew(order: TargetOrder) -> Option<String> {
    let (name, skew) = match order {
        TargetOrder::Zipf { theta } => ("zipf", theta),
        TargetOrder::Pareto { h } => ("pareto", h),
        TargetOrder::Normal { deviation_percent } => ("normal", deviation_percent),
        _ => return None,
    };
    Some(shown_table(&[(name, Some(number(skew)))]))
}
