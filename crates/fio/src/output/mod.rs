//! What a run left, as fio 3.33 prints it.

mod amount;
mod eta;
mod figures;
mod flow;
mod idleness;
mod json;
mod normal;
mod percentiles;
mod steady;
mod style;
mod terse;
mod tree;

pub use eta::{eta_line, eta_rates};
pub use idleness::Idleness;
pub use json::json;
pub use normal::{capped, header, normal};
pub use style::Style;
pub use terse::terse;

/// What the report says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// Since 1970.
    pub unix_ms: u64,
    /// `Sat Nov 21 15:38:51 2026`, local time.
    pub text: String,
    /// Of this process.
    pub pid: u32,
    /// Since the run began.
    pub elapsed_s: u64,
    /// How idle the processors were, where that was asked.
    pub idleness: Option<Idleness>,
}

/// The devices below the targets, over all measurements, each with the time of those in ms.
fn figures_of_disks(
    measurements: &[blocklab_record::Measurement],
) -> Vec<(blocklab_record::DiskUse, u64)> {
    let elapsed_ms = measurements.iter().map(|m| m.elapsed_ns / 1_000_000).sum();
    let mut disks: Vec<(blocklab_record::DiskUse, u64)> = Vec::new();
    for used in measurements.iter().flat_map(|m| &m.disks) {
        match disks.iter_mut().find(|(known, _)| known.name == used.name) {
            Some((known, _)) => add(known, used),
            None => disks.push((used.clone(), elapsed_ms)),
        }
    }
    disks
}

fn add(sum: &mut blocklab_record::DiskUse, more: &blocklab_record::DiskUse) {
    sum.read_ios += more.read_ios;
    sum.write_ios += more.write_ios;
    sum.read_merges += more.read_merges;
    sum.write_merges += more.write_merges;
    sum.read_bytes += more.read_bytes;
    sum.write_bytes += more.write_bytes;
    sum.read_ticks_ms += more.read_ticks_ms;
    sum.write_ticks_ms += more.write_ticks_ms;
    sum.queue_ms += more.queue_ms;
    sum.busy_ms += more.busy_ms;
}
