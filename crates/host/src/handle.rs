//! A path that is resolved once. Every later look and use goes through the descriptor, so that
//! what lies at the path cannot be exchanged in between.

use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, openat};

use crate::file_id::FileId;

/// What a path led to when it was opened, links followed.
///
/// Whoever judges it and whoever uses it goes through the same descriptor, so a link or a name
/// that is changed meanwhile has no effect. The descriptor only holds the place
/// (`O_PATH`): opening a pipe, a tape or a watchdog that way does nothing to it.
#[derive(Debug, Clone)]
pub struct Handle {
    path: PathBuf,
    file: Arc<File>,
    id: FileId,
    born: Option<SystemTime>,
    kind: FileType,
}

impl Handle {
    /// Opens what `path` leads to.
    ///
    /// # Errors
    /// As `open`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = Self::new(open_path_only(path, 0)?, path)?;
        check_proc()?;
        if handle.kind.is_dir() {
            // Only a path that must be a directory makes the kernel mount what is mounted on demand.
            Self::new(open_path_only(path, libc::O_DIRECTORY)?, path)
        } else {
            Ok(handle)
        }
    }

    /// The same, with half the system calls where `path` leads to a directory.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_directory(path: &Path) -> io::Result<Self> {
        match open_path_only(path, libc::O_DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Self::open(path),
            opened => {
                check_proc()?;
                Self::new(opened?, path)
            }
        }
    }

    /// A handle on an open file; `path` is its name for people.
    ///
    /// # Errors
    /// As `fstat`.
    pub fn new(file: File, path: &Path) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(file),
            id: id_of(&metadata),
            born: metadata.created().ok(),
            kind: metadata.file_type(),
        })
    }

    /// As it was requested.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the path led, as the kernel names the place now.
    pub fn resolved(&self) -> PathBuf {
        fs::read_link(self.reopen_path()).unwrap_or_else(|_| self.path.clone())
    }

    /// A path that leads to the descriptor, and so to the same thing whatever happens to its
    /// name. It is valid in this process while the handle or [`Handle::file`] lives.
    pub fn reopen_path(&self) -> PathBuf {
        through(&self.file)
    }

    /// Opens the same thing again.
    ///
    /// # Errors
    /// As `open`.
    pub fn reopen(&self, options: &OpenOptions) -> io::Result<File> {
        options.open(self.reopen_path())
    }

    /// The descriptor, to be kept open.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// What it is, and how large it is now.
    ///
    /// # Errors
    /// As `fstat`.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Its device and inode.
    #[must_use]
    pub const fn identity(&self) -> (u64, u64) {
        self.id
    }

    /// When it was made, where its file system says. The number of an inode is given to another
    /// file when its own is gone.
    #[must_use]
    pub const fn born(&self) -> Option<SystemTime> {
        self.born
    }

    /// Whether it is a file, a directory, a device.
    #[must_use]
    pub const fn kind(&self) -> FileType {
        self.kind
    }

    /// What it is, if it takes and gives bytes one after another and has no offsets: a pipe, a socket or a
    /// terminal.
    #[must_use]
    pub fn stream(&self) -> Option<&'static str> {
        if self.kind.is_fifo() {
            Some("a pipe")
        } else if self.kind.is_socket() {
            Some("a socket")
        } else if self.number().is_some_and(|(major, _)| is_terminal(major)) {
            Some("a terminal")
        } else {
            None
        }
    }

    /// Whether it is `/dev/null`, by any path: it takes writes, and has nothing for a read.
    #[must_use]
    pub fn is_dev_null(&self) -> bool {
        self.number() == Some((1, 3))
    }

    /// Major and minor number of a character device.
    fn number(&self) -> Option<(u32, u32)> {
        let device = self.kind.is_char_device().then(|| self.metadata().ok())??;
        let number = device.rdev();
        Some((libc::major(number), libc::minor(number)))
    }

    /// Whether `path` leads to the same file now.
    pub fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|there| id_of(&there) == self.id)
    }
}

/// Holds what `path` leads to, and does nothing to it (`O_PATH`).
fn open_path_only(path: &Path, flags: i32) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_PATH | flags);
    options.open(path)
}

/// Checks that open files can be reached by path. Without /proc, the next use of a handle would say that
/// the target is not there. Once it was there, it is not looked for again.
///
/// # Errors
/// If it is not there, with the remedy.
pub fn check_proc() -> io::Result<()> {
    static IS_THERE: AtomicBool = AtomicBool::new(false);
    if !IS_THERE.load(Relaxed) && !Path::new(PROC).exists() {
        return Err(io::Error::other(
            "/proc is not mounted, and open files are reached through it; \
             `mount -t proc proc /proc` would help",
        ));
    }
    IS_THERE.store(true, Relaxed);
    Ok(())
}

/// The open files of this process.
const PROC: &str = "/proc/self/fd";

/// Whether character devices of this number are terminals (Linux, Documentation/admin-guide/devices.txt):
/// consoles and serial lines (4), `/dev/tty` (5), pseudo-terminals (136 to 143), USB modems (166) and
/// USB serial lines (188).
const fn is_terminal(major: u32) -> bool {
    matches!(major, 4 | 5 | 136..=143 | 166 | 188)
}

/// A path that leads to an open file, whatever happens to its name.
pub fn through(file: &File) -> PathBuf {
    PathBuf::from(format!("{PROC}/{}", file.as_raw_fd()))
}

pub(crate) fn id_of(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// A name that nothing has yet, in a directory that is held open.
#[derive(Debug)]
pub struct NewPath {
    path: PathBuf,
    directory: Handle,
    name: OsString,
}

impl NewPath {
    pub(crate) fn new(path: &Path, directory: Handle) -> Self {
        Self {
            path: path.to_owned(),
            directory,
            name: path.file_name().unwrap_or_default().to_owned(),
        }
    }

    /// The directory.
    pub const fn directory(&self) -> &Handle {
        &self.directory
    }

    /// Makes a file there with these permissions, for reading and writing.
    ///
    /// # Errors
    /// As `open`; also where somebody made something of this name meanwhile.
    pub fn create(&self, mode: u32) -> io::Result<Handle> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.directory.file, &self.name, flags, Mode::from(mode))?;
        Handle::new(file.into(), &self.path)
    }

    /// Makes a directory there with these permissions.
    ///
    /// # Errors
    /// As `mkdir`.
    pub fn create_directory(&self, mode: u32) -> io::Result<()> {
        let path = self.directory.reopen_path().join(&self.name);
        fs::DirBuilder::new().mode(mode).create(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A link was swapped between the look at a target and its use, and another file was
    /// overwritten.
    #[test]
    fn a_handle_stays_on_what_it_was_opened_on() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("first"), "first").unwrap();
        fs::write(at("second"), "second").unwrap();
        symlink("first", at("link")).unwrap();
        let handle = Handle::open(&at("link")).unwrap();
        fs::remove_file(at("link")).unwrap();
        symlink("second", at("link")).unwrap();
        fs::rename(at("first"), at("other")).unwrap();
        let read = handle.reopen(File::options().read(true)).unwrap();
        assert_eq!(io::read_to_string(read).unwrap(), "first");
        assert_eq!(handle.resolved(), at("other").canonicalize().unwrap());
        assert!(handle.is_at(&at("other")));
        assert!(!handle.is_at(&at("link")));
    }

    /// Vdbench waited for ever for a writer of a pipe that was given as its lun.
    #[test]
    fn a_pipe_is_opened_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(Handle::open(&path).is_ok());
    }

    /// A terminal was a target, and its first read waited for a key until the run was killed; `/dev/null`
    /// was one to read from, and every read came back short.
    #[test]
    fn what_has_no_offsets_or_no_content_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::write(at("file"), "").unwrap();
        symlink("/dev/null", at("null")).unwrap();
        for (path, stream, is_dev_null) in [
            (at("pipe"), Some("a pipe"), false),
            (at("socket"), Some("a socket"), false),
            ("/dev/tty".into(), Some("a terminal"), false),
            ("/dev/ptmx".into(), Some("a terminal"), false),
            ("/dev/zero".into(), None, false),
            ("/dev/null".into(), None, true),
            (at("null"), None, true),
            (at("file"), None, false),
            (folder.path().to_owned(), None, false),
        ] {
            let handle = Handle::open(&path).unwrap();
            let found = (handle.stream(), handle.is_dev_null());
            assert_eq!(found, (stream, is_dev_null), "{}", path.display());
        }
    }
}
