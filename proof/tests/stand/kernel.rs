//! Loop devices and mounts that a test makes and that are gone with it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{is_root, text, tool};

/// A loop device over a file of its own.
pub struct Loop {
    device: String,
    backing: PathBuf,
    _folder: TempDir,
}

impl Loop {
    /// A blank one of `size` bytes; nothing where this machine gives none, which is reported.
    pub fn attach(size: u64, options: &[&str]) -> Option<Self> {
        if !is_root("loop devices") {
            return None;
        }
        let folder = TempDir::with_prefix_in("loop-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("a folder on the disk");
        let backing = folder.path().join("disk.img");
        let file = fs::File::create(&backing).expect("a file");
        file.set_len(size).expect("a hole");
        let mut args = vec!["--find", "--show"];
        args.extend(options);
        args.push(text(&backing));
        let device = tool("losetup", &args)?.trim().to_owned();
        Some(Self {
            device,
            backing,
            _folder: folder,
        })
    }

    /// `/dev/loop3`.
    pub fn path(&self) -> &str {
        &self.device
    }

    /// `loop3`.
    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// The file below it.
    pub fn backing(&self) -> &str {
        text(&self.backing)
    }

    /// Everything on it.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.device).expect("root reads devices")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        tool("losetup", &["--detach", &self.device]);
    }
}

/// A mounted file system.
pub struct Mount {
    point: TempDir,
}

impl Mount {
    /// Mounts `device`.
    pub fn new(device: &str) -> Option<Self> {
        Self::with(&[device])
    }

    /// Mounts `device` so that not even its file system writes to it.
    pub fn read_only(device: &str) -> Option<Self> {
        Self::with(&["-o", "ro", device])
    }

    /// Lets a file system that was mounted read-only be written to.
    pub fn allow_writes(&self) -> Option<String> {
        tool("mount", &["-o", "remount,rw", text(self.path())])
    }

    /// A file system in memory of `size`, such as `8m`.
    pub fn memory(size: &str) -> Option<Self> {
        if !is_root("mounting a small file system") {
            return None;
        }
        Self::with(&["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
    }

    fn with(args: &[&str]) -> Option<Self> {
        let point = TempDir::with_prefix_in("mount-", env!("CARGO_TARGET_TMPDIR"));
        let point = point.expect("a folder on the disk");
        let args: Vec<&str> = args.iter().copied().chain([text(point.path())]).collect();
        tool("mount", &args)?;
        Some(Self { point })
    }

    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Lets everybody who writes to it wait until the answer is dropped.
    pub fn freeze(&self) -> Option<Frozen<'_>> {
        tool("fsfreeze", &["--freeze", text(self.path())])?;
        Some(Frozen(self))
    }
}

/// A file system that holds up its writers, in a sleep that no signal ends.
pub struct Frozen<'a>(&'a Mount);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        tool("fsfreeze", &["--unfreeze", text(self.0.path())]);
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a run that was told to end may still hold a file here for a moment.
        tool("umount", &["--lazy", text(self.point.path())]);
    }
}
