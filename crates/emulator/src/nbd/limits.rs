//! Limits of one client.

use blocklab_units::{Nanos, with_defaults};

with_defaults! {
    /// Limits that protect clients from each other.
    #[derive(Debug, Clone, Copy)]
    pub struct Limits {
        /// Clients at a time. One more replaces the client that has been in its handshake longest; if
        /// none is in its handshake, it is turned away.
        pub connections: usize = 128,
        /// Time for the handshake.
        pub handshake: Nanos = Nanos::from_secs(10),
        /// Time without a byte in the midst of a request or of its reply.
        pub within_request: Nanos = Nanos::from_secs(30),
        /// Requests in flight on a connection; further ones wait in the socket.
        pub in_flight: usize = 1024,
    }
}
