//! Clients over a pair of sockets, well-behaved and not. None sleeps: a reply, an end or a limit of
//! the server is waited for.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use blocklab_device::Direction;
use blocklab_units::{Bytes, Nanos};

use super::connection::serve;
use super::handshake::Export;
use super::numbers::{MAX_BLOCK, command, command_flag as flag};
use super::service::Service;
use super::{Access, Address, Limits, Listener, Server};
use crate::{Extent, Loss, Spin, Volume, VolumeSetup};

pub(super) const SIZE: u64 = 80 << 20;

pub(super) fn volume() -> Arc<Volume> {
    Volume::new(VolumeSetup::in_memory(Bytes(SIZE)))
}

pub(super) fn export() -> Export {
    Export {
        name: "v".to_owned(),
        description: "a volume".to_owned(),
        size: SIZE,
        read_only: false,
        rotational: false,
    }
}

pub(super) struct Client {
    socket: UnixStream,
    pub(super) volume: Arc<Volume>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Client {
    /// Connected, nothing sent.
    fn new(limits: Limits) -> Self {
        let (socket, theirs) = UnixStream::pair().expect("a pair");
        // A server that hangs fails the test instead of holding it up.
        let patience = Some(Duration::from_secs(30));
        socket.set_read_timeout(patience).expect("a limit");
        let volume = volume();
        let service = Service {
            exports: vec![export()],
            volumes: vec![Arc::clone(&volume)],
            limits,
            spin: Spin::Off,
            tls: None,
        };
        let server = std::thread::spawn(move || serve(&service, &OwnedFd::from(theirs), &|| {}));
        Self {
            socket,
            volume,
            server,
        }
    }

    /// In transmission, with simple replies.
    pub(super) fn entered() -> Self {
        let mut client = Self::new(Limits::default());
        client.enter();
        client
    }

    fn enter(&mut self) {
        self.get(18);
        self.put(&3u32.to_be_bytes());
        self.put(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        self.get(10);
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("the server reads");
    }

    pub(super) fn get(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.socket
            .read_exact(&mut bytes)
            .expect("the server answers");
        bytes
    }

    pub(super) fn ask(&mut self, command: u16, flags: u16, cookie: u64, offset: u64, len: u32) {
        self.put(&request(command, flags, cookie, offset, len));
    }

    /// Cookie and error of a simple reply.
    pub(super) fn reply(&mut self) -> (u64, u32) {
        let reply = self.get(16);
        assert_eq!(reply[..4], 0x6744_6698u32.to_be_bytes());
        let error = u32::from_be_bytes(reply[4..8].try_into().expect("four"));
        (
            u64::from_be_bytes(reply[8..].try_into().expect("eight")),
            error,
        )
    }

    /// Hangs up, and gives how the server took it.
    pub(super) fn leave(self) -> std::io::Result<()> {
        drop(self.socket);
        self.server.join().expect("no panic")
    }

    /// The server has hung up.
    fn assert_ended(mut self) {
        let mut rest = Vec::new();
        // Whatever it still sends, and then the end.
        let _ = self.socket.read_to_end(&mut rest);
        let _ = self.server.join().expect("no panic");
    }
}

pub(super) fn request(command: u16, flags: u16, cookie: u64, offset: u64, len: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&command.to_be_bytes());
    bytes.extend_from_slice(&cookie.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes
}

#[test]
fn what_was_written_is_read_and_a_flush_keeps_it() {
    let mut client = Client::entered();
    client.ask(command::WRITE, 0, 1, 4000, 6);
    client.put(b"before");
    client.ask(command::FLUSH, 0, 2, 0, 0);
    client.ask(command::WRITE, 0, 3, 4000, 5);
    client.put(b"after");
    client.ask(command::WRITE, flag::FUA, 4, 1 << 20, 5);
    client.put(b"force");
    for cookie in 1..=4 {
        assert_eq!(client.reply(), (cookie, 0));
    }
    client.ask(command::READ, 0, 5, 4000, 6);
    assert_eq!(client.reply(), (5, 0));
    assert_eq!(client.get(6), b"aftere");
    client.volume.cut_power(Loss::All, 1).1.expect("in memory");
    client.ask(command::READ, 0, 9, 4000, 6);
    assert_eq!(client.reply(), (9, 108), "gone until it is attached");
    client.volume.attach();
    client.ask(command::READ, 0, 6, 4000, 6);
    client.ask(command::READ, 0, 7, 1 << 20, 5);
    assert_eq!(client.reply(), (6, 0));
    assert_eq!(client.get(6), b"before");
    assert_eq!(client.reply(), (7, 0));
    assert_eq!(client.get(5), b"force");
    client.leave().expect("a sound client");
}

#[test]
fn a_request_of_the_greatest_length_goes_through_a_small_buffer() {
    let mut client = Client::entered();
    let data: Vec<u8> = (0..MAX_BLOCK).map(|at| (at / 4099) as u8).collect();
    client.ask(command::WRITE, 0, 1, 4097, MAX_BLOCK);
    client.put(&data);
    assert_eq!(client.reply(), (1, 0));
    client.ask(command::READ, 0, 2, 4097, MAX_BLOCK);
    assert_eq!(client.reply(), (2, 0));
    assert!(client.get(MAX_BLOCK as usize) == data, "the same bytes");
    client.leave().expect("a sound client");
}

#[test]
fn mistakes_of_a_request_are_answered_and_the_talk_stays_in_step() {
    let mut client = Client::entered();
    client.ask(command::READ, 0, 1, SIZE, 1);
    client.ask(99, 0, 2, 0, 0);
    client.ask(command::WRITE, 0, 3, SIZE - 2, 4);
    client.put(b"data");
    client.ask(command::WRITE, 1 << 14, 4, 0, 4);
    client.put(b"data");
    client.ask(command::BLOCK_STATUS, 0, 5, 0, 4096);
    client.ask(command::WRITE, 0, 6, 0, MAX_BLOCK + 1);
    client.put(&vec![7; MAX_BLOCK as usize + 1]);
    client.ask(command::READ, 0, 7, 0, 4);
    for (cookie, error) in [(1, 22), (2, 22), (3, 28), (4, 22), (5, 22), (6, 22), (7, 0)] {
        assert_eq!(client.reply(), (cookie, error));
    }
    assert_eq!(client.get(4), [0; 4], "nothing of it was written");
    client.ask(command::DISCONNECT, 0, 8, 0, 0);
    client.assert_ended();
}

#[test]
fn what_is_no_request_ends_the_connection() {
    let mut client = Client::entered();
    client.put(&[0x42; 28]);
    client.assert_ended();
    let mut client = Client::entered();
    client.ask(command::WRITE, 0, 1, 0, u32::MAX);
    client.assert_ended();
}

#[test]
fn a_client_that_says_nothing_is_hung_up_on() {
    let short = Limits {
        handshake: Nanos::from_millis(20),
        within_request: Nanos::from_millis(20),
        ..Limits::default()
    };
    Client::new(short).assert_ended();
    // In the midst of a request, too, and never between two.
    let mut client = Client::new(short);
    client.enter();
    client.ask(command::FLUSH, 0, 1, 0, 0);
    assert_eq!(client.reply(), (1, 0));
    client.put(&request(command::WRITE, 0, 2, 0, 4096));
    client.put(&[1; 100]);
    client.assert_ended();
}

#[test]
fn a_client_that_goes_in_the_midst_leaves_nothing_in_flight() {
    let mut client = Client::entered();
    client.ask(command::WRITE, 0, 1, 0, 1 << 20);
    client.put(&[1; 5000]);
    let volume = Arc::clone(&client.volume);
    client.leave().expect("an end is no error");
    assert_eq!(volume.in_flight(), 0);
}

/// The story: a client was cut off in a write, and the bytes that had arrived were stored at once: the
/// tear lay inside a sector, which no drive does, and a database called its own pages corrupt.
#[test]
fn a_write_that_is_cut_off_leaves_whole_sectors() {
    for arrived in [10_000, 300, 512, 65_535] {
        let mut client = Client::entered();
        let volume = Arc::clone(&client.volume);
        client.ask(command::WRITE, 0, 1, 0, 65_536);
        client.put(&vec![b'A'; 65_536]);
        assert_eq!(client.reply(), (1, 0));
        client.ask(command::WRITE, 0, 2, 0, 65_536);
        client.put(&vec![b'B'; arrived]);
        let _ = client.leave();
        let mut found = Vec::new();
        volume.read(0, 65_536, &mut found).expect("it is there");
        let new = found.iter().filter(|byte| **byte == b'B').count();
        assert_eq!(new, arrived / 512 * 512, "of {arrived} bytes");
        assert!(found[new..].iter().all(|byte| *byte == b'A'), "{arrived}");
    }
}

#[test]
fn a_client_that_reads_no_replies_is_not_read_from() {
    // It asks for 64 MiB sixteen times, of which the server fetches a piece at a time.
    let short = Limits {
        within_request: Nanos::from_millis(50),
        ..Limits::default()
    };
    let mut client = Client::new(short);
    client.enter();
    for cookie in 0..16 {
        client.ask(command::READ, 0, cookie, 0, MAX_BLOCK);
    }
    let volume = Arc::clone(&client.volume);
    let ended = client.server.join().expect("no panic");
    assert_eq!(
        ended.expect_err("stalled").kind(),
        std::io::ErrorKind::TimedOut
    );
    // Settled when its reply was begun: one of the sixteen.
    assert_eq!(volume.observed().direction(Direction::Read).ios, 1);
    assert_eq!(volume.in_flight(), 0);
}

#[test]
fn trim_and_zeroes_are_zero_and_trim_gives_the_room_back() {
    let mut client = Client::entered();
    let ask = |client: &mut Client, command, flags, cookie, offset, len| {
        client.ask(command, flags, cookie, offset, len);
        assert_eq!(client.reply(), (cookie, 0));
    };
    client.ask(command::WRITE, 0, 1, 0, 16384);
    client.put(&[9; 16384]);
    assert_eq!(client.reply(), (1, 0));
    ask(&mut client, command::TRIM, 0, 2, 0, 4096);
    ask(&mut client, command::WRITE_ZEROES, 0, 3, 4096, 4096);
    ask(
        &mut client,
        command::WRITE_ZEROES,
        flag::NO_HOLE,
        4,
        8192,
        4096,
    );
    ask(&mut client, command::CACHE, 0, 5, 0, 16384);
    client.ask(command::READ, 0, 6, 0, 16384);
    assert_eq!(client.reply(), (6, 0));
    let got = client.get(16384);
    assert!(got[..12288].iter().all(|byte| *byte == 0) && got[12288..] == [9; 4096]);
    let extents = |offset| client.volume.extent(offset, SIZE - offset);
    assert_eq!(
        [extents(0), extents(8192)],
        [Extent::hole(8192), Extent::data(8192)]
    );
}

#[test]
fn hundreds_of_silent_clients_keep_nobody_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let listener = Listener::new(&Address::Unix(path.clone()), Access::Local).expect("free");
    let few = Limits {
        connections: 8,
        ..Limits::default()
    };
    let volumes = vec![(volume(), export())];
    let mut server = Server::start(volumes, vec![listener], few, Spin::Off, None).expect("threads");
    let patience = Some(Duration::from_secs(30));
    let silent: Vec<_> = (0..300)
        .map(|_| UnixStream::connect(&path).expect("accepted"))
        .collect();
    let mut honest = UnixStream::connect(&path).expect("accepted");
    honest.set_read_timeout(patience).expect("a limit");
    honest.write_all(&3u32.to_be_bytes()).expect("read");
    honest
        .write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")
        .expect("read");
    let mut reply = [0; 28];
    honest.read_exact(&mut reply).expect("served");
    // In the midst of 300 more, it is served on.
    let more: Vec<_> = (0..300).map(|_| UnixStream::connect(&path)).collect();
    honest
        .write_all(&request(command::FLUSH, 0, 5, 0, 0))
        .expect("read");
    honest.read_exact(&mut reply[..16]).expect("served");
    assert_eq!(reply[15], 5);
    assert!(server.clients() <= 8);
    server.stop();
    assert_eq!(server.clients(), 0);
    drop((silent, more));
}

/// A server at two places did not end on request: both threads waited for one waker, and the
/// first to wake hushed it before the other one had seen it.
#[test]
fn a_server_at_several_places_ends_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let (done, ended) = std::sync::mpsc::channel();
    let work = move || {
        for _ in 0..200 {
            let listener = |name| {
                let path = folder.path().join(name);
                Listener::new(&Address::Unix(path), Access::Local).expect("free")
            };
            let listeners = ["a", "b", "c"].map(listener).into();
            let volumes = vec![(volume(), export())];
            let limits = Limits::default();
            let server = Server::start(volumes, listeners, limits, Spin::Off, None);
            server.expect("threads").stop();
        }
        done.send(()).expect("somebody waits");
    };
    std::thread::spawn(work);
    let patience = Duration::from_secs(60);
    ended.recv_timeout(patience).expect("all of them ended");
}

/// A stall was ended while the data of a write arrived: its reply still waited for the moment at
/// which the stall would have ended by itself.
#[test]
fn a_stall_that_is_ended_does_not_hold_a_write_whose_data_still_arrives() {
    let mut client = Client::entered();
    let stall = crate::Fault {
        number: 1,
        from: Nanos::ZERO,
        until: Nanos::MAX,
        kind: crate::FaultKind::Stall,
        percents: [100.0; 4],
        range: None,
    };
    client.volume.inject(stall, 1);
    client.ask(command::WRITE, 0, 1, 0, 1024);
    client.put(&[1; 512]);
    while client.volume.in_flight() < 1 {
        std::thread::yield_now();
    }
    client.volume.clear(None);
    client.put(&[2; 512]);
    assert_eq!(client.reply(), (1, 0));
    client.leave().expect("a sound client");
}

#[test]
fn a_stall_holds_what_is_in_flight_and_a_detach_fails_it() {
    let mut client = Client::entered();
    let fault = |kind, until| crate::Fault {
        number: 1,
        from: Nanos::ZERO,
        until,
        kind,
        percents: [100.0; 4],
        range: None,
    };
    client
        .volume
        .inject(fault(crate::FaultKind::Stall, Nanos::MAX), 1);
    client.ask(command::FLUSH, 0, 1, 0, 0);
    client.ask(command::READ, 0, 2, 0, 4);
    while client.volume.in_flight() < 2 {
        std::thread::yield_now();
    }
    client.volume.clear(None);
    assert_eq!(client.reply(), (1, 0), "cleared, and answered at once");
    assert_eq!(client.reply(), (2, 0));
    client.get(4);
    client
        .volume
        .inject(fault(crate::FaultKind::Stall, Nanos::MAX), 1);
    client.ask(command::FLUSH, 0, 3, 0, 0);
    while client.volume.in_flight() < 1 {
        std::thread::yield_now();
    }
    client.volume.detach();
    assert_eq!(client.reply(), (3, 108), "gone in flight");
    client.ask(command::READ, 0, 4, 0, 4);
    assert_eq!(client.reply(), (4, 108), "gone on arrival, and not held");
    client.volume.clear(None);
    client.volume.attach();
    let error = crate::FaultKind::Error(crate::Failure::NoSpace);
    client.volume.inject(fault(error, Nanos::MAX), 1);
    client.ask(command::WRITE, 0, 5, 0, 4);
    client.put(b"data");
    assert_eq!(client.reply(), (5, 28));
    client.volume.clear(None);
    client.ask(command::READ, 0, 6, 0, 4);
    assert_eq!(client.reply(), (6, 0));
    assert_eq!(client.get(4), [0; 4], "a write that failed changed nothing");
    let failures = client.volume.observed().failures;
    let counts: Vec<_> = failures
        .iter()
        .map(|failure| (failure.failure, failure.count))
        .collect();
    use crate::Failure::{Detached, NoSpace};
    assert_eq!(counts, [(Detached, 1), (Detached, 1), (NoSpace, 1)]);
    client.leave().expect("a sound client");
}
