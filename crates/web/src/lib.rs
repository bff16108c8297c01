//! In: a store, and an address to listen on.
//! Out: its finished and running runs as web pages, readable only with the token of the user who
//! started the server.
//! Never: writes to the store, measures, draws charts of its own where `page` has them, or listens
//! beyond loopback unless that was asked for.

// `fields!` names the type parameter of a field after the field.
#![allow(non_camel_case_types)]

mod app;
mod connections;
mod entrance;
mod layout;
mod pages;
mod policy;
mod stored_runs;
mod stream;
mod token;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use blocklab_store::Store;
use tokio::runtime::Builder;

pub use app::{App, More};
pub use entrance::{ENTER_PATH, Entrance};
pub use pages::simulate::Simulator;
pub use pages::view::{Built, Field, Query, View};
pub use stored_runs::StoredRuns;
pub use token::Token;

/// Threads that may read the store at the same time.
const READERS: usize = 4;

/// A server whose sockets already listen; [`Server::serve`] begins to answer.
#[derive(Debug)]
pub struct Server {
    store: Store,
    listeners: Vec<TcpListener>,
    entrance: Entrance,
}

impl Server {
    /// Listens on `address`. For 127.0.0.1 it also listens on ::1, because a browser may resolve
    /// `localhost` to either.
    ///
    /// # Errors
    /// When the address is taken, or the system gives no random bits for the session token.
    pub fn listen(store: Store, address: SocketAddr, token: Token) -> io::Result<Self> {
        let first = TcpListener::bind(address)?;
        let address = first.local_addr()?;
        let mut listeners = vec![first];
        if address.ip() == std::net::Ipv4Addr::LOCALHOST {
            let second = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port()));
            // A failure is no error: some machines have no IPv6, and another program may use the
            // port there. The IPv4 socket is enough.
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
                one_time_token: Arc::new(Mutex::new(None)),
            },
        })
    }

    /// The address it listens on; with port 0 requested, this has the port that the system chose.
    pub const fn address(&self) -> SocketAddr {
        self.entrance.address
    }

    /// The token that a user shows to open a session.
    pub fn token(&self) -> &str {
        self.entrance.token.text()
    }

    /// A new one-time token: it opens one session and is invalid afterwards. It replaces an earlier
    /// one-time token that was not used.
    ///
    /// # Errors
    /// When the system gives no random bits.
    pub fn one_time_token(&self) -> io::Result<String> {
        let token = Token::draw().map_err(io::Error::other)?;
        let text = token.text().to_owned();
        self.entrance.allow_once(token);
        Ok(text)
    }

    /// Answers requests until the process ends.
    ///
    /// # Errors
    /// When the runtime cannot be started, or a socket cannot be used.
    pub fn serve(self, more: More) -> io::Result<()> {
        let runs = StoredRuns::new(self.store);
        let app = Arc::new(App::new(runs.clone(), self.entrance, more));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS)
            .build()?;
        // Reading the index of a large store takes half a second. It starts now, while the user
        // opens a browser, so that the first page finds it in memory.
        runtime.spawn_blocking(move || runs.index());
        let answer = async move |request| app.answer(request).await;
        runtime.block_on(connections::accept(self.listeners, answer))
    }
}
