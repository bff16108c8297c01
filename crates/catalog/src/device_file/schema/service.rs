//! How the medium serves, the road to it, and what fails.

use super::Absent::{Default, Json, Wrong};
use super::{Key, Kind, ORIGIN, Section, key};

pub(super) const SERVICE: Section = Section {
    path: "volume.service",
    meaning: "How long an operation takes once the limiters have let it pass.",
    inline: false,
    keys: &[
        key("read", "read", Kind::Table(&LATENCY), Wrong, "random reads"),
        key(
            "write",
            "write",
            Kind::Table(&LATENCY),
            Wrong,
            "random writes",
        ),
        key(
            "stream_read",
            "stream_read",
            Kind::Table(&LATENCY),
            Default(""),
            "a read that continues the one before it; absent: as random",
        ),
        key(
            "stream_write",
            "stream_write",
            Kind::Table(&LATENCY),
            Default(""),
            "a write that continues the operation before it",
        ),
        key(
            "interleaved_read",
            "interleaved_read",
            Kind::Table(&LATENCY),
            Default(""),
            "a read that continues a recent one while others came between",
        ),
        key(
            "interleaved_write",
            "interleaved_write",
            Kind::Table(&LATENCY),
            Default(""),
            "a write that continues a recent one while others came between",
        ),
        key(
            "spread",
            "spread",
            Kind::Table(&SPREAD),
            Json("{\"sigma\":0.0,\"origin\":\"given\"}", "none"),
            "how latencies scatter around their mean",
        ),
        key(
            "saturation",
            "saturation",
            Kind::Table(&SATURATION),
            Default(""),
            "a medium that comes gradually near its physical maximum",
        ),
    ],
};

const LATENCY: Section = Section {
    path: "volume.service.read",
    meaning: "A mean latency, `base + per_kib · size`; every latency of a service has these keys.",
    inline: true,
    keys: &[
        key(
            "base",
            "base_ns",
            Kind::Time,
            Wrong,
            "of an operation of no bytes",
        ),
        key(
            "per_kib",
            "per_kib_ns",
            Kind::FineTime,
            Default("0ns"),
            "more for every KiB",
        ),
        ORIGIN,
    ],
};

const SPREAD: Section = Section {
    path: "volume.service.spread",
    meaning: "Scatter: lognormal.",
    inline: true,
    keys: &[
        key(
            "sigma",
            "sigma",
            Kind::Number,
            Wrong,
            "standard deviation of the logarithm; 0: all the same",
        ),
        key(
            "tail",
            "tail",
            Kind::Table(&TAIL),
            Default(""),
            "rare slow operations",
        ),
        ORIGIN,
    ],
};

const TAIL: Section = Section {
    path: "volume.service.spread.tail",
    meaning: "Rare slow operations: a second lognormal.",
    inline: true,
    keys: &[
        key(
            "share",
            "share",
            Kind::Number,
            Wrong,
            "share of the operations, 0 to 1",
        ),
        key(
            "factor",
            "factor",
            Kind::Number,
            Wrong,
            "their mean, as a multiple of the others'",
        ),
        key(
            "sigma",
            "sigma",
            Kind::Number,
            Wrong,
            "standard deviation of the logarithm of theirs",
        ),
    ],
};

const SATURATION: Section = Section {
    path: "volume.service.saturation",
    meaning: "What the medium can do at most.",
    inline: true,
    keys: &[
        key(
            "read_iops",
            "read_iops",
            Kind::Number,
            Wrong,
            "most reads a second",
        ),
        key(
            "write_iops",
            "write_iops",
            Kind::Number,
            Wrong,
            "most writes a second",
        ),
        ORIGIN,
    ],
};

pub(super) const NETWORK: Section = Section {
    path: "volume.network",
    meaning: "A road of its own to the volume.",
    inline: true,
    keys: &[
        key(
            "round_trip",
            "round_trip_ns",
            Kind::Time,
            Wrong,
            "there and back together",
        ),
        ORIGIN,
    ],
};

pub(super) const FAULT: Section = Section {
    path: "fault",
    meaning: "One thing that goes wrong: exactly one of `state`, `latency` and `error`.",
    inline: false,
    keys: &[
        key("from", "from_ns", Kind::Time, Wrong, "first moment"),
        key(
            "until",
            "until_ns",
            Kind::Time,
            Wrong,
            "first moment after it, or `never`",
        ),
        key(
            "volume",
            "volume",
            Kind::Count,
            Default(""),
            "the one volume that it hits, counted from 0; absent: all",
        ),
        key(
            "state",
            "state",
            Kind::Word(&["stall", "detach"]),
            Default(""),
            "nothing leaves before `until`; or the device is gone",
        ),
        key(
            "latency",
            "latency",
            Kind::Table(&FAULT_LATENCY),
            Default(""),
            "a share of the operations takes longer",
        ),
        key(
            "error",
            "error",
            Kind::Table(&FAULT_ERROR),
            Default(""),
            "a share of the operations fails",
        ),
    ],
};

/// The keys of a fault of which exactly one stands.
pub(in super::super) const FAULT_KINDS: [&str; 3] = ["state", "latency", "error"];

const READ_PERCENT: Key = key(
    "read_percent",
    "read_percent",
    Kind::Number,
    Wrong,
    "share of the reads",
);
const WRITE_PERCENT: Key = key(
    "write_percent",
    "write_percent",
    Kind::Number,
    Wrong,
    "share of the writes, trims and flushes",
);

const FAULT_LATENCY: Section = Section {
    path: "fault.latency",
    meaning: "Slow operations.",
    inline: true,
    keys: &[
        key("added", "added_ns", Kind::Time, Wrong, "by so much"),
        READ_PERCENT,
        WRITE_PERCENT,
    ],
};

const FAULT_ERROR: Section = Section {
    path: "fault.error",
    meaning: "Failing operations.",
    inline: true,
    keys: &[
        key(
            "fault",
            "fault",
            Kind::Word(&["io", "full", "detached"]),
            Wrong,
            "how they fail",
        ),
        READ_PERCENT,
        WRITE_PERCENT,
    ],
};
