//! The folder that is served: a file for each volume, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{getegid, geteuid};

use super::wire::{self, Attributes, Change, ROOT, Reply, Request};
use crate::Volume;

/// What all threads of a mount share.
#[derive(Debug)]
pub(super) struct Folder {
    files: Vec<(String, Arc<Volume>)>,
    /// User and group of the server.
    owner: (u32, u32),
    /// How often a file is open now.
    open: AtomicU64,
    /// How often a file was opened so far.
    opened: AtomicU64,
}

/// The first file's number; the others follow.
const FIRST: u64 = ROOT + 1;

impl Folder {
    /// The file of a single volume is `volume`; those of several are `volume1`, `volume2` and so on.
    pub(super) fn new(volumes: &[Arc<Volume>]) -> Self {
        let files = volumes.iter().enumerate().map(|(index, volume)| {
            let name = match volumes.len() {
                1 => "volume".to_owned(),
                _ => format!("volume{}", index + 1),
            };
            (name, Arc::clone(volume))
        });
        Self {
            files: files.collect(),
            owner: (geteuid().as_raw(), getegid().as_raw()),
            open: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn volumes(&self) -> impl Iterator<Item = &Arc<Volume>> {
        self.files.iter().map(|(_, volume)| volume)
    }

    pub(super) fn volume(&self, node: u64) -> Option<&Arc<Volume>> {
        let index = usize::try_from(node.checked_sub(FIRST)?).ok()?;
        self.files.get(index).map(|(_, volume)| volume)
    }

    /// How often a file is open now.
    pub(super) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// How often a file was opened so far.
    pub(super) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// What a lookup tells of a file or of the folder, or `ENOENT`.
    fn attributes(&self, node: u64) -> Result<Attributes, i32> {
        let (size, mode) = match self.volume(node) {
            Some(volume) if volume.is_read_only() => (volume.size(), libc::S_IFREG | 0o400),
            Some(volume) => (volume.size(), libc::S_IFREG | 0o600),
            None if node == ROOT => (0, libc::S_IFDIR | 0o500),
            None => return Err(libc::ENOENT),
        };
        let (uid, gid) = self.owner;
        Ok(Attributes {
            node,
            size,
            mode,
            uid,
            gid,
        })
    }

    /// Answers all that moves no bytes of a volume. `Ok(false)`: no reply is to be sent.
    ///
    /// # Errors
    /// The error number to reply with.
    pub(super) fn answer(&self, request: Request<'_>, reply: &mut Reply) -> Result<bool, i32> {
        let out = reply.begin();
        match request {
            Request::Init {
                minor,
                readahead,
                flags,
            } => wire::init(out, minor, readahead, flags),
            Request::Lookup { folder: ROOT, name } => {
                let index = self.names().position(|known| known.as_bytes() == name);
                let node = FIRST + index.ok_or(libc::ENOENT)? as u64;
                self.attributes(node)?.entry(out);
            }
            Request::Lookup { .. } => return Err(libc::ENOTDIR),
            Request::Forget => return Ok(false),
            Request::Attributes { node } => self.attributes(node)?.attributes(out),
            Request::Change { node, change } => self.change(self.attributes(node)?, change, out)?,
            Request::Open { node } => {
                self.volume(node).ok_or(libc::EISDIR)?;
                self.open.fetch_add(1, Ordering::Relaxed);
                self.opened.fetch_add(1, Ordering::Relaxed);
                wire::opened(out);
            }
            Request::Close => {
                self.open.fetch_sub(1, Ordering::Relaxed);
            }
            Request::OpenFolder => wire::folder_opened(out),
            Request::CloseFolder | Request::Destroy => {}
            Request::List { offset, len } => self.list(offset, len, out),
            Request::Space => {
                let sizes = self.files.iter().map(|(_, volume)| volume.size());
                wire::space(out, sizes.sum(), self.files.len() as u64);
            }
            // The session serves it; of others the kernel does without, or reports the error.
            Request::Io { .. } | Request::Unknown => return Err(libc::ENOSYS),
        }
        Ok(true)
    }

    /// Replies with the attributes of a file, which no request changes. A program that empties the
    /// file before it writes, as `dd` does, succeeds, as on a device.
    fn change(&self, file: Attributes, change: Change, out: &mut Vec<u8>) -> Result<(), i32> {
        match change {
            Change::Size(size) if size != file.size => return Err(libc::EINVAL),
            Change::Rights => return Err(libc::EPERM),
            Change::Size(_) | Change::Emptied | Change::Nothing => {}
        }
        file.attributes(out);
        Ok(())
    }

    /// Writes the entries from position `offset` on that fit into `len` bytes.
    fn list(&self, offset: u64, len: u32, out: &mut Vec<u8>) {
        let own = [(ROOT, "."), (ROOT, "..")].into_iter();
        let files = self.names().zip(FIRST..).map(|(name, node)| (node, name));
        let all = own.chain(files).zip(1..);
        let longest_reply = wire::REPLY_HEADER + len as usize;
        for ((node, name), position) in all.skip(offset as usize) {
            if !wire::put_name(out, longest_reply, node, position, name.as_bytes()) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;

    use super::*;
    use crate::VolumeSetup;

    fn folder(read_only: bool) -> Folder {
        let volume = Volume::new(VolumeSetup {
            name: "any".to_owned(),
            read_only,
            ..VolumeSetup::in_memory(Bytes(1 << 20))
        });
        Folder::new(&[volume])
    }

    #[track_caller]
    fn check(request: Request<'_>, expected: Result<bool, i32>) {
        let got = folder(false).answer(request, &mut Reply::default());
        assert_eq!(got, expected, "{request:?}");
    }

    #[test]
    fn a_volume_is_one_file_of_its_size_that_nobody_can_change() {
        let lookup = |name| Request::Lookup { folder: ROOT, name };
        check(lookup(b"volume"), Ok(true));
        check(lookup(b"other"), Err(libc::ENOENT));
        let change = |change| Request::Change {
            node: FIRST,
            change,
        };
        check(change(Change::Size(1 << 20)), Ok(true));
        check(change(Change::Size(0)), Err(libc::EINVAL));
        check(change(Change::Emptied), Ok(true));
        check(change(Change::Rights), Err(libc::EPERM));
        check(Request::Open { node: FIRST }, Ok(true));
        check(Request::Open { node: ROOT }, Err(libc::EISDIR));
        check(Request::Attributes { node: 9 }, Err(libc::ENOENT));
        check(Request::Forget, Ok(false));
        check(Request::Unknown, Err(libc::ENOSYS));
    }

    #[test]
    fn nobody_may_write_to_a_volume_to_read() {
        let mode = |read_only| {
            let attributes = folder(read_only).attributes(FIRST);
            attributes.expect("the volume").mode & 0o777
        };
        assert_eq!((mode(true), mode(false)), (0o400, 0o600));
    }
}
