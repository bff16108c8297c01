//! What excludes what: each with its own words.

use super::distribution;
use super::paths::template;
use super::spec::{Buffers, Cache, Distribution, Profile, Target, TimeSpan};
use blocklab_syntax::Mistake;

/// Checks a profile, from wherever it came.
///
/// # Errors
/// The first broken rule.
pub fn validate(profile: &Profile) -> Result<(), Mistake> {
    if profile.timespans.is_empty() {
        return Err(Mistake::new(
            "TimeSpans",
            "the profile has no time span: there is nothing to run",
        ));
    }
    let targets = profile.timespans.iter().flat_map(|span| &span.targets);
    for target in targets {
        let name = target.path.trim();
        rule(
            !matches!(name, "" | "-") && !name.contains(char::is_control),
            "targets",
            "its name is empty, a lone hyphen, or has control characters in it",
        )?;
        rule(
            template(&target.path)?.is_none() || profile.profile_only,
            &target.path,
            "a template stands for a target only in a profile, with -X; -Rp would print it",
        )?;
    }
    profile.timespans.iter().try_for_each(time_span)
}

/// Stops at a rule that does not hold.
fn rule(holds: bool, about: &str, message: &str) -> Result<(), Mistake> {
    match holds {
        true => Ok(()),
        false => Err(Mistake::new(about, message)),
    }
}

fn time_span(span: &TimeSpan) -> Result<(), Mistake> {
    rule(
        !span.targets.is_empty(),
        "Targets",
        "a time span has no target",
    )?;
    rule(
        !span.disable_affinity || span.affinity.is_empty(),
        "-n",
        "it excludes -a: one of the two can hold",
    )?;
    rule(
        span.request_count == 0 || span.thread_count > 0,
        "-O",
        "it needs -F: so many operations per thread of the common threads",
    )?;
    span.targets.iter().try_for_each(|target| {
        crossed(span, target)?;
        pattern(span, target)?;
        sizes(target)?;
        mapped(span, target)
    })
}

/// A target's options against those of its time span.
fn crossed(span: &TimeSpan, target: &Target) -> Result<(), Mistake> {
    let pool = span.thread_count > 0 && span.request_count > 0;
    rule(
        span.thread_count == 0 || target.threads == 1,
        "-F",
        "it excludes -t: threads are counted for all targets or for each",
    )?;
    rule(
        target.throughput.is_none() || !span.completion_routines,
        "-g",
        "it excludes -x: completion routines cannot be held back",
    )?;
    rule(
        target.burst == 0 || target.think_ms > 0,
        "-i",
        "it needs -j: the time between two bursts",
    )?;
    rule(
        target.think_ms == 0 || target.burst > 0,
        "-j",
        "it needs -i: the operations of a burst",
    )?;
    rule(
        !(pool && target.throughput.is_some()),
        "-g",
        "it excludes -O: operations of common threads cannot be held back by target",
    )?;
    rule(
        !(pool && target.think_ms > 0),
        "-j",
        "it excludes -O: operations of common threads have no bursts by target",
    )?;
    rule(
        !pool || target.weight > 0,
        "Weight",
        "it must be above 0: the target would get no operation of the common threads",
    )?;
    rule(
        pool || target.threads_of_pool.is_empty(),
        "ThreadTargets",
        "they need the ThreadCount and the RequestCount of the time span",
    )?;
    rule(
        target
            .threads_of_pool
            .iter()
            .all(|(thread, _)| *thread < span.thread_count.max(1)),
        "ThreadTargets",
        "there is no such thread: they are numbered from 0, and ThreadCount says how many",
    )?;
    rule(
        !(pool && target.parallel),
        "-p",
        "it excludes -O: operations of common threads have no sequence of their own",
    )
}

fn pattern(span: &TimeSpan, target: &Target) -> Result<(), Mistake> {
    let threads = span.thread_count.max(target.threads);
    let random = target.random_ratio > 0;
    let stride = target.thread_stride > 0;
    rule(
        !(random && stride),
        "-T",
        "it excludes -r: random offsets have no beginning",
    )?;
    rule(
        !(random && target.interlocked),
        "-si",
        "it excludes -r and -rs: random offsets are no sequence to share",
    )?;
    rule(
        !(random && target.parallel),
        "-p",
        "it excludes -r: random offsets do not go side by side",
    )?;
    rule(
        random || target.distribution.is_none(),
        "-rd",
        "it needs -r: sequential offsets have no distribution",
    )?;
    rule(
        !(target.interlocked && stride),
        "-si",
        "it excludes -T: there is one sequence, with one beginning",
    )?;
    rule(
        !(target.interlocked && target.parallel),
        "-si",
        "it excludes -p",
    )?;
    rule(
        !(stride && threads == 1),
        "-T",
        "it needs more than one thread on the target: -t2 or -F2",
    )?;
    match &target.distribution {
        Some(Distribution::Percent(list)) => distribution::check(list, false, target.block),
        Some(Distribution::Absolute(list)) => distribution::check(list, true, target.block),
        None => Ok(()),
    }
}

fn sizes(target: &Target) -> Result<(), Mistake> {
    rule(target.block > 0, "-b", "the block size must be above 0")?;
    rule(
        target.step() > 0,
        "-r",
        "the alignment or stride must be above 0",
    )?;
    rule(
        target.block <= 1 << 30,
        "-b",
        "a block may be at most 1 GiB",
    )?;
    if let Buffers::Source { size, .. } = &target.buffers
        && *size < target.block
    {
        let wrong = format!(
            "the buffer of {size} bytes is smaller than a block of {}: writes could not be taken \
             out of it",
            target.block
        );
        return Err(Mistake::new("-Z", wrong));
    }
    rule(
        target.max_file_size == 0 || target.max_file_size > target.base,
        "-f",
        "the end must lie behind the beginning that -B gives",
    )
}

fn mapped(span: &TimeSpan, target: &Target) -> Result<(), Mistake> {
    rule(
        target.mapped || target.map_flush.is_none(),
        "-N",
        "it needs -Sm: only mapped memory is flushed so",
    )?;
    rule(
        !(target.mapped && span.completion_routines),
        "-x",
        "it excludes -Sm: copies from mapped memory complete at once",
    )?;
    rule(
        !(target.mapped && target.cache == Cache::None),
        "-Su",
        "it excludes -Sm: mapped memory is the system's cache",
    )
}

/// What is allowed, but seldom meant.
#[must_use]
pub fn warnings(profile: &Profile) -> Vec<String> {
    let mut warnings = Vec::new();
    for span in &profile.timespans {
        for target in &span.targets {
            let threads = span.thread_count.max(target.threads);
            let sequential = target.random_ratio == 0;
            if sequential && threads > 1 && !target.interlocked && target.thread_stride == 0 {
                warnings.push(format!(
                    "{}: several threads go over the same offsets, so the target sees no sequence; \
                     -si or -T would make one",
                    target.path
                ));
            }
            if sequential && threads == 1 && target.interlocked {
                warnings.push(format!(
                    "{}: -si has no effect with one thread",
                    target.path
                ));
            }
            if target.parallel && target.requests == 1 {
                warnings.push(format!(
                    "{}: -p has no effect with one operation in flight",
                    target.path
                ));
            }
        }
    }
    warnings.dedup();
    warnings
}
