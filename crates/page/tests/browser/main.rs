//! The page in a real browser: hover, zoom, legends, keys, colours, a narrow screen; and silence
//! on the console and on the network.

mod paper;
#[path = "../../../report/tests/sample/mod.rs"]
mod sample;
mod views;
#[path = "../webdriver/mod.rs"]
mod webdriver;

use std::fs;

use blocklab_findings::Assessment;
use blocklab_record::{Origin, Record};
use blocklab_units::{latency, rate};
use serde_json::{Value, json};
use webdriver::Browser;

const PERCENTILES: &str = "[data-chart=percentiles]";
const ARROW_RIGHT: char = '\u{e014}';
const ARROW_DOWN: char = '\u{e015}';

#[test]
fn a_reader_explores_the_report() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let one = address(&folder, "one.html", &[(&record, &assessment)]);
    let (other, better) = sample::run("91be04c", 1.31);
    let two = address(
        &folder,
        "two.html",
        &[(&record, &assessment), (&other, &better)],
    );

    let browser = Browser::start();
    browser.open(&one);
    one_run_is_explored(&browser, &assessment);
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::pace(&mut assessment);
    let paced = address(&folder, "paced.html", &[(&record, &assessment)]);
    browser.open(&paced);
    the_response_accompanies_the_service(&browser);
    observations_unfold(&browser);
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    let modelled = address(&folder, "modelled.html", &[(&record, &assessment)]);
    browser.open(&modelled);
    a_model_shows_its_limits_and_no_processor(&browser);
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    browser.open(&two);
    two_records_stand_side_by_side(&browser);
    the_histograms_of_one_of_two_runs_have_no_text_outside(&browser);
    all_columns_of_the_numbers_fit(&browser);
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let page = blocklab_page::study(&[(&record, &assessment)], &sample::outcome());
    let study = written(&folder, "study.html", &page);
    browser.open(&study);
    a_study_draws_lines_and_bars(&browser);
    assert_eq!(browser.bare_headings(), Vec::<String>::new());
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::sweep(&mut assessment);
    let swept = address(&folder, "sweep.html", &[(&record, &assessment)]);
    browser.open(&swept);
    a_sweep_is_lines_and_a_map(&browser, &assessment);
    assert_eq!(
        browser.count(".limit"),
        0,
        "nothing limits a device that nobody described"
    );
    what_is_looked_at_stands_in_the_link(&browser);
    a_chart_and_a_table_can_be_taken_away(&browser, &assessment);
    a_picture_and_markdown_can_be_taken_away(&browser);
    a_zoom_comes_back_by_its_link(&browser);
    let nine = sample::many(9);
    let nine: Vec<_> = nine.iter().map(|(record, it)| (record, it)).collect();
    let many = address(&folder, "many.html", &nine);
    browser.open(&many);
    of_many_systems_eight_are_drawn(&browser);
    a_narrow_screen_scrolls_in_one_direction_only(&browser);
    nothing_was_said_or_fetched(
        &browser,
        &[&one, &paced, &modelled, &two, &study, &swept, &swept, &many],
    );
}

/// A recorded load: an hour of one operation a second, and a burst in its middle.
fn one_run_is_explored(browser: &Browser, assessment: &Assessment) {
    hovering_a_percentile_shows_its_exact_value(browser, assessment);
    hovering_a_bar_shows_the_passes(browser, assessment);
    dragging_zooms_and_a_double_click_returns(browser);
    a_legend_entry_hides_its_series(browser);
    a_double_click_in_the_legend_shows_one_alone(browser);
    small_blocks_have_a_panel_of_their_own(browser, assessment);
    a_panel_without_a_bar_is_not_shown(browser);
    passes_of_another_case_can_be_chosen(browser);
    the_keyboard_reads_values(browser);
    the_table_sorts(browser);
    the_button_changes_the_colours(browser);
    all_columns_of_the_numbers_fit(browser);
    a_narrow_screen_scrolls_in_one_direction_only(browser);
}

/// Sixteen cases, one of them of twelve passes.
#[test]
fn a_crowded_page_stays_legible() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::add_passes(&mut record, 12);
    sample::repeat(&mut record, &mut assessment, 2);
    let crowded = address(&folder, "crowded.html", &[(&record, &assessment)]);
    let browser = Browser::start();
    browser.open(&crowded);
    no_frame_has_more_than_eight_colours(&browser);
    a_picture_says_what_its_colours_are(&browser);
    each_chart_keeps_its_own_zoom_in_the_link(&browser);
    nothing_was_said_or_fetched(&browser, &[&crowded, &crowded]);
}

fn address(folder: &tempfile::TempDir, name: &str, records: &[(&Record, &Assessment)]) -> String {
    written(folder, name, &blocklab_page::runs(records))
}

fn written(folder: &tempfile::TempDir, name: &str, page: &str) -> String {
    let file = folder.path().join(name);
    fs::write(&file, page).expect("the report is written");
    format!("file://{}", file.display())
}

/// The first tick with this text on the axis along the bottom.
fn tick(chart: &str, label: &str) -> String {
    format!(
        "return [...document.querySelectorAll('{chart} .tick-x')].find((t) => t.textContent === '{label}')"
    )
}

fn ticks(browser: &Browser, chart: &str) -> String {
    let script = "return [...document.querySelectorAll(arguments[0] + ' .tick-x')]
                  .map((t) => t.textContent).join(' ')";
    let text = browser.run(script, json!([chart]));
    text.as_str().expect("a text").to_owned()
}

fn hovering_a_percentile_shows_its_exact_value(browser: &Browser, assessment: &Assessment) {
    for (label, title, name) in [
        ("99", "p99", "p99"),
        ("99.9", "p99.9", "p999"),
        ("50", "p50", "p50"),
    ] {
        let (x, y) = browser.middle(&tick(PERCENTILES, label));
        browser.hover((x, y - 150.0));
        let tip = browser.text(&format!("{PERCENTILES} .tooltip"));
        assert_eq!(tip.lines().next(), Some(title), "{tip}");
        for row in &assessment.rows {
            let value = latency(row.directions[0].service_ns.at(name) as f64);
            let found = tip
                .lines()
                .any(|line| line.contains(&row.case) && line.contains(&value));
            assert!(found, "{} {value} in\n{tip}", row.case);
        }
    }
    assert_eq!(browser.count(&format!("{PERCENTILES} .cross")), 1);
}

fn hovering_a_bar_shows_the_passes(browser: &Browser, assessment: &Assessment) {
    let bar = "return document.querySelectorAll('[data-chart=suite] .bar')[2]";
    browser.hover(browser.middle(bar));
    let tip = browser.text("[data-chart=suite] .tooltip");
    let row = &assessment.rows[2];
    let estimate = &row.directions[0].bytes_per_s;
    for text in [
        row.case.clone(),
        row.what.clone(),
        format!("{} MB/s", rate(estimate.value / 1e6)),
        rate(estimate.min / 1e6),
        rate(estimate.low.expect("three passes") / 1e6),
    ] {
        assert!(tip.contains(&text), "{text} in\n{tip}");
    }
}

fn dragging_zooms_and_a_double_click_returns(browser: &Browser) {
    let before = ticks(browser, PERCENTILES);
    let (x, y) = browser.middle(&tick(PERCENTILES, "99"));
    browser.drag((x, y - 100.0), (x + 180.0, y - 100.0));
    let range = "const s = document.querySelector(arguments[0] + ' svg').dataset;
                 return [Number(s.low), Number(s.high)]";
    let zoomed = browser.run(range, json!([PERCENTILES]));
    let low = zoomed[0].as_f64().expect("a number");
    assert!(
        (low - 2.0).abs() < 0.02,
        "from p99, which is 2 nines: {zoomed}"
    );
    assert!(zoomed[1].as_f64().expect("a number") < 3.2, "{zoomed}");
    assert_ne!(ticks(browser, PERCENTILES), before);
    browser.click((x + 100.0, y - 100.0), 2);
    assert_eq!(ticks(browser, PERCENTILES), before);
}

fn a_legend_entry_hides_its_series(browser: &Browser) {
    let lines = || browser.count(&format!("{PERCENTILES} .line"));
    let entry = "return document.querySelector('#percentiles-card .entry')";
    assert_eq!(lines(), 8);
    browser.click(browser.middle(entry), 1);
    assert_eq!(lines(), 7);
    let hidden = "#percentiles-card .entry[aria-pressed=false]";
    assert_eq!(browser.text(hidden), "seq1m-q8-read");
    browser.run(
        "document.querySelector(arguments[0]).click()",
        json!([hidden]),
    );
    assert_eq!(lines(), 8);
}

fn a_double_click_in_the_legend_shows_one_alone(browser: &Browser) {
    let entry = "return document.querySelectorAll('#percentiles-card .entry')[3]";
    let lines = || browser.count(&format!("{PERCENTILES} .line"));
    browser.click(browser.middle(entry), 2);
    assert_eq!(lines(), 1);
    browser.click(browser.middle(entry), 2);
    assert_eq!(lines(), 8);
}

/// The story: on one axis of MB/s, the bars of 4 KiB were two pixels wide.
fn small_blocks_have_a_panel_of_their_own(browser: &Browser, assessment: &Assessment) {
    let values = "return [...document.querySelectorAll('[data-chart=suite] .value')]
                  .map((t) => t.textContent)";
    let values = browser.run(values, json!([]));
    for (index, row) in assessment.rows.iter().enumerate() {
        let moved = &row.directions[0];
        let expected = if row.what.contains("4 KiB") {
            format!("{}IOPS", rate(moved.iops.value))
        } else {
            format!("{}MB/s", rate(moved.bytes_per_s.value / 1e6))
        };
        assert_eq!(values[index], expected.as_str());
    }
}

/// The story: of a study with 247 loads, the eight that are drawn first had small blocks, and the panel
/// of large ones was an axis of 0, 5e-10 and 1e-9 MB/s without a bar.
fn a_panel_without_a_bar_is_not_shown(browser: &Browser) {
    let shown = || {
        let script = "return [...document.querySelectorAll('[data-chart=suite]')]
                      .filter((chart) => chart.checkVisibility()).length";
        browser.run(script, json!([]))
    };
    let press = || {
        let script = "document.querySelectorAll('#suite .entry').forEach((entry) => entry.click())";
        browser.run(script, json!([]))
    };
    assert_eq!(shown(), 2);
    press();
    assert_eq!(shown(), 0, "neither reads nor writes");
    press();
    assert_eq!(shown(), 2);
}

fn passes_of_another_case_can_be_chosen(browser: &Browser) {
    let chart = "[data-chart=time-p99]";
    let paths = || {
        let script = "return [...document.querySelectorAll(arguments[0] + ' .line')]
                      .map((path) => path.getAttribute('d')).join()";
        browser.run(script, json!([chart]))
    };
    // Median and p99 of a pass once shared a frame and a colour.
    for chart in [chart, "[data-chart=time-p50]"] {
        assert_eq!(browser.count(&format!("{chart} .line")), 3, "{chart}");
    }
    let first = paths();
    browser.run(
        "const s = document.querySelector('#time-card select');
         s.selectedIndex = 3; s.dispatchEvent(new Event('change'))",
        json!([]),
    );
    assert_ne!(paths(), first);
    browser.click(
        browser.middle("return document.querySelectorAll('#time-card .entry')[1]"),
        1,
    );
    assert_eq!(browser.count(&format!("{chart} .line")), 2);
}

fn the_keyboard_reads_values(browser: &Browser) {
    let small = "#suite .grid-2 > :nth-child(2)";
    let said = || browser.text(&format!("{small} .unseen"));
    // A pointer that stays on a chart gets moves of its own when the focus scrolls it.
    browser.hover((1.0, 1.0));
    browser.run(
        "document.querySelector(arguments[0] + ' svg').focus()",
        json!([small]),
    );
    browser.key(ARROW_DOWN);
    let first = said();
    assert!(first.contains("IOPS"), "{first}");
    browser.key(ARROW_DOWN);
    assert_ne!(said(), first);
    browser.run(
        "document.querySelector('[data-chart=time-iops] svg').focus()",
        json!([]),
    );
    browser.key(ARROW_RIGHT);
    let moment = browser.text("[data-chart=time-iops] .unseen");
    assert!(moment.starts_with("0 s – 1 s: pass"), "{moment}");
}

fn the_table_sorts(browser: &Browser) {
    let script = "const head = [...document.querySelectorAll('.sortable thead button')]
                  .find((b) => b.textContent === 'IOPS'); head.click();
                  return document.querySelector('.sortable tbody th').innerText";
    let first = || {
        browser
            .run(script, json!([]))
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert!(first().starts_with("rnd4k-q32-read"), "largest first");
    assert_eq!(first(), "seq1m-q8-write", "then smallest first");
}

/// The story: on a screen of 1,400 pixels the last three columns were cut, and had to be scrolled to.
fn all_columns_of_the_numbers_fit(browser: &Browser) {
    browser.set_width(1400);
    let cut = "const table = document.querySelector('#numbers .scroll');
               return table.scrollWidth - table.clientWidth";
    assert_eq!(browser.run(cut, json!([])), 0);
}

fn the_button_changes_the_colours(browser: &Browser) {
    let color = || {
        browser.run(
            "return getComputedStyle(document.body).backgroundColor",
            json!([]),
        )
    };
    let before = color();
    let press = "document.getElementById('theme').click()";
    browser.run(press, json!([]));
    assert_ne!(color(), before);
    browser.run(press, json!([]));
    assert_eq!(color(), before);
}

fn a_narrow_screen_scrolls_in_one_direction_only(browser: &Browser) {
    for width in [360, 1280] {
        browser.set_width(width);
        let seen = browser.run("return document.documentElement.scrollWidth", json!([]));
        assert_eq!(seen, width);
        assert_eq!(browser.faults(), Vec::<String>::new(), "at {width} px");
    }
}

/// The story: where one of two runs was hidden, or alone had a case, "p50 63.7 ms" stood beside the
/// chart, beyond the edge of its card.
fn the_histograms_of_one_of_two_runs_have_no_text_outside(browser: &Browser) {
    let toggle = "document.querySelector('#histogram-card .entry').click()";
    browser.run(toggle, json!([]));
    assert_eq!(
        browser.count("#histogram-card .entry[aria-pressed=false]"),
        1
    );
    assert_eq!(browser.count("[data-chart=histogram] text.aside"), 0);
    browser.run(toggle, json!([]));
}

fn the_response_accompanies_the_service(browser: &Browser) {
    assert_eq!(browser.count(&format!("{PERCENTILES} .line")), 9);
    assert_eq!(browser.count("[data-chart=histogram] .outline"), 1);
    let entry = "return document.querySelectorAll('#percentiles-card .entry')[1]";
    browser.click(browser.middle(entry), 1);
    let hidden = "#percentiles-card .entry[aria-pressed=false]";
    assert_eq!(browser.text(hidden), "seq1m-q8-read, response");
    assert_eq!(browser.count(&format!("{PERCENTILES} .line")), 8);
}

/// By a click, and by themselves on paper.
fn observations_unfold(browser: &Browser) {
    let open = |event: &str| {
        let script = "dispatchEvent(new Event(arguments[0]));
                      return document.querySelector('details.infos').open";
        browser.run(script, json!([event]))
    };
    assert_eq!(open("beforeprint"), true);
    assert_eq!(open("afterprint"), false);
    browser.click(
        browser.middle("return document.querySelector('details.infos > summary')"),
        1,
    );
    assert_eq!(open("none"), true);
}

fn a_model_shows_its_limits_and_no_processor(browser: &Browser) {
    assert_eq!(browser.count("[data-chart=time-iops]"), 1);
    assert_eq!(browser.count("[data-chart=time-cpu]"), 0);
    assert_eq!(browser.count("#machine"), 0);
    assert_eq!(browser.text("#summary .badge"), "simulated");
    let bounds = "#model .bounds .limits";
    let shown = || {
        let script = "return document.querySelector(arguments[0]).checkVisibility()";
        browser.run(script, json!([bounds]))
    };
    assert_eq!(shown(), false);
    browser.click(
        browser.middle("return document.querySelector('#model .bounds > summary')"),
        1,
    );
    assert_eq!(shown(), true);
}

fn two_records_stand_side_by_side(browser: &Browser) {
    assert_eq!(browser.count("[data-chart=suite] .bar"), 16);
    assert_eq!(browser.count(&format!("{PERCENTILES} .line")), 2);
    browser.click(
        browser.middle("return document.querySelector('#suite .entry')"),
        1,
    );
    assert_eq!(browser.count("[data-chart=suite] .bar"), 8);
}

/// A line a system and one for what was published; bars of one unit each; a curve and its overload.
fn a_study_draws_lines_and_bars(browser: &Browser) {
    let charts = "return [...document.querySelectorAll('#study .study-chart')].map((c) =>
                  [c.querySelectorAll('.line').length, c.querySelectorAll('.dot').length,
                   c.querySelectorAll('.bar').length, c.querySelectorAll('.published').length,
                   c.querySelectorAll('.tail').length, c.querySelectorAll('.bound').length])";
    let expected = json!([
        [3, 8, 0, 0, 1, 0],
        [0, 0, 2, 1, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [2, 4, 0, 0, 1, 1],
    ]);
    assert_eq!(browser.run(charts, json!([])), expected);
    let hover = |script: &str, text: &str| {
        browser.hover(browser.middle(script));
        let tip = "return [...document.querySelectorAll('.study-chart .tooltip:not([hidden])')]
                   .map((t) => t.textContent).join()";
        let tip = browser.run(tip, json!([]));
        assert!(
            tip.as_str().expect("a text").contains(text),
            "{text} in {tip}"
        );
    };
    let dots = "return document.querySelectorAll('.study-chart .dot')";
    hover(&format!("{dots}[1]"), "4 depth");
    hover(&format!("{dots}[1]"), "4,100 IOPS");
    hover(&format!("{dots}[11]"), "overload2.00 ms");
    let bar = "return document.querySelector('.study-chart .bar')";
    hover(bar, "11,760 to 12,240, 3 passes");
}

fn a_sweep_is_lines_and_a_map(browser: &Browser, assessment: &Assessment) {
    assert_eq!(
        browser.count("#suite"),
        0,
        "every case is a point of the sweep"
    );
    let lines = |figure: &str| browser.count(&format!("[data-chart='sweep-{figure}'] .line"));
    assert_eq!(["IOPS", "MB/s", "p50", "p99"].map(lines), [2; 4]);
    assert_eq!(browser.count("[data-chart=heat] .cell"), 8);
    browser.hover(browser.middle("return document.querySelectorAll('[data-chart=heat] .cell')[5]"));
    let tip = browser.text("[data-chart=heat] .tooltip");
    let moved = &assessment.rows[5].directions[0];
    assert!(
        tip.contains(&blocklab_units::count(moved.iops.value)),
        "{tip}"
    );
    assert!(tip.starts_with("block size 64 KiB, depth 8"), "{tip}");
}

fn what_is_looked_at_stands_in_the_link(browser: &Browser) {
    let link = browser.run(
        "const s = document.querySelector('#time-card select');
         s.selectedIndex = 3; s.dispatchEvent(new Event('change'));
         return location.hash",
        json!([]),
    );
    assert_eq!(link, "#summary~time=seq128k-q32-write");
    let chosen = browser.run(
        "return document.querySelector('#time-card select').value",
        json!([]),
    );
    assert_eq!(chosen, "seq128k-q32-write");
}

/// The story: a case in somebody's record was called `=cmd|…`, and the spreadsheet that opened the table
/// of its page ran it.
fn a_chart_and_a_table_can_be_taken_away(browser: &Browser, assessment: &Assessment) {
    let taken = "document.querySelector('#numbers tbody tr:last-child th').textContent = '=1+1';
                 const kept = []; const make = URL.createObjectURL;
                 URL.createObjectURL = (blob) => { kept.push(blob); return make(blob); };
                 HTMLAnchorElement.prototype.click = () => {};
                 document.querySelector(\"[data-chart='sweep-IOPS'] .take button\").click();
                 document.querySelector('#numbers .take button').click();
                 return Promise.all(kept.map((blob) => blob.text()))";
    let taken = browser.run(taken, json!([]));
    let [picture, table] = [0, 1].map(|place| taken[place].as_str().expect("a text"));
    assert!(
        picture.starts_with("<svg") && picture.contains("run 7f3a2c"),
        "{picture}"
    );
    assert!(!picture.contains("var(--"), "its colours are its own");
    let rate = rate(assessment.rows[0].directions[0].iops.value);
    let cell = if rate.contains(',') {
        format!("\"{rate}\"")
    } else {
        rate
    };
    let first = table.lines().nth(1).expect("a row");
    assert!(first.contains(&cell), "{cell} in {first}");
    let last = table.lines().last().expect("a row");
    assert!(last.starts_with("'=1+1,"), "{last}");
}

/// Where the browser does not let a page write the clipboard, Markdown is saved.
fn a_picture_and_markdown_can_be_taken_away(browser: &Browser) {
    let taken = "const make = URL.createObjectURL;
                 HTMLAnchorElement.prototype.click = () => {};
                 const picture = new Promise((done) => {
                   URL.createObjectURL = (blob) => {
                     if (blob.type === 'image/png') done(blob);
                     return make(blob);
                   };
                 });
                 document.querySelectorAll(\"[data-chart='sweep-IOPS'] .take button\")[1].click();
                 const button = document.querySelectorAll('#numbers .take button')[1];
                 const said = new Promise((done) => {
                   new MutationObserver(() => done(button.textContent)).observe(button, {childList: true});
                 });
                 button.click();
                 return Promise.all([picture.then((blob) => blob.arrayBuffer())
                   .then((bytes) => [...new Uint8Array(bytes).slice(0, 4), bytes.byteLength]), said])";
    let taken = browser.run(taken, json!([]));
    let bytes: Vec<u64> = serde_json::from_value(taken[0].clone()).expect("numbers");
    assert_eq!(bytes[..4], [0x89, 0x50, 0x4e, 0x47], "the head of a PNG");
    assert!(bytes[4] > 5_000, "{} bytes are no chart", bytes[4]);
    let said = taken[1].as_str().expect("a text");
    assert!(["Copied", "Saved"].contains(&said), "{said}");
}

fn a_zoom_comes_back_by_its_link(browser: &Browser) {
    let range = || {
        let script = "const s = document.querySelector(arguments[0] + ' svg').dataset;
                      return [s.low, s.high].map((place) => Number(place).toPrecision(5))";
        browser.run(script, json!([PERCENTILES]))
    };
    let whole = range();
    let (x, y) = browser.middle(&tick(PERCENTILES, "99"));
    browser.drag((x, y - 100.0), (x + 120.0, y - 100.0));
    let zoomed = range();
    assert_ne!(zoomed, whole);
    let link = browser.run("return location.href", json!([]));
    let link = link.as_str().expect("a link").to_owned();
    assert!(link.contains("~percentiles="), "{link}");
    browser.open("about:blank");
    browser.open(&link);
    assert_eq!(range(), zoomed);
}

/// The story: sixteen cases of the whole run had sixteen colours, and twelve passes of a case twelve
/// lines that nobody could tell apart.
fn no_frame_has_more_than_eight_colours(browser: &Browser) {
    let colours = "return [...document.querySelectorAll('.chart')].map((chart) =>
                   [chart.dataset.chart, new Set([...chart.querySelectorAll('.line, .bar, .ridge')]
                     .map((mark) => mark.style.stroke || mark.style.fill)).size])";
    let colours = browser.run(colours, json!([]));
    let colours: Vec<(String, u64)> = serde_json::from_value(colours).expect("names and numbers");
    assert!(colours.iter().any(|(name, _)| name == "run-iops"));
    for (name, number) in colours {
        assert!((1..=8).contains(&number), "{name}: {number}");
    }
    assert_eq!(browser.count("[data-chart=time-iops] .line"), 8);
    assert_eq!(browser.count("#time-card .entry[aria-pressed=false]"), 4);
    assert_eq!(browser.count("[data-chart=run-iops] .line"), 8);
}

/// The story: the legend stood on the page alone, and whoever got the picture saw eight colours
/// without a name, of a case without a name.
fn a_picture_says_what_its_colours_are(browser: &Browser) {
    let taken = "const kept = []; const make = URL.createObjectURL;
                 URL.createObjectURL = (blob) => { kept.push(blob); return make(blob); };
                 HTMLAnchorElement.prototype.click = () => {};
                 for (const name of arguments[0]) document.querySelector(`[data-chart=${name}] .take button`).click();
                 return Promise.all(kept.map((blob) => blob.text()))
                   .then((all) => all.map((text) => [...new DOMParser().parseFromString(text, 'image/svg+xml')
                     .querySelectorAll('text')].map((one) => one.textContent)))";
    let charts = json!([["percentiles", "time-iops", "run-p99", "suite"]]);
    let taken: Vec<Vec<String>> =
        serde_json::from_value(browser.run(taken, charts)).expect("texts of four pictures");
    for (picture, wanted) in taken.iter().zip([
        &["latency by percentile: every case", "seq1m-q8-read"][..],
        &["IOPS over time: seq1m-q8-read", "pass 5", "pass 12"],
        &["p99 latency over the whole run", "seq1m-q8-write"],
        &["suite: Large blocks: throughput", "read", "write"],
    ]) {
        for text in wanted {
            assert!(picture.iter().any(|it| it == text), "{text} in {picture:?}");
        }
        let cited = picture.iter().any(|it| it.contains("run 7f3a2c"));
        assert!(cited, "{picture:?}");
    }
}

/// The story: both panels of the suite had one place in the link, so that the second one opened with
/// the zoom of the first.
fn each_chart_keeps_its_own_zoom_in_the_link(browser: &Browser) {
    let ranges = || {
        let range = "return [...document.querySelectorAll('[data-chart=suite] svg')]
                       .map(({dataset: s}) => [s.low, s.high].map((place) => Number(place).toPrecision(5)))";
        browser.run(range, json!([]))
    };
    let whole = ranges();
    browser.run(
        "document.querySelector('[data-chart=suite] svg').dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))",
        json!([]),
    );
    let zoomed = ranges();
    assert!(zoomed[0] != whole[0] && zoomed[1] == whole[1], "{zoomed}");
    let link = browser.run("return location.href", json!([]));
    let link = link.as_str().expect("a link").to_owned();
    browser.open("about:blank");
    browser.open(&link);
    assert_eq!(ranges(), zoomed);
}

fn of_many_systems_eight_are_drawn(browser: &Browser) {
    let drawn = || browser.count("#picks .entry");
    assert_eq!(drawn(), 8);
    assert_eq!(browser.count(&format!("{PERCENTILES} .line")), 8);
    browser.run(
        "const s = document.querySelector('#picks select');
         s.selectedIndex = 1; s.dispatchEvent(new Event('change'))",
        json!([]),
    );
    assert_eq!(drawn(), 8, "another took the place of the first");
    assert_eq!(browser.count("#systems tbody tr"), 9);
    assert_eq!(browser.count("#summary h1"), 1, "no head for each");
    assert_eq!(browser.count(".opening"), 0, "no head for each");
}

fn nothing_was_said_or_fetched(browser: &Browser, own: &[&str]) {
    assert_eq!(browser.log("browser"), Vec::<Value>::new());
    let mut asked = Vec::new();
    for entry in browser.log("performance") {
        let text = entry["message"].as_str().expect("a text");
        let event: Value = serde_json::from_str(text).expect("JSON");
        let told = &event["message"]["params"];
        // The browser's own start page asks for things as well; only our pages count.
        let ours = told["documentURL"]
            .as_str()
            .is_some_and(|page| page.starts_with("file:"));
        if event["message"]["method"] == "Network.requestWillBeSent" && ours {
            asked.push(told["request"]["url"].as_str().expect("a text").to_owned());
        }
    }
    asked.retain(|address| !address.starts_with("data:"));
    assert_eq!(asked, own);
}
