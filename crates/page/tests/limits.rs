//! Limits of several targets, of a comparison and of a study, in a real browser: every broken line
//! stands at a value of the JSON, has its name, and says whose it is.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;
#[allow(dead_code, reason = "nothing is clicked here")]
mod webdriver;

use std::fs;

use blocklab_compare::compare::{Margins, compare};
use blocklab_compare::study::StudySystem;
use blocklab_findings::Assessment;
use blocklab_record::{Origin, Record};
use blocklab_report::json;
use serde::Deserialize;
use serde_json::{Value, json};
use webdriver::Browser;

/// A line of a limit as it stands in a chart.
#[derive(Debug, Deserialize)]
struct Line {
    chart: String,
    /// What it stands for, by its element.
    said: f64,
    /// How far from it the line stands, in pixels, by the labels of the axis.
    off: f64,
}

#[test]
fn every_limit_stands_at_its_value() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let browser = Browser::start();
    let open = |name: &str, page: &str| {
        let file = folder.path().join(name);
        fs::write(&file, page).expect("the report is written");
        browser.open(&format!("file://{}", file.display()));
    };
    let (record, assessment) = swept("7f3a2c");
    open(
        "targets.html",
        &blocklab_page::runs(&[(&two_targets(&record), &assessment)]),
    );
    two_targets_share_what_is_alike(&browser, &two_targets(&record), &assessment);

    let (other, _) = faster("91be04c");
    let all = [(&record, &assessment), (&other, &assessment)];
    let compared = compare(&[&record, &other], 0, Margins::default());
    open(
        "compared.html",
        &blocklab_page::comparison(&all, &compared, None),
    );
    lines_stand_at_values(&browser, &all);
    let known = names(&browser);
    let has = |name: &str| known.iter().any(|other| other == name);
    assert!(
        has("gp2: burst credits (burst) 3,000"),
        "a sweep of one run says no letter: {known:?}"
    );
    assert!(
        has("gp2: volume throughput 128 MiB/s"),
        "both have it: {known:?}"
    );
    // Bars of both runs stand in one chart.
    let rows = sample::run("7f3a2c", 1.0).1;
    let barred = [(&record, &rows), (&other, &rows)];
    open(
        "bars.html",
        &blocklab_page::comparison(&barred, &compared, None),
    );
    let known = names(&browser);
    let has = |name: &str| known.iter().any(|other| other == name);
    assert!(has("A: gp2: burst credits (burst) 3,000"), "{known:?}");
    assert!(has("B: gp2: burst credits (burst) 6,000"), "{known:?}");

    let mut outcome = sample::outcome();
    outcome.systems = [("small", &record), ("large", &other)]
        .map(|(name, record)| StudySystem {
            name: name.to_owned(),
            run: Some(record.id.clone()),
            ..StudySystem::default()
        })
        .to_vec();
    open("study.html", &blocklab_page::study(&all, &outcome));
    let drawn = lines_stand_at_values(&browser, &all);
    let study: Vec<_> = drawn.iter().filter(|line| line.chart == "study").collect();
    assert!(study.iter().any(|line| line.said == 3_000.0), "{study:?}");
    assert!(
        study.iter().all(|line| line.said != 6_000.0),
        "no figure is of the system that has this limit: {study:?}"
    );
    assert_eq!(browser.log("browser"), Vec::<Value>::new());
}

fn swept(id: &str) -> (Record, Assessment) {
    let (_, mut assessment) = sample::run(id, 1.0);
    sample::sweep(&mut assessment);
    sample::slow_down(&mut assessment);
    let mut record = sample::empty(id);
    sample::model(&mut record, Origin::Simulated);
    (record, assessment)
}

/// The same volume with twice the burst.
fn faster(id: &str) -> (Record, Assessment) {
    let (mut record, assessment) = swept(id);
    for limit in &mut record.targets[0].limits {
        if limit.value == 3_000.0 {
            limit.value = 6_000.0;
        }
    }
    (record, assessment)
}

/// The volume, and beside it the faster one.
fn two_targets(record: &Record) -> Record {
    let mut other = faster("91be04c").0.targets.remove(0);
    other.path = "sim:other".to_owned();
    other.address = None;
    Record {
        targets: vec![record.targets[0].clone(), other],
        ..record.clone()
    }
}

/// The story: the charts of a run over two volumes had no limit at all.
fn two_targets_share_what_is_alike(browser: &Browser, record: &Record, assessment: &Assessment) {
    lines_stand_at_values(browser, &[(record, assessment)]);
    let names = names(browser);
    let has = |name: &str| names.iter().any(|known| known == name);
    assert!(
        has("each target: gp2: volume throughput 128 MiB/s"),
        "{names:?}"
    );
    assert!(
        has("m5.large: EBS throughput 81.25 MB/s"),
        "the machine grants it to both together: {names:?}"
    );
    assert!(
        has("sim:other: gp2: burst credits (burst) 6,000"),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.starts_with("sim:other: m5")),
        "one line for what is alike: {names:?}"
    );
}

/// Of all charts; answers the lines.
fn lines_stand_at_values(browser: &Browser, all: &[(&Record, &Assessment)]) -> Vec<Line> {
    let known: Vec<f64> = all
        .iter()
        .flat_map(|(record, it)| values(record, it))
        .collect();
    let lines: Vec<Line> = serde_json::from_value(browser.run(LINES, json!([]))).expect("lines");
    assert!(!lines.is_empty());
    for line in &lines {
        let is_known = known
            .iter()
            .any(|value| (value / line.said - 1.0).abs() < 1e-9);
        assert!(is_known, "{line:?} is none of {known:?}");
        assert!(line.off.abs() < 2.0, "{line:?} stands elsewhere");
    }
    let unnamed = "return [...document.querySelectorAll('.chart')].filter((chart) =>
        chart.querySelectorAll('line.limit').length > chart.querySelectorAll('.limit-label').length)
        .map((chart) => chart.dataset.chart)";
    assert_eq!(
        browser.run(unnamed, json!([])),
        json!([]),
        "each has its name"
    );
    lines
}

/// The limits of `show --json`, in the units of the charts.
fn values(record: &Record, assessment: &Assessment) -> Vec<f64> {
    let summary: Value =
        serde_json::from_str(&json::summary(record, assessment, None)).expect("JSON");
    let targets = summary["targets"].as_array().expect("targets");
    let limits = targets
        .iter()
        .flat_map(|target| target["limits"].as_array().expect("limits"));
    let scaled = limits.map(|limit| {
        let value = limit["value"].as_f64().expect("a figure");
        match limit["unit"].as_str() {
            Some("MiB/s") => value * 1.048_576,
            _ => value,
        }
    });
    scaled.collect()
}

/// The names of limits, drawn or not, as the first charts write them.
fn names(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.limit-label, .undrawn title')]
        .flatMap((it) => it.textContent.split('; '))";
    serde_json::from_value(browser.run(script, json!([]))).expect("texts")
}

/// Of every line of a limit its value, and its place by three labels of the axis: two tell the scale,
/// the third whether it is logarithmic.
const LINES: &str = "const units = {k: 1e3, M: 1e6};
    const number = (text) => parseFloat(text.replaceAll(',', '')) * (units[text.slice(-1)] || 1);
    return [...document.querySelectorAll('.chart')].flatMap((chart) => [...chart.querySelectorAll('line.limit')].map((line) => {
      const isUpright = line.getAttribute('x1') === line.getAttribute('x2');
      const ticks = [...chart.querySelectorAll(isUpright ? '.tick-x' : '.tick-y')].map((t) =>
        [isUpright ? Number(t.getAttribute('x')) : Number(t.getAttribute('y')) - 4, number(t.textContent)]);
      // The last label of the axis along the bottom may be moved into the picture.
      if (isUpright && ticks.length > 3) ticks.pop();
      const [[y0, v0], [y1, v1]] = [ticks[0], ticks[ticks.length - 1]];
      const [ym, vm] = ticks[1];
      const share = (ym - y0) / (y1 - y0);
      const isLog = v0 > 0 && Math.abs(v0 * (v1 / v0) ** share / vm - 1) < Math.abs((v0 + (v1 - v0) * share) / vm - 1);
      const said = Number(line.dataset.limit);
      const wanted = y0 + (y1 - y0) * (isLog ? Math.log(said / v0) / Math.log(v1 / v0) : (said - v0) / (v1 - v0));
      return {chart: chart.dataset.chart, said, off: Number(line.getAttribute(isUpright ? 'x1' : 'y1')) - wanted};
    }))";
