//! Why a case delivered what it delivered.

use blocklab_workload::Date;
use serde::Serialize;

/// Another explanation must fit so well: it has more freedom than the first.
pub(super) const EXACT: f64 = 0.01;

/// Why a case delivered what it delivered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// As documents let one expect, within 2.5 %.
    AsExpected,
    /// As expected, but for a pause or an episode of slow operations.
    Interrupted,
    /// Its instance holds all volumes of the run that are attached to it at a limit of theirs together.
    SharedInstance,
    /// As another type of volume delivers: the one of this name.
    OtherType(String),
    /// As other instances would let pass: those of these names.
    OtherInstance(Vec<String>),
    /// As a volume of another size of this type delivers: of about this many GiB.
    OtherSize(u64),
    /// As this many of the volumes deliver together.
    FewerVolumes(u32),
    /// As the type delivers with its default settings.
    DefaultSettings,
    /// As the record's own model has it: held by this limit of the address, with this value there,
    /// which is less than the address promises.
    OtherSetting {
        /// Its name.
        limit: String,
        /// In its unit.
        recorded: f64,
        /// As the address has it.
        promised: f64,
        /// Of both: `IOPS`, `B/s`.
        unit: &'static str,
    },
    /// As the limits of that day would have it.
    AnotherDay(Date),
    /// As expected, but for a factor that confused units leave.
    UnitSlip(&'static str),
    /// More than documents promise.
    Above,
    /// Less than documents promise, and a limit was to bind.
    Below,
    /// The medium's own latency bounds it, and is one that was published of its type.
    Latency,
    /// Latency bounds it, and is shorter than any that was published of its type.
    Quicker,
    /// Latency bounds it, and is longer than any that was published of its type.
    Slower,
    /// Cannot be compared with documents: the page cache, a pace, our own processor, an unknown
    /// pattern, or a type without a contract.
    NotComparable,
}
