//! What a run leaves on what it wrote to. A digest is kept at the end, so that the next run can
//! distinguish what runs left from anybody's data.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::ours;
use crate::block::Node;
use crate::check::plain;
use crate::handle::Handle;
use crate::machine::Machine;
use crate::memory::{Memory, identity, seed};
use crate::reason::Cause;
use crate::sample::{Samples, sample};

/// Everything that may be written to, and what is remembered of it from run to run.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// The memory for devices.
    memory: Option<Memory>,
    /// Gets a message where something cannot be remembered.
    report: Option<fn(&str)>,
    /// By path.
    allowed: RefCell<BTreeMap<PathBuf, Allowed>>,
    are_unknown: Cell<bool>,
}

impl Remains {
    pub(super) fn with_memory(memory: Memory, report: fn(&str)) -> Self {
        Self {
            memory: Some(memory),
            report: Some(report),
            allowed: RefCell::default(),
            are_unknown: Cell::default(),
        }
    }

    pub(super) const fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// Whether this may be written to already.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.allowed.borrow().contains_key(path)
    }

    /// Lets a run write there, and forgets what earlier ones left; `is_known`: it is still there, so it is
    /// remembered again at the end of the run.
    pub(super) fn allow(&self, new: Allowed, is_known: bool) {
        let path = new.handle.path().to_owned();
        if self.has(&path) {
            return;
        }
        if let Err(error) = new.remove(self.memory()) {
            let path = path.display();
            self.report(&format!(
                "cannot remove the record of what an earlier run left on {path}: {error}"
            ));
        }
        // What an earlier run left is remembered again, even if this one writes nothing.
        let due = is_known;
        let mut allowed = self.allowed.borrow_mut();
        allowed.insert(path, Allowed { due, ..new });
    }

    /// A run wrote there, so what is on it at the end is remembered.
    pub(super) fn mark_written(&self, path: &Path) {
        if let Some(allowed) = self.allowed.borrow_mut().get_mut(path) {
            allowed.due = true;
        }
    }

    /// Operations did not come back: what they will have done is unknown, so nothing is remembered.
    pub(super) fn set_unknown(&self) {
        self.are_unknown.set(true);
    }

    fn report(&self, message: &str) {
        if let Some(report) = self.report {
            report(message);
        }
    }
}

/// Remembers at the end of the run, however it ended. A killed run does not come here, and one that
/// hangs would hang here, too.
impl Drop for Remains {
    fn drop(&mut self) {
        if self.are_unknown.get() {
            return;
        }
        let allowed = self.allowed.borrow();
        for (path, allowed) in allowed.iter().filter(|(_, allowed)| allowed.due) {
            if let Err(error) = allowed.keep(self.memory()) {
                let path = path.display();
                self.report(&format!(
                    "cannot keep what the run left on {path}, so the next one will need \
                     --destroy-data: {error}"
                ));
            }
        }
    }
}

/// Something that may be written to.
#[derive(Debug)]
pub(super) struct Allowed {
    handle: Handle,
    kind: Kind,
    /// Whether its content at the end is blocklab's own, to be marked or remembered: a run wrote to it, or
    /// left it as it was.
    due: bool,
}

#[derive(Debug)]
enum Kind {
    /// A file that blocklab made.
    File,
    /// A device: its size, and by what it is known again, if by anything.
    Device(u64, Option<String>),
}

impl Allowed {
    /// A file that blocklab made.
    pub(super) fn file(handle: &Handle) -> Self {
        Self {
            handle: handle.clone(),
            kind: Kind::File,
            due: false,
        }
    }

    pub(super) fn device(machine: &Machine, node: &Node, handle: &Handle) -> Self {
        Self {
            handle: handle.clone(),
            kind: Kind::Device(node.facts.size_bytes.0, identity(machine, node)),
            due: false,
        }
    }

    /// Removes what is remembered of a device until the end of the run: after a killed run nothing
    /// is known of it.
    fn remove(&self, memory: Option<&Memory>) -> io::Result<()> {
        match (&self.kind, memory) {
            (Kind::Device(_, Some(identity)), Some(memory)) => memory.remove(identity),
            _ => Ok(()),
        }
    }

    /// Keeps what is on it now: nothing of a device that nothing identifies, or without a memory.
    fn keep(&self, memory: Option<&Memory>) -> io::Result<()> {
        match (&self.kind, memory) {
            (Kind::File, _) => ours::mark(&self.handle),
            (Kind::Device(size, Some(identity)), Some(memory)) => {
                let samples = take_samples(&self.handle.reopen_path(), *size, Some(identity))?;
                memory.keep(identity, &samples.digest)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// What samples of a device show.
pub(crate) enum Content {
    /// Zeros.
    Blank,
    /// What the last run left.
    Known,
    /// Anybody's data, or what cannot be read.
    Data(Cause),
}

impl Content {
    /// The content of the device `node`, which is opened at `path`.
    pub(crate) fn found_on(
        machine: &Machine,
        node: &Node,
        path: &Path,
        memory: Option<&Memory>,
    ) -> Self {
        let identity = identity(machine, node);
        let samples = match take_samples(path, node.facts.size_bytes.0, identity.as_deref()) {
            Ok(samples) => samples,
            Err(error) => return Self::Data(Cause::Unreadable(plain(&error))),
        };
        let Some(offset) = samples.first_data else {
            return Self::Blank;
        };
        match (memory, &identity) {
            (Some(memory), Some(identity)) if memory.knows(identity, &samples.digest) => {
                Self::Known
            }
            _ => Self::Data(Cause::UnknownData(offset)),
        }
    }
}

fn take_samples(path: &Path, size: u64, identity: Option<&str>) -> io::Result<Samples> {
    let mut options = File::options();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    sample(&file, size, identity.map_or(0, seed))
}
