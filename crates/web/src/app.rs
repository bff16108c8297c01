//! In: requests. Out: responses. A request is first checked by [`Entrance::admit`] and only then
//! routed to its page.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tower::ServiceExt;

use crate::entrance::{ENTER_PATH, Entrance, Refusal, SESSION_PATH};
use crate::pages::simulate::{SimulationQuery, Simulator};
use crate::pages::view::View;
use crate::pages::{self, Page, PageError};
use crate::stored_runs::StoredRuns;
use crate::{layout, policy, stream};

/// Answers requests: the access check, the routes, and the headers that every response has.
#[derive(Clone)]
pub struct App {
    entrance: Arc<Entrance>,
    router: Router,
    headers: Arc<HeaderMap>,
}

/// What the route handlers share.
#[derive(Clone)]
struct AppState {
    runs: StoredRuns,
    entrance: Arc<Entrance>,
    /// [`FOLLOWERS`] permits, one for each client that follows a run.
    follower_slots: Arc<Semaphore>,
    simulator: Simulator,
    /// One permit: simulations run one after the other.
    simulation_slot: Arc<Semaphore>,
}

/// What the server shows besides the runs. It is passed in, because the command line builds it.
#[derive(Debug, Clone)]
pub struct More {
    /// Each gets its own page.
    pub views: Vec<View>,
    /// Simulates studies for `/studies`.
    pub simulator: Simulator,
}

/// Clients that may follow runs at the same time. They hold a connection each; this is half of all
/// connections, so that the others stay free for pages.
const FOLLOWERS: usize = 32;

/// The query of a URL: names and values in their order, decoded.
type QueryPairs = Vec<(String, String)>;
type Answer = Response<Body>;

impl App {
    /// The pages of these runs, for requests that `entrance` admits.
    pub fn new(stored: StoredRuns, entrance: Entrance, more: More) -> Self {
        let entrance = Arc::new(entrance);
        let state = AppState {
            runs: stored,
            entrance: Arc::clone(&entrance),
            follower_slots: Arc::new(Semaphore::new(FOLLOWERS)),
            simulator: more.simulator,
            simulation_slot: Arc::new(Semaphore::new(1)),
        };
        let mut router = Router::new();
        router = with_query_page(router, "/", "/runs.json", runs);
        router = with_query_page(router, "/compare", "/compare.json", compare);
        router = with_query_page(router, "/studies", "/studies.json", studies);
        for view in more.views {
            router = with_view(router, view);
        }
        let router = router
            .route("/run/{id}", get(run))
            .route("/live/{id}", get(live))
            .route("/live/{id}/events", get(events))
            .route("/metrics", get(metrics))
            .route(ENTER_PATH, get(enter))
            .route(SESSION_PATH, get(session))
            .fallback(not_found)
            .with_state(state);
        Self {
            entrance,
            router,
            headers: Arc::new(policy::headers(&layout::styles(), &layout::scripts())),
        }
    }

    /// The response to a request. Until the request is admitted, nothing but its head is read.
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
        // Refusals get the security headers, too: the page that asks for the token is one.
        for (name, value) in self.headers.iter() {
            response.headers_mut().insert(name, value.clone());
        }
        // The router empties its own responses to HEAD, but a refusal never reached the router.
        if is_head {
            *response.body_mut() = Body::empty();
        }
        response
    }
}

/// The response to a request that was not admitted.
///
/// A browser without a session gets the page that opens one; that page shows nothing of the store.
/// Whoever asks for data (JSON, events, metrics) gets the reason as text.
fn refused(refusal: Refusal, path: &str) -> Answer {
    let is_page = !path.ends_with(".json") && !path.ends_with("/events") && path != "/metrics";
    let mut response = if refusal == Refusal::Token && is_page && path != SESSION_PATH {
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

fn error_page(error: &PageError, is_json: bool) -> Answer {
    if is_json {
        let body = serde_json::json!({ "error": error.why });
        with_type(error.status, "application/json", format!("{body}\n"))
    } else {
        let title = error.status.canonical_reason().unwrap_or("No page");
        html(error.status, layout::failure(title, &error.why))
    }
}

/// Builds a page and gives it as HTML or JSON. `build` runs on a thread for blocking work, because
/// reading runs takes time and the server has one thread for all connections.
async fn render(
    is_json: bool,
    build: impl FnOnce() -> Result<Page, PageError> + Send + 'static,
) -> Answer {
    // `spawn_blocking` fails when `build` panics: a bug, which ends this page and not the server.
    let built = spawn_blocking(build).await.unwrap_or_else(|_| {
        Err(PageError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            why: "this page could not be made: please report it".to_owned(),
        })
    });
    match built {
        Ok(page) if is_json => json(page.json),
        Ok(page) => html(StatusCode::OK, page.html),
        Err(error) => error_page(&error, is_json),
    }
}

/// Adds the two routes of a page that depends on the query: one for HTML and one for JSON.
fn with_query_page<F: Future<Output = Answer> + Send>(
    router: Router<AppState>,
    html_path: &str,
    json_path: &str,
    answer: impl Fn(AppState, QueryPairs, bool) -> F + Clone + Send + Sync + 'static,
) -> Router<AppState> {
    let html = answer.clone();
    let html = move |State(state), Query(query)| html(state, query, false);
    let json = move |State(state), Query(query)| answer(state, query, true);
    router
        .route(html_path, get(html))
        .route(json_path, get(json))
}

/// The list of runs.
async fn runs(state: AppState, query: QueryPairs, is_json: bool) -> Answer {
    render(is_json, move || {
        let filter = pages::runs::Filter::new(&query);
        let runs = &state.runs;
        Ok(pages::runs::runs(
            runs.store().root(),
            &runs.index(),
            &filter,
            &|id| runs.is_running(id),
        ))
    })
    .await
}

/// Splits the last part of a path into the id of a run and whether its JSON is asked for.
fn id_and_format(name: &str) -> (String, bool) {
    let id = name.strip_suffix(".json");
    (id.unwrap_or(name).to_owned(), id.is_some())
}

async fn run(State(state): State<AppState>, Path(name): Path<String>) -> Answer {
    let (id, is_json) = id_and_format(&name);
    render(is_json, move || Ok(pages::run::run(&state.runs.load(&id)?))).await
}

async fn compare(state: AppState, query: QueryPairs, is_json: bool) -> Answer {
    render(is_json, move || {
        let ids = pages::compare::ids(&query)?;
        pages::compare::compare(&state.runs, &ids)
    })
    .await
}

/// The page of a running run; once it has ended, that of its result.
async fn live(State(state): State<AppState>, Path(name): Path<String>) -> Answer {
    let (id, is_json) = id_and_format(&name);
    render(is_json, move || {
        let followed = state.runs.follow(&id)?;
        let page = followed
            .map(|mut follower| pages::live::live(&id, &mut follower))
            .transpose()
            .map_err(|why| PageError::invalid(why.to_string()))?;
        match page.flatten() {
            Some(page) => Ok(page),
            // The run has ended in the meantime: show its report instead.
            None => Ok(pages::run::run(&state.runs.load(&id)?)),
        }
    })
    .await
}

/// The events of a running run, for the script of its page.
async fn events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let Ok(slot) = Arc::clone(&state.follower_slots).try_acquire_owned() else {
        // Refuse instead of waiting: a slot becomes free only when a run or a page ends.
        return text(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{FOLLOWERS} pages follow runs already: close one\n"),
        );
    };
    // A browser that reconnects names the last event it got. What is malformed counts as none: the
    // client then gets the whole measurement again.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let seen = last.and_then(stream::seen_from_id);
    let runs = state.runs.clone();
    let run = id.clone();
    let followed = spawn_blocking(move || runs.follow(&run)).await;
    match followed {
        Ok(Ok(Some(follower))) => stream::events(state.runs, id, follower, seen, slot),
        // The run has ended already, with a Record: tell the page at once.
        Ok(Ok(None)) => {
            let event = format!("event: done\ndata: {}\n\n", pages::live::end(true));
            with_type(StatusCode::OK, "text/event-stream", event)
        }
        Ok(Err(error)) => error_page(&error.into(), true),
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "it cannot be followed\n".to_owned(),
        ),
    }
}

/// Adds the routes of a view: its page and its JSON.
fn with_view(router: Router<AppState>, view: View) -> Router<AppState> {
    let (html_path, json_path) = (format!("/{}", view.path), format!("/{}.json", view.path));
    with_query_page(
        router,
        &html_path,
        &json_path,
        move |state, query, is_json| {
            render(is_json, move || {
                pages::view::view(&view, state.runs.store(), &query, is_json)
            })
        },
    )
}

/// The form of a simulation, or its result if the query asks for one.
async fn studies(state: AppState, query: QueryPairs, is_json: bool) -> Answer {
    let simulator = state.simulator;
    let Some(wanted) = SimulationQuery::from_pairs(&query) else {
        return render(is_json, move || {
            Ok(pages::simulate::form(&simulator, None, None))
        })
        .await;
    };
    // A simulation keeps a processor busy, so only one runs at a time; the others wait here.
    let permit = state
        .simulation_slot
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    render(is_json, move || {
        let simulated = pages::simulate::simulate(&simulator, &wanted);
        drop(permit);
        match simulated {
            // The page shows the reason above the form, so that the user can correct the input.
            Err(error) if !is_json => Ok(pages::simulate::form(
                &simulator,
                Some(&wanted),
                Some(&error.why),
            )),
            simulated => simulated,
        }
    })
    .await
}

/// The figures of the newest running run for Prometheus.
async fn metrics(State(state): State<AppState>) -> Answer {
    let built = spawn_blocking(move || pages::live::metrics(&state.runs)).await;
    match built {
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

/// Opens a session for a client that sends the token or the one-time token as a header: the session
/// cookie is set.
async fn session(State(state): State<AppState>, headers: HeaderMap) -> Answer {
    if !state.entrance.opens(&headers) {
        return text(StatusCode::UNAUTHORIZED, format!("{}\n", Refusal::Token));
    }
    let mut response = text(StatusCode::OK, "welcome\n".to_owned());
    let cookie =
        HeaderValue::from_str(&state.entrance.cookie()).expect("a token is letters and digits");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

async fn not_found() -> Answer {
    let error = PageError {
        status: StatusCode::NOT_FOUND,
        why: "There is no such page.".to_owned(),
    };
    error_page(&error, false)
}
