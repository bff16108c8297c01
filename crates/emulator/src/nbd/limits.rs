//! Limits of one client.

use blocklab_units::Nanos;

/// Limits that protect clients from each other.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Clients at a time. One more replaces the client that has been in its handshake longest; if none
    /// is in its handshake, it is turned away.
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
