//! The laws of direction (`docs/architecture.md`), read from the tree itself.

use std::fs;
use std::path::{Path, PathBuf};

use blocklab_proof::root;
use toml::{Table, Value};

const MOST_LINES: usize = 800;
const NAMELESS: [&str; 7] = [
    "common", "util", "utils", "helper", "helpers", "types", "misc",
];
/// What a crate that is no edge says below its three lines; `clippy.toml` holds the list.
const PURE: &str =
    "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]";

struct Crate {
    folder: PathBuf,
    manifest: Table,
}

impl Crate {
    fn name(&self) -> &str {
        let name = self.manifest["package"]["name"].as_str();
        name.expect("a package has a name")
    }

    fn house(&self, key: &str) -> Option<&Value> {
        let metadata = self.manifest["package"].get("metadata")?;
        metadata.get("house")?.get(key)
    }

    fn floor(&self) -> i64 {
        let floor = self.house("floor").and_then(Value::as_integer);
        floor.unwrap_or_else(|| panic!("{}: no package.metadata.house.floor", self.name()))
    }

    fn dependencies(&self, section: &str) -> Vec<&str> {
        let section = self.manifest.get(section).and_then(Value::as_table);
        section.map_or(Vec::new(), |table| {
            table.keys().map(String::as_str).collect()
        })
    }

    /// The file that opens the crate.
    fn head(&self) -> String {
        let candidates = ["src/lib.rs", "src/main.rs"].map(|file| self.folder.join(file));
        let head = candidates.iter().find(|file| file.exists());
        fs::read_to_string(head.expect("lib.rs or main.rs")).expect("readable")
    }
}

fn manifest(folder: &Path) -> Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    text.parse().expect("TOML")
}

fn crates() -> Vec<Crate> {
    let mut folders = vec![root().join("proof"), root().join("bench")];
    let entries = fs::read_dir(root().join("crates")).expect("crates");
    folders.extend(entries.map(|entry| entry.expect("an entry").path()));
    folders.sort();
    let house = folders.into_iter().map(|folder| Crate {
        manifest: manifest(&folder),
        folder,
    });
    house.collect()
}

/// All Rust files of the house, `target` aside.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = ["crates", "proof", "bench"]
        .map(|name| root().join(name))
        .to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 50, "the tree is read: {} files", found.len());
    found
}

#[test]
fn a_crate_uses_only_lower_floors() {
    let house = crates();
    for own in &house {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for name in own.dependencies(section) {
                let Some(other) = house.iter().find(|other| other.name() == name) else {
                    continue;
                };
                assert!(
                    other.floor() < own.floor(),
                    "{} (floor {}) must not use {name} (floor {}) in [{section}]",
                    own.name(),
                    own.floor(),
                    other.floor(),
                );
            }
        }
    }
}

#[test]
fn a_crate_opens_with_what_goes_in_and_out_and_what_it_never_does() {
    for own in crates() {
        let head = own.head();
        let words = head.lines().take_while(|line| line.starts_with("//!"));
        let starts: Vec<&str> = words
            .filter_map(|line| line.strip_prefix("//! "))
            .filter_map(|line| line.split_once(": "))
            .map(|(word, _)| word)
            .filter(|word| ["In", "Out", "Never"].contains(word))
            .collect();
        assert_eq!(starts, ["In", "Out", "Never"], "{}", own.name());
    }
}

#[test]
fn only_edges_touch_the_world() {
    for own in crates() {
        let edge = own
            .house("edge")
            .map(|why| why.as_str().unwrap_or_default());
        let pure = own.head().lines().any(|line| line == PURE);
        assert!(
            edge.is_some() != pure,
            "{}: either lib.rs says `{PURE}`, or Cargo.toml tells under \
             [package.metadata.house] what it touches: edge = \"...\"",
            own.name()
        );
        assert_ne!(
            edge,
            Some(""),
            "{}: the edge tells what it touches",
            own.name()
        );
        for system in ["libc", "rustix"] {
            assert!(
                edge.is_some() || !own.dependencies("dependencies").contains(&system),
                "{}: system calls by {system} belong to an edge",
                own.name()
            );
        }
    }
}

/// An edge is declared in a line: the crates that hold the rules must not become one by it.
#[test]
fn the_crates_of_rules_are_no_edges() {
    let pure: Vec<String> = crates()
        .iter()
        .filter(|own| own.house("edge").is_none())
        .map(|own| own.name().to_owned())
        .collect();
    for name in [
        "units",
        "random",
        "stats",
        "workload",
        "device",
        "record",
        "syntax",
        "verify",
        "trace",
        "native",
        "fio",
        "vdbench",
        "diskspd",
        "cdm",
        "kubernetes",
        "worker",
        "import",
        "compare",
        "advice",
        "findings",
        "calibrate",
    ] {
        let name = format!("blocklab-{name}");
        assert!(pure.contains(&name), "{name} must not be an edge");
    }
}

#[test]
fn everything_has_a_name() {
    for file in sources() {
        let inside = file.strip_prefix(root()).expect("below the root");
        for part in inside.with_extension("").iter() {
            let part = part.to_str().expect("text");
            assert!(!NAMELESS.contains(&part), "{}: name it", inside.display());
        }
    }
}

#[test]
fn files_stay_readable() {
    for file in sources() {
        let lines = fs::read_to_string(&file).expect("readable").lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", file.display());
    }
}

/// `docs/architecture.md` draws the floors; a drawing that nobody checks is wrong within a month.
#[test]
fn the_drawing_of_the_floors_is_true() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    for own in crates() {
        let name = own.name().trim_start_matches("blocklab-");
        let name = if name == "blocklab" { "cli" } else { name };
        let floor = format!("{}  ", own.floor());
        let mut lines = page.lines().filter(|line| line.starts_with(&floor));
        assert!(
            lines.any(|line| line.split_whitespace().any(|word| word == name)),
            "{name} is not drawn on floor {floor}"
        );
    }
}

#[test]
fn every_dependency_is_used_and_has_its_reason() {
    let adr = "docs/adr/0005-dependencies.md";
    let reasons = fs::read_to_string(root().join(adr)).expect("the decision record");
    let house = crates();
    let used = |name: &str| {
        let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
        let mut pairs = house
            .iter()
            .flat_map(|c| sections.map(|s| c.dependencies(s)));
        pairs.any(|names| names.contains(&name))
    };
    let workspace = manifest(root());
    let all = workspace["workspace"]["dependencies"].as_table();
    let all = all.expect("dependencies").keys();
    for name in all.filter(|name| !name.starts_with("blocklab-")) {
        assert!(
            used(name),
            "{name} is in the workspace, and nothing uses it"
        );
        let printed = reasons.contains(&format!("`{name}`"));
        assert!(printed, "{name}: {adr} does not tell why it is here");
    }
}
