//! In: a volume whose limits go by all volumes of its type on a machine. Out: one budget for all of
//! them, which is put on the machine and not on the volume.
//!
//! Google's Persistent Disk, as its own tool computes it (gcpdiag, 2024-08): this many operations and
//! MiB/s per GiB of all disks of a type on a machine, and a base that counts once. Reads and writes
//! have budgets of their own.

use blocklab_device::{Cap, Covers, InstanceSpec, Rate};

use super::Terms;
use crate::draft::Draft;
use crate::draft::cap;
use crate::figure::Figure;

impl Terms<'_> {
    /// GiB of all volumes of the type that the address names.
    fn sum(&self, draft: &Draft) -> f64 {
        self.limits.gib() * draft.volumes as f64
    }

    /// Limits the operations of all disks of a type on a machine together; returns the lower of
    /// both directions.
    pub(super) fn iops_by_sum(&self, draft: &mut Draft) -> f64 {
        let gib = self.sum(draft);
        let base = self.limits.value("base_iops_per_vm");
        let sides = [
            (Covers::Reads, "read_iops_per_gib", "floor_read_iops"),
            (Covers::Writes, "write_iops_per_gib", "floor_write_iops"),
        ];
        let mut least = f64::INFINITY;
        for (covers, per_gib, floor) in sides {
            let per = self.limits.need(per_gib);
            let (iops, from) = self.floored(base + per.value * gib, floor, per);
            least = least.min(iops);
            let cap = Cap {
                covers,
                ..cap(&self.by_size("IOPS"), Rate::Iops(iops), &from.origin)
            };
            Self::all_of_type(draft).caps.push(cap);
        }
        draft.notes.push(
            "the limits by size are those of all disks of this type on a machine together: name \
             several of them as one address, such as 2x…"
                .to_owned()
                .into(),
        );
        least
    }

    /// Limits the bytes of all disks of a type on a machine together.
    pub(super) fn throughput_by_sum(&self, draft: &mut Draft) {
        let per = self.limits.need("throughput_per_gib");
        let base = self.limits.value("base_throughput_per_vm");
        let by_size = base + per.value * self.sum(draft);
        let (mibps, from) = self.floored(by_size, "floor_throughput", per);
        let name = self.by_size("throughput");
        let cap = cap(&name, Rate::MibPerS(mibps), &from.origin);
        Self::all_of_type(draft).caps.push(cap);
    }

    /// Not below what the smallest ones have.
    fn floored(&self, value: f64, floor: &str, figure: Figure) -> (f64, Figure) {
        match self.limits.get(floor).filter(|floor| floor.value > value) {
            Some(floor) => (floor.value, floor),
            None => (value, figure),
        }
    }

    /// The name of a limit that larger disks raise, and no larger machine on which it is put.
    fn by_size(&self, what: &str) -> String {
        format!("{what} by size of all {}", self.kind.name)
    }

    /// What holds for all volumes of the type on a machine.
    fn all_of_type(draft: &mut Draft) -> &mut InstanceSpec {
        let machine = &mut draft.instance;
        machine.get_or_insert_with(|| InstanceSpec::new("a machine"))
    }
}
