//! A device as plain data, which results show as JSON. What people write by hand is a device file
//! (`docs/device.md`).

use blocklab_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::{Fault, Origin};

/// What a device is: volumes, how offsets fall on them, and what holds for all of them together.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DeviceSpec {
    /// The address: `gp3:1TiB,iops=6000@r5d.xlarge`.
    pub name: String,
    /// At least one. Thirty equal ones are thirty entries.
    pub volumes: Vec<VolumeSpec>,
    /// Which volume serves an offset; without meaning for one volume.
    pub layout: Layout,
    /// What binds the sum of the volumes.
    pub instance: Option<InstanceSpec>,
    /// What goes wrong, and when.
    pub faults: Vec<FaultSpec>,
}

impl DeviceSpec {
    /// Volumes in the default layout, without an instance and without faults.
    pub fn new(name: &str, volumes: Vec<VolumeSpec>) -> Self {
        Self {
            name: name.to_owned(),
            volumes,
            ..Self::default()
        }
    }

    /// Addressable bytes. A stripe takes as much of each volume as the smallest has, in whole
    /// blocks, as Linux's LVM does; the rest of larger ones is not used.
    pub fn capacity(&self) -> Bytes {
        let sizes = self.volumes.iter().map(|volume| volume.capacity.0);
        match self.layout {
            Layout::Striped { block } if self.volumes.len() > 1 => {
                let smallest = sizes.min().unwrap_or(0);
                Bytes(smallest / block.0 * block.0 * self.volumes.len() as u64)
            }
            _ => Bytes(sizes.sum()),
        }
    }

    /// The piece of an operation that falls on one volume.
    pub(crate) fn part(&self, len: Bytes) -> Bytes {
        match self.volumes.len() {
            0 | 1 => len,
            _ => self.layout.part(len),
        }
    }
}

/// How the offsets of a device fall on its volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// One behind the other. `Device::span` gives the place of each, so that a job can be given a
    /// volume of its own, as a tool does that opens every disk by itself.
    Joined,
    /// Block by block in turn over all volumes (RAID 0). The capacity is the smallest volume's,
    /// rounded down to whole blocks, times their number.
    Striped {
        /// Bytes on one volume before the next one is used.
        #[serde(rename = "block_bytes")]
        block: Bytes,
    },
}

impl Layout {
    /// The piece of an operation that falls on one of several volumes.
    pub fn part(self, len: Bytes) -> Bytes {
        match self {
            Self::Striped { block } => block.min(len),
            Self::Joined => len,
        }
    }
}

/// Random offsets fall evenly on all volumes in both layouts; a single sequential stream uses all
/// of them only when striped. A block of 256 KiB is one whole I/O of an SSD volume.
impl Default for Layout {
    fn default() -> Self {
        Self::Striped {
            block: Bytes(256 << 10),
        }
    }
}

/// One volume or one local disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VolumeSpec {
    /// What it is called in limits and messages: `gp3`, `st1`, `local NVMe`.
    pub kind: String,
    /// Usable bytes.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    /// How the provider counts operations and bytes.
    pub accounting: Accounting,
    /// Limiters of this volume, in any order.
    pub caps: Vec<Cap>,
    /// Burst buckets of this volume.
    pub credits: Vec<Credit>,
    /// How long the medium takes. `None`: that is neither promised nor measured (`standard`), and
    /// [`crate::Device::new`] refuses it.
    pub service: Option<Service>,
    /// Most operations that it works on at a time; more wait in line. `None`: no such limit.
    pub queue_depth: Option<u32>,
    /// The network to the volume, where its time is not part of `service`.
    pub network: Option<Network>,
}

impl VolumeSpec {
    /// A volume without limiters and with an unknown medium.
    pub fn new(kind: &str, capacity: Bytes) -> Self {
        Self {
            kind: kind.to_owned(),
            capacity,
            ..Self::default()
        }
    }
}

/// The limits of the instance, which all its volumes share.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct InstanceSpec {
    /// `r5d.xlarge`.
    pub name: String,
    /// Limiters of the sum. An instance that sustains its maximum has only these.
    pub caps: Vec<Cap>,
    /// Its 30 minutes of burst, one entry for operations and one for bytes.
    pub credits: Vec<Credit>,
    /// A cache of its own in front of the volumes. `None`: they are reached without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<HostCache>,
}

impl InstanceSpec {
    /// An instance without limiters and without a cache.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

/// A cache of the host that the volumes of a device are read and written through.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostCache {
    /// Limiters of all that goes through it, hit or miss.
    pub caps: Vec<Cap>,
    /// Its burst buckets.
    pub credits: Vec<Credit>,
    /// Share of the reads that it holds, 0 to 1.
    pub hit_share: f64,
    /// Writes are done in the cache, which holds at most this many bytes that no volume has yet.
    /// `None`: they are done when the volume is done.
    #[serde(rename = "writes_back_bytes")]
    pub writes_back: Option<Bytes>,
    /// How long the cache takes for what it answers itself.
    pub latency: Latency,
}

/// How many operations and bytes an operation counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accounting {
    /// Every operation is one, its bytes are its bytes.
    #[default]
    Plain,
    /// One operation for every unit begun; sequential ones of at least [`Accounting::MERGED_FROM`]
    /// are merged up to a unit. Bytes are what was moved. EBS SSD: 256 KiB.
    Merged {
        /// Largest operation that counts as one.
        #[serde(rename = "unit_bytes")]
        unit: Bytes,
    },
    /// One operation for every unit begun, and nothing is merged. Bytes are what was moved. Azure's
    /// managed disks: 256 KiB.
    Split {
        /// Largest operation that counts as one.
        #[serde(rename = "unit_bytes")]
        unit: Bytes,
    },
    /// As `Merged`, and bytes are counted in whole units too: a random operation of any size, or a
    /// sequential one that is too small to be merged, costs a unit. EBS HDD: 1 MiB.
    WholeUnits {
        /// The unit.
        #[serde(rename = "unit_bytes")]
        unit: Bytes,
    },
}

impl Accounting {
    /// Smallest sequential operations that are merged. The vendor's guide to I/O characteristics of
    /// 2018 counts each operation of less as one; its knowledge centre says of SSD and HDD volumes that
    /// sequential operations below 32 KiB are not merged. A gp2 volume of 3,000 IOPS gave 3,070
    /// sequential reads of 4 KiB, four in flight, none merged by the guest (2017).
    pub const MERGED_FROM: Bytes = Bytes(32 << 10);

    /// The bytes that count as one operation at most; `None`: each counts as one, however long it is.
    pub(crate) const fn unit(self) -> Option<Bytes> {
        match self {
            Self::Plain => None,
            Self::Merged { unit } | Self::Split { unit } | Self::WholeUnits { unit } => Some(unit),
        }
    }

    /// Whether operations that continue one another can count as one.
    pub(crate) const fn merges(self) -> bool {
        matches!(self, Self::Merged { .. } | Self::WholeUnits { .. })
    }

    /// What an operation of `size` bytes counts as in the mean. `in_order`: each continues the one before
    /// in the same direction.
    pub fn charge(self, size: f64, in_order: bool) -> Charge {
        let merges = in_order && size >= Self::MERGED_FROM.as_f64();
        let units = |unit: Bytes| {
            let units = size / unit.as_f64();
            if merges { units } else { units.ceil() }
        };
        let (ops, bytes) = match self {
            Self::Plain => (1.0, size),
            Self::Merged { unit } => (units(unit), size),
            Self::Split { unit } => ((size / unit.as_f64()).ceil(), size),
            Self::WholeUnits { unit } => (units(unit), units(unit) * unit.as_f64()),
        };
        Charge { ops, bytes }
    }
}

/// What limiters count of an operation or of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// Operations.
    pub ops: f64,
    /// Bytes.
    pub bytes: f64,
}

/// A rate, in the unit in which it is sold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Operations, as the accounting counts them.
    Iops(f64),
    /// 2^20 bytes: volumes.
    MibPerS(f64),
    /// 10^6 bytes: instances.
    MbPerS(f64),
}

/// Which operations a limiter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// Reads, writes and trims.
    #[default]
    All,
    /// Reads only.
    Reads,
    /// Writes and trims only.
    Writes,
}

/// A limiter: a rate, and what it saves up while idle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cap {
    /// `volume throughput`.
    pub name: String,
    /// The directions that it counts.
    pub covers: Covers,
    /// The sustained rate.
    pub rate: Rate,
    /// The bucket that is full after idling, in time of its own rate; 0 paces from the first
    /// operation.
    #[serde(rename = "bucket_ns")]
    pub bucket: Nanos,
    /// Share of the unused rate that refills the bucket, above 0 and at most 1: with
    /// 1, a bucket of a second is full again after a second of rest.
    pub refill_share: f64,
    /// The rate at which the bucket can be emptied; `None`: as fast as the medium allows. Above
    /// `rate`, in the same unit.
    pub peak: Option<Rate>,
    /// Where the rate comes from.
    pub origin: Origin,
}

impl Cap {
    /// A cap on all operations, without a bucket.
    pub fn new(name: &str, rate: Rate, origin: Origin) -> Self {
        Self {
            name: name.to_owned(),
            covers: Covers::All,
            rate,
            bucket: Nanos::ZERO,
            refill_share: 1.0,
            peak: None,
            origin,
        }
    }
}

/// A burst bucket: earns at the baseline, is spent by every operation or byte, and while it holds
/// something the burst rate is allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Credit {
    /// `burst credits`.
    pub name: String,
    /// Earned, and what remains when the bucket is empty.
    pub baseline: Rate,
    /// Allowed while something is left. Same unit as the baseline and above it.
    pub burst: Rate,
    /// What the bucket holds at most: operations, or bytes when the rates are byte rates.
    pub capacity: f64,
    /// What it holds at the start, as a share of `capacity` from 0 to 1.
    pub initial_share: f64,
    /// The longest time from one moment at which the bucket is full to the next, whatever was spent:
    /// "at least once in 24 hours". `None`: it fills only by what is earned.
    #[serde(rename = "full_again_ns")]
    pub full_again: Option<Nanos>,
    /// Where the figures come from.
    pub origin: Origin,
}

/// The unit of a burst bucket's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreditUnit {
    /// Operations, as the accounting counts them.
    Operations,
    /// Bytes.
    Bytes,
}

impl CreditUnit {
    /// The word after a number.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Bytes => "bytes",
        }
    }
}

impl Credit {
    pub(crate) const fn unit(&self) -> CreditUnit {
        match self.baseline {
            Rate::Iops(_) => CreditUnit::Operations,
            Rate::MibPerS(_) | Rate::MbPerS(_) => CreditUnit::Bytes,
        }
    }
}

/// How full a burst bucket is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreditBalance {
    /// Whose, and which.
    pub name: String,
    /// In its unit.
    pub left: f64,
    /// Its content when it is full.
    pub capacity: f64,
    /// The unit of its content.
    pub unit: CreditUnit,
}

/// Mean time of one operation: `base + per_kib · size`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    /// Time of an operation of no bytes, in nanoseconds.
    #[serde(rename = "base_ns")]
    pub base: Nanos,
    /// More for every KiB, in nanoseconds.
    #[serde(rename = "per_kib_ns")]
    pub per_kib_ns: f64,
    /// Evidence.
    pub origin: Origin,
}

/// How latencies scatter around their mean: lognormal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Standard deviation of the logarithm; 0: all the same. Median = mean · exp(-sigma²/2).
    pub sigma: f64,
    /// Rare slow operations.
    pub tail: Option<Tail>,
    /// Evidence.
    pub origin: Origin,
}

impl Spread {
    /// No scatter: an operation always takes its mean.
    pub const NONE: Self = Self {
        sigma: 0.0,
        tail: None,
        origin: Origin::Given,
    };
}

/// Rare slow operations: a second lognormal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tail {
    /// Share of the operations, 0 to 1.
    pub share: f64,
    /// Their mean, as a multiple of the mean of the others.
    pub factor: f64,
    /// Standard deviation of the logarithm of theirs.
    pub sigma: f64,
}

/// The most that a medium can do, which it comes near gradually.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saturation {
    /// Most reads a second.
    pub read_iops: f64,
    /// Most writes a second.
    pub write_iops: f64,
    /// Evidence.
    pub origin: Origin,
}

/// Flash that programs what was written, page by page, on as many dies as reads have channels. A read
/// waits for its channel and for the program under way on its die, whichever takes longer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Programs {
    /// How long a program holds its die.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// What one program writes.
    #[serde(rename = "page_bytes")]
    pub page: Bytes,
    /// Evidence.
    pub origin: Origin,
}

/// The medium: how long an operation takes once the limiters have let it pass. Means include
/// whatever lies between host and medium (network, controller) unless `network` is given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Service {
    /// Random reads.
    pub read: Latency,
    /// Random writes.
    pub write: Latency,
    /// A read that continues the one before it (prefetch, or its contrary). `None`: as random.
    pub stream_read: Option<Latency>,
    /// A write that continues the operation before it. `None`: as random.
    pub stream_write: Option<Latency>,
    /// A read that continues a recent one while other operations came between. `None`: as random.
    /// Where `stream_read` takes less, the first three operations that come between leave a part of
    /// that.
    pub interleaved_read: Option<Latency>,
    /// A write that continues a recent one while others came between. `None`: as random.
    pub interleaved_write: Option<Latency>,
    /// Scatter of reads and writes.
    pub spread: Spread,
    /// Physical maximum. `None`: only limiters bind (cloud volumes).
    pub saturation: Option<Saturation>,
    /// Reads wait behind what is programmed. `None`: writes do not disturb them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<Programs>,
}

/// A network between the host and the volume.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// There and back together, half before and half after.
    #[serde(rename = "round_trip_ns")]
    pub round_trip: Nanos,
    /// Evidence.
    pub origin: Origin,
}

/// One thing that goes wrong between two moments of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultSpec {
    /// First moment.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// First moment after it. [`Nanos::MAX`]: never ends.
    #[serde(rename = "until_ns")]
    pub until: Nanos,
    /// Index of the one volume that it hits; `None`: all.
    pub volume: Option<usize>,
    /// What happens.
    pub kind: FaultKind,
}

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A share of the operations takes longer.
    Latency {
        /// By this much.
        #[serde(rename = "added_ns")]
        added: Nanos,
        /// Share of the reads in per cent.
        read_percent: f64,
        /// Share of the writes, trims and flushes in per cent.
        write_percent: f64,
    },
    /// A share of the operations fails.
    Error {
        /// How.
        fault: Fault,
        /// Share of the reads in per cent.
        read_percent: f64,
        /// Share of the writes, trims and flushes in per cent.
        write_percent: f64,
    },
    /// Nothing leaves before `until`. With an `until` of [`Nanos::MAX`] operations hang for ever.
    Stall,
    /// Operations that arrive fail at once; those in flight at `from` fail at `from`.
    Detach,
}
