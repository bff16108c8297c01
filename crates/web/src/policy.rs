//! In: the inline styles and scripts of the pages. Out: response headers by which a browser accepts
//! these and nothing else.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The headers of every response.
///
/// Scripts and styles are inline, so that a saved page works as a file. The policy lists the hash of
/// each, so that the browser runs no other.
pub fn headers(styles: &[String], scripts: &[String]) -> HeaderMap {
    let policy = format!(
        "default-src 'none'; script-src{}; style-src{}; img-src data: blob:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hashes(scripts),
        hashes(styles)
    );
    let mut headers: HeaderMap = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ]
    .into_iter()
    .map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    })
    .collect();
    let policy = HeaderValue::from_str(&policy).expect("letters and hashes");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers
}

/// The sources of a policy's directive, a space before each.
fn hashes(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text))))
        .collect()
}
