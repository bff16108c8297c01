//! The pages, a file each. In: the runs of the store, and what an address asks for. Out: a page, and
//! the same as JSON.

pub mod compare;
pub mod live;
pub mod run;
pub mod runs;
pub mod simulate;
pub mod view;

use axum::http::StatusCode;

use crate::shelf::NoRun;

/// A page, and the same for programs.
pub struct Page {
    /// For people.
    pub html: String,
    /// For programs.
    pub json: String,
}

/// Why there is no page.
#[derive(Debug)]
pub struct NoPage {
    /// The status that says so.
    pub status: StatusCode,
    /// What is wrong, and what would work.
    pub why: String,
}

impl NoPage {
    /// What was asked for cannot be.
    pub fn invalid(why: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            why: why.into(),
        }
    }
}

impl From<NoRun> for NoPage {
    fn from(why: NoRun) -> Self {
        Self {
            status: match why {
                NoRun::NoId(_) => StatusCode::BAD_REQUEST,
                NoRun::Unknown(_) => StatusCode::NOT_FOUND,
                NoRun::Store(_) => StatusCode::UNPROCESSABLE_ENTITY,
            },
            why: why.to_string(),
        }
    }
}
