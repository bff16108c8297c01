//! What clients can hold that are slow, silent or greedy. Time is that of the runtime, which goes on
//! by itself as soon as everybody waits.

use std::cell::Cell;
use std::rc::Rc;

use axum::body::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::LocalSet;

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// Answers with few words.
async fn hello(_: Request<Body>) -> Response<Body> {
    Response::new(Body::from("hello"))
}

/// Runs a client against a server that answers so.
fn with_server<A, F>(answer: A, client: impl FnOnce(std::net::SocketAddr) -> F)
where
    A: AsyncFn(Request<Body>) -> Response<Body> + Clone + 'static,
    F: Future<Output = ()>,
{
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let server = tokio::task::spawn_local(accept(vec![listener], answer));
        client(address).await;
        server.abort();
    });
}

/// All that comes until the server ends the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is cut is an end like another.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn connected(address: std::net::SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("it listens")
}

#[test]
fn a_silent_client_is_let_go() {
    with_server(hello, async |address| {
        let began = Instant::now();
        let text = rest(connected(address).await).await;
        assert!(!text.contains("hello"), "{text}");
        assert!(began.elapsed() <= TIMEOUT * 2, "{:?}", began.elapsed());
    });
}

/// Byte by byte, each within any limit of silence.
#[test]
fn a_head_that_never_ends_is_let_go() {
    with_server(hello, async |address| {
        let mut stream = connected(address).await;
        let began = Instant::now();
        stream
            .write_all(b"GET / HTTP/1.1\r\nX: ")
            .await
            .expect("sent");
        while began.elapsed() < TIMEOUT * 3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if stream.write_all(b"x").await.is_err() {
                break;
            }
        }
        assert!(began.elapsed() < TIMEOUT * 2, "{:?}", began.elapsed());
    });
}

#[test]
fn a_head_of_a_megabyte_is_refused() {
    with_server(hello, async |address| {
        let mut stream = connected(address).await;
        let line = [b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 1 << 20]].concat();
        // The server may have ended the connection before all is sent.
        let _ = stream.write_all(&line).await;
        let text = rest(stream).await;
        assert!(
            text.is_empty() || text.starts_with("HTTP/1.1 431"),
            "{text}"
        );
    });
    with_server(hello, async |address| {
        let mut stream = connected(address).await;
        let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(9000));
        stream.write_all(long.as_bytes()).await.expect("sent");
        let text = rest(stream).await;
        assert!(
            text.starts_with("HTTP/1.1 431") || text.starts_with("HTTP/1.1 414"),
            "{text}"
        );
    });
}

/// It asks for much and takes nothing.
#[test]
fn a_client_that_takes_nothing_is_let_go() {
    struct Whole(Rc<Cell<bool>>);
    impl Drop for Whole {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let is_gone = Rc::new(Cell::new(false));
    let seen = Rc::clone(&is_gone);
    let endless = async move |_: Request<Body>| {
        let piece = Bytes::from(vec![0; 1 << 16]);
        let pieces = tokio_stream::iter(std::iter::repeat(Ok::<_, Infallible>(piece)));
        Response::new(Body::from_stream(pieces))
    };
    with_server(endless, async move |address| {
        let _whole = Whole(seen);
        let mut stream = connected(address).await;
        stream.write_all(GET).await.expect("sent");
        tokio::time::sleep(TIMEOUT * 3).await;
        // What the kernel holds comes still; then there is an end.
        let mut taken = 0;
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read) = stream.read(&mut buffer).await {
            taken += read;
            if read == 0 {
                break;
            }
        }
        assert!(taken < 64 << 20, "{taken}");
    });
    assert!(is_gone.get());
}

#[test]
fn one_client_more_waits_until_another_ends() {
    with_server(hello, async |address| {
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            silent.push(connected(address).await);
        }
        tokio::task::yield_now().await;
        let mut late = connected(address).await;
        late.write_all(GET).await.expect("sent");
        let began = Instant::now();
        let mut buffer = [0; 15];
        late.read_exact(&mut buffer).await.expect("an answer");
        assert_eq!(&buffer, b"HTTP/1.1 200 OK");
        // The silent ones were let go in the meantime.
        assert!(began.elapsed() >= TIMEOUT / 2, "{:?}", began.elapsed());
        drop(silent);
    });
}

#[test]
fn what_is_no_http_is_refused() {
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01"[..],
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        with_server(hello, async move |address| {
            let mut stream = connected(address).await;
            stream.write_all(bytes).await.expect("sent");
            let text = rest(stream).await;
            assert!(!text.contains("hello"), "{text}");
        });
    }
}
