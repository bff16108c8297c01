//! Every key of a device file: one row each.

/// A table of the file.
pub(super) struct Section {
    /// As it is written: `volume.cap`.
    pub(super) path: &'static str,
    pub(super) meaning: &'static str,
    /// Written on one line, within its parent.
    pub(super) inline: bool,
    pub(super) keys: &'static [Key],
}

pub(super) struct Key {
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

/// A row a key: as it is written, as the device's own form calls it where that is another name, how
/// its value is written, what holds when it is absent, and what it means.
macro_rules! keys {
    ($($name:literal $(as $field:literal)?: $kind:expr, $absent:expr, $meaning:literal;)*
     $(also $($more:ident),+;)?) => {
        &[
            $(Key {
                name: $name,
                field: keys!(@field $name $($field)?),
                kind: $kind,
                when_absent: $absent,
                meaning: $meaning,
            },)*
            $($($more),+)?
        ]
    };
    (@field $name:literal) => { $name };
    (@field $name:literal $field:literal) => { $field };
}

/// A section a row: its path, `inline` where it is written so, its meaning, and its keys.
macro_rules! sections {
    ($($vis:vis $section:ident $($inline:ident)? = $path:literal, $meaning:literal, $keys:expr;)*) => {
        $($vis const $section: Section = Section {
            path: $path,
            meaning: $meaning,
            inline: sections!(@inline $($inline)?),
            keys: $keys,
        };)*
    };
    (@inline) => { false };
    (@inline inline) => { true };
}

const ORIGIN: Key = Key {
    name: "origin",
    field: "origin",
    kind: Kind::Origin,
    when_absent: Json("\"given\"", "given"),
    meaning: "where the figure comes from",
};

/// The key of a volume for how many there are of it; the device's own form repeats it.
pub(super) const COUNT: &str = "count";

const CAP_KEYS: &[Key] = keys! {
    "name": Kind::Text, Wrong, "what it is called in limits";
    "rate": Kind::Rate, Wrong, "what it lets pass";
    "covers": Kind::Word(&["all", "reads", "writes"]), Default("all"), "which operations it counts";
    "bucket" as "bucket_ns": Kind::Time, Default("0s"),
        "what it saves up while idle, as time at its rate";
    "refill_share": Kind::Number, Default("1"),
        "share of an unused rate that the bucket takes; 1: a second is saved up in a second";
    "peak": Kind::Rate, Default(""), "the rate at which the bucket can be emptied";
    also ORIGIN;
};

const CREDIT_KEYS: &[Key] = keys! {
    "name": Kind::Text, Wrong, "what it is called in limits";
    "baseline": Kind::Rate, Wrong, "what is earned, and what remains when the bucket is empty";
    "burst": Kind::Rate, Wrong,
        "the rate while credits are left, in the unit of the baseline";
    "capacity": Kind::Bucket, Wrong,
        "capacity of the bucket: a number of operations, or a size if the rates count bytes";
    "initial_share": Kind::Number, Default("1"),
        "credits at the start, as a share from 0 to 1";
    "full_again" as "full_again_ns": Kind::Time, Default(""),
        "refilled at the latest this long after it was last full, whatever was spent";
    also ORIGIN;
};

/// The keys of a fault of which exactly one is given.
pub(super) const FAULT_KINDS: [&str; 3] = ["state", "latency", "error"];

sections! {
    pub(super) DEVICE = "", "The device. It needs at least one `[[volume]]`.", keys! {
        "name": Kind::Text, Json("\"device\"", "device"), "what it is called in records";
        "layout": Kind::Layout, Default("striped 256KiB"), "how offsets fall on several volumes";
        "volume" as "volumes": Kind::Tables(&VOLUME), Wrong, "the volumes";
        "instance": Kind::Table(&INSTANCE), Default(""), "what binds the sum of the volumes";
        "fault" as "faults": Kind::Tables(&FAULT), Default(""), "what goes wrong, and when";
    };
    VOLUME = "volume", "One volume, or several equal ones.", keys! {
        "count": Kind::Count, Default("1"), "how many of it";
        "kind": Kind::Text, Json("\"volume\"", "volume"), "what it is called in limits";
        "capacity" as "capacity_bytes": Kind::Size, Wrong, "usable bytes";
        "accounting": Kind::Accounting, Default("plain"),
            "how operations and bytes are counted: one by one; split and merged into units, in sequence and from 32 KiB on; or charged in whole units";
        "queue_depth": Kind::Count, Default(""),
            "most operations in service at a time; more wait in a queue";
        "cap" as "caps": Kind::Tables(&CAP), Default(""), "its limiters";
        "credit" as "credits": Kind::Tables(&CREDIT), Default(""), "its burst buckets";
        "service": Kind::Table(&SERVICE), Default(""),
            "latency of the medium; without it nothing is predicted";
        "network": Kind::Table(&NETWORK), Default(""),
            "a network path to the volume, in addition to `service`";
    };
    INSTANCE = "instance", "What an instance grants to all its volumes together.", keys! {
        "name": Kind::Text, Json("\"instance\"", "instance"), "what it is called in limits";
        "cap" as "caps": Kind::Tables(&INSTANCE_CAP), Default(""), "limiters of the sum";
        "credit" as "credits": Kind::Tables(&INSTANCE_CREDIT), Default(""),
            "burst buckets of the sum";
    };
    CAP = "volume.cap", "A limiter.", CAP_KEYS;
    INSTANCE_CAP = "instance.cap", "A limiter of the sum; the keys of `[[volume.cap]]`.", CAP_KEYS;
    CREDIT = "volume.credit", "A burst bucket: spent by every operation or byte, filled at the baseline.", CREDIT_KEYS;
    INSTANCE_CREDIT = "instance.credit", "A burst bucket of the sum; the keys of `[[volume.credit]]`.", CREDIT_KEYS;
    SERVICE = "volume.service", "How long an operation takes once the limiters have let it pass.", keys! {
        "read": Kind::Table(&LATENCY), Wrong, "random reads";
        "write": Kind::Table(&LATENCY), Wrong, "random writes";
        "stream_read": Kind::Table(&LATENCY), Default(""),
            "a read that continues the previous one; absent: as random";
        "stream_write": Kind::Table(&LATENCY), Default(""),
            "a write that continues the previous operation";
        "interleaved_read": Kind::Table(&LATENCY), Default(""),
            "a read that continues a recent one while others came between";
        "interleaved_write": Kind::Table(&LATENCY), Default(""),
            "a write that continues a recent one while others came between";
        "spread": Kind::Table(&SPREAD), Json("{\"sigma\":0.0,\"origin\":\"given\"}", "none"),
            "how latencies scatter around their mean";
        "saturation": Kind::Table(&SATURATION), Default(""),
            "a medium that approaches its physical maximum gradually";
        "programs": Kind::Table(&PROGRAMS), Default(""),
            "flash whose reads wait behind programs; needs `saturation`";
    };
    LATENCY inline = "volume.service.read", "A mean latency, `base + per_kib · size`; every latency of a service has these keys.", keys! {
        "base" as "base_ns": Kind::Time, Wrong, "of an operation of no bytes";
        "per_kib" as "per_kib_ns": Kind::FineTime, Default("0ns"), "more for every KiB";
        also ORIGIN;
    };
    SPREAD inline = "volume.service.spread", "Scatter: lognormal.", keys! {
        "sigma": Kind::Number, Wrong, "standard deviation of the logarithm; 0: all the same";
        "tail": Kind::Table(&TAIL), Default(""), "rare slow operations";
        also ORIGIN;
    };
    TAIL inline = "volume.service.spread.tail", "Rare slow operations: a second lognormal.", keys! {
        "share": Kind::Number, Wrong, "share of the operations, 0 to 1";
        "factor": Kind::Number, Wrong, "their mean, as a multiple of the others'";
        "sigma": Kind::Number, Wrong, "standard deviation of the logarithm of theirs";
    };
    SATURATION inline = "volume.service.saturation", "What the medium can do at most.", keys! {
        "read_iops": Kind::Number, Wrong, "most reads a second";
        "write_iops": Kind::Number, Wrong, "most writes a second";
        also ORIGIN;
    };
    PROGRAMS inline = "volume.service.programs", "What is written is programmed page by page, on as many dies as reads have channels.", keys! {
        "time" as "time_ns": Kind::Time, Wrong, "how long a program holds its die";
        "page" as "page_bytes": Kind::Size, Wrong, "what one program writes";
        also ORIGIN;
    };
    NETWORK inline = "volume.network", "A network between the host and the volume.", keys! {
        "round_trip" as "round_trip_ns": Kind::Time, Wrong, "there and back together";
        also ORIGIN;
    };
    FAULT = "fault", "One thing that goes wrong: exactly one of `state`, `latency` and `error`.", keys! {
        "from" as "from_ns": Kind::Time, Wrong, "first moment";
        "until" as "until_ns": Kind::Time, Wrong, "first moment after it, or `never`";
        "volume": Kind::Count, Default(""),
            "the affected volume, counted from 0; absent: all";
        "state": Kind::Word(&["stall", "detach"]), Default(""),
            "nothing completes before `until`; or the device is gone";
        "latency": Kind::Table(&FAULT_LATENCY), Default(""),
            "a share of the operations takes longer";
        "error": Kind::Table(&FAULT_ERROR), Default(""), "a share of the operations fails";
    };
    FAULT_LATENCY inline = "fault.latency", "Slow operations.", keys! {
        "added" as "added_ns": Kind::Time, Wrong, "by so much";
        "read_percent": Kind::Number, Wrong, "share of the reads";
        "write_percent": Kind::Number, Wrong, "share of the writes, trims and flushes";
    };
    FAULT_ERROR inline = "fault.error", "Failing operations.", keys! {
        "fault": Kind::Word(&["io", "full", "detached"]), Wrong, "how they fail";
        "read_percent": Kind::Number, Wrong, "share of the reads";
        "write_percent": Kind::Number, Wrong, "share of the writes, trims and flushes";
    };
}
