//! `blocklab compare`: runs of modelled volumes, of which it is known which is faster.

use blocklab_proof::{Lab, good, json};
use serde_json::Value;

const STUDY: &str = r#"
name = "two loads"
seed = 7
passes = 3
[defaults]
engine = "io_uring"
runtime = "5s"
ramp = "2s"
[[case]]
name = "deep"
depth = 32
[[case]]
name = "shallow"
depth = 1
"#;

/// Runs a study on a modelled volume and gives its id.
#[track_caller]
fn run(lab: &Lab, study: &str, address: &str, more: &[&str]) -> String {
    std::fs::write(lab.path().join("study.toml"), study).expect("written");
    let target = format!("sim:{address}");
    let fixed = ["run", "study.toml", "-q", "--json", "-t", &target];
    let said = good(lab.blocklab(fixed.into_iter().chain(more.iter().copied())));
    json(&said)["id"].as_str().expect("an id").to_owned()
}

/// Each pair's case and verdict.
fn verdicts(comparison: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let pairs = comparison["against"][0]["pairs"].as_array().expect("pairs");
    let told = pairs
        .iter()
        .map(|it| (text(&it["case"]), text(&it["verdict"])));
    told.collect()
}

/// Twice the provisioned IOPS: twice as fast where the limit binds, the same where latency does.
#[test]
fn a_faster_volume_is_faster_where_its_limit_binds() {
    let lab = Lab::new();
    let slow = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &[]);
    let fast = run(
        &lab,
        STUDY,
        "gp3:1TiB,iops=6000@r5d.xlarge",
        &["--seed", "8"],
    );
    let found = json(&good(lab.blocklab(["compare", &slow, &fast, "--json"])));
    let expected = [("deep", "faster"), ("shallow", "no_difference")];
    assert_eq!(
        verdicts(&found),
        expected.map(|(a, b)| (a.into(), b.into()))
    );
    let rate = &found["against"][0]["pairs"][0]["contrasts"][0];
    let ratio = rate["ratio"].as_f64().expect("a ratio");
    assert!((ratio - 2.0).abs() < 0.02, "{rate}");
    assert!(rate["ci95_low"].as_f64().expect("a bound") <= ratio);

    let other_way = ["compare", &slow, &fast, "--baseline", &fast, "--json"];
    let found = json(&good(lab.blocklab(other_way)));
    assert_eq!(found["baseline"], 1);
    assert_eq!(verdicts(&found)[0].1, "slower");

    let text = good(lab.blocklab(["compare", &slow, &fast]));
    for words in [
        "B against A, 2 loads: faster in 1, no difference shown in 1.",
        "target differs: sim:gp3:1TiB@r5d.xlarge | sim:gp3:1TiB,iops=6000@r5d.xlarge",
        "95 % interval",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
}

#[test]
fn one_pass_each_is_no_certainty() {
    let lab = Lab::new();
    let once = ["--repeat", "1"];
    let slow = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &once);
    let fast = run(&lab, STUDY, "gp3:1TiB,iops=6000@r5d.xlarge", &once);
    let text = good(lab.blocklab(["compare", &slow, &fast]));
    assert!(
        text.contains("one pass each: no certainty can be stated."),
        "{text}"
    );
    assert!(
        !text.contains("faster\n") && !text.contains("slower\n"),
        "{text}"
    );
}

#[test]
fn other_loads_are_listed_and_not_compared() {
    let lab = Lab::new();
    let other = STUDY.replace("depth = 1\n", "depth = 1\nblock_size = \"8KiB\"\n");
    let one = run(&lab, STUDY, "gp3:1TiB", &[]);
    let two = run(&lab, &other, "gp3:1TiB", &[]);
    let text = good(lab.blocklab(["compare", &one, &two]));
    assert!(
        text.contains("shallow read, of A: block size differs: 4 KiB | 8 KiB"),
        "{text}"
    );
}

#[test]
fn the_page_opens_with_the_comparison() {
    let lab = Lab::new();
    let one = run(&lab, STUDY, "gp3:1TiB", &[]);
    let said = good(lab.blocklab(["compare", &one, &one, "--html", "-"]));
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("no {words}"));
    assert!(at("id=\"comparison\"") < at("id=\"suite\""));
    assert!(said.contains("no difference shown"));
}

#[test]
fn one_run_is_no_comparison() {
    let lab = Lab::new();
    let one = run(&lab, STUDY, "gp3:1TiB", &[]);
    let said = lab.blocklab(["compare", &one]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("name two or more"), "{}", said.err);
}
