//! Every key of a device file: one row each.
//!
//! ```text
//!   "bucket" bucket: Nanos, or(Nanos::ZERO, "0s"), "what it saves up …";
//!    key     field   form   when it is absent      meaning
//! ```
//!
//! The form is the type of the field, or another way to write it.

use blocklab_device::{
    Accounting, Cap, Covers, Credit, DeviceSpec, Fault, FaultKind, FaultSpec, HostCache,
    InstanceSpec, Latency, Layout, Network, Origin, Programs, Rate, Saturation, Service, Spread,
    Tail, VolumeSpec,
};
use blocklab_syntax::toml_tree::Read;
use blocklab_units::{Bytes, Nanos};

use super::fault::{AddedLatency, InjectedError, WrittenFault};
use super::form::{Bucket, FineTime, State};
use super::table::{COUNT, Fields, Form, Row, Shape, Table, Writer};

/// A part of a device a table: its shape, its path, its meaning, and its keys.
macro_rules! tables {
    ($($table:ident $(($of:ident::$variant:ident))? $shape:ident $path:literal, $meaning:literal {
        $($name:literal $field:ident: $form:ty, $absent:ident $(($default:expr, $words:literal))?, $said:literal;)*
    })*) => {$(
        impl Table for $table {
            type Of = named!(type $table $($of)?);
            const PATH: &'static str = $path;
            const MEANING: &'static str = $meaning;
            const SHAPE: Shape = Shape::$shape;

            fn rows() -> Vec<Row> {
                let count = Row::new::<u32>(COUNT, "1", "how many of it");
                let count = (Self::SHAPE == Shape::Counted).then_some(count);
                let own = [$(Row::new::<$form>($name, absent!(words $absent $($words)?), $said)),*];
                count.into_iter().chain(own).collect()
            }

            fn read(fields: &Fields<'_>) -> Read<Self::Of> {
                $(let $field = fields.get::<$form>($name, $said, absent!(value $absent $($default)?))?;)*
                Ok(named!(fields $table $($of::$variant)? { $($field),* }))
            }

            // A variant may be another one; a struct is always itself.
            #[allow(irrefutable_let_patterns)]
            fn write(value: &Self::Of, out: &mut Writer) {
                if let named!(fields $table $($of::$variant)? { $($field),* }) = value {
                    $(<$form as Form>::put($field, $name, out);)*
                }
            }
        }
    )*};
}

/// A struct, or a variant of an enum.
macro_rules! named {
    (type $type:ident) => { Self };
    (type $type:ident $of:ident) => { $of };
    (fields $type:ident { $($field:ident),* }) => { $type { $($field),* } };
    (fields $type:ident $of:ident::$variant:ident { $($field:ident),* }) => {
        $of::$variant { $($field),* }
    };
}

/// What holds when a key is absent, and what the guide says of it.
macro_rules! absent {
    (value needed) => {
        None
    };
    (value optional) => {
        Some(Default::default())
    };
    (value or $default:expr) => {
        Some($default)
    };
    (words needed) => {
        "an error"
    };
    (words optional) => {
        "nothing"
    };
    (words or $words:literal) => {
        $words
    };
}

tables! {
    DeviceSpec Section "", "The device. It needs at least one `[[volume]]`." {
        "name" name: String, or("device".to_owned(), "device"), "what it is called in records";
        "layout" layout: Layout, or(Layout::default(), "striped 256KiB"),
            "how offsets fall on several volumes";
        "volume" volumes: Vec<VolumeSpec>, needed, "the volumes";
        "instance" instance: Option<InstanceSpec>, optional, "what binds the sum of the volumes";
        "fault" faults: Vec<FaultSpec>, optional, "what goes wrong, and when";
    }
    VolumeSpec Counted "volume", "One volume, or several equal ones." {
        "kind" kind: String, or("volume".to_owned(), "volume"), "what it is called in limits";
        "capacity" capacity: Bytes, needed, "usable bytes";
        "accounting" accounting: Accounting, or(Accounting::Plain, "plain"),
            "how operations and bytes are counted: one by one; split and merged into units, in sequence and from 32 KiB on; or charged in whole units";
        "queue_depth" queue_depth: Option<u32>, optional,
            "most operations in service at a time; more wait in a queue";
        "cap" caps: Vec<Cap>, optional, "its limiters";
        "credit" credits: Vec<Credit>, optional, "its burst buckets";
        "service" service: Option<Service>, optional,
            "latency of the medium; without it nothing is predicted";
        "network" network: Option<Network>, optional,
            "a network path to the volume, in addition to `service`";
    }
    InstanceSpec Section "instance", "What an instance grants to all its volumes together." {
        "name" name: String, or("instance".to_owned(), "instance"), "what it is called in limits";
        "cap" caps: Vec<Cap>, optional, "limiters of the sum, headed `[[instance.cap]]`";
        "credit" credits: Vec<Credit>, optional, "burst buckets of the sum, headed `[[instance.credit]]`";
        "cache" cache: Option<HostCache>, optional,
            "a cache of the host, through which the volumes are read and written";
    }
    Cap Section "volume.cap", "A limiter." {
        "name" name: String, needed, "what it is called in limits";
        "rate" rate: Rate, needed, "what it lets pass";
        "covers" covers: Covers, or(Covers::All, "all"), "which operations it counts";
        "bucket" bucket: Nanos, or(Nanos::ZERO, "0s"),
            "what it saves up while idle, as time at its rate";
        "refill_share" refill_share: f64, or(1.0, "1"),
            "share of an unused rate that the bucket takes; 1: a second is saved up in a second";
        "peak" peak: Option<Rate>, optional, "the rate at which the bucket can be emptied";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    Credit Section "volume.credit", "A burst bucket: spent by every operation or byte, filled at the baseline." {
        "name" name: String, needed, "what it is called in limits";
        "baseline" baseline: Rate, needed,
            "what is earned, and what remains when the bucket is empty";
        "burst" burst: Rate, needed, "the rate while credits are left, in the unit of the baseline";
        "capacity" capacity: Bucket, needed,
            "capacity of the bucket: a number of operations, or a size if the rates count bytes";
        "initial_share" initial_share: f64, or(1.0, "1"),
            "credits at the start, as a share from 0 to 1";
        "full_again" full_again: Option<Nanos>, optional,
            "refilled at the latest this long after it was last full, whatever was spent";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    Service Section "volume.service", "How long an operation takes once the limiters have let it pass." {
        "read" read: Latency, needed, "random reads";
        "write" write: Latency, needed, "random writes";
        "stream_read" stream_read: Option<Latency>, optional,
            "a read that continues the previous one; absent: as random";
        "stream_write" stream_write: Option<Latency>, optional,
            "a write that continues the previous operation";
        "interleaved_read" interleaved_read: Option<Latency>, optional,
            "a read that continues a recent one while others came between";
        "interleaved_write" interleaved_write: Option<Latency>, optional,
            "a write that continues a recent one while others came between";
        "spread" spread: Spread, or(Spread::NONE, "none"),
            "how latencies scatter around their mean";
        "saturation" saturation: Option<Saturation>, optional,
            "a medium that approaches its physical maximum gradually";
        "programs" programs: Option<Programs>, optional,
            "flash whose reads wait behind programs; needs `saturation`";
    }
    Latency Inline "volume.service.read", "A mean latency, `base + per_kib · size`; every latency of a service has these keys." {
        "base" base: Nanos, needed, "of an operation of no bytes";
        "per_kib" per_kib_ns: FineTime, or(0.0, "0ns"), "more for every KiB";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    HostCache Section "instance.cache", "A cache of the host in front of the volumes. A read that it holds passes neither the volumes nor the limits of the instance." {
        "cap" caps: Vec<Cap>, optional,
            "limiters of all that goes through it, headed `[[instance.cache.cap]]`";
        "credit" credits: Vec<Credit>, optional,
            "its burst buckets, headed `[[instance.cache.credit]]`";
        "hit_share" hit_share: f64, needed, "share of the reads that it holds, 0 to 1";
        "writes_back" writes_back: Option<Bytes>, optional,
            "most bytes that are written and that no volume has yet; without it a write is done when the volume is done";
        "latency" latency: Latency, needed, "how long it takes for what it answers itself";
    }
    Spread Inline "volume.service.spread", "Scatter: lognormal." {
        "sigma" sigma: f64, needed, "standard deviation of the logarithm; 0: all the same";
        "tail" tail: Option<Tail>, optional, "rare slow operations";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    Tail Inline "volume.service.spread.tail", "Rare slow operations: a second lognormal." {
        "share" share: f64, needed, "share of the operations, 0 to 1";
        "factor" factor: f64, needed, "their mean, as a multiple of the others'";
        "sigma" sigma: f64, needed, "standard deviation of the logarithm of theirs";
    }
    Saturation Inline "volume.service.saturation", "What the medium can do at most." {
        "read_iops" read_iops: f64, needed, "most reads a second";
        "write_iops" write_iops: f64, needed, "most writes a second";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    Programs Inline "volume.service.programs", "What is written is programmed page by page, on as many dies as reads have channels." {
        "time" time: Nanos, needed, "how long a program holds its die";
        "page" page: Bytes, needed, "what one program writes";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    Network Inline "volume.network", "A network between the host and the volume." {
        "round_trip" round_trip: Nanos, needed, "there and back together";
        "origin" origin: Origin, or(Origin::Given, "given"), "where the figure comes from";
    }
    WrittenFault Section "fault", "One thing that goes wrong: exactly one of `state`, `latency` and `error`." {
        "from" from: Nanos, needed, "first moment";
        "until" until: Nanos, needed, "first moment after it, or `never`";
        "volume" volume: Option<usize>, optional,
            "the affected volume, counted from 0; absent: all";
        "state" state: Option<State>, optional,
            "nothing completes before `until`; or the device is gone";
        "latency" latency: Option<AddedLatency>, optional, "a share of the operations takes longer";
        "error" error: Option<InjectedError>, optional, "a share of the operations fails";
    }
    AddedLatency(FaultKind::Latency) Inline "fault.latency", "Slow operations." {
        "added" added: Nanos, needed, "by so much";
        "read_percent" read_percent: f64, needed, "share of the reads";
        "write_percent" write_percent: f64, needed, "share of the writes, trims and flushes";
    }
    InjectedError(FaultKind::Error) Inline "fault.error", "Failing operations." {
        "fault" fault: Fault, needed, "how they fail";
        "read_percent" read_percent: f64, needed, "share of the reads";
        "write_percent" write_percent: f64, needed, "share of the writes, trims and flushes";
    }
}
