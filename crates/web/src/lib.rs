//! In: a store, and where to listen.
//! Out: its runs, and those that go on, as pages over HTTP, for their user alone.
//! Never: writes, measures, draws what another page draws, listens beyond loopback unasked.

mod app;
mod connections;
mod entrance;
mod layout;
mod pages;
mod policy;
mod shelf;
mod stream;
mod token;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use blocklab_store::Store;
use tokio::runtime::Builder;

pub use app::{App, More};
pub use entrance::{ENTER, Entrance};
pub use pages::simulate::Simulator;
pub use pages::view::{Built, Field, Query, View};
pub use shelf::Shelf;
pub use token::Token;

/// Threads that read the store at once.
const READERS: usize = 4;

/// The pages of a store on its sockets, which listen already.
#[derive(Debug)]
pub struct Server {
    store: Store,
    listeners: Vec<TcpListener>,
    entrance: Entrance,
}

impl Server {
    /// Listens there; on loopback by both versions of IP, where the machine has both.
    ///
    /// # Errors
    /// When the address is taken, or there are no random bits for a session.
    pub fn listen(store: Store, address: SocketAddr, token: Token) -> io::Result<Self> {
        let first = TcpListener::bind(address)?;
        let address = first.local_addr()?;
        let mut listeners = vec![first];
        if address.ip() == std::net::Ipv4Addr::LOCALHOST {
            let second = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port()));
            // Somebody else may have the port there, and some machines have no IPv6.
            listeners.extend(TcpListener::bind(second));
        }
        let session = Token::draw().map_err(io::Error::other)?;
        Ok(Self {
            store,
            listeners,
            entrance: Entrance {
                address,
                token,
                session,
                once: Arc::new(Mutex::new(None)),
            },
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.entrance.address
    }

    /// The token.
    pub fn token(&self) -> &str {
        self.entrance.token.text()
    }

    /// What opens a session once, in the place of the token.
    ///
    /// # Errors
    /// When there are no random bits.
    pub fn once(&self) -> io::Result<String> {
        let once = Token::draw().map_err(io::Error::other)?;
        let text = once.text().to_owned();
        self.entrance.allow_once(once);
        Ok(text)
    }

    /// Answers until the process ends.
    ///
    /// # Errors
    /// When the system gives no threads, or takes the sockets away.
    pub fn serve(self, more: More) -> io::Result<()> {
        let shelf = Shelf::new(self.store);
        let app = Arc::new(App::new(shelf.clone(), self.entrance, more));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS)
            .build()?;
        // The first page does not wait for it: a user opens a browser meanwhile.
        runtime.spawn_blocking(move || shelf.index());
        let answer = async move |request| app.answer(request).await;
        runtime.block_on(connections::accept(self.listeners, answer))
    }
}
