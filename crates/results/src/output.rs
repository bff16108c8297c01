//! Writes the files that the user names: pages, tables, reports, logs.
//!
//! A mistyped path may name a disk or a file with other contents. So an existing file is first opened
//! with `O_PATH`, which touches nothing, then checked, and then opened for writing through
//! `/proc/self/fd`: the file that was checked is the file that is written, even if the path is
//! replaced in between.
//!
//! ```text
//!  nothing there ──▶ created, exclusively
//!  a device      ──▶ refused, always
//!  a file        ──▶ replaced if blocklab wrote it, if it is empty, or with `Over::Files`
//! ```
//!
//! Pages and JUnit files are recognized by their first bytes. Other files get an extended attribute
//! with their size and the time of their last change. Copies do not have the attribute, and after an
//! edit it no longer matches, so neither is replaced.

use std::ffi::CStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use blocklab_host::guard::file_use;
use blocklab_host::{check_proc, set_xattr, through, xattr};
use blocklab_report::document::head;
use blocklab_report::junit::is_junit;

use blocklab_console::terminal;

/// Which existing files may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Only files that blocklab wrote.
    Ours,
    /// Any regular file: with `--force`, or for a command that imitates a tool which does so.
    Files,
}

impl Over {
    /// The choice that `--force` makes.
    pub const fn forced(force: bool) -> Self {
        if force { Self::Files } else { Self::Ours }
    }
}

/// Writes a file; `-` is standard output.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>, over: Over) -> Result<()> {
    if path.as_os_str() == "-" {
        return terminal::print_data(bytes);
    }
    let mut draft = Draft::create(path, over)?;
    let written = draft.write_all(bytes.as_ref());
    written.with_context(|| format!("cannot write {}", path.display()))?;
    draft.keep();
    Ok(())
}

/// A file while it is written. One that is dropped before [`Draft::keep`] is removed, or emptied if it was
/// there before: half a table looks like a whole one to whatever reads it, and without a mark no later
/// command would replace it.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// Where the file is, if it was created for this.
    created: Option<PathBuf>,
    is_kept: bool,
}

impl Draft {
    /// Opens a file for writing and empties it.
    pub fn create(path: &Path, over: Over) -> Result<Self> {
        let emptied = open_empty(path, over);
        let (file, created) =
            emptied.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            file,
            created,
            is_kept: false,
        })
    }

    /// Keeps the file, which is whole now, and marks it, so that it may be replaced.
    pub fn keep(mut self) {
        mark(&self.file);
        self.is_kept = true;
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // Pipes and devices cannot be emptied.
        let _ = self.file.set_len(0);
        if let Some(path) = &self.created {
            let _ = fs::remove_file(path);
        }
    }
}

/// Opens a file for writing and empties it.
pub fn create(path: &Path, over: Over) -> Result<File> {
    let emptied = open_empty(path, over).map(|(file, _)| file);
    emptied.with_context(|| format!("cannot write {}", path.display()))
}

fn open_empty(path: &Path, over: Over) -> io::Result<(File, Option<PathBuf>)> {
    let (file, created) = open(path, over)?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok((file, created))
}

/// Opens a file to write at its end, as an imitated tool does. Any regular file is accepted.
pub fn append(path: &Path) -> Result<File> {
    let at_its_end = open(path, Over::Files).and_then(|(mut file, _)| {
        if file.metadata()?.is_file() {
            io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        }
        Ok(file)
    });
    at_its_end.with_context(|| format!("cannot write {}", path.display()))
}

/// Tries whether the file could be written, so that a mistake is reported before anything is
/// measured. What is there stays as it is, and a file that was created is removed again.
pub fn try_out(path: &Path, over: Over) -> Result<()> {
    // Opening a pipe blocks until it has a reader.
    if path.as_os_str() == "-" || is_pipe(path) {
        return Ok(());
    }
    let tried = open(path, over).and_then(|(mut file, created)| {
        let Some(created) = created else {
            return Ok(());
        };
        // A full file system still creates the file, but has no room for a block.
        let written = file.write_all(&[0; 4096]);
        fs::remove_file(created)?;
        written
    });
    tried.with_context(|| format!("cannot write {}", path.display()))
}

/// Whether two paths lead to one file, or will once it is written: `x.html` and `./x.html`, or two hard links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let [one, other] = [one, other].map(|path| {
        let there = path.canonicalize();
        there.or_else(|_| std::path::absolute(path)).ok()
    });
    one == other
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// Opens a file for writing; with its path if it was created. That is not `path` if this is a link.
fn open(path: &Path, over: Over) -> io::Result<(File, Option<PathBuf>)> {
    // A link such as `/dev/stdout` leads to a pipe that has no path of its own.
    if path.exists() {
        return Ok((reopen(path, over)?, None));
    }
    let place = beyond_links(path);
    match File::create_new(&place) {
        Ok(file) => {
            refuse_in_dev(&file)?;
            Ok((file, Some(place)))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok((reopen(path, over)?, None)),
        Err(error) => Err(error),
    }
}

/// Most links that are followed, as in the kernel.
const MOST_LINKS: usize = 40;

/// Where a link leads, and a link there, and so on: an exclusive creation does not follow a link to a
/// file that does not exist. Any other path stays as it is.
fn beyond_links(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&place) {
            // A relative link counts from its own folder.
            Ok(next) => place = place.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    place
}

/// Opens an existing file for writing, if that is allowed.
fn reopen(path: &Path, over: Over) -> io::Result<File> {
    let held = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(path)?;
    check_proc()?;
    let through = through(&held);
    check_replaceable(&held.metadata()?, &through, over)?;
    OpenOptions::new().write(true).open(through)
}

/// Refuses and removes a new file in `/dev`. The user meant a disk that is not there; and the file
/// would fill memory, because `/dev` is a file system in memory.
fn refuse_in_dev(file: &File) -> io::Result<()> {
    let [dev, root] =
        ["/dev", "/"].map(|path| fs::metadata(path).ok().map(|metadata| metadata.dev()));
    let metadata = file.metadata()?;
    // Where `/dev` is a plain folder of the root file system, its device number proves nothing.
    if !metadata.is_file() || dev == root || dev != Some(metadata.dev()) {
        return Ok(());
    }
    // The open file knows its real name, which the path may no longer lead to. If it cannot be removed,
    // it is refused all the same.
    let made = fs::read_link(through(file));
    let _ = made.and_then(fs::remove_file);
    let why = "it does not exist, and /dev is no place for files";
    Err(io::Error::new(ErrorKind::InvalidInput, why))
}

/// Whether what is there may be written to. `through`: a path that opens the same file.
fn check_replaceable(metadata: &Metadata, through: &Path, over: Over) -> io::Result<()> {
    let kind = metadata.file_type();
    let refused = |why: &str| Err(io::Error::new(ErrorKind::InvalidInput, why.to_owned()));
    if kind.is_dir() {
        return refused("it is a directory; name a file in it");
    }
    if kind.is_block_device() || kind.is_char_device() && !is_harmless(metadata, through) {
        return refused("it is a device, and results are never written to one");
    }
    // Pipes and sockets lose nothing when they are written to.
    let is_replaceable =
        !kind.is_file() || over == Over::Files || metadata.len() == 0 || is_ours(through);
    if !is_replaceable {
        return refused(
            "it exists, and blocklab did not write it, or somebody edited it since; choose another \
             name, or overwrite it with --force",
        );
    }
    // To its users, the image of a disk is the disk.
    let used = (kind.is_file() && metadata.len() > 0)
        .then(|| file_use(metadata))
        .flatten();
    match used {
        Some(used) => refused(&format!(
            "it {used}; results are written only to files that nothing uses"
        )),
        None => Ok(()),
    }
}

/// Whether a character device stores nothing: `/dev/null`, `/dev/zero`, `/dev/full` and terminals.
fn is_harmless(metadata: &Metadata, through: &Path) -> bool {
    let device = metadata.rdev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    match major {
        1 => [3, 5, 7].contains(&minor),
        // The major numbers of terminals. The test whether it is one must open the device, and opening
        // other devices can have effects.
        4 | 5 | 136..=143 => {
            let mut options = OpenOptions::new();
            options.write(true).custom_flags(libc::O_NOCTTY);
            let file = options.open(through);
            file.is_ok_and(|file| io::IsTerminal::is_terminal(&file))
        }
        _ => false,
    }
}

/// Whether blocklab wrote the file. Where only the attribute shows it, the file must be unchanged.
fn is_ours(through: &Path) -> bool {
    let Ok(mut file) = File::open(through) else {
        return false;
    };
    let mut head = Vec::new();
    let read = (&mut file).take(head::HEAD).read_to_end(&mut head);
    read.is_ok() && (head::is_page(&head) || is_junit(&head)) || is_marked(&file)
}

/// The extended attribute of files that blocklab wrote.
const MARK: &CStr = c"user.blocklab.output";

/// Marks a file. On a file system without extended attributes it stays unmarked and is not replaced
/// without `--force`.
fn mark(file: &File) {
    if let Some(version) = version(file) {
        set_xattr(&through(file), MARK, &version);
    }
}

fn is_marked(file: &File) -> bool {
    let text = xattr(&through(file), MARK);
    text.is_some() && text == version(file)
}

/// Size in bytes and time of the last change of a regular file; `None` for anything else.
fn version(file: &File) -> Option<String> {
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    let (seconds, part) = (metadata.mtime(), metadata.mtime_nsec());
    Some(format!("{} {seconds}.{part:09}", metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    fn refused(result: Result<()>, words: &str) {
        let error = format!("{:#}", result.expect_err("refused"));
        assert!(error.contains(words), "{error}");
    }

    /// The story: `report --html notes.html` put a page in the place of a user's own file.
    #[test]
    fn only_what_is_ours_is_written_over() {
        let folder = folder();
        let path = folder.path().join("table.csv");
        fs::write(&path, "precious").expect("written");
        refused(write(&path, "new", Over::Ours), "--force");
        refused(try_out(&path, Over::Ours), "--force");
        assert_eq!(fs::read_to_string(&path).expect("text"), "precious");
        write(&path, "2", Over::Files).expect("forced");
        assert_eq!(fs::read_to_string(&path).expect("text"), "2");
        // A page of another version is one by its head.
        let page = folder.path().join("page.html");
        fs::write(&page, "<!DOCTYPE html><p>mine").expect("written");
        refused(write(&page, "new", Over::Ours), "--force");
        let ours = "<!DOCTYPE html><meta name=\"generator\" content=\"blocklab 0.1.0\">";
        fs::write(&page, ours).expect("written");
        write(&page, "new", Over::Ours).expect("ours");
    }

    #[test]
    fn a_table_of_ours_is_written_again_until_somebody_edits_it() {
        let folder = folder();
        let path = folder.path().join("table.csv");
        write(&path, "1", Over::Ours).expect("new");
        if !File::open(&path).is_ok_and(|file| is_marked(&file)) {
            println!("skipped: marks on files, which this file system does not keep");
            return;
        }
        write(&path, "12", Over::Ours).expect("ours");
        let copy = folder.path().join("copy.csv");
        fs::copy(&path, &copy).expect("copied");
        refused(write(&copy, "3", Over::Ours), "--force");
        fs::write(&path, "123").expect("edited");
        refused(write(&path, "3", Over::Ours), "--force");
    }

    #[test]
    fn links_are_followed_to_files_and_never_to_devices() {
        let folder = folder();
        let place = |name: &str| folder.path().join(name);
        fs::write(place("mine"), "precious").expect("written");
        symlink(place("mine"), place("link")).expect("a link");
        refused(write(&place("link"), "new", Over::Ours), "--force");
        symlink(place("absent"), place("dangling")).expect("a link");
        write(&place("dangling"), "new", Over::Ours).expect("made");
        assert_eq!(fs::read_to_string(place("absent")).expect("text"), "new");
        // /dev/mem and its like are no place for results; sinks are.
        for sink in ["/dev/null", "/dev/zero"] {
            write(Path::new(sink), "new", Over::Ours).expect("a sink");
        }
        symlink("/dev/random", place("device")).expect("a link");
        for over in [Over::Ours, Over::Files] {
            refused(write(&place("device"), "new", over), "device");
            refused(try_out(&place("device"), over), "device");
        }
        refused(append(&place("device")).map(drop), "device");
    }

    /// The story: `export -o /dev/stdout | cat` and `-o >(cat)` failed with "No such file or directory", and a
    /// run with `--html /dev/stdout` did so after all had been measured.
    #[test]
    fn a_pipe_is_written_by_the_name_of_its_descriptor() {
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", writer.as_raw_fd());
        let path = Path::new(&path);
        try_out(path, Over::Ours).expect("possible");
        write(path, "page", Over::Ours).expect("written");
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("text");
        assert_eq!(text, "page");
    }

    /// `export -o /dev/sdb` for a disk that was not there made a file of that name, in memory.
    #[test]
    fn nothing_is_made_among_the_devices() {
        let name = format!("/dev/blocklab-test-{}", std::process::id());
        let path = Path::new(&name);
        if File::create_new(path)
            .and_then(|_| fs::remove_file(path))
            .is_err()
        {
            println!("skipped: a file in /dev, which only root can make");
            return;
        }
        let folder = folder();
        let link = folder.path().join("link");
        symlink(path, &link).expect("a link");
        for way in [path, &link] {
            refused(try_out(way, Over::Files), "no place for files");
            refused(write(way, "new", Over::Files), "no place for files");
            assert!(!path.exists());
        }
        let memory = format!("/dev/shm/blocklab-test-{}", std::process::id());
        if fs::metadata("/dev/shm").is_ok() {
            write(Path::new(&memory), "new", Over::Ours).expect("a place like others");
            fs::remove_file(memory).expect("removed");
        }
    }

    #[test]
    fn trying_out_leaves_nothing_and_finds_what_fails() {
        let folder = folder();
        let path = folder.path().join("page.html");
        try_out(&path, Over::Ours).expect("possible");
        assert!(!path.exists());
        refused(try_out(folder.path(), Over::Files), "directory");
        let nowhere = folder.path().join("no/page.html");
        refused(try_out(&nowhere, Over::Files), "No such file");
        fs::write(&path, "12").expect("written");
        try_out(&path, Over::Files).expect("possible");
        assert_eq!(fs::read_to_string(&path).expect("text"), "12");
        // The story: a file that was created through a link stayed.
        let link = folder.path().join("link");
        for absent in ["absent", "./absent"] {
            symlink(absent, &link).expect("a link");
            try_out(&link, Over::Ours).expect("possible");
            assert!(!link.exists(), "the file of the link is gone");
            fs::remove_file(&link).expect("the link itself is left");
        }
        symlink("link", &link).expect("a link");
        refused(try_out(&link, Over::Ours), "symbolic links");
    }

    /// The story: a conversion of a trace that failed removed what its path named, also a link, a device
    /// such as `/dev/full`, or a pipe; and a recording that failed left a part of a trace.
    #[test]
    fn a_draft_that_is_not_kept_leaves_nothing_behind() {
        let folder = folder();
        let place = |name: &str| folder.path().join(name);
        let fail = |name: &str| {
            let mut draft = Draft::create(&place(name), Over::Files).expect("opened");
            draft.write_all(b"half").expect("written");
        };
        fail("new");
        assert!(!place("new").exists());
        fs::write(place("old"), "precious").expect("written");
        fail("old");
        assert_eq!(fs::read(place("old")).expect("a file"), b"");
        symlink("old", place("link")).expect("a link");
        symlink("absent", place("dangling")).expect("a link");
        symlink("/dev/null", place("device")).expect("a link");
        for link in ["link", "dangling", "device"] {
            fail(link);
            assert!(fs::symlink_metadata(place(link)).is_ok(), "{link}");
        }
        assert!(!place("absent").exists());
        assert!(Path::new("/dev/null").exists());

        let mut draft = Draft::create(&place("new"), Over::Ours).expect("opened");
        draft.write_all(b"whole").expect("written");
        draft.keep();
        assert_eq!(fs::read(place("new")).expect("a file"), b"whole");
    }

    #[test]
    fn more_goes_to_the_end() {
        let folder = folder();
        let path = folder.path().join("log");
        for text in ["1", "2"] {
            let mut file = append(&path).expect("opened");
            file.write_all(text.as_bytes()).expect("written");
        }
        assert_eq!(fs::read_to_string(&path).expect("text"), "12");
    }
}
