//! Keys of a job: the finer points of where operations go and what they write.

use std::sync::Arc;

use blocklab_units::Bytes;
use blocklab_workload::{Job, MovingWindow, Runs, SizeDraw, TargetOrder};

use super::super::error::Complaint;
use super::super::value::{Value, Word};
use super::words::{names, number, shown_table, size, spoken};
use super::{Allowed, Key, Need, Section, put, quoted};

const DRAWS: [Word<SizeDraw>; 3] = [
    ("listed", SizeDraw::Listed),
    ("multiples", SizeDraw::Multiples),
    ("any-byte", SizeDraw::AnyByte),
];

const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// What a flag's row has in common with its siblings.
const FLAG: Key<Job> = Key {
    kind: "true or false",
    default: Some("false"),
    example: "true",
    ..Key::ROW
};

fn raised(flag: bool) -> Option<String> {
    flag.then(|| "true".to_owned())
}

pub const FINER: Section<Job> = Section {
    title: "Finer points of what an operation is",
    keys: &[
        Key {
            name: "size_draw",
            kind: "word",
            meaning: "How a size is drawn from `block_size`: one of the list by its weight; any \
                      multiple of the smallest up to the largest; any number of bytes between \
                      the two.",
            allowed: Allowed::Words(&names(&DRAWS)),
            example: "\"multiples\"",
            elsewhere: &["bs_unaligned"],
            set: |job, value| put(&mut job.size_draw, value.word(&DRAWS)),
            show: |job| spoken(&DRAWS, &job.size_draw),
            ..Key::ROW
        },
        Key {
            name: "align",
            kind: "size or table",
            meaning: "Random offsets are multiples of this; smaller than a block lets blocks \
                      overlap. A table says it by direction.",
            allowed: Allowed::Said("a size above 0, { read, write, trim }, or \"none\""),
            default: Some("the smallest block"),
            example: "\"512\"",
            elsewhere: &["blockalign", "ba"],
            set: |job, value| put(&mut job.align, value.unless_none(align)),
            show: |job| job.align.map(shown_align),
            ..Key::ROW
        },
        Key {
            name: "draws",
            kind: "text",
            meaning: "What the job's random numbers are called after: of two jobs with the same, \
                      and the same seed, each draws what the other does.",
            allowed: Allowed::Said("a text, or \"none\""),
            default: Some("its name"),
            example: "\"first\"",
            set: |job, value| {
                let text = |value: Value<'_>| value.name();
                put(&mut job.rng_label, value.unless_none(text))
            },
            show: |job| job.rng_label.as_deref().map(quoted),
            ..Key::ROW
        },
        Key {
            name: "run_length",
            kind: "whole number",
            meaning: "So many operations for each offset that the pattern gives, one behind the \
                      other.",
            allowed: Allowed::Said("from 1"),
            default: Some("1"),
            example: "8",
            elsewhere: &["rw_sequencer"],
            set: |job, value| {
                let runs = |length| Runs {
                    length,
                    ..Runs::default()
                };
                put(
                    &mut job.runs,
                    value.count().map(|length| Some(runs(length))),
                )
            },
            show: |job| job.runs.map(|runs| runs.length.to_string()),
            ..Key::ROW
        },
        Key {
            name: "run_same",
            meaning: "All operations of a run go to its one offset.",
            need: Need::Given("run_length"),
            set: |job, value| {
                let same = value.flag()?;
                job.runs = job.runs.map(|runs| Runs { same, ..runs });
                Ok(())
            },
            show: |job| job.runs.and_then(|runs| raised(runs.same)),
            ..FLAG
        },
        Key {
            name: "run_follow",
            kind: "per cent",
            meaning: "The chance that one more operation follows when a run is done, again and \
                      again.",
            allowed: Allowed::Said("0 to 99"),
            default: Some("0"),
            example: "70",
            need: Need::Given("run_length"),
            set: |job, value| {
                let follow_percent = value.percent()?;
                job.runs = job.runs.map(|runs| Runs {
                    follow_percent,
                    ..runs
                });
                Ok(())
            },
            show: |job| {
                let follow = job.runs.map_or(0, |runs| runs.follow_percent);
                (follow > 0).then(|| follow.to_string())
            },
            ..Key::ROW
        },
        Key {
            name: "run_step",
            kind: "size",
            meaning: "Distance between the beginnings of two operations of a run.",
            allowed: Allowed::Said("a size above 0, or \"none\""),
            default: Some("the size of the first of the two"),
            example: "\"64KiB\"",
            need: Need::Given("run_length"),
            set: |job, value| {
                let step = value.unless_none(Value::size)?;
                job.runs = job.runs.map(|runs| Runs { step, ..runs });
                Ok(())
            },
            show: |job| job.runs.and_then(|runs| runs.step).map(size),
            ..Key::ROW
        },
        Key {
            name: "run_one_way",
            meaning: "All operations of a run go in the direction of its first, where there is one \
                      target.",
            need: Need::Given("run_length"),
            set: |job, value| {
                let one_way = value.flag()?;
                job.runs = job.runs.map(|runs| Runs { one_way, ..runs });
                Ok(())
            },
            show: |job| job.runs.and_then(|runs| raised(runs.one_way)),
            ..FLAG
        },
        Key {
            name: "window",
            kind: "table",
            meaning: "A window that moves over the region: operations fall into its `range` until \
                      `bytes` were moved; then it begins `skip` behind its end.",
            allowed: Allowed::Said("sizes for `bytes`, `range` and `skip`, or \"none\""),
            default: Some("none"),
            example: "{ bytes = \"1MiB\", range = \"2MiB\", skip = \"0\" }",
            elsewhere: &["zonesize", "zoneskip", "zonerange"],
            set: |job, value| put(&mut job.window, value.unless_none(window)),
            show: |job| {
                job.window.map(|window| {
                    shown_table(&[
                        ("bytes", Some(size(window.bytes))),
                        ("range", Some(size(window.range))),
                        ("skip", Some(size(window.skip))),
                    ])
                })
            },
            ..Key::ROW
        },
        Key {
            name: "positions_apart",
            meaning: "Reads, writes and trims each have a sequential position of their own.",
            set: |job, value| put(&mut job.per_direction_position, value.flag()),
            show: |job| raised(job.per_direction_position),
            ..FLAG
        },
        Key {
            name: "trim_first",
            meaning: "Each write comes after a trim of the same range.",
            elsewhere: &["trimwrite"],
            set: |job, value| put(&mut job.trim_first, value.flag()),
            show: |job| raised(job.trim_first),
            ..FLAG
        },
        Key {
            name: "no_overlap",
            meaning: "An operation waits while one that it overlaps is in flight in its thread.",
            elsewhere: &["serialize_overlap"],
            set: |job, value| put(&mut job.no_overlap, value.flag()),
            show: |job| raised(job.no_overlap),
            ..FLAG
        },
        Key {
            name: "forget_every",
            kind: "size",
            meaning: "Through the page cache: it is asked to drop the targets whenever a thread \
                      has moved so many bytes, so that each pass comes from the device.",
            allowed: Allowed::Said("a size above 0, or \"none\""),
            default: Some("none"),
            example: "\"1GiB\"",
            elsewhere: &["invalidate"],
            set: |job, value| {
                put(
                    &mut job.drop_cache_every,
                    value.unless_none(|size| size.size()),
                )
            },
            show: |job| job.drop_cache_every.map(size),
            ..Key::ROW
        },
        Key {
            name: "fill",
            kind: "text",
            meaning: "These bytes, repeated, are written instead of `content`.",
            allowed: Allowed::Said("two hexadecimal digits a byte, or \"none\""),
            default: Some("none"),
            example: "\"deadbeef\"",
            set: |job, value| put(&mut job.fill, value.unless_none(hex)),
            show: |job| job.fill.as_deref().map(|fill| quoted(&shown_hex(fill))),
            ..Key::ROW
        },
        Key {
            name: "content_unit",
            kind: "size",
            meaning: "The unit in which `content` compresses and repeats.",
            allowed: Allowed::Said("from 512 bytes"),
            default: Some("\"4KiB\""),
            example: "\"8KiB\"",
            elsewhere: &["buffer_compress_chunk", "dedupunit"],
            set: |job, value| put(&mut job.content_unit, value.size()),
            show: |job| (job.content_unit.0 != 4096).then(|| size(job.content_unit)),
            ..Key::ROW
        },
    ],
};

fn align(value: Value<'_>) -> Result<[Bytes; 3], Complaint> {
    if !value.is_table() {
        return value.size().map(|all| [all; 3]);
    }
    let fields = value.fields(DIRECTIONS)?;
    let [Some(read), Some(write), Some(trim)] = fields else {
        return Err(value.complaint("alignments are needed for `read`, `write` and `trim`"));
    };
    Ok([read.size()?, write.size()?, trim.size()?])
}

fn shown_align(align: [Bytes; 3]) -> String {
    if align.iter().all(|bytes| *bytes == align[0]) {
        return size(align[0]);
    }
    let [read, write, trim] = align.map(|bytes| Some(size(bytes)));
    shown_table(&[("read", read), ("write", write), ("trim", trim)])
}

fn window(value: Value<'_>) -> Result<MovingWindow, Complaint> {
    let [bytes, range, skip] = value.fields(["bytes", "range", "skip"])?;
    let (Some(bytes), Some(range)) = (bytes, range) else {
        return Err(value.complaint("a window needs `bytes` and `range`"));
    };
    Ok(MovingWindow {
        bytes: bytes.size()?,
        range: range.size()?,
        skip: skip.map_or(Ok(Bytes::ZERO), Value::size)?,
    })
}

/// Bytes from pairs of hexadecimal digits.
pub(super) fn hex(value: Value<'_>) -> Result<Arc<[u8]>, Complaint> {
    let text = value.text()?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2));
    let wrong = || value.complaint(format!("`{text}` is not pairs of hexadecimal digits"));
    let digits = digits.ok_or_else(wrong)?;
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

/// Two hexadecimal digits a byte.
pub(super) fn shown_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An order with a skew is a table of one: `{ zipf = 1.2 }`.
pub(super) fn skewed_order(value: Value<'_>) -> Result<TargetOrder, Complaint> {
    match value.fields(["zipf", "pareto", "normal"])? {
        [Some(theta), None, None] => theta.number().map(|theta| TargetOrder::Zipf { theta }),
        [None, Some(h), None] => h.number().map(|h| TargetOrder::Pareto { h }),
        [None, None, Some(deviation)] => deviation
            .number()
            .map(|deviation_percent| TargetOrder::Normal { deviation_percent }),
        _ => Err(value.complaint("one of `zipf`, `pareto` and `normal` is wanted here")),
    }
}

/// The table of an order with a skew; nothing of another.
pub(super) fn shown_skew(order: TargetOrder) -> Option<String> {
    let (name, skew) = match order {
        TargetOrder::Zipf { theta } => ("zipf", theta),
        TargetOrder::Pareto { h } => ("pareto", h),
        TargetOrder::Normal { deviation_percent } => ("normal", deviation_percent),
        _ => return None,
    };
    Some(shown_table(&[(name, Some(number(skew)))]))
}
