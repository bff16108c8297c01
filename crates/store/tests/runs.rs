//! What becomes of runs: saved, found, listed, left without an end, removed.

mod sample;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use blocklab_record::Status;
use blocklab_store::{Derivation, Removal, Store, StoreError};
use blocklab_workload::Direction;
use proptest::prelude::*;
use sample::record;

const FIRST: &str = "20261120-190142-k3f";
const SECOND: &str = "20261120-190143-012";
const THIRD: &str = "20261121-000000-k3f";
const NOT_JSON: &str = "20270101-000000-000";
const FROM_THE_FUTURE: &str = "20270101-000000-001";

/// Removes one run, and returns its folders that are gone.
fn remove(store: &Store, spec: &str) -> Vec<PathBuf> {
    let mut gone = Vec::new();
    for removal in store.removals(&[spec]).expect("found") {
        if store.remove(&removal).expect("removed") {
            gone.push(removal.path().to_path_buf());
        }
    }
    gone
}

struct Lab {
    store: Store,
    _folder: tempfile::TempDir,
}

fn lab(runs: &[&str]) -> Lab {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path().join("runs"));
    for id in runs {
        store.save(&record(id, &started(id))).expect("saved");
    }
    Lab {
        store,
        _folder: folder,
    }
}

fn started(id: &str) -> String {
    let (date, time) = (&id[..8], &id[9..15]);
    format!(
        "{}-{}-{}T{}:{}:{}Z",
        &date[..4],
        &date[4..6],
        &date[6..],
        &time[..2],
        &time[2..4],
        &time[4..]
    )
}

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).expect("the store");
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = entry.expect("an entry").file_name();
            name.to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_saved_run_comes_back_as_it_was() {
    let lab = lab(&[FIRST]);
    let stored = lab.store.load("latest").expect("the run");
    assert_eq!(stored.record, record(FIRST, &started(FIRST)));
    assert!(!stored.partial);
    assert_eq!(
        fs::read_to_string(&stored.file).expect("the file"),
        stored.record.to_json()
    );
    assert_eq!(
        names(lab.store.root()),
        [FIRST],
        "nothing else is left behind"
    );
}

#[test]
fn a_finished_run_is_never_rewritten() {
    let lab = lab(&[FIRST]);
    let mut other = record(FIRST, "2030-01-01T00:00:00Z");
    other.status = Status::Failed;
    let refused = lab.store.save(&other).expect_err("it is there");
    assert!(matches!(refused, StoreError::Exists { .. }), "{refused}");
    let kept = lab.store.load(FIRST).expect("the run").record;
    assert_eq!(kept, record(FIRST, &started(FIRST)));
}

/// Two processes begin in the same moment and draw the same id: both runs are kept.
#[test]
fn a_run_whose_id_was_taken_meanwhile_gets_the_next_one() {
    let lab = lab(&[FIRST]);
    let mut other = record(FIRST, "2030-01-01T00:00:00Z");
    let folder = lab.store.keep(&mut other).expect("there is a free one");
    assert_ne!(other.id, FIRST);
    assert!(folder.ends_with(&other.id), "{}", folder.display());
    assert_eq!(lab.store.load(&other.id).expect("kept").record, other);
    let first = lab.store.load(FIRST).expect("still there").record;
    assert_eq!(first, record(FIRST, &started(FIRST)));
}

/// The story: the next id was that of a run that still went on in another process. Keeping this one removed the
/// spool of that, so that nothing was left of it when it was killed.
#[test]
fn the_id_of_a_run_that_goes_on_is_taken() {
    let lab = lab(&[FIRST]);
    let running = "20261120-190142-k3g";
    let spool = lab.store.begin(&record(running, &started(FIRST)));
    for settles in [true, false] {
        let mut other = record(FIRST, &started(FIRST));
        if settles {
            lab.store.settle(&mut other);
        }
        lab.store.keep(&mut other).expect("there is a free one");
        assert!(other.id.as_str() > running, "{}", other.id);
        assert!(lab.store.load(running).expect("its spool is there").partial);
    }
    drop(spool);
}

#[test]
fn an_id_cannot_lead_out_of_the_store() {
    let lab = lab(&[]);
    for id in ["../other", "", "a/b", ".hidden", "a b", "alice"] {
        let refused = lab.store.save(&record(id, "2026-01-01T00:00:00Z"));
        assert!(
            matches!(refused, Err(StoreError::BadId(_))),
            "{id}: {refused:?}"
        );
    }
}

/// The story: a run is killed after its first pass. What it had measured is found, and marked so that
/// it is not the whole run; the finished run takes its place.
#[test]
fn a_killed_run_leaves_what_it_measured() {
    let lab = lab(&[FIRST]);
    let whole = record(SECOND, &started(SECOND));
    let mut half = whole.clone();
    half.measurements.clear();
    lab.store.begin(&half).expect("kept");
    half.measurements = whole.measurements[..1].to_vec();
    lab.store.begin(&half).expect("kept again");

    let stored = lab.store.load("latest").expect("the partial run");
    assert!(stored.partial);
    assert_eq!(stored.record.measurements, half.measurements);
    assert_eq!(stored.record.status, Status::Interrupted);
    assert!(
        stored
            .record
            .failure
            .is_some_and(|why| why.contains("killed"))
    );
    let listed = lab.store.list().runs.pop().expect("two runs");
    assert_eq!(
        (listed.id.as_str(), listed.status, listed.measurements),
        (SECOND, Status::Interrupted, 1)
    );

    lab.store.save(&whole).expect("finished");
    assert_eq!(names(lab.store.root()), [FIRST, SECOND]);
    let stored = lab.store.load(SECOND).expect("the run");
    assert!(!stored.partial);
    assert_eq!(stored.record, whole);
}

/// Between the folder of a run and what is in it lay a flush of the disk: a kill, or a look, in that
/// time found a run of which nothing can be read.
#[test]
fn whoever_sees_a_run_can_read_it() {
    let lab = lab(&[]);
    let runs: Vec<_> = (10..30)
        .map(|number| {
            record(
                &format!("20260101-0000{number}-k3f"),
                "2026-01-01T00:00:00Z",
            )
        })
        .collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let kept: Result<Vec<_>, _> = runs.iter().map(|run| lab.store.begin(run)).collect();
            done.store(true, Ordering::Release);
            kept.expect("kept");
        });
        while !done.load(Ordering::Acquire) {
            assert_eq!(lab.store.list().damaged, Vec::new());
        }
    });
    assert_eq!(lab.store.list().runs.len(), runs.len());
}

/// The story: a run ended while `list` read the store. Its folder was gone, so the list reported it
/// as damaged and left it out, and `show latest` failed with "No such file or directory".
#[test]
fn a_run_that_ends_while_the_store_is_read_is_read_all_the_same() {
    let lab = lab(&[FIRST]);
    let ids: Vec<String> = (100..200)
        .map(|number| format!("20261121-000{number}-k3f"))
        .collect();
    let derivation = Derivation {
        version: "test",
        derive: |record| (record.id.clone(), String::new()),
    };
    let ended = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for id in &ids {
                let run = record(id, "2026-11-21T00:00:00Z");
                let kept = lab.store.begin(&run).and_then(|_| lab.store.save(&run));
                ended.fetch_add(1, Ordering::Release);
                kept.expect("kept");
            }
        });
        loop {
            let least = 1 + ended.load(Ordering::Acquire);
            let listing = lab.store.list();
            assert_eq!(listing.damaged, Vec::new());
            assert!(listing.runs.len() >= least, "{least}: {listing:?}");
            let index = lab.store.index(&derivation);
            assert_eq!(index.damaged, Vec::new());
            assert!(index.runs.len() >= least, "{least}: {index:?}");
            lab.store.load("latest").expect("the newest run");
            if least > ids.len() {
                break;
            }
        }
    });
}

#[test]
fn a_crash_between_saving_and_forgetting_the_spool_shows_one_run() {
    let lab = lab(&[FIRST]);
    let run = record(FIRST, &started(FIRST));
    lab.store
        .begin(&run)
        .expect("as if it had not been removed");
    assert_eq!(lab.store.list().runs.len(), 1);
    assert!(!lab.store.load(FIRST).expect("the finished one").partial);
    remove(&lab.store, FIRST);
    assert!(names(lab.store.root()).is_empty());
}

#[test]
fn runs_are_listed_by_their_start_and_damage_is_reported_beside_them() {
    let lab = lab(&[THIRD, FIRST, SECOND]);
    let damaged = [
        (NOT_JSON, "{\"format\": 1,"),
        (FROM_THE_FUTURE, "{\"format\": 99}"),
    ];
    for (name, text) in damaged {
        let folder = lab.store.root().join(name);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("record.json"), text).expect("a file");
    }
    fs::write(lab.store.root().join("notes.txt"), "mine").expect("a file");
    let listing = lab.store.list();
    let ids: Vec<&str> = listing.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, [FIRST, SECOND, THIRD]);
    let run = &listing.runs[0];
    assert_eq!(
        (run.name.as_str(), run.targets[0].as_str(), run.measurements),
        ("quick", "/data/a, \"b\"", 2)
    );
    let why = |name: &str| {
        let folder = lab.store.root().join(name);
        let damaged = listing.damaged.iter().find(|d| d.path == folder);
        damaged.expect("listed").why.clone()
    };
    assert_eq!(listing.damaged.len(), 2);
    assert!(why(NOT_JSON).contains("not a record"));
    assert!(why(FROM_THE_FUTURE).contains("format 99 is newer"));
}

#[test]
fn a_store_that_is_not_there_is_empty() {
    let store = Store::open("/nowhere/at/all");
    assert!(store.list().runs.is_empty() && store.list().damaged.is_empty());
    let error = store.load("latest").expect_err("nothing").to_string();
    assert!(error.contains("no runs in /nowhere/at/all yet"), "{error}");
}

#[test]
fn runs_are_named_by_their_path_too() {
    let lab = lab(&[FIRST, SECOND]);
    let folder = lab.store.root().join(FIRST);
    let other = Store::open("/nowhere");
    for path in [folder.clone(), folder.join("record.json")] {
        let stored = other.load(path.to_str().expect("text")).expect("found");
        assert_eq!(stored.record.id, FIRST);
    }
    let error = lab.store.load("20261120").expect_err("two fit").to_string();
    assert!(error.contains(FIRST) && error.contains(SECOND), "{error}");
}

#[test]
fn a_newer_older_or_damaged_record_says_so() {
    let lab = lab(&[FIRST]);
    let file = lab.store.root().join(FIRST).join("record.json");
    for (text, expected) in [
        ("{\"format\": 3}", "format 3 is newer"),
        ("nonsense", "not a record"),
        ("{\"format\": 2}", "missing field"),
        ("{\"format\": 1}", "format 1 is older"),
    ] {
        fs::write(&file, text).expect("written");
        let error = lab.store.load("latest").expect_err("no record").to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("record.json"), "{error}");
    }
}

#[test]
fn only_runs_of_the_store_are_removed() {
    let lab = lab(&[FIRST, SECOND]);
    let other = self::lab(&[THIRD]);
    let theirs = other.store.root().join(THIRD);
    let paths: [PathBuf; 3] = [theirs.clone(), theirs.join("record.json"), "/".into()];
    for path in paths {
        let refused = lab.store.removals(&[path.to_str().expect("text")]);
        assert!(
            matches!(refused, Err(StoreError::Outside { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(names(other.store.root()), [THIRD]);

    let mine = lab.store.root().join(FIRST);
    let gone = remove(&lab.store, mine.to_str().expect("text"));
    assert_eq!(gone.len(), 1);
    assert!(gone[0].ends_with(FIRST), "{gone:?}");
    assert_eq!(names(lab.store.root()), [SECOND]);
}

#[test]
fn a_damaged_run_can_be_removed_by_its_id() {
    let lab = lab(&[]);
    let folder = lab.store.root().join(FIRST);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("record.json"), "nonsense").expect("a file");
    remove(&lab.store, FIRST);
    assert!(names(lab.store.root()).is_empty());
}

/// The story: BLOCKLAB_STORE named a home directory by mistake, and `rm latest` took away the
/// tree of the user whose name came last; a beginning and a path did the same. Folders that are
/// no runs are nobody's runs, whatever is in them.
#[test]
fn folders_that_are_no_runs_are_neither_removed_nor_shown() {
    let lab = lab(&[]);
    let root = lab.store.root();
    let trees = ["alice", "zoe", FIRST, "20261120-190142-k3f.partial"];
    for tree in trees {
        fs::create_dir_all(root.join(tree).join("docs")).expect("a folder");
        fs::write(root.join(tree).join("thesis"), "years").expect("a file");
    }
    // Another program's file of that name does not make a run of it.
    fs::write(root.join("zoe/record.json"), "{\"songs\": 3}").expect("a file");
    let path = root.join("zoe").display().to_string();
    for spec in ["latest", "zo", "zoe", FIRST, "k3f", &path] {
        let refused = lab.store.removals(&[spec]);
        assert!(refused.is_err(), "{spec}: {refused:?}");
    }
    assert!(lab.store.load("latest").is_err() && lab.store.load("zoe").is_err());
    let listing = lab.store.list();
    assert!(listing.runs.is_empty() && listing.damaged.is_empty());
    for tree in trees {
        assert!(root.join(tree).join("thesis").exists(), "{tree}");
    }
}

/// The story: notes that somebody kept next to a record went with the run.
#[test]
fn what_a_run_did_not_write_stays() {
    let lab = lab(&[FIRST, SECOND]);
    let folder = lab.store.root().join(FIRST);
    fs::write(folder.join("report.html"), "<!DOCTYPE html>").expect("a page");
    fs::write(folder.join("notes.txt"), "mine").expect("a file");
    fs::create_dir(folder.join("study.html")).expect("a folder");
    let removals = lab.store.removals(&[FIRST]).expect("found");
    assert_eq!(removals[0].stays(), ["notes.txt", "study.html"]);
    assert_eq!(lab.store.remove(&removals[0]).ok(), Some(false));
    assert_eq!(names(&folder), ["notes.txt", "study.html"]);
    // It is no run any longer, and nothing complains of it.
    assert!(lab.store.removals(&[FIRST]).is_err());
    assert!(lab.store.list().damaged.is_empty());
    // A finished run takes away its spool, and nothing else.
    let third = record(THIRD, &started(THIRD));
    lab.store.begin(&third).expect("kept");
    let partial = lab.store.root().join(format!("{THIRD}.partial"));
    fs::write(partial.join("notes.txt"), "mine").expect("a file");
    lab.store.save(&third).expect("saved");
    assert_eq!(names(&partial), ["notes.txt"]);
}

/// The story: `rm latest latest` looked anew after the first one was gone, and removed two runs;
/// `rm GOOD nosuch` removed the first before it reported the second.
#[test]
fn all_runs_are_found_before_any_is_removed() {
    let lab = lab(&[FIRST, SECOND]);
    let found = lab.store.removals(&["latest", "latest", SECOND]);
    let found = found.expect("one run");
    let paths: Vec<&Path> = found.iter().map(Removal::path).collect();
    assert_eq!(paths, [lab.store.root().join(SECOND)]);
    assert!(lab.store.removals(&["latest", "nosuch"]).is_err());
    assert_eq!(names(lab.store.root()), [FIRST, SECOND]);
}

/// The story: a link in the store led to another folder. What it leads to is not in the store, or
/// is another run than the one that was named.
#[test]
fn links_in_the_store_are_not_followed_to_remove() {
    let lab = lab(&[FIRST]);
    let other = self::lab(&[THIRD]);
    let theirs = other.store.root().join(THIRD);
    symlink(&theirs, lab.store.root().join(SECOND)).expect("a link");
    symlink(FIRST, lab.store.root().join(THIRD)).expect("a link");
    for spec in [SECOND, THIRD] {
        assert!(lab.store.load(spec).is_ok(), "a link can be read");
        let refused = lab.store.removals(&[spec]);
        assert!(matches!(refused, Err(StoreError::Outside { .. })), "{spec}");
    }
    // A folder that was exchanged for a link after the look is not followed either.
    let removal = lab.store.removals(&[FIRST]).expect("found").remove(0);
    fs::rename(lab.store.root().join(FIRST), lab.store.root().join("away")).expect("moved");
    symlink(&theirs, lab.store.root().join(FIRST)).expect("a link");
    assert!(lab.store.remove(&removal).is_err());
    assert_eq!(names(&theirs), ["record.json"]);
}

/// The story: a record that was sent by somebody called itself `../../x`, and that reached the
/// default name of its report.
#[test]
fn a_record_with_a_foreign_id_is_not_read() {
    let lab = lab(&[FIRST]);
    let file = lab.store.root().join(FIRST).join("record.json");
    let text = fs::read_to_string(&file).expect("the record");
    fs::write(&file, text.replace(FIRST, "../../x")).expect("written");
    let refused = lab.store.load(FIRST).expect_err("no id").to_string();
    assert!(refused.contains("`../../x` is no id of a run"), "{refused}");
    assert!(refused.contains("record.json"), "{refused}");
}

/// The story: the record of a stranger set the title of the terminal, hid text, and reversed a
/// file's name, in every command that showed it.
#[test]
fn texts_of_a_stranger_are_shown_and_not_obeyed() {
    let lab = lab(&[]);
    let mut run = record(FIRST, &started(FIRST));
    let evil = "a\u{1b}]0;title\u{7}\u{9b}8m\u{202e}b\nerror: all is lost\r";
    run.requested.name = evil.into();
    run.targets[0].path = evil.into();
    run.measurements[0].jobs[0].name = evil.into();
    run.measurements[0].settings = vec![(evil.into(), evil.into())];
    run.requested.native = "name = \"a\"\n# \u{1b}[8m\n".into();
    lab.store.save(&run).expect("saved");
    let unchanged = lab.store.load_unchanged(FIRST).expect("the run").record;
    assert_eq!(unchanged, run);
    let shown = lab.store.load(FIRST).expect("the run").record;
    let text = "a\\u001b]0;title\\u0007\\u009b8m\\u202eb\\u000aerror: all is lost\\u000d";
    assert_eq!(shown.requested.name, text);
    assert_eq!(shown.requested.native, "name = \"a\"\n# \\u001b[8m\n");
    assert_eq!(shown.measurements[0].settings[0].0, text);
    let hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    let json = shown.to_json().replace("\\n", "");
    assert!(!json.contains(hidden) && !json.contains("\\r"), "{json}");
    let listed = lab.store.list().runs.remove(0);
    assert_eq!((&*listed.name, &*listed.targets[0]), (text, text));
    assert_eq!(listed.study, text);
    // Figures are those of the record.
    let mut plain = record(FIRST, &started(FIRST));
    plain.requested = shown.requested.clone();
    plain.targets[0].path = text.into();
    plain.measurements[0].jobs[0].name = text.into();
    plain.measurements[0].settings = vec![(text.into(), text.into())];
    assert_eq!(shown, plain);
}

/// A line end in a name alone is found too; a record without any is given back as it is.
#[test]
fn a_line_end_in_a_name_is_no_line_end() {
    let lab = lab(&[FIRST]);
    assert_eq!(
        lab.store.load(FIRST).expect("the run").record,
        record(FIRST, &started(FIRST))
    );
    let mut run = record(SECOND, &started(SECOND));
    run.requested.name = "a\nb".into();
    lab.store.save(&run).expect("saved");
    let shown = lab.store.load(SECOND).expect("the run").record;
    assert_eq!(shown.requested.name, "a\\u000ab");
}

/// The story: a run was measured for an hour, and then its store turned out to be a file, to be
/// full, or to be read-only.
#[test]
fn a_store_is_tried_before_it_is_needed() {
    let lab = lab(&[]);
    lab.store.try_out().expect("possible");
    assert!(names(lab.store.root()).is_empty(), "nothing is left");
    let file = lab.store.root().join("file");
    fs::write(&file, "mine").expect("a file");
    for place in [file.as_path(), Path::new("/proc/x"), Path::new("/dev/null")] {
        let tried = Store::open(place).try_out();
        assert!(matches!(tried, Err(StoreError::Io { .. })), "{tried:?}");
    }
}

/// A run that somebody renamed is named by its path, and the list shows that.
#[test]
fn a_renamed_run_is_reported() {
    let lab = lab(&[FIRST]);
    let renamed = lab.store.root().join("baseline");
    fs::rename(lab.store.root().join(FIRST), &renamed).expect("renamed");
    let damaged = lab.store.list().damaged;
    assert_eq!(damaged.len(), 1);
    assert!(damaged[0].why.contains("its path names it"), "{damaged:?}");
    let stored = lab.store.load(renamed.to_str().expect("text"));
    assert_eq!(stored.expect("found").record.id, FIRST);
}

/// The story: a file stood where the store should be, and the reason given was that the run was
/// in it already.
#[test]
fn a_file_as_the_store_is_reported_as_what_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("runs");
    fs::write(&file, "mine").expect("a file");
    let refused = Store::open(&file).save(&record(FIRST, &started(FIRST)));
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).expect("still a file"), "mine");
}

#[test]
fn a_note_is_kept_beside_the_record_and_goes_with_it() {
    let lab = lab(&[FIRST]);
    let record = lab.store.root().join(FIRST).join("record.json");
    let before = fs::read(&record).expect("a record");
    let noted = lab
        .store
        .annotate(FIRST, Some("after fill\n\u{1b}[2Jfirmware 3.1"));
    let shown = noted.expect("noted").record.note.expect("a note");
    assert_eq!(
        shown,
        lab.store
            .load("k3f")
            .expect("it")
            .record
            .note
            .expect("a note")
    );
    assert!(
        shown.starts_with("after fill\n") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    let unchanged = lab.store.load_unchanged(FIRST).expect("it").record.note;
    assert_eq!(
        unchanged.as_deref(),
        Some("after fill\n\u{1b}[2Jfirmware 3.1")
    );
    assert_eq!(fs::read(&record).expect("a record"), before);
    lab.store.annotate(FIRST, Some("second")).expect("noted");
    assert_eq!(
        lab.store.load(FIRST).expect("it").record.note.as_deref(),
        Some("second")
    );
    lab.store.annotate(FIRST, None).expect("deleted");
    lab.store
        .annotate(FIRST, None)
        .expect("deleting nothing is no mistake");
    assert_eq!(lab.store.load(FIRST).expect("it").record.note, None);
    lab.store.annotate(FIRST, Some("third")).expect("noted");
    assert_eq!(remove(&lab.store, FIRST).len(), 1, "nothing stays");
}

#[test]
fn a_note_follows_no_link_and_is_no_log() {
    let lab = lab(&[FIRST]);
    let folder = lab.store.root().join(FIRST);
    let theirs = lab.store.root().join("theirs.txt");
    fs::write(&theirs, "mine").expect("a file");
    for name in ["blocklab-note.txt", ".blocklab-note.txt.new"] {
        symlink(&theirs, folder.join(name)).expect("a link");
    }
    assert_eq!(lab.store.load(FIRST).expect("it").record.note, None);
    lab.store.annotate(FIRST, Some("ours")).expect("noted");
    assert_eq!(fs::read_to_string(&theirs).expect("a file"), "mine");
    assert_eq!(
        lab.store.load(FIRST).expect("it").record.note.as_deref(),
        Some("ours")
    );
    let long = lab.store.annotate(FIRST, Some(&"x".repeat(20_000)));
    assert!(matches!(long, Err(StoreError::LongNote(20_000))));
}

/// A note on a run that is not finished yet must not go with its spool.
#[test]
fn a_note_outlives_the_spool() {
    let lab = lab(&[]);
    let run = record(FIRST, &started(FIRST));
    lab.store.begin(&run).expect("kept");
    lab.store.annotate(FIRST, Some("hot day")).expect("noted");
    lab.store.save(&run).expect("saved");
    assert_eq!(
        lab.store.load(FIRST).expect("it").record.note.as_deref(),
        Some("hot day")
    );
    assert_eq!(names(lab.store.root()), [FIRST]);
}

/// Two simulated runs within the same 1/32 s had their ids in any order, and `latest` was the first
/// of them.
#[test]
fn a_run_sorts_behind_those_of_the_same_moment() {
    let lab = lab(&[]);
    let now = "2026-11-20T19:01:42Z".parse().expect("a time");
    let mut last = String::new();
    for salt in [700, 3, 900, 0] {
        let id = lab.store.new_id(now, salt);
        assert!(id > last, "{id} after {last}");
        lab.store
            .save(&record(&id, "2026-11-20T19:01:42Z"))
            .expect("a free id");
        last = id;
    }
}

#[test]
fn new_ids_are_not_taken() {
    let lab = lab(&[]);
    let now = "2026-11-20T19:01:42Z".parse().expect("a time");
    let mut ids = Vec::new();
    for _ in 0..40 {
        let id = lab.store.new_id(now, 1_000);
        let mut run = record(&id, "2026-11-20T19:01:42Z");
        run.measurements.clear();
        match ids.len() % 2 {
            0 => drop(lab.store.save(&run).expect("a free id")),
            _ => drop(lab.store.begin(&run).expect("a free id")),
        }
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}

proptest! {
    /// A report made again from the store must be the same to the last digit, so every float has
    /// to come back bit by bit.
    #[test]
    fn figures_survive_the_store_bit_by_bit(
        mean in any::<f64>().prop_filter("JSON has finite numbers only", |f| f.is_finite()),
        big in any::<u64>(),
    ) {
        let lab = lab(&[]);
        let mut run = record(FIRST, &started(FIRST));
        let job = &mut run.measurements[0].jobs[0];
        job.directions.get_mut(&Direction::Read).expect("it reads").service.mean_ns = mean;
        job.elapsed_ns = big;
        lab.store.save(&run).expect("saved");
        prop_assert_eq!(lab.store.load(FIRST).expect("the run").record, run);
    }
}
