//! In: requests. Out: answers: first whether one may come in, then what it asks for.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tower::ServiceExt;

use crate::entrance::{ENTER, Entrance, Refusal, SESSION};
use crate::pages::simulate::Simulator;
use crate::pages::view::View;
use crate::pages::{self, NoPage, Page};
use crate::shelf::Shelf;
use crate::{layout, policy, stream};

/// What answers requests.
#[derive(Clone)]
pub struct App {
    entrance: Arc<Entrance>,
    router: Router,
    headers: Arc<HeaderMap>,
}

/// What pages are made of.
#[derive(Clone)]
struct Setting {
    shelf: Shelf,
    entrance: Arc<Entrance>,
    /// Places for those who follow a run.
    places: Arc<Semaphore>,
    simulator: Simulator,
    /// The place of the one who simulates: the others wait.
    simulating: Arc<Semaphore>,
}

/// What pages show beside the runs; who serves them builds it.
#[derive(Debug, Clone)]
pub struct More {
    /// Each has a page of its own.
    pub views: Vec<View>,
    /// Simulates studies.
    pub simulator: Simulator,
}

/// So many follow runs at once; the other connections are for pages.
const FOLLOWERS: usize = 32;

type Pairs = Query<Vec<(String, String)>>;
type Answer = Response<Body>;

impl App {
    /// The pages of these runs, for whoever may come in.
    pub fn new(shelf: Shelf, entrance: Entrance, more: More) -> Self {
        let entrance = Arc::new(entrance);
        let setting = Setting {
            shelf,
            entrance: Arc::clone(&entrance),
            places: Arc::new(Semaphore::new(FOLLOWERS)),
            simulator: more.simulator,
            simulating: Arc::new(Semaphore::new(1)),
        };
        let mut router = Router::new();
        for view in more.views {
            router = with_view(router, view);
        }
        let router = router
            .route("/", get(runs))
            .route("/runs.json", get(runs_json))
            .route("/run/{id}", get(run))
            .route("/compare", get(compare))
            .route("/compare.json", get(compare_json))
            .route("/live/{id}", get(live))
            .route("/live/{id}/events", get(events))
            .route("/studies", get(studies))
            .route("/studies.json", get(studies_json))
            .route("/metrics", get(metrics))
            .route(ENTER, get(enter))
            .route(SESSION, get(session))
            .fallback(nowhere)
            .with_state(setting);
        Self {
            entrance,
            router,
            headers: Arc::new(policy::headers(&layout::styles(), &layout::scripts())),
        }
    }

    /// The answer to a request. Nothing but its head is looked at before it is let in.
    pub async fn answer(&self, request: Request<Body>) -> Answer {
        let admitted = self
            .entrance
            .admit(request.method(), request.uri(), request.headers());
        let is_head = request.method() == Method::HEAD;
        let mut response = match admitted {
            Ok(()) => {
                let routed = self.router.clone().oneshot(request).await;
                routed.unwrap_or_else(|never| match never {})
            }
            Err(refusal) => refused(refusal, request.uri().path()),
        };
        for (name, value) in self.headers.iter() {
            response.headers_mut().insert(name, value.clone());
        }
        if is_head {
            *response.body_mut() = Body::empty();
        }
        response
    }
}

/// A browser that has no session yet gets the page that makes one; it shows nothing of the store.
fn refused(refusal: Refusal, path: &str) -> Answer {
    let is_page = !path.ends_with(".json") && !path.ends_with("/events") && path != "/metrics";
    let mut response = if refusal == Refusal::Token && is_page && path != SESSION {
        html(refusal.status(), layout::entrance())
    } else {
        text(refusal.status(), format!("{refusal}\n"))
    };
    if refusal == Refusal::Method {
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

fn with_type(status: StatusCode, kind: &'static str, body: String) -> Answer {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn html(status: StatusCode, body: String) -> Answer {
    with_type(status, "text/html; charset=utf-8", body)
}

fn json(body: String) -> Answer {
    with_type(StatusCode::OK, "application/json", body)
}

fn text(status: StatusCode, body: String) -> Answer {
    with_type(status, "text/plain; charset=utf-8", body)
}

fn no_page(why: &NoPage, is_json: bool) -> Answer {
    if is_json {
        let body = serde_json::json!({ "error": why.why });
        with_type(why.status, "application/json", format!("{body}\n"))
    } else {
        let title = why.status.canonical_reason().unwrap_or("No page");
        html(why.status, layout::failure(title, &why.why))
    }
}

/// Makes a page beside the thread that answers others: reading runs takes time.
async fn made(
    is_json: bool,
    make: impl FnOnce() -> Result<Page, NoPage> + Send + 'static,
) -> Answer {
    let made = spawn_blocking(make).await.unwrap_or_else(|_| {
        Err(NoPage {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            why: "this page could not be made: please report it".to_owned(),
        })
    });
    match made {
        Ok(page) if is_json => json(page.json),
        Ok(page) => html(StatusCode::OK, page.html),
        Err(why) => no_page(&why, is_json),
    }
}

async fn runs_as(setting: Setting, query: Vec<(String, String)>, is_json: bool) -> Answer {
    made(is_json, move || {
        let wanted = pages::runs::Wanted::new(&query);
        let shelf = &setting.shelf;
        Ok(pages::runs::runs(&shelf.index(), &wanted, &|id| {
            shelf.is_running(id)
        }))
    })
    .await
}

async fn runs(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    runs_as(setting, query, false).await
}

async fn runs_json(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    runs_as(setting, query, true).await
}

/// An id, and whether the JSON of it is asked for.
fn form_of(name: &str) -> (String, bool) {
    let id = name.strip_suffix(".json");
    (id.unwrap_or(name).to_owned(), id.is_some())
}

async fn run(State(setting): State<Setting>, Path(name): Path<String>) -> Answer {
    let (id, is_json) = form_of(&name);
    made(is_json, move || {
        Ok(pages::run::run(&setting.shelf.load(&id)?))
    })
    .await
}

async fn compare_as(setting: Setting, query: Vec<(String, String)>, is_json: bool) -> Answer {
    made(is_json, move || {
        let ids = pages::compare::ids(&query)?;
        pages::compare::compare(&setting.shelf, &ids)
    })
    .await
}

async fn compare(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    compare_as(setting, query, false).await
}

async fn compare_json(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    compare_as(setting, query, true).await
}

async fn live(State(setting): State<Setting>, Path(name): Path<String>) -> Answer {
    let (id, is_json) = form_of(&name);
    made(is_json, move || {
        let followed = setting.shelf.follow(&id)?;
        let page = followed
            .map(|mut follower| pages::live::live(&id, &mut follower))
            .transpose()
            .map_err(|why| NoPage::invalid(why.to_string()))?;
        match page.flatten() {
            Some(page) => Ok(page),
            // It has ended meanwhile: its page is the report.
            None => Ok(pages::run::run(&setting.shelf.load(&id)?)),
        }
    })
    .await
}

async fn events(
    State(setting): State<Setting>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let Ok(place) = Arc::clone(&setting.places).try_acquire_owned() else {
        return text(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{FOLLOWERS} pages follow runs already: close one\n"),
        );
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let seen = last.and_then(stream::seen);
    let shelf = setting.shelf.clone();
    let asked = id.clone();
    let followed = spawn_blocking(move || shelf.follow(&asked)).await;
    match followed {
        Ok(Ok(Some(follower))) => stream::events(setting.shelf, id, follower, seen, place),
        Ok(Ok(None)) => {
            let event = format!("event: done\ndata: {}\n\n", pages::live::end(true));
            with_type(StatusCode::OK, "text/event-stream", event)
        }
        Ok(Err(why)) => no_page(&why.into(), true),
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "it cannot be followed\n".to_owned(),
        ),
    }
}

/// The page of a view and its JSON.
fn with_view(router: Router<Setting>, view: View) -> Router<Setting> {
    let answer = move |setting: Setting, query: Vec<(String, String)>, is_json| {
        made(is_json, move || {
            pages::view::view(&view, setting.shelf.store(), &query, is_json)
        })
    };
    let page =
        move |State(setting): State<Setting>, Query(query): Pairs| answer(setting, query, false);
    let json =
        move |State(setting): State<Setting>, Query(query): Pairs| answer(setting, query, true);
    router
        .route(&format!("/{}", view.place), get(page))
        .route(&format!("/{}.json", view.place), get(json))
}

async fn studies_as(setting: Setting, query: Vec<(String, String)>, is_json: bool) -> Answer {
    let simulator = setting.simulator;
    let Some(asked) = pages::simulate::asked(&query) else {
        return made(is_json, move || {
            Ok(pages::simulate::form(&simulator, None, None))
        })
        .await;
    };
    // It takes a processor for as long as it lasts.
    let Ok(place) = setting.simulating.acquire_owned().await else {
        return nowhere().await;
    };
    made(is_json, move || {
        let simulated = pages::simulate::simulate(&simulator, &asked.0, &asked.1);
        drop(place);
        match simulated {
            Err(why) if !is_json => Ok(pages::simulate::form(
                &simulator,
                Some(&asked),
                Some(&why.why),
            )),
            simulated => simulated,
        }
    })
    .await
}

async fn studies(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    studies_as(setting, query, false).await
}

async fn studies_json(State(setting): State<Setting>, Query(query): Pairs) -> Answer {
    studies_as(setting, query, true).await
}

async fn metrics(State(setting): State<Setting>) -> Answer {
    let made = spawn_blocking(move || pages::live::metrics(&setting.shelf)).await;
    match made {
        Ok(metrics) => with_type(
            StatusCode::OK,
            "text/plain; version=0.0.4; charset=utf-8",
            metrics,
        ),
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "no metrics could be made\n".to_owned(),
        ),
    }
}

async fn enter() -> Answer {
    html(StatusCode::OK, layout::entrance())
}

/// Whoever brings the token itself gets a session.
async fn session(State(setting): State<Setting>, headers: HeaderMap) -> Answer {
    if !setting.entrance.opens(&headers) {
        return text(StatusCode::UNAUTHORIZED, format!("{}\n", Refusal::Token));
    }
    let mut response = text(StatusCode::OK, "welcome\n".to_owned());
    let cookie =
        HeaderValue::from_str(&setting.entrance.cookie()).expect("a token is letters and digits");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

async fn nowhere() -> Answer {
    let why = NoPage {
        status: StatusCode::NOT_FOUND,
        why: "There is no such page.".to_owned(),
    };
    no_page(&why, false)
}
