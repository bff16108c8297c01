//! Listening sockets.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, listen, socket_with,
};

use crate::wait::{Interest, Waiter, Waker};

/// An address to listen at, as the user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `unix:PATH`
    Unix(PathBuf),
    /// `HOST:PORT`
    Tcp(String),
}

/// Why the server cannot listen there.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address.
    #[error("`{0}` is no address; write unix:PATH, or HOST:PORT such as localhost:10809")]
    Address(String),
    /// An address that is reachable from other machines.
    #[error(
        "{0} can be reached from other machines, and everything is sent in the clear; listen \
         at 127.0.0.1 or a unix socket, or add --tls-certificates DIR, or --insecure"
    )]
    Open(String),
    /// Somebody listens there.
    #[error("{0} is in use; stop the server that listens there, or name another one")]
    InUse(String),
    /// Something that is no socket.
    #[error("{0} exists and is no socket; name a path at which there is nothing")]
    NoSocket(PathBuf),
    /// No folder for it.
    #[error("{0} is not there; make it (mkdir), or name a path in another folder")]
    NoFolder(PathBuf),
    /// Longer than the kernel takes.
    #[error("{0} is too long for a unix socket, whose path has at most 107 bytes")]
    TooLong(PathBuf),
    /// The system's refusal of an address.
    #[error("cannot listen at {0}: {1}")]
    System(String, io::Error),
}

impl FromStr for Address {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        match (text.strip_prefix("unix:"), text.rsplit_once(':')) {
            (Some(path), _) if !path.is_empty() => Ok(Self::Unix(path.into())),
            (None, Some((host, port))) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Self::Tcp(text.to_owned()))
            }
            _ => Err(ListenError::Address(text.to_owned())),
        }
    }
}

/// Who can connect, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Programs of this machine, in the clear.
    Local,
    /// Anybody with a certificate.
    Tls,
    /// Anybody, in the clear.
    Insecure,
}

impl Access {
    const fn scheme(self) -> &'static str {
        match self {
            Self::Tls => "nbds",
            Self::Local | Self::Insecure => "nbd",
        }
    }
}

/// How long no client is accepted after one could not be.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that clients can connect to. A unix socket is removed with it.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    path: Option<PathBuf>,
    /// Device and inode of the unix socket.
    identity: Option<(u64, u64)>,
    uri: String,
}

impl Listener {
    /// Listens; a unix socket can be used by its owner only.
    ///
    /// # Errors
    /// When the place is in use or too open.
    pub fn new(address: &Address, access: Access) -> Result<Self, ListenError> {
        match address {
            Address::Unix(path) => unix(path, access),
            Address::Tcp(text) => tcp(text, access),
        }
    }

    /// Starts a thread of this name that passes on each client.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn accept_all(
        self,
        name: &str,
        take: impl Fn(OwnedFd) + Send + 'static,
    ) -> io::Result<Accepting> {
        let mut waiter = Waiter::new()?;
        let waker = Arc::clone(waiter.waker());
        let stops = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stops);
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            while !stopped.load(Ordering::Acquire) {
                let Ok(ready) = waiter.wait(self.socket.as_fd(), Interest::READ, None) else {
                    return;
                };
                if !ready.read {
                    continue;
                }
                match accept_with(&self.socket, SocketFlags::CLOEXEC) {
                    Ok(client) => take(client),
                    // With no descriptor left, accepting fails at once, again and again, until a
                    // client leaves. Only the waker ends this wait early.
                    Err(_) => {
                        let _ = waiter.wait(self.socket.as_fd(), Interest::NOTHING, Some(PAUSE));
                    }
                }
            }
        })?;
        Ok(Accepting {
            waker,
            stops,
            thread: Some(thread),
        })
    }

    /// The URI for clients: `nbd://127.0.0.1:10809`, `nbd+unix:///?socket=/run/volume`.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The path of a unix socket; `None` for a port.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && identity(path) == self.identity
        {
            // One that is gone needs no removal.
            let _ = fs::remove_file(path);
        }
    }
}

/// A thread that accepts clients. It ends when it is dropped, and its socket with it.
#[derive(Debug)]
pub(crate) struct Accepting {
    waker: Arc<Waker>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed that.
            let _ = thread.join();
        }
    }
}

/// Listens on a host and port; with [`Access::Local`] only on loopback addresses.
fn tcp(text: &str, access: Access) -> Result<Listener, ListenError> {
    let system = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse(text.to_owned()),
        _ => ListenError::System(text.to_owned(), error),
    };
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(system)?.collect();
    if access == Access::Local && found.iter().any(|address| !address.ip().is_loopback()) {
        return Err(ListenError::Open(text.to_owned()));
    }
    let socket = TcpListener::bind(&found[..]).map_err(system)?;
    let bound = socket.local_addr().map_err(system)?;
    Ok(Listener {
        socket: socket.into(),
        path: None,
        identity: None,
        uri: format!("{}://{bound}", access.scheme()),
    })
}

/// The folder of a path; `.` for a name alone.
fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Listens on a socket in the file system, in place of one that no server uses any more.
fn unix(path: &Path, access: Access) -> Result<Listener, ListenError> {
    let address = format!("unix:{}", path.display());
    let system = |error| ListenError::System(address.clone(), error);
    make_room(path, &address)?;
    let socket = bind(path).map_err(|error| match error {
        Errno::NAMETOOLONG => ListenError::TooLong(path.to_owned()),
        Errno::ADDRINUSE => ListenError::InUse(address.clone()),
        Errno::NOENT => ListenError::NoFolder(folder_of(path).to_owned()),
        _ => system(error.into()),
    })?;
    let whole = std::path::absolute(path).map_err(system)?;
    Ok(Listener {
        socket,
        uri: format!("{}+unix:///?socket={}", access.scheme(), encoded(&whole)),
        identity: identity(&whole),
        path: Some(whole),
    })
}

/// Device and inode of what is at a path. The inode of an open socket is given to no other file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let facts = fs::symlink_metadata(path).ok()?;
    Some((facts.dev(), facts.ino()))
}

/// A path as the value in the query of a URI.
fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Removes a socket that a killed server left, so that its path is free.
///
/// # Errors
/// When a server listens there, or may do so, or when the path is no socket.
fn make_room(path: &Path, address: &str) -> Result<(), ListenError> {
    let Ok(facts) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !facts.file_type().is_socket() {
        return Err(ListenError::NoSocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            // If it cannot be removed, bind reports it as in use.
            let _ = fs::remove_file(path);
            Ok(())
        }
        // A server accepts clients, has too many of them, or is another user's.
        _ => Err(ListenError::InUse(address.to_owned())),
    }
}

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// As the standard library does, but with the mode 0600 from the first moment.
fn bind(path: &Path) -> Result<OwnedFd, Errno> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // `bind` gives the socket's mode to the file that it makes.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn addresses_are_a_path_or_a_host_and_a_port() {
        let parse = |text: &str| text.parse::<Address>().ok();
        assert_eq!(parse("unix:/a b"), Some(Address::Unix("/a b".into())));
        assert_eq!(parse("[::1]:9"), Some(Address::Tcp("[::1]:9".into())));
        for wrong in ["unix:", "/tmp/x", "localhost", ":10809", "a:65536", ""] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_socket_is_its_owners_and_goes_with_the_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let address = Address::Unix(path.clone());
        let listener = Listener::new(&address, Access::Local).expect("free");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = Listener::new(&address, Access::Local).expect_err("in use");
        assert!(matches!(second, ListenError::InUse(_)), "{second}");
        drop(listener);
        assert!(!path.exists());
    }

    /// The story: a server removed at its end whatever was at the path of its socket by then, such as
    /// a file of the user's.
    #[test]
    fn what_took_the_place_of_a_socket_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listener =
            Listener::new(&Address::Unix(path.clone()), Access::Local).expect("a free path");
        fs::remove_file(&path).expect("somebody removes it");
        fs::write(&path, b"a file").expect("written");
        drop(listener);
        assert_eq!(fs::read(&path).expect("there"), b"a file");
    }

    /// The URI of `unix:/tmp/my volume` was one that no client could parse.
    #[test]
    fn a_uri_names_any_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a b&50%");
        let listener = Listener::new(&Address::Unix(path), Access::Tls).expect("free");
        let uri = listener.uri();
        assert!(uri.starts_with("nbds+unix:///?socket=/"), "{uri}");
        assert!(uri.ends_with("/a%20b%2650%25"), "{uri}");
    }

    #[test]
    fn what_a_killed_server_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).expect("free"));
        assert!(path.exists(), "left behind");
        Listener::new(&Address::Unix(path.clone()), Access::Local).expect("made room");
        fs::write(&path, b"a file").expect("written");
        let refused =
            Listener::new(&Address::Unix(path.clone()), Access::Local).expect_err("no socket");
        assert!(matches!(refused, ListenError::NoSocket(_)), "{refused}");
        assert_eq!(fs::read(&path).expect("there"), b"a file");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let address = Address::Unix("/nowhere/at/all".into());
        let refused = Listener::new(&address, Access::Local).expect_err("no folder");
        assert!(
            refused.to_string().starts_with("/nowhere/at is not there"),
            "{refused}"
        );
        // The story: in a working directory that was removed, a bare name gave " is not there".
        assert_eq!(folder_of(Path::new("socket")), Path::new("."));
    }

    #[test]
    fn other_machines_only_when_it_is_said() {
        let address = Address::Tcp("0.0.0.0:0".to_owned());
        let refused = Listener::new(&address, Access::Local).expect_err("open");
        assert!(matches!(refused, ListenError::Open(_)), "{refused}");
        Listener::new(&address, Access::Insecure).expect("allowed");
        Listener::new(&Address::Tcp("127.0.0.1:0".to_owned()), Access::Local)
            .expect("this machine");
    }
}
