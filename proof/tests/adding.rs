//! `docs/adding.md` tells a newcomer which files a new thing touches: those in which an existing
//! thing of its kind is named.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use blocklab_proof::root;

/// The heading's example and the files below it.
struct Recipe {
    example: String,
    files: BTreeSet<String>,
}

fn recipes() -> Vec<Recipe> {
    let page = fs::read_to_string(root().join("docs/adding.md")).expect("the page");
    let parts = page.split("\n## ").skip(1);
    let recipe = |part: &str| {
        let (heading, rest) = part.split_once('\n').expect("a heading");
        let example = heading.split('`').nth(1).expect("an example");
        let lines = rest.lines().filter_map(|line| line.strip_prefix("- `"));
        let file = |line: &str| line.split('`').next().map(str::to_owned);
        Recipe {
            example: example.to_owned(),
            files: lines.filter_map(file).collect(),
        }
    };
    parts.map(recipe).collect()
}

/// Source and data files of the crates, tests aside, by their path from the root.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join("crates")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                let skipped = ["tests", "golden", "examples", "target"];
                if !skipped.contains(&name.as_str()) {
                    open.push(path);
                }
            } else if is_source(&name) {
                let inside = path.strip_prefix(root()).expect("below the root");
                let text = fs::read_to_string(&path).expect("text");
                found.push((inside.to_string_lossy().into_owned(), own_part(&text)));
            }
        }
    }
    found
}

fn is_source(name: &str) -> bool {
    let path = Path::new(name);
    let end = path.extension().and_then(|end| end.to_str());
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let is_test = stem.is_some_and(|stem| stem.ends_with("tests") || stem == "testing");
    !is_test && end.is_some_and(|end| ["rs", "txt", "csv", "js"].contains(&end))
}

/// Without comments and the tests at the end.
fn own_part(text: &str) -> String {
    let source = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn names(text: &str, word: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split(|c: char| !is_inside(c));
    words.any(|found| found.eq_ignore_ascii_case(word))
}

#[test]
fn a_new_thing_touches_the_files_that_the_page_names() {
    let sources = sources();
    let recipes = recipes();
    assert!(recipes.len() >= 11, "the page is read");
    for Recipe { example, files } in recipes {
        let with_it = sources.iter().filter(|(_, text)| names(text, &example));
        let found: BTreeSet<String> = with_it.map(|(path, _)| path.clone()).collect();
        assert_eq!(
            found, files,
            "files that name {example}, and those of the page"
        );
    }
}
