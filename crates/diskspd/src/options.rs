//! The option table: one option, one row. Reading a command line, `-?` and
//! `docs/dialects/diskspd.md` are derived from it. Below it are the setters of values that have
//! more than one part.

use std::ops::RangeInclusive;

use blocklab_record::NoteLevel;
use blocklab_syntax::Mistake;
use blocklab_syntax::number::{number, size, size_above_zero};
use blocklab_syntax::option::{self, Support};

use super::distribution;
use super::spec::{Buffers, Cache, Format, MapFlush, Profile, Target, Throughput, TimeSpan};

/// Sets in the draft what an option requests: its name, for the message of a mistake, and the text
/// that follows the name.
type Set = fn(&mut Draft, &str, &str) -> Result<(), Mistake>;

/// One option. It begins with its name; the longest match counts. The original does not run here, so
/// no row is called exact.
pub(super) type Opt = option::Opt<Row>;

pub(super) struct Row {
    /// As the manual writes it.
    pub form: &'static str,
    pub set: Set,
}

/// The level of the Note on an option with this support; `None` where there is none to write.
pub(super) const fn level(support: Support) -> Option<NoteLevel> {
    match support {
        Support::Nearly => Some(NoteLevel::Approximated),
        Support::Ignored => Some(NoteLevel::Ignored),
        _ => None,
    }
}

/// The options that were read so far. Fields besides the first three are options whose meaning depends
/// on others; they are put together when all have been read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub profile: Profile,
    pub span: TimeSpan,
    /// What all targets of the command line have in common.
    pub target: Target,
    /// `-S`, `-h`.
    pub cache: Option<Cache>,
    /// `-r`.
    pub random: bool,
    /// Bytes of `-r`.
    pub random_align: Option<u64>,
    /// Per cent of `-rs`.
    pub random_ratio: Option<u32>,
    /// Bytes of `-s` or `-si`.
    pub stride: Option<u64>,
    /// `-?`.
    pub usage: bool,
    /// The event of `-ye`.
    pub event: Option<String>,
    /// The file of `-X`.
    pub xml: Option<String>,
}

/// The row of an argument: that with the longest name with which it begins.
pub(super) fn find(argument: &str) -> Option<&'static Opt> {
    let fitting = OPTIONS.iter().filter(|opt| argument.starts_with(opt.name));
    fitting.max_by_key(|opt| opt.name.len())
}

const ANY: RangeInclusive<u32> = 0..=u32::MAX;
const SOME: RangeInclusive<u32> = 1..=u32::MAX;

/// How a row sets its field: by a `flag`, a `number` within limits, a `size` above 0, or `with` a
/// function; `wants` refuses an option without its value, since the tool reads it before.
macro_rules! setter {
    // Whatever follows the letter: DiskSpd reads no further.
    (flag $($field:ident).+) => {
        |draft, _, _| {
            draft.$($field).+ = true;
            Ok(())
        }
    };
    (number $limits:expr => $($field:ident).+) => {
        |draft, option, rest| {
            draft.$($field).+ = number(option, rest, $limits)?;
            Ok(())
        }
    };
    (size $($field:ident).+) => {
        |draft, option, rest| {
            draft.$($field).+ = draft.size_above_zero(option, rest)?;
            Ok(())
        }
    };
    (with $function:expr) => {
        $function
    };
    (wants $value:literal) => {
        |_, option, _| Err(Mistake::new(option, concat!("it takes ", $value)))
    };
}

macro_rules! rows {
    ($($name:literal $form:literal $default:literal ($($set:tt)*)
        $meaning:literal $support:ident $(($here:literal))?)*) => {
        &[$(Opt {
            chapter: "",
            name: $name,
            aliases: &[],
            value: Row { form: $form, set: setter!($($set)*) },
            default: $default,
            meaning: $meaning,
            support: Support::$support,
            here: concat!($($here)?),
        }),*]
    };
}

/// Every row, in the order of the manual; ours come last. An option, as the manual writes it, what
/// holds without it, what it sets; what it means, and what is done here.
#[rustfmt::skip]
pub(super) static OPTIONS: &[Opt] = rows! {
    "-?" "-?" "–" (flag usage)
        "Print the usage." Documented
    "-:" "-:<flags>" "–" (with |_, option, rest| number(option, rest, ANY).map(drop))
        "Experimental flags." Ignored("there are none")
    "-a" "-a[g#,]#[,#,…], -ag" "-ag" (with affinity)
        "Bind the threads to these processors in turn."
        Nearly("a list binds, and -ag binds to all in turn; without either the scheduler places the threads; there is one processor group, 0, of processors 0 to 255")
    "-b" "-b<size>[KMGT]" "64K" (with block)
        "Block size. It is read before all others, in any place." Mostly("at most 1 GiB")
    "-B" "-B<offset>[:<length>]" "0" (with bounds)
        "Use the target from this byte on, and so far; a length excludes -f." Documented
    "-c" "-c<size>[KMGTb]" "–" (size target.file_size)
        "Make the file, of this size."
        Mostly("a file that exists and is large enough is used as it is, and is refused for writing unless it was made here or --destroy-data names it; a new one is filled with random bytes and stays")
    "-C" "-C<seconds>" "0" (number ANY => span.cooldown)
        "Load after the measured time; in no result." Documented
    "-d" "-d<seconds>" "10" (number SOME => span.duration)
        "Measured time." Documented
    "-D" "-D[<milliseconds>]" "1000" (with deviation)
        "Standard deviation of the rate over intervals; the series too in XML." Documented
    "-e" "-e<q|c|s>, -ep, -ePROCESS, …" "–" (with tracing)
        "Event tracing of Windows." Ignored("Linux has no ETW")
    "-f" "-f<size>[KMGTb]; -f<r|s|t>…" "–" (with limit_or_hints)
        "Use the target up to this byte; or hints for opening it."
        Nearly("a size holds exactly; hints are replaced by the advice that fits the pattern")
    "-F" "-F<count>" "–" (number 1..=4096 => span.thread_count)
        "Threads for all targets together."
        Nearly("each pair of thread and target is a thread of its own; under -O one thread works on all targets, in turn; at most 4,096")
    "-g" "-g<bytes per ms>, -g<n>i" "no limit" (with throughput)
        "Limit of each thread on each target, in bytes a millisecond or IOPS." Documented
    "-h" "-h" "–" (with |draft, option, _| caching(draft, option, "h"))
        "The old word for -Sh." Mostly("as -Sh")
    "-i" "-i<count>" "no bursts" (number SOME => target.burst)
        "Operations in a burst; with -j." Nearly("the pause begins when the burst has come back")
    "-j" "-j<milliseconds>" "no bursts" (number SOME => target.think_ms)
        "Time between two bursts; with -i." Nearly("the pause begins when the burst has come back")
    "-I" "-I<1|2|3>" "3" (number 1..=3 => target.priority)
        "I/O priority: very low, low, normal."
        Nearly("very low is the idle class of the block layer, low the last of its best effort; most devices ignore both")
    "-l" "-l" "–" (flag target.large_pages)
        "Large pages for the buffers." Ignored("the kernel decides (transparent huge pages)")
    "-L" "-L" "–" (flag span.measure_latency)
        "Latencies in the results." Documented
    "-n" "-n" "–" (flag span.disable_affinity)
        "No affinity; not with -a." Documented
    "-N" "-N<v|n|i>" "none" (with flushing)
        "How mapped memory is flushed; with -Sm." Nearly("msync after each write in all three modes")
    "-o" "-o<count>" "2" (number 1..=32768 => target.requests)
        "Operations in flight per thread and target; 1 is synchronous I/O." Mostly("at most 32,768")
    "-O" "-O<count>" "–" (number 1..=32768 => span.request_count)
        "Operations in flight per thread over all targets; with -F."
        Nearly("the targets of a thread take turns by their weights; none is drawn by lot")
    "-p" "-p" "–" (flag target.parallel)
        "All operations in flight begin at the same offset."
        Nearly("each operation in flight is a thread of its own, all from the same offset")
    "-P" "-P[<count>]" "none" (with progress)
        "A dot for this many operations (65536)." Ignored("the progress is that of blocklab")
    "-r" "-r[<align>[KMGTb]]" "sequential; aligned to the block size" (with random)
        "Random offsets; not with -s." Documented
    "-rd" "-rdpct<IO>/<share>:…, -rdabs<IO>/<size>:…" "uniform" (with distributed)
        "How random offsets are distributed."
        Mostly("-rdabs needs the size of the target: models and targets that are not there yet want -c or -f")
    "-rs" "-rs<per cent>" "100 with -r" (with |draft, option, rest| number(option, rest, 1..=100).map(|ratio| draft.random_ratio = Some(ratio)))
        "This many of the operations are random; -r gives their alignment." Documented
    "-R" "-R[p]<text|xml>" "text" (with results)
        "How the result is printed; with p only the profile, and nothing is run." Documented
    "-s" "-s[<stride>[KMGTb]]" "the block size" (with stride)
        "Sequential offsets at this distance; not with -r and -rs." Documented
    "-si" "-si[<stride>[KMGTb]]" "–" (with interlocked)
        "The threads share one sequence; in place of -s." Documented
    "-S" "-S[b|h|m|r|u|w]…" "-Sb" (with caching)
        "Caches: b all, u none of the system's (also plain -S), w write through, h = uw, r only a server's, m mapped memory."
        Nearly("u is O_DIRECT where the file system has it, w is O_DSYNC, r is as u")
    "-t" "-t<count>" "1" (number 1..=4096 => target.threads)
        "Threads for each target; not with -F." Mostly("at most 4,096")
    "-T" "-T<offset>[KMGTb]" "0" (size target.thread_stride)
        "Thread k begins k times so far behind the first." Documented
    "-v" "-v[s]" "–" (with verbose)
        "Verbose output." Ignored("`blocklab show` has more on every run")
    "-w" "-w[<per cent>]" "0" (with writes)
        "This many of the operations write."
        Mostly("a target that holds data is refused unless --destroy-data names it")
    "-W" "-W<seconds>" "5" (number ANY => span.warmup)
        "Load before the measured time." Documented
    "-x" "-x" "–" (flag span.completion_routines)
        "Completion routines in place of completion ports." Ignored("both are io_uring here")
    "-X" "-X<file>" "–" (with profile_file)
        "The profile comes from an XML file; -d, -W, -C, -R, -v and -z may override it, and targets take the places of *1, *2, …."
        Nearly("elements are honoured as their options are; ETW, Progress, Verbose, VerboseStats, PrecreateFiles and ExperimentFlags change nothing")
    "-ye" "-ye<event>" "–" (with |draft, option, rest| {
            draft.event = Some(rest.to_owned());
            event(draft, option, rest)
        })
        "Set an event and quit." Ignored("Linux has no named events")
    "-yf" "-yf<event>" "–" (with event)
        "Signal an event when the run has ended." Ignored("Linux has no named events")
    "-yp" "-yp<event>" "–" (with event)
        "End the run when an event is set."
        Ignored("Linux has no named events; SIGINT and SIGTERM end the run")
    "-yr" "-yr<event>" "–" (with event)
        "Wait for an event before the run."
        Ignored("Linux has no named events; the run begins at once")
    "-ys" "-ys<event>" "–" (with event)
        "Signal an event when the run begins." Ignored("Linux has no named events")
    "-z" "-z[<seed>]" "0" (with seed)
        "Seed of all chance; without a number from the clock."
        Mostly("a seed repeats the offsets of a run made here, not those of the original")
    "-Z" "-Z; -Z<size>[KMGTb][,<file>]" "0, 1, … 255, again and again" (with buffers)
        "What writes carry: zeros, or bytes of a buffer of this size, random or out of a file."
        Nearly("zeros, the pattern 0 … 255, files up to 1 GiB and random buffers up to 16 MiB are as documented; of a larger file the first GiB is used, and for a larger buffer random bytes of which no two blocks are equal")
    "-Zr" "-Zr" "–" (flag span.random_write_data)
        "Fresh random bytes for each write." Documented
    "--map" "--map 'E:\\=/data/'" "–" (wants "FROM=TO, such as --map 'E:\\=/data/'")
        "Ours: what begins with the left side begins with the right side here." Ours
    "--destroy-data" "--destroy-data=NAME" "–" (wants "a name: --destroy-data=sdb")
        "Ours: allow to overwrite exactly this device or file." Ours
    "--diskspd-layout" "--diskspd-layout 2.2|2.0.21a" "2.2" (wants "2.2 or 2.0.21a")
        "Ours: the layout of the text." Ours
    "--size" "--size SIZE" "–" (wants "a size: --size 1GiB")
        "Ours: the size of files that are made, in place of that of -c." Ours
    "--read-only" "--read-only" "–" (with |_, _, _| Ok(()))
        "Ours: nothing is written; -w counts as -w0, with a note." Ours
    "--no-save" "--no-save" "–" (with |_, _, _| Ok(()))
        "Ours: the run is not kept." Ours
    "--quiet" "--quiet" "–" (with |_, _, _| Ok(()))
        "Ours: no progress and no notes on standard error." Ours
};

impl Draft {
    fn size(&self, option: &str, text: &str) -> Result<u64, Mistake> {
        size(option, text, Some(self.target.block))
    }

    fn size_above_zero(&self, option: &str, text: &str) -> Result<u64, Mistake> {
        size_above_zero(option, text, Some(self.target.block))
    }
}

/// A value that is not among those that an option has.
fn none_of(option: &str, value: impl std::fmt::Display, known: &str) -> Mistake {
    Mistake::new(option, format!("`{value}` is none of {known}"))
}

/// `-a`, `-ag`: threads take turns on the processors; `-a0,1`, `-ag0,0,1`: on these.
fn affinity(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    if rest == "g" || rest.is_empty() {
        draft.span.round_robin = true;
        return Ok(());
    }
    // `-ag0,0,1,g1,2`: a group holds for the processors after it.
    let last = rest.rsplit(',').next().unwrap_or_default();
    if last.starts_with('g') {
        let wrong =
            format!("`{rest}` ends with a group and names no processor of it; -ag0,0,1 names two");
        return Err(Mistake::new(option, wrong));
    }
    let mut group = 0;
    for part in rest.split(',') {
        match part.strip_prefix('g') {
            Some(text) => group = number(option, text, 0..=0xffff)? as u16,
            None => {
                let processor = number(option, part, 0..=255)?;
                draft.span.affinity.push((group, processor));
            }
        }
    }
    match draft.span.affinity.iter().find(|(group, _)| *group > 0) {
        Some((group, _)) => {
            let wrong = format!(
                "there is no processor group {group}: Linux has one, 0, for all processors"
            );
            Err(Mistake::new(option, wrong))
        }
        None => Ok(()),
    }
}

/// Sizes of other options may count blocks; its own cannot.
fn block(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.block = size_above_zero(option, rest, None)?;
    Ok(())
}

/// `-B64K` or `-B64K:1M`: the beginning, and the length up to the end.
fn bounds(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    let (base, length) = match rest.split_once(':') {
        Some((base, length)) => (base, Some(length)),
        None => (rest, None),
    };
    let base = draft.size(option, base)?;
    draft.target.base = base;
    if let Some(length) = length {
        let end = base.checked_add(draft.size_above_zero(option, length)?);
        draft.target.max_file_size =
            end.ok_or_else(|| Mistake::new(option, "the end lies beyond 2^64"))?;
    }
    Ok(())
}

/// The number after an option; `None` where there is none, and 0 counts as none.
fn some_number(option: &str, rest: &str) -> Result<Option<u32>, Mistake> {
    match rest {
        "" => Ok(None),
        _ => number(option, rest, ANY).map(|number| (number > 0).then_some(number)),
    }
}

fn deviation(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.span.iops_std_dev = true;
    draft.span.bucket_ms = some_number(option, rest)?.unwrap_or(draft.span.bucket_ms);
    Ok(())
}

fn progress(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.profile.progress = some_number(option, rest)?.unwrap_or(65536);
    Ok(())
}

fn tracing(_: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    const KNOWN: &str = "q, c, s, p, PROCESS, THREAD, IMAGE_LOAD, DISK_IO, MEMORY_PAGE_FAULTS, \
                         MEMORY_HARD_FAULTS, NETWORK, REGISTRY";
    if KNOWN.split(", ").any(|known| known == rest) {
        Ok(())
    } else {
        Err(none_of(option, rest, KNOWN))
    }
}

/// `-f1M`: the end of the tested part; `-fr`: hints for opening the file.
fn limit_or_hints(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        draft.target.max_file_size = draft.size_above_zero(option, rest)?;
        return Ok(());
    }
    if rest.is_empty() || !rest.chars().all(|hint| "srt".contains(hint)) {
        let message = format!("`{rest}` is neither a size nor hints out of r, s and t");
        return Err(Mistake::new(option, message));
    }
    for (hint, requested) in "srt".chars().zip(&mut draft.target.hints) {
        *requested |= rest.contains(hint);
    }
    Ok(())
}

fn throughput(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.throughput = Some(match rest.strip_suffix('i') {
        Some(iops) => Throughput::Iops(number(option, iops, SOME)?),
        None => Throughput::BytesPerMs(number(option, rest, SOME)?),
    });
    Ok(())
}

fn flushing(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.map_flush = Some(match rest {
        "v" => MapFlush::View,
        "n" => MapFlush::NonVolatile,
        "i" => MapFlush::NonVolatileNoDrain,
        _ => return Err(none_of(option, rest, "v, n and i")),
    });
    Ok(())
}

fn random(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.random = true;
    if !rest.is_empty() {
        draft.random_align = Some(draft.size_above_zero(option, rest)?);
    }
    Ok(())
}

fn distributed(draft: &mut Draft, _: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.distribution = Some(distribution::parse(rest, draft.target.block)?);
    Ok(())
}

/// The original takes a stride of 0 for the block size.
fn stride(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    if !rest.is_empty() {
        let stride = draft.size(option, rest)?;
        draft.stride = (stride > 0).then_some(stride);
    }
    Ok(())
}

fn interlocked(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.interlocked = true;
    stride(draft, option, rest)
}

/// Plain `-S` is `-Su`. Flags may be combined, but each setting may be given once.
fn caching(draft: &mut Draft, _: &str, rest: &str) -> Result<(), Mistake> {
    let flags = if rest.is_empty() { "u" } else { rest };
    for flag in flags.chars() {
        let (cache, through) = match flag {
            'b' => (Some(Cache::Cached), false),
            'u' => (Some(Cache::None), false),
            'r' => (Some(Cache::NotLocal), false),
            'h' => (Some(Cache::None), true),
            'w' => (None, true),
            'm' => (None, false),
            _ => return Err(none_of("-S", flag, "b, h, m, r, u and w")),
        };
        let repeated = [
            (
                cache.is_some() && draft.cache.is_some(),
                "an earlier flag for the cache",
            ),
            (through && draft.target.write_through, "write-through"),
            (flag == 'm' && draft.target.mapped, "mapped memory"),
        ];
        if let Some((_, what)) = repeated.into_iter().find(|(is_so, _)| *is_so) {
            let message = format!("`{flag}` repeats or contradicts {what}");
            return Err(Mistake::new("-S", message));
        }
        draft.cache = draft.cache.or(cache);
        draft.target.write_through |= through;
        draft.target.mapped |= flag == 'm';
    }
    Ok(())
}

/// `-Rtext`, `-Rxml`; with a `p`, the profile is printed and nothing runs.
fn results(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    let only = rest.starts_with('p');
    draft.profile.profile_only |= only;
    draft.profile.format = match rest.strip_prefix('p').unwrap_or(rest) {
        "" if only => Format::Text,
        "text" => Format::Text,
        "xml" => Format::Xml,
        _ => return Err(none_of(option, rest, "text, xml, ptext and pxml")),
    };
    Ok(())
}

fn verbose(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.profile.verbose = true;
    match rest {
        "" | "s" => Ok(()),
        _ => Err(none_of(option, rest, "nothing and s")),
    }
}

fn writes(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.target.write_ratio = match rest {
        "" => 0,
        _ => number(option, rest, 0..=100)?,
    };
    Ok(())
}

fn profile_file(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    if rest.is_empty() {
        let wrong = "the name of the file must follow it: -Xprofile.xml";
        return Err(Mistake::new(option, wrong));
    }
    draft.xml = Some(rest.to_owned());
    Ok(())
}

fn event(_: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    match rest {
        "" => Err(Mistake::new(option, "the name of an event must follow it")),
        _ => Ok(()),
    }
}

fn seed(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    draft.span.seed = match rest {
        "" => None,
        _ => Some(number(option, rest, ANY)?),
    };
    Ok(())
}

/// `-Z`: zeros; `-Z1M`: that many random bytes; `-Z1M,FILE`: bytes of a file.
fn buffers(draft: &mut Draft, option: &str, rest: &str) -> Result<(), Mistake> {
    if rest.is_empty() {
        draft.target.buffers = Buffers::Zero;
        return Ok(());
    }
    let (bytes, file) = match rest.split_once(',') {
        Some((_, "")) => {
            let wrong = "the name of a file must follow the comma";
            return Err(Mistake::new(option, wrong));
        }
        Some((bytes, file)) => (bytes, Some(file.to_owned())),
        None => (rest, None),
    };
    let size = draft.size(option, bytes)?;
    draft.target.buffers = Buffers::Source { size, file };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_a_sentence() {
        for option in OPTIONS {
            assert!(option.meaning.ends_with('.'), "{}", option.name);
        }
    }
}
