//! In: the head of a request. Out: whether it is admitted, decided before it is routed.
//!
//! Two attackers are kept out. A web page of somebody else, open in the user's browser, can send
//! requests to any address; and where its own host name resolves to loopback (DNS rebinding), it can
//! read the responses. Other users of the machine can connect to loopback, too.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};

use crate::token::Token;

/// The access check, with the secrets that it compares.
#[derive(Debug, Clone)]
pub struct Entrance {
    /// The address the server listens on.
    pub address: SocketAddr,
    /// Opens a session, as often as it is shown.
    pub token: Token,
    /// The value of the session cookie. It is valid until the process ends.
    pub session: Token,
    /// Opens one session in place of the token; `None` once it has been used.
    pub one_time_token: Arc<Mutex<Option<Token>>>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The `Host` header has a name that this server does not accept.
    #[error("this server answers to 127.0.0.1, localhost and [::1] with its port only")]
    Host,
    /// The request comes from a page of another site.
    #[error("requests from pages of others are refused")]
    Origin,
    /// The method is neither GET nor HEAD.
    #[error("these pages are read-only: GET and HEAD")]
    Method,
    /// The request has a body.
    #[error("a request to read has no body")]
    Body,
    /// The request shows neither the session cookie nor the token.
    #[error("the token is missing or another one: open the address that `blocklab serve` printed")]
    Token,
}

impl Refusal {
    /// The HTTP status of the response.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Body => StatusCode::BAD_REQUEST,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }
}

/// The page whose script opens a session. It shows nothing of the store.
pub const ENTER_PATH: &str = "/enter";
/// Where that script sends the token to get the session cookie.
pub const SESSION_PATH: &str = "/session";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Entrance {
    /// Admits a request or refuses it.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, &header::HOST).ok_or(Refusal::Host)?;
        // A request line may have a whole URL; its host must then be the same as the header's.
        let authority = uri.authority().map(|authority| authority.as_str());
        if !self.answers_to(host) || authority.is_some_and(|name| name != host) {
            return Err(Refusal::Host);
        }
        // Browsers add these headers and pages cannot change them. Programs like curl send neither,
        // which is fine. `none` is what a browser sends for an address that its user typed.
        if !all_headers(headers, &header::ORIGIN, |origin| {
            origin.strip_prefix("http://") == Some(host)
        }) || !all_headers(headers, &FETCH_SITE, |site| {
            ["same-origin", "none"].contains(&site)
        }) {
            return Err(Refusal::Origin);
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            return Err(Refusal::Method);
        }
        if headers.contains_key(header::TRANSFER_ENCODING)
            || !all_headers(headers, &header::CONTENT_LENGTH, |length| length == "0")
        {
            return Err(Refusal::Body);
        }
        // The one-time token opens a session and nothing else: it is good for one path.
        let opens_session = uri.path() == SESSION_PATH && self.has_one_time_token(headers);
        let is_open = uri.path() == ENTER_PATH;
        if is_open || opens_session || self.has_session(headers) || self.has_token(headers) {
            Ok(())
        } else {
            Err(Refusal::Token)
        }
    }

    /// Whether the server accepts this value of the `Host` header: host and port, which clients leave out
    /// where it is 80, that of HTTP.
    ///
    /// Names other than `localhost` are refused, because their owner can let them resolve to this
    /// machine. Its own address is accepted, and any other where it listens beyond loopback: an address
    /// cannot be redirected.
    fn answers_to(&self, host: &str) -> bool {
        let port = self.address.port();
        let name = match host.strip_suffix(&format!(":{port}")) {
            Some(name) => name,
            None if port == 80 => host,
            None => return false,
        };
        let is_local = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
        let bare = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let own = self.address.ip();
        let address = bare.unwrap_or(name).parse::<IpAddr>();
        is_local || address.is_ok_and(|address| address == own || !own.is_loopback())
    }

    /// Whether the request has the token in its `Authorization` header, which a page of another site
    /// cannot set.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|token| self.token.is(token))
    }

    fn one_time_token(&self) -> MutexGuard<'_, Option<Token>> {
        let token = self.one_time_token.lock();
        token.expect("no panic under this lock")
    }

    /// Whether the request has the one-time token there.
    fn has_one_time_token(&self, headers: &HeaderMap) -> bool {
        self.one_time_token()
            .as_ref()
            .zip(bearer(headers))
            .is_some_and(|(known, shown)| known.is(shown))
    }

    /// Whether these headers open a session. The one-time token is used up by it.
    pub fn opens(&self, headers: &HeaderMap) -> bool {
        if self.has_one_time_token(headers) {
            *self.one_time_token() = None;
            return true;
        }
        self.has_token(headers)
    }

    /// Accepts this token for one session, in place of an earlier one-time token.
    pub fn allow_once(&self, token: Token) {
        *self.one_time_token() = Some(token);
    }

    /// Whether the request has the session cookie.
    fn has_session(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
        pairs.any(|pair| {
            let pair = pair.trim().split_once('=');
            pair.is_some_and(|(key, value)| key == name && self.session.is(value))
        })
    }

    /// The session cookie as a `Set-Cookie` value. Without an age, the browser drops it when it ends.
    pub fn cookie(&self) -> String {
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            self.session.text()
        )
    }

    /// The name has the port in it, because a browser sends the cookies of a host to all of its ports:
    /// two servers would overwrite each other's session.
    fn cookie_name(&self) -> String {
        format!("blocklab-{}", self.address.port())
    }
}

/// The bearer token of a request, right or wrong.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, &header::AUTHORIZATION)?.strip_prefix("Bearer ")
}

/// The text of a header that occurs exactly once. A repeated one gives `None`: which of the two a
/// proxy or a browser meant cannot be known.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then(|| first.to_str().ok())?
}

/// Whether all headers of this name fit; true when there are none.
fn all_headers(headers: &HeaderMap, name: &HeaderName, fits: impl Fn(&str) -> bool) -> bool {
    headers
        .get_all(name)
        .iter()
        .all(|value| value.to_str().is_ok_and(&fits))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn entrance(address: &str) -> Entrance {
        let token = |text: &str| Token::from_text(text).expect("a token");
        Entrance {
            address: address.parse().expect("an address"),
            token: token("0123456789abcdef0123456789abcdef"),
            session: token("fedcba9876543210fedcba9876543210"),
            one_time_token: Arc::default(),
        }
    }

    const LOCAL: &str = "127.0.0.1:7411";
    const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    const COOKIE: (&str, &str) = (
        "cookie",
        "a=b; blocklab-7411=fedcba9876543210fedcba9876543210",
    );

    fn admitted(
        at: &str,
        (method, uri): (&str, &str),
        lines: &[(&'static str, &str)],
    ) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_str(value).expect("a value");
            headers.append(HeaderName::from_static(name), value);
        }
        let method = method.parse().expect("a method");
        entrance(at).admit(&method, &uri.parse().expect("a uri"), &headers)
    }

    #[track_caller]
    fn check(lines: &[(&'static str, &str)], expected: Result<(), Refusal>) {
        assert_eq!(admitted(LOCAL, ("GET", "/"), lines), expected, "{lines:?}");
    }

    #[test]
    fn it_answers_to_its_own_names_only() {
        for host in ["127.0.0.1:7411", "localhost:7411", "[::1]:7411"] {
            check(&[("host", host), BEARER], Ok(()));
        }
        for host in [
            "evil.test:7411",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:7411.evil.test",
            "127.0.0.1.evil.test:7411",
            "localhost.evil.test:7411",
            "LOCALHOST:7411 ",
            "10.0.0.7:7411",
            "[::1]:74110",
            "",
        ] {
            check(&[("host", host), BEARER], Err(Refusal::Host));
        }
        check(&[BEARER], Err(Refusal::Host));
        let twice = [("host", LOCAL), ("host", "evil.test:7411"), BEARER];
        check(&twice, Err(Refusal::Host));
        let other = admitted(
            LOCAL,
            ("GET", "http://evil.test:7411/"),
            &[("host", LOCAL), BEARER],
        );
        assert_eq!(other, Err(Refusal::Host));
    }

    /// Beyond loopback it is named by an address: a name could lead anywhere.
    #[test]
    fn elsewhere_it_answers_to_addresses() {
        let at = "0.0.0.0:7411";
        let by = |host: &str| admitted(at, ("GET", "/"), &[("host", host), BEARER]);
        assert_eq!(by("10.0.0.7:7411"), Ok(()));
        assert_eq!(by("[fe80::1]:7411"), Ok(()));
        assert_eq!(by("127.0.0.1:7411"), Ok(()));
        assert_eq!(by("evil.test:7411"), Err(Refusal::Host));
        assert_eq!(by("10.0.0.7:80"), Err(Refusal::Host));
    }

    /// The story: `serve --listen 127.0.0.2:7412` printed an address at which everybody was refused.
    #[test]
    fn it_answers_to_the_address_at_which_it_listens() {
        let by = |host: &str| admitted("127.0.0.2:7411", ("GET", "/"), &[("host", host), BEARER]);
        assert_eq!(by("127.0.0.2:7411"), Ok(()));
        assert_eq!(by("127.0.0.3:7411"), Err(Refusal::Host));
    }

    /// The story: `serve --port 80` printed an address that every browser was refused at, since none sends
    /// the port of HTTP.
    #[test]
    fn the_port_of_http_may_be_left_out() {
        let by = |host: &str| admitted("0.0.0.0:80", ("GET", "/"), &[("host", host), BEARER]);
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "[::1]:80",
            "10.0.0.7",
            "10.0.0.7:80",
        ] {
            assert_eq!(by(host), Ok(()), "{host}");
        }
        for host in ["evil.test", "127.0.0.1:81", "127.0.0.1:", "[::1]:8080", ""] {
            assert_eq!(by(host), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn pages_of_others_are_refused() {
        let from = |name, value| [("host", LOCAL), BEARER, (name, value)];
        for origin in [
            "http://evil.test:7411",
            "null",
            "https://127.0.0.1:7411",
            "http://localhost:7411",
        ] {
            check(&from("origin", origin), Err(Refusal::Origin));
        }
        check(&from("origin", "http://127.0.0.1:7411"), Ok(()));
        for site in ["cross-site", "same-site", "anything"] {
            check(&from("sec-fetch-site", site), Err(Refusal::Origin));
        }
        for site in ["same-origin", "none"] {
            check(&from("sec-fetch-site", site), Ok(()));
        }
    }

    #[test]
    fn nothing_comes_in_without_the_token() {
        check(&[("host", LOCAL)], Err(Refusal::Token));
        check(&[("host", LOCAL), COOKIE], Ok(()));
        for (name, value) in [
            ("authorization", "Bearer 0123456789abcdef0123456789abcdee"),
            ("authorization", "Bearer "),
            ("authorization", "0123456789abcdef0123456789abcdef"),
            // Neither stands for the other.
            ("authorization", "Bearer fedcba9876543210fedcba9876543210"),
            ("cookie", "blocklab-7411=0123456789abcdef0123456789abcdef"),
            ("cookie", "blocklab-80=fedcba9876543210fedcba9876543210"),
            ("cookie", "x=blocklab-7411=fedcba9876543210fedcba9876543210"),
        ] {
            check(&[("host", LOCAL), (name, value)], Err(Refusal::Token));
        }
    }

    /// The command that opens a browser shows its arguments to every user of the machine.
    #[test]
    fn what_opens_a_session_once_does_so_once() {
        let entrance = entrance(LOCAL);
        entrance.allow_once(Token::from_text("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").expect("a token"));
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(LOCAL));
        let once = HeaderValue::from_static("Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        headers.insert(header::AUTHORIZATION, once);
        let admit =
            |path: &'static str| entrance.admit(&Method::GET, &Uri::from_static(path), &headers);
        assert_eq!(admit("/runs.json"), Err(Refusal::Token));
        assert_eq!(admit(SESSION_PATH), Ok(()));
        assert!(entrance.opens(&headers));
        assert!(!entrance.opens(&headers));
        assert_eq!(admit(SESSION_PATH), Err(Refusal::Token));
    }

    #[test]
    fn it_is_read_only() {
        let lines = [("host", LOCAL), BEARER];
        assert_eq!(admitted(LOCAL, ("HEAD", "/"), &lines), Ok(()));
        for method in [
            "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND",
        ] {
            let uri = if method == "CONNECT" { LOCAL } else { "/" };
            assert_eq!(
                admitted(LOCAL, (method, uri), &lines),
                Err(Refusal::Method),
                "{method}"
            );
        }
        check(
            &[("host", LOCAL), BEARER, ("content-length", "5")],
            Err(Refusal::Body),
        );
        check(
            &[("host", LOCAL), BEARER, ("transfer-encoding", "chunked")],
            Err(Refusal::Body),
        );
        check(&[("host", LOCAL), BEARER, ("content-length", "0")], Ok(()));
    }
}
