//! From a path to the facts of a target: kind, size, file system, devices below it, alignment.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use blocklab_record::{BlockDevice, FileSystem, TargetFacts, TargetKind};
use blocklab_units::Bytes;

use crate::handle::Handle;
use crate::health::health;
use crate::machine::Machine;
use crate::mounts::Mount;
use crate::roots::Roots;
use crate::syscall;

/// What a target is and what lies below it: its file system, the block devices from the nearest
/// to the farthest, its size, the alignment that O_DIRECT needs.
///
/// A directory is reported as [`TargetKind::Scratch`] with size 0 and without alignment: those belong
/// to the file that is going to be made there.
///
/// # Errors
/// Where nothing is at `path` or it cannot be looked at; the text begins with the path.
pub fn target_facts(path: &Path) -> io::Result<TargetFacts> {
    Handle::open(path)
        .and_then(|handle| facts_of(&handle))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// [`target_facts`] of what is open already.
///
/// # Errors
/// Where it cannot be looked at.
pub fn facts_of(handle: &Handle) -> io::Result<TargetFacts> {
    Ok(TargetFacts {
        path: handle.path().display().to_string(),
        ..facts(&handle.reopen_path())?
    })
}

/// The facts of many files and directories: what lies below a mount is looked up once for each kind.
/// The key is the id of a mount and whether the facts are those of a directory.
#[derive(Debug, Default)]
pub struct FactsByMount(HashMap<(u64, bool), TargetFacts>);

impl FactsByMount {
    /// As [`facts_of`]. The free space is that at the time of the first file of the mount.
    ///
    /// # Errors
    /// As [`facts_of`].
    pub fn facts_of(&mut self, handle: &Handle) -> io::Result<TargetFacts> {
        let is_directory = handle.kind().is_dir();
        if !handle.kind().is_file() && !is_directory {
            return facts_of(handle);
        }
        let extra = syscall::extra_of(&handle.file())?;
        let Some(mount) = extra.mount_id else {
            return facts_of(handle);
        };
        let Some(known) = self.0.get(&(mount, is_directory)) else {
            let facts = facts_of(handle)?;
            self.0.insert((mount, is_directory), facts.clone());
            return Ok(facts);
        };
        let mut facts = TargetFacts {
            path: handle.path().display().to_string(),
            size_bytes: if is_directory {
                Bytes::ZERO
            } else {
                extra.size
            },
            ..known.clone()
        };
        // 0: the file takes no O_DIRECT.
        if let Some((memory, offset)) = extra.direct {
            facts.direct_memory_align = (offset > 0).then_some(memory);
            facts.direct_offset_align = (offset > 0).then_some(offset);
        }
        Ok(facts)
    }
}

/// [`target_facts`] of a path that leads to an open file.
fn facts(path: &Path) -> io::Result<TargetFacts> {
    let metadata = fs::metadata(path)?;
    let kind = kind(&metadata)?;
    // A device may have been attached a moment ago, so the machine is looked at anew for it.
    let machine = match kind {
        TargetKind::File | TargetKind::Scratch => Machine::recent(),
        _ => Arc::new(Machine::snapshot()),
    };
    let devices = devices_below(&machine, path);
    let is_device = matches!(kind, TargetKind::BlockDevice | TargetKind::CharDevice);
    let mount = machine.mount_of(path).filter(|_| !is_device);
    let direct = direct_align(path, kind, devices.first())?;
    let size = match kind {
        TargetKind::File => Bytes(metadata.len()),
        TargetKind::BlockDevice => device_size(path)
            .or(devices.first().map(|d| d.size_bytes))
            .unwrap_or_default(),
        _ => Bytes::ZERO,
    };
    Ok(TargetFacts {
        path: path.display().to_string(),
        kind,
        size_bytes: size,
        file_system: mount.map(|mount| file_system(path, mount)).transpose()?,
        devices,
        direct_memory_align: direct.map(|(memory, _)| memory),
        direct_offset_align: direct.map(|(_, offset)| offset),
        ..TargetFacts::default()
    })
}

/// What a file is as a target.
fn kind(metadata: &fs::Metadata) -> io::Result<TargetKind> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Ok(TargetKind::Scratch)
    } else if kind.is_file() {
        Ok(TargetKind::File)
    } else if kind.is_block_device() {
        Ok(TargetKind::BlockDevice)
    } else if kind.is_char_device() {
        Ok(TargetKind::CharDevice)
    } else {
        let why = "a pipe or socket stores nothing; a target is a directory, a file or a device";
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }
}

/// The devices of the mount, or the device itself, and everything below.
fn devices_below(machine: &Machine, path: &Path) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = Vec::new();
    let nearest = machine.devices_of(path);
    let below = nearest.iter().flat_map(|name| machine.below(name));
    let nodes = nearest.iter().filter_map(|name| machine.node(name));
    for node in nodes.chain(below) {
        if !found.iter().any(|device| device.name == node.facts.name) {
            found.push(BlockDevice {
                health: health(&Roots::real(), &node.facts.name),
                ..node.facts.clone()
            });
        }
    }
    found
}

/// The file system of a mount, and how much room is on it.
fn file_system(path: &Path, mount: &Mount) -> io::Result<FileSystem> {
    let (size_bytes, free_bytes) = syscall::space(path)?;
    Ok(FileSystem {
        kind: mount.kind.clone(),
        mount_point: mount.point.display().to_string(),
        options: mount.options.clone(),
        size_bytes,
        free_bytes,
    })
}

/// The size of the device, as an opened one reports it; `None` without the right to open it.
fn device_size(path: &Path) -> Option<Bytes> {
    let mut file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    file.seek(SeekFrom::End(0)).ok().map(Bytes)
}

/// The alignment of memory and of offsets for O_DIRECT, in bytes; `None` if it is not offered. Where the
/// kernel does not report it (before Linux 6.1, and some file systems), it is the logical block of the
/// device below, which every O_DIRECT needs at most for memory and at least for offsets; without a device,
/// 4 KiB.
fn direct_align(
    path: &Path,
    kind: TargetKind,
    nearest: Option<&BlockDevice>,
) -> io::Result<Option<(u32, u32)>> {
    const WITHOUT_DEVICE: u32 = 4096;
    if !matches!(kind, TargetKind::File | TargetKind::BlockDevice) {
        return Ok(None);
    }
    if let Some((memory, offset)) = syscall::extra(path)?.direct {
        return Ok((offset > 0).then_some((memory, offset)));
    }
    let block = nearest
        .and_then(|device| u32::try_from(device.logical_block_bytes.0).ok())
        .unwrap_or(WITHOUT_DEVICE);
    let offered = kind == TargetKind::BlockDevice || opens_direct(path);
    Ok(offered.then_some((block, block)))
}

fn opens_direct(path: &Path) -> bool {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_DIRECT);
    options.open(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_size_and_its_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, vec![1; 10_000]).unwrap();
        let facts = target_facts(&path).unwrap();
        assert_eq!(facts.kind, TargetKind::File);
        assert_eq!(facts.size_bytes, Bytes(10_000));
        let file_system = facts.file_system.unwrap();
        assert!(file_system.size_bytes >= file_system.free_bytes);
        assert!(
            path.canonicalize()
                .unwrap()
                .starts_with(file_system.mount_point)
        );
        if let Some(offset) = facts.direct_offset_align {
            assert!(offset.is_power_of_two());
        }
    }

    /// With 9,000 files, half of the set-up went into looking up the same mount again.
    #[test]
    fn files_of_one_mount_have_the_same_facts_as_when_each_is_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = FactsByMount::default();
        for size in [1, 10_000, 0] {
            let path = folder.path().join(size.to_string());
            fs::write(&path, vec![1; size]).unwrap();
            let handle = Handle::open(&path).unwrap();
            let found = known.facts_of(&handle);
            let (mut found, mut expected) = (found.unwrap(), facts_of(&handle).unwrap());
            assert_eq!(found.size_bytes, Bytes(size as u64));
            // Others use the file system meanwhile.
            for facts in [&mut found, &mut expected] {
                facts.file_system.as_mut().unwrap().free_bytes = Bytes::ZERO;
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_directory_is_a_place_for_scratch_files() {
        let folder = tempfile::tempdir().unwrap();
        let facts = target_facts(folder.path()).unwrap();
        assert_eq!(facts.kind, TargetKind::Scratch);
        assert_eq!(facts.size_bytes, Bytes::ZERO);
        assert!(facts.file_system.is_some());
    }

    /// Relative paths were once looked up from the root, and the wrong file system was reported.
    #[test]
    fn a_relative_path_begins_where_we_stand() {
        let here = std::env::current_dir().unwrap();
        let up = "../".repeat(here.components().count() - 1);
        for absolute in ["/dev/shm", "/proc", "/sys"] {
            let relative = format!("{up}{}", &absolute[1..]);
            let Ok(expected) = target_facts(Path::new(absolute)) else {
                eprintln!("skipped: no {absolute} here");
                continue;
            };
            let found = target_facts(Path::new(&relative)).unwrap();
            let kind = |facts: TargetFacts| facts.file_system.map(|f| (f.kind, f.mount_point));
            assert_eq!(kind(found), kind(expected), "{relative}");
        }
    }

    #[test]
    fn a_character_device_has_neither_file_system_nor_devices() {
        let facts = target_facts(Path::new("/dev/zero")).unwrap();
        assert_eq!(facts.kind, TargetKind::CharDevice);
        assert_eq!(facts.file_system, None);
        assert_eq!(facts.devices, []);
    }

    #[test]
    fn what_is_not_there_is_reported_with_its_path() {
        let error = target_facts(Path::new("/no/such/thing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with("/no/such/thing: "));
    }
}
