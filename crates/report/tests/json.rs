//! `run --json`: one object, always valid, units in the names.

mod sample;

use blocklab_record::{Origin, Status, TargetFacts};
use blocklab_report::json;
use blocklab_report::prometheus::prometheus;
use blocklab_report::words::facts::target_names;
use serde_json::Value;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

#[test]
fn a_run_is_one_object() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::fail(&mut record);
    let value = parsed(&json::summary(&record, &assessment, None));
    for (pointer, expected) in [
        ("/summary_format", "1"),
        ("/record_format", "2"),
        ("/id", "\"7f3a2c\""),
        ("/status", "\"failed\""),
        ("/origin", "\"measured\""),
        ("/failure", "\"the device no longer answers\""),
        ("/seed", "\"11400714819323198485\""),
        ("/rows/0/case", "\"seq1m-q8-read\""),
        ("/rows/0/direction", "\"read\""),
        ("/rows/0/iops/passes", "3"),
        ("/findings/0/rule", "\"cpu-limit\""),
        ("/findings/0/severity", "\"warning\""),
        ("/notes/0/level", "\"assumed\""),
        ("/errors/0/kind", "\"EIO\""),
        ("/errors/0/case", "\"seq1m-q8-read\""),
        ("/environment/kernel", "\"6.1.0-18-amd64\""),
        ("/targets/0/file_system/kind", "\"ext4\""),
    ] {
        let found = value.pointer(pointer).map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(expected), "{pointer}");
    }
    assert_eq!(value["rows"].as_array().map(Vec::len), Some(8));
}

#[test]
fn the_figures_are_those_of_the_assessment() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let value = parsed(&json::summary(&record, &assessment, None));
    for (row, shown) in assessment
        .rows
        .iter()
        .zip(value["rows"].as_array().unwrap())
    {
        let direction = &row.directions[0];
        assert_eq!(shown["iops"]["value"], direction.iops.value);
        assert_eq!(shown["iops"]["ci95_low"], direction.iops.low.unwrap());
        assert_eq!(shown["service_p99_ns"], direction.service_ns.at("p99"));
        assert_eq!(shown["ios"], direction.ios);
    }
}

#[test]
fn figures_that_are_no_numbers_and_hostile_names_stay_valid() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    record.requested.name = "\"}</script>\u{1}\u{2028}\\".to_owned();
    let direction = &mut assessment.rows[0].directions[0];
    direction.iops.value = f64::NAN;
    direction.iops.high = Some(f64::INFINITY);
    let value = parsed(&json::summary(&record, &assessment, None));
    assert_eq!(value["name"], record.requested.name.as_str());
    assert!(value["rows"][0]["iops"]["value"].is_null());
    assert!(value["rows"][0]["iops"]["ci95_high"].is_null());
}

#[test]
fn nothing_measured_is_an_empty_list() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assessment.rows.clear();
    let value = parsed(&json::summary(&record, &assessment, None));
    assert_eq!(value["rows"], Value::Array(Vec::new()));
}

#[test]
fn a_model_brings_its_limits_and_assumptions() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    let value = parsed(&json::summary(&record, &assessment, None));
    assert_eq!(value["origin"], "simulated");
    let target = &value["targets"][0];
    assert_eq!(target["limits"][0]["name"], "gp2: volume throughput");
    assert_eq!(target["limits"][0]["value"], 128.0);
    assert_eq!(target["limits"][7]["bound"], true);
    assert_eq!(target["assumptions"].as_array().map(Vec::len), Some(2));
}

/// The story: a result of fio and a simulation had `case_cpu_ns_per_io: 0`, as if their operations had
/// cost nothing, where an unknown figure is null.
#[test]
fn what_an_operation_cost_another_program_is_unknown() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    let cost = |assessment: &_| {
        let value = parsed(&json::summary(&record, assessment, None));
        value["rows"][0]["case_cpu_ns_per_io"].clone()
    };
    assessment.rows[0].cpu_ns_per_io = 850.0;
    assert_eq!(cost(&assessment), 850.0);
    assessment.rows[0].cpu_ns_per_io = 0.0;
    assert_eq!(cost(&assessment), Value::Null);
}

/// The story: the metrics of `serve` had a time at which the run that goes on had ended.
#[test]
fn a_run_that_goes_on_has_not_ended() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    let ended = |record: &_| {
        let text = prometheus(record, &assessment).expect("few series");
        text.contains("blocklab_run_timestamp_seconds{")
    };
    assert!(ended(&record));
    record.status = Status::Running;
    assert!(!ended(&record));
}

/// The story: runs on a, b, c and on a, b, d were one time series of Prometheus, "a, b and 1 more".
#[test]
fn runs_on_other_targets_are_told_apart() {
    let (mut record, _) = sample::run("7f3a2c", 1.0);
    let target = record.targets[0].clone();
    let mut text = |paths: &[&str]| {
        let on = |path: &&str| TargetFacts {
            path: (*path).to_owned(),
            ..target.clone()
        };
        record.targets = paths.iter().map(on).collect();
        target_names(&record)
    };
    assert_eq!(text(&["a", "b"]), "a and b");
    assert_eq!(text(&["a", "b", "c"]), "a, b, c");
    assert_eq!(text(&["a"; 9]), "a, a and 7 more");
}
