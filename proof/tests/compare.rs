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
    lab.write("study.toml", study);
    let target = format!("sim:{address}");
    let fixed = ["run", "study.toml", "-q", "--json", "-t", &target];
    let ran = good(lab.blocklab(fixed.into_iter().chain(more.iter().copied())));
    json(&ran)["id"].as_str().expect("an id").to_owned()
}

/// Each pair's case and verdict.
fn verdicts(comparison: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let pairs = comparison["against"][0]["pairs"].as_array().expect("pairs");
    let printed = pairs
        .iter()
        .map(|pair| (text(&pair["case"]), text(&pair["verdict"])));
    printed.collect()
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
    let other = run(&lab, STUDY, "gp3:1TiB", &[]);
    let ran = good(lab.blocklab(["compare", &one, &other, "--html", "-"]));
    let at = |words: &str| ran.find(words).unwrap_or_else(|| panic!("no {words}"));
    assert!(at("id=\"comparison\"") < at("id=\"suite\""));
    assert!(ran.contains("no difference shown"));
}

#[test]
fn one_run_is_no_comparison() {
    let lab = Lab::new();
    let one = run(&lab, STUDY, "gp3:1TiB", &[]);
    lab.refused(["compare", &one], &["name two or more"]);
}

/// The story: a script meant to compare a new run with an old one and gave `latest` twice. There was no
/// difference, of course, and a driver that had become slow went out. `report` drew such a page.
#[test]
fn a_run_against_itself_is_refused() {
    let lab = Lab::new();
    let one = run(&lab, STUDY, "gp3:1TiB", &[]);
    for second in ["latest", &one] {
        for command in ["compare", "report"] {
            let names = format!("latest and {second} name the same run {one} more than once");
            lab.refused([command, "latest", second], &[&names]);
        }
    }
}

/// The story: a pipeline compared each build with the one before. Everything was slower, the exit
/// status was 0, and nobody looked.
#[test]
fn a_pipeline_ends_where_a_load_is_slower() {
    let lab = Lab::new();
    let fast = run(&lab, STUDY, "gp3:1TiB,iops=6000@r5d.xlarge", &[]);
    let slow = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &["--seed", "8"]);
    let again = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &["--seed", "9"]);
    let gated = |a: &str, b: &str, more: &[&str]| {
        let words = ["compare", a, b].into_iter().chain(more.iter().copied());
        lab.blocklab(words)
    };
    for (a, b, condition, code, answer) in [
        (&fast, &slow, "slower", 4, "slower:5%: fail"),
        (&fast, &slow, "slower:60%", 0, "slower:60%: pass"),
        (&slow, &fast, "slower", 0, "slower:5%: pass"),
        (&slow, &again, "slower:5%", 0, "slower:5%: pass"),
        (&slow, &again, "warning", 0, "warning: pass"),
        (&fast, &slow, "warning,slower", 4, "slower:5%: fail"),
    ] {
        let ran = gated(a, b, &["--strict", "--fail-on", condition]);
        assert_eq!(ran.code, Some(code), "{condition}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(answer), "{answer}: {}", ran.out);
        let shown = json(&gated(a, b, &["--json", "--fail-on", condition]).out);
        let answer = if code == 4 { "fail" } else { "pass" };
        assert_eq!(shown["gate"]["answer"], answer);
    }
    assert_eq!(gated(&fast, &slow, &[]).code, Some(0), "nothing was asked");
    let plain = json(&good(gated(&fast, &slow, &["--json"])));
    assert!(plain["gate"].is_null(), "{plain}");
}

/// What cannot be told is no pass and no failure: it is printed, and only `--strict` ends with it.
#[test]
fn a_pipeline_learns_what_is_undecided() {
    let lab = Lab::new();
    let once = ["--repeat", "1"];
    let one = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &once);
    let two = run(&lab, STUDY, "gp3:1TiB@r5d.xlarge", &once);
    let ask = ["compare", &one, &two, "--fail-on", "slower"];
    let lenient = lab.blocklab(ask);
    assert_eq!(lenient.code, Some(0), "{}", lenient.err);
    assert!(
        lenient.out.contains("slower:5%: undecided"),
        "{}",
        lenient.out
    );
    let strict = lab.blocklab(ask.into_iter().chain(["--strict"]));
    assert_eq!(strict.code, Some(5), "{}", strict.err);
    lab.refused(["compare", &one, &two, "--strict"], &[]);
    for wrong in ["missed", "slower:100%", "slowr", ""] {
        lab.refused(["compare", &one, &two, "--fail-on", wrong], &[]);
    }
}

/// The story: two simulations of one volume were "slower" at 0.998.
#[test]
fn a_difference_that_does_not_matter_is_not_called() {
    let lab = Lab::new();
    let base = run(&lab, STUDY, "gp3:1TiB,iops=6000@r5d.xlarge", &[]);
    let less = run(
        &lab,
        STUDY,
        "gp3:1TiB,iops=5950@r5d.xlarge",
        &["--seed", "8"],
    );
    let deep = |more: &[&str]| {
        let words = ["compare", &base, &less, "--json"].into_iter();
        let found = json(&good(lab.blocklab(words.chain(more.iter().copied()))));
        verdicts(&found)[0].1.clone()
    };
    assert_eq!(deep(&[]), "slower");
    assert_eq!(deep(&["--at-least", "2%"]), "negligible");
    let text = good(lab.blocklab(["compare", &base, &less, "--at-least", "2%"]));
    assert!(text.contains("negligible in 1"), "{text}");
    let gate = [
        "compare",
        &base,
        &less,
        "--at-least",
        "0.5%",
        "--fail-on",
        "slower",
    ];
    assert_eq!(
        lab.blocklab(gate).code,
        Some(4),
        "0.5 % is allowed then, and 0.8 % are gone"
    );
}

/// The story: runs of 2 s and 5 s were compared, and only the target was said to differ.
#[test]
fn passes_of_another_length_are_reported() {
    let lab = Lab::new();
    let short = run(&lab, STUDY, "gp3:1TiB", &["--runtime", "2s"]);
    let long = run(&lab, STUDY, "gp3:1TiB", &[]);
    let text = good(lab.blocklab(["compare", &short, &long]));
    assert!(text.contains("measured time differs: 2.0"), "{text}");
}

/// The story: `compare a b c` had a block "Not compared" for each run, and said twice of a load of the
/// baseline that only this run has it, though the third run had it as well.
#[test]
fn three_runs_have_one_list_of_what_is_not_compared() {
    let lab = Lab::new();
    let flags = |loads: &[&str]| {
        let fixed = "run -q --json -t sim:gp3:1TiB --rw randread".split(' ');
        let ran = good(lab.blocklab(fixed.chain(loads.iter().copied())));
        json(&ran)["id"].as_str().expect("an id").to_owned()
    };
    let all = flags(&["--depth", "1,4,8"]);
    let shallow = flags(&["--depth", "1"]);
    let deep = flags(&["--depth", "1,8"]);
    for form in ["text", "markdown", "html"] {
        let words = ["compare", &all, &shallow, &deep, "--format", form];
        let text = good(lab.blocklab(words));
        let block = if form == "html" {
            "not compared</summary>"
        } else {
            "Not compared"
        };
        assert_eq!(text.matches(block).count(), 1, "{text}");
        for line in [
            "rand-4KiB-read-depth4 read, of A: only this run has this load",
            "rand-4KiB-read-depth8 read, of A: B does not have this load",
        ] {
            assert_eq!(text.matches(line).count(), 1, "{line}:\n{text}");
        }
    }
}

/// The story: a run that was stopped in its ramp had "no load in common with the baseline", with which
/// it shared its study, and a history of such runs was "0 loads: ".
#[test]
fn a_run_that_completed_nothing_is_called_so() {
    let lab = Lab::new();
    let whole = run(&lab, STUDY, "gp3:1TiB", &[]);
    let stopped = run(&lab, STUDY, "gp3:1TiB", &["--name", "stopped"]);
    let file = lab.path().join("runs").join(&stopped).join("record.json");
    let text = std::fs::read_to_string(&file).expect("a record");
    let mut record: Value = json(&text);
    record["measurements"] = Value::Array(Vec::new());
    std::fs::write(&file, record.to_string()).expect("written");

    let text = good(lab.blocklab(["compare", &whole, &stopped]));
    assert!(text.starts_with("B completed nothing.\n"), "{text}");
    assert!(
        text.contains("deep read, of A: the other run completed nothing of it"),
        "{text}"
    );
    let text = good(lab.blocklab(["compare", &stopped, "--against-history"]));
    assert!(
        text.starts_with("the run completed nothing, so there is nothing to compare.\n"),
        "{text}"
    );
    let text = good(lab.blocklab(["history", "--name", "stopped"]));
    assert!(
        text.starts_with("no load: none of the runs completed an operation.\n"),
        "{text}"
    );
}

/// The story: `history` of simulations that each drew a seed said only that there were "too few runs under
/// the same conditions", and its user ran the same command again and again.
#[test]
fn a_history_of_simulations_says_what_makes_them_comparable() {
    let lab = Lab::new();
    for _ in 0..2 {
        let line = "run -q -t sim:gp3:1GiB --rw randread --runtime 100ms";
        good(lab.blocklab(line.split(' ')));
    }
    let text = good(lab.blocklab(["history"]));
    for words in [
        "where seed, cases, passes and times are the same",
        "--seed 1",
    ] {
        assert!(text.contains(words), "{text}");
    }
}
