//! The pages, one file each. In: the runs of the store, and the query of the URL. Out: a page as HTML
//! and as JSON.

pub mod compare;
pub mod live;
pub mod run;
pub mod runs;
pub mod simulate;
pub mod view;

use axum::http::StatusCode;

use crate::stored_runs::LookupError;

/// Most characters of a text field for an address or a pattern: longer than any address, and short enough
/// that all fields of a form, percent-encoded, fit into the head of a request.
pub const LONGEST_INPUT: usize = 300;

/// A page in both formats.
pub struct Page {
    /// The HTML document.
    pub html: String,
    /// The same content as JSON.
    pub json: String,
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub struct PageError {
    /// The HTTP status of the response.
    pub status: StatusCode,
    /// What is wrong, and what would work.
    pub why: String,
}

impl PageError {
    /// The request itself is invalid (400).
    pub fn invalid(why: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            why: why.into(),
        }
    }
}

impl From<LookupError> for PageError {
    fn from(error: LookupError) -> Self {
        Self {
            status: match error {
                LookupError::InvalidId(_) => StatusCode::BAD_REQUEST,
                LookupError::Unknown(_) => StatusCode::NOT_FOUND,
                LookupError::Store(_) => StatusCode::UNPROCESSABLE_ENTITY,
            },
            why: error.to_string(),
        }
    }
}
