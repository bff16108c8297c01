//! The names of limits: in the device model, in Records, in what is sold. A limit that a load has met and
//! one that was bought are the same if these names are equal.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Covers, Origin};

/// One limit: of a device at work, or of what may be bought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Whose it is, and what it holds back.
    #[serde(flatten)]
    pub name: LimitName,
    /// In `unit`; of equal volumes, what each of them has.
    pub value: f64,
    /// The unit of the value.
    pub unit: LimitUnit,
    /// Where it comes from.
    pub origin: Origin,
}

impl Limit {
    /// Whether it bounds what may be bought, and holds back no operation.
    pub const fn is_bound(&self) -> bool {
        matches!(self.name.kind, LimitKind::Bound { .. })
    }

    /// How many equal volumes have it, so that it holds this many times for all of them together.
    pub fn times(&self) -> f64 {
        f64::from(self.name.volumes.unwrap_or(1))
    }
}

/// What distinguishes one limit of a device from another. [`Display`](fmt::Display) makes a text for
/// people of it, `30 x gp2: burst credits (baseline)`, which no program reads back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitName {
    /// The kind of volume, or the instance: `gp2`, `r5d.xlarge`.
    pub owner: String,
    /// How many equal volumes have it, each for itself. `None`: it binds the sum of all volumes, or
    /// it is a bound.
    pub volumes: Option<u32>,
    /// Which limit of its owner it is.
    #[serde(flatten)]
    pub kind: LimitKind,
}

/// What a limit restricts, and in which state of its bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LimitKind {
    /// The sustained rate of a cap.
    Rate {
        /// The name of the cap: `volume IOPS`.
        limiter: String,
        /// The operations that it counts.
        covers: Covers,
    },
    /// The rate at which the bucket of a cap can be emptied.
    Peak {
        /// The name of the cap.
        limiter: String,
        /// The operations that it counts.
        covers: Covers,
    },
    /// What burst credits leave when they are spent.
    Baseline {
        /// The name of the credits: `burst credits`.
        limiter: String,
    },
    /// What burst credits allow while there are some.
    Burst {
        /// The name of the credits.
        limiter: String,
    },
    /// How many burst credits can be saved up.
    Bucket {
        /// The name of the credits.
        limiter: String,
    },
    /// How long an operation of no bytes takes.
    Latency {
        /// Which operation.
        operation: Operation,
    },
    /// How much longer it takes for every KiB.
    LatencyPerKib {
        /// Which operation.
        operation: Operation,
    },
    /// The most that the medium can do.
    PhysicalMaximum {
        /// The operations that it counts.
        covers: Covers,
    },
    /// Operations in service at a time; more wait in a queue.
    QueueDepth,
    /// What may be bought at most, or at least.
    Bound {
        /// In the words of the document: `max IOPS`.
        what: String,
    },
}

/// An operation by its direction and its place after the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A random read.
    Read,
    /// A random write.
    Write,
    /// A read that continues the one before it.
    SequentialRead,
    /// A write that continues the operation before it.
    SequentialWrite,
    /// A read that continues a recent one while others came between.
    InterleavedRead,
    /// A write that continues a recent one while others came between.
    InterleavedWrite,
}

/// The table of units: variant, the text behind a number, which is its word in JSON too, and what it
/// counts.
macro_rules! units {
    ($($variant:ident $text:literal $meaning:literal;)*) => {
        /// The unit of a limit's value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum LimitUnit {
            $(
                #[doc = $meaning]
                #[serde(rename = $text)]
                $variant,
            )*
        }

        impl LimitUnit {
            /// All of them.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// The text after a number.
            pub const fn text(self) -> &'static str {
                [$($text),*][self as usize]
            }
        }
    };
}

units! {
    Iops "IOPS" "Operations a second.";
    MibPerS "MiB/s" "2^20 bytes a second.";
    MbPerS "MB/s" "10^6 bytes a second.";
    Operations "operations" "Operations.";
    Bytes "bytes" "Bytes.";
    Micros "µs" "Microseconds.";
    MicrosPerKib "µs/KiB" "Microseconds for every 1,024 bytes.";
    Gib "GiB" "2^30 bytes.";
    Gb "GB" "10^9 bytes.";
    Volumes "volumes" "Volumes.";
    IopsPerGib "IOPS/GiB" "Operations a second for every 2^30 bytes of the volume.";
    IopsOfOneMib "IOPS of 1 MiB" "Operations of 2^20 bytes a second.";
    IoCredits "I/O credits" "Operations that a bucket holds, in the vendor's words.";
    MibPerSPerTib "MiB/s per TiB" "2^20 bytes a second for every 2^40 bytes of the volume.";
    MibPerSPerIops "MiB/s per IOPS" "2^20 bytes a second for every operation a second.";
    MbPerSPerIops "MB/s per IOPS" "10^6 bytes a second for every operation a second.";
    MibPerSPerGib "MiB/s per GiB" "2^20 bytes a second for every 2^30 bytes of the volume.";
    IopsPerMibPerS "IOPS per MiB/s" "Operations a second for every 2^20 bytes a second.";
    Seconds "s" "Seconds.";
    KibPerSPerIops "KiB/s per IOPS" "2^10 bytes a second for every operation a second.";
    TibPerTib "TiB/TiB" "Bytes that a bucket holds for every byte of the volume.";
}

impl LimitUnit {
    /// Operations or bytes a second for each of this unit; `None` of what is no rate.
    pub const fn per_second(self) -> Option<f64> {
        match self {
            Self::Iops => Some(1.0),
            Self::MibPerS => Some(1_048_576.0),
            Self::MbPerS => Some(1e6),
            _ => None,
        }
    }
}

impl fmt::Display for LimitUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Operation {
    /// The name in words: `sequential read`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::InterleavedRead => "interleaved sequential read",
            Self::InterleavedWrite => "interleaved sequential write",
        }
    }
}

impl Covers {
    const fn suffix(self) -> &'static str {
        ["", " (reads)", " (writes)"][self as usize]
    }
}

impl LimitKind {
    /// The operations that it counts.
    pub const fn covers(&self) -> Covers {
        match self {
            Self::Rate { covers, .. }
            | Self::Peak { covers, .. }
            | Self::PhysicalMaximum { covers } => *covers,
            _ => Covers::All,
        }
    }
}

/// `burst credits (baseline)`
impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { limiter, covers } => write!(f, "{limiter}{}", covers.suffix()),
            Self::Peak { limiter, covers } => write!(f, "{limiter}{} (peak)", covers.suffix()),
            Self::Baseline { limiter } => write!(f, "{limiter} (baseline)"),
            Self::Burst { limiter } => write!(f, "{limiter} (burst)"),
            Self::Bucket { limiter } => write!(f, "{limiter} (bucket)"),
            Self::Latency { operation } => write!(f, "{} latency", operation.text()),
            Self::LatencyPerKib { operation } => write!(f, "{} latency per KiB", operation.text()),
            Self::PhysicalMaximum { covers } => {
                write!(f, "physical maximum{}", covers.suffix())
            }
            Self::QueueDepth => f.write_str("queue depth"),
            Self::Bound { what } => f.write_str(what),
        }
    }
}

/// `gp3: volume throughput`, `30 x gp2: burst credits (baseline)`
impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_owner(&self.kind))
    }
}

impl LimitName {
    /// Something else of the same owner, for people: `30 x gp2: burst credits`.
    pub fn with_owner(&self, what: impl fmt::Display) -> String {
        format!("{}: {what}", self.owner())
    }

    /// Who has the limit.
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner {
            name: &self.owner,
            volumes: self.volumes,
        }
    }
}

/// Who has a limit: equal volumes, or the instance.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) name: &'a str,
    pub(crate) volumes: Option<u32>,
}

impl Owner<'_> {
    pub(crate) fn name_of(self, kind: LimitKind) -> LimitName {
        LimitName {
            owner: self.name.to_owned(),
            volumes: self.volumes,
            kind,
        }
    }

    /// A limit of this owner.
    pub(crate) fn limit(
        self,
        kind: LimitKind,
        value: f64,
        unit: LimitUnit,
        origin: &Origin,
    ) -> Limit {
        Limit {
            name: self.name_of(kind),
            value,
            unit,
            origin: origin.clone(),
        }
    }
}

/// `gp3`, `30 x gp2`
impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(count) = self.volumes.filter(|count| *count > 1) {
            write!(f, "{count} x ")?;
        }
        f.write_str(self.name)
    }
}

/// What holds a steady load back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// Too few operations are in flight to reach any limit.
    Latency,
    /// This limit.
    Limit(LimitName),
}

impl Binding {
    /// The kind of the limit; `None` of a latency.
    pub const fn kind(&self) -> Option<&LimitKind> {
        match self {
            Self::Latency => None,
            Self::Limit(name) => Some(&name.kind),
        }
    }

    /// Whether it is this limit.
    pub fn is(&self, limit: &LimitName) -> bool {
        matches!(self, Self::Limit(name) if name == limit)
    }
}

/// `latency`, or the limit.
impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency => f.write_str("latency"),
            Self::Limit(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records hold the text of a unit, and tables of vendors are read by it.
    #[test]
    fn a_unit_is_stored_as_it_is_shown() {
        for unit in LimitUnit::ALL {
            let stored = serde_json::to_value(unit).expect("a text");
            assert_eq!(stored, unit.text());
        }
    }
}
