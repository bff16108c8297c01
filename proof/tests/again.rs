//! What a run leaves is all that is ever needed: its page, its words and its load come again.

use blocklab_proof::Lab;
use blocklab_record::Record;

/// Two passes of two short cases, with no device: nothing here depends on the machine's speed.
const STUDY: &str = r#"
name = "brief"
passes = 2
[defaults]
engine = "null"
size = "64MiB"
runtime = "20ms"
ramp = "0s"
[[case]]
name = "random"
pattern = "random"
block_size = "4KiB"
depth = 4
[[case]]
name = "mixed"
mix = { read = 70, write = 30 }
pattern = "sequential"
block_size = "64KiB"
"#;

fn lab() -> Lab {
    let lab = Lab::new();
    std::fs::write(lab.path().join("brief.toml"), STUDY).expect("written");
    lab
}

#[track_caller]
fn run(lab: &Lab, args: &[&str]) -> String {
    let always = ["run", "brief.toml", "--target", "null", "--quiet"];
    let said = lab.blocklab(always.iter().chain(args).copied());
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    said.out
}

fn latest(lab: &Lab) -> Record {
    lab.store().load("latest").expect("a kept run").record
}

#[test]
fn the_words_and_the_page_of_a_run_come_again_byte_by_byte() {
    let lab = lab();
    let said = run(&lab, &["--html", "first.html"]);
    let shown = lab.blocklab(["show", "latest"]).out;
    assert!(
        said.starts_with(&shown),
        "run said\n{said}\nshow says\n{shown}"
    );
    let first = std::fs::read_to_string(lab.path().join("first.html")).expect("the page");
    let again = lab.blocklab(["report", "latest", "--html", "-"]).out;
    assert!(first == again, "the page made again differs");
}

#[test]
fn a_kept_run_balances_and_says_what_was_asked() {
    let lab = lab();
    run(&lab, &["--seed", "7"]);
    let record = latest(&lab);
    assert_eq!(
        (record.asked.name.as_str(), record.asked.seed.as_str()),
        ("brief", "7")
    );
    assert_eq!(record.measurements.len(), 4);
    for job in record.measurements.iter().flat_map(|m| &m.jobs) {
        assert!(job.accounting.balances(), "{:?}", job.accounting);
        assert!(job.accounting.completed > 0, "{}", job.name);
    }
}

/// The record holds the workload as text: run again, it asks for the same.
#[test]
fn the_load_of_a_run_can_be_asked_for_again() {
    let lab = lab();
    run(&lab, &[]);
    let first = latest(&lab);
    std::fs::write(lab.path().join("brief.toml"), &first.asked.native).expect("written");
    run(&lab, &[]);
    let second = latest(&lab);
    assert_ne!(first.id, second.id);
    assert_eq!(first.asked.seed, second.asked.seed);
    assert_eq!(first.asked.native, second.asked.native);
}

#[test]
fn a_run_that_is_not_to_be_kept_leaves_nothing() {
    let lab = lab();
    run(&lab, &["--no-save"]);
    assert!(!lab.store().root().exists());
    let left = std::fs::read_dir(lab.path()).expect("the folder").count();
    assert_eq!(left, 1, "only the study");
}
