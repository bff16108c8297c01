//! Why no model can be made, and what to measure for one.

/// Records from which no device can be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotCalibrate {
    /// No run was given.
    #[error("no run was given; {MEASURE}")]
    NoRun,
    /// A run was named twice.
    #[error("run {run} is named twice: its passes would count twice; name each run once")]
    Repeated {
        /// The run.
        run: String,
    },
    /// The run broke off.
    #[error("run {run} failed ({why}): its figures are no base for a model; {MEASURE}")]
    Failed {
        /// The run.
        run: String,
        /// The error that ended it.
        why: String,
    },
    /// The device that was fitted fails under the loads.
    #[error(
        "no model carries the loads of these runs: the nearest failed when it was simulated ({why}). \
         Longer passes tell limits and latencies better apart: `blocklab run calibrate --runtime 10s`"
    )]
    ModelFailed {
        /// The error that ended the simulation.
        why: String,
    },
    /// The figures are a model's.
    #[error(
        "run {run} was {how}, not measured: a model of a model shows nothing of a disk \
         (--allow-simulated makes one all the same)"
    )]
    Modelled {
        /// The run.
        run: String,
        /// `simulated` or `emulated`.
        how: &'static str,
    },
    /// A run has several targets, or two runs have different ones.
    #[error("{first} and {second} are different targets; a model is of one. Name runs of one disk")]
    Targets {
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
    /// Not one cell can be used.
    #[error("none of {cells} can be used: {reasons}; {MEASURE}")]
    NothingUsable {
        /// `1 cell`, `12 cells`.
        cells: String,
        /// Each reason once, with the number of cells.
        reasons: String,
    },
    /// Without a queue of one, latency and waiting cannot be separated.
    #[error(
        "no {pattern} {direction} cell of depth 1 was measured (depths: {depths}): the latency of \
         a single operation is not known; measure depth 1 at two block sizes or more, such as \
         4KiB and 64KiB. {MEASURE}"
    )]
    NoDepthOne {
        /// `random` or `sequential`.
        pattern: &'static str,
        /// `read` or `write`.
        direction: &'static str,
        /// The depths that were measured.
        depths: String,
    },
    /// No candidate is a device.
    #[error(
        "the {direction} figures are none that a device can have (a latency of 1 ns to 60 s, at \
         least one operation a second); look at them with `blocklab show`. {MEASURE}"
    )]
    OutOfReach {
        /// `read` or `write`.
        direction: &'static str,
    },
    /// The processor was the limit of every cell that could show a latency.
    #[error(
        "in every random {direction} cell of depth 1 a thread of blocklab used a whole processor, so \
         that none shows how long the disk takes: leave out polling, or measure on a faster processor. \
         {MEASURE}"
    )]
    ProcessorBound {
        /// `read` or `write`.
        direction: &'static str,
    },
    /// Without two sizes, base and slope cannot be separated.
    #[error(
        "{pattern} {direction} cells of depth 1 have only one block size ({size}): what an \
         operation costs and what a KiB costs cannot be separated; measure depth 1 at another \
         size too, such as {other}. {MEASURE}"
    )]
    OneSize {
        /// `random` or `sequential`.
        pattern: &'static str,
        /// `read` or `write`.
        direction: &'static str,
        /// The size.
        size: String,
        /// A size that would help.
        other: &'static str,
    },
}

/// The way out of most refusals.
const MEASURE: &str = "`blocklab run calibrate --target DIR` measures everything that is needed";
