//! `blocklab diagnose --expect`: runs of modelled volumes compared with what somebody believes to
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
    lab.write("study.toml", STUDY);
    let target = format!("sim:{device}");
    good(lab.blocklab(["run", "study.toml", "-q", "--json", "-t", &target]));
    json(&good(lab.blocklab([
        "diagnose", "latest", "--expect", address, "--json",
    ])))
}

fn findings(diagnosis: &Value) -> Vec<(&str, &str)> {
    let all = diagnosis["findings"].as_array().expect("findings").iter();
    all.map(|finding| {
        let rule = finding["rule"].as_str().expect("a rule");
        (rule, finding["severity"].as_str().expect("a severity"))
    })
    .collect()
}

/// The state of a limit.
fn state<'a>(diagnosis: &'a Value, limit: &str) -> &'a str {
    let limits = diagnosis["expected"]["limits"].as_array().expect("limits");
    let found = limits.iter().find(|found| found["limit"] == limit);
    found.expect(limit)["state"].as_str().expect("a state")
}

fn grave(diagnosis: &Value) -> Vec<&str> {
    let found = findings(diagnosis).into_iter();
    let grave = found.filter(|(_, severity)| ["warning", "critical"].contains(severity));
    grave.map(|(rule, _)| rule).collect()
}

const GP3: &str = "gp3:1TiB,iops=6000@r5d.xlarge";

#[test]
fn the_address_of_a_named_target_is_shown_without_the_target() {
    let named = "sim:gp3,size=100GiB=gp3,size=100GiB";
    let diagnosis = diagnosed("gp3,size=100GiB", named);
    assert_eq!(diagnosis["expected"]["address"], "gp3,size=100GiB");
}

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

/// A volume of 6,000 IOPS, compared with 8,000 on an instance whose baseline is 6,000 too: the verdict
/// said that the volume's IOPS were missed, and a warning that the instance's burst was used up.
#[test]
fn a_setting_below_the_address_is_no_used_up_burst() {
    let found = diagnosed(GP3, "gp3:1TiB,iops=8000@r5d.xlarge");
    assert_eq!(grave(&found), ["below-documented-limit"]);
    assert_eq!(state(&found, "gp3: volume IOPS"), "missed");
    let cases = found["expected"]["cases"].as_array().expect("cases");
    let why: Vec<&Value> = cases.iter().map(|case| &case["why"]).collect();
    let held = why.iter().find(|why| why["other_setting"].is_object());
    let held = &held.unwrap_or_else(|| panic!("{why:?}"))["other_setting"];
    assert_eq!(held["limit"], "gp3: volume IOPS");
    assert_eq!(
        (&held["recorded"], &held["promised"]),
        (&6000.0.into(), &8000.0.into())
    );
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
fn a_burst_is_reported_with_what_remains() {
    let found = diagnosed("gp2:100GiB@m5.24xlarge", "gp2:100GiB@m5.24xlarge");
    assert!(
        findings(&found).contains(&("documented-burst", "info")),
        "{found:#}"
    );
    assert_eq!(state(&found, "gp2: burst credits (burst)"), "met");
    assert_eq!(state(&found, "gp2: burst credits (baseline)"), "not_tested");
}

/// Whoever wrote 1024GiB read of a volume of 1TiB, and looked for the one that was asked about.
#[test]
fn an_address_is_repeated_as_it_was_written() {
    let written = "gp3:1024GiB,iops=16000@m5.24xlarge";
    let found = diagnosed(written, written);
    assert_eq!(found["expected"]["address"], written);
}

#[test]
fn a_page_and_a_text() {
    let lab = Lab::new();
    lab.write("study.toml", STUDY);
    good(lab.blocklab("run study.toml -q --json -t sim:gp3:1TiB@r5d.xlarge".split(' ')));
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
    lab.refused(["diagnose", "--expect", "gp4:1TiB"], &["did you mean"]);
    // `--format html` printed one page after the other, which is no HTML file.
    lab.refused(
        "diagnose latest latest --format html".split(' '),
        &["an HTML page is about one run"],
    );
}

/// The story: a volume delivered half of what was paid for, every night, and the job that
/// diagnosed it ended with 0.
#[test]
fn a_pipeline_ends_where_a_limit_is_missed() {
    let lab = Lab::new();
    lab.write("study.toml", STUDY);
    let target = "sim:gp3:1TiB@r5d.xlarge";
    let once = [
        "run",
        "study.toml",
        "-q",
        "--json",
        "-t",
        target,
        "--repeat",
    ];
    good(lab.blocklab(once.into_iter().chain(["2"])));
    let ask = |address: &str, condition: &str| {
        let words = [
            "diagnose",
            "--expect",
            address,
            "--strict",
            "--fail-on",
            condition,
        ];
        lab.blocklab(words)
    };
    let missed = ask(GP3, "missed");
    assert_eq!(missed.code, Some(4), "{}{}", missed.out, missed.err);
    assert!(missed.out.contains("missed: fail"), "{}", missed.out);
    let met = ask("gp3:1TiB@r5d.xlarge", "missed");
    assert_eq!(met.code, Some(0), "{}{}", met.out, met.err);
    assert!(met.out.contains("missed: pass"), "{}", met.out);
    assert_eq!(ask(GP3, "warning").code, Some(4));
    assert_eq!(ask("gp3:1TiB@r5d.xlarge", "warning").code, Some(0));

    // A simulation of the same seed is the same again: one pass of it decides.
    good(lab.blocklab(once.into_iter().chain(["1"])));
    let single = ask(GP3, "missed");
    assert_eq!(single.code, Some(4), "{}", single.out);
    lab.refused(["diagnose", "--fail-on", "missed"], &[]);
}

/// `run` can end a pipeline by itself: a finding that doubts a figure is enough.
#[test]
fn a_run_ends_with_4_where_a_finding_warns() {
    let lab = Lab::new();
    let study = "[[case]]\nname = \"deep\"\nengine = \"psync\"\ndepth = 16\nruntime = \"1s\"\n";
    lab.write("deep.toml", study);
    lab.write("study.toml", STUDY);
    let run = |study: &str| {
        let words = ["run", study, "-q", "-t", "sim:gp3:1TiB@r5d.xlarge"];
        lab.blocklab(words.into_iter().chain(["--fail-on", "warning"]))
    };
    let ran = run("deep.toml");
    assert_eq!(ran.code, Some(4), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("warning: fail"), "{}", ran.out);
    assert_eq!(run("study.toml").code, Some(0));
    let slower = ["run", "study.toml", "--fail-on", "slower"];
    lab.refused(slower, &["blocklab compare"]);
}

/// The story: a described volume was called `2 x ssd`, another one's cap `volume IOPS (peak)`. Both
/// names were taken for more than names, for two volumes and for a rate of a moment, so nothing was
/// said of the limit at which the load ran.
#[test]
fn the_limit_of_a_described_device_is_named_whatever_it_is_called() {
    const LOAD: &str = "name = \"probe\"\n[defaults]\nengine = \"io_uring\"\nruntime = \"20s\"\n\
                        [[case]]\nname = \"small\"\ndepth = 64\n";
    for (kind, cap) in [("2 x ssd", "volume IOPS"), ("ssd", "volume IOPS (peak)")] {
        let lab = Lab::new();
        let device = format!(
            "[[volume]]\nkind = \"{kind}\"\ncapacity = \"100GiB\"\n\
             [[volume.cap]]\nname = \"{cap}\"\nrate = \"3000 IOPS\"\n\
             [volume.service]\nread = {{ base = \"600us\" }}\nwrite = {{ base = \"600us\" }}\n\
             spread = {{ sigma = 0.1 }}\n"
        );
        lab.write("dev.toml", device);
        lab.write("load.toml", LOAD);
        let args = ["run", "load.toml", "-q", "--json", "-t", "sim:./dev.toml"];
        let summary = json(&good(lab.blocklab(args)));
        let findings = summary["findings"].as_array().expect("findings");
        let found = findings
            .iter()
            .find(|finding| finding["rule"] == "at-limit");
        let statement = found.expect("at-limit")["statement"].as_str();
        let printed = format!("3,000 IOPS is the limit, given for {kind}: {cap};");
        assert!(
            statement.expect("a text").contains(&printed),
            "{statement:?}"
        );
        let limit = &summary["targets"][0]["limits"][0];
        assert_eq!(limit["name"], format!("{kind}: {cap}"));
    }
}

/// The story: the bucket of an instance is refilled once a day. A run of 30 hours named its end, one of 80
/// hours did not, as the first of its four ends lay near the start, and was at 116 % of a limit "by the
/// second that it had saved up".
#[test]
fn a_bucket_that_is_refilled_each_day_is_named_in_long_runs_too() {
    let lab = Lab::new();
    let line = "run -q --json --rw read --bs 16M --repeat 1 -t sim:gp3:1TiB,throughput=250@m5.large \
                --runtime";
    for (time, times) in [("30h", 2), ("80h", 4)] {
        let ran = json(&good(lab.blocklab(line.split_whitespace().chain([time]))));
        let found = ran["findings"].as_array().expect("findings").iter();
        let found: Vec<_> = found
            .map(|finding| (&finding["rule"], &finding["statement"]))
            .collect();
        let (_, said) = found
            .iter()
            .find(|(rule, _)| *rule == "credits-used-up")
            .unwrap_or_else(|| panic!("{time}: {found:?}"));
        let said = said.as_str().expect("a statement");
        assert!(said.contains(&format!("{times} times in all")), "{said}");
        for rule in ["at-limit", "above-every-limit", "level-fell"] {
            assert!(
                !found.iter().any(|(found, _)| *found == rule),
                "{time}: {found:?}"
            );
        }
    }
}
