//! The devices, mounts and swaps taken at one moment, and the questions that need all of them:
//! what lies below a mount, what is built on a disk.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::block::{Node, device_path, scan};
use crate::file_id::{FileId, file_id};
use crate::mounts::{MOUNTS, Mount, parse_mounts, parse_swaps};
use crate::roots::Roots;

/// A snapshot of the block devices, mounts and swaps.
#[derive(Debug)]
pub(crate) struct Machine {
    roots: Roots,
    /// Partitions after their disks.
    pub(crate) nodes: Vec<Node>,
    /// In the order of mounting.
    pub(crate) mounts: Vec<Mount>,
    /// What each mount lies on, by kernel name.
    mounted: Vec<BTreeSet<String>>,
    /// Devices in use as swap.
    swap_devices: BTreeSet<String>,
    /// Files in use as swap.
    swap_files: BTreeSet<FileId>,
    /// Devices of file systems that spread over several and are in use, with a name for them.
    pools: Vec<(String, BTreeSet<String>)>,
}

/// How long a snapshot stays valid: it takes some 10 ms, and a file some 10 us.
const RECENT: Duration = Duration::from_millis(200);

/// A snapshot with what tells when it is no longer valid.
struct LastSnapshot {
    at: Instant,
    /// The table of mounts, opened before the snapshot.
    mounts: File,
    /// The [`last_event`] before the snapshot.
    event: [u8; 20],
    machine: Arc<Machine>,
}

/// Whether a mount came or went since the table was opened. The kernel signals it by a priority
/// event, which costs one call where reading the table costs ten.
fn has_changed(mounts: &File) -> bool {
    let mut table = [PollFd::new(mounts, PollFlags::PRI)];
    // A failure counts as a change.
    poll(&mut table, Some(&Timespec::default())) != Ok(0)
}

/// The number of the last event of a device, as text, which grows when a loop device is attached; always the
/// same where the kernel does not show it. The file stays open, since each new file asks for it.
fn last_event() -> [u8; 20] {
    static EVENTS: LazyLock<Option<File>> =
        LazyLock::new(|| File::open("/sys/kernel/uevent_seqnum").ok());
    let mut number = [0; 20];
    if let Some(events) = &*EVENTS {
        // What cannot be read is as if it had not changed.
        let _ = events.read_at(&mut number, 0);
    }
    number
}

impl Machine {
    /// This machine as it is now.
    pub(crate) fn snapshot() -> Self {
        Self::read(Roots::real())
    }

    /// This machine as it was at most [`RECENT`] ago, with the same mounts and without an event of a
    /// device since, so that what lies below thousands of files is not looked up for each of them. It
    /// serves files only: not every change of a device is an event.
    pub(crate) fn recent() -> Arc<Self> {
        static LAST: Mutex<Option<LastSnapshot>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let event = last_event();
        if let Some(known) = &*last
            && known.at.elapsed() < RECENT
            && known.event == event
            && !has_changed(&known.mounts)
        {
            return Arc::clone(&known.machine);
        }
        // Before the snapshot, as the event: a change during it is seen later, and its time counts as age.
        let (at, mounts) = (Instant::now(), File::open(MOUNTS));
        let machine = Arc::new(Self::snapshot());
        *last = mounts.ok().map(|mounts| LastSnapshot {
            at,
            mounts,
            event,
            machine: Arc::clone(&machine),
        });
        machine
    }

    /// The machine whose kernel files are in a tree.
    pub(crate) fn read(roots: Roots) -> Self {
        let mounts = parse_mounts(&roots.whole(MOUNTS).unwrap_or_default());
        let mut machine = Self {
            nodes: scan(&roots),
            mounts,
            mounted: Vec::new(),
            swap_devices: BTreeSet::new(),
            swap_files: BTreeSet::new(),
            pools: btrfs_pools(&roots),
            roots,
        };
        let devices = machine
            .mounts
            .iter()
            .map(|mount| machine.below_mount(mount));
        machine.mounted = devices.collect();
        machine.find_swaps();
        machine
    }

    /// Where the kernel's files of this snapshot are.
    pub(crate) const fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Notes which devices and files the kernel swaps to.
    fn find_swaps(&mut self) {
        let swaps = self.roots.whole("/proc/swaps").unwrap_or_default();
        for path in parse_swaps(&swaps) {
            if let Some(name) = self.device_at(&path) {
                self.swap_devices.insert(name);
            } else if let Some(id) = file_id(&self.roots.path(&path)) {
                self.swap_files.insert(id);
            }
        }
    }

    /// The device of the kernel name `name`.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.facts.name == name)
    }

    /// The device with this major and minor number, as `254:0`.
    pub(crate) fn by_number(&self, number: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.facts.number == number)
    }

    /// The kernel name of the block device that `path` leads to: by its number, and in a tree
    /// without real device nodes by its name.
    pub(crate) fn device_at(&self, path: &Path) -> Option<String> {
        let by_number = block_number(&self.roots.path(path)).and_then(|n| self.by_number(&n));
        let node = by_number.or_else(|| self.nodes.iter().find(|node| node.path == path))?;
        Some(node.facts.name.clone())
    }

    /// Where to open the device, in this tree.
    pub(crate) fn open_path(&self, name: &str) -> std::path::PathBuf {
        self.roots.path(device_path(name))
    }

    /// Mounts that lie on the device itself, wholly or in part.
    pub(crate) fn mounts_on(&self, name: &str) -> Vec<&Mount> {
        let pairs = self.mounts.iter().zip(&self.mounted);
        pairs
            .filter(|(_, devices)| devices.contains(name))
            .map(|(mount, _)| mount)
            .collect()
    }

    pub(crate) fn is_swap(&self, name: &str) -> bool {
        self.swap_devices.contains(name)
    }

    pub(crate) fn is_swap_file(&self, id: FileId) -> bool {
        self.swap_files.contains(&id)
    }

    /// A file system of several devices that has this one and is mounted somewhere, perhaps
    /// where this process does not see it.
    pub(crate) fn pool_of(&self, name: &str) -> Option<&str> {
        let pool = self
            .pools
            .iter()
            .find(|(_, devices)| devices.contains(name));
        pool.map(|(label, _)| label.as_str())
    }

    /// Loop devices whose backing is the device `name`.
    pub(crate) fn loops_on_device(&self, name: &str) -> Vec<&Node> {
        self.loops_on(|device| {
            let backing = device.backing_file.as_deref();
            backing.and_then(|path| self.device_at(path)).as_deref() == Some(name)
        })
    }

    /// Loop devices whose backing is the file `id`.
    pub(crate) fn loops_on_file(&self, id: FileId) -> Vec<&Node> {
        self.loops_on(|device| self.backing_id(device) == Some(id))
    }

    /// Other loop devices that show some of the bytes which the loop device `own` shows.
    pub(crate) fn overlapping_loops(&self, own: &Node) -> Vec<&Node> {
        let Some(backing) = own.backing_file.as_deref() else {
            return Vec::new();
        };
        let id = self.backing_id(own);
        let mut others = match self.device_at(backing) {
            Some(disk) => self.loops_on_device(&disk),
            None => self.loops_on(|device| match (self.backing_id(device), id) {
                (Some(other), Some(id)) => other == id,
                // A removed file has an identity only for those who may ask the device.
                _ => device.backing_file.as_deref() == Some(backing),
            }),
        };
        others.retain(|node| node.facts.name != own.facts.name && node.overlaps(own));
        others
    }

    /// What identifies the file behind a loop device.
    pub(crate) fn backing_id(&self, device: &Node) -> Option<FileId> {
        let path = device.backing_file.as_deref()?;
        device
            .backing_id
            .or_else(|| file_id(&self.roots.path(path)))
    }

    fn loops_on(&self, is: impl Fn(&Node) -> bool) -> Vec<&Node> {
        let devices = self.nodes.iter();
        devices
            .filter(|device| device.backing_file.is_some() && is(device))
            .collect()
    }

    /// Everything that lies on the device: partitions, holders, loops, and what lies on them.
    /// The nearest first, the device itself not among them.
    pub(crate) fn above(&self, name: &str) -> Vec<&Node> {
        self.closure(name, |node| {
            let loops = self.loops_on_device(&node.facts.name);
            let names = loops.iter().map(|node| &node.facts.name);
            let kept = node.partitions.iter().chain(&node.holders);
            kept.chain(names).cloned().collect()
        })
    }

    /// Everything that the device lies on: its disk, its slaves, the devices below a loop's
    /// file. The nearest first, the device itself not among them.
    pub(crate) fn below(&self, name: &str) -> Vec<&Node> {
        self.closure(name, |node| {
            let mut names: Vec<String> = node.parent.iter().chain(&node.slaves).cloned().collect();
            if let Some(path) = &node.backing_file {
                names.extend(self.devices_of(path));
            }
            names
        })
    }

    /// The devices whose content the device shows: its disk, its slaves, the device below a loop.
    /// The nearest first, the device itself not among them. A loop over a file is made of no device.
    pub(crate) fn made_of(&self, name: &str) -> Vec<&Node> {
        self.closure(name, |node| {
            let backing = node.backing_file.as_deref();
            let lower = backing.and_then(|path| self.device_at(path));
            let named = node.parent.iter().chain(&node.slaves).cloned();
            named.chain(lower).collect()
        })
    }

    /// All devices that can be reached from one by `next`, breadth first, each once.
    fn closure(&self, name: &str, next: impl Fn(&Node) -> Vec<String>) -> Vec<&Node> {
        let mut seen = BTreeSet::from([name.to_owned()]);
        let mut found = Vec::new();
        let mut queue: VecDeque<&Node> = self.node(name).into_iter().collect();
        while let Some(node) = queue.pop_front() {
            for name in next(node) {
                let Some(node) = self.node(&name).filter(|_| seen.insert(name.clone())) else {
                    continue;
                };
                found.push(node);
                queue.push_back(node);
            }
        }
        found
    }

    /// The devices directly below a path: the device that it is, or those of its mount.
    pub(crate) fn devices_of(&self, path: &Path) -> Vec<String> {
        if let Some(name) = self.device_at(path) {
            return vec![name];
        }
        let Some(index) = self.mount_index(path) else {
            return Vec::new();
        };
        self.mounted[index].iter().cloned().collect()
    }

    /// The mount that `path` lies on; `None` if this process does not see it.
    pub(crate) fn mount_of(&self, path: &Path) -> Option<&Mount> {
        self.mount_index(path).map(|index| &self.mounts[index])
    }

    /// The index of the mount that `path` lies on: by the kernel's own number of the mount; before
    /// Linux 5.8 by the longest mount point on the way. Of several at the same point, the last one
    /// mounted hides the others.
    fn mount_index(&self, path: &Path) -> Option<usize> {
        let extra = crate::syscall::extra(&self.roots.path(path)).ok();
        let id = extra.and_then(|extra| extra.mount_id);
        if let Some(index) = self.mounts.iter().position(|mount| Some(mount.id) == id) {
            return Some(index);
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mounts = self.mounts.iter().enumerate();
        let best = mounts
            .filter(|(_, mount)| path.starts_with(&mount.point))
            .max_by_key(|(_, mount)| mount.point.components().count());
        best.map(|(index, _)| index)
    }

    /// The device by number, those that the line names, and for btrfs all that share its pool.
    fn below_mount(&self, mount: &Mount) -> BTreeSet<String> {
        let numbered = self.by_number(&mount.number).into_iter();
        let named = mount.device_paths();
        let mut devices: BTreeSet<String> = numbered
            .map(|node| node.facts.name.clone())
            .chain(named.filter_map(|path| self.device_at(Path::new(path))))
            .collect();
        for (_, pool) in &self.pools {
            if !pool.is_disjoint(&devices) {
                devices.extend(pool.iter().cloned());
            }
        }
        devices
    }
}

/// Mounted btrfs file systems list their devices here, also those mounted by other namespaces.
fn btrfs_pools(roots: &Roots) -> Vec<(String, BTreeSet<String>)> {
    let uuids = roots.names("/sys/fs/btrfs").into_iter();
    let pools = uuids.map(|uuid| {
        let devices = roots.names(format!("/sys/fs/btrfs/{uuid}/devices"));
        (
            format!("btrfs file system {uuid}"),
            BTreeSet::from_iter(devices),
        )
    });
    pools.filter(|(_, devices)| !devices.is_empty()).collect()
}

/// The number of a block device's node, `254:0`; `None` if `path` leads to something else.
pub(crate) fn block_number(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    metadata
        .file_type()
        .is_block_device()
        .then(|| number_text(metadata.rdev()))
}

/// A device number as sysfs writes it.
pub(crate) fn number_text(rdev: u64) -> String {
    format!("{}:{}", libc::major(rdev), libc::minor(rdev))
}

#[cfg(test)]
pub(crate) mod tree {
    use std::fs;
    use std::os::unix::fs::FileExt;

    use super::Machine;
    use crate::roots::Roots;

    /// A machine on paper: a folder with the kernel's files, device nodes being plain files.
    pub(crate) struct Tree {
        folder: tempfile::TempDir,
    }

    impl Tree {
        pub(crate) fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { folder }
        }

        pub(crate) fn roots(&self) -> Roots {
            Roots::at(self.folder.path())
        }

        pub(crate) fn machine(&self) -> Machine {
            Machine::read(self.roots())
        }

        pub(crate) fn put(&self, path: &str, content: &str) {
            let path = self.roots().path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }

        fn device(&self, folder: &str, name: &str, number: &str, size: u64) {
            self.put(&format!("{folder}/dev"), &format!("{number}\n"));
            self.put(&format!("{folder}/size"), &format!("{}\n", size / 512));
            self.put(&format!("/dev/{name}"), "");
            let node = fs::File::options()
                .write(true)
                .open(self.roots().path(format!("/dev/{name}")));
            node.unwrap().set_len(size).unwrap();
        }

        pub(crate) fn disk(&self, name: &str, number: &str, size: u64) {
            self.device(&format!("/sys/block/{name}"), name, number, size);
        }

        pub(crate) fn partition(
            &self,
            disk: &str,
            name: &str,
            number: &str,
            start: u64,
            size: u64,
        ) {
            let folder = format!("/sys/block/{disk}/{name}");
            self.device(&folder, name, number, size);
            self.put(&format!("{folder}/partition"), "1\n");
            self.put(&format!("{folder}/start"), &format!("{}\n", start / 512));
        }

        /// `upper` is made of `lower`.
        pub(crate) fn hold(&self, lower: &str, upper: &str) {
            self.put(&format!("/sys/block/{lower}/holders/{upper}"), "");
            self.put(&format!("/sys/block/{upper}/slaves/{lower}"), "");
        }

        pub(crate) fn write(&self, name: &str, offset: u64, bytes: &[u8]) {
            let path = self.roots().path(format!("/dev/{name}"));
            let node = fs::File::options().write(true).open(path).unwrap();
            node.write_all_at(bytes, offset).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::tree::Tree;
    use super::*;

    fn names(nodes: &[&Node]) -> Vec<String> {
        nodes.iter().map(|node| node.facts.name.clone()).collect()
    }

    #[test]
    fn a_volume_on_a_partition_is_above_the_disk_and_the_disk_below_it() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 1 << 20);
        tree.partition("sda", "sda1", "8:1", 4096, 1 << 19);
        tree.disk("dm-0", "252:0", 1 << 19);
        tree.put("/sys/block/sda/sda1/holders/dm-0", "");
        tree.put("/sys/block/dm-0/slaves/sda1", "");
        let machine = tree.machine();
        assert_eq!(names(&machine.above("sda")), ["sda1", "dm-0"]);
        assert_eq!(names(&machine.below("dm-0")), ["sda1", "sda"]);
    }

    /// The story: one mount point whose name is no UTF-8 hid all mounts. No device was mounted, a scratch
    /// file was allowed in /proc, and a file behind a loop device could be written to.
    #[test]
    fn a_path_that_is_no_utf8_hides_nothing() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 1 << 20);
        tree.disk("loop0", "7:0", 1 << 20);
        let put = |path: &str, bytes: &[u8]| {
            tree.put(path, "");
            fs::write(tree.roots().path(path), bytes).unwrap();
        };
        put(
            MOUNTS,
            b"27 1 8:0 / /m\xfc\\040r rw - ext4 /dev/sda rw\n28 1 0:5 / /proc rw - proc proc rw\n",
        );
        put("/sys/block/loop0/loop/backing_file", b"/m\xfc r/image\n");
        let machine = tree.machine();
        let path = Path::new(OsStr::from_bytes(b"/m\xfc r"));
        assert_eq!(machine.mounts.len(), 2);
        assert_eq!(machine.mounts_on("sda")[0].point, path);
        let backing = machine.node("loop0").unwrap().backing_file.clone();
        assert_eq!(backing, Some(path.join("image")));
    }

    #[test]
    fn every_device_of_a_btrfs_is_mounted() {
        let tree = Tree::new();
        for (name, number) in [("sdb", "8:16"), ("sdc", "8:32"), ("sdd", "8:48")] {
            tree.disk(name, number, 1 << 20);
        }
        tree.put("/sys/fs/btrfs/0f-12/devices/sdb", "");
        tree.put("/sys/fs/btrfs/0f-12/devices/sdc", "");
        tree.put(
            "/proc/self/mountinfo",
            "50 1 0:44 /@home /home rw - btrfs /dev/sdb rw,subvol=/@home\n",
        );
        let machine = tree.machine();
        assert_eq!(machine.mounts_on("sdb").len(), 1);
        assert_eq!(machine.mounts_on("sdc").len(), 1);
        assert_eq!(machine.mounts_on("sdd").len(), 0);
        assert_eq!(machine.pool_of("sdc"), Some("btrfs file system 0f-12"));
    }

    #[test]
    fn rings_of_devices_end() {
        let tree = Tree::new();
        tree.disk("md0", "9:0", 1 << 20);
        tree.disk("md1", "9:1", 1 << 20);
        tree.hold("md0", "md1");
        tree.hold("md1", "md0");
        assert_eq!(names(&tree.machine().above("md0")), ["md1"]);
    }

    #[test]
    fn swap_on_a_device_is_found_by_its_path() {
        let tree = Tree::new();
        tree.disk("sdb", "8:16", 1 << 20);
        tree.put(
            "/proc/swaps",
            "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n",
        );
        assert!(tree.machine().is_swap("sdb"));
    }
}
