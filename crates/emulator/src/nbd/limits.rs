//! What a client may take.

use blocklab_units::Nanos;

/// What one client may take from the others.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Clients at a time. One more takes the place of the one that has dallied longest over its
    /// handshake, and is turned away where there is none.
    pub connections: usize,
    /// Time for the handshake.
    pub handshake: Nanos,
    /// Time without a byte in the midst of a request or of its reply.
    pub within_request: Nanos,
    /// Requests in flight on a connection; further ones wait in the socket.
    pub in_flight: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            handshake: Nanos::from_secs(10),
            within_request: Nanos::from_secs(30),
            in_flight: 1024,
        }
    }
}
