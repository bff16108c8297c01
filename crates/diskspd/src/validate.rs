//! Options that exclude or need each other: one row a rule, with its message.

use super::distribution;
use super::paths::template;
use super::spec::{Buffers, Cache, Profile, Target, TimeSpan};
use blocklab_syntax::Mistake;

/// What a mistake is about, whether a target makes it, and why it is one.
type Rule = (&'static str, fn(&TimeSpan, &Target) -> bool, &'static str);

#[rustfmt::skip]
const RULES: [Rule; 26] = [
    // Names and processors.
    ("targets", |_, target| is_nameless(target.path.trim()),
        "its name is empty, a lone hyphen, or has control characters in it"),
    ("-n", |span, _| span.disable_affinity && !span.affinity.is_empty(),
        "it excludes -a: one of the two can hold"),
    // A target's options against those of its time span.
    ("-F", |span, target| span.thread_count > 0 && target.threads != 1,
        "it excludes -t: threads are counted for all targets or for each"),
    ("-g", |span, target| target.throughput.is_some() && span.completion_routines,
        "it excludes -x: completion routines cannot be held back"),
    ("-i", |_, target| target.burst > 0 && target.think_ms == 0,
        "it needs -j: the time between two bursts"),
    ("-j", |_, target| target.think_ms > 0 && target.burst == 0,
        "it needs -i: the operations of a burst"),
    ("-g", |span, target| is_pool(span) && target.throughput.is_some(),
        "it excludes -O: operations of common threads cannot be held back by target"),
    ("-j", |span, target| is_pool(span) && target.think_ms > 0,
        "it excludes -O: operations of common threads have no bursts by target"),
    ("Weight", |span, target| is_pool(span) && target.weight == 0,
        "it must be above 0: the target would get no operation of the common threads"),
    ("ThreadTargets", |span, target| !is_pool(span) && !target.threads_of_pool.is_empty(),
        "they need the ThreadCount and the RequestCount of the time span"),
    ("ThreadTargets", |span, target| names_no_thread(span, target),
        "there is no such thread: they are numbered from 0 to ThreadCount - 1"),
    ("-p", |span, target| is_pool(span) && target.parallel,
        "it excludes -O: operations of common threads have no sequence of their own"),
    // Where operations go.
    ("-T", |_, target| is_random(target) && target.thread_stride > 0,
        "it excludes -r: random offsets have no beginning"),
    ("-si", |_, target| is_random(target) && target.interlocked,
        "it excludes -r and -rs: random offsets are no sequence to share"),
    ("-p", |_, target| is_random(target) && target.parallel,
        "it excludes -r: random offsets do not go side by side"),
    ("-rd", |_, target| !is_random(target) && target.distribution.is_some(),
        "it needs -r: sequential offsets have no distribution"),
    ("-si", |_, target| target.interlocked && target.thread_stride > 0,
        "it excludes -T: there is one sequence, with one beginning"),
    ("-si", |_, target| target.interlocked && target.parallel, "it excludes -p"),
    ("-T", |span, target| target.thread_stride > 0 && threads(span, target) == 1,
        "it needs more than one thread on the target: -t2 or -F2"),
    // Sizes.
    ("-b", |_, target| target.block == 0, "the block size must be above 0"),
    ("-r", |_, target| target.step() == 0, "the alignment or stride must be above 0"),
    ("-b", |_, target| target.block > 1 << 30, "a block may be at most 1 GiB"),
    ("-f", |_, target| target.max_file_size > 0 && target.max_file_size <= target.base,
        "the end must lie behind the beginning that -B gives"),
    // Mapped memory.
    ("-N", |_, target| target.map_flush.is_some() && !target.mapped,
        "it needs -Sm: only mapped memory is flushed so"),
    ("-x", |span, target| target.mapped && span.completion_routines,
        "it excludes -Sm: copies from mapped memory complete at once"),
    ("-Su", |_, target| target.mapped && target.cache == Cache::None,
        "it excludes -Sm: mapped memory is the system's cache"),
];

/// Whether the targets share the operations in flight of common threads.
const fn is_pool(span: &TimeSpan) -> bool {
    span.thread_count > 0 && span.request_count > 0
}

const fn is_random(target: &Target) -> bool {
    target.random_ratio > 0
}

/// Threads that work on a target: those of `-F`, which exclude `-t`, or its own.
fn threads(span: &TimeSpan, target: &Target) -> u32 {
    span.thread_count.max(target.threads)
}

fn names_no_thread(span: &TimeSpan, target: &Target) -> bool {
    let mut threads = target.threads_of_pool.iter();
    threads.any(|(thread, _)| *thread >= span.thread_count)
}

fn is_nameless(name: &str) -> bool {
    matches!(name, "" | "-") || name.contains(char::is_control)
}

/// Checks a profile, from wherever it came.
///
/// # Errors
/// The first broken rule.
pub fn validate(profile: &Profile) -> Result<(), Mistake> {
    if profile.timespans.is_empty() {
        let wrong = "the profile has no time span: there is nothing to run";
        return Err(Mistake::new("TimeSpans", wrong));
    }
    for span in &profile.timespans {
        if span.targets.is_empty() {
            return Err(Mistake::new("Targets", "a time span has no target"));
        }
        if span.request_count > 0 && span.thread_count == 0 {
            let wrong = "it needs -F: this many operations per thread of the common threads";
            return Err(Mistake::new("-O", wrong));
        }
        for target in &span.targets {
            if template(&target.path)?.is_some() && !profile.profile_only {
                let wrong = "a template stands for a target only in a profile, with -X; -Rp would \
                             print it";
                return Err(Mistake::new(&*target.path, wrong));
            }
            let broken = RULES.iter().find(|(_, breaks, _)| breaks(span, target));
            if let Some((about, _, why)) = broken {
                return Err(Mistake::new(*about, *why));
            }
            check_block_fits(target)?;
        }
    }
    Ok(())
}

/// Checks that the ranges of `-rd` and the buffer of `-Z` are not smaller than a block.
fn check_block_fits(target: &Target) -> Result<(), Mistake> {
    if let Some(distribution) = &target.distribution {
        distribution::check(distribution, target.block)?;
    }
    match &target.buffers {
        Buffers::Source { size, .. } if *size < target.block => {
            let wrong = format!(
                "the buffer of {size} bytes is smaller than a block of {}: writes could not be \
                 taken out of it",
                target.block
            );
            Err(Mistake::new("-Z", wrong))
        }
        _ => Ok(()),
    }
}

/// What is allowed, but seldom meant.
#[rustfmt::skip]
const SELDOM_MEANT: [Rule; 3] = [
    ("-t", |span, target| !is_random(target) && threads(span, target) > 1
            && !target.interlocked && target.thread_stride == 0,
        "several threads go over the same offsets, so the target sees no sequence; -si or -T would make one"),
    ("-si", |span, target| !is_random(target) && threads(span, target) == 1 && target.interlocked,
        "-si has no effect with one thread"),
    ("-p", |_, target| target.parallel && target.requests == 1,
        "-p has no effect with one operation in flight"),
];

/// What is allowed, but seldom meant.
pub fn warnings(profile: &Profile) -> Vec<String> {
    let mut warnings = Vec::new();
    for span in &profile.timespans {
        for target in &span.targets {
            let seldom = SELDOM_MEANT.iter().filter(|(_, is, _)| is(span, target));
            warnings.extend(seldom.map(|(_, _, why)| format!("{}: {why}", target.path)));
        }
    }
    warnings.dedup();
    warnings
}
