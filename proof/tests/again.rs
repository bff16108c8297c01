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

/// What the load did, without what the simulation itself cost.
#[track_caller]
fn same_figures(first: &Record, second: &Record) {
    assert_ne!(first.id, second.id);
    assert_eq!(first.asked, second.asked);
    assert_eq!(first.measurements.len(), second.measurements.len());
    for (one, other) in first.measurements.iter().zip(&second.measurements) {
        assert_eq!((&one.case, one.pass), (&other.case, other.pass));
        assert!(one.jobs.iter().any(|job| job.accounting.completed > 0));
        assert_eq!(one.jobs, other.jobs, "{}", one.case);
    }
}

#[track_caller]
fn again(lab: &Lab, args: &[&str]) -> Record {
    let always = ["run", "--again", "latest", "--quiet"];
    let said = lab.blocklab(always.iter().chain(args).copied());
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    latest(lab)
}

#[test]
fn a_simulated_run_comes_again_with_the_same_figures() {
    let lab = lab();
    let sim = "sim:gp3:1TiB@r5d.xlarge";
    let said = lab.blocklab(["run", "--target", sim, "--runtime", "1s", "--quiet"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let first = latest(&lab);
    let second = again(&lab, &[]);
    same_figures(&first, &second);
    let other = again(&lab, &["--seed", "12345"]);
    assert_ne!(other.measurements[0].jobs, first.measurements[0].jobs);
}

#[test]
fn a_job_file_of_fio_comes_again_without_the_file() {
    let lab = lab();
    let text = "[a]\nfilename=sim:gp3:1TiB@r5d.xlarge\nrw=randrw\nsize=64m\nruntime=1\n\
                time_based\n";
    std::fs::write(lab.path().join("a.fio"), text).expect("written");
    let said = lab.blocklab(["fio", "a.fio"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    std::fs::remove_file(lab.path().join("a.fio")).expect("removed");
    let first = latest(&lab);
    same_figures(&first, &again(&lab, &[]));
}

/// The native format has no key for the operations of a trace: a run without them would look like
/// the same load.
#[test]
fn a_run_that_its_record_does_not_hold_whole_is_refused() {
    let lab = lab();
    let trace = "fio version 2 iolog\nio.dat add\nio.dat open\nio.dat read 0 4096\n\
                 io.dat close\n";
    std::fs::write(lab.path().join("trace"), trace).expect("written");
    std::fs::write(lab.path().join("io.dat"), [0; 65536]).expect("written");
    std::fs::write(lab.path().join("a.fio"), "[a]\nread_iolog=trace\n").expect("written");
    let said = lab.blocklab(["fio", "a.fio"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let said = lab.blocklab(["run", "--again", "latest"]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("run the original script"), "{}", said.err);
}

#[test]
fn a_run_on_null_does_not_come_again_on_a_disk() {
    let lab = lab();
    run(&lab, &["--seed", "7"]);
    let first = latest(&lab);
    assert_eq!(again(&lab, &[]).asked, first.asked);
    let said = lab.blocklab(["run", "--again", "latest", "--target", "."]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("which engine"), "{}", said.err);
}

#[test]
fn a_run_that_is_not_to_be_kept_leaves_nothing() {
    let lab = lab();
    run(&lab, &["--no-save"]);
    assert!(!lab.store().root().exists());
    let left = std::fs::read_dir(lab.path()).expect("the folder").count();
    assert_eq!(left, 1, "only the study");
}
