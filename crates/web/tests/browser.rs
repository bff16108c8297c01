//! The pages in a real browser: nothing on the console, no request elsewhere, a run that lasts, a
//! narrow screen, dark colours, keys alone; and a page of somebody else, which gets nothing.

mod stored;
#[allow(dead_code, reason = "the tests of pages drag, too")]
#[path = "../../page/tests/webdriver/mod.rs"]
mod webdriver;

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use blocklab_compare::history::history;
use blocklab_store::Store;
use blocklab_web::{Built, ENTER_PATH, More, Server, Simulator, Token, View};
use serde_json::{Value, json};
use stored::{FIRST, GOES_ON, SECOND, begin, frame, run};
use webdriver::Browser;

/// The history as the command gives it, of runs of its own.
const HISTORY: View = View {
    path: "history",
    name: "History",
    lead: "Every load in its place.",
    fields: &[],
    build: |_, _| {
        let found = history(&stored::sample::history_runs());
        Ok(vec![Built {
            body: blocklab_page::history_section(&found),
            script: Some(blocklab_page::history_script()),
            json: serde_json::to_string(&found).expect("JSON"),
        }])
    },
};

struct Lab {
    store: Store,
    /// `http://127.0.0.1:PORT`
    base: String,
    port: u16,
    token: String,
    folder: tempfile::TempDir,
}

fn lab() -> Option<Lab> {
    if webdriver::is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path().join("runs"));
    for (id, factor) in [(FIRST, 1.0), (SECOND, 1.3)] {
        store.save(&run(id, factor)).expect("saved");
    }
    let token = Token::draw().expect("random bits");
    let text = token.text().to_owned();
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::listen(store.clone(), local, token).expect("a free port");
    let port = server.address().port();
    // It ends with the test.
    thread::spawn(move || {
        server.serve(More {
            views: vec![HISTORY],
            simulator: Simulator {
                studies: Vec::new,
                simulate: |_, _| Err("nothing is simulated here".to_owned()),
            },
        })
    });
    Some(Lab {
        store,
        base: format!("http://127.0.0.1:{port}"),
        port,
        token: text,
        folder,
    })
}

impl Lab {
    /// Opens the address that `serve` prints, and waits for the session.
    fn enter(&self, browser: &Browser) {
        browser.open(&format!("{}{ENTER_PATH}#t={}", self.base, self.token));
        until(
            browser,
            "return location.pathname === '/' && document.querySelector('.runs') !== null",
        );
    }
}

/// Waits until a script says so.
#[track_caller]
fn until(browser: &Browser, script: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while browser.run(script, json!([])) != json!(true) {
        assert!(Instant::now() < end, "never: {script}");
        thread::yield_now();
    }
}

#[track_caller]
fn it_fits_a_narrow_screen(browser: &Browser) {
    browser.set_width(360);
    let width = browser.run("return document.documentElement.scrollWidth", json!([]));
    assert_eq!(width, 360, "it scrolls in one direction only");
    assert_eq!(browser.faults(), Vec::<String>::new());
    browser.set_width(1280);
}

fn background(browser: &Browser) -> String {
    let script = "return getComputedStyle(document.body).backgroundColor";
    let color = browser.run(script, json!([]));
    color.as_str().expect("a colour").to_owned()
}

/// Neither a word on the console nor a request to somebody else.
#[track_caller]
fn nothing_was_said_or_fetched_elsewhere(browser: &Browser, base: &str) {
    let said = browser.log("browser");
    assert_eq!(said, Vec::<Value>::new());
    for entry in browser.log("performance") {
        let text = entry["message"].as_str().expect("a message");
        let message: Value = serde_json::from_str(text).expect("JSON");
        let message = &message["message"];
        if message["method"] == "Network.requestWillBeSent" {
            let address = message["params"]["request"]["url"]
                .as_str()
                .expect("an address");
            let is_ours = address.starts_with(base)
                || ["data:", "chrome:"]
                    .iter()
                    .any(|own| address.starts_with(own));
            assert!(is_ours, "{address}");
        }
    }
}

#[test]
fn a_reader_goes_through_the_pages() {
    let Some(lab) = lab() else { return };
    let browser = Browser::start();
    lab.enter(&browser);
    assert_eq!(
        browser.run("return location.hash", json!([])),
        "",
        "the token is gone"
    );
    assert_eq!(
        browser.run("return document.cookie", json!([])),
        "",
        "no script sees the session"
    );
    assert_eq!(browser.count(".runs tbody tr"), 2);
    assert_eq!(browser.count("svg.spark path"), 2);
    it_fits_a_narrow_screen(&browser);
    let light = background(&browser);
    browser.set_colours("dark");
    assert_ne!(background(&browser), light);
    browser.set_colours("light");

    // With keys alone: two boxes, then the button below them.
    browser.run("document.querySelector('.runs input').focus()", json!([]));
    browser.key(' ');
    browser.key('\u{e004}');
    browser.key('\u{e004}');
    browser.key(' ');
    assert_eq!(browser.count(".runs input:checked"), 2);
    browser.key('\u{e004}');
    browser.key('\u{e004}');
    browser.key('\u{e007}');
    until(
        &browser,
        "return document.querySelector('#comparison') !== null",
    );
    let coloured = browser.count(".swatch.dye-1");
    assert!(coloured > 0, "the colours of the runs");
    it_fits_a_narrow_screen(&browser);

    browser.open(&format!("{}/run/{FIRST}", lab.base));
    until(
        &browser,
        "return document.querySelector('[data-chart=percentiles] .line') !== null",
    );
    // The story: a class of these pages had the name of one of the report, and the dot before "p99" was
    // on a line of its own.
    let script = "return [...document.querySelectorAll('.source .beside')]
                  .every((node) => getComputedStyle(node).display === 'inline')";
    assert_eq!(browser.run(script, json!([])), true);
    it_fits_a_narrow_screen(&browser);
    hovering_shows_what_the_json_says(&browser, &lab);
    for place in ["/studies", "/?q=nothing"] {
        browser.open(&format!("{}{place}", lab.base));
        assert_eq!(browser.count("h1"), 1, "{place}");
        it_fits_a_narrow_screen(&browser);
    }
    nothing_was_said_or_fetched_elsewhere(&browser, &lab.base);
}

/// A bar of the suite under the pointer shows the figure that the JSON has.
fn hovering_shows_what_the_json_says(browser: &Browser, lab: &Lab) {
    let bar = browser.middle("return document.querySelectorAll('[data-chart=suite] .bar')[2]");
    browser.hover(bar);
    let tip = browser.text("[data-chart=suite] .tooltip");
    browser.open(&format!("{}/run/{FIRST}.json", lab.base));
    let summary: Value = serde_json::from_str(&browser.text("body")).expect("JSON");
    let rows = summary["rows"].as_array().expect("rows");
    let shown: Vec<String> = rows
        .iter()
        .filter_map(|row| row["bytes_per_s"]["value"].as_f64())
        .map(|bytes| format!("{} MB/s", blocklab_units::rate(bytes / 1e6)))
        .collect();
    assert!(
        shown.iter().any(|figure| tip.contains(figure)),
        "{tip}: {shown:?}"
    );
}

#[test]
fn a_run_that_lasts_is_seen_until_it_is_done() {
    let Some(lab) = lab() else { return };
    let mut spool = begin(&lab.store);
    spool.frame(&frame(1)).expect("written");
    let browser = Browser::start();
    lab.enter(&browser);
    assert_eq!(browser.text(".runs .running"), "running");
    let live = format!("{}/live/{GOES_ON}", lab.base);
    browser.open(&live);
    let has_seen = |frames: u64| {
        let script =
            format!("return document.getElementById('live').dataset.frames === '{frames}'");
        until(&browser, &script);
    };
    has_seen(1);
    for second in 2..=3 {
        spool.frame(&frame(second)).expect("written");
        has_seen(second);
    }
    let state = browser.text("#state");
    assert!(state.starts_with("randread, pass 1: 3 s of 6 s"), "{state}");
    assert_eq!(browser.text("#in_flight"), "32");
    // Loaded anew it has no gap.
    browser.open(&live);
    has_seen(3);
    let steps = "return document.querySelector('[data-chart=rate] .line').getAttribute('d').match(/H/g).length";
    assert_eq!(browser.run(steps, json!([])), 3);
    it_fits_a_narrow_screen(&browser);
    let light = background(&browser);
    browser.set_colours("dark");
    assert_ne!(background(&browser), light);
    browser.set_colours("light");
    keys_alone_read_a_second(&browser);
    lab.store.save(&run(GOES_ON, 1.0)).expect("kept");
    drop(spool);
    until(
        &browser,
        "return document.getElementById('live').dataset.state === 'done'",
    );
    assert_eq!(browser.text("#state"), "done");
    let result = browser.middle("return document.querySelector('#result a')");
    browser.click(result, 1);
    until(
        &browser,
        "return document.querySelector('#summary') !== null",
    );
    nothing_was_said_or_fetched_elsewhere(&browser, &lab.base);
}

/// From the top of the page, with Tab alone, to the first chart, whose seconds the arrows read.
fn keys_alone_read_a_second(browser: &Browser) {
    browser.run(
        "document.activeElement.blur(); window.scrollTo(0, 0)",
        json!([]),
    );
    let is_reached = "return document.activeElement.closest('[data-chart=rate]') !== null";
    let reached = (0..20).any(|_| {
        browser.key('\u{e004}');
        browser.run(is_reached, json!([])) == json!(true)
    });
    assert!(reached, "twenty times Tab");
    browser.key('\u{e014}');
    let said = browser.text("[data-chart=rate] .unseen");
    assert!(
        said.starts_with("0 s – 1 s: ") && said.contains("IOPS"),
        "{said}"
    );
}

/// A page that somebody saves is a file that works: it draws its charts, asks nobody for anything, and
/// says nothing on the console.
#[test]
fn a_saved_page_works_as_a_file() {
    let Some(lab) = lab() else { return };
    let mut spool = begin(&lab.store);
    spool.frame(&frame(1)).expect("written");
    let browser = Browser::start();
    lab.enter(&browser);
    let pages = [
        ("/", ".runs svg.spark path"),
        (&*format!("/run/{FIRST}"), "[data-chart=percentiles] .line"),
        (
            &*format!("/compare?runs={FIRST},{SECOND}"),
            "[data-chart=forest] .ratio",
        ),
        ("/history", "[data-chart=history] .dot"),
        (&*format!("/live/{GOES_ON}"), "#state"),
    ]
    .map(|(place, drawn)| (saved(&browser, &lab, place), place.to_owned(), drawn));
    let _ = (browser.log("browser"), browser.log("performance"));
    for (page, place, drawn) in pages {
        let file = lab.folder.path().join("saved.html");
        std::fs::write(&file, page).expect("written");
        let address = format!("file://{}", file.display());
        browser.open(&address);
        assert!(browser.count(drawn) > 0, "{place}: {drawn}");
        nothing_was_said_or_fetched_elsewhere(&browser, &address);
    }
}

/// The bytes that the server sends for a page.
fn saved(browser: &Browser, lab: &Lab, place: &str) -> String {
    let script = "return fetch(arguments[0]).then((answer) => answer.text())";
    let page = browser.run(script, json!([format!("{}{place}", lab.base)]));
    page.as_str().expect("a page").to_owned()
}

/// The status of each answer that the browser got, with its address.
fn answers(browser: &Browser) -> Vec<(String, u64)> {
    let entries = browser.log("performance").into_iter();
    let messages = entries.filter_map(|entry| {
        let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
        let message = &message["message"];
        let response = &message["params"]["response"];
        let is_answer = message["method"] == "Network.responseReceived";
        let address = response["url"].as_str()?.to_owned();
        Some((address, response["status"].as_u64()?)).filter(|_| is_answer)
    });
    messages.collect()
}

/// A page of somebody else, whose name leads to this machine, reads nothing: not by its own name, and
/// not by ours, even in the browser that has a session.
#[test]
fn a_page_of_somebody_else_gets_nothing() {
    let Some(lab) = lab() else { return };
    let browser = Browser::start_with(&["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
    lab.enter(&browser);
    let _ = answers(&browser);
    let evil = format!("http://evil.test:{}", lab.port);
    browser.open(&format!("{evil}/runs.json"));
    assert_eq!(answers(&browser), [(format!("{evil}/runs.json"), 403)]);
    assert!(!browser.text("body").contains("k3f"));

    // From a page that may connect anywhere.
    browser.open("data:text/html,<title>evil</title>");
    let script = "return fetch(arguments[0], arguments[1]).then((answer) => answer.type + answer.status, () => 'refused')";
    for options in [
        json!({"credentials": "include"}),
        json!({"credentials": "include", "mode": "no-cors"}),
    ] {
        let got = browser.run(script, json!([format!("{}/runs.json", lab.base), options]));
        assert!(got == "refused" || got == "opaque0", "{got}");
    }
    let refused = answers(&browser);
    assert!(
        refused
            .iter()
            .all(|(address, status)| address.starts_with("data:") || *status == 403),
        "{refused:?}"
    );
    // A link from there is refused, too; by hand the user gets in.
    browser.run("location.href = arguments[0]", json!([lab.base]));
    until(
        &browser,
        "return document.body !== null && document.body.innerText.includes('pages of others')",
    );
    browser.open(&lab.base);
    assert_eq!(browser.count(".runs tbody tr"), 2);
}
