//! In: a path that somebody wants to write to, and the names that he gives up.
//! Out: a [`Permission`], or a [`Refusal`] with every reason and what would work.
//! Never: a write; a guess in favour of writing.

use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use blocklab_units::Bytes;

use crate::block::Node;
use crate::judge::{Claim, judge, plain};
use crate::machine::{FileId, Machine, number_text};
use crate::reason::{Cause, Reason};
use crate::signatures::probe;

/// That a path may be written to, as of the moment of the look. Only [`may_write`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    path: PathBuf,
    reasons_lifted: Vec<String>,
}

impl Permission {
    /// What may be written to, with all links followed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What spoke against it and was given up by name.
    #[must_use]
    pub fn reasons_lifted(&self) -> &[String] {
        &self.reasons_lifted
    }
}

/// That a path is not written to, why, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Refusal {
    /// As it was asked for.
    pub path: PathBuf,
    /// At least one.
    pub reasons: Vec<Reason>,
    /// What has to be named to lift them all; empty where naming does not help.
    pub names: Vec<String>,
}

impl Refusal {
    fn text(&self) -> String {
        let mut text = match self.reasons.as_slice() {
            [reason] => format!("{reason}; blocklab does not write to it."),
            reasons => reasons.iter().fold(
                format!("blocklab does not write to {}:", self.path.display()),
                |text, reason| format!("{text}\n  - {reason}"),
            ),
        };
        let separator = if self.reasons.len() == 1 { ' ' } else { '\n' };
        for advice in self.advice() {
            text.push(separator);
            text.push_str(&advice);
        }
        text
    }

    /// What would work, one sentence each.
    fn advice(&self) -> Vec<String> {
        let any = |of: fn(&Cause) -> bool| self.reasons.iter().any(|reason| of(&reason.cause));
        let mut advice = Vec::new();
        if any(|cause| matches!(cause, Cause::NoSuchDevice)) {
            advice.push("To see what there is: blocklab devices.".to_owned());
        }
        if any(|cause| matches!(cause, Cause::Forbidden)) {
            advice.push("To let blocklab look at it: run it as root.".to_owned());
        }
        if self.reasons.iter().all(|reason| reason.cause.can_be_read()) {
            advice.push("To measure reads only: --read-only.".to_owned());
        }
        if !self.names.is_empty() {
            let options = self.names.iter().map(|name| option(name));
            let options = options.collect::<Vec<_>>().join(" ");
            advice.push(format!("To destroy what is on it: {options}"));
        }
        advice
    }
}

/// The option, in quotes where a shell would take the name apart.
fn option(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if name.chars().all(plain) {
        return format!("--destroy-data={name}");
    }
    format!("--destroy-data='{}'", name.replace('\'', r"'\''"))
}

/// Decides whether `path` may be written to.
///
/// A block device may when it is blank and nobody uses it; a file when it has no content, or
/// does not exist yet, or when blocklab made it ([`claim`]). An entry of `destroy` lifts that for exactly the thing it names: by kernel
/// name (`sdb`), by any path, by its name under `/dev/disk/by-id`, by serial number where one
/// disk has it; for a file by path or file name. A directory may always: what is made there is
/// ours.
///
/// # Errors
/// [`Refusal`]: every reason, and what would work.
pub fn may_write(path: &Path, destroy: &[String]) -> Result<Permission, Refusal> {
    let refuse = |cause| refusal(path, vec![about(path, cause)], Vec::new());
    let found = match fs::canonicalize(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return absent(path),
        Err(error) => return Err(refuse(Cause::Unreachable(plain(&error)))),
    };
    let metadata = fs::metadata(&found);
    let metadata = metadata.map_err(|error| refuse(Cause::Unreachable(plain(&error))))?;
    let kind = metadata.file_type();
    match () {
        () if kind.is_block_device() => device(path, &found, &metadata, destroy),
        () if kind.is_file() => file(path, &found, &metadata, destroy),
        () if kind.is_dir() => match reserved(&Machine::look(), &found) {
            Some(file_system) => Err(refuse(Cause::Kernels(file_system))),
            None => Ok(free(&found)),
        },
        () if is_sink(&metadata) => Ok(free(&found)),
        () if kind.is_char_device() => Err(refuse(Cause::CharDevice)),
        () if kind.is_fifo() => Err(refuse(Cause::NotStorage("a pipe"))),
        () => Err(refuse(Cause::NotStorage("a socket"))),
    }
}

fn about(subject: &Path, cause: Cause) -> Reason {
    let subject = subject.to_owned();
    Reason { subject, cause }
}

fn free(path: &Path) -> Permission {
    Permission {
        path: path.to_owned(),
        reasons_lifted: Vec::new(),
    }
}

fn refusal(path: &Path, reasons: Vec<Reason>, names: Vec<String>) -> Refusal {
    Refusal {
        path: path.to_owned(),
        reasons,
        names,
    }
}

/// `/dev/null` (1:3) and `/dev/zero` (1:5), by whatever path.
fn is_sink(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device()
        && ["1:3", "1:5"].contains(&&*number_text(metadata.rdev()))
}

/// A path at which nothing is yet: we make the file, so it is ours.
fn absent(path: &Path) -> Result<Permission, Refusal> {
    let refuse = |cause| refusal(path, vec![about(path, cause)], Vec::new());
    if path.is_symlink() {
        return Err(refuse(Cause::DanglingLink));
    }
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    let folder = fs::canonicalize(parent);
    let folder = folder.map_err(|error| {
        let text = format!("{}: {}", parent.display(), plain(&error));
        refuse(Cause::Unreachable(text))
    })?;
    let machine = Machine::look();
    if let Some(file_system) = reserved(&machine, &folder) {
        let cause = match folder.starts_with("/dev") {
            true => Cause::NoSuchDevice,
            false => Cause::Kernels(file_system),
        };
        return Err(refuse(cause));
    }
    Ok(free(&folder.join(path.file_name().unwrap_or_default())))
}

/// The file system of a folder that is the kernel's own: whose files are switches, or `/dev`
/// itself, where a file would only be mistaken for a device. What is mounted below `/dev` (shared
/// memory) is a place like others.
fn reserved(machine: &Machine, folder: &Path) -> Option<String> {
    let mount = machine.mount_of(folder)?;
    let mounted_below_dev = mount.point != Path::new("/dev") && mount.point.starts_with("/dev");
    let in_dev = folder.starts_with("/dev") && !mounted_below_dev;
    (in_dev || is_kernels(&mount.kind)).then(|| mount.kind.clone())
}

fn is_kernels(kind: &str) -> bool {
    const KINDS: [&str; 18] = [
        "proc",
        "sysfs",
        "devtmpfs",
        "devpts",
        "cgroup",
        "cgroup2",
        "debugfs",
        "tracefs",
        "configfs",
        "securityfs",
        "efivarfs",
        "bpf",
        "pstore",
        "binfmt_misc",
        "fusectl",
        "mqueue",
        "selinuxfs",
        "rpc_pipefs",
    ];
    KINDS.contains(&kind)
}

fn device(
    asked: &Path,
    found: &Path,
    metadata: &Metadata,
    destroy: &[String],
) -> Result<Permission, Refusal> {
    let machine = Machine::look();
    let number = number_text(metadata.rdev());
    let Some(node) = machine.by_number(&number) else {
        let cause = Cause::Unreachable(format!("there is no block device {number}"));
        return Err(refusal(asked, vec![about(asked, cause)], Vec::new()));
    };
    let judgement = judge(&machine, node, found, Claim::Always);
    let own = Named {
        name: node.facts.name.clone(),
        given_up: names_device(&machine, node, destroy),
        reasons: judgement.own,
    };
    let disk = node.parent.as_deref().and_then(|name| machine.node(name));
    let around = disk.map(|disk| Named {
        name: disk.facts.name.clone(),
        given_up: names_device(&machine, disk, destroy),
        reasons: judgement.around,
    });
    decide(asked, found, [own].into_iter().chain(around))
}

/// Reasons that one name lifts.
struct Named {
    name: String,
    given_up: bool,
    reasons: Vec<Reason>,
}

impl Named {
    fn lifts(&self, reason: &Reason) -> bool {
        self.given_up && reason.cause.can_be_lifted()
    }
}

fn decide(
    asked: &Path,
    found: &Path,
    groups: impl Iterator<Item = Named>,
) -> Result<Permission, Refusal> {
    let (mut lifted, mut standing, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for group in groups {
        if !group.reasons.is_empty() {
            names.push(group.name.clone());
        }
        for reason in &group.reasons {
            if group.lifts(reason) {
                lifted.push(reason.to_string());
            } else {
                standing.push(reason.clone());
            }
        }
    }
    if standing.is_empty() {
        return Ok(Permission {
            path: found.to_owned(),
            reasons_lifted: lifted,
        });
    }
    if !standing.iter().all(|reason| reason.cause.can_be_lifted()) {
        names.clear();
    }
    Err(refusal(asked, standing, names))
}

/// Whether an entry names exactly this device.
fn names_device(machine: &Machine, node: &Node, destroy: &[String]) -> bool {
    destroy.iter().any(|entry| {
        let entry = entry.trim();
        !entry.is_empty()
            && (entry == node.facts.name
                || leads_to(machine, Path::new(entry), node)
                || leads_to(machine, &Path::new("/dev/disk/by-id").join(entry), node)
                || is_only_serial(machine, entry, node))
    })
}

/// Whether the path is a node of the device. A name without a slash is none: whatever lies in the
/// current directory has no say.
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

fn file(
    asked: &Path,
    found: &Path,
    metadata: &Metadata,
    destroy: &[String],
) -> Result<Permission, Refusal> {
    let machine = Machine::look();
    let id = (metadata.dev(), metadata.ino());
    let mut causes = Vec::new();
    let mount = machine.mount_of(found);
    if let Some(mount) = mount.filter(|mount| is_kernels(&mount.kind)) {
        causes.push(Cause::Kernels(mount.kind.clone()));
    }
    causes.extend(file_uses(&machine, id));
    causes.extend(content(found, metadata));
    let group = Named {
        name: found.display().to_string(),
        given_up: destroy
            .iter()
            .any(|entry| names_file(entry, asked, found, id)),
        reasons: causes
            .into_iter()
            .map(|cause| about(asked, cause))
            .collect(),
    };
    decide(asked, found, std::iter::once(group))
}

fn file_uses(machine: &Machine, id: FileId) -> Vec<Cause> {
    let loops = machine.loops_on_file(id).into_iter();
    let mut causes: Vec<Cause> = loops.map(|device| Cause::Backs(device.path())).collect();
    if machine.is_swap_file(id) {
        causes.push(Cause::Swap);
    }
    causes
}

/// A file is empty when its size is 0, or when it is one large hole: no blocks, and no data that
/// the file system would find. Either test alone can be fooled, by data kept in the inode or by
/// data that was not yet given a place.
fn content(path: &Path, metadata: &Metadata) -> Option<Cause> {
    let size = metadata.len();
    let hole = || metadata.blocks() == 0 && File::open(path).is_ok_and(|file| is_hole(&file));
    (size > 0 && !hole() && !is_ours(path, size)).then_some(Cause::Content(Bytes(size)))
}

/// The extended attribute of a file that blocklab made; it holds the size that the file was given.
/// A copy does not carry it, unless its maker asks for that.
const OURS: &CStr = c"user.blocklab";

/// Marks a file that was made here, and has its size: a later run may overwrite it. Says nothing
/// where the file system keeps no such marks; the file then counts as anybody's.
pub fn claim(path: &Path) {
    let size = fs::metadata(path).map(|metadata| metadata.len().to_string());
    let (Ok(size), Ok(path)) = (size, CString::new(path.as_os_str().as_bytes())) else {
        return;
    };
    // SAFETY: both names end in a zero byte, and the value is as long as is said.
    unsafe {
        libc::setxattr(
            path.as_ptr(),
            OURS.as_ptr(),
            size.as_ptr().cast(),
            size.len(),
            0,
        )
    };
}

/// Whether it was made here and still holds nobody's data. Somebody may have copied his own over
/// it, which keeps the mark: another size shows that, and so does anything that is recognised.
fn is_ours(path: &Path, size: u64) -> bool {
    let recognised = || {
        let file = File::open(path)?;
        probe(|offset, buffer| file.read_exact_at(buffer, offset), size)
    };
    claimed_size(path) == Some(size) && recognised().is_ok_and(|found| found.is_empty())
}

fn claimed_size(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut text = [0; 20];
    // SAFETY: both names end in a zero byte, and the buffer is as long as is said.
    let len = unsafe {
        libc::getxattr(
            path.as_ptr(),
            OURS.as_ptr(),
            text.as_mut_ptr().cast(),
            text.len(),
        )
    };
    let text = text.get(..usize::try_from(len).ok()?)?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn is_hole(file: &File) -> bool {
    // SAFETY: the descriptor is open as long as `file` lives, and the call only asks for a place.
    let place = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_DATA) };
    place == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO)
}

/// Whether an entry names exactly this file: its name, or any path to it.
fn names_file(entry: &str, asked: &Path, found: &Path, id: FileId) -> bool {
    let path = Path::new(entry);
    let is_name =
        asked.file_name() == Some(path.as_os_str()) || found.file_name() == Some(path.as_os_str());
    !entry.is_empty() && (is_name || crate::machine::file_id(path) == Some(id))
}

#[cfg(test)]
mod tests;
