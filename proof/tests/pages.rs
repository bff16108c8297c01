//! The pages of `docs/dialects` are what the tables say.

#[track_caller]
fn check(name: &str, page: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/dialects");
    let path = format!("{folder}/{name}.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/dialects/{name}.md is stale; `BLESS=1 cargo test -p blocklab-proof --test pages` rewrites it"
    );
}

#[test]
fn the_pages_are_fresh() {
    check("fio", &blocklab_fio::reference());
    check("diskspd", &blocklab_diskspd::reference());
    check("vdbench", &blocklab_vdbench::reference());
}
