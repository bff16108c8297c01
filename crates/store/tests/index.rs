//! The index: what it saves, and that nothing done to it or behind its back changes an answer.

mod sample;

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Mutex;

use blocklab_record::Record;
use blocklab_store::{Derivation, Index, Store};
use sample::record;

const IDS: [&str; 3] = [
    "20261120-190142-k3f",
    "20261120-190143-012",
    "20261121-000000-k3f",
];
const STARTED: &str = "2026-11-20T19:01:42Z";

/// Which records were derived: those that no line could give. Tests run at once, so each looks
/// for the names that only its own runs have.
static DERIVED: Mutex<Vec<String>> = Mutex::new(Vec::new());

const NAMES: Derivation<String> = Derivation {
    version: "test/1",
    derive: |record| {
        let mut derived = DERIVED.lock().expect("no panic");
        derived.push(record.requested.name.clone());
        (record.requested.name.clone(), texts(record))
    },
};

fn texts(record: &Record) -> String {
    format!("[\"{}\",\"{}\"]", record.requested.name, record.id)
}

struct Lab {
    store: Store,
    name: String,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path().join("runs"));
        let lab = Self {
            store,
            name: name.to_owned(),
            _folder: folder,
        };
        IDS.iter().for_each(|id| lab.save(id));
        lab
    }

    fn save(&self, id: &str) {
        self.store.save(&self.record(id)).expect("saved");
    }

    fn record(&self, id: &str) -> Record {
        let mut run = record(id, STARTED);
        run.requested.name = format!("{}-{id}", self.name);
        run
    }

    /// Adds as many lines of no use as make the file be written anew.
    fn add_old_lines(&self) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.file())
            .expect("opened");
        for number in 0..1000 {
            writeln!(file, "test/1 20200101-000000-k3f {number} 0 0 4\t{{}}\t1").expect("added");
        }
    }

    fn file(&self) -> PathBuf {
        self.store.root().join(".blocklab-index")
    }

    /// The index is what the Records say; how many of them it had to read for that.
    #[track_caller]
    fn check(&self, ids: &[&str], derived: usize) -> Index<String> {
        let before = self.derived();
        let index = self.store.index(&NAMES);
        let found: Vec<&str> = index.runs.iter().map(|run| &*run.run.id).collect();
        assert_eq!(found, ids);
        assert_eq!(self.derived() - before, derived, "read Records");
        let mut listed = self.store.list();
        for run in &index.runs {
            let record = self.store.load(&run.run.id).expect("a run").record;
            assert_eq!(run.head.as_ref(), Some(&record.requested.name));
            let text = index.text(run, |text| Some(text.to_owned()));
            assert_eq!(text, Some(texts(&record)));
            assert_eq!(run.run, listed.runs.remove(0));
        }
        assert_eq!(index.damaged, listed.damaged);
        index
    }

    fn derived(&self) -> usize {
        let derived = DERIVED.lock().expect("no panic");
        let ours = derived.iter().filter(|name| name.starts_with(&self.name));
        ours.count()
    }
}

#[test]
fn a_run_is_read_once() {
    let lab = Lab::new("once");
    lab.check(&IDS, 3);
    lab.check(&IDS, 0);
    let fourth = "20261122-000000-k3f";
    lab.save(fourth);
    lab.check(&[IDS[0], IDS[1], IDS[2], fourth], 1);
}

#[test]
fn a_run_removed_or_edited_behind_its_back_is_seen() {
    let lab = Lab::new("behind");
    lab.check(&IDS, 3);
    fs::remove_dir_all(lab.store.root().join(IDS[1])).expect("removed");
    lab.check(&[IDS[0], IDS[2]], 0);
    let file = lab.store.root().join(IDS[0]).join("record.json");
    let text = fs::read_to_string(&file).expect("a record");
    fs::write(&file, text.replace("behind-2026", "behind-edited-2026")).expect("edited");
    lab.check(&[IDS[0], IDS[2]], 1);
    lab.check(&[IDS[0], IDS[2]], 0);
}

/// A run that still lasts changes with every second.
#[test]
fn an_unfinished_run_is_read_each_time() {
    let lab = Lab::new("unfinished");
    lab.check(&IDS, 3);
    let id = "20261122-000000-k3f";
    drop(lab.store.begin(&lab.record(id)).expect("kept"));
    lab.check(&[IDS[0], IDS[1], IDS[2], id], 1);
    lab.check(&[IDS[0], IDS[1], IDS[2], id], 1);
    lab.store.save(&lab.record(id)).expect("finished");
    lab.check(&[IDS[0], IDS[1], IDS[2], id], 1);
    lab.check(&[IDS[0], IDS[1], IDS[2], id], 0);
}

#[test]
fn torn_and_foreign_lines_are_derived_again() {
    let lab = Lab::new("torn");
    lab.check(&IDS, 3);
    let whole = fs::read(lab.file()).expect("an index");
    // A kill, or a full disk, in the middle of a line: at every byte of the last one.
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("three lines")
        + 1;
    for end in (last..whole.len()).step_by(7) {
        fs::write(lab.file(), &whole[..end]).expect("torn");
        lab.check(&IDS, 1);
    }
    for foreign in ["\n\n", "a\tb\tc\n", "\u{0}\u{1b}[2J\n", "{\"runs\": []}\n"] {
        let both = [foreign.as_bytes(), &whole].concat();
        fs::write(lab.file(), both).expect("written");
        lab.check(&IDS, 0);
        fs::write(lab.file(), foreign).expect("written");
        lab.check(&IDS, 3);
    }
    // A text that is not understood is derived again when it is read.
    let spoilt = String::from_utf8(whole)
        .expect("text")
        .replace("[\"torn", "{\"torn");
    fs::write(lab.file(), spoilt).expect("spoilt");
    let index = lab.store.index(&NAMES);
    let strict = |text: &str| text.starts_with('[').then(|| text.to_owned());
    let text = index.text(&index.runs[0], strict);
    assert_eq!(text, Some(texts(&lab.record(IDS[0]))));
}

/// A copied store brings an index whose names were not made visible.
#[test]
fn a_line_that_would_control_the_terminal_is_not_taken() {
    let lab = Lab::new("esc");
    lab.check(&IDS, 3);
    let text = fs::read_to_string(lab.file()).expect("an index");
    let hostile = text.replace("\"esc-2026", "\"\\u001b-2026");
    fs::write(lab.file(), hostile).expect("written");
    lab.check(&IDS, 3);
    let hostile = text.replace("\"esc-2026", "\"\u{1b}[2-2026");
    fs::write(lab.file(), hostile).expect("written");
    lab.check(&IDS, 3);
}

#[test]
fn another_version_derives_anew_and_both_stay() {
    const OTHER: Derivation<String> = Derivation {
        version: "test/2",
        ..NAMES
    };
    let lab = Lab::new("version");
    lab.check(&IDS, 3);
    lab.store.index(&OTHER);
    assert_eq!(lab.derived(), 6);
    lab.store.index(&OTHER);
    assert_eq!(lab.derived(), 6);
    lab.check(&IDS, 0);
}

/// Two programs begin with an empty index, and neither spoils an answer of the other.
#[test]
fn writers_at_once_are_both_right() {
    let lab = Lab::new("writers");
    let ids: Vec<String> = (10..60)
        .map(|number| format!("20261123-0000{number}-k3f"))
        .collect();
    ids.iter().for_each(|id| lab.save(id));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let index = lab.store.index(&NAMES);
                assert_eq!(index.runs.len(), 53);
                for run in &index.runs {
                    let text = index.text(run, |text| Some(text.to_owned()));
                    assert_eq!(text, Some(texts(&lab.record(&run.run.id))));
                }
            });
        }
    });
    let all: Vec<&str> = IDS.into_iter().chain(ids.iter().map(|id| &**id)).collect();
    lab.check(&all, 0);
}

/// In the place of the file there may be anything, and a folder that cannot be written to.
#[test]
fn without_a_place_to_write_all_is_derived() {
    let lab = Lab::new("place");
    fs::create_dir(lab.file()).expect("a folder");
    lab.check(&IDS, 3);
    lab.check(&IDS, 3);
    fs::remove_dir(lab.file()).expect("removed");
    let elsewhere = lab.store.root().join("mine.txt");
    fs::write(&elsewhere, "mine").expect("a file");
    symlink(&elsewhere, lab.file()).expect("a link");
    lab.check(&IDS, 3);
    assert_eq!(fs::read_to_string(&elsewhere).expect("there"), "mine");
    fs::remove_file(lab.file()).expect("removed");
    symlink("/dev/full", lab.file()).expect("a link");
    lab.check(&IDS, 3);
}

#[test]
fn whoever_can_add_a_run_can_add_its_line() {
    for (folder, file) in [(0o755, 0o644), (0o770, 0o660), (0o1777, 0o644)] {
        let lab = Lab::new("shared");
        fs::set_permissions(lab.store.root(), Permissions::from_mode(folder)).expect("set");
        lab.store.index(&NAMES);
        let mode = fs::metadata(lab.file()).expect("an index").permissions();
        assert_eq!(mode.mode() & 0o777, file, "{folder:o}");
    }
}

/// Lines of no use make way when they are the most.
#[test]
fn a_file_of_old_lines_is_written_anew() {
    let lab = Lab::new("old");
    lab.check(&IDS, 3);
    let before = fs::metadata(lab.file()).expect("an index").len();
    lab.add_old_lines();
    lab.check(&IDS, 0);
    assert_eq!(fs::metadata(lab.file()).expect("an index").len(), before);
    lab.check(&IDS, 0);
    assert_eq!(fs::read_dir(lab.store.root()).expect("listed").count(), 4);
}

/// The story: of two threads that wrote the file anew at once, the second removed what the first one had
/// written so far.
#[test]
fn a_file_that_another_thread_writes_anew_is_left_to_it() {
    let lab = Lab::new("anew");
    lab.check(&IDS, 3);
    lab.add_old_lines();
    let name = format!(".blocklab-index.new-{}", std::process::id());
    let theirs = lab.store.root().join(name);
    fs::write(&theirs, "half").expect("written");
    lab.check(&IDS, 0);
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), "half");
}

/// The story: a list and the pages dropped each other's lines, and each derived all of a large store
/// anew whenever the other had been there.
#[test]
fn two_derivations_leave_each_other_their_lines() {
    const OTHER: Derivation<String> = Derivation {
        version: "test/2",
        ..NAMES
    };
    let lab = Lab::new("two");
    let ids: Vec<String> = (0..1100)
        .map(|number| {
            format!(
                "202611{:02}-00{:02}{:02}-k3f",
                10 + number / 600,
                number / 60 % 10,
                number % 60
            )
        })
        .collect();
    for id in &ids {
        let folder = lab.store.root().join(id);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("record.json"), lab.record(id).to_json()).expect("a record");
    }
    let _ = (lab.store.index(&NAMES), lab.store.index(&OTHER));
    let derived = lab.derived();
    let _ = (lab.store.index(&NAMES), lab.store.index(&OTHER));
    assert_eq!(lab.derived(), derived, "nothing is derived again");
}

#[test]
fn a_record_that_only_its_head_can_be_read_of_is_listed() {
    let lab = Lab::new("head");
    let file = lab.store.root().join(IDS[0]).join("record.json");
    let text = fs::read_to_string(&file).expect("a record");
    let broken = text.replacen("\"passes\": 2", "\"passes\": \"two\"", 1);
    assert_ne!(text, broken);
    fs::write(&file, broken).expect("broken");
    fs::write(lab.store.root().join(IDS[1]).join("record.json"), "{").expect("broken");
    let index = lab.store.index(&NAMES);
    let heads: Vec<bool> = index.runs.iter().map(|run| run.head.is_some()).collect();
    assert_eq!(heads, [false, true]);
    assert_eq!(
        index.text(&index.runs[0], |text| Some(text.to_owned())),
        None
    );
    assert_eq!(index.damaged.len(), 1);
}
