//! What a page answers first, in a real browser: its sentence is that of the JSON, its first chart
//! stands on the first screen of a telephone, and limits stand at their values.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;
#[allow(dead_code, reason = "nothing is clicked here")]
mod webdriver;

use std::fs;

use blocklab_compare::compare::{Margins, compare};
use blocklab_compare::expect::Diagnosis;
use blocklab_findings::Assessment;
use blocklab_record::{Origin, Record};
use blocklab_report::json;
use blocklab_workload::Direction;
use serde_json::{Value, json};
use webdriver::Browser;

#[test]
fn a_page_answers_and_draws_limits() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let browser = Browser::start();
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    browser.open(&written(
        &folder,
        "one.html",
        &blocklab_page::runs(&[(&record, &assessment)]),
    ));
    let verdict = verdict_of(&json::summary(&record, &assessment, None));
    the_answer_and_a_chart_fit_a_telephone(&browser, &verdict);
    lines_stand_out_from_the_surface(&browser);
    a_comparison_answers_first(&browser, &folder);
    long_addresses_wrap_on_a_telephone(&browser, &folder);
    let page = blocklab_page::study(&[(&record, &assessment)], &sample::outcome());
    browser.open(&written(&folder, "study.html", &page));
    let verdict = verdict_of(&json::study("i3-metal", "", &sample::outcome(), None));
    the_answer_and_a_chart_fit_a_telephone(&browser, &verdict);
    a_sweep_meets_its_limits(&browser, &folder);
    a_single_case_is_no_suite(&browser, &folder);
    a_chosen_rate_shows_the_limits_of_bytes(&browser, &folder);
    assert_eq!(browser.log("browser"), Vec::<Value>::new());
}

fn written(folder: &tempfile::TempDir, name: &str, page: &str) -> String {
    let file = folder.path().join(name);
    fs::write(&file, page).expect("the report is written");
    format!("file://{}", file.display())
}

fn a_sweep_meets_its_limits(browser: &Browser, folder: &tempfile::TempDir) {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::sweep(&mut assessment);
    browser.open(&written(
        folder,
        "swept.html",
        &blocklab_page::runs(&[(&record, &assessment)]),
    ));
    assert_eq!(
        browser.count(".limit"),
        0,
        "nothing limits a device that nobody described"
    );
    sample::slow_down(&mut assessment);
    let mut limited = sample::empty("7f3a2c");
    sample::model(&mut limited, Origin::Simulated);
    a_miss_is_red_and_drawn(browser, folder, &limited, &assessment);
    let page = blocklab_page::runs(&[(&limited, &assessment)]);
    browser.open(&written(folder, "limited.html", &page));
    limits_stand_at_their_values(browser, &json::summary(&limited, &assessment, None));
    let bordered = |class: &str| browser.count(&format!("[data-chart=heat] .{class}"));
    assert_eq!([bordered("at-iops"), bordered("at-bytes")], [3, 3]);
    assert_eq!(browser.count(".map .key-cell"), 2);
    sample::mix_all(&mut assessment);
    let mixed = blocklab_page::runs(&[(&limited, &assessment)]);
    browser.open(&written(folder, "mixed.html", &mixed));
    assert_eq!([bordered("at-iops"), bordered("at-bytes")], [0, 0]);
    assert_eq!(
        browser.count(".map .key-cell"),
        0,
        "the story: the key explained borders that no cell of a mixed load had"
    );
    browser.open(&written(folder, "limited.html", &page));
    assert_eq!(
        browser.count("[data-chart='sweep-IOPS'] .cap"),
        2,
        "of the large blocks"
    );
    a_size_has_one_hue_and_a_case_one_tone(browser);
    lines_stand_out_from_the_surface(browser);
}

/// The story: a replay of one case had the heading "The suite", and its syncs were a bar below "Small
/// blocks".
fn a_single_case_is_no_suite(browser: &Browser, folder: &tempfile::TempDir) {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assessment.rows.truncate(1);
    let row = &mut assessment.rows[0];
    let mut syncs = row.directions[0].clone();
    syncs.direction = Direction::Sync;
    syncs.bytes_per_s.value = 0.0;
    row.directions.push(syncs);
    let page = blocklab_page::runs(&[(&record, &assessment)]);
    browser.open(&written(folder, "replay.html", &page));
    let headings = "return [...document.querySelectorAll('#suite h2, #suite h3')].map((heading) => heading.textContent)";
    assert_eq!(
        browser.run(headings, json!([])),
        json!([
            "The load",
            "Large blocks: throughput",
            "Syncs: operations per second"
        ])
    );
}

/// The story: bars of one kind of blocks began with MB/s, and the ticks of the limits of bytes, which
/// belong to IOPS, were still missing after IOPS was chosen.
fn a_chosen_rate_shows_the_limits_of_bytes(browser: &Browser, folder: &tempfile::TempDir) {
    let (_, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::slow_down(&mut assessment);
    // Those of 64 KiB, of which 128 MiB/s are 2,048 IOPS.
    assessment.rows.drain(..4);
    let mut limited = sample::empty("7f3a2c");
    sample::model(&mut limited, Origin::Simulated);
    let page = blocklab_page::runs(&[(&limited, &assessment)]);
    browser.open(&written(folder, "chosen.html", &page));
    assert_eq!(browser.count("#suite .cap"), 0, "of MB/s");
    let choose = "[...document.querySelectorAll('#suite .choice button')].find((button) => button.textContent === 'IOPS').click()";
    browser.run(choose, json!([]));
    assert!(browser.count("#suite .cap") > 0, "of IOPS");
}

/// The story: 16 KiB was violet in the sweeps, orange over the rate and two colours in the latencies;
/// later all depths of a size had one colour in the latencies, so that eight lines had two.
fn a_size_has_one_hue_and_a_case_one_tone(browser: &Browser) {
    let script = "const colours = (chart, mark) => [...new Set([...document.querySelectorAll(`[data-chart='${chart}'] ${mark}`)]
          .map((line) => line.style.stroke))].sort();
        return [colours('sweep-IOPS', '.line'), colours('percentiles', '.line')]";
    let colours: (Vec<String>, Vec<String>) =
        serde_json::from_value(browser.run(script, json!([]))).expect("two lists of colours");
    assert_eq!(colours.0, ["var(--s1)", "var(--s2)"], "one for each size");
    let cases = browser.count("[data-chart='percentiles'] .line");
    assert_eq!(colours.1.len() as u64, cases, "one for each case");
    for color in &colours.1 {
        let hues = colours.0.iter().filter(|hue| color.contains(*hue));
        assert_eq!(hues.count(), 1, "{color} is a tone of a size");
    }
    let ends = "return [...document.querySelectorAll(\"[data-chart='sweep-IOPS'] .end-label\")].map((t) => t.textContent).sort()";
    assert_eq!(browser.run(ends, json!([])), json!(["4 KiB", "64 KiB"]));
}

/// The story: of a sweep, the line of the smallest block and the last pass were so pale that they
/// could hardly be seen, in the dark even less. A mark needs a contrast of 3 with what is behind it.
fn lines_stand_out_from_the_surface(browser: &Browser) {
    let script = "const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const lightness = (color) => {
          canvas.fillStyle = color;
          canvas.fillRect(0, 0, 1, 1);
          const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const surface = lightness(getComputedStyle(document.querySelector('.card')).backgroundColor);
        return [...document.querySelectorAll('.line')].map((line) => {
          const own = lightness(getComputedStyle(line).stroke);
          const [low, high] = [Math.min(own, surface), Math.max(own, surface)];
          return [`${line.closest('.chart').dataset.chart} ${line.style.stroke}`, (high + 0.05) / (low + 0.05)];
        })";
    for _theme in ["light", "dark"] {
        let lines = browser.run(script, json!([]));
        let lines: Vec<(String, f64)> = serde_json::from_value(lines).expect("names and contrasts");
        assert!(!lines.is_empty());
        for (name, contrast) in lines {
            assert!(contrast >= 3.0, "{name} has a contrast of {contrast:.2}");
        }
        browser.run("document.getElementById('theme').click()", json!([]));
    }
}

/// The sentence that a form for programs gives.
fn verdict_of(json: &str) -> String {
    let value: Value = serde_json::from_str(json).expect("JSON");
    value["verdict"].as_str().expect("a sentence").to_owned()
}

/// The story: the verdict of a comparison stood at 960 px, below two heads and six tiles, and other
/// words said it on the page than anywhere else.
fn the_answer_and_a_chart_fit_a_telephone(browser: &Browser, verdict: &str) {
    assert_eq!(browser.text("main p.answer"), verdict);
    browser.set_width(390);
    let first = "const last = document.querySelector('main .chart').getBoundingClientRect();
                 const answer = document.querySelector('main p.answer').getBoundingClientRect();
                 return [answer.bottom < last.top, Math.round(last.bottom + scrollY)]";
    let first = browser.run(first, json!([]));
    assert_eq!(first[0], true, "the sentence stands above the first chart");
    let bottom = first[1].as_u64().expect("a place");
    assert!(bottom <= 844, "the first chart ends at {bottom} px");
    browser.set_width(1280);
}

/// The story: what holds a device back stood in words and in tables, and in no chart. The place of a
/// line is read back by the labels of the axis.
fn limits_stand_at_their_values(browser: &Browser, summary: &str) {
    let summary: Value = serde_json::from_str(summary).expect("JSON");
    let limits = summary["targets"][0]["limits"].as_array().expect("limits");
    let value = |name: &str| {
        let limit = limits.iter().find(|limit| limit["name"] == name);
        let limit = limit.unwrap_or_else(|| panic!("{name} in {limits:?}"));
        let scale = match limit["unit"].as_str() {
            Some("MiB/s") => 1.048_576,
            _ => 1.0,
        };
        limit["value"].as_f64().expect("a figure") * scale
    };
    for (chart, names) in [
        (
            "sweep-IOPS",
            &[
                "gp2: burst credits (burst)",
                "gp2: burst credits (baseline)",
            ][..],
        ),
        (
            "sweep-MB/s",
            &[
                "gp2: volume throughput",
                "m5.large: EBS throughput (baseline)",
            ],
        ),
    ] {
        let drawn = drawn_limits(browser, chart);
        assert!(!drawn.is_empty(), "{chart} has a limit");
        for (said, place, _) in &drawn {
            let known = names
                .iter()
                .any(|name| (value(name) / said - 1.0).abs() < 1e-9);
            assert!(known, "{chart}: {said} is in {limits:?}");
            assert!(
                (place / said - 1.0).abs() < 0.02,
                "{chart}: {said} is drawn at {place}"
            );
        }
    }
    let bursts = drawn_limits(browser, "sweep-IOPS");
    let dotted = bursts.iter().find(|(said, ..)| *said > 2_999.0);
    assert!(dotted.is_none_or(|(.., is_burst)| *is_burst), "{bursts:?}");
}

/// Of a chart with an axis at the side: what each limit is said to be, where its line stands, and
/// whether it is dotted.
fn drawn_limits(browser: &Browser, chart: &str) -> Vec<(f64, f64, bool)> {
    let script = "const frame = document.querySelector(`[data-chart='${arguments[0]}']`);
        const units = {k: 1e3, M: 1e6};
        const ticks = [...frame.querySelectorAll('.tick-y')].map((t) => {
          const text = t.textContent.replace(',', '');
          return [Number(t.getAttribute('y')) - 4, parseFloat(text) * (units[text.slice(-1)] || 1)];
        });
        const [[y0, v0], [y1, v1]] = [ticks[0], ticks[ticks.length - 1]];
        const [ym, vm] = ticks[1];
        const share = (ym - y0) / (y1 - y0);
        const isLog = v0 > 0 && Math.abs(v0 * (v1 / v0) ** share / vm - 1) < Math.abs((v0 + (v1 - v0) * share) / vm - 1);
        return [...frame.querySelectorAll('line.limit')].map((line) => {
          const at = (Number(line.getAttribute('y1')) - y0) / (y1 - y0);
          return [Number(line.dataset.limit), isLog ? v0 * (v1 / v0) ** at : v0 + (v1 - v0) * at, line.classList.contains('burst')];
        });";
    let drawn = browser.run(script, json!([chart]));
    serde_json::from_value(drawn).expect("figures and places")
}

/// The story: beside a volume of 6,000 IOPS that was sold as one of 8,000 the page said in green that
/// all cases had been measured without a failure.
fn a_miss_is_red_and_drawn(
    browser: &Browser,
    folder: &tempfile::TempDir,
    record: &Record,
    assessment: &Assessment,
) -> String {
    let diagnosis = Diagnosis {
        assessment: assessment.clone(),
        expected: Some(sample::missed()),
    };
    let address = written(
        folder,
        "missed.html",
        &blocklab_page::diagnosis(record, &diagnosis),
    );
    browser.open(&address);
    let told: Value =
        serde_json::from_str(&json::diagnosis(record, &diagnosis, None)).expect("JSON");
    assert_eq!(
        told["verdict"],
        "Missed: volume IOPS, 6,000 of 8,000 (75 %)"
    );
    assert_eq!(
        browser.text("main p.answer.bad"),
        told["verdict"].as_str().expect("a text")
    );
    assert_eq!(
        browser.count(".answer.good, .verdict.good"),
        0,
        "nothing green beside a miss"
    );
    let bar = "return ['documented', 'delivered'].map((kind) => {
                 const bar = document.querySelector(`.bullet .${kind}`);
                 return [Number(bar.dataset.value), bar.getBoundingClientRect().width];
               })";
    let bars: [(f64, f64); 2] = serde_json::from_value(browser.run(bar, json!([]))).expect("bars");
    let limit = &told["expected"]["limits"][0];
    assert_eq!(limit["value"], bars[0].0);
    assert_eq!(limit["delivered"], bars[1].0);
    let drawn = bars[1].1 / bars[0].1;
    assert!((drawn - 0.75).abs() < 0.01, "{bars:?}");
    address
}

/// The rate and the p99 of each load are two dots, and nothing but the sentence stands above them.
fn a_comparison_answers_first(browser: &Browser, folder: &tempfile::TempDir) -> String {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let (other, better) = sample::run("91be04c", 1.31);
    let records = [&record, &other];
    let compared = compare(&records, 0, Margins::default());
    let page = blocklab_page::comparison(
        &[(&record, &assessment), (&other, &better)],
        &compared,
        None,
    );
    let address = written(folder, "compared.html", &page);
    browser.open(&address);
    let verdict = verdict_of(&json::comparison(&records, &compared, None));
    assert!(
        verdict.starts_with("B is faster in 8 of 8 loads (×1."),
        "{verdict}"
    );
    the_answer_and_a_chart_fit_a_telephone(browser, &verdict);
    let dots = ["circle.ratio:not(.tail)", "circle.ratio.tail"];
    let dots = dots.map(|kind| browser.count(&format!("[data-chart=forest] {kind}")));
    assert_eq!(dots, [8, 8]);
    address
}

/// The story: the note on two targets that differ was wider than a telephone, and so was the page.
fn long_addresses_wrap_on_a_telephone(browser: &Browser, folder: &tempfile::TempDir) {
    let ((mut record, assessment), (mut other, better)) =
        (sample::run("7f3a2c", 1.0), sample::run("91be04c", 1.31));
    for (run, iops) in [(&mut record, 6_000), (&mut other, 16_000)] {
        let address = format!("sim:gp3:1TiB,iops={iops},throughput=125@r5d.xlarge");
        run.targets[0].devices.clear();
        run.targets[0].file_system = None;
        run.targets[0].path = address;
    }
    let compared = compare(&[&record, &other], 0, Margins::default());
    let page = blocklab_page::comparison(
        &[(&record, &assessment), (&other, &better)],
        &compared,
        None,
    );
    assert!(
        page.contains(" | sim:gp3:1TiB,iops=16000"),
        "the note is on the page"
    );
    browser.open(&written(folder, "long.html", &page));
    browser.set_width(390);
    let width = browser.run("return document.documentElement.scrollWidth", json!([]));
    assert_eq!(width, 390);
    browser.set_width(1280);
}
