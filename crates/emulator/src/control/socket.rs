//! Commands over a socket: a line in, a line of JSON out, as many as a client likes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::{Answer, Desk};
use crate::nbd::Listener;
use crate::wait::{Bell, Interest, wait};

/// Bytes of a line.
const LONGEST: u64 = 4096;
/// Clients at a time; one more is hung up on.
const MOST_CLIENTS: usize = 16;
/// A client that says nothing for so long, or takes no answer, is hung up on.
const PATIENCE: Duration = Duration::from_secs(30);

/// A socket at which commands are taken. It ends when it is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    bell: Arc<Bell>,
    stops: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl ControlSocket {
    /// Takes commands for a desk.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(listener: Listener, desk: Arc<Desk>) -> io::Result<Self> {
        let bell = Arc::new(Bell::new()?);
        let stops = Arc::new(AtomicBool::new(false));
        let (rung, ended) = (Arc::clone(&bell), Arc::clone(&stops));
        let clients = Arc::new(AtomicUsize::new(0));
        let read = Interest {
            read: true,
            write: false,
        };
        let accept = move || {
            while !ended.load(Ordering::Acquire) {
                let Ok(ready) = wait(listener.as_fd(), read, &rung, None) else {
                    return;
                };
                if ready.read
                    && let Ok(socket) = listener.accept()
                {
                    admit(socket, &desk, &clients);
                }
            }
        };
        let thread = Builder::new().name("control".to_owned());
        Ok(Self {
            accepting: Some(thread.spawn(accept)?),
            bell,
            stops,
        })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Release);
        self.bell.ring();
        if let Some(thread) = self.accepting.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// One place among the clients.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn admit(socket: OwnedFd, desk: &Arc<Desk>, clients: &Arc<AtomicUsize>) {
    let place = Place(Arc::clone(clients));
    if clients.fetch_add(1, Ordering::AcqRel) >= MOST_CLIENTS {
        return;
    }
    let desk = Arc::clone(desk);
    let work = move || {
        let _place = place;
        // A client that goes away is no matter of ours.
        let _ = serve(UnixStream::from(socket), &desk);
    };
    // Without a thread the client is hung up on.
    let _ = Builder::new().name("control client".to_owned()).spawn(work);
}

fn serve(socket: UnixStream, desk: &Desk) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(socket.try_clone()?);
    let mut socket = socket;
    loop {
        let mut line = Vec::new();
        let read = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let answer = match std::str::from_utf8(&line) {
            Ok(text) if line.ends_with(b"\n") => desk.answer(text.trim_end()),
            _ => return Ok(()),
        };
        let mut text = serde_json::to_string(&answer).map_err(io::Error::other)?;
        text.push('\n');
        socket.write_all(text.as_bytes())?;
    }
}

/// Sends one command to the server that listens at a path, and gives its answer.
///
/// # Errors
/// When nobody listens there, or no server of this kind.
pub fn ask(path: &Path, command: &str) -> io::Result<(Answer, String)> {
    let mut socket = UnixStream::connect(path)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(format!("{command}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line)?;
    let answer = serde_json::from_str(&line).map_err(|_| {
        let what = "what listens there is no `blocklab emulate --control`";
        io::Error::new(io::ErrorKind::InvalidData, what)
    })?;
    Ok((answer, line))
}
