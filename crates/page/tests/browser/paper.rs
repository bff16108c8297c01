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
    if !webdriver::is_installed() {
        println!("skipped: chromium is not installed (apt-get install chromium chromium-driver)");
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
    let heights =
        "return [...document.querySelectorAll('#numbers tbody tr')].map((row) => row.offsetHeight)";
    let heights: Vec<u64> =
        serde_json::from_value(browser.run(heights, json!([]))).expect("heights");
    let tallest = heights.iter().max().expect("rows");
    assert!(*tallest <= 30, "a row is {tallest} px high");
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
