//! A file that we make, and that is gone whatever happens.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use blocklab_engine::{Layout, lay_out};
use blocklab_units::Bytes;
use blocklab_workload::Content;

use crate::Error;

/// A laid-out scratch file.
///
/// Its name is removed as soon as it is filled, and workers open it through its descriptor: even
/// a killed process leaves nothing behind. Where the file system cannot open a nameless file, the
/// name stays until this value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    named: PathBuf,
    open_as: PathBuf,
    file: File,
}

impl Scratch {
    /// Makes and fills the file; `None` when it was interrupted, with nothing left behind.
    pub(crate) fn make(
        path: &Path,
        size: Bytes,
        seed: u64,
        interrupted: &AtomicBool,
        progress: impl FnMut(Bytes),
    ) -> Result<Option<Self>, Error> {
        let nameless = can_be_nameless(path);
        let layout = Layout {
            path,
            size,
            content: Content::Random,
            seed,
        };
        let laid_out = lay_out(layout, interrupted, progress);
        if !matches!(laid_out, Ok(true)) {
            // A file that was there before is not ours to remove.
            if !matches!(&laid_out, Err(blocklab_engine::Error::LayOut { cause, .. })
                if cause.kind() == std::io::ErrorKind::AlreadyExists)
            {
                let _ = fs::remove_file(path);
            }
            return laid_out.map(|_| None).map_err(Error::from);
        }
        let unusable = |cause| Error::Unusable {
            path: path.display().to_string(),
            cause,
        };
        let file = File::open(path).map_err(unusable)?;
        let mut scratch = Self {
            named: path.to_owned(),
            open_as: path.to_owned(),
            file,
        };
        if nameless && fs::remove_file(path).is_ok() {
            scratch.open_as = by_descriptor(&scratch.file);
        }
        Ok(Some(scratch))
    }

    /// What workers open.
    pub(crate) fn open_as(&self) -> &Path {
        &self.open_as
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.open_as == self.named {
            let _ = fs::remove_file(&self.named);
        }
    }
}

fn by_descriptor(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether a file here can be opened by its descriptor once its name is gone: tried on an empty
/// one. Some network and FUSE file systems cannot.
fn can_be_nameless(path: &Path) -> bool {
    let Ok(probe) = File::options().write(true).create_new(true).open(path) else {
        return false;
    };
    let removed = fs::remove_file(path).is_ok();
    removed
        && File::options()
            .read(true)
            .write(true)
            .open(by_descriptor(&probe))
            .is_ok()
}
