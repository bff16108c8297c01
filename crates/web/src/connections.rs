//! In: listening sockets, and a function that answers a request. Out: served connections.
//!
//! All limits on clients are in this file: how many connect, how much they send, and how long a slow
//! or silent client may keep a connection.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};

/// Connections served at the same time; further ones wait in the kernel's backlog.
const MAX_CONNECTIONS: usize = 64;
/// Most bytes of a request's head.
const MAX_HEAD: usize = 8192;
/// Limits three times: until a head is complete, between two requests of a connection, and while a
/// client reads nothing of its response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a connection could not be accepted.
const RETRY: Duration = Duration::from_millis(100);

/// Answers requests on all of the sockets until the process ends.
///
/// # Errors
/// When a socket cannot be used.
pub async fn accept<A>(listeners: Vec<TcpListener>, answer: A) -> io::Result<()>
where
    A: AsyncFn(Request<Body>) -> Response<Body> + Clone + 'static,
{
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let tasks = tokio::task::LocalSet::new();
    for listener in listeners {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (slots, answer) = (Arc::clone(&slots), answer.clone());
        tasks.spawn_local(async move {
            loop {
                // The permit comes before the connection: what cannot be served yet is not accepted.
                let permit = Arc::clone(&slots).acquire_owned().await;
                let Ok(permit) = permit else { return };
                match listener.accept().await {
                    Ok((stream, _)) => {
                        tokio::task::spawn_local(serve(stream, permit, answer.clone()));
                    }
                    // Either the client has gone already, or the process has no file descriptor
                    // left. Both pass; without the pause, the second would spin this loop.
                    Err(_) => tokio::time::sleep(RETRY).await,
                }
            }
        });
    }
    tasks.await;
    Ok(())
}

/// Answers the requests of one connection until it ends. `permit`: its slot, which is free again
/// then.
async fn serve<A>(stream: TcpStream, permit: OwnedSemaphorePermit, answer: A)
where
    A: AsyncFn(Request<Body>) -> Response<Body> + 'static,
{
    let answer = &answer;
    let answering = service_fn(async |request: Request<Incoming>| {
        Ok::<_, Infallible>(answer(request.map(Body::new)).await)
    });
    let io = TokioIo::new(WithWriteTimeout::new(stream));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, answering)
        .await;
    // An error here means that the client broke off or was too slow. The server has nothing to do
    // about it, and the next client can have the slot.
    drop((served, permit));
}

/// A connection whose writes fail when its client reads nothing for [`TIMEOUT`]. Hyper limits only
/// the reading of heads.
struct WithWriteTimeout {
    stream: TcpStream,
    /// The timer of a write that waits; `None` while none does.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl WithWriteTimeout {
    const fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            waiting: None,
        }
    }

    /// Passes on the result of a write, or an error once it has waited for [`TIMEOUT`].
    fn or_timed_out<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            // Each write that gets through starts the time again: slow is allowed, stopped is not.
            self.waiting = None;
            return written;
        }
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + TIMEOUT)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WithWriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WithWriteTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.or_timed_out(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_flush(cx);
        self.or_timed_out(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.or_timed_out(cx, written)
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
