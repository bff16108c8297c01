//! Clients with certificates, without, with somebody else's, and such that stop in the midst.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use blocklab_units::Nanos;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use super::connection::serve;
use super::numbers::{MAX_BLOCK, command};
use super::server::CLIENT_STACK;
use super::service::Service;
use super::tests::{export, request, volume};
use super::{Limits, Tls, TlsError};
use crate::Spin;

/// An authority, a server and a client; `None` where there is no openssl.
fn certificates() -> Option<TempDir> {
    let mut openssl = Command::new("openssl");
    if openssl
        .arg("version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        eprintln!("skipped: no openssl to make certificates with");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/certificates");
    let made = Command::new(script).arg(folder.path()).status();
    assert!(made.expect("a script").success());
    Some(folder)
}

/// A connection on which nothing was sent.
fn connect(pki: &Path, limits: Limits) -> (UnixStream, JoinHandle<io::Result<()>>) {
    let (socket, theirs) = UnixStream::pair().expect("a pair");
    // A server that hangs fails the test instead of holding it up.
    let patience = Some(Duration::from_secs(30));
    socket.set_read_timeout(patience).expect("a limit");
    let service = Service {
        exports: vec![export()],
        volumes: vec![volume()],
        limits,
        spin: Spin::Off,
        tls: Some(Tls::from_folder(pki).expect("certificates")),
    };
    let thread = std::thread::Builder::new().stack_size(CLIENT_STACK);
    let work = move || serve(&service, &OwnedFd::from(theirs), &|| {});
    (socket, thread.spawn(work).expect("a thread"))
}

fn get<const LEN: usize>(from: &mut impl Read) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    from.read_exact(&mut bytes).expect("the server answers");
    bytes
}

const STARTTLS: &[u8] = b"IHAVEOPT\0\0\0\x05\0\0\0\0";

/// Greeted, and TLS agreed on.
fn agree(socket: &mut UnixStream) {
    get::<18>(socket);
    socket.write_all(&3u32.to_be_bytes()).expect("flags");
    socket.write_all(STARTTLS).expect("the option");
    assert_eq!(get::<20>(socket)[12..16], [0, 0, 0, 1], "agreed");
}

/// TLS by somebody who trusts `pki` and is who `own` says.
fn encrypted(
    socket: UnixStream,
    pki: &Path,
    own: Option<&Path>,
) -> StreamOwned<ClientConnection, UnixStream> {
    let certificate = |path| CertificateDer::from_pem_file(path).expect("a certificate");
    let mut roots = RootCertStore::empty();
    let authority = certificate(pki.join("ca-cert.pem"));
    roots.add(authority).expect("an authority");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions();
    let config = config.expect("TLS 1.3").with_root_certificates(roots);
    let config = match own {
        None => config.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::from_pem_file(own.join("client-key.pem")).expect("a key");
            let chain = vec![certificate(own.join("client-cert.pem"))];
            config.with_client_auth_cert(chain, key).expect("a pair")
        }
    };
    let name = ServerName::try_from("localhost").expect("a name");
    let session = ClientConnection::new(Arc::new(config), name).expect("a session");
    StreamOwned::new(session, socket)
}

#[test]
fn what_is_written_by_tls_is_read_by_tls() {
    let Some(pki) = certificates() else { return };
    let (mut socket, server) = connect(pki.path(), Limits::default());
    agree(&mut socket);
    let mut client = encrypted(socket, pki.path(), Some(pki.path()));
    client.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").expect("in");
    get::<10>(&mut client);
    let data: Vec<u8> = (0..MAX_BLOCK).map(|at| (at / 4099) as u8).collect();
    let long = request(command::WRITE, 0, 1, 4097, MAX_BLOCK);
    client.write_all(&long).expect("sent");
    client.write_all(&data).expect("sent");
    get::<16>(&mut client);
    // More than a buffer holds, before any answer is read.
    let lookups = |cookie| request(command::READ, 0, cookie, 4097 * cookie, 1);
    let many: Vec<u8> = (1..=15_000).flat_map(lookups).collect();
    client.write_all(&many).expect("sent");
    for cookie in 1..=15_000u64 {
        let reply = get::<17>(&mut client);
        assert_eq!(reply[8..16], cookie.to_be_bytes());
        assert_eq!(reply[16], data[4097 * (cookie as usize - 1)]);
    }
    client
        .write_all(&request(command::READ, 0, 2, 4097, MAX_BLOCK))
        .expect("sent");
    get::<16>(&mut client);
    let mut read = vec![0; MAX_BLOCK as usize];
    client.read_exact(&mut read).expect("read");
    assert!(read == data, "the same bytes");
    let ends = request(command::DISCONNECT, 0, 3, 0, 0);
    client.write_all(&ends).expect("sent");
    // A farewell, and no connection that was cut.
    assert_eq!(client.read(&mut [0]).expect("an orderly end"), 0);
    server.join().expect("no panic").expect("a sound client");
}

#[test]
fn without_a_certificate_of_the_authority_nobody_gets_in() {
    let Some(pki) = certificates() else { return };
    let stranger = certificates().expect("as before");
    for own in [None, Some(stranger.path())] {
        let (mut socket, server) = connect(pki.path(), Limits::default());
        agree(&mut socket);
        let mut client = encrypted(socket, pki.path(), own);
        let error = client.read_exact(&mut [0]).expect_err("refused");
        let error = error.to_string();
        assert!(
            error.contains("alert"),
            "the alert names the reason: {error}"
        );
        server.join().expect("no panic").expect_err("a stranger");
    }
}

#[test]
fn in_the_clear_nothing_is_served() {
    let Some(pki) = certificates() else { return };
    // A request before the handshake, an export by the oldest option, and bytes behind STARTTLS
    // that a third party added: each ends the connection.
    let read = request(command::READ, 0, 1, 0, 4096);
    let by_name = b"IHAVEOPT\0\0\0\x01\0\0\0\0".to_vec();
    let injected = [STARTTLS, &by_name].concat();
    for (sent, answer) in [(read, 0), (by_name, 0), (injected, 20)] {
        let (mut socket, server) = connect(pki.path(), Limits::default());
        get::<18>(&mut socket);
        let sent = [&3u32.to_be_bytes()[..], &sent].concat();
        socket.write_all(&sent).expect("sent");
        let mut rest = Vec::new();
        // An end with unread bytes is a reset.
        let _ = socket.read_to_end(&mut rest);
        assert_eq!(rest.len(), answer, "{rest:?}");
        let _ = server.join().expect("no panic");
    }
}

/// Each of them would otherwise hold a thread and a place for ever.
#[test]
fn who_stops_in_the_midst_of_the_handshake_of_tls_is_hung_up_on() {
    let Some(pki) = certificates() else { return };
    let limits = Limits {
        handshake: Nanos::from_millis(50),
        ..Limits::default()
    };
    // The header of a record that never comes, and nothing at all.
    for sent in [&[22, 3, 1, 2, 0, 1][..], &[]] {
        let (mut socket, server) = connect(pki.path(), limits);
        agree(&mut socket);
        socket.write_all(sent).expect("sent");
        let _ = socket.read_to_end(&mut Vec::new()).expect("the end");
        server
            .join()
            .expect("no panic")
            .expect("no error of its own");
    }
    let (mut socket, server) = connect(pki.path(), limits);
    agree(&mut socket);
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    let _ = socket.read_to_end(&mut Vec::new());
    server.join().expect("no panic").expect_err("no TLS");
}

#[test]
fn a_folder_that_lacks_something_is_named() {
    let Some(pki) = certificates() else { return };
    let path = |name: &str| pki.path().join(name);
    let refused = |why: &str| {
        let error = Tls::from_folder(pki.path()).expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
        error
    };
    std::fs::copy(path("client-key.pem"), path("server-key.pem")).expect("copied");
    assert!(matches!(refused("used together"), TlsError::Pair(..)));
    std::fs::write(path("server-key.pem"), "no key").expect("written");
    refused("server-key.pem");
    std::fs::remove_file(path("ca-cert.pem")).expect("removed");
    std::fs::copy(path("client-key.pem"), path("server-cert.pem")).expect("copied");
    refused("server-cert.pem: nothing of its kind");
    std::fs::copy(path("client-cert.pem"), path("server-cert.pem")).expect("copied");
    std::fs::copy(path("client-key.pem"), path("server-key.pem")).expect("copied");
    refused("ca-cert.pem: No such file");
    // A link to /dev/zero took all memory of the machine, and a pipe waited for ever, deaf to signals.
    std::os::unix::fs::symlink("/dev/zero", path("ca-cert.pem")).expect("linked");
    refused("ca-cert.pem: it is no regular file");
}
