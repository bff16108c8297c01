//! A browser for a test: the WebDriver protocol, spoken to chromedriver over HTTP/1.1.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1000",
];

/// Controls without a name or smaller than 24 px, landmarks that are called alike, ids that occur
/// twice, ticks that lie on each other, heads of columns without a word, levels of headings that are
/// left out.
const FAULTS: &str = "const faults = [];
    const say = (what, node) => faults.push(`${what}: ${node.outerHTML.slice(0, 160)}`);
    const all = (selector) => [...document.querySelectorAll(selector)].filter((node) =>
      node.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}));
    for (const node of all('a[href], button, select, input, summary, [tabindex]')) {
      const label = node.closest('label') || (node.id && document.querySelector(`label[for='${node.id}']`));
      const name = node.getAttribute('aria-label') || node.textContent || (label && label.textContent);
      if (!name || !name.trim()) say('no name', node);
      const {width, height} = node.getBoundingClientRect();
      // A link within a sentence is as high as its line.
      if (!node.matches('a:not(.doubted), .unseen') && Math.min(width, height) < 23.5) say('small', node);
    }
    const twice = (nodes, key) => nodes.filter((node, k) => nodes.findIndex((other) => key(other) === key(node)) < k);
    twice(all('[role=region], nav, [role=navigation]'), (node) => node.getAttribute('aria-label')).forEach((node) => say('called alike', node));
    twice([...document.querySelectorAll('[id]')], (node) => node.id).forEach((node) => say('an id twice', node));
    all('th').filter((node) => !node.textContent.trim()).forEach((node) => say('an empty head', node));
    for (const chart of all('.picture')) {
      const ticks = [...chart.querySelectorAll('.tick-y')].map((tick) => [tick, tick.getBoundingClientRect()]);
      ticks.sort(([, a], [, b]) => a.top - b.top);
      for (const [k, [tick, box]] of ticks.entries()) if (k && box.top < ticks[k - 1][1].bottom - 2.5) say('ticks overlap', tick);
    }
    const heads = all('h1, h2, h3, h4');
    heads.filter((node, k) => k && node.tagName[1] - heads[k - 1].tagName[1] > 1).forEach((node) => say('a level is left out', node));
    return faults;";

/// The headings below which nothing is shown where a browser runs no script.
const BARE_HEADINGS: &str = "const root = document.documentElement;
    root.classList.remove('scripted');
    const shown = (node) => node.checkVisibility() && node.getBoundingClientRect().height > 0;
    const all = [...document.querySelectorAll('main h2, main h3')].filter(shown);
    const bare = all.filter((heading, k) => {
      const next = all[k + 1];
      const between = [...document.querySelectorAll('main *')].filter((node) => shown(node) && node.textContent.trim()
        && !node.contains(heading) && !heading.contains(node)
        && heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING
        && (!next || (!node.contains(next) && next.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING)));
      return between.length === 0 && (!next || next.tagName <= heading.tagName);
    }).map((heading) => heading.textContent);
    root.classList.add('scripted');
    return bare;";

/// Whether one of the two programs is not there: then it says that the test is skipped.
pub fn is_missing() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = ["chromium", "chromedriver"]
        .iter()
        .all(|name| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()));
    if !is_installed {
        println!("skipped: chromium is not installed (apt-get install chromium chromium-driver)");
    }
    !is_installed
}

/// A headless Chromium with a profile of its own; ends with this value.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// A place in the window, in CSS pixels.
pub type Place = (f64, f64);

impl Browser {
    /// Starts chromedriver on a free port, and the browser behind it.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with further arguments of the browser.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn start_with(more: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let port = announced_port(&mut driver);
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let folder = browser._profile.path().display().to_string();
        let mut arguments: Vec<String> = ARGUMENTS.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={folder}"));
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let answer = browser.call("POST", "/session", &wanted);
        browser.session = format!("/session/{}", answer["sessionId"].as_str().expect("an id"));
        browser
    }

    /// Loads an address and waits for its end.
    pub fn open(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
        self.settle();
    }

    /// Waits until the page has drawn twice: an observer of sizes draws charts anew in the frame after
    /// the one that changed them, which hides what the pointer shows. On a busy machine that is later
    /// than the next call.
    fn settle(&self) {
        let script = "requestAnimationFrame(() => requestAnimationFrame(() => arguments[0](true)))";
        self.post("/execute/async", &json!({"script": script, "args": []}));
    }

    /// Runs a function body in the page.
    pub fn run(&self, script: &str, arguments: Value) -> Value {
        self.post(
            "/execute/sync",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// The text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0]).innerText";
        let text = self.run(script, json!([selector]));
        text.as_str().expect("a text").to_owned()
    }

    /// How many elements a selector finds.
    pub fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.run(script, json!([selector]))
            .as_u64()
            .expect("a count")
    }

    /// Middle of the element that a script returns, after scrolling it into the view.
    pub fn middle(&self, script: &str) -> Place {
        let script = format!(
            "document.documentElement.style.scrollBehavior = 'auto';
             const node = (() => {{ {script} }})();
             node.scrollIntoView({{block: 'center'}});
             const box = node.getBoundingClientRect();
             return [box.left + box.width / 2, box.top + box.height / 2];"
        );
        let place = self.run(&script, json!([]));
        let number = |index: usize| place[index].as_f64().expect("a number");
        (number(0), number(1))
    }

    /// Moves the mouse there.
    pub fn hover(&self, place: Place) {
        self.mouse(&[step(place)]);
    }

    /// Clicks there this many times.
    pub fn click(&self, place: Place, times: usize) {
        let mut steps = vec![step(place)];
        for _ in 0..times {
            steps.push(json!({"type": "pointerDown", "button": 0}));
            steps.push(json!({"type": "pointerUp", "button": 0}));
        }
        self.mouse(&steps);
    }

    /// Presses at one place and lets go at the other.
    pub fn drag(&self, from: Place, to: Place) {
        let half = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        self.mouse(&[
            step(from),
            json!({"type": "pointerDown", "button": 0}),
            step(half),
            step(to),
            json!({"type": "pointerUp", "button": 0}),
        ]);
    }

    /// Presses and releases a key; WebDriver has code points for those without a letter.
    pub fn key(&self, key: char) {
        let value = key.to_string();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": value},
                {"type": "keyUp", "value": value},
            ]}]}),
        );
    }

    fn mouse(&self, steps: &[Value]) {
        self.post(
            "/actions",
            &json!({"actions": [{
                "type": "pointer", "id": "mouse",
                "parameters": {"pointerType": "mouse"}, "actions": steps,
            }]}),
        );
    }

    /// Pretends a screen of this width.
    pub fn set_width(&self, width: u32) {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": {
                "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": true,
            }}),
        );
        self.settle();
    }

    /// Pretends that the system has dark colours, or light ones.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn set_colours(&self, scheme: &str) {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": "Emulation.setEmulatedMedia", "params": {
                "features": [{"name": "prefers-color-scheme", "value": scheme}],
            }}),
        );
    }

    /// Pretends that the page is on paper.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn print_media(&self) {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": "Emulation.setEmulatedMedia", "params": { "media": "print" }}),
        );
    }

    /// What keeps readers out who do not see the page, or do not hit small things: each with its
    /// element. Empty where all is well.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn faults(&self) -> Vec<String> {
        serde_json::from_value(self.run(FAULTS, json!([]))).expect("texts")
    }

    /// The headings below which nothing is shown where a browser runs no script.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn bare_headings(&self) -> Vec<String> {
        serde_json::from_value(self.run(BARE_HEADINGS, json!([]))).expect("texts")
    }

    /// What the console and the network said since the last call: `browser` or `performance`.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.post("/se/log", &json!({ "type": kind }));
        entries.as_array().expect("a list").clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer =
            exchange(self.port, method, path, &body.to_string()).expect("chromedriver answers");
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON from chromedriver");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{method} {path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser; then the driver, both of which are ours.
        let _ = exchange(self.port, "DELETE", &self.session, "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn step((x, y): Place) -> Value {
    json!({"type": "pointerMove", "duration": 0, "x": x.round(), "y": y.round()})
}

/// The port that chromedriver tells when it is ready.
fn announced_port(driver: &mut Child) -> u16 {
    let output = driver.stdout.take().expect("a pipe");
    for line in BufReader::new(output).lines() {
        let line = line.expect("text");
        if let Some((_, port)) = line.split_once("successfully on port ") {
            return port.trim_end_matches('.').parse().expect("a port");
        }
    }
    panic!("chromedriver ended without a port");
}

/// One request on a connection of its own; the body of the answer.
fn exchange(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(String::from_utf8(bytes).expect("UTF-8 from chromedriver"))
}
