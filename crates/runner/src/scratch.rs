//! In: a directory and a size. Out: a scratch file that leaves nothing behind, however the run ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use blocklab_driver::{FileFiller, Layout};
use blocklab_host::Handle;
use blocklab_units::Bytes;

use crate::Error;

/// A scratch file, which is used only through its descriptor.
///
/// It never has a name if the file system supports that, else an unguessable name for an instant. So
/// the owner of the directory cannot put another file in its place, and a process that is killed at
/// any moment leaves nothing behind. Only if the file system cannot open a nameless file again does
/// the name stay until this value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    handle: Handle,
    /// The name that had to stay, and its open directory, through which it is removed.
    named: Option<(PathBuf, Handle)>,
}

impl Scratch {
    /// Creates a file of `size` in `directory` and fills it; `None` if a signal interrupts that.
    /// `shown` is its path in messages.
    pub(crate) fn make(
        directory: &Handle,
        shown: &Path,
        size: Bytes,
        seed: u64,
        interrupted: &AtomicBool,
        progress: impl FnMut(Bytes),
    ) -> Result<Option<Self>, Error> {
        // From the safest way to the one that every file system supports.
        let made = Self::nameless(directory, shown)
            .or_else(|_| Self::unlinked(directory, shown))
            .or_else(|_| Self::named(directory, shown));
        let scratch = made.map_err(|cause| Error::Scratch {
            path: shown.to_owned(),
            cause,
        })?;
        let file = scratch.handle.file();
        let layout = Layout {
            file: &file,
            path: shown,
            size,
        };
        let mut filler = FileFiller::new(seed);
        Ok(filler
            .fill(layout, interrupted, progress)?
            .then_some(scratch))
    }

    /// A file that never has a name.
    fn nameless(directory: &Handle, shown: &Path) -> io::Result<Self> {
        let mut options = writable();
        // With O_EXCL, no process can give it a name later.
        options.custom_flags(libc::O_TMPFILE | libc::O_EXCL);
        Self::without_name(directory.reopen(&options)?, shown)
    }

    /// A file whose name is removed at once.
    fn unlinked(directory: &Handle, shown: &Path) -> io::Result<Self> {
        let (file, path) = create(directory)?;
        fs::remove_file(path)?;
        Self::without_name(file, shown)
    }

    /// Checks that a file without a name can be opened again, as each worker does. Some network and
    /// FUSE file systems cannot do that.
    fn without_name(file: File, shown: &Path) -> io::Result<Self> {
        let handle = Handle::new(file, shown)?;
        handle.reopen(&writable())?;
        Ok(Self {
            handle,
            named: None,
        })
    }

    /// A file that keeps its name until it is dropped.
    fn named(directory: &Handle, shown: &Path) -> io::Result<Self> {
        let (file, path) = create(directory)?;
        Ok(Self {
            handle: Handle::new(file, shown)?,
            named: Some((path, directory.clone())),
        })
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The file, which workers open again.
    pub(crate) fn file(&self) -> Arc<File> {
        self.handle.file()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Removes the name only while it still leads to this file.
        if let Some((path, _)) = &self.named
            && self.handle.is_at(path)
        {
            let _ = fs::remove_file(path);
        }
    }
}

fn writable() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).mode(0o600);
    options
}

/// A new file under a name of 128 random bits, and its path through the open directory, which stays
/// valid when the directory is renamed.
fn create(directory: &Handle) -> io::Result<(File, PathBuf)> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let name = format!(".blocklab-{:032x}.scratch", u128::from_ne_bytes(bytes));
    let path = directory.reopen_path().join(name);
    let file = writable().create_new(true).open(&path)?;
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn directory() -> (tempfile::TempDir, Handle) {
        let folder = tempfile::tempdir().unwrap();
        let handle = Handle::open(folder.path()).unwrap();
        (folder, handle)
    }

    /// Who owned the directory put a link in place of the scratch file while it was filled, and
    /// what the link led to was overwritten. Here the name is gone before the first byte.
    #[test]
    fn without_tmpfile_the_name_is_gone_at_once() {
        let (folder, handle) = directory();
        let scratch = Scratch::unlinked(&handle, Path::new("shown")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(scratch.handle.reopen_path(), "load").unwrap();
        let read = scratch.handle.reopen(File::options().read(true)).unwrap();
        assert_eq!(io::read_to_string(read).unwrap(), "load");
    }

    /// Where the name must stay, it is neither followed nor taken from its new owner.
    #[test]
    fn a_name_that_stays_is_not_what_is_used() {
        let (folder, handle) = directory();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let scratch = Scratch::named(&handle, Path::new("shown")).unwrap();
        let (name, _) = scratch.named.as_ref().unwrap();
        let name = folder.path().join(name.file_name().unwrap());
        fs::rename(&name, folder.path().join("moved")).unwrap();
        symlink(&victim, &name).unwrap();
        fs::write(scratch.handle.reopen_path(), "load").unwrap();
        drop(scratch);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(name.is_symlink(), "it is not ours");
    }

    #[test]
    fn a_name_that_stayed_is_removed_at_the_end() {
        let (folder, handle) = directory();
        drop(Scratch::named(&handle, Path::new("shown")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
