//! The derived pages are fresh, and every row of the table works. `BLESS=1` rewrites the pages.

use std::path::Path;

use super::super::keys::{self, CASE, Key, Need, STUDY};
use super::super::{EXAMPLE, parse};
use super::{every_key, reference};

/// Compares a derived text with its file, or rewrites the file.
#[track_caller]
fn check_fresh(path: &str, derived: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, derived).expect("the page can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == derived,
        "{} is stale; `BLESS=1 cargo test -p blocklab-native` rewrites it",
        path.display()
    );
}

#[test]
fn the_reference_page_is_fresh() {
    check_fresh("../../docs/native.md", &reference());
}

#[test]
fn the_tail_of_the_example_is_fresh() {
    let mark = "# Every key of a job";
    let line = EXAMPLE.find(mark).expect("the tail has a heading");
    let head_end = line + EXAMPLE[line..].find('\n').expect("a whole line") + 1;
    let derived = format!("{}{}", &EXAMPLE[..head_end], every_key());
    check_fresh("src/example.toml", &derived);
}

#[test]
fn the_example_runs_as_it_is() {
    let parsed = parse(EXAMPLE, "example.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parsed.notes, []);
    let names: Vec<&str> = parsed
        .plan
        .cases
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(names[1], "rand-depth1-block_size64KiB");
}

#[test]
fn the_example_shows_every_key() {
    let names = keys::job_keys().map(|key| key.name);
    let names = names.chain(STUDY.iter().map(|key| key.name));
    for name in names {
        let shown = EXAMPLE
            .lines()
            .any(|line| line.trim_start_matches(['#', ' ']).split(" =").next() == Some(name));
        assert!(shown, "`{name}` does not appear in the example");
    }
}

/// A study in which the key may stand, with its example.
fn study_with(key: &Key<blocklab_workload::Job>) -> String {
    let context = match key.need {
        Need::Nothing => String::new(),
        Need::With(needed, value) | Need::Completes(needed, value) => {
            format!("{needed} = \"{value}\"\n")
        }
        Need::Given(needed) => keys::job_key(needed).expect("a row").line() + "\n",
    };
    // A value that needs another key, and keys that limit each other.
    let more = match key.name {
        "pattern" | "arrivals" => "rate_iops = 10\n",
        "batch_complete" | "batch_low" => "depth = 64\n",
        _ => "",
    };
    let runtime = match key.name {
        "runtime" => "",
        _ => "runtime = \"1h\"\n",
    };
    format!(
        "[[case]]\nname = \"x\"\n{runtime}{context}{more}{}\n",
        key.line()
    )
}

#[test]
fn every_example_value_is_accepted_and_changes_something() {
    for key in keys::job_keys() {
        let text = study_with(key);
        let with = parse(&text, "x").unwrap_or_else(|error| panic!("{error}"));
        let without = text.replace(&(key.line() + "\n"), "");
        // A choice that must come with its detail cannot be parsed without it.
        if let Ok(without) = parse(&without, "x") {
            let same = without.plan == with.plan;
            let is_default = same && key.default.is_none();
            assert!(!same || is_default, "{}: no effect", key.name);
        }
    }
}

#[test]
fn every_word_is_accepted_and_written_back() {
    for key in keys::job_keys() {
        let (keys::Allowed::Words(words) | keys::Allowed::WordsOr(words, _)) = key.allowed else {
            continue;
        };
        for word in words {
            let text = format!("x = \"{word}\"");
            let table = toml::de::DeTable::parse(&text)
                .expect("is TOML")
                .into_inner();
            let value = super::super::value::Value(&table["x"]);
            let mut job = blocklab_workload::Job::new("x");
            job.pace = blocklab_workload::Pace::Capped(blocklab_workload::Rate::Iops(1.0));
            key.read(&mut job, value).expect("the word is known");
            assert_eq!(
                (key.show)(&job),
                Some(format!("\"{word}\"")),
                "{}",
                key.name
            );
        }
    }
}

#[test]
fn a_key_is_read_before_its_details() {
    for key in keys::job_keys() {
        if let Some(needed) = key.need.needed_key() {
            let needed = keys::job_key(needed).expect("a key of the table");
            assert!(keys::rank(needed) < keys::rank(key), "{}", key.name);
        }
    }
}

#[test]
fn no_name_means_two_things() {
    let mut names: Vec<&str> = keys::job_keys().map(|key| key.name).collect();
    names.extend(CASE.iter().map(|key| key.name));
    names.extend(keys::job_keys().filter_map(|key| key.former));
    let foreign = keys::job_keys().flat_map(|key| key.other_names);
    for name in foreign {
        assert!(!names.contains(name), "`{name}` is a key and a hint");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
