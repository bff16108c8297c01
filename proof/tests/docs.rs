//! The book holds together: every link leads somewhere, and every page is in its table of contents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use blocklab_proof::{Lab, good, root};

/// All pages that people read, the manual aside.
fn pages() -> Vec<PathBuf> {
    let top = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    let mut pages: Vec<PathBuf> = top.iter().map(|page| root().join(page)).collect();
    for folder in ["docs", "docs/adr", "docs/dialects"] {
        let entries = fs::read_dir(root().join(folder)).expect("a folder");
        pages.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    assert!(pages.len() > 25, "{pages:?}");
    pages
}

/// The targets of `[text](target)`, code aside.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let prose = text.lines().filter(|line| !line.starts_with("    "));
    for line in prose {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for rest in plain.split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

/// What a heading is called in a link: `How our figures differ from fio's` is
/// `how-our-figures-differ-from-fios`.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase().replace(' ', "-");
        let fits = |c: &char| c.is_alphanumeric() || *c == '-' || *c == '_';
        kept.chars().filter(fits).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().expect("a folder").join(path),
            };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if !anchor.is_empty() {
                let there = fs::read_to_string(&target).expect("a page");
                let known = anchors(&there);
                assert!(
                    known.contains(anchor),
                    "{}: {link}: {known:?}",
                    page.display()
                );
            }
        }
    }
    assert!(count > 60, "{count} links: are they still found?");
}

/// The story: a decision said that `proof/tests/roads.rs` enforces it, and that file had another
/// name since long ago. No link was broken, as a path in code is none.
#[test]
fn every_file_that_a_page_names_is_there() {
    let folders = ["bench", "contrib", "crates", "proof", "scripts", "studies"];
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for path in text.split('`').skip(1).step_by(2) {
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            if folders.contains(&folder) && !path.contains(char::is_whitespace) {
                count += 1;
                let is_there = root().join(path).exists();
                assert!(is_there, "{}: {path} is not there", page.display());
            }
        }
    }
    assert!(count > 60, "{count} paths: are they still found?");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = root().join("docs/README.md");
    let text = fs::read_to_string(&contents).expect("the table of contents");
    let folder = contents.parent().expect("a folder");
    let real = |path: &Path| path.canonicalize().expect("it exists");
    let linked: BTreeSet<PathBuf> = links(&text)
        .iter()
        .map(|link| link.split_once('#').map_or(&**link, |(path, _)| path))
        .map(|path| real(&folder.join(path)))
        .collect();
    for page in pages().iter().filter(|page| page.starts_with(folder)) {
        let is_there = **page == contents || linked.contains(&real(page));
        assert!(is_there, "{} is not in docs/README.md", page.display());
    }
}

/// The story: packages called themselves 0.1.0, and all that they contain was under "Unreleased".
#[test]
fn the_version_of_the_crates_has_its_changes() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).expect("the changes");
    let cargo = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let version = cargo
        .lines()
        .find_map(|line| line.strip_prefix("version = \""))
        .expect("a version");
    let heading = format!("## {}", version.trim_end_matches('"'));
    assert!(text.lines().any(|line| line == heading), "{heading}");
}

/// What the README shows of the program, in blocks and in sentences, are commands that it has.
#[test]
fn the_commands_of_the_readme_exist() {
    let text = fs::read_to_string(root().join("README.md")).expect("the README");
    let blocks = text.lines().filter_map(|line| line.strip_prefix("    "));
    let code = text.split('`').chain(blocks);
    let commands = code.filter_map(|code| code.strip_prefix("blocklab "));
    let names: BTreeSet<&str> = commands.filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let page = root().join(format!("docs/man/blocklab-{name}.1"));
        assert!(page.exists(), "the README names `blocklab {name}`");
    }
}

/// The indented lines of the README between two of its sentences.
fn block<'a>(text: &'a str, after: &str, before: &str) -> Vec<&'a str> {
    let (_, rest) = text.split_once(after).expect("the sentence before");
    let (part, _) = rest.split_once(before).expect("the sentence behind");
    let lines = part.lines().filter_map(|line| line.strip_prefix("    "));
    lines.collect()
}

/// The story: the model of gp3 got the scatter that others had measured, and the README went on
/// showing a p99 of 1.16 ms for a command that prints 3.36 ms, "the same digits on every machine".
/// Lines may be left out of what it shows; those that are there come as they are printed.
#[test]
fn the_result_in_the_readme_is_what_its_command_prints() {
    let text = fs::read_to_string(root().join("README.md")).expect("the README");
    let command = block(&text, "## A result\n", "\nsimulates 41 minutes");
    let shown = block(&text, "on every machine:\n", "\n`blocklab show latest");
    assert!(shown.len() > 20, "{shown:?}");
    let ran = Lab::new().shell(command[0]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let printed = ran.out;
    let mut printed_lines = printed.lines();
    for line in shown.iter().filter(|line| !line.is_empty()) {
        assert!(
            printed_lines.any(|printed| printed == *line),
            "the README shows `{line}`, and the command prints\n{printed}"
        );
    }
}

#[test]
fn links_are_found_where_they_are() {
    let text = "see [a](b.md#c) and `[no](x)`\n    [code](y)\n![p](docs/p.png)\n";
    assert_eq!(links(text), ["b.md#c", "docs/p.png"]);
    assert!(anchors("## How fio's `sim:` is 1.5 ×\n").contains("how-fios-sim-is-15-"));
}

/// The story: the help of the three languages had no example, then two or less. Each works as it is printed, in an empty
/// folder, in this order.
#[test]
fn the_examples_of_the_languages_work() {
    for tool in ["fio", "diskspd", "vdbench"] {
        let lab = Lab::new();
        let help = good(lab.blocklab([tool, "--help"]));
        let (_, examples) = help.split_once("\nExamples:\n").expect(tool);
        let runs = examples.lines().filter(|line| line.contains("blocklab"));
        assert!(runs.count() > 2, "{tool}: {examples}");
        for example in examples.lines() {
            let ran = lab.shell(example);
            assert_eq!(ran.code, Some(0), "{tool}: {example}: {}", ran.err);
        }
    }
}
