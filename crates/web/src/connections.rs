//! In: listening sockets, and what answers a request. Out: connections, each within its limits.
//!
//! A file of its own: what a slow, a silent or a greedy client can hold is decided here.

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

/// Connections at once; others wait until one ends.
const MOST: usize = 64;
/// Bytes of a head.
const HEAD: usize = 8192;
/// How long a head may take, how long a connection may be silent between two requests, and how long a
/// client may take nothing of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers requests on all of the sockets, for ever.
///
/// # Errors
/// When a socket cannot be used.
pub async fn accept<A>(listeners: Vec<TcpListener>, answer: A) -> io::Result<()>
where
    A: AsyncFn(Request<Body>) -> Response<Body> + Clone + 'static,
{
    let room = Arc::new(Semaphore::new(MOST));
    let tasks = tokio::task::LocalSet::new();
    for listener in listeners {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (room, answer) = (Arc::clone(&room), answer.clone());
        tasks.spawn_local(async move {
            loop {
                let permit = Arc::clone(&room).acquire_owned().await;
                let Ok(permit) = permit else { return };
                match listener.accept().await {
                    Ok((stream, _)) => {
                        tokio::task::spawn_local(serve(stream, permit, answer.clone()));
                    }
                    // Out of descriptors, or a client that has gone: neither is ours to report.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
    }
    tasks.await;
    Ok(())
}

async fn serve<A>(stream: TcpStream, permit: OwnedSemaphorePermit, answer: A)
where
    A: AsyncFn(Request<Body>) -> Response<Body> + 'static,
{
    let answer = &answer;
    let answering = service_fn(async |request: Request<Incoming>| {
        Ok::<_, Infallible>(answer(request.map(Body::new)).await)
    });
    let io = TokioIo::new(Patient::new(stream));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEAD)
        .serve_connection(io, answering)
        .await;
    // A client that breaks off, or is too slow, is its own affair.
    drop((served, permit));
}

/// A connection that ends when its client takes nothing for too long.
struct Patient {
    stream: TcpStream,
    /// Ends while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    const fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            waiting: None,
        }
    }

    fn within<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + PATIENCE)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_flush(cx);
        self.within(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within(cx, written)
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
