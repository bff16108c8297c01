//! What lies between the parsers and a socket: nothing, or TLS.

use std::io;
use std::os::fd::BorrowedFd;

use super::socket::{receive, send};
use super::tls::{Cipher, Tls};

/// One side of a connection.
#[derive(Debug)]
pub(super) struct Wire<'a> {
    socket: BorrowedFd<'a>,
    cipher: Option<Box<Cipher>>,
}

impl<'a> Wire<'a> {
    /// In the clear.
    pub(super) const fn new(socket: BorrowedFd<'a>) -> Self {
        Self {
            socket,
            cipher: None,
        }
    }

    /// From now on everything is TLS, with its handshake first.
    pub(super) fn encrypt(&mut self, tls: &Tls) -> io::Result<()> {
        self.cipher = Some(Box::new(tls.new_session()?));
        Ok(())
    }

    /// To wait for.
    pub(super) const fn socket(&self) -> BorrowedFd<'a> {
        self.socket
    }

    /// Whether bytes are buffered here, for which the socket does not become readable.
    pub(super) fn holds_some(&self) -> bool {
        self.cipher
            .as_ref()
            .is_some_and(|cipher| cipher.holds_some())
    }

    /// Takes what is there; with `wait`, until something is. `None`: nothing; zero: the end.
    pub(super) fn receive(&mut self, room: &mut [u8], wait: bool) -> io::Result<Option<usize>> {
        match &mut self.cipher {
            None => receive(self.socket, room, wait),
            Some(cipher) => cipher.receive(self.socket, room, wait),
        }
    }

    /// Takes what can be sent without waiting; `None`: nothing now.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match &mut self.cipher {
            None => send(self.socket, bytes),
            Some(cipher) => cipher.send(self.socket, bytes),
        }
    }

    /// Sends what was taken and not sent. Whether nothing is left.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        match &mut self.cipher {
            None => Ok(true),
            Some(cipher) => cipher.flush(self.socket),
        }
    }

    /// Sends the end of the stream, so that the client knows that the connection was not cut.
    pub(super) fn close(&mut self) {
        if let Some(cipher) = &mut self.cipher {
            cipher.close(self.socket);
        }
    }
}
