//! A page of five hundred cases on paper: few sheets, all figures, nothing that waits for a pointer.

use std::fs;
use std::process::{Command, Stdio};

use blocklab_record::Origin;
use serde_json::json;
use tempfile::TempDir;

use super::webdriver::{self, Browser};
use super::{address, sample};

/// As many as a colleague takes along.
const MOST_SHEETS: usize = 30;

/// The story: a page of 500 cases filled 93 sheets, most of them with the plan, and the table of all
/// figures was on none.
#[test]
fn five_hundred_cases_fit_thirty_sheets() {
    if webdriver::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    sample::repeat(&mut record, &mut assessment, 63);
    record.requested.native = "[[case]]\n".repeat(2_500);
    let rows = assessment.rows.len() as u64;
    assert!(rows >= 500, "{rows}");
    let page = address(&folder, "large.html", &[(&record, &assessment)]);

    let sheets = sheets(&folder, &page);
    assert!((2..=MOST_SHEETS).contains(&sheets), "{sheets} sheets");

    let browser = Browser::start();
    browser.open(&page);
    browser.print_media();
    browser.run("dispatchEvent(new Event('beforeprint'))", json!([]));
    let seen = |selector: &str| {
        let script = "return [...document.querySelectorAll(arguments[0])]
            .filter((it) => it.checkVisibility({contentVisibilityAuto: true})).length";
        let seen = browser.run(script, json!([selector]));
        seen.as_u64().expect("a count")
    };
    assert_eq!(seen("#numbers tbody tr"), rows, "the table unfolds");
    assert_eq!(seen("#workload .workload"), 0, "nobody types it in");
    assert_eq!(seen("#workload .paper-only"), 1, "but it is said");
    assert_eq!(
        seen("[data-chart^=time-], [data-chart=percentiles], select, .theme"),
        0,
        "nothing shows the first few of many"
    );
    assert!(tallest_row(&browser) <= 30);
    names_keep_their_room_beside_two_latencies(&browser, &folder);
}

/// The story: beside service and response latency of two runs, the names of cases had the width of a
/// letter on paper, and the table filled eighty sheets.
fn names_keep_their_room_beside_two_latencies(browser: &Browser, folder: &TempDir) {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::pace(&mut assessment);
    let (other, mut better) = sample::run("91be04c", 1.31);
    sample::pace(&mut better);
    browser.open(&address(
        folder,
        "paced.html",
        &[(&record, &assessment), (&other, &better)],
    ));
    browser.set_width(720);
    browser.print_media();
    browser.run("dispatchEvent(new Event('beforeprint'))", json!([]));
    assert!(tallest_row(browser) <= 40);
    let ends = "const right = (it) => document.querySelector(it).getBoundingClientRect().right;
        return right('#numbers table') - right('main')";
    let over = browser.run(ends, json!([]));
    let over = over.as_f64().expect("a number");
    assert!(over < 1.0, "{over} px of the table lie beyond the paper");
}

/// In the table of all numbers, in pixels.
fn tallest_row(browser: &Browser) -> u64 {
    let script = "return Math.max(...[...document.querySelectorAll('#numbers tbody tr')].map((row) => row.offsetHeight))";
    let tallest = browser.run(script, json!([]));
    tallest.as_u64().expect("a height")
}

/// Sheets of A4 or Letter, as the browser prints a page by itself.
fn sheets(folder: &TempDir, page: &str) -> usize {
    let file = folder.path().join("large.pdf");
    let profile = folder.path().join("profile");
    let done = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--print-to-pdf={}", file.display()))
        .arg(page)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("chromium starts");
    assert!(done.success(), "{done}");
    let bytes = fs::read(file).expect("a PDF");
    // The list of all of them is of type Pages.
    let mark = b"/Type /Page";
    let ends = bytes.windows(mark.len() + 1);
    ends.filter(|part| part.starts_with(mark) && part[mark.len()] != b's')
        .count()
}
