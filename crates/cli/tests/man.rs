//! The manual pages in `docs/man` are those of this program. `BLESS=1 cargo test` rewrites them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn the_manual_pages_are_those_of_this_program() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    write_pages(fresh.path());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/man");
    if env::var_os("BLESS").is_some() {
        fs::remove_dir_all(&kept).expect("the old pages go");
        write_pages(&kept);
    }
    let (fresh, kept) = (pages(fresh.path()), pages(&kept));
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&fresh), names(&kept), "BLESS=1 rewrites the pages");
    for (name, text) in fresh {
        assert!(
            kept[&name] == text,
            "docs/man/{name} is stale: BLESS=1 cargo test -p blocklab rewrites it"
        );
    }
}

fn write_pages(dir: &Path) {
    let mut man = Command::new(env!("CARGO_BIN_EXE_blocklab"));
    let status = man
        .args(["man", "--out"])
        .arg(dir)
        .status()
        .expect("it starts");
    assert!(status.success());
}

fn pages(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).expect("a folder of pages");
    let paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    let page = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (name.into_owned(), fs::read_to_string(path).expect("text"))
    };
    paths.iter().map(page).collect()
}
