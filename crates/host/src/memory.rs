//! The folder in which runs write down what they left on devices, so that the next run knows its
//! own data from a user's.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::block::Node;
use crate::machine::Machine;
use crate::sample::digest_of;

/// What runs have left on devices: a small file for each device, with the digest of its samples.
/// A device whose samples have the same digest counts as not written to since.
#[derive(Debug, Clone)]
pub struct Memory {
    folder: PathBuf,
}

impl Memory {
    /// The memory in this folder, which need not exist.
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Whether this is what the last run left on the device. A file that is damaged, or
    /// another device's, does not count.
    pub(crate) fn knows(&self, identity: &str, digest: &str) -> bool {
        let kept = fs::read_to_string(self.file(identity));
        kept.is_ok_and(|kept| kept == text(identity, digest))
    }

    /// Keeps what a run left on a device.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn keep(&self, identity: &str, digest: &str) -> io::Result<()> {
        let file = self.file(identity);
        let fresh = file.with_extension(format!("new-{}", std::process::id()));
        let kept = fs::create_dir_all(&self.folder)
            .and_then(|()| write(&fresh, &text(identity, digest)))
            .and_then(|()| fs::rename(&fresh, &file));
        kept.map_err(|error| {
            // It may not be there; an error here would add nothing.
            let _ = fs::remove_file(&fresh);
            named(&file, &error)
        })
    }

    /// Forgets a device, on which a run is about to write: if it is killed, nothing is known.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn remove(&self, identity: &str) -> io::Result<()> {
        let file = self.file(identity);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(&file, &error)),
            _ => Ok(()),
        }
    }

    fn file(&self, identity: &str) -> PathBuf {
        self.folder.join(&digest_of(identity)[..32])
    }
}

/// Where samples of a device are taken: always at the same places.
pub(crate) fn seed(identity: &str) -> u64 {
    u64::from_str_radix(&digest_of(identity)[..16], 16).unwrap_or(0)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create_new(true).mode(0o600);
    io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}

fn text(identity: &str, digest: &str) -> String {
    format!("samples 1\n{identity}\n{digest}\n")
}

/// What identifies a device, in one line: its serial number; for a loop device its file; without
/// either the number that this boot gave it. The size is added, and the offset of a partition.
/// `None`: nothing identifies it, so it is never recognised.
pub(crate) fn identity(machine: &Machine, node: &Node) -> Option<String> {
    let parent = node.parent.as_deref().and_then(|name| machine.node(name));
    let own = own_identity(machine, parent.unwrap_or(node))?;
    let size = node.facts.size_bytes.0;
    let line = match node.parent {
        Some(_) => format!("{own}, from {}, {size} bytes", node.start),
        None => format!("{own}, {size} bytes"),
    };
    // A device may report any characters as its serial number.
    Some(line.escape_debug().to_string())
}

/// What identifies a whole disk; `None` if nothing does.
fn own_identity(machine: &Machine, disk: &Node) -> Option<String> {
    let roots = machine.roots();
    let folder = format!("/sys/block/{}", disk.facts.name);
    if disk.backing_file.is_some() {
        let (device, inode) = machine.backing_id(disk)?;
        let offset = roots.number::<u64>(format!("{folder}/loop/offset"))?;
        return Some(format!("loop over file {device}:{inode} from {offset}"));
    }
    if let Some(serial) = &disk.facts.serial {
        let model = disk.facts.model.as_deref().unwrap_or_default();
        return Some(format!("{model} serial {serial}"));
    }
    let sequence = roots.number::<u64>(format!("{folder}/diskseq"))?;
    let boot = roots.text("/proc/sys/kernel/random/boot_id")?;
    Some(format!("{} {sequence} of boot {boot}", disk.facts.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tree::Tree;

    #[test]
    fn what_was_kept_is_known_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::at(folder.path().join("a/b"));
        assert!(!memory.knows("disk 1", "d1"));
        memory.remove("disk 1").unwrap();
        memory.keep("disk 1", "d1").unwrap();
        assert!(memory.knows("disk 1", "d1"));
        assert!(!memory.knows("disk 1", "d2"));
        assert!(!memory.knows("disk 2", "d1"));
        memory.keep("disk 1", "d2").unwrap();
        assert!(memory.knows("disk 1", "d2"));
        memory.remove("disk 1").unwrap();
        assert!(!memory.knows("disk 1", "d2"));
    }

    #[test]
    fn a_damaged_file_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::at(folder.path().to_owned());
        memory.keep("disk", "d1").unwrap();
        let whole = fs::read(memory.file("disk")).unwrap();
        for damaged in [&whole[..whole.len() - 3], b"", b"\xff\xfe", b"samples 1\n"] {
            fs::write(memory.file("disk"), damaged).unwrap();
            assert!(!memory.knows("disk", "d1"));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let memory = Memory::at(file.join("below"));
        let error = memory.keep("disk", "d1").unwrap_err().to_string();
        assert!(error.contains(&*file.to_string_lossy()), "{error}");
        assert!(!memory.knows("disk", "d1"));
    }

    fn identity_on(tree: &Tree, name: &str) -> Option<String> {
        let machine = tree.machine();
        identity(&machine, machine.node(name).unwrap())
    }

    #[test]
    fn a_device_is_known_by_what_it_says_of_itself() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 64 << 20);
        tree.partition("sda", "sda1", "8:1", 1 << 20, 32 << 20);
        assert_eq!(identity_on(&tree, "sda"), None, "nothing is known of it");
        tree.put("/sys/block/sda/diskseq", "9\n");
        tree.put("/proc/sys/kernel/random/boot_id", "b00t\n");
        assert_eq!(
            identity_on(&tree, "sda").unwrap(),
            "sda 9 of boot b00t, 67108864 bytes"
        );
        tree.put("/sys/block/sda/device/serial", "S\u{1b}1\n");
        tree.put("/sys/block/sda/device/model", "Fast\n");
        let disk = identity_on(&tree, "sda").unwrap();
        assert_eq!(disk, "Fast serial S\\u{1b}1, 67108864 bytes");
        let part = identity_on(&tree, "sda1").unwrap();
        assert_eq!(part, "Fast serial S\\u{1b}1, from 1048576, 33554432 bytes");
    }

    #[test]
    fn a_loop_device_is_its_file() {
        let tree = Tree::new();
        for name in ["loop0", "loop1"] {
            tree.disk(name, "7:0", 1 << 20);
            tree.put(&format!("/sys/block/{name}/loop/offset"), "0\n");
        }
        tree.put("/img", "");
        tree.put("/other", "");
        tree.put("/sys/block/loop0/loop/backing_file", "/img\n");
        tree.put("/sys/block/loop1/loop/backing_file", "/img\n");
        assert_eq!(identity_on(&tree, "loop0"), identity_on(&tree, "loop1"));
        tree.put("/sys/block/loop1/loop/backing_file", "/other\n");
        assert_ne!(identity_on(&tree, "loop0"), identity_on(&tree, "loop1"));
        tree.put("/sys/block/loop1/loop/backing_file", "/img (deleted)\n");
        assert_eq!(identity_on(&tree, "loop1"), None);
    }
}
