//! `blocklab diagnose --expect`: runs of modelled volumes held against what somebody believes to
//! have bought.

use blocklab_proof::{Lab, good, json};
use serde_json::Value;

const STUDY: &str = r#"
name = "probe"
seed = 7
passes = 2
[defaults]
engine = "io_uring"
runtime = "20s"
ramp = "5s"
[[case]]
name = "small"
depth = 64
[[case]]
name = "large"
depth = 64
block_size = "1MiB"
[[case]]
name = "alone"
depth = 1
"#;

/// A run of `device`, diagnosed against `address`.
#[track_caller]
fn diagnosed(device: &str, address: &str) -> Value {
    let lab = Lab::new();
    std::fs::write(lab.path().join("study.toml"), STUDY).expect("written");
    let target = format!("sim:{device}");
    good(lab.blocklab(["run", "study.toml", "-q", "--json", "-t", &target]));
    json(&good(lab.blocklab([
        "diagnose", "latest", "--expect", address, "--json",
    ])))
}

fn findings(diagnosis: &Value) -> Vec<(&str, &str)> {
    let all = diagnosis["findings"].as_array().expect("findings").iter();
    all.map(|it| {
        let rule = it["rule"].as_str().expect("a rule");
        (rule, it["severity"].as_str().expect("a severity"))
    })
    .collect()
}

/// The state of a limit.
fn state<'a>(diagnosis: &'a Value, limit: &str) -> &'a str {
    let limits = diagnosis["expected"]["limits"].as_array().expect("limits");
    let found = limits.iter().find(|it| it["limit"] == limit);
    found.expect(limit)["state"].as_str().expect("a state")
}

fn grave(diagnosis: &Value) -> Vec<&str> {
    let found = findings(diagnosis).into_iter();
    let grave = found.filter(|(_, severity)| ["warning", "critical"].contains(severity));
    grave.map(|(rule, _)| rule).collect()
}

const GP3: &str = "gp3:1TiB,iops=6000@r5d.xlarge";

#[test]
fn what_was_bought_is_delivered() {
    let found = diagnosed(GP3, GP3);
    assert_eq!(grave(&found), Vec::<&str>::new());
    assert_eq!(state(&found, "gp3: volume IOPS"), "met");
    assert_eq!(state(&found, "gp3: volume throughput"), "met");
    assert_eq!(state(&found, "r5d.xlarge: EBS IOPS (burst)"), "not_tested");
    assert!(findings(&found).contains(&("price-audit", "info")));
}

/// "I pay for 6,000 IOPS; do I get them?"
#[test]
fn the_default_of_the_type_instead_of_the_setting() {
    let found = diagnosed("gp3:1TiB@r5d.xlarge", GP3);
    assert_eq!(grave(&found), ["setting-not-in-effect"]);
    assert_eq!(state(&found, "gp3: volume IOPS"), "missed");
    assert_eq!(state(&found, "gp3: volume throughput"), "met");
}

#[test]
fn more_than_was_bought() {
    let found = diagnosed(
        "gp3:1TiB,iops=16000@m5.24xlarge",
        "gp3:1TiB,iops=6000@m5.24xlarge",
    );
    assert_eq!(grave(&found), ["above-every-limit"]);
    assert_eq!(state(&found, "gp3: volume IOPS"), "exceeded");
}

#[test]
fn the_limits_of_the_day_of_the_measurement() {
    let then = "local,as-of=2017-02-27@i3.xlarge";
    let found = diagnosed(then, then);
    assert_eq!(grave(&found), Vec::<&str>::new());
}

#[test]
fn a_burst_is_told_with_what_remains() {
    let found = diagnosed("gp2:100GiB@m5.24xlarge", "gp2:100GiB@m5.24xlarge");
    assert!(
        findings(&found).contains(&("documented-burst", "info")),
        "{found:#}"
    );
    assert_eq!(state(&found, "gp2: burst credits (burst)"), "met");
    assert_eq!(state(&found, "gp2: burst credits (baseline)"), "not_tested");
}

#[test]
fn a_page_and_a_text() {
    let lab = Lab::new();
    std::fs::write(lab.path().join("study.toml"), STUDY).expect("written");
    good(lab.blocklab([
        "run",
        "study.toml",
        "-q",
        "--json",
        "-t",
        "sim:gp3:1TiB@r5d.xlarge",
    ]));
    let text = good(lab.blocklab(["diagnose", "--expect", GP3]));
    for words in [
        "missed",
        "the settings are not in effect",
        "no load can: ",
        "rule at-limit",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let alone = good(lab.blocklab(["diagnose"]));
    assert!(
        alone.contains("rule at-limit") && !alone.contains("no load can"),
        "{alone}"
    );
    let page = good(lab.blocklab(["diagnose", "--expect", GP3, "--html", "-"]));
    assert!(page.contains("id=\"documented\"") && page.contains("setting-not-in-effect"));
    let wrong = lab.blocklab(["diagnose", "--expect", "gp4:1TiB"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean"), "{}", wrong.err);
}
