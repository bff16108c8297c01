//! Where a number comes from, as a part of the number. Catalogs, device files and Records write the
//! same kinds of origin.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a number comes from. A number without an origin cannot be written down here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Origin {
    /// The vendor documents it.
    Documented {
        /// The document.
        source: String,
        /// Its date, or since when the number holds, as `YYYY-MM-DD` or a part of it.
        date: String,
    },
    /// Somebody measured it.
    Measured {
        /// Who, where, in which rows.
        by: String,
    },
    /// It is not known, and this is used instead.
    Assumed {
        /// The reason.
        because: String,
    },
    /// The user wrote it down.
    Given,
}

impl Origin {
    /// The vendor's word.
    pub fn documented(source: &str, date: &str) -> Self {
        Self::Documented {
            source: source.to_owned(),
            date: date.to_owned(),
        }
    }

    /// A measurement.
    pub fn measured(by: &str) -> Self {
        Self::Measured { by: by.to_owned() }
    }

    /// An assumption.
    pub fn assumed(because: &str) -> Self {
        Self::Assumed {
            because: because.to_owned(),
        }
    }

    /// How it is known, in one word.
    pub const fn how(&self) -> &'static str {
        match self {
            Self::Documented { .. } => "documented",
            Self::Measured { .. } => "measured",
            Self::Assumed { .. } => "assumed",
            Self::Given => "given",
        }
    }

    /// Whether the figure is an assumption.
    pub const fn is_assumed(&self) -> bool {
        matches!(self, Self::Assumed { .. })
    }
}

/// `documented: EC2 user guide, 2023-05-11`; `assumed: …`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = self.how();
        match self {
            Self::Documented { source, date } => write!(f, "{how}: {source}, {date}"),
            Self::Measured { by } => write!(f, "{how}: {by}"),
            Self::Assumed { because } => write!(f, "{how}: {because}"),
            Self::Given => f.write_str(how),
        }
    }
}
