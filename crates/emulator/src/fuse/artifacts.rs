//! What a server made on this machine and has to undo, written down so that the next one can when
//! this one was killed.
//!
//! ```text
//!   /run/blocklab/4711-123456         the note, locked by process 4711 as long as it lives
//!   /run/blocklab/4711-123456.mount   its own folder, where none was named
//! ```
//!
//! A note whose lock is free belongs to a process that is gone. A note alone undoes nothing: a mount
//! must carry the note's name as its source, a block device must have the file of that mount (or
//! the recorded disk sequence number) behind it, no process may listen at a socket, and a folder
//! must be empty.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blocklab_host::programs;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::block_device::{self, BlockDevice};
use super::mount::{self, Unmount};

/// Everything that this server has made and must remove, as its note holds it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Made {
    mounts: Vec<PathBuf>,
    devices: Vec<BlockDevice>,
    folders: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
}

/// The note of this process, with all that it made.
#[derive(Debug)]
pub struct Artifacts {
    note: PathBuf,
    file: File,
    /// The source that its mounts carry.
    name: String,
    made: Made,
}

/// Somebody who uses what is to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// A file system on the block device.
    FileSystem {
        /// `/dev/loop3`
        device: PathBuf,
        /// Where it is mounted.
        at: PathBuf,
    },
    /// A program that has it open.
    Program {
        /// The file or device that it has open.
        path: PathBuf,
        /// Its name.
        name: String,
        /// Its process.
        pid: u32,
    },
    /// Somebody who cannot be seen from here.
    Unknown {
        /// The mount or device in use.
        path: PathBuf,
    },
}

impl Holder {
    /// The mount or device that is in use.
    fn path(&self) -> &Path {
        match self {
            Self::FileSystem { device: path, .. }
            | Self::Program { path, .. }
            | Self::Unknown { path } => path,
        }
    }
}

/// What a server that was killed had left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// It is gone now.
    Undone(PathBuf),
    /// It is still used by somebody.
    Held(Holder),
}

impl Artifacts {
    /// Undoes what servers that were killed left, and begins the note of this one.
    ///
    /// # Errors
    /// When there is no place for notes that is ours alone.
    pub fn new() -> io::Result<(Self, Vec<Leftover>)> {
        let folder = notes_folder()?;
        let found = clean(&folder);
        let pid = std::process::id();
        let name = format!("{pid}-{}", start_time(pid).unwrap_or_default());
        let note = folder.join(&name);
        // Others take a note without a lock for one of the dead: it gets its name when it has it.
        let unnamed = folder.join(format!("{name}.new"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.mode(0o600).open(&unnamed)?;
        file.try_lock().map_err(|_| io::ErrorKind::ResourceBusy)?;
        fs::rename(&unnamed, &note)?;
        let mut artifacts = Self {
            note,
            file,
            name: format!("blocklab-{name}"),
            made: Made::default(),
        };
        artifacts.write()?;
        Ok((artifacts, found))
    }

    /// The source that the mounts of this process carry.
    pub(super) fn source(&self) -> &str {
        &self.name
    }

    /// A folder for a user who named none. No other user can enter it.
    pub(super) fn own_folder(&mut self) -> io::Result<PathBuf> {
        let path = self.note.with_extension("mount");
        self.made.folders.push(path.clone());
        self.write()?;
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(path)
    }

    /// This server is about to mount something there.
    pub(super) fn mounts(&mut self, at: &Path) -> io::Result<()> {
        self.made.mounts.push(at.to_owned());
        self.write()
    }

    /// This server has made a block device.
    pub(super) fn made_device(&mut self, device: &BlockDevice) -> io::Result<()> {
        self.made.devices.push(device.clone());
        self.write()
    }

    /// A socket at which this process listens.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn listens_at(&mut self, socket: &Path) -> io::Result<()> {
        self.made.sockets.push(socket.to_owned());
        self.write()
    }

    /// Writes the note anew.
    fn write(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.made)?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)
    }

    /// Undoes all that is not in use; returns what uses the rest.
    pub fn undo(&mut self) -> Vec<Holder> {
        undo(&mut self.made, &self.name, Unmount::Idle)
    }

    /// Undoes all; whatever uses it gets errors from now on. Returns what did.
    pub fn undo_by_force(&mut self) -> Vec<Holder> {
        // The users are known only before they are cut off.
        let before = self.undo();
        undo(&mut self.made, &self.name, Unmount::Forced);
        before
    }
}

/// The note goes with its process, unless something is left.
impl Drop for Artifacts {
    fn drop(&mut self) {
        self.undo_by_force();
        // What cannot be written down or removed is found by its mount.
        let _ = if is_left(&self.made, &self.name) {
            self.write()
        } else {
            fs::remove_file(&self.note)
        };
    }
}

/// The folder of notes: of this user alone, and empty after the machine was started. It is made if it
/// is not there.
///
/// # Errors
/// When it cannot be made, or others can use it.
fn notes_folder() -> io::Result<PathBuf> {
    let uid = geteuid().as_raw();
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = match (uid, own.filter(|path| path.is_absolute())) {
        (0, _) => PathBuf::from("/run/blocklab"),
        (_, Some(own)) => own.join("blocklab"),
        (uid, None) => PathBuf::from(format!("/tmp/blocklab-{uid}")),
    };
    let mut builder = DirBuilder::new();
    match builder.mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let text = format!("cannot make {}: {error}", folder.display());
            return Err(io::Error::new(error.kind(), text));
        }
        _ => {}
    }
    // In /tmp anybody could have made it, or a link in its place.
    let facts = fs::symlink_metadata(&folder)?;
    let is_ours = facts.is_dir() && facts.uid() == uid && facts.mode() & 0o077 == 0;
    if is_ours {
        Ok(folder)
    } else {
        Err(io::Error::other(format!(
            "{} is not a folder that only this user can use; remove it",
            folder.display()
        )))
    }
}

/// When a process was started, in ticks since the machine was; `None` if there is no such process.
/// Together with this, a process number is used once only.
fn start_time(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in parentheses and may hold anything.
    let (_, fields) = text.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// Undoes what is in the notes of processes that are gone.
fn clean(folder: &Path) -> Vec<Leftover> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // Reading a note locks it. A server that is still making its note would fail to lock it.
        let is_new = path.extension().is_some_and(|end| end == "new");
        if !is_new && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            clean_note(&path, &mut found);
        }
    }
    found
}

/// Undoes what the server of a note has left behind, unless it still runs. `found` gets what was undone
/// and what still holds the rest.
fn clean_note(path: &Path, found: &mut Vec<Leftover>) {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOFOLLOW);
    let Ok(mut file) = options.open(path) else {
        return;
    };
    if file.try_lock().is_err() {
        return;
    }
    let mut text = Vec::new();
    let read = file.read_to_end(&mut text);
    let (Ok(_), Some(name)) = (read, path.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    // A note that its process had no time to fill: its mounts are found by their source.
    let mut made: Made = serde_json::from_slice(&text).unwrap_or_default();
    let source = format!("blocklab-{name}");
    let mounted: Vec<_> = mount::ours(&source)
        .into_iter()
        .map(|mount| mount.point)
        .collect();
    let devices = made.devices.iter().filter(|device| device.is_there());
    let devices: Vec<_> = devices.map(BlockDevice::path).collect();
    // The kernel's list counts: the note may name mounts that are gone, and lack the last one.
    made.mounts.clone_from(&mounted);
    let holders = undo(&mut made, &source, Unmount::Forced);
    let undone = devices
        .into_iter()
        .chain(mounted)
        .filter(|path| holders.iter().all(|holder| holder.path() != path));
    found.extend(undone.map(Leftover::Undone));
    found.extend(holders.into_iter().map(Leftover::Held));
    for socket in &made.sockets {
        remove_socket(socket);
    }
    if !is_left(&made, &source) {
        // Another process that cleans may have removed it.
        let _ = fs::remove_file(path);
    }
}

/// Whether something needs its note still: a mount that another one lies over, say, is found by the
/// note's name alone.
fn is_left(made: &Made, source: &str) -> bool {
    made.devices.iter().any(BlockDevice::is_there) || !mount::ours(source).is_empty()
}

/// Undoes all that may be undone, the last thing first. Returns what still uses the rest.
fn undo(made: &mut Made, source: &str, how: Unmount) -> Vec<Holder> {
    let mut holders = Vec::new();
    for at in &made.mounts {
        // A device that was made just before the process was killed is in no note.
        for device in block_device::with_files_in(at) {
            let is_ours = mount::ours(source).iter().any(|mount| mount.point == *at);
            if is_ours && !made.devices.contains(&device) {
                made.devices.push(device);
            }
        }
    }
    for device in &made.devices {
        release(device, how, &mut holders);
    }
    // A mount stays as long as a device of one of its files is in use.
    let is_idle = holders.is_empty();
    for at in &made.mounts {
        if how == Unmount::Idle && !is_idle {
            break;
        }
        if !mount::unmount(at, source, how) {
            holders.extend(users(at));
        }
    }
    for folder in &made.folders {
        // It is removed only if it is empty.
        let _ = fs::remove_dir(folder);
    }
    holders
}

/// The kernel lets a device go a moment after it is closed: how often that is checked.
const RELEASE_POLLS: usize = 50;
/// The time between two of these checks.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Releases a block device, and adds to `holders` what still uses it.
fn release(device: &BlockDevice, how: Unmount, holders: &mut Vec<Holder>) {
    if !device.is_there() {
        return;
    }
    let mounted = file_systems(device);
    let is_held = !mounted.is_empty() || device.is_claimed();
    if !is_held || how == Unmount::Forced {
        device.release();
    }
    if !is_held {
        for _ in 0..RELEASE_POLLS {
            if !device.is_there() {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    if mounted.is_empty() {
        holders.extend(users(&device.path()))
    } else {
        holders.extend(mounted)
    }
}

/// The file systems that are mounted from a device.
fn file_systems(device: &BlockDevice) -> Vec<Holder> {
    let number = device.numbers();
    blocklab_host::mounts()
        .into_iter()
        .filter(|mount| Some(&mount.number) == number.as_ref())
        .map(|mount| Holder::FileSystem {
            device: device.path(),
            at: mount.point,
        })
        .collect()
}

/// The programs that use something at or below a path; [`Holder::Unknown`] if none can be seen, as those of
/// another user or container, or the kernel itself.
fn users(path: &Path) -> Vec<Holder> {
    let found = programs(|process| uses(process, path));
    if found.is_empty() {
        return vec![Holder::Unknown {
            path: path.to_owned(),
        }];
    }
    found
        .into_iter()
        .map(|(pid, name)| Holder::Program {
            path: path.to_owned(),
            name,
            pid,
        })
        .collect()
}

/// Whether a process, named by its folder in `/proc`, works in a folder or has a file of it open.
fn uses(process: &Path, folder: &Path) -> bool {
    let open = fs::read_dir(process.join("fd"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    open.chain(["cwd", "root"].map(|name| process.join(name)))
        .filter_map(|link| fs::read_link(link).ok())
        .any(|target| target.starts_with(folder))
}

/// Removes a socket at which no process listens any more.
fn remove_socket(path: &Path) {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    let connected = UnixStream::connect(path);
    if is_socket && connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        // One that cannot be removed is removed by who listens there next.
        let _ = fs::remove_file(path);
    }
}
