//! TLS with certificates on both sides, from a folder as other servers of NBD have it.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::socket;

/// Whose certificates are trusted.
const AUTHORITY: &str = "ca-cert.pem";
/// Who the server is.
const CERTIFICATE: &str = "server-cert.pem";
/// What proves it.
const KEY: &str = "server-key.pem";

/// Why a folder of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that is not there or holds something else, and what is the matter.
    #[error(
        "{0}: {1}; the folder of --tls-certificates holds {AUTHORITY}, {CERTIFICATE} and \
         {KEY} as PEM, as for qemu-nbd and nbdkit"
    )]
    File(PathBuf, String),
    /// Certificate and key.
    #[error("{0}: {CERTIFICATE} and {KEY} cannot be used together: {1}")]
    Pair(PathBuf, rustls::Error),
    /// The authority.
    #[error("{0}: {AUTHORITY} cannot verify anybody: {1}")]
    Authority(PathBuf, VerifierBuilderError),
    /// An error of the TLS library.
    #[error("TLS cannot be begun: {0}")]
    Library(rustls::Error),
}

/// The certificate of the server, and the authority of the clients that it lets in.
#[derive(Debug, Clone)]
pub struct Tls(Arc<ServerConfig>);

impl Tls {
    /// From `ca-cert.pem`, `server-cert.pem` and `server-key.pem`. A client has to show a
    /// certificate of that authority too.
    ///
    /// # Errors
    /// Where one of them is missing or does not fit.
    pub fn from_folder(folder: &Path) -> Result<Self, TlsError> {
        let chain = read_file(&folder.join(CERTIFICATE), certificates)?;
        let key = read_file(&folder.join(KEY), |path| PrivateKeyDer::from_pem_file(path))?;
        let authority = folder.join(AUTHORITY);
        let mut roots = RootCertStore::empty();
        for root in read_file(&authority, certificates)? {
            let added = roots.add(root);
            added.map_err(|error| TlsError::File(authority.clone(), error.to_string()))?;
        }
        let provider = Arc::new(ring::default_provider());
        let clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .map_err(|error| TlsError::Authority(folder.to_owned(), error))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Library)?
            .with_client_cert_verifier(clients)
            .with_single_cert(chain, key)
            .map_err(|error| TlsError::Pair(folder.to_owned(), error))?;
        // A connection of NBD lasts: nothing is kept for the next one.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self(Arc::new(config)))
    }

    /// The TLS session of one connection, whose handshake comes first.
    pub(super) fn new_session(&self) -> io::Result<Cipher> {
        let session = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Ok(Cipher {
            session,
            arrived: vec![0; ARRIVED].into(),
            taken: 0,
            filled: 0,
            leaving: Vec::new(),
            sent: 0,
            holds_some: false,
        })
    }
}

/// Reads one file with `read`; an error names it.
fn read_file<T>(path: &Path, read: impl Fn(&Path) -> Result<T, pem::Error>) -> Result<T, TlsError> {
    // A pipe would block, and a device may have no end.
    if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
        return Err(TlsError::File(
            path.to_owned(),
            "it is no regular file".to_owned(),
        ));
    }
    read(path).map_err(|error| {
        let why = match error {
            pem::Error::Io(error) => error.to_string(),
            pem::Error::NoItemsFound => "nothing of its kind is in it".to_owned(),
            error => error.to_string(),
        };
        TlsError::File(path.to_owned(), why)
    })
}

/// All certificates of a file; at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)?.collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(pem::Error::NoItemsFound);
    }
    Ok(found)
}

/// Encrypted bytes that are taken from a socket at a time: four records of the longest kind.
const ARRIVED: usize = 64 << 10;

/// The TLS of one connection, between a socket that never waits and plain bytes.
#[derive(Debug)]
pub(super) struct Cipher {
    session: ServerConnection,
    /// From the socket, and not deciphered yet: from `taken` to `filled`.
    arrived: Box<[u8]>,
    taken: usize,
    filled: usize,
    /// Encrypted bytes for the socket, and how many of them were sent.
    leaving: Vec<u8>,
    sent: usize,
    /// Whether the last receiver had too little room.
    holds_some: bool,
}

impl Cipher {
    /// Whether bytes may be left here, because the last receiver had too little room.
    pub(super) const fn holds_some(&self) -> bool {
        self.holds_some
    }

    /// As [`socket::receive`], with the bytes deciphered.
    pub(super) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        room: &mut [u8],
        wait: bool,
    ) -> io::Result<Option<usize>> {
        let mut got = 0;
        self.holds_some = false;
        loop {
            match self.session.reader().read(&mut room[got..]) {
                // The client's farewell, or the end without one: nothing can be forged by it,
                // since requests and replies have lengths.
                Ok(0) => return Ok(Some(got)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(got)),
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.decipher(socket, wait && got == 0)? {
                        return Ok((got > 0).then_some(got));
                    }
                }
                Err(error) => return Err(error),
            }
            if got == room.len() {
                self.holds_some = true;
                return Ok(Some(got));
            }
        }
    }

    /// Deciphers what has arrived. Returns whether anything had.
    fn decipher(&mut self, socket: BorrowedFd<'_>, wait: bool) -> io::Result<bool> {
        if self.taken == self.filled {
            self.taken = 0;
            self.filled = 0;
            match socket::receive(socket, &mut self.arrived, wait)? {
                None => return Ok(false),
                // Zero is passed on, so that the session knows of the end.
                Some(got) => self.filled = got,
            }
        }
        let mut bytes = &self.arrived[self.taken..self.filled];
        self.taken += self.session.read_tls(&mut bytes)?;
        if let Err(error) = self.session.process_new_packets() {
            // An alert reports the reason, if the client still reads.
            let _ = self.flush(socket);
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        Ok(true)
    }

    /// Encrypts bytes and sends what the socket takes. Returns how many were taken; `None`: older
    /// ones are unsent.
    pub(super) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        bytes: &[u8],
    ) -> io::Result<Option<usize>> {
        // No more is taken while older bytes are unsent, so a client that reads nothing makes at most
        // one buffer of the session wait here.
        if !self.flush(socket)? {
            return Ok(None);
        }
        let taken = self.session.writer().write(bytes)?;
        self.flush(socket)?;
        Ok(Some(taken))
    }

    /// Sends encrypted bytes. Returns whether none is left.
    pub(super) fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        loop {
            while self.sent < self.leaving.len() {
                match socket::send(socket, &self.leaving[self.sent..])? {
                    None => return Ok(false),
                    Some(sent) => self.sent += sent,
                }
            }
            self.leaving.clear();
            self.sent = 0;
            if !self.session.wants_write() {
                return Ok(true);
            }
            self.session.write_tls(&mut self.leaving)?;
        }
    }

    /// Sends the farewell of TLS.
    pub(super) fn close(&mut self, socket: BorrowedFd<'_>) {
        self.session.send_close_notify();
        // A client that takes no more has gone.
        let _ = self.flush(socket);
    }
}
