//! Stories of files that take turns in a few open places: order, failures, and files that change.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::rc::Rc;

use blocklab_targets::{Buffers, Clock, EngineSetup, Opening};
use blocklab_workload::{Direction, Durability, Engine, OperationFlags, Slot, SyncKind};

use super::*;
use crate::real::ToDrive;
use crate::{Reopen, TargetFile};

const LEN: usize = 4096;

fn write(slot: u32, file: u32) -> Io {
    Io {
        slot: Slot::returned(slot),
        direction: Direction::Write,
        sync: SyncKind::Whole,
        file,
        len: LEN as u32,
        offset: 0,
        priority: 0,
    }
}

/// A target that answers nothing until it is waited for, and then the oldest operation alone.
#[derive(Default)]
struct Slow {
    waiting: VecDeque<Completion>,
    log: Rc<RefCell<Vec<String>>>,
}

impl Target for Slow {
    fn submit(&mut self, io: &Io) {
        let line = format!("operation {} at {}", io.slot.index(), io.file);
        self.log.borrow_mut().push(line);
        self.waiting.push_back(io.returned(io.len as i32));
    }

    fn wait(
        &mut self,
        at_least: usize,
        _: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        assert!(at_least <= self.waiting.len(), "it would never end");
        done.extend(self.waiting.pop_front());
        Ok(())
    }

    fn exchange(&mut self, place: usize, file: OpenFile) -> io::Result<OpenFile> {
        self.log.borrow_mut().push(format!("exchange {place}"));
        Ok(file)
    }

    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
}

/// A file must not be closed while something is in flight on it, and an operation on one that is not
/// open must not be overtaken for ever by those on others.
#[test]
fn a_file_is_opened_where_nothing_is_in_flight_and_in_order() {
    let log = Rc::<RefCell<Vec<String>>>::default();
    let slow = Slow {
        log: Rc::clone(&log),
        ..Slow::default()
    };
    let opened = Rc::clone(&log);
    let opener = move |file| {
        opened.borrow_mut().push(format!("open {file}"));
        OpenFile::vacant()
    };
    let mut set = OpenSet::new(Box::new(slow), Box::new(opener), 1, 2, 4).unwrap();
    let mut done = Vec::new();
    for (slot, file) in [0, 0, 1, 0].into_iter().enumerate() {
        set.submit(&write(slot as u32, file));
    }
    set.wait(4, None, &mut done).unwrap();
    let slots: Vec<usize> = done.iter().map(|back| back.slot.index()).collect();
    assert_eq!(slots, [0, 1, 2, 3]);
    let expected = [
        "operation 0 at 0",
        "operation 1 at 0",
        "exchange 0",
        "open 1",
        "exchange 0",
        "operation 2 at 0",
        "exchange 0",
        "open 0",
        "exchange 0",
        "operation 3 at 0",
    ];
    assert_eq!(*log.borrow(), expected);
}

/// As a file that is one too many to be held open by the check.
fn known(path: &Path) -> TargetFile {
    let metadata = fs::metadata(path).unwrap();
    TargetFile {
        reopen: Reopen::Identity {
            id: (metadata.dev(), metadata.ino()),
            born: metadata.created().ok(),
        },
        ..TargetFile::file(path.to_owned(), LEN as u64, true)
    }
}

/// Writes to the first of two files, to the second, for which the first is closed, and after `swap`
/// to the first again. Returns why that ended.
fn reopened_after(folder: &Path, swap: impl FnOnce(&Path)) -> io::Result<()> {
    let paths = ["first", "second"].map(|name| folder.join(name));
    for path in &paths {
        fs::write(path, [1; LEN]).unwrap();
    }
    let files = paths.each_ref().map(|path| known(path));
    let opening = Opening {
        write: true,
        read_too: false,
        direct: false,
        durability: Durability::None,
    };
    let (buffers, _) = Buffers::new(1, LEN).unwrap();
    let setup = EngineSetup {
        engine: Engine::Psync,
        clock: Clock::start(),
        depth: 1,
        buffers: &buffers,
        files: vec![files[0].open(opening).unwrap()],
        paths: Vec::new(),
        writes: true,
        flags: OperationFlags::default(),
    };
    let inner = setup.build(ToDrive).unwrap();
    let opener = move |file: usize| files[file].open(opening);
    let mut set = OpenSet::new(inner, Box::new(opener), 1, 2, 1).unwrap();
    let mut done = Vec::new();
    for file in [0, 1] {
        set.submit(&write(0, file));
        set.wait(1, None, &mut done).unwrap();
    }
    assert!(done.iter().all(|back| back.result == LEN as i32));
    for path in &paths {
        assert_eq!(fs::read(path).unwrap(), [0; LEN], "{}", path.display());
    }
    swap(&paths[0]);
    set.submit(&write(0, 0));
    set.wait(1, None, &mut done)
}

/// Puts something else in the place of a file.
type Swap<'a> = &'a dyn Fn(&Path);

/// The story: what a name leads to is checked once and held, but a file that is closed meanwhile is
/// opened by its name again. Somebody has put a link to another file there, or another file, or one
/// that has got the number of the inode: none is written to.
#[test]
fn a_file_that_was_swapped_while_it_was_closed_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    fs::write(&other, [7; LEN]).unwrap();
    let kinds: [(&str, Swap<'_>); 4] = [
        ("a link", &|path| {
            fs::remove_file(path).unwrap();
            symlink(&other, path).unwrap();
        }),
        ("a second name", &|path| {
            fs::remove_file(path).unwrap();
            fs::hard_link(&other, path).unwrap();
        }),
        ("another file, which may have the inode's number", &|path| {
            fs::remove_file(path).unwrap();
            fs::write(path, [7; LEN]).unwrap();
        }),
        ("a pipe", &|path| {
            fs::remove_file(path).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        }),
    ];
    for (kind, swap) in kinds {
        // Some file systems give the number to the next file, and some do not say when it was made.
        if kind.contains("inode") && fs::metadata(&other).unwrap().created().is_err() {
            println!("skipped: {kind}, where no file says when it was made");
            continue;
        }
        let error = reopened_after(folder.path(), swap).expect_err(kind);
        let words = "leads to another file than when the run began";
        assert!(error.to_string().contains(words), "{kind}: {error}");
        let first = folder.path().join("first");
        if fs::metadata(&first).unwrap().is_file() {
            assert_eq!(fs::read(&first).unwrap(), [7; LEN], "{kind}");
        }
        fs::remove_file(first).unwrap();
    }
    assert_eq!(fs::read(&other).unwrap(), [7; LEN]);
}

/// fio makes a new file then. The name may have gone with a mount, and the new file would lie on
/// another disk.
#[test]
fn a_file_that_was_removed_while_it_was_closed_is_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let removed = reopened_after(folder.path(), |path| fs::remove_file(path).unwrap());
    assert_eq!(removed.unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(!folder.path().join("first").exists());
    assert!(reopened_after(folder.path(), |_| {}).is_ok());
}
