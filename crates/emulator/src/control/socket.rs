//! Commands over a socket: a line in, a line of JSON out, as many as a client likes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

use super::{Answer, Controller};
use crate::nbd::{Accepting, Listener};

/// Most bytes of a line.
const LONGEST_LINE: u64 = 4096;
/// Clients at a time; one more is refused.
const MOST_CLIENTS: usize = 16;
/// The server hangs up on a client that sends or reads nothing for this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// A socket at which commands are taken. It ends when it is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    _accepting: Accepting,
}

impl ControlSocket {
    /// Takes commands for a controller.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(listener: Listener, controller: Arc<Controller>) -> io::Result<Self> {
        let clients = Arc::new(AtomicUsize::new(0));
        let accepting = listener.accept_all("control", move |socket| {
            admit(socket, &controller, &clients)
        })?;
        Ok(Self {
            _accepting: accepting,
        })
    }
}

/// One slot among the clients.
struct ClientSlot(Arc<AtomicUsize>);

impl Drop for ClientSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Serves a client in a thread of its own, or refuses it where too many are connected.
fn admit(socket: OwnedFd, controller: &Arc<Controller>, clients: &Arc<AtomicUsize>) {
    let slot = ClientSlot(Arc::clone(clients));
    if clients.fetch_add(1, Ordering::AcqRel) >= MOST_CLIENTS {
        let why = format!("{MOST_CLIENTS} clients are connected; try again when one has left");
        // Its buffer has room for one line.
        let _ = reply(&mut UnixStream::from(socket), &controller.refuse(why));
        return;
    }
    let controller = Arc::clone(controller);
    let thread = Builder::new().name("control client".to_owned());
    // Where no thread can be started, the connection is closed.
    let _ = thread.spawn(move || {
        let _slot = slot;
        // The client may have gone away: that is no failure of the server.
        let _ = serve(UnixStream::from(socket), &controller);
    });
}

/// Answers a client line by line, until it leaves or is silent for too long.
fn serve(mut socket: UnixStream, controller: &Controller) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(socket.try_clone()?);
    loop {
        let mut line = Vec::new();
        let read = lines
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        match std::str::from_utf8(&line) {
            Ok(text) if line.ends_with(b"\n") => {
                reply(&mut socket, &controller.answer(text.trim_end()))?;
            }
            // The connection ends here: the rest of a line that is too long would be read as commands.
            _ => {
                let why = format!("a command is a line of text of at most {LONGEST_LINE} bytes");
                return reply(&mut socket, &controller.refuse(why));
            }
        }
    }
}

fn reply(socket: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    let mut text = serde_json::to_string(answer).map_err(io::Error::other)?;
    text.push('\n');
    socket.write_all(text.as_bytes())
}

/// Sends one command to the server that listens at a path. Returns its answer, and the line of JSON
/// that holds it.
///
/// # Errors
/// When no server listens there, or none of this kind.
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
