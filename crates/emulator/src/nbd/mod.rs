//! A server of the NBD protocol, fixed newstyle, as in the document `doc/proto.md` of the project
//! NetworkBlockDevice of 2026-05-02.
//!
//! ```text
//!   server ─▶ accept ─▶ connection (a thread each)
//!                         handshake      bytes in, bytes out: pure
//!                         transmission   bytes in, bytes out: pure
//!                         socket, schedule, alarm
//! ```

mod connection;
pub mod handshake;
mod input;
mod limits;
mod listen;
mod numbers;
mod outbox;
#[cfg(test)]
mod power_tests;
mod server;
#[cfg(test)]
mod tests;
pub mod transmission;

pub use limits::Limits;
pub use listen::{Address, ListenError, Listener};
pub use server::Server;
