//! Asks one device every question that speaks against writing to it, and the disks and devices
//! below and above it as well. Gives reasons; `guard` decides whether they are given up.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blocklab_workload::errno;

use crate::block::{Node, device_path};
use crate::claim::{Claim, claim, is_locked};
use crate::file_id::file_id;
use crate::machine::{Machine, number_text};
use crate::reason::{Cause, Reason};
use crate::signatures::{Signature, probe};

/// All reasons against writing to a device.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// About the device, its parts and its users: naming the device lifts them.
    pub(crate) own: Vec<Reason>,
    /// About the disk around a partition: only naming the disk lifts them.
    pub(crate) around: Vec<Reason>,
    /// The marks on the device itself.
    pub(crate) signatures: Vec<Signature>,
}

/// Whether another has the device exclusively.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Use {
    /// No other program has it: we have claimed it, or it cannot be claimed.
    Free,
    /// Another program has it; these have it open.
    Taken(Vec<String>),
    /// It is claimed for a moment to see, but only where there is no other reason, so that
    /// listing all devices does not disturb a program that is about to use one.
    Unknown,
}

/// Finds the reasons against writing to the device `node`. It is opened at the first path; the second
/// one is for messages.
pub(crate) fn check_device(
    machine: &Machine,
    node: &Node,
    path: &Path,
    shown: &Path,
    others: Use,
) -> Reasons {
    let check = DeviceCheck::new(machine, node, path.to_owned(), shown);
    let mut found = Reasons::default();
    found
        .own
        .extend(state(node).map(|cause| check.about(cause)));
    // A mount or another use also claims the device: that is one reason and not two.
    let used = check.uses();
    let explained = used.iter().any(|reason| explains_claim(&reason.cause));
    found.own.extend(used);
    let (signatures, reasons) = check.marks();
    found.signatures = signatures;
    found.own.extend(reasons);
    for above in machine.above(&node.facts.name) {
        let above = DeviceCheck::usual(machine, above);
        found.own.extend(above.uses());
        found.own.extend(above.marks().1);
    }
    found.own.extend(shared(machine, node));
    let users = match others {
        Use::Free => None,
        Use::Taken(users) => Some(users),
        Use::Unknown => (found.own.is_empty() && is_claimed(path)).then(Vec::new),
    };
    if let Some(users) = users.filter(|_| !explained && node.has_capacity()) {
        found.own.push(check.about(Cause::Claimed(users)));
    }
    if let Some(disk) = node.parent.as_deref().and_then(|name| machine.node(name)) {
        found.around = around(&DeviceCheck::usual(machine, disk));
    }
    found
}

/// What makes a write impossible, if anything does.
fn state(node: &Node) -> Option<Cause> {
    if !node.has_capacity() {
        return Some(Cause::NoCapacity);
    }
    node.read_only.then_some(Cause::ReadOnly)
}

/// A device with what is needed to check it.
struct DeviceCheck<'a> {
    machine: &'a Machine,
    node: &'a Node,
    /// Where it is opened.
    path: PathBuf,
    /// The path for people: its usual one where that is the one that is opened.
    subject: PathBuf,
}

impl<'a> DeviceCheck<'a> {
    fn new(machine: &'a Machine, node: &'a Node, path: PathBuf, shown: &Path) -> Self {
        let usual = shown == machine.open_path(&node.facts.name);
        Self {
            machine,
            node,
            subject: if usual {
                node.path.clone()
            } else {
                shown.to_owned()
            },
            path,
        }
    }

    /// A device at its usual path.
    fn usual(machine: &'a Machine, node: &'a Node) -> Self {
        let path = machine.open_path(&node.facts.name);
        Self::new(machine, node, path.clone(), &path)
    }

    fn about(&self, cause: Cause) -> Reason {
        Reason {
            subject: self.subject.clone(),
            cause,
        }
    }

    /// Who uses the device now.
    fn uses(&self) -> Vec<Reason> {
        let (machine, node) = (self.machine, self.node);
        let name = &node.facts.name;
        let mut causes = mounted(machine, name);
        if causes.is_empty() {
            causes.extend(machine.pool_of(name).map(|pool| Cause::InPool(pool.into())));
        }
        if machine.is_swap(name) {
            causes.push(Cause::Swap);
        }
        causes.extend(node.holders.iter().map(|name| held(machine, name)));
        let loops = machine.loops_on_device(name).into_iter();
        causes.extend(loops.map(|device| Cause::Backs(device.path.clone())));
        // A machine that runs has its disk open like any file, but locked.
        if node.has_capacity() && open(&self.path).is_ok_and(|file| is_locked(&file)) {
            causes.push(Cause::Locked);
        }
        if !node.partitions.is_empty() {
            causes.push(Cause::Partitions(node.partitions.clone()));
        }
        causes.into_iter().map(|cause| self.about(cause)).collect()
    }

    /// The marks on the device, and the reasons that they give; a mark that a mount explains is
    /// not reported twice. Where the device cannot be read, a use that claims it (a mount, a pool, swap,
    /// a device above it) is enough of a reason.
    fn marks(&self) -> (Vec<Signature>, Vec<Reason>) {
        if !self.node.has_capacity() {
            return (Vec::new(), Vec::new());
        }
        match self.signatures() {
            Ok(signatures) => {
                let mounts = self.machine.mounts_on(&self.node.facts.name);
                let unexplained = signatures.iter().filter(|signature| {
                    let name = signature.kind.name();
                    !mounts.iter().any(|mount| mount.kind == name)
                });
                let reasons = self.reasons_for(unexplained);
                (signatures, reasons)
            }
            Err(cause) => {
                let used = self.uses();
                let explained = used.iter().any(|reason| explains_claim(&reason.cause));
                let reason = (!explained).then(|| self.about(cause));
                (Vec::new(), reason.into_iter().collect())
            }
        }
    }

    /// One reason for each kind of mark.
    fn reasons_for<'s>(&self, signatures: impl Iterator<Item = &'s Signature>) -> Vec<Reason> {
        let mut seen = BTreeSet::new();
        let first = signatures.filter(|signature| seen.insert(signature.kind));
        let causes = first.map(|signature| Cause::Signature {
            kind: signature.kind,
            offset: signature.offset,
        });
        causes.map(|cause| self.about(cause)).collect()
    }

    /// Reads the marks, having made sure that the device is the one that was meant.
    fn signatures(&self) -> Result<Vec<Signature>, Cause> {
        self.probe().map_err(|error| match error.raw_os_error() {
            Some(libc::EACCES) => Cause::Forbidden,
            _ => Cause::Unreadable(plain(&error)),
        })
    }

    /// Opens the device, makes sure that it is still the one that was looked at, and reads its
    /// marks.
    fn probe(&self) -> io::Result<Vec<Signature>> {
        let file = open(&self.path)?;
        let metadata = file.metadata()?;
        let is_device = metadata.file_type().is_block_device();
        if is_device && number_text(metadata.rdev()) != self.node.facts.number {
            return Err(io::Error::other("the device changed its number"));
        }
        probe(
            |offset, buffer| file.read_exact_at(buffer, offset),
            self.node.facts.size_bytes.0,
        )
    }
}

/// Who else uses what a loop device shows. The kernel claims nothing below a loop device: one can be
/// made over a disk that is mounted, and two over one file. Asked of a partition or volume, this is
/// about the loop devices that it is made of.
fn shared(machine: &Machine, node: &Node) -> Vec<Reason> {
    let made_of = machine.made_of(&node.facts.name).into_iter();
    let mut reasons = Vec::new();
    for device in std::iter::once(node).chain(made_of) {
        let Some(backing) = &device.backing_file else {
            continue;
        };
        let disk = machine.device_at(backing);
        reasons.extend(match disk.and_then(|name| machine.node(&name)) {
            Some(disk) => shared_disk(machine, disk, device),
            None => shared_file(machine, backing, device),
        });
    }
    reasons
}

/// Who uses a disk or partition, other than the loop device `own` over it.
fn shared_disk(machine: &Machine, disk: &Node, own: &Node) -> Vec<Reason> {
    // The device itself, other loop devices that show none of its bytes, and what lies on these.
    let mut unrelated: BTreeSet<&Path> = BTreeSet::new();
    let overlapping = machine.overlapping_loops(own);
    for device in machine.loops_on_device(&disk.facts.name) {
        if !overlapping.contains(&device) {
            let above = machine.above(&device.facts.name).into_iter();
            unrelated.extend(above.map(|node| node.path.as_path()));
            unrelated.insert(&device.path);
        }
    }
    let above = machine.above(&disk.facts.name).into_iter();
    let users = std::iter::once(disk).chain(above);
    let mut reasons: Vec<Reason> = users
        .filter(|node| !unrelated.contains(node.path.as_path()))
        .flat_map(|node| DeviceCheck::usual(machine, node).uses())
        .collect();
    if let Some(whole) = disk.parent.as_deref().and_then(|name| machine.node(name)) {
        reasons.extend(around(&DeviceCheck::usual(machine, whole)));
    }
    reasons.retain(|reason| match &reason.cause {
        Cause::Backs(device) => !unrelated.contains(device.as_path()),
        cause => cause.is_use(),
    });
    let check = DeviceCheck::usual(machine, disk);
    if reasons.is_empty() && is_claimed(&check.path) {
        reasons.push(check.about(Cause::Claimed(Vec::new())));
    }
    reasons
}

/// Who uses a file, other than the loop device `own` over it.
fn shared_file(machine: &Machine, path: &Path, own: &Node) -> Vec<Reason> {
    let overlapping = machine.overlapping_loops(own).into_iter();
    let mut causes: Vec<Cause> = overlapping
        .map(|device| Cause::Backs(device.path.clone()))
        .collect();
    let place = machine.roots().path(path);
    if file_id(&place).is_some_and(|id| machine.is_swap_file(id)) {
        causes.push(Cause::Swap);
    }
    if open(&place).is_ok_and(|file| is_locked(&file)) {
        causes.push(Cause::Locked);
    }
    let reasons = causes.into_iter().map(|cause| Reason {
        subject: path.to_owned(),
        cause,
    });
    reasons.collect()
}

fn held(machine: &Machine, name: &str) -> Cause {
    Cause::Held {
        by: device_path(name),
        alias: machine.node(name).and_then(|node| node.alias.clone()),
    }
}

/// One cause for each kind of file system, with all its mount points.
fn mounted(machine: &Machine, name: &str) -> Vec<Cause> {
    let mounts = machine.mounts_on(name);
    let kinds: BTreeSet<&str> = mounts.iter().map(|mount| mount.kind.as_str()).collect();
    let causes = kinds.into_iter().map(|kind| {
        let of_kind = mounts.iter().filter(|mount| mount.kind == kind);
        let points: BTreeSet<PathBuf> = of_kind.map(|mount| mount.point.clone()).collect();
        Cause::Mounted {
            kind: kind.to_owned(),
            points: points.into_iter().collect(),
        }
    });
    causes.collect()
}

/// What the disk around a partition is used for, other than for its partitions. Marks inside
/// any partition belong to that partition.
fn around(disk: &DeviceCheck<'_>) -> Vec<Reason> {
    let mut reasons = disk.uses();
    reasons.retain(|reason| !matches!(reason.cause, Cause::Partitions(_)));
    let (signatures, found) = disk.marks();
    let names = disk.node.partitions.iter();
    let ranges: Vec<_> = names
        .filter_map(|name| disk.machine.node(name))
        .map(|part| part.start..part.start.saturating_add(part.facts.size_bytes.0))
        .collect();
    let outside = signatures.iter().filter(|signature| {
        let inside = ranges.iter().any(|range| range.contains(&signature.offset));
        !inside && !signature.kind.is_partition_table()
    });
    reasons.extend(disk.reasons_for(outside));
    let found = found.into_iter();
    reasons.extend(found.filter(|reason| !matches!(reason.cause, Cause::Signature { .. })));
    reasons
}

/// The text of an error without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    error
        .raw_os_error()
        .map_or_else(|| error.to_string(), errno::message)
}

/// Opens for reading only, without waiting for a medium.
fn open(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

/// A use that the kernel enforces by a claim of its own.
fn explains_claim(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::Mounted { .. } | Cause::InPool(_) | Cause::Swap | Cause::Held { .. }
    )
}

fn is_claimed(path: &Path) -> bool {
    matches!(claim(path), Claim::Taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tree::Tree;

    const MIB: u64 = 1 << 20;

    /// The reasons against writing to `name`: its own, then those around it.
    #[track_caller]
    fn check(tree: &Tree, name: &str, own: &[&str], around: &[&str]) {
        let machine = tree.machine();
        let node = machine.node(name).unwrap();
        let path = machine.open_path(name);
        let found = check_device(&machine, node, &path, &path, Use::Unknown);
        let texts = |reasons: &[Reason]| -> Vec<String> {
            reasons.iter().map(ToString::to_string).collect()
        };
        assert_eq!(texts(&found.own), own);
        assert_eq!(texts(&found.around), around);
    }

    fn one_disk() -> Tree {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 64 * MIB);
        tree
    }

    #[test]
    fn nothing_speaks_against_a_blank_disk() {
        check(&one_disk(), "sda", &[], &[]);
    }

    #[test]
    fn a_mounted_disk_is_reported_with_its_mount_points() {
        let tree = one_disk();
        tree.put(
            "/proc/self/mountinfo",
            "27 1 8:0 / / rw - ext4 /dev/root rw\n28 1 8:0 /x /data rw - ext4 /dev/root rw\n",
        );
        tree.write("sda", 1024 + 56, &[0x53, 0xef]);
        check(
            &tree,
            "sda",
            &[
                "/dev/sda holds a mounted ext4 file system (on /, /data)",
                "/dev/sda holds an ext2 file system (mark at byte 1024)",
            ],
            &[],
        );
    }

    #[test]
    fn a_disk_answers_for_its_partitions() {
        let tree = one_disk();
        tree.partition("sda", "sda1", "8:1", MIB, 32 * MIB);
        tree.put(
            "/proc/swaps",
            "Filename Type Size Used Priority\n/dev/sda1 partition 1 0 -2\n",
        );
        tree.write("sda1", 4086, b"SWAPSPACE2");
        check(
            &tree,
            "sda",
            &[
                "/dev/sda has partitions (sda1)",
                "/dev/sda1 is in use as swap",
                "/dev/sda1 holds a swap area (mark at byte 4086)",
            ],
            &[],
        );
    }

    #[test]
    fn a_partition_does_not_answer_for_its_siblings() {
        let tree = one_disk();
        tree.partition("sda", "sda1", "8:1", MIB, 32 * MIB);
        tree.partition("sda", "sda2", "8:2", 40 * MIB, 24 * MIB);
        tree.put(
            "/proc/self/mountinfo",
            "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
        );
        tree.write("sda", 512, b"EFI PART");
        // An array's mark at the very end: inside the second partition as well as on the disk.
        let end = [0xfc, 0x4e, 0x2b, 0xa9];
        tree.write("sda", 64 * MIB - 65536, &end);
        check(&tree, "sda2", &[], &[]);
    }

    #[test]
    fn a_partition_answers_for_a_disk_that_is_used_as_a_whole() {
        let tree = one_disk();
        tree.partition("sda", "sda1", "8:1", MIB, 32 * MIB);
        tree.disk("md0", "9:0", 32 * MIB);
        tree.hold("sda", "md0");
        tree.write("sda", 4096, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]);
        check(
            &tree,
            "sda1",
            &[],
            &[
                "/dev/sda is a part of /dev/md0",
                "/dev/sda holds a member of a Linux RAID array (mark at byte 4096)",
            ],
        );
    }

    #[test]
    fn what_is_mounted_above_a_volume_counts() {
        let tree = one_disk();
        tree.disk("dm-0", "252:0", 32 * MIB);
        tree.hold("sda", "dm-0");
        tree.put("/sys/block/dm-0/dm/name", "vg-srv\n");
        tree.put(
            "/proc/self/mountinfo",
            "40 1 252:0 / /srv rw - xfs /dev/mapper/vg-srv rw\n",
        );
        tree.write("sda", 512, b"LABELONE");
        tree.write("dm-0", 0, b"XFSB");
        check(
            &tree,
            "sda",
            &[
                "/dev/sda is a part of /dev/dm-0 (vg-srv)",
                "/dev/sda holds an LVM2 physical volume (mark at byte 512)",
                "/dev/dm-0 holds a mounted xfs file system (on /srv)",
            ],
            &[],
        );
    }

    #[test]
    fn a_loop_over_a_disk_uses_it() {
        let tree = one_disk();
        tree.disk("loop0", "7:0", 64 * MIB);
        tree.put("/sys/block/loop0/loop/backing_file", "/dev/sda\n");
        check(
            &tree,
            "sda",
            &["/dev/sda is the backing of the loop device /dev/loop0"],
            &[],
        );
    }

    /// A disk with a mounted partition, and `loop0` and `loop1` over `backing`, each of 16 MiB, the second
    /// one from `offset` on.
    fn two_loops(backing: &str, offset: u64) -> Tree {
        let tree = one_disk();
        for (name, number, from) in [("loop0", "7:0", 0), ("loop1", "7:1", offset)] {
            tree.disk(name, number, 16 * MIB);
            let folder = format!("/sys/block/{name}/loop");
            tree.put(&format!("{folder}/backing_file"), &format!("{backing}\n"));
            tree.put(&format!("{folder}/offset"), &format!("{from}\n"));
        }
        tree.put(
            "/proc/self/mountinfo",
            "27 1 7:0 / /srv rw - ext4 /dev/loop0 rw\n",
        );
        tree
    }

    /// The story: two loop devices showed one image, and the first was mounted. A run with
    /// `--destroy-data=loop1` wrote over the mounted file system, because the kernel claims nothing below a
    /// loop device. The same with a loop device over a mounted disk.
    #[test]
    fn a_second_loop_over_an_image_in_use_is_in_use() {
        let tree = two_loops("/srv/disk.img", 0);
        let expected = "/srv/disk.img is the backing of the loop device /dev/loop0";
        check(&tree, "loop1", &[expected], &[]);
        // Two devices that show different parts of one image do not disturb each other.
        check(&two_loops("/srv/disk.img", 16 * MIB), "loop1", &[], &[]);
    }

    #[test]
    fn a_loop_over_a_disk_in_use_is_in_use() {
        let expected = [
            "/dev/sda is the backing of the loop device /dev/loop0",
            "/dev/loop0 holds a mounted ext4 file system (on /srv)",
        ];
        check(&two_loops("/dev/sda", 0), "loop1", &expected, &[]);
        check(&two_loops("/dev/sda", 16 * MIB), "loop1", &[], &[]);
        let tree = one_disk();
        tree.partition("sda", "sda1", "8:1", MIB, 32 * MIB);
        tree.disk("loop0", "7:0", 64 * MIB);
        tree.put("/sys/block/loop0/loop/backing_file", "/dev/sda\n");
        tree.put(
            "/proc/self/mountinfo",
            "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
        );
        let mounted = "/dev/sda1 holds a mounted ext4 file system (on /)";
        check(&tree, "loop0", &[mounted], &[]);
    }

    #[test]
    fn a_loop_over_a_swap_file_is_in_use() {
        let tree = two_loops("/swapfile", 16 * MIB);
        tree.put("/swapfile", "");
        tree.put(
            "/proc/swaps",
            "Filename Type Size Used Priority\n/swapfile file 1 0 -2\n",
        );
        check(&tree, "loop1", &["/swapfile is in use as swap"], &[]);
    }

    #[test]
    fn a_btrfs_mounted_where_we_do_not_see_it() {
        let tree = one_disk();
        tree.put("/sys/fs/btrfs/77-a1/devices/sda", "");
        check(
            &tree,
            "sda",
            &["/dev/sda belongs to a mounted btrfs file system 77-a1"],
            &[],
        );
    }

    /// A container may see a device in use and not be allowed to open it.
    #[test]
    fn a_mounted_device_that_cannot_be_read_is_known_well_enough() {
        let tree = one_disk();
        std::fs::remove_file(tree.roots().path("/dev/sda")).unwrap();
        tree.put(
            "/proc/self/mountinfo",
            "27 1 8:0 / / rw - ext4 /dev/root rw\n",
        );
        check(
            &tree,
            "sda",
            &["/dev/sda holds a mounted ext4 file system (on /)"],
            &[],
        );
    }

    #[test]
    fn a_device_without_a_node_cannot_be_judged_free() {
        let tree = one_disk();
        std::fs::remove_file(tree.roots().path("/dev/sda")).unwrap();
        check(
            &tree,
            "sda",
            &["/dev/sda cannot be read to see what is on it (No such file or directory)"],
            &[],
        );
    }

    #[test]
    fn an_empty_drive_and_a_locked_one() {
        let tree = Tree::new();
        tree.disk("sr0", "11:0", 0);
        tree.disk("sdb", "8:16", MIB);
        tree.put("/sys/block/sdb/ro", "1\n");
        let empty = "/dev/sr0 has no capacity (no medium, or not set up)";
        check(&tree, "sr0", &[empty], &[]);
        check(&tree, "sdb", &["/dev/sdb is read-only"], &[]);
    }
}
