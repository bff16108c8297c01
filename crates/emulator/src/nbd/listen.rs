//! Listening sockets.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    /// Reachable from other machines.
    #[error(
        "{address} can be reached from other machines, and everything is sent in the clear; listen \
         at 127.0.0.1 or a unix socket, or add --tls-certificates DIR, or --insecure"
    )]
    Open {
        /// The address.
        address: String,
    },
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
    /// The system's refusal.
    #[error("cannot listen at {address}: {error}")]
    System {
        /// The address.
        address: String,
        /// Why.
        error: io::Error,
    },
}

impl FromStr for Address {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let wrong = || ListenError::Address(text.to_owned());
        match text.strip_prefix("unix:") {
            Some("") => Err(wrong()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => {
                let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
                let is_port = port.parse::<u16>().is_ok() && !host.is_empty();
                is_port
                    .then(|| Self::Tcp(text.to_owned()))
                    .ok_or_else(wrong)
            }
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

/// A socket that clients can connect to. A unix socket is removed with it.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    path: Option<PathBuf>,
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

    /// The next client.
    ///
    /// # Errors
    /// The kernel's, also of a client that went away.
    pub fn accept(&self) -> io::Result<OwnedFd> {
        let nobody = std::ptr::null_mut();
        // SAFETY: no address is requested; the descriptor belongs to nobody else.
        unsafe {
            let fd = libc::accept4(
                self.socket.as_raw_fd(),
                nobody,
                nobody.cast(),
                libc::SOCK_CLOEXEC,
            );
            match fd {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(OwnedFd::from_raw_fd(fd)),
            }
        }
    }

    /// By which clients find it: `nbd://127.0.0.1:10809`, `nbd+unix:///?socket=/run/volume`.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Of a unix socket: where it is.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // One that is gone needs no removal.
            let _ = fs::remove_file(path);
        }
    }
}

fn tcp(text: &str, access: Access) -> Result<Listener, ListenError> {
    let system = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse(text.to_owned()),
        _ => ListenError::System {
            address: text.to_owned(),
            error,
        },
    };
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(system)?.collect();
    if access == Access::Local && found.iter().any(|address| !address.ip().is_loopback()) {
        return Err(ListenError::Open {
            address: text.to_owned(),
        });
    }
    let socket = TcpListener::bind(&found[..]).map_err(system)?;
    let uri = socket.local_addr().map_err(system)?;
    Ok(Listener {
        socket: socket.into(),
        path: None,
        uri: format!("{}://{uri}", access.scheme()),
    })
}

fn unix(path: &Path, access: Access) -> Result<Listener, ListenError> {
    let address = format!("unix:{}", path.display());
    let system = |error| ListenError::System {
        address: address.clone(),
        error,
    };
    make_room(path, &address)?;
    let socket = bind(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ENAMETOOLONG) => ListenError::TooLong(path.to_owned()),
        Some(libc::EADDRINUSE) => ListenError::InUse(address.clone()),
        Some(libc::ENOENT) => ListenError::NoFolder(path.parent().unwrap_or(path).to_owned()),
        _ => system(error),
    })?;
    let whole = std::path::absolute(path).map_err(system)?;
    Ok(Listener {
        socket,
        uri: format!("{}+unix:///?socket={}", access.scheme(), whole.display()),
        path: Some(whole),
    })
}

/// Removes a socket at which nobody listens: a killed server left it.
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
        _ => Err(ListenError::InUse(address.to_owned())),
    }
}

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// As the standard library does, but with the mode 0600 from the first moment.
fn bind(path: &Path) -> io::Result<OwnedFd> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: zeros are a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    if bytes.len() >= address.sun_path.len() {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    if bytes.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let done = |result: i32| match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    let size = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address lives through the calls with its length; the descriptor belongs to
    // nobody else.
    unsafe {
        let fd = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(fd);
        done(libc::fchmod(socket.as_raw_fd(), 0o600))?;
        let address = (&raw const address).cast();
        done(libc::bind(socket.as_raw_fd(), address, size))?;
        done(libc::listen(socket.as_raw_fd(), BACKLOG))?;
        Ok(socket)
    }
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
    }

    #[test]
    fn other_machines_only_when_it_is_said() {
        let address = Address::Tcp("0.0.0.0:0".to_owned());
        let refused = Listener::new(&address, Access::Local).expect_err("open");
        assert!(matches!(refused, ListenError::Open { .. }), "{refused}");
        Listener::new(&address, Access::Insecure).expect("allowed");
        Listener::new(&Address::Tcp("127.0.0.1:0".to_owned()), Access::Local)
            .expect("this machine");
    }
}
