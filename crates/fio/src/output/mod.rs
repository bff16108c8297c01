//! The results of a run, printed as fio 3.33 prints them.

mod amount;
mod clients;
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

use std::collections::BTreeMap;

use blocklab_record::{DiskUse, Measurement};

use super::plan::Prepared;

pub use clients::{ClientResult, json_of_clients, normal_of_clients};
pub use eta::{eta_line, eta_rates};
pub use idleness::Idleness;
pub use json::json;
pub use normal::{capped, header, normal};
pub use style::Style;
pub use terse::terse;

/// The facts about the report itself: when and by which process it was made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// Since 1970.
    pub unix_ms: u64,
    /// `Sat Nov 21 15:38:51 2026`, local time.
    pub text: String,
    /// The number of this process.
    pub pid: u32,
    /// Since the run began.
    pub elapsed_s: u64,
    /// When the jobs of these names began, in ms of the clocks that they name.
    pub starts: BTreeMap<String, u64>,
    /// How idle the processors were, where that was requested.
    pub idleness: Option<Idleness>,
}

impl Moment {
    /// Whether an option of a later fio was given, so that its keys are expected, too.
    fn is_of_later_fio(&self) -> bool {
        !self.starts.is_empty()
    }
}

/// A device below the targets.
struct Disk {
    /// Over all measurements.
    used: DiskUse,
    /// Share of their time in which it was busy, in per cent.
    util: f64,
}

/// The devices below the targets; none if no job has them reported.
fn disks(measurements: &[Measurement], prepared: &Prepared) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    if !prepared.clones.iter().any(|clone| clone.style.disks) {
        return disks;
    }
    for used in measurements.iter().flat_map(|m| &m.disks) {
        match disks.iter_mut().find(|disk| disk.used.name == used.name) {
            Some(disk) => add(&mut disk.used, used),
            None => disks.push(Disk {
                used: used.clone(),
                util: 0.0,
            }),
        }
    }
    let elapsed_ms: u64 = measurements.iter().map(|m| m.elapsed_ns / 1_000_000).sum();
    for disk in &mut disks {
        let busy = disk.used.busy_ms as f64 * 100.0;
        disk.util = (busy / elapsed_ms.max(1) as f64).min(100.0);
    }
    disks
}

fn add(sum: &mut DiskUse, more: &DiskUse) {
    sum.read_bytes += more.read_bytes;
    sum.write_bytes += more.write_bytes;
    sum.read_ios += more.read_ios;
    sum.write_ios += more.write_ios;
    sum.read_merges += more.read_merges;
    sum.write_merges += more.write_merges;
    sum.read_ticks_ms += more.read_ticks_ms;
    sum.write_ticks_ms += more.write_ticks_ms;
    sum.queue_ms += more.queue_ms;
    sum.busy_ms += more.busy_ms;
}
