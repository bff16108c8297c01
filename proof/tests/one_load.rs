//! One load by flags, one case by its name, passes until a rate is known, results as Markdown.

use blocklab_proof::{Lab, good};

/// A volume that disturbs nobody's figures.
const VOLUME: &str = "sim:gp3:1TiB,iops=6000@r5d.xlarge";

#[test]
fn a_load_by_flags_is_a_run_as_any_other() {
    let lab = Lab::new();
    let line = "run -q --rw randread --bs 16k --depth 4 --runtime 2s --target";
    let shown = good(lab.blocklab(line.split(' ').chain([VOLUME])));
    assert!(shown.contains("rand-16KiB-q4-read"), "{shown}");
    // The table is what a terminal of 24 lines still shows.
    let mut last = shown.lines().rev().take(12);
    assert!(
        last.any(|it| it.contains("MB/s") && it.contains("p99.9")),
        "{shown}"
    );
    let again = good(lab.blocklab(["run", "-q", "--again", "latest"]));
    assert!(again.contains("rand-16KiB-q4-read"), "{again}");
    let bad = lab.blocklab(["run", "--rw", "read", "--reads", "40", "--target", "null"]);
    assert_eq!(bad.code, Some(2), "{}", bad.err);
    assert!(bad.err.contains("--rw randrw"), "{}", bad.err);
}

#[test]
fn a_case_is_run_and_shown_alone() {
    let lab = Lab::new();
    let line = "run -q --case rand4k-q1 --repeat 2 --runtime 1s --target";
    let shown = good(lab.blocklab(line.split(' ').chain([VOLUME])));
    assert!(shown.contains("rand4k-q1-read") && shown.contains("rand4k-q1-write"));
    assert!(!shown.contains("rand4k-q32"), "{shown}");
    let one = good(lab.blocklab(["show", "--case", "rand4k-q1-read", "--format", "markdown"]));
    assert!(
        one.contains("| rand4k-q1-read | ") && !one.contains("| rand4k-q1-write"),
        "{one}"
    );
    for line in ["run --case rand4k-q --target null", "show --case nosuch"] {
        let bad = lab.blocklab(line.split(' '));
        assert_eq!(bad.code, Some(2), "{line}: {}", bad.err);
        assert!(
            bad.err.contains("no case") && bad.err.contains("rand4k-q1"),
            "{}",
            bad.err
        );
    }
    let listed = good(lab.blocklab(["run", "quick", "--list"]));
    assert_eq!(listed.lines().count(), 8, "{listed}");
}

/// Deterministic devices agree at once, so the least number of passes is all; a limit of no time
/// ends it as well, and says what is left open.
#[test]
fn passes_are_added_until_the_rate_is_known() {
    let lab = Lab::new();
    let passes = |until: &str, limit: &str| {
        let line = format!(
            "run -q --case rand4k-q1-read --repeat 3 --seed 1 --runtime 100ms --json \
             --repeat-until {until} --repeat-for {limit} --target {VOLUME}"
        );
        let run = lab.blocklab(line.split_whitespace());
        assert_eq!(run.code, Some(0), "{}", run.err);
        let value: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        let passes = value["rows"][0]["iops"]["passes"].as_u64().expect("passes");
        (passes, run.err)
    };
    let (few, printed) = passes("50%", "10min");
    assert!(few == 3 && printed.is_empty(), "{few}: {printed}");
    let (more, _) = passes("2%", "10min");
    assert!(more > 3, "{more}");
    let (none, printed) = passes("0.0001%", "1s");
    assert!(
        none == 3 && printed.contains("--repeat-for"),
        "{none}: {printed}"
    );
}
