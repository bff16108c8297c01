//! Tags: given, taken, found by, and of no effect on the record.

mod sample;

use std::fs;
use std::os::unix::fs::symlink;

use blocklab_store::{Store, StoreError, is_tag};
use sample::record;

const FIRST: &str = "20261120-190142-k3f";
const SECOND: &str = "20261121-190142-k3f";

fn lab() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path());
    for id in [FIRST, SECOND] {
        store
            .save(&record(id, "2026-11-20T19:01:42Z"))
            .expect("saved");
    }
    (store, folder)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_run_is_found_by_its_tag() {
    let (store, _folder) = lab();
    let before = fs::read(store.root().join(FIRST).join("record.json")).expect("a record");
    let (id, tags) = store
        .tag(FIRST, &words(&["kept", "baseline", "kept"]), &[])
        .expect("tagged");
    assert_eq!((&*id, tags), (FIRST, words(&["baseline", "kept"])));
    assert_eq!(store.load("tag:baseline").expect("found").record.id, FIRST);
    let runs = store.list().runs;
    assert_eq!(store.tags(&runs[0]), ["baseline", "kept"]);
    assert!(store.tags(&runs[1]).is_empty());
    // Of several the newest.
    store
        .tag(SECOND, &words(&["baseline"]), &[])
        .expect("tagged");
    assert_eq!(store.load("tag:baseline").expect("found").record.id, SECOND);
    let taken = store.tag(SECOND, &[], &words(&["baseline", "never"]));
    assert_eq!(taken.expect("taken").1, Vec::<String>::new());
    assert_eq!(store.load("tag:baseline").expect("found").record.id, FIRST);
    let after = fs::read(store.root().join(FIRST).join("record.json")).expect("a record");
    assert_eq!(before, after, "the record stays");
}

#[test]
fn what_is_no_tag_is_refused_and_passed_over() {
    for word in ["baseline", "v1.2_b-3", "A"] {
        assert!(is_tag(word), "{word}");
    }
    let long = "x".repeat(65);
    for word in ["", "two words", "a/b", "<b>", "\u{1b}[2J", "größe", &long] {
        assert!(!is_tag(word), "{word}");
        let (store, _folder) = lab();
        let refused = store.tag(FIRST, &words(&[word]), &[]);
        assert!(matches!(refused, Err(StoreError::BadTag(_))), "{refused:?}");
    }
    let (store, _folder) = lab();
    let error = store.load("tag:none").expect_err("no run").to_string();
    assert!(error.contains("has the tag `none`"), "{error}");
    let file = store.root().join(FIRST).join("blocklab-tags.txt");
    fs::write(&file, "<script>\n\u{1b}[2J\nbaseline\n\n../x\n").expect("written");
    assert_eq!(store.tags(&store.list().runs[0]), ["baseline"]);
    // What somebody put in its place is not followed.
    fs::remove_file(&file).expect("removed");
    symlink("/dev/zero", &file).expect("a link");
    assert!(store.tags(&store.list().runs[0]).is_empty());
}

/// The story: a script gave a run hundreds of tags. All of them were reported as given, those behind the
/// first 16 KiB were never found again, and the last one was cut.
#[test]
fn more_tags_than_are_read_are_refused() {
    let (store, _folder) = lab();
    let many: Vec<String> = (0..300).map(|number| format!("{number:064}")).collect();
    let refused = store.tag(FIRST, &many, &[]);
    assert!(
        matches!(refused, Err(StoreError::LongTags(19_499))),
        "{refused:?}"
    );
    assert!(store.tags(&store.list().runs[0]).is_empty());
    store.tag(FIRST, &many[..252], &[]).expect("16,379 bytes");
    assert_eq!(store.tags(&store.list().runs[0]), many[..252]);
}

/// The story: `show tag:baseline` on a store that could not be read said that no run had the tag.
#[test]
fn a_store_that_cannot_be_read_is_reported_for_a_tag_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("runs");
    fs::write(&file, "mine").expect("a file");
    let refused = Store::open(&file).load("tag:baseline");
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
}

/// The tags of a run go with it.
#[test]
fn a_tagged_run_can_be_removed() {
    let (store, _folder) = lab();
    store.tag(FIRST, &words(&["kept"]), &[]).expect("tagged");
    let removals = store.removals(&[FIRST]).expect("found");
    assert!(store.remove(&removals[0]).expect("removed"));
    assert!(!store.root().join(FIRST).exists());
}

/// The story: two commands that tagged a run at the same time each read its tags first, and the tag of
/// one was lost.
#[test]
fn tags_that_are_given_at_the_same_time_all_stay() {
    let (store, _folder) = lab();
    let store = &store;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..25 {
                    let tag = format!("t{thread}-{number}");
                    store.tag(FIRST, &[tag], &[]).expect("tagged");
                }
            });
        }
    });
    let (_, tags) = store.tag(FIRST, &[], &[]).expect("read");
    assert_eq!(tags.len(), 100);
}
