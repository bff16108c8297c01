//! Counts that may fall and never rise. Whoever lowers one lowers its bound here, too; all bounds but
//! that of the largest crate are checked to be tight, so that a gain is kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use blocklab_proof::imports::Imports;
use blocklab_proof::root;

/// Sets of modules of one crate that import each other in a circle, parent and child aside.
const IMPORT_LOOPS: usize = 0;
/// Source lines of the largest crate, tests aside.
const LARGEST_CRATE: usize = 9_886;
/// Words for which storage engineers have others.
const PRIVATE_WORDS: usize = 3;

const WORDS: [&str; 22] = [
    "muster",
    "enlist",
    "berth",
    "berths",
    "favour",
    "favours",
    "sitting",
    "crew",
    "roster",
    "rhythm",
    "restraint",
    "abreast",
    "tongues",
    "gohome",
    "spectrum",
    "hands",
    "duty",
    "gear_up",
    "seat",
    "standing",
    "lanes",
    "gear",
];

/// Names and texts of the source files below `folder`, tests aside.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let stem = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            let is_test = stem == "tests" || stem == "testing" || stem.ends_with("_tests");
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !is_test {
                let text = fs::read_to_string(&path).expect("a source file");
                let source = text.split("#[cfg(test)]\nmod tests {").next();
                found.push((path, source.unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

/// By crate.
fn crates() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let folders = fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten();
    let all: BTreeMap<_, _> = folders
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, sources(&entry.path().join("src")))
        })
        .collect();
    assert!(all.len() > 10, "the crates are read: {}", all.len());
    all
}

/// A bound that is not reached any more is to be lowered.
#[track_caller]
fn check(what: &str, bound: usize, found: usize, places: &[String]) {
    let places = places.join("\n  ");
    assert!(
        found <= bound,
        "{what}: {found}, and {bound} are allowed\n  {places}"
    );
    assert!(
        found == bound,
        "{what}: {found} now; lower the bound of {bound}"
    );
}

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let mut loops = Vec::new();
    for name in crates().keys() {
        let imports = Imports::of_crate(&root().join("crates").join(name).join("src"));
        let of_crate = imports.loops().into_iter();
        loops.extend(of_crate.map(|members| format!("{name}: {}", members.join(", "))));
    }
    check("import loops", IMPORT_LOOPS, loops.len(), &loops);
}

#[test]
fn a_crate_fits_one_head() {
    let lines = |files: &[(PathBuf, String)]| -> usize {
        files.iter().map(|(_, text)| text.lines().count()).sum()
    };
    let sizes = crates();
    let sizes = sizes.iter().map(|(name, files)| (lines(files), name));
    let (largest, name) = sizes.max().expect("a crate");
    assert!(
        largest <= LARGEST_CRATE,
        "{name} has {largest} lines, and {LARGEST_CRATE} are allowed"
    );
}

/// The story: a test ran in the folder of its package, and the 6 MiB that it left there were committed.
#[test]
fn tests_leave_nothing_in_the_folders_of_their_packages() {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let mut folders: Vec<PathBuf> = crates.flatten().map(|entry| entry.path()).collect();
    folders.push(root().join("proof"));
    for folder in folders {
        for entry in fs::read_dir(folder).expect("a package").flatten() {
            let is_known = entry.path().is_dir() || entry.file_name() == "Cargo.toml";
            assert!(is_known, "{}", entry.path().display());
        }
    }
}

#[test]
fn the_fields_own_words_are_used() {
    let mut found = Vec::new();
    for (path, text) in crates().into_values().flatten() {
        for (number, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let private = words.filter(|word| WORDS.contains(&&*word.to_lowercase()));
            found.extend(private.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    check("private words", PRIVATE_WORDS, found.len(), &found);
}
