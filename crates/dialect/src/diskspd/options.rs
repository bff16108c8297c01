//! The option table: one option, one row. Reading a command line and `docs/dialects/diskspd.md`
//! are derived from it.

use blocklab_record::NoteLevel;

use super::command::Draft;
use super::distribution;
use super::number::{number, some_size};
use super::setters::{
    affinity, bounds, buffers, caching, event, limit_or_hints, results, throughput, tracing,
};
use super::spec::{MapFlush, Mistake};

/// One option.
pub(super) struct Opt {
    /// What it begins with; the longest match counts.
    pub name: &'static str,
    /// As the manual writes it.
    pub form: &'static str,
    /// Without it.
    pub default: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// How well it is honoured; nothing: exactly.
    pub level: Option<NoteLevel>,
    /// What is done here, where that differs.
    pub here: &'static str,
    /// Takes what follows the name.
    pub set: fn(&mut Draft, &str) -> Result<(), Mistake>,
}

const ROW: Opt = Opt {
    name: "",
    form: "",
    default: "–",
    meaning: "",
    level: None,
    here: "",
    set: |_, _| Ok(()),
};

const IGNORED: Option<NoteLevel> = Some(NoteLevel::Ignored);
const NEARLY: Option<NoteLevel> = Some(NoteLevel::Approximated);
const ANY: u32 = u32::MAX;

/// The row of an argument: that with the longest name with which it begins.
pub(super) fn find(argument: &str) -> Option<&'static Opt> {
    let fitting = OPTIONS.iter().filter(|opt| argument.starts_with(opt.name));
    fitting.max_by_key(|opt| opt.name.len())
}

/// An option that takes nothing.
fn bare(option: &str, rest: &str) -> Result<(), Mistake> {
    match rest {
        "" => Ok(()),
        _ => Err(Mistake::new(
            option,
            format!("it takes nothing, and `{rest}` follows it"),
        )),
    }
}

pub(super) static OPTIONS: [Opt; 54] = [
    Opt {
        name: "-?",
        form: "-?",
        meaning: "Print the usage.",
        set: |draft, rest| {
            draft.usage = true;
            bare("-?", rest)
        },
        ..ROW
    },
    Opt {
        name: "-:",
        form: "-:<flags>",
        meaning: "Experimental flags.",
        level: IGNORED,
        here: "there are none",
        set: |_, rest| number("-:", rest, 0, ANY).map(drop),
        ..ROW
    },
    Opt {
        name: "-a",
        form: "-a[g#,]#[,#,…], -ag",
        default: "-ag",
        meaning: "Bind the threads to these processors in turn.",
        level: NEARLY,
        here: "a list binds; without one the scheduler places the threads; there is one processor \
               group, 0",
        set: affinity,
    },
    Opt {
        name: "-b",
        form: "-b<size>[KMGT]",
        default: "64K",
        meaning: "Block size. It is read before all others, whatever its place.",
        set: |draft, rest| {
            draft.target.block = some_size("-b", rest, None)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-B",
        form: "-B<offset>[:<length>]",
        default: "0",
        meaning: "Use the target from this byte on, and so far.",
        set: bounds,
        ..ROW
    },
    Opt {
        name: "-c",
        form: "-c<size>[KMGTb]",
        meaning: "Make the file, of this size.",
        level: NEARLY,
        here: "a file that exists is used as it is, and is refused for writing unless \
               --destroy-data names it; a new one is filled with random bytes and stays",
        set: |draft, rest| {
            draft.target.file_size = draft.some_size("-c", rest)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-C",
        form: "-C<seconds>",
        default: "0",
        meaning: "Load after the measured time; in no result.",
        set: |draft, rest| {
            draft.span.cooldown = number("-C", rest, 0, ANY)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-d",
        form: "-d<seconds>",
        default: "10",
        meaning: "Measured time.",
        set: |draft, rest| {
            draft.span.duration = number("-d", rest, 1, ANY)?;
            draft.given.push("-d");
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-D",
        form: "-D[<milliseconds>]",
        default: "1000",
        meaning: "Standard deviation of the rate over intervals; the series too in XML.",
        set: |draft, rest| {
            draft.span.iops_std_dev = true;
            if !rest.is_empty() {
                draft.span.bucket_ms = number("-D", rest, 1, ANY)?;
            }
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-e",
        form: "-e<q|c|s>, -ep, -ePROCESS, …",
        meaning: "Event tracing of Windows.",
        level: IGNORED,
        here: "Linux has no ETW",
        set: tracing,
        ..ROW
    },
    Opt {
        name: "-f",
        form: "-f<size>[KMGTb]; -f<r|s|t>…",
        meaning: "Use the target up to this byte; or hints for opening it.",
        level: NEARLY,
        here: "a size holds exactly; hints are replaced by the advice that fits the pattern",
        set: limit_or_hints,
        ..ROW
    },
    Opt {
        name: "-F",
        form: "-F<count>",
        meaning: "Threads for all targets together.",
        level: NEARLY,
        here: "each pair of thread and target is a thread of its own; under -O one thread works on \
               all targets",
        set: |draft, rest| {
            draft.span.thread_count = number("-F", rest, 1, 4096)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-g",
        form: "-g<bytes per ms>, -g<n>i",
        default: "no limit",
        meaning: "Limit of each thread on each target, in bytes a millisecond or IOPS.",
        set: throughput,
        ..ROW
    },
    Opt {
        name: "-h",
        form: "-h",
        meaning: "The old word for -Sh.",
        set: |draft, rest| {
            bare("-h", rest)?;
            caching(draft, "h")
        },
        ..ROW
    },
    Opt {
        name: "-i",
        form: "-i<count>",
        default: "no bursts",
        meaning: "Operations in a burst; with -j.",
        level: NEARLY,
        here: "the pause begins when the burst has come back",
        set: |draft, rest| {
            draft.target.burst = number("-i", rest, 1, ANY)?;
            Ok(())
        },
    },
    Opt {
        name: "-j",
        form: "-j<milliseconds>",
        default: "no bursts",
        meaning: "Time between two bursts; with -i.",
        set: |draft, rest| {
            draft.target.think_ms = number("-j", rest, 1, ANY)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-I",
        form: "-I<1|2|3>",
        default: "3",
        meaning: "I/O priority: very low, low, normal.",
        level: NEARLY,
        here: "very low is the idle class of the block layer, low the last of its best effort; \
               most devices ignore both",
        set: |draft, rest| {
            draft.target.priority = number("-I", rest, 1, 3)?;
            Ok(())
        },
    },
    Opt {
        name: "-l",
        form: "-l",
        meaning: "Large pages for the buffers.",
        level: IGNORED,
        here: "the kernel decides (transparent huge pages)",
        set: |draft, rest| {
            draft.target.large_pages = true;
            bare("-l", rest)
        },
        ..ROW
    },
    Opt {
        name: "-L",
        form: "-L",
        meaning: "Latencies in the results.",
        set: |draft, rest| {
            draft.span.measure_latency = true;
            bare("-L", rest)
        },
        ..ROW
    },
    Opt {
        name: "-n",
        form: "-n",
        meaning: "No affinity; not with -a.",
        set: |draft, rest| {
            draft.span.disable_affinity = true;
            bare("-n", rest)
        },
        ..ROW
    },
    Opt {
        name: "-N",
        form: "-N<v|n|i>",
        default: "none",
        meaning: "How mapped memory is flushed; with -Sm.",
        level: NEARLY,
        here: "msync after each write in all three modes",
        set: |draft, rest| {
            draft.target.map_flush = Some(match rest {
                "v" => MapFlush::View,
                "n" => MapFlush::NonVolatile,
                "i" => MapFlush::NonVolatileNoDrain,
                _ => {
                    return Err(Mistake::new(
                        "-N",
                        format!("`{rest}` is none of v, n and i"),
                    ));
                }
            });
            Ok(())
        },
    },
    Opt {
        name: "-o",
        form: "-o<count>",
        default: "2",
        meaning: "Operations in flight per thread and target; 1 is synchronous I/O.",
        set: |draft, rest| {
            draft.target.requests = number("-o", rest, 1, 32768)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-O",
        form: "-O<count>",
        meaning: "Operations in flight per thread over all targets; with -F.",
        set: |draft, rest| {
            draft.span.request_count = number("-O", rest, 1, 32768)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-p",
        form: "-p",
        meaning: "All operations in flight begin at the same offset.",
        level: NEARLY,
        here: "each operation in flight is a thread of its own, all from the same offset",
        set: |draft, rest| {
            draft.target.parallel = true;
            bare("-p", rest)
        },
        ..ROW
    },
    Opt {
        name: "-P",
        form: "-P[<count>]",
        default: "none",
        meaning: "A dot for so many operations (65536).",
        level: IGNORED,
        here: "the progress is that of blocklab",
        set: |draft, rest| {
            draft.progress = match rest {
                "" => 65536,
                _ => number("-P", rest, 1, ANY)?,
            };
            Ok(())
        },
    },
    Opt {
        name: "-r",
        form: "-r[<align>[KMGTb]]",
        default: "sequential; aligned to the block size",
        meaning: "Random offsets; it wins over -s.",
        set: |draft, rest| {
            draft.random = true;
            if !rest.is_empty() {
                draft.random_align = Some(draft.some_size("-r", rest)?);
            }
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-rd",
        form: "-rdpct<IO>/<share>:…, -rdabs<IO>/<size>:…",
        default: "uniform",
        meaning: "How random offsets are distributed.",
        level: NEARLY,
        here: "-rdabs needs the size of the target: -c or -f; not together with -rs below 100",
        set: |draft, rest| {
            draft.target.distribution = Some(distribution::parse(rest, draft.target.block)?);
            Ok(())
        },
    },
    Opt {
        name: "-rs",
        form: "-rs<per cent>",
        default: "0, with -r 100",
        meaning: "So many of the operations are random.",
        set: |draft, rest| {
            draft.random_ratio = Some(number("-rs", rest, 0, 100)?);
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-R",
        form: "-R[p]<text|xml>",
        default: "text",
        meaning: "How the result is printed; with p only the profile, and nothing is run.",
        set: results,
        ..ROW
    },
    Opt {
        name: "-s",
        form: "-s[<stride>[KMGTb]]",
        default: "the block size",
        meaning: "Sequential offsets, so far apart.",
        set: |draft, rest| {
            if !rest.is_empty() {
                draft.stride = Some(draft.some_size("-s", rest)?);
            }
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-si",
        form: "-si[<stride>[KMGTb]]",
        meaning: "The threads share one sequence.",
        level: NEARLY,
        here: "exact where the stride is the block; with another one, thread k of n takes every \
               n-th step, and they may drift apart",
        set: |draft, rest| {
            draft.target.interlocked = true;
            if !rest.is_empty() {
                draft.stride = Some(draft.some_size("-si", rest)?);
            }
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-S",
        form: "-S[b|h|m|r|u|w]…",
        default: "-Sb",
        meaning: "Caches: b all, u none of the system's (also plain -S), w write through, h = uw, \
                  r only a server's, m mapped memory.",
        level: NEARLY,
        here: "u is O_DIRECT where the file system has it, w is O_DSYNC, r is as u",
        set: caching,
    },
    Opt {
        name: "-t",
        form: "-t<count>",
        default: "1",
        meaning: "Threads for each target; not with -F.",
        set: |draft, rest| {
            draft.target.threads = number("-t", rest, 1, 4096)?;
            draft.given.push("-t");
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-T",
        form: "-T<offset>[KMGTb]",
        default: "0",
        meaning: "Thread k begins k times so far behind the first.",
        set: |draft, rest| {
            draft.target.thread_stride = draft.size("-T", rest)?;
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-v",
        form: "-v[s]",
        meaning: "Say more.",
        level: IGNORED,
        here: "`blocklab show` says more of every run",
        set: |draft, rest| {
            draft.verbose = true;
            match rest {
                "" | "s" => Ok(()),
                _ => bare("-v", rest),
            }
        },
        ..ROW
    },
    Opt {
        name: "-w",
        form: "-w[<per cent>]",
        default: "0",
        meaning: "So many of the operations write.",
        set: |draft, rest| {
            draft.target.write_ratio = match rest {
                "" => 0,
                _ => number("-w", rest, 0, 100)?,
            };
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-W",
        form: "-W<seconds>",
        default: "5",
        meaning: "Load before the measured time.",
        set: |draft, rest| {
            draft.span.warmup = number("-W", rest, 0, ANY)?;
            draft.given.push("-W");
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-x",
        form: "-x",
        meaning: "Completion routines in place of completion ports.",
        level: IGNORED,
        here: "both are io_uring here",
        set: |draft, rest| {
            draft.span.completion_routines = true;
            bare("-x", rest)
        },
        ..ROW
    },
    Opt {
        name: "-X",
        form: "-X<file>",
        meaning: "The profile comes from an XML file; -d, -W, -C, -R, -v and -z may override it, \
                  and targets take the places of *1, *2, ….",
        set: |draft, rest| match rest {
            "" => Err(Mistake::new(
                "-X",
                "the name of the file must follow it: -Xprofile.xml",
            )),
            _ => {
                draft.xml = Some(rest.to_owned());
                Ok(())
            }
        },
        ..ROW
    },
    Opt {
        name: "-ye",
        form: "-ye<event>",
        meaning: "Set an event and quit.",
        level: IGNORED,
        here: "Linux has no named events",
        set: |draft, rest| {
            draft.event = Some(rest.to_owned());
            event("-ye", rest)
        },
        ..ROW
    },
    Opt {
        name: "-yf",
        form: "-yf<event>",
        meaning: "Signal an event when the run has ended.",
        level: IGNORED,
        here: "Linux has no named events",
        set: |_, rest| event("-yf", rest),
        ..ROW
    },
    Opt {
        name: "-yp",
        form: "-yp<event>",
        meaning: "End the run when an event is set.",
        level: IGNORED,
        here: "Linux has no named events; SIGINT and SIGTERM end the run",
        set: |_, rest| event("-yp", rest),
        ..ROW
    },
    Opt {
        name: "-yr",
        form: "-yr<event>",
        meaning: "Wait for an event before the run.",
        level: IGNORED,
        here: "Linux has no named events; the run begins at once",
        set: |_, rest| event("-yr", rest),
        ..ROW
    },
    Opt {
        name: "-ys",
        form: "-ys<event>",
        meaning: "Signal an event when the run begins.",
        level: IGNORED,
        here: "Linux has no named events",
        set: |_, rest| event("-ys", rest),
        ..ROW
    },
    Opt {
        name: "-z",
        form: "-z[<seed>]",
        default: "0",
        meaning: "Seed of all chance; without a number from the clock.",
        set: |draft, rest| {
            draft.span.seed = match rest {
                "" => None,
                _ => Some(number("-z", rest, 0, ANY)?),
            };
            draft.given.push("-z");
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-Z",
        form: "-Z; -Z<size>[KMGTb][,<file>]",
        default: "0, 1, … 255, again and again",
        meaning: "What writes carry: zeros, or bytes of a buffer of this size, random or out of a \
                  file.",
        level: NEARLY,
        here: "zeros and the pattern 0 … 255 are exact; for a buffer, random bytes of which no two \
               blocks are equal",
        set: buffers,
    },
    Opt {
        name: "-Zr",
        form: "-Zr",
        meaning: "Fresh random bytes for each write.",
        set: |draft, rest| {
            draft.span.random_write_data = true;
            bare("-Zr", rest)
        },
        ..ROW
    },
    Opt {
        name: "--map",
        form: "--map 'E:\\=/data/'",
        meaning: "Ours: what begins with the left side begins with the right side here.",
        set: |_, _| {
            Err(Mistake::new(
                "--map",
                "it takes FROM=TO, such as --map 'E:\\=/data/'",
            ))
        },
        ..ROW
    },
    Opt {
        name: "--destroy-data",
        form: "--destroy-data=NAME",
        meaning: "Ours: allow to overwrite exactly this device or file.",
        set: |_, _| {
            Err(Mistake::new(
                "--destroy-data",
                "it takes a name: --destroy-data=sdb",
            ))
        },
        ..ROW
    },
    Opt {
        name: "--diskspd-layout",
        form: "--diskspd-layout 2.2|2.0.21a",
        default: "2.2",
        meaning: "Ours: the layout of the text.",
        set: |_, _| Err(Mistake::new("--diskspd-layout", "it takes 2.2 or 2.0.21a")),
        ..ROW
    },
    Opt {
        name: "--size",
        form: "--size SIZE",
        meaning: "Ours: the size of files that are made, in place of that of -c.",
        set: |_, _| Err(Mistake::new("--size", "it takes a size: --size 1GiB")),
        ..ROW
    },
    Opt {
        name: "--read-only",
        form: "--read-only",
        meaning: "Ours: nothing is written; -w counts as -w0, with a note.",
        ..ROW
    },
    Opt {
        name: "--no-save",
        form: "--no-save",
        meaning: "Ours: the run is not kept.",
        ..ROW
    },
    Opt {
        name: "--quiet",
        form: "--quiet",
        meaning: "Ours: no progress and no notes on standard error.",
        ..ROW
    },
];
