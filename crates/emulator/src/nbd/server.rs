//! Accepts clients and gives each a thread, as many as are allowed.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{Shutdown, shutdown};

use super::connection::serve;
use super::handshake::Export;
use super::limits::Limits;
use super::listen::{Accepting, Listener};
use super::service::Service;
use super::tls::Tls;
use crate::{Spin, Volume};

#[derive(Debug)]
struct Client {
    number: u64,
    socket: Arc<OwnedFd>,
    /// Whether it has chosen an export.
    entered: Arc<AtomicBool>,
}

/// Stack of a client's thread, in bytes: all its buffers are on the heap, and memory for the threads
/// of all clients is small.
pub(super) const CLIENT_STACK: usize = 256 << 10;

/// Who is connected.
#[derive(Debug, Default)]
struct Clients {
    list: Mutex<Vec<Client>>,
    /// Notified when a client is taken off the list.
    gone: Condvar,
    /// How many clients have come.
    visits: AtomicU64,
}

impl Clients {
    fn list(&self) -> MutexGuard<'_, Vec<Client>> {
        self.list.lock().expect("no panic under this lock")
    }

    fn remove(&self, number: u64) {
        self.list().retain(|client| client.number != number);
        self.gone.notify_all();
    }

    /// Shuts down the sockets of all clients. After [`Shutdown::Read`], what is in flight is still
    /// answered.
    fn hang_up(&self, how: Shutdown) {
        for client in self.list().iter() {
            // A client that is gone has hung up already.
            let _ = shutdown(&client.socket, how);
        }
    }

    /// Whether all were gone in time.
    fn all_gone(&self, within: Duration) -> bool {
        let waited = self
            .gone
            .wait_timeout_while(self.list(), within, |list| !list.is_empty());
        waited.is_ok_and(|(_, late)| !late.timed_out())
    }

    /// Gives a client a thread; it may take the place of one that is still in its handshake, or be
    /// turned away.
    fn admit(self: &Arc<Self>, socket: OwnedFd, service: &Arc<Service>) {
        let socket = Arc::new(socket);
        // Replies are sent when they are made. A unix socket knows no other way and refuses.
        let _ = set_tcp_nodelay(&socket, true);
        let number = self.visits.fetch_add(1, Ordering::Relaxed);
        let entered = Arc::new(AtomicBool::new(false));
        let client = Client {
            number,
            socket: Arc::clone(&socket),
            entered: Arc::clone(&entered),
        };
        let mut list = self.list();
        if list.len() >= service.limits.connections {
            // The list is in the order in which the clients came: the first in its handshake is the
            // oldest.
            let oldest = list
                .iter()
                .position(|client| !client.entered.load(Ordering::Relaxed));
            // All have passed their handshakes: the new one is turned away.
            let Some(oldest) = oldest else {
                return;
            };
            // One that is gone already needs no shutdown.
            let _ = shutdown(&list.remove(oldest).socket, Shutdown::Both);
        }
        list.push(client);
        drop(list);
        let service = Arc::clone(service);
        let guard = ClientGuard {
            clients: Arc::clone(self),
            number,
        };
        let thread = Builder::new().name(format!("client {number}"));
        // Where no thread can be started, the connection is closed.
        let _ = thread.stack_size(CLIENT_STACK).spawn(move || {
            let guard = guard;
            // An error concerns this client alone, and the end of its connection reports it.
            let _ = serve(&service, &socket, &|| {
                entered.store(true, Ordering::Relaxed)
            });
            let _ = shutdown(&socket, Shutdown::Both);
            drop(guard);
        });
    }
}

/// A server at work. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    clients: Arc<Clients>,
    accepting: Vec<Accepting>,
}

/// How long requests in flight may take when the server ends.
const DRAIN: Duration = Duration::from_secs(2);
/// Then a thread that waits for its client notices the end within this time.
const HANG_UP: Duration = Duration::from_millis(100);

impl Server {
    /// Serves volumes, each under its name and the first one also without a name. With `tls`, only
    /// to clients that show a certificate.
    ///
    /// # Errors
    /// When no thread can be started.
    ///
    /// # Panics
    /// Without a volume.
    pub fn start(
        volumes: Vec<(Arc<Volume>, Export)>,
        listeners: Vec<Listener>,
        limits: Limits,
        spin: Spin,
        tls: Option<Tls>,
    ) -> io::Result<Self> {
        assert!(!volumes.is_empty(), "a server without a volume");
        let (volumes, exports) = volumes.into_iter().unzip();
        let service = Arc::new(Service {
            exports,
            volumes,
            limits,
            spin,
            tls,
        });
        let mut server = Self {
            clients: Arc::default(),
            accepting: Vec::new(),
        };
        for listener in listeners {
            let (service, clients) = (Arc::clone(&service), Arc::clone(&server.clients));
            let accepting =
                listener.accept_all("accept", move |socket| clients.admit(socket, &service))?;
            server.accepting.push(accepting);
        }
        Ok(server)
    }

    /// Clients that are connected.
    pub fn clients(&self) -> usize {
        self.clients.list().len()
    }

    /// Clients that came so far.
    pub fn visits(&self) -> u64 {
        self.clients.visits.load(Ordering::Relaxed)
    }

    /// Accepts no more clients, answers what is in flight, and closes the connections.
    pub fn stop(&mut self) {
        if self.accepting.is_empty() {
            return;
        }
        self.accepting.clear();
        self.clients.hang_up(Shutdown::Read);
        if !self.clients.all_gone(DRAIN) {
            self.clients.hang_up(Shutdown::Both);
            // What a stall holds back outlives its connection and is not waited for.
            self.clients.all_gone(HANG_UP);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes a client off the list, also when its thread panics or was never started.
struct ClientGuard {
    clients: Arc<Clients>,
    number: u64,
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        self.clients.remove(self.number);
    }
}
