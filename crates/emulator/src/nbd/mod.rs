//! A server of the NBD protocol, fixed newstyle, as in the document `doc/proto.md` of the project
//! NetworkBlockDevice of 2026-05-02.
//!
//! ```text
//!   server ─▶ accept ─▶ connection (a thread each)
//!                         handshake      bytes in, bytes out: pure
//!                         transmission   bytes in, bytes out: pure
//!                         wire (a socket, perhaps with TLS), schedule, timer
//! ```

mod connection;
mod entry;
pub mod handshake;
mod input;
mod limits;
mod listen;
mod numbers;
mod outbox;
#[cfg(test)]
mod power_tests;
mod server;
mod service;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
#[cfg(test)]
mod tls_tests;
pub mod transmission;
mod wire;

pub use limits::Limits;
pub(crate) use listen::Accepting;
pub use listen::{Access, Address, ListenError, Listener};
pub use server::Server;
pub use tls::{Tls, TlsError};
