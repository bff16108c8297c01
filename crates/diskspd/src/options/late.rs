//! Rows of the table: `-o` to `-Zr`.

use super::super::distribution;
use super::super::draft::Draft;
use super::super::number::number;
use super::super::setters::{buffers, caching, event, results};
use super::{ANY, IGNORED, NEARLY, Opt, ROW, bare};
use blocklab_syntax::Mistake;

pub(super) static LATE: [Opt; 26] = [
    Opt {
        name: "-o",
        form: "-o<count>",
        default: "2",
        meaning: "Operations in flight per thread and target; 1 is synchronous I/O.",
        level: NEARLY,
        here: "at most 32,768",
        set: |draft, rest| {
            draft.target.requests = number("-o", rest, 1, 32768)?;
            Ok(())
        },
    },
    Opt {
        name: "-O",
        form: "-O<count>",
        meaning: "Operations in flight per thread over all targets; with -F.",
        level: NEARLY,
        here: "the targets of a thread take turns by their weights; none is drawn by lot",
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
                // The original takes 0 for no number.
                _ => match number("-P", rest, 0, ANY)? {
                    0 => 65536,
                    count => count,
                },
            };
            Ok(())
        },
    },
    Opt {
        name: "-r",
        form: "-r[<align>[KMGTb]]",
        default: "sequential; aligned to the block size",
        meaning: "Random offsets; not with -s.",
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
        here: "-rdabs needs the size of the target: models and targets that are not there yet want -c or -f",
        set: |draft, rest| {
            draft.target.distribution = Some(distribution::parse(rest, draft.target.block)?);
            Ok(())
        },
    },
    Opt {
        name: "-rs",
        form: "-rs<per cent>",
        default: "100 with -r",
        meaning: "So many of the operations are random; -r gives their alignment.",
        set: |draft, rest| {
            draft.random_ratio = Some(number("-rs", rest, 1, 100)?);
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
        meaning: "Sequential offsets, so far apart; not with -r and -rs.",
        set: |draft, rest| {
            if !rest.is_empty() {
                draft.stride = stride("-s", draft, rest)?;
            }
            Ok(())
        },
        ..ROW
    },
    Opt {
        name: "-si",
        form: "-si[<stride>[KMGTb]]",
        meaning: "The threads share one sequence; in place of -s.",
        set: |draft, rest| {
            draft.target.interlocked = true;
            if !rest.is_empty() {
                draft.stride = stride("-si", draft, rest)?;
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
        level: NEARLY,
        here: "at most 4,096",
        set: |draft, rest| {
            draft.target.threads = number("-t", rest, 1, 4096)?;
            draft.given.push("-t");
            Ok(())
        },
    },
    Opt {
        name: "-T",
        form: "-T<offset>[KMGTb]",
        default: "0",
        meaning: "Thread k begins k times so far behind the first.",
        set: |draft, rest| {
            draft.target.thread_stride = draft.some_size("-T", rest)?;
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
        level: NEARLY,
        here: "a target that holds data is refused unless --destroy-data names it",
        set: |draft, rest| {
            draft.target.write_ratio = match rest {
                "" => 0,
                _ => number("-w", rest, 0, 100)?,
            };
            Ok(())
        },
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
        level: NEARLY,
        here: "elements are honoured as their options are; ETW, Progress, Verbose, VerboseStats, \
               PrecreateFiles and ExperimentFlags change nothing",
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
        level: NEARLY,
        here: "a seed repeats the offsets of a run made here, not those of the original",
        set: |draft, rest| {
            draft.span.seed = match rest {
                "" => None,
                _ => Some(number("-z", rest, 0, ANY)?),
            };
            draft.given.push("-z");
            Ok(())
        },
    },
    Opt {
        name: "-Z",
        form: "-Z; -Z<size>[KMGTb][,<file>]",
        default: "0, 1, … 255, again and again",
        meaning: "What writes carry: zeros, or bytes of a buffer of this size, random or out of a \
                  file.",
        level: NEARLY,
        here: "zeros, the pattern 0 … 255, files and random buffers up to 16 MiB are as documented; for a \
               larger one, random bytes of which no two blocks are equal",
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
];

/// The original takes a stride of 0 for the block size.
fn stride(option: &str, draft: &Draft, rest: &str) -> Result<Option<u64>, Mistake> {
    let stride = draft.size(option, rest)?;
    Ok((stride > 0).then_some(stride))
}
