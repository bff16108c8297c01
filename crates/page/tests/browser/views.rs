//! Pages of single views in a real browser: a trace, a history, a run of many hosts.

use blocklab_compare::history::history;
use blocklab_findings::assess;
use blocklab_record::{HostRun, merge};
use blocklab_report::views::{self, LoadAndVolumes, Passing};
use blocklab_sizing::{Arrivals, Quantity};
use blocklab_trace::Operation;
use blocklab_trace::character::{Characterizer, TimeMap};
use blocklab_units::{Nanos, count, rate};
use blocklab_workload::Direction;
use serde_json::{Value, json};

use super::webdriver::{self, Browser};
use super::{
    ARROW_RIGHT, a_narrow_screen_scrolls_in_one_direction_only, address,
    nothing_was_said_or_fetched, sample, written,
};

#[test]
fn a_trace_is_looked_at() {
    if webdriver::is_missing() {
        return;
    }
    let mut all = Characterizer::new(false);
    let mut arrivals = Arrivals::default();
    for second in 0..3600_u64 {
        for index in 0..if second == 1800 { 500 } else { 1 } {
            let at = Nanos(second * 1_000_000_000 + index * 1_000_000);
            let len = if second % 2 == 0 { 4096 } else { 65_536 };
            let operation = Operation::new(at, Direction::Write, (second % 100) << 24, len);
            all.add(&operation);
            arrivals.add(&operation);
        }
    }
    let character = all.end(&["disk".to_owned()], Vec::new());
    let windows = arrivals.windows();
    let beside = LoadAndVolumes {
        volumes: vec![Passing {
            address: "gp3:100GiB".to_owned(),
            operations: windows
                .iter()
                .map(|window| Some(window.window_ns as f64 / 1e7))
                .collect(),
            bytes: vec![None; windows.len()],
        }],
        windows,
    };
    let document = views::trace("hour.trace", &character, None);
    let page = blocklab_page::trace(&document, &character, None, Some(&beside));
    let folder = tempfile::tempdir().expect("a folder");
    let address = written(&folder, "trace.html", &page);
    let browser = Browser::start();
    browser.open(&address);
    a_map_says_what_the_figures_say(&browser, &character.map);
    the_load_stands_beside_a_volume(&browser, &beside);
    // The story: the name at the end of the line was cut to "busies…econd".
    let ends = "return [...document.querySelectorAll('#rate .end-label')].map((it) => it.textContent).sort()";
    assert_eq!(browser.run(ends, json!([])), json!(["busiest 1 s", "mean"]));
    // The story: without a script the page had four headings in a row, with nothing below them.
    assert_eq!(browser.bare_headings(), Vec::<String>::new());
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    browser.set_colours("dark");
    assert!(browser.count("[data-chart=map-sizes] .cell") > 0);
    nothing_was_said_or_fetched(&browser, &[&address]);
}

fn a_map_says_what_the_figures_say(browser: &Browser, map: &TimeMap) {
    let busy = map
        .sizes
        .iter()
        .flatten()
        .filter(|count| **count > 0)
        .count();
    assert_eq!(browser.count("[data-chart=map-sizes] .cell"), busy as u64);
    let places = map
        .places
        .iter()
        .flatten()
        .filter(|count| **count > 0)
        .count();
    assert_eq!(
        browser.count("[data-chart=map-places] .cell"),
        places as u64
    );
    // The first cell is the first slot of the largest class that occurs.
    let row = map.class_bytes.len() - 1;
    browser.hover(browser.middle("return document.querySelector('[data-chart=map-sizes] .cell')"));
    let tip = browser.text("[data-chart=map-sizes] .tooltip");
    assert!(tip.starts_with("up to 64 KiB, from 00:00:00"), "{tip}");
    assert!(tip.contains(&map.sizes[0][row].to_string()), "{tip}");
}

fn the_load_stands_beside_a_volume(browser: &Browser, beside: &LoadAndVolumes) {
    assert_eq!(browser.count("#arrivals .study-chart"), 2);
    assert_eq!(
        browser.count("#arrivals .study-chart:first-of-type .line"),
        2
    );
    // The story: six pixels of `gp3:100GiB` lay outside of the chart, which its SVG and PNG cut off.
    let right = "const right = (it) => it.getBoundingClientRect().right;
        return [...document.querySelectorAll('#arrivals .end-label')]
          .filter((it) => right(it) > right(it.ownerSVGElement)).map((it) => it.textContent)";
    assert_eq!(browser.run(right, json!([])), json!([]));
    let first = &beside.windows[0];
    browser.hover(browser.middle("return document.querySelector('#arrivals .dot')"));
    let tip = browser.text("#arrivals .tooltip:not([hidden])");
    let load = rate(LoadAndVolumes::load(first, Quantity::Operations));
    assert!(
        tip.contains(&load) && tip.contains("within 10.0 ms"),
        "{tip}: {load}"
    );
}

/// A chart has a dot for each point of its series in the JSON, its levels and where they begin.
#[track_caller]
fn the_chart_of_a_history_is_that_of(browser: &Browser, first: &str, series: &Value) {
    let chart = ".load [data-chart=history]";
    assert!(browser.count(chart) >= 2, "a chart a load at least");
    let points = series["points"].as_array().expect("points");
    let all = browser.count(&format!("{first} .dot"));
    assert_eq!(all, points.len() as u64);
    assert_eq!(
        browser.count(&format!("{first} .dot.hollow")),
        1,
        "one was interrupted"
    );
    assert_eq!(browser.count(&format!("{first} .level")), 2);
    assert_eq!(browser.count(&format!("{first} .begins")), 1);
    assert_eq!(
        browser.count(&format!("{first} .around-changed")),
        1,
        "the kernel"
    );
    let label = browser.run(
        "return document.querySelector(arguments[0] + ' .begins-label').textContent",
        json!([first]),
    );
    let change = &series["changes"][0];
    let percent = change["change_percent"].as_f64().expect("a number");
    let wanted = format!("2026-11-21  {percent:+.1} %").replace('-', "−");
    let label = label.as_str().expect("a text").replace('-', "−");
    assert!(label.starts_with(&wanted), "{wanted}: {label}");
}

/// A dot a run, whose figures are those of the JSON, by pointer and by keys; levels and where they
/// begin; on every screen and in the dark; and a table without a script.
#[test]
fn a_history_is_drawn_and_read() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let history = history(&sample::history_runs());
    let page = written(&folder, "history.html", &blocklab_page::history(&history));
    let json = serde_json::to_value(&history).expect("JSON");
    let series = json["series"].as_array().expect("series");
    let series = series.iter().find(|series| series["is_headline"] == true);
    let series = series.expect("the rate of the first load");

    let browser = Browser::start();
    browser.open(&page);
    let points = series["points"].as_array().expect("points");
    let first = ".load:first-of-type .grid-2 > :first-child";
    the_chart_of_a_history_is_that_of(&browser, first, series);

    for (place, point) in points.iter().enumerate() {
        if ![0, sample::INTERRUPTED, sample::BEFORE].contains(&place) {
            continue;
        }
        let run = point["run"].as_str().expect("an id");
        let dot = format!("return document.querySelector(\"{first} .dot[data-run='{run}']\")");
        browser.hover(browser.middle(&dot));
        it_says(&browser.text(&format!("{first} .tooltip")), point);
    }
    // The focus scrolls the chart, and a pointer that stays on it gets a move of its own a frame later:
    // among the keys, it took the reading back to its dot.
    browser.hover((1.0, 1.0));
    browser.run(
        "document.querySelector(arguments[0] + ' svg').focus()",
        json!([first]),
    );
    for _ in 0..points.len() {
        browser.key(ARROW_RIGHT);
    }
    let said = browser.text(&format!("{first} .unseen"));
    it_says(&said, points.last().expect("a point"));
    let dark = |scheme: &str| {
        browser.set_colours(scheme);
        let fill = "return getComputedStyle(document.querySelector('.dot')).fill";
        browser.run(fill, json!([]))
    };
    assert_ne!(dark("dark"), dark("light"));
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    nothing_was_said_or_fetched(&browser, &[&page]);
}

/// Whether a run's words under the pointer are those of its point in the JSON.
#[track_caller]
fn it_says(tip: &str, point: &Value) {
    let count = |name: &str| count(point[name].as_f64().expect("a figure"));
    let mut wanted = vec![
        point["run"].as_str().expect("an id").to_owned(),
        format!("{} IOPS", count("value")),
        format!("{} IOPS to {} IOPS", count("ci95_low"), count("ci95_high")),
    ];
    if point["is_left_out"] == true {
        wanted.push("left out: interrupted".to_owned());
    }
    for changed in point["changed"].as_array().into_iter().flatten() {
        let [before, after] = ["before", "after"].map(|name| changed[name].as_str().expect("it"));
        wanted.push(format!("{before} → {after}"));
    }
    for text in wanted {
        assert!(tip.contains(&text), "{text} in\n{tip}");
    }
}

/// A bar and a row of the table for each of thirty hosts, on a telephone as on a desk.
#[test]
fn thirty_hosts_stay_legible() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = (1..=30).map(|number| {
        let (mut record, _) = sample::run(&format!("7f{number:02}ac"), 1.0);
        record.environment.host_name = Some(format!("storage-node-{number:02}"));
        HostRun::unnamed(record)
    });
    let hosts: Vec<HostRun> = hosts.collect();
    let merged = merge(&hosts, &[]).expect("one load");
    let assessment = assess(&merged);
    let page = address(&folder, "rack.html", &[(&merged, &assessment)]);
    let browser = Browser::start();
    browser.open(&page);
    let charts = browser.count("#hosts .study-chart svg");
    assert!((1..=4).contains(&charts), "{charts} charts of hosts");
    assert!(browser.count("#hosts tbody tr") >= 30, "a row each");
    for width in [360, 900, 1360] {
        browser.set_width(width);
        let seen = browser.run("return document.documentElement.scrollWidth", json!([]));
        assert_eq!(seen, width);
        let script = "const chart = document.querySelector('#hosts .study-chart');
                      return [...chart.querySelectorAll('svg text')]
                          .filter((it) => it.textContent.startsWith('storage-node-'))
                          .map((it) => it.getBoundingClientRect().top)";
        let tops = browser.run(script, json!([]));
        let tops = tops.as_array().expect("places").iter();
        let tops: Vec<f64> = tops.filter_map(Value::as_f64).collect();
        assert_eq!(tops.len(), 30, "at {width}: every host is named");
        let apart = tops.windows(2).map(|pair| pair[1] - pair[0]);
        let least = apart.fold(f64::MAX, f64::min);
        assert!(least >= 12.0, "at {width}: names lie {least} px apart");
    }
    // Percentiles of slices cannot be added: there is no empty frame for them.
    assert_eq!(browser.count("[data-chart=time-p99]"), 0);
    nothing_was_said_or_fetched(&browser, &[&page]);
}
