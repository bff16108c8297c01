//! The reasons for which a case delivers more or less than expected.

use blocklab_workload::Date;
use serde::Serialize;

/// How closely another device or another day must match a rate, as a share of it. This is stricter
/// than the tolerance of the expected rate: among many candidates, one is easily near by chance.
pub(super) const EXACT: f64 = 0.01;

/// Why a case delivered what it delivered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The expected rate, within 2.5 %.
    AsExpected,
    /// The expected rate, apart from a pause or an episode of slow operations.
    Interrupted,
    /// All volumes of the run on the same instance together run at a limit of that instance.
    SharedInstance,
    /// The rate of another type of volume, which is named.
    OtherType(String),
    /// The rate that other instances let pass; these are their names.
    OtherInstance(Vec<String>),
    /// The rate of a volume of this type with another size, about this many GiB.
    OtherSize(u64),
    /// The rate of this many of the volumes together.
    FewerVolumes(u32),
    /// The rate of the type with its default settings.
    DefaultSettings,
    /// A limit that the record's own model sets lower than the address does held the case back.
    OtherSetting {
        /// Name of the limit.
        limit: String,
        /// Its value in the record, in `unit`.
        recorded: f64,
        /// Its value by the address, in `unit`.
        promised: f64,
        /// Unit of both values: `IOPS`, `B/s`.
        unit: &'static str,
    },
    /// The rate by the limits of that day.
    AnotherDay(Date),
    /// The expected rate, apart from the factor that a mix-up of these units gives.
    UnitSlip(&'static str),
    /// More than documents promise.
    Above,
    /// Less than documents promise, although a limit was expected to bind.
    Below,
    /// The medium's own latency bounds it, and lies in the range that was published for its type.
    Latency,
    /// Latency bounds it, and is shorter than any that was published for its type.
    Quicker,
    /// Latency bounds it, and is longer than any that was published for its type.
    Slower,
    /// Latency bounds it, and is many times that of the model, of a type of which none is published.
    SlowerThanModel,
    /// The rate cannot be compared with documents; [`super::CaseCheck::obstacle`] says why.
    NotComparable,
}
