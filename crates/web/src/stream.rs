//! In: the spool of a running run. Out: server-sent events with what is new, until the run ends.
//!
//! A slow client gets fewer events with more frames in each: nothing is queued for it.

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
use crate::stored_runs::StoredRuns;

/// Pause between two looks at the spool, which gets a frame each second.
const EVERY: Duration = Duration::from_millis(500);
/// After this silence a comment is sent, because some proxies cut silent connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long an event may wait for a client that reads nothing.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a run that has lost its spool is looked up in the store.
const LOOKUPS: u32 = 10;
/// The pause between two of these lookups.
const LOOKUP_PAUSE: Duration = Duration::from_millis(100);

/// An event as text, in the form that a body's stream takes.
type Event = Result<String, Infallible>;

/// The events of a run after `seen`. `slot` is given back when the stream ends.
pub fn events(
    runs: StoredRuns,
    id: String,
    follower: Follower,
    seen: Option<Seen>,
    slot: OwnedSemaphorePermit,
) -> Response<Body> {
    // Room for one event: while the client has not taken it, the loop waits and frames collect in the
    // spool.
    let (sender, events) = channel(1);
    tokio::spawn(async move {
        // `None` only says that the client has gone: the stream is over either way.
        let _ = follow(&runs, &id, follower, seen, &sender).await;
        drop(slot);
    });
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(events)));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Sends events until the run ends; `None`: the client has gone or is too slow.
async fn follow(
    runs: &StoredRuns,
    id: &str,
    mut follower: Follower,
    mut seen: Option<Seen>,
    sender: &Sender<Event>,
) -> Option<()> {
    // A client that loses the connection comes back after 1,000 ms.
    send(sender, "retry: 1000\n\n".to_owned()).await?;
    let mut last_sent = Instant::now();
    loop {
        // Reading blocks, so the follower moves to a thread for it and back.
        let looked = spawn_blocking(move || {
            let found = live::look(&mut follower, seen);
            (follower, found)
        });
        let (returned, found) = looked.await.ok()?;
        follower = returned;
        // A spool that can no longer be read ends the stream like a run that has ended.
        let state = found.ok().flatten();
        match &state {
            Some(state) if state.is_running => {
                if let Some(text) = frame(state, &mut seen) {
                    send(sender, text).await?;
                    last_sent = Instant::now();
                }
            }
            _ => {
                // A killed run keeps its spool, so what it measured is there.
                let is_kept = state.is_some() || is_kept(runs, id).await;
                let event = format!("event: done\ndata: {}\n\n", live::end(is_kept));
                return send(sender, event).await;
            }
        }
        if last_sent.elapsed() >= HEARTBEAT {
            send(sender, ": it goes on\n\n".to_owned()).await?;
            last_sent = Instant::now();
        }
        sleep(EVERY).await;
    }
}

/// Whether the store has the run. The Record may appear a moment after the spool has gone, so the
/// answer is no only after a second.
async fn is_kept(runs: &StoredRuns, id: &str) -> bool {
    for _ in 0..LOOKUPS {
        let (runs, id) = (runs.clone(), id.to_owned());
        let loaded = spawn_blocking(move || runs.load(&id).is_ok()).await;
        if loaded.unwrap_or_default() {
            return true;
        }
        sleep(LOOKUP_PAUSE).await;
    }
    false
}

/// The event with the frames that are new, and moves `seen` past them. `None` when nothing is new;
/// the begin of a measurement is news even without a frame.
fn frame(state: &State, seen: &mut Option<Seen>) -> Option<String> {
    let last = state.frames.last().map(|frame| frame.number);
    if last.is_none() && seen.is_some_and(|seen| seen.step == state.step) {
        return None;
    }
    let number = last.unwrap_or(0);
    *seen = Some(Seen {
        step: state.step,
        frame: number,
    });
    let data = serde_json::to_string(state).ok()?;
    Some(format!(
        "event: frame\nid: {}-{number}\ndata: {data}\n\n",
        state.step
    ))
}

/// Sends an event to the client; `None` when it has gone or takes nothing for [`SEND_TIMEOUT`].
async fn send(sender: &Sender<Event>, text: String) -> Option<()> {
    timeout(SEND_TIMEOUT, sender.send(Ok(text)))
        .await
        .ok()?
        .ok()
}

/// Reads the id of an event, `measurement-frame`, as [`frame`] writes it.
pub fn seen_from_id(last: &str) -> Option<Seen> {
    let (step, frame) = last.split_once('-')?;
    Some(Seen {
        step: step.parse().ok()?,
        frame: frame.parse().ok()?,
    })
}
