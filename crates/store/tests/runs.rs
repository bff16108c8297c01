//! What becomes of runs: saved, found, listed, checkpointed, removed.

mod sample;

use std::fs;
use std::path::{Path, PathBuf};

use blocklab_record::Status;
use blocklab_store::{Store, StoreError};
use proptest::prelude::*;
use sample::record;

const FIRST: &str = "20261120-190142-k3f";
const SECOND: &str = "20261120-190143-012";
const THIRD: &str = "20261121-000000-k3f";

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

#[test]
fn an_id_cannot_lead_out_of_the_store() {
    let lab = lab(&[]);
    for id in ["../elsewhere", "", "a/b", ".hidden", "a b"] {
        let refused = lab.store.save(&record(id, "2026-01-01T00:00:00Z"));
        assert!(
            matches!(refused, Err(StoreError::BadId { .. })),
            "{id}: {refused:?}"
        );
    }
}

/// The story: a run is killed after its first pass. What it had measured is found, and says that
/// it is not the whole run; the finished run takes its place.
#[test]
fn a_killed_run_leaves_what_it_measured() {
    let lab = lab(&[FIRST]);
    let whole = record(SECOND, &started(SECOND));
    let mut half = whole.clone();
    half.measurements.clear();
    lab.store.checkpoint(&half).expect("kept");
    half.measurements = whole.measurements[..1].to_vec();
    lab.store.checkpoint(&half).expect("kept again");

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

#[test]
fn a_crash_between_saving_and_forgetting_the_checkpoint_shows_one_run() {
    let lab = lab(&[FIRST]);
    let run = record(FIRST, &started(FIRST));
    lab.store
        .checkpoint(&run)
        .expect("as if it had not been removed");
    assert_eq!(lab.store.list().runs.len(), 1);
    assert!(!lab.store.load(FIRST).expect("the finished one").partial);
    lab.store.remove(FIRST).expect("both are removed");
    assert!(names(lab.store.root()).is_empty());
}

#[test]
fn runs_are_listed_by_their_start_and_damage_is_told_beside_them() {
    let lab = lab(&[THIRD, FIRST, SECOND]);
    let damaged = [
        ("no-record", None),
        ("not-json", Some("{\"format\": 1,")),
        ("from-the-future", Some("{\"format\": 99}")),
    ];
    for (name, text) in damaged {
        let folder = lab.store.root().join(name);
        fs::create_dir(&folder).expect("a folder");
        if let Some(text) = text {
            fs::write(folder.join("record.json"), text).expect("a file");
        }
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
        damaged.expect("told").why.clone()
    };
    assert_eq!(listing.damaged.len(), 3);
    assert!(why("no-record").contains("No such file"));
    assert!(why("not-json").contains("not a record"));
    assert!(why("from-the-future").contains("format 99 is newer"));
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
    let elsewhere = Store::open("/nowhere");
    for path in [folder.clone(), folder.join("record.json")] {
        let stored = elsewhere.load(path.to_str().expect("text")).expect("found");
        assert_eq!(stored.record.id, FIRST);
    }
    let error = lab.store.load("20261120").expect_err("two fit").to_string();
    assert!(error.contains(FIRST) && error.contains(SECOND), "{error}");
}

#[test]
fn a_newer_or_damaged_record_says_so() {
    let lab = lab(&[FIRST]);
    let file = lab.store.root().join(FIRST).join("record.json");
    for (text, expected) in [
        ("{\"format\": 2}", "format 2 is newer"),
        ("nonsense", "not a record"),
        ("{\"format\": 1}", "missing field"),
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
        let refused = lab.store.remove(path.to_str().expect("text"));
        assert!(
            matches!(refused, Err(StoreError::Outside { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(names(other.store.root()), [THIRD]);

    let mine = lab.store.root().join(FIRST);
    let gone = lab
        .store
        .remove(mine.to_str().expect("text"))
        .expect("gone");
    assert_eq!(gone.len(), 1);
    assert!(gone[0].ends_with(FIRST), "{gone:?}");
    assert_eq!(names(lab.store.root()), [SECOND]);
}

#[test]
fn a_damaged_run_can_be_removed_by_its_id() {
    let lab = lab(&[]);
    let folder = lab.store.root().join("broken");
    fs::create_dir_all(&folder).expect("a folder");
    lab.store.remove("broken").expect("gone");
    assert!(names(lab.store.root()).is_empty());
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
            _ => lab.store.checkpoint(&run).expect("a free id"),
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
        job.directions.get_mut("read").expect("it reads").service.mean_ns = mean;
        job.elapsed_ns = big;
        lab.store.save(&run).expect("saved");
        prop_assert_eq!(lab.store.load(FIRST).expect("the run").record, run);
    }
}
