//! Every key of a device file: one row each.

mod service;

pub(super) use service::FAULT_KINDS;
use service::{FAULT, NETWORK, SERVICE};

/// A table of the file.
pub(super) struct Section {
    /// As it is written: `volume.cap`.
    pub(super) path: &'static str,
    /// What it describes.
    pub(super) meaning: &'static str,
    /// Written on one line, within its parent.
    pub(super) inline: bool,
    pub(super) keys: &'static [Key],
}

/// A key of a table.
pub(super) struct Key {
    /// As it is written.
    pub(super) name: &'static str,
    /// As the device's own form calls it.
    pub(super) field: &'static str,
    pub(super) kind: Kind,
    pub(super) when_absent: Absent,
    pub(super) meaning: &'static str,
}

/// How a value is written.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// A whole number.
    Count,
    Number,
    /// `"256KiB"`.
    Size,
    /// `"600us"`, or `"never"`.
    Time,
    /// A time that may be a fraction of a nanosecond.
    FineTime,
    /// `"3000 IOPS"`, `"125 MiB/s"`, `"593.75 MB/s"`.
    Rate,
    /// A number of operations, or a size.
    Bucket,
    /// `"given"`, `"measured: …"`, `"assumed: …"`, or a table with `documented`.
    Origin,
    /// `"joined"`, `"striped 256KiB"`.
    Layout,
    /// `"plain"`, `"merged 256KiB"`, `"whole units 1MiB"`.
    Accounting,
    /// One of these words.
    Word(&'static [&'static str]),
    Table(&'static Section),
    Tables(&'static Section),
}

/// What holds when a key is absent.
pub(super) enum Absent {
    /// It must be there.
    Wrong,
    /// The device's own default, in words; empty: nothing.
    Default(&'static str),
    /// This, in the device's own form.
    Json(&'static str, &'static str),
}

use Absent::{Default, Json, Wrong};

const fn key(
    name: &'static str,
    field: &'static str,
    kind: Kind,
    when_absent: Absent,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        field,
        kind,
        when_absent,
        meaning,
    }
}

const ORIGIN: Key = key(
    "origin",
    "origin",
    Kind::Origin,
    Json("\"given\"", "given"),
    "where the figure comes from",
);

pub(super) const DEVICE: Section = Section {
    path: "",
    meaning: "The device. It needs at least one `[[volume]]`.",
    inline: false,
    keys: &[
        key(
            "name",
            "name",
            Kind::Text,
            Json("\"device\"", "device"),
            "what it is called in records",
        ),
        key(
            "layout",
            "layout",
            Kind::Layout,
            Default("striped 256KiB"),
            "how offsets fall on several volumes",
        ),
        key(
            "volume",
            "volumes",
            Kind::Tables(&VOLUME),
            Wrong,
            "the volumes",
        ),
        key(
            "instance",
            "instance",
            Kind::Table(&INSTANCE),
            Default(""),
            "what binds the sum of the volumes",
        ),
        key(
            "fault",
            "faults",
            Kind::Tables(&FAULT),
            Default(""),
            "what goes wrong, and when",
        ),
    ],
};

/// The key of a volume that says how many there are of it; the device's own form repeats it.
pub(super) const COUNT: &str = "count";

const VOLUME: Section = Section {
    path: "volume",
    meaning: "One volume, or several equal ones.",
    inline: false,
    keys: &[
        key(COUNT, COUNT, Kind::Count, Default("1"), "how many of it"),
        key(
            "kind",
            "kind",
            Kind::Text,
            Json("\"volume\"", "volume"),
            "what it is called in limits",
        ),
        key(
            "capacity",
            "capacity_bytes",
            Kind::Size,
            Wrong,
            "usable bytes",
        ),
        key(
            "accounting",
            "accounting",
            Kind::Accounting,
            Default("plain"),
            "how operations and bytes are counted: each as it is; split and merged into units; or charged in whole units",
        ),
        key(
            "queue_depth",
            "queue_depth",
            Kind::Count,
            Default(""),
            "most operations that it works on at a time; more wait in line",
        ),
        key(
            "cap",
            "caps",
            Kind::Tables(&CAP),
            Default(""),
            "its limiters",
        ),
        key(
            "credit",
            "credits",
            Kind::Tables(&CREDIT),
            Default(""),
            "its burst buckets",
        ),
        key(
            "service",
            "service",
            Kind::Table(&SERVICE),
            Default(""),
            "how long the medium takes; without it nothing is predicted",
        ),
        key(
            "network",
            "network",
            Kind::Table(&NETWORK),
            Default(""),
            "a road to the volume whose time is not in `service`",
        ),
    ],
};

const INSTANCE: Section = Section {
    path: "instance",
    meaning: "What an instance grants to all its volumes together.",
    inline: false,
    keys: &[
        key(
            "name",
            "name",
            Kind::Text,
            Json("\"instance\"", "instance"),
            "what it is called in limits",
        ),
        key(
            "cap",
            "caps",
            Kind::Tables(&INSTANCE_CAP),
            Default(""),
            "limiters of the sum",
        ),
        key(
            "credit",
            "credits",
            Kind::Tables(&INSTANCE_CREDIT),
            Default(""),
            "burst buckets of the sum",
        ),
    ],
};

const CAP_KEYS: &[Key] = &[
    key(
        "name",
        "name",
        Kind::Text,
        Wrong,
        "what it is called in limits",
    ),
    key("rate", "rate", Kind::Rate, Wrong, "what it lets pass"),
    key(
        "covers",
        "covers",
        Kind::Word(&["all", "reads", "writes"]),
        Default("all"),
        "which operations it counts",
    ),
    key(
        "bucket",
        "bucket_ns",
        Kind::Time,
        Default("0s"),
        "what it saves up while idle, in time of its own rate",
    ),
    key(
        "peak",
        "peak",
        Kind::Rate,
        Default(""),
        "the rate at which the bucket can be emptied",
    ),
    ORIGIN,
];

const CAP: Section = Section {
    path: "volume.cap",
    meaning: "A limiter.",
    inline: false,
    keys: CAP_KEYS,
};

const INSTANCE_CAP: Section = Section {
    path: "instance.cap",
    meaning: "A limiter of the sum; the keys of `[[volume.cap]]`.",
    inline: false,
    keys: CAP_KEYS,
};

const CREDIT_KEYS: &[Key] = &[
    key(
        "name",
        "name",
        Kind::Text,
        Wrong,
        "what it is called in limits",
    ),
    key(
        "baseline",
        "baseline",
        Kind::Rate,
        Wrong,
        "what is earned, and what remains when the bucket is empty",
    ),
    key(
        "burst",
        "burst",
        Kind::Rate,
        Wrong,
        "what is allowed while something is left, in the unit of the baseline",
    ),
    key(
        "capacity",
        "capacity",
        Kind::Bucket,
        Wrong,
        "what the bucket holds: a number of operations, or a size when the rates count bytes",
    ),
    key(
        "initial_share",
        "initial_share",
        Kind::Number,
        Default("1"),
        "what it holds at the start, as a share from 0 to 1",
    ),
    key(
        "full_again",
        "full_again_ns",
        Kind::Time,
        Default(""),
        "full at the latest so long after it was last full, whatever was spent",
    ),
    ORIGIN,
];

const CREDIT: Section = Section {
    path: "volume.credit",
    meaning: "A burst bucket: spent by every operation or byte, filled at the baseline.",
    inline: false,
    keys: CREDIT_KEYS,
};

const INSTANCE_CREDIT: Section = Section {
    path: "instance.credit",
    meaning: "A burst bucket of the sum; the keys of `[[volume.credit]]`.",
    inline: false,
    keys: CREDIT_KEYS,
};
