//! Rows of the table: `-?` to `-N`.

use super::super::number::{number, some_size};
use super::super::setters::{affinity, bounds, caching, limit_or_hints, throughput, tracing};
use super::super::spec::MapFlush;
use super::{ANY, IGNORED, NEARLY, Opt, ROW, bare};
use blocklab_syntax::Mistake;

pub(super) static EARLY: [Opt; 21] = [
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
        here: "a list binds, and -ag binds to all in turn; without either the scheduler places the \
               threads; there is one processor group, 0, of processors 0 to 255",
        set: affinity,
    },
    Opt {
        name: "-b",
        form: "-b<size>[KMGT]",
        default: "64K",
        meaning: "Block size. It is read before all others, whatever its place.",
        level: NEARLY,
        here: "at most 1 GiB",
        set: |draft, rest| {
            draft.target.block = some_size("-b", rest, None)?;
            Ok(())
        },
    },
    Opt {
        name: "-B",
        form: "-B<offset>[:<length>]",
        default: "0",
        meaning: "Use the target from this byte on, and so far; a length excludes -f.",
        set: bounds,
        ..ROW
    },
    Opt {
        name: "-c",
        form: "-c<size>[KMGTb]",
        meaning: "Make the file, of this size.",
        level: NEARLY,
        here: "a file that exists and is large enough is used as it is, and is refused for writing \
               unless it was made here or --destroy-data names it; a new one is filled with random \
               bytes and stays",
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
                // The original takes 0 for no number.
                match number("-D", rest, 0, ANY)? {
                    0 => {}
                    ms => draft.span.bucket_ms = ms,
                }
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
               all targets, in turn; at most 4,096",
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
        level: NEARLY,
        here: "as -Sh",
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
        level: NEARLY,
        here: "the pause begins when the burst has come back",
        set: |draft, rest| {
            draft.target.think_ms = number("-j", rest, 1, ANY)?;
            Ok(())
        },
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
];
