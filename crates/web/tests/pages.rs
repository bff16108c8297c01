//! Every page and its JSON, and what is refused, without a socket.

mod stored;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use blocklab_report::document::{Document, Part};
use blocklab_store::Store;
use blocklab_web::{App, Built, Entrance, Field, More, Query, Simulator, StoredRuns, Token, View};
use serde_json::Value;
use stored::{FIRST, GOES_ON, SECOND, begin, frame, run};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const HOST: &str = "127.0.0.1:7411";

struct Lab {
    store: Store,
    app: App,
    _folder: TempDir,
}

/// What came back.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

const VIEW: View = View {
    path: "catalog",
    name: "Catalog",
    lead: "What is sold.",
    fields: &[Field {
        name: "address",
        label: "Volume",
        example: "gp3:1TiB",
        times: 2,
    }],
    build,
};

fn build(_: &Store, query: &Query) -> Result<Vec<Built>, String> {
    let built = query.iter().map(|(_, text)| {
        if text == "bad" {
            return Err("no volume <bad>".to_owned());
        }
        let document = Document {
            name: text.clone(),
            parts: vec![Part::Prose("a `sheet`".to_owned())],
        };
        let json = format!("{{\"address\": \"{text}\"}}\n");
        Ok(Built::document(&document, json))
    });
    built.collect()
}

fn more() -> More {
    More {
        views: vec![VIEW],
        simulator: Simulator {
            studies: || vec![("quick", "A first look".to_owned())],
            simulate: |study, address| match address {
                "gp3:1TiB" => Ok(run("20261130-000000-k3f", 1.0)),
                other => Err(format!("{study} knows no <{other}>")),
            },
        },
    }
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path().join("runs"));
        for (id, factor) in [(FIRST, 1.0), (SECOND, 1.3)] {
            store.save(&run(id, factor)).expect("saved");
        }
        let token = |text| Token::from_text(text).expect("a token");
        let entrance = Entrance {
            address: SocketAddr::from(([127, 0, 0, 1], 7411)),
            token: token(TOKEN),
            session: token("fedcba9876543210fedcba9876543210"),
            one_time_token: std::sync::Arc::default(),
        };
        Self {
            app: App::new(StoredRuns::new(store.clone()), entrance, more()),
            store,
            _folder: folder,
        }
    }

    fn ask(&self, method: &str, path: &str, lines: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let response = self.app.answer(request).await;
            let (head, body) = response.into_parts();
            let bytes = to_bytes(body, 16 << 20).await.expect("a body that ends");
            Answer {
                status: head.status,
                headers: head.headers,
                text: String::from_utf8(bytes.to_vec()).expect("text"),
            }
        })
    }

    /// As the user's own browser asks.
    fn get(&self, path: &str) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        self.ask("GET", path, &[("host", HOST), ("authorization", &bearer)])
    }

    #[track_caller]
    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    #[track_caller]
    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).expect("JSON")
    }
}

#[test]
fn the_runs_are_listed_with_their_pictures() {
    let lab = Lab::new();
    let page = lab.page("/");
    for text in [FIRST, SECOND, "class=\"spark\"", "2 runs", "name=\"run\""] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.find(SECOND) < page.find(FIRST), "the newest first");
    let json = lab.json("/runs.json");
    assert_eq!(json["runs_format"], 1);
    assert_eq!(json["runs"][0]["id"], SECOND);
    let shown = blocklab_units::count(
        json["runs"][0]["fastest"]["iops"]
            .as_f64()
            .expect("a figure"),
    );
    assert!(page.contains(&shown), "{shown}");
}

/// The story: a store was moved away, and the page said that there were no runs yet.
#[test]
fn a_page_without_runs_names_the_store() {
    let lab = Lab::new();
    fs::remove_dir_all(lab.store.root()).expect("removed");
    let page = lab.page("/");
    let words = format!(
        "There are no runs in {} yet: <code>blocklab run</code> makes one.",
        lab.store.root().display()
    );
    assert!(page.contains(&words), "{page}");
}

#[test]
fn filters_leave_what_fits() {
    let lab = Lab::new();
    let fitting = |query: &str| lab.json(&format!("/runs.json?{query}"))["fitting"].clone();
    assert_eq!(fitting("q=20261121"), 1);
    assert_eq!(fitting("q=nothing"), 0);
    assert_eq!(fitting("status=complete"), 2);
    assert_eq!(fitting("status=failed"), 0);
    assert_eq!(fitting("page=99&unknown=1&q="), 2);
    let page = lab.page("/?q=%3Cb%3E%22&study=%3Cscript%3E");
    assert!(
        !page.contains("<b>") && !page.contains("<script>alert"),
        "typed text is text"
    );
    assert!(page.contains("&lt;b&gt;&quot;"));
}

#[test]
fn a_run_is_its_report() {
    let lab = Lab::new();
    let page = lab.page(&format!("/run/{FIRST}"));
    let record = lab.store.load(FIRST).expect("the run").record;
    let assessment = blocklab_findings::assess(&record);
    let report = blocklab_page::runs(&[(&record, &assessment)]);
    let (_, body) = report.split_once("<main id=\"main\">").expect("a body");
    assert!(page.contains(body), "all of it is the same");
    let json = lab.page(&format!("/run/{FIRST}.json"));
    assert_eq!(
        json,
        blocklab_report::json::summary(&record, &assessment, None)
    );
}

#[test]
fn runs_are_compared() {
    let lab = Lab::new();
    for query in [
        format!("runs={FIRST},{SECOND}"),
        format!("run={SECOND}&run={FIRST}"),
    ] {
        let page = lab.page(&format!("/compare?{query}"));
        assert!(page.contains("id=\"comparison\""), "{query}");
        let json = lab.json(&format!("/compare.json?{query}"));
        assert_eq!(json["comparison_format"], 2);
        assert_eq!(json["runs"][0]["id"], FIRST, "the oldest is the baseline");
    }
    for query in [
        "",
        "?run=",
        &format!("?run={FIRST}&run={FIRST}"),
        "?runs=../x,../y",
    ] {
        let answer = lab.get(&format!("/compare{query}"));
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[test]
fn a_run_that_lasts_is_followed() {
    let lab = Lab::new();
    let mut spool = begin(&lab.store);
    for second in 1..=3 {
        spool.frame(&frame(second)).expect("written");
    }
    let page = lab.page(&format!("/live/{GOES_ON}"));
    assert!(page.contains("data-state=\"running\""), "{page}");
    assert!(
        page.contains("randread, pass 1: 3 s of 6 s; measurement 1 of 3"),
        "{page}"
    );
    let json = lab.json(&format!("/live/{GOES_ON}.json"));
    assert_eq!(json["frames"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["is_running"], true);
    let words = json["words"].as_object().expect("texts");
    for (place, text) in words {
        assert_ne!(text, "", "{place} has an empty tile");
    }
    assert!(lab.page("/metrics").contains("blocklab_"));
    assert!(lab.page("/").contains(&format!("/live/{GOES_ON}")));
    drop(spool);
    assert_eq!(
        lab.json(&format!("/live/{GOES_ON}.json"))["is_running"],
        false
    );
    assert_eq!(lab.page("/metrics"), "");
    let killed = lab.page(&format!("/run/{GOES_ON}"));
    assert!(killed.contains("killed before its end"));
}

/// The events behind the last one that was seen; of a run that has ended, its end.
#[test]
fn events_go_on_behind_the_last_one() {
    let lab = Lab::new();
    let mut spool = begin(&lab.store);
    spool.frame(&frame(1)).expect("written");
    spool.frame(&frame(2)).expect("written");
    // It is not held any longer, so that the stream ends.
    drop(spool);
    let bearer = format!("Bearer {TOKEN}");
    let lines = [
        ("host", HOST),
        ("authorization", &*bearer),
        ("last-event-id", "0-1"),
    ];
    let answer = lab.ask("GET", &format!("/live/{GOES_ON}/events"), &lines);
    assert_eq!(answer.headers[header::CONTENT_TYPE], "text/event-stream");
    assert!(
        answer
            .text
            .ends_with("event: done\ndata: {\"is_kept\":true,\"words\":\"done\"}\n\n"),
        "{}",
        answer.text
    );
    let ended = lab.get(&format!("/live/{FIRST}/events"));
    assert!(ended.text.contains("event: done"), "{}", ended.text);
    assert!(
        lab.page(&format!("/live/{FIRST}"))
            .contains("id=\"summary\""),
        "its report"
    );
}

/// Whatever is asked, and however it is answered.
#[test]
fn every_answer_has_the_policy() {
    let lab = Lab::new();
    let answers = [
        lab.get("/"),
        lab.get(&format!("/run/{FIRST}")),
        lab.get("/nowhere"),
        lab.ask("GET", "/", &[("host", HOST)]),
        lab.ask("GET", "/", &[("host", "evil.test:7411")]),
        lab.ask("POST", "/", &[("host", HOST)]),
    ];
    for answer in answers {
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .expect("text");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'sha256-"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.headers[name], value);
        }
        let mut names = answer.headers.keys();
        assert!(!names.any(|name| name.as_str().starts_with("access-control")));
    }
}

#[test]
fn what_may_not_come_in_learns_nothing() {
    let lab = Lab::new();
    let status = |method: &str, path: &str, lines: &[(&str, &str)]| {
        let answer = lab.ask(method, path, lines);
        assert!(!answer.text.contains("k3f"), "{path}: {}", answer.text);
        answer.status.as_u16()
    };
    let bearer = format!("Bearer {TOKEN}");
    let token = ("authorization", &*bearer);
    for path in [
        "/",
        "/runs.json",
        "/run/20261120-190142-k3f",
        "/metrics",
        "/nowhere",
    ] {
        assert_eq!(status("GET", path, &[("host", HOST)]), 401, "{path}");
        assert_eq!(
            status("GET", path, &[("host", "evil.test:7411"), token]),
            403,
            "{path}"
        );
        let origin = [("host", HOST), token, ("origin", "http://evil.test:7411")];
        assert_eq!(status("GET", path, &origin), 403, "{path}");
        let site = [("host", HOST), token, ("sec-fetch-site", "cross-site")];
        assert_eq!(status("GET", path, &site), 403, "{path}");
        assert_eq!(
            status("DELETE", path, &[("host", HOST), token]),
            405,
            "{path}"
        );
    }
    let events = format!("/live/{FIRST}/events");
    let site = [("host", HOST), token, ("sec-fetch-site", "same-site")];
    assert_eq!(status("GET", &events, &site), 403);
}

/// The address that is printed opens a session, and its token is in no request line.
#[test]
fn the_token_opens_a_session() {
    let lab = Lab::new();
    let refused = lab.ask("GET", "/session", &[("host", HOST)]);
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let opened = lab.get("/session");
    let cookie = opened.headers[header::SET_COOKIE].to_str().expect("text");
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains(TOKEN), "{cookie}");
    let pair = cookie.split(';').next().expect("a pair");
    let answer = lab.ask("GET", "/", &[("host", HOST), ("cookie", pair)]);
    assert_eq!(answer.status, StatusCode::OK);
    let head = lab.ask("HEAD", "/", &[("host", HOST), ("cookie", pair)]);
    assert_eq!((head.status, &*head.text), (StatusCode::OK, ""));
}

#[test]
fn no_address_leads_out_of_the_store() {
    let lab = Lab::new();
    let root = lab.store.root();
    let elsewhere = root.parent().expect("a folder").join("20261123-190142-k3f");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::copy(
        root.join(FIRST).join("record.json"),
        elsewhere.join("record.json"),
    )
    .expect("a record");
    symlink(&elsewhere, root.join("20261123-190142-k3f")).expect("a link");
    let linked = root.join("20261124-190142-k3f");
    fs::create_dir(&linked).expect("a folder");
    symlink(elsewhere.join("record.json"), linked.join("record.json")).expect("a link");
    for (id, status) in [
        ("20261123-190142-k3f", 404),
        ("20261124-190142-k3f", 404),
        ("20991231-235959-zzz", 404),
        ("latest", 400),
        ("..", 400),
        ("%2e%2e", 400),
        ("..%2f..%2fetc%2fpasswd", 400),
        ("%2fetc%2fpasswd", 400),
        ("20261120-190142-k3f%00", 400),
        ("20261120-190142-k3f%2f..", 400),
        ("20261120-190142-k3f.partial", 400),
        ("20261120-190142-K3F", 400),
        ("%ff%fe", 400),
    ] {
        for place in ["run", "live"] {
            let answer = lab.get(&format!("/{place}/{id}"));
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{place} {id}: {}",
                answer.text
            );
            assert!(!answer.text.contains("root:x:"), "{id}");
        }
    }
    assert_eq!(lab.get("/run/../run/x").status, StatusCode::NOT_FOUND);
    assert_eq!(lab.get("//etc/passwd").status, StatusCode::NOT_FOUND);
}

/// Records come from anybody: their texts are texts.
#[test]
fn names_with_markup_are_text() {
    let lab = Lab::new();
    let mut record = run("20261125-190142-k3f", 1.0);
    "<script>alert(1)</script>\u{1b}[31m</title>".clone_into(&mut record.requested.name);
    "<img src=x onerror=alert(1)>".clone_into(&mut record.targets[0].path);
    "</script><script>alert(2)</script>".clone_into(&mut record.measurements[0].case);
    lab.store.save(&record).expect("saved");
    for path in [
        "/",
        "/run/20261125-190142-k3f",
        "/compare?runs=20261125-190142-k3f,20261120-190142-k3f",
    ] {
        let page = lab.page(path);
        for markup in ["<script>alert", "<img src=x", "\u{1b}"] {
            assert!(!page.contains(markup), "{path}: {markup}");
        }
    }
}

#[test]
fn views_stand_beside_each_other() {
    let lab = Lab::new();
    let page = lab.page("/catalog?address=gp2&address=gp3");
    for text in [
        "<h2>gp2</h2>",
        "<h2>gp3</h2>",
        "a <code>sheet</code>",
        "class=\"side-by-side\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(lab.json("/catalog.json?address=gp2")["address"], "gp2");
    assert_eq!(
        lab.json("/catalog.json?address=a&address=b")["shown"][1]["address"],
        "b"
    );
    assert!(
        lab.page("/catalog?address=bad")
            .contains("no volume &lt;bad&gt;")
    );
    assert_eq!(
        lab.get("/catalog.json?address=bad").status,
        StatusCode::BAD_REQUEST
    );
}

#[test]
fn a_study_is_simulated_on_the_spot() {
    let lab = Lab::new();
    assert!(lab.page("/studies").contains("A first look"));
    assert_eq!(lab.json("/studies.json")["studies"][0]["name"], "quick");
    let page = lab.page("/studies?study=quick&address=gp3%3A1TiB");
    assert!(page.contains("id=\"summary\""));
    assert_eq!(
        lab.json("/studies.json?study=quick&address=gp3:1TiB")["summary_format"],
        1
    );
    assert!(
        lab.page("/studies?study=quick&address=x")
            .contains("quick knows no &lt;x&gt;")
    );
    assert_eq!(
        lab.get("/studies.json?study=quick&address=x").status,
        StatusCode::BAD_REQUEST
    );
}

/// It tells nothing, so it needs nothing.
#[test]
fn the_entrance_is_open_to_its_own_names() {
    let lab = Lab::new();
    let entrance = lab.ask("GET", "/enter", &[("host", HOST)]);
    assert_eq!(entrance.status, StatusCode::OK);
    let elsewhere = lab.ask("GET", "/enter", &[("host", "evil.test:7411")]);
    assert_eq!(elsewhere.status, StatusCode::FORBIDDEN);
    assert_eq!(
        lab.ask("GET", "/enter/x", &[("host", HOST)]).status,
        StatusCode::UNAUTHORIZED
    );
}
