//! In: a [`Handle`] on what is to be written to, and the names of what the user lets be overwritten.
//! Out: permission, or a [`Refusal`] with every reason and what would work.
//! Never: a write; a guess that lets a write happen; a second look at a name.

mod ours;
mod refusal;
mod remains;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::block::Node;
use crate::check::{Use, check_device, plain};
use crate::claim::{Claim, claim, users};
use crate::file_id::{FileId, file_id};
use crate::handle::{Handle, NewPath, id_of};
use crate::machine::{Machine, number_text};
use crate::memory::Memory;
use crate::reason::{Cause, Reason};

pub use ours::mark;
pub use refusal::Refusal;
pub(crate) use remains::Content;
use remains::{Allowed, Remains};

/// How many files are kept open: as many as every machine has descriptors to spare.
const HELD: usize = 128;

/// The file or device to which a path led when it was first looked up.
#[derive(Debug, Clone)]
enum Known {
    Held(Handle),
    /// A regular file that was one too many to be kept open, and when it was made.
    Seen(FileId, Option<SystemTime>),
}

/// Decides for a whole run what may be written to, and keeps others from it meanwhile.
///
/// What a path leads to when it is opened first is what it means until the end: it is kept open, or,
/// with many files, known again by device and inode. A block device that may be written to is claimed
/// exclusively, so that another run or `mkfs` is refused as long as the guard lives; a regular file is
/// locked, unless a job file names it, as other tools let several of their runs share a file.
#[derive(Debug, Default)]
pub struct Guard {
    /// The names of what the user lets be overwritten.
    names: Vec<String>,
    /// The host of a fleet on which this is.
    host: Option<String>,
    /// Files whose content a job file gives up by naming them, or that were made in this run.
    files: RefCell<HashSet<FileId>>,
    /// The same by path.
    paths: RefCell<HashSet<OsString>>,
    known: RefCell<HashMap<OsString, Known>>,
    /// Directories in which files may be made.
    directories: RefCell<BTreeMap<PathBuf, Handle>>,
    /// What the run leaves; before the claims, under which it is sampled when the guard goes.
    remains: Remains,
    /// Our exclusive claims, by kernel name.
    claims: RefCell<BTreeMap<String, File>>,
    /// Our locks of regular files.
    locks: RefCell<BTreeMap<FileId, File>>,
}

impl Guard {
    /// An entry of `names` gives up what is on exactly the thing it names: a device by kernel name
    /// (`sdb`), by any path, by its name under `/dev/disk/by-id`, by serial number where one disk
    /// has it; a file by a path.
    pub fn new(names: &[String]) -> Self {
        Self {
            names: names.to_vec(),
            ..Self::default()
        }
    }

    /// Lets a device be written to that still holds what an earlier run left on it, and remembers
    /// what this one leaves, when the guard is dropped. `report` gets a message where that fails.
    #[must_use]
    pub fn with_memory(self, memory: Memory, report: fn(&str)) -> Self {
        Self {
            remains: Remains::with_memory(memory, report),
            ..self
        }
    }

    /// For a host of a fleet: refusals suggest names as the fleet takes them, such as `h2:sdb`.
    #[must_use]
    pub fn on_host(self, host: &str) -> Self {
        Self {
            host: Some(host.to_owned()),
            ..self
        }
    }

    /// Notes that a run wrote to what this path led to: its content is ours now.
    pub fn mark_written(&self, path: &Path) {
        self.remains.mark_written(path);
    }

    /// Notes that operations did not come back: what they will have done is unknown.
    pub fn mark_unknown(&self) {
        self.remains.set_unknown();
    }

    /// Opens what `path` leads to, or gives what it led to the first time.
    ///
    /// # Errors
    /// As `open`, and where the path leads to another file than the first time.
    pub fn open(&self, path: &Path) -> io::Result<Handle> {
        let known = self.known.borrow().get(path.as_os_str()).cloned();
        match known {
            Some(Known::Held(handle)) => Ok(handle),
            Some(Known::Seen(id, born)) => {
                let handle = Handle::open(path)?;
                if handle.identity() == id && is_as_old(handle.born(), born) {
                    Ok(handle)
                } else {
                    Err(io::Error::other("it is another file than it was before"))
                }
            }
            None => {
                let handle = Handle::open(path)?;
                self.keep(&handle);
                Ok(handle)
            }
        }
    }

    /// Whether it keeps what `path` leads to open.
    pub fn holds(&self, path: &Path) -> bool {
        let known = self.known.borrow();
        matches!(known.get(path.as_os_str()), Some(Known::Held(_)))
    }

    /// Whether `path`, which leads to a file with this `metadata` now, leads where it led the first
    /// time.
    #[must_use]
    pub fn is_unchanged(&self, path: &Path, metadata: &Metadata) -> bool {
        match self.known.borrow().get(path.as_os_str()) {
            Some(Known::Held(handle)) => handle.identity() == id_of(metadata),
            Some(Known::Seen(id, born)) => {
                *id == id_of(metadata) && is_as_old(metadata.created().ok(), *born)
            }
            None => true,
        }
    }

    fn keep(&self, handle: &Handle) {
        let mut known = self.known.borrow_mut();
        let kept = if known.len() < HELD || !handle.kind().is_file() {
            Known::Held(handle.clone())
        } else {
            Known::Seen(handle.identity(), handle.born())
        };
        known.insert(handle.path().as_os_str().to_owned(), kept);
    }

    /// Takes a file that was just made: its path means this file from now on, and it may be
    /// written to.
    pub fn made(&self, handle: &Handle) {
        self.give_up_content(handle);
        self.keep(handle);
    }

    /// Takes a file that was just made and may have been marked as ours.
    pub fn adopt(&self, handle: &Handle) {
        if ours::is_marked(handle) {
            self.remains.allow(Allowed::file(handle), false);
        }
        self.made(handle);
    }

    /// Lets the content of a regular file be overwritten, as other tools do with files that their
    /// job files name. The uses of the file still count.
    pub fn give_up_content(&self, handle: &Handle) {
        if handle.kind().is_file() {
            self.files.borrow_mut().insert(handle.identity());
        }
    }

    /// Permits to overwrite the content of the regular file at `path`, if there will be one.
    pub fn give_up_content_at(&self, path: &Path) {
        let mut paths = self.paths.borrow_mut();
        paths.insert(path.as_os_str().to_owned());
    }

    /// Decides whether this may be written to.
    ///
    /// A block device may when it is blank and not in use; a file when it has no content or
    /// blocklab made it ([`mark`]). Names lift reasons about content, never about use. A directory
    /// may always: what is made there is ours.
    ///
    /// # Errors
    /// [`Refusal`]: every reason, and what would work.
    pub fn may_write(&self, handle: &Handle) -> Result<(), Refusal> {
        let checked = self.check(handle);
        match &self.host {
            Some(host) => checked.map_err(|refusal| refusal.on_host(host)),
            None => checked,
        }
    }

    fn check(&self, handle: &Handle) -> Result<(), Refusal> {
        let path = handle.path();
        let refuse = |cause| Err(refused(path, cause));
        // An open directory stays one, so the kind at the time of opening counts.
        if handle.kind().is_dir() {
            return match reserved(&Machine::recent(), handle) {
                Some(file_system) => refuse(Cause::Kernels(file_system)),
                None => Ok(()),
            };
        }
        let metadata = match handle.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return refuse(Cause::Unreachable(plain(&error))),
        };
        let kind = metadata.file_type();
        if kind.is_block_device() {
            self.device(handle, &metadata)
        } else if kind.is_file() {
            self.file(handle, &metadata)
        } else if is_sink(&metadata) {
            Ok(())
        } else if kind.is_char_device() {
            refuse(Cause::CharDevice)
        } else if kind.is_fifo() {
            refuse(Cause::NotStorage("a pipe"))
        } else {
            refuse(Cause::NotStorage("a socket"))
        }
    }

    /// Decides about a block device, and claims it if it may be written to.
    fn device(&self, handle: &Handle, metadata: &Metadata) -> Result<(), Refusal> {
        let path = handle.path();
        let machine = Machine::snapshot();
        let number = number_text(metadata.rdev());
        let Some(node) = machine.by_number(&number) else {
            let cause = Cause::Unreachable(format!("there is no block device {number}"));
            return Err(refused(path, cause));
        };
        // First the claim, then the check: no program can put anything there in between.
        let claimed = self.claim(&machine, node, handle);
        let found = handle.resolved();
        let others = match &claimed {
            Claim::Taken => Use::Taken(users(metadata.rdev())),
            _ => Use::Free,
        };
        let found_reasons = check_device(&machine, node, &handle.reopen_path(), &found, others);
        let mut own = Named {
            name: node.facts.name.clone(),
            given_up: names_device(&machine, node, &self.names),
            reasons: found_reasons.own,
        };
        let mut is_known = false;
        // A device that this run has claimed before was looked at then; what it holds now was written by us.
        if own.reasons.is_empty() && !self.claims.borrow().contains_key(&node.facts.name) {
            match Content::found_on(&machine, node, &handle.reopen_path(), self.remains.memory()) {
                Content::Blank => {}
                Content::Known => is_known = true,
                Content::Data(cause) => own.reasons.push(about(&found, cause)),
            }
        }
        let disk = node.parent.as_deref().and_then(|name| machine.node(name));
        let around = disk.map(|disk| Named {
            name: disk.facts.name.clone(),
            given_up: names_device(&machine, disk, &self.names),
            reasons: found_reasons.around,
        });
        decide(path, [own].into_iter().chain(around))?;
        match claimed {
            Claim::Ours(file) => {
                let mut claims = self.claims.borrow_mut();
                claims.entry(node.facts.name.clone()).or_insert(file);
            }
            Claim::Failed(error) => {
                let cause = Cause::Unreachable(plain(&error));
                return Err(refused(path, cause));
            }
            Claim::Held | Claim::Taken => {}
        }
        self.remains
            .allow(Allowed::device(&machine, node, handle), is_known);
        Ok(())
    }

    /// Claims a device. It is held already if this run has it by another path, or has its disk or one of
    /// its partitions, because of which the kernel reports it as taken.
    fn claim(&self, machine: &Machine, node: &Node, handle: &Handle) -> Claim {
        let held = self.claims.borrow();
        if held.contains_key(&node.facts.name) || !node.has_capacity() {
            return Claim::Held;
        }
        let holds_disk_or_partition = held.keys().any(|name| {
            let other = machine.node(name).and_then(|other| other.parent.as_ref());
            Some(name) == node.parent.as_ref() || other == Some(&node.facts.name)
        });
        match claim(&handle.reopen_path()) {
            Claim::Taken if holds_disk_or_partition => Claim::Held,
            other => other,
        }
    }

    /// Decides about a regular file.
    fn file(&self, handle: &Handle, metadata: &Metadata) -> Result<(), Refusal> {
        let machine = Machine::recent();
        let (path, id) = (handle.path(), id_of(metadata));
        let mut causes = Vec::new();
        let mount = machine.mount_of(&handle.reopen_path());
        if let Some(mount) = mount.filter(|mount| is_kernel_file_system(&mount.kind)) {
            causes.push(Cause::Kernels(mount.kind.clone()));
        }
        causes.extend(file_uses(&machine, id));
        let is_ours = self.locks.borrow().contains_key(&id);
        causes.extend((!is_ours && ours::is_locked(handle)).then_some(Cause::Locked));
        // What was permitted before may hold what this run has written since.
        if self.remains.has(path) || ours::is_ours(handle, metadata) {
            self.remains.allow(Allowed::file(handle), false)
        } else {
            causes.extend(ours::content(handle, metadata))
        }
        let mut names = self.names.iter();
        let is_of_job_file =
            self.files.borrow().contains(&id) || self.paths.borrow().contains(path.as_os_str());
        let group = Named {
            name: handle.resolved().display().to_string(),
            given_up: is_of_job_file || names.any(|name| file_id(Path::new(name)) == Some(id)),
            reasons: causes.into_iter().map(|cause| about(path, cause)).collect(),
        };
        decide(path, std::iter::once(group))?;
        // The hosts of a fleet may share a file, too.
        let may_be_shared = is_of_job_file || self.host.is_some();
        if !may_be_shared && !is_ours && !mount.is_some_and(|mount| locks_bind_all(&mount.kind)) {
            self.lock(handle)?;
        }
        Ok(())
    }

    /// Keeps other runs from a regular file, if its file system has locks.
    fn lock(&self, handle: &Handle) -> Result<(), Refusal> {
        let mut locks = self.locks.borrow_mut();
        let Some(file) = ours::read(handle).ok().filter(|_| locks.len() < HELD) else {
            return Ok(());
        };
        match file.try_lock() {
            Ok(()) => locks.insert(handle.identity(), file),
            Err(TryLockError::Error(_)) => None,
            Err(TryLockError::WouldBlock) => return Err(refused(handle.path(), Cause::Locked)),
        };
        Ok(())
    }

    /// A path at which nothing is: whether a file may be made there.
    ///
    /// # Errors
    /// [`Refusal`]: the path is a link, or its directory cannot be reached or is the kernel's own.
    pub fn new_path(&self, path: &Path) -> Result<NewPath, Refusal> {
        if path.is_symlink() {
            Err(refused(path, Cause::DanglingLink))
        } else {
            self.free_path(path)
        }
    }

    /// [`Guard::new_path`] of a path at which there is no link either.
    ///
    /// # Errors
    /// [`Refusal`]: its directory cannot be reached or is the kernel's own.
    pub fn free_path(&self, path: &Path) -> Result<NewPath, Refusal> {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => Path::new("/"),
        };
        if let Some(known) = self.directories.borrow().get(parent) {
            return Ok(NewPath::new(path, known.clone()));
        }
        let directory = Handle::open(parent).map_err(|error| {
            let text = format!("{}: {}", parent.display(), plain(&error));
            refused(path, Cause::Unreachable(text))
        })?;
        if let Some(file_system) = reserved(&Machine::recent(), &directory) {
            let cause = if directory.resolved().starts_with("/dev") {
                Cause::NoSuchDevice
            } else {
                Cause::Kernels(file_system)
            };
            return Err(refused(path, cause));
        }
        let mut directories = self.directories.borrow_mut();
        directories.insert(parent.to_owned(), directory.clone());
        Ok(NewPath::new(path, directory))
    }
}

/// Whether two files may be the same by when they were made, which not every file system says.
fn is_as_old(now: Option<SystemTime>, then: Option<SystemTime>) -> bool {
    now.zip(then).is_none_or(|(now, then)| now == then)
}

fn about(subject: &Path, cause: Cause) -> Reason {
    let subject = subject.to_owned();
    Reason { subject, cause }
}

/// A refusal for one reason that no name lifts.
fn refused(path: &Path, cause: Cause) -> Refusal {
    Refusal {
        path: path.to_owned(),
        reasons: vec![about(path, cause)],
        names: Vec::new(),
    }
}

/// `/dev/null` (1:3) and `/dev/zero` (1:5), by any path.
fn is_sink(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device()
        && ["1:3", "1:5"].contains(&&*number_text(metadata.rdev()))
}

/// The file system of a directory that is the kernel's own: whose files are switches, or `/dev`
/// itself, where a file would only be mistaken for a device. What is mounted below `/dev` (shared
/// memory) is a place like others.
fn reserved(machine: &Machine, directory: &Handle) -> Option<String> {
    let mount = machine.mount_of(&directory.reopen_path())?;
    let mounted_below_dev = mount.point != Path::new("/dev") && mount.point.starts_with("/dev");
    let in_dev = directory.resolved().starts_with("/dev") && !mounted_below_dev;
    (in_dev || is_kernel_file_system(&mount.kind)).then(|| mount.kind.clone())
}

/// A share of SMB: the lock of a file there keeps out all other descriptors of it, also our own that write.
fn locks_bind_all(kind: &str) -> bool {
    ["cifs", "smb3"].contains(&kind)
}

fn is_kernel_file_system(kind: &str) -> bool {
    let kinds = "proc sysfs devtmpfs devpts cgroup cgroup2 debugfs tracefs configfs securityfs \
                 efivarfs bpf pstore binfmt_misc fusectl mqueue selinuxfs rpc_pipefs";
    kinds.split(' ').any(|known| known == kind)
}

/// Reasons that one name lifts.
struct Named {
    name: String,
    /// Whether the user gives up what is there, by this name.
    given_up: bool,
    reasons: Vec<Reason>,
}

impl Named {
    fn lifts(&self, reason: &Reason) -> bool {
        self.given_up && reason.cause.can_be_lifted()
    }
}

/// Permits the write if every reason is lifted by the name of its group.
fn decide(requested: &Path, groups: impl Iterator<Item = Named>) -> Result<(), Refusal> {
    let (mut remaining, mut names) = (Vec::new(), Vec::new());
    for group in groups {
        if !group.reasons.is_empty() {
            names.push(group.name.clone());
        }
        let reasons = group.reasons.iter();
        remaining.extend(reasons.filter(|reason| !group.lifts(reason)).cloned());
    }
    if remaining.is_empty() {
        return Ok(());
    }
    // Names are suggested only where they would be enough.
    if !remaining.iter().all(|reason| reason.cause.can_be_lifted()) {
        names.clear();
    }
    Err(Refusal {
        path: requested.to_owned(),
        reasons: remaining,
        names,
    })
}

/// Whether an entry names exactly this device.
fn names_device(machine: &Machine, node: &Node, names: &[String]) -> bool {
    names.iter().any(|entry| {
        let entry = entry.trim();
        !entry.is_empty()
            && (entry == node.facts.name
                || leads_to(machine, Path::new(entry), node)
                || leads_to(machine, &Path::new("/dev/disk/by-id").join(entry), node)
                || is_only_serial(machine, entry, node))
    })
}

/// Whether the path is a node of the device. A name without a slash is none: files in the
/// current directory do not count.
fn leads_to(machine: &Machine, path: &Path, node: &Node) -> bool {
    let absolute = path.is_absolute() || path.components().count() > 1;
    absolute && machine.device_at(path).as_deref() == Some(&node.facts.name)
}

/// Some cheap bridges give every disk the same serial number: then it names none.
fn is_only_serial(machine: &Machine, entry: &str, node: &Node) -> bool {
    let disks = machine.nodes.iter().filter(|node| node.parent.is_none());
    let mut with_it = disks.filter(|disk| disk.facts.serial.as_deref() == Some(entry));
    let only = with_it.next().map(|disk| &disk.facts.name);
    only == Some(&node.facts.name) && with_it.next().is_none()
}

/// The first use that speaks against writing anything into a regular file: a loop device shows it as
/// a disk, or the kernel swaps to it.
pub fn file_use(metadata: &Metadata) -> Option<Cause> {
    let uses = file_uses(&Machine::recent(), id_of(metadata));
    uses.into_iter().next()
}

/// What uses a file: loop devices, and the kernel as swap.
fn file_uses(machine: &Machine, id: FileId) -> Vec<Cause> {
    let loops = machine.loops_on_file(id).into_iter();
    let mut causes: Vec<Cause> = loops
        .map(|device| Cause::Backs(device.path.clone()))
        .collect();
    if machine.is_swap_file(id) {
        causes.push(Cause::Swap);
    }
    causes
}

#[cfg(test)]
mod tests;
