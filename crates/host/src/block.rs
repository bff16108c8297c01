//! Reads `/sys/block`: disks, their partitions, what they are made of and who builds on them.
//! Whether any of them may be written to is not decided here.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use blocklab_record::BlockDevice;
use blocklab_units::{Bytes, SECTOR};
use serde::Serialize;

use crate::file_id::{FileId, loop_file};
use crate::roots::Roots;

/// A disk, a partition, or a device made of others, as sysfs shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Node {
    /// What the kernel reports of it.
    #[serde(flatten)]
    pub facts: BlockDevice,
    /// `/dev/sda`.
    pub path: PathBuf,
    /// The device refuses writes.
    pub read_only: bool,
    /// The disk of a partition.
    pub parent: Option<String>,
    /// The partitions of a disk.
    pub partitions: Vec<String>,
    /// Devices that are made of this one: dm, md, bcache.
    pub holders: Vec<String>,
    /// Devices that this one is made of.
    pub slaves: Vec<String>,
    /// The file that a loop device shows as a disk.
    pub backing_file: Option<PathBuf>,
    /// Device and inode number of that file, where the kernel tells them to this user.
    #[serde(skip)]
    pub backing_id: Option<FileId>,
    /// Where a partition begins on its disk, and a loop device in its file.
    #[serde(skip)]
    pub start: u64,
    /// The name that the device mapper was given: `vg-root`.
    #[serde(skip)]
    pub alias: Option<String>,
}

impl Node {
    /// Whether there is anything to be read or written.
    pub(crate) fn has_capacity(&self) -> bool {
        self.facts.size_bytes > Bytes::ZERO
    }

    /// Whether two partitions of one disk, or two loop devices over one file, share bytes.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end() && other.start < self.end()
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.facts.size_bytes.0)
    }
}

/// `/dev/sda`. A `!` in the kernel's name stands for a `/` below `/dev`.
pub(crate) fn device_path(name: &str) -> PathBuf {
    PathBuf::from(format!("/dev/{}", name.replace('!', "/")))
}

/// Every block device of the machine, partitions after their disks, disks by name.
pub(crate) fn scan(roots: &Roots) -> Vec<Node> {
    let mut disks = roots.names("/sys/block");
    disks.sort_by_cached_key(|name| natural(name));
    disks.retain(|name| roots.number::<u8>(format!("/sys/block/{name}/hidden")) != Some(1));
    disks
        .iter()
        .flat_map(|name| disk_and_partitions(roots, name))
        .collect()
}

/// A disk as a node, and its partitions as nodes behind it.
fn disk_and_partitions(roots: &Roots, disk: &str) -> Vec<Node> {
    let folder = format!("/sys/block/{disk}");
    let mut partitions = roots.names(&folder);
    partitions.retain(|name| roots.path(format!("{folder}/{name}/partition")).exists());
    partitions.sort_by_cached_key(|name| natural(name));
    let backing = backing_file(roots, &folder);
    let whole = Node {
        backing_id: backing
            .as_ref()
            .and_then(|_| loop_file(&roots.path(device_path(disk)))),
        facts: facts(roots, &folder, &folder, disk),
        partitions: partitions.clone(),
        alias: roots.text(format!("{folder}/dm/name")),
        backing_file: backing,
        start: roots.number(format!("{folder}/loop/offset")).unwrap_or(0),
        ..relations(roots, &folder, disk)
    };
    let parts = partitions.into_iter().map(|name| {
        let own = format!("{folder}/{name}");
        Node {
            facts: facts(roots, &folder, &own, &name),
            parent: Some(disk.to_owned()),
            start: roots.number::<u64>(format!("{own}/start")).unwrap_or(0) * SECTOR,
            ..relations(roots, &own, &name)
        }
    });
    std::iter::once(whole).chain(parts).collect()
}

fn relations(roots: &Roots, folder: &str, name: &str) -> Node {
    Node {
        path: device_path(name),
        holders: roots.names(format!("{folder}/holders")),
        slaves: roots.names(format!("{folder}/slaves")),
        read_only: roots.number::<u8>(format!("{folder}/ro")) == Some(1),
        ..Node::default()
    }
}

fn backing_file(roots: &Roots, folder: &str) -> Option<PathBuf> {
    let bytes = roots.bytes(format!("{folder}/loop/backing_file"))?;
    let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    (!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// The facts of a disk or a partition by its name. `disk` is the folder of the disk in `/sys/block`, `own`
/// that of the disk or partition itself: a partition has its own size and number, and its disk's queue
/// and identity.
fn facts(roots: &Roots, disk: &str, own: &str, name: &str) -> BlockDevice {
    let queue = format!("{disk}/queue");
    let bytes = |file: &str| roots.number(format!("{queue}/{file}")).map(Bytes);
    let model = model(roots, disk);
    let logical = bytes("logical_block_size").unwrap_or(Bytes(SECTOR));
    let sectors = roots.number::<u64>(format!("{own}/size")).unwrap_or(0);
    let read_ahead = roots
        .number::<u64>(format!("{queue}/read_ahead_kb"))
        .unwrap_or(0);
    BlockDevice {
        name: name.to_owned(),
        number: roots.text(format!("{own}/dev")).unwrap_or_default(),
        serial: serial(roots, disk),
        size_bytes: Bytes(sectors.saturating_mul(SECTOR)),
        logical_block_bytes: logical,
        physical_block_bytes: bytes("physical_block_size").unwrap_or(logical),
        rotational: roots.number::<u8>(format!("{queue}/rotational")) == Some(1),
        scheduler: roots
            .text(format!("{queue}/scheduler"))
            .map(|text| in_force(&text)),
        queue_requests: roots.number(format!("{queue}/nr_requests")),
        read_ahead_bytes: Bytes(read_ahead.saturating_mul(1024)),
        write_cache: roots.text(format!("{queue}/write_cache")),
        discard_max_bytes: bytes("discard_max_bytes").unwrap_or(Bytes::ZERO),
        cloud: model.as_deref().and_then(cloud).map(str::to_owned),
        transport: transport(roots, disk),
        loop_direct: roots
            .number::<u8>(format!("{disk}/loop/dio"))
            .map(|direct| direct == 1),
        firmware: ["device/firmware_rev", "device/rev"]
            .iter()
            .find_map(|file| roots.text(format!("{disk}/{file}"))),
        // Filled in on request only, since it takes a command to the device.
        health: None,
        model,
    }
}

/// `none [mq-deadline] kyber`: the one in brackets.
fn in_force(schedulers: &str) -> String {
    let inside = schedulers
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(schedulers, |(name, _)| name).to_owned()
}

fn model(roots: &Roots, disk: &str) -> Option<String> {
    let direct = roots.text(format!("{disk}/device/model"));
    direct.or_else(|| roots.text(format!("{disk}/device/name")))
}

/// The serial number of a disk. A SCSI disk has it in a page of its own; for others it is the first of these
/// files that has text: serial numbers first, then identifiers that take their place.
fn serial(roots: &Roots, disk: &str) -> Option<String> {
    let files = [
        "device/serial",
        "serial",
        "wwid",
        "device/wwid",
        "dm/uuid",
        "md/uuid",
    ];
    let plain = files
        .iter()
        .find_map(|file| roots.text(format!("{disk}/{file}")));
    scsi_serial(roots, disk).or(plain)
}

/// SCSI page 0x80: four bytes of header, the last two of them the length, then the text.
fn scsi_serial(roots: &Roots, disk: &str) -> Option<String> {
    let page = fs::read(roots.path(format!("{disk}/device/vpd_pg80"))).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?);
    let serial = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    (!serial.is_empty()).then(|| serial.to_owned())
}

/// On EC2, the NVMe model text names the kind of volume.
fn cloud(model: &str) -> Option<&'static str> {
    match model {
        "Amazon Elastic Block Store" => Some("ebs"),
        "Amazon EC2 NVMe Instance Storage" => Some("instance-store"),
        _ => None,
    }
}

/// Prefixes of kernel names, the more special first.
const TRANSPORTS: [(&str, &str); 19] = [
    ("nvme", "nvme"),
    ("xvd", "xen"),
    ("vd", "virtio"),
    ("sd", "scsi"),
    ("sr", "scsi"),
    ("loop", "loop"),
    ("zram", "zram"),
    ("zd", "zfs"),
    ("dm-", "dm"),
    ("md", "md"),
    ("nbd", "nbd"),
    ("bcache", "bcache"),
    ("mmcblk", "mmc"),
    ("ram", "ram"),
    ("rbd", "rbd"),
    ("ublkb", "ublk"),
    ("drbd", "drbd"),
    ("pmem", "pmem"),
    ("fd", "floppy"),
];

/// The transport by the name, and for SCSI by the path, which shows USB and ATA.
fn transport(roots: &Roots, disk: &str) -> String {
    let name = disk.rsplit('/').next().unwrap_or(disk);
    let known = TRANSPORTS
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix));
    let transport = known.map_or("unknown", |(_, transport)| transport);
    if transport != "scsi" {
        return transport.to_owned();
    }
    let real = fs::canonicalize(roots.path(disk)).unwrap_or_default();
    let real = real.to_string_lossy();
    let bus = if real.contains("/usb") {
        "usb"
    } else if real.contains("/ata") {
        "ata"
    } else {
        "scsi"
    };
    bus.to_owned()
}

/// Orders `nvme2n1` before `nvme10n1`: text and numbers by turns.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits);
        let end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        parts.push((text.to_owned(), number.parse().unwrap_or(0)));
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tree::Tree;

    #[test]
    fn volumes_of_an_instance_are_told_apart_by_their_model() {
        let tree = Tree::new();
        tree.disk("nvme0n1", "259:0", 8 << 30);
        tree.put(
            "/sys/block/nvme0n1/device/model",
            "Amazon Elastic Block Store              \n",
        );
        tree.put("/sys/block/nvme0n1/device/serial", "vol0123456789abcdef0\n");
        tree.disk("nvme1n1", "259:1", 75 << 30);
        tree.put(
            "/sys/block/nvme1n1/device/model",
            "Amazon EC2 NVMe Instance Storage\n",
        );
        let nodes = scan(&tree.roots());
        let facts: Vec<_> = nodes.iter().map(|node| &node.facts).collect();
        assert_eq!(facts[0].cloud.as_deref(), Some("ebs"));
        assert_eq!(facts[0].serial.as_deref(), Some("vol0123456789abcdef0"));
        assert_eq!(facts[0].transport, "nvme");
        assert_eq!(facts[1].cloud.as_deref(), Some("instance-store"));
    }

    #[test]
    fn a_partition_has_its_own_size_and_its_disks_queue() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 100 << 20);
        tree.put(
            "/sys/block/sda/queue/scheduler",
            "none [mq-deadline] kyber\n",
        );
        tree.put("/sys/block/sda/queue/logical_block_size", "4096\n");
        tree.put("/sys/block/sda/queue/rotational", "1\n");
        tree.partition("sda", "sda1", "8:1", 1 << 20, 50 << 20);
        let nodes = scan(&tree.roots());
        let part = &nodes[1];
        assert_eq!(part.facts.name, "sda1");
        assert_eq!(part.parent.as_deref(), Some("sda"));
        assert_eq!((part.start, part.facts.size_bytes.0), (1 << 20, 50 << 20));
        assert_eq!(part.facts.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(part.facts.logical_block_bytes, Bytes(4096));
        assert!(part.facts.rotational);
        assert_eq!(nodes[0].partitions, ["sda1"]);
    }

    #[test]
    fn names_are_ordered_as_people_count() {
        let tree = Tree::new();
        for (name, number) in [("nvme10n1", "259:9"), ("nvme2n1", "259:2"), ("md0", "9:0")] {
            tree.disk(name, number, 1 << 20);
        }
        let nodes = scan(&tree.roots());
        let names: Vec<_> = nodes.iter().map(|node| node.facts.name.as_str()).collect();
        assert_eq!(names, ["md0", "nvme2n1", "nvme10n1"]);
    }

    #[test]
    fn the_hidden_paths_of_one_namespace_are_not_devices() {
        let tree = Tree::new();
        tree.disk("nvme0n1", "259:0", 1 << 20);
        tree.disk("nvme0c0n1", "259:1", 1 << 20);
        tree.put("/sys/block/nvme0c0n1/hidden", "1\n");
        assert_eq!(scan(&tree.roots()).len(), 1);
    }

    #[test]
    fn a_slash_in_a_name_is_written_as_an_exclamation_mark() {
        assert_eq!(device_path("cciss!c0d0"), PathBuf::from("/dev/cciss/c0d0"));
    }

    #[test]
    fn scsi_serials_come_from_their_page() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 1 << 20);
        tree.put("/sys/block/sda/device/vpd_pg80", "\0\u{1}\0\u{8}  S3Z8NB");
        let nodes = scan(&tree.roots());
        assert_eq!(nodes[0].facts.serial.as_deref(), Some("S3Z8NB"));
    }
}
