//! In: a run that lasts. Out: server-sent events: what is new of it, until it is done.
//!
//! A file of its own: a client that is slow gets fewer events with more in each, never a queue.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use blocklab_store::spool::Follower;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;

use crate::pages::live::{self, Seen, State};
use crate::shelf::Shelf;

/// How often the spool is looked at.
const EVERY: Duration = Duration::from_millis(500);
/// A silent connection is cut by some proxies.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a client may take nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is sent.
type Sent = Result<String, Infallible>;

/// The events of a run behind `seen`. `place`: the client's among those that follow one.
pub fn events(
    shelf: Shelf,
    id: String,
    follower: Follower,
    seen: Option<Seen>,
    place: OwnedSemaphorePermit,
) -> Response<Body> {
    let (sender, events) = channel(1);
    tokio::spawn(async move {
        let _ = follow(&shelf, &id, follower, seen, &sender).await;
        drop(place);
    });
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(events)));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// `None`: the client has gone, or is too slow.
async fn follow(
    shelf: &Shelf,
    id: &str,
    mut follower: Follower,
    mut seen: Option<Seen>,
    sender: &Sender<Sent>,
) -> Option<()> {
    send(sender, "retry: 1000\n\n".to_owned()).await?;
    let mut spoken = Instant::now();
    loop {
        let looked = spawn_blocking(move || {
            let found = live::look(&mut follower, seen);
            (follower, found)
        });
        let (again, found) = looked.await.ok()?;
        follower = again;
        let state = found.ok().flatten();
        match &state {
            Some(state) if state.is_running => {
                if let Some(text) = frame(state, &mut seen) {
                    send(sender, text).await?;
                    spoken = Instant::now();
                }
            }
            _ => {
                let is_kept = state.is_some() || is_kept(shelf, id).await;
                let event = format!("event: done\ndata: {}\n\n", live::end(is_kept));
                return send(sender, event).await;
            }
        }
        if spoken.elapsed() >= HEARTBEAT {
            send(sender, ": it goes on\n\n".to_owned()).await?;
            spoken = Instant::now();
        }
        sleep(EVERY).await;
    }
}

/// A run is folded into its record a moment before its spool goes, or a moment behind.
async fn is_kept(shelf: &Shelf, id: &str) -> bool {
    for _ in 0..10 {
        let (shelf, id) = (shelf.clone(), id.to_owned());
        let loaded = spawn_blocking(move || shelf.load(&id).is_ok()).await;
        if loaded.unwrap_or_default() {
            return true;
        }
        sleep(EVERY / 5).await;
    }
    false
}

/// An event of what is new; nothing where nothing is.
fn frame(state: &State, seen: &mut Option<Seen>) -> Option<String> {
    let last = state.frames.last().map(|frame| frame.number);
    if last.is_none() && seen.is_some_and(|(step, _)| step == state.step) {
        return None;
    }
    let number = last.unwrap_or(0);
    *seen = Some((state.step, number));
    let data = serde_json::to_string(state).ok()?;
    Some(format!(
        "event: frame\nid: {}-{number}\ndata: {data}\n\n",
        state.step
    ))
}

async fn send(sender: &Sender<Sent>, text: String) -> Option<()> {
    timeout(PATIENCE, sender.send(Ok(text))).await.ok()?.ok()
}

/// What a client has seen last, by the id of an event.
pub fn seen(last: &str) -> Option<Seen> {
    let (step, number) = last.split_once('-')?;
    Some((step.parse().ok()?, number.parse().ok()?))
}
